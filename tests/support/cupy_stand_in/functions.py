"""The functions of the namespace: NumPy's, for arrays of the current device alone."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
from scipy import special

from .arrays import by_logarithms, down, ndarray, operand, supported, up
from .counts import counted, crossing, launch
from .devices import current
from .fusing import fuse, is_traced, of_reduction, of_ufunc

__all__ = ["FFT", "NAMES", "SPECIAL"]

# of NumPy as well as of CuPy
_UFUNCS = (
    "absolute add arccos arccosh arcsin arcsinh arctan arctan2 arctanh bitwise_and bitwise_or "
    "bitwise_xor ceil conj conjugate copysign cos cosh divide equal exp exp2 expm1 floor "
    "floor_divide fmax fmin greater greater_equal hypot invert isfinite isinf isnan left_shift "
    "less less_equal log log10 log1p log2 logaddexp logical_and logical_not logical_or logical_xor "
    "maximum minimum mod multiply negative nextafter not_equal positive power reciprocal remainder "
    "right_shift rint sign signbit sin sinh sqrt square subtract tan tanh true_divide trunc"
)
_OF_ONE = (
    "all amax amin any argmax argmin argsort around atleast_1d atleast_2d corrcoef cov cumprod "
    "cumsum diag diagonal diff expand_dims flip imag max mean median min moveaxis nonzero "
    "permute_dims prod ravel real repeat reshape roll round sort squeeze std sum swapaxes "
    "take_along_axis tile trace transpose tril triu unique var"
)
_OF_MORE = "dot inner kron matmul outer searchsorted tensordot vdot"
_JOINED = "concatenate hstack stack vstack"
_OF_SHAPES = "arange empty eye identity linspace ones zeros"
_LIKE = "empty_like ones_like zeros_like"
_HOST = (
    "bool_ broadcast_shapes can_cast complex128 complex64 complexfloating dtype e finfo float32 "
    "float64 floating iinfo inf int16 int32 int64 int8 integer intp isdtype issubdtype nan newaxis "
    "number pi promote_types signedinteger uint16 uint32 uint64 uint8 unsignedinteger"
)


_WAITING = (np.nonzero, np.unique, np.repeat)  # the size of what they give is read


def _ufunc(plain: Callable[..., Any]) -> Callable[..., Any]:
    def function(*args: Any, **kwargs: Any) -> Any:
        if is_traced(*args):
            return of_ufunc(plain, *args, **kwargs)
        with np.errstate(all="ignore"):  # a device warns of nothing
            launch()
            return up(plain(*map(operand, args), **kwargs))

    return function


def _of_arrays(plain: Callable[..., Any], count: int) -> Callable[..., Any]:
    """Its first arguments are arrays; where a later one is, that is an argument as well."""

    def function(*args: Any, **kwargs: Any) -> Any:
        if is_traced(*args):
            return of_reduction(plain, *args, **kwargs)
        given = [
            down(a) if at < count or isinstance(a, ndarray) else a for at, a in enumerate(args)
        ]
        with np.errstate(all="ignore"):
            if plain in _WAITING:
                crossing()
            return up(counted(plain)(*given, **_down_in(kwargs)))

    return function


def _down_in(kwargs: dict[str, Any]) -> dict[str, Any]:
    return {name: down(a) if isinstance(a, ndarray) else a for name, a in kwargs.items()}


def _joined(plain: Callable[..., Any]) -> Callable[..., Any]:
    def function(arrays: Any, *args: Any, **kwargs: Any) -> Any:
        launch()
        return up(plain([down(a) for a in arrays], *args, **kwargs))

    return function


def _of_shape(plain: Callable[..., Any]) -> Callable[..., Any]:
    def function(*args: Any, dtype: Any = None, **kwargs: Any) -> Any:
        dtype = None if dtype is None else supported(dtype)
        if plain is not np.empty:
            launch()
        return up(np.asarray(plain(*args, dtype=dtype, **kwargs)))

    return function


def _of_shape_alone(plain: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *args, **kwargs: up(plain(*args, **kwargs))


def array(
    obj: Any,
    dtype: Any = None,
    copy: bool | None = True,
    order: Any = "K",
    subok: bool = False,
    ndmin: int = 0,
    *,
    blocking: bool = False,
) -> ndarray:
    """From the host or another device to the current one; arrays of the device nested in a list."""
    if isinstance(obj, ndarray):
        with obj.device:
            plain = down(obj)
        moved = obj._device != current()
        if not copy and not moved and dtype in (None, plain.dtype):
            return obj
        launch()
        return up(np.array(plain, dtype=dtype, ndmin=ndmin))
    launch()
    plain = np.array(_nested(obj), dtype=dtype, ndmin=ndmin)
    supported(plain.dtype)
    return up(plain.astype(plain.dtype.newbyteorder("=")))


def _nested(obj: Any) -> Any:
    """A list of arrays of the device is joined there; where only some are, CuPy refuses it."""
    if not isinstance(obj, list | tuple):
        return obj
    if obj and all(isinstance(a, ndarray) for a in obj):
        return np.stack([down(a) for a in obj])
    return [_nested(a) for a in obj]


def asarray(
    a: Any, dtype: Any = None, order: Any = None, *, copy: Any = None, blocking: bool = False
) -> ndarray:
    return array(a, dtype, copy, order)


def asnumpy(
    a: Any, stream: Any = None, order: str = "C", out: Any = None, *, blocking: bool = True
) -> np.ndarray:
    return a.get() if isinstance(a, ndarray) else np.asarray(a)


def where(condition: Any, x: Any = None, y: Any = None) -> Any:
    if x is None and y is None:
        return NAMES["nonzero"](condition)
    if is_traced(condition, x, y):
        return of_ufunc(np.where, condition, x, y)
    launch()
    return up(np.where(down(condition).astype(bool), operand(x), operand(y)))


def full(shape: Any, fill_value: Any, dtype: Any = None, order: str = "C") -> ndarray:
    dtype = np.asarray(operand(fill_value)).dtype if dtype is None else supported(dtype)
    made = ndarray(shape, dtype)
    made.fill(fill_value)
    return made


def full_like(
    a: Any,
    fill_value: Any,
    dtype: Any = None,
    order: str = "K",
    subok: Any = None,
    shape: Any = None,
) -> ndarray:
    return full(down(a).shape if shape is None else shape, fill_value, dtype or a.dtype)


def take(a: Any, indices: Any, axis: Any = None, out: Any = None) -> ndarray:
    """By numbers that wrap around where they are out of bounds."""
    places = down(indices) if isinstance(indices, ndarray) else np.asarray(indices)
    launch()
    return up(np.take(down(a), places, axis, mode="wrap"))


def count_nonzero(a: Any, axis: Any = None) -> ndarray:
    launch()
    return up(np.asarray(np.count_nonzero(down(a), axis)))


def clip(a: Any, a_min: Any, a_max: Any, out: Any = None) -> ndarray:
    bounds = (None if bound is None else operand(bound) for bound in (a_min, a_max))
    launch()
    return up(np.clip(down(a), *bounds))


def allclose(
    a: Any, b: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False
) -> Any:
    """What is on the host is brought to the device here, unlike elsewhere."""
    return up(np.asarray(np.allclose(down(asarray(a)), down(asarray(b)), rtol, atol, equal_nan)))


def quantile(a: Any, q: Any, axis: Any = None) -> ndarray:
    launch()
    return up(np.asarray(np.quantile(down(a), down(q) if isinstance(q, ndarray) else q, axis)))


def interp(x: Any, xp: Any, fp: Any) -> ndarray:
    launch()
    return up(np.interp(down(x), down(xp), down(fp)))


def broadcast_to(array: Any, shape: Any) -> ndarray:
    return up(np.broadcast_to(down(array), shape))


def broadcast_arrays(*args: Any) -> list[ndarray]:
    return [up(a) for a in np.broadcast_arrays(*map(down, args))]


def meshgrid(*xi: Any, indexing: str = "xy") -> list[ndarray]:
    return [up(a) for a in np.meshgrid(*map(down, xi), indexing=indexing)]


def result_type(*arrays_and_dtypes: Any) -> np.dtype:
    return np.result_type(*(a._host if isinstance(a, ndarray) else a for a in arrays_and_dtypes))


def get_default_memory_pool() -> Any:
    none = {"free_bytes": lambda: 0, "used_bytes": lambda: 0, "free_all_blocks": lambda: None}
    return SimpleNamespace(**none)


NAMES: dict[str, Any] = {
    **{name: _ufunc(getattr(np, name)) for name in _UFUNCS.split()},
    **{name: _of_arrays(getattr(np, name), 1) for name in _OF_ONE.split()},
    **{name: _of_arrays(getattr(np, name), 2) for name in _OF_MORE.split()},
    **{name: _joined(getattr(np, name)) for name in _JOINED.split()},
    **{name: _of_shape(getattr(np, name)) for name in _OF_SHAPES.split()},
    **{name: _of_arrays(getattr(np, name), 1) for name in _LIKE.split()},
    **{name: getattr(np, name) for name in _HOST.split()},
    **{
        function.__name__: function
        for function in (
            allclose, array, asarray, asnumpy, interp, quantile, where, full, full_like, take,
            count_nonzero, clip, broadcast_to, broadcast_arrays, meshgrid, result_type, fuse,
            get_default_memory_pool,
        )
    },
}  # fmt: skip
NAMES.update(abs=NAMES["absolute"], power=_ufunc(by_logarithms))

_OF_FFT = "fft fft2 fftn fftshift hfft ifft ifft2 ifftn ifftshift ihfft irfft irfftn rfft rfftn"
_OF_SIZES = "fftfreq rfftfreq"
FFT = {
    **{name: _of_arrays(getattr(np.fft, name), 1) for name in _OF_FFT.split()},
    **{name: _of_shape_alone(getattr(np.fft, name)) for name in _OF_SIZES.split()},
}

SPECIAL = {"log_ndtr": _ufunc(special.log_ndtr), "psi": _ufunc(special.psi)}
