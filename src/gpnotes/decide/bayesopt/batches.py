"""Several points at once: what is under way is taken for done, with the value that is expected.

The mean of the model stays as it is, everywhere; its variance shrinks around the points under way
as it will when they are told, since it does not depend on their values. So an acquisition that asks
for variance looks elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from ...ground import check as _check
from ...ground.random import Stream
from ...ground.threads import in_one_pool
from ...ground.xp import HostMatrix, HostVector, Matrix, to_numpy
from ...infer.exact import Posterior
from ...model.contracts import Acquisition
from ...model.kernels import values_at
from .draws import ThompsonSampling, path_of, thompson
from .maximiser import Lattice, Maximum, climbed_on, maximise_acquisition, worth_of

__all__ = ["as_rows", "fantasise"]

AcquisitionOf: TypeAlias = Callable[[float], Acquisition] | ThompsonSampling


def fantasise(posterior: Posterior, x: Matrix) -> Posterior:
    """Condition a posterior on observations at x that equal its own mean there.

    Parameters
    ----------
    posterior : Posterior
        The posterior to extend.
    x : Matrix, shape (m, d)
        The points that are taken for observed.

    Returns
    -------
    Posterior
        One with the same mean at every place, and the variance after any observations at `x`. A
        model without noise that is asked to believe a point twice takes jitter.

    Raises
    ------
    ValueError
        If `x` has another number of columns than the data, or an entry that is not finite.
    TypeError
        If `posterior` is not one of `condition`, or `x` is no array of the kind of the data.
    MemoryError
        If there is no room for the extended Gram matrix.
    FactorisationError
        If the extended Gram matrix cannot be factorised, even with jitter.

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
    _check.instance(posterior, "posterior", Posterior)
    posterior.validate_inputs(_check.matrix(x, "x", columns=posterior.X.shape[1]), "x")
    return posterior.extend(x, posterior.mean(x))


def as_rows(posterior: Posterior, x: Matrix) -> Matrix:
    """Points x (m, d) as inputs of the posterior: with gradients, as rows that see values."""
    return values_at(x) if posterior.gp.kernel.labels_rows else x


@in_one_pool
def chosen(
    posterior: Posterior,
    acquisition: AcquisitionOf,
    seen: HostMatrix,
    under_way: list[HostVector],
    q: int,
    stream: Stream,
    lattice: Lattice | None = None,
) -> list[HostVector]:
    """The next `q` points of the unit cube, in their order, and on the lattice if there is one.

    `seen` (n, d) are the points that were evaluated, `under_way` those that will be. The first q
    points are the same for every larger q.
    """
    if under_way and not isinstance(acquisition, ThompsonSampling):
        posterior = fantasise(posterior, as_rows(posterior, np.stack(under_way)))
    points: list[HostVector] = []
    for number in range(len(under_way), len(under_way) + q):
        own = stream.spawn(str(number)) if number else stream
        places = np.stack([*seen, *under_way, *points])
        if isinstance(acquisition, ThompsonSampling):
            found = _drawn(posterior, acquisition, places, own, lattice)
        else:
            if points:
                posterior = fantasise(posterior, as_rows(posterior, points[-1][None, :]))
            found = _largest(posterior, acquisition, places, own, lattice)
        points.append(np.asarray(to_numpy(found.x), dtype=np.float64))
    return points


def _drawn(
    posterior: Posterior,
    sampling: ThompsonSampling,
    places: HostMatrix,
    stream: Stream,
    lattice: Lattice | None,
) -> Maximum:
    if lattice is None:
        return thompson(posterior, _cube(places), stream, features=sampling.features)
    path = path_of(posterior, stream, sampling.features)
    return climbed_on(path, posterior.X, lattice, places, stream)


def _largest(
    posterior: Posterior,
    acquisition: Callable[[float], Acquisition],
    places: HostMatrix,
    stream: Stream,
    lattice: Lattice | None,
) -> Maximum:
    best = float(np.max(to_numpy(posterior.mean(as_rows(posterior, places)))))
    if lattice is None:
        return maximise_acquisition(posterior, acquisition(best), _cube(places), stream)
    surface = worth_of(posterior, acquisition(best))
    return climbed_on(surface, posterior.X, lattice, places, stream)


def _cube(places: HostMatrix) -> HostMatrix:
    return np.tile([0.0, 1.0], (places.shape[1], 1))
