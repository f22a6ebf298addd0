"""What Sphinx finds out again for every page, found out once.

Most pages of the site are modules of the package, which no contents name: where they lie equally
deep their sidebars are the same. A numbered reference looks into the pages that it points to, and
each look would read such a page from the disk.
"""

import functools

from sphinx.domains.std import StandardDomain

MODULES = "_modules/"


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


def share_contents(app, pagename, templatename, context, doctree):
    """A page is written: a module has the contents at its side that all have which lie as deep."""
    if not pagename.startswith(MODULES):
        return
    make = context["toctree"]
    known = vars(app.builder).setdefault("contents_of_modules", {})

    def shared(**options):
        key = (pagename.count("/"), *sorted(options.items()))
        if key not in known:
            known[key] = make(**options)
        return known[key]

    context["toctree"] = shared


def setup(app):
    app.add_domain(References, override=True)
    app.connect("html-page-context", share_contents, priority=100)  # before the theme asks
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
