"""The functions and classes of the package: a page for each room, and a table for the reader.

``.. objects:: MODULE`` stands on a page of an overview, with the options of `automodule`: it leaves
what the module says, and a row for each of its public objects. These stand on the page of their
room, a package or a module, which is written before the build reads anything, as a file that git
ignores. Of each it has, below the path that one types: the import, what autodoc and
`api_docstrings` make of signature and docstring, where the book derives and uses it, and its
source. Links lead to that heading, by the full name.
"""

from __future__ import annotations

import ast
import functools
import importlib
import inspect
import re
import sys
import textwrap
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from api_docstrings import linked
from api_uses import Uses, read_uses
from docutils import nodes
from docutils.parsers.rst import directives
from site_address import shortened
from sphinx import addnodes
from sphinx.transforms import SphinxTransform
from sphinx.util.docutils import SphinxDirective
from sphinx.util.nodes import make_refnode

FOLDER = "book/api/modules/"
MOST, FEW = 25, 4  # a package of more things is parted: modules of so few stay together
DIRECTIVE = re.compile(r"^\.\. objects:: (\S+)\n((?: +:[^\n]*\n)*)", re.MULTILINE)
DEFINED = ast.FunctionDef | ast.ClassDef
OPTION = re.compile(r":([\w-]+):([^\n]*)")
FIRST = re.compile(r"(?<=\.)\s+(?=[A-Z`*])")  # where a second sentence begins


@dataclass(frozen=True)
class Thing:
    """A public function or class: the module that names it, and the overview that has its row."""

    module: str
    name: str
    value: Any
    overview: str
    options: tuple[tuple[str, str], ...]

    @property
    def full(self) -> str:
        """The name by which the pages of the book refer to it."""
        return f"{self.module}.{self.name}"

    @property
    def home(self) -> str:
        """The place of its definition, as `figure_calls` gives it."""
        return f"{self.value.__module__}.{self.value.__qualname__}"

    @functools.cached_property
    def packages(self) -> list[str]:
        """The packages that one can import it from, the shortest path first."""
        parts = self.module.split(".")
        return [path for i in range(1, len(parts)) if self._stands_in(path := ".".join(parts[:i]))]

    @property
    def package(self) -> str:
        """The shortest path that one imports it from."""
        return next(iter(self.packages), self.module)

    def _stands_in(self, path: str) -> bool:
        package = importlib.import_module(path)
        named = self.name in getattr(package, "__all__", ())
        return named and getattr(package, self.name) is self.value

    @functools.cached_property
    def typed(self) -> str:
        return f"{self.package}.{self.name}"

    @property
    def summary(self) -> str:
        return summary(self.value)


@dataclass(frozen=True)
class Room:
    """A page: the path of a package or a module, and what stands there."""

    path: str
    things: list[Thing]

    @property
    def docname(self) -> str:
        return f"{FOLDER}{self.path}"

    @functools.cached_property
    def overviews(self) -> list[str]:
        """The overviews that have the rows of its things."""
        return list(dict.fromkeys(thing.overview for thing in self.things))


def summary(value: Any) -> str:
    """Return the first sentence of a docstring."""
    paragraph = linked(inspect.getdoc(value) or "").split("\n\n")[0]
    return FIRST.split(" ".join(paragraph.split()))[0].rstrip(":")


def members(module: str, options: dict[str, str], overview: str) -> Iterator[Thing]:
    """Yield the public functions and classes of a module, or those that `members` names."""
    home = importlib.import_module(module)
    named = [name.strip() for name in options.get("members", "").split(",") if name.strip()]
    left = {name.strip() for name in options.get("exclude-members", "").split(",")}
    kept = tuple((key, value) for key, value in options.items() if key != "members")
    for name in named or home.__all__:
        value = getattr(home, name)
        if name not in left and (inspect.isclass(value) or inspect.isfunction(value)):
            yield Thing(module, name, value, overview, kept)


def listed(root: Path, overviews: list[str]) -> list[Thing]:
    """Return all that the overviews list, in their order."""
    found = []
    for overview in overviews:
        text = (root / f"{overview}.md").read_text(encoding="utf-8")
        for module, given in DIRECTIVE.findall(text):
            options = {key: value.strip() for key, value in OPTION.findall(given)}
            found += members(module, options, overview)
    return found


def package_of(module: str) -> str:
    """Return the room of a module: a wing that is one file is its own."""
    alone = module.count(".") < 2 or hasattr(sys.modules[module], "__path__")
    return module if alone else module.rpartition(".")[0]


def rooms(things: list[Thing]) -> list[Room]:
    """Return the pages on which they stand: one for each package, or several where it is large."""
    size = Counter(package_of(thing.module) for thing in things)
    own = Counter(thing.module for thing in things)
    found = defaultdict(list)
    for thing in things:
        package = package_of(thing.module)
        apart = size[package] > MOST and own[thing.module] >= FEW
        found[thing.module if apart else package].append(thing)
    return [Room(path, some) for path, some in found.items()]


class Objects(SphinxDirective):
    """``.. objects:: MODULE``: what the module says, and a table of its functions and classes."""

    required_arguments = 1
    option_spec = dict.fromkeys(
        ("members", "exclude-members", "special-members"), directives.unchanged
    )

    def run(self) -> list[nodes.Node]:
        module = self.arguments[0]
        things = list(members(module, self.options, self.env.docname))
        rest = set(importlib.import_module(module).__all__) - {thing.name for thing in things}
        named = [name.strip() for name in self.options.get("members", "").split(",") if name]
        rest = sorted(rest & set(named) if named else rest)
        text = f".. automodule:: {module}\n" + (f"   :members: {', '.join(rest)}\n" if rest else "")
        if things:
            text += "\n.. list-table::\n   :class: book-objects\n   :widths: auto\n\n"
        for thing in things:
            role = "class" if inspect.isclass(thing.value) else "func"
            text += f"   * - :py:{role}:`{thing.name} <{thing.full}>`\n     - {thing.summary}\n"
        found = self.parse_text_to_nodes(text)
        rows = [row for one in found for row in one.findall(nodes.row)][-len(things) :]
        for row, thing in zip(rows, things, strict=bool(things)):
            row["ids"].append(thing.full)  # links to the pages of before
        for value in [one for node in found for one in node.findall(addnodes.desc_annotation)]:
            value.parent.remove(value)  # of an alias of types: in full nobody can read it
        return found


class FullNames(SphinxTransform):
    """A link to a thing leads to its heading, which takes the name of the signature below it."""

    default_priority = 400  # before tables of contents are made of the headings

    def apply(self, **_: Any) -> None:
        if self.env.docname in self.app.api_rooms:
            for section in self.document.findall(nodes.section):
                for described in (one for one in section if isinstance(one, addnodes.desc)):
                    section["ids"], described[0]["ids"] = described[0]["ids"], []


def page(room: Room, uses: Uses, root: Path, paged: set[Any]) -> str:
    """Return the source of a room's page: bases of a class are named if one is `paged`."""
    return "\n".join(
        (
            ":orphan:\n",
            room.path,
            "=" * len(room.path) + "\n",
            summary(importlib.import_module(room.path)) + "\n",
            f"In {', '.join(f':doc:`/{one}`' for one in room.overviews)}.\n",
            ".. contents::\n   :local:\n   :backlinks: none\n",
            *(section(thing, uses, root, paged) for thing in room.things),
        )
    )


def section(thing: Thing, uses: Uses, root: Path, paged: set[Any]) -> str:
    """Return the text of a page about a thing."""
    kind = "class" if inspect.isclass(thing.value) else "function"
    told = kind == "class" and paged.intersection(thing.value.__bases__)
    bases = (("show-inheritance", ""),) if told else ()
    given = (("members", ""), *bases, *thing.options) if kind == "class" else ()
    options = "".join(f"   :{key}: {value}\n" for key, value in given)
    text, line = source(thing.value)
    file = Path(sys.modules[thing.value.__module__].__file__).resolve()
    where = file.relative_to(root) if file.is_relative_to(root) else file.name
    return "\n".join(
        (
            thing.typed,
            "-" * len(thing.typed) + "\n",
            f".. code-block:: python\n\n   from {thing.package} import {thing.name}\n",
            f".. auto{kind}:: {thing.full}\n{options}",
            uses.said(thing.home, text),
            ".. raw:: html\n",  # coloured, it would be what takes longest of the page
            f'   <details class="book-source"><summary>Source: <code>{where}</code>, line {line}',
            "   </summary><pre>",
            textwrap.indent(escape(bare(thing.value), quote=False), "   "),
            "   </pre></details>\n",
        )
    )


def name_bases(app: Any, name: str, kind: type, options: Any, bases: list[Any]) -> None:
    """Leave out those bases that have no page: what a room shares, and other libraries'."""
    bases[:] = [base for base in bases if getattr(base, "__origin__", base) in app.api_paged]


@functools.cache
def definitions(file: str) -> tuple[list[str], dict[str, ast.stmt]]:
    """Return the lines of a module, and its functions and classes by name; cached."""
    text = Path(file).read_text(encoding="utf-8")
    defined = (one for one in ast.parse(text).body if isinstance(one, DEFINED))
    return text.splitlines(), {one.name: one for one in defined}


def source(value: Any) -> tuple[str, int]:
    """Return the whole code of a function or class, and the line where it begins."""
    lines, defined = definitions(sys.modules[value.__module__].__file__)
    node = defined[value.__name__]
    first = min([node.lineno, *(one.lineno for one in node.decorator_list)])
    return "\n".join(lines[first - 1 : node.end_lineno]), first


def bare(value: Any) -> str:
    """Return the code without its docstrings, which stand above it on the page."""
    text, first = source(value)
    lines = dict(enumerate(text.splitlines(), start=first))
    for node in ast.walk(definitions(sys.modules[value.__module__].__file__)[1][value.__name__]):
        if isinstance(node, DEFINED) and ast.get_docstring(node) and len(node.body) > 1:
            for i in range(node.body[0].lineno, node.body[0].end_lineno + 1):
                del lines[i]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines.values()))


def write(app: Any, config: Any) -> None:
    """Write the pages once the contents are known, and add them to the build."""
    root = Path(app.srcdir).resolve()
    names = [str(name) for name in config.external_site_map]
    overviews = [name for name in names if name.startswith("book/api/")]
    things = listed(root, [name for name in overviews if (root / f"{name}.md").is_file()])
    app.api_things = {thing.full: thing for thing in things}
    app.api_rooms = {room.docname: room for room in rooms(things)}
    app.api_paged = paged = {thing.value for thing in things}
    uses = read_uses(root, names)
    pages = {root / f"{name}.rst": room for name, room in app.api_rooms.items()}
    (root / FOLDER).mkdir(parents=True, exist_ok=True)
    for old in set((root / FOLDER).glob("*.rst")) - pages.keys():
        old.unlink()
    for path, room in pages.items():
        text = page(room, uses, root, paged)
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
    kept = (one for one in config.exclude_patterns if not one.startswith(FOLDER))
    config.exclude_patterns = list(kept)


def name_as_typed(app: Any, env: Any) -> None:
    """Let references use the paths that one types, once all is read."""
    objects = env.get_domain("py").objects
    for name, entry in list(objects.items()):
        thing = app.api_things.get(name) or app.api_things.get(name.rpartition(".")[0])
        if thing:
            for package in thing.packages or [thing.module]:
                typed = f"{package}.{thing.name}{name.removeprefix(thing.full)}"
                objects.setdefault(typed, entry._replace(aliased=True))


def find(app: Any, env: Any, node: Any, contnode: Any) -> nodes.Node | None:
    """Return a link to the thing that a docstring names by the end of its path.

    So `verbs.condition` leads to the one function that ends so; a parameter and a word have none.
    """
    if node.get("refdomain") != "py" or node["reftype"] != "obj":
        return None
    known = vars(app.builder).setdefault("things_by_ends", {})
    if not known:
        for name, entry in env.get_domain("py").objects.items():
            parts = name.split(".")
            for i in range(1, len(parts) - 1):
                known.setdefault(".".join(parts[i:]), set()).add((entry.docname, entry.node_id))
    met = known.get(node["reftarget"], ())
    if len(met) != 1:
        return contnode
    return make_refnode(app.builder, node["refdoc"], *next(iter(met)), contnode)


def about(app: Any, pagename: str, templatename: str, context: Any, doctree: Any) -> None:
    """Offer no source of a page that is generated."""
    if room := app.api_rooms.get(pagename):
        context["sourcename"] = ""
        words = next(doctree.findall(nodes.paragraph)).astext()
        context["said_of_page"] = shortened(f"{room.path}: {words}")


def setup(app: Any) -> dict[str, Any]:
    app.add_directive("objects", Objects)
    app.add_transform(FullNames)
    app.connect("config-inited", write, priority=950)  # after the contents are read
    app.connect("autodoc-process-bases", name_bases)
    app.connect("env-updated", name_as_typed)
    app.connect("missing-reference", find)
    app.connect("html-page-context", about, priority=200)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
