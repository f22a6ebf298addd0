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

from ..book.html import element, link, say
from ..book.ledger import KINDS
from .layers import Layers, Piece, layers_of, names_of, strings_of
from .output import check_output

__all__ = ["CLASS", "SLOT", "Folded", "fold", "in_badge", "is_evidence", "switch", "workshop"]

Data = Mapping[str, Any]
logger = logging.getLogger(__name__)

CLASS = "eqn-evidence"
SLOT = "<!-- the code of the check -->"
WORKSHOP = "how-the-checks-are-built"
_TAGGED = "tag_evidence"
_UNSEEN = (nodes.comment, nodes.target, nodes.substitution_definition, addnodes.index)
_APART = {"ledger", "symbols"}


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
    return _TAGGED in node["classes"] and not _failed(node)


def _failed(cell: nodes.Element) -> bool:
    return any("traceback" in block["classes"] for block in cell.findall(nodes.literal_block))


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
    cells = [node for _, node in found]
    anchors = _anchors(pieces)
    for node, notes in zip(cells, records, strict=True):
        _leave_marks(node, "".join(map(mark_of, notes)))
    return _folded(layers_of(pieces), cells, anchors, record_of)


def _runs(doctree: nodes.document) -> Iterator[tuple[int, nodes.Element]]:
    """The evidence in the order of the page, each with the number of its run."""
    run = 0
    last: nodes.Element | None = None
    for node in list(doctree.findall(nodes.container)):
        if is_evidence(node) and not _within(node):
            run += last is None or _between(last, node)
            last = node
            yield run, node


def _within(node: nodes.Element) -> bool:
    """Whether the node stands in other evidence."""
    above = node.parent
    while above is not None and not is_evidence(above):
        above = above.parent
    return above is not None


def _between(last: nodes.Element, node: nodes.Element) -> bool:
    """Whether something of the lecture stands between two pieces."""
    if last.parent is not node.parent:
        return True
    siblings = node.parent.children
    between = siblings[siblings.index(last) + 1 : siblings.index(node)]
    return any(not isinstance(sibling, _UNSEEN) for sibling in between)


def _piece(
    node: nodes.Element, run: int, labels: Mapping[str, str], records: Sequence[Data]
) -> Piece:
    if CLASS in node["classes"]:
        return Piece(run, _asked(node, labels))
    source = _source(node)
    said = [name for name in _told(records) or strings_of(source) if name in labels]
    apart = any(record["kind"] in _APART for record in records)
    return Piece(run, tuple(dict.fromkeys(labels[name] for name in said)), names_of(source), apart)


def _asked(node: nodes.Element, labels: Mapping[str, str]) -> tuple[str, ...]:
    """The equation that a directive names."""
    label = node.get("label")
    if label and label not in labels:
        said = f"evidence for {label}, but no equation here with that label has a badge"
        logger.warning(said, location=node, type="equations")
    return (labels[label],) if label in labels else ()


def _told(records: Sequence[Data]) -> list[str]:
    """What the records of a cell are about, its checks first."""
    checks = [record["label"] for record in records if record["kind"] in KINDS]
    others = [record for record in records if record["kind"] not in KINDS]
    return checks + [record.get(key) or "" for record in others for key in ("label", "about")]


def _source(cell: nodes.Element) -> str:
    """The code of a cell, as it stands there."""
    blocks = (
        block
        for box in cell.findall(nodes.container)
        if "cell_input" in box["classes"]
        for block in box.findall(nodes.literal_block)
    )
    return "\n".join(block.astext() for block in blocks)


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
    before = _seen_before(node)
    if isinstance(before, nodes.paragraph):
        before["classes"] = [*before["classes"], *({"eqn-marked"} - set(before["classes"]))]
        before += _marks(_taken(before) + marks)
    else:
        node.parent.insert(node.parent.index(node), _alone(_marks(marks)))


def _taken(paragraph: nodes.Element) -> str:
    """The marks that stand at the end of the paragraph already, taken off it: one box holds all."""
    last = paragraph.children[-1] if paragraph.children else None
    if not isinstance(last, nodes.raw) or "marks" not in last:
        return ""
    paragraph.remove(last)
    return str(last["marks"])


def _marks(marks: str) -> nodes.raw:
    box = element("span", marks, class_="eqn-marks")
    return nodes.raw("", f" {box}", format="html", marks=marks)


def _seen_before(node: nodes.Element) -> nodes.Node | None:
    siblings = node.parent.children
    for sibling in reversed(siblings[: siblings.index(node)]):
        if not isinstance(sibling, _UNSEEN) and not is_evidence(sibling):
            return sibling
    return None


def _alone(raw: nodes.raw) -> nodes.paragraph:
    return nodes.paragraph("", "", raw, classes=["eqn-marked", "eqn-alone"])


# What is taken away


def _folded(
    layers: Layers,
    cells: Sequence[nodes.Element],
    anchors: Sequence[str],
    record_of: Callable[[check_output], Data],
) -> Folded:
    code: dict[str, list[nodes.Element]] = {}
    rest: list[nodes.Element] = []
    for home, node, anchor in zip(layers.homes, cells, anchors, strict=True):
        came_from = _section(node)
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
    return Folded(
        code, borrowed, {label: anchors[i] for label, i in layers.elsewhere.items()}, rest
    )


def _take_out(node: nodes.Element, anchor: str) -> None:
    """Out of the page, with an anchor, and without a fold of its own: one click is enough."""
    node.parent.remove(node)
    node["ids"] = [*node["ids"], anchor]
    for hidden in [child for child in node.children if _hides(child)]:
        node[node.index(hidden) : node.index(hidden) + 1] = hidden.children


def _hides(node: nodes.Node) -> bool:
    """Whether MyST-NB has put the node there to hide what a cell shows."""
    return isinstance(node, nodes.Element) and "prompt_show" in node and "nb_element" not in node


def _drop_own_lines(
    node: nodes.Element, home: str, record_of: Callable[[check_output], Data]
) -> None:
    """The badge itself says what the line of its check would say once more."""
    for note in list(node.findall(check_output)):
        record = record_of(note)
        if record["kind"] in KINDS and record["label"] == home:
            note.parent.remove(note)
    for box in list(node.findall(nodes.container)):
        if "cell_output" in box["classes"] and not box.children:
            box.parent.remove(box)


def _section(node: nodes.Node) -> nodes.section | None:
    while node is not None and not isinstance(node, nodes.section):
        node = node.parent
    return node


def _whence(section: nodes.section | None, before: Sequence[nodes.Element]) -> list[nodes.raw]:
    """A line that leads back to the section, unless the piece before came from there, too."""
    if section is None or not section["ids"]:
        return []
    title = next(iter(section.findall(nodes.title))).astext()
    line = element("p", "For ", link(title, f"#{section['ids'][0]}"), class_="eqn-foot eqn-whence")
    lines = [raw.astext() for raw in before if isinstance(raw, nodes.raw)]
    return [] if lines and lines[-1] == line else [nodes.raw("", line, format="html")]


# Where it is put


def in_badge(badge: str, label: str, folded: Folded) -> list[nodes.Node]:
    """The badge of an equation with the code of its check at the place of `SLOT`."""
    before, _, after = badge.partition(SLOT)
    code = folded.code.get(label, [])
    elsewhere = folded.elsewhere.get(label, "")
    if not code and not elsewhere:
        return [_raw(before + after)]
    title = element("p", "The code of this check", class_="eqn-code-title") if code else ""
    lines = _elsewhere(elsewhere) + _borrowed(folded.borrowed.get(label, {}))
    return [_raw(before + title + lines), *code, _raw(after)]


def _elsewhere(anchor: str) -> str:
    if not anchor:
        return ""
    where = link("in the badge of another equation", f"#{anchor}")
    return element("p", f"The code of this check stands {where}.")


def _borrowed(names: Mapping[str, str]) -> str:
    """The names that the code of a badge does not define itself, as links to where it is done."""
    links = [
        element("a", element("code", say(name)), href=f"#{anchor}")
        for name, anchor in names.items()
    ]
    said = f"Defined elsewhere on this page: {', '.join(links)}."
    return element("p", said, class_="eqn-borrowed") if links else ""


def workshop(rest: Sequence[nodes.Element]) -> list[nodes.Node]:
    """The folded section at the end of the page."""
    if not rest:
        return []
    title = element("summary", "How the checks of this chapter are built")
    opened = f'<details class="eqn-workshop" id="{WORKSHOP}">{title}<div class="eqn-panel">'
    return [_raw(opened), *rest, _raw("</div></details>")]


def switch() -> nodes.raw:
    """What opens and closes all evidence of the page; without the script there is none."""
    key = element("kbd", "e", aria_hidden="true")
    button = element(
        "button",
        "Show the evidence",
        type="button",
        aria_pressed="false",
        aria_keyshortcuts="e",
    )
    told = element("span", role="status", class_="eqn-told")
    return _raw(element("p", button, key, told, class_="eqn-switch", hidden=True))


def _raw(html: str) -> nodes.raw:
    return nodes.raw("", html, format="html")
