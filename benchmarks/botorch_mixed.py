"""BoTorch on spaces of mixed inputs: `MixedSingleTaskGP`, and log-EI climbed by turns.

Reals are in [0, 1] on their scale, whole numbers are equal steps there, and a category is its
number. All is as BoTorch has it by default, the noise inferred.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from gpnotes.decide.bayesopt import Categorical, Fixed, Integer, Space

Point = dict[str, Any]


class Columns:
    """The inputs that are searched, and what each number of a column stands for."""

    def __init__(self, space: Space) -> None:
        self.space = space
        self.names = [n for n, dim in space.dimensions.items() if not isinstance(dim, Fixed)]
        self.categories: dict[int, list[float]] = {}
        self.steps: dict[int, list[float]] = {}
        for i, name in enumerate(self.names):
            dim = space.dimensions[name]
            if isinstance(dim, Categorical):
                self.categories[i] = [float(k) for k in range(len(dim.choices))]
            elif isinstance(dim, Integer):
                self.steps[i] = [_unit(dim, k) for k in range(dim.lower, dim.upper + 1)]

    def bounds(self) -> list[list[float]]:
        """The least and the largest number of each column."""
        ends = [self.categories.get(i, [1.0])[-1] for i in range(len(self.names))]
        return [[0.0] * len(ends), ends]

    def rounded(self, row: np.ndarray) -> np.ndarray:
        """The nearest row that stands for a point."""
        row = row.copy()
        for i, allowed in (self.categories | self.steps).items():
            row[i] = min(allowed, key=lambda value, at=row[i]: abs(value - at))
        return row

    def point(self, row: np.ndarray) -> Point:
        """What the objective is asked for."""
        found: Point = {}
        for name, dim in self.space.dimensions.items():
            if isinstance(dim, Fixed):
                found[name] = dim.value
                continue
            i = self.names.index(name)
            if isinstance(dim, Categorical):
                found[name] = dim.choices[int(row[i])]
            elif isinstance(dim, Integer):
                found[name] = dim.lower + self.steps[i].index(row[i])
            else:
                low, high = (math.log(e) if dim.log else e for e in (dim.lower, dim.upper))
                value = low + float(row[i]) * (high - low)
                found[name] = math.exp(value) if dim.log else value
        return found


def _unit(dim: Integer, value: int) -> float:
    of = math.log if dim.log else float
    return (of(value) - of(dim.lower)) / (of(dim.upper) - of(dim.lower))


def search(
    space: Space, objective: Callable[[Point], float], budget: int, seed: int, first: int
) -> list[float]:
    """All values in their order: `first` points of a scrambled Sobol sequence, then BoTorch's."""
    import torch
    from botorch.acquisition import LogExpectedImprovement
    from botorch.fit import fit_gpytorch_mll
    from botorch.models import MixedSingleTaskGP
    from botorch.optim import optimize_acqf_mixed_alternating
    from gpytorch.mlls import ExactMarginalLogLikelihood

    torch.manual_seed(seed)
    torch.set_num_threads(1)
    columns = Columns(space)
    bounds = torch.tensor(columns.bounds(), dtype=torch.double)
    sobol = torch.quasirandom.SobolEngine(bounds.shape[1], scramble=True, seed=seed)
    wide = (bounds[1] > 1).to(torch.double)  # of as many numbers each has an equal part
    units = sobol.draw(first, dtype=torch.double) * (bounds[1] + wide) - 0.5 * wide
    rows = [columns.rounded(row) for row in units.numpy()]
    values = [objective(columns.point(row)) for row in rows]
    while len(values) < budget:
        X = torch.as_tensor(np.stack(rows))
        y = -torch.as_tensor(values, dtype=torch.double)[:, None]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of fits that are tried again
            model = MixedSingleTaskGP(X, y, cat_dims=list(columns.categories))
            fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
            best = model.posterior(X).mean.max().detach()
            found, _ = optimize_acqf_mixed_alternating(
                LogExpectedImprovement(model, best_f=best),
                bounds,
                discrete_dims=columns.steps,
                cat_dims=columns.categories,
            )
        rows.append(columns.rounded(found[0].numpy()))
        values.append(objective(columns.point(rows[-1])))
    return values
