"""Wrong calls at the doors of the first rooms: each is refused, by the name of the argument.

No wrong call may pass, or end in NaN, or in a message of somebody else's library.
"""

from __future__ import annotations

import re
import traceback

import numpy as np
import pytest

import gpnotes as g
from gpnotes import fit, laplace

X = np.linspace(0.0, 1.0, 5)[:, None]
Y = np.sin(3.0 * X[:, 0])
LABELS = np.sign(Y - 0.5)
ONES = np.ones(5)
POINT_KERNELS = (g.RBF(), g.Matern52(), g.RationalQuadratic(), g.Periodic(), g.Linear(), g.White())
GP, SILENT = g.GP(g.RBF(), 0.1, g.ConstantMean(0.1)), g.GP(g.RBF(), 0.0)
POSTERIOR = g.condition(GP, X, Y)
BY_LAPLACE = laplace.approximate(SILENT, X, LABELS)
NORMAL = g.Normal(np.zeros(5), np.eye(5))
GAUSSIAN, LABEL = g.Gaussian(0.5), g.Bernoulli("logit")

NO_ARRAYS = [None, "x", 3, 1.5, True, {}, [[0.0]], np.ndarray]
NO_MATRICES = [
    *NO_ARRAYS, np.ones((5, 1), int), np.ones((5, 1), bool), np.ones((5, 1), complex),
    np.ones((5, 1), np.float16), np.full((5, 1), np.nan), np.full((5, 1), -np.inf), np.asarray(1.0),
    np.ones((5, 1, 1)), np.ma.ones((5, 1)), np.asarray([[None]]), np.asarray([["a"]]), np.ones(5),
]  # fmt: skip
NO_VECTORS = [
    *NO_ARRAYS, np.ones(5, int), np.ones(5, bool), np.ones(5, complex), np.full(5, np.nan),
    np.full(5, np.inf), np.ones((5, 1)), np.ones((1, 5)), np.ones(4), np.ones(6), np.ones(1),
    np.ones(5, np.float32), np.ma.ones(5), np.asarray(1.0),
]  # fmt: skip
NO_PROCESSES = [None, "gp", 3, g.RBF(), g.GP, X]
NO_STREAMS = [None, "x", 3, g.Stream, np.random.default_rng(0)]
NO_COUNTS = [None, "1", [1], True, 1.5, 2.0, float("nan"), -1, np.ones(2, int), int]
NO_FLAGS = [None, "yes", 1, 0.0, np.ones(2, bool)]
NO_NUMBERS = [None, "1", [1.0], True, 1j, float("nan"), float("inf"), {}, float, object()]

ROWS = {
    "gp": (NO_PROCESSES, {
        "condition": lambda b: g.condition(b, X, Y),
        "prior": lambda b: g.prior(b, X),
        "evidence": lambda b: g.log_evidence_and_pullback(b, X, Y),
        "fit": lambda b: fit.fit(b, X, Y),
        "approximate": lambda b: laplace.approximate(b, X, LABELS),
        "fit by Laplace": lambda b: laplace.fit(b, X, LABELS),
    }),
    "X": (NO_MATRICES, {
        "condition": lambda b: g.condition(GP, b, Y),
        "evidence": lambda b: g.log_evidence_and_pullback(GP, b, Y),
        "fit": lambda b: fit.fit(GP, b, Y),
        "approximate": lambda b: laplace.approximate(SILENT, b, LABELS),
        "check_kernel": lambda b: g.testing.check_kernel(g.RBF(), b),
    }),
    "y": ([b for b in NO_VECTORS if not isinstance(b, float | int)], {
        "condition": lambda b: g.condition(GP, X, b),
        "evidence": lambda b: g.log_evidence_and_pullback(GP, X, b),
        "fit": lambda b: fit.fit(GP, X, b),
        "approximate": lambda b: laplace.approximate(SILENT, X, b),
        "extend": lambda b: POSTERIOR.extend(X, b),
    }),
    "Xs": (NO_MATRICES, {
        "prior": lambda b: g.prior(GP, b),
        "predict": lambda b: POSTERIOR.predict(b),
        "mean": lambda b: POSTERIOR.mean(b),
        "covariance": lambda b: POSTERIOR.covariance(b),
        "predict by Laplace": lambda b: BY_LAPLACE.predict(b),
    }),
    "x": (NO_MATRICES, {
        **{repr(k): lambda b, k=k: k(b) for k in POINT_KERNELS},
        **{f"{k!r}.diag": lambda b, k=k: k.diag(b) for k in POINT_KERNELS},
        "Zero": lambda b: g.Zero()(b),
        "ConstantMean": lambda b: g.ConstantMean(1.0)(b),
    }),
    "K_bar": (NO_MATRICES, {repr(k): lambda b, k=k: k.pullback(X, None, b) for k in POINT_KERNELS}),
    "d_bar": (NO_VECTORS, {repr(k): lambda b, k=k: k.diag_pullback(X, b) for k in POINT_KERNELS}),
    "f": (NO_VECTORS, {
        "density": lambda b: GAUSSIAN.log_density(Y, b),
        "density of labels": lambda b: LABEL.log_density(LABELS, b),
        "derivatives": lambda b: LABEL.derivatives(LABELS, b),
    }),
    "mean": (NO_VECTORS, {
        "expect": lambda b: g.expect(np.exp, b, ONES),
        "probability": lambda b: LABEL.probability(b, ONES),
        "information": lambda b: LABEL.information(b, ONES),
        "expected density": lambda b: GAUSSIAN.expected_log_density(Y, b, ONES),
    }),
    "variance": ([*NO_VECTORS, -ONES], {
        "expect": lambda b: g.expect(np.exp, ONES, b),
        "probability": lambda b: LABEL.probability(ONES, b),
        "expected density": lambda b: GAUSSIAN.expected_log_density(Y, ONES, b),
    }),
    "stream": (NO_STREAMS, {
        "sample": lambda b: POSTERIOR.sample(X, b, 2),
        "Normal.sample": lambda b: NORMAL.sample(b, 2),
        "fit": lambda b: fit.fit(GP, X, Y, restarts=1, stream=b),
    }),
    "n": (NO_COUNTS, {
        "sample": lambda b: POSTERIOR.sample(X, g.stream(0), b),
        "Normal.sample": lambda b: NORMAL.sample(g.stream(0), b),
        "expect": lambda b: g.expect(np.exp, ONES, ONES, b),
        "permutation": lambda b: g.stream(0).permutation(b),
    }),
    "seed": (NO_COUNTS, {"stream": lambda b: g.stream(b)}),
    "steps": (NO_COUNTS, {
        "fit": lambda b: fit.fit(GP, X, Y, steps=b),
        "fit by Laplace": lambda b: laplace.fit(SILENT, X, LABELS, steps=b),
    }),
    "restarts": (NO_COUNTS, {"fit": lambda b: fit.fit(GP, X, Y, restarts=b, stream=g.stream(0))}),
    "spread": ([*NO_NUMBERS, -1.0], {
        "fit": lambda b: fit.fit(GP, X, Y, restarts=1, stream=g.stream(0), spread=b),
    }),
    "chunk": ([b for b in NO_COUNTS if b is not None], {
        "predict": lambda b: POSTERIOR.predict(X, chunk=b),
    }),
    "noise": (NO_FLAGS, {
        "prior": lambda b: g.prior(GP, X, noise=b),
        "predict": lambda b: POSTERIOR.predict(X, noise=b),
        "variance": lambda b: POSTERIOR.variance(X, noise=b),
        "sample": lambda b: POSTERIOR.sample(X, g.stream(0), 1, noise=b),
    }),
    "signal_var": ([*NO_NUMBERS, 0.0, -1.0, np.ones(2)], {"RBF": lambda b: g.RBF(b)}),
    "lengthscale": ([*NO_NUMBERS, 0.0, -1.0], {"RBF": lambda b: g.RBF(1.0, b)}),
    "noise_var": ([*NO_NUMBERS, -1.0, np.ones(2)], {"GP": lambda b: g.GP(g.RBF(), b)}),
    "level": ([*NO_NUMBERS, 0.0, 1.0, -0.5], {"interval": lambda b: NORMAL.interval(b)}),
    "sd": ([*NO_NUMBERS, 0.0, -1.0], {"NormalPrior": lambda b: g.NormalPrior(0.0, b)}),
}  # fmt: skip


def refusal(call, value):
    """The error that a call ends in, or None."""
    try:
        with np.errstate(all="ignore"):
            call(value)
    except (TypeError, ValueError) as error:
        return error
    return None


@pytest.mark.parametrize("name", ROWS)
def test_every_wrong_call_is_refused_by_the_name_of_the_argument(name):
    wrong, doors = ROWS[name]
    for door, call in doors.items():
        for value in wrong:
            error = refusal(call, value)
            assert error is not None, f"{door} took {value!r} for {name}"
            words = rf"(?<!\w){re.escape(name)}(?!\w)"
            assert re.search(words, str(error)), (door, value, str(error))
            where = traceback.extract_tb(error.__traceback__)[-1].filename
            assert "gpnotes" in where, (door, value, where)
