"""Parts that other distributions add, found by the entry points that they declare.

The project file of such a plug-in names them in one group:

    [project.entry-points."checked_equations.plugins"]
    command = "checked_papers.command_line"
    papers = "checked_papers.manuscript:equations_of"
    badges = "checked_papers.tried_badges"
    mends = "checked_papers.mends:suggestion"
    notes = "checked_papers.draw_notes:notes_on"

`command` is the command ``check`` without ``--strict`` (`__main__.Command`), `papers` reads the
labelled equations of a file in LaTeX (`book.manuscripts.PaperReader`), `badges` tries the displays
of a page that Sphinx builds (`sphinx.trials.Badges`), `mends` names the mends of an equation that
fails, and `notes` the things that the draws share (both `check.equation_check`). A plug-in is
imported when one of its parts is asked for, and not before.
"""

from __future__ import annotations

from functools import cache
from importlib.metadata import entry_points
from typing import Any

INSTALL = "pip install checked-papers"  # the plug-in that has all parts
_GROUP = f"{__package__}.plugins"


@cache  # every check asks
def load(part: str) -> Any:
    """Load the part that a plug-in declares; None if no plug-in has it."""
    found = next(iter(entry_points(group=_GROUP, name=part)), None)
    return found.load() if found else None


def require(part: str, purpose: str) -> Any:
    """Return the plug-in that is installed for `part`.

    Raises `ImportError` where nothing is: it names the `purpose` and the package to install.
    """
    found = load(part)
    if found is None:
        raise ImportError(f"{purpose} needs another package: {INSTALL}")
    return found
