"""Several points at once: points under way count as evaluated, with their expected values.

The mean of the model stays as it is, everywhere; its variance shrinks around the points under way
as it will when they are told, since it does not depend on their values. So an acquisition that asks
for variance looks elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np

from ...ground import check as _check
from ...ground.random import Stream
from ...ground.threads import in_one_pool
from ...ground.xp import (
    HostMatrix,
    HostVector,
    Matrix,
    array_namespace,
    as_array,
    to_numpy,
)
from ...infer.exact import ExactPosterior
from ...model.contracts import Acquisition
from ...model.kernels import values_at
from .acquisition import LogDeviation
from .batch_improvement import BatchExpectedImprovement, batch_gain
from .maximiser import (
    Lattice,
    Maximum,
    Room,
    Surface,
    SurfaceSum,
    acquisition_surface,
    maximise_in_room,
    maximise_on_lattice,
)
from .noisy_improvement import NoisyExpectedImprovement, noisy_gain
from .repeats import Elsewhere
from .thompson_sampling import ThompsonSampling, path_of

__all__ = ["Aims", "as_rows", "choose_batch", "fantasise", "next_point", "with_failures"]

AcquisitionOf: TypeAlias = (
    Callable[[float], Acquisition]
    | ThompsonSampling
    | BatchExpectedImprovement
    | NoisyExpectedImprovement
)


def fantasise(posterior: ExactPosterior, x: Matrix) -> ExactPosterior:
    """Condition a posterior on observations at x that equal its own mean there.

    Parameters
    ----------
    posterior : ExactPosterior
        The posterior to extend.
    x : Matrix, shape (m, d)
        The points that are taken for observed.

    Returns
    -------
    ExactPosterior
        One with the same mean at every place, and the variance after any observations at `x`. A
        model without noise that is asked to believe a point twice takes jitter.

    Notes
    -----
    This is the *kriging believer*, of the family of *constant liars*. It costs O(n² m).

    Source: Ginsbourger, Le Riche & Carraro (2010).

    Examples
    --------
    >>> import numpy as np
    >>> from gpnotes import GP, RBF, condition
    >>> posterior = condition(GP(RBF(), 0.0), np.zeros((1, 1)), np.ones(1))
    >>> believed = fantasise(posterior, np.ones((1, 1)))
    >>> [p.predict(np.ones((1, 1)))[0].round(4) for p in (posterior, believed)]
    [array([0.6065]), array([0.6065])]
    >>> [p.variance(np.full((1, 1), 2.0)).round(2) for p in (posterior, believed)]
    [array([0.98]), array([0.55])]
    """
    _check.instance(posterior, "posterior", ExactPosterior)
    posterior.validate_inputs(_check.matrix(x, "x", columns=posterior.X.shape[1]), "x")
    return posterior.extend(x, posterior.mean(x))


def as_rows(posterior: ExactPosterior, x: Matrix) -> Matrix:
    """Points x (m, d) as inputs of the posterior: with gradients, as rows that see values."""
    return values_at(x) if posterior.gp.kernel.labels_rows else x


def fantasise_failures(
    posterior: ExactPosterior, seen: HostMatrix, x: HostMatrix
) -> ExactPosterior:
    """Condition a posterior on values at x that are no better than its best mean at `seen` points.

    Where an objective failed it has no value to look for, however good one the model expects: with
    `fantasise` the search would come back for it as long as failures there are not certain.
    """
    rows = as_rows(posterior, as_array(x, posterior.X))
    mean = posterior.mean(rows)
    best = float(np.max(to_numpy(posterior.mean(as_rows(posterior, as_array(seen, posterior.X))))))
    return posterior.extend(rows, array_namespace(mean).clip(mean, None, best))


def with_failures(
    posterior: ExactPosterior, seen: HostMatrix, units: HostMatrix, failures: Sequence[str]
) -> ExactPosterior:
    """Return a model's belief after `seen` points about failures at some of all `units`.

    A skipped point gets its own mean, and a modelled one nothing better than the best.
    """
    skipped, hopeless = (units[[one == word for one in failures]] for word in ("skip", "model"))
    if len(skipped):
        posterior = fantasise(posterior, as_rows(posterior, as_array(skipped, posterior.X)))
    if len(hopeless):
        posterior = fantasise_failures(posterior, seen, hopeless)
    return posterior


class Aims(NamedTuple):
    """The region of the next points, and all else that decides their worth.

    Parameters
    ----------
    lattice : Lattice or None
        The settings that there are, where not every point is one.
    room : Room or None
        The part of the cube that linear constraints leave.
    odds : tuple of Surface
        Logarithms of the probabilities that an evaluation counts, which weigh its worth.
    good : HostMatrix, shape (m, d), or None
        The points whose evaluations count, from which the best one is; None if all do.
    near : HostMatrix, shape (k, d), or None
        Points to look at besides those that are spread over all there is.
    elsewhere : Elsewhere or None
        The finder of another point for one that is taken; None if a point may come again.
    """

    lattice: Lattice | None = None
    room: Room | None = None
    odds: tuple[Surface, ...] = ()
    good: HostMatrix | None = None
    near: HostMatrix | None = None
    elsewhere: Elsewhere | None = None

    def good_among(self, places: HostMatrix) -> HostMatrix:
        """Return the points from which the best one is: the good ones, or all of some places."""
        return places if self.good is None else self.good


@in_one_pool
def choose_batch(
    posterior: ExactPosterior,
    acquisition: AcquisitionOf,
    seen: HostMatrix,
    under_way: list[HostVector],
    q: int,
    stream: Stream,
    aims: Aims,
) -> list[HostVector]:
    """The next `q` points of the unit cube, in their order, as the `aims` let them be.

    `seen` (n, d) are the points that were evaluated, `under_way` those that will be. The first q
    points are the same for every larger q. They are fewer where no other point is left.
    """
    if isinstance(acquisition, BatchExpectedImprovement):
        return _choose_jointly(posterior, acquisition, seen, under_way, q, stream, aims)
    if isinstance(acquisition, NoisyExpectedImprovement) and not len(aims.good_among(seen)):
        acquisition = acquisition.__call__  # nothing to improve on yet
    draws = isinstance(acquisition, ThompsonSampling | NoisyExpectedImprovement)
    if under_way and not draws:
        posterior = fantasise(posterior, as_rows(posterior, np.stack(under_way)))
    points: list[HostVector] = []
    for number in range(len(under_way), len(under_way) + q):
        substream = stream.spawn(str(number)) if number else stream
        places = np.stack([*seen, *under_way, *points])
        if isinstance(acquisition, ThompsonSampling):
            surface: Surface = path_of(posterior, substream, acquisition.num_features)
        elif isinstance(acquisition, NoisyExpectedImprovement):
            surface = _noisy_worth(posterior, acquisition, places, aims, substream)
        else:
            if points:
                posterior = fantasise(posterior, as_rows(posterior, points[-1][None, :]))
            surface = _worth(posterior, acquisition, places, aims, number == 0)
        point = next_point(surface, posterior, places, points, substream, aims)
        if point is None:
            break
        points.append(point)
    return points


def _choose_jointly(
    posterior: ExactPosterior,
    joint: BatchExpectedImprovement,
    seen: HostMatrix,
    under_way: list[HostVector],
    q: int,
    stream: Stream,
    aims: Aims,
) -> list[HostVector]:
    """Points that add most to those before, by the same draws; the first by its closed form."""
    feasible = aims.good_among(seen)
    if not len(feasible):  # nothing to improve on yet
        return choose_batch(posterior, joint.__call__, seen, under_way, q, stream, aims)
    best = float(np.max(to_numpy(posterior.mean(as_array(feasible, posterior.X)))))
    paths = joint.drawn(posterior, stream.spawn("draws"))
    points: list[HostVector] = []
    for number in range(len(under_way), len(under_way) + q):
        substream = stream.spawn(str(number)) if number else stream
        before = [*under_way, *points]
        parts: tuple[Surface, ...] = (acquisition_surface(posterior, joint(best)), *aims.odds)
        if before:
            parts = (*parts, batch_gain(paths, as_array(np.stack(before), posterior.X), best))
        surface = SurfaceSum(parts) if len(parts) > 1 else parts[0]
        places = np.stack([*seen, *before])
        point = next_point(surface, posterior, places, points, substream, aims)
        if point is None:
            break
        points.append(point)
    return points


def _worth(
    posterior: ExactPosterior,
    acquisition: Callable[[float], Acquisition],
    places: HostMatrix,
    aims: Aims,
    alone: bool,
) -> Surface:
    """Return the worth of an evaluation, weighed by its probability to count."""
    feasible = aims.good_among(places)
    parts = aims.odds
    if len(feasible):
        best = float(np.max(to_numpy(posterior.mean(as_rows(posterior, feasible)))))
        parts = (acquisition_surface(posterior, acquisition(best)), *parts)
    elif not alone:  # what is likeliest to count is under way already: apart from that
        parts = (acquisition_surface(posterior, LogDeviation()), *parts)
    return SurfaceSum(parts) if len(parts) > 1 else parts[0]


def _noisy_worth(
    posterior: ExactPosterior,
    acquisition: NoisyExpectedImprovement,
    places: HostMatrix,
    aims: Aims,
    stream: Stream,
) -> Surface:
    """Return the same where the best height is drawn."""
    good = aims.good_among(places)
    heights = acquisition.num_samples, stream.spawn("heights")
    parts = noisy_gain(posterior, places, good, *heights), *aims.odds
    return SurfaceSum(parts) if len(parts) > 1 else parts[0]


def next_point(
    surface: Surface,
    posterior: ExactPosterior,
    places: HostMatrix,
    chosen: list[HostVector],
    stream: Stream,
    aims: Aims,
) -> HostVector | None:
    """Where a surface is largest; elsewhere, if that is taken, or was `chosen` just before.

    Where it has to be elsewhere, it is the next best place to which a climb led that is not, or if
    all are, that of `Elsewhere`.
    """
    found = _maximise_surface(surface, posterior, places, stream, aims)
    if aims.elsewhere is None:
        return np.asarray(to_numpy(found.x), dtype=np.float64)
    ends = np.stack([to_numpy(climb.x) for climb in found.local_maxima]).astype(np.float64)
    return aims.elsewhere.first_of(ends, chosen)


def _maximise_surface(
    surface: Surface, posterior: ExactPosterior, places: HostMatrix, stream: Stream, aims: Aims
) -> Maximum:
    """Where a surface is largest in the cube, in the room, on the lattice."""
    like = posterior.X
    if aims.lattice is None:
        return maximise_in_room(surface, like, places.shape[1], stream, aims.room, aims.near)
    return maximise_on_lattice(surface, like, aims.lattice, places, stream, aims.room, aims.near)
