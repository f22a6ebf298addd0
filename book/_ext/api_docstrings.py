"""Docstrings completed from signatures, where autodoc reads them.

Docstrings are in NumPy's form, with types in words. A parameter that its list passes over gets its
type from the annotation, with the shape that the name of the type stands for; one whose entry has
no default gets that of the signature, and what comes back gets its type where no section says more.
What is explained in prose stays there, and the added entry says so. An equation is a label in
brackets, which reads well in a terminal, and becomes a link here.
"""

from __future__ import annotations

import inspect
import re
from itertools import pairwise
from typing import Any

from gpnotes.ground import array_types

UNDERLINE = re.compile(r"-{3,}\s*$")
ENTRY = re.compile(r"(\*{0,2}\w+(?:, \*{0,2}\w+)*)(?: ?: ?(.*))?$")
LISTS = ("Parameters", "Attributes")
# What a vector or a matrix holds wherever it has this name, as `gpnotes` itself says.
USUAL = {
    ("X", "Matrix"): "The inputs.",
    ("y", "Vector"): "The observations.",
    ("rng", "RNG"): "The source of all that is random: a seed, a stream, or a generator of NumPy.",
}
ALIASES = {"RNG": "Stream, Generator or int"}
NOTHING = (inspect.Signature.empty, None, "None")
EQUATION = re.compile(r"\[(eq-[\w-]+)\]")


def linked(text: str) -> str:
    """Return the labels of equations as links."""
    return EQUATION.sub(r":eq:`\1`", text)


def link(app: Any, what: str, name: str, value: Any, options: Any, lines: list[str]) -> None:
    """Turn the labels of equations in a docstring into links."""
    lines[:] = map(linked, lines)


def complete(app: Any, what: str, name: str, value: Any, options: Any, lines: list[str]) -> None:
    """Complete a docstring before napoleon reads it: all parameters, their types and defaults."""
    if what not in ("function", "method", "class") or getattr(value, "_is_protocol", False):
        return
    try:
        signature = inspect.signature(value)
    except (TypeError, ValueError):  # of a class that is made in C
        return
    wanted = {key: one for key, one in signature.parameters.items() if _shown(key)}
    text = "\n".join(lines)
    start, end = _section(lines, LISTS)
    told = _defaults_told(lines[start:end], wanted)
    known = {name for line in told for name in _names(line)}
    added = [_entry(one, text) for key, one in wanted.items() if key not in known]
    if added and start == end:
        start, end = _place(lines)
        told = ["Parameters", "----------"]
    while told and not told[-1].strip():
        told.pop()
    if added or told:
        lines[start:end] = [*told, *(line for entry in added for line in entry), ""]
    if what != "class" and signature.return_annotation not in NOTHING:
        _say_what_returns(lines, signature.return_annotation)


def _shown(name: str) -> bool:
    return name not in ("self", "cls") and not name.startswith("_")


def _names(line: str) -> list[str]:
    found = ENTRY.match(line)
    return [name.strip("* ") for name in found[1].split(",")] if found else []


def _heads(lines: list[str]) -> list[int]:
    """Return the lines where sections begin."""
    return [i for i in range(len(lines) - 1) if lines[i] and UNDERLINE.match(lines[i + 1])]


def _section(lines: list[str], titles: tuple[str, ...]) -> tuple[int, int]:
    """Return the first and last line of a section with one of these titles, or two zeros."""
    heads = [*_heads(lines), len(lines)]
    for start, end in pairwise(heads):
        if lines[start].strip() in titles:
            return start, end
    return 0, 0


def _place(lines: list[str]) -> tuple[int, int]:
    """Return the line for a list of parameters: before the first section, or at the end."""
    start = next(iter(_heads(lines)), len(lines))
    if start == len(lines) and lines and lines[-1].strip():
        lines.append("")
        start += 1
    return start, start


def _defaults_told(section: list[str], wanted: dict[str, inspect.Parameter]) -> list[str]:
    """Return the entries of a section with the types and the defaults that they leave out.

    Names that share an entry get one each where it has no type, or their defaults differ.
    """
    told, i = [], 0
    while i < len(section):
        names = [name for name in _names(section[i]) if name in wanted]
        end = i + 1
        while end < len(section) and not ENTRY.match(section[end]):
            end += 1
        head, _, kind = section[i].partition(" : ")
        defaults = {_default(wanted[name]) for name in names}
        if names and (not kind or len(defaults) > 1):
            for name in names:
                told += [_typed(wanted[name], kind), *section[i + 1 : end]]
        else:
            if names and not re.search(r"\bdefault\b|\boptional\b", kind):
                kind += defaults.pop()
            told += [f"{head} : {kind}" if kind else head, *section[i + 1 : end]]
        i = end
    return told


def _typed(one: inspect.Parameter, kind: str = "") -> str:
    """Return the first line of a parameter's entry, from the signature where it has none."""
    stars = {one.VAR_POSITIONAL: "*", one.VAR_KEYWORD: "**"}.get(one.kind, "")
    kind = f"{kind or _words(one.annotation)}{_default(one)}".removeprefix(", ")
    return f"{stars}{one.name} : {kind}" if kind else f"{stars}{one.name}"


def _entry(one: inspect.Parameter, text: str) -> list[str]:
    """Return the entry of a parameter that the list passes over."""
    usual = USUAL.get((one.name, one.annotation))
    said = re.search(rf"(?<![\w.]){re.escape(one.name)}(?![\w(])", text)
    explained = usual or (said and "Explained above.")
    return [_typed(one), *([f"    {explained}"] if explained else [])]


def _words(annotation: Any) -> str:
    if annotation is inspect.Parameter.empty:
        return ""
    words = annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
    shape = getattr(getattr(array_types, words, None), "__metadata__", ())  # `Matrix` has one
    return ", shape ".join([ALIASES.get(words, words), *shape]).replace(", shape ()", "")


def _default(one: inspect.Parameter) -> str:
    if one.default is inspect.Parameter.empty:
        return ""
    said = repr(one.default)
    return f", default ``{said}``" if said[0] in "\"'" else f", default {said}"  # no curly quotes


def _say_what_returns(lines: list[str], annotation: Any) -> None:
    if _section(lines, ("Returns", "Yields")) == (0, 0):
        _, end = _section(lines, LISTS)
        place = end or _place(lines)[0]
        lines[place:place] = ["Returns", "-------", _words(annotation), ""]


def setup(app: Any) -> dict[str, Any]:
    app.connect("autodoc-process-docstring", link, priority=400)
    app.connect("autodoc-process-docstring", complete, priority=400)  # napoleon's is 500
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
