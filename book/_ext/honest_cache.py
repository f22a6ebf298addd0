"""An execution cache that knows what a chapter depends on.

The cache of executed notebooks keys on the cells alone. A chapter depends on more: on the
package, on data files, on the versions of the numerical stack, and (because its checks read
the equations from the text) on its own numbered equations. So the cache lives in a folder
named after a digest of all that, and inside it each page has a folder named after itself and its
equations. The first name is a configuration value: when it changes, Sphinx reads every page
again. A change of prose changes neither, and the stored outputs are used. Of a module its code
counts: no cell can print its comments, its docstrings or where its lines end.

All of this names contents, so the folder may come from another clone, or from an earlier run on
another machine: `BOOK_CACHE` says where it lies, and by default it is in `_build`.

What only the pages use, these extensions and the engine's own, no cell depends on. It has a digest
of its own, another configuration value: after an edit there every page is read and written again,
and none is run. Styles and scripts are copied by each build, and count in neither.

A folder belongs to one page, because jupyter-cache makes its data base in two steps: two processes
that meet in a new folder stop each other ("table settings already exists"), one build in ten on a
busy machine.
"""

import ast
import hashlib
import os
import re
import shutil
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

STACK = ("numpy", "scipy", "lark", "array-api-compat", "matplotlib", "ipykernel")
ENGINE = "engine/src/checked_equations"
PAGES = ("book/_ext", "engine/docs", f"{ENGINE}/sphinx", "papers/docs", "papers/src")
BACKENDS = ("cupy-cuda12x", "cupy-cuda13x")
DATA = ("book/sources",)
CLAIMS = "_claims"  # in the book: what was found for the claims of each page
SETTINGS = ("book/equations.toml", "book/notation.yml")
HERE = Path(__file__).resolve().parents[2]
KEPT = 12  # folders of earlier states, so that going back and forth costs nothing

APART = f"{ENGINE}/sphinx/"  # what only the pages use
EQUATION = re.compile(
    r"^\s*([`:]{3,})\{(?:math|eval-rst)\}.*?^\s*\1\s*$|\$\$.*?\$\$[^\n]*"
    r"|^\s*\\begin\{([a-z]+\*?)\}.*?\\end\{\2\}",
    re.MULTILINE | re.DOTALL,
)


def inputs(root: Path) -> list[Path]:
    """Return the files that the result of a cell may depend on, apart from its own chapter."""
    folders = [root / top for top in ("src", "engine/src", "editorial/src", *DATA)]
    found = [path for top in folders for path in top.rglob("*") if path.is_file()]
    found += filter(Path.is_file, (root / name for name in SETTINGS))
    return sorted(
        path
        for path in found
        if not path.is_relative_to(root / APART) and "__pycache__" not in path.parts
        if not any(part.endswith(".egg-info") for part in path.parts)
    )


def versions() -> list[str]:
    """Return the numerical stack, in words; what is not installed leaves no trace."""
    found = [f"python {sys.version.split()[0]}", f"backend {os.environ.get('GPNOTES_BACKEND', '')}"]
    for name in STACK + BACKENDS:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            continue
    return found


def digest(root: Path) -> str:
    """Return sixteen hex digits for the state of everything that the chapters run on."""
    total = hashlib.sha256("\n".join(versions()).encode())
    for path in inputs(root):
        total.update(f"\0{path.relative_to(root).as_posix()}\0".encode())
        total.update(code(path) if path.suffix == ".py" else path.read_bytes())
    return total.hexdigest()[:16]


DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def code(path: Path) -> bytes:
    """Return a module as Python reads it, less its docstrings."""
    tree = ast.parse(path.read_bytes())
    for node in ast.walk(tree):
        if isinstance(node, DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
            del node.body[0]
    return ast.dump(tree).encode()


def page_code(root: Path) -> str:
    """Return sixteen hex digits for the state of the code that makes the pages."""
    total = hashlib.sha256()
    for path in sorted(path for folder in PAGES for path in (root / folder).rglob("*.py")):
        total.update(f"\0{path.relative_to(root).as_posix()}\0".encode())
        total.update(path.read_bytes())
    return total.hexdigest()[:16]


def equations(text: str) -> str:
    """Return a digest of the numbered equations in the text of a page."""
    found = [match.group(0) for match in EQUATION.finditer(text)]
    return hashlib.sha256("\0".join(found).encode()).hexdigest()[:16]


def home_of(build):
    """Return the folder of all states, for a book that is built in a folder."""
    return Path(os.environ.get("BOOK_CACHE") or build / ".jupyter_cache")


def name_cache(app, config):
    """Name the folder of the cache after the state of the project; note that of the pages' code."""
    config.page_code = page_code(HERE)
    home = home_of(Path(app.outdir).parent)
    config.nb_execution_cache_path = str(home / digest(Path(app.srcdir)))
    olds = sorted((p for p in home.glob("*/") if len(p.name) == 16), key=os.path.getmtime)
    for old in olds[:-KEPT]:
        if str(old) != config.nb_execution_cache_path:
            shutil.rmtree(old, ignore_errors=True)


def folder_of(app, docname, text):
    """Return the folder of a page, and of no other: no two processes make the same data base."""
    slug = docname.removeprefix("book/")
    return Path(app.config.nb_execution_cache_path) / docname / state(text, app.srcdir, slug)


def state(text, root, slug):
    """Return a digest of the numbered equations of a page and of the results of its claims."""
    found = Path(root) / "book" / CLAIMS / f"{slug}.json"
    stored = hashlib.sha256(found.read_bytes()).hexdigest()[:8] if found.is_file() else ""
    return f"{equations(text)}{stored}"


def choose_folder(app, docname, source):
    """Choose the folder of a page before it is read."""
    folder = folder_of(app, docname, source[0])
    app.env.mystnb_config = app.env.mystnb_config.copy(execution_cache_path=str(folder))


def setup(app):
    app.add_config_value("page_code", "", "env")
    app.connect("config-inited", name_cache, priority=900)
    app.connect("source-read", choose_folder)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
