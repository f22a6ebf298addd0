"""Six methods for one expectation: where they must agree, and what each derivative means."""

import math
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from gpnotes import stream
from gpnotes.games import Expansion, PayoffModel, RoleSymmetricGame
from gpnotes.games.methods.polynomials import poisson_table
from gpnotes.ground.xp import to_numpy

# one strategy, one role, one player in a role, unequal numbers, many strategies, three roles
SHAPES = [
    ((3,), (2,)),
    ((4,), (1,)),
    ((5, 4), (3, 2)),
    ((1, 6), (2, 3)),
    ((1, 1), (2, 2)),
    ((4,), (7,)),
    ((3, 2, 2), (1, 3, 2)),
]


@pytest.mark.parametrize(("players", "strategies"), SHAPES)
def test_exact_is_enumerated(space, make_model, make_mixtures, players, strategies):
    model = make_model(players, strategies, space.asarray)
    p = space.asarray(make_mixtures(model.game, 5, corner=True))
    u, J = model.deviation_payoffs_and_jacobian(p, "exact")
    wanted, jacobian = model.deviation_payoffs_and_jacobian(p, "enumerated")
    assert space.holds(u)
    assert space.holds(J)
    rounding = 1e-12 if space.double else 1e-4
    np.testing.assert_allclose(to_numpy(u), to_numpy(wanted), rtol=0, atol=rounding)
    np.testing.assert_allclose(to_numpy(J), to_numpy(jacobian), rtol=0, atol=10 * rounding)
    np.testing.assert_array_equal(to_numpy(model.deviation_payoffs(p)), to_numpy(u))


def test_enumerated_is_the_definition(make_model, make_mixtures):
    """A sum over ordered choices of each opponent, which knows no multinomial."""
    model = make_model((3, 2), (2, 2))
    p = make_mixtures(model.game, 1)
    total = 0.0
    for a, b, c in np.ndindex(2, 2, 2):  # two opponents of role 0, … one strategy 0 deviates
        for d in range(2):
            x = np.zeros(4)
            for s in (a, b, 2 + c, 2 + d):
                x[s] += 1
            total += (
                p[0, a] * p[0, b] * p[0, 2 + c] * p[0, 2 + d] * model.expansions[0].payoff(x[None])
            )
    assert abs(total[0] - model.deviation_payoffs(p, "enumerated")[0, 0]) < 1e-13


@pytest.mark.parametrize("method", ["exact", "enumerated", "gaussian", "point", "neighbours"])
@pytest.mark.parametrize(
    ("players", "strategies"), [((5, 4), (3, 2)), ((1, 6), (2, 3)), ((4,), (5,))]
)
def test_jacobians_along_the_simplex(make_model, make_mixtures, rng, method, players, strategies):
    model = make_model(players, strategies, lengths=(0.8, 5.0))
    p = 0.8 * make_mixtures(model.game, 4) + 0.2 / np.repeat(strategies, strategies)
    d = rng.normal(size=p.shape)
    for part in model.game.columns:
        d[:, part] -= d[:, part].mean(axis=1, keepdims=True)
    J = model.deviation_payoffs_and_jacobian(p, method)[1]

    def along(h):
        up, down = (model.deviation_payoffs(p + e * d, method) for e in (h, -h))
        return (up - down) / (2 * h)

    difference = (4 * along(5e-4) - along(1e-3)) / 3
    np.testing.assert_allclose((J @ d[:, :, None])[:, :, 0], difference, rtol=1e-6, atol=1e-7)


def test_gaussian_is_the_dense_formula(space, make_model, make_mixtures):
    model = make_model((7, 1), (3, 2), space.asarray)
    p = make_mixtures(model.game, 4, corner=True)
    got = model.deviation_payoffs(space.asarray(p), "gaussian")
    assert space.holds(got)
    wanted = [[_dense(model, s, row) for s in range(5)] for row in p]
    rounding = 1e-11 if space.double else 1e-3
    np.testing.assert_allclose(to_numpy(got), wanted, rtol=0, atol=rounding)


def _dense(model, s, p):
    """Normal densities with full covariance matrices, one sample at a time."""
    f = model.expansions[s]
    X, ell, w = (np.asarray(to_numpy(a), float) for a in (f.profiles, f.lengthscales, f.weights))
    values = np.ones(len(w))
    for n, c in zip(model.game.opponents(s), model.game.columns, strict=True):
        L = np.diag(ell[c] ** 2)
        V = L + n * (np.diag(p[c]) - np.outer(p[c], p[c]))
        y = X[:, c] - n * p[c]
        form = (y * np.linalg.solve(V, y.T).T).sum(axis=1)
        values = values * np.sqrt(np.linalg.det(L) / np.linalg.det(V)) * np.exp(-0.5 * form)
    return f.offset + f.scale * values @ w


def test_samples_lie_within_their_errors(make_model, make_mixtures):
    model = make_model((5, 1), (3, 2))
    p = make_mixtures(model.game, 4)
    exact = model.deviation_payoffs_and_jacobian(p)
    estimates = model.sampled_payoffs_and_jacobian(p, num_samples=4000, rng=stream(1))
    for estimate, wanted in zip(estimates, exact, strict=True):
        assert (abs(estimate.mean - wanted) < 4.5 * estimate.standard_error + 1e-12).all()
    assert estimates[0].standard_error.max() < 0.1
    with pytest.raises(ValueError, match="num_samples must be a whole number from 2; got 1"):
        model.deviation_payoffs(p, "sampled", rng=stream(1), num_samples=1)


def test_all_neighbours_are_all_profiles(make_model, make_mixtures):
    model = make_model((5, 3), (3, 2))
    p = make_mixtures(model.game, 4)
    wanted = model.deviation_payoffs(p)
    gaps = [
        abs(model.deviation_payoffs(p, "neighbours", max_deviations=k) - wanted).max()
        for k in (0, 2, 8)
    ]
    assert gaps[0] > gaps[1] > 1e-3
    assert gaps[2] < 1e-12


@pytest.mark.parametrize("n", [1, 50, 1200])
def test_hundreds_of_players_neither_over_nor_underflow(n):
    """``E exp`` of a flat payoff is one, and of a bump at zero of one strategy a binomial sum."""
    game = RoleSymmetricGame((n + 1,), (2,))
    flat = Expansion(np.zeros((1, 2)), np.ones(1), np.full(2, 1e9))
    bump = Expansion(np.zeros((1, 2)), np.ones(1), np.asarray([3.0, 1e9]))
    p = np.asarray([[0.01, 0.99], [0.5, 0.5], [0.0, 1.0]])
    got = PayoffModel(game, (flat, bump)).deviation_payoffs(p)
    np.testing.assert_allclose(got[:, 0], 1.0, rtol=1e-12)
    x = np.arange(n + 1)
    for q, value in zip(p[:, 0], got[:, 1], strict=True):
        if q > 0:
            log = [math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1) for k in x]
            chance = np.exp(np.asarray(log) + x * np.log(q) + (n - x) * np.log1p(-q))
            assert abs(value - chance @ np.exp(-(x**2) / 18.0)) < 1e-11
    assert abs(got[2, 1] - 1.0) < 1e-12


def test_poisson_probabilities(space):
    rate = space.asarray([[0.0, 0.3, 7.0]])
    table = poisson_table(rate, 9)
    assert space.holds(table)
    wanted = [[math.exp(-v) * v**x / math.factorial(x) for x in range(10)] for v in (0.0, 0.3, 7.0)]
    rounding = 1e-14 if space.double else 2e-6
    np.testing.assert_allclose(to_numpy(table)[0], wanted, rtol=rounding, atol=0)


def test_blocks_change_nothing(make_model, make_mixtures, monkeypatch):
    model = make_model((4, 4), (4, 3), n=40)
    p = make_mixtures(model.game, 70)
    u, J = model.deviation_payoffs_and_jacobian(p)
    monkeypatch.setattr("gpnotes.games.methods.exact_sum._HELD", 2000)
    small, jacobian = model.deviation_payoffs_and_jacobian(p)
    np.testing.assert_allclose(small, u, rtol=1e-12)
    np.testing.assert_allclose(jacobian, J, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("threads", [2, 3, 9])
def test_threads_change_nothing(make_model, make_mixtures, threads):
    """Each has a workspace of its own, and its blocks go back to their places."""
    model = make_model((9, 7), (3, 2), n=70)
    p = make_mixtures(model.game, 500)  # seven blocks
    alone = model.deviation_payoffs_and_jacobian(p)
    for ours, theirs in zip(
        model.deviation_payoffs_and_jacobian(p, threads=threads), alone, strict=True
    ):
        np.testing.assert_array_equal(ours, theirs)


def test_threads_are_those_that_were_asked_for(make_model, make_mixtures, monkeypatch):
    """One unless given, whatever the environment says to other libraries."""
    model = make_model((9, 7), (3, 2), n=70)
    p = make_mixtures(model.game, 500)
    asked = []

    class Pool(ThreadPoolExecutor):
        def __init__(self, threads):
            asked.append(threads)
            super().__init__(threads)

    monkeypatch.setattr("gpnotes.games.methods.exact_sum.ThreadPoolExecutor", Pool)
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    model.deviation_payoffs(p)
    assert asked == []
    model.deviation_payoffs(p, threads=2)
    assert asked == [2] * model.game.num_roles


def test_what_is_refused(make_model):
    model = make_model((50, 50), (4, 4))
    p = np.full(8, 0.25)
    with pytest.raises(ValueError, match="would sum for strategy 0 over 517714600 profiles"):
        model.deviation_payoffs(p, "enumerated")
    with pytest.raises(ValueError, match=r"method must be one of .'exact', .*; got 'guess'"):
        model.deviation_payoffs(p, "guess")
    with pytest.raises(TypeError, match="mixtures must have the dtype of the profiles"):
        model.deviation_payoffs(p.astype(np.float32))
    with pytest.raises(ValueError, match="one for each of the 8 strategies; got 3"):
        PayoffModel(model.game, model.expansions[:3])
    with pytest.raises(ValueError, match="lengthscales must be positive"):
        Expansion(np.zeros((1, 2)), np.ones(1), np.zeros(2))


def test_an_expansion_keeps_its_own_arrays(space):
    given = [space.asarray(a) for a in (np.zeros((1, 2)), np.ones(1), np.ones(2))]
    bump = Expansion(*given)
    for array in given:
        array[...] = float("nan")
    np.testing.assert_array_equal(to_numpy(bump.payoff(space.asarray(np.zeros((1, 2))))), [1.0])


def test_profiles_with_an_entry_below_zero_are_none_of_all_players():
    game = RoleSymmetricGame((2,), (2,))
    beyond = Expansion(np.asarray([[3.0, -1.0]]), np.ones(1), np.ones(2))
    assert PayoffModel(game, (beyond, beyond)).expansions == (beyond, beyond)
    slip = Expansion(np.asarray([[3.0, -1.0], [2.0, 0.0]]), np.ones(2), np.ones(2))
    with pytest.raises(ValueError, match="in row 1 they sum to all 2 players"):
        PayoffModel(game, (slip, beyond))
