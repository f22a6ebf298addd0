"""The statements that a display prints, the conditions behind them, and their steps."""

from __future__ import annotations

import pytest

from checked_papers.statements import stated_in, without_notes


@pytest.mark.parametrize(
    ("latex", "steps"),
    [
        ("a = b", [("a = b",)]),
        (r"a = b = c, \quad d = e + 1.", [("a = b", "b = c"), ("d = e + 1",)]),
        (r"a &= b \text{ and } c = d", [("a = b",), ("c = d",)]),
        (r"(a + b)^2 = c, \quad (a - b)^2 \ge d", [("(a + b)^2 = c",), (r"(a - b)^2 \ge d",)]),
        (r"\frac{91}{216} \approx 0.9.", [(r"\frac{91}{216} \approx 0.9",)]),
        (".25 + .1 = .35", [(".25 + .1 = .35",)]),
        # conditions of the statement before or behind them
        (r"\sqrt{x^2} = x, \quad x > 0", [(r"\sqrt{x^2} = x",)]),
        (r"x_n = a_n, \qquad n = 1, 2, \dots, N", [("x_n = a_n",)]),
        (r"x = a, \quad x \in A", [("x = a",)]),
        (r"f(x) = a = b \quad\text{at } x = -1", [("f(x) = a", "a = b")]),
        (r"\text{If } x < 0, \quad |x| = -x", [("|x| = -x",)]),
        # what makes no statement
        (r"P(A), \quad Q", []),
        (r"\begin{cases} a = b \\ c = d \end{cases}", []),
        (r"\sum_{i = 1}^n x_i", []),
        ("(a = b", []),
    ],
)
def test_the_steps_of_each_statement(latex: str, steps: list[tuple[str, ...]]) -> None:
    assert [one.steps for one in stated_in(latex)] == steps


@pytest.mark.parametrize(
    ("latex", "defines"),
    [
        ("a = b + 1 = c", True),
        (r"\hat x_1 = b", True),
        ("f(x) = x + 1", True),
        ("a = a b = c", False),  # a stands on both sides
        ("a + b = c", False),
        ("a < b", False),
        (r"\sin x = b", False),
        ("2 = b", False),
    ],
)
def test_what_a_first_step_defines(latex: str, defines: bool) -> None:
    (one,) = stated_in(latex)
    assert one.defines is defines


@pytest.mark.parametrize(
    ("latex", "depends"),
    [
        (r"a = b, \quad c = d", [False, False]),
        (r"a = b \quad\text{and}\quad c = d", [False, False]),
        (r"a = b \Rightarrow c = d", [True, True]),
        (r"a = b \quad\text{where}\quad c = d", [False, True]),
        (r"X \sim N(a = b)", []),
        (r"x \in A = B", [True]),
    ],
)
def test_what_depends_on_another_statement(latex: str, depends: list[bool]) -> None:
    assert [one.depends for one in stated_in(latex)] == depends


def test_a_part_of_a_chain_keeps_its_conditions_apart() -> None:
    (one,) = stated_in(r"a = b \le c = d, \quad d > 0")
    assert one.part(1, 3) == r"b \le c"
    assert not one.equal(1, 3)
    assert one.equal(2, 4)
    assert one.tail == r", \quad d > 0"


@pytest.mark.parametrize(
    ("latex", "bare", "claims"),
    [
        (r"a + \underbrace{b}_{\ge 0} = c", "a + {b} = c", (r"b \ge 0",)),
        (r"a + \underbrace{b + d}_{= e} = c", "a + {b + d} = c", ("b + d = e",)),
        (r"\overbrace{b}^{\text{bias}} + a", "{b} + a", ()),
        (r"\overbrace{b} + a", "{b} + a", ()),
        ("a", "a", ()),
        (r"\underbrace{a", r"\underbrace{a", ()),
    ],
)
def test_what_is_written_at_braces(latex: str, bare: str, claims: tuple[str, ...]) -> None:
    assert without_notes(latex) == (bare, claims)
