"""Commands of LaTeX's packages: read where the text loads the package, and judged rightly."""

from __future__ import annotations

from pathlib import Path

import pytest
from displays import AGREES, FAILS

from checked_equations.errors import EquationError
from checked_papers.declarations import Declared
from checked_papers.display_trials import tasks, try_one
from checked_papers.document_formats import read
from checked_papers.findings import Finding
from checked_papers.sources.package_commands import USED, packages_of, written_out
from checked_papers.sources.units import data, number, unit


def tried_in(folder: Path, packages: str, latex: str, more: str = "") -> Finding:
    """What is found of a display in a paper that loads some packages."""
    uses = f"\\usepackage{{{packages}}}" if packages else ""
    paper = folder / "paper.tex"
    paper.write_text(f"\\documentclass{{article}}{uses}{more}\\begin{{document}}\\[{latex}\\]")
    (task,) = tasks(read(paper), Declared(), {})
    return try_one(task)


TRUE_AND_SPOILT = [
    ("physics", r"\dv{x} \sin x = \cos x", r"\dv{x} \sin x = -\cos x"),
    ("physics", r"\dv[2]{x} \sin x = -\sin x", r"\dv[2]{x} \sin x = \sin x"),
    ("physics", r"\dv{x}(x^3 + x) = 3x^2 + 1", r"\dv{x}(x^3 + x) = 3x^2 + x"),
    ("physics", r"\dv*{x^3 + x}{x} = 3x^2 + 1", r"\dv{x^3 + x}{x} = 3x^2 - 1"),
    ("physics", r"\pdv{(x^2 y^3)}{x}{y} = 6 x y^2", r"\pdv{(x^2 y^3)}{x}{y} = 6 x y"),
    ("physics", r"\pdv[2]{x} (x^3 y) = 6 x y", r"\pdv[2]{x} (x^3 y) = 3 x^2 y"),
    ("physics", r"\abs{x}^2 = x^2", r"\abs{x}^2 = x^3"),
    ("physics", r"\norm{\vb{x}}^2 = \vb{x}^\top \vb{x}", r"\norm{\vb{x}}^2 = 2 \vb{x}^\top \vb{x}"),
    ("physics", r"\qty(a+b)^2 = a^2 + 2ab + b^2", r"\qty\Big(a+b)^2 = a^2 + ab + b^2"),
    ("physics", r"\qty[a+b] c = ac + bc", r"\qty{a+b} c = ac - bc"),
    ("physics", r"\qty|a b| = \qty|a| \qty|b|", r"\qty|a b| = \qty|a| \qty|c|"),
    ("physics", r"\exp(x + y) = \exp(x) \exp(y)", r"\exp(x + y) = \exp(x) + \exp(y)"),
    ("physics", r"\sin[2](x) + \cos[2](x) = 1", r"\sin[2](x) - \cos[2](x) = 1"),
    ("physics", r"\mdet{a & b \\ c & d} = ad - bc", r"\mdet{a & b \\ c & d} = ad + bc"),
    ("physics", r"\mqty[a & 0 \\ 0 & b] \mqty(1 \\ 1) = \mqty(a \\ b)",
     r"\mqty[a & 0 \\ 0 & b] \mqty(1 \\ 1) = \mqty(b \\ a)"),
    ("physics", r"\int_0^1 x^2 \dd{x} = \frac13", r"\int_0^1 x^2 \dd x = \frac12"),
    ("physics", r"\vb{a} \cross \vb{b} = -\vb{b} \cross \vb{a}",
     r"\vb{a} \cross \vb{b} = \vb{b} \cross \vb{a}"),
    ("derivative", r"\odv[order=2]{\sin x}{x} = -\sin x", r"\odv{\sin x}{x} = \sin x"),
    ("derivative", r"\pdv[ord=2]{x^3}{x} = 6 x", r"\odv[ord=2]{x^3}{x} = 3 x^2"),
    ("derivative", r"\pdv{(x^2 y^3)}{x, y} = 6 x y^2", r"\pdv{(x^2 y^3)}{x, y} = 6 x y"),
    ("physics2", r"\ab(a+b)^2 = a^2 + 2ab + b^2", r"\ab(a+b)^2 = a^2 + b^2"),
    ("commath", r"\od[2]{\sin x}{x} = -\sin x", r"\od{\sin x}{x} = \sin x"),
    ("commath", r"\md{(x^2 y^3)}{2}{x}{1}{y}{1} = 6 x y^2", r"\pd{(x^2 y)}{x} = 2 x"),
    ("commath", r"\int_0^1 x \dif x = \frac12", r"\int_0^1 x \dif x = \frac13"),
    ("nicefrac", r"\nicefrac12 + \nicefrac{1}{3} = \nicefrac{5}{6}",
     r"\nicefrac12 + \nicefrac{1}{3} = \nicefrac{2}{5}"),
    ("mathtools", r"\sum_{\mathclap{1 \le i \le 3}} i = 6",
     r"\sum_{\mathclap{1 \le i \le 3}} i = 7"),
    ("mathtools", r"\sum_{\mathclap[\scriptstyle]{1 \le i \le 3}} i = 6",
     r"\sum_{\crampedrlap[\scriptstyle]{1 \le i \le 3}} i = 7"),
    ("mathtools", r"\begin{vsmallmatrix} a & b \\ c & d \end{vsmallmatrix} = ad - bc",
     r"\begin{vmatrix*}[r] a & b \\ c & d \end{vmatrix*} = ad + bc"),
    ("xfrac", r"\sfrac{1}[/]{2} + \sfrac13 = \sfrac{5}{6}", r"\sfrac12 + \sfrac13 = \sfrac{2}{5}"),
    ("units", r"\unitfrac[36]{km}{h} = \unitfrac[10]{m}{s}",
     r"\unitfrac[36]{km}{h} = \unitfrac[11]{m}{s}"),
    ("units", r"\unit[3 \cdot 10^3]{m} = 3 \unit{km}", r"\unit[a + b]{m} = \unit[a - b]{m}"),
    ("physics2", r"\pab{a+b}^2 = a^2 + 2ab + b^2", r"\ab\biggg(a+b)^2 = a^2 + b^2"),
    ("derivative", r"\int_0^1 \int_0^1 x y \odif{x, y} = \frac14",
     r"\int_0^1 \int_0^1 x y \odif{x, y} = \frac12"),
    ("siunitx", r"\SI{3}{\metre} + \SI{2}{\metre} = \SI{5}{\metre}",
     r"\SI{3}{\metre} + \SI{2}{\metre} = \SI{6}{\metre}"),
    ("siunitx", r"\SI{3}{m} \cdot \SI{2}{m} = \SI{6}{m^2}",
     r"\SI{3}{m} \cdot \SI{2}{m} = \SI{6}{m}"),
    ("siunitx", r"\qty{36}{\kilo\metre\per\hour} = \qty{10}{m/s}", r"\SI{1}{km} = \SI{100}{m}"),
    ("siunitx", r"F = \SI{2}{kg} \cdot \SI{3}{m.s^{-2}} = \SI{6}{N}",
     r"F = \SI{2}{kg} \cdot \SI{3}{m.s^{-2}} = \SI{6}{J}"),
    ("siunitx", r"\frac{\SI{10}{V}}{\SI{5}{\kilo\ohm}} = \SI{2}{\milli\ampere}",
     r"\frac{\SI{10}{V}}{\SI{5}{\ohm}} = \SI{4}{\ampere} \cdot \SI{1}{\second}"),
    ("siunitx", r"\num{1.5e3} = 1500", r"\num{1.5e3} = 15000"),
    ("siunitx", r"3 / \num{1.5e3} = 0.002", r"3 / \num{1.5e3} = 2000"),
    ("mleftright", r"\mleft(a + b\mright)^2 = a^2 + 2 a b + b^2",
     r"\mleft(a + b\mright)^2 = a^2 + b^2"),
    ("siunitx", r"\sin(\ang{30}) = \frac12", r"\sin(\SI{30}{\degree}) = \frac13"),
    ("siunitx", r"\SI{50}{\percent} = 0.5", r"\SI{50}{\percent} = 50"),
    ("siunitx", r"\SI{9.81}{m/s^2} \cdot \SI{2}{s} = \SI{19.6}{m/s}",
     r"\SI{100}{m} = \SI{101}{m}"),
]  # fmt: skip


@pytest.mark.parametrize(("packages", "latex", "spoilt"), TRUE_AND_SPOILT)
def test_what_holds_and_what_does_not(
    tmp_path: Path, packages: str, latex: str, spoilt: str
) -> None:
    found = tried_in(tmp_path, packages, latex)
    assert found.outcome in ("holds", AGREES), str(found)
    other = tried_in(tmp_path, packages, spoilt)
    assert other.outcome in ("does not hold", FAILS) or "on one side only" in other.why, str(other)


@pytest.mark.parametrize(
    ("packages", "latex", "why"),
    [
        ("physics", r"\braket{a}{b} = \braket{b}{a}", r"\newcommand{\braket}[2]{#1^\top #2}"),
        ("physics", r"\comm{a}{b} = \comm{b}{a}", "of matrices write `A B - B A`"),
        ("physics", r"\ev{X Y} = \ev{X} \ev{Y}", r"\newcommand{\ev}[1]{\mathbb{E}[#1]}"),
        ("braket", r"\braket{a|b} = \braket{b|a}", "of complex vectors"),
        ("siunitx", r"\SI{20}{\celsius} = \SI{293.15}{\kelvin}", "the unit `celsius` is not read"),
        ("siunitx", r"\SI{3}{m} + \SI{2}{s} = 5", r"\mathsf m, \mathsf s on one side only"),
        ("siunitx", r"\SI{3}{m}^2 = \SI{9}{m^2}", "write brackets"),
        ("siunitx", r"\SI{1}{eV} = \SI{11604}{K}", "on one side only"),  # as with k = 1
        ("siunitx", r"x = \SIrange{1}{2}{m}", "is more than one number"),
        ("siunitx", r"\num{1.5(2)} = 1.5", "`1.5(2)` is no plain number"),
        ("siunitx", r"\SI{1}{\electronvolt} = \SI{1.602e-19}{\joule}", "may be rounded"),
        ("", r"\dv{x} \sin x = \cos x", r"defines `\dv`, a command of the package physics"),
        ("", r"\norm{\mathbf x}^2 = \mathbf x^\top \mathbf x", "of the package physics"),
    ],
)
def test_what_cannot_be_read_says_why(tmp_path: Path, packages: str, latex: str, why: str) -> None:
    found = tried_in(tmp_path, packages, latex)
    assert (found.verdict, found.outcome) == ("not read", "")
    assert why in found.why


@pytest.mark.parametrize(
    ("packages", "more", "latex"),
    [
        ("", r"\newcommand{\abs}[1]{#1 + 1}", r"\abs{x} = x + 1"),
        ("physics", r"\renewcommand{\abs}[1]{#1 + 1}", r"\abs{x} = x + 1"),
        ("physics", r"\newcommand{\ddx}{\dv{x}}", r"\ddx \sin x = \cos x"),
        ("physics", r"\newcommand{\ev}[1]{\mathbb{E}[#1]}", r"\ev{X + Y} = \ev{X} + \ev{Y}"),
    ],
)
def test_the_commands_of_a_paper_go_first(
    tmp_path: Path, packages: str, more: str, latex: str
) -> None:
    assert tried_in(tmp_path, packages, latex, more).outcome == "holds"


@pytest.mark.parametrize(
    ("latex", "wanted"),
    [
        (r"\dv[2]{f}{x}(x)", r"\frac{\mathrm{d}^{2} f}{\mathrm{d} x^{2}}(x)"),
        (r"\dv \alpha \beta", r"\frac{\mathrm{d}}{\mathrm{d} \alpha} \beta"),
        (r"\qty(a(b)) \qty\Big[ \frac{]}{b} ]", r"\left( a(b) \right) \left[ \frac{]}{b} \right]"),
        (r"\qty{3}{\m} \qty{a}", r"\left( 3 \cdot \mathsf{m} \right) \left\{ a \right\}"),
        (r"\abs*{\{a\}} \absurd", r"\left\lvert \{a\} \right\rvert \absurd"),
        (r"\sin x \sin[2] x \qty", r"\sin x \sin[2] x \qty"),
        (r"\eval{x^2}_0^1", r"\left. x^2 \right|_0^1"),
        (r"\abs{\abs{\vb{a}}}", r"\left\lvert \left\lvert \mathbf{a} \right\rvert \right\rvert"),
    ],
)
def test_the_forms_of_a_command(latex: str, wanted: str) -> None:
    assert " ".join(written_out(latex, {USED: "siunitx,physics"}).split()) == wanted


@pytest.mark.parametrize("package", data("packages.toml"))
def test_each_row_of_a_package_is_read_and_ends(package: str) -> None:
    for row, body in data("packages.toml")[package].items():
        head, used = row.split(" ")[0], row.replace("?", "")
        for key in "123456789":
            used = used.replace(f"#{key}", "m")
        if body.startswith("!") or "#number" in body:
            with pytest.raises(EquationError):
                written_out(used, {USED: package})
        else:
            assert head not in written_out(used, {USED: package}).split(), row


def test_packages_that_a_text_loads() -> None:
    text = r"\usepackage{graphicx, physics}\RequirePackage[italic]{siunitx}\usepackage{commath}"
    assert packages_of(text) == "physics,siunitx,commath"
    assert packages_of(rf"\usepackage{{physics}}\ProvidesPackage{{physics}}{text}") == (
        "siunitx,commath"
    )


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (r"\kilo\metre\per\second", r"10^{3} \cdot \mathsf{m} \cdot \mathsf{s}^{-1}"),
        (r"\cubic\centi\metre", r"10^{-6} \cdot \mathsf{m}^{3}"),
        (r"kg m^2/s", r"\mathsf{kg} \cdot \mathsf{m}^{2} \cdot \mathsf{s}^{-1}"),
        (r"\metre\squared\per\second\tothe{4}", r"\mathsf{m}^{2} \cdot \mathsf{s}^{-4}"),
        (r"\m", r"\mathsf{m}"),
        ("cd", r"\mathsf{cd}"),
        ("min", r"60 \cdot \mathsf{s}"),
        (r"\per\mol\K", r"\mathsf{mol}^{-1} \cdot \mathsf{K}"),
        (r"\mathrm{m}/\mathrm{s}", r"\mathsf{m} \cdot \mathsf{s}^{-1}"),
    ],
)
def test_units(text: str, wanted: str) -> None:
    assert unit(text) == rf"\cdot {wanted}"


@pytest.mark.parametrize("text", ["J/mol K", "kg/m/s", r"\kilo", "ft", r"\decibel", r"\foo", "m_1"])
def test_units_that_are_not_read(text: str) -> None:
    with pytest.raises(EquationError, match="is not read"):
        unit(text)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("1.5e3", r"\left(1.5 \cdot 10^{3}\right)"),
        ("e10", r"\left(1 \cdot 10^{10}\right)"),
        ("-1d-2", r"\left(-1 \cdot 10^{-2}\right)"),
        ("-,5", r"\left(-0.5\right)"),
        ("12 345", "12345"),
        ("+3.", "3"),
    ],
)
def test_numbers(text: str, wanted: str) -> None:
    assert number(text) == wanted
