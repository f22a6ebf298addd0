"""The command over papers and pages: what is checked, tried, defined, not read, and how it ends."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from checked_equations.__main__ import main
from checked_equations.book import execution
from checked_papers import display_trials, sarif
from checked_papers.tried import sample_fates

PAPER = r"""\documentclass{article}
\newcommand{\half}{\frac{1}{2}}
\begin{document}
\begin{align}
  (a + b)^2 &= a^2 + 2 a b + b^2 \label{eq:square} \\
  \cos(2 x) &= 1 - \sin^2 x      \label{eq:double}
\end{align}
\[ \sqrt{x^2} = x \]
\[ m = \half (a + b) \]
\begin{equation} a \heartsuit b \label{eq:odd} \end{equation}
\input{tail}
\end{document}
"""
FAILS = "fails on all numbers drawn"
NOTED = r"""
\[ \cosh^2 x + \sinh^2 x = 1 \]
\[ \frac{13}{52} \times \frac{12}{51} = \frac{156}{2652} = \mathbb E[C] \]
\[ e^x \ge 1 + x \]
\[ P = \frac{1}{13} = \frac{4}{52}, \quad Q = \frac13 = \frac{26}{52} \]
\[ x = \cos x \]
"""
TAIL = "% let A, B be matrices\n\\[ \\log(a b) = \\log a + \\log b, \\quad a > 0, b > 0 \\]\n"
PAGE = """# A page

$$
a = b + c
$$ (eq-one)

$$ (a - b)^2 = a^2 - 2 a b + b^2 $$ (eq-two)

$$
(a - b)^2 = a^2 + 2 a b + b^2
$$

```python
$$ not = read $$
```

```{code-cell} ipython3
from checked_equations import Chapter
chapter = Chapter("page")
chapter.check("eq-one", {"a": 5.0, "b": 2.0, "c": 3.0}, oracle="by hand")
```
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)
    monkeypatch.setattr(execution, "run_apart", execution.run_page)
    monkeypatch.setattr(sample_fates, "_SEARCH", 25_000)  # for mends, which have tests of their own
    return tmp_path


@pytest.fixture
def check(folder: Path, capsys: Any) -> Any:
    """Write files, run the command, and return its status and what it says."""

    def run(*arguments: str, jobs: int = 1, **files: str) -> tuple[int, str]:
        for name, text in files.items():
            (folder / name.replace("__", ".")).write_text(text, encoding="utf-8")
        status = main(["check", *arguments, "--jobs", str(jobs)])
        said = capsys.readouterr()
        return status, said.out + said.err

    return run


def outcomes(said: str) -> list[tuple[str, str]]:
    every = json.loads(said)["equations"]
    return [(one["verdict"], one.get("outcome", "")) for one in every]


def test_each_display_of_a_paper_has_its_verdict(check: Any) -> None:
    files = {"paper__tex": PAPER, "tail__tex": TAIL.replace("% let", "%")}
    status, said = check("paper.tex", "--all", **files)
    lines = said.splitlines()
    assert status == 1
    assert lines[0].startswith("paper.tex:5:3: (1) eq:square: tried: holds · ")
    assert lines[0].endswith(" mutants caught · a, b real")
    assert lines[1].startswith("paper.tex:6:3: error: (2) eq:double: tried: does not hold")
    assert lines[2].startswith("paper.tex:8:4: note: tried: holds if x > 0")
    assert lines[3] == "paper.tex:9:4: definition · of m"
    assert lines[4].startswith("paper.tex:10:18: (3) eq:odd: not read: ")
    assert lines[5].startswith("tail.tex:2:4: tried: holds")
    assert lines[6] == (
        "1 text, 6 equations: "
        "4 tried (2 hold, 1 holds in a region, 1 does not hold), 1 definition, 1 not read"
    )
    assert lines[7].startswith("  not read, 1: ")


def test_one_screen_has_errors_notes_and_the_totals(check: Any) -> None:
    """What holds, in part or as a whole, defines or is not read is counted there, and no more."""
    paper = PAPER.replace(r"\input", NOTED + r"\input")
    files = {"paper__tex": paper, "tail__tex": TAIL.replace("% let", "%")}
    status, said = check("paper.tex", **files)
    lines = said.splitlines()
    assert status == 1
    heads = [line.split(": tried")[0] for line in lines[:-1]]
    assert heads == [
        "paper.tex:6:3: error: (2) eq:double", "paper.tex:8:4: note",
        "paper.tex:12:4: note", "paper.tex:15:4: note",
    ]  # fmt: skip
    assert lines[2].startswith(
        "paper.tex:12:4: note: tried: fails on all numbers drawn; it would hold with flip the sign"
    )
    assert "1 of 2 steps fails on all numbers drawn, `" in lines[3]
    assert lines[-1] == (
        "1 text, 11 equations: 9 tried (2 hold, 1 holds in a region, 1 holds in part, "
        "1 agrees, with slips unseen, 3 fail on all numbers drawn, 1 does not hold), "
        "1 definition, 1 not read; --all says the rest"
    )
    status, said = check("paper.tex", "--quiet", **files)
    assert len(said.splitlines()) == 2
    refused = pytest.raises(SystemExit, match="2")
    with refused:
        check("paper.tex", "--quiet", "--all", **files)


def test_notes_fail_nothing_and_are_data(check: Any) -> None:
    """What was judged of a display and what was not stands in JSON and in SARIF as lists."""
    status, said = check("noted.tex", "--format", "json", noted__tex=NOTED)
    assert status == 0
    every = json.loads(said)["equations"]
    assert [one.get("outcome") for one in every] == [
        FAILS, "holds in part", "agrees on all numbers drawn", FAILS, FAILS,
    ]  # fmt: skip
    assert every[1]["steps"] == {"hold": 1, "not judged": 1}
    assert every[1]["not judged"] == [r"\frac{156}{2652} = \mathbb E[C]"]
    assert every[3]["failing"] == [r"\frac13 = \frac{26}{52}"]
    _, said = check("noted.tex", "--format", "sarif", noted__tex=NOTED)
    results = json.loads(said)["runs"][0]["results"]
    assert [(one["level"], one["kind"]) for one in results] == [
        ("note", "fail"), ("none", "review"), ("none", "review"), ("note", "fail"),
        ("note", "fail"),
    ]  # fmt: skip
    assert results[1]["properties"]["not judged"] == every[1]["not judged"]
    assert results[2]["properties"]["mutants"]["survived"] > 0


def test_nothing_that_fails_is_zero(check: Any) -> None:
    status, _ = check("paper.tex", paper__tex=r"\[ (a + b)^2 = a^2 + 2 a b + b^2 \]")
    assert status == 0


def test_a_page_keeps_its_checks_and_the_rest_is_tried(check: Any) -> None:
    status, said = check("page.md", "--format", "json", page__md=PAGE)
    assert status == 1
    assert outcomes(said) == [("checked", "holds"), ("tried", "holds"), ("tried", "does not hold")]
    one, two, three = json.loads(said)["equations"]
    assert (one["label"], one["line"]) == ("eq-one", 4)
    assert (two["label"], two["line"], two["column"]) == ("eq-two", 7, 4)
    assert (three["line"], three["column"]) == (10, 1)
    assert json.loads(said)["totals"] == {
        "checked holds": 1, "tried holds": 1, "tried does not hold": 1,
    }  # fmt: skip


def test_processes_share_the_displays_and_say_the_same(
    check: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(display_trials, "_WORTH_IT", 1)
    alone = check("paper.tex", paper__tex=PAPER, tail__tex=TAIL)
    assert check("paper.tex", jobs=2) == alone


def test_the_letters_of_a_reference_work_are_asked_for_by_name(check: Any) -> None:
    pytest.importorskip("mpmath")
    bessel = r"\[ J_0'(x) = -J_1(x) \]"
    assert outcomes(check("a.tex", "--format", "json", a__tex=bessel)[1]) == [("definition", "")]
    said = check("a.tex", "--format", "json", "--notation", "nist", a__tex=bessel)[1]
    assert outcomes(said) == [("tried", "holds")]


def test_strict_tries_nothing(check: Any) -> None:
    status, said = check("page.md", "--strict", page__md=PAGE)
    assert status == 1
    assert "the equation eq-two is numbered, but no cell checks it" in said
    assert "tried" not in said


def test_a_check_that_fails_is_told_once(check: Any) -> None:
    page = PAGE.replace("a = b + c", "a = b - c")
    status, said = check("page.md", "--format", "json", page__md=page)
    assert (status, outcomes(said)[0]) == (1, ("checked", "does not hold"))
    assert [one.get("label") for one in json.loads(said)["equations"]].count("eq-one") == 1
    refused = PAGE.replace('"b": 2.0, "c": 3.0', '"b": 5.0, "c": 0.0')
    assert outcomes(check("page.md", "--format", "json", page__md=refused)[1])[0] == (
        "checked", "refused",
    )  # fmt: skip


def test_what_cannot_be_run_or_read_is_two(check: Any) -> None:
    assert check("page.md", page__md=PAGE.replace("5.0", "nothing"))[0] == 2
    assert check("paper.doc", paper__doc="")[0] == 2
    assert check("paper.tex", "--let", "A be blue", paper__tex=r"\[ a = b \]")[0] == 2


def test_a_comment_that_may_be_prose_is_a_note(check: Any) -> None:
    status, said = check("paper.tex", paper__tex="% let A be blue\n\\[ a + b = b + a \\]")
    assert status == 0
    assert "paper.tex:1: note: this comment declares nothing: `blue` is no kind" in said


def test_what_is_missing_is_a_note(check: Any) -> None:
    status, said = check("paper.tex", paper__tex="\\input{gone}\n\\[ a + b = b + a \\]")
    assert status == 0
    assert said.startswith("paper.tex:1: note: the file gone is not there")


class TestDeclarations:
    TRACE = r"\[ \operatorname{tr}(A B) = \operatorname{tr}(B A) \]"
    FALSE = r"\[ A B = B A \]"

    def told(self, check: Any, text: str, *arguments: str) -> list[tuple[str, str]]:
        said = check("paper.tex", "--format", "json", *arguments, paper__tex=text)[1]
        return outcomes(said)

    def test_in_the_source(self, check: Any) -> None:
        declared = "% let A, B be n×n\n"
        assert self.told(check, declared + self.TRACE) == [("tried", "holds")]
        assert self.told(check, declared + self.FALSE) == [("tried", "does not hold")]
        assert self.told(check, self.FALSE + declared) == [("tried", "holds if")], "from there on"

    def test_on_the_command_line_and_in_the_settings(self, check: Any, folder: Path) -> None:
        assert self.told(check, self.FALSE, "--let", "A, B be n×n") == [("tried", "does not hold")]
        settings = folder / "equations.toml"
        settings.write_text('let = ["A, B be n×n"]\n', "utf-8")
        assert self.told(check, self.FALSE) == [("tried", "does not hold")]
        settings.write_text('[let]\n"eq:ab" = "A, B be n×n"\n', "utf-8")
        assert self.told(check, self.FALSE) == [("tried", "holds if")]
        labelled = r"\begin{equation} A B = B A \label{eq:ab} \end{equation}"
        assert self.told(check, labelled) == [("tried", "does not hold")]

    def test_in_a_page(self, check: Any) -> None:
        page = "<!-- let A, B be n×n -->\n\n$$ A B = B A $$\n"
        assert outcomes(check("p.md", "--format", "json", p__md=page)[1]) == [
            ("tried", "does not hold")
        ]

    def test_conditions_and_functions(self, check: Any) -> None:
        root = r"\[ \sqrt{x^2} = x \]"
        assert self.told(check, "% let x > 0\n" + root) == [("tried", "holds")]
        product = r"\[ f(a) f(b) = f(a + b) \]"
        assert self.told(check, "% let f(x) = \\exp(3 x)\n" + product) == [("tried", "holds")]
        assert self.told(check, "% let f(x) = 3 x\n" + product) == [("tried", "does not hold")]


CHECKS = """# The checks of the paper

```{code-cell} ipython3
from checked_equations import Chapter
chapter = Chapter("paper", "paper.tex")
chapter.check("eq:square", {"a": 2.0, "b": 3.0}, oracle="two numbers")
```
"""


def test_the_equations_of_a_paper_can_be_checked(check: Any) -> None:
    """By a page beside it; the others are tried, or missed where nothing may be tried."""
    files = {"paper__tex": PAPER, "tail__tex": "", "checks__md": CHECKS}
    _, said = check("paper.tex", "checks.md", "--format", "json", **files)
    first, *others = json.loads(said)["equations"]
    assert (first["label"], first["verdict"], first["line"]) == ("eq:square", "checked", 5)
    assert "checked" not in {one["verdict"] for one in others}
    assert "eq:square" not in {one.get("label") for one in others}
    false = {**files, "paper__tex": PAPER.replace("2 a b", "3 a b")}
    _, said = check("paper.tex", "checks.md", **false)
    assert "paper.tex:5:16: error: (1) eq:square: checked: does not hold" in said
    status, said = check("--strict", "paper.tex", "checks.md", **files)
    assert status == 1
    assert "paper.tex:6:1: error: the equation eq:double is numbered, but no cell checks it" in said
    assert "eq:square is numbered" not in said
    assert check("--strict", "paper.tex", paper__tex=r"\[ a = b \]")[0] == 0


def test_folders(check: Any, folder: Path) -> None:
    (folder / "parts").mkdir()
    (folder / "parts" / "tail.tex").write_text(TAIL.replace("% let", "%"), "utf-8")
    (folder / "words.md").write_text("# No equation\n", "utf-8")
    paper = PAPER.replace("{tail}", "{parts/tail}")
    _, said = check(".", "--format", "json", paper__tex=paper, page__md=PAGE)
    files = [one["file"] for one in json.loads(said)["equations"]]
    assert files.count("parts/tail.tex") == 1, "it is part of the paper, and no paper"
    assert set(files) == {"paper.tex", "parts/tail.tex", "page.md"}


@pytest.mark.parametrize("named", ["page.*", "."])
@pytest.mark.parametrize(
    ("suffix", "held", "said"),
    [
        ("ipynb", b"", "a notebook must be JSON of version 4"),
        ("ipynb", b"[]", "a notebook must be JSON of version 4"),
        ("ipynb", b'{"worksheets": [], "nbformat": 3}', "a notebook must be JSON of version 4"),
        ("ipynb", b'{"cells": [{"cell_type": "markdown"}]}', "cells that have a source"),
        ("md", "Größe".encode("latin-1"), "'utf-8' codec can't decode"),
        ("md", b"```\n$$a = b$$\n", "the fence ``` is never closed"),
    ],
)
def test_a_page_that_cannot_be_read_is_named(
    check: Any, folder: Path, suffix: str, held: bytes, said: str, named: str
) -> None:
    """Also in a folder, whose other pages are tried: what it holds is not known to hold."""
    page = folder / f"page.{suffix}"
    page.write_bytes(held)
    status, told = check(named.replace("*", suffix), "other.md", other__md="$$ a + b = b + a $$\n")
    assert status == 2
    assert f"page.{suffix}:1:1: error:" in told
    assert said in told
    assert "1 tried (1 holds)" in told


def test_a_notebook_may_begin_with_a_mark_of_its_bytes(check: Any) -> None:
    cell = {"cell_type": "markdown", "source": "$$ a + b = b + a $$"}
    held = "\ufeff" + json.dumps({"cells": [cell]})
    assert outcomes(check("p.ipynb", "--format", "json", p__ipynb=held)[1]) == [("tried", "holds")]


@pytest.mark.parametrize("coded", ["utf-8", "utf-8-sig", "utf-16", "latin-1"])
@pytest.mark.parametrize("named", ["p.tex", "."])
def test_a_paper_in_any_encoding_is_read(check: Any, folder: Path, coded: str, named: str) -> None:
    """One of UTF-16 was a paper without equations."""
    paper = "\\documentclass{article}\\begin{document}Größe $$ a + b = b + a $$\\end{document}\n"
    (folder / "p.tex").write_bytes(paper.encode(coded))
    status, said = check(named, "--format", "json")
    assert (status, outcomes(said)) == (0, [("tried", "holds")])


def test_other_kinds_of_pages(check: Any) -> None:
    rst = "A page\n======\n\n.. math::\n   :label: eq-one\n\n   a + b = b + a\n"
    assert outcomes(check("p.rst", "--format", "json", p__rst=rst)[1]) == [("tried", "holds")]
    fence = "Words\n\n```math\na + b = b + a\n```\n"
    assert outcomes(check("p.md", "--format", "json", p__md=fence)[1]) == [("tried", "holds")]
    rows = "$$\n\\begin{eqnarray}\na + b &=& b + a \\\\\n2 a &=& a + a\n\\end{eqnarray}\n$$\n"
    said = check("p.md", "--format", "json", p__md=rows)[1]
    assert outcomes(said) == [("tried", "holds"), ("tried", "holds")]
    cell = {"cell_type": "markdown", "metadata": {}, "source": ["Words\n", "$$ a + b = b + a $$"]}
    notebook = json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4}, indent=1)
    _, said = check("p.ipynb", "--format", "json", p__ipynb=notebook)
    assert outcomes(said) == [("tried", "holds")]
    line = next(i for i, one in enumerate(notebook.splitlines(), 1) if "a + b" in one)
    assert json.loads(said)["equations"][0]["line"] == line


def test_github_is_warned_of_what_was_tried(check: Any) -> None:
    said = check("paper.tex", "--annotate", paper__tex=r"\[ \cos(2 x) = 1 - \sin^2 x \]")[1]
    assert "::warning file=paper.tex,line=1,col=4,title=tried::tried%3A does not hold" in said or (
        "::warning file=paper.tex,line=1,col=4,title=tried::tried: does not hold" in said
    )


class TestSarif:
    """The fields that SARIF 2.1.0 requires, sections 3.13, 3.14, 3.18, 3.19, 3.27 and 3.29."""

    def log(self, check: Any, **files: str) -> dict[str, Any]:
        paths = [name.replace("__", ".") for name in files if not name.startswith("tail")]
        log: dict[str, Any] = json.loads(check(*paths, "--format", "sarif", **files)[1])
        return log

    def test_its_shape(self, check: Any) -> None:
        log = self.log(check, paper__tex=PAPER, tail__tex=TAIL.replace("% let", "%"), page__md=PAGE)
        assert log["version"] == "2.1.0"
        assert log["$schema"].endswith("sarif-schema-2.1.0.json")
        (run,) = log["runs"]
        driver = run["tool"]["driver"]
        assert driver["name"] == "checked-equations"
        ids = [rule["id"] for rule in driver["rules"]]
        assert len(set(ids)) == len(ids)
        assert run["columnKind"] in ("utf16CodeUnits", "unicodeCodePoints")
        for result in run["results"]:
            assert result["message"]["text"]
            assert ids[result["ruleIndex"]] == result["ruleId"]
            assert result["level"] in ("none", "note", "warning", "error")
            where = result["locations"][0]["physicalLocation"]
            assert not Path(where["artifactLocation"]["uri"]).is_absolute()
            assert where["artifactLocation"]["uriBaseId"] in run["originalUriBaseIds"]
            assert where["region"]["startLine"] >= 1
            assert where["region"]["startColumn"] >= 1
        assert run["originalUriBaseIds"]["ROOT"]["uri"].endswith("/")

    def test_beside_the_lines(self, check: Any, folder: Path) -> None:
        paper = "% let x > 0\n\\[ \\sqrt{x^2} = x \\]\n\\[ x^2 = x \\]\n"
        lines = check("paper.tex", paper__tex=paper)[1]
        assert check("paper.tex", "--sarif", "here.sarif", paper__tex=paper)[1] == lines
        said = check("paper.tex", "--format", "sarif", paper__tex=paper)[1]
        assert (folder / "here.sarif").read_text("utf-8") + "\n" == said

    def test_not_where_nothing_is_tried(self, check: Any, capsys: Any) -> None:
        for option in ("--sarif=here", "--format=json"):
            with pytest.raises(SystemExit, match="2"):
                check("paper.tex", "--strict", option)
            assert "they go with neither --format nor --sarif" in capsys.readouterr().err

    def test_only_what_asks_for_something_is_a_result(self, check: Any) -> None:
        log = self.log(check, paper__tex=PAPER, tail__tex=TAIL.replace("% let", "%"))
        results = log["runs"][0]["results"]
        assert [(one["ruleId"], one["level"]) for one in results] == [
            ("tried-does-not-hold", "warning"), ("tried-holds-if", "note"),
        ]  # fmt: skip
        assert log["runs"][0]["properties"]["totals"]["tried holds"] == 2

    def test_checks_are_errors_and_never_warnings(self, check: Any) -> None:
        log = self.log(check, page__md=PAGE.replace("a = b + c", "a = b - c"))
        rules = {one["ruleId"]: one["level"] for one in log["runs"][0]["results"]}
        assert rules == {"checked-does-not-hold": "error", "tried-does-not-hold": "warning"}
        broken = self.log(check, page__md=PAGE.replace("5.0", "nothing"))
        assert "cannot-be-run" in {one["ruleId"] for one in broken["runs"][0]["results"]}
        assert set(rules) <= set(sarif.RULES)


def test_a_display_that_is_nested_too_deeply_ends_no_run(folder: Path, capsys: Any) -> None:
    deep = "(" * 800 + "x" + ")" * 800
    text = rf"\[ x = {deep} \] \[ x = \frac{{1}}{{{deep}}} \] \[ (a + b)^2 = a^2 + 2 a b + b^2 \]"
    (folder / "paper.tex").write_text(text)
    assert main(["check", "--all", "paper.tex"]) == 0
    told = capsys.readouterr().out
    assert told.count("not read: more than 60 brackets stand in each other") == 2
    assert "1 tried (1 holds), 2 not read" in told


def test_examples_of_code_are_no_displays(check):
    md = "Text\n\n    $$ 1 + 1 = 3 $$\n\n<pre>\n$$ 1 + 1 = 5 $$\n</pre>\n"
    md += "\n- a list\n\n    $$ a = a + 0 $$\n"
    rst = "Write::\n\n    .. math:: 1 + 1 = 3\n\n.. note::\n\n   .. math:: a = a + 0\n"
    rst += "\n.. code-block:: rst\n\n   .. math:: 1 + 1 = 5\n"
    for name, text in (("p__md", md), ("p__rst", rst)):
        said = check(name.replace("__", "."), "--format", "json", **{name: text})[1]
        assert [one["latex"].strip() for one in json.loads(said)["equations"]] == ["a = a + 0"]
