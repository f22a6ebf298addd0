"""Gaussian processes on NumPy and CuPy: the package beside the book.

Public names are imported from here; each loads its module when it is first used.
"""

from __future__ import annotations

import importlib
from typing import Any

_HOMES: dict[str, tuple[str, ...]] = {
    "arrays": ("asarray", "dataset", "to_numpy"),
    "contracts": (),
    "design": (),
    "exact": (
        "GP", "LeaveOneOut", "Posterior", "condition", "log_evidence", "log_evidence_and_gradient",
        "prior",
    ),
    "fantasy": (),
    "fitting": ("fit",),
    "games": (),
    "gaussian": ("Normal",),
    "kernels": (
        "ActiveDims", "Constant", "Kernel", "Linear", "Matern12", "Matern32", "Matern52",
        "Periodic", "Polynomial", "Product", "RBF", "RationalQuadratic", "Scaled", "Stationary",
        "Sum", "White",
    ),
    "laplace": (),
    "likelihoods": ("Bernoulli", "Gaussian"),
    "linear": ("BayesianLinear", "WeightPosterior"),
    "linalg": ("Cholesky", "FactorisationError", "JitterWarning", "cholesky", "squared_distances"),
    "means": ("ConstantMean", "ZeroMean"),
    "moments": (),
    "params": ("flatten", "flatten_gradient"),
    "pilco": (),
    "plot": (),
    "priors": ("LogNormalPrior", "NormalPrior"),
    "quadrature": ("expect", "gauss_hermite"),
    "random": ("Stream", "stream"),
    "testing": (),
}  # fmt: skip
_HOME = {name: module for module, names in _HOMES.items() for name in names}

__all__ = sorted(_HOME)
__version__ = "0.1.0"
__equations__ = f"{__path__[0]}/data"  # the packed equations of the book, for their engine


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return importlib.import_module(f".{name}", __name__)
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f".{_HOME[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES, *__all__})
