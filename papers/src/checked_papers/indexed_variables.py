"""Means and variances of as many random variables as an index says: ``E[\\sum_{i=1}^n X_i]``.

A joint distribution of all of them is drawn, then independent ones, then independent ones that
are distributed alike: ``\\bar X`` is their mean, ``\\mu`` and ``\\sigma^2`` belong to each. All
of it must hold for two values of n: with one alone n and its value look alike.
"""

from __future__ import annotations

from collections.abc import Iterator

from .expectations import (
    CAPITALS,
    LETTERS,
    Averaged,
    claims_order,
    free_letter,
    insides,
    unsigned,
    written_below,
)
from .tried import kinds
from .tried.kinds import Kind
from .tried.token_patterns import Pattern, letters_of, row_of

_BARS = ("\\bar", "\\overline")
_INDEXED = Pattern("<variable:key> _ { <small> }", variable=CAPITALS)
_MEAN = Pattern("<bar> { <variable:key> }", bar=_BARS, variable=CAPITALS)
_COUNTED_MEAN = Pattern("<bar> { <variable:key> } _ { n }", bar=_BARS, variable=CAPITALS)
_PAIRS = Pattern("\\sum _ { <small:one> < <small:other> } !^")
_BARE = Pattern("<over:sign> _ { <small:index> } !^", over=["\\sum", "\\prod"])
_ENDS = Pattern("\\sum _ { <small> = 1 } ^ { <alnum:end> }")
_MOMENTS = (Pattern("\\mu"), Pattern("\\sigma ^ { 2 }"))
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
    inside = insides(latex)
    key, size = (_only_row(latex), _size(latex)) if inside else ("", "")
    if not key or not size or claims_order(_PAIRS.put(latex, lambda _: "")):
        return
    if not all(key in letters_of(row_of(one)) for one in inside):  # means of what is random
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
        if how != "alike" and any(pattern.first(full) for pattern in _MOMENTS):
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
    found = {match["key"] for form in (_INDEXED, _MEAN) for match in form.every(latex)}
    others = {token.text for token in unsigned(row_of(latex)) if token.text in CAPITALS}
    return found.pop() if len(found) == 1 and others == found else ""


def _size(latex: str) -> str:
    """Return the count of variables: the end of the sums, or n."""
    ends = {match["end"] for match in _ENDS.every(latex)}
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
    full = _PAIRS.put(
        full,
        lambda s: (
            rf"\sum_{{{s['one']}=1}}^{{{size} - 1}} "
            rf"\sum_{{{s['other']}={s['one']} + 1}}^{{{size}}}"
        ),
    )
    full = _BARE.put(full, lambda s: rf"{s['sign']}_{{{s['index']}=1}}^{{{size}}}")
    mean = rf"\left(\frac{{1}}{{{size}}} \sum_{{{index}=1}}^{{{size}}} {key}_{index}\right)"
    return _MEAN.put(_COUNTED_MEAN.put(full, lambda _: mean), lambda _: mean)


def _with_moments(latex: str, under: str, key: str) -> str:
    """With the mean and the variance of the first for those of each."""
    mean, spread = _MOMENTS
    latex = mean.put(latex, lambda _: rf"\mathbb E_{{{under}}}[{key}_1]")
    return spread.put(latex, lambda _: rf"\operatorname{{Var}}_{{{under}}}[{key}_1]")
