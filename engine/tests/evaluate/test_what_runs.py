"""Sums as far as their entries, sets, means, variances and covariances over nodes, by hand."""

import numpy as np
import pytest

from checked_equations import Distribution, Nodes
from checked_equations.errors import EquationError, OperationError
from checked_equations.evaluate import operations as op
from checked_equations.evaluate.effort import allowing, spend
from checked_equations.evaluate.evaluator import Evaluator, magnitude
from checked_equations.evaluate.rules.limits import _end
from checked_equations.evaluate.rules.loops import _inside_limits
from checked_equations.evaluate.values import Distribution as Law
from checked_equations.evaluate.values import kind, scalar
from checked_equations.latex.names import normal
from checked_equations.latex.parser import parse_expression

NODES = Nodes([1.0, 2.5, -3.0], [0.2, 0.5, 0.3])
PAIRS = Nodes([[1.0, 2.0], [-3.0, 4.5], [0.5, 0.5]], [0.5, 0.3, 0.2])
VECTORS = Nodes([[1.0, 2.0], [-3.0, 4.5], [0.5, 0.5]], [0.5, 0.3, 0.2])
MEAN = 0.2 + 1.25 - 0.9
A = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.5]])
BOUND = {
    "a": 3.0, "n": 2, "s": NODES, "p(x, y)": PAIRS, "v": VECTORS, "x": np.array([1.0, -4.0, 2.0]),
    "A": A, "r": np.array([[1.0, 7.0]]), "C": {2.0, 7.0, 5.0}, "R": range(2, 5), "f": np.sin,
    "L": Nodes([0.5, 1.5], [1.0, 1.0]), "B": [{1, 2}, {3, 5, 6}],
}  # fmt: skip


def value(latex, bound=BOUND):
    names = {normal(key): kind(one) for key, one in bound.items()}
    return Evaluator(bound, latex).value(parse_expression(latex, names))


def refused(latex, bound=BOUND, **options):
    with pytest.raises(EquationError) as error:
        value(latex, bound, **options)
    return error.value.problem


@pytest.mark.parametrize(
    ("latex", "wanted"),
    [
        (r"\mathbb E_s[s]", MEAN),
        (r"\mathbb E_s[s^2]", 0.2 + 0.5 * 6.25 + 2.7),
        (r"\operatorname{Var}_s[s]", 0.2 + 0.5 * 6.25 + 2.7 - MEAN**2),
        (r"\operatorname{Var}_s[a s]", 9 * (0.2 + 0.5 * 6.25 + 2.7 - MEAN**2)),
        (r"\operatorname{Cov}_{p(x, y)}(x, y)", (1.0 - 4.05 + 0.05) - (-0.3) * 2.45),
        (r"\operatorname{Cov}_{p(x, y)}(x, a)", 0.0),
        (r"\sum_i x_i", -1.0),
        (r"\sum_i r_i", 8.0),
        (r"\sum_{i} \sum_j A_{ij}", 21.5),
        (r"\sum_{i} A_{i,1}", 5.0),
        (r"\sum_{j} A_{1,j}", 6.0),
        (r"\sum_{c \in C} c^2", 78.0),
        (r"\sum_{c \in R} c", 9.0),
        (r"\sum_{c \in n} c", 3.0),
        (r"\sum_{c \in x} c", -1.0),
        (r"\sum_{c \in B_2} c", 14.0),
        (r"\sum_{i=1, i \ne 2}^3 x_i", 3.0),
        (r"\max_{i=1}^3 x_i", 2.0),
        (r"\operatorname{argmax}_{i=1}^3 x_i", 3.0),
        (r"\operatorname{argmin}_{i=1}^3 x_i", 2.0),
        (r"\sup_{c \in C} c - \inf_{c \in C} c", 5.0),
        (r"\int_0^2 L \,\mathrm d L", 2.0),
    ],
)
def test_it_has_the_value(latex, wanted):
    assert value(latex) == pytest.approx(wanted)


def test_the_covariance_of_a_vector_is_a_matrix():
    points, weights = np.array(VECTORS.points), np.array(VECTORS.weights)
    mean = weights @ points
    wanted = (weights[:, None] * (points - mean)).T @ (points - mean)
    assert value(r"\operatorname{Cov}_v[v]") == pytest.approx(wanted)
    assert value(r"\mathbb E_v[v]") == pytest.approx(mean[:, None])


@pytest.mark.parametrize(
    ("latex", "said"),
    [
        (r"\sum_i (x_i + A_{i,1})", "`i` runs over 3 of `x_{i}` and 2 of `A_{i,1}`: write its ran"),
        (r"\max_{i=2}^{1} x_i", "nothing to run over: the range of `i` is empty"),
        (r"\sum_{i=1}^2 \max_{j=i}^1 x_j", "the max of nothing is not defined"),
        (r"\operatorname{argmax}_{i=1}^2 A_i", "only scalars have a largest and a smallest, not"),
        (r"\int_0^2 s \,\mathrm d s", "the nodes of `s` leave the limits 0 to 2"),
        (
            r"\int_0^3 L \,\mathrm d L",
            "the weights of `L` sum to 2, the limits 0 and 3 differ by 3",
        ),
    ],
)
def test_it_is_refused(latex, said):
    assert said in refused(latex)


def test_weights_below_zero_are_as_wide_as_others():
    _inside_limits("L", Nodes([0.0, 0.6, 1.5], [-5.0, 4.0, 3.0]), (0.0, 2.0), None)


def test_an_integrand_has_died_away_where_its_nodes_end():
    points = np.linspace(0.05, 3.0, 60)
    nodes = Nodes(points, np.gradient(points))
    latex = r"\int_0^\infty e^{-b L} \,\mathrm d L"
    assert value(latex, {"L": nodes, "b": 2.4}) == pytest.approx(1 / 2.4, rel=0.1)
    for sign in ("", "-"):
        said = refused(latex.replace("e^", f"{sign}e^"), {"L": nodes, "b": 2.2})
        assert "at the last nodes of `L` before the limit inf the integrand is 0.002 of" in said
    turned = Nodes(-points, np.gradient(points))
    back = r"\int_{-\infty}^0 e^{b L} \,\mathrm d L"
    assert value(back, {"L": turned, "b": 2.4}) == pytest.approx(1 / 2.4, rel=0.1)
    assert "before the limit -inf" in refused(back, {"L": turned, "b": 2.2})


def test_the_ends_of_operations():
    assert op.power(scalar(0.0), scalar(0.0)) == 1.0
    assert op.norm(np.array([[3.0], [-4.0]]), "") == 5.0
    assert op.norm(np.array([[3.0, -4.0]]), "1") == 7.0
    assert op.norm(scalar(-3.0), "") == 3.0
    assert op.norm(np.array([3.0, -4.0]), "") == 5.0
    assert op.norm(np.array([[3.0], [-4.0]]), "F") == 5.0
    assert op.FUNCTIONS["max"](scalar(3.0), scalar(4.0)) == 4.0
    assert op.FUNCTIONS["max"](np.array([[3.0], [9.0]])) == 9.0
    assert op.FUNCTIONS["binom"](scalar(5.0), scalar(0.0)) == 1.0
    assert op.FUNCTIONS["binom"](scalar(5.0), scalar(6.0)) == 0.0
    assert op.FUNCTIONS["diag"](np.array([[3.0], [9.0]])).tolist() == [[3.0, 0.0], [0.0, 9.0]]
    assert op.FUNCTIONS["double_factorial"](scalar(1.0)) == 1.0


def test_where_values_go():
    assert _end([1e6 + 2.0**-k for k in range(6)]) == pytest.approx(1e6, abs=1e-6)
    assert _end([2.0 + 3j * 0.5**k + 0.1 * 0.3**k for k in range(11)]) == pytest.approx(2.0)
    assert _end([1j + 0.5**k * 0.1 for k in range(9)]) == pytest.approx(1j)
    assert isinstance(_end([2.0 + 0.5**k for k in range(9)]), float)
    mixed = [complex(1.0, 0.5 if k else 0.0) for k in range(12)]
    assert _end(mixed) == 1.0 + 0.5j
    still = [1e3, 1e3, 1e3 + 1e-2, 1e3 + 2e-4, 1e3, 1e3 + 2e-4]  # a last step of rounding
    assert _end(still) == pytest.approx(1e3, abs=1e-3)
    with pytest.raises(OperationError, match="do not settle"):
        _end([1e3, 1e3, 1e3 + 2e-4])
    for apart in ([1.0, 1.0, 1.0 + 2e-6], [5e-7, 0.0, 9e-7, 0.0, 1e-6]):
        with pytest.raises(OperationError, match="grow apart"):
            _end(apart)


def test_a_derivative_of_what_has_no_size_has_none():
    latex = r"\nabla_x (x^\top x)"
    bound = {"x": np.zeros(2)}
    node = parse_expression(latex, {"x": "value"})
    evaluator = Evaluator(bound)
    evaluator.value(node)
    assert magnitude(node, evaluator) == 0.0
    unbound = parse_expression(r"\sum_{i=1}^2 \frac{\partial (b i)}{\partial b}", {"b": "value"})
    evaluator = Evaluator({"b": 0.0})
    evaluator.value(unbound)
    assert magnitude(unbound, evaluator) == 0.0


def test_a_distribution_is_equal_to_itself_alone():
    law, other = Law(NODES), Distribution(NODES)
    assert law == law
    assert law != other
    assert len({law: 1, other: 2}) == 2


@pytest.mark.parametrize(("outer", "inner", "most"), [(100, 30, 30), (30, 100, 30)])
def test_an_outer_limit_on_effort_holds_within_as_well(outer, inner, most):
    with allowing(outer), allowing(inner):
        spend(most)
        with pytest.raises(TimeoutError):
            spend(1)


def test_a_limit_that_begins_anew_knows_no_other_and_is_not_counted_outside():
    with allowing(30):
        spend(20)
        with allowing(100, anew=True):
            spend(100)
            with pytest.raises(TimeoutError):
                spend(1)
        spend(10)
        with pytest.raises(TimeoutError):
            spend(1)
