"""Seconds by default and on one thread, on an idle machine and beside a process that keeps a core.

    python benchmarks/threads_table.py [--rounds 3] [case …]

What a user calls should not be slower by default than with ``OMP_NUM_THREADS=1``. On an idle
machine it rarely is; beside another process threads that wait for each other wait for the
scheduler. Each figure is the median over rounds of the best of a few calls, in a process of its
own for each setting; a round goes through all settings, so that what else the machine does meets
them all. The busy process is started and ended here.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import perf_counter

import numpy as np

_SPIN = "while True: pass"
_ONE = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
_SECONDS = 0.4  # that a case is called for, at least twice

Work = Callable[[], object]


def _data(n: int, d: int = 2) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(n)
    X = rng.uniform(0.0, 5.0, (n, d))
    return X, np.sin(X).sum(axis=1) + 0.1 * rng.standard_normal(n)


def branin() -> Work:
    """Thirty evaluations of Branin's function by `bayesopt.minimise`."""
    from gpnotes import stream
    from gpnotes.decide import bayesopt

    def value(x: np.ndarray) -> float:
        a, b = float(x[0]), float(x[1])
        level = b - 5.1 * a * a / (4.0 * np.pi**2) + 5.0 * a / np.pi - 6.0
        return float(level**2 + 10.0 * (1.0 - 1.0 / (8.0 * np.pi)) * np.cos(a) + 10.0)

    box = [(-5.0, 10.0), (0.0, 15.0)]
    return lambda: bayesopt.minimise(value, box, 30, rng=stream(1))


def fits() -> Work:
    """Three fits of 80 readings."""
    from gpnotes import GP, RBF, Matern52, Periodic, fit

    X, y = _data(80)
    kernels = RBF(), Matern52(), RBF() + Periodic()
    return lambda: [fit(GP(kernel, 0.1), X, y) for kernel in kernels]


def predicted(n: int) -> Callable[[], Work]:
    """`condition` on n readings, and `predict` at as many places."""

    def made() -> Work:
        from gpnotes import GP, RBF, condition

        X, y = _data(n, 3)
        process = GP(RBF(), 0.1)
        return lambda: condition(process, X, y).predict(X[::-1] + 0.01)

    return made


def evidence(n: int) -> Callable[[], Work]:
    """The evidence of n readings, with its gradient."""

    def made() -> Work:
        from gpnotes import GP, RBF, log_evidence_and_gradient

        X, y = _data(n, 3)
        process = GP(RBF(), 0.1)
        return lambda: log_evidence_and_gradient(process, X, y)

    return made


def by_lapack(case: Callable[[], Work]) -> Callable[[], Work]:
    """The same, without tiles that threads take when they are free."""

    def made() -> Work:
        from gpnotes.ground import tiled_cholesky

        tiled_cholesky._SMALLEST = sys.maxsize
        return case()

    return made


def _positive(n: int) -> np.ndarray:
    A = np.random.default_rng(n).standard_normal((n, n))
    return np.asfortranarray(A @ A.T + n * np.eye(n))


def lapack(name: str, n: int) -> Callable[[], Work]:
    """LAPACK's factor of a matrix, or its inverse from the factor, alone."""

    def made() -> Work:
        from scipy.linalg import lapack as library

        K = _positive(n)
        given = library.dpotrf(K, lower=1)[0] if name == "dpotri" else K
        return lambda: getattr(library, name)(given, lower=1)

    return made


def tiles(inverse: bool, n: int) -> Callable[[], Work]:
    """The same by gpnotes: in tiles where threads share the work, by LAPACK on one."""

    def made() -> Work:
        from gpnotes.fast import factors
        from gpnotes.ground.tiled_cholesky import sharing

        K = _positive(n)

        def work() -> object:
            with sharing(K) as threads:
                lower = factors.cholesky(K.copy(order="F"), 0.0, threads)
                assert lower is not None
                return factors.inverse(lower, threads) if inverse else lower

        return work

    return made


def product_of(n: int) -> Callable[[], Work]:
    """One product of BLAS alone."""

    def made() -> Work:
        A = np.random.default_rng(n).standard_normal((n, n))
        return lambda: A @ A

    return made


def sparse_fit() -> Work:
    """Twenty steps of a sparse fit: 2000 readings, 50 inducing points."""
    from gpnotes import GP, RBF, fit
    from gpnotes.infer import sparse

    X, y = _data(2000)
    return lambda: fit(sparse.SparseGP(GP(RBF(), 0.1), X[::40]), X, y, max_steps=20)


def svgp_fit() -> Work:
    """A hundred batches of 100 of 2000 readings, 50 inducing points."""
    from gpnotes import GP, RBF, SVGP, Gaussian, fit, stream

    X, y = _data(2000)
    model = SVGP(GP(RBF(), 0.0), Gaussian(0.1), X[::40])
    return lambda: fit(model, X, y, max_steps=100, batch=100, rng=stream(0))


def rollouts() -> Work:
    """Ten steps of a pendulum's moments with derivatives, 100 readings of its dynamics."""
    from gpnotes import GP, RBF, condition
    from gpnotes.decide.pilco import Dynamics, LinearPolicy, QuadraticCost, rollouts

    X, _ = _data(100, 3)
    seen = tuple(condition(GP(RBF(), 1e-3), X, np.sin(X[:, k])) for k in (0, 1))
    policy = LinearPolicy(-np.ones((1, 2)), np.zeros(1))
    cost = QuadraticCost(np.zeros(2), np.eye(2))
    start = np.ones(2), 0.1 * np.eye(2)

    def work() -> object:
        _, pull = rollouts.rollout_and_pullback(Dynamics(seen), policy, cost, *start, 10)
        return pull(np.ones(10))

    return work


CASES: dict[str, Callable[[], Work]] = {
    "minimise Branin, 30 evaluations": branin,
    "three fits of 80 readings": fits,
    "condition and predict, n = 50": predicted(50),
    "condition and predict, n = 300": predicted(300),
    "condition and predict, n = 2000": predicted(2000),
    "evidence and gradient, n = 300": evidence(300),
    "evidence and gradient, n = 500": evidence(500),
    "evidence and gradient, n = 2000": evidence(2000),
    "the same by LAPACK's threads, n = 2000": by_lapack(evidence(2000)),
    "condition, predict by LAPACK's, n = 2000": by_lapack(predicted(2000)),
    "LAPACK's factor alone, n = 2000": lapack("dpotrf", 2000),
    "LAPACK's inverse alone, n = 2000": lapack("dpotri", 2000),
    "factor in tiles, n = 2000": tiles(False, 2000),
    "factor and inverse in tiles, n = 2000": tiles(True, 2000),
    "BLAS's product alone, n = 2000": product_of(2000),
    "sparse fit, n = 2000, M = 50": sparse_fit,
    "svgp fit, n = 2000, M = 50": svgp_fit,
    "rollout with gradient, n = 100": rollouts,
}


def seconds(name: str) -> float:
    """The best of the calls that `_SECONDS` have room for, after one that warms up."""
    work = CASES[name]()
    work()
    times: list[float] = []
    while len(times) < 2 or sum(times) < _SECONDS:
        begin = perf_counter()
        work()
        times.append(perf_counter() - begin)
    return statistics.median(times)


@contextmanager
def _busy(wanted: bool) -> Iterator[None]:
    """Beside a process that never rests, if it is `wanted`."""
    if not wanted:
        yield
        return
    spinning = subprocess.Popen([sys.executable, "-c", _SPIN])
    try:
        yield
    finally:
        spinning.kill()
        spinning.wait()


def _measured(name: str, one: bool) -> float:
    others = {key: value for key, value in os.environ.items() if key not in _ONE}
    environment = {**others, **(_ONE if one else {})}
    command = [sys.executable, __file__, "--only", name]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return float(json.loads(done.stdout))


def table(names: list[str], rounds: int) -> Iterator[str]:
    """A line for each case: seconds and their ratio, idle and busy."""
    columns = f"{'one':>9}{'ratio':>7}"
    yield f"{'':42}{'idle: default':>14}{columns}{'busy: default':>15}{columns}"
    for name in names:
        row = f"{name:42}"
        for wanted, width in ((False, 14), (True, 15)):
            pairs = []
            for _ in range(rounds):
                with _busy(wanted):
                    pairs.append((_measured(name, False), _measured(name, True)))
            default, one = (statistics.median(column) for column in zip(*pairs, strict=True))
            row += f"{default:{width}.4f}{one:9.4f}{default / one:7.2f}"
        yield row


def main() -> None:
    """Print the table, or as a child the seconds of one case."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cases", nargs="*", help="parts of the names of cases; all if none")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.only:
        print(json.dumps(seconds(given.only)))
        return
    wanted = [name for name in CASES if any(part in name for part in given.cases or [""])]
    for line in table(wanted, given.rounds):
        print(line, flush=True)


if __name__ == "__main__":
    main()
