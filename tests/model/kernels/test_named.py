"""Names for the parts of a sum, and what they are called wherever parameters have names."""

import copy
import pickle
from dataclasses import replace

import numpy as np
import pytest

import gpnotes as g
from gpnotes.ground import params
from gpnotes.model.kernels import Sum

TREND, SEASON = g.RBF(9.0, 5.0), g.Periodic(1.0, 1.3) * g.RBF(1.0, 9.0)
KERNEL = g.named(trend=TREND, season=SEASON)
X = np.linspace(0.0, 6.0, 40)[:, None]
Y = np.sin(6.3 * X[:, 0]) + 0.1 * X[:, 0] ** 2


def test_a_part_is_found_by_its_name():
    assert KERNEL.trend is TREND
    assert KERNEL.season is SEASON
    assert KERNEL.names == ("trend", "season")
    assert {"trend", "season"} <= set(dir(KERNEL))
    with pytest.raises(AttributeError, match="Sum has no attribute 'noise'; its parts are trend"):
        KERNEL.noise  # noqa: B018
    with pytest.raises(AttributeError, match=r"'trend'$"):
        (TREND + SEASON).trend  # noqa: B018


def test_a_name_changes_no_number():
    np.testing.assert_array_equal(KERNEL(X), (TREND + SEASON)(X))
    assert KERNEL != TREND + SEASON
    assert g.named(season=TREND, trend=SEASON) != KERNEL


def test_parameters_have_the_names_of_their_parts():
    model = g.GP(KERNEL + g.White(0.1), 0.1)
    assert params.names(model) == [
        "kernel.trend.variance", "kernel.trend.lengthscale", "kernel.season.parts.0.variance",
        "kernel.season.parts.0.lengthscale", "kernel.season.parts.0.period",
        "kernel.season.parts.1.variance", "kernel.season.parts.1.lengthscale",
        "kernel.parts.2.variance", "noise_var",
    ]  # fmt: skip
    vector, rebuild = params.flatten(model, fixed=["kernel.season", "kernel.parts.2"])
    assert vector.size == 3
    again = rebuild(vector + 1.0)
    assert again.kernel.season == SEASON
    assert again.kernel.trend.variance == pytest.approx(9.0 * np.e)
    assert again.kernel.names == ("trend", "season", "")
    bar = g.log_evidence_and_gradient(model, X, Y)[1]
    assert type(bar.kernel) is Sum
    assert params.holds_derivatives(bar.kernel.trend)
    plain = g.log_evidence_and_gradient(g.GP(TREND + SEASON + g.White(0.1), 0.1), X, Y)[1]
    np.testing.assert_array_equal(
        params.flatten_gradient(model, bar),
        params.flatten_gradient(g.GP(TREND + SEASON + g.White(0.1), 0.1), plain),
    )


def test_a_fit_takes_the_names_and_its_report_prints_them():
    found = g.fit(
        g.GP(KERNEL, 0.1), X, Y, fixed=["kernel.season.parts.1.variance"],
        bounds={"kernel.trend.lengthscale": (2.0, 8.0)},
        priors={"kernel.trend.variance": g.LogNormalPrior(0.0, 1.0)},
    )  # fmt: skip
    assert 2.0 <= found.model.kernel.trend.lengthscale <= 8.0
    assert "kernel.trend.variance" in str(found.report())
    assert "kernel.season.parts.0.period" in str(found.report())


def test_factors_have_names_as_summands_have():
    season = g.named_product(wave=SEASON.parts[0], decay=SEASON.parts[1])
    assert season.decay is SEASON.parts[1]
    assert {"wave", "decay"} <= set(dir(season))
    np.testing.assert_array_equal(season(X), SEASON(X))
    assert season != SEASON
    model = g.GP(g.named(trend=TREND, season=season), 0.1)
    assert params.names(model)[2:7] == [
        "kernel.season.wave.variance", "kernel.season.wave.lengthscale",
        "kernel.season.wave.period", "kernel.season.decay.variance",
        "kernel.season.decay.lengthscale",
    ]  # fmt: skip
    found = g.fit(model, X, Y, fixed=["kernel.season.wave"], max_steps=3)
    assert found.model.kernel.season.wave == season.wave
    assert found.model.kernel.season.decay != season.decay
    bar = g.log_evidence_and_gradient(model, X, Y)[1]
    assert params.holds_derivatives(bar.kernel.season.decay)
    with pytest.raises(AttributeError, match="Product has no attribute 'x'; its parts are wave, d"):
        season.x  # noqa: B018


def test_times_keeps_names():
    season = g.named_product(wave=g.Periodic(), decay=g.RBF())
    assert (season * g.Linear()).names == ("wave", "decay", "")
    assert (g.Linear() * season).names == ("", "wave", "decay")
    assert (season * g.named_product(line=g.Linear())).names == ("wave", "decay", "line")
    assert (g.Linear() * g.RBF()).names == ()
    assert (2.0 * season).kernel.wave == g.Periodic()
    assert season.on(0).kernel is season
    with pytest.raises(ValueError, match="names must be all different"):
        season * season


def test_plus_keeps_names():
    noisy = KERNEL + g.White(0.5) + g.named(level=g.Constant(2.0))
    assert noisy.names == ("trend", "season", "", "level")
    assert noisy.level == g.Constant(2.0)
    assert (g.White() + KERNEL).names == ("", "trend", "season")
    assert (TREND + SEASON).names == ()
    assert Sum((TREND, SEASON), ("", "")) == TREND + SEASON
    assert sum([KERNEL, g.White()]).names == ("trend", "season", "")


def test_the_representation_makes_it_again():
    scope = {**vars(g), "Sum": Sum}
    for kernel in (KERNEL, g.White() + KERNEL + g.Linear() + g.White() + g.named(a=g.RBF())):
        assert eval(repr(kernel), scope) == kernel
    season = g.named_product(wave=g.Periodic(), decay=KERNEL)
    for kernel in (season, KERNEL * season, season * (g.White() + g.RBF()), 2.0 * season + TREND):
        assert eval(repr(kernel), scope) == kernel
    assert repr(g.named(a=g.White(2.0), b=g.White())) == (
        "named(a=White(variance=2), b=White(variance=1))"
    )
    assert repr(2.0 * g.named(a=g.White())) == "2 * (named(a=White(variance=1)))"


def test_it_is_copied_pickled_replaced_and_saved(tmp_path):
    kernel = KERNEL + g.White()
    for again in (copy.copy(kernel), copy.deepcopy(kernel), pickle.loads(pickle.dumps(kernel))):
        assert again == kernel
        assert again.trend == TREND
    other = replace(kernel, parts=(SEASON, TREND, g.White()))
    assert other.trend == SEASON
    season = g.named_product(wave=g.Periodic(), decay=g.RBF())
    for one in (kernel, season):
        g.save(one, tmp_path / "kernel")
        assert g.load(tmp_path / "kernel") == one
    assert pickle.loads(pickle.dumps(season)).decay == g.RBF()


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: g.named(diag=TREND), ValueError, "names must be free; 'diag' is an attribute"),
        (lambda: g.named(parts=TREND), ValueError, "names must be free; 'parts' is an attribute"),
        (lambda: g.named(names=TREND), ValueError, "names must be free; 'names' is an attribute"),
        (lambda: g.named(_gram=TREND), ValueError, "names must be free; '_gram' is"),
        (lambda: g.named(mean=TREND), ValueError, "'mean' is the mean function's"),
        (lambda: g.named(**{"a b": TREND}), ValueError, "names must be words .*; got 'a b'"),
        (lambda: g.named(trend=3.0), TypeError, "trend must be a gpnotes Kernel; got float"),
        (lambda: g.named(), ValueError, "parts must hold at least one kernel"),
        (lambda: KERNEL + KERNEL, ValueError, "names must be all different; got .'trend', 'sea"),
        (lambda: Sum((TREND, SEASON), ("a",)), ValueError, "names must have 2 entries"),
        (lambda: Sum((TREND,), (3,)), TypeError, "names must be strings; got int"),
    ],
)  # fmt: skip
def test_what_cannot_be_a_name_is_refused(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_one_name_is_as_good_as_a_tuple_of_one():
    assert Sum((TREND,), "trend") == Sum([TREND], ["trend"]) == g.named(trend=TREND)
