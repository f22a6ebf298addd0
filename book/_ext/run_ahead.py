"""Chapters run in parallel, before Sphinx reads the pages one after the other.

A chapter is a process of its own that mostly computes, and Sphinx waits for each. Here all that
must run are started first, as many at a time as `BOOK_JOBS` says (one for each core, unless it is
set), and what they print goes into the cache from which the pages then take it. A chapter with a
failing cell leaves nothing there; the page runs it again and reports it.
"""

import os
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from honest_cache import folder_of
from jupyter_cache import get_cache
from myst_nb.core.execute import create_client
from myst_nb.core.read import create_nb_reader
from sphinx.util import logging
from warm_kernels import warm_kernels

logger = logging.getLogger(__name__)


class Silent:
    """A logger for what the page will report."""

    def info(self, *_, **__):
        """Say nothing."""

    debug = warning = error = info


def jobs():
    """Return the number of chapters that may run at a time."""
    return int(os.environ.get("BOOK_JOBS") or os.cpu_count() or 1)


def waiting(app, docname):
    """Return the notebook of a page that must run, with its reader and its settings, or nothing."""
    path = app.env.doc2path(docname)
    if not path.endswith(".md"):
        return None
    text = Path(path).read_text(encoding="utf-8")
    folder = folder_of(app, docname, text)
    settings = app.env.mystnb_config.copy(execution_cache_path=str(folder))
    reader = create_nb_reader(path, app.env.myst_config, settings, text)
    notebook = reader.read(text) if reader else None
    if notebook is None or not any(cell.cell_type == "code" for cell in notebook.cells):
        return None
    return None if _known(folder, notebook) else (docname, path, notebook, reader, settings)


def _known(folder, notebook):
    """Return whether the cache has the outputs of a notebook."""
    try:
        get_cache(folder).match_cache_notebook(notebook)
    except KeyError:
        return False
    return True


def run(page):
    """Run one notebook into its cache, and say how it went."""
    docname, path, notebook, reader, settings = page
    start = time.monotonic()
    with create_client(notebook, path, settings, Silent(), reader.read_fmt) as client:
        fine = client.exec_metadata["succeeded"]
    return docname, time.monotonic() - start, fine


def run_ahead(app, env, docnames):
    """Run the chapters that are not in the cache, before the pages are read."""
    pages = [page for page in (waiting(app, name) for name in docnames) if page]
    if len(pages) < 2 or jobs() < 2:
        return
    with warm_kernels(), ThreadPoolExecutor(jobs()) as pool:
        for i, (docname, seconds, fine) in enumerate(pool.map(run, pages), start=1):
            said = f"ran in {seconds:.0f} s" if fine else "failed, and runs again"
            logger.info(f"[{i}/{len(pages)}] {docname} {said}")


def setup(app):
    app.connect("env-before-read-docs", run_ahead)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
