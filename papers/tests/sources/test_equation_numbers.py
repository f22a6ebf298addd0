"""What number stands in print beside an equation of a paper, and when that is not known."""

from __future__ import annotations

from pathlib import Path

import pytest

from checked_papers.sources.paper import Paper, read


def paper(folder: Path, body: str, kind: str = "article", preamble: str = "") -> Paper:
    text = (
        f"\\documentclass{{{kind}}}\n{preamble}\n\\begin{{document}}\n{body}\n\\end{{document}}\n"
    )
    (folder / "paper.tex").write_text(text, encoding="utf-8")
    return read(folder / "paper.tex")


EQ = r"\begin{equation} a = b \end{equation} "
WITHIN = r"\numberwithin{equation}{section}"


@pytest.mark.parametrize(
    ("kind", "preamble", "body", "wanted"),
    [
        ("article", "", EQ + r"\[ c = d \] $$ e = f $$" + EQ, ["1", "", "", "2"]),
        ("article", "", r"\begin{equation*} a = b \end{equation*}" + EQ, ["", "1"]),
        ("article", "", r"\begin{align} a &= b \\ c &= d \notag \\ e &= f \end{align}",
         ["1", "", "2"]),
        ("article", "", r"\begin{align} a &= b \\ &= c \\ d &= e \end{align}", ["1–2", "3"]),
        ("article", "", r"\begin{align} a &= b \nonumber \\ &= c \\ d &= e \end{align}",
         ["1", "2"]),
        ("article", "", r"\begin{align} a &= b & c &= d \\ e &= f \end{align}", ["1", "1", "2"]),
        ("article", "", r"\begin{align} a &= b \\ \end{align}" + EQ, ["1", "3"]),
        ("article", "", r"\begin{align} a &= b \\ \intertext{so} c &= d \end{align}", ["1", "2"]),
        ("article", "", r"\begin{equation}\begin{aligned} a &= b \\ c &= d \end{aligned}"
         r"\end{equation}" + EQ, ["1", "1", "2"]),
        ("article", "", r"\begin{equation} a = b \tag{$*$} \end{equation}" + EQ, ["*", "1"]),
        ("article", "", r"\begin{equation*} a = b \tag{A} \end{equation*}" + EQ, ["A", "1"]),
        ("article", "", r"\begin{equation} a = b \tag{\ref{x}'} \end{equation}" + EQ, ["", "1"]),
        ("article", "", r"$$ a = b \eqno(7) $$" + EQ, ["7", "1"]),
        ("article", "", EQ + r"\begin{subequations} \begin{align} c &= d \\ e &= f \end{align} "
         r"\end{subequations}" + EQ, ["1", "2a", "2b", "3"]),
        ("article", r"\newcommand{\nn}{\nonumber}", r"\begin{eqnarray} a &=& b \nn \\ c &=& d "
         r"\end{eqnarray}", ["", "1"]),
        ("article", r"\newcommand{\be}{\begin{equation}} \newcommand{\ee}{\end{equation}}",
         r"\be a = b \ee \be c = d \ee", ["1", "2"]),
        ("article", WITHIN, EQ + r"\section{A}" + EQ + r"\subsection{B}" + EQ + r"\section*{C}"
         + EQ + r"\section{D}" + EQ, ["0.1", "1.1", "1.2", "1.3", "2.1"]),
        ("article", WITHIN, r"\section{A}" + EQ + r"\appendix \section{B}" + EQ, ["1.1", "A.1"]),
        ("article", r"\makeatletter \@addtoreset{equation}{section} "
         r"\renewcommand{\theequation}{\thesection.\arabic{equation}}", r"\section{A}" + EQ,
         ["1.1"]),
        ("article", "", r"\setcounter{equation}{6}" + EQ, ["7"]),
        ("report", "", EQ + r"\chapter{A}" + EQ + EQ + r"\chapter{B} \section{C}" + EQ,
         ["1", "1.1", "1.2", "2.1"]),
        ("book", WITHIN, r"\chapter{A} \section{B}" + EQ + r"\chapter{C} \section{D}" + EQ,
         ["1.1.1", "2.1.1"]),
    ],
)  # fmt: skip
def test_the_number_is_the_one_in_print(
    tmp_path: Path, kind: str, preamble: str, body: str, wanted: list[str]
) -> None:
    found = paper(tmp_path, body, kind, preamble)
    assert found.uncounted == ""
    assert [one.number for one in found.equations] == wanted


@pytest.mark.parametrize(
    ("kind", "preamble", "why"),
    [
        ("mystery", "", "the class mystery is not known"),
        ("article", r"\usepackage[x]{autonum}", "the package autonum"),
        ("article", r"\mathtoolsset{showonlyrefs=true}", "showonlyrefs"),
        ("article", r"\newtheorem{lemma}[equation]{Lemma}",
         "theorems counted with the equations"),
        ("article", r"\renewcommand{\theequation}{E\arabic{equation}}", r"its own \theequation"),
        ("article", WITHIN + r"\renewcommand{\thesection}{\Roman{section}}",
         "its own numbers of sections"),
        ("article", r"\setcounter{equation}{\value{page}}", "a counter that is computed"),
        ("revtex4-2", r"\appendix", "an appendix in the class revtex4-2"),
    ],
)  # fmt: skip
def test_where_it_is_not_known_there_is_none_but_what_is_written(
    tmp_path: Path, kind: str, preamble: str, why: str
) -> None:
    found = paper(tmp_path, EQ + r"\[ c = d \tag{9} \]", kind, preamble)
    assert [one.number for one in found.equations] == ["", "9"]
    assert found.uncounted == why


def test_a_part_of_a_paper_counts_nothing_and_says_nothing_of_it(tmp_path: Path) -> None:
    (tmp_path / "part.tex").write_text(EQ, encoding="utf-8")
    found = read(tmp_path / "part.tex")
    assert ([one.number for one in found.equations], found.uncounted) == ([""], "")
