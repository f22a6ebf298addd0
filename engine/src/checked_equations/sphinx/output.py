"""A renderer for myst-nb: the JSON bundle of a check becomes a node that carries the record."""

from __future__ import annotations

from typing import Any, ClassVar

from docutils import nodes

from ..check.records import MIME


class check_output(nodes.General, nodes.Element):
    """The place of a check's output; its attribute `record` holds the record's JSON.

    Once records are gathered, `note` says which it is, for the stored page is not to hold them all.
    """


class CheckOutput:
    """The renderer that myst-nb finds by its entry point; other outputs it passes over."""

    mime_priority_overrides: ClassVar = [("*", MIME, 1)]

    @staticmethod
    def handle_mime(renderer: Any, data: Any, inline: bool) -> list[nodes.Element] | None:
        """Return the node of a check's output; None for any other output, and in a line."""
        if data.mime_type != MIME or inline:
            return None
        node = check_output(record=dict(data.content))
        node.source = renderer.source
        node.line = data.line
        return [node]
