"""One history of several workers: processes that evaluate one objective at the same time.

Each reads the evaluations and claims of the others before it asks, in its turn, which a lock next
to the file gives to one at a time. The claim of a worker stands in the file before its evaluation.
A worker holds a lock of its own for as long as it lives, which the system opens when it ends: so
the others know that its unfinished places are free again.
"""

from __future__ import annotations

import json
import os
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Generic

from .history import Form, History, Kept, as_line, as_path, put
from .locks import Lock
from .search_region import Place, Region
from .settings import Record

__all__ = ["SharedHistory"]


@dataclass(frozen=True, eq=False)
class Claim(Generic[Place]):
    """A place that a worker has asked for."""

    x: Place
    worker: str


class SharedHistory(History[Place, Kept]):
    """A `History` whose file several processes write to, and the places that they are at.

    Parameters
    ----------
    path : path of a file
        Its place. During work the file of the lock and one of
        each worker are in the same folder.
    head, region, form
        Those of `History`.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        head: Record,
        region: Region[Place],
        form: Form[Kept],
    ) -> None:
        self._beside = as_path(path)
        self._name = uuid.uuid4().hex[:12]
        self._claims: list[Claim[Place]] = []
        self._gone: set[str] = set()
        self._is_closed = False
        self._lock = Lock(f"{self._beside}.lock")
        with self._lock.held():
            super().__init__(path, {**head, "shared": True}, region, form)
            self._life = Lock(self._life_of(self._name), 0.0)
            self._life.take()

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Hold the lock, after reading all that others have written."""
        if self._is_closed:
            raise ValueError(f"path: the search recorded in {self._beside} was closed")
        with self._lock.held():
            with self._beside.open("rb") as file:
                file.seek(self._end)
                data = file.read()
            self._read(self._beside, data)
            yield

    def add(self, evaluation: Kept) -> None:
        """Keep one more, after those of others."""
        with self.turn():
            super().add(evaluation)
            self._told(evaluation, self._name)

    def give_out(
        self,
        q: int,
        budget: float,
        count: Callable[[], int],
        chosen: Callable[[int, list[Place]], list[Place]],
    ) -> list[Place]:
        """Claim so many places for this worker: those another left, then those `chosen`.

        They are fewer where evaluations, `count`, and places under way use up a budget.
        """
        with self.turn():
            # one look at each: a worker may end during this turn
            free_again = [claim for claim in self._claims if self._is_gone(claim.worker)]
            left = free_again[:q]
            new = [claim.x for claim in left]
            under_way = [c.x for c in self._claims if c not in free_again] + new
            free = min(q - len(new), budget - count() - len(under_way))
            fresh = chosen(int(free), under_way) if free > 0 else []
            for claim in left:
                self._claim(claim.x, claim)
            for place in fresh:
                self._claim(place)
        return new + fresh

    def holds(self, place: Place) -> bool:
        """True if this worker has asked for a place that has no result yet."""
        return any(claim.worker == self._name for claim in self._at(place))

    def _claim(self, place: Place, left: Claim[Place] | None = None) -> None:
        """Say in the file that this worker goes to a place, perhaps after one that is gone."""
        after = {} if left is None else {"after": left.worker}
        record = {"asked": self._region.record(place), "by": self._name, **after}
        self._end += put(self._beside, as_line(record))
        self._lines += 1
        self._asked_for(Claim(place, self._name), **after)

    def _at(self, place: Place) -> list[Claim[Place]]:
        """The claims to a place; several where few places are left, or the best is on a side."""
        key = self._region.key(place)
        return [claim for claim in self._claims if self._region.key(claim.x) == key]

    def close(self) -> None:
        """End this worker: its places without a result are free for others."""
        if not self._is_closed:
            self._is_closed = True
            with self._lock.held():  # or another might look at its life while it goes
                self._life.close()
                self._life.path.unlink(missing_ok=True)
            self._lock.close()

    def _life_of(self, worker: str) -> Path:
        return Path(f"{self._beside}.{worker}.worker")

    def _is_gone(self, worker: str) -> bool:
        """True once a worker has released the lock that it holds for as long as it lives."""
        if worker not in self._gone and worker != self._name:
            path = self._life_of(worker)
            if path.exists():
                life = Lock(path, 0.0)
                free = life.take()
                life.close()
                if not free:
                    return False
                path.unlink()
            self._gone.add(worker)
        return worker in self._gone

    def _record(self, evaluation: Kept) -> Record:
        return {**super()._record(evaluation), "by": self._name}

    def _note(self, line: bytes) -> bool:
        """Record a claim, which stands until its place has a result."""
        try:
            record = json.loads(line)
            if "asked" not in record:
                return super()._note(line) and self._told(self.evaluations[-1], record.get("by"))
            claim = Claim(self._region.read(record["asked"]), str(record["by"]))
        except (ValueError, TypeError, KeyError, AttributeError):
            return False
        self._asked_for(claim, record.get("after"))
        return True

    def _asked_for(self, claim: Claim[Place], after: str | None = None) -> None:
        """Take in a claim, in the place of one of a worker that is gone."""
        old = [one for one in self._at(claim.x) if one.worker == after]
        for one in old[:1]:
            self._claims.remove(one)
        self._claims.append(claim)

    def _told(self, evaluation: Kept, by: str | None) -> bool:
        """End the claim of the worker, or else that of another; not if it stopped."""
        if evaluation.failure != "stop":  # which is to be tried again
            here = self._at(evaluation.x)
            own = [claim for claim in here if claim.worker == by]
            for claim in (own or here)[:1]:
                self._claims.remove(claim)
        return True
