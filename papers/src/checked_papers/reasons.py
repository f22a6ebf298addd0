"""Reasons in the words of somebody who reads a paper, and binds nothing."""

from __future__ import annotations

import re

_KEY = "`([^`]*)`"
_RULES = tuple(
    (re.compile(pattern, re.DOTALL), said)
    for pattern, said in (
        (
            rf"unbound symbol {_KEY}; (?:nearest )?bound names: .*",
            r"`\1` is no symbol that is read",
        ),
        (
            rf"{_KEY} is printed as an array: declare what it is",
            r"`\1` is printed as an array: write `% let \1 in R^n` above, or R^{m×n}",
        ),
        (
            rf"the function {_KEY}(.*) is not known: declare what it is",
            r"the function `\1`\2 is not known: write `% let \1(x) = …` above, "
            r"or `% let \1 be real`",
        ),
        (
            rf"{_KEY} may be a function: declare what it is",
            r"`\1` may be a function: write `% let \1 be real` above if it is a number",
        ),
        (
            rf"{_KEY} may be more than a number: declare what it is",
            r"`\1` may be more than a number: write `% let \1 be real` above if it is one",
        ),
        (
            rf"{_KEY} is a number, which has no such mark: ([^;]*); bind the name with its mark.*",
            r"`\1` is taken for a number, which has no such mark as \2: "
            r"write `% let \1 in R^n` above if it is an array",
        ),
        (
            r"\\approx needs a tolerance of its own: approx=",
            r"how near `\\approx` means is not said",
        ),
        (
            r"(`\\b?mod`) is not part of the language.*",
            r"what \1 divides is not clear: write brackets around it",
        ),
        (rf"{_KEY} is bound to no distribution.*", r"nothing says how `\1` is distributed"),
        (rf"nothing is bound as given {_KEY}.*", r"nothing says what is given with `\1`"),
    )
)


def for_readers(why: str) -> str:
    """Return a reason with the declaration that would help, and without symbols that have no value.

    >>> for_readers("unbound symbol `x^+`; bound names: `\\\\arccosh`")
    '`x^+` is no symbol that is read'
    >>> for_readers("the function `V` is not known: declare what it is")
    'the function `V` is not known: write `% let V(x) = …` above, or `% let V be real`'
    """
    for pattern, said in _RULES:
        why = pattern.sub(said, why)
    return why
