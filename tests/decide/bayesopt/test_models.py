"""The model for many inputs: lengths that grow as the cube's diagonal, and what that is worth."""

from __future__ import annotations

import math

import numpy as np
import pytest

from gpnotes import LogNormalPrior, stream
from gpnotes.decide.bayesopt import Optimiser, fitted_model, scaled_model


@pytest.mark.parametrize("d", [3, 30])
def test_where_readings_say_nothing_lengths_are_where_the_prior_is_densest(d):
    """All equal readings, at the corners of the cube; the mode is e^(√2 − 3) √d."""
    X = np.vstack([np.zeros(d), np.ones(d)])
    kernel = scaled_model(X, np.zeros(2), stream(1)).gp.kernel
    prior = LogNormalPrior(math.sqrt(2.0) + 0.5 * math.log(d), math.sqrt(3.0))
    mode = math.exp(math.sqrt(2.0) - 3.0) * math.sqrt(d)
    densities = [prior.log_density(mode * factor) for factor in (0.9, 1.0, 1.1)]
    assert max(densities) == densities[1]
    lengths = np.asarray(kernel.lengthscale)
    assert np.all(lengths > 0.8 * mode)
    assert np.ptp(lengths) < 0.01 * mode


def test_of_many_inputs_it_predicts_what_the_model_without_a_prior_cannot():
    """A wave along the diagonal of 20 inputs, 30 readings, 6 draws: errors of 60 others."""
    wins = 0
    for seed in range(6):
        X = np.asarray(stream(seed).uniform((90, 20)))
        f = np.sin(X @ np.linspace(-1.0, 1.0, 20) * 1.5)
        y = (f - np.mean(f[:30])) / np.std(f[:30])
        models = (model(X[:30], y[:30], stream(1)) for model in (scaled_model, fitted_model))
        ours, usual = (float(np.mean((m.mean(X[30:]) - y[30:]) ** 2)) for m in models)
        wins += ours < usual
    assert wins >= 5


@pytest.mark.parametrize(("d", "model"), [(9, fitted_model), (10, scaled_model)])
def test_from_ten_inputs_on_it_is_the_model_that_a_search_begins_with(d, model):
    """And no search has more than ten points without a model, unless it is asked for."""
    box, found = [(0.0, 1.0)] * d, []
    for options in ({}, {"model": model, "initial": 10}):
        optimiser = Optimiser(box, stream(2), **options)
        for u in stream(3).uniform((10, d)):
            optimiser.tell(u, float(np.sum((u - 0.3) ** 2)))
        found.append(optimiser.ask())
    np.testing.assert_array_equal(*found)
    sequence = Optimiser(box, stream(2), initial=11).ask_batch(11)
    assert not np.array_equal(found[0], sequence[10])
