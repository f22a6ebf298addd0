"""The notebook that a page offers: readable wherever notebooks are read, and still checking itself.

Words come from the page (`plain_markdown`), outputs from the run that the page shows. Where the
site names its repository (`site_address`), a first cell installs the packages from there.
"""

from itertools import groupby
from pathlib import Path

import nbformat
from honest_cache import folder_of
from jupyter_cache import get_cache
from plain_markdown import FOLDED, Code, Numbers, Words, pieces

DROPPED = ("application/papermill.record/", "application/vnd.checked-equation")
OPENING = (
    "*A chapter of the book {book}, to run and to change. It needs the package, the engine of "
    "the checks and the package of the chapters ({how}). The checks read the file: save before you "
    "run one.*"
)
BY_HAND = "from a clone, `pip install ./engine . ./editorial`"
BY_CELL = "the first cell installs them"


def numbers_of(env, docname):
    """Return the numbers on a page as the page prints them."""
    sections = env.toc_secnumbers.get(docname, {})
    kinds = env.toc_fignumbers.get(docname, {})
    return Numbers(
        {anchor.removeprefix("#"): _dotted(number) for anchor, number in sections.items()},
        {(kind, i): _dotted(n) for kind, found in kinds.items() for i, n in found.items()},
    )


def _dotted(number):
    return ".".join(map(str, number or ()))


def cells_of(found, code):
    """Yield the cells of the notebook: words between two code cells stand in one.

    `code` has the code cells by their places; those that the page does not show come as well.
    """
    waiting = dict(code)
    for kind, group in groupby(found, key=lambda p: type(p) if isinstance(p, Code) else p.caption):
        if kind is not Code:
            metadata = {"tags": ["caption"]} if kind else {}
            yield nbformat.v4.new_markdown_cell(markdown(list(group)), metadata=metadata)
            continue
        for piece in group:
            for index in [i for i in waiting if i <= piece.index]:
                yield _cell(waiting.pop(index), piece.folded or index < piece.index)
    yield from (_cell(cell, True) for cell in waiting.values())


def markdown(words):
    """Return blocks under each other; neighbours with the same summary are folded together."""
    texts = []
    for summary, group in groupby(words, key=lambda piece: piece.summary):
        text = "\n\n".join(piece.text for piece in group)
        head = f"<details>\n<summary>{summary}</summary>\n\n"
        texts.append(f"{head}{text}\n\n</details>" if summary else text)
    return "\n\n".join(texts)


def _cell(cell, folded):
    """Return a code cell with those of its outputs that every host can show."""
    tags = cell.metadata.get("tags", [])
    metadata = {"tags": tags} if tags else {}
    if folded or FOLDED & set(tags):
        metadata |= {"jupyter": {"source_hidden": True}, "cellView": "form"}
    outputs = [shown for shown in map(_shown, cell.outputs) if shown]
    return nbformat.v4.new_code_cell(
        cell.source, metadata=metadata, outputs=outputs, execution_count=cell.execution_count
    )


def _shown(output):
    """Return an output without the parts for the book's own tools, or None."""
    if "data" not in output:
        return output
    data = {k: value for k, value in output.data.items() if not k.startswith(DROPPED)}
    return nbformat.from_dict({**output, "data": data, "metadata": {}}) if data else None


def executed(app, docname):
    """Return the code cells of a page by their places, as they ran: read once, for all who ask."""
    known = vars(app).setdefault("executed_cells", {})
    if docname not in known:
        known[docname] = _read(app, docname)
    return known[docname]


def _read(app, docname):
    folder = Path(app.outdir).parent / "jupyter_execute"
    plain = nbformat.read(folder / f"{docname}.ipynb", as_version=4)
    text = Path(app.env.doc2path(docname)).read_text(encoding="utf-8")
    cache = get_cache(folder_of(app, docname, text))
    try:
        ran = cache.get_cache_bundle(cache.match_cache_notebook(plain).pk).nb
    except KeyError:  # a cell failed, and the page says so
        ran = plain
    outputs = iter([cell for cell in ran.cells if cell.cell_type == "code"])
    return {i: next(outputs) for i, cell in enumerate(plain.cells) if cell.cell_type == "code"}


def installing(address):
    """Return a cell that installs the packages from the repository; without one there is none."""
    if not address.get("repository"):
        return []
    source = f"git+{address['repository']}@{address['branch']}"
    rooms = ["", "#subdirectory=engine", "#subdirectory=editorial"]
    asked = " ".join(f'"{source}{room}"' for room in rooms)
    return [nbformat.v4.new_code_cell(f"%pip install --quiet {asked}")]


def notebook_of(app, doctree, docname):
    """Return the whole notebook of a page."""
    found = list(pieces(doctree, numbers_of(app.env, docname)))
    first = installing(getattr(app.config, "site_address", {}))
    how = BY_CELL if first else BY_HAND
    found.insert(1, Words(OPENING.format(book=app.config.html_title, how=how)))
    cells = first + list(cells_of(found, executed(app, docname)))
    for i, cell in enumerate(cells):
        cell["id"] = f"cell-{i:03d}"
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return nbformat.v4.new_notebook(
        cells=cells, metadata={"kernelspec": kernel, "language_info": {"name": "python"}}
    )


def target(app, docname):
    """Return the path of the notebook of a page, next to its source."""
    return Path(app.outdir) / "_sources" / f"{docname}.ipynb"


def write(app, doctree, docname):
    """Write the notebook of a page before anything on the page is moved or filled in."""
    if app.builder.format != "html" or not app.env.metadata.get(docname, {}).get("kernelspec"):
        return
    notebook = notebook_of(app, doctree, docname)
    nbformat.validate(notebook)
    path = target(app, docname)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(nbformat.writes(notebook) + "\n", encoding="utf-8")


def offer(app, pagename, templatename, context, doctree):
    """Name the notebook in the page's download menu.

    The theme does so only when there is a button that launches the page on some server.
    """
    if context.get("sourcename") and target(app, pagename).exists():
        context["ipynb_source"] = f"{pagename}.ipynb"


def setup(app):
    app.add_js_file("take-away.js", loading_method="defer")
    app.connect("doctree-resolved", write, priority=100)
    app.connect("html-page-context", offer, priority=300)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
