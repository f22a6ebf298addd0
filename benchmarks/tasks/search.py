"""A step of Bayesian optimisation, from the conditioned model to the next point; a whole search."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from harness import Call, Task

from gpnotes import GP, ConstantMean, ExactPosterior, Matern52, fit, minimise, stream
from gpnotes.decide import bayesopt

D, RAW, STARTS = 6, 512, 10


@dataclass(frozen=True)
class Problem:
    """A process that is fitted to n values of a function of six inputs, as a search does it."""

    n: int

    @cached_property
    def posterior(self) -> ExactPosterior:
        X = np.asarray(stream(1).uniform((self.n, D)))
        y = np.sum(np.cos(5.0 * X), axis=1) - np.sum((X - 0.4) ** 2, axis=1)
        y = (y - y.mean()) / y.std()
        start = GP(Matern52(1.0, np.full(D, 0.5)), 1e-3, ConstantMean(0.0))
        return fit(start, X, y, bounds={"noise_var": (1e-6, 1.0)}).posterior

    @cached_property
    def rule(self) -> bayesopt.LogExpectedImprovement:
        return bayesopt.LogExpectedImprovement(float(np.max(self.posterior.mean(self.posterior.X))))

    def reached(self, x: Any) -> float:
        """The logarithm of the expected improvement at a place."""
        mean, variance = self.posterior.predict(np.asarray(x)[None, :])
        return float(self.rule(mean, variance)[0])


def floor(problem: Problem) -> Call:
    """Covariances and solves for 512 raw points, and for ten climbs of seventeen steps."""
    from scipy.linalg.blas import dtrsm

    lower = problem.posterior.cholesky.lower
    raw, few = (np.ones((problem.n, count), order="F") for count in (RAW, STARTS))

    def call() -> None:
        dtrsm(1.0, lower, np.exp(raw), lower=1)
        for _ in range(17):
            dtrsm(1.0, lower, dtrsm(1.0, lower, np.exp(few), lower=1), lower=1, trans_a=1)

    return call


def ours(problem: Problem) -> Call:
    """`maximise_acquisition`, the default of the loop."""
    box = [(0.0, 1.0)] * D

    def call() -> float:
        found = bayesopt.maximise_acquisition(
            problem.posterior, problem.rule, box, raw_samples=RAW, num_restarts=STARTS,
            rng=stream(1),
        )  # fmt: skip
        return problem.reached(found.x)

    return call


def by_botorch(problem: Problem) -> Call:
    """`optimize_acqf` with the same numbers, at the same hyperparameters."""
    import torch
    from botorch.acquisition import LogExpectedImprovement
    from botorch.models import SingleTaskGP
    from botorch.optim import optimize_acqf
    from gpytorch.kernels import MaternKernel, ScaleKernel
    from gpytorch.likelihoods import GaussianLikelihood

    torch.set_default_dtype(torch.double)
    posterior = problem.posterior
    X, y, gp = torch.as_tensor(posterior.X), torch.as_tensor(posterior.y)[:, None], posterior.gp
    kernel, likelihood = ScaleKernel(MaternKernel(nu=2.5, ard_num_dims=D)), GaussianLikelihood()
    model = SingleTaskGP(X, y, likelihood=likelihood, covar_module=kernel, outcome_transform=None)
    kernel.outputscale = float(gp.kernel.variance)
    kernel.base_kernel.lengthscale = torch.as_tensor(np.asarray(gp.kernel.lengthscale))
    inner = likelihood.noise_covar
    inner.register_constraint("raw_noise", type(inner.raw_noise_constraint)(0.0))
    likelihood.noise, model.mean_module.constant = float(gp.noise_var), float(gp.mean.value)
    model.eval()
    rule = LogExpectedImprovement(model, best_f=problem.rule.best)
    bounds = torch.stack([torch.zeros(D), torch.ones(D)])

    def call() -> float:
        torch.manual_seed(1)
        u, _ = optimize_acqf(rule, bounds, q=1, num_restarts=STARTS, raw_samples=RAW)
        return problem.reached(u[0].numpy())

    return call


@dataclass(frozen=True)
class Search:
    """A bowl of two inputs, and n evaluations."""

    n: int


def search(problem: Search) -> Call:
    """`minimise` as it is."""
    bowl = lambda x: float(np.sum((np.asarray(x) - 0.3) ** 2))  # noqa: E731
    return lambda: minimise(bowl, [(-1.0, 1.0)] * 2, problem.n, rng=1).best.y


TASKS = {
    "step": Task(
        "one step by expected improvement, {n} evaluations", "exponentials, solves", Problem,
        {"floor": floor, "gpnotes": ours, "BoTorch": by_botorch}, 200, 30, apart=("BoTorch",),
    ),
    "search": Task(
        "a search of {n} evaluations of two inputs", "", Search,
        {"gpnotes": search}, 12, 8,
    ),
}  # fmt: skip
