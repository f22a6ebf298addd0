"""Games in the JSON of gameanalysis 8.1.0: files that the program wrote, read and written again."""

import json
from pathlib import Path

import numpy as np
import pytest

from gpnotes.games import (
    PayoffModel,
    RoleSymmetricGame,
    Simulations,
    fit_payoffs,
    read_game,
    write_game,
)

FILES = json.loads(
    (Path(__file__).parents[1] / "data" / "gameanalysis_games.json").read_text(encoding="utf-8")
)
TYPES = {"empty": RoleSymmetricGame, "game": Simulations, "samplegame": Simulations,
         "rbf": PayoffModel}  # fmt: skip


@pytest.mark.parametrize("name", TYPES)
def test_what_the_program_wrote_comes_back(name):
    """To the last digit, names, order and type."""
    text = FILES[name]["text"]
    game = read_game(text)
    assert type(game) is TYPES[name]
    assert json.loads(write_game(game)) == json.loads(text)


def test_a_matrix_is_read_as_all_its_profiles():
    stored = FILES["matrix"]
    game, profiles, payoffs = read_game(stored["text"])
    assert game.strategy_names == (("x", "y"), ("u", "v", "w"))
    for profile, earned in zip(profiles, payoffs, strict=True):
        i, j = (int(np.flatnonzero(profile[c])[0]) for c in game.columns)
        assert earned[profile > 0].tolist() == stored["payoffs"][i][j]
    again = read_game(write_game(Simulations(game, profiles, payoffs)))
    np.testing.assert_array_equal(again.payoffs, payoffs)


def test_a_learned_game_has_the_payoffs_of_the_program():
    stored = FILES["rbf"]
    model = read_game(stored["text"])
    ours = model.deviation_payoffs(np.asarray(stored["mixtures"]), "gaussian")
    np.testing.assert_allclose(ours, stored["payoffs"], rtol=1e-11)


def test_and_so_has_a_subgame_of_it():
    stored = FILES["rbf"]
    small = read_game(stored["text"]).restrict(stored["kept"])
    assert small.game.strategy_names == (("bridge", "village"), ("bridge", "motorway"))
    ours = small.deviation_payoffs(np.asarray(stored["inside"]), "gaussian")
    np.testing.assert_allclose(ours[0], stored["payoffs inside"], rtol=1e-11)


def test_observations_are_rows_that_a_fit_takes():
    simulations = read_game(FILES["samplegame"]["text"])
    assert len(simulations.profiles) == 12
    assert len(np.unique(simulations.profiles, axis=0)) == 5
    assert (np.isnan(simulations.payoffs) == (simulations.profiles == 0)).all()
    game = RoleSymmetricGame((3,), (2,), ("all",), (("left", "right"),))
    x = np.asarray([[1.0, 2.0], [2.0, 1.0], [1.0, 2.0], [3.0, 0.0]])
    again = read_game(write_game(Simulations(game, x, -x)))
    assert json.loads(write_game(again))["type"] == "samplegame.1"
    model = fit_payoffs(*again, noise_var=0.01)
    assert model.game == game


def test_symmetry_groups_of_its_server_are_read():
    groups = [{"role": "all", "strategy": "left", "count": 2, "payoff": 1.5},
              {"role": "all", "strategy": "right", "count": 1, "payoff": -1.0}]  # fmt: skip
    roles = [{"name": "all", "count": 3, "strategies": ["left", "right"]}]
    text = json.dumps({"roles": roles, "profiles": [{"symmetry_groups": groups}]})
    game, profiles, payoffs = read_game(text)
    assert game.to_dict(profiles[0]) == {"all": {"left": 2.0, "right": 1.0}}
    assert payoffs.tolist() == [[1.5, -1.0]]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "text must be JSON"),
        ("[1]", "JSON object"),
        ('{"type": "aggfn.3"}', "the type in text must be one of"),
        ('{"type": "empty.1"}', "it lacks 'strategies'"),
        ('{"type": "rbf.1", "players": {"a": 2}, "strategies": {"a": ["x"]}}', "lacks 'offsets'"),
        ('{"players": {"a": 2}, "strategies": {"a": ["x"]}, "profiles": [{"b": [["x", 2, 1]]}]}',
         "a role of named must be one of"),
    ],
)  # fmt: skip
def test_what_is_no_game_is_refused_in_words(text, said):
    with pytest.raises(ValueError, match=said):
        read_game(text)


def test_other_things_are_refused():
    with pytest.raises(TypeError, match="text must be a string"):
        read_game(b"{}")
    with pytest.raises(TypeError, match="game must be a RoleSymmetricGame"):
        write_game({"players": 2})


@pytest.mark.parametrize(
    ("profile", "said"),
    [
        ([["x", 1, 2.0]], "spread the 2 players"),
        ([["x", 3, 2.0], ["y", -1, 2.0]], "whole numbers from 0; row 0 has -1"),
        ([["x", 1, 2.0], ["y", 1, 3.0], ["y", 1, 4.0]], "each entry of an object once; got 'y'"),
        ([["x", 1, [1.0, 2.0]], ["y", 1, [1.0]]], "as many payoffs for each strategy"),
        ([["x", 1, [1.0]], ["y", 1, [1.0, 2.0]]], "as many payoffs for each strategy"),
        ([], "as many payoffs for each strategy"),
        (3, "describe a game of type game"),
    ],
)
def test_a_profile_that_is_none_is_refused_when_it_is_read(profile, said):
    stored = {"players": {"a": 2}, "strategies": {"a": ["x", "y"]}, "type": "game.1"}
    with pytest.raises(ValueError, match=said):
        read_game(json.dumps({**stored, "profiles": [{"a": profile}]}))


@pytest.mark.parametrize("wrong", [{"players": 3}, {"strategies": {"a": 3}}, {"profiles": 7},
                                   {"players": {"a": 2.5}}])  # fmt: skip
def test_parts_of_another_kind_are_an_error_of_the_text(wrong):
    right = {"players": {"a": 2}, "strategies": {"a": ["x", "y"]}, "type": "game.1"}
    with pytest.raises(ValueError, match="text must describe a game"):
        read_game(json.dumps({**right, **wrong}))


@pytest.mark.parametrize("payoff", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_what_is_no_finite_number_is_no_payoff(payoff):
    text = '{"players": {"a": 2}, "strategies": {"a": ["x", "y"]}, "type": "game.1", "profiles": '
    text += f'[{{"a": [["x", 1, {payoff}], ["y", 1, 2.0]]}}]}}'
    with pytest.raises(ValueError, match=f"text must hold finite numbers; got {payoff}"):
        read_game(text)


@pytest.mark.parametrize("payoff", ['"a"', '"3"', "true", "[[1.0]]", '{"a": 1}'])
def test_what_is_no_number_is_no_payoff(payoff):
    text = '{"players": {"a": 2}, "strategies": {"a": ["x", "y"]}, "type": "game.1", "profiles": '
    text += f'[{{"a": [["x", 1, {payoff}], ["y", 1, 2.0]]}}]}}'
    with pytest.raises(ValueError, match=r"text must describe a game.* a payoff must be a number"):
        read_game(text)


def test_of_two_entries_with_one_name_none_is_left_out_in_silence():
    """JSON keeps the last of two; so would a table of strategies."""
    matrix = (
        '{"players": {"a": 1, "b": 1}, "strategies": {"a": ["x"], "b": ["u", "v"]}, "payoffs": '
        '{"x": {"u": {"a": 1, "b": 2}, "u": {"a": 3, "b": 4}, "v": {"a": 5, "b": 6}}}, '
        '"type": "matrix.1"}'
    )
    with pytest.raises(ValueError, match="each entry of an object once; got 'u' again"):
        read_game(matrix)
    group = {"role": "a", "strategy": "x", "count": 1, "payoff": 1.0}
    stored = {"players": {"a": 2}, "strategies": {"a": ["x", "y"]}, "type": "game.1"}
    groups = [group, {**group, "strategy": "y"}, {**group, "strategy": "y", "payoff": 2.0}]
    with pytest.raises(ValueError, match="each entry of an object once; got 'y' again"):
        read_game(json.dumps({**stored, "profiles": [{"symmetry_groups": groups}]}))


def test_a_payoff_that_is_missing_is_nan():
    text = '{"players": {"a": 2}, "strategies": {"a": ["x", "y"]}, "type": "game.1", "profiles": '
    text += '[{"a": [["x", 1, null], ["y", 1, 2.0]]}]}'
    np.testing.assert_array_equal(read_game(text).payoffs, [[np.nan, 2.0]])


def test_a_role_may_have_the_name_of_a_part_of_the_format():
    game = RoleSymmetricGame((2,), (2,), ("symmetry_groups",), (("x", "y"),))
    seen = Simulations(game, np.asarray([[1.0, 1.0]]), np.asarray([[3.0, 4.0]]))
    again = read_game(write_game(seen))
    np.testing.assert_array_equal(again.payoffs, seen.payoffs)


@pytest.mark.parametrize(
    ("profile", "payoffs", "said"),
    [
        ([1.0, 1.0], [np.nan, 4.0], "payoffs must be finite"),
        ([1.5, 0.5], [3.0, 4.0], "whole numbers"),
        ([5.0, 1.0], [3.0, 4.0], "spread the 2 players"),
    ],
)
def test_what_no_json_could_say_is_not_written(profile, payoffs, said):
    game = RoleSymmetricGame((2,), (2,))
    with pytest.raises(ValueError, match=said):
        write_game(Simulations(game, np.asarray([profile]), np.asarray([payoffs])))
