"""Roles, columns, profiles, and mixtures that are, or are not, on the simplex."""

import numpy as np
import pytest

from gpnotes.games import RoleSymmetricGame


def test_columns_and_opponents():
    game = RoleSymmetricGame((60, 1), (3, 2))
    assert (game.num_strategies, game.num_roles) == (5, 2)
    assert [game.role_of(s) for s in range(5)] == [0, 0, 0, 1, 1]
    assert game.opponents(0) == (59, 1)
    assert game.opponents(3) == (60, 0)
    with pytest.raises(ValueError, match="strategy must be a whole number from 0 to 4; got 5"):
        game.role_of(5)


@pytest.mark.parametrize(
    ("players", "strategies"), [((4,), (3,)), ((1, 5), (2, 3)), ((2, 2), (1, 4))]
)
def test_every_profile_once(players, strategies):
    game = RoleSymmetricGame(players, strategies)
    profiles = game.profiles(0)
    assert profiles.shape == (game.count_profiles(0), game.num_strategies)
    assert len(np.unique(profiles, axis=0)) == len(profiles)
    for n, part in zip(game.opponents(0), game.columns, strict=True):
        assert (profiles[:, part].sum(axis=1) == n).all()


def test_what_is_no_game():
    with pytest.raises(ValueError, match=r"players\[1\] must be a whole number from 1; got 0"):
        RoleSymmetricGame((3, 0), (2, 2))
    with pytest.raises(ValueError, match="strategies must have an entry for each role; got none"):
        RoleSymmetricGame((3,), ())
    with pytest.raises(ValueError, match="one entry for each role; got 2 and 1"):
        RoleSymmetricGame((2, 3), (2,))


def test_profiles_are_counted_before_there_is_room_for_them():
    game = RoleSymmetricGame((50, 50), (4, 4))
    with pytest.raises(ValueError, match="meets 517714600 profiles, more than limit=200000"):
        game.profiles(0)
    with pytest.raises(ValueError, match="strategy 1 meets 6 profiles, more than limit=5"):
        RoleSymmetricGame((6,), (2,)).profiles(1, limit=5)
    with pytest.raises(ValueError, match="strategy 1 meets 6 profiles, more than limit=1"):
        RoleSymmetricGame((6,), (2,)).profiles(1, limit=1)
    assert RoleSymmetricGame((6,), (2,)).profiles(1, limit=6).shape == (6, 2)


def test_a_rounding_error_off_is_put_right(space):
    game = RoleSymmetricGame((3, 3), (2, 2))
    p = game.check_mixtures(space.asarray([1.0 + 1e-13, -1e-13, 0.4, 0.6 + 3e-10]))
    assert space.holds(p)
    assert p.shape == (1, 4)
    assert float(space.xp.min(p)) >= 0.0
    assert abs(float(p[0, 2] + p[0, 3]) - 1.0) < (1e-15 if space.double else 1e-6)


def test_clearly_off_says_by_how_much():
    game = RoleSymmetricGame((3, 3), (2, 2))
    with pytest.raises(ValueError, match=r"in row 1 those of role 1 sum to 1\.1, off by 0\.1"):
        game.check_mixtures(np.asarray([[0.5, 0.5, 0.5, 0.5], [0.5, 0.5, 0.5, 0.6]]))
    with pytest.raises(ValueError, match=r"row 0 has an entry -0\.25, below zero by 0\.25"):
        game.check_mixtures(np.asarray([1.25, -0.25, 0.5, 0.5]))
    with pytest.raises(ValueError, match=r"mixtures must have shape \(n, 4\); got \(1, 3\)"):
        game.check_mixtures(np.ones(3))
