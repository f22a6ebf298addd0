"""Chains from a target and a sampler: warm-up, blocks of draws, a file to go on from."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..ground import check as _check
from ..ground import files, memory
from ..ground.caller_warnings import warn_caller
from ..ground.interrupts import kept_interrupts, warn_of
from ..ground.jobs import Jobs, checked_jobs, mapper_of
from ..ground.params import Parameters
from ..ground.random import RNG, Stream, stream_of
from ..ground.threads import in_one_pool
from ..ground.xp import (
    Array,
    HostVector,
    Matrix,
    Vector,
    as_array,
    epsilon,
    to_numpy,
)
from ..infer.objective import Objective
from ..infer.progress import Bar, bar_of
from ..model.contracts import missing
from .chain_logs import BLOCK, ROWS, ChainLog, MemoryLog, Parts, TrailLog, parts_of, rows_of
from .chains import Chains, ChainWarning
from .elliptical_slice import EllipticalSlice
from .hyperparameter_target import HyperparameterDensity
from .states import Sampler, Step
from .targets import Target, start_at
from .warmup import WarmUp

__all__ = ["sample"]

_MASS_MATRICES = ("none", "diagonal", "dense")
Callback = Callable[[int, int], object]


@in_one_pool
def sample(
    target: Any,
    sampler: Sampler,
    start: Vector | Matrix | None = None,
    *,
    num_chains: int = 4,
    num_samples: int = 1000,
    num_warmup: int = 1000,
    mass_matrix: str = "diagonal",
    file: str | os.PathLike[str] | None = None,
    callback: Callback | None = None,
    progress: bool = False,
    jobs: Jobs = 1,
    rng: RNG,
) -> Chains:
    """Run chains on a log density.

    Parameters
    ----------
    target : callable or Objective
        The log density of a vector (d,) up to a constant, with its gradient where the sampler asks
        for it; for `EllipticalSlice` the log likelihood; for `SGLD` a `MinibatchDensity`. Or the
        objective of a fit, `objective.objective_of`: its hyperparameters are sampled, by the vector
        that `Objective.at` takes, and each needs a prior.
    sampler : Sampler
        `RandomWalkMetropolis`, `MALA`, `ULA`, `SGLD`, `HMC`, `NUTS`,
        `EllipticalSlice`, or another with `target_acceptance`, `init` and `step`.
    start : Vector, shape (d,), Matrix, shape (num_chains, d), or None
        Where the chains start. R-hat says most where the starts lie further apart than the draws.
        None for an objective: around the parameters of its model, moved by half their units.
    num_chains : int, default 4
        How many chains.
    num_samples : int, default 1000
        How many draws of each, after the warm-up.
    num_warmup : int, default 1000
        How many steps of each come before, in which step size and mass matrix are learnt.
    mass_matrix : str, default "diagonal"
        The form of inverse mass matrix that warm-up estimates, best the covariance of the target:
        ``"none"``, ``"diagonal"``, or ``"dense"`` for correlations too.
    file : str, path or None
        Where the draws are kept after every hundred. A run whose file is there goes on from it, to
        the draws that it would have come to anyway; asked for more draws, it goes on for more.
    callback : callable or None
        ``callback(chain, draws)`` after every hundred draws; with several jobs, once for each chain
        at its end.
    progress : bool, default False
        Show a bar of the steps, those of the warm-ups among them, by ``tqdm`` of the extra
        `progress`; with several jobs, of the chains.
    jobs : int or callable, default 1
        On how many processes the chains are made, by ``joblib``, or the `map` that makes them: of
        an executor, of a cluster. They have the same draws, since each has a stream of its own.
    rng : Stream, Generator or int
        The source of random numbers; the same one gives the same draws.

    Warns
    -----
    ChainWarning
        If a chain never moved, or paths diverged.
    InterruptWarning
        If it was interrupted by Ctrl-C: as many draws come back as some chains have in full, which
        may be one chain. Before there is a draw it is the steps of a warm-up, with
        ``warming_up=True``; to go on from them, take ``samplers[0]``, as it is tuned so far, from
        ``draws[:, -1]``. With several jobs draws and steps come in hundreds, and a tenth may be
        lost; on other machines only chains that have ended are kept.

    Raises
    ------
    ImportError
        If a bar is asked for without ``tqdm``, or processes without ``joblib``.

    Examples
    --------
    >>> from gpnotes import stream
    >>> from gpnotes.samplers import NUTS
    >>> found = sample(lambda x: (-0.5 * float(x @ x), -x), NUTS(), np.zeros(2), rng=stream(1))
    >>> bool(np.all(found.rhat < 1.01))
    True
    """
    if isinstance(sampler, type) or missing(sampler, Sampler):
        got = _check.kind_of(sampler)
        raise TypeError(
            f"sampler must be a sampler, with target_acceptance, init and step; got {got}"
        )
    stream = stream_of(rng)
    num_chains = _check.whole(num_chains, "num_chains", 1)
    num_samples = _check.whole(num_samples, "num_samples", 1)
    num_warmup = _check.whole(num_warmup, "num_warmup")
    mass_matrix = _check.choice(mass_matrix, "mass_matrix", _MASS_MATRICES)
    if callback is not None:
        _check.function(callback, "callback", "a chain and its draws")
    target, starts, names = _prepare(target, sampler, start, num_chains, stream)
    size = num_chains * starts[0].shape[0]
    num_samples = memory.count(num_samples, "num_samples", each=size, like=starts[0])
    run = _Run(target, sampler, starts, stream, num_samples, num_warmup, mass_matrix)
    run.check_starts()
    shown = _check.flag(progress, "progress")
    jobs = checked_jobs(jobs)
    bar = _bar(num_chains, num_warmup + num_samples, jobs) if shown else None
    try:
        return _warn_of_problems(run.chains(file, callback or _unheard, names, jobs, bar))
    finally:
        if bar is not None:
            bar.close()


def _bar(chains: int, steps: int, jobs: Jobs) -> Bar:
    return (
        bar_of(chains * steps, "sample", "step") if jobs == 1 else bar_of(chains, "sample", "chain")
    )


def _unheard(*said: object) -> None:
    """Do nothing: no progress bar is shown."""


@dataclass(frozen=True, eq=False)
class _Run:
    """All that a run depends on."""

    target: Target
    sampler: Sampler
    starts: list[Vector]
    stream: Stream
    draws: int
    num_warmup: int
    mass_matrix: str

    @property
    def identifier(self) -> str:
        """The name of the run in its file; a longer run has the same name."""
        starts = np.concatenate([to_numpy(start) for start in self.starts]).tolist()
        path = f"{self.stream.seed} {'/'.join(self.stream.path)}"
        return f"{_settings(self.sampler)} {starts} {path} {self.num_warmup} {self.mass_matrix}"

    def check_starts(self) -> None:
        """Raise where a chain cannot start, by its number, before any of them has."""
        for number, start in enumerate(self.starts):
            start_at(self.target, start, gradient=False, name=f"start[{number}]")
            self.sampler.init(self.target, start)

    def chains(
        self,
        file: str | os.PathLike[str] | None,
        report: Callback,
        names: tuple[str, ...],
        jobs: Jobs,
        bar: Bar | None,
    ) -> Chains:
        """Run all chains, from the file where it has them."""
        stored = {} if file is None else self._stored(file)

        def saved(number: int, draws: int) -> None:
            if file is not None:
                files.write(file, self.identifier, stored)
            report(number, draws)

        try:
            every = self._every(stored, saved, jobs, bar)
        except kept_interrupts():
            every = self._so_far(stored)
            if not every:
                raise
            warn_of(self._said_of(every))
        stacked = {name: np.stack([parts[name] for _, parts in every]) for name in ROWS}
        warmup = tuple(int(parts["warmup_evaluations"]) for _, parts in every)
        return Chains(
            **stacked, warmup_evaluations=warmup, samplers=tuple(s for s, _ in every), names=names,
            warming_up=_is_warming_up(every[0][1]),
        )  # fmt: skip

    def _stored(self, file: str | os.PathLike[str]) -> Parts:
        """The parts of a file, if the target is at the starts what it was when they were made."""
        stored = files.read(file, self.identifier)
        found = np.asarray([start_at(self.target, x, gradient=False)[0] for x in self.starts])
        told = stored.setdefault("at the starts", found)
        if np.any(np.abs(found - told) > epsilon(self.starts[0]) ** 0.5 * (1.0 + np.abs(told))):
            raise ValueError(
                f"file must be of this target; at the starts it is {found}, in {file} {told}"
            )
        return stored

    def _said_of(self, every: list[tuple[Sampler, Parts]]) -> str:
        """Return the warning about interrupted chains."""
        parts = every[0][1]
        rows, chains = parts["draws"].shape[0], f"each of {len(every)} chains"
        if not _is_warming_up(parts):
            return f"sample keeps {rows} draws of {chains}"
        steps = f"{rows} of {self.num_warmup} steps of the warm-up"
        return f"sample keeps {steps} of {chains}; they are no draws of the target"

    def _every(
        self, stored: Parts, saved: Callback, jobs: Jobs, bar: Bar | None
    ) -> list[tuple[Sampler, Parts]]:
        """All chains, one after the other or by other jobs."""
        numbers = range(len(self.starts))
        if jobs == 1:
            logs = [MemoryLog(stored, saved, _tick(bar, number, self)) for number in numbers]
            return [self._chain((i, parts_of(stored, i)), logs[i]) for i in numbers]
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            return self._elsewhere(MemoryLog(stored, saved, _unheard), folder, jobs, bar)

    def _elsewhere(
        self, log: MemoryLog, folder: str, jobs: Jobs, bar: Bar | None
    ) -> list[tuple[Sampler, Parts]]:
        """Run all chains in other processes; an interrupt keeps the files that they wrote."""
        numbers = range(len(self.starts))
        pieces = [((i, parts_of(log.stored, i)), folder) for i in numbers]
        every: list[tuple[Sampler, Parts]] = []
        try:
            for number, chain in enumerate(mapper_of(jobs)(self._leave_a_trail, pieces)):
                every.append(chain)
                log.save(number, chain[1])
                if bar is not None:
                    bar.update(1)
        except KeyboardInterrupt:
            trail = TrailLog(folder, self.identifier)
            for number in numbers[len(every) :]:
                log.keep(number, trail.left(number))
            raise
        return every

    def _leave_a_trail(self, piece: tuple[tuple[int, Parts], str]) -> tuple[Sampler, Parts]:
        """One chain of another process."""
        return self._chain(piece[0], TrailLog(piece[1], self.identifier))

    def _so_far(self, stored: Parts) -> list[tuple[Sampler, Parts]]:
        """The most draws that some chains have in full; before there are any, of warm-ups."""
        made = [(parts_of(stored, number), start) for number, start in enumerate(self.starts)]
        made = [(parts, start) for parts, start in made if parts and parts["draws"].shape[0]]
        made = [one for one in made if not _is_warming_up(one[0])] or made
        lengths = [parts["draws"].shape[0] for parts, _ in made]
        rows = max(
            lengths, key=lambda rows: rows * sum(length >= rows for length in lengths), default=0
        )
        return [
            (_restore_tuning(self.sampler, parts, start), _cut(parts, rows))
            for parts, start in made
            if parts["draws"].shape[0] >= rows
        ]

    def _chain(self, piece: tuple[int, Parts], log: ChainLog) -> tuple[Sampler, Parts]:
        """Run one chain on from its stored parts; return the tuned sampler and all parts."""
        number, parts = piece
        start, stream = self.starts[number], self.stream.spawn(f"chain {number}")
        parts = parts or self._warm_up(number, stream, log)
        sampler = _restore_tuning(self.sampler, parts, start)
        num_kept = min(parts["draws"].shape[0], self.draws) // BLOCK * BLOCK
        if parts["draws"].shape[0] >= self.draws:
            num_kept = self.draws
        parts = _cut(parts, num_kept)
        while (done := parts["draws"].shape[0]) < self.draws:
            last = parts["draws"][-1] if done else parts["position"]
            state = sampler.init(self.target, as_array(last, start))
            state = replace(state, count=self.num_warmup + done)
            block, many = stream.spawn(f"block {done // BLOCK}"), min(BLOCK, self.draws - done)
            steps: list[Step] = []
            try:
                for _ in range(many):
                    steps.append(sampler.step(self.target, state, block))
                    state = steps[-1].state
                    log.tick()
            except KeyboardInterrupt:
                if steps:
                    log.keep(number, _longer(parts, steps))
                raise
            parts = _longer(parts, steps)
            log.save(number, parts)
        return sampler, parts

    def _warm_up(self, number: int, stream: Stream, log: ChainLog) -> Parts:
        """The parts of a chain without draws, after its warm-up."""
        start = self.starts[number]
        state = self.sampler.init(self.target, start)
        warming = WarmUp(self.sampler, self.target, state, stream.spawn("warm-up"))

        def tick() -> None:
            log.tick()
            log.warm(number, len(warming.steps), lambda: _in_warm_up(warming))

        try:
            warming.run(self.num_warmup, self.mass_matrix, tick)
        except KeyboardInterrupt:
            log.keep(number, _in_warm_up(warming))
            raise
        log.keep(number, parts := _in_warm_up(warming))
        return _cut(parts, 0) | {"warming_up": np.asarray(False)}


def _in_warm_up(warming: WarmUp[Any]) -> Parts:
    """The parts of a warm-up so far, whose rows are its steps."""
    position, sampler = to_numpy(warming.state.position), warming.sampler
    cost = np.asarray(sum(step.evaluations for step in warming.steps))
    parts = rows_of(warming.steps, position.shape[0])
    parts |= {"position": position, "warmup_evaluations": cost, "warming_up": np.asarray(True)}
    if sampler.target_acceptance is None:
        return parts
    root = sampler.inverse_mass_root
    root = np.zeros(0) if root is None else to_numpy(root)
    step_size = np.asarray(float(sampler.step_size))
    return {**parts, "step_size": step_size, "inverse_mass_root": root}


def _is_warming_up(parts: Parts) -> bool:
    return bool(parts.get("warming_up", False))


def _cut(parts: Parts, rows: int) -> Parts:
    """The parts of a chain with its first rows alone."""
    return {name: part[:rows] if name in ROWS else part for name, part in parts.items()}


def _longer(parts: Parts, steps: list[Step]) -> Parts:
    """The parts of a chain with some steps more."""
    rows = rows_of(steps, parts["draws"].shape[1])
    return parts | {name: np.concatenate([parts[name], rows[name]]) for name in ROWS}


def _restore_tuning(sampler: Any, parts: Parts, like: Array) -> Sampler:
    if sampler.target_acceptance is None:
        return sampler
    stored = parts["inverse_mass_root"]
    root = as_array(stored, like) if stored.size else None
    return replace(sampler, step_size=float(parts["step_size"]), inverse_mass_root=root)


def _settings(sampler: object) -> str:
    """A sampler in words that are the same in every process."""
    settings = {}
    for name, value in vars(sampler).items():
        if name.startswith("_"):  # what it found out meanwhile
            continue
        array = hasattr(value, "shape")
        settings[name] = files.digest(to_numpy(value)) if array else repr(value)
    return f"{type(sampler).__name__}({settings})"


def _prepare(
    target: Any,
    sampler: Sampler,
    start: Any,
    num_chains: int,
    stream: Stream,
) -> tuple[Target, list[Vector], tuple[str, ...]]:
    """The target as a function, a start for each chain, and the names of the entries."""
    if isinstance(target, Objective):
        if isinstance(sampler, EllipticalSlice):
            raise TypeError(
                "sampler must move by a log posterior; an EllipticalSlice needs a prior"
            )
        density: Any = HyperparameterDensity(target)
        names = density.names
        if start is not None:
            return density, _starts(start, num_chains, len(names)), names
        starts: Any = _around(target, num_chains, stream)
        return density, starts, names
    _check.function(target, "target", "a vector")
    starts = _starts(start, num_chains)
    return target, starts, tuple(f"x[{j}]" for j in range(starts[0].shape[0]))


def _starts(start: Array, num_chains: int, size: int | None = None) -> list[Vector]:
    _check.floating(start, "start")
    if start.ndim == 1:
        return [_check.vector(start, "start", size=size)] * num_chains
    _check.matrix(start, "start", rows=num_chains, columns=size)
    return [start[number, :] for number in range(num_chains)]


def _around(objective: Objective[Parameters], num_chains: int, stream: Stream) -> list[HostVector]:
    """Starts around the parameters of the model, within the limits."""
    vector, (low, high) = objective.vector(objective.model), objective.limits.T
    drawn = np.asarray(stream.spawn("starts").normal((num_chains, vector.size)))
    return list(np.clip(vector + 0.5 * objective.units * drawn, low, high))


def _warn_of_problems(chains: Chains) -> Chains:
    """Warn of problems of the chains, unless the warm-up was interrupted; return the chains."""
    for problem in [] if chains.warming_up else chains.problems():
        warn_caller(problem, ChainWarning)
    return chains


def _tick(bar: Bar | None, number: int, run: _Run) -> Callable[[], None]:
    """Return the callback after each step of a chain, which moves the bar."""
    if bar is None:
        return _unheard
    taken = 0

    def tick() -> None:
        nonlocal taken
        taken += 1
        if taken == 1:
            bar.set_postfix_str(f"chain {number + 1} of {len(run.starts)}")
        bar.update(1)

    return tick
