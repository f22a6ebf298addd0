"""The arithmetic of the language: each operation on scalars, columns and matrices.

Shapes are strict: nothing is broadcast but a scalar factor, since a formula that needs
broadcasting to hold does not hold as printed.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Literal

import numpy as np

from ..errors import OperationError, ShapeError
from .values import Array, scalar, shaped


def _refuse(operation: str, *operands: Array, hint: str = "") -> ShapeError:
    shapes = " and ".join(str(np.shape(a)) for a in operands)
    return ShapeError(f"{operation} of shapes {shapes} is not defined{hint}")


def _alike(operation: str, do: Callable[[Array, Array], Array]) -> Callable[[Array, Array], Array]:
    """An operation on two arrays of one shape."""

    def of(a: Array, b: Array) -> Array:
        if a.shape != b.shape:
            raise _refuse(operation, a, b)
        return do(a, b)

    return of


# ``a + b``, ``a \odot b`` and ``\langle a, b \rangle``, the sum of the products of the entries
add = _alike("the sum", operator.add)
elementwise = _alike("the elementwise product", operator.mul)
inner = _alike("the inner product", lambda a, b: scalar(np.sum(a * b)))


def multiply(a: Array, b: Array) -> Array:
    """``a b``: of matrices their product, of a scalar and anything the scaled thing."""
    if a.ndim == 0 or b.ndim == 0:
        return a * b
    if a.ndim != 2 or b.ndim != 2 or a.shape[1] != b.shape[0]:
        raise _refuse("the product", a, b)
    return shaped(a @ b)


def kronecker(a: Array, b: Array) -> Array:
    """``a \\otimes b`` of matrices, columns and scalars."""
    if a.ndim > 2 or b.ndim > 2:
        raise _refuse("the Kronecker product", a, b)
    return shaped(np.kron(a, b))


def divide(a: Array, b: Array) -> Array:
    """``a / b`` by a scalar that is not zero."""
    if b.ndim:
        raise _refuse("the quotient", a, b, hint="; the denominator must be a scalar")
    if b == 0:
        raise OperationError("division by zero")
    return a / b


_SINGULAR = 1e15  # the condition from which no digit of an inverse is one of the matrix


def inverse(a: Array) -> Array:
    """``a^{-1}`` of a scalar or a square matrix that is not singular."""
    if a.ndim == 0:
        return divide(scalar(1.0), a)
    _square(a, "the inverse")
    try:
        inverted = np.linalg.solve(a, np.eye(len(a)))
    except np.linalg.LinAlgError:
        raise OperationError("the inverse of a singular matrix is not defined") from None
    if np.linalg.norm(a) * np.linalg.norm(inverted) > _SINGULAR:  # what is left is rounding
        raise OperationError("the inverse of a singular matrix is not defined, up to rounding")
    return inverted


def transpose(a: Array) -> Array:
    """``a^\\top``; a column becomes a row."""
    if a.ndim > 2:
        raise _refuse("the transpose", a)
    return a.T


def power(a: Array, b: Array) -> Array:
    """``a^b`` of a scalar, or of a square matrix: by a fraction where it is symmetric."""
    if b.ndim:
        raise _refuse("the power", a, b, hint="; the exponent must be a scalar")
    if a.ndim == 0:
        if a == 0 and b.real < 0:
            raise OperationError("division by zero")
        return scalar(a) ** b
    _square(a, "the power")
    if b == int(b):
        return np.linalg.matrix_power(a if b >= 0 else inverse(a), abs(int(b)))
    if not np.allclose(a, a.T, rtol=1e-10, atol=0.0):
        raise OperationError("a broken power is defined for symmetric matrices only")
    values, vectors = np.linalg.eigh(a)
    return (vectors * values ** float(b)) @ vectors.T


def root(a: Array, degree: Array) -> Array:
    """``\\sqrt[degree]{a}`` of a scalar."""
    if a.ndim or degree.ndim:
        raise _refuse("the root", a)
    return scalar(a) ** (1.0 / degree)


def bars(a: Array) -> Array:
    """Modulus of a scalar, length of a vector, determinant of a square matrix."""
    if a.ndim == 0:
        return np.abs(a)
    return scalar(np.linalg.norm(a)) if 1 in a.shape else det(a)


def det(a: Array) -> Array:
    """The determinant of a square matrix."""
    return a if a.ndim == 0 else np.linalg.det(_square(a, "the determinant"))


_ORDERS: dict[str, float | Literal["fro"]] = {
    "": 2, "2": 2, "1": 1, "\\infty": np.inf, "F": "fro", "\\mathrm F": "fro",
}  # fmt: skip


def norm(a: Array, order: str) -> Array:
    """``\\lVert a \\rVert_p`` of a vector, 2 where none is written; of a matrix one must be.

    With 2 it is the largest singular value of a matrix, with F the root of the sum of the squares.
    """
    if order not in _ORDERS:
        raise OperationError(f"the norm with subscript {order} is not known")
    if not order and a.ndim > 1 and 1 not in a.shape:
        said = "ambiguous: which norm of a matrix? write \\|A\\|_2 for the spectral norm"
        raise OperationError(f"{said}, \\|A\\|_F for the Frobenius norm")
    kind = _ORDERS[order]
    if a.ndim == 2 and 1 in a.shape:
        return scalar(np.linalg.norm(a.ravel(), None if kind == "fro" else kind))
    return np.abs(a) if a.ndim == 0 else scalar(np.linalg.norm(a, kind))


def _square(a: Array, operation: str) -> Array:
    if a.ndim != 2 or a.shape[0] != a.shape[1]:
        raise _refuse(operation, a)
    return a


def _diag(a: Array) -> Array:
    if a.ndim == 2 and a.shape[1] == 1:
        return np.diag(a[:, 0])
    return a if a.ndim == 0 else np.diag(_square(a, "diag"))[:, None]


def _extreme(choose: Callable[[Array], Array]) -> Callable[..., Array]:
    def of(*values: Array) -> Array:
        if len(values) > 1 and any(v.ndim for v in values):
            raise _refuse("the extreme", *values)
        return choose(values[0] if len(values) == 1 else np.array(values))

    return of


def _count(a: Array, operation: str) -> int:
    if a.ndim or np.iscomplexobj(a) or a != int(a) or a < 0:
        raise OperationError(f"{operation} needs a whole number, not {a}")
    return int(a)


_MOST_CHOSEN = 1024
_LONGEST = 400  # factors of a product of whole numbers, of which no double holds half as many


def _product(factors: range) -> Array:
    """The product of whole numbers, where a double can hold it."""
    if len(factors) > _LONGEST:
        raise OperationError("the factorial is larger than any number here")
    return _large(math.prod(factors))


def _binomial(n: int, k: int) -> Array:
    """The number of ways to choose, at least ``2^k``: no double holds it where that is large."""
    if min(k, n - k) > _MOST_CHOSEN:
        raise OperationError("the binomial is larger than any number here")
    return _large(math.comb(n, k))


def _large(whole: int) -> Array:
    try:
        return scalar(float(whole))
    except OverflowError:
        raise OperationError("a whole number is larger than any number here") from None


def _log(a: Array) -> Array:
    if a <= 0 if isinstance(a, np.float64) else (a == 0 if np.iscomplexobj(a) else a <= 0).any():
        raise OperationError(f"the logarithm of {np.min(a):.6g} is not defined")
    return np.log(a)


def _unary(function: Callable[[Array], Array], entries_of: str = "") -> Callable[..., Array]:
    """A function of one argument; of a square matrix there is another than that of the entries."""

    def of(*values: Array) -> Array:
        if len(values) != 1:
            raise OperationError(f"one argument expected, {len(values)} given")
        (a,) = values
        if entries_of and a.ndim == 2 and a.shape[0] == a.shape[1]:
            said = f"{entries_of} of a square matrix: of its entries, or of the matrix?"
            raise OperationError(f"ambiguous: {said} print entries, or bind a function")
        return function(a)

    return of


_ELEMENTWISE = (
    "exp", "cos", "sin", "tan", "tanh", "sinh", "cosh", "arccos", "arcsin", "arctan", "sign",
    "arcsinh", "arccosh", "arctanh",
)  # fmt: skip
# The principal values are those of [DLMF 4.23, 4.37]: `arccot z` is `arctan(1/z)`.
_RECIPROCALS = {
    "sec": "cos", "csc": "sin", "cot": "tan", "sech": "cosh", "csch": "sinh", "coth": "tanh",
}  # fmt: skip


def _reciprocal(name: str) -> Callable[[Array], Array]:
    """One over another function; of an inverse, that of the other at one over the argument."""
    arc = name.startswith("arc")
    of = getattr(np, "arc" + _RECIPROCALS[name[3:]] if arc else _RECIPROCALS[name])

    def value(a: Array) -> Array:
        below = a if arc else of(a)
        if (below == 0).any():
            raise OperationError(f"{name} has a pole here")
        return np.asarray(of(1.0 / a) if arc else 1.0 / below)[()]

    return value


def _rounded(of: Callable[[Array], Array]) -> Callable[[Array], Array]:
    """Return the whole number below, or above; a value that rounding moved off one is that one."""

    def value(a: Array) -> Array:
        if np.iscomplexobj(a):
            raise OperationError("a complex number has no whole number below it, and none above")
        near = np.rint(a)
        at_it = np.abs(a - near) <= 1e-12 * np.maximum(1.0, np.abs(a))
        return np.asarray(np.where(at_it, near, of(a)))[()]

    return value


FUNCTIONS: dict[str, Callable[..., Array]] = {
    **{name: _unary(getattr(np, name), name) for name in _ELEMENTWISE}, "log": _unary(_log, "log"),
    **{
        name: _unary(_reciprocal(name), name)
        for word in _RECIPROCALS for name in (word, f"arc{word}")
    },
    "floor": _unary(_rounded(np.floor), "floor"), "ceil": _unary(_rounded(np.ceil), "ceil"),
    "identity": _unary(lambda n: shaped(np.eye(_count(n, "the size of an identity")))),
    "Re": _unary(np.real), "Im": _unary(np.imag), "arg": _unary(np.angle),
    "det": _unary(det), "diag": _unary(_diag),
    "tr": _unary(lambda a: a if a.ndim == 0 else np.trace(_square(a, "the trace"))),
    "rank": _unary(lambda a: scalar(np.linalg.matrix_rank(a))),
    "min": _extreme(np.min), "max": _extreme(np.max),
    "factorial": _unary(lambda n: _product(range(1, _count(n, "the factorial") + 1))),
    "double_factorial": _unary(lambda n: _product(range(_count(n, "n!!"), 0, -2))),
    "binom": lambda *both: _binomial(*(_count(n, "the binomial") for n in both)),
}  # fmt: skip
RELATIONS: dict[str, Callable[[Array, Array], bool]] = {
    "=": lambda a, b: bool(np.all(a == b)), "\\ne": lambda a, b: bool(np.any(a != b)),
    "<": lambda a, b: bool(np.all(a < b)), ">": lambda a, b: bool(np.all(a > b)),
    "\\le": lambda a, b: bool(np.all(a <= b)), "\\ge": lambda a, b: bool(np.all(a >= b)),
}  # fmt: skip
