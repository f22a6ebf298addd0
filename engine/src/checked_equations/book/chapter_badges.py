"""The open badges of a chapter's ledger and of its claims, in HTML.

That of a claim opens to a mark for each draw, means, costs and counts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..check import phrases
from ..check.html import code, element, number_cell, row, say, scrolled, table
from ..check.phrases import Data, counted
from ..claims.sentence import with_error

_WIDTH, _ROW = 300, 22  # of the picture of a claim
_CROSS = "m-4-4l8 8m0-8l-8 8"


def ledger_details(data: Data) -> str:
    """The totals of a chapter, and the relations between the lines that are only listed."""
    counts = phrases.total_rows(data)
    counts += ((word, ", ".join(words)) for word, words in data.get("more", {}).items())
    if between := phrases.evaluated_between(data["totals"]):
        counts.append(("between the lines", between))
    sums = table("eqn-totals", ("count of", "how many"), (row(*count) for count in counts))
    listed = [r for r in data.get("inline", ()) if r["outcome"] == "listed"]
    rows = [row(str(r["line"]), code(r["latex"]), say(r["why"])) for r in listed]
    titles = ("line", "relation", "why it is not evaluated")
    return sums + (table("eqn-inline", titles, rows) if rows else "")


def claim_details(data: Data) -> str:
    """The panel of a claim, as HTML."""
    rows = {"as claimed": data, **phrases.variants(data)}
    costs = ", ".join(f"{side} {spent:.2g} s" for side, spent in data["seconds"].items())
    spent = f"Processor time a draw, all that a side does included: {costs}."
    parts = [_strips(rows), _means(rows), element("p", say(spent)) if costs else ""]
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


def _strip(dots: Sequence[Sequence[float | None]], row: int, low: float, high: float) -> str:
    y = _ROW * row + _ROW // 2
    step = min(22.0, (_WIDTH - 24) / max(len(dots) - 1, 1))
    drawn = {"eqn-held": "", "eqn-missed": ""}
    for i, (held, effect) in enumerate(dots):
        x = f"{12 + step * i:.0f}" if effect is None else _place(effect, low, high)
        drawn["eqn-held" if held else "eqn-missed"] += f"M{x} {y}{'h0' if held else _CROSS}"
    return "".join(element("path", d=path, class_=name) for name, path in drawn.items() if path)


def _place(effect: float, low: float, high: float) -> str:
    return f"{10 + (_WIDTH - 20) * (effect - low) / (high - low or 1):.1f}"


def _means(rows: Mapping[str, Data]) -> str:
    """The mean of every number, with its standard error; a column for each ablation."""
    paths = dict.fromkeys(path for row in rows.values() for path in row["numbers"])
    titles = ("mean over all draws", *map(say, rows))
    body = []
    for path in paths:
        means = (row["numbers"].get(path) for row in rows.values())
        cells = (number_cell(say(with_error(*mean[:2])) if mean else "") for mean in means)
        body.append(element("tr", element("td", say(path)), *cells))
    return scrolled(table("eqn-steps", titles, body), "means") if body else ""


def _history(data: Data) -> str:
    """The counts in words."""
    if data["once"]:
        return element("p", say(f"Done once: {data['once']}."))
    parts = [f"At least {data['least']} of {data['of']} draws are said"]
    if blocks := data["blocks"]:
        parts.append(f"the draws overlap, {counted(blocks, 'block')} of them independent")
    if fresh := data["fresh"]:
        edges = f", {fresh['edges']} picks at an edge" if fresh.get("edges") else ""
        parts.append(f"fresh draws until {fresh['until']}: {fresh['held']} of {fresh['of']}{edges}")
        counts = {name: row["fresh_held"] for name, row in phrases.variants(data).items()}
        parts += [f"{name}: {held} of {of}" for name, (held, of) in counts.items()]
    older = data["earlier"]
    parts += [f"of earlier code, until {e['until']}: {e['held']} of {e['of']}" for e in older]
    parts += ["fresh draws speak against it"] if data["weakened"] else []
    parts.append(f"it would be refuted by {', or '.join(data['refuted_by'])}")
    return element("p", say("; ".join(parts) + "."))
