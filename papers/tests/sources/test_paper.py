"""LaTeX sources: what is an equation of a paper, where it stands, and which commands it uses."""

from __future__ import annotations

from pathlib import Path

import pytest

from checked_equations.latex.macros import expand
from checked_papers.sources.paper import Paper, read


def paper(folder: Path, text: str, **others: str) -> Paper:
    for name, content in others.items():
        (folder / f"{name}.tex").write_text(content, encoding="utf-8")
    (folder / "paper.tex").write_text(text, encoding="utf-8")
    return read(folder / "paper.tex")


def shown(found: Paper) -> list[str]:
    """The equations without commands, spaces drawn together."""
    return [" ".join(expand(one.latex, one.macros).latex.split()) for one in found.equations]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (r"\[ a = b \]", ["a = b"]),
        ("$$ a = b $$", ["a = b"]),
        (r"\begin{equation*} a = b, \end{equation*}", ["a = b,"]),
        (r"\begin{multline} a \\ = b \end{multline}", [r"a \\ = b"]),
        (r"\begin{gather} a = b \\ c = d \end{gather}", ["a = b", "c = d"]),
        (r"\begin{align} a &= b \\ &= c \\ d &= e \end{align}", [r"a &= b \\ &= c", "d &= e"]),
        (r"\begin{align*} a &= b \\ &\quad + c \end{align*}", [r"a &= b \\ &\quad + c"]),
        (r"\begin{align} f + g \\ &= c \end{align}", [r"f + g \\ &= c"]),
        (r"\begin{align} a &= b & c &= d \end{align}", ["a &= b", "c &= d"]),
        (r"\begin{alignat}{2} a &= b & c &= d \end{alignat}", ["a &= b", "c &= d"]),
        (r"\begin{eqnarray} a &=& b \\ &=& c \end{eqnarray}", [r"a &=& b \\ &=& c"]),
        (r"\[ \begin{split} a &= b \\ &= c \end{split} \]", [r"a &= b \\ &= c"]),
        (r"\[ \begin{aligned}[t] a &= b \\ c &= d \end{aligned}. \]", ["a &= b", "c &= d ."]),
        (r"\begin{align} a &= b \intertext{so} -c &= d \end{align}", ["a &= b", "-c &= d"]),
        (
            r"\[ f(x) = \begin{cases} 1 & x > 0 \\ 2 \end{cases} \]",
            [r"f(x) = \begin{cases} 1 & x > 0 \\ 2 \end{cases}"],
        ),
        (r"\begin{align} a &= \frac{b}{c} \notag \\ \end{align}", [r"a &= \frac{b}{c}"]),
        (r"$a = b$ and \(c\), 5\$ and 6\$", []),
        (r"\verb|$$a$$| \begin{verbatim} \[ a \] \end{verbatim}", []),
        ("% \\[ a = b \\]\n 50\\% \\[ c = d \\]", ["c = d"]),
        (r"\begin{comment} \[ a \] \end{comment} \iffalse \[ b \] \fi \[ c = d \]", ["c = d"]),
        (r"\begin{document} \[ a = b \] \end{document} \[ c = d \]", ["a = b"]),
        (r"\\[2pt] \[ a = b \]", ["a = b"]),
    ],
)
def test_the_equations_of_displays(tmp_path: Path, text: str, wanted: list[str]) -> None:
    assert [one.rstrip("\\ ") for one in shown(paper(tmp_path, text))] == wanted


@pytest.mark.parametrize(
    ("defined", "used", "wanted"),
    [
        (r"\newcommand{\R}{\mathbb R}", r"x = \R", r"x = \mathbb R"),
        (r"\newcommand\v[1]{\mathbf{#1}}", r"\v x = \v{y}", r"\mathbf{x} = \mathbf{y}"),
        (r"\newcommand{\p}[2][2]{#2^{#1}}", r"\p{x} = \p[3]{y}", "x^{2} = y^{3}"),
        (r"\renewcommand*{\phi}{\varphi}", r"\phi = 1", r"\varphi = 1"),
        (r"\def\d{\mathrm d}", r"\d x = 1", r"\mathrm d x = 1"),
        (r"\def\f#1#2{\frac{#1}{#2}}", r"\f{a}b = 1", r"\frac{a}{b} = 1"),
        (r"\DeclareMathOperator{\tr}{tr}", r"\tr A = 1", r"\operatorname{tr} A = 1"),
        (r"\DeclareMathOperator*\am{argmin}", r"\am f = 1", r"\operatorname*{argmin} f = 1"),
        (
            r"\DeclarePairedDelimiter{\abs}{\lvert}{\rvert}",
            r"\abs{x} = \abs*{y} = \abs[\big]{z}",
            r"\left\lvert x \right\rvert = \left\lvert y \right\rvert = \left\lvert z \right\rvert",
        ),
        (
            r"\DeclarePairedDelimiterX\set[2]{\{}{\}}{#1\,\delimsize\vert\,#2}",
            r"\set{x}{y}",
            r"\left\{ x\,\middle\vert\,y \right\}",
        ),
        (
            r"\DeclarePairedDelimiterXPP\lnorm[1]{2}\lVert\rVert{_2}{#1}",
            r"\lnorm*{x}",
            r"2\left\lVert x \right\rVert_2",
        ),
        (r"\let\eps\varepsilon", r"\eps = 1", r"\varepsilon = 1"),
        (
            r"\let\old\phi \let\phi\varphi \let\varphi\old",
            r"\phi = \varphi",
            r"\phi = \varphi",
        ),
        (r"\newcommand{\K}{K} \newcommand{\Ky}{\K_y}", r"\Ky = 1", "K_y = 1"),
        (r"\NewDocumentCommand{\g}{O{2} m}{#2_{#1}}", r"\g{a} = \g[1]{b}", "a_{2} = b_{1}"),
        (r"\newcommand{\x}{\ensuremath{x}\xspace}", r"\x = 1", "x = 1"),
        (r"\def\until#1;{#1}", r"\until a; = 1", r"\until a; = 1"),
    ],
)
def test_the_commands_of_a_paper(tmp_path: Path, defined: str, used: str, wanted: str) -> None:
    assert shown(paper(tmp_path, rf"{defined} \[ {used} \]")) == [wanted]


@pytest.mark.parametrize(
    "opening",
    [
        r"\newcommand{\be}{\begin{equation}}\newcommand{\ee}{\end{equation}}",
        r"\def\be{\begin{align}}\def\ee{\end{align}}",
        r"\newenvironment{eqn}{\begin{equation}}{\end{equation}}"
        r"\def\be{\begin{eqn}}\def\ee{\end{eqn}}",
        r"\def\be{\[}\def\ee{\]}",
    ],
)
def test_commands_that_open_displays(tmp_path: Path, opening: str) -> None:
    found = paper(tmp_path, opening + "\n\n\\be a = b \\label{eq:a} \\ee")
    assert shown(found) == ["a = b"]
    assert found.place(found.equations[0].at)[1:] == (3, 5)


def test_a_command_holds_from_where_it_is_defined(tmp_path: Path) -> None:
    text = r"\def\a{b} \[ \a = 1 \] \def\a{c} \[ \a = 1 \]"
    assert shown(paper(tmp_path, text)) == ["b = 1", "c = 1"]


def test_files_that_are_taken_in_and_places(tmp_path: Path) -> None:
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "deep.tex").write_text("\\input{last}\n\\[\n  e = f\n\\]\n")
    (tmp_path / "own.sty").write_text(r"\newcommand{\K}{K_y}")
    text = (
        "\\usepackage{amsmath,own}\n\\begin{document}\n\\include{one} \\import{parts/}{deep}\n"
        "\\[ \\K = 1 \\]\n% \\input{not}\n\\input gone\n"
    )
    found = paper(tmp_path, text, one="\n\\[ a = b \\] % aside\n", last=r"\[ c = d \]")
    places = [found.place(one.at) for one in found.equations]
    assert [(p.file.name, p.line, p.column) for p in places] == [
        ("one.tex", 2, 4), ("last.tex", 1, 4), ("deep.tex", 3, 3), ("paper.tex", 4, 4),
    ]  # fmt: skip
    assert shown(found)[-1] == "K_y = 1"
    assert [(one.text, found.place(one.at)[1:]) for one in found.lacks] == [("gone", (6, 1))]
    asides = [(one.text.strip(), found.place(one.at).file.name) for one in found.comments]
    assert ("aside", "one.tex") in asides


def test_a_circle_of_files_ends(tmp_path: Path) -> None:
    assert shown(paper(tmp_path, r"\[a = b\] \input{one}", one=r"\input{paper} \[c = d\]")) == [
        "a = b", "c = d",
    ]  # fmt: skip


def test_labels_and_numbers(tmp_path: Path) -> None:
    text = r"""\begin{align}
      a &= b \label{eq:a} \tag{$*$} \\
      c &= d \nonumber \\ e &= f \label{eq:e}
    \end{align}
    \begin{equation} \label{eq:s} \begin{split} g &= h \\ &= i \end{split} \end{equation}"""
    told = [(one.label, one.tag) for one in paper(tmp_path, text).equations]
    assert told == [("eq:a", "$*$"), ("", ""), ("eq:e", ""), ("eq:s", "")]


@pytest.mark.parametrize("text", [r"\[ a = b", r"\begin{align} a &= b", "$$ a = b"])
def test_a_display_that_is_never_closed_is_told(tmp_path: Path, text: str) -> None:
    (only,) = paper(tmp_path, text).equations
    assert "never closed" in only.fault


def test_what_stands_in_sentences(tmp_path: Path) -> None:
    found = paper(tmp_path, "for $x > 0$ and \\(y < 1\\)\n\\[ a = b \\] it costs 5\\$\n\nor $")
    assert [one.latex for one in found.inline] == ["x > 0", "y < 1"]


def test_every_character_keeps_its_place(tmp_path: Path) -> None:
    text = "é % a\n\\def\\be{\\[}\\be x = 1 \\]\n\\input{one}y\n\\[ z = 2 \\]"
    found = paper(tmp_path, text, one="\\[ w = 3 \\]\n")
    for one in found.equations:
        place = found.place(one.at)
        line = place.file.read_text(encoding="utf-8").splitlines()[place.line - 1]
        assert line[place.column - 1 :].startswith(one.latex)


def test_a_command_may_stand_for_a_part_of_a_path(tmp_path: Path) -> None:
    (tmp_path / "one" / "inner").mkdir(parents=True)
    (tmp_path / "two").mkdir()
    (tmp_path / "one" / "first.tex").write_text(
        r"\renewcommand*{\deeper}{\folder/inner} \input{\deeper/second}", encoding="utf-8"
    )
    (tmp_path / "one" / "inner" / "second.tex").write_text(r"\[ a = b \]", encoding="utf-8")
    (tmp_path / "two" / "third.tex").write_text(r"\[ c = d \]", encoding="utf-8")
    text = (
        r"\newcommand{\folder}{} \renewcommand*{\folder}{one} \input{\folder/first} "
        r"\def\folder{two} \input{\folder/third} \input{\unknown/fourth} \[ e = f \]"
    )
    assert shown(paper(tmp_path, text)) == ["a = b", "c = d", "e = f"]
