"""What the grammar reads: spellings that mean the same, trees, names, lines."""

from __future__ import annotations

import pytest

from checked_equations.errors import EquationError
from checked_equations.latex import tree as t
from checked_equations.latex.names import normal
from checked_equations.latex.parser import parse, parse_expression, parse_free, symbols

VALUES = [
    "a", "b", "c", "x", "y", "z", "x'", "n", "N", "M", "A", "B", "I", "K", "K_y", "K_{ff}",
    "K_{*f}", "f", "t", "S", "S_i", "d", r"\mu", r"\sigma_n", r"\sigma_f^2", r"\Sigma",
    r"\bar{\mathbf f}_*", r"\mathbf y", r"\mathbf x", r"\mathbf x_*", r"\theta", r"\ell",
    r"\mathbf p", "q", "p", "k_*",
]  # fmt: skip
CALLABLES = ["k", "g", "H", r"\phi", r"\mathcal N", r"\operatorname{KL}", r"k'"]
NODES = ["w", r"\mathbf w", "u"]
NAMES = {
    **{normal(key): "value" for key in VALUES},
    **{normal(key): "callable" for key in CALLABLES},
    **{normal(key): "nodes" for key in NODES},
    normal(r"\mathcal S"): "set",
}


def read(latex: str) -> t.Node:
    return parse_expression(latex, NAMES)


SAME = [
    # names
    (r"\bar{\mathbf{f}}_{*}", r"\bar{\mathbf f}_*"),
    (r"\mathbf{y}", r"\mathbf y"),
    ("k_{*}", "k_*"),
    (r"x^{\prime}", "x'"),
    (r"\sigma^2_f", r"\sigma_f^{2}"),
    (r"\sigma_n^2", r"(\sigma_n)^2"),
    # layout
    (r"a \, b \; c\: x", "a b c x"),
    (r"\left( a + b \right) c", "(a + b) c"),
    (r"\bigl[ a + b \bigr] c", "(a + b) c"),
    (r"\Bigl\{ a + b \Bigr\} c", "(a + b) c"),
    (r"\left\lbrace a + b \right\rbrace c", "(a + b) c"),
    (r"{a} {b}", "a b"),
    (r"{K_y}^{-1}", "K_y^{-1}"),
    ("a &+ b", "a + b"),
    ("a % a comment\n + b", "a + b"),
    (r"\underbrace{a b}_{\text{the first}} + c", "a b + c"),
    (r"\underbrace{b}_{\text{first}}^2", "b^2"),
    (r"\displaystyle a \tag{3}", "a"),
    (r"a + b \\ + c", "a + b + c"),
    (r"a \\ \cdot b", "a b"),
    (r"\boxed{a + b}", "a + b"),
    (r"\begin{aligned} a &+ b \end{aligned}", "a + b"),
    # products and fractions
    (r"a \cdot b", "a b"),
    (r"a \times b", "a b"),
    (r"\tfrac12 a", r"\frac{1}{2} a"),
    (r"\frac1{\sigma_n^2}", r"\frac{1}{\sigma_n^2}"),
    (r"\frac ab", r"\frac{a}{b}"),
    ("a / b", r"\frac{a}{b}"),
    (r"a b / c \cdot x", r"\frac{a b}{c} x"),
    (r"n / 2 \log a", r"\frac n2 \log a"),
    (r"{a \over b}", r"\frac{a}{b}"),
    (r"{n \choose b}", r"\binom{n}{b}"),
    # powers, inverses, transposes
    (r"A^T", r"A^\top"),
    (r"A^{\mathsf T}", r"A^\top"),
    (r"A^{\mathsf{T}}", r"A^{\top}"),
    (r"A^\intercal", r"A^\top"),
    (r"A^{-T}", r"A^{-\top}"),
    (r"A^{-\top}", r"(A^{-1})^\top"),
    (r"K^{-1}_{y}", "K_y^{-1}"),
    (r"\sqrt[3]{a}", r"\sqrt[3] a"),
    # bars
    ("|A|", r"\lvert A \rvert"),
    (r"\left| A \right|", "|A|"),
    (r"\bigl| A \bigr|", "|A|"),
    (r"\vert A \vert", "|A|"),
    (r"|A| |B|", r"\lvert A \rvert \lvert B \rvert"),
    (r"\|x\|_2", r"\lVert x \rVert_2"),
    (r"\left\| x \right\|^2", r"(\lVert x \rVert)^2"),
    # function words: with brackets they take those, without the product that follows
    (r"\log 2 \pi", r"\log(2 \pi)"),
    (r"\log |A|", r"\log(|A|)"),
    (r"\log(a) b", r"(\log(a)) b"),
    (r"\log |a| \cdot b", r"\log(|a|) b"),
    (r"\log a \log b", r"\log(a) \log(b)"),
    (r"\log a + b", r"\log(a) + b"),
    (r"\log\frac ab / c", r"\frac{\log(\frac ab)}{c}"),
    (r"\log \det A", r"\log(\det(A))"),
    (r"\log \det(A)^{-1} a", r"\log((\det(A))^{-1}) a"),
    (r"\ln a", r"\log a"),
    (r"\cos^2 x \sin y", r"(\cos(x))^2 \sin(y)"),
    (r"\operatorname{tr} A B", r"\operatorname{tr}(A B)"),
    (r"\mathrm{tr}\left(A\right)", r"\operatorname{tr} A"),
    (r"\exp\left\{ -a \right\}", r"e^{-a}"),
    (r"\mathrm e^{a}", r"\exp(a)"),
    (r"\log \sum_{i=1}^N x_i y_i", r"\log(\sum_{i=1}^N (x_i y_i))"),
    (r"\log_2 a", r"\frac{\log(a)}{\log(2)}"),
    (r"\min\{a, b\}", r"\min(a, b)"),
    # sums: over the product that follows
    (r"\sum_{i=1}^N x_i y_i", r"\sum_{i=1}^{N} (x_i y_i)"),
    (r"\sum_{i=1}^N x_i \cdot y_i + a", r"(\sum_{i=1}^{N} (x_i y_i)) + a"),
    (r"a \sum_{i=1}^N (x_i + b)", r"a (\sum_{i=1}^N (x_i + b))"),
    (r"\sum\limits_{i=1}^N x_i", r"\sum_{i=1}^N x_i"),
    (r"\sum_{i,j=1}^N K_{ij}", r"\sum_{i=1}^N \sum_{j=1}^N K_{i,j}"),
    (r"\sum_{i=1}^N K_i x_i^\top", r"\sum_{i=1}^N ((K_i) ((x_i)^\top))"),
    (r"\mathbf x_{n}^\top", r"(\mathbf x_n)^\top"),
    (r"\sum_{i=1}^N \sum_{j<i} K_{ij}", r"\sum_{i=1}^N \sum_{j=1}^{i-1} K_{ij}"),
    (r"\prod_{i \leq n} x_i", r"\prod_{i=1}^n x_i"),
    (r"\operatorname*{arg\,max}_{x \in S} g(x)", r"\operatorname{argmax}_{x \in S} g(x)"),
    (r"\arg\min_{x \in S} g(x)", r"\mathrm{arg min}_{x\in S} g(x)"),
    # averages, integrals, derivatives
    (r"\mathbb E_{w}\left[ w \right]", r"\mathbb{E}_w[w]"),
    (r"\mathbb E_{w}[ w ]", r"\mathbb E_w(w)"),
    (r"\mathbb E[w a]", r"\mathbb E_w[w a]"),
    (r"\operatorname{Var}[w]", r"\mathbb V_w[w]"),
    (r"\operatorname{cov}(w, w a)", r"\operatorname{Cov}_w[w, w a]"),
    (r"\operatorname{Cov}[w]", r"\mathbb V[w]"),
    (r"\int g(w) \,\mathrm d w", r"\int g(w) \,\mathrm{d} w"),
    (r"\int g(\mathbf w) d\mathbf{w}", r"\int g(\mathbf w) \,\mathrm d \mathbf w"),
    (r"\int_{\mathbb R} g(w) \,\mathrm d w", r"\int_{-\infty}^\infty g(w) \,\mathrm d w"),
    (r"\frac{\partial}{\partial x} g(x)", r"\frac{\partial g(x)}{\partial x}"),
    (r"\frac{\partial^2 g(x)}{\partial x^2}",
     r"\frac{\partial}{\partial x} \frac{\partial}{\partial x} g(x)"),
    (r"\frac{\mathrm d g(x)}{\mathrm d x}", r"\frac{\partial g(x)}{\partial x}"),
    (r"\sigma_f^{-2}", r"(\sigma_f^2)^{-1}"),
    (r"\sigma^{-2}_f a", r"(\sigma_f^2)^{-1} a"),
    (r"\operatorname{KL}\left(q \,\middle\|\, p\right)", r"\operatorname{KL}(q \| p)"),
    # blocks
    (r"\left[\begin{array}{ll} a & b \\ b & c \end{array}\right]",
     r"\begin{bmatrix} a & b \\ b & c \end{bmatrix}"),
    (r"\begin{pmatrix} a \\ b \\ \end{pmatrix}", r"\begin{bmatrix} a \\[2pt] b \end{bmatrix}"),
    (r"\begin{vmatrix} a & b \\ b & c \end{vmatrix}",
     r"|\begin{bmatrix} a & b \\ b & c \end{bmatrix}|"),
    # called functions
    (r"\mathcal N\left(x; \mu, \Sigma\right)", r"\mathcal{N}(x;\mu,\Sigma)"),
    (r"\operatorname{KL}(q \,\|\, p)", r"\mathrm{KL}(q \parallel p)"),
    (r"H(y \mid S)", r"H(y | S)"),
    (r"H[y \mid S]", r"H\left(y \middle| S\right)"),
    (r"\phi_n(x)", r"(\phi(x))_n"),
]  # fmt: skip


def test_two_spellings_are_one_tree():
    assert [(one, other) for one, other in SAME if read(one) != read(other)] == []


DIFFERENT = [
    ("a - (b - c)", "a - b - c"),
    (r"\log 2 \pi", r"\log(2) \pi"),
    (r"\sum_{i=1}^N x_i y_i", r"(\sum_{i=1}^N x_i) y_1"),
    (r"A^{-\top}", r"A^{-1}"),
    (r"\sigma_f^2", r"\sigma_n^2"),
    (r"|A|", r"\|A\|"),
    (r"x'", "x"),
    (r"K_{1,2}", r"K_{2,1}"),
    (r"\operatorname{KL}(q \| p)", r"\operatorname{KL}(q , p)"),
]


def test_two_meanings_are_two_trees():
    assert [(one, other) for one, other in DIFFERENT if read(one) == read(other)] == []


def name(key: str) -> t.Name:
    return t.Name(normal(key))


TREES = [
    ("a - b + c", t.Sum((name("a"), name("b"), name("c")), (1, -1, 1))),
    ("-a", t.Sum((name("a"),), (-1,))),
    (r"a \odot b c", t.Elementwise((name("a"), t.Product((name("b"), name("c")))))),
    ("K_y^{-1}", t.Inverse(name("K_y"))),
    (r"\sigma_f^2", name(r"\sigma_f^2")),
    (r"\sigma_n^2", t.Power(name(r"\sigma_n"), t.Number(2.0))),
    ("|K_y|^{-1/2}",
     t.Power(t.Bars(name("K_y")), t.Sum((t.Quotient(t.Number(1.0), t.Number(2.0)),), (-1,)))),
    (r"\lVert x \rVert_F^2", t.Power(t.Norm(name("x"), "F"), t.Number(2.0))),
    ("[A]_{1,n}", t.Subscript(name("A"), (t.Number(1.0), name("n")))),
    (r"\sum_{i=1}^{N} K_{i,1}",
     t.Reduction("sum", t.Range("i", t.Number(1.0), name("N")),
                 t.Subscript(name("K"), (t.Index("i"), t.Number(1.0))))),
    (r"\prod_{s \in \mathcal S} s",
     t.Reduction("prod", t.Range("s", members=name(r"\mathcal S")), t.Index("s"))),
    (r"\sum_{n} x_n",
     t.Reduction("sum", t.Range("n", members=name("n")), t.Subscript(name("x"), (t.Index("n"),)))),
    (r"\sum_{n \neq N} x_n",
     t.Reduction("sum", t.Range("n", members=name("n"), without=name("N")),
                 t.Subscript(name("x"), (t.Index("n"),)))),
    (r"\max_{x \in S} g(x)",
     t.Reduction("max", t.Range("x", members=name("S")), t.Apply("g", (t.Index("x"),)))),
    (r"H(y \mid S, x)", t.Apply("H", (name("y"), name("S"), name("x")), ("|", ","))),
    (r"\int_0^\infty w \,\mathrm d w",
     t.Integral(("w",), t.Index("w"), t.Number(0.0), t.Constant("\\infty"))),
    (r"\int w u \,\mathrm d w \,\mathrm d u",
     t.Integral(("w", "u"), t.Product((t.Index("w"), t.Index("u"))))),
    (r"\int\int w u \,\mathrm d w \,\mathrm d u",
     t.Integral(("u",), t.Integral(("w",), t.Product((t.Index("w"), t.Index("u")))))),
    (r"\nabla_x g(x)^\top y",
     t.Product((t.Transpose(t.Gradient(t.Apply("g", (name("x"),)), name("x"))), name("y")))),
    (r"n!", t.Function("factorial", (name("n"),))),
    (r"\begin{cases} a, & \text{if } x > 0, \\ b & \text{otherwise.} \end{cases}",
     t.Cases((name("a"), name("b")), (t.Step(name("x"), ">", t.Number(0.0)), None))),
    (r"\mathbb 1[x < y]", t.Function("indicator", (t.Step(name("x"), "<", name("y")),))),
    ("2.5", t.Number(2.5)),
    ("10^{-2}", t.Power(t.Number(10.0), t.Sum((t.Number(2.0),), (-1,)))),
    (r"\mathrm e", t.Constant("e")),
]  # fmt: skip


def test_the_tree_of():
    assert [(latex, read(latex)) for latex, tree in TREES if read(latex) != tree] == []


def test_a_chain_has_one_step_for_each_relation_and_knows_its_lines():
    statement = parse("a &= b + c \\\\\n  &\\le x \\\\\n  &= y", NAMES)
    assert [(s.relation, s.line) for s in statement.steps] == [("=", 1), ("\\le", 2), ("=", 3)]
    assert statement.steps[0].right is statement.steps[1].left


@pytest.mark.parametrize(
    "latex",
    [
        "a = b \\\\ c = x",
        r"a = b, \quad c = x",
        r"a = b, c = x.",
        r"\begin{align} a &= b, \\ c &= x. \end{align}",
        r"a = b \text{ and } c = x",
        r"a = b \quad \text{where } c = x",
        r"a = b, \text{ since } c = x",
        r"a = b, \qquad c = x \qquad \text{for all } n = 1, \dots, N",
    ],
)
def test_statements_are_told_apart(latex):
    steps = parse(latex, NAMES).steps
    assert [(s.left, s.right) for s in steps] == [(name("a"), name("b")), (name("c"), name("x"))]


def test_a_line_that_starts_with_an_operator_goes_on():
    statement = parse("a &= b \\\\ &\\quad + c \\\\ &\\quad - x", NAMES)
    assert statement.steps[0].right == read("b + c - x")


def test_a_sign_after_a_comma_begins_a_statement():
    steps = parse("a &= b, \\\\ - c &= x", NAMES).steps
    assert [(s.left, s.right) for s in steps] == [(name("a"), name("b")), (read("-c"), name("x"))]


@pytest.mark.parametrize(
    ("written", "read_as"),
    [
        (r"\log a / \log b", r"\frac{\log(a)}{\log(b)}"),
        (r"\log |A|^2 / b", r"\frac{\log(|A|^2)}{b}"),
        (r"(\log a) / b", r"\frac{\log(a)}{b}"),
        (r"\prod_{i=1}^N (x_i a)", r"\prod_{i=1}^N (a x_i)"),
        (r"\prod_{i=1}^N a x_i", r"\prod_{i=1}^N (a x_i)"),
        (r"\sum_{i=1}^N x_i a", r"\sum_{i=1}^N (a x_i)"),
    ],
)
def test_what_only_looks_ambiguous_is_read(written, read_as):
    swapped = written.replace("x_i a", "a x_i")
    assert read(swapped) == read(read_as)
    assert read(written)


def test_brackets_may_span_lines():
    latex = "a &= \\left( b + c \\right. \\\\ &\\qquad \\left. x + y \\right)"
    assert parse(latex, NAMES).steps[0].right == read("(b + c x + y)")


RELATIONS = [
    ("=", "="), (r"\approx", r"\approx"), (r"\leq", r"\le"), (r"\geqslant", r"\ge"), ("<", "<"),
    (r"\propto", r"\propto"), (r"\succeq", r"\succeq"), (r"\sim", r"\sim"), (":=", ":="),
    (r"\coloneqq", ":="), (r"\triangleq", ":="), (r"\equiv", ":="),
    (r"\overset{\text{def}}{=}", ":="), (r"\stackrel{(3)}{=}", "="),
]  # fmt: skip


def test_relations():
    made = {written: parse(f"a {written} b", NAMES).steps[0].relation for written, _ in RELATIONS}
    assert made == dict(RELATIONS)


def test_the_span_of_a_node_is_its_latex():
    latex = r"a = b \left( K_y + I \right)^{-1} x"
    nodes = {latex[slice(*node.span)] for _, node in t.walk(parse(latex, NAMES))}
    assert {"a", "b", "K_y", "I", "K_y + I", r"\left( K_y + I \right)^{-1}", latex} <= nodes


def test_the_longest_name_wins():
    kinds = {"K": "value", "K_y": "value", "y": "value", "K_y^{-1}": "value"}
    assert parse_expression("K_y^{-1} K_y", kinds) == t.Product((t.Name("K_y^{-1}"), t.Name("K_y")))


def test_a_name_may_be_a_whole_expression():
    key = normal(r"\log p(\mathbf y \mid X)")
    step = parse(r"\log p(\mathbf{y}\mid X) = a", {key: "value", "a": "value"}).steps[0]
    assert step.left == t.Name(key)


def test_a_name_does_not_match_inside_a_command_or_a_longer_symbol():
    kinds = {"a": "value", "f": "value", "K_f": "value"}
    for latex in (r"\alpha", r"\mathbf f", "K_{ff}", "K_{f,f}", "a''"):
        with pytest.raises(EquationError, match="unbound"):
            parse_expression(latex, kinds)


def test_a_running_variable_is_unbound_outside_its_sum():
    with pytest.raises(EquationError, match="unbound symbol `i`"):
        read(r"\sum_{i=1}^N x_i + x_i")


def test_bound_names_come_before_the_words_of_the_language():
    kinds = {"e": "value", r"\pi": "callable", "T": "value", "d": "value"}
    assert parse_expression("e^{T}", kinds) == t.Power(t.Name("e"), t.Name("T"))
    assert parse_expression(r"\pi(d)", kinds) == t.Apply("\\pi", (t.Name("d"),))


def test_free_parsing_takes_every_letter_for_a_name():
    latex = r"f_* \mid X, \mathbf y \sim \mathcal N\left(\bar f_*, \operatorname{cov}(f_*)\right)"
    step = parse_free(latex).steps[0]
    assert step.relation == r"\sim"
    assert step.left == t.Apply("|", (name("f_*"), name("X"), name(r"\mathbf y")), ("|", ","))


def test_free_parsing_knows_indices_from_names():
    step = parse_free(r"f(x) = \sum_{i=1}^N \alpha_i k_y(x, x_i)").steps[0]
    body = step.right.body
    assert body.factors[0] == t.Subscript(name(r"\alpha"), (t.Index("i"),))
    assert body.factors[1].key == "k_y"


def test_symbols_of_an_equation():
    latex = r"\bar{\mathbf{f}}_{*} = \sum_{i=1}^{N} \alpha_i k(\mathbf x_*, x_i) + \log 2 \pi"
    assert symbols(latex) == (
        r"\bar{\mathbf f}_*", "i", "N", r"\alpha", "k", r"\mathbf x_*", "x",
    )  # fmt: skip


def test_normal_forms_are_stable():
    assert [one for one, _ in SAME if normal(normal(one)) != normal(one)] == []
