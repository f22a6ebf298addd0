"""Costs, alone and put together, against their definitions, quadrature and differences."""

import numpy as np
import pytest

from gpnotes import gauss_hermite
from gpnotes.decide.pilco import (
    PartialCost,
    QuadraticCost,
    SaturatingCost,
    StepCost,
    SumCost,
    Task,
)
from gpnotes.ground.xp import to_numpy
from gpnotes.testing import gradcheck


@pytest.fixture
def instance(rng):
    root = rng.normal(size=(2, 3))
    factor = 0.5 * rng.normal(size=(3, 3))
    return rng.normal(size=3), root.T @ root, rng.normal(size=3), factor @ factor.T


def by_quadrature(cost, m, S, n=24):
    """The expectation over a product rule, in the axes of S."""
    nodes, weights = gauss_hermite(n)
    values, axes = np.linalg.eigh(S)
    grid = np.stack(np.meshgrid(*[nodes] * len(m), indexing="ij"), axis=-1).reshape(-1, len(m))
    mass = np.prod(np.stack(np.meshgrid(*[weights] * len(m), indexing="ij")), axis=0).reshape(-1)
    points = m + grid * np.sqrt(np.clip(values, 0.0, None)) @ axes.T
    return mass @ np.asarray([cost(point) for point in points])


def test_the_cost_is_zero_at_the_target_and_saturates(space):
    target, weight = space.asarray([1.0, -2.0]), space.asarray([[2.0, 0.5], [0.5, 1.0]])
    cost = SaturatingCost(target, weight)
    assert cost(target) == 0.0
    assert cost(target + 100.0) == 1.0
    assert isinstance(cost(target), float)


def test_the_expectation_is_that_of_quadrature(instance):
    target, weight, m, S = instance
    cost = SaturatingCost(target, weight)
    np.testing.assert_allclose(cost.expected(m, S), by_quadrature(cost, m, S), rtol=1e-9)


def test_the_expectation_lives_where_its_arguments_do(space, instance):
    target, weight, m, S = (space.asarray(a) for a in instance)
    value, pull = SaturatingCost(target, weight).expected_and_pullback(m, S)
    assert isinstance(value, float)
    assert all(space.holds(bar) for bar in pull(1.0))
    host = SaturatingCost(*instance[:2]).expected(*instance[2:])
    np.testing.assert_allclose(value, host, rtol=1e-9 if space.double else 1e-4)


def test_without_uncertainty_it_is_the_cost_itself(instance):
    target, weight, m, _ = instance
    cost = SaturatingCost(target, weight)
    np.testing.assert_allclose(cost.expected(m, np.zeros((3, 3))), cost(m), rtol=1e-14)


def test_small_costs_keep_their_digits(instance):
    """1 − exp(−x) would lose all of them."""
    target, weight, m, S = instance
    cost, tiny = SaturatingCost(target, weight), 1e-10
    expected = 0.5 * tiny**2 * (m @ weight @ m + np.sum(weight * S))
    got = cost.expected(target + tiny * m, tiny**2 * S)
    np.testing.assert_allclose(got, expected, rtol=1e-5)


def test_the_pullback_is_the_gradient(instance):
    target, weight, m, S = instance
    cost = SaturatingCost(target, weight)
    gradcheck(
        lambda m, S: cost.expected(m, 0.5 * (S + S.T)),
        lambda m, S, bar: cost.expected_and_pullback(m, S)[1](bar),
        m,
        S,
    )


def test_what_does_not_fit_is_refused():
    eye = np.eye(2)
    with pytest.raises(ValueError, match="weight must be positive semidefinite"):
        SaturatingCost(np.zeros(2), np.diag([1.0, -0.1]))
    with pytest.raises(ValueError, match="weight must be symmetric"):
        SaturatingCost(np.zeros(2), np.asarray([[1.0, 0.3], [0.0, 1.0]]))
    with pytest.raises(ValueError, match=r"weight must have shape \(3, 3\)"):
        SaturatingCost(np.zeros(3), eye)
    with pytest.raises(ValueError, match=r"m must have shape \(2,\)"):
        SaturatingCost(np.zeros(2), eye).expected(np.zeros(3), eye)
    with pytest.raises(ValueError, match="S must be finite"):
        SaturatingCost(np.zeros(2), eye).expected(np.zeros(2), np.full((2, 2), np.nan))
    with pytest.raises(ValueError, match="S must be positive semidefinite"):
        SaturatingCost(np.zeros(2), eye).expected(np.ones(2), -eye)
    with pytest.raises(ValueError, match="S must be symmetric"):
        SaturatingCost(np.zeros(2), eye).expected(np.ones(2), np.asarray([[1.0, 1.0], [0.0, 1.0]]))
    with pytest.raises(TypeError, match="m must have the dtype of target"):
        SaturatingCost(np.zeros(2), eye).expected(*(a.astype(np.float32) for a in (eye[0], eye)))


def test_a_cost_and_a_task_keep_their_own_arrays(space):
    target, weight = space.asarray([1.0, -2.0]), space.asarray([[2.0, 0.5], [0.5, 1.0]])
    mean, covariance = space.asarray([1.0, -2.0]), space.asarray([[2.0, 0.5], [0.5, 1.0]])
    task = Task(SaturatingCost(target, weight), mean, covariance, 3)
    for array in (target, weight, mean, covariance):
        array[...] = 9.0
    for vector in (task.cost.target, task.mean):
        np.testing.assert_array_equal(to_numpy(vector), [1.0, -2.0])
    for matrix in (task.cost.weight, task.covariance):
        np.testing.assert_array_equal(to_numpy(matrix), [[2.0, 0.5], [0.5, 1.0]])


class Steep:
    """A cost of one's own, with nothing but what the contract asks: ``Σ exp(x)``."""

    def __call__(self, x):
        return float(np.exp(x).sum())

    def expected_and_pullback(self, m, S):
        each = np.exp(m + 0.5 * np.diag(S))
        return float(each.sum()), lambda bar: (bar * each, 0.5 * bar * np.diag(each))


@pytest.fixture
def made(instance, rng):
    """Costs of every kind of a vector of three entries."""
    target, weight, *_ = instance
    far, square = SaturatingCost(target, weight), QuadraticCost(target, weight)
    part = SaturatingCost(target[:2], weight[:2, :2])
    return {
        "quadratic": square,
        "sum": 2.0 * far + square + 0.3 * PartialCost(part, (2, 0)),
        "weighted": -0.7 * (far + 2.0 * square),
        "part": PartialCost(part, (2, 0)),
        "of a sum": PartialCost(part + 0.5 * part, [1, 2]),
        "own": 0.1 * square + Steep(),
        "own first": Steep() + 0.1 * square,
        "many": sum([far, square, far]),
    }


KINDS = ["quadratic", "sum", "weighted", "part", "of a sum", "own", "own first", "many"]


@pytest.mark.parametrize("kind", [*KINDS[::2], *KINDS[1::2]])
def test_every_expectation_is_that_of_quadrature(made, instance, kind):
    m, S = instance[2:]
    value, _ = made[kind].expected_and_pullback(m, S)
    np.testing.assert_allclose(value, by_quadrature(made[kind], m, S, 20), rtol=1e-7)
    np.testing.assert_allclose(made[kind]._expected_and_pullback(m, S)[0], value, rtol=1e-14)


@pytest.mark.parametrize("kind", KINDS)
def test_every_pullback_is_the_gradient(made, instance, kind):
    cost, m, S = made[kind], instance[2], instance[3] + 0.1 * np.eye(3)
    gradcheck(
        lambda m, S: cost.expected_and_pullback(m, 0.5 * (S + S.T))[0],
        lambda m, S, bar: cost.expected_and_pullback(m, S)[1](bar),
        m,
        S,
    )


def test_a_sum_is_the_sum_of_its_terms(made, instance):
    target, weight, m, _ = instance
    far, square = SaturatingCost(target, weight), QuadraticCost(target, weight)
    both = far + 0.5 * (square + 2.0 * far)
    np.testing.assert_allclose(both(m), 2.0 * far(m) + 0.5 * square(m), rtol=1e-14)
    assert both.weights == (1.0, 0.5, 1.0)
    assert isinstance(np.float64(0.5) * far, SumCost)
    assert sum([far]) is far


def test_costs_put_together_live_where_their_arguments_do(space, instance):
    target, weight, m, S = (space.asarray(a) for a in instance)
    far, square = SaturatingCost(target, weight), QuadraticCost(target, weight)
    part = PartialCost(SaturatingCost(target[:1], weight[:1, :1]), (2,))
    value, pull = (far + 0.5 * square + part).expected_and_pullback(m, S)
    assert isinstance(value, float)
    assert all(space.holds(bar) for bar in pull(1.0))


def test_a_cost_of_the_step_adds_up_by_what_it_costs(instance):
    target, weight, z, _ = instance
    far, square = SaturatingCost(target, weight), QuadraticCost(target, weight)
    effort = StepCost(action=QuadraticCost(np.zeros(1), np.eye(1)))
    cost, u = 2.0 * (far + 0.5 * effort + square + effort), np.asarray([3.0])
    assert isinstance(cost, StepCost)
    np.testing.assert_allclose(cost(z, u), 2.0 * (far(z) + square(z)) + 27.0, rtol=1e-14)
    np.testing.assert_allclose((effort + effort)(z, u), 18.0, rtol=1e-14)


def test_costs_that_cannot_be_put_together_are_refused(instance):
    far = SaturatingCost(*instance[:2])
    effort = StepCost(action=far)
    for wrong in (lambda: far + 1.0, lambda: 3 + far, lambda: far + None, lambda: far + Steep):
        with pytest.raises(TypeError, match="unsupported operand"):
            wrong()
    with pytest.raises(ValueError, match="weight must be finite; got nan"):
        np.nan * far
    with pytest.raises(TypeError, match="weight must be a number; got str"):
        far * "2"
    with pytest.raises(TypeError, match=r"cost must be .*; StepCost lacks expected_and_pullback"):
        PartialCost(effort, (0,))
    with pytest.raises(TypeError, match=r"costs\[1\] must be .*; StepCost lacks expected_"):
        SumCost((far, effort), (1.0, 1.0))
    with pytest.raises(
        ValueError, match="weights must be one number for each of the 1 costs; got 2"
    ):
        SumCost((far,), (1.0, 1.0))
    with pytest.raises(ValueError, match="state and action must not both be None"):
        StepCost()
    with pytest.raises(ValueError, match="entries must name each entry once"):
        PartialCost(far, (1, 1))
    with pytest.raises(ValueError, match="entries must be entries 0 to 2 of x"):
        PartialCost(far, (0, 1, 3))(instance[2])
