"""Densities of random variables that are not bound, with their sums and integrals.

``p(x) = \\int p(x \\mid y) p(y) dy`` is said of the densities of any variables at any point, and a
probability mass function is a density too. So a joint distribution on a few values is drawn, each
density becomes a function of the values that it then is, and an integral the sum over all of them.
Sides that are proportional are so in the argument on the left: it runs, and nothing else does.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import pairwise

from checked_equations.errors import EquationError
from checked_equations.latex.tokenizer import UnclosedError, tokens, word_set

from .density_calls import Binder, Call, Unread, bare, binders, calls, denominators, related
from .expectations import Averaged, claims_order
from .joint_laws import Factor, JointLaw, given_each_other, in_order, listed
from .statements import RELATIONS
from .tried import kinds
from .tried.kinds import Kind
from .tried.token_patterns import Row, is_symbol

_OPERATIONS = word_set(r"\frac \dfrac \tfrac \cdot \times \log \ln") | RELATIONS
_MOST, _VALUES = 5, 3
_LETTERS = "abcdfghklmopqrstuvwxyz"


def with_densities(latex: str) -> Iterator[Averaged]:
    """Yield the display with a function for each density of the distribution drawn.

    >>> found = next(with_densities(r"p(x) = \\sum_y p(x, y)"))
    >>> found.latex
    'a ( b ) = \\\\sum_{d=0}^{2} ( c ( b , d ) )'
    >>> found.said
    'for a joint distribution of x, y that was drawn'
    """
    try:
        display = _Display.of(tokens(latex))
    except (Unread, UnclosedError, EquationError):
        return
    if claims_order(latex):
        return
    names = ", ".join(display.variables)
    joint = "a joint distribution" if len(display.variables) > 1 else "a distribution"
    for region, factors in display.laws():
        law = JointLaw.drawn(display.variables, factors, max(_VALUES, len(display.variables)))
        full, known = display.written(law)
        if full:
            said = f"for {joint} of {names} that was drawn"
            yield Averaged(full, said, known, region, (), display.leaves_open, True)


@dataclass(frozen=True)
class _Display:
    """A display that has nothing but densities, their sums and integrals."""

    row: Row
    calls: Sequence[Call]
    binders: Sequence[Binder]

    @classmethod
    def of(cls, row: Row) -> _Display:
        """Return the densities, sums and integrals of a row of tokens; raises `Unread`."""
        display = cls(row, tuple(calls(row)), sorted(binders(row), key=lambda one: one.start))
        display._refuse_more()
        return display

    @property
    def variables(self) -> list[str]:
        """All variables, without primes."""
        return sorted({bare(name) for call in self.calls for name in call.every})

    def _refuse_more(self) -> None:
        """Raise `Unread` where a display says more than how densities of variables hang together.

        There are other symbols in it, as in the formula of one density, or all its densities are of
        the same variables, as those of a symmetric polynomial are.
        """
        names, heads = self.variables, {call.head for call in self.calls}
        inside = {i for call in self.calls for i in range(call.start, call.end)}
        inside |= {i for one in self.binders for i in range(one.start, one.body[0])}
        inside |= {i for one in self.binders for i in range(one.body[1], one.end)}
        rest = [token.text for i, token in enumerate(self.row) if i not in inside]
        more = [text for text in rest if is_symbol(text) and text not in _OPERATIONS]
        events = heads & {"P_", "\\Pr_"} and not self.binders and any(n[0].isupper() for n in names)
        same = len({frozenset(call.every) for call in self.calls}) == 1
        same = same and not self.binders and not self.proportional
        if len(heads) != 1 or more or events or same or len(names) > _MOST or related(names):
            raise Unread
        for call in self.calls:
            scope = self.scope(call)
            if any("'" in name and name not in scope for name in call.every):
                raise Unread  # another value of the same variable

    def scope(self, call: Call) -> dict[str, Binder]:
        """Return the sum or integral over each variable that runs where a call stands."""
        around = [one for one in self.binders if one.body[0] <= call.start < one.body[1]]
        return {name: one for one in around for name in one.over}  # the inner one comes last

    @property
    def proportional(self) -> bool:
        """Return whether it says that something is proportional."""
        return any(token.text == "\\propto" for token in self.row)

    @property
    def leaves_open(self) -> bool:
        """Return whether a variable stands freely on one side alone, which a text must explain.

        One over which the other side sums, though it stands freely here, is a slip.
        """
        free = [
            {name for call in side for name in {*call.every} - {*self.scope(call)}}
            for side in self._between()
        ]
        bound = {name for one in self.binders for name in one.over}
        return any(side != free[0] for side in free) and bound.isdisjoint(set().union(*free))

    def laws(self) -> Iterator[tuple[str, list[Factor]]]:
        """Yield joint distributions, each with the condition that holds in it.

        The general one comes first. That all are independent is hardly the condition of a statement
        about densities of many variables some of which are given.
        """
        every = {*self.variables}
        found: dict[str, list[Factor]] = {"": [(every, set())]}
        if inputs := self._inputs(every):
            found.setdefault(given_each_other(inputs), inputs)
        given = any(call.given for call in self.calls)
        if not self.binders and (len(every) == 2 or (len(every) > 1 and not given)):
            apart: list[Factor] = [({one}, set()) for one in sorted(every)]
            found.setdefault(f"{listed(every)} are independent", apart)
        for side in self._sides():
            if factors := _factors(every, side):
                found.setdefault(given_each_other(factors), factors)
        yield from found.items()

    def _sides(self) -> list[list[Call]]:
        """Return the calls of each side of its relations, but those below a line."""
        below = [range(*span) for span in denominators(self.row)]
        sides = self._between()
        return [[c for c in side if not any(c.start in one for one in below)] for side in sides]

    def _between(self) -> list[list[Call]]:
        ends = [i for i, token in enumerate(self.row) if token.text in RELATIONS]
        spans = pairwise([0, *ends, len(self.row)])
        return [[call for call in self.calls if a <= call.start < b] for a, b in spans]

    def _inputs(self, every: set[str]) -> list[Factor] | None:
        """Return the distribution in which densities do not depend on the variables they leave out.

        Some variables are given and never drawn, such as the inputs X of a regression, and some
        densities leave one of them out, as a prior of the weights w does: w is independent of X.
        """
        sides = [(set(map(bare, call.of)), set(map(bare, call.given))) for call in self.calls]
        given = every.difference(*(of for of, _ in sides))
        short = [one for one in sides if given - one[1]]
        left = {frozenset(given - behind) for _, behind in short}
        if not given or len(left) != 1 or any(behind - given for _, behind in short):
            return None
        (without,) = left
        drawn = set[str]().union(*(of for of, _ in short))
        return [(given, set()), (drawn, given - without), (every - given - drawn, given | drawn)]

    def written(self, law: JointLaw) -> tuple[str, dict[str, Kind]]:
        """Return LaTeX with functions for densities and sums for integrals, and their meanings."""
        return _Writer(self, law).written()


class _Writer:
    """Writes functions in the place of the densities of a law."""

    def __init__(self, display: _Display, law: JointLaw) -> None:
        self.display = display
        self.law = law
        used = {token.text for token in display.row if token.text != "d"}
        self.fresh = iter([one for one in _LETTERS if one not in used])
        self.letters: dict[object, str] = {}
        self.known: dict[str, Kind] = {}

    def written(self) -> tuple[str, dict[str, Kind]]:
        """Return LaTeX and kinds; nothing where no letters are left."""
        row, binders = self.display.row, self.display.binders
        pieces = {call.start: (self._called(call), call.end) for call in self.display.calls}
        pieces |= {one.start: (self._over(one), one.body[0]) for one in binders}
        closed = Counter(one.body[1] for one in binders)
        behind = {one.body[1]: max(one.end, one.body[1]) for one in binders}
        said: list[str] = []
        i = 0
        while i < len(row) or i in closed:
            said += [")"] * closed.pop(i, 0)
            if behind.pop(i, i) > i:
                i = next(one.end for one in binders if one.body[1] == i)
            elif i < len(row):
                text, i = pieces.get(i, (row[i].text, i + 1))
                said.append(text)
        return (" ".join(said), self.known) if all(self.letters.values()) else ("", {})

    def _letter(self, key: object) -> str:
        if key not in self.letters:
            self.letters[key] = next(self.fresh, "")
        return self.letters[key]

    def _over(self, binder: Binder) -> str:
        last = self.law.chance.shape[0] - 1
        letters = (self._letter((binder.start, name)) for name in binder.over)
        return " ".join(rf"\sum_{{{letter}=0}}^{{{last}}}" for letter in letters) + " ("

    def _called(self, call: Call) -> str:
        density = _Density(self.law, tuple(map(bare, call.of)), tuple(map(bare, call.given)))
        letter = self._letter((density.of, density.given))
        self.known[letter] = kinds.operation(density)
        scope = self.display.scope(call)
        values = (
            self._letter((scope[name].start, name)) if name in scope else self._value(name)
            for name in call.every
        )
        return f"{letter} ( {' , '.join(values)} )"

    def _value(self, name: str) -> str:
        """Return the letter of a free variable: its value is its own, or an argument's in turn."""
        letter = self._letter(name)
        place, count = self.law.letters.index(name), self.law.chance.shape[0]
        values = tuple((place + i) % count for i in range(_VALUES))
        runs = self.display.proportional and name in self.display.calls[0].of
        self.known[letter] = kinds.in_turn(values) if runs else kinds.told(place)
        return letter


def _factors(every: set[str], side: Sequence[Call]) -> list[Factor] | None:
    """Return the distribution that is a product of the densities of a side, if they make one."""
    own: list[Factor] = [(set(map(bare, call.of)), set(map(bare, call.given))) for call in side]
    drawn = [name for of, _ in own for name in of]
    if len(own) < 2 or len(set(drawn)) < len(drawn):
        return None
    rest = every.difference(drawn)
    return in_order([(rest, set()), *own] if rest else own)


@dataclass(frozen=True)
class _Density:
    """The density of variables given others, as a function of their values."""

    law: JointLaw
    of: tuple[str, ...]
    given: tuple[str, ...]

    def __call__(self, *values: float) -> float:
        """Return it at values, which are whole."""
        at = dict(zip((*self.of, *self.given), values, strict=True))
        if any(one not in range(self.law.chance.shape[0]) for one in at.values()):
            raise EquationError("no value of the variable")
        return self._at(at, {*self.of, *self.given}) / self._at(at, {*self.given})

    def _at(self, at: Mapping[str, float], names: Set[str]) -> float:
        place = tuple(int(at[one]) if one in names else 0 for one in self.law.letters)
        return float(self.law.of(names)[place])
