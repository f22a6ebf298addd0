"""Divergent series, cut where their terms are smallest, in any unit."""

import math

import pytest
from scipy import special

from checked_equations.errors import OperationError
from checked_papers.numerics.asymptotic_series import cut


def _terms(x, unit):
    """Of ``x eˣ E₁(x)``, times a unit: they fall until k = x."""
    return lambda k: unit * (-1) ** k * math.factorial(k) / x**k


@pytest.mark.parametrize("unit", [1.0, 1e-12, 1e8])
def test_far_out_it_has_its_value_in_any_unit(unit):
    wanted = 40.0 * special.exp1(40.0) * math.exp(40.0)
    assert cut(_terms(40.0, unit), 0).real / unit == pytest.approx(wanted, rel=1e-14)


@pytest.mark.parametrize("unit", [1.0, 1e-12, 1e8])
def test_near_by_it_is_refused_in_any_unit(unit):
    with pytest.raises(OperationError, match="do not become small"):
        cut(_terms(3.0, unit), 0)
