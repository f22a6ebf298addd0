"""Behind the door nothing is checked again: what a call looks over, counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gpnotes as gp
from gpnotes import condition, log_evidence_and_gradient
from gpnotes.decide import design, fantasy
from gpnotes.ground import check, memory
from gpnotes.infer import features, laplace, linear, linear_smoother, sparse, svgp

KERNELS = {"RBF": gp.RBF(), "RBF + Periodic": gp.RBF() + gp.Periodic()}
X = np.linspace(0.0, 5.0, 20)[:, None]
Y = np.sin(X[:, 0])
XS = X + 0.1
MEANS = [gp.ZeroMean(), gp.ConstantMean(0.5)]
NEW = {"finite Xs": 1}  # of the inputs of a prediction, beside that they are like the data's
DATA = {"finite X": 1, "finite y": 1, "alike y, X": 1}

every_kernel = pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
every_mean = pytest.mark.parametrize("mean", MEANS, ids=repr)


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often what was looked over for finiteness, what was compared, and memory asked for."""
    seen: Counter[str] = Counter()

    def counting(module: Any, name: str, label: Callable[..., str]) -> None:
        done = getattr(module, name)

        def count(*args: Any, **kwargs: Any) -> Any:
            seen[label(*args, **kwargs)] += 1
            return done(*args, **kwargs)

        monkeypatch.setattr(module, name, count)

    counting(check, "_finite", lambda a, name: f"finite {name}")
    counting(check, "alike", lambda a, name, other, other_name: f"alike {name}, {other_name}")
    counting(memory, "available", lambda *like: "memory")
    return seen


@every_kernel
def test_a_kernel_looks_once_over_each_argument(kernel: gp.Kernel, counted: Counter[str]) -> None:
    kernel(X)
    assert counted == {"finite x": 1}
    counted.clear()
    kernel(X, X + 1.0)
    assert counted == {"finite x": 1, "finite z": 1, "alike z, x": 1}


@every_mean
@every_kernel
def test_regression_looks_once_over_each_argument(
    kernel: gp.Kernel, mean: Any, counted: Counter[str]
) -> None:
    process = gp.GP(kernel, 0.1, mean)
    posterior = gp.condition(process, X, Y)
    assert counted == DATA
    counted.clear()
    log_evidence_and_gradient(process, X, Y)
    assert counted == DATA
    counted.clear()
    _predict_once(posterior, counted, "alike Xs, X", "predict mean covariance joint sample")
    assert posterior.log_evidence < 0.0
    assert posterior.leave_one_out().mean.shape == (20,)
    assert posterior.evidence_gradient()[1].shape == (20, 1)
    assert not counted


def _predict_once(posterior: Any, counted: Counter[str], alike: str, views: str) -> None:
    for view in views.split():
        more: dict[str, Any] = {"num_samples": 2, "rng": 1} if view == "sample" else {}
        getattr(posterior, view)(XS, **more)
        assert counted == NEW | {alike: 1}, view
        counted.clear()


@every_mean
@every_kernel
def test_inducing_points_are_looked_over_once(
    kernel: gp.Kernel, mean: Any, counted: Counter[str]
) -> None:
    data = DATA | {"finite inducing": 1, "alike X, inducing": 1}
    process = gp.GP(kernel, 0.1, mean)
    posterior = condition(sparse.SparseGP(process, X[::4]), X, Y)
    assert counted == data
    counted.clear()
    log_evidence_and_gradient(sparse.SparseGP(process, X[::4]), X, Y)
    assert counted == data
    counted.clear()
    _predict_once(posterior, counted, "alike Xs, Z", "predict mean covariance joint sample")
    assert posterior.inducing_values().size == 5
    assert not counted


@every_mean
@every_kernel
@pytest.mark.parametrize("likelihood", [gp.Gaussian(0.1), gp.Bernoulli()], ids=repr)
def test_variational_inference_looks_once_over_each_argument(
    likelihood: Any, kernel: gp.Kernel, mean: Any, counted: Counter[str]
) -> None:
    y = np.where(Y > 0.0, 1.0, -1.0)
    model = svgp.SVGP(gp.GP(kernel, 0.0, mean), likelihood, X[::4])
    assert counted == {"finite inducing": 1}
    data = DATA | {"alike X, inducing": 1}
    counted.clear()
    posterior = condition(model, X, y)
    assert counted == data
    for over in (svgp.elbo, svgp.elbo_and_gradient, svgp.natural_gradient_step):
        counted.clear()
        over(posterior, X, y)
        assert counted == data
    counted.clear()
    posterior.log_density(XS, y)
    assert counted == {"finite Xs": 1, "finite y": 1, "alike y, Xs": 1, "alike Xs, inducing": 1}
    counted.clear()
    views = "predict mean variance covariance joint sample"
    views += " probability" * isinstance(likelihood, gp.Bernoulli)
    _predict_once(posterior, counted, "alike Xs, inducing", views)


@every_mean
@every_kernel
def test_laplace_looks_once_over_each_argument(
    kernel: gp.Kernel, mean: Any, counted: Counter[str]
) -> None:
    posterior = condition(
        laplace.LaplaceGP(gp.GP(kernel, 0.0, mean)), X, np.where(Y > 0.0, 1.0, -1.0)
    )
    assert counted == DATA
    counted.clear()
    views = "predict mean variance covariance joint sample probability"
    _predict_once(posterior, counted, "alike Xs, X", views)
    assert posterior.log_evidence < 0.0
    assert posterior.evidence_gradient()[1].shape == (20, 1)
    assert not counted


@every_mean
def test_features_look_once_over_each_argument(mean: Any, counted: Counter[str]) -> None:
    frequencies = features.draw_frequencies(gp.RBF(), X, 16, rng=gp.stream(1))
    counted.clear()
    posterior = condition(features.FeatureGP(gp.GP(gp.RBF(), 0.1, mean), frequencies), X, Y)
    assert counted == DATA | {"alike X, frequencies": 1}
    counted.clear()
    _predict_once(posterior, counted, "alike Xs, frequencies", "predict mean covariance sample")
    posterior.extend(XS, Y)
    assert counted == {"finite x": 1, "finite y": 1, "alike y, x": 1, "alike x, frequencies": 1}


def test_linear_regression_looks_once_over_each_argument(counted: Counter[str]) -> None:
    Phi = np.hstack([X, np.ones_like(X)])
    model = linear.BayesianLinear(np.eye(2), 0.1)
    counted.clear()
    posterior = gp.condition(model, Phi, Y)
    assert counted == {"finite X": 1, "finite y": 1, "alike X, prior_cov": 1, "alike y, X": 1}
    counted.clear()
    posterior.update(Phi, Y)
    assert counted == {"finite phi": 1, "finite y": 1, "alike phi, prior_cov": 1, "alike y, phi": 1}
    counted.clear()
    for view in (posterior.predict, posterior.mean, posterior.covariance):
        view(Phi)
        assert counted == {"finite Xs": 1, "alike Xs, prior_cov": 1}
        counted.clear()
    posterior.sample(Phi, 2, rng=gp.stream(1))
    assert counted == {"finite Xs": 1, "alike Xs, prior_cov": 1}
    counted.clear()
    posterior.sample_weights(2, rng=gp.stream(1))
    assert not counted


@every_kernel
def test_smoothing_looks_once_over_each_argument(kernel: gp.Kernel, counted: Counter[str]) -> None:
    posterior = gp.condition(gp.GP(kernel, 0.1), X, Y)
    counted.clear()
    linear_smoother.hat_matrix(posterior, XS)
    assert counted == NEW | {"alike Xs, X": 1}
    counted.clear()
    assert linear_smoother.hat_matrix(posterior).shape == (20, 20)
    assert linear_smoother.degrees_of_freedom(posterior) > 0.0
    assert linear_smoother.generalised_cross_validation(posterior) > 0.0
    assert not counted


@pytest.mark.parametrize("given", ["a process", "a posterior"])
@every_kernel
def test_design_looks_once_over_each_argument(
    kernel: gp.Kernel, given: str, counted: Counter[str]
) -> None:
    process = gp.GP(kernel, 0.1)
    known = gp.condition(process, X, Y) if given == "a posterior" else process
    looked = {"finite X": 1} | ({"alike X, X": 1} if given == "a posterior" else {})
    whole = ("information", "integrated variance", "mutual information")
    calls: list[Callable[[], Any]] = [
        lambda: design.information_gain(known, XS),
        lambda: design.marginal_gains(known, XS, [1, 2]),
        *(lambda name=name: design.greedy_design(known, XS, 3, name) for name in whole),
        lambda: design.greedy_design(known, XS, 3, "variance"),
        *(lambda name=name: design.exhaustive_design(known, XS, 2, name) for name in whole),
    ]
    for call in calls:
        counted.clear()
        call()
        assert counted == looked
    counted.clear()
    design.greedy_design(known, XS, 3, "integrated variance", reference=X)
    assert counted == looked | {"finite reference": 1, "alike reference, X": 1}


@pytest.mark.parametrize("measure", [design.bald, design.approximate_bald])
def test_labels_look_once_over_each_argument(measure: Any, counted: Counter[str]) -> None:
    measure(np.zeros(3), np.ones(3))
    assert counted == {"finite mean": 1, "alike variance, mean": 1}


def test_fantasies_look_once_over_each_argument(counted: Counter[str]) -> None:
    posterior = gp.condition(gp.GP(gp.RBF(), 0.1), X, Y)
    m, S = np.ones(1), np.eye(1)
    state = {"finite m": 1, "finite S": 1, "alike m, X": 1, "alike S, m": 1}
    several = (fantasy.batch_variance_reduction, fantasy.best, lambda *a: fantasy.greedy(*a, 3))
    one = (
        fantasy.variance_reduction,
        fantasy.mean_covariance,
        fantasy.variance_reduction_and_pullback,
    )
    parts = (fantasy.expected_variance, fantasy.expected_variance_parts)
    for measure in (*one, *several, *parts):
        counted.clear()
        measure(posterior, m, S, XS)
        name = "batch" if measure is fantasy.batch_variance_reduction else "candidates"
        assert counted == state | {f"finite {name}": 1, f"alike {name}, X": 1}
    counted.clear()
    fantasy.expected_covariance([posterior, posterior], m, S, XS)
    beside = "alike posteriors[1].X, posteriors[0].X"
    assert counted == state | {"finite candidates": 1, "alike candidates, X": 1, beside: 1}
    counted.clear()
    fantasy.refine(posterior, m, S, XS[3], [(0.0, 5.0)])
    assert counted == state | {"finite start": 1, "alike start, X": 1}
    _, pull = fantasy.variance_reduction_and_pullback(posterior, m, S, XS)
    counted.clear()
    pull(np.ones(20))
    assert counted == {"finite bar": 1, "alike bar, what it is a derivative by": 1}


def test_memory_is_asked_for_where_a_matrix_is_not_small(counted: Counter[str]) -> None:
    for columns, asked in ((1024, 0), (1025, 1)):  # 16 MiB, and more
        memory.require(1024, columns, copies=2, like=X, what="K")
        assert counted["memory"] == asked
