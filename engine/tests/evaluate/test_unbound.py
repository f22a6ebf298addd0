"""Values of what nobody bound, and of what has none: integrals, series, slopes, poles, shapes."""

import math

import numpy as np
import pytest

from checked_equations import EquationError, Nodes
from checked_equations.evaluate import beyond
from checked_equations.evaluate.evaluator import Evaluator
from checked_equations.evaluate.values import kind
from checked_equations.latex.names import normal
from checked_equations.latex.parser import parse_expression

M = np.array([[2.0, 0.5], [0.25, 3.0]])
BOUND = {
    "a": 1.5, "b": 0.5, "o": 0.0, "i": 1j, "n": 3, "s": [3.0], "v": [2.0, -1.0, 0.5], "M": M,
    "T": np.ones((2, 2, 2)), "f": np.sin, "g": np.sign, "S": set(), "R": {1, 2},
    "p": Nodes([0.5], [1.0]), "h": lambda u: np.array([u, u * u]),
}  # fmt: skip
KINDS = {normal(key): kind(item) for key, item in BOUND.items()} | {"x": "nodes", "y": "nodes"}


def value(latex, far=beyond):
    return Evaluator(BOUND, latex, beyond=far).value(parse_expression(latex, KINDS))


BILATERAL = math.prod((1 + 0.5**k) ** 2 for k in range(1, 60)) * 2
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
    (r"\int_i^\infty e^{-x} \,\mathrm d x", np.exp(-1j)),
    (r"\sum_{k=1}^\infty \frac{1}{k^2}", math.pi**2 / 6),
    (r"\sum_{k=0}^\infty \frac{i^k}{2^k}", 1 / (1 - 0.5j)),
    (r"\prod_{k=2}^\infty (1 - \frac{1}{k^2})", 0.5),
    (r"\sum_{k=-\infty}^\infty \frac{1}{1 + k^2}", math.pi / math.tanh(math.pi)),
    (r"\prod_{k=-\infty}^\infty (1 + 2^{-|k|})", BILATERAL),
    (r"\frac{\partial}{\partial a} a^3", 6.75),
    (r"\frac{\partial^2}{\partial a^2} a^4", 12 * 2.25),
    (r"\frac{\partial}{\partial a} \frac{\partial}{\partial a} a^4", 12 * 2.25),
    (r"\frac{\partial}{\partial i} i^3", -3),
    (r"\frac{1}{\cot(o)}", 0.0),
    (r"\frac{1}{a \cot(o)^2}", 0.0),
    (r"(a)_n", 1.5 * 2.5 * 3.5),
    (r"(a)_0", 1.0),
    ("(v)_2", -1.0),
    ("f'(a) + f''(b)", math.cos(1.5) - math.sin(0.5)),
    (r"\frac{\partial M v_1}{\partial v_1}", M),
    (r"M^{-2} M^2", np.eye(2)),
    (r"\max R + \min R", 3.0),
    (r"v_3 \sec(b) \operatorname{arccot}(b)", 0.5 / math.cos(0.5) * math.atan(2)),
    (r"\log(i) + \sqrt{-i^2}", 1j * math.pi / 2 + 1),
]
NONE = [
    (r"\int \int_0^1 x y \,\mathrm d x \,\mathrm d y", "", beyond),
    (r"\int_{-\infty}^{\infty + i} e^{-x^2} \,\mathrm d x", "do not lie on one line", beyond),
    (r"\max_{k=1}^\infty \frac{1}{k}", "the max over a range without end is not tried", beyond),
    (r"\prod_{k=1}^\infty \frac{1}{k}", "a prod without end is not read", None),
    (r"\sum_{k=1}^\infty \frac{1}{k}", "do not die away", None),
    (r"\frac{1}{\cot(o)}", "cot has a pole here", None),
    (r"\frac{1}{o \cot(o)}", "cot has a pole here", beyond),
    (r"\frac{1}{(\cot(o))^{-1}}", "cot has a pole here", beyond),
    (r"\frac{1}{o}", "division by zero", beyond),
    (r"o^{-1}", "division by zero", None),
    (r"(a)_{-2}", "needs a whole number, not -2", None),
    (r"v_{1.5}", "an index must be a whole number", None),
    (r"v_4", "the index 4 is outside 1 to 3", None),
    (r"v_0", "the first is x_1", None),
    (r"M_{1,2,1}", "3 indices for the shape", None),
    (r"f(a)_1", "is a number here and has no entries", None),
    (r"a^\top", "which has no such mark: a transpose", None),
    (r"T^\top", "the transpose", None),
    (r"T \otimes v", "the Kronecker product", None),
    (r"M v", "the product", None),
    (r"a / v", "the denominator must be a scalar", None),
    (r"a^v", "the exponent must be a scalar", None),
    (r"M^{1/2}", "symmetric matrices only", None),
    (r"\sqrt{v}", "the root", None),
    (r"|T|", "the determinant", None),
    (r"\max(a, v)", "the extreme", None),
    (r"b!", "needs a whole number, not 0.5", None),
    (r"\log o", "the logarithm of 0 is not defined", None),
    (r"\begin{cases} a & \text{if } a < 0 \end{cases}", "no case applies", None),
    (r"\begin{bmatrix} M & v \end{bmatrix}", "a block of shape", None),
    (r"f^{(5)}(a)", "from none to 4 primes", None),
    (r"f'(v)", "primes are of functions of a number", None),
    (r"\frac{\partial}{\partial o} g(o)", "the differences do not settle", None),
    (r"\frac{\partial}{\partial a} b^2", "`a` does not occur in what is differentiated", None),
    (r"\nabla_v (v a)", "a gradient is that of a scalar", None),
    (r"\sum_{k \in S} k", "nothing to run over", None),
    (r"\sum_{k=1}^{10^8} k", "is too long to go through", None),
    (r"\operatorname*{argmax}_{k \in R} v k", "only scalars have a largest", None),
    (r"\sum_{j=1}^2 \max_{k < j} k", "the max of nothing is not defined", None),
    (r"\lim_{x \to i} x", "a limit is taken at a real number", None),
    (r"\lim_{x \to a} x v", "a limit is taken of a number", None),
    (r"\exp(M)", "exp of a square matrix", None),
    (r"\operatorname{diag}(T)", "diag", None),
]


@pytest.mark.parametrize(("latex", "wanted"), FOUND)
def test_it_has_its_value(latex, wanted):
    found = value(latex)
    np.testing.assert_allclose(np.squeeze(found), wanted, rtol=1e-8, atol=1e-9)
    assert np.iscomplexobj(found) == np.iscomplexobj(wanted) or "i" in latex


@pytest.mark.parametrize(("latex", "said", "far"), NONE)
def test_it_has_none(latex, said, far):
    with pytest.raises(EquationError) as caught:
        value(latex, far)
    assert said in caught.value.problem
