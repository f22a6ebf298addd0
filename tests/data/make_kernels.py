"""Make ``kernels-*.json``: what GPflow, GPyTorch and GPy answer for kernels that they have too.

Each program in an environment of its own, and each writes its own table:

    python -m venv apart
    apart/bin/python -m pip install gpflow==2.11.2 tensorflow==2.21.0 numpy==1.26.4
    apart/bin/python tests/data/make_kernels.py gpflow

    python -m venv other
    other/bin/python -m pip install gpytorch==1.15.2 torch==2.13.0 GPy==1.15.0 numpy==2.4.6
    other/bin/python tests/data/make_kernels.py gpytorch
    other/bin/python tests/data/make_kernels.py gpy

A problem has inputs X and Z with no point in common, hyperparameters in our words, and weights W.
The table holds ``K(X, Z)`` and the derivatives of ``Σ W ⊙ K(X, Z)`` by each of the hyperparameters
and by X, by the program's own automatic or written derivatives. Of one point with itself nothing is
asked: GPflow moves the angle there by 6e-8, so that its derivative exists.

Their hyperparameters are ours but for these: GPflow's cosine has the lengthscale 1/ω, in whose
place ours stands; GPy's periodic kernel takes half of our lengthscale.
"""

from __future__ import annotations

import json
import platform
import sys
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

SEED = 20261121
Answer = tuple[np.ndarray, dict[str, Any]]


def main(program: str) -> int:
    """Draw the problems that `program` can answer, ask it, write the file."""
    rng = np.random.default_rng(SEED)
    packages, problems = PROGRAMS[program]
    records = [record(problem, ask) for problem, ask in problems(rng)]
    versions = {name: version(name) for name in packages} | {"python": platform.python_version()}
    lines = ",\n".join(json.dumps(one, separators=(",", ":")) for one in records)
    head = json.dumps({"versions": versions, "seed": SEED})[:-1]
    target = Path(__file__).with_name(f"kernels-{program}.json")
    target.write_text(f'{head}, "problems": [\n{lines}\n]}}\n', encoding="utf-8")
    print(f"{len(records)} problems")
    return 0


def record(problem: dict[str, Any], ask: Callable[[dict[str, Any]], Answer]) -> dict[str, Any]:
    """The problem with its answers, in numbers that JSON holds exactly."""
    K, slopes = ask(problem)
    answers = {name: np.asarray(slope).tolist() for name, slope in slopes.items()}
    return {**problem, "K": np.asarray(K).tolist(), "slopes": answers}


def drawn(rng: np.random.Generator, kernel: str, d: int, rows: int = 1, **given: Any) -> dict:
    """Inputs and weights for a kernel; `rows` of its matrix stand for each point."""
    n, m = (int(count) for count in rng.integers(4, 8, 2))
    return {
        "kernel": kernel,
        "X": rng.uniform(-2.0, 2.0, (n, d)).round(3).tolist(),
        "Z": (rng.uniform(-2.0, 2.0, (m, d)).round(3) + 0.0005).round(4).tolist(),
        "W": rng.normal(size=(n * rows, m * rows)).round(3).tolist(),
        "given": {
            name: value.round(3).tolist() if isinstance(value, np.ndarray) else value
            for name, value in given.items()
        },
    }


def gpflow_problems(rng: np.random.Generator) -> Iterator[tuple[dict, Callable]]:
    """Arc-cosine kernels of the orders 0, 1 and 2, and waves of one frequency."""
    for number in range(9):
        d = 1 + number % 3
        given = {
            "variance": round(float(rng.uniform(0.3, 2.0)), 3),
            "weight_variance": rng.uniform(0.3, 2.0, d),
            "bias_variance": round(float(rng.uniform(0.3, 2.0)), 3),
        }
        yield drawn(rng, "ArcCosine", d, order=number // 3, **given), by_gpflow
    for d in (1, 2, 3):
        yield drawn(rng, "Cosine", d, frequency=rng.uniform(0.2, 0.8, d)), by_gpflow


def by_gpflow(problem: dict[str, Any]) -> Answer:
    """Its kernel on TensorFlow's tape."""
    import gpflow
    import tensorflow as tf

    given = problem["given"]
    if problem["kernel"] == "ArcCosine":
        names = {"variance": "variance", "weight_variance": "weight_variances",
                 "bias_variance": "bias_variance"}  # fmt: skip
        kernel = gpflow.kernels.ArcCosine(
            order=given["order"], **{theirs: given[ours] for ours, theirs in names.items()}
        )
    else:
        names = {"frequency": "lengthscales"}
        kernel = gpflow.kernels.Cosine(lengthscales=1.0 / np.asarray(given["frequency"]))
    X, Z, W = (tf.constant(problem[name], tf.float64) for name in ("X", "Z", "W"))
    with tf.GradientTape() as tape:
        tape.watch(X)
        values = {
            ours: tf.convert_to_tensor(getattr(kernel, theirs)) for ours, theirs in names.items()
        }
        for ours, theirs in names.items():
            setattr(kernel, theirs, values[ours])
        K = kernel.K(X, Z)
        weighted = tf.reduce_sum(W * K)
    found = tape.gradient(weighted, [*values.values(), X])
    slopes = dict(zip([*values, "X"], found, strict=True))
    if "frequency" in slopes:  # by the lengthscale 1/ω: dk/dω = −ℓ² dk/dℓ
        slopes["frequency"] = -slopes["frequency"] / np.asarray(given["frequency"]) ** 2
    return K.numpy(), slopes


def gpytorch_problems(rng: np.random.Generator) -> Iterator[tuple[dict, Callable]]:
    """Values with their gradients under two kernels, and mixtures of one to three bands."""
    for number in range(6):
        d = 1 + number % 3
        name = ("RBF", "Matern52")[number // 3]
        lengths = rng.uniform(0.6, 1.8, d)
        yield drawn(rng, f"WithGradients({name})", d, d + 1, lengthscale=lengths), by_gpytorch
    for bands in (1, 2, 3):
        given = {
            "variances": rng.uniform(0.3, 2.0, bands),
            "frequencies": rng.uniform(0.2, 1.0, bands),
            "bandwidths": rng.uniform(0.1, 0.4, bands),
        }
        yield drawn(rng, "spectral_mixture", 1, **given), by_gpytorch


def by_gpytorch(problem: dict[str, Any]) -> Answer:
    """Its kernel in double precision, and PyTorch's derivatives."""
    import torch
    from gpytorch import kernels

    X, Z, W = (torch.tensor(problem[name], dtype=torch.float64) for name in ("X", "Z", "W"))
    given = {
        name: torch.tensor(value, dtype=torch.float64, requires_grad=True)
        for name, value in problem["given"].items()
    }
    X.requires_grad_(True)
    if problem["kernel"] == "spectral_mixture":
        kernel = kernels.SpectralMixtureKernel(num_mixtures=len(given["variances"])).double()
        theirs = {"variances": "mixture_weights", "frequencies": "mixture_means",
                  "bandwidths": "mixture_scales"}  # fmt: skip
        held = {theirs[name]: value.reshape(-1, *(() if name == "variances" else (1, 1)))
                for name, value in given.items()}  # fmt: skip
    else:
        kind = problem["kernel"].removeprefix("WithGradients(").removesuffix(")")
        kernel = getattr(kernels, f"{kind}KernelGrad")(ard_num_dims=X.shape[1]).double()
        held = {"lengthscale": given["lengthscale"].reshape(1, -1)}

    class Held(type(kernel)):
        """The kernel at our tensors, whose derivatives are wanted."""

    for name, value in held.items():
        setattr(Held, name, value)
    kernel.__class__ = Held
    K = kernel(X, Z).to_dense()
    slopes = torch.autograd.grad(torch.sum(W * K), [*given.values(), X])
    return K.detach(), dict(zip([*given, "X"], slopes, strict=True))


def gpy_problems(rng: np.random.Generator) -> Iterator[tuple[dict, Callable]]:
    """Periodic kernels with a length and a period for each dimension."""
    for d in (1, 2, 3):
        given = {
            "variance": round(float(rng.uniform(0.3, 2.0)), 3),
            "lengthscale": rng.uniform(0.6, 1.8, d),
            "period": rng.uniform(1.0, 3.0, d),
        }
        yield drawn(rng, "Periodic", d, **given), by_gpy


def by_gpy(problem: dict[str, Any]) -> Answer:
    """Its kernel and its own derivatives."""
    import GPy

    given = {name: np.asarray(value) for name, value in problem["given"].items()}
    X, Z, W = (np.asarray(problem[name]) for name in ("X", "Z", "W"))
    kernel = GPy.kern.StdPeriodic(
        X.shape[1], given["variance"], given["period"], given["lengthscale"] / 2.0,
        ARD1=True, ARD2=True,
    )  # fmt: skip
    kernel.update_gradients_full(W, X, Z)
    slopes = {
        "variance": float(kernel.variance.gradient[0]),
        "lengthscale": np.asarray(kernel.lengthscale.gradient) / 2.0,
        "period": np.asarray(kernel.period.gradient),
        "X": kernel.gradients_X(W, X, Z),
    }
    return kernel.K(X, Z), slopes


PROGRAMS = {
    "gpflow": (("gpflow", "tensorflow", "numpy"), gpflow_problems),
    "gpytorch": (("gpytorch", "torch", "numpy"), gpytorch_problems),
    "gpy": (("gpy", "numpy"), gpy_problems),
}


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
