"""The fate of a statement on each sample, and the region where it holds by these."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from checked_equations.check.bindings import swap_groups
from checked_equations.check.mutant_outcomes import run_mutants
from checked_equations.check.mutants import Mutant, all_mutants
from checked_equations.check.outcomes import MutantRecord, Mutants
from checked_equations.check.relations import Misfit, Tolerance
from checked_equations.check.statements import BoundStatement, Draw
from checked_equations.errors import EquationError, OperationError
from checked_equations.evaluate.effort import SECOND, allowing, count, spend
from checked_equations.evaluate.evaluator import Evaluator, magnitude
from checked_equations.evaluate.exact import Unknown, fraction_of
from checked_equations.evaluate.values import kind
from checked_equations.latex import tree as t
from checked_equations.latex.printer import to_latex

from ..mends import Mends, mends_of
from ..numerics import asymptotic_series, unbound
from ..numerics.quadrature import roughly
from .branches import SIGN, Choices
from .drawing import Sample

ALLOWED = Tolerance(rtol=1e-8, decimals=True)
EXACT = Tolerance(rtol=1e-13)  # for decimals with more digits than that
_CLOSED = 1e-12  # where nothing is drawn
_DIGITS = 8
_MINUS_ONE = t.Sum((t.Number(1.0),), (-1,))
JUDGES = 3  # samples that a mend must hold on
ENDLESS = "do not die away"  # the terms of a sum of numbers, nor do those of arrays
_PATIENCE = 8 * SECOND // 10  # effort for all samples
_EACH = 6 * SECOND // 10  # for a mutant; what takes longer is undecided
_DIFFERENCES = 1e-9  # of values of the size of one
_CLEAR = 1e-2  # a residual above cannot be that of a rough integral
_SEARCH = 6 * SECOND  # for mends
_ASIDE = 25  # effort of a sample, or of a mutant, beside the values of its nodes
_NOT_PRINTED = (f"drop the factor ${SIGN}$",)  # a sign is chosen, and is no factor
_NO_VALUE = (EquationError, OperationError, Misfit, ArithmeticError, ValueError, TypeError)
FAR = 1e-4  # a residual below is lost digits, and accuses no display
STRICT = frozenset(["<", ">", "\\ne"])  # relations that fail where both sides are the same
_LOST = 1e-9  # of the terms, as they cancel
_WRONG_DIGIT = 1e-11  # but next to a long decimal, where one digit may be wrong


@dataclass(frozen=True)
class Fate:
    """The residual of a statement on one sample, or the reason for none."""

    sample: Sample
    residual: float | None
    holds: bool
    why: str = ""
    draw: Draw | None = field(default=None, compare=False, repr=False)
    far: float = FAR
    same: bool = False  # whether a step says that one of two equal sides is less

    @property
    def fails(self) -> bool:
        """Return whether it is off by more than lost digits."""
        return self.residual is not None and not self.holds and self.residual > self.far


def clearly_fails(fate: Fate, steps: Sequence[t.Step]) -> bool:
    """Return whether a failure is more than the digits that large terms lose as they cancel."""
    if not fate.fails or fate.draw is None:
        return False
    sides = [(fate.draw.sides(step), fate.draw.size(step)) for step in steps]
    return any(abs(left - right).max() > _LOST * size for (left, right), size in sides)


@dataclass(frozen=True)
class Trial:
    """A statement on all samples; in regions that are `unsure` it fails on other numbers.

    Unless `mending`, no mend is searched for; it may be so much effort as a search may take.
    """

    statement: t.Statement
    samples: tuple[Sample, ...]
    drawn: tuple[str, ...]
    far: bool  # whether series are those of an expansion
    unsure: frozenset[str] = frozenset()
    choices: Choices = field(default_factory=Choices)
    mending: float = True
    alike: bool = False  # whether sides of a strict order are the same on more than one sample
    enough: int = 0  # samples on which it clearly fails, after which no others count

    @cached_property
    def fates(self) -> tuple[Fate, ...]:
        """The fate of each sample; sides are proportional on all of them together."""
        with allowing(_PATIENCE):
            if any(step.relation == "\\propto" for step in self.statement.steps):
                return self._fates_together()
            return self._fates_apart()

    def _fates_apart(self) -> tuple[Fate, ...]:
        found: list[Fate] = []
        failed = 0
        for fate in map(self._fate_of, self.samples):
            found.append(fate)
            endless = self.enough == 1 and fate.why.endswith(ENDLESS)
            failed += endless or clearly_fails(fate, self.statement.steps)
            if 0 < self.enough <= failed and (self.enough == 1 or failed == len(found)):
                return tuple(found[-self.enough :])
        return tuple(found)

    def on(self, samples: Iterable[Sample]) -> Trial:
        """Return this trial on other samples, all of which are tried."""
        return replace(self, samples=tuple(samples), enough=0)

    def _fates_together(self) -> tuple[Fate, ...]:
        bound = bound_on(self.statement, [one.bindings for one in self.samples], self.far)
        residual, holds, why = None, False, ""
        try:
            spend(_ASIDE * len(self.samples))
            every = [bound.compare(i, step) for i, step in enumerate(self.statement.steps)]
            residual = max(one.residual for one in every)
            holds = all(one.holds for one in every)
        except (TimeoutError, *_NO_VALUE) as wrong:
            why = str(getattr(wrong, "problem", wrong))
        pairs = zip(self.samples, bound.draws, strict=True)
        return tuple(Fate(sample, residual, holds, why, draw) for sample, draw in pairs)

    def _fate_of(self, sample: Sample) -> Fate:
        """Return the fate of the statement with the branches chosen on the sample."""
        try:
            spend(_ASIDE)
            if self.choices:
                bindings, _ = self._settled(self.statement.steps, sample.bindings)
                sample = replace(sample, bindings=bindings)
        except TimeoutError as late:
            return Fate(sample, None, False, str(late))
        return fate_of(self.statement, sample, self.far)

    def _settled(
        self, steps: Sequence[t.Step], bindings: Mapping[str, Any]
    ) -> tuple[Mapping[str, Any], bool]:
        """Return the numbers with the branches chosen on them, and whether the steps then hold."""
        known: dict[int, complex | None] = {}  # of sides in which nothing is chosen

        def value(side: t.Node, way: Mapping[str, Any]) -> complex | None:
            if id(side) in known:
                return known[id(side)]
            found = self.value(side, way)
            if not self.choices.stand_in(side):
                known[id(side)] = found
            return found

        def holds(step: t.Step, way: Mapping[str, Any]) -> bool:
            left = value(step.left, way)
            right = None if left is None else value(step.right, way)
            if left is None or right is None:
                return False
            return abs(left - right) <= ALLOWED.rtol * max(abs(left), abs(right))

        return self.choices.settled(steps, bindings, holds)

    def value(self, side: t.Node, bindings: Mapping[str, Any]) -> complex | None:
        """The number that a side is, if it is one."""
        far = asymptotic_series.FAR if self.far else unbound
        try:
            return complex(Evaluator(bindings, beyond=far).value(side))
        except _NO_VALUE:
            return None

    @property
    def held(self) -> tuple[Fate, ...]:
        """Where it holds."""
        return tuple(fate for fate in self.fates if fate.holds and not self._unsure(fate))

    @property
    def failed(self) -> tuple[Fate, ...]:
        """Where it does not."""
        every = self.fates
        return tuple(f for f in every if f.fails or self._unsure(f) or (self.alike and f.same))

    def _unsure(self, fate: Fate) -> bool:
        return fate.sample.region.name in self.unsure

    @property
    def residual(self) -> float | None:
        """The worst residual where it holds; if it holds nowhere, the best of all."""
        held = [fate.residual for fate in self.held if fate.residual is not None]
        every = [fate.residual for fate in self.fates if fate.residual is not None]
        return max(held) if held else min(every, default=None)

    def mends(
        self, most: float = math.inf, admits: Callable[[Mutant], bool] = lambda _: True
    ) -> Mends | None:
        """The single edits after which it holds wherever it fails, found with so much effort.

        Only those that it `admits` are tried.
        """
        if not self.mending or self.choices:
            return None
        own = _SEARCH if self.mending is True else self.mending
        judges = self.failed[:JUDGES]  # on their draws the values of the statement are known
        draws = tuple(fate.draw for fate in judges if fate.draw is not None)
        bound = replace(bound_on(self.statement, [], self.far), draws=draws)

        def holds(candidate: t.Statement) -> bool:
            known = [draw.evaluator.mark() for draw in bound.draws]
            edited = replace(bound, statement=candidate)
            try:
                parts = itertools.product(edited.portions, enumerate(candidate.steps))
                return all(edited.compare(place, step, part).holds for part, (place, step) in parts)
            finally:
                for draw, kept in zip(bound.draws, known, strict=True):
                    draw.evaluator.forget(kept)

        values = [{key: draw.bindings[key] for key in self.drawn} for draw in draws]
        # Whole numbers stay where mends are compared: by what they call, n!/n is (n - 1)!.
        counted = bool(values) and any(isinstance(one, int) for one in values[0].values())
        called = draws[0].bindings if counted else {}
        functions = {key: value for key, value in called.items() if kind(value) != "value"}
        most = min(most, own)
        return mends_of(
            self.statement, holds, values, effort=most, functions=functions, admits=admits
        )

    def mutants(self) -> Mutants:
        """The mutants, on the samples on which the statement holds, the cheapest of them first."""
        bound = self._bound()
        groups = swap_groups({key: bound.draws[0].bindings[key] for key in self.drawn})
        found = all_mutants(self.statement, groups, to_latex)
        every = [
            mutant
            for mutant in found
            if not _of_parity(self.statement, mutant)
            and mutant.said not in _NOT_PRINTED
            and not _of_rounding(mutant)
        ]
        order = sorted(range(len(every)), key=lambda i: is_long(_side(self.statement, every[i])))
        fates = {i: self._fate_of_mutant(bound, every[i]) for i in order}  # the quick ones first
        return Mutants.of(
            tuple(
                MutantRecord(m.edit, to_latex(m.after), *fates[i], said=m.said)
                for i, m in enumerate(every)
            )
        )

    def _bound(self) -> BoundStatement:
        draws = [fate.draw for fate in self.held if fate.draw is not None]
        draws.sort(key=lambda draw: draw.evaluator.cost)
        return replace(bound_on(self.statement, [], self.far), draws=tuple(draws))

    def _fate_of_mutant(self, bound: BoundStatement, mutant: Mutant) -> tuple[str, float | None]:
        """Its fate; where something is chosen on each sample, on one nothing makes it hold."""
        found = _fate_of_mutant(bound, mutant)
        if not self.choices or found[0] != "caught":
            return found
        try:
            with allowing(_EACH):
                samples = (draw.bindings for draw in bound.draws)
                settled = (self._settled(mutant.steps, sample) for sample in samples)
                return found if not all(holds for _, holds in settled) else ("indistinct", None)
        except TimeoutError:
            return "undecided", None


def _side(statement: t.Statement, mutant: Mutant) -> t.Node:
    step = statement.steps[mutant.places[0]]
    return getattr(step, mutant.side) if mutant.side else step


def is_long(node: t.Node) -> bool:
    """Return whether a value of it takes long: that of an integral, a series, a limit."""
    return any(isinstance(part, t.Integral | t.Reduction | t.Limit) for part in t.parts(node))


def _lone_integral(node: t.Node) -> bool:
    """Return whether integrals stand in it, none of them within a sum or another integral."""
    runs = [part for part in t.parts(node) if isinstance(part, t.Integral | t.Reduction)]
    inside = (part for one in runs for part in t.parts(one) if part is not one)
    return bool(runs) and not any(isinstance(p, t.Integral | t.Reduction) for p in inside)


def _above(statement: t.Statement, mutant: Mutant) -> list[tuple[t.Node, t.Path]]:
    """The nodes that an edit stands in, from its side inwards, each with the path from there."""
    node = _side(statement, mutant)
    found = []
    for i, place in enumerate(mutant.path):
        found.append((node, mutant.path[i:]))
        node = dict(t.children(node))[place]
    return found


def _of_parity(statement: t.Statement, mutant: Mutant) -> bool:
    """Return whether it turns a sign above a power of -1, which only asks whether that is even."""
    if not mutant.said.startswith("flip the sign") or not mutant.side:
        return False
    return any(
        isinstance(node, t.Power) and path[0][0] == "exponent" and node.base == _MINUS_ONE
        for node, path in _above(statement, mutant)
    )


def _of_rounding(mutant: Mutant) -> bool:
    """Return True if it makes an equality of an approximation."""
    return isinstance(mutant.before, t.Step) and mutant.before.relation == "\\approx"


def _fate_of_mutant(bound: BoundStatement, mutant: Mutant) -> tuple[str, float | None]:
    with allowing(_EACH):
        count(_ASIDE)
        if _lone_integral(_side(bound.statement, mutant)):
            with roughly():
                ((fate, residual),) = run_mutants(bound, [mutant])
            if fate == "caught" and (residual is None or residual > _CLEAR):
                return fate, residual
        ((fate, residual),) = run_mutants(bound, [mutant])
        if fate == "survived" and any(map(_exactly_apart, mutant.steps)):
            return "caught", residual
        try:
            return told_apart(bound, mutant, fate), residual
        except TimeoutError:
            return "undecided", None


def told_apart(bound: BoundStatement, mutant: Mutant, fate: str) -> str:
    """The fate of a mutant, indistinct where it survives since it is as true as the statement."""
    return "indistinct" if fate == "survived" and _same_above(bound, mutant) else fate


def _same_above(bound: BoundStatement, mutant: Mutant) -> bool:
    """Return whether a function that the edit stands in has two arguments there, and one value.

    The cosine of ``z + 2k\\pi`` does not see the sign of k, nor a modulus that of its inside, an
    integral that of its variable; the statement is true with the edit as well, and that is no
    blindness of the numbers.
    """
    if not mutant.side:
        return False
    for outer, path in reversed(_above(bound.statement, mutant)):
        after = t.replace_at(outer, path, mutant.after)
        # a neutral term more, one less that is printed of the same, another way to one value
        if isinstance(outer, _WHOLES):
            hidden = all(_alike(draw, outer, after) for draw in bound.draws)
        else:
            calls = isinstance(outer, t.Function | t.Apply | t.Bars | t.Power)
            hidden = calls and all(_hides(draw, outer, after) for draw in bound.draws)
        if hidden:
            return True
    return False


_WHOLES = t.Dots | t.Reduction | t.Integral | t.Limit | t.Average | t.Slope | t.At
_LIMITS = 1e-7  # of its size: what a limit is known to


def _hides(draw: Draw, before: t.Node, after: t.Node) -> bool:
    inside = [(a, b) for (_, a), (_, b) in zip(t.children(before), t.children(after), strict=True)]
    try:
        return _near(draw, before, after) and not all(_near(draw, a, b) for a, b in inside)
    except EquationError:  # a running variable stands in it
        return False


def _alike(draw: Draw, before: t.Node, after: t.Node) -> bool:
    try:
        return _near(draw, before, after)
    except EquationError:  # a running variable stands in it
        return False


def _near(draw: Draw, one: t.Node, other: t.Node) -> bool:
    a, b = draw.evaluator.value(one), draw.evaluator.value(other)
    if np.shape(a) != np.shape(b):
        return False
    gap, size = np.max(np.abs(a - b)), max(np.max(np.abs(a)), np.max(np.abs(b)))
    if isinstance(one, t.Integral):  # what is nothing is so next to the integrand
        size = max(size, magnitude(one, draw.evaluator))
    return bool(gap <= (_LIMITS if isinstance(one, t.Limit) else 1e-9) * size)


def _below_rounding(bound: BoundStatement, step: t.Step) -> bool:
    """Return whether a derivative by differences is below their rounding, with no printed zero."""
    sides = (step.left, step.right)
    if any(isinstance(side, t.Number) and not side.value for side in sides):
        return False
    if not any(isinstance(part, t.Slope | t.Derivative) for s in sides for part in t.parts(s)):
        return False
    values = (bound.draws[0].evaluator.value(side) for side in sides)
    return max(float(np.max(np.abs(value))) for value in values) < _DIFFERENCES


def _long_decimals(statement: t.Statement) -> list[t.Number]:
    sides = (side for step in statement.steps for side in (step.left, step.right))
    return [side for side in sides if isinstance(side, t.Number) and side.digits > _DIGITS]


def bound_on(
    statement: t.Statement, draws: Sequence[Mapping[str, Any]], far: bool
) -> BoundStatement:
    """The statement on draws, as a check has it."""
    long = _long_decimals(statement)
    unit = max((10.0**-side.places for side in long), default=0.0)  # of the last digit
    drawn = is_long(statement) or any(isinstance(p, t.Name) for p in t.parts(statement))
    usual = ALLOWED if drawn else replace(ALLOWED, rtol=_CLOSED)
    allowed = replace(EXACT, atol=unit) if long else usual
    return BoundStatement(
        statement,
        tuple(Draw(numbers, asymptotic_series.FAR if far else unbound) for numbers in draws),
        allowed,
    )


def _exactly_apart(step: t.Step) -> bool:
    """Return whether both sides of an equality are fractions, not rounded ones, and differ."""
    sides = (step.left, step.right)
    rounded = (isinstance(p, t.Number) and p.places for side in sides for p in t.parts(side))
    try:
        left, right = (fraction_of(side, {}) for side in sides)
    except Unknown:
        return False
    return step.relation == "=" and left != right and not any(rounded)


def _same(left: np.ndarray, right: np.ndarray) -> bool:
    """Both sides, but for rounding."""
    return np.shape(left) == np.shape(right) and np.allclose(left, right, rtol=1e-13, atol=0.0)


def fate_of(statement: t.Statement, sample: Sample, far: bool) -> Fate:
    """Evaluate a statement on a sample."""
    bound = bound_on(statement, [sample.bindings], far)
    residual, holds, same = 0.0, True, False
    try:
        for place, step in enumerate(statement.steps):
            comparison = bound.compare(place, step)
            residual, holds = max(residual, comparison.residual), holds and comparison.holds
            same |= step.relation in STRICT and _same(*bound.draws[0].sides(step))
            if comparison.residual <= FAR and _exactly_apart(step):
                return Fate(sample, residual, False, draw=bound.draws[0], far=-1.0)
    except TimeoutError as late:
        return Fate(sample, None, False, str(late))
    except _NO_VALUE as wrong:
        return Fate(sample, None, False, str(getattr(wrong, "problem", wrong)))
    if holds and any(_below_rounding(bound, step) for step in statement.steps):
        return Fate(sample, None, False, "both sides are too small to tell them apart")
    most = _WRONG_DIGIT if _long_decimals(statement) else FAR
    return Fate(sample, residual, holds, draw=bound.draws[0], far=most, same=same)
