"""Random trees: printed in every style, they parse back equal and evaluate as built."""

from __future__ import annotations

import numpy as np
import pytest
from handwriting import STYLES
from hypothesis import assume, given
from hypothesis import strategies as st

from checked_equations.evaluate.evaluator import Evaluator
from checked_equations.evaluate.values import Nodes, kind
from checked_equations.latex import tree as t
from checked_equations.latex import vocabulary as v
from checked_equations.latex.names import normal
from checked_equations.latex.parser import parse, parse_expression
from checked_equations.latex.printer import to_latex

rng = np.random.default_rng(5)
n, m = 4, 3
SCALARS = {"a": 0.7, r"\sigma_n^2": 1.9, r"\ell": 0.4, "c'": 2.2}
COLUMNS = {r"\mathbf y": rng.normal(size=n), r"\bar{\mathbf f}_*": rng.normal(size=n)}
MATRICES = {"A": np.eye(n) + 0.3 * rng.normal(size=(n, n)), "K_{ff}": 2 * np.eye(n)}
ORDER = 6
POINTS, WEIGHTS = np.polynomial.hermite_e.hermegauss(ORDER)
NODES = Nodes(POINTS, WEIGHTS / WEIGHTS.sum())
BOUND = {
    **SCALARS, **COLUMNS, **MATRICES, "N": n, "w": NODES,
    "k": lambda x, y: float(np.sum(x) * np.sum(y)),
}  # fmt: skip
NAMES = {normal(key): kind(value) for key, value in BOUND.items()}


def column(values):
    return values[:, None]


# Each strategy draws a pair: a tree, and its value as NumPy has it.


def leaves():
    numbers = st.sampled_from([1.0, 2.0, 0.5, 3.0, 12.0, 0.125])
    return st.one_of(
        numbers.map(lambda x: (t.Number(x), x)),
        st.sampled_from(sorted(SCALARS)).map(lambda key: (t.Name(normal(key)), SCALARS[key])),
        st.just((t.Constant("\\pi"), np.pi)),
        st.tuples(st.sampled_from(sorted(COLUMNS)), st.integers(1, n)).map(entry),
        st.tuples(st.sampled_from(sorted(MATRICES)), st.integers(1, n), st.integers(1, n)).map(
            entry
        ),
    )


def entry(drawn):
    key, *indices = drawn
    array = {**COLUMNS, **MATRICES}[key]
    node = t.Subscript(t.Name(normal(key)), tuple(t.Number(float(i)) for i in indices))
    return node, array[tuple(i - 1 for i in indices)]


def vectors():
    plain = st.sampled_from(sorted(COLUMNS)).map(lambda k: (t.Name(normal(k)), column(COLUMNS[k])))
    return st.recursive(plain, grow_vector, max_leaves=3)


def matrices():
    plain = st.sampled_from(sorted(MATRICES)).map(lambda k: (t.Name(normal(k)), MATRICES[k]))
    return st.recursive(plain, grow_matrix, max_leaves=3)


def summed(parts, signs):
    total = sum(sign * value for sign, (_, value) in zip(signs, parts, strict=True))
    return t.Sum(tuple(node for node, _ in parts), tuple(signs)), total


def product(drawn):
    (left, a), (right, b) = drawn
    return t.Product((left, right)), a @ b


def grow_vector(inner):
    return st.one_of(
        st.tuples(inner, inner, st.sampled_from([1, -1])).map(lambda d: summed(d[:2], (1, d[2]))),
        st.tuples(inner, inner).map(
            lambda d: (t.Elementwise((d[0][0], d[1][0])), d[0][1] * d[1][1])
        ),
        st.tuples(matrices(), inner).map(
            lambda d: (t.Product((d[0][0], d[1][0])), d[0][1] @ d[1][1])
        ),
    )


def grow_matrix(inner):
    return st.one_of(
        inner.map(lambda d: (t.Transpose(d[0]), d[1].T)),
        inner.map(lambda d: (t.Power(d[0], t.Number(2.0)), d[1] @ d[1])),
        st.just((t.Transpose(t.Inverse(t.Name("A"))), np.linalg.inv(MATRICES["A"]).T)),
        st.tuples(inner, inner).map(product),
        st.tuples(inner, inner).map(lambda d: summed(d, (1, -1))),
        inner.map(lambda d: summed([d], (-1,))),
    )


def grow_scalar(inner):
    pairs = st.tuples(inner, inner)
    return st.one_of(
        pairs.map(lambda d: (t.Product((d[0][0], d[1][0])), d[0][1] * d[1][1])),
        st.tuples(inner, inner, inner).map(
            lambda d: (t.Product(tuple(x[0] for x in d)), d[0][1] * d[1][1] * d[2][1])
        ),
        st.tuples(pairs, st.sampled_from([(1, 1), (1, -1), (-1, 1), (-1, -1)])).map(
            lambda d: summed(*d)
        ),
        inner.map(lambda d: summed([d], (-1,))),
        st.tuples(inner, leaves()).map(quotient),
        inner.map(lambda d: (t.Power(d[0], t.Number(2.0)), d[1] ** 2)),
        inner.map(lambda d: (t.Function("tanh", (d[0],)), np.tanh(d[1]))),
        inner.map(
            lambda d: (t.Function("exp", (t.Function("cos", (d[0],)),)), np.exp(np.cos(d[1])))
        ),
        inner.map(lambda d: (t.Root(t.Bars(d[0])), np.sqrt(abs(d[1])))),
        pairs.map(lambda d: (t.Function("max", (d[0][0], d[1][0])), max(d[0][1], d[1][1]))),
        matrices().map(lambda d: (t.Bars(d[0]), np.linalg.det(d[1]))),
        matrices().map(lambda d: (t.Function("tr", (d[0],)), np.trace(d[1]))),
        vectors().map(lambda d: (t.Norm(d[0]), np.linalg.norm(d[1]))),
        vectors().map(lambda d: (t.Norm(d[0], "\\infty"), np.abs(d[1]).max())),
        st.tuples(vectors(), vectors()).map(inner_product),
        st.tuples(matrices(), matrices()).map(kronecker_trace),
        st.tuples(vectors(), matrices(), vectors()).map(form),
        st.tuples(inner, st.sampled_from(["sum", "prod"])).map(reduction),
        inner.map(average),
        inner.map(cases),
        st.tuples(vectors(), inner).map(applied),
    )


def quotient(drawn):
    (above, x), (below, y) = drawn
    assume(abs(y) > 1e-2)
    return t.Quotient(above, below), x / y


def form(drawn):
    (left, x), (middle, a), (right, y) = drawn
    return t.Product((t.Transpose(left), middle, right)), (x.T @ a @ y).item()


def inner_product(drawn):
    (left, x), (right, y) = drawn
    return t.Inner(left, right), np.sum(x * y)


def kronecker_trace(drawn):
    (left, a), (right, b) = drawn
    return t.Function("tr", (t.Kronecker((left, right)),)), np.trace(a) * np.trace(b)


def reduction(drawn):
    (body, x), what = drawn
    weights = COLUMNS[r"\mathbf y"]
    entry_i = t.Subscript(t.Name(r"\mathbf y"), (t.Index("i"),))
    over = t.Range("i", t.Number(1.0), t.Name("N"))
    node = t.Reduction(what, over, t.Product((entry_i, body)))
    return node, {"sum": np.sum, "prod": np.prod}[what](weights * x)


def average(drawn):
    body, x = drawn
    squares = t.Power(t.Index("w"), t.Number(2.0))
    return t.Expectation((t.Under(("w",), "w"),), t.Sum((squares, body), (1, 1))), 1.0 + x


def cases(drawn):
    body, x = drawn
    condition = t.Step(t.Name("a"), ">", t.Number(1.0))
    return t.Cases((t.Number(5.0), body), (condition, None)), x


def applied(drawn):
    (vector, x), (scalar, y) = drawn
    return t.Apply("k", (vector, scalar), ("; ".strip(),)), float(np.sum(x) * y)


TREES = st.one_of(st.recursive(leaves(), grow_scalar, max_leaves=8), vectors(), matrices())


@pytest.mark.parametrize("style", STYLES)
@given(drawn=TREES)
def test_a_printed_tree_parses_back_equal(style, drawn):
    node, _ = drawn
    text = STYLES[style](node)
    assert parse_expression(text, NAMES) == node, text


@given(drawn=TREES, style=st.sampled_from(sorted(STYLES)))
def test_a_printed_tree_evaluates_as_it_was_built(drawn, style):
    node, wanted = drawn
    assume(np.all(np.isfinite(wanted)) and np.max(np.abs(wanted)) < 1e8)
    text = STYLES[style](node)
    ours = Evaluator(BOUND, text).value(parse_expression(text, NAMES))
    assert ours.shape == np.shape(wanted)
    # a long sum may cancel: the rounding is that of its largest term, which is not known here
    np.testing.assert_allclose(ours, wanted, rtol=1e-9, atol=1e-9)


@given(left=TREES, right=TREES, relation=st.sampled_from(["=", "\\le", "\\approx", ">"]))
def test_a_printed_statement_parses_back_equal(left, right, relation):
    middle = right[0]
    steps = (t.Step(left[0], relation, middle), t.Step(middle, "=", left[0]))
    statement = t.Statement(steps)
    assert parse(to_latex(statement), NAMES) == statement


@given(drawn=TREES)
def test_the_spans_of_children_lie_within_their_parents(drawn):
    text = to_latex(drawn[0])
    for _, node in t.walk(parse_expression(text, NAMES)):
        for _, child in t.children(node):
            assert node.span[0] <= child.span[0] < child.span[1] <= node.span[1], text


@given(drawn=TREES)
def test_an_edit_by_path_changes_what_stands_there_and_nothing_beside_it(drawn):
    node, _ = drawn
    for path, _ in list(t.walk(node))[1:4]:
        edited = dict(t.walk(t.replace_at(node, path, t.Number(7.0))))
        assert edited[path] == t.Number(7.0)
        beside = [(p, n) for p, n in t.walk(node) if p[: len(path)] != path[: len(p)]]
        assert all(edited[p] is n for p, n in beside)


SPECIAL = [
    r"\int_{0}^{1} w^{2} \,\mathrm d w",
    r"\int w \,\mathrm d w a",
    r"\operatorname{Cov}_{w}[w, w^{2}] + \mathbb V_{w}[w]",
    r"\frac{\partial (a + \ell)}{\partial a} \ell",
    r"\nabla_{\mathbf y} k(\mathbf y; a)",
    r"\nabla_{\mathbf y} (\mathbf y^\top A \mathbf y) a",
    r"\begin{bmatrix} A & \mathbf y \\ \mathbf y^\top & 0 \end{bmatrix}",
    r"N! + \binom{N}{2} \mathbb 1[a < 1]",
    r"\sqrt[3]{a} + \lVert A \rVert_{F}",
    r"\sum_{i \in \mathbf y} i + \sum_{N \ne 2} N + \sum_{N} N",
    r"\sum_{i \in \{0, 1, N\}} i",
    r"a \arg\max_{i \in \mathbf y} (i + \sum_{j < N} j)",
    r"\min_{i \in \mathbf y} i",
    r"a \prod_{i=1}^{N} (i + \sum_{j=1}^{i} j)",
    r"(\sum_{i=1}^{N} i) a + (\prod_{i=1}^{N} i) \odot a",
    r"\operatorname{diag}(\mathbf y) + \operatorname{sign}(a) A",
    r"(A \otimes A) \odot (a A \otimes A)^\top + \langle A, A \rangle^2",
    r"\sum_{1 \le i < j \le N} \mathbf y_i j + \sum_{i=1, i \ne N}^{N} i",
]


@pytest.mark.parametrize("style", STYLES)
def test_the_rarer_nodes_print_and_parse_back(style):
    nodes = {text: parse_expression(text, NAMES) for text in SPECIAL}
    again = {x: parse_expression(STYLES[style](node), NAMES) for x, node in nodes.items()}
    assert [text for text, node in nodes.items() if again[text] != node] == []


@pytest.mark.parametrize(("word", "name"), v.FUNCTIONS.items())
def test_each_function_of_the_vocabulary_is_printed_as_it_is_read(word, name):
    function = t.Function(name, (t.Name("a"),))
    hint = f"write {word} in FUNCTIONS as it is read: \\sinc, or \\mathrm{{sinc}} for letters"
    assert parse_expression(f"{word}(a)", {"a": "value"}) == function, hint
    assert parse_expression(to_latex(function), {"a": "value"}) == function, hint


@pytest.mark.parametrize(("word", "kind"), v.BIG.items())
def test_each_sign_with_a_range_is_printed_as_it_is_read(word, kind):
    names = {"N": "value", "x": "value"}
    read = parse_expression(rf"{word}_{{i=1}}^N x_i", names)
    assert isinstance(read, t.Reduction)
    assert read.kind == kind
    assert parse_expression(to_latex(read), names) == read


@pytest.mark.parametrize("word", v.EXPECTATIONS)
def test_each_sign_of_an_average_is_printed_as_it_is_read(word):
    names = {"x": "nodes"}
    body = "(x, x^2)" if v.EXPECTATIONS[word] == "COVARIANCE" else "[x^2]"
    read = parse_expression(f"{word}_x{body}", names)
    assert isinstance(read, t.Average)
    assert parse_expression(to_latex(read), names) == read


def test_a_function_without_a_word_says_what_it_wants():
    with pytest.raises(TypeError, match="novel has no LaTeX: give it a row in FUNCTIONS"):
        to_latex(t.Function("novel", (t.Name("a"),)))


@pytest.mark.parametrize(
    "latex", [r"\mathbb E_y[y \mid x = 2]", r"\mathbb V_y[y^2 \mid x = a]", r"p(b = a \mid a = 2)"]
)
def test_a_value_that_is_given_says_of_what(latex):
    names = {"y|x": "conditional", "p(b|a)": "conditional", "a": "value", "b": "value"}
    read = parse_expression(latex, names)
    assert parse_expression(to_latex(read), names) == read
