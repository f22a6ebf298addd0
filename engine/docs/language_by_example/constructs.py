"""An example for each rule of the grammar, under the headings of the page."""

from __future__ import annotations

import math

import numpy as np

from checked_equations.evaluate.values import Distribution, Nodes

from .example import Example as Row

__all__ = ["CONSTRUCTS"]

_stream = np.random.default_rng(5)
A, B = _stream.uniform(0.5, 2.0, (2, 3, 3)) + 2.0 * np.eye(3)
x, y = _stream.uniform(0.5, 2.0, (2, 3))
u = np.array([0.2, 0.9, 1.1, 1.4, 2.0, 2.7, 5.3])
a, b, c = 1.3, 0.7, 2.4
f = a**2 + a
_F = {"f": f, "a": a}


def _sum(*terms: float) -> float:
    return math.fsum(terms)


STATEMENTS = (
    Row("a chain: every relation is a step", r"d &= a b + a c \\ &= a (b + c)",
        {"d": a * b + a * c, "a": a, "b": b, "c": c}),
    Row("several statements", r"d = a + b, \qquad e = a - b",
        {"d": a + b, "e": a - b, "a": a, "b": b}),
    Row("both signs: two statements, of the upper signs and of the lower",
        r"\cos(a \pm b) = \cos a \cos b \mp \sin a \sin b", {"a": a, "b": b}),
    Row("tuples: a statement for each entry", r"(d, e) = (a + b, a - b)",
        {"d": a + b, "e": a - b, "a": a, "b": b}),
    Row("a reason in brackets, which is passed over",
        r"d &= a b + a c \\ &= a (b + c) \quad \text{(by distributivity)}",
        {"d": a * b + a * c, "a": a, "b": b, "c": c}),
    Row("a condition before the statement", r"\text{If } a > 0, \quad f = a^2 + a", _F),
    Row("several conditions", r"f = a^2 + a \text{ if } a > 0 \text{ and } a < 3", _F),
    Row("a range of numbers", r"f = a^2 + a \text{ for } i = 1, \dots, N", {**_F, "i": 2, "N": 4}),
    Row("a range behind a comma, and one without end", r"u_i = a x_i, \quad i = 1, \dots, N, "
        r"\qquad b = a^n, \quad n = 0, 1, 2, \dots",
        {"u": a * x, "a": a, "x": x, "i": 2, "N": 3, "b": a**3, "n": 3}),
    Row("what is listed behind a comma", r"u_i = a x_i, \; i = 1, 2",
        {"u": a * x, "a": a, "x": x, "i": 2}),
    Row("several in one range", r"f = a^2 + a \text{ for } i, j = 1, 2, \dots, N",
        {**_F, "i": 2, "j": 1, "N": 4}),
    Row("a set, bound or written", r"f = a^2 + a \quad \forall i \in S, \quad b = 2 j \quad "
        r"\forall j \in \{1, \dots, 4\}",
        {**_F, "S": {1, 3}, "i": 3, "b": 4.0, "j": 2}),
    Row("an interval", r"f = a^2 + a \text{ for } a \in (0, \infty)", _F),
    Row("a space, with its shape", r"\mathbf y = A \mathbf x \quad \forall A \in "
        r"\mathbb R^{n \times n}", {r"\mathbf y": A @ x, "A": A, r"\mathbf x": x, "n": 3}),
    Row("any value", r"f = a^2 + a \quad \forall a", _F),
)  # fmt: skip

ARITHMETIC = (
    Row("sums and signs", "d = -a + b - c", {"d": -a + b - c, "a": a, "b": b, "c": c}),
    Row("a product is what stands side by side: of matrices, of a matrix and a column, of numbers",
        r"\mathbf y = 2 a A B \mathbf x",
        {r"\mathbf y": 2 * a * A @ B @ x, "a": a, "A": A, "B": B, r"\mathbf x": x}),
    Row("entry by entry", r"\mathbf z = \mathbf x \odot \mathbf y",
        {r"\mathbf z": x * y, r"\mathbf x": x, r"\mathbf y": y}),
    Row("the Kronecker product", r"K = A \otimes B", {"K": np.kron(A, B), "A": A, "B": B}),
    Row("fractions", r"d = \frac{a + b}{c} - a / b",
        {"d": (a + b) / c - a / b, "a": a, "b": b, "c": c}),
    Row("powers and roots", r"d = a^3 \sqrt{b} + \sqrt[3]{c}",
        {"d": a**3 * math.sqrt(b) + math.cbrt(c), "a": a, "b": b, "c": c}),
    Row("inverse and transpose", r"C = A^{-1} B^\top + A^{-\top}",
        {"C": np.linalg.solve(A, B.T) + np.linalg.solve(A.T, np.eye(3)), "A": A, "B": B}),
    Row("a transpose by a prime, where no name has one",
        r"d = (\mathbf x - \mathbf y)' A \mathbf x",
        {"d": (x - y) @ A @ x, "A": A, r"\mathbf x": x, r"\mathbf y": y}),
    Row("numbers without a zero, and with groups of digits",
        r"d = .5 a + 1\,200 b - 1.77245\;385 c",
        {"d": 0.5 * a + 1200 * b - 1.77245385 * c, "a": a, "b": b, "c": c}),
    Row("a number in groups of five digits, as tables print it",
        r"d = \frac{52\;46819}{12\;44160} a + b", {"d": 5246819 / 1244160 * a + b, "a": a, "b": b}),
    Row("factorials and binomials", r"d = \binom{n}{k} = \frac{n!}{k! \, (n - k)!}",
        {"d": 35, "n": 7, "k": 3}),
    Row("a decimal on a side of its own: rounded to the digits that it shows",
        r"a b c = 2.18", {"a": a, "b": b, "c": c}),
    Row("double factorials", r"d = n!! + a", {"d": 105 + a, "n": 7, "a": a}),
    Row("modulus of a number, length of a vector, determinant of a matrix",
        r"d = |a - c| \, |\mathbf x| \, |A|",
        {"d": abs(a - c) * np.linalg.norm(x) * np.linalg.det(A), "a": a, "c": c,
         r"\mathbf x": x, "A": A}),
    Row("norms", r"d = \|\mathbf x\| + \|\mathbf x\|_1 + \|\mathbf x\|_\infty + \|A\|_F",
        {"d": np.linalg.norm(x) + np.sum(x) + np.max(x) + np.linalg.norm(A), r"\mathbf x": x,
         "A": A}),
    Row("the whole number below, and the one above",
        r"d = \lfloor a c^5 \rfloor + \left\lceil \frac{c^7}{b} \right\rceil",
        {"d": math.floor(a * c**5) + math.ceil(c**7 / b), "a": a, "b": b, "c": c}),
    Row("inner products", r"d = \langle \mathbf x, \mathbf y \rangle",
        {"d": x @ y, r"\mathbf x": x, r"\mathbf y": y}),
    Row("block matrices", r"K = \begin{bmatrix} A & \mathbf x \\ \mathbf x^\top & c \end{bmatrix}",
        {"K": np.block([[A, x[:, None]], [x[None], np.array([[c]])]]), "A": A, r"\mathbf x": x,
         "c": c}),
    Row("their determinants", r"d = \begin{vmatrix} a & b \\ c & 2 \end{vmatrix}",
        {"d": 2 * a - b * c, "a": a, "b": b, "c": c}),
    Row("cases", r"d = \sum_{i=1}^N \begin{cases} a u_i & \text{if } u_i > b \\ "
        r"c & \text{otherwise} \end{cases}",
        {"d": np.sum(np.where(u > b, a * u, c)), "u": u, "a": a, "b": b, "c": c, "N": 7}),
    Row("one where a condition holds, zero elsewhere",
        r"d = \sum_{i=1}^N u_i \mathbb 1[u_i > b]",
        {"d": np.sum(u[u > b]), "u": u, "b": b, "N": 7}),
    Row("entries: the first is number one", r"d = x_1 + A_{2,3} - [A B]_{1,2}",
        {"d": x[0] + A[1, 2] - (A @ B)[0, 1], "x": x, "A": A, "B": B}),
    Row("an identity by its size", r"C = A + a I_{n \times n}",
        {"C": A + a * np.eye(3), "A": A, "a": a, "n": 3}),
    Row("what differs, and no more is said", r"a \ne b", {"a": a, "b": b}),
    Row("entries of what has a mark", r"d = x^+_1 + x^*_2", {"d": x[0] + y[1], "x^+": x, "x^*": y}),
)  # fmt: skip

FUNCTIONS = (
    Row("a word takes what stands side by side, or the brackets", r"d = \log 2 a + \log(2) a",
        {"d": math.log(2 * a) + math.log(2) * a, "a": a}),
    Row("powers of a function, and bases", r"d = \cos^2(a) + \log_2 c + \sin(b)^3",
        {"d": math.cos(a) ** 2 + math.log2(c) + math.sin(b) ** 3, "a": a, "b": b, "c": c}),
    Row("a function by its written form, and with a value for a variable",
        r"d = p(a) \, p(b \mid a) + p(b = 2 \mid a)",
        {"d": math.exp(-a) * math.sin(a - b) + math.sin(a - 2), "a": a, "b": b,
         "p(a)": lambda a: math.exp(-a), r"p(b \mid a)": lambda b, a: math.sin(a - b)}),
    Row("what is done, and not seen", r"d = p(b \mid \operatorname{do}(a)) + c",
        {"d": math.sin(a - b) + c, "a": a, "b": b, "c": c,
         r"p(b \mid \operatorname{do}(a))": lambda b, a: math.sin(a - b)}),
    Row("a word of one's own", r"d = a \mathop{i^n \mathrm{erfc}}(a)",
        {"d": a * math.erfc(a), "a": a, r"\mathop{i^n \mathrm{erfc}}": math.erfc}),
    Row("of a matrix", r"d = \log \det A + \operatorname{tr}(A B)",
        {"d": math.log(np.linalg.det(A)) + np.trace(A @ B), "A": A, "B": B}),
    Row("transposed and inverted",
        r"C = \operatorname{diag}(\mathbf x)^{-1} A + \operatorname{diag}(\mathbf x)^{-\top} B "
        r"+ \mathbf x \operatorname{diag}(A)^\top B",
        {"C": A / x[:, None] + B / x[:, None] + np.outer(x, np.diag(A)) @ B, r"\mathbf x": x,
         "A": A, "B": B}),
    Row("bound functions", r"d = g(a, b) + h(c)^2",
        {"d": a / b + math.sin(c) ** 2, "g": lambda u, v: u / v, "h": math.sin, "a": a, "b": b,
         "c": c}),
    Row("functions with names", r"d = \text{softplus}(a) + \operatorname{relu}(b)",
        {"d": math.log1p(math.exp(a)) + b, r"\text{softplus}": lambda u: math.log1p(math.exp(u)),
         r"\operatorname{relu}": lambda u: max(u, 0.0), "a": a, "b": b}),
    Row("braces around what happens", r"d = P\{a = 2 \mid b\}",
        {"d": math.sin(2 - b), "b": b, r"P(a \mid b)": lambda a, b: math.sin(a - b)}),
    Row("bars and semicolons between arguments", r"d = g(a \mid b; c)",
        {"d": a / b + c, "g": lambda u, v, w: u / v + w, "a": a, "b": b, "c": c}),
)  # fmt: skip

SUMS = (
    Row("from one number to another", r"d = \sum_{i=1}^N x_i^2 + \prod_{i=2}^N x_i",
        {"d": x @ x + x[1] * x[2], "x": x, "N": 3}),
    Row("over a set", r"d = \sum_{i \in S} x_i + \sum_{i \in \{1, 3\}} y_i",
        {"d": x[0] + x[1] + y[0] + y[2], "x": x, "y": y, "S": {1, 2}}),
    Row("dots, where the terms around them determine the others",
        r"d = x_1 y_1 + x_2 y_2 + \dots + x_N y_N", {"d": x @ y, "x": x, "y": y, "N": 3}),
    Row("dots at the end: without end", r"d = b - \frac{b^3}{3!} + \frac{b^5}{5!} - \cdots",
        {"d": math.sin(b), "b": b}),
    Row("dots in a product", r"d = a (a + 1) (a + 2) \cdots (a + n - 1)",
        {"d": a * (a + 1) * (a + 2) * (a + 3) * (a + 4), "a": a, "n": 5}),
    Row("dots in a continued fraction, from three levels on",
        r"d = a + \cfrac{b}{a + \cfrac{b}{a + \cfrac{b}{a + \cdots}}}",
        {"d": (a + math.sqrt(a**2 + 4 * b)) / 2, "a": a, "b": b}),
    Row("several variables", r"d = \sum_{i, j = 1}^N A_{ij} x_i y_j",
        {"d": x @ A @ y, "A": A, "x": x, "y": y, "N": 3}),
    Row("but one", r"d = \sum_{i = 1, i \ne 2}^N x_i y_i",
        {"d": x[[0, 2]] @ y[[0, 2]], "x": x, "y": y, "N": 3}),
    Row("ordered variables", r"d = \sum_{1 \le i < j \le N} A_{ij} x_j",
        {"d": _sum(A[0, 1] * x[1], A[0, 2] * x[2], A[1, 2] * x[2]), "A": A, "x": x, "N": 3}),
    Row("an end that is a variable", r"d = \sum_{i=1}^N \sum_{j < i} A_{ij} x_j",
        {"d": _sum(A[1, 0] * x[0], A[2, 0] * x[0], A[2, 1] * x[1]), "A": A, "x": x, "N": 3}),
    Row("the smallest and the largest", r"d = \max_{i \in S} x_i - \min_{i=1}^N y_i",
        {"d": max(x[:2]) - min(y), "x": x, "y": y, "S": {1, 2}, "N": 3}),
    Row("as far as there are entries", r"d = \sum_{i, j} A_{ij} x_j + \sup_i y_i",
        {"d": np.sum(A @ x) + max(y), "A": A, "x": x, "y": y}),
    Row("the largest of a set", r"d = \max S - c", {"d": 3 - c, "S": {1, 2, 3}, "c": c}),
    Row("over one of a family of sets, and how many it has",
        r"d = \sum_{m=1}^M \frac{1}{|S_m|} \sum_{i \in S_m} x_i",
        {"d": x[1] + (x[0] + x[2]) / 2, "x": x, "S": [{2}, {1, 3}], "M": 2}),
    Row("data beside a query", r"d = \sum_{i=1}^N x_i x",
        {"d": np.sum(x) * a, "x_i": x, "x": a, "N": 3}),
    Row("an index in brackets above, which comes first", r"d = \sum_{i=1}^N w^{(i)} A_2^{(i)}",
        {"d": x @ A[:, 1], "w": x, "A": A, "N": 3}),
    Row("without end, until the terms no longer add anything",
        r"d = \sum_{k=0}^\infty b^k c", {"d": c / (1 - b), "b": b, "c": c}),
    Row("two products side by side", r"d = \prod_{i=1}^N x_i \prod_{i=2}^N y_i",
        {"d": np.prod(x) * np.prod(y[1:]), "x": x, "y": y, "N": 3}),
    Row("where it is", r"k = \operatorname*{arg\,max}_{i=1}^N x_i",
        {"k": int(np.argmax(x)) + 1, "x": x, "N": 3}),
)  # fmt: skip

_POINTS, _WEIGHTS = np.polynomial.legendre.leggauss(40)
_UNIT = Nodes((_POINTS + 1) / 2, _WEIGHTS / 2)
_GIVEN = Distribution(lambda t: Nodes([1.0, 4.0], [t**2, 1 - t**2]),
                      lambda v, t: t**2 if v == 1 else 1 - t**2)  # fmt: skip
_CUBE = {"f": lambda u: math.sin(u), "a": a, "c": c}

CALCULUS = (
    Row("integrals over bound nodes", r"d = \int_0^1 e^{-a x} \,\mathrm d x",
        {"d": -math.expm1(-a) / a, "a": a, "x": _UNIT}),
    Row("the differential in a fraction", r"d = \int_0^1 \frac{x \,\mathrm d x}{1 + x}",
        {"d": 1 - math.log(2), "x": _UNIT}),
    Row("derivatives",
        r"d = \frac{\partial}{\partial a} a^3 c + \frac{\partial f(a c)}{\partial a}",
        {"d": 3 * a**2 * c + c * math.cos(a * c), **_CUBE}),
    Row("indefinite integrals: both sides are differentiated",
        r"\int a x \cos x \,\mathrm d x = a x \sin x + a \cos x + C", {"a": a, "x": b},
        {"rtol": 1e-6}),
    Row("limits",
        r"d = \lim_{u \to 0} \frac{e^{a u} - 1}{u} + \lim_{n \to \infty} (1 + \frac{b}{n})^n",
        {"d": a + math.exp(b), "a": a, "b": b}, {"rtol": 1e-6}),
    Row("limits from one side", r"d = \lim_{u \to 0^-} c^{|u| / u} + a",
        {"d": 1 / c + a, "a": a, "c": c}, {"rtol": 1e-6}),
    Row("second derivatives", r"d = \frac{\partial^2 f(a c)}{\partial a \, \partial c}",
        {"d": math.cos(a * c) - a * c * math.sin(a * c), **_CUBE}, {"rtol": 1e-6}),
    Row("derivatives at a point", r"d = \frac{\partial f}{\partial v}(c) "
        r"+ \left. \frac{\partial}{\partial v} v^3 \right|_{v = a}",
        {"d": math.cos(c) + 3 * a**2, **_CUBE}),
    Row("derivatives by primes", r"d = f'(a c) + f''(c) + f^{(n)}(a)",
        {"d": math.cos(a * c) - math.sin(c) - math.cos(a), "n": 3, **_CUBE}, {"rtol": 1e-6}),
    Row("gradients", r"\mathbf z = \nabla_{\mathbf x} (\mathbf x^\top A \mathbf x) "
        r"+ \nabla_{\mathbf x} g(\mathbf x) + \nabla_{\mathbf x} g",
        {r"\mathbf z": (A + A.T) @ x + 2 * np.cos(x),
         r"\mathbf x": x, "A": A, "g": lambda u: float(np.sum(np.sin(u)))}),
    Row("gradients of norms and of their squares", r"\mathbf z = \nabla_{\mathbf x} \|\mathbf x\|"
        r" + \nabla_{\mathbf x} \|A \mathbf x\|^2",
        {r"\mathbf z": x / np.linalg.norm(x) + 2 * A.T @ A @ x, r"\mathbf x": x, "A": A}),
    Row("Hessians", r"C = \nabla_{\mathbf x}^2 g(\mathbf x)"
        r" + \frac{\partial^2 g(\mathbf x)}{\partial \mathbf x \, \partial \mathbf x^\top}",
        {"C": -2 * np.diag(np.sin(x)), r"\mathbf x": x,
         "g": lambda u: float(np.sum(np.sin(u)))}, {"rtol": 1e-6}),
    Row("gradients by the argument of a call", r"\mathbf z = \nabla g(\mathbf x)",
        {r"\mathbf z": np.cos(x), r"\mathbf x": x, "g": lambda u: float(np.sum(np.sin(u)))}),
    Row("gradients of averages, and behind a factor",
        r"\nabla_t \mathbb E_{p(v \mid t)}[f(v)]"
        r" = \mathbb E_{p(v \mid t)}[f(v) \nabla_t \log p(v \mid t)]",
        {"f": lambda v: math.sin(v), r"p(v \mid t)": _GIVEN, "t": b}),
    Row("gradients of functions and of sums", r"\mathbf z = \nabla_{\mathbf x} \log(g(\mathbf x)) "
        r"+ \nabla_{\mathbf x} \sum_{i=1}^N \mathbf x_i^2",
        {r"\mathbf z": np.cos(x) / np.sum(np.sin(x)) + 2 * x, r"\mathbf x": x, "N": 3,
         "g": lambda u: float(np.sum(np.sin(u)))}),
)  # fmt: skip

_COMMANDS = {"R": r"\mathbb R", "vec": [r"\mathbf{#1}", 1]}

MACROS = (
    Row(r"commands of the book, here \R and \vec, put in place first",
        r"\vec{y} = A \vec{x} \quad \forall A \in \R^{n \times n}",
        {r"\mathbf y": A @ x, "A": A, r"\mathbf x": x, "n": 3}, {"macros": _COMMANDS}),
)  # fmt: skip

CONSTRUCTS = {
    "Statements and conditions": STATEMENTS,
    "Arithmetic": ARITHMETIC,
    "Functions": FUNCTIONS,
    "Sums, products and extremes": SUMS,
    "Integrals and derivatives": CALCULUS,
    "Macros": MACROS,
}
