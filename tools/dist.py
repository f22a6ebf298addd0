"""Build what a release uploads, check it, and try it as a stranger would: ``make dist``.

Of each distribution a wheel and a source distribution go to ``dist/``. Then each interpreter from
3.11 on that is at hand gets an environment of its own, once with the oldest and once with the
newest versions that the distributions allow, installs the wheels there, and runs a short program
in an empty folder. Wheels are built from the source distributions, so that both are tried.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from versions import RESOLUTIONS, installed, uv

ROOT = Path(__file__).resolve().parent.parent
PLACES = (ROOT / "engine", ROOT, ROOT / "papers", ROOT / "editorial")
TWINE = "twine==6.2.0"  # in an environment that uv keeps: nothing else here needs it
EXTRAS = ("notebook", "sklearn", "progress")
TRIAL = ROOT / "tools" / "dist_trial.py"


def project_of(place: Path) -> dict[str, Any]:
    """Return the project file of a distribution."""
    read: dict[str, Any] = tomllib.loads((place / "pyproject.toml").read_text("utf-8"))
    return read["project"]


def pythons() -> list[str]:
    """Return the versions of Python that the classifiers name."""
    named = (line.rpartition(" :: ")[2] for line in project_of(ROOT)["classifiers"])
    return [version for version in named if version.startswith("3.")]


def build(place: Path, to: Path) -> None:
    """Build a source distribution, and the wheel from it."""
    command = [uv(), "build", "--quiet", "--out-dir", str(to), str(place)]
    subprocess.run(command, check=True)


def require_tag(tag: str, files: list[Path]) -> None:
    """Raise unless the tag of a release names the version of every file."""
    for file in files:
        version = re.search(r"-([0-9][^-]*?)(-py3|\.tar)", file.name)
        if version is None or tag != f"v{version[1]}":
            raise SystemExit(f"the tag must be v and the version of {file.name}; got {tag!r}")


def metadata_of(files: list[Path]) -> None:
    """Check for what an index would refuse, as twine knows it; a warning is an error."""
    command = [uv(), "tool", "run", "--quiet", "--from", TWINE, "twine", "check", "--strict"]
    subprocess.run([*command, *map(str, files)], check=True)


def found(version: str) -> str | None:
    """Return an interpreter of a version, if this machine has one."""
    command = [uv(), "python", "find", "--no-python-downloads", "--system", version]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout.strip() or None if done.returncode == 0 else None


def trial(interpreter: str, resolution: str, wheels: list[Path]) -> str:
    """Install the wheels in a clean environment, run the trial, and say which versions it had."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder, "environment")
        subprocess.run([uv(), "venv", "--quiet", "--python", interpreter, str(home)], check=True)
        python = str(home / "bin" / "python")
        wanted = [*map(str, wheels), *asked()]
        install = [uv(), "pip", "install", "--quiet", "--python", python]
        install += ["--resolution", RESOLUTIONS[resolution], *wanted]
        subprocess.run(install, check=True)
        subprocess.run([uv(), "pip", "check", "--quiet", "--python", python], check=True)
        empty = Path(folder, "empty")
        empty.mkdir()
        subprocess.run([python, "-W", "error", str(TRIAL)], cwd=empty, check=True)
        return installed(python)


def asked() -> list[str]:
    """Return the requirements of the wheels and three extras, so that uv can take the oldest."""
    projects = [project_of(place) for place in PLACES]
    ours = {project["name"] for project in projects}
    extras = projects[1]["optional-dependencies"]
    every = [line for project in projects for line in project["dependencies"]]
    every += [line for name in EXTRAS for line in extras[name]]
    return [line for line in every if Requirement(line).name not in ours]


def trials(wheels: list[Path], demanded: bool) -> Iterator[str]:
    """Yield a line for each interpreter and resolution; a missing one is named, or an error."""
    for version in pythons():
        interpreter = found(version)
        if interpreter is None and demanded:
            raise SystemExit(f"Python {version}, which a classifier names, is not on this machine")
        if interpreter is None:
            yield f"Python {version}: not on this machine, not tried"
            continue
        for resolution in RESOLUTIONS:
            yield f"Python {version}, {resolution}: {trial(interpreter, resolution, wheels)}"


def main() -> None:
    """Build, check, try; end with an error where something is not as it should be."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--to", type=Path, default=ROOT / "dist", help="the folder for the files")
    parser.add_argument("--every", action="store_true", help="fail where a Python is missing")
    parser.add_argument("--tag", default="", help="the tag of the release, v1.2.3")
    given = parser.parse_args()
    shutil.rmtree(given.to, ignore_errors=True)
    for place in PLACES:
        build(place, given.to)
    wheels, sources = sorted(given.to.glob("*.whl")), sorted(given.to.glob("*.tar.gz"))
    metadata_of([*wheels, *sources])
    if given.tag:
        require_tag(given.tag, [*wheels, *sources])
    for file in (*wheels, *sources):
        print(f"{file.name}  {file.stat().st_size / 1e6:.1f} MB", flush=True)
    for line in trials(wheels, given.every):
        print(line, flush=True)


if __name__ == "__main__":
    sys.exit(main())
