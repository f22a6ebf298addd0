"""The search for single edits that mend an equality, each tried on the numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np

from checked_equations.check.mutants import (
    Edit,
    Mutant,
    Say,
    all_mutants,
    mutated,
    says_nothing_new,
    shares_a_side,
)
from checked_equations.evaluate.effort import SECOND, allowing, count, exhausted
from checked_equations.evaluate.evaluator import Evaluator
from checked_equations.evaluate.values import Estimate, conform, kind
from checked_equations.latex import tree as t
from checked_equations.latex.printer import to_latex

from .insertions import insertions_of
from .pairs import everywhere, twice
from .pieces import pieces_in
from .supply import Supply

Holds = Callable[[t.Statement], bool]
Admits = Callable[[Mutant], bool]

EQUALITIES = ("=", ":=")
MOST = 20_000  # candidates
MOST_EFFORT = 20 * SECOND
_CANDIDATE = 20  # effort of one beside the values of its nodes
_SIZED = 1e-9  # two claims are one if they agree to this wherever they do not hold


@dataclass(frozen=True)
class Mend:
    """One edit after which the statement holds: its name, the statement, and the edit of the tree.

    In `said` mathematics stands between dollars. `own` says that it is the inverse of nothing that
    is lost but one of the edits that the engine makes to try a check: a mutant. `others` counts
    the further edits that say the same in other letters.
    """

    said: str
    statement: t.Statement
    edit: Mutant
    own: bool
    others: int = 0

    @property
    def step(self) -> str:
        """The edited step as it then reads."""
        return to_latex(_tidy(self.edit.steps[0]))


def _tidy(node: t.Node) -> t.Node:
    """Without the factors one that a dropped denominator leaves."""
    node = t.mapped(node, _tidy)
    if isinstance(node, t.Product):
        kept = tuple(factor for factor in node.factors if factor != t.Number(1.0))
        if len(kept) < 2:
            return kept[0] if kept else t.Number(1.0)
        return node if len(kept) == len(node.factors) else replace(node, factors=kept)
    return node


@dataclass(frozen=True)
class Mends:
    """All that was found: the mends, how many edits were tried, whether that was all of them."""

    found: tuple[Mend, ...] = ()
    tried: int = 0
    whole: bool = True

    @property
    def only(self) -> Mend | None:
        """The mend, where there is exactly one."""
        return self.found[0] if len(self.found) == 1 and self.whole else None


def mends_of(
    statement: t.Statement,
    holds: Holds,
    drawn: Sequence[Mapping[str, object]],
    *,
    say: Say = to_latex,
    most: int = MOST,
    effort: float = MOST_EFFORT,
    functions: Mapping[str, object] = MappingProxyType({}),
    admits: Admits = lambda _: True,
) -> Mends:
    """Return the single edits after which an equality holds; several of one claim count once.

    Edits are tried in three rounds: the mutants that the engine has and the insertions, together;
    then a symbol everywhere on a side, and pieces of several symbols that are put in; then two
    edits of one kind. A round begins only where
    those before have found nothing. Where n is the number of nodes of the sides that fail and m
    that of the distinct symbols, entries and calls in the statement, the first two rounds have
    ``O(n m)`` candidates (some 50 n for ten symbols), the last ``O(min(n, 12)^2 + k^2 m)`` for
    sums of k terms, and each costs the evaluation of the path from the edit to its side, on the
    first draw alone if it fails there. `most` candidates are tried, and none begins where
    `effort` has been spent; a search that was cut short has no only mend.

    Parameters
    ----------
    statement : Statement
        The tree of the equation.
    holds : Callable
        Tells whether the steps of a statement hold on all draws, with a margin; an error in it
        counts as False.
    drawn : sequence of mapping
        The bound values of each draw, by the normal form of the names.
    say : Callable, optional
        How a node is written in the name of an edit.
    most, effort : int, float
        Where the search ends: after so many candidates, and so many values of nodes.
    functions : mapping, optional
        What is called in the statement, and is no symbol that an edit may put in.
    admits : Callable, optional
        Tells which edits are tried.

    Returns
    -------
    Mends
        Nothing found where no equality fails, or an inequality does.

    Examples
    --------
    >>> from checked_papers.mends import holds_on
    >>> from checked_equations.latex.parser import parse
    >>> numbers = {"a": 1.1, "b": 0.7, "c": 0.4}
    >>> printed = parse("c = a + b", dict.fromkeys(numbers, "value"))
    >>> [mend.step for mend in mends_of(printed, holds_on([numbers]), [numbers]).found]
    ['c = a - b']
    """
    with allowing(effort, anew=True):
        failing = _failing(statement, holds)
        if failing is None:
            return Mends()
        supply = Supply.of(statement, drawn[0], say)
        search = _searched(statement, holds, failing, supply, most, admits)
    if not search.found:
        return search
    with allowing(math.inf, anew=True):  # what was found is compared, whatever that takes
        calling = [{**functions, **values} for values in drawn]
        return replace(search, found=one_a_claim(list(search.found), calling))


def _searched(
    statement: t.Statement,
    holds: Holds,
    failing: tuple[int, ...],
    supply: Supply,
    most: int,
    admits: Admits,
) -> Mends:
    """Return all mends of the first round that has some, before they are compared."""
    found, tried = list[Mend](), 0
    for round_ in (_single, _wider, _twice):
        for own, edit in round_(statement, failing, supply):
            if tried >= most or exhausted():
                return Mends(tuple(found), tried, whole=False)
            tried += 1
            count(_CANDIDATE)
            if not admits(edit):
                continue
            mutant = edit if edit.steps else mutated(statement.steps, edit.places[0], edit)
            if _mends(statement, mutant, failing, holds):
                found.append(Mend(mutant.said, _edited(statement, mutant), mutant, own))
        if found:
            break
    return Mends(tuple(found), tried)


def _failing(statement: t.Statement, holds: Holds) -> tuple[int, ...] | None:
    """The places of the steps that fail; None where there is none, or one is no equality."""
    places = [i for i, step in enumerate(statement.steps) if not _safe(holds, (step,))]
    equal = all(statement.steps[i].relation in EQUALITIES for i in places)
    return tuple(places) if places and equal else None


def _safe(holds: Holds, steps: tuple[t.Step, ...]) -> bool:
    try:
        return holds(t.Statement(steps))
    except Exception:  # noqa: BLE001  whatever a bound callable raises on nonsense, nonsense it is
        return False


def _mends(statement: t.Statement, mutant: Mutant, failing: tuple[int, ...], holds: Holds) -> bool:
    """Return True if the edit touches each step that fails, says something, and leaves none."""
    if not set(failing) <= set(mutant.places) or mutant.claimed:
        return False
    if says_nothing_new(statement.steps, mutant) or _goes_round(statement.steps, mutant):
        return False
    return _safe(holds, mutant.steps)


def _goes_round(steps: tuple[t.Step, ...], mutant: Mutant) -> bool:
    """Return True if it puts a whole side into another: ``b = a``, where ``a = b`` stands.

    The mended chain would repeat another step, or equate a side with itself.
    """
    own = getattr(steps[mutant.places[0]], mutant.side)
    known = set(t.symbols(mutant.after))
    sides = [
        side
        for side in _sides_of_chain(steps, mutant.places[0])
        if known.issuperset(t.symbols(side))
        and not isinstance(side, t.Number | t.Constant)
        and side != own
    ]
    if not sides:
        return False
    inside = t.parts(mutant.after)
    before = t.parts(mutant.before)
    return any(side in inside and side not in before for side in sides)


def _sides_of_chain(steps: tuple[t.Step, ...], place: int) -> list[t.Node]:
    """The sides of all steps that are one chain with that at `place`."""
    first = last = place
    while first > 0 and shares_a_side(steps[first - 1], steps[first]):
        first -= 1
    while last + 1 < len(steps) and shares_a_side(steps[last], steps[last + 1]):
        last += 1
    return [side for step in steps[first : last + 1] for side in (step.left, step.right)]


def _edited(statement: t.Statement, mutant: Mutant) -> t.Statement:
    changed = dict(zip(mutant.places, mutant.steps, strict=True))
    steps = tuple(changed.get(i, step) for i, step in enumerate(statement.steps))
    return replace(statement, steps=steps)


def mutant_statements(
    statement: t.Statement, values: Mapping[str, object]
) -> Iterator[t.Statement]:
    """The statement after each of the mutants that the engine makes to try a check."""
    supply = Supply.of(statement, values, to_latex)
    for mutant in all_mutants(statement, supply.groups(), to_latex):
        yield _edited(statement, mutant)


# The three rounds


def _single(
    statement: t.Statement, failing: tuple[int, ...], supply: Supply
) -> Iterator[tuple[bool, Mutant]]:
    """The mutants, then the insertions, which get their steps where they are tried."""
    for mutant in all_mutants(statement, supply.groups(), supply.say):
        if not isinstance(mutant.before, t.Step):
            yield True, mutant
    yield from _inside(statement, failing, supply, insertions_of)


def _wider(
    statement: t.Statement, failing: tuple[int, ...], supply: Supply
) -> Iterator[tuple[bool, Mutant]]:
    """Edits of all of a side, and pieces of several symbols that are inserted."""
    yield from _whole_sides(statement, failing, supply, everywhere)
    yield from _inside(statement, failing, supply, pieces_in)


def _twice(
    statement: t.Statement, failing: tuple[int, ...], supply: Supply
) -> Iterator[tuple[bool, Mutant]]:
    yield from _whole_sides(statement, failing, supply, twice)


def _inside(
    statement: t.Statement,
    failing: tuple[int, ...],
    supply: Supply,
    edits: Callable[[t.Node, t.Node | None, Supply], Iterator[Edit]],
) -> Iterator[tuple[bool, Mutant]]:
    for place, name in _sides(statement.steps, failing):
        side = getattr(statement.steps[place], name)
        for path, node, parent, here in _visit(side, None, (), supply):
            for said, new in edits(node, parent, here):
                yield False, Mutant(said, (), (place,), node, new, name, path)


def _whole_sides(
    statement: t.Statement,
    failing: tuple[int, ...],
    supply: Supply,
    edits: Callable[[t.Node, Supply], Iterator[Edit]],
) -> Iterator[tuple[bool, Mutant]]:
    for place, name in _sides(statement.steps, failing):
        side = getattr(statement.steps[place], name)
        for said, new in edits(side, supply):
            yield False, Mutant(said, (), (place,), side, new, name, ())


def _sides(steps: tuple[t.Step, ...], failing: tuple[int, ...]) -> Iterator[tuple[int, str]]:
    """The sides to edit, by step and name: the right one first, then the left.

    The side that two steps in a row share is the right one of the first, and changes in both.
    """
    place = failing[0]
    yield place, "right"
    if len(failing) == 1:
        shared = place > 0 and shares_a_side(steps[place - 1], steps[place])
        yield (place - 1, "right") if shared else (place, "left")


def _visit(
    node: t.Node, parent: t.Node | None, path: t.Path, supply: Supply
) -> Iterator[tuple[t.Path, t.Node, t.Node | None, Supply]]:
    yield path, node, parent, supply
    inner = supply.inside(node)
    for place, child in t.children(node):
        if not (isinstance(node, t.Range) and child in (node.without, t.Name(node.index))):
            yield from _visit(child, node, (*path, place), inner)


# Several edits may say one thing


def one_a_claim(found: list[Mend], drawn: Sequence[Mapping[str, object]]) -> tuple[Mend, ...]:
    """The shortest mend of each claim: those are one that agree where they do *not* hold.

    All mends hold on the bound numbers. When each number is moved by itself, the mended steps are
    false, and two mends are one claim if they are then wrong by the same amount, up to a factor.
    """
    moved = _moved(drawn)
    kept: list[tuple[Mend, Values | None]] = []
    for mend in found:
        sides = _sides_there(mend.edit.steps, moved)
        twin = next((i for i, (_, other) in enumerate(kept) if _one_claim(sides, other)), None)
        if twin is None:
            kept.append((mend, sides))
        else:
            known, other = kept[twin]
            best = min(known, mend, key=_length)
            kept[twin] = replace(best, others=known.others + 1), other
    return tuple(mend for mend, _ in kept)


def _length(mend: Mend) -> tuple[int, int, bool]:
    """Return its length in print; of two as long, the one that edits less, and then a mutant."""
    edited = len(t.parts(mend.edit.before))
    return sum(len(to_latex(step)) for step in mend.edit.steps), edited, not mend.own


def same_claim(one: t.Statement, other: t.Statement, drawn: Sequence[Mapping[str, object]]) -> bool:
    """Return True if two statements fail alike wherever the numbers are moved."""
    return any(same_claims([one], other, drawn))


def same_claims(
    many: Iterable[t.Statement], other: t.Statement, drawn: Sequence[Mapping[str, object]]
) -> Iterator[bool]:
    """Tell of each of `many` statements if it fails as the `other` one; they share their values."""
    moved = _moved(drawn)
    sides = _sides_there(other.steps, moved)
    return (_one_claim(_sides_there(one.steps, moved), sides) for one in many)


def _moved(drawn: Sequence[Mapping[str, object]]) -> list[Evaluator]:
    """Evaluators on three sets of numbers, each not whole by a few per cent another than drawn."""
    stream = np.random.default_rng(0)
    chosen = (drawn[i % len(drawn)] for i in range(3))
    return [
        Evaluator({key: _elsewhere(value, stream) for key, value in one.items()}) for one in chosen
    ]


def _elsewhere(value: object, stream: np.random.Generator) -> object:
    if kind(value) != "value" or isinstance(value, Estimate):
        return value
    array = conform(value)
    if array.shape == () and array == np.round(array):
        return value
    return array * stream.uniform(0.9, 1.1, array.shape)


Values = list[tuple[np.ndarray, np.ndarray]]


def _sides_there(steps: tuple[t.Step, ...], moved: list[Evaluator]) -> Values | None:
    """The sides of all steps where the numbers are moved; nothing where they have no value."""
    values: Values = []
    for evaluator in moved:
        for step in steps:
            try:
                left, right = (np.ravel(evaluator.value(side)) for side in (step.left, step.right))
                left, right = np.broadcast_arrays(left, right)
                values.append((left, right))
            except Exception:  # noqa: BLE001  it has no value there, and is a claim of its own
                return None
    return values


def _one_claim(one: Values | None, other: Values | None) -> bool:
    if one is None or other is None or [a.shape for a, _ in one] != [a.shape for a, _ in other]:
        return False
    identities = [all(_alike(left, right) for left, right in sides) for sides in (one, other)]
    if any(identities):  # true wherever the numbers are: one only if they say it of the same
        return all(identities) and _by_one_factor([a for a, _ in one], [a for a, _ in other])
    gaps = ([left - right for left, right in sides] for sides in (one, other))
    return _by_one_factor(*gaps) or _by_one_ratio(one, other)


def _alike(left: np.ndarray, right: np.ndarray) -> bool:
    scale = max(float(np.max(np.abs(left))), float(np.max(np.abs(right))))
    return bool(np.all(np.abs(left - right) <= _SIZED * scale))


def _by_one_factor(one: list[np.ndarray], other: list[np.ndarray]) -> bool:
    if not all(map(np.any, other)):
        return False
    ratio = np.vdot(other[0], one[0]) / np.vdot(other[0], other[0])
    return ratio != 0.0 and all(
        bool(np.all(np.abs(a - ratio * b) <= 1e-7 * np.max(np.abs(a))))
        for a, b in zip(one, other, strict=True)
    )


def _by_one_ratio(one: Values, other: Values) -> bool:
    """Return True if the sides have one ratio, either way round: ``a = b c`` and ``a / c = b``."""
    nonzero = all(np.all(side) for sides in (*one, *other) for side in sides)
    if not nonzero or any(a.size > 1 for a, _ in one):
        return False
    ratios = [[left[0] / right[0] for left, right in sides] for sides in (one, other)]
    either = (ratios[1], [1 / ratio for ratio in ratios[1]])
    return any(np.allclose(ratios[0], turned, rtol=1e-9, atol=0.0) for turned in either)
