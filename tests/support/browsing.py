"""What several tests ask of a page in a browser, and of a figure that a reader operates."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from browser_engine import bundle

STATIC = Path(__file__).parents[2] / "book" / "_static"
FIGURE = "document.querySelector('.gp-playground').playground"


def scripts(*names: str) -> str:
    """The tags that load these scripts of the book."""
    return "".join(f'<script src="{(STATIC / name).as_uri()}"></script>' for name in names)


def setting(page: Any) -> Any:
    """The page, with the scripts there that set a formula which comes late."""
    for name in ("temml.js", "set-formula.js"):
        page.add_script_tag(path=STATIC / "mathematics" / name)
    return page


def engine(*entries: str) -> str:
    """The tag of a script that has these entries of the engine for browsers."""
    return f"<script>{bundle(*entries)}</script>"


# The slowest rules but contrast, whose finds axe calls moderate or minor, or for which it would
# have to read the styles. It finds nothing serious by them here, whatever the page.
IDLE = ("region", "hidden-content", "css-orientation-lock")
NOT_ASKED = {name: {"enabled": False} for name in IDLE}


def barriers(page: Any, *, rules: Any = None, **options: Any) -> list[str]:
    """What axe finds serious in a page as it is."""
    from axe_playwright_python.sync_playwright import Axe

    # Rules about styles would fetch them, which a browser refuses on file://.
    options |= {"preload": False, "resultTypes": ["violations"]}
    if "runOnly" not in options:
        options["rules"] = NOT_ASKED | (rules or {})
    violations = Axe().run(page, options=options).response["violations"]
    return [
        f"{violation['id']} ({len(violation['nodes'])}): {violation['nodes'][0]['html'][:160]}"
        for violation in violations
        if violation["impact"] in ("serious", "critical")
    ]


def scheme(page: Any, wanted: str) -> None:
    """The page in the light or in the dark, once it has followed."""
    page.emulate_media(color_scheme=wanted)
    page.wait_for_function(f"() => document.documentElement.dataset.theme == '{wanted}'")


def slips_beside(book_html: Path, name: str) -> dict[str, Any]:
    """What lies beside a page: of each of its equations the records, with the slips tried in it."""
    page = book_html / name
    text = page.with_name(f"{page.stem}.mutants.js").read_text("utf-8")
    return json.loads(text.removeprefix("window.checkedEquations = ").rstrip(" ;\n"))


def drag(point: Any, right: float, down: float) -> None:
    """Press on the middle of what a locator finds, and let go so many pixels further on."""
    box, mouse = point.bounding_box(), point.page.mouse
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    mouse.move(x, y)
    mouse.down()
    mouse.move(x + right, y + down, steps=4)
    mouse.up()


def assert_fits(page: Any, width: int) -> None:
    """Nothing is wider than the window, and nobody is kept out."""
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert barriers(page) == []


def assert_prints_its_picture(page: Any) -> None:
    """On paper the static picture stands where the operated figure was."""
    page.emulate_media(media="print")
    assert page.is_visible("#still > p")
    assert not page.is_visible(".gp-plot")


def assert_stands_above_its_caption(page: Any, name: str, drawn: str) -> None:
    """In its chapter it has the place of the picture, which is there on paper."""
    figure = page.locator(f"figure#{name}")
    assert figure.locator(f".gp-plot svg {drawn}").count() == 1
    assert figure.locator("figcaption").is_visible()
    assert figure.locator("img:visible").count() == 0
    page.emulate_media(media="print")
    assert figure.locator("img.book-picture").is_visible()
    assert not figure.locator(".gp-plot").is_visible()
