"""Heights of the chapters of the built book, by kind of block, with all evidence folded.

``python tools/heights.py [part/slug ...] [--html _build/html] [--where]``

A screen is 800 pixels of a window that is 1280 wide. Every stretch of a page belongs to the block
that it begins with: prose (headings, lists and tables too), equations, figures, code, machinery
of checking. With ``--where`` it says between which headings the longest stretches without a
figure lie, and which cells of a check are still open. The bounds stand in `BOUNDS`; which figure
is a chapter's answer, and what is not there yet, in ``tests/book/heights.toml``.
"""

from __future__ import annotations

import argparse
import sys
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from system_browser import browser_path

ROOT = Path(__file__).resolve().parents[1]
TABLE = ROOT / "tests" / "book" / "heights.toml"
SCREEN, WIDTH = 800, 1280
BOUNDS = {
    "screens": 32.0,
    "machinery": 0.0,
    "prose": 50.0,  # per cent, at least
    "first figure": 2.0,
    "answer": 5.0,
    "without figure": 6.0,
}
AT_LEAST = {"prose"}
Gap = tuple[float, str, str]


@dataclass(frozen=True)
class Heights:
    """The measures of one page, in screens; `prose` is per cent of the height."""

    values: Mapping[str, float]
    shares: Mapping[str, float]
    machinery: tuple[tuple[int, str], ...]
    gaps: tuple[Gap, ...]

    def over(self, bounds: Mapping[str, float]) -> dict[str, float]:
        """Return the measures that miss their bound."""
        return {name: self.values[name] for name in bounds if not self._holds(name, bounds[name])}

    def _holds(self, name: str, bound: float) -> bool:
        value = self.values[name]
        return value >= bound if name in AT_LEAST else value <= bound


def table() -> dict[str, dict[str, Any]]:
    """Return for each chapter the figure of its answer, and the exceptions from the bounds."""
    return tomllib.loads(TABLE.read_text(encoding="utf-8"))


def measured(page: Any, answer: str) -> Heights:
    """Return the heights of an open page whose mathematics is typeset."""
    seen = page.evaluate((ROOT / "tools" / "heights.js").read_text(encoding="utf-8"))
    shares = {name: height / seen["height"] for name, height in seen["heights"].items()}
    first = seen["figures"][:1]
    its = [figure for figure in seen["figures"] if answer in figure["names"]][:1]
    values = {
        "screens": seen["height"] / SCREEN,
        "machinery": seen["heights"].get("machinery", 0.0) / SCREEN,
        "prose": 100 * shares.get("prose", 0.0),
        "first figure": _screen(first),
        "answer": _screen(its),
        "without figure": seen["gaps"][0][0] / SCREEN,
    }
    gaps = tuple((length / SCREEN, after, before) for length, after, before in seen["gaps"])
    rounded = {name: round(value, 1) for name, value in values.items()}
    return Heights(rounded, shares, tuple(map(tuple, seen["machinery"])), gaps)


def _screen(figures: list[dict[str, Any]]) -> float:
    """Return the screen, from 1, on which the middle of the first of `figures` stands."""
    if not figures:
        return float("inf")
    return 1 + (figures[0]["top"] + figures[0]["end"]) / 2 // SCREEN


# From the command line


@contextmanager
def opened(html: Path) -> Iterator[Any]:
    """Yield a function that opens a page of the built book and waits for its mathematics."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=browser_path(), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": WIDTH, "height": SCREEN})
        page.set_default_timeout(300_000)

        def show(slug: str) -> Any:
            page.goto((html / "book" / f"{slug}.html").as_uri())
            page.evaluate("() => document.fonts.ready")
            return page

        yield show
        browser.close()


def said(slug: str, heights: Heights, bounds: Mapping[str, float]) -> Iterator[str]:
    """Yield two lines on a chapter; a star stands behind what misses its bound."""
    missed = heights.over(bounds)
    words = (f"{n} {v:.4g}{'*' if n in missed else ''}" for n, v in heights.values.items())
    yield f"{slug}: {', '.join(words)}"
    parts = sorted(heights.shares.items(), key=lambda part: -part[1])
    yield "    " + ", ".join(f"{name} {share:.0%}" for name, share in parts)


def where(heights: Heights) -> Iterator[str]:
    """Yield the places of the longest stretches without a figure, and the open checks."""
    for length, after, before in heights.gaps[:5]:
        yield f"    {length:.1f} screens without a figure: from “{after}” to “{before}”"
    for height, line in heights.machinery:
        yield f"    {height} px of checking: {line}"


def main(arguments: Iterable[str]) -> None:
    """Print the measures of the chapters named, or of all that the table names."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("slugs", nargs="*", metavar="part/slug")
    parser.add_argument("--html", type=Path, default=ROOT / "_build" / "html")
    parser.add_argument("--where", action="store_true", help="say where it misses its bounds")
    given = parser.parse_args(list(arguments))
    chapters = table()
    screens = []
    with opened(given.html.resolve()) as show:
        for slug in given.slugs or chapters:
            heights = measured(show(slug), chapters.get(slug, {}).get("answer", ""))
            screens.append(heights.values["screens"])
            print(*said(slug, heights, BOUNDS), *(where(heights) if given.where else ()), sep="\n")
    print(f"mean of {len(screens)}: {sum(screens) / len(screens):.1f} screens")


if __name__ == "__main__":
    main(sys.argv[1:])
