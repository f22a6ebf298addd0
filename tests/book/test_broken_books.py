"""A broken chapter fails the build, and the message names chapter, line and label."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

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


@pytest.fixture(scope="module")
def broken(tiny_book: Any, chapter_text: Any, tmp_path_factory: pytest.TempPathFactory) -> Any:
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
    }
    folder = tmp_path_factory.mktemp("broken")
    return pages, tiny_book(folder, pages, jobs=2), lambda: tiny_book(folder, pages, jobs=2)


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


def test_the_sound_chapter_is_not_complained_of(broken: Any) -> None:
    assert complaint(broken, "sound") == ""


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


def test_a_failed_build_fails_again(broken: Any) -> None:
    again = broken[2]()
    assert again.code != 0
    assert "eq-unrecorded" in again.warned


def test_a_sound_book_builds_and_counts(tiny_book: Any, chapter_text: Any, tmp_path: Any) -> None:
    ledger = "# Ledger\n\n```{equation-totals}\n```\n\n```{equation-ledger}\n```\n"
    pages = {"one": chapter_text("one"), "two": chapter_text("two"), "ledger": ledger}
    built = tiny_book(tmp_path / "serial", pages)
    assert built.code == 0, built.warned
    data = json.loads((built.html / "ledger.json").read_text("utf-8"))
    assert data["totals"]["checked"] == data["totals"]["equations"] == 2
    assert [row["number"] for row in data["equations"]] == ["1.1", "2.1"]
    parallel = tiny_book(tmp_path / "parallel", pages, jobs=2)
    assert parallel.code == 0, parallel.warned
    assert json.loads((parallel.html / "ledger.json").read_text("utf-8")) == data


def test_the_page_of_the_ledger_follows_its_chapters(
    tiny_book: Any, chapter_text: Any, tmp_path: Any
) -> None:
    """The ledger's own text never changes; it must be written again all the same."""
    ledger = "# Ledger\n\n```{equation-ledger}\n```\n"
    tiny_book(tmp_path, {"one": chapter_text("one"), "ledger": ledger})
    other = r"A \left( \mathbf x + \mathbf c \right) = \mathbf b"
    check = 'chapter.check("eq-new", numbers, oracle="an LU solver")'
    changed = chapter_text("one", latex=other, label="eq-new", check=check)
    built = tiny_book(tmp_path, {"one": changed, "ledger": ledger})
    assert built.code == 0, built.warned
    page = (built.html / "ledger.html").read_text("utf-8")
    assert "eq-new" in page
    assert "eq-one" not in page


def test_a_flipped_sign_is_not_answered_from_the_cache(
    tiny_book: Any, chapter_text: Any, tmp_path: Any
) -> None:
    """The cells are the same, so that the cache of notebooks alone would not run them again."""
    honest = ("honest_cache",)
    text = chapter_text("one")
    assert tiny_book(tmp_path, {"one": text}, extensions=honest).code == 0
    flipped = tiny_book(tmp_path, {"one": text.replace(SOUND, FLIPPED)}, extensions=honest)
    assert flipped.code != 0
    assert "eq-one" in flipped.warned
    mended = tiny_book(tmp_path, {"one": text}, extensions=honest)
    assert mended.code == 0, mended.warned
    prose = text.replace("A line of prose.", "Another line of prose.")
    reworded = tiny_book(tmp_path, {"one": prose}, extensions=honest)
    assert reworded.code == 0
    assert re.search("Using cached notebook", reworded.said)
