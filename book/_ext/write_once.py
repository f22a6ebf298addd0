"""What Sphinx finds out again for every page, found out once.

Half of the pages of the site describe functions and classes, and no contents name them: those of
one overview have the same contents at their side, in which the overview is the page one is on. A
numbered reference looks into the pages that it points to, and each look would read such a page from
the disk. And each citation looks through all that is installed for the style of its reference.
"""

import functools
import re

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
        """As before; what is looked into is read once."""
        return super().resolve_xref(self._kept if env is self.env else env, *told)


class Side:
    """The contents at the side of like pages; the template keeps what it made."""

    text = ""

    def keep(self, text):
        self.text = text
        return text


def share_contents(app, pagename, templatename, context, doctree):
    """A page is written: a room has the contents at its side that all have of its overview."""
    room = getattr(app, "api_rooms", {}).get(pagename)
    if room is None:
        return
    make = context["toctree"]
    here = re.escape(app.builder.get_relative_uri(pagename, room.overviews[0]))
    link = re.compile(rf'<li class="([^"]*)"><a class="([^"]*)" (href="{here}")>')

    def marked(**options):
        return link.sub(r'<li class="\1 current"><a class="current \2" \3>', str(make(**options)))

    context["toctree"] = marked
    context["side"] = vars(app.builder).setdefault("sides", {}).setdefault(here, Side())


@functools.cache
def find_plugin(*asked, **named):
    """What pybtex finds, whom each citation asks for the same: without this, 7 ms a time."""
    return _find_plugin(*asked, **named)


_find_plugin = pybtex.plugin.find_plugin


def setup(app):
    pybtex.plugin.find_plugin = find_plugin
    app.add_domain(References, override=True)
    app.connect("html-page-context", share_contents, priority=100)  # before the theme asks
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
