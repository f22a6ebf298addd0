"""Greedy designs by criteria that others bring, and by those of the package as if they were."""

from __future__ import annotations

import numpy as np
import pytest

from gpnotes import GP, RBF, to_numpy
from gpnotes.decide.design import greedy_design, greedy_design_by
from gpnotes.decide.design.criteria import Information
from gpnotes.testing import check_criterion


class Coverage:
    """How many places come within reach of what is chosen: submodular, and no process in sight."""

    def __init__(self, X, reach, diminishing=True):
        self.near = np.linalg.norm(X[:, None] - X[None], axis=2) <= reach
        self.diminishing = diminishing
        self.asked = []

    def gains(self, rows=None):
        rows = np.arange(len(self.near)) if rows is None else rows
        self.asked.append(len(rows))
        return self.near[rows].sum(axis=1) * 1.0

    def add(self, j):
        gain = float(self.near[j].sum())
        self.near = self.near & ~self.near[j]
        return gain


@pytest.mark.parametrize("lazy", [True, False])
def test_a_criterion_of_ones_own_is_followed(rng, lazy):
    X = rng.uniform(size=(150, 2))
    criterion = Coverage(X, 0.15)
    check_criterion(Coverage(X, 0.15), X)
    design = greedy_design_by(criterion, X, 12, lazy=lazy)
    assert design.evaluations == sum(criterion.asked) - (0 if lazy else sum(range(12)))
    covered = np.zeros(150, dtype=bool)
    for pick, gain in zip(design.indices, design.gains, strict=True):
        near = np.linalg.norm(X - X[pick], axis=1) <= 0.15
        gaps = [np.linalg.norm(X - x, axis=1) <= 0.15 for x in X]
        assert gain == (near & ~covered).sum() == max((gap & ~covered).sum() for gap in gaps)
        covered |= near


def test_laziness_is_for_gains_that_diminish(rng):
    X = rng.uniform(size=(150, 2))
    lazy, eager = Coverage(X, 0.15), Coverage(X, 0.15, diminishing=False)
    picks = [greedy_design_by(criterion, X, 12).indices for criterion in (lazy, eager)]
    np.testing.assert_array_equal(*picks)
    assert sum(lazy.asked) < 0.7 * sum(eager.asked)


@pytest.mark.parametrize("lazy", [True, False])
@pytest.mark.parametrize(
    "options", [{}, {"initial_subset": [7, 2]}, {"initial_subset": [7], "repeat": True}]
)
def test_the_criteria_of_the_package_are_followed_alike(space, inputs, lazy, options):
    gp, X, noise = GP(RBF(), 0.2), space.asarray(inputs), space.asarray(np.full(12, 0.2))
    wanted = greedy_design(gp, X, 5, lazy=lazy, **options)
    design = greedy_design_by(Information(gp, X, noise, 7), X, 5, lazy=lazy, **options)
    assert to_numpy(design.indices).tolist() == to_numpy(wanted.indices).tolist()
    assert design.evaluations == wanted.evaluations
    np.testing.assert_array_equal(to_numpy(design.gains), to_numpy(wanted.gains))


def test_what_is_no_criterion_is_refused(inputs):
    with pytest.raises(TypeError, match=r"criterion must be .*GP lacks diminishing, gains, add"):
        greedy_design_by(GP(RBF(), 0.1), inputs, 2)
    with pytest.raises(ValueError, match="budget must be a whole number from 0 to 11; got 12"):
        greedy_design_by(Coverage(inputs, 1.0), inputs, 12, initial_subset=[3])


@pytest.mark.parametrize("lazy", [True, False])
def test_a_criterion_of_other_candidates_is_named(inputs, lazy):
    n, criterion = inputs.shape[0], Coverage(inputs, 1.0)
    with pytest.raises(ValueError, match=rf"criterion must return gains of .* \({n},\)"):
        greedy_design_by(criterion, inputs[1:], 2, lazy=lazy)
