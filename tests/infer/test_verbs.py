"""The four verbs: each serves every model, by (model, X, y) or by chunks."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import pandas as pd
import pytest
from scipy.stats import multivariate_normal
from trips import trip

import gpnotes
from gpnotes import (
    GP,
    RBF,
    Bernoulli,
    Chunks,
    ConstantMean,
    Gaussian,
    Matern32,
    condition,
    fit,
    log_evidence,
    log_evidence_and_gradient,
)
from gpnotes.ground import check
from gpnotes.ground.linalg import JitterWarning
from gpnotes.ground.params import leaves, real, replaced
from gpnotes.infer import deep, features, laplace, sparse, svgp
from gpnotes.infer.evidence import Evidence, evidence_of, given
from gpnotes.infer.heteroscedastic import HeteroscedasticGP
from gpnotes.infer.interdomain import Harmonics, wave_sums
from gpnotes.infer.linear import BayesianLinear
from gpnotes.infer.posterior import Posterior
from gpnotes.infer.state_space import StateSpaceGP
from gpnotes.model.kernels import CircularRBF, Constant, Linear, Matern12

X = np.linspace(0.0, 4.0, 14)[:, None]
Y = np.sin(2.0 * X[:, 0]) + 0.2 * np.random.default_rng(3).standard_normal(14) + 0.4
LABELS = np.where(Y > 0.4, 1.0, -1.0)
CLASSES = np.repeat([0.0, 1.0, 2.0, 1.0], [4, 4, 3, 3])
Z = X[1::4]
NOISY = GP(RBF(0.9, 0.8), 0.15, ConstantMean(0.3))
MATERN = GP(Matern32(0.9, 0.8), 0.15, ConstantMean(0.3))
CLEAN = replace(NOISY, noise_var=0.0)
WAVES = features.draw_frequencies(RBF(), X, 12, rng=1)
PHI = np.stack([np.ones(14), X[:, 0], X[:, 0] ** 2], axis=1)
PRIOR_COV = np.asarray([[1.0, 0.2, 0.0], [0.2, 0.8, 0.1], [0.0, 0.1, 0.5]])


def deep_model():
    top = svgp.SVGP(GP(RBF(0.9, 0.8), 0.0), Gaussian(0.2), Z)
    return deep.with_inner_layers(svgp.initial_posterior(top), [RBF(0.5, 1.2)])


SPARSE = svgp.SVGP(CLEAN, Gaussian(0.15), Z)
MODELS = {
    "exact": (NOISY, X, Y),
    "state space": (StateSpaceGP(MATERN), X, Y),
    "features": (features.FeatureGP(NOISY, WAVES), X, Y),
    **{
        f"sparse, {name}": (sparse.SparseGP(NOISY, Z, name), X, Y)
        for name in ("sor", "dtc", "fitc", "vfe", "pep", "tight", "upper")
    },
    "varying noise": (HeteroscedasticGP(NOISY, RBF(0.5, 1.0)), X, Y),
    "labels": (laplace.LaplaceGP(CLEAN), X, LABELS),
    "labels by moments": (laplace.EPGP(CLEAN), X, LABELS),
    "classes": (laplace.SoftmaxGP(GP(RBF(0.9, 0.8), 0.0), 3), X, CLASSES),
    "variational": (SPARSE, X, Y),
    "variational labels": (svgp.SVGP(CLEAN, Bernoulli(), Z), X, LABELS),
    "weights": (BayesianLinear(PRIOR_COV, 0.15), PHI, Y),
    "deep": (deep_model(), X, Y),
}
WITHOUT_POSTERIOR = {"deep", "sparse, upper"}
BY_SUMS = [name for name in MODELS if name.startswith(("sparse", "features", "deep"))]


def dense(K, mean):
    return float(multivariate_normal(mean, K).logpdf(Y))


def gram(kernel):
    return kernel(X, X)


def through_points():
    cross = NOISY.kernel(Z, X)
    return cross.T @ np.linalg.solve(NOISY.kernel(Z, Z), cross)


EYE = np.eye(14)
BY_HAND = {
    "exact": lambda: dense(gram(NOISY.kernel) + 0.15 * EYE, 0.3 * np.ones(14)),
    "state space": lambda: dense(gram(MATERN.kernel) + 0.15 * EYE, 0.3 * np.ones(14)),
    "features": lambda: dense(
        (Phi := WAVES.features(NOISY.kernel, X)) @ Phi.T + 0.15 * EYE, 0.3 * np.ones(14)
    ),
    "sparse, dtc": lambda: dense(through_points() + 0.15 * EYE, 0.3 * np.ones(14)),
    "sparse, vfe": lambda: (
        dense(through_points() + 0.15 * EYE, 0.3 * np.ones(14))
        - np.trace(gram(NOISY.kernel) - through_points()) / 0.3
    ),
    "variational": lambda: BY_HAND["sparse, vfe"](),  # the best q of it is Titsias'
    "weights": lambda: dense(PHI @ PRIOR_COV @ PHI.T + 0.15 * EYE, np.zeros(14)),
}


@pytest.mark.parametrize("name", BY_HAND)
def test_the_value_is_that_of_the_dense_matrices(name):
    model, inputs, y = MODELS[name]
    assert log_evidence(model, inputs, y) == pytest.approx(BY_HAND[name](), rel=1e-7)


@pytest.mark.parametrize("name", MODELS)
def test_the_value_is_the_same_alone_with_a_gradient_and_of_the_posterior(name):
    model, inputs, y = MODELS[name]
    value = log_evidence(model, inputs, y)
    assert isinstance(value, float)
    assert log_evidence_and_gradient(model, inputs, y)[0] == pytest.approx(value, rel=1e-9)
    if name not in WITHOUT_POSTERIOR and not name.startswith("variational"):
        assert condition(model, inputs, y).log_evidence == pytest.approx(value, rel=1e-9)


def slopes(model, inputs, y, path, step=1e-5):
    """Differences of the evidence by one parameter, an entry of it where it has several."""
    held = {leaf.path: leaf.value for leaf in leaves(model)}[path]
    one = np.zeros_like(np.asarray(held))
    one.flat[0] = step
    ends = [
        replaced(model, {path: held + sign * (one if np.ndim(held) else step)})
        for sign in (1.0, -1.0)
    ]
    above, below = (log_evidence(end, inputs, y) for end in ends)
    return (above - below) / (2.0 * step)


@pytest.mark.parametrize("name", MODELS)
def test_the_gradient_is_a_model_that_holds_the_derivatives(name):
    model, inputs, y = MODELS[name]
    _, bar = log_evidence_and_gradient(model, inputs, y)
    assert type(bar) is type(model)
    derivatives = {leaf.path: leaf.value for leaf in leaves(bar)}
    held = evidence_of(model, given(model, inputs, y).data).held
    tried = [path for path in derivatives if path not in held and not path.endswith("v_root")]
    assert tried
    for path in tried:
        got = np.asarray(derivatives[path]).flat[0]
        assert got == pytest.approx(slopes(model, inputs, y, path), rel=2e-4, abs=2e-4), path


@pytest.mark.parametrize("name", [n for n in MODELS if n.startswith(("sparse", "variational"))])
def test_the_gradient_by_inducing_inputs_stands_in_their_place(name):
    model, inputs, y = MODELS[name]
    Z_bar = log_evidence_and_gradient(model, inputs, y)[1].inducing
    one = np.zeros_like(Z)
    one[1, 0] = 1e-5
    above, below = (
        log_evidence(replace(model, inducing=Z + sign * one), inputs, y) for sign in (1, -1)
    )
    assert Z_bar.shape == Z.shape
    assert Z_bar[1, 0] == pytest.approx((above - below) / 2e-5, rel=1e-4, abs=1e-5)


def test_the_gradient_by_a_prior_of_weights_is_that_of_all_its_entries():
    model, inputs, y = MODELS["weights"]
    bar = log_evidence_and_gradient(model, inputs, y)[1].prior_cov
    for i, j in ((0, 0), (0, 1), (2, 2)):
        one = np.zeros((3, 3))
        one[i, j] = one[j, i] = 1e-5
        ends = [replace(model, prior_cov=PRIOR_COV + sign * one) for sign in (1.0, -1.0)]
        above, below = (log_evidence(end, inputs, y) for end in ends)
        both = bar[i, j] if i == j else bar[i, j] + bar[j, i]
        assert both == pytest.approx((above - below) / 2e-5, rel=1e-5)


@pytest.mark.parametrize("name", BY_SUMS)
def test_chunks_stand_in_the_place_of_rows(name):
    model, inputs, y = MODELS[name]
    if name == "deep":  # its draws are those of a row's place in its chunk
        chunks, inputs, y = Chunks([(inputs, y)]), inputs, y
    else:
        chunks = Chunks([(inputs[:5], y[:5]), lambda: (inputs[5:], y[5:])])
    value, bar = log_evidence_and_gradient(model, inputs, y)
    of_chunks, chunks_bar = log_evidence_and_gradient(model, chunks)
    assert (log_evidence(model, chunks), of_chunks) == pytest.approx((value, value), rel=1e-9)
    for one, other in zip(leaves(bar), leaves(chunks_bar), strict=True):
        np.testing.assert_allclose(one.value, other.value, rtol=1e-6, atol=1e-9)
    if name not in WITHOUT_POSTERIOR:
        posterior = condition(model, chunks)
        np.testing.assert_allclose(posterior.mean(X), condition(model, X, Y).mean(X), atol=1e-9)


def test_sums_of_waves_stand_in_the_place_of_rows():
    u, y = Harmonics(np.arange(6.0)), Y - Y.mean()
    model = sparse.SparseGP(GP(CircularRBF(), 0.1), u)
    sums = wave_sums(u, X, y)
    value, bar = log_evidence_and_gradient(model, X, y)
    of_sums, sums_bar = log_evidence_and_gradient(model, sums)
    assert (log_evidence(model, sums), of_sums) == pytest.approx((value, value), rel=1e-9)
    assert sums_bar.gp.noise_var == pytest.approx(bar.gp.noise_var, rel=1e-8)
    np.testing.assert_allclose(condition(model, sums).mean(X), condition(model, X, y).mean(X))


def test_lists_are_taken_as_arrays():
    assert log_evidence(NOISY, X.tolist(), Y.tolist()) == log_evidence(NOISY, X, Y)
    np.testing.assert_array_equal(
        condition(NOISY, X.tolist(), list(Y)).mean(X), condition(NOISY, X, Y).mean(X)
    )


# what a model cannot do, it says
REFUSED = {
    "a posterior of a deep process": (
        lambda: condition(deep_model(), X, Y), TypeError, "^a DeepGP has no posterior in closed",
    ),
    "a posterior of a bound": (
        lambda: condition(MODELS["sparse, upper"][0], X, Y), ValueError, "'upper' is only a bound$",
    ),
    "a fit that loosens a bound": (
        lambda: fit(MODELS["sparse, upper"][0], X, Y), ValueError, "^method must not be 'upper'",
    ),
    "chunks of an exact process": (
        lambda: condition(NOISY, Chunks([(X, Y)])), TypeError,
        "^X must be a matrix: the evidence of a GP is no sum over chunks$",
    ),
    "chunks of weights": (
        lambda: condition(MODELS["weights"][0], Chunks([(PHI, Y)])), TypeError,
        "evidence of a BayesianLinear is no sum over chunks$",
    ),
    "chunks and y": (
        lambda: log_evidence(MODELS["sparse, vfe"][0], Chunks([(X, Y)]), Y), TypeError,
        "^y must be None where X is chunks, which hold it",
    ),
    "chunks that can be had once": (
        lambda: log_evidence_and_gradient(MODELS["sparse, vfe"][0], Chunks(iter([(X, Y)]))),
        TypeError, "^chunks must be a list",
    ),
    "batches of an exact process": (
        lambda: fit(NOISY, X, Y, minibatches=svgp.Minibatches(5), rng=1), ValueError,
        "^minibatches must be None: a fit of a GP asks for all rows at each step; got Minibatches",
    ),
    "batches in no order": (
        lambda: fit(SPARSE, X, Y, minibatches=svgp.Minibatches(5)), ValueError,
        "^minibatches need an rng to draw the order",
    ),
    "batches of more than all rows": (
        lambda: fit(SPARSE, X, Y, minibatches=svgp.Minibatches(15), rng=1), ValueError,
        "^minibatches.size must be .* from 1 to 14",
    ),
    "restarts of a fit from batches": (
        lambda: fit(SPARSE, X, Y, minibatches=svgp.Minibatches(5), restarts=2, rng=1), ValueError,
        "^restarts must not be given with minibatches",
    ),
    "bounds of a fit from batches": (
        lambda: fit(SPARSE, X, Y, minibatches=svgp.Minibatches(5), rng=1,
                    bounds={"gp.kernel.variance": (0.1, 9.0)}),
        ValueError, "^bounds must not be given with minibatches",
    ),
    "a number for minibatches": (
        lambda: fit(SPARSE, X, Y, minibatches=5, rng=1), TypeError,
        "^minibatches must be a gpnotes Minibatches; got int",
    ),
    "a start of another model": (
        lambda: fit(SPARSE, X, Y, rng=1, minibatches=svgp.Minibatches(
            5, start=svgp.initial_posterior(replace(SPARSE)))),
        ValueError,
        "^minibatches.start must be a posterior of model; got that of another",
    ),
    "no model": (
        lambda: condition(RBF(), X, Y), TypeError, "^model must be a GP, or a model with an evid",
    ),
    "a mean without a pullback": (
        lambda: log_evidence_and_gradient(GP(RBF(), 0.1, lambda x: x[:, 0]), X, Y), TypeError,
        "^gp.mean must be .* pullback",
    ),
    "squares that overflow": (
        lambda: log_evidence_and_gradient(NOISY, X, 1e200 * Y), ValueError, "^y ",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED.values(), ids=REFUSED)
def test_what_a_model_cannot_do_it_says(case):
    do, kind, said = case
    with pytest.raises(kind, match=said):
        do()


def test_a_fit_from_batches_is_a_fit_as_every_other():
    found = fit(SPARSE, pd.DataFrame(X, columns=["day"]), Y, minibatches=svgp.Minibatches(5),
                max_steps=40, rng=1)  # fmt: skip
    assert type(found) is type(fit(NOISY, X, Y, max_steps=1))
    assert (found.columns, len(found.runs[0].trace)) == (("day",), 40)
    assert found.log_evidence > svgp.elbo(svgp.initial_posterior(SPARSE), X, Y) + 1.0
    assert found.posterior.model is found.model


def test_a_fit_from_batches_goes_on_where_another_ended():
    first = fit(SPARSE, X, Y, minibatches=svgp.Minibatches(5), max_steps=3, rng=1)
    anew, on = svgp.Minibatches(5), svgp.Minibatches(5, start=first.posterior)
    further = fit(first.model, X, Y, minibatches=on, max_steps=4, rng=2)
    assert (first.posterior.steps, further.posterior.steps) == (3, 7)
    assert fit(first.model, X, Y, minibatches=anew, max_steps=4, rng=2).posterior.steps == 4


def test_jitter_is_told_of_by_the_verbs_and_not_by_a_fit():
    twice = np.concatenate([X, X])
    gp, y = GP(RBF(1.0, 3.0), 0.0), np.concatenate([Y, Y])
    for verb in (condition, log_evidence, log_evidence_and_gradient):
        with pytest.warns(JitterWarning, match="Gram matrix of RBF"):
            verb(gp, twice, y)
    evidence = evidence_of(gp, given(gp, twice, y).data)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        evidence.value_and_gradient(gp, quiet=True)


SINGULAR, WIDE = GP(RBF(1.0, 50.0), 0.0), GP(RBF(1.0, 0.8) + Constant(1e12), 1e-4)
CLOSE = svgp.SVGP(SINGULAR, Gaussian(0.1), X)
FAR, HELD = StateSpaceGP(GP(Linear(1e18), 0.1)), ["kernel.lengthscale", "noise_var"]
FLOATS = [a.astype(np.float32) for a in (X, LABELS, np.full(14, 1e7))]
OFFSET = {"offset": FLOATS[2], "max_steps": 1}
BINARY = svgp.SVGP(GP(RBF(), 0.0), Bernoulli(), FLOATS[0][::4])
LINE = StateSpaceGP(GP(Linear(1.0) + Matern12(), 0.1))
WARNING = {
    "condition": lambda: condition(SINGULAR, X, Y),
    "evidence": lambda: log_evidence(SINGULAR, X, Y),
    "gradient": lambda: log_evidence_and_gradient(SINGULAR, X, Y),
    "extended": lambda: condition(SINGULAR, X[:2], Y[:2]).extend(X[2:], Y[2:]),
    "posterior of a fit": lambda: fit(SINGULAR, X, Y, fixed=HELD).posterior,
    "sparse": lambda: condition(sparse.SparseGP(replace(SINGULAR, noise_var=0.1), X), X, Y),
    "sparse too wide": lambda: log_evidence(sparse.SparseGP(WIDE, Z), X, Y),
    "sparse, of a fit": lambda: (
        fit(sparse.SparseGP(WIDE, Z), X, Y, fixed=["gp", "inducing"]).posterior
    ),
    "svgp": lambda: condition(CLOSE, X, Y),
    "svgp, by batches": lambda: fit(
        CLOSE, X, Y, minibatches=svgp.Minibatches(5), max_steps=2, rng=0
    ),
    "svgp with an offset": lambda: condition(BINARY, *FLOATS[:2], offset=FLOATS[2]),
    "svgp with an offset, by a fit": lambda: fit(BINARY, *FLOATS[:2], **OFFSET),
    "labels with an offset": lambda: fit(laplace.LaplaceGP(GP(RBF(), 0.0)), *FLOATS[:2], **OFFSET),
    "own noise": lambda: condition(HeteroscedasticGP(GP(RBF() + Linear(1e12), 1.0), RBF()), X, Y),
    "states": lambda: log_evidence_and_gradient(FAR, X, Y),
    "covariance of a part": lambda: condition(LINE, 1.7e9 + X, Y).part(0).covariance(1.7e9 + X),
    "start of a fit": lambda: fit(GP(RBF(1e-3, 1e-4), 1.0), X, np.sin(2.0 * X[:, 0])),
    "copies": lambda: fit(GP(RBF()), np.repeat(X, 2, axis=0), np.repeat(Y[::-1] ** 9, 2)),
}


@pytest.mark.parametrize("call", WARNING.values(), ids=WARNING)
def test_a_warning_names_the_line_of_the_caller(call):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        call()
    assert {one.filename for one in told} == {__file__}


def test_a_mean_without_a_pullback_has_a_value_and_a_posterior():
    gp = GP(RBF(), 0.1, lambda x: x[:, 0])
    assert condition(gp, X, Y).log_evidence == log_evidence(gp, X, Y)


def test_data_are_looked_at_once(monkeypatch):
    """Behind the door nothing is scanned again, whatever the verb."""
    from gpnotes.infer import exact

    seen, check = [], exact.validate_data
    monkeypatch.setattr(exact, "validate_data", lambda *a, **k: seen.append(1) or check(*a, **k))
    for verb in (condition, log_evidence, log_evidence_and_gradient):
        seen.clear()
        verb(NOISY, X, Y)
        assert len(seen) == 1


@dataclass(frozen=True)
class Flat:
    """A model of a stranger: readings scatter around a level."""

    level: float = real()


def test_a_model_of_ones_own_needs_two_methods():
    class FlatPosterior(Posterior):
        _noise = 1.0

        def __init__(self, level):
            self.level = level

        def validate_inputs(self, Xs, name="Xs"):
            pass

        def _moments(self, Xs):
            return np.full(len(Xs), self.level), np.zeros(len(Xs))

    class OfFlat(Evidence[Flat, FlatPosterior]):
        def posterior(self, model):
            return FlatPosterior(model.level)

        def value_and_gradient(self, model, *, quiet=False):
            return -((model.level - 1.0) ** 2), Flat(-2.0 * (model.level - 1.0))

    evidence_of.register(Flat)(lambda model, data: OfFlat())
    assert condition(Flat(3.0), X, Y).mean(X)[0] == 3.0
    assert log_evidence_and_gradient(Flat(3.0), X, Y) == (-4.0, Flat(-4.0))
    assert fit(Flat(3.0), X, Y).model.level == pytest.approx(1.0, abs=1e-4)


def test_each_verb_is_one_function():
    from gpnotes import infer

    for name in ("condition", "fit", "log_evidence", "log_evidence_and_gradient"):
        assert getattr(gpnotes, name) is getattr(infer, name)


# Behind the door nothing is checked again


@pytest.fixture
def scanned(monkeypatch):
    """Of which arguments every entry was looked at, in order."""
    names, look = [], check._finite

    def noted(a, name):
        names.append(name)
        return look(a, name)

    monkeypatch.setattr(check, "_finite", noted)
    return names


@pytest.mark.parametrize("name", MODELS)
def test_data_are_scanned_once_whatever_is_done_with_them(scanned, name):
    model, X, y = MODELS[name]
    verbs = {
        condition: name not in WITHOUT_POSTERIOR, log_evidence: True,
        log_evidence_and_gradient: True, partial(fit, max_steps=10): name != "sparse, upper",
    }  # fmt: skip
    for verb in (verb for verb, serves in verbs.items() if serves):
        scanned.clear()
        verb(model, X, y)
        assert scanned.count("X") == scanned.count("y") == 1, (verb, scanned)


def test_what_extends_a_posterior_is_scanned_once_and_the_rest_not_again(scanned):
    posterior = condition(NOISY, X, Y)
    scanned.clear()
    posterior.extend(X[:3] + 0.1, Y[:3])
    assert scanned == ["x", "y"]


def test_a_fit_of_a_process_scans_nothing_but_its_data(scanned):
    fit(NOISY, X, Y, max_steps=10)
    assert scanned == ["X", "y"]


@pytest.mark.parametrize("name", MODELS)
def test_observations_of_other_row_labels_than_the_inputs_are_refused(name):
    model, inputs, y = MODELS[name]
    frame = pd.DataFrame(inputs, columns=[f"x{i}" for i in range(inputs.shape[1])])
    series, wanted = pd.Series(y), r"y must have .*row 0 is 13 in y and 0 in X.*y\.loc\[X\.index\]"
    for verb in (condition, log_evidence, log_evidence_and_gradient, fit):
        with pytest.raises(ValueError, match=wanted):
            verb(model, frame, series[::-1])
    assert log_evidence(model, frame, series) == log_evidence(model, inputs, y)


def test_what_is_known_of_each_reading_has_the_row_labels_of_the_inputs():
    frame, y = pd.DataFrame({"x": X[:, 0]}), pd.Series(Y)
    each = pd.Series(0.1 + X[:, 0])
    for name, model, told in (
        ("noise_var", NOISY, y),
        ("weights", NOISY, y),
        ("offset", MODELS["labels"][0], pd.Series(LABELS)),
    ):
        found = condition(model, frame, told, **{name: each})
        wanted = condition(model, frame, told, **{name: each.to_numpy()})
        np.testing.assert_array_equal(found.mean(frame), wanted.mean(frame))
        with pytest.raises(ValueError, match=f"{name} must have the row labels of X"):
            condition(model, frame, told, **{name: each[::-1]})
    posterior = condition(NOISY, frame, y)
    with pytest.raises(ValueError, match="y must have the row labels of Xs"):
        posterior.log_density(frame, y[::-1])
    with pytest.raises(ValueError, match="y must have the row labels of x"):
        posterior.extend(frame, y[::-1])


@pytest.mark.parametrize("name", BY_SUMS)
def test_a_chunk_without_rows_changes_no_evidence(name):
    model, inputs, y = MODELS[name]
    empty = inputs[:0], y[:0]
    found = log_evidence(model, Chunks([empty, (inputs[:5], y[:5]), empty, (inputs[5:], y[5:])]))
    wanted = log_evidence(model, Chunks([(inputs[:5], y[:5]), (inputs[5:], y[5:])]))
    assert found == pytest.approx(wanted, rel=1e-12)


@pytest.mark.parametrize("name", sorted(set(MODELS) - WITHOUT_POSTERIOR))
def test_of_no_inputs_there_are_no_predictions(name):
    model, inputs, y = MODELS[name]
    posterior, none = condition(model, inputs, y), inputs[:0]
    width = (3,) if name == "classes" else ()
    for a in (*posterior.predict(none), posterior.mean(none), posterior.variance(none)):
        assert a.shape == (0, *width)
    if not width:
        assert posterior.covariance(none).shape == (0, 0)
        assert posterior.sample(none, 3, rng=1).shape == (3, 0)
        assert posterior.log_density(none, y[:0]).shape == (0,)


def test_a_frame_of_one_column_is_a_vector():
    column = pd.DataFrame({"y": Y})
    assert log_evidence(NOISY, X, column) == log_evidence(NOISY, X, Y)
    with pytest.raises(
        ValueError, match=r"y must have shape \(14,\); got \(14, 1\): give y\[:, 0\]"
    ):
        log_evidence(NOISY, X, Y[:, None])


def test_tables_of_objects_are_numbers_if_they_hold_numbers():
    found = condition(NOISY, X.astype(object), Y.astype(object))
    np.testing.assert_array_equal(found.mean(X.astype(object)), condition(NOISY, X, Y).mean(X))
    with pytest.raises(TypeError, match="X must hold real numbers; got entries of type <U"):
        condition(NOISY, np.asarray([["a"], ["b"]], dtype=object), Y[:2])


def test_a_posterior_takes_few_calls_of_which_most_come_after_its_first_numbers():
    rng = np.random.default_rng(0)
    gp, inputs, y = GP(RBF(), 0.1), rng.normal(size=(60, 2)), rng.normal(size=60)
    made = trip(lambda: condition(gp, inputs, y))
    assert len(made) <= 90
    assert made.index("fast/radial_profiles.py rbf") < 60


def test_pairs_of_data_are_sent_to_chunks():
    X, y = np.zeros((3, 1)), np.ones(3)
    for verb in (condition, log_evidence):
        with pytest.raises(TypeError, match=r"Chunks\(pairs\) for pairs \(X, y\); got list of tup"):
            verb(GP(RBF(), 0.1), [(X, y), (X, y)])
