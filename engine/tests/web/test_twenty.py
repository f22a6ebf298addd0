"""Twenty equations that a student of mathematics or machine learning pastes first."""

from __future__ import annotations

from typing import Any

import pytest
from browsing import engine

pytestmark = [pytest.mark.book, pytest.mark.browser]

HOLDS, DEFINES, LAW, UNREAD = "holds", "a definition", "a law", "not read"
# Fixed before the page could answer them; with each the answer that is honest.
TWENTY = [
    (r"\tanh x = \frac{e^x - e^{-x}}{e^x + e^{-x}}", HOLDS),
    (r"(A + U C V)^{-1} = A^{-1} - A^{-1} U (C^{-1} + V A^{-1} U)^{-1} V A^{-1}", HOLDS),
    (r"\det(I + A B) = \det(I + B A)", HOLDS),
    (r"\sum_{k=0}^{n-1} r^k = \frac{1 - r^n}{1 - r}", HOLDS),
    (r"\|x + y\|^2 = \|x\|^2 + 2 x^\top y + \|y\|^2", HOLDS),
    (r"\binom{n}{k} = \binom{n-1}{k-1} + \binom{n-1}{k}", HOLDS),
    (r"\operatorname{tr}(A B C) = \operatorname{tr}(C A B)", HOLDS),
    (r"a^2 + b^2 = c^2", LAW),
    (r"p(x) = \frac{1}{\sqrt{2\pi}\sigma} e^{-\frac{(x - \mu)^2}{2\sigma^2}}", DEFINES),
    (r"V(s) = \max_a Q(s, a)", DEFINES),
    (r"\sigma(-x) = 1 - \sigma(x)", UNREAD),
    (r"\Gamma(n+1) = n\Gamma(n)", HOLDS),
    (r"\frac{d}{dx} \sin x = \cos x", HOLDS),
    (r"\nabla_x x^\top A x = (A + A^\top) x", UNREAD),
    (r"\lim_{x \to 0} \frac{\sin x}{x} = 1", HOLDS),
    (r"\int_{-\infty}^{\infty} e^{-x^2} dx = \sqrt{\pi}", HOLDS),
    (r"\mathrm{KL}(\mathcal{N}(\mu_1, \sigma_1^2) \,\|\, \mathcal{N}(\mu_2, \sigma_2^2))"
     r" = \log\frac{\sigma_2}{\sigma_1} + \frac{\sigma_1^2 + (\mu_1 - \mu_2)^2}{2\sigma_2^2} - \frac{1}{2}", UNREAD),
    (r"\operatorname{Var}(X) = E[X^2] - E[X]^2", HOLDS),
    (r"e^{i\pi} = -1", HOLDS),
    (r"\sum_{n=1}^{\infty} \frac{1}{n^2} = \frac{\pi^2}{6}", HOLDS),
]  # fmt: skip
# ruff: noqa: E501 - a formula on a line


@pytest.fixture(scope="module")
def tried(browser: Any) -> Any:
    """A function: what the script says of equations."""
    page = browser.new_page()
    page.set_content(engine("trial"))
    yield lambda all: page.evaluate("all => all.map(latex => equationTrial.tried(latex))", all)
    page.close()


def test_seventeen_of_twenty_standard_equations_are_answered(tried: Any) -> None:
    found = [one["outcome"] for one in tried([latex for latex, _ in TWENTY])]
    assert [(latex, one) for (latex, _), one in zip(TWENTY, found, strict=True)] == TWENTY
    assert len(TWENTY) - found.count(UNREAD) == 17


def test_what_is_ambiguous_in_them_can_be_taken_as_it_may_be_meant(tried: Any) -> None:
    """One click defines sigma as the logistic function, or puts brackets around the argument."""
    unread = [one["instead"] for one in tried([latex for latex, one in TWENTY if one == UNREAD])]
    assert [len(one) for one in unread] == [1, 1, 0]
    assert [one["outcome"] for one in tried([one for row in unread for one in row])] == [HOLDS] * 2


def test_what_is_typed_without_backslashes_or_with_primes_can_be_taken_as_it_is_meant(
    tried: Any,
) -> None:
    found = tried(["sin(x)^2 + cos(x)^2 = 1", "k(x, x') = e^{-(x - x')^2}"])
    assert [one["outcome"] for one in found] == [UNREAD] * 2
    meant = tried([latex for one in found for latex in one["instead"]])
    assert [one["outcome"] for one in meant] == [HOLDS, DEFINES]


@pytest.fixture(scope="module")
def told(browser: Any) -> Any:
    """A function: what the page tells of an equation."""
    page = browser.new_page()
    page.set_content(f"<div data-equation-trial></div>{engine('page')}")

    def ask(latex: str) -> str:
        page.evaluate(
            "latex => document.querySelector('[data-equation-trial]').trial.take({ latex })", latex
        )
        return page.locator("[role=status]").inner_text()

    yield ask
    page.close()


@pytest.mark.parametrize(
    ("latex", "wanted"),
    [
        (TWENTY[8][0], "its integral over the whole line is 1 on 8 draws of positive numbers"),
        (r"q(x) = 2 e^{-2x}", "its integral over the positive numbers is 1, as that of a density"),
        (r"V(s) = \max_a Q(s, a)", "leaves nothing to compare. Add what should follow from it"),
        (r"E[XY] = E[X] E[Y]", "Holds if the random variables are independent"),
        (r"\int_0^\infty e^{-ax} dx = \frac{1}{a}", "or none that this page computes closely"),
        (r"\int_{-1}^1 \frac{1}{x} dx = 0", "No answer: the integral does not settle"),
        (
            TWENTY[15][0],
            "Slips that would have been seen: 1 of 1; 4 more give no value that is sure.",
        ),
        (r"\sigma(-x) = 1 - \sigma(x)", "What may be meant stands below."),
    ],
)
def test_the_page_says_on_what_an_answer_rests(told: Any, latex: str, wanted: str) -> None:
    assert wanted in told(latex)
