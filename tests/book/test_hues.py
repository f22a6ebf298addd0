"""Words in the colour of what a figure draws: each chapter has some, and the figure draws it."""

from __future__ import annotations

import ast
import re
from bisect import bisect
from collections.abc import Iterator
from typing import NamedTuple

import pytest
import yaml
from claim_words import BOOK, chapters

from checked_equations.book import markup
from gpnotes import plot

SPAN = re.compile(r"\[[^][]+\]\{\.hue-(\w+)\}")
ROLES = re.compile(r"var\(--gp-(\w+)\)")
# what the sheet of the operated figures calls the roles; `--gp-role` is set by the figure
OPERATED = {"other": "third", "before": "prior", "against": "approximation"}
BY_LIGHT = re.compile(r"\b(?:bright|dark|light|pal)(?:er|est)\b|\((?:bright|dark|light|pale)\)")
WITHOUT_ROLE = {"line", "band", "field", "parts"}  # of `plot`: exact, unless they are told


class Marked(NamedTuple):
    """Where words are marked: the section, the roles, and the figure if it is a caption."""

    section: int
    roles: list[str]
    figure: str = ""
    code: str = ""


def marked(text: str) -> Iterator[Marked]:
    """The cells with marked captions, and the lines with marked words."""
    lines = text.splitlines()
    cells = [(one.line, body) for one, body in markup.blocks(lines) if one.directive == "code-cell"]
    prose = dict(enumerate(lines, start=1))
    for line, body in cells:
        for inside in range(line, line + len(body) + 2):
            del prose[inside]
    headings = [line for line, words in prose.items() if words.startswith("#")]
    for line, body in cells:
        head = markup.options(body)
        figure = figure_of(body)
        if SPAN.search(figure.get("caption", "")):
            roles, code = SPAN.findall(figure["caption"]), "\n".join(body[head:])
            yield Marked(bisect(headings, line), roles, figure["name"], code)
    for line, words in prose.items():
        if SPAN.search(words):
            yield Marked(bisect(headings, line), SPAN.findall(words))


def figure_of(body: list[str]) -> dict[str, str]:
    """The name and the caption of the figure that a cell draws; empty where it draws none."""
    told = "\n".join(body[: markup.options(body)])
    if "caption:" not in told:
        return {}
    return yaml.safe_load(told.strip().strip("-"))["mystnb"]["figure"]


def captions_of(text: str) -> list[str]:
    """The captions of all figures that cells of a page draw."""
    blocks = markup.blocks(text.splitlines())
    figures = [figure_of(body) for one, body in blocks if one.directive == "code-cell"]
    return [figure["caption"] for figure in figures if figure]


def drawn(code: str) -> set[str]:
    """The roles that a cell names, or has because it names none."""
    found = set()
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Constant) and node.value in plot.COLOURS:
            found.add(str(node.value))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            plain = not {"role", "color"} & {keyword.arg for keyword in node.keywords}
            if ast.unparse(node.func.value) == "plot" and node.func.attr in WITHOUT_ROLE and plain:
                found.add("exact")
    return found


def operated(kind: str) -> set[str]:
    """The roles of the classes that a figure gives to what it draws in the page."""
    script = (BOOK / "_static" / f"{kind}-playground.js").read_text("utf-8")
    sheet = (BOOK / "_static" / "gp-playground.css").read_text("utf-8")
    own = re.search(r"get role\(\) \{ return \"gp-(?:role-)?(\w+)\"", script)
    names = {**OPERATED, "role": own[1] if own else "exact"}
    rules = dict(re.findall(r"^\.(gp-[\w-]+) \{([^}]*)\}", sheet, re.MULTILINE))
    used = set(re.findall(r"gp-[\w-]+", script)) & rules.keys()
    return {names[one] for name in used for one in ROLES.findall(rules[name]) if one in names}


@pytest.mark.parametrize("chapter", chapters())
def test_words_share_the_colours_of_a_figure(chapter: str) -> None:
    text = (BOOK / f"{chapter}.md").read_text("utf-8")
    places = list(marked(text))
    assert sum(len(one.roles) for one in places) == len(re.findall(r"hue-", text))
    captions = [one for one in places if one.figure]
    assert captions, "no figure has words in its colours"
    for one in captions:
        assert len({*one.roles}) > 1, f"{one.figure}: one colour tells nothing apart"
        assert {*one.roles} <= drawn(one.code), one.figure
        on_screen = re.search(rf'data-gp-playground="{one.figure}" data-gp-kind="(\w+)"', text)
        assert not on_screen or {*one.roles} <= operated(on_screen[1]), one.figure
        beside = [two for two in places if two.section == one.section and not two.figure]
        assert beside, f"{one.figure}: the text around it has none of its colours"
    for two in places:
        near = {role for one in captions if one.section == two.section for role in one.roles}
        assert {*two.roles} <= near, two


@pytest.mark.parametrize("slug", [*chapters(), "which-approximation"])
def test_no_caption_ranks_by_light(slug: str) -> None:
    """The dark scheme inverts pictures, so that what is bright in one is dark in the other."""
    text = (BOOK / f"{slug}.md").read_text("utf-8")
    found = captions_of(text)
    assert found
    assert [one for one in found if BY_LIGHT.search(one)] == []


def test_a_caption_that_ranks_by_light_is_found() -> None:
    cell = "```{code-cell} ipython3\n---\nmystnb:\n  figure:\n    caption: {}\n---\n1\n```\n"
    one, other = captions_of(
        cell.replace("{}", "The darker the higher.") + cell.replace("{}", "Maps.")
    )
    assert BY_LIGHT.search(one)
    assert BY_LIGHT.search("from zero (light) to one")
    assert not BY_LIGHT.search(other)
