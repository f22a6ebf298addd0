"""The best policy of a process, with a proof of how much it can lose."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..ground import check as _check
from ..ground.check import NoValueError
from ..ground.showing import summary
from ..ground.sparse_matrices import from_entries, least_cost
from ..ground.xp import (
    Matrix,
    Vector,
    array_namespace,
    as_array,
    as_host,
    device,
    epsilon,
    to_numpy,
)
from .absorption import as_host_rows, nearest_end, ways_out
from .bellman_sweeps import Sweeps, sweeps_of
from .certificates import Certificate, certificate_of, rounding_of, yardstick_of
from .decision_process import MDP
from .end_components import Collapsed, collapsed, lifted
from .evaluation import solved_chain
from .ties import first_best, largest, taken

__all__ = ["METHODS", "Solution", "solve"]

METHODS = ("value iteration", "modified policy iteration", "policy iteration", "linear program")


_LARGE = 1e120  # of a reward, whose sums shall not overflow


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
    """

    values: Vector
    action_values: Matrix
    policy: Vector
    bound: float
    iterations: int
    method: str

    __repr__ = summary


def solve(
    mdp: MDP,
    method: str = "modified policy iteration",
    *,
    tolerance: float = 1e-8,
    limit: int = 1_000_000,
) -> Solution:
    """Find a policy that loses no more than a tolerance in any state, and prove it.

    Parameters
    ----------
    mdp : MDP
        The process.
    method : str, default ``"modified policy iteration"``
        Also ``"value iteration"``, ``"policy iteration"`` and ``"linear program"``.
    tolerance : float, default 1e-8
        What the policy may lose, and the values be off by.
    limit : int, default 1000000
        The most sweeps over all actions.

    Returns
    -------
    Solution
        Values, policy and bound; the bound is at most `tolerance`, but for the rounding of values
        to a dtype coarser than float64, in which everything is worked out.

    Raises
    ------
    ValueError
        If `tolerance` is below what rounding lets be proved; it says what could be had. If the
        discount is 1 and some state never ends whatever is done, or values have no bound. If it has
        not ended after `limit` sweeps. For a method that there is not.

    Notes
    -----
    One sweep costs a product with the transitions, whose entries are read once. Value iteration
    does nothing else, and ends when the bounds of `certificate_of` meet: after about ``log(1/ε) /
    log(1/ρ)`` sweeps, where ρ is γ times the rate at which the chain forgets where it started.
    Modified policy iteration (Puterman and Shin 1978) puts sweeps with the chain of the best
    policy between two of these, which cost 1/A each. Policy iteration (Howard 1960) solves for the
    values of each policy; the linear program (d'Épenoux 1963) is given to HiGHS, and what its
    tolerances leave open is settled by policy iteration.

    At discount 1 every state must be able to end, and who goes round without an end must lose, or
    earn nothing at all: states between which one may walk free of charge are taken together as
    one, which may also be stayed in. A circle whose rewards cancel is refused.

    Examples
    --------
    >>> import numpy as np
    >>> stay, move = [1.0, 0.0], [0.2, 0.8]
    >>> mdp = MDP(np.asarray([stay, move, [0.0, 1.0], [1.0, 0.0]]),
    ...           np.asarray([[0.0, -1.0], [1.0, 0.0]]), 0.9)
    >>> found = solve(mdp)
    >>> found.policy, found.values.round(6), found.bound < 1e-8
    (array([1, 0]), array([ 7.560976, 10.      ]), True)
    """
    _check.instance(mdp, "mdp", MDP)
    _check.choice(method, "method", METHODS)
    tolerance = _check.positive(_check.number(tolerance, "tolerance"), "tolerance")
    limit = _check.whole(limit, "limit", 1)
    if mdp.largest_reward >= _LARGE:
        raise NoValueError(f"mdp.rewards must be smaller than {_LARGE:g} in size: values overflow")
    wide = mdp.in_double()
    run = {
        "value iteration": _value_iteration,
        "modified policy iteration": _modified_policy_iteration,
        "policy iteration": _policy_iteration,
        "linear program": _linear_program,
    }[method]
    small = collapsed(wide) if mdp.discount == 1.0 else None
    if small is None:
        return _rounded(run(_Search(wide, tolerance, limit)), mdp, method)
    end = run(_Search(small.mdp, tolerance, limit))
    return _rounded(_lifted(end, wide, small), mdp, method)


class _End(NamedTuple):
    certificate: Certificate
    policy: Vector
    iterations: int


def _rounded(end: _End, mdp: MDP, method: str) -> Solution:
    """The answer in the dtype of the process, whose rounding the bound takes in."""
    like = mdp.rewards
    xp = array_namespace(like)
    found = end.certificate
    coarse = 0.0
    if found.values.dtype != like.dtype:
        coarse = epsilon(like) * float(xp.max(xp.abs(found.values)))
    return Solution(
        xp.astype(found.values, like.dtype, copy=False),
        xp.astype(found.action_values, like.dtype, copy=False),
        end.policy,
        found.bound + coarse,
        end.iterations,
        method,
    )


def _lifted(end: _End, mdp: MDP, small: Collapsed) -> _End:
    """The answer for a process of that for what it was collapsed to."""
    xp = array_namespace(mdp.rewards)
    values = as_array(as_host(end.certificate.values)[small.label], mdp.rewards)
    found = Certificate(values, mdp.backup(values), end.certificate.bound)
    policy = lifted(mdp, small, as_host(end.policy))
    return _End(found, xp.asarray(policy, device=device(mdp.rewards)), end.iterations)


class _Search:
    """What all methods share: when to look for a certificate, and the look."""

    def __init__(self, mdp: MDP, tolerance: float, limit: int) -> None:
        self.mdp, self.tolerance, self.limit = mdp, tolerance, limit
        self.xp = array_namespace(mdp.rewards)
        self.ends_at = mdp.terminal if bool(self.xp.any(mdp.terminal)) else None
        self._looks = 0
        self.aim = tolerance / 4.0  # of the span of a step; at discount 1, a first guess
        if mdp.discount < 1.0:
            self.stick = yardstick_of(mdp)
            self.aim *= max(float(self.stick.least), 0.0)
        else:
            lost = np.flatnonzero(nearest_end(mdp) < 0)
            if lost.size:
                raise NoValueError(
                    "mdp must be able to end from every state when discount is 1; from state "
                    f"{int(lost[0])} no policy does, nor from {lost.size - 1} others"
                )

    def start(self) -> Vector:
        """The values to start from: zero, or those of a proper policy at discount 1."""
        return self.xp.zeros_like(self.mdp.rewards[:, 0])

    def ended(
        self, values: Vector, sweeps: Sweeps, best: Vector
    ) -> tuple[Certificate, Vector] | None:
        """The certificate and its policy, if values are good enough."""
        step = best - values
        high, low = float(self.xp.max(step)), float(self.xp.min(step))
        apart = high - low if self.mdp.discount < 1.0 else max(high, -low)
        self.refuse_rounding(values)
        self._looks += 1
        if self.mdp.discount == 1.0 and self._looks >= 8 and self._looks.bit_count() == 1:
            self._refuse_growth(values, sweeps.action_values)
        return self.certified(values, sweeps.action_values) if apart <= self.aim else None

    def _refuse_growth(self, values: Vector, q: Matrix) -> None:
        """Refuse values that grow everywhere in a set of states that the best policy stays in."""
        policy = first_best(q)
        P = as_host_rows(self.mdp.followed(policy)[0])
        lost = ways_out(P, to_numpy(self.mdp.terminal), 1) < 0
        grown = to_numpy(taken(q, policy) - values)[lost]
        if grown.size and np.min(grown) > rounding_of(self.mdp, values):
            raise self.unbounded()

    def unbounded(self) -> NoValueError:
        return NoValueError(
            "mdp must have values with a bound: at discount 1 a policy earns without an end"
        )

    def refuse_rounding(self, values: Vector) -> None:
        off = rounding_of(self.mdp, values)
        if off > self.aim:
            raise self.hidden(self.tolerance * off / self.aim if self.aim > 0.0 else math.inf)

    def hidden(self, least: float) -> NoValueError:
        circles = "" if self.mdp.discount < 1.0 else ", or it has circles whose rewards cancel"
        return NoValueError(
            f"tolerance must be at least {least:.2g} for this process, or rounding hides what is "
            f"asked; got {self.tolerance:.3g}{circles}"
        )

    def certified(self, values: Vector, q: Matrix) -> tuple[Certificate, Vector] | None:
        policy = self.chosen(q)
        if policy is None:
            self.aim *= 0.5
            return None
        if self.mdp.discount == 1.0:
            self.stick = yardstick_of(self.mdp, self.mdp.followed(policy)[0])
        found = certificate_of(self.mdp, values, q, policy, self.stick)
        ratio = found.bound / self.tolerance
        if ratio <= 1.0:
            return found, policy
        self.aim *= 0.5 if self.mdp.discount < 1.0 else max(0.01, min(0.5, 0.5 / ratio))
        return None

    def settled(self, values: Vector, q: Matrix) -> tuple[Certificate, Vector]:
        """The certificate of values that are as good as they get."""
        while True:
            self.refuse_rounding(values)
            found = self.certified(values, q)
            if found:
                return found

    def chosen(self, q: Matrix) -> Vector | None:
        """The first best action of each state; at discount 1 so that all states end."""
        policy = first_best(q, self.aim)
        if self.mdp.discount < 1.0 or self.ends(policy):
            return policy
        enough = largest(q)[:, None] - self.aim
        action = nearest_end(self.mdp, q >= enough)
        return None if np.any(action < 0) else self.on_device(action)

    def ends(self, policy: Vector) -> bool:
        P = as_host_rows(self.mdp.followed(policy)[0])
        return bool(np.all(ways_out(P, to_numpy(self.mdp.terminal), 1) >= 0))

    def on_device(self, action: Any) -> Vector:
        return self.xp.asarray(action, device=device(self.mdp.rewards))

    def late(self) -> NoValueError:
        return NoValueError(
            f"limit must be larger: after {self.limit} sweeps the bound is not yet "
            f"{self.tolerance:.3g}"
        )


def _value_iteration(search: _Search) -> _End:
    values, sweeps = search.start(), sweeps_of(search.mdp)
    for sweep in range(1, search.limit + 1):
        best = sweeps.look(values)
        found = search.ended(values, sweeps, best)
        if found:
            return _End(*found, sweep)
        values = best
    raise search.late()


def _modified_policy_iteration(search: _Search) -> _End:
    mdp = search.mdp
    values, sweeps = search.start(), sweeps_of(mdp)
    if mdp.discount == 1.0:  # from a policy that ends, each step of the values is upwards
        P, r = mdp.followed(search.on_device(nearest_end(mdp)))
        values = solved_chain(P, r, 1.0, mdp.terminal)
    for sweep in range(1, search.limit + 1):
        best = sweeps.look(values)
        found = search.ended(values, sweeps, best)
        if found:
            return _End(*found, sweep)
        values = sweeps.follow(values, best, search.aim)
    raise search.late()


def _policy_iteration(search: _Search, policy: Vector | None = None, before: int = 0) -> _End:
    mdp, xp = search.mdp, search.xp
    if policy is None and mdp.discount == 1.0:
        policy = search.on_device(nearest_end(mdp))
    elif policy is None:
        policy = first_best(mdp.rewards)
    values = None
    for sweep in range(1, search.limit + 1):
        P, r = mdp.followed(policy)
        values = solved_chain(P, r, mdp.discount, search.ends_at, values)
        q = mdp.backup(values)
        better = largest(q) > taken(q, policy) + 4.0 * rounding_of(mdp, values)
        if not bool(xp.any(better)):
            return _End(*search.settled(values, q), before + sweep)
        policy = xp.where(better, first_best(q), policy)
        if mdp.discount == 1.0 and not search.ends(policy):
            raise search.unbounded()
    raise search.late()


def _linear_program(search: _Search) -> _End:
    """Least values that no action exceeds; what is left open, by policy iteration."""
    mdp = search.mdp
    S, A = mdp.rewards.shape
    every = np.arange(S * A)
    stays = from_entries(np.ones(S * A), every, every // A, (S * A, S))
    system = stays - mdp.discount * as_host_rows(mdp.transitions)
    going = np.flatnonzero(~to_numpy(mdp.terminal))
    rows = (going[:, None] * A + np.arange(A)).ravel()
    values = np.zeros(S)
    steps = 0
    if going.size:
        earned = to_numpy(mdp.rewards).reshape(-1)[rows]
        try:
            program = least_cost(np.ones(going.size), system[rows][:, going], earned)
        except NoValueError as error:
            raise NoValueError(f"mdp must have values with a bound: {error}") from error
        values[going], steps = program.x, program.steps
    q = mdp.backup(as_array(values, mdp.rewards))
    return _policy_iteration(search, search.chosen(q), steps)
