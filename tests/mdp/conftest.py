"""Random processes for the tests of `gpnotes.mdp`."""

import numpy as np
import pytest


@pytest.fixture
def make_arrays(rng):
    """A function that makes transitions (S, A, S), most of them zero, and rewards (S, A)."""

    def make(S=12, A=3, successors=4):
        P = np.zeros((S, A, S))
        for s in range(S):
            for a in range(A):
                to = rng.choice(S, size=min(successors, S), replace=False)
                P[s, a, to] = rng.dirichlet(np.ones(to.size))
        return P, rng.normal(size=(S, A))

    return make
