"""Games whose equilibria are known: by heart, from another program, or by a proof."""

import json
from pathlib import Path

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
)
from gpnotes.games.equilibria.search_problem import MethodPayoffs, pose
from gpnotes.games.equilibria.simplicial import _pivot, fixed_points
from gpnotes.games.equilibria.support_enumeration import (
    count_supports,
    first_supports,
    solve_on_supports,
)

TABLE = json.loads((Path(__file__).parents[2] / "data" / "nashpy.json").read_text(encoding="utf-8"))
GAMES = {game["name"]: game for game in TABLE["games"]}
CYCLE = np.asarray([[0.0, -2.0, 1.0], [1.0, 0.0, -2.0], [-2.0, 1.0, 0.0]])  # losses cost two
THIRDS = np.full(3, 1 / 3)


def _mixtures(equilibria):
    return np.stack([equilibrium.mixture for equilibrium in equilibria])


def _same(ours, wanted):
    """As many, and each near one of the others; in whatever order."""
    assert len(ours) == len(wanted)
    gaps = np.abs(np.asarray(ours)[:, None, :] - np.asarray(wanted)[None, :, :]).max(axis=2)
    assert gaps.min(axis=1).max() < 1e-7
    assert gaps.min(axis=0).max() < 1e-7


def test_the_table_holds_what_we_say_it_does():
    assert TABLE["versions"]["nashpy"] == "0.0.43"
    assert len(GAMES) == 39
    assert {len(game["equilibria"]) for game in GAMES.values()} == {1, 3, 7}


@pytest.mark.parametrize("name", GAMES)
def test_all_equilibria_of_a_game_of_two(make_table, name):
    """Supports are enumerated: one start is enough, and drawn games need not even leave it."""
    model = make_table(GAMES[name]["rows"], GAMES[name]["columns"])
    still = {"replicator_steps": 0, "max_steps": 0} if name.startswith("drawn") else {}
    result = find_equilibria(model, rng=stream(0), num_starts=1, **still)
    _same(_mixtures(result), GAMES[name]["equilibria"])
    assert result.exhaustive
    assert max(max(equilibrium.regrets) for equilibrium in result) < 1e-9


@pytest.mark.parametrize(
    ("table", "wanted"),
    [
        (CYCLE, [THIRDS]),
        ([[0, -1, 1], [1, 0, -1], [-1, 1, 0]], [THIRDS]),
        ([[0, 3], [1, 2]], [[0.5, 0.5]]),  # hawks and doves
        (
            np.diag([1.0, 2.0, 3.0]),
            [
                *np.eye(3), [2 / 3, 1 / 3, 0], [3 / 4, 0, 1 / 4], [0, 0.6, 0.4],
                [6 / 11, 3 / 11, 2 / 11],
            ],
        ),
    ],
)  # fmt: skip
def test_symmetric_equilibria_of_two_players(make_table, table, wanted):
    result = find_equilibria(make_table(table), rng=stream(0), num_starts=1)
    _same(_mixtures(result), wanted)
    assert result.exhaustive


@pytest.mark.parametrize("name", ["the same, losses cost two", "Shapley's game"])
def test_newton_steps_from_raw_starts_find_what_the_dynamics_flee(make_table, name):
    model = make_table(GAMES[name]["rows"], GAMES[name]["columns"])
    result = find_equilibria(model, rng=stream(0), num_starts=32, max_supports=0)
    assert any(s.route == "newton" and s.equilibrium == 0 for s in result.searches)
    _same(_mixtures(result), GAMES[name]["equilibria"])


def test_a_crowd_that_plays_rock_paper_scissors(rng):
    """Thirty players and a learned model, from which the dynamics spiral outwards."""
    game = RoleSymmetricGame((30,), (3,))
    x = np.stack([rng.multinomial(30, rng.dirichlet(np.ones(3))) for _ in range(80)]).astype(float)
    payoffs = np.stack([(x - np.eye(3)[s]) @ CYCLE[s] / 29 for s in range(3)], axis=1)
    model = fit_payoffs(
        game, x, np.where(x > 0, payoffs, np.nan), noise_var=1e-6, lengthscale_per="role"
    )
    result = find_equilibria(model, rng=stream(0))
    gaps = [np.abs(equilibrium.mixture - THIRDS).max() for equilibrium in result]
    assert min(gaps) < 0.02


def _three_roles(rng, unit):
    """Two roles play a random game of 3 by 3; a third is paid in a unit of its own."""
    tables = rng.normal(size=(2, 3, 3))
    pure, wide = np.eye(8), np.full(8, 1e6)
    narrow = [np.where((np.arange(8) // 3) == role, 0.05, wide) for role in (1, 0)]
    rows = [Expansion(pure[3:6], tables[0][i], narrow[0]) for i in range(3)]
    columns = [Expansion(pure[:3], tables[1][:, j], narrow[1]) for j in range(3)]
    firm = [Expansion(pure[:3], unit * rng.normal(size=3), narrow[1]) for _ in range(2)]
    game = RoleSymmetricGame((1, 1, 1), (3, 3, 2))
    return PayoffModel(game, (*rows, *columns, *firm)), tables


@pytest.mark.parametrize("seed", [0])
def test_a_role_that_is_paid_in_another_unit_hides_no_regret(seed):
    """One range for all roles once let through whatever the poorer roles did."""
    model, (A, B) = _three_roles(np.random.default_rng(seed), 1e5)
    result = find_equilibria(model, rng=stream(seed), num_starts=4)
    assert len(result) >= 1
    for equilibrium in result:
        x, y = equilibrium.mixture[:3], equilibrium.mixture[3:6]
        gains = (A @ y).max() - x @ A @ y, (x @ B).max() - x @ B @ y
        np.testing.assert_allclose(equilibrium.regrets[:2], gains, atol=1e-6)
        assert max(gains) < 1e-6
    usual = find_equilibria(
        _three_roles(np.random.default_rng(seed), 1.0)[0], rng=stream(seed), num_starts=4
    )
    _same(_mixtures(result), _mixtures(usual))
    np.testing.assert_allclose(
        result.payoff_ranges, np.asarray([1.0, 1.0, 1e5]) * usual.payoff_ranges, rtol=1e-5
    )


def test_regrets_are_told_role_by_role(make_table):
    game = GAMES["battle of the sexes"]
    rich = make_table(np.asarray(game["rows"]) * 1e7, np.asarray(game["columns"]) * 1e-5)
    result = find_equilibria(rich, rng=stream(0))
    _same(_mixtures(result), game["equilibria"])
    np.testing.assert_allclose(result.payoff_ranges, [2e7, 2e-5])
    p = np.asarray([[0.5, 0.5, 0.5, 0.5]])
    each = regret(rich.deviation_payoffs(p), p, rich.game, by_role=True)
    np.testing.assert_allclose(each, [[0.25e7, 0.25e-5]])
    assert regret(rich.deviation_payoffs(p), p, rich.game)[0] == each[0, 0]


def test_a_strategy_that_ruins_hides_no_regret(make_table):
    """What a role may lose by one strategy is no measure of what it may gain by the others."""
    table = np.asarray([[2.0, 0.0, 0.0], [0.0, 1.0, 0.0], [-1e6, -1e6, -1e6]])
    result = find_equilibria(make_table(table), rng=stream(1), num_starts=8)
    _same(_mixtures(result), [[1, 0, 0], [1 / 3, 2 / 3, 0], [0, 1, 0]])


@pytest.mark.parametrize(("scale", "offset"), [(1e300, 0.0), (1e-300, 0.0), (1.0, 1e12)])
def test_neither_scale_nor_offset_of_the_payoffs_matters(make_table, scale, offset):
    """An offset takes digits; what is left of them decides what may be called an equilibrium."""
    table = make_table([[2, 0], [0, 1]], [[1, 0], [0, 2]])
    moved = [
        Expansion(e.profiles, e.weights, e.lengthscales, scale, offset) for e in table.expansions
    ]
    result = find_equilibria(PayoffModel(table.game, moved), rng=stream(0), num_starts=4)
    wanted = np.asarray(GAMES["battle of the sexes"]["equilibria"])
    gaps = np.abs(_mixtures(result)[:, None, :] - wanted[None, :, :]).max(axis=2)
    assert len(result) == 3
    assert gaps.min(axis=0).max() < (1e-7 if offset == 0.0 else 1e-3)


def test_payoffs_that_are_an_offset_and_rounding_leave_no_choice(make_table):
    table = make_table([[2, 0], [0, 1]], [[1, 0], [0, 2]])
    moved = [Expansion(e.profiles, e.weights, e.lengthscales, 1.0, 1e300) for e in table.expansions]
    result = find_equilibria(PayoffModel(table.game, moved), rng=stream(0), num_starts=4)
    assert result.num_failed == 0


def test_a_range_that_shows_only_where_all_are_pure():
    """Everybody's payoff depends on whether the two others do alike: even mixtures hide it."""
    game, pure = RoleSymmetricGame((1, 1, 1), (2, 2, 2)), np.eye(2)
    both = np.asarray([[*a, *b] for a in pure for b in pure])
    expansions = []
    for role in range(3):
        profiles = np.insert(both, [2 * role] * 2, 0.0, axis=1)
        for wants in (1.0, -1.0):
            weights = wants * np.asarray([1.0, -1.0, -1.0, 1.0])
            expansions.append(Expansion(profiles, weights, np.full(6, 0.05), scale=1e-6))
    result = find_equilibria(PayoffModel(game, expansions), np.full((1, 6), 0.5))
    np.testing.assert_allclose(result.payoff_ranges, 2e-6)
    assert all(max(equilibrium.regrets) < 1e-13 for equilibrium in result)
    assert len(result) >= 5  # all even, and four pure


@pytest.mark.parametrize(("players", "strategies"), [
    ((5,), (4,)), ((30,), (3,)), ((4, 3), (3, 2)), ((6, 1), (2, 3)), ((3, 3, 2), (2, 2, 2)),
])  # fmt: skip
def test_nothing_else_and_the_path_through_simplices_still_finds_one(
    make_model, players, strategies
):
    model = make_model(players, strategies, lengths=(0.8, 5.0))
    start = np.repeat([1.0 / s for s in strategies], strategies)
    result = find_equilibria(model, start, max_steps=0, replicator_steps=0, max_supports=0)
    assert len(result) == 1
    assert result.searches[-1].route == "simplicial"
    assert all(np.asarray(result[0].regrets) <= result.max_regrets)


@pytest.mark.parametrize("n", [1, 2, 5])
def test_the_path_ends_at_a_fixed_point(rng, n):
    A, b = 3.0 * rng.normal(size=(n, n)), rng.normal(size=n)

    def F(y):
        return np.tanh(A @ y + b)

    ends = list(fixed_points(F, np.full(n, 0.01)))
    assert np.abs(F(ends[-1]) - ends[-1]).max() < 1e-8
    assert len(ends) == 14
    assert list(fixed_points(F, np.zeros(n), max_steps=1)) == []


def test_every_support_once_and_small_ones_first():
    game = RoleSymmetricGame((4, 5), (2, 3))
    chosen = first_supports(game, 1000)
    assert len(set(chosen)) == len(chosen) == count_supports(game) == 21
    assert [len(support) for support in chosen] == sorted(len(support) for support in chosen)
    assert chosen[:2] == [(0, 2), (0, 3)]
    assert first_supports(game, 4) == chosen[:4]
    duel = first_supports(RoleSymmetricGame((1, 1), (2, 3)), 9)
    assert [len(support) for support in duel] == [2] * 6 + [4] * 3
    vast = RoleSymmetricGame((9, 9), (40, 40))
    assert len(first_supports(vast, 1700)) == 1700  # of 1e24


def test_a_small_chance_is_not_taken_for_the_edge(make_table):
    """Linear payoffs: the step that leads there is the last, however near to the edge."""
    model = make_table([[0.0, 1.0], [1e-7, 0.0]])
    solved = solve_on_supports(
        lambda q: model.deviation_payoffs_and_jacobian(q), [(0, 1)], model.game, np.ones(2), 1e-14
    )
    assert not solved.left_simplex[0]
    np.testing.assert_allclose(solved.mixtures[0, 1], 1e-7, rtol=1e-5)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_a_vertex_turns_over_to_the_other_simplex_of_the_triangulation(rng, n):
    """Its neighbours in the order differ from it by one step each way: back again it is itself."""
    order = rng.permutation(n + 1)
    vertices = [np.zeros(n + 1)]
    for k in order:
        vertices.append(vertices[-1] + np.eye(n + 1)[k])
    for i in range(n + 2):
        new = _pivot(vertices, i)
        others = [v for j, v in enumerate(vertices) if j != i]
        place = {0: n + 1, n + 1: 0}.get(i, i)
        again = [*others[:place], new, *others[place:]]
        steps = np.diff(again, axis=0)
        assert sorted(map(tuple, steps)) == sorted(map(tuple, np.eye(n + 1)))
        assert not any(np.array_equal(new, v) for v in vertices)
        np.testing.assert_array_equal(_pivot(again, place), vertices[i])


def test_a_path_ends_where_its_steps_do():
    F = lambda y: np.asarray([0.3, -0.2]) + 0.1 * np.sin(y[::-1])  # noqa: E731
    ends = list(fixed_points(F, np.zeros(2), meshes=4))
    assert len(ends) == 4
    for level, y in enumerate(ends):
        assert np.max(np.abs(F(y) - y)) < 0.1 / 4.0**level
    steps = []
    many = next(
        k for k in range(1, 99) if len(list(fixed_points(F, np.zeros(2), meshes=1, max_steps=k)))
    )
    two = list(fixed_points(lambda y: steps.append(1) or F(y), np.zeros(2), max_steps=many))
    assert len(two) == 1
    assert len(steps) <= 2 * many + 4


@pytest.mark.parametrize("unit", [1.0, 1e6, 1e-9])
def test_without_a_tolerance_what_the_largest_payoff_rounds_to_is_allowed(make_table, unit):
    """One payoff is zero, so that the least of them rounds to nothing."""
    table = make_table([[2, 0], [0, 1]], [[1, 0], [0, 2]])
    moved = [Expansion(e.profiles, e.weights, e.lengthscales, unit, 0.0) for e in table.expansions]
    problem = pose(
        MethodPayoffs(PayoffModel(table.game, moved), "exact", {}), np.full((1, 4), 0.5), 0.0
    )
    np.testing.assert_allclose(problem.max_regrets, 64.0 * 2.0**-52 * 2.0 * unit)
    losses = problem.losses(np.asarray([[3.0, 1.0, -2.0, 0.5]]))
    np.testing.assert_array_equal(losses, [[0.0, -2.0, -2.5, 0.0]])
