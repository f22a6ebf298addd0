"""The chapters with their data on a GPU: which run to their end, and where the others stop.

``python tools/chapters_on_gpu.py [CHAPTER ...]`` puts the data where ``GPNOTES_BACKEND=cupy`` says.
Without CuPy the stand-in of the tests takes its place, which goes by CuPy's rules on NumPy's
numbers. Each chapter has a process of its own; a check that fails there is told, but stops nothing.
What was found of its claims stays what it was. A chapter that never calls `asarray` works with
NumPy's arrays wherever it runs, and is told but not run.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import re
import subprocess
import sys
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BOOK = ROOT / "book"


def chapters() -> list[str]:
    """Return the chapters, as ``part/slug``, in the order of the book."""
    import yaml

    parts = yaml.safe_load((ROOT / "_toc.yml").read_text())["parts"]
    numbered = [part for part in parts if "numbered" in part]
    slugs = [one["file"].removeprefix("book/") for part in numbered for one in part["chapters"]]
    return [slug for slug in slugs if "/" in slug]


def goes_along(slug: str) -> bool:
    """Whether a chapter puts its data where the variable says: nothing else does than `asarray`."""
    from checked_equations.book.execution import cells

    code = "\n".join(cell.code for cell in cells(BOOK / f"{slug}.md"))
    return re.search(r"(?<![.\w])asarray\(", code) is not None


def problems(slug: str) -> list[str]:
    """Run a chapter here; return what is wrong, each with its line, what stops it last."""
    from checked_equations.book.execution import run_page

    os.environ["GPNOTES_BACKEND"] = "cupy"
    with _array_library():
        return [
            f"line {fault.line}: {fault.said}" for fault in run_page(BOOK / f"{slug}.md").faults
        ]


def _array_library() -> AbstractContextManager[object]:
    if importlib.util.find_spec("cupy"):
        return nullcontext()
    sys.path.insert(0, str(ROOT / "tests" / "support"))
    from cupy_stand_in import installed

    return installed()


def main() -> None:
    """Print a line for each chapter, and how many run to their end."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("chapter", nargs="*", help="as part/slug; all, if none is given")
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.here:
        print("\n".join(problems(*given.chapter)))
        return
    slugs, run = given.chapter or chapters(), 0
    there = [slug for slug in slugs if goes_along(slug)]
    for slug in slugs:
        if slug not in there:
            print(f"{slug}: NumPy alone", flush=True)
            continue
        command = [sys.executable, __file__, "--here", slug]
        said = subprocess.run(command, capture_output=True, text=True, check=False)
        wrong = (said.stdout if said.returncode == 0 else said.stderr[-500:]).strip()
        run += not wrong
        print(f"{slug}: {wrong or 'runs'}", flush=True)
    print(f"{run} of the {len(there)} chapters that go along run to their end")


if __name__ == "__main__":
    main()
