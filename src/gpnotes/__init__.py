"""Gaussian processes on NumPy and CuPy: the package beside the book.

Here are the verbs, the models and their parts, the estimators for scikit-learn, and the wings as
``gpnotes.plot``: each is loaded when it is first used. The rest is imported from the wing that it
lives in, as ``from gpnotes.infer import sparse``.

Wherever there is no other word for them, X are inputs, a matrix (n, d) with one in a row, and y are
the observations at them, a vector (n,); ``rng`` is the source of all that is random: a seed, a
`stream`, or a generator of NumPy. Where the list of a docstring passes over a parameter, its name
and the type in the signature say all. A label in brackets, as in "Costs O(n³),
[eq-fv-mean]", is that of an equation of the book.
"""

from __future__ import annotations

import importlib
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

_HOMES: dict[str, tuple[str, ...]] = {
    "datasets": ("dataset",),
    "decide.bayesopt": ("minimise",),
    "estimators": ("BayesSearchCV", "GPClassifier", "GPRegressor", "MultiOutputGPRegressor"),
    "ground.arrays": ("asarray", "to_numpy"),
    "ground.chunks": ("Chunks", "Rows"),
    "ground.levels": ("Levels",),
    "ground.quadrature": ("gauss_hermite",),
    "ground.dates": ("days_since",),
    "ground.random": ("stream",),
    "infer.exact": ("GP", "ExactPosterior", "prior"),
    "infer.deep": ("DeepGP",),
    "infer.features": ("FeatureGP",),
    "infer.fit_checks": ("FitWarning",),
    "infer.fitting": ("fit",),
    "infer.heteroscedastic": ("HeteroscedasticGP",),
    "infer.laplace": ("EPGP", "LaplaceGP", "SoftmaxGP"),
    "infer.linear": ("BayesianLinear",),
    "infer.saving": ("load", "save"),
    "infer.sparse": ("SparseGP",),
    "infer.state_space": ("StateSpaceGP",),
    "infer.svgp": ("SVGP",),
    "infer.verbs": ("condition", "log_evidence", "log_evidence_and_gradient"),
    "model.normal": ("Normal",),
    "model.kernels": (
        "Constant", "Hamming", "Kernel", "Linear", "Matern12", "Matern32", "Matern52", "Periodic",
        "RBF", "RationalQuadratic", "White", "named", "named_product",
    ),
    "model.likelihoods": ("Bernoulli", "Gaussian", "Poisson", "RobustMax", "StudentT"),
    "model.means": ("ConstantMean", "ZeroMean"),
    "model.positive_priors": (
        "GammaPrior", "HalfCauchyPrior", "HalfNormalPrior", "InverseGammaPrior", "SAASPrior",
    ),
    "model.priors": ("LogNormalPrior", "NormalPrior"),
    "networks": ("BayesianNetwork",),
}  # fmt: skip
_HOME = {name: module for module, names in _HOMES.items() for name in names}
_WINGS = (
    "assess", "datasets", "decide", "draw", "estimators", "fast", "games", "ground", "infer", "mdp",
    "model", "networks", "plot", "samplers", "testing",
)  # fmt: skip

__all__ = sorted(name for name, home in _HOME.items() if home != "estimators")  # needs an extra
__version__ = "0.1.0"


# A type checker does not call `__getattr__`: for it wings and names stand here once more.
# isort: off
if TYPE_CHECKING:
    from . import (
        assess as assess,
        datasets as datasets,
        decide as decide,
        draw as draw,
        estimators as estimators,
        fast as fast,
        games as games,
        ground as ground,
        infer as infer,
        mdp as mdp,
        model as model,
        networks as networks,
        plot as plot,
        samplers as samplers,
        testing as testing,
    )
    from .datasets import dataset as dataset
    from .decide.bayesopt import minimise as minimise
    from .estimators import (
        BayesSearchCV as BayesSearchCV,
        GPClassifier as GPClassifier,
        GPRegressor as GPRegressor,
        MultiOutputGPRegressor as MultiOutputGPRegressor,
    )
    from .ground.arrays import asarray as asarray, to_numpy as to_numpy
    from .ground.chunks import Chunks as Chunks, Rows as Rows
    from .ground.levels import Levels as Levels
    from .ground.quadrature import gauss_hermite as gauss_hermite
    from .ground.dates import days_since as days_since
    from .ground.random import stream as stream
    from .infer.exact import GP as GP, ExactPosterior as ExactPosterior, prior as prior
    from .infer.deep import DeepGP as DeepGP
    from .infer.features import FeatureGP as FeatureGP
    from .infer.fit_checks import FitWarning as FitWarning
    from .infer.fitting import fit as fit
    from .infer.heteroscedastic import HeteroscedasticGP as HeteroscedasticGP
    from .infer.laplace import EPGP as EPGP, LaplaceGP as LaplaceGP, SoftmaxGP as SoftmaxGP
    from .infer.linear import BayesianLinear as BayesianLinear
    from .infer.saving import load as load, save as save
    from .infer.sparse import SparseGP as SparseGP
    from .infer.state_space import StateSpaceGP as StateSpaceGP
    from .infer.svgp import SVGP as SVGP
    from .infer.verbs import (
        condition as condition,
        log_evidence as log_evidence,
        log_evidence_and_gradient as log_evidence_and_gradient,
    )
    from .model.normal import Normal as Normal
    from .model.kernels import (
        Constant as Constant,
        Hamming as Hamming,
        Kernel as Kernel,
        Linear as Linear,
        Matern12 as Matern12,
        Matern32 as Matern32,
        Matern52 as Matern52,
        Periodic as Periodic,
        RBF as RBF,
        RationalQuadratic as RationalQuadratic,
        White as White,
        named as named,
        named_product as named_product,
    )
    from .model.likelihoods import (
        Bernoulli as Bernoulli,
        Gaussian as Gaussian,
        Poisson as Poisson,
        RobustMax as RobustMax,
        StudentT as StudentT,
    )
    from .model.means import ConstantMean as ConstantMean, ZeroMean as ZeroMean
    from .model.positive_priors import (
        GammaPrior as GammaPrior,
        HalfCauchyPrior as HalfCauchyPrior,
        HalfNormalPrior as HalfNormalPrior,
        InverseGammaPrior as InverseGammaPrior,
        SAASPrior as SAASPrior,
    )
    from .model.priors import LogNormalPrior as LogNormalPrior, NormalPrior as NormalPrior
    from .networks import BayesianNetwork as BayesianNetwork
# isort: on
else:

    def __getattr__(name: str) -> Any:
        if name in _WINGS:
            return importlib.import_module(f".{name}", __name__)
        if name not in _HOME:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = getattr(importlib.import_module(f".{_HOME[name]}", __name__), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    """What there is, without the estimators where scikit-learn is not: `help` asks for each."""
    names = {name for name in globals() if name.startswith("__")}.union(_HOME, _WINGS)
    missing = ("estimators", *_HOMES["estimators"]) if find_spec("sklearn") is None else ()
    return sorted(names.difference(missing))
