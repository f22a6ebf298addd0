"""Bounds, priors and what is held, by every name that a report prints."""

from __future__ import annotations

import numpy as np
import pytest

from gpnotes import GP, RBF, ConstantMean, LogNormalPrior, NormalPrior, fit, stream
from gpnotes.ground.chunks import Rows
from gpnotes.ground.params import cotangent, flatten, flatten_gradient, names
from gpnotes.ground.xp import to_numpy
from gpnotes.infer.objective import objective_of
from gpnotes.samplers import HyperparameterDensity
from gpnotes.testing import gradcheck

X = stream(0).uniform((30, 3)) * 4.0
Y = np.sin(X[:, 0]) + 0.5 * np.cos(X[:, 1]) + 0.1 * np.asarray(stream(1).normal(30))
LENGTHS = np.asarray([1.0, 2.0, 3.0])
ALL = ["kernel.variance", *(f"kernel.lengthscale[{i}]" for i in range(3)), "noise_var"]


def process():
    return GP(RBF(1.0, LENGTHS), 0.1)


def of(**options):
    return objective_of(process(), Rows(X, Y), **options)


def test_an_entry_that_is_fixed_stays_and_the_others_move():
    found = fit(process(), X, Y, fixed=("kernel.lengthscale[1]",), max_steps=20)
    lengths = found.model.kernel.lengthscale
    assert lengths[1] == 2.0
    assert lengths[0] != 1.0
    assert lengths[2] != 3.0
    assert [one.name for one in found.report().hyperparameters] == [ALL[0], ALL[1], ALL[3], ALL[4]]


def test_an_entry_leaves_the_vector_of_flatten_and_its_gradient(space):
    kernel = RBF(1.0, space.asarray([1.0, 2.0, 3.0]))
    vector, rebuild = flatten(kernel, fixed=("lengthscale[0]", "variance"))
    np.testing.assert_allclose(vector, np.log([2.0, 3.0]), rtol=1e-6)
    moved = rebuild(vector + 1.0).lengthscale
    assert space.holds(moved)
    np.testing.assert_allclose(to_numpy(moved), [1.0, 2.0 * np.e, 3.0 * np.e], rtol=1e-6)
    slopes = flatten_gradient(kernel, cotangent(kernel), fixed=("lengthscale[0]",))
    np.testing.assert_allclose(slopes, [1.0, 4.0, 9.0], rtol=1e-6)


def test_all_entries_of_an_array_are_the_array():
    every = tuple(ALL[1:4])
    assert names(process(), fixed=every) == names(process(), fixed=("kernel.lengthscale",))
    assert names(process(), fixed=(*every, "kernel.lengthscale")) == [ALL[0], ALL[4]]


def test_bounds_of_an_entry_are_its_alone():
    at = of(bounds={"kernel.lengthscale[2]": (2.0, 4.0)}).limits
    np.testing.assert_allclose(at[3], np.log([2.0, 4.0]))
    assert not np.isfinite(np.delete(at, 3, axis=0)).any()
    found = fit(process(), X, Y, bounds={"kernel.lengthscale[2]": (2.9, 3.1)})
    assert 2.9 <= found.model.kernel.lengthscale[2] <= 3.1 + 1e-12


def test_a_prior_on_an_entry_counts_once_and_there():
    prior = LogNormalPrior(0.5, 0.1)
    objective, plain = of(priors={"kernel.lengthscale[1]": prior}), of()
    vector = objective.vector(process())
    value, slopes = objective(vector)
    plain_value, plain_slopes = plain(vector)
    assert value - plain_value == pytest.approx(prior.log_density(2.0))
    expected = np.asarray([0.0, 0.0, 2.0 * prior.gradient(2.0), 0.0, 0.0])
    np.testing.assert_allclose(slopes - plain_slopes, expected, atol=1e-9)


def test_a_prior_on_an_array_is_on_its_free_entries():
    prior = NormalPrior(1.0, 2.0)
    held = of(priors={"kernel.lengthscale": prior}, fixed=("kernel.lengthscale[0]",))
    value, _ = held(held.vector(process()))
    plain = of(fixed=("kernel.lengthscale[0]",))
    expected = prior.log_density(LENGTHS[1:])
    assert value - plain(plain.vector(process()))[0] == pytest.approx(expected)


PRIORS = {
    "kernel.lengthscale[0]": NormalPrior(1.0, 0.5),
    "kernel.lengthscale[2]": LogNormalPrior(0.5, 0.4),
    "mean.value": NormalPrior(0.0, 2.0),
    "noise_var": LogNormalPrior(-2.0, 0.5),
}


def test_the_gradient_with_priors_and_fixed_entries_is_that_of_differences():
    objective = objective_of(
        GP(RBF(1.0, LENGTHS), 0.1, ConstantMean(0.3)), Rows(X, Y),
        priors=PRIORS, fixed=("kernel.lengthscale[1]",),
    )  # fmt: skip
    vector = objective.vector(objective.model)
    gradcheck(lambda v: objective(v)[0], lambda v, bar: (bar * objective(v)[1],), vector)


def test_a_chain_needs_a_prior_on_each_entry():
    with pytest.raises(ValueError, match=r"none is on \['kernel.lengthscale\[1\]'\]"):
        HyperparameterDensity(of(priors=PRIORS_OF_ENTRIES))
    kept = of(priors=PRIORS_OF_ENTRIES, fixed=("kernel.lengthscale[1]",))
    assert HyperparameterDensity(kept).logarithms.tolist() == [1.0] * 4


PRIORS_OF_ENTRIES = {name: LogNormalPrior() for name in ALL if name != "kernel.lengthscale[1]"}


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"fixed": ("kernel.lengthscale[3]",)}, r"'kernel.lengthscale\[3\]'; there are \["),
        ({"fixed": ("kernel.lenghtscale",)}, r"'kernel.lenghtscale' is near 'kernel.lengthscale'"),
        ({"bounds": {"noise_vr": (1.0, 2.0)}}, r"the parameters are .*is near 'noise_var'"),
        ({"priors": {"kernel.lengthscale[9]": NormalPrior()}}, r"'kernel.lengthscale\[0\]'"),
        ({"bounds": {"kernel.lengthscale": (1.0, 2.0), "kernel.lengthscale[1]": (1.0, 2.0)}},
         r"bounds must name kernel.lengthscale\[1\] once; got 'kernel.lengthscale', 'kernel"),
        ({"priors": {"kernel.lengthscale[1]": NormalPrior(), "kernel.lengthscale": NormalPrior()}},
         r"priors must name kernel.lengthscale\[1\] once"),
        ({"fixed": ("kernel.lengthscale[1]",), "bounds": {"kernel.lengthscale[1]": (1.0, 2.0)}},
         r"bounds name \['kernel.lengthscale\[1\]'\]"),
    ],
)  # fmt: skip
def test_names_of_nothing_and_twice_the_same_are_told(options, match):
    with pytest.raises(ValueError, match=match):
        of(**options)


def test_spaces_in_the_name_of_an_entry_do_not_matter():
    held = names(process(), fixed=("kernel.lengthscale[ 1 ]",))
    assert held == [name for name in ALL if name != ALL[2]]
