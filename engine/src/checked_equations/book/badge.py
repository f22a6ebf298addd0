"""The badge of a record in HTML, without a script: a line that opens to steps and mutants.

That of a claim opens to a mark for each draw, means, costs and counts.

How mathematics is written is a parameter: typeset on a page, as it stands in a notebook's output.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from ..claims.sentence import with_error
from . import phrases
from .html import code, element, number, number_cell, phrase, row, say, scrolled, table, tolerance
from .phrases import Data, counted

MARK = element("span", class_="eqn-mark", aria_hidden="true")  # its place, which the style paints
_WIDTH, _ROW = 300, 22  # of the picture of a claim
_CROSS = "m-4-4l8 8m0-8l-8 8"


def framed_badge(
    kind: str, label: str, summary: str, panel: str, *, opened: bool = False, spoken: str = ""
) -> str:
    """The badge: a `summary` that opens to the `panel`, both ready HTML; `spoken` is read aloud."""
    said = element("span", summary, class_="eqn-said margin")
    shown = element("summary", MARK, said, aria_label=spoken or None)
    inside = element("div", panel, class_="eqn-panel")
    name = f"eqn-badge eqn-{kind}"
    return element("details", shown, inside, class_=name, data_label=label, open=opened)


def notebook_badge(data: Data, panel: str | None = None) -> str:
    """The badge of a record as its cell shows it; `panel` is that of a kind of the book's own."""
    kind = data["kind"]
    label = data.get("about") or data.get("label") or data.get("chapter", "")
    summary = phrases.plain(data)
    if kind in phrases.CHECKED:
        told = (data["mutants"], data["oracle"], data["route"])
        parts = phrases.badge_phrases(data, *told, apart=True)
        summary = " · ".join(filter(None, [*parts, data.get("text")]))
    if panel is None and kind in (*phrases.CHECKED, "definition"):
        panel = check_details(data, code)
        if data.get("text"):  # the engine cannot see what an editor has not saved
            saved = f", as it was saved on {data['saved']}" if data.get("saved") else ""
            panel += element("p", say(f"Read from {data['text']}{saved}."), class_="eqn-foot")
    elif panel is None:
        panels = {"ledger": _closed, "claim": claim_details}
        panel = panels[kind](data) if kind in panels else ""
    return framed_badge(kind, label, say(summary), panel)


def check_details(record: Data, math: Callable[[str], str], tried: str | None = None) -> str:
    """What an open badge says of one check, with its mutants unless `tried` tells of them."""
    said = ""
    if record["kind"] == "definition" and record.get("bare"):
        shown = ", ".join(math(latex.rstrip(" .,;")) for latex in record["bare"])
        why = f"; {say(record['why'])}" if record.get("why") else ""
        said = scrolled(element("p", f"By definition: {shown}{why}."), "by definition")
    if not record["steps"]:
        return said
    mutants = _mutants(record["mutants"], math) if tried is None else tried
    style = "" if math is code else r"\displaystyle "  # what is typeset
    rows = (
        element("tr", element("td", math(style + e["latex"])), number_cell(number(e["residual"])))
        for e in record["steps"]
    )
    steps = scrolled(table("eqn-steps", ("step", "residual"), rows), "steps")
    return f"{said}{steps}{element('p', say(_facts(record)))}{_noted(record)}{mutants}"


def _noted(record: Data) -> str:
    """What all draws share and the statement does not say, where it matters."""
    notes = record.get("notes") or ()
    told = f"{_sentence(notes)} The statement does not say so."
    return element("p", say(told), class_="eqn-noted") if notes else ""


def _facts(record: Data) -> str:
    """How it was checked, in a sentence, and under which terms, in another."""
    draws, tight = record["draws"], record.get("tight")
    slip = (record.get("estimate") or {}).get("slip")
    allowed = phrases.tolerance_phrase(record)
    oracle = f"How this was checked: {record['oracle']}" if record["oracle"] else ""
    route = phrases.route_phrase(record.get("route") or ())
    how = [oracle or "Compared with what it defines", route]
    terms = [
        f"a relative slip of {100 * slip:.2g} % or more would be caught" if slip else "",
        f"relative tolerance {allowed}" if allowed else "",
        "tolerance four standard errors" if record.get("estimate") else "",
        f"absolute tolerance {tolerance(record['atol'])}" if record.get("atol") else "",
        f"{draws} draws of the numbers, the worst counts" if draws > 1 else "",
        f"{phrases.counted(tight, 'draw')} on which it is tight" if tight else "",
        f"{record['backend']} arrays",
        *phrases.added(record),
    ]
    return f"{_sentence(how)} {_sentence(terms)}"


def _sentence(parts: Iterable[str]) -> str:
    said = "; ".join(part for part in parts if part)
    return f"{said[:1].upper()}{said[1:]}."


def _mutants(mutants: Data, math: Callable[[str], str]) -> str:
    """Every mutant with its outcome, behind a line of its own."""
    if not mutants["list"]:
        return ""
    rows = []
    for entry in phrases.together(mutants["list"]):
        outcome = number(entry["residual"]) if entry["outcome"] == "caught" else entry["outcome"]
        why = element("small", say(entry["why"])) if entry.get("why") else ""
        edit = element("td", phrase(entry.get("said") or entry["edit"], math), why)
        reads = element("td", math(entry["latex"]))
        name = f"eqn-{entry['outcome']}"
        rows.append(element("tr", edit, reads, number_cell(outcome), class_=name))
    titles = ("single edit", "there it now reads", "residual")
    title = element("summary", say(phrases.mutants_caught(mutants)))
    shown = scrolled(table("eqn-mutants", titles, rows), "mutants")
    return element("details", title, shown, class_="eqn-more")


def _closed(data: Data) -> str:
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
