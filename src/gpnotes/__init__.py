"""Gaussian processes on NumPy and CuPy: the package beside the book.

Public names are imported from here; each loads its module when it is first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

_HOMES: dict[str, tuple[str, ...]] = {
    "arrays": ("asarray", "dataset", "to_numpy"),
    "bayesopt": (),
    "chunks": ("ChunkError",),
    "contracts": (),
    "crossval": (),
    "design": (),
    "estimators": (),
    "exact": (
        "GP", "LeaveOneOut", "Posterior", "condition", "log_evidence", "log_evidence_and_gradient",
        "prior",
    ),
    "fantasy": (),
    "features": (),
    "fitting": ("fit",),
    "games": (),
    "gaussian": ("Normal",),
    "grids": (),
    "interdomain": (),
    "kernels": (
        "ActiveDims", "ArcCosine", "Circular", "CircularArcCosine", "CircularMatern12",
        "CircularMatern32", "CircularRBF", "Constant", "Cosine", "GradientNoise", "Graph",
        "GraphHeat", "GraphMatern", "Kernel", "Linear", "Matern12", "Matern32", "Matern52",
        "OnGraph", "Periodic", "Polynomial", "Product", "RBF", "RationalQuadratic", "Scaled",
        "Stationary", "Sum", "ThinPlate", "White", "WithGradients", "spectral_mixture",
    ),
    "laplace": (),
    "likelihoods": ("Bernoulli", "Gaussian", "Poisson", "StudentT"),
    "linear": ("BayesianLinear", "WeightPosterior"),
    "linalg": ("Cholesky", "FactorisationError", "JitterWarning", "cholesky", "squared_distances"),
    "means": ("BasisMean", "ConstantMean", "ConstantOfValues", "Powers", "ZeroMean"),
    "moments": (),
    "params": ("flatten", "flatten_gradient"),
    "paths": (),
    "pilco": (),
    "plot": (),
    "priors": ("LogNormalPrior", "NormalPrior"),
    "quadrature": ("expect", "gauss_hermite"),
    "random": ("Stream", "stream"),
    "scores": (),
    "smoothing": (),
    "sparse": (),
    "svgp": (),
    "testing": (),
}  # fmt: skip
_HOME = {name: module for module, names in _HOMES.items() for name in names}

__all__ = sorted(_HOME)
__version__ = "0.1.0"
__equations__ = f"{__path__[0]}/data"  # the packed equations of the book, for their engine


# A type checker does not call `__getattr__`: for it the names of `_HOMES` stand here once more.
# isort: off
if TYPE_CHECKING:
    from . import (
        arrays as arrays,
        bayesopt as bayesopt,
        chunks as chunks,
        contracts as contracts,
        crossval as crossval,
        design as design,
        estimators as estimators,
        exact as exact,
        fantasy as fantasy,
        features as features,
        fitting as fitting,
        games as games,
        gaussian as gaussian,
        grids as grids,
        interdomain as interdomain,
        kernels as kernels,
        laplace as laplace,
        likelihoods as likelihoods,
        linalg as linalg,
        linear as linear,
        means as means,
        moments as moments,
        params as params,
        paths as paths,
        pilco as pilco,
        plot as plot,
        priors as priors,
        quadrature as quadrature,
        random as random,
        scores as scores,
        smoothing as smoothing,
        sparse as sparse,
        svgp as svgp,
        testing as testing,
    )
    from .arrays import asarray as asarray, dataset as dataset, to_numpy as to_numpy
    from .chunks import ChunkError as ChunkError
    from .exact import (
        GP as GP,
        LeaveOneOut as LeaveOneOut,
        Posterior as Posterior,
        condition as condition,
        log_evidence as log_evidence,
        log_evidence_and_gradient as log_evidence_and_gradient,
        prior as prior,
    )
    from .fitting import fit as fit
    from .gaussian import Normal as Normal
    from .kernels import (
        RBF as RBF,
        ActiveDims as ActiveDims,
        ArcCosine as ArcCosine,
        Circular as Circular,
        CircularArcCosine as CircularArcCosine,
        CircularMatern12 as CircularMatern12,
        CircularMatern32 as CircularMatern32,
        CircularRBF as CircularRBF,
        Constant as Constant,
        Cosine as Cosine,
        GradientNoise as GradientNoise,
        Graph as Graph,
        GraphHeat as GraphHeat,
        GraphMatern as GraphMatern,
        Kernel as Kernel,
        Linear as Linear,
        Matern12 as Matern12,
        Matern32 as Matern32,
        Matern52 as Matern52,
        OnGraph as OnGraph,
        Periodic as Periodic,
        Polynomial as Polynomial,
        Product as Product,
        RationalQuadratic as RationalQuadratic,
        Scaled as Scaled,
        Stationary as Stationary,
        Sum as Sum,
        ThinPlate as ThinPlate,
        White as White,
        WithGradients as WithGradients,
        spectral_mixture as spectral_mixture,
    )
    from .likelihoods import (
        Bernoulli as Bernoulli,
        Gaussian as Gaussian,
        Poisson as Poisson,
        StudentT as StudentT,
    )
    from .linalg import (
        Cholesky as Cholesky,
        FactorisationError as FactorisationError,
        JitterWarning as JitterWarning,
        cholesky as cholesky,
        squared_distances as squared_distances,
    )
    from .linear import BayesianLinear as BayesianLinear, WeightPosterior as WeightPosterior
    from .means import (
        BasisMean as BasisMean,
        ConstantMean as ConstantMean,
        ConstantOfValues as ConstantOfValues,
        Powers as Powers,
        ZeroMean as ZeroMean,
    )
    from .params import flatten as flatten, flatten_gradient as flatten_gradient
    from .priors import LogNormalPrior as LogNormalPrior, NormalPrior as NormalPrior
    from .quadrature import expect as expect, gauss_hermite as gauss_hermite
    from .random import Stream as Stream, stream as stream
# isort: on
else:

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
