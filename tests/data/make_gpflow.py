"""Make ``gpflow.json``: what GPflow 2.11.2 answers to 20 problems.

It runs in an environment of its own:

    python -m venv apart
    apart/bin/python -m pip install gpflow==2.11.2 tensorflow==2.21.0 numpy==1.26.4
    apart/bin/python tests/data/make_gpflow.py

Each problem has data, a kernel with one length a dimension, a constant mean, inducing inputs and a
Gaussian over the whitened inducing values. The table holds evidence, approximations and bounds,
their derivatives by all of these but the data and that Gaussian, and predictions, for regression
exact and sparse; the same for sparse variational processes, with five likelihoods in turn and with
as many rows as a batch stands for; and where a natural-gradient step leads.

GPflow adds a jitter of 1e-6 to K_uu, here none. Its probit leaves each label a chance of 1e-3 to be
wrong, here none; so f stays where Φ(f) is not yet rounded to 1. It finds squared distances as
differences of squares, so that a point may lie 1e-8 from itself, of which an exponential kernel
makes as much in a covariance: inputs are multiples of 1/256, and the lengths of that kernel powers
of two, for which there is no rounding.
"""

from __future__ import annotations

import json
import os
import platform
import sys
from pathlib import Path

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

import gpflow
import numpy as np
import tensorflow as tf

TARGET = Path(__file__).with_name("gpflow.json")
SEED = 20091012
PROBLEMS = 20
KERNELS = {
    "RBF": gpflow.kernels.RBF,
    "Matern12": gpflow.kernels.Matern12,
    "Matern32": gpflow.kernels.Matern32,
    "Matern52": gpflow.kernels.Matern52,
}
LIKELIHOODS = ("gaussian", "probit", "logit", "poisson", "student")
REGRESSION = {
    "exact": ("log_marginal_likelihood", gpflow.models.GPR),
    "fitc": ("fitc_log_marginal_likelihood", gpflow.models.GPRFITC),
    "vfe": ("elbo", gpflow.models.SGPR),
    "upper": ("upper_bound", gpflow.models.SGPR),
}
STEP = 0.5  # of the natural gradient
LOG_CONCAVE = ("gaussian", "probit", "logit", "poisson")


def main() -> int:
    """Draw the problems, ask the program, write the file."""
    gpflow.config.set_default_jitter(0.0)
    rng = np.random.default_rng(SEED)
    records = []
    for number in range(PROBLEMS):
        problem = drawn(number, rng)
        answers = {name: regression(problem, name) for name in REGRESSION}
        records.append({**problem, "answers": {**answers, "svgp": variational(problem)}})
    versions = {
        "gpflow": gpflow.__version__,
        "tensorflow": tf.__version__,
        "numpy": np.__version__,
        "python": platform.python_version(),
    }
    lines = ",\n".join(json.dumps(record, separators=(",", ":")) for record in records)
    head = json.dumps({"versions": versions, "seed": SEED, "step": STEP})[:-1]
    TARGET.write_text(f'{head}, "problems": [\n{lines}\n]}}\n', encoding="utf-8")
    print(f"{len(records)} problems")
    return 0


def drawn(number: int, rng: np.random.Generator) -> dict:
    """A problem, in numbers that JSON holds exactly."""
    kernel = list(KERNELS)[number % 4]
    d, n, m = 1 + number // 4 % 4, int(rng.integers(15, 31)), int(rng.integers(3, 9))
    X, Z, Xs = (rng.uniform(-2.0, 2.0, (rows, d)) for rows in (n, m, 4))
    X, Z, Xs = (np.round(256.0 * a) / 256.0 for a in (X, Z, Xs))
    lengthscale = np.round(rng.uniform(0.4, 2.0, d), 2)
    if kernel == "Matern12":
        lengthscale = 2.0 ** rng.integers(-1, 2, d)
    f = 0.7 * np.sin(1.5 * X.sum(axis=1))
    y = np.round(f + 0.3 * rng.normal(size=n), 3)
    likelihood = LIKELIHOODS[number % 5]
    observed = {
        "gaussian": y,
        "probit": np.where(y > 0.0, 1.0, -1.0),
        "logit": np.where(y > 0.0, 1.0, -1.0),
        "poisson": rng.poisson(np.exp(f)).astype(float),
        "student": np.round(y + 4.0 * (rng.uniform(size=n) < 0.1), 3),
    }[likelihood]
    root = np.tril(np.round(0.1 * rng.normal(size=(m, m)), 3), -1)
    root += np.diag(np.round(rng.uniform(0.3, 0.9, m), 3))
    return {
        "kernel": kernel,
        "variance": round(float(rng.uniform(0.3, 0.8)), 2),
        "lengthscale": lengthscale.tolist(),
        "noise_var": round(float(10.0 ** rng.uniform(-2.0, 0.0)), 4),
        "mean": round(float(rng.uniform(-0.3, 0.3)), 2),
        "likelihood": likelihood,
        "total": n * (1 + 3 * (number % 2)),
        "X": X.tolist(),
        "y": y.tolist(),
        "observed": observed.tolist(),
        "Z": Z.tolist(),
        "Xs": Xs.tolist(),
        "q_mean": np.round(0.4 * rng.normal(size=m), 3).tolist(),
        "q_root": root.tolist(),
    }


def parts(problem: dict) -> dict:
    """Kernel, mean and inducing inputs whose parameters are what they say, not transforms of it."""
    kernel = KERNELS[problem["kernel"]]()
    kernel.variance = gpflow.Parameter(problem["variance"])
    kernel.lengthscales = gpflow.Parameter(np.array(problem["lengthscale"]))
    return {
        "kernel": kernel,
        "mean_function": gpflow.functions.Constant(problem["mean"]),
        "inducing_variable": gpflow.inducing_variables.InducingPoints(np.array(problem["Z"])),
    }


def regression(problem: dict, name: str) -> dict:
    """One approximation, or none: value, derivatives, predictions."""
    method, kind = REGRESSION[name]
    given = parts(problem)
    if name == "exact":
        del given["inducing_variable"]
    model = kind(data=(np.array(problem["X"]), np.array(problem["y"])[:, None]), **given)
    model.likelihood.variance = gpflow.Parameter(problem["noise_var"])
    answer = differentiated(model, getattr(model, method), model.likelihood.variance)
    if name == "upper":
        return answer
    mean, covariance = model.predict_f(np.array(problem["Xs"]), full_cov=True)
    return {**answer, "mean": listed(mean[:, 0]), "covariance": listed(covariance[0])}


def variational(problem: dict) -> dict:
    """The bound for a Gaussian q, its derivatives, predictions; and q after a natural step."""
    likelihood, parameter = {
        "gaussian": gaussian, "probit": probit, "logit": logit, "poisson": poisson,
        "student": student,
    }[problem["likelihood"]](problem)  # fmt: skip
    model = gpflow.models.SVGP(
        likelihood=likelihood,
        q_mu=np.array(problem["q_mean"])[:, None],
        q_sqrt=np.array(problem["q_root"])[None],
        num_data=problem["total"],
        **parts(problem),
    )
    y = np.array(problem["observed"])[:, None]
    if problem["likelihood"] in ("probit", "logit"):
        y = (y + 1.0) / 2.0
    data = np.array(problem["X"]), y
    answer = differentiated(model, lambda: model.elbo(data), parameter)
    mean, covariance = model.predict_f(np.array(problem["Xs"]), full_cov=True)
    answer = {**answer, "mean": listed(mean[:, 0]), "covariance": listed(covariance[0])}
    if problem["likelihood"] in LOG_CONCAVE:
        stepper = gpflow.optimizers.NaturalGradient(gamma=STEP)
        stepper.minimize(model.training_loss_closure(data), [(model.q_mu, model.q_sqrt)])
        root = model.q_sqrt.numpy()[0]
        answer["stepped_mean"] = listed(model.q_mu[:, 0])
        answer["stepped_covariance"] = listed(root @ root.T)
    return answer


def gaussian(problem: dict):
    likelihood = gpflow.likelihoods.Gaussian(variance=1.0)
    likelihood.variance = gpflow.Parameter(problem["noise_var"])
    return likelihood, likelihood.variance


def probit(problem: dict):
    def cdf(f):
        return 0.5 * tf.math.erfc(-f / np.sqrt(2.0))

    return gpflow.likelihoods.Bernoulli(invlink=cdf), None


def logit(problem: dict):
    return gpflow.likelihoods.Bernoulli(invlink=tf.sigmoid), None


def poisson(problem: dict):
    return gpflow.likelihoods.Poisson(), None


def student(problem: dict):
    likelihood = gpflow.likelihoods.StudentT(scale=1.0, df=4.0)
    likelihood.scale = gpflow.Parameter(problem["noise_var"] ** 0.5)
    return likelihood, likelihood.scale


def differentiated(model, function, of_likelihood) -> dict:
    """The value of `function`, and its derivatives by what the model and it depend on."""
    wanted = {
        "variance": model.kernel.variance,
        "lengthscale": model.kernel.lengthscales,
        "mean": model.mean_function.c,
    }
    if of_likelihood is not None:
        wanted["likelihood"] = of_likelihood
    if hasattr(model, "inducing_variable"):
        wanted["Z"] = model.inducing_variable.Z
    with tf.GradientTape() as tape:
        value = function()
    sources = {name: parameter.unconstrained_variable for name, parameter in wanted.items()}
    slopes = tape.gradient(value, sources)
    return {"value": listed(value), "slopes": {name: listed(a) for name, a in slopes.items()}}


def listed(a) -> list | float:
    """A tensor as JSON holds it, to the last bit."""
    return np.asarray(a).tolist()


if __name__ == "__main__":
    sys.exit(main())
