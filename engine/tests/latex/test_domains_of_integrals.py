"""The domain below an integral, with its dimension above it."""

import pytest

from checked_equations.latex.parser import parse_free


def _read(below):
    return parse_free(rf"a = \int{below} f(x) \, \mathrm d x").steps[0].right


@pytest.mark.parametrize(
    ("domain", "ends"), [(r"[0, 1]", "_0^1"), (r"\mathbb R", r"_{-\infty}^\infty")]
)
def test_a_domain_is_its_ends_and_a_dimension_changes_none(domain, ends):
    line, space = _read(f"_{{{domain}}}"), _read(f"_{{{domain}^d}}")
    assert line == _read(ends)
    assert (space.first, space.last) == (line.first, line.last)
    assert space != line
