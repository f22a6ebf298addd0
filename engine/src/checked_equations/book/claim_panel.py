"""What an open badge of a claim shows: a strip of dots, the means, the costs, the counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..claims.sentence import with_error
from .html import element, say, scrolled, table

Data = Mapping[str, Any]
_WIDTH, _ROW = 300, 22
_CROSS = "m-4-4l8 8m0-8l-8 8"


def panel_of(data: Data) -> str:
    """The panel of a claim, as HTML."""
    rows = {"": data, **data["without"]}
    parts = [_strips(rows), _numbers(rows), _costs(data["seconds"])]
    return "".join(part for part in parts if part) + _history(data)


def _strips(rows: Mapping[str, Data]) -> str:
    """A dot a draw, by its effect, where the claim holds, and a cross where it does not."""
    effects = [dot[1] for row in rows.values() for dot in row["dots"] if dot[1] is not None]
    low, high = (min([0, *effects]), max([0, *effects])) if effects else (0, 1)
    lines = [_strip(row["dots"], i, low, high) for i, row in enumerate(rows.values())]
    if effects and low < high:
        x = _place(0, low, high)
        lines.append(element("line", x1=x, x2=x, y1="0", y2=str(_ROW * len(rows))))
    said = "; ".join(
        f"{_row(name)}: holds in {row['held']} of {row['of']} draws" for name, row in rows.items()
    )
    picture = element(
        "svg", *lines, class_="eqn-dots", role="img", aria_label=said,
        viewBox=f"0 0 {_WIDTH} {_ROW * len(rows)}",
    )  # fmt: skip
    by = "Each mark is a draw" + (", by its effect (the line is none)" if effects else "")
    names = [f"row {i}: without {name}" for i, name in enumerate(rows, start=1) if name]
    told = "; ".join([f"{by}: a dot where the claim holds, else a cross", *names])
    return picture + element("p", say(told + "."), class_="eqn-foot")


def _row(name: str) -> str:
    return f"without {name}" if name else "as claimed"


def _strip(dots: Sequence[Sequence[Any]], row: int, low: float, high: float) -> str:
    y = _ROW * row + _ROW // 2
    step = min(22.0, (_WIDTH - 24) / max(len(dots) - 1, 1))
    drawn = {True: "", False: ""}
    for i, (held, effect) in enumerate(dots):
        x = f"{12 + step * i:.0f}" if effect is None else _place(effect, low, high)
        drawn[bool(held)] += f"M{x} {y}{'h0' if held else _CROSS}"
    names = {True: "eqn-held", False: "eqn-missed"}
    return "".join(element("path", d=drawn[k], class_=names[k]) for k in names if drawn[k])


def _place(effect: float, low: float, high: float) -> str:
    return f"{10 + (_WIDTH - 20) * (effect - low) / (high - low or 1):.1f}"


def _numbers(rows: Mapping[str, Data]) -> str:
    """The mean of every number, with its standard error; a column for each ablation."""
    paths = dict.fromkeys(path for row in rows.values() for path in row["numbers"])
    titles = ("mean over the draws", *(say(_row(name)) for name in rows))
    body = [
        element("tr", element("td", say(path)), *(_cell(row, path) for row in rows.values()))
        for path in paths
    ]
    return scrolled(table("eqn-steps", titles, body), "means") if body else ""


def _cell(row: Data, path: str) -> str:
    found = row["numbers"].get(path)
    return element("td", say(with_error(*found)) if found else "", class_="eqn-number")


def _costs(seconds: Mapping[str, float]) -> str:
    if not seconds:
        return ""
    said = ", ".join(f"{side} {spent:.2g} s" for side, spent in seconds.items())
    return element("p", say(f"Processor time a draw, all that a side does included: {said}."))


def _history(data: Data) -> str:
    """The counts in words."""
    if data["once"]:
        return element("p", say(f"Done once: {data['once']}."))
    parts = [f"At least {data['least']} of {data['of']} draws are said"]
    if fresh := data["fresh"]:
        edges = f", {fresh['edges']} picks at an edge" if fresh.get("edges") else ""
        parts.append(f"fresh draws until {fresh['until']}: {fresh['held']} of {fresh['of']}{edges}")
        parts += [f"without {n}: {k} of {fresh['of']}" for n, k in fresh["without"].items()]
    parts += [
        f"of earlier code, until {e['until']}: {e['held']} of {e['of']}" for e in data["earlier"]
    ]
    parts += ["fresh draws speak against it"] if data["weakened"] else []
    return element("p", say("; ".join(parts) + "."))
