"""Which errors of an equation name its mends."""

import numpy as np
import pytest

from checked_equations import EquationError, Estimate, check_equation

FALSE = "a = b + c"


def _error(**drawn):
    with pytest.raises(EquationError) as raised:
        check_equation(FALSE, drawn)
    return raised.value


def test_an_equation_of_numbers_is_mended_and_one_with_an_estimate_is_not():
    """The noise of one estimate, among numbers that have none, hides which edit is right."""
    assert _error(a=1.5, b=0.4, c=0.6).mend is not None
    assert _error(a=Estimate(1.5, 0.01, n=10), b=0.4, c=0.6).mend is None
    assert _error(a=1.5, b=0.4, c=Estimate(0.6, 0.01, n=10)).mend is None


def test_what_is_bound_to_no_number_is_said_and_not_mended():
    error = _error(a=np.array([1, 2], dtype=object), b=np.ones(2), c=np.ones(2))
    assert "`a` is bound to what is no number: an array of dtype object has no numbers" in str(
        error
    )


def test_complex_sides_that_differ_are_shown():
    error = _error(a=1.0 + 2.0j, b=np.complex128(1.0), c=3.0j)
    assert "the left side is 1+2j, the right side 1+3j" in str(error)


def test_a_wide_absolute_tolerance_and_shared_draws_stand_in_the_line():
    said = "holds to 1e-09 · 1 step · 6 of 6 mutants caught · an absolute error of 1e-01 is allowed"
    assert repr(check_equation(FALSE, {"a": 3.05, "b": 2.0, "c": 1.0}, atol=0.1)) == said
    assert "allowed" not in repr(check_equation(FALSE, {"a": 3.0, "b": 2.0, "c": 1.0}, atol=1e-9))
