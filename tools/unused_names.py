"""Public names of gpnotes that no chapter, page, estimator or other module of the package uses.

``python tools/unused_names.py [wing ...]``

A name is a function or class at the top of a module without an underscore, or a public method of
such a class. It is used if its word occurs in a chapter or a page, README, an example, a benchmark
of the page on speed, or the code of another module (an import in an ``__init__`` and the page that
lists all of a module do not count), or, for a function, again in its own module; docstrings do not
count. Prints each name with the place and the lines that would go with it, the longest first.
"""

from __future__ import annotations

import argparse
import ast
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "gpnotes"
PAGES = ("book/**/*.md", "README.md")
Definition = ast.FunctionDef | ast.ClassDef


def main() -> None:
    """Print the unused names of the wings that were named, or of all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("wings", nargs="*")
    parser.add_argument("--methods", action="store_true", help="methods of used classes as well")
    asked = parser.parse_args()
    found = sorted(unused(asked.wings, asked.methods), key=lambda row: -row[2])
    for place, name, lines in found:
        print(f"{lines:5} {place} {name}")
    print(f"{sum(lines for *_, lines in found):5} lines of {len(found)} names")


def unused(wings: list[str], methods: bool = False) -> Iterator[tuple[str, str, int]]:
    """Yield the module, the name and the number of lines of each name that is not used."""
    on_pages = _words_of_pages()
    in_code = {path: _code_words(path) for path in PACKAGE.rglob("*.py")}
    modules_with = Counter(word for words in in_code.values() for word in set(words))
    for path, words in in_code.items():
        place = path.relative_to(PACKAGE)
        if path.name == "__init__.py" or (wings and place.parts[0] not in wings):
            continue
        for node, name in _names(ast.parse(path.read_text(encoding="utf-8")), methods):
            word = name.rpartition(".")[2]
            elsewhere = modules_with[word] > (1 if words[word] else 0)
            if not (word in on_pages or elsewhere):
                said = f"{name} (its module uses it)" if words[word] > 1 else name
                yield str(place), said, (node.end_lineno or 0) - node.lineno + 1


def _names(tree: ast.Module, methods: bool) -> Iterator[tuple[Definition, str]]:
    for node in tree.body:
        if isinstance(node, Definition) and not node.name.startswith("_"):
            yield node, node.name
            for inner in node.body if methods and isinstance(node, ast.ClassDef) else ():
                if isinstance(inner, ast.FunctionDef) and not inner.name.startswith("_"):
                    yield inner, f"{node.name}.{inner.name}"


def _words_of_pages() -> set[str]:
    """Return the words of code on pages: of cells, of spans between backticks, and of scripts."""
    paths = {path for pattern in PAGES for path in ROOT.glob(pattern)}
    texts = (path.read_text(encoding="utf-8") for path in paths if path.name != "CHANGELOG.md")
    code = (hit for text in texts for hit in re.findall(r"```.*?```|`[^`\n]+`", text, re.DOTALL))
    return set(re.findall(r"\w+", "\n".join(code)))


@cache
def _code_words(path: Path) -> Counter[str]:
    """Count the identifiers of a module's code; an ``__init__`` only hands names on."""
    if path.name == "__init__.py":
        return Counter()
    tree = ast.parse(path.read_text(encoding="utf-8"))
    body = [node for node in tree.body if not _lists_names(node)]
    return Counter(word for part in body for node in ast.walk(part) for word in _identifiers(node))


def _lists_names(node: ast.stmt) -> bool:
    return isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"


def _identifiers(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Name):
        yield node.id
    elif isinstance(node, ast.Attribute):
        yield node.attr.removeprefix("_")  # `x._name` is `x.name` without its checks
    elif isinstance(node, Definition):
        yield node.name
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield from re.findall(r"\w+", node.value) if len(node.value) < 60 else ()


if __name__ == "__main__":
    main()
