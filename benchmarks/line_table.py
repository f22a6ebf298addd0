"""A million readings on a line, beside the same recursions for Matérn-3/2 in plain NumPy.

``python benchmarks/line_table.py`` prints the seconds for the evidence and the posterior means of
a million readings, for the evidence with its gradient, and for mean and variance at as many places;
then of the same with a season, and of one further reading with the forecast after it, `extend`.
The floor is what no filter can do without: the exponentials and logarithms. The loop is Kalman's
filter and the pass back, a reading at a time, timed on fewer readings and scaled up. tinygp and
celerite2 take part where they are installed. Seconds are the processor's, of one thread, so that
what else the machine does counts little.
"""

from __future__ import annotations

import argparse
import math
import resource
import sys
import time
from collections.abc import Callable
from statistics import median
from typing import Any

import numpy as np

from gpnotes import (
    GP,
    Matern12,
    Matern32,
    Matern52,
    Periodic,
    StateSpaceGP,
    condition,
    log_evidence_and_gradient,
)

N, ROUNDS = 10**6, 5
VARIANCE, LENGTHSCALE, NOISE = 1.7, 1.3, 0.05
_FEW = 20_000


def readings(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Unevenly spaced readings of a sine."""
    rng = np.random.default_rng(0)
    t = np.sort(rng.uniform(0.0, n / 1000.0, n))
    return t, np.sin(t) + math.sqrt(NOISE) * rng.normal(size=n)


def floor(t: np.ndarray, y: np.ndarray) -> Callable[[], Any]:
    """An exponential and a logarithm a reading."""
    gaps, variances = np.diff(t, prepend=0.0), 1.0 + y * y
    return lambda: (np.exp(-gaps), np.log(variances).sum())


def ours(kind: Any, t: np.ndarray, y: np.ndarray) -> Callable[[], Any]:
    """The evidence and the means."""
    gp, X = GP(kind(VARIANCE, LENGTHSCALE), NOISE), t[:, None]

    def call() -> Any:
        posterior = condition(StateSpaceGP(gp), X, y)
        return posterior.log_evidence, posterior.fitted()

    return call


def gradient(kind: Any, t: np.ndarray, y: np.ndarray) -> Callable[[], Any]:
    """The evidence and its gradient."""
    gp, X = GP(kind(VARIANCE, LENGTHSCALE), NOISE), t[:, None]
    return lambda: log_evidence_and_gradient(StateSpaceGP(gp), X, y)


def with_season(kind: Any, t: np.ndarray, y: np.ndarray) -> Callable[[], Any]:
    """The evidence and its gradient with a season beside the process."""
    kernel = kind(VARIANCE, LENGTHSCALE) + Periodic(1.0, 1.0, 2.0 * math.pi)
    model = StateSpaceGP(GP(kernel, NOISE))
    return lambda: log_evidence_and_gradient(model, t[:, None], y)


def one_more(kind: Any, t: np.ndarray, y: np.ndarray) -> Callable[[], Any]:
    """A hundred readings that come one at a time after all others, each with a forecast."""
    posterior = condition(StateSpaceGP(GP(kind(VARIANCE, LENGTHSCALE), NOISE)), t[:, None], y)
    later = t[-1] + 0.001 * np.arange(1.0, 102.0)[:, None]
    ahead = posterior.extend(later[:1], np.sin(later[:1, 0]))

    def call() -> Any:
        known = ahead
        for i in range(1, 101):
            known = known.extend(later[i : i + 1], np.sin(later[i : i + 1, 0]))
            forecast = known.predict(later[i : i + 1] + 1.0)
        return forecast

    return call


def prediction(kind: Any, t: np.ndarray, y: np.ndarray) -> Callable[[], Any]:
    """Mean and variance at as many places."""
    posterior = condition(StateSpaceGP(GP(kind(VARIANCE, LENGTHSCALE), NOISE)), t[:, None], y)
    posterior.predict(t[:10, None])
    return lambda: posterior.predict(t[:, None])


def loop(t: np.ndarray, y: np.ndarray) -> Callable[[], Any]:
    """Kalman's filter and a pass back for Matern32, in Python's floats, the fastest plain loop."""
    rate = math.sqrt(3.0) / LENGTHSCALE
    gaps = (np.diff(t, prepend=t[0] - 1e3) * rate).tolist()

    def call() -> Any:
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
        return -0.5 * (total + len(alpha) * math.log(2.0 * math.pi)), y - NOISE * np.array(
            alpha[::-1]
        )

    return call


def tinygp(t: np.ndarray, y: np.ndarray) -> Callable[[], Any] | None:
    """The evidence and the means by tinygp, in float64, compiled before it is timed."""
    try:
        import jax
        from tinygp import GaussianProcess
        from tinygp.kernels.quasisep import Matern32 as Theirs
    except ImportError:
        return None
    jax.config.update("jax_enable_x64", True)

    @jax.jit
    def both(t: Any, y: Any) -> Any:
        kernel = VARIANCE * Theirs(scale=LENGTHSCALE)
        found = GaussianProcess(kernel, t, diag=NOISE, assume_sorted=True).condition(y)
        return found.log_probability, found.gp.loc

    return lambda: jax.block_until_ready(both(t, y))


def celerite2(t: np.ndarray, y: np.ndarray) -> Callable[[], Any] | None:
    """The evidence and the means by celerite2, whose Matérn-3/2 is an approximation."""
    try:
        import celerite2
    except ImportError:
        return None

    def call() -> Any:
        term = celerite2.terms.Matern32Term(sigma=math.sqrt(VARIANCE), rho=LENGTHSCALE)
        process = celerite2.GaussianProcess(term)
        process.compute(t, diag=np.full_like(t, NOISE))
        return process.log_likelihood(y), process.predict(y)

    return call


def seconds(call: Callable[[], Any], rounds: int) -> float:
    """The median of the processor's seconds, after a call that warms up."""
    call()
    taken = []
    for _ in range(rounds):
        start = time.process_time()
        call()
        taken.append(time.process_time() - start)
    return median(taken)


def main() -> int:
    """Print the table."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--readings", type=int, default=N)
    asked.add_argument("--rounds", type=int, default=ROUNDS)
    wanted = asked.parse_args()
    t, y = readings(wanted.readings)
    few = readings(min(_FEW, wanted.readings))
    print(f"{wanted.readings} readings, the processor's seconds of one thread")
    print(f"exponentials and logarithms alone   {seconds(floor(t, y), wanted.rounds):8.3f}")
    for kind in (Matern12, Matern32, Matern52):
        for what, task in (("evidence, means", ours), ("gradient", gradient),
                           ("prediction", prediction)):  # fmt: skip
            taken = seconds(task(kind, t, y), wanted.rounds)
            print(f"{kind.__name__:10}{what:26}{taken:8.3f}")
    season = seconds(with_season(Matern32, t, y), min(2, wanted.rounds))
    print(f"{'Matern32':10}{'+ Periodic, gradient':26}{season:8.3f}")
    each = seconds(one_more(Matern32, t, y), wanted.rounds) / 100.0
    print(f"{'Matern32':10}{'extend by one, forecast':26}{1e3 * each:8.3f} ms")
    scaled = seconds(loop(*few), wanted.rounds) * wanted.readings / few[0].size
    print(f"Matern32, a loop of floats          {scaled:8.3f}")
    for name, rival in (("tinygp", tinygp(t, y)), ("celerite2", celerite2(t, y))):
        if rival is not None:
            print(f"Matern32, {name:26}{seconds(rival, wanted.rounds):8.3f}")
    (value, means), (other, theirs) = ours(Matern32, *few)(), loop(*few)()
    gap = max(abs(value - other) / abs(other), float(np.max(np.abs(means - theirs))))
    print(f"most memory, GB                     "
          f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6:8.3f}")  # fmt: skip
    print(f"largest difference from the loop    {gap:8.1e}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
