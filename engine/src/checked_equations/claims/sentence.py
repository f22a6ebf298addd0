"""The sentence of a claim: its numbers are pasted, and it may not say more than was found out.

In the text stands ``{share}``, ``{effect}``, ``{fresh}``, the path of any number of the outcome
(``{few}``, ``{ours.error}``), ``{worst:coverage}`` for the worst part, ``{seconds:side}``; with the
name of an ablation behind a colon, what was found without that cause: ``{share:a grid}``. A bar and
a per cent sign make a share of one a percentage: ``{coverage.ears|%}``; ``|plain`` leaves the
standard error away, and the number still has no more digits than that allows.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

Data = Mapping[str, Any]
TOKEN = re.compile(r"\{([^{}|\n]+)(?:\|(%|plain))?\}(?!`)")
_CAUSE = re.compile(r"\b(because|causes?d?|owing to|due to|explains?)\b", re.IGNORECASE)
_RIVALS = re.compile(r"\b(beats?|wins?|ahead of|cheaper than|faster than)\b", re.IGNORECASE)
_COUNT = re.compile(r"\b\d+ of (the )?\d+\b|\d\s*±\s*\d|\b\d+(\.\d+)?\s*(%|per cent\b)")


def filled(text: str, record: Data) -> str:
    """The sentence with its numbers; raises ValueError for a token that names none."""
    return TOKEN.sub(lambda found: pasted(found[1], found[2] or "", record), text)


def pasted(name: str, form: str, record: Data) -> str:
    """What stands in the place of one token, on one line."""
    return re.sub(r" (?=[±%])|(?<=±) ", "\N{NO-BREAK SPACE}", _number(name, form, record))


def _number(name: str, form: str, record: Data) -> str:
    path, _, of = (part.strip() for part in name.partition(":"))
    if path == "fresh":
        fresh = record["fresh"]
        return f"{fresh['held']} of {fresh['of']}" if fresh else "no fresh draws yet"
    if path == "worst" and of in record["worst"]:
        worst = record["worst"][of]
        return f"{worst['part']}, {with_error(worst['mean'], worst['error'], form)}"
    if path == "seconds" and of in record["seconds"]:
        return f"{record['seconds'][of]:.2g} s"
    found = record if not of else record["without"].get(of)
    if found is not None and path == "share":
        return f"{found['held']} of {found['of']}"
    if found is not None and path in found["numbers"]:
        mean, error = found["numbers"][path]
        return with_error(mean, error, form)
    known = ["share", *record["numbers"], *(f"share:{name}" for name in record["without"])]
    raise ValueError(f"{record['label']}: no number is called {name}; there are {', '.join(known)}")


def with_error(mean: float, error: float, form: str = "") -> str:
    """A mean and its standard error, with no more digits than the error allows.

    >>> with_error(0.98431, 0.0521), with_error(12.4, 3.2), with_error(0.9871, 0.011, "%")
    ('0.98 ± 0.05', '12 ± 3', '98.7 ± 1.1 %')
    """
    sign = " %" if form == "%" else ""
    mean, error = (100 * mean, 100 * error) if sign else (mean, error)
    if not error:
        return f"{mean:.4g}{sign}".replace("-", "\N{MINUS SIGN}")
    power = math.floor(math.log10(max(abs(mean), error)))
    if not -4 <= power < 6 and not sign:
        mean, error, sign = mean / 10.0**power, error / 10.0**power, f"e{power}"
    size = math.floor(math.log10(error))
    places = -size + (error / 10**size < 1.95)
    shown = f"{round(mean, places) + 0.0:.{max(places, 0)}f}"  # no minus before a zero
    allowed = "" if form == "plain" else f" ± {round(error, places):.{max(places, 0)}f}"
    brackets = allowed and sign.startswith("e")
    said = f"({shown}{allowed}){sign}" if brackets else f"{shown}{allowed}{sign}"
    return said.replace("-", "\N{MINUS SIGN}")


def sentence_faults(text: str, record: Data) -> Iterator[str]:
    """What the sentence says and the claim does not have."""
    tokens = (found[1].partition(":") for found in TOKEN.finditer(text))
    printed = {(path.strip(), of.strip()) for path, _, of in tokens}
    paths, names = {path for path, _ in printed}, {of for _, of in printed}
    try:
        filled(text, record)
    except ValueError as error:
        yield str(error).partition(": ")[2]
        return
    bare = TOKEN.sub("", text)
    if typed := _COUNT.search(bare):
        yield f"{typed[0]!r} is typed; paste it"
    if not record["once"] and "share" not in paths:
        yield "the sentence does not say {share}"
    if (cause := _CAUSE.search(bare)) and not record["without"]:
        yield f"{cause[0]!r} names a cause, and the claim takes none away (without=)"
    for name in record["without"]:
        if name not in names:
            yield f"what happens without {name} is not said ({{share:{name}}})"
    if (rival := _RIVALS.search(bare)) and len(record["seconds"]) < 2:
        yield f"{rival[0]!r} compares sides, and the claim does not say what each costs"
    for name in record["worst"]:
        if ("worst", name) not in printed:
            yield f"the mean of {name} hides its worst part: say {{worst:{name}}}"
