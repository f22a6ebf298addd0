"""The fast part of the tests with the oldest and the newest versions that pyproject.toml allows.

``python tools/versions.py`` makes an environment for each in a folder of its own, which it removes.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import fast

SHOWN = ("numpy", "scipy", "array-api-compat", "lark")
RESOLUTIONS = {"oldest": "lowest-direct", "newest": "highest"}


def uv() -> str:
    """Return the program that resolves and installs."""
    beside = Path(sys.executable).with_name("uv")
    found = str(beside) if beside.is_file() else shutil.which("uv")
    if found is None:
        raise SystemExit("tools/versions.py needs uv (extra `dev`)")
    return found


def make(folder: Path, resolution: str) -> str:
    """Make an environment with the package and the needs of its tests; return its interpreter."""
    python = str(folder / "bin" / "python")
    subprocess.run([uv(), "venv", "--quiet", "--python", sys.executable, str(folder)], check=True)
    # Compiled at once, as pip does it: what a compiler warns of is no error of a test.
    command = [uv(), "pip", "install", "--quiet", "--compile-bytecode", "--python", python]
    command += ["--resolution", resolution]
    for place in ("/engine", "/papers", "/editorial", "[test,compiled,studies]"):
        command += ["--editable", f"{fast.ROOT}{place}"]
    subprocess.run(command, check=True)
    return python


def installed(python: str) -> str:
    """Return the versions that matter, in words."""
    code = (
        "import sys\nfrom importlib.metadata import version\n"
        "print(*(f'{name} {version(name)}' for name in sys.argv[1:]), sep=', ')"
    )
    return subprocess.run(
        [python, "-c", code, *SHOWN], check=True, capture_output=True, text=True
    ).stdout.strip()


def main() -> int:
    """Try both, print a line for each, and say whether all was well."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--workers", type=int, default=2, help="processes for the tests")
    parser.add_argument("--only", choices=[*RESOLUTIONS], help="one of the two")
    given = parser.parse_args()
    tried = [given.only] if given.only else RESOLUTIONS
    return max(show(which, given.workers) for which in tried)


def show(which: str, workers: int) -> int:
    """Try one resolution and print its row; 1 if something failed."""
    with tempfile.TemporaryDirectory() as folder:
        python = make(Path(folder) / "venv", RESOLUTIONS[which])
        one = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        result = fast.run(one, python=python, workers=workers)
        print(f"{which}: {result.closing}, {result.seconds:.0f} s  ({installed(python)})")
    for test in result.failed:
        print(f"    {test}", flush=True)
    return 0 if result.fine else 1


if __name__ == "__main__":
    sys.exit(main())
