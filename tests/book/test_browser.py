"""The built pages in a real browser, from the file system: what they ask, weigh, show and do.

To open a chapter costs seconds, so every page is opened once, in a test of its own, and all is
asked of it then. With `BOOK_PICTURES` set its first screens are kept, for people to look at.
"""

from __future__ import annotations

import os
import re
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import beside
import browsing
import pytest

pytestmark = [pytest.mark.book, pytest.mark.browser]

ROOT = Path(__file__).resolve().parents[2]
CHAPTER = "book/gaussian-processes/weight-view.html"
GENERATED = ("book/ledger.html", "book/sources-line-by-line.html", "book/notation.html")
DARK = ("book/index.html", CHAPTER, *GENERATED)  # these also in the dark
WIDE, NARROW = beside.WIDE, beside.NARROW
HEIGHT, TALL = 900, 3000  # of the window, and of a picture
MEGABYTE = 1_000_000
# Figures that a reader operates, and what is drawn in them: each must have the place of a picture.
OPERATED = {
    "book/gaussian-processes/hyperparameters.html": ("fig-hp-playground", ".gp-point"),
    "book/decisions/bayesian-optimisation.html": ("fig-bo-playground", ".gp-point"),
    "book/gaussian-processes/implicit-surfaces.html": ("fig-is-one", ".gp-mean"),
    "book/gaussian-processes/sampling.html": ("fig-sa-playground", ".gp-mean"),
    "book/gaussian-processes/weight-view.html": ("fig-wv-smallest", ".gp-mine"),
}
sys.path.insert(0, str(ROOT / "tools"))

import heights as tool  # noqa: E402

CHAPTERS = tool.table()


LISTED = re.findall(r"(?:file|root): (\S+)", (ROOT / "_toc.yml").read_text("utf-8"))
ROOMS = "book/api/modules/"  # pages of one form, of which two will do
ALIKE = (f"{ROOMS}gpnotes.infer", f"{ROOMS}gpnotes.infer.exact")
PAGES = sorted([f"{name}.html" for name in (*LISTED, *ALIKE, "genindex", "search")])
# What keeps somebody out stands in a part that many pages have, and axe takes half as long as all
# else that is done with a page: by day it is asked of one page of each kind, at night of every one.
KINDS = {*DARK, f"{ALIKE[0]}.html", "book/api/games.html", "book/api/gallery.html", "search.html"}
# A page with thousands of rows of a few forms: by day some are set and laid out.
LONG = "book/ledger.html"
# By day every fourth badge of a page is opened, and every eighth entry of a list of mutants read;
# at night all of them. What is in them the engine can typeset, which is another test's.
BADGES, SAID = 4, 8


# What a page sets of itself when it opens.
GOING = """() => [...document.querySelectorAll('.eqn-set, .eqn-setting')].every(
    e => e.querySelector('math'))"""
MATHEMATICS = """() => ({
    wanted: document.querySelectorAll('.math:not(.eqn-later)').length,
    set: document.querySelectorAll('math.math, .math > math, .math > .math-set > math').length,
    errors: [...document.querySelectorAll('.math-error')].map(e => e.textContent),
})"""

# Badges are opened and set, as for a printer, and every fortieth of the lists of mutants inside;
# what stands in the other lists is set without being shown. What cannot be read is an error.
OPEN = """every => {
    document.querySelectorAll('details:not(.eqn-badge)').forEach(d => { d.open = true; });
    document.querySelectorAll('details.eqn-badge').forEach((d, i) => { d.open = i % every == 0; });
}"""
COME = """() => !document.querySelector('.eqn-badge[open] .eqn-tried')"""
LISTS = """() => document.querySelectorAll('.eqn-badge[open] details.eqn-more').forEach(
    (d, i) => { d.open = i % 40 == 0; })"""
PRINTED = "dispatchEvent(new Event('beforeprint'))"
SET = """() => [...document.querySelectorAll('.eqn-later')].every(
        e => e.closest('details:not([open])'))
    && [...document.querySelectorAll('.eqn-set')].every(e => e.querySelector('math'))"""
# The book lets a box that scrolls be reached by keys, a third of a second after a resize.
FOLLOWED = """() => [...document.querySelectorAll('pre')].every(
    e => e.closest('details:not([open]) > :not(summary)') || e.scrollWidth <= e.clientWidth
        || e.tabIndex === 0)"""
# A formula likewise.
REACHED = """() => [...document.querySelectorAll(
    '.bd-article :is(div.math, .math-set, .eqn-set, .eqn-later)')].every(
    e => e.closest('details:not([open]) > :not(summary)') || e.scrollWidth <= e.clientWidth
        || !e.clientWidth || e.tabIndex === 0 || getComputedStyle(e).overflowX !== 'auto')"""
# What is far away is laid out for this, all at once: each formula would ask for it anew. And all of
# it afresh: Chromium may keep for what was folded the width that the page had before.
UNFOLDED = """() => {
    const width = document.documentElement.clientWidth;
    const excess = document.documentElement.scrollWidth - width;
    const near = new CSSStyleSheet();
    near.replaceSync('* { content-visibility: visible !important; }');
    document.adoptedStyleSheets = [...document.adoptedStyleSheets, near];
    document.body.style.display = 'none';
    document.body.getBoundingClientRect();
    document.body.style.display = '';
    const scrolls = e => ['auto', 'scroll'].includes(getComputedStyle(e).overflowX);
    const free = e => e.matches('.eqn-badge')
        || !scrolls(e.parentElement) && free(e.parentElement);
    const left = e => e.getBoundingClientRect().left;
    const displays = [...document.querySelectorAll('div.math > .math-set:not([hidden])')];
    const boxes = [...document.querySelectorAll('.eqn-badge, .eqn-badge *')].filter(
        e => e.getBoundingClientRect().right > width + 1 && free(e));
    const seen = {
        set: document.querySelectorAll('.eqn-set').length,
        errors: [...document.querySelectorAll('.math-error')].map(
            e => e.closest('.eqn-badge')?.dataset.label + ': ' + e.title),
        excess,
        beheaded: displays.filter(e => left(e) < left(e.parentElement) - 1).length,
        beyond: boxes.map(e => e.closest('.eqn-badge').dataset.label + ': ' + e.className),
        cut: [...document.querySelectorAll('.eqn-totals dd')].filter(
            e => e.scrollWidth > e.clientWidth + 1).map(e => e.textContent),
    };
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter(one => one !== near);
    return seen;
}"""
READ = """every => {
    const texts = [...document.querySelectorAll('.eqn-later')].map(e => e.textContent);
    const records = Object.values(window.checkedEquations ?? {}).flat();
    const told = records.flatMap(r => r.mutants).flatMap(([said, reads]) => [said, reads]);
    const inside = told.flatMap(t => t.match(/\\$[^$]*\\$/g) ?? []).map(t => t.slice(1, -1));
    const formulas = [...new Set([...texts.map(t => t.trim().slice(2, -2)), ...inside])];
    const faulty = latex => {
        try { return !setFormula(latex, false).startsWith('<math'); } catch (error) { return true; }
    };
    const some = formulas.filter((_, i) => i % every == 0);
    return { read: formulas.length, unread: some.filter(faulty) };
}"""

# Of more than a hundred rows every tenth, and three of each form, told by the classes inside.
SPARSE = """() => {
    const form = row => row.className
        + [...new Set([...row.querySelectorAll('*')].map(e => e.className))].sort();
    const seen = {};
    const thin = table => [...table.rows].forEach((row, i) => {
        const its = form(row);
        seen[its] = (seen[its] ?? 0) + 1;
        if (i % 10 && seen[its] > 3) row.remove();
    });
    [...document.querySelectorAll('tbody')].filter(e => e.rows.length > 100).forEach(thin);
}"""

# Three of each kind of text that repeats, where kinds are told by the classes around them; all of
# what has a name, a role or a place to go. axe would ask the hundredth comma of a listing what it
# has asked the first, and takes minutes. What stands in a formula is the browser's own.
THINNED = """() => {
    document.querySelectorAll('details').forEach((d, i) => { d.open = i < 6; });
    document.querySelectorAll('math').forEach(e => e.replaceWith('x'));
    const whole = 'a, button, details, figure, h1, h2, h3, h4, h5, h6, iframe, img, input, select,'
        + ' summary, svg, table, td, th, dt, dd, [id], [role], [aria-label], [tabindex]';
    const kind = e => e.tagName == 'ARTICLE' ? '' : kind(e.parentElement) + ' '
        + e.tagName + '.' + e.className + (e.getAttribute('style') ?? '');
    const seen = {};
    document.querySelectorAll('article *').forEach(e => {
        if (!e.isConnected || e.matches(whole) || e.querySelector(whole)) return;
        if (e.closest('a, button, label, summary')) return;  // it is their name
        seen[kind(e)] = (seen[kind(e)] ?? 0) + 1;
        if (seen[kind(e)] > 3) e.remove();
    });
}"""

# The colours of a text and of what lies behind it, in the theme of now; axe asks for no more.
PAINT = """() => {
    const style = e => getComputedStyle(e);
    const behind = e => {
        if (!e) return '';
        const { backgroundColor, backgroundImage, opacity } = style(e);
        const own = `${backgroundColor} ${backgroundImage} ${opacity}`;
        return behind(e.parentElement) + (own == 'rgba(0, 0, 0, 0) none 1' ? '' : own);
    };
    document.querySelectorAll('body *').forEach(e => {
        if (!e.checkVisibility()) return;
        const { color, fontSize, fontWeight, textShadow } = style(e);
        e.painted = [e.painted, color, fontSize, fontWeight, textShadow, behind(e)].join();
    });
}"""

# Three links of each kind will do, told by the classes around them, and three texts of each paint;
# but a text with a link in it stays, since it is what the link must be told from. What nobody sees
# goes, and what is empty then: axe takes its time for each box.
COLOURS = """() => {
    const seen = {};
    const known = its => { seen[its] = (seen[its] ?? 0) + 1; return seen[its] > 3; };
    const path = e => !e ? '' : path(e.parentElement) + ' '
        + e.tagName + '.' + e.className + (e.getAttribute('style') ?? '');
    const all = () => [...document.querySelectorAll('body *:not(script, style)')].reverse();
    all().filter(e => !e.checkVisibility()).forEach(e => e.remove());
    all().filter(e => !e.firstElementChild && e.closest('a') && !e.closest('svg')).forEach(
        e => known(path(e)) && e.remove());
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const texts = [];
    while (walker.nextNode()) texts.push(walker.currentNode);
    texts.filter(text => text.data.trim()).forEach(text => {
        const e = text.parentElement;
        if (e.closest('a, svg, select, script, style') || e.querySelector('a')) return;
        if (known(e.painted)) text.remove();
    });
    const kept = 'svg, svg *, img, input, button, select, script, style';
    all().forEach(
        e => e.textContent.trim() || e.matches(kept) || e.querySelector(kept) || e.remove());
}"""
BY_COLOUR = ["color-contrast", "link-in-text-block"]  # each takes as long as all others together


@dataclass(frozen=True)
class Seen:
    """What there was to see on a page."""

    weights: dict[str, int]
    heights: tool.Heights | None
    mathematics: dict[str, Any]
    unfolded: dict[str, Any]
    listed: dict[str, Any]
    barriers: list[str]
    foreign: list[str]
    failed: list[str]
    complaints: list[str]


def look(visit: Any, name: str, asked: bool, whole: bool) -> Seen:
    """Open a page once, and note what can be noted: wide, narrow, unfolded, if `asked` by axe."""
    seen = visit(name)
    page = seen.page
    weights = weigh(seen.asked)
    chapter = CHAPTERS.get(name.removeprefix("book/").removesuffix(".html"))
    heights = tool.measured(page, chapter["answer"]) if chapter else None
    # in one look: between two, a page may begin to set what it did not set before
    mathematics = page.wait_for_function(f"() => ({GOING})() && ({MATHEMATICS})()").json_value()
    beside.check(name, page, WIDE)
    if name in OPERATED:
        browsing.assert_stands_above_its_caption(page, *OPERATED[name])
        page.emulate_media(media="screen")
    if "BOOK_PICTURES" in os.environ:
        pictures(page, name)
    said = 1 if whole else SAID
    listed = browsing.setting(page).evaluate(READ, said) if name == LONG else None
    if name == LONG and not whole:
        page.evaluate(SPARSE)
    resize(page, NARROW)
    beside.check(name, page, NARROW)
    unfolded = unfold(page, 1 if whole else BADGES)
    listed = listed or browsing.setting(page).evaluate(READ, said)
    # noted before `barriers` takes elements away, which the page's own scripts may miss
    noise = (list(seen.foreign), list(seen.failed), list(seen.complaints))
    violations = barriers(page, name in DARK) if asked else []
    return Seen(weights, heights, mathematics, unfolded, listed, violations, *noise)


def weigh(asked: list[str]) -> dict[str, int]:
    """Bytes of the files that a page asks for, less mathematics and fonts."""
    paths = {Path(unquote(urlsplit(url).path)) for url in asked if url.startswith("file:")}
    return {
        path.name: path.stat().st_size
        for path in paths
        if "mathematics" not in path.parts and path.suffix not in (".woff", ".woff2")
        if path.exists()  # what is missing is another test's
    }


def resize(page: Any, width: int, height: int = HEIGHT) -> None:
    page.set_viewport_size({"width": width, "height": height})


def unfold(page: Any, every: int) -> dict[str, Any]:
    """Open badges and some of their lists, and wait until their formulas are set."""
    page.evaluate(OPEN, every)
    page.wait_for_function(COME)
    page.evaluate(LISTS)
    page.evaluate(PRINTED)
    page.wait_for_function(SET)
    page.wait_for_function(REACHED)
    return page.evaluate(UNFOLDED)


def pictures(page: Any, name: str) -> None:
    """Keep pictures of the first screens: wide and narrow, light, and of some pages dark."""
    picture(page, name, "light", WIDE)
    if name in DARK:
        browsing.scheme(page, "dark")
        picture(page, name, "dark", WIDE)
        browsing.scheme(page, "light")
    picture(page, name, "light", NARROW)


def picture(page: Any, name: str, scheme: str, width: int) -> None:
    folder = ROOT / "_build" / "screenshots"
    folder.mkdir(parents=True, exist_ok=True)
    file = f"{name.removesuffix('.html').replace('/', '-')}-{scheme}-{width}.png"
    resize(page, width, TALL)
    page.screenshot(path=folder / file)


def barriers(page: Any, dark: bool = False) -> list[str]:
    """What axe finds serious, in what stands for the page; colours in the dark as well."""
    resize(page, WIDE)
    page.wait_for_function(FOLLOWED)
    page.evaluate(THINNED)
    found = browsing.barriers(page, rules={rule: {"enabled": False} for rule in BY_COLOUR})
    themes = ("light", "dark")[: 1 + dark]
    for theme in themes:
        browsing.scheme(page, theme)
        page.evaluate(PAINT)
    page.evaluate(COLOURS)
    for theme in themes:
        browsing.scheme(page, theme)
        found += browsing.barriers(page, runOnly=BY_COLOUR)
    return found


# Formulas of a chapter; of those unfolded, by day in a quarter of the badges.
FEWEST = {"mathematics": 100, "unfolded": 5, "listed": 100}


def faults(name: str, seen: Seen) -> dict[str, Any]:
    """What is wrong with a page, by the rule that it breaks."""
    found = {
        "asks another host": seen.foreign,
        "what it asks for is missing": seen.failed,
        "complains": seen.complaints,
        "weighs more than a megabyte": heaviest(seen.weights),
        "has few files": len(seen.weights) <= 10 and sorted(seen.weights),
        # these grow with the book, and are asked for by its own page alone
        "data of the search": ("search-data.js" in seen.weights) != (name == "search.html"),
        "mathematics with an error": seen.mathematics["errors"],
        "mathematics not set": max(0, seen.mathematics["wanted"] - seen.mathematics["set"]),
        # the steps, the mutants' names, and how they then read
        "an error in an opened badge": seen.unfolded["errors"],
        "not read in a list": seen.listed["unread"],
        # not with all badges open either: what is too wide there scrolls in a box of its own
        "wider than a phone": max(0, seen.unfolded["excess"]),
        "boxes wider than a phone": seen.unfolded["beyond"],
        "totals cut off on a phone": seen.unfolded["cut"],
        # in a row that runs backwards a wide formula would show its right end
        "formulas that do not begin at their left end": seen.unfolded["beheaded"],
        "keeps somebody out": seen.barriers,
        **(of_a_chapter(slug(name), seen) if seen.heights else {}),
    }
    return {rule: what for rule, what in found.items() if what}


def slug(name: str) -> str:
    return name.removeprefix("book/").removesuffix(".html")


def heaviest(weights: dict[str, int]) -> list[tuple[str, int]]:
    """The heaviest files of a page that is too heavy."""
    parts = {name: size for name, size in weights.items() if name != "search-data.js"}
    ordered = sorted(parts.items(), key=lambda part: -part[1])
    return ordered[:4] if sum(parts.values()) > MEGABYTE else []


def of_a_chapter(its: str, seen: Seen) -> dict[str, Any]:
    """What a chapter must keep beside: its heights, and as much mathematics as chapters have."""
    granted = CHAPTERS[its].get("granted", {})
    needed = seen.heights.over(tool.BOUNDS)
    many = {
        "mathematics": seen.mathematics["set"],
        "unfolded": seen.unfolded["set"],
        "listed": seen.listed["read"],
    }
    return {
        "over its bounds": seen.heights.over({**tool.BOUNDS, **granted}),
        "granted and not needed, in heights.toml": sorted(granted.keys() - needed.keys()),
        "few formulas": {what: n for what, n in many.items() if n < FEWEST[what]},
    }


@pytest.mark.parametrize("name", PAGES)
def test_a_page(visit: Any, name: str) -> None:
    assert faults(name, look(visit, name, asked=name in KINDS, whole=False)) == {}


@pytest.mark.parametrize("name", PAGES)
def test_a_page_with_every_badge_open(visit: Any, name: str) -> None:
    assert faults(name, look(visit, name, asked=True, whole=True)) == {}


def test_every_page_is_looked_at(book_html: Path) -> None:
    """But what leads on to the first page, and most of the functions and classes."""
    paths = (path.relative_to(book_html) for path in book_html.rglob("*.html"))
    kept = {path.as_posix() for path in paths if path.parts[0] != "_static"} - {"index.html"}
    assert sorted(name for name in kept if not name.startswith(ROOMS) or name in PAGES) == PAGES


def test_no_page_of_a_module_is_wider_than_a_phone(visit: Any, book_html: Path) -> None:
    """Two of them are looked at above, but a long name in a heading or a link stands in others."""
    page = visit(f"{ALIKE[0]}.html", width=NARROW).page
    page.route(re.compile(r"\.(js|webp|png)$"), lambda asked: asked.abort())
    wide = {}
    for path in sorted((book_html / ROOMS).glob("*.html")):
        page.goto(path.as_uri())
        wide[path.stem] = page.evaluate("document.documentElement.scrollWidth")
    assert {name: width for name, width in wide.items() if width > NARROW} == {}


def test_every_chapter_is_measured() -> None:
    chapters = [path for path in (ROOT / "book").glob("*/*.md") if path.parent.name != "api"]
    assert {path.relative_to(ROOT / "book").with_suffix("").as_posix() for path in chapters} == (
        CHAPTERS.keys()
    )


SOUND = Seen(
    weights={f"{i}.css": 1000 for i in range(11)},
    heights=tool.Heights({**tool.BOUNDS}, {}, (), ()),
    mathematics={"wanted": 300, "set": 300, "errors": []},
    unfolded={"set": 300, "errors": [], "excess": 0, "beheaded": 0, "beyond": [], "cut": []},
    listed={"read": 300, "unread": []},
    barriers=[], foreign=[], failed=[], complaints=[],
)  # fmt: skip
TALL_ONE = tool.Heights({**tool.BOUNDS, "screens": 99.0}, {}, (), ())


@pytest.mark.parametrize(
    ("spoilt", "rules"),
    [
        ({}, []),
        ({"foreign": ["https://one.org"]}, ["asks another host"]),
        ({"failed": ["a.png"]}, ["what it asks for is missing"]),
        ({"complaints": ["an error"]}, ["complains"]),
        ({"weights": {**SOUND.weights, "a.js": MEGABYTE}}, ["weighs more than a megabyte"]),
        ({"weights": {"a.js": 1}}, ["has few files"]),
        ({"weights": {**SOUND.weights, "search-data.js": 2 * MEGABYTE}}, ["data of the search"]),
        ({"mathematics": {"wanted": 301, "set": 300, "errors": []}}, ["mathematics not set"]),
        ({"mathematics": {"wanted": 0, "set": 0, "errors": []}}, ["few formulas"]),
        ({"mathematics": {**SOUND.mathematics, "errors": ["a"]}}, ["mathematics with an error"]),
        ({"unfolded": {**SOUND.unfolded, "errors": ["a"]}}, ["an error in an opened badge"]),
        ({"unfolded": {**SOUND.unfolded, "excess": 1}}, ["wider than a phone"]),
        ({"unfolded": {**SOUND.unfolded, "beyond": ["a"]}}, ["boxes wider than a phone"]),
        ({"unfolded": {**SOUND.unfolded, "cut": ["1 of 1"]}}, ["totals cut off on a phone"]),
        ({"unfolded": {**SOUND.unfolded, "beheaded": 1}},
         ["formulas that do not begin at their left end"]),
        ({"unfolded": {**SOUND.unfolded, "set": 0}}, ["few formulas"]),
        ({"listed": {"read": 300, "unread": ["a"]}}, ["not read in a list"]),
        ({"listed": {"read": 0, "unread": []}}, ["few formulas"]),
        ({"barriers": ["link-name"]}, ["keeps somebody out"]),
        ({"heights": TALL_ONE}, ["over its bounds"]),
    ],
)  # fmt: skip
def test_each_fault_is_named(spoilt: dict[str, Any], rules: list[str]) -> None:
    granted = {name for name, row in CHAPTERS.items() if row.get("granted")}
    name = next(f"book/{name}.html" for name in CHAPTERS if name not in granted)
    assert [*faults(name, replace(SOUND, **spoilt))] == rules


def test_what_cannot_be_read_is_seen(visit: Any) -> None:
    page = browsing.setting(visit("book/notation.html").page)
    for latex in (r"\frac{a}{", r"\nosuchthing{a}", r"a^b^c"):
        page.evaluate(
            "latex => { document.body.innerHTML = ''; const e = document.createElement('span'); "
            "e.className = 'eqn-later'; e.textContent = '\\\\(' + latex + '\\\\)'; "
            "document.body.append(e); }",
            latex,
        )
        assert page.evaluate(READ, 1) == {"read": 1, "unread": [latex]}


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_page_has_its_colours_before_the_script_of_the_theme(
    browser: Any, book_html: Path, scheme: str
) -> None:
    """What it would else change after the first paint moved a table by a line on a phone."""
    context = browser.new_context(color_scheme=scheme)
    context.route("**/pydata-sphinx-theme.js*", lambda route: route.abort())
    page = context.new_page()
    page.goto((book_html / "book/api/ground.html").as_uri())
    assert page.evaluate("document.documentElement.dataset.theme") == scheme
    context.close()


def test_who_wants_less_motion_gets_none(visit: Any) -> None:
    """A cell that fades in is hard to read until it has: for axe as well, which may look then."""
    page = visit("book/api/bring-your-own.html").page
    page.evaluate(OPEN, 1)
    running = "document.getAnimations().filter(a => a.playState == 'running').length"
    assert page.evaluate(running) == 0


def test_book_search_finds(visit: Any) -> None:
    page = visit("search.html?q=evidence").page
    page.locator("#search-results li a").first.wait_for()
    titles = page.locator("#search-results li a").all_inner_texts()
    assert any("evidence" in title for title in titles)


def test_a_barrier_is_seen_in_what_is_left_of_a_page(visit: Any) -> None:
    page = visit("book/cite.html").page
    page.evaluate(
        """() => document.querySelector('article').insertAdjacentHTML('beforeend',
            '<p class="faint" style="color: #ddd">faint</p><a href="#top"></a>'
            + '<p>more</p>'.repeat(5) + '<p style="color: #222">in the dark</p>')"""
    )
    seen = barriers(page, dark=True)
    assert [one.split(" ")[0] for one in seen] == ["link-name", "color-contrast", "color-contrast"]
    assert "faint" in seen[1]
    assert "in the dark" in seen[2]
