"""Chains from a target and a sampler: warm-up, blocks of draws, a file to go on from."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..ground import check as _check
from ..ground import files, memory
from ..ground.interrupts import kept_interrupts, warn_of
from ..ground.jobs import Jobs, checked_jobs, mapper_of
from ..ground.params import Parameters
from ..ground.random import RNG, Stream, stream_of
from ..ground.threads import in_one_pool
from ..ground.xp import (
    Array,
    HostArray,
    HostVector,
    Matrix,
    Vector,
    as_array,
    to_numpy,
)
from ..infer.objective import Objective
from ..infer.progress import Bar, bar_of
from ..model.contracts import missing
from .chains import Chains, ChainWarning
from .elliptical_slice import EllipticalSlice
from .hyperparameter_target import HyperparameterDensity
from .states import Sampler, State, Step
from .targets import Target, start_at
from .warmup import warm_up

__all__ = ["sample"]

_BLOCK = 100  # draws between two looks at the file; each block has a stream of its own
_MASS_MATRICES = ("none", "diagonal", "dense")
Callback = Callable[[int, int], object]
Parts = dict[str, HostArray]


@in_one_pool
def sample(
    target: Target | Objective[Any],
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
        What warm-up learns of the inverse mass matrix, which is best the covariance of the target:
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
        If it was interrupted by Ctrl-C, after the first hundred draws: as many draws come back as
        some chains have in full, in hundreds.

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
    """Nobody waits."""


@dataclass(frozen=True, eq=False)
class _Run:
    """All that a run depends on."""

    target: Target
    sampler: Any
    starts: list[Vector]
    stream: Stream
    draws: int
    num_warmup: int
    mass_matrix: str

    @property
    def identifier(self) -> str:
        """What the run is called in its file; a longer one is called the same."""
        starts = np.concatenate([to_numpy(start) for start in self.starts]).tolist()
        path = f"{self.stream.seed} {'/'.join(self.stream.path)}"
        return f"{_settings(self.sampler)} {starts} {path} {self.num_warmup} {self.mass_matrix}"

    def check_starts(self) -> None:
        """Raise where a chain cannot start, by its number, before any of them has."""
        for number, start in enumerate(self.starts):
            start_at(self.target, start, gradient=False, name=f"start[{number}]")
            self.sampler.init(self.target, start)

    def chains(
        self, file: Any, report: Callback, names: tuple[str, ...], jobs: Jobs, bar: Bar | None
    ) -> Chains:
        """Run all chains, from the file where it has them."""
        stored = {} if file is None else files.read(file, self.identifier)

        def save(number: int, parts: Parts) -> None:
            stored.update({f"{number}.{name}": part for name, part in parts.items()})
            if file is not None:
                files.write(file, self.identifier, stored)
            report(number, parts["draws"].shape[0])

        try:
            every = self._every(stored, save, jobs, bar)
        except kept_interrupts():
            every = self._so_far(stored)
            if not every:
                raise
            rows = every[0][1]["draws"].shape[0]
            warn_of(f"sample keeps {rows} draws of each of {len(every)} chains", stacklevel=4)
        stacked = {name: np.stack([parts[name] for _, parts in every]) for name in _ROWS}
        warmup = tuple(int(parts["warmup_evaluations"]) for _, parts in every)
        return Chains(
            **stacked, warmup_evaluations=warmup, samplers=tuple(s for s, _ in every), names=names
        )

    def _every(
        self, stored: Parts, save: Callable[[int, Parts], None], jobs: Jobs, bar: Bar | None
    ) -> list[tuple[Any, Parts]]:
        """All chains, one after the other or by other jobs."""
        numbers = range(len(self.starts))
        if jobs == 1:
            ticks = [_tick(bar, number, self) for number in numbers]
            return [self._chain((i, _parts_of(stored, i)), save, ticks[i]) for i in numbers]
        pieces = [(i, _parts_of(stored, i)) for i in numbers]
        every = []
        for number, chain in enumerate(mapper_of(jobs)(self._chain, pieces)):
            every.append(chain)
            save(number, chain[1])
            if bar is not None:
                bar.update(1)
        return every

    def _so_far(self, stored: Parts) -> list[tuple[Any, Parts]]:
        """The most draws that some chains have in full."""
        made = [_parts_of(stored, number) for number in range(len(self.starts))]
        lengths = [parts["draws"].shape[0] if parts else 0 for parts in made]
        rows = max(lengths, key=lambda rows: rows * sum(length >= rows for length in lengths))
        return [
            (
                _restore_tuning(self.sampler, parts, start),
                {name: part[:rows] if name in _ROWS else part for name, part in parts.items()},
            )
            for parts, length, start in zip(made, lengths, self.starts, strict=True)
            if length >= rows > 0
        ]

    def _chain(
        self,
        piece: tuple[int, Parts],
        save: Callable[[int, Parts], object] = _unheard,
        tick: Callable[[], object] = _unheard,
    ) -> tuple[Any, Parts]:
        """One chain, from what there is of it: the sampler as warm-up left it, and its parts."""
        number, parts = piece
        start, stream = self.starts[number], self.stream.spawn(f"chain {number}")
        parts = parts or self._warm_up(start, stream, tick)
        sampler = _restore_tuning(self.sampler, parts, start)
        num_kept = min(parts["draws"].shape[0], self.draws) // _BLOCK * _BLOCK
        if parts["draws"].shape[0] >= self.draws:
            num_kept = self.draws
        parts = {name: part[:num_kept] if name in _ROWS else part for name, part in parts.items()}
        while (done := parts["draws"].shape[0]) < self.draws:
            last = parts["draws"][-1] if done else parts["position"]
            state = sampler.init(self.target, as_array(last, start))
            state = replace(state, count=self.num_warmup + done)
            block, many = stream.spawn(f"block {done // _BLOCK}"), min(_BLOCK, self.draws - done)
            rows = _take_steps(sampler, self.target, state, block, many, tick)
            parts |= {name: np.concatenate([parts[name], rows[name]]) for name in _ROWS}
            save(number, parts)
        return sampler, parts

    def _warm_up(self, start: Vector, stream: Stream, tick: Callable[[], object]) -> Parts:
        start_state = self.sampler.init(self.target, start)
        own_stream, length = stream.spawn("warm-up"), self.num_warmup
        sampler, state, steps = warm_up(
            self.sampler, self.target, start_state, own_stream, length, self.mass_matrix, tick
        )
        cost = np.asarray(sum(step.evaluations for step in steps))
        position = to_numpy(state.position)
        parts = _rows([], start.shape[0]) | {"position": position, "warmup_evaluations": cost}
        if self.sampler.target_acceptance is None:
            return parts
        root = sampler.inverse_mass_root
        root = np.zeros(0) if root is None else to_numpy(root)
        step_size = np.asarray(float(sampler.step_size))
        return {**parts, "step_size": step_size, "inverse_mass_root": root}


_ROWS = ("draws", "log_density", "acceptance", "diverged", "evaluations")


def _rows(steps: list[Step], d: int) -> Parts:
    """The parts of some steps, one entry for each."""
    positions = [to_numpy(step.state.position) for step in steps]
    return {
        "draws": np.asarray(positions, dtype=np.float64).reshape(-1, d),
        "log_density": np.asarray([step.state.log_density for step in steps], dtype=np.float64),
        "acceptance": np.asarray([step.acceptance for step in steps], dtype=np.float64),
        "diverged": np.asarray([step.diverged for step in steps], dtype=bool),
        "evaluations": np.asarray([step.evaluations for step in steps], dtype=np.int64),
    }


def _take_steps(
    sampler: Any,
    target: Target,
    state: State,
    stream: Stream,
    count: int,
    tick: Callable[[], object],
) -> Parts:
    steps = []
    for _ in range(count):
        steps.append(sampler.step(target, state, stream))
        state = steps[-1].state
        tick()
    return _rows(steps, state.position.shape[0])


def _restore_tuning(sampler: Any, parts: Parts, like: Array) -> Any:
    if sampler.target_acceptance is None:
        return sampler
    stored = parts["inverse_mass_root"]
    root = as_array(stored, like) if stored.size else None
    return replace(sampler, step_size=float(parts["step_size"]), inverse_mass_root=root)


def _parts_of(stored: Parts, number: int) -> Parts:
    """The parts of one chain that a file has."""
    prefix = f"{number}."
    return {
        name.removeprefix(prefix): part for name, part in stored.items() if name.startswith(prefix)
    }


def _settings(sampler: Any) -> str:
    """A sampler in words that are the same in every process."""
    settings = {}
    for name, value in vars(sampler).items():
        if name.startswith("_"):  # what it found out meanwhile
            continue
        array = hasattr(value, "shape")
        settings[name] = to_numpy(value).tobytes().hex()[:64] if array else repr(value)
    return f"{type(sampler).__name__}({settings})"


def _prepare(
    target: Any, sampler: Any, start: Any, num_chains: int, stream: Stream
) -> tuple[Target, list[Vector], tuple[str, ...]]:
    """The target as a function, a start for each chain, and the names of the entries."""
    if isinstance(target, Objective):
        if isinstance(sampler, EllipticalSlice):
            raise TypeError("sampler must move by a log posterior; an EllipticalSlice has a prior")
        density: Any = HyperparameterDensity(target)
        around = start is None
        starts: Any = _around(target, num_chains, stream) if around else _starts(start, num_chains)
        return density, starts, density.names
    _check.function(target, "target", "a vector")
    starts = _starts(start, num_chains)
    return target, starts, tuple(f"x[{j}]" for j in range(starts[0].shape[0]))


def _starts(start: Any, num_chains: int) -> list[Vector]:
    _check.floating(start, "start")
    if start.ndim == 1:
        return [_check.vector(start, "start")] * num_chains
    _check.matrix(start, "start", rows=num_chains)
    return [start[number, :] for number in range(num_chains)]


def _around(objective: Objective[Parameters], num_chains: int, stream: Stream) -> list[HostVector]:
    """Starts around the parameters of the model, within the limits."""
    vector, (low, high) = objective.vector(objective.model), objective.limits.T
    drawn = np.asarray(stream.spawn("starts").normal((num_chains, vector.size)))
    return list(np.clip(vector + 0.5 * objective.units * drawn, low, high))


def _warn_of_problems(chains: Chains) -> Chains:
    """The chains, with a warning of what went wrong."""
    for problem in chains.problems():
        warnings.warn(problem, ChainWarning, stacklevel=4)
    return chains


def _tick(bar: Bar | None, number: int, run: _Run) -> Callable[[], object]:
    """What is called after each step of a chain: it moves the bar."""
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
