"""The notation of samplers, networks, decisions and filters: read as everybody prints it."""

import numpy as np
import pytest
from problems import says

from checked_equations import Distribution, EquationError, Nodes, check_equation
from checked_equations.evaluate import operations as op
from checked_equations.evaluate.evaluator import Evaluator
from checked_equations.evaluate.rules import loops
from checked_equations.latex import tree as t
from checked_equations.latex.names import normal
from checked_equations.latex.parser import parse_expression

ACTIONS = np.array([1.0, 2.0, 3.0])
GAINS = {1: 0.3, 2: 1.7, 3: -0.4}
PULL = np.array([0.4, -1.1, 0.9])


def chances(theta):
    weights = np.exp(theta * PULL)
    return weights / weights.sum()


POLICY = {
    r"\pi(a \mid \theta)": Distribution(
        lambda theta: Nodes(ACTIONS, chances(theta)), lambda a, theta: chances(theta)[a - 1]
    ),
    "Q": GAINS.__getitem__,
    r"\theta": 0.3,
}
X, POINT = np.array([[2.0, 0.3], [0.3, 1.0]]), np.array([0.4, -0.7])


def bell(x):
    return np.exp(-0.5 * x @ X @ x)


def right(latex, bindings, **options):
    return check_equation(latex, bindings, **options).mutants.survived == 0


def refused(latex, bindings):
    with pytest.raises(EquationError) as error:
        check_equation(latex, bindings)
    return error.value.problem


GRADIENT = r"\nabla_\theta \mathbb E_{\pi(a \mid \theta)}[Q(a)] = "


class TestGradients:
    @pytest.mark.parametrize(
        "score",
        [
            r"\nabla_\theta \log \pi(a \mid \theta) Q(a)",
            r"Q(a) \nabla_\theta \log \pi(a \mid \theta)",
        ],
    )
    def test_of_an_average(self, score):
        assert right(rf"{GRADIENT} \mathbb E_{{\pi(a \mid \theta)}}[{score}]", POLICY)
        lost = r"\mathbb E_{\pi(a \mid \theta)}[\nabla_\theta \pi(a \mid \theta) Q(a)]"
        assert "does not hold" in refused(GRADIENT + lost, POLICY)

    @pytest.mark.parametrize(
        "hessian",
        [
            r"\nabla_x^2 \log g(x)",
            r"\nabla^2_x \log g(x)",
            r"\nabla_x \nabla_x^\top \log g(x)",
            r"\frac{\partial^2 \log g(x)}{\partial x \, \partial x^\top}",
            r"\frac{\partial^2}{\partial x \, \partial x^\top} \log g(x)",
        ],
    )
    def test_of_second_order(self, hessian):
        """Whose sign, and whose letters, are among the mutants that the check must catch."""
        bound = {"g": bell, "A": X, "x": POINT}
        assert right(f"{hessian} = -A", bound, rtol=1e-6)

    def test_the_columns_are_the_last_variable(self):
        M = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 7.0]])
        bound = {"f": lambda x, z: x @ M @ z, "M": M, "x": POINT, "z": np.array([1.0, 2.0, 3.0])}
        latex = r"\frac{\partial^2 f(x, z)}{\partial x \, \partial z^\top} = M"
        assert right(latex, bound, rtol=1e-6)

    def test_what_is_open_is_refused(self):
        bound = {"f": np.multiply, "x": 0.3, "z": 0.4, "c": 1.0}
        assert "which of the two are the rows" in refused(r"\nabla_x \nabla_z f(x, z) = c", bound)
        assert "power of a gradient" in refused(r"c = \nabla_x f(x, z)^2", bound)
        log = r"c = \log f(x, z) \, z"
        assert "belong to the function too" in refused(log, bound)

    def test_a_score_times_its_transpose(self):
        bound = {"g": bell, "A": X, "x": POINT}
        score = r"\nabla_x \log g(x)"
        assert right(rf"{score} {score}^\top = A x x^\top A", bound, rtol=1e-7)


def sigmoid(t):
    return 1 / (1 + np.exp(-t))


class TestValuesInBrackets:
    @pytest.mark.parametrize("name", ["p", r"p(y \mid x)"])
    def test_of_a_bound_function(self, name):
        bound = {name: lambda y, x: sigmoid((2 * y - 1) * 0.4 * x), "w": 0.4, "x": 1.7}
        latex = r"p(y = 1 \mid x) = \frac{1}{1 + e^{-w x}}"
        assert right(latex, bound)
        assert "does not hold" in refused(latex.replace("y = 1", "y = 0"), bound)

    def test_behind_the_bar(self):
        given = Distribution(lambda x: Nodes([x - 1.0, 2.0 * x], [0.3, 0.7]))
        latex = r"m = \mathbb E[y \mid x = 2]"
        assert right(latex, {"m": 3.1, r"y \mid x": given})
        assert "does not hold" in refused(latex.replace("2", "3"), {"m": 3.1, r"y \mid x": given})

    def test_whole_numbers_are_asked_for(self):
        table = np.array([0.4, 1.9, 0.7])
        nodes = Nodes([[0, 1], [2, 0]], [0.4, 0.6])
        latex = r"m = \mathbb E_{d(s, a)}[R(s, a)]"
        bound = {
            "m": 0.4 * 2.3 + 0.6 * 1.1,
            "d(s, a)": nodes,
            "R": lambda s, a: table[s] + table[a],
        }
        assert right(latex, bound)


class TestIndicesAndSets:
    def test_particles(self):
        w, x = np.array([0.2, 0.5, 0.3]), np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 7.0]])
        assert right(
            r"m = \sum_{i=1}^N w_t^{(i)} x_t^{(i)}",
            {"w_t": w, "x_t": x[:, 1], "m": w @ x[:, 1], "N": 3},
        )
        assert right(
            r"m = \sum_{i=1}^N w^{(i)} \sum_{t=1}^2 x_t^{(i)}",
            {"w": w, "x": x, "m": w @ x.sum(1), "N": 3},
        )

    def test_a_family_of_sets(self):
        bins = [{1, 2}, {3}, {4, 5, 6, 7}]
        hits, held = np.array([0.1, 0.4, 0.5, 0.2, 0.7, 0.9, 0.6]), np.array([0.3, 0.2, 0.7])
        gaps = [
            abs(np.mean(hits[[i - 1 for i in one]]) - p) for one, p in zip(bins, held, strict=True)
        ]
        error = sum(len(one) * gap for one, gap in zip(bins, gaps, strict=True)) / 7
        inner = r"\frac{1}{|B_m|} \sum_{i \in B_m} c_i - a_m"
        latex = rf"e = \sum_{{m=1}}^M \frac{{|B_m|}}{{n}} \left| {inner} \right|"
        bound = {"e": error, "B": bins, "M": 3, "n": 7, "a": held, "c": hits}
        assert right(latex, bound)
        assert "does not hold" in refused(latex.replace("B_m|}{n}", "B_1|}{n}"), bound)
        assert "has the indices [1, 2, 3]" in refused(latex, {**bound, "M": 4})

    def test_a_sum_without_end(self):
        assert right(r"\sum_{t=0}^\infty \gamma^t = \frac{1}{1 - \gamma}", {r"\gamma": 0.9})
        assert "large number" in refused(r"\sum_{t=1}^\infty \frac{1}{t} = c", {"c": 1.0})
        assert "large number" in refused(r"\prod_{t=1}^\infty \gamma = c", {r"\gamma": 1, "c": 1})

    def test_a_sum_inside_a_sum_without_end_is_given_up_in_time(self, monkeypatch):
        left, add = iter(range(1_000_000)), op.add

        def counting(a, b):
            if next(left, None) is None:
                pytest.fail("a million terms are too many")
            return add(a, b)

        monkeypatch.setattr(op, "add", counting)
        monkeypatch.setitem(loops._STEPS, "sum", counting)
        inner = r"\sum_{t=0}^{n} \gamma^t"
        latex = rf"\frac{{1}}{{1 - \gamma^2}} = \sum_{{n=0}}^\infty (1 - \gamma) \gamma^n {inner}"
        assert right(latex, {r"\gamma": 0.8})

    def test_a_mutant_with_a_term_that_stays_is_given_up_in_time(self):
        asked = []

        def f(x):
            asked.append(x)
            return 2.0**-x

        latex = r"\sum_{n=1}^\infty \left( f(n) + f(b n) \right) = c"
        assert right(latex, {"f": f, "b": 2.0, "c": 1.0 + 1 / 3})
        assert len(asked) < 5_000  # with n dropped in the second, f(b) never dies

    def test_a_series_may_grow_before_it_dies_away(self):
        x = 0.997
        latex = r"\sum_{n=0}^\infty 2^{-n} + \sum_{n=1}^\infty n^3 x^n"
        total = 2 + x * (1 + 4 * x + x * x) / (1 - x) ** 4
        value = Evaluator({"x": x}).value(parse_expression(latex, {"x": "value"}))
        assert float(value) == pytest.approx(total, rel=1e-12)

    def test_the_largest_is_not_the_smallest(self):
        bound = {r"\theta": {1.0, 2.0, 3.0}, "L": lambda t: -((t - 2.2) ** 2)}
        latex = r"\hat\theta = \arg\max_\theta L(\theta)"
        assert right(latex, {r"\hat\theta": 2.0, **bound})
        assert "does not hold" in refused(latex, {r"\hat\theta": 1.0, **bound})


@pytest.mark.parametrize("sign", [r"\text{d}", r"\textrm d", r"\textrm{d}"])
def test_an_upright_differential(sign):
    points, weights = np.polynomial.legendre.leggauss(8)
    nodes = Nodes((points + 1) / 2, weights / 2)
    assert right(rf"a = \int_0^1 x^2 \, {sign} x", {"a": 1 / 3, "x": nodes})


def test_a_plain_letter_of_averages():
    nodes = Nodes([0.4, 2.0], [0.25, 0.75])
    assert right("a = E[x^2] - E_x[x]^2", {"a": 0.48, "x": nodes})
    assert right("a = E_1 + 2 E(3)", {"a": 7.5, "E_1": 1.5, "E": lambda x: float(x)})


@pytest.mark.parametrize("kind", ["distribution", "conditional", "nodes", "callable"])
@pytest.mark.parametrize(
    ("name", "bound", "whole"),
    [
        ("p(x)", "", {"distribution", "conditional", "nodes"}),
        ("p(x)", "y", {"distribution", "conditional", "nodes"}),
        ("p(x)", "x", set()),
        (r"p(x \mid y)", "y", {"distribution", "nodes"}),
        (r"p(x \mid y)", "x", set()),
        (r"p(x \mid y)", "", set()),
        (r"p(x \mid y)", "xy", set()),
        ("p(x, y)", "", {"distribution", "conditional", "nodes"}),
        ("p(x, y)", "y", set()),
    ],
)
def test_a_distribution_is_whole_as_an_argument_where_it_is_of_what_is_not_bound(
    kind, name, bound, whole
):
    """A conditional one is given what no name says, so that all its arguments are unbound."""
    kinds = {r"\operatorname{KL}": "callable", name: kind, **dict.fromkeys(bound, "value")}
    latex = rf"\operatorname{{KL}}({name})"
    if kind not in whole and not {"x", "y"} & set(name) <= set(bound):
        with pytest.raises(EquationError, check=says("unbound symbol")):
            parse_expression(latex, kinds)
    else:
        (argument,) = parse_expression(latex, kinds).arguments
        assert isinstance(argument, t.Name if kind in whole else t.Apply)
        assert argument.key == normal(name)
