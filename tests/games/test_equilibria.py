"""Equilibria in every space, and how each search ended."""

import numpy as np
import pytest

from gpnotes import stream
from gpnotes.games import (
    Expansion,
    PayoffModel,
    RoleSymmetricGame,
    find_equilibria,
    regret,
    replicator_dynamics,
)
from gpnotes.ground.xp import to_numpy

GAME = RoleSymmetricGame((10,), (2,))


def _crowds(asarray=np.asarray, liked=False):
    """Each strategy pays less, or more, where all others play it."""
    sign = 1.0 if liked else -1.0
    everyone = [[[9.0, 0.0]], [[0.0, 9.0]]]
    bumps = [Expansion(asarray(x), asarray([sign]), asarray([6.0, 6.0])) for x in everyone]
    return PayoffModel(GAME, bumps)


@pytest.fixture
def two_roles(rng):
    """A function that makes a game of two roles, whose payoffs fall with the crowd."""
    x = np.asarray([rng.multinomial(6, [0.5, 0.5]) for _ in range(12)])
    z = np.asarray([rng.multinomial(4, [0.3, 0.3, 0.4]) for _ in range(12)])
    profiles = np.concatenate([x, z], axis=1).astype(float)
    weights = [-profiles[:, s] + 0.3 * rng.normal(size=12) for s in range(5)]

    def make(asarray):
        game = RoleSymmetricGame((7, 5), (2, 3))
        return PayoffModel(
            game,
            tuple(
                Expansion(asarray(profiles), asarray(w), asarray(np.full(5, 4.0))) for w in weights
            ),
        )

    return make


def test_every_space_finds_the_equilibria_of_numpy(space, two_roles):
    model, wanted = two_roles(space.asarray), two_roles(np.asarray)
    p = stream(2).generator
    starts = np.concatenate([p.dirichlet(np.ones(k), 3) for k in (2, 3)], axis=1)
    few = {"replicator_steps": 10, "max_supports": 3}
    ours = find_equilibria(model, space.asarray(starts), **few)
    theirs = find_equilibria(wanted, starts, **few)
    assert len(ours) == len(theirs) == 1
    assert ours.num_starts == theirs.num_starts == 3
    for search in ours.searches:
        assert space.holds(search.mixture)
        assert len(search.regrets) == 2
    for a, b in zip(ours, theirs, strict=True):
        assert space.holds(a.mixture)
        assert space.holds(a.payoffs)
        gap = 1e-9 if space.double else 1e-3
        np.testing.assert_allclose(to_numpy(a.mixture), b.mixture, rtol=0, atol=gap)
    drawn = find_equilibria(model, rng=stream(3), num_starts=2, **few)
    assert space.holds(drawn[0].mixture)
    assert drawn.num_starts == 2


def test_every_space_goes_every_way(space, make_table):
    """Supports, and the path through simplices where no other search is allowed."""
    model = make_table([[2, 0], [0, 1]], [[1, 0], [0, 2]], asarray=space.asarray)
    start = space.asarray([[0.5, 0.5, 0.5, 0.5]])
    pure_or_not = [[1, 0, 1, 0], [2 / 3, 1 / 3, 1 / 3, 2 / 3], [0, 1, 0, 1]]
    result = find_equilibria(model, start)
    assert [e.num_searches > 0 for e in result] == [True] * 3
    np.testing.assert_allclose([to_numpy(e.mixture) for e in result], pure_or_not, atol=1e-5)
    alone = find_equilibria(model, start, max_steps=0, replicator_steps=0, max_supports=0)
    assert len(alone) == 1
    assert alone.searches[-1].route == "simplicial"
    assert min(abs(to_numpy(alone[0].mixture) - one).max() for one in pure_or_not) < 1e-3
    assert space.holds(alone[0].mixture)


def test_every_space_follows_the_dynamics_of_numpy(space, two_roles):
    starts = np.asarray([[0.9, 0.1, 0.2, 0.3, 0.5], [1.0, 0.0, 0.0, 0.5, 0.5]])
    p = replicator_dynamics(two_roles(space.asarray), space.asarray(starts), num_steps=20)
    assert space.holds(p)
    wanted = replicator_dynamics(two_roles(np.asarray), starts, num_steps=20)
    np.testing.assert_allclose(to_numpy(p), wanted, atol=1e-12 if space.double else 1e-4)
    assert to_numpy(p)[1, 1] == to_numpy(p)[1, 2] == 0.0


@pytest.mark.parametrize("method", ["exact", "enumerated", "gaussian", "point"])
def test_each_method_certifies_with_its_own_payoffs(two_roles, method):
    model = two_roles(np.asarray)
    result = find_equilibria(
        model, rng=stream(0), num_starts=8, method=method, true_payoffs=model.deviation_payoffs
    )
    for one in result:
        p = one.mixture[None, :]
        again = regret(model.deviation_payoffs(p, method), p, model.game)[0]
        exact = regret(model.deviation_payoffs(p), p, model.game)[0]
        assert one.method == method
        assert one.regret == pytest.approx(again, abs=1e-12)
        assert one.true_regret == pytest.approx(exact, abs=1e-12)
        assert one.regret < 1e-9
    assert (result[0].true_regret < 1e-9) == (method in ("exact", "enumerated"))


def test_starts_that_fail_are_counted():
    """Without any steps only a start that is an equilibrium already ends at one."""
    starts = np.asarray([[0.5, 0.5], [0.9, 0.1], [0.2, 0.8], [0.501, 0.499]])
    idle = {"replicator_steps": 0, "max_steps": 0, "tolerance": 1e-2, "min_distance": 1e-2}
    result = find_equilibria(_crowds(), starts, max_supports=0, **idle)
    assert (result.num_starts, result.num_failed, len(result)) == (4, 2, 1)
    assert result[0].num_searches == 2
    assert [search.equilibrium for search in result.searches] == [0, None, None, 0]
    outcomes = [search.outcome for search in result.searches]
    assert outcomes == ["equilibrium", "did not converge", "did not converge", "equilibrium"]
    above = [search.regrets[0] > result.max_regrets[0] for search in result.searches]
    assert above == [False, True, True, False]
    twice = find_equilibria(_crowds(), starts, max_supports=0)
    assert (twice.num_starts, len(twice.searches), twice.num_failed, twice[0].num_searches) == (
        4,
        8,
        0,
        8,
    )
    routes = [(search.route, search.start) for search in twice.searches]
    assert routes == [(way, i) for way in ("newton", "replicator") for i in range(4)]


def test_searches_on_supports_say_how_they_ended(make_table):
    """Where the first always pays more: the mixture of both is found outside of the simplex."""
    result = find_equilibria(make_table([[3.0, 5.0], [1.0, 2.0]]), np.asarray([[0.5, 0.5]]))
    outcomes = {s.support: s.outcome for s in result.searches if s.route == "support"}
    assert outcomes == {
        (0,): "equilibrium", (1,): "another strategy pays more", (0, 1): "left the simplex"
    }  # fmt: skip
    assert result.supports == (3, 3)
    few = find_equilibria(
        make_table([[3.0, 5.0], [1.0, 2.0]]), np.asarray([[0.5, 0.5]]), max_supports=2
    )
    assert few.supports == (2, 3)
    assert (result.exhaustive, few.exhaustive) == (True, False)


def test_a_result_prints_what_was_found(make_table):
    result = find_equilibria(make_table([[2, 0], [0, 1]]), np.asarray([[0.9, 0.1]]))
    assert repr(result) == "Equilibria(3 found by 5 searches: 1 start, 3 of 3 supports)"
    assert "  1  Equilibrium([0.3333 0.6667], num_searches=" in str(result)
    assert "regret by role at most 3e-08" in str(result)
    assert "support: equilibrium, 3" in str(result)
    assert str(result).endswith("every support was tried: unless it is degenerate, all.")
    assert repr(result.searches[0]) == "Search(newton from start 0: equilibrium 0)"
    assert repr(result.searches[-1]) == "Search(support (0, 1): equilibrium 1)"
    result = find_equilibria(_crowds(), np.asarray([[0.9, 0.1]]))
    assert result.num_failed == 0
    assert str(result).endswith("that no search failed would not prove there are none.")


@pytest.mark.parametrize("off", [0.0, 1e-11, 0.4])
def test_a_search_that_starts_or_ends_where_all_payoffs_are_alike(off):
    """Their range must not be taken there: next to nothing would be allowed as regret."""
    (one,) = find_equilibria(_crowds(), np.asarray([[0.5 + off, 0.5 - off]]))
    np.testing.assert_allclose(one.mixture, [0.5, 0.5], atol=1e-12)


def test_where_the_crowd_pays_three_equilibria_stand_in_order():
    """No start lies on the one in the middle: there rounding would decide where it leads."""
    starts = np.asarray([[0.95, 0.05], [0.1, 0.9], [0.48, 0.52], [0.9, 0.1]])
    result = find_equilibria(_crowds(liked=True), starts)
    ends = [[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]]
    np.testing.assert_allclose([e.mixture for e in result], ends, atol=1e-9)
    assert all(e.regret < 1e-12 for e in result)
    followed = {s.start: s.equilibrium for s in result.searches if s.route == "replicator"}
    assert (followed[0], followed[1], followed[3]) == (0, 2, 0)
    assert result[1:] == result.equilibria[1:]


def test_payoffs_that_are_all_alike_make_every_start_an_equilibrium():
    flat = Expansion(np.zeros((1, 2)), np.zeros(1), np.ones(2), offset=3.0)
    starts = np.asarray([[0.3, 0.7], [0.8, 0.2]])
    result = find_equilibria(PayoffModel(GAME, (flat, flat)), starts, max_supports=0)
    assert (len(result), result.num_failed, result.payoff_ranges) == (2, 0, (0.0,))


def test_a_role_with_one_player_and_one_with_one_strategy():
    """Matching pennies against a crowd that has no choice: the lone player takes the better."""
    game = RoleSymmetricGame((1, 3), (2, 1))
    bumps = [
        Expansion(np.asarray([[0.0, 0.0, 3.0]]), np.asarray([w]), np.ones(3))
        for w in (1.0, 2.0, 0.0)
    ]
    (one,) = find_equilibria(PayoffModel(game, bumps), rng=stream(0), num_starts=4)
    np.testing.assert_allclose(one.mixture, [0.0, 1.0, 1.0], atol=1e-9)


@pytest.mark.parametrize("strategies", [(2,), (3, 2), (1, 4)])
def test_a_path_through_simplices_begins_near_the_even_mixture(make_model, monkeypatch, strategies):
    """Where it has no steps it ends there, and the search has not converged."""
    begun = []

    def no_path(F, start, **options):
        begun.append(start)
        return iter(())

    monkeypatch.setattr("gpnotes.games.equilibria.search.fixed_points", no_path)
    model = make_model((3,) * len(strategies), strategies)
    uneven = np.concatenate([np.arange(1.0, s + 1.0) / (s * (s + 1) / 2) for s in strategies])
    idle = {"max_steps": 0, "max_supports": 0, "replicator_steps": 0}
    result = find_equilibria(model, uneven, tolerance=1e-9, **idle)
    last = result.searches[-1]
    assert (last.route, last.start, last.support) == ("simplicial", None, None)
    even = np.repeat([1.0 / s for s in strategies], strategies)
    assert np.max(np.abs(np.asarray(last.mixture) - even)) < 0.04
    free = np.concatenate([np.full(s - 1, 1.0 / s) for s in strategies])
    gaps = np.abs(begun[0] - free)
    assert len(set(gaps)) == len(gaps)  # so that no two vertices are alike
    assert 0.0 < np.min(gaps) <= np.max(gaps) <= 0.01


def test_of_ends_that_are_one_equilibrium_that_with_the_fewest_strategies_stands_for_it(make_table):
    """A mixture of two that pay alike is as good to rounding, and may come first."""
    model = make_table(np.asarray([[1.0, 1.0], [1.0, 1.0], [0.0, 0.0]]), np.ones((3, 2)))
    starts = np.asarray([[0.9998, 0.0002, 0.0, 0.0, 1.0], [1.0, 0.0, 0.0, 0.0, 1.0]])
    found = find_equilibria(model, starts, max_steps=0, max_supports=0, replicator_steps=0)
    np.testing.assert_array_equal([e.mixture for e in found], starts[1:])


def test_equilibria_are_ordered_by_regret_and_then_by_the_first_strategies(make_table):
    """Of a game of coordination all are exact; ends that are near one another are one."""
    model = make_table(np.diag([1.0, 1.0, 1.0]))
    starts = np.asarray([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [1.0, 0.0, 0.0]])
    idle = {"max_steps": 0, "max_supports": 0, "replicator_steps": 0}
    result = find_equilibria(model, starts, **idle)
    np.testing.assert_array_equal([e.mixture for e in result], np.eye(3))
    assert [e.num_searches for e in result] == [2, 1, 1]
    assert [s.equilibrium for s in result.searches] == [2, 1, 0, 0]
    near = np.asarray([[0.0, 0.01, 0.99], [0.0, 0.0, 1.0], [0.99, 0.0, 0.01]])
    loose = find_equilibria(model, near, tolerance=0.1, min_distance=0.0101, **idle)
    np.testing.assert_array_equal([e.mixture for e in loose], near[1:])  # the least regret first
    assert [s.equilibrium for s in loose.searches] == [0, 0, 1]
    each = find_equilibria(model, near, tolerance=0.1, min_distance=0.0099, **idle)
    np.testing.assert_array_equal([e.mixture for e in each], near[[1, 2, 0]])
