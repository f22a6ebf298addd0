"""Model-based learners: they estimate the process, and act by an optimal policy of the estimate.

The estimates are ``P(s' | s, a) = N(s, a, s') / N(s, a)`` and the mean reward; posterior
sampling draws both from their posterior. The end of an episode is a state of its own, so that it is
learnt like any other. A table of counts has (runs, S, A, S + 1) entries: this is the memory that
model-based learning takes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ...ground import check as _check
from ...ground.random import RNG, Stream, stream_of
from ...ground.showing import summary
from ...ground.xp import HostArray, HostMatrix, HostVector
from .. import solving
from ..decision_process import MDP
from ..greedy_policies import greedy_policy
from .exploration import EpsilonGreedy, ExplorationPolicy, check_exploration, is_available
from .schedules import fraction
from .tabular import (
    LearnerState,
    Transition,
    flat,
    flat_indices,
    later,
    nth_true,
    offsets,
    row_max,
    rows,
    sizes,
)
from .td_control import ActionValueLearner, move_values, step_size_at, td_target

__all__ = ["CertaintyEquivalence", "DynaQ", "DynaState", "ModelState", "PosteriorSampling", "RMax"]

_EXPLORE = EpsilonGreedy()
_TOLERANCE = 1e-6  # of a plan, unless rounding hides it


@dataclass(frozen=True, eq=False, kw_only=True)
class ModelState(LearnerState):
    """The state of a learner that counts.

    Parameters
    ----------
    values, visits, time
        As of `LearnerState`; the values are those of the last plan.
    transition_counts : HostArray, shape (runs, states, actions, states + 1)
        How often each state was reached from each pair; the last one is the end of an episode.
    reward_sums : HostArray, shape (runs, states, actions)
        The sums of the rewards.
    num_plans : HostVector, shape (runs,)
        How many times each run has planned.
    """

    transition_counts: HostArray
    reward_sums: HostArray
    num_plans: HostVector

    __repr__ = summary


def _empty_state(num_states: int, num_actions: int, runs: int, value: float) -> ModelState:
    shape = sizes(num_states, num_actions, runs)
    return ModelState(
        np.full(shape, value), np.zeros(shape, np.int64),
        transition_counts=np.zeros((*shape, shape[1] + 1), np.int64), reward_sums=np.zeros(shape),
        num_plans=np.zeros(shape[0], np.int64),
    )  # fmt: skip


def _count(learned: ModelState, transition: Transition) -> HostVector:
    """Count a transition of each run; return where its pair stands."""
    pairs = flat_indices(learned.values, transition.states, transition.actions)
    flat(learned.visits)[pairs] += 1
    flat(learned.reward_sums)[pairs] += transition.rewards
    num_successors = learned.transition_counts.shape[3]
    reached = np.where(transition.terminated, num_successors - 1, transition.next_states)
    flat(learned.transition_counts)[pairs * num_successors + reached] += 1
    return pairs


@dataclass(frozen=True, eq=False)
class RMax:
    """R_max: unknown pairs are taken to be as good as can be, and the best policy goes there.

    A pair is known once it was taken `known_threshold` times. Of the others the model says that
    they lead to a fictitious state, where every step earns `max_reward` for ever. The plan is made
    anew when a pair becomes known, by `solve`, from all that was counted until then.

    Parameters
    ----------
    max_reward : float
        The highest reward of a step.
    known_threshold : int
        How many visits make a pair known.
    discount : float
        The discount γ, in [0, 1).
    tolerance : float, optional
        The loss of a plan by its model; by default 1e-6, of smaller rewards that share, or as
        rounding allows, as in `solve`.
    """

    max_reward: float
    known_threshold: int
    discount: float
    tolerance: float | None = None

    def __post_init__(self) -> None:
        """Check the parts."""
        object.__setattr__(self, "max_reward", _check.number(self.max_reward, "max_reward"))
        known_threshold = _check.whole(self.known_threshold, "known_threshold", 1)
        object.__setattr__(self, "known_threshold", known_threshold)
        object.__setattr__(self, "discount", _below_one(self.discount))
        object.__setattr__(self, "tolerance", _checked_tolerance(self.tolerance))

    @property
    def max_value(self) -> float:
        """The value of the fictitious state, ``max_reward / (1 − γ)``."""
        return self.max_reward / (1.0 - self.discount)

    def init(self, num_states: int, num_actions: int, runs: int, /) -> ModelState:
        """Return the learner's state for runs that have seen nothing: all is as good as can be."""
        return _empty_state(num_states, num_actions, runs, self.max_value)

    def act(self, learned: ModelState, states: HostVector, stream: Stream, /) -> HostVector:
        """Choose the first action that is as good as any by the plan, up to its tolerance."""
        slack = _slack(self.tolerance, abs(self.max_reward))
        return np.asarray(greedy_policy(learned.values_at(states), slack))

    def step(self, learned: ModelState, transition: Transition, stream: Stream, /) -> ModelState:
        """Learn from one transition of each run; the learner's state is written into."""
        highest = float(transition.rewards.max())
        if highest > self.max_reward:
            raise ValueError(
                f"max_reward must be no less than any reward; {highest} > {self.max_reward}"
            )
        pairs = _count(learned, transition)
        for run in np.flatnonzero(flat(learned.visits)[pairs] == self.known_threshold).tolist():
            learned.values[run] = _plan(self.model(learned, run), self.tolerance)
            learned.num_plans[run] += 1
        return later(learned)

    def model(self, learned: ModelState, run: int) -> MDP:
        """Return the process that a run takes the environment to be.

        Parameters
        ----------
        run : int
            Which run.

        Returns
        -------
        MDP
            Of S + 2 states: the fictitious one at S, the end of an episode at S + 1.
        """
        known = learned.visits[run] >= self.known_threshold
        return _process(learned, run, known, self.max_reward, self.discount)


@dataclass(frozen=True, eq=False)
class CertaintyEquivalence:
    """Certainty equivalence: a plan from counts, made anew every so many steps, and exploration.

    Parameters
    ----------
    discount, tolerance
        As in `RMax`.
    exploration : ExplorationPolicy, default EpsilonGreedy()
        The rule to act by.
    plan_every : int, default 100
        After how many steps the plan is made anew.
    unseen_value : float, default 0.0
        The value of a pair that was never taken; a high one makes the learner try it.
    """

    discount: float
    exploration: ExplorationPolicy = _EXPLORE
    plan_every: int = 100
    unseen_value: float = 0.0
    tolerance: float | None = None

    def __post_init__(self) -> None:
        """Check the parts."""
        object.__setattr__(self, "discount", _below_one(self.discount))
        check_exploration(self.exploration)
        object.__setattr__(self, "plan_every", _check.whole(self.plan_every, "plan_every", 1))
        object.__setattr__(self, "unseen_value", _check.number(self.unseen_value, "unseen_value"))
        object.__setattr__(self, "tolerance", _checked_tolerance(self.tolerance))

    def init(self, num_states: int, num_actions: int, runs: int, /) -> ModelState:
        """Return the learner's state for runs that have seen nothing."""
        self.exploration.check_sizes(num_states, num_actions)
        return _empty_state(num_states, num_actions, runs, self.unseen_value)

    def act(self, learned: ModelState, states: HostVector, stream: Stream, /) -> HostVector:
        """Choose an action in the state of each run."""
        return self.exploration.choose(learned, states, stream)

    def step(self, learned: ModelState, transition: Transition, stream: Stream, /) -> ModelState:
        """Learn from one transition of each run; the learner's state is written into."""
        _count(learned, transition)
        if (learned.time + 1) % self.plan_every == 0:
            for run in range(learned.values.shape[0]):
                learned.values[run] = _plan(self.model(learned, run), self.tolerance)
            learned.num_plans[:] += 1
        return later(learned)

    def model(self, learned: ModelState, run: int) -> MDP:
        """Return the process that a run takes the environment to be.

        Parameters
        ----------
        run : int
            Which run.

        Returns
        -------
        MDP
            Of S + 2 states: at S one that stands for pairs never seen, whose value is
            `unseen_value`;
            the end of an episode at S + 1.
        """
        reward = self.unseen_value * (1.0 - self.discount)
        return _process(learned, run, learned.visits[run] > 0, reward, self.discount)


@dataclass(frozen=True, eq=False)
class PosteriorSampling:
    """Posterior sampling (PSRL): Thompson sampling of a whole process.

    At the start of each episode a process is drawn from its posterior, and its best policy is
    followed. Where an episode lasts, a process is also drawn whenever the visits of a pair have
    doubled, and every so many steps. The successors of a pair have a Dirichlet prior, symmetric
    over all states and the end of an episode. Its mean reward has a normal prior of mean zero, and
    is seen with normal noise.

    Parameters
    ----------
    discount : float
        The discount γ, in [0, 1).
    prior_visits : float, default 1.0
        The sum of the Dirichlet parameters of a pair: for how many visits the prior counts.
    reward_var : float, default 1.0
        The prior variance of a mean reward.
    noise_var : float, default 1.0
        The variance of a reward about its mean.
    draw_every : int, default 100
        After how many steps a process is drawn in any case.
    tolerance : float, optional
        The loss of a plan by the process that was drawn; by default as in `RMax`.

    Notes
    -----
    Source: Strens (2000); Osband, Russo & Van Roy (2013), whose episodes all have one length; for
    doubled visits, Ouyang, Gagrani, Nayyar & Jain (2017).
    """

    discount: float
    prior_visits: float = 1.0
    reward_var: float = 1.0
    noise_var: float = 1.0
    draw_every: int = 100
    tolerance: float | None = None

    def __post_init__(self) -> None:
        """Check the parts."""
        object.__setattr__(self, "discount", _below_one(self.discount))
        for name in ("prior_visits", "reward_var", "noise_var"):
            value = _check.positive(_check.number(getattr(self, name), name), name)
            object.__setattr__(self, name, value)
        object.__setattr__(self, "tolerance", _checked_tolerance(self.tolerance))
        object.__setattr__(self, "draw_every", _check.whole(self.draw_every, "draw_every", 1))

    def init(self, num_states: int, num_actions: int, runs: int, /) -> ModelState:
        """Return the learner's state for runs that have seen nothing."""
        return _empty_state(num_states, num_actions, runs, 0.0)

    def act(self, learned: ModelState, states: HostVector, stream: Stream, /) -> HostVector:
        """Choose the best action in the process drawn; any one in the first step."""
        if learned.time == 0:  # the prior is the same for all actions, so each is as often the best
            available = is_available(learned.values_at(states))
            if available.all():
                return np.asarray(stream.generator.integers(available.shape[1], size=states.size))
            return nth_true(available, stream.generator.integers(available.sum(1)))
        slack = _slack(self.tolerance, self.reward_var**0.5)
        return np.asarray(greedy_policy(learned.values_at(states), slack))

    def step(self, learned: ModelState, transition: Transition, stream: Stream, /) -> ModelState:
        """Learn from one transition of each run; the learner's state is written into."""
        visits = flat(learned.visits)[_count(learned, transition)]
        doubled = visits & (visits - 1) == 0  # 1, 2, 4, 8, ...
        due = transition.terminated | transition.truncated | doubled
        due |= (learned.time + 1) % self.draw_every == 0
        seeds = stream.generator.integers(2**63 - 1, size=due.shape[0])  # no run draws for another
        for run in np.flatnonzero(due).tolist():
            drawn = self.draw(learned, run, stream_of(int(seeds[run])))
            learned.values[run] = _plan(drawn, self.tolerance)
            learned.num_plans[run] += 1
        return later(learned)

    def draw(self, learned: ModelState, run: int, rng: RNG) -> MDP:
        """Draw a process from the posterior of a run.

        Parameters
        ----------
        run : int
            Which run.
        rng : Stream, Generator or int
            The source of random numbers.

        Returns
        -------
        MDP
            Of S + 2 states: at S one that nothing leads to, the end of an episode at S + 1.
        """
        generator, counts = stream_of(rng).generator, learned.transition_counts[run]
        shares = _dirichlet(counts + self.prior_visits / counts.shape[2], generator)
        precision = 1.0 / self.reward_var + learned.visits[run] / self.noise_var
        means = learned.reward_sums[run] / self.noise_var / precision
        rewards = means + generator.standard_normal(means.shape) / np.sqrt(precision)
        P, r = _laid_out(shares, rewards, 0.0)
        return _estimate(learned, run, P, r, self.discount)


@dataclass(frozen=True, eq=False, kw_only=True)
class DynaState(ModelState):
    """The state of Dyna-Q, which also lists the pairs that were taken.

    Parameters
    ----------
    values, visits, time, transition_counts, reward_sums, num_plans
        As of `ModelState`; no plan is counted.
    pairs : HostMatrix, shape (runs, S A)
        Where the pairs that were taken stand in a table (S, A) laid flat, in the order of their
        first visits.
    num_pairs : HostVector, shape (runs,)
        How many they are.
    """

    pairs: HostMatrix
    num_pairs: HostVector


@dataclass(frozen=True, eq=False)
class DynaQ(ActionValueLearner):
    """Dyna-Q: Q-learning, which between two steps also learns from steps of a model.

    After each step it draws pairs that were taken before, each as probable as another, and for each
    a successor by the shares of the counts. It moves the pair's value towards the mean reward and
    the best value there. Where nothing is random, that is the table of last outcomes of the
    textbooks.

    Parameters
    ----------
    discount, step_size, exploration, initial_values
        As in `QLearning`.
    planning_steps : int, default 5
        How many such updates follow each step; without any it is `QLearning`.

    Notes
    -----
    Source: Sutton (1990); Sutton & Barto (2018), section 8.2.
    """

    planning_steps: int = 5

    def __post_init__(self) -> None:
        """Check the parts."""
        super().__post_init__()
        planning_steps = _check.whole(self.planning_steps, "planning_steps", 0)
        object.__setattr__(self, "planning_steps", planning_steps)

    def init(self, num_states: int, num_actions: int, runs: int, /) -> DynaState:
        """Return the learner's state for runs that have seen nothing."""
        fresh: LearnerState = super().init(num_states, num_actions, runs)
        counts = vars(_empty_state(num_states, num_actions, runs, 0.0))
        pairs = np.zeros((runs, num_states * num_actions), np.int64)
        none = np.zeros(runs, np.int64)
        return DynaState(**{**counts, "values": fresh.values}, pairs=pairs, num_pairs=none)

    def step(self, learned: DynaState, transition: Transition, stream: Stream, /) -> DynaState:
        """Learn from one transition of each run; the learner's state is written into."""
        v_next = row_max(rows(learned.values, transition.next_states))
        target = td_target(self.discount, transition, v_next)
        pairs = flat_indices(learned.values, *transition[:2])
        move_values(learned, pairs, target, step_size_at(self.step_size, learned, pairs))
        _count(learned, transition)
        _list_new(learned, pairs)
        for pairs, rewards, successors in self._remembered(learned, stream):
            ended = successors == learned.values.shape[1]
            v_next = row_max(rows(learned.values, np.where(ended, 0, successors)))
            target = rewards + self.discount * np.where(ended, 0.0, v_next)
            move_values(learned, pairs, target, step_size_at(self.step_size, learned, pairs))
        return later(learned)

    def _remembered(
        self, learned: DynaState, stream: Stream
    ) -> Iterator[tuple[HostVector, HostVector, HostVector]]:
        """Pairs that were taken, their mean rewards and successors, for each planning step."""
        runs, size = learned.pairs.shape
        which, where = stream.generator.random((2, self.planning_steps, runs))
        places = (which * learned.num_pairs).astype(np.int64)
        pairs = offsets(runs, size) + learned.pairs[np.arange(runs), places]
        counts = learned.transition_counts.reshape(runs * size, -1)[pairs]
        visits = flat(learned.visits)[pairs]
        successors = (counts.cumsum(-1) <= (where * visits)[..., None]).sum(-1)
        return zip(pairs, flat(learned.reward_sums)[pairs] / visits, successors, strict=True)


def _list_new(learned: DynaState, pairs: HostVector) -> None:
    """List those of the pairs that were just taken for the first time."""
    new = np.flatnonzero(flat(learned.visits)[pairs] == 1)
    size = learned.pairs.shape[1]
    learned.pairs[new, learned.num_pairs[new]] = pairs[new] - offsets(pairs.shape[0], size)[new]
    learned.num_pairs[new] += 1


def _process(
    learned: ModelState, run: int, known: HostArray, unknown_reward: float, discount: float
) -> MDP:
    """The estimate; pairs that are not known lead to the state S, which stays and earns as they."""
    states, visits = known.shape[0], np.maximum(learned.visits[run], 1)
    shares = learned.transition_counts[run] / visits[:, :, None]
    P, r = _laid_out(shares, learned.reward_sums[run] / visits, unknown_reward)
    P[:states][~known], r[:states][~known] = 0.0, unknown_reward
    P[:states, :, states][~known] = 1.0
    return _estimate(learned, run, P, r, discount)


def _estimate(learned: ModelState, run: int, P: HostArray, r: HostMatrix, discount: float) -> MDP:
    """The process of transitions (S + 2, A, S + 2), without actions that are not available."""
    r[:-2][~is_available(learned.values[run])] = -np.inf
    return MDP.from_arrays(P, r, discount, layout="state first")


def _laid_out(
    shares: HostArray, rewards: HostMatrix, unknown_reward: float
) -> tuple[HostArray, HostMatrix]:
    """Return transitions and rewards with a state S for unknown pairs, and the end at S + 1."""
    states, actions = rewards.shape
    P, r = np.zeros((states + 2, actions, states + 2)), np.zeros((states + 2, actions))
    P[:states, :, :states], P[:states, :, -1] = shares[:, :, :-1], shares[:, :, -1]
    P[states, :, states] = P[states + 1, :, states + 1] = 1.0
    r[:states], r[states] = rewards, unknown_reward
    return P, r


def _dirichlet(parameters: HostArray, generator: np.random.Generator) -> HostArray:
    """A draw for each row of parameters: gamma variables over their sum, by logarithms.

    The logarithm of a gamma variable of a small parameter a, which may be below all floats, is that
    of one of a + 1, less an exponential variable over a.
    """
    logs = np.log(generator.standard_gamma(parameters + 1.0))
    logs -= generator.standard_exponential(parameters.shape) / parameters
    shares = np.exp(logs - logs.max(-1, keepdims=True))
    return shares / shares.sum(-1, keepdims=True)


def _checked_tolerance(tolerance: float | None) -> float | None:
    if tolerance is None:
        return None
    return _check.positive(_check.number(tolerance, "tolerance"), "tolerance")


def _slack(tolerance: float | None, unit: float) -> float:
    """Return the loss at which an action still counts as the best, of rewards in some unit."""
    return _TOLERANCE * (min(1.0, unit) or 1.0) if tolerance is None else tolerance


def _plan(model: MDP, tolerance: float | None) -> HostArray:
    """The action values of a plan by a model, without those of its two fictitious states."""
    plan = solving._solve(model, tolerance=tolerance, default=_TOLERANCE)
    if not plan.converged:
        asked = _slack(tolerance, model.largest_reward)
        raise RuntimeError(
            f"tolerance must be larger than {asked:.3g}: after {plan.iterations} "
            f"sweeps the plan may still lose {plan.bound:.3g}"
        )
    return np.asarray(plan.action_values[:-2])


def _below_one(discount: float) -> float:
    discount = fraction(discount, "discount")
    if discount == 1.0:
        raise ValueError("discount must be below 1, for what is not known to have a value; got 1.0")
    return discount
