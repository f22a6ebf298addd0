"""Sections for a second reading: ``{starred}``, first in a section that the lecture can do without.

An asterisk behind the title marks it, as in the textbooks of the field. The directive says what
the section shows and who needs it; on the page all that follows in the section folds below its
words. A link, the search and the browser's own search open the fold; paper and notebooks have none.
"""

from __future__ import annotations

from docutils import nodes
from sphinx.transforms import SphinxTransform
from sphinx.util.docutils import SphinxDirective
from sphinx.util.logging import getLogger

from checked_equations.sphinx.directives import boxes

logger = getLogger(__name__)

BOX = "starred"
LEAD = "For a second reading."
OPENED = '<details class="starred-rest"><summary>Read this section</summary>'


class Starred(SphinxDirective):
    """The visible part of a section for a second reading while it is folded."""

    has_content = True

    def run(self):
        box = nodes.container(classes=[BOX])
        self.set_source_info(box)
        self.state.nested_parse(self.content, self.content_offset, box)
        if not (box.children and isinstance(box[0], nodes.paragraph)):
            raise self.error("say in a sentence what the section shows, and who needs it")
        box[0].insert(0, [nodes.strong("", LEAD), nodes.Text(" ")])
        return [box]


class Asterisk(SphinxTransform):
    """Mark the titles, before tables of contents are made of them."""

    default_priority = 400

    def apply(self, **_):
        for box in boxes(self.document, BOX):
            above = [one for one in box.parent[: box.parent.index(box)] if _seen(one)]
            if isinstance(box.parent, nodes.section) and list(map(type, above)) == [nodes.title]:
                above[0].append(nodes.Text(" *"))
            else:
                logger.warning("{starred} must be the first of a section", location=box)


def _seen(node):
    return not isinstance(node, nodes.target | nodes.Invisible)


def fold(app, doctree, docname):
    """Put what follows a box into a fold, when each piece is at its place."""
    for box in boxes(doctree, BOX):
        section = box.parent
        section.insert(section.index(box) + 1, _html(OPENED))
        section.append(_html("</details>"))


def _html(text):
    return nodes.raw("", text, format="html")


def setup(app):
    app.add_directive(BOX, Starred)
    app.add_transform(Asterisk)
    app.connect("doctree-resolved", fold, priority=950)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
