"""Evidence maximised: better than its starts, at a stationary point, within its bounds."""

import numpy as np
import pytest

from gpnotes import GP, RBF, log_evidence, stream
from gpnotes.exact import log_evidence_and_pullback
from gpnotes.fit import fit
from gpnotes.params import flatten_gradient


@pytest.fixture
def data(rng):
    X = rng.uniform(-3, 3, size=(40, 2))
    return X, np.sin(2 * X[:, 0]) + 0.1 * rng.normal(size=40)


def start():
    return GP(RBF(1.0, np.ones(2)), 0.1)


def test_the_gradient_vanishes_and_the_parameter_is_found(data):
    found = fit(start(), *data, bounds={"kernel.lengthscale": (0.05, 50.0)})
    value, bar = log_evidence_and_pullback(found.gp, *data)
    assert abs(value - found.log_evidence) < 1e-9
    assert value > log_evidence(start(), *data) + 5
    free = flatten_gradient(found.gp, bar)[[0, 1, 3]]  # the idle column's length is at its bound
    assert abs(free).max() < 1e-2
    assert found.gp.kernel.lengthscale[1] > 5 * found.gp.kernel.lengthscale[0]
    assert 0.003 < found.gp.noise_var < 0.03


def test_restarts_are_sorted_and_reported(data):
    found = fit(
        start(), *data, restarts=3, stream=stream(2), bounds={"kernel.lengthscale": (0.05, 50)}
    )
    values = [run.log_evidence for run in found.runs]
    assert len(values) == 4
    assert values == sorted(values, reverse=True)
    assert found.log_evidence == values[0]
    assert 1 <= found.agreeing <= 4
    with pytest.raises(ValueError, match="restarts need a stream"):
        fit(start(), *data, restarts=1)


def test_what_is_fixed_or_bounded_stays(data):
    found = fit(start(), *data, fixed=("noise_var",), bounds={"kernel.lengthscale": (2.0, 3.0)})
    assert found.gp.noise_var == 0.1
    assert (found.gp.kernel.lengthscale >= 2.0 - 1e-12).all()
    assert (found.gp.kernel.lengthscale <= 3.0 + 1e-12).all()
    with pytest.raises(ValueError, match=r"bounds name \['length'\]"):
        fit(start(), *data, bounds={"length": (1.0, 2.0)})


def test_any_space(space, data):
    X, y = (space.asarray(a) for a in data)
    gp = GP(RBF(1.0, space.asarray([1.0, 1.0])), 0.1)
    found = fit(gp, X, y, steps=5, bounds={"kernel.lengthscale": (0.1, 10.0)})
    assert space.holds(found.gp.kernel.lengthscale)
    assert found.log_evidence > log_evidence(gp, X, y)
