"""Commands of LaTeX's packages, as plain LaTeX, where the text loads the package.

Those of a paper go first, so that a name that the paper gives another meaning keeps that. The
commands stand in `packages.toml`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache, reduce

from checked_equations.errors import EquationError
from checked_equations.latex.macros import Macros, expand

from .units import data, number, unit

USED = "usepackage"  # the macro that names the packages: no display has a command of this name
_LOADS = re.compile(r"\\(?:usepackage|RequirePackage|require)\s*(?:\[[^\]]*\])?\s*\{([^{}]*)\}")
_OWN = re.compile(r"\\ProvidesPackage\s*\{\s*([^{}]*?)\s*\}")  # in the file itself, at hand
_PART = re.compile(r"(\??)(.*?)(?:#(\d)(.*))?$")
_PUT = re.compile(r"#(\+|number|unit|)(\d)")
_MARKS = r"(?:\s*(?:\*|\\[bB]ig{1,3}(?![A-Za-z])))*"
_SIGN = r"\\[A-Za-z]+|\\.|[^\s{}\[\]&]"
_TABLES = data("packages.toml")
_OF_TEX = re.compile(r"\\(?:div|Re|Im|exp|det|Pr|sinh?|cosh?|tanh?|sec|csc|cot|log|ln)$")


def _nested(opens: str, shuts: str, inner: str = "") -> str:
    """Return the pattern of what stands between brackets, with others in it."""
    bare = rf"\\.|[^{{}}\\\{opens}\{shuts}]{inner}"
    return reduce(lambda deep, _: rf"(?:{bare}|\{opens}{deep}\{shuts})*", range(5), f"(?:{bare})*")


_BRACED = _nested("{", "}")
_GROUP = rf"|\{{{_BRACED}\}}"
_SHORT = rf"(?:\\.|[^{{}}\\]{_GROUP})*?"
_INSIDE = {"{}": _BRACED, "()": _nested("(", ")", _GROUP), "[]": _nested("[", "]", _GROUP)}


def packages_of(text: str) -> str:
    """Return the names of the packages that a text loads and that are read, in their order."""
    known = _TABLES.keys() - set(_OWN.findall(text))
    named = map(str.strip, ",".join(_LOADS.findall(text)).split(","))
    return ",".join(dict.fromkeys(filter(known.__contains__, named)))


def written_out(latex: str, macros: Macros) -> str:
    """Return LaTeX without the commands of a paper and of the packages that it loads.

    Raises `EquationError` for a command that cannot be read, with the reason.
    """
    latex, at = expand(latex, macros).latex, 0
    forms, heads = _known(str(macros.get(USED, "")))
    while head := heads.search(latex, at):  # no command stands for itself
        fits = ((_behind(row).match(latex, head.end()), body) for row, body in forms[head[0]])
        at, put = head.end(), next(((one, body) for one, body in fits if one), None)
        if put:
            at = head.start()
            latex = latex[:at] + _put(*put) + latex[put[0].end() :]
    return latex


def not_loaded(latex: str, macros: Macros) -> str:
    """Return the reason where a command is one of a package that the text does not load."""
    own = {*_known(str(macros.get(USED, "")))[0], *("\\" + name.lstrip("\\") for name in macros)}
    every = ((name, match[0]) for name in _TABLES for match in _known(name)[1].finditer(latex))
    other = (one for one in every if one[1] not in own and not _OF_TEX.match(one[1]))
    name, head = next(other, ("", ""))
    return head and f"nothing in the text defines `{head}`, a command of the package {name}"


@cache
def _known(packages: str) -> tuple[Mapping[str, Sequence[tuple[str, str]]], re.Pattern[str]]:
    """Return the rows of the commands of some packages, the longest first, and what finds one."""
    found: dict[str, list[tuple[str, str]]] = {}
    names = packages.split(",")[::-1] if packages else []
    rows = [one for name in names for one in _TABLES[name].items()]
    for row in sorted(rows, key=lambda one: -one[0].count(" ")):
        found.setdefault(row[0].split(" ")[0], []).append(row)
    ends = (re.escape(head) + "(?![A-Za-z])" * head[-1].isalpha() for head in found)
    return found, re.compile("|".join(sorted(ends, key=len, reverse=True)) or "(?!)")


@cache
def _behind(row: str) -> re.Pattern[str]:
    parts = row.split(" ")[1:]
    return re.compile(_MARKS * bool(parts) + "".join(map(_part, parts)), re.DOTALL)


def _part(text: str) -> str:
    """Return the pattern of an argument with its brackets, which may be left out."""
    may, opens, key, shuts = _PART.findall(text)[0]
    inside = f"(?P<k{key}>{_INSIDE.get(opens + shuts, _SHORT)})" if key else ""
    found = re.escape(opens) + inside + re.escape(shuts)
    if not opens and not shuts:
        found = rf"(?:\{{(?P<k{key}>{_BRACED})\}}|(?P<s{key}>{_SIGN}))"
    return rf"(?:\s*{found})" + "?+" * bool(may)


def _put(match: re.Match[str], body: str) -> str:
    """Return what a command with its arguments stands for."""
    if body.startswith("!"):
        raise EquationError(body[1:], match.string, match.span())
    told = {key[1:]: value.strip() for key, value in match.groupdict("").items() if value}
    made = _PUT.sub(lambda one: _MADE[one[1]](told.get(one[2], "")), body)
    return f" {made}".replace("^{}", "")


def _whole(latex: str) -> str:
    """Return an argument with brackets if it is a sum."""
    bare = re.sub(rf"\{{{_BRACED}\}}|\({_INSIDE['()']}\)|\[{_INSIDE['[]']}\]", "", latex)
    return rf"\left({latex}\right)" if re.search("[+-]", bare[1:]) else latex


_MADE: Mapping[str, Callable[[str], str]] = {"": str, "+": _whole, "number": number, "unit": unit}
