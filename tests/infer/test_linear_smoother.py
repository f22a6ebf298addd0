"""The smoother of a posterior is what it does to readings; its criteria are their definitions."""

import numpy as np
import pytest

from gpnotes import GP, RBF, ConstantMean, Linear, Matern32, condition, to_numpy
from gpnotes.ground import memory
from gpnotes.infer.linear_smoother import (
    degrees_of_freedom,
    generalised_cross_validation,
    hat_matrix,
)


@pytest.fixture
def numbers(rng):
    """Inputs (9, 2), readings, and other inputs (4, 2)."""
    return rng.normal(size=(9, 2)), 2.0 + rng.normal(size=9), rng.normal(size=(4, 2))


def process(noise_var=0.3):
    return GP(Matern32(1.4, 0.9) + Linear(0.2), noise_var, ConstantMean(0.7))


def smoothed_units(gp, X, Xs):
    """The weights, column by column: what a reading of one more adds to the mean."""
    zero = np.zeros(len(X))
    rest = condition(gp, X, zero).mean(Xs)
    return np.stack([condition(gp, X, unit).mean(Xs) - rest for unit in np.eye(len(X))], axis=1)


@pytest.mark.parametrize("noise_var", [0.0, 1e-3, 0.3, 50.0])
def test_the_weights_are_what_a_unit_more_of_a_reading_does(numbers, noise_var):
    X, y, Xs = numbers
    gp = process(noise_var)
    posterior = condition(gp, X, y)
    close = {"rtol": 1e-8, "atol": 1e-10}
    np.testing.assert_allclose(hat_matrix(posterior), smoothed_units(gp, X, X), **close)
    np.testing.assert_allclose(hat_matrix(posterior, Xs), smoothed_units(gp, X, Xs), **close)


def test_the_hat_matrix_at_the_inputs_is_that_at_places_equal_to_them(space, numbers):
    X, y, Xs = (space.asarray(a) for a in numbers)
    posterior = condition(process(), X, y)
    own, same, other = hat_matrix(posterior), hat_matrix(posterior, X), hat_matrix(posterior, Xs)
    assert all(space.holds(H) for H in (own, same, other))
    assert (own.shape, other.shape) == ((9, 9), (4, 9))
    close = {"rtol": 1e-9, "atol": 1e-10} if space.double else {"rtol": 1e-4, "atol": 1e-5}
    host = [to_numpy(H) for H in (own, same)]
    np.testing.assert_allclose(*host, **close)
    mean = 0.7 + to_numpy(other) @ (numbers[1] - 0.7)
    np.testing.assert_allclose(mean, to_numpy(posterior.mean(Xs)), **close)


def test_degrees_of_freedom_are_a_trace_in_every_space(space, numbers):
    X, y, _ = (space.asarray(a) for a in numbers)
    found = degrees_of_freedom(condition(process(), X, y))
    K = process().kernel(numbers[0])
    eigenvalues = np.linalg.eigvalsh(K)
    wanted = float(np.sum(eigenvalues / (eigenvalues + 0.3)))
    assert isinstance(found, float)
    assert found == pytest.approx(wanted, rel=1e-10 if space.double else 1e-4)


def test_more_noise_leaves_less_freedom(numbers):
    X, y, _ = numbers
    freedom = [degrees_of_freedom(condition(process(v), X, y)) for v in (0.0, 0.01, 1.0, 100.0)]
    assert freedom[0] == 9.0
    assert freedom == sorted(freedom, reverse=True)
    assert freedom[-1] > 0.0


def test_jitter_counts_as_noise():
    twice = np.zeros((2, 1))
    with pytest.warns(UserWarning, match="not positive definite"):
        posterior = condition(GP(RBF(), 0.0), twice, np.asarray([1.0, 2.0]))
    H = hat_matrix(posterior)
    np.testing.assert_allclose(H, hat_matrix(posterior, twice), atol=1e-6)
    assert degrees_of_freedom(posterior) == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize("noise_var", [1e-3, 0.3, 50.0])
def test_the_criterion_is_its_definition(numbers, noise_var):
    X, y, _ = numbers
    posterior = condition(process(noise_var), X, y)
    residual = y - posterior.mean(X)
    share = np.trace(hat_matrix(posterior)) / 9
    wanted = np.mean(residual**2) / (1.0 - share) ** 2
    assert generalised_cross_validation(posterior) == pytest.approx(wanted, rel=1e-8)


def test_the_criterion_is_the_same_in_every_space(space, numbers):
    X, y, _ = (space.asarray(a) for a in numbers)
    found = generalised_cross_validation(condition(process(), X, y))
    wanted = generalised_cross_validation(condition(process(), *numbers[:2]))
    assert isinstance(found, float)
    assert found == pytest.approx(wanted, rel=1e-10 if space.double else 1e-3)


@pytest.mark.parametrize("noise_var", [0.0, 0.4])
def test_on_a_circle_all_leverages_are_equal_and_it_is_leave_one_out(rng, noise_var):
    angles = 2.0 * np.pi * np.arange(8) / 8
    X = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    y = rng.normal(size=8)
    posterior = condition(GP(RBF(1.0, 0.8), noise_var), X, y)
    errors = y - posterior.leave_one_out().mean
    assert generalised_cross_validation(posterior) == pytest.approx(np.mean(errors**2), rel=1e-9)


def test_no_matrix_is_made_without_asking(rng, monkeypatch):
    X = rng.normal(size=(30, 2))
    posterior = condition(process(), X, X[:, 0])
    monkeypatch.setattr(memory, "available", lambda like=None: 30 * 30 * 8)
    monkeypatch.setattr(memory, "_SMALL", 0)
    for call in (hat_matrix, degrees_of_freedom, generalised_cross_validation):
        with pytest.raises(MemoryError, match=r"the inverse of K_y .*\(30, 30\)"):
            call(posterior)
    with pytest.raises(MemoryError, match=r"the hat matrix .*\(40, 30\)"):
        hat_matrix(posterior, rng.normal(size=(40, 2)))


def test_squares_that_overflow_are_refused():
    posterior = condition(GP(RBF(), 0.1), np.zeros((1, 1)), np.asarray([1e200]))
    with pytest.raises(ValueError, match="alpha of posterior"):
        generalised_cross_validation(posterior)
