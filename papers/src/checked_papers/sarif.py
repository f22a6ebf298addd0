"""Failures as SARIF 2.1.0, for editors and code scanning.

https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html. An equation that was checked and
fails is an error, one that was tried a warning. One that fails on all numbers drawn, or holds in a
region alone, is a note; one that holds in part, or in which a slip would go unseen, is to be
reviewed, with what was not judged in its properties. Displays that hold, define or are not read are
no results; the properties of the run count them.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from checked_equations.book.execution import Fault
from checked_equations.latex.equation import Equation

from .findings import Finding, totals

SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)
RULES = {
    "checked-does-not-hold": (
        "error", "On numbers that came by a route of their own the equation does not hold."),
    "checked-refused": (
        "error", "The check of the equation proves too little, or cannot be evaluated."),
    "tried-does-not-hold": (
        "warning", "On numbers that were drawn for its symbols the equation holds nowhere."),
    "tried-fails-on-all-numbers-drawn": (
        "note", "It fails on all numbers drawn, and the text may say more of its symbols."),
    "tried-holds-if": ("note", "The equation holds in a region of its symbols, and not in others."),
    "tried-holds-in-part": ("none", "Some steps of the equation hold, and others are not judged."),
    "tried-agrees-on-all-numbers-drawn": (
        "none", "Its sides agree on numbers on which they would agree with a slip as well."),
    "cannot-be-run": ("error", "A page or a declaration cannot be run or read."),
}  # fmt: skip


def sarif_log(findings: Sequence[Finding], faults: Sequence[Fault], root: Path) -> dict[str, Any]:
    """The log of one run; places are relative to `root`."""
    results = [_result(one) for one in findings if _rule(one) in RULES]
    results += [_of_fault(one, root) for one in faults]
    driver = {
        "name": "checked-equations",
        "rules": [
            {
                "id": name,
                "shortDescription": {"text": said},
                "defaultConfiguration": {"level": level},
            }
            for name, (level, said) in RULES.items()
        ],
    }
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {"ROOT": {"uri": root.resolve().as_uri() + "/"}},
        "results": results,
        "properties": {"totals": totals(findings)},
    }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _rule(found: Finding) -> str:
    return f"{found.verdict}-{found.outcome}".replace(" ", "-")


def _result(found: Finding) -> dict[str, object]:
    rule = _rule(found)
    digest = Equation(found.label, found.latex or found.label, 1).digest
    judged = {
        "steps": dict(found.steps), "failing": list(found.failing),
        "not judged": list(found.unjudged), "mutants": dict(found.mutants),
    }  # fmt: skip
    return {
        **_at(rule, f"{found.name}{found}", Path(found.file).as_posix(), found.line, found.column),
        "kind": "review" if RULES[rule][0] == "none" else "fail",
        "partialFingerprints": {"equation/v1": digest},
        "properties": {name: told for name, told in judged.items() if told},
    }


def _of_fault(fault: Fault, root: Path) -> dict[str, object]:
    file = Path(os.path.relpath(fault.file, root)).as_posix()
    return _at("cannot-be-run", fault.said, file, fault.line, fault.column)


def _at(rule: str, said: str, file: str, line: int, column: int) -> dict[str, object]:
    where = {
        "artifactLocation": {"uri": file, "uriBaseId": "ROOT"},
        "region": {"startLine": line, "startColumn": column},
    }
    return {
        "ruleId": rule,
        "ruleIndex": list(RULES).index(rule),
        "level": RULES[rule][0],
        "message": {"text": said},
        "locations": [{"physicalLocation": where}],
    }
