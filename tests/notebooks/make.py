"""Store what each chapter of the book prints, one file a chapter, and make notebooks of it.

``python tests/notebooks/make.py [slug ...]`` reads the chapters named (all of ``_toc.yml`` if none
is) with jupytext, takes what they printed from the last build of the book, or runs them in the
folder of the chapter where the build has not, and writes ``tests/notebooks/<slug>.json``: for each
cell a digest of its code and its outputs as text (`stored_outputs`). Running it again writes the
same bytes.

``python tests/notebooks/make.py --notebooks [slug ...]`` writes ``tests/notebooks/<slug>.ipynb``
instead, which git ignores: the code cells of the chapter with the outputs that are stored, for
nbval to run and compare.
"""

from __future__ import annotations

import functools
import importlib.util
import os
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import jupytext
import nbformat
import yaml
from nbclient import NotebookClient
from nbval.plugin import coalesce_streams

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.append(str(ROOT / "tests" / "support"))

import stored_outputs  # noqa: E402  it lies with what the tests share

CELL_SECONDS = 600

# What two machines print differently, and a reference must therefore not hold.
MACHINE = re.compile(r"\b0x[0-9a-f]{6,}\b|(?<![\w.])/(?:home|root|tmp|usr|Users)/")


class UnfitOutput(RuntimeError):
    """A chapter prints what no reference can hold."""


class StaleOutputError(RuntimeError):
    """The cells of a chapter are others than those whose outputs are stored."""


def slugs(root: Path = ROOT) -> list[str]:
    """The slugs of the chapters of ``_toc.yml`` that are text notebooks, in order."""
    toc = yaml.safe_load((root / "_toc.yml").read_text(encoding="utf-8"))
    names = [name.removeprefix("book/") for name in _files(toc)]
    return [name for name in names if _is_notebook(source(name, root))]


def source(slug: str, root: Path = ROOT) -> Path:
    """The text of a chapter."""
    return root / "book" / f"{slug}.md"


def reference(slug: str, root: Path = ROOT) -> Path:
    """The file that holds what a chapter prints."""
    return root / "tests" / "notebooks" / f"{slug}.json"


def code_cells(slug: str, root: Path = ROOT) -> list[Any]:
    """The code cells of a chapter as its text has them."""
    notebook = jupytext.read(source(slug, root), fmt="md:myst")
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def load(path: Path) -> Any:
    """A script that lies in no package, as a module."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@functools.cache
def _state() -> tuple[Any, str]:
    """What names the folders of executed chapters, and its name for today's package and data.

    Once for all chapters: the digest reads and parses every source, a second or two.
    """
    cache = load(ROOT / "book" / "_ext" / "honest_cache.py")
    return cache, cache.digest(ROOT)


def executed(slug: str, build: Path) -> Path | None:
    """The notebook that a build in `build` ran on today's text, package and data, if it did."""
    cache, state = _state()
    text = source(slug).read_text(encoding="utf-8")
    wanted = [cell.source for cell in code_cells(slug)]
    found = cache.home_of(build) / state / "book" / slug
    ran = (found / cache.state(text, ROOT, slug)).glob("executed/*/base.ipynb")
    same = [path for path in ran if [cell.source for cell in code(path)] == wanted]
    return max(same, key=lambda path: path.stat().st_mtime, default=None)


def code(notebook: Path) -> list[Any]:
    """The code cells of a notebook."""
    cells = nbformat.read(notebook, as_version=4).cells
    return [cell for cell in cells if cell.cell_type == "code"]


def build(slug: str, root: Path = ROOT) -> str:
    """Return what a chapter prints, as it is stored, running the chapter if no build did."""
    return stored_outputs.dump(settled(slug, cell) for cell in ran(slug, root).cells)


def ran(slug: str, root: Path = ROOT) -> Any:
    """Return the notebook of a chapter with all that it puts out, running it if no build did."""
    new = notebook(code_cells(slug, root))
    done = executed(slug, root / "_build") if root == ROOT else None
    if done:
        for cell, other in zip(new.cells, code(done), strict=True):
            cell.update(outputs=other.outputs)
    else:
        folder = {"metadata": {"path": str(source(slug, root).parent)}}
        NotebookClient(new, timeout=CELL_SECONDS, resources=folder).execute(env=environment())
    return new


def notebook(cells: Sequence[Any]) -> Any:
    """Return a notebook of the code and tags of cells, with fixed ids and no outputs."""
    return nbformat.v4.new_notebook(
        cells=[_fresh(i, cell) for i, cell in enumerate(cells)],
        metadata={
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        },
    )


def stored(slug: str, root: Path = ROOT) -> Any:
    """Return the notebook of a chapter with the outputs that are stored.

    A `StaleOutputError` names the first cells that have changed since the outputs were stored.
    """
    kept = stored_outputs.outputs(reference(slug, root).read_text(encoding="utf-8"))
    cells = code_cells(slug, root)
    changed = [
        f"cell {i}: {cell.source.splitlines()[0]}"
        for i, ((digest, _), cell) in enumerate(zip(kept, cells, strict=False))
        if digest != stored_outputs.digest(cell)
    ]
    if changed or len(kept) != len(cells):
        found = f"{len(kept)} cells are stored, {len(cells)} in the chapter; {changed[:3]} changed"
        raise StaleOutputError(f"{slug}: {found}: run make references CHAPTER={slug}")
    filled = notebook(cells)
    filled.metadata["chapter"] = slug
    for i, (cell, (_, outputs)) in enumerate(zip(filled.cells, kept, strict=True), start=1):
        cell.update(outputs=outputs, execution_count=i)
        for output in outputs:
            if output.output_type == "execute_result":
                output["execution_count"] = i
    return filled


def text_only(output: Any) -> Any:
    """An output without what nobody can compare: images, HTML, timings, metadata."""
    if "data" not in output:
        return output
    data = {key: text for key, text in output["data"].items() if key.endswith("text/plain")}
    return nbformat.from_dict({**output, "data": data, "metadata": {}})


def environment() -> dict[str, str]:
    """The environment of a kernel, which chooses how figures are shown by itself."""
    return {name: value for name, value in os.environ.items() if name != "MPLBACKEND"}


def _files(entry: Any) -> Iterator[str]:
    """Every file that a table of contents names, depth first."""
    if isinstance(entry, list):
        for one in entry:
            yield from _files(one)
    elif isinstance(entry, dict):
        yield from (entry[key] for key in ("root", "file") if key in entry)
        for key in ("parts", "chapters", "sections", "entries", "subtrees"):
            yield from _files(entry.get(key))


def _is_notebook(path: Path) -> bool:
    """Whether a page has a kernel and code to run in it."""
    if not path.exists():
        return False
    text = path.read_text(encoding="utf-8")
    head = re.match(r"---\n(.*?)\n---\n", text, re.DOTALL)
    matter = yaml.safe_load(head[1]) if head else {}
    return "kernelspec" in matter and re.search(r"^`{3,}\{code-cell\}", text, re.M) is not None


def _fresh(index: int, cell: Any) -> Any:
    """A cell with a fixed id, the chapter's code and tags, and nothing else."""
    tags = {"tags": list(cell.metadata["tags"])} if cell.metadata.get("tags") else {}
    return nbformat.v4.new_code_cell(cell.source, id=f"cell-{index:03d}", metadata=tags)


def settled(slug: str, cell: Any) -> Any:
    """A cell that has run, with only what is the same on every machine."""
    outputs = coalesce_streams([text_only(output) for output in cell.outputs])
    for output in outputs:
        _refuse_unfit(slug, cell, output)
    return nbformat.from_dict({**cell, "outputs": outputs})


def _refuse_unfit(slug: str, cell: Any, output: Any) -> None:
    text = str(output.get("text", "")) + "".join(map(str, output.get("data", {}).values()))
    if output.get("name") == "stderr":
        raise UnfitOutput(f"{slug}, {cell.id}: the cell writes to the error stream: {text}")
    if found := MACHINE.search(text):
        raise UnfitOutput(f"{slug}, {cell.id}: {found[0]!r} differs between machines; in: {text}")


def main(arguments: list[str]) -> int:
    """Store what the chapters named print, or all chapters; or write the notebooks of it."""
    notebooks = "--notebooks" in arguments
    for slug in [name for name in arguments if name != "--notebooks"] or slugs():
        path = reference(slug)
        path.parent.mkdir(parents=True, exist_ok=True)
        if notebooks:
            nbformat.write(stored(slug), path.with_suffix(".ipynb"))
        else:
            path.write_text(build(slug), encoding="utf-8")
            print(f"wrote {path.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
