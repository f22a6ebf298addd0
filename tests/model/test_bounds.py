"""Where a fit may look: what is given by name, and what follows from the data."""

import math
from dataclasses import dataclass, replace

import numpy as np
import pytest

from gpnotes import GP, RBF, ConstantMean, Linear, Periodic, White, fit
from gpnotes.ground.params import names, real
from gpnotes.model.bounds import ends, lengths_of, limits, spread, strides, touched, units
from gpnotes.model.kernels import Coregion, Cosine

X = np.asarray([[0.0, 5.0, 7.0], [2.0, 5.0, 7.1], [4.0, 5.0, 7.2]])
Y = np.asarray([9.0, 11.0, 10.0])


def reach(gp, x=X, y=Y):
    """The ends by the name of the entry, in logarithms."""
    return dict(zip(names(gp), map(tuple, ends(gp, spread(x, y)).tolist()), strict=True))


def given(gp, bounds=None, fixed=()):
    """The limits likewise."""
    pairs = limits(gp, bounds, fixed=fixed).tolist()
    return dict(zip(names(gp, fixed=fixed), map(tuple, pairs), strict=True))


def test_lengths_are_measured_by_the_columns_and_variances_by_the_observations(space):
    gp = GP(RBF(1.0, space.asarray([1.0, 2.0, 3.0])) + White(0.5), 0.1, ConstantMean(1.0))
    extremes = reach(gp, x=space.asarray(X), y=space.asarray(Y))
    narrowest, widest = np.log(0.2 * 1e-5), np.log(4.0 * 1e5)
    for k in range(3):
        assert extremes[f"kernel.parts.0.lengthscale[{k}]"] == pytest.approx(
            (narrowest, widest), abs=1e-5
        )
    eps = np.finfo(np.float64 if space.double else np.float32).eps
    low = math.log(eps * 2.0 / 3.0)
    for name in ("kernel.parts.0.variance", "kernel.parts.1.variance", "noise_var"):
        assert extremes[name] == pytest.approx((low, math.inf), abs=1e-5)
    assert extremes["mean.value"] == (-math.inf, math.inf)


def test_what_has_no_unit_stays_near_its_start():
    extremes = reach(GP(Periodic(1.0, 0.5) + Linear(2.0), 0.1))
    wide = math.log(1e10)
    for name, start in (("parts.0.lengthscale", 0.5), ("parts.1.variance", 2.0)):
        middle = math.log(start)
        assert extremes[f"kernel.{name}"] == pytest.approx((middle - wide, middle + wide))
    assert extremes["kernel.parts.0.period"] == pytest.approx((math.log(0.2e-5), math.log(4e5)))


def test_the_start_is_always_within():
    extremes = reach(GP(RBF(1e-30, 1e-9), 1e-40))
    assert extremes["kernel.variance"][0] == pytest.approx(math.log(1e-30))
    assert extremes["noise_var"][0] == pytest.approx(math.log(1e-40))
    assert extremes["kernel.lengthscale"][0] == pytest.approx(math.log(1e-9))
    assert reach(GP(RBF(1.0, 1e9), 0.1))["kernel.lengthscale"][1] == pytest.approx(math.log(1e9))


@pytest.mark.parametrize(
    ("y", "variance"),
    [
        (np.zeros(3), 1.0),
        (np.full(3, 3.0), 9.0),
        (np.full(3, 0.1), 0.01),
        (np.asarray([1e6 - 1e-3, 1e6, 1e6 + 1e-3]), 2e-6 / 3.0),
        (np.asarray([-1e150, 0.0, 1e150]), None),
    ],
)
def test_the_unit_of_a_variance_is_that_about_the_mean_where_there_is_one(y, variance):
    low, _ = reach(GP(RBF(), 1e290), y=y)["noise_var"]
    log = 2.0 * math.log(1e150) + math.log(2 / 3) if variance is None else math.log(variance)
    assert low == pytest.approx(log + math.log(np.finfo(float).eps), abs=1e-3)


def test_inputs_of_one_place_say_nothing_of_lengths():
    extremes = reach(GP(RBF(), 0.1), x=np.ones((3, 2)))
    assert extremes["kernel.lengthscale"] == (-math.inf, math.inf)


def test_given_bounds_are_logarithms_of_what_is_positive_and_plain_for_what_is_real():
    gp = GP(RBF(1.0, np.ones(3)), 0.1, ConstantMean(0.3))
    bounds = {"kernel.lengthscale": (2, np.float64(4.0)), "mean.value": [-1.0, 0.0]}
    bounds_given = given(gp, bounds, fixed=["noise_var"])
    for k in range(3):
        assert bounds_given[f"kernel.lengthscale[{k}]"] == pytest.approx(
            (math.log(2.0), math.log(4.0))
        )
    assert bounds_given["mean.value"] == (-1.0, 0.0)
    assert "noise_var" not in bounds_given
    assert bounds_given["kernel.variance"] == (-math.inf, math.inf)


@pytest.mark.parametrize("pair", [(1.0, 1.0), np.asarray([1.0, 2.0])])
def test_an_interval_may_be_a_point_or_an_array(pair):
    assert given(GP(RBF(), 0.1), {"noise_var": pair})["noise_var"] == tuple(np.log(pair))


@pytest.mark.parametrize("pair", [(2.0, 1.0), (0.0, 1.0), (-1.0, 1.0), (np.nan, 1.0), (1.0, np.inf),
                                  (1.0,), (1.0, 2.0, 3.0), ()])  # fmt: skip
def test_what_is_no_interval_is_a_wrong_value(pair):
    with pytest.raises(
        ValueError, match=r"bounds\['noise_var'\] must be 0 < low <= high, with None"
    ):
        given(GP(RBF(), 0.1), {"noise_var": pair})


@pytest.mark.parametrize("pair", [(2.0, 1.0), (np.nan, 1.0), (-np.inf, np.inf), (1.0,)])
def test_what_is_no_interval_of_any_sign_is_a_wrong_value(pair):
    with pytest.raises(ValueError, match=r"bounds\['mean.value'\] must be low <= high, with None"):
        given(GP(RBF(), 0.1, ConstantMean(1.0)), {"mean.value": pair})


@pytest.mark.parametrize("pair", ["ab", ("1", "2"), 3.0, None, (True, 2.0), {1.0, 2.0}])
def test_what_is_no_pair_of_numbers_is_a_wrong_type(pair):
    with pytest.raises(TypeError, match=r"bounds\['noise_var'\]"):
        given(GP(RBF(), 0.1), {"noise_var": pair})


@pytest.mark.parametrize("bounds", [{"noise": (1.0, 2.0)}, {3: (1.0, 2.0)}, {"kernel": (1.0, 2.0)}])
def test_names_that_are_not_there_are_told_with_those_that_are(bounds):
    with pytest.raises(ValueError, match=r"bounds name \[.*\]; the parameters are \['kernel.leng"):
        given(GP(RBF(), 0.1), bounds)


def test_entries_on_an_end_are_named_and_those_of_a_point_are_not():
    gp = GP(RBF(), 0.1)
    box = np.asarray([[0.0, 1.0], [0.0, 1.0], [0.5, 0.5]])
    assert touched(gp, np.asarray([0.0, 0.5, 0.5]), box) == ("kernel.variance",)
    assert touched(gp, np.asarray([0.5, 1.0, 0.5]), box) == ("kernel.lengthscale",)
    assert touched(gp, np.asarray([0.5, 0.999, 0.5]), box) == ()


@pytest.mark.parametrize(
    ("pair", "wanted"),
    [
        ((1e-6, None), (math.log(1e-6), math.inf)),
        ((None, 2.0), (-math.inf, math.log(2.0))),
        ((None, None), (-math.inf, math.inf)),
    ],
)
def test_an_end_may_be_open(pair, wanted):
    found = limits(GP(RBF(), 0.1, ConstantMean(0.0)), {"noise_var": pair})
    np.testing.assert_array_equal(found[2], wanted)
    for wrong in ((0.0, None), (None, -1.0), (2.0, 1.0), (None, math.nan)):
        with pytest.raises(ValueError, match="0 < low <= high, with None for an end that is open"):
            limits(GP(RBF(), 0.1), {"noise_var": wrong})


def test_a_fit_stays_within_an_end():
    X = np.linspace(0.0, 3.0, 12)[:, None]
    bounds = {"noise_var": (0.5, None), "kernel.lengthscale": (None, 0.7)}
    found = fit(GP(RBF(1.0, 0.6), 0.6), X, np.sin(X[:, 0]), bounds=bounds)
    assert found.model.noise_var == pytest.approx(0.5)
    assert found.model.kernel.lengthscale <= 0.7
    assert "noise_var" in found.runs[0].at_bounds


def test_lengths_of_columns_are_deviations_times_the_root_of_their_number(rng):
    X = rng.normal(size=(9, 3)) * [1.0, 20.0, 0.0]
    wanted = X.std(axis=0) * math.sqrt(3.0)
    np.testing.assert_allclose(lengths_of(X), [wanted[0], wanted[1], 1.0])
    large = np.asarray([[1e200, 0.0], [-1e200, 3.0]])  # of which there is no square
    np.testing.assert_allclose(lengths_of(large), np.sqrt(2.0) * np.asarray([1e200, 1.5]))
    for lost, column in (([[1e-200, 2.0], [0.0, 1.0]], 0), ([[2.0, 1e-200], [1.0, 0.0]], 1)):
        with pytest.raises(ValueError, match=rf"got 1e-200 in column {column}"):
            lengths_of(np.asarray(lost))


def test_spreads_of_two_parts_add_up_to_that_of_all_rows(rng):
    X, y = rng.normal(size=(11, 2)) * [1.0, 30.0], 5.0 + rng.normal(size=11)
    whole, sum_of_parts = spread(X, y), spread(X[:4], y[:4]) + spread(X[4:], y[4:])
    assert (sum_of_parts.count, whole.count) == (11, 11)
    for name in ("low", "high", "mean", "deviation"):
        np.testing.assert_allclose(getattr(sum_of_parts, name), getattr(whole, name), rtol=1e-13)
    rows = np.column_stack([X, y])
    np.testing.assert_allclose(whole.deviation, rows.std(axis=0), rtol=1e-13)
    np.testing.assert_array_equal([whole.low, whole.high], [rows.min(axis=0), rows.max(axis=0)])
    assert whole.rounding == np.finfo(float).eps


@pytest.mark.parametrize("far", [1e5, -99999.0, 1e30, 1e200])
def test_a_row_far_off_does_not_widen_the_others(rng, far):
    """As a -99999 for a gap did: of a normal column the middle half has 1.35 deviations."""
    X, y = rng.normal(size=(400, 2)) * [1.0, 5.0], rng.normal(size=400)
    X[7, 1] = far
    np.testing.assert_allclose(spread(X, y).columns, [1.0, 5.0], rtol=0.15)
    np.testing.assert_allclose(lengths_of(X), np.sqrt(2.0) * spread(X, y).columns)
    np.testing.assert_allclose(spread(X[:7], y[:7]).columns, X[:7].std(axis=0))


def test_a_column_whose_middle_half_is_one_number_keeps_its_deviation(rng):
    X = np.where(np.arange(40) < 8, 1e6 * rng.normal(size=40), 3.0)[:, None]
    np.testing.assert_allclose(spread(X, X[:, 0]).columns, X.std(axis=0))


def test_columns_of_heavy_tails_keep_their_deviation(rng):
    X, y = np.exp(rng.normal(size=(200, 1))), rng.normal(size=200)
    np.testing.assert_allclose(spread(X, y).columns, X.std(axis=0))


def test_what_a_spread_says_of_columns_and_of_y():
    of = spread(X, Y)
    np.testing.assert_allclose(of.columns, [X[:, 0].std(), 1.0, X[:, 2].std()])
    assert of.unit == pytest.approx(Y.std())
    assert replace(of, latent=True).unit == 1.0
    assert [spread(X, y).constant for y in (Y, np.full(3, 2.0))] == [False, True]
    assert not spread(X[:1], Y[:1]).constant  # one reading is no sign of it
    assert spread(X, np.full(3, -2.0)).unit == 2.0
    assert spread(X, np.zeros(3)).unit == 1.0
    assert spread(X, np.asarray([1.0, 1.0, 1.0 + 4e-16])).unit == pytest.approx(1.0)


def test_units_and_strides_of_what_has_any_sign():
    kernel = Cosine(np.asarray([0.3, 0.0, -4.0])) * RBF(2.0)
    gp = GP(kernel, 0.1, ConstantMean(300.0))
    deviation = float(Y.std())
    of = spread(X, Y)
    by_name = dict(zip(names(gp), zip(units(gp, of), strides(gp, of), strict=True), strict=True))
    assert by_name.pop("mean.value") == (pytest.approx(deviation), pytest.approx(deviation))
    waves = [by_name.pop(f"kernel.parts.0.frequency[{k}]") for k in range(3)]
    assert waves == [(0.3, 0.3), (1.0, 1.0), (4.0, 4.0)]
    assert set(by_name.values()) == {(1.0, 1.0)}  # logarithms
    weights = Coregion(np.asarray([[0.5], [-30.0]]), np.ones(2)).on(0)
    found = dict(zip(names(weights), strides(weights, of), strict=True))
    assert [v for k, v in found.items() if "weights" in k] == pytest.approx([deviation] * 2)

    @dataclass(frozen=True)
    class Own:
        """Numbers without a unit."""

        large: float = real(-5.0)
        small: float = real(0.3)

    assert strides(Own(), of).tolist() == [5.0, 1.0]
    held = strides(gp, of, fixed=["kernel", "noise_var"])
    assert held == pytest.approx([deviation])
    assert units(gp, of, fixed=["kernel", "noise_var"]) == pytest.approx([deviation])
