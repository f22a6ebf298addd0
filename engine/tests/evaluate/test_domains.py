"""The domain of an integral: tested against the nodes, or refused."""

from __future__ import annotations

import numpy as np
import pytest

from checked_equations import check_equation
from checked_equations.errors import EquationError
from checked_equations.evaluate.evaluator import Evaluator
from checked_equations.evaluate.values import Nodes, kind
from checked_equations.latex.names import normal
from checked_equations.latex.parser import parse_expression, parse_free
from checked_equations.latex.printer import to_latex as printed


def legendre(low, high, n=40):
    points, weights = np.polynomial.legendre.leggauss(n)
    return Nodes(low + (points + 1) * (high - low) / 2, weights * (high - low) / 2)


def laguerre(n=12):
    points, weights = np.polynomial.laguerre.laggauss(n)
    return Nodes(points, weights * np.exp(points))


def grid(one):
    """The rule for points of a plane that is `one` along both axes."""
    points = np.stack(np.meshgrid(one.points, one.points), axis=-1).reshape(-1, 2)
    return Nodes(points, np.outer(one.weights, one.weights).ravel())


BOUND = {
    r"\mathbf w": grid(legendre(-8.0, 8.0, 40)), r"\mathbf x": grid(legendre(0.0, 1.0, 5)), "d": 2,
    "x": legendre(0.0, 1.0), "w": legendre(-9.0, 9.0, 90), "v": legendre(0.0, 40.0, 90),
    "u": laguerre(), "q": legendre(1.0, 40.0, 90), "r": legendre(-40.0, 0.0, 90),
    "p": Nodes([[0.5, 0.5], [0.5, -0.5]], [1.0, 1.0]), "c": 1.0, "S": {1, 2}, "a": 0.0,
}  # fmt: skip
NAMES = {normal(key): kind(value) for key, value in BOUND.items()}


def value(latex: str) -> float:
    return float(Evaluator(BOUND, latex).value(parse_expression(latex, NAMES)))


@pytest.mark.parametrize(
    ("latex", "wanted"),
    [
        (r"\int_{[0,1]} x^2 \,\mathrm d x", 1 / 3),
        (r"\int_{(a, c]} x^2 \,\mathrm d x", 1 / 3),
        (r"\int_{x \in [0, 1]} x^2 \,\mathrm d x", 1 / 3),
        (r"\int_{0 < x < 1} x^2 \,\mathrm d x", 1 / 3),
        (r"\int_{1 \ge x \ge a} x^2 \,\mathrm d x", 1 / 3),
        (r"\int_{\mathbb R} e^{-w^2} \,\mathrm d w", np.sqrt(np.pi)),
        (r"\int_{w \in \mathbb{R}} e^{-w^2} \,\mathrm d w", np.sqrt(np.pi)),
        (r"\int_{v>0} e^{-v} \,\mathrm d v", 1.0),
        (r"\int_{0 \le v} e^{-v} \,\mathrm d v", 1.0),
        (r"\int_{[0, \infty)} e^{-v} \,\mathrm d v", 1.0),
        (r"\int_{\mathbb R_+} e^{-u} \,\mathrm d u", 1.0),
        (r"\int_{q > c} e^{-q} \,\mathrm d q", np.exp(-1)),
        (r"\int_{r < 0} e^{r} \,\mathrm d r", 1.0),
        (r"\int_{\mathbb R^2} e^{-|\mathbf w|^2} \,\mathrm d \mathbf w", np.pi),
        (r"\int_{\mathbf w \in \mathbb R^d} e^{-|\mathbf w|^2} \,\mathrm d \mathbf w", np.pi),
        (r"\int_{[0, 1]^2} |\mathbf x|^2 \,\mathrm d \mathbf x", 2 / 3),
        (r"\int_{x > 0} x e^{-x} \,\mathrm d x + \int_{v > 0} v \,\mathrm d v", None),
    ],
)
def test_a_domain_that_the_nodes_fill(latex, wanted):
    if wanted is None:
        with pytest.raises(EquationError, match="the integrand is"):
            value(latex)
    else:
        assert value(latex) == pytest.approx(wanted, rel=1e-9)


@pytest.mark.parametrize(
    ("latex", "problem"),
    [
        (r"\int_{w>0} e^{-w^2} \,\mathrm d w", "the nodes of `w` leave the limits 0 to inf"),
        (r"\int_{w<0} e^{-w^2} \,\mathrm d w", "the nodes of `w` leave the limits -inf to 0"),
        (r"\int_{[0,1]} e^{-w^2} \,\mathrm d w", "the nodes of `w` leave the limits 0 to 1"),
        (r"\int_{[-1,2]} x \,\mathrm d x", "the weights of `x` sum to 1, the limits -1 and 2"),
        (
            r"\int_{q>0} e^{-q} \,\mathrm d q",
            "the nodes of `q` begin at 1.01, far from the limit 0",
        ),
        (r"\int_0^\infty e^{-q} \,\mathrm d q", "far from the limit 0"),
        (r"\int_{r<c} e^{r} \,\mathrm d r", "the nodes of `r` begin at"),
        (r"\int_{\mathbb R} x \,\mathrm d x", "before the limit"),
        (r"\int_0 x \,\mathrm d x", "both its limits"),
        (r"\int^1 x \,\mathrm d x", "both its limits"),
        (r"\int_{-\infty} e^{-w^2} \,\mathrm d w", "both its limits"),
        (
            r"\int_{\mathbb R^3} e^{-|\mathbf w|^2} \,\mathrm d \mathbf w",
            r"the nodes of `\mathbf w` have 2 coordinates, the domain has 3",
        ),
        (
            r"\int_{[0, 1]^2} x \,\mathrm d x",
            "the nodes of `x` have 1 coordinate, the domain has 2",
        ),
        (r"\int_{[0, 2]^2} |\mathbf x|^2 \,\mathrm d \mathbf x", "sum to 1, the limits 0 and 2"),
        (r"\int_S x \,\mathrm d x", "is no domain that can be tested"),
        (r"\int_{\mathcal X} x \,\mathrm d x", "is no domain that can be tested"),
        (r"\int_{x \ne 0} x \,\mathrm d x", "is no domain that can be tested"),
        (r"\int_{0 < x > 1} x \,\mathrm d x", "is no domain that can be tested"),
        (r"\int_{x^2 < 1} x \,\mathrm d x", "is no domain that can be tested"),
        (r"\int_{w > 0} x \,\mathrm d x", "the domain is one of `w`, the integral runs over `x`"),
        (r"\int_{x > 0} x w \,\mathrm d x \,\mathrm d w", "the domain is one of `x`"),
        (r"\int_{k > 0} x \,\mathrm d x", "is no domain that can be tested"),
    ],
)
def test_a_domain_that_is_refused(latex, problem):
    with pytest.raises(EquationError) as caught:
        value(latex)
    assert problem in caught.value.problem


def test_the_domain_of_a_definition_may_be_a_symbol():
    (step,) = parse_free(r"Z = \int_{\mathcal X} g(x) \,\mathrm d x").steps
    assert step.right.variables == ("x",)


@pytest.mark.parametrize("domain", [r"\mathbb R^d", "[0, 1]^{d + 1}", "[0, 1]", r"\mathbb R_+"])
def test_a_domain_prints_and_parses_back(domain):
    node = parse_expression(rf"\int_{{{domain}}} 2 \,\mathrm d \mathbf x", NAMES)
    assert parse_expression(printed(node), NAMES) == node


LINE, LENGTHS = np.polynomial.legendre.leggauss(12)
MASSES = LENGTHS * (1 + LINE) * (1 - LINE) ** 2.5
BETA = Nodes((1 + LINE) / 2, MASSES / MASSES.sum())
NORMAL_POINTS, NORMAL_WEIGHTS = np.polynomial.hermite_e.hermegauss(9)
NORMAL = Nodes(NORMAL_POINTS, NORMAL_WEIGHTS / NORMAL_WEIGHTS.sum())
PAIRS = np.stack(np.meshgrid(NORMAL_POINTS, NORMAL_POINTS), axis=-1).reshape(-1, 2)
PLANE = Nodes(PAIRS, np.outer(NORMAL.weights, NORMAL.weights).ravel())


class TestNodesOfADistribution:
    """Where they serve as the nodes of an integral, the density is lost."""

    @pytest.mark.parametrize(
        ("nodes", "latex"),
        [
            (BETA, r"\int_0^1 x \,\mathrm d x"),
            (BETA, r"\int x \,\mathrm d x"),
            (NORMAL, r"\int_{\mathbb R} e^{-x^2} \,\mathrm d x"),
            (NORMAL, r"\int \log(1 + e^x) \,\mathrm d x"),
            (PLANE, r"\int e^{-|x|^2} \,\mathrm d x"),
        ],
    )
    def test_their_weights_are_no_lengths(self, nodes, latex):
        with pytest.raises(EquationError, match="are no lengths"):
            check_equation(f"m = {latex}", {"m": 0.4, "x": nodes})

    def test_weights_of_one_for_points_that_crowd_at_one_end_are_no_lengths(self):
        nodes = Nodes(10 * ((np.arange(10) + 0.5) / 10) ** 2, np.ones(10))
        said = "by them the middle of 0 to 10 is 3.325"
        with pytest.raises(EquationError, match=said):
            check_equation(r"a = \int_0^{10} x \,\mathrm d x", {"a": 50.0, "x": nodes})

    def test_a_periodic_rule_and_a_joint_of_two_pass(self):
        starts = -np.pi + 2 * np.pi * np.arange(30) / 30
        nodes = Nodes(starts, np.full(30, 2 * np.pi / 30))
        latex = r"a = \int_{-\pi}^\pi (2 + \cos x)^2 \cos x \,\mathrm d x"
        assert check_equation(latex, {"a": 4 * np.pi, "x": nodes}).mutants.caught
        joint = [(LINE + 1) * 0.005, 0.01 + (LINE + 1) * 0.495]
        rule = Nodes(np.concatenate(joint), np.concatenate([LENGTHS * 0.005, LENGTHS * 0.495]))
        latex = r"a = \int_0^1 x^2 \,\mathrm d x"
        assert check_equation(latex, {"a": 1 / 3, "x": rule}).mutants.caught

    def test_one_name_for_both_is_refused(self):
        points, lengths = np.polynomial.legendre.leggauss(8)
        uniform = Nodes(points / 2, lengths / 2)
        latex = r"\mathbb E_x[x^2] = \int_{-1/2}^{1/2} x^2 \,\mathrm d x"
        with pytest.raises(EquationError, match="under an average and under an integral"):
            check_equation(latex, {"x": uniform})

    @pytest.mark.parametrize("count", [3, 4, 7, 12, 40])
    @pytest.mark.parametrize("rule", ["gauss", "trapezoid", "middle", "simpson"])
    def test_a_rule_passes(self, rule, count):
        edges = np.linspace(0.4, 3.0, count + 1)
        step = edges[1] - edges[0]
        if rule == "gauss":
            points, weights = np.polynomial.legendre.leggauss(count)
            points, weights = 1.7 + 1.3 * points, 1.3 * weights
        elif rule == "middle":
            points, weights = edges[:-1] + step / 2, np.full(count, step)
        else:
            points = np.linspace(0.4, 3.0, 2 * count + 1)
            ends = np.array([1.0] + [2.0] * (2 * count - 1) + [1.0]) * step / 4
            bumps = np.array([1.0] + [4.0, 2.0] * (count - 1) + [4.0, 1.0]) * step / 6
            weights = ends if rule == "trapezoid" else bumps
        for limits in ("", "_{0.4}^3"):
            latex = rf"a = \int{limits} x \,\mathrm d x"
            nodes = Nodes(points, weights)
            assert check_equation(latex, {"a": (9 - 0.16) / 2, "x": nodes}).mutants.caught
