"""Averages: which variable they run over, and under which distribution, is read and bound."""

import numpy as np
import pytest
from scipy.special import rel_entr

from checked_equations import Distribution, EquationError, Nodes
from checked_equations.evaluate.evaluator import Evaluator
from checked_equations.evaluate.values import kind
from checked_equations.latex.names import signature
from checked_equations.latex.parser import parse, parse_expression
from checked_equations.latex.printer import to_latex as printed

POINTS = np.array([0.3, 1.1, 2.0, 4.5])
Q, P = np.array([0.1, 0.4, 0.2, 0.3]), np.array([0.35, 0.15, 0.3, 0.2])
RATIO = np.log(Q / P)


def mass(weights):
    return lambda x: weights[int(np.argmin(np.abs(POINTS - x)))]


def given(x):
    """Nodes for y given x: two points around x, unequally likely."""
    return Nodes([x - 1.0, 2.0 * x], [0.3, 0.7])


def two_points(mean, variance):
    return Nodes([mean - variance**0.5, mean + variance**0.5], [0.5, 0.5])


q, p = (Distribution(Nodes(POINTS, w), mass(w)) for w in (Q, P))
MASSES = {q: Q, p: P}
DIVERGENCE = {
    "q": q,
    "p": p,
    r"\operatorname{KL}": lambda a, b: rel_entr(MASSES[a], MASSES[b]).sum(),
}
KL = r"\operatorname{KL}(q \,\|\, p) = "
TRIPLES = np.random.default_rng(3).normal(size=(5, 3))
FIFTH = np.full(5, 0.2)
SPREAD = Distribution(lambda i: Nodes([-i, i], [0.25, 0.75]))
BOUND = {
    "a": 1.5,
    "n": 3,
    "m": [4.0, 5.0, 6.0],
    "q": q,
    "p": p,
    r"r(x \mid a)": Distribution(given),
    "w": Nodes([1.0, 2.0], [0.5, 0.5]),
    "s(x, z)": Nodes(TRIPLES[:, :2], FIFTH),
    r"s(\mathbf v, z)": Nodes(TRIPLES, FIFTH, sizes=(2, 1)),
    "u(f_i)": SPREAD,
    "g_i": SPREAD,
    "h_i": Nodes([1.0, 2.0], [0.5, 0.5]),
    r"y \mid w": Distribution(given),
    r"t(\theta \mid \mathcal D)": Nodes([1.0, 3.0], [0.5, 0.5]),
    r"\mathcal N": Distribution(two_points),
}  # fmt: skip
NAMES = {key: kind(value) for key, value in BOUND.items()}


def value(latex, bound=BOUND):
    names = {key: kind(item) for key, item in bound.items()}
    return Evaluator(bound, latex).value(parse_expression(latex, names))


TWO = np.array([[0.0, 2.0], [1.0, 4.0]])  # y given w = 1, and given w = 2
COUPLED = (TWO**3 @ [0.3, 0.7] - (TWO @ [0.3, 0.7]) * (TWO**2 @ [0.3, 0.7])).mean()
BACK = 0.3 * (POINTS - 1) + 0.7 * 2 * POINTS  # the mean of y given x
GIVEN = [
    (r"\mathbb E_{q(x)}[x^2]", Q @ POINTS**2),
    (r"\mathbb E_{p(x)}[x^2]", P @ POINTS**2),
    (r"\mathbb E_{x \sim q}[x^2]", Q @ POINTS**2),
    (r"\mathbb E_{x \sim q(x)}[x^2]", Q @ POINTS**2),
    (r"\mathbb E_{q(x)}[x] - \mathbb E_{p(x)}[x]", (Q - P) @ POINTS),
    (r"\mathbb E_{q(x) p(z)}[x z]", (Q @ POINTS) * (P @ POINTS)),
    (r"\mathbb E_{x \sim q, z \sim p}[x z^2]", (Q @ POINTS) * (P @ POINTS**2)),
    (r"\mathbb E_{x, x' \sim q}[x x']", (Q @ POINTS) ** 2),
    (r"\mathbb E_{q(x), w}[x w]", Q @ POINTS * 1.5),
    (r"\mathbb E_{q(x)}[\log q(x) - \log p(x)]", Q @ RATIO),
    (r"\mathbb V_{q(x)}[x]", Q @ POINTS**2 - (Q @ POINTS) ** 2),
    (r"\mathbb E_{s(x, z)}[x z]", TRIPLES[:, :2].prod(axis=1).mean()),
    (r"\operatorname{Cov}_{s(x, z)}[x, z]", np.cov(TRIPLES[:, 0], TRIPLES[:, 1], ddof=0)[0, 1]),
    (r"\mathbb E_{s(\mathbf v, z)}[z \mathbf v^\top \mathbf v]",
     (TRIPLES[:, 2] * (TRIPLES[:, :2] ** 2).sum(axis=1)).mean()),
    (r"\mathbb E_{(x, z) \sim s(x, z)}[x z]", TRIPLES[:, :2].prod(axis=1).mean()),
    (r"\mathbb E_{r(x \mid a)}[x]", 0.3 * 0.5 + 0.7 * 3.0),
    (r"\mathbb E_{\mathcal N(x \mid a, 4)}[x^2]", 1.5**2 + 4),
    (r"\mathbb E_{x \sim \mathcal N(a, 4)}[x^2]", 1.5**2 + 4),
    (r"\mathbb E_{t(\theta \mid \mathcal D)}[\theta^2]", 5.0),
    (r"\sum_{i=1}^n \mathbb E_{u(f_i)}[(m_i - f_i)^2]", 13.0 + 19.0 + 27.0),
    (r"\sum_{i=1}^n \mathbb E_{g_i}[(m_i - g_i)^2]", 13.0 + 19.0 + 27.0),
    (r"\sum_{i=1}^n \mathbb E_{h_i}[m_i h_i]", 22.5),
    (r"\mathbb E_w\left[ \mathbb E[y \mid w] \right]", 0.5 * (1.4 + 3.1)),
    (r"\mathbb E_w\left[ \mathbb E_y[y | w] \right]", 0.5 * (1.4 + 3.1)),
    (r"\mathbb E_w\left[ \mathbb E_{y \mid w}[y w] \right]", 0.5 * (1.4 + 6.2)),
    (r"\mathbb V_w\left[ \mathbb E[y \mid w] \right]", 0.85**2),
    (r"\mathbb E_w\left[ \operatorname{Cov}[y, y^2 \mid w] \right]", COUPLED),
    (r"\mathbb V[w]", 0.25),
]  # fmt: skip


def test_values():
    for latex, expected in GIVEN:
        assert value(latex) == pytest.approx(expected, rel=1e-12), latex


def test_dependent_nodes_run_in_the_order_of_what_they_depend_on():
    bound = {"q": q, "p": Distribution(given)}
    expected = Q @ (POINTS * BACK)
    for under in (r"q(x) p(y \mid x)", r"p(y \mid x) q(x)", r"x \sim q, y \sim p(y \mid x)"):
        assert value(rf"\mathbb E_{{{under}}}[x y]", bound) == pytest.approx(expected), under
    nested = r"\mathbb E_{q(x)}\left[ x \, \mathbb E_{p(y \mid x)}[y] \right]"
    assert value(nested, bound) == pytest.approx(expected)


def test_an_entry_of_a_bound_vector_is_no_variable():
    """In the expected log likelihood ``y_i`` is data, though ``p(y_i | z_i)`` is bound."""
    likelihood = Distribution(
        lambda i, z: Nodes([z, z + i], [0.5, 0.5]), lambda y, z: np.exp(y - z)
    )
    bound = {"y": [0.5, 1.0, 2.0], "q(z_i)": SPREAD, r"p(y_i \mid z_i)": likelihood}
    latex = r"\sum_{i=1}^3 \mathbb E_{q(z_i)}[\log p(y_i \mid z_i)]"
    assert value(latex, bound) == pytest.approx(3.5 - 0.5 * 6.0)


def test_the_letter_alone_stands_for_the_one_form_that_is_bound():
    bound = {"q(x)": q, r"\operatorname{H}": lambda d: -Q @ np.log(Q) if d is q else 0.0}
    assert value(r"\mathbb E_q[x]", bound) == pytest.approx(Q @ POINTS)
    assert value(r"\operatorname{H}(q)", bound) == value(r"\operatorname{H}[q(x)]", bound) > 0


def test_a_distribution_goes_into_a_function_as_what_it_stands_for():
    bound = {"q": Distribution(q.nodes, q.density, value=7.0), "f": lambda v: 2 * v}
    assert value("f(q)", bound) == 14.0


class TestDivergence:
    """The statement that the first edition let pass with the average under the wrong letter."""

    def test_it_holds_under_q(self, checked):
        record = checked(KL + r"\mathbb E_{q(x)}[\log q(x) - \log p(x)]", DIVERGENCE)
        outcomes = {mutant.edit: mutant.outcome for mutant in record.mutants.list}
        assert outcomes["the average under p for q"] == "caught"
        assert record.mutants.survived == 0

    def test_it_fails_under_p(self, checked):
        with pytest.raises(EquationError, match="does not hold"):
            checked(KL + r"\mathbb E_{p(x)}[\log q(x) - \log p(x)]", DIVERGENCE)

    def test_one_formula_may_average_under_both(self, checked):
        weighing = r"\mathbb E_{p(x)}[f(x)] = \mathbb E_{q(x)}\left[ \frac{p(x)}{q(x)} f(x) \right]"
        record = checked(weighing, {"q": q, "p": p, "f": np.sin})
        assert record.mutants.survived == 0
        assert record.mutants.caught >= 6

    def test_the_same_variable_may_be_integrated_over(self, checked):
        """The integral runs over its own nodes, the averages over those of the distributions."""
        points, lengths = np.polynomial.legendre.leggauss(5)
        mass = Nodes(points, lengths * 0.75 * (1 - points**2))
        density = Distribution(mass, lambda x: 0.75 * (1 - x**2))
        bound = {"x": Nodes(points, lengths), "q": density}
        average = r"\mathbb E_{x \sim q}[f(x)] = \int q(x) f(x) \,\mathrm d x"
        latex = average + r" = \mathbb E_{q(x)}[f(x)]"
        assert checked(latex, {**bound, "f": np.exp}).mutants.survived == 0

    def test_written_forms_are_told_apart(self, checked):
        bound = {"q(x)": q, "p(x)": p, **DIVERGENCE}
        bound = {key: bound[key] for key in ("q(x)", "p(x)", r"\operatorname{KL}")}
        latex = r"\operatorname{KL}(q(x) \,\|\, p(x)) = \mathbb E_{q(x)}[\log q(x) - \log p(x)]"
        assert checked(latex, bound).mutants.survived == 0
        with pytest.raises(EquationError, match="does not hold"):
            checked(latex.replace("E_{q", "E_{p"), bound)

    def test_total_variance(self, checked):
        y = np.concatenate([given(x).points for x in POINTS])
        w = np.concatenate([w * given(x).weights for x, w in zip(POINTS, Q, strict=True)])
        bound = {"x": Nodes(POINTS, Q), "y": Nodes(y, w), r"y \mid x": Distribution(given)}
        latex = (
            r"\mathbb V[y] = \mathbb E_x\left[ \mathbb V[y \mid x] \right]"
            r" + \mathbb V_x\left[ \mathbb E[y \mid x] \right]"
        )
        assert checked(latex, bound).mutants.survived == 0


REFUSED = [
    (r"\mathbb E_{\text{nobody}(x)}[x]", r"`\text{nobody}(x)` is bound to no distribution"),
    (r"\mathbb E_{v(x)}[x]", "`v(x)` is bound to no distribution; bound distributions: `"),
    (r"\mathbb E_{x}[x]", "`x` is bound to no distribution without what it is given"),
    (r"\mathbb E_{a}[a]", "`a` is bound to no distribution"),
    (r"\mathbb E_{q}[x]", "say of which variable: `q(...)`"),
    (r"\mathbb E_{q}[a]", "say of which variable: `q(...)`"),
    (r"\mathbb E_{q(\cdot)}[a]", r"`\cdot` names no variable"),
    (r"\mathbb E_{x \sim}[a]", "something is missing here"),
    (r"\mathbb E_{x \sim v}[x]", "`v` is bound to no distribution"),
    (r"\mathbb E_{q(x \mid a)}[x]", "the nodes of `q` do not depend on what stands behind the bar"),
    (r"\mathbb E_{q(x), b}[x]", "`b` is bound to no distribution"),
    (r"\mathbb E_{q(x) 2}[x]", "`2` names no variable"),
    (r"\mathbb E_{q(2 x)}[x]", "`2x` is no variable"),
    (r"\mathbb E_{q(x)}[z]", "unbound symbol `z`"),
    (r"x + \mathbb E_{q(x)}[x]", "unbound symbol `x`"),
    (r"\mathbb E[y]", "say over which variable"),  # it has a distribution only where w is given
    (r"\mathbb E[y \mid a]", "nothing is bound as given `a`"),
    (r"\mathbb E_{q(x)}[y \mid w]", "say under the sign or behind the bar, not both"),
    (r"\mathbb E_{s(x, z)}[q]", "`q` is bound to a distribution"),
    (r"\mathbb E_{w}[w, w]", "an average is of one expression"),
    (r"\mathbb E_{s(x)}[x]", "`s(x)` is bound to no distribution; bound distributions"),
    (r"\mathbb E_{r(x \mid w)}[x]", r"`r(x|w)` is bound to no distribution"),
    (r"\mathbb E_{q(x,z)}[x z]", "the points of `q` have 1 column, and 2 variables are drawn"),
    (r"\log t(2)", "unbound symbol `t`"),
    (r"\mathbb E_{w}[w + h_i(2)]", "`h_i` has no density"),
    (r"\mathbb E_{w}[\log s(w, a)]", "unbound symbol `s`"),
]


def test_every_token_of_a_subscript_is_bound_or_refused():
    for latex, problem in REFUSED:
        with pytest.raises(EquationError) as error:
            value(latex)
        assert problem in error.value.problem, latex


def test_a_density_that_nobody_gave_is_named(checked):
    bound = {"q": Distribution(q.nodes), "a": 1.0}
    with pytest.raises(
        EquationError, match=r"`q` has no density: .*Distribution\(nodes, density\)"
    ):
        checked(r"a = \mathbb E_{q(x)}[\log q(x)]", bound)


def test_distributions_whose_weights_are_no_probabilities(checked):
    bound = {"q": Distribution(Nodes(POINTS, Q + 1)), "a": 1.0}
    with pytest.raises(EquationError, match="the weights of `q` sum to 5, not to one"):
        checked(r"a = \mathbb E_{q(x)}[x]", bound)


def test_what_is_no_distribution():
    with pytest.raises(TypeError, match="nodes must be Nodes, or a function that returns them"):
        Distribution([1.0, 2.0])
    with pytest.raises(TypeError, match="density must be a function"):
        Distribution(q.nodes, 2.0)
    with pytest.raises(ValueError, match=r"sizes must add up to the 4 columns .* got \(1, 2\)"):
        Nodes(np.ones((2, 4)), [0.5, 0.5], sizes=(1, 2))


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("q(x)", ("q", ("x",), ())),
        (r"p(y_i, z \mid \mathbf x; \theta)", ("p", ("y_i", "z"), (r"\mathbf x", r"\theta"))),
        (r"y \mid x", ("", ("y",), ("x",))),
        (r"p_{\theta}(x)", (r"p_\theta", ("x",), ())),
        ("q", None),
        (r"f^{(1)}", None),
    ],
)
def test_signatures(key, expected):
    assert signature(key) == expected


def test_what_is_printed_reads_the_same():
    for latex, _ in GIVEN:
        node = parse_expression(latex, NAMES)
        assert parse_expression(printed(node), NAMES) == node, printed(node)


def test_a_definition_that_binds_nothing_may_name_any_distribution():
    statement = parse(
        r"F = \mathbb E_{q(\mathbf f)}[\log p(\mathbf y \mid \mathbf f)]", {}, free=True
    )
    assert printed(statement.steps[0].right).startswith(r"\mathbb E_{q(\mathbf f)}")
