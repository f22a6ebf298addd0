"""CuPy as its documentation describes it, on a machine without a GPU: NumPy's numbers behind walls.

What differs from NumPy is what code for CuPy trips over. An array is never converted on its own,
nor mixed with NumPy's; a function works on the current device alone; reductions give arrays without
axes; a factorisation that fails gives NaN. `installed` puts it in CuPy's place for a while:
array-api-compat tells CuPy by the class of that name in ``sys.modules``.

Every name here is one of CuPy's: ``tools/array_names.py`` compares them with an installed wheel.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache, partial
from types import ModuleType
from typing import Any

from . import devices, functions, generators, solvers
from .arrays import ndarray

__all__ = ["installed", "modules"]


@contextmanager
def installed() -> Iterator[ModuleType]:
    """CuPy's modules are the stand-in's meanwhile; one that was there comes back."""
    mine = modules()
    before = {name: sys.modules.get(name) for name in mine}
    sys.modules.update(mine)
    try:
        yield mine["cupy"]
    finally:
        for name, module in before.items():
            if module is None:
                del sys.modules[name]
            else:
                sys.modules[name] = module


@cache
def modules() -> dict[str, ModuleType]:
    """The modules by the names under which CuPy has them; made once, so that classes stay."""
    made = {
        "cupy": {**functions.NAMES, "ndarray": ndarray},
        "cupy.linalg": solvers.LINALG,
        "cupy.fft": functions.FFT,
        "cupy.random": generators.NAMES,
        "cupy.cuda": {"Device": devices.Device, "runtime": devices.runtime},
        "cupy.cuda.device": {"Device": devices.Device},
        "cupyx": {"errstate": solvers.errstate},
        "cupyx.scipy": {},
        "cupyx.scipy.linalg": {"solve_triangular": solvers.solve_triangular},
        "cupyx.scipy.special": functions.SPECIAL,
    }
    found = {name: ModuleType(name) for name in made}
    for name, module in found.items():
        absent = partial(_absent, name)
        vars(module).update(made[name], __all__=sorted(made[name]), __getattr__=absent)
        parent, _, child = name.rpartition(".")
        if parent:
            setattr(found[parent], child, module)
    return found


def _absent(module: str, name: str) -> Any:
    where = "if CuPy has it, tests/support/cupy_stand_in should"
    raise AttributeError(f"the stand-in for {module} has no {name!r}: {where}")
