"""`--watch`: what is looked at, what is not done twice, and a process that is really there."""

from __future__ import annotations

import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from checked_equations import __main__ as command
from checked_equations.book.execution import Run
from checked_papers import command_line, watching
from checked_papers.watching import BEGINS, ENDS, files_behind

SUM = "\\[ x + y = y + x \\]\n"
PAPER = f"\\input{{tail}}\n{SUM}"
PAGE = """# A page

$$ a = b + c $$ (eq-one)

```{code-cell}
from checked_equations import Chapter
Chapter("page").check("eq-one", {"a": 5.0, "b": 2.0, "c": 3.0}, oracle="by hand")
```
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)
    return tmp_path


class Watcher:
    """`checked-equations check --watch` as a process, read line by line."""

    def __init__(self, *arguments: str) -> None:
        words = [sys.executable, "-m", "checked_equations", "check", "--watch", *arguments]
        self.process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
        self.lines: queue.Queue[str] = queue.Queue()
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self) -> None:
        with self.process.stdout as lines:  # type: ignore[union-attr]
            for line in lines:
                self.lines.put(line.rstrip())

    def round(self) -> list[str]:
        """What is said until it waits."""
        said = [self.lines.get(timeout=60)]
        while not said[-1].startswith(ENDS):
            said.append(self.lines.get(timeout=60))
        return said

    def interrupt(self) -> int:
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(timeout=60)


@pytest.mark.usefixtures("interruptible")  # and so is the process that this one begins
@pytest.mark.skipif(os.name == "nt", reason="a signal to a process of its own")
def test_a_process_checks_again_until_it_is_interrupted(folder: Path) -> None:
    (folder / "paper.tex").write_text(PAPER, "utf-8")
    watcher = Watcher("paper.tex", "--all")
    try:
        first = watcher.round()
        assert first[0].startswith(f"{BEGINS} at ")
        assert first[1:] == [
            "paper.tex:1: note: the file tail is not there",
            "paper.tex:2:4: tried: holds · 12 of 12 mutants caught · x, y real",
            "1 text, 1 equation: 1 tried (1 holds)",
            f"{ENDS} for a change of 1 file; Ctrl-C ends",
        ]
        (folder / "new").write_text("\\[ x - y = -(y - x) \\]\n", "utf-8")
        (folder / "new").replace(folder / "tail.tex")  # as editors save
        second = watcher.round()
        assert second[0].endswith(": tail.tex changed")
        assert second[1].startswith("tail.tex:1:4: tried: holds")
        assert second[-1] == f"{ENDS} for a change of 2 files; Ctrl-C ends"
        assert watcher.interrupt() == 0
    finally:
        watcher.process.kill()
        watcher.reader.join()


def rounds(monkeypatch: pytest.MonkeyPatch, *edits: Callable[[], object]) -> Callable[[str], int]:
    """Run the command in this process: one edit after each round, then Ctrl-C."""
    left = list(edits)

    def watch(*folders: Path, **options: Any) -> Iterator[set[Any]]:
        assert not options["recursive"]
        if not left:
            raise KeyboardInterrupt
        left.pop(0)()
        yield {"an event"}
        raise AssertionError("the edit made no difference")

    monkeypatch.setitem(sys.modules, "watchfiles", SimpleNamespace(watch=watch))
    monkeypatch.setattr(command_line, "find_spec", lambda name: object())
    return lambda *words: command.main(["check", "--watch", *words])


def test_a_folder_is_looked_through_and_what_is_half_written_ends_nothing(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    (folder / "parts").mkdir()
    (folder / "paper.tex").write_text(SUM, "utf-8")
    page, settings = folder / "parts" / "page.md", folder / "equations.toml"
    run = rounds(
        monkeypatch,
        lambda: page.write_text("$$ \\sqrt{x^2} = x $$\n", "utf-8"),
        lambda: settings.write_text("nothing = 1\n", "utf-8"),
        lambda: settings.write_text('let = ["x > 0"]\n', "utf-8"),
        page.unlink,
    )
    assert run(".", "--all") == 0
    said = capsys.readouterr()
    told = [line.split(" at ")[1][8:] for line in said.out.splitlines() if BEGINS in line]
    page_changed, settings_changed = ": page.md changed", ": equations.toml changed"
    assert told == ["", page_changed, settings_changed, settings_changed, page_changed]
    assert "nothing is no setting of the engine" in said.err
    verdicts = [line for line in said.out.splitlines() if line.startswith("parts/page.md")]
    assert [" holds ·" in line for line in verdicts] == [False, True]


def test_nothing_is_tried_twice_or_run_twice_unless_something_changed(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    ran: list[str] = []
    tried: list[str] = []
    monkeypatch.setattr(
        watching.execution, "run_apart", lambda page: ran.append(page.name) or Run()
    )
    real = watching.try_all
    monkeypatch.setattr(watching, "try_all", lambda every, jobs: real(_noted(every, tried), jobs))
    paper, page = folder / "paper.tex", folder / "page.md"
    paper.write_text(SUM, "utf-8")
    page.write_text(PAGE.replace("eq-one)", "eq-one)\n\n$$ x = x + 0 $$"), "utf-8")
    run = rounds(
        monkeypatch,
        lambda: paper.write_text("\n" + SUM, "utf-8"),
        lambda: paper.write_text("\n" + SUM.replace("y", "z"), "utf-8"),
        lambda: (folder / "helper.py").write_text("", "utf-8"),
    )
    assert run("paper.tex", "page.md", "--all") == 0
    assert ran == ["page.md", "page.md"], "again for the module beside it alone"
    assert [latex.strip() for latex in tried] == [
        "x + y = y + x", "a = b + c", "x = x + 0", "x + z = z + x",
    ]  # fmt: skip
    assert "\npaper.tex:2:4: tried: holds" in capsys.readouterr().out, "at its new line"


def _noted(every: list[Any], tried: list[str]) -> list[Any]:
    tried += [task.latex for task in every]
    return every


def test_a_page_depends_on_the_paper_whose_equations_it_checks(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    """That it does is known after its first run, and is no change."""
    paper = folder / "paper.tex"
    text = "\\begin{equation} a = b + c \\label{eq-one} \\end{equation}\n"
    paper.write_text(text, "utf-8")
    opened = '("paper", "paper.tex")'
    checks = PAGE.replace(" (eq-one)", "").replace('("page").', f"{opened}\nchapter.")
    (folder / "page.md").write_text(checks.replace("\nChapter", "\nchapter = Chapter"), "utf-8")
    monkeypatch.setattr(watching.execution, "run_apart", watching.execution.run_page)
    run = rounds(monkeypatch, lambda: paper.write_text(text.replace("+", "-"), "utf-8"))
    assert run("page.md", "--all") == 0
    said = [
        line for line in capsys.readouterr().out.splitlines() if "eq-one" in line or "---" in line
    ]
    begun = [line.split(" at ")[1][8:] for line in said if line.startswith(BEGINS)]
    assert begun == ["", ": paper.tex changed"]
    assert [": checked: does not hold" in line for line in said if "eq-one" in line] == [
        False,
        True,
    ]


def test_the_sources_are_what_is_read_and_what_would_be(folder: Path) -> None:
    (folder / "paper.tex").write_text(PAPER + "\\input{there}\\usepackage{own}", "utf-8")
    for name in ("there.tex", "own.sty", "other.tex", "helper.py"):
        (folder / name).write_text("", "utf-8")
    (folder / "page.md").write_text(PAGE, "utf-8")
    sidecars = {"equations.toml", "equations-baseline.toml", "_config.yml"}
    paper = {"paper.tex", "there.tex", "own.sty", "tail.tex", "tail", *sidecars}
    found = files_behind([folder / "paper.tex"])
    assert {file.name for file in found} == paper
    assert {file.name for file in files_behind([folder / "page.md"])} == {
        "page.md", "helper.py", *sidecars,
    }  # fmt: skip


@pytest.mark.parametrize("more", [["--format", "json"], ["--write-baseline"]])
def test_it_goes_with_lines_alone(folder: Path, more: list[str], capsys: Any) -> None:
    with pytest.raises(SystemExit, match="2"):
        command.main(["check", "paper.tex", "--watch", *more])
    assert "--watch says lines for people" in capsys.readouterr().err


def test_what_is_missing_is_told_at_once(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    assert command.main(["check", "paper.tex", "--watch"]) == 2
    assert "there is no paper.tex" in capsys.readouterr().err
    monkeypatch.setattr(command_line, "find_spec", lambda name: None)
    with pytest.raises(SystemExit, match="2"):
        command.main(["check", "paper.tex", "--watch"])
    assert "pip install 'checked-papers[watch]'" in capsys.readouterr().err
