"""Wynn's epsilon table against series whose limits are known."""

import math

import pytest

from checked_equations.evaluate.epsilon_table import even_columns

LEIBNIZ = [4.0 * sum((-1) ** k / (2 * k + 1) for k in range(n)) for n in range(1, 12)]


def test_eleven_sums_of_leibniz_are_pi_to_seven_digits():
    columns = even_columns(LEIBNIZ)
    assert columns[0] == LEIBNIZ
    assert columns[-1][-1] == pytest.approx(math.pi, abs=1e-7)
    assert abs(LEIBNIZ[-1] - math.pi) > 0.05


def test_a_geometric_series_is_at_its_limit_after_one_column():
    columns = even_columns([sum(0.5**k for k in range(n)) for n in range(1, 6)])
    assert columns[1] == pytest.approx([2.0, 2.0, 2.0])


@pytest.mark.parametrize(("settled", "columns"), [(0.0, 2), (1e-9, 1)])
def test_it_ends_where_two_entries_are_as_near_as_is_asked(settled, columns):
    """The last two differ by 1e-12 of themselves."""
    assert len(even_columns([1.0, 1.5, 1.5 * (1.0 + 1e-12)], settled)) == columns
