"""A display that is not judged as a whole: its statements, and the steps of a chain, one by one.

A verdict says how many steps hold and which were not judged. A step that fails is no accusation,
since a statement may lean on the text around it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from checked_equations.check.outcomes import Mutants

from .defined_functions import defined, with_functions
from .statements import Statement, stated_in
from .substitution import substituted
from .tried import Tried
from .tried.token_patterns import letters_of, row_of, texts
from .tried.verdicts import FAILS, HOLDS, PART

Judge = Callable[[str], Tried]
_MOST = 6  # parts of a chain that are tried


@dataclass
class _Count:
    """The fates of the steps of a display."""

    held: list[Tried] = field(default_factory=list)
    failed: list[tuple[str, Tried]] = field(default_factory=list)
    unjudged: list[str] = field(default_factory=list)
    hold: int = 0
    define: int = 0


def in_steps(shown: Sequence[str], plain: Tried, whole: Judge, part: Judge) -> Tried:
    """Return the verdict on the pieces of a display; `plain` where none of it can be judged.

    `whole` judges a statement that stands by itself, `part` some of the steps of a chain.
    """
    every = [one for latex in shown for one in stated_in(latex)]
    if len(every) < 2 and not any(len(one.signs) > 1 for one in every):
        return plain
    count = _Count()
    meant = [(one, one.part(0, 2)) for one in every if one.defines and not one.depends]
    for one in every:
        others = [said for other, said in meant if other is not one]
        by_others = partial(_by_the_others, whole, others) if len(every) > 1 else None
        _judge(one, count, by_others, part)
    return _verdict(count, plain)


def _by_the_others(whole: Judge, meant: Sequence[str], latex: str) -> Tried:
    """Judge a statement, which others of the display may have defined symbols for."""
    found = whole(latex)
    called = with_functions(latex, filter(None, map(defined, meant)))
    if found.verdict == "holds" or (found.verdict == "definition" and called == latex):
        return found
    put = substituted(called, meant)
    other = whole(put) if put != latex else found
    return found if other.verdict in ("not read", "definition") else other


def _judge(one: Statement, count: _Count, whole: Judge | None, part: Judge) -> None:
    """Count the steps of a statement, which holds as a whole, in part, or not at all."""
    found = whole(one.latex) if whole else None
    if found and one.depends and found.verdict == "holds if":  # and if what is supposed agrees?
        count.unjudged.extend(one.steps)
    elif found and _holds(found):
        count.held.append(found)
        count.define += one.defines and len(one.signs) > 1
        count.hold += len(one.signs) - (one.defines and len(one.signs) > 1)
    elif found and found.verdict == "definition":
        count.define += len(one.signs)
    elif found and len(one.signs) == 1:
        _one_step(one.steps[0], found, count, one)
    else:
        _chain(one, count, part)


def _chain(one: Statement, count: _Count, part: Judge) -> None:
    """Count the steps of a chain: the longest part that holds, and each of the others alone."""
    begin, end, found = next(_parts_that_hold(one, part), (0, 0, None))
    if found is not None:
        count.held.append(found)
        defined = one.defines and begin == 0
        count.define += defined
        count.hold += end - begin - 1 - defined
    for i, step in enumerate(one.steps):
        if begin <= i < end - 1:
            continue
        if i == 0 and one.defines:
            count.define += 1
        else:
            _one_step(step, part(f"{step}{one.tail}"), count, one, ordered=not one.equal(i, i + 2))


def _parts_that_hold(one: Statement, part: Judge) -> Iterator[tuple[int, int, Tried]]:
    n = len(one.sides)
    sizes = range(n - 1, 1, -1)
    spans = [(i, i + size) for size in sizes for i in range(n - size, -1, -1)]
    for begin, end in [span for span in spans if one.equal(*span)][:_MOST]:
        found = part(f"{one.part(begin, end)}{one.tail}")
        if _holds(found):
            yield begin, end, found


def _one_step(
    step: str, found: Tried, count: _Count, one: Statement, *, ordered: bool = False
) -> None:
    """Count one step; a part of a chain that is `ordered` may want a condition."""
    differ = ordered and "\\ne" in texts(row_of(step))  # as almost any two numbers do
    if _holds(found) and not differ and not (ordered and found.verdict != "holds"):
        count.held.append(found)
        count.hold += 1
    elif found.verdict in (FAILS, "does not hold") and not (one.depends or _property(step, found)):
        count.failed.append((step, found))
    else:
        count.unjudged.append(step)


def _property(step: str, found: Tried) -> bool:
    """Return whether a step says what one matrix is, as ``H^2 = H`` does, and nothing mends it."""
    letters = {*letters_of(row_of(step))} - {"I", "T"}
    mended = found.mend and found.mend.found
    return len(letters) == 1 and letters.pop().isupper() and not mended


def _holds(found: Tried) -> bool:
    """Return whether it holds, and a slip would have been noticed."""
    return found.verdict in HOLDS and found.mutants is not None and found.mutants.caught > 0


def _verdict(count: _Count, plain: Tried) -> Tried:
    found = _failed(count) or _held(count)
    if found is None:
        return plain
    steps = {
        "hold": count.hold, "fail": len(count.failed), "define": count.define,
        "not judged": len(count.unjudged),
    }  # fmt: skip
    named = {name: n for name, n in steps.items() if n}
    return replace(found, steps=named, unjudged=tuple(count.unjudged))


def _failed(count: _Count) -> Tried | None:
    if not count.failed:
        return None
    failing = tuple(step for step, _ in count.failed)
    return replace(count.failed[0][1], verdict=FAILS, region=None, failing=failing)


def _held(count: _Count) -> Tried | None:
    if not count.held or not count.hold:
        return None
    regions = _each(one.region for one in count.held)
    return Tried(
        PART if count.unjudged else "holds if" if regions else "holds",
        "; ".join(_each(one.why for one in count.held)),
        " and ".join(regions) or None,
        max((one.residual for one in count.held if one.residual is not None), default=None),
        partial(_together, tuple(count.held)),
        drawn={key: kind for one in count.held for key, kind in one.drawn.items()},
    )


def _each(said: Iterator[str | None]) -> list[str]:
    return list(dict.fromkeys(filter(None, said)))


def _together(held: Sequence[Tried]) -> Mutants:
    every = filter(None, (one.mutants for one in held))
    return Mutants.of(tuple(record for one in every for record in one.list))
