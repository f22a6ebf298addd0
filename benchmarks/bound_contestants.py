"""Who evaluates Titsias' bound with its gradient by hyperparameters and inducing points, how fast.

The floor is what no program of this kind can do without: the distances and their exponentials, the
triangular solve, the product that B is made of and the one that the gradient needs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

import gpnotes
import gpnotes.ground.params
from gpnotes import log_evidence_and_gradient
from gpnotes.infer import sparse

D = 8
ROWS, INDUCING = 20_000, 200
VARIANCE, NOISE_VAR = 1.3, 0.1

Call = Callable[[], np.ndarray | None]


@dataclass(frozen=True)
class BoundProblem:
    """n random inputs in eight dimensions, and inducing points near some of them."""

    n: int
    points: int

    @cached_property
    def data(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        rng = np.random.default_rng(self.n)
        X = rng.normal(size=(self.n, D))
        y = np.sin(X.sum(axis=1)) + 0.3 * rng.normal(size=self.n)
        return X, y, X[: self.points] + 0.1 * rng.normal(size=(self.points, D))

    @cached_property
    def gp(self) -> gpnotes.GP:
        return gpnotes.GP(gpnotes.RBF(VARIANCE, np.linspace(1.5, 3.0, D)), NOISE_VAR)


def floor(problem: BoundProblem) -> Call:
    """``dgemm`` for distances, ``exp``, ``dtrsm``, ``dsyrk`` and one more ``dgemm``, in place."""
    from scipy.linalg.blas import dgemm, dsyrk, dtrsm

    X, _, Z = problem.data
    m, n = problem.points, problem.n
    lower = np.asfortranarray(np.linalg.cholesky(problem.gp.kernel(Z) + np.eye(m)))
    left, right = np.asfortranarray(-0.01 * Z), np.asfortranarray(X.T)
    K, V_bar = np.empty((m, n), order="F"), np.empty((m, n), order="F")
    gram = np.zeros((m, m), order="F")

    def call() -> None:
        dgemm(1.0, left, right, c=K, overwrite_c=1)
        for start in range(0, n, 100):  # blocks that fit the cache
            block = K.T[start : start + 100]
            np.exp(block, out=block)
        dtrsm(1.0, lower, K, lower=1, overwrite_b=1)
        dsyrk(1.0, K, 1.0, gram, lower=1, overwrite_c=1)
        dgemm(1.0, lower, K, c=V_bar, overwrite_c=1)

    return call


def ours(problem: BoundProblem) -> Call:
    """Value, derivatives by log signal variance, lengthscales and noise variance, and by Z."""
    X, y, Z = problem.data
    gp = problem.gp

    def call() -> np.ndarray:
        value, model_bar = log_evidence_and_gradient(sparse.SparseGP(gp, Z), X, y)
        gp_bar, Z_bar = model_bar.gp, model_bar.inducing
        gradient = gpnotes.ground.params.flatten_gradient(gp, gp_bar)
        return np.concatenate([[value], gradient, Z_bar.ravel()])

    return call


def by_jax(problem: BoundProblem) -> Call:
    """The same, by automatic differentiation of the formula, compiled."""
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)
    X, y, Z = problem.data

    def bound(theta: jax.Array, Z: jax.Array) -> jax.Array:
        variance, lengths, noise = jnp.exp(theta[0]), jnp.exp(theta[1:-1]), jnp.exp(theta[-1])

        def kernel(a: jax.Array, b: jax.Array) -> jax.Array:
            a, b = a / lengths, b / lengths
            squares = jnp.sum(a**2, 1)[:, None] + jnp.sum(b**2, 1)[None, :] - 2.0 * a @ b.T
            return variance * jnp.exp(-0.5 * squares)

        solve = jax.scipy.linalg.solve_triangular
        V = solve(jnp.linalg.cholesky(kernel(Z, Z)), kernel(Z, X), lower=True)
        lower = jnp.linalg.cholesky(jnp.eye(Z.shape[0]) + V @ V.T / noise)
        c = solve(lower, V @ y, lower=True) / noise
        spread = X.shape[0] * jnp.log(2.0 * jnp.pi * noise)
        spread += 2.0 * jnp.sum(jnp.log(jnp.diag(lower)))
        gap = X.shape[0] * variance - jnp.sum(V * V)
        return -0.5 * (spread + y @ y / noise - c @ c + gap / noise)

    call = jax.jit(jax.value_and_grad(bound, argnums=(0, 1)))
    theta = np.log(np.concatenate([[VARIANCE], np.linspace(1.5, 3.0, D), [NOISE_VAR]]))

    def answer() -> np.ndarray:
        value, (by_theta, by_Z) = call(theta, Z)
        return np.concatenate([[value], by_theta, np.ravel(by_Z)])

    return answer
