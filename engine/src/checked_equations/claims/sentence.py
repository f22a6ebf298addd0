"""The sentence of a claim, whose numbers are pasted.

In the text stands ``{share}``, ``{effect}``, ``{fresh}``, the path of any number of the outcome
(``{few}``, ``{ours.error}``), ``{worst:coverage}`` for the worst part, ``{seconds:side}``; with the
name of a setting or of an ablation behind a colon, the finding there: ``{share:a grid}``. All
draws that were ever made of the claim count. ``{min:few}`` and ``{max:few}`` are the extremes of a
number, ``{blocks}`` says how many of the draws are independent. A bar and a per cent sign make a
share of one a percentage: ``{coverage.ears|%}``, or ``{coverage.ears %}`` in a table, where a bar
would end the cell; ``|plain``, or ``{few plain}`` and ``{coverage.ears plain %}`` in a table,
leaves the standard error away, and the number still has no more digits than that allows. A number
that is a yes or a no in each draw is a share of them, and has Wilson's interval with it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from .tally import wilson

Data = Mapping[str, Any]
TOKEN = re.compile(r"\{([^{}|\n]+?)(?:(?:\||\ (?=%|plain))(%|plain(?:\ %)?))?\}(?!`)")
_EXACT = 1e-7  # a spread so small beside the mean is rounding: draws are stored to six digits


def filled(text: str, record: Data, *, intervals: bool = True) -> str:
    """The sentence with its numbers, shares without their `intervals` where these would be in the
    way; raises ValueError for a token that names none."""
    return TOKEN.sub(lambda found: pasted(found[1], found[2] or "", record, intervals), text)


def pasted(name: str, form: str, record: Data, intervals: bool = True) -> str:
    """Return the text in the place of one token, on one line."""
    said = _number(name, form, record, intervals)
    return re.sub(r" (?=[±%])|(?<=±) ", "\N{NO-BREAK SPACE}", said)


def _number(name: str, form: str, record: Data, intervals: bool) -> str:
    path, _, of = (part.strip() for part in name.partition(":"))
    if path == "fresh":
        fresh = record["fresh"]
        return f"{fresh['held']} of {fresh['of']}" if fresh else "no fresh draws yet"
    if path == "blocks" and record["blocks"]:
        return str(record["blocks"])
    if path == "worst" and of in record["worst"]:
        worst = record["worst"][of]
        return f"{worst['part']}, {with_error(worst['mean'], worst['error'], form)}"
    if path == "seconds" and of in record["seconds"]:
        return f"{record['seconds'][of]:.2g} s"
    if path in _EXTREMES and of in record["numbers"]:
        return _extreme(path, record["numbers"][of], form)
    variants = {**record["settings"], **record["without"]}
    found = variants.get(of) if of else record
    if found is not None and path == "share":
        held, drawn = found["pooled"]
        return f"{held} of {drawn}" + (_interval(held, drawn) if intervals else "")
    if found is not None and path in found["numbers"]:
        mean, error, count, *_ = found["numbers"][path]
        if "%" in form and (path in found["answers"] or _answers(mean, error, count)):
            told = intervals and form == "%"
            return f"{100 * mean:.0f} %" + (_interval(mean * count, count) if told else "")
        return with_error(mean, error, form)
    known = ["share", *record["numbers"], *(f"share:{name}" for name in variants)]
    raise ValueError(f"{record['label']}: no number is called {name}; there are {', '.join(known)}")


_EXTREMES = "min", "max"


def _extreme(which: str, moments: Sequence[float], form: str) -> str:
    """The least or the greatest of all draws, to a tenth of their standard deviation."""
    _, error, count, low, high, *_ = moments
    one = low if which == "min" else high
    if float(one).is_integer():
        return with_error(one, 0.0, form)
    return with_error(one, 0.1 * error * count**0.5, form if "plain" in form else f"plain {form}")


def _answers(mean: float, error: float, count: int) -> bool:
    """Return whether the draws had only zeros and ones: then the mean gives the error."""
    told = math.sqrt(mean * (1 - mean) / max(count - 1, 1)) if 0 < mean < 1 else math.nan
    return math.isclose(error, told, rel_tol=1e-2)


def _interval(held: float, of: int) -> str:
    low, high = (100 * end for end in wilson(held, of))
    return f" ({low:.0f} to {high:.0f} %)"


def with_error(mean: float, error: float, form: str = "") -> str:
    """A mean and its standard error, with no more digits than the error allows.

    >>> with_error(0.98431, 0.0521), with_error(12.4, 3.2), with_error(0.9871, 0.011, "%")
    ('0.98 ± 0.05', '12 ± 3', '98.7 ± 1.1 %')
    """
    sign = " %" if "%" in form else ""
    mean, error = (100 * mean, 100 * error) if sign else (mean, error)
    if error <= _EXACT * abs(mean):
        return f"{mean:.4g}{sign}".replace("-", "\N{MINUS SIGN}")
    power = math.floor(math.log10(max(abs(mean), error)))
    if not -4 <= power < 6 and not sign:
        mean, error, sign = mean / 10.0**power, error / 10.0**power, f"e{power}"
    size = math.floor(math.log10(error))
    places = -size + (error / 10**size < 1.95)
    shown = f"{round(mean, places) + 0.0:.{max(places, 0)}f}"  # no minus before a zero
    allowed = "" if "plain" in form else f" ± {round(error, places):.{max(places, 0)}f}"
    brackets = allowed and sign.startswith("e")
    said = f"({shown}{allowed}){sign}" if brackets else f"{shown}{allowed}{sign}"
    return said.replace("-", "\N{MINUS SIGN}")


def number_faults(text: str, record: Data) -> Iterator[str]:
    """Yield the fault of a sentence with a number that the claim does not have."""
    try:
        filled(text, record)
    except ValueError as error:
        yield str(error).partition(": ")[2]
