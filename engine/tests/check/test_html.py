"""Pieces of HTML: nothing unescaped, numbers that a reader can take in."""

from __future__ import annotations

import pytest

from checked_equations.check import html


def test_attributes_are_escaped_and_empty_ones_left_out() -> None:
    made = html.element("a", "x", class_="c", href='"<', title=None, hidden=False, open=True)
    assert made == '<a class="c" href="&quot;&lt;" open>x</a>'


@pytest.mark.parametrize("make", [html.inline_math, html.display, html.later, html.say])
def test_latex_cannot_become_markup(make: object) -> None:
    assert "<b>" not in make("a <b> c")


def test_quotes_stay_in_a_text_and_are_escaped_in_attributes() -> None:
    assert html.say("a \"b\" & 'c' <d>") == "a \"b\" &amp; 'c' &lt;d&gt;"
    assert html.element("a", href="\"'&") == '<a href="&quot;&#x27;&amp;"></a>'


def test_a_link_without_an_address_is_text() -> None:
    assert html.link("a<b", "") == "a&lt;b"
    assert html.link("a", "#x") == '<a href="#x">a</a>'


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, "does not conform"),
        (0.0, "0"),
        (1.34e-15, "1.3e−15"),
        (0.25, "0.25"),
        (0.001, "0.001"),
        (-0.0012, "-0.0012"),
        (9.96e-4, "1.0e−3"),
        (999.0, "1e+03"),
        (1000.0, "1.0e3"),
        (12345.0, "1.2e4"),
    ],
)
def test_residuals_are_short(value: float | None, shown: str) -> None:
    assert html.number(value) == shown


def test_tolerances_are_powers_of_ten() -> None:
    assert html.tolerance(1e-9) == "1e−9"
    assert html.tolerance(None) == ""


def test_an_edit_is_words_and_mathematics() -> None:
    made = html.phrase(r"drop the factor $\frac{1}{2}$ (2)")
    assert made.startswith("drop the factor <span")
    assert r"\(\frac{1}{2}\)" in made
    assert made.endswith("</span> (2)")


def test_letters_that_are_words_as_well_stay_in_their_formula() -> None:
    made = html.phrase(r"$\mathbf a$ for $a$")
    assert made.count("<span") == 2
    assert r"\(\mathbf a\)" in made
    assert r"\(a\)" in made


@pytest.mark.parametrize("latex", [r"\mathbf", r"\left( a", r"a \right)", "{a", r"\frac{a}", "x_"])
def test_what_cannot_be_typeset_is_shown_as_it_is_written(latex: str) -> None:
    assert html.later(latex) == f"<code>{latex}</code>"


def test_several_lines_are_laid_out_together() -> None:
    assert r"\begin{split}a &amp;= b \\ &amp;= c\end{split}" in html.display(r"a &= b \\ &= c")
    assert "split" not in html.display("a = b")
