"""The record that a claim leaves: plain data; its badge shows dots, means, costs and counts."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median, stdev
from typing import Any

from ..claims.claim import WEAKENED, Draw, Found, chance_of_fresh
from ..claims.outcome import Outcome
from ..claims.sentence import with_error
from .html import element, number_cell, say, scrolled, table
from .records import Shown

Data = Mapping[str, Any]
_WIDTH, _ROW = 300, 22
_CROSS = "m-4-4l8 8m0-8l-8 8"


@dataclass(frozen=True, repr=False)
class ClaimRecord(Shown):
    """A claim that its draws bear out.

    `data` is what the page shows; `outcomes` are the numbers of each draw, and those `without` each
    cause, for tables and figures.
    """

    data: Data
    outcomes: tuple[Outcome, ...]
    without: Mapping[str, tuple[Outcome, ...]]

    def to_json(self) -> dict[str, Any]:
        """The record as plain JSON data."""
        return dict(self.data)

    def panel(self) -> str:
        """What its open badge shows."""
        return panel_of(self.data)


def claim_record(found: Found, chapter: str, text: str, line: int, sentence: str) -> ClaimRecord:
    """The record of what was found."""
    claim = found.claim
    data = {
        "kind": "claim", "label": claim.label, "about": claim.label,
        "chapter": chapter, "line": line, "text": text,
        **_counts(found.draws), "least": claim.needed, "once": claim.once,
        "without": {name: _counts(draws) for name, draws in found.without.items()},
        "worst": {name: _worst(found.draws, name, least) for name, least in claim.parts.items()},
        "seconds": {
            side: float(f"{median(draw.seconds[side] for draw in found.draws):.2g}")
            for side in found.draws[0].seconds if side
        },
        "fresh": dict(found.fresh), "earlier": list(found.earlier),
        "weakened": chance_of_fresh(found) < WEAKENED, "stored": found.stored, "sentence": sentence,
    }  # fmt: skip
    lasting = {**data, "fresh": {}}  # the plain line is compared, and fresh draws are added
    data["said"] = f"{claim.label}: {' · '.join(claim_phrases(lasting))}"
    outcomes = tuple(draw.outcome for draw in found.draws)
    without = {n: tuple(draw.outcome for draw in draws) for n, draws in found.without.items()}
    return ClaimRecord(data, outcomes, without)


def claim_phrases(data: Data) -> list[str]:
    """``10 of 12``, ``fresh 49 of 60``, ``without a grid 3 of 12``."""
    if data["once"]:
        return [f"once: {data['once']}"]
    fresh = data["fresh"]
    parts = [f"{data['held']} of {data['of']}"]
    parts += [f"fresh {fresh['held']} of {fresh['of']}"] if fresh else []
    parts += [f"without {name} {c['held']} of {c['of']}" for name, c in data["without"].items()]
    return parts


def _counts(draws: Sequence[Draw]) -> dict[str, Any]:
    """How often it holds; every number as a mean with its standard error; each draw's dot."""
    columns: dict[str, list[float]] = {}
    for draw in draws:
        effect = {} if draw.effect is None else {"effect": draw.effect}
        for path, value in {**draw.outcome.numbers(), **effect}.items():
            columns.setdefault(path, []).append(value)
    return {
        "held": sum(draw.held for draw in draws),
        "of": len(draws),
        "numbers": {path: _with_error(values) for path, values in columns.items()},
        "dots": [[draw.held, draw.effect] for draw in draws],
    }


def _with_error(values: Sequence[float]) -> list[float]:
    """The mean, and its standard error by the spread over the draws."""
    error = stdev(values) / math.sqrt(len(values)) if len(values) > 1 else 0.0
    return [float(f"{fmean(values):.6g}"), float(f"{error:.3g}")]


def _worst(draws: Sequence[Draw], name: str, least: Any) -> dict[str, Any]:
    """The part whose mean over the draws is the worst: `least` picks it, as `min` or `max` do."""
    found = [draw.outcome[name] for draw in draws]
    parts = {part: _with_error([one[part] for one in found]) for part in found[0]}
    worst = least(parts, key=lambda part: parts[part][0])
    return {"part": worst, "mean": parts[worst][0], "error": parts[worst][1]}


def panel_of(data: Data) -> str:
    """The panel of a claim, as HTML."""
    rows = {
        f"without {name}" if name else "as claimed": row
        for name, row in {"": data, **data["without"]}.items()
    }
    costs = ", ".join(f"{side} {spent:.2g} s" for side, spent in data["seconds"].items())
    spent = f"Processor time a draw, all that a side does included: {costs}."
    parts = [_strips(rows), _numbers(rows), element("p", say(spent)) if costs else ""]
    return "".join(parts) + _history(data)


def _strips(rows: Mapping[str, Data]) -> str:
    """A dot a draw, by its effect, where the claim holds, and a cross where it does not."""
    effects = [dot[1] for row in rows.values() for dot in row["dots"] if dot[1] is not None]
    low, high = min([0, *effects]), max([0, *effects])
    lines = [_strip(row["dots"], i, low, high) for i, row in enumerate(rows.values())]
    if low < high:
        x = _place(0, low, high)
        lines.append(element("line", x1=x, x2=x, y1="0", y2=str(_ROW * len(rows))))
    said = "; ".join(f"{n}: holds in {row['held']} of {row['of']} draws" for n, row in rows.items())
    picture = element(
        "svg", *lines, class_="eqn-dots", role="img", aria_label=said,
        viewBox=f"0 0 {_WIDTH} {_ROW * len(rows)}",
    )  # fmt: skip
    by = "Each mark is a draw" + (", by its effect (the line is none)" if effects else "")
    names = [f"row {i}: {name}" for i, name in enumerate(rows, start=1) if i > 1]
    told = "; ".join([f"{by}: a dot where the claim holds, else a cross", *names])
    return picture + element("p", say(told + "."), class_="eqn-foot")


def _strip(dots: Sequence[Sequence[Any]], row: int, low: float, high: float) -> str:
    y = _ROW * row + _ROW // 2
    step = min(22.0, (_WIDTH - 24) / max(len(dots) - 1, 1))
    drawn = {"eqn-held": "", "eqn-missed": ""}
    for i, (held, effect) in enumerate(dots):
        x = f"{12 + step * i:.0f}" if effect is None else _place(effect, low, high)
        drawn["eqn-held" if held else "eqn-missed"] += f"M{x} {y}{'h0' if held else _CROSS}"
    return "".join(element("path", d=path, class_=name) for name, path in drawn.items() if path)


def _place(effect: float, low: float, high: float) -> str:
    return f"{10 + (_WIDTH - 20) * (effect - low) / (high - low or 1):.1f}"


def _numbers(rows: Mapping[str, Data]) -> str:
    """The mean of every number, with its standard error; a column for each ablation."""
    paths = dict.fromkeys(path for row in rows.values() for path in row["numbers"])
    titles = ("mean over the draws", *map(say, rows))
    body = []
    for path in paths:
        means = (row["numbers"].get(path) for row in rows.values())
        cells = (number_cell(say(with_error(*mean)) if mean else "") for mean in means)
        body.append(element("tr", element("td", say(path)), *cells))
    return scrolled(table("eqn-steps", titles, body), "means") if body else ""


def _history(data: Data) -> str:
    """The counts in words."""
    if data["once"]:
        return element("p", say(f"Done once: {data['once']}."))
    parts = [f"At least {data['least']} of {data['of']} draws are said"]
    if fresh := data["fresh"]:
        edges = f", {fresh['edges']} picks at an edge" if fresh.get("edges") else ""
        parts.append(f"fresh draws until {fresh['until']}: {fresh['held']} of {fresh['of']}{edges}")
        parts += [f"without {n}: {k} of {fresh['of']}" for n, k in fresh["without"].items()]
    older = data["earlier"]
    parts += [f"of earlier code, until {e['until']}: {e['held']} of {e['of']}" for e in older]
    parts += ["fresh draws speak against it"] if data["weakened"] else []
    return element("p", say("; ".join(parts) + "."))
