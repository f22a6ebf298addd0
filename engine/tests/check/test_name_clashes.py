"""Names with a second meaning: what a reader takes for a power, or for an entry that runs."""

import numpy as np
import pytest
from problems import says
from scipy.special import softmax

from checked_equations import Distribution, Estimate, Nodes, check_equation
from checked_equations.check.relations import Tolerance
from checked_equations.check.statements import bind_statement, check_steps
from checked_equations.errors import EquationError
from checked_equations.latex.equation import Equation


def test_a_name_and_its_square_agree(checked):
    bindings = {"a": 5.0, r"\sigma_n": 0.5, r"\sigma_n^2": 0.25}
    record = checked(r"a = \sigma_n^2 \cdot 10 \sigma_n \cdot 4", bindings)
    assert record.residual < 1e-15
    with pytest.raises(EquationError, match=r"`\\sigma_n\^2` is bound to other numbers"):
        checked(r"a = \sigma_n^2 \sigma_n^{-1}", {"a": 10.0, r"\sigma_n": 0.5, r"\sigma_n^2": 5.0})


@pytest.mark.parametrize("mark", ["^{-1}", r"^\top"])
def test_a_name_and_its_inverse_or_transpose_agree(checked, numbers, mark):
    A, B = numbers.normal(size=(2, 3, 3))
    with pytest.raises(EquationError, match="is bound to other numbers than it reads as"):
        checked(f"B = A (A{mark}) C", {"B": A @ B @ B, "C": B, "A": A, "A" + mark: B})


def test_an_entry_is_that_of_its_array(checked):
    bindings = {"a": 3.5, "x": [1.0, 2.5], "x_1": 1.0}
    assert checked("a = x_1 + x_2", bindings).residual == 0.0
    with pytest.raises(EquationError, match="`x_1` is bound to other numbers than it reads as"):
        checked("a = x_1 + x_2", {**bindings, "a": 5.5, "x_1": 3.0})


def test_other_marks_and_the_parts_of_a_whole_are_names_of_their_own(checked, numbers):
    one, two = numbers.normal(size=(2, 3, 3))
    record = checked("K = K_1 + K_2", {"K": one + two, "K_1": one, "K_2": two})
    assert record.residual < 1e-15
    record = checked(r"a = \sigma \sigma_1 x^* x", {"a": 12.0, r"\sigma": 2.0, r"\sigma_1": 3.0,
                                                    "x^*": 0.4, "x": 5.0})  # fmt: skip
    assert record.residual < 1e-15


@pytest.mark.parametrize(
    ("latex", "index"),
    [
        (r"s = \sum_{i=1}^3 x_i", "i"),
        (r"s = \sum_{j=1}^3 x_{ij}", "j"),
        (r"s = \prod_{n=1}^3 \sigma_n", "n"),
    ],
)
def test_a_symbol_that_stands_still_where_its_index_runs(checked, latex, index):
    key = {"i": "x_i", "j": "x_{ij}", "n": r"\sigma_n"}[index]
    with pytest.raises(EquationError, match=f"bound as one symbol, but `{index}` runs here"):
        checked(latex, {"s": 6.0, key: 2.0})


def test_a_word_in_a_subscript_is_no_index(checked):
    x = np.array([1.1, 2.3, 0.7])
    bindings = {"s": 2.0 * x.sum(), "x": x, r"\sigma_{\mathrm{in}}": 2.0, "N": 3}
    assert checked(r"s = \sum_{n=1}^N \sigma_{\mathrm{in}} x_n", bindings).residual < 1e-15


def test_an_estimate_may_have_such_a_name(checked):
    bindings = {"v_*": Estimate(2.61, 0.01, n=10_000), "m": 1.3}
    assert checked("v_* = 2 m", bindings).estimate.z < 1.1


THIRDS = Nodes([1.0, 2.0, 3.0], np.full(3, 1 / 3))
TILTED = Distribution(lambda t: Nodes([1.0, 2.0, 3.0], softmax([t, 2 * t, 3 * t])))
COST = {"c": lambda a, t: a * a * t, r"\theta": 0.4}
SCORE_LOST = (
    r"\nabla_\theta \left( \mathbb E_{%s}[c(a, \theta)] \right)"
    r" = \mathbb E_{%s}[\nabla_\theta c(a, \theta)]"
)


class TestDerivativesOfWhatAScriptSaysDepends:
    @pytest.mark.parametrize(
        ("latex", "bindings"),
        [
            (SCORE_LOST % ((r"\pi_\theta(a)",) * 2), {**COST, r"\pi_\theta(a)": THIRDS}),
            (SCORE_LOST.replace("a,", "w,") % ((r"q_{\theta, s}(w)",) * 2),
             {**COST, r"q_{\theta, s}(w)": THIRDS}),
            (r"\frac{\partial}{\partial s} (s^2 K_s) = 2 s K_s", {"s": 1.3, "K_s": np.eye(2) + 1}),
            (r"\frac{\partial}{\partial s} (s^2 f_s(2)) = 2 s f_s(2)", {"s": 1.3, "f_s": np.sin}),
        ],
    )  # fmt: skip
    def test_it_is_not_held_still(self, latex, bindings):
        with pytest.raises(EquationError, match="is held still in a derivative by"):
            check_equation(latex, bindings)

    def test_bound_with_its_dependence_the_lost_score_is_caught(self):
        form = r"\pi(a \mid \theta)"
        with pytest.raises(EquationError, check=says("does not hold")):
            check_equation(SCORE_LOST % (form, form), {**COST, form: TILTED})

    def test_a_label_is_no_dependence(self):
        latex = r"\nabla_f (f^\top K_{ff} f) = 2 K_{ff} f"
        symmetric = np.array([[1.2, 0.3], [0.3, 0.7]])
        record = check_equation(latex, {"f": [0.4, 1.9], "K_{ff}": symmetric})
        assert record.mutants.survived == 0


NODES = Nodes([1.0, 2.5], [0.4, 0.6])


def steps(latex, drawn, *more):
    bound = bind_statement(latex, (drawn, *more), Tolerance())
    return check_steps(bound, Equation("eq-a", latex, 1))


def refused(latex, drawn, *more):
    with pytest.raises(EquationError) as error:
        steps(latex, drawn, *more)
    return error.value.problem


CLASHES = [
    (r"a = \mathbb E_s[s] + \int_0^2 s \,\mathrm d s", {"a": 1.0, "s": NODES},
     "`s` stands under an average and under an integral"),
    (r"a = \mathbb E_{q(x)}[x] + \mathbb E_{q(y_1)}[y_1]", {"a": 1.0, "q": Distribution(NODES)},
     "`q` is the distribution of `x` and of `y`: bind `q(x)` and `q(y)`"),
    (r"a = p(b, c) + p(b \mid c)", {"a": 1.0, "b": 1.0, "c": 2.0, "p": lambda x, y: x},
     r"`p` has two meanings: with `,` between its arguments, and with `|`: bind each"),
    (r"a = b \text{ for } n = 1, 3, \dots", {"a": 1.0, "b": 1.0, "n": 1},
     "dots go on with whole numbers one after another: 1, 2"),
    (r"a = b \text{ for } x > y", {"a": 1.0, "b": 1.0, "x": [1.0, 2.0], "y": [1.0, 2.0, 3.0]},
     "the left side has shape (2, 1), the right side (3, 1)"),
]  # fmt: skip


@pytest.mark.parametrize(("latex", "drawn", "said"), CLASHES)
def test_names_and_conditions_that_do_not_fit(latex, drawn, said):
    assert said in refused(latex, drawn)


@pytest.mark.parametrize("pair", [("x_1", "x_2"), ("x", "x'")])
def test_scripts_and_primes_make_no_other_variable(pair):
    means = [rf"\mathbb E_{{q({x})}}[{x}]" for x in pair]
    drawn = {"a": 3.8, "q": Distribution(NODES)}
    assert steps(f"a = {means[0]} + {means[1]}", drawn)[0].residual < 1e-15


@pytest.mark.parametrize(
    ("condition", "values"),
    [
        (r"n = 1, 2, \dots", {1: True, 5: True, 0: False, 1.5: False}),
        (r"n = 1, 2, \dots, 4", {1: True, 4: True, 5: False, 2.5: False}),
        (r"n \in \{2, 5\}", {2: True, 5: True, 3: False}),
        (r"n \in \mathbb N", {1: True, 3: True, 0: False, 0.5: False, -1: False}),
        (r"n \in \mathbb Z", {0: True, -3: True, 0.5: False}),
        (r"n \in \mathbb R_+", {0.5: True, 0: False, -1: False}),
        (r"n \ne 2", {1: True, 2: False}),
        (r"n \ge 2", {2: True, 3: True, 1: False}),
        ("n > 2", {3: True, 2: False}),
    ],
)
def test_what_meets_a_condition(condition, values):
    for value, met in values.items():
        drawn = {"a": 2.0, "b": 1.0, "n": value}
        latex = rf"a = 2 b \text{{ for }} {condition}"
        if met:
            assert len(steps(latex, drawn)) == 1
        else:
            assert "the numbers of draw 1 do not meet this condition" in refused(latex, drawn)


def test_the_draw_that_does_not_meet_a_condition_is_named():
    good = {"a": 2.0, "b": 1.0, "n": 1}
    latex = r"a = 2 b \text{ for } n > 0"
    assert "the numbers of draw 2 do not" in refused(latex, good, {**good, "n": -1})


def test_a_member_has_the_shape_of_its_space():
    latex = r"a = 2 b \text{ for } x \in \mathbb R^{%s}"
    drawn = {"a": 2.0, "b": 1.0, "n": 2, "x": [1.0, 2.0], "m": 3}
    assert len(steps(latex % "n", drawn)) == 1
    assert "do not meet" in refused(latex % "m", drawn)
    matrix = {**drawn, "x": np.ones((2, 3))}
    assert len(steps(latex % r"n \times m", matrix)) == 1
    assert "do not meet" in refused(latex % r"m \times n", matrix)
    assert "do not meet" in refused(latex % "n", matrix)


@pytest.mark.parametrize(
    ("where", "value", "met"),
    [
        (r"\mathbb R", 1.5, True),
        (r"\mathbb R^1", 1.5, True),
        (r"\mathbb R^{1 \times 1}", 1.5, True),
        (r"\mathbb R^{1 \times n}", [[1.0, 2.0]], True),
        (r"\mathbb R^{n \times 1}", [1.0, 2.0], True),
        (r"\mathbb R^{1 \times n}", [1.0, 2.0], False),
        (r"\mathbb R^{1 \times n}", 1.5, False),
        (r"\mathbb R^n", 1.5, False),
        (r"\mathbb R^1", [1.0, 2.0], False),
        (r"\mathbb R^2", [[1.0, 2.0]], False),
    ],
)
def test_one_number_is_a_vector_of_one_and_a_matrix_of_one(where, value, met):
    latex = rf"a = 2 b \text{{ for }} x \in {where}"
    drawn = {"a": 2.0, "b": 1.0, "x": value} | ({"n": 2} if "n" in where else {})
    if met:
        assert len(steps(latex, drawn)) == 1
    else:
        assert "the numbers of draw 1 do not meet this condition" in refused(latex, drawn)


@pytest.mark.parametrize(
    ("latex", "clash"),
    [
        (r"s = \sum_{i=1}^3 (x_i)_i", False),
        (r"s = \sum_{k=1}^3 (x_i)_k", False),
        (r"s = \sum_{i=1}^3 (x_i)_2", True),
        (r"s = \sum_{i=1}^3 (x_i)_n", True),
        (r"s = \sum_{i=1}^3 \sum_{k=1}^3 (x_i)_k", True),
    ],
)
def test_the_entries_of_what_has_an_index_in_its_name_run(latex, clash):
    drawn = {"s": 6.0, "x_i": [1.0, 2.0, 3.0]} | ({"n": 2} if "n" in latex else {})
    if clash:
        assert "`x_i` is bound as one symbol, but `i` runs here" in refused(latex, drawn)
    else:
        assert len(steps(latex, drawn)) == 1


class TestNamesWithScripts:
    @pytest.mark.parametrize(
        ("name", "value", "clash"),
        [
            ("b^2", 4.0, False),
            ("b^2", 4.1, True),
            ("b^2", 4.0 + 3e-8, False),
            ("b^2", 4.0 + 5e-8, True),
            ("x_2", 3.0, False),
            ("x_2", 3.5, True),
            ("b_1", 7.0, False),
            ("x_3", 7.0, False),
        ],
    )
    def test_it_agrees_with_its_base(self, name, value, clash):
        drawn = {"a": value + 2.0 + 4.0, "b": 2.0, "x": [1.0, 3.0], name: value}
        latex = rf"a = {name} + b + x^\top x - 6"
        drawn["a"] = value + 2.0 + 10.0 - 6.0
        if clash:
            assert "is bound to other numbers than it reads as" in refused(latex, drawn)
        else:
            assert len(steps(latex, drawn)) == 1
