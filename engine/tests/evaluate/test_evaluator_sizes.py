"""How large a node would be if nothing in it cancelled, and what the evaluator remembers."""

import math

import numpy as np
import pytest

from checked_equations import Distribution, Nodes
from checked_equations.errors import EquationError
from checked_equations.evaluate.evaluator import Evaluator, Item, largest, magnitude, usual
from checked_equations.evaluate.values import Entries, kind
from checked_equations.latex import tree as t
from checked_equations.latex.names import normal
from checked_equations.latex.parser import parse_expression

NODES = Nodes([1.0, 3.0], [0.5, 0.5])
BOUND = {
    "a": 3.0, "b": 2.0, "c": -5.0, "x": np.array([1.0, -4.0]), "A": np.diag([2.0, -7.0]),
    "s": NODES, "f": np.sin, "z": 0.0, "n": 3,
    "q(x, y)": Nodes([[1.0, 2.0], [-3.0, 4.0]], [0.5, 0.5]),
}  # fmt: skip
NAMES = {normal(key): kind(value) for key, value in BOUND.items()}


def read(latex, bound=BOUND):
    return parse_expression(latex, {normal(key): kind(value) for key, value in bound.items()})


def evaluated(latex, bound=BOUND):
    node, evaluator = read(latex, bound), Evaluator(bound, latex)
    evaluator.value(node)
    return node, evaluator


@pytest.mark.parametrize(
    ("latex", "wanted"),
    [
        ("c", 5.0),
        ("a - c - a + c", 5.0),
        ("a + b", 3.0),
        ("a (b - b)", 6.0),
        (r"x \odot x", 16.0),
        ("(a - a)^2", 9.0),
        ("(a - a)^1", 3.0),
        ("(a - b)^{-1}", 1.0),
        ("(a - b)^{0.5}", 1.0),
        (r"\frac{a - a}{c}", 0.6),
        (r"\frac{a - a}{a - c}", 3.0 / 8.0),
        (r"\begin{bmatrix} c - c & b \\ a & z \end{bmatrix}", 5.0),
        (r"(A - A)^\top", 7.0),
        (r"\operatorname{tr}(A - A)", 7.0),
        (r"\operatorname{diag}(A - A)", 7.0),
        (r"\sin(a - a)", 1.0),  # of what an argument that is rounded takes it off its zero
        (r"\sin(b - b)", 1.0),
        (r"\Im(a - a)", 3.0),
        (r"\exp(a - a)", 1.0),
        (r"\sum_{i=1}^2 (x_i - x_i)", 4.0),
        (r"\sum_{i=1}^\infty b^i 4^{-i}", 0.5),
        (r"\prod_{i=1}^2 (x_i - a)", 14.0),
        (r"\mathbb E_s[s - s]", 3.0),
        (r"\operatorname{Cov}_{q(x, y)}(x, y)", 12.0),
        (r"\int_1^3 s \,\mathrm d s", 4.0),
        ("z", 0.0),
    ],
)
def test_the_size_of_the_terms(latex, wanted):
    bound = {**BOUND, "s": Nodes([1.5, 2.5], [1.0, 1.0])} if "int" in latex else BOUND
    assert magnitude(*evaluated(latex, bound=bound)) == pytest.approx(wanted)


def test_a_derivative_is_as_large_as_a_function_over_its_argument():
    assert magnitude(*evaluated(r"\frac{\partial a^2}{\partial a}")) == pytest.approx(
        3.1875**2 / 3.0, rel=1e-2
    )
    assert magnitude(*evaluated(r"\frac{\partial (a b)}{\partial b}")) == pytest.approx(
        3.0, rel=0.1
    )
    bound = {**BOUND, "x": np.array([1.0, -4.0])}
    node, evaluator = evaluated(r"\nabla_x (x^\top x)", bound=bound)
    assert magnitude(node, evaluator) == pytest.approx(magnitude(node.body, evaluator) / 4.0)
    assert magnitude(*evaluated(r"\frac{\partial (b z)}{\partial z}")) == 0.0
    loop = read(r"\sum_{i=1}^2 \frac{\partial b^2}{\partial b} i")
    evaluator = Evaluator(BOUND)
    evaluator.value(loop)
    assert magnitude(loop, evaluator) > 4.0


def test_what_a_node_has_been_is_remembered_and_forgotten():
    node = read(r"\sum_{i=1}^3 (a + i)")
    evaluator = Evaluator(BOUND)
    evaluator.value(node)
    assert [float(v) for v in evaluator.observe(node.body)] == [4.0, 5.0, 6.0]
    assert (largest(node.body, evaluator), usual(node.body, evaluator)) == (6.0, 5.0)
    assert (evaluator.terms, evaluator.cost) == (3, 1 + 3 + 3 + 1 + 1 + 1)
    kept = len(evaluator)
    other = read("a b")
    evaluator.value(other)
    assert len(evaluator) == kept + 3
    assert not evaluator.mutants_follow
    evaluator.forget(kept)
    assert len(evaluator) == kept
    assert evaluator.mutants_follow
    assert evaluator.observe(other) == []
    assert len(evaluator.observe(node.body)) == 3


def test_values_that_a_mutant_had_of_shared_nodes_are_forgotten_with_it():
    node = read(r"\sum_{i=1}^3 (a + i)")
    evaluator = Evaluator(BOUND)
    evaluator.value(node)
    kept = evaluator.mark()
    longer = t.replace_at(node, (("over", -1, -1), ("last", -1, -1)), t.Number(9.0))
    evaluator.value(longer)
    assert largest(node.body, evaluator) == 12.0
    evaluator.forget(kept)
    assert [float(v) for v in evaluator.observe(node.body)] == [4.0, 5.0, 6.0]


def test_a_value_is_computed_once_for_each_of_what_it_depends_on():
    asked = []
    bound = {"f": lambda u: asked.append(float(u)) or u, "a": 2.0}
    node = parse_expression(r"\sum_{i=1}^3 f(a) f(i) i", {"f": "callable", "a": "value"})
    assert Evaluator(bound).value(node) == 2.0 * 14.0
    assert asked == [2.0, 1.0, 2.0, 3.0]
    evaluator = Evaluator(bound)
    assert evaluator.depends(node, "a")
    assert not evaluator.depends(node.over, "a")
    evaluator.note(node, ("k",), 3.5)
    assert evaluator.observe(node) == [3.5]
    assert evaluator.value(node.body, {"i": Item(5, 5.0)}) == 2.0 * 25.0


@pytest.mark.parametrize(
    ("latex", "said"),
    [
        ("a + s", "`s` is bound to Nodes and stands outside its average"),
        ("a + e", "`e` stands without an index, and elsewhere with one"),
        ("a + f", "`f` is bound to a callable; it has no value of its own"),
        ("a + q", "`q` is bound to a distribution; it has no value of its own"),
        ("a + w", "`w` is bound to what is no number: a str is no number or array"),
        ("a + v", "`v` is bound to what is no number: an object is no number or array"),
        ("f(a)", None),
        ("g(a)", "the value of `g` is infinite"),
        ("h(a)", "the value of `h` is not a number"),
        ("a - k(a)", "the value of `k` is infinite"),
        ("a - m(a)", "the value of `m` is not a number"),
        ("a - l(a)", "the value of `l` is not a number"),
    ],
)
def test_what_has_no_value_says_why(latex, said):
    bound = {
        "a": 1.0, "s": NODES, "e": Entries(1, int), "f": np.sin, "q": Distribution(NODES),
        "w": "word", "v": object(), "g": lambda u: np.inf, "h": lambda u: np.nan,
        "k": lambda u: np.array([1.0, np.inf, 2.0]), "m": lambda u: np.array([1.0, np.nan]),
        "l": lambda u: np.array([np.inf, np.nan]),
    }  # fmt: skip
    names = {key: "value" if key in "sefqw" and latex == f"a + {key}" else kind(value)
             for key, value in bound.items()}  # fmt: skip
    node = parse_expression(latex, names)
    if said is None:
        assert Evaluator(bound).value(node) == math.sin(1.0)
        return
    with pytest.raises(EquationError) as error:
        Evaluator(bound, latex).value(node)
    assert error.value.problem == said


def test_an_unknown_name_is_told_with_its_neighbour():
    with pytest.raises(EquationError, match="unbound symbol `sigmb`"):
        Evaluator({"sigma": 1.0}).value(t.Name("sigmb"))
