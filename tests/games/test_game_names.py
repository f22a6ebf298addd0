"""Names of roles and strategies, tables of payoffs, and subgames."""

import numpy as np
import pytest

from gpnotes import stream
from gpnotes.games import (
    RoleSymmetricGame,
    all_profiles,
    find_equilibria,
    tabulate,
)

ROADS = RoleSymmetricGame((3, 2), (3, 2), ("cars", "lorries"),
                          (("motorway", "bridge", "village"), ("motorway", "bridge")))  # fmt: skip


def test_names_go_there_and_back():
    row = np.asarray([2.0, 0.0, 1.0, 1.0, 1.0])
    named = ROADS.to_dict(row)
    assert named["cars"] == {"motorway": 2.0, "bridge": 0.0, "village": 1.0}
    np.testing.assert_array_equal(ROADS.from_dict(named), row)
    np.testing.assert_array_equal(ROADS.from_dict({"lorries": {"bridge": 2.0}}), [0, 0, 0, 0, 2])


def test_without_names_there_are_numbers_and_games_are_equal():
    game = RoleSymmetricGame((3, 2), (3, 2))
    assert game.role_names == ("r0", "r1")
    assert game.strategy_names == (("s0", "s1", "s2"), ("s0", "s1"))
    assert game == RoleSymmetricGame((3, 2), (3, 2), ("r0", "r1"))
    assert game != ROADS


@pytest.mark.parametrize(
    ("names", "error", "said"),
    [
        ({"role_names": ("a",)}, ValueError, "role_names must be 2 different"),
        ({"role_names": ("a", "a")}, ValueError, "role_names must be 2 different"),
        ({"role_names": ("a", "b", "a")}, ValueError, "role_names must be 2 different"),
        ({"role_names": "ab"}, TypeError, "role_names must be a tuple"),
        ({"role_names": ("a", 2)}, TypeError, "role_names must be a tuple"),
        ({"strategy_names": (("x", "y"),)}, ValueError, "one entry for each role"),
        ({"strategy_names": (("x", "y"), ("u", "v"))}, ValueError, r"strategy_names\[0\]"),
        ({"strategy_names": "xy"}, TypeError, "strategy_names must be"),
    ],
)
def test_names_that_do_not_fit_are_refused(names, error, said):
    with pytest.raises(error, match=said):
        RoleSymmetricGame((3, 2), (3, 2), **names)


def test_what_is_not_named_is_refused():
    with pytest.raises(ValueError, match="a role of named must be one of"):
        ROADS.from_dict({"trains": {"bridge": 1.0}})
    with pytest.raises(ValueError, match=r"a strategy of named.'lorries'. must be one of"):
        ROADS.from_dict({"lorries": {"village": 1.0}})
    with pytest.raises(ValueError, match="row must have 5 entries"):
        ROADS.to_dict([1, 2])


def test_a_subgame_keeps_the_names():
    small = ROADS.restrict([True, False, True, True, False])
    assert small.players == (3, 2)
    assert small.strategy_names == (("motorway", "village"), ("motorway",))
    with pytest.raises(ValueError, match="lorries has none"):
        ROADS.restrict([True, True, True, False, False])
    with pytest.raises(ValueError, match="kept must have 5 entries"):
        ROADS.restrict([True])
    with pytest.raises(TypeError, match="kept must hold a truth"):
        ROADS.restrict([1, 0, 1, 1, 0])


def test_a_table_is_given_back(rng):
    x = all_profiles(ROADS)
    assert len(x) == 10 * 3
    u = np.where(x > 0, rng.normal(size=x.shape), np.nan)
    order = rng.permutation(len(x))
    model = tabulate(ROADS, x[order], u[order])
    for s, payoff in enumerate(model.expansions):
        played = x[:, s] > 0
        got = payoff.payoff(x[played] - (np.arange(5) == s))
        np.testing.assert_allclose(got, u[played, s], rtol=1e-12)


def test_a_prisoner_confesses():
    game = RoleSymmetricGame((2,), (2,), ("prisoners",), (("confess", "deny"),))
    x = all_profiles(game)  # both deny, one confesses, both confess
    model = tabulate(game, x, np.asarray([[np.nan, -1.0], [0.0, -3.0], [-2.0, np.nan]]))
    found = find_equilibria(model, rng=stream(1))
    assert [game.to_dict(e.mixture.round(9)) for e in found] == [
        {"prisoners": {"confess": 1.0, "deny": 0.0}}
    ]


def test_half_a_table_is_refused(rng):
    x = all_profiles(ROADS)
    u = rng.normal(size=x.shape)
    for wrong in (x[1:], np.concatenate([x[:-1], x[:1]])):
        with pytest.raises(ValueError, match="profiles must be all 30 of the game"):
            tabulate(ROADS, wrong, u[: len(wrong)])
    with pytest.raises(ValueError, match="payoffs must be finite"):
        tabulate(ROADS, x, np.full(x.shape, np.nan))
    with pytest.raises(ValueError, match="payoffs must have shape"):
        tabulate(ROADS, x, u[1:])
    with pytest.raises(ValueError, match="the game has 496 profiles, more than limit=100"):
        all_profiles(RoleSymmetricGame((30,), (3,)), limit=100)
