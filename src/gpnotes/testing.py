"""Checks that a kernel, a gradient or a posterior of your own can be put through.

They raise `AssertionError` with the numbers; the tests of this package use them too.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable
from dataclasses import dataclass, is_dataclass
from typing import Any

import numpy as np

from . import _check
from ._xp import Array, array_namespace, as_array, device, diagonal, epsilon, to_numpy
from .params import leaves, replaced, unchecked

__all__ = ["Space", "check_kernel", "check_posterior", "gradcheck", "namespaces"]


@dataclass(frozen=True)
class Space:
    """A place where arrays live: a namespace, a dtype and a device.

    `reason` says why the place cannot be used here; it is None where it can.
    """

    name: str
    xp: Any
    dtype: Any
    device: Any
    reason: str | None = None

    def asarray(self, data: Any) -> Array:
        """Nested sequences or a NumPy array, as an array of this space."""
        host = np.asarray(data, dtype=np.float64 if self.double else np.float32)
        return self.xp.asarray(host, dtype=self.dtype, device=self.device)

    @property
    def double(self) -> bool:
        """Whether numbers here are float64."""
        return self.dtype == self.xp.float64

    def holds(self, a: Any) -> bool:
        """Whether `a` is an array of this namespace, dtype and device."""
        same = array_namespace(a) == self.xp and a.dtype == self.dtype
        return same and device(a) == self.device


def namespaces() -> list[Space]:
    """Every space that the package is tested in, those that are missing here with a reason.

    >>> [space.name for space in namespaces()][:2]
    ['numpy-float64', 'numpy-float32']
    """
    xp = array_namespace(np.zeros(1))
    numpy = [Space(f"numpy-{t}", xp, getattr(xp, t), "cpu") for t in ("float64", "float32")]
    return numpy + _strict() + _cupy()


def _strict() -> list[Space]:
    places = (("float64", "CPU_DEVICE"), ("float64", "device1"), ("float32", "no_float64"))
    try:
        xp = importlib.import_module("array_api_strict")
    except ImportError:
        reason = "array-api-strict is not installed"
        return [Space(f"strict-{place}", None, None, None, reason) for _, place in places]
    return [
        Space(f"strict-{place}", xp, getattr(xp, dtype), xp.Device(place))
        for dtype, place in places
    ]


def _cupy() -> list[Space]:
    try:
        cupy = importlib.import_module("cupy")
        here = cupy.cuda.Device(0)
        xp = array_namespace(cupy.zeros(1))
    except Exception as problem:  # a missing module, driver or device: each is a reason
        return [Space("cupy-float64", None, None, None, f"no CuPy with a device: {problem}")]
    return [Space(f"cupy-{t}", xp, getattr(xp, t), here) for t in ("float64", "float32")]


def gradcheck(f: Callable, pullback: Callable, *args: Any, rtol: float = 1e-6) -> None:
    """Compare a pullback with differences of the function, entry by entry.

    ``f(*args)`` returns an array or a float; ``pullback(*args, bar)`` returns one derivative for
    each argument, of its type: an array, a float, a dataclass of parameters, or None for None. The
    differences are central and extrapolated once (Richardson), so that their error is of fourth
    order in the step. Meant for float64. Raises `AssertionError` that names argument and entry.

    >>> gradcheck(lambda x: x * x, lambda x, bar: (2.0 * x * bar,), np.asarray([1.0, 2.0]))
    """
    bar = _random_like(f(*args))
    pulled = pullback(*args, bar)
    if len(pulled) != len(args):
        raise AssertionError(
            f"the pullback returned {len(pulled)} results for {len(args)} arguments"
        )
    for i, (arg, arg_bar) in enumerate(zip(args, pulled, strict=True)):
        if arg is not None:
            along = _along(f, args, i, bar)
            _compare(f"argument {i}", arg, arg_bar, along, rtol)


def _along(f: Callable, args: tuple, i: int, bar: Any) -> Callable[[Any], float]:
    """The inner product of `bar` and ``f`` as a function of the argument with number `i`."""

    def value(arg: Any) -> float:
        return _inner(bar, f(*args[:i], arg, *args[i + 1 :]))

    return value


def _compare(name: str, arg: Any, arg_bar: Any, along: Callable, rtol: float) -> None:
    entries, derivatives = list(_entries(arg)), [value for _, value, _ in _entries(arg_bar)]
    if len(entries) != len(derivatives):
        raise AssertionError(f"{name} has {len(entries)} entries, its bar {len(derivatives)}")
    differences = [_difference(along, value, change) for _, value, change in entries]
    size = max(map(abs, differences), default=0.0)
    for (where, _, _), got, wanted in zip(entries, derivatives, differences, strict=True):
        if not abs(got - wanted) <= rtol * (1e-3 * size + abs(wanted)) + 1e-12:
            raise AssertionError(f"{name}{where}: the pullback says {got}, differences {wanted}")


def _difference(along: Callable, value: float, change: Callable) -> float:
    step = 1e-3 * (abs(value) if 0.0 < abs(value) < 1.0 else max(abs(value), 1.0))

    def central(h: float) -> float:
        return (along(change(value + h)) - along(change(value - h))) / (2.0 * h)

    return (4.0 * central(0.5 * step) - central(step)) / 3.0


def _entries(arg: Any) -> Any:
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


def _at_path(obj: Any, path: str, change: Callable) -> Callable:
    return lambda new: replaced(obj, {path: change(new)}, make=unchecked)


def _at_index(arg: Array, host: np.ndarray, index: tuple[int, ...]) -> Callable:
    def change(new: float) -> Array:
        moved = host.copy()
        moved[index] = new
        return as_array(moved, arg)

    return change


def _random_like(value: Any) -> Any:
    if isinstance(value, float):
        return 1.0
    return as_array(np.random.default_rng(0).standard_normal(value.shape), value)


def _inner(bar: Any, value: Any) -> float:
    return (
        bar * value if isinstance(value, float) else float(array_namespace(value).sum(bar * value))
    )


def check_kernel(kernel: Any, X: Array) -> None:
    """Put a kernel through what every kernel must do, on inputs X (n, d).

    Its matrix is symmetric, positive semidefinite within rounding, of the kind of X; `diag` is its
    diagonal; ``k(x, z)`` is the transpose of ``k(z, x)``; in float64 its pullbacks agree with
    differences. Raises `AssertionError`.

    >>> from gpnotes import RBF
    >>> check_kernel(RBF(), np.asarray([[0.0], [0.5], [2.0]]))
    """
    _check.matrix(X, "X")
    if isinstance(kernel, type) or not callable(kernel):
        raise TypeError(f"kernel must be one, such as RBF(); got {kernel!r}")
    K, d, Z = kernel(X), kernel.diag(X), X[: max(1, X.shape[0] // 2), :] + 0.25
    _same_kind({"k(x)": K, "k.diag(x)": d, "k(x, z)": kernel(X, Z)}, X)
    host, top = to_numpy(K), _epsilon_of(K)
    _assert(np.array_equal(host, host.T), "k(x) is not symmetric")
    _close("k.diag(x) and the diagonal of k(x)", d, diagonal(K), top)
    _close(
        "k(x, z) and k(z, x)ᵀ", kernel(X, Z), array_namespace(X).matrix_transpose(kernel(Z, X)), top
    )
    lowest = float(np.linalg.eigvalsh(host.astype(np.float64))[0])
    _assert(lowest >= -top * X.shape[0], f"k(x) has the eigenvalue {lowest}")
    _check_pullbacks(kernel, X, Z)


def _check_pullbacks(kernel: Any, X: Array, Z: Array) -> None:
    bars = kernel.pullback(X, Z, kernel(X, Z))
    _same_kind(
        {
            "x_bar": bars[1],
            "z_bar": bars[2],
            "diag's x_bar": kernel.diag_pullback(X, kernel.diag(X))[1],
        },
        X,
    )
    _assert(type(bars[0]) is type(kernel), "kernel_bar has another class than the kernel")
    if epsilon(X) < 1e-12:
        gradcheck(lambda k, x, z: k(x, z), lambda k, x, z, bar: k.pullback(x, z, bar), kernel, X, Z)
        gradcheck(lambda k, x: k(x), lambda k, x, bar: k.pullback(x, None, bar)[:2], kernel, X)
        gradcheck(lambda k, x: k.diag(x), lambda k, x, bar: k.diag_pullback(x, bar), kernel, X)


def check_posterior(posterior: Any, Xs: Array) -> None:
    """Check that the views of a posterior agree with each other at the points Xs (m, d).

    `predict` is `mean` and `variance`; `variance` is the diagonal of `covariance` and not negative;
    with noise both grow by the same; chunks change nothing. Raises `AssertionError`.
    """
    _check.matrix(Xs, "Xs")
    if isinstance(posterior, type) or not hasattr(posterior, "predict"):
        raise TypeError(f"posterior must be one, made by condition; got {posterior!r}")
    mean, variance = posterior.predict(Xs)
    covariance = posterior.covariance(Xs)
    _same_kind({"mean": mean, "variance": variance, "covariance": covariance}, Xs)
    top = _epsilon_of(covariance) + math.sqrt(epsilon(Xs)) * 1e-2
    _close("predict and mean", mean, posterior.mean(Xs), top)
    _close("predict and variance", variance, posterior.variance(Xs), top)
    _close("variance and the diagonal of covariance", variance, diagonal(covariance), top)
    _assert(float(np.min(to_numpy(variance))) >= 0.0, "a variance is negative")
    _check_noise_and_chunks(posterior, Xs, top)


def _check_noise_and_chunks(posterior: Any, Xs: Array, top: float) -> None:
    mean, variance = posterior.predict(Xs)
    noisy = posterior.predict(Xs, noise=True)[1]
    with_noise = diagonal(posterior.covariance(Xs, noise=True))
    _close("noisy variance and the diagonal of the noisy covariance", noisy, with_noise, top)
    _assert(bool(array_namespace(Xs).all(noisy >= variance)), "noise lowers a variance")
    chunked = posterior.predict(Xs, chunk=max(1, Xs.shape[0] // 3))
    _close("the mean in chunks", chunked[0], mean, top)
    _close("the variance in chunks", chunked[1], variance, top)


def _epsilon_of(K: Array) -> float:
    """A bound for rounding in entries of the size of K's largest."""
    return 1e3 * epsilon(K) * (1e-300 + float(np.max(np.abs(to_numpy(K)))))


def _same_kind(arrays: dict[str, Array], like: Array) -> None:
    for name, a in arrays.items():
        got = (array_namespace(a), a.dtype, device(a))
        wanted = (array_namespace(like), like.dtype, device(like))
        _assert(got == wanted, f"{name} is {got}, the inputs are {wanted}")


def _close(what: str, a: Array, b: Array, atol: float) -> None:
    gap = float(np.max(np.abs(to_numpy(a) - to_numpy(b)), initial=0.0))
    _assert(gap <= atol, f"{what} differ by {gap}, more than {atol}")


def _assert(holds: bool, problem: str) -> None:
    if not holds:
        raise AssertionError(problem)
