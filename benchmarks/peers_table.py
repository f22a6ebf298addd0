"""What users would take in the place of what has no floor: one table, a line a task.

``python benchmarks/peers_table.py`` prints the processor's seconds of one thread, of gpnotes and of
each peer, and ends in an error where answers differ. A task is a function of a size and returns
ours and its peers, by name, as calls without arguments whose answers are compared; another task is
another line of `TASKS`. Features have peers of their own frequencies in plain NumPy; scikit-learn,
which draws others, would have another answer.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable
from typing import Any

import line_table
import numpy as np

from gpnotes import GP, RBF, Matern32, SparseGP, condition, log_evidence_and_gradient, stream
from gpnotes.infer import features
from gpnotes.infer.interdomain import GaussianWindows, leading_harmonics, wave_sums
from gpnotes.model.kernels import CircularMatern32

SIZE, ROUNDS, TOLERANCE = 10**6, 5, 1e-8
Ways = dict[str, Callable[[], Any]]
_CIRCLE = GP(CircularMatern32(1.3, 0.5), 0.1)


def _angles(n: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.uniform(-math.pi, math.pi, (n, 1))
    return X, np.sin(X[:, 0]) + 0.3 * rng.normal(size=n)


def _plain_sums(X: np.ndarray, y: np.ndarray, top: int) -> tuple[np.ndarray, np.ndarray]:
    """The Gram matrix of the waves and their products with y, a hundred thousand rows at a time."""
    orders, gram, cross = np.arange(1.0, top + 1)[:, None], 0.0, 0.0
    for start in range(0, len(X), 10**5):
        part = X[start : start + 10**5, 0]
        H = np.vstack([np.ones(part.size), np.cos(orders * part), np.sin(orders * part)])
        gram, cross = gram + H @ H.T, cross + H @ y[start : start + 10**5]
    return gram, cross


def sums_formed(n: int) -> Ways:
    """The sums that 41 harmonics ask of angles."""
    X, y = _angles(n)
    u = leading_harmonics(_CIRCLE.kernel, X, 21)

    def ours() -> Any:
        moments = wave_sums(u, X, y - y.mean()).moments(u)
        return np.concatenate([moments.gram.ravel(), moments.products])

    def numpy() -> Any:
        gram, cross = _plain_sums(X, y - y.mean(), 20)
        return np.concatenate([gram.ravel(), cross])

    return {"gpnotes": ours, "plain NumPy": numpy}


def gradient_from_sums(n: int) -> Ways:
    """The bound by 41 harmonics and its gradient, of sums, of readings, and by jax of sums."""
    X, y = _angles(n)
    u = leading_harmonics(_CIRCLE.kernel, X, 21)
    sums = wave_sums(u, X, y)
    return {
        "gpnotes": lambda: _of_sparse(log_evidence_and_gradient(SparseGP(_CIRCLE, u), sums)),
        "jax": _by_jax(*_plain_sums(X, y, 20), float(y @ y), n),
        "gpnotes, by readings": lambda: _of_sparse(
            log_evidence_and_gradient(SparseGP(_CIRCLE, u), X, y)
        ),
    }


def _of_sparse(found: tuple[float, SparseGP]) -> np.ndarray:
    return _flat(found[0], found[1].gp)


def _flat(value: float, bar: GP) -> np.ndarray:
    return np.asarray([value, bar.kernel.variance, bar.kernel.lengthscale, bar.noise_var])


def _by_jax(gram: np.ndarray, cross: np.ndarray, squares: float, n: int) -> Callable[[], Any]:
    """The bound as the chapter writes it, differentiated and compiled before it is timed."""
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)
    orders = jnp.arange(21.0)
    far = jnp.arange(-60.0, 61.0)[:, None]

    def bound(theta: Any) -> Any:
        variance, length, noise = theta
        c = jnp.sqrt(3.0) / length
        shares = jnp.where(orders == 0.0, 1.0, 2.0) * 4.0 * c**3 / (c * c + orders**2) ** 2
        r = jnp.abs(2.0 * jnp.pi * far)
        shares = shares / (2.0 * jnp.pi * jnp.sum((1.0 + c * r) * jnp.exp(-c * r)))
        a = variance * shares
        root = jnp.sqrt(jnp.concatenate([a, a[1:]]))
        B = jnp.eye(root.size) + root[:, None] * gram * root / noise
        L = jnp.linalg.cholesky(B)
        half = jax.scipy.linalg.solve_triangular(L, root * cross, lower=True) / noise
        lost = n * (variance - a.sum()) / noise
        quadratic = half @ half - squares / noise - lost - n * jnp.log(2.0 * jnp.pi * noise)
        return quadratic / 2.0 - jnp.log(jnp.diag(L)).sum()

    both = jax.jit(jax.value_and_grad(bound))
    theta = jnp.asarray([_CIRCLE.kernel.variance, _CIRCLE.kernel.lengthscale, _CIRCLE.noise_var])

    def call() -> Any:
        value, slope = jax.block_until_ready(both(theta))
        return np.concatenate([[value], slope])

    return call


def features_of_a_sum(n: int) -> Ways:
    """The weights of 400 features of an RBF and a Matérn kernel of different columns."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n // 20, 4))
    y = np.sin(X[:, 0]) + 0.1 * rng.normal(size=len(X))
    gp = GP(RBF(1.0, 1.5) + 0.3 * Matern32(1.0, 0.8).on(0, 1), 0.1)
    drawn = features.draw_frequencies(gp.kernel, X, 400, rng=stream(0))

    def numpy() -> Any:
        scale = np.repeat([1.5, 0.8], 200)[:, None]
        height = np.repeat(np.sqrt([2.0 / 200, 0.6 / 200]), 200)
        Phi = height * np.cos(X @ (drawn.unit / scale).T + drawn.phases)
        B = np.eye(400) + Phi.T @ Phi / 0.1
        return np.linalg.solve(B, Phi.T @ y / 0.1)

    return {
        "gpnotes": lambda: condition(features.FeatureGP(gp, drawn), X, y).weights.weight_mean,
        "plain NumPy": numpy,
    }


def windows(n: int) -> Ways:
    """VFE of two inputs with 50 Gaussian windows: gradient by all, and by jax."""
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n // 200, 2))
    y = np.sin(X[:, 0]) + 0.1 * rng.normal(size=len(X))
    Z, widths = rng.normal(size=(50, 2)), 0.3 + 0.2 * rng.uniform(size=(50, 2))

    def covariance(s: Any, ell: Any, way: Any, v: Any) -> Any:
        return s * jnp.prod(ell / jnp.sqrt(v), -1) * jnp.exp(-0.5 * jnp.sum(way**2 / v, -1))

    def bound(s: Any, ell: Any, noise: Any, Z: Any, c: Any) -> Any:
        v = ell**2 + (c**2)[:, None] + (c**2)[None]
        L = jnp.linalg.cholesky(covariance(s, ell, Z[:, None] - Z[None], v))
        K_uf = covariance(s, ell, Z[:, None] - X[None], (ell**2 + c**2)[:, None])
        V = jax.scipy.linalg.solve_triangular(L, K_uf, lower=True)
        B = jnp.eye(50) + V @ V.T / noise
        half = jax.scipy.linalg.solve_triangular(jnp.linalg.cholesky(B), V @ y, lower=True) / noise
        spread = len(X) * jnp.log(2.0 * jnp.pi * noise) + jnp.linalg.slogdet(B)[1]
        lost = (len(X) * s - jnp.sum(V * V)) / noise
        return -0.5 * (spread + y @ y / noise - half @ half + lost)

    both = jax.jit(jax.value_and_grad(bound, argnums=(0, 1, 2, 3, 4)))
    theta = tuple(map(jnp.asarray, (1.3, 0.5, 0.1, Z, widths)))
    u, gp = GaussianWindows(Z, widths), GP(RBF(1.3, 0.5), 0.1)

    def ours() -> Any:
        value, model_bar = log_evidence_and_gradient(SparseGP(gp, u), X, y)
        bar, inputs_bar = model_bar.gp, model_bar.inducing
        return np.concatenate([_flat(value, bar), inputs_bar.ravel()])

    def theirs() -> Any:
        value, (s, ell, noise, by_Z, by_c) = jax.block_until_ready(both(*theta))
        return np.concatenate([[value, s, ell, noise], by_Z.ravel(), by_c.ravel()])

    return {"gpnotes": ours, "jax": theirs}


def line(n: int) -> Ways:
    """Matérn-3/2 on a line: the evidence, beside a loop of floats."""
    t, y = line_table.readings(n)
    ours, loop = line_table.ours(Matern32, t, y), line_table.loop(t, y)
    return {"gpnotes": lambda: np.asarray([ours()[0]]), "loop": lambda: np.asarray([loop()[0]])}


TASKS: dict[str, Callable[[int], Ways]] = {
    "41 harmonics: sums formed": sums_formed,
    "41 harmonics: gradient": gradient_from_sums,
    "400 features of a sum, a twentieth of the rows": features_of_a_sum,
    "50 windows: gradient, a 200th of the rows": windows,
    "Matérn-3/2 on a line: evidence, means": line,
}


def row(task: str, n: int, rounds: int) -> dict[str, Any]:
    """The processor's seconds of each, and how far answers lie apart, relative to the largest."""
    ways = TASKS[task](n)
    answers = {name: np.asarray(call()) for name, call in ways.items()}
    ours = answers["gpnotes"]
    gaps = [float(np.max(np.abs(ours - a)) / np.max(np.abs(ours))) for a in answers.values()]
    seconds = {name: line_table.seconds(call, rounds) for name, call in ways.items()}
    return {"task": task, "n": n, "seconds": seconds, "disagreement": max(gaps)}


def shown(rows: list[dict[str, Any]]) -> str:
    """The table."""
    text = ["", f"{'processor seconds':<50}{'gpnotes':>10}  peers"]
    for one in rows:
        peers = (
            f"{name} {taken:.4f}" for name, taken in one["seconds"].items() if name != "gpnotes"
        )
        text.append(f"{one['task']:<50}{one['seconds']['gpnotes']:>10.4f}  {', '.join(peers)}")
    worst = max(one["disagreement"] for one in rows)
    return "\n".join([*text, f"of {rows[0]['n']} readings; answers differ by at most {worst:.1e}"])


def main() -> int:
    """Measure and print; 1 if answers differ, 0 otherwise, whatever the speed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--readings", type=int, default=SIZE)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    wanted = parser.parse_args()
    rows = [row(task, wanted.readings, wanted.rounds) for task in TASKS]
    print(shown(rows))
    return int(not all(one["disagreement"] <= TOLERANCE for one in rows))


if __name__ == "__main__":
    sys.exit(main())
