"""Greedy designs: the same picks lazily, by refitting and on every backend, and the guarantee."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from memory_use import peak

from gpnotes import GP, RBF, Matern32, condition, to_numpy
from gpnotes.decide.design import exhaustive_design, greedy_design
from gpnotes.ground import memory

CRITERIA = ["information", "variance", "integrated variance", "mutual information"]
FALLING = ["information", "variance", "mutual information"]


def close(space):
    return {"rtol": 1e-8, "atol": 1e-11} if space.double else {"rtol": 5e-3, "atol": 2e-4}


def worths(gp, X, criterion, noise, dense, S):
    """The gain of every candidate given those in S, each computed from nothing; −1 for S itself."""
    sets = dense(gp, X, noise)
    if criterion == "variance":
        worth = np.diag(sets.covariance(S)).copy()
    else:
        now = sets.value(criterion, S)
        worth = np.asarray([sets.value(criterion, {*S, j}) - now for j in range(X.shape[0])])
    worth[S] = -1.0
    return worth


@pytest.mark.parametrize("lazy", [True, False], ids=["lazy", "eager"])
@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("noisy", ["one noise", "a noise each"])
def test_greedy_is_refitting_for_every_candidate(
    space, process, inputs, noises, dense, criterion, noisy, lazy
):
    gp, X = process(space.asarray), space.asarray(inputs)
    given, host = (None, 0.2) if noisy == "one noise" else (space.asarray(noises), noises)
    white = getattr(gp.kernel, "parts", None)
    if criterion == "integrated variance" and white:
        gp = GP(white[0], gp.noise_var)  # the reference does not share it: a test of its own
    design = greedy_design(gp, X, 5, criterion, noise_var=given, lazy=lazy)
    assert space.holds(design.gains)
    picks, gains = to_numpy(design.indices).tolist(), to_numpy(design.gains)
    for t, (pick, gained) in enumerate(zip(picks, gains, strict=True)):
        worth = worths(gp, X, criterion, host, dense, picks[:t])
        np.testing.assert_allclose(gained, worth[pick], **close(space))
        assert worth[pick] >= worth.max() - (1e-9 if space.double else 2e-3)
    assert design.value == pytest.approx(gains.sum(), rel=1e-6)


@pytest.mark.parametrize("criterion", FALLING)
@pytest.mark.parametrize("seed", range(6))
def test_lazy_picks_what_eager_picks_with_fewer_evaluations(criterion, seed):
    rng = np.random.default_rng(seed)
    X, noise = rng.uniform(size=(150, 2)), rng.uniform(0.05, 0.5, 150)
    gp = GP(Matern32(1.0, 0.15), 0.1)
    designs = [
        greedy_design(gp, X, 25, criterion, noise_var=noise, lazy=lazy) for lazy in (True, False)
    ]
    np.testing.assert_array_equal(designs[0].indices, designs[1].indices)
    np.testing.assert_allclose(designs[0].gains, designs[1].gains, rtol=1e-10)
    assert designs[1].evaluations == sum(150 - t for t in range(25))
    assert designs[0].evaluations < 0.5 * designs[1].evaluations


def test_every_backend_picks_the_same_of_many_that_are_equal(space):
    """On a grid, symmetry makes ties that rounding would break in its own way on each backend."""
    side = np.linspace(0.0, 1.0, 5)
    X = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
    gp = GP(RBF(1.0, 0.4), 0.1)
    host = X if space.double else X.astype(np.float32)
    wanted = greedy_design(gp, host, 8, lazy=False).indices.tolist()
    for lazy in (True, False):
        design = greedy_design(gp, space.asarray(X), 8, lazy=lazy)
        assert to_numpy(design.indices).tolist() == wanted
    assert wanted[0] == 0
    assert wanted[1] == 24 or not space.double


@pytest.mark.parametrize("criterion", CRITERIA)
def test_what_was_measured_before_counts_and_is_not_picked(process, inputs, criterion):
    gp = process(np.asarray)
    longer = greedy_design(gp, inputs, 6, criterion)
    rest = greedy_design(gp, inputs, 4, criterion, initial_subset=longer.indices[:2])
    np.testing.assert_array_equal(rest.indices, longer.indices[2:])
    np.testing.assert_allclose(rest.gains, longer.gains[2:], rtol=1e-9)


@pytest.mark.parametrize("criterion", ["information", "variance", "integrated variance"])
@pytest.mark.parametrize("lazy", [True, False])
def test_the_rest_of_the_ground_set_is_all_that_is_left(inputs, criterion, lazy):
    """A noisy candidate that was measured would be worth measuring again: it is not measured."""
    noise = np.full(12, 0.01)
    noise[[2, 3]] = 5.0
    design = greedy_design(
        GP(RBF(), 0.1), inputs, 10, criterion, noise_var=noise, initial_subset=[2, 3], lazy=lazy
    )
    assert sorted(design.indices.tolist()) == [0, 1, 4, 5, 6, 7, 8, 9, 10, 11]


@pytest.mark.parametrize("small", [0, 500])
def test_candidates_that_missed_much_and_little_are_renewed_together(monkeypatch, rng, small):
    from gpnotes.decide.design import downdates

    X, gp = rng.uniform(size=(400, 2)), GP(Matern32(1.0, 0.15), 0.1)
    wanted = greedy_design(gp, X, 40, lazy=False)
    monkeypatch.setattr(downdates, "_SMALL", small)
    for design in (greedy_design(gp, X, 40), greedy_design(gp, X, 40, lazy=False)):
        np.testing.assert_array_equal(design.indices, wanted.indices)
        np.testing.assert_allclose(design.gains, wanted.gains, rtol=1e-10)


@pytest.mark.parametrize("criterion", ["information", "variance", "integrated variance"])
@pytest.mark.parametrize("lazy", [True, False])
def test_a_posterior_counts_what_it_has_seen(space, inputs, criterion, lazy):
    gp, X = GP(RBF(1.1, 0.8), 0.3), space.asarray(inputs)
    elsewhere = {"reference": X} if criterion == "integrated variance" else {}
    prior_design, measured = (
        greedy_design(gp, X, 8, criterion, initial_subset=range(4), **elsewhere),
        X[:4, :],
    )
    posterior = condition(gp, measured, measured[:, 0])
    rest = greedy_design(posterior, X[4:, :], 4, criterion, lazy=lazy, **elsewhere)
    assert space.holds(rest.gains)
    np.testing.assert_array_equal(to_numpy(rest.indices) + 4, to_numpy(prior_design.indices)[:4])
    np.testing.assert_allclose(
        to_numpy(rest.gains), to_numpy(prior_design.gains)[:4], **close(space)
    )


def test_mutual_information_given_data_is_that_of_the_posterior(process, inputs, dense):
    """Both entropies are given the data, while `initial_subset` belongs to what is chosen."""
    gp = process(np.asarray)
    posterior = condition(gp, inputs[:4], inputs[:4, 0])
    design = greedy_design(posterior, inputs[4:], 3, "mutual information")
    left = dense(gp, inputs, 0.2).covariance(range(4))[4:, 4:]
    sets = type(dense(gp, inputs, 0.2))(left, 0.2)
    for t, gained in enumerate(design.gains.tolist()):
        S = design.indices[: t + 1].tolist()
        assert gained == pytest.approx(
            sets.mutual_information(S) - sets.mutual_information(S[:-1]), rel=1e-8
        )


def test_with_one_noise_the_most_information_is_the_largest_variance(process, inputs):
    gp = process(np.asarray)
    picks = [greedy_design(gp, inputs, 9, c).indices for c in ("information", "variance")]
    np.testing.assert_array_equal(*picks)


def test_with_a_noise_each_they_part():
    """The candidate with the larger variance is so noisy that measuring it says little."""
    gp, X = GP(RBF(), 0.1), np.asarray([[0.0], [0.5], [9.0]])
    noise = np.asarray([0.1, 0.1, 50.0])
    assert greedy_design(gp, X, 2, "information", noise_var=noise).indices.tolist() == [0, 1]
    assert greedy_design(gp, X, 2, "variance", noise_var=noise).indices.tolist() == [0, 2]


def test_a_measurement_may_be_repeated_where_that_is_best(space, dense):
    X, noise = space.asarray([[0.0], [0.2], [4.0]]), [0.4, 6.0, 30.0]
    gp = GP(RBF(2.0, 1.0), 0.1)
    for lazy in (True, False):
        design = greedy_design(gp, X, 4, noise_var=space.asarray(noise), repeat=True, lazy=lazy)
        # a precise instrument beside a poor one: measured three times at once
        assert to_numpy(design.indices).tolist() == [0, 0, 0, 0]
        wanted = 0.5 * np.log1p(4 * 2.0 / 0.4)
        assert design.value == pytest.approx(wanted, rel=1e-9 if space.double else 1e-4)


def test_a_repeated_measurement_shares_the_white_noise_of_its_candidate(process, inputs):
    """It belongs to the candidate: to measure that again is to see the same once more."""
    gp, noise = process(np.asarray), np.full(12, 5.0)
    noise[3] = 0.01
    design = greedy_design(gp, inputs, 3, noise_var=noise, repeat=True, initial_subset=[3])
    top = gp.kernel.diag(inputs)[3]
    assert design.indices[0] != 3 or design.gains[0] < 0.5 * np.log(2.0)
    again = greedy_design(gp, inputs[3:4], 3, noise_var=noise[3:4], repeat=True)
    assert again.value == pytest.approx(0.5 * np.log1p(3 * top / 0.01), rel=1e-10)


def test_the_integrated_variance_is_of_its_reference(rng, process, inputs):
    gp = process(np.asarray)
    reference = rng.normal(size=(9, 2))
    design = greedy_design(gp, inputs, 5, "integrated variance", reference=reference)
    left = gp.kernel.diag(reference).mean()
    for t, gained in enumerate(design.gains.tolist()):
        X = inputs[design.indices[: t + 1]]
        now = condition(gp, X, X[:, 0]).variance(reference).mean()
        assert gained == pytest.approx(left - now, rel=1e-9)
        others = [j for j in range(12) if j not in design.indices[:t].tolist()]
        for j in others:  # nobody else would have lowered it further
            X = inputs[[*design.indices[:t], j]]
            assert condition(gp, X, X[:, 0]).variance(reference).mean() > now - 1e-12
        left = now


@pytest.mark.parametrize("block", [1, 30, 10**6])
def test_blocks_of_the_reference_change_nothing(monkeypatch, inputs, block):
    from gpnotes.decide.design import criteria

    gp = GP(RBF(1.1, 0.8), 0.3)
    wanted = greedy_design(gp, inputs, 5, "integrated variance")
    monkeypatch.setattr(memory, "ENTRIES", block)
    monkeypatch.setattr(criteria, "_CACHED_ENTRIES", 0)
    design = greedy_design(gp, inputs, 5, "integrated variance")
    np.testing.assert_array_equal(design.indices, wanted.indices)
    np.testing.assert_allclose(design.gains, wanted.gains, rtol=1e-12)


# The guarantee


@pytest.mark.parametrize("seed", range(20))
def test_greedy_reaches_its_share_of_the_best(dense, seed):
    """At least 1 − 1/e of the best subset; for some instances it is not the best itself."""
    rng = np.random.default_rng(seed)
    X, noise = rng.uniform(0.0, 3.0, size=(9, 1)), rng.uniform(0.05, 1.0, 9)
    gp, k = GP(RBF(1.0, rng.uniform(0.3, 1.5)), 0.1), 3
    sets = dense(gp, X, noise)
    best = max(sets.information(S) for S in combinations(range(9), k))
    reached = greedy_design(gp, X, k, noise_var=noise).value
    assert (1.0 - 1.0 / math.e) * best <= reached <= best * (1.0 + 1e-12)


# Limits and bad input


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("lazy", [True, False])
def test_a_budget_of_zero_is_an_empty_design(space, inputs, criterion, lazy):
    design = greedy_design(GP(RBF(), 0.1), space.asarray(inputs), 0, criterion, lazy=lazy)
    assert design.indices.shape == design.gains.shape == (0,)
    assert space.holds(design.gains)
    assert (design.value, design.evaluations) == (0.0, 0)


@pytest.mark.parametrize("criterion", ["information", "variance", "integrated variance"])
def test_no_candidates_and_nothing_to_choose(criterion):
    assert greedy_design(GP(RBF(), 0.1), np.zeros((0, 2)), 0, criterion).indices.shape == (0,)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_a_budget_larger_than_the_ground_set(inputs, criterion):
    gp = GP(RBF(), 0.1)
    message = "budget must be a whole number from 0 to 12; got 13"
    with pytest.raises(ValueError, match=message):
        greedy_design(gp, inputs, 13, criterion)
    message = "budget must be a whole number from 0 to 10; got 11"
    with pytest.raises(ValueError, match=message):
        greedy_design(gp, inputs, 11, criterion, initial_subset=[2, 3])
    assert len(set(greedy_design(gp, inputs, 12).indices.tolist())) == 12
    assert greedy_design(gp, inputs, 15, repeat=True).indices.shape == (15,)


@pytest.mark.parametrize("lazy", [True, False])
def test_a_second_copy_of_a_candidate_is_worth_what_it_adds(dense, lazy):
    X = np.asarray([[0.0], [0.0], [0.1]])
    gp = GP(RBF(), 0.1)
    design = greedy_design(gp, X, 3, lazy=lazy)
    assert design.indices.tolist() == [0, 2, 1]
    assert design.value == pytest.approx(dense(gp, X, 0.1).information(range(3)), rel=1e-12)


@pytest.mark.parametrize("criterion", ["variance", "integrated variance"])
@pytest.mark.parametrize("lazy", [True, False])
def test_without_noise_a_second_copy_is_never_measured(space, criterion, lazy):
    """Two copies of each of four points: four measurements tell everything, and greedy stops."""
    points = np.asarray([[0.0], [0.7], [2.0], [3.1]])
    X = space.asarray(np.concatenate([points, points]))
    design = greedy_design(GP(RBF(), 0.0), X, 7, criterion, lazy=lazy)
    assert sorted(i % 4 for i in to_numpy(design.indices).tolist()) == [0, 1, 2, 3]
    assert bool(np.all(np.isfinite(to_numpy(design.gains))))
    again = greedy_design(
        GP(RBF(), 0.0), X, 3, criterion, lazy=lazy, initial_subset=[0, 4, 1, 5, 2]
    )
    assert [i % 4 for i in to_numpy(again.indices).tolist()] == [3]


def test_without_noise_greedy_variance_is_pivoted_cholesky(inputs):
    gp = GP(Matern32(1.5, 1.0), 0.0)
    design = greedy_design(gp, inputs, 6, "variance")
    K = gp.kernel(inputs)[np.ix_(design.indices, design.indices)]
    np.testing.assert_allclose(np.diag(np.linalg.cholesky(K)) ** 2, design.gains, rtol=1e-11)


def test_a_smooth_function_is_known_before_the_ground_set_is_measured(space):
    """400 points without noise have, in the precision of the data, far fewer dimensions."""
    X = space.asarray(np.linspace(0.0, 1.0, 400)[:, None])
    design = greedy_design(GP(RBF(1.0, 0.5), 0.0), X, 100, "variance")
    assert 3 < design.indices.shape[0] < 20
    assert bool(np.all(to_numpy(design.gains) > 0.0))


def test_tiny_noise_makes_no_information_of_rounding():
    """Where rounding is all that is left of a variance, there is nothing to gain."""
    X = np.asarray([[0.0], [0.0], [0.0], [1.0]])
    design = greedy_design(GP(RBF(), 1e-20), X, 4)
    assert design.indices.tolist() == [0, 3]


def test_mutual_information_stops_where_the_chosen_say_all_about_the_others(inputs):
    """Once more candidates are chosen than not, one more may leave less to be said."""
    design = greedy_design(GP(RBF(), 0.1), inputs, 12, "mutual information")
    assert 0 < design.indices.shape[0] < 12
    assert np.all(design.gains > 0.0)


@pytest.mark.parametrize("criterion", ["information", "mutual information"])
def test_information_without_noise_is_refused(inputs, criterion):
    with pytest.raises(ValueError, match="noise_var must be positive for information"):
        greedy_design(GP(RBF(), 0.0), inputs, 2, criterion)


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"budget": -1}, ValueError, "budget must be a whole number from 0 to 12; got -1"),
        ({"budget": 2.0}, TypeError, "budget must be a whole number from 0 to 12; got 2.0"),
        ({"budget": True}, TypeError, "budget must be a whole number from 0 to 12; got True"),
        (
            {"criterion": "entropy"},
            ValueError,
            "criterion must be one of .*'mutual information'.*'entropy'",
        ),
        (
            {"initial_subset": [0, 0]},
            ValueError,
            r"initial_subset must name each entry once; got \(0, 0\)",
        ),
        (
            {"initial_subset": [-1]},
            ValueError,
            r"initial_subset must be entries 0 to 11 of X; got \(-1,\)",
        ),
        (
            {"initial_subset": [True, False]},
            TypeError,
            "initial_subset must be whole numbers, entries of X",
        ),
        (
            {"initial_subset": 3},
            TypeError,
            "initial_subset must be whole numbers, entries of X; got 3",
        ),
        ({"criterion": ["variance"]}, TypeError, "criterion must be one of .*; got list"),
        ({"repeat": "no"}, TypeError, "repeat must be True or False; got 'no'"),
        ({"lazy": None}, TypeError, "lazy must be True or False; got None"),
        ({"noise_var": -1.0}, ValueError, "noise_var must be non-negative"),
        ({"X": np.full((12, 2), np.nan)}, ValueError, "X must be finite; 24 of its entries"),
    ],
)
def test_what_does_not_fit_is_named(inputs, change, error, message):
    gp = GP(RBF(1.0, np.ones(2)), 0.1)
    call = {"X": inputs, "budget": 2, **change}
    with pytest.raises(error, match=message):
        greedy_design(gp, call.pop("X"), call.pop("budget"), **call)


def test_a_ground_set_without_room_is_refused_with_the_numbers(monkeypatch, inputs):
    monkeypatch.setattr(memory, "available", lambda like=None: 1000)
    monkeypatch.setattr(memory, "_SMALL", 0)
    with pytest.raises(MemoryError, match="the factor of the design"):
        greedy_design(GP(RBF(), 0.1), inputs, 8)


@pytest.mark.parametrize("criterion", ["information", "integrated variance"])
def test_no_matrix_of_all_candidates_is_ever_made(monkeypatch, rng, criterion):
    """With 3000 candidates it would take 72 MB; rows for a budget of ten are 0.24 MB."""

    monkeypatch.setattr(memory, "ENTRIES", 2**17)  # 1 MB
    X, gp = rng.uniform(size=(3000, 2)), GP(RBF(1.0, 0.2), 0.1)
    assert greedy_design(gp, X, 10, criterion).indices.shape == (10,)
    assert peak(lambda: greedy_design(gp, X, 10, criterion)) < 12e6


@pytest.mark.parametrize(("noise", "budget"), [(0.0, 12), (1e-10, 16)])
def test_reductions_far_below_the_first_are_still_told_apart(noise, budget):
    """Squares fall by twenty orders of magnitude: taken from the first ones, nothing is left."""
    X = np.linspace(0.0, 4.0, 120)[:, None]
    gp = GP(RBF(1.0, 1.0), noise)
    design = greedy_design(gp, X, budget, "integrated variance")
    C = gp.kernel(X)
    for pick, gained in zip(design.indices, design.gains, strict=True):
        variance = np.diag(C)
        worth = np.where(variance > 1e-13, np.mean(C * C, axis=0) / (variance + noise + 1e-300), 0)
        assert worth[pick] > 0.99 * worth.max()
        np.testing.assert_allclose(gained, worth[pick], rtol=1e-2)
        w = C[:, pick] / np.sqrt(variance[pick] + noise)
        C = C - np.outer(w, w)
    assert design.gains[-1] < 1e-6 * design.gains[0]


@pytest.mark.parametrize("noise", [[0.1] * 12, "0.1", 1j, {}])
def test_noise_that_is_no_number_is_named(inputs, noise):
    with pytest.raises(TypeError, match="noise_var must be a float or an array"):
        greedy_design(GP(RBF(), 0.1), inputs, 2, noise_var=noise)


def test_a_reference_that_does_not_fit_is_named(inputs):
    gp = GP(RBF(), 0.1)
    with pytest.raises(ValueError, match=r"reference must have shape \(n, 2\)"):
        greedy_design(gp, inputs, 2, "integrated variance", reference=inputs[:, :1])
    with pytest.raises(ValueError, match="reference must have at least one row"):
        greedy_design(gp, inputs, 2, "integrated variance", reference=inputs[:0, :])
    with pytest.raises(TypeError, match="reference must have the dtype of X"):
        greedy_design(gp, inputs, 2, "integrated variance", reference=inputs.astype(np.float32))


@pytest.mark.parametrize("criterion", ["information", "variance", "mutual information"])
def test_a_reference_that_nobody_needs_is_refused(inputs, criterion):
    message = f"reference must be None for '{criterion}', which needs none"
    for choose in (
        (greedy_design, exhaustive_design) if criterion != "variance" else (greedy_design,)
    ):
        with pytest.raises(ValueError, match=message):
            choose(GP(RBF(), 0.1), inputs, 2, criterion, reference=inputs)
