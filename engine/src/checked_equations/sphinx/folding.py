"""The evidence of a page, taken out of the lecture and into the badges of its equations.

Nothing moves in the notebook, and nothing on a page without evidence: a cell tagged ``evidence``
or a directive of that name. A cell that failed stays where it is, for all to see.

A cell that checks an equation is at home there; its names are at home with the one equation
whose checks use them, and those used by several, or none, belong to the page. Prose goes with
the cell that it stands before.
"""

from __future__ import annotations

import ast
import symtable
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from docutils import nodes
from sphinx import addnodes
from sphinx.util import logging
from sphinx.util.nodes import traverse_parent

from ..book.ledger import KINDS
from ..check.html import element, link
from ..check.phrases import Data
from .book_ledger import Named
from .directives import EVIDENCE, boxes
from .generated_tables import raw, render
from .output import check_output

logger = logging.getLogger(__name__)

SLOT = "<!-- the code of the check -->"
WORKSHOP = "how-the-checks-are-built"
_UNSEEN = (nodes.comment, nodes.target, nodes.substitution_definition, addnodes.index)
_APART = {"ledger", "symbols"}
_OF_BADGES = {*KINDS, "claim"}  # of records that have a badge of their own


@dataclass(frozen=True)
class Folded:
    """The parts taken out: the nodes by the labels of the badges that they stand in, and the rest.

    By label are the names that are `borrowed`, each with its anchor, and that of code `elsewhere`.
    """

    code: Mapping[str, list[nodes.Element]] = field(default_factory=dict)
    rest: Sequence[nodes.Element] = ()
    borrowed: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    elsewhere: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Code:
    """The names that a cell leaves for others, in the order of the cell, and those it takes."""

    defines: tuple[str, ...] = ()
    uses: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Piece:
    """A cell or a paragraph of the evidence.

    `run` counts the stretches of evidence with nothing of the lecture between; `labels` are the
    equations that it is about, if it has some; `code` is that of a cell, and prose has none; a part
    that is `apart` belongs to no equation, whatever its neighbours.
    """

    run: int
    labels: tuple[str, ...] = ()
    code: Code | None = None
    apart: bool = False


@dataclass(frozen=True)
class Layers:
    """Return the home of each piece (a label, or empty), and the pieces each equation uses.

    `borrowed` has by label the names that its cells take from pieces with another home, each with
    the place of that piece; `elsewhere` that of a cell in the badge of another which checks it.
    """

    homes: tuple[str, ...]
    borrowed: Mapping[str, Mapping[str, int]]
    elsewhere: Mapping[str, int]


def is_evidence(node: nodes.Node) -> bool:
    """Return whether the node is a cell or a paragraph of the evidence, and did not fail."""
    classes = node["classes"] if isinstance(node, nodes.container) else ()
    blocks = node.findall(nodes.literal_block)
    return EVIDENCE in classes or (
        "tag_evidence" in classes and not any("traceback" in block["classes"] for block in blocks)
    )


def fold(
    doctree: nodes.document, labels: Mapping[str, str], about: Callable[[Data], Named]
) -> Folded:
    """Take the evidence out of the page; it is the caller's to put it into the badges.

    `labels` has the equations with a badge on this page and, for other subjects of cells, the
    equation that it goes with; `about` has the mark of a record in the margin.
    """
    found = list(_runs(doctree))
    pieces = [_piece(node, run, labels) for run, node in found]
    for _, node in found:
        records = [note["record"] for note in node.findall(check_output)]
        _leave_marks(node, "".join(about(r).marks.get(r["kind"], "") for r in records))
    anchors, layers = _anchors(pieces), layers_of(pieces)
    code: dict[str, list[nodes.Element]] = {}
    rest: list[nodes.Element] = []
    for home, (_, node), anchor in zip(layers.homes, found, anchors, strict=True):
        if not home:
            rest += _whence(node, rest)
        (code.setdefault(home, []) if home else rest).append(node)
        _take_out(node, anchor, home)
    names = layers.borrowed.items()
    borrowed = {label: {name: anchors[i] for name, i in taken.items()} for label, taken in names}
    elsewhere = {label: anchors[i] for label, i in layers.elsewhere.items()}
    return Folded(code, rest, borrowed, elsewhere)


def _runs(doctree: nodes.document) -> Iterator[tuple[int, nodes.Element]]:
    """The evidence in order, with the number of its run: between two runs the lecture goes on."""
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


def _piece(node: nodes.Element, run: int, labels: Mapping[str, str]) -> Piece:
    """A piece with the equations that it is about: of a directive, the one that it names."""
    if EVIDENCE in node["classes"]:
        return Piece(run, _label_named(node, labels))
    blocks = (b for box in boxes(node, "cell_input") for b in box.findall(nodes.literal_block))
    source = "\n".join(block.astext() for block in blocks)
    records = [note["record"] for note in node.findall(check_output)]
    about = _labels_told(records) or strings_of(source)
    said = dict.fromkeys(labels[label] for label in about if label in labels)
    return Piece(run, tuple(said), names_of(source), any(r["kind"] in _APART for r in records))


def _label_named(node: nodes.Element, labels: Mapping[str, str]) -> tuple[str, ...]:
    """The equation that a directive names, if it has a badge here."""
    label = node.get("label")
    if label and label not in labels:
        problem = f"evidence for {label}, but no equation here with that label has a badge"
        logger.warning(problem, location=node, type="equations")
    return (labels[label],) if label in labels else ()


def _labels_told(records: Sequence[Data]) -> list[str]:
    """The labels in the records of a cell, those of its checks before all others."""
    checked = [record["label"] for record in records if record["kind"] in KINDS]
    others = [record for record in records if record["kind"] not in KINDS]
    return checked + [record.get(key) or "" for record in others for key in ("label", "about")]


def _anchors(pieces: Sequence[Piece]) -> list[str]:
    """An anchor for each piece: the first name that it defines, or its place."""
    anchors: list[str] = []
    for i, piece in enumerate(pieces, start=1):
        first = next(iter(piece.code.defines), "") if piece.code else ""
        wanted = nodes.make_id(f"evidence-{first or i}")
        anchors.append(wanted if wanted not in anchors else f"{wanted}-{i}")
    return anchors


def _leave_marks(node: nodes.Element, marks: str) -> None:
    """Put marks where the piece stands: at the end of the paragraph before it, if there is one."""
    if not marks:
        return
    siblings = node.parent.children
    above = reversed(siblings[: siblings.index(node)])
    seen = (one for one in above if not isinstance(one, _UNSEEN) and not is_evidence(one))
    before = next(seen, None)
    if not isinstance(before, nodes.paragraph):
        before = nodes.paragraph(classes=["eqn-marked", "eqn-alone"])
        node.parent.insert(siblings.index(node), before)
    if "marks" in before:  # one box holds all
        before.pop()
    before["marks"] = before.get("marks", "") + marks
    before["classes"] = list(dict.fromkeys([*before["classes"], "eqn-marked"]))
    box = element("span", before["marks"], class_="eqn-marks")
    before += nodes.raw("", f" {box}", format="html")


def _take_out(node: nodes.Element, anchor: str, home: str) -> None:
    """Take it out of the page but for its badge: a fold, and the line of its check."""
    node.parent.remove(node)
    node["ids"] = [*node["ids"], anchor]
    for child in list(node.children):
        known = child.attributes if isinstance(child, nodes.Element) else {}
        if "prompt_show" in known and "nb_element" not in known:  # MyST-NB hides what is in it
            node[node.index(child) : node.index(child) + 1] = child.children
    for note in list(node.findall(check_output)):
        record = note["record"]
        if home and record["kind"] in _OF_BADGES and record["label"] == home:
            note.parent.remove(note)
    for box in boxes(node, "cell_output") if home else ():
        if not box.children:
            box.parent.remove(box)


def _whence(node: nodes.Element, before: Sequence[nodes.Element]) -> list[nodes.raw]:
    """A line that leads back to the section, unless the piece before came from there, too."""
    sections = traverse_parent(node.parent, nodes.section)  # a solution's has no title
    titles = (part for s in sections for part in s.children if isinstance(part, nodes.title))
    title = next(titles, None)
    if title is None or not title.parent["ids"]:
        return []
    there = link(title.astext(), f"#{title.parent['ids'][0]}")
    line = element("p", "For ", there, class_="eqn-foot eqn-whence")
    lines = [node.astext() for node in before if isinstance(node, nodes.raw)]
    return [] if lines[-1:] == [line] else [raw(line)]


def in_badge(badge: str, label: str, folded: Folded) -> list[nodes.Node]:
    """The badge of an equation with the code of its check at the place of `SLOT`."""
    before, _, after = badge.partition(SLOT)
    code, elsewhere = folded.code.get(label, []), folded.elsewhere.get(label, "")
    if not code and not elsewhere:
        return [raw(before + after)]
    borrowed = folded.borrowed.get(label, {})
    above = render("code", code=code, elsewhere=elsewhere, borrowed=borrowed)
    return [raw(before + above), *code, raw(after)]


def add_workshop(doctree: nodes.document, folded: Folded) -> None:
    """Put a switch for all evidence below the title; at the page's end the rest of the evidence."""
    if not folded.code and not folded.rest:
        return
    title = next(iter(doctree.findall(nodes.title)), None)
    top = doctree if title is None else title.parent
    under = 0 if title is None else top.index(title) + 1
    summary = isinstance(top[under], nodes.raw) and "eqn-summary" in top[under].astext()
    top.insert(under + summary, raw(render("switch")))
    if folded.rest:
        said = element("summary", "How the checks of this chapter are built")
        opened = f'<details class="eqn-workshop" id="{WORKSHOP}">{said}<div class="eqn-panel">'
        top += [raw(opened), *folded.rest, raw("</div></details>")]


def names_of(source: str) -> Code:
    """Return the names of a cell; none of one that is no Python.

    >>> names_of("def f(x):\\n    return x + a")
    Code(defines=('f',), uses=frozenset({'a'}))
    """
    try:
        told = ast.unparse(_AsGenerators().visit(ast.parse(source)))
        table = symtable.symtable(told, "a cell", "exec")
    except SyntaxError:
        return Code()
    top = table.get_symbols()
    given = [s.get_name() for s in top if s.is_assigned() or s.is_imported()]
    deeper = (s for inner in _inside(table) for s in inner.get_symbols() if s.is_global())
    taken = {s.get_name() for s in (*top, *deeper) if s.is_referenced()}
    return Code(tuple(given), frozenset(taken.difference(given)))


class _AsGenerators(ast.NodeTransformer):
    """Write comprehensions as generators: from Python 3.12 on only their names stay inside."""

    def visit_ListComp(self, node: ast.ListComp | ast.SetComp) -> ast.AST:
        self.generic_visit(node)
        return ast.GeneratorExp(node.elt, node.generators)

    visit_SetComp = visit_ListComp

    def visit_DictComp(self, node: ast.DictComp) -> ast.AST:
        self.generic_visit(node)
        return ast.GeneratorExp(ast.Tuple([node.key, node.value], ast.Load()), node.generators)


def _inside(table: symtable.SymbolTable) -> Iterator[symtable.SymbolTable]:
    for child in table.get_children():
        yield child
        yield from _inside(child)


def strings_of(source: str) -> list[str]:
    """The strings that stand in a cell, where it is Python."""
    try:
        found = ast.walk(ast.parse(source))
    except SyntaxError:
        return []
    return [n.value for n in found if isinstance(n, ast.Constant) and isinstance(n.value, str)]


def layers_of(pieces: Sequence[Piece]) -> Layers:
    """The homes of all pieces of a page, which stand in the order of the page."""
    takes = [_taken(pieces, i) for i in range(len(pieces))]
    homes = tuple(_home(pieces, takes, i) for i in range(len(pieces)))
    borrowed: dict[str, dict[str, int]] = {}
    for home, piece, taken in zip(homes, pieces, takes, strict=True):
        away = {name: j for name, j in taken.items() if homes[j] != home}
        for label in filter(None, [home, *piece.labels]):
            borrowed.setdefault(label, {}).update(away)
    own = {piece.labels[0] for piece in pieces if piece.labels}
    pairs = ((label, i) for i, piece in enumerate(pieces) for label in piece.labels)
    return Layers(homes, borrowed, {label: i for label, i in pairs if label not in own})


def _taken(pieces: Sequence[Piece], i: int) -> dict[str, int]:
    """The names that the cell `i` takes, each with the cell that gave it last."""
    taken = {}
    for name in sorted((pieces[i].code or Code()).uses):
        givers = [j for j, p in enumerate(pieces) if j != i and p.code and name in p.code.defines]
        if givers:
            taken[name] = max((j for j in givers if j < i), default=givers[0])
    return taken


def _home(pieces: Sequence[Piece], takes: Sequence[Mapping[str, int]], i: int) -> str:
    """Where the piece `i` is at home, or nothing where that is the page as a whole."""
    piece = pieces[i]
    if piece.labels or piece.apart:
        return piece.labels[0] if piece.labels else ""
    cells = [j for j, p in enumerate(pieces) if p.run == piece.run and p.code is not None]
    if piece.code is None and cells:  # prose goes with the cell below it, else with the last
        return _home(pieces, takes, next((j for j in cells if j > i), cells[-1]))
    users = _users(pieces, takes, i)
    if users:
        return users.pop() if len(users) == 1 else ""
    # the equation that the next cell of the run checks, or else the one before
    beside = (p for p in (*pieces[i:], *reversed(pieces[:i])) if p.run == piece.run and p.labels)
    return next((p.labels[0] for p in beside), "")


def _users(pieces: Sequence[Piece], takes: Sequence[Mapping[str, int]], i: int) -> set[str]:
    """Return the equations whose checks use names that the cell `i` defines, or made of those."""
    reached, waiting = set[int](), [i]
    while waiting:
        j = waiting.pop()
        new = {k for k, taken in enumerate(takes) if j in taken.values()} - reached
        reached |= new
        waiting += [k for k in new if not pieces[k].labels]
    return {pieces[k].labels[0] for k in reached if pieces[k].labels}
