"""Formulas are set when the book is built: no page needs a script for them, none is in LaTeX."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from browsing import STATIC

pytestmark = pytest.mark.book

CHAPTER = "book/gaussian-processes/function-view.html"
NODES = 12_000
PATIENCE = 300_000  # milliseconds: a machine may be busy
SHIFT = 0.05
SCRIPTS = STATIC / "mathematics"

# By the commands that the chapters use: each with what must be in its MathML.
COMMANDS = {
    r"\bar{\mathbf f}_* = K_{*f} K_y^{-1} \mathbf y": "𝐟",
    r"\hat{\boldsymbol\mu} \sim \mathcal{GP}(m, k)": "𝒢",
    r"\mathbb E[x] \in \mathbb R^{n \times d}": "ℝ",
    r"\operatorname{tr}(A) + \log\det B": ">tr<",
    r"\operatorname*{arg\,max}_{a \in \mathcal A} Q(s, a)": "arg",
    r"q < R_\max^{2} x^\min": "<msubsup",
    r"\left\lVert \mathbf w \right\rVert^2": ">‖</mo>",
    r"\begin{bmatrix} a & b \\ c & d \end{bmatrix}": "<mtable",
    r"\begin{split} a &= b \\ &= c \end{split}": "<mtable",
    r"\begin{cases} 1 & x > 0 \\ 0 & \text{otherwise} \end{cases}": "otherwise",
    r"\sum_{i=1}^n \prod_j \int_0^1 \sqrt[3]{x}": "<mroot",
    r"\binom{n}{k} \tfrac12 \dot x \tilde y \vec v": "<mfrac",
    r"\underbrace{a + b}_{n} + \overline{x}": "<munder",
    r"\Biggl( \biggl[ \Bigl\{ x \Bigr\} \biggr] \Biggr)": "maxsize",
    r"f'(x) + f''": "′",
    r"\class{eqn-changed}{x^2} + \class{eqn-gone}{\rule[-0.2em]{0.5em}{1em}}": "eqn-changed",
}


@pytest.fixture
def setter(extension: Any) -> Any:
    return extension("set_mathematics").Setter()


@pytest.mark.parametrize("display", [False, True])
@pytest.mark.parametrize(("latex", "has"), COMMANDS.items())
def test_the_commands_of_the_chapters_are_set(
    setter: Any, latex: str, has: str, display: bool
) -> None:
    markup = setter(latex, display)
    assert markup.startswith('<math display="block"' if display else "<math>")
    assert has in markup


@pytest.mark.parametrize("latex", [r"\frac{a}{", r"\nosuchthing{a}", "a^b^c", r"\href{x}{y}"])
def test_what_is_no_formula_is_refused(setter: Any, latex: str) -> None:
    with pytest.raises(ValueError, match="no formula that can be set") as refused:
        setter(latex, False)
    assert latex in str(refused.value)


def test_spaces_are_those_of_tex(setter: Any) -> None:
    """None around a sign in a script; a thin one before a function, and behind it."""
    script = setter("x_{i=1}", False)
    assert re.search(r'<mo( [lr]space="0"){2}>=</mo>', script)
    assert '<mspace width=".1667em"/><mi>log</mi>' in setter(r"K_y \log x", False)
    assert "<mspace" not in setter(r"= \log x", False)
    assert '<mo rspace=".1667em">\N{FUNCTION APPLICATION}</mo>' in setter(r"\log x", False)


def test_a_sign_that_is_marked_keeps_its_spaces(setter: Any) -> None:
    assert '<mo class="eqn-p1">+</mo>' in setter(r"a \class{eqn-p1}{+} b", True)
    assert '<mo class="eqn-p1">−</mo>' in setter(r"f(a) \class{eqn-p1}{-} b", True)
    behind = '<mo form="prefix" lspace="0em" rspace="0em" class="eqn-p1">−</mo>'
    assert behind in setter(r"a = \class{eqn-p1}{-} b", True)


@pytest.mark.parametrize("tall", [r"\frac12 a", r"\sum_i a", r"\begin{matrix} a \\ b \end{matrix}"])
def test_brackets_stretch_around_what_is_tall(setter: Any, tall: str) -> None:
    """Chromium gives one that may stretch the width of its largest form."""
    assert "stretchy" not in setter(rf"\left({tall}\right)", True)
    flat = setter(r"\left(K_y^{-1} + \left[\mathbf f\right]\right)", True)
    assert flat.count('stretchy="false"') == 4


def test_brackets_stretch_over_their_own_row_alone(setter: Any) -> None:
    beside = setter(r"a \left( -\frac12 \right) + \sum_{i=1}^n b_i", True)
    assert '<mrow><mo>(</mo><mo form="prefix">−</mo><mfrac>' in beside


def test_nothing_is_said_that_a_browser_does_of_itself(setter: Any) -> None:
    """Pages of hundreds of formulas are light by it; what changes a formula stays."""
    assert setter("K^{-1} f_*", False).count("<mo>") == 2
    assert '<mo stretchy="false">(</mo>' in setter("f(x')", False)
    assert '<mo class="pad1">′</mo>' in setter("f(x')", False)
    assert "<msqrt><mn>2</mn><mi>π</mi></msqrt>" in setter(r"\sqrt{2 \pi}", False)
    assert "<mo>∑</mo>" in setter(r"\sum_i x_i", True)
    assert 'movablelimits="false"' in setter(r"\begin{matrix} \sum\limits_i x_i \end{matrix}", True)
    assert '<mo form="prefix">−</mo>' in setter("a = -b", False)
    assert '<mo stretchy="false" class="acc">ˆ</mo>' in setter(r"\hat\Lambda", False)
    assert " style=" not in setter(r"\begin{split} a &= b \\ &= c \end{split}", True)
    assert " style=" not in setter(r"\begin{bmatrix} a & b & c \end{bmatrix}", True)
    assert " style=" in setter(r"\begin{cases} 1 & x \\ 0 & y \end{cases}", True)


def test_a_page_keeps_latex_numbers_and_the_rest(setter: Any) -> None:
    page = (
        '<p title="\\(a\\)">By <span class="math notranslate nohighlight">\\(a &lt; b\\)</span></p>'
        '<div class="math notranslate nohighlight" id="equation-eq-a">\n<span class="eqno">(1)'
        '<a class="headerlink" href="#equation-eq-a">#</a></span>\\[c\n= d\\]</div>'
        "<code>\\(e\\)</code>"
    )
    found = setter.page(page)
    assert '<math class="math notranslate" data-latex="a &lt; b"><mi>a</mi>' in found
    assert '(1)<a class="headerlink" href="#equation-eq-a">#</a></span>' in found
    assert '<span class="math-set"><math display="block">' in found
    assert '<p title="\\(a\\)">' in found
    assert found.endswith("<code>\\(e\\)</code>")
    assert setter.page(found) == found


def test_a_formula_is_set_once(extension: Any, tmp_path: Path, monkeypatch: Any) -> None:
    module = extension("set_mathematics")
    file = tmp_path / "kept" / "mathematics.json"
    setter = module.Setter(file)
    first = setter("a + b", False)
    setter.keep()
    monkeypatch.setattr(module, "_set", lambda *_: pytest.fail("set again"))
    assert module.Setter(file)("a + b", False) == first
    with pytest.raises(pytest.fail.Exception):
        module.Setter(file)("a + b", True)  # a display is another formula


def test_a_build_fails_by_a_formula_that_cannot_be_set(tiny_book: Any, tmp_path: Path) -> None:
    page = "# One\n\n{math}`a + b`, then {math}`\\nosuchthing`.\n"
    built = tiny_book(tmp_path, {"one": page}, extensions=("set_mathematics",))
    assert built.code != 0
    assert r"one.html: no formula that can be set" in built.warned
    assert r"\nosuchthing" in built.warned


HEIGHTS = """() => [...document.querySelectorAll('math')].map(math => {
    const [plus, scripted] = math.children;
    return scripted.lastElementChild.getBoundingClientRect().y - plus.getBoundingClientRect().y;
})"""


@pytest.mark.browser
@pytest.mark.parametrize("pair", [(r"+\Sigma_1", r"+\mu_1"), ("+n^2", r"+\left(n\right)^2")])
def test_scripts_of_neighbours_stand_on_one_line(
    browser: Any, setter: Any, tmp_path: Path, pair: tuple[str, str]
) -> None:
    """Also where what they stand on reaches below the line, or above."""
    style = (SCRIPTS / "mathematics.css").as_uri()
    both = " ".join(setter(latex, False) for latex in pair)
    file = tmp_path / "one.html"
    file.write_text(f'<!DOCTYPE html><link rel="stylesheet" href="{style}">{both}', "utf-8")
    page = browser.new_page()
    page.goto(file.as_uri())
    page.evaluate("() => document.fonts.ready")
    one, other = page.evaluate(HEIGHTS)
    page.close()
    assert one == pytest.approx(other, abs=0.5)


LEFT = ":is(.math, .eqn-set):not(.eqn-later)"  # what waits in long tables comes with its reader


@pytest.mark.site
def test_no_page_has_a_formula_in_latex(trees: Any) -> None:
    """As a reader without JavaScript gets it."""
    counted, left = 0, {}
    for name, tree in trees.items():
        formulas = tree.css(LEFT)
        counted += len(formulas)
        raw = [one.text()[:60] for one in formulas if one.tag != "math" and not one.css("math")]
        bad = [one.text()[:60] for one in tree.css(".math-error, .temml-error")]
        if raw or bad:
            left[name] = raw + bad
    assert left == {}
    assert counted > 5_000


@pytest.mark.site
def test_no_page_loads_mathjax(book_html: Path, trees: Any) -> None:
    assert not (book_html / "_static" / "mathjax").exists()
    assert [name for name, tree in trees.items() if tree.css_first("script[src*='tex-']")] == []
    folder = book_html / "_static" / "mathematics"
    assert (folder / "book-math.woff2").stat().st_size < 300_000
    assert "GUST" in (folder / "LICENSES.txt").read_text("utf-8")


# To ask what is folded for its size lays it out: a box of code at a time it took half a second.
MEASURED = """window.measured = [];
for (const name of ['scrollWidth', 'scrollHeight', 'clientWidth', 'clientHeight']) {
    const { get } = Object.getOwnPropertyDescriptor(Element.prototype, name);
    Object.defineProperty(Element.prototype, name, { get() {
        if (this.closest('details:not([open]) > :not(summary)'))
            window.measured.push(`${name} of ${this.outerHTML.slice(0, 60)}`);
        return get.call(this);
    } });
}"""


@pytest.mark.site
@pytest.mark.browser
def test_nothing_that_is_folded_is_measured_when_a_page_opens(
    browser: Any, book_html: Path
) -> None:
    page = browser.new_page(viewport={"width": 1280, "height": 720})
    page.set_default_timeout(PATIENCE)
    page.add_init_script(MEASURED)
    page.goto((book_html / CHAPTER).as_uri())
    page.evaluate("() => document.fonts.ready")
    page.wait_for_timeout(1000)
    assert page.locator("details:not([open]) pre").count() > 20
    assert page.evaluate("window.measured") == []
    page.close()


@pytest.mark.site
@pytest.mark.browser
def test_a_chapter_has_few_nodes_and_stays_where_it_is(browser: Any, book_html: Path) -> None:
    page = browser.new_page(viewport={"width": 1280, "height": 720})
    page.set_default_timeout(PATIENCE)
    page.add_init_script(
        "window.moved = 0; new PerformanceObserver((list) => list.getEntries().forEach("
        "(e) => { window.moved += e.value; })).observe({ type: 'layout-shift', buffered: true });"
    )
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto((book_html / CHAPTER).as_uri())
    page.evaluate("() => document.fonts.ready")
    page.wait_for_timeout(500)
    assert page.evaluate("document.querySelectorAll('*').length") <= NODES
    assert page.evaluate("window.moved") < SHIFT
    assert page.locator("math [tabindex], math[tabindex]").count() == 0  # no stops of the keyboard
    assert any("book-math.woff2" in url for url in asked)
    page.close()
