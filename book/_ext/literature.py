"""The role of a figure that the literature gives: ``{literature}`` with ``199 <key>`` as its text.

It shows the figure and, behind it, where it stands. Without a key it is refused here, and a key
that is not in the bibliography by what makes the citation; so a number in prose that no cell has
computed always says whose it is.
"""

import re

from docutils import nodes
from sphinx.util.docutils import SphinxRole

WRITTEN = re.compile(r"(?P<figure>[^<>]*\S)\s*<(?P<key>[\w:.-]+)>", re.DOTALL)


class Literature(SphinxRole):
    """A figure and its citation in brackets."""

    def run(self):
        written = WRITTEN.fullmatch(self.text.strip())
        if written is None:
            said = f"literature wants a figure and a key, as in 199 <key>; got {self.text!r}"
            problem = self.inliner.reporter.error(said, line=self.lineno)
            return [nodes.problematic(self.rawtext, self.rawtext)], [problem]
        figure = nodes.inline(written["figure"], written["figure"], classes=["literature"])
        cited, messages = self.citation(written["key"])
        return [figure, nodes.Text("\N{NO-BREAK SPACE}"), *cited], messages

    def citation(self, key):
        """Return the nodes that the role `cite:p` makes of `key`."""
        cite = self.env.get_domain("cite").role("p")
        return cite("cite:p", f":cite:p:`{key}`", key, self.lineno, self.inliner)


def setup(app):
    app.add_role("literature", Literature())
    return {"parallel_read_safe": True, "parallel_write_safe": True}
