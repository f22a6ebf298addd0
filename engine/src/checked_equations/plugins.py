"""Parts that other distributions add, found by the entry points that they declare.

The project file of such a plug-in names them in one group:

    [project.entry-points."checked_equations.plugins"]
    command = "checked_papers.command_line"
    papers = "checked_papers.manuscript:equations_of"
    badges = "checked_papers.tried_badges"

`command` is what the command ``check`` does beyond ``--strict`` (`__main__.Command`), `papers`
reads the labelled equations of a file in LaTeX (`book.manuscripts.PaperReader`), and `badges` tries
the displays of a page that Sphinx builds (`sphinx.trials.Badges`). A plug-in is imported when one
of its parts is asked for, and not before.
"""

from __future__ import annotations

from importlib.metadata import entry_points
from typing import Any

INSTALL = "pip install checked-papers"  # the plug-in that has all parts
_GROUP = f"{__package__}.plugins"


def load(part: str) -> Any:
    """Load the part that a plug-in declares; None if no plug-in has it."""
    found = next(iter(entry_points(group=_GROUP, name=part)), None)
    return found.load() if found else None


def require(part: str, purpose: str) -> Any:
    """Return what is installed for `part`.

    Raises `ImportError` where nothing is: it names the `purpose` and what to install.
    """
    found = load(part)
    if found is None:
        raise ImportError(f"{purpose} needs another package: {INSTALL}")
    return found
