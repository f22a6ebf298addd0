"""A whole chapter runs; broken in one place, it fails and names the place."""

from pathlib import Path

import pytest
import run_chapters

from checked_equations import EquationError
from checked_equations.book import execution

SMALL = (Path(__file__).parent / "chapters" / "small.md").read_text(encoding="utf-8")


def line_of(text, part):
    return next(i for i, line in enumerate(text.splitlines(), start=1) if part in line)


@pytest.fixture
def run_chapter(tmp_path, small_book):
    """Run the small chapter after a change to its text."""
    small_book(tmp_path)

    def run(old="", new=""):
        assert old in SMALL
        path = tmp_path / "small.md"
        path.write_text(SMALL.replace(old, new, 1) if old else SMALL, encoding="utf-8")
        return run_chapters.run_chapter(path, "part/small")

    return run


def test_the_chapter_itself_runs(run_chapter):
    totals = run_chapter().ledger().totals
    assert (totals["equations"], totals["checked"], totals["estimates"]) == (3, 1, 1)
    assert (totals["definitions"], totals["mutants_survived"]) == (1, 0)


def test_the_page_itself_runs(tmp_path, small_book):
    small_book(tmp_path)
    (tmp_path / "small.md").write_text(SMALL, encoding="utf-8")
    assert execution.run_page(tmp_path / "small.md").faults == ()


@pytest.mark.parametrize(
    ("old", "new", "label", "problem"),
    [
        (r"X \mathbf w + ", r"X \mathbf w - ", "eq-small-model", "does not hold"),
        (r"X^\top X + \lambda", r"X^\top X - \lambda", "eq-small-mean", "does not hold"),
        (r"&= A^{-1} X^\top", r"&= A X^\top", "eq-small-mean", "step 2 of 2"),
        (r"\lambda S", r"S", "eq-small-mean", r"bound and never used: `\\lambda`"),
        (r"\lambda S", r"\mu S", "eq-small-mean", r"unbound symbol `\\mu`"),
        (r"\lambda S", r"\lambda S )", "eq-small-mean", "closes|stand here"),
        (r"+ b^2 t^2", r"+ b t^2", "eq-small-variance", r"\|z\| = "),
    ],
)
def test_a_slip_in_the_text_names_its_line(run_chapter, old, new, label, problem):
    with pytest.raises(EquationError, match=problem) as error:
        run_chapter(old, new)
    assert error.value.line == line_of(SMALL, old)
    assert f"part/small.md, {label}, line {error.value.line}, column " in str(error.value)
    assert new.replace("&= ", "") in str(error.value)
    assert str(error.value).splitlines()[-1].strip(" ^") == ""


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ('chapter.define("eq-small-model", data)\n', "\n", r"record: eq-small-model \(line 21\)"),
        (":label: eq-small-model", ":label: eq-small-other", "has the label eq-small-model"),
        ("v = a^2 s^2", "v = a^2 s^2 + (1-1) t", "eq-small-variance, line 60, .* mutants survive"),
        ('check("eq-small-mean"', 'check("eq-small-men"', "no equation has the label eq-small-men"),
        ("n, (a, b), (s, t) = 20000", "n, (a, b), (s, t) = 20", "mutants survive|does not hold"),
        ('"A": X.T', '"A": 0 * X.T', "eq-small-mean, line 38, .*step 2 of 2"),
    ],
)  # fmt: skip
def test_each_kind_of_breakage_says_what_is_wrong(run_chapter, old, new, problem):
    with pytest.raises((ValueError, TypeError), match=problem):
        run_chapter(old, new)
