"""The table of how the packages read: lines, words of docstrings, comments, types, private names.

``python tools/measures.py [folder or importable package ...]``

Without arguments it measures gpnotes (whole, then wing by wing), the engine, the plug-in for
papers, and those of tinygp, GPJax, BlackJAX and QuantEcon that are installed. Code lines exclude
docstrings, comments and blank lines; rates of words are per 10 000 words of docstrings, and
``--places`` prints where the counted words stand.
"""

from __future__ import annotations

import argparse
import ast
import io
import re
import tokenize
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
OURS = ("src/gpnotes", "engine/src/checked_equations", "papers/src/checked_papers")
OTHERS = ("tinygp", "gpjax", "blackjax", "quantecon")
WORDS = ("what", "nobody", "told", "beside", "of which")
OPENERS = frozenset({"what", "whether", "how"})
_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass
class Counts:
    """The counts of one package."""

    files: int = 0
    lines: int = 0
    code: int = 0
    comments: int = 0
    words: int = 0
    docstrings: int = 0
    openers: int = 0
    any_types: int = 0
    private: int = 0
    named: Counter[str] = field(default_factory=Counter)

    def row(self) -> list[str]:
        """Return the cells of its line of the table."""
        rates = [f"{1e4 * self.named[word] / max(self.words, 1):.1f}" for word in WORDS]
        return [
            str(self.files), f"{self.lines:,}", f"{self.code:,}", f"{self.words:,}", *rates,
            f"{100 * self.openers / max(self.docstrings, 1):.1f}",
            f"{100 * self.comments / max(self.lines, 1):.1f}",
            f"{1e3 * self.any_types / max(self.code, 1):.1f}", str(self.private),
        ]  # fmt: skip


HEAD = [
    "", "files", "lines", "code", "words", *WORDS, "opener %", "comment %", "Any / 1000", "x._name",
]  # fmt: skip


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("packages", nargs="*")
    parser.add_argument("--places", action="store_true")
    asked = parser.parse_args()
    folders = dict(_folders(asked.packages))
    print(" | ".join(HEAD))
    for name, folder in folders.items():
        print(" | ".join([name, *measured(folder).row()]))
    if asked.places:
        print("\n".join(place for folder in folders.values() for place in places(folder)))


def _folders(asked: list[str]) -> Iterator[tuple[str, Path]]:
    for name in asked or [*OURS, *OTHERS]:
        if (ROOT / name).exists():
            yield name, ROOT / name
        elif found := _installed(name):
            yield name, found
    if not asked:
        yield from ((path.name, path) for path in sorted((ROOT / OURS[0]).iterdir()) if _wing(path))


def _wing(path: Path) -> bool:
    return (path / "__init__.py").exists()


def _installed(name: str) -> Path | None:
    found = find_spec(name) if name.isidentifier() else None
    return Path(found.origin).parent if found and found.origin else None


def measured(folder: Path) -> Counts:
    """Add up the modules of a folder, or measure one file."""
    total = Counts()
    for path in _modules(folder):
        _add(total, path.read_text(encoding="utf-8"))
    return total


def _modules(folder: Path) -> Iterable[Path]:
    return [folder] if folder.is_file() else sorted(folder.rglob("*.py"))


def _add(total: Counts, text: str) -> None:
    tree = ast.parse(text)
    strings = list(docstrings(tree))
    total.files += 1
    total.lines += text.count("\n")
    of_docstrings = {line for node, _ in strings for line in _lines(node)}
    whole, code = _comments_and_code(text, of_docstrings)
    total.comments += whole
    total.code += code
    total.docstrings += len(strings)
    total.openers += sum(_opener(string) for _, string in strings)
    total.words += sum(len(string.split()) for _, string in strings)
    for _, string in strings:
        total.named.update(_found(string))
    total.any_types += len(re.findall(r"\bAny\b", _without_imports(text, of_docstrings)))
    total.private += sum(map(_is_private_use, ast.walk(tree)))


def docstrings(tree: ast.AST) -> Iterator[tuple[ast.stmt, str]]:
    """Yield each docstring's statement and its text."""
    for node in ast.walk(tree):
        if isinstance(node, _DOCUMENTED) and (string := ast.get_docstring(node)):
            yield node.body[0], string


def _lines(node: ast.stmt) -> range:
    return range(node.lineno, (node.end_lineno or node.lineno) + 1)


def _comments_and_code(text: str, of_docstrings: set[int]) -> tuple[int, int]:
    comments, code = set(), set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            comments.add(token.start[0])
        elif token.type not in (tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT):
            code.update(range(token.start[0], token.end[0] + 1))
    code = {line for line in code if line not in of_docstrings and line <= text.count("\n")}
    return len(comments), len(code)


def _opener(string: str) -> bool:
    return re.split(r"\W+", string.strip(), maxsplit=1)[0].lower() in OPENERS


def _found(string: str) -> Iterator[str]:
    for word in WORDS:
        spaced = word.replace(" ", r"\s+")
        yield from [word] * len(re.findall(rf"\b{spaced}\b", string, re.IGNORECASE))


def _without_imports(text: str, of_docstrings: set[int]) -> str:
    kept = (line for number, line in enumerate(text.splitlines(), 1) if number not in of_docstrings)
    return "\n".join(line for line in kept if not re.match(r"\s*(from|import)\b", line))


def _is_private_use(node: ast.AST) -> bool:
    """Is it `x._name`, where x is neither `self`, `cls` nor a call of `super`?"""
    if not isinstance(node, ast.Attribute) or not re.match(r"_[a-z]", node.attr):
        return False
    return not (isinstance(node.value, ast.Name) and node.value.id in ("self", "cls"))


def places(folder: Path) -> Iterator[str]:
    """Yield each place of a counted word or opener: file, line, the word and its sentence."""
    for path in _modules(folder):
        for node, string in docstrings(ast.parse(path.read_text(encoding="utf-8"))):
            words = sorted(set(_found(string)))
            opener = ["(opener)"] if _opener(string) else []
            if words or opener:
                found = ", ".join(opener + words)
                yield f"{path.relative_to(ROOT)}:{node.lineno}: {found}: {_context(string)}"


def _context(string: str) -> str:
    pattern = "|".join(word.replace(" ", r"\s+") for word in WORDS)
    hits = re.finditer(rf"\S*.{{0,60}}\b(?:{pattern})\b.{{0,40}}", string, re.IGNORECASE)
    return " … ".join(hit.group().strip() for hit in hits) or string.splitlines()[0]


if __name__ == "__main__":
    main()
