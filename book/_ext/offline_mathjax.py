"""MathJax from the book's own files: one script and its fonts, no other host.

The package ``sphinx-mathjax-offline`` carries all of MathJax (24 MB); a page needs the full
TeX-to-CommonHTML component and the woff fonts, 1.7 MB in all. What the menu of a formula could
turn on beyond that is taken out of it, in the script beside this file, which also sets formulas
a few at a time.
"""

from importlib.metadata import files
from pathlib import Path

from sphinx.util.fileutil import copy_asset_file

SCRIPT = "tex-chtml-full.js"
BEFORE = Path(__file__).with_suffix(".js")  # runs before it, after the page's configuration
FONTS = "output/chtml/fonts/woff-v2"


def carried() -> Path:
    """Return the folder of MathJax inside the installed package."""
    for entry in files("sphinx-mathjax-offline") or ():
        if entry.name == SCRIPT:
            return Path(entry.locate()).parent
    raise FileNotFoundError(f"sphinx-mathjax-offline carries no {SCRIPT}")


def copy(app, exception):
    """Copy the files that pages need; those that are there already stay as they are."""
    if exception or app.builder.format != "html":
        return
    source, target = carried(), Path(app.outdir) / "_static" / "mathjax"
    wanted = [source / SCRIPT, *sorted((source / FONTS).glob("*.woff"))]
    for path in wanted:
        there = target / path.relative_to(source)
        if not there.exists() or there.stat().st_size != path.stat().st_size:
            there.parent.mkdir(parents=True, exist_ok=True)
            copy_asset_file(str(path), str(there))


def prepare(app, pagename, templatename, context, doctree):
    """Add the script that runs before MathJax, on a page with mathematics."""
    if app.env.get_domain("math").has_equations(pagename):
        app.add_js_file(None, body=BEFORE.read_text(encoding="utf-8"), priority=900)


def setup(app):
    app.config.mathjax_path = f"mathjax/{SCRIPT}"
    app.config.mathjax_options = {"defer": "defer"}
    app.connect("html-page-context", prepare, priority=900)
    app.connect("build-finished", copy)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
