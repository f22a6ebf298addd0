"""Policies: functions of a state with its angles' sines and cosines, and their moments.

A policy is a frozen dataclass of parameters, with arrays of its own. ``policy(z)`` is the action in
one state z (K,); ``policy.moments(m, S)`` are the mean, covariance and covariance with z of the
action when ``z ~ N(m, S)``; ``policy.moments_and_pullback(m, S)`` brings their derivatives back.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, cast

from ...ground import check as _check
from ...ground.params import cotangent, fixed, positive, real
from ...ground.showing import summary
from ...ground.xp import (
    Matrix,
    Numbers,
    Vector,
    array_namespace,
    as_array,
    keep_copies,
    symmetric_part,
)
from ...model.contracts import Policy, require
from ..moments import Moments
from ..moments.input_covariance import validate_input
from ..moments.rbf_network import NetworkMoments, slopes_and_pullback
from .trigonometric_moments import SineMoments, _sine_moments_and_pullback, joint

__all__ = ["LinearPolicy", "RBFPolicy", "SquashedPolicy"]

Pull = Callable[[Moments], tuple[Any, Vector, Matrix]]


@dataclass(frozen=True, eq=False)
class LinearPolicy:
    """Linear policy ``u = W z + b``, whose moments are exact for any z.

    Parameters
    ----------
    weights : Matrix, shape (U, K)
        The matrix W.
    bias : Vector, shape (U,)
        The vector b.

    Notes
    -----
    [eq-pc-linear-policy].

    Examples
    --------
    >>> import numpy as np
    >>> policy = LinearPolicy(np.asarray([[1.0, -1.0]]), np.asarray([0.5]))
    >>> policy(np.asarray([3.0, 1.0]))
    array([2.5])
    """

    weights: Matrix = real()
    bias: Vector = real()

    __repr__ = summary

    def __post_init__(self) -> None:
        rows = _check.matrix(self.weights, "weights").shape[0]
        _check.alike(_check.vector(self.bias, "bias", size=rows), "bias", self.weights, "weights")
        keep_copies(self, "weights", "bias")

    def __call__(self, z: Vector) -> Vector:
        """Return the action (U,) in the state z (K,)."""
        _check.alike(
            _check.vector(z, "z", size=self.weights.shape[1]), "z", self.weights, "weights"
        )
        return self.weights @ z + self.bias

    def moments(self, m: Vector, S: Matrix) -> Moments:
        """Return the moments of the action for ``z ~ N(m, S)``.

        Arguments, result and errors are those of `moments_and_pullback`, without the pullback.
        """
        return self.moments_and_pullback(m, S)[0]

    def moments_and_pullback(self, m: Vector, S: Matrix) -> tuple[Moments, Pull]:
        """Return the moments of the action for ``z ~ N(m, S)``, and their pullback.

        Parameters
        ----------
        m : Vector, shape (K,)
            Mean of the state z, with its sines and cosines.
        S : Matrix, shape (K, K)
            Its covariance.

        Returns
        -------
        moments : Moments
            Mean (U,), covariance (U, U) and covariance with z (K, U) of the action.
        pullback : Callable
            It takes a `Moments` of derivatives to ``(policy_bar, m_bar, S_bar)``.
        """
        S = _check.normal(m, S, size=self.weights.shape[1])
        _check.alike(m, "m", self.weights, "weights")
        return _checked_back(*self._moments_and_pullback(m, S))

    def _moments_and_pullback(self, m: Vector, S: Matrix) -> tuple[Moments, Pull]:
        W = self.weights
        cross = S @ W.T

        def pull(bar: Moments) -> tuple[LinearPolicy, Vector, Matrix]:
            """The derivatives by the policy, by m and by S."""
            # mean = W m + b, cross = S Wᵀ, covariance = W cross
            cross_bar = bar.cross + W.T @ bar.covariance
            W_bar = bar.mean[:, None] * m + bar.covariance @ cross.T + cross_bar.T @ S
            policy_bar = cotangent(self, weights=W_bar, bias=bar.mean)
            return policy_bar, bar.mean @ W, cross_bar @ W

        return Moments(W @ m + self.bias, W @ cross, cross), pull


@dataclass(frozen=True, eq=False)
class RBFPolicy:
    """Policy that is a network of k bumps, ``u = Σᵢ wᵢ exp(−½ |(z − cᵢ)/ℓ|²)``.

    Parameters
    ----------
    centres : Matrix, shape (k, d)
        The centres c; they are learned, as weights and lengthscales are.
    weights : Matrix, shape (k, U)
        The weights w.
    lengthscale : Vector, shape (d,)
        The lengthscales ℓ, positive.
    inputs : tuple of int
        The d entries of z that it looks at.
    size : int
        The number K of all entries of z.

    Notes
    -----
    [eq-pc-rbf-policy].

    Source: Deisenroth & Rasmussen (2011), equations 31 and 32.

    Examples
    --------
    >>> import numpy as np
    >>> ones = np.ones((1, 1))
    >>> policy = RBFPolicy(np.zeros((1, 1)), ones, np.ones(1), inputs=(1,), size=2)
    >>> policy(np.asarray([9.0, 1.0])).round(4)
    array([0.6065])
    """

    centres: Matrix = real()
    weights: Matrix = real()
    lengthscale: Vector = positive()
    inputs: tuple[int, ...] = fixed()
    size: int = fixed()

    __repr__ = summary

    def __post_init__(self) -> None:
        size = _check.whole(self.size, "size", 1)
        looks = _check.entries(self.inputs, "inputs", size, "z")
        k = _check.matrix(self.centres, "centres", columns=len(looks)).shape[0]
        if not k or not looks:
            got = self.centres.shape
            raise ValueError(f"centres must have at least one row and column; got {got}")
        _check.matrix(self.weights, "weights", rows=k)
        _check.vector(self.lengthscale, "lengthscale", size=len(self.inputs))
        _check.positive(self.lengthscale, "lengthscale")
        for name in ("centres", "lengthscale"):
            _check.squarable(getattr(self, name), name)
        for name in ("weights", "lengthscale"):
            _check.alike(getattr(self, name), name, self.centres, "centres")
        keep_copies(self, "centres", "weights", "lengthscale")

    def __call__(self, z: Vector) -> Vector:
        """Return the action (U,) in the state z (K,)."""
        xp = array_namespace(_check.vector(z, "z", size=self.size))
        _check.alike(z, "z", self.centres, "centres")
        off = (self._pick @ z - self.centres) / self.lengthscale
        return xp.exp(-0.5 * xp.sum(off * off, axis=1)) @ self.weights

    @cached_property
    def _pick(self) -> Matrix:
        """The matrix (d, K) that picks the inputs."""
        rows = [[1.0 if i == j else 0.0 for j in range(self.size)] for i in self.inputs]
        return as_array(rows, self.centres)

    def moments(self, m: Vector, S: Matrix) -> Moments:
        """Return the moments of the action for ``z ~ N(m, S)``.

        Arguments, result and errors are those of `LinearPolicy.moments`.
        """
        return self.moments_and_pullback(m, S)[0]

    def moments_and_pullback(self, m: Vector, S: Matrix) -> tuple[Moments, Pull]:
        """Return the moments of the action for ``z ~ N(m, S)``, and their pullback.

        Arguments, result and errors are those of `LinearPolicy.moments_and_pullback`;
        ``ValueError`` too if a lengthscale is too short for S.
        """
        S = _check.normal(m, S, size=self.size)
        _check.alike(m, "m", self.centres, "centres")
        return _checked_back(*self._moments_and_pullback(m, S))

    def _moments_and_pullback(self, m: Vector, S: Matrix) -> tuple[Moments, Pull]:
        network = self.centres, self.weights, self.lengthscale
        xp = array_namespace(m)
        pick = self._pick
        across = S @ pick.T
        # of what the network looks at: P m and P S Pᵀ; the covariance with z is S Pᵀ slopes
        (mean, covariance, slopes), pull_network = slopes_and_pullback(
            xp, *network, pick @ m, pick @ across
        )

        def pull(bar: Moments) -> tuple[RBFPolicy, Vector, Matrix]:
            """The derivatives by the policy, by m and by S."""
            slopes_bar = across.T @ bar.cross
            centres_bar, weights_bar, lengths_bar, m_bar, S_bar = pull_network(
                NetworkMoments(bar.mean, bar.covariance, slopes_bar)
            )
            bars = {"centres": centres_bar, "weights": weights_bar, "lengthscale": lengths_bar}
            S_bar = (pick.T @ S_bar + bar.cross @ slopes.T) @ pick
            return cotangent(self, **bars), m_bar @ pick, symmetric_part(S_bar)

        return Moments(mean, covariance, across @ slopes), pull


@dataclass(frozen=True, eq=False)
class SquashedPolicy:
    """Policy whose actions are those of another, bounded by a sine, ``u = u_max sin(v)``.

    In the moments the action v of the inner policy counts as Gaussian, with the mean and the
    covariances that `inner` says; that is exact only if v is.

    Parameters
    ----------
    inner : Policy
        The policy whose action is v, (U,).
    max_action : float or Vector, shape (U,)
        The bound u_max, one for all actions or one for each.

    Notes
    -----
    [eq-pc-squash].

    Examples
    --------
    >>> import numpy as np
    >>> policy = SquashedPolicy(LinearPolicy(np.asarray([[1.0]]), np.asarray([0.0])), 2.0)
    >>> policy(np.asarray([0.5 * np.pi]))
    array([2.])
    """

    inner: Policy
    max_action: Numbers = fixed()

    def __post_init__(self) -> None:
        require(self.inner, "inner", Policy)
        if not isinstance(self.max_action, int | float):
            _check.vector(self.max_action, "max_action")
            keep_copies(self, "max_action")
        _check.positive(self.max_action, "max_action")

    def __call__(self, z: Vector) -> Vector:
        """Return the action (U,) in the state z (K,), within the limit."""
        v = self.inner(z)
        return _bounds(self.max_action, v) * array_namespace(v).sin(v)

    def moments(self, m: Vector, S: Matrix) -> Moments:
        """Return the moments of the action for ``z ~ N(m, S)``.

        Arguments, result and errors are those of the inner policy, without the pullback.
        """
        return self.moments_and_pullback(m, S)[0]

    def moments_and_pullback(self, m: Vector, S: Matrix) -> tuple[Moments, Pull]:
        """Return the moments of the action for ``z ~ N(m, S)``, and their pullback.

        Arguments, result and errors are those of the inner policy; ``ValueError`` too if
        `max_action` does not fit its action.
        """
        v, pull_inner = self.inner.moments_and_pullback(m, S)
        _bounds(self.max_action, v.mean)
        return _checked_back(*self._squashed(v, pull_inner))

    def _moments_and_pullback(self, m: Vector, S: Matrix) -> tuple[Moments, Pull]:
        return self._squashed(*with_hooks(self.inner)._moments_and_pullback(m, S))

    def _squashed(self, v: Moments, pull_inner: Pull) -> tuple[Moments, Pull]:
        xp = array_namespace(v.mean)
        limit = self.max_action
        (mean, covariance, gain), pull_sines = _sine_moments_and_pullback(v.mean, v.covariance, xp)
        both = limit * limit if isinstance(limit, int | float) else limit[:, None] * limit

        def pull(bar: Moments) -> tuple[SquashedPolicy, Vector, Matrix]:
            """The derivatives by the policy, by m and by S."""
            gain_bar = limit * xp.sum(bar.cross * v.cross, axis=0)
            v_bar = pull_sines(SineMoments(limit * bar.mean, both * bar.covariance, gain_bar))
            cross_bar = bar.cross * (limit * gain)
            inner_bar, m_bar, S_bar = pull_inner(Moments(*v_bar, cross_bar))
            return cotangent(self, inner=inner_bar), m_bar, S_bar

        return Moments(limit * mean, both * covariance, v.cross * (limit * gain)), pull


class _Brought(NamedTuple):
    """A policy without hooks, which answers by its public methods; its moments are looked over."""

    policy: Policy

    def _moments_and_pullback(self, m: Vector, S: Matrix) -> tuple[Moments, Pull]:
        xp = array_namespace(m)
        action, pull = self.policy.moments_and_pullback(m, S)
        mean = xp.concat([m, action.mean])
        covariance = joint(xp, S, action.cross, action.covariance)
        like = xp.concat([m, self.policy(m)])[None, :]
        names = "the covariance of (z, u)", "the mean of (z, u)"
        covariance = validate_input(mean, covariance, like, names[0], mean=names[1])
        K = m.shape[0]
        return action._replace(covariance=covariance[K:, K:]), pull


def with_hooks(policy: Policy) -> _Brought:
    """Return a policy with the hook of ours; a subclass without one may do as it likes."""
    own = "_moments_and_pullback" in vars(type(policy))
    return cast(_Brought, policy) if own else _Brought(policy)


def _checked_back(action: Moments, pull: Pull) -> tuple[Moments, Pull]:
    """The same, with a check of the derivatives that are carried back."""
    return action, lambda bar: pull(_check.cotangents(bar, "bar", action))


def _bounds(max_action: Numbers, v: Vector) -> Vector:
    """`max_action`, one number or one for each action, as an array like v (U,)."""
    ones = array_namespace(v).ones_like(v)
    if not isinstance(max_action, int | float):
        _check.vector(max_action, "max_action", size=v.shape[0])
        _check.alike(max_action, "max_action", v, "the action")
    return max_action * ones
