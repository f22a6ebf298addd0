"""Probabilities at the door: what is rounding, what is refused, and where it stands."""

import numpy as np
import pytest

from gpnotes.mdp.distribution_checks import check_distributions, without_rounding

EPS = 2.0**-52


@pytest.mark.parametrize(("times", "kept"), [(-0.5, False), (-16.0, False), (-16.5, True)])
def test_sixteen_roundings_below_zero_are_zero(times, kept):
    a = np.asarray([[0.25, 0.75], [times * EPS, 1.0]])
    found = without_rounding(a)
    assert (found is a) is kept
    np.testing.assert_array_equal(found, a if kept else [[0.25, 0.75], [0.0, 1.0]])
    if kept:
        with pytest.raises(ValueError, match=r"^P must not be negative; it is in row \[1\]$"):
            check_distributions(a, "P")
    else:
        np.testing.assert_array_equal(check_distributions(a, "P"), found)


def test_what_has_nothing_to_clear_away_comes_back_itself():
    for a in (np.asarray([0.0, 1.0]), np.zeros((0, 3)), np.zeros((3, 0))):
        assert without_rounding(a) is a


@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_sums_are_one_up_to_the_root_of_a_rounding(sign):
    for share in (0.99, 1.01):
        a = np.asarray([[[0.5, 0.5]], [[0.25, 0.75 + sign * share * EPS**0.5]]])
        if share < 1.0:
            assert check_distributions(a, "P") is a
        else:
            with pytest.raises(ValueError, match=r"along the last axis; it does not in row \[1, 0"):
                check_distributions(a, "P")


@pytest.mark.parametrize("place", [(0, 0, 1), (1, 0, 2), (1, 1, 0)])
def test_the_first_wrong_row_is_named_by_its_place(place):
    """Of arrays with sides of two, two and three; others behind it are wrong too."""
    a = np.full((2, 2, 3, 4), 0.25)
    a[place] = [-1.0, 1.0, 0.5, 0.5]
    a[1, 1, 2] = [-1.0, 1.0, 0.5, 0.5]
    row = ", ".join(map(str, place))
    with pytest.raises(ValueError, match=rf"^P must not be negative; it is in row \[{row}\]$"):
        check_distributions(a, "P")
    with pytest.raises(ValueError, match=rf"^P must sum to one along .* in row \[{row}\]: "):
        check_distributions(np.abs(a), "P")


def test_one_distribution_has_no_row():
    with pytest.raises(ValueError, match=r"^b must not be negative; it is$"):
        check_distributions(np.asarray([-1.0, 2.0]), "b")
    with pytest.raises(ValueError, match=r"^b must sum to one along the last axis; it does not: "):
        check_distributions(np.asarray([1.0, 2.0]), "b")


def test_the_line_that_mends_sums_does():
    for b in (np.asarray([1.0, 2.0]), np.asarray([[0.5, 0.5], [1.0, 2.0]])):
        with pytest.raises(ValueError, match=r": divide by b\.sum\(-1, keepdims=True\)$"):
            check_distributions(b, "b")
        check_distributions(b / b.sum(-1, keepdims=True), "b")
