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


@pytest.mark.parametrize(
    ("condition", "ends"),
    [
        ("0 < x < 1", "_0^1"),
        (r"0 \le x < 1", "_0^1"),
        ("1 > x > 0", "_0^1"),
        ("x > 2", r"_2^\infty"),
        ("2 < x", r"_2^\infty"),
        ("x < 2", r"_{-\infty}^2"),
        (r"2 \ge x", r"_{-\infty}^2"),
        (r"x \in [2, 3)", "_2^3"),
    ],
)
def test_a_condition_is_the_ends_that_it_leaves(condition, ends):
    assert _read(f"_{{{condition}}}") == _read(ends)
