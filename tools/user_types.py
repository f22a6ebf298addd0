"""Check the types of what users write, with pyright, as an editor does.

``python tools/user_types.py`` reads ``tests/typing`` and the code of the pages that a user reads
first. Each page is written to ``_build/typing`` with its code on the lines where it stands there.
"""

from __future__ import annotations

import doctest
import subprocess
import sys
from pathlib import Path

from checked_equations.book.execution import cells

ROOT = Path(__file__).resolve().parents[1]
PAGES = (
    "README.md", "book/api/ten-minutes.md", "book/api/coming-from.md", "book/api/recipes.md",
    "book/api/searching.md",
)  # fmt: skip
BUILT = ROOT / "_build" / "typing"


def pieces(page: Path) -> list[tuple[int, str]]:
    """Return the code of a page, as examples or as cells, and the line before which each begins."""
    examples = doctest.DocTestParser().get_examples(page.read_text("utf-8"))
    found = [(one.lineno, one.source.rstrip("\n")) for one in examples]
    return found or [(cell.line - 1, cell.code) for cell in cells(page)]


def program(page: Path) -> str:
    """Return the code of a page as one file, with empty lines for its text."""
    lines: list[str] = []
    for before, code in pieces(page):
        lines += [""] * (before - len(lines)) + code.splitlines()
    return "\n".join((*lines, ""))


def main() -> int:
    """Write the pages, and let pyright read them and the tests of types."""
    BUILT.mkdir(parents=True, exist_ok=True)
    for page in PAGES:
        name = Path(page).stem.replace("-", "_").lower()
        (BUILT / f"{name}.py").write_text(program(ROOT / page), "utf-8")
    pyright = Path(sys.executable).with_name("pyright")
    command = [pyright, "--level", "error", "--pythonpath", sys.executable]
    return subprocess.call([*command, ROOT / "tests" / "typing", BUILT])


if __name__ == "__main__":
    sys.exit(main())
