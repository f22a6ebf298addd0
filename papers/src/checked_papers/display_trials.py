"""Displays are tried one by one, each for a limited time, several at a time."""

from __future__ import annotations

import gc
import multiprocessing
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial, reduce
from itertools import chain, dropwhile, islice

from checked_equations.errors import EquationError
from checked_equations.evaluate.effort import SECOND
from checked_equations.latex import conventions
from checked_equations.latex.equation import Equation
from checked_equations.latex.macros import Macros
from checked_equations.latex.names import normal

from .alternative_readings import Other, marked, of_densities, others
from .declarations import Declared, with_properties
from .defined_functions import Defined, defined, with_functions
from .density_mends import mends_of_density
from .derivations import followed_from, have_nothing_in_common, says_something, with_values
from .document_formats import Read
from .false_alarms import arrow_in, doubt, mended_for_good, more_than_numbers, telling
from .findings import Finding, finding
from .implications import followed, implication_in
from .laws import Claim, Law, claims_of
from .numerics.time_limit import TooLong, limited
from .repeated_symbols import idle_index, scaled_variance
from .sets import of_sets
from .shapes import OF_ARRAYS, Fitting, Shapes, fitting, is_constant
from .sources.package_commands import USED, not_loaded, written_out
from .sources.units import BASE, IN_UNITS
from .spellings import plainly
from .statements import stated_in, without_notes
from .step_by_step import in_steps
from .substitution import substituted
from .surrounding_text import Around, told_around
from .tried import Tried, kinds, try_display
from .tried.kinds import Kind
from .tried.nist import COMMON, LAWS, NOTATIONS, PAPERS
from .tried.notation import Notation
from .tried.sample_fates import ENDLESS
from .tried.token_patterns import is_symbol, letters_of, row_of, texts
from .tried.verdicts import FAILS, HOLDS, ODD, RELATES, UNMET
from .vectors import with_products

_SEEDS = 4  # of sizes, for matrices that are singular where they are wide
SECONDS = 200  # for a display, which needs a few: no verdict must depend on the machine
_OBJECTS = 1_000_000  # made and kept, between two looks for garbage
_WORTH_IT = 16  # displays for each process: fewer are tried before it has started


@dataclass(frozen=True)
class Task:
    """A display to try, with all that is known of it: a value that another process can have.

    Its `notation` is one of `NOTATIONS`, by name, or nothing.
    """

    place: tuple[str, int, int]
    latex: str
    label: str
    macros: Macros
    declared: Declared
    fault: str = ""
    around: Around = field(default_factory=Around)
    number: str = ""
    mending: float = True
    notation: str = ""
    once: bool = False  # whether numbers on which it fails are enough to give it up


def tasks(
    read: Read, first: Declared, own: Mapping[str, Declared], notation: str = ""
) -> Iterator[Task]:
    """Yield the tasks of a text in a `notation`; `own` are declarations by label."""
    for one, around in zip(read.paper.equations, told_around(read.paper), strict=True):
        place = read.paper.place(one.at)
        known = read.known_at(one.at, first).and_then(own.get(one.label, Declared()))
        where = (os.path.relpath(place.file), place.line, place.column)
        yield Task(
            where,
            one.latex,
            one.label,
            one.macros,
            known,
            one.fault,
            around,
            one.number,
            notation=notation,
        )


def try_all(every: Iterable[Task], jobs: int) -> Iterator[Finding]:
    """The finding of each task, in their order; processes begin while tasks are still made."""
    rest = iter(every)
    first = [*islice(rest, _WORTH_IT * jobs)]
    if jobs < 2 or len(first) < _WORTH_IT * jobs:
        with seldom_collected():
            yield from map(try_one, chain(first, rest))
        return
    # No copies of this process: a library with threads, such as JAX, may be loaded here.
    own = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, own, partial(gc.set_threshold, _OBJECTS)) as pool:
        yield from pool.map(try_one, chain(first, rest), chunksize=4)


def try_one(task: Task) -> Finding:
    """Try a display; no fault of the engine ends the command."""
    if task.fault:
        return Finding(*task.place, "not read", why=task.fault, number=task.number)
    try:
        with limited(SECONDS), seldom_collected():
            # the slips of the verdict are tried here, if not before
            return _told(task, _or_odd(_tried(task), task))
    except TooLong:
        return _told(task, Tried("not read", "it takes too long"))
    except Exception as error:  # noqa: BLE001 - one display must not end the others
        deep = isinstance(error, RecursionError) and "it is nested too deep"
        why = deep or f"the engine failed on it: {type(error).__name__}: {error}"
        return _told(task, Tried("not read", why))


@contextmanager
def seldom_collected() -> Iterator[None]:
    """Look for garbage in circles less often: trees and values make many objects, and few of it.

    Restoring the threshold triggers a collection, so enter this once for many displays.
    """
    before = gc.get_threshold()
    gc.set_threshold(max(_OBJECTS, before[0]) * bool(before[0]), *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)


def _told(task: Task, tried: Tried) -> Finding:
    return replace(finding(tried, task.place, task.label, task.latex), number=task.number)


def _or_odd(tried: Tried, task: Task) -> Tried:
    """Make a display that was not read a note if its marks or its indices contradict each other."""
    if tried.verdict not in ("not read", "definition"):
        return tried
    if tried.verdict == "not read" and (why := not_loaded(task.latex, task.macros)):
        return replace(tried, why=f"{why}; {tried.why}")
    unfit = tried.why.startswith(UNFIT)
    idle = "" if unfit else idle_index(_written(task.latex, task.macros))
    return replace(tried, verdict=ODD, why=idle or tried.why) if unfit or idle else tried


def _tried(task: Task) -> Tried:
    """The verdict on numbers, and on arrays where shapes fit: either may be meant."""
    try:
        full = written_out(task.latex, task.macros)
    except EquationError as wrong:
        return Tried("not read", wrong.problem)
    if task.macros.get(USED) and (units := [one for one in BASE if one in full]):
        return _of_quantities(task, full, units)
    meant = [f"{name} = {latex}" for name, latex in task.declared.stands_for.items()]
    full = substituted(plainly(full), meant)
    full, properties = with_properties(full)
    if properties.kinds:  # and the text may say more of these
        known = properties.and_then(task.declared)
        found = _tried(replace(task, latex=full, macros={}, declared=known))
        return replace(found, verdict=FAILS) if found.verdict == "does not hold" else found
    bare, claims = without_notes(full)
    found = _as_a_whole(task, bare)
    if bare != full and not claims:
        found = replace(found, why="; ".join(filter(None, [_NO_NOTES, found.why])))
    unsettled = found.verdict in ("not read", "definition") or found.why.endswith(_UNSAID)
    if not unsettled and not claims and (found.verdict in HOLDS or not _defines(bare)):
        return found
    of_law = (_of_a_law(task, bare) or _of_units(task, bare)) if unsettled and not claims else None
    if of_law and of_law.verdict in HOLDS:
        return of_law
    brief = _briefly(task)
    whole, part = partial(_as_a_whole, brief), partial(_tried_with, brief, stated=())
    other = in_steps([bare, *claims], found, whole, part)
    if not unsettled and not claims:
        return other if other.verdict in HOLDS else found
    found = of_law if of_law and other.verdict == found.verdict else other
    unsettled = found.verdict in ("not read", "definition")
    return (_gone_on(task, bare) or found) if unsettled and not claims else found


def _of_quantities(task: Task, full: str, units: Sequence[str]) -> Tried:
    """Return the verdict with a positive number for each base unit, or without the units.

    Without them numbers may be rounded; then both sides must agree nearly for any units.
    """
    known = Declared(dict.fromkeys(map(normal, units), kinds.positive)).and_then(task.declared)
    task = replace(task, macros={})
    found = _tried(replace(task, latex=full, declared=known))
    near = reduce(lambda latex, name: latex.replace(name, BASE[name]), units, full)
    if found.verdict not in _FAIL or (_tried(replace(task, latex=near)).residual or 1.0) > _NEAR:
        return found
    plain = _tried(replace(task, latex=IN_UNITS.sub("", full)))
    rounded = Tried("not read", "its numbers may be rounded", residual=found.residual)
    return {"does not hold": found, FAILS: rounded, "not read": rounded}.get(plain.verdict, plain)


def _defines(full: str) -> bool:
    """Return whether a display gives a symbol its meaning, and then says more."""
    every = stated_in(full)
    return len(every) > 1 and any(one.defines and not one.depends for one in every[:-1])


def _gone_on(task: Task, full: str) -> Tried | None:
    """Return the verdict on a display together with one before it, if it holds so."""
    before = [plainly(_written(one, task.macros)) for one in task.around.before]
    task = replace(task, mending=False, around=Around(), once=True)
    every = [(full, before), *filter(None, [with_values(full, before)])]
    residual, known = None, set[str]()
    for claim in chain(*(islice(followed_from(*one), _CLAIMS) for one in every)):
        for latex in (claim.latex, claim.meant):
            if latex in known or not claim.fits(residual):
                continue
            known.add(latex)
            if have_nothing_in_common(latex) and not task.declared.conditions:
                continue
            found = _as_a_whole(task, latex)
            residual = found.residual if claim.factor == 1.0 else residual
            chance = " = " in f"{found.region}"  # any two may agree for some whole numbers
            if found.verdict in HOLDS and not chance and _noticed(found, strict=False):
                return replace(found, why="; ".join(filter(None, [claim.said, found.why])))
    return None


def _of_a_law(task: Task, full: str) -> Tried | None:
    """Return the verdict on the statements of a display about a law whose density the text gives.

    A failure is a note where that is a density indeed, and nothing else stands in the display.
    """
    law, own = (
        one and _law_written(one, task.macros) for one in (task.around.law, task.around.own)
    )
    brief, refuted = _briefly(task), None
    for claim in claims_of(full, law, own):
        sure = claim.sure and not refuted and _is_one(claim.density)
        found = _said_of_a_law(brief if sure else replace(task, mending=False), claim)
        if found.verdict in HOLDS and _noticed(found, strict=False):
            return replace(found, why=claim.said)
        if sure and found.verdict in _FAIL and (found.residual or 0.0) > _CLEARLY:
            longer = replace(task, mending=task.mending and _LONGER)
            found = _said_of_a_law(longer, claim)
            refuted = replace(found, verdict=FAILS, why=f"not so: {claim.said}")
        elif task.mending and claim.sure and claim.density == claim.latex:
            mends = mends_of_density(claim.latex)
            if mends and mends.found:
                return Tried(FAILS, f"not so: {claim.said}", mend=mends)
    return refuted


def _of_units(task: Task, full: str) -> Tried | None:
    """Return a note where a variance has not the square of the unit."""
    claim = scaled_variance(full)
    found = _tried_with(_briefly(task), claim, ()) if claim else None
    if found is None or found.verdict not in _FAIL or (found.residual or 0.0) <= _CLEARLY:
        return None
    why = "a variance has the square of the unit of a standard deviation, and this has not"
    return Tried(FAILS, why, residual=found.residual, failing=(full,))


def _said_of_a_law(task: Task, claim: Claim) -> Tried:
    found = _attempt(task, claim.latex, claim.given, {}, LAWS)
    return _doubted(claim.latex, found, task.declared.kinds)


def _law_written(law: Law, macros: Macros) -> Law:
    """Return a law without commands of the paper."""
    put = partial(_written, macros=macros)
    return Law(put(law.density), tuple(map(put, law.others)), tuple(map(put, law.values)))


@lru_cache(maxsize=256)
def _is_one(latex: str) -> bool:
    """Return whether the integral of a density was found to be one."""
    task = Task(("", 1, 1), latex, "", {}, Declared(), mending=False)
    return _said_of_a_law(task, Claim(latex)).verdict in HOLDS


def _briefly(task: Task) -> Task:
    """Return the task with less effort for mends, where many readings are tried."""
    return replace(task, mending=task.mending and _BRIEFLY)


_CLAIMS = 10  # of a display and one before it, that are tried
_BRIEFLY, _LONGER = 4 * SECOND // 10, 6 * SECOND  # effort
_NO_NOTES = "without what is written at its braces"


def _as_a_whole(task: Task, full: str) -> Tried:
    """Return the verdict on all of some LaTeX at once, in one of its readings."""
    plain = _by_convention(task, full, _tried_with(task, full, ()))
    if plain.verdict in ("not read", "definition") and (found := _by_the_text(task, full, plain)):
        return found
    stated = [_written(one, task.macros) for one in task.around.conditions]
    if plain.verdict == "holds if" and stated:
        found = _tried_with(task, full, stated)
        if found.verdict == "holds":
            return replace(found, why=f"for {', '.join(stated)}, as the text says")
    if plain.verdict == "definition":
        return _otherwise(task, chain(marked(full), of_densities(full)), plain)
    if plain.verdict != "not read":
        return plain
    judge = partial(_tried_with, _briefly(task))
    implied = (one := implication_in(full)) and followed(one, judge)
    return of_sets(full) or implied or _otherwise(task, others(full, plain.why), plain)


def _by_convention(task: Task, full: str, plain: Tried) -> Tried:
    """Return the verdict by a convention of others by which a display holds that else fails."""
    if plain.verdict == "holds" and (crossed := conventions.with_crosses(full)) != full:
        for latex, _, vectors in with_products(crossed):
            if _tried_with(replace(task, mending=False), latex, (), vectors).verdict in _FAIL:
                return _of_numbers(plain, tuple(plain.drawn))
    if plain.verdict not in ("not read", "holds if", *_FAIL):
        return plain
    for latex, said in conventions.others(full):
        found = _tried_with(replace(task, mending=False), latex, ())
        if found.verdict == "holds":
            return replace(found, verdict="holds if", region=said)
    if plain.verdict != "holds if" and (imaginary := conventions.imaginary_j(full)):
        found = _tried_with(_briefly(task), imaginary, ())
        if found.verdict in HOLDS or mended_for_good(found):
            found = replace(found, verdict=FAILS) if found.verdict in _FAIL else found
            return replace(found, why="with j for the imaginary unit")
    return plain


def _by_the_text(task: Task, full: str, plain: Tried) -> Tried | None:
    """Return the verdict by the text's definitions of symbols and functions, if it counts.

    A function that the display defines again in another form is tried; in the same form it would be
    compared with itself, and a failure means another function.
    """
    told = [_written(one, task.macros) for one in task.around.stands_for]
    functions = [_written(one, task.macros) for one in task.around.functions]
    called = [one for one in functions if _called(full, one)]
    put = with_functions(full, filter(None, map(defined, called)))
    put = substituted(put, told)
    if put == full or (plain.verdict == "definition" and not called) or not says_something(put):
        return None
    found = _tried_with(task, put, ())
    told = [one for one in told if defined(one) is None]
    said = f"with {', '.join([*called, *told])}, as the text says"
    if found.verdict in HOLDS:
        return replace(found, why=said)
    fails = found.verdict in _FAIL and (found.residual or 0.0) > _CLEARLY
    if called and fails and defined(full) is None:
        return replace(found, verdict=FAILS, why=said)
    return None


def _called(full: str, function: str) -> bool:
    found = defined(function)
    return found is not None and with_functions(full, [found]) != full


def _otherwise(task: Task, readings: Iterable[Other], plain: Tried) -> Tried:
    """Return the verdict on another reading where the first is not read; accuse nothing."""
    refuted: Tried | None = None
    for other in readings:
        try:
            found = _found(task, other)
        except TooLong:
            return plain
        if found is None:
            continue
        if found.verdict not in HOLDS:
            nor = f", nor if {other.region}" if other.region else ""
            unsaid = f": {_UNSAID}" if other.chance else ""
            mends = found.mend if other.mended else None
            refuted = replace(found, verdict=FAILS, why=f"{other.said}{nor}{unsaid}", mend=mends)
            continue
        why = "; ".join(filter(None, [other.said, found.why]))
        if other.region:
            found = replace(found, verdict="holds if", region=other.region)
        elif (keys := _MATRICES & {*other.kinds}) and _fails_of_matrices(task, other, keys):
            found = _of_numbers(found, sorted(keys))
        return replace(found, why=why)
    return refuted or plain


def _fails_of_matrices(task: Task, other: Other, keys: Set[str]) -> bool:
    """Return whether a statement that holds for functions fails for matrix-valued ones."""
    polynomials = [Defined(key, ("t",), f"{key}_1 + {key}_2 t + {key}_3 t^2") for key in keys]
    known = {key: kind for key, kind in other.kinds.items() if key not in keys}
    known |= {f"{key}_{i}": kinds.matrix("n", "n") for key in keys for i in (1, 2, 3)}
    latex = with_functions(other.latex, polynomials)
    return _tried_with(replace(task, mending=False), latex, (), known).verdict in _FAIL


_MATRICES = frozenset("ABCKMNQRXYZ")
_FAIL = ("does not hold", FAILS)
_CLEARLY, _NEAR = 1e-3, 5e-2
_UNSAID = "the text may say more of what is random"


def _found(task: Task, other: Other) -> Tried | None:
    """The verdict on another reading, where it is worth reporting: it holds for all its kinds.

    A failure on the numbers drawn is reported as well, and is no accusation.
    """
    kept = None
    for known in (other.kinds, *other.also):
        found = _tried_with(_briefly(task), other.latex, (), known)
        if found.why == UNMET and kept is not None:
            continue  # a condition that is printed leaves these numbers out
        holds = found.verdict == "holds" or (found.verdict == "holds if" and not other.everywhere)
        whole = other.arrays and not any(kind.shape for kind in found.drawn.values())
        if not holds or whole or not _noticed(found, strict=other.strict):
            return found if _refutes(other, found) else None
        kept = found
    return kept


def _refutes(other: Other, found: Tried) -> bool:
    """Return whether a reading that leaves nothing open fails on its numbers."""
    if found.verdict in HOLDS or (found.residual or 0.0) <= _CLEARLY:
        return False
    if other.chance:  # but a mean may be that of a law with letters of its own: `E[X] = n p`
        end = row_of(other.latex.rpartition("=")[2])
        return found.verdict in _FAIL or found.drawn.keys().isdisjoint(letters_of(end))
    return found.verdict in _FAIL and mended_for_good(found)


def _noticed(found: Tried, *, strict: bool) -> bool:
    """Return whether a slip would have been, and if it is `strict` every slip."""
    mutants = found.mutants
    return mutants is not None and mutants.caught > 0 and not (strict and mutants.survived)


def _tried_with(
    task: Task, full: str, stated: Sequence[str], more: Mapping[str, Kind] | None = None
) -> Tried:
    """The verdict on LaTeX without commands, under conditions; `more` is declared besides."""
    found = _laid_out(task, full, stated, more)
    turned = "" if found.verdict in ("holds", "definition") else _turned(full)
    if not turned:
        return found
    other = _laid_out(replace(task, mending=False), turned, stated, more)
    if other.verdict == "holds" or (other.verdict in HOLDS and found.verdict not in HOLDS):
        region = ", ".join(filter(None, (other.region, "the slope is laid out as its transpose")))
        return replace(other, verdict="holds if", region=region)
    return found


def _laid_out(
    task: Task, full: str, stated: Sequence[str], more: Mapping[str, Kind] | None
) -> Tried:
    """The verdict where a slope has the shape of what it is taken by."""
    try:
        COMMON.written(full)
    except ValueError as wrong:  # a bracket that is never closed
        return Tried("not read", getattr(wrong, "problem", str(wrong)))
    if arrow_in(_without_way(full) if "\\sim" in full else full):
        return Tried("not read", "an arrow says what goes where, and claims no equality")
    known = task.declared.and_then(Declared(more or {}))
    task = replace(task, declared=known)
    plain = _attempt(task, full, stated, {})
    found, constant = plain, any(map(is_constant, plain.drawn))
    refuted = plain.verdict not in HOLDS and (plain.residual or 0.0) > _CLEARLY
    refuted = refuted or plain.why.endswith(ENDLESS)
    if constant or not (plain.verdict == "definition" or (task.once and refuted)):
        found = _on_arrays(plain, full, known.kinds, partial(_attempt, task, full, stated))
    if found.verdict == "holds" and "rank" in full:
        found = _of_full_rank(found, partial(_attempt, task, full, stated))
    found = _doubted(full, found, known.kinds)
    unsettled = found.verdict in ("not read", "definition")
    if task.notation or not unsettled or PAPERS.heads_in(known.kinds):
        return found
    return _with_special_functions(task, full, stated, found)


def _of_full_rank(found: Tried, attempt: Attempt) -> Tried:
    """Return the verdict, with full rank as a condition if it fails for matrices of low rank."""
    matrices = {key: kind for key, kind in found.drawn.items() if kind.name == "matrix"}
    again = attempt({key: replace(kind, name="of low rank") for key, kind in matrices.items()})
    if not matrices or again.verdict == "holds" or UNMET in again.why:
        return found
    return replace(found, verdict="holds if", region=f"{', '.join(matrices)} of full rank")


def _turned(full: str) -> str:
    """Return an equality with a derivative on its left and the transpose of its right side."""
    left, _, right = full.partition("=")
    sloped = {"\\partial", "\\nabla"}.intersection(texts(row_of(left)))
    return rf"{left} = \left({right}\right)^\top" if sloped and "=" not in right else ""


def _with_special_functions(task: Task, full: str, stated: Sequence[str], plain: Tried) -> Tried:
    """Return the verdict with the special functions that it calls, where it counts.

    ``\\operatorname{erfc}(x) = 1 - \\operatorname{erf}(x)`` defines nothing, since everybody knows
    its left side. That a letter is the function that is so called must show: in a verdict that
    it holds, or in an edit that mends it, which accuses no one who defines the letter otherwise.
    """
    called, known = PAPERS.functions_in(full), task.declared.kinds
    if not called:
        return plain
    found = _attempt(task, full, stated, {}, PAPERS)
    if plain.verdict == "not read":
        if found.verdict == "definition":  # of another function, by those that are known
            return found
        if _counts(found, called):
            return _doubted(full, found, known)
    elif found.verdict == "holds":
        return _doubted(full, found, known)
    if found.verdict in _FAIL and called <= _NOBODYS | _OF_SOME_SIGN:
        sure, mended = _is_worded(full) and called <= _NOBODYS, mended_for_good(found)
        if mended or _is_worded(full):
            another = "a letter may be another function than the one that is so called"
            return _doubted(
                full, found if sure else replace(found, verdict=FAILS, why=another), known
            )
    return plain


def _is_worded(full: str) -> bool:
    """Return whether the left side is a function with a word for its name, and no letter."""
    return texts(row_of(full))[:1] in (["\\operatorname"], ["\\mathrm"])


def _without_way(latex: str) -> str:
    """Return an asymptotic equality without its limit: ``, \\quad n \\to \\infty``."""
    row = row_of(latex)
    at = max((i for i, token in enumerate(row) if token.text == "\\to"), default=0)
    goal = [text for text in texts(row[at + 1 :]) if text not in _AROUND_LIMITS]
    if goal not in (["\\infty"], ["0"]) or not at or not is_symbol(row[at - 1].text):
        return latex
    before = list(dropwhile(lambda token: token.text in "(,;", row[: at - 1][::-1]))
    return latex[: before[0].end] if before else ""


_AROUND_LIMITS = frozenset("+-).,;")


def _attempt(
    task: Task,
    full: str,
    stated: Sequence[str],
    inferred: Mapping[str, Kind],
    notation: Notation | None = None,
) -> Tried:
    """The verdict on numbers and on arrays of the kinds that were `inferred`."""
    notation = notation or NOTATIONS.get(task.notation, COMMON)
    seed = int(Equation(task.label, task.latex, 1).digest[:8], 16)
    kinds = {**task.declared.kinds, **inferred}
    conditions = [*task.declared.conditions, *stated]
    for i in range(_SEEDS):
        tried = try_display(
            full,
            conditions=conditions,
            kinds=kinds,
            notation=notation,
            bindings=OF_ARRAYS if any(len(kind.shape) > 1 for kind in kinds.values()) else None,
            rng=seed + i,
            mending=task.mending,
            once=task.once,
        )
        if not any(word in tried.why for word in _ANEW):
            break
    return tried


# A matrix may be wide where it must be tall, or have negative eigenvalues.
_ANEW = ("singular", "`log` failed")


def _doubted(full: str, found: Tried, declared: Mapping[str, Kind]) -> Tried:
    """Return the finding, or the reason why it accuses no one, or says nothing."""
    if found.verdict in (*HOLDS, *_FAIL) and (why := conventions.no_number(full)):
        return Tried("not read", why, residual=found.residual)
    if found.verdict in HOLDS:
        why = more_than_numbers(found, declared)
        return Tried("not read", why, residual=found.residual) if why else found
    if found.verdict not in _FAIL:
        return found
    if conventions.commutes(full):
        return Tried("not read", "what is subtracted may not commute", residual=found.residual)
    doubted = doubt(full, found, declared)
    if not doubted.why and found.verdict != FAILS:
        return found
    why = found.why or doubted.why
    mended = mended_for_good(found)
    if doubted.blind or (not mended and why.startswith(RELATES)):
        return Tried("not read", why, residual=found.residual)
    return replace(found, verdict=FAILS, why=why, mend=telling(found.mend))


# No other function is so called.
_NOBODYS = frozenset({"gammafn", "loggamma", "airyai", "airybi", "erf", "erfc"})
_OF_SOME_SIGN = frozenset({"erfi", "Ei", "Si", "Ci", "Shi", "Chi"})  # that differ by convention


def _counts(tried: Tried, called: frozenset[str]) -> bool:
    """Return whether the verdict on a display with special functions is to be reported.

    A failure may mean another function of the same letter, unless a single edit mends it.
    """
    if tried.verdict in _FAIL:
        return called <= _NOBODYS and mended_for_good(tried)
    return tried.verdict in HOLDS or "mpmath" in tried.why


def _written(latex: str, macros: Macros) -> str:
    every = ((name, one if isinstance(one, str) else tuple(one)) for name, one in macros.items())
    return _expanded(latex, tuple(every))


@lru_cache(maxsize=1024)
def _expanded(latex: str, macros: tuple[tuple[str, str | tuple[object, ...]], ...]) -> str:
    """Return LaTeX without macros: the same displays stand before several others."""
    try:
        return written_out(latex, dict(macros))
    except EquationError:
        return latex


Attempt = Callable[[Mapping[str, Kind]], Tried]


def _on_arrays(plain: Tried, full: str, declared: Mapping[str, Kind], attempt: Attempt) -> Tried:
    """Return the verdict where symbols may be arrays; of marked ones numbers prove nothing."""
    fit = fitting(full, declared)
    found = _of_shapes(plain, fit, attempt)
    moved = [key for key in fit.moved if key in found.drawn and not found.drawn[key].shape]
    return _of_numbers(found, moved) if found.verdict == "holds" and moved else found


def _of_shapes(plain: Tried, fit: Fitting, attempt: Attempt) -> Tried:
    """Return the verdict on shapes; of several that fit, one for which it holds may be meant."""
    shapes, marked, free, refuted, traced, scalars, *_ = fit
    if len(shapes) == 1:
        found = together(plain, shapes[0], attempt)
        if scalars and found.verdict == "holds" and found is not plain:
            return _of_numbers(found, scalars)
        square = [key for key in fit.grams if key in shapes[0].squares]
        if square and found.verdict == "holds" and found is not plain:
            return replace(found, verdict="holds if", region=_where(square, "square"))
        alone = [key for key in free if key in traced and key not in shapes[0].kinds]
        if alone and found.verdict in HOLDS:
            return _of_numbers(found, alone)
        numbers = found is plain and plain.verdict in HOLDS
        if not numbers:
            return found
        return attempt(shapes[0].kinds) if marked else _of_numbers(plain, tuple(shapes[0].kinds))
    if marked and refuted and plain.verdict in (*HOLDS, "not read", "does not hold"):
        more = plain.why if plain.verdict == "not read" else ""
        return Tried("not read", "; ".join(filter(None, (UNFIT, more))), residual=plain.residual)
    if plain.verdict not in HOLDS or not marked:
        return plain
    every = (attempt(one.kinds) for one in shapes)
    holding = next((found for found in every if found.verdict == "holds"), None)
    return holding or _of_numbers(plain, free)


UNFIT = "it does not fit any shapes, though marks of arrays stand in it"


def _of_numbers(plain: Tried, keys: Sequence[str], more: str = "") -> Tried:
    """Return the verdict on numbers, which says that it is one."""
    region = ", ".join(filter(None, (_where(keys, "a number", "numbers"), plain.region, more)))
    return replace(plain, verdict="holds if", region=region)


def together(plain: Tried, shapes: Shapes, attempt: Attempt) -> Tried:
    """The verdict where symbols may be arrays.

    A statement that holds for arrays is reported so. One that fails for them may hold for
    symmetric matrices, or for numbers alone: then it holds if they are.
    """
    arrays = attempt(shapes.kinds)
    if arrays.verdict in HOLDS:
        return arrays
    if arrays.verdict in _FAIL:
        for make, said in _SPECIAL if shapes.squares else ():
            special = attempt({**shapes.kinds, **shapes.squares_as(make)})
            if special.verdict == "holds":
                return replace(special, verdict="holds if", region=_where(shapes.squares, said))
        if plain.verdict in HOLDS:
            return _of_numbers(plain, tuple(shapes.kinds), "and not for arrays")
    if plain.verdict == "not read" or (plain.verdict == FAILS and arrays.verdict in _FAIL):
        return arrays
    if plain.verdict == arrays.verdict == "does not hold" and more_than_numbers(plain, {}):
        return replace(arrays, verdict=FAILS)  # one of several shapes, of which none is declared
    return plain


_SPECIAL = (
    (kinds.symmetric, "symmetric"),
    (kinds.spd, "positive definite"),
    (kinds.orthogonal, "orthogonal"),
)


def _where(keys: Sequence[str], one: str, many: str = "") -> str:
    return f"{keys[0]} is {one}" if len(keys) == 1 else f"{', '.join(keys)} are {many or one}"
