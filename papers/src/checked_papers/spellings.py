"""Spellings of LaTeX that print the same, or nearly so, brought to those that are read."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise
from unicodedata import name

from checked_equations.latex.conventions import spelled_out

from .tried.token_patterns import Pattern, Row, exchanged, is_letter, is_variable, row_of, texts

_SIGNS = str.maketrans(
    {"≈": r"\approx ", "≤": r"\le ", "≥": r"\ge ", "≠": r"\ne ", "×": r"\times ", "·": r"\cdot ",
     "−": "-", "±": r"\pm ", "∞": r"\infty ", "²": "^2", "³": "^3", "√": r"\sqrt ", "⋅": r"\cdot ",
     "∑": r"\sum", "∏": r"\prod", "∫": r"\int", "∈": r"\in ", "∂": r"\partial ", "°": r"\degree ",
     **{sign: f"\\{name(sign).split()[-1].lower()} " for sign in "αβγδζηθικμνξπρστφχψω"},
     **{sign: f"\\{name(sign).split()[-1].title()} " for sign in "ΓΔΘΞΠΣΦΨΩ"},
     "ε": r"\varepsilon ", "Λ": r"\Lambda ", "λ": r"\lambda "}
)  # fmt: skip
_DEGREES = re.compile(r"(?<=\d)\s*\^\s*(?:\\circ(?![A-Za-z])|\{\s*\\circ\s*\})")
_TERM = (  # a product: what `\bmod` takes on either side
    r"(?:[^-+=<>,;:&|()[\]{}\\]|\((?:[^()]|\([^()]*\))*\)|\{(?:[^{}]|\{[^{}]*\})*\}|"
    r"\\(?!(?:[lg]eq?|neq?|equiv|approx|b?mod|q?quad)(?![A-Za-z]))(?:[A-Za-z]++|[ ,;!]))++"
)
_MODULO = re.compile(rf"(^|[=<>,;(\[{{&]|\\(?:[lg]eq?|neq?) )({_TERM})\\b?mod(?![A-Za-z])({_TERM})")
_CONGRUENT = re.compile(r"([^,;&]*?)\\pmod\s*(\{[^{}]*\}|[^\s{}\\])")
_OPENS = re.compile(r"\\left\s*\\(?:\{|lbrace)\s*\\begin\s*\{array\}\s*(?:\[[a-z]\]\s*)?\{[^{}]*\}")
_SHUTS = re.compile(r"\\end\s*\{array\}\s*\\right\s*\.")
_BETWEEN = re.compile(r"&\s*&")
_HALF = Pattern("\\nabla _ <group:by> \\frac { <digit:n> } { <digit:m> }")  # before its body


@lru_cache(maxsize=256)
def plainly(latex: str) -> str:
    """Return LaTeX without signs of Unicode, arrays for cases and several letters in one font.

    >>> plainly(r"x ≤ \\left\\{ \\begin{array}{ll} 1 & & a \\end{array} \\right.")
    'x \\\\le  \\\\begin{cases} 1 & a \\\\end{cases}'
    """
    latex = spelled_out(_DEGREES.sub(r" \\degree ", latex.translate(_SIGNS)))
    latex = _HALF.put(latex, lambda f: rf"\frac{{{f['n']}}}{{{f['m']}}} \nabla_{{{f['by']}}} ")
    # behind a sum `\bmod` may take all of it or not, and stays
    if any(sign in latex for sign in (r"\mod", r"\bmod", r"\pmod")):
        latex, called = "", _CONGRUENT.sub(_congruent, latex)
        while called != latex:
            latex, called = called, _MODULO.sub(r"\1\\operatorname{mod}(\2, \3)", called)
    if len(_OPENS.findall(latex)) == len(_SHUTS.findall(latex)) > 0:
        latex = _SHUTS.sub(r"\\end{cases}", _OPENS.sub(r"\\begin{cases}", latex))
        latex = _BETWEEN.sub("&", latex)
    return apart(_EMPTY.put(latex, lambda _: ""))


def _congruent(match: re.Match[str]) -> str:
    """``a \\equiv b \\pmod n`` as an equality of residues."""
    sides = re.split(r"\\equiv(?![A-Za-z])|=", match[1])
    if all(is_variable(row_of(one)) for one in sides):
        return match[0]  # of letters alone it says what they are
    return "=".join(rf"\operatorname{{residue}}({one.strip()}, {match[2]})" for one in sides)


_EMPTY = Pattern("<sign> { }", sign="_^")  # of a command whose argument is left out
_SAME = {word: f"\\{word}" for word in ("sin", "cos", "tan", "sinh", "cosh", "tanh", "coth")} | {
    "asin": "\\arcsin", "acos": "\\arccos", "atan": "\\arctan",
    **{f"a{word}": f"\\operatorname{{ar{word}}}" for word in ("sinh", "cosh", "tanh")},
}  # fmt: skip
_WORDS = ("tr", "Tr", "det", "diag", "exp", "log", "max", "min", "sgn", "Var", "Cov")
_CALLED = [  # functions that everybody knows, in the letters of a word before a bracket
    (Pattern(f"{letters} <opens>", opens=["(", "["]), said)
    for word, said in {**_SAME, **{word: f"\\operatorname{{{word}}}" for word in _WORDS}}.items()
    for letters in (f"\\text{{{word}}}", f"\\mathrm {{ {' '.join(word)} }}")
]
_BOLD = Pattern("<bold:font> <group:letters>", bold=["\\mathbf", "\\boldsymbol"])


def apart(latex: str) -> str:
    """``\\mathbf{A B}^T`` as ``\\mathbf A \\mathbf B^T``, which prints the same.

    Without a space it may be a name, unless each of its letters stands by itself as well.

    >>> apart(r"\\mathbf{A B}^T = \\mathbf{new}")
    '\\\\mathbf{A} \\\\mathbf{B}^T = \\\\mathbf{new}'
    """
    row = row_of(latex)
    named = [
        ((row[match.start].start, row[match.end - 2].end), said)
        for pattern, said in _CALLED
        for match in pattern.every(latex)
    ]
    bold = [(match, match.row[slice(*match.parts["letters"])]) for match in _BOLD.every(latex)]
    alone = {inside[0].text for _, inside in bold if len(inside) == 1}
    parts = [
        (match.span, " ".join(rf"{match['font']}{{{one.text}}}" for one in inside))
        for match, inside in bold
        if match.span and _is_a_product(inside, alone)
    ]
    return exchanged(latex, [*named, *parts])


def _is_a_product(inside: Row, alone: set[str]) -> bool:
    """Return True for separated letters in one font, or letters that all stand alone too."""
    letters = texts(inside)
    if len(letters) < 2 or not all(map(is_letter, letters)):
        return False
    if all(two.start > one.end for one, two in pairwise(inside)):
        return True
    return len(letters) < 5 and all(map(str.isupper, letters)) and alone.issuperset(letters)
