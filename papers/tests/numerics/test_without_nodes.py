"""What is tried without nodes: integrals, endless sums, expansions that are cut, slopes."""

import math

import numpy as np
import pytest

from checked_equations import Nodes
from checked_equations.errors import EquationError, OperationError
from checked_equations.evaluate.evaluator import Evaluator, largest, magnitude, usual
from checked_equations.evaluate.values import Word, kind
from checked_equations.latex.names import normal
from checked_equations.latex.parser import parse_expression
from checked_papers.numerics import unbound
from checked_papers.numerics.asymptotic_series import FAR, cut
from checked_papers.numerics.compiled_functions import function_of

BOUND = {"L": Nodes([0.5, 1.5], [1.0, 1.0])}


def value(latex, bound, free=True, beyond=unbound):
    names = {normal(key): kind(one) for key, one in bound.items()}
    return Evaluator(bound, latex, beyond=beyond).value(parse_expression(latex, names, free=free))


def problem(latex, bound):
    with pytest.raises(EquationError) as error:
        value(latex, bound)
    return error.value.problem


def test_an_integrand_is_seen_near_its_ends():
    node = parse_expression(r"\int_0^1 u \,\mathrm d u", {}, free=True)
    evaluator = Evaluator({}, beyond=unbound)
    evaluator.value(node)
    assert magnitude(node, evaluator) == pytest.approx(0.5, abs=0.01)
    assert usual(node.body, evaluator) < largest(node.body, evaluator) <= 1.0
    assert usual(node.body, Evaluator({})) == largest(node.body, Evaluator({})) == 0.0


def test_what_is_bound_is_integrated_over_its_nodes():
    assert value(r"\int_0^2 L^2 \,\mathrm d L", BOUND, free=False) == 2.5
    assert value(r"\int_0^2 u^2 \,\mathrm d u", {}) == pytest.approx(8 / 3)
    latex = r"\int_0^1 \int_0^1 u w \,\mathrm d u \,\mathrm d w"
    assert value(latex, {}) == pytest.approx(0.25)
    assert "an integral over one variable between limits can be tried" in problem(
        r"\int u \,\mathrm d u", {}
    )


@pytest.mark.parametrize(
    ("term", "first", "wanted"),
    [
        (lambda k: (-1) ** k * math.factorial(k) / 40.0**k, 0, 0.976164603),
        (lambda k: 0.5**k, 0, 2.0),
        (lambda k: 0.5**k, 3, 0.25),
        (lambda k: (0.0, 0.5, 5.0)[k] if k < 3 else 0.01**k, 0, 5.5 + 0.01**3 / 0.99),
    ],
)
def test_an_expansion_is_cut_where_its_terms_are_smallest(term, first, wanted):
    assert cut(term, first).real == pytest.approx(wanted, abs=1e-9)


def test_terms_that_stay_as_small_are_added():
    assert cut(lambda k: 1.0 if k == 0 else 1e-12, 0).real == pytest.approx(1.0, abs=1e-9)
    asked = []
    cut(lambda k: asked.append(k) or (1.0, 1e-12, 1e-12, 1e-12, 1e-12, 1e-11)[k], 0)
    assert asked == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize(
    ("terms", "asked", "total"),
    [
        ((1.0, 1e-12, 1e-11, 2e-11), 4, 1.0 + 1e-12 + 1e-11),  # which may begin by growing
        ((1.0, 1e-11, 1e-12, 2e-12), 4, 1.0 + 1.1e-11),
        ((1.0, 1e-11, 1e-11, 1e-11, 1e-11, 2e-11), 6, 1.0 + 4e-11),
        ((1.0, 2.0, 3.0, 1e-11, 2e-11), 5, None),
        ((1.0, 0.0, 1e-11, 0.0, 2e-11), 5, 1.0 + 1e-11),
        ((1.0, 0.9e-16), 2, 1.0),
    ],
)
def test_an_expansion_ends_before_the_term_that_grows_behind_the_third(terms, asked, total):
    called = []

    def term(k):
        called.append(k)
        return terms[k - 5]

    found = cut(term, 5)
    assert called == list(range(5, 5 + asked))
    assert found.real == pytest.approx(sum(terms[:4]) if total is None else total, rel=1e-15)


def test_terms_that_stay_large_are_no_expansion():
    with pytest.raises(OperationError, match="the terms of the expansion do not become small"):
        cut(lambda k: math.factorial(k) / 3.0**k, 0)
    asked = []
    cut(lambda k: asked.append(k) or 10.0 ** (-20 * k), 0)
    assert asked == [0, 1]
    node = parse_expression(r"\sum_{k=0}^\infty (-1)^k \frac{k!}{40^k}", {}, free=True)
    assert Evaluator({}, beyond=FAR).value(node) == pytest.approx(0.976164603, abs=1e-9)


def test_what_is_tried_without_nodes():
    for latex, wanted in (
        (r"\int_1^3 u \,\mathrm d u", 4.0), (r"\int_3^1 u \,\mathrm d u", -4.0),
        (r"\int_1^\infty u^{-2} \,\mathrm d u", 1.0), (r"\int_{-\infty}^0 e^u \,\mathrm d u", 1.0),
        (r"\int_{-\infty}^\infty e^{-u^2} \,\mathrm d u", math.sqrt(math.pi)),
        (r"\sum_{k=-\infty}^\infty 2^{-k^2}", 2.128936827211877),
        (r"\prod_{k=2}^\infty (1 - k^{-2})", 0.5), (r"\sum_{k=3}^\infty 2^{-k}", 0.25),
        (r"\frac{\mathrm d^2}{\mathrm d a^2} a^3", 18.0),
    ):  # fmt: skip
        found = value(latex, {"a": 3.0})
        assert found == pytest.approx(wanted, rel=1e-8), latex
        assert found.dtype == np.float64
    assert "over a range without end is not tried" in problem(r"\max_{k=1}^\infty a", {"a": 1.0})


def test_a_compiled_expression_leaves_to_the_evaluator_what_it_cannot():
    bound = {"f": lambda u: np.inf if u > 1 else 2.0 * u, "a": 3.0, "erf": Word(lambda u: u + 1)}
    names = {key: kind(one) for key, one in bound.items()} | {"u": "value"}

    def made(latex):
        return function_of(parse_expression(latex, names), "u", Evaluator(bound), {}, "at")

    assert made("f(u) + a")(0.5) == 4.0
    with pytest.raises(EquationError, match="the value of `f` is infinite"):
        made("f(u) + a")(2.0)
    assert made(r"a - u - a u")(2.0) == -5.0
    assert made(r"-u + a")(2.0) == 1.0
    assert made(r"u^{-1} + u^{a}")(2.0) == 8.5
    assert made(r"\sqrt{u} + \sqrt[3]{u}")(64.0) == 12.0
    assert made(r"\sum_{i=1}^3 u i")(2.0) == 12.0
    assert made(r"\mathbf 1[u > 1] + a")(2.0) == 4.0
    assert made(r"\max(u, a)")(2.0) == 3.0
