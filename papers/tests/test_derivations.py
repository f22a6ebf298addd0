"""Displays that go on from those before them: what follows holds, and what does not is not said to.

The spoilt twins are those of the benchmark of slips: one sign, digit or power, two sides exchanged.
"""

# ruff: noqa: E501 - a formula on a line

from __future__ import annotations

import random
import runpy
from pathlib import Path

import pytest
from displays import twin
from textbook_displays import HOLD

from checked_papers.declarations import Declared
from checked_papers.derivations import followed_from, have_nothing_in_common
from checked_papers.display_trials import tasks, try_one
from checked_papers.document_formats import read
from checked_papers.findings import Finding
from checked_papers.statements import stated_in

SLIPS = runpy.run_path(str(Path(__file__).parents[1] / "benchmarks" / "slips.py"))["slips"]
CHANCE = random.Random(7)


def last(folder: Path, *displays: str, between: str = "So") -> Finding:
    (folder / "paper.tex").write_text(f" {between} ".join(rf"\[ {one} \]" for one in displays))
    return try_one(list(tasks(read(folder / "paper.tex"), Declared(), {}))[-1])


def identities() -> list[tuple[str, str, str]]:
    """Two sides that are equal, and one that is not equal to the first."""
    found = []
    for latex in CHANCE.sample(HOLD, len(HOLD)):
        every = stated_in(latex)
        if len(every) == 1 and every[0].signs == ("=",) and not every[0].tail and "Q" not in latex:
            left, right = every[0].sides
            spoilt = [one.latex for one in SLIPS(right)]
            found += [(left, right, CHANCE.choice(spoilt))] if spoilt else []
    return found[:12]


@pytest.mark.parametrize(("left", "right", "spoilt"), identities())
def test_two_values_of_one_thing_are_equal(
    tmp_path: Path, left: str, right: str, spoilt: str
) -> None:
    alone = last(tmp_path, rf"{left} = {right}")
    found = last(tmp_path, f"Q = {left}", f"Q = {right}")
    assert (found.outcome, "goes on from" in found.why) == (alone.outcome, True), str(found)
    wrong = last(tmp_path, rf"{left} = {spoilt}")
    other = last(tmp_path, f"Q = {left}", f"Q = {spoilt}")
    assert not other.fails
    assert other.outcome == "" or not wrong.fails, str(other)


@pytest.mark.parametrize(
    ("before", "latex", "how", "false"),
    [
        ([r"2 \mathbf K \mathbf S = 2 \mathbf P \mathbf C^\top"],
         r"\mathbf K \mathbf S = \mathbf P \mathbf C^\top", "rearranges", (r"\mathbf K", r"2 \mathbf K")),
        ([r"\mathbf K \mathbf S = \mathbf P \mathbf C^\top"],
         r"\mathbf K = \mathbf P \mathbf C^\top \mathbf S^{-1}", "solves", (r"\mathbf C^\top", r"\mathbf C")),
        (["3 x + b = c"], r"x = \frac{c - b}{3}", "solves", ("c - b", "c + b")),
        (["v = a t", "a = b + c"], "v = b t + c t", "goes on from", ("b t", "b")),
        (["x = a + b"], "x^2 = a^2 + 2 a b + b^2", "with x = a + b, as", ("2 a", "3 a")),
        ([r"\dot{\mathbf x} = \mathbf A \mathbf x(t) + \mathbf B(-\mathbf K \mathbf x(t))"],
         r"\dot{\mathbf x} = (\mathbf A - \mathbf B \mathbf K) \mathbf x(t)", "goes on from", (r"\mathbf B \mathbf K", r"\mathbf K \mathbf B")),
        (["E(s) = V(s) - K(s) E(s)"], r"E(s) = \frac{V(s)}{1 + K(s)}", "solves", ("1 + K(s)", "1 - K(s)")),
        ([r"V = \frac{J}{K} \frac{d\omega}{dt}"], r"\frac{d\omega}{dt} = \frac{K V}{J}", "with V =", ("K V", "V")),
        ([r"P = A B + C \\ \qquad + D"], "P = D + C + A B", "goes on from", ("D + C", "D - C")),
        ([f"v_{i} = a b_{i} - a c_{i}" for i in (1, 2, 3)], "v_1 = a (b_1 - c_1)", "goes on from", ("b_1", "b_2")),
    ],
)  # fmt: skip
def test_what_follows_and_its_false_twin(
    tmp_path: Path, before: list[str], latex: str, how: str, false: tuple[str, str]
) -> None:
    found = last(tmp_path, *before, latex)
    assert (found.outcome in ("holds", "holds if"), how in found.why) == (True, True), str(found)
    other = last(tmp_path, *before, twin(latex, false))
    assert (other.outcome, other.fails) == ("", False), str(other)


@pytest.mark.parametrize(
    ("before", "latex"),
    [
        ("y = 2", r"\int_0^1 x(t) \, dt = x(t)"),
        ("y = x(a)", "y = x(b)"),
        ("y = x(t) - x(t - 1)", "y = 0"),
        (r"v = \frac{dx}{dt}", r"\frac{dv}{dt} = 0"),
    ],
)
def test_a_function_is_no_number_where_its_argument_changes(
    tmp_path: Path, before: str, latex: str
) -> None:
    assert last(tmp_path, before, latex).outcome in ("", "fails on all numbers drawn")


def test_what_is_said_again_is_no_evidence() -> None:
    assert not list(followed_from("P = a b", ["P & = (a b)."]))


def test_another_section_may_mean_another_thing(tmp_path: Path) -> None:
    lines = ("x = a + b", "x^2 = a^2 + 2 a b + b^2")
    assert last(tmp_path, *lines).outcome == "holds"
    assert last(tmp_path, *lines, between="\n\\section{Other}\n").outcome == ""


def test_two_displays_that_agree_for_some_whole_numbers_do_not_follow(tmp_path: Path) -> None:
    before = r"n^2 \equiv n \pmod 3"
    found = last(tmp_path, before, r"n^2 \equiv 1 \pmod 2 \quad n\ \text{odd}")
    assert found.verdict == "not read", str(found)


@pytest.mark.parametrize(
    ("latex", "apart"),
    [
        ("a = b + c", True),
        (r"\mathbf x = x + 1", True),
        (r"\frac{1}{2} = \frac{a}{2 a}", False),
        ("a b = b a", False),
        ("a = b = b + a - a", False),
        (r"\sum_{i = 1}^n x_i = m \bar x", False),
        (r"\sum_{i = 1}^4 1 = 4 a^0", False),
        (r"w \overline{w} = r^2", False),
        (r"\pi = e^{x}", False),
    ],
)
def test_sides_that_share_no_letter_are_told_before_they_are_read(latex: str, apart: bool) -> None:
    assert have_nothing_in_common(latex) == apart
