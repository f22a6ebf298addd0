"""Random features, inducing points, and a variational process for labels."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from harness import Call, Task

import gpnotes
import gpnotes.fast.cosines
from gpnotes import condition, log_evidence_and_gradient
from gpnotes.fast.cosines import cosines_of_turns
from gpnotes.ground.params import flatten_gradient
from gpnotes.infer import features, sparse, svgp
from tasks.exact import LENGTHS, NOISE, VARIANCE, D, readings

FEATURES, INDUCING, BATCH, NODES = 1000, 200, 1000, 20
_BLOCK = 2048  # rows that the floor of features works on at a time


@dataclass(frozen=True)
class Rows:
    """n random inputs in eight dimensions, frequencies, and inducing points near some of them."""

    n: int

    @property
    def points(self) -> int:
        return min(FEATURES, self.n)

    @cached_property
    def data(self) -> tuple[np.ndarray, np.ndarray]:
        return readings(self.n, D, seed=self.n)

    @cached_property
    def gp(self) -> gpnotes.GP:
        return gpnotes.GP(gpnotes.RBF(VARIANCE, LENGTHS), NOISE)

    @cached_property
    def Z(self) -> np.ndarray:
        X, m = self.data[0], min(INDUCING, self.n // 2)
        return X[:m] + 0.1 * np.random.default_rng(1).normal(size=(m, D))

    @cached_property
    def labels(self) -> np.ndarray:
        noise = np.random.default_rng(2).normal(size=self.n)
        return np.where(np.sin(self.data[0].sum(axis=1)) + 0.5 * noise > 0.0, 1.0, -1.0)

    @cached_property
    def start(self) -> svgp.SVGP:
        gp = gpnotes.GP(self.gp.kernel, 0.0)
        return svgp.SVGP(gp, gpnotes.Bernoulli(link="logit"), self.Z, nodes=NODES)

    @property
    def batch(self) -> int:
        return min(BATCH, self.n)

    @property
    def steps(self) -> int:
        return -(-self.n // self.batch)

    @cached_property
    def frequencies(self) -> features.Frequencies:
        X, _ = self.data
        return features.draw_frequencies(self.gp.kernel, X, self.points, rng=gpnotes.stream(1))


def features_floor(problem: Rows) -> Call:
    """The two products of each block of rows and as many cosines, and one factorisation; no more.

    The cosines are the package's, which take a third of NumPy's time.
    """
    from scipy.linalg.blas import dgemm, dsyrk
    from scipy.linalg.lapack import dpotrf

    X, _ = problem.data
    blocks = [np.asfortranarray(X[i : i + _BLOCK].T) for i in range(0, problem.n, _BLOCK)]
    omega = np.asfortranarray(problem.frequencies.unit / 6.0)
    gram = np.zeros((problem.points, problem.points), order="F")
    whole = np.asfortranarray(np.eye(problem.points) * 2.0)
    buffer = np.empty((min(_BLOCK, problem.n), problem.points))

    def call() -> None:
        for block in blocks:
            turns = buffer[: block.shape[1]]
            dgemm(1.0, omega, block, c=turns.T, overwrite_c=1)
            cosines_of_turns(turns)
            dsyrk(1.0, turns.T, 1.0, gram, lower=1, overwrite_c=1)
        dpotrf(whole, lower=1, overwrite_a=0)

    return call


def features_ours(problem: Rows) -> Call:
    """`condition` of a `FeatureGP`: the weights, their covariance's root and the evidence."""
    X, y = problem.data
    gp, frequencies = problem.gp, problem.frequencies
    return lambda: condition(features.FeatureGP(gp, frequencies), X, y).weights.weight_mean


def features_by_sklearn(problem: Rows) -> Call:
    """Its ``Ridge`` on features that NumPy makes: the mean of the weights, nothing else."""
    from sklearn.linear_model import Ridge

    X, y = problem.data
    omega = problem.frequencies.unit / problem.gp.kernel.lengthscale
    amplitude = np.sqrt(2.0 * VARIANCE / problem.points)

    def call() -> np.ndarray:
        Phi = X @ omega.T
        Phi += problem.frequencies.phases
        np.cos(Phi, Phi)
        Phi *= amplitude
        ridge = Ridge(alpha=NOISE, fit_intercept=False, solver="cholesky")
        return ridge.fit(Phi, y).coef_

    return call


def bound_floor(problem: Rows) -> Call:
    """``dgemm`` for distances, ``exp``, ``dtrsm``, ``dsyrk`` and one more ``dgemm``, in place."""
    from scipy.linalg.blas import dgemm, dsyrk, dtrsm

    (X, _), Z = problem.data, problem.Z
    m, n = len(Z), problem.n
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


def bound_ours(problem: Rows) -> Call:
    """Value, derivatives by log signal variance, lengthscales and noise variance, and by Z."""
    (X, y), Z = problem.data, problem.Z
    gp = problem.gp

    def call() -> np.ndarray:
        value, model_bar = log_evidence_and_gradient(sparse.SparseGP(gp, Z), X, y)
        gp_bar, Z_bar = model_bar.gp, model_bar.inducing
        gradient = flatten_gradient(gp, gp_bar)
        return np.concatenate([[value], gradient, Z_bar.ravel()])

    return call


def bound_by_jax(problem: Rows) -> Call:
    """The same, by automatic differentiation of the formula, compiled."""
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)
    (X, y), Z = problem.data, problem.Z

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
    theta = np.log(np.concatenate([[VARIANCE], LENGTHS, [NOISE]]))

    def answer() -> np.ndarray:
        value, (by_theta, by_Z) = call(theta, Z)
        return np.concatenate([[value], by_theta, np.ravel(by_Z)])

    return answer


def epoch_floor(problem: Rows) -> Call:
    """BLAS and LAPACK in place, and the functions of NumPy, for each batch."""
    from scipy.linalg.blas import dgemm, dsyrk, dtrmm, dtrsm
    from scipy.linalg.lapack import dpotrf, dtrtri

    (X, _), Z = problem.data, problem.Z
    m, b = len(Z), problem.batch
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


def epoch_ours(problem: Rows) -> Call:
    """Natural gradients for q, Adam for kernel and Z: the bound that each batch estimates."""
    X, y = problem.data[0], problem.labels

    def call() -> np.ndarray:
        found = gpnotes.fit(
            problem.start, X, y, max_steps=problem.steps,
            minibatches=svgp.Minibatches(problem.batch), rng=gpnotes.stream(0),
        )  # fmt: skip
        return np.asarray(found.runs[0].trace)

    return call


def epoch_by_jax(problem: Rows) -> Call:
    """The same steps, with derivatives by automatic differentiation of the formula, compiled."""
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)
    X, y, Z = problem.data[0], problem.labels, problem.Z
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
        free = (jnp.log(jnp.asarray([1.3, *LENGTHS])), jnp.asarray(Z))
        nothing = jax.tree.map(jnp.zeros_like, free)
        size = len(Z)
        state = (free, jnp.eye(size), jnp.zeros(size), nothing, nothing, 0)
        rows, bounds = svgp.batches(problem.n, problem.batch, rng=gpnotes.stream(0)), []
        for _ in range(problem.steps):
            some = next(rows)
            state, bound = step(state, X[some], y[some], problem.n / len(some))
            bounds.append(bound)
        return np.asarray(bounds)

    return call


def bound_by_gpytorch(problem: Rows) -> Call:
    """Its ``SGPRModel``: inducing points by a kernel; the bound and its slopes, not ours by log."""
    import gpytorch
    import torch

    torch.set_default_dtype(torch.double)
    X, y = map(torch.as_tensor, problem.data)
    likelihood = gpytorch.likelihoods.GaussianLikelihood()

    class Model(gpytorch.models.ExactGP):
        def __init__(self) -> None:
            super().__init__(X, y, likelihood)
            self.mean_module = gpytorch.means.ZeroMean()
            base = gpytorch.kernels.ScaleKernel(gpytorch.kernels.RBFKernel(ard_num_dims=D))
            base.outputscale, base.base_kernel.lengthscale = VARIANCE, torch.as_tensor(LENGTHS)
            Z = torch.as_tensor(problem.Z)
            self.covar_module = gpytorch.kernels.InducingPointKernel(base, Z, likelihood)

        def forward(self, x: Any) -> Any:
            normal = gpytorch.distributions.MultivariateNormal
            return normal(self.mean_module(x), self.covar_module(x))

    model = Model()
    likelihood.noise = NOISE
    bound = gpytorch.mlls.ExactMarginalLogLikelihood(likelihood, model)

    def call() -> float:
        model.zero_grad()
        value = bound(model(X), y) * len(y)
        value.backward()
        return value.item()

    return call


def epoch_by_gpytorch(problem: Rows) -> Call:
    """Its strategy with Adam for all parameters, which comes to another bound."""
    import gpytorch
    import torch

    torch.set_default_dtype(torch.double)
    X, y = torch.as_tensor(problem.data[0]), torch.as_tensor(problem.labels)
    variational = gpytorch.variational

    class Model(gpytorch.models.ApproximateGP):
        def __init__(self) -> None:
            q = variational.CholeskyVariationalDistribution(len(problem.Z))
            Z = torch.as_tensor(problem.Z)
            super().__init__(variational.VariationalStrategy(self, Z, q))
            self.mean_module = gpytorch.means.ZeroMean()
            rbf = gpytorch.kernels.RBFKernel(ard_num_dims=D)
            self.covar_module = gpytorch.kernels.ScaleKernel(rbf)

        def forward(self, x: Any) -> Any:
            normal = gpytorch.distributions.MultivariateNormal
            return normal(self.mean_module(x), self.covar_module(x))

    def call() -> None:
        model, likelihood = Model(), gpytorch.likelihoods.BernoulliLikelihood()
        bound = gpytorch.mlls.VariationalELBO(likelihood, model, len(y))
        adam = torch.optim.Adam(model.parameters(), lr=0.01)
        for rows in torch.randperm(len(y)).split(problem.batch):
            adam.zero_grad()
            (-bound(model(X[rows]), (y[rows] > 0).double())).backward()
            adam.step()

    return call


TASKS = {
    "bound": Task(
        "inducing points: bound and gradient", "products, exponentials", Rows,
        {"floor": bound_floor, "gpnotes": bound_ours, "jax by hand": bound_by_jax,
         "GPyTorch": bound_by_gpytorch}, 20_000, 300, apart=("GPyTorch",), front=True,
    ),
    "features": Task(
        "random Fourier features", "products, cosines", Rows,
        {"floor": features_floor, "gpnotes": features_ours, "scikit-learn": features_by_sklearn},
        100_000, 300, front=True,
    ),
    "epoch": Task(
        "an epoch of {n} labels", "products, solves, exponentials", Rows,
        {"floor": epoch_floor, "gpnotes": epoch_ours, "jax by hand": epoch_by_jax,
         "GPyTorch": epoch_by_gpytorch}, 50_000, 300, apart=("GPyTorch",),
        close=1e-4,  # q begins as the prior, where slopes by Z are rounding, and Adam scales them
    ),
}  # fmt: skip
