"""Gradients against differences of the function, entry by entry."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from ..ground.params import leaves, replaced
from ..ground.xp import Array, HostArray, HostMatrix, Vector, array_namespace, as_array, to_numpy

__all__ = ["gradcheck", "jacobian"]

_SMALLEST = 1e-280  # a step of a thousandth of less may be no number


def gradcheck(
    f: Callable[..., object],
    pullback: Callable[..., Sequence[object]],
    *args: object,
    rtol: float = 1e-6,
    names: Sequence[str] | None = None,
    what: str = "the pullback",
) -> None:
    """Compare a pullback with differences of the function, entry by entry.

    The differences are central. Where an entry does not agree with its own, that is extrapolated
    once (Richardson), so that its error is of fourth order in the step. Meant for float64.

    Parameters
    ----------
    f : callable
        ``f(*args)`` returns an array or a float.
    pullback : callable
        ``pullback(*args, bar)`` returns one derivative for each argument, of its type: an array, a
        float, a dataclass of parameters, or None for None.
    *args : object
        The arguments, each of a type that `pullback` may return.
    rtol : float, default 1e-6
        The gap that is allowed, relative to each difference, and a thousandth of it to the
        largest. The rounding of f in a difference is allowed on top.
    names : sequence of str, optional
        The names of the arguments in errors.
    what : str, default ``"the pullback"``
        The name of the derivative in errors.

    Examples
    --------
    >>> gradcheck(lambda x: x * x, lambda x, bar: (2.0 * x * bar,), np.asarray([1.0, 2.0]))
    """
    bar = _random_like(f(*args))
    pulled = pullback(*args, bar)
    if len(pulled) != len(args):
        raise AssertionError(
            f"the pullback returned {len(pulled)} results for {len(args)} arguments"
        )
    called = [f"argument {i}" for i in range(len(args))] if names is None else names
    for i, (arg, arg_bar) in enumerate(zip(args, pulled, strict=True)):
        if arg is not None:
            _compare(called[i], arg, arg_bar, _along(f, args, i, bar), rtol, what)


def _along(
    f: Callable[..., object], args: tuple[object, ...], i: int, bar: object
) -> Callable[[object], float]:
    """The inner product of `bar` and ``f`` as a function of the argument with number `i`."""

    def value(arg: object) -> float:
        return _inner(bar, f(*args[:i], arg, *args[i + 1 :]))

    return value


def _compare(
    name: str,
    arg: object,
    arg_bar: object,
    along: Callable[[object], float],
    rtol: float,
    what: str,
) -> None:
    entries, derivatives = list(_entries(arg)), [value for _, value, _ in _entries(arg_bar)]
    if len(entries) != len(derivatives):
        raise AssertionError(f"{name} has {len(entries)} entries, its bar {len(derivatives)}")
    near = [_central(along, value, change, 0.5 * _step(value)) for _, value, change in entries]
    size = max((abs(difference) for difference, _ in near), default=0.0)

    def agree(got: float, wanted: float, rounding: float) -> bool:
        return abs(got - wanted) <= rtol * (1e-3 * size + abs(wanted)) + rounding + 1e-12

    rows = zip(entries, derivatives, near, strict=True)
    for (where, value, change), got, (wanted, rounding) in rows:
        if agree(got, wanted, rounding):
            continue
        wanted = _extrapolated(along, value, change, wanted)
        if not agree(got, wanted, rounding):
            said = f"{what} says {got:.8g}, differences {wanted:.8g}"
            raise AssertionError(f"{name}{where}: {said}")


def _step(value: float) -> float:
    size = abs(value)
    return 1e-3 * (size if _SMALLEST < size < 1.0 else max(size, 1.0))


def _central(
    along: Callable[[Any], float], value: float, change: Callable[[float], object], h: float
) -> tuple[float, float]:
    """Return the central difference, and the error that rounding of the function may add."""
    above, below = along(change(value + h)), along(change(value - h))
    size = (abs(above) + abs(below)) / (2.0 * h)
    return (above - below) / (2.0 * h), float(np.finfo(np.float64).eps) * size


def _extrapolated(
    along: Callable[[Any], float], value: float, change: Callable[[float], object], near: float
) -> float:
    """Return the extrapolated difference, from that of half the step."""
    return (4.0 * near - _central(along, value, change, _step(value))[0]) / 3.0


def _difference(
    along: Callable[[Any], float], value: float, change: Callable[[float], object]
) -> float:
    near, _ = _central(along, value, change, 0.5 * _step(value))
    return _extrapolated(along, value, change, near)


def _entries(arg: Any) -> Iterator[tuple[str, float, Callable[[float], object]]]:
    """Name, value, and a function that changes the value, for every number in `arg`."""
    if isinstance(arg, float):
        yield "", arg, lambda new: new
    elif is_dataclass(arg):
        for leaf in leaves(arg):
            for where, value, change in _entries(leaf.value):
                yield f".{leaf.path}{where}", value, _at_path(arg, leaf.path, change)
    else:
        host = np.asarray(to_numpy(arg), dtype=np.float64)
        for index in np.ndindex(host.shape):
            yield str(list(index)), float(host[index]), _at_index(arg, host, index)


def _at_path(
    obj: object, path: str, change: Callable[[float], object]
) -> Callable[[float], object]:
    return lambda new: replaced(obj, {path: change(new)}, make=_remade)


def _remade(obj: Any, **values: object) -> object:
    """`dataclasses.replace` past the ends of ranges too, where a step of a difference may lead."""
    new = object.__new__(type(obj))
    for item in fields(obj):
        object.__setattr__(new, item.name, values.get(item.name, getattr(obj, item.name)))
    return new


def _at_index(arg: Array, host: HostArray, index: tuple[int, ...]) -> Callable[[float], Array]:
    def change(new: float) -> Array:
        moved = host.copy()
        moved[index] = new
        return as_array(moved, arg)

    return change


def _random_like(value: Any) -> object:
    if isinstance(value, float):
        return 1.0
    return as_array(np.random.default_rng(0).standard_normal(value.shape), value)


def _inner(bar: Any, value: Any) -> float:
    return (
        bar * value if isinstance(value, float) else float(array_namespace(value).sum(bar * value))
    )


def jacobian(f: Callable[[Vector], Vector], x: Vector) -> HostMatrix:
    """The derivatives (m, d) of a function of vectors (d,), by the differences of `gradcheck`.

    Examples
    --------
    >>> jacobian(lambda x: x * x, np.asarray([1.0, 2.0])).round(6)
    array([[2., 0.],
           [0., 4.]])
    """
    rows = [
        [_difference(_entry(f, i), value, change) for _, value, change in _entries(x)]
        for i in range(f(x).shape[0])
    ]
    return np.asarray(rows)


def _entry(f: Callable[[Vector], Vector], i: int) -> Callable[[Vector], float]:
    return lambda x: float(f(x)[i])
