"""The chapters with their data on a GPU: which run to their end, and where the others stop.

``python tools/chapters_on_gpu.py [CHAPTER ...]`` puts the data where ``GPNOTES_BACKEND=cupy`` says.
Without CuPy the stand-in of the tests takes its place, which goes by CuPy's rules on NumPy's
numbers. Each chapter has a process of its own. What its cells print is compared with what is
stored; a check that fails there is reported, but stops nothing. With ``--lecture`` equations are
not checked and claims not repeated: some seconds a chapter. ``tools/chapters_off_gpu.toml`` lists
the chapters that do not run yet, each with its reason.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import re
import subprocess
import sys
import tomllib
import traceback
from collections.abc import Iterator
from contextlib import AbstractContextManager, chdir, contextmanager, nullcontext
from pathlib import Path
from typing import Any
from unittest.mock import patch

ROOT = Path(__file__).resolve().parent.parent
BOOK = ROOT / "book"
STORED = ROOT / "tests" / "notebooks"
LISTED = ROOT / "tools" / "chapters_off_gpu.toml"

_EVIDENCE = ("check", "define", "refute", "source", "symbols", "ledger")
_OF_EVIDENCE = re.compile(rf"\bchapter\.(?:{'|'.join(_EVIDENCE)})\(")


def chapters() -> list[str]:
    """Return the chapters, as ``part/slug``, in the order of the book."""
    import yaml

    parts = yaml.safe_load((ROOT / "_toc.yml").read_text())["parts"]
    numbered = [part for part in parts if "numbered" in part]
    slugs = [one["file"].removeprefix("book/") for part in numbered for one in part["chapters"]]
    return [slug for slug in slugs if "/" in slug]


def off() -> dict[str, str]:
    """Return the chapters that do not run with their data on a GPU yet, with the reasons."""
    listed: dict[str, str] = tomllib.loads(LISTED.read_text("utf-8"))
    return listed


def goes_along(slug: str) -> bool:
    """Return whether a chapter puts its data where the variable says, which only `asarray` does."""
    from checked_equations.book.execution import cells

    code = "\n".join(cell.code for cell in cells(BOOK / f"{slug}.md"))
    return re.search(r"(?<![.\w])asarray\(", code) is not None


def problems(slug: str, *, lecture: bool = False) -> list[str]:
    """Run a chapter here; return what is wrong, each with its line, what stops it last."""
    from matplotlib import rc_context

    sys.path.insert(0, str(ROOT / "tests" / "support"))

    page, claims = BOOK / f"{slug}.md", BOOK / "_claims" / f"{slug}.json"
    found_before = claims.read_bytes() if claims.is_file() else None
    asked = patch.dict(os.environ, {"GPNOTES_BACKEND": "cupy"})
    with asked, _array_library(), chdir(page.parent), _evidence(left_out=lecture), rc_context():
        wrong = list(_run(page, _stored(slug), lecture))
    if found_before is not None and claims.read_bytes() != found_before:
        claims.write_bytes(found_before)
        wrong.append(
            "line 1: a claim was drawn anew: its code holds what has another kind on a GPU"
        )
    return wrong


def _run(page: Path, stored: list[Any], lecture: bool) -> Iterator[str]:
    """Run the cells of a page in order, and compare what each prints with what is stored."""
    from IPython.core.interactiveshell import InteractiveShell
    from matplotlib import pyplot
    from printed_numbers import Numbers
    from traitlets.config import Config

    from checked_equations.book.execution import cells

    pyplot.switch_backend("agg")
    # in memory: these cells are none of the history that this user's shells keep in a file
    shell = InteractiveShell.instance(config=Config(HistoryManager={"hist_file": ":memory:"}))
    shell.showtraceback = lambda *args, **kwargs: None
    try:
        for cell, was in zip(cells(page), stored or [None] * len(cells(page)), strict=True):
            printed, error = _executed(shell, cell.code)
            pyplot.close("all")
            if error is not None and "raises-exception" not in cell.tags:
                told = f"{type(error).__name__}: {error}"
                yield f"line {_line(error, cell.line)}: {told}"
                if not _stops_nothing(error):
                    return
            elif (
                _is_compared(cell, was, lecture)
                and Numbers(printed.strip()) != _printed(was).strip()
            ):
                yield f"line {cell.line}: prints {printed!r} where {_printed(was)!r} is stored"
    finally:
        InteractiveShell.clear_instance()


def _executed(shell: Any, code: str) -> tuple[str, BaseException | None]:
    """Return the printed text of a cell, and the error that ends it."""
    from IPython.utils.capture import capture_output

    with capture_output() as caught:
        result = shell.run_cell(code, store_history=True)
    said, _, value = re.sub(r"(?m)^Out\[\d+\]: ", "\0", caught.stdout).partition("\0")
    shown = _texts([output.data for output in caught.outputs])
    return said + shown + value.strip(), result.error_before_exec or result.error_in_exec


def _printed(outputs: Any) -> str:
    """Return the text of the stored outputs of a cell."""
    streams = [output["text"] for output in outputs if output.output_type == "stream"]
    return "".join(streams) + _texts([o["data"] for o in outputs if "data" in o])


def _texts(data: list[Any]) -> str:
    """Return the text of an output; a figure is its size, and only where it is drawn."""
    shown = [str(one[kind]) for one in data for kind in sorted(one) if kind.endswith("text/plain")]
    return "".join(text for text in shown if not text.startswith("<Figure"))


def _is_compared(cell: Any, was: Any, lecture: bool) -> bool:
    if was is None or "nbval-ignore-output" in cell.tags:
        return False
    return not (lecture and _OF_EVIDENCE.search(cell.code))


def _stored(slug: str) -> list[Any]:
    """Return the stored outputs of each cell of a chapter, in order; none where there are none."""
    import stored_outputs

    path = STORED / f"{slug}.json"
    if not path.is_file():
        return []
    return [printed for _, printed in stored_outputs.outputs(path.read_text(encoding="utf-8"))]


@contextmanager
def _evidence(*, left_out: bool) -> Iterator[None]:
    """Let a chapter check nothing and repeat no draw meanwhile, if that is asked for."""
    from gpnotes_book import Chapter

    nothing = dict.fromkeys(_EVIDENCE if left_out else (), lambda *args, **kwargs: None)
    seconds = {"CHECKED_CLAIMS_SECONDS": "0"} if left_out else {}
    with (
        patch.multiple(Chapter, **nothing) if left_out else nullcontext(),
        patch.dict(os.environ, seconds),
    ):
        yield


def _stops_nothing(error: BaseException) -> bool:
    """Return whether an error is of a check or of a claim, after which a build goes on."""
    from checked_equations import ClaimError, EquationError
    from checked_equations.book.ledger import LedgerError

    return isinstance(error, ClaimError | EquationError | LedgerError)


def _line(error: BaseException, first: int) -> int:
    """Return the line of the page at which a cell failed; its code begins at `first`."""
    frames = traceback.extract_tb(error.__traceback__)
    own = (one.lineno for one in frames if "ipython-input" in one.filename)
    return first + (next(own, None) or 1) - 1


def _array_library() -> AbstractContextManager[object]:
    if importlib.util.find_spec("cupy"):
        return nullcontext()
    from cupy_stand_in import installed

    return installed()


def apart(slug: str, *, lecture: bool = False) -> str:
    """Run a chapter in a process of its own; return what is wrong, or nothing."""
    command = [sys.executable, __file__, "--here", slug, *(["--lecture"] if lecture else [])]
    said = subprocess.run(command, capture_output=True, text=True, check=False)
    return (said.stdout if said.returncode == 0 else said.stderr[-500:]).strip()


def main() -> None:
    """Print a line for each chapter, and how many run to their end."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("chapter", nargs="*", help="as part/slug; all, if none is given")
    parser.add_argument("--lecture", action="store_true", help="neither checks nor claims")
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.here:
        print("\n".join(problems(*given.chapter, lecture=given.lecture)))
        return
    slugs, run = given.chapter or chapters(), 0
    there = [slug for slug in slugs if goes_along(slug)]
    for slug in slugs:
        wrong = apart(slug, lecture=given.lecture) if slug in there else "NumPy alone"
        run += not wrong
        print(f"{slug}: {wrong or 'runs'}", flush=True)
    print(f"{run} of {len(slugs)} chapters run to their end, {len(there)} go along")


if __name__ == "__main__":
    main()
