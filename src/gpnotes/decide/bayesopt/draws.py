"""Thompson sampling: draw a function that may be the objective, and evaluate where it is largest.

A point is chosen as often as it is likely to be the best, and several draws make a batch by
themselves. Over a box the function is a path, which is climbed; among points that are all known it
is a joint draw of its values there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from ...draw.paths import Paths, sample_paths
from ...draw.paths.functions import validate_pairs
from ...ground import check as _check
from ...ground.boxes import Pairs, intervals
from ...ground.random import Stream
from ...ground.threads import in_one_pool
from ...ground.xp import Matrix, Vector, array_namespace
from ...infer.exact import Posterior
from ...model.process import differentiable_mean
from .maximiser import Maximum, climbed, validate_effort

__all__ = ["ThompsonSampling", "thompson", "thompson_among"]


@dataclass(frozen=True)
class ThompsonSampling:
    """Have an `Optimiser` evaluate where a function drawn from its model is largest.

    It stands in the place of an acquisition; `features` is that of `thompson`. Raises `ValueError`
    or `TypeError` for features that are no even number from 2.
    Source: Thompson (1933); for the paths, Wilson et al. (2020).

    >>> from gpnotes import stream
    >>> from gpnotes.decide.bayesopt import Optimiser
    >>> optimiser = Optimiser([(-1.0, 2.0)], stream(1), acquisition=ThompsonSampling())
    >>> for _ in range(9):
    ...     x = optimiser.ask()
    ...     optimiser.tell(x, (x[0] - 0.5) ** 2)
    >>> bool(abs(optimiser.best.x[0] - 0.5) < 0.1)
    True
    """

    features: int = 1024

    def __post_init__(self) -> None:
        object.__setattr__(self, "features", validate_pairs(self.features))


@in_one_pool
def thompson(
    posterior: Posterior,
    box: Pairs,
    stream: Stream,
    *,
    features: int = 1024,
    raw: int = 512,
    starts: int = 10,
    steps: int = 100,
) -> Maximum:
    """The place in `box`, d pairs (lower, upper), where a function drawn from f is largest.

    One path of `paths.sample_paths`, with so many `features`, is drawn and climbed as
    `maximise_acquisition` climbs an acquisition: from the best `starts` of `raw` points, for at
    most `steps` steps. The value is that of the path. O(n R + n²) to draw, O(n + R) for each point
    and step.
    :eq:`eq-bo-pathwise`; raises what `sample_paths` and `maximise_acquisition` raise.
    Source: Thompson (1933); for the paths, Wilson et al. (2020).

    >>> import numpy as np
    >>> from gpnotes import GP, RBF, condition, stream
    >>> X = np.linspace(0.0, 1.0, 9)[:, None]
    >>> posterior = condition(GP(RBF(1.0, 0.3), 1e-6), X, -((X[:, 0] - 0.3) ** 2))
    >>> found = thompson(posterior, [(0.0, 1.0)], stream(1))
    >>> bool(abs(found.x[0] - 0.3) < 0.05)
    True
    """
    _check.instance(posterior, "posterior", Posterior)
    differentiable_mean(posterior.gp)
    ends = intervals(box, "box", posterior.X.shape[1])
    effort = validate_effort(raw, starts, steps)
    path = sample_paths(posterior, 1, stream, features=features)
    return climbed(_Path(path), posterior.X, ends, stream, effort)


class _Path(NamedTuple):
    """One path, as a surface to climb."""

    paths: Paths

    def values(self, Xs: Matrix) -> Vector:
        return self.paths.validated_values(Xs)[0, :]

    def values_and_gradient(self, Xs: Matrix) -> tuple[Vector, Matrix]:
        values = self.paths.validated_values(Xs)
        one = array_namespace(Xs).ones_like(values)
        return values[0, :], self.paths.validated_pull(Xs, one)


def thompson_among(posterior: Posterior, Xs: Matrix, stream: Stream, n: int = 1) -> Vector:
    """Of `n` functions drawn jointly at the candidates Xs (m, d), the row where each is largest.

    Whole numbers, (n,), where the posterior is; the same row may come more than once. No features
    and no approximation, but O(n_X² m + m³), and nothing between the candidates is looked at.
    Raises `ValueError` or `TypeError` for arguments that do not fit, and for no candidates.
    :eq:`eq-fv-sample`. Source: Thompson (1933).

    >>> import numpy as np
    >>> from gpnotes import GP, RBF, condition, stream
    >>> posterior = condition(GP(RBF(), 1e-6), np.asarray([[0.0], [1.0]]), np.asarray([0.0, 5.0]))
    >>> thompson_among(posterior, np.asarray([[0.0], [1.0]]), stream(1), 3)
    array([1, 1, 1])
    """
    _check.instance(posterior, "posterior", Posterior)
    if _check.matrix(Xs, "Xs", columns=posterior.X.shape[1]).shape[0] == 0:
        raise ValueError(f"Xs must have at least one row; got {Xs.shape}")
    n = _check.whole(n, "n", 1)
    return array_namespace(Xs).argmax(posterior.sample(Xs, stream, n), axis=1)
