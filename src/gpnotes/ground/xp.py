"""Namespaces, devices and dtypes, and functions of SciPy and CuPy for any of them.

A public function starts with ``xp = array_namespace(x)`` and uses the operations of the
array API standard. Functions that the standard lacks stand here: SciPy serves NumPy arrays,
``cupyx.scipy`` serves CuPy arrays, and plain standard operations serve everything else.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from functools import cache
from importlib import import_module
from typing import Any, Literal, Protocol, TypeVar, cast

from array_api_compat import (
    device,
    is_cupy_array,
    is_cupy_namespace,
    is_numpy_namespace,
    is_torch_namespace,
    to_device,
)

from . import late_reads
from .array_types import (
    Array,
    ArrayLike,
    HostArray,
    HostMatrix,
    HostVector,
    Matrix,
    MatrixLike,
    Namespace,
    Numbers,
    OfEach,
    OfEachLike,
    Scalar,
    Stack,
    Table,
    Vector,
    VectorLike,
)
from .namespace import array_namespace, fused, is_jax_array, refusal
from .normal_tail import LOG_2PI, mills_fractions, standard_log_cdf
from .threads import called_back, threads_for

__all__ = [
    "LOG_2PI", "Array", "ArrayLike", "HostArray", "HostMatrix", "HostVector", "Matrix",
    "MatrixLike", "Namespace", "Numbers", "OfEach", "OfEachLike", "Scalar", "Stack", "Table",
    "Vector", "VectorLike", "array_namespace", "as_array", "as_host", "as_index", "blas",
    "cast_like", "cholesky_factor", "cholesky_inverse", "columns_of_identity", "device",
    "device_elsewhere", "device_memory", "diagonal", "digamma", "epsilon", "eye", "factor_in_place",
    "fused", "has_double", "how_many", "in_double", "is_cupy_array", "is_numpy_namespace",
    "keep_copies", "kept_where", "lapack", "largest", "log_normal_cdf", "log_sum_exp",
    "mills_fractions", "minimise", "set_at", "set_rows", "sobol", "solve_triangular",
    "symmetric_part", "to_device", "to_numpy", "to_write", "triangular_inverses",
    "triangular_product", "whole_power", "zero_where", "zeros",
]  # fmt: skip


T = TypeVar("T")


def keep_copies(obj: object, *names: str) -> None:
    """Give an object, while it is made, arrays of its own in some fields: others may change."""
    for name in names:
        a = getattr(obj, name)
        object.__setattr__(obj, name, array_namespace(a).asarray(a, copy=True))


def as_array(value: object, like: Array) -> Array:
    """Return anything array-like as an array of the namespace, dtype and device of `like`."""
    xp = array_namespace(like)
    if is_torch_namespace(xp) and type(value) is HostArray:
        value = value.astype(value.dtype.newbyteorder("="))  # a copy: a tensor shares, and writes
    return xp.asarray(value, dtype=like.dtype, device=device(like))


def eye(n: int, like: Array) -> Matrix:
    """Return the identity matrix (n, n) in the namespace, dtype and on the device of an array."""
    xp = array_namespace(like)
    return xp.eye(n, dtype=like.dtype, device=device(like))


def columns_of_identity(columns: slice, like: Array) -> Matrix:
    """Return some columns (n, b) of the identity matrix of the size of a matrix, as `eye` does."""
    n, size = like.shape[0], columns.stop - columns.start
    xp: Any = array_namespace(like)
    return cast("Matrix", xp.eye(n, size, k=-columns.start, dtype=like.dtype, device=device(like)))


def zeros(shape: tuple[int, ...], like: Array) -> Array:
    """Return zeros of a shape in the kind of an array, as `eye` does."""
    xp = array_namespace(like)
    return xp.zeros(shape, dtype=like.dtype, device=device(like))


def diagonal(a: Matrix) -> Vector:
    """Return the main diagonal of a matrix (n, n); the standard has it in `linalg` only."""
    return array_namespace(a).linalg.diagonal(a)


def symmetric_part(a: Array) -> Array:
    """Return ``½ (A + Aᵀ)`` of a matrix, or of each in an array (..., n, n)."""
    return _half_of_sum(a, a.T if a.ndim == 2 else array_namespace(a).matrix_transpose(a))


def whole_power(a: Array, exponent: int) -> Array:
    """Return ``a ** exponent``, entry by entry, for a whole number from 0.

    A device takes powers by logarithms, which make 2.9999999999999996 of ``3.0 ** 1`` and cost more
    than a few products. These are taken there, as far as they round no worse; NumPy has its own
    short ways.
    """
    if is_numpy_namespace(array_namespace(a)) or exponent > _PRODUCTS:
        return a**exponent
    if exponent == 0:
        return array_namespace(a).ones_like(a)
    half = whole_power(a, exponent // 2) if exponent > 1 else None
    if half is None:
        return a
    return half * half * a if exponent % 2 else half * half


_PRODUCTS = 16  # the largest power that products make


@fused
def _half_of_sum(a: Array, turned: Array) -> Array:
    return 0.5 * (a + turned)


@fused
def _largest_fused(a: Array) -> Array:
    xp = array_namespace(a)
    return xp.max(xp.abs(a))


def largest(a: Array) -> Array:
    """Return the largest size of an entry, as an array without axes: NaN where there is one."""
    if math.prod(a.shape) <= _IN_ONE_BLOCK:
        return _largest_fused(a)
    xp = array_namespace(a)
    return xp.max(xp.abs(a))


_IN_ONE_BLOCK = 2**18  # entries that a fused reduction to one number takes in as long as a launch


def epsilon(like: Array) -> float:
    """Return the distance from 1 to the next number in the dtype of `like`, an array."""
    return _epsilon(array_namespace(like), like.dtype)


@cache
def _epsilon(xp: Namespace, dtype: object) -> float:
    return float(xp.finfo(dtype).eps)


def has_double(like: Array) -> bool:
    """Tell if the device of an array has numbers in float64; some have not."""
    xp = array_namespace(like)
    if like.dtype == getattr(xp, "float64", None):
        return True
    info = xp.__array_namespace_info__()
    return "float64" in info.dtypes(device=device(like), kind="real floating")


def as_index(values: Array | Sequence[int], like: Array) -> Array:
    """Return whole numbers, or truths, in the dtype that indexes arrays of the kind of `like`.

    It is int64, or int32, as JAX has it set.
    """
    xp = array_namespace(like)
    dtype = xp.__array_namespace_info__().default_dtypes()["indexing"]
    return xp.asarray(values, dtype=dtype, device=device(like))


def how_many(truths: Array) -> tuple[int, int]:
    """Return how many entries are true, and the first row, or entry of a vector, with one."""
    xp, ones = array_namespace(truths), as_index(truths, truths)
    rows = ones if truths.ndim < 2 else xp.max(ones, axis=tuple(range(1, truths.ndim)))
    return int(xp.sum(ones)), int(xp.argmax(rows)) if 0 not in rows.shape else 0


def in_double(a: Array) -> Array:
    """Return an array in float64; itself if it is, or its device has no such numbers."""
    xp = array_namespace(a)
    if a.dtype == getattr(xp, "float64", None) or not has_double(a):
        return a
    return xp.astype(a, xp.float64)


def to_write(a: Array) -> Array:
    """Return an array in float64 that may be written into: of NumPy on the host in JAX's place."""
    return in_double(to_numpy(a) if is_jax_array(a) else a)


def cast_like(a: Array, like: Array) -> Array:
    """Return an array in the kind of another, from the host or of its own namespace.

    One that is of that kind comes back itself.
    """
    xp = array_namespace(a)
    same = xp is array_namespace(like)
    return xp.astype(a, like.dtype, copy=False) if same else as_array(a, like)


def set_at(a: Array, index: object, values: object) -> Array:
    """Return `a` with ``a[index] = values``: itself, written into; a copy of an array of JAX."""
    if is_jax_array(a):
        changed: Any = a
        return cast("Array", changed.at[index].set(values))
    a[index] = values
    return a


def zero_where(truths: Array, a: Array) -> Array:
    """Return `a` with zeros where an array of truths is true: of NumPy itself, written into.

    A device waits for the host to count the truths where they are an index.
    """
    xp = array_namespace(a)
    if is_numpy_namespace(xp):
        return set_at(a, truths, 0.0)
    return xp.where(truths, _zero(xp, a), a)


def _zero(xp: Namespace, like: Array) -> Numbers:
    """Return a zero for an array: CuPy takes a number of Python's, which need not be made there."""
    return 0.0 if is_cupy_namespace(xp) else xp.zeros((), dtype=like.dtype, device=device(like))


def kept_where(truths: Array, a: Array) -> Array:
    """Return a copy of `a` with zeros where an array of truths is false."""
    xp = array_namespace(a)
    return xp.where(truths, a, _zero(xp, a))


def as_host(a: Array) -> HostArray:
    """Return `a` itself, an array of NumPy: it tells a type checker so, and does nothing."""
    return cast("HostArray", a)


def to_numpy(a: Array) -> HostArray:
    """Return a NumPy copy of an array on the host, whatever its namespace or device.

    Examples
    --------
    >>> import numpy as np
    >>> to_numpy(np.zeros(2))
    array([0., 0.])
    """
    import numpy as np

    if type(a) is np.ndarray:
        return np.array(a)
    try:
        xp = array_namespace(a)
    except TypeError:
        raise TypeError(f"a must be an array; got {refusal(a) or type(a).__name__}") from None
    if is_numpy_namespace(xp):
        return np.array(a)
    if is_cupy_namespace(xp):
        import cupy

        return cupy.asnumpy(a)
    if is_torch_namespace(xp):
        tensor: Any = a  # which answers NumPy with a warning
        return np.array(tensor.detach().cpu().numpy())
    return np.array(to_device(a, xp.__array_namespace_info__().default_device()))


def device_memory(like: Array) -> int | None:
    """Return the bytes that are free on the GPU where an array lives; None on the host.

    Those that a library's pool keeps for later are included: without them, a loop would seem to run
    out of memory.
    """
    xp = array_namespace(like)
    if is_torch_namespace(xp):
        return _free_for_torch(device(like))
    if is_jax_array(like):
        held: Any = like
        stats = next(iter(held.devices())).memory_stats()  # None on the host
        return stats and int(stats["bytes_limit"]) - int(stats["bytes_in_use"])
    if not is_cupy_namespace(xp):
        return None
    import cupy

    with device(like) as here:
        return int(here.mem_info[0]) + int(cupy.get_default_memory_pool().free_bytes())


def _free_for_torch(place: Any) -> int | None:
    if place.type != "cuda":
        return None
    cuda = import_module("torch.cuda")
    kept = cuda.memory_reserved(place) - cuda.memory_allocated(place)
    return int(cuda.mem_get_info(place)[0]) + int(kept)


def device_elsewhere(a: Array) -> str | None:
    """Say which is CuPy's current device where an array is not on it; None where all is well.

    CuPy computes on that device alone, and makes arrays there whatever ``device=`` says.
    """
    if not is_cupy_array(a):
        return None
    import cupy

    here = cupy.cuda.Device()
    return None if device(a) == here else str(here)


def cholesky_factor(a: Array, *, finite: bool = False) -> Array | None:
    """Return the lower Cholesky factor of a matrix, or None if it is not positive definite.

    It is also None where numbers are not finite, unless all are known to be `finite`. Of a stack
    (..., n, n) it is that of each matrix, or None if one of them has none.

    Notes
    -----
    CuPy gives numbers that mean nothing where the others raise, unless its error state asks it to
    raise; JAX gives NaN, which a look at the diagonal finds. PyTorch's error is no error of
    NumPy, but has its name.
    """
    from numpy.linalg import LinAlgError

    xp = array_namespace(a)
    try:
        lower = _scipy_cholesky(a) if is_numpy_namespace(xp) else _foreign_cholesky(xp, a)
    except Exception as problem:
        if isinstance(problem, LinAlgError) or type(problem).__name__.endswith("LinAlgError"):
            return None
        raise
    if finite or late_reads.expect(lambda: largest(diagonal(lower))):
        return lower
    return lower if bool(xp.all(xp.isfinite(diagonal(lower)))) else None


def _scipy_cholesky(a: Array) -> Array:
    import numpy as np
    from scipy.linalg import cholesky

    from . import tiled_cholesky

    if a.ndim > 2:
        return np.linalg.cholesky(as_host(a))

    with tiled_cholesky.sharing(as_host(a)) as threads:
        if threads == 1:
            return cholesky(a, lower=True, check_finite=False)
        lower = tiled_cholesky.lower_triangle(as_host(a))
        if not tiled_cholesky.factor(lower, threads):
            raise np.linalg.LinAlgError("the matrix is not positive definite")
    return lower


def _foreign_cholesky(xp: Namespace, a: Array) -> Array:
    if is_jax_array(a):  # by default it reads both triangles, and takes their mean
        cholesky = import_module("jax.numpy.linalg").cholesky
        return cast("Array", cholesky(a, symmetrize_input=False))
    if not _gives_lower(xp):
        name = getattr(xp, "__name__", xp)
        raise TypeError(f"{name}.linalg.cholesky must return the lower factor; got another")
    if not is_cupy_namespace(xp):
        return xp.linalg.cholesky(a)
    import cupyx

    with cupyx.errstate(linalg="raise"):  # else nobody asks cuSOLVER whether it got to the end
        return xp.linalg.cholesky(a)


@cache
def _gives_lower(xp: Namespace) -> bool:
    """Looked at once for each library: an upper factor would pass for a lower one in silence."""
    factor = xp.linalg.cholesky(xp.asarray([[4.0, 2.0], [2.0, 5.0]]))
    return float(factor[0, 1]) == 0.0 and abs(float(factor[1, 0]) - 1.0) < 1e-3


def factor_in_place(a: Matrix, blocks: list[slice]) -> bool:
    """Put the lower Cholesky factor in the place of a matrix (n, n), a few columns at a time.

    It is of a library whose arrays can be written into. Its lower triangle is read, and spoilt
    where there is no factor: False. A block of rows is held two or three times in addition.
    """
    xp = array_namespace(a)
    for at, columns in enumerate(blocks):
        done = slice(columns.start)
        for rows in blocks[at:]:
            block = a[rows, columns]
            if columns.start:
                block = block - a[rows, done] @ xp.matrix_transpose(a[columns, done])
            if rows is columns:
                lower = cholesky_factor(block)
                if lower is None:
                    return False
                a[rows, columns] = lower
            else:  # the first block of the columns has made the factor
                solved = solve_triangular(cast("Matrix", lower), xp.matrix_transpose(block))
                a[rows, columns] = xp.matrix_transpose(solved)
        a[columns, columns.stop :] = 0.0
    return True


def cholesky_inverse(lower: Matrix) -> Matrix:
    """Return ``(L Lᵀ)⁻¹``, symmetric, from the lower factor (n, n); O(n³)."""
    xp = array_namespace(lower)
    if is_numpy_namespace(xp):
        return _potri(lower)
    if is_torch_namespace(xp) and device(lower).type == "cpu":
        return symmetric_part(cast("Matrix", import_module("torch").cholesky_inverse(lower)))
    return symmetric_part(_gram_of_halves(_inverse_by_halves(lower)))  # up to rounding it was so


def triangular_inverses(lower: Array) -> Array:
    """Return ``L⁻¹`` of each lower triangular matrix of a stack (..., n, n), zeros above; O(n³).

    PyTorch and JAX substitute in all of them at once. The others have no such function for a stack,
    and eliminate.
    """
    xp = array_namespace(lower)
    ones = xp.broadcast_to(eye(lower.shape[-1], lower), lower.shape)
    if is_jax_array(lower):
        return _jax_solve(lower, ones, False)
    if is_torch_namespace(xp):
        return _torch_solve(lower, ones, False)
    return xp.tril(xp.linalg.solve(lower, ones))


_HALVED = 4096  # rows of a triangle beyond which its zeros are worth some launches


def _inverse_by_halves(lower: Matrix) -> Matrix:
    """``L⁻¹``, of whose halves the zeros are left out: ``−L₂₂⁻¹ (L₂₁ L₁₁⁻¹)`` is a solve."""
    n = lower.shape[0]
    if n <= _HALVED:
        return solve_triangular(lower, eye(n, lower))
    xp, half = array_namespace(lower), n // 2
    first, last = lower[:half, :half], lower[half:, half:]
    left = _inverse_by_halves(first)
    below = solve_triangular(last, -(lower[half:, :half] @ left))
    top = xp.concat([left, zeros((half, n - half), lower)], axis=1)
    return xp.concat([top, xp.concat([below, _inverse_by_halves(last)], axis=1)], axis=0)


def _gram_of_halves(lower: Matrix) -> Matrix:
    """``LᵀL``, by the halves of L that are not zero."""
    xp, n = array_namespace(lower), lower.shape[0]
    if n <= _HALVED:
        return xp.matrix_transpose(lower) @ lower
    half = n // 2
    below, last = lower[half:, :half], lower[half:, half:]
    first = _gram_of_halves(lower[:half, :half]) + xp.matrix_transpose(below) @ below
    side = xp.matrix_transpose(last) @ below
    top = xp.concat([first, xp.matrix_transpose(side)], axis=1)
    return xp.concat([top, xp.concat([side, _gram_of_halves(last)], axis=1)], axis=0)


def _potri(lower: Matrix) -> Matrix:
    import numpy as np

    from . import tiled_cholesky

    with tiled_cholesky.sharing(as_host(lower)) as threads:
        if threads == 1:
            inverse, _ = lapack("potri", lower.dtype)(lower, lower=1)
        else:
            inverse = np.array(lower, order="F")
            tiled_cholesky.invert(inverse, threads)
    return np.tril(inverse) + np.tril(inverse, -1).T


@cache  # a deep bound asks for a hundred, and to look one up takes as long as a small one works
def blas(name: str, dtype: Hashable) -> Callable[..., HostArray]:
    """Return SciPy's wrapper of a BLAS routine, ``blas("gemm", a.dtype)``.

    Parameters
    ----------
    name : str
        The name of the routine, without the letter of its precision.
    dtype : dtype
        That of the NumPy arrays that the routine is for.

    Returns
    -------
    callable
        The routine.
    """
    from scipy.linalg import get_blas_funcs

    return get_blas_funcs(name, dtype=dtype)


@cache
def lapack(name: str, dtype: Hashable) -> Callable[..., HostArray]:
    """Return SciPy's wrapper of a LAPACK routine, ``lapack("potrf", a.dtype)``, as `blas` does."""
    from scipy.linalg import get_lapack_funcs

    return get_lapack_funcs(name, dtype=dtype)


class Minimum(Protocol):
    """The answer of SciPy's optimisers about where they ended."""

    x: HostVector
    fun: float
    jac: HostVector
    nfev: int
    status: int
    success: bool
    message: str


@threads_for(lambda *_: 0)  # L-BFGS-B factors small matrices by LAPACK, at every step
def minimise(
    f: Callable[[HostVector], tuple[float, HostVector]],
    start: HostVector,
    bounds: HostMatrix | Sequence[tuple[float, float]] | None,
    steps: int,
    rows: tuple[HostMatrix, HostVector] | None = None,
) -> Minimum:
    """Minimise a function on the host by SciPy's L-BFGS-B, or with `rows` by its SLSQP.

    It gives value and gradient at a vector (n,). `rows` are A and b of ``A x ≤ b``: from a start
    where this holds, it holds at every point tried, up to rounding.
    """
    from scipy.optimize import minimize

    options = {"maxiter": steps}
    f = called_back(f)
    if rows is None:
        return minimize(f, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options)
    A, b = rows
    inside = {"type": "ineq", "fun": lambda x: b - A @ x, "jac": lambda x: -A}
    how = {"bounds": bounds, "constraints": inside, "options": options}
    return minimize(f, start, jac=True, method="SLSQP", **how)


def root_of(f: Callable[[float], float], low: float, high: float) -> float | None:
    """Return where a function of one number is zero between two, by Brent's method.

    None if it has one sign at both ends.
    """
    from scipy.optimize import brentq

    if f(low) * f(high) > 0.0:
        return None
    return float(brentq(f, low, high, xtol=1e-13, rtol=1e-13))


def gamma_tail(shape: float, mass: float) -> float:
    """Return where the gamma distribution of rate 1 has a mass above it: x of ``Q(shape, x)``."""
    from scipy.special import gammainccinv

    return float(gammainccinv(shape, mass))


def sobol(n: int, d: int, generator: object) -> HostMatrix:
    """Return the first n points, in [0, 1)ᵈ, of a Sobol sequence that `generator` scrambles."""
    from scipy.stats.qmc import Sobol

    # `seed` is called `rng` too since SciPy 1.15; 1.14 has the one name alone
    sequence = Sobol(d, scramble=True, seed=generator)
    return sequence.random_base2((n - 1).bit_length())[:n]


def set_rows(a: Matrix, rows: HostVector, columns: slice, values: Matrix) -> Matrix:
    """Return `a` with ``a[rows, columns] = values``, as `set_at`; `rows` (k,) are on the host."""
    xp = array_namespace(a)
    if is_numpy_namespace(xp) or is_cupy_namespace(xp) or is_jax_array(a):
        return set_at(a, (xp.asarray(rows), columns), values)
    for i, row in enumerate(rows.tolist()):
        a[row, columns] = values[i, :]
    return a


def solve_triangular(lower: Matrix, b: Array, *, transpose: bool = False) -> Array:
    """Solve ``L x = b`` or, with `transpose`, ``Lᵀ x = b``, for b (n,) or (n, m); O(n² m).

    L is lower triangular: one triangle of it is read.
    """
    import numpy as np

    if isinstance(lower, np.ndarray) and isinstance(b, np.ndarray):
        return _trtrs(lower, b, transpose)
    xp = array_namespace(lower, b)
    if is_cupy_namespace(xp):
        from cupyx.scipy.linalg import solve_triangular as solve

        held: Any = lower
        if held.flags.c_contiguous:  # what is in rows it would copy, n² numbers each time
            return solve(lower.T, b, lower=False, trans=0 if transpose else 1, check_finite=False)
        return solve(lower, b, lower=True, trans=1 if transpose else 0, check_finite=False)
    if is_jax_array(lower):
        return _jax_solve(lower, b, transpose)
    if is_torch_namespace(xp):
        return _torch_solve(lower, b, transpose)
    return _substitute(xp, lower, b, transpose)


def _shared_solve(lower: HostMatrix, b: HostMatrix, transpose: bool) -> HostMatrix | None:
    """By several threads, where there are, and columns enough for them; else None."""
    import numpy as np

    from . import tiled_cholesky

    fit = lower.flags.f_contiguous and lower.dtype == b.dtype and b.shape[1] >= _SHARED
    if not fit or not np.all(np.diagonal(lower)):
        return None
    with tiled_cholesky.sharing(lower) as threads:
        if threads == 1:
            return None
        x = np.array(b, order="F")
        tiled_cholesky.solve(lower, x, threads, transposed=transpose)
    return x


_SHARED = 64  # right-hand sides from which on a solve is divided among threads


def _trtrs(lower: HostMatrix, b: HostArray, transpose: bool) -> HostArray:
    """By LAPACK as it is: SciPy's function around it takes as long as a small system."""
    import numpy as np

    if not b.size:
        return np.empty_like(b)
    if b.ndim == 2 and (shared := _shared_solve(lower, b, transpose)) is not None:
        return shared
    by_rows = lower.flags.c_contiguous  # then its transpose is what needs no copy
    a = lower.T if by_rows else lower
    trtrs = lapack("trtrs", np.result_type(lower, b))
    x, failed = trtrs(a, b, lower=not by_rows, trans=transpose != by_rows)
    if failed < 0:
        raise ValueError(f"b must have {lower.shape[0]} rows, as L has; got {tuple(b.shape)}")
    if failed:
        raise np.linalg.LinAlgError(f"the triangular matrix has a zero in row {failed}")
    return x


def _jax_solve(lower: Matrix, b: Array, transpose: bool) -> Array:
    solve = import_module("jax.scipy.linalg").solve_triangular
    return cast("Array", solve(lower, b, lower=True, trans=1 if transpose else 0))


def _torch_solve(lower: Matrix, b: Array, transpose: bool) -> Array:
    solve = import_module("torch").linalg.solve_triangular
    a = array_namespace(lower).matrix_transpose(lower) if transpose else lower
    x = solve(a, b if b.ndim > 1 else b[:, None], upper=transpose)
    return cast("Array", x if b.ndim > 1 else x[:, 0])


def log_sum_exp(terms: Matrix, weights: Array | float, *, axis: Literal[0, 1]) -> Vector:
    """``log Σ w exp(t)`` along an axis, whatever underflows; minus infinity where all terms are."""
    xp = array_namespace(terms)
    top = xp.max(terms, axis=axis)
    none = top == -float("inf")
    out = xp.where(none, xp.zeros_like(top), top)  # so that no difference of infinities is taken
    out = out[None, :] if axis == 0 else out[:, None]
    total = xp.sum(weights * xp.exp(terms - out), axis=axis)
    return top + xp.log(xp.where(none, xp.ones_like(total), total))


def _substitute(xp: Namespace, lower: Matrix, b: Array, transpose: bool) -> Array:
    """Blocked substitution with standard operations, for namespaces without a solver of theirs."""
    block = 64
    n = lower.shape[0]
    matrix = xp.tril(lower)  # as LAPACK does, look at one triangle only
    matrix = xp.matrix_transpose(matrix) if transpose else matrix
    x = xp.asarray(b, copy=True) if b.ndim == 2 else xp.reshape(b, (n, 1))
    starts = range(0, n, block)
    parts: list[tuple[slice, Array]] = []
    for start in reversed(starts) if transpose else starts:
        rows = slice(start, min(start + block, n))
        right = x[rows, :]
        for done, part in parts:
            right = right - matrix[rows, done] @ part
        parts.append((rows, xp.linalg.solve(matrix[rows, rows], right)))
    ordered = [part for _, part in sorted(parts, key=lambda item: item[0].start)]
    solution = xp.concat(ordered, axis=0)
    return solution if b.ndim == 2 else xp.reshape(solution, (n,))


def triangular_product(lower: Matrix, b: Matrix) -> Matrix:
    """Return ``L b``, (n, m), for L that is zero above the diagonal; O(n² m)."""
    if is_numpy_namespace(array_namespace(lower, b)) and b.size:  # BLAS refuses empty matrices
        return blas("trmm", lower.dtype)(1.0, lower, b, lower=1)
    return lower @ b


def log_normal_cdf(x: Array) -> Array:
    """Return ``log Φ(x)`` entry by entry, far into the tail: ``−x²/2`` does not underflow."""
    xp = array_namespace(x)
    if is_numpy_namespace(xp):
        from scipy.special import log_ndtr
    elif is_cupy_namespace(xp):
        from cupyx.scipy.special import log_ndtr
    else:
        return standard_log_cdf(xp, x)
    return log_ndtr(x)


_Number = TypeVar("_Number", float, Array)


def digamma(x: _Number) -> _Number:
    """Return ``ψ(x) = d log Γ(x)/dx``, entry by entry of an array."""
    from scipy.special import psi

    if isinstance(x, float):
        return float(psi(x))
    xp = array_namespace(x)
    if is_cupy_namespace(xp):
        from cupyx.scipy.special import psi
    elif not is_numpy_namespace(xp):  # the standard has no such function: by way of the host
        return as_array(psi(to_numpy(x)), x)
    return psi(x)
