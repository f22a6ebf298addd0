"""Every colour of the book stands in one file, from which figures, pages and tools have it."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
from seen_colours import apart, contrast, parts, turned

from gpnotes import plot

ROOT = Path(__file__).resolve().parent.parent
SHEET = ROOT / "src" / "gpnotes" / "colours.css"
TEXT = SHEET.read_text("utf-8")
LIGHT, DARK = (
    dict(re.findall(r"--([\w-]+): (.+);", part)) for part in TEXT.split("[data-theme=", 1)
)
TYPED = re.compile(r"#(?:[0-9a-f]{3}){1,2}\b", re.I)
WITHOUT_ITS_SIGN = re.compile(rf"\b(?:{'|'.join(c[1:] for c in TYPED.findall(TEXT))})\b", re.I)
THEIRS = {"temml.js"}  # a library of others, which knows the colours of LaTeX
SHEETS = [*(ROOT / "book" / "_static").glob("*.css"), ROOT / "tools" / "book_pdf.css"]


def texts() -> list[Path]:
    """What could type a colour: the code and the style of packages, book and tools."""
    code, style = {".py", ".js", ".html"}, {".css", ".mplstyle", ".yml", ".md"}
    every = (
        path for top in ("src", "editorial", "book", "tools") for path in (ROOT / top).rglob("*")
    )
    return [
        path
        for path in every
        if path.suffix in code | style and path != SHEET and path.name not in THEIRS
    ]


def test_no_colour_is_typed_elsewhere() -> None:
    found = {}
    for path in texts():
        text = re.sub(r"\]\([^)]*\)|&#\w+;", "", path.read_text("utf-8"))  # links, and entities
        long = [one for one in TYPED.findall(text) if len(one) == 7 or path.suffix == ".css"]
        found[path.relative_to(ROOT).as_posix()] = long + WITHOUT_ITS_SIGN.findall(text)
    assert len(found) > 300
    assert {name: colours for name, colours in found.items() if colours} == {}


def test_sheets_ask_for_colours_that_there_are() -> None:
    assert DARK.keys() <= LIGHT.keys()
    assert all(name.startswith("page-") for name in DARK)
    for sheet in (SHEET, *SHEETS):
        asked = re.findall(r"var\(--((?:page|book)-[\w-]+)", sheet.read_text("utf-8"))
        fonts = re.findall(r"--(book-[\w-]+):", (ROOT / "book/_static/book.css").read_text("utf-8"))
        assert {*asked} <= {*LIGHT, *fonts}, sheet.name


def test_what_is_drawn_once_has_colours_of_the_book() -> None:
    icon = (ROOT / "book" / "_static" / "favicon.svg").read_text("utf-8")
    assert {*TYPED.findall(icon)} == {LIGHT["book-paper"], LIGHT["book-exact"]}


def test_figures_take_their_roles_from_it() -> None:
    assert {f"book-{role}": colour for role, colour in plot.COLOURS.items()}.items() < LIGHT.items()
    assert plot.COLOURS.keys() == plot.LINES.keys()


def test_letters_have_the_hue_of_what_the_figure_draws() -> None:
    site = (ROOT / "book" / "_static" / "site.css").read_text("utf-8")
    words = dict(re.findall(r"\.hue-(\w+) \{ color: var\(--([\w-]+)\); \}", site))
    assert words == {role: f"page-{role}" for role in coloured()}
    assert "filter: invert(1) hue-rotate(180deg)" in site  # of a picture, on a dark page
    for role, name in words.items():
        drawn = parts(plot.COLOURS[role])
        light, dark = (worth(theme[name]) for theme in (LIGHT, DARK))
        assert apart(parts(light), drawn) < 6
        assert apart(parts(dark), turned(drawn)) < 6
        assert contrast(light, LIGHT["book-paper"]) > 4.5
        assert contrast(dark, DARK["page-background"]) > 4.5


def coloured() -> list[str]:
    """The roles whose colour is no shade of grey, which words can have."""
    return [role for role, colour in plot.COLOURS.items() if np.ptp(parts(colour)) > 0.1]


def worth(value: str) -> str:
    """A colour of the sheet by its digits."""
    name = re.fullmatch(r"var\(--([\w-]+)\)", value)
    return LIGHT[name[1]] if name else value
