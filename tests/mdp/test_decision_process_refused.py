"""What a user may get wrong is refused by name."""

from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp

from gpnotes.mdp import (
    MDP,
    POMDP,
    GridWorld,
    HiddenMarkovModel,
    evaluate,
    occupancy_measure,
    solve,
)
from gpnotes.mdp.learning import FixedPolicy, MDPEnvironment
from gpnotes.mdp.linear_gaussian_ssm import _solve

P = np.asarray([[[0.5, 0.5], [1.0, 0.0]], [[0.0, 1.0], [0.3, 0.7]]])
R = np.asarray([[1.0, 0.0], [0.0, 2.0]])
GOOD = MDP.from_arrays(P, R, 0.9, layout="state first")


def spoilt(state, action, row):
    rows = P.copy()
    rows[state, action] = row
    return rows


@pytest.mark.parametrize("form", ["dense", "sparse"])
@pytest.mark.parametrize(
    ("row", "says"),
    [
        ([0.5, 0.4], "sum to one in each row; those of action 0 in state 1 sum to 0.9"),
        ([0.5, 0.5 + 1e-8], "those of action 0 in state 1 sum to 1.00000001"),
        ([1.5, -0.5], "not be negative; those of action 0 in state 1 hold -0.5"),
    ],
)
def test_rows_that_are_no_probabilities(form, row, says):
    rows = spoilt(1, 0, row)
    given = rows if form == "dense" else [sp.csr_array(rows[:, a]) for a in range(2)]
    with pytest.raises(ValueError, match=f"transitions must {says}|{says}"):
        MDP.from_arrays(given, R, 0.9, layout="state first")


@pytest.mark.parametrize("form", ["dense", "sparse"])
def test_a_row_off_by_rounding_is_taken(form):
    rows = spoilt(1, 0, [0.5, 0.5 + 1e-10])
    given = rows if form == "dense" else [sp.csr_array(rows[:, a]) for a in range(2)]
    assert MDP.from_arrays(given, R, 0.9, layout="state first").row_sums[1] > 1.0


@pytest.mark.parametrize("form", ["dense", "sparse"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_negative_probabilities_that_are_rounding_are_zero(form, dtype):
    """To 16 eps; what was given stays as it is, and what a row sums to is not mended."""
    for much in (0.1, 16.0):
        tiny = -much * float(np.finfo(dtype).eps)
        rows = spoilt(1, 0, [1.0, tiny]).astype(dtype)
        given = rows if form == "dense" else [sp.csr_array(rows[:, a]) for a in range(2)]
        mdp = MDP.from_arrays(given, R.astype(dtype), 0.9, layout="state first")
        kept = mdp.transitions.toarray() if mdp.sparse else mdp.transitions
        assert kept.dtype == dtype
        assert kept[2].tolist() == [1.0, 0.0]
        assert rows[1, 0, 1] < 0.0
        assert mdp.row_sums == (1.0, 1.0)
        solve(mdp)
    rows = spoilt(1, 0, [1.0, -17.0 * float(np.finfo(dtype).eps)]).astype(dtype)
    given = rows if form == "dense" else [sp.csr_array(rows[:, a]) for a in range(2)]
    with pytest.raises(ValueError, match="not be negative; those of action 0 in state 1 hold -"):
        MDP.from_arrays(given, R.astype(dtype), 0.9, layout="state first")


@pytest.mark.parametrize(("below", "is_rounding"), [(-1e-17, True), (-1e-9, False)])
def test_so_it_is_wherever_probabilities_come_in(below, is_rounding):
    row = np.asarray([1.0, below])
    both = np.stack([row, row])
    pomdp = POMDP(GOOD, np.ones((2, 2, 1)))
    calls = {
        "policy": lambda: GOOD.check_policy(both),
        "a start": lambda: occupancy_measure(GOOD, np.asarray([0, 0]), row),
        "observations": lambda: POMDP(GOOD, np.stack([both, both])),
        "belief": lambda: pomdp.check_belief(row),
        "controlled chain": lambda: pomdp.controlled_chain(row, [0]).start,
        "reachable": lambda: pomdp.reachable_beliefs(row, 3),
        "hidden": lambda: HiddenMarkovModel(row, both, both).transitions,
        "where episodes begin": lambda: MDPEnvironment(GOOD, row).layout.starts,
        "fixed policy": lambda: FixedPolicy(both).policy,
    }
    for name, call in calls.items():
        if is_rounding:
            made = call()
            numbers = made.observations if isinstance(made, POMDP) else made
            assert np.min(numbers) >= 0.0, name
        else:
            with pytest.raises(ValueError, match=r"negative|probabilities"):
                call()


def test_probabilities_that_are_not_finite():
    with pytest.raises(ValueError, match="transitions must be finite"):
        MDP.from_arrays(spoilt(0, 0, [np.nan, 1.0]), R, 0.9, layout="state first")
    rows = sp.csr_array(spoilt(0, 0, [np.nan, 1.0]).reshape(4, 2))
    with pytest.raises(ValueError, match="transitions must be finite"):
        MDP(rows, R, 0.9)


def test_arrays_of_three_axes_and_lists_are_sent_to_from_arrays():
    with pytest.raises(ValueError, match=r"got \(2, 2, 2\): MDP\.from_arrays takes arrays"):
        MDP(P, R, 0.9)
    with pytest.raises(TypeError, match=r"got a sequence, of which MDP\.from_arrays takes one"):
        MDP(list(P), R, 0.9)


def test_shapes_that_do_not_fit():
    with pytest.raises(
        ValueError, match=r"transitions must have shape \(S, A, S\) or \(A, S, S\); got \(4, 2\)"
    ):
        MDP.from_arrays(P.reshape(4, 2), R, 0.9)
    with pytest.raises(ValueError, match=r"transitions must have shape \(4, 2\), a row for each"):
        MDP(P.reshape(4, 2)[:3], R, 0.9)
    with pytest.raises(
        ValueError, match=r"rewards must have shape \(2, 2\), \(2,\) or \(2, 2, 2\)"
    ):
        MDP.from_arrays(P, np.ones(3), 0.9, layout="state first")
    with pytest.raises(ValueError, match="transitions must be square matrices of one size"):
        MDP.from_arrays([sp.csr_array(np.eye(2)), sp.csr_array(np.eye(3))], R, 0.9)
    with pytest.raises(TypeError, match=r"transitions\[1\] must be a sparse matrix of SciPy"):
        MDP.from_arrays([sp.csr_array(np.eye(2)), np.eye(2)], R, 0.9)
    with pytest.raises(TypeError, match=r"transitions must have a real floating dtype"):
        MDP(sp.csr_array(np.eye(2, dtype=int)), np.zeros((2, 1)), 0.9)
    with pytest.raises(ValueError, match="transitions must hold a matrix for each action"):
        MDP.from_arrays([], R, 0.9)


@pytest.mark.parametrize("discount", [-0.1, 1.1, float("nan")])
def test_a_discount_that_is_none(discount):
    with pytest.raises(ValueError, match="discount must be"):
        MDP.from_arrays(P, R, discount, layout="state first")


@pytest.mark.parametrize(
    ("policy", "says"),
    [
        (np.asarray([0, 1, 0]), r"an action for each of the 2 states; got shape \(3,\)"),
        (np.asarray([0, 2]), "of actions 0 to 1; in state 1 it is 2"),
        (np.asarray([-1, 0]), "of actions 0 to 1; in state 0 it is -1"),
        (np.ones((2, 3)) / 3, r"whole numbers \(2,\) or probabilities \(2, 2\) for this process"),
        (np.asarray([0.0, 1.0]), r"whole numbers \(2,\) or probabilities \(2, 2\)"),
        (np.asarray([[0.5, 0.4], [0.5, 0.5]]), "sum to one in each row; those in state 0 sum to"),
        (np.asarray([[1.5, -0.5], [0.5, 0.5]]), "not be negative; those in state 0 hold -0.5"),
    ],
)
def test_a_policy_for_another_process(policy, says):
    for ask in (GOOD.induced_chain, lambda policy: evaluate(GOOD, policy)):
        with pytest.raises(ValueError, match=f"policy must (be )?(have )?{says}"):
            ask(policy)


def test_a_policy_that_never_ends_at_discount_one():
    """The second state can be reached from nowhere, and leads nowhere: it is named all the same."""
    mdp = MDP.from_arrays(np.asarray([[[1.0, 0.0]], [[0.0, 1.0]]]), np.asarray([[0.0], [1.0]]), 1.0)
    policy = np.asarray([0, 0])
    with pytest.raises(ValueError, match=r"policy must lead to .* from state 1 it never does"):
        evaluate(mdp, policy)
    with pytest.raises(ValueError, match=r"policy must lead to .* from state 1 it never does"):
        occupancy_measure(mdp, policy, np.asarray([1.0, 0.0]))
    with pytest.raises(ValueError, match=r"mdp must be able to end .* from state 1 no policy does"):
        solve(mdp)


def test_starts_that_are_no_probabilities():
    policy = np.asarray([0, 0])
    for start in ([0.5, 0.6], [1.5, -0.5]):
        with pytest.raises(ValueError, match="start must be probabilities"):
            occupancy_measure(GOOD, policy, np.asarray(start))


def test_an_environment_without_a_table():
    gymnasium = pytest.importorskip("gymnasium")
    for env in (gymnasium.make("Blackjack-v1"), gymnasium.make("Pendulum-v1"), None, 3):
        with pytest.raises(TypeError, match="env must be an environment of gymnasium with"):
            MDP.from_gymnasium(env, 0.9)


def test_a_table_with_a_hole():
    gymnasium = pytest.importorskip("gymnasium")
    env = gymnasium.make("FrozenLake-v1")
    del env.unwrapped.P[3][2]
    with pytest.raises(ValueError, match="it has none for action 2 in state 3"):
        MDP.from_gymnasium(env, 0.9)


@pytest.mark.parametrize(
    ("given", "error", "says"),
    [
        ({"rows": ()}, ValueError, "rows must be of one length and have a cell"),
        ({"rows": ("..", ".")}, ValueError, "rows must be of one length and have a cell"),
        ({"rows": ("##",)}, ValueError, "rows must be of one length and have a cell"),
        ({"rows": "S.G"}, TypeError, "rows must be a tuple of strings"),
        ({"rows": ("SC", "S.")}, ValueError, "rows must have one S for the cliff"),
        ({"rewards": {"GG": 1.0}}, TypeError, "rewards must be a mapping of single letters"),
        ({"rewards": {"G": "x"}}, TypeError, r"rewards\['G'\] must be a number"),
        ({"slip": 1.5}, ValueError, "slip must be a probability"),
        ({"wind": (1,)}, ValueError, "wind must have a number for each of 3 columns; got 1"),
        ({"wind": (0.5, 0, 0)}, TypeError, r"wind\[0\] must be a whole number"),
    ],
)
def test_maps_that_are_none(given, error, says):
    with pytest.raises(error, match=says):
        GridWorld(**{"rows": ("S.G",), **given})


def test_cells_that_are_walls():
    with pytest.raises(ValueError, match=r"row and column must be those of a cell; \(0, 1\)"):
        GridWorld(("S#G",)).state_at(0, 1)


def test_an_environment_whose_spaces_have_no_sizes():
    bare = SimpleNamespace(P={0: {0: []}})
    env = SimpleNamespace(unwrapped=bare, observation_space=None, action_space=SimpleNamespace(n=1))
    with pytest.raises(TypeError, match="env must be an environment of gymnasium with discrete"):
        MDP.from_gymnasium(env, 0.9)


@pytest.mark.parametrize("rank", [0, 1, 3])
def test_a_covariance_without_an_inverse_is_inverted_within_its_range(rng, rank):
    root = rng.normal(size=(3, rank))
    cov = root @ root.T
    b = cov @ rng.normal(size=(3, 2))
    np.testing.assert_allclose(_solve(cov, b), np.linalg.pinv(cov) @ b, atol=1e-9)
    np.testing.assert_array_equal(_solve(np.zeros((1, 1)), np.zeros((1, 2))), np.zeros((1, 2)))


@pytest.mark.parametrize("form", ["dense", "sparse", "policy"])
@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_a_coarse_row_may_be_off_by_sixteen_roundings_for_each_state(form, sign):
    """In float32 that is more than a billionth: 64 eps for four states."""
    for times in (64, 66):
        rows = np.full((4, 4), 0.25, dtype=np.float32)
        rows[2, 1] += np.float32(sign * times * 2.0**-23)
        r = np.zeros((4, 4 if form == "policy" else 1), dtype=np.float32)

        def call(rows=rows, r=r):
            if form == "policy":
                even = np.tile(np.eye(4, dtype=np.float32), (4, 1))
                return MDP(even, r, 0.5).check_policy(rows)
            return MDP(sp.csr_array(rows) if form == "sparse" else rows, r, 0.5)

        if times == 64:
            call()
        else:
            with pytest.raises(
                ValueError, match=r"must sum to one in each row; those .*in state 2 .*: divide each"
            ):
                call()
