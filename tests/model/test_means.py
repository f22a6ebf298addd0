"""Mean functions and their pullbacks."""

import dataclasses

import numpy as np
import pytest

from gpnotes import GP, RBF, ConstantMean, Normal, ZeroMean, condition
from gpnotes.decide.bayesopt import predict_and_pullback
from gpnotes.draw.paths import sample_paths
from gpnotes.ground.xp import to_numpy
from gpnotes.model.means import BasisMean, ConstantOfValues, Powers, with_hooks
from gpnotes.testing import check_mean, gradcheck


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


def test_powers_have_one_column_each(space):
    x = space.asarray([[2.0, 3.0], [-1.0, 0.5]])
    columns = Powers(2)(x)
    assert space.holds(columns)
    assert to_numpy(columns).tolist() == [[1, 2, 3, 4, 9], [1, -1, 0.5, 1, 0.25]]
    assert to_numpy(Powers(0)(x)).tolist() == [[1], [1]]


@pytest.mark.parametrize("degree", [0, 1, 3])
def test_powers_have_a_pullback(rng, degree):
    x = rng.normal(size=(4, 2))
    basis = Powers(degree)
    gradcheck(basis, lambda x, bar: (basis.pullback(x, bar),), x)


LABELLED = np.asarray([[0.3, 0.0], [1.2, 1.0], [-0.4, 0.0]])  # values, and one derivative
BELIEF = Normal(np.asarray([0.3, -0.2, 0.7]), np.asarray([[0.5, 0.1], [0.1, 0.4], [-0.2, 0.3]]))


@pytest.mark.parametrize(
    "mean", [BasisMean(Powers(1)), BasisMean(Powers(1), BELIEF), ConstantOfValues(1.3)]
)
def test_it_keeps_the_contract_of_means(rng, mean):
    values = isinstance(mean, ConstantOfValues)
    check_mean(mean, LABELLED if values else rng.normal(size=(4, 2)))


def test_a_mean_with_a_basis_keeps_the_contract_in_every_space(space, x):
    belief = Normal(space.asarray(BELIEF.mean), space.asarray(BELIEF.root))
    check_mean(BasisMean(Powers(1), belief), x)
    check_mean(BasisMean(Powers(1)), x)


def test_a_constant_of_values_is_zero_where_a_row_sees_a_derivative():
    assert ConstantOfValues(1.3)(LABELLED).tolist() == [1.3, 0.0, 1.3]
    bar, x_bar = ConstantOfValues(1.3).pullback(LABELLED, np.asarray([2.0, 7.0, -0.5]))
    assert bar.value == 1.5
    assert not x_bar.any()
    three = np.asarray([[0.3, 5.0, 0.0], [0.3, 0.0, 2.0]])  # the last column is the label
    assert ConstantOfValues(1.3)(three).tolist() == [1.3, 0.0]
    with pytest.raises(ValueError, match=r"columns for a point and one for labels; got \(3, 1\)"):
        ConstantOfValues()(LABELLED[:, :1])


def test_a_mean_by_a_basis_is_its_columns_times_the_expected_weights(rng):
    x, bar = rng.normal(size=(4, 2)), rng.normal(size=4)
    H = np.column_stack([np.ones(4), x])
    np.testing.assert_allclose(BasisMean(Powers(1), BELIEF)(x), H @ BELIEF.mean)
    assert BasisMean(Powers(1))(x).tolist() == [0.0] * 4
    _, x_bar = BasisMean(Powers(1), BELIEF).pullback(x, bar)
    np.testing.assert_allclose(x_bar, np.outer(bar, BELIEF.mean[1:]))
    assert not BasisMean(Powers(1)).pullback(x, bar)[1].any()
    for call in (
        lambda: BasisMean(np.ones_like).columns_pullback(x, x),
        lambda: BasisMean(np.ones_like, Normal(*BELIEF_OF_TWO)).pullback(x, bar),
    ):
        with pytest.raises(TypeError, match=r"BasisMean\.basis must have a pullback"):
            call()
    with pytest.raises(ValueError, match=r"BasisMean\.basis\(x\) must have shape \(4, 3\)"):
        BasisMean(Powers(2), BELIEF).columns(x)


BELIEF_OF_TWO = np.zeros(2), np.eye(2)


def test_a_mean_of_ones_own_is_asked_by_its_public_methods(rng):
    """One without hooks, and a subclass of ours that changes a public method."""

    class Twice(ConstantMean):
        def __call__(self, x):
            return 2.0 * super().__call__(x)

        def pullback(self, x, bar):
            return super().pullback(x, 2.0 * bar)

    x, ours = rng.normal(size=(3, 2)), ConstantMean(1.5)
    assert with_hooks(ours) is ours
    twice = with_hooks(Twice(1.5))
    assert twice._call(x).tolist() == [3.0] * 3
    assert twice._pullback(x, np.ones(3))[0].value == 6.0
    with pytest.raises(ValueError, match=r"gp\.mean\(X\) must have shape \(3,\)"):
        with_hooks(lambda x: x[:2, 0])._call(x)


def test_a_mean_of_ones_own_may_write_into_what_it_is_given(rng):
    class Doubled:
        def __call__(self, x):
            x *= 2.0
            return x[:, 0]

        def pullback(self, x, bar):
            x *= 2.0
            return self, np.stack([2.0 * bar], axis=1)

    def columns(x):
        x *= 2.0
        return x

    X, y = rng.normal(size=(5, 1)), rng.normal(size=5)
    Xs, before = X[:2].copy(), X.copy()
    posterior = condition(GP(RBF(), 0.1, Doubled()), X, y)
    learnt = condition(GP(RBF(), 0.1, BasisMean(columns)), X, y)
    for act in (posterior.mean, posterior.predict, learnt.mean):
        act(Xs)
    sample_paths(posterior, 2, rng=1)(Xs)
    _, _, pull = predict_and_pullback(posterior, Xs)
    pull(np.ones(2), np.ones(2))
    np.testing.assert_array_equal(X, before)
    np.testing.assert_array_equal(Xs, before[:2])


def test_the_parts_are_frozen():
    with pytest.raises(dataclasses.FrozenInstanceError):
        BasisMean(Powers(1)).basis = Powers(2)
    with pytest.raises(TypeError, match=r"BasisMean\.basis must be a function"):
        BasisMean(3)
    with pytest.raises(ValueError, match=r"Powers\.degree must be a whole number from 0"):
        Powers(-1)
