"""The loop that is told gradients: what its model is told, what that is worth, what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from gpnotes import GP, RBF, condition, stream
from gpnotes.decide.bayesopt import (
    Optimiser,
    ThompsonSampling,
    maximise,
    minimise,
)
from gpnotes.model.kernels import WithGradients

BOX = [(-1.0, 3.0), (0.0, 0.5)]
WIDTHS = np.asarray([4.0, 0.5])


def valley(x):
    """A curved valley of Rosenbrock's kind, with the derivatives by x."""
    a, b = x
    bend = 10.0 * b - a * a
    return bend * bend + (1.0 - a) ** 2, np.asarray(
        [-4.0 * a * bend - 2.0 * (1.0 - a), 20.0 * bend]
    )


def quick(X, y, *, rng):
    """A model without a fit."""
    return condition(GP(WithGradients(RBF(1.0, 0.3)), 1e-4), X, y)


class Ear:
    """A model that remembers what it was told."""

    def __call__(self, X, y, *, rng):
        self.X, self.y = X, y
        return quick(X, y, rng=rng)


def heard(goal, points, gradients=True):
    """What a model is told of the valley, or of the hill that it is upside down."""
    ear, sign = Ear(), {"minimise": 1.0, "maximise": -1.0}[goal]
    optimiser = Optimiser(BOX, goal=goal, model=ear, num_initial=1, gradients=True, rng=stream(1))
    for x in points:
        y, slope = valley(x)
        optimiser.tell(x, sign * y, sign * slope if gradients else None)
    optimiser.ask()
    return ear.X, ear.y


@pytest.mark.parametrize("goal", ["minimise", "maximise"])
def test_gradients_are_told_by_the_cube_and_in_the_unit_of_the_values(goal, rng):
    """They are the differences of the values that were told beside them, for small steps."""
    centre = np.asarray([0.7, 0.2])
    step = 1e-5 * WIDTHS
    near = [centre + sign * step * np.eye(2)[k] for k in range(2) for sign in (1.0, -1.0)]
    points = [centre, *near, *rng.uniform([-1.0, 0.0], [3.0, 0.5], (3, 2))]
    X, y = heard(goal, points)
    n = len(points)
    assert X.shape == (3 * n, 3)
    np.testing.assert_allclose(X[:n, :2] * WIDTHS + [-1.0, 0.0], points, atol=1e-12)
    assert X[:n, 2].tolist() == [0.0] * n
    assert X[n:, 2].tolist() == [1.0, 2.0] * n
    assert abs(y[:n].mean()) < 1e-12
    assert y[:n].std() == pytest.approx(1.0)
    differences = (y[[1, 3]] - y[[2, 4]]) / 2e-5
    np.testing.assert_allclose(y[n : n + 2], differences, rtol=1e-4, atol=1e-6)


def test_the_smallest_value_is_told_as_the_largest():
    points = [np.asarray([1.0, 0.1]), np.asarray([3.0, 0.0])]
    for goal in ("minimise", "maximise"):
        _, y = heard(goal, points)
        assert y[0] > y[1]


def test_gradients_may_be_told_at_some_points_alone():
    ear = Ear()
    optimiser = Optimiser(BOX, model=ear, num_initial=1, gradients=True, rng=stream(1))
    places = [np.asarray([0.0, 0.1]), np.asarray([1.0, 0.2]), np.asarray([2.0, 0.3])]
    for x, with_gradient in zip(places, (False, True, False), strict=True):
        y, slope = valley(x)
        optimiser.tell(x, y, slope if with_gradient else None)
    assert optimiser.ask().shape == (2,)
    assert ear.X[:, 2].tolist() == [0.0, 0.0, 0.0, 1.0, 2.0]
    np.testing.assert_allclose(ear.X[3:, :2], [[0.5, 0.4]] * 2)
    assert [e.gradient is not None for e in optimiser.evaluations] == [False, True, False]


def test_one_value_alone_has_no_unit_and_its_gradient_gives_one():
    X, y = heard("minimise", [np.asarray([0.0, 0.1])])
    assert y[0] == 0.0
    assert np.max(np.abs(y[1:])) == 1.0
    _, without = heard("minimise", [np.asarray([0.0, 0.1])], gradients=False)
    assert without.tolist() == [0.0]
    assert X.shape == (3, 3)


def test_a_failure_has_a_place_and_no_gradient():
    ear = Ear()
    optimiser = Optimiser(BOX, model=ear, num_initial=1, gradients=True, rng=stream(1))
    y, slope = valley(np.asarray([0.0, 0.1]))
    optimiser.tell(np.asarray([0.0, 0.1]), y, slope)
    optimiser.tell(np.asarray([1.0, 0.2]), y + 1.0, slope)
    optimiser.tell(np.asarray([2.0, 0.3]), 1.0, np.asarray([np.nan, 0.0]))
    assert optimiser.evaluations[2].failure == "record"
    assert "gradient must be finite" in optimiser.evaluations[2].problem
    optimiser.ask()
    assert ear.X[:, 2].tolist() == [0.0, 0.0, 0.0, 1.0, 2.0, 1.0, 2.0]
    assert ear.y[2] == ear.y[:3].min()


@pytest.mark.slow
def test_gradients_save_evaluations():
    """Twelve evaluations of a valley: nearer with gradients each time."""
    ends = np.asarray([
        [minimise(valley if known else lambda x: valley(x)[0], BOX, 12, num_initial=4,
                  gradients=known, rng=stream(seed)).best.y for known in (False, True)]
        for seed in range(2)
    ])  # fmt: skip
    assert np.all(ends[:, 1] < ends[:, 0])
    assert np.median(ends[:, 0]) > 10.0 * np.median(ends[:, 1])


def test_batches_are_of_values_and_differ():
    optimiser = Optimiser(BOX, model=quick, num_initial=3, gradients=True, rng=stream(1))
    for _ in range(3):
        x = optimiser.ask()
        optimiser.tell(x, *valley(x))
    batch = optimiser.ask_batch(3)
    assert batch.shape == (3, 2)
    np.testing.assert_array_equal(batch[0], optimiser.ask())
    apart = np.linalg.norm((batch[:, None, :] - batch[None, :, :]) / WIDTHS, axis=2)
    assert np.min(apart + np.eye(3)) > 0.01


def test_a_skipped_failure_is_believed():
    optimiser = Optimiser(
        BOX, model=quick, num_initial=1, gradients=True, on_failure="skip", rng=stream(1)
    )
    for x in ([0.0, 0.1], [1.0, 0.2]):
        optimiser.tell(np.asarray(x), *valley(np.asarray(x)))
    optimiser.fail(optimiser.ask(), "no power")
    optimiser.tell(optimiser.ask(), 1.0, np.zeros(2))
    assert optimiser.ask().shape == (2,)


def test_the_hill_is_climbed_as_the_valley_is_descended():
    hill = lambda x: tuple(-part for part in valley(x))  # noqa: E731
    least = minimise(valley, BOX, 7, model=quick, num_initial=3, gradients=True, rng=stream(2))
    most = maximise(hill, BOX, 7, model=quick, num_initial=3, gradients=True, rng=stream(2))
    assert most.best.y == -least.best.y


def test_what_does_not_go_with_gradients_is_refused():
    x = np.asarray([0.0, 0.1])
    plain = Optimiser(BOX, rng=stream(1))
    with pytest.raises(ValueError, match="gradient must be None, or gradients=True"):
        plain.tell(x, 1.0, np.zeros(2))
    with pytest.raises(ValueError, match="ThompsonSampling with gradients=True"):
        Optimiser(BOX, gradients=True, acquisition=ThompsonSampling(), rng=stream(1))
    told = Optimiser(BOX, gradients=True, rng=stream(1))
    with pytest.raises(ValueError, match=r"gradient must have shape \(2,\); got \(3,\)"):
        told.tell(x, 1.0, np.zeros(3))
    with pytest.raises(TypeError, match="gradient"):
        told.tell(x, 1.0, [0.0, 0.0])
    assert told.count == plain.count == 0


@pytest.mark.parametrize("gradients", [True, False])
def test_a_model_of_the_other_kind_is_refused(gradients):
    def other(X, y, *, rng):
        kernel, rows = RBF(), np.zeros((1, 2 + (not gradients)))
        return condition(GP(kernel if gradients else WithGradients(kernel), 0.1), rows, np.ones(1))

    optimiser = Optimiser(BOX, model=other, num_initial=1, gradients=gradients, rng=stream(1))
    optimiser.tell(np.asarray([0.0, 0.1]), 1.0)
    with pytest.raises(ValueError, match=r"model\(X, y, rng\) must be a posterior of values"):
        optimiser.ask()


@pytest.mark.parametrize("wrong", [3.0, (3.0,), (3.0, [0.0, 0.0]), ("3", np.zeros(2)), None])
def test_an_objective_without_its_gradient_stops_the_loop(wrong, tmp_path):
    path = tmp_path / "history.jsonl"
    with pytest.raises(TypeError, match="objective must return a number and its gradient"):
        minimise(lambda x: wrong, BOX, 4, path=path, gradients=True, rng=stream(1))
    (evaluation,) = Optimiser(BOX, path=path, gradients=True, rng=stream(1)).evaluations
    assert evaluation.failure == "stop"


def test_a_gradient_of_another_size_ends_the_loop():
    with pytest.raises(ValueError, match="gradient must have shape"):
        minimise(lambda x: (1.0, np.zeros(3)), BOX, 4, gradients=True, rng=stream(1))
