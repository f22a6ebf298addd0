"""Values of what nobody bound, and of what has none: integrals, series, slopes, poles, shapes."""

import math

import numpy as np
import pytest

from checked_equations import Distribution, EquationError, Nodes
from checked_equations.evaluate.evaluator import Evaluator
from checked_equations.evaluate.values import kind
from checked_equations.latex import tree as t
from checked_equations.latex.names import normal
from checked_equations.latex.parser import parse_expression
from checked_papers.numerics import unbound

M = np.array([[2.0, 0.5], [0.25, 3.0]])
BOUND = {
    "a": 1.5, "b": 0.5, "o": 0.0, "i": 1j, "n": 3, "s": [3.0], "v": [2.0, -1.0, 0.5], "M": M,
    "T": np.ones((2, 2, 2)), "f": np.sin, "g": np.sign, "S": set(), "R": {1, 2},
    "p": Nodes([0.5], [1.0]), "h": lambda u: np.array([u, u * u]),
}  # fmt: skip
KINDS = {normal(key): kind(item) for key, item in BOUND.items()} | {"x": "nodes", "y": "nodes"}


def value(latex):
    return Evaluator(BOUND, latex, beyond=unbound).value(parse_expression(latex, KINDS))


BILATERAL = math.prod((1 + 0.5**k) ** 2 for k in range(1, 60)) * 2
# x = (1 + i) t makes e^{−4 t⁴} of e^{x⁴}, which grows without end along the real line
ACROSS = (1.0 + 1.0j) * 2.0 * math.gamma(1.25) / 4.0**0.25
FOUND = [
    (r"\int_0^2 x^2 \,\mathrm d x", 8 / 3),
    (r"\int_2^0 x^2 \,\mathrm d x", -8 / 3),
    (r"\int_b^a x^2 \,\mathrm d x", (1.5**3 - 0.125) / 3),
    (r"\int_0^i x \,\mathrm d x", -0.5),
    (r"\int_i^{2 + i} x \,\mathrm d x", 2 + 2j),
    (r"\int_0^\infty e^{-x} x \,\mathrm d x", 1.0),
    (r"\int_1^\infty x^{-2} \,\mathrm d x", 1.0),
    (r"\int_{-\infty}^b e^x \,\mathrm d x", math.exp(0.5)),
    (r"\int_\infty^1 x^{-2} \,\mathrm d x", -1.0),
    (r"\int_{-\infty}^\infty e^{-x^2} \,\mathrm d x", math.sqrt(math.pi)),
    (r"\int_{-\infty + i}^{\infty + i} e^{-x^2} \,\mathrm d x", math.sqrt(math.pi)),
    (r"\int_0^{i \infty} e^{i x} \,\mathrm d x", 1j),
    (r"\int_{-(1 + i) \infty}^{(1 + i) \infty} e^{x^4} \,\mathrm d x", ACROSS),
    (r"\int_i^\infty e^{-x} \,\mathrm d x", np.exp(-1j)),
    (r"\sum_{k=1}^\infty \frac{1}{k^2}", math.pi**2 / 6),
    (r"\prod_{k=2}^\infty (1 - \frac{1}{k^2})", 0.5),
    (r"\sum_{k=-\infty}^\infty \frac{1}{1 + k^2}", math.pi / math.tanh(math.pi)),
    (r"\prod_{k=-\infty}^\infty (1 + 2^{-|k|})", BILATERAL),
    (r"\frac{1}{\cot(o)}", 0.0),
    (r"\frac{1}{a \cot(o)^2}", 0.0),
]
NONE = [
    (r"\int \int_0^1 x y \,\mathrm d x \,\mathrm d y", ""),
    (r"\int_{-\infty}^{\infty + i} e^{-x^2} \,\mathrm d x", "do not lie on one line"),
    (r"\int_{-\infty}^{\infty + i \infty / 2} e^{-x^2} \,\mathrm d x", "do not lie on one line"),
    (r"\int_{-\infty}^{\infty + i / 2} e^{-x^2} \,\mathrm d x", "do not lie on one line"),
    (r"\max_{k=1}^\infty \frac{1}{k}", "the max over a range without end is not tried"),
    (r"\frac{1}{o \cot(o)}", "cot has a pole here"),
    (r"\frac{1}{(\cot(o))^{-1}}", "cot has a pole here"),
    (r"\frac{1}{o}", "division by zero"),
]


@pytest.mark.parametrize(("latex", "wanted"), FOUND)
def test_it_has_its_value(latex, wanted):
    found = value(latex)
    np.testing.assert_allclose(np.squeeze(found), wanted, rtol=1e-8, atol=1e-9)
    assert np.iscomplexobj(found) == np.iscomplexobj(wanted) or "i" in latex


@pytest.mark.parametrize(("latex", "said"), NONE)
def test_it_has_none(latex, said):
    with pytest.raises(EquationError) as caught:
        value(latex)
    assert said in caught.value.problem


GAUSS = Distribution(Nodes([0.0], [1.0]), density=lambda u: np.exp(-u * u / 2) / np.sqrt(2 * np.pi))


@pytest.mark.parametrize(
    ("latex", "wanted"),
    [
        (r"\frac{d}{dx} |x|", 1.0),  # which has no circles, and differences
        (r"\frac{d}{dx} x^3", 3 * 0.7**2),
        (r"\frac{d^4}{dx^4} e^{2 x}", 16 * np.exp(1.4)),
        (r"\frac{d^6}{dx^6} \sin(3x)", -729 * np.sin(2.1)),
        (r"\frac{d^2}{dx^2} \frac{d}{dx} \log(x)", 2 / 0.7**3),
        (r"\frac{d}{dx} e^{i x}", 1j * np.exp(0.7j)),
        (r"\frac{d}{dw} 3 w^2", 6 * (0.5 + 0.25j)),
        (r"\frac{d}{dw} 3 w", 3 + 0j),  # complex at what is complex
        (r"\frac{d^2}{dx^2} q(x)", (0.7**2 - 1) * np.exp(-0.245) / np.sqrt(2 * np.pi)),
        (r"\int_{-9}^{9} q(u) \,\mathrm d u", 1.0),
        (r"\int_{-9}^{9} u^2 q(u - 1) \,\mathrm d u", 2.0),
        (r"\int_{0}^{\infty} h(u) \,\mathrm d u", 0.5),
    ],
)
def test_derivatives_and_integrals_without_nodes_have_their_closed_forms(latex, wanted):
    bound = {"x": 0.7, "w": 0.5 + 0.25j, "i": 1j, "q": GAUSS, "h": lambda u: np.exp(-2.0 * u)}
    names = {normal(key): kind(item) for key, item in bound.items()}
    found = Evaluator(bound, latex, beyond=unbound).value(parse_expression(latex, names, free=True))
    assert found == pytest.approx(wanted, rel=1e-9)
    assert np.iscomplexobj(found) == np.iscomplexobj(wanted)


def test_what_dots_stand_in_goes_on():
    terms = tuple(parse_expression(f"2^{{-{k}}}", {}) for k in (1, 2, 3))
    node = t.Dots(t.Sum((*terms, t.Name("\\dots")), (1, 1, 1, 1)))
    assert Evaluator({}, beyond=unbound).value(node) == pytest.approx(1.0, rel=1e-12)
