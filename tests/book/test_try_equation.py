"""The page on which one pastes an equation, as it was built."""

from __future__ import annotations

from typing import Any

import pytest
from browsing import barriers

pytestmark = [pytest.mark.book, pytest.mark.browser]

PAGE = "book/api/try-an-equation.html"


def test_one_pastes_an_equation_and_takes_what_mends_it(read: Any, visit: Any) -> None:
    seen = visit(PAGE)
    page = seen.page
    root = page.locator("[data-equation-trial]")
    told = root.locator("[role=status]")
    assert told.inner_text().startswith("Does not hold on 32 draws: off by")
    assert "One single edit mends it" in told.inner_text()
    root.get_by_role("button", name="take it").click()
    assert told.inner_text().startswith("Holds on 32 draws")
    field = page.get_by_label("An equation, in LaTeX")
    field.fill(r"\sqrt{a^2} = a")
    page.wait_for_function("() => document.querySelector('[data-equation-trial]').trial.found.only")
    assert told.inner_text().startswith("Holds if the numbers are positive")
    assert "latex=" in page.url
    root.get_by_label("what a is drawn as").select_option("number")
    assert told.inner_text().startswith("Does not hold")
    root.get_by_label("the value of a").fill("2.5")
    root.get_by_label("the value of a").press("Enter")
    assert told.inner_text().startswith("Holds at these numbers, exactly")
    field.fill("E = m c^2")
    page.wait_for_function(
        "() => document.querySelector('[data-equation-trial]').dataset.outcome == 'definition'"
    )
    assert (seen.foreign, seen.failed, seen.complaints) == ([], [], [])


def test_an_example_of_the_language_is_chosen_and_spoilt(visit: Any) -> None:
    page = visit(PAGE, width=390).page
    page.evaluate("location.hash = '#latex=' + encodeURIComponent('a + b = b + a')")
    page.wait_for_function(
        "() => document.querySelector('[data-equation-trial]').dataset.outcome == 'holds'"
    )
    root = page.locator("[data-equation-trial]")
    told = root.locator("[role=status]")
    assert told.inner_text().startswith("Holds on 32 draws, exactly")
    menu = root.locator(".eqn-or select")
    assert int(menu.get_attribute("data-here")) >= 180
    menu.select_option(label="factorials and binomials")
    assert told.inner_text().startswith("Holds at these numbers")
    field = page.get_by_label("An equation, in LaTeX")
    field.fill(field.input_value().replace("n - k", "n + k"))
    page.wait_for_function(
        "() => document.querySelector('[data-equation-trial]').dataset.outcome == 'fails'"
    )
    assert root.locator("h3").inner_text() == "What would mend it"
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    # a third of a second after the last change of height, wide code is within reach of the keys
    page.wait_for_function(
        "() => [...document.querySelectorAll('pre')].every("
        "(box) => box.scrollWidth <= box.clientWidth || box.tabIndex === 0)"
    )
    assert barriers(page) == []


def test_the_first_page_has_a_field_that_leads_to_the_answer(visit: Any) -> None:
    page = visit("book/index.html").page
    page.get_by_label("Your equation, in LaTeX").fill(r"(A B)^{-1} = A^{-1} B^{-1}")
    page.get_by_role("button", name="Try it").click()
    page.wait_for_function(
        "() => document.querySelector('[data-equation-trial]')?.dataset.outcome == 'fails'"
    )
    assert "does not hold" in page.locator("[role=status]").first.inner_text().lower()
