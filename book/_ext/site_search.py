"""The search of the book: sections, not pages; equations by their numbers; things by other names.

Sphinx's own search knows pages alone, and shows no excerpt unless it may fetch them, which a
browser refuses on ``file://``. Here every page leaves its sections in a file beside the build,
and at the end all of them become one script, `_static/search-data.js`, which only the page of
the search loads. `book/names.yml` says what else a thing is called, and where the book has it.
"""

import json
import re
from pathlib import Path

from glossary_page import terms
from search_text import sections
from sphinx.util import logging

from checked_equations.book.settings import read_yaml

logger = logging.getLogger(__name__)

NAMES = "book/names.yml"
SOURCE = re.compile(r'<details class="[^"]*book-source.*?</details>', re.DOTALL)
APART = re.compile(r"(genindex|search|py-modindex)$")


def folder(app):
    """Return the folder in which the pages leave their sections."""
    return Path(app.outdir).parent / "search"


def read(app, pagename, templatename, context, doctree):
    """Keep the sections of a page, and let the page of the search typeset formulas."""
    if APART.match(pagename) or "body" not in context:
        return
    target = folder(app) / f"{pagename}.json"
    target.parent.mkdir(parents=True, exist_ok=True)
    body = SOURCE.sub("", context["body"])
    said = {"title": plain(context.get("title", "")), "sections": sections(body)}
    target.write_text(json.dumps(said, ensure_ascii=False), encoding="utf-8")


def plain(html):
    """Return the text of a title."""
    return re.sub(r"<[^>]*>", "", html).replace("&amp;", "&").strip()


def gather(app):
    """Return the sections of all pages, in the order of the contents."""
    pages = []
    for name in ordered(app.env):
        path = folder(app) / f"{name}.json"
        if path.exists():
            uri = app.builder.get_target_uri(name)
            pages.append({"name": name, "uri": uri, **json.loads(path.read_text("utf-8"))})
    return pages


def ordered(env):
    """Return the documents as the contents have them, then those that no contents name."""
    stack, found = [env.config.root_doc], {}
    while stack:
        name = stack.pop()
        if name not in found:
            found[name] = None
            stack.extend(reversed(env.toctree_includes.get(name, [])))
    return [*found, *sorted(env.found_docs - found.keys())]


def place_of(page, label):
    """Return the section that has a label or an anchor."""
    known = ({*one["labels"], one["anchor"]} for one in page["sections"])
    return next((i for i, names in enumerate(known) if label in names), None)


def also_called(pages, listed):
    """Yield other names, each with the section where the book has the thing."""
    by_name = {page["name"].removeprefix("book/"): i for i, page in enumerate(pages)}
    for entry in listed:
        at = by_name.get(entry["page"])
        section = None if at is None else place_of(pages[at], entry["section"])
        if section is None:
            where = f"{entry['page']}#{entry['section']}"
            logger.info(f"{NAMES}: there is no {where}, to which {entry['names'][0]!r} leads")
        else:
            yield {**entry, "page": at, "section": section}


def defined(source):
    """Yield the terms of the glossary as entries of that list."""
    for term in terms(source):
        names = [term["term"], *term.get("other", [])]
        said = {key: term[key] for key in ("says", "page", "section")}
        yield {"names": names, "here": term["term"], **said}


def called(pages, source):
    """Return all names, those of the glossary first: they lead to derivations."""
    path = Path(source) / NAMES
    listed = read_yaml(path) if path.exists() else []
    return list(also_called(pages, [*defined(source), *listed]))


def no_other_index(app):
    """Leave out Sphinx's own index, which no page loads."""
    for name in ("load_indexer", "index_page", "dump_search_index"):
        setattr(app.builder, name, lambda *told: None)


def write(app, exception):
    """Write one script with all of it at the end of a build."""
    if exception or app.builder.format != "html":
        return
    pages = gather(app)
    data = {"pages": pages, "names": called(pages, app.srcdir)}
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    target = Path(app.outdir) / "_static" / "search-data.js"
    target.write_text(f"window.bookSearch = {text};\n", encoding="utf-8")


def setup(app):
    app.connect("builder-inited", no_other_index)
    app.connect("html-page-context", read, priority=950)
    app.connect("build-finished", write)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
