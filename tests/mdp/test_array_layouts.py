"""Arrays as QuantEcon and pymdptoolbox lay them out are one process, or are refused by name."""

import itertools
import re

import numpy as np
import pytest
import scipy.sparse as sp

from gpnotes.ground.xp import to_numpy
from gpnotes.mdp import MDP, solve

SIZES = ((4, 3), (3, 4), (3, 3), (5, 1), (1, 2))


def transitions_of(P):
    """Every form of transitions (S, A, S), and the layout that each needs where S = A."""
    by_action = P.transpose(1, 0, 2).copy()
    objects = np.empty(len(by_action), dtype=object)
    objects[:] = [sp.csr_array(matrix) for matrix in by_action]
    return {
        "state first": P,
        "action first": by_action,
        "dense matrices": list(by_action),
        "sparse matrices": tuple(sp.coo_array(matrix) for matrix in by_action),
        "matrices in an array": objects,
    }


@pytest.mark.parametrize(("S", "A"), SIZES)
def test_all_forms_are_one_process(rng, S, A):
    P, by_next = rng.dirichlet(np.ones(S), (S, A)), rng.normal(size=(S, A, S))
    expected = np.einsum("sat,sat->sa", P, by_next)
    forms = itertools.product(transitions_of(P).items(), transitions_of(by_next).items())
    for (form, moves), (kind, earned) in forms:
        layouts = {one for one in (form, kind) if one.endswith("first")}
        if S == A and len(layouts) == 2:  # of the two there is but one layout
            continue
        layout = layouts.pop() if S == A and layouts else None
        mdp = MDP.from_arrays(moves, earned, 0.9, layout=layout)
        rows = mdp.transitions.toarray() if mdp.sparse else mdp.transitions
        np.testing.assert_array_equal(rows, P.reshape(S * A, S))
        np.testing.assert_allclose(mdp.rewards, expected, rtol=1e-13, atol=1e-15)


@pytest.mark.parametrize("form", ["state first", "action first"])
def test_rewards_by_state_and_action_are_laid_out_in_one_way(rng, form):
    P, r = rng.dirichlet(np.ones(3), (3, 3)), rng.normal(size=(3, 3))
    mdp = MDP.from_arrays(transitions_of(P)[form], r, 0.9, layout=form)
    np.testing.assert_array_equal(mdp.rewards, r)
    mdp = MDP.from_arrays(transitions_of(P)[form], r[:, 0].copy(), 0.9, layout=form)
    np.testing.assert_array_equal(mdp.rewards, np.repeat(r[:, :1], 3, axis=1))
    mdp.rewards[0, 0] += 1.0  # each entry has a place of its own
    assert mdp.rewards[0, 1] == r[0, 0]


def test_as_many_actions_as_states_are_never_guessed(rng):
    P, by_next = rng.dirichlet(np.ones(3), (3, 3)), rng.normal(size=(3, 3, 3))
    with pytest.raises(ValueError, match=r"layout must be given, .* transitions of shape \(3, 3,"):
        MDP.from_arrays(P, np.zeros((3, 3)), 0.9)
    with pytest.raises(ValueError, match=r"layout must be given, .* rewards of shape \(3, 3, 3\)"):
        MDP.from_arrays(list(P), by_next, 0.9)
    one = MDP.from_arrays(np.ones((1, 1, 1)), np.ones((1, 1, 1)), 0.5)  # either way the same
    assert one.rewards.tolist() == [[1.0]]


def test_a_layout_that_is_given_must_fit(rng):
    P = rng.dirichlet(np.ones(3), (3, 2))
    with pytest.raises(ValueError, match=r"transitions must have shape \(A, S, S\) where layout"):
        MDP.from_arrays(P, np.zeros((3, 2)), 0.9, layout="action first")
    with pytest.raises(ValueError, match=r"rewards must have shape .* \(2, 3, 3\) where layout is"):
        MDP.from_arrays(P.transpose(1, 0, 2), P, 0.9, layout="action first")
    with pytest.raises(ValueError, match="layout must be"):
        MDP.from_arrays(P, np.zeros((3, 2)), 0.9, layout="SAS")


def test_lists_and_whole_numbers_are_numbers():
    """The example of QuantEcon's own pages: an action that the second state lacks."""
    R = [[5, 10], [-1, -float("inf")]]
    Q = [[(0.5, 0.5), (0, 1)], [(0, 1), (0.5, 0.5)]]
    mdp = MDP.from_arrays(Q, R, 0.95, layout="state first")
    assert mdp.available.tolist() == [[True, True], [True, False]]
    np.testing.assert_allclose(solve(mdp).values, [-8.57142857, -20.0], rtol=1e-8)
    forest = MDP.from_arrays(
        np.eye(3, dtype=int)[[0, 0, 1, 2, 0, 1]].reshape(2, 3, 3), [1, 2, 3], 0.5
    )
    assert forest.rewards.tolist() == [[1.0, 1.0], [2.0, 2.0], [3.0, 3.0]]


@pytest.mark.parametrize("form", ["state first", "dense matrices", "sparse matrices"])
@pytest.mark.parametrize("kind", ["state first", "dense matrices", "sparse matrices"])
def test_what_cannot_follow_earns_nothing_however_bad(rng, form, kind):
    """Rewards of −inf by next state count where that state can be reached: 0 · −∞ is 0."""
    P = np.asarray([[[0.5, 0.5, 0.0], [0.0, 0.0, 1.0]]] * 3)
    by_next = np.ones((3, 2, 3))
    by_next[0, :, 2] = -np.inf  # action 1 leads there, action 0 does not
    by_next[1, 0] = -np.inf
    mdp = MDP.from_arrays(transitions_of(P)[form], transitions_of(by_next)[kind], 0.9)
    assert mdp.rewards.tolist() == [[1.0, -np.inf], [-np.inf, 1.0], [1.0, 1.0]]


def test_layouts_in_every_namespace(space, rng):
    P, r = rng.dirichlet(np.ones(4), (4, 3)), rng.normal(size=(4, 3))
    mask = np.asarray([[True, False, True]] * 4)
    first = MDP.from_arrays(space.asarray(P), space.asarray(r), 0.9)
    other = MDP.from_arrays(space.asarray(P.transpose(1, 0, 2).copy()), space.asarray(r), 0.9)
    each = MDP.from_arrays([space.asarray(P[:, a].copy()) for a in range(3)], space.asarray(r), 0.9)
    for mdp in (first, other, each):
        assert mdp.transitions.dtype == space.asarray(P).dtype
        np.testing.assert_array_equal(to_numpy(mdp.transitions), to_numpy(first.transitions))
    flags = space.asarray(mask.astype(float)) > 0.5
    masked = MDP.from_arrays(space.asarray(P), space.asarray(r), 0.9, available=flags)
    np.testing.assert_array_equal(to_numpy(masked.available), mask)
    found = solve(masked, tolerance=1e-2)
    assert set(to_numpy(found.policy).tolist()) <= {0, 2}
    assert np.all(np.isneginf(to_numpy(found.action_values)[:, 1]))


@pytest.mark.parametrize(
    ("given", "error", "says"),
    [
        ({"available": np.ones((3, 2))}, TypeError, "available must hold booleans; got float64"),
        ({"available": np.ones(3, bool)}, ValueError, r"available must have shape \(3, 2\)"),
        ({"rewards": [np.eye(3)]}, ValueError, "rewards must hold a matrix for each of 2 actions"),
        ({"rewards": [np.eye(3), np.eye(2)]}, ValueError, "rewards must be square matrices"),
        ({"rewards": np.full((3, 2), np.nan)}, ValueError, "rewards must be finite"),
        ({"rewards": np.full((3, 2), np.inf)}, ValueError, "rewards must be finite"),
        ({"rewards": np.full((3, 2, 3), np.inf)}, ValueError, "rewards must be finite"),
        ({"rewards": np.full((3, 2), -np.inf)}, ValueError, "rewards must leave each state an act"),
        ({"transitions": [np.eye(3), sp.eye_array(3)]}, TypeError, r"transitions\[0\] must be a"),
        ({"transitions": "x"}, TypeError, "transitions must be an array"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused_by_name(given, error, says):
    right = {"transitions": [np.eye(3), np.eye(3)], "rewards": np.zeros((3, 2)), "discount": 0.9}
    with pytest.raises(error, match=says):
        MDP.from_arrays(**{**right, **given})


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"transitions": np.ones((3, 2, 4))}, "transitions must have shape (S, A, S) or (A, S, S);"
         " got (3, 2, 4)"),
        ({"transitions": np.ones((4, 3, 2))}, "transitions must have shape (S, A, S) or (A, S, S);"
         " got (4, 3, 2)"),
        ({"transitions": np.eye(3)}, "transitions must have shape (S, A, S) or (A, S, S); got (3,"),
        ({"transitions": np.ones((0, 2, 0))}, "transitions must have shape (S, A, S) or (A, S, S)"),
        ({"transitions": np.ones((2, 3, 3)), "layout": "state first"}, "transitions must have "
         "shape (S, A, S) where layout is 'state first'; got (2, 3, 3)"),
        ({"rewards": np.ones(2)}, "rewards must have shape (3, 2), (3,), (3, 2, 3) or (2, 3, 3); "
         "got (2,)"),
        ({"rewards": np.ones((4, 2, 4))}, "rewards must have shape (3, 2), (3,), (3, 2, 3) or "),
        ({"rewards": np.ones((3, 4, 3))}, "rewards must have shape (3, 2), (3,), (3, 2, 3) or "),
        ({"rewards": np.ones((2, 3))}, "rewards must have shape (3, 2), (3,), (3, 2, 3) or "),
        ({"rewards": np.ones((3, 2, 3)), "layout": "action first"}, "rewards must have shape "
         "(3, 2), (3,) or (2, 3, 3) where layout is 'action first'; got (3, 2, 3)"),
        ({"rewards": []}, "rewards must hold a matrix for each of 2 actions; got 0"),
        ({"transitions": []}, "transitions must hold a matrix for each action; got none"),
        ({"transitions": [np.eye(3), np.eye(2)]}, "transitions must be square matrices of one"),
        ({"transitions": [np.ones((3, 2))] * 2}, "transitions must be square matrices of one size, "
         "one for each action; got {(3, 2)}"),
        ({"rewards": [np.eye(2), np.eye(2)]}, "rewards must be square matrices of one size"),
        ({"transitions": [np.eye(3), np.eye(3, dtype=np.float32)]}, "transitions[1] must have the "
         "dtype of transitions[0], float64; got float32"),
        ({"rewards": np.zeros((3, 2), np.float32)}, "rewards must have the dtype of transitions"),
    ],
)  # fmt: skip
def test_a_shape_that_does_not_fit_is_answered_with_those_that_do(given, said):
    right = {"transitions": [np.eye(3), np.eye(3)], "rewards": np.zeros((3, 2)), "discount": 0.9}
    with pytest.raises((ValueError, TypeError), match=f"^{re.escape(said)}"):
        MDP.from_arrays(**{**right, **given})


def test_a_mask_may_be_a_list_and_is_of_the_rewards_kind(rng):
    P, r = rng.dirichlet(np.ones(3), (3, 2)), rng.normal(size=(3, 2))
    mask = [[True, False], [False, True], [True, True]]
    masked = MDP.from_arrays(P, r, 0.9, available=mask)
    np.testing.assert_array_equal(masked.rewards, np.where(mask, r, -np.inf))
    strict = pytest.importorskip("array_api_strict")
    other = strict.asarray(mask)
    with pytest.raises(TypeError, match="available must have the namespace and the device of the"):
        MDP.from_arrays(P, r, 0.9, available=other)
    far = strict.asarray(mask, device=strict.Device("device1"))
    with pytest.raises(TypeError, match="available must have the namespace and the device of the"):
        MDP.from_arrays(strict.asarray(P), strict.asarray(r), 0.9, available=far)
    with pytest.raises(TypeError, match="available must be a plain array; got MaskedArray"):
        MDP.from_arrays(P, r, 0.9, available=np.ma.asarray(mask))


@pytest.mark.parametrize("form", ["state first", "sparse matrices"])
@pytest.mark.parametrize("kind", ["state first", "dense matrices", "sparse matrices"])
def test_an_action_that_earns_minus_infinity_wherever_it_leads_leads_nowhere(form, kind):
    """Its row need not hold probabilities."""
    P = np.tile(np.eye(3)[:, None, :], (1, 2, 1))
    P[1, 1] = 0.0
    by_next = np.ones((3, 2, 3))
    by_next[1, 1] = -np.inf
    by_next[2, 0, :2] = -np.inf  # where it does not lead
    mdp = MDP.from_arrays(transitions_of(P)[form], transitions_of(by_next)[kind], 0.9)
    assert mdp.rewards.tolist() == [[1.0, 1.0], [1.0, -np.inf], [1.0, 1.0]]
