"""Conventions by which LaTeX may mean something else: ``\\log 100 = 2``, ``2\\frac12 = \\frac52``.

Also forms that may not denote numbers: ``[x]`` may be an integer part, ``(12)(23)`` a permutation.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import partial

from ..errors import EquationError
from .tokenizer import Token, UnclosedError, tokens

_LOG = re.compile(r"\\log(?![A-Za-z]|\s*[_^])")
_PART = r"(?:\{\s*(\d+)\s*\}|(\d))"
_MIXED = re.compile(rf"(?<![\d.^_])(\d+)\s*\\[dt]?frac\s*{_PART}\s*{_PART}")
_POWER_OF_TEN = re.compile(
    r"(\d)\s*(?:[eE]|\\(?:mathrm|text|rm)\s*\{\s*[eE]\s*\})\s*(-?)\+?\s*\{?\s*(\d+)(?![\d.])\s*\}?"
)
_REMAINDER = re.compile(
    r"^(.*[^<>:])=\s*\\operatorname\{mod\}\((.*),\s*([^,()]+)\)[\s.,;&]*$", re.S
)
_NORM = re.compile(r"\\\|([^|]*[A-Z](?:[^|]*[^|\\])?)\\\|(?!\s*_)")
_CROSSED = re.compile(r"[a-z]\s*\)?\s*\\times\s*\(?\s*[a-z]")
_NUMBERS = re.compile(r"[A-Z\d]|\\frac|\\mathbf|\\vec|\\bm|\\boldsymbol")
_SMALL = re.compile(r"(?<![A-Za-z\\])([a-z])(?![A-Za-z])")
_PRINCIPAL = re.compile(
    r"\\(?:mathrm|operatorname|text|textrm)\s*\{\s*[pP]\.?\s*[vV]\.?\s*\}(?:\s|\\[!,;:])*(?=\\int)"
)
_ENDS = re.compile(r"(?<!\\)[,;](?:\s|\\[ ,;!]|\\\\)*$")  # the sentence goes on
_SLOPE = re.compile(r"\\partial\s*_\s*(?:\{\s*([a-z]+|\\[a-z]+)\s*\}|([a-z]|\\[a-z]+))")
_INDICES = re.compile(r"[ijk]|\\(?:mu|nu|alpha|beta|rho)$")
_VARIABLE = re.compile(r"(?:(?<![A-Za-z\\])d|\\mathrm\s*\{?\s*d\s*\}?)\s*([a-z])(?![A-Za-z])")
_GROUP = r"(?:\{((?:[^{}]|\{[^{}]*\})*)\}|(\\[A-Za-z]+|[A-Za-z0-9]))"
_BETWEEN = re.compile(
    r"(?:\\(?:left|[bB]igg?l?)\s*[\[.]|\[)((?:(?!\\left|\\[bB]ig|[\[\]=,]).)*?)"
    rf"(?:\\(?:right|[bB]igg?r?)\s*[\]|]|\])\s*_\s*{_GROUP}\s*\^\s*{_GROUP}"
)
_WORDS = re.compile(r"\\[A-Za-z]+|.", re.S)
_NO_NUMBERS = {
    "a power of H may be the conjugate transpose": re.compile(
        r"[A-Z)\]}]\s*\^\s*(?:H(?![a-z])|\{\s*(?:H|\\math(?:rm|sf)\s*\{?\s*H\s*\}?)\s*\})"
    ),
    "i and j may be units of quaternions": re.compile(
        r"(?:^|[-=+&,])\s*(?:i\s*j|j\s*i)\s*(?:$|[-=+&,.])"
    ),
    "digits in brackets may say how sure the last ones are": re.compile(
        r"\d\s*\.[\d\s\\,]*\d\s*\(\s*\d+\s*\)"
    ),
    "an inverse modulo a number may be meant": re.compile(
        r"\\operatorname\{residue\}\([^,]*(?:\^\s*\{?\s*-|\\frac)"
    ),
}
_CYCLES = re.compile(r"\s*(?:\(\s*\d{2,}\s*\)(?:\^\{?-?\d\}?)?\s*)+|\s*\(\s*1\s*\)\s*|\s*1\s*")
_SHUTS = {"[": "]", "\\{": "\\}"}
_BESIDE = frozenset("0123456789=+-,;&(<>|") | {"\\le", "\\ge", "\\quad", "\\times", "\\cdot"}


def spelled_out(latex: str) -> str:
    """Return `latex` with its shorthand written out in full and no comma at the end.

    >>> spelled_out(r"\\partial_{xx} u + \\mathrm{p.v.} \\int x")
    '\\\\frac{\\\\partial^2}{\\\\partial x^2} u + \\\\int x'
    >>> spelled_out(r"\\int_0^1 2x dx = [x^2]_0^1")[17:]
    '\\\\left({\\\\left(1\\\\right)}^2 - \\\\left({\\\\left(0\\\\right)}^2\\\\right)\\\\right)'
    """
    latex = _SLOPE.sub(_by, _PRINCIPAL.sub("", _ENDS.sub("", latex)))
    variables = set(_VARIABLE.findall(latex))
    put = partial(_difference, variables.pop()) if len(variables) == 1 else None
    return _BETWEEN.sub(put, latex) if put else latex


def _by(match: re.Match[str]) -> str:
    by = match[1] or match[2]
    order = 1 if by.startswith("\\") else len(by)
    if _INDICES.match(by) or (order > 1 and len(set(by)) > 1):
        return match[0]
    power = f"^{order}" if order > 1 else ""
    return rf"\frac{{\partial{power}}}{{\partial {by if order == 1 else by[0]}{power}}}"


def _difference(variable: str, match: re.Match[str]) -> str:
    body, low, high = match[1].strip(), match[2] or match[3], match[4] or match[5]

    def at(end: str) -> str:
        put = rf"{{\left({end}\right)}}"
        words = (put if one == variable else one for one in _WORDS.findall(body))
        return "".join(words)

    return rf"\left({at(high)} - \left({at(low)}\right)\right)"


def others(latex: str) -> Iterator[tuple[str, str]]:
    """Yield `latex` as other conventions have it, each with what it then holds by.

    >>> list(others(r"2\\frac12 = \\frac52"))
    [('\\\\left(2 + \\\\frac{1}{2}\\\\right) = \\\\frac52', 'a number before a fraction is added')]
    """
    every = [
        *((_LOG.sub(rf"\\log_{{{n}}} ", latex), rf"\log is to the base {n}") for n in ("10", "2")),
        (_MIXED.sub(_added, latex), "a number before a fraction is added"),
        (_POWER_OF_TEN.sub(r"\1 \\cdot 10^{\2\3}", latex), "e stands for a power of ten"),
        (_NORM.sub(r"\\|\1\\|_2 ", latex), r"\|·\| is the spectral norm"),
        (_NORM.sub(r"\\|\1\\|_F ", latex), r"\|·\| is the Frobenius norm"),
    ]
    if found := _REMAINDER.match(latex):
        sides, last, modulus = found.groups()
        each = (f"{one.strip()}, {modulus}" for one in (*sides.split("="), last))
        residues = " = ".join(rf"\operatorname{{residue}}({one})" for one in each)
        every.append((residues, f"it is meant modulo {modulus}"))
    yield from (one for one in every if one[0] != latex)


def _added(match: re.Match[str]) -> str:
    whole, above, below = filter(None, match.groups())
    return rf"\left({whole} + \frac{{{above}}}{{{below}}}\right)"


def imaginary_j(latex: str) -> str:
    """``R + j \\omega L`` with an i for its j, if that may be the imaginary unit; or nothing."""
    row = _row(latex)
    places = [i for i, token in enumerate(row) if token.text == "j"]
    indices = any(row[max(i - 2, 0)].text == "_" or row[i - 1].text == "_" for i in places if i)
    if not places or indices or not {"i", "k"}.isdisjoint(token.text for token in row):
        return ""
    for i in reversed(places):
        latex = f"{latex[: row[i].start]} i {latex[row[i].end :]}"
    return latex


def with_crosses(latex: str) -> str:
    """``a \\times b`` with bold letters, as vectors are printed, if only letters are crossed.

    >>> with_crosses(r"a \\times b = b \\times a")
    '\\\\mathbf{a} \\\\times \\\\mathbf{b} = \\\\mathbf{b} \\\\times \\\\mathbf{a}'
    """
    if not _CROSSED.search(latex) or _NUMBERS.search(latex):
        return latex
    return _SMALL.sub(r"\\mathbf{\1}", latex)


def no_number(latex: str) -> str:
    """Return why some form in `latex` may mean something else than numbers.

    >>> no_number("[x + y] = [x] + [y]")
    'brackets around a symbol alone may be its whole part, or a function'
    """
    if any(_alone([token.text for token in _row(latex)])):
        return "brackets around a symbol alone may be its whole part, or a function"
    for why, pattern in _NO_NUMBERS.items():
        if pattern.search(latex):
            return why
    sides = latex.rstrip(" .").split("=")
    if any("(" in one for one in sides) and all(_CYCLES.fullmatch(one) for one in sides):
        return "digits in brackets may be the cycles of a permutation"
    if len(sides) == 2 and any(map(_anew, sides, sides[::-1])):
        return "a symbol gets a new value, or the rest is nothing"
    return ""


def commutes(latex: str) -> bool:
    """Return whether a side is the difference of a product and the same turned: ``x p - p x``."""
    every = (_terms(_row(side.strip(" .,&"))) for side in latex.split("=") if "-" in side)
    pairs = (terms for terms in every if len(terms) == 2)
    return any(one != two and sorted(one) == sorted(two) for one, two in pairs)


def _alone(row: Sequence[str]) -> Iterator[bool]:
    """Yield whether one letter stands in brackets of a kind that need not be there."""
    around = ["=", *row, "="]
    for i, text in enumerate(around):
        end = next((k for k in (i + 2, i + 3) if around[k : k + 1] == [_SHUTS.get(text)]), 0)
        letter = "".join(around[i + 1 : end]).lstrip("-")
        one = len(letter) == 1 and letter.isalpha() and around[i - 1] in _BESIDE
        yield bool(end) and one and around[end + 1] not in ("_", "^")


def _anew(side: str, other: str) -> bool:
    """Return whether a side is one symbol, and a term of the other is that too: ``x = x + 1``."""
    key, terms = [token.text for token in _row(side.strip(" &:"))], _terms(_row(other))
    return len(key) == 1 and key[0].lstrip("\\").isalpha() and len(terms) > 1 and key in terms


def _terms(row: Sequence[Token]) -> list[list[str]]:
    """Return the terms of a sum, whose signs stand in no brackets."""
    terms: list[list[str]] = [[]]
    depth = 0
    for token in row:
        depth += (token.text in ("(", "[", "{")) - (token.text in (")", "]", "}"))
        if token.text in ("+", "-") and not depth:
            terms.append([])
        else:
            terms[-1].append(token.text)
    return terms


def _row(latex: str) -> tuple[Token, ...]:
    try:
        return tuple(tokens(latex))
    except (EquationError, UnclosedError):
        return ()
