"""Displays that no cell checks: which of them a plug-in tries.

This is asked for by the setting ``equations_tried``: "numbered" tries the displays with a label,
"all" every display; "" is the default. It happens once, when a page has been read, and the result
stays in Sphinx's environment. A cell that checks an equation has the last word.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from docutils import nodes
from sphinx.environment import BuildEnvironment

from .. import plugins

WORDS = ("", "numbered", "all")


class Trial(Protocol):
    """The outcome of a display that was tried; as a string, its verdict in a line."""

    @property
    def label(self) -> str:
        """Its label, if it has one."""

    @property
    def line(self) -> int:
        """The line of the file on which it stands."""

    @property
    def fails(self) -> bool:
        """Return whether it was evaluated and does not hold."""


class Badges(Protocol):
    """A plug-in that tries the displays of a page and shows their outcomes."""

    def try_page(
        self, env: BuildEnvironment, docname: str, doctree: nodes.document, checked: frozenset[str]
    ) -> tuple[Trial, ...]:
        """Try the displays of a page but those whose labels are `checked`.

        Each display gets an attribute `tried`: which of the results are its own.
        """

    def tried_badge(self, label: str, found: Sequence[Trial], below: str) -> str:
        """Return the badge of a display as HTML; `below` stands below the outcomes."""


def which(env: BuildEnvironment) -> str:
    """Return which displays are tried; raises ValueError for another word."""
    word = env.config.equations_tried
    if word not in WORDS:
        raise ValueError(f"equations_tried must be '', 'numbered' or 'all'; got {word!r}")
    return str(word)


def badges() -> Badges:
    """Return the plug-in; raises `ImportError` where none is installed."""
    found: Badges = plugins.require("badges", "equations_tried")
    return found
