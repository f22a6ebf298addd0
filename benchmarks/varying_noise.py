"""Noise that is not the same everywhere, beside what others do about it.

``python benchmarks/varying_noise.py`` prints two tables. In the first the variance of each reading
is known, as from a laboratory: ours with ``noise_var=``, scikit-learn's process with ``alpha=``,
and both blind to it. In the second it is learnt: our `HeteroscedasticGP`, GPflow's model, and our
process with one noise for all, scored by the log density of readings that were held out.

GPflow's answer is that of its page *Heteroskedastic Likelihood and Multi-Latent GP*: two latent
processes, the logarithm of the noise's deviation the second, each with inducing points of its own
and a normal q with a full covariance, and the bound raised. GPflow itself needs TensorFlow; the
same bound is raised here by JAX and L-BFGS, with the expectation in closed form.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import minimize
from sklearn import gaussian_process
from sklearn.gaussian_process import kernels as theirs

import gpnotes
from gpnotes import GP, RBF, HeteroscedasticGP, dataset, fit, stream

Data = tuple[Any, Any, Any, Any]
_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(40)
_POINTS = 20  # inducing points of each of GPflow's processes, as on its page


def error_bars(seed: int) -> tuple[Any, Any, Any, Any]:
    """Forty readings of a sine, the variance of each known and of very different size."""
    draw = stream(seed)
    X = np.sort(np.asarray(draw.uniform((40, 1))) * 6.0, axis=0)
    known = np.exp(np.asarray(draw.normal(40)) * 1.5 - 3.0)
    truth = np.sin(X[:, 0])
    return X, truth + np.sqrt(known) * np.asarray(draw.normal(40)), known, truth


def ours_known(X: Any, y: Any, known: Any) -> Any:
    """The process with the variances, the mean of f at X."""
    fixed = ["noise_var"]
    return fit(GP(RBF(), 0.0), X, y, noise_var=known, fixed=fixed).posterior.mean(X)


def ours_blind(X: Any, y: Any, known: Any) -> Any:
    return fit(GP(RBF()), X, y).posterior.mean(X)


def theirs_known(X: Any, y: Any, known: Any) -> Any:
    kernel = theirs.ConstantKernel() * theirs.RBF()
    return gaussian_process.GaussianProcessRegressor(kernel, alpha=known).fit(X, y).predict(X)


def engel(seed: int) -> Data:
    """Food by income, a third of the households held out; both in standard deviations."""
    table = np.asarray(dataset("engel"))
    table = (table - table.mean(axis=0)) / table.std(axis=0)
    order = np.asarray(stream(seed).permutation(len(table)))
    held, kept = order[:78], order[78:]
    return table[kept, :1], table[kept, 1], table[held, :1], table[held, 1]


def waves(seed: int) -> Data:
    """Two hundred readings of a sine with the deviation ``0.1 exp(1.5 cos x)``, and as many new."""
    draw = stream(seed)
    X = np.asarray(draw.uniform((400, 1))) * 12.0
    sd = 0.1 * np.exp(1.5 * np.cos(X[:, 0]))
    y = np.sin(X[:, 0]) + sd * np.asarray(draw.normal(400))
    return X[:200], y[:200], X[200:], y[200:]


def ours_learnt(X: Any, y: Any, Xs: Any, ys: Any) -> float:
    found = fit(HeteroscedasticGP(GP(RBF()), RBF()), X, y)
    return float(np.mean(found.posterior.log_density(Xs, ys)))


def ours_alike(X: Any, y: Any, Xs: Any, ys: Any) -> float:
    return float(np.mean(fit(GP(RBF()), X, y).posterior.log_density(Xs, ys)))


def gpflow_learnt(X: Any, y: Any, Xs: Any, ys: Any) -> float:
    """GPflow's model: the bound raised by L-BFGS from a start at the scales of the data."""
    import jax

    with jax.enable_x64(True):
        shapes = _start(X, y)
        cost = jax.jit(jax.value_and_grad(lambda v: -_bound(_unpacked(v, shapes), X, y)))
        start = np.concatenate([np.ravel(a) for a in shapes])
        options = {"maxiter": 500, "maxfun": 1000}
        best = minimize(lambda v: _host(cost(v)), start, jac=True, method="L-BFGS-B",
                        options=options)  # fmt: skip
        mean, variance, low, spread = (
            np.asarray(a) for a in _moments(_unpacked(best.x, shapes), Xs)
        )
    sd = np.exp(low[:, None] + np.sqrt(spread)[:, None] * _NODES)
    total = variance[:, None] + sd**2
    logs = -0.5 * ((ys - mean)[:, None] ** 2 / total + np.log(2.0 * np.pi * total))
    weights = np.log(_WEIGHTS / np.sum(_WEIGHTS))
    return float(np.mean(np.logaddexp.reduce(logs + weights, axis=1)))


def _host(pair: Any) -> tuple[float, Any]:
    value, gradient = pair
    return float(value), np.asarray(gradient, dtype=float)


def _start(X: Any, y: Any) -> list[Any]:
    """Of each process: log variance and lengthscale, a level, places, and q's mean and root."""
    places = np.quantile(X, np.linspace(0.0, 1.0, _POINTS), axis=0)
    width = np.log(0.3 * X.std())
    parts: list[Any] = []
    for log_variance, level in ((np.log(y.var()), 0.0), (0.0, np.log(0.5 * y.std()))):
        parts += [np.asarray([log_variance, width, level]), places.copy(),
                  np.zeros(_POINTS), np.eye(_POINTS)]  # fmt: skip
    return parts


def _unpacked(vector: Any, shapes: list[Any]) -> list[Any]:
    parts, at = [], 0
    for like in shapes:
        parts.append(vector[at : at + like.size].reshape(like.shape))
        at += like.size
    return parts


def _moments(parts: list[Any], X: Any) -> tuple[Any, Any, Any, Any]:
    """The means and variances of both processes at X, by whitened inducing points."""
    found: list[Any] = []
    for k in (0, 4):
        found += _of_one(*parts[k : k + 4], X)
    return tuple(found)  # type: ignore[return-value]


def _of_one(numbers: Any, places: Any, mean: Any, root: Any, X: Any) -> tuple[Any, Any]:
    import jax.numpy as jnp
    from jax.scipy.linalg import solve_triangular

    variance, width, level = jnp.exp(numbers[0]), jnp.exp(numbers[1]), numbers[2]

    def gram(a: Any, b: Any) -> Any:
        gaps = jnp.sum(((a[:, None, :] - b[None, :, :]) / width) ** 2, axis=2)
        return variance * jnp.exp(-0.5 * gaps)

    eye = jnp.eye(places.shape[0])
    lower = jnp.linalg.cholesky(gram(places, places) + 1e-6 * variance * eye)
    A = solve_triangular(lower, gram(places, X), lower=True)
    B = jnp.tril(root).T @ A
    return level + A.T @ mean, variance - jnp.sum(A * A, axis=0) + jnp.sum(B * B, axis=0)


def _bound(parts: list[Any], X: Any, y: Any) -> Any:
    """``Σ E log N(y; f, exp(2g))`` less the divergences of both q from their priors."""
    import jax.numpy as jnp

    mean, variance, low, spread = _moments(parts, X)
    scale = jnp.exp(2.0 * spread - 2.0 * low)
    fits = -0.5 * jnp.log(2.0 * jnp.pi) - low - 0.5 * ((y - mean) ** 2 + variance) * scale
    gaps = 0.0
    for m, root in (parts[2:4], parts[6:8]):
        lower = jnp.tril(root)
        logs = jnp.sum(jnp.log(jnp.abs(jnp.diag(lower))))
        gaps = gaps + 0.5 * (jnp.sum(lower**2) + jnp.sum(m**2) - m.shape[0]) - logs
    return jnp.sum(fits) - gaps


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    """What a call returns, and how many seconds it took."""
    start = time.perf_counter()
    answer = work()
    return answer, time.perf_counter() - start


def known_rows(seeds: int) -> list[str]:
    """How far off f is, and the seconds, medians over the seeds."""
    ways = {"gpnotes, `noise_var=`": ours_known, "scikit-learn, `alpha=`": theirs_known,
            "gpnotes, one noise": ours_blind}  # fmt: skip
    rows = []
    for name, way in ways.items():
        errors, seconds = [], []
        for seed in range(seeds):
            X, y, known, truth = error_bars(seed)
            mean, took = timed(lambda way=way, X=X, y=y, known=known: way(X, y, known))
            errors.append(float(np.sqrt(np.mean((np.asarray(mean) - truth) ** 2))))
            seconds.append(took)
        rows.append(
            f"| {name} | {statistics.median(errors):.4f} | {statistics.median(seconds):.3f} |"
        )
    return rows


def learnt_rows(seeds: int) -> list[str]:
    """The mean log density of what was held out, and the seconds, medians over the seeds."""
    ways = {"gpnotes, `HeteroscedasticGP`": ours_learnt, "GPflow's model, by JAX": gpflow_learnt,
            "gpnotes, one noise": ours_alike}  # fmt: skip
    rows = []
    for table in (engel, waves):
        for name, way in ways.items():
            found = [timed(lambda s=s, way=way, t=table: way(*t(s))) for s in range(seeds)]
            nats, seconds = (statistics.median(a) for a in zip(*found, strict=True))
            rows.append(f"| {table.__name__} | {name} | {nats:.3f} | {seconds:.2f} |")
    return rows


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=5)
    seeds = parser.parse_args().seeds
    print(f"gpnotes {gpnotes.__version__}, medians over {seeds} draws\n")
    print("| variances known | error of f | seconds |\n| --- | --- | --- |")
    print("\n".join(known_rows(seeds)))
    print(
        "\n| variances learnt | model | held-out log density | seconds |\n| --- | --- | --- | --- |"
    )
    print("\n".join(learnt_rows(seeds)))


if __name__ == "__main__":
    main()
