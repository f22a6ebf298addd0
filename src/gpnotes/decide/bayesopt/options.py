"""The options of an optimiser, and their checks."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, TypeAlias, TypedDict

import numpy as np

from ...ground import check as _check
from ...ground.xp import HostVector, Matrix, Vector, to_numpy
from ...infer.exact import ExactPosterior
from ...model.contracts import Acquisition, missing
from .batch_improvement import BatchExpectedImprovement
from .feasibility import constraint_values
from .history import FAILURES, Evaluation
from .noisy_improvement import NoisyExpectedImprovement
from .pending_points import AcquisitionOf
from .polytopes import LinearConstraint
from .search_region import Place
from .search_space import Setting
from .surrogates import Model
from .thompson_sampling import ThompsonSampling

__all__ = [
    "Goal", "OnFailure", "Options", "Places", "validated_acquisition", "validated_gradient",
    "validated_handling", "validated_known", "validated_model", "validated_slope",
]  # fmt: skip

OnFailure: TypeAlias = Literal["record", "skip", "model", "stop"]
Goal: TypeAlias = Literal["minimise", "maximise"]
Places: TypeAlias = Matrix | Sequence[Mapping[str, Setting]]


class Options(TypedDict, total=False):
    """The arguments of an `Optimiser` by name."""

    goal: Goal
    path: str | os.PathLike[str] | None
    shared: bool
    on_failure: OnFailure
    num_initial: int | None
    initial_points: Places | None
    known_evaluations: Sequence[Evaluation[Any]]
    model: Model | None
    acquisition: AcquisitionOf | None
    gradients: bool
    linear_constraints: Sequence[LinearConstraint]
    constraint: Callable[[Any], bool] | None
    num_constraints: int


def validated_acquisition(acquisition: AcquisitionOf, gradients: bool) -> AcquisitionOf:
    """Return `acquisition`, if it makes one and fits the use of gradients."""
    given: object = acquisition
    for kind in (ThompsonSampling, BatchExpectedImprovement, NoisyExpectedImprovement):
        if given is kind:
            raise TypeError(f"acquisition must be an object, {kind.__name__}(); got the class")
        if isinstance(acquisition, kind):
            if gradients:
                raise ValueError(f"acquisition must not be a {kind.__name__} with gradients=True")
            return acquisition
    if not isinstance(acquisition, type) and not missing(acquisition, Acquisition):
        made = f"lambda best: {_check.kind_of(acquisition)}(…)"
        wanted = f"a function of the best value, such as {made}"
        raise TypeError(f"acquisition must be {wanted}; got an object, {acquisition!r}")
    return _check.function(acquisition, "acquisition", "the best value")


def validated_known(
    known_evaluations: Sequence[Evaluation[Place]], num_constraints: int
) -> Sequence[Evaluation[Place]]:
    """Return evaluations made elsewhere, if they are, and have as many constraints."""
    given: object = known_evaluations
    if not isinstance(given, Sequence) or not all(isinstance(e, Evaluation) for e in given):
        raise TypeError(
            f"known_evaluations must be a sequence of Evaluation; got {_check.kind_of(given)}"
        )
    for evaluation in known_evaluations:
        if not evaluation.failure:
            _check.number(evaluation.y, "y of known_evaluations without a failure")
            constraint_values(evaluation.constraints, num_constraints)
    return known_evaluations


def validated_handling(problem: str, on_failure: OnFailure | None, usual: str) -> str:
    """Return the handling of a problem that was told: `on_failure`, or without it the usual one."""
    if not isinstance(problem, str):
        raise TypeError(f"problem must be a string; got {type(problem).__name__}")
    return _check.choice(usual if on_failure is None else on_failure, "on_failure", FAILURES)


def validated_model(modelled: ExactPosterior, gradients: bool) -> ExactPosterior:
    """Return the result of `model`, if it is a posterior of rows like those it was given."""
    _check.instance(modelled, "model(X, y, rng)", ExactPosterior)
    if modelled.gp.kernel.labels_rows is not gradients:
        kinds = {True: "values and gradients", False: "values"}
        wanted = f"model(X, y, rng) must be a posterior of {kinds[gradients]}"
        raise ValueError(f"{wanted}; got one of {kinds[not gradients]}")
    return modelled


def validated_gradient(gradient: Vector, columns: int) -> HostVector:
    """Return a gradient on the host, if its kind and size are right; it need not be finite."""
    _check.floating(gradient, "gradient")
    if gradient.shape != (columns,):
        wanted = f"gradient must have shape ({columns},)"
        raise ValueError(f"{wanted}; got {tuple(gradient.shape)}")
    return to_numpy(gradient).astype(np.float64)


def validated_slope(gradient: Vector | None, gradients: bool, columns: int) -> HostVector | None:
    """Return a gradient, of an optimiser that takes them, or None."""
    if gradient is not None and not gradients:
        raise ValueError("gradient must be None, or gradients=True when the Optimiser is made")
    return None if gradient is None else validated_gradient(gradient, columns)
