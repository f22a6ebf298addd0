"""Definitions are held against what they define; what is left bare says why."""

import numpy as np
import pytest
from problems import says

from checked_equations import EquationError, Nodes
from checked_equations.check.definitions import compare_definition, normal_shape
from checked_equations.check.relations import Tolerance

A, B = np.random.default_rng(1).normal(size=(2, 4, 4))
S = A @ A.T + np.eye(4)
m, x = np.random.default_rng(2).normal(size=(2, 4))
STEPS = 2.0 * np.linalg.cholesky(S).T
NORMAL = Nodes(np.concatenate([m + STEPS, m - STEPS]), np.full(8, 1 / 8))


@pytest.fixture
def define(small_chapter):
    """Define one equation and return its record."""

    def record(latex, *bindings, **options):
        return small_chapter({"eq-a": latex}).define("eq-a", *bindings, **options)

    return record


def test_functions_of_the_language_are_no_symbols_that_nobody_bound(define):
    """What is defined through them is compared all the same."""
    numbers = {"a": np.log(3.0) + np.exp(0.5), "b": 3.0, "c": 0.5}
    assert define(r"a = \log b + \exp c", numbers, oracle="by hand").steps
    with pytest.raises(EquationError, match="does not hold"):
        define(r"a = \log b + \exp c", numbers | {"a": 1.5}, oracle="by hand")


class TestWithoutNumbers:
    def test_a_reason_is_needed(self, define):
        with pytest.raises(EquationError, match="why= must say why nothing is compared with a = b"):
            define("a = b")
        record = define("a = b", why="a model")
        assert (record.kind, record.draws, record.steps) == ("definition", 0, ())
        assert record.bare == ("a = b",)
        assert repr(record) == "eq-a: definition, a model · small.md"

    def test_it_must_parse(self, define):
        with pytest.raises(EquationError, match=r"part/small.md, eq-a, line 5"):
            define(r"a = \left( b", why="a model")

    @pytest.mark.parametrize("bindings", [(), ({"a": 1.5, "b": 1.5, "c": 2.5},)])
    def test_a_chain_is_a_claim(self, define, bindings):
        with pytest.raises(EquationError, match=r"column 10: a definition has one `=`"):
            define("a := b = c", *bindings, why="a model")


class TestWithNumbers:
    def test_what_is_bound_is_compared_and_mutated(self, define):
        record = define("b := A x - m", {"b": A @ x - m, "A": A, "x": x, "m": m})
        assert record.residual < 1e-12
        assert record.mutants.caught >= 3
        assert record.mutants.survived == 0
        assert repr(record).startswith("eq-a: definition, compared · 1 step · ")

    @pytest.mark.parametrize("latex", ["b := A x + m", "b := -A x - m", "b := A^\\top x - m"])
    def test_a_slip_fails(self, define, latex):
        with pytest.raises(EquationError, match="does not hold"):
            define(latex, {"b": A @ x - m, "A": A, "x": x, "m": m})

    @pytest.mark.parametrize(
        ("left", "right", "shapes"),
        [
            (np.ones(2), np.ones((2, 3)), r"(2, 1), the right side (2, 3)"),
            (np.ones((1, 2)), 1.5, r"(1, 2), the right side ()"),
            (1.5, np.ones((2, 2)), r"(), the right side (2, 2)"),
            (np.ones((1, 1)), 1.5, ""),
            (np.ones((3, 2)), np.zeros((3, 2)), ""),
        ],
    )
    def test_sides_that_nothing_compares_have_one_shape_or_one_number_each(
        self, define, left, right, shapes
    ):
        bound = {"a": left, "b": right}
        if not shapes:
            assert define(r"a \approx b", bound, why="a model").bare == (r"a \approx b",)
            return
        with pytest.raises(EquationError) as error:
            define(r"a \approx b", bound, why="a model")
        assert f"the left side has shape {shapes}" in str(error.value)

    def test_a_survivor_is_spared_with_a_reason(self, define):
        numbers = {"a": 1.0, "b": 1.0}
        with pytest.raises(EquationError, match="mutants survive"):
            define("a = b^2", numbers)
        names = ("3 for 2", "drop the square of b")
        record = define("a = b^2", numbers, spare=dict.fromkeys(names, "one is one"))
        assert record.mutants.spared == 2

    def test_of_a_normal_variable_mean_and_covariance_are_compared(self, define):
        record = define(r"x \sim \mathcal N(m, S)", {"x": NORMAL, "m": m, "S": S})
        assert len(record.steps) == 2
        assert record.mutants.survived == 0
        for wrong in ({"m": -m, "S": S}, {"m": m, "S": 1.01 * S}):
            with pytest.raises(EquationError, match="does not hold"):
                define(r"x \sim \mathcal N(m, S)", {"x": NORMAL, **wrong})

    def test_a_stack_may_be_normal_too(self, define):
        latex = r"\begin{bmatrix} y \\ f \end{bmatrix} \sim \mathcal N(m, S)"
        stack = latex.partition(r"\sim")[0]
        assert len(define(latex, {stack: NORMAL, "m": m, "S": S}).steps) == 2

    def test_statements_that_are_not_bound_are_left_with_the_reason(self, define):
        latex = r"a = 2 b, \qquad f \sim \mathcal{GP}(c, k)"
        with pytest.raises(EquationError, match=r"nothing is compared with f .sim"):
            define(latex, {"a": 3.0, "b": 1.5})
        record = define(latex, {"a": 3.0, "b": 1.5}, why="f is a function")
        assert len(record.steps) == 1
        assert record.bare == (r"f \sim \mathcal{GP}(c, k)",)
        assert "1 left: f is a function" in repr(record)

    def test_shapes_conform_where_no_value_is_compared(self, define):
        assert define(r"x \sim \mathcal N(0, S)", {"x": x, "S": S}, why="a model").bare
        with pytest.raises(EquationError, match=r"covariance of \(4, 4\) does not fit"):
            define(r"x \sim \mathcal N(m, S)", {"x": x, "m": m[:3], "S": S}, why="a model")
        with pytest.raises(EquationError, match="must be square"):
            define(r"x \sim \mathcal N(m, S)", {"x": x, "m": m, "S": S[:3]}, why="a model")

    def test_every_symbol_is_used(self, define):
        with pytest.raises(EquationError, match="never used"):
            define("b := A x", {"b": A @ x, "A": A, "x": x, "c": 1.0})


@pytest.mark.parametrize(
    ("mean", "covariance", "shape"),
    [(1.5, 2.0, ()), (1.5, [2.0], ()), (1.5, [[2.0]], ()), ([1.0, 2.0], S[:2, :2], (2, 1))],
)
def test_a_normal_variable_has_the_shape_of_its_covariance(mean, covariance, shape):
    found = normal_shape(mean, covariance)
    assert found.shape == shape
    assert np.array_equal(found.reshape(-1), np.reshape(mean, -1))


@pytest.mark.parametrize("covariance", [np.ones(2), np.ones((1, 4)), np.ones((4, 1)), A[:2]])
def test_a_covariance_is_square(covariance):
    with pytest.raises(ValueError, match="the covariance must be square"):
        normal_shape(1.0, covariance)


def test_a_definition_that_nothing_judges_has_sides_of_one_shape():
    with pytest.raises(
        EquationError, check=says(r"the left side has shape \(2, 1\), the right side \(\)")
    ):
        compare_definition(r"x \to a", [{"x": [1.0, 2.0], "a": 1.0}], Tolerance())
    _, bare = compare_definition(r"x \to a", [{"x": [[1.0]], "a": 1.0}], Tolerance())
    assert bare == (r"x \to a",)


def test_the_shape_of_a_normal_variable():
    assert normal_shape(1.5, 2.0) == 1.5
    assert normal_shape([1.0, 2.0], np.eye(2)).tolist() == [[1.0], [2.0]]
    assert normal_shape([0.0, 3.0], 1.0, np.eye(2)).tolist() == [[1.0], [1.0]]
    for wrong in ([[1.0, 2.0]], np.ones((3, 2))):
        with pytest.raises(ValueError, match="the covariance must be square"):
            normal_shape(1.0, wrong)
    for mean, x in (([1.0, 2.0, 3.0], [1.0, 2.0]), ([1.0, 2.0], [1.0, 2.0, 3.0])):
        with pytest.raises(ValueError, match=r"a covariance of \(2, 2\) does not fit"):
            normal_shape(x, mean, np.eye(2))
