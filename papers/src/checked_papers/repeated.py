"""Means and variances of as many random variables as an index says: ``E[\\sum_{i=1}^n X_i]``.

A joint distribution of all of them is drawn, then independent ones, then independent ones that
are distributed alike, of which ``\\bar X`` is the mean, and ``\\mu`` and ``\\sigma^2`` are those
of each. All of it must hold for two numbers n, since of one of them nobody could tell n from it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from .averages import LETTERS, SIGN, Averaged, claims_order, free_letter, insides, written_below
from .tried import kinds
from .tried.kinds import Kind

_INDEXED = re.compile(
    r"(?<![A-Za-z\\])(?P<key>[A-DF-Z])\s*_\s*(?:\{\s*(?P<braced>[a-z])\s*\}|(?P<index>[a-z]))(?![A-Za-z])"
)
_CAPITAL = re.compile(r"(?<![A-Za-z\\])[A-DF-Z](?![A-Za-z])")
_MEAN = r"\\(?:bar|overline)\s*(?:\{{\s*{key}\s*\}}|\s{key}(?![A-Za-z]))(?:\s*_\s*(?:n|\{{n\}}))?"
_ANY_MEAN = re.compile(
    r"\\(?:bar|overline)\s*(?:\{\s*(?P<one>[A-DF-Z])\s*\}|\s(?P<other>[A-DF-Z])(?![A-Za-z]))"
)
_PAIRS = re.compile(r"\\sum(?:\\limits)?\s*_\s*\{\s*([a-z])\s*<\s*([a-z])\s*\}(?!\s*\^)")
_BARE = re.compile(r"\\(sum|prod)(?:\\limits)?\s*_\s*(?:\{\s*([a-z])\s*\}|([a-z]))(?!\s*\^)")
_ENDS = re.compile(
    r"\\sum(?:\\limits)?\s*_\s*\{\s*[a-z]\s*=\s*1\s*\}\s*\^\s*(?:\{\s*(\w)\s*\}|(\w))"
)
_FUNCTION = re.compile(r"\\(?:[A-Za-z]+)")
_SIZES = (3, 4)
_RUNNING = "abcdefghlmopquvw"  # letters for an index of our own


def of_many(latex: str) -> Iterator[Averaged]:
    """The ways in which the averages over ``X_1, \\dots, X_n`` may be meant.

    >>> found = next(of_many(r"E[\\sum_{i=1}^n X_i] = \\sum_{i=1}^n E[X_i]"))
    >>> found.latex
    '\\\\mathbb E_{s(X)}[\\\\sum_{i=1}^n X_i] = \\\\sum_{i=1}^n \\\\mathbb E_{s(X)}[X_i]'
    >>> found.said
    'for a joint distribution of X_1, …, X_n that was drawn'
    """
    inside, key, size = insides(latex), _only_row(latex), _size(latex)
    if not inside or not key or not size or claims_order(_PAIRS.sub("", latex)):
        return
    if not all(_of_row(one, key) for one in inside):
        return
    law = free_letter(latex, LETTERS)
    full = _written(latex, key, size, f"{law}({key})")
    if full is None or not law:
        return
    for how, region in (
        ("", ""),
        ("independent", f"the {key}_i are independent"),
        ("alike", f"the {key}_i are independent and distributed alike"),
    ):
        if how != "alike" and _names_moments(full):
            continue
        put = _with_moments(full, f"{law}({key})", key) if how == "alike" else full
        every = [_drawn(f"{law}({key})", size, n, how) for n in _SIZES]
        said = f"for a joint distribution of {key}_1, …, {key}_{size} that was drawn"
        yield Averaged(put, said, every[0], region, tuple(every[1:]))


def _drawn(key: str, size: str, n: int, how: str) -> dict[str, Kind]:
    drawn = kinds.joint(n, apart=bool(how), alike=how == "alike")
    return {key: drawn, size: kinds.told(n)}


def _only_row(latex: str) -> str:
    """The one letter that has a running index, where no other capital stands with it."""
    found = {match["key"] for match in _INDEXED.finditer(latex)}
    found |= {match["one"] or match["other"] for match in _ANY_MEAN.finditer(latex)}
    others = set(_CAPITAL.findall(_FUNCTION.sub(" ", SIGN.sub(" ", latex))))
    return found.pop() if len(found) == 1 and others == found else ""


def _of_row(inside: str, key: str) -> bool:
    """Whether it is the mean of something random."""
    return re.search(rf"(?<![A-Za-z\\]){key}(?![A-Za-z])", inside) is not None


def _size(latex: str) -> str:
    """How many there are: where the sums end, or n."""
    ends = {one or other for one, other in _ENDS.findall(latex)}
    if len(ends) > 1:
        return ""
    size = ends.pop() if ends else "n"
    return size if size.isalpha() else ""


def _written(latex: str, key: str, size: str, under: str) -> str | None:
    """With a distribution below each average, ends at each sum, and means written out."""
    index = free_letter(latex, _RUNNING)
    if not index:
        return None
    full = written_below(latex, under)
    full = _PAIRS.sub(
        lambda s: rf"\sum_{{{s[1]}=1}}^{{{size} - 1}} \sum_{{{s[2]}={s[1]} + 1}}^{{{size}}}", full
    )
    full = _BARE.sub(lambda s: rf"\{s[1]}_{{{s[2] or s[3]}=1}}^{{{size}}}", full)
    mean = rf"\left(\frac{{1}}{{{size}}} \sum_{{{index}=1}}^{{{size}}} {key}_{index}\right)"
    return re.sub(_MEAN.format(key=key), lambda _: mean, full)


_MOMENT = re.compile(r"\\mu(?![A-Za-z])|\\sigma\s*\^\s*(?:\{\s*2\s*\}|2)")


def _names_moments(latex: str) -> bool:
    return _MOMENT.search(latex) is not None


def _with_moments(latex: str, under: str, key: str) -> str:
    """With the mean and the variance of the first for those of each."""

    def moment(match: re.Match[str]) -> str:
        sign = r"\mathbb E" if match[0].startswith("\\mu") else r"\operatorname{Var}"
        return rf"{sign}_{{{under}}}[{key}_1]"

    return _MOMENT.sub(moment, latex)
