"""The course of a search: its evaluations, the places asked for, and other workers on it."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Generic, cast

from ...ground import check as _check
from ...ground import memory
from ...ground.random import Stream
from ...ground.xp import HostMatrix
from ...infer.exact import ExactPosterior
from .history import Form, History, Kept
from .options import Places
from .repeats import (
    Elsewhere,
    Repeats,
    has_no_noise,
    is_countable,
    repeats_of,
    unseen_point,
)
from .search_region import Place, Region, fresh_places
from .settings import Record
from .workers import SharedHistory

__all__ = ["Course", "first_points"]

_BLIND = 10  # first points at most: a model of ten is worth more than further ones by chance


class Course(Generic[Place, Kept]):
    """The evaluations of a search in their order, and the places that are asked for.

    Parameters
    ----------
    region : Region
        Where one searches.
    path : path of a file, or None
        Where evaluations are kept.
    shared : bool
        Whether other workers write to the file too.
    head : dict
        The description of the problem: the first line of the file.
    form : Form
        How evaluations stand in the file.
    known : sequence of evaluations
        Those that were made elsewhere, which stand first.
    chosen : callable
        So many next places, while others are under way; fewer where nothing is left to ask.
    """

    def __init__(
        self,
        region: Region[Place],
        path: str | os.PathLike[str] | None,
        shared: bool,
        head: Record,
        form: Form[Kept],
        known: Sequence[Kept],
        chosen: Callable[[int, list[Place]], list[Place]],
    ) -> None:
        self._region = region
        self._known = tuple(known)
        self._chosen = chosen
        self._asked: list[Place] = []
        self._shown: list[Kept] = []
        self._workers: SharedHistory[Place, Kept] | None = None
        if _check.flag(shared, "shared"):
            if path is None:
                raise ValueError("path must be that of a file where shared is True; got None")
            self._workers = SharedHistory(path, head, region, form)
        self._history = self._workers or History(path, head, region, form)

    @property
    def evaluations(self) -> tuple[Kept, ...]:
        """All evaluations, those made elsewhere first; who changes one changes no search."""
        new = self._own()[len(self._shown) :]
        self._shown += [replace(cast("Any", one)) for one in new]
        return tuple(self._shown)

    def _own(self) -> list[Kept]:
        return [*self._known, *self._history.evaluations]

    def counted(self) -> list[Kept]:
        """Those that did not stop the search."""
        return [evaluation for evaluation in self._own() if evaluation.failure != "stop"]

    @property
    def count(self) -> int:
        """The number of these that were made here."""
        return len(self.counted()) - len(self._known)

    def without_model(
        self, q: int, pending: list[Place], first: tuple[int, list[Place]], stream: Stream
    ) -> list[Place]:
        """Return those of the next `q` places for which no model is asked: `first_points` first.

        After a skip it is one, since to a model that place looks as it did before. Where settings
        are few, and the sequence has no other, they are fewer, but for those that are left while
        nothing has a value.
        """
        counted, (num_initial, initial_points) = self.counted(), first
        taken = [*(evaluation.x for evaluation in counted), *pending]
        places = _initial_left(self._region, initial_points, taken)[:q]
        step = len(counted)
        early = step < num_initial or all(evaluation.failure for evaluation in counted)
        blind = q if early else int(counted[-1].failure == "skip")
        if len(places) < blind:
            missing = blind - len(places)
            places += fresh_places(self._region, missing, step, [*taken, *places], stream)
        while len(places) < q and all(evaluation.failure for evaluation in counted):
            units = self._region.units([*taken, *places])
            point = unseen_point(self._region, units, stream)
            on_way = [*pending, *places]
            if point is not None:
                places += self._region.places(point[None, :])
            elif on_way:  # whose readings are not known to repeat
                places.append(on_way[len(places) % len(on_way)])
            else:
                break
        return places

    def repeats(self) -> Repeats:
        """The number of readings of places that had one, the same or different."""
        return repeats_of(self.counted())

    def elsewhere(
        self,
        pending: Sequence[Place],
        stream: Stream,
        models: Callable[[], Sequence[ExactPosterior]],
    ) -> Elsewhere | None:
        """Return the finder of another place for a taken one; None where readings have noise."""
        repeats = self.repeats()
        if not has_no_noise(repeats, models):
            return None
        seen = [one.x for one in self.counted()]
        keys = {self._region.key(place) for place in seen}
        is_probed = bool(repeats.same) or any(self._region.key(one) in keys for one in pending)
        taken = self._region.units([*seen, *pending])
        return Elsewhere(self._region, taken, stream, is_probed)

    def is_used_up(self, stream: Stream, models: Callable[[], Sequence[ExactPosterior]]) -> bool:
        """True if all settings of a space were evaluated, and one twice to the same end."""
        counted = self.counted()
        if not is_countable(self._region):
            return False
        units = self._region.units([one.x for one in counted])
        if unseen_point(self._region, units, stream) is not None:
            return False
        repeats = self.repeats()
        failed = all(evaluation.failure for evaluation in counted)
        return failed or (repeats.same > 0 and has_no_noise(repeats, models))

    def ask_batch(self, q: int, pending: Places | None) -> list[Any] | HostMatrix:
        """The next `q` places together, while others are `pending`."""
        q = memory.count(q, "q", each=self._region.columns)
        places = None if pending is None else self._region.all_validated(pending, "pending")
        return self._region.together(self._batch(q, places))

    def ask_within(self, budget: int) -> Place | None:
        """Return the next place, or None where a budget is spent or given out."""
        places = self._within(_check.whole(budget, "budget", 1))
        return cast(Place, self._region.together(places)[0]) if places else None

    def _batch(self, q: int, pending: list[Place] | None) -> list[Place]:
        """Return the next `q` places; the same again until a result comes."""
        if self._workers is not None:
            if pending is not None:
                raise ValueError("pending must be None where shared is True: the file has it")
            return self._filled(self._claimed(self._workers, q), q)
        if pending is not None:
            return self._filled(self._chosen(q, pending), q)
        if len(self._asked) < q:
            self._asked = self._chosen(q, [])
        return self._filled(self._asked[:q], q)

    def _filled(self, places: list[Place], q: int) -> list[Place]:
        """Return `q` places: where nothing is left to ask, places repeat."""
        known = [*places, *(one.x for one in self.counted())]
        return [*places, *(known[i % len(known)] for i in range(q - len(places)))]

    def _within(self, budget: int) -> list[Place]:
        if self._workers is None:
            if not self._asked and self.count < budget:
                self._asked = self._chosen(1, [])
            return self._asked[:1] if self.count < budget else []
        return self._claimed(self._workers, 1, budget)

    def _claimed(
        self, workers: SharedHistory[Place, Kept], q: int, budget: float = math.inf
    ) -> list[Place]:
        """The next `q` places that no other worker is at; fewer where the budget is given out."""
        missing = q - len(self._asked)
        if missing > 0:
            self._asked += workers.give_out(missing, budget, lambda: self.count, self._chosen)
        return self._asked[:q]

    def keep(self, evaluation: Kept) -> None:
        """Keep one more evaluation, and forget the places asked for."""
        self._history.add(evaluation)
        shared = self._workers if evaluation.failure == "stop" else None
        # what stopped a shared search is still this worker's to evaluate: it is asked for again
        asked_again = shared is not None and shared.holds(evaluation.x)
        self._asked = [evaluation.x] if asked_again else []

    def close(self) -> None:
        """End the work on a shared file."""
        if self._workers is not None:
            self._workers.close()


def first_points(
    region: Region[Place], num_initial: int | None, initial_points: Places | None
) -> tuple[int, list[Place]]:
    """Return the number of points before a model is asked, and those of them that were given."""
    given = min(2 * (region.columns + 1), _BLIND) if num_initial is None else num_initial
    count = _check.whole(given, "num_initial", 1)
    if initial_points is None:
        return count, []
    return count, region.all_validated(initial_points, "initial_points")


def _initial_left(
    region: Region[Place], initial_points: list[Place], taken: list[Place]
) -> list[Place]:
    """Those of the points to begin with that are not taken."""
    keys = {region.key(place) for place in taken}
    return [place for place in initial_points if region.key(place) not in keys]
