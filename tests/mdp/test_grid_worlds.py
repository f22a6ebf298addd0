"""Maps: who moves where, what it earns, and what walls, slips, winds and cliffs do."""

import re

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


STEPS = ((-1, 0), (0, 1), (1, 0), (0, -1))  # up, right, down, left


def walked(grid, cell, step):
    """One cell further, or where one was."""
    row, column = cell[0] + step[0], cell[1] + step[1]
    inside = 0 <= row < len(grid.rows) and 0 <= column < len(grid.rows[0])
    return (row, column) if inside and grid.rows[row][column] != "#" else cell


def entered(grid, cell, step):
    """Where a step and the wind of its column lead."""
    blows = grid.wind[cell[1]] if grid.wind else 0
    cell = walked(grid, cell, step)
    for _ in range(abs(blows)):
        cell = walked(grid, cell, (-1 if blows > 0 else 1, 0))
    return cell


@pytest.mark.parametrize("slip", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("wind", [(), (1, 0, -2, 0, 3), (0, -1, 0, 2, 0)])
def test_a_map_is_walked_cell_by_cell(slip, wind):
    rows = ("b..#S", "#.CXb", "..a..", "G.#.C")
    earned = {"a": 2.0, "b": -0.5, "C": -9.0, "G": 4.0}
    grid = GridWorld(rows, rewards=earned, step_reward=-0.125, slip=slip, wind=wind)
    mdp, S = grid.mdp(0.5), grid.num_states
    cells = [(i, j) for i in range(4) for j in range(5) if rows[i][j] != "#"]
    P, r = np.zeros((S, 4, S)), np.zeros((S, 4))
    for s, cell in enumerate(cells):
        for a in range(4):
            if rows[cell[0]][cell[1]] in "GX":
                P[s, a, s] = 1.0
                continue
            for turn, share in ((0, 1.0 - slip), (1, slip / 2), (-1, slip / 2)):
                to = entered(grid, cell, STEPS[(a + turn) % 4])
                letter = rows[to[0]][to[1]]
                r[s, a] += share * (-0.125 + earned.get(letter, 0.0))
                P[s, a, cells.index((0, 4) if letter == "C" else to)] += share
    np.testing.assert_allclose(mdp.transitions.toarray().reshape(S, 4, S), P, atol=1e-15)
    np.testing.assert_allclose(mdp.rewards, r, atol=1e-15)
    assert grid.cells.tolist() == [list(cell) for cell in cells]
    assert [grid.state_at(*cell) for cell in cells] == list(range(S))
    np.testing.assert_array_equal(grid.start, [float(cell == (0, 4)) for cell in cells])


def test_a_walk_without_a_start_begins_anywhere_that_is_no_end():
    grid = GridWorld((".G#", "S.S"), terminal="G")
    np.testing.assert_array_equal(grid.start, [0.0, 0.0, 0.5, 0.0, 0.5])
    grid = GridWorld((".G#", "...", ".X."))
    np.testing.assert_array_equal(grid.start, np.asarray([1, 0, 1, 1, 1, 1, 0, 1]) / 6.0)


@pytest.mark.parametrize(
    ("call", "error", "said"),
    [
        (lambda: GridWorld(("..", ".")), ValueError, "rows must be of one length"),
        (lambda: GridWorld(("##", "##")), ValueError, "rows must be of one length"),
        (lambda: GridWorld(()), ValueError, "rows must be of one length"),
        (lambda: GridWorld(("",)), ValueError, "rows must be of one length"),
        (lambda: GridWorld("SG"), TypeError, "rows must be a tuple of strings, the map; got str"),
        (lambda: GridWorld(("SG", 3)), TypeError, "rows must be a tuple of strings"),
        (lambda: GridWorld(("SG",), slip=1.01), ValueError, "slip must be a probability"),
        (lambda: GridWorld(("SG",), slip=-0.01), ValueError, "slip must be a probability"),
        (lambda: GridWorld(("C.",)), ValueError, "rows must have one S for the cliff C to put back"
         " to; got 0"),
        (lambda: GridWorld(("SCS",)), ValueError, "rows must have one S for the cliff C to put "
         "back to; got 2"),
        (lambda: GridWorld(("SG",), terminal=["G"]), TypeError, "terminal must be a string"),
        (lambda: GridWorld(("SG",), rewards=[1.0]), TypeError, "rewards must be a mapping of let"),
        (lambda: GridWorld(("SG",), rewards={"GX": 1.0}), TypeError, "rewards must be a mapping "
         "of single letters; got 'GX'"),
        (lambda: GridWorld(("SG",), rewards={3: 1.0}), TypeError, "rewards must be a mapping of "
         "single letters; got 3"),
        (lambda: GridWorld(("SG",), rewards={"G": "1"}), TypeError, "rewards['G'] must be a num"),
        (lambda: GridWorld(("SG",), wind=(1,)), ValueError, "wind must have a number for each of "
         "2 columns; got 1"),
        (lambda: GridWorld(("SG",), wind=3), TypeError, "wind must be a tuple of whole numbers"),
        (lambda: GridWorld(("SG",), wind=(1, 0.5)), TypeError, "wind[1] must be a whole number"),
        (lambda: GridWorld(("S#G",)).state_at(0, 1), ValueError, "(0, 1) is a wall"),
        (lambda: GridWorld(("S#G",)).state_at(1, 0), ValueError, "row must be a whole number from "
         "0 to 0; got 1"),
        (lambda: GridWorld(("S#G",)).state_at(0, 3), ValueError, "column must be a whole number "
         "from 0 to 2; got 3"),
        (lambda: GridWorld(("SG",)).to_map(np.zeros(3)), ValueError, "values must have shape (2,)"),
        (lambda: GridWorld(("SG",)).to_map(np.asarray(["a", "b"])), TypeError, "values must hold"),
        (lambda: GridWorld(("SG",)).to_map([1.0, 2.0]), TypeError, "values must be an array"),
    ],
)  # fmt: skip
def test_what_is_no_map_is_refused_by_name(call, error, said):
    with pytest.raises(error, match=re.escape(said)):
        call()
