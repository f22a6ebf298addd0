"""``\\Pr``: the mean of indicators, and what it is not."""

from __future__ import annotations

import numpy as np
import pytest
from problems import says

from checked_equations import Distribution, EquationError, Nodes, check_equation
from checked_equations.latex.parser import parse
from checked_equations.latex.tree import Apply

POINTS, WEIGHTS = np.array([0.3, 1.1, 2.0, 4.5]), np.array([0.1, 0.4, 0.2, 0.3])
BOUND = {"x": Nodes(POINTS, WEIGHTS), "a": 2.5, "c": 1.3}
GIVEN = Distribution(lambda v: Nodes([v - 1.0, 2.0 * v], [0.3, 0.7]))


@pytest.mark.parametrize(
    ("latex", "value"),
    [
        (r"d = \Pr_x(x \le a) + c", 0.7),
        (r"d = \Pr(x > a) + c", 0.3),
        (r"d = \Pr\left[ x > a \right] + c", 0.3),
        (r"d = \Pr(x = 2) + a - c", 0.1),
        (r"d = \Pr(x > 1, x < a) + c", 0.6),
    ],
)
def test_it_is_the_mean_of_its_indicators(latex, value):
    record = check_equation(latex, {**BOUND, "d": value + 1.3})
    assert record.mutants.caught > 0
    with pytest.raises(EquationError, check=says(r"does not hold.*a quadrature misses a jump")):
        check_equation(latex, {**BOUND, "d": value + 1.2})


def test_a_condition_stands_behind_the_bar():
    bound = {"y \\mid x": GIVEN, "a": 1.3, "c": 0.4}
    assert check_equation(r"d = \Pr(y > 2 \mid x = a) - c", {**bound, "d": 0.3}).mutants.caught
    with pytest.raises(EquationError, check=says("does not hold")):
        check_equation(r"d = \Pr(y < 2 \mid x = a) - c", {**bound, "d": 0.3})


def test_a_slip_is_shown_in_the_words_of_the_page():
    latex = r"d = \Pr(x > a) + c"
    written = check_equation(latex, {**BOUND, "d": 1.6}).mutants.write()
    shown = [
        latex[: m.changed[0]] + m.changed[2] + latex[m.changed[1] :] for m in written if m.changed
    ]
    assert r"d = \Pr(x < a) + c" in shown


@pytest.mark.parametrize("latex", [r"d = \Pr(x)", r"d = \Pr(a < x \le c)", r"d = \Pr(x > a"])
def test_another_form_is_refused(latex):
    with pytest.raises(EquationError, match=r"write relations in its brackets|never closed"):
        check_equation(latex, {**BOUND, "d": 0.3})


def test_a_bound_one_keeps_its_name():
    bound = {"d": 2.1, r"\Pr": lambda value: value + 0.5, "c": 1.3, "a": 0.3}
    assert check_equation(r"d = \Pr(c) + a", bound).mutants.caught
    step = parse(r"d = \Pr(x, a)", {}, free=True).steps[0]
    assert isinstance(step.right, Apply)
    assert step.right.key == r"\Pr"
