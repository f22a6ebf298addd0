"""Mistakes that show in the symbols alone: an index that runs over nothing, units that differ."""

from __future__ import annotations

from .tried.token_patterns import Found, Pattern, Row, behind_script, put_for, row_of, texts

_RUNS = Pattern("<over:sign> _ <group:below>", over=["\\sum", "\\prod"])
_INDEXED = Pattern("<letter:base> _ <group:index>")
_ENDS = frozenset(["=", "<", ">", "\\le", "\\ge", "\\approx", "\\\\"])
_VARIANCES = (
    Pattern("\\mathbb { V } [ <capital:of>"), Pattern("\\mathrm { V a r } [ <capital:of>"),
    Pattern("\\mathrm { V a r } ( <capital:of>"),
)  # fmt: skip


def idle_index(latex: str) -> str:
    """Describe a sum that never uses its index but shifts another one; return "" for any other.

    So ``\\sum_{i=1}^n \\sigma^2`` is as it should be, and ``\\sum_{i=-k}^k x_{t-1}`` is not.

    >>> idle_index(r"v_t = \\frac{1}{2 k + 1} \\sum_{i=-k}^k x_{t-1}")
    '`i` runs in the sum, and stands nowhere in it: x_{t-1}'
    """
    row = row_of(latex)
    for sign in _RUNS.every(latex, row):
        index, *rest = texts(row[slice(*sign.parts["below"])])
        body = _term(row[behind_script(row, sign.end, "^") :])
        shifted = [one for one in _INDEXED.every(latex, body) if _is_shifted(one)]
        if rest[:1] == ["="] and len(shifted) == 1 and index not in texts(body):
            said = latex[slice(*shifted[0].span)] if shifted[0].span else ""
            return f"`{index}` runs in the sum, and stands nowhere in it: {said}"
    return ""


def _term(row: Row) -> Row:
    """Return the term of a sum: it reaches to a relation or the bracket that closes around it."""
    depth = 0
    for i, token in enumerate(row):
        depth += (token.text in "([{") - (token.text in ")]}")
        if depth < 0 or token.text in _ENDS:
            return row[:i]
    return row


def _is_shifted(one: Found) -> bool:
    """Return whether an index is a letter more or less a number: ``x_{t-1}``."""
    inside = texts(one.row[slice(*one.parts["index"])])
    return len(inside) == 3 and inside[0].isalpha() and inside[1] in "+-" and inside[2].isdigit()


def scaled_variance(latex: str) -> str:
    """Return the equality for a variance of X by ``\\sigma_X`` where X is measured by halves.

    >>> scaled_variance(r"\\mathbb V[X] = \\sigma_X c")
    '\\\\left(\\\\left(2 \\\\sigma_X\\\\right) c\\\\right) = 4 \\\\left(\\\\sigma_X c\\\\right)'
    """
    left, sign, right = latex.partition("=")
    row = row_of(left)
    heads = (pattern.at(left, row, 0) for pattern in _VARIANCES)
    found = next(filter(None, heads), None)
    body = right.strip().rstrip(".,; ")
    if found is None or "=" in body or not sign:
        return ""
    key = rf"\sigma_{found['of']}"
    scaled = put_for(body, key, rf"\left(2 {key}\right)")
    alone = texts(row_of(body)).count(found["of"]) == texts(row_of(body)).count("\\sigma")
    return rf"\left({scaled}\right) = 4 \left({body}\right)" if alone and scaled != body else ""
