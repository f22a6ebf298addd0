"""What is known of each reading: in any block of rows, and for rows that stand for others."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from gpnotes import Gaussian, log_evidence_and_gradient
from gpnotes.ground import memory
from gpnotes.ground.chunks import Rows
from gpnotes.ground.params import flatten_gradient
from gpnotes.infer import svgp
from gpnotes.infer.svgp.evidence_lower_bound import sums_and_gradient
from gpnotes.infer.svgp.known_noise import known_in, some_of
from gpnotes.infer.svgp.row_sums import sweep

from .conftest import model_of, observed

GIVEN = [("gaussian", "noise_var"), ("gaussian", "weights"), ("gaussian", "offset")]
GIVEN += [("poisson", "offset"), ("student", "offset"), ("probit", "offset")]


@pytest.mark.parametrize(("name", "given"), GIVEN)
def test_blocks_of_rows_know_each_their_own(monkeypatch, numbers, name, given):
    X, f, draws, Z, _ = numbers
    y, model, known = (
        observed(name, f, draws),
        model_of(name, Z),
        {given: np.linspace(0.1, 2.0, 30)},
    )
    value, bar = log_evidence_and_gradient(model, X, y, **known)
    monkeypatch.setattr(memory, "ENTRIES", 25)
    again, bar_again = log_evidence_and_gradient(model, X, y, **known)
    assert again == pytest.approx(value, rel=1e-9)
    both = [flatten_gradient(model, b, fixed=("gp.noise_var",)) for b in (bar, bar_again)]
    np.testing.assert_allclose(*both, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("given", ["noise_var", "weights", "offset"])
def test_of_rows_that_stand_for_more_the_gradient_is_that_of_differences(numbers, given):
    """By the noise of a Gaussian likelihood, whose derivative is not that of its class then."""
    X, f, draws, Z, _ = numbers
    rows = Rows(X, f + 0.5 * draws, **{given: np.linspace(0.1, 2.0, 30)})
    q = svgp.natural_gradient_step(svgp.initial_posterior(model_of("gaussian", Z)), X, rows.y)

    def value(variance):
        one = replace(q, model=replace(q.model, likelihood=Gaussian(variance)))
        return sweep(one, X, rows.y, 3.0, known_in(rows)).value

    _, bar = sums_and_gradient(q, X, rows.y, 3.0, known_in(rows))
    slope = (value(0.3 + 1e-5) - value(0.3 - 1e-5)) / 2e-5
    assert bar.likelihood.variance == pytest.approx(slope, rel=1e-6)


def test_some_rows_keep_what_is_known_of_them():
    rows = Rows(np.zeros((5, 1)), *(np.arange(5.0) + 10.0 * k for k in range(4)))
    some = some_of(rows, np.asarray([3, 1]))
    for k, part in enumerate((some.y, some.noise_var, some.weights, some.offset)):
        np.testing.assert_array_equal(part, 10.0 * k + np.asarray([3.0, 1.0]))
