"""Which pages take part: one that neither asks for it nor holds a check is left alone.

A page says ``equations: true`` or ``equations: false`` in its front matter (in reStructuredText,
``:equations: true`` on top). One that says nothing takes part if it opens a chapter or shows a
record, or if the cells of another page check its equations; with the setting ``equations_pages``
at "all", every page does. On the others nothing is numbered anew, shown or complained of.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

from docutils import nodes
from sphinx.domains.math import MathDomain
from sphinx.environment import BuildEnvironment

from ..book.displays import LABEL
from .pages import Page, is_chapter

_WORDS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


def asked(metadata: Mapping[str, Any]) -> bool | None:
    """What the front matter of a page says, or nothing.

    >>> asked({"equations": "true"}), asked({"equations": "false"}), asked({})
    (True, False, None)
    """
    return _WORDS.get(str(metadata.get("equations", "")).strip().lower())


def take_part(page: Page, every: bool) -> bool:
    """Whether a page takes part by itself, whatever other pages check."""
    return (every or page.holds_check) if page.asked is None else page.asked


def taking_part(pages: Mapping[str, Page], every: bool) -> dict[str, Page]:
    """All pages, those that take no part without equations, records and failures."""
    chapters = {record["chapter"] for page in pages.values() for record in page.of_chapters()}
    return {
        name: page
        if take_part(page, every)
        or (page.asked is None and any(is_chapter(name, chapter) for chapter in chapters))
        else replace(page, equations=(), notes=(), failures=())
        for name, page in pages.items()
    }


def number_labels(env: BuildEnvironment, docname: str, doctree: nodes.document) -> None:
    """Let a ``\\label`` inside a display count as the label of the display.

    Sphinx numbers what its own option labels; MyST gives an environment a label that nobody can
    name. The equations of the page are counted anew, in their order.
    """
    equations = cast(MathDomain, env.get_domain("math")).equations
    displays = list(doctree.findall(nodes.math_block))
    if not any(LABEL.search(node.astext()) for node in displays):
        return
    for node in displays:
        labels = LABEL.findall(node.astext())
        if not labels:
            continue
        if "amsmath" in node["classes"] and node.get("label"):
            equations.pop(node["label"], None)
            node["label"] = None
        label = node.get("label") or labels[0]  # of two, text and page are told elsewhere
        node["label"], node["docname"] = label, docname
        node["ids"] = [nodes.make_id(f"equation-{label}")]
        lines = [line for line in node.astext().split("\n") if LABEL.sub("", line).strip()]
        node.children = [nodes.Text(LABEL.sub("", "\n".join(lines)).strip())]
    for i, node in enumerate((node for node in displays if node.get("label")), start=1):
        equations[node["label"]] = (docname, i)
        node["number"] = i
