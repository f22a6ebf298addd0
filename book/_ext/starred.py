"""Sections for a second reading: ``{starred}``, first in a section that the lecture can do without.

An asterisk behind the title marks it, as in the textbooks of the field. The directive says what
the section shows and who needs it. On the page these sections stand at the end of the chapter, as
*Further topics*, folded below a list of their titles, and all that follows the words of one folds
below them; in the source and in notebooks each stands where its cells must run. A link, the search
and the browser's own search open the folds; paper and notebooks have none.
"""

from __future__ import annotations

from typing import cast

from docutils import nodes
from sphinx.domains.math import MathDomain
from sphinx.transforms import SphinxTransform
from sphinx.util.docutils import SphinxDirective
from sphinx.util.logging import getLogger

from checked_equations.sphinx.directives import boxes

logger = getLogger(__name__)

BOX = "starred"
LEAD = "For a second reading."
LAST = "Further topics"
LISTED = "further-topics"
OPENED = '<details class="starred-rest"><summary>Read {}</summary>'


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


class FurtherTopics(SphinxTransform):
    """Mark the titles and move the sections, before tables of contents are made of them."""

    default_priority = 400

    def apply(self, **_):
        starred = []
        for box in boxes(self.document, BOX):
            above = [one for one in box.parent[: box.parent.index(box)] if _seen(one)]
            if isinstance(box.parent, nodes.section) and list(map(type, above)) == [nodes.title]:
                above[0].append(nodes.Text(" *"))
                starred.append(box.parent)
            else:
                logger.warning("{starred} must be the first of a section", location=box)
        if starred:
            self.gather(starred)
            _number(cast(MathDomain, self.env.get_domain("math")), self.document)

    def gather(self, starred):
        """Move sections behind all others of the chapter, under a heading of theirs."""
        chapter = next(iter(self.document.findall(nodes.section)))
        there = [one for one in chapter[1:] if _title(one) == LAST]
        last = there[0] if there else self.added(chapter)
        last.insert(1, _listed(starred))
        for section in starred:
            above = section.parent
            above.replace(section, nodes.comment(refid=section["ids"][0]))
            last.append(section)
            if above not in (chapter, last) and not any(_seen(one) for one in above[1:]):
                last["ids"] += above["ids"]  # of a section that held nothing else
                above.parent.replace(above, [one for one in above if moved_from(one)])

    def added(self, chapter):
        """A last section of the chapter."""
        last = nodes.section("", nodes.title("", LAST), names=[LAST.lower()])
        self.document.note_implicit_target(last)
        last.document = self.document
        chapter.append(last)
        return last


def moved_from(node):
    """Return the identifier of the section that stood at this place, or nothing."""
    return isinstance(node, nodes.comment) and node.get("refid")


def _listed(sections):
    """Return the titles of sections, each a link."""
    words = nodes.paragraph("", f"{LEAD} ", classes=[LISTED])
    for i, section in enumerate(sections):
        title = [one.deepcopy() for one in section[0].children[:-1]]  # without its asterisk
        link = nodes.reference("", "", *title, internal=True, refid=section["ids"][0])
        words += [nodes.Text(" · "), link] if i else [link]
    return words


def _title(node):
    return node[0].astext() if isinstance(node, nodes.section) else None


def _number(domain, document):
    """Number the equations of a page in the order in which they are read."""
    labelled = [one for one in document.findall(nodes.math_block) if one.get("label")]
    for i, node in enumerate(labelled, start=1):
        domain.equations[node["label"]] = (node["docname"], i)
        node["number"] = i


def _seen(node):
    return not isinstance(node, nodes.target | nodes.Invisible)


def fold(app, doctree, docname):
    """Put what follows a box or the list of titles into a fold, once each is at its place."""
    listed = [one for one in doctree.findall(nodes.paragraph) if LISTED in one["classes"]]
    for before, what in [(box, "this section") for box in boxes(doctree, BOX)] + [
        (one, "these sections") for one in listed
    ]:
        section = before.parent
        section.insert(section.index(before) + 1, _html(OPENED.format(what)))
        section.append(_html("</details>"))


def _html(text):
    return nodes.raw("", text, format="html")


def setup(app):
    app.add_directive(BOX, Starred)
    app.add_transform(FurtherTopics)
    app.connect("doctree-resolved", fold, priority=950)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
