"""Words of a record: the plain line, and the phrases that every badge is made of.

The plain line holds no measured number, only tolerances and counts, so that a stored output
stays equal from machine to machine.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from ..check.outcomes import OUTCOMES

CHECKED = ("identity", "inequality", "estimate")
_SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")

Data = Mapping[str, Any]


def plain(data: Data) -> str:
    """One line, equal on every machine, with the name of the text that was read."""
    return said(data) + (f" · {data['text']}" if data.get("text") else "")


def said(data: Data) -> str:
    """The plain line without the name of the text, which on a page is the page."""
    if "said" in data:  # of a kind that a book has for itself
        return str(data["said"])
    return _SAID.get(data["kind"], _check)(data)


def added(data: Data) -> list[str]:
    """Return the additions of a book's own verbs, behind their words: ``answers S1-01, S1-02``."""
    return [f"{word} {', '.join(words)}" for word, words in data.get("more", {}).items()]


def _check(data: Data) -> str:
    held = f"holds to {data['approx'] or data['rtol']:.0e}"
    if estimate := data.get("estimate"):
        sample = [f"{k} = {estimate[k]}" for k in ("n", "seed") if estimate.get(k) is not None]
        held = "holds within 4 standard errors" + (f" ({', '.join(sample)})" if sample else "")
    draws = counted(data["draws"], "draw") if data["draws"] > 1 else ""
    tight = f"{data['tight']} tight" if data.get("tight") else ""
    steps, mutants = counted(len(data["steps"]), "step"), mutants_caught(data["mutants"])
    notes = "; ".join(data.get("notes") or ())
    parts = filter(None, [held, steps, draws, tight, mutants, notes, data["oracle"]])
    return (f"{data['label']}: " if data["label"] else "") + " · ".join(parts)


def claim_phrases(data: Data) -> list[str]:
    """``10 of 12``, ``fresh 49 of 60``, ``without a grid 3 of 12``."""
    if data["once"]:
        return [f"once: {data['once']}"]
    fresh = data["fresh"]
    parts = [f"{data['held']} of {data['of']}"]
    parts += [f"fresh {fresh['held']} of {fresh['of']}"] if fresh else []
    parts += [f"{name} {row['held']} of {row['of']}" for name, row in variants(data).items()]
    parts += [f"{data['blocks']} independent"] if data["blocks"] else []
    return parts


def variants(data: Data) -> dict[str, Data]:
    """The rows of a claim's settings, ``with X``, and of its causes, ``without Y``."""
    kinds = (("with", data["settings"]), ("without", data["without"]))
    return {f"{word} {name}": row for word, rows in kinds for name, row in rows.items()}


def counted(number: int, noun: str) -> str:
    """``1 step``, ``2 steps``."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def mutants_caught(mutants: Data, *, apart: bool = True) -> str:
    """``17 of 17 mutants caught (3 indistinct, 1 spared)``; without brackets if not `apart`."""
    total = sum(mutants.get(k, 0) for k in ("caught", "survived", "spared", "undecided"))
    rest = ("indistinct", "spared", "undecided")
    named = [f"{mutants[k]} {k}" for k in rest if mutants.get(k)]
    brackets = f" ({', '.join(named)})" if apart and named else ""
    return f"{mutants['caught']} of {total} mutants caught{brackets}"


def _definition(data: Data) -> str:
    if not data["steps"]:
        return f"{data['label']}: definition, {data['why']}"
    bare = f"{len(data['bare'])} left: {data['why']}" if data.get("bare") else ""
    steps = counted(len(data["steps"]), "step")
    parts = [steps, mutants_caught(data["mutants"]), data["oracle"], bare]
    return f"{data['label']}: definition, compared · {' · '.join(filter(None, parts))}"


def _ledger(data: Data) -> str:
    (_, equations), *kinds, (_, mutants) = total_rows(data)
    parts = [f"ledger: {equations} equations"]
    parts += (f"{n} {name.removesuffix('s') if n == '1' else name}" for name, n in kinds)
    if waiting := data["totals"].get("waiting"):
        parts.append(f"{waiting} not yet")
    if between := evaluated_between(data["totals"]):
        parts.append(f"{between} between the lines")
    return " · ".join([*parts, mutants, *added(data)])


_SAID = {"definition": _definition, "ledger": _ledger}


def evaluated_between(totals: Data) -> str:
    """``61 of 74 evaluated``: the relations of the sentences, where the text could be read."""
    evaluated, listed = (totals.get(f"inline_{key}", 0) for key in ("evaluated", "listed"))
    return f"{evaluated} of {evaluated + listed} evaluated" if evaluated + listed else ""


def total_rows(data: Data) -> list[tuple[str, str]]:
    """The rows of the summary of a chapter."""
    totals = data["totals"]
    rows = [(key, str(totals[key])) for key in ("equations", "checked", "estimates", "definitions")]
    return [*rows, ("mutants", mutants_caught(mutant_counts(totals)))]


def mutant_counts(sums: Mapping[str, int]) -> dict[str, int]:
    """Return the mutants of each outcome, from the `sums` that `ledger.totals` gives."""
    return {name: sums[f"mutants_{name}"] for name in OUTCOMES}


_UNNUMBERED = re.compile(r" \(\d+\)$")


def badge_phrases(
    record: Data, mutants: Data, oracle: str, route: Sequence[str], *, apart: bool
) -> list[str]:
    """Return the words of a closed badge of a check; measured numbers may stand here."""
    estimate = record.get("estimate")
    if record["kind"] == "definition":
        head = "definition, compared"
    elif estimate:
        sample = f", n = {power_of_ten(estimate['n'])}" if estimate.get("n") else ""
        head = f"estimate, z = {estimate['z']:.1f}{sample}"
    else:
        widest = short(record["approx"] or record["rtol"])  # that of an approximation if it is one
        head = f"checked to {widest}".replace("-", "\N{MINUS SIGN}")
    parts = [head, mutants_caught(mutants, apart=apart), oracle, route_phrase(route)]
    return [part for part in parts if part]


def route_phrase(route: Sequence[str]) -> str:
    """Return ``by quadrature, differences``: the way to the numbers, by the bound values."""
    return f"by {', '.join(route)}" if route else ""


def tolerance_phrase(data: Data) -> str:
    """``1e-9; 3e-5 where approximate``, relative to the larger side; nothing for an estimate."""
    if data.get("estimate") or data.get("rtol") is None:
        return ""
    looser = f"; {short(data['approx'])} where approximate" if data.get("approx") else ""
    return short(data["rtol"]) + looser


def power_of_ten(n: int) -> str:
    """``10⁶`` for a million; other numbers as they are, on one line."""
    digits = str(n)
    if len(digits) > 3 and digits.rstrip("0") == "1":
        return "10" + str(len(digits) - 1).translate(_SUPERSCRIPTS)
    return f"{n:,}".replace(",", "\N{NO-BREAK SPACE}")


def short(value: float | None, digits: int = 0) -> str:
    """``1e-9`` for 1e-09, and words for a residual that no number describes."""
    if value is None:
        return "does not conform"
    mantissa, exponent = f"{value:.{digits}e}".split("e")
    return "0" if value == 0 else f"{mantissa}e{int(exponent)}"


def together(mutants: Sequence[Data]) -> list[Data]:
    """The mutants worth a row: of many that put something else for one thing, the nearest miss."""
    groups: dict[object, list[Data]] = {}
    for place, mutant in enumerate(mutants):
        _, swapped, old = _UNNUMBERED.sub("", mutant["edit"]).rpartition(" for ")
        plain = mutant["outcome"] == "caught" and swapped
        groups.setdefault(old if plain else place, []).append(mutant)
    rows: list[Data] = []
    for group in groups.values():
        if len(group) > 2:  # so many are worth a row each
            known = [mutant for mutant in group if mutant["residual"] is not None]
            nearest = min(known or group, key=lambda mutant: mutant["residual"] or 0.0)
            why = f"the nearest of {len(group)} of its kind, all caught"
            group = [{**nearest, "why": why}]
        rows += group
    return rows
