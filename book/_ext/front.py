"""The first page: a card for each chapter, and a map of which chapter needs which.

Both come from the chapters: the question from the title, the picture from the box in brief, what a
chapter needs from the links in the first sentence of its *What you need*. `{chapter-cards}` and
`{chapter-map}` leave the places.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import partial
from html import escape

import gallery
from docutils import nodes
from sphinx import addnodes

from checked_equations.sphinx.directives import Place, generated

CARDS, MAP = "chapter-cards", "chapter-map"
KEPT, PICTURED = "book_needs", "book_card"  # of a page, among what Sphinx knows of it
NEEDS = "What you need"
STOP = re.compile(r"\.\s")
APPENDIX = "book/foundations/probability"  # looked up, not read first
WIDE, HIGH, GAP, STEP = 190, 24, 50, 31  # pixels: a box of the map, and what lies between two


class Cards(Place):
    """``{chapter-cards}``: the chapters by part, each with its question."""

    what = CARDS


class Map(Place):
    """``{chapter-map}``: which chapter needs which."""

    what = MAP


@dataclass(frozen=True)
class Chapter:
    """A numbered page, as the first page tells of it."""

    name: str
    number: str
    short: str
    title: str
    needs: tuple[str, ...]

    @property
    def question(self):
        """The part of its title after the colon, or the title if it has none."""
        said = self.title.partition(": ")[2] or self.title
        return said[0].upper() + said[1:]


def note(app, doctree):
    """Collect the pages and labels to which the first sentence of a page's needs leads."""
    for paragraph in doctree.findall(nodes.paragraph):
        if paragraph.astext().startswith(NEEDS):
            app.env.metadata[app.env.docname][KEPT] = list(_links(paragraph))
            return


def _links(paragraph):
    """Yield the references up to the first full stop."""
    said = ""
    for node in paragraph.children:
        if isinstance(node, addnodes.pending_xref) and not STOP.search(said):
            yield node["reftype"], node["reftarget"]
        said += node.astext()


def again(app, env):
    """Return the first page: it is written again whatever page has changed."""
    return [env.config.root_doc]


def chapters(env):
    """Yield the parts of the book with their chapters, as the contents have them."""
    root = env.get_doctree(env.config.root_doc)
    for part in root.findall(addnodes.toctree):
        numbered = [one for one in part["entries"] if _number(env, one[1])]
        if numbered:
            yield part.get("caption") or "", [_chapter(env, *one) for one in numbered]


def _number(env, name):
    return ".".join(map(str, env.toc_secnumbers.get(name, {}).get("", None) or ()))


def _chapter(env, short, name):
    title = env.titles[name].astext()
    needs = (_page(env, name, *link) for link in env.metadata.get(name, {}).get(KEPT, ()))
    kept = tuple(dict.fromkeys(one for one in needs if one not in ("", name, APPENDIX)))
    return Chapter(name, _number(env, name), short or title, title, kept)


def _page(env, name, kind, target):
    """Return the page to which a link of a page leads."""
    if kind == "doc":
        return env.relfn2path(target, name)[0].removesuffix(".md")
    return env.get_domain("std").labels.get(target.lower(), ("",))[0]


def fill(app, doctree, docname):
    """Fill in the cards and the map, once all is known."""
    for place in list(doctree.findall(generated)):
        if place["what"] == CARDS:
            parts = (_part(app, docname, *part) for part in chapters(app.env))
            place.replace_self(nodes.raw("", "".join(parts), format="html"))
        elif place["what"] == MAP:
            every = [one for _, some in chapters(app.env) for one in some]
            told = [one for one in every if KEPT in app.env.metadata.get(one.name, ())]
            map_ = chart(told, partial(app.builder.get_relative_uri, docname))
            place.replace_self(nodes.raw("", map_, format="html"))


def _part(app, docname, title, some):
    cards = "".join(_card(app, docname, one) for one in some)
    return f'<p class="book-part">{escape(title)}</p><ul class="book-cards">{cards}</ul>'


def _card(app, docname, one):
    """Return the card of a chapter: a readable panel of its picture, name and question."""
    figures = gallery.figures_of(app.env, one.name)
    brief = app.env.metadata[one.name].get(PICTURED)
    chosen = [figure for figure in figures if figure.name == brief] or figures
    shown = "".join(
        gallery.picture(app, docname, one.name, figure, panel=1) for figure in chosen[:1]
    )
    name = f"<b>{one.number} {escape(one.short)}</b>"
    question = "" if one.question == one.short else f"<span>{escape(one.question)}</span>"
    address = app.builder.get_relative_uri(docname, one.name)
    return f'<li><a href="{address}">{shown}{name}{question}</a></li>'


def chart(every, address):
    """Return the map as SVG: a column for each depth, a curve for each need."""
    if not every:  # a book of a few pages, made to look at them
        return ""
    above = {one.name: reduced(one.name, {one.name: one.needs for one in every}) for one in every}
    at = _places(above)
    ways = "".join(_way(at[need], at[name]) for name in above for need in above[name])
    boxes = "".join(_box(one, at[one.name], address(one.name)) for one in every)
    right, low = (max(ends) for ends in zip(*at.values(), strict=True))
    width, height = right + WIDE + 2, round(low) + HIGH + 2
    size = f'viewBox="-1 -1 {width} {height}" width="{width}" height="{height}"'
    head = '<svg role="group" aria-label="Which chapter needs which; the same follows in words."'
    said = "".join(_said(one, above[one.name], every) for one in every)
    drawn = f'<div class="book-map">{head} {size}>{ways}{boxes}</svg></div>'
    return f"{drawn}<details><summary>In words</summary><ul>{said}</ul></details>"


def _places(above):
    """Return the place of each box: in the column of its depth, near to its neighbours.

    The widest column has its boxes in the order of the book; those before and after it follow.
    """
    columns = {}
    for name in above:
        columns.setdefault(_depth(name, above), []).append(name)
    widest = max(columns, key=lambda depth: len(columns[depth]))
    below = {name: [one for one in above if name in above[one]] for name in above}
    height = {name: i * STEP for i, name in enumerate(columns[widest])}
    for depth in (*range(widest + 1, len(columns)), *range(widest - 1, -1, -1)):
        ties = above if depth > widest else below
        wanted = {name: _middle(height, ties[name]) for name in columns[depth]}
        free = 0
        for name in sorted(wanted, key=wanted.get):
            height[name] = max(free, wanted[name])
            free = height[name] + STEP
    return {name: (_depth(name, above) * (WIDE + GAP), height[name]) for name in above}


def _middle(height, names):
    """Return the middle of the boxes among these that have a place."""
    placed = [height[name] for name in names if name in height]
    return sum(placed) / len(placed) if placed else 0


def reduced(name, needs):
    """Return the needs of a chapter, less those that follow from others."""
    known = [need for need in needs[name] if need in needs]
    implied, waiting = set(), list(known)
    while waiting:
        new = set(needs.get(waiting.pop(), ())) - implied
        implied |= new
        waiting += new
    return tuple(need for need in known if need not in implied)


def _depth(name, above):
    return 1 + max((_depth(need, above) for need in above[name]), default=-1)


def _way(start, end):
    (x, y), (u, v) = (start[0] + WIDE, start[1] + HIGH / 2), (end[0], end[1] + HIGH / 2)
    middle = u - GAP / 2
    return (
        f'<path d="M{x} {y:.0f}L{u - GAP} {y:.0f}C{middle} {y:.0f} {middle} {v:.0f} {u} {v:.0f}"/>'
    )


def _box(one, at, address):
    (x, y), label = at, escape(f"{one.number} {one.short}")
    box = f'<rect x="{x}" y="{y:.0f}" width="{WIDE}" height="{HIGH}" rx="4"/>'
    return f'<a href="{address}">{box}<text x="{x + 7}" y="{y + HIGH - 7:.0f}">{label}</text></a>'


def _said(one, needs, every):
    named = {other.name: other.short for other in every}
    after = " and ".join(named[need] for need in needs)
    return f"<li>{escape(one.short)}{f' after {escape(after)}' if after else ''}</li>"


def setup(app):
    app.add_directive(CARDS, Cards)
    app.add_directive(MAP, Map)
    app.connect("doctree-read", note)
    app.connect("env-updated", again)
    app.connect("doctree-resolved", fill, priority=391)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
