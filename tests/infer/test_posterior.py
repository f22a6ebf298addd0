"""Every posterior answers alike: what each can be asked, and what it says that it cannot do."""

from __future__ import annotations

import inspect
import math
import re
from functools import cache

import numpy as np
import pytest

from gpnotes import (
    GP,
    RBF,
    Gaussian,
    HeteroscedasticGP,
    Matern32,
    Poisson,
    RobustMax,
    condition,
    stream,
)  # fmt: skip
from gpnotes.ground import memory
from gpnotes.infer import deep, features, laplace, sparse, state_space, svgp
from gpnotes.infer.linear import BayesianLinear
from gpnotes.infer.posterior import Posterior
from gpnotes.model.means import BasisMean, Powers

X = np.linspace(0.0, 4.0, 9)[:, None]
XS = np.linspace(-0.4, 4.6, 7)[:, None]
Y = np.sin(X[:, 0])
LABELS = np.where(Y > 0.0, 1.0, -1.0)
CLASSES = np.repeat([0.0, 1.0, 2.0], 3)
NOISY, LATENT = GP(RBF(1.3, 0.8), 0.2), GP(RBF(1.3, 0.8), 0.0)


def of_svgp(likelihood, y):
    return condition(svgp.SVGP(LATENT, likelihood, X[::2]), X, y)


def of_deep():
    return deep.DeepPosterior(
        deep.with_inner_layers(of_svgp(Gaussian(0.2), Y), [RBF(0.3)]), num_samples=9
    )


def of_features():
    frequencies = features.draw_frequencies(NOISY.kernel, X, 12, rng=stream(1))
    return condition(features.FeatureGP(NOISY, frequencies), X, Y)


def of_a_later_reading():
    line = condition(state_space.StateSpaceGP(GP(Matern32(1.3, 0.8), 0.2)), X[:-1], Y[:-1])
    return line.extend(X[-1:], Y[-1:])


MAKERS = {
    "exact": lambda: condition(NOISY, X, Y),
    "part": lambda: condition(NOISY, X, Y).part(0),
    "basis": lambda: condition(GP(RBF(), 0.2, BasisMean(Powers(1))), X, Y),
    "line": lambda: condition(state_space.StateSpaceGP(GP(Matern32(1.3, 0.8), 0.2)), X, Y),
    "later on the line": of_a_later_reading,
    "varying noise": lambda: condition(HeteroscedasticGP(NOISY, RBF(0.5, 2.0)), X, Y),
    "features": of_features,
    "sparse": lambda: condition(sparse.SparseGP(NOISY, X[::2]), X, Y),
    "degenerate": lambda: condition(sparse.SparseGP(NOISY, X[::2], method="sor"), X, Y),
    "weights": lambda: condition(BayesianLinear(np.eye(1), 0.2), X, Y),
    "variational": lambda: of_svgp(Gaussian(0.2), Y),
    "counts": lambda: of_svgp(Poisson(), np.round(2.0 + Y)),
    "labels": lambda: condition(laplace.LaplaceGP(LATENT), X, LABELS),
    "labels by moments": lambda: condition(laplace.EPGP(LATENT), X, LABELS),
    "deep": of_deep,
    "robust": lambda: of_svgp(RobustMax(3), CLASSES),
    "softmax": lambda: condition(laplace.SoftmaxGP(LATENT, 3), X, CLASSES),
}
CLASSIFIED = ("robust", "softmax")
JOINT = [name for name in MAKERS if name not in (*CLASSIFIED, "deep")]
OTHERWISE = ("part", "counts", "labels", "labels by moments", "varying noise")  # y is not normal
NORMAL = [name for name in JOINT if name not in OTHERWISE]
DRAWN = [*JOINT, "deep"]


@cache
def posterior_of(name):
    return MAKERS[name]()


@pytest.mark.parametrize("name", DRAWN)
def test_more_draws_than_memory_holds_are_told_by_what_they_need(name):
    with pytest.raises(
        MemoryError, match=r"num_samples must be smaller: 1\d{30} of them need .* are"
    ):
        posterior_of(name).sample(X[:2], 10**30, rng=stream(1))


def test_each_class_of_posterior_is_here():
    def below(kind):
        return {kind, *(one for sub in kind.__subclasses__() for one in below(sub))}

    kinds = {kind for kind in below(Posterior) if not inspect.isabstract(kind)}
    ours = {kind for kind in kinds if re.match(r"gpnotes\.[\w.]*\.[A-Z]", _place(kind))}
    assert ours == {type(posterior_of(name)) for name in MAKERS}


def _place(kind):
    return f"{kind.__module__}.{kind.__name__}"


@pytest.mark.parametrize("name", MAKERS)
def test_no_class_has_a_public_method_of_the_base_of_its_own(name):
    """What is said once is documented once."""
    shared = {method for method in vars(Posterior) if not method.startswith("_")}
    for kind in type(posterior_of(name)).__mro__[:-1]:
        own = shared.intersection(vars(kind)) - {"validate_inputs", "has_normal_noise"}
        assert kind is Posterior or not own


@pytest.mark.parametrize("name", MAKERS)
def test_a_prediction_is_mean_and_variance(name):
    posterior = posterior_of(name)
    mean, variance = posterior.predict(XS)
    shape = (7, 3) if name in CLASSIFIED else (7,)
    assert mean.shape == variance.shape == shape
    assert np.all(variance >= 0.0)
    np.testing.assert_allclose(posterior.mean(XS), mean, rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(posterior.variance(XS), variance)


@pytest.mark.parametrize("name", [name for name in MAKERS if name != "deep"])
def test_chunks_change_nothing(name, monkeypatch):
    posterior = posterior_of(name)
    views = {method: getattr(posterior, method) for method in ("predict", "mean", "variance")} | (
        {"probability": _chances(posterior)} if name in ("labels", *CLASSIFIED) else {}
    )
    for method, view in views.items():
        whole, parts = np.asarray(view(XS)), np.asarray(view(XS, chunk=2))
        np.testing.assert_allclose(parts, whole, rtol=1e-9, atol=1e-12, err_msg=method)
    sizes = []
    monkeypatch.setattr(memory, "blocks", lambda *given, **_: sizes.append(given) or [slice(0, 7)])
    posterior.mean(XS, chunk=2)
    n, width, entries = sizes[0]
    assert (n, entries // width) == (7, 2)


def _chances(posterior):
    return lambda Xs, **options: posterior.probability(Xs, rng=stream(0), **options)


@pytest.mark.parametrize("name", NORMAL)
def test_noise_adds_its_variance(name):
    posterior = posterior_of(name)
    mean, variance = posterior.predict(XS)
    y_mean, y_variance = posterior.predict(XS, noise=True)
    np.testing.assert_array_equal(y_mean, mean)
    np.testing.assert_allclose(y_variance - variance, 0.2, rtol=1e-9)
    np.testing.assert_array_equal(posterior.mean(XS, noise=True), y_mean)
    np.testing.assert_array_equal(posterior.variance(XS, noise=True), y_variance)
    more = posterior.covariance(XS, noise=True) - posterior.covariance(XS)
    np.testing.assert_allclose(more, 0.2 * np.eye(7), atol=1e-12)


@pytest.mark.parametrize("name", JOINT)
@pytest.mark.parametrize("noise", [False, True])
def test_covariance_and_joint_agree_with_the_prediction(name, noise):
    if noise and name not in NORMAL:
        return
    posterior = posterior_of(name)
    mean, variance = posterior.predict(XS, noise=noise)
    covariance = posterior.covariance(XS, noise=noise)
    np.testing.assert_allclose(np.diag(covariance), variance, rtol=1e-7, atol=1e-9)
    joint = posterior.joint(XS, noise=noise)
    np.testing.assert_allclose(joint.mean, mean, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(joint.root @ joint.root.T, covariance, atol=1e-8)


@pytest.mark.parametrize("name", DRAWN)
@pytest.mark.parametrize("noise", [False, True])
def test_draws_have_the_moments_of_the_prediction(name, noise):
    if noise and name not in (*NORMAL, "deep"):
        return
    posterior, many = posterior_of(name), 400
    mean, variance = posterior.predict(XS, noise=noise)
    draws = posterior.sample(XS, many, rng=3, noise=noise)
    assert draws.shape == (many, 7)
    off = np.abs(draws.mean(axis=0) - mean)
    # the deep one predicts by nine draws of its own, whose mean is less sure
    slack = 0.4 * np.sqrt(variance) if name == "deep" else 0.0
    assert np.all(off <= 5.0 * np.sqrt(variance / many) + slack + 1e-9)
    ratio = draws.var(axis=0) / np.maximum(variance, 1e-300)
    top = 0.8 if name == "deep" else 5.0 * math.sqrt(2.0 / many)
    assert np.all(np.abs(ratio - 1.0)[variance > 1e-12] < top)


@pytest.mark.parametrize("name", DRAWN)
def test_one_function_is_drawn_unless_more_are_asked_for(name):
    posterior = posterior_of(name)
    assert posterior.sample(XS, rng=1).shape == (1, 7)
    assert posterior.sample(XS, 0, rng=1).shape == (0, 7)
    again = (posterior.sample(XS, 2, rng=stream(4)) for _ in range(2))
    np.testing.assert_array_equal(*again)


@pytest.mark.parametrize("name", [name for name in MAKERS if name not in ("softmax", "part")])
def test_log_densities_are_those_of_new_observations(name):
    posterior = posterior_of(name)
    labels = dict.fromkeys(("labels", "labels by moments"), LABELS)
    observed = {**labels, "counts": np.round(2.0 + Y), "robust": CLASSES}.get(name, Y)
    told = posterior.log_density(X, observed)
    assert told.shape == (9,)
    if name in NORMAL:
        mean, variance = posterior.predict(X, noise=True)
        wanted = -0.5 * ((Y - mean) ** 2 / variance + np.log(2.0 * np.pi * variance))
        np.testing.assert_allclose(told, wanted, rtol=1e-9)
    if name in labels:
        chance = posterior.probability(X)
        wanted = np.log(np.where(LABELS > 0.0, chance, 1.0 - chance))
        np.testing.assert_allclose(told, wanted, rtol=1e-6)
    if name == "counts":
        every = [posterior.log_density(X, np.full(9, float(k))) for k in range(60)]
        np.testing.assert_allclose(np.exp(every).sum(axis=0), 1.0, rtol=1e-6)


def test_a_y_without_a_variance_has_no_density():
    """At readings without noise, where a term of it is ∞ − ∞."""
    near, y = np.asarray([[0.0], [5.0]]), np.asarray([1.0, 2.0])
    posterior = condition(GP(RBF(), 0.0), near, y)
    with pytest.raises(ValueError, match=r"^the variance of y at Xs must be positive"):
        posterior.log_density(near, y)
    assert np.isfinite(posterior.log_density(near + 1.0, y)).all()
    assert np.isfinite(posterior.log_density(near, y, noise_var=[0.1, 0.1])).all()


def test_the_mean_of_new_labels_and_counts_is_not_that_of_f():
    labels, counts = posterior_of("labels"), posterior_of("counts")
    chance = labels.probability(XS)
    np.testing.assert_allclose(labels.mean(XS, noise=True), 2.0 * chance - 1.0, atol=1e-6)
    mean, variance = counts.predict(XS)
    np.testing.assert_allclose(counts.mean(XS, noise=True), np.exp(mean + 0.5 * variance))


def test_labels_of_a_deep_process_have_the_mean_probability_of_its_parts():
    top = condition(svgp.SVGP(LATENT, laplace.LaplaceGP(LATENT).likelihood, X[::2]), X, LABELS)
    posterior = deep.DeepPosterior(deep.with_inner_layers(top, [RBF(0.3)]), num_samples=9)
    parts = zip(*posterior.components(XS), strict=True)
    chances = [top.model.likelihood.probability(*part) for part in parts]
    np.testing.assert_allclose(posterior.probability(XS), np.mean(chances, axis=0), rtol=1e-12)


@pytest.mark.parametrize(
    ("name", "ask", "said"),
    [
        ("deep", lambda p: p.covariance(XS), r"DeepPosterior\.covariance: f is a mixture"),
        ("deep", lambda p: p.joint(XS), r"DeepPosterior\.joint: f is a mixture"),
        ("deep", lambda p: p.mean(XS, chunk=2), r"DeepPosterior\.mean: the draws .* together"),
        ("softmax", lambda p: p.covariance(XS), r"SoftmaxPosterior\.covariance: .*class_cov"),
        ("softmax", lambda p: p.sample(XS, rng=0), r"SoftmaxPosterior\.sample: there is one"),
        ("softmax", lambda p: p.probability(XS), r"SoftmaxPosterior\.probability: .* rng="),
        ("softmax", lambda p: p.log_density(X, CLASSES), r"SoftmaxPosterior\.log_density: its"),
        ("softmax", lambda p: p.predict(XS, noise=True), r"SoftmaxPosterior\.predict: a class"),
        ("robust", lambda p: p.joint(XS), r"ClassesPosterior\.joint: .* `functions`"),
        ("robust", lambda p: p.variance(XS, noise=True), r"ClassesPosterior\.variance: a class"),
        (
            "counts",
            lambda p: p.sample(XS, rng=0, noise=True),
            r"VariationalP\w+\.sample: .*Pois",
        ),
        ("labels", lambda p: p.covariance(XS, noise=True), r"LaplacePosterior\.cov.*has Bernoulli"),
        ("labels", lambda p: p.joint(XS, noise=True), r"LaplacePosterior\.joint: .*has Bernoulli"),
        ("counts", lambda p: p.probability(XS), "the likelihood must be .*Poisson lacks prob"),
        *(
            (name, lambda p: p.probability(XS), r"Posterior\.probability: its y has normal noise")
            for name in ("exact", "line", "features", "sparse", "weights")
        ),
    ],
)
def test_what_cannot_be_done_says_so_by_class_and_method(name, ask, said):
    with pytest.raises(TypeError, match=said):
        ask(posterior_of(name))


@pytest.mark.parametrize("name", MAKERS)
def test_inputs_are_looked_at_whatever_is_asked(name):
    posterior = posterior_of(name)
    asked = ["predict", "mean", "variance"] + (["covariance", "joint"] if name in JOINT else [])
    for method in asked:
        with pytest.raises(ValueError, match=r"Xs must have shape \(n, 1\)"):
            getattr(posterior, method)(XS[:, [0, 0]])
        with pytest.raises(TypeError, match="noise must be True or False"):
            getattr(posterior, method)(XS, noise=1)
    if name in DRAWN:
        with pytest.raises(ValueError, match="num_samples must be a whole number from 0; got -1"):
            posterior.sample(XS, -1, rng=0)
        with pytest.raises(TypeError, match="rng must be"):
            posterior.sample(XS, rng=None)


@pytest.mark.parametrize("name", JOINT)
def test_a_covariance_that_has_no_room_is_refused(name, monkeypatch):
    posterior = posterior_of(name)
    posterior.predict(XS)  # while there is room for what a first prediction keeps
    monkeypatch.setattr(memory, "available", lambda like=None: 100)
    monkeypatch.setattr(memory, "_SMALL", 0)
    for method in ("covariance", "joint"):
        with pytest.raises(MemoryError, match="the predictive covariance of shape"):
            getattr(posterior, method)(XS)
    if name not in ("deep",):
        with pytest.raises(MemoryError, match="a chunk of rows of shape"):
            posterior.predict(XS, chunk=7)


def test_a_class_of_your_own_brings_its_moments_and_its_noise():
    class Flat(Posterior):
        def validate_inputs(self, Xs, name="Xs"):
            pass

        _noise = 0.5

        def _moments(self, Xs):
            return Xs[:, 0], np.ones(len(Xs))

    flat = Flat()
    np.testing.assert_array_equal(flat.predict(XS, noise=True)[1], 1.5)
    with pytest.raises(TypeError, match=r"Flat\.covariance: it has the variances of single"):
        flat.covariance(XS)
