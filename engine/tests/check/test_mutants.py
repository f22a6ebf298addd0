"""Every class of mutant is made, and caught where the numbers are generic."""

import numpy as np
import pytest

from checked_equations import Distribution, EquationError, Estimate, Nodes
from checked_equations.check.bindings import normalised, swap_groups
from checked_equations.check.mutants import _called_by_itself, all_mutants
from checked_equations.evaluate.values import kind
from checked_equations.latex import tree as t
from checked_equations.latex.parser import parse
from checked_equations.latex.printer import to_latex

A, B = np.random.default_rng(1).normal(size=(2, 4, 4))
S = A @ A.T + np.eye(4)
x, y = np.random.default_rng(2).normal(size=(2, 4))
inv, det = np.linalg.inv, np.linalg.det


def kernel(u, v):
    return np.exp(-((np.squeeze(u) - 0.3 * np.squeeze(v)) ** 2))


def smaller(stream):
    b, c = stream.normal(size=2)
    return {"a": min(b, c), "b": b, "c": c}


def chosen(stream):
    b, c, x = stream.normal(size=3)
    return {"a": b if x > 0 else c, "b": b, "c": c, "x": x}


CLASSES = [
    # the edit, the equation, what is bound
    ("flip the sign of b", "a = b + 2c", {"a": 8.1, "b": 1.1, "c": 3.5}),
    ("flip the sign of b", "a = -b", {"a": -1.1, "b": 1.1}),
    ("drop the term c", "a = b - c", {"a": -2.4, "b": 1.1, "c": 3.5}),
    ("drop the factor c", "a = bc", {"a": 3.85, "b": 1.1, "c": 3.5}),
    ("drop the factor one half", r"a = \frac12 b", {"a": 0.55, "b": 1.1}),
    ("drop the factor one half", r"a = \frac{1}{2} b c", {"a": 1.925, "b": 1.1, "c": 3.5}),
    ("drop the denominator 2", r"a = \frac{b}{2}", {"a": 0.55, "b": 1.1}),
    ("drop the denominator c", r"a = b / c", {"a": 1.1 / 3.5, "b": 1.1, "c": 3.5}),
    ("3 for 2", "a = 2b", {"a": 2.2, "b": 1.1}),
    ("2 for 1", "a = 1 - b", {"a": -0.1, "b": 1.1}),
    ("3 for 2", "a = b^2", {"a": 1.21, "b": 1.1}),
    ("drop the inverse of A", "X = A^{-1} B", {"X": inv(A) @ B, "A": A, "B": B}),
    ("drop the transpose of A", r"X = A^\top B", {"X": A.T @ B, "A": A, "B": B}),
    ("drop the square of b", "a = b^2", {"a": 1.21, "b": 1.1}),
    ("drop the power of b", r"a = b^3", {"a": 1.331, "b": 1.1}),
    ("drop the root of b", r"a = \sqrt{b}", {"a": 1.1, "b": 1.21}),
    ("drop log of b", r"a = \log b", {"a": np.log(1.7), "b": 1.7}),
    ("drop exp of b", r"a = \exp(b)", {"a": np.exp(1.7), "b": 1.7}),
    ("trace for determinant of A", r"a = \lvert A \rvert", {"a": det(A), "A": A}),
    ("trace for determinant of A", r"a = \det A", {"a": det(A), "A": A}),
    ("drop the bars of S", r"a = \log \lvert S \rvert", {"a": np.log(det(S)), "S": S}),
    ("determinant for trace of A", r"a = \operatorname{tr} A", {"a": np.trace(A), "A": A}),
    ("drop tr of A", r"a = \operatorname{tr} A", {"a": np.trace(A), "A": A}),
    ("drop diag of A", r"x = \operatorname{diag} A", {"x": np.diag(A), "A": A}),
    ("1-norm for 2-norm of x", r"a = \lVert x \rVert", {"a": np.linalg.norm(x), "x": x}),
    ("maximum for minimum of b, c", r"a = \min(b, c)", smaller),
    ("product for sum over i", r"a = \sum_{i=1}^{4} x_i", {"a": x.sum(), "x": x}),
    ("sum for product over i", r"a = \prod_{i=1}^{n} x_i", {"a": x.prod(), "x": x, "n": 4}),
    ("last i one more", r"a = \sum_{i=1}^{n} x_i", {"a": x.sum(), "x": x, "n": 4}),
    ("last i one less", r"a = \sum_{i=1}^{n} x_i", {"a": x.sum(), "x": x, "n": 4}),
    ("first i one more", r"a = \sum_{i=m}^{4} x_i", {"a": x[1:].sum(), "x": x, "m": 2}),
    ("first i one more", r"a = \sum_{i=1}^{n} x_i", {"a": x.sum(), "x": x, "n": 4}),
    ("y for x", r"a = x^\top S y", {"a": x @ S @ y, "x": x, "y": y, "S": S}),
    ("B for A", "X = A B", {"X": A @ B, "A": A, "B": B}),
    ("swap x and y", "a = k(x, y)", {"a": kernel(1.2, 3.4), "k": kernel, "x": 1.2, "y": 3.4}),
    (
        "g for f",
        "a = f(x)",
        {"a": np.sin(0.7), "f": np.sin, "x": 0.7, "g": np.cos},
    ),
    (
        "i for j in A_{ij}",
        r"a = \sum_{i=1}^{4} \sum_{j=1}^{4} x_i A_{ij}",
        {"a": x @ A @ np.ones(4), "x": x, "A": A},
    ),
    (
        "matrix product for the elementwise one",
        r"X = A \odot B",
        {"X": A * B, "A": A, "B": B},
    ),
    (
        "swap cases 1 and 2",
        r"a = \begin{cases} b & x > 0 \\ c & \text{otherwise} \end{cases}",
        chosen,
    ),
    (
        "the mean for the variance of x",
        r"a = \mathbb V_x[x]",
        {"a": 0.36, "x": Nodes(np.array([1.0, 2.2]), np.array([0.5, 0.5]))},
    ),
    (
        "the value at the mean for the mean of f(x)",
        r"a = \mathbb E_x[f(x)]",
        {
            "a": (np.sin(0.3) + np.sin(2.1)) / 2,
            "f": np.sin,
            "x": Nodes(np.array([0.3, 2.1]), np.array([0.5, 0.5])),
        },
    ),
    (
        "drop the derivative of f(x)",
        r"a = \frac{\partial f(x)}{\partial x}",
        {"a": np.cos(0.7), "f": np.sin, "x": 0.7},
    ),
    (
        "drop the gradient of x^\\top S x",
        r"y = \nabla_x (x^\top S x)",
        {"y": 2 * S @ x, "S": S, "x": x},
    ),
    ("> for <", r"a < b", {"a": 1.1, "b": 3.5}),
]


@pytest.mark.parametrize(("edit", "latex", "bindings"), CLASSES)
def test_each_class_is_caught(checked, edit, latex, bindings):
    if edit == "g for f":
        latex, bindings = latex + " + 0.1 g(x)", {**bindings, "a": np.sin(0.7) + 0.1 * np.cos(0.7)}
    record = checked(latex, bindings)
    outcomes = {mutant.edit: mutant.outcome for mutant in record.mutants.list}
    assert outcomes[edit] == "caught"
    assert record.mutants.survived == 0


def test_a_limit_that_adds_nothing_is_indistinct(checked):
    """The first term of the sum is zero, so that it may as well begin later."""
    record = checked(r"a = \sum_{i=1}^{4} (i - 1) x_i", {"a": x @ np.arange(4.0), "x": x})
    outcomes = {mutant.edit: mutant.outcome for mutant in record.mutants.list}
    assert outcomes["first i one more"] == "indistinct"
    assert record.mutants.survived == 0


def test_the_mean_of_what_is_linear_is_its_value_at_the_mean(checked):
    nodes = Nodes(np.array([0.3, 2.1]), np.array([0.25, 0.75]))
    record = checked(r"a = \mathbb E_x[b x + c]", {"a": 3.4, "b": 2.0, "c": 0.1, "x": nodes})
    outcomes = {mutant.edit: mutant.outcome for mutant in record.mutants.list}
    assert outcomes["the value at the mean for the mean of b x + c"] == "indistinct"
    (made,) = (m for m in record.mutants.list if m.edit.startswith("the value"))
    assert made.latex == r"b \mathbb E_{x}[x] + c"


def test_a_swap_that_leaves_nothing_to_catch_is_not_made(checked):
    """``f(x) <= f(x)`` and ``a = min(a, c)`` say nothing, so that no number could tell."""
    record = checked("f(x) < g(x)", {"f": np.sin, "g": np.exp, "x": 0.3})
    assert [mutant.edit for mutant in record.mutants.list] == ["> for <"]
    edits = [mutant.edit for mutant in checked(r"a = \min(b, c)", smaller).mutants.list]
    assert "a for b" not in edits
    assert "b for c" in edits


def test_the_middle_of_a_chain_is_edited_once_and_in_both_steps():
    statement = parse("a = b + c = d", dict.fromkeys("abcd", "value"))
    made = [m for m in all_mutants(statement, {}, str) if m.edit.startswith("flip")]
    assert [m.places for m in made] == [(0, 1), (0, 1)]
    assert made[0].steps[0].right is made[0].steps[1].left


def test_statements_that_stand_side_by_side_are_edited_apart():
    statement = parse(r"a = b + c, \quad b + c = d", dict.fromkeys("abcd", "value"))
    made = [m for m in all_mutants(statement, {}, str) if m.edit.startswith("flip")]
    assert [m.places for m in made] == [(0,), (0,), (1,), (1,)]


def test_a_small_change_of_a_node_is_a_change(checked):
    """A matrix that is symmetric to one per cent: its transpose is not the same."""
    N = S + 0.01 * A
    with pytest.raises(EquationError, match="drop the transpose of N"):
        checked(r"a = \det N^\top", {"a": det(N), "N": N})


def test_the_names_of_equal_edits_are_told_apart(checked):
    record = checked("a = b + c b", {"a": 4.95, "b": 1.1, "c": 3.5})
    edits = [mutant.edit for mutant in record.mutants.list]
    assert len(set(edits)) == len(edits)
    assert {"c for b", "c for b (2)"} <= set(edits)


def test_a_limit_is_one_more_or_one_less():
    kinds = dict.fromkeys(("a", "x", "n", "m"), "value")
    statement = parse(r"a = \sum_{i=m}^{n} x_i", kinds)
    made = {m.edit: m.steps[0] for m in all_mutants(statement, {}, str) if "one" in m.edit}
    reads = {
        "first i one more": r"a = \sum_{i=m + 1}^{n} x_i",
        "last i one more": r"a = \sum_{i=m}^{n + 1} x_i",
        "last i one less": r"a = \sum_{i=m}^{n - 1} x_i",
    }
    assert made == {edit: parse(latex, kinds).steps[0] for edit, latex in reads.items()}


def test_what_is_zero_by_chance_survives_and_a_printed_zero_is_harmless(checked):
    with pytest.raises(EquationError, match=r"2 of 6 mutants survive.*drop the term c"):
        checked("a = b + c", {"a": 3.5, "b": 3.5, "c": 0.0})
    record = checked("a = b + c + 0", {"a": 4.6, "b": 3.5, "c": 1.1})
    outcomes = {mutant.edit: mutant.outcome for mutant in record.mutants.list}
    assert outcomes["drop the term 0"] == outcomes["flip the sign of 0"] == "indistinct"
    assert outcomes["drop the term c"] == outcomes["flip the sign of b"] == "caught"


def test_the_noise_of_an_estimate_hides_whether_an_inequality_is_strict(checked):
    bound = {"a": Estimate(1.1, 0.01, n=10), "b": 1.2}
    edits = [mutant.edit for mutant in checked(r"a \le b", bound).mutants.list]
    assert edits == [r"\ge for \le", r"= for \le"]
    with pytest.raises(EquationError, match=r"'< for .*could be strict"):
        checked(r"a \le b", {**bound, "a": 1.1})


def test_an_average_is_tried_under_each_other_distribution_of_such_a_variable():
    """Of one shape and drawn alike, whatever their densities."""
    one, two = Nodes([0.5, 1.5], [0.5, 0.5]), Nodes([[0.5, 1.5]], [1.0])
    bound = normalised({
        "a": 1.0, "q": Distribution(one), "p": Distribution(one, density=np.exp),
        "r": Distribution(two), "s": one, r"g(u \mid a)": Distribution(lambda a: one),
        r"h(u \mid a)": Distribution(lambda a: one), r"k(w \mid a)": Distribution(lambda a: one),
    })  # fmt: skip
    latex = {
        r"\mathbb E_{q(u)}[u]": ["$p$ for $q$"],
        r"\mathbb E_{p(u)}[u^2]": ["$q$ for $p$"],
        r"\mathbb E_{r(v)}[a]": [],
        r"\mathbb E_{s}[s]": [],
        r"\mathbb E_{g(u \mid a)}[u]": ["$h(u|a)$ for $g(u|a)$"],
        r"\mathbb E_{k(w \mid a)}[w]": [],
    }
    for average, others in latex.items():
        statement = parse(f"a = {average}", {key: kind(value) for key, value in bound.items()})
        made = all_mutants(statement, swap_groups(bound), str)
        said = [m.said.removeprefix("the average under ") for m in made if " under " in m.said]
        assert said == others, average


def test_what_an_edit_makes_stands_where_it_was_read():
    kinds = dict.fromkeys("abcABX", "value")
    for latex in (r"X = A^\top B", "a = b + c", r"a = \sqrt{b} c^2", r"a = \frac{b}{c} - 3"):
        statement = parse(latex, kinds)
        places = {node.span for _, node in t.walk(statement)}
        made = list(all_mutants(statement, {}, lambda n, text=latex: text[slice(*n.span)]))
        assert {m.after.span for m in made} <= places
        for m in made:
            if m.edit in ("drop the transpose of A", "drop the square of c", "drop the root of b"):
                assert latex[slice(*m.after.span)] == m.edit[-1]


def test_a_mean_is_over_what_it_is_drawn_from_and_over_all_where_that_is_given_some():
    one = Nodes([0.5, 1.5], [0.5, 0.5])
    bound = normalised({
        "a": 1.0, "q(u)": Distribution(one), "p(w)": Distribution(one), "f": np.sin,
        r"r(w \mid u)": Distribution(lambda u: one),
    })  # fmt: skip
    kinds = {key: kind(value) for key, value in bound.items()}
    for over, w in (
        ("q(u) p(w)", r"\mathbb E_{p(w)}[w]"),
        (r"q(u) r(w \mid u)", r"\mathbb E_{q(u), r(w \mid u)}[w]"),
    ):
        statement = parse(rf"a = \mathbb E_{{{over}}}[f(u) w]", kinds)
        made = all_mutants(statement, swap_groups(bound), str)
        (edit,) = (m for m in made if m.edit.startswith("the value at the mean"))
        assert to_latex(edit.after) == rf"f(\mathbb E_{{q(u)}}[u]) {w}"


@pytest.mark.parametrize(("latex", "wanted"), [
    ("v(w) = 2 v(w)", True), ("2 v(w) = v(w)", True), ("v(w) = 2 v(c)", False),
    ("w = 2 w", False), ("w + c = 2 (w + c)", False),
])  # fmt: skip
def test_a_step_defines_a_function_by_itself_where_the_same_call_is_alone_on_a_side(latex, wanted):
    step = parse(latex, {"v": kind(np.sin), "w": kind(1.0), "c": kind(1.0)}).steps[0]
    assert _called_by_itself(step) == wanted
