"""The filter along a line, and the way back that makes it a smoother."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from ...ground.xp import LOG_2PI, Array, Matrix, Stack, array_namespace, device, eye, symmetric_part
from .parallel_scan import (
    Element,
    Lanes,
    carry,
    compose,
    elements,
    entered,
    scan,
    stacked,
    turned,
)

__all__ = ["Back", "Forth", "Spread", "forth"]


@dataclass(frozen=True, eq=False)
class Forth:
    """The beliefs of a filter before each reading, and what each reading told.

    Parameters
    ----------
    lanes : Lanes
        The readings.
    mean : Stack, shape (L, D, B)
        The means.
    cov : Array, shape (L, D, D, B)
        The covariances.
    told : Matrix, shape (L, B)
        ``1 / S``, the inverse variances of the readings as they were predicted.
    gap : Matrix, shape (L, B)
        The readings less their prediction.
    end_mean, end_cov : Stack, shape (B, D, 1) and (B, D, D)
        The beliefs after each lane.
    later : Element
        What the readings of each lane and of all later ones tell, the last first.
    """

    lanes: Lanes
    mean: Stack
    cov: Array
    told: Matrix
    gap: Matrix
    end_mean: Stack
    end_cov: Stack
    later: Element

    @cached_property
    def fit(self) -> float:
        """``Σ v² / S``, what the readings are from what was predicted, squared."""
        xp = array_namespace(self.gap)
        return float(xp.sum(self.lanes.ordered(self.gap * self.gap * self.told)))

    @cached_property
    def log_det(self) -> float:
        """``Σ log S``, the log determinant of their covariance."""
        xp = array_namespace(self.told)
        return -float(xp.sum(xp.log(self.lanes.ordered(self.told))))

    @property
    def log_evidence(self) -> float:
        """The log density of the readings, in units of the signal."""
        return -0.5 * (self.fit + self.log_det + self.lanes.count * LOG_2PI)

    @cached_property
    def back(self) -> Back:
        """The way back for means, worked out when it is first asked for."""
        return _back(self)

    @cached_property
    def spread(self) -> Spread:
        """The way back for variances, worked out when it is first asked for."""
        return _spread(self)

    @cached_property
    def ends(self) -> tuple[Matrix, Stack]:
        """λ (D, B) and Λ (D, D, B) after the last step of each lane."""
        xp, d = array_namespace(self.told), self.lanes.motion.size
        eta, J = (
            xp.concat([xp.flip(told[:-1, ...], axis=0), xp.zeros_like(told[:1, ...])], axis=0)
            for told in (self.later.eta, self.later.J)
        )
        right = xp.concat([eta - J @ self.end_mean, J], axis=2)
        solved = xp.linalg.solve(eye(d, J) + J @ self.end_cov, right)
        pull = turned(solved[:, :, :1], (1, 2, 0))[:, 0, :]
        return pull, turned(symmetric_part(solved[:, :, 1:]), (1, 2, 0))


@dataclass(frozen=True, eq=False)
class Back:
    """How the later readings would have the state of each step, as a derivative by its mean.

    Parameters
    ----------
    pull : Stack, shape (L, D, B)
        λ: with the filter's m and P before a reading, the mean given all readings is ``m + P λ``.
    alpha : Matrix, shape (L, B)
        ``K_y⁻¹ r``.
    """

    pull: Stack
    alpha: Matrix


@dataclass(frozen=True, eq=False)
class Spread:
    """What the later readings take from the covariance of each step.

    Parameters
    ----------
    taken : Array, shape (L, D, D, B)
        Λ: the covariance given all readings is ``P − P Λ P``.
    precision : Matrix, shape (L, B)
        The diagonal of ``K_y⁻¹``.
    """

    taken: Array
    precision: Matrix


def forth(lanes: Lanes) -> Forth:
    """Filter all readings, O(N)."""
    own, drifts = elements(lanes)
    xp, motion = array_namespace(lanes.gaps), lanes.motion
    before = scan(own, compose)
    later = scan(Element(*(xp.flip(a, axis=0) for a in own)), lambda a, b: compose(b, a))
    length, B = lanes.gaps.shape
    kind = {"dtype": lanes.gaps.dtype, "device": device(lanes.gaps)}
    mean = xp.empty((length, motion.size, B), **kind)
    cov = xp.empty((length, motion.size, motion.size, B), **kind)
    told, gap = xp.empty((length, B), **kind), xp.empty((length, B), **kind)
    m, P = entered(before.b), entered(before.C)
    m = m[:, 0, :]
    for k, noise in enumerate(lanes.noise):
        s, decay = lanes.gaps[k, ...], lanes.decay(k)
        motion.up(s, m)
        m *= decay
        carry(motion.up, s, P)
        P *= decay * decay
        P += drifts[k]
        mean[k, ...] = m
        cov[k, ...] = P
        told[k, ...] = 1.0 / (P[0, 0, ...] + noise)
        gap[k, ...] = lanes.readings[k, ...] - m[0, ...]
        gain = P[0, ...] * told[k, ...]
        m += gain * gap[k, ...]
        P -= gain[:, None, :] * P[0, ...][None, :, :]
    return Forth(lanes, mean, cov, told, gap, stacked(m), stacked(P), later)


def _back(run: Forth) -> Back:
    """Go back through all steps for means; O(N)."""
    xp, lanes = array_namespace(run.told), run.lanes
    pull, alpha = xp.empty_like(run.mean), xp.empty_like(run.told)
    late = xp.asarray(run.ends[0], copy=True)
    for k in reversed(range(run.told.shape[0])):
        told = run.told[k, ...]
        gain = run.cov[k, 0, ...] * told
        alpha[k, ...] = told * run.gap[k, ...] - xp.sum(gain * late, axis=0)
        late[0, ...] += alpha[k, ...]
        pull[k, ...] = late
        lanes.motion.down(lanes.gaps[k, ...], late)
        late *= lanes.decay(k)
    return Back(pull, alpha)


def _spread(run: Forth) -> Spread:
    """Go back through all steps for variances; O(N)."""
    xp, lanes = array_namespace(run.told), run.lanes
    taken, precision = xp.empty_like(run.cov), xp.empty_like(run.told)
    late = xp.asarray(run.ends[1], copy=True)
    for k in reversed(range(run.told.shape[0])):
        told = run.told[k, ...]
        gain = run.cov[k, 0, ...] * told
        pushed = xp.sum(late * gain[None, :, :], axis=1)
        precision[k, ...] = told + xp.sum(gain * pushed, axis=0)
        late[0, ...] -= pushed
        late[:, 0, ...] -= pushed
        late[0, 0, ...] += precision[k, ...]
        taken[k, ...] = late
        carry(lanes.motion.down, lanes.gaps[k, ...], late)
        late *= lanes.decay(k) ** 2
    return Spread(taken, precision)
