"""Mean functions and their pullbacks."""

import numpy as np
import pytest

from gpnotes import ConstantMean, ZeroMean
from gpnotes.ground.xp import to_numpy
from gpnotes.testing import gradcheck


@pytest.fixture
def x(space, rng):
    return space.asarray(rng.normal(size=(5, 2)))


@pytest.mark.parametrize(("mean", "value"), [(ZeroMean(), 0.0), (ConstantMean(-1.5), -1.5)])
def test_values_live_with_the_inputs(space, x, mean, value):
    m = mean(x)
    assert space.holds(m)
    assert to_numpy(m).tolist() == [value] * 5


@pytest.mark.parametrize("mean", [ZeroMean(), ConstantMean(-1.5)])
def test_pullbacks(space, x, mean):
    bar, x_bar = mean.pullback(x, mean(x))
    assert type(bar) is type(mean)
    assert space.holds(x_bar)
    if space.double:
        gradcheck(lambda m, x: m(x), lambda m, x, b: m.pullback(x, b), mean, x)


def test_a_derivative_may_be_negative_and_is_a_float(space, x):
    bar, _ = ConstantMean(2.0).pullback(x, space.asarray([-1.0] * 5))
    assert type(bar.value) is float
    assert bar.value == -5.0


def test_a_mean_is_a_finite_float():
    assert type(ConstantMean(np.float64(2.0)).value) is float
    with pytest.raises(ValueError, match=r"ConstantMean\.value must be finite; got nan"):
        ConstantMean(float("nan"))
    with pytest.raises(ValueError, match=r"x must have shape \(n, d\); got \(3,\)"):
        ZeroMean()(np.ones(3))
    with pytest.raises(ValueError, match=r"bar must have shape \(3,\); got \(2,\)"):
        ConstantMean(1.0).pullback(np.ones((3, 1)), np.ones(2))


@pytest.mark.parametrize("mean", [ZeroMean(), ConstantMean(2.0)])
def test_a_cotangent_has_the_dtype_of_the_data(mean):
    x = np.ones((3, 2), dtype=np.float32)
    with pytest.raises(TypeError, match="bar must have the dtype of x, float32; got float64"):
        mean.pullback(x, np.ones(3))


@pytest.mark.parametrize("mean", [ZeroMean(), ConstantMean(2.0)])
def test_inputs_that_are_no_arrays_are_refused_by_name(mean):
    for x in ([[0.0]], None, "x", 1.0):
        with pytest.raises(TypeError, match="x must be an array; got"):
            mean(x)
        with pytest.raises(TypeError, match="x must be an array; got"):
            mean.pullback(x, np.ones(1))
    with pytest.raises(TypeError, match="bar must be an array; got list"):
        mean.pullback(np.ones((1, 1)), [1.0])


@pytest.mark.parametrize("mean", [ZeroMean(), ConstantMean()])
def test_means_are_zero_unless_told_otherwise_in_one_dimension_too(space, mean):
    x = space.asarray([[1.0], [2.0], [3.0]])
    values = mean(x)
    assert space.holds(values)
    assert to_numpy(values).tolist() == [0.0, 0.0, 0.0]
