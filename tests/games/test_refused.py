"""What a user may get wrong at the door is refused by name, and an empty batch is none of it."""

import numpy as np
import pytest

from gpnotes import stream
from gpnotes.games import (
    Expansion,
    PayoffModel,
    RoleSymmetricGame,
    equilibria,
    learn,
    regret,
    replicator,
)

GAME = RoleSymmetricGame((3, 2), (2, 3))
P = np.asarray([[0.5, 0.5, 0.2, 0.3, 0.5]])
X = np.stack([np.arange(6.0), 5.0 - np.arange(6.0)], axis=1)  # of five players, two strategies
TWO = RoleSymmetricGame((5,), (2,))
NAN = float("nan")


@pytest.fixture
def model(make_model):
    return make_model(GAME.players, GAME.strategies)


@pytest.mark.parametrize("method", ["exact", "enumerated", "gaussian", "point", "neighbours"])
def test_no_mixtures_get_no_payoffs(model, method):
    u, J = model.deviation_payoffs(P[:0], method, jacobian=True)
    assert u.shape == (0, 5)
    assert J.shape == (0, 5, 5)


def test_no_mixtures_are_sampled_and_followed(model):
    drawn = model.deviation_payoffs(P[:0], "sampled", jacobian=True, stream=stream(0))
    assert drawn.payoffs.shape == drawn.standard_errors.shape == (0, 5)
    assert drawn.jacobian.shape == drawn.jacobian_errors.shape == (0, 5, 5)
    assert replicator(model, P[:0]).shape == (0, 5)
    assert model.expansions[0].payoff(P[:0]).shape == (0,)


@pytest.mark.parametrize("players", [(NAN,), (float("inf"),), (None,), ("3",), (True,), 3])
def test_players_that_are_no_counts(players):
    with pytest.raises(ValueError, match="players must be a tuple of whole numbers from 1; got"):
        RoleSymmetricGame(players, (2,))


@pytest.mark.parametrize("strategy", [1.5, NAN, -1, "0"])
def test_strategies_that_are_none(strategy):
    with pytest.raises(ValueError, match=r"strategy must be one of 0, \.\.\., 4; got"):
        GAME.role_of(strategy)


@pytest.mark.parametrize(
    ("method", "options", "error", "says"),
    [
        ("exact", {"samples": 3}, TypeError, "method 'exact' has no options; got samples"),
        ("sampled", {"limit": 3}, TypeError, "method 'sampled' has stream, samples; got limit"),
        ("sampled", {}, TypeError, "stream must be a gpnotes Stream; got NoneType"),
        ("sampled", {"stream": 0}, TypeError, "stream must be a gpnotes Stream; got int"),
        ("sampled", {"stream": stream(0), "samples": 9.5}, ValueError, "samples must be a whole"),
        ("neighbours", {"moves": NAN}, ValueError, "moves must be a whole number from 0; got nan"),
        ("neighbours", {"moves": "2"}, ValueError, "moves must be a whole number from 0; got '2'"),
        ("enumerated", {"limit": NAN}, ValueError, "more than limit=nan"),
        (["exact"], {}, ValueError, "method must be one of exact, "),
    ],
)
def test_methods_and_options(model, method, options, error, says):
    with pytest.raises(error, match=says):
        model.deviation_payoffs(P, method, **options)


def test_models_of_something_else(model):
    few = np.zeros((2, 5)), np.ones(2), np.ones(5)
    for change, says in (
        ({"scale": None}, "scale must be a number; got NoneType"),
        ({"offset": np.ones(2)}, "offset must be a number; got ndarray"),
    ):
        with pytest.raises(TypeError, match=says):
            Expansion(*few, **change)
    with pytest.raises(ValueError, match="profiles must have at least one row; got none"):
        Expansion(few[0][:0, :], few[1][:0], few[2])
    with pytest.raises(TypeError, match="expansions must be of type tuple; got Expansion"):
        PayoffModel(GAME, model.expansions[0])
    with pytest.raises(TypeError, match="the payoff of strategy 0 must be of type Expansion"):
        PayoffModel(GAME, (1, 2, 3, 4, 5))
    with pytest.raises(TypeError, match="game must be of type RoleSymmetricGame; got NoneType"):
        PayoffModel(None, model.expansions)


def test_regret_is_of_mixtures():
    with pytest.raises(ValueError, match="those of role 0 sum to 7, off by 6"):
        regret(np.ones((1, 5)), 7.0 * P, GAME)


@pytest.mark.parametrize(
    ("payoffs", "error", "says"),
    [
        (lambda p: p[:, :3], ValueError, r"payoffs must have shape \(1, 5\); got \(1, 3\)"),
        (lambda p: NAN * p, ValueError, "payoffs must be finite; 5 of its entries are not"),
        (lambda p: p.astype(np.float32), TypeError, "payoffs must have the dtype of starts"),
    ],
)
def test_dynamics_follow_payoffs(payoffs, error, says):
    with pytest.raises(error, match=says):
        replicator(payoffs, P, GAME)


def test_dynamics_have_a_rate_and_steps(model):
    for rate in (-1.0, 0.0, NAN):
        with pytest.raises(ValueError, match="rate must be positive and finite"):
            replicator(model, P, rate=rate)
    for steps in (-1, 1.5):
        with pytest.raises(ValueError, match="steps must be a whole number from 0"):
            replicator(model, P, steps=steps)


@pytest.mark.parametrize(
    ("options", "error", "says"),
    [
        ({"count": 0}, ValueError, "count must be a whole number from 1; got 0"),
        ({"count": 2.5}, ValueError, "count must be a whole number from 1; got 2.5"),
        ({"starts": P[:0]}, ValueError, "the number of starts must be a whole number from 1"),
        ({"stream": np.random.default_rng(0)}, TypeError, "stream must be a gpnotes Stream"),
        ({"method": "sampled"}, ValueError, "method must be one of exact, .*; got 'sampled'"),
        ({"tolerance": NAN}, ValueError, "tolerance must be non-negative and finite"),
        ({"apart": -1.0}, ValueError, "apart must be non-negative and finite"),
        ({"steps": -1}, ValueError, "steps must be a whole number from 0; got -1"),
    ],
)
def test_searches(model, options, error, says):
    with pytest.raises(error, match=says):
        equilibria(model, **{"stream": stream(0)} | options)


@pytest.mark.parametrize(
    ("profiles", "payoffs", "error", "says"),
    [
        (
            X + np.asarray([0.5, -0.5]),
            -X,
            ValueError,
            r"profiles must hold whole numbers; row 0 has 0\.5",
        ),
        (X.tolist(), -X, TypeError, "profiles must be an array; got list"),
        (X, (-X).tolist(), TypeError, "payoffs must be an array; got list"),
        (X.astype(int), (-X).astype(int), TypeError, "payoffs must have a real floating dtype"),
        (X.astype(np.float32), -X, TypeError, "payoffs must have the dtype of the profiles"),
    ],
)
def test_samples_of_a_game(profiles, payoffs, error, says):
    with pytest.raises(error, match=says):
        learn(TWO, profiles, payoffs)


def test_fits_of_a_game():
    for bounds in ((1.0, 2.0, 3.0), (1.0,), 1.0):
        with pytest.raises(ValueError, match="length_bounds must be two numbers"):
            learn(TWO, X, -X, length_bounds=bounds)
    with pytest.raises(ValueError, match="restarts must be a whole number from 0; got -1"):
        learn(TWO, X, -X, restarts=-1, stream=stream(0))
    with pytest.raises(TypeError, match="stream must be a gpnotes Stream; got Generator"):
        learn(TWO, X, -X, stream=np.random.default_rng(0))
