"""A warning for each sentence of a claim that breaks a rule of this book (`gpnotes_book`).

The cells of a page do not run again where its words alone have changed; so the words are read here.
"""

from sphinx.util import logging

from checked_equations.sphinx.build import book_of
from gpnotes_book.sentence_rules import page_faults

logger = logging.getLogger(__name__)


def judge(app, env):
    """Warn of the sentences that say more than was found out."""
    for docname, page in book_of(env).pages.items():
        for line, fault in () if page.failures else page_faults(page):
            logger.warning(fault, location=(docname, line or None), type="equations")


def setup(app):
    app.connect("env-check-consistency", judge)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
