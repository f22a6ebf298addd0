"""Values of each rule of the evaluator, and refusals where there is none: poles, shapes, ranges."""

import math

import numpy as np
import pytest

from checked_equations import EquationError, Nodes
from checked_equations.errors import OperationError
from checked_equations.evaluate.evaluator import Evaluator
from checked_equations.evaluate.values import (
    Entries,
    conform,
    host,
    is_family,
    kind,
    shaped,
)
from checked_equations.latex.names import normal
from checked_equations.latex.parser import parse_expression

M = np.array([[2.0, 0.5], [0.25, 3.0]])
BOUND = {
    "a": 1.5, "b": 0.5, "o": 0.0, "i": 1j, "n": 3, "s": [3.0], "v": [2.0, -1.0, 0.5], "M": M,
    "T": np.ones((2, 2, 2)), "f": np.sin, "g": np.sign, "S": set(), "R": {1, 2},
    "p": Nodes([0.5], [1.0]), "h": lambda u: np.array([u, u * u]),
}  # fmt: skip
KINDS = {normal(key): kind(item) for key, item in BOUND.items()} | {"x": "nodes", "y": "nodes"}


def value(latex):
    return Evaluator(BOUND, latex).value(parse_expression(latex, KINDS))


FOUND = [
    (r"\sum_{k=0}^\infty \frac{i^k}{2^k}", 1 / (1 - 0.5j)),
    (r"\frac{\partial}{\partial a} a^3", 6.75),
    (r"\frac{\partial^2}{\partial a^2} a^4", 12 * 2.25),
    (r"\frac{\partial}{\partial a} \frac{\partial}{\partial a} a^4", 12 * 2.25),
    (r"\frac{\partial}{\partial i} i^3", -3),
    ("(v)_2", -1.0),
    ("f'(a) + f''(b)", math.cos(1.5) - math.sin(0.5)),
    (r"\frac{\partial M v_1}{\partial v_1}", M),
    (r"M^{-2} M^2", np.eye(2)),
    (r"\max R + \min R", 3.0),
    (r"v_3 \sec(b) \operatorname{arccot}(b)", 0.5 / math.cos(0.5) * math.atan(2)),
    (r"\log(i) + \sqrt{-i^2}", 1j * math.pi / 2 + 1),
]
NONE = [
    (r"\prod_{k=1}^\infty \frac{1}{k}", "a prod without end is not read"),
    (r"\sum_{k=1}^\infty \frac{1}{k}", "do not die away"),
    (r"\frac{1}{\cot(o)}", "cot has a pole here"),
    (r"o^{-1}", "division by zero"),
    (r"(a)_n", "a number has no entries; for Pochhammer's symbol write"),
    (r"(a + b)_{2}", "a number has no entries"),
    (r"v_{1.5}", "an index must be a whole number"),
    (r"v_4", "the index 4 is outside 1 to 3"),
    (r"v_0", "the first is x_1"),
    (r"M_{1,2,1}", "3 indices for the shape"),
    (r"f(a)_1", "is a number here and has no entries"),
    (r"a^\top", "which has no such mark: a transpose"),
    (r"T^\top", "the transpose"),
    (r"T \otimes v", "the Kronecker product"),
    (r"M v", "the product"),
    (r"a / v", "the denominator must be a scalar"),
    (r"a^v", "the exponent must be a scalar"),
    (r"M^{1/2}", "symmetric matrices only"),
    (r"\sqrt{v}", "the root"),
    (r"|T|", "the determinant"),
    (r"\max(a, v)", "the extreme"),
    (r"b!", "needs a whole number, not 0.5"),
    (r"\log o", "the logarithm of 0 is not defined"),
    (r"\begin{cases} a & \text{if } a < 0 \end{cases}", "no case applies"),
    (r"\begin{bmatrix} M & v \end{bmatrix}", "a block of shape"),
    (r"f^{(5)}(a)", "from none to 4 primes"),
    (r"f'(v)", "primes are of functions of a number"),
    (r"\frac{\partial}{\partial o} g(o)", "the differences do not settle"),
    (r"\frac{\partial}{\partial a} b^2", "`a` does not occur in what is differentiated"),
    (r"\nabla_v (v a)", "a gradient is that of a scalar"),
    (r"\sum_{k \in S} k", "nothing to run over"),
    (r"\sum_{k=1}^{10^8} k", "is too long to go through"),
    (r"\operatorname*{argmax}_{k \in R} v k", "only scalars have a largest"),
    (r"\sum_{j=1}^2 \max_{k < j} k", "the max of nothing is not defined"),
    (r"\lim_{x \to i} x", "a limit is taken at a real number"),
    (r"\lim_{x \to a} x v", "a limit is taken of a number"),
    (r"\exp(M)", "exp of a square matrix"),
    (r"\operatorname{diag}(T)", "diag"),
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


def test_values_in_the_shapes_of_the_language():
    assert conform([[1.0, 2.0]]).shape == (1, 2)
    assert conform([5.0]).shape == conform([[[5.0]]]).shape == ()
    assert shaped(np.ones(2)).shape == (2, 1)
    assert shaped(np.ones((0,))).shape == (0, 1)
    assert host(3).dtype == np.float64
    assert host(3j).dtype == np.complex128
    assert host(np.float32(0.5)).dtype == np.float64
    assert host(True) == 1.0
    for dtype in (np.int64, np.bool_, np.float32, np.complex64):
        wanted = np.complex128 if dtype is np.complex64 else np.float64
        assert host(np.ones(2, dtype)).dtype == wanted
    for bad, said in (("word", "a str is"), (object(), "an object is"), ([[1], [1, 2]], "a list")):
        with pytest.raises(OperationError, match=f"{said}.*no number or array"):
            host(bad)
    assert [is_family(one) for one in ([{1}], [], [{1}, 2], {1: {2}}, {1: 2}, ({1}, range(3)))] == [
        True, False, False, True, False, True]  # fmt: skip
    with pytest.raises(OperationError, match="1 indices where 2 stand elsewhere"):
        Entries(2, int).at((1,))
    drawn = iter([3.0, 5.0])
    whole = Entries(1, drawn.__next__)
    assert whole.at((1,)) == 3.0
    assert whole.over(2.0).at((1,)) == 1.5
    assert whole.over(2.0).at((2,)) == 2.5


def test_joint_points_are_split_among_the_variables():
    joint = Nodes([[1.0, 2.5, 3.0], [4.0, 5.0, 6.5]], [0.5, 0.5], sizes=(1, 2))
    first, second = joint.values(1, 2, "p")
    assert (first, second.tolist()) == (4.0, [5.0, 6.5])
    assert joint.values(0, 1, "p")[0].tolist() == [1.0, 2.5, 3.0]
    with pytest.raises(OperationError, match="`p` have 2 columns, and 3 variables are drawn"):
        joint.values(0, 3, "p")
    with pytest.raises(OperationError, match="`p` have 1 column, and 2 variables are drawn"):
        Nodes([1.0, 2.0], [0.5, 0.5]).values(0, 2, "p")
    whole = Nodes([[1.0, 2.0], [3.0, 4.0]], [0.5, 0.5])
    parts = whole.values(1, 2, "p")
    assert parts == [3, 4]
    assert all(type(part) is int for part in parts)
    assert type(Nodes([1.0, 2.0], [0.5, 0.5]).values(0, 1, "p")[0]) is int
    assert type(Nodes([1.0, 2.5], [0.5, 0.5]).values(0, 1, "p")[0]) is not int
    assert whole.values(1, 1, "p")[0].tolist() == [3.0, 4.0]
