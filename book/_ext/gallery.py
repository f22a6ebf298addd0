"""The gallery: every figure of the book, small, with what it shows, its call and the way to it.

All of it comes from the chapters: numbers and captions from the pages, calls from the cells, small
pictures from what the cells drew when they ran. `{gallery}` leaves the place.
"""

from __future__ import annotations

import base64
import io
import re
from dataclasses import dataclass
from html import escape
from pathlib import Path

from docutils import nodes
from figure_calls import calls_before
from PIL import Image
from sphinx import addnodes
from take_away import executed

from checked_equations.sphinx.directives import Place, generated

WHAT = "gallery"
KEPT = "book_figures"  # of a page, among what Sphinx knows of it
SHORT = 20  # characters: a sentence that is shorter is a title, as *The answer.*
THUMBS = "_images/small"
WIDEST, HIGHEST = 264, 158  # pixels
QUALITY = 40  # of WebP: three kilobytes a picture, or all would weigh more than a page may
MARK = "<!--{}-->"
FORMULA = '<span class="math notranslate nohighlight">\\({}\\)</span>'
PICTURE = (
    '<img class="book-picture dark-light" src="{}" alt="{}" loading="lazy" width={} height={}>'
)


class Gallery(Place):
    """``{gallery}``: all figures of the book, by part and chapter."""

    what = WHAT

    def run(self):
        """The place, on a page whose captions have formulas."""
        self.env.get_domain("math").data["has_equations"][self.env.docname] = True
        return super().run()


@dataclass(frozen=True)
class Figure:
    """A figure of a chapter, as its page has it."""

    name: str
    said: str  # the first sentence of the caption, as HTML
    alt: str


def note(app, doctree):
    """A page is read: its figures, in their order."""
    figures = [_figure(node) for node in doctree.findall(nodes.figure) if node["ids"]]
    app.env.metadata[app.env.docname][KEPT] = [figure for figure in figures if figure]


def _figure(node):
    image = next(node.findall(nodes.image), None)
    caption = next(node.findall(nodes.caption), None)
    if image is None or caption is None:
        return None
    return Figure(node["ids"][0], first_sentence(caption), image.get("alt", ""))


def first_sentence(caption):
    """What a caption says first, as HTML, and what comes next where that is a word or two.

    The letter of its first panel is left out, as is one in brackets. What it refers to has no
    number yet and is marked, for `numbered`.
    """
    said, length = [], 0
    for node in caption.findall(lambda one: isinstance(one, nodes.math | nodes.Text)):
        if isinstance(node, nodes.math):
            said.append(FORMULA.format(escape(node.astext())))
        elif isinstance(node.parent, nodes.strong) and len(node.strip()) == 1:
            if length > SHORT and not said[-1].endswith("("):
                break  # the next panel
        elif (link := _link(node)) is not None:
            said.append(MARK.format(link["reftarget"]))
        elif not isinstance(node.parent, nodes.math):
            text = str(node)
            if text.startswith(")") and said and said[-1].endswith("("):
                said[-1], text = said[-1][:-1].rstrip(), text[1:]  # the letter stood alone
            parts = re.split(r"(?<=\.)(?=\s)", text)
            for part in parts:
                said.append(escape(part))
                length += len(part)
                if length > SHORT and part.endswith(".") and part is not parts[-1]:
                    return "".join(said).strip().rstrip(".")
    return "".join(said).strip().rstrip(".;:,")


def _link(node):
    """What a text refers to by its name, which is all that it says."""
    above = (node.parent, node.parent.parent)
    links = (one for one in above if isinstance(one, addnodes.pending_xref))
    kinds = ("numref", "eq")
    named = (one for one in links if one["reftype"] in kinds and one["reftarget"] == str(node))
    return next(named, None)


def numbered(env, said):
    """A sentence with the numbers of the figures and equations that it refers to."""
    return re.sub(MARK.format("(.*?)"), lambda match: number(env, match[1]), said)


def number(env, target):
    math = env.get_domain("math").equations.get(target)
    if math:
        docname, name = math[0], nodes.make_id(f"equation-{target}")
        form, kind = "({})", "displaymath"
    else:
        docname, name = env.get_domain("std").anonlabels[target]
        form, kind = "Fig. {}", "figure"
    return form.format(".".join(map(str, env.toc_fignumbers[docname][kind][name])))


def again(app, env):
    """Whatever page has changed, the gallery is written again."""
    return [name for name in env.all_docs if env.metadata.get(name, {}).get(WHAT)]


def fill(app, doctree, docname):
    """All is known: the figures, part by part."""
    for place in [node for node in doctree.findall(generated) if node["what"] == WHAT]:
        parts = parts_of(app.env)
        shown = [_part(app, docname, *part) for part in parts]
        place.replace_self(nodes.raw("", _ways(parts) + "".join(shown), format="html"))


def _ways(parts):
    """Links to the parts: the list beside the page knows only what the text says."""
    links = (f'<a href="#{_anchor(title)}">{escape(title)}</a>' for title, _ in parts if title)
    return f"<p>{' · '.join(links)}</p>"


def _anchor(title):
    return f"gallery-{nodes.make_id(title)}"


def parts_of(env):
    """The parts of the book with the pages of each that have figures."""
    root = env.get_doctree(env.config.root_doc)
    found = [("The first page", [env.config.root_doc])]
    for part in root.findall(addnodes.toctree):
        found.append((part.get("caption") or "", [name for _, name in part["entries"]]))
    figured = ((title, [name for name in names if figures_of(env, name)]) for title, names in found)
    return [(title, names) for title, names in figured if names]


def _part(app, docname, title, names):
    head = f'<h2 id="{_anchor(title)}">{escape(title)}</h2>' if title else ""
    return head + "".join(_page(app, docname, name) for name in names)


def _page(app, docname, name):
    address = app.builder.get_relative_uri(docname, name)
    title = app.env.titles[name].astext()
    drawn = _drawn(app, name)
    figures = figures_of(app.env, name)
    cards = [_card(app, docname, name, figure, drawn.get(figure.name)) for figure in figures]
    head = f'<h3><a class="reference internal" href="{address}">{escape(title)}</a></h3>'
    return f'{head}<ul class="book-gallery">{"".join(cards)}</ul>'


def figures_of(env, name):
    """The figures of a page, in their order."""
    return env.metadata.get(name, {}).get(KEPT, [])


def picture(app, docname, name, figure):
    """The small picture of a figure of another page; nothing where no cell draws it."""
    png, _ = _drawn(app, name).get(figure.name, ("", []))
    return _small(app, docname, figure, png) if png else ""


def _drawn(app, name):
    """Of each figure that a cell draws: its PNG, and the code of the page down to it."""
    if not app.env.metadata.get(name, {}).get("kernelspec"):
        return {}
    cells = list(executed(app, name).values())
    found = {}
    for i, cell in enumerate(cells):
        options = cell.metadata.get("mystnb", {}).get("figure", {})
        shown = [one.get("data", {}) for one in cell.outputs]
        images = [data["image/png"] for data in shown if "image/png" in data]
        if "name" in options and images:
            code = [one.source for one in cells[: i + 1]]
            found[nodes.make_id(options["name"])] = images[0], code
    return found


def _card(app, docname, name, figure, drawn):
    address = f"{app.builder.get_relative_uri(docname, name)}#{figure.name}"
    numbers = app.env.toc_fignumbers.get(name, {}).get("figure", {}).get(figure.name, ())
    number = ".".join(map(str, numbers))
    png, code = drawn or ("", [])
    shown = _small(app, docname, figure, png) if png else ""
    said = f"<b>{number}</b> {numbered(app.env, figure.said)}"
    calls = "".join(_call(app, docname, call) for call in calls_before(code))
    return f'<li><a href="{address}">{shown}<span>{said}</span></a>{calls}</li>'


def _call(app, docname, call):
    """The call, which leads to its description."""
    entry = app.env.get_domain("py").objects.get(call.target)
    code = f"<code>{escape(call.text)}</code>"
    if entry is None:
        return code
    where = f"{app.builder.get_relative_uri(docname, entry.docname)}#{entry.node_id}"
    return f'<a class="book-call" href="{where}" title="{call.target}">{code}</a>'


def _small(app, docname, figure, png):
    """A small picture of what was drawn, beside the other images, and its element."""
    image = Image.open(io.BytesIO(base64.b64decode(png))).convert("RGBA")
    sheet = Image.new("RGBA", image.size, "white")
    sheet.alpha_composite(image)
    small = sheet.convert("RGB")
    small.thumbnail((WIDEST, HIGHEST), Image.Resampling.LANCZOS)
    path = Path(app.outdir) / THUMBS / f"{figure.name}.webp"
    path.parent.mkdir(parents=True, exist_ok=True)
    small.save(path, "WEBP", quality=QUALITY, method=6)
    up = "../" * docname.count("/")
    return PICTURE.format(f"{up}{THUMBS}/{path.name}", escape(figure.alt), *small.size)


def setup(app):
    app.add_directive("gallery", Gallery)
    app.connect("doctree-read", note)
    app.connect("env-updated", again)
    app.connect("doctree-resolved", fill, priority=390)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
