"""The evidence of a page, taken out of the lecture and into the badges of its equations.

Nothing moves in the notebook, and nothing on a page without evidence: a cell tagged ``evidence``
or a directive of that name. A cell that failed stays where it is, for all to see.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.util import logging
from sphinx.util.nodes import traverse_parent

from ..book.html import element, link
from ..book.ledger import KINDS
from .layers import Piece, layers_of, names_of, strings_of
from .output import check_output
from .tables import raw, render

Data = Mapping[str, Any]
logger = logging.getLogger(__name__)

CLASS = "eqn-evidence"
SLOT = "<!-- the code of the check -->"
WORKSHOP = "how-the-checks-are-built"
_TAGGED = "tag_evidence"
_UNSEEN = (nodes.comment, nodes.target, nodes.substitution_definition, addnodes.index)
_APART = {"ledger", "symbols"}
_OF_BADGES = {*KINDS, "claim"}  # of records that have a badge of their own


@dataclass(frozen=True)
class Folded:
    """What stands in which badge: the nodes by the labels, and the names that come from elsewhere.

    `borrowed` has for a label names with the anchors of the cells that define them; `elsewhere`
    the anchor of the cell that checks the equation, where it stands in the badge of another;
    `rest` what belongs to no equation.
    """

    code: Mapping[str, list[nodes.Element]] = field(default_factory=dict)
    borrowed: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    elsewhere: Mapping[str, str] = field(default_factory=dict)
    rest: Sequence[nodes.Element] = ()

    def __bool__(self) -> bool:
        """Whether anything was folded."""
        return bool(self.code or self.rest)


def is_evidence(node: nodes.Node) -> bool:
    """Whether the node is a cell or a paragraph of the evidence, and did not fail."""
    if not isinstance(node, nodes.container):
        return False
    if CLASS in node["classes"]:
        return True
    blocks = node.findall(nodes.literal_block)
    failed = any("traceback" in block["classes"] for block in blocks)
    return _TAGGED in node["classes"] and not failed


def fold(
    doctree: nodes.document,
    labels: Mapping[str, str],
    record_of: Callable[[check_output], Data],
    mark_of: Callable[[Data], str],
) -> Folded:
    """Take the evidence out of the page; it is the caller's to put it into the badges.

    `labels` has the equations with a badge on this page and, for what else cells speak of, the
    equation that it goes with; `mark_of` writes what a record leaves in the margin.
    """
    found = list(_runs(doctree))
    records = [[record_of(note) for note in node.findall(check_output)] for _, node in found]
    pieces = [
        _piece(node, run, labels, notes) for (run, node), notes in zip(found, records, strict=True)
    ]
    for (_, node), notes in zip(found, records, strict=True):
        _leave_marks(node, "".join(map(mark_of, notes)))
    anchors = _anchors(pieces)
    layers = layers_of(pieces)
    code: dict[str, list[nodes.Element]] = {}
    rest: list[nodes.Element] = []
    for home, (_, node), anchor in zip(layers.homes, found, anchors, strict=True):
        sections = traverse_parent(node.parent, nodes.section)  # a solution's has no title
        titled = (s for s in sections if any(isinstance(part, nodes.title) for part in s.children))
        came_from = next(titled, None)
        _take_out(node, anchor)
        if home:
            _drop_own_lines(node, home, record_of)
            code.setdefault(home, []).append(node)
        else:
            rest += [*_whence(came_from, rest), node]
    borrowed = {
        label: {name: anchors[i] for name, i in names.items()}
        for label, names in layers.borrowed.items()
    }
    elsewhere = {label: anchors[i] for label, i in layers.elsewhere.items()}
    return Folded(code, borrowed, elsewhere, rest)


def _runs(doctree: nodes.document) -> Iterator[tuple[int, nodes.Element]]:
    """The evidence in the order of the page, each with the number of its run.

    A run ends where something of the lecture stands between two pieces.
    """
    run = 0
    last: nodes.Element | None = None
    for node in list(doctree.findall(nodes.container)):
        if is_evidence(node) and not any(map(is_evidence, traverse_parent(node.parent))):
            if last is None or last.parent is not node.parent:
                run += 1
            else:
                beside = node.parent.children
                between = beside[beside.index(last) + 1 : beside.index(node)]
                run += not all(isinstance(one, _UNSEEN) for one in between)
            last = node
            yield run, node


def _piece(
    node: nodes.Element, run: int, labels: Mapping[str, str], records: Sequence[Data]
) -> Piece:
    """A piece with the equations that it is about: of a directive, the one that it names."""
    if CLASS in node["classes"]:
        label = node.get("label")
        if label and label not in labels:
            problem = f"evidence for {label}, but no equation here with that label has a badge"
            logger.warning(problem, location=node, type="equations")
        return Piece(run, (labels[label],) if label in labels else ())
    source = "\n".join(
        block.astext()
        for box in node.findall(nodes.container)
        if "cell_input" in box["classes"]
        for block in box.findall(nodes.literal_block)
    )
    checks = [record["label"] for record in records if record["kind"] in KINDS]
    others = [record for record in records if record["kind"] not in KINDS]
    told = checks + [record.get(key) or "" for record in others for key in ("label", "about")]
    said = dict.fromkeys(labels[x] for x in told or strings_of(source) if x in labels)
    return Piece(run, tuple(said), names_of(source), any(r["kind"] in _APART for r in records))


def _anchors(pieces: Sequence[Piece]) -> list[str]:
    """An anchor for each piece: the first name that it defines, or its place."""
    anchors: list[str] = []
    for i, piece in enumerate(pieces, start=1):
        first = next(iter(piece.code.defines), "") if piece.code else ""
        wanted = nodes.make_id(f"evidence-{first}") if first else f"evidence-{i}"
        anchors.append(wanted if wanted not in anchors else f"{wanted}-{i}")
    return anchors


# What stays behind


def _leave_marks(node: nodes.Element, marks: str) -> None:
    """Put marks where the piece stands: at the end of the paragraph before it, if there is one."""
    if not marks:
        return
    siblings = node.parent.children
    seen = (
        sibling
        for sibling in reversed(siblings[: siblings.index(node)])
        if not isinstance(sibling, _UNSEEN) and not is_evidence(sibling)
    )
    before = next(seen, None)
    if not isinstance(before, nodes.paragraph):
        before = nodes.paragraph(classes=["eqn-marked", "eqn-alone"])
        node.parent.insert(siblings.index(node), before)
    last = before.children[-1] if before.children else None
    if isinstance(last, nodes.raw) and "marks" in last:  # one box holds all
        before.remove(last)
        marks = last["marks"] + marks
    if "eqn-marked" not in before["classes"]:
        before["classes"] = [*before["classes"], "eqn-marked"]
    box = element("span", marks, class_="eqn-marks")
    before += nodes.raw("", f" {box}", format="html", marks=marks)


# What is taken away


def _take_out(node: nodes.Element, anchor: str) -> None:
    """Out of the page, with an anchor, and without a fold of its own: one click is enough."""
    node.parent.remove(node)
    node["ids"] = [*node["ids"], anchor]
    for child in list(node.children):
        known = child.attributes if isinstance(child, nodes.Element) else {}
        if "prompt_show" in known and "nb_element" not in known:  # MyST-NB hides what is in it
            node[node.index(child) : node.index(child) + 1] = child.children


def _drop_own_lines(
    node: nodes.Element, home: str, record_of: Callable[[check_output], Data]
) -> None:
    """The badge itself says what the line of its check would say once more."""
    for note in list(node.findall(check_output)):
        record = record_of(note)
        if record["kind"] in _OF_BADGES and record["label"] == home:
            note.parent.remove(note)
    for box in list(node.findall(nodes.container)):
        if "cell_output" in box["classes"] and not box.children:
            box.parent.remove(box)


def _whence(section: nodes.Element | None, before: Sequence[nodes.Element]) -> list[nodes.raw]:
    """A line that leads back to the section, unless the piece before came from there, too."""
    if section is None or not section["ids"]:
        return []
    title = next(iter(section.findall(nodes.title))).astext()
    line = element("p", "For ", link(title, f"#{section['ids'][0]}"), class_="eqn-foot eqn-whence")
    lines = [node.astext() for node in before if isinstance(node, nodes.raw)]
    return [] if lines[-1:] == [line] else [raw(line)]


# Where it is put


def in_badge(badge: str, label: str, folded: Folded) -> list[nodes.Node]:
    """The badge of an equation with the code of its check at the place of `SLOT`."""
    before, _, after = badge.partition(SLOT)
    code = folded.code.get(label, [])
    elsewhere = folded.elsewhere.get(label, "")
    if not code and not elsewhere:
        return [raw(before + after)]
    borrowed = folded.borrowed.get(label, {})
    above = render("code", code=code, elsewhere=elsewhere, borrowed=borrowed)
    return [raw(before + above), *code, raw(after)]


def add_workshop(doctree: nodes.document, rest: Sequence[nodes.Element]) -> None:
    """What opens all evidence, below the title; at the end of the page what has no equation."""
    title = next(iter(doctree.findall(nodes.title)), None)
    top = doctree if title is None else title.parent
    under = 0 if title is None else top.index(title) + 1
    summary = isinstance(top[under], nodes.raw) and "eqn-summary" in top[under].astext()
    top.insert(under + summary, raw(render("switch")))
    if rest:
        said = element("summary", "How the checks of this chapter are built")
        opened = f'<details class="eqn-workshop" id="{WORKSHOP}">{said}<div class="eqn-panel">'
        top += [raw(opened), *rest, raw("</div></details>")]
