"""The directives of the generated pages: each leaves a place that is filled when all is known."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx import addnodes
from sphinx.util.docutils import SphinxDirective

from ..book.settings import read_yaml

CLAIM, CITED, EVIDENCE = "eqn-claimed", "eqn-cited", "eqn-evidence"  # classes of boxes


class generated(nodes.General, nodes.Element):
    """A place to be filled: `what` names the table, `options` its form."""


def boxes(node: nodes.Node, name: str) -> list[nodes.container]:
    """The boxes of a class within a node."""
    return [box for box in node.findall(nodes.container) if name in box["classes"]]


class Place(SphinxDirective):
    """A directive without content that leaves a place with the name of its table.

    The page is read again with the file that the `setting` names, if there is one.
    """

    what = ""
    setting = ""

    def run(self) -> list[nodes.Node]:
        """The place, with the arguments and the options of the directive."""
        file = getattr(self.config, self.setting) if self.setting else ""
        if file:
            self.env.note_dependency(str(Path(self.env.srcdir) / file))
        options = {"argument": "".join(self.arguments), **self.options}
        node = generated(what=self.what, options=options)
        self.set_source_info(node)
        return [node]


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
    name_of_box = EVIDENCE

    def run(self) -> list[nodes.Node]:
        """Return the content in a box with the name that it belongs to, and its source."""
        label, text = "".join(self.arguments), "\n".join(self.content)
        box = nodes.container(classes=[self.name_of_box], label=label, text=text)
        self.set_source_info(box)
        self.state.nested_parse(self.content, self.content_offset, box)
        return [box]


class Claim(Evidence):
    """``{claim} cl-label``: a sentence about an experiment, whose numbers are pasted.

    It gets a badge of its own; see `Chapter.claim`.
    """

    required_arguments = 1
    optional_arguments = 0
    name_of_box = CLAIM

    def run(self) -> list[nodes.Node]:
        """The sentence, in a box to which its label leads."""
        (box,) = super().run()
        box["ids"], box["names"] = list(self.arguments), list(self.arguments)
        self.state.document.note_explicit_target(box, box)
        return [box]


class Cited(Evidence):
    """``{claimed} cl-label``: another sentence with numbers of a claim of the page.

    One experiment has one record; its further results stand next to it, and are not drawn again.
    """

    required_arguments = 1
    optional_arguments = 0
    name_of_box = CITED


class Notation(Place):
    """``{equation-notation} group``: one group of the notation file, entered in the index."""

    what = "notation"
    setting = "equations_notation"
    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Enter the symbols in the index, and leave the place of their table."""
        (name,) = self.arguments
        groups = symbol_groups(Path(self.env.srcdir) / self.config.equations_notation)
        if name not in groups:
            raise self.error(f"no group {name!r} of symbols; got {', '.join(groups)}")
        (place,) = super().run()
        symbols = groups[name]["symbols"]
        place["options"] = {"title": groups[name]["title"], "symbols": symbols}
        terms = ((term, s["anchor"]) for s in symbols for term in s.get("index", ()))
        entries = [("single", term, anchor, "", None) for term, anchor in terms]
        return [addnodes.index(entries=entries), place]


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
    return type(what, (Place,), {"what": what, "__doc__": f"``{{{name}}}``: {_TABLES[name]}"})


ALL: dict[str, type[SphinxDirective]] = {
    **{name: _directive(name) for name in _TABLES},
    "equation-notation": Notation,
    "checked-equation": CheckedEquation,
    "evidence": Evidence,
    "claim": Claim,
    "claimed": Cited,
}
