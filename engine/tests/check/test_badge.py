"""The badge of a record: each part of its HTML, as a reader of it takes it in."""

import re

import pytest

from checked_equations.check import badge
from checked_equations.check.html import code, inline_math

MUTANTS = {
    "caught": 1, "spared": 1,
    "list": [
        {"edit": "- for +", "said": "$-$ for $+$", "latex": "a - b", "outcome": "caught",
         "residual": 0.25},
        {"edit": "drop b", "latex": "a < b", "outcome": "spared", "residual": None,
         "why": "<one>"},
    ],
}  # fmt: skip
CHECK = {
    "kind": "identity", "label": "eq-a", "chapter": "part/small", "rtol": 1e-9, "approx": None,
    "draws": 1, "steps": [{"latex": "a < b", "residual": 2e-11}], "mutants": MUTANTS,
    "oracle": "by hand", "route": ["quadrature"], "backend": "numpy",
}  # fmt: skip
DEFINITION = {**CHECK, "kind": "definition", "steps": [], "bare": ["f = g .;", "h,"], "why": "so"}


def lines(html):
    """Return the text of each element that has any, with its tag and class."""
    found = re.findall(r'<(\w+)(?: class="([^"]*)")?[^>]*>([^<]+)', html)
    return [(tag, name, text) for tag, name, text in found]


def test_the_frame_opens_to_its_panel():
    made = badge.framed_badge("identity", "eq-a", "<b>said</b>", "<p>in</p>")
    assert made == (
        '<details class="eqn-badge eqn-identity" data-label="eq-a"><summary>'
        '<span class="eqn-mark" aria-hidden="true"></span>'
        '<span class="eqn-said margin"><b>said</b></span></summary>'
        '<div class="eqn-panel"><p>in</p></div></details>'
    )
    opened = badge.framed_badge("identity", "eq-a", "", "", opened=True, spoken="read")
    assert opened.startswith('<details class="eqn-badge eqn-identity" data-label="eq-a" open>')
    assert '<summary aria-label="read">' in opened


def test_a_check_is_shown_with_its_steps_and_mutants():
    made = badge.check_details(CHECK, code)
    steps, facts, mutants = re.fullmatch(r"(<div.*?</div>)(<p>.*</p>)(<details.*)", made).groups()
    assert steps.startswith(
        '<div class="eqn-scroll" tabindex="0" role="region" aria-label="steps">'
    )
    assert lines(steps) == [
        ("th", "", "step"), ("th", "", "residual"), ("code", "", "a &lt; b"),
        ("td", "eqn-number", "2.0e−11"),
    ]  # fmt: skip
    assert lines(facts) == [
        ("p", "", "How this was checked: by hand; by quadrature. "
                  "Relative tolerance 1e-9; numpy arrays.")
    ]  # fmt: skip
    assert mutants.startswith('<details class="eqn-more"><summary>1 of 2 mutants caught (1 spared)')
    assert 'aria-label="mutants"' in mutants
    assert lines(mutants)[1:] == [
        ("th", "", "single edit"), ("th", "", "there it now reads"), ("th", "", "residual"),
        ("code", "", "-"), ("code", "", "+"), ("code", "", "a - b"), ("td", "eqn-number", "0.25"),
        ("td", "", "drop b"), ("small", "", "&lt;one&gt;"), ("code", "", "a &lt; b"),
        ("td", "eqn-number", "spared"),
    ]  # fmt: skip
    assert re.findall(r'<tr class="([^"]*)"', mutants) == ["eqn-caught", "eqn-spared"]
    assert badge.check_details(CHECK, code, "<i>tried</i>") == f"{steps}{facts}<i>tried</i>"
    none = badge.check_details(CHECK | {"mutants": {"caught": 0, "list": []}}, code)
    assert none == f"{steps}{facts}"


def test_what_is_typeset_is_typeset_as_on_its_own_line():
    made = badge.check_details(CHECK, inline_math)
    assert r'<span class="math">\(\displaystyle a &lt; b\)</span>' in made
    assert r'<td><span class="math">\(a - b\)</span></td>' in made


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"oracle": ""}, "Compared with what it defines; by quadrature. "
                         "Relative tolerance 1e-9; numpy arrays."),
        ({"route": ()}, "How this was checked: by hand. Relative tolerance 1e-9; numpy arrays."),
        ({"draws": 3, "tight": 2, "atol": 1e-12, "approx": 0.01},
         "How this was checked: by hand; by quadrature. Relative tolerance 1e-9; 1e-2 where "
         "approximate; absolute tolerance 1e−12; 3 draws of the numbers, the worst counts; "
         "2 draws on which it is tight; numpy arrays."),
        ({"draws": 2, "tight": 1},
         "How this was checked: by hand; by quadrature. Relative tolerance 1e-9; 2 draws of the "
         "numbers, the worst counts; 1 draw on which it is tight; numpy arrays."),
        ({"estimate": {"slip": 0.0345}, "more": {"answers": ["S1-01"]}},
         "How this was checked: by hand; by quadrature. A relative slip of 3.5 % or more would be "
         "caught; tolerance four standard errors; numpy arrays; answers S1-01."),
        ({"estimate": {"slip": None}},
         "How this was checked: by hand; by quadrature. Tolerance four standard errors; numpy "
         "arrays."),
    ],
)  # fmt: skip
def test_the_terms_of_a_check(more, said):
    made = badge.check_details(CHECK | more, code)
    assert [text for tag, _, text in lines(made) if tag == "p"] == [said]


def test_a_definition_shows_what_nothing_is_compared_with():
    said = (
        '<div class="eqn-scroll" tabindex="0" role="region" aria-label="by definition">'
        "<p>By definition: <code>f = g</code>, <code>h</code>; so.</p></div>"
    )
    assert badge.check_details(DEFINITION, code) == said
    assert "</code>.</p>" in badge.check_details(DEFINITION | {"why": ""}, code)
    steps = {"steps": CHECK["steps"]}
    compared = badge.check_details(CHECK, code)
    assert badge.check_details(DEFINITION | steps, code) == said + compared
    assert badge.check_details(DEFINITION | steps | {"bare": []}, code) == compared
    assert badge.check_details(CHECK | {"bare": ["f = g"]}, code) == compared


def test_notes_are_what_the_statement_does_not_say():
    made = badge.check_details(CHECK | {"notes": ["a is <b>", "b is even"]}, code)
    told = "A is &lt;b&gt;; b is even. The statement does not say so."
    assert ("p", "eqn-noted", told) in lines(made)
    assert made.index("eqn-noted") < made.index("eqn-more")


@pytest.mark.parametrize("kind", ["identity", "inequality", "estimate"])
def test_a_cell_shows_the_phrases_and_its_panel(kind):
    record = CHECK | {"kind": kind}
    made = badge.notebook_badge(record)
    said = "checked to 1e−9 · 1 of 2 mutants caught (1 spared) · by hand · by quadrature"
    panel = badge.check_details(record, code)
    assert made == badge.framed_badge(kind, "eq-a", said, panel)
    read = badge.notebook_badge(record | {"text": "a<b.md"})
    foot = '<p class="eqn-foot">Read from a&lt;b.md.</p>'
    assert read == badge.framed_badge(kind, "eq-a", f"{said} · a&lt;b.md", panel + foot)
    saved = badge.notebook_badge(record | {"text": "b.md", "saved": "Monday"})
    assert "Read from b.md, as it was saved on Monday.</p>" in saved
    assert badge.notebook_badge(record, "<i>own</i>") == badge.framed_badge(
        kind, "eq-a", said, "<i>own</i>"
    )


def test_a_cell_of_another_kind_shows_its_plain_line():
    made = badge.notebook_badge(DEFINITION)
    panel = badge.check_details(DEFINITION, code)
    assert made == badge.framed_badge("definition", "eq-a", "eq-a: definition, so", panel)
    other = {"kind": "claim", "said": "a < b", "chapter": "part/small"}
    assert badge.notebook_badge(other) == badge.framed_badge("claim", "part/small", "a &lt; b", "")
    assert badge.notebook_badge(other, "in") == badge.framed_badge(
        "claim", "part/small", "a &lt; b", "in"
    )
    for more in ({"label": "eq-a"}, {"label": "eq-b", "about": "eq-a"}):
        assert badge.notebook_badge(other | more) == badge.framed_badge(
            "claim", "eq-a", "a &lt; b", ""
        )
