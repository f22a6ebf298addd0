"""How nbval compares a chapter's outputs with its reference.

nbval compares text letter by letter, in every format that a cell emits. Here text is compared
alone, its decimals to a relative 1e-6 (another processor rounds differently), everything else
letter by letter; and a reference runs in the folder of its chapter, as in the book.
"""

from __future__ import annotations

import importlib.util
import math
import os
import re
from pathlib import Path
from typing import Any

from nbval import plugin

HERE = Path(__file__).resolve().parent
BOOK = HERE.parent.parent / "book"
RTOL = 1e-6

# Run on request alone, by a test that expects the second of them to fail.
collect_ignore = ["proofs"]

_spec = importlib.util.spec_from_file_location("make_references", HERE / "make.py")
_make = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_make)

_DECIMAL = re.compile(r"[-+]?(?:\d+\.\d*|\.\d+)(?:[eE][-+]?\d+)?|[-+]?\d+[eE][-+]?\d+")


class Numbers(str):
    """Text that equals other text with the same words and nearly the same decimals."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, str):
            return NotImplemented
        return _words(self) == _words(other) and all(map(_near, _decimals(self), _decimals(other)))

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = str.__hash__


def _words(text: str) -> list[str]:
    return _DECIMAL.split(text)


def _decimals(text: str) -> list[float]:
    return [float(number) for number in _DECIMAL.findall(text)]


def _near(a: float, b: float) -> bool:
    return math.isclose(a, b, rel_tol=RTOL, abs_tol=0.0)


class ChapterKernel(plugin.RunningKernel):
    """A kernel that runs a cell as the book does: in the chapter's folder, with a history.

    Without a history IPython shows the value of a line that ends in a semicolon.
    """

    def __init__(self, kernel_name: str, cwd: str, **options: Any) -> None:
        os.environ.pop("MPLBACKEND", None)  # the kernel chooses how it shows figures
        folder = BOOK / Path(cwd).resolve().relative_to(HERE)
        super().__init__(kernel_name, cwd=str(folder if folder.is_dir() else cwd), **options)

    def execute_cell_input(self, cell_input: str, allow_stdin: bool | None = None) -> str:
        return self.kc.execute(cell_input, store_history=True, allow_stdin=allow_stdin)


_sanitize = plugin.IPyNbCell.sanitize
_compare = plugin.IPyNbCell.compare_outputs


def _sanitize_numbers(self: plugin.IPyNbCell, text: Any) -> Any:
    clean = _sanitize(self, text)
    return Numbers(clean) if isinstance(clean, str) else clean


def _compare_text(self: plugin.IPyNbCell, test: Any, reference: Any, *rest: Any) -> bool:
    return _compare(self, [_make.text_only(output) for output in test], reference, *rest)


def _nothing(*_: Any) -> None:
    """Kernels are measured as every other child process is (`patch` in pyproject.toml)."""


plugin.IPyNbCell.sanitize = _sanitize_numbers
plugin.IPyNbCell.compare_outputs = _compare_text
plugin.RunningKernel = ChapterKernel
plugin.setup_coverage = plugin.teardown_coverage = _nothing
