"""Published mistakes against the engine: are both forms judged rightly, and is the slip mended?

``python papers/benchmarks/errata.py`` prints the counts, ``--all`` a line for each item as well.
An item is a formula as it was printed and as its authors corrected it, in `items.toml` of the
folder `published_errata`, with numbers by another road in its `numbers.py`. To each form
only that is bound which the form itself names.
"""

from __future__ import annotations

import argparse
import time
import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from checked_equations import EquationError, check_equation
from checked_equations.check.bindings import draw_bindings, name_kinds, names_in
from checked_equations.latex import tree as t
from checked_papers.mends import (
    Mends,
    holds_on,
    mends_of,
    mends_of_equation,
    same_claim,
)
from checked_papers.mends.loose_reading import read_loosely
from checked_papers.mends.numbers import EXACT, missed_by
from checked_papers.mends.search import mutant_statements, same_claims
from published_errata.numbers import NUMBERS

FOLDER = Path(__file__).parent / "published_errata"


@dataclass(frozen=True)
class Verdict:
    """What became of one item: both forms, the mend, and whether its slip is a mutant."""

    id: str
    kind: str
    right: str
    wrong: str
    mend: str
    mutant: bool
    seconds: float
    said: tuple[str, ...] = ()
    tried: int = 0


def items() -> list[dict[str, str]]:
    """The items, in the order of the file."""
    return list(tomllib.loads((FOLDER / "items.toml").read_text(encoding="utf-8"))["item"])


def judge(item: Mapping[str, str]) -> Verdict:
    """Try both forms of an item and mend the printed one."""
    start = time.perf_counter()
    drawn = draw_bindings(NUMBERS[item["id"]], f"errata:{item['id']}")
    right, wrong = (_read(item[form], drawn[0]) for form in ("corrected", "printed"))
    mends = mends_of_equation(item["printed"], [_named(one, wrong) for one in drawn])
    return Verdict(
        item["id"], item["kind"],
        right=_outcome(item["corrected"], [_named(one, right) for one in drawn]),
        wrong=_outcome(item["printed"], [_named(one, wrong) for one in drawn]),
        mend=_mended(mends, right, drawn),
        mutant=_is_mutant(right, wrong, drawn),
        seconds=time.perf_counter() - start,
        said=tuple(mend.step for mend in mends.found), tried=mends.tried,
    )  # fmt: skip


def _read(latex: str, numbers: Mapping[str, Any]) -> t.Statement | None:
    return read_loosely(latex, name_kinds(numbers))


def _named(numbers: Mapping[str, Any], statement: t.Statement | None) -> dict[str, Any]:
    """What of the numbers the form names."""
    if statement is None:
        return dict(numbers)
    return {key: value for key, value in numbers.items() if key in names_in(statement)}


def _outcome(latex: str, drawn: list[dict[str, Any]]) -> str:
    rows = iter(drawn)
    try:
        check_equation(latex, lambda _: next(rows))
    except EquationError as error:
        if "does not hold" in error.problem:
            return "does not hold"
        survives = "survive" in error.problem or "says nothing" in error.problem
        return "holds, with survivors" if survives else f"refused: {error.problem}"
    return "holds"


def _mended(mends: Mends, right: t.Statement | None, drawn: Sequence[Mapping[str, Any]]) -> str:
    """Whether the correction is the only mend, one of several, or no mend at all."""
    if not mends.found:
        return "none"
    among = right is not None and any(
        mend.statement == right or same_claim(mend.statement, right, drawn) for mend in mends.found
    )
    if mends.only:
        return "the correction alone" if among else "another alone"
    return "the correction among several" if among else "several others"


def _is_mutant(
    right: t.Statement | None, wrong: t.Statement | None, drawn: Sequence[Mapping[str, Any]]
) -> bool:
    """Whether the printed form is one of the mutants of the corrected one."""
    if right is None or wrong is None:
        return False
    every = list(mutant_statements(right, drawn[0]))
    return wrong in every or any(same_claims(every, wrong, drawn))


def spoilt(item: Mapping[str, str], count: int) -> Counter[str]:
    """What becomes of `count` mutants of the corrected form: what would mend each of them?"""
    drawn = draw_bindings(NUMBERS[item["id"]], f"errata:{item['id']}")
    right, fates = _read(item["corrected"], drawn[0]), Counter[str]()
    if right is None or not holds_on(drawn)(right):
        return fates
    named = [_named(one, right) for one in drawn]
    every = list(mutant_statements(right, named[0]))
    for mutant in every[:: max(1, len(every) // count)][:count]:
        missed = missed_by(mutant, named, EXACT)
        mends = mends_of(mutant, holds_on(named, EXACT, missed), named)
        if mends.tried:  # else it holds: it says the same
            fates[_mended(mends, right, named)] += 1
    return fates


def table(verdicts: list[Verdict]) -> str:
    """The counts, a line each."""
    count = len(verdicts)
    right, wrong, mend = Counter[str](), Counter[str](), Counter[str]()
    for one in verdicts:
        right[one.right.partition(":")[0]] += 1
        wrong[one.wrong.partition(":")[0]] += 1
        mend[one.mend] += 1
    alone, several = mend["the correction alone"], mend["the correction among several"]
    others = mend["another alone"] + mend["several others"]
    mutants = sum(one.mutant for one in verdicts)
    holds, survivors = right["holds"], right["holds, with survivors"]
    lines = [
        f"{count} published mistakes",
        f"corrected forms: {holds} hold, {survivors} hold with a mutant that survives, "
        f"{right['refused']} refused, {right['does not hold']} accused",
        f"printed forms: {wrong['does not hold']} do not hold, {wrong['refused']} refused, "
        f"{wrong['holds'] + wrong['holds, with survivors']} pass",
        f"mended: {alone} to the correction alone, {several} to it among several "
        f"({100 * (alone + several) / count:.0f} % together), {others} to another formula",
        f"{mutants} slips ({100 * mutants / count:.0f} %) are mutants that the engine makes",
    ]
    return "\n".join(lines)


def main() -> None:
    """Judge all items, or those that are named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("ids", nargs="*", help="the items to judge; all, if none is named")
    parser.add_argument("--all", action="store_true", help="print a line for each item")
    parser.add_argument(
        "--spoil", type=int, metavar="N", help="spoil N times what is right instead"
    )
    given = parser.parse_args()
    chosen = [item for item in items() if not given.ids or item["id"] in given.ids]
    if given.spoil:
        fates = sum((spoilt(item, given.spoil) for item in chosen), Counter[str]())
        print(f"{fates.total()} right formulas spoilt by a mutant:", dict(fates.most_common()))
        return
    verdicts = []
    for item in chosen:
        verdicts.append(one := judge(item))
        if given.all or given.ids:
            mutant = " (a mutant)" if one.mutant else ""
            judged = f"{one.id}: corrected {one.right}; printed {one.wrong}; {one.mend}{mutant}"
            cost = f"{one.tried} edits tried, {one.seconds:.1f} s"
            print(judged, cost, *one.said[:6], sep="\n    ")
    print(table(verdicts))


if __name__ == "__main__":
    main()
