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
from ...ground.random import RNG, Stream, stream_of
from ...ground.threads import in_one_pool
from ...ground.xp import Matrix, Vector, array_namespace
from ...infer.exact import ExactPosterior
from ...model.gaussian_process import differentiable_mean
from .maximiser import Maximum, Surface, maximise_in_box, validate_effort

__all__ = ["ThompsonSampling", "thompson_sample", "thompson_sample_among"]


@dataclass(frozen=True)
class ThompsonSampling:
    """Thompson sampling: evaluate where a function drawn from an `Optimiser`'s model is largest.

    It stands in the place of an acquisition.

    Parameters
    ----------
    num_features : int, default 1024
        The number of features of a path, as in `thompson_sample`.

    Notes
    -----
    Source: Thompson (1933); for the paths, Wilson et al. (2020).

    Examples
    --------
    >>> from gpnotes import stream
    >>> from gpnotes.decide.bayesopt import Optimiser
    >>> optimiser = Optimiser([(-1.0, 2.0)], acquisition=ThompsonSampling(), rng=stream(1))
    >>> for _ in range(9):
    ...     x = optimiser.ask()
    ...     optimiser.tell(x, (x[0] - 0.5) ** 2)
    >>> bool(abs(optimiser.best.x[0] - 0.5) < 0.1)
    True
    """

    num_features: int = 1024

    def __post_init__(self) -> None:
        object.__setattr__(self, "num_features", validate_pairs(self.num_features))


@in_one_pool
def thompson_sample(
    posterior: ExactPosterior,
    box: Pairs,
    *,
    num_features: int = 1024,
    raw_samples: int = 512,
    num_restarts: int = 10,
    max_steps: int = 100,
    rng: RNG,
) -> Maximum:
    """Find the place in a box where a function drawn from the posterior of f is largest.

    One path of `paths.sample_paths` is drawn and climbed as `maximise_acquisition` climbs an
    acquisition.

    Parameters
    ----------
    posterior : ExactPosterior
        The posterior of f, whose mean function must have a pullback.
    box : d pairs of floats
        The ends (lower, upper) of each input.
    num_features : int, default 1024
        The number R of features of the path, even.
    raw_samples : int, default 512
        The number of points that are looked at first.
    num_restarts : int, default 10
        The number of these, the best, from which a climb starts.
    max_steps : int, default 100
        The most steps of a climb.
    rng : Stream, Generator or int
        Source of the draw and of the points that are looked at first.

    Returns
    -------
    Maximum
        The place, the value of the path there, and all climbs.

    Raises
    ------
    TypeError
        If `posterior` or `rng` is something else, a number is not whole, the mean function has
        no pullback, or the kernel has no features.

    Notes
    -----
    [eq-bo-pathwise]. It takes O(n R + n²) to draw, and O(n + R) for each point and step.

    Source: Thompson (1933); for the paths, Wilson et al. (2020).

    Examples
    --------
    >>> import numpy as np
    >>> from gpnotes import GP, RBF, condition, stream
    >>> X = np.linspace(0.0, 1.0, 9)[:, None]
    >>> posterior = condition(GP(RBF(1.0, 0.3), 1e-6), X, -((X[:, 0] - 0.3) ** 2))
    >>> found = thompson_sample(posterior, [(0.0, 1.0)], rng=stream(1))
    >>> bool(abs(found.x[0] - 0.3) < 0.05)
    True
    """
    _check.instance(posterior, "posterior", ExactPosterior)
    differentiable_mean(posterior.gp)
    ends = intervals(box, "box", posterior.X.shape[1])
    effort = validate_effort(raw_samples, num_restarts, max_steps)
    stream = stream_of(rng)
    path = path_of(posterior, stream, num_features)
    return maximise_in_box(path, posterior.X, ends, stream, effort)


def path_of(posterior: ExactPosterior, stream: Stream, num_features: int) -> Surface:
    """One function drawn from the posterior, as a surface to climb."""
    return _Path(sample_paths(posterior, 1, num_features=num_features, rng=stream))


class _Path(NamedTuple):
    """One path, as a surface to climb."""

    paths: Paths

    def values(self, Xs: Matrix) -> Vector:
        return self.paths._call(Xs)[0, :]

    def values_and_gradient(self, Xs: Matrix) -> tuple[Vector, Matrix]:
        values, pull = self.paths._values_and_pullback(Xs)
        return values[0, :], pull(array_namespace(Xs).ones_like(values))


def thompson_sample_among(
    posterior: ExactPosterior, Xs: Matrix, num_samples: int = 1, *, rng: RNG
) -> Vector:
    """Find the candidate at which each of some functions, drawn jointly at all of them, is largest.

    Parameters
    ----------
    posterior : ExactPosterior
        The posterior of f, given n_X data.
    Xs : Matrix, shape (n*, d)
        The candidates, at least one. Nothing between them is looked at.
    num_samples : int, default 1
        The number of functions.
    rng : Stream, Generator or int
        Source of the draws.

    Returns
    -------
    Vector, shape (num_samples,)
        The row of `Xs` where each function is largest, whole numbers where the posterior is. The
        same row may come more than once.

    Notes
    -----
    [eq-fv-sample]. No features and no approximation, but O(n_X² n* + n*³).

    Source: Thompson (1933).

    Examples
    --------
    >>> import numpy as np
    >>> from gpnotes import GP, RBF, condition, stream
    >>> posterior = condition(GP(RBF(), 1e-6), np.asarray([[0.0], [1.0]]), np.asarray([0.0, 5.0]))
    >>> thompson_sample_among(posterior, np.asarray([[0.0], [1.0]]), 3, rng=stream(1))
    array([1, 1, 1])
    """
    _check.instance(posterior, "posterior", ExactPosterior)
    if _check.matrix(Xs, "Xs", columns=posterior.X.shape[1]).shape[0] == 0:
        raise ValueError(f"Xs must have at least one row; got {tuple(Xs.shape)}")
    num_samples = _check.whole(num_samples, "num_samples", 1)
    return array_namespace(Xs).argmax(posterior.sample(Xs, num_samples, rng=rng), axis=1)
