"""The best policy of a process by four methods, with a proof of how much it can lose.

The values of the best policy are the one solution of Bellman's equation ``v = T v``, where

    (T v)(s) = max_a q(s, a),    q(s, a) = r(s, a) + γ Σ_s' P(s' | s, a) v(s'),

and every policy is best that takes an action with the largest q in each state: a greedy one. Below
discount 1, T brings any two v closer by the factor γ at least, in their largest difference
(Puterman 1994, section 6.2). `solve` says by which methods that equation is solved.

**The error bound.** Whatever the method, one more sweep judges what it found. Let v be any numbers,
q what they make of the actions, and π any policy. If

    low ≤ q(s, π(s)) − v(s)    and    q(s, a) − v(s) ≤ high    for all s and a,

then ``v + low/(1 − γ) ≤ v_π ≤ v* ≤ v + high/(1 − γ)`` (MacQueen 1966; Porteus 1971): π loses no
more than ``(high − low)/(1 − γ)`` in any state, and values halfway between the two ends are off by
no more. For a greedy π that is the span of ``T v − v``, which falls faster than γ where the chain
forgets where it began. `certificates` proves it, adds the rounding of each sum, and says what takes
the place of 1 − γ at discount 1. So a `Solution` says what is true of it, also when it stopped
early.

At discount 1 every state must be able to end. States between which one may walk for nothing are an
end component without reward; it is taken as one state, which may also be stayed in
(`end_components`).
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..ground import check as _check
from ..ground.check import NoValueError
from ..ground.naming import and_more
from ..ground.showing import summary
from ..ground.sparse_matrices import from_entries, least_cost
from ..ground.xp import (
    Matrix,
    Vector,
    as_array,
    as_host,
    device,
    to_numpy,
)
from .bellman_sweeps import make_sweeps
from .certificates import (
    Certificate,
    bounding_function,
    certify,
    rounding_error,
)
from .decision_process import MDP
from .end_components import CollapsedMDP, collapse_end_components, lift_policy
from .evaluation import solve_chain
from .greedy_policies import chosen_values, greedy_policy, max_over_actions
from .proper_policies import actions_towards, as_host_rows, proper_policy

__all__ = ["METHODS", "Solution", "solve"]

METHODS = ("value iteration", "modified policy iteration", "policy iteration", "linear program")


_TOLERANCE = 1e-8  # unless rounding hides it
_LARGE = 1e120  # of a reward, whose sums shall not overflow
_WATCHED = 8  # sweeps over all actions by which it is judged how fast they come together
_PATIENCE = 64  # of them, as many as may still be needed before a system of equations is solved


@dataclass(frozen=True, eq=False)
class Solution:
    """The answer of `solve`.

    Parameters
    ----------
    values : Vector, shape (S,)
        The values of the states.
    action_values : Matrix, shape (S, A)
        ``r + γ P v`` at these values.
    policy : Vector, shape (S,)
        The first action of each state that is as good as any, up to a slack within the bound.
    bound : float
        No state loses more than this by the policy, and no value is further from that of the best
        policy. It holds for the numbers that the process stores, rounding included.
    iterations : int
        Sweeps over all actions; of a linear program, its steps with those of policy iteration
        after it.
    method : str
        The method.
    converged : bool
        Whether the bound met the tolerance, or without one what rounding allows, within
        `max_steps`. If not, it is what it says, maybe infinite at discount 1.
    """

    values: Vector
    action_values: Matrix
    policy: Vector
    bound: float
    iterations: int
    method: str
    converged: bool

    __repr__ = summary


def solve(
    mdp: MDP,
    method: str = "modified policy iteration",
    *,
    tolerance: float | None = None,
    max_steps: int = 1_000_000,
) -> Solution:
    """Find a policy that loses no more than a tolerance in any state, and prove it.

    Parameters
    ----------
    method : str, default ``"modified policy iteration"``
        Also ``"value iteration"``, ``"policy iteration"`` and ``"linear program"``.
    tolerance : float, optional
        What the policy may lose, and the values be off by. By default 1e-8, of rewards below one
        that share of the largest, or what rounding allows, whichever is larger: values of a
        million, or a discount of 0.999999, may allow 1e-3. The `bound` of the solution is what was
        proved.
    max_steps : int, default 1000000
        The most sweeps over all actions.

    Returns
    -------
    Solution
        Values, policy and bound; the bound is at most a `tolerance` that is given, but for the
        rounding of values to a dtype coarser than float64, in which everything is worked out. Its
        `converged` is False if `max_steps` sweeps did not suffice.

    Raises
    ------
    ValueError
        If a `tolerance` that is given is below what rounding lets be proved; it says what could be
        had. If the discount is so near to 1 that nothing can be proved; or it is 1 and some state
        never ends whatever is done, or values have no bound. For a method that there is not.

    Notes
    -----
    - Value iteration repeats ``v ← max_a (r + γ P v)``; it takes about ``log(1/ε) / log(1/ρ)``
      sweeps, where ρ is γ times the rate at which the chain forgets where it started.
    - Policy iteration (Howard 1960) solves ``v = r_π + γ P_π v`` for the values of a policy, and
      takes a greedy policy of them until nothing changes.
    - Modified policy iteration (Puterman and Shin 1978) has some sweeps ``v ← r_π + γ P_π v`` in
      place of that system of equations, each of which reads one row a state. It goes over to policy
      iteration where the chain of a policy that no longer changes forgets hardly anything.
    - The linear program (d'Épenoux 1963) looks for the least v with ``v ≥ r + γ P v`` for all
      actions; HiGHS solves it, and policy iteration does what its tolerances leave open.

    A sweep over all actions reads each entry of the transitions once; threads share large ones.

    At discount 1 every improper policy, one that may never end, must lose without bound, or earn
    nothing at all from then on: a cycle whose rewards cancel is refused.

    Source: Puterman (1994), chapters 6 and 7.

    Examples
    --------
    >>> import numpy as np
    >>> stay, move = [1.0, 0.0], [0.2, 0.8]
    >>> mdp = MDP(np.asarray([stay, move, [0.0, 1.0], [1.0, 0.0]]),
    ...           np.asarray([[0.0, -1.0], [1.0, 0.0]]), 0.9)
    >>> solution = solve(mdp)
    >>> solution.policy, solution.values.round(6), solution.bound < 1e-8
    (array([1, 0]), array([ 7.560976, 10.      ]), True)
    """
    _check.instance(mdp, "mdp", MDP)
    _check.choice(method, "method", METHODS)
    if tolerance is not None:
        tolerance = _check.positive(_check.number(tolerance, "tolerance"), "tolerance")
    max_steps = _check.whole(max_steps, "max_steps", 1)
    return _solve(mdp, method, tolerance=tolerance, max_steps=max_steps)


def _solve(
    mdp: MDP,
    method: str = "modified policy iteration",
    *,
    tolerance: float | None = None,
    default: float = _TOLERANCE,
    max_steps: int = 1_000_000,
) -> Solution:
    """`solve` without its checks; without a tolerance by a default, or what rounding allows."""
    if mdp.largest_reward >= _LARGE:
        raise NoValueError(f"mdp.rewards must be smaller than {_LARGE:g} in size: values overflow")
    double = mdp.in_double()
    method_function = {
        "value iteration": _value_iteration,
        "modified policy iteration": _modified_policy_iteration,
        "policy iteration": _policy_iteration,
        "linear program": _linear_program,
    }[method]
    collapsed = collapse_end_components(double) if mdp.discount == 1.0 else None
    process = double if collapsed is None else collapsed.mdp
    # of smaller rewards less, so that values of any unit have the same policy
    share = min(1.0, mdp.largest_reward) or 1.0
    asked = default * share if tolerance is None else tolerance
    result = method_function(_Solver(process, asked, max_steps, strict=tolerance is not None))
    if collapsed is not None:
        result = _lift(result, double, collapsed)
    return _solution(result, mdp, method)


class _Result(NamedTuple):
    certificate: Certificate
    policy: Vector
    iterations: int
    converged: bool = True


def _solution(result: _Result, mdp: MDP, method: str) -> Solution:
    """The answer in the dtype of the process, whose rounding the bound takes in."""
    like, xp = mdp.rewards, mdp.xp
    values, action_values, bound = result.certificate
    if values.dtype != like.dtype:
        bound += mdp.epsilon * float(xp.max(xp.abs(values)))
    return Solution(
        xp.astype(values, like.dtype, copy=False),
        xp.astype(action_values, like.dtype, copy=False),
        result.policy,
        bound,
        result.iterations,
        method,
        result.converged,
    )


def _lift(end: _Result, mdp: MDP, small: CollapsedMDP) -> _Result:
    """The answer for a process of that for what it was collapsed to."""
    values = as_array(as_host(end.certificate.values)[small.label], mdp.rewards)
    certificate = Certificate(values, mdp._action_values(values), end.certificate.bound)
    policy = mdp.xp.asarray(
        lift_policy(mdp, small, as_host(end.policy)), device=device(mdp.rewards)
    )
    return end._replace(certificate=certificate, policy=policy)


class _Solver:
    """What all methods share: when to look for a certificate, and the look."""

    def __init__(self, mdp: MDP, tolerance: float, max_steps: int, *, strict: bool) -> None:
        self.mdp, self.tolerance, self.max_steps = mdp, tolerance, max_steps
        self.strict = strict  # no more than the tolerance, or else what rounding allows
        self.at_rounding = False  # of these values: the threshold is what rounding allows
        self.xp = mdp.xp
        self.ends_at = mdp.terminal if bool(self.xp.any(mdp.terminal)) else None
        self.iterations = self.before = 0  # and those of the linear program before them
        self._spans: deque[float] = deque(maxlen=_WATCHED)
        self._followed: Vector | None = None
        self.may_solve = True  # systems of equations in place of sweeps
        self.asked = tolerance / 4.0  # of the span of a step; at discount 1, a first guess
        self._rounding_at_most = math.inf  # where no more than that is asked, it does not matter
        if mdp.discount < 1.0:
            self.bounding = bounding_function(mdp)
            self.asked *= max(float(self.bounding.min_decrease), 0.0)
            if self.asked == 0.0:
                raise NoValueError(
                    "mdp must have a discount times sums of rows that is below 1 by more than "
                    f"rounding; the discount is {mdp.discount!r} and the largest sum "
                    f"{mdp.row_sums[1]!r}: lower the discount, or take 1 where every state can end"
                )
            # the largest value that sweeps from zero come to
            most = 2.0 * mdp.largest_reward / float(self.bounding.min_decrease)
            self._rounding_at_most = mdp.rounding * (mdp.largest_reward + 2.0 * most)
        else:
            improper = np.flatnonzero(proper_policy(mdp) < 0)
            if improper.size:
                raise NoValueError(
                    "mdp must be able to end from every state when discount is 1; from state "
                    f"{int(improper[0])}{and_more(improper.size)} no policy does"
                )
        self.threshold = self.asked

    def end(self, values: Vector, q: Matrix, best: Vector) -> _Result | None:
        """The answer, if values are good enough or no more sweeps are allowed."""
        step = best - values
        high, low = float(self.xp.max(step)), float(self.xp.min(step))
        span = high - low if self.mdp.discount < 1.0 else max(high, -low)
        if self.asked <= self._rounding_at_most:
            self.meet_rounding(values, max(high, -low))
        self.iterations += 1
        self._spans.append(span)
        if self.mdp.discount == 1.0 and self.iterations >= 8 and self.iterations.bit_count() == 1:
            self._refuse_growth(values, q)
        end = self.certified(values, q) if span <= self.threshold else None
        if end is None and self.iterations == self.max_steps:
            return self.stopped(values, q)
        return end

    def settled_policy(self, q: Matrix) -> Vector | None:
        """The greedy policy, if it stays and its values would still be a long way off by sweeps.

        Where the chain of a policy forgets nothing, as on a ring, each sweep brings values closer
        by the factor γ alone.
        """
        if not self.may_solve:
            return None
        policy, before = greedy_policy(q), self._followed
        self._followed = policy
        if before is None or not bool(self.xp.all(policy == before)) or not self._is_slow():
            return None
        return policy if self.mdp.discount < 1.0 or self.ends(policy) else None

    def _is_slow(self) -> bool:
        """Return whether many sweeps are left at the rate of the last ones over all actions."""
        then, now = self._spans[0], self._spans[-1]
        if now <= self.threshold or then <= now:
            return now > self.threshold
        fall = math.log(then / now) / (_WATCHED - 1)
        return math.log(now / self.threshold) > _PATIENCE * fall

    def _refuse_growth(self, values: Vector, q: Matrix) -> None:
        """Refuse values that grow everywhere in a set of states that the best policy stays in."""
        policy = greedy_policy(q)
        P = as_host_rows(self.mdp._induced_chain(policy)[0])
        never_ending = actions_towards(P, to_numpy(self.mdp.terminal), 1) < 0
        growth = to_numpy(chosen_values(q, policy, self.xp) - values)[never_ending]
        if growth.size and np.min(growth) > rounding_error(self.mdp, values):
            raise self.unbounded()

    def unbounded(self) -> NoValueError:
        return NoValueError(
            "mdp must have values with a bound: at discount 1 a policy earns without an end"
        )

    def meet_rounding(self, values: Vector, step: float = 0.0) -> None:
        """Refuse a tolerance that rounding hides, or else look no closer than rounding allows.

        What is refused says what could be had. Of values that still change by `step` rounding tells
        too little: they go on by no more than ``γ step / (1 − γ)``.
        """
        rounding = rounding_error(self.mdp, values)
        was_at_rounding, self.at_rounding = self.at_rounding, rounding > self.asked
        self.threshold = max(rounding, self.asked)
        if not self.at_rounding:
            return
        if not self.strict:
            self.may_solve |= not was_at_rounding
            return
        gamma = self.mdp.discount
        still = gamma * step / (1.0 - gamma) if gamma < 1.0 else 0.0
        rounding = rounding_error(self.mdp, self.xp.abs(values) + still)
        least = 1.05 * self.tolerance * rounding / self.asked  # two digits must be enough
        cycles = "" if self.mdp.discount < 1.0 else ", or it has cycles whose rewards cancel"
        raise NoValueError(
            f"tolerance must be at least {least:.2g} for this process, or rounding hides what "
            f"is asked; got {self.tolerance:.3g}{cycles}"
        )

    def certificate(self, values: Vector, q: Matrix, policy: Vector) -> Certificate:
        if self.mdp.discount == 1.0:
            self.bounding = bounding_function(self.mdp, self.mdp._induced_chain(policy)[0])
        return certify(self.mdp, values, q, policy, self.bounding)

    def certified(self, values: Vector, q: Matrix) -> _Result | None:
        """The answer, if its bound is no more than the tolerance; else look more closely later."""
        policy = self.chosen(q)
        if policy is None:
            self.look_closer(0.5)
            return None
        certificate = self.certificate(values, q, policy)
        ratio = certificate.bound / self.tolerance
        if ratio <= 1.0 or (self.at_rounding and math.isfinite(ratio)):
            return _Result(certificate, policy, self.before + self.iterations)
        self.look_closer(0.5 if self.mdp.discount < 1.0 else max(0.01, min(0.5, 0.5 / ratio)))
        return None

    def look_closer(self, factor: float) -> None:
        """Ask for a smaller step; refuse a process where rounding leaves nothing proved."""
        if self.at_rounding:
            raise NoValueError(
                "mdp must have no cycles whose rewards cancel when discount is 1; as near as "
                "rounding allows, values have no bound"
            )
        self.asked = self.threshold = self.asked * factor

    def exact(self, values: Vector, q: Matrix) -> _Result:
        """The answer of values that are as good as they get."""
        while True:
            self.meet_rounding(values)
            end = self.certified(values, q)
            if end:
                return end

    def stopped(self, values: Vector, q: Matrix) -> _Result:
        """Return the result after the last step that is allowed."""
        policy = self.chosen(q)
        if policy is None:
            policy = self.on_device(proper_policy(self.mdp))
        certificate = self.certificate(values, q, policy)
        return _Result(certificate, policy, self.before + self.iterations, converged=False)

    def chosen(self, q: Matrix) -> Vector | None:
        """The first best action of each state; at discount 1 so that all states end."""
        policy = greedy_policy(q, self.threshold)
        if self.mdp.discount < 1.0 or self.ends(policy):
            return policy
        lower = max_over_actions(q, self.xp)[:, None] - self.threshold
        action = proper_policy(self.mdp, q >= lower)
        return None if np.any(action < 0) else self.on_device(action)

    def ends(self, policy: Vector) -> bool:
        P = as_host_rows(self.mdp._induced_chain(policy)[0])
        return bool(np.all(actions_towards(P, to_numpy(self.mdp.terminal), 1) >= 0))

    def on_device(self, action: object) -> Vector:
        return self.xp.asarray(action, device=device(self.mdp.rewards))


def _value_iteration(solver: _Solver) -> _Result:
    sweeps = make_sweeps(solver.mdp)
    values = solver.xp.zeros_like(solver.mdp.rewards[:, 0])
    while True:
        best = sweeps.optimality_backup(values)
        result = solver.end(values, sweeps.action_values, best)
        if result:
            return result
        values = best


def _modified_policy_iteration(solver: _Solver) -> _Result:
    mdp, sweeps = solver.mdp, make_sweeps(solver.mdp)
    values = solver.xp.zeros_like(mdp.rewards[:, 0])
    if mdp.discount == 1.0:  # from a policy that ends, each step of the values is upwards
        P, r = mdp._induced_chain(solver.on_device(proper_policy(mdp)))
        values = solve_chain(P, r, 1.0, mdp.terminal)
    while True:
        best = sweeps.optimality_backup(values)
        result = solver.end(values, sweeps.action_values, best)
        if result:
            return result
        settles = not solver.iterations % _WATCHED
        policy = solver.settled_policy(sweeps.action_values) if settles else None
        result = None if policy is None else _solved_by_policies(solver, policy, best)
        if result:
            return result
        values = sweeps.partial_evaluation(values, best, solver.threshold)


def _solved_by_policies(solver: _Solver, policy: Vector, values: Vector) -> _Result | None:
    """Policy iteration from here, unless rounding of its larger values hides what is asked."""
    asked, threshold, strict = solver.asked, solver.threshold, solver.strict
    solver.strict = not solver.at_rounding
    try:
        return _policy_iteration(solver, policy, values)
    except NoValueError:
        solver.may_solve, solver.asked, solver.threshold = False, asked, threshold
        return None
    finally:
        solver.strict = strict


def _policy_iteration(
    solver: _Solver, policy: Vector | None = None, values: Vector | None = None
) -> _Result:
    mdp, xp = solver.mdp, solver.xp
    if policy is None:
        may_end = mdp.discount == 1.0
        policy = solver.on_device(proper_policy(mdp)) if may_end else greedy_policy(mdp.rewards)
    while True:
        P, r = mdp._induced_chain(policy)
        values = solve_chain(P, r, mdp.discount, solver.ends_at, values)
        q = mdp._action_values(values)
        enough = chosen_values(q, policy, xp) + 4.0 * rounding_error(mdp, values)
        better = max_over_actions(q, xp) > enough
        solver.iterations += 1
        if not bool(xp.any(better)):
            return solver.exact(values, q)
        if solver.iterations == solver.max_steps:
            return solver.stopped(values, q)
        policy = xp.where(better, greedy_policy(q), policy)
        if mdp.discount == 1.0 and not solver.ends(policy):
            raise solver.unbounded()


def _linear_program(solver: _Solver) -> _Result:
    """Least values that no action exceeds; what is left open, by policy iteration."""
    mdp = solver.mdp
    S, A = mdp.rewards.shape
    pairs = np.arange(S * A)
    own_state = from_entries(np.ones(S * A), pairs, pairs // A, (S * A, S))
    system = own_state - mdp.discount * as_host_rows(mdp.transitions)
    is_nonterminal = ~to_numpy(mdp.terminal)
    nonterminal = np.flatnonzero(is_nonterminal)
    rows = np.flatnonzero(is_nonterminal[:, None] & to_numpy(mdp.available))
    values = np.zeros(S)
    if nonterminal.size:
        rewards = to_numpy(mdp.rewards).reshape(-1)[rows]
        try:
            program = least_cost(np.ones(nonterminal.size), system[rows][:, nonterminal], rewards)
        except NoValueError as error:
            if mdp.discount < 1.0:  # HiGHS gives up where rounding is as large as 1 − γ
                return _policy_iteration(solver)
            raise NoValueError(f"mdp must have values with a bound: {error}") from error
        values[nonterminal], solver.before = program.x, program.steps
    q = mdp._action_values(as_array(values, mdp.rewards))
    return _policy_iteration(solver, solver.chosen(q))
