"""How a record shows itself: a badge in HTML, one plain line, and its data as JSON.

The plain line holds no measured number, only tolerances and counts, so that a stored output
stays equal from machine to machine. The badge needs no script: it is a ``<details>``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

__all__ = ["MIME", "bundle", "html", "plain", "said", "together"]

MIME = "application/vnd.checked-equation+json"
_CHECKED = ("identity", "inequality", "estimate")
_ROUTES = {"package": "the package", "numbers given": "given numbers"}
_SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")

Data = Mapping[str, Any]


def bundle(data: Data) -> dict[str, Any]:
    """The mime bundle of a record's JSON."""
    return {"text/plain": plain(data), "text/html": html(data), MIME: dict(data)}


def plain(data: Data) -> str:
    """One line, equal on every machine, with the name of the text that was read."""
    return said(data) + _read(data)


def _read(data: Data) -> str:
    return f" · {data['text']}" if data.get("text") else ""


def said(data: Data) -> str:
    """The plain line without the name of the text, which on a page is the page."""
    kind = data["kind"]
    if kind in _CHECKED:
        named = f"{data['label']}: " if data["label"] else ""
        return named + " · ".join(filter(None, _checked(data)))
    return {
        "definition": _definition, "refutation": _refutation, "source": _source, "ledger": _ledger,
        "symbols": _symbols,
    }[kind](data)  # fmt: skip


def _checked(data: Data) -> list[str]:
    parts = [_tolerance(data), _count(len(data["steps"]), "step")]
    if data["draws"] > 1:
        parts.append(_count(data["draws"], "draw"))
    if data.get("tight"):
        parts.append(f"{data['tight']} tight")
    return [*parts, mutant_line(data["mutants"]), data["oracle"]]


def _tolerance(data: Data) -> str:
    estimate = data.get("estimate")
    if not estimate:
        return f"holds to {_widest(data):.0e}"
    return " ".join(["holds within 4 standard errors", *_sample(estimate)])


def _widest(data: Data) -> float:
    """The tolerance to quote: the one of an approximation where there is one."""
    return data["approx"] or data["rtol"]


def _sample(estimate: Data) -> list[str]:
    said = [f"{k} = {estimate[k]}" for k in ("n", "seed") if estimate.get(k) is not None]
    return [f"({', '.join(said)})"] if said else []


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def mutant_line(mutants: Data) -> str:
    """``17 of 17 mutants caught (3 indistinct, 1 spared)``; the indistinct are not in the total."""
    total = mutants["caught"] + mutants["survived"] + mutants["spared"]
    apart = [f"{mutants[k]} {k}" for k in ("indistinct", "spared") if mutants[k]]
    return f"{mutants['caught']} of {total} mutants caught" + (
        f" ({', '.join(apart)})" if apart else ""
    )


def _definition(data: Data) -> str:
    if not data["steps"]:
        return f"{data['label']}: definition, {data['why']}"
    parts = [_count(len(data["steps"]), "step"), mutant_line(data["mutants"])]
    return f"{data['label']}: definition, compared · {' · '.join([*parts, *_left(data)])}"


def _left(data: Data) -> list[str]:
    """Where the other side came from, and what is left bare with the reason."""
    bare = f"{len(data['bare'])} left: {data['why']}" if data.get("bare") else ""
    return [part for part in (data["oracle"], bare) if part]


def _refutation(data: Data) -> str:
    how = "" if data["printed_residual"] is not None else ", its shapes do not conform"
    what = "at its word" if data.get("taken") else "as printed"
    return f"{data['source_id']}: does not hold {what}{how}; {data['instead']} does"


def _source(data: Data) -> str:
    parts = [data["verdict"], data["label"], data["why"]]
    return f"{data['source_id']}: {' · '.join(part for part in parts if part)}"


def _symbols(data: Data) -> str:
    where = f" under {data['under']!r}" if data["under"] else ""
    spared = f", {_count(len(data['spared']), 'relation')} spared" if data["spared"] else ""
    return f"symbols{where}: {len(data['names'])} bound{spared}"


def _ledger(data: Data) -> str:
    (_, equations), *kinds, (_, mutants), (_, sources) = _totals(data)
    counted = [
        f"{value} {name.removesuffix('s') if value == '1' else name}" for name, value in kinds
    ]
    inline = [f"{between} between the lines"] if (between := _between(data["totals"])) else []
    parts = [f"ledger: {equations} equations", *counted, *inline, mutants, f"sources {sources}"]
    return " · ".join(parts)


def _between(totals: Data) -> str:
    """``61 of 74 evaluated``: the relations of the sentences, where the text could be read."""
    evaluated, listed = (totals.get(f"inline_{key}", 0) for key in ("evaluated", "listed"))
    return f"{evaluated} of {evaluated + listed} evaluated" if evaluated + listed else ""


def _totals(data: Data) -> list[tuple[str, str]]:
    """The rows of the summary of a chapter."""
    totals = data["totals"]
    rows = [(key, str(totals[key])) for key in ("equations", "checked", "estimates", "definitions")]
    mutants = {key: totals[f"mutants_{key}"] for key in _OUTCOMES}
    answered = f"{totals['sources_answered']} of {totals['sources_total']} answered"
    return [*rows, ("mutants", mutant_line(mutants)), ("sources", answered)]


_FEW = 2  # mutants of one kind that are worth a row each
_UNNUMBERED = re.compile(r" \(\d+\)$")
_OUTCOMES = ("caught", "indistinct", "survived", "spared")


def html(data: Data) -> str:
    """The badge: a summary line that opens to the details. All text is escaped."""
    kind = escape(data["kind"])
    label = escape(data.get("label") or data.get("source_id") or data.get("chapter", ""))
    head = f'<details class="eqn-badge eqn-{kind}" data-label="{label}">'
    return f"{head}<summary>{escape(summary(data))}</summary>{_details(data)}</details>"


def summary(data: Data) -> str:
    """The line of the closed badge; here measured numbers may stand."""
    if data["kind"] not in _CHECKED:
        return plain(data)
    estimate = data.get("estimate")
    head = _estimated(estimate) if estimate else f"checked to {short(_widest(data))}"
    said = [head, mutant_line(data["mutants"]), data["oracle"], route_line(data)]
    return " · ".join(filter(None, said)) + _read(data)


def slip_line(estimate: Data | None) -> str:
    """``2.4 %``: the smallest relative error that an estimate would have caught."""
    slip = (estimate or {}).get("slip")
    return f"{100 * slip:.2g} %" if slip else ""


def route_line(data: Data) -> str:
    """``from the package, quadrature``: by which route the engine saw the numbers come."""
    names = [_ROUTES.get(name, name) for name in data.get("route") or ()]
    return f"from {', '.join(names)}" if names else ""


def tolerance_line(data: Data) -> str:
    """``1e-9; 3e-5 where approximate``: by how much the sides may differ, relative to the larger.

    An estimate has its standard error instead.
    """
    if data.get("estimate") or data.get("rtol") is None:
        return ""
    looser = f"; {short(data['approx'])} where approximate" if data.get("approx") else ""
    return short(data["rtol"]) + looser


def _estimated(estimate: Data) -> str:
    said = f"estimate, z = {estimate['z']:.1f}"
    return said + (f", n = {power_of_ten(estimate['n'])}" if estimate.get("n") else "")


def power_of_ten(n: int) -> str:
    """``10⁶`` for a million; other numbers as they are, on one line."""
    digits = str(n)
    if len(digits) > 3 and digits.rstrip("0") == "1":
        return "10" + str(len(digits) - 1).translate(_SUPERSCRIPTS)
    return f"{n:,}".replace(",", "\N{NO-BREAK SPACE}")


def short(value: float | None) -> str:
    """``1e-9`` for 1e-09, and words for a residual that no number describes."""
    if value is None:
        return "does not conform"
    mantissa, exponent = f"{value:.0e}".split("e")
    return "0" if value == 0 else f"{mantissa}e{int(exponent)}"


def _details(data: Data) -> str:
    kind = data["kind"]
    if kind == "definition" and not data["steps"]:
        return _table(("", ""), [("text", _saved(data))]) if data.get("text") else ""
    if kind in _CHECKED or kind == "definition":
        return _facts(data) + _steps(data["steps"]) + _mutants(data["mutants"]["list"])
    if kind == "refutation":
        return _refuted(data)
    return _closed(data) if kind == "ledger" else ""


def _closed(data: Data) -> str:
    """The totals of a chapter, and the relations between the lines that are only listed."""
    between = _between(data["totals"])
    rows = [*_totals(data), *([("between the lines", between)] if between else [])]
    listed = [r for r in data.get("inline", ()) if r["outcome"] == "listed"]
    entries = [(str(r["line"]), _Code(r["latex"]), r["why"]) for r in listed]
    titles = ("line", "relation", "why it is not evaluated")
    return _table(("", ""), rows) + (_table(titles, entries, "eqn-inline") if entries else "")


def _facts(data: Data) -> str:
    spoken = {
        "evidence": data["oracle"], "route": route_line(data).removeprefix("from "),
        "relative tolerance": tolerance_line(data),
        "tolerance": "4 standard errors" if data.get("estimate") else "",
        "smallest slip that it would catch": slip_line(data.get("estimate")),
        "draws": str(data["draws"]), "on which it is tight": str(data.get("tight") or ""),
        "arrays": data["backend"],
        "answers": ", ".join(data["sources"]), "text": _saved(data),
    }  # fmt: skip
    if data["atol"]:
        spoken["absolute tolerance"] = short(data["atol"])
    rows = "".join(f"<dt>{k}</dt><dd>{escape(v)}</dd>" for k, v in spoken.items() if v)
    return f'<dl class="eqn-facts">{rows}</dl>'


def _saved(data: Data) -> str:
    """Which text was read, and as of when: the engine cannot see what an editor has not saved."""
    if not data.get("saved"):
        return data.get("text", "")
    return f"{data['text']}, as it was saved on {data['saved']}"


def _steps(steps: Sequence[Data]) -> str:
    rows = [(_Code(step["latex"]), short(step["residual"])) for step in steps]
    return _table(("step", "residual"), rows, "eqn-steps")


def _mutants(mutants: Sequence[Data]) -> str:
    rows = [
        (_Phrase(m.get("said") or m["edit"]), _outcome(m), _Code(m["latex"]))
        for m in together(mutants)
    ]
    return _table(("mutant", "outcome", "reads"), rows, "eqn-mutants")


def together(mutants: Sequence[Data]) -> list[Data]:
    """The mutants worth a row: of many that put something else for one thing, the nearest miss.

    Its ``why`` says how many it stands for; all of them stay in the record.
    """
    groups: dict[Any, list[Data]] = {}
    for place, mutant in enumerate(mutants):
        _, swapped, old = _UNNUMBERED.sub("", mutant["edit"]).rpartition(" for ")
        plain = mutant["outcome"] == "caught" and swapped
        groups.setdefault(old if plain else place, []).append(mutant)
    return [one for group in groups.values() for one in _nearest(group)]


def _nearest(group: list[Data]) -> list[Data]:
    if len(group) <= _FEW:
        return group
    known = [mutant for mutant in group if mutant["residual"] is not None]
    nearest = min(known or group, key=lambda mutant: mutant["residual"] or 0.0)
    return [{**nearest, "why": f"the nearest of {len(group)} of its kind, all caught"}]


def _outcome(mutant: Data) -> str:
    known = mutant["outcome"] == "caught"
    said = f"caught, {short(mutant['residual'])}" if known else mutant["outcome"]
    return said + (f": {mutant['why']}" if mutant.get("why") else "")


def _refuted(data: Data) -> str:
    rows = [
        (_Code(data["latex"]), short(data["printed_residual"])),
        (data["instead"], short(data["corrected_residual"])),
    ]
    head = "as its words would have it" if data.get("taken") else "as printed"
    return _table((f"{head}, and instead", "residual"), rows, "eqn-steps")


class _Code(str):
    """LaTeX, shown as it is written."""


class _Phrase(str):
    """Words, and LaTeX between dollars."""


def _table(head: Sequence[str], rows: Sequence[Sequence[str]], name: str = "eqn-totals") -> str:
    top = "".join(f'<th scope="col">{escape(title)}</th>' for title in head if title)
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows)
    header = f"<thead><tr>{top}</tr></thead>" if top else ""
    return f'<table class="{name}">{header}<tbody>{body}</tbody></table>'


def _cell(text: str) -> str:
    shown = escape(text)
    if isinstance(text, _Code):
        shown = f"<code>{shown}</code>"
    if isinstance(text, _Phrase):
        shown = re.sub(r"\$([^$]*)\$", r"<code>\1</code>", shown)
    return f"<td>{shown}</td>"
