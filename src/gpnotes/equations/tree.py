"""The tree of an equation: frozen nodes, what they hold, and how to walk and edit them.

A node knows the stretch of LaTeX it came from (`span`, offsets into the equation's text),
so that an error or a mutant can point at it. Spans take no part in comparison: two
trees are equal when they say the same thing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields, replace

__all__ = [
    "Apply", "Bars", "Block", "Cases", "Constant", "Covariance", "Derivative", "Elementwise",
    "Expectation", "Function", "Gradient", "Index", "Integral", "Inverse", "Member", "Name", "Node",
    "Norm",
    "Number", "Power", "Product", "Quotient", "Range", "Reduction", "Root", "Statement", "Step",
    "Subscript", "Sum", "Transpose", "Variance", "children", "replace_at", "replace_node", "walk",
]  # fmt: skip

Span = tuple[int, int]


@dataclass(frozen=True, kw_only=True)
class Node:
    span: Span = field(default=(0, 0), compare=False, repr=False)


@dataclass(frozen=True)
class Number(Node):
    """A literal: ``2``, ``0.5``."""

    value: float


@dataclass(frozen=True)
class Constant(Node):
    """``\\pi``, ``\\mathrm e``, ``\\infty``: a name with one meaning, unless it is bound."""

    name: str


@dataclass(frozen=True)
class Name(Node):
    """A bound symbol; `key` is the normal form of its LaTeX (see `names.normal`)."""

    key: str


@dataclass(frozen=True)
class Index(Node):
    """The running variable of a sum, a product, an expectation or an integral."""

    key: str


@dataclass(frozen=True)
class Subscript(Node):
    """``x_i``, ``K_{ij}``, ``[A]_{ij}``: an entry of an array; indices start at one."""

    base: Node
    indices: tuple[Node, ...]


@dataclass(frozen=True)
class Sum(Node):
    """Signed terms: ``a - b + c`` has signs (1, -1, 1); a lone ``-a`` has signs (-1,)."""

    terms: tuple[Node, ...]
    signs: tuple[int, ...]


@dataclass(frozen=True)
class Product(Node):
    """Juxtaposition, ``\\cdot``, ``\\times``: matrix product where shapes say so, else scaling."""

    factors: tuple[Node, ...]


@dataclass(frozen=True)
class Elementwise(Node):
    """``a \\odot b``."""

    factors: tuple[Node, ...]


@dataclass(frozen=True)
class Quotient(Node):
    """``\\frac{a}{b}`` or ``a / b``; the denominator is a scalar."""

    numerator: Node
    denominator: Node


@dataclass(frozen=True)
class Power(Node):
    """``a^b`` for scalars (and integer powers of square matrices)."""

    base: Node
    exponent: Node


@dataclass(frozen=True)
class Inverse(Node):
    """``A^{-1}``; of a scalar, its reciprocal."""

    base: Node


@dataclass(frozen=True)
class Transpose(Node):
    """``A^\\top``. ``A^{-\\top}`` is the transpose of the inverse."""

    base: Node


@dataclass(frozen=True)
class Root(Node):
    """``\\sqrt[degree]{base}``."""

    base: Node
    degree: Node | None = None


@dataclass(frozen=True)
class Bars(Node):
    """``|A|`` or ``\\lvert A \\rvert``: determinant of a matrix, modulus of a scalar."""

    base: Node


@dataclass(frozen=True)
class Norm(Node):
    """``\\lVert x \\rVert_p``; `order` is "2" (the default), "1", "\\infty" or "F"."""

    base: Node
    order: str = "2"


@dataclass(frozen=True)
class Function(Node):
    """A function that the language knows: log, exp, det, tr, diag, min, max, ..."""

    name: str
    arguments: tuple[Node, ...]


@dataclass(frozen=True)
class Apply(Node):
    """A bound callable with its arguments; `separators` are those that stood between them."""

    key: str
    arguments: tuple[Node, ...]
    separators: tuple[str, ...] = ()


@dataclass(frozen=True)
class Range(Node):
    """``i = first`` to ``last``; or, with `members`, ``i \\in`` a bound finite set.

    ``\\sum_i`` alone has ``members=Name("i")``: a set, or the int N for 1 to N.
    ``\\sum_{j \\ne i}`` has, besides, ``without``.
    """

    index: str
    first: Node | None = None
    last: Node | None = None
    members: Node | None = None
    without: Node | None = None


@dataclass(frozen=True)
class Reduction(Node):
    """``\\sum``, ``\\prod``, ``\\min`` or ``\\max`` of `body` over `over`; `kind` says which."""

    kind: str
    over: Range
    body: Node


@dataclass(frozen=True)
class Expectation(Node):
    """``\\mathbb E_x[body]`` over variables bound to `Nodes` or to samples."""

    variables: tuple[str, ...]
    body: Node


@dataclass(frozen=True)
class Variance(Node):
    """``\\mathbb V_x[body]``; of a vector, its covariance matrix."""

    variables: tuple[str, ...]
    body: Node


@dataclass(frozen=True)
class Covariance(Node):
    """``\\operatorname{Cov}_x(left, right)``."""

    variables: tuple[str, ...]
    left: Node
    right: Node


@dataclass(frozen=True)
class Integral(Node):
    """``\\int_a^b body \\,\\mathrm d x`` for `x` bound to `Nodes`, all between the limits.

    The nodes fill finite limits; towards an infinite one they go on until the body has died away.
    """

    variables: tuple[str, ...]
    body: Node
    first: Node | None = None
    last: Node | None = None


@dataclass(frozen=True)
class Derivative(Node):
    """``\\frac{\\partial body}{\\partial x}`` by Richardson-extrapolated central differences."""

    body: Node
    variable: Node


@dataclass(frozen=True)
class Gradient(Node):
    """``\\nabla_x body``, a column."""

    body: Node
    variable: Node


@dataclass(frozen=True)
class Block(Node):
    """A block matrix: rows of nodes."""

    rows: tuple[tuple[Node, ...], ...]


@dataclass(frozen=True)
class Cases(Node):
    """``cases``: values with their conditions; a `None` condition is "otherwise"."""

    values: tuple[Node, ...]
    conditions: tuple[Step | None, ...]


@dataclass(frozen=True)
class Step(Node):
    """One relation of a chain: `left` `relation` `right`, and the line that it stands on."""

    left: Node
    relation: str
    right: Node
    line: int = field(default=1, compare=False)


@dataclass(frozen=True)
class Member(Node):
    """``i \\in members``, or ``i = 1, 2`` (``listed``), going on with dots to `last`."""

    element: Node
    members: Node | None = None
    listed: tuple[Node, ...] = ()
    last: Node | None = None


@dataclass(frozen=True)
class Statement(Node):
    """All the steps of an equation, in reading order, and the conditions that its words state.

    A condition is a `Step` or a `Member` that every draw must meet, or the `Name` of what
    the statement is for.
    """

    steps: tuple[Step, ...]
    conditions: tuple[Node, ...] = ()


def children(node: Node) -> Iterator[tuple[tuple[str, int, int], Node]]:
    """The child nodes of `node`, each with its place: field, position, position in the row."""
    for item in fields(node):
        value = getattr(node, item.name)
        if isinstance(value, Node):
            yield (item.name, -1, -1), value
        elif isinstance(value, tuple):
            yield from _inside(item.name, value)


def _inside(name: str, values: tuple) -> Iterator[tuple[tuple[str, int, int], Node]]:
    for i, value in enumerate(values):
        if isinstance(value, Node):
            yield (name, i, -1), value
        elif isinstance(value, tuple):
            for j, entry in enumerate(value):
                if isinstance(entry, Node):
                    yield (name, i, j), entry


Path = tuple[tuple[str, int, int], ...]


def walk(node: Node, path: Path = ()) -> Iterator[tuple[Path, Node]]:
    """Every node below and including `node`, parents first, with the path that leads to it."""
    yield path, node
    for place, child in children(node):
        yield from walk(child, (*path, place))


def replace_node(node: Node, old: Node, new: Node) -> Node:
    """`node` with the very object `old` replaced by `new` wherever it is held.

    The middle of a chain ``a = b = c`` is one object in two steps: an edit of the text
    changes both.
    """
    if node is old:
        return new
    edited = node
    for place, child in children(node):
        other = replace_node(child, old, new)
        if other is not child:
            edited = replace_at(edited, (place,), other)
    return edited


def replace_at(node: Node, path: Path, new: Node) -> Node:
    """`node` with the node at `path` replaced by `new`; everything off the path is shared."""
    if not path:
        return new
    (name, i, j), rest = path[0], path[1:]
    value = getattr(node, name)
    if i < 0:
        return replace(node, **{name: replace_at(value, rest, new)})
    if j < 0:
        entry = replace_at(value[i], rest, new)
    else:
        entry = (*value[i][:j], replace_at(value[i][j], rest, new), *value[i][j + 1 :])
    return replace(node, **{name: (*value[:i], entry, *value[i + 1 :])})
