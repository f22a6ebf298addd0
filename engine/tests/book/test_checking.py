"""The checks of pages without a build, as `--strict` runs them, and pages that are not done yet."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from checked_equations import Chapter
from checked_equations.__main__ import main
from checked_equations.book import execution, ledger
from checked_equations.book.ledger import LedgerError

CODE = """\
from checked_equations import Chapter
chapter = Chapter("page")
numbers = {"a": 5.0, "b": 2.0, "c": 3.0}
"""
ONE = 'chapter.check("eq-one", numbers, oracle="by hand")'
PAGE = f"""# A page

```{{math}}
:label: eq-one
a = b + c
```

$$
b = a - c
$$ (eq-two)

```{{code-cell}} ipython3
:tags: [evidence]
%matplotlib inline
{CODE}```

```{{code-cell}} ipython3
{ONE}
```
"""
TWO = """
```{code-cell} ipython3
chapter.check("eq-two", numbers, oracle="by hand")
```
"""
QUARTO = f"""# A page

$$
a = b + c
$$ {{#eq-one}}

```{{python}}
#| echo: false
{CODE}{ONE}
```
"""
RESTRUCTURED = f"""A page
======

.. math::
   :label: eq-one

   a = b + c

.. jupyter-execute::
   :hide-code:

   {CODE.replace(chr(10), chr(10) + "   ")}{ONE}
"""


def notebook() -> str:
    cells = [
        {"cell_type": "markdown", "metadata": {}, "source": ["$$ a = b + c $$ (eq-one)"]},
        {"cell_type": "code", "metadata": {}, "source": [*CODE.splitlines(True), ONE]},
    ]
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4}, indent=1)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)
    return tmp_path


@pytest.fixture
def check(check_apart: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """`check_apart` in this process, which has the grammar already: for what is said of a run."""

    monkeypatch.setattr(execution, "run_apart", execution.run_page)
    return check_apart


@pytest.fixture
def check_apart(folder: Path, capsys: Any) -> Any:
    """Write a page, and run the command on it (or on other paths): the status and the lines."""

    def run(text: str, *arguments: str, name: str = "page.md") -> tuple[int, list[str]]:
        (folder / name).write_text(text, encoding="utf-8")
        status = main(["check", "--strict", name, *arguments, "--jobs", "1"])
        said = capsys.readouterr()
        return status, (said.out + said.err).splitlines()

    return run


class TestCheck:
    def test_one_line_a_check_and_status_zero(self, check_apart: Any) -> None:
        status, lines = check_apart(PAGE + TWO)
        assert status == 0
        held = "holds to 1e-09 · 1 step"
        assert [line.partition(" · ")[0] for line in lines[:2]] == [
            "page.md:5: eq-one: holds to 1e-09",
            "page.md:9: eq-two: holds to 1e-09",
        ]
        assert held in lines[0]
        assert lines[2:] == ["1 pages: 2 checks hold, 0 errors"]

    @pytest.mark.parametrize(
        ("name", "text", "line"),
        [("page.qmd", QUARTO, 4), ("page.rst", RESTRUCTURED, 7), ("page.ipynb", notebook(), 7)],
    )
    def test_other_kinds_of_pages(self, check: Any, name: str, text: str, line: int) -> None:
        status, lines = check(text, name=name)
        assert (status, lines[0].partition(": holds")[0]) == (0, f"{name}:{line}: eq-one")

    def test_a_false_equation_is_one_and_the_others_are_tried(self, check: Any) -> None:
        status, lines = check((PAGE + TWO).replace("a = b + c", "a = b - c"))
        assert status == 1
        assert lines[0].startswith("page.md:9: eq-two: holds")
        assert lines[1].startswith("page.md:5:5: error: eq-one, line 5, column 5: step 1 of 1")
        assert lines[-1] == "1 pages: 1 checks hold, 1 errors"

    def test_github_is_told_of_the_line(self, check: Any, monkeypatch: Any) -> None:
        false = (PAGE + TWO).replace("a = b + c", "a = b - c")
        _, lines = check(false, "--annotate")
        (told,) = [line for line in lines if line.startswith("::")]
        assert told.startswith("::error file=page.md,line=5,col=5,title=eq-one::eq-one, line 5")
        assert "%0A" in told
        monkeypatch.setenv("GITHUB_ACTIONS", "true")
        assert told in check(false)[1]

    def test_an_equation_without_a_check_is_one(self, check: Any) -> None:
        status, lines = check(PAGE)
        assert status == 1
        assert lines[1] == (
            "page.md:9:1: error: the equation eq-two is numbered, but no cell checks it"
        )

    def test_a_page_that_cannot_be_run_is_two(self, check_apart: Any) -> None:
        status, lines = check_apart(PAGE.replace("numbers, oracle", "nothing, oracle"))
        assert status == 2
        line = PAGE.splitlines().index(ONE) + 1
        assert f"page.md:{line}:1: error: NameError: name 'nothing' is not defined" in lines[0]
        died = PAGE.replace(ONE, "import os; os._exit(3)")
        assert "could not be run: it ended with the status 3" in check_apart(died)[1][0]

    def test_a_ledger_does_not_say_it_twice(self, check: Any) -> None:
        status, lines = check(PAGE.replace(ONE, f"{ONE}\nchapter.ledger()"))
        assert status == 1
        assert sum("error" in line for line in lines[:-1]) == 1

    def test_what_a_build_leaves_behind_is_no_page(self, folder: Path) -> None:
        (folder / "jupyter_execute").mkdir()
        for name in ("page.ipynb", "jupyter_execute/page.ipynb"):
            (folder / name).write_text(notebook(), encoding="utf-8")
        assert execution.pages_of([folder]) == [folder / "page.ipynb"]

    def test_folders_hold_the_pages_with_checks(self, check: Any, folder: Path) -> None:
        (folder / "in").mkdir()
        (folder / "in" / "words.md").write_text("# Words\n\n$$ a = b $$ (eq-none)\n", "utf-8")
        (folder / "in" / "alone.md").write_text(
            "```{code-cell} python\nfrom checked_equations import check_equation\n"
            'check_equation("a = b + c", {"a": 5.0, "b": 2.0, "c": 3.0})\n```\n',
            "utf-8",
        )
        status, lines = check(PAGE + TWO, "in")
        assert (status, lines[-1]) == (0, "2 pages: 3 checks hold, 0 errors")
        assert main(["check", "nowhere"]) == 2
        assert main(["check", str(folder / "in" / "words.md")]) == 0  # as it is named


class TestTheBaseline:
    def test_what_it_lists_need_not_be_checked_and_it_only_shrinks(
        self, check: Any, folder: Path
    ) -> None:
        status, lines = check(PAGE, "--write-baseline")
        assert (status, lines[-1]) == (0, "1 pages: 1 checks hold, 0 errors, 1 not yet checked")
        kept = folder / "equations-baseline.toml"
        assert kept.read_text("utf-8").endswith('"page.md" = [\n  "eq-two",\n]\n')
        assert check(PAGE)[0] == 0

        status, lines = check(PAGE + TWO)
        assert status == 1
        assert "eq-two is checked now: take it out of equations-baseline.toml" in lines[2]
        assert check(PAGE + TWO, "--write-baseline")[0] == 0
        assert "eq-two" not in kept.read_text("utf-8")
        status, lines = check(PAGE, "--write-baseline")
        assert status == 1, "it never grows"
        assert "eq-two" not in kept.read_text("utf-8")

    def test_a_label_that_is_gone_must_leave(self, check: Any, folder: Path) -> None:
        (folder / "equations-baseline.toml").write_text('"page.md" = ["eq-old", "eq-two"]\n')
        _, lines = check(PAGE)
        assert "no equation has the label eq-old: take it out" in lines[1]
        assert len([line for line in lines if "error:" in line]) == 1

    def test_the_ledger_of_a_chapter_honours_it(self, folder: Path) -> None:
        (folder / "page.md").write_text(PAGE, "utf-8")
        chapter = Chapter("page")
        numbers = {"a": 5.0, "b": 2.0, "c": 3.0}
        chapter.check("eq-one", numbers, oracle="by hand")
        with pytest.raises(LedgerError, match=r"eq-two \(line 9\)"):
            chapter.ledger()
        (folder / "equations-baseline.toml").write_text('"page.md" = ["eq-two"]\n')
        assert " · 1 not yet · " in repr(chapter.ledger())
        chapter.check("eq-two", numbers, oracle="by hand")
        with pytest.raises(LedgerError, match="eq-two is checked now"):
            chapter.ledger()

    def test_it_must_be_lists_of_labels(self, folder: Path) -> None:
        place = folder / "equations-baseline.toml"
        for text, said in (("a = 1", "a must be a list of labels; got 1"), ("a =", "Invalid")):
            place.write_text(text)
            with pytest.raises(ValueError, match=said):
                ledger.read_baseline(place)


def test_a_cell_may_be_left_out_or_may_fail(folder: Path) -> None:
    text = PAGE + TWO
    text += "\n```{code-cell} python\n:tags: [raises-exception]\n1 / 0\n```\n"
    text += "\n```{code-cell} python\n:tags: [skip-execution]\nimport nothing_of_this_name\n```\n"
    (folder / "page.md").write_text(text, "utf-8")
    assert execution.run_page(folder / "page.md").faults == ()


def test_a_cell_of_quarto_says_so_in_its_options(folder: Path) -> None:
    text = QUARTO + "\n```{python}\n#| error: true\n1 / 0\n```\n"
    text += "\n```{python}\n#| label: later\n#| eval: false\nimport nothing_of_this_name\n```\n"
    (folder / "page.qmd").write_text(text, "utf-8")
    assert execution.run_page(folder / "page.qmd").faults == ()
    (folder / "page.qmd").write_text(text.replace("#| eval", "x = 1\n#| eval"), "utf-8")
    (fault,) = execution.run_page(folder / "page.qmd").faults
    assert "nothing_of_this_name" in fault.said


def test_what_only_a_notebook_has_is_passed_over(folder: Path) -> None:
    """Magics, cells in another language, `display`; but no line that is Python."""
    cell = "\n```{code-cell} python\n"
    text = PAGE + TWO + cell + "%%bash\nls | head\n```\n" + cell + "%%time\n!ls\nseven = 7\n```\n"
    text += cell + "display(seven)\nseven?\nassert get_ipython() is None\n```\n"
    text += cell + "rest = (seven\n% 4)\nassert rest == 3\n```\n"
    (folder / "page.md").write_text(text, "utf-8")
    left = execution.run_page(folder / "page.md")
    assert left.faults == ()
    assert len(left.checks) == 2
