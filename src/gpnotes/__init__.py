"""Gaussian processes on NumPy and CuPy: the package beside the book.

The names of every day are imported from here, and each loads its module when it is first used;
everything else is imported from the wing that it lives in, as ``gpnotes.infer.sparse``.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

_HOMES: dict[str, tuple[str, ...]] = {
    "datasets": ("dataset",),
    "ground.arrays": ("asarray", "to_numpy"),
    "ground.quadrature": ("gauss_hermite",),
    "ground.random": ("stream",),
    "infer.exact": ("GP", "ExactPosterior", "condition", "log_evidence", "prior"),
    "infer.fitting": ("fit",),
    "infer.saving": ("load", "save"),
    "model.normal": ("Normal",),
    "model.kernels": (
        "Constant", "Kernel", "Linear", "Matern12", "Matern32", "Matern52", "Periodic", "RBF",
        "RationalQuadratic", "White",
    ),
    "model.likelihoods": ("Bernoulli", "Gaussian", "Poisson", "RobustMax", "StudentT"),
    "model.means": ("ConstantMean", "ZeroMean"),
    "model.priors": ("LogNormalPrior", "NormalPrior"),
}  # fmt: skip
_HOME = {name: module for module, names in _HOMES.items() for name in names}

__all__ = sorted(_HOME)
__version__ = "0.1.0"


# A type checker does not call `__getattr__`: for it the names of `_HOMES` stand here once more.
# isort: off
if TYPE_CHECKING:
    from .datasets import dataset as dataset
    from .ground.arrays import asarray as asarray, to_numpy as to_numpy
    from .ground.quadrature import gauss_hermite as gauss_hermite
    from .ground.random import stream as stream
    from .infer.exact import (
        GP as GP,
        ExactPosterior as ExactPosterior,
        condition as condition,
        log_evidence as log_evidence,
        prior as prior,
    )
    from .infer.fitting import fit as fit
    from .infer.saving import load as load, save as save
    from .model.normal import Normal as Normal
    from .model.kernels import (
        Constant as Constant,
        Kernel as Kernel,
        Linear as Linear,
        Matern12 as Matern12,
        Matern32 as Matern32,
        Matern52 as Matern52,
        Periodic as Periodic,
        RBF as RBF,
        RationalQuadratic as RationalQuadratic,
        White as White,
    )
    from .model.likelihoods import (
        Bernoulli as Bernoulli,
        Gaussian as Gaussian,
        Poisson as Poisson,
        RobustMax as RobustMax,
        StudentT as StudentT,
    )
    from .model.means import ConstantMean as ConstantMean, ZeroMean as ZeroMean
    from .model.priors import LogNormalPrior as LogNormalPrior, NormalPrior as NormalPrior
# isort: on
else:

    def __getattr__(name: str) -> Any:
        if name not in _HOME:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = getattr(importlib.import_module(f".{_HOME[name]}", __name__), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted({name for name in globals() if name.startswith("__")} | _HOME.keys())
