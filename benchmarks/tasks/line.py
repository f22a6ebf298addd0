"""Readings on a line, by a walk along it: a million and a thousand, a season, one reading more."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache, cached_property, partial
from typing import Any

import numpy as np
from harness import Call, Task

from gpnotes import GP, Matern32, Periodic, StateSpaceGP, condition, log_evidence_and_gradient

VARIANCE, LENGTHSCALE, NOISE = 1.7, 1.3, 0.05
RATE = math.sqrt(3.0) / LENGTHSCALE


@dataclass(frozen=True)
class Problem:
    """n unevenly spaced readings of a sine."""

    n: int

    @cached_property
    def data(self) -> tuple[np.ndarray, np.ndarray]:
        rng = np.random.default_rng(0)
        t = np.sort(rng.uniform(0.0, self.n / 1000.0, self.n))
        return t, np.sin(t) + math.sqrt(NOISE) * rng.normal(size=self.n)

    @property
    def gp(self) -> GP:
        return GP(Matern32(VARIANCE, LENGTHSCALE), NOISE)


def floor(problem: Problem) -> Call:
    """An exponential, a logarithm and six elementwise products a reading."""
    t, y = problem.data
    gaps, variances, a = np.diff(t, prepend=0.0), 1.0 + y * y, y.copy()

    def call() -> None:
        np.exp(-gaps), np.log(variances).sum()
        for _ in range(6):
            np.multiply(a, y, out=a)

    return call


def ours(problem: Problem, compiled: bool = False) -> Call:
    """The evidence and the means."""
    t, y = problem.data

    def call() -> np.ndarray:
        posterior = condition(StateSpaceGP(problem.gp, compiled=compiled), t[:, None], y)
        return np.append(posterior.fitted(), posterior.log_evidence)

    return call


def gradient(problem: Problem) -> Call:
    """The evidence and its gradient."""
    t, y = problem.data
    return lambda: log_evidence_and_gradient(StateSpaceGP(problem.gp), t[:, None], y)[0]


def season(problem: Problem) -> Call:
    """The evidence and its gradient with a season beside the process."""
    t, y = problem.data
    kernel = problem.gp.kernel + Periodic(1.0, 1.0, 2.0 * math.pi)
    return lambda: log_evidence_and_gradient(StateSpaceGP(GP(kernel, NOISE)), t[:, None], y)[0]


def extend(problem: Problem) -> Call:
    """A reading that comes after all others, and a forecast."""
    t, y = problem.data
    posterior = condition(StateSpaceGP(problem.gp), t[:, None], y)
    later = t[-1:, None] + 0.001
    return lambda: posterior.extend(later, np.sin(later[:, 0])).predict(later + 1.0)[0]


def by_floats(problem: Problem) -> Call:
    """Kalman's filter and a pass back in Python's floats, the fastest plain loop."""
    t, y = problem.data
    gaps = (np.diff(t, prepend=t[0] - 1e3) * RATE).tolist()

    def call() -> np.ndarray:
        m0 = m1 = p00 = p01 = p11 = total = 0.0
        kept = []
        for s, value in zip(gaps, y.tolist(), strict=True):
            e = math.exp(-s)
            d = e * e
            a, b, c = p00 - VARIANCE, p01 - VARIANCE, p11 - 2.0 * VARIANCE
            p00 = VARIANCE + d * (a + s * (2.0 * b + s * c))
            p01, p11 = VARIANCE + d * (b + s * c), 2.0 * VARIANCE + d * c
            m0, m1 = e * (m0 + s * m1), e * m1
            S, gap = p00 + NOISE, value - m0
            k0, k1 = p00 / S, p01 / S
            total += math.log(S) + gap * gap / S
            kept.append((s, e, S, gap, k0, k1))
            m0, m1 = m0 + k0 * gap, m1 + k1 * gap
            p11 -= k1 * p01
            p00, p01 = k0 * NOISE, k1 * NOISE
        l0 = l1 = 0.0
        alpha = []
        for s, e, S, gap, k0, k1 in reversed(kept):
            one = gap / S - k0 * l0 - k1 * l1
            alpha.append(one)
            l0 += one
            l0, l1 = e * l0, e * (l1 + s * l0)
        evidence = -0.5 * (total + len(alpha) * math.log(2.0 * math.pi))
        return np.append(y - NOISE * np.array(alpha[::-1]), evidence)

    return call


def by_numba(problem: Problem) -> Call:
    """The same walk, compiled by Numba."""
    t, y = problem.data
    gaps = np.diff(t, prepend=t[0] - 1e3) * RATE
    walk = _compiled()
    return lambda: walk(gaps, y)


@cache
def _compiled() -> Any:
    from numba import njit

    @njit
    def walk(gaps, y):
        n = len(y)
        e, S, gap, k0, k1 = np.empty(n), np.empty(n), np.empty(n), np.empty(n), np.empty(n)
        m0 = m1 = p00 = p01 = p11 = total = 0.0
        for i in range(n):
            s = gaps[i]
            e[i] = math.exp(-s)
            d = e[i] * e[i]
            a, b, c = p00 - VARIANCE, p01 - VARIANCE, p11 - 2.0 * VARIANCE
            p00 = VARIANCE + d * (a + s * (2.0 * b + s * c))
            p01, p11 = VARIANCE + d * (b + s * c), 2.0 * VARIANCE + d * c
            m0, m1 = e[i] * (m0 + s * m1), e[i] * m1
            S[i], gap[i] = p00 + NOISE, y[i] - m0
            k0[i], k1[i] = p00 / S[i], p01 / S[i]
            total += math.log(S[i]) + gap[i] * gap[i] / S[i]
            m0, m1 = m0 + k0[i] * gap[i], m1 + k1[i] * gap[i]
            p11 -= k1[i] * p01
            p00, p01 = k0[i] * NOISE, k1[i] * NOISE
        l0 = l1 = 0.0
        found = np.empty(n + 1)
        found[n] = -0.5 * (total + n * math.log(2.0 * math.pi))
        for i in range(n - 1, -1, -1):
            one = gap[i] / S[i] - k0[i] * l0 - k1[i] * l1
            found[i] = y[i] - NOISE * one
            l0 += one
            l0, l1 = e[i] * l0, e[i] * (l1 + gaps[i] * l0)
        return found

    return walk


def by_tinygp(problem: Problem) -> Call:
    import jax
    from tinygp import GaussianProcess
    from tinygp.kernels.quasisep import Matern32 as Theirs

    jax.config.update("jax_enable_x64", True)

    @jax.jit
    def both(t: Any, y: Any) -> Any:
        kernel = VARIANCE * Theirs(scale=LENGTHSCALE)
        found = GaussianProcess(kernel, t, diag=NOISE, assume_sorted=True).condition(y)
        return jax.numpy.append(found.gp.loc, found.log_probability)

    return lambda: np.asarray(both(*problem.data))


def by_celerite2(problem: Problem) -> Call:
    """Its Matérn-3/2 is an approximation, so that answers are not compared."""
    import celerite2

    t, y = problem.data

    def call() -> np.ndarray:
        term = celerite2.terms.Matern32Term(sigma=math.sqrt(VARIANCE), rho=LENGTHSCALE)
        process = celerite2.GaussianProcess(term)
        process.compute(t, diag=np.full_like(t, NOISE))
        return np.append(process.predict(y), process.log_likelihood(y))

    return call


WALKS = {"floor": floor, "gpnotes": ours, "gpnotes, compiled": partial(ours, compiled=True),
         "a loop of floats": by_floats, "Numba": by_numba, "tinygp": by_tinygp,
         "celerite2": by_celerite2}  # fmt: skip
TASKS = {
    "line": Task(
        "{n} readings on a line, Matérn-3/2: evidence and means", "exponentials, products",
        Problem, WALKS, 10**6, 300, apart=("celerite2",),
    ),
    "short line": Task(
        "{n} readings on a line, Matérn-3/2: evidence and means", "exponentials, products",
        Problem, WALKS, 1000, 300, apart=("celerite2",),
    ),
    "line's gradient": Task(
        "{n} readings on a line: evidence and gradient", "exponentials, products",
        Problem, {"floor": floor, "gpnotes": gradient}, 10**6, 300,
    ),
    "season": Task(
        "{n} readings on a line with a season: evidence and gradient", "exponentials, products",
        Problem, {"floor": floor, "gpnotes": season}, 10**6, 300,
    ),
    "extend": Task(
        "one reading after {n}, and a forecast", "exponentials, products",
        Problem, {"floor": floor, "gpnotes": extend}, 10**6, 300,
    ),
}  # fmt: skip
