"""What a user may get wrong at the door is refused by name, and an empty batch is none of it."""

import numpy as np
import pytest

from gpnotes import stream
from gpnotes.games import (
    Expansion,
    PayoffModel,
    RoleSymmetricGame,
    find_equilibria,
    fit_payoffs,
    regret,
    replicator_dynamics,
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
    u, J = model.deviation_payoffs_and_jacobian(P[:0], method)
    assert u.shape == (0, 5)
    assert J.shape == (0, 5, 5)


def test_no_mixtures_are_sampled_and_followed(model):
    payoffs, jacobian = model.sampled_payoffs_and_jacobian(P[:0], rng=stream(0))
    assert payoffs.mean.shape == payoffs.standard_error.shape == (0, 5)
    assert jacobian.mean.shape == jacobian.standard_error.shape == (0, 5, 5)
    assert replicator_dynamics(model, P[:0]).shape == (0, 5)
    assert model.expansions[0].payoff(P[:0]).shape == (0,)


@pytest.mark.parametrize("entry", [NAN, float("inf"), None, "3", True, 2.0])
def test_players_that_are_no_counts(entry):
    with pytest.raises(TypeError, match=r"players\[0\] must be a whole number from 1; got"):
        RoleSymmetricGame((entry,), (2,))


@pytest.mark.parametrize("players", [3, None, "33", np.asarray([3])])
def test_players_that_are_no_tuple(players):
    with pytest.raises(TypeError, match="players must be a tuple of whole numbers from 1; got"):
        RoleSymmetricGame(players, (2,))


@pytest.mark.parametrize("strategy", [1.5, NAN, "0", True, None])
def test_strategies_that_are_none(strategy):
    for ask in (GAME.role_of, GAME.opponents, GAME.count_profiles, GAME.profiles):
        with pytest.raises(TypeError, match="strategy must be a whole number from 0 to 4; got"):
            ask(strategy)


@pytest.mark.parametrize(
    ("method", "options", "error", "says"),
    [
        ("exact", {"num_samples": 3}, TypeError, "method 'exact' has threads; got num_samples"),
        ("sampled", {"limit": 3}, TypeError, "method 'sampled' has num_samples, rng; got limit"),
        ("sampled", {}, TypeError, "rng must be a gpnotes Stream; got NoneType"),
        (
            "sampled",
            {"rng": 0.0},
            TypeError,
            "rng must be a Stream, a NumPy Generator",
        ),
        (
            "sampled",
            {"rng": stream(0), "num_samples": 9.5},
            TypeError,
            "num_samples must be a whole",
        ),
        (
            "neighbours",
            {"max_deviations": NAN},
            TypeError,
            "max_deviations must be a whole number from 0; got nan",
        ),
        (
            "neighbours",
            {"max_deviations": "2"},
            TypeError,
            "max_deviations must be a whole number from 0; got '2'",
        ),
        ("enumerated", {"limit": NAN}, TypeError, "limit must be a whole number from 1; got nan"),
        ("enumerated", {"limit": 2}, ValueError, "for strategy 0 over 18 profiles, more than lim"),
        (
            "neighbours",
            {"limit": 2},
            ValueError,
            "with max_deviations=2 would sum for strategy 0 over",
        ),
        (["exact"], {}, TypeError, "method must be one of .'exact', "),
        ("exact", {"threads": 0}, ValueError, "threads must be a whole number from 1; got 0"),
        ("exact", {"threads": 2.0}, TypeError, "threads must be a whole number from 1; got 2.0"),
        ("gaussian", {"threads": 2}, TypeError, "method 'gaussian' has no options; got threads"),
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
        ({"offset": "0.5"}, "offset must be a number; got str"),
        ({"scale": True}, "scale must be a number; got bool"),
    ):
        with pytest.raises(TypeError, match=says):
            Expansion(*few, **change)
    with pytest.raises(ValueError, match="profiles must have at least one row; got none"):
        Expansion(few[0][:0, :], few[1][:0], few[2])
    with pytest.raises(TypeError, match="expansions must be a tuple of Expansion; got Expansion"):
        PayoffModel(GAME, model.expansions[0])
    with pytest.raises(TypeError, match=r"expansions\[0\] must be a gpnotes Expansion; got int"):
        PayoffModel(GAME, (1, 2, 3, 4, 5))
    with pytest.raises(TypeError, match="game must be a gpnotes RoleSymmetricGame; got NoneType"):
        PayoffModel(None, model.expansions)


def test_an_expansion_that_still_holds_the_deviator():
    """Profiles of all players, as they were simulated: plausible payoffs, and wrong."""
    of_all, less = np.asarray([[3.0, 2.0]]), np.asarray([[2.0, 2.0]])
    game = RoleSymmetricGame((5,), (2,))
    fine, slip = (Expansion(x, np.ones(1), np.ones(2)) for x in (less, of_all))
    assert PayoffModel(game, (fine, fine)).game is game
    with pytest.raises(ValueError, match="strategy 1 must omit the deviator: those of role 0 sum "
                       "to 4; in row 0 they sum to all 5 players"):  # fmt: skip
        PayoffModel(game, (fine, slip))
    between = Expansion(np.asarray([[3.0, 1.5, 0.5]]), np.ones(1), np.ones(3))  # no profile of all
    assert PayoffModel(RoleSymmetricGame((5,), (3,)), (between,) * 3).expansions[0] is between


def test_regret_is_of_mixtures():
    with pytest.raises(TypeError, match="game must be a gpnotes RoleSymmetricGame; got NoneType"):
        regret(np.ones((1, 5)), P, None)
    with pytest.raises(ValueError, match=r"payoffs must have shape \(1, 5\); got \(2, 5\)"):
        regret(np.ones((2, 5)), P, GAME)
    with pytest.raises(TypeError, match="by_role must be True or False; got 1"):
        regret(np.ones((1, 5)), P, GAME, by_role=1)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # NumPy's, of the overflow
@pytest.mark.parametrize(
    "method", ["exact", "enumerated", "gaussian", "point", "neighbours", "sampled"]
)
def test_payoffs_that_overflow_are_no_answer(model, method):
    huge = Expansion(np.zeros((1, 5)), np.full(1, 1e10), np.full(5, 9.0), scale=1e300)
    model = PayoffModel(GAME, (huge, *model.expansions[1:]))
    options = {"rng": stream(0)} if method == "sampled" else {}
    with pytest.raises(ValueError, match=f"payoffs by method '{method}' must be finite; 1 of its"):
        model.deviation_payoffs(P, method, **options)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_lengths_whose_squares_overflow_have_no_closed_form(model):
    wide = Expansion(np.zeros((1, 5)), np.ones(1), np.full(5, 1e200))
    model = PayoffModel(GAME, (wide,) * 5)
    np.testing.assert_allclose(model.deviation_payoffs(P), 1.0, rtol=1e-12)
    with pytest.raises(ValueError, match="payoffs by method 'gaussian' must be finite"):
        model.deviation_payoffs(P, "gaussian")


def test_bumps_are_of_profiles(model):
    """They are summed without offset and scale, and checked as payoffs are."""
    for ask in (model.expansions[0].bumps, model.expansions[0].payoff):
        with pytest.raises(TypeError, match="x must be an array; got list"):
            ask(P.tolist())
        with pytest.raises(ValueError, match="x must be finite; 5 of its entries are not"):
            ask(P * NAN)
        with pytest.raises(TypeError, match="x must have the dtype of profiles"):
            ask(P.astype(np.float32))
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
        replicator_dynamics(payoffs, P, GAME)


def test_dynamics_have_a_rate_and_steps(model):
    for rate in (-1.0, 0.0):
        with pytest.raises(ValueError, match="step_size must be positive and finite"):
            replicator_dynamics(model, P, step_size=rate)
    for rate in ("1", None, [0.5], True):
        with pytest.raises(TypeError, match="step_size must be a number; got"):
            replicator_dynamics(model, P, step_size=rate)
    for steps, error in ((-1, ValueError), (1.5, TypeError), (True, TypeError)):
        with pytest.raises(error, match="num_steps must be a whole number from 0"):
            replicator_dynamics(model, P, num_steps=steps)


def test_dynamics_are_of_one_game(model):
    assert replicator_dynamics(model, P, GAME, num_steps=1).shape == (1, 5)
    with pytest.raises(ValueError, match="game must be the model's own, RoleSymmetricGame"):
        replicator_dynamics(model, P, RoleSymmetricGame((4, 2), (2, 3)))
    with pytest.raises(TypeError, match="payoffs must be a PayoffModel or a function of mixtures"):
        replicator_dynamics(P, P, GAME)
    with pytest.raises(TypeError, match="game must be a gpnotes RoleSymmetricGame; got tuple"):
        replicator_dynamics(lambda p: p, P, (3, 2))
    with pytest.raises(ValueError, match="game must be given where payoffs is a function"):
        replicator_dynamics(lambda p: p, P)


def test_a_high_rate_leads_to_the_best_that_is_played():
    """Also where what nobody plays would pay far more: no chance is divided by zero."""
    payoffs = lambda p: p * 0.0 + np.asarray([9.0, 1.0, 3.0])  # noqa: E731
    p = replicator_dynamics(payoffs, P[:, 2:] * [[0.0, 2.0, 0.8]],
                   RoleSymmetricGame((3,), (3,)), num_steps=3, step_size=1e6)  # fmt: skip
    np.testing.assert_array_equal(p, [[0.0, 0.0, 1.0]])


@pytest.mark.parametrize(
    ("options", "error", "says"),
    [
        ({"num_starts": 0}, ValueError, "num_starts must be a whole number from 1; got 0"),
        ({"num_starts": 2.5}, TypeError, "num_starts must be a whole number from 1; got 2.5"),
        ({"rng": None}, ValueError, "find_equilibria needs starts, or an rng"),
        ({"starts": P}, ValueError, "starts or an rng to draw them from; got both"),
        ({"starts": P[:0], "rng": None}, ValueError, "the number of starts must be a whole num"),
        ({"starts": P.astype("f4"), "rng": None}, TypeError, "starts must have the dtype of"),
        (
            {"rng": np.random.RandomState(0)},
            TypeError,
            "rng must be a Stream, a NumPy Generator",
        ),
        ({"method": "sampled"}, ValueError, "method must be one of .*; got 'sampled'"),
        ({"max_deviations": 2}, TypeError, "method 'exact' has threads; got max_deviations"),
        ({"method": "enumerated", "limit": 2}, ValueError, "profiles, more than limit=2"),
        ({"tolerance": NAN}, ValueError, "tolerance must be finite; got nan"),
        ({"tolerance": "1e-4"}, TypeError, "tolerance must be a number; got str"),
        ({"tolerance": [1e-4]}, TypeError, "tolerance must be a number; got list"),
        ({"min_distance": -1.0}, ValueError, "min_distance must be non-negative and finite"),
        ({"min_distance": None}, TypeError, "min_distance must be a number; got NoneType"),
        ({"max_steps": -1}, ValueError, "max_steps must be a whole number from 0; got -1"),
        ({"replicator_steps": 2.0}, TypeError, "replicator_steps must be a whole number from 0"),
        ({"max_supports": True}, TypeError, "max_supports must be a whole number from 0; got True"),
        (
            {"true_payoffs": 3.0},
            TypeError,
            "true_payoffs must be a function of mixtures; got float",
        ),
        (
            {"true_payoffs": lambda p: p[:, :2]},
            ValueError,
            r"true_payoffs gives must have shape \(1, 5\)",
        ),
    ],
)
def test_searches(model, options, error, says):
    with pytest.raises(error, match=says):
        find_equilibria(model, **{"rng": stream(0)} | options)


def test_searches_are_of_models():
    for other in (None, GAME, PayoffModel, lambda p: p):
        with pytest.raises(TypeError, match="model must be a gpnotes PayoffModel; got"):
            find_equilibria(other, rng=stream(0))


@pytest.mark.parametrize(
    ("profiles", "payoffs", "error", "says"),
    [
        (
            X + np.asarray([0.5, -0.5]),
            -X,
            ValueError,
            r"profiles must hold whole numbers from 0; row 0 has 0\.5",
        ),
        (X.tolist(), -X, TypeError, "profiles must be an array; got list"),
        (X, (-X).tolist(), TypeError, "payoffs must be an array; got list"),
        (X.astype(int), (-X).astype(int), TypeError, "payoffs must have a real floating dtype"),
        (X.astype(np.float32), -X, TypeError, "payoffs must have the dtype of the profiles"),
    ],
)
def test_samples_of_a_game(profiles, payoffs, error, says):
    with pytest.raises(error, match=says):
        fit_payoffs(TWO, profiles, payoffs)


def test_fits_of_a_game():
    for bounds in ((1.0, 2.0, 3.0), (1.0,), 1.0):
        with pytest.raises(ValueError, match="lengthscale_bounds must be two numbers"):
            fit_payoffs(TWO, X, -X, lengthscale_bounds=bounds)
    for bounds in ((1.0, "2"), (None, 2.0)):
        with pytest.raises(TypeError, match="lengthscale_bounds must be a number; got"):
            fit_payoffs(TWO, X, -X, lengthscale_bounds=bounds)
    for noise_var in ("0.1", [0.1], np.ones(6)):
        with pytest.raises(TypeError, match="noise_var must be a number; got"):
            fit_payoffs(TWO, X, -X, noise_var=noise_var)
    with pytest.raises(TypeError, match="game must be a gpnotes RoleSymmetricGame; got NoneType"):
        fit_payoffs(None, X, -X)
    with pytest.raises(ValueError, match="restarts=50 need an rng to draw their starts from"):
        fit_payoffs(TWO, X, -X, restarts=50)
    with pytest.raises(ValueError, match="restarts must be a whole number from 0; got -1"):
        fit_payoffs(TWO, X, -X, restarts=-1, rng=stream(0))
    with pytest.raises(
        TypeError,
        match="rng must be a Stream, a NumPy Generator",
    ):
        fit_payoffs(TWO, X, -X, rng=np.random.RandomState(0))
