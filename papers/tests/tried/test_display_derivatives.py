"""Derivatives of bodies that are not analytic: the right one holds, and a false one does not."""

from __future__ import annotations

import pytest
from displays import tried

RIGHT = (
    r"\frac{d}{dx} \ln|x| = \frac{1}{x}",
    r"\int \frac{dx}{x} = \ln|x| + C",
    r"\int \tan x \, dx = -\ln|\cos x| + C",
    r"\int \cot x \, dx = \ln|\sin x| + C",
    r"\int \frac{dx}{a x + b} = \frac{1}{a} \ln|a x + b|",
    r"\int \frac{1}{x \ln x} \, dx = \ln|\ln x|",
    r"\int \tanh x \, dx = \ln|\cosh x|",
    r"\int \coth x \, dx = \ln|\sinh x|",
    r"\int \frac{1}{x^2 - 1} \, dx = \frac{1}{2} \ln\left|\frac{x - 1}{x + 1}\right|",
    r"\int \frac{x}{x^2 + 1} \, dx = \frac{1}{2} \ln|x^2 + 1|",
    r"\frac{d}{dx} |x| = \frac{x}{|x|}",
    r"\frac{d}{dx} |x|^2 = 2 x",
    r"\frac{d^2}{dx^2} \ln|x| = -\frac{1}{x^2}",
    r"\frac{d^2}{dx^2} |x|^3 = 6 |x|",
    r"\frac{d}{dx} \max(x, 0)^2 = 2 \max(x, 0)",
    r"\frac{d}{dx} (x |x|) = 2 |x|",
    r"\frac{d}{dx} \sqrt{x^2 + |x|^2} = \sqrt{2} \frac{|x|}{x}",
    r"\frac{\partial}{\partial x} \ln|x - y| = \frac{1}{x - y}",
    r"\frac{\partial}{\partial y} \ln|x - y| = -\frac{1}{x - y}",
)
FALSE = (
    r"\frac{d}{dx} \ln|x| = \frac{1}{2 x}",
    r"\int \frac{dx}{x} = 2 \ln|x| + C",
    r"\int \tan x \, dx = -2 \ln|\cos x| + C",
    r"\int \tan x \, dx = \ln|\cos x| + C",
    r"\int \cot x \, dx = 2 \ln|\sin x| + C",
    r"\int \frac{dx}{a x + b} = \frac{2}{a} \ln|a x + b|",
    r"\int \frac{dx}{a x + b} = \ln|a x + b|",
    r"\int \frac{1}{x \ln x} \, dx = 2 \ln|\ln x|",
    r"\int \tanh x \, dx = 2 \ln|\cosh x|",
    r"\int \frac{1}{x^2 - 1} \, dx = \ln\left|\frac{x - 1}{x + 1}\right|",
    r"\int \frac{x}{x^2 + 1} \, dx = \ln|x^2 + 1|",
    r"\frac{d}{dx} |x|^2 = x",
    r"\frac{d}{dx} (x |x|) = |x|",
    r"\frac{d}{dx} (x |x|) = \frac{3}{2} |x|",
    r"\frac{d^2}{dx^2} \ln|x| = -\frac{1}{2 x^2}",
    r"\frac{d^2}{dx^2} |x|^3 = 3 |x|",
    r"\frac{d}{dx} \max(x, 0)^2 = \max(x, 0)",
    r"\frac{\partial}{\partial x} \ln|x - y| = \frac{1}{2 (x - y)}",
    r"\frac{\partial}{\partial y} \ln|x - y| = \frac{1}{x - y}",
)


@pytest.mark.parametrize("latex", RIGHT)
def test_a_right_derivative_holds(latex: str) -> None:
    found = tried(latex, mending=False)
    assert found.outcome == "holds", str(found)


@pytest.mark.parametrize("latex", FALSE)
def test_a_false_derivative_does_not_hold(latex: str) -> None:
    found = tried(latex, mending=False)
    assert found.outcome in ("does not hold", ""), str(found)
