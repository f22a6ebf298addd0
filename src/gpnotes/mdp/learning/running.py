"""Runs of a learner in an environment: many at once, repeatable, and with a file to go on from."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Any

import numpy as np

from ...ground import check as _check
from ...ground import files, memory
from ...ground.interrupts import deferred_interrupts, kept_interrupts, warn_of
from ...ground.random import RNG, Stream, stream_of
from ...ground.showing import summary
from ...ground.xp import HostArray, HostMatrix, HostVector, to_numpy
from ...model.contracts import missing
from . import numba_loops, plain_loop
from .exploration import refuse_unavailable
from .mdp_environment import Environment, MDPEnvironment
from .tabular import L, Learner, Transition

__all__ = ["Episodes", "Run", "run"]

Watch = Callable[[Any], HostArray]


@dataclass(frozen=True, eq=False)
class Episodes:
    """The episodes that came to their end, in that order.

    Parameters
    ----------
    run : HostVector, shape (n,)
        In which run each was.
    step : HostVector, shape (n,)
        At which step of the run it was over, from 1.
    returns : HostVector, shape (n,)
        The sum of its rewards.
    lengths : HostVector, shape (n,)
        How many steps it had.
    """

    run: HostVector
    step: HostVector
    returns: HostVector
    lengths: HostVector

    __repr__ = summary

    def of(self, run: int) -> Episodes:
        """Return those of one run."""
        kept = self.run == run
        return Episodes(*(getattr(self, item.name)[kept] for item in fields(self)))


@dataclass(frozen=True, eq=False)
class Run:
    """The results of runs of a learner, and all that they need to go on.

    Parameters
    ----------
    learner : Learner
        The learner.
    environment : Environment
        The environment.
    learner_state : object
        The state of the learner now, of all runs.
    states : HostVector, shape (runs,)
        Where each run is.
    num_steps : int
        How many steps each has taken.
    episodes : Episodes
        The episodes that came to their end.
    rewards : HostMatrix, shape (k, runs)
        The mean reward of each run in each block of `every` steps.
    watched : HostArray, shape (k, …)
        The results of `watch` for the learner's state after each block.
    transitions : Transition or None
        All transitions, each part (steps, runs), if they were recorded.
    interrupted : bool, default False
        Whether Ctrl-C ended them early.
    """

    learner: Any
    environment: Environment
    learner_state: Any
    states: HostVector
    num_steps: int
    episodes: Episodes
    rewards: HostMatrix
    watched: HostArray
    transitions: Transition | None
    _settings: _Settings = field(repr=False)
    _parts: dict[str, HostArray] = field(repr=False)
    interrupted: bool = False

    def resume(self, num_steps: int) -> Run:
        """Return the same runs so many steps later, as if they had never paused.

        This one stays as it is.

        Parameters
        ----------
        num_steps : int
            How many steps more.

        Returns
        -------
        Run
            The runs from their first step on.
        """
        num_steps = _check.whole(num_steps, "num_steps", 1)
        return _Runner(self._settings, self._parts).onward(self.num_steps + num_steps)

    def __repr__(self) -> str:
        """One line."""
        runs = self.states.shape[0]
        name, episodes = type(self.learner).__name__, self.episodes.run.size
        ended = ", interrupted" if self.interrupted else ""
        return f"<Run: {runs} of {self.num_steps} steps by {name}, {episodes} episodes{ended}>"


def run(
    learner: Learner[L],
    environment: Environment,
    *,
    num_steps: int,
    num_runs: int = 1,
    horizon: int | None = None,
    every: int = 100,
    watch: Watch | None = None,
    record: bool = False,
    file: str | os.PathLike[str] | None = None,
    compiled: bool = False,
    rng: RNG,
) -> Run:
    """Run a learner in an environment, as many times at once as is asked.

    Parameters
    ----------
    learner : Learner
        `QLearning`, `SARSA`, `ExpectedSARSA`, or another with `init`, `act` and `step`.
    environment : Environment
        `MDPEnvironment` for a process, `GymnasiumEnvironment` for one of gymnasium.
    num_steps : int
        How many steps each run takes.
    num_runs : int, default 1
        How many runs, each with a table of its own.
    horizon : int or None
        After how many steps an episode is cut.
    every : int, default 100
        How many steps a block has, after which rewards are summed up, `watch` is asked and the
        file is written.
    watch : callable or None
        ``watch(learner_state)`` after each block: an array of numbers that is kept.
    record : bool, default False
        Keep all transitions.
    file : str, path or None
        Where the runs are kept after every block. Runs whose file is there go on from it, as
        they would have without the pause; asked for more steps, they go on for more.
    compiled : bool, default False
        Walk in a loop that Numba compiles, of the extra `compiled`: the same runs to the last bit,
        some four times as fast at a hundred of them. It is there for `QLearning`, `SARSA` and
        `ExpectedSARSA` with `EpsilonGreedy` in an `MDPEnvironment`, of fewer than eight actions
        but for the first, without `record`.
    rng : Stream, Generator or int
        The source of random numbers; the same one gives the same runs.

    Returns
    -------
    Run
        The results of the runs.

    Warns
    -----
    InterruptWarning
        If it was interrupted by Ctrl-C: the results come back after the step under way, or the
        block of a compiled loop, with ``interrupted=True``, and `Run.resume` takes the steps that
        it would have taken anyway. A second Ctrl-C is raised.

    Raises
    ------
    ImportError
        If a compiled loop is asked for without Numba.

    Examples
    --------
    >>> from gpnotes import stream
    >>> from gpnotes.mdp import MDP
    >>> from gpnotes.mdp.learning import QLearning, MDPEnvironment
    >>> mdp = MDP(np.asarray([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0], [1.0, 0.0]]),
    ...           np.asarray([[0.0, 0.0], [0.0, 1.0]]), 0.9)
    >>> walk = run(QLearning(0.9), MDPEnvironment(mdp), num_steps=500, num_runs=3, rng=stream(1))
    >>> walk.learner_state.greedy
    array([[1, 1],
           [1, 1],
           [1, 1]])
    """
    _complete(learner, "learner", Learner, "a learner, with init, act and step")
    _complete(
        environment, "environment", Environment,
        "an environment, with num_states, num_actions, reset, step and restart",
    )  # fmt: skip
    stream = stream_of(rng)
    num_steps = _check.whole(num_steps, "num_steps", 1)
    num_runs = memory.count(num_runs, "num_runs", each=2)
    every = _check.whole(every, "every", 1)
    horizon = None if horizon is None else _check.whole(horizon, "horizon", 1)
    if watch is not None:
        _check.function(watch, "watch", "a learner's state")
    record = _check.flag(record, "record")
    loop = None
    if _check.flag(compiled, "compiled"):
        if needed := numba_loops.refused(learner, environment, record):
            raise ValueError(f"compiled must be False here: the compiled loop needs {needed}")
        loop = numba_loops.compiled()
    settings = _Settings(
        learner, environment, num_runs, stream, horizon, every, watch, record, file, loop
    )
    stored = {} if file is None else files.read(file, settings.identifier)
    return _Runner(settings, stored).onward(num_steps)


def _complete(value: object, name: str, contract: type, parts: str) -> None:
    if isinstance(value, type) or missing(value, contract):
        got = _check.kind_of(value)
        raise TypeError(f"{name} must be {parts}; got {got}")


@dataclass(frozen=True, eq=False)
class _Settings:
    """All that runs depend on, but for how long they are."""

    learner: Any
    environment: Any
    runs: int
    stream: Stream
    horizon: int | None
    every: int
    watch: Watch | None
    record: bool
    file: str | os.PathLike[str] | None
    loop: Any = None

    @property
    def identifier(self) -> str:
        """The name of the runs in their file; longer ones have the same name."""
        path = f"{self.stream.seed} {'/'.join(self.stream.path)}"
        watched = "watched" if self.watch else ""
        shape = f"{self.runs} {self.horizon} {self.every} {watched} {self.record}"
        return f"{in_words(self.learner)} in {self.environment.identifier} by {path}: {shape}"


class _Runner:
    """Runs on their way, from their first step or from the parts that a file has of them."""

    def __init__(self, settings: _Settings, parts: dict[str, HostArray]) -> None:
        self.settings, learner, environment = settings, settings.learner, settings.environment
        self.stream = _settable_stream(settings.stream.spawn("run"))
        self.learned = learner.init(environment.num_states, environment.num_actions, settings.runs)
        _check_learned(self.learned)
        _exclude_unavailable(learner, self.learned, environment)
        self.ended: list[tuple[HostVector, ...]] = []
        self.watched: list[HostArray] = []
        self.blocks: list[HostVector | list[float]] = []
        self.transitions: list[Transition] = []
        self.tables = numba_loops.ScheduleTables()
        self.plain_loop: plain_loop.PlainLoop | None = None
        if parts:
            self._restore(parts)
        else:
            self.steps, self.states = 0, np.array(environment.reset(self.stream, settings.runs))
            self.returns, self.lengths = np.zeros(settings.runs), np.zeros(settings.runs, np.int64)
            self.earned = np.zeros(settings.runs)
        if plain_loop.serves(learner, environment, settings.runs, settings.record):
            self.plain_loop = plain_loop.PlainLoop(
                learner, environment, self.learned, (self.returns, self.lengths, self.earned),
                self.tables, settings.horizon, self.stream,
            )  # fmt: skip

    def onward(self, steps: int) -> Run:
        """Take steps until there are so many, and return the runs."""
        if steps < self.steps:
            raise ValueError(f"num_steps must be at least those taken, {self.steps}; got {steps}")
        every = self.settings.every
        with deferred_interrupts() as pressed:
            while self.steps < steps and not pressed:
                self._walk(min(steps, (self.steps // every + 1) * every) - self.steps, pressed)
                if self.steps % every == 0:
                    self._end_block()
                    self._save()
            self._save()
        if pressed:
            if KeyboardInterrupt not in kept_interrupts():
                raise KeyboardInterrupt
            warn_of(f"run keeps what {self.steps} of {steps} steps have learnt")
        return self._run(interrupted=bool(pressed))

    def _save(self) -> None:
        if self.settings.file is not None:
            files.write(self.settings.file, self.settings.identifier, self.parts())

    def _walk(self, count: int, pressed: list[int]) -> None:
        """Take so many steps, or those to the one in which the caller interrupts."""
        if self.settings.loop is not None:
            self._loop(count)
            return
        if self.plain_loop is not None:
            self._walk_plainly(self.plain_loop, count, pressed)
            return
        learner, environment, stream = self.settings.learner, self.settings.environment, self.stream
        horizon, record, states = self.settings.horizon, self.settings.record, self.states
        earned, returns, lengths = self.earned, self.returns, self.lengths
        # an environment may write into what it is given, and into one array again; ours does not
        copied: Any = np.asarray if type(environment) is MDPEnvironment else np.array
        over_at: list[tuple[HostVector, int, HostVector, HostVector]] = []
        for _ in range(count):
            actions = learner.act(self.learned, states, stream)
            step = environment.step(copied(states), copied(actions), stream)
            next_states, rewards, terminated, truncated = map(copied, step)
            lengths += 1
            if horizon is not None:
                truncated = truncated | (lengths >= horizon) & ~terminated
            transition = Transition(states, actions, rewards, next_states, terminated, truncated)
            self.learned = learner.step(self.learned, transition, stream)
            self.steps += 1
            earned += rewards
            returns += rewards
            if record:
                self.transitions.append(Transition(*(np.array(part) for part in transition)))
            states = next_states
            over = terminated | truncated
            ended = over.nonzero()[0]
            if ended.size:
                over_at.append((ended, self.steps, returns[ended], lengths[ended]))
                returns[ended], lengths[ended] = 0.0, 0
                states = copied(environment.restart(states, over, stream))
            if pressed:
                break
        self.states = states
        if over_at:
            runs, steps, *sums = zip(*over_at, strict=True)
            repeated = np.repeat(steps, [some.size for some in runs])
            self.ended.append((np.concatenate(runs), repeated, *map(np.concatenate, sums)))

    def _loop(self, count: int) -> None:
        """The same in one loop."""
        settings, states = self.settings, np.array(self.states, dtype=np.int64)
        self.learned, ended = numba_loops.advance(
            settings.loop, settings.learner, settings.environment, self.learned, self.tables, count,
            settings.horizon, states, (self.returns, self.lengths, self.earned),
            self.stream.generator,
        )  # fmt: skip
        self.states, self.steps = states, self.steps + count
        self.ended += ended

    def _walk_plainly(self, loop: plain_loop.PlainLoop, count: int, pressed: list[int]) -> None:
        """The same for a few runs, on Python's numbers."""
        self.steps += loop.advance(count, pressed)
        if loop.is_full:
            self._settle(loop)

    def _settle(self, loop: plain_loop.PlainLoop | None) -> None:
        """Write the results of the plain loop into the arrays."""
        if loop is not None:
            self.learned, self.states, sums, ended = loop.settled()
            self.returns, self.lengths, self.earned = sums
            self.ended += ended

    def _end_block(self) -> None:
        """Sum up a block."""
        every = self.settings.every
        if self.plain_loop is not None:
            self.blocks.append([earned / every for earned in self.plain_loop.earned()])
        else:
            self.blocks.append(self.earned / every)
            self.earned = np.zeros_like(self.earned)
        if self.settings.watch is not None:
            self._settle(self.plain_loop)
            answer = np.array(self.settings.watch(self.learned))
            if answer.dtype.kind not in "biuf" or answer.shape != self.watched_shape(answer):
                raise TypeError(
                    "watch must return an array of numbers, of one shape; "
                    f"got {answer.dtype} of {answer.shape}"
                )
            self.watched.append(answer)

    def watched_shape(self, answer: HostArray) -> tuple[int, ...]:
        """The shape that all answers of `watch` have."""
        return self.watched[0].shape if self.watched else answer.shape

    def _run(self, interrupted: bool) -> Run:
        parts = self.parts()
        recorded = _unprefixed(parts, "transitions.")
        return Run(
            self.settings.learner, self.settings.environment, self.learned, self.states, self.steps,
            Episodes(**_unprefixed(parts, "episodes.")), parts["rewards"], parts["watched"],
            Transition(**recorded) if recorded else None, self.settings, parts, interrupted,
        )  # fmt: skip

    def parts(self) -> dict[str, HostArray]:
        """All that it takes to go on, as arrays of its own by name."""
        self._settle(self.plain_loop)
        runs, generator = self.settings.runs, self.stream.generator.bit_generator.state
        learned = {item.name: getattr(self.learned, item.name) for item in fields(self.learned)}
        current: dict[str, Any] = {
            "states": self.states, "steps": self.steps, "returns": self.returns,
            "lengths": self.lengths, "earned": self.earned, "generator": json.dumps(generator),
            **_prefixed(learned, "memory."),
            **_prefixed(self.settings.environment.saved(), "environment."),
        }  # fmt: skip
        made = {
            "rewards": np.stack(self.blocks) if self.blocks else np.zeros((0, runs)),
            "watched": np.stack(self.watched) if self.watched else np.zeros(0),
            **_prefixed(_episodes(self.ended), "episodes."),
        }
        if self.settings.record:
            columns = zip(*self.transitions, strict=True) if self.transitions else ((),) * 6
            recorded = zip(Transition._fields, map(np.asarray, columns), strict=True)
            current |= _prefixed(dict(recorded), "transitions.")
        return {name: np.array(part) for name, part in current.items()} | made

    def _restore(self, parts: dict[str, HostArray]) -> None:
        self.stream.generator.bit_generator.state = json.loads(str(parts["generator"]))
        self.learned = _restored(self.learned, _unprefixed(parts, "memory."))
        self.steps, self.states = int(parts["steps"]), parts["states"].copy()
        names = ("returns", "lengths", "earned")
        self.returns, self.lengths, self.earned = (parts[name].copy() for name in names)
        self.blocks, self.watched = list(parts["rewards"]), list(parts["watched"])
        self.ended = [tuple(_unprefixed(parts, "episodes.").values())]
        if self.settings.record:
            recorded = Transition(**_unprefixed(parts, "transitions."))
            self.transitions = [Transition(*row) for row in zip(*recorded, strict=True)]
        self.settings.environment.restore(_unprefixed(parts, "environment."))


def _settable_stream(stream: Stream) -> Stream:
    """A stream with a generator whose state can be set."""
    generator = np.random.Generator(np.random.PCG64(0))
    generator.bit_generator.state = stream.generator.bit_generator.state
    return Stream(stream.seed, stream.path, generator)


def _episodes(ended: list[tuple[HostVector, ...]]) -> dict[str, HostArray]:
    dtypes = (np.int64, np.int64, np.float64, np.int64)
    names = [item.name for item in fields(Episodes)]
    columns = list(zip(*ended, strict=True)) if ended else [()] * 4
    return {
        name: np.concatenate([np.zeros(0, kind), *column]).astype(kind, copy=False)
        for name, column, kind in zip(names, columns, dtypes, strict=True)
    }


def _check_learned(learned: Any) -> None:
    """Raise where the state of a learner could not be written to a file."""
    is_one = is_dataclass(learned) and not isinstance(learned, type)
    wrong = [] if not is_one else [
        item.name for item in fields(learned)
        if np.asarray(getattr(learned, item.name)).dtype.kind not in "biuf"
    ]  # fmt: skip
    if not is_one or wrong:
        got = f"{wrong[0]} that is none" if wrong else _check.kind_of(learned)
        raise TypeError(
            f"learner must have a dataclass of arrays and numbers as its state; got {got}"
        )


def _exclude_unavailable(learner: object, learned: object, environment: object) -> None:
    """Give actions that are not available in a state the value −inf there, in all runs."""
    available = getattr(environment, "available", None)
    if available is None or available.all():
        return
    refuse_unavailable(learner, available)
    values = getattr(learned, "values", None)
    if isinstance(values, np.ndarray) and values.shape[1:] == available.shape:
        values[:, ~available] = -np.inf


def _restored(template: Any, parts: dict[str, HostArray]) -> object:
    """A learner's state like `template` with other contents."""
    return replace(
        template,
        **{
            name: part.copy() if hasattr(getattr(template, name), "shape") else part.item()
            for name, part in parts.items()
        },
    )


def _prefixed(parts: dict[str, HostArray], prefix: str) -> dict[str, HostArray]:
    return {f"{prefix}{name}": part for name, part in parts.items()}


def _unprefixed(parts: dict[str, HostArray], prefix: str) -> dict[str, HostArray]:
    matching = (name for name in parts if name.startswith(prefix))
    return {name.removeprefix(prefix): parts[name] for name in matching}


def in_words(value: Any) -> str:
    """A learner in words that are the same in every process."""
    if is_dataclass(value) and not isinstance(value, type):
        parts = (f"{item.name}={in_words(getattr(value, item.name))}" for item in fields(value))
        return f"{type(value).__name__}({', '.join(parts)})"
    return files.digest(to_numpy(value)) if hasattr(value, "dtype") else repr(value)
