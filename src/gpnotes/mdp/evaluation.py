"""Policy evaluation: the values of a policy, and its visits to states."""

from __future__ import annotations

from ..ground import check as _check
from ..ground.sparse_matrices import is_sparse, solve_contraction
from ..ground.xp import (
    Array,
    Matrix,
    Vector,
    array_namespace,
    as_array,
    as_host,
    epsilon,
    eye,
    in_double,
)
from .decision_process import MDP
from .distribution_checks import without_rounding
from .proper_policies import require_proper, rewardless_states

__all__ = ["evaluate", "expected_steps", "occupancy_measure", "solve_chain"]


def evaluate(mdp: MDP, policy: Array) -> Vector:
    """Return the value of a policy in each state.

    Parameters
    ----------
    policy : Array, shape (S,) or (S, A)
        The action of each state, or the probabilities of the actions.

    Returns
    -------
    Vector, shape (S,)
        ``v_π``, the one solution of ``v = r_π + γ P_π v``; at discount 1, the one that is zero
        where no reward is met any more.

    Raises
    ------
    ValueError
        If the discount is 1 and the policy goes on earning, or paying, without an end; or if it is
        none for this process, as `MDP.induced_chain` says.

    Notes
    -----
    Dense transitions cost a factorisation, O(S³). Sparse ones are solved by steps of a Krylov
    method, or by a sparse factorisation where these do not get on.

    Examples
    --------
    >>> import numpy as np
    >>> mdp = MDP(np.asarray([[0.5, 0.5], [0.0, 1.0]]), np.asarray([[1.0], [0.0]]), 1.0)
    >>> evaluate(mdp, np.asarray([0, 0]))
    array([2., 0.])
    """
    _check.instance(mdp, "mdp", MDP)
    P, r = mdp.induced_chain(policy)
    absorbing = rewardless_states(P, r) if mdp.discount == 1.0 else None
    if absorbing is not None:
        require_proper(P, absorbing, "policy")
    v = solve_chain(P, in_double(r), mdp.discount, absorbing)
    return array_namespace(r).astype(v, r.dtype, copy=False)


def solve_chain(
    P: Matrix, r: Array, discount: float, absorbing: Array | None = None, start: Array | None = None
) -> Array:
    """Solve ``v = r + γ P v`` in double precision.

    Parameters
    ----------
    P : Matrix, shape (S, S)
        The chain of a policy.
    r : Array, shape (S,)
        Its rewards.
    discount : float
        γ.
    absorbing : Array, shape (S,), optional
        States that are worth nothing, as booleans; at discount 1 every state must lead to one.
    start : Array, shape (S,), optional
        Where a Krylov method starts.

    Returns
    -------
    Array, shape (S,)
        The solution.
    """
    xp = array_namespace(r)
    if absorbing is not None:
        nonabsorbing = xp.astype(~absorbing, r.dtype)
        r = r * nonabsorbing
        P = _scaled(P, nonabsorbing[:, None])
    if is_sparse(P):
        guess = None if start is None else as_host(start)
        discounted = discount * P.astype(r.dtype, copy=False)
        v: Array = solve_contraction(discounted, as_host(r), guess)
        return v if absorbing is None else v * nonabsorbing
    system = eye(r.shape[0], r) - discount * in_double(P)
    solution = xp.linalg.solve(system, r[:, None])
    solution = solution + xp.linalg.solve(system, r[:, None] - system @ solution)  # refined once
    return solution[:, 0] if absorbing is None else solution[:, 0] * nonabsorbing


def _scaled(P: Matrix, factors: Array) -> Matrix:
    """P with its rows, or its columns, times `factors`, (S, 1) or (1, S)."""
    return P.multiply(factors).tocsr() if is_sparse(P) else P * as_array(factors, P)


def expected_steps(P: Matrix, mdp: MDP) -> Vector:
    """Return the expected number of steps until the end from each state of a proper chain."""
    xp = array_namespace(mdp.rewards)
    nonterminal = xp.astype(~mdp.terminal, in_double(mdp.rewards).dtype)
    return solve_chain(P, nonterminal, mdp.discount, mdp.terminal)


def occupancy_measure(mdp: MDP, policy: Array, start: Vector) -> Matrix:
    """Return the occupancy measure: how often each state and action are met, discounted.

    Parameters
    ----------
    policy : Array, shape (S,) or (S, A)
        The action of each state, or the probabilities of the actions.
    start : Vector, shape (S,)
        The probabilities of the first state.

    Returns
    -------
    Matrix, shape (S, A)
        ``μ(s, a) = Σ_t γ^t P(s_t = s, a_t = a)``. Its return, ``Σ μ r``, is the value at the
        start. At discount 1, steps in terminal states are not counted.

    Raises
    ------
    ValueError
        If the discount is 1 and some state never ends under the policy; if `start` is negative or
        does not sum to one; and if the policy is none for this process.

    Examples
    --------
    >>> import numpy as np
    >>> mdp = MDP(np.asarray([[0.5, 0.5], [0.0, 1.0]]), np.asarray([[1.0], [0.0]]), 0.5)
    >>> occupancy_measure(mdp, np.asarray([0, 0]), np.asarray([0.75, 0.25]))
    array([[1.],
           [1.]])
    """
    _check.instance(mdp, "mdp", MDP)
    S = mdp.num_states
    _check.alike(_check.vector(start, "start", size=S), "start", mdp.rewards, "rewards")
    start = without_rounding(start)
    xp = array_namespace(start)
    excess = float(xp.sum(start)) - 1.0
    if bool(xp.any(start < 0.0)) or abs(excess) > max(1e-9, 16.0 * S * epsilon(start)):
        raise ValueError(f"start must be probabilities with sum one; it is {1.0 + excess:.10g}")
    policy = mdp.check_policy(policy)
    P, r = mdp._induced_chain(policy)
    if mdp.discount == 1.0:
        require_proper(P, mdp.terminal, "policy")
    visits = _visits(P, in_double(start), mdp)
    if policy.ndim == 1:
        actions = xp.astype(xp.arange(mdp.num_actions, device=start.device), policy.dtype)
        taken = xp.astype(policy[:, None] == actions[None, :], visits.dtype)
    else:
        taken = in_double(policy)
    return xp.astype(visits[:, None] * taken, r.dtype, copy=False)


def _visits(P: Matrix, start: Vector, mdp: MDP) -> Vector:
    """The discounted visits of each state, ``μ = start + γ P_πᵀ μ``."""
    xp = array_namespace(start)
    if mdp.discount == 1.0:
        nonterminal = xp.astype(~mdp.terminal, start.dtype)
        start = start * nonterminal
        P = _scaled(_scaled(P, nonterminal[None, :]), nonterminal[:, None])
    if is_sparse(P):
        return solve_contraction(
            (mdp.discount * P.astype(start.dtype, copy=False)).T.tocsr(), as_host(start)
        )
    system = eye(start.shape[0], start) - mdp.discount * in_double(P)
    return xp.linalg.solve(xp.matrix_transpose(system), start[:, None])[:, 0]
