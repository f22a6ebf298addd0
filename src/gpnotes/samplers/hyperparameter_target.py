"""Hyperparameters averaged instead of maximised: the objective of a fit as a log density.

A fit climbs the density of the parameters in their own units. A chain moves on the vector of the
objective, whose positive parameters are logarithms; the density of a logarithm is the density of
the parameter times the parameter, so the sum of the logarithms is added, [eq-mc-jacobian].
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..ground import check as _check
from ..ground.params import free_leaves, names
from ..ground.xp import (
    HostMatrix,
    HostVector,
    MatrixLike,
    OfEachLike,
    Vector,
    array_namespace,
    as_host,
)
from ..infer import fitting  # noqa: F401  it says what the evidence of an exact process is
from ..infer.objective import Objective
from ..infer.posterior import Posterior, named
from ..infer.run import M

__all__ = ["HyperparameterDensity", "average_predictions"]


@dataclass(frozen=True, eq=False)
class HyperparameterDensity:
    """The log posterior of a model's free parameters, by the vector of an objective.

    Parameters
    ----------
    objective : Objective
        The objective; each free parameter needs a prior, or the density has no finite integral.
    """

    objective: Objective[Any]

    def __post_init__(self) -> None:
        objective = _check.instance(self.objective, "objective", Objective)
        if objective.moves_inputs:
            raise ValueError(
                "objective must hold its inducing inputs, fixed=('inducing',): they have no prior"
            )
        free = names(objective.model, fixed=objective.fixed)
        given = {at for one in objective.priors for at in np.atleast_1d(one.at).tolist()}
        if without := [name for at, name in enumerate(free) if at not in given]:
            raise ValueError(
                f"objective must have a prior on each free parameter; none is on {without}"
            )
        if not free:
            raise ValueError("objective must have a free parameter; fixed names them all")

    @cached_property
    def logarithms(self) -> HostVector:
        """Ones for the entries of the vector that are logarithms, zeros for the others, (p,)."""
        free = free_leaves(self.objective.model, self.objective.fixed)
        sizes = [len(leaf.entries) for leaf in free]
        return np.repeat([float(leaf.constraint != "real") for leaf in free], sizes)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the entries; those of logarithms say so."""
        entries = names(self.objective.model, fixed=self.objective.fixed)
        logs = self.logarithms
        return tuple(
            f"log {name}" if log else name for name, log in zip(entries, logs, strict=True)
        )

    def __call__(self, vector: HostVector) -> tuple[float, HostVector]:
        """Return the log density and its gradient by the vector, minus infinity out of bounds."""
        low, high = self.objective.limits.T
        if np.any(vector < low) or np.any(vector > high):
            return -np.inf, np.zeros_like(vector)
        value, gradient = self.objective(vector)
        logs = self.logarithms
        return value + float(logs @ vector), gradient + logs


def average_predictions(
    objective: Objective[M],
    vectors: HostMatrix,
    Xs: MatrixLike,
    *,
    noise: bool = False,
    offset: OfEachLike | None = None,
    noise_var: OfEachLike | None = None,
    weights: OfEachLike | None = None,
) -> tuple[Vector, Vector]:
    """Predict with hyperparameters averaged: mean and variance over the draws of a chain.

    Parameters
    ----------
    objective : Objective
        The objective that was sampled, whose data the predictions are from.
    vectors : HostMatrix, shape (s, p)
        Draws of the free parameters, such as ``chains.thin(50)``; each costs a posterior.
    Xs : Matrix, shape (n*, d)
        The inputs.
    noise : bool, default False
        Whether the variance is that of new readings.
    offset, noise_var, weights : Vector, shape (n*,), or str, or None, default None
        The known values of each row, as in `gpnotes.infer.posterior.Posterior.predict`.

    Returns
    -------
    mean : Vector, shape (n*,)
        The mean of the means.
    variance : Vector, shape (n*,)
        The mean of the variances, and the variance of the means: by the law of total variance.
    """
    _check.instance(objective, "objective", Objective)
    _check.matrix(as_host(vectors), "vectors", columns=len(objective.limits))
    if not vectors.shape[0]:
        raise ValueError("vectors must have at least one row; got 0")
    noise = _check.flag(noise, "noise")
    known = {"offset": offset, "noise_var": noise_var, "weights": weights}
    given: Any = {name: each for name, each in known.items() if each is not None}
    pairs = [
        _posterior(objective, vectors, row).predict(Xs, noise=noise, **given)
        for row in range(vectors.shape[0])
    ]
    xp = array_namespace(pairs[0][0])
    means, variances = (xp.stack([pair[k] for pair in pairs]) for k in (0, 1))
    mean = xp.mean(means, axis=0)
    return mean, xp.mean(variances, axis=0) + xp.mean((means - mean) ** 2, axis=0)


def _posterior(objective: Objective[M], vectors: HostMatrix, row: int) -> Posterior:
    """The posterior of a row, which knows the columns of the data by name."""
    found: Posterior = objective.evidence.posterior(_at(objective, vectors, row))
    return named(found, objective.columns, objective.known_columns)


def _at(objective: Objective[M], vectors: HostMatrix, row: int) -> M:
    """The model of a row, or an error that says which row has none."""
    try:
        return objective.at(vectors[row])
    except _check.NoValueError as problem:
        raise _check.NoValueError(f"vectors has no model in row {row}: {problem}") from None
