"""What a Bayesian network takes: outputs that go with its noise, and variances."""

from __future__ import annotations

import numpy as np
import pytest

from gpnotes import BayesianNetwork, stream
from gpnotes.ground import memory
from gpnotes.networks import (
    SWAG,
    MeanField,
    Network,
    RunningMoments,
    fit_linearised_laplace,
    log_joint,
    predict,
)


@pytest.mark.parametrize(("outputs", "noise", "said"), [
    (1, None, "network must have 2 outputs where the noise is learnt; got 1"),
    (2, 0.1, "network must have 1 outputs where the noise is given; got 2"),
])  # fmt: skip
def test_as_many_outputs_are_wanted_as_the_noise_says(outputs, noise, said):
    with pytest.raises(ValueError, match=f"^{said}$"):
        BayesianNetwork(Network((1, 3, outputs)), noise_variance=noise)


def test_weights_are_drawn_with_the_variances_of_the_prior():
    network = Network((1, 3, 2))
    variances = np.geomspace(1e-4, 1e4, network.num_weights)
    drawn = BayesianNetwork(network, variances).draw(4000, rng=stream(0))
    np.testing.assert_allclose(drawn.var(axis=0), variances, rtol=0.15)


def test_counts_of_readings_are_of_all_networks_or_of_each(rng):
    """Twice a reading is the reading counted twice, for one network or for three at once."""
    model = BayesianNetwork(Network((2, 3, 1)), noise_variance=0.1)
    X, y = rng.normal(size=(5, 2)), rng.normal(size=5)
    theta = rng.normal(size=(3, model.network.num_weights))
    each = np.asarray([[1, 0, 2, 1, 1], [1, 1, 1, 1, 1], [0, 3, 0, 0, 1]])
    for counts in (each[0], each):
        wanted = [
            log_joint(model, weights, X[rows], y[rows])
            for weights, count in zip(theta, np.broadcast_to(counts, each.shape), strict=True)
            for rows in [np.repeat(np.arange(5), count)]
        ]
        got = log_joint(model, theta, X, y, counts=counts.astype(float))
        np.testing.assert_allclose(got, wanted, rtol=1e-12)


def test_a_prior_of_weights_may_be_a_number_of_numpy(rng):
    network = Network((2, 3, 2))
    X, y, theta = rng.normal(size=(5, 2)), rng.normal(size=5), rng.normal(size=network.num_weights)
    wanted = log_joint(BayesianNetwork(network, 2.0), theta, X, y)
    for number in (np.float32(2.0), np.int64(2)):
        assert log_joint(BayesianNetwork(network, number), theta, X, y) == wanted


@pytest.mark.parametrize(
    ("make", "ask"),
    [
        (lambda a: BayesianNetwork(Network((1, 1)), a, 1.0), lambda m: m.draw(2, rng=stream(0))),
        (lambda a: MeanField(a, a), lambda q: q.draw(2, rng=stream(0))),
        (lambda a: SWAG.init(a, 2).update(np.zeros(2)), lambda swag: swag.covariance()),
        (lambda a: SWAG.init(a, 2), lambda swag: swag.update(np.zeros(2)).covariance()),
        (RunningMoments.init, lambda moments: moments.update(np.zeros(2)).covariance()),
    ],
)
def test_steps_that_write_into_an_array_that_was_given_change_nothing(make, ask):
    theta = np.asarray([1.0, 2.0])
    made = make(theta)
    before = ask(made)
    theta += 1.0
    np.testing.assert_array_equal(ask(made), before)


def test_predictions_are_made_of_a_few_rows_at_a_time(rng, monkeypatch):
    """Fifty networks of fifty neurons took 0.4 GB for twenty thousand rows."""
    network, X = Network((2, 8, 3, 2)), rng.normal(size=(40, 2))
    model, thetas = BayesianNetwork(network), rng.normal(size=(5, network.num_weights))
    whole = predict(model, thetas, X)
    one = network(thetas[0], X)
    seen = []

    def counted(self, theta, X):
        seen.append(X.shape[0])
        return forward(self, theta, X)

    forward = Network._forward
    monkeypatch.setattr(Network, "_forward", counted)
    monkeypatch.setattr(memory, "ENTRIES", 7 * 5 * 15)
    found = predict(model, thetas, X)
    np.testing.assert_allclose(network(thetas[0], X), one, rtol=1e-12)
    np.testing.assert_allclose(found.means, whole.means, rtol=1e-12)
    np.testing.assert_allclose(found.variances, whole.variances, rtol=1e-12)
    assert seen[:6] == [7, 7, 7, 7, 7, 5]
    assert predict(model, thetas, X[:0]).mean.shape == (0,)


def test_a_tangent_that_has_no_room_is_refused(rng, monkeypatch):
    network, X, y = Network((2, 8, 2)), rng.normal(size=(40, 2)), rng.normal(size=40)
    theta = rng.normal(size=network.num_weights)
    monkeypatch.setattr(memory, "available", lambda like=None: 10_000)
    monkeypatch.setattr(memory, "_SMALL", 0)
    with pytest.raises(MemoryError, match="the tangent of all rows"):
        fit_linearised_laplace(BayesianNetwork(network), theta, X, y)
