"""Checks of policies, costs, acquisitions and criteria of designs."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..ground import check as _check
from ..ground.xp import (
    Array,
    HostArray,
    Matrix,
    Vector,
    array_namespace,
    as_array,
    symmetric_part,
    to_numpy,
)
from ..model import contracts
from ..model.contracts import Moments
from .agreement import close, hold, is_array, is_double, rounding, semidefinite
from .differences import gradcheck, jacobian

__all__ = ["check_acquisition", "check_cost", "check_criterion", "check_policy"]

_SMALL = 1e-6  # of a covariance: what is quadratic in it is gone
_LOOSE = 1e-4  # of the largest entry: what differences and such a covariance leave
_PARTS = ("mean", "covariance", "cross")


def _state(m: Vector, S: Matrix) -> Matrix:
    """S made symmetric, for ``N(m, S)``."""
    size = _check.vector(m, "m").shape[0]
    return _check.semidefinite(_check.alike(_check.square(S, "S"), "S", m, "m"), "S", size=size)


def check_policy(policy: contracts.Policy, m: Vector, S: Matrix) -> None:
    """Check that a policy keeps its contract, in a state ``z ~ N(m, S)``.

    The action is an array (U,); its moments have their shapes, and the covariance is symmetric and
    positive semidefinite; without uncertainty the mean is the action, and with a little of it the
    moments are those of the policy's tangent, ``J S Jᵀ`` and ``S Jᵀ``; in float64 the pullback
    agrees with differences.

    Parameters
    ----------
    policy : Policy
        The policy.
    m : Vector, shape (K,)
        The mean of the state.
    S : Matrix, shape (K, K)
        Its covariance.

    Examples
    --------
    >>> from gpnotes.decide.pilco import LinearPolicy
    >>> policy = LinearPolicy(np.asarray([[1.0, -1.0]]), np.asarray([0.5]))
    >>> check_policy(policy, np.asarray([0.3, 0.1]), np.asarray([[0.2, 0.1], [0.1, 0.3]]))
    """
    contracts.require(policy, "policy", contracts.Policy)
    S = _state(m, S)
    action = policy(m)
    U = getattr(action, "shape", (1,))[0]
    is_array("policy(z)", action, (U,), m)
    moments, pull = policy.moments_and_pullback(m, S)
    _check_shapes("", moments, U, m)
    top = rounding(moments.covariance, action * action)
    semidefinite("the covariance", moments.covariance, top)
    policy_bar, m_bar, S_bar = pull(moments)
    hold(type(policy_bar) is type(policy), "policy_bar has another class than the policy")
    is_array("m_bar", m_bar, m.shape, m)
    is_array("S_bar", S_bar, S.shape, m)
    if is_double(m):
        _check_tangent(policy, m, S)
        for k, name in enumerate(_PARTS):
            _check_part(policy, m, S, k, name)


def _check_shapes(name: str, moments: Moments, U: int, m: Vector) -> None:
    shapes = ((U,), (U, U), (m.shape[0], U))
    for part, a, shape in zip(_PARTS, moments, shapes, strict=True):
        is_array(f"the {part}{name}", a, shape, m)


def _check_tangent(policy: contracts.Policy, m: Vector, S: Matrix) -> None:
    """Check moments where S is small and the policy a line, ``u(z) ≈ u(m) + J (z − m)``."""
    J = jacobian(policy, m)
    little = _SMALL * S
    host = to_numpy(little)
    moments = policy.moments_and_pullback(m, little)[0]
    wanted = (to_numpy(policy(m)), J @ host @ J.T, host @ J.T)
    steep = float(np.max(np.abs(J), initial=0.0))
    wide = float(np.max(np.abs(host), initial=0.0))
    action = float(np.max(np.abs(wanted[0]), initial=0.0))
    sizes = (action + steep, steep * steep * wide, steep * wide)
    for part, got, want, size in zip(_PARTS, moments, wanted, sizes, strict=True):
        what = f"for a little uncertainty, the {part} and that of the policy's tangent"
        close(what, got, want, _LOOSE * size + 1e-15)


def _check_part(policy: contracts.Policy, m: Vector, S: Matrix, k: int, name: str) -> None:
    """The derivatives of one of the moments; S stays symmetric where differences change it."""
    xp = array_namespace(m)

    def moment(policy: contracts.Policy, m: Vector, S: Matrix) -> Array:
        return policy.moments_and_pullback(m, symmetric_part(S))[0][k]

    def pulled(policy: contracts.Policy, m: Vector, S: Matrix, bar: Array) -> tuple[object, ...]:
        moments, pull = policy.moments_and_pullback(m, symmetric_part(S))
        bars = [bar if part == k else xp.zeros_like(a) for part, a in enumerate(moments)]
        policy_bar, m_bar, S_bar = pull(Moments(*bars))
        return policy_bar, m_bar, symmetric_part(S_bar)

    names = ("policy", "m", "S")
    gradcheck(moment, pulled, policy, m, S, names=names, what=f"the pullback of the {name}")


def check_cost(cost: contracts.Cost, m: Vector, S: Matrix) -> None:
    """Check that a cost keeps its contract, for a state or action ``x ~ N(m, S)``.

    Costs and expectations are floats, and equal where nothing is uncertain. In float64 the
    pullback agrees with differences, and the expectation is one: it obeys the heat equation
    ``∂E/∂S = ½ ∂²E/∂m²``, whose only solution is the average over ``N(m, S)`` that starts
    from the cost.

    Parameters
    ----------
    cost : Cost
        The cost.
    m : Vector, shape (k,)
        The mean of the state or action.
    S : Matrix, shape (k, k)
        Its covariance.

    Examples
    --------
    >>> from gpnotes.decide.pilco import SaturatingCost
    >>> cost = SaturatingCost(np.zeros(2), np.eye(2))
    >>> check_cost(cost, np.asarray([0.3, 0.1]), np.asarray([[0.2, 0.1], [0.1, 0.3]]))
    """
    contracts.require(cost, "cost", contracts.Cost)
    S = _state(m, S)
    zero = array_namespace(m).zeros_like(S)
    value = cost(m)
    expected, pull = cost.expected_and_pullback(m, S)
    for name, number in (("cost(x)", value), ("the expected cost", expected)):
        hold(isinstance(number, float), f"{name} must be a float; got {type(number).__name__}")
        hold(bool(np.isfinite(number)), f"{name} is {number}")
    m_bar, S_bar = pull(1.0)
    is_array("m_bar", m_bar, m.shape, m)
    is_array("S_bar", S_bar, S.shape, m)
    known = _expected(cost, m, zero)
    top = rounding(as_array([value], m))
    close("without uncertainty, the expected cost and the cost", known, value, top)
    if is_double(m):
        _check_expectation(cost, m, S)
        for name, covariance in (("S = 0", zero), ("S", S)):
            _check_heat(cost, m, covariance, name)


def _expected(cost: contracts.Cost, m: Vector, S: Matrix) -> float:
    """The expected cost alone."""
    return cost.expected_and_pullback(m, S)[0]


def _check_expectation(cost: contracts.Cost, m: Vector, S: Matrix) -> None:
    def pulled(m: Vector, S: Matrix, bar: float) -> tuple[Vector, Matrix]:
        m_bar, S_bar = cost.expected_and_pullback(m, symmetric_part(S))[1](bar)
        return m_bar, symmetric_part(S_bar)

    gradcheck(lambda m, S: _expected(cost, m, symmetric_part(S)), pulled, m, S, names=("m", "S"))


def _check_heat(cost: contracts.Cost, m: Vector, S: Matrix, name: str) -> None:
    def gradient(m: Vector) -> Vector:
        return cost.expected_and_pullback(m, S)[1](1.0)[0]

    slope = jacobian(lambda m: as_array([cost(m)], m), m)[0]
    if not np.any(to_numpy(S)):
        size = float(np.max(np.abs(slope), initial=0.0))
        what = "without uncertainty, m_bar and the gradient of the cost"
        close(what, gradient(m), slope, _LOOSE * size + 1e-9)
    half = 0.5 * jacobian(gradient, m)
    S_bar = to_numpy(cost.expected_and_pullback(m, S)[1](1.0)[1])
    size = float(np.max(np.abs(half), initial=0.0))
    what = f"at {name}, S_bar and half the second derivatives by m: this is no expectation; they"
    close(what, symmetric_part(S_bar), half, _LOOSE * size + 1e-9)


def check_criterion(criterion: contracts.Criterion, X: Matrix) -> None:
    """Check that a fresh criterion keeps its contract, for some candidates.

    Gains are finite arrays (n,), and those of some candidates are theirs; measuring a candidate
    yields the gain that was promised; where `diminishing` says so, no gain grows by that. The
    criterion takes two measurements on the way.

    Parameters
    ----------
    criterion : Criterion
        The criterion, without measurements so far.
    X : Matrix, shape (n, d)
        The candidates.

    Examples
    --------
    >>> from gpnotes import GP, RBF
    >>> from gpnotes.decide import design
    >>> X = np.asarray([[0.0], [0.5], [2.0]])
    >>> kind = design.criteria.CRITERIA["information"]
    >>> check_criterion(kind(GP(RBF(), 0.1), X, 0.1 * np.ones(3), capacity=3), X)
    """
    contracts.require(criterion, "criterion", contracts.Criterion)
    n = _check.matrix(X, "X").shape[0]
    for _ in range(min(2, n)):
        gains = _gains(criterion, n, X)
        best = int(np.argmax(gains))
        top = _LOOSE * float(np.max(np.abs(gains), initial=0.0))
        gained = criterion.add(best)
        hold(isinstance(gained, float), f"add(j) must be a float; got {type(gained).__name__}")
        close(f"add({best}) and the gain that was promised", gained, float(gains[best]), top)
        rise = float(np.max(_gains(criterion, n, X) - gains))
        hold(
            not criterion.diminishing or rise <= top, f"diminishing gains have risen by {rise:.3g}"
        )


def check_acquisition(acquisition: contracts.Acquisition, mean: Vector, variance: Vector) -> None:
    """Check that an acquisition keeps its contract, for some means and variances.

    Its values are finite arrays (n,), each that of its own entry; so are its derivatives, which in
    float64 agree with differences.

    Parameters
    ----------
    acquisition : Acquisition
        The acquisition.
    variance : Vector, shape (n,)
        The variances, which are positive.

    Examples
    --------
    >>> from gpnotes.decide.bayesopt import ExpectedImprovement
    >>> check_acquisition(ExpectedImprovement(0.5), np.asarray([0.1, 0.9]), np.asarray([0.2, 0.4]))
    """
    contracts.require(acquisition, "acquisition", contracts.Acquisition)
    _check.positive(_check.vector(variance, "variance"), "variance")
    n = _check.alike(
        _check.vector(mean, "mean", size=variance.shape[0]), "mean", variance, "v"
    ).shape[0]
    values = acquisition(mean, variance)
    is_array("acquisition(mean, variance)", values, (n,), mean)
    if n:
        alone = acquisition(mean[n - 1 :], variance[n - 1 :])
        top = rounding(values)
        close("the last value and that of its entry alone", alone, values[n - 1 :], top)
    for name, bar in zip(
        ("mean", "variance"), acquisition.derivatives(mean, variance), strict=True
    ):
        is_array(f"the derivative by the {name}", bar, (n,), mean)
    if is_double(mean):
        gradcheck(
            acquisition, _pulled(acquisition), mean, variance, names=("mean", "variance"),
            what="derivatives",
        )  # fmt: skip


def _pulled(acquisition: contracts.Acquisition) -> Callable[..., tuple[Vector, Vector]]:
    """The derivatives, which are by entry, as a pullback."""

    def pullback(mean: Vector, variance: Vector, bar: Vector) -> tuple[Vector, Vector]:
        by_mean, by_variance = acquisition.derivatives(mean, variance)
        return bar * by_mean, bar * by_variance

    return pullback


def _gains(criterion: contracts.Criterion, n: int, X: Matrix) -> HostArray:
    """All gains on the host; some of them asked for alone."""
    gains = criterion.gains()
    is_array("gains()", gains, (n,), X)
    host = np.asarray(to_numpy(gains), dtype=np.float64)
    rows = np.arange(n - 1, -1, -2)
    some = criterion.gains(rows)
    is_array("gains(rows)", some, (rows.size,), X)
    close("gains(rows) and those entries of gains()", some, host[rows], rounding(gains))
    return host
