"""A whole fit beside its peers: 1000 readings, eight inputs, from one start to a top.

A squared exponential kernel with a lengthscale for each input, a constant signal and noise; mean
zero. Everyone starts at the same hyperparameters and stops where its own optimiser stops: L-BFGS of
SciPy for gpnotes, scikit-learn, GPy and, through BoTorch's `fit_gpytorch_mll`, GPyTorch. It prints
the seconds of the processor, on one thread, to each one's own end, the log evidence there, worked
out by gpnotes for the hyperparameters that each returned, and the seconds to the same evidence: the
lowest of all ends, less a hundredth, as each saw it go by. Contestants that cannot be imported are
left out. The environment is that of `optimisation_races.py`, with GPy:

    OMP_NUM_THREADS=1 apart/bin/python benchmarks/whole_fit.py
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from typing import NamedTuple
from unittest import mock

import numpy as np

from gpnotes import GP, RBF, fit, log_evidence, stream
from gpnotes.infer.objective import Objective

N, D, NOISE_SD = 1000, 8, 0.1
SAME = 0.01  # of log evidence: what counts as the same
Found = tuple[float, np.ndarray, float]  # signal variance, lengthscales, noise variance
Watch = Callable[[float], None]  # is told each log evidence when it is known


def data() -> tuple[np.ndarray, np.ndarray]:
    """A smooth function of the first inputs; the last three do nothing."""
    draw = stream(1)
    X = np.asarray(draw.uniform((N, D)))
    y = np.sin(6.0 * X[:, 0]) + X[:, 1] * np.cos(4.0 * X[:, 2]) + X[:, 3] ** 2 - X[:, 4]
    return X, y - y.mean() + NOISE_SD * np.asarray(draw.normal(N))


def gpnotes(X: np.ndarray, y: np.ndarray, watch: Watch) -> Found:
    """`gpnotes.fit`, as it is."""
    evaluate = Objective.__call__

    def watched(objective: Objective, vector: np.ndarray) -> tuple:
        found = evaluate(objective, vector)
        watch(found[0])
        return found

    with mock.patch.object(Objective, "__call__", watched):
        gp = fit(GP(RBF(1.0, np.ones(D)), 0.1), X, y).model
    return gp.kernel.variance, np.asarray(gp.kernel.lengthscale), gp.noise_var


def sklearn(X: np.ndarray, y: np.ndarray, watch: Watch) -> Found:
    """`GaussianProcessRegressor`, with bounds so wide that none is met on the way."""
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import RBF as Squared
    from sklearn.gaussian_process.kernels import ConstantKernel, WhiteKernel

    wide = (1e-5, 1e6)
    kernel = ConstantKernel(1.0, wide) * Squared(np.ones(D), wide) + WhiteKernel(0.1, wide)

    class Watched(GaussianProcessRegressor):
        def log_marginal_likelihood(self, *which: object, **options: object) -> tuple:
            found = super().log_marginal_likelihood(*which, **options)
            if isinstance(found, tuple):
                watch(float(found[0]))
            return found

    found = Watched(kernel, alpha=0.0).fit(X, y).kernel_
    return found.k1.k1.constant_value, found.k1.k2.length_scale, found.k2.noise_level


def gpytorch(X: np.ndarray, y: np.ndarray, watch: Watch) -> Found:
    """GPyTorch's exact process without priors, by BoTorch's L-BFGS."""
    import torch
    from botorch.fit import fit_gpytorch_mll
    from botorch.models import SingleTaskGP
    from gpytorch.constraints import Positive
    from gpytorch.kernels import RBFKernel, ScaleKernel
    from gpytorch.likelihoods import GaussianLikelihood
    from gpytorch.means import ZeroMean
    from gpytorch.mlls import ExactMarginalLogLikelihood

    torch.set_num_threads(1)
    torch.set_default_dtype(torch.double)
    kernel = ScaleKernel(RBFKernel(ard_num_dims=D))
    likelihood = GaussianLikelihood(noise_constraint=Positive())
    model = SingleTaskGP(
        torch.as_tensor(X),
        torch.as_tensor(y)[:, None],
        likelihood=likelihood,
        covar_module=kernel,
        mean_module=ZeroMean(),
        outcome_transform=None,
    )
    kernel.outputscale, likelihood.noise = 1.0, 0.1
    kernel.base_kernel.lengthscale = torch.ones(D)

    class Watched(ExactMarginalLogLikelihood):
        def forward(self, *which: object, **options: object) -> torch.Tensor:
            found = super().forward(*which, **options)
            watch(N * float(found))  # theirs is by reading
            return found

    fit_gpytorch_mll(Watched(likelihood, model))
    lengths = kernel.base_kernel.lengthscale.detach().numpy().ravel()
    return float(kernel.outputscale), lengths, float(likelihood.noise)


def gpy(X: np.ndarray, y: np.ndarray, watch: Watch) -> Found:
    """GPy's `GPRegression`, by its default optimiser."""
    import GPy

    class Watched(GPy.models.GPRegression):
        def parameters_changed(self) -> None:
            super().parameters_changed()
            watch(float(self.log_likelihood()))

    model = Watched(X, y[:, None], GPy.kern.RBF(D, 1.0, np.ones(D), ARD=True), noise_var=0.1)
    model.optimize()
    kernel = model.kern
    return (
        float(kernel.variance[0]),
        np.asarray(kernel.lengthscale),
        float(model.likelihood.variance[0]),
    )


CONTESTANTS: dict[str, Callable[[np.ndarray, np.ndarray, Watch], Found]] = {
    "gpnotes": gpnotes,
    "scikit-learn": sklearn,
    "GPyTorch": gpytorch,
    "GPy": gpy,
}


class Round(NamedTuple):
    """The log evidence reached, the seconds that took, and what was seen on the way, and when."""

    reached: float
    seconds: float
    seen: list[tuple[float, float]]

    def until(self, evidence: float) -> float:
        """The seconds until that evidence was first seen."""
        return min((when for when, value in self.seen if value >= evidence), default=np.nan)


def round_of(whole: Callable[..., Found], X: np.ndarray, y: np.ndarray) -> Round:
    """One fit from the start."""
    seen: list[tuple[float, float]] = []
    began = time.process_time()
    variance, lengths, noise = whole(
        X, y, lambda value: seen.append((time.process_time() - began, value))
    )
    seconds = time.process_time() - began
    found = GP(RBF(float(variance), np.array(lengths)), float(noise))
    return Round(log_evidence(found, X, y), seconds, seen)


def spread(seconds: list[float]) -> str:
    """Median and range."""
    low, middle, high = np.quantile(seconds, [0.0, 0.5, 1.0])
    return f"{middle:6.2f} s ({low:.2f} to {high:.2f})"


def main() -> None:
    """Print two lines a contestant that can be imported; the rounds are taken in turns."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    rounds = parser.parse_args().rounds
    X, y = data()
    warnings.simplefilter("ignore")
    results: dict[str, list[Round]] = {}
    for turn in range(rounds + 1):
        for name, whole in CONTESTANTS.items():
            try:
                results.setdefault(name, []).append(round_of(whole, X, y))
            except ImportError as problem:
                if turn == 0:
                    print(f"{name:12} left out: {problem}")
    results = {name: taken[1:] for name, taken in results.items() if taken}  # one loads libraries
    same = min(taken[0].reached for taken in results.values()) - SAME
    for name, taken in results.items():
        whole_time, until = ([one.seconds for one in taken], [one.until(same) for one in taken])
        print(f"{name:12} {spread(whole_time)} to its end at {taken[0].reached:.3f}")
        print(f"{'':12} {spread(until)} to the same evidence, {same:.3f}")


if __name__ == "__main__":
    main()
