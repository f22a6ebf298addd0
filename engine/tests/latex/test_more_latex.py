"""Common LaTeX that was called an unbound symbol: read now, or refused for what it is."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from handwriting import STYLES

from checked_equations.errors import EquationError
from checked_equations.evaluate.evaluator import Evaluator
from checked_equations.evaluate.values import kind
from checked_equations.latex import tree as t
from checked_equations.latex.names import normal
from checked_equations.latex.parser import parse, parse_expression, parse_free

rng = np.random.default_rng(21)
A, B, C = rng.normal(size=(3, 3)), rng.normal(size=(2, 4)), rng.normal(size=(3, 3))
x, y = rng.normal(size=4), rng.normal(size=4)
BOUND = {
    "A": A, "B": B, "C": C, "x": x, "y": y, "a": 0.7, "b": 1.9, "N": 4, "n": 3, "S": {1, 2, 4},
    "f": np.sin, "g": np.cos, "m": 2, r"\mathcal X": {0, 3},
}  # fmt: skip
NAMES = {normal(key): kind(value) for key, value in BOUND.items()}
PAIRS = list(itertools.combinations(range(4), 2))


def value(latex: str) -> np.ndarray:
    return Evaluator(BOUND, latex).value(parse_expression(latex, NAMES))


VALUES = {
    # colour and layout
    r"\color{red} a + b": 2.6,
    r"\textcolor{red}{a} b": 0.7 * 1.9,
    r"{\color{blue} a} + b": 2.6,
    r"\begin{alignat}{2} a &+ b \end{alignat}": 2.6,
    r"\begin{dcases} a & \text{if } a > 1 \\ b & \text{otherwise} \end{dcases}": 1.9,
    # products
    r"A \otimes B": np.kron(A, B),
    r"x \otimes y": np.kron(x, y)[:, None],
    r"2 A \otimes B": 2 * np.kron(A, B),
    r"(A C) \otimes B": np.kron(A @ C, B),
    r"A \otimes B \otimes C": np.kron(np.kron(A, B), C),
    r"(A \otimes B)^\top": np.kron(A, B).T,
    r"\operatorname{tr}(A \otimes C)": np.trace(A) * np.trace(C),
    r"A \otimes B + a (A \otimes B)": 1.7 * np.kron(A, B),
    r"A \circ C": A * C,
    r"\langle x, y \rangle": x @ y,
    r"\left\langle A, C \right\rangle^2": np.sum(A * C) ** 2,
    r"a \langle x, x + y \rangle": 0.7 * (x @ (x + y)),
    # ranges
    r"\sum_{1 \le i < j \le N} x_i y_j": sum(x[i] * y[j] for i, j in PAIRS),
    r"\sum_{i<j}^{N} x_i y_j": sum(x[i] * y[j] for i, j in PAIRS),
    r"\sum_{i \le j}^{N} x_i y_j": sum(x[i] * y[j] for i in range(4) for j in range(i, 4)),
    r"\sum_{0 < i \le j < N} x_i y_j": sum(x[i] * y[j] for i in range(3) for j in range(i, 3)),
    r"\prod_{1 \le i \le N} x_i": np.prod(x),
    r"\sum_{k=0}^{n} a^k": sum(0.7**k for k in range(4)),
    r"\sum_{k=0}^{N-1} x_{k+1} a^k": sum(x[k] * 0.7**k for k in range(4)),
    r"\sum_{\substack{i=1 \\ i \ne m}}^{N} x_i": x.sum() - x[1],
    r"\sum_{i=1, i \ne m}^{N} x_i": x.sum() - x[1],
    r"\sum_{\substack{i \in S \\ i \ne m}} x_i": x[0] + x[3],
    r"\sum_{\substack{j \in S \\ i < j}} x_i y_j": sum(
        x[i] * y[j] for j in (1, 3) for i in range(j)
    ),
    r"\sum_{i \in \{1, \dots, N\}} x_i": x.sum(),
    r"\underset{i \in S}{\max}\, x_i": x[[0, 1, 3]].max(),
    r"\underset{i}{\operatorname{argmax}} x_i": None,
}  # fmt: skip


def test_the_value_of():
    for latex, wanted in VALUES.items():
        if wanted is not None:
            np.testing.assert_allclose(value(latex), wanted, rtol=1e-12, err_msg=latex)


@pytest.mark.parametrize("style", STYLES)
def test_they_print_and_parse_back(style):
    nodes = {x: parse_expression(x, NAMES) for x, wanted in VALUES.items() if wanted is not None}
    again = {x: parse_expression(STYLES[style](node), NAMES) for x, node in nodes.items()}
    assert [x for x, node in nodes.items() if again[x] != node] == []


@pytest.mark.parametrize("relation", [r"\triangleq", r"\equiv", ":=", r"\coloneqq"])
def test_a_definition_may_be_checked(checked, relation):
    record = checked(f"a {relation} 2 b^2", {"a": 2 * 1.7**2, "b": 1.7})
    assert record.mutants.caught > 0 == record.mutants.survived


MESSAGES = [
    (r"x_1 + \dots + a", "write the sum with \\sum, or every term"),
    ("a * b", r"`*` is not part of the language: write \cdot, or \odot"),
    (r"\langle a \rangle", r"write \mathbb E[...] for an average"),
    (r"\langle z^2 \rangle_{q(z)}", r"write \mathbb E[...] for an average"),
    (r"\langle x | y \rangle", "a comma stands between the two"),
    (r"\langle x, y \rangle_1", "an inner product has no subscript"),
    (r"\langle x, A \rangle", "the inner product of shapes (4, 1) and (3, 3)"),
    (r"A C \otimes B", "ambiguous beside `\\otimes`: write brackets"),
    (r"A \otimes C A", "ambiguous beside `\\otimes`: write brackets"),
    (r"A \odot C \otimes B", "ambiguous: write brackets around one of the products"),
    (r"(f \circ g)(a)", r"`\circ` of functions is not part of the language: write f(g(x))"),
    (r"\underset{i}{x}", r"`\underset` is read below \max, \min and the like alone"),
    (r"\sum_{k=0}^{n} x_k", "entries are counted from one: the first is x_1"),
    (r"\sum_{i < j} x_i", r"say how far: \sum_{1 \le i < j \le N}"),
    (r"\sum_{\substack{i=1 \\ i \in S}}^{N} x_i", "`i` runs twice"),
    (r"a \mod b", r"`\mod` is not part of the language"),
    (r"\oint a", r"`\oint` is not part of the language"),
    (r"A \cup C", r"`\cup` is not part of the language: sets are bound whole"),
    (r"\iint a", r"`\iint` is not part of the language: write \int\int"),
    (r"\sup x", r"`\sup` is not part of the language: write what it runs over"),
    (r"\lfloor a \rceil", r"`\rceil` closes nothing"),
    (r"\lceil a", "this is never closed"),
    (r"\frac{1} \sqrt\mathop{{}}", "an argument is missing here"),
    (r"a \text{(if positive)}", "words that are not read"),
    (r"a + \cancel{b}", r"`\cancel` is not part of the language: write what is meant"),
    (r"\colorbox{red}{a}", r"`\colorbox` is not part of the language: write \color or \boxed"),
    (r"\bigotimes_{i=1}^n A", r"`\bigotimes` is not part of the language"),
    (r"a \perp b", r"`\perp` is not part of the language: write a relation"),
    (r"a \cong b", r"`\cong` is not part of the language: write a relation"),
    (r"a \div b", r"`\div` is not part of the language: write / or \frac"),
    (r"\argmax_i x_i", r"`\argmax` is not part of the language: write \operatorname*{arg\,max}"),
    (r"a + \eqref{eq-b}", r"`\eqref` is not part of the language: write the formula itself"),
    (r"\Pr(a)", r"`\Pr` is not part of the language: write relations in its brackets, or bind it"),
    (r"\dot x", r"unbound symbol `\dot x`"),
]  # fmt: skip


def test_a_message_says_what_it_is():
    for latex, said in MESSAGES:
        with pytest.raises(EquationError) as caught:
            value(latex)
        assert said in caught.value.problem, latex


def test_a_display_that_goes_on_with_another_is_refused():
    with pytest.raises(EquationError, match="begins with a relation: write its left side again"):
        parse("&= a + b", NAMES)


def test_the_operands_of_a_kronecker_product_are_swapped_by_a_mutant(checked):
    bindings = {"K": np.kron(A, B), "A": A, "B": B}
    record = checked(r"K = A \otimes B", bindings)
    assert record.mutants.survived == 0
    assert any(r"B \otimes A" in mutant.latex for mutant in record.mutants.list)


def test_an_inner_product_has_mutants(checked):
    record = checked(r"a = \langle x, C x \rangle", {"a": x[:3] @ C @ x[:3], "x": x[:3], "C": C})
    assert record.mutants.survived == 0 < record.mutants.caught


@pytest.mark.parametrize("sign", [r"\otimes", r"\circ"])
def test_free_letters_are_joined_by_them(sign):
    (step,) = parse_free(rf"K = A {sign} B").steps
    assert isinstance(step.right, t.Kronecker | t.Elementwise)
