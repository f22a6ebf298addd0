"""The code stands as ARCHITECTURE.md draws it: floors, rooms, frozen values, named types.

One test a rule, which lists what breaks it. What ruff has a rule for is ruff's (pyproject.toml):
who names SciPy and CuPy, how long and how complex a function is, that no error is swallowed.
"""

from __future__ import annotations

import ast
import builtins
import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "gpnotes"

ENGINE = ROOT / "engine" / "src" / "checked_equations"
PAPERS = ROOT / "papers" / "src" / "checked_papers"
HOMES = (SOURCE, ENGINE, PAPERS)

# The wings, floor by floor: one imports from lower floors only. ARCHITECTURE.md says the same.
BY_FLOOR = (
    ("ground",),
    ("fast", "assess", "datasets", "plot"),  # a kernel imports its fast path
    ("model",),
    ("infer", "mdp", "networks"),
    ("draw", "games", "samplers"),
    ("decide",),
    ("estimators",),
)
FLOORS = {wing: floor for floor, wings in enumerate(BY_FLOOR) for wing in wings}
APART = {"testing"}  # no wing imports it
TOP = len(BY_FLOOR)
LAZY = {"__init__"}  # the front door, which loads a room when it is asked for

# The stages of the engine, an equation's way from text to page; each builds on those before it.
STAGES = {
    "errors": 0, "plugins": 0, "latex": 1, "evaluate": 2, "check": 3, "claims": 3, "book": 4,
    "sphinx": 5,
}  # fmt: skip
LOWEST_OF_PAPERS = ("mends", "numerics")  # which all others may import
STAGES_OF_PAPERS = (*LOWEST_OF_PAPERS, "sources", "tried")  # and above the modules that use them

# `^{-1}` in a chapter means the inverse, so the engine that reads it takes one.
MAY_INVERT = {"ground/linalg", "evaluate"}


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def walked(path: Path) -> tuple[ast.AST, ...]:
    """All of a tree, for those who look everywhere in it."""
    return tuple(ast.walk(tree(path)))


@cache
def files() -> list[Path]:
    """Every module of the package, of the engine and of its plug-in for papers."""
    return sorted(path for home in HOMES for path in home.rglob("*.py"))


def home(path: Path) -> Path:
    """The folder of the distribution that a file belongs to."""
    return next(home for home in HOMES if path.is_relative_to(home))


def within(path: Path) -> Path:
    return path.relative_to(home(path))


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def room(path: Path) -> str:
    """The wing of the package, or the stage of the engine or of papers, that a file is in."""
    return within(path).parts[0].removesuffix(".py")


def place(path: Path) -> str:
    """A module or a folder of a wing, as ``ground/xp``; a stage of the engine or of papers."""
    parts = within(path).with_suffix("").parts
    return "/".join(parts[:2]) if home(path) == SOURCE else parts[0]


def dotted(path: Path) -> list[str]:
    """The absolute name of the package that a file's relative imports start from."""
    return [home(path).name, *within(path).parts[:-1]]


@cache
def imported(path: Path) -> tuple[str, ...]:
    """The absolute name of everything that a file imports, wherever in the file."""
    return tuple(_imported(path))


def _imported(path: Path) -> Iterator[str]:
    for node in walked(path):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = dotted(path)[: len(dotted(path)) - node.level + 1] if node.level else []
            start = ".".join([*base, *([node.module] if node.module else [])])
            yield from (f"{start}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Call) and _called(node) in ("import_module", "__import__"):
            yield from (str(arg.value) for arg in node.args[:1] if isinstance(arg, ast.Constant))


def _called(node: ast.Call) -> str:
    return getattr(node.func, "attr", getattr(node.func, "id", ""))


def rooms_imported(path: Path) -> set[str]:
    """The other rooms that a file imports from."""
    names = [name.split(".") for name in imported(path)]
    here = home(path).name
    return {name[1] for name in names if name[0] == here and len(name) > 1} - {room(path)}


def test_every_room_is_in_the_plan():
    rooms = {room(path) for path in files() if home(path) == SOURCE}
    assert rooms == FLOORS.keys() | APART | LAZY


def test_a_wing_imports_from_lower_floors_only():
    climbs = [
        f"{name(path)} imports {other}"
        for path in files()
        for other in sorted(rooms_imported(path))
        if home(path) == SOURCE and room(path) in FLOORS
        if not FLOORS.get(other, TOP) < FLOORS[room(path)]
    ]
    assert climbs == []


def test_no_distribution_imports_another_but_papers_the_engine():
    """The engine would serve any book, and Gaussian processes need no engine."""
    ours = {SOURCE.name, ENGINE.name, PAPERS.name, "gpnotes_book"}
    crossing = [
        f"{name(path)} imports {other}"
        for path in files()
        for other in {one.partition(".")[0] for one in imported(path)} - {home(path).name}
        if other in ours and (home(path), other) != (PAPERS, ENGINE.name)
    ]
    assert crossing == []


def test_a_stage_of_the_engine_imports_from_lower_stages_only():
    """The front door and the commands use any of them."""
    climbs = []
    for path in (path for path in files() if home(path) == ENGINE):
        here, others = room(path), rooms_imported(path)
        limit = len(STAGES) if here.startswith("__") else STAGES[here]
        high = [other for other in others if not STAGES.get(other, TOP) < limit]
        climbs += [f"{name(path)} imports {other}" for other in sorted(high)]
    assert climbs == []


def test_the_stages_of_papers_import_neither_each_other_nor_what_uses_them():
    climbs = [
        f"{name(path)} imports {other}"
        for path in files()
        if home(path) == PAPERS and room(path) in STAGES_OF_PAPERS
        for other in sorted(rooms_imported(path))
        if room(path) in LOWEST_OF_PAPERS or other not in LOWEST_OF_PAPERS
    ]
    assert climbs == []


def test_the_modules_of_a_room_import_each_other_in_one_direction():
    names = {".".join([*dotted(p), p.stem]).removesuffix(".__init__"): p for p in files()}
    edges = {name: {_module(one, names) for one in imported(p)} for name, p in names.items()}
    finished: set[str] = set()

    def visit(name: str, above: tuple[str, ...]) -> None:
        assert name not in above, f"a circle of imports: {(*above, name)}"
        if name not in finished:
            for other in sorted(edges[name] - {None, name, *(home.name for home in HOMES)}):
                visit(other, (*above, name))
            finished.add(name)

    for name in edges:
        visit(name, ())


def _module(imported_name: str, names: dict[str, Path]) -> str | None:
    """The module of the package that an imported name is, or lies in."""
    for name in (imported_name, imported_name.rpartition(".")[0]):
        if name in names:
            return name
    return None


def test_no_file_has_a_vague_name():
    vague = ("utils", "util", "helpers", "common", "misc")
    assert [name(path) for path in files() if path.stem in vague] == []


GIVEN = {"_replace", "_asdict", "_fields"}  # by Python, to named tuples


def private(word: str) -> bool:
    return word.startswith("_") and not word.startswith("__") and word not in GIVEN


def written(paths: list[Path]) -> set[str]:
    """The names that these modules define: functions, methods, fields and what is assigned."""
    nodes = [node for path in paths for node in walked(path)]
    names = {n.name for n in nodes if isinstance(n, ast.FunctionDef | ast.ClassDef)}
    names |= {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    return names | {
        n.attr for n in nodes if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Store)
    }


def test_what_another_module_calls_unchecked_has_a_checked_twin():
    """``x._name`` is ``x.name`` without its checks, and there is no ``_name`` for others but that.

    Only kernels may call further hooks of the kernels that they are made of, and so likelihoods.
    """
    ours = [path for path in files() if home(path) == SOURCE]
    hooks = {one: written([p for p in ours if place(p) == one]) for one in BY_HOOKS}
    crossing = []
    for path in ours:
        known = hooks.get(place(path)) or written([path])
        for line, word, owners in _private_uses(path):
            if word not in known and not any(_has_twin(one, word) for one in owners):
                crossing.append(f"{name(path)}:{line} {word}")
    assert crossing == []


BY_HOOKS = ("model/kernels", "model/likelihoods")
Owner = ast.Module | ast.ClassDef


def _private_uses(path: Path) -> Iterator[tuple[int, str, list[Owner]]]:
    """The underscored names that a module asks others for, and who may define each."""
    modules = dict(_modules_imported(path))
    for node in walked(path):
        if isinstance(node, ast.Attribute) and private(node.attr):
            owner = ast.unparse(node.value)
            if owner in modules:
                yield node.lineno, node.attr, [modules[owner]]
            elif owner not in ("self", "cls", "super()"):
                makers = [kind for kinds in classes().values() for kind in kinds]
                yield node.lineno, node.attr, [k for k in makers if node.attr in _members(k)]
        elif isinstance(node, ast.ImportFrom):
            source = _source(path, node)
            for alias in node.names:
                if private(alias.name):
                    yield node.lineno, alias.name, [tree(source)] if source else []


def _modules_imported(path: Path) -> Iterator[tuple[str, ast.Module]]:
    """The modules beside and below that a file imports as such, by what it calls them."""
    for node in walked(path):
        if isinstance(node, ast.ImportFrom) and node.level:
            folder = path.parents[node.level - 1].joinpath(*(node.module or "").split("."))
            for alias in node.names:
                for found in (folder / f"{alias.name}.py", folder / alias.name / "__init__.py"):
                    if found.exists():
                        yield alias.asname or alias.name, tree(found)


def _source(path: Path, node: ast.ImportFrom) -> Path | None:
    """The file that a relative import takes its names from."""
    stem = path.parents[node.level - 1].joinpath(*(node.module or "").split("."))
    return next((p for p in (stem.with_suffix(".py"), stem / "__init__.py") if p.exists()), None)


@cache
def classes() -> dict[str, list[ast.ClassDef]]:
    """The classes of the package by name, but for protocols, which ask and do not answer."""
    found: dict[str, list[ast.ClassDef]] = {}
    for path in (path for path in files() if home(path) == SOURCE):
        for node in walked(path):
            if isinstance(node, ast.ClassDef) and "Protocol" not in map(ast.unparse, node.bases):
                found.setdefault(node.name, []).append(node)
    return found


@cache
def _members(owner: Owner) -> dict[str, ast.FunctionDef]:
    """The functions that stand in a class or a module; ``a = b`` is another name of one."""
    defined = {node.name: node for node in owner.body if isinstance(node, ast.FunctionDef)}
    named = [node for node in owner.body if isinstance(node, ast.Assign)]
    same = {ast.unparse(n.targets[0]): defined.get(ast.unparse(n.value)) for n in named}
    return defined | {name: function for name, function in same.items() if function}


def _has_twin(owner: Owner, word: str) -> bool:
    """Whether what stands there, or in a base of it, checks and then does what `word` does."""
    members = _members(owner)
    twin = members.get(word[1:]) or members.get(f"_{word}__")
    if twin is not None:
        calls = [node for node in ast.walk(twin) if isinstance(node, ast.Call)]
        return word in map(_called, calls) and len(calls) > 1
    bases = owner.bases if isinstance(owner, ast.ClassDef) else []
    named = [ast.unparse(base).partition("[")[0].rpartition(".")[2] for base in bases]
    return any(_has_twin(kind, word) for base in named for kind in classes().get(base, []))


def test_nobody_inverts_a_matrix_outside_linalg():
    inverses = [
        f"{name(path)}:{node.lineno}"
        for path in files()
        if place(path) not in MAY_INVERT
        for node in walked(path)
        if isinstance(node, ast.Call) and _called(node) in ("inv", "pinv", "pinvh")
    ]
    assert inverses == []


def test_nothing_has_the_name_of_its_module_or_of_one_beside_it():
    """``from .badge import badge`` in a package would hide the module from then on."""
    hiding = []
    for path in files():
        beside = {one.stem for one in path.parent.iterdir() if one.suffix in ("", ".py")}
        defined = [n for n in tree(path).body if isinstance(n, ast.FunctionDef | ast.ClassDef)]
        hiding += [f"{name(path)}: {node.name}" for node in defined if node.name in beside]
    assert hiding == []


def test_no_benchmark_hides_a_room():
    """The folder is on the path of those who run it, where the first module of a name wins."""
    folders = ROOT / "benchmarks", ROOT / "benchmarks" / "races"
    scripts = {path.stem for folder in folders for path in folder.glob("*.py")}
    assert scripts & {room(path) for path in files()} == set()


def test_values_are_frozen():
    loose = [
        f"{name(path)}:{node.lineno} {node.name}"
        for path in files()
        for node in walked(path)
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
        for mark in map(ast.unparse, node.decorator_list)
        if "dataclass" in mark and "frozen=True" not in mark
    ]
    assert loose == []


HALVED = re.compile(r"0\.5 \* \((\w[\w.]*) \+ (?:\1\.m?T\b|xp\.matrix_transpose\(\1\))")


def test_the_symmetric_part_is_taken_in_one_place():
    """In `ground.xp`, and in the engine, which imports nothing of the package."""
    elsewhere = [p for p in files() if home(p) == SOURCE and place(p) != "ground/xp"]
    assert [name(p) for p in elsewhere if HALVED.search(p.read_text(encoding="utf-8"))] == []


def test_xp_is_the_namespace_of_arrays_and_nothing_else():
    """What `ground.xp` has is imported by its name: no function reads two of them."""
    both = [p for p in files() if re.search(r"\bimport xp\b", p.read_text(encoding="utf-8"))]
    assert [name(path) for path in both] == []


MAP = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
MAP_OF_THE_ENGINE = (ROOT / "engine" / "ARCHITECTURE.md").read_text(encoding="utf-8")
ADDITIONS = (ROOT / "EXTENDING.md").read_text(encoding="utf-8")
GUIDE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")


def test_nothing_is_multiplied_by_zero():
    """What should be zeros is made as zeros: times an infinite number, zero is NaN."""
    times_zero = [
        f"{name(path)}:{node.lineno}"
        for path in files()
        for node in walked(path)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult)
        if any(isinstance(a, ast.Constant) and a.value == 0 for a in (node.left, node.right))
    ]
    assert times_zero == []


def test_the_map_has_the_floors_of_this_test():
    rows = re.findall(r"^\| (\d+) \| (.+?) \|", MAP, re.MULTILINE)
    assert [int(floor) for floor, _ in rows] == list(range(len(BY_FLOOR)))
    assert [tuple(re.findall(r"`(\w+)`", rooms)) for _, rooms in rows] == list(BY_FLOOR)


def test_the_map_has_the_stages_of_the_engine():
    stages = re.findall(r"^\| `(\w+)/` \|", MAP_OF_THE_ENGINE, re.MULTILINE)
    assert stages == [name for name in STAGES if name not in ("errors", "plugins")]


def test_the_additions_have_every_contract():
    from gpnotes.model import contracts

    protocols = {n for n in contracts.__all__ if getattr(getattr(contracts, n), "_is_protocol", 0)}
    assert protocols
    assert protocols <= set(re.findall(r"`(\w+)`", ADDITIONS))


@pytest.mark.parametrize(
    ("text", "many"),
    [(MAP, 15), (MAP_OF_THE_ENGINE, 15), (ADDITIONS, 40), (GUIDE, 15)],
    ids=["map", "engine", "additions", "guide"],
)
def test_every_file_that_is_named_exists(text, many):
    """But for what a sentence writes short: the files and rooms of a folder that it names."""
    spans = re.findall(r"`([\w./<>-]+)`|\]\(([^)]+)\)", text)
    named = [one or other for one, other in spans if "<" not in one]
    kinds = (".md", ".py", ".yml", ".json", ".toml", ".lock")
    paths = [name for name in named if "/" in name or name.endswith(kinds)]
    short = {f"{stage}/" for stage in (*STAGES, *STAGES_OF_PAPERS)} | {"testing/", "infer/exact"}
    short |= {path.name for path in (ROOT / "src" / "gpnotes" / "ground").iterdir()}
    missing = [name for name in paths if name not in short and not (ROOT / name).exists()]
    assert len(paths) > many
    assert missing == []


# -- types ------------------------------------------------------------------------------------


def test_no_line_is_excused_from_its_type():
    excuse = re.compile(r"#\s*(type:\s*ignore|mypy:|pyright:)|no_type_check")
    assert not [path for path in files() if excuse.search(path.read_text(encoding="utf-8"))]


def test_no_name_of_a_type_stands_for_any():
    """Alone or in a union, of which it makes an `Any`; and written as text, too."""
    named = [
        f"{name(path)}:{node.lineno}"
        for path in files()
        for lines in [path.read_text(encoding="utf-8").split("\n")]
        for node in walked(path)
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None
        if any("Any" in line for line in lines[node.lineno - 1 : node.end_lineno])
        if re.match(r"(Annotated\[)?Any\b|.*\| *Any\b", ast.unparse(node.value).strip("'"))
    ]
    assert named == []


def test_what_is_public_says_what_it_takes():
    """Of all arguments of public functions one in 33 is left open at most; it was one in two."""
    arguments = [argument for path in files() for argument in _public_arguments(path)]
    open_ones = [name for name, annotation in arguments if _says_nothing(annotation)]
    assert len(open_ones) <= 0.03 * len(arguments), open_ones


# Public functions whose result has no type, by wing, and why. The list can only shrink.
OPEN = {
    "samplers to_arviz": "its class is that of the version of ArviZ that is installed",
    "infer load": "the file knows what was saved in it",
    "games bumps": "the product of two nodes passes on what these prepare, without looking",
    "games chances": "the same",
    "ground ask": "what answers a question is given to `run_in_step`, and who asks knows it",
}


def test_what_is_public_says_what_it_gives():
    """So that an editor completes it; 47 results were ``Any``, and that of a fit among them."""
    ours = [path for path in files() if home(path) == SOURCE]
    results = {
        f"{room(path)} {function.name}"
        for path in ours
        for function in _public_functions(tree(path))
        if _says_nothing(function.returns)
    }
    assert sorted(results) == sorted(OPEN)


def _public_arguments(path: Path) -> Iterator[tuple[str, ast.expr | None]]:
    """The annotations of public functions and methods; not those of what is only passed on."""
    for function in _public_functions(tree(path)):
        arguments = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
        for argument in arguments:
            if argument.arg not in ("self", "cls"):
                where = f"{name(path)}:{function.lineno} {function.name}"
                yield f"{where}({argument.arg})", argument.annotation


def _public_functions(node: ast.AST) -> Iterator[ast.FunctionDef]:
    for child in ast.iter_child_nodes(node):
        named = isinstance(child, ast.ClassDef | ast.FunctionDef)
        if named and child.name.startswith("_") and child.name not in ("__init__", "__call__"):
            continue
        if isinstance(child, ast.FunctionDef):
            yield child
        elif isinstance(child, ast.ClassDef):
            yield from _public_functions(child)


def _says_nothing(annotation: ast.expr | None) -> bool:
    """`Any` and `object`, and what has no type of its parts; in a union and as part of a tuple."""
    if isinstance(annotation, ast.BinOp):
        return _says_nothing(annotation.left) or _says_nothing(annotation.right)
    if isinstance(annotation, ast.Subscript):
        whole = ast.unparse(annotation.value) in ("tuple", "Annotated")
        return whole and any(map(_says_nothing, getattr(annotation.slice, "elts", ())))
    bare = ("Any", "object", "Callable", "tuple", "list", "dict", "type")
    return annotation is None or (isinstance(annotation, ast.Name) and annotation.id in bare)


ELSEWHERE = {"Discrete", "MultiDiscrete", "RandomizedSearchCV", "Tuple", "help"}


def _defined(path: Path) -> Iterator[str]:
    """Every name that a module makes, or brings from another."""
    for node in walked(path):
        match node:
            case ast.FunctionDef(name) | ast.ClassDef(name):
                yield name
            case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
                yield name
            case ast.alias(name, asname):
                yield asname or name
            case ast.arg(arg):
                yield arg


def _documented(path: Path) -> Iterator[str]:
    """Every name in backticks of a module's docstrings."""
    for node in walked(path):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            text = ast.get_docstring(node, clean=False) or ""
            yield from re.findall(r"(?<!`)`([A-Za-z_][\w.]*)`(?!`)", text)


def test_a_docstring_names_what_there_is() -> None:
    """A word in backticks is a name of the package, and stands in the module said to have it."""
    ours = [path for path in files() if home(path) == SOURCE]
    modules: dict[str, set[str]] = {}
    for path in ours:
        stem = path.parent.name if path.stem == "__init__" else path.stem
        modules.setdefault(stem, set()).update(_defined(path))
    known = set().union(modules, *modules.values(), vars(builtins), ELSEWHERE)
    stale = []
    for path in ours:
        for said in _documented(path):
            first, *_ = parts = said.rstrip(".").split(".")
            inside = modules.get(first, known) | modules.keys() if parts[1:] else known
            there = {first} <= known and {*parts[1:2]} <= inside and {*parts[2:]} <= known
            if not (there or first in sys.stdlib_module_names or said.endswith("_")):
                stale.append(f"{name(path)}: {said}")
    assert stale == []
