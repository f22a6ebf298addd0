"""An inequality that is printed the wrong way round is noted, and is not counted as holding."""

from __future__ import annotations

import pytest
from displays import AGREES, FAILS, tried
from hypothesis import given, settings
from hypothesis import strategies as st

from checked_papers.findings import Finding

TURNED = {r"\le": r"\ge", r"\ge": r"\le", "<": ">", ">": "<"}
TRUE = [
    (r"2 a b \le a^2 + b^2", r"\le"),
    (r"a^2 + b^2 \ge 2 a b", r"\ge"),
    (r"|x + y| \le |x| + |y|", r"\le"),
    (r"\sqrt{a b} \le \frac{a + b}{2}, \quad a, b > 0", r"\le"),
    (r"(a c + b d)^2 \le (a^2 + b^2)(c^2 + d^2)", r"\le"),
    (r"1 + x \le e^x", r"\le"),
    (r"x < e^x", "<"),
    (r"\sin x < x, \quad x > 0", "<"),
    (r"x^2 + 1 > x", ">"),
    (r"a^2 + b^2 + 1 > 2 a b", ">"),
    (r"\log x \le x - 1, \quad x > 0", r"\le"),
    (r"x \le |x|", r"\le"),
    (r"\lfloor x \rfloor \le x", r"\le"),
    (r"n^2 \ge n", r"\ge"),
    (r"0 \le x^2", r"\le"),
    (r"\|x + y\| \le \|x\| + \|y\|", r"\le"),
    (r"|x^\top y| \le \|x\| \|y\|", r"\le"),
]


def _is_noted_as_reversed(found: Finding, sign: str, printed: str) -> bool:
    (mend,) = found.mends
    assert (found.outcome, found.noted, found.mutants) == (FAILS, True, {}), str(found)
    assert "its order is reversed" in found.why
    return mend.startswith(f"`{sign}` for `{printed}`: ")


@pytest.mark.parametrize(("latex", "sign"), TRUE)
def test_the_right_way_round_holds_and_the_other_is_noted(latex: str, sign: str) -> None:
    found = tried(latex)
    assert found.outcome in (AGREES, "holds"), str(found)
    turned = latex.replace(sign, TURNED[sign], 1)
    assert _is_noted_as_reversed(tried(turned), sign, TURNED[sign])


@pytest.mark.parametrize(
    ("latex", "sign", "printed"),
    [("a^2 + b^2 < 2 a b", r"\ge", "<"), ("x^2 < 0", r"\ge", "<"), ("n^2 < n", r"\ge", "<")],
)
def test_a_strict_order_whose_sides_may_meet_is_mended_to_a_weak_one(
    latex: str, sign: str, printed: str
) -> None:
    assert _is_noted_as_reversed(tried(latex), sign, printed)


@pytest.mark.parametrize(
    ("latex", "sign", "printed"),
    [
        (r"2 a b \ge a^2 + b^2 \ge 0", r"\le", r"\ge"),
        (r"0 \le a^2 + b^2 \le 2 a b", r"\ge", r"\le"),
        (r"4 a b \ge (a + b)^2 = a^2 + 2 a b + b^2", r"\le", r"\ge"),
        (r"a^2 + b^2 + 1 = 1 + b^2 + a^2 < 2 a b", ">", "<"),
    ],
)
def test_of_a_chain_the_order_that_fails_is_turned(latex: str, sign: str, printed: str) -> None:
    assert _is_noted_as_reversed(tried(latex), sign, printed)


@pytest.mark.parametrize(
    "latex",
    [r"2 a b \le a^2 + b^2 \le (a + b)^2 + (a - b)^2", r"0 < e^x, \quad x \le e^x", r"a^2 \ge 0"],
)
def test_a_chain_and_a_list_that_hold_do_so(latex: str) -> None:
    assert tried(latex).outcome in (AGREES, "holds"), str(tried(latex))


@pytest.mark.parametrize("latex", [r"x \le |y|", r"x^2 \le x", r"a \le b^2 + c", "3 < 2", r"x < 5"])
def test_an_order_that_either_way_fails_somewhere_has_no_mend(latex: str) -> None:
    assert tried(latex).mends == ()


def test_where_sides_are_the_same_on_some_numbers_it_says_so() -> None:
    assert tried(r"|x + y| \ge |x| + |y|").why.endswith(
        "it holds only where both sides are the same"
    )
    assert tried(r"1 + x \ge e^x").why == "its order is reversed"


@given(st.integers(1, 9), st.integers(1, 9), st.integers(-4, 4), st.sampled_from(["a b", "x y"]))
@settings(max_examples=15, deadline=None, derandomize=True)
def test_a_square_is_no_less_than_nothing(p: int, q: int, c: int, pair: str) -> None:
    one, other = pair.split()
    sides = f"{p * p} {one}^2 + {q * q} {other}^2", f"{2 * p * q} {one} {other} - {c * c}"
    assert tried(r" \ge ".join(sides)).outcome == AGREES
    assert _is_noted_as_reversed(tried(r" \le ".join(sides)), r"\ge", r"\le")
