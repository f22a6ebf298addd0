"""Ten small processes solved in fractions, without any rounding; the bounds hold for these."""

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

from gpnotes.mdp import MDP, solve
from gpnotes.mdp.solving import METHODS

S, A = 5, 3
PROBLEMS = range(10)


def problem(i):
    """Arrays and discount; of the even ones the rows sum to one exactly, of the others nearly."""
    rng = np.random.default_rng(100 + i)
    if i % 2 == 0:
        P = rng.multinomial(64, rng.dirichlet(np.full(S, 0.5), (S, A))) / 64.0
    else:
        P = rng.dirichlet(np.full(S, 0.5), (S, A))
    return P, rng.normal(size=(S, A)) * 10.0 ** (i % 4), (0.5, 0.9, 0.99, 0.999, 0.0)[i // 2]


def exactly(a):
    return np.vectorize(Fraction)(a)


def solved(M, b):
    """Gauss's elimination of fractions."""
    n = len(b)
    rows = [[*M[i], b[i]] for i in range(n)]
    for i in range(n):
        pivot = next(k for k in range(i, n) if rows[k][i] != 0)
        rows[i], rows[pivot] = rows[pivot], rows[i]
        rows[i] = [x / rows[i][i] for x in rows[i]]
        for k in range(n):
            if k != i:
                rows[k] = [x - rows[k][i] * y for x, y in zip(rows[k], rows[i], strict=True)]
    return np.asarray([row[-1] for row in rows])


def worth(P, r, discount, policy):
    every = np.arange(S)
    identity = exactly(np.eye(S, dtype=int))
    return solved(identity - discount * P[every, policy], r[every, policy])


def best(P, r, discount):
    """Howard's policy iteration, in fractions."""
    policy = np.zeros(S, dtype=int)
    while True:
        v = worth(P, r, discount, policy)
        q = r + discount * np.asarray([[sum(P[s, a] * v) for a in range(A)] for s in range(S)])
        better = np.asarray([int(np.argmax(row)) for row in q])
        improves = q[np.arange(S), better] > v
        if not improves.any():
            return v
        policy = np.where(improves, better, policy)


@pytest.mark.parametrize("form", ["dense", "sparse"])
@pytest.mark.parametrize("i", PROBLEMS)
def test_no_method_is_further_from_the_truth_than_it_says(i, form):
    P, r, discount = problem(i)
    exact = exactly(P), exactly(r), Fraction(discount)
    truth = best(*exact)
    given = P if form == "dense" else [sp.csr_array(P[:, a]) for a in range(A)]
    mdp = MDP.from_arrays(given, r, discount)
    tolerance = 1e-9 * 10.0 ** (i % 4) / (1.0 - discount)
    for method in METHODS:
        found = solve(mdp, method, tolerance=tolerance)
        off = max(abs(exactly(found.values) - truth))
        loss = max(truth - worth(*exact, found.policy))
        assert 0 <= loss <= Fraction(found.bound), method
        assert off <= Fraction(found.bound) <= Fraction(tolerance), method


@pytest.mark.parametrize("off", [-6e-10, 6e-10])
def test_rows_that_sum_to_nearly_one_are_taken_as_they_are(off):
    """At discount 0.999 and values of a thousand this makes a difference of 1e-3."""
    P, r, _ = problem(3)
    P, discount = P * (1.0 + off), 0.999
    truth = best(exactly(P), exactly(r), Fraction(discount))
    for method in METHODS:
        found = solve(MDP.from_arrays(P, r, discount), method, tolerance=1e-4)
        assert max(abs(exactly(found.values) - truth)) <= Fraction(found.bound) <= Fraction(1e-4)


@pytest.mark.parametrize("i", PROBLEMS)
def test_exact_methods_agree_to_ten_digits(i):
    P, r, discount = problem(i)
    truth = best(exactly(P), exactly(r), Fraction(discount)).astype(float)
    found = solve(MDP.from_arrays(P, r, discount), "policy iteration", tolerance=1e-3)
    np.testing.assert_allclose(found.values, truth, rtol=1e-10, atol=1e-10)


def test_rounding_is_in_the_bound():
    """Bellman's equation is met to the last digit, and still the values are off."""
    for i in PROBLEMS:
        P, r, discount = problem(i)
        truth = best(exactly(P), exactly(r), Fraction(discount))
        found = solve(MDP.from_arrays(P, r, discount), "policy iteration", tolerance=1e-3)
        step = np.max(found.action_values, axis=1) - found.values
        seen = np.ptp(step) / (1.0 - discount)
        assert max(abs(exactly(found.values) - truth)) <= Fraction(found.bound)
        assert found.bound > seen  # which says nothing of the rounding of the values themselves


@pytest.mark.parametrize("i", PROBLEMS)
def test_a_penalty_leaves_the_bound_true(i):
    """The rounding of an action that costs a thousand million is not in it, and need not be."""
    P, r, discount = problem(i)
    r[:, 1] = -1e9
    truth = best(exactly(P), exactly(r), Fraction(discount))
    for method in METHODS:
        found = solve(MDP.from_arrays(P, r, discount), method)
        off = max(abs(exactly(found.values) - truth))
        loss = max(truth - worth(exactly(P), exactly(r), Fraction(discount), found.policy))
        assert max(off, loss) <= Fraction(found.bound), method
        assert found.bound <= max(1e-8, 1e-12 * 10.0 ** (i % 4) / (1.0 - discount) ** 2), method
