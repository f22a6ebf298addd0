"""Notation that printed pages use: read as everyone reads it, or refused with the reason."""

from __future__ import annotations

import math

import numpy as np
import pytest
from problems import says

from checked_equations import check_equation
from checked_equations.check.bindings import names_in
from checked_equations.errors import EquationError
from checked_equations.evaluate.evaluator import Evaluator
from checked_equations.evaluate.values import Nodes, kind
from checked_equations.latex import tree as t
from checked_equations.latex.names import normal
from checked_equations.latex.parser import parse, parse_expression, parse_free
from checked_equations.latex.printer import to_latex

rng = np.random.default_rng(39)
_POINTS, _WEIGHTS = np.polynomial.legendre.leggauss(30)
BOUND = {
    "A": rng.normal(size=(3, 3)), "x": rng.normal(size=3), "a": 0.6, "n": 7, "m": 2,
    "z": rng.normal(size=4), "z^+": rng.normal(size=3), "A_2": rng.normal(size=(3, 3)),
    "s": Nodes((_POINTS + 1) / 2, _WEIGHTS / 2),
    r"p(a \mid \operatorname{do}(n))": lambda y, x: y / x,
}  # fmt: skip


def read(latex, bound=BOUND):
    return parse_expression(latex, {normal(key): kind(value) for key, value in bound.items()})


def value(latex, bound=BOUND):
    return Evaluator(bound, latex).value(read(latex, bound))


def problem(latex, bound=BOUND):
    with pytest.raises(EquationError) as caught:
        value(latex, bound)
    return caught.value.problem


@pytest.mark.parametrize(
    ("latex", "wanted"),
    [
        ("-.5 a", -0.3),
        ("a - .25", 0.35),
        (r"10\,000 a", 6000.0),
        (r"12\,345\,678", 12345678.0),
        (r"1.77245\;38509\;05", 1.772453850905),
        (r"1.234~567", 1.234567),
        ("n!!", 105.0),
        ("(n - 1)!!", 48.0),
        (r"\cos(a)^2", math.cos(0.6) ** 2),
        (r"\sin (a)^2 + \tanh(a)^3", math.sin(0.6) ** 2 + math.tanh(0.6) ** 3),
        (r"\ln e", 1.0),
        (r"\log(e a)", 1 + math.log(0.6)),
        (r"\sum_{i=-3}^{-1} a^i", sum(0.6**i for i in (-3, -2, -1))),
        (r"\int_0^1 \frac{\mathrm d s}{1 + s}", math.log(2)),
        (r"a \int_0^1 \frac{s^2 \,\mathrm d s}{1 + s}", 0.6 * (math.log(2) - 0.5)),
        (r"p(a \mid \operatorname{do}(n))", 0.6 / 7),
        ("z^+_m", BOUND["z^+"][1]),
        ("z_1^+", BOUND["z^+"][0]),
        ("z_m^2", BOUND["z"][1] ** 2),
    ],
)
def test_it_is_read(latex, wanted):
    assert value(latex) == pytest.approx(wanted)


@pytest.mark.parametrize(
    ("latex", "wanted"),
    [
        ("(A x - x)'", r"(A x - x)^\top"),
        ("A' A", r"A^\top A"),
        ("x' A x", r"x^\top A x"),
        ("A_2' A", r"A_2^\top A"),
        ("x_m' A", r"(x_m)^\top A"),
        (r"\begin{bmatrix} a & n \end{bmatrix}'", r"\begin{bmatrix} a & n \end{bmatrix}^\top"),
    ],
)
def test_a_prime_that_is_in_no_name_is_a_transpose(latex, wanted):
    assert read(latex) == read(wanted)


@pytest.mark.parametrize(
    ("latex", "said"),
    [
        ("a x'", "unbound symbol `x'`"),
        ("A''", "unbound symbol `A''`"),
        ("(A)''", "a prime belongs to a bound name"),
        ("1.23 45", "two numbers side by side"),
        ("2 3", "two numbers side by side"),
        (r"2 \, 30", "two numbers side by side"),
        ("n.5", "`.` cannot stand here"),
        (r"\log(a)^2", "does the power belong to log"),
        (r"\cos(a)^{-1}", "does the power belong to cos"),
        ("n!!!", "ambiguous: the factorial of a factorial"),
        (r"\|A\|", "ambiguous: which norm of a matrix?"),
        (r"\mathop{n^a \mathrm{erfc}}(a)", "unbound symbol"),
        ("a + e", "unbound symbol `e`"),
        (r"\ln e_1", "unbound symbol `e_1`"),
        (r"p(a \mid n)", "unbound symbol"),
        ("z^-_m", "unbound symbol"),
        (r"\int_{^-}^{c} s \,\mathrm d s", "unbound symbol `^-`"),
    ],
)
def test_it_is_refused(latex, said):
    assert said in problem(latex)


def test_names_with_primes_keep_their_primes():
    bound = {**BOUND, "x'": rng.normal(size=3)}
    assert "unbound symbol `A'`" in problem("A' A", bound)
    assert value("x' + x", bound) == pytest.approx((bound["x'"] + bound["x"])[:, None])


@pytest.mark.parametrize("latex", [r"\sum_{t=1}^T a_t", r"\int_0^T f(s) \,\mathrm d s"])
def test_an_upper_limit_is_no_transpose(latex):
    (step,) = parse_free(f"d = {latex}").steps
    over = step.right.over if isinstance(step.right, t.Reduction) else step.right
    assert over.last == t.Name("T")


@pytest.mark.parametrize("latex", ["n!!", r"p(a|\operatorname{do}(n))", r"\|x\|_1", r"\|x\|"])
def test_it_is_printed_so_that_it_reads_back(latex):
    node = read(latex)
    assert read(to_latex(node)) == node


@pytest.mark.parametrize(
    ("latex", "wanted"),
    [
        (r"\sec a \csc a", 1 / (math.cos(0.6) * math.sin(0.6))),
        (r"\operatorname{arsinh}(a) \operatorname{sech} a", math.asinh(0.6) / math.cosh(0.6)),
        (r"\sin^{-1} a + \tanh^{-1}(a)", math.asin(0.6) + math.atanh(0.6)),
        (r"\cot^{-1} n", math.atan(1 / 7)),
        (r"\operatorname{arccot}(-n)", -math.atan(1 / 7)),
    ],
)  # fmt: skip
def test_words_of_functions(latex, wanted):
    assert value(latex) == pytest.approx(wanted)


@pytest.mark.parametrize("latex", [r"\sin^{-1} a = \frac{1}{\sin a}", r"\coth a = \tanh a"])
def test_a_false_statement_with_a_word_is_caught(latex):
    with pytest.raises(EquationError, check=says("does not hold")):
        check_equation(latex, {"a": 0.6})


def test_complex_numbers_have_parts():
    bound = {"z": 1.2 - 0.5j, "a": 0.6}
    assert value(r"\Re z \, \Im z", bound) == pytest.approx(-0.6)
    assert value(r"\operatorname{ph} z - \arg(z)", bound) == pytest.approx(0.0)
    assert value(r"\Im a", bound) == 0.0


def test_a_pole_has_no_value():
    assert "cot has a pole here" in problem(r"\cot(a - a)")


SIGNS = {"a": 0.6, "b": 1.7, "x_+": 2.3, "x_-": -1.1, "f": math.sin, "n": 3, "k": 2, "m": 7}


@pytest.mark.parametrize(
    "latex",
    [
        r"\cos(a \pm b) = \cos a \cos b \mp \sin a \sin b",
        r"x_\pm = a \pm b",
        r"(a \mp b)^2 = a^2 \mp 2 a b + b^2",
        r"f'(a b) = \cos(a b)",
        r"f''(a) = -f(a)",
        r"\genfrac{(}{)}{0.0pt}{1}{m}{k} = \genfrac{}{}{}{}{m!}{k! \, (m - k)!}",
    ],
)
def test_a_true_statement_holds(latex):
    used = {k: v for k, v in SIGNS.items() if normal(k) in read_names(latex)}
    assert check_equation(latex, used, rtol=1e-6).mutants.caught > 0


def read_names(latex):
    names = {normal(key): kind(value) for key, value in SIGNS.items()}
    return names_in(parse(latex, names))


@pytest.mark.parametrize(
    "latex",
    [
        r"\cos(a \pm b) = \cos a \cos b \pm \sin a \sin b",
        r"x_\pm = a \mp b",
        r"(a \mp b)^2 = a^2 \mp a b + b^2",
        r"f'(a b) = b \cos(a b)",
        r"f^{(n)}(a) = f'(a)",
    ],
)
def test_a_false_statement_does_not_hold(latex):
    used = {k: v for k, v in SIGNS.items() if normal(k) in read_names(latex)}
    with pytest.raises(EquationError, check=says("does not hold")):
        check_equation(latex, used, rtol=1e-6)


def test_both_signs_are_two_statements():
    upper, lower = parse_free(r"x = y, \quad a \pm b = c").steps[1:]
    assert (upper.left.signs, lower.left.signs) == ((1, 1), (1, -1))
    assert len(parse_free(r"x \le y = c \mp 1").steps) == 3


def test_one_letter_has_no_two_values():
    with pytest.raises(EquationError, match="would have two values"):
        check_equation(r"a = b \pm n", SIGNS)


@pytest.mark.parametrize("latex", ["f''(a)", "f^{(n)}(a)", "f'(a b)"])
def test_primes_are_printed(latex):
    node = read(latex, SIGNS)
    assert isinstance(node, t.Primed)
    assert read(to_latex(node), SIGNS) == node


def test_an_entry_in_round_brackets_stays_one():
    assert value("(x)_m") == value("x_m")
    assert value("(A x + x)_m") == value("[A x + x]_m")


def test_primes_say_what_they_need():
    assert "by which of its arguments?" in problem("f'(a, b)", {**SIGNS})
    assert "from none to 4 primes" in problem("f^{(n + 3)}(a)", SIGNS)
    assert "of a number, not of one of (2,)" in problem("f'(x)", {**SIGNS, "x": np.ones(2)})


class TestWhatEveryoneSees:
    """Edits that leave a statement as it was for a reason on the page need no spare."""

    @pytest.mark.parametrize(
        ("latex", "d"),
        [
            ("d = (-b)^2 + a", 1.7**2 + 0.6),
            ("d = |-b| + a", 2.3),
            ("d = f(a) (a - 0)", 0.6 * math.sin(0.6)),
            ("d = (0 - a)^2 + b", 0.36 + 1.7),
            ("d = 0 a b + a + b", 2.3),
        ],
    )
    def test_they_are_indistinct(self, latex, d):
        used = {k: SIGNS[k] for k in ("a", "b", "f") if k in latex[2:]}
        mutants = check_equation(latex, {"d": d, **used}).mutants
        assert mutants.survived == 0 < mutants.indistinct

    def test_what_is_spared_by_name_stays_spared(self):
        spare = {"flip the sign of b": "even"}
        mutants = check_equation("d = (-b)^2", {"d": 1.7**2, "b": 1.7}, spare=spare).mutants
        assert mutants.spared == 1

    def test_a_function_said_of_itself(self):
        bound = {"v": lambda w: max(w**2, 3.0), "g": lambda w: w**2, "w": 1.7, "c": 3.0}
        assert check_equation(r"v(w) = \max\{g(w), c\}", bound).mutants.survived == 0

    @pytest.mark.parametrize("latex", ["d = (-b)^3", "d = -b + 0.1", "d = (c - b)^2"])
    def test_other_signs_are_told_apart(self, latex):
        value = {"d = (-b)^3": -(1.7**3), "d = -b + 0.1": -1.6}.get(latex, 0.49)
        bound = {"d": value, "b": 1.7, **({"c": 1.0} if "c" in latex else {})}
        assert check_equation(latex, bound).mutants.indistinct == 0


class TestTheVariableOfADerivative:
    BOUND = {"F": np.sin, "u": np.exp, "x": 0.3}  # noqa: RUF012 - never changed
    LATEX = r"\frac{d}{dx} F(u(x)) = \frac{dF}{d%s}(u(x)) \frac{du(x)}{dx}"

    def test_it_is_that_of_the_argument(self):
        assert check_equation(self.LATEX % "u", self.BOUND, rtol=1e-7).mutants.survived == 0

    @pytest.mark.parametrize("other", ["x", "q"])
    def test_another_is_refused(self, other):
        with pytest.raises(EquationError, match=f"`{other}` is no variable of `F` in this display"):
            check_equation(self.LATEX % other, self.BOUND, rtol=1e-7)


@pytest.mark.parametrize("bound", [{"j": 1}, {}])
def test_an_index_that_does_not_run(bound):
    latex = r"\nu_1 = \sum_{j=1}^J f_{ij}"
    said = "`i` neither runs here nor is bound; did the sum over `j` mean `i`?"
    with pytest.raises(EquationError, match=said.replace("?", "\\?")):
        check_equation(latex, {r"\nu": np.ones(3), "f": np.eye(3), "J": 3, **bound})


def test_what_differs():
    bound = {"p": 4, "m": 3, "n": 5}
    assert check_equation(r"p \ne \min(m, n)", bound).mutants.caught == 1
    with pytest.raises(EquationError, check=says("does not hold: both sides are equal")):
        check_equation(r"p \neq \min(m, n)", {**bound, "p": 3})


class TestIdentities:
    def test_a_written_size_is_enough(self):
        assert value(r"A + I_{m \times m}", {"A": np.zeros((2, 2)), "m": 2}).trace() == 2
        assert value(r"I_m", {"m": 2}).shape == (2, 2)

    def test_a_bound_identity_is_taken(self):
        assert value("I", {"I": np.eye(4)}).shape == (4, 4)

    @pytest.mark.parametrize("latex", [r"I_{m \times n}", r"I_{m \times}", "I_k"])
    def test_any_other_is_unbound(self, latex):
        assert "unbound symbol" in problem(latex, {"m": 2, "n": 2}) or "I_k" in latex


def test_data_beside_a_query():
    X, x = rng.normal(size=(4, 3)), rng.normal(size=3)
    bound = {"x": x, "x_i": X, "N": 4, "d": (X @ x).sum()}
    assert check_equation(r"d = \sum_{i=1}^N x_i^\top x", bound).mutants.survived == 0
    assert check_equation(r"d = \sum_{j=1}^N x_j^\top x", bound).mutants.survived == 0
    with pytest.raises(EquationError, check=says("does not hold")):
        check_equation(r"d = \sum_{i=1}^N x_i^\top x_i + 0 x^\top x", bound)


def test_a_function_without_a_value_is_named():
    with pytest.raises(EquationError, match="the value of `f` is not a number"):
        check_equation("d = f(a)", {"d": 1.0, "f": lambda a: math.nan, "a": 1.0})


def test_an_inequality_is_drawn_again_while_a_mutant_survives():
    def draw(stream):
        return {"a": stream.uniform(0.5, 2), "b": stream.uniform(0.5, 2)}

    record = check_equation(r"\frac{a + b}{2} \ge \sqrt{a b}", draw, tight={"a": 2.0, "b": 2.0})
    assert record.draws > 3
    assert record.mutants.survived == 0
    with pytest.raises(EquationError, match="mutants survive"):  # whatever is drawn
        check_equation(r"a + b \ge b", draw, tight="never: a is positive")


def test_a_mark_is_no_index_of_data():
    bound = {"x": rng.normal(size=(4, 3)), "x_*": rng.normal(size=3), "d": 0.0}
    bound["d"] = (bound["x"] @ bound["x_*"]).sum()
    assert check_equation(r"d = \sum_{i=1}^4 x_i^\top x_*", bound).mutants.survived == 0


class TestRangesBehindAComma:
    BOUND = {"y": 2 * np.arange(1.0, 4), "x": np.arange(1.0, 4), "n": 3}  # noqa: RUF012

    @pytest.mark.parametrize(
        "said",
        [
            r", \quad i = 1, \dots, n",
            r" \qquad i = 1, 2, \ldots, n.",
            r", \; i = 1, 2, 3",
            r", \qquad i \in \{1, 2\}",
            r", \quad i \in \mathbb N",
            r", \quad i = 0, 1, 2, \ldots",
        ],
    )
    def test_it_is_a_condition(self, said):
        bound = {**self.BOUND, "i": 2}
        if "n" not in said.replace(r"\in", ""):
            del bound["n"]
        assert len(check_equation("y_i = 2 x_i" + said, bound).steps) == 1

    @pytest.mark.parametrize("said", [r", \quad i = 1, 2", r", \quad i = 5, 6, \dots"])
    def test_it_must_be_met(self, said):
        bound = {**self.BOUND, "i": 3}
        del bound["n"]
        with pytest.raises(EquationError, match="do not meet this condition"):
            check_equation("y_i = 2 x_i" + said, bound)

    def test_one_number_is_a_statement(self):
        assert len(check_equation(r"a = 2 b, \quad b = 0.7", {"a": 1.4, "b": 0.7}).steps) == 2


def test_a_gradient_by_the_argument():
    x, f = rng.normal(size=3), lambda u: float(np.sum(np.sin(u)))
    bound = {"y": np.cos(x), "x": x, "f": f}
    assert check_equation(r"y = \nabla f(x)", bound).mutants.survived == 0
    with pytest.raises(EquationError, check=says("does not hold")):
        check_equation(r"y = \nabla^2 f(x) x", bound, rtol=1e-6)
    with pytest.raises(EquationError, match="write the variable"):
        check_equation(r"y = \nabla f", {"y": 1.0, "f": f})


def test_brackets_across_groups_are_refused():
    assert "opens in one group and closes in another" in problem(r"\mathbb E_{s(x, \mathbb)}[x]")


class TestPrintedDecimals:
    """A decimal that is a side of its own was rounded to the digits that it shows."""

    @pytest.mark.parametrize("printed", ["0.36", "0.364", "0.36432", ".364"])
    def test_one_that_is_rounded_holds(self, printed):
        record = check_equation(f"p q = {printed}", {"p": 0.72864, "q": 0.5})
        assert record.mutants.survived == 0
        assert (record.atol > 0) == (printed != "0.36432")

    @pytest.mark.parametrize("printed", ["0.37", "0.365", "0.46", "0.4", "1", "-0.36", "0.36 + 0"])
    def test_any_other_does_not(self, printed):
        with pytest.raises(EquationError, check=says("does not hold")):
            check_equation(f"p q = {printed}", {"p": 0.72864, "q": 0.5})

    def test_digits_that_change_places_are_seen(self):
        with pytest.raises(EquationError, check=says("does not hold")):
            check_equation("p = 4.6925", {"p": 4.9625})
