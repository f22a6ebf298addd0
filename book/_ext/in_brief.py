"""A chapter in ten lines: ``{in-brief}``, a box, and ``{leaflet}``, all boxes on a page to print.

The box names the one equation of its chapter and the one figure; both are shown from where they
stand in the chapter, so that neither can say anything else there. A button of the chapter opens its
box in the leaflet, as slides where there is JavaScript (`slides.js`).
"""

from __future__ import annotations

from html import escape

import gallery
from docutils import nodes
from docutils.parsers.rst import directives
from front import PICTURED, chapters
from sphinx.errors import ExtensionError
from sphinx.util.docutils import SphinxDirective

from checked_equations.sphinx.directives import Place, boxes, generated

BOX, LEAFLET = "in-brief", "leaflet"


class InBrief(SphinxDirective):
    """The box of a chapter; ``:equation:`` and ``:picture:`` name what it shows with its words."""

    has_content = True
    option_spec = {  # noqa: RUF012
        "equation": directives.unchanged_required,
        "picture": directives.unchanged_required,
    }

    def run(self):
        missing = sorted(self.option_spec.keys() - self.options.keys())
        if missing:
            raise self.error(f"the box must name its {' and its '.join(missing)}")
        box = nodes.container(classes=[BOX], **self.options)
        self.set_source_info(box)
        self.state.nested_parse(self.content, self.content_offset, box)
        return [box]


class Leaflet(Place):
    """The boxes of all chapters, in the order of the book."""

    what = LEAFLET


def again(app, env):
    """Return the leaflet: it is written again whatever page has changed."""
    return [name for name in env.all_docs if env.metadata.get(name, {}).get(LEAFLET)]


def fill(app, doctree, docname):
    """Fill in the equation and picture of each box, and the boxes of the leaflet."""
    for box in boxes(doctree, BOX):
        complete(app, box, doctree, docname, docname)
    for place in [node for node in doctree.findall(generated) if node["what"] == LEAFLET]:
        place.replace_self([_list(app.env), *_leaves(app, docname)])


def _told(env):
    """Yield the chapters that have a box, with their pages and boxes."""
    for _, some in chapters(env):
        for chapter in some:
            tree = env.get_doctree(chapter.name)
            for box in boxes(tree, BOX):
                yield chapter, tree, box


def _list(env):
    """Return links to all leaves, by the short titles of their chapters."""
    links = nodes.bullet_list(classes=["leaflet-list"])
    for chapter, _, _ in _told(env):
        words = f"{chapter.number} {chapter.short}"
        link = nodes.reference("", words, refid=leaf_id(chapter.name, "leaf"), internal=True)
        links += nodes.list_item("", nodes.paragraph("", "", link))
    return links


def _leaves(app, docname):
    for chapter, tree, box in _told(app.env):
        link = app.builder.get_relative_uri(docname, chapter.name)
        title = nodes.reference("", f"{chapter.number} {chapter.title}", refuri=link)
        leaf = plain(box)
        complete(app, leaf, tree, chapter.name, docname)
        heading = nodes.paragraph("", "", title, ids=[leaf_id(chapter.name, "leaf")])
        yield nodes.container("", heading, leaf, classes=[LEAFLET], ids=[leaf_id(chapter.name)])


def leaf_id(name, shown="slides"):
    """Return the place of a chapter in the leaflet, where its slides open or its leaf stands."""
    return nodes.make_id(f"{shown}-{name.rpartition('/')[2]}")


def plain(box):
    """Return a box for another page, its references as words."""
    leaf = box.deepcopy()
    for link in list(leaf.findall(lambda node: node.tagname == "pending_xref")):
        link.replace_self(nodes.Text(link.astext()))
    return leaf


def complete(app, box, tree, home, docname):
    """Put the equation, from the page `home`, before the last words of a box, and its picture."""
    address = "" if home == docname else app.builder.get_relative_uri(docname, home)
    box.insert(len(box) - 1, [_equation(app.env, box, tree, address, home)])
    box.insert(0, _picture(app, box, tree, address, home, docname))


def _equation(env, box, tree, address, home):
    label = box["equation"]
    shown = [one for one in tree.findall(nodes.math_block) if one.get("label") == label]
    if not shown:
        raise ExtensionError(f"{home}: the box in brief names {label}, which the page has not")
    latex = shown[0].astext()
    math = nodes.math_block(latex, latex, nowrap=False, number=None, label=None)
    anchor = f"{address}#{nodes.make_id(f'equation-{label}')}"
    link = nodes.reference("", gallery.number(env, label), refuri=anchor, internal=True)
    return nodes.container("", math, nodes.paragraph("", "", link), classes=["in-brief-equation"])


def _picture(app, box, tree, address, home, docname):
    name = nodes.make_id(box["picture"])
    found = [one for one in gallery.figures_of(app.env, home) if one.name == name]
    if not found:
        raise ExtensionError(f"{home}: the box in brief names {name}, which the page has not")
    drawn = gallery.picture(app, docname, home, found[0])
    whole = f' data-whole="{file}"' if (file := _file(app.env, tree, name, docname)) else ""
    link = f'<a class="in-brief-picture" href="{escape(address)}#{name}"{whole}>{drawn}</a>'
    return nodes.raw("", link, format="html")


def _file(env, tree, name, docname):
    """Return the address of the file of a figure that a cell drew, for a slide; else nothing."""
    for figure in tree.findall(nodes.figure):
        images = figure.findall(nodes.image) if name in figure["ids"] else ()
        for file in [env.images[one["uri"]][1] for one in images if one["uri"] in env.images]:
            if file.endswith(".svg"):
                return f"{'../' * docname.count('/')}_images/{file}"
    return ""


def note(app, doctree):
    """Note whether a page shows the leaflet, and the picture of its box."""
    places = (node["what"] for node in doctree.findall(generated))
    known = app.env.metadata[app.env.docname]
    known[LEAFLET] = LEAFLET in places
    for box in boxes(doctree, BOX):
        known[PICTURED] = nodes.make_id(box["picture"])


def offer(app, pagename, templatename, context, doctree):
    """Put a button on the page of a chapter that has a box: its slides."""
    if app.env.metadata.get(pagename, {}).get(PICTURED):
        for leaflet in again(app, app.env):
            url = f"{app.builder.get_relative_uri(pagename, leaflet)}#{leaf_id(pagename)}"
            said = {"tooltip": "This chapter in brief, as slides", "label": "slides-button"}
            button = {"type": "link", "url": url, "icon": "fas fa-slides", **said}
            context.setdefault("header_buttons", []).insert(0, button)  # menus keep their places


def setup(app):
    app.add_directive(BOX, InBrief)
    app.add_directive(LEAFLET, Leaflet)
    app.connect("doctree-read", note)
    app.connect("env-updated", again)
    app.connect("html-page-context", offer, priority=600)  # after the theme has made its buttons
    app.connect("doctree-resolved", fill, priority=389)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
