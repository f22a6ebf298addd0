"""Kinds of symbols: the numbers that are drawn for a symbol that is not bound."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial, reduce
from typing import Any, cast

import numpy as np

from checked_equations.errors import EquationError
from checked_equations.evaluate.evaluator import Evaluator
from checked_equations.evaluate.values import Entries, Nodes
from checked_equations.latex.parser import parse_expression

Size = int | str  # a number, or the symbol that stands for it
Sizes = dict[str, int]
Rng = np.random.Generator


_TURNS = {"+": (-1.3, 1.3), "-": (1.8, 4.4), "+-": (-3.0, 3.0)}
_WIDE_TURNS = {"+": (-1.56, 1.56), "-": (1.59, 4.69), "+-": (-3.1, 3.1)}


@dataclass(frozen=True)
class Region:
    """Where numbers are drawn: magnitudes up to `span`, of one sign or both, real or complex.

    A statement about a region must hold in all of it; so draws that confirm it are `wide`, and come
    near its ends, where others avoid the loss of digits.

    >>> Region("positive", 1.0, "+").said
    'positive, up to 1'
    """

    name: str
    span: float
    signs: str = "+-"
    plane: bool = False
    wide: bool = False

    @property
    def said(self) -> str:
        """Describe the kind for a reader."""
        return f"{self.name}, up to {self.span:g}"

    def has(self, number: float) -> bool:
        """Return whether a real number lies in it, if zero only where both signs do."""
        signed = self.signs == "+-" or number * {"+": 1.0, "-": -1.0}[self.signs] > 0.0
        return signed and abs(number) <= self.span

    def contains(self, other: Region) -> bool:
        """Return whether all numbers of another region lie in it."""
        signs = self.signs in ("+-", other.signs)
        return signs and other.span <= self.span and self.plane >= other.plane

    def real(self, rng: Rng) -> float:
        """A real number: no integer, not near zero, nor near the end."""
        size = self.span * (rng.uniform(0.02, 0.999) if self.wide else rng.uniform(0.2, 0.95))
        sign = {"+": 1.0, "-": -1.0}.get(self.signs) or rng.choice([-1.0, 1.0])
        return float(sign * size)

    def number(self, rng: Rng) -> complex | float:
        """A number of the plane, off the negative axis, where branches are cut."""
        if self.signs == "+" and not self.plane:
            return self.real(rng)
        half = _WIDE_TURNS if self.wide else _TURNS
        turn = rng.uniform(*half[self.signs])
        least, most = (0.02, 0.999) if self.wide else (0.3, 0.95)
        return complex(self.span * rng.uniform(least, most) * np.exp(1j * turn))


NEGATIVE = Region("negative", 2.5, "-")
REAL = (
    Region("small and positive", 0.9, "+"),
    Region("positive", 3.0, "+"),
    Region("of either sign", 0.8),
    NEGATIVE,
    Region("large and positive", 8.0, "+"),
)
COMPLEX = (
    Region("right half-plane", 0.9, "+", plane=True),
    Region("plane", 2.0, "+-", plane=True),
    Region("left half-plane", 1.6, "-", plane=True),
)
FAR = (Region("far and positive", 40.0, "+"), Region("far and negative", 40.0, "-"))
FAR_APART = Region("very far, of either sign", 1e4)
BEYOND = (
    Region("near zero and positive", 1e-4, "+"),
    Region("near zero and negative", 1e-4, "-"),
    Region("very far and positive", 1e4, "+"),
    Region("very far and negative", 1e4, "-"),
)
_ALIKE_IN = ("ones", "rows apart", "ones in a row", "ones in a column")
EVEN = tuple(Region(f"of many {said}", 1.0, "+") for said in _ALIKE_IN)


_INDICES = {1: "index", 2: "two indices"}


_MORE = 40  # rows and columns than elsewhere
BOUND = ("function", "distribution", "operation")  # what the grammar must know beforehand


@dataclass(frozen=True)
class Kind:
    """The kind of a symbol, how it is drawn, and how it is said.

    `shape` is of numbers or of symbols that stand for them, which are drawn once for a statement.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> matrix("m", "n").draw(rng, sizes := {}).shape == (sizes["m"], sizes["n"])
    True
    >>> spd(3).draw(rng, {}).shape, str(spd("n"))
    ((3, 3), 'positive definite n × n')
    """

    name: str
    shape: tuple[Size, ...] = ()
    latex: str = ""  # of a function: what it is, in its `argument`
    axes: int = 0  # of numbers with indices: how many each has
    argument: str = ""
    value: Any = field(default=None, compare=False)  # of a constant

    def __str__(self) -> str:
        """The name, and the shape where there is one."""
        if self.name == "function":
            return f"the function of {self.argument} that is {self.latex}"
        one = " ".join(filter(None, (self.name, " × ".join(map(str, self.shape)))))
        if self.axes:
            return f"{one} for each {_INDICES.get(self.axes, f'{self.axes} indices')}"
        return one

    @property
    def counts(self) -> bool:
        """Return whether it is one whole number."""
        return self.name in ("whole", "natural") and not self.axes

    def draw(self, rng: Rng, sizes: Sizes, region: Region = REAL[1]) -> Any:
        """Numbers of this kind; sizes that are symbols are drawn into `sizes`, or taken from it."""
        more = _MORE if region in EVEN else 0
        draw = partial(_DRAWS[self.name], self, rng, _shape(self.shape, rng, sizes, more), region)
        return Entries(self.axes, draw) if self.axes and self.name != "distribution" else draw()


def _shape(shape: tuple[Size, ...], rng: Rng, sizes: Sizes, more: int) -> tuple[int, ...]:
    for size in shape:
        if isinstance(size, str) and size not in sizes:
            free = sorted({n + more for n in (3, 4, 5, 6)} - set(sizes.values())) or [7 + more]
            sizes[size] = int(rng.choice(free))
    return tuple(sizes[size] if isinstance(size, str) else size for size in shape)


def _function(kind: Kind, rng: Rng, shape: tuple[int, ...], region: Region) -> Callable[..., Any]:
    """The function that the LaTeX says."""
    names = {kind.argument: "value"}
    try:
        node = parse_expression(kind.latex, names)
    except EquationError as wrong:
        raise ValueError(f"a function must be LaTeX in {kind.argument}: {wrong}") from wrong

    def of(argument: Any) -> Any:
        return Evaluator({kind.argument: argument}, kind.latex).value(node)

    return of


def _matrix(kind: Kind, rng: Rng, shape: tuple[int, ...], region: Region) -> np.ndarray:
    """Entries of a size of one, but far out, or near zero, where an order of arrays may fail.

    So it may where many are alike: ``\\|x\\|_1 \\le 3 \\|x\\|_2`` holds of nine.
    """
    if region in EVEN and kind.name in ("vector", "matrix"):
        apart = np.eye(shape[0], shape[-1]) if len(shape) > 1 else np.ones(shape)
        ones = np.ones(shape)
        return (ones, apart, apart[..., :1] * ones, apart[:1] * ones)[EVEN.index(region)]
    size = region.span if region in BEYOND else 1.0
    entries = rng.normal(size=shape)
    if kind.name == "positive definite":
        entries = entries @ entries.T + 0.5 * np.eye(len(entries))
    sign = {"symmetric": 1.0, "antisymmetric": -1.0}.get(kind.name, 0.0)
    return size * (entries + sign * entries.T if sign else entries)


def _idempotent(kind: Kind, rng: Rng, shape: tuple[int, ...], region: Region) -> np.ndarray:
    onto, along = rng.normal(size=(2, shape[0], 2))
    return onto @ np.linalg.solve(along.T @ onto, along.T)


def _of_low_rank(kind: Kind, rng: Rng, shape: tuple[int, ...], region: Region) -> np.ndarray:
    """Draw a matrix with one or two ones; the product of two such matrices may be zero."""
    found = np.zeros(shape)
    for row, column in rng.integers(0, 2, size=(2, 2)):
        found[row, column] = 1.0
    return found


def _commuting(kind: Kind, rng: Rng, shape: tuple[int, ...], region: Region) -> np.ndarray:
    basis = np.random.default_rng(shape[0]).normal(size=shape)
    return np.linalg.solve(basis.T, (basis * rng.normal(size=shape[:1])).T).T


_POINTS = 4  # of a distribution that is drawn


def _joint(kind: Kind, rng: Rng, shape: tuple[int, ...], region: Region) -> Nodes:
    """A few points with uneven weights, all columns together or each by itself."""
    count, how = kind.axes, kind.latex
    if kind.value is not None:
        return cast(Nodes, kind.value)
    if how not in (_APART, _ALIKE):
        points = _column(rng.normal(0.4, 1.0, (_POINTS + count, count)))
        return Nodes(points, _weights(rng, len(points)))
    each = 3 if count < _MANY else 2  # values, so that all of them together stay few
    rows = [(rng.normal(0.4, 1.0, each), _weights(rng, each)) for _ in range(count)]
    rows = rows[:1] * count if how == _ALIKE else rows
    points = np.stack(np.meshgrid(*(row for row, _ in rows), indexing="ij"), axis=-1)
    weights = reduce(np.multiply.outer, (weight for _, weight in rows))
    return Nodes(_column(points.reshape(-1, count)), weights.ravel())


def _column(points: np.ndarray) -> np.ndarray:
    return points[:, 0] if points.shape[1] == 1 else points


def _weights(rng: Rng, count: int) -> np.ndarray:
    return rng.dirichlet(np.full(count, 3.0))


Draw = Callable[[Kind, Rng, tuple[int, ...], Region], Any]
_DRAWS: Mapping[str, Draw] = {
    "real": lambda kind, rng, shape, region: region.real(rng),
    "positive": lambda kind, rng, shape, region: abs(region.real(rng)),
    "whole": lambda kind, rng, shape, region: int(rng.integers(2, 6)),
    "natural": lambda kind, rng, shape, region: int(rng.integers(2, 6)),
    "complex": lambda kind, rng, shape, region: region.number(rng),
    "modulus": lambda kind, rng, shape, region: rng.uniform(0.15, 0.9),
    "large": lambda kind, rng, shape, region: rng.uniform(18.0, 26.0),
    "large complex": lambda kind, rng, shape, region: (
        rng.uniform(18.0, 26.0) * np.exp(0.6j * rng.uniform(-1.0, 1.0))
    ),
    "constant": lambda kind, rng, shape, region: kind.value,
    "told": lambda kind, rng, shape, region: kind.value,
    "in turn": lambda kind, rng, shape, region: kind.value[_turn(region) % len(kind.value)],
    "operation": lambda kind, rng, shape, region: kind.value,
    "vector": _matrix,
    "matrix": _matrix,
    "symmetric": _matrix,
    "antisymmetric": _matrix,
    "idempotent": _idempotent,
    "of low rank": _of_low_rank,
    "commuting": _commuting,
    "positive definite": _matrix,
    "orthogonal": lambda kind, rng, shape, region: (  # of either determinant
        np.linalg.qr(rng.normal(size=shape))[0] * rng.choice([-1.0, 1.0], shape[1])
    ),
    "identity": lambda kind, rng, shape, region: np.eye(shape[0]),
    "column of ones": lambda kind, rng, shape, region: np.ones(shape),
    "column of zeros": lambda kind, rng, shape, region: np.zeros(shape),
    "probability vector": lambda kind, rng, shape, region: rng.dirichlet(np.full(shape[0], 2.0)),
    "function": _function,
    "distribution": _joint,
}


def _turn(region: Region) -> int:
    return next((i for i, one in enumerate(REAL) if one.name == region.name), 0)


real = Kind("real")
positive = Kind("positive")
whole = Kind("whole")
natural = Kind("natural")
complex_ = Kind("complex")
modulus = Kind("modulus")  # between 0 and 1: of an elliptic function; a nome
large = Kind("large")
large_complex = Kind("large complex")


def for_each(axes: int, of: Kind = real) -> Kind:
    """Numbers of a kind, one for each index or for each so many of them: ``x_i``, ``w_{ij}``.

    >>> str(for_each(1)), str(for_each(2, whole))
    ('real for each index', 'whole for each two indices')
    """
    return replace(of, axes=axes)


_APART, _ALIKE, _MANY = "independent", "independent and alike", 4


def joint(count: int, *, apart: bool = False, alike: bool = False) -> Kind:
    """A distribution of so many variables together, or of independent ones, `apart`.

    Those that are `alike` have the same distribution each.
    """
    return Kind("distribution", latex=_ALIKE if alike else _APART * apart, axes=count)


def distributed(nodes: Nodes) -> Kind:
    """A distribution that was made elsewhere."""
    return Kind("distribution", value=nodes)


def constant(value: Any) -> Kind:
    """Return the kind of a constant, such as Euler's."""
    return Kind("constant", value=value)


def told(value: float) -> Kind:
    """Return the kind of a number computed from other draws, such as an entropy."""
    return Kind("told", value=value)


def in_turn(values: tuple[float, ...]) -> Kind:
    """One of some values, another one in each region of numbers."""
    return Kind("in turn", value=values)


def operation(value: Callable[..., Any]) -> Kind:
    """A function that has a name and is not drawn: the cross product."""
    return Kind("operation", value=value)


def matrix(m: Size, n: Size) -> Kind:
    """A matrix with `m` rows and `n` columns."""
    return Kind("matrix", (m, n))


def _of(name: str, axes: int) -> Callable[[Size], Kind]:
    """Return the maker of columns, or of square matrices, of a kind and a size."""
    return lambda n: Kind(name, (n,) * axes)


vector, ones, zeros = (_of(name, 1) for name in ("vector", "column of ones", "column of zeros"))
probabilities = _of("probability vector", 1)  # positive numbers that sum to one
symmetric, spd = _of("symmetric", 2), _of("positive definite", 2)
antisymmetric, idempotent = _of("antisymmetric", 2), _of("idempotent", 2)
identity, orthogonal = _of("identity", 2), _of("orthogonal", 2)
commuting = _of("commuting", 2)  # with all of its size


def function(latex: str, argument: str = "x") -> Kind:
    """The function of `argument` that `latex` says.

    >>> float(function("x^2 + 1").draw(np.random.default_rng(0), {})(3.0))
    10.0
    """
    return Kind("function", latex=latex, argument=argument)
