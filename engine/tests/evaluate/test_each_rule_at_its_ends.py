"""Each operation and each rule at its ends: the value on one side, the refusal on the other."""

import math

import numpy as np
import pytest

from checked_equations import Distribution, Nodes
from checked_equations.errors import EquationError, OperationError, ShapeError
from checked_equations.evaluate import operations as op
from checked_equations.evaluate.effort import current
from checked_equations.evaluate.evaluator import Evaluator, Item
from checked_equations.evaluate.rules.algebra import inside, whole_number
from checked_equations.evaluate.rules.loops import (
    _ends_before,
    _inside_limits,
    _out_of_place,
    _refuse_no_lengths,
)
from checked_equations.evaluate.values import (
    kind,
    scalar,
)
from checked_equations.latex import tree as t
from checked_equations.latex.names import normal
from checked_equations.latex.parser import parse_expression

A = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
S = np.array([[2.0, 1.0], [1.0, 3.0]])
BOUND = {
    "a": 3.0, "b": 2.0, "n": 2, "m": 12, "x": np.array([1.0, -4.0, 2.0]), "A": A, "S": S,
    "L": np.arange(1.0, 145.0).reshape(12, 12), "f": np.sin, "T": 2.0, "B": [{1, 2}, {3, 5, 6}],
    "C": {2.0, 7.0}, "w": np.array([5.0]), "h": lambda u: 1 / int(u), "u": np.array([1.0, 2.0]),
}  # fmt: skip


TRIED = object()  # what a plug-in gives in place of None: then a pole below the line is nothing


def read(latex, bound=BOUND, free=False):
    names = {normal(key): kind(value) for key, value in bound.items()}
    return parse_expression(latex, names, free=free)


def value(latex, bound=BOUND, beyond=None, free=False):
    return Evaluator(bound, latex, beyond=beyond).value(read(latex, bound, free))


def problem(latex, bound=BOUND, beyond=None, free=False):
    with pytest.raises(EquationError) as error:
        value(latex, bound, beyond, free)
    return error.value.problem


VALUES = [
    (r"S^2 S^{-1}", S), ("S^{-2} S^2 S", S), (r"S^{1/2} S^{1/2}", S), ("S^0", np.eye(2)),
    ("x_3", 2.0), ("A_{2,3}", 6.0), ("A_2", [[4.0], [5.0], [6.0]]), ("w_1", 5.0),
    ("L_{12,1}", 133.0), (r"\|A\|_F", math.sqrt(91.0)), (r"\|x\|_F", math.sqrt(21.0)),
    (r"\|A\|_2", 9.508032), (r"\|A\|_1", 9.0), (r"\|x\|_1", 7.0), (r"\|x\|_\infty", 4.0),
    (r"\|A\|_\infty", 15.0), (r"|x|", math.sqrt(21.0)), (r"|S|", 5.0), (r"|-a|", 3.0),
    (r"\operatorname{tr}(S)", 5.0), (r"\operatorname{tr}(a)", 3.0), (r"\det(a)", 3.0),
    (r"\operatorname{diag}(S)", [[2.0], [3.0]]), (r"\operatorname{rank}(A)", 2.0),
    (r"\sqrt[a]{27}", 3.0), (r"\max(a, b)", 3.0), (r"\min(a, b)", 2.0), (r"\max(x)", 2.0),
    (r"\binom{m}{n}", 66.0), ("m!", 479001600.0), (r"\lfloor 2.5 \rfloor", 2.0),
    (r"\lceil 2.5 \rceil", 3.0), (r"\lceil a \rceil", 3.0), (r"\sum_{i=1}^3 x_i", -1.0),
    (r"\lfloor -2.5 \rfloor", -3.0), (r"\prod_{i=1}^3 x_i", -8.0), ("|B_2|", 3.0),
    (r"\sum_{c \in C} c", 9.0), (r"\max C", 7.0), (r"\sum_{i=2}^1 \sum_{j=1}^i x_j + a", None),
    (r"\sum_{i=1}^2 \sum_{j=i}^1 x_j", 1.0), (r"\sum_{i=1}^2 \prod_{j=i}^1 x_j", 2.0),
    (r"\operatorname{argmax}_{i=1}^3 x_i", None), (r"\sum_{i=1}^3 x_i^2 - \max_{i} x_i", 19.0),
    (r"\frac{\partial a^2}{\partial a}", 6.0), (r"\nabla_x (x^\top x)", [[2.0], [-8.0], [4.0]]),
    (r"\frac{\partial x^\top x}{\partial x_2}", -8.0), (r"\mathrm d f(0.3)", None),
    (r"\begin{bmatrix} S & u \\ 0 & 1 \end{bmatrix}", [[2.0, 1.0, 1.0], [1.0, 3.0, 2.0],
                                                      [0.0, 0.0, 1.0]]),
    (r"\begin{bmatrix} u & 2 u \end{bmatrix}", [[1.0, 2.0], [2.0, 4.0]]),
    (r"\begin{bmatrix} 0 & S \\ 1 & 0 \end{bmatrix}", [[0.0, 2.0, 1.0], [0.0, 1.0, 3.0],
                                                     [1.0, 0.0, 0.0]]),
    (r"\begin{cases} a & a < b \\ b & a > b \end{cases}", 2.0), (r"\mathbf 1[x > -5]", 1.0),
    (r"\mathbf 1[a = b]", 0.0), ("S \\otimes 2 S", np.kron(S, 2.0 * S)),
]  # fmt: skip


@pytest.mark.parametrize(("latex", "wanted"), [pair for pair in VALUES if pair[1] is not None])
def test_it_has_the_value(latex, wanted):
    found, wanted = value(latex), np.array(wanted)
    assert found.shape == wanted.shape
    assert found == pytest.approx(wanted, rel=1e-6)


REFUSED = [
    ("a + x", "the sum of shapes () and (3, 1) is not defined"),
    ("x x", "the product of shapes (3, 1) and (3, 1) is not defined"),
    ("a / x", "the quotient of shapes () and (3, 1) is not defined; the denominator must be"),
    (r"\frac{a}{b - 2}", "division by zero"), ("(b - 2)^{-1}", "division by zero"),
    ("A^{-1}", "the inverse of shapes (2, 3) is not defined"),
    ("A^2", "the power of shapes (2, 3) is not defined"),
    ("L^{-1}", "the inverse of a singular matrix is not defined"),
    ("a^x", "the power of shapes () and (3, 1) is not defined; the exponent must be a scalar"),
    ("(S + L_{1,1} S - 2 S)^{-1}", "the inverse of a singular matrix is not defined"),
    ("V^{1/2}", "a broken power is defined for symmetric matrices only"),
    (r"\sqrt{x}", "the root of shapes (3, 1) is not defined"),
    (r"\det A", "the determinant of shapes (2, 3) is not defined"),
    (r"\|S\|", "ambiguous: which norm of a matrix? write \\|A\\|_2 for the spectral norm, \\|A"),
    (r"\max(x, a)", "the extreme of shapes (3, 1) and () is not defined"),
    (r"(-b)!", "the factorial needs a whole number, not -2"), (r"2.5!", "the factorial needs a w"),
    (r"\log 0", "the logarithm of 0 is not defined"), (r"\log(-a)", "the logarithm of -3 is not"),
    (r"\cot(0)", "cot has a pole here"), (r"1000!", "the factorial is larger than any number"),
    (r"171!", "a whole number is larger than any number here"),
    (r"\binom{10^9}{10^8}", "the binomial is larger than any number here"),
    (r"\exp(S)", "ambiguous: exp of a square matrix: of its entries, or of the matrix? print"),
    ("x_4", "the index 4 is outside 1 to 3, shape (3,)"),
    ("x_0", "the index 0 is outside 1 to 3, shape (3,); entries are counted from one: the"),
    ("A_{3,1}", "the index 3 is outside 1 to 2, shape (2, 3)"),
    ("A_{1,m}", "the index 12 is outside 1 to 3, shape (2, 3); write a comma between two indices"),
    ("x_{1,1,1}", "3 indices for the shape (3, 1)"),
    ("x_{2.5}", "an index must be a whole number, not 2.5"),
    ("A_{12}", "ambiguous: row 12, or the entry 1, 2? write A_{1,2}"),
    ("S^T", "ambiguous: is this the transpose? write ^\\top; `T` is bound as well"),
    ("a_1", "`a` is a number, which has no such mark: an entry; bind the name with its mark"),
    (r"a^\top", "`a` is a number, which has no such mark: a transpose; bind"),
    (r"|C_1|", "`C` is one set, and no family of sets"), ("|B_3|", "has the indices [1, 2], not 3"),
    (r"\sum_{i=1}^{20000001} a", "a range of 20000001 is too long to go through"),
    (r"\sum_{i=3}^{2} a", "nothing to run over: the range of `i` is empty"),
    (r"\frac{\partial a}{\partial b}", "`b` does not occur in what is differentiated"),
    (r"\nabla_x (S_{1,1} x)", "a gradient is that of a scalar; write"),
    (r"\frac{\partial S a}{\partial S}", "a derivative of shape (2, 2) by shape (2, 2)"),
    ("h(0)", "`h` failed: division by zero"),
    (r"\begin{bmatrix} S & x \end{bmatrix}", "a block of shape (2, 2) stands where (3, 2) is ne"),
    (r"\begin{bmatrix} 2 & S \\ 1 & 0 \end{bmatrix}", "a block of shape () stands where (2, 1)"),
    (r"\begin{cases} a & a < b \\ b & b > a \end{cases}", "no case applies"),
    (r"S \otimes S S", "ambiguous beside `\\otimes`: write brackets around the product"),
    (r"\nabla_a (|a - 2.99|)", "the differences do not settle; is the function smooth here?"),
]  # fmt: skip


@pytest.mark.parametrize(("latex", "said"), REFUSED)
def test_it_is_refused(latex, said):
    bound = {**BOUND, "V": np.array([[2.0, 1.0], [0.5, 3.0]])}
    assert said in problem(latex, bound)


def test_operations_say_what_they_cannot_do():
    singular = np.array([[1.0, 1.0], [1.0, 1.0 + 1e-16]])
    nearly = np.array([[1.0, 1.0], [1.0, 1.0 + 4e-16]])
    with pytest.raises(OperationError, match=r"singular matrix is not defined$"):
        op.inverse(singular)
    with pytest.raises(OperationError, match="singular matrix is not defined, up to rounding"):
        op.inverse(nearly)
    assert op.inverse(np.diag([1.0, 1e-13])).tolist() == [[1.0, 0.0], [0.0, 1e13]]
    with pytest.raises(OperationError, match="the norm with subscript 3 is not known"):
        op.norm(S, "3")
    with pytest.raises(OperationError, match="one argument expected, 2 given"):
        op.FUNCTIONS["sin"](scalar(1.0), scalar(2.0))
    with pytest.raises(ShapeError, match="the transpose of shapes"):
        op.transpose(np.ones((2, 2, 2)))
    with pytest.raises(ShapeError, match="the Kronecker product of shapes"):
        op.kronecker(np.ones((2, 2, 2)), S)
    for bad in (np.ones((2, 3)), np.ones((3, 2)), np.ones(2)):
        with pytest.raises(ShapeError, match="the trace of shapes"):
            op.FUNCTIONS["tr"](bad)
    assert op.power(scalar(0.0), scalar(2.0)) == 0.0
    with pytest.raises(OperationError, match="division by zero"):
        op.power(scalar(0.0), scalar(-1.0))
    assert op.kronecker(S, np.eye(2)).shape == (4, 4)
    assert op.FUNCTIONS["factorial"](scalar(0.0)) == 1.0
    assert op.FUNCTIONS["double_factorial"](scalar(7.0)) == 105.0
    assert op.FUNCTIONS["double_factorial"](scalar(6.0)) == 48.0
    assert op.FUNCTIONS["factorial"](scalar(170.0)) == pytest.approx(7.257415615308e306)
    with pytest.raises(OperationError, match="larger than any number here"):
        op.FUNCTIONS["factorial"](scalar(401.0))
    assert op.FUNCTIONS["identity"](scalar(2.0)).tolist() == [[1.0, 0.0], [0.0, 1.0]]
    assert op.FUNCTIONS["floor"](scalar(3.0 - 1e-13)) == 3.0
    assert op.FUNCTIONS["floor"](scalar(3.0 - 1e-11)) == 2.0
    assert op.FUNCTIONS["ceil"](scalar(3e6 + 1e-6)) == 3e6
    assert op.FUNCTIONS["ceil"](scalar(3.0 + 1e-11)) == 4.0
    with pytest.raises(OperationError, match="no whole number below it"):
        op.FUNCTIONS["floor"](scalar(1j))
    with pytest.raises(OperationError, match="coth has a pole here"):
        op.FUNCTIONS["coth"](np.array([[1.0], [0.0]]))
    with pytest.raises(OperationError, match="arccot has a pole here"):
        op.FUNCTIONS["arccot"](scalar(0.0))
    assert op.FUNCTIONS["log"](scalar(-1 + 0j)) == pytest.approx(1j * math.pi)
    with pytest.raises(OperationError, match="the logarithm of 0"):
        op.FUNCTIONS["log"](scalar(0j))
    with pytest.raises(OperationError, match="the logarithm of -2 is"):
        op.FUNCTIONS["log"](np.array([[1.0], [-2.0]]))


def test_arguments_go_in_as_they_were_bound_or_with_one_axis():
    seen = []
    bound = {"g": lambda v: seen.append(v) or 1.0, "u": (1.0, 2.0), "n": 2, "A": A}
    for latex in ("g(u)", "g(n)", "g(2 u)", r"g(u^\top)", "g(2 A)", "g(2 n)"):
        assert value(latex, bound) == 1.0
    assert seen[0] == (1.0, 2.0)
    assert type(seen[0]) is tuple
    assert type(seen[1]) is int
    assert [np.shape(one) for one in seen[2:]] == [(2,), (1, 2), (2, 3), ()]
    assert seen[2].tolist() == [2.0, 4.0]


def test_relations_hold_in_every_entry():
    low, high = np.array([1.0, 2.0]), np.array([1.0, 3.0])
    held = {sign: of(low, high) for sign, of in op.RELATIONS.items()}
    assert held == {"=": False, r"\ne": True, "<": False, ">": False, r"\le": True, r"\ge": False}
    assert op.RELATIONS["="](low, low)
    assert not op.RELATIONS[r"\ne"](low, low)
    assert op.RELATIONS["<"](low, low + 1)
    assert op.RELATIONS[">"](low + 1, low)
    assert op.RELATIONS[r"\ge"](high, low)


def test_an_index_is_a_whole_number_of_its_axis():
    assert [whole_number(np.float64(3.0)), whole_number(np.complex128(4))] == [3, 4]
    for bad in (np.float64(2.5), np.ones(1), np.complex128(2 + 1j)):
        with pytest.raises(OperationError, match="an index must be a whole number"):
            whole_number(bad)
    assert inside([2, 3], (2, 3)) == (1, 2)
    assert inside([2], (2, 3)) == (1,)
    for index, shape, hint in ((9, (3, 3), False), (10, (3, 3), True), (10, (3,), False)):
        with pytest.raises(OperationError) as error:
            inside([index], shape)
        assert ("write a comma between two indices" in str(error.value)) == hint


@pytest.mark.parametrize(
    ("points", "weights", "limits", "axes", "said"),
    [
        ([0.5, 1.5], [1.0, 1.0], (0.0, 2.0), None, ""),
        ([0.5, 1.5], [1.0, 1.0], (0.0, 2.0), 1, ""),
        ([0.5, 1.5], [1.0, 1.0], (0.0, 2.0), 2, "have 1 coordinate, the domain has 2"),
        ([[0.5, 1.5]], [4.0], (0.0, 2.0), 3, "have 2 coordinates, the domain has 3"),
        ([[1.0, 1.0]], [4.0], (0.0, 2.0), 2, ""),
        ([[1.0, 1.0]], [2.0], (0.0, 2.0), 2, "sum to 2, the limits 0 and 2 differ by 2"),
        ([-0.1, 1.5], [1.0, 1.0], (0.0, 2.0), None, "leave the limits 0 to 2"),
        ([0.5, 2.1], [1.0, 1.0], (0.0, 2.0), None, "leave the limits 0 to 2"),
        ([0.0, 2.0], [1.0, 1.0], (0.0, 2.0), None, ""),
        ([0.5, 1.5], [1.0, 1.0 + 1e-8], (0.0, 2.0), None, "sum to 2, the limits"),
        ([0.5, 1.5], [1.0, 1.0 + 2.1e-9], (0.0, 2.0), None, "sum to 2, the limits"),
        ([0.5, 1.5], [1.0, 1.0 + 1.9e-9], (0.0, 2.0), None, ""),
        ([0.0, 1.0], [1.0, 1.0], (0.0, 2.0), None, ""),
        ([0.0, 0.985], [1.0, 1.0], (0.0, 2.0), None, ""),
        ([1.015, 2.0], [1.0, 1.0], (0.0, 2.0), None, ""),
        ([0.0, 0.975], [1.0, 1.0], (0.0, 2.0), None, "by them the middle of 0 to 2 is 0.4875"),
        ([1.025, 2.0], [1.0, 1.0], (0.0, 2.0), None, "by them the middle of 0 to 2 is 1.5125"),
        ([0.0, 0.9], [1.0, 1.0], (0.0, 2.0), None, "are no lengths: by them the middle of 0 to 2"),
        ([1.1, 2.0], [1.0, 1.0], (0.0, 2.0), None, "are no lengths: by them the middle of 0 to 2"),
        ([3.0, 4.0], [1.0, 1.0], (2.0, np.inf), None, ""),
        ([3.1, 4.0], [1.0, 1.0], (2.0, np.inf), None, "begin at 3.1, far from the limit 2"),
        ([3.0, 4.0], [1.0, 1.0], (-np.inf, 5.0), None, ""),
        ([3.0, 3.9], [1.0, 1.0], (-np.inf, 5.0), None, "begin at 3.9, far from the limit 5"),
        ([3.0, 9.0], [1.0, 1.0], (-np.inf, np.inf), None, ""),
    ],
)
def test_nodes_fill_their_limits(points, weights, limits, axes, said):
    nodes = Nodes(points, weights)
    if not said:
        _inside_limits("s", nodes, limits, axes)
        return
    with pytest.raises(OperationError) as error:
        _inside_limits("s", nodes, limits, axes)
    assert said in str(error.value)


def test_weights_are_lengths_or_they_are_not():
    gauss = np.polynomial.legendre.leggauss(9)
    _refuse_no_lengths("s", Nodes(*gauss))
    assert not _out_of_place(*gauss)
    assert not _out_of_place(*(part[::-1] for part in gauss))
    assert _out_of_place(gauss[0], 1.5 * gauss[1])
    assert _out_of_place(gauss[0], gauss[1] / 1.5)
    with pytest.raises(OperationError, match="are no lengths: they sum to 1, the nodes stretch"):
        _refuse_no_lengths("s", Nodes(4 * gauss[0], gauss[1] / 2))
    _refuse_no_lengths("s", Nodes([0.0, 9.0], [0.5, 0.5]))
    square = np.array([[0.0, 0.0], [2.1, 2.0]])
    with pytest.raises(OperationError, match=r"they sum to 1, the nodes stretch over 2\.1"):
        _refuse_no_lengths("s", Nodes(square, [0.5, 0.5]))
    _refuse_no_lengths("s", Nodes(square, [0.5, 0.6]))
    _refuse_no_lengths("s", Nodes(0.9 * square, [0.5, 0.5]))


def test_weights_are_far_from_half_the_way_between_neighbours_by_so_much():
    def out(*logs):
        """Return the fault found in weights on a grid whose ratios have these logarithms."""
        weights = np.exp(np.array([0.0, *logs, 0.0]))
        points = np.arange(float(weights.size))
        turned = np.argsort(np.sin(points))
        found = _out_of_place(points[turned], weights[turned])
        assert found == _out_of_place(points, weights)
        return found

    for sign in (1.0, -1.0):  # on average by a tenth and a share of what the two ends may hide
        assert not out(*[0.199 * sign] * 12)
        assert out(*[0.201 * sign] * 12)
        assert not out(*[0.149 * sign] * 24)
        assert out(*[0.151 * sign] * 24)
        assert not out(*[14.0 * sign] * 2, *[0.0] * 22)  # wherever a rule is joined to another
        assert out(*[14.0 * sign] * 3, *[0.0] * 21)
    assert not out(*[0.549, -0.549] * 6)
    assert out(*[0.551, -0.551] * 6)


def test_lengths_in_the_plane_are_no_chances():
    for size, total, wrong in ((2.0, 1.0, False), (2.1, 1.0, True), (2.1, 1.0 + 2e-9, False)):
        nodes = Nodes(np.array([[0.0, 0.0], [size, 2.0]]), [0.5, total - 0.5])
        if wrong:
            with pytest.raises(OperationError, match="are no lengths: they sum to 1"):
                _refuse_no_lengths("s", nodes)
        else:
            _refuse_no_lengths("s", nodes)


@pytest.mark.parametrize("left", [0.9e-3, 1.1e-3])
@pytest.mark.parametrize(
    ("limits", "far"),
    [
        (("0", r"\infty"), 3),
        ((r"-\infty", "3"), 0),
        ((r"-\infty", r"\infty"), 0),
        ((r"-\infty", r"\infty"), 3),
    ],
)
def test_towards_an_infinite_limit_an_integrand_has_died_away(limits, far, left):
    sizes = [0.0, 0.5, -2.0, 0.0]
    sizes[far] = 2.0 * left
    bound = {"s": Nodes([0.0, 1.0, 2.0, 3.0], [1.0] * 4), "f": lambda u: sizes[int(u)]}
    latex = rf"\int_{{{limits[0]}}}^{{{limits[1]}}} f(s) \,\mathrm d s"
    if left < 1e-3:
        assert value(latex, bound) == pytest.approx(-1.5 + 2.0 * left)
    else:
        assert "the integrand is 0.001 of its largest value" in problem(latex, bound)


@pytest.mark.parametrize("first", [0.0, 0.6])
def test_an_integrand_with_several_entries_has_died_away_if_its_largest_has(first):
    nodes = {"s": Nodes([0.0, 1.0, 2.0], [1.0] * 3)}
    bound = nodes | {"f": lambda u: np.array([1.0, 2.0]) if u < 2.0 else np.array([first, 0.0])}
    latex = r"\int_0^\infty f(s) \,\mathrm d s"
    if first:
        assert "the integrand is 0.3 of its largest value" in problem(latex, bound)
    else:
        np.testing.assert_allclose(value(latex, bound), [[2.0], [4.0]])


def test_in_the_plane_the_last_nodes_are_those_at_the_end_of_either_axis():
    sizes = {(0.0, 0.0): 1.0, (1.0, 0.0): 0.0, (0.0, 1.0): 0.0}
    bound = {"s": Nodes(list(sizes), [1.0] * 3), "f": lambda point: sizes[tuple(point)]}
    node = read(r"\int_0^\infty f(s) \,\mathrm d s", bound)
    inside = [{"s": Item(place, np.array(place))} for place in sizes]
    _ends_before(Evaluator(bound), node, inside, [math.inf])
    for end in ((1.0, 0.0), (0.0, 1.0)):
        sizes[end] = 0.5
        with pytest.raises(OperationError, match=r"the integrand is 0\.5 of its largest value"):
            _ends_before(Evaluator(bound), node, inside, [math.inf])
        sizes[end] = 0.0


def test_an_average_is_over_nodes_alone():
    node = parse_expression(r"\mathbb E_s[s]", {"s": "nodes"})
    with pytest.raises(EquationError, match="`s` must be bound to Nodes"):
        Evaluator({"s": [1.0, 2.0]}).value(node)


def test_averages_have_chances_that_sum_to_one():
    latex = r"\mathbb E_{q(y)}[y]"
    nodes = [1.0, 2.5]
    assert value(latex, {"q": Distribution(Nodes(nodes, [0.5, 0.5 + 0.9e-9]))}) == pytest.approx(
        1.75, rel=1e-8
    )
    for weights, said in (([0.5, 0.5 + 1.1e-9], "sum to 1,"), ([0.5, 0.4], "sum to 0.9, not")):
        assert said in problem(latex, {"q": Distribution(Nodes(nodes, weights))})

    def wrong(x):
        raise ValueError("no such x")

    given = r"\mathbb E_{q(y \mid a)}[y]"
    bound = {"a": 1.0, r"q(y \mid a)": Distribution(wrong)}
    assert "failed: no such x" in problem(given, bound)
    bound[r"q(y \mid a)"] = Distribution(lambda x: [x])
    assert "must be bound to Nodes(points, weights)" in problem(given, bound)


def test_a_series_ends_where_its_terms_add_nothing():
    asked = []
    bound = {"f": lambda k: asked.append(k) or float(k == 2) + float(k == 11), "a": 1.0}
    assert value(r"\sum_{k=2}^\infty f(k)", bound) == 1.0
    assert asked == [2, 3, 4, 5, 6, 7, 8, 9, 10]
    assert "the terms do not die away" in problem(r"\sum_{k=1}^\infty a", bound)
    assert "a prod without end is not read" in problem(r"\prod_{k=1}^\infty a", bound)
    assert value(r"\sum_{k=0}^\infty 2^{-k}", bound) == pytest.approx(2.0, rel=1e-15)


def test_of_a_mutant_a_series_is_given_up_by_what_the_statement_took():
    for follows, asked_for in ((False, 20_001), (True, None)):
        asked = []
        bound = {"f": lambda k, asked=asked: asked.append(k) or 1.0}
        evaluator = Evaluator(bound)
        evaluator.value(read(r"\sum_{k=0}^\infty 2^{-k}", bound))
        known = evaluator.terms
        if follows:
            evaluator.forget(len(evaluator))
        with pytest.raises(EquationError, match="the terms do not die away"):
            evaluator.value(read(r"\sum_{k=1}^\infty f(k)", bound))
        assert len(asked) == (asked_for or known + 1)


def test_differences_settle_relative_to_the_slope_of_either_sign():
    def wavy(size):
        return {"f": lambda u: size * (u + 1e-10 * math.sin(4e3 * u)), "a": 1.0}

    for size in (1e3, -1e3):
        slope = value(r"\frac{\partial f(a)}{\partial a}", wavy(size))
        assert slope == pytest.approx(size, rel=1e-5)


def test_a_sum_that_an_edit_made_long_is_refused():
    evaluator = Evaluator({"a": 1.0})
    node = parse_expression(r"\sum_{k=1}^{101} a", {"a": "value"})
    evaluator.longest = 100
    assert evaluator.value(node) == 101.0
    evaluator = Evaluator({"a": 1.0})
    evaluator.longest = 99
    with pytest.raises(EquationError, match="more than 99 terms, by an edit of its ends"):
        evaluator.value(node)


@pytest.mark.parametrize(
    ("latex", "wanted"),
    [
        (r"\lim_{u \to 0} \frac{\sin u}{u}", 1.0),
        (r"\lim_{u \to 5} u^2", 25.0),
        (r"\lim_{u \to 2^+} \frac{|u - 2|}{u - 2}", 1.0),
        (r"\lim_{u \to 2^-} \frac{|u - 2|}{u - 2}", -1.0),
        (r"\lim_{n \to \infty} \frac{3 n + 1}{n + 2}", 3.0),
        (r"\lim_{n \to \infty} \frac{3 n + 1}{n}", 3.0),
        (r"\lim_{n \to \infty} \frac{n^2 + 4}{2 n^2}", 0.5),
        (r"\lim_{u \to -\infty} \frac{1}{u}", 0.0),
        (r"\lim_{u \to -\infty} \frac{u}{1 - u}", -1.0),
        (r"\lim_{u \to 0} \frac{1 - \cos u}{u^2}", 0.5),
    ],
)
def test_a_limit_has_its_value(latex, wanted):
    assert value(latex, {}, free=True) == pytest.approx(wanted, abs=1e-8)


def test_limits_that_are_none():
    assert "from one side it is -1, from the other 1" in problem(
        r"\lim_{u \to 2} \frac{|u - 2|}{u - 2}", {}, free=True
    )
    bound = {"x": np.ones(2), "z": 1j}
    assert "a limit is taken of a number, not of one of (2, 1)" in problem(
        r"\lim_{u \to 2} u x", bound, free=True
    )
    assert "a limit is taken at a real number" in problem(r"\lim_{u \to z} u", bound, free=True)
    assert "a limit is taken at a real number" in problem(r"\lim_{u \to x} u", bound, free=True)


def test_a_pole_below_the_line_is_nothing():
    def gamma(u):
        if u <= 0:
            raise ValueError("a pole")
        return math.gamma(u)

    bound = {"G": gamma, "a": 2.0, "b": 0.0, "f": lambda u: 1 / 0}
    for latex in (
        r"\frac{a}{G(b)}",
        r"\frac{a}{a G(b)}",
        r"\frac{a}{G(b)^2}",
        r"\frac{a}{a G(b)^2}",
    ):
        assert value(latex, bound, TRIED) == 0.0
        assert "a pole" in problem(latex, bound)
    for latex in (r"\frac{a}{b G(b)}", r"\frac{a}{G(b)^{-2}}", r"\frac{a}{G(b)^a}",
                  r"\frac{a}{f(b)}", r"\frac{a}{f(b) G(b)}", r"\frac{a}{a + G(b)}"):  # fmt: skip
        assert problem(latex, bound, TRIED)


@pytest.mark.parametrize(
    ("level", "end"),
    [(r"\frac{1}{1 + ", "}"), (r"\frac{1}{2 \frac{3}{", "}}"), (r"\frac{1}{\sin(", ")}")],
)
def test_a_fraction_in_fractions_is_asked_once_for_its_value(level, end):
    """Where there is none at the innermost place, too: to ask twice at each level is 2^20 times."""
    deep = 20
    latex = level * deep + r"a^\top" + end * deep
    begun = current().spent
    assert "a transpose" in problem(latex, beyond=TRIED)
    assert current().spent - begun < 10 * deep


def test_differences_are_as_wide_as_the_number():
    asked = []
    bound = {"f": lambda u: asked.append(float(u)) or u * u, "a": 8.0, "b": 0.0}
    assert value(r"\frac{\partial f(a)}{\partial a}", bound) == pytest.approx(16.0)
    assert sorted({abs(u - 8.0) for u in asked}) == [2.0**-5, 2.0**-4, 2.0**-3, 2.0**-2, 2.0**-1]
    asked.clear()
    assert value(r"\frac{\partial f(b)}{\partial b}", bound) == pytest.approx(0.0, abs=1e-12)
    assert max(asked) == 2.0**-4
    x = {"x": np.array([0.0, -40.0]), "f": bound["f"]}
    asked.clear()
    assert value(r"\frac{\partial f(x_1)}{\partial x_1}", x) == pytest.approx(0.0, abs=1e-9)
    assert max(asked) == 4.0 * 2.0**-4


def test_primes_are_of_a_function_of_a_number():
    bound = {"f": lambda u: u**4, "a": 2.0, "x": np.ones(2), "n": 5, "s": Nodes([1.0], [1.0])}
    assert value("f'(a)", bound) == pytest.approx(32.0)
    assert value("f''''(a)", bound) == pytest.approx(24.0, rel=1e-3)
    assert "primes are of functions of a number, not of one of (2,)" in problem("f'(x)", bound)
    node = t.Primed("f", (t.Name("a"),), order=t.Name("n"))
    with pytest.raises(EquationError, match="from none to 4 primes are taken by differences"):
        Evaluator(bound).value(node)
    with pytest.raises(EquationError, match="`a` is not bound to a function"):
        Evaluator(bound).value(t.Primed("a", (t.Name("a"),), order=t.Number(1.0)))
    assert Evaluator(bound).value(t.Primed("f", (t.Name("a"),), order=t.Number(0.0))) == 16.0
