"""Repeated readings as means with counts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gpnotes import GP, Matern52, condition, log_evidence
from gpnotes.ground.xp import to_numpy
from gpnotes.infer.repeats import means_of_repeats

DRAW = np.random.default_rng(4)
PLACES = DRAW.uniform(0.0, 5.0, (9, 2))
WHICH = np.concatenate([np.arange(9), DRAW.integers(0, 5, 20)])
X, Y = PLACES[WHICH], DRAW.standard_normal(29)


def test_each_place_stands_once_with_its_readings(space: Any) -> None:
    found = means_of_repeats(space.asarray(X), space.asarray(Y))
    assert all(map(space.holds, (found.X, found.y, found.weights, found.squares)))
    tolerance = {"rtol": 0, "atol": 1e-12 if space.double else 1e-5}
    np.testing.assert_allclose(to_numpy(found.X), PLACES, **tolerance)
    for at in range(9):
        own = Y[at == WHICH]
        wanted = (own.mean(), own.size, own.var() * own.size)
        got = [float(a[at]) for a in (found.y, found.weights, found.squares)]
        np.testing.assert_allclose(got, wanted, **tolerance)


def test_means_with_their_counts_say_what_all_readings_say() -> None:
    found, gp = means_of_repeats(X, Y), GP(Matern52(1.3, 0.8), 0.3)
    few = condition(gp, found.X, found.y, weights=found.weights)
    for one, other in zip(few.predict(X), condition(gp, X, Y).predict(X), strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-10)
    whole = few.log_evidence + found.log_evidence_within(0.3)
    assert whole == pytest.approx(log_evidence(gp, X, Y), abs=1e-9)


def test_single_readings_stay_as_they_are() -> None:
    found = means_of_repeats(PLACES.tolist(), Y[:9].tolist())
    np.testing.assert_array_equal(found.y, Y[:9])
    assert found.log_evidence_within(0.7) == 0.0


def test_what_is_no_table_is_refused() -> None:
    with pytest.raises(ValueError, match=r"y must have shape \(29,\)"):
        means_of_repeats(X, Y[:4])
    with pytest.raises(ValueError, match="noise_var must be positive"):
        means_of_repeats(X, Y).log_evidence_within(0.0)
