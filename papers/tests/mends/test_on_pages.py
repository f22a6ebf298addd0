"""The line below a cell that asks what would mend an equation."""

from checked_equations.sphinx.page_badges import line
from checked_papers import mend_equation


def test_the_mathematics_of_a_mend_is_typeset() -> None:
    record = mend_equation("c = 3 a", {"c": 17.3, "a": 1.1})
    assert "no single edit" in line(record.to_json(), None, "")
    record = mend_equation("X = a b", {"X": 1.1 / 0.7, "a": 1.1, "b": 0.7})
    shown = line(record.to_json(), None, "")
    assert 'class="eqn-line eqn-mended"' in shown
    assert r'<span class="math">\(X = ' in shown
    assert "$" not in shown
    assert "`" not in shown
