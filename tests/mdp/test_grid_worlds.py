"""Maps: who moves where, what it earns, and what walls, slips, winds and cliffs do."""

import gymnasium
import numpy as np
import pytest

from gpnotes.mdp import MDP, GridWorld, solve


def rows_of(mdp, state):
    return mdp.transitions.toarray().reshape(mdp.num_states, 4, mdp.num_states)[state]


def test_walls_and_the_edge_turn_back():
    grid = GridWorld((".#", "..", ".."))
    mdp = grid.mdp(0.9)
    assert grid.cells.tolist() == [[0, 0], [1, 0], [1, 1], [2, 0], [2, 1]]
    to = np.argmax(rows_of(mdp, 2), axis=1)  # from (1, 1): a wall above, the edge on the right
    assert to.tolist() == [2, 2, 4, 1]
    assert [grid.state_at(*cell) for cell in grid.cells.tolist()] == [0, 1, 2, 3, 4]


def test_slips_go_sideways():
    mdp = GridWorld(("...", "...", "..."), slip=0.2).mdp(0.9)
    up = rows_of(mdp, 4)[0]  # from the middle
    np.testing.assert_allclose(up[[1, 5, 3]], [0.8, 0.1, 0.1])
    assert up.sum() == pytest.approx(1.0)


def test_rewards_are_for_entering_and_ends_end():
    grid = GridWorld(("SG", ".X"), step_reward=-0.25, slip=0.5)
    mdp = grid.mdp(0.9)
    np.testing.assert_allclose(mdp.rewards[0], -0.25 + np.asarray([0.25, 0.5, 0.25, 0.0]))
    assert mdp.terminal.tolist() == [False, True, False, True]
    assert np.all(mdp.rewards[[1, 3]] == 0.0)
    assert grid.start.tolist() == [1.0, 0.0, 0.0, 0.0]


def test_ends_end_whatever_the_slip():
    for slip in np.linspace(0.0, 1.0, 101):  # 0.15 and others leave shares that add up to 1 − 1e-16
        assert GridWorld(("SG",), slip=float(slip)).mdp(0.9).terminal.tolist() == [False, True], (
            slip
        )


def test_other_letters_mean_what_the_rewards_say():
    grid = GridWorld(("a.b",), rewards={"a": 3.0, "b": 5.0}, terminal="b")
    mdp = grid.mdp(0.5)
    np.testing.assert_allclose(mdp.rewards, [[3, 0, 3, 3], [0, 5, 0, 3], [0, 0, 0, 0]])
    np.testing.assert_allclose(grid.start, [0.5, 0.5, 0.0])


def test_the_windy_map_takes_fifteen_steps():
    """The map of Sutton and Barto (2018), example 6.5."""
    rows = ["." * 10 for _ in range(7)]
    rows[3] = "S......G.."
    wind = (0, 0, 0, 1, 1, 1, 2, 2, 1, 0)
    grid = GridWorld(tuple(rows), rewards={}, step_reward=-1.0, wind=wind)
    found = solve(grid.mdp(1.0))
    assert found.values @ grid.start == pytest.approx(-15.0, abs=1e-8)


def test_wind_blows_down_too_and_stops_at_walls():
    grid = GridWorld(("...", ".#.", "..."), wind=(-1, -2, 2))
    mdp = grid.mdp(0.9)
    to = np.argmax(rows_of(mdp, grid.state_at(0, 0)), axis=1)
    assert to.tolist() == [
        grid.state_at(1, 0),
        grid.state_at(1, 0) - 2,
        grid.state_at(2, 0),
        grid.state_at(1, 0),
    ]


def test_the_cliff_is_that_of_gymnasium():
    cliff = GridWorld(
        ("." * 12,) * 3 + ("S" + "C" * 10 + "G",), rewards={"C": -99.0}, step_reward=-1.0
    ).mdp(1.0)
    theirs = MDP.from_gymnasium(gymnasium.make("CliffWalking-v1"), 1.0)
    ours, wanted = solve(cliff), solve(theirs)
    np.testing.assert_allclose(ours.values[:37], wanted.values[:37], rtol=0, atol=1e-7)
    keep = np.r_[:37]
    np.testing.assert_array_equal(cliff.rewards[keep], theirs.rewards[keep])


def test_numbers_are_laid_out_on_the_map():
    grid = GridWorld((".#", ".."))
    laid = grid.to_map(np.asarray([1.0, 2.0, 3.0]))
    np.testing.assert_array_equal(laid, [[1.0, np.nan], [2.0, 3.0]])
    assert grid.to_map(np.asarray([1, 2, 3]))[1, 1] == 3.0


@pytest.mark.parametrize("cells", ["S.G", "S..X.G", "SG"])
def test_a_map_of_one_column_is_one_of_one_row_turned(cells):
    row, column = GridWorld((cells,), slip=0.2), GridWorld(tuple(cells), slip=0.2)
    values = [solve(grid.mdp(0.9)).values for grid in (row, column)]
    np.testing.assert_allclose(values[0], values[1], rtol=0, atol=1e-8)
    np.testing.assert_array_equal(row.start, column.start)
