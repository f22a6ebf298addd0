"""Addresses of the site and its repository: one setting, empty until they have some.

    site_address:
      pages: https://somebody.github.io/gpnotes/
      repository: https://github.com/somebody/gpnotes
      branch: main
      lite: true

`pages` switches on canonical links, what other sites show of a link (Open Graph), `sitemap.xml`,
`404.html` and the address in the entry for a bibliography; `repository`, on GitHub, buttons that
lead to the source of a page, its edit, a form for a slip and, for a chapter, to Binder and to
Colab, which opens the notebooks that ``pages.yml`` puts on a branch of their own; `lite`, one to
JupyterLite beside the pages, which `make lite` puts there. Empty, no page names another host. Each
page describes itself by its first paragraph either way, unless another extension says what it is
about.
"""

import re
import shutil
from html import escape
from pathlib import Path
from urllib.parse import quote, urlencode

from docutils import nodes
from sphinx.errors import ConfigError

EMPTY = {"pages": "", "repository": "", "branch": "main", "lite": False}
NOTEBOOKS = "notebooks"  # the branch
SITE = re.compile(r"https?://[^\s/]+(/[^\s?#]*)?")
GITHUB = "https://github.com/owner/name"
REPOSITORY = re.compile(r"https://github\.com/[\w.-]+/[\w.-]+")
CARD = "card.png"
LONG, SHORT = 200, 40  # characters: more is cut by whoever shows it, less says little
LOST = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta name="robots" content="noindex"><title>Not here - {title}</title>
<style>body {{ font: 1.1rem/1.6 sans-serif; max-width: 34rem; margin: 20vh auto; }}</style>
</head><body><h1>There is no such page</h1>
<p>It may have moved. <a href="{search}">Search the book</a>, or <a href="{home}">begin at its
first page</a>.</p></body></html>
"""


def validate(app, config):
    """Read the setting, and tell Sphinx where the pages will be."""
    given = config.site_address
    if not isinstance(given, dict) or not given.keys() <= EMPTY.keys():
        raise ConfigError(f"site_address may have {', '.join(EMPTY)}; got {given!r}")
    known = {name: given.get(name) or empty for name, empty in EMPTY.items()}
    for name, form, such in (("pages", SITE, "https://host/"), ("repository", REPOSITORY, GITHUB)):
        if known[name] and not form.fullmatch(known[name].rstrip("/")):
            raise ConfigError(f"site_address.{name} must be like {such}; got {known[name]!r}")
        known[name] = known[name].rstrip("/")
    if known["lite"] not in (True, False) or (known["lite"] and not known["pages"]):
        raise ConfigError("site_address.lite must be true or false, and needs site_address.pages")
    config.site_address = known
    config.html_baseurl = f"{known['pages']}/" if known["pages"] else ""


def description(doctree):
    """Return the first paragraph in the text of a page that is not empty and has no formula."""
    for paragraph in doctree.findall(nodes.paragraph) if doctree else ():
        text = " ".join(paragraph.astext().split())
        formula = "\\" in text or any(paragraph.findall(nodes.math))
        if isinstance(paragraph.parent, nodes.section) and len(text) >= SHORT and not formula:
            return shortened(text)
    return None


def shortened(text):
    """Return as many whole sentences as there is room for, else words and three dots."""
    if len(text) <= LONG:
        return text
    sentences = re.match(rf"(.{{{SHORT},{LONG - 1}}}[.?!])(?= )", text)
    return sentences[1] if sentences else f"{text[: LONG - 2].rsplit(' ', 1)[0]} …"


def page(app, pagename, templatename, context, doctree):
    """Add to a page its description and its links."""
    known = app.config.site_address
    context["page_description"] = context.get("said_of_page") or description(doctree)
    if known["pages"]:
        context["site_card"] = f"{known['pages']}/_static/{CARD}"
    if known["repository"]:
        context["slip_address"] = slip(known, app.config.version, pagename, context)
        if doctree is not None:
            source = app.env.doc2path(pagename, base=False)
            chapter = "kernelspec" in app.env.metadata.get(pagename, {})
            buttons = buttons_of(known, source, chapter, context["slip_address"])
            context.setdefault("header_buttons", []).append(buttons)


def slip(known, version, pagename, context):
    """Return the form for a slip, which knows the page and the version."""
    title = re.sub(r"<[^>]*>", "", context.get("title") or pagename)
    where = {"template": "slip.yml", "where": f"{title} ({pagename})", "version": version}
    return f"{known['repository']}/issues/new?{urlencode(where)}"


def buttons_of(known, source, chapter, slip_address):
    """Return links to the source of a page, its edit, the form, and to where a chapter runs."""
    repository, branch = known["repository"], quote(known["branch"], safe="")
    links = [
        ("Source of this page", f"{repository}/blob/{branch}/{source}?plain=1", "fas fa-code"),
        ("Suggest a change", f"{repository}/edit/{branch}/{source}", "fas fa-pencil"),
        ("Report a slip", slip_address, "fas fa-info"),
    ]
    if chapter:
        name = repository.removeprefix("https://github.com/")
        notebook = f"{Path(source).with_suffix('')}.ipynb"
        places = {
            "Run on Binder": f"https://mybinder.org/v2/gh/{name}/{branch}?urlpath=lab/tree/{source}",
            "Open in Colab": f"https://colab.research.google.com/github/{name}/blob/{NOTEBOOKS}/{notebook}",
        }
        if known["lite"]:
            places["Run in this browser"] = f"{known['pages']}/lite/lab/index.html?path={notebook}"
        links += [(text, url, "fas fa-arrow-right-to-bracket") for text, url in places.items()]
    buttons = [
        {"type": "link", "text": text, "url": url, "icon": icon} for text, url, icon in links
    ]
    said = {"tooltip": "This page in its repository", "label": "source-buttons"}
    return {"type": "group", "icon": "fas fa-code", "buttons": buttons, **said}


def cited(app, doctree, docname):
    """Add the address of the book, if it has one, to its entry for a bibliography."""
    pages = app.config.site_address["pages"]
    for block in list(doctree.findall(nodes.literal_block)) if pages else ():
        text = block.astext().rstrip()
        if block.get("language") == "bibtex":
            said = f"{text.removesuffix('}').rstrip()},\n  url     = {{{pages}/}}\n}}"
            block.replace_self(nodes.literal_block(said, said, **block.attributes))


def finish(app, exception):
    """Write the files that a site has once, or none where there is no site."""
    if exception or app.builder.format != "html":
        return
    target, site = Path(app.outdir), app.config.site_address["pages"]
    for name in ("sitemap.xml", "404.html", f"_static/{CARD}"):
        (target / name).unlink(missing_ok=True)
    if not site:
        return
    uris = [f"{site}/{app.builder.get_target_uri(name)}" for name in sorted(app.env.found_docs)]
    (target / "sitemap.xml").write_text(sitemap(uris), encoding="utf-8")
    home, search = (
        f"{site}/{app.builder.get_target_uri(x)}" for x in (app.config.root_doc, "search")
    )
    lost = LOST.format(
        title=escape(app.config.html_title), home=escape(home), search=escape(search)
    )
    (target / "404.html").write_text(lost, encoding="utf-8")
    card = Path(app.srcdir) / "book" / CARD
    if card.exists():
        shutil.copyfile(card, target / "_static" / CARD)


def sitemap(uris):
    """Return the sitemap."""
    lines = "".join(f"<url><loc>{escape(uri)}</loc></url>\n" for uri in uris)
    head = '<?xml version="1.0" encoding="UTF-8"?>\n'
    return f'{head}<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n{lines}</urlset>\n'


def setup(app):
    app.add_config_value("site_address", EMPTY, "html", dict)
    app.connect("config-inited", validate)
    app.connect("html-page-context", page, priority=600)  # after the theme has made its buttons
    app.connect("doctree-resolved", cited)
    app.connect("build-finished", finish, priority=950)  # after pages that are gone were removed
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
