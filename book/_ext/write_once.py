"""Results that Sphinx computes again for every page, computed once.

The pages of one folder have the same contents at their side, in which the page is marked that one
is on, or the overview of a page that describes functions and classes: no contents name it. A
numbered reference looks into the pages that it points to, and each look would read such a page from
the disk. And each citation looks through all that is installed for the style of its reference.
"""

import functools
from functools import partial
from pathlib import Path

import pybtex.plugin
from sphinx.domains.std import StandardDomain


class Kept:
    """An environment that reads a page once, for those who only look into it."""

    def __init__(self, env):
        self._env = env
        self.get_doctree = functools.cache(env.get_doctree)

    def __getattr__(self, name):
        return getattr(self._env, name)


class References(StandardDomain):
    """Sphinx's own, which looks for the number of a figure in the page of the figure."""

    @functools.cached_property
    def _kept(self):
        return Kept(self.env)

    def resolve_xref(self, env, *told):
        """Resolve as Sphinx does; a page that is looked into is read once."""
        return super().resolve_xref(self._kept if env is self.env else env, *told)


class Side:
    """The contents at the side of the pages of a folder; the template keeps what it made."""

    text = ""

    def keep(self, text):
        self.text = text
        return ""

    def marked(self, link, here):
        """Return the same for a page to which this link leads, from which it leads nowhere."""
        plain = f'"><a class="reference internal" href="{link}">'
        return self.text.replace(
            plain, f' current active"><a class="current reference internal" href="{here}">'
        )


def share_contents(app, pagename, templatename, context, doctree):
    """Share the contents at the side of a page with all pages of its folder."""
    if doctree is None or pagename == app.config.root_doc:
        return
    room = getattr(app, "api_rooms", {}).get(pagename)
    folder = pagename[: pagename.rfind("/") + 1]
    link = app.builder.get_relative_uri(pagename, room.overviews[0] if room else pagename)
    link = link or Path(app.builder.get_target_uri(pagename)).name
    side = vars(app.builder).setdefault("sides", {}).setdefault(folder, Side())
    # those of no page, in which none is marked
    context["toctree"] = partial(app.builder._get_local_toctree, folder)
    context["side"] = side
    context["mark_side"] = partial(side.marked, link, link if room else "#")


@functools.cache
def find_plugin(*asked, **named):
    """Return the plugin that pybtex finds; each citation asks for the same, 7 ms a time."""
    return _find_plugin(*asked, **named)


_find_plugin = pybtex.plugin.find_plugin


def setup(app):
    pybtex.plugin.find_plugin = find_plugin
    app.add_domain(References, override=True)
    app.connect("html-page-context", share_contents, priority=100)  # before the theme asks
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
