"""The Kalman filter along a line, and the modified Bryson–Frazier smoother.

The way back carries λ and −Λ, gradient and Hessian by the filter's mean of the log density of the
readings from there on, and inverts no covariance: given all readings the mean is ``m + P λ``, the
covariance ``P − P Λ P``. Source: Bierman (1973); Durbin & Koopman (2012), section 4.4, as r and N.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, reduce
from operator import add

from ...ground.class_tags import saved_as
from ...ground.xp import (
    LOG_2PI,
    Array,
    Matrix,
    Stack,
    Vector,
    array_namespace,
    device,
    epsilon,
    eye,
    symmetric_part,
)
from .first_reading import FirstReading
from .motion import narrow, signal
from .parallel_scan import (
    Element,
    Lanes,
    compose,
    elements,
    entered,
    scan,
    solution,
    stacked,
    turned,
)

__all__ = [
    "Filtered", "Scanned", "SmoothedCovariances", "SmoothedMeans", "kalman_filter",
]  # fmt: skip


@dataclass(frozen=True, eq=False)
class Filtered:
    """The predicted states of a Kalman filter, and the innovation of each reading.

    It begins with the belief after the first reading of all, `first`: there mean and covariance are
    those after it, and the precision is zero.

    Parameters
    ----------
    lanes : Lanes
        The readings.
    mean : Stack, shape (L, D, B)
        The means before each reading.
    cov : Array, shape (L, D, D, B)
        The covariances before each reading.
    precision : Matrix, shape (L, B)
        ``1 / S``, the inverse variances of the innovations.
    innovation : Matrix, shape (L, B)
        The readings less their prediction.
    """

    lanes: Lanes
    mean: Stack
    cov: Array
    precision: Matrix
    innovation: Matrix

    @property
    def first(self) -> FirstReading:
        """The belief after the first reading of all."""
        return self.lanes.first

    @cached_property
    def fit(self) -> float:
        """``Σ v² / S``, of the innovations v."""
        xp, first = array_namespace(self.innovation), self.first
        squares = self.innovation * self.innovation
        later = xp.sum(self.lanes.ordered(squares * self.precision))
        return float(later + xp.sum(first.reading * first.reading * first.precision))

    @cached_property
    def log_det(self) -> float:
        """``Σ log S``, the log determinant of their covariance."""
        xp = array_namespace(self.precision)
        # but for the first, whose precision is zero here: its own follows
        later = xp.sum(xp.log(self.lanes.ordered(self.precision)[1:]))
        return -float(later + xp.sum(xp.log(self.first.precision)))

    @property
    def log_evidence(self) -> float:
        """The log density of the readings, in units of the signal."""
        return -0.5 * (self.fit + self.log_det + self.lanes.count * LOG_2PI)

    @cached_property
    def rounding(self) -> float:
        """About how far rounding has moved the log evidence, in nats.

        ``½ eps P Σ (1/S + v²/S²)``, P the largest sum of the variances of terms before a reading:
        the effect on it of errors of eps, relative to these, in all S.
        """
        xp = array_namespace(self.precision)
        shares = self.precision + (self.innovation * self.precision) ** 2
        whole = float(xp.sum(self.lanes.ordered(shares)))
        return 0.5 * epsilon(self.precision) * self._largest * whole

    @property
    def most_rounding(self) -> float:
        """A bound on it for less work: ``v²/S²`` is at most ``v²/S`` times the largest 1/S."""
        xp = array_namespace(self.precision)
        told = float(xp.max(self.lanes.ordered(self.precision)))
        return 0.5 * epsilon(self.precision) * self._largest * told * (self.lanes.count + self.fit)

    @property
    def _largest(self) -> float:
        """The largest sum of the variances of terms before a reading."""
        seen = self.lanes.motion.seen
        sums = reduce(add, (self.cov[:, i, i, :] for i in seen))
        return float(array_namespace(sums).max(sums))

    @property
    def lost(self) -> float:
        """The approximate rounding of variances of f, relative to the variance after a reading.

        ``eps P / S`` with P as in `rounding` and the least S; where several terms are seen, and so
        the variance after a reading is P less about as much, with the least noise in the place of
        S.
        """
        xp, lanes = array_namespace(self.precision), self.lanes
        if len(lanes.motion.seen) == 1:
            least = 1.0 / float(xp.max(lanes.ordered(self.precision)))
        else:
            noise = lanes.ordered(xp.stack(lanes.noise))
            least = float(xp.min(xp.where(noise > 0.0, noise, xp.full_like(noise, math.inf))))
        return epsilon(self.precision) * self._largest / least

    @property
    def lost_afar(self) -> float:
        """About how far rounding has moved means and variances of f where a term bends.

        In parts of deviations and variances: ``eps |x − o| / g`` with the origin o of the bend and
        the mean gap g between readings. The slope there is known from the first reading but for
        a share of g / |x − o|, which is all that readings see.
        """
        xp, places = array_namespace(self.precision), self.lanes.ordered(self.lanes.places)
        span = float(places[-1] - places[0])
        if not (span and self.lanes.motion.bent_from):
            return 0.0
        reach = max(float(xp.max(xp.abs(places - o))) for o in self.lanes.motion.bent_from)
        return epsilon(self.precision) * reach * (places.shape[0] - 1) / span

    @cached_property
    def smoothed_means(self) -> SmoothedMeans:
        """The way back for means, O(N), worked out when it is first asked for."""
        xp = array_namespace(self.precision)
        adjoint, alpha = xp.empty_like(self.mean), xp.empty_like(self.precision)
        for k, told, late in self.pass_back_of_means():
            alpha[k, ...] = told
            adjoint[k, ...] = late
        return SmoothedMeans(adjoint, alpha)

    @cached_property
    def smoothed_covariances(self) -> SmoothedCovariances:
        """The way back for variances, O(N), worked out when it is first asked for."""
        xp = array_namespace(self.precision)
        adjoint, precision = xp.empty_like(self.cov), xp.empty_like(self.precision)
        for k, told, late in self.pass_back_of_covariances():
            precision[k, ...] = told
            adjoint[k, ...] = late
        return SmoothedCovariances(adjoint, precision)

    # these are of runs whose lanes are single readings, those above of all others

    def pass_back_of_means(self) -> Iterator[tuple[int, Vector, Matrix]]:
        """Go back through all steps: each with ``K_y⁻¹ r`` and λ, which the next step changes."""
        back = self.smoothed_means
        yield 0, back.alpha[0, ...], back.adjoint[0, ...]

    def pass_back_of_covariances(self) -> Iterator[tuple[int, Vector, Stack]]:
        """The same with the diagonal of ``K_y⁻¹`` and Λ."""
        back = self.smoothed_covariances
        yield 0, back.precision[0, ...], back.adjoint[0, ...]


@saved_as("Kalman filter of terms that carry others")
@dataclass(frozen=True, eq=False)
class Scanned(Filtered):
    """The same by lanes whose maps are composed.

    Parameters
    ----------
    lanes, mean, cov, precision, innovation
        As of `Filtered`.
    end_mean, end_cov : Stack, shape (B, D, 1) and (B, D, D)
        The beliefs after each lane.
    later : Element
        The information of the readings of each lane and of all later ones, the last first.
    """

    end_mean: Stack
    end_cov: Stack
    later: Element

    @cached_property
    def _ends(self) -> tuple[Matrix, Stack]:
        """λ (D, B) and Λ (D, D, B) after the last step of each lane."""
        xp, d = array_namespace(self.precision), self.lanes.motion.size
        eta, J = (
            xp.concat([xp.flip(told[:-1, ...], axis=0), xp.zeros_like(told[:1, ...])], axis=0)
            for told in (self.later.eta, self.later.J)
        )
        # the gradient and the Hessian of log ∫ N(x; m, C) exp(ηᵀx − ½ xᵀJx) dx by m, the first with
        # (I + J C)⁻¹ (η − J m), the second with −(I + J C)⁻¹ J
        right = xp.concat([eta - J @ self.end_mean, J], axis=2)
        solved = solution(eye(d, J) + J @ self.end_cov, right)
        pull = turned(solved[:, :, :1], (1, 2, 0))[:, 0, :]
        return pull, turned(symmetric_part(solved[:, :, 1:]), (1, 2, 0))

    def pass_back_of_means(self) -> Iterator[tuple[int, Vector, Matrix]]:
        """Go back through all steps: each with ``K_y⁻¹ r`` and λ, which the next step changes."""
        xp, lanes, seen = array_namespace(self.precision), self.lanes, self.lanes.motion.seen
        late = xp.asarray(self._ends[0], copy=True)
        for k in reversed(range(self.precision.shape[0])):
            gain = signal(self.cov[k, ...], seen) * self.precision[k, ...]
            alpha = self.precision[k, ...] * self.innovation[k, ...] - xp.sum(gain * late, axis=0)
            for i in seen:
                late[i, ...] += alpha
            if not k:
                alpha[:1] = self.first.told(late[:, :1])
            yield k, alpha, late
            if k:
                lanes.step(k).down(late)

    def pass_back_of_covariances(self) -> Iterator[tuple[int, Vector, Stack]]:
        """The same with the diagonal of ``K_y⁻¹`` and Λ."""
        xp, lanes, seen = array_namespace(self.precision), self.lanes, self.lanes.motion.seen
        late = xp.asarray(self._ends[1], copy=True)
        for k in reversed(range(self.precision.shape[0])):
            gain = signal(self.cov[k, ...], seen) * self.precision[k, ...]
            pushed = xp.sum(late * gain[None, :, :], axis=1)
            precision = self.precision[k, ...] + xp.sum(gain * pushed, axis=0)
            # (I − g H)ᵀ Λ (I − g H) + HᵀH/S: H is one at each of `seen`, and zero elsewhere
            for i in seen:
                late[i, ...] -= pushed
            for i in seen:
                late[:, i, ...] -= pushed
            for i in seen:
                for j in seen:
                    late[i, j, ...] += precision
            if not k:
                precision[:1] = self.first.known(late[:, :, :1])
            yield k, precision, late
            if k:
                lanes.step(k).carry_back(late)


@dataclass(frozen=True, eq=False)
class SmoothedMeans:
    """The smoothing of the state of each step by later readings, as a derivative by its mean.

    Parameters
    ----------
    adjoint : Stack, shape (L, D, B)
        λ: with the filter's m and P before a reading, the mean given all readings is ``m + P λ``.
    alpha : Matrix, shape (L, B)
        ``K_y⁻¹ r``.
    """

    adjoint: Stack
    alpha: Matrix


@dataclass(frozen=True, eq=False)
class SmoothedCovariances:
    """The reduction of the covariance of each step by later readings.

    Parameters
    ----------
    adjoint : Array, shape (L, D, D, B)
        Λ: the covariance given all readings is ``P − P Λ P``.
    precision : Matrix, shape (L, B)
        The diagonal of ``K_y⁻¹``.
    """

    adjoint: Array
    precision: Matrix


def kalman_filter(lanes: Lanes) -> Scanned:
    """Filter all readings, O(N)."""
    own = elements(lanes)
    xp, motion = array_namespace(lanes.gaps), lanes.motion
    # from the back: each lane is joined with all that come after it
    later = scan(Element(*(xp.flip(a, axis=0) for a in own)), lambda a, b: compose(b, a))
    length, B = lanes.gaps.shape
    kind = {"dtype": lanes.gaps.dtype, "device": device(lanes.gaps)}
    mean = xp.empty((length, motion.size, B), **kind)
    cov = xp.empty((length, motion.size, motion.size, B), **kind)
    precision, innovation = xp.empty((length, B), **kind), xp.empty((length, B), **kind)
    m, P = entered(own, *lanes.first.belief)
    for k, noise in enumerate(lanes.later_noise):
        step = lanes.step(k)
        step.up(m)
        step.carry(P)
        step.add_noise(P)
        mean[k, ...] = m
        cov[k, ...] = P
        shared = signal(P, motion.seen)
        precision[k, ...] = 1.0 / (signal(shared, motion.seen) + noise)
        innovation[k, ...] = lanes.readings[k, ...] - signal(m, motion.seen)
        m += shared * (precision[k, ...] * innovation[k, ...])
        # after the mean: `shared` may be a view of a row of P, which is written over here
        narrow(P, shared, precision[k, ...], noise, motion.seen)
    return Scanned(lanes, mean, cov, precision, innovation, stacked(m), stacked(P), later)
