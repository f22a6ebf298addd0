"""Forms that papers print: each is read where it is right, and does not hold where it is spoilt."""

from __future__ import annotations

from pathlib import Path

import pytest
from displays import AGREES, FAILS, holds_and_its_twin_does_not, tried

from checked_papers.document_formats import read
from checked_papers.repeated_symbols import idle_index, scaled_variance
from checked_papers.spellings import plainly

ODD = "does not fit together"


@pytest.mark.parametrize(
    ("latex", "slip"),
    [
        (r"\sqrt{10} \approx 3.1623", ("3.1623", "3.1263")),
        (r"\frac{13}{52} \times \frac{12}{51} = \frac{156}{2652} \approx 0.0588",
         ("0.0588", "0.0885")),
        (r"\frac{13}{52} \times \frac{12}{51} ≈ 0.059", ("0.059", "0.058")),
        ("2/3 = 0.667", ("0.667", "0.676")),
        (r"7^2 \approx 49", ("49", "48")),
        (r"(a + b)^2 = a^2 + 2 a b + b^2 \ .", ("2 a b", "a b")),
        (r"\textrm{cosh}(z) = \frac{\exp(z) + \exp(-z)}{2}", ("+", "-")),
        (r"\mathrm{asinh}(x) = \log(x + \sqrt{x^2 + 1})", ("+ 1", "- 1")),
        (r"\sin 30^\circ = \frac12", ("30", "60")),
        (r"\cos(90^{\circ} - \theta) = \sin\theta", ("90", "180")),
        (r"\gcd(a, b) = \gcd(a, b - a)", ("b - a", "b - 1")),
        (r"n \bmod m = n - m \lfloor n / m \rfloor", ("n -", "m -")),
        (r"(n + m) \bmod m = n \bmod m", ("(n + m)", "(n m)")),
        (r"n^3 \equiv n \pmod 3", ("n^3", "n^2")),
        (r"7 \equiv 1 \pmod{3}", ("7", "8")),
        (r"x \bmod 1 = x - \lfloor x \rfloor", ("x -", "x +")),
        (r"(a+b)² = a² + 2ab + b²", ("2ab", "ab")),
        (r"∑_{k=1}^n k³ = \frac{n²(n+1)²}{4}", ("n+1", "n-1")),
        (r"√{α² + 2αβ + β²} = |α + β|", ("+ β|", "- β|")),
        (r"\mathbb E_{}[a X + b] = a \mathbb E_{}[X] + b", ("a X + b", "a X - b")),
    ],
)  # fmt: skip
def test_a_form_is_read(latex: str, slip: tuple[str, str]) -> None:
    holds_and_its_twin_does_not(latex, slip)


@pytest.mark.parametrize(
    "latex", [r"\sqrt{10} \approx 3.1263", r"\frac13 = 0.3", r"\pi \approx 3.15"]
)
def test_a_wrong_digit_is_a_note_and_no_accusation(latex: str) -> None:
    found = tried(latex, mending=False)
    assert (found.outcome, found.fails) == (FAILS, False), str(found)
    assert found.noted == ("approx" in latex)


def test_a_tie_is_rounded_to_even_by_some_and_up_by_others() -> None:
    found = {digits: tried(rf"\frac18 = {digits}").outcome for digits in ("0.12", "0.13", "0.14")}
    assert found == {"0.12": "holds", "0.13": "holds", "0.14": FAILS}


def test_zeros_at_the_end_say_nothing_of_how_near() -> None:
    assert tried(r"17^2 \approx 300").verdict == "not read"


@pytest.mark.parametrize("latex", ["A A^+ A = A", r"\hat x_k^- = A \hat x_{k-1}^+ + B u"])
def test_a_mark_of_sign_makes_a_symbol_of_its_own(latex: str) -> None:
    assert tried(latex).outcome in ("", FAILS), "it may be made of others"


def test_a_column_of_a_table_is_no_display(tmp_path: Path) -> None:
    text = r"\begin{tabular}{l>{\begin{math}\displaystyle}c<{\end{math}}} a & b \end{tabular}"
    (tmp_path / "paper.tex").write_text(text + r"\[ a = b \]", encoding="utf-8")
    assert [one.latex.strip() for one in read(tmp_path / "paper.tex").paper.equations] == ["a = b"]


def test_bold_vectors_of_a_class_are_bold(tmp_path: Path) -> None:
    text = r"\def\vec#1{\ensuremath{\mathchoice{\mbox{\boldmath$#1$}}{}{}{}}} \[ \vec a = 1 \]"
    (tmp_path / "paper.tex").write_text(text, encoding="utf-8")
    (one,) = read(tmp_path / "paper.tex").paper.equations
    assert one.macros["vec"] == [r"\boldsymbol{#1}", 1]


def test_arrays_without_a_right_brace_are_cases() -> None:
    cases = r"\left\{ \begin{array}{ccc} x & & x > 1 \\ 1 & & x \le 1 \end{array} \right."
    assert tried(rf"{cases} = \max(x, 1)").outcome in ("holds", AGREES)
    assert tried(rf"{cases} = \min(x, 1)").outcome not in ("holds", AGREES)
    assert plainly(r"\left\{\begin{array}{c} a \end{array}\right\}").startswith(r"\left\{")


def test_an_index_that_runs_over_nothing_is_a_note() -> None:
    found = tried(r"v_t = \frac{1}{2 k + 1} \sum_{i=-k}^k x_{t-1}")
    assert (found.outcome, found.noted) == (ODD, True)
    for right in (r"\sum_{i=-k}^k x_{t-i}", r"n \sigma^2 = \sum_{i=1}^n \sigma^2",
                  r"\sum_{i=1}^n a_i x_{t-1}", r"\sum_{i=1}^n b_i + x_{t-1}"):  # fmt: skip
        assert not idle_index(right), right


def test_a_variance_has_the_square_of_the_unit() -> None:
    wrong, right = (rf"\mathbb V[X \mid Y] = \sigma_X{power} (1 - \rho^2)" for power in ("", "^2"))
    assert tried(wrong).outcome == FAILS
    assert tried(right).outcome != FAILS
    assert not scaled_variance(r"\mathbb V[X] = c")


def test_marks_that_fit_no_shapes_are_a_note() -> None:
    found = tried(r"\operatorname{tr}(X) = X")
    assert (found.outcome, found.noted, found.fails) == (ODD, True, False)
