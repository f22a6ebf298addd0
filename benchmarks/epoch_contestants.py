"""An epoch of a sparse variational process for labels: every parameter trained, in batches.

The floor is what no program of this kind can do without, batch by batch: distances and their
exponentials, the triangular solve for A, the product with the root of q that variances need, the
product of A with itself that sites need, the one that carries derivatives back, one for those by
Z; the factors of K_uu and of P, the inverse of one of them, two solves for derivatives by K_uu;
and at each of the quadrature's nodes an exponential and a logarithm.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

import gpnotes
from gpnotes.infer import svgp

D = 8
ROWS, INDUCING, BATCH, NODES = 50_000, 200, 1000, 20

Call = Callable[[], np.ndarray | None]


@dataclass(frozen=True)
class EpochProblem:
    """n random inputs in eight dimensions with noisy labels, and inducing points among them."""

    n: int
    points: int

    @cached_property
    def data(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        rng = np.random.default_rng(self.n)
        X = rng.normal(size=(self.n, D))
        y = np.where(np.sin(X.sum(axis=1)) + 0.5 * rng.normal(size=self.n) > 0.0, 1.0, -1.0)
        return X, y, X[: self.points] + 0.1 * rng.normal(size=(self.points, D))

    @cached_property
    def start(self) -> svgp.SVGP:
        gp = gpnotes.GP(gpnotes.RBF(1.3, np.linspace(1.5, 3.0, D)), 0.0)
        return svgp.SVGP(gp, gpnotes.Bernoulli(link="logit"), self.data[2], nodes=NODES)

    @property
    def batch(self) -> int:
        return min(BATCH, self.n)

    @property
    def steps(self) -> int:
        return -(-self.n // self.batch)


def floor(problem: EpochProblem) -> Call:
    """BLAS and LAPACK in place, and the functions of NumPy, for each batch."""
    from scipy.linalg.blas import dgemm, dsyrk, dtrmm, dtrsm
    from scipy.linalg.lapack import dpotrf, dtrtri

    X, _, Z = problem.data
    m, b = problem.points, problem.batch
    K_uu = np.asfortranarray(problem.start.gp.kernel(Z) + np.eye(m))
    lower = np.asfortranarray(np.linalg.cholesky(K_uu))
    left, right = np.asfortranarray(-0.01 * Z), np.asfortranarray(X[:b].T)
    A, other = np.empty((m, b), order="F"), np.empty((m, b), order="F")
    gram, square = np.zeros((m, m), order="F"), np.eye(m, order="F")
    by_Z, at_nodes = np.empty((m, D), order="F"), np.full((b, NODES), -0.3)

    def call() -> None:
        for _ in range(problem.steps):
            for _ in range(2):
                dpotrf(K_uu, lower=1, clean=0)
            root, _ = dtrtri(lower, lower=1)
            dgemm(1.0, left, right, c=A, overwrite_c=1)
            for start in range(0, b, 100):  # blocks that fit the cache
                block = A.T[start : start + 100]
                np.exp(block, out=block)
            dtrsm(1.0, lower, A, lower=1, overwrite_b=1)
            dtrmm(1.0, root, A, lower=1)
            np.log1p(np.exp(at_nodes))
            dsyrk(1.0, A, 1.0, gram, lower=1, overwrite_c=1)
            dgemm(1.0, gram, A, c=other, overwrite_c=1)
            dgemm(1.0, other, right, trans_b=1, c=by_Z, overwrite_c=1)
            for _ in range(2):
                dtrsm(1.0, lower, square, lower=1)
            gram[:] = 0.0

    return call


def ours(problem: EpochProblem) -> Call:
    """Natural gradients for q, Adam for kernel and Z: the bound that each batch estimates."""
    X, y, _ = problem.data

    def call() -> np.ndarray:
        found = gpnotes.fit(
            problem.start, X, y, max_steps=problem.steps, batch=problem.batch,
            step_size=0.1, learning_rate=0.01, rng=gpnotes.stream(0),
        )  # fmt: skip
        return np.asarray(found.runs[0].trace)

    return call


def by_jax(problem: EpochProblem) -> Call:
    """The same steps, with derivatives by automatic differentiation of the formula, compiled."""
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)
    X, y, Z = problem.data
    nodes, weights = np.polynomial.hermite_e.hermegauss(NODES)
    weights = weights / weights.sum()
    solve = jax.scipy.linalg.solve_triangular

    def kernel(theta: jax.Array, a: jax.Array, b: jax.Array) -> jax.Array:
        a, b = a / jnp.exp(theta[1:]), b / jnp.exp(theta[1:])
        squares = jnp.sum(a**2, 1)[:, None] + jnp.sum(b**2, 1)[None, :] - 2.0 * a @ b.T
        return jnp.exp(theta[0] - 0.5 * squares)

    def whitened(theta: jax.Array, Z: jax.Array, X: jax.Array) -> jax.Array:
        return solve(jnp.linalg.cholesky(kernel(theta, Z, Z)), kernel(theta, Z, X), lower=True)

    def averages(mean: jax.Array, variance: jax.Array, y: jax.Array) -> jax.Array:
        f = mean[:, None] + jnp.sqrt(variance)[:, None] * nodes
        return -jnp.sum(jnp.logaddexp(0.0, -y[:, None] * f) @ weights)

    def expected(free: tuple, w: jax.Array, root: jax.Array, X: jax.Array, y: jax.Array) -> tuple:
        theta, Z = free
        A = whitened(theta, Z, X)
        mean = A.T @ w
        variance = jnp.exp(theta[0]) - jnp.sum(A**2, 0) + jnp.sum((root @ A) ** 2, 0)
        return averages(mean, variance, y), (A, mean, variance)

    @jax.jit
    def step(state: tuple, X: jax.Array, y: jax.Array, scale: float) -> tuple:
        free, P, w, first, second, count = state
        lower = jnp.linalg.cholesky(P)
        root = solve(lower, jnp.eye(len(w)), lower=True)
        by_free = jax.value_and_grad(expected, has_aux=True)
        (value, (A, mean, variance)), slopes = by_free(free, w, root, X, y)
        spread = jnp.sum(root**2) - len(w) + 2.0 * jnp.sum(jnp.log(jnp.diag(lower)))
        bound = scale * value - 0.5 * (spread + w @ w)
        by_mean, by_variance = jax.grad(averages, argnums=(0, 1))(mean, variance, y)
        new = 0.9 * P + 0.1 * (jnp.eye(len(w)) - 2.0 * scale * (A * by_variance) @ A.T)
        w = jnp.linalg.solve(new, new @ w + 0.1 * (scale * A @ by_mean - w))
        count = count + 1
        gradient = jax.tree.map(lambda slope: scale * slope, slopes)
        first = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, first, gradient)
        second = jax.tree.map(lambda s, g: 0.999 * s + 0.001 * g**2, second, gradient)

        def moved(value: jax.Array, m: jax.Array, s: jax.Array) -> jax.Array:
            return value + 0.01 * (m / (1 - 0.9**count)) / (jnp.sqrt(s / (1 - 0.999**count)) + 1e-8)

        return (jax.tree.map(moved, free, first, second), new, w, first, second, count), bound

    def call() -> np.ndarray:
        free = (jnp.log(jnp.asarray([1.3, *np.linspace(1.5, 3.0, D)])), jnp.asarray(Z))
        nothing = jax.tree.map(jnp.zeros_like, free)
        size = problem.points
        state = (free, jnp.eye(size), jnp.zeros(size), nothing, nothing, 0)
        rows, bounds = svgp.batches(problem.n, problem.batch, rng=gpnotes.stream(0)), []
        for _ in range(problem.steps):
            some = next(rows)
            state, bound = step(state, X[some], y[some], problem.n / len(some))
            bounds.append(bound)
        return np.asarray(bounds)

    return call
