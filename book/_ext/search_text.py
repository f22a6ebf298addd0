"""The text of a page, section by section, as the search of the book reads it.

The body of a page becomes a list of `Section`: the prose and the code under one heading, with the
anchor that leads there. Formulas inside a sentence stay as TeX between ``\\(`` and ``\\)``, so that
an excerpt can be typeset; a numbered formula is an entry of its own, and so is a documented object.
What a badge says of steps and edits is left out: the ledger has it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from html import unescape
from typing import Any

__all__ = ["Section", "sections"]

VOID = frozenset(("area", "br", "col", "hr", "img", "input", "link", "meta", "source", "wbr"))
SKIPPED = frozenset(("script", "style", "button", "select", "summary", "noscript", "iframe"))
HIDDEN = frozenset(("headerlink", "eqn-badge", "eqn-line", "onlyprint", "book-gallery", "contents"))
SHOWN = frozenset(("cell", "evidence"))  # inside a badge, what belongs to the chapter itself
HEADINGS = frozenset(("h1", "h2", "h3", "h4"))
# What a writer of Sphinx makes has no surprises, and Python's own parser takes four times as long.
TAG = re.compile(
    r"<(?:!--.*?--|(?P<apart>script|style)\b.*?</(?P=apart)\s*"
    r"""|(?P<ends>/?)(?P<tag>[a-zA-Z][\w:-]*)(?P<told>(?:[^<>"']|"[^"]*"|'[^']*')*))>""",
    re.DOTALL,
)
NAMED = re.compile(r"""(?:^|\s)(id|class)=["']([^"']*)""")


@dataclass
class Section:
    """One heading, and what stands below it before the next."""

    anchor: str = ""
    title: str = ""
    text: str = ""
    code: str = ""
    equations: list[tuple[str, str, str]] = field(default_factory=list)  # anchor, number, LaTeX
    objects: list[tuple[str, str]] = field(default_factory=list)  # anchor, name
    labels: list[str] = field(default_factory=list)  # by which the sources of the book refer to it

    @property
    def says_something(self) -> bool:
        return bool(self.title or self.text or self.code)


def sections(body: str) -> list[dict[str, Any]]:
    """Return the sections of the body of a page as plain data, without empty ones."""
    reader = _Reader()
    reader.read(body)
    kept = [one for one in reader.found if one.says_something]
    for one in kept:
        one.title, one.text, one.code = map(_spaced, (one.title, one.text, one.code))
    return [vars(one) for one in kept]


def _spaced(text: str) -> str:
    return " ".join(text.replace("\N{PILCROW SIGN}", " ").split())


@dataclass
class _Open:
    """An element that is open: what text inside it is, and what its end closes."""

    tag: str
    to: str
    section: bool = False


class _Reader:
    """Goes through a page once; the innermost open element says where text belongs."""

    def __init__(self) -> None:
        self.found: list[Section] = [Section()]
        self.path: list[Section] = [self.found[0]]
        self.opened: list[_Open] = []
        self.formula = ""

    def read(self, body: str) -> None:
        end = 0
        for met in TAG.finditer(body):
            self._text(body[end : met.start()])
            end, tag, told = met.end(), met["tag"], met["told"]
            if tag and not met["ends"] and tag not in VOID:
                self._begin(tag, dict(NAMED.findall(told)))
            if tag and (met["ends"] or told.endswith("/")):
                self._end(tag)
        self._text(body[end:])

    def _begin(self, tag: str, named: dict[str, str]) -> None:
        begins = tag == "section" and "id" in named
        if begins:
            self.path.append(Section(named["id"]))
            self.found.append(self.path[-1])
            if "." in named["id"]:  # of a thing of the package: FullNames of api_pages.py
                self.path[-1].objects.append((named["id"], named["id"]))
        elif tag == "span" and named.get("id") and not self.path[-1].title:
            self.path[-1].labels.append(named["id"])
        self.opened.append(_Open(tag, self._kind(tag, named), begins))

    def _kind(self, tag: str, named: dict[str, str]) -> str:
        outer = self.opened[-1].to if self.opened else "text"
        classes = set(named.get("class", "").split())
        if outer == "hidden":
            return "text" if classes & SHOWN else "hidden"
        if tag in SKIPPED or classes & HIDDEN:
            return "hidden"
        if "math" in classes and tag == "div":
            return self._display(named.get("id", ""))
        if outer in ("math", "title", "code"):
            return outer
        if tag == "dt" and "sig" in classes and named.get("id"):
            self.path[-1].objects.append((named["id"], named["id"]))
        if tag in HEADINGS and not self.path[-1].title:
            return "title"
        return "code" if tag == "pre" else "text"

    def _display(self, anchor: str) -> str:
        if anchor:
            self.path[-1].equations.append((anchor, "", ""))
        return "math" if anchor else "hidden"

    def _end(self, tag: str) -> None:
        closes = any(one.tag == tag for one in reversed(self.opened))
        while closes:
            closed = self.opened.pop()
            if closed.section:
                self.path.pop()
            if closed.tag in ("p", "li", "dd", "dt", "td", "th", "tr", "pre", "figcaption", "div"):
                self._add(closed.to, " ")
            closes = closed.tag != tag

    def _text(self, data: str) -> None:
        if data:
            self._add(self.opened[-1].to if self.opened else "text", unescape(data))

    def _add(self, to: str, data: str) -> None:
        here = self.path[-1]
        if to == "math":
            self._grow(data)
        elif to != "hidden":
            setattr(here, to, getattr(here, to) + data)

    def _grow(self, data: str) -> None:
        """Add to a numbered formula: its number in parentheses first, then its LaTeX."""
        listed = self.path[-1].equations
        anchor, number, latex = listed[-1]
        text = data.strip()
        if not number and text.startswith("(") and text.endswith(")"):
            listed[-1] = (anchor, text.strip("()"), latex)
        else:
            listed[-1] = (anchor, number, (latex + data).strip().removeprefix(r"\["))
            if listed[-1][2].endswith(r"\]"):
                listed[-1] = (anchor, number, listed[-1][2].removesuffix(r"\]").strip())
