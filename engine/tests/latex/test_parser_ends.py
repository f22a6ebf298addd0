"""An equation that ends too early says why."""

import pytest

from checked_equations import EquationError
from checked_equations.latex.parser import parse_free


@pytest.mark.parametrize(
    ("latex", "reason"),
    [
        ("a", "too early: no relation stands in it$"),
        ("a = b +", "too early: something is missing$"),
        (
            r"a = b \quad c d",
            r"too early: no relation stands in it; `\\quad` separates statements$",
        ),
        (r"a \quad = b =", r"too early: something is missing; `\\quad` separates statements$"),
    ],
)
def test_an_end_too_early_has_its_reason(latex, reason):
    with pytest.raises(EquationError, match=rf"(?m){reason}"):
        parse_free(latex)


@pytest.mark.parametrize("signs", [r"\nabla_x", r"\nabla_x^2", r"\nabla_x \nabla_x^\top"])
def test_a_gradient_of_nothing_ends_too_early(signs):
    with pytest.raises(EquationError, match="ends too early"):
        parse_free(f"a = {signs}")
