"""Displays as papers print them: nobody who is right is accused, and most slips are told."""

from __future__ import annotations

import pytest
from displays import AGREES, tried
from printed_displays import CAUGHT, CAUGHT_SLOWLY, MISSED, RIGHT
from textbook_displays import HOLD, LETTERED, UNREAD, WRONG

from checked_equations.evaluate.effort import SECOND
from checked_papers.declarations import declared
from checked_papers.tried import special

# What is true of other objects than numbers: numbers fail it, and an edit would mend it for them.
OF_OTHER_OBJECTS = {"1 + 1 = 0", "1 + 1 = 1", "x^{-1} y x = y^{-1}"}


@pytest.mark.parametrize("latex", RIGHT)
def test_nothing_right_is_accused(latex: str) -> None:
    found = tried(latex)
    assert not found.fails, str(found)
    assert "the engine failed" not in found.why
    assert not found.mends or latex in OF_OTHER_OBJECTS


@pytest.mark.parametrize("latex", [*CAUGHT, *CAUGHT_SLOWLY])
def test_a_slip_is_told(latex: str) -> None:
    """With a quarter of a second's search for mends: what a whole one finds is asked by others.

    A shorter one has no mend of `(x + y)^n = ...` yet, and says that the text may say more.
    """
    found = tried(latex, mending=SECOND / 4)
    assert found.fails, str(found)


@pytest.mark.parametrize("latex", MISSED)
def test_no_slip_is_said_to_hold_everywhere(latex: str) -> None:
    assert tried(latex, mending=False).outcome not in ("holds", AGREES)


@pytest.mark.parametrize("latex", HOLD)
def test_what_all_textbooks_print_holds(latex: str) -> None:
    """Of an order it agrees, since it may do so with a slip as well."""
    found = tried(latex)
    ordered = {"\\le", "\\ge", "<", ">"} & {*latex.split()}
    assert found.outcome == "holds" or (ordered and found.outcome == AGREES), str(found)


@pytest.mark.parametrize("latex", UNREAD)
def test_what_is_not_read_of_textbooks_is_not_accused(latex: str) -> None:
    found = tried(latex)
    assert not found.fails, str(found)
    assert "the engine failed" not in found.why


@pytest.mark.parametrize("latex", WRONG)
def test_what_students_write_is_not_said_to_hold_everywhere(latex: str) -> None:
    assert tried(latex, mending=False).outcome not in ("holds", AGREES)


def test_special_functions_are_known_and_printed_as_they_are_written() -> None:
    assert tried(r"\Gamma(z + 1) = z \Gamma(z)").outcome == "holds"
    wrong = tried(r"\Gamma(z + 1) = (z + 1) \Gamma(z)")
    assert wrong.outcome == "does not hold"
    assert r"\Gamma (z + 1) = z \Gamma (z)" in wrong.mends[0]
    declares = declared(r"\Gamma(z) = z^2 + z; z be real")
    assert tried(r"\Gamma(z) = z (z + 1)", declares).outcome == "holds"


LETTERED_TOO = [
    r"(a)_n = \frac{\Gamma(a + n)}{\Gamma(a)}",
    r"(a)_{n+1} = (a + n) (a)_n",
    r"J_{-n}(x) = (-1)^n J_n(x)",
    r"J_0'(x) = -J_1(x)",
]
LETTERED_WRONG = [
    r"(a)_n = \frac{\Gamma(a - n)}{\Gamma(a)}",
    r"(a)_{n+1} = (a - n) (a)_n",
    r"J_{-n}(x) = J_n(x)",
    r"J_0'(x) = J_1(x)",
]


@pytest.mark.parametrize("latex", [*LETTERED, *LETTERED_TOO])
def test_the_functions_of_a_reference_work_are_those_of_a_notation_by_name(latex: str) -> None:
    assert tried(latex, mending=False).verdict in ("not read", "definition")
    assert tried(latex, mending=False, notation="nist").outcome == "holds"


@pytest.mark.parametrize("latex", LETTERED_WRONG)
def test_a_slip_in_a_notation_is_not_said_to_hold(latex: str) -> None:
    assert tried(latex, mending=False, notation="nist").outcome not in ("holds", AGREES)


def test_without_mpmath_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent() -> None:
        raise ValueError(special.HINT)

    monkeypatch.setattr(special, "context", absent)
    found = tried(r"\Gamma(z + 1) = z \Gamma(z)")
    assert found.verdict == "not read"
    assert "checked-papers[special]" in found.why


@pytest.mark.parametrize(
    ("latex", "region"),
    [
        (r"\sqrt{a b} \le \frac{a + b}{2}", "a, b > 0"),
        ("2^n = n^2", "n = 2"),
        (r"(-1)^n x = x", "n is even"),
        (r"\lfloor n / 2 \rfloor = \frac{n - 1}{2}", "n is odd"),
    ],
)
def test_where_it_holds_is_a_region_and_no_chance(latex: str, region: str) -> None:
    assert region in tried(latex).region


def test_what_stands_in_a_norm_is_a_vector() -> None:
    found = tried(r"\|x + y\|^2 + \|x - y\|^2 = 2 \|x\|^2 + 2 \|y\|^2")
    assert found.outcome == "holds"
    assert set(found.drawn.values()) == {"vector n"}


def test_one_number_is_no_region() -> None:
    """Of `n ≤ 0` binomials let only n = 0 be seen."""
    latex = r"\binom{n}{k} \binom{k}{m} = \binom{n}{m} \binom{n}{k - m}"
    assert tried(latex, mending=False).region == ""
