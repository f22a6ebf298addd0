"""Open parameters start at the numbers that `started` promises, each of them by itself."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import pytest

from gpnotes import (
    GP,
    RBF,
    Bernoulli,
    Constant,
    ConstantMean,
    Gaussian,
    HeteroscedasticGP,
    LaplaceGP,
    Linear,
    Matern52,
    Periodic,
    StudentT,
    White,
)
from gpnotes.ground.params import left_open, positive, settle
from gpnotes.model.bounds import spread
from gpnotes.model.kernels import (
    ArcCosine,
    Cosine,
    IntegratedWiener,
    OnSphere,
    Polynomial,
    Sum,
    Wiener,
    WithGradients,
    gradients_at,
    values_at,
)
from gpnotes.model.kernels.derivatives import GradientNoise
from gpnotes.model.starts import noise_is_open, out_of_scale, started

N = 40


@pytest.fixture
def data(rng):
    """Three columns of unlike units, the last of them constant, and y with a mean."""
    X = np.stack([0.5 + 0.1 * rng.normal(size=N), 30.0 * rng.normal(size=N), np.full(N, 7.0)])
    return X.T, 4.0 + 3.0 * rng.normal(size=N)


@pytest.fixture
def begun(data):
    """A function of a kernel, or a model, that gives the one that a fit would start with."""

    def start(given, **options):
        whole = isinstance(given, GP) or hasattr(given, "gp")
        found = started(given if whole else GP(given), spread(*data), data[0], **options)
        return found if whole else found.kernel

    return start


def test_lengths_are_the_deviations_times_the_root_of_their_number(data, begun):
    kernel = begun(Matern52())
    wanted = math.sqrt(3.0) * np.asarray([*np.std(data[0], axis=0)[:2], 1.0])
    np.testing.assert_allclose(kernel.lengthscale, wanted, rtol=1e-12)
    assert kernel.variance == pytest.approx(np.var(data[1]), rel=1e-12)
    one = begun(RBF().on(1)).kernel.lengthscale
    assert type(one) is float
    assert one == pytest.approx(np.std(data[0][:, 1]), rel=1e-12)


def test_noise_is_a_tenth_and_a_mean_the_average(data, begun):
    model = begun(GP(RBF(), mean=ConstantMean()))
    assert model.noise_var == pytest.approx(0.1 * np.var(data[1]), rel=1e-12)
    assert model.mean.value == pytest.approx(np.mean(data[1]), rel=1e-12)
    assert not left_open(model)
    assert begun(GP(RBF(), mean=ConstantMean(2.0))).mean.value == 2.0


def test_what_is_given_stays_and_is_the_same_object(begun):
    given = GP(RBF(2.0, 3.0) + Linear(1.0).on(0), 0.5, ConstantMean(1.0))
    assert begun(given) is given
    half = begun(RBF(lengthscale=3.0))
    assert half.lengthscale == 3.0
    assert half.variance > 1.0
    kernel = RBF(2.0, 3.0)
    assert begun(GP(kernel, mean=ConstantMean(1.0))).kernel is kernel
    for one in (2.0 * RBF(1.0, 1.0), RBF(1.0, 1.0) ** 2, Periodic(1.0, 1.0, 1.0), Linear(2.0)):
        assert begun(one) is one


@pytest.mark.parametrize("wrong", [0.0, math.inf])
def test_y_without_a_finite_variance_gives_no_start(data, wrong):
    X, y = data
    of = spread(X, y)
    deviation = np.asarray([*of.deviation[:-1], math.sqrt(wrong)])
    of = replace(of, deviation=deviation, rounding=-1.0)
    model = GP(RBF())
    assert started(model, of, X) is model


def test_terms_share_the_variance_and_one_factor_has_it(data, begun):
    var = float(np.var(data[1]))
    summed = begun(RBF() + White() + 2.0 * Constant())
    assert [summed.parts[i].variance for i in (0, 1)] == pytest.approx([var / 3.0] * 2)
    assert summed.parts[2].kernel.variance == 1.0  # the multiple is its scale, and was given
    assert begun(RBF() * Matern52()).parts[0].variance == pytest.approx(var)
    assert begun(RBF() * Matern52()).parts[1].variance == 1.0
    for kernel in (RBF() * Matern52(2.0), RBF() * (3.0 * Matern52())):
        assert begun(kernel).parts[0].variance == 1.0  # one has its own
    assert begun(Cosine() * RBF()).parts[1].variance == pytest.approx(var)  # a cosine has none
    inner = begun(RBF() * (Linear(1.0) + White())).parts
    assert (inner[0].variance, inner[1].parts[1].variance) == (1.0, 0.5)


def test_of_a_multiple_of_all_numbers_the_factor_has_the_variance(data, begun):
    found = begun(2.0 * RBF(3.0, 0.5), every=True)
    assert found.scale == pytest.approx(np.var(data[1]))
    assert found.kernel.variance == 1.0
    product = begun(RBF(3.0, 0.5) * White(2.0), every=True)
    assert product.parts[0].variance == pytest.approx(np.var(data[1]))
    assert product.parts[1].variance == 1.0


def test_a_start_of_all_numbers_keeps_their_shapes_and_zeros(data, begun):
    found = begun(GP(RBF(2.0, 3.0), 0.0, ConstantMean(1.0)), every=True)
    wanted = math.sqrt(3.0) * np.asarray([*np.std(data[0], axis=0)[:2], 1.0])
    assert found.kernel.lengthscale == pytest.approx(np.prod(wanted) ** (1.0 / 3.0), rel=1e-12)
    assert found.noise_var == 0.0
    assert found.mean.value == pytest.approx(np.mean(data[1]))
    several = begun(RBF(2.0, np.asarray([1.0, 2.0, 3.0])), every=True)
    np.testing.assert_allclose(several.lengthscale, wanted, rtol=1e-12)


def test_slopes_of_a_line_have_the_variance_of_y_over_the_rows(data, begun):
    kernel = begun(Linear())
    assert np.mean(kernel.diag(data[0])) == pytest.approx(np.var(data[1]), rel=1e-12)
    shares = np.mean(kernel.variance * data[0] ** 2, axis=0)
    np.testing.assert_allclose(shares, shares[0], rtol=1e-12)
    X = np.stack([np.zeros(N), data[0][:, 0]], axis=1)  # of what is zero there is no size
    slopes = started(GP(Linear()), spread(X, data[1]), X).kernel.variance
    assert slopes[0] == pytest.approx(0.5 * np.var(data[1]), rel=1e-12)


def test_powers_of_inner_products_start_at_the_variance_of_y(data, begun):
    X, y = data
    x = np.sqrt(np.mean(X**2, axis=0))[None, :]
    for kernel in (Polynomial(), Polynomial(degree=3), ArcCosine(), ArcCosine(2.0, order=2)):
        np.testing.assert_allclose(begun(kernel).diag(x), np.var(y), rtol=1e-9)
    assert begun(ArcCosine()).variance == begun(ArcCosine(order=2)).variance == 1.0
    halves = begun(Polynomial())
    assert halves.variance * np.sum(x**2) == pytest.approx(halves.bias)
    assert begun(Polynomial(bias=0.0)).bias == 0.0
    for kernel in (ArcCosine(order=0), ArcCosine(), ArcCosine(2.0, order=2)):
        neurons = begun(kernel)
        shares = neurons.weight_variance * x[0] ** 2
        np.testing.assert_allclose(shares, neurons.bias_variance / 3.0, rtol=1e-12)
    steps = begun(ArcCosine(order=0))
    assert steps.variance == pytest.approx(np.var(y))
    assert steps.bias_variance == 0.5
    given = Polynomial(1.0, 0.0), ArcCosine(1.0, 2.0, 3.0), Cosine(0.5)
    assert tuple(map(begun, given)) == given


def test_a_power_has_the_variance_of_the_whole(data, begun):
    kernel = begun(RBF() ** 3)
    assert kernel.diag(data[0]) == pytest.approx(np.var(data[1]), rel=1e-9)


def test_a_wave_turns_once_over_an_even_spread(rng):
    """Of two columns that are, over both of them √2 times slower in each."""
    even = np.stack([np.linspace(-3.0, 5.0, 1001), np.linspace(0.0, 100.0, 1001)], axis=1)
    y = rng.normal(size=1001)
    one = started(GP(Cosine()), spread(even[:, :1], y), even).kernel
    assert one.frequency == pytest.approx(1.0 / 8.0, rel=2e-3)
    two = started(GP(Cosine()), spread(even, y), even).kernel
    np.testing.assert_allclose(two.frequency, np.asarray([0.125, 0.01]) / 2**0.5, rtol=2e-3)


@pytest.mark.parametrize("kernel", [Wiener(), IntegratedWiener(), Wiener(origin=-9.0)], ids=repr)
def test_what_wanders_gains_the_variance_of_y_over_an_even_spread(kernel, rng):
    even, y = np.linspace(0.0, 8.0, 1001)[:, None], rng.normal(size=1001)
    found = started(GP(kernel), spread(even, y), even).kernel
    assert found.origin == kernel.origin
    gained = replace(found, origin=0.0).diag(np.asarray([[8.0]]))
    assert gained[0] == pytest.approx(np.var(y), rel=5e-3)
    assert started(GP(Wiener(2.0)), spread(even, y), even).kernel == Wiener(2.0)


def test_a_period_and_lengths_in_turns_stay(data, begun):
    kernel = begun(Periodic())
    assert (kernel.lengthscale, kernel.period) == (1.0, 1.0)
    assert kernel.variance == pytest.approx(np.var(data[1]))


@pytest.mark.parametrize(
    ("latitude", "wide", "east"),
    [(60.0, 1.0, 0.5), (-60.0, 1.0, 0.5), (0.0, 2.0, 1.0), (10.0, 200.0, None)],
)
def test_on_a_sphere_there_is_one_length_on_the_ground(latitude, wide, east, rng):
    """At sixty degrees a degree of longitude counts half; no length exceeds the radius."""
    places = np.asarray([0.5, 2.0]) * rng.normal(size=(N, 2))
    places -= np.mean(places, axis=0)
    north, off = np.std(places, axis=0)
    radius, y = 10.0, rng.normal(size=N)
    X = np.stack([latitude + 1e-3 * places[:, 0], wide * places[:, 1]], axis=1)
    kernel = started(GP(OnSphere(RBF(), radius)), spread(X, y), X).kernel.kernel
    wanted = radius if east is None else radius * math.radians(east * wide * off)
    assert type(kernel.lengthscale) is float
    assert kernel.lengthscale == pytest.approx(wanted, rel=1e-3)
    X = np.stack([latitude + places[:, 0], 1e-3 * places[:, 1]], axis=1)
    kernel = started(GP(OnSphere(RBF(), radius)), spread(X, y), X).kernel.kernel
    assert kernel.lengthscale == pytest.approx(radius * math.radians(north), rel=1e-3)
    given = OnSphere(RBF(1.0, 1.0))
    assert started(GP(given), spread(X, y), X).kernel is given


@pytest.mark.parametrize("labels", [gradients_at, values_at, None])
@pytest.mark.parametrize("kernel", [RBF(), Matern52() + Linear()], ids=repr)
def test_values_and_derivatives_have_the_variance_of_y_in_any_units(kernel, labels, rng):
    x = rng.normal(size=(N, 2)) * np.asarray([1e-4, 30.0])
    x -= x.mean(axis=0)  # so that slopes of lines have the mean square of the columns' middle
    both = np.concatenate([values_at(x), gradients_at(x)])
    rows = both if labels is None else labels(x)
    y = 1e5 * rng.normal(size=len(rows))
    found = started(GP(WithGradients(kernel)), spread(rows, y), rows).kernel
    assert np.mean(found.diag(rows)) == pytest.approx(np.var(y), rel=1e-9)
    one = found.kernel.parts[0] if isinstance(kernel, Sum) else found.kernel
    np.testing.assert_allclose(one.lengthscale, math.sqrt(2.0) * np.std(x, axis=0), rtol=1e-9)


def test_numbers_of_labelled_rows_that_are_given_and_the_noise_of_slopes_stay(begun, rng):
    x = rng.normal(size=(N, 2))
    for kernel in (WithGradients(RBF(2.0, 3.0)), GradientNoise()):
        rows, y = gradients_at(x), rng.normal(size=2 * N)
        assert started(GP(kernel), spread(rows, y), rows).kernel is kernel
    flat = WithGradients(Constant())  # has no slopes that y could have
    found = started(GP(flat), spread(rows, y), rows).kernel.kernel
    assert found.variance == pytest.approx(np.var(y))


def test_a_latent_function_has_the_variance_one_and_no_noise(data):
    X, y = data
    of = replace(spread(X, y), latent=True)
    model = started(LaplaceGP(GP(RBF(), mean=ConstantMean()), Bernoulli()), of, X)
    assert (model.gp.kernel.variance, model.gp.noise_var, model.gp.mean.value) == (1.0, 0.0, 0.0)
    assert model.gp.kernel.lengthscale[1] == pytest.approx(math.sqrt(3.0) * np.std(X[:, 1]))
    alone = started(GP(RBF(), mean=ConstantMean()), of, X)
    assert (alone.kernel.variance, alone.noise_var, alone.mean.value) == (1.0, 0.0, 0.0)


def test_the_scale_of_a_likelihood_is_that_of_noise(data, begun):
    noise = 0.1 * np.var(data[1])
    heavy = begun(LaplaceGP(GP(RBF()), StudentT()))
    assert heavy.likelihood.scale == pytest.approx(math.sqrt(noise))
    assert heavy.gp.noise_var == 0.0  # it has its noise there
    assert begun(LaplaceGP(GP(RBF()), Gaussian())).likelihood.variance == pytest.approx(noise)
    given = LaplaceGP(GP(RBF(1.0, 1.0)), StudentT(scale=2.0))
    assert begun(given) is given


def test_the_process_of_the_log_noise_has_the_variance_one(data, begun):
    model = begun(HeteroscedasticGP(GP(RBF()), RBF()))
    assert model.noise_kernel.variance == 1.0
    assert model.noise_kernel.lengthscale == pytest.approx(model.gp.kernel.lengthscale)
    assert model.gp.noise_var == pytest.approx(0.1 * np.var(data[1]))
    given = HeteroscedasticGP(GP(RBF(1.0, 1.0), 0.1), RBF(1.0, 1.0))
    assert begun(given) is given


def test_noise_is_open_where_a_process_has_none():
    assert noise_is_open(GP(RBF()))
    assert noise_is_open(LaplaceGP(GP(RBF()), Bernoulli()))
    assert not noise_is_open(GP(RBF(), 0.0))
    assert left_open(Noisy()) == ("noise_var",)
    assert not noise_is_open(Noisy())  # of no process


# Far off


@dataclass(frozen=True)
class Bare:
    """A model of a stranger: a number without a unit."""

    level: float = positive()


@dataclass(frozen=True)
class Noisy:
    """Another, with noise of its own."""

    noise_var: float = positive(1.0, unit="y²")

    def __post_init__(self):
        settle(self)


@pytest.fixture
def off(data):
    """A function of a model that says whether its numbers are far from the data's."""
    of = spread(*data)
    return lambda model, **said: out_of_scale(model, replace(of, **said), data[0])


@pytest.mark.parametrize("factor", [0.99 / 100.0, 1.01 / 100.0, 0.99 * 100.0, 1.01 * 100.0])
def test_a_length_is_far_off_from_a_hundred_times(begun, off, factor):
    at = begun(GP(RBF(), mean=ConstantMean()))
    far = factor in (0.99 / 100.0, 1.01 * 100.0)
    one = np.asarray([1.0, factor, 1.0])  # of one column is enough
    for by in (factor, one):
        kernel = replace(at.kernel, lengthscale=by * at.kernel.lengthscale)
        assert off(replace(at, kernel=kernel)) is far
        assert not off(replace(at, kernel=kernel + replace(at.kernel, variance=1.0)))


@pytest.mark.parametrize("far", [False, True])
def test_variances_are_far_off_above_the_square_of_y_and_below_its_variance(data, off, far):
    X, y = data
    lengths = np.std(X, axis=0) + np.asarray([0.0, 0.0, 1.0])
    top, bottom = 1e4 * np.mean(y**2), 1e-4 * np.var(y)
    more = 1.01 if far else 0.99
    assert off(GP(RBF(more * top, lengths), 1.0)) is far
    assert off(GP(RBF(1.0, lengths), more * top)) is far
    assert off(GP(RBF(bottom / more, lengths), bottom / more)) is far
    assert not off(GP(RBF(bottom / more, lengths), 1.0))  # one is large enough
    # of a latent f the unit is unknown, and of log noise it is none
    assert not off(GP(RBF(more * top, lengths), 1.0), latent=True)
    assert not off(HeteroscedasticGP(GP(RBF(1.0, lengths), 1.0), RBF(more * top, lengths)))


def test_numbers_without_a_unit_are_never_far_off(off):
    """No variance is none too large."""
    assert not off(Bare(1e-30))
    assert not off(Bare(1e30))
    assert off(Noisy(1e-9))
