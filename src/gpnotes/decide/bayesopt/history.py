"""The evaluations of an objective, kept in a file that survives a kill at any moment.

The file has one line of JSON for the problem, and one for each evaluation, which is on the
disk (``fsync``) before the next one is asked for. Numbers are written so that they come back bit by
bit. A kill while a line is written leaves a torn one, which is cut off when the file is opened
again: at most the evaluation under way is lost. One process writes to a file at a time,
and that is not checked; several go by turns, each as the `workers` that it is.
"""

from __future__ import annotations

import copy
import json
import math
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

import numpy as np

from ...ground.xp import HostVector
from .search_region import Place, Region, said
from .settings import Record

__all__ = [
    "FAILURES", "MODELLED", "NUMBERS", "Evaluation", "Form", "History", "Kept", "as_line",
    "as_path", "keep_unchanged", "last_problem", "put", "record_of",
]  # fmt: skip

FAILURES = ("record", "skip", "model", "stop")
MODELLED = ("", "record")  # failures of which the models of values are told


@dataclass(frozen=True, eq=False)
class Evaluation(Generic[Place]):
    """One evaluation of an objective: its value, or the problem that it had.

    Parameters
    ----------
    x : HostVector, shape (d,), or dict
        The place: a vector, or the settings by their names where a `Space` is searched.
    y : float
        The value there, or NaN where there was a problem.
    problem : str
        The problem; empty where there was none.
    failure : str
        The handling of a problem, one of the words of `Optimiser`'s `on_failure`; empty where
        there was none.
    gradient : HostVector, shape (d,), or None
        The derivatives by x, if they were given.
    constraints : HostVector, shape (k,), or None
        The values of the constraints, if they were given; each is met where it is at most zero.
    """

    x: Place
    y: float
    problem: str = ""
    failure: str = ""
    gradient: HostVector | None = None
    constraints: HostVector | None = None

    def __post_init__(self) -> None:
        keep_unchanged(self, "x", "gradient", "constraints")

    @property
    def is_feasible(self) -> bool:
        """True if there is a value, and all constraints are met."""
        return not self.failure and (
            self.constraints is None or bool(np.all(self.constraints <= 0))
        )

    def __repr__(self) -> str:
        """One line."""
        came = f"failed, {self.problem}" if self.failure else f"{self.y:.6g}"
        return f"<Evaluation: {came} at {said(self.x)}>"


def keep_unchanged(evaluation: object, *names: str) -> None:
    """Replace arrays of an evaluation by read-only copies, and dicts by copies."""
    for name in names:
        own = copy.copy(getattr(evaluation, name))
        if isinstance(own, np.ndarray):
            own.flags.writeable = False
        object.__setattr__(evaluation, name, own)


class _Told(Protocol):
    """The parts of an evaluation that a history keeps."""

    @property
    def x(self) -> Any:
        """The place."""

    @property
    def failure(self) -> str:
        """The handling of a problem; empty where there was none."""

    @property
    def problem(self) -> str:
        """The problem; empty where there was none."""


Kept = TypeVar("Kept", bound=_Told)


def last_problem(evaluations: Iterable[_Told]) -> list[str]:
    """A line on the evaluation that failed last; no line where none did."""
    failed = [one for one in evaluations if one.failure]
    return [f"The last that failed: {''.join(one.problem.splitlines()[:1])}" for one in failed[-1:]]


class Form(NamedTuple, Generic[Kept]):
    """The format of evaluations in a file: to a record of JSON and back, None for other records."""

    write: Callable[[Kept, Region[Any]], Record]
    read: Callable[[Record, Region[Any]], Kept | None]


class History(Generic[Place, Kept]):
    """Evaluations in their order, in memory and, if there is a path, in its file.

    Parameters
    ----------
    path : path of a file, or None
        Where to keep them.
    head : dict
        The description of the problem: the first line of the file.
    region : Region
        Where it is searched.
    form : Form
        How an evaluation stands in the file.
    """

    def __init__(
        self,
        path: str | os.PathLike[str] | None,
        head: Record,
        region: Region[Place],
        form: Form[Kept],
    ) -> None:
        self._form = form
        self._path = None if path is None else as_path(path)
        self._head = as_line(head)
        self._region = region
        self.evaluations: list[Kept] = []
        self._end = len(self._head)  # of what was read of the file, in bytes
        self._lines = 1
        if self._path is not None:
            self._open(self._path)

    def add(self, evaluation: Kept) -> None:
        """Keep one more: first in the file, then in memory."""
        if self._path is not None:
            self._end += put(self._path, as_line(self._record(evaluation)))
            self._lines += 1
        self.evaluations.append(evaluation)

    def _record(self, evaluation: Kept) -> Record:
        return self._form.write(evaluation, self._region)

    def _open(self, path: Path) -> None:
        """Read the file, after its end has been mended; a new one gets its first line."""
        data = path.read_bytes() if path.exists() else b""
        if self._head.startswith(data):  # nothing, a torn head, or a head and no more
            _cut(path, 0, self._head)
            _settle(path.parent)
            return
        if not data.startswith(self._head):
            said = data.split(b"\n")[0][:200].decode("utf-8", "replace")
            wanted = f"{path} must hold the history of {self._head.decode().strip()}"
            raise ValueError(f"path: {wanted}; it begins with {said}")
        self._read(path, data[self._end :])

    def _read(self, path: Path, data: bytes) -> None:
        """Read the rest of the file; a last line that is torn is cut off."""
        *lines, tail = data.split(b"\n")
        for number, line in enumerate(lines, self._lines + 1):
            if not self._note(line):
                wanted = f"an evaluation {self._region.where}"
                raise ValueError(f"path: line {number} of {path} must be {wanted}; got {line!r}")
        self._lines += len(lines)
        self._end += len(data) - len(tail)
        if tail:
            whole = tail + b"\n" if self._note(tail) else b""
            _cut(path, self._end, whole)
            self._lines += bool(whole)
            self._end += len(whole)

    def _note(self, line: bytes) -> bool:
        """Take in a line; False for one that is torn or something else."""
        evaluation = self._evaluation(line)
        if evaluation is not None:
            self.evaluations.append(evaluation)
        return evaluation is not None

    def _evaluation(self, line: bytes) -> Kept | None:
        """The evaluation that a line holds, or None where it is torn or something else."""
        try:
            return self._form.read(json.loads(line), self._region)
        except (ValueError, TypeError, KeyError, AttributeError):
            return None


def as_path(path: str | os.PathLike[str]) -> Path:
    """Return a user's path, or raise."""
    if not isinstance(path, str | os.PathLike):
        raise TypeError(f"path must be a path of a file; got {type(path).__name__}")
    return Path(path)


def as_line(content: Record) -> bytes:
    """A line of the file."""
    return (json.dumps(content, allow_nan=False) + "\n").encode()


def record_of(evaluation: Evaluation[Place], region: Region[Place]) -> Record:
    """An evaluation in JSON."""
    x = region.record(evaluation.x)
    if not evaluation.failure:
        slope = evaluation.gradient
        told = {"gradient": slope, "constraints": evaluation.constraints}
        more = {name: values.tolist() for name, values in told.items() if values is not None}
        return {"x": x, "y": evaluation.y, **more}
    return {"x": x, "y": None, "problem": evaluation.problem, "failure": evaluation.failure}


def _read(record: Record, region: Region[Place]) -> Evaluation[Place] | None:
    """The evaluation that a record holds, or None where it cannot have been one."""
    x = region.read(record["x"])
    y = math.nan if record["y"] is None else float(record["y"])
    words = record.get("problem", ""), record.get("failure", "")
    slope = record.get("gradient")
    gradient = None if slope is None else np.asarray(slope, dtype=np.float64)
    met = record.get("constraints")
    values = None if met is None else np.asarray(met, dtype=np.float64)
    evaluation = Evaluation(x, y, *words, gradient, values)
    return evaluation if _is_sound(evaluation, region.columns) else None


NUMBERS: Form[Evaluation[Any]] = Form(record_of, _read)


def _is_sound(evaluation: Evaluation[Place], d: int) -> bool:
    """True for a possible evaluation: with a value, or a failure."""
    failed = evaluation.failure in FAILURES and math.isnan(evaluation.y)
    valued = not evaluation.failure and math.isfinite(evaluation.y)
    slope = evaluation.gradient
    fits = slope is None or (slope.shape == (d,) and bool(np.all(np.isfinite(slope))))
    met = evaluation.constraints
    told = met is None or (met.ndim == 1 and bool(np.all(np.isfinite(met))))
    return fits and told and (failed or valued)


def put(path: Path, line: bytes) -> int:
    """Put a line on the disk, or leave the file as it was: half of one would spoil the next."""
    with path.open("ab", buffering=0) as file:
        length = file.seek(0, os.SEEK_END)
        try:
            left = line
            while left:  # a full disk takes a part first, and says so at the next one
                left = left[file.write(left) :]
            os.fsync(file.fileno())
        except BaseException:
            file.truncate(length)
            raise
    return len(line)


def _cut(path: Path, length: int, then: bytes) -> None:
    """Keep so many bytes of a file, made if it is not there, and write others behind them."""
    with path.open("r+b" if path.exists() else "wb") as file:
        file.truncate(length)
        file.seek(length)
        file.write(then)
        file.flush()
        os.fsync(file.fileno())


def _settle(folder: Path) -> None:
    """See to it that a new file is in its folder after a loss of power, where a system can."""
    if os.name == "posix":
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
