"""A whole fit beside its peers: 1000 readings, eight inputs, from one start to a top.

A squared exponential kernel with a lengthscale for each input, a constant signal and noise; mean
zero. Everyone starts at the same hyperparameters and stops where its own optimiser stops: L-BFGS of
SciPy for gpnotes, scikit-learn, GPy and, through BoTorch's `fit_gpytorch_mll`, GPyTorch. It prints
the seconds of the processor, on one thread, and the log evidence reached, worked out by gpnotes for
the hyperparameters that each returned. Contestants that cannot be imported are left out. The
environment is that of `optimisation_races.py`; GPy needs NumPy below 2, and one of its own:

    OMP_NUM_THREADS=1 apart/bin/python benchmarks/whole_fit.py
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable

import numpy as np

from gpnotes import GP, RBF, fit, log_evidence, stream

N, D, NOISE_SD = 1000, 8, 0.1
Found = tuple[float, np.ndarray, float]  # signal variance, lengthscales, noise variance


def data() -> tuple[np.ndarray, np.ndarray]:
    """A smooth function of the first inputs; the last three do nothing."""
    draw = stream(1)
    X = np.asarray(draw.uniform((N, D)))
    y = np.sin(6.0 * X[:, 0]) + X[:, 1] * np.cos(4.0 * X[:, 2]) + X[:, 3] ** 2 - X[:, 4]
    return X, y - y.mean() + NOISE_SD * np.asarray(draw.normal(N))


def gpnotes(X: np.ndarray, y: np.ndarray) -> Found:
    """`gpnotes.fit`, as it is."""
    gp = fit(GP(RBF(1.0, np.ones(D)), 0.1), X, y).gp
    return gp.kernel.variance, np.asarray(gp.kernel.lengthscale), gp.noise_var


def sklearn(X: np.ndarray, y: np.ndarray) -> Found:
    """`GaussianProcessRegressor`, with bounds so wide that none is met on the way."""
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import RBF as Squared
    from sklearn.gaussian_process.kernels import ConstantKernel, WhiteKernel

    wide = (1e-5, 1e6)
    kernel = ConstantKernel(1.0, wide) * Squared(np.ones(D), wide) + WhiteKernel(0.1, wide)
    found = GaussianProcessRegressor(kernel, alpha=0.0).fit(X, y).kernel_
    return found.k1.k1.constant_value, found.k1.k2.length_scale, found.k2.noise_level


def gpytorch(X: np.ndarray, y: np.ndarray) -> Found:
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
    fit_gpytorch_mll(ExactMarginalLogLikelihood(likelihood, model))
    lengths = kernel.base_kernel.lengthscale.detach().numpy().ravel()
    return float(kernel.outputscale), lengths, float(likelihood.noise)


def gpy(X: np.ndarray, y: np.ndarray) -> Found:
    """GPy's `GPRegression`, by its default optimiser."""
    import GPy

    model = GPy.models.GPRegression(
        X, y[:, None], GPy.kern.RBF(D, 1.0, np.ones(D), ARD=True), noise_var=0.1
    )
    model.optimize()
    kernel = model.kern
    return (
        float(kernel.variance[0]),
        np.asarray(kernel.lengthscale),
        float(model.likelihood.variance[0]),
    )


CONTESTANTS: dict[str, Callable[[np.ndarray, np.ndarray], Found]] = {
    "gpnotes": gpnotes,
    "scikit-learn": sklearn,
    "GPyTorch": gpytorch,
    "GPy": gpy,
}


def main() -> None:
    """Print a line a contestant: median of the rounds, their range, and the evidence reached."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    rounds = parser.parse_args().rounds
    X, y = data()
    warnings.simplefilter("ignore")
    for name, whole in CONTESTANTS.items():
        try:
            seconds = []
            for _ in range(rounds + 1):  # the first loads libraries
                began = time.process_time()
                variance, lengths, noise = whole(X, y)
                seconds.append(time.process_time() - began)
        except ImportError as problem:
            print(f"{name:12} left out: {problem}")
            continue
        reached = log_evidence(GP(RBF(float(variance), np.array(lengths)), float(noise)), X, y)
        low, middle, high = np.quantile(seconds[1:], [0.0, 0.5, 1.0])
        print(f"{name:12} {middle:6.2f} s ({low:.2f} to {high:.2f}), log evidence {reached:.3f}")


if __name__ == "__main__":
    main()
