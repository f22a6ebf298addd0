"""The Sphinx extension ``checked_equations.sphinx``: the results of the checks, on the pages.

Add it to the extensions of any MyST-NB book. It puts a badge at each numbered equation, warns
of every equation without a check and every check without an equation, and fills the generated
pages. Settings: ``equations_notation`` (a file, relative to the source folder),
``equations_versions`` (names of packages), ``equations_pages``, which pages take part: "checked"
or "all" (see `pages`), and ``equations_tried``, which displays without a check are tried, where the
plug-in checked-papers is installed.

An extension of the book's own, for records of the book's own kinds, answers two events:
``equations-ledger`` is given the `Book` and asks for an `Added`, rows and columns of the ledger;
``equations-names`` is given the `Book` and the name of a page and asks for the names that records
are ``about``, each with a `Named`. Directives that fill places of their own build on `Place`.
"""

from __future__ import annotations

from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

try:
    from sphinx.application import Sphinx
    from sphinx.errors import ExtensionError
except ImportError as problem:
    raise ImportError(
        f"{__name__} needs an extra: pip install 'checked-equations[sphinx]'"
    ) from problem

from . import build
from .book_ledger import EVENTS
from .directives import ALL

_DISTRIBUTION = __package__.split(".")[0]
STATIC = Path(__file__).resolve().parent / "static"
_SETTINGS = {
    "equations_notation": "",
    "equations_versions": [],
    "equations_pages": "checked",
    "equations_help": "",
    "equations_tried": "",
}


def setup(app: Sphinx) -> dict[str, object]:
    """Connect the extension to a Sphinx application.

    Raises ExtensionError where the installed distribution does not name the renderer.
    """
    named = {entry.value for entry in entry_points(group="myst_nb.mime_renderers")}
    if f"{__package__}.output:CheckOutput" not in named:
        raise ExtensionError(
            f"myst-nb does not know the outputs of checks: the installed {_DISTRIBUTION} is older "
            "than its source; install it again (pip install --no-deps --editable .)"
        )
    for name, default in _SETTINGS.items():
        app.add_config_value(name, default, "env")
    for name, directive in ALL.items():
        app.add_directive(name, directive)
    for name in EVENTS:
        app.add_event(name)
    app.connect("builder-inited", _add_static)
    app.connect("doctree-read", build.gather)
    app.connect("env-purge-doc", build.forget)
    app.connect("env-merge-info", build.merge)
    app.connect("env-get-updated", build.renew, priority=900)  # after equations have numbers
    app.connect("env-check-consistency", build.judge)
    app.connect("doctree-resolved", build.fill)
    app.connect("html-page-context", _live_where_needed, priority=990)  # others add to the lists
    app.connect("build-finished", build.finish)
    safe = {"parallel_read_safe": True, "parallel_write_safe": True}
    return {"version": "1", "env_version": 2, **safe}


def _live_where_needed(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: object
) -> None:
    """Spare a page without a badge the scripts that bring badges to life."""
    if "eqn-badge" in context.get("body", ""):
        return
    for kind in ("script_files", "css_files"):
        context[kind] = [file for file in context.get(kind, ()) if not _is_live(file)]


def _is_live(file: object) -> bool:
    return Path(str(getattr(file, "filename", file))).name in ("live.js", "live.css")


def _add_static(app: Sphinx) -> None:
    app.config.html_static_path.append(str(STATIC))
    for name in ("equations", "evidence", "live"):
        app.add_css_file(f"{name}.css")
        app.add_js_file(f"{name}.js", loading_method="defer")
