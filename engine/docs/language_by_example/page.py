"""The page about the language: its examples are evaluated while the page is written."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

import checked_equations
from checked_equations.check.html import code, element, inline_math, phrase, say, scrolled, table
from checked_equations.check.phrases import mutants_caught
from checked_equations.check.records import Record
from checked_equations.evaluate.values import Distribution, Nodes, conform, kind
from checked_equations.sphinx.directives import ALL, Place, generated

from .example import Example
from .sections import ALIKE, READ, REFUSED, SPELLED
from .slips import all_slips

if TYPE_CHECKING:  # the signature alone names it
    from sphinx.application import Sphinx

__all__ = [
    "Language",
    "browser_examples",
    "directive_examples",
    "plain_values",
    "section",
    "setup",
    "titles",
]

HOMES = (Path(checked_equations.__file__).parent, Path(__file__).parent)  # what the page rests on
_DIRECTIVES = "Directives"
_MOST = 3  # mutants of a kind that are shown


def section(title: str, directives: Mapping[str, type]) -> str:
    """One section as HTML. Raises KeyError for a title that there is none of."""
    return _directives(directives) if title == _DIRECTIVES else _sections()[title]()


def titles() -> tuple[str, ...]:
    """The titles of all sections."""
    return (*_sections(), _DIRECTIVES)


def _sections() -> dict[str, Callable[[], str]]:
    def made(render: Callable[..., str], title: str, rows: Any) -> Callable[[], str]:
        return lambda: render(title, rows)

    return {
        **{title: made(_read, title, rows) for title, rows in READ.items()},
        **{title: made(_spelled, title, rows) for title, rows in SPELLED.items()},
        **{title: made(_alike, title, rows) for title, rows in ALIKE.items()},
        **{title: made(_refused, title, rows) for title, rows in REFUSED.items()},
        "Kinds of mutants": _mutants,
    }


def _cells(*contents: str) -> str:
    return element("tr", *(element("td", content) for content in contents))


def _shown(title: str, titles: tuple[str, ...], rows: list[str]) -> str:
    return scrolled(table("eqn-small", titles, rows), title)


def _read(title: str, examples: Any) -> str:
    """What is read: in words, as it is written, as it is set, on what, and what came of it."""
    rows = [
        _cells(
            say(example.says),
            code(example.latex),
            _typeset(example.expanded),
            _bound(example.bindings or {}),
            _verdict(example.record()),
        )
        for example in examples
    ]
    return _shown(title, ("what", "LaTeX", "set", "bound", "mutants caught"), rows)


def _spelled(title: str, examples: Any) -> str:
    rows = [
        _cells(code(example.says), code(example.latex), _verdict(example.record()))
        for example in examples
    ]
    return _shown(title, ("word", "in an equation", "mutants caught"), rows)


def _alike(title: str, spellings: Any) -> str:
    rows = [_cells(code(one.written), code(one.read)) for one in spellings]
    return _shown(title, ("written", "is read as"), rows)


def _refused(title: str, refusals: Any) -> str:
    rows = [_cells(code(refusal.latex), _words(refusal.problem())) for refusal in refusals]
    return _shown(title, ("LaTeX", "what the error says"), rows)


def _typeset(latex: str) -> str:
    """The equation as the page sets it."""
    aligned = "&=" in latex
    return inline_math(rf"\begin{{aligned}}{latex}\end{{aligned}}" if aligned else latex)


def _verdict(record: Record) -> str:
    if not record.steps:
        return say("a definition")
    return say(mutants_caught(record.mutants.counts).replace(" mutants caught", ""))


def _bound(bindings: Mapping[str, Any]) -> str:
    """What each symbol stands for: a number, an array of a shape, a function."""
    return ", ".join(f"{code(name)} {say(_thing(value))}" for name, value in bindings.items())


def _thing(value: Any) -> str:
    if isinstance(value, Nodes | Distribution):
        return "nodes" if isinstance(value, Nodes) else "a distribution"
    if kind(value) != "value":
        return {"callable": "a function", "set": "a set"}[kind(value)]
    shape = conform(value).shape
    return "×".join(map(str, shape)) if shape else ""


def _words(problem: str) -> str:
    """Symbols stand between backticks."""
    pieces = problem.split("`")
    return "".join(code(piece) if i % 2 else say(piece) for i, piece in enumerate(pieces))


def _mutants() -> str:
    rows = [
        _cells(
            say(slip.where),
            code(slip.example.latex),
            "; ".join(phrase(said, code) for said in slip.mutants[:_MOST]),
        )
        for slip in all_slips()
    ]
    return _shown("Kinds of mutants", ("in", "an equation", "its mutants there"), rows)


def browser_examples() -> list[dict[str, Any]]:
    """Every example in plain words and numbers; without values where something else is bound."""
    sections = {**READ, **SPELLED}
    return [
        {
            "section": title,
            "says": example.says,
            "latex": example.expanded,
            "values": plain_values(example.bindings),
        }
        for title, rows in sections.items()
        for example in rows
        if isinstance(example, Example)
    ]


def plain_values(bindings: Mapping[str, Any]) -> dict[str, Any] | None:
    """Numbers and rows of numbers, a column as rows of one; None where something else is bound."""
    if any(kind(value) != "value" for value in bindings.values()):
        return None
    arrays = {name: conform(value) for name, value in bindings.items()}
    plain = all(one.dtype.kind in "iuf" and one.ndim <= 2 for one in arrays.values())
    return {name: one.tolist() for name, one in arrays.items()} if plain else None


def directive_examples(directives: Mapping[str, type]) -> dict[str, tuple[str, str]]:
    """For each directive how it is written and what it shows, as its docstring has them."""
    summaries = {name: (kind.__doc__ or "").split("\n")[0] for name, kind in directives.items()}
    written = {
        name: re.fullmatch(r"``(\{.*\}.*?)``: (.*)\.", line) for name, line in summaries.items()
    }
    return {name: (match[1], match[2]) for name, match in written.items() if match}


def _directives(directives: Mapping[str, type]) -> str:
    rows = [
        _cells(code(f"```{written}\n```"), _words(does.replace("``", "`")))
        for written, does in directive_examples(directives).values()
    ]
    return _shown("Directives", ("written", "shows"), rows)


class Language(Place):
    """``{equation-language} Arithmetic``: a part of the language, its examples evaluated."""

    what = "language"
    required_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        """The place, on a page that is read again with any file of the engine."""
        if self.arguments[0] not in titles():
            said = ", ".join(titles())
            raise self.error(f"no part {self.arguments[0]!r} of the language; got {said}")
        for path in (path for home in HOMES for path in home.rglob("*.py")):
            self.env.note_dependency(str(path))
        return super().run()


class Examples(SphinxDirective):
    """``{equation-examples}``: the examples as data, for a page that tries them in a browser."""

    def run(self) -> list[nodes.Node]:
        """The data, where the page has it; a `<` in it must not end the script."""
        for path in HOMES[1].rglob("*.py"):
            self.env.note_dependency(str(path))
        data = json.dumps(browser_examples()).replace("<", r"\u003c")
        html = f'<script type="application/json" class="equation-examples">{data}</script>'
        return [nodes.raw("", html, format="html")]


def fill(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Before the engine fills its places: the parts of the language."""
    for place in list(doctree.findall(generated)):
        if place["what"] == Language.what:
            html = section(place["options"]["argument"], ALL)
            place.replace_self(nodes.raw("", html, format="html"))


def setup(app: Sphinx) -> dict[str, Any]:
    """The directives, for a book that has the pages."""
    app.add_directive("equation-language", Language)
    app.add_directive("equation-examples", Examples)
    app.connect("doctree-resolved", fill, priority=400)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
