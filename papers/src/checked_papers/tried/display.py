"""A display is tried: read, drawn for, judged, and spoilt to see that the numbers notice."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from operator import itemgetter
from typing import Any

import numpy as np

from checked_equations.errors import EquationError
from checked_equations.evaluate.effort import SECOND, allowing, spend
from checked_equations.latex import tree as t
from checked_equations.latex.macros import Macros, expand
from checked_equations.latex.names import normal
from checked_equations.latex.printer import to_latex

from . import kinds as known_kinds
from .asymptotics import LimitTrial, Way, ways_of
from .branches import SIGN, Choices, apart, signed
from .conditions import Condition, conditions_of, tends
from .differentiated_integrals import differentiated, refuse_paths, with_dots
from .drawing import Made, More, Plan, Sample, samples
from .elementary import DIVISIBILITY
from .entries import entries_in
from .expansions import expanded
from .function_definitions import defines, functions_in
from .index_ranges import alike, between
from .kinds import Kind
from .letter_conventions import COMPLEX, Known, by_custom, known, letter
from .nist import COMMON
from .notation import Notation
from .sample_fates import JUDGES, Trial
from .special import MODULUS
from .token_patterns import exchanged, pieces_of, texts
from .trailing_conditions import parted
from .unbound_statement import NotRead, Reading, mentioned, mentions, read
from .verdicts import HOLDS, Tried, defined_in, is_of_one_form, verdict_on

__all__ = ["Tried", "try_display"]

_PATIENCE = 2 * SECOND  # effort for all that is tried of a display, but its mends
_LONGEST = 500  # nodes of a tree: each of its edits costs time for each of them
_LENGTHS = ("n", "N")  # of a sum whose range is not printed
_FEWEST = 3  # terms of such a sum, where none of them stands in it
_NOTHING = 0.05  # a sum that entries are not divided by
_AXES = ("x", "y")  # the parts of a complex z


def try_display(
    latex: str,
    *,
    conditions: Sequence[str] = (),
    definitions: Sequence[str] = (),
    kinds: Mapping[str, Kind] | None = None,
    macros: Macros | None = None,
    bindings: Mapping[str, Any] | None = None,
    notation: Notation = COMMON,
    rng: int | np.random.Generator = 0,
    mending: float = True,
    once: bool = False,
) -> Tried:
    """Try the display `latex` on numbers that are drawn for its symbols.

    Symbols are of the kinds in `kinds`, or by custom: n, m, k, i, j are whole, all others real, but
    z, w, s complex in a reference work and near marks of complex numbers. `conditions` are LaTeX,
    such as ``x > 0``; those that the display prints are read as well, and ``K = A + B`` defines K.
    `definitions` are displays before this one, which may define a symbol too, or a function that is
    not known otherwise. `bindings` are values of symbols that are no variables, or functions;
    `notation` are the functions that the field knows. Only with `mending` are mends searched for,
    which takes the most time: with so much effort, in values of nodes, if it is a number. With
    `once` numbers on which an equality clearly fails refute it, unless it has roots or cases.

    Examples
    --------
    >>> try_display(r"\\cos(x + y) = \\cos x \\cos y - \\sin x \\sin y").verdict
    'holds'
    >>> str(try_display(r"\\sqrt{x^2} = x"))
    'holds if x > 0'
    >>> try_display(r"(a + b)^2 = a^2 + 3 a b + b^2").verdict
    'does not hold'
    >>> str(try_display("U(x, 1) = (x + 1)^2", definitions=["U(x, t) = x^2 + 2 x t + t^2"]))
    'holds (by what is defined before)'
    """
    try:
        full = notation.written(expand(latex, macros).latex if macros else latex).latex
    except ValueError as wrong:
        return Tried("not read", getattr(wrong, "problem", str(wrong)))
    own = {normal(key): kind for key, kind in (kinds or {}).items()}
    asked = _Asked(full, own, bindings or {}, notation, rng, mending, once)
    with allowing(_PATIENCE):
        found = asked.tried(conditions)
        if found.verdict != "not read" or not definitions:
            return found
        other = asked.tried(conditions, definitions)
    if other.verdict not in HOLDS:
        return found
    return replace(other, why="; ".join(filter(None, (other.why, "by what is defined before"))))


@dataclass(frozen=True)
class _Asked:
    """A display with the declarations of its symbols, by its author, its field and its reader."""

    latex: str
    kinds: Mapping[str, Kind]
    bindings: Mapping[str, Any]
    notation: Notation
    rng: int | np.random.Generator
    mending: float
    once: bool

    def tried(self, conditions: Sequence[str], definitions: Sequence[str] = ()) -> Tried:
        """The verdict, under conditions and with definitions, or that it takes too long."""
        try:
            return self._tried(conditions, definitions)
        except TimeoutError as late:
            return Tried("not read", str(late))

    def _tried(self, conditions: Sequence[str], definitions: Sequence[str]) -> Tried:
        stream = np.random.default_rng(self.rng)
        own = self._known(conditions, definitions, stream)
        try:
            latex, stated = parted(self.latex, own)
            reading = _read(latex, own)
        except NotRead as wrong:
            return Tried("not read", str(wrong))
        stated += [to_latex(one) for one in reading.statement.conditions]  # words said so
        told = self._told(reading, own, [*stated, *conditions], definitions)
        body = _without_definition(reading)
        if body is None:
            return Tried("definition")
        body = expanded(body)
        ways = ways_of(body, [*stated, *conditions], by_custom=self.notation.reference)
        problem = _not_tried(body, bool(ways))
        if problem:
            return Tried("not read", problem)
        unread = [one for one in told.unread if not tends(one)]
        told = replace(told, unread=unread, mending=self.mending, once=self.once)
        return _limit(body, told, ways, stream) if ways else _one(body, told, latex, stream)

    def _known(
        self, conditions: Sequence[str], definitions: Sequence[str], stream: np.random.Generator
    ) -> Known:
        """Return the bindings, with the functions that are declared or defined."""
        functions = [key for key, kind in self.kinds.items() if kind.name in known_kinds.BOUND]
        drawn = {key: self.kinds[key].draw(stream, {}) for key in functions}
        first = known({**self.notation.bindings(), **self.bindings, **drawn}, self.notation)
        made = functions_in([*conditions, *definitions], first, self.notation)
        return replace(first, bindings={**made, **first.bindings})

    def _told(
        self,
        reading: Reading,
        own: Known,
        conditions: Sequence[str],
        definitions: Sequence[str],
    ) -> Told:
        """Return the statements about the symbols of a reading."""
        texts = [text for text in conditions if not defines(text, own.bindings)]
        said = [self._written(text) for text in texts]
        found, unread = conditions_of(said, own, reading.symbols)
        before = [self._written(text) for text in definitions]
        others, _ = conditions_of(before, own, reading.symbols)
        meant = {one.defines: one for one in reversed((*found, *others)) if one.defines}
        ordered = [one for one in found if not one.defines]
        return Told(own, self.kinds, [*ordered, *meant.values()], unread, bool(definitions))

    def _written(self, text: str) -> str:
        try:
            return self.notation.written(text).latex
        except ValueError:  # a bracket that is closed elsewhere
            return text


def _limit(body: Reading, told: Told, ways: Sequence[Way], stream: np.random.Generator) -> Tried:
    """Return the verdict on a limit, by the first way to it on which the display holds."""

    def judged(way: Way) -> Tried:
        spend()
        return _judged(body, replace(told, way=way), stream)

    tries = map(judged, ways)
    first = next(tries)
    others = [] if first.verdict == "holds" else tries
    return next((tried for tried in others if tried.verdict == "holds"), first)


def _one(body: Reading, told: Told, latex: str, stream: np.random.Generator) -> Tried:
    """The verdict on both signs, or with one of them on each of the numbers."""
    tried = _judged(body, told, stream)
    if tried.verdict == "holds" or not found_sign(latex):
        return tried
    other = _with_a_sign(latex, told.known)
    if other is None:
        return tried
    chosen = _judged(expanded(other), told, stream, double=True)
    return chosen if chosen.verdict == "holds" else tried


@dataclass(frozen=True)
class Told:
    """The knowledge of the symbols, and the stated conditions, read or not."""

    known: Known
    declared: Mapping[str, Kind]
    conditions: Sequence[Condition]
    unread: Sequence[str]
    lenient: bool = False  # whether definitions are taken that may be of something else
    way: Way | None = None  # where it holds, if only in the limit
    mending: float = True
    once: bool = False  # whether it is refuted by some numbers


_UPPER, _LOWER = {"\\pm": "+", "\\mp": "-"}, {"\\pm": "-", "\\mp": "+"}


def found_sign(latex: str) -> bool:
    """Return whether a double sign stands in it."""
    return not _UPPER.keys().isdisjoint(texts(pieces_of(latex)))


def _with_a_sign(latex: str, own: Known) -> Reading | None:
    """Read with a symbol in place of ``\\pm``, where one of its signs may be meant."""
    try:
        above, below = (_read(_with_signs(latex, signs), own) for signs in (_UPPER, _LOWER))
    except NotRead:
        return None
    both = signed(above.statement, below.statement)
    return replace(above, statement=both) if isinstance(both, t.Statement) else None


def _with_signs(latex: str, signs: Mapping[str, str]) -> str:
    row = (token for token in pieces_of(latex) if token.text in signs)
    return exchanged(latex, [((token.start, token.end), signs[token.text]) for token in row])


def _read(latex: str, own: Known) -> Reading:
    """Read, and differentiate integrals that have no limits."""
    refuse_paths(latex)
    reading = read(latex, own)
    statement = with_dots(differentiated(reading.statement, reading.latex))
    symbols = tuple(dict.fromkeys((*reading.symbols, *_differentiated_by(statement))))
    return replace(reading, statement=statement, symbols=symbols)


def _differentiated_by(statement: t.Statement) -> list[str]:
    parts = t.parts(statement)
    return [part.symbol.key for part in parts if isinstance(part, t.Slope)]


def _not_tried(body: Reading, in_the_limit: bool) -> str:
    if not body.statement.steps:
        return "no relation stands in it"
    if (parts := len(t.parts(body.statement))) > _LONGEST:
        return f"{parts} terms, factors and symbols are more than can be tried"
    if not in_the_limit and any(step.relation == "\\sim" for step in body.statement.steps):
        return "what holds only in the limit is not tried without its series"
    said = ", ".join(f"`{key}`" for key in body.unknown)
    return f"the function {said} is not known: declare what it is" if said else ""


def _without_definition(reading: Reading) -> Reading | None:
    """Return the claim: of ``f(x) = a = b`` that a is b; of ``f(x) = a`` nothing.

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
    """Return whether a symbol stands only at the beginning of a chain of equalities."""
    first, *rest = statement.steps
    equal = all(step.relation in ("=", ":=") for step in rest)
    return equal and not mentions(first.right, key) and not any(mentions(s, key) for s in rest)


def _judged(
    body: Reading, stated: Told, rng: np.random.Generator, *, double: bool = False
) -> Tried:
    """Return the verdict on the statement, by a plan under which it holds if there is one."""
    own, conditions, unread = stated.known, stated.conditions, stated.unread
    statement, choices = apart(body.statement)
    body, choices = replace(body, statement=statement), replace(choices, signed=double)
    doubt = next(_doubts(body, stated, choices, double=double), "")
    unmet = [one.latex for one in conditions if one.shares and not _shared(body, one.shares)]
    unread = [*unread, *unmet]
    told = f"a condition that is not read: {unread[0]}" if unread else ""

    def judged(plan: Plan) -> Tried:
        drawn = tuple(samples(plan, conditions, rng))
        again = More(plan, conditions, [sample.region for sample in drawn])
        trial = _trial(body, drawn, plan, choices, stated.way)
        trial = replace(trial, mending=stated.mending, enough=_enough(trial, stated, plan))
        return verdict_on(trial, plan, told, doubt, again)

    best: Tried | None = None
    for plan, said in _plans(body, own, stated.declared, conditions):
        way = str(stated.way) if stated.way else ""
        said = "; ".join(filter(None, (said, _chosen(choices), way)))
        name = "" if stated.way or choices else _named(body, plan)
        found = Tried("definition", f"of {name}") if name else judged(plan)
        found = replace(found, drawn=plan.drawn, why="; ".join(filter(None, (said, found.why))))
        if found.verdict == "holds":
            return found
        if best is None or (found.verdict in HOLDS and best.verdict not in HOLDS):
            best = found
    assert best is not None, "there is a plan"
    return best


def _named(body: Reading, plan: Plan) -> str:
    """Return the symbol that a display only defines, whose numbers no others can meet."""
    name = defined_in(body.statement)
    alone = name in plan.drawn and plan.drawn[name].name in _AT_RANDOM and not plan.derived
    return name if alone else ""


_AT_RANDOM = frozenset({"real", "positive", "complex", "vector", "matrix"})


def _enough(trial: Trial, told: Told, plan: Plan) -> int:
    """Return after how many failures an equality that has one form has been refuted."""
    if not is_of_one_form(trial):
        return 0
    others = any(step.relation not in ("=", ":=") for step in trial.statement.steps)
    by_chance = others or told.way or any(kind.counts for kind in plan.drawn.values())
    return 1 if told.once else 0 if by_chance else JUDGES


def _doubts(body: Reading, stated: Told, choices: Choices, *, double: bool) -> Iterator[str]:
    """Return why a display that fails on drawn numbers may be right nevertheless."""
    if not mentioned(body.statement).isdisjoint(stated.known.doubtful):
        yield "a function that another may be called like is in it"
    if any(isinstance(part, t.Dots) for part in t.parts(body.statement)):
        yield "dots may go on in another way"
    if found_sign(body.latex) or double:
        yield "which sign stands may depend on the numbers"
    if stated.lenient:
        yield "what was defined before may be something else"
    if stated.way:
        yield "it may hold on another way to the limit"
    found = entries_in(body.statement)
    if found.alone:
        yield f"an entry of `{found.alone}` may be related to the others"
    if any(_conjugated(key) in found.axes for key in body.symbols):
        yield "a bar may be another mean"
    if choices:
        yield "which branch is meant may depend on the numbers"


def _trial(
    body: Reading, drawn: tuple[Sample, ...], plan: Plan, choices: Choices, way: Way | None
) -> Trial:
    far, keys = bool(body.far), tuple(plan.drawn)
    if way is None:
        return Trial(body.statement, drawn, keys, far, choices=choices)
    return LimitTrial(body.statement, drawn, keys, far, way=way)


def _chosen(choices: Choices) -> str:
    """Describe the choices for a reader."""
    if choices.signed:
        return "with one of the two signs on each of the numbers"
    return "for a branch of each function of many values" if choices else ""


def _custom_in(body: Reading, own: Known, fixed: Mapping[str, Any]) -> Callable[[str], Kind]:
    """Return the customs for the letters of a display, which may show that some are complex.

    That is shown by a real part, an argument, an imaginary unit, or a bar over a letter beside it.
    """
    words = {part.name for part in t.parts(body.statement) if isinstance(part, t.Function)}
    barred = {_conjugated(key) for key in body.symbols}.intersection(body.symbols)
    shown = not _OF_COMPLEX.isdisjoint(words) or not _UNITS.isdisjoint(fixed)
    shown = shown or any(letter(key) in COMPLEX for key in barred)
    return partial(by_custom, complex_letters=COMPLEX if shown or own.reference else frozenset())


_UNITS = frozenset({"i", "\\mathrm i"})
_OF_COMPLEX = frozenset({"Re", "Im", "arg"})


def _plans(
    body: Reading, own: Known, declared: Mapping[str, Kind], conditions: Sequence[Condition]
) -> list[tuple[Plan, str]]:
    """Return the plans for the letters, each with its note."""
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
    """Return the kind of each symbol, the values of constants, and the symbols made of others."""
    stated = {key: getattr(known_kinds, name) for one in conditions for key, name in one.kinds}
    derived: dict[str, Made] = {one.defines: one.value for one in conditions if one.defines}
    shared = _all_shared(body, conditions)
    told = (body.statement, *(step for one in conditions for step in one.steps))
    named = frozenset[str]().union(*map(mentioned, told))
    known = {**own.constants, **own.bindings}
    fixed = {key: value for key, value in known.items() if key in named}
    needed = [key for one in conditions if one.defines for key in one.symbols]
    counted, moduli = set(_counted(body.statement)), set(_moduli(body.statement))
    told_apart = entries_in(body.statement)
    whole = {key for key, kind in declared.items() if kind.shape and not kind.axes}
    rows = {key: axes for key, axes in told_apart.axes.items() if key not in whole}
    counted |= told_apart.letters
    index = told_apart.letters | told_apart.unranged
    fixed = {key: value for key, value in fixed.items() if key not in index}
    reach, lengths = _ends(body, told_apart.counted(rows))
    fixed |= lengths
    derived |= reach
    told_kinds, custom_of = {**stated, **declared}, _custom_in(body, own, fixed)

    def kind_of(key: str) -> Kind:
        return told_kinds.get(key) or custom_of(key)

    drawn: dict[str, Kind] = {}
    for key in dict.fromkeys((*body.symbols, *needed)):
        conjugate = _conjugated(key)
        kind = told_kinds.get(key)
        if key in derived or key == SIGN or key in told_apart.unranged:
            continue
        if key in known and kind is None and key not in counted:
            continue
        if key == body.far:
            plane = kind_of(key).name == "complex"
            drawn[key] = known_kinds.large_complex if plane else known_kinds.large
        elif conjugate in rows and kind is None and (ends := told_apart.ends(conjugate, key)):
            derived[key] = _mean_of(conjugate, *ends)
        elif not kind and conjugate in body.symbols and str(kind_of(conjugate)) == "complex":
            derived[key] = _conjugate_of(conjugate)
        elif key.removesuffix("'") in moduli and key.endswith("'"):
            derived[key] = _complement_of(key.removesuffix("'"))
        else:
            custom = known_kinds.whole if key in counted else custom_of(key)
            if key in rows:
                kind = replace(kind or custom, axes=rows[key])
            drawn[key] = kind or (known_kinds.modulus if key in moduli else custom)
    orders = between(body.statement, reach.keys() | lengths.keys())
    implied = [Condition("the range of a sum", steps) for steps in orders]
    return Plan(
        drawn,
        {k: v for k, v in fixed.items() if k not in drawn},
        derived | shared,
        implied,
        wide=not own.reference,
    )


def _ends(body: Reading, counted: Sequence[str]) -> tuple[dict[str, Made], dict[str, int]]:
    """Return the ends of the indices that are `counted`: a symbol of the display, or a number."""
    ends: dict[str, Made] = {}
    numbers: dict[str, int] = {}
    groups = [(one, one.indices.intersection(counted)) for one in alike(body.statement)]
    groups = [(one, own) for one, own in groups if own]
    length = next((key for key in _LENGTHS if key in body.symbols), "")  # a mean is the sum by n
    for number, (group, own) in enumerate(groups, _FEWEST):
        printed = [*group.ends] or [length] * (len(groups) == 1)
        if len(printed) == 1 and printed[0]:
            ends |= dict.fromkeys(own, itemgetter(printed[0]))
        else:
            numbers |= dict.fromkeys(own, number)
    return ends, numbers


def _counted(statement: t.Statement) -> Iterator[str]:
    """The symbols in the limits of sums and products, and of what divides, which are whole."""
    for part in t.parts(statement):
        ends: tuple[t.Node | None, ...] = ()
        if isinstance(part, t.Reduction):
            ends = (part.over.first, part.over.last)
        elif isinstance(part, t.Function) and part.name in DIVISIBILITY:
            ends = part.arguments
        for end in (part for node in filter(None, ends) for part in t.parts(node)):
            if isinstance(end, t.Name):
                yield end.key


def _moduli(statement: t.Statement) -> Iterator[str]:
    """The symbols that are the modulus of an elliptic function, or a nome."""
    for part in t.parts(statement):
        name = part.key.removeprefix("\\mathrm{").rstrip("}") if isinstance(part, t.Apply) else ""
        place = MODULUS.get(name, -1)
        if isinstance(part, t.Apply) and 0 <= place < len(part.arguments):
            argument = part.arguments[place]
            if isinstance(argument, t.Name):
                yield argument.key


def _complement_of(key: str) -> Made:
    return lambda numbers: np.sqrt(1.0 - numbers[key] ** 2)


def _mean_of(key: str, first: int, last: str) -> Made:
    """``\\bar x`` with ``x_i``: the mean of those that are summed."""

    def mean(numbers: Mapping[str, Any]) -> Any:
        every = [numbers[key].at((i,)) for i in range(first, int(numbers[last]) + 1)]
        if not every:
            raise EquationError("nothing to average")
        return np.mean(every)

    return mean


def _shared(body: Reading, key: str) -> tuple[int, str] | tuple[()]:
    """From where to where the entries run that sum to one, where that is clear."""
    return entries_in(body.statement).ends(key, "") if key else ()


def _all_shared(body: Reading, conditions: Sequence[Condition]) -> dict[str, Made]:
    """The letters whose entries sum to one, drawn and then divided by their sum."""
    ends = {one.shares: _shared(body, one.shares) for one in conditions if one.shares}
    return {key: _shares_of(key, *both) for key, both in ends.items() if both}


def _shares_of(key: str, first: int, last: str) -> Made:
    """Entries that sum to one: those that were drawn, over their sum."""

    def shares(numbers: Mapping[str, Any]) -> Any:
        drawn = numbers[key]
        total = sum(drawn.at((i,)) for i in range(first, int(numbers[last]) + 1))
        if abs(total) < _NOTHING:
            raise EquationError("nothing to share")
        return drawn.over(total)

    return shares


def _conjugate_of(key: str) -> Made:
    return lambda numbers: np.conj(numbers[key])


def _conjugated(key: str) -> str:
    """The symbol below a bar."""
    for bar in ("\\bar ", "\\bar{", "\\overline ", "\\overline{"):
        if key.startswith(bar):
            return key.removeprefix(bar).rstrip("}")
    return ""
