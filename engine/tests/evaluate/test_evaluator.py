"""Values: every node against NumPy on generic numbers."""

from __future__ import annotations

import math

import array_api_strict
import numpy as np
import pytest
from scipy import stats

from checked_equations import check_equation
from checked_equations.errors import EquationError
from checked_equations.evaluate.evaluator import Evaluator
from checked_equations.evaluate.values import Estimate, Nodes, conform, kind
from checked_equations.latex.names import normal
from checked_equations.latex.parser import parse_expression
from checked_equations.latex.tree import (
    Index,
    Name,
    Number,
    Product,
    Range,
    Reduction,
    Subscript,
    Transpose,
    replace_at,
    walk,
)

rng = np.random.default_rng(11)
N, M, D = 7, 5, 3
A = rng.normal(size=(N, N))
B = rng.normal(size=(N, M))
K = A @ A.T + np.eye(N)
X = rng.normal(size=(N, D))
Z = rng.normal(size=(N, 2, 4))
y, z = rng.normal(size=N), rng.normal(size=N)
v = rng.normal(size=M)
a, b, c = 0.7, -1.3, 2.1
POINTS, WEIGHTS = np.polynomial.hermite_e.hermegauss(24)
WEIGHTS = WEIGHTS / WEIGHTS.sum()
LINE, LENGTHS = np.polynomial.legendre.leggauss(20)
FINE, SHORT = np.polynomial.legendre.leggauss(60)
DIE = Nodes([[1.0, 2.0], [0.5, -1.0], [3.0, 0.25]], [0.2, 0.5, 0.3])
COLOURS = {1, 3, 4}


def density(x, mean, cov):
    return stats.multivariate_normal(np.ravel(mean), cov).pdf(np.ravel(x))


def kernel(x, x2):
    return math.exp(-0.5 * float(np.sum((np.asarray(x) - x2) ** 2)))


BOUND = {
    "A": A, "B": B, "K": K, "X": X, "Z": Z, r"\mathbf y": y, r"\mathbf z": z, "v": v, "N": N,
    "D": D, "a": a, "b": b, "c": c, "n": 4, "m": 2, "g": Nodes(POINTS, WEIGHTS), "r": DIE,
    "u": Nodes(LINE, LENGTHS), "w": Nodes(8 * FINE, 8 * SHORT), "S": COLOURS,
    r"\mathcal C": range(2, 6), "k": kernel,
    r"\mathcal N": density, "f": np.sin, r"\phi": lambda x: np.array([x, x**2, x**3]),
    "h": lambda x: np.sum(np.sin(x)), r"\mathbf x": X, "x'": X[2], "x": X[4], r"\Sigma": K[:3, :3],
    r"\mathbf q": np.array([1.0, 3.0, 2.0]), "I": np.eye(N), "E_{N}": Estimate(1.5, 0.1),
}  # fmt: skip
NAMES = {normal(key): kind(value) for key, value in BOUND.items()}


def value(latex: str):
    return Evaluator(BOUND, latex).value(parse_expression(latex, NAMES))


inv, det = np.linalg.inv, np.linalg.det
CASES = {
    "a - b + c": a - b + c,
    "-a": -a,
    r"a b \cdot c \times 2": 2 * a * b * c,
    "A B v": (A @ B @ v)[:, None],
    r"\mathbf y^\top K^{-1} \mathbf z": y @ inv(K) @ z,
    r"\mathbf y \mathbf z^\top": np.outer(y, z),
    r"a \mathbf y^\top": (a * y)[None, :],
    r"\mathbf y \odot \mathbf z": (y * z)[:, None],
    r"\frac{\mathbf y}{c}": (y / c)[:, None],
    "a / b": a / b,
    "c^a": c**a,
    "A^2": A @ A,
    "A^{-2}": inv(A @ A),
    r"A^{-\top}": inv(A).T,
    r"A^\top A": A.T @ A,
    r"K^{1/2} K^{1/2}": K,
    r"K^{-1/2} K K^{-1/2}": np.eye(N),
    "c^{-1}": 1 / c,
    r"\sqrt{c}": math.sqrt(c),
    r"\sqrt[3]{c}": c ** (1 / 3),
    "|A|": det(A),
    "|b|": -b,
    r"|\mathbf y|^2": y @ y,
    "|2 K|^{-1/2}": det(2 * K) ** -0.5,
    "|S|": 3,
    r"\lVert \mathbf y \rVert^2": y @ y,
    r"\|\mathbf y\|_1": np.abs(y).sum(),
    r"\|\mathbf y\|_\infty": np.abs(y).max(),
    r"\|A\|_F^2": np.sum(A**2),
    r"\|A\|_2": np.linalg.norm(A, 2),
    r"\det A": det(A),
    r"\log \det K": math.log(det(K)),
    r"\log |K|": math.log(det(K)),
    r"\tfrac12 \log 2 \pi": 0.5 * math.log(2 * math.pi),
    r"\operatorname{tr}(A K)": np.trace(A @ K),
    r"\operatorname{diag}(\mathbf y)": np.diag(y),
    r"\operatorname{diag}(A)": np.diag(A)[:, None],
    r"\exp(a) e^b": math.exp(a + b),
    r"\cos(\mathbf y)": np.cos(y)[:, None],
    r"\tanh a \sin b": math.tanh(a) * math.sin(b),
    r"\cos^2 a + \sin^2 a": 1.0,
    r"\log_2 c": math.log2(c),
    r"\min(a, b, c) \max\{a, b\}": b * a,
    r"\max \mathbf y": y.max(),
    "n!": 24,
    r"\binom{n}{m}": 6,
    r"\mathbb 1[a < c] + \mathbb 1\{a \ge c\}": 1,
    # indices
    r"\mathbf y_3": y[2],
    "A_{n,m}": A[3, 1],
    "[A^{-1}]_{nm}": inv(A)[3, 1],
    r"[\mathbf y^\top]_n": y[3],
    r"\mathbf x_n": X[3][:, None],
    r"\mathbf x_{n}^\top \mathbf x_m": X[3] @ X[1],
    r"\mathbf x_{n,m+1}": X[3, 2],
    "Z_{n m 1}": Z[3, 1, 0],
    "(A_{n,m})^{-1}": 1 / A[3, 1],
    "[A^{-1}]_{n,m} + [A^{\\top}]_{n,m}": inv(A)[3, 1] + A[1, 3],
    r"v_n^{-1}": 1 / v[3],
    r"v^2_n": v[3] ** 2,
    "A_{1m}": A[0, 1],
    r"\mathbf y_{2m}": y[3],
    "Z_{nm}": Z[3, 1][:, None],
    "Z_n": Z[3],
    r"\mathbf y_{\mathbf q_2}": y[2],
    # sums and products
    r"\sum_{i=1}^N \mathbf y_i \mathbf z_i": y @ z,
    r"\sum_{i=1}^N \mathbf y_i^2 + a": y @ y + a,
    r"\sum_{i,j=1}^N \mathbf y_i K_{ij} \mathbf z_j": y @ K @ z,
    r"\sum_{i=1}^{N} \sum_{j=i+1}^{N+1} \mathbf y_i j": sum(
        y[i - 1] * j for i in range(1, 8) for j in range(i + 1, 9)
    ),
    r"\sum_{i=1}^N \mathbf x_i \mathbf x_i^\top": X.T @ X,
    r"\prod_{i=1}^N (1 + \mathbf y_i)": np.prod(1 + y),
    r"\prod_{i=1}^{N-1} \sum_{j=1}^{i} j": math.prod(i * (i + 1) / 2 for i in range(1, 7)),
    r"\sum_{s \in S} \mathbf y_s": y[0] + y[2] + y[3],
    r"\sum_{s \in \mathcal C} s^2": 4 + 9 + 16 + 25,
    r"\sum_{s \in \mathbf q} s": 6,
    r"\sum_{s \in \{1, n, 7\}} s \mathbf y_s": y[0] + 4 * y[3] + 7 * y[6],
    r"\sum_n \mathbf y_n": y[:4].sum(),
    r"\sum_{n \ne m} \mathbf y_n": y[:4].sum() - y[1],
    r"\max_{i \in S} \mathbf y_i": y[[0, 2, 3]].max(),
    r"\operatorname*{argmax}_{i \in S} \mathbf y_i": [1, 3, 4][np.argmax(y[[0, 2, 3]])],
    r"\sum_{i \le n} \sum_{j < i} A_{ij}": np.tril(A[:4, :4], -1).sum(),
    r"\min_{n} \mathbf y_n": y[:4].min(),
    r"-\sum_{i=1}^N \mathbf y_i \log |\mathbf y_i|": -np.sum(y * np.log(np.abs(y))),
    r"\prod_{i=1}^{3} \prod_{j<i} (A_{ij} + c)": np.prod(A[[1, 2, 2], [0, 0, 1]] + c),
    r"\log \sum_{i=1}^N e^{\mathbf y_i}": math.log(np.exp(y).sum()),
    # bound functions
    "k(x, x')": kernel(X[4], X[2]),
    r"k(\mathbf x_5, \mathbf x_3)": kernel(X[4], X[2]),
    r"\mathcal N(x; x', \Sigma)": density(X[4], X[2], K[:3, :3]),
    r"\sum_{i,j=1}^N k(\mathbf x_i, \mathbf x_j)": sum(kernel(p, q) for p in X for q in X),
    r"f(a) + \phi(c)_2": math.sin(a) + c**2,
    r"\phi_3(c)": c**3,
    # averages and integrals
    r"\mathbb E_g[g^4]": 3.0,
    r"\mathbb E[a g + c]": c,
    r"\mathbb V_g[a g + c]": a**2,
    r"\operatorname{Cov}(g, g^3)": 3.0,
    r"\mathbb E_{g,r}[g^2 r]": (DIE.weights @ DIE.points)[:, None],
    r"\mathbb V[r]": np.cov(DIE.points.T, aweights=DIE.weights, ddof=0),
    r"\int u^2 \,\mathrm d u": 2 / 3,
    r"\int_{-1}^1 e^{u} \,\mathrm d u": math.e - 1 / math.e,
    r"\int_{-\infty}^\infty e^{-\frac{1}{2} w^2} \, dw": math.sqrt(2 * math.pi),
    r"\int_{-\infty}^\infty e^{-w^2} w \, dw": 0.0,
    r"\int_{-8}^\infty e^{-w^2} \, dw": math.sqrt(math.pi),
    r"\int\int u^2 w^2 \,\mathrm d u \,\mathrm d w": 2048 / 9,
    r"\int u^2 w^2 \,\mathrm d u \,\mathrm d w": 2048 / 9,
    # derivatives
    r"\frac{\partial}{\partial a} a^3 c": 3 * a**2 * c,
    r"\frac{\partial f}{\partial a}": math.cos(a),
    r"\frac{\partial f(a c)}{\partial a}": c * math.cos(a * c),
    r"\nabla_{x} h(x)": np.cos(X[4])[:, None],
    r"\nabla_{x} h": np.cos(X[4])[:, None],
    r"\nabla_{\mathbf z} (\mathbf z^\top A \mathbf z)": ((A + A.T) @ z)[:, None],
    r"\frac{\partial}{\partial K} \log \det K": inv(K),
    r"\frac{\partial \mathbf z}{\partial \mathbf z_2}": np.eye(N)[:, 1:2],
    r"\frac{\partial A \mathbf z}{\partial \mathbf z}": A,
    r"\mathbb E_g[\frac{\partial}{\partial g} g^3]": 3.0,
    # blocks and cases
    r"\begin{bmatrix} K & \mathbf y \\ \mathbf y^\top & c \end{bmatrix}": np.block(
        [[K, y[:, None]], [y[None, :], np.array([[c]])]]
    ),
    r"\begin{pmatrix} K & 0 \\ 0 & A \end{pmatrix}": np.block(
        [[K, np.zeros((N, N))], [np.zeros((N, N)), A]]
    ),
    r"\begin{bmatrix} a \\ b \end{bmatrix}": np.array([[a], [b]]),
    r"\begin{cases} a & \text{if } b > 0 \\ c & \text{otherwise} \end{cases}": c,
    r"\sum_{i=1}^N \begin{cases} i & \text{if } i \le m \\ 0 & \text{else} \end{cases}": 3,
    "E_{N} + 1": 2.5,
}  # fmt: skip

LOOSE = {latex for latex in CASES if "partial" in latex or "nabla" in latex}


def test_the_value_of():
    for latex, case in CASES.items():
        found, wanted = value(latex), np.asarray(case, dtype=float)
        assert found.shape == wanted.shape, latex
        rtol = 1e-9 if latex in LOOSE else 1e-11
        np.testing.assert_allclose(found, wanted, rtol=rtol, atol=1e-12, err_msg=latex)


@pytest.mark.parametrize(
    ("given", "shape"),
    [(2, ()), ([1.0, 2.0], (2, 1)), (np.ones((1, 3)), (1, 3)), ([[4.0]], ()), (np.ones(1), ()),
     (np.ones((2, 3, 4)), (2, 3, 4)), (np.float32(2), ()), (True, ())],
)  # fmt: skip
def test_conform_gives_columns_rows_and_scalars(given, shape):
    assert conform(given).shape == shape
    assert conform(given).dtype == np.float64


def test_conform_reads_other_namespaces():
    for device in (None, array_api_strict.Device("device1")):
        array = array_api_strict.asarray([1.0, 2.0], device=device)
        assert conform(array).tolist() == [[1.0], [2.0]]


def test_conform_reads_arrays_that_come_down_by_get():
    class OnDevice:
        __cuda_array_interface__ = {}  # noqa: RUF012

        def get(self):
            return np.array([1.0, 2.0])

    assert conform(OnDevice()).shape == (2, 1)


def test_kinds():
    kinds = [kind(value) for value in (1.0, np.ones(2), [1, 2], kernel, DIE, {1}, range(2))]
    assert kinds == ["value", "value", "value", "callable", "nodes", "set", "set"]


def test_nodes_refuse_weights_that_do_not_match():
    with pytest.raises(ValueError, match=r"got \(3,\) and \(2,\)"):
        Nodes([1.0, 2.0, 3.0], [0.5, 0.5])


def test_functions_get_what_was_bound_and_vectors_with_one_axis():
    seen = []

    def spy(*arguments):
        seen.extend(arguments)
        return 1.0

    bound = {"s": spy, "X": X, "y": y, "q": DIE.points, "o": "anything"}
    kinds = {key: kind(item) for key, item in bound.items()}
    Evaluator(bound).value(parse_expression("s(X, y, 2 y, X_2, o)", kinds))
    assert seen[0] is X
    assert seen[1] is y
    assert [np.shape(item) for item in seen[2:4]] == [(N,), (D,)]
    assert seen[4] == "anything"


def test_a_mutant_computes_only_the_path_to_its_edit():
    calls = []

    def counted(x):
        calls.append(x)
        return x

    bound = {"s": counted, "A": A, "y": y}
    node = parse_expression(r"s(A) y + s(y)", {key: kind(item) for key, item in bound.items()})
    evaluator = Evaluator(bound)
    before = evaluator.value(node)
    path, product = next(found for found in walk(node) if isinstance(found[1], Product))
    mutant = replace_at(node, path, Product((Transpose(product.factors[0]), *product.factors[1:])))
    after = evaluator.value(mutant)
    assert len(calls) == 2
    np.testing.assert_allclose(after, (A.T @ y + y)[:, None], rtol=1e-13)
    assert not np.allclose(before, after)


def test_observe_lists_the_values_of_a_node_over_its_loops():
    node = parse_expression(r"\sum_{i=1}^N \sum_{j=1}^3 \mathbf y_i A_{ij}", NAMES)
    evaluator = Evaluator(BOUND)
    evaluator.value(node)
    outer = node.body.body
    assert len(evaluator.observe(outer)) == 3 * N
    assert [float(x) for x in evaluator.observe(outer.factors[0])] == y.tolist()
    assert evaluator.observe(Product(())) == []


def test_a_memo_tells_running_variables_apart():
    # i and j take each other's values: the memo must not confuse (1, 2) with (2, 1)
    latex = r"\sum_{i=1}^{2} \sum_{j=1}^{2} A_{ij} - \sum_{j=1}^{2} \sum_{i=1}^{2} A_{ji}"
    assert abs(value(latex)) < 1e-14
    nested = r"\sum_{i=1}^{3} \sum_{j=i}^{3} (i + 10 j)"
    assert value(nested) == sum(i + 10 * j for i in range(1, 4) for j in range(i, 4))


def test_a_memo_tells_the_order_of_loops_apart():
    entry = Subscript(Name("A"), (Index("i"), Index("j")))
    over = {key: Range(key, Number(1.0), Number(last)) for key, last in [("i", 2.0), ("j", 3.0)]}
    rows = Reduction("prod", over["i"], Reduction("sum", over["j"], entry))
    columns = Reduction("prod", over["j"], Reduction("sum", over["i"], entry))
    evaluator = Evaluator(BOUND)
    block = A[:2, :3]
    np.testing.assert_allclose(evaluator.value(rows), block.sum(1).prod(), rtol=1e-13)
    np.testing.assert_allclose(evaluator.value(columns), block.sum(0).prod(), rtol=1e-13)


def test_members_that_depend_on_an_outer_index_are_not_confused():
    latex = r"\sum_{i=1}^{2} \sum_{s \in X_i} s"
    np.testing.assert_allclose(value(latex), X[:2].sum(), rtol=1e-13)


def test_with_nothing_remembered_the_value_is_the_same():
    class Forgetful(Evaluator):
        def of(self, node, scope):
            self._memo.clear()
            return super().of(node, scope)

    latex = r"\sum_{i=1}^N \mathbf y_i [K^{-1} \mathbf z]_i"
    node = parse_expression(latex, NAMES)
    assert Forgetful(BOUND).value(node) == Evaluator(BOUND).value(node)


def test_numbers_warn_about_nothing_and_fail_loudly():
    with pytest.raises(EquationError, match="infinite"):
        value(r"e^{1000 c}")


@pytest.mark.parametrize("latex", [r"a = n! + b", r"a = n!! + b", r"a = \binom{n}{k} + b"])
def test_a_whole_number_that_no_double_holds_is_an_error(latex):
    bound = {"a": 1.0, "n": 3000, "b": 1.0, **({"k": 1500} if "k" in latex else {})}
    with pytest.raises(EquationError, match="larger than any number"):
        check_equation(latex, bound)


class TestEntries:
    """An index from ten on, and an entry of what has none."""

    def test_the_tenth_entry_of_a_vector_is_no_question(self):
        bound = {"a": 10.5, "x": np.arange(1.0, 13.0), "b": 0.5}
        assert check_equation("a = x_{10} + b", bound).mutants.caught

    def test_of_a_matrix_it_is_one(self):
        with pytest.raises(EquationError, match="row 10, or the entry 1, 0"):
            check_equation("a = A_{10} + b", {"a": 1.5, "A": np.ones((12, 2)), "b": 0.5})

    @pytest.mark.parametrize(
        ("latex", "said"), [("s_1", "is a number"), ("s_{10}", "a number has no entries")]
    )
    def test_a_number_has_no_entries(self, latex, said):
        with pytest.raises(EquationError, match=said):
            check_equation(f"a = {latex} + b", {"a": 3.5, "s": 3.0, "b": 0.5})

    def test_a_vector_of_length_one_has_one(self):
        assert check_equation("a = s_1 + b", {"a": 3.5, "s": [3.0], "b": 0.5}).mutants.caught


@pytest.mark.parametrize("operation", [r"\det F", r"\operatorname{tr} F", r"F^{-1}", r"F^2"])
def test_what_a_square_matrix_alone_has_is_refused_of_others(operation):
    with pytest.raises(EquationError, match=r"shapes? \(3, 5\)"):
        check_equation(f"d = {operation}", {"d": 1.0, "F": np.ones((3, 5))})
