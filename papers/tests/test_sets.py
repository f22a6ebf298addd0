"""Statements about sets, and what follows from what: true ones hold, false ones do not."""

from __future__ import annotations

import pytest
from displays import AGREES, FAILS, holds, tried, twin


@pytest.mark.parametrize(
    ("latex", "slip"),
    [
        (r"(A \cup B)^c = A^c \cap B^c", (r"\cap B^c", r"\cup B^c")),
        (r"(A \cap B)^\complement = A^\complement \cup B^\complement", (r"\cup B", r"\cap B")),
        (r"A \setminus B = A \cap B^c", ("B^c", "B")),
        (r"A \cap (B \cup C) = (A \cap B) \cup (A \cap C)", (r") \cup (", r") \cap (")),
        (r"A \cup (B \cap C) = (A \cup B) \cap (A \cup C)", (r") \cap (", r") \cup (")),
        (r"A \triangle B = (A \setminus B) \cup (B \setminus A)", (r"(B \setminus A)", "A")),
        (r"A \subseteq B \iff A \cap B = A", (r"\cap", r"\cup")),
        (r"A \subset B, B \subset C \Rightarrow A \subset C",
         (r"A \subset C", r"C \subset A")),
        (r"x \in A \cap B \iff x \in A, x \in B", (r"\cap", r"\cup")),
        (r"\neg (P \land Q) \iff \neg P \lor \neg Q", (r"\lor", r"\land")),
        (r"(P \Rightarrow Q) \Leftrightarrow (\neg P \lor Q)", (r"\neg P", "P")),
    ],
)  # fmt: skip
def test_a_law_of_sets_holds_and_its_false_twin_is_a_note(
    latex: str, slip: tuple[str, str]
) -> None:
    found = holds(latex)
    assert not found.mutants["survived"]
    other = tried(twin(latex, slip))
    assert (other.outcome, other.fails) == (FAILS, False), str(other)


def test_a_note_says_which_slip_would_mend_it() -> None:
    assert r"it would with \cap for \cup" in tried(r"(A \cup B)^c = A^c \cup B^c").why


@pytest.mark.parametrize(
    "latex",
    [
        r"A \cap B = \emptyset",  # which the text supposes
        r"A \cup B = B",
        r"A \cup B \subseteq A",
        r"\overline{A \cup B} = \overline{A} \cap \overline{A \cap B}",  # a bar may be a closure
        r"\overline{A \cap B} = \overline{A} \cap \overline{B}",
        r"A \cup B \cap C = A \cup C",  # which comes first?
        r"P \Rightarrow Q",
        r"A \subseteq B",
        r"x \in A \cup y",
        r"(U \cap V)^\perp = U^\perp + V^\perp",
    ],
)
def test_what_a_text_may_suppose_of_sets_is_not_read(latex: str) -> None:
    assert tried(latex, mending=False).verdict == "not read", str(tried(latex))


@pytest.mark.parametrize(
    "latex",
    [
        r"x > 0 \implies |x| = x",
        r"x > 1 \Rightarrow \sqrt{x^2} = x",
        r"y = e^x \Rightarrow \ln y = x",
        r"f(x) = x^2 \Rightarrow f'(x) = 2 x",
    ],
)
def test_what_follows_holds_where_what_is_supposed_does(latex: str) -> None:
    assert "where" in holds(latex).why


@pytest.mark.parametrize(
    "latex",
    [r"x > 1 \Rightarrow x^2 > x", r"|x| < 1 \iff x^2 < 1", r"a < b \Rightarrow e^a < e^b"],
)
def test_what_follows_says_so_where_a_slip_would_not_be_seen(latex: str) -> None:
    assert tried(latex).outcome == AGREES


@pytest.mark.parametrize(
    "latex",
    [
        r"x^2 > 1 \Rightarrow x > 1",
        r"x < 0 \implies \sqrt{x^2} = x",  # each of the two holds somewhere
        r"y = e^x \Rightarrow \ln y = 2 x",
        r"|x| < 1 \iff x^2 < 2",  # one way alone
        r"x^2 = 4 \Rightarrow x = 2",
        r"a < b \Rightarrow a^2 < b^2",
        r"f(x) = x^2 \Rightarrow f'(x) = 3 x",
    ],
)
def test_what_does_not_follow_is_not_said_to_hold(latex: str) -> None:
    assert tried(latex, mending=False).verdict == "not read", str(tried(latex))
