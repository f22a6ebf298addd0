"""Places that were evaluated before: when a reading there would tell nothing, and where to go then.

A search without noise that has found its best place, a corner say, holds that for the most
promising one again. A reading there is known beforehand. So where readings have no noise the next
place is another one, and a space whose settings are all known has nothing left to ask.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from ...ground.random import Stream
from ...ground.xp import HostMatrix, HostVector, to_numpy
from ...infer.exact import ExactPosterior
from .search_region import Place, Region, key_of_place, spread_over

__all__ = [
    "Elsewhere", "Repeats", "are_apart", "has_no_noise", "is_countable", "lines_on_repeats",
    "repeats_of", "unseen_point",
]  # fmt: skip

_SAME = 1e-6  # of the range of each input: what is closer counts as one place
_NO_NOISE = 1e-2  # of the variance of the values; fits of values without noise stay below
_ENOUGH = 2  # repeats without a difference, where the model takes some of the values for noise
_COUNTED = 2**16  # settings that are looked at one by one, to see whether one is left
_TRIED = 16  # points of the sequence for each setting that is taken


class Repeats(NamedTuple):
    """The numbers of readings at places that had one before: with the same value, and with another.

    `places` is how many evaluations, failures included, were of places evaluated before; `failed`
    how many of them failed where all before had failed, too.
    """

    equal: int = 0
    unequal: int = 0
    places: int = 0
    failed: int = 0

    @property
    def same(self) -> int:
        """How many came to the same end as before."""
        return self.equal + self.failed


def repeats_of(evaluations: Iterable[Any]) -> Repeats:
    """Count the readings that came again, of evaluations of one objective or several."""
    first: dict[Hashable, list[float] | None] = {}
    equal = unequal = places = failed = 0
    for one in evaluations:
        if one.failure == "stop":  # which is tried again
            continue
        place = key_of_place(one.x)
        known = place in first
        places += known
        before = first.setdefault(place, None)
        if one.failure:
            failed += known and before is None
            continue
        reading = [*np.atleast_1d(one.y), *([] if one.constraints is None else one.constraints)]
        if before is None:
            first[place] = reading
        else:
            equal += reading == before
            unequal += reading != before
    return Repeats(equal, unequal, places, failed)


def has_no_noise(repeats: Repeats, models: Callable[[], Sequence[ExactPosterior]]) -> bool:
    """True where readings repeat: their noise is far less than their differences.

    One reading that came out otherwise settles it; two that came out the same do, too. Else the
    models say: of values of deviation one, their noise must have a deviation of at most a tenth.
    """
    if repeats.unequal:
        return False
    if repeats.equal >= _ENOUGH:
        return True
    return max(_noise_of(one) for one in models()) <= _NO_NOISE


def _noise_of(posterior: ExactPosterior) -> float:
    """The largest variance of the noise of its readings."""
    noise = posterior.reading_noise.variance
    return float(noise) if isinstance(noise, float | int) else float(np.max(to_numpy(noise)))


def are_apart(points: HostMatrix, places: HostMatrix) -> HostVector:
    """Tell which points (m, d) of the unit cube are none of the places (n, d), (m,)."""
    gaps = [np.min(np.max(np.abs(places - point), axis=1), initial=np.inf) for point in points]
    return np.asarray(gaps) > _SAME


def is_countable(region: Region[Place]) -> bool:
    """True where there are so few settings that all can be looked at."""
    lattice = region.lattice
    return lattice is not None and lattice.count is not None and lattice.count <= _COUNTED


def unseen_point(region: Region[Place], places: HostMatrix, stream: Stream) -> HostVector | None:
    """Return a point of the cube that is none of the places (n, d): the sequence's next, or None.

    Where settings can be counted, None says that none is left.
    """
    lattice, room = region.lattice, region.room
    many = 1 + len(places)
    count = len(places) + many * (1 if lattice is None else _TRIED)
    points = spread_over(region, count, stream.spawn("unseen"))[len(places) :]
    if lattice is not None:
        points = lattice.snapped(points)
    left = points[are_apart(points, places)]
    if not len(left) and lattice is not None and is_countable(region):
        every = lattice.settings()
        every = every if room is None else every[room.holds(every)]
        left = every[are_apart(every, places)]
    return left[0] if len(left) else None


class Elsewhere:
    """The finder of another point for one that is taken.

    Parameters
    ----------
    region : Region
        Where one searches.
    taken : HostMatrix, shape (n, d)
        The points that were evaluated, or are under way.
    stream : Stream
        Source of the sequence.
    is_probed : bool
        True if a reading was repeated before. Where all settings are taken, and none was, one may
        be asked for again: whether readings repeat is worth one evaluation, since a model of few
        may not see their noise.
    """

    def __init__(
        self, region: Region[Place], taken: HostMatrix, stream: Stream, is_probed: bool
    ) -> None:
        self._region = region
        self._taken = taken
        self._stream = stream
        self._is_probed = is_probed

    def first_of(self, points: HostMatrix, chosen: list[HostVector]) -> HostVector | None:
        """Return the first of some points (k, d), best first, that is not taken nor `chosen`.

        If all are, it is the sequence's next, and None where no setting is left.
        """
        taken = np.stack([*self._taken, *chosen])
        left = points[are_apart(points, taken)]
        if len(left):
            return left[0]
        found = unseen_point(self._region, taken, self._stream)
        if found is not None or (self._is_probed and is_countable(self._region)):
            return found
        self._is_probed = True
        return points[0]


class WithRepeats(Protocol):
    """The parts of an outcome that tell of repeats."""

    @property
    def repeated(self) -> int:
        """The number of evaluations of places evaluated before."""

    @property
    def used_up(self) -> bool:
        """True if all settings are known."""


def lines_on_repeats(outcome: WithRepeats) -> list[str]:
    """Lines of an outcome: that places came again, and that a space was used up."""
    many = outcome.repeated
    said = "1 was of a place" if many == 1 else f"{many} were of places"
    ended = "All settings of the space are known: the search ended"
    return [*([f"{said} evaluated before"] if many else []), *([ended] if outcome.used_up else [])]
