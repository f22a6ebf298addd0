"""What each kind of node prints, from the tree, in the brackets that its place asks for."""

import pytest

from checked_equations.latex import tree as t
from checked_equations.latex.parser import parse, parse_expression
from checked_equations.latex.printer import to_latex

a, b, c, x = map(t.Name, "abcx")
i, ONE, TWO = t.Index("i"), t.Number(1.0), t.Number(2.0)
INFINITY = t.Constant("\\infty")


def summed(*terms, signs=None):
    return t.Sum(terms, signs or (1,) * len(terms))


PRINTED = [
    (t.Number(12.50), "12.5"),
    (t.Number(1e20), "100000000000000000000"),
    (t.Number(0.001), "0.001"),
    (summed(a, b, signs=(-1, 1)), "-a + b"),
    (summed(a, b, signs=(1, -1)), "a - b"),
    (summed(a, summed(b, c), signs=(1, -1)), "a - (b + c)"),
    (t.Product((a, TWO)), r"a \cdot 2"),
    (t.Product((TWO, a)), "2 a"),
    (t.Product((a, t.Number(-2.0))), "a (-2)"),
    (t.Product((a, t.Product((b, c)))), "a (b c)"),
    (t.Product((summed(a, b), c)), "(a + b) c"),
    (t.Power(t.Number(-2.0), TWO), "(-2)^{2}"),
    (t.Power(t.Number(0.0), TWO), "0^{2}"),
    (t.Power(t.Name("x^*"), TWO), "(x^*)^{2}"),
    (t.Power(t.Name("x_1"), TWO), "x_1^{2}"),
    (t.Power(t.Name("x_{i^2}"), TWO), "x_{i^2}^{2}"),
    (t.Subscript(t.Name("x_1"), (i,)), "[x_1]_{i}"),
    (t.Subscript(x, (i, TWO)), "x_{i,2}"),
    (t.Inverse(t.Bars(a)), r"\lvert a \rvert^{-1}"),
    (t.Inverse(summed(a, b)), "(a + b)^{-1}"),
    (t.Transpose(t.Inverse(a)), r"a^{-\top}"),
    (t.Transpose(t.Transpose(a)), r"(a^\top)^\top"),
    (t.Bars(t.Bars(a)), r"\lvert (\lvert a \rvert) \rvert"),
    (t.Norm(a, "1"), r"\lVert a \rVert_{1}"),
    (t.Root(a, t.Number(3.0)), r"\sqrt[3]{a}"),
    (t.Function("factorial", (summed(a, b),)), "(a + b)!"),
    (t.Function("double_factorial", (a,)), "a!!"),
    (t.Function("floor", (a,)), r"\lfloor a \rfloor"),
    (t.Function("binom", (a, b)), r"\binom{a}{b}"),
    (t.Function("identity", (a,)), r"I_{a \times a}"),
    (t.Function("max", (a, b)), r"\max(a, b)"),
    (t.Function("arcsinh", (a,)), r"\operatorname{arcsinh}(a)"),
    (t.Apply("f", (a, b), ("|",)), r"f(a \mid b)"),
    (t.Apply("f", (a, b), ("\\|",)), r"f(a \,\|\, b)"),
    (t.Apply("f", (a, b), (";",)), "f(a; b)"),
    (t.Apply("f", (a, b), (",",)), "f(a, b)"),
    (t.Apply("|", (a, b), ("|",)), r"a \mid b"),
    (t.Apply("p(x|y)", (x, a), ("|",)), r"p(x \mid y = a)"),
    (t.Apply(r"p(x|\mathrm{do}(y))", (x, a), ("|",)), r"p(x \mid \operatorname{do}(a))"),
    (t.Primed("f", (a,), order=ONE), "f'(a)"),
    (t.Primed("f", (a,), order=t.Number(3.0)), "f'''(a)"),
    (t.Primed("f", (a,), order=t.Number(4.0)), "f^{(4)}(a)"),
    (t.Primed("f", (a,), order=t.Name("n")), "f^{(n)}(a)"),
    (t.Reduction("sum", t.Range("i", ONE, a), summed(i, b)), r"\sum_{i=1}^{a} (i + b)"),
    (t.Product((t.Reduction("sum", t.Range("i", ONE, a), i), b)), r"(\sum_{i=1}^{a} i) b"),
    (t.Product((b, t.Reduction("sum", t.Range("i", ONE, a), i))), r"b \sum_{i=1}^{a} i"),
    (t.Reduction("max", t.Range("i", members=t.Name("i"), without=TWO), i), r"\max_{i \ne 2} i"),
    (t.Reduction("sum", t.Range("i", ONE, a, without=TWO), i), r"\sum_{i=1, i \ne 2}^{a} i"),
    (t.Reduction("sum", t.Range("i", members=a), i), r"\sum_{i \in a} i"),
    (t.Reduction("sum", t.Range("i", members=t.Name("i")), i), r"\sum_{i} i"),
    (
        t.Reduction("sum", t.Range("i", members=t.Block(((ONE, TWO),))), i),
        r"\sum_{i \in \{1, 2\}} i",
    ),
    (t.Derivative(t.Product((a, b)), a), r"\frac{\partial (a b)}{\partial a}"),
    (t.Derivative(a, a, TWO), r"\frac{\partial^{2} a}{\partial a^{2}}"),
    (t.Gradient(t.Apply("f", (x,)), x), r"\nabla_{x} f(x)"),
    (t.Gradient(summed(a, x), x), r"\nabla_{x} (a + x)"),
    (t.Integral(("s",), t.Index("s")), r"\int s \,\mathrm d s"),
    (t.Integral(("s", "u"), a, ONE, INFINITY), r"\int_{1}^{\infty} a \,\mathrm d s \,\mathrm d u"),
    (t.Integral(("s",), a, ONE, TWO, t.Number(3.0)), r"\int_{[1, 2]^{3}} a \,\mathrm d s"),
    (t.Expectation((), a), r"\mathbb E[a]"),
    (t.Expectation((t.Under(("s",), "s"),), a), r"\mathbb E_{s}[a]"),
    (t.Expectation((t.Under(("x",), "q"), t.Under(("s",), "s")), a), r"\mathbb E_{q(x), s}[a]"),
    (t.Expectation((t.Under(("x", "y"), "q"),), a), r"\mathbb E_{q(x, y)}[a]"),
    (t.Expectation((t.Under(("x",), "p(x|y)", (a,)),), x), r"\mathbb E_{p(x \mid a)}[x]"),
    (t.Expectation((t.Under(("x",), "p(x|y)"),), x), r"\mathbb E_{p(x \mid y)}[x]"),
    (t.Expectation((t.Under(("x",), "x|y", (a,)),), x), r"\mathbb E_{x}[x \mid y = a]"),
    (t.Expectation((t.Under(("x",), "x|y", (t.Name("y"),)),), x), r"\mathbb E_{x \mid y}[x]"),
    (t.Covariance((t.Under(("s",), "s"),), a, b), r"\operatorname{Cov}_{s}[a, b]"),
    (t.Variance((t.Under(("s",), "s"),), a), r"\mathbb V_{s}[a]"),
    (t.Member(a, None, (ONE, TWO)), r"a \in \{1, 2\}"),
    (t.Member(a, b), r"a \in b"),
    (t.Member(a, None, (ONE, TWO), b), r"a = 1, 2, \dots, b"),
    (t.Member(a, None, (ONE,), INFINITY), r"a = 1, \dots"),
    (t.Space("\\mathbb R", (a, summed(b, ONE))), r"\mathbb R^{a \times (b + 1)}"),
    (t.Space("\\mathbb N"), r"\mathbb N"),
    (t.Kronecker((t.Product((a, b)), summed(a, b))), r"(a b) \otimes (a + b)"),
    (t.Elementwise((a, t.Power(b, TWO))), r"a \odot b^{2}"),
    (t.Dots(a), "a"),
    (t.Block(((a, b), (ONE, TWO))), r"\begin{bmatrix} a & b \\ 1 & 2 \end{bmatrix}"),
    (t.Statement((t.Step(a, "=", b), t.Step(a, "=", c))), r"a = b, \quad a = c"),
]


@pytest.mark.parametrize(("node", "wanted"), PRINTED)
def test_it_is_printed_so(node, wanted):
    assert to_latex(node) == wanted


@pytest.mark.parametrize(
    ("latex", "wanted"),
    [
        ("a = b = c", "a = b = c"), ("a = b, b = c", r"a = b, \quad b = c"),
        (r"a = b \text{ for } a > 0", r"a = b \text{ if } a > 0"),
        (r"a = b \text{ for all } c", r"a = b \text{ for all } c"),
    ],
)  # fmt: skip
def test_a_statement_is_printed_whole(latex, wanted):
    assert to_latex(parse(latex, dict.fromkeys("abc", "value"))) == wanted


@pytest.mark.parametrize(
    "latex",
    [r"\lim_{u \to 0^{+}} u a", r"\left. a^{2} \right|_{a = b}", r"\lim_{u \to \infty} (u + a)"],
)
def test_what_binds_a_letter_is_printed_as_it_is_read(latex):
    assert to_latex(parse_expression(latex, dict.fromkeys("ab", "value"))) == latex


def test_what_has_no_latex_says_so():
    with pytest.raises(TypeError, match="a Node has no LaTeX"):
        to_latex(t.Node())
    with pytest.raises(TypeError, match=r"frobnicate has no LaTeX: give it a row in FUNCTIONS"):
        to_latex(t.Function("frobnicate", (a,)))
