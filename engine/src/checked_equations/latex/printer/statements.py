"""Relations, statements and their conditions as LaTeX."""

from __future__ import annotations

from functools import partial

from .. import tree as t
from .levels import Printer, printed


@printed.register(t.Cases)
def _cases(node: t.Cases, p: Printer) -> str:
    pairs = zip(node.values, node.conditions, strict=True)
    rows = " \\\\ ".join(f"{p.any(v)} & {_condition(p, c)}" for v, c in pairs)
    return f"\\begin{{cases}} {rows} \\end{{cases}}"


def _condition(p: Printer, step: t.Step | None) -> str:
    return "\\text{otherwise}" if step is None else f"\\text{{if }} {p.any(step)}"


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
    return out + "".join(map(partial(_behind, p), node.conditions))


def _behind(p: Printer, condition: t.Node) -> str:
    """A condition of a statement with the words before it."""
    words = "if" if isinstance(condition, t.Step) else "for all"
    return f" \\text{{ {words} }} {p.any(condition)}"


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
