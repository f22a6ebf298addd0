"""The bound of a deep process of two layers, with its gradient by everything.

The floor counts, unit by unit, what no program can do without; the draws are given.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from harness import Call, Task

import gpnotes
from gpnotes import condition
from gpnotes.infer import deep, svgp
from gpnotes.infer.deep.noise import own_noise
from tasks.exact import readings

D, INDUCING, DRAWS = 4, 100, 5
BLOCKS = 4  # of the rows of the last layer, which is given all draws


@dataclass(frozen=True)
class DeepProblem:
    """n rows, and a process of four inner units and one above them, each with its own points."""

    n: int

    @property
    def points(self) -> int:
        return min(INDUCING, self.n // 4)

    @cached_property
    def data(self) -> tuple[np.ndarray, np.ndarray]:
        return readings(self.n, D, seed=self.n)

    @cached_property
    def model(self) -> deep.DeepGP:
        X, y = self.data
        rng = np.random.default_rng(1)
        Z = X[: self.points] + 0.1 * rng.normal(size=(self.points, D))
        gp = gpnotes.GP(gpnotes.RBF(1.3, np.linspace(1.5, 3.0, D)), 0.0)
        top = condition(svgp.SVGP(gp, gpnotes.Gaussian(0.1), Z), X, y)
        inner = gpnotes.RBF(0.5, np.linspace(1.0, 2.0, D))
        return deep.with_inner_layers(top, [inner], num_samples=DRAWS)


def floor(problem: DeepProblem) -> Call:
    """BLAS and LAPACK in place, and what is elementwise in blocks that fit the cache."""
    from scipy.linalg.blas import dgemm, dsyrk, dtrmm, dtrsm
    from scipy.linalg.lapack import dpotrf

    n, m = problem.n, problem.points
    Z = np.asfortranarray(0.1 * problem.data[0][:m])
    K_uu = np.asfortranarray(problem.model.layers[0][0].gp.kernel(problem.data[0][:m]) + np.eye(m))
    lower = np.asfortranarray(np.linalg.cholesky(K_uu))
    square, gram, small = np.eye(m, order="F"), *np.zeros((2, m, m)).transpose(0, 2, 1)
    by_Z, rows = np.zeros((m, D), order="F"), max(1, n * DRAWS // BLOCKS)
    room = {size: [np.zeros((size, m), order="F") for _ in range(4)] for size in (n, rows)}
    inputs = {size: np.full((size, D), 0.1, order="F") for size in room}
    slopes = {size: np.full(size, 0.1) for size in room}

    def of_unit() -> None:
        dgemm(-1.0, Z, Z, trans_b=1, c=small, overwrite_c=1)
        np.exp(small.T, out=small.T)
        dpotrf(K_uu, lower=1, clean=0)
        for _ in range(3):
            dtrsm(1.0, lower, square, lower=1)
        dsyrk(1.0, lower, trans=1, lower=1, c=small, overwrite_c=1)
        for _ in range(2):
            dtrmm(1.0, lower, gram, lower=1)
        np.multiply(small.T, square.T, out=small.T)
        dgemm(1.0, small, Z)

    def of_rows(size: int) -> None:
        (A, B, slope, K_bar), H = room[size], inputs[size]
        dgemm(-1.0, H, Z, trans_b=1, c=A, overwrite_c=1)
        for start in range(0, m, 10):
            block = A.T[start : start + 10]
            np.exp(block, out=block)
            np.multiply(block, -0.5, out=slope.T[start : start + 10])
        dtrsm(1.0, lower, A, side=1, lower=1, trans_a=1, overwrite_b=1)
        B[:] = A
        dtrmm(1.0, lower, B, side=1, lower=1, trans_a=1, overwrite_b=1)
        np.einsum("ji,ji->i", A.T, A.T)
        np.einsum("ji,ji->i", B.T, B.T)
        np.multiply(A.T, slopes[size], out=B.T)
        dsyrk(1.0, B, trans=1, lower=1, c=gram, overwrite_c=1)
        dgemm(1.0, B, gram, c=K_bar, overwrite_c=1)
        np.multiply(K_bar.T, slope.T, out=K_bar.T)
        dgemm(1.0, K_bar, H, trans_a=1, c=by_Z, overwrite_c=1)
        dgemm(1.0, K_bar, Z)

    def call() -> None:
        for _ in range(D + 1):
            of_unit()
        for size in (n,) * D + (rows,) * BLOCKS:
            of_rows(size)

    return call


def ours(problem: DeepProblem) -> Call:
    """The bound; by the noise; and of each unit by variance, lengthscales, Z, weights and root."""
    X, y = problem.data
    noise = own_noise(problem.model, problem.n)

    def call() -> np.ndarray:
        value, bar = deep.elbo_and_gradient(problem.model, X, y, noise)
        parts = [np.asarray([value, bar.likelihood.variance])]
        for unit in (unit for layer in bar.layers for unit in layer):
            kernel = unit.gp.kernel
            parts += [np.asarray([kernel.variance]), kernel.lengthscale, np.ravel(unit.Z)]
            parts += [unit.weights, unit.scales, unit.couplings]
        return np.concatenate(parts)

    return call


def by_jax(problem: DeepProblem) -> Call:
    """The same, by automatic differentiation of the formula, compiled."""
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)
    X, y = map(jnp.asarray, problem.data)
    model = problem.model
    normals = jnp.asarray(own_noise(model, problem.n).normals[0])
    units = [unit for layer in model.layers for unit in layer]
    below = np.tril_indices(problem.points, -1)
    solve = jax.scipy.linalg.solve_triangular

    def free(unit: deep.Unit) -> tuple[Any, ...]:
        kernel = unit.gp.kernel
        arrays = (kernel.lengthscale, unit.Z, unit.weights, unit.scales, unit.couplings)
        return (jnp.asarray(kernel.variance), *map(jnp.asarray, arrays))

    def gram(variance: Any, lengths: Any, a: Any, b: Any) -> Any:
        a, b = a / lengths, b / lengths
        squares = jnp.sum(a**2, 1)[:, None] + jnp.sum(b**2, 1)[None, :] - 2.0 * a @ b.T
        return variance * jnp.exp(-0.5 * squares)

    def marginals(unit: Any, H: Any, mean: Any) -> tuple[Any, Any, Any]:
        variance, lengths, Z, w, scales, couplings = unit
        B = scales[:, None] * (jnp.eye(len(w)).at[below].set(couplings))
        A = solve(jnp.linalg.cholesky(gram(variance, lengths, Z, Z)), gram(variance, lengths, Z, H),
                  lower=True)  # fmt: skip
        spread = variance - jnp.sum(A**2, 0) + jnp.sum((B @ A) ** 2, 0)
        kl = 0.5 * (jnp.sum(B**2) + w @ w - len(w)) - jnp.sum(jnp.log(scales))
        return mean + A.T @ w, spread, kl

    def bound(parts: Any, noise: Any) -> Any:
        inner = [marginals(unit, X, X[:, k]) for k, unit in enumerate(parts[:-1])]
        mean, variance = (jnp.stack([one[k] for one in inner], 1) for k in (0, 1))
        H = (mean + jnp.sqrt(variance) * normals).reshape(-1, D)
        m, v, kl = marginals(parts[-1], H, 0.0)
        gaps = (jnp.tile(y, DRAWS) - m) ** 2 + v
        fit = -0.5 * jnp.sum(gaps / noise + jnp.log(2.0 * jnp.pi * noise)) / DRAWS
        return fit - kl - sum(one[2] for one in inner)

    run = jax.jit(jax.value_and_grad(bound, argnums=(0, 1)))
    given = [free(unit) for unit in units]

    def call() -> np.ndarray:
        value, (bars, by_noise) = run(given, jnp.asarray(model.likelihood.variance))
        flat = [np.ravel(part) for unit in bars for part in unit]
        return np.concatenate([np.asarray([value, by_noise]), *flat])

    return call


def by_torch(problem: DeepProblem) -> Call:
    """The same, by automatic differentiation as the formula is run."""
    import torch

    X, y = map(torch.from_numpy, problem.data)
    model = problem.model
    normals = torch.from_numpy(np.asarray(own_noise(model, problem.n).normals[0]))
    below = tuple(map(torch.from_numpy, np.tril_indices(problem.points, -1)))
    unit_matrix = torch.eye(problem.points, dtype=torch.float64)
    units = [unit for layer in model.layers for unit in layer]

    def free(unit: deep.Unit) -> list[Any]:
        kernel = unit.gp.kernel
        arrays = (kernel.variance, kernel.lengthscale, unit.Z, unit.weights, unit.scales)
        given = [*arrays, unit.couplings]
        return [torch.tensor(np.array(one), requires_grad=True) for one in given]

    def gram(variance: Any, lengths: Any, a: Any, b: Any) -> Any:
        a, b = a / lengths, b / lengths
        squares = (a**2).sum(1)[:, None] + torch.addmm((b**2).sum(1)[None, :], a, b.T, alpha=-2.0)
        return variance * torch.exp(-0.5 * squares)

    def marginals(unit: Any, H: Any, mean: Any) -> tuple[Any, Any, Any]:
        variance, lengths, Z, w, scales, couplings = unit
        B = scales[:, None] * unit_matrix.index_put(below, couplings)
        L = torch.linalg.cholesky(gram(variance, lengths, Z, Z))
        A = torch.linalg.solve_triangular(L, gram(variance, lengths, Z, H), upper=False)
        spread = variance - (A**2).sum(0) + ((B @ A) ** 2).sum(0)
        kl = 0.5 * ((B**2).sum() + w @ w - len(w)) - torch.log(scales).sum()
        return mean + A.T @ w, spread, kl

    def bound(parts: list[Any], noise: Any) -> Any:
        inner = [marginals(unit, X, X[:, k]) for k, unit in enumerate(parts[:-1])]
        mean, variance = (torch.stack([one[k] for one in inner], 1) for k in (0, 1))
        H = (mean + torch.sqrt(variance) * normals).reshape(-1, D)
        m, v, kl = marginals(parts[-1], H, 0.0)
        gaps = (y.repeat(DRAWS) - m) ** 2 + v
        fit = -0.5 * (gaps / noise + torch.log(2.0 * torch.pi * noise)).sum() / DRAWS
        return fit - kl - sum(one[2] for one in inner)

    given = [free(unit) for unit in units]
    noise = torch.tensor(float(model.likelihood.variance), dtype=torch.float64, requires_grad=True)
    asked = [noise, *(part for unit in given for part in unit)]

    def call() -> np.ndarray:
        value = bound(given, noise)
        slopes = torch.autograd.grad(value, asked)
        return torch.cat([value.detach().reshape(1), *(one.reshape(-1) for one in slopes)]).numpy()

    return call


TASKS = {
    "deep": Task(
        "bound and gradient of a deep process, {n} rows", "products, solves, exponentials",
        DeepProblem,
        {"floor": floor, "gpnotes": ours, "jax by hand": by_jax, "torch by hand": by_torch},
        1000, 40, close=1e-7,
    ),
}  # fmt: skip
