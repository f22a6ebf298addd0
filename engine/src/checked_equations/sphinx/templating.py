"""HTML from the templates of this folder: what stands on pages alone, and in no notebook.

The badges are made without Jinja (see `book.html`), which a notebook need not have.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from pathlib import Path

from docutils import nodes
from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

from ..book.html import display_later, inline_math, later, number, phrase, say, tolerance
from ..book.phrases import mutants_caught
from ..claims.sentence import filled

__all__ = ["plain_sentence", "raw", "render", "short_name"]

_FOLDER = Path(__file__).resolve().parent / "templates"
_ROLE = re.compile(r"\{[\w:]+\}`(?:[^`<]*<)?([^`>]*)>?`|\[(?P<said>[^\]]*)\]\([^)]*\)")
_LAYOUT = re.compile(r"(?<=[>}])\s*\n\s*|\s*\n\s*(?=[<{])")


def render(template: str, **values: object) -> str:
    """The HTML that a template makes of `values`; what is text in them is escaped."""
    return _TEMPLATES.get_template(f"{template}.html").render(values)


def raw(html: str) -> nodes.raw:
    """HTML as a node of a page."""
    return nodes.raw("", html, format="html")


def plain_sentence(text: str) -> str:
    """A sentence in Markdown as a line of a table: its words and its mathematics."""
    words = _ROLE.sub(lambda found: found[1] or found["said"], text).replace("*", "")
    pieces = words.split("$")
    return "".join(later(x) if i % 2 else say(x) for i, x in enumerate(pieces))


def short_name(docname: str) -> str:
    """``function view``: a column has no room for a title."""
    return docname.rsplit("/", 1)[-1].replace("-", " ")


def _source(name: str) -> str:
    """A template without the line breaks that lay it out for its reader."""
    return _LAYOUT.sub("", (_FOLDER / name).read_text(encoding="utf-8"))


def _marked(make: Callable[..., str]) -> Callable[..., Markup]:
    """A filter whose HTML is not escaped again."""
    return lambda *given: Markup(make(*given))


_TEMPLATES = Environment(loader=FunctionLoader(_source), autoescape=True, undefined=StrictUndefined)
_TEMPLATES.filters |= {
    "say": _marked(say), "display_later": _marked(display_later), "math": _marked(inline_math),
    "later": _marked(later),
    "phrase": _marked(partial(phrase, math=inline_math)),
    "filled": filled, "number": number, "tolerance": tolerance, "mutants_caught": mutants_caught,
    "sentence": _marked(plain_sentence), "short_name": short_name,
}  # fmt: skip
