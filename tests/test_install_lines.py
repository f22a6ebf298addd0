"""Each page runs as printed, in an environment made by exactly the lines that it prints.

The lines are those that stand by themselves, ``    pip install ...``. The code is a page's
examples, or the cells that it shows. A chapter runs as the notebook that a reader takes away, whose
line stands in *How to read*.
"""

from __future__ import annotations

import functools
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from checked_equations.book.execution import cells

find_uv_bin = pytest.importorskip("uv").find_uv_bin
pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[1]
BY_DAY = ("README.md", "book/api/ten-minutes.md")
EXAMPLE = re.compile(r"^>>> ", re.MULTILINE)
HIDDEN = {"remove-cell", "remove-input"}
Environment = Callable[[tuple[str, ...]], Path]


def _text(page: str) -> str:
    return (ROOT / page).read_text("utf-8")


def _has_code(page: str) -> bool:
    """Return whether a page prints examples, or is a notebook, as its front matter says."""
    text = _text(page)
    return bool(EXAMPLE.search(text)) or text.startswith("---\njupytext:")


def _other_pages() -> list[str]:
    """Return the pages with code but for those that are read first."""
    book = sorted(path.relative_to(ROOT).as_posix() for path in ROOT.glob("book/**/*.md"))
    return [page for page in ("engine/README.md", *book) if page not in BY_DAY and _has_code(page)]


def _is_chapter(page: str) -> bool:
    return "from gpnotes_book import" in _text(page)


def _install_lines(page: str) -> tuple[str, ...]:
    text = _text("book/how-to-read.md" if _is_chapter(page) else page)
    return tuple(re.findall(r"^ {4,}(pip install .+)$", text, re.MULTILINE))


def _command(page: str, folder: Path) -> list[str]:
    """The command that runs the code of a page: its checks, its examples or the cells shown."""
    if _is_chapter(page):
        return ["checked-equations", "check", "--strict", str(ROOT / page)]
    if EXAMPLE.search(_text(page)):
        return ["python", "-m", "doctest", str(ROOT / page)]
    shown = [cell.code for cell in cells(ROOT / page) if not HIDDEN & cell.tags]
    program = folder / "page.py"
    program.write_text("\n".join(shown), "utf-8")
    return ["python", str(program)]


def _clone(to: Path) -> None:
    """Copy the tracked files of the distributions: a build leaves nothing in the checkout."""
    places = ("*.toml", "*.md", "LICENSE", "src", "engine", "papers", "editorial", "book")
    command = ["git", "ls-files", "-z", *places]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    for name in filter(lambda name: (ROOT / name).is_file(), listed.split("\0")):
        (to / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, to / name)


def _variables(home: Path) -> dict[str, str]:
    """The variables of a shell in which the environment at `home` is active, and no other."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    path = os.pathsep.join((str(home / "pip"), str(home / "venv" / "bin"), os.environ["PATH"]))
    return {**kept, "PATH": path, "VIRTUAL_ENV": str(home / "venv"), "MPLBACKEND": "agg"}


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """A function from install lines to an environment in which a shell has run them.

    There `pip` is uv's, which shares downloads, and pip's own where uv fails, for example because
    it does not read pip's settings.
    """

    @functools.cache
    def made(lines: tuple[str, ...]) -> Path:
        home = tmp_path_factory.mktemp("environment")
        _clone(home / "clone")
        uv, pip = find_uv_bin(), home / "pip" / "pip"
        subprocess.run(
            [uv, "venv", "--quiet", "--seed", "--python", sys.executable, home / "venv"], check=True
        )
        pip.parent.mkdir()
        pip.write_text(f'#!/bin/sh\n"{uv}" pip "$@" || exec python -m pip "$@"\n', "utf-8")
        pip.chmod(0o755)
        script = "\n".join(("set -e", *lines))
        subprocess.run(["bash", "-c", script], cwd=home / "clone", env=_variables(home), check=True)
        return home

    return made


def _run(page: str, environment: Environment, folder: Path) -> None:
    lines = _install_lines(page)
    assert lines, f"{page} prints code, and no line of its own that installs what it needs"
    variables = _variables(environment(lines))
    done = subprocess.run(
        _command(page, folder), cwd=folder, env=variables, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]


OURS = {"gpnotes": "install .", "checked_equations": "./engine", "checked_papers": "./papers"}


@pytest.mark.parametrize("page", [*BY_DAY, *_other_pages()])
def test_a_page_says_to_install_each_distribution_that_it_imports(page: str) -> None:
    said = " ".join(_install_lines(page)).replace("'", "")
    imported = re.findall(r"^(?:>>> )?(?:from|import) (\w+)", _text(page), re.MULTILINE)
    assert [name for name in {*imported} & {*OURS} if OURS[name] not in said] == []


@pytest.mark.parametrize("page", BY_DAY)
def test_what_is_read_first_runs_on_what_it_says_to_install(
    page: str, environment: Environment, tmp_path: Path
) -> None:
    _run(page, environment, tmp_path)


@pytest.mark.parametrize("page", _other_pages())
def test_every_other_page_runs_on_what_it_says_to_install(
    page: str, environment: Environment, tmp_path: Path
) -> None:
    _run(page, environment, tmp_path)
