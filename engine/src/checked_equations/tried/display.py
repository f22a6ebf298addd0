"""A display is tried: read, drawn for, judged, and spoilt to see that the numbers notice."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from ..errors import EquationError
from ..evaluate.numerics.patience import allowing
from ..latex import tree as t
from ..latex.macros import Macros, expand
from ..latex.names import normal
from ..latex.parser import parse_expression
from . import kinds as known_kinds
from .branches import SIGN, Choices, apart, signed
from .conditions import Condition, conditions_of
from .drawing import Made, Plan, Sample, samples
from .expansions import expanded
from .forms import differentiated, refuse_paths, with_dots
from .judging import Trial
from .kinds import Kind
from .knowledge import Known, by_custom, known
from .nist import COMMON
from .notation import Notation
from .parts import parted
from .reading import NotRead, Reading, mentioned, mentions, read
from .verdicts import Tried, verdict_on

__all__ = ["Tried", "try_display"]

_BETTER = ("holds", "holds if")
_PATIENCE = 2.0  # seconds of the processor for all that is tried of a display, but its mends
_MORE = 6  # times that each region is drawn again
_AXES = ("x", "y")  # of which a complex z is made


def try_display(
    latex: str,
    *,
    conditions: Sequence[str] = (),
    kinds: Mapping[str, Kind] | None = None,
    macros: Macros | None = None,
    bindings: Mapping[str, Any] | None = None,
    notation: Notation = COMMON,
    rng: int | np.random.Generator = 0,
) -> Tried:
    """Try the display `latex` on numbers that are drawn for its symbols.

    Symbols are of the kinds in `kinds`, or by custom: n, m, k, i, j are whole, z, w, s complex,
    all others real. `conditions` are LaTeX, such as ``x > 0``; those that the display prints are
    read as well, and ``K = A + B`` says what K is. `bindings` are values of symbols that are no
    variables, or functions; `notation` are the functions that the field knows.

    Examples
    --------
    >>> try_display(r"\\cos(x + y) = \\cos x \\cos y - \\sin x \\sin y").verdict
    'holds'
    >>> str(try_display(r"\\sqrt{x^2} = x"))
    'holds if x > 0'
    >>> try_display(r"(a + b)^2 = a^2 + 3 a b + b^2").verdict
    'does not hold'
    """
    full = notation.written(expand(latex, macros).latex if macros else latex).latex
    declared = {**_functions(conditions, notation), **(kinds or {})}
    declared = {normal(key): kind for key, kind in declared.items()}
    stream = np.random.default_rng(rng)
    functions = [key for key, kind in declared.items() if kind.name == "function"]
    drawn = {key: declared[key].draw(stream, {}) for key in functions}
    own = known({**notation.bindings(), **(bindings or {}), **drawn}, notation)
    try:
        latex, stated = parted(full, own)
        reading = _read(latex, own)
    except NotRead as wrong:
        return Tried("not read", str(wrong))
    texts = [text for text in conditions if not _defines_one_of(functions, text)]
    said = [notation.written(text).latex for text in texts]
    found, unread = conditions_of([*stated, *said], own, reading.symbols)
    body = _without_definition(reading)
    if body is None:
        return Tried("definition")
    body = expanded(body)
    problem = _not_tried(body)
    if problem:
        return Tried("not read", problem)
    told = Told(own, declared, found, unread)
    with allowing(_PATIENCE):
        tried = _judged(body, told, stream)
        other = _with_a_sign(latex, own) if tried.verdict != "holds" and found_sign(latex) else None
        if other is None:
            return tried
        chosen = _judged(expanded(other), told, stream, double=True)
        return chosen if chosen.verdict == "holds" else tried


@dataclass(frozen=True)
class Told:
    """What is known of the symbols, and which conditions are stated, read or not."""

    known: Known
    declared: Mapping[str, Kind]
    conditions: Sequence[Condition]
    unread: Sequence[str]


_UPPER = {"\\pm": "+", "\\mp": "-"}
_SIGNS = re.compile(r"\\(?:pm|mp)(?![A-Za-z])")


def found_sign(latex: str) -> bool:
    """Whether a double sign stands in it."""
    return _SIGNS.search(latex) is not None


def _with_a_sign(latex: str, own: Known) -> Reading | None:
    """What is read with a symbol in place of ``\\pm``, where one of its signs may be meant."""
    other = {"+": "-", "-": "+"}
    try:
        upper = _read(_SIGNS.sub(lambda sign: _UPPER[sign[0]], latex), own)
        lower = _read(_SIGNS.sub(lambda sign: other[_UPPER[sign[0]]], latex), own)
    except NotRead:
        return None
    both = signed(upper.statement, lower.statement)
    return replace(upper, statement=both) if isinstance(both, t.Statement) else None


_DEFINES = re.compile(
    r"\s*(?P<key>\\?[A-Za-z]+)\s*(?:\\left)?\(\s*(?P<of>\\?[A-Za-z]+)\s*(?:\\right)?\)\s*=(?P<latex>[^=]+)$"
)


def _functions(conditions: Sequence[str], notation: Notation) -> dict[str, Kind]:
    """The functions of one number that the text defines: ``f(t) = 1 - t \\cot t``."""
    found: dict[str, Kind] = {}
    for match in filter(None, map(_DEFINES.match, conditions)):
        names = {normal(match["of"]): "value"}
        latex = match["latex"].strip(" .,;")
        if notation.written(match[0]).latex != match[0]:  # it has a meaning already
            continue
        try:
            parse_expression(latex, names)
        except EquationError:
            continue
        found[match["key"]] = known_kinds.function(latex, normal(match["of"]))
    return found


def _defines_one_of(functions: Sequence[str], text: str) -> bool:
    match = _DEFINES.match(text)
    return match is not None and normal(match["key"]) in functions


def _read(latex: str, own: Known) -> Reading:
    """What is read, without integrals that have no limits."""
    refuse_paths(latex)
    reading = read(latex, own)
    statement = with_dots(differentiated(reading.statement, reading.latex))
    symbols = tuple(dict.fromkeys((*reading.symbols, *_differentiated_by(statement))))
    return replace(reading, statement=statement, symbols=symbols)


def _differentiated_by(statement: t.Statement) -> list[str]:
    parts = [part for _, part in t.walk(statement)]
    return [part.symbol.key for part in parts if isinstance(part, t.Slope)]


def _not_tried(body: Reading) -> str:
    if not body.statement.steps:
        return "no relation stands in it"
    if any(step.relation == "\\sim" for step in body.statement.steps):
        return "what holds only in the limit is not tried without its series"
    said = ", ".join(f"`{key}`" for key in body.unknown)
    return f"the function {said} is not known" if said else ""


def _without_definition(reading: Reading) -> Reading | None:
    """What is claimed: of ``f(x) = a = b`` that a is b; of ``f(x) = a`` nothing.

    The same of ``w = a = b`` where nothing else is said of w; ``w = a`` is left to its verdict.
    """
    statement = reading.statement
    first = statement.steps[0] if statement.steps else None
    if first is None or first.relation not in ("=", ":="):
        return reading
    left = first.left
    if len(statement.steps) > 1 and isinstance(left, t.Name) and _only_named(left.key, statement):
        symbols = tuple(key for key in reading.symbols if key != left.key)
        return replace(
            reading, statement=replace(statement, steps=statement.steps[1:]), symbols=symbols
        )
    unknown = isinstance(left, t.Apply) and left.key in reading.unknown
    if not (unknown and isinstance(left, t.Apply)) or mentions(first.right, left.key):
        return reading
    rest = statement.steps[1:]
    if not rest:
        return None
    statement = replace(statement, steps=rest)
    called = tuple(key for key in reading.unknown if mentions(statement, key))
    return replace(reading, statement=statement, unknown=called)


def _only_named(key: str, statement: t.Statement) -> bool:
    """Whether a symbol stands only at the beginning of a chain of equalities."""
    first, *rest = statement.steps
    equal = all(step.relation in ("=", ":=") for step in rest)
    return equal and not mentions(first.right, key) and not any(mentions(s, key) for s in rest)


def _judged(
    body: Reading, stated: Told, rng: np.random.Generator, *, double: bool = False
) -> Tried:
    """The verdict on what was read, in the way in which it holds if it does in any."""
    own, conditions, unread = stated.known, stated.conditions, stated.unread
    statement, choices = apart(body.statement)
    body, choices = replace(body, statement=statement), replace(choices, signed=double)
    doubtful = not mentioned(body.statement).isdisjoint(own.doubtful)
    doubt = "a function that another may be called like is in it" if doubtful else ""
    told = f"a condition that is not read: {unread[0]}" if unread else ""
    if any(isinstance(part, t.Dots) for _, part in t.walk(body.statement)):
        doubt = doubt or "dots may go on in another way"
    if found_sign(body.latex) or double:
        doubt = doubt or "which sign stands may depend on the numbers"
    if choices:
        doubt = doubt or "which branch is meant may depend on the numbers"
    best: Tried | None = None
    for plan, said in _plans(body, own, stated.declared, conditions):
        drawn = tuple(samples(plan, conditions, rng))
        again = partial(_again, plan, conditions)
        trial = Trial(body.statement, drawn, tuple(plan.drawn), bool(body.far), choices=choices)
        said = "; ".join(filter(None, (said, _chosen(choices))))
        found = verdict_on(trial, plan, told, doubt, again)
        found = replace(found, drawn=plan.drawn, why="; ".join(filter(None, (said, found.why))))
        if found.verdict == "holds":
            return found
        if best is None or (found.verdict in _BETTER and best.verdict not in _BETTER):
            best = found
    assert best is not None, "there is a plan"
    return best


def _chosen(choices: Choices) -> str:
    """What a reader is told of what was chosen."""
    if choices.signed:
        return "with one of the two signs on each of the numbers"
    return "for a branch of each function of many values" if choices else ""


def _again(plan: Plan, conditions: Sequence[Condition]) -> tuple[Sample, ...]:
    """More samples of each region, of a stream of their own."""
    rng = np.random.default_rng(0)
    return tuple(one for _ in range(_MORE) for one in samples(plan, conditions, rng))


def _plans(
    body: Reading, own: Known, declared: Mapping[str, Kind], conditions: Sequence[Condition]
) -> list[tuple[Plan, str]]:
    """In what ways the letters may be meant, each with what is said of it."""
    plan = _plan(body, own, declared, conditions)
    plans = [(plan, "")]
    axes = [key for key in _AXES if key in plan.drawn]
    if axes and "z" in plan.drawn and "z" not in declared and plan.drawn["z"].name == "complex":
        others = {key: kind for key, kind in plan.drawn.items() if key != "z"}
        pair = {key: known_kinds.real for key in _AXES if key not in others}
        made = {"z": lambda numbers: numbers["x"] + 1j * numbers["y"]}
        apart = replace(plan, drawn={**others, **pair}, derived={**plan.derived, **made})
        plans.append((apart, "with z = x + iy"))
    return plans


def _plan(
    body: Reading, own: Known, declared: Mapping[str, Kind], conditions: Sequence[Condition]
) -> Plan:
    """The kind of each symbol, the values of constants, and what is made of others."""
    stated = {key: getattr(known_kinds, name) for one in conditions for key, name in one.kinds}
    derived: dict[str, Made] = {one.defines: one.value for one in conditions if one.defines}
    told = (body.statement, *(step for one in conditions for step in one.steps))
    named = frozenset[str]().union(*map(mentioned, told))
    known = {**own.constants, **own.bindings}
    fixed = {key: value for key, value in known.items() if key in named}
    needed = [key for one in conditions if one.defines for key in one.symbols]
    counted = set(_counted(body.statement))
    drawn: dict[str, Kind] = {}
    for key in dict.fromkeys((*body.symbols, *needed)):
        conjugate = _conjugated(key)
        kind = declared.get(key) or stated.get(key)
        if key in derived or key == SIGN or (key in known and kind is None):
            continue
        if key == body.far:
            own_kind = kind or by_custom(key)
            plane = own_kind.name == "complex"
            drawn[key] = known_kinds.large_complex if plane else known_kinds.large
        elif conjugate in body.symbols and kind is None:
            derived[key] = _conjugate_of(conjugate)
        else:
            drawn[key] = kind or (known_kinds.whole if key in counted else by_custom(key))
    return Plan(drawn, {k: v for k, v in fixed.items() if k not in drawn}, derived)


def _counted(statement: t.Statement) -> Iterator[str]:
    """The symbols in the limits of sums and products, which are whole."""
    for _, part in t.walk(statement):
        if isinstance(part, t.Reduction):
            ends = [end for end in (part.over.first, part.over.last) if end is not None]
            for _, end in (pair for node in ends for pair in t.walk(node)):
                if isinstance(end, t.Name):
                    yield end.key


def _conjugate_of(key: str) -> Made:
    return lambda numbers: np.conj(numbers[key])


def _conjugated(key: str) -> str:
    """The symbol below a bar."""
    for bar in ("\\bar ", "\\bar{", "\\overline ", "\\overline{"):
        if key.startswith(bar):
            return key.removeprefix(bar).rstrip("}")
    return ""
