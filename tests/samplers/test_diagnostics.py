"""R-hat, effective draws and errors are ArviZ's, and say what they cannot know."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from gpnotes import samplers
from gpnotes.samplers import ess_bulk, ess_mean, ess_tail, mcse, rhat


def chains(rng, many, draws, memory, shift=0.0, tails=False):
    """Autoregressive chains, which may lie apart, or have heavy tails."""
    noise = rng.standard_t(2, (many, draws)) if tails else rng.standard_normal((many, draws))
    walks = np.empty_like(noise)
    walks[:, 0] = noise[:, 0]
    for t in range(1, draws):
        walks[:, t] = memory * walks[:, t - 1] + noise[:, t]
    return walks + shift * np.arange(many)[:, None]


CASES = {
    "independent": (4, 500, 0.0), "sticky": (4, 500, 0.95), "alternating": (3, 301, -0.7),
    "apart": (4, 400, 0.5, 2.0), "heavy": (2, 1000, 0.3, 0.0, True), "short": (2, 4, 0.2),
    "five": (2, 5, 0.9), "seven": (3, 7, 0.0), "nine": (3, 9, 0.99), "long": (2, 3001, 0.999),
    "very negative": (2, 50, -0.99),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_they_are_arviz_s_to_rounding(arviz, case, rng):
    x = chains(rng, *CASES[case])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wanted = [
            arviz.rhat(x), arviz.ess(x, method="bulk"),
            arviz.ess(x, method="tail", prob=(0.05, 0.95)),
            arviz.ess(x, method="mean"), np.ravel(arviz.mcse(x))[0],  # with Numba a vector of one
        ]  # fmt: skip
    ours = [rhat(x), ess_bulk(x), ess_tail(x), ess_mean(x), mcse(x)]
    np.testing.assert_allclose(ours, np.asarray(wanted, dtype=float), rtol=1e-9)


def test_equal_draws_share_their_rank(arviz, rng):
    x = np.round(chains(rng, 4, 200, 0.5))
    np.testing.assert_allclose(rhat(x), float(arviz.rhat(x)), rtol=1e-10)
    np.testing.assert_allclose(ess_bulk(x), float(arviz.ess(x)), rtol=1e-10)


def test_each_quantity_has_its_number(rng, space):
    x = np.stack([chains(rng, 3, 100, 0.5), chains(rng, 3, 100, 0.0)], axis=-1)
    for of in (rhat, ess_bulk, ess_tail, ess_mean, mcse):
        both = of(space.asarray(x))
        assert both.shape == (2,)
        assert both[0] == pytest.approx(of(space.asarray(x[:, :, 0])), rel=1e-9)


def test_the_effective_number_of_an_autoregression_is_known(rng):
    """Its correlations are powers, whose sum is a geometric one: n (1 − a)/(1 + a)."""
    x = chains(rng, 4, 20_000, 0.8)
    assert ess_mean(x) == pytest.approx(80_000 * 0.2 / 1.8, rel=0.1)
    assert mcse(x) == pytest.approx(1 / 0.2 / 80_000**0.5, rel=0.1)


@pytest.mark.parametrize("power", [-1000, -600, 600, 1000])
def test_the_unit_of_the_draws_changes_nothing(power, rng):
    """Squares of such draws are zero or infinite."""
    draws = np.round(rng.normal(size=(4, 200)) * 16.0)
    far = np.ldexp(draws, power)
    assert ess_mean(far) == ess_mean(draws)
    assert mcse(far) == np.ldexp(mcse(draws), power)
    assert np.isfinite(ess_mean(np.asarray([[1.7e308, -1.7e308] * 9])))


def test_one_chain_has_no_rhat(rng):
    with pytest.raises(ValueError, match="draws must have at least two chains for R-hat; got 1"):
        rhat(rng.standard_normal((1, 100)))
    assert ess_bulk(rng.standard_normal((1, 100))) > 20


def test_a_chain_that_never_moves_is_worth_nothing(rng):
    still = np.full((4, 50), 0.1)
    assert rhat(still) == np.inf
    assert ess_bulk(still) == ess_tail(still) == ess_mean(still) == 0.0
    assert mcse(still) == np.inf
    one = rng.standard_normal((4, 50))
    one[2] = 0.3
    assert rhat(one) == np.inf


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (np.ones(5), "draws must have shape"),
        (np.ones((2, 3)), "at least 4 draws"),
        (np.full((2, 9), np.nan), "draws must be finite"),
    ],
)
@pytest.mark.parametrize("name", ["rhat", "ess_bulk", "ess_tail", "ess_mean", "mcse"])
def test_wrong_draws_are_named(name, wrong, said):
    with pytest.raises(ValueError, match=said):
        getattr(samplers, name)(wrong)


@pytest.mark.parametrize("many", [1, 2, 3])
def test_halves_that_lie_apart_are_worth_few_draws(many, rng):
    still = rng.standard_normal((many, 400))
    away = still + 9.0 * (np.arange(400) >= 200)
    assert ess_mean(still[:, :, None])[0] > 150.0 * many
    assert ess_mean(away[:, :, None])[0] < 4.0 * many
