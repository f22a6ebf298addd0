"""What stands around the text: previews, the list of contents, telephones, the dark, weight.

What a page weighs is asked in test_browser.py, of all.
"""

from __future__ import annotations

import io
import re
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytestmark = [pytest.mark.book, pytest.mark.browser]

MEGABYTE = 1_000_000
FUNCTIONS = "book/gaussian-processes/function-view.html"
LINK = "article p a[href*='#equation-']:not(.headerlink):visible"


def test_an_equation_shows_itself_beside_its_link(read: Any) -> None:
    page = read(FUNCTIONS).page
    link = page.locator(LINK).first
    link.scroll_into_view_if_needed()
    link.hover()
    box = page.locator(".book-preview")
    box.locator("math").first.wait_for()
    assert link.inner_text() in box.inner_text()
    page.keyboard.press("Escape")
    assert box.count() == 0


def test_a_preview_comes_with_the_focus(read: Any) -> None:
    page = read(FUNCTIONS).page
    link = page.locator(LINK).first
    link.scroll_into_view_if_needed()
    page.keyboard.press("Tab")  # so that the browser counts the keyboard as in use
    link.focus()
    page.locator(".book-preview math").first.wait_for()
    assert link.get_attribute("aria-describedby") == "book-preview"


def test_a_citation_shows_what_it_cites(read: Any) -> None:
    page = read(FUNCTIONS).page
    link = page.locator(".bibtex-citation a:visible").first
    link.hover()
    page.locator(".book-preview").wait_for()
    said = page.locator(".book-preview").inner_text()
    assert re.search(r"\b(19|20)\d\d\b", said)
    assert len(said) > 40


def test_a_symbol_says_what_it_means(read: Any) -> None:
    page = read(FUNCTIONS).page
    find = r"""() => {
        const items = [...document.querySelectorAll('article p .math')];
        items.find(item => item.dataset.latex === '\\mu_0').id = 'the-symbol';
    }"""
    page.evaluate(find)
    page.locator("#the-symbol").scroll_into_view_if_needed()
    page.locator("#the-symbol").hover()
    page.locator(".book-preview math").first.wait_for()
    assert "mean" in page.locator(".book-preview").inner_text()
    where = page.locator(".book-preview a").get_attribute("href")
    assert "notation.html#symbol-" in where


def tap(client: Any, element: Any) -> None:
    """With a finger, where the browser of a page that is shared has none."""
    box = element.bounding_box()
    at = {"x": box["x"] + box["width"] / 2, "y": box["y"] + box["height"] / 2}
    client.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [at]})
    client.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})


def test_a_finger_sees_the_preview_first(read: Any) -> None:
    page = read(FUNCTIONS, width=390).page
    client = page.context.new_cdp_session(page)
    client.send("Emulation.setTouchEmulationEnabled", {"enabled": True})
    link = page.locator(LINK).first
    link.scroll_into_view_if_needed()
    before = page.url
    tap(client, link)
    page.locator(".book-preview math").first.wait_for()
    assert page.url == before
    box = page.locator(".book-preview").bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 390
    tap(client, page.locator(".book-preview a", has_text="go there"))
    page.wait_for_url("**#equation-eq-*")
    client.send("Emulation.setTouchEmulationEnabled", {"enabled": False})
    client.detach()


# What the list says at each of its sections, a moment after the reader has come there.
ACTIVE = """() => {
    const active = document.querySelector('.bd-sidebar-secondary a.active');
    const side = document.querySelector('.bd-sidebar-secondary').getBoundingClientRect();
    const box = active?.getBoundingClientRect();
    return active && {
        text: active.textContent, opacity: getComputedStyle(active.closest('nav')).opacity,
        seen: box.height > 0 && box.top >= side.top
            && box.bottom <= Math.min(side.bottom, innerHeight),
        ended: scrollY + innerHeight >= document.documentElement.scrollHeight - 2,
    };
}"""


FOLLOWED = f"""async () => {{
    const frame = () => new Promise(requestAnimationFrame), seen = [];
    for (const link of document.querySelectorAll('.bd-sidebar-secondary nav.page-toc a')) {{
        const section = document.getElementById(link.hash.slice(1));
        let fold = section;  // a link opens all that it stands in
        while ((fold = fold.parentElement.closest('details'))) fold.open = true;
        section.scrollIntoView();
        await frame();
        await frame();
        await new Promise(done => setTimeout(done, 30));
        seen.push([link.textContent, ({ACTIVE})()]);
    }}
    return seen;
}}"""


def test_the_contents_follow_to_the_end(read: Any) -> None:
    seen = read(FUNCTIONS).page.evaluate(FOLLOWED)
    assert len(seen) > 10
    for i, (_, now) in enumerate(seen):
        assert now, i
        assert now["seen"], (i, now)
        assert now["opacity"] == "1"
    # where the page ends, a heading may not reach the top of the window
    wrong = [(text, now["text"]) for text, now in seen if text != now["text"] and not now["ended"]]
    assert not wrong


CUT = """() => [...document.querySelectorAll('nav.page-toc a, .bd-sidebar-primary nav a')].filter(
    e => e.clientWidth && e.scrollWidth > e.clientWidth + 1
        || e.getBoundingClientRect().right > innerWidth).map(e => e.textContent.trim())"""


def test_no_name_is_cut_off_in_a_list_at_the_side(read: Any) -> None:
    page = read("book/api/modules/gpnotes.mdp.learning.traces.html").page
    assert page.locator("nav.page-toc a").count() > 5
    assert page.evaluate(CUT) == []


def test_on_a_phone_the_number_stands_on_the_line_of_the_badge(read: Any) -> None:
    page = read(FUNCTIONS, width=390).page
    script = """() => [...document.querySelectorAll('.eqn-equation')].map(frame => {
        const number = frame.querySelector('.eqno').getBoundingClientRect();
        const badge = frame.querySelector('summary').getBoundingClientRect();
        const formula = frame.querySelector('.math .math-set').getBoundingClientRect();
        return [number.top >= formula.bottom - 2, number.top < badge.bottom, formula.width];
    })"""
    seen = page.evaluate(script)
    assert all(below and beside for below, beside, _ in seen)
    assert all(width > 340 for _, _, width in seen)  # nothing of the line is lost to the number


def test_a_picture_is_as_wide_as_it_was_drawn(read: Any) -> None:
    picture = read(FUNCTIONS).page.locator("img.book-picture").first
    picture.scroll_into_view_if_needed()
    script = "image => image.decode().then(() => [image.naturalWidth, image.naturalHeight])"
    natural = picture.evaluate(script)
    given = [int(picture.get_attribute(name)) for name in ("width", "height")]
    assert all(abs(one - other) <= 1 for one, other in zip(given, natural, strict=True))


def test_a_chapter_with_all_its_pictures_weighs_less_than_a_megabyte(book_html: Path) -> None:
    heavy = {}
    chapters = sorted((book_html / "book").glob("*/*.html"))
    for path in chapters:
        text = path.read_text("utf-8")
        pictures = set(re.findall(r"_images/([^\"#]+\.svg)", text))
        weight = path.stat().st_size
        weight += sum((book_html / "_images" / name).stat().st_size for name in pictures)
        if weight > MEGABYTE:
            heavy[path.name] = weight
    assert len(chapters) > 12
    assert heavy == {}


BOTH = """([before, after]) => Promise.all([before, after].map(text => {
    const image = new Image();
    image.src = "data:image/svg+xml;base64," + btoa(unescape(encodeURIComponent(text)));
    return image.decode().then(() => {
        const canvas = document.createElement("canvas");
        [canvas.width, canvas.height] = [2 * image.naturalWidth, 2 * image.naturalHeight];
        const context = canvas.getContext("2d");
        context.drawImage(image, 0, 0, canvas.width, canvas.height);
        return context.getImageData(0, 0, canvas.width, canvas.height).data;
    });
})).then(([a, b]) => [a.length, b.length, a.filter((value, i) => Math.abs(value - b[i]) > 2).length,
    a.reduce((most, value, i) => Math.max(most, Math.abs(value - b[i])), 0)])"""


def test_a_script_loses_its_indents_and_the_comments_on_lines_of_their_own() -> None:
    sys.path.insert(0, str(Path(__file__).parents[2] / "book" / "_ext"))
    import light

    script = (
        "/* What it\n   does. */\n  const a = 1; /* kept */\n\n  // gone\n"
        '  const b = "// kept"; /* one */ f(b); /* two */\n'
    )
    assert light.without_notes(script) == (
        'const a = 1; /* kept */\nconst b = "// kept"; /* one */ f(b); /* two */\n'
    )
    assert light.without_notes("  /* one */ a(); /* two */\n") == "/* one */ a(); /* two */\n"


def test_a_style_sheet_keeps_what_a_page_or_a_script_asks_for(tmp_path: Path) -> None:
    """A property goes with the last that asks for it, and with it the one that it asks for."""
    sys.path.insert(0, str(Path(__file__).parents[2] / "book" / "_ext"))
    import light

    static = tmp_path / "_static"
    static.mkdir()
    (tmp_path / "index.html").write_text('<p class="one" style="color: var(--c)">', "utf-8")
    (static / "a.js").write_text('read("--d")', "utf-8")
    (static / "b.js").write_text('"tooltip"', "utf-8")
    (static / "basic.css").write_text(
        ':root{--a:var(--b);--b:1;--c:var(--d, var(--e));--d:red;--e:url("x;y");--f:2}'
        ".one{--f:3;top:1px}.two{top:2px}.modal{top:3px}.tooltip{top:4px}",
        "utf-8",
    )
    light.prune(tmp_path)
    assert (static / "basic.css").read_text("utf-8") == (
        ':root{--c:var(--d, var(--e));--d:red;--e:url("x;y")}.one{top:1px}.tooltip{top:4px}'
    )


def test_a_lighter_picture_shows_the_same(browser: Any, book_html: Path) -> None:
    """Bands, marks, dashes, letters and a legend, by the dot: before and after."""
    sys.path.insert(0, str(Path(__file__).parents[2] / "book" / "_ext"))
    import light

    from gpnotes import plot

    fig, ax = plot.figure()
    x = np.linspace(0.0, 3.0, 200)
    plot.line(ax, x, np.sin(3.0 * x), label="a line")
    plot.line(ax, x, np.cos(2.0 * x), role="approximation", label="another")
    plot.band(ax, x, np.sin(3.0 * x), 0.2 + 0.1 * x)
    plot.points(ax, x[::9], np.sin(x[::9]))
    ax.legend()
    file = io.StringIO()
    fig.savefig(file, format="svg")
    whole = light.rounded(file.getvalue())
    lighter = light.compact(whole)
    assert len(lighter) < 0.8 * len(whole)
    assert light.compact(lighter) == lighter
    page = browser.new_page()
    size, other, differing, most = page.evaluate(BOTH, [whole, lighter])
    moved = page.evaluate(BOTH, [whole, whole.replace('d="M 1', 'd="M 2')])
    page.close()
    assert size == other > 100_000
    # the browser adds differences up in single precision, which shades the edge of a curve
    assert differing < 1e-4 * size
    assert most < 32
    assert moved[2] > 1e-4 * size or moved[3] >= 32


def test_paper_has_the_title_at_its_size_and_no_bar_of_closed_cells(read: Any) -> None:
    page = read("book/gaussian-processes/function-view.html").page
    page.set_viewport_size({"width": 760, "height": 900})
    page.emulate_media(media="print")
    shown = page.evaluate("""() => [
        [...document.querySelectorAll("h1")].filter((one) => one.offsetHeight).map(
            (one) => parseFloat(getComputedStyle(one).fontSize)),
        [...document.querySelectorAll("details.hide:not([open])")].filter((one) => one.offsetHeight)
            .length]""")
    page.emulate_media(media="screen")
    assert shown[1] == 0
    (size,) = shown[0]
    assert size < 36


def test_on_a_low_window_nothing_lies_over_the_text(read: Any) -> None:
    page = read("book/gaussian-processes/function-view.html").page
    page.set_viewport_size({"width": 640, "height": 360})
    shown = (
        "e => { e.style.display = 'block'; return [e.offsetHeight, (e.style.display = '')][0]; }"
    )
    assert page.locator("#pst-back-to-top").evaluate(shown) == 0
    page.set_viewport_size({"width": 640, "height": 900})
    assert page.locator("#pst-back-to-top").evaluate(shown) > 0


def test_sliders_are_as_high_as_a_finger_asks_for(read: Any) -> None:
    page = read("book/gaussian-processes/function-view.html", width=390).page
    sliders = page.locator(".gp-slider input[type=range]")
    high = sliders.evaluate_all("all => all.map((one) => one.getBoundingClientRect().height)")
    assert high
    assert min(high) >= 24


SMALL = """() => [...document.querySelectorAll('button, .book-part > summary')].filter(e => {
    const { width, height } = e.getBoundingClientRect();
    return e.checkVisibility() && width && Math.min(width, height) < 24;
}).map(e => e.outerHTML.slice(0, 80))"""


@pytest.mark.parametrize("width", [390, 1280])
def test_no_button_is_too_small_for_a_finger(read: Any, width: int) -> None:
    """Those that copy stood in small code, and were small themselves."""
    page = read("book/api/coming-from.html", width=width).page
    assert page.locator("button.copybtn").count() > 100
    assert page.evaluate(SMALL) == []


def test_without_the_script_the_badges_have_their_margin(browser: Any, book_html: Path) -> None:
    context = browser.new_context(
        viewport={"width": 1280, "height": 720}, java_script_enabled=False
    )
    page = context.new_page()
    page.goto((book_html / "book/gaussian-processes/function-view.html").as_uri())
    badge = page.locator(".eqn-equation > .eqn-badge").nth(9)
    badge.scroll_into_view_if_needed()
    box = page.locator(".bd-sidebar-secondary").bounding_box()
    context.close()
    assert box["y"] + box["height"] < 0


def test_without_the_script_a_page_has_the_light_colours(browser: Any, book_html: Path) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto((book_html / "book/gaussian-processes/function-view.html").as_uri())
    colour = page.locator(".bd-article p a").first.evaluate("one => getComputedStyle(one).color")
    context.close()
    red, _, blue = re.findall(r"\d+", colour)
    assert int(blue) > 100 > int(red), colour


def test_panels_stand_in_a_column_on_a_phone(read: Any) -> None:
    page = read(FUNCTIONS, width=390).page
    figure = page.locator("figure:has(.book-panels):visible").first
    figure.scroll_into_view_if_needed()
    boxes = [one.bounding_box() for one in figure.locator(".book-panels img").all()]
    assert len(boxes) >= 2
    assert all(after["y"] >= before["y"] + before["height"] for before, after in pairwise(boxes))
    assert all(box["width"] > 300 for box in boxes)
    assert not figure.locator("img.book-picture").is_visible()


def test_narrow_panels_stand_two_in_a_row_on_a_phone(read: Any) -> None:
    page = read(FUNCTIONS, width=390).page
    boxes = [one.bounding_box() for one in page.locator("#fig-fv-kernels .book-panel").all()]
    assert len(boxes) == 4
    assert boxes[0]["x"] < boxes[1]["x"]
    assert boxes[2]["y"] >= boxes[0]["y"] + boxes[0]["height"]


def test_panels_are_not_shown_twice_where_there_is_room(read: Any) -> None:
    page = read(FUNCTIONS).page
    assert page.locator(".book-panels img").count() > 0
    assert page.locator(".book-panels img:visible").count() == 0


def test_a_picture_takes_the_colours_of_the_dark(read: Any) -> None:
    page = read(FUNCTIONS).page
    page.emulate_media(color_scheme="dark")
    page.wait_for_function("() => document.documentElement.dataset.theme == 'dark'")
    picture = page.locator("img.book-picture").first
    style = (
        "e => { const s = getComputedStyle(e); return [s.filter, s.padding, s.backgroundColor]; }"
    )
    seen = picture.evaluate(style)
    page.emulate_media(color_scheme="light")
    assert seen == ["invert(1) hue-rotate(180deg)", "0px", "rgba(0, 0, 0, 0)"]


def test_code_has_elements_only_where_they_have_a_colour(book_html: Path) -> None:
    style = (book_html / "_static" / "pygments.css").read_text("utf-8")
    for theme in ("light", "dark"):
        start = rf'html\[data-theme="{theme}"\] \.highlight'
        base = re.search(start + r" \{[^}]*[; ]color: (#\w+)", style)
        for name in ("n", "nn", "p", "w"):
            assert base
            assert re.search(start + rf" \.{name} \{{ color: {base[1]} \}}", style), (theme, name)
    code = (book_html / FUNCTIONS).read_text("utf-8")
    assert '<span class="n">' not in code
    assert '<span class="k">' in code


def test_no_script_of_icons_and_no_search_on_every_page(book_html: Path) -> None:
    text = (book_html / FUNCTIONS).read_text("utf-8")
    assert "fontawesome" not in text
    assert "searchindex.js" not in text
    assert not list((book_html / "_static").rglob("fontawesome*.js"))


@pytest.mark.parametrize("width", [1280, 390])
def test_the_menu_of_downloads_opens_and_closes(read: Any, width: int) -> None:
    page = read(FUNCTIONS).page
    page.set_viewport_size({"width": width, "height": 720})
    button = page.locator("[data-bs-toggle=dropdown]")
    shown = page.locator(".dropdown-menu.show")
    button.click()
    box = shown.bounding_box()
    assert 0 <= box["x"] < box["x"] + box["width"] <= width
    page.keyboard.press("ArrowDown")
    assert page.evaluate("document.activeElement.getAttribute('href')").endswith(".ipynb")
    page.keyboard.press("Escape")
    assert shown.count() == 0
    assert button.get_attribute("aria-expanded") == "false"
    button.press("ArrowDown")
    assert shown.count() == 1
    page.locator("article h1").click()
    assert shown.count() == 0


def test_every_icon_is_drawn(read: Any) -> None:
    page = read(FUNCTIONS).page
    script = """() => [...document.querySelectorAll('i[class*="fa-"]')].filter(
        e => getComputedStyle(e, '::before').maskImage === 'none').map(e => e.className)"""
    assert page.evaluate(script) == []


def test_the_theme_does_not_complain_of_its_mode(browser: Any, book_html: Path) -> None:
    context = browser.new_context()
    page = context.new_page()
    said: list[str] = []
    page.on(
        "console", lambda message: said.append(message.text) if message.type == "error" else None
    )
    page.goto((book_html / "book/index.html").as_uri())
    page.wait_for_load_state()
    assert said == []
    assert page.locator("meta[name=description]").count() == 1
    assert page.locator("link[rel=icon]").count() == 1
    context.close()
