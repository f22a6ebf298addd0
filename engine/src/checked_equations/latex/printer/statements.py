"""Relations, statements and their conditions as LaTeX."""

from __future__ import annotations

from functools import partial

from .. import tree as t
from .levels import Printer, printed


@printed(t.Cases)
def _cases(p: Printer, node: t.Cases) -> str:
    pairs = zip(node.values, node.conditions, strict=True)
    rows = " \\\\ ".join(f"{p.any(v)} & {_condition(p, c)}" for v, c in pairs)
    return f"\\begin{{cases}} {rows} \\end{{cases}}"


def _condition(p: Printer, step: t.Step | None) -> str:
    return "\\text{otherwise}" if step is None else f"\\text{{if }} {p.any(step)}"


@printed(t.Step)
def _step(p: Printer, node: t.Step) -> str:
    return f"{p.any(node.left)} {node.relation} {p.any(node.right)}"


@printed(t.Statement)
def _statement(p: Printer, node: t.Statement) -> str:
    out = ""
    before = None
    for step in node.steps:
        chained = before is not None and step.left is before
        gap = " " if chained else ", \\quad " if out else ""
        text = f"{step.relation} {p.any(step.right)}" if chained else _step(p, step)
        out = out + gap + text
        before = step.right
    return out + "".join(map(partial(_behind, p), node.conditions))


def _behind(p: Printer, condition: t.Node) -> str:
    """A condition of a statement with the words before it."""
    words = "if" if isinstance(condition, t.Step) else "for all"
    return f" \\text{{ {words} }} {p.any(condition)}"


@printed(t.Space)
def _space(p: Printer, node: t.Space) -> str:
    sizes = " \\times ".join(map(p.term, node.shape))
    return f"{node.name}^{{{sizes}}}" if sizes else node.name


@printed(t.Member)
def _member(p: Printer, node: t.Member) -> str:
    element = p.any(node.element)
    if node.members is not None:
        return f"{element} \\in {p.any(node.members)}"
    listed = ", ".join(map(p.any, node.listed))
    if node.last is None:
        return f"{element} \\in \\{{{listed}\\}}"
    return f"{element} = {listed}, \\dots, {p.any(node.last)}"
