"""The engine works without the package beside it, and under another name."""

import re
import subprocess
import sys
from pathlib import Path
from shutil import copytree, ignore_patterns

import pytest

import checked_equations

NAME = "mathcheck"  # a package that nobody has installed
# Nothing of gpnotes can be imported, although it is installed here.
BARRIER = """
import sys

class Barrier:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "gpnotes":
            raise ImportError(f"{name} is not there")

sys.meta_path.insert(0, Barrier())
"""
CHAPTER = """\
# A small chapter

```{math}
:label: eq-solve
A \\mathbf x &= \\mathbf b \\\\
\\mathbf x &= A^{-1} \\mathbf b
```

```{math}
:label: eq-mean
m = \\frac{1}{n} \\sum_{i=1}^n x_i
```
"""
WORK = r"""
import numpy as np
from mathcheck import Chapter

def solved(draw):
    A, x = draw.normal(size=(4, 4)), draw.normal(size=4)
    return {"A": A, r"\mathbf x": x, r"\mathbf b": A @ x}

def mean(draw):
    x = draw.normal(size=5)
    return {"m": np.mean(x), "n": 5, "x": x}

chapter = Chapter("part/small", path="small.md")
print(chapter.check("eq-solve", solved, oracle="an LU solver"))
print(chapter.check("eq-mean", mean, oracle="numpy"))
print(chapter.ledger())
print(sorted(name for name in sys.modules if name.startswith("gpnotes")))
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a copy of the engine under another name, which is compiled once."""
    place = tmp_path_factory.mktemp("standalone")
    source = Path(checked_equations.__file__).parent
    copytree(source, place / NAME, ignore=ignore_patterns("__pycache__"))
    return place


def process(folder, code):
    """A process that ran the code with nothing of gpnotes in reach."""
    command = [sys.executable, "-c", BARRIER + code]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def run(folder, code):
    """What the code prints in such a process, which must end well."""
    done = process(folder, code)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_it_checks_an_equation_of_a_string(folder):
    code = """
from mathcheck.check.relations import Tolerance
from mathcheck.check.statements import bind_statement
bound = bind_statement("a = b^2", ({"a": 9.0, "b": 3.0},), Tolerance())
print(bound.compare(0, bound.statement.steps[0]).holds)
"""
    assert run(folder, code) == ["True"]


def test_a_check_of_a_string_loads_nothing_of_a_book(folder):
    code = """
import sys
from mathcheck import check_equation
record = check_equation("c = a + b", {"a": 1.1, "b": 0.7, "c": 1.8})
print(record)
print("eqn-badge" in record._repr_mimebundle_()["text/html"])
print(*sorted({name.split(".")[1] for name in sys.modules if name.startswith("mathcheck.")}))
"""
    held, shown, loaded = run(folder, code)
    assert held.startswith("holds to 1e-09 · 1 step · ")
    assert shown == "True"
    assert loaded == "check errors evaluate latex plugins"


def test_every_name_at_the_front_door_is_there():
    assert sorted(checked_equations._HOME) == checked_equations.__all__
    assert all(getattr(checked_equations, name).__doc__ for name in checked_equations.__all__)
    with pytest.raises(AttributeError, match="checked_equations' has no attribute 'checks'"):
        _ = checked_equations.checks


def test_it_checks_a_small_chapter(folder):
    (folder / "small.md").write_text(CHAPTER, encoding="utf-8")
    solve, mean, ledger, others = run(folder, WORK)
    assert solve.startswith("eq-solve: holds to 1e-09 · 2 steps · 3 draws · ")
    assert mean.startswith("eq-mean: holds to 1e-09 · 1 step · 3 draws · ")
    assert ledger.startswith("ledger: 2 equations · 2 checked · ")
    assert others == "[]"


def test_its_commands_work_under_that_name(folder):
    (folder / "small.md").write_text(CHAPTER, encoding="utf-8")
    code = """
from mathcheck.__main__ import main
print(main(["check", "--strict", "--jobs=1", "small.md"]))
"""
    assert run(folder, code)[-1] == "0"


WITHOUT = r"""
import sys
from pathlib import Path
from mathcheck import Chapter
from mathcheck.__main__ import main
Path("paper.tex").write_text("\\[ a = b \\]")
for words in (["small.md"], ["small.md", "--format=json"], ["paper.tex", "--strict"]):
    try:
        print(main(["check", *words]))
    except SystemExit as ended:
        print(ended.code)
try:
    Chapter("paper", path="paper.tex").equations()
except ImportError as error:
    print(error, file=sys.stderr)
"""


def test_without_its_plug_in_it_says_what_to_install(folder):
    (folder / "small.md").write_text(CHAPTER, encoding="utf-8")
    done = process(folder, WITHOUT)
    assert done.stdout.split() == ["2", "2", "2"]
    said = re.findall(r"(.*) needs another package: pip install checked-papers(.*)", done.stderr)
    error = "checked-equations check: error: "
    assert said == [
        (f"{error}trying equations without a check", "; or --strict"),
        (f"{error}--format", ""),
        *[("paper.tex is LaTeX: reading it", "")] * 2,
    ]


def test_it_names_neither_its_package_nor_this_book_in_its_code():
    """Only the examples of docstrings do."""
    source = Path(checked_equations.__file__).parent
    for path in sorted(source.rglob("*.py")):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            named = "gpnotes" in line and ">>>" not in line and "``" not in line
            assert not named, f"{path.relative_to(source)}, line {number}: {line}"
