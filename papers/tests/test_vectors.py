"""Dot and cross products, beside twins that are false."""

# ruff: noqa: E501 - a formula on a line

from __future__ import annotations

import pytest
from displays import AGREES, FAILS, holds, tried, twin


@pytest.mark.parametrize(
    ("latex", "slip"),
    [
        (
            r"\mathbf a \cdot (\mathbf b \times \mathbf c) = \mathbf b \cdot (\mathbf c \times \mathbf a)",
            (r"\mathbf c \times \mathbf a", r"\mathbf a \times \mathbf c"),
        ),
        (
            r"\mathbf a \times (\mathbf b \times \mathbf c) "
            r"= \mathbf b (\mathbf a \cdot \mathbf c) - \mathbf c (\mathbf a \cdot \mathbf b)",
            (r"- \mathbf c", r"+ \mathbf c"),
        ),
        (r"\mathbf a \times \mathbf b = - \mathbf b \times \mathbf a", ("- ", "")),
        (r"|\vec u + \vec v|^2 = |\vec u|^2 + 2 \vec u \cdot \vec v + |\vec v|^2", (r"2 \vec u", r"\vec u")),
        (
            r"\left|\mathbf a \times \mathbf b\right|^2 = \mathbf a^2 \mathbf b^2 - (\mathbf a \cdot \mathbf b)^2",
            (r"- (", "+ ("),
        ),
    ],
)  # fmt: skip
def test_what_holds_for_any_vectors_and_its_false_twin_does_not(
    latex: str, slip: tuple[str, str]
) -> None:
    found = holds(latex)
    assert not found.mutants["survived"]
    other = tried(twin(latex, slip))
    assert (other.outcome, other.noted, other.fails) == (FAILS, True, False), str(other)


@pytest.mark.parametrize(
    "latex",
    [
        r"\mathbf a \times \mathbf b \times \mathbf c = \mathbf a \times (\mathbf b \times \mathbf c)",
        r"\nabla \cdot \mathbf a = \mathbf a \cdot \mathbf b",
    ],
)
def test_what_is_not_clear_is_not_read(latex: str) -> None:
    assert tried(latex).verdict == "not read"


def test_what_is_written_at_a_brace_is_left_out() -> None:
    found = tried(r"(a + b)^2 = \underbrace{a^2 + b^2}_{\ge 0} + 2 a b")
    assert found.outcome == AGREES, "so would a^2 - b^2 on the numbers that are drawn"
    words = tried(r"(a + b)^2 = \underbrace{a^2 + b^2}_{\text{squares}} + 2 a b")
    assert words.outcome == "holds"
    assert "without what is written at its braces" in words.why
    assert tried(r"(a + b)^2 = \underbrace{a^2 + b^2}_{\ge 0} + 3 a b").outcome == FAILS
