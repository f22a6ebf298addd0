"""Where nothing is bound, the page in a browser says what the command says, or nothing."""

# ruff: noqa: E501 - a formula on a line

from __future__ import annotations

from typing import Any

import pytest
from browsing import engine
from displays import tried

pytestmark = [pytest.mark.book, pytest.mark.browser]

HOLDS, IF, FAILS, DEFINES, UNREAD = "holds", "holds if", "does not hold", "definition", "not read"
# One that is true and one that is not of each construct that the page reads without bindings.
BOTH = [
    (r"\frac{d}{dx} x^2 y + 1 = 2xy + 1", HOLDS), (r"\frac{d}{dx} x^3 = 3x", FAILS),
    (r"\frac{d^3}{dx^3} e^{2x} = 8 e^{2x}", HOLDS), (r"\frac{d \sin x}{dx} = -\cos x", FAILS),
    (r"\frac{\partial \mathbf{x}^\top \mathbf{a}}{\partial \mathbf{x}} = \mathbf{a}", HOLDS),
    (r"\nabla_x \|A x - b\|^2 = 2 A^\top (A x - b)", HOLDS),
    (r"\int_0^1 \frac{dx}{1+x^2} = \frac\pi4", HOLDS), (r"\int_0^1 x^2 dx = \frac{1}{2}", FAILS),
    (r"\int_0^1\int_0^1 x y \,dx\,dy = \frac14", HOLDS), (r"\int_0^\infty e^{-x} dx = 2", FAILS),
    (r"\lim_{x\to\infty} e^{-x} = 0", HOLDS), (r"\lim_{x\to 0} \frac{\sin x}{x} = 0", FAILS),
    (r"\sum_{n=1}^\infty \frac{1}{n^2} = \frac{\pi^2}{6}", HOLDS),
    (r"\sum_{n=1}^\infty \frac{1}{n^2} = \frac{\pi^2}{8}", FAILS),
    (r"\Gamma(n+1) = n\Gamma(n)", HOLDS),
    (r"\operatorname{erf}(-x) = -\operatorname{erf}(x)", HOLDS),
    (r"\operatorname{erfc}(x) = 1 - \operatorname{erf}(x)", HOLDS),
    (r"e^{i\pi} = -1", HOLDS), (r"e^{i\theta} = \cos\theta - i\sin\theta", FAILS),
    (r"\operatorname{Var}(aX+b) = a^2\operatorname{Var}(X)", HOLDS), (r"E[X^2] = E[X]^2", FAILS),
    (r"E[XY] = E[X]E[Y]", IF),
    (r"p(x) = \frac{1}{\sqrt{2\pi}\sigma} e^{-\frac{(x - \mu)^2}{2\sigma^2}}", DEFINES),
    (r"V(s) = \max_a Q(s, a)", DEFINES),
    # what has no answer has none in both
    (r"\sigma(-x) = 1 - \sigma(x)", UNREAD), (r"V(s) = r + \gamma V(s')", UNREAD),
    (r"\nabla_x a^\top x = a", UNREAD), (r"\frac{dy}{dx} = 2x", UNREAD),
    (r"\mathrm{KL}(\mathcal{N}(\mu_1, \sigma_1^2) \,\|\, \mathcal{N}(\mu_2, \sigma_2^2)) = \log\frac{\sigma_2}{\sigma_1}", UNREAD),
    (r"\lim_{x\to 0} \frac{1}{x} = 0", UNREAD), (r"\lim_{x\to 0} \frac{|x|}{x} = 1", UNREAD),
    (r"\sum_{n=1}^\infty \frac{1}{n} = 5", UNREAD),
]  # fmt: skip
ASKED = """all => all.map(latex => {
    const { outcome, only, fails, slips } = equationTrial.tried(latex);
    return { outcome: only && fails ? "holds if" : outcome.replace("a def", "def").replace("no value", "not read"), slips: slips ?? [] };
})"""
SLIPS = 3  # of each that holds, which the command tries as well


@pytest.fixture(scope="module")
def page(browser: Any) -> Any:
    page = browser.new_page()
    page.set_content(engine("trial"))
    yield page
    page.close()


def by_the_command(latex: str) -> str:
    found = tried(latex, mending=False)
    said = found.outcome or found.verdict
    return FAILS if said.startswith("fails") else said


def test_what_is_read_without_bindings_is_judged_alike(page: Any) -> None:
    said = [one["outcome"] for one in page.evaluate(ASKED, [latex for latex, _ in BOTH])]
    assert list(zip([latex for latex, _ in BOTH], said, strict=True)) == BOTH
    assert [(latex, by_the_command(latex)) for latex, _ in BOTH] == BOTH


def test_slips_in_it_are_judged_alike(page: Any) -> None:
    """The last that the page tries: those of the symbols and numbers deep inside."""
    rows = [latex for latex, wanted in BOTH if wanted == HOLDS]
    compared = 0
    for one in page.evaluate(ASKED, rows):
        for slip in one["slips"][-SLIPS:]:
            command = by_the_command(slip["reads"])
            assert command in {HOLDS if slip["holds"] else FAILS, IF, UNREAD, DEFINES}, slip
            compared += command in (HOLDS, FAILS)
    assert compared > 15
