"""Displays that another convention reads differently are neither accused nor hold by chance."""

from __future__ import annotations

from pathlib import Path

import pytest
from displays import holds, tried

from checked_papers.declarations import declared
from checked_papers.display_trials import tasks, try_one
from checked_papers.document_formats import read

ELSEWHERE = [
    (r"\log 1000 = 3", r"\log 1000 = 4", r"\log is to the base 10"),
    (r"-\frac12 \log\frac12 - \frac12 \log\frac12 = 1", r"-\frac12 \log\frac12 = 1",
     r"\log is to the base 2"),
    (r"1\frac12 + 2\frac12 = 4", r"1\frac12 + 2\frac12 = 5", "a number before a fraction is added"),
    (r"1.5\mathrm{e}3 = 1500", r"1.5\mathrm{e}3 = 150", "e stands for a power of ten"),
    (r"3 \cdot 4 = 2 \mod 5", r"3 \cdot 4 = 3 \mod 5", "it is meant modulo 5"),
    (r"\|A B\| \le \|A\| \|B\|", r"\|A\| \|B\| \le \|A B\|", r"\|·\| is the spectral norm"),
    (r"\frac{\partial \operatorname{tr}(A X B)}{\partial X} = B A",
     r"\frac{\partial \operatorname{tr}(A X B)}{\partial X} = A B",
     "the slope is laid out as its transpose"),
    (r"\frac{\partial}{\partial X} \ln\det X = X^{-1}",
     r"\frac{\partial}{\partial X} \ln\det X = X",
     "the slope is laid out as its transpose"),
]  # fmt: skip


@pytest.mark.parametrize(("right", "wrong", "region"), ELSEWHERE)
def test_a_convention_is_named(right: str, wrong: str, region: str) -> None:
    found = tried(right)
    assert (found.outcome, found.region) == ("holds if", region), str(found)
    assert tried(wrong, mending=False).region != region


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        (r"\frac{1}{R + j \omega L} = \frac{R - j \omega L}{R^2 + \omega^2 L^2}",
         r"\frac{1}{R + j \omega L} = \frac{R - j \omega L}{R^2 - \omega^2 L^2}"),
        (r"\left|1 + j \omega \tau\right|^2 = 1 + \omega^2 \tau^2",
         r"\left|1 + j \omega \tau\right| = 1 + \omega^2 \tau^2"),
        (r"e^{j \theta} = \cos\theta + j \sin\theta", r"e^{-j \theta} = \cos\theta + j \sin\theta"),
    ],
)  # fmt: skip
def test_engineers_call_the_imaginary_unit_j(right: str, wrong: str) -> None:
    assert "j for the imaginary unit" in holds(right).why
    found = tried(wrong)
    assert "holds" not in found.outcome or found.region, str(found)
    assert found.noted or found.fails


@pytest.mark.parametrize(
    "latex",
    ["x = x + 1", r"i = i + 1", r"1 + \omega = \omega", "x := x + 1", "i j = -j i", "i j = j i",
     r"(12)(23) = (123)", "(123)^{-1} = (132)", "1.602(3) = 1.602", r"2^{-1} = 4 \pmod 7",
     "A B - B A = 1", r"a a^\dagger - a^\dagger a = 1", r"\{x\} = x - [x]", r"\{x\} + \{-x\} = 1",
     "[x + y] = [x] + [y]", r"\{2 x\} = 2 \{x\}", "(A B)^H = A^H B^H"],
)  # fmt: skip
def test_what_may_be_no_number_is_not_read(latex: str) -> None:
    assert tried(latex).verdict == "not read", str(tried(latex))


@pytest.mark.parametrize(
    "latex",
    ["a b - b a = a", "x = 1 + 1", r"(a - b)(a + b) = a^2 - a b + b a + b^2", "[x + 1] = x"],
)
def test_what_looks_like_these_is_read_as_before(latex: str) -> None:
    assert (
        "may" not in tried(latex, mending=False).why.split(":")[0] or "commute" in tried(latex).why
    )


@pytest.mark.parametrize(
    ("latex", "region"),
    [
        (r"a \cdot (b \times c) = b \cdot (a \times c)", "a, b, c are numbers"),
        (r"a \times b = b \times a", "a, b are numbers"),
        (r"\operatorname{rank}(A B) = \operatorname{rank}(B A)", "A, B of full rank"),
        (r"\frac{d}{dt} A(t)^2 = 2 A(t) A'(t)", "A is a number"),
        (r"\frac{d}{dt}(A(t) B(t)) = A'(t) B(t) + B'(t) A(t)", "A, B are numbers"),
    ],
)
def test_what_holds_of_other_things_says_of_which(latex: str, region: str) -> None:
    found = tried(latex, mending=False)
    assert (found.outcome, found.region) == ("holds if", region), str(found)


@pytest.mark.parametrize(
    "latex",
    [
        r"a \cdot (b \times c) = b \cdot (c \times a)",
        r"\operatorname{rank}(A^\top A) = \operatorname{rank}(A)",
        r"\frac{d}{dt} A(t)^{-1} = -A(t)^{-1} A'(t) A(t)^{-1}",
        r"\frac{d}{dt}(A(t) B(t)) = A'(t) B(t) + A(t) B'(t)",
        r"\int 2 \sin x \cos x \,dx = \sin^2 x + C = -\cos^2 x + C",
        r"\int_a^b 2 x \,dx = \bigl[x^2\bigr]_a^b = b^2 - a^2",
        r"\int_{-1}^1 \frac{dx}{x^2 + 1} = \left.\arctan x\right|_{-1}^{1} = \frac{\pi}{2}",
        r"\mathrm{p.v.}\!\int_{-\infty}^{\infty} \frac{\sin x}{x}\,dx = \pi",
        r"\partial_{xx} \ln(x^2 + y^2) + \partial_{yy} \ln(x^2 + y^2) = 0",
    ],
)
def test_what_is_true_holds(latex: str) -> None:
    found = tried(latex, mending=False)
    assert (found.outcome, found.region) == ("holds", ""), str(found)


@pytest.mark.parametrize(
    "latex",
    [
        r"\int 2 \sin x \cos x \,dx = \sin^2 x + C = \cos^2 x + C",
        r"\int_a^b 2 x \,dx = \bigl[x^2\bigr]_a^b = a^2 - b^2",
        r"\mathrm{p.v.}\!\int_{-\infty}^{\infty} \frac{\sin x}{x}\,dx = 2 \pi",
        r"\partial_t \cos \omega t = \omega \sin \omega t",
    ],
)
def test_its_twin_does_not(latex: str) -> None:
    assert "hold" in tried(latex).outcome or tried(latex).noted
    assert tried(latex, mending=False).outcome not in ("holds", "holds if")


@pytest.mark.parametrize(
    ("claim", "right"),
    [("f'(x) x^3 = 2 x^4", True), ("f'(x) x^3 = 5 x^4", False), ("f'(x)^2 = 4 x^2", True),
     ("f'(x)^2 = 4 x^3", False), ("f'(3) x = 6 x", True), ("f''(x) f(x) = 12 x^2", False)],
)  # fmt: skip
def test_a_derivative_that_the_text_defines_ends_at_its_bracket(
    tmp_path: Path, claim: str, right: bool
) -> None:
    (tmp_path / "paper.tex").write_text(rf"Let $f(x) = x^2$. Then \[ {claim}. \]", encoding="utf-8")
    (task,) = tasks(read(tmp_path / "paper.tex"), declared(""), {})
    assert (try_one(task).outcome == "holds") == right, str(try_one(task))


@pytest.mark.parametrize("end", [",", ";", " ,", r",\ ", ".", r" \,.", ""])
@pytest.mark.parametrize(
    ("latex", "outcome"),
    [
        (r"\sqrt{x^2} = x, \quad x \ge 0", "holds"),
        (r"f(x) = \lambda e^{-\lambda x}, \quad \lambda > 0, \quad x \ge 0", ""),
        ("(a + b)^2 = a^2 + 2 a b + b^2", "holds"),
    ],
)
def test_the_sentence_may_go_on_behind_a_display(latex: str, outcome: str, end: str) -> None:
    assert tried(latex + end, mending=False).outcome == outcome


def test_what_one_matrix_is_said_to_be_is_no_slip_among_others() -> None:
    found = tried(r"H^2 = H, \quad H^\top = H, \quad H X = X")
    assert (found.failing, found.noted) == ((), False), str(found)
