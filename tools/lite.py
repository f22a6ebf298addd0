"""Add JupyterLite to the built pages, so that chapters run in the reader's browser (`make lite`).

It serves the notebooks that the pages offer. A first cell installs the wheels of this clone. Python
itself, NumPy and SciPy are those of Pyodide, which the browser fetches from Pyodide's host, so that
nothing of this works offline. A book whose `site_address` in ``_config.yml`` has no `pages` and no
``lite: true`` has no button that leads there, and gets none of this.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import nbformat
import yaml
from dist import build
from versions import uv

ROOT = Path(__file__).resolve().parents[1]
BUILT = Path(os.environ.get("BOOK_HTML", ROOT / "_build" / "html"))
PLACES = (ROOT, ROOT / "engine", ROOT / "editorial")  # whose wheels a chapter needs
# In environments that uv keeps: nothing else here needs them.
LITE = "jupyterlite-core[contents]==0.8.6"
BESIDE = "jupyterlite-pyodide-kernel==0.8.6"
INSTALL = '%pip install --quiet "gpnotes[notebook]" gpnotes-book'


def wanted(config: Path) -> bool:
    """Tell whether the book has an address and shows the button."""
    sphinx = yaml.safe_load(config.read_text("utf-8"))["sphinx"]
    address = sphinx["config"]["site_address"]
    return bool(address.get("pages") and address.get("lite"))


def notebooks(built: Path, to: Path) -> int:
    """Write the notebooks of the pages with a first cell that installs the wheels; count them."""
    sources = built / "_sources"
    found = sorted(sources.rglob("*.ipynb"))
    for path in found:
        notebook = nbformat.read(path, as_version=4)
        if notebook.cells[0].source.startswith("%pip install"):
            notebook.cells.pop(0)  # from the repository, which no browser can
        for cell in notebook.cells:
            if cell.cell_type == "code":
                cell.outputs, cell.execution_count = [], None  # half of the bytes
        notebook.cells.insert(0, nbformat.v4.new_code_cell(INSTALL, id="install"))
        target = to / path.relative_to(sources)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(nbformat.writes(notebook) + "\n", encoding="utf-8")
    return len(found)


def wheels(to: Path) -> None:
    """Build the wheels of the distributions that a chapter needs, in a folder of theirs alone."""
    for place in PLACES:
        build(place, to)
    for source in to.glob("*.tar.gz"):
        source.unlink()


def lite(built: Path) -> int:
    """Build ``lite/`` in the folder of the pages; return how many notebooks it serves."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        count = notebooks(built, folder / "notebooks")
        wheels(folder / "pypi")
        command = [uv(), "tool", "run", "--quiet", "--from", LITE, "--with", BESIDE]
        command += ["jupyter-lite", "build", "--lite-dir", name, "--contents", "notebooks"]
        command += ["--output-dir", "lite", "--apps", "lab", "--no-sourcemaps"]
        subprocess.run(command, cwd=name, check=True, stdout=subprocess.DEVNULL)
        shutil.rmtree(built / "lite", ignore_errors=True)
        shutil.move(folder / "lite", built / "lite")
    return count


def main() -> int:
    """Build it where the book shows the button, and say so."""
    if not wanted(ROOT / "_config.yml"):
        print("site_address of _config.yml does not ask for JupyterLite: nothing to do")
        return 0
    print(f"{lite(BUILT)} notebooks run in {BUILT.name}/lite")
    return 0


if __name__ == "__main__":
    sys.exit(main())
