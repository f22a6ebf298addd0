"""The tree of an equation: nodes, their parts, and how to walk and edit them.

A node knows the stretch of LaTeX it came from (`span`, offsets into the equation's text),
so that an error or a mutant can point at it. Spans take no part in comparison: two
trees are equal when they say the same thing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, dataclass_transform

Span = tuple[int, int]
Place = tuple[str, int, int]
Path = tuple[Place, ...]


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
class _Frozen:
    """Metaclass that makes every class below it a frozen dataclass."""

    def __init_subclass__(cls) -> None:
        dataclass(frozen=True)(cls)


class Node(_Frozen):
    """A node of the tree, a frozen dataclass, and the stretch of LaTeX that it was read from."""

    span: Span = field(default=(0, 0), compare=False, repr=False, kw_only=True)

    @cached_property  # who is shared by many trees is asked by all of them
    def _children(self) -> tuple[tuple[Place, Node], ...]:
        return tuple(_placed(self))

    @cached_property
    def _all(self) -> tuple[Node, ...]:
        return (self, *(node for _, child in self._children for node in child._all))

    @cached_property
    def _symbols(self) -> tuple[str, ...]:
        own = {self.key} if isinstance(self, Name | Index | Apply) else set()
        return tuple(sorted(own.union(*(child._symbols for _, child in self._children))))


def symbols(node: Node) -> tuple[str, ...]:
    """Return the keys of all symbols and functions in `node`, in order, each once."""
    return node._symbols


def children(node: Node) -> tuple[tuple[Place, Node], ...]:
    """The child nodes of `node`, each with its place: field, position, position in the row."""
    return node._children


def _placed(node: Node) -> Iterator[tuple[Place, Node]]:
    names: tuple[str, ...] = node.__match_args__  # all but the span
    for name in names:
        value = getattr(node, name)
        for i, entry in enumerate(value) if isinstance(value, tuple) else [(-1, value)]:
            for j, part in enumerate(entry) if isinstance(entry, tuple) else [(-1, entry)]:
                if isinstance(part, Node):
                    yield (name, i, j), part


def parts(node: Node) -> tuple[Node, ...]:
    """Every node below and including `node`, parents first."""
    return node._all


def walk(node: Node, path: Path = ()) -> Iterator[tuple[Path, Node]]:
    """The `parts` of a node, each with the path that leads to it."""
    left = [(path, node)]
    while left:
        path, node = left.pop()
        yield path, node
        left += [((*path, place), child) for place, child in reversed(children(node))]


def mapped(node: Node, change: Callable[[Node], Node]) -> Node:
    """`node` with `change` made to each of its children; itself, where that leaves them all."""
    for place, child in children(node):
        new = change(child)
        node = node if new is child else replace_at(node, (place,), new)
    return node


def replace_at(node: Node, path: Path, new: Node) -> Node:
    """`node` with the node at `path` replaced by `new`; everything off the path is shared."""
    if not path:
        return new
    name, *places = path[0]

    def put(value: Any, places: list[int]) -> Any:
        if not places or places[0] < 0:
            return replace_at(value, path[1:], new)
        i = places[0]
        return (*value[:i], put(value[i], places[1:]), *value[i + 1 :])

    return replace(node, **{name: put(getattr(node, name), places)})


class Number(Node):
    """A literal: ``2``, ``0.5``; its significant `digits`, and those behind its point, `places`."""

    value: float
    digits: int = field(default=0, compare=False, repr=False)
    places: int = field(default=0, compare=False, repr=False)


class Constant(Node):
    """``\\pi``, ``\\mathrm e``, ``\\infty``: a name with one meaning, unless it is bound."""

    name: str


class Name(Node):
    """A bound symbol; `key` is the normal form of its LaTeX (see `names.normal`)."""

    key: str


class Index(Node):
    """The running variable of a sum, a product, an expectation or an integral."""

    key: str


class Subscript(Node):
    """``x_i``, ``K_{ij}``, ``[A]_{ij}``: an entry of an array; indices start at one."""

    base: Node
    indices: tuple[Node, ...]


class Sum(Node):
    """Signed terms: ``a - b + c`` has signs (1, -1, 1); a lone ``-a`` has signs (-1,)."""

    terms: tuple[Node, ...]
    signs: tuple[int, ...]


class Product(Node):
    """Juxtaposition, ``\\cdot``, ``\\times``: matrix product where shapes say so, else scaling."""

    factors: tuple[Node, ...]


class Inner(Node):
    """``\\langle a, b \\rangle``: the sum of the products of the entries."""

    left: Node
    right: Node


class Quotient(Node):
    """``\\frac{a}{b}`` or ``a / b``; the denominator is a scalar."""

    numerator: Node
    denominator: Node


class Power(Node):
    """``a^b`` for scalars (and integer powers of square matrices)."""

    base: Node
    exponent: Node


class Inverse(Node):
    """``A^{-1}``; of a scalar, its reciprocal."""

    base: Node


class Transpose(Node):
    """``A^\\top``. ``A^{-\\top}`` is the transpose of the inverse."""

    base: Node


class Root(Node):
    """``\\sqrt[degree]{base}``."""

    base: Node
    degree: Node | None = None


class Bars(Node):
    """``|A|`` or ``\\lvert A \\rvert``: determinant of a matrix, modulus of a scalar."""

    base: Node


class Norm(Node):
    """``\\lVert x \\rVert_p``; `order` is "1", "2", "\\infty", "F", empty if none is written."""

    base: Node
    order: str = ""


class Function(Node):
    """A function that the language knows: log, exp, det, tr, diag, min, max, ..."""

    name: str
    arguments: tuple[Node, ...]

    @property
    def rounds(self) -> bool:
        """Return whether it is floor or ceiling, which are written as brackets."""
        return self.name in ("floor", "ceil")


class Apply(Node):
    """A bound callable with its arguments; `separators` are those that stood between them."""

    key: str
    arguments: tuple[Node, ...]
    separators: tuple[str, ...] = ()


class Primed(Apply):
    """``f'(x)``, ``f^{(n)}(x)``: the derivative of a bound function of one argument, there."""

    order: Node = field(default=Number(1.0))


class Ends:
    """A range from `first` to `last`, where it has both."""

    first: Node | None
    last: Node | None

    @property
    def limits(self) -> tuple[Node, Node]:
        """Both ends of a range without members or of a finite integral."""
        assert self.first is not None
        assert self.last is not None
        return self.first, self.last


class Range(Ends, Node):
    """``i = first`` to ``last``; or, with `members`, ``i \\in`` a bound finite set.

    ``\\sum_i`` alone has ``members=Name("i")``: a set, or the int N for 1 to N.
    ``\\sum_{j \\ne i}`` has, besides, ``without``.
    """

    index: str
    first: Node | None = None
    last: Node | None = None
    members: Node | None = None
    without: Node | None = None


class Reduction(Node):
    """``\\sum``, ``\\prod``, ``\\min``, ``\\sup`` ... of `body` over `over`; `kind` says which."""

    kind: str
    over: Range
    body: Node


def entries_along(node: Reduction) -> Iterator[tuple[Subscript, int]]:
    """The entries that say how far the ``i`` of ``\\sum_i`` runs, as ``A_{ki}``, and its place."""
    if node.over.members == Name(node.over.index):
        for part in parts(node.body):
            if isinstance(part, Subscript) and Index(node.over.index) in part.indices:
                yield part, part.indices.index(Index(node.over.index))


class Limit(Node):
    """``\\lim_{x \\to a} body``; `side` is ``+`` or ``-`` where it is taken from one alone."""

    key: str
    point: Node
    body: Node
    side: str = ""


class Under(Node):
    """The scope of an average: jointly drawn `variables` and their `distribution`.

    The distribution is the name that is bound to it: ``q(x)`` or ``q``; ``x`` where a variable
    has nodes of its own. `given` are the symbols that its nodes depend on: the variables' indices,
    as in ``q(f_i)``, and then those behind the bar of ``p(y \\mid x)``.
    """

    variables: tuple[str, ...]
    distribution: str
    given: tuple[Node, ...] = ()


class Average(Node):
    """The common part of averages: the things that they run over, inner ones last."""

    over: tuple[Under, ...]

    @property
    def variables(self) -> tuple[str, ...]:
        """All variables that are drawn."""
        return tuple(key for under in self.over for key in under.variables)


class Expectation(Average):
    """``\\mathbb E_{q(x)}[body]``, ``\\mathbb E_x[body]``, ``\\mathbb E[body \\mid x]``."""

    body: Node


class Variance(Average):
    """``\\mathbb V_x[body]``; of a vector, its covariance matrix."""

    body: Node


class Covariance(Average):
    """``\\operatorname{Cov}_x(left, right)``."""

    left: Node
    right: Node


class Integral(Ends, Node):
    """``\\int_a^b body \\,\\mathrm d x`` for `x` bound to `Nodes`, all between the limits.

    The nodes fill finite limits; towards an infinite one they go on until the body has died away.
    With a `dimension` the limits are those of each coordinate: ``\\int_{\\mathbb R^d}``.
    """

    variables: tuple[str, ...]
    body: Node
    first: Node | None = None
    last: Node | None = None
    dimension: Node | None = None


class Slope(Node):
    """The common part of derivatives and gradients: a body and the variable of the derivative."""

    body: Node
    variable: Node

    @property
    def symbol(self) -> Name | Index:
        """The symbol that is varied: the variable, or the array that it is an entry of."""
        base = self.variable.base if isinstance(self.variable, Subscript) else self.variable
        assert isinstance(base, Name | Index), "the parser refuses any other"
        return base


class Derivative(Slope):
    """``\\frac{\\partial body}{\\partial x}`` by Richardson-extrapolated central differences.

    A derivative of a written `order`, a second, is one of one; an order n stands here.
    """

    order: Node | None = None


class Gradient(Slope):
    """``\\nabla_x body``, a column."""


class At(Node):
    """``\\left. body \\right|_{x = value}``: the body where the variable has that value.

    So is ``\\frac{\\partial f}{\\partial x}(y)`` read.
    """

    body: Node
    key: str
    point: Node


class Dots(Node):
    """A sum, a product or a continued fraction that goes on with dots, as its terms say."""

    body: Node


class Block(Node):
    """A block matrix: rows of nodes."""

    rows: tuple[tuple[Node, ...], ...]


class Cases(Node):
    """``cases``: values with their conditions; a `None` condition is "otherwise"."""

    values: tuple[Node, ...]
    conditions: tuple[Step | None, ...]


class Step(Node):
    """One relation of a chain: `left` `relation` `right`, and the line that it stands on."""

    left: Node
    relation: str
    right: Node
    line: int = field(default=1, compare=False)


class Space(Node):
    """``\\mathbb R^{n \\times d}``, ``\\mathbb N``: numbers of a kind, in an array of a shape."""

    name: str
    shape: tuple[Node, ...] = ()


class Member(Node):
    """``i \\in members``, or ``i = 1, 2`` (``listed``), going on with dots to `last`."""

    element: Node
    members: Node | None = None
    listed: tuple[Node, ...] = ()
    last: Node | None = None


class Statement(Node):
    """All the steps of an equation, in reading order, and the conditions that its words state.

    A condition is a `Step` or a `Member` that every draw must meet, or the `Name` of a thing
    that the statement is for.
    """

    steps: tuple[Step, ...]
    conditions: tuple[Node, ...] = ()


class Infix(Node):
    """Factors with a sign of their own between them, as of all binary operators.

    A new one is a class with its `spellings` in LaTeX (as it is printed, first) and its `called`,
    a row of `INFIX`, and the rule that gives its value. `loose` says that a product without
    brackets stood next to the sign; where it `takes_products` that is one factor.
    """

    spellings: ClassVar[tuple[str, ...]] = ()
    called: ClassVar[str] = ""
    takes_products: ClassVar[bool] = False

    factors: tuple[Node, ...]
    loose: bool = field(default=False, compare=False, repr=False)


class Elementwise(Infix):
    """``a \\odot b``."""

    spellings = ("\\odot", "\\circ")
    called = "elementwise one"
    takes_products = True


class Kronecker(Infix):
    """``A \\otimes B``."""

    spellings = ("\\otimes",)
    called = "Kronecker product"


INFIX = {sign: operator for operator in (Elementwise, Kronecker) for sign in operator.spellings}
