"""Checks of learners, and of the environments that they act in."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from ..ground import check as _check
from ..ground import memory
from ..ground.random import Stream, stream
from ..ground.xp import HostVector
from ..mdp import MDP
from ..mdp.learning import Environment, Learner, MDPEnvironment, TimeStep, Transition, run
from ..mdp.learning.tabular import L
from ..model.contracts import missing
from .agreement import hold

__all__ = ["check_environment", "check_learner"]

_RUNS, _STEPS = 5, 40


def check_learner(learner: Learner[L], num_states: int = 3, num_actions: int = 2) -> None:
    """Check that a learner keeps its contract, in a process with rewards in [0, 1].

    Its state is a dataclass of arrays and numbers, its actions are actions, the same random
    numbers give the same runs, no run learns from another, and runs that were
    paused end as they would have without the pause.

    Parameters
    ----------
    num_states : int, default 3
        How many states the process has.
    num_actions : int, default 2
        How many actions.

    Examples
    --------
    >>> from gpnotes.mdp.learning import QLearning
    >>> check_learner(QLearning(0.9))
    """
    _complete(learner, "learner", Learner, "a learner, with init, act and step")
    states = memory.count(num_states, "num_states")
    actions = memory.count(num_actions, "num_actions", each=states**2)
    memory.count(states, "num_states", each=actions * states)
    learned = learner.init(states, actions, _RUNS)
    good = is_dataclass(learned) and not isinstance(learned, type)
    hold(
        good,
        "the learner's state must be a dataclass of arrays and numbers; "
        f"got {_check.kind_of(learned)}",
    )
    chosen = learner.act(learned, np.arange(_RUNS) % states, stream(1))
    _whole(chosen, actions, "act must return an action for each run")
    environment = MDPEnvironment(_process(states, actions))
    settings: dict[str, Any] = {"num_runs": _RUNS, "rng": stream(1), "horizon": 7}
    whole = run(learner, environment, num_steps=_STEPS, **settings)
    again = run(learner, environment, num_steps=_STEPS, **settings)
    _same(whole.learner_state, again.learner_state, "the same random numbers gave other runs")
    paused = run(learner, environment, num_steps=_STEPS // 2 + 1, **settings)
    later = paused.resume(_STEPS - _STEPS // 2 - 1)
    _same(
        whole.learner_state,
        later.learner_state,
        "runs that paused are not what they would have been",
    )
    one, other = (_taught(learner, states, actions, seed) for seed in (1, 2))
    _same(one, other, "the first run has learnt from what happened in others", first=True)


def check_environment(environment: Environment) -> None:
    """Check that an environment keeps its contract.

    States and rewards are numbers in their range, one for each run; the same random numbers give
    the same steps; a restart leaves alone the runs that are not over; and an environment that was
    saved goes on as it would have.

    Examples
    --------
    >>> mdp = MDP(np.asarray([[0.5, 0.5], [0.0, 1.0]]), np.asarray([[1.0], [0.0]]), 0.9)
    >>> check_environment(MDPEnvironment(mdp))
    """
    parts = "num_states, num_actions, reset, step, restart, saved and restore"
    _complete(environment, "environment", Environment, f"an environment, with {parts}")
    hold(
        min(environment.num_states, environment.num_actions) >= 1,
        "there must be a state and an action",
    )
    seen = _walked(environment, stream(1), environment.reset(stream(2), _RUNS))
    again = _walked(environment, stream(1), environment.reset(stream(2), _RUNS))
    hold(_equal(seen, again), "the same random numbers gave other steps")
    states = environment.reset(stream(3), _RUNS)
    for outcome in _walked(environment, stream(4), states)[-1:]:
        states = environment.restart(
            outcome.next_states, outcome.terminated | outcome.truncated, stream(5)
        )
    saved = environment.saved()
    onward = _walked(environment, stream(6), states)
    environment.restore(saved)
    hold(
        _equal(onward, _walked(environment, stream(6), states)), "what was saved went on otherwise"
    )


def _complete(value: object, name: str, contract: type, parts: str) -> None:
    if isinstance(value, type) or (lacking := missing(value, contract)):
        got = _check.kind_of(value) if isinstance(value, type) else f"{lacking} missing"
        raise TypeError(f"{name} must be {parts}; got {got}")


def _whole(values: object, below: int, problem: str) -> None:
    got = np.asarray(values)
    good = got.shape == (_RUNS,) and np.issubdtype(got.dtype, np.integer)
    hold(good and 0 <= got.min() <= got.max() < below, f"{problem}; got {values}")


def _process(states: int, actions: int) -> MDP:
    draw = stream(9).generator
    P = draw.dirichlet(np.ones(states), size=states * actions)
    return MDP(P, draw.random((states, actions)), 0.9)


def _taught(learner: Learner[L], states: int, actions: int, seed: int) -> L:
    """A learner's state after steps that are the same for the first run, whatever the seed."""
    own, others = stream(1).generator, stream(seed).spawn("others").generator
    learned, unused = learner.init(states, actions, _RUNS), stream(1)
    for _ in range(_STEPS):
        transition = _drawn(others, states, actions, _RUNS)
        for part, first in zip(transition, _drawn(own, states, actions, 1), strict=True):
            part[0] = first[0]
        learned = learner.step(learned, transition, unused)
    return learned


def _drawn(draw: np.random.Generator, states: int, actions: int, runs: int) -> Transition:
    here, onward = draw.integers(states, size=runs), draw.integers(states, size=runs)
    terminated = draw.random(runs) < 0.1
    truncated = ~terminated & (draw.random(runs) < 0.1)
    return Transition(
        here, draw.integers(actions, size=runs), draw.random(runs), onward, terminated, truncated
    )


def _same(one: Any, other: object, problem: str, *, first: bool = False) -> None:
    for part in fields(one):
        ours, theirs = getattr(one, part.name), getattr(other, part.name)
        if first and np.ndim(ours):
            ours, theirs = ours[0], theirs[0]
        hold(np.array_equal(ours, theirs), f"{problem}: see {part.name}")


def _walked(environment: Environment, source: Stream, states: HostVector) -> list[TimeStep]:
    """Some steps of random actions."""
    draw, seen = np.random.default_rng(0), []
    for _ in range(_STEPS):
        _whole(states, environment.num_states, "states must be whole numbers, one for each run")
        actions = draw.integers(environment.num_actions, size=_RUNS)
        available = getattr(environment, "available", None)
        if available is not None:  # the next one that the state has
            onward = (actions[:, None] + np.arange(environment.num_actions)) % available.shape[1]
            first = np.take_along_axis(available[states], onward, axis=1).argmax(1)
            actions = onward[np.arange(_RUNS), first]
        outcome = environment.step(states, actions, source)
        _whole(outcome.next_states, environment.num_states, "step must lead to a state in each run")
        sizes = [np.shape(part) for part in outcome]
        hold(
            sizes == [(_RUNS,)] * 4, f"a step must have four parts of shape ({_RUNS},); got {sizes}"
        )
        hold(bool(np.all(np.isfinite(outcome.rewards))), "rewards must be finite")
        over = outcome.terminated | outcome.truncated
        seen.append(outcome)
        states = environment.restart(outcome.next_states, over, source)
        hold(
            np.array_equal(states[~over], outcome.next_states[~over]), "a restart moved other runs"
        )
    return seen


def _equal(one: list[TimeStep], other: list[TimeStep]) -> bool:
    pairs = zip(one, other, strict=True)
    return all(
        np.array_equal(a, b) for ours, theirs in pairs for a, b in zip(ours, theirs, strict=True)
    )
