"""Means, variances and covariances of random variables that nobody bound: of any, or of some.

``\\mathbb E[a X + b] = a \\mathbb E[X] + b`` is said of any distribution. So one is drawn for all
random variables together, of a few points with uneven weights, and written below each average;
what does not hold for that may hold for independent ones.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from .tried import kinds
from .tried.kinds import Kind

SIGN = re.compile(
    r"(?<![A-Za-z\\])(?:\\(?:mathbb|mathrm|operatorname\*?|text|textrm|mathop|mathsf)\s*\{?\s*"
    r"(?P<word>E|V|Var|var|Cov|cov)\s*\}?|(?P<bare>E|Var|Cov))\s*(?:_\s*(?:\{\s*(?P<under>[0t]?)\s*\}|(?P<at>[0t])(?![A-Za-z])))?\s*"
    r"(?=(?:\\left|\\[bB]igg?l?)?\s*(?P<open>\(|\[|\\\{|\\lbrack))"
)
_SPELLED = {"E": r"\mathbb E", "V": r"\mathbb V", "var": r"\operatorname{Var}",
             "Var": r"\operatorname{Var}", "cov": r"\operatorname{Cov}",
             "Cov": r"\operatorname{Cov}"}  # fmt: skip
_CLOSE = {"(": ")", "[": "]", "\\{": "\\}", "\\lbrack": "\\rbrack"}
_COMMANDS = re.compile(r"\\(?:mathbb|mathrm|operatorname\*?|text|textrm)\s*\{[^{}]*\}|\\[A-Za-z]+")
_VARIABLE = re.compile(r"(?P<key>[A-DF-Z])(?:_(?P<index>\d|\{\d\}))?(?![A-Za-z_'])")
_SMALL = re.compile(r"(?<![A-Za-z_^])(?P<key>[uvwxyz])(?:_(?P<index>\d|\{\d\}))?(?![A-Za-z_'])")
_ACCENT = re.compile(r"\\(?:wide)?(?:hat|tilde|bar|check)(?![A-Za-z])|\\overline|\\dot")
_MOST = 4  # random variables at a time
LETTERS = "srqp"  # of a distribution


@dataclass(frozen=True)
class Averaged:
    """A display with a distribution below each average, and what is said of that."""

    latex: str
    said: str
    kinds: Mapping[str, Kind]
    region: str = ""  # where it holds, if not for every distribution
    also: tuple[Mapping[str, Kind], ...] = ()  # other kinds, for which it must hold as well


def under_a_distribution(latex: str) -> Iterator[Averaged]:
    """The ways in which the averages of a display may be meant, the more general first.

    >>> found = next(under_a_distribution(r"E[a X + b] = a E[X] + b"))
    >>> found.latex
    '\\\\mathbb E_{s(X)}[a X + b] = a \\\\mathbb E_{s(X)}[X] + b'
    >>> found.said
    'for a distribution of X that was drawn'
    """
    inside = insides(latex)
    if not inside or claims_order(latex):
        return
    if any(map(claims_order, inside)):  # of an indicator, whose points must meet its bounds
        return
    if any(map(_ACCENT.search, inside)):  # an estimate, or a mean: how is it distributed?
        return
    form = _VARIABLE if _variables(inside, _VARIABLE) else _SMALL
    variables = _variables(inside, form)
    if not all(_variables([one], form) for one in inside):  # else the mean of a number
        return
    law = free_letter(latex, LETTERS)
    if not variables or len(variables) > _MOST or not law:
        return
    names = ", ".join(variables)
    key = f"{law}({names})"
    full = written_below(latex, key)
    means = _with_means(full, variables, key)
    for apart in (False, True)[: 1 + (len(variables) > 1)]:
        drawn = {key: kinds.joint(len(variables), apart=apart)}
        region = f"{names} are independent" if apart else ""
        said = (
            f"for a{' joint' if len(variables) > 1 else ''} distribution of {names} that was drawn"
        )
        yield Averaged(full, said, drawn, region)
        if means != full:
            said += ", with \\mu its mean and \\sigma^2 its variance"
            yield Averaged(means, said, drawn, region)


def insides(latex: str) -> list[str]:
    """What stands in the brackets of each average.

    Nothing where one is given something, or where they are taken at several times, as
    ``\\mathbb E_0`` and ``\\mathbb E_t``.
    """
    signs = list(SIGN.finditer(latex))
    inside = [_bracketed(latex, sign) for sign in signs]
    given = any("|" in one or "\\mid" in one for one in inside)
    times = {sign["under"] or sign["at"] or "" for sign in signs}
    return [] if given or len(times) > 1 else inside


def written_below(latex: str, key: str) -> str:
    """With a distribution below each average."""
    return SIGN.sub(lambda sign: f"{_SPELLED[sign['word'] or sign['bare']]}_{{{key}}}", latex)


def free_letter(latex: str, letters: str) -> str:
    """The first of `letters` that the display has no use for."""
    used = re.compile(r"(?<![A-Za-z\\])[a-z]").findall(latex)
    return next((one for one in letters if one not in used), "")


def claims_order(latex: str) -> bool:
    """Whether it orders numbers: that those of one distribution are so says nothing of others.

    >>> claims_order(r"E[X]^2 \\le E[X^2]"), claims_order(r"\\left< x \\right> = E[X]")
    (True, False)
    """
    return _ORDERS.search(_AROUND.sub("", latex)) is not None


_AROUND = re.compile(r"\\(?:left|right)\s*[<>]")
_ORDERS = re.compile(
    r"[<>]|\\(?:le|ge|leq|geq|lt|gt|ll|gg|leqslant|geqslant|succeq|preceq|ne|neq)(?![A-Za-z])"
)


def _bracketed(latex: str, sign: re.Match[str]) -> str:
    """What stands in the brackets behind the sign of an average."""
    opened, shut = sign["open"], _CLOSE[sign["open"]]
    start = at = latex.index(opened, sign.end()) + len(opened)
    depth = 1
    while at < len(latex) and depth:
        depth += latex.startswith(opened, at) - latex.startswith(shut, at)
        at += 1
    return latex[start : at - 1]


def _variables(inside: list[str], form: re.Pattern[str]) -> list[str]:
    """The letters of random variables, each once, as they come."""
    found: dict[str, None] = {}
    for one in inside:
        bare = _COMMANDS.sub(" ", SIGN.sub(" ", one))
        for match in form.finditer(bare):
            index = match["index"]
            found[match["key"] + (f"_{index.strip('{}')}" if index else "")] = None
    return list(found)


def _with_means(latex: str, variables: list[str], key: str) -> str:
    """With ``\\mu`` and ``\\sigma^2`` for what they are by custom: those of the one variable."""
    named = [(f"_\\{{?{re.escape(one)}\\}}?", one) for one in variables]
    if len(variables) == 1:
        named.append((r"(?!\s*_)", variables[0]))
    for script, one in named:
        mean, spread = rf"\mathbb E_{{{key}}}[{one}]", rf"\mathbb V_{{{key}}}[{one}]"
        latex = re.sub(rf"\\sigma\s*{script}\s*\^\s*\{{?2\}}?", lambda _: spread, latex)  # noqa: B023
        latex = re.sub(rf"\\sigma\s*\^\s*\{{?2\}}?\s*{script}", lambda _: spread, latex)  # noqa: B023
        latex = re.sub(rf"\\mu(?![A-Za-z])\s*{script}", lambda _: mean, latex)  # noqa: B023
    return latex
