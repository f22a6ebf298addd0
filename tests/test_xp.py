"""The helpers below everything: what they return lives where their arguments live."""

import numpy as np
import pytest

from gpnotes import _xp


@pytest.fixture
def lower(space, rng):
    return space.asarray(np.tril(rng.normal(size=(90, 90))) / 9.0 + 2.0 * np.eye(90))


def close(space, a, b):
    assert space.holds(a)
    tolerance = 1e-10 if space.double else 2e-3
    np.testing.assert_allclose(_xp.to_numpy(a), b, rtol=tolerance, atol=tolerance)


def test_an_array_made_like_another_lives_with_it(space):
    like = space.asarray([1.0])
    assert space.holds(_xp.as_array(np.arange(3.0), like))
    assert space.holds(_xp.eye(2, like))
    assert _xp.epsilon(like) == (2.0**-52 if space.double else 2.0**-23)


def test_to_numpy_copies_from_every_device(space):
    a = space.asarray([[1.0, 2.0]])
    host = _xp.to_numpy(a)
    assert type(host) is np.ndarray
    host[0, 0] = 5.0
    assert float(a[0, 0]) == 1.0


@pytest.mark.parametrize("transpose", [False, True])
@pytest.mark.parametrize("columns", [None, 3])
def test_triangular_solve_undoes_the_product(space, lower, rng, transpose, columns):
    x = rng.normal(size=90 if columns is None else (90, columns))
    host = _xp.to_numpy(lower)
    b = space.asarray((host.T if transpose else host) @ x)
    close(space, _xp.solve_triangular(lower, b, transpose=transpose), x)


def test_triangular_solve_does_not_look_above_the_diagonal(space, lower):
    """Blocks of the substitution start at 64: the 90 rows here need two of them."""
    spoiled = lower + space.asarray(np.triu(np.full((90, 90), 7.0), 1))
    b = space.asarray(np.ones(90))
    close(space, _xp.solve_triangular(spoiled, b), _xp.to_numpy(_xp.solve_triangular(lower, b)))


def test_the_factor_of_an_indefinite_matrix_is_none(space):
    assert _xp.cholesky_factor(space.asarray([[1.0, 2.0], [2.0, 1.0]])) is None
    assert _xp.cholesky_factor(space.asarray([[float("nan")]])) is None


def test_the_inverse_from_a_factor(space, lower):
    host = _xp.to_numpy(lower).astype(np.float64)
    inverse = _xp.cholesky_inverse(lower)
    close(space, inverse, np.linalg.inv(host @ host.T))
    np.testing.assert_array_equal(_xp.to_numpy(inverse), _xp.to_numpy(inverse).T)
