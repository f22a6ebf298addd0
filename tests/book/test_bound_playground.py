"""The figure of one count: its bound, its steps and its evidence are the package's."""

from __future__ import annotations

import re

import numpy as np
import pytest
from browsing import assert_fits, drag
from scipy import integrate, stats

import gpnotes as gp
from gpnotes import condition
from gpnotes.infer import svgp

pytestmark = pytest.mark.browser

POINT = np.zeros((1, 1))
MODEL = svgp.SVGP(gp.GP(gp.RBF(), 0.0), gp.Poisson(), POINT)


def numbers(page) -> list[float]:
    """Mean, standard deviation, bound, divergence and log evidence, as the state line has them."""
    words = page.inner_text(".gp-status").replace("\N{MINUS SIGN}", "-")
    return [float(word) for word in re.findall(r"-?\d+\.\d+", words)]


@pytest.mark.parametrize("y", [0, 4, 9])
def test_the_evidence_is_that_of_quadrature(opened, y):
    page = opened("bound")

    def joint(f):
        return stats.poisson.pmf(y, np.exp(f)) * stats.norm.pdf(f)

    whole = integrate.quad(joint, -12, 8, points=[0, 2])[0]
    found = page.evaluate("y => window.gpBound.evidence(y)", y)
    assert found == pytest.approx(np.log(whole), abs=1e-9)


@pytest.mark.parametrize("y", [1, 4, 8])
def test_bound_and_natural_steps_are_the_packages(opened, y):
    page = opened("bound")
    count = np.array([float(y)])
    q = svgp.natural_gradient_step(svgp.initial_posterior(MODEL), POINT, count, step_size=0.3)
    mean, v = (float(a[0]) for a in q.predict(POINT))
    run = "([y, m, v]) => [window.gpBound.bound(y, m, v), ...window.gpBound.natural(y, m, v)]"
    bound, after, spread = page.evaluate(run, [y, mean, v])
    assert bound == pytest.approx(float(svgp.elbo(q, POINT, count)), abs=1e-9)
    moved = svgp.natural_gradient_step(q, POINT, count).predict(POINT)
    assert [after, spread] == pytest.approx([float(a[0]) for a in moved], rel=1e-9)


@pytest.mark.parametrize("y", [1, 4, 8, 0, 2, 3, 5, 6, 7, 9, 10])
def test_the_best_is_where_natural_steps_end(opened, y):
    page = opened("bound")
    found = page.evaluate("y => window.gpBound.best(y)", y)
    q = condition(MODEL, POINT, np.array([float(y)]))
    assert found == pytest.approx([float(a[0]) for a in q.predict(POINT)], abs=1e-4)


def test_bound_and_divergence_add_up_wherever_q_is(opened):
    page = opened("bound")
    _, _, bound, divergence, evidence = numbers(page)
    assert divergence > 0.5
    page.click("[data-action=try-1]")
    _, _, best, least, same = numbers(page)
    assert (best > bound, least < 0.03, same) == (True, True, evidence)
    assert round(bound + divergence, 2) == evidence


def test_natural_steps_arrive_and_the_others_do_not(opened):
    page = opened("bound")
    for _ in range(5):
        page.click("[data-action=natural]")
    assert numbers(page)[3] < 0.03
    page.click("[data-action=reset]")
    for _ in range(5):
        page.click("[data-action=around]")
    assert numbers(page)[3] > 0.5


def test_the_top_of_q_is_dragged(opened):
    page = opened("bound")
    point = page.locator(".gp-point").nth(0)
    mean, sd, *_ = numbers(page)
    drag(point, -60, 40)
    after = numbers(page)
    assert after[0] < mean - 0.2
    assert after[1] > sd + 0.05


@pytest.mark.parametrize("width", [390, 1200])
def test_it_fits_its_window_and_its_readers(opened, width):
    page = opened("bound", width)
    assert_fits(page, width)
