"""What a text prints of a law whose density it gives: true statements hold, spoilt ones do not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from checked_papers.declarations import Declared
from checked_papers.display_trials import tasks, try_one
from checked_papers.document_formats import read
from checked_papers.findings import Finding
from checked_papers.laws import Density, Law, densities_of, head_of, is_density

GAMMA = (
    r"The gamma distribution has, for $x \ge 0$, the density"
    r"\[ f(x; \alpha) = \frac{1}{\Gamma(\alpha)} x^{\alpha - 1} e^{-x}. \]"
)
GEOMETRIC = (
    r"The geometric distribution has the probability mass function"
    r"\[ p(k; p) = (1 - p)^{k - 1} p, \quad k \ge 1. \]"
)
BINOMIAL = (
    r"The probability mass function of the binomial distribution is"
    r"\[ P(X = k) = \binom{n}{k} p^k (1 - p)^{n - k} \] where $k \in \{0, 1, 2, \dots, n\}$."
)
CHI_SQUARE = (
    r"The distribution has the density \[ f(x) = \begin{cases}"
    r"\frac{1}{2^{k/2} \Gamma(\frac k2)} x^{\frac k2 - 1} e^{-\frac x2}, & \text{if}\ x \ge 0 \\"
    r"0, & \text{if}\ x < 0 \end{cases} \]"
)
EXPONENTIAL = r"The exponential density is \[ f(x) = e^{-x}, \quad x \ge 0. \]"


def last(folder: Path, text: str, *, mending: bool = False) -> Finding:
    """What is found of the last display of a paper."""
    (folder / "paper.tex").write_text(text, encoding="utf-8")
    task = list(tasks(read(folder / "paper.tex"), Declared(), {}))[-1]
    return try_one(replace(task, mending=mending))


@pytest.mark.parametrize(
    ("before", "right", "slip", "said"),
    [
        (GAMMA, r"\mu = \alpha", ("alpha", "alpha^2"), "the mean"),
        (GAMMA, r"\mu_2 = \alpha", (r"= \alpha", r"= \frac{\alpha}{2}"), "the variance"),
        (GAMMA, r"\gamma_1 = \frac{2}{\sqrt{\alpha}}", ("2", "3"), "the skewness"),
        (GAMMA, r"F(x; \alpha) = \frac{\gamma(\alpha, x)}{\Gamma(\alpha)}",
         (r"\gamma(\alpha, x)", r"\gamma(\alpha, 2 x)"),
         "its slope"),
        (GAMMA, r"M(t) = \frac{1}{(1 - t)^\alpha}", ("1 - t", "1 + t"), "generating function"),
        (GEOMETRIC, r"\mu = \frac{1}{p}", ("1", "2"), "the mean"),
        (GEOMETRIC, r"\mu_2 = \frac{1 - p}{p^2}", ("p^2", "p"), "the variance"),
        (GEOMETRIC, r"F(x; p) = 1 - (1 - p)^{\lfloor x \rfloor}", ("1 - (1", "1 + (1"),
         "its steps"),
        (EXPONENTIAL, r"E[X^2] = 2", ("= 2", "= 3"), "a moment"),
        (EXPONENTIAL, r"\mu'_n = n!", ("n!", "2 n!"), "a moment"),
        (EXPONENTIAL, r"m_n = \log 2", ("2", "3"), "half of"),
        (EXPONENTIAL, r"h[X] = 1", ("= 1", "= 2"), "the entropy"),
        (EXPONENTIAL + r"\[ F(x) = 1 - e^{-x} \]", r"G(q) = -\log(1 - q)", ("-", ""),
         "it undoes F"),
    ],
)  # fmt: skip
def test_what_is_printed_of_a_law_is_tried(
    tmp_path: Path, before: str, right: str, slip: tuple[str, str], said: str
) -> None:
    found = last(tmp_path, rf"{before} \[ {right} \]")
    assert (found.outcome, said in found.why) == ("holds", True), str(found)
    spoilt = right.replace(*slip)
    assert spoilt != right
    other = last(tmp_path, rf"{before} \[ {spoilt} \]")
    assert other.outcome not in ("holds", "holds if", "does not hold"), str(other)


@pytest.mark.parametrize(
    ("text", "slip"),
    [
        (r"A density for $y \in \mathbb{R}^+$: \[ \text{Exponential}(y \mid \beta) = "
         r"\beta \exp(-\beta y) \]", (r"= \beta", "= 2")),
        (r"The density, for $y \in \mathbb{R}$: \[ \text{Normal}(y|\mu,\sigma) = "
         r"\frac{1}{\sqrt{2 \pi} \sigma} \exp\left(-\frac{1}{2} "
         r"\left(\frac{y - \mu}{\sigma}\right)^2\right) \]", (r"\sqrt{2 \pi}", r"\sqrt{\pi}")),
        (r"The kernel is \[ K(x) = \begin{cases} \frac{3}{4 \sqrt 5} (1 - x^2 / 5) & |x| < \sqrt 5"
         r" \\ 0 & \text{otherwise} \end{cases} \]", ("{4 ", "{5 ")),
        (r"Its mass function is \[ p(k; n, p) = \binom{n}{k} p^k (1 - p)^{n - k}, \quad "
         r"k \in \{0, 1, \dots, n\} \]", ("n - k", "n + k")),
    ],
)  # fmt: skip
def test_a_density_is_tried_by_its_integral(
    tmp_path: Path, text: str, slip: tuple[str, str]
) -> None:
    found = last(tmp_path, text)
    assert found.outcome in ("holds", "holds if"), str(found)
    assert "as a density" in found.why
    spoilt = text.replace(*slip)
    assert spoilt != text
    assert last(tmp_path, spoilt).outcome not in ("holds", "holds if", "does not hold")


def test_a_wrong_variance_is_a_note_with_its_mend(tmp_path: Path) -> None:
    text = (
        r"The beta distribution, $x \in [0, 1]$: \[ f(x; a, b) = "
        r"\frac{\Gamma(a + b)}{\Gamma(a) \Gamma(b)} x^{a - 1} (1 - x)^{b - 1} \]"
        r"\[ \mu_2 = \frac{a b (a + b + 1)}{(a + b)^2} \]"
    )
    found = last(tmp_path, text, mending=True)
    assert found.outcome == "fails on all numbers drawn"
    assert found.noted
    assert found.mends[0].startswith("a factor below the line")


def test_a_density_without_a_value_is_mended(tmp_path: Path) -> None:
    text = (
        r"The Epanechnikov kernel: \[ K(x) = \begin{cases} \frac{3}{4 \sqrt 5 (1 - x^2 / 5)} "
        r"& |x| < \sqrt 5 \\ 0 & \text{otherwise} \end{cases} \]"
    )
    found = last(tmp_path, text, mending=True)
    assert found.outcome == "fails on all numbers drawn"
    assert found.mends[0].startswith("a bracket moved")


def test_a_function_of_another_text_is_no_density(tmp_path: Path) -> None:
    assert last(tmp_path, r"We solve \[ f(x) = x^2 - 2 \] for $x > 0$.").verdict == "definition"


def test_values_that_are_printed_come_first() -> None:
    law = Law(r"f(x; a) = a e^{-a x}", (), (r"0 \le x < \infty",))
    assert next(densities_of(law)) == Density(
        "f", "x", ("a",), "a e^{-a x}", "0", "\\infty", printed=True
    )


def test_a_head_is_of_a_function_or_a_symbol() -> None:
    head = head_of(r"F(x; a) = \int_0^x f(t) dt = 1 - e^{-a x}, \quad x > 0")
    assert head is not None
    assert (head.name, head.of, head.sides[-1]) == ("F", ("x", "a"), "1 - e^{-a x}")
    assert head_of("a + b") is None
    assert is_density(r"\text{Beta}(\theta \mid \alpha, \beta) = \theta^\alpha")
    assert not is_density(r"\text{area}(x, y) = x y")


@pytest.mark.parametrize(
    ("before", "right", "slip", "said"),
    [
        (BINOMIAL, r"E[X] = n p", ("n p", "n p^2"), "the mean"),
        (BINOMIAL, r"\text{Var}(X) = n p (1 - p)", ("1 - p", "2 - p"), "the variance"),
        (BINOMIAL, r"E[X^2] = n p (1 - p) + n^2 p^2", ("n^2 p^2", "n p^2"), "a moment"),
        (CHI_SQUARE, r"\mathbb E[X] = k", ("= k", "= 2 k"), "the mean"),
        (EXPONENTIAL, r"\operatorname{Var}(X) = 1", ("= 1", "= 2"), "the variance"),
        (CHI_SQUARE, r"\text{Var}(X) = 2 k", ("2 k", "k"), "the variance"),
    ],
)  # fmt: skip
def test_laws_as_courses_print_them(
    tmp_path: Path, before: str, right: str, slip: tuple[str, str], said: str
) -> None:
    found = last(tmp_path, rf"{before} \[ {right} \]")
    assert found.outcome in ("holds", "holds if", "agrees on all numbers drawn"), str(found)
    assert said in found.why
    other = last(tmp_path, rf"{before} \[ {right.replace(*slip)} \]")
    assert (other.outcome in ("", "fails on all numbers drawn"), other.fails) == (True, False)
