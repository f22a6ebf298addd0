"""The gallery: figures of the book by what a reader wants, small, each with its calls and the way.

All of it comes from the chapters: numbers and captions from the pages, calls from the cells, small
pictures from what the cells drew when they ran. `{gallery}` leaves a place for the figures that it
names, one in a line, `fig-fv-kernels/6` for the sixth panel of one; without a name it is for those
that no other place has, folded chapter by chapter.
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
from panels import panels
from PIL import Image
from sphinx import addnodes
from sphinx.util import logging
from take_away import executed

from checked_equations.sphinx.directives import Place, generated

LOG = logging.getLogger(__name__)
WHAT = "gallery"
KEPT = "book_figures"  # of a page, among what Sphinx knows of it
SHORT = 20  # characters: a sentence that is shorter is a title, as *The answer.*
LEAD = 40  # characters before the first letter, with which any panel may begin
THUMBS = "_images/small"
WIDEST, HIGHEST = 264, 158  # pixels, of a whole figure
BROAD, HIGH = 336, 240  # of a figure, or one of its panels, that stands for a task
QUALITY = 23  # of WebP: under three kilobytes a picture, or all would weigh more than a page may
MARK = "<!--{}-->"
FORMULA = '<span class="math notranslate nohighlight">\\({}\\)</span>'
PICTURE = (
    '<img class="book-picture dark-light" src="{}" alt="{}" loading="lazy" width={} height={}>'
)


class Gallery(Place):
    """``{gallery}``: the figures that it names, or all others by chapter."""

    what = WHAT
    has_content = True

    def run(self):
        """Return the place, with what it names."""
        (place,) = super().run()
        place["named"] = [line.strip() for line in self.content if line.strip()]
        return [place]


@dataclass(frozen=True)
class Figure:
    """A figure of a chapter, as its page has it."""

    name: str
    said: str  # the first sentence of the caption, as HTML
    alt: str
    panels: tuple[str, ...] = ()  # what it says of each panel first

    def of(self, panel):
        """Return the part of the caption on a panel, or on the whole."""
        return self.panels[panel - 1] if 0 < panel <= len(self.panels) else self.said


def note(app, doctree):
    """Collect the figures of a page, in their order."""
    figures = [_figure(node) for node in doctree.findall(nodes.figure) if node["ids"]]
    app.env.metadata[app.env.docname][KEPT] = [figure for figure in figures if figure]


def _figure(node):
    image = next(node.findall(nodes.image), None)
    caption = next(node.findall(nodes.caption), None)
    if image is None or caption is None:
        return None
    told = [first_sentence(caption, panel) for panel in range(1 + len(_letters(_words(caption))))]
    return Figure(node["ids"][0], told[0], image.get("alt", ""), tuple(told[1:]))


def _words(caption):
    """Return the texts and formulas of a caption, in their order."""
    return list(caption.findall(lambda one: isinstance(one, nodes.math | nodes.Text)))


def _letters(words):
    """Return the places where letters of panels stand by themselves, outside brackets."""
    told = [node.astext() for node in words]
    strong = (i for i, node in enumerate(words) if isinstance(node.parent, nodes.strong))
    return [
        i for i in strong if len(told[i].strip()) == 1 and not told[max(i - 1, 0)].endswith("(")
    ]


def _of_panel(words, panel):
    """Return the words before the first letter, and those from the letter of a panel on."""
    letters = _letters(words)
    if panel < 2 or sum(len(node.astext()) for node in words[: letters[0]]) > LEAD:
        return words
    start = letters[panel - 1]
    while start + 2 in letters and not words[start + 1].astext().strip(" ,"):
        start += 2  # a letter that shares its words with the next
    return words[: letters[0]] + words[start:]


def first_sentence(caption, panel=0):
    """Return the first sentence of a caption as HTML, and the next if it has a word or two.

    Of a panel other than the first it is what stands behind its letter, if little comes before all.

    The letter of its first panel is left out, as is one in brackets. What it refers to has no
    number yet and is marked, for `numbered`.
    """
    said, length = [], 0
    for node in _of_panel(_words(caption), panel):
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
    """Return the target of a text that is a name and nothing else."""
    above = (node.parent, node.parent.parent)
    links = (one for one in above if isinstance(one, addnodes.pending_xref))
    kinds = ("numref", "eq")
    named = (one for one in links if one["reftype"] in kinds and one["reftarget"] == str(node))
    return next(named, None)


def numbered(env, said):
    """Return a sentence with the numbers of its figures and equations."""
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
    """Return the gallery: it is written again whatever page has changed."""
    return [name for name in env.all_docs if env.metadata.get(name, {}).get(WHAT)]


def fill(app, doctree, docname):
    """Fill in the figures of each task, and then the others, once all is known."""
    places = [node for node in doctree.findall(generated) if node["what"] == WHAT]
    home = homes(app.env) if places else {}
    told, chosen = [], {entry.partition("/")[0] for one in places for entry in one["named"]}
    for name in sorted(chosen - home.keys()):
        LOG.warning("the gallery names %s, which is no figure", name, location=docname)
    for place in places:
        named = [entry for entry in place["named"] if entry.partition("/")[0] in home]
        if place["named"]:
            cards = (_task(app, docname, *one.partition("/")[::2], home, told) for one in named)
            text = f'<ul class="book-gallery book-tasks">{"".join(cards)}</ul>'
        else:
            text = "".join(_page(app, docname, name, chosen) for name in pages_of(app.env))
        place.replace_self(nodes.raw("", text, format="html"))


def pages_of(env):
    """Return the pages of the book that have figures, in their order."""
    root = env.get_doctree(env.config.root_doc)
    listed = [name for toc in root.findall(addnodes.toctree) for _, name in toc["entries"]]
    return [name for name in (env.config.root_doc, *listed) if figures_of(env, name)]


def homes(env):
    """Return the page and the properties of each figure, by its name."""
    every = ((name, figure) for name in pages_of(env) for figure in figures_of(env, name))
    return {figure.name: (name, figure) for name, figure in every}


def _page(app, docname, name, chosen):
    """Return the figures of a page that stand for no task, folded."""
    drawn = _drawn(app, name)
    figures = [figure for figure in figures_of(app.env, name) if figure.name not in chosen]
    cards = [_card(app, docname, name, one, drawn.get(one.name, ("",))[0]) for one in figures]
    head = f"<summary>{escape(app.env.titles[name].astext())} ({len(cards)})</summary>"
    grid = f'<ul class="book-gallery">{"".join(cards)}</ul>'
    return f'<details class="book-more">{head}{grid}</details>' if cards else ""


def figures_of(env, name):
    """Return the figures of a page, in their order."""
    return env.metadata.get(name, {}).get(KEPT, [])


def picture(app, docname, name, figure, panel=0):
    """Return the small picture of a figure of another page; nothing where no cell draws it."""
    png, _ = _drawn(app, name).get(figure.name, ("", []))
    return _small(app, docname, figure, png, panel) if png else ""


def _drawn(app, name):
    """Return the PNG of each figure that a cell draws, and the code down to it."""
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


def _card(app, docname, name, figure, png, panel=0):
    """Return a figure: its picture, number and caption, each with a link to it."""
    address = f"{app.builder.get_relative_uri(docname, name)}#{figure.name}"
    numbers = app.env.toc_fignumbers.get(name, {}).get("figure", {}).get(figure.name, ())
    number = ".".join(map(str, numbers))
    shown = _small(app, docname, figure, png, panel) if png else ""
    said = f"<b>{number}</b> {numbered(app.env, figure.of(panel))}"
    return f'<li><a href="{address}">{shown}<span>{said}</span></a></li>'


def _task(app, docname, label, panel, home, told):
    """Return the figure of a task, with the calls to copy that stand in none above."""
    name, figure = home[label]
    png, code = _drawn(app, name).get(label, ("", []))
    calls = []
    for call in calls_before(code):
        if not any(call.whole in one for one in told):
            calls.insert(0, call)
            told.append(call.whole)
    lines = "\n".join(_call(app, docname, call) for call in calls)
    block = f'<div><div class="highlight"><pre>{lines}</pre></div></div>' if lines else ""
    card = _card(app, docname, name, figure, png, int(panel or 1))
    return f"{card.removesuffix('</li>')}{block}</li>"


def _call(app, docname, call):
    """Return the call, which leads to its description."""
    entry = app.env.get_domain("py").objects.get(call.target)
    if entry is None:
        return escape(call.whole)
    where = f"{app.builder.get_relative_uri(docname, entry.docname)}#{entry.node_id}"
    return f'<a class="book-call" href="{where}" title="{call.target}">{escape(call.whole)}</a>'


def _small(app, docname, figure, png, panel=0):
    """Return the element of a small picture of a figure or of one panel, and write its file."""
    path = Path(app.outdir) / THUMBS / f"{figure.name}{f'-{panel}' if panel else ''}.webp"
    sizes = vars(app.builder).setdefault("small_pictures", {})
    if path not in sizes:  # the gallery, the chapter and the leaflet show the same
        small = _shrunk(docname, figure, png, panel)
        path.parent.mkdir(parents=True, exist_ok=True)
        small.save(path, "WEBP", quality=QUALITY, method=6)
        sizes[path] = small.size
    up = "../" * docname.count("/")
    return PICTURE.format(f"{up}{THUMBS}/{path.name}", escape(figure.alt), *sizes[path])


def _shrunk(docname, figure, png, panel):
    image = Image.open(io.BytesIO(base64.b64decode(png))).convert("RGBA")
    sheet = Image.new("RGBA", image.size, "white")
    sheet.alpha_composite(image)
    small = sheet.convert("RGB")
    if panel:
        found = panels(small)
        if panel > len(found):
            LOG.warning("the gallery asks for panel %d of %s", panel, figure.name, location=docname)
        small = small.crop(found[min(panel, len(found)) - 1])
    small.thumbnail((BROAD, HIGH) if panel else (WIDEST, HIGHEST), Image.Resampling.LANCZOS)
    return small


def setup(app):
    app.add_directive("gallery", Gallery)
    app.connect("doctree-read", note)
    app.connect("env-updated", again)
    app.connect("doctree-resolved", fill, priority=390)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
