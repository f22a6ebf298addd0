"""BLAS and LAPACK on parts of a matrix, where they stand, while other Python threads go on.

SciPy's wrappers copy arrays that are not contiguous, and hold the interpreter's lock as long as
they run. Here are the routines of the same library as SciPy hands them out for compiled code, in
``scipy.linalg.cython_blas``, called by their addresses. A part is a view of a NumPy array of
float32 or float64 whose columns are contiguous, ``K[rows, columns]`` of one in Fortran order; all
parts of a call have one dtype.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache
from types import ModuleType
from typing import Literal

from .array_types import HostMatrix

__all__ = [
    "add_product", "add_turned_product", "are_at_hand", "divide", "factor", "multiply",
    "multiply_by", "solve",
]  # fmt: skip

_LETTERS = {"f": b"s", "d": b"d"}


def add_product(
    C: HostMatrix, alpha: float, A: HostMatrix, B: HostMatrix, *, keep: bool = True
) -> None:
    """``C + α A Bᵀ`` in the place of C, or ``α A Bᵀ`` without `keep`; only below, if B is A."""
    (m, n), k, beta = C.shape, A.shape[1], float(keep)
    if B is A:
        call = _routine("syrk", _letter(A, C))
        call(b"L", b"N", _int(n), _int(k), _number(alpha, C), *_at(A), _number(beta, C), *_at(C))
    else:
        call = _routine("gemm", _letter(A, B, C))
        sizes = _int(m), _int(n), _int(k)
        a, b = _number(alpha, C), _number(beta, C)
        call(b"N", b"T", *sizes, a, *_at(A), *_at(B), b, *_at(C))


def add_turned_product(C: HostMatrix, alpha: float, A: HostMatrix, B: HostMatrix) -> None:
    """``C + α Aᵀ B`` in the place of C."""
    (m, n), k = C.shape, A.shape[0]
    call = _routine("gemm", _letter(A, B, C))
    a, b = _number(alpha, C), _number(1.0, C)
    call(b"T", b"N", _int(m), _int(n), _int(k), a, *_at(A), *_at(B), b, *_at(C))


def divide(B: HostMatrix, lower: HostMatrix) -> None:
    """``B L⁻ᵀ`` in the place of B."""
    _by_triangle("trsm", b"R", b"L", b"T", 1.0, lower, B)


def solve(lower: HostMatrix, B: HostMatrix, *, transposed: bool = False) -> None:
    """``L⁻¹ B`` in the place of B, or ``L⁻ᵀ B``."""
    _by_triangle("trsm", b"L", b"L", b"T" if transposed else b"N", 1.0, lower, B)


def multiply(upper: HostMatrix, B: HostMatrix) -> None:
    """``U B`` in the place of B."""
    _by_triangle("trmm", b"L", b"U", b"N", 1.0, upper, B)


def multiply_by(B: HostMatrix, alpha: float, upper: HostMatrix) -> None:
    """``α B U`` in the place of B."""
    _by_triangle("trmm", b"R", b"U", b"N", alpha, upper, B)


def factor(K: HostMatrix) -> bool:
    """L in the place of the lower triangle of K, and whether that could be had."""
    failed = ctypes.c_int(0)
    _routine("potrf", _letter(K))(b"L", _int(K.shape[0]), *_at(K), ctypes.byref(failed))
    return failed.value == 0


def are_at_hand() -> bool:
    """Return True if SciPy's library counts by C's ``int``, as these calls do."""
    return b"(char *, int *, " in _signature(_capsule("potrf", b"d"))


def _by_triangle(
    name: Literal["trsm", "trmm"],
    side: bytes,
    half: bytes,
    transposed: bytes,
    alpha: float,
    triangle: HostMatrix,
    B: HostMatrix,
) -> None:
    sizes = _int(B.shape[0]), _int(B.shape[1])
    call = _routine(name, _letter(triangle, B))
    call(side, half, transposed, b"N", *sizes, _number(alpha, B), *_at(triangle), *_at(B))


def _letter(*parts: HostMatrix) -> bytes:
    """Return the letter of the BLAS routines for these arrays."""
    kinds = {part.dtype.char for part in parts}
    if len(kinds) > 1 or not kinds <= _LETTERS.keys():
        raise TypeError(f"parts must have one dtype, float32 or float64; got {sorted(kinds)}")
    return _LETTERS[kinds.pop()]


def _int(value: int) -> object:
    return ctypes.byref(ctypes.c_int(value))


def _number(value: float, like: HostMatrix) -> object:
    number = ctypes.c_float if like.dtype.char == "f" else ctypes.c_double
    return ctypes.byref(number(value))


def _at(part: HostMatrix) -> tuple[int, object]:
    """Where a part begins, and how many numbers lie between its columns."""
    rows, size = part.shape[0], part.itemsize
    if rows > 1 and part.strides[0] != size:
        raise ValueError("the columns of a part must be contiguous")
    return part.ctypes.data, _int(max(part.strides[1] // size, rows, 1))


@cache
def _routine(name: str, letter: bytes) -> Callable[..., None]:
    """Return a routine whose arguments are all addresses."""
    capsule = _capsule(name, letter)
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    signature = _signature(capsule)
    made = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * signature.count(b"*"))
    return made(pointer(capsule, signature))


def _capsule(name: str, letter: bytes) -> object:
    from scipy.linalg import cython_blas, cython_lapack

    module: ModuleType = cython_lapack if name == "potrf" else cython_blas
    return module.__pyx_capi__[letter.decode() + name]


def _signature(capsule: object) -> bytes:
    """Return the name of a capsule of Cython: the types of the routine's arguments."""
    name = ctypes.pythonapi.PyCapsule_GetName
    name.restype, name.argtypes = ctypes.c_char_p, [ctypes.py_object]
    return bytes(name(capsule) or b"")
