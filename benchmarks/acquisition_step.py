"""One step of Bayesian optimisation, from the conditioned model to the next point, beside BoTorch.

200 observations of Hartmann's function in six dimensions, a Matérn-5/2 process that gpnotes fitted
and that both are given, the logarithm of the expected improvement; 512 raw points, and climbs from
ten. It prints CPU seconds on one thread, and what both reached, by the same function. It runs in
the environment of `optimisation_races.py`:

    OMP_NUM_THREADS=1 apart/bin/python benchmarks/acquisition_step.py
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from race_objectives import hartmann

from gpnotes import GP, ConstantMean, ExactPosterior, Matern52, fit, stream
from gpnotes.decide import bayesopt

N, D, RAW, STARTS, ROUNDS = 200, 6, 512, 10, 10

Step = Callable[[int], np.ndarray]


def model() -> ExactPosterior:
    """A process that is fitted and conditioned, as the loop of `bayesopt` does it."""
    X = np.asarray(stream(1).uniform((N, D)))
    y = np.asarray([-hartmann(x) for x in X])
    y = (y - y.mean()) / y.std()
    start = GP(Matern52(1.0, np.full(D, 0.5)), 1e-3, ConstantMean(0.0))
    return fit(start, X, y).posterior


def ours(posterior: ExactPosterior, acquisition: bayesopt.LogExpectedImprovement) -> Step:
    """`bayesopt.maximise_acquisition`, the default of the loop."""
    box = [(0.0, 1.0)] * D

    def step(seed: int) -> np.ndarray:
        found = bayesopt.maximise_acquisition(
            posterior, acquisition, box, raw_samples=RAW, num_restarts=STARTS, rng=stream(seed)
        )
        return np.asarray(found.x)

    return step


def in_botorch(posterior: ExactPosterior, best: float) -> tuple[Step, Callable[[np.ndarray], Any]]:
    """`optimize_acqf` with the same numbers, and its acquisition at points (m, d)."""
    import torch
    from botorch.acquisition import LogExpectedImprovement
    from botorch.models import SingleTaskGP
    from botorch.optim import optimize_acqf
    from gpytorch.kernels import MaternKernel, ScaleKernel
    from gpytorch.likelihoods import GaussianLikelihood

    torch.set_num_threads(1)
    torch.set_default_dtype(torch.double)
    X, y = torch.as_tensor(posterior.X), torch.as_tensor(posterior.y)[:, None]
    kernel = ScaleKernel(MaternKernel(nu=2.5, ard_num_dims=D))
    likelihood = GaussianLikelihood()
    theirs = SingleTaskGP(X, y, likelihood=likelihood, covar_module=kernel, outcome_transform=None)
    gp = posterior.gp
    kernel.outputscale = float(gp.kernel.variance)
    kernel.base_kernel.lengthscale = torch.as_tensor(np.asarray(gp.kernel.lengthscale))
    likelihood.noise_covar.register_constraint(
        "raw_noise", type(likelihood.noise_covar.raw_noise_constraint)(0.0)
    )
    likelihood.noise = float(gp.noise_var)
    theirs.mean_module.constant = float(gp.mean.value)
    theirs.eval()
    acquisition = LogExpectedImprovement(theirs, best_f=best)
    bounds = torch.stack([torch.zeros(D), torch.ones(D)])

    def step(seed: int) -> np.ndarray:
        torch.manual_seed(seed)
        u, _ = optimize_acqf(acquisition, bounds, q=1, num_restarts=STARTS, raw_samples=RAW)
        return u[0].numpy()

    def values(points: np.ndarray) -> np.ndarray:
        with torch.no_grad():
            return acquisition(torch.as_tensor(points)[:, None, :]).numpy()

    return step, values


def main() -> None:
    """Print medians of ten, and the mean of what was reached."""
    posterior = model()
    best = float(np.max(np.asarray(posterior.mean(posterior.X))))
    acquisition = bayesopt.LogExpectedImprovement(best)
    theirs, values = in_botorch(posterior, best)
    places = np.asarray(stream(2).uniform((100, D)))
    mine = np.asarray(acquisition(*posterior.predict(places)))
    print("largest difference of both acquisitions:", np.max(np.abs(values(places) - mine)))
    for name, step in (("gpnotes", ours(posterior, acquisition)), ("botorch", theirs)):
        step(99)
        seconds, reached = [], []
        for seed in range(ROUNDS):
            began = time.process_time()
            place = step(seed)
            seconds.append(time.process_time() - began)
            reached.append(float(acquisition(*posterior.predict(place[None, :]))[0]))
        low, middle, high = np.quantile(seconds, [0.25, 0.5, 0.75])
        print(f"{name:8} {middle:.3f} s ({low:.3f} to {high:.3f}), reached {np.mean(reached):.4f}",
              f"({min(reached):.4f} to {max(reached):.4f})")  # fmt: skip


if __name__ == "__main__":
    main()
