"""The badges of unbound equations: they are *tried*, and say so, or say why not.

A plug-in of the Sphinx extension `checked_equations.sphinx`, which asks for them as its setting
``equations_tried`` says.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from docutils import nodes
from sphinx.environment import BuildEnvironment
from sphinx.util import logging

from checked_equations.book.settings import find_settings
from checked_equations.check.badge import framed_badge
from checked_equations.check.html import element, inline_math, later, phrase, say
from checked_equations.check.phrases import counted, mutants_caught
from checked_equations.latex.balance import is_balanced
from checked_equations.sphinx.trials import which

from .command import settled
from .declarations import DeclarationError
from .display_trials import Task, tasks, try_one
from .document_formats import read
from .findings import AGREES, Finding, in_words
from .sources.displays import mathematics
from .tried.verdicts import FAILS, ODD, PART

logger = logging.getLogger(__name__)
_ENDS = re.compile(r"\\(?:begin|end)\{[A-Za-z]+\*?\}(?:\{\d+\})?|\s")


def try_page(
    env: BuildEnvironment, docname: str, doctree: nodes.document, checked: frozenset[str]
) -> tuple[Finding, ...]:
    """The findings of a page; each display has in its attribute `tried` which of it are its own.

    Those whose labels are `checked` are left to their cells.
    """
    shown = [
        node
        for node in doctree.findall(nodes.math_block)
        if (node.get("label") or which(env) == "all") and node.get("label") not in checked
    ]
    file = Path(env.doc2path(docname))
    if not shown or not file.is_file():
        return ()
    if at := find_settings(file.resolve().parent, installed=False).file:
        env.note_dependency(str(at))
    found: list[Finding] = []
    for node, own in zip(shown, beside(shown, _to_try(file, docname)), strict=True):
        node["tried"] = [len(found) + i for i in range(len(own))]
        found += map(try_one, own)
    return tuple(found)


def _to_try(file: Path, docname: str) -> list[Task]:
    try:
        return list(tasks(read(file), *settled(file)))
    except (ValueError, DeclarationError) as wrong:
        said = f"the equations cannot be tried: {wrong}"
        logger.warning(said, location=docname, type="equations", subtype="tried")
        return []


def beside(shown: Sequence[nodes.math_block], every: Sequence[Task]) -> list[list[Task]]:
    """The equations that each display prints, of all that were read in the file.

    A display that a page takes from elsewhere has none.
    """
    rest = list(every)
    own = []
    for node in shown:
        own.append(_printed_in(_bare(node.astext()), rest))
        rest = [task for task in rest if task not in own[-1]]
    return own


def _printed_in(text: str, rest: Sequence[Task]) -> list[Task]:
    own: list[Task] = []
    at = 0
    for task in rest:
        latex = _bare(task.latex)
        place = text.find(latex, at) if latex else -1
        if place == 0 or (place > 0 and own):
            own.append(task)
            at = place + len(latex)
    return own


def _bare(latex: str) -> str:
    return _ENDS.sub("", mathematics(latex)).strip("&")


# What it shows


def tried_badge(label: str, found: Sequence[Finding], below: str) -> str:
    """Return the badge of a display; `below` stands below the finding."""
    said = [_words(one) for one in found] if len(found) == 1 else [_counts(found)]
    summary = element("span", phrase(said[0], _typeset))
    first = found[0]
    if len(found) == 1 and first.mutants:
        summary += element("span", say(mutants_caught(first.mutants, apart=False)))
    spoken = f"not checked, {said[0].replace('$', '')}"
    panel = "".join(_details(one, alone=len(found) == 1) for one in found)
    return framed_badge(f"trial {_class(found)}", label, summary, panel + below, spoken=spoken)


def _words(one: Finding) -> str:
    """``tried: holds if x > 0``, with mathematics between dollars."""
    if one.verdict != "tried":
        return f"a definition {one.why}" if one.verdict == "definition" else f"not read ({one.why})"
    told = f"tried: {one.said.replace('`', '$')}"
    if not one.mends:
        return told
    if len(one.mends) > 1:
        return f"{told}; {len(one.mends)} single edits would mend it"
    return f"{told}; would with one edit: {_edit(one.mends[0])[0]}"


def _edit(mend: str) -> tuple[str, str]:
    """The edit with its mathematics between dollars, and the LaTeX of the step that it makes."""
    said, _, step = mend.partition(": ")
    return said.replace("`", "$"), step


_SHORT = {
    "holds": ("holds", "hold"), "holds if": ("holds in a region", "hold in a region"),
    PART: ("holds in part", "hold in part"), AGREES: ("agrees", "agree"),
    FAILS: (FAILS, FAILS.replace("fails", "fail")), ODD: (ODD, ODD.replace("does", "do")),
    "does not hold": ("does not hold", "do not hold"), "definition": ("definition", "definitions"),
    "not read": ("not read", "not read"),
}  # fmt: skip


def _counts(found: Sequence[Finding]) -> str:
    """``tried, 3 equations: 2 hold, 1 not read``."""
    kinds = [one.outcome or one.verdict for one in found]
    told = (
        f"{kinds.count(kind)} {one if kinds.count(kind) == 1 else many}"
        for kind, (one, many) in _SHORT.items()
        if kind in kinds
    )
    return f"tried, {counted(len(found), 'equation')}: {', '.join(told)}"


def _class(found: Sequence[Finding]) -> str:
    """The worst of them gives the mark; a display that holds in part counts as not read."""
    if any(one.fails for one in found):
        return "eqn-fails"
    outcomes = {one.outcome for one in found if one.verdict == "tried"}
    return "eqn-holds" if outcomes and outcomes <= {"holds", "holds if"} else "eqn-unread"


def _details(one: Finding, *, alone: bool) -> str:
    """Return the text of an open badge for one equation."""
    head = "" if alone else element("p", later(one.latex), " ", phrase(_words(one), _typeset))
    drawn = in_words(one.drawn)
    parts = [
        f"Drawn: {drawn}" if drawn else "",
        mutants_caught(one.mutants) if one.mutants else "",
        one.why if one.verdict == "tried" else "",
    ]
    facts = "; ".join(filter(None, parts))
    mends = "".join(_mend(mend) for mend in one.mends)
    return head + mends + element("p", say(f"{facts}. {_RESTS}" if facts else _RESTS_ON_NOTHING))


_RESTS = "Nobody has bound these symbols: its two sides are compared with each other alone."
_RESTS_ON_NOTHING = "Nothing was evaluated."


def _mend(mend: str) -> str:
    said, step = _edit(mend)
    reads = element("span", " It then reads ", later(step)) if step else ""
    return element("p", "It would hold with one edit: ", phrase(said, _typeset), ".", reads)


def _typeset(latex: str) -> str:
    return inline_math(latex) if is_balanced(latex) else element("code", say(latex))
