"""Shapes of undeclared symbols, where one assignment fits the display.

Letters are taken as their field takes them: bold and small ones are columns, bold, Greek or Latin
capitals matrices, where the equation can then be evaluated at all. Each axis of each of them has a
size of its own unless the equation makes two sizes equal: that is found by trying.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from itertools import pairwise, product
from typing import Any, NamedTuple

import numpy as np

from checked_equations.check.relations import is_zero
from checked_equations.errors import EquationError, OperationError, ShapeError
from checked_equations.evaluate.effort import SECOND, allowing
from checked_equations.evaluate.evaluator import Evaluator
from checked_equations.evaluate.values import Entries, Word
from checked_equations.latex import tree as t
from checked_equations.latex.names import normal
from checked_equations.latex.tokenizer import word_set

from .numerics.matrix_functions import exponential, logarithm
from .tried import kinds
from .tried.elementary import VEC
from .tried.entries import entries_in
from .tried.kinds import Kind, Size
from .tried.letter_conventions import by_custom, known, letter
from .tried.nist import COMMON
from .tried.token_patterns import (
    CAPITALS,
    Pattern,
    is_symbol,
    occurrences,
    row_of,
    stretches,
    texts,
)
from .tried.trailing_conditions import parted
from .tried.unbound_statement import NotRead, Reading, mentioned, read

_FONTS = word_set(r"\mathbf \boldsymbol \vec \mathsf")
_FILLED = Pattern("<font> { <number:number> }", font={*_FONTS, "\\mathbb"}, number="01")
_ACCENTS = word_set(r"\hat \tilde \bar \widehat \widetilde \check \dot \ddot")
_MEANS_TOO = frozenset("mk")  # whole numbers, and columns of means and of values of a kernel
_OFTEN_COLUMNS = word_set(r"\beta \theta \mu")
_COLUMNS = _OFTEN_COLUMNS | frozenset("buvwxyz")
_MARKED = word_set(r"\top \det \| \langle '")
_MARKS = (Pattern("^ { T"), Pattern("^ { \\T"), Pattern("\\mathrm { t r }"))
_MOST_SYMBOLS = 6
_MOST_AXES = 9
_NO_VALUE = (
    EquationError, OperationError, ArithmeticError, ValueError, TypeError, KeyError, TimeoutError
)  # fmt: skip
_EFFORT = SECOND // 20  # for one choice of shapes: a cost that is summed without end never settles
_DOMINANT = 4.0  # on a diagonal, so that a square matrix has an inverse and a positive determinant
_SHORTER, _SIZE, _LONGER = 2, 3, 7  # the sizes that an axis is tried with
_NAMES = "npqrsdlhuv"

# functions of a square matrix that differ from those of its entries
OF_ARRAYS: Mapping[str, Word] = {"exp": Word(exponential), "log": Word(logarithm)}
_WORDS = {normal(key): value for key, value in COMMON.bindings().items()}
Form = int  # how many axes: none, one, two
Axis = tuple[str, int]  # one of them


@dataclass(frozen=True)
class Shapes:
    """The kinds that were inferred."""

    kinds: Mapping[str, Kind]

    @property
    def squares(self) -> tuple[str, ...]:
        """The symbols of square matrices."""
        square = (key for key, kind in self.kinds.items() if kind.name == "matrix")
        return tuple(key for key in square if len(set(self.kinds[key].shape)) == 1)

    def squares_as(self, make: Callable[[Size], Kind]) -> dict[str, Kind]:
        """The square matrices as matrices of a special kind."""
        return {key: make(self.kinds[key].shape[0]) for key in self.squares}


class Fitting(NamedTuple):
    """The assignments of shapes that fit best, and whether marks of arrays are in the display.

    Where it is `marked`, numbers alone are no evidence for it: a transpose, a determinant, a trace,
    a norm or the inverse of a sum of capitals says that arrays are meant.
    """

    shapes: tuple[Shapes, ...] = ()
    marked: bool = False
    free: tuple[str, ...] = ()  # symbols that may be arrays
    refuted: bool = False  # whether no shapes fit, and that is known of all of them
    traced: tuple[str, ...] = ()  # capitals below a trace or a determinant, or in a norm
    scalars: tuple[str, ...] = ()  # symbols with which it holds as numbers, and not as arrays
    moved: tuple[str, ...] = ()  # letters that change places with a capital, or are acted on
    grams: tuple[str, ...] = ()  # X where the inverse of `X^\\top X` stands, and none of X


def fitting(latex: str, declared: Mapping[str, Kind]) -> Fitting:
    """Return the assignments of shapes that fit `latex`, and whether it asks for one.

    >>> found = fitting(r"\\operatorname{tr}(X) = X", {})
    >>> found.marked, found.refuted, fitting("A b = b A", {}).moved
    (True, True, ('b',))
    """
    told = {normal(key): kind for key, kind in declared.items()}
    rng = np.random.default_rng(0)
    bound = {key: kind for key, kind in told.items() if kind.name in kinds.BOUND}
    functions = {key: kind.draw(rng, {}) for key, kind in bound.items()}
    own = known({**_WORDS, **functions})
    try:
        reading = read(parted(latex, own)[0], own)
        if reading.unknown:
            return Fitting()
    except (NotRead, EquationError):
        return Fitting()
    counted = entries_in(reading.statement).letters
    fixed = own.constants.keys() - counted
    free = [key for key in reading.symbols if key not in told and key not in fixed]
    marked = any(_is_of_arrays(part, latex) for part in _parts(reading))
    columns = marked or _marked(latex) or any(map(is_identity, free))
    marked = marked and not any(told[key].shape for key in reading.symbols if key in told)
    options = {key: _options(key, latex, columns) for key in free}
    found = entries_in(reading.statement)
    axes = {key: axes for key, axes in found.axes.items() if key in free}
    rows = {key: one for key, one in axes.items() if not _bold(key)}
    indexed = {key: one for key, one in axes.items() if key not in rows}
    options |= {key: (axes,) for key, axes in found.arrays.items() if key in free}
    free = [key for key in free if key not in found.unranged]
    options |= dict.fromkeys((*rows, *found.letters & {*free}), (0,))
    several = [key for key in free if options[key] != (0,)]
    if not several:
        return Fitting()
    moved = tuple(key for key in free if any(_moved(step, key) for step in reading.statement.steps))
    found_marks = Fitting((), marked, tuple(several), False, tuple(_traced(reading)), (), moved)
    found_marks = found_marks._replace(grams=tuple(dict.fromkeys(_grams(reading))))
    if len(several) > _MOST_SYMBOLS:
        return found_marks
    acting = tuple(key for key in dict.fromkeys(_acting(reading)) if key in free)
    known_kinds = {key: told[key] for key in reading.symbols if key in told}
    known_kinds |= {key: kinds.for_each(axes) for key, axes in rows.items()}
    free = [key for key in free if key not in rows]
    options = {key: options[key] for key in free}
    trial = _Trial.of(reading, known_kinds, free, indexed)
    as_arrays = {key: 1 + (letter(key) in CAPITALS) for key in acting}
    if acting and not moved and not trial.holds({**dict.fromkeys(free, 0), **as_arrays}, {}):
        found_marks = found_marks._replace(moved=acting)
    every = _best(trial, options, found_marks.marked)
    best = [one for one in every if any(one[0].values())]
    printed = any(isinstance(part, t.Block) for part in _parts(reading))  # of a size of its own
    refuted = not every and not trial.unclear and not printed
    shapes = tuple(Shapes(_named(trial, *one)) for one in best)
    scalars = tuple(_scalars(trial, options, *best[0])) if len(best) == 1 else ()
    return found_marks._replace(shapes=shapes, refuted=refuted, scalars=scalars)


def _parts(reading: Reading) -> tuple[t.Node, ...]:
    return t.parts(reading.statement)


def _traced(reading: Reading) -> Iterator[str]:
    words = ("det", "tr")
    whole = (p for p in _parts(reading) if isinstance(p, t.Norm) or getattr(p, "name", "") in words)
    for name in (name for part in whole for name in t.parts(part)):
        if _begins_with_a_capital(name) and by_custom(getattr(name, "key", "")).name != "whole":
            yield getattr(name, "key", "")


def _grams(reading: Reading) -> Iterator[str]:
    inverted = [part.base for part in _parts(reading) if isinstance(part, t.Inverse)]
    for factors in (one.factors for one in inverted if isinstance(one, t.Product)):
        for part in (part.base for part in factors if isinstance(part, t.Transpose)):
            if part in factors and part not in inverted:
                yield getattr(part, "key", "")


def _is_of_arrays(part: t.Node, latex: str) -> bool:
    """Return whether it is written of arrays: ``A^\\top``, ``\\det A``, ``(A + B)^{-1}``.

    ``(f g)'`` is a derivative as well, and the entries of a printed matrix may be numbers.
    """
    if isinstance(part, t.Inverse) and isinstance(part.base, t.Sum):
        return all(map(_begins_with_a_capital, part.base.terms))
    primed = isinstance(part, t.Transpose) and latex[: part.span[1]].rstrip("} ").endswith("'")
    if primed or any(isinstance(inner, t.Block) for inner in t.parts(part)):
        letters = (inner for inner in t.parts(part) if isinstance(inner, t.Name))
        if not any(_begins_with_a_capital(one) or _bold(one.key) for one in letters):
            return False
    if isinstance(part, t.Function):
        return part.name in ("det", "tr")
    return isinstance(part, t.Transpose | t.Norm | t.Inner) or getattr(part, "key", "") == VEC


def _begins_with_a_capital(term: t.Node) -> bool:
    factors = term.factors if isinstance(term, t.Product) else (term,)
    symbols = [one.key for one in factors if isinstance(one, t.Name)]
    return len(symbols) == len(factors) and letter(_unaccented(symbols[-1])) in CAPITALS


def _moved(step: t.Step, key: str) -> bool:
    """Return whether a column's letter stands before a capital in a term, and behind in another.

    So of numbers alone ``A b = b A`` holds. In ``A \\cos x`` a small letter is one.
    """
    around = (set[str](), set[str]())
    for term in (one for side in (step.left, step.right) for one in getattr(side, "terms", [side])):
        factors = term.factors if isinstance(term, t.Product) else ()
        for i in (i for i, f in enumerate(factors) if t.Name(key) in getattr(f, "terms", [f])):
            for found, others in zip(around, (factors[:i], factors[i + 1 :]), strict=True):
                found.update(getattr(p, "key", "") for one in others for p in t.parts(one))
    both = (one for one in around[0] & around[1] if by_custom(one).name != "whole")
    moved = any(letter(one) in CAPITALS for one in both)
    return moved and letter(key) in _COLUMNS and step.relation == "="


def _acting(reading: Reading) -> Iterator[str]:
    """Yield the letters of ``A x + b`` and ``A^{-1} b``, and of ``(W x) y`` and ``W (x y)``.

    So a matrix acts on columns, unless what divides, an exponent or a function has the letter.
    """
    numbers = set[str]()
    for part in _parts(reading):
        inner = (getattr(part, one, ()) for one in ("denominator", "exponent", "variable"))
        for node in (*inner, *getattr(part, "arguments", ())):
            numbers |= mentioned(node) if isinstance(node, t.Node) else set()
    for part in _parts(reading):
        terms = getattr(part, "terms", ())
        acted = [_acted(term) for term in terms]
        keys = [key for one in acted for key in one]
        if acted and all(acted) and len(keys) > len(acted) and numbers.isdisjoint(keys):
            yield from keys
        factors = part.factors if isinstance(part, t.Product) else ()
        for one, other in (*pairwise(factors), *pairwise(factors[::-1])):
            if isinstance(one, t.Inverse):
                for term in getattr(other, "terms", (other,)):
                    yield from _acted(t.Product((one.base, term)))
        if isinstance(part, t.Power) and isinstance(part.base, t.Product):
            yield from _acted(part.base)
        keys = [getattr(n, "key", "") for one in factors for n in getattr(one, "factors", [one])]
        columns = [key for key in keys if letter(key) in "vwxyz"]
        apart = any(isinstance(one, t.Product) for one in factors)
        if apart and len(columns) > 1 and any(letter(key) in CAPITALS for key in keys):
            yield from columns


def _acted(term: t.Node) -> list[str]:
    """Return the letters of a column, or of a capital that stands before one."""
    factors = term.factors if isinstance(term, t.Product) else (term,)
    keys = [getattr(one, "key", "") for one in factors]
    column = letter(keys[-1]) in _COLUMNS
    return keys if column and all(letter(key) in CAPITALS for key in keys[:-1]) else []


def _options(key: str, latex: str, columns: bool) -> tuple[Form, ...]:
    """Return the numbers of axes that a symbol may have: where there are `columns`, small ones."""
    bold = _bold(key)
    inner = bold or letter(_unaccented(key))
    capital = inner in CAPITALS
    if is_identity(key):
        return (2, 0)
    if is_filled(key):
        return (1,)
    if bold:
        return (2, 1) if capital else (1,)
    if capital:  # N, M and K may count something
        return (0, 2) if by_custom(key).name == "whole" else (2, 0)
    small = is_symbol(inner) and inner.islower()
    if len(inner) == 1 and small and by_custom(key).name != "whole" and _in_norm(key, latex):
        return (1, 0)
    counts = by_custom(key).name == "whole" and letter(key) not in _MEANS_TOO
    return (0, 1) if small and columns and not counts else (0,)


def _bold(key: str) -> str:
    """Return the letter of a symbol in bold; nothing for another symbol."""
    row = row_of(key)
    return row[2].text if len(row) > 2 and row[0].text in _FONTS else ""


def _unaccented(key: str) -> str:
    row = row_of(key)
    return row[2].text if len(row) > 2 and row[0].text in _ACCENTS else key


def _marked(latex: str) -> bool:
    """Return True where a transpose, a determinant, a trace, a norm or a prime stands."""
    row = row_of(latex)
    return not _MARKED.isdisjoint(texts(row)) or any(one.first(latex, row) for one in _MARKS)


def _in_norm(key: str, latex: str) -> bool:
    """Return whether a symbol stands between double bars, as vectors do.

    >>> _in_norm("x", r"\\|x + y\\| = a"), _in_norm("a", r"\\|x + y\\| = a")
    (True, False)
    """
    return any(occurrences(inside, key) for inside in stretches(row_of(latex), ("\\|",))[1::2])


@lru_cache(maxsize=1024)
def is_identity(key: str) -> bool:
    """Return whether a symbol is called as the identity matrix is: ``I``, ``I_n``, bold or not.

    >>> is_identity("I_n"), is_identity(r"\\mathbf I"), is_identity("J")
    (True, True, False)
    """
    return (_bold(key) or letter(key)) == "I"


def is_constant(key: str) -> bool:
    """Return whether a symbol is called as an array that is known: identity, zeros or ones."""
    return is_identity(key) or bool(is_filled(key))


@lru_cache(maxsize=1024)
def is_filled(key: str) -> str:
    """The number that all entries of a column are: ``\\mathbf 1``, ``\\mathbf 0_n``; or nothing.

    >>> is_filled(r"\\mathbf1"), is_filled(r"\\boldsymbol0_n"), is_filled(r"\\mathbf x")
    ('1', '0', '')
    """
    column = _FILLED.at(key, row_of(key), 0)
    return column["number"] if column else ""


@dataclass(frozen=True)
class _Trial:
    """A statement that is evaluated on arrays of some sizes, to see whether it can be."""

    reading: Reading
    told: Mapping[str, object]
    free: Sequence[str]
    sizes: Mapping[int, Size]  # those that are declared, and their names
    indexed: Mapping[str, int]  # of arrays that have indices, how many: of `\\mathbf x_i` one
    unclear: list[str] = field(default_factory=list)  # why what may fit has no value

    @classmethod
    def of(
        cls,
        reading: Reading,
        told: Mapping[str, Kind],
        free: Sequence[str],
        indexed: Mapping[str, int],
    ) -> _Trial:
        """Draw the declared symbols once."""
        rng, named = np.random.default_rng(0), dict[str, int]()
        values = {key: kind.draw(rng, named) for key, kind in told.items()}
        numbers = {s: s for kind in told.values() for s in kind.shape if isinstance(s, int)}
        names: dict[int, Size] = {number: name for name, number in named.items()}
        return cls(reading, {**values, **named}, free, {**numbers, **names}, indexed)

    def fits(self, form: Mapping[str, Form], at: Mapping[Axis, int]) -> bool:
        """Return whether both sides of each step have a value of one shape."""
        return self._all(form, at, _conform)

    def has_values(self, form: Mapping[str, Form], at: Mapping[Axis, int]) -> bool:
        """Return whether both sides of each step have a value."""
        return self._all(form, at, lambda left, right: True)

    def holds(self, form: Mapping[str, Form], at: Mapping[Axis, int]) -> bool:
        """Return whether the two values are equal, too."""

        def equal(left: Any, right: Any) -> bool:
            return _conform(left, right) and bool(np.allclose(left, right))

        return self._all(form, at, equal)

    def _all(
        self, form: Mapping[str, Form], at: Mapping[Axis, int], agree: Callable[[Any, Any], bool]
    ) -> bool:
        rng = np.random.default_rng(0)
        drawn = {key: self._value(key, form[key], at, rng) for key in self.free}
        if any(value is None for value in drawn.values()):
            return False
        value = Evaluator({**_WORDS, **drawn, **self.told, **OF_ARRAYS}, self.reading.latex).value
        steps = self.reading.statement.steps
        try:
            with np.errstate(all="ignore"), allowing(_EFFORT):
                return all(agree(value(step.left), value(step.right)) for step in steps)
        except _NO_VALUE as wrong:
            if not isinstance(wrong.__cause__ or wrong, ShapeError):
                self.unclear.append(str(wrong))
            return False

    def _value(
        self, key: str, form: Form, at: Mapping[Axis, int], rng: np.random.Generator
    ) -> object:
        if key not in self.indexed:
            return _array(key, form, at, rng)
        return Entries(self.indexed[key], partial(_array, key, form, at, rng))


def _conform(left: Any, right: Any) -> bool:
    return np.shape(left) == np.shape(right) or is_zero(left) or is_zero(right)


def _array(key: str, form: Form, at: Mapping[Axis, int], rng: np.random.Generator) -> object:
    """Numbers for a symbol; none where an identity would not be square."""
    axes = [at.get((key, i), _SIZE) for i in range(form)]
    if is_identity(key):
        return None if len(set(axes)) > 1 else np.eye(axes[0]) if axes else 1.0
    if axes:
        filled = is_filled(key)
        drawn = rng.uniform(0.5, 1.5, axes)
        if filled:
            return np.full(axes, float(filled))
        return drawn + _DOMINANT * np.eye(axes[0], axes[1]) if len(axes) > 1 else drawn
    return at.get((key, 0), _SIZE) if by_custom(key).name == "whole" else 0.7


Found = tuple[dict[str, Form], dict[Axis, int]]


def _best(trial: _Trial, options: Mapping[str, tuple[Form, ...]], marked: bool) -> list[Found]:
    """The forms with the most arrays among capitals, the fewest among small letters, and sizes.

    Where arrays are `marked` one of the symbols is an array.
    """
    found: list[Found] = []
    choices = (choice for choice in product(*options.values()) if any(choice) or not marked)
    forms = [dict(zip(options, choice, strict=True)) for choice in choices]
    for form in sorted(forms, key=lambda one: _score(one, options), reverse=True):
        if found and _score(form, options) < _score(found[0][0], options):
            break
        axes = [(key, i) for key in form for i in range(form[key])]
        known = sorted({_SIZE, *trial.sizes}) if len(axes) <= _MOST_SYMBOLS else [_SIZE]
        for sizes in product(known, repeat=len(axes)):
            at = dict(zip(axes, sizes, strict=True))
            if trial.fits(form, at):
                found.append((form, at))
                break
    return found


def _scalars(
    trial: _Trial,
    options: Mapping[str, tuple[Form, ...]],
    form: Mapping[str, Form],
    at: Mapping[Axis, int],
) -> Iterator[str]:
    """Yield symbols that are taken for numbers, and with which it fails as arrays.

    So ``x^\\top A y = y x^\\top A`` holds if y is a number; as a column both sides have a value.
    """
    small = [key for key in form if options[key] == (0, 1) and not form[key]]
    small = [key for key in small if len(letter(key)) == 1 or letter(key) in _OFTEN_COLUMNS]
    axes = {key: 1 for key in small if by_custom(key).name == "real"}
    axes |= {key: 2 for key in form if options[key] == (0, 2) and not form[key]}
    if any(step.relation != "=" for step in trial.reading.statement.steps):
        return
    wide, sizes = dict(form), {**at, **{(key, i): _SIZE for key in axes for i in range(axes[key])}}
    for key in (*axes, *axes):  # as one of them is an array another may be
        other = {**wide, key: axes[key]}
        wide = other if trial.holds(other, sizes) else wide
    as_arrays = ((key, {**wide, key: axes[key]}) for key in axes if not wide[key])
    yield from (key for key, other in as_arrays if trial.has_values(other, sizes))


def _score(form: Mapping[str, Form], options: Mapping[str, tuple[Form, ...]]) -> tuple[int, int]:
    first = sum(form[key] == options[key][0] for key in form if options[key][0])
    return first, -sum(form[key] > 0 for key in form if not options[key][0])


def _named(trial: _Trial, form: Mapping[str, Form], at: Mapping[Axis, int]) -> dict[str, Kind]:
    """The kinds, with a name for each size."""
    counts = [(key, 0) for key in form if not form[key] and by_custom(key).name == "whole"]
    taken = {letter(key) for key in (*form, *trial.told)}
    fresh = (name for name in _NAMES if name not in taken)
    named: dict[Axis, Size] = {}
    for group, tied in _equal(trial, form, at):
        size: Size | None = trial.sizes.get(at[next(iter(group))]) if tied else None
        size = size or _count(trial, form, at, group, counts)
        named |= dict.fromkeys(group, size or next(fresh, "m"))
    made = {}
    for key in (key for key in form if form[key]):
        sizes = [named[key, i] for i in range(form[key])]
        made[key] = _kind(key, sizes)
        if key in trial.indexed:
            made[key] = replace(made[key], axes=trial.indexed[key])
    return made


def _count(
    trial: _Trial,
    form: Mapping[str, Form],
    at: Mapping[Axis, int],
    group: frozenset[Axis],
    counts: Sequence[Axis],
) -> str | None:
    """Return the whole number that counts along these axes, and must be their size."""
    if not trial.holds(form, at):
        return None
    longer = {**at, **dict.fromkeys(group, _LONGER)}
    if trial.holds(form, longer):
        return None
    every = (key for key, i in counts if trial.holds(form, {**longer, (key, i): _LONGER}))
    return next(every, None)


def _equal(
    trial: _Trial, form: Mapping[str, Form], at: Mapping[Axis, int]
) -> Iterator[tuple[frozenset[Axis], bool]]:
    """The axes that must have one size, and whether that is a declared one.

    They are the smallest sets whose size can be another than that of the rest.
    """
    left = list(at)
    if len(left) > _MOST_AXES:
        yield frozenset(left), False
        return
    while left:
        first, others = left[0], left[1:]
        group, tied = frozenset([first]), True
        for chosen in sorted(product((False, True), repeat=len(others)), key=sum):
            some = frozenset([first, *(a for a, on in zip(others, chosen, strict=True) if on)])
            others_at = ({**at, **dict.fromkeys(some, size)} for size in (_LONGER, _SHORTER))
            if any(trial.fits(form, other) for other in others_at):
                group, tied = some, False
                break
        yield group, tied
        left = [axis for axis in left if axis not in group]


def _kind(key: str, sizes: Sequence[Size]) -> Kind:
    """The kind of an array, which may be named by its filling."""
    if is_identity(key):
        return kinds.identity(sizes[0])
    if filled := is_filled(key):
        return (kinds.ones if filled == "1" else kinds.zeros)(sizes[0])
    return _KIND[len(sizes)](*sizes)


_KIND: Mapping[Form, Callable[..., Kind]] = {1: kinds.vector, 2: kinds.matrix}
