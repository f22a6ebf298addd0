"""Data for the previews of links: every numbered equation and every symbol, in one script.

`_static/preview-data.js` is asked for when a reader points at the first link, not before.
Tooltips of other extensions fetch the page that a link leads to, which a browser refuses on
``file://``.
"""

import json
from pathlib import Path

from site_search import gather

from checked_equations.sphinx.directives import symbol_groups


def equations(pages):
    """Return number and LaTeX of each equation, by the anchor that leads to it."""
    return {
        anchor: [number, latex]
        for page in pages
        for section in page["sections"]
        for anchor, number, latex in section["equations"]
    }


def symbols(groups, page):
    """Yield the rows of the notation: all spellings, and what they mean."""
    for group in groups.values():
        for row in group["symbols"]:
            forms = list(dict.fromkeys([*row["latex"], *row.get("shown", ())]))
            kept = {name: row[name] for name in ("meaning", "code", "chapter") if row.get(name)}
            yield {"latex": forms, "page": page, "anchor": row["anchor"], **kept}


def write(app, exception):
    """Write the script at the end of a build."""
    if exception or app.builder.format != "html":
        return
    groups = symbol_groups(Path(app.srcdir) / app.config.equations_notation)
    page = app.builder.get_target_uri("book/notation")
    data = {"equations": equations(gather(app)), "symbols": list(symbols(groups, page))}
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    target = Path(app.outdir) / "_static" / "preview-data.js"
    target.write_text(f"window.bookPreviews = {text};\n", encoding="utf-8")


def setup(app):
    app.connect("build-finished", write)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
