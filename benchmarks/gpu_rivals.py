"""What a user of PyTorch, GPyTorch or JAX would run on a GPU for the tasks of `gpu_table`.

Each function makes the call that is timed, from the data of the task, in one precision; its answer
is that of the task, so that they are compared. A library that cannot be imported, or has no device,
has no calls.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

Call = Callable[[], Any]
Data = tuple[np.ndarray, np.ndarray]

D = 8
LENGTHS = np.linspace(1.5, 3.0, D)
VARIANCE, NOISE = 1.3, 0.1

# JAX takes three quarters of the device when it starts, unless it is asked not to.
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")


@cache
def with_device(name: str) -> bool:
    """Return whether a library can be imported, and has a GPU."""
    try:
        if name == "jax":
            jax = importlib.import_module("jax")
            jax.config.update("jax_enable_x64", True)
            return any(place.platform == "gpu" for place in jax.devices())
        importlib.import_module(name)
        return bool(importlib.import_module("torch").cuda.is_available())
    except Exception:  # noqa: BLE001  a missing library or driver: there is no such rival here
        return False


def tensor(a: np.ndarray, dtype: str = "float64") -> Any:
    """An array as a tensor on the device."""
    torch = importlib.import_module("torch")
    return torch.tensor(a, dtype=getattr(torch, dtype), device="cuda")


def in_jax(a: np.ndarray) -> Any:
    """An array as one of JAX on the device."""
    return importlib.import_module("jax.numpy").asarray(a)


def _leaves(dtype: str) -> list[Any]:
    """Lengthscales, variance and noise, for which torch computes gradients."""
    values = (LENGTHS, np.asarray(VARIANCE), np.asarray(NOISE))
    return [tensor(a, dtype).requires_grad_(True) for a in values]


def _gram(torch: Any, A: Any, B: Any, lengths: Any, variance: Any) -> Any:
    A, B = A / lengths, B / lengths
    size = (A * A).sum(1)[:, None] + (B * B).sum(1)[None, :]
    return variance * torch.exp(-0.5 * (size - 2.0 * A @ B.T).clamp_min(0.0))


def torch_evidence(data: Data, dtype: str) -> Call:
    torch = importlib.import_module("torch")
    X, y = (tensor(a, dtype) for a in data)
    n, leaves = len(y), _leaves(dtype)
    lengths, variance, noise = leaves
    unit = torch.eye(n, dtype=X.dtype, device="cuda")

    def call() -> Any:
        for leaf in leaves:
            leaf.grad = None
        L = torch.linalg.cholesky(_gram(torch, X, X, lengths, variance) + noise * unit)
        alpha = torch.cholesky_solve(y[:, None], L)[:, 0]
        (-0.5 * (y @ alpha) - torch.log(torch.diagonal(L)).sum()).backward()
        return lengths.grad

    return call


def gpytorch_evidence(data: Data, dtype: str) -> Call:
    torch, gpytorch = map(importlib.import_module, ("torch", "gpytorch"))
    X, y = (tensor(a, dtype) for a in data)

    class Model(gpytorch.models.ExactGP):
        def __init__(self, likelihood: Any) -> None:
            super().__init__(X, y, likelihood)
            kernels = gpytorch.kernels
            self.mean_module = gpytorch.means.ZeroMean()
            self.covar_module = kernels.ScaleKernel(kernels.RBFKernel(ard_num_dims=D))

        def forward(self, x: Any) -> Any:
            normal = gpytorch.distributions.MultivariateNormal
            return normal(self.mean_module(x), self.covar_module(x))

    likelihood = gpytorch.likelihoods.GaussianLikelihood().to("cuda", X.dtype)
    model = Model(likelihood).to("cuda", X.dtype)
    model.covar_module.base_kernel.lengthscale = tensor(LENGTHS, dtype)
    model.covar_module.outputscale, likelihood.noise = VARIANCE, NOISE
    evidence = gpytorch.mlls.ExactMarginalLogLikelihood(likelihood, model)
    model.train(), likelihood.train()
    settings = gpytorch.settings

    def call() -> Any:
        model.zero_grad()
        # by Cholesky, as here: its default beyond 800 points are conjugate gradients
        with settings.fast_computations(False, False, False), settings.max_cholesky_size(10**6):
            (evidence(model(X), y) * len(y)).backward()
        raw = model.covar_module.base_kernel.raw_lengthscale
        return (raw.grad / torch.sigmoid(raw.detach()))[0]

    return call


def jax_evidence(data: Data, dtype: str) -> Call:
    jax = importlib.import_module("jax")
    jnp = jax.numpy
    X, y = (jnp.asarray(a, dtype=dtype) for a in data)
    n = len(data[1])

    def value(lengths: Any, variance: Any, noise: Any) -> Any:
        K = _gram_in_jax(jnp, X, X, lengths, variance) + noise * jnp.eye(n, dtype=dtype)
        L = jnp.linalg.cholesky(K)
        alpha = jax.scipy.linalg.cho_solve((L, True), y)
        return -0.5 * y @ alpha - jnp.log(jnp.diagonal(L)).sum()

    gradient = jax.jit(jax.grad(value, argnums=(0, 1, 2)))
    leaves = [jnp.asarray(a, dtype=dtype) for a in (LENGTHS, VARIANCE, NOISE)]
    return lambda: gradient(*leaves)[0]


def _gram_in_jax(jnp: Any, A: Any, B: Any, lengths: Any, variance: Any) -> Any:
    A, B = A / lengths, B / lengths
    size = (A * A).sum(1)[:, None] + (B * B).sum(1)[None, :]
    return variance * jnp.exp(-0.5 * jnp.maximum(size - 2.0 * A @ B.T, 0.0))


def torch_prediction(data: Data, dtype: str, Xs: np.ndarray) -> Call:
    torch = importlib.import_module("torch")
    X, y = (tensor(a, dtype) for a in data)
    at, lengths = tensor(Xs, dtype), tensor(LENGTHS, dtype)
    K = _gram(torch, X, X, lengths, VARIANCE)
    L = torch.linalg.cholesky(K + NOISE * torch.eye(len(y), dtype=K.dtype, device="cuda"))
    alpha = torch.cholesky_solve(y[:, None], L)[:, 0]

    def call() -> Any:
        cross = _gram(torch, X, at, lengths, VARIANCE)
        half = torch.linalg.solve_triangular(L, cross, upper=False)
        mean = cross.T @ alpha
        return VARIANCE - (half * half).sum(0) + 0.0 * mean

    return call


def torch_inducing(data: Data, dtype: str, points: int) -> Call:
    torch = importlib.import_module("torch")
    X, y = (tensor(a, dtype) for a in data)
    Z = X[:points].clone().requires_grad_(True)
    leaves = [*_leaves(dtype), Z]
    lengths, variance, noise, _ = leaves
    unit = torch.eye(points, dtype=X.dtype, device="cuda")

    def call() -> Any:
        for leaf in leaves:
            leaf.grad = None
        L = torch.linalg.cholesky(_gram(torch, Z, Z, lengths, variance) + 1e-8 * unit)
        A = torch.linalg.solve_triangular(L, _gram(torch, Z, X, lengths, variance), upper=False)
        LB = torch.linalg.cholesky(unit + A @ A.T / noise)
        c = torch.linalg.solve_triangular(LB, (A @ y)[:, None], upper=False)[:, 0] / noise
        bound = -torch.log(torch.diagonal(LB)).sum() - 0.5 * len(y) * torch.log(noise)
        bound = bound - 0.5 * (y @ y) / noise + 0.5 * c @ c
        (bound - 0.5 * (len(y) * variance - (A * A).sum()) / noise).backward()
        return lengths.grad

    return call


def gpytorch_batches(data: Data, dtype: str, points: int, batch: int, steps: int) -> Call:
    torch, gpytorch = map(importlib.import_module, ("torch", "gpytorch"))
    X, y = (tensor(a, dtype) for a in data)
    variational = gpytorch.variational

    class Model(gpytorch.models.ApproximateGP):
        def __init__(self, Z: Any) -> None:
            q = variational.CholeskyVariationalDistribution(points)
            how = variational.VariationalStrategy(self, Z, q, learn_inducing_locations=True)
            super().__init__(how)
            kernels = gpytorch.kernels
            self.mean_module = gpytorch.means.ZeroMean()
            self.covar_module = kernels.ScaleKernel(kernels.RBFKernel(ard_num_dims=D))

        def forward(self, x: Any) -> Any:
            normal = gpytorch.distributions.MultivariateNormal
            return normal(self.mean_module(x), self.covar_module(x))

    model = Model(X[:points].clone()).to("cuda", X.dtype)
    likelihood = gpytorch.likelihoods.GaussianLikelihood().to("cuda", X.dtype)
    optimiser = torch.optim.Adam([*model.parameters(), *likelihood.parameters()], lr=0.01)
    bound = gpytorch.mlls.VariationalELBO(likelihood, model, len(y))
    model.train(), likelihood.train()

    def call() -> Any:
        for rows in torch.randperm(len(y), device="cuda").split(batch)[:steps]:
            optimiser.zero_grad()
            (-bound(model(X[rows]), y[rows])).backward()
            optimiser.step()
        return None

    return call
