"""Fits, predictions and draws of deep processes; what is refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from gpnotes import (
    GP,
    RBF,
    Bernoulli,
    Gaussian,
    Poisson,
    StudentT,
    condition,
    fit,
    log_evidence,
    log_evidence_and_gradient,
    stream,
    to_numpy,
)
from gpnotes.ground import memory
from gpnotes.ground.chunks import Chunks
from gpnotes.infer import deep, interdomain, svgp
from gpnotes.infer.deep import evidence_lower_bound
from gpnotes.infer.deep.model import posterior_of
from gpnotes.infer.svgp.posterior import marginals as svgp_marginals
from gpnotes.model.kernels import CircularRBF
from gpnotes.model.means import BasisMean, Powers

from .conftest import narrow, two_layers


def step(rng, n=60):
    X = rng.uniform(-2.0, 2.0, (n, 1))
    return X, np.where(X[:, 0] > 0.3, 1.0, -1.0) + 0.1 * rng.normal(size=n)


def shallow(X, y, size=10):
    Z = np.linspace(-2.0, 2.0, size)[:, None]
    return fit(svgp.SVGP(GP(RBF(), 0.0), Gaussian(0.1), Z), X, y, fixed=("inducing",))


def test_a_fit_gains_by_depth_where_a_function_has_a_step(rng):
    X, y = step(rng)
    flat = shallow(X, y)
    model = deep.with_inner_layers(flat.posterior, [RBF()], num_samples=5)
    found = fit(model, X, y, fixed=model.places)
    assert found.log_evidence > flat.log_evidence + 5.0
    assert found.runs[0].converged or found.runs[0].evaluations > 100
    Xs, ys = step(rng, 200)
    flat_score = np.mean(flat.posterior.log_density(Xs, ys))
    assert np.mean(found.posterior.log_density(Xs, ys)) > flat_score


def test_a_report_is_of_hyperparameters_and_not_of_q(rng):
    X, y = step(rng, 20)
    model = deep.with_inner_layers(shallow(X, y, 4).posterior, [RBF()], num_samples=2)
    found = fit(model, X, y, fixed=model.places, max_steps=20)
    rows = [row.name for row in found.report().hyperparameters]
    assert len(rows) == 5
    assert {"likelihood.variance", "layers.0.0.gp.kernel.lengthscale"} < set(rows)
    assert "weights" not in str(found)


def test_a_fit_over_chunks(rng):
    X, y = step(rng, 20)
    model = deep.with_inner_layers(shallow(X, y, 5).posterior, [RBF()], num_samples=2)
    begin = deep.elbo(model, X, y, deep.quadrature_noise(model))
    found = fit(model, Chunks([(X[:12], y[:12]), (X[12:], y[12:])]), max_steps=10)
    assert deep.elbo(found.model, X, y, deep.quadrature_noise(model)) > begin


def test_predictions_and_bounds_hold_a_few_rows_at_a_time(rng, monkeypatch):
    """A hundred draws of each row made matrices of a gigabyte for twenty thousand of them."""
    X, y = step(rng, 30)
    model = deep.with_inner_layers(shallow(X, y, 5).posterior, [RBF(), RBF()], num_samples=4)
    posterior = deep.DeepPosterior(model)
    whole = (*posterior.predict(X), posterior.log_density(X, y), deep.elbo(model, X, y))
    seen = []

    def counted(q, H):
        seen.append(H.shape[0])
        return svgp_marginals(q, H)

    monkeypatch.setattr(evidence_lower_bound, "marginals", counted)
    monkeypatch.setattr(memory, "ENTRIES", 100 * 5 * 4)
    in_parts = (*posterior.predict(X), posterior.log_density(X, y), deep.elbo(model, X, y))
    assert max(seen) <= 400
    for part, one in zip(in_parts, whole, strict=True):
        np.testing.assert_allclose(part, one, rtol=1e-12)


def test_rows_of_chunks_that_do_not_fit_are_refused(rng):
    X, y = step(rng, 20)
    model = deep.with_inner_layers(shallow(X, y, 5).posterior, [RBF()])
    bad = {
        "columns": (np.hstack([X, X]), y),
        "short": (X, y[:1]),
        "kind": (X.astype(np.float32), y.astype(np.float32)),
        "unknown": (X, np.full(20, np.nan)),
    }
    for chunk in bad.values():
        for verb in (log_evidence, log_evidence_and_gradient):
            with pytest.raises(ValueError, match=r"chunk 1 of chunks failed: \w+: [Xy] must"):
                verb(model, Chunks([(X, y), chunk]))


@pytest.mark.parametrize("of_data", [True, False])
def test_inner_layers_know_the_columns_in_whose_order_the_places_stand(rng, of_data):
    frame = pd.DataFrame(rng.uniform(-1.0, 1.0, (12, 2)), columns=["height", "width"])
    y, turned = frame["width"].to_numpy(), frame[["width", "height"]]
    gp, places = GP(RBF(1.0, np.asarray([1.0, 3.0])), 0.0), frame[::3]
    top = svgp.SVGP(gp, Gaussian(0.1), places.to_numpy() if of_data else places)
    posterior = condition(top, frame, y) if of_data else svgp.initial_posterior(top)
    model = deep.with_inner_layers(posterior, [RBF()])
    assert model.input_columns == ("height", "width")
    assert log_evidence(model, turned, y) == log_evidence(model, frame, y)


def test_what_is_given_inner_layers_begins_at_the_bound_given_less_the_price(rng):
    X, y = step(rng, 20)
    flat = shallow(X, y, 6)
    model = deep.with_inner_layers(flat.posterior, [RBF(1e-12)])
    bound = deep.elbo(model, X, y, deep.quadrature_noise(model))
    price = 6 * 0.5 * (0.01 - 1.0 - np.log(0.01))
    assert bound == pytest.approx(flat.log_evidence - price, abs=1e-4)


def test_open_numbers_of_inner_layers_are_in_the_units_of_the_places():
    Z = np.asarray([[0.0, 0.0], [1.0, 500.0], [-1.0, 2000.0]])
    q = svgp.initial_posterior(svgp.SVGP(GP(RBF(), 0.0), Gaussian(0.1), Z))
    one, other = deep.with_inner_layers(q, [RBF()]).layers[0]
    np.testing.assert_allclose(one.gp.kernel.lengthscale, np.sqrt(2.0) * np.std(Z, axis=0))
    for column, unit in enumerate((one, other)):
        assert unit.gp.kernel.variance == pytest.approx(np.var(Z[:, column]))
    given = deep.with_inner_layers(q, [RBF(0.3, 2.0)]).layers[0][0].gp.kernel
    assert given == RBF(0.3, 2.0)


def test_a_deep_fit_does_not_depend_on_the_unit_of_x(rng):
    X, y = step(rng, 20)
    bounds = []
    for unit in (1.0, 1e3):
        Z = unit * np.linspace(-2.0, 2.0, 5)[:, None]
        flat = fit(svgp.SVGP(GP(RBF(), 0.0), Gaussian(), Z), unit * X, y, fixed=("inducing",))
        model = deep.with_inner_layers(flat.posterior, [RBF()], num_samples=2)
        bounds.append(fit(model, unit * X, y, fixed=model.places, max_steps=5).log_evidence)
    assert bounds[0] == pytest.approx(bounds[1], abs=1e-4)


@pytest.mark.parametrize("linear", [True, False])
def test_layers_begin_near_the_identity(space, linear):
    Z = space.asarray(np.asarray([[0.0, 0.0], [1.0, 0.5], [-1.0, 2.0]]))
    q = svgp.initial_posterior(svgp.SVGP(GP(RBF(), 0.0), Gaussian(0.1), Z))
    inner = deep.with_inner_layers(q, [RBF()], linear=linear).layers[0]

    for column, unit in enumerate(inner):
        mean = posterior_of(unit, Gaussian(0.1)).mean(Z)
        assert to_numpy(mean) == pytest.approx(to_numpy(Z)[:, column], abs=1e-4)


def test_predictions_are_those_of_many_draws():
    model = two_layers()
    Xs = np.random.default_rng(3).normal(size=(3, 2))
    posterior = deep.DeepPosterior(model, num_samples=4000)
    mean, variance = posterior.predict(Xs)
    draws = posterior.sample(Xs, 600, rng=stream(5))
    error = np.sqrt(variance / 600) * 1.3
    assert np.all(np.abs(draws.mean(0) - mean) < 4 * error)
    assert draws.var(0) == pytest.approx(variance, rel=0.25)
    noisy = posterior.predict(Xs, noise=True)[1]
    assert noisy == pytest.approx(variance + 0.3)


def test_log_densities_are_those_of_the_mixture(space):
    model = two_layers(asarray=space.asarray)
    rng = np.random.default_rng(3)
    Xs, ys = space.asarray(rng.normal(size=(4, 2))), space.asarray(rng.normal(size=4))
    posterior = deep.DeepPosterior(model, num_samples=6)
    means, variances = (to_numpy(a).astype(float) for a in posterior.components(Xs))
    v = variances + 0.3
    parts = np.exp(-0.5 * (to_numpy(ys) - means) ** 2 / v) / np.sqrt(2 * np.pi * v)
    found = posterior.log_density(Xs, ys)
    assert space.holds(found)
    assert to_numpy(found) == pytest.approx(
        np.log(parts.mean(0)), rel=1e-9 if space.double else 1e-3
    )
    assert posterior.mean(Xs[:0, :]).shape == (0,)


def test_a_composition_forgets_and_one_with_linear_means_does_not(space):
    X = space.asarray(np.linspace(-1.0, 1.0, 9)[:, None])
    flat, kept = [], []
    for seed in range(20):
        for found, mean in ((flat, GP(RBF(), 0.0).mean), (kept, deep.Coordinate())):
            layers = [GP(RBF(0.25, 1.0), 0.0, mean)] * 8
            values = deep.compose(layers, X, rng=stream(seed))
            assert len(values) == 8
            assert space.holds(values[-1])
            found.append(float(np.ptp(to_numpy(values[-1]))))
    assert np.median(flat) < 0.1 < 0.5 < np.median(kept)


UNIT = narrow().layers[0][0]
PLAIN = svgp.initial_posterior(svgp.SVGP(GP(RBF(), 0.0), Gaussian(0.1), np.zeros((1, 1))))


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: replace(UNIT, scales=-UNIT.scales), "scales must be positive"),
        (lambda: replace(UNIT, couplings=np.zeros(7)), "couplings must have shape"),
        (lambda: replace(UNIT, Z=np.zeros((0, 1))), "Z must have at least one row"),
        (lambda: replace(UNIT, gp=GP(RBF(), 0.1)), "gp.noise_var must be 0"),
        (lambda: replace(UNIT, weights=np.asarray([np.nan, 0.0])), "weights must be finite"),
        (lambda: deep.DeepGP((), Gaussian(0.1)), "layers must hold units"),
        (lambda: deep.DeepGP(((UNIT, UNIT),), Gaussian(0.1)), "the last of them one"),
        (lambda: deep.DeepGP(((UNIT, UNIT), (UNIT,)), Gaussian(0.1)), r"layers\[1\]\[0\].Z must"),
        (lambda: deep.DeepGP(((UNIT,),), Gaussian(0.1), num_samples=0), "num_samples must be"),
        (lambda: deep.elbo(narrow(), np.zeros((3, 2)), np.zeros(3)), "X must have shape"),
        (lambda: deep.elbo(narrow(), np.zeros((3, 1)), np.zeros(2)), "y must have shape"),
        (lambda: deep.elbo(narrow(), np.zeros((0, 1)), np.zeros(0)), "X must have at least one"),
        (lambda: deep.elbo(narrow(), np.zeros((3, 1)), np.zeros(3), total=2), "total must be"),
        (lambda: deep.elbo(narrow(), np.zeros((3, 1)), np.zeros(3),
                           deep.draw_noise(narrow(), 2, 3, rng=stream(0))), "noise must hold"),
        (lambda: deep.Noise((np.zeros((2, 3, 1)),), np.asarray([0.7, 0.7])), "sum to 1"),
        (lambda: deep.Noise((np.zeros((3, 3, 1)),), np.asarray([0.5, 0.5])), "must have shape"),
        (lambda: deep.quadrature_noise(two_layers(), 350), "at most 100000 paths"),
        (lambda: deep.compose([], np.zeros((1, 1)), rng=stream(0)), "at least one GP"),
        (lambda: deep.Coordinate(1)(np.zeros((2, 1))), "more than 1 columns"),
        (lambda: deep.Coordinate(-1), "Coordinate.column must be"),
        (lambda: deep.DeepPosterior(narrow()).predict(np.zeros((1, 2))), "Xs must have shape"),
    ],
)  # fmt: skip
def test_what_does_not_go_together_is_refused(make, said):
    with pytest.raises(ValueError, match=said):
        make()


def test_what_is_of_another_kind_is_refused():
    with pytest.raises(TypeError, match="layers must be a tuple of tuples of Unit"):
        deep.DeepGP([[UNIT]], Gaussian(0.1))
    with pytest.raises(TypeError, match=r"gp\.mean must be known"):
        replace(UNIT, gp=GP(RBF(), 0.0, BasisMean(Powers(1))))
    harmonics = interdomain.Harmonics(np.asarray([0.0, 1.0]))

    q = svgp.initial_posterior(svgp.SVGP(GP(CircularRBF(), 0.0), Gaussian(0.1), harmonics))
    with pytest.raises(TypeError, match="inducing points"):
        deep.with_inner_layers(q, [RBF()])
    with pytest.raises(TypeError, match="kernels must be a sequence"):
        deep.with_inner_layers(PLAIN, RBF())


def test_draws_with_noise_have_its_variance_and_a_chance_is_that_of_the_mixture():
    Xs = np.random.default_rng(3).normal(size=(3, 2))
    posterior = deep.DeepPosterior(two_layers(), num_samples=5)
    f, y = (posterior.sample(Xs, 60, rng=stream(5), noise=noise) for noise in (False, True))
    assert f.shape == y.shape == (60, 3)
    np.testing.assert_allclose(np.mean(y - f), 0.0, atol=0.15)
    np.testing.assert_allclose(np.var(y - f), 0.3, rtol=0.3)
    assert posterior.sample(Xs, 0, rng=stream(5)).shape == (0, 3)
    labels = deep.DeepPosterior(two_layers(likelihood=Bernoulli()), num_samples=5)
    means, variances = labels.components(Xs)
    wanted = Bernoulli().probability(means.ravel(), variances.ravel()).reshape(5, 3).mean(axis=0)
    np.testing.assert_allclose(labels.probability(Xs), wanted, rtol=1e-12)


def test_each_unit_row_and_draw_of_each_layer_has_a_number_of_its_own():
    model = narrow(sizes=(2, 3, 4))
    noise = deep.draw_noise(model, 7, 5, rng=stream(2))
    numbers = np.concatenate([np.ravel(part) for part in noise.normals])
    assert np.unique(numbers).size == numbers.size == 2 * 7 * 5
    wide = deep.draw_noise(two_layers(), 7, 5, rng=stream(2)).normals[0]
    assert np.unique(wide).size == 2 * 7 * 5


@pytest.mark.parametrize("likelihood", [Poisson(), Bernoulli(), StudentT(0.4, 5.0)], ids=repr)
def test_moments_of_y_are_those_of_a_mixture_of_y(likelihood):
    """Not of a y around an f of the moments of the mixture, which is another where y bends."""
    Xs = np.random.default_rng(3).normal(size=(3, 2))
    posterior = deep.DeepPosterior(two_layers(likelihood=likelihood), num_samples=5)
    means, variances = (
        a.reshape(5, 3) for a in likelihood.predict(*map(np.ravel, posterior.components(Xs)))
    )
    mean, variance = posterior.predict(Xs, noise=True)
    np.testing.assert_allclose(mean, means.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(variance, variances.mean(axis=0) + means.var(axis=0), rtol=1e-12)


@pytest.mark.parametrize(
    ("normals", "weights", "said"),
    [
        ([np.zeros((2, 4, 2))], [1.5, -0.5], "weights must not be negative and must sum to 1"),
        ([np.zeros((2, 4, 2))], [0.5, 0.49], "weights must not be negative and must sum to 1"),
        ([np.zeros((2, 4))], [0.5, 0.5], r"normals\[0\] must have shape \(2, n, D\)"),
        ([np.zeros((3, 4, 2))], [0.5, 0.5], r"normals\[0\] must have shape \(2, n, D\)"),
        ([np.zeros((2, 4, 2))] * 2, [0.5, 0.5], r"inner layers of \[2\] units"),
        ([np.zeros((2, 4, 1))], [0.5, 0.5], r"inner layers of \[2\] units"),
        ([np.zeros((2, 3, 2))], [0.5, 0.5], "numbers of 4 rows, or of 1"),
    ],
)
def test_numbers_that_do_not_fit_the_inner_layers_are_refused(normals, weights, said):
    with pytest.raises(ValueError, match=said):
        deep.Noise(tuple(normals), np.asarray(weights)).validate(two_layers(), 4)


def test_a_rule_goes_all_ways_through_the_nodes_of_each_unit():
    """Of two units by three nodes each; a sum over it is exact for squares of the numbers."""
    rule = deep.quadrature_noise(two_layers(), 3)
    (normals,) = rule.normals
    assert normals.shape == (9, 1, 2)
    square = np.einsum("s,snd,sne->de", rule.weights, normals, normals)
    np.testing.assert_allclose(square, np.eye(2), atol=1e-12)
    one = deep.quadrature_noise(narrow(sizes=(2, 3, 2)), 2)
    assert [a.shape for a in one.normals] == [(4, 1, 1), (4, 1, 1)]


def test_inducing_inputs_whose_squares_overflow_are_named():
    """The variance of an inner kernel was, which starts as that of the inputs."""
    Z = np.asarray([[0.0], [1e160]])
    far = svgp.initial_posterior(svgp.SVGP(GP(RBF(1.0, 1e159), 0.0), Gaussian(0.1), Z))
    with pytest.raises(ValueError, match=r"^the inducing inputs of posterior must be smaller than"):
        deep.with_inner_layers(far, [RBF()])


def test_of_no_rows_there_are_no_log_densities():
    posterior = deep.DeepPosterior(two_layers())
    assert posterior.log_density(np.zeros((0, 2)), np.zeros(0)).shape == (0,)
