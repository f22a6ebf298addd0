"""Relations, statements and their conditions as LaTeX."""

from __future__ import annotations

from .. import tree as t
from .levels import Printer, printed


@printed.register(t.Cases)
def _cases(node: t.Cases, p: Printer) -> str:
    rows = []
    for value, condition in zip(node.values, node.conditions, strict=True):
        words = f"\\text{{if }} {p.any(condition)}" if condition else "\\text{otherwise}"
        rows.append(f"{p.any(value)} & {words}")
    inside = " \\\\ ".join(rows)
    return f"\\begin{{cases}} {inside} \\end{{cases}}"


@printed.register(t.Step)
def _step(node: t.Step, p: Printer) -> str:
    return f"{p.any(node.left)} {node.relation} {p.any(node.right)}"


@printed.register(t.Statement)
def _statement(node: t.Statement, p: Printer) -> str:
    out = ""
    before = None
    for step in node.steps:
        chained = before is not None and step.left is before
        gap = " " if chained else ", \\quad " if out else ""
        text = f"{step.relation} {p.any(step.right)}" if chained else _step(step, p)
        out = out + gap + text
        before = step.right
    for condition in node.conditions:
        words = "if" if isinstance(condition, t.Step) else "for all"
        out += f" \\text{{ {words} }} {p.any(condition)}"
    return out


@printed.register(t.Space)
def _space(node: t.Space, p: Printer) -> str:
    sizes = " \\times ".join(map(p.term, node.shape))
    return f"{node.name}^{{{sizes}}}" if sizes else node.name


@printed.register(t.Member)
def _member(node: t.Member, p: Printer) -> str:
    element = p.any(node.element)
    if node.members is not None:
        return f"{element} \\in {p.any(node.members)}"
    listed = ", ".join(map(p.any, node.listed))
    if node.last is None:
        return f"{element} \\in \\{{{listed}\\}}"
    return f"{element} = {listed}, \\dots, {p.any(node.last)}"
