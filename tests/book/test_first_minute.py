"""The first minute: the equations of the front page, evaluated in the browser from what is printed.

Whatever slip is made in them, the script has the value that the engine has, or neither has one.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from browsing import engine, slips_beside

from checked_equations.evaluate.evaluator import Evaluator
from checked_equations.evaluate.values import kind
from checked_equations.latex.names import normal
from checked_equations.latex.parser import parse_expression

pytestmark = [pytest.mark.book, pytest.mark.browser]

FRONT = "book/index.html"
EQUATIONS = ["eq-fv-mean", "eq-fv-cov"]


ASKED = """([latex, whole, table]) => {
    try { return equationMembers.value(latex, whole, table); }
    catch (error) {
        if (!(error instanceof equationMembers.Nonsense)) throw error;
        return error.message;
    }
}"""


@pytest.fixture
def value(opened: Any) -> Any:
    """The script's value of an equation that was edited: a list of rows, or what it says."""
    page = opened("exact", tail=engine("members"))
    return lambda latex, whole, table: page.evaluate(ASKED, [latex, whole, table])


@pytest.fixture(scope="module")
def table() -> dict[str, Any]:
    draw = np.random.default_rng(5)
    A, y = draw.standard_normal((4, 7)), draw.standard_normal(4)
    K = A @ A.T
    Ky = K + 0.3**2 * np.eye(4)
    cross, own = draw.standard_normal((3, 4)), draw.standard_normal((3, 3))
    return {
        "K_{*f}": cross, "K_{f*}": cross.T, "K_{ff}": K, "K_y": Ky, "K_{**}": own @ own.T,
        r"\sigma_n": 0.3, r"\mathbf y": y, r"\boldsymbol\alpha": np.linalg.solve(Ky, y),
    }  # fmt: skip


def plain(table: dict[str, Any]) -> dict[str, Any]:
    """The numbers as the script takes them: a vector is a column."""
    arrays = {name: np.asarray(one) for name, one in table.items()}
    rows = {name: one[:, None] if one.ndim == 1 else one for name, one in arrays.items()}
    return {name: one.tolist() for name, one in rows.items()}


def member(latex: str, whole: str) -> str:
    """The part between signs of equality that differs, else the first after one."""
    bare = (re.sub(r"\\\\|&|\\,", " ", text).strip(" .,") for text in (latex, whole))
    now, then = (text.split("=") for text in bare)
    changed = [a for a, b in zip(now[1:], then[1:], strict=True) if a != b]
    return (changed or now[1:])[0]


def of_engine(latex: str, table: dict[str, Any], result: Any) -> bool:
    """Whether the engine, too, finds this value."""
    numbers = {**table, "I": np.eye(4)}
    names = {normal(key): kind(value) for key, value in numbers.items()}
    found = Evaluator(numbers, latex).value(parse_expression(latex, names))
    return np.allclose(np.squeeze(found), np.squeeze(np.asarray(result)), rtol=1e-9)


@pytest.mark.parametrize("label", EQUATIONS)
def test_every_slip_has_the_value_of_the_engine(
    value: Any, table: dict[str, Any], book_html: Path, label: str
) -> None:
    record = slips_beside(book_html, FRONT)[label][0]
    whole = record["latex"]
    right = value(whole, whole, plain(table))
    assert of_engine(member(whole, whole), table, right)
    seen = {"a value": 0, "none": 0}
    for said, _, outcome, off, _, (start, end, text), *_ in record["mutants"]:
        latex = whole[:start] + text + whole[end:]
        found = value(latex, whole, plain(table))
        if outcome == "caught" and off == "does not conform" and isinstance(found, str):
            seen["none"] += 1
            continue
        assert not isinstance(found, str), (said, found)
        assert of_engine(member(latex, whole), table, found), said
        if off != "does not conform":
            assert np.shape(found) != np.shape(right) or not np.allclose(found, right), said
        seen["a value"] += 1
    assert min(seen.values()) > 0


@pytest.mark.parametrize(
    ("latex", "said"),
    [
        (r"a = K_{*f} K_{f*} \mathbf y", "3 × 3 times 4 × 1 does not fit"),
        (r"a = K_{*f}^{-1}", "3 × 4 has no inverse"),
        (r"a = K_y + \mathbf y", "4 × 4 and 4 × 1 cannot be added"),
        (r"a = (K_y", "a bracket is left open"),
        (r"a = K_y + ", "something is missing"),
        (r"a = B \mathbf y", "B has no value here"),
        (r"a = K_y^{1/2}", "a broken power of a matrix needs the command"),
    ],
)
def test_what_has_no_value_is_said(value: Any, table: Any, latex: str, said: str) -> None:
    assert value(latex, latex, plain(table)) == said


@pytest.mark.parametrize(
    ("latex", "expected"),
    [
        (r"a = K_{*f} K_{*f}^\top", lambda t: t["K_{*f}"] @ t["K_{*f}"].T),
        (r"a = -2 K_y^{2} - I", lambda t: -2 * t["K_y"] @ t["K_y"] - np.eye(4)),
        (r"a = \frac{1}{2} [K_y - (-K_{ff})]", lambda t: (t["K_y"] + t["K_{ff}"]) / 2),
        (r"a = \mathbf y^\top K_y^{-2} \mathbf y", lambda t: _twice(t) @ _twice(t)),
    ],
)
def test_what_is_read_has_the_value_of_numpy(value: Any, table: Any, latex: str, expected: Any):
    np.testing.assert_allclose(value(latex, latex, plain(table)), expected(table), rtol=1e-9)


def _twice(table: dict[str, Any]) -> Any:
    return np.linalg.solve(table["K_y"], table[r"\mathbf y"])


FIGURE = "#fig-front .gp-playground"
PRESSED = f"() => document.querySelector('{FIGURE} [data-action=slip][aria-pressed=true]')"
READY = (
    f"() => [...document.querySelectorAll('{FIGURE} [data-action=slip]')].every(b => !b.disabled)"
)


@pytest.fixture
def front(visit: Any) -> Any:
    page = visit(FRONT).page
    page.wait_for_function(READY)
    return page


def drawn(page: Any) -> list[str]:
    return page.evaluate(
        f"() => [...document.querySelectorAll('{FIGURE} path:is(.gp-mean, .gp-band-f)')]"
        ".map(path => path.getAttribute('d'))"
    )


def test_a_slip_in_an_equation_is_seen_in_the_picture_and_taken_back(front: Any) -> None:
    whole = drawn(front)
    figure = front.locator(FIGURE)
    button = front.get_by_role("button", name="Plus for minus")
    button.click()
    front.wait_for_function(PRESSED)
    broken = front.locator(".eqn-badge[data-label='eq-fv-cov']")
    assert "eqn-broken" in broken.get_attribute("class")
    assert "One standard deviation is off by up to" in figure.locator(".gp-status").inner_text()
    spoilt = drawn(front)
    assert spoilt[0] != whole[0]
    assert spoilt[1] == whole[1]
    button.click()
    assert drawn(front) == whole
    assert "eqn-broken" not in broken.get_attribute("class")


@pytest.mark.parametrize(("width", "height"), [(1280, 720), (390, 844)])
def test_slips_and_the_picture_that_they_spoil_share_a_screen(
    front: Any, width: int, height: int
) -> None:
    front.set_viewport_size({"width": width, "height": height})
    picture = front.locator(f"{FIGURE} .gp-plot svg").bounding_box()
    slips = front.locator(f"{FIGURE} .gp-trials").bounding_box()
    assert picture["y"] > 0
    assert picture["y"] + picture["height"] < slips["y"]
    assert slips["y"] + slips["height"] < height


def test_a_place_chosen_in_the_equation_does_the_same(front: Any) -> None:
    whole = drawn(front)
    frame = front.locator(".eqn-badge[data-label='eq-fv-cov']").locator("xpath=..")
    frame.locator(".eqn-place[title='flip the sign of K_{**}']").click()
    said = front.locator(f"{FIGURE} .gp-status").inner_text()
    assert "The variance is negative at 100 % of the places" in said
    assert front.locator(f"{FIGURE} .gp-band-negative").count() == 1
    frame.locator(".eqn-place[title='drop the factor K_{*f}']").click()
    said = front.locator(f"{FIGURE} .gp-status").inner_text()
    assert "It cannot be evaluated: 121 × 121 and 6 × 121 cannot be added" in said
    front.get_by_role("button", name="Start again").click()
    assert drawn(front) == whole


def test_readings_move_both_curves(front: Any) -> None:
    whole = drawn(front)
    front.locator(f"{FIGURE} .gp-point").nth(2).focus()
    front.keyboard.press("ArrowUp")
    moved = drawn(front)
    assert moved[1] != whole[1]
    front.keyboard.press("Delete")
    assert "5 observations" in front.locator(f"{FIGURE} .gp-status").inner_text()
