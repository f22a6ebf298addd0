"""A broken chapter fails the build, and the message names chapter, line and label.

Two books, each built for many tests: one with a chapter for every way to be broken, whose pages
are read by two processes, and one whose only chapters are written again and again.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from headers import MYST

pytestmark = pytest.mark.book

SOUND = r"\mathbf x = A^{-1} \mathbf b - \mathbf c"
VACUOUS = r"\mathbf x - \mathbf x = \mathbf c - \mathbf c"
FLIPPED = r"\mathbf x = A^{-1} \mathbf b + \mathbf c"
# The last term is smaller than the tolerance: with its sign flipped, the check still passes.
SURVIVOR = r"""def small(draw):
    table = numbers(draw)
    x, c = table[r"\mathbf x"], table[r"\mathbf c"]
    return {**table, r"\mathbf c": 1e-4 * c, r"\mathbf x": x + c - 1e-4 * c}


chapter.check("eq-survivor", small, rtol=1e-2, oracle="an LU solver")"""


LEDGER = "# Ledger\n\n```{equation-totals}\n```\n\n```{equation-ledger}\n```\n"

PLAIN = (
    MYST
    + """\
# A page without an equation

```{code-cell}
1 + 1
```
"""
)

# Between looking for its tables and making them, jupyter-cache waits until others have looked.
SLOW_CACHE = """
import time

from jupyter_cache.cache import db
from sqlalchemy import event

event.listen(db.OrmBase.metadata, "before_create", lambda *_, **__: time.sleep(0.5))


def setup(app):
    return {"parallel_read_safe": True, "parallel_write_safe": True}
"""


@pytest.fixture(scope="module")
def broken(tiny_book: Any, chapter_text: Any, once: Any) -> Any:
    """A book in which each chapter but the first is broken in its own way."""
    pages = {
        "sound": chapter_text("sound"),
        "flipped": chapter_text("flipped", latex=FLIPPED),
        "survivor": chapter_text("survivor", check=SURVIVOR),
        "vacuous": chapter_text("vacuous", latex=VACUOUS),
        "unrecorded": chapter_text("unrecorded", check="pass", last="pass"),
        "incomplete": chapter_text("incomplete", check="pass"),
        "unlabelled": chapter_text("unlabelled", check=INVENTED, last="pass"),
        "failing": chapter_text("failing", check="1 / 0", last="pass"),
        "unclosed": chapter_text("unclosed", last="pass"),
        "bare": PLAIN,
        "plain": PLAIN,
        "ledger": LEDGER,
    }

    def build(folder: Path) -> Any:
        (folder / "slow_cache.py").write_text(SLOW_CACHE, encoding="utf-8")
        return tiny_book(folder, pages, extensions=("slow_cache",), jobs=2)

    return pages, once("broken", build)


# A record whose equation stands nowhere on the page: as when its label was mistyped.
INVENTED = """from dataclasses import replace

record = chapter.check("eq-unlabelled", numbers, oracle="an LU solver")
display(record, replace(record, label="eq-nowhere"))"""


def complaint(broken: Any, chapter: str) -> str:
    """All warnings of the build about a chapter."""
    found = re.split(r"(?m)^(?=\S+\.md[:\d]* WARNING)", broken[1].warned)
    return "".join(one for one in found if f"/{chapter}.md" in one.split("WARNING")[0])


def line_of(broken: Any, chapter: str, text: str) -> int:
    lines = broken[0][chapter].splitlines()
    return next(i for i, line in enumerate(lines, start=1) if text in line)


def cell_of(broken: Any, chapter: str, text: str) -> int:
    """The line on which the cell with `text` begins."""
    lines = broken[0][chapter].splitlines()[: line_of(broken, chapter, text)]
    return max(i for i, line in enumerate(lines, start=1) if line.startswith("```{code-cell}"))


def test_a_broken_book_does_not_build(broken: Any) -> None:
    assert broken[1].code != 0


@pytest.mark.parametrize("chapter", ["sound", "bare", "plain"])
def test_the_sound_chapter_is_not_complained_of(broken: Any, chapter: str) -> None:
    assert complaint(broken, chapter) == ""


@pytest.mark.parametrize(
    ("chapter", "latex"),
    [("flipped", FLIPPED), ("survivor", SOUND), ("vacuous", VACUOUS)],
)
def test_a_check_that_fails_names_its_equation(broken: Any, chapter: str, latex: str) -> None:
    said = complaint(broken, chapter)
    assert f"eq-{chapter}" in said
    assert f"line {line_of(broken, chapter, latex)}" in said
    assert f"{chapter}.md:{cell_of(broken, chapter, 'chapter.check')}: WARNING" in said


def test_the_message_of_a_flipped_sign_shows_the_latex(broken: Any) -> None:
    assert FLIPPED in complaint(broken, "flipped")


def test_an_equation_without_a_record_is_named(broken: Any) -> None:
    line = line_of(broken, "unrecorded", SOUND)
    said = complaint(broken, "unrecorded")
    assert f"unrecorded.md:{line}: WARNING: the equation eq-unrecorded" in said


def test_the_ledger_of_a_chapter_misses_an_equation(broken: Any) -> None:
    assert "eq-incomplete" in complaint(broken, "incomplete")


def test_a_record_without_an_equation_is_named(broken: Any) -> None:
    line = cell_of(broken, "unlabelled", "from dataclasses")
    assert f"unlabelled.md:{line}: WARNING: a cell checks eq-nowhere" in complaint(
        broken, "unlabelled"
    )


def test_a_failing_cell_is_named(broken: Any) -> None:
    line = cell_of(broken, "failing", "1 / 0")
    said = complaint(broken, "failing")
    assert f"failing.md:{line}: WARNING: the cell on this line failed: ZeroDivisionError" in said


def test_a_chapter_must_close_its_ledger(broken: Any) -> None:
    assert "chapter.ledger()" in complaint(broken, "unclosed")


def test_pages_that_are_read_at_once_make_a_cache_each(broken: Any) -> None:
    """A new data base takes two steps: two processes in one folder would stop each other."""
    assert "already exists" not in broken[1].warned
    assert len(list((broken[1].html.parent / ".jupyter_cache").rglob("global.db"))) == 11


def rows(built: Any) -> dict[str, Any]:
    """The rows of the ledger of a book, by label."""
    data = json.loads((built.html / "ledger.json").read_text("utf-8"))
    return {row["label"]: row for row in data["equations"]}


@pytest.fixture(scope="module")
def story(tiny_book: Any, chapter_text: Any, once: Any) -> Any:
    """Builds of one book by one process: sound, a sign flipped, the same again, mended and
    reworded, and with another equation in the place of the first."""
    sound = chapter_text("sound")
    check = 'chapter.check("eq-new", numbers, oracle="an LU solver")'
    other = r"A \left( \mathbf x + \mathbf c \right) = \mathbf b"
    texts = {
        "sound": sound,
        "flipped": sound.replace(SOUND, FLIPPED),
        "again": sound.replace(SOUND, FLIPPED),
        "mended": sound.replace("A line of prose.", "Another line of prose."),
        "changed": chapter_text("sound", latex=other, label="eq-new", check=check),
    }

    def build(folder: Path) -> Any:
        builds = {}
        for when, text in texts.items():
            pages = {"sound": text, "two": chapter_text("two"), "ledger": LEDGER}
            built = tiny_book(folder, pages, extensions=("run_ahead",))
            wrote = (built.html / "ledger.json").exists()
            builds[when] = built, rows(built) if wrote else {}
        return builds

    return once("story", build)


def test_a_sound_book_builds_and_counts(story: Any) -> None:
    built, ledger = story["sound"]
    assert built.code == 0, built.warned
    assert {label: row["number"] for label, row in ledger.items()} == {
        "eq-sound": "1.1",
        "eq-two": "2.1",
    }
    assert {row["kind"] for row in ledger.values()} == {"identity"}


def test_chapters_run_once_and_beside_each_other(story: Any) -> None:
    built, _ = story["sound"]
    assert re.findall(r"\[(\d)/2\] (\w+) ran in", built.said) == [("1", "sound"), ("2", "two")]
    assert built.said.count("Using cached notebook") == 2
    assert "Executing notebook" not in built.said


def test_a_flipped_sign_is_not_answered_from_the_cache(story: Any) -> None:
    """The cells are the same, so that the cache of notebooks alone would not run them again."""
    flipped, _ = story["flipped"]
    assert flipped.code != 0
    assert "eq-sound" in flipped.warned


def test_a_failed_build_fails_again(story: Any) -> None:
    again, _ = story["again"]
    assert again.code != 0
    assert "eq-sound" in again.warned


def test_prose_alone_runs_nothing_again(story: Any) -> None:
    mended, _ = story["mended"]
    assert mended.code == 0, mended.warned
    assert "Using cached notebook" in mended.said
    assert "Executing notebook" not in mended.said


def test_the_page_of_the_ledger_follows_its_chapters(story: Any) -> None:
    """The ledger's own text never changes; it must be written again all the same."""
    changed, ledger = story["changed"]
    assert changed.code == 0, changed.warned
    assert ledger.keys() == {"eq-new", "eq-two"}
    page = (changed.html / "ledger.html").read_text("utf-8")
    assert "eq-new" in page
    assert "eq-sound" not in page


def test_two_processes_gather_what_one_does(story: Any, broken: Any) -> None:
    assert rows(broken[1])["eq-sound"] == story["sound"][1]["eq-sound"]
