"""A state of an operated figure has an address; what was tried stays pressed; all is in sight."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from browsing import FIGURE

pytestmark = pytest.mark.browser

BOOK = Path(__file__).parents[2] / "book"
TEXTS = "".join(path.read_text("utf-8") for path in sorted(BOOK.rglob("*.md")))
GIVEN = dict(re.findall(r"data-gp-kind=\"(\w+)\" data-gp-given='(.*?)'", TEXTS))
KINDS = sorted(
    {"gp": "exact"}.get(name, name)
    for name in (path.name.split("-")[0] for path in (BOOK / "_static").glob("*-playground.js"))
)
STILL = {"reduced_motion": "reduce"}


@pytest.fixture
def figure(opened: Any) -> Any:
    """A function that opens a figure, at an address if one is given."""

    def go(kind: str, width: int = 800, at: str = "", **options: Any) -> Any:
        return opened(kind, width, given=GIVEN.get(kind, "{}"), at=at, **STILL, **options)

    return go


def pressed(page: Any) -> list[str]:
    return page.locator(".gp-trials button[aria-pressed=true]").all_inner_texts()


def address(page: Any) -> str:
    return page.get_attribute(".gp-address a", "href")


# ------------------------------------------------------------ an address

MOVED = f"""() => {{
    const figure = {FIGURE};
    figure.attempt(figure.trialsOf.length - 1);
    const [point] = figure.kept.includes('points') ? figure.state.points : [];
    if (point) figure.move(0, point[0] + 0.1234567, 0.4);
    const slider = figure.root.querySelector('input[type=range]:not(:disabled)');
    if (!slider) return;
    slider.value = slider.min;
    slider.dispatchEvent(new Event('input', {{ bubbles: true }}));
}}"""
SEEN = "[...document.querySelectorAll('.gp-status, .gp-slider output')].map(e => e.textContent)"


@pytest.mark.parametrize("kind", KINDS)
def test_a_state_has_an_address_that_leads_to_it(figure: Any, kind: str) -> None:
    page = figure(kind)
    start = page.evaluate(SEEN)
    assert address(page) == "#still"
    page.evaluate(MOVED)
    seen, where = page.evaluate(SEEN), address(page)
    assert seen != start
    assert len(where) < 400
    assert re.fullmatch(r"#still\?[\w.,;:&=%-]+", where)  # as it can stand in any letter
    again = figure(kind, at=where)
    assert again.evaluate(SEEN) == seen
    assert address(again) == where
    again.click("[data-action=reset]")


@pytest.mark.parametrize("kind", KINDS)
def test_a_figure_is_as_it_was_left_when_its_page_is_loaded_again(figure: Any, kind: str) -> None:
    page = figure(kind)
    begun = page.evaluate(SEEN)
    page.evaluate(MOVED)
    seen, where = page.evaluate(SEEN), address(page)
    page.reload()
    assert (page.evaluate(SEEN), address(page)) == (seen, where)
    assert figure(kind).evaluate(SEEN) == begun


WRONG = {
    "exact": [
        "lengthscale=NaN&noise=-3&kernel=none",
        "points=1;2,3",
        "points=a,b",
        "signal=",
        "?=&&",
    ],
    "acquisition": ["evaluated=0.01,77&points=", "name=constructor", "evaluated="],
    "bound": ["points=", "points=99,-7&count=1e9", "points=1,1;2,2"],
    "circle": ["points=", f"points={';'.join(['1,1'] * 20)}", "waves=77"],
    "evidence": ["many=none&trail=1,2", "length=1e99&noise=-1e99"],
    "features": ["seed=-1&pairs=0.3", "seed=x&signal=-2", f"points={';'.join(['1,1'] * 500)}"],
    "forward": ["drawn=999&seed=1.5"],
    "grid": ["rows=S", "rows=" + ";".join(["........."] * 6), "wind=1,2,3", "brush=Z"],
    "kernel": ["points=1,1;2,2&way=up", "points="],
    "labels": ["points=", "name=none&signal=99", f"points={';'.join(['5,1'] * 90)}"],
    "laplace": ["points=", f"points={';'.join(['5,1'] * 7)}"],
    "rabbit": ["turn=1e9&tilt=-1e9", "turn=x&shown=none"],
    "readings": ["chosen=", "chosen=1,1,0.5,-3,777", "name=none&noise=0"],
    "weight": [
        "used=40&line=1",
        "line=99,-99&noise=0",
        f"readings={';'.join(['9,9'] * 50)}",
        "readings=",
    ],
    "surface": [f"touches={';'.join(['9,9,1e9'] * 50)}"],
}


INSIDE = """[...document.querySelectorAll('input[type=range]')].every(
    ({ value, min, max }) => value >= min - 1e-9 && value <= Number(max) + 1e-9)"""


@pytest.mark.parametrize("kind", WRONG)
def test_an_address_that_nobody_could_set_leads_to_a_state_all_the_same(
    figure: Any, kind: str
) -> None:
    for asked in WRONG[kind]:
        page = figure(kind, at=f"#still?{asked}")
        said = page.inner_text(".gp-status")
        assert said, asked
        assert not re.search("NaN|undefined|Infinity|999", said), asked
        assert page.evaluate(INSIDE), asked
        again = figure(kind, at=address(page))
        assert again.inner_text(".gp-status") == said, asked


def test_an_address_brings_the_figure_into_sight_and_other_anchors_stay(figure: Any) -> None:
    head = "<style>main { padding-top: 3000px }</style>"
    tail = f"{head}<p id='elsewhere' style='margin: 3000px 0'>Elsewhere.</p>"
    page = figure("exact", at="#still?noise=0.5", tail=tail)
    assert page.evaluate(f"[{FIGURE}.state.noise, scrollY > 2000]") == [0.5, True]
    page.evaluate("location.hash = 'elsewhere'")
    page.wait_for_function("scrollY > 5000")
    assert page.evaluate(f"{FIGURE}.state.noise") == 0.5
    page.evaluate("location.hash = 'still?noise=0.1'")
    page.wait_for_function(f"{FIGURE}.state.noise == 0.1")
    page.go_back()
    page.go_back()
    page.wait_for_function(f"{FIGURE}.state.noise == 0.5")
    page.evaluate("location.hash = 'another?noise=0.9'")
    page.wait_for_timeout(50)
    assert page.evaluate(f"{FIGURE}.state.noise") == 0.5


def test_a_click_copies_the_address_and_moves_nothing(figure: Any) -> None:
    page = figure("exact", tail="<div style='height: 3000px'></div>")
    page.evaluate(
        "Object.defineProperty(navigator, 'clipboard', { configurable: true, value:"
        " { writeText: async (text) => { window.copied = text; } } })"
    )
    page.click("[data-action=try-2]")
    page.evaluate("scrollTo(0, 40)")
    page.click(".gp-address a")
    assert page.inner_text(".gp-address [role=status]") == "Copied."
    assert page.evaluate("window.copied") == page.url
    assert page.url.endswith("#still?lengthscale=0.3")
    assert page.evaluate("scrollY") == 40
    assert pressed(page) == ["A short lengthscale"]


# ------------------------------------------------------------ keys

# Each key on each point from the start: the points that no key moves, by what the figure then says.
UNMOVED = f"""() => {{
    const figure = {FIGURE};
    const points = () => [...document.querySelectorAll('.gp-point[tabindex="0"]')];
    const said = () => [figure.address, document.querySelector('.gp-status').textContent,
        ...points().map(point => point.ariaLabel)].join('|');
    return points().map((_, i) => i).filter(i => ['Right', 'Left', 'Up', 'Down'].every(way => {{
        figure.reset();
        points()[i].focus();
        const before = said();
        const pressed = {{ key: `Arrow${{way}}`, bubbles: true }};
        points()[i].dispatchEvent(new KeyboardEvent('keydown', pressed));
        return said() === before;
    }}));
}}"""


@pytest.mark.parametrize("kind", KINDS)
def test_an_arrow_key_moves_each_point(figure: Any, kind: str) -> None:
    """The toll of the two roads stayed at nought for ever: a key's step was rounded away."""
    assert figure(kind).evaluate(UNMOVED) == []


@pytest.mark.parametrize("kind", ["acquisition", "readings"])
def test_your_own_place_says_what_it_is_worth_and_is_taken_on_release(
    figure: Any, kind: str
) -> None:
    page = figure(kind)
    status, circles = page.locator(".gp-status"), page.locator(".gp-reading, .gp-newest")
    before, said = circles.count(), status.inner_text()
    dot = page.locator(".gp-point .gp-dot").bounding_box()
    page.mouse.move(dot["x"] + 5, dot["y"] + 5)
    page.mouse.down()
    page.mouse.move(dot["x"] - 45, dot["y"] + 5)
    moved = status.inner_text()
    assert "At your place, x = 4." in moved
    assert moved.split("At your place")[1] != said.split("At your place")[1]
    assert circles.count() == before
    page.mouse.up()
    assert circles.count() == before + 1


# ------------------------------------------------------------ what plays

PLAYED = {
    "acquisition", "beliefs", "bound", "chain", "features", "forward", "grid", "labels",
    "layers", "learners", "members", "readings", "swing",
}  # fmt: skip
DRAWN = "document.querySelector('.gp-plot svg').innerHTML"


@pytest.mark.parametrize("kind", sorted(PLAYED))
def test_a_figure_that_plays_takes_a_step_by_key_or_where_no_motion_is_wanted(
    figure: Any, kind: str
) -> None:
    page = figure(kind)
    button = page.locator("[data-action=play]")
    assert button.inner_text() == "One step"
    seen = [page.evaluate(DRAWN)]
    for press in (button.click, lambda: button.press("ArrowRight")):
        press()
        seen.append(page.evaluate(DRAWN))
    assert len(set(seen)) == 3
    page.wait_for_timeout(700)
    assert page.evaluate(DRAWN) == seen[-1]
    page.click("[data-action=reset]")


def test_it_plays_until_it_is_paused_and_never_by_itself(opened: Any) -> None:
    page = opened("grid", given=GIVEN.get("grid", "{}"))
    button, start = page.locator("[data-action=play]"), page.evaluate(DRAWN)
    page.wait_for_timeout(400)
    assert page.evaluate(DRAWN) == start
    button.click()
    assert button.inner_text() == "Pause"
    page.wait_for_function("document.querySelector('.gp-status').textContent.includes('3 sweeps')")
    assert page.locator(".gp-status").get_attribute("aria-live") == "off"
    button.click()
    paused = page.evaluate(DRAWN)
    assert button.inner_text() == "Play"
    page.wait_for_timeout(500)
    assert page.evaluate(DRAWN) == paused
    page.click("[data-action=reset]")
    assert page.evaluate(DRAWN) == start


# ------------------------------------------------------------ what was tried

# Each button is pressed, and the last one twice: what is then said to be pressed, after each.
TRIED = """() => {
    const buttons = () => [...document.querySelectorAll('.gp-trials button')];
    const pressed = () => buttons().filter(e => e.ariaPressed == 'true').map(e => e.innerText);
    const after = i => { buttons().at(i).click(); return pressed(); };
    return [buttons().map((button, i) => [button.innerText, after(i)]), after(-1)];
}"""


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_tried_stays_pressed_and_takes_one_back(figure: Any, kind: str) -> None:
    page = figure(kind)
    assert pressed(page) == []
    slider = page.locator("input[type=range]:enabled")
    if slider.count():
        slider.last.press("ArrowRight")
    mine = address(page)
    tried, left = page.evaluate(TRIED)
    assert tried
    assert tried == [[name, [name]] for name, _ in tried]
    assert left == []
    assert address(page) == mine


def test_what_is_tried_is_let_go_when_it_is_no_longer_so(figure: Any) -> None:
    page = figure("exact")
    page.click("[data-action=try-2]")
    page.locator("[data-name=noise]").press("ArrowRight")
    assert pressed(page) == ["A short lengthscale"]
    page.locator("[data-name=lengthscale]").press("ArrowRight")
    assert pressed(page) == []
    page.click("[data-action=try-1]")
    page.click("[data-action=add]")
    assert pressed(page) == []
    page.click("[data-action=try-2]")
    page.click("[data-action=reset]")
    assert pressed(page) == []


def test_what_is_tried_is_tried_afresh_where_something_was_done_since(figure: Any) -> None:
    page = figure("exact")
    page.click("[data-action=add]")
    mine = address(page)
    page.click("[data-action=try-2]")
    tried = address(page)
    page.click("[data-action=add]")
    for there in (tried, mine):
        page.click("[data-action=try-2]")
        assert address(page) == there
    assert pressed(page) == []


# ------------------------------------------------------------ in sight

PHONE = {"viewport": {"width": 390, "height": 700}, "has_touch": True}
HEAD = 56  # pixels, of the bar above the text of a chapter
AROUND = (
    f"<style>main {{ --gp-head: {HEAD}px }} body {{ margin: 20px }}</style>"
    "<div style='height: 2000px'></div>"
)
HIDDEN = """(input, head) => {
    input.scrollIntoView({ block: 'nearest' });
    const seen = (element) => {
        const { left, right, top, bottom } = element.getBoundingClientRect();
        const there = document.elementFromPoint((left + right) / 2, (top + bottom) / 2);
        return top > head - 1 && bottom < innerHeight + 1 && element.contains(there);
    };
    const wanted = { plot: '.gp-plot', status: '.gp-status' };
    return [...Object.entries(wanted).map(([name, one]) => [name, document.querySelector(one)]),
        [input.dataset.name, input]].filter(([, element]) => !seen(element)).map(([name]) => name);
}"""
# Of each slider, where the page is scrolled to it from each of the places.
FROM = f"""([chosen, head, starts]) => {{
    const hidden = {HIDDEN};
    return [...document.querySelectorAll(chosen)].map(input => starts.map(start => {{
        scrollTo(0, start);
        return hidden(input, head);
    }}));
}}"""


@pytest.mark.parametrize("kind", KINDS)
def test_plot_state_line_and_slider_are_in_a_phones_window_together(figure: Any, kind: str) -> None:
    page = figure(kind, 390, tail=AROUND, **PHONE)
    starts = [0, 3000]  # from above and from below
    sliders = page.evaluate(FROM, [".gp-slider input, .gp-slider select", HEAD, starts])
    assert sliders == [[[], []]] * len(sliders)


@pytest.mark.parametrize("kind", KINDS)
def test_a_figure_that_has_lost_its_width_does_not_complain(figure: Any, kind: str) -> None:
    """As while a page is printed; `opened` asks after complaints."""
    page = figure(kind)
    width = "document.querySelector('.gp-plot svg').getAttribute('width')"
    drawn = page.evaluate(width)
    page.evaluate("document.querySelector('.gp-plot').style.width = 0")
    page.wait_for_function(f"{width} != {drawn}")
    page.evaluate("document.querySelector('.gp-plot').style.width = ''")
    page.wait_for_function(f"{width} == {drawn}")


@pytest.mark.parametrize("kind", ["evidence", "exact"])
def test_in_a_low_window_no_plot_hides_the_sliders(figure: Any, kind: str) -> None:
    """As on a screen that is magnified fourfold."""
    page = figure(kind, 320, tail=AROUND, viewport={"width": 320, "height": 256})
    for (hidden,) in page.evaluate(FROM, [".gp-slider input", HEAD, [0]]):
        assert {"plot", "status"} >= set(hidden)


def test_the_sliders_stay_under_the_finger(figure: Any) -> None:
    """A state line that grew shorter would draw them away."""
    page = figure("exact", 390, **PHONE)
    page.click("[data-action=try-4]")
    place = page.locator("[data-name=noise]").bounding_box()
    page.click("[data-action=try-1]")
    assert len(page.inner_text(".gp-status")) < 40
    assert page.locator("[data-name=noise]").bounding_box() == place
