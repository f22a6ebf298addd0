"""Which errors of an equation name its mends."""

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
