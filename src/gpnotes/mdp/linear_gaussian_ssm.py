"""States and readings that are normal and linear: Kalman filters, Matérn processes in time."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

from ..ground import check as _check
from ..ground.showing import summary
from ..ground.xp import (
    LOG_2PI,
    Array,
    Matrix,
    Stack,
    Vector,
    array_namespace,
    as_array,
    cholesky_factor,
    diagonal,
    epsilon,
    eye,
    keep_copies,
    solve_triangular,
    symmetric_part,
    zeros,
)
from ..model.gaussian_process import GP
from ..model.kernels import Matern12, Matern32, Matern52
from ..model.means import ZeroMean

__all__ = ["GaussianBelief", "LinearGaussianSSM", "state_space_model"]


class GaussianBelief(NamedTuple):
    """A normal belief, or T of them along the first axis.

    Parameters
    ----------
    mean : Vector, shape (D,), or Matrix, shape (T, D)
        The means.
    cov : Matrix, shape (D, D), or Stack, shape (T, D, D)
        The covariances.
    """

    mean: Array
    cov: Array

    def __repr__(self) -> str:
        return summary(self)


@dataclass(frozen=True, eq=False)
class LinearGaussianSSM:
    """A linear process with normal noise, ``x' = F x + w`` and ``y = H x + v``, [eq-be-linear].

    Parameters
    ----------
    mean : Vector, shape (D,)
        The mean of the first state.
    cov : Matrix, shape (D, D)
        Its covariance.
    transitions : Stack, shape (T − 1, D, D)
        F for each step from one reading to the next.
    process_noise : Stack, shape (T − 1, D, D)
        Q, the covariance of w for each such step.
    observation_matrix : Matrix, shape (K, D)
        H, from a state to the mean of its reading.
    observation_noise : Matrix, shape (K, K)
        W, the covariance of v.

    Notes
    -----
    `filtering.filter` and `filtering.smooth` take it, in T steps of D³.

    Examples
    --------
    >>> import numpy as np
    >>> from gpnotes.mdp import filter
    >>> still = LinearGaussianSSM(np.zeros(1), np.eye(1), np.ones((1, 1, 1)), np.zeros((1, 1, 1)),
    ...                      np.eye(1), np.eye(1))
    >>> filter(still, np.asarray([[1.0], [1.0]])).filtered.mean[:, 0].round(3)
    array([0.5  , 0.667])
    """

    mean: Vector
    cov: Matrix
    transitions: Stack
    process_noise: Stack
    observation_matrix: Matrix
    observation_noise: Matrix

    __repr__ = summary

    def __post_init__(self) -> None:
        size = _check.vector(self.mean, "mean").shape[0]
        _check.semidefinite(self.cov, "cov", size=size)
        count = _check_stack(self.transitions, "transitions", None, size)
        _check_stack(self.process_noise, "process_noise", count, size)
        H = _check.matrix(self.observation_matrix, "observation_matrix", columns=size)
        _check.semidefinite(self.observation_noise, "observation_noise", size=H.shape[0])
        names = [item.name for item in fields(self)]
        for name in names[1:]:
            _check.alike(getattr(self, name), name, self.mean, "mean")
        keep_copies(self, *names)

    @property
    def initial(self) -> GaussianBelief:
        """The belief before the first reading."""
        return GaussianBelief(self.mean, self.cov)

    def check_readings(self, readings: Matrix) -> Matrix:
        """Return the readings in a row, (T, K), checked."""
        rows, columns = self.transitions.shape[0] + 1, self.observation_matrix.shape[0]
        _check.matrix(readings, "readings", rows=rows, columns=columns)
        return _check.alike(readings, "readings", self.mean, "the mean of the model")

    def predict(self, belief: GaussianBelief, step: int) -> GaussianBelief:
        """Return the belief a step later, [eq-be-kalman-ahead]."""
        F = self.transitions[step - 1, ...]
        cov = F @ belief.cov @ _t(F) + self.process_noise[step - 1, ...]
        return GaussianBelief(F @ belief.mean, symmetric_part(cov))

    def update(
        self, belief: GaussianBelief, reading: Vector, step: int
    ) -> tuple[GaussianBelief, float]:
        """Return the belief after a reading, [eq-be-kalman], and the reading's log density."""
        xp = array_namespace(reading)
        H = self.observation_matrix
        cross = belief.cov @ _t(H)
        root = _factor(H @ cross + self.observation_noise)
        if root is None:
            raise _check.NoValueError(
                "observation_noise must leave each reading a variance; one has none"
            )
        # S = R Rᵀ: gain times innovation is (R⁻¹ H P)ᵀ (R⁻¹ e), and no inverse of S is made
        white_cross = solve_triangular(root, _t(cross))  # (K, D)
        innovation = reading - H @ belief.mean
        white = solve_triangular(root, innovation[:, None])[:, 0]
        gain = _t(solve_triangular(root, white_cross, transpose=True))
        cov = _left(belief.cov, gain, H, self.observation_noise)
        log_density = -0.5 * float(xp.sum(white**2)) - float(xp.sum(xp.log(diagonal(root))))
        log_density -= 0.5 * reading.shape[0] * LOG_2PI
        return GaussianBelief(belief.mean + _t(white_cross) @ white, cov), log_density

    def smooth(
        self,
        filtered: GaussianBelief,
        predicted: GaussianBelief,
        smoothed: GaussianBelief,
        step: int,
    ) -> GaussianBelief:
        """Return the belief of a step by all readings, [eq-be-rts]."""
        F = self.transitions[step - 1, ...]
        gain = _t(_solve(predicted.cov, F @ filtered.cov))
        mean = filtered.mean + gain @ (smoothed.mean - predicted.mean)
        noise = self.process_noise[step - 1, ...] + smoothed.cov
        return GaussianBelief(mean, _left(filtered.cov, gain, F, noise))

    def stack(self, beliefs: list[GaussianBelief]) -> GaussianBelief:
        """Return beliefs in a row: means (T, D) and covariances (T, D, D)."""
        xp = array_namespace(beliefs[0].mean)
        return GaussianBelief(
            xp.stack([b.mean for b in beliefs]), xp.stack([b.cov for b in beliefs])
        )


# The state of a Matérn process is the value and its derivatives, in units of the rate λ. Its
# covariance at any time, by the number of entries, for a signal of variance one:
_STATIONARY_COV = {
    1: [[1.0]],
    2: [[1.0, 0.0], [0.0, 1.0]],
    3: [[1.0, 0.0, -1 / 3], [0.0, 1 / 3, 0.0], [-1 / 3, 0.0, 1.0]],
}
_STATE_SIZE = {Matern12: 1, Matern32: 2, Matern52: 3}


def state_space_model(gp: GP, times: Vector) -> LinearGaussianSSM:
    """Return a Matérn process at some times, as a linear process of its value and derivatives.

    Parameters
    ----------
    gp : GP
        A process with noise, mean zero, and the kernel `Matern12`, `Matern32` or `Matern52`.
    times : Vector, shape (T,)
        Where it is read or asked for, in ascending order; a time may occur again.

    Returns
    -------
    LinearGaussianSSM
        One reading (T, 1) a time; the first entry of a state is the value f.

    Notes
    -----
    With `filtering.smooth` the exact posterior of N readings costs N steps, [eq-be-matern];
    `gpnotes.infer.exact` takes N³. Source: Hartikainen & Särkkä (2010).

    Examples
    --------
    >>> import numpy as np
    >>> from gpnotes import GP, Matern32
    >>> from gpnotes.mdp import smooth
    >>> t, y = np.asarray([0.0, 1.0, 3.0]), np.asarray([[1.0], [0.5], [-1.0]])
    >>> smooth(state_space_model(GP(Matern32(), 0.1), t), y).mean[:, 0].round(3)
    array([ 0.915,  0.48 , -0.904])
    """
    kernel = _matern(gp)
    xp = array_namespace(_check.vector(times, "times"))
    if times.shape[0] == 0:
        raise ValueError("times must hold at least one time; got none")
    gaps = times[1:] - times[:-1]
    if times.shape[0] > 1 and bool(xp.any(gaps < 0.0)):
        raise ValueError("times must be ascending; sort them, and the readings with them")
    size = _STATE_SIZE[type(kernel)]
    rate = math.sqrt(2 * size - 1) / float(kernel.lengthscale)
    stationary = as_array(_STATIONARY_COV[size], times) * kernel.variance
    transitions = _transition_matrices(gaps * rate, size)
    process_noise = stationary - transitions @ stationary @ xp.matrix_transpose(transitions)
    mean, H = xp.zeros_like(stationary[0, :]), eye(size, times)[:1, :]
    noise = as_array([[gp.noise_var]], times)
    process_noise = symmetric_part(process_noise)
    return LinearGaussianSSM(mean, stationary, transitions, process_noise, H, noise)


def _matern(gp: GP) -> Any:
    """The kernel of a process that can be filtered."""
    _check.instance(gp, "gp", GP)
    kernel: Any = gp.kernel
    if type(kernel) not in _STATE_SIZE:
        raise TypeError(f"gp must have the kernel Matern12, Matern32 or Matern52; got {kernel!r}")
    if not isinstance(gp.mean, ZeroMean):
        raise TypeError(f"gp must have mean zero; got {gp.mean!r}")
    if getattr(kernel.lengthscale, "ndim", 0):
        raise TypeError("gp must have one lengthscale, as time has one dimension")
    if gp.noise_var == 0.0:
        raise ValueError("gp must have noise; its noise_var is zero")
    return kernel


def _transition_matrices(s: Vector, size: int) -> Stack:
    """``e^{−s} Σ_k (s N)^k / k!`` with a nilpotent N, the exponential of the motion."""
    companion = [[0.0] * size for _ in range(size)]
    for i in range(size - 1):
        companion[i][i + 1] = 1.0
    companion[-1] = [-float(math.comb(size, k)) for k in range(size)]
    N = as_array(companion, s) + eye(size, s)
    power, series = eye(size, s), zeros((s.shape[0], size, size), s) + eye(size, s)
    for k in range(1, size):
        power = power @ N
        series = series + (s**k / math.factorial(k))[:, None, None] * power
    return array_namespace(s).exp(-s)[:, None, None] * series


def _check_stack(a: Stack, name: str, count: int | None, size: int) -> int:
    """The number of matrices in a stack of square ones, checked."""
    _check.finite(_check.floating(a, name), name)
    if a.ndim != 3 or a.shape[1:] != (size, size) or count not in (None, a.shape[0]):
        length = "T - 1" if count is None else count
        raise ValueError(f"{name} must have shape ({length}, {size}, {size}); got {tuple(a.shape)}")
    return int(a.shape[0])


def _left(cov: Matrix, gain: Matrix, to: Matrix, noise: Matrix) -> Matrix:
    """``(I − G H) P (I − G H)ᵀ + G W Gᵀ``, in which nothing cancels where P is far above W."""
    rest = eye(cov.shape[0], cov) - gain @ to
    return symmetric_part(rest @ cov @ _t(rest) + gain @ noise @ _t(gain))


def _t(a: Matrix) -> Matrix:
    return array_namespace(a).matrix_transpose(a)


def _factor(a: Matrix) -> Matrix | None:
    """The lower root of a small matrix; of a single number without a library."""
    if a.shape[0] > 1:
        return cholesky_factor(a)
    return a**0.5 if float(a[0, 0]) > 0.0 else None


def _solve(cov: Matrix, b: Matrix) -> Matrix:
    """``cov⁻¹ b`` for a covariance that may have no inverse, within its range."""
    root = _factor(cov)
    if root is None:
        values, vectors = array_namespace(cov).linalg.eigh(cov)
        threshold = cov.shape[0] * epsilon(cov) * float(values[-1])
        xp = array_namespace(cov)
        kept = xp.where(values > threshold, values, xp.full_like(values, math.inf))
        return vectors @ ((_t(vectors) @ b) / kept[:, None])
    return solve_triangular(root, solve_triangular(root, b), transpose=True)
