"""Learners of the values of states under a policy: temporal differences.

They learn on policy, or from the steps of another policy: then each step is weighted by the ratio
of the probabilities with which the two take its action.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...ground import check as _check
from ...ground.random import Stream
from ...ground.xp import HostArray, HostMatrix, HostVector
from .exploration import as_policy, policy_table, sample_actions
from .schedules import STEP_SIZE, Schedule, as_schedule, fraction, value_at
from .tabular import (
    Clocked,
    Transition,
    check_initial_values,
    flat,
    initial_table,
    later,
    offsets,
    sizes,
)

__all__ = ["TD", "StateValueLearner", "TDState"]


@dataclass(frozen=True, eq=False)
class TDState:
    """The state of a learner of state values: its values, and the visits of each run.

    Parameters
    ----------
    values : HostMatrix, shape (runs, states)
        The values.
    visits : HostMatrix, shape (runs, states)
        How many steps were taken from each state.
    time : int, default 0
        How many steps each run has taken.
    traces : HostMatrix, shape (runs, states), or of no states
        The share of each state in the next error, where a learner has traces.
    """

    values: HostArray
    visits: HostArray
    time: int = 0
    traces: Any = None


@dataclass(frozen=True, eq=False)
class StateValueLearner:
    """The base of learners of state values: a policy, and the one by which they act."""

    discount: float
    policy: HostArray
    step_size: Schedule | float = STEP_SIZE
    initial_values: float | HostArray = 0.0
    behaviour: HostArray | None = None

    def __post_init__(self) -> None:
        """Check the parts."""
        object.__setattr__(self, "discount", fraction(self.discount, "discount"))
        object.__setattr__(self, "policy", as_policy(self.policy, "policy"))
        object.__setattr__(self, "step_size", as_schedule(self.step_size, "step_size"))
        object.__setattr__(self, "initial_values", check_initial_values(self.initial_values))
        if self.behaviour is not None:
            object.__setattr__(self, "behaviour", as_policy(self.behaviour, "behaviour"))

    def fresh(self, num_states: int, num_actions: int, runs: int) -> tuple[HostArray, HostArray]:
        """First values and no visits, after the sizes are checked."""
        runs, num_states, num_actions = sizes(num_states, num_actions, runs)
        target = policy_table(self.policy, "policy", num_states, num_actions)
        if self.behaviour is not None:
            check_coverage(
                target, policy_table(self.behaviour, "behaviour", num_states, num_actions)
            )
        shape = runs, num_states
        return initial_table(self.initial_values, shape), np.zeros(shape, np.int64)

    def act(self, learned: Clocked, states: HostVector, stream: Stream, /) -> HostVector:
        """Choose an action in the state of each run, by the policy or by the other one."""
        rows = np.asarray((self.policy if self.behaviour is None else self.behaviour)[states])
        if rows.ndim == 1:
            return rows
        return sample_actions(rows, np.asarray(stream.generator.random(states.shape[0])))

    def ratio(self, transition: Transition) -> float | HostVector:
        """Return the ratio of each action's probabilities, by the policy and by the behaviour."""
        if self.behaviour is None:
            return 1.0
        pair = transition.states, transition.actions
        return action_probabilities(self.policy, *pair) / action_probabilities(
            self.behaviour, *pair
        )


@dataclass(frozen=True, eq=False)
class TD(StateValueLearner):
    """Temporal differences: TD(0), and TD(λ) with eligibility traces.

    Parameters
    ----------
    discount : float
        The discount γ, in [0, 1].
    policy : HostVector, shape (S,), or HostMatrix, shape (S, A)
        The policy whose values are learnt.
    step_size : Schedule or float, default PowerLawDecay(exponent=0.55)
        The step size; visits are those of the state that the step began in.
    initial_values : float or HostVector, shape (S,), default 0.0
        The first values.
    behaviour : HostVector, HostMatrix or None
        The policy by which it acts, which must take every action that `policy` takes; None: the
        same.
    trace_decay : float, default 0.0
        The share λ of a trace that is left after a step, in [0, 1].
    replacing : bool, default False
        Whether a trace is set to one by a visit; else a visit adds one to it.
    """

    trace_decay: float = 0.0
    replacing: bool = False

    def __post_init__(self) -> None:
        """Check the parts."""
        super().__post_init__()
        object.__setattr__(self, "trace_decay", fraction(self.trace_decay, "trace_decay"))
        object.__setattr__(self, "replacing", _check.flag(self.replacing, "replacing"))

    def init(self, num_states: int, num_actions: int, runs: int, /) -> TDState:
        """Return the learner's state for runs that have seen nothing."""
        values, visits = self.fresh(num_states, num_actions, runs)
        width = num_states if self.trace_decay > 0.0 else 0
        return TDState(values, visits, 0, np.zeros((values.shape[0], width)))

    def step(self, learned: TDState, transition: Transition, stream: Stream, /) -> TDState:
        """Learn from one transition of each run; the learner's state is written into."""
        begins = offsets(*learned.values.shape)
        here = begins + transition.states
        values, visits = flat(learned.values), flat(learned.visits)
        schedule: Any = self.step_size
        step_size = value_at(schedule, lambda: visits[here], learned.time)
        visits[here] += 1
        v_next = np.where(transition.terminated, 0.0, values[begins + transition.next_states])
        error = transition.rewards + self.discount * v_next - values[here]
        ratio = self.ratio(transition)
        if self.trace_decay == 0.0:
            values[here] += step_size * (ratio * error)
            return later(learned)
        traces = learned.traces
        traces *= self.discount * self.trace_decay
        flat_traces = flat(traces)
        flat_traces[here] = 1.0 if self.replacing else flat_traces[here] + 1.0
        if self.behaviour is not None:
            traces *= np.asarray(ratio)[:, None]
        np.add(learned.values, (step_size * error)[:, None] * traces, out=learned.values)
        traces[transition.terminated | transition.truncated] = 0.0
        return later(learned)


def action_probabilities(policy: HostArray, states: HostVector, actions: HostVector) -> HostVector:
    """Return the probability with which a checked policy takes an action in a state."""
    if policy.ndim == 1:
        return np.asarray(policy[states] == actions, dtype=np.float64)
    return np.asarray(policy[states, actions])


def check_coverage(policy: HostMatrix, behaviour: HostMatrix) -> None:
    """Raise where one policy takes an action that the other never takes."""
    uncovered = (policy > 0.0) & (behaviour == 0.0)
    if uncovered.any():
        s, a = np.argwhere(uncovered)[0].tolist()
        where = f"in state {s} it never takes action {a}"
        raise ValueError(f"behaviour must take every action that policy takes; {where}")
