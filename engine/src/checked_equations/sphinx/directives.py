"""The directives of the generated pages: each leaves a place that is filled when all is known."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx import addnodes
from sphinx.util.docutils import SphinxDirective

from ..book.settings import read_yaml

CLAIM = "eqn-claimed"


class generated(nodes.General, nodes.Element):
    """A place to be filled: `what` says with which table, `options` how."""


class Place(SphinxDirective):
    """A directive without content that leaves a place: `what` names it."""

    what = ""

    def run(self) -> list[nodes.Node]:
        """The place, with the arguments and the options of the directive."""
        options = {"argument": "".join(self.arguments), **self.options}
        node = generated(what=self.what, options=options)
        self.set_source_info(node)
        return [node]


class FromFile(Place):
    """A place whose content also comes from a file, so that the page is read again with it."""

    setting = ""

    def run(self) -> list[nodes.Node]:
        """The place, on a page that depends on the file."""
        name = getattr(self.config, self.setting)
        if name:
            self.env.note_dependency(str(Path(self.env.srcdir) / name))
        return super().run()


class CheckedEquation(Place):
    """``{checked-equation} eq-label``: an equation with its badge, open with ``:open:``."""

    what = "equation"
    required_arguments = 1
    option_spec = {"open": directives.flag}  # noqa: RUF012


class Evidence(SphinxDirective):
    """``{evidence}``: prose that only explains a check, which folds into a badge.

    It goes with the cell below it, or into the badge of the equation that it names:
    ``{evidence} eq-label``.
    """

    has_content = True
    optional_arguments = 1

    def run(self) -> list[nodes.Node]:
        """What stands inside, in a box that says to which equation it belongs."""
        box = nodes.container(classes=["eqn-evidence"], label="".join(self.arguments))
        self.set_source_info(box)
        self.state.nested_parse(self.content, self.content_offset, box)
        return [box]


class Claim(SphinxDirective):
    """``{claim} cl-label``: a sentence about an experiment, whose numbers are pasted.

    It gets a badge of its own; see `Chapter.claim`.
    """

    has_content = True
    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """The sentence, in a box that carries its label and its text."""
        (label,) = self.arguments
        box = nodes.container(classes=[CLAIM], label=label, text="\n".join(self.content))
        box["ids"] = [label]
        self.set_source_info(box)
        self.state.nested_parse(self.content, self.content_offset, box)
        return [box]


class Notation(FromFile):
    """``{equation-notation} group``: one group of the notation file, entered in the index."""

    what = "notation"
    setting = "equations_notation"
    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Enter the symbols in the index, and leave the place of their table."""
        groups = symbol_groups(Path(self.env.srcdir) / self.config.equations_notation)
        if self.arguments[0] not in groups:
            raise self.error(f"no group {self.arguments[0]!r} of symbols; got {', '.join(groups)}")
        entries = [
            ("single", term, symbol["anchor"], "", None)
            for symbol in groups[self.arguments[0]]["symbols"]
            for term in symbol.get("index", ())
        ]
        return [addnodes.index(entries=entries), *super().run()]


def symbol_groups(path: Path) -> dict[str, Any]:
    """The groups of a notation file by their names."""
    groups = read_yaml(path)
    for group in groups:
        for i, symbol in enumerate(group["symbols"]):
            symbol["anchor"] = f"symbol-{group['id']}-{i}"
    return {group["id"]: group for group in groups}


_TABLES = {
    "equation-ledger": "all numbered equations of the book.",
    "equation-totals": "how many there are of what.",
    "equation-summary": "the line below the title of a chapter.",
    "equation-inline": "the relations in sentences, and what became of them.",
    "equation-definitions": "what is compared with nothing, and why.",
    "equation-timings": "how long each chapter took.",
    "equation-versions": "what the build ran on.",
    "claim-ledger": "all claims of the book.",
}


def _directive(name: str) -> type[Place]:
    """A directive that takes neither argument nor option."""
    what = "claims" if name == "claim-ledger" else name.removeprefix("equation-")
    told = f"``{{{name}}}``: {_TABLES[name]}"
    return type(what.title(), (Place,), {"what": what, "__doc__": told})


ALL: dict[str, type[SphinxDirective]] = {
    **{name: _directive(name) for name in _TABLES},
    "equation-notation": Notation,
    "checked-equation": CheckedEquation,
    "evidence": Evidence,
    "claim": Claim,
}
