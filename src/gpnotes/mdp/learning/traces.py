"""Learners of action values with eligibility traces: SARSA(λ), and Watkins's Q(λ).

A trace says how much a pair has in the errors to come: each visit adds one to it, each step leaves
the share γλ of it.

Source: Watkins (1989) for Q(λ); Rummery & Niranjan (1994) for SARSA(λ); Sutton & Barto (2018),
chapter 12.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...ground import check as _check
from ...ground.random import Stream
from ...ground.xp import HostArray, HostVector
from .schedules import fraction
from .tabular import (
    LearnerState,
    Transition,
    flat,
    flat_indices,
    later,
    row_max,
    rows,
)
from .td_control import (
    ActionValueLearner,
    SARSAState,
    expected_value,
    no_pending,
    step_size_at,
    td_target,
)

__all__ = ["QLambda", "QLambdaState", "SARSALambda", "SARSALambdaState"]


@dataclass(frozen=True, eq=False, kw_only=True)
class QLambdaState(LearnerState):
    """A learner's state with traces.

    Parameters
    ----------
    values, visits, time
        As of `LearnerState`.
    traces : HostArray, shape (runs, states, actions)
        The share of each pair in the errors to come.
    """

    traces: HostArray


@dataclass(frozen=True, eq=False, kw_only=True)
class SARSALambdaState(SARSAState):
    """A learner's state with traces, whose last step waits for the action that comes next.

    Parameters
    ----------
    values, visits, time, at, rewards, step_sizes, pending
        As of `SARSAState`.
    traces : HostArray, shape (runs, states, actions)
        The share of each pair in the errors to come.
    """

    traces: HostArray


@dataclass(frozen=True, eq=False)
class _Tracing(ActionValueLearner):
    trace_decay: float = 0.9
    replacing: bool = False

    def __post_init__(self) -> None:
        """Check the parts."""
        super().__post_init__()
        object.__setattr__(self, "trace_decay", fraction(self.trace_decay, "trace_decay"))
        object.__setattr__(self, "replacing", _check.flag(self.replacing, "replacing"))

    def mark(self, traces: HostArray, pairs: HostVector, mask: HostVector | bool) -> None:
        """Let time pass for all traces, and mark the pairs that were visited in some runs."""
        traces *= self.discount * self.trace_decay
        flat_traces = flat(traces)
        old = flat_traces[pairs]
        flat_traces[pairs] = np.where(mask, 1.0 if self.replacing else old + 1.0, old)

    def spread(self, learned: QLambdaState | SARSALambdaState, scaled_error: HostVector) -> None:
        """Move all values by their share of an error, which is times its step size already."""
        np.add(learned.values, scaled_error[:, None, None] * learned.traces, out=learned.values)


class QLambda(_Tracing):
    """Watkins's Q(λ): Q-learning with traces, which a step that is not greedy cuts off.

    Parameters
    ----------
    discount : float
        The discount γ, in [0, 1].
    step_size : Schedule or float, default PowerLawDecay(exponent=0.55)
        The step size; visits are those of the pair.
    exploration : ExplorationPolicy, default EpsilonGreedy()
        The rule to act by.
    initial_values : float or HostArray, shape (S, A), default 0.0
        The first values.
    trace_decay : float, default 0.9
        The share λ, in [0, 1].
    replacing : bool, default False
        Whether a trace is set to one by a visit; else a visit adds one to it.
    """

    def init(self, num_states: int, num_actions: int, runs: int, /) -> QLambdaState:
        """Return the learner's state for runs that have seen nothing."""
        fresh = super().init(num_states, num_actions, runs)
        return QLambdaState(fresh.values, fresh.visits, traces=np.zeros_like(fresh.values))

    def step(
        self, learned: QLambdaState, transition: Transition, stream: Stream, /
    ) -> QLambdaState:
        """Learn from one transition of each run; the learner's state is written into."""
        pairs, values = flat_indices(learned.values, *transition[:2]), flat(learned.values)
        step_size = step_size_at(self.step_size, learned, pairs)
        flat(learned.visits)[pairs] += 1
        learned.traces[values[pairs] < row_max(learned.values_at(transition.states))] = 0.0
        self.mark(learned.traces, pairs, True)
        target = td_target(
            self.discount, transition, row_max(rows(learned.values, transition.next_states))
        )
        self.spread(learned, step_size * (target - values[pairs]))
        learned.traces[transition.terminated | transition.truncated] = 0.0
        return later(learned)


class SARSALambda(_Tracing):
    """SARSA(λ): SARSA with traces.

    Parameters
    ----------
    discount, step_size, exploration, initial_values, trace_decay, replacing
        As in `QLambda`.
    """

    def init(self, num_states: int, num_actions: int, runs: int, /) -> SARSALambdaState:
        """Return the learner's state for runs that have seen nothing."""
        fresh = super().init(num_states, num_actions, runs)
        traces = np.zeros_like(fresh.values)
        return SARSALambdaState(fresh.values, fresh.visits, 0, **no_pending(runs), traces=traces)

    def step(
        self, learned: SARSALambdaState, transition: Transition, stream: Stream, /
    ) -> SARSALambdaState:
        """Learn from one transition of each run; the learner's state is written into."""
        pairs, values = flat_indices(learned.values, *transition[:2]), flat(learned.values)
        step_sizes = np.broadcast_to(step_size_at(self.step_size, learned, pairs), pairs.shape)
        flat(learned.visits)[pairs] += 1
        target = learned.rewards + self.discount * values[pairs]
        error = np.where(learned.pending, target - values[learned.pairs], 0.0)
        error *= learned.step_sizes
        self._learn(learned, learned.pairs, error, learned.pending)
        ended = transition.terminated | transition.truncated
        if ended.any():
            v_next = np.zeros(pairs.shape[0])
            if transition.truncated.any():
                v_next = expected_value(self.exploration, learned, transition.next_states)
            target = td_target(self.discount, transition, v_next)
            # Time passes for the traces of the runs that are over alone.
            others = learned.traces[~ended]
            self._learn(learned, pairs, step_sizes * (target - values[pairs]), ended)
            learned.traces[~ended], learned.traces[ended] = others, 0.0
        return later(
            learned, pairs=pairs, rewards=transition.rewards, step_sizes=step_sizes, pending=~ended
        )

    def _learn(
        self,
        learned: SARSALambdaState,
        pairs: HostVector,
        scaled_error: HostVector,
        mask: HostVector | bool,
    ) -> None:
        self.mark(learned.traces, pairs, mask)
        self.spread(learned, np.where(mask, scaled_error, 0.0))
