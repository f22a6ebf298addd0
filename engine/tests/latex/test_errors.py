"""Faults: what each says, and where it points."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from checked_equations.errors import EquationError
from checked_equations.evaluate.evaluator import Evaluator
from checked_equations.evaluate.values import Nodes, kind
from checked_equations.latex.names import normal
from checked_equations.latex.parser import parse, parse_expression, symbols

rng = np.random.default_rng(3)
BOUND = {
    "A": rng.normal(size=(4, 4)), "B": rng.normal(size=(4, 3)), "x": rng.normal(size=4),
    "y": rng.normal(size=3), "a": 0.5, "o": 0.0, "N": 4, "S": {1, 2}, "k": lambda x: x[7],
    "w": Nodes([0.0, 1.0], [0.5, 0.7]), "u": Nodes([0.0, 1.0], [0.5, 0.5]), "K_{ff}": np.eye(3),
    r"\ell": 0.3, "E": np.ones((4, 4)), "t": lambda x: abs(x - 0.49), "q": object(),
}  # fmt: skip
NAMES = {normal(key): kind(value) for key, value in BOUND.items()}


def fault(latex: str) -> EquationError:
    with pytest.raises(EquationError) as caught:
        Evaluator(BOUND, latex).value(parse_expression(latex, NAMES))
    return caught.value


# what is written, what the error says of it, and the piece of LaTeX that it points at
FAULTS = [
    # names
    ("a + K_{yy}", "unbound symbol `K_{yy}`; nearest bound names: `K_{ff}`", "K_{yy}"),
    (r"a \mathbf{x}", r"unbound symbol `\mathbf x`", r"\mathbf{x}"),
    ("a x'", "unbound symbol `x'`", "x'"),
    ("x_i", "unbound symbol `x_i`", "x_i"),
    ("x^*", "unbound symbol `x^*`", "x^*"),
    (r"\sum_{i=1}^N x_i + x_i", "unbound symbol `i`", None),
    (r"\sum_{i} 2", "unbound symbol `i`", "i"),
    ("a + e", "unbound symbol `e`", "e"),
    ("a^{e'}", "unbound symbol `e'`", "e'"),
    # shapes
    ("a + A B A", "the product of shapes (4, 3) and (4, 4) is not defined", "A B A"),
    ("A + B", "the sum of shapes (4, 4) and (4, 3) is not defined", "A + B"),
    ("A + a", "the sum of shapes (4, 4) and ()", "A + a"),
    (r"x \odot y", "the elementwise product of shapes (4, 1) and (3, 1)", None),
    ("a + B^{-1}", "the inverse of shapes (4, 3)", "B^{-1}"),
    (r"\frac{a}{x}", "the denominator must be a scalar", r"\frac{a}{x}"),
    (r"\operatorname{tr} B", "the trace of shapes (4, 3)", None),
    ("x^2", "the power of shapes (4, 1)", "x^2"),
    (r"\det B", "the determinant of shapes (4, 3)", None),
    (r"\begin{bmatrix} A & x \\ y & a \end{bmatrix}", "a block of shape (3, 1)", None),
    # numbers
    (r"\frac{a}{o}", "division by zero", r"\frac{a}{o}"),
    ("o^{-1}", "division by zero", None),
    (r"a + \log(-a)", "the logarithm of -0.5 is not defined", r"\log(-a)"),
    (r"(-a)^{1/2}", "the value is not a number", None),
    (r"e^{1000}", "the value is infinite", None),
    ("E^{-1}", "singular", "E^{-1}"),
    (r"a \infty", "infinite", r"\infty"),
    (r"a!", "a whole number, not 0.5", "a!"),
    # indices and ranges
    ("x_5", "the index 5 is outside 1 to 4", "x_5"),
    ("x_0", "the index 0 is outside 1 to 4", "x_0"),
    ("x_a", "an index must be a whole number", "x_a"),
    ("A_{1,2,3}", "3 indices for the shape (4, 4)", None),
    (r"\sum_{i=2}^{1} x_i", "the range of `i` is empty", None),
    (r"\sum_{i=1}^{2} \max_{j<i} x_j", "the max of nothing is not defined", r"\max_{j<i} x_j"),
    (r"\sum_{i=1}^{a} x_i", "a whole number", None),
    (r"\sum_{i=1} x_i", "a range needs both its limits", None),
    # functions, averages, derivatives
    ("k(x)", "`k` failed: index 7 is out of bounds", "k(x)"),
    ("a S", "`S` is bound to a set", "S"),
    ("a k", "`k` is bound to a callable", "k"),
    ("a + q", "an object is no number", "q"),
    ("a w", "`w` is bound to Nodes and stands outside its average", "w"),
    (r"\mathbb E_w[w]", "the weights of `w` sum to 1.2, not to one", None),
    (r"\mathbb E[w u]", "say over which variable", None),
    (r"\mathbb E_a[a u]", "`a` is bound to no distribution", "a"),
    (r"\mathbb E u", "write brackets around what is averaged", None),
    (r"\int_0^{a} u \,\mathrm d u", "the nodes of `u` leave the limits 0 to 0.5", None),
    (r"\int_{-1}^{2} u \,\mathrm d u", "the weights of `u` sum to 1, the limits -1 and 2 differ",
     None),
    (r"\int_0^1 z^2 \,\mathrm d z", "`z`; an integral runs over nodes: bind `z` to Nodes(", "z"),
    (r"\int_0^1 a^2 \,\mathrm d a", "an integral runs over nodes: bind `a` to Nodes(", None),
    (r"\int_0^\infty u \,\mathrm d u", "before the limit inf the integrand is 1 of its", None),
    (r"\int_{-\infty}^1 e^{-u} \,\mathrm d u", "the last nodes of `u` before the limit -inf", None),
    (r"\frac{\partial A}{\partial \ell}", r"`\ell` does not occur in what is differentiated", None),
    (r"\log_{a + 1} x", "the base of a logarithm must be a number or a symbol", None),
    (r"\sigma_n^{-2}", r"unbound symbol `\sigma_n`", None),
    ("x_", "the LaTeX ends too early", None),
    ("x_ ^2", "an argument is missing here", "^"),
    (r"\nabla A", "write the variable", None),
    (r"\frac{\partial}{\partial a} t(a)", "the differences do not settle", None),
    (r"\begin{cases} a & \text{if } a > 1 \end{cases}", "no case applies", None),
    (r"\lVert x \rVert_{A}", "the norm with subscript A is not known", None),
    # grammar
    ("a / 2 x", "ambiguous after `/`", "x"),
    (r"\log a / x_1", "does this belong to the argument of the function?", "x_1"),
    (r"\log a \cdot x_1", "does this belong to the argument of the function?", "x_1"),
    (r"\log |a| x_1", "ambiguous: does what follows the bars belong", "|a| x_1"),
    (r"\prod_{i=1}^4 x_i a", "ambiguous: the last factor does not run", "x_i a"),
    (r"\max_{i \in S} x_i / a", "ambiguous: the last factor does not run", "x_i / a"),
    (r"\nabla_a a a", "ambiguous: put brackets around what is differentiated", r"\nabla_a a"),
    (r"\nabla_a t(a) a", "ambiguous: is this differentiated too?", "a"),
    (r"\nabla_x (A x)", "a gradient is that of a scalar", r"\nabla_x (A x)"),
    ("2 3", "two numbers side by side", "3"),
    ("a^10", "only one digit is in the script", "0"),
    ("A_{12}", "ambiguous: row 12, or the entry 1, 2? write A_{1,2}", None),
    (r"\forall a: a", "write what this is for behind the statement", r"\forall"),
    (r"a \text{ minus } a", "words that are not read", None),
    (r"t(\text{half of } a)", "words that are not read", None),
    (r"\text{half of } a", "words that are not read", None),
    (r"\begin{cases} a & \text{if it rains} \\ 1 & \text{else} \end{cases}", "are not read", None),
    (r"\begin{cases} a & \text{if } \\ 1 & \text{else} \end{cases}", "only the last case", None),
    ("A^{-1}_{1,2}", "ambiguous: an entry of the inverse, or the inverse of an entry?", None),
    ("A_{1,2}^{-1}", "ambiguous: an entry of the inverse", None),
    ("[A]_{1,2}^{-1}", "ambiguous: an entry of the inverse", None),
    (r"A^\top_{1,2}", "ambiguous: an entry of the transpose", None),
    (r"A^{-\top}_{1,2}", "ambiguous: an entry of the inverse", None),
    (r"\log(a)^2", "ambiguous: does the power belong to log", None),
    ("(a + x] a", "`(` and `]` do not match", "("),
    ("(a + x", "this is never closed", "("),
    ("a + x)", "`)` closes nothing", ")"),
    ("a + ", "something is missing", None),
    ("a + + x", "`+` cannot stand here", None),
    ("a <= x_1", "two relations side by side: write \\le or \\ge", "="),
    ("a == x_1", "two relations side by side: write \\le or \\ge", "="),
    ("|a", "this is never closed", "|"),
    (r"\frac{a}", "the LaTeX ends too early", None),
    ("{a + x", "this brace is never closed", "{"),
    ("a}", "this brace closes nothing", "}"),
    ("a^2^3", "a second script of the same kind", None),
    (r"\begin{tikz} a \end{tikz}", "the language has no tikz", None),
    (r"\begin{bmatrix} a & a \\ a \end{bmatrix}", "rows of this matrix have different", None),
]  # fmt: skip


def test_a_fault_says_what_and_where():
    for latex, problem, place in FAULTS:
        error = fault(latex)
        assert problem in error.problem, latex
        assert error.latex == latex
        if place is not None:
            assert latex[slice(*error.span)].strip() == place, latex


def test_the_message_shows_line_column_and_a_caret():
    latex = "a &= a \\\\\n  &= \\mathbf z + a"
    with pytest.raises(EquationError) as caught:
        parse(latex, NAMES)
    assert (caught.value.line, caught.value.column) == (2, 6)
    excerpt = str(caught.value).split("\n")
    assert excerpt[0].startswith("line 2, column 6: unbound symbol `\\mathbf z`")
    assert excerpt[1:] == ["      &= \\mathbf z + a", "         ^^^^^^^^^"]


def test_an_error_begins_with_chapter_and_label():
    error = EquationError("no", "a = b", (4, 5), chapter="part/one", label="eq-a")
    assert str(error).startswith("part/one, eq-a, line 1, column 5: no")


def test_a_statement_without_a_relation_is_refused():
    with pytest.raises(EquationError, match="no relation stands in it"):
        parse("a + a", NAMES)


def test_every_fault_is_a_value_error():
    with pytest.raises(ValueError, match="unbound"):
        parse("a = b", {"a": "value"})


def test_without_the_text_the_fault_still_says_what():
    node = parse_expression("A + B", NAMES)
    with pytest.raises(EquationError, match=r"the sum of shapes \(4, 4\) and \(4, 3\)"):
        Evaluator(BOUND).value(node)


PIECES = r"""
a x K_{ff} \mathbf \mathbf{x} \frac \frac12 { } ( ) [ ] \{ \} | \| \lvert \rvert \left( \right)
\left. \right| _ ^ _{i} ^{-1} ^\top ' \sum_{i=1}^N \sum_ \prod \log \log_ \cos^2 \det \nabla
\nabla_x \partial \frac{\partial}{\partial \int \int_0^1 dw \mathrm{d} w \mathbb \mathbb{E}_w
\mathbb{E} \operatorname{tr} \sqrt \sqrt[ k k( , ; \mid = \le + - / \cdot \odot ! \\ &
\begin{bmatrix} \end{bmatrix} \begin{cases} \end{cases} \begin{aligned} \end{aligned} \text{if}
\text \quad . : 1 2 \pi e T N \in \begin{array}{l \underbrace \overset \tag \binom \max_{x
\mathbb{1} \choose \forall \bar \langle \rangle \otimes \circ \underset \substack \textcolor{red}
\overset \underbrace \overbrace{a} _{\text{b}} \int_{x>0} \int_{[0,1]} \int^ || \text{and}
\text{for}
\dots \mathbb{R} \in \{ \sum_{i<N} \sum_{1\le{}i<j} \text{$a$} \boxed \lim * \begin{alignat}{2}
"""


def outcome(reader, latex):
    try:
        return reader(latex)
    except EquationError as error:
        return error


@given(
    pieces=st.lists(st.sampled_from(PIECES.split()), max_size=9),
    free=st.booleans(),
    glue=st.sampled_from(["", " "]),
)
def test_any_text_is_read_or_refused(pieces, free, glue):
    # whatever an author writes, the answer is a tree or an EquationError, nothing else
    latex = glue.join(pieces)
    outcome(symbols, latex)
    for reader in (parse, parse_expression):
        result = outcome(lambda text, reader=reader: reader(text, NAMES, free=free), latex)
        if isinstance(result, EquationError):
            assert result.latex == latex
            assert 0 <= result.span[0] <= result.span[1] <= len(latex)


@pytest.mark.parametrize(
    "deep", ["(" * 800 + "a" + ")" * 800, r"\sqrt{" * 400 + "a" + "}" * 400, r"\sqrt" * 400 + " a"]
)
def test_brackets_that_are_nested_too_deeply_are_refused(deep):
    with pytest.raises(EquationError, match="more than 60 brackets stand in each other"):
        parse(f"a = {deep}", NAMES)


def test_brackets_in_brackets_are_read_to_some_depth():
    assert Evaluator(BOUND).value(parse_expression("(" * 60 + "a" + ")" * 60, NAMES)) == 0.5


def test_functions_that_stand_in_each_other_too_deep_are_refused():
    with pytest.raises(EquationError, match="more than 60 functions stand in each other"):
        parse("\\sin " * 400 + "x = x", {"x": "value"})
