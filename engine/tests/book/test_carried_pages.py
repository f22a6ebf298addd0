"""A book that an installed package carries, for notebooks that run far from it."""

from pathlib import Path

import pytest
from run_chapters import chapters

from checked_equations import Chapter, EquationError

EXAMPLE = Path(__file__).parent / "carried_book"
PAGE = "# One\n\n```{math}\n:label: eq-a\na = 2 b\n```\n"


@pytest.mark.parametrize("slug", chapters(EXAMPLE))
def test_a_chapter_opens_in_an_empty_folder(slug, tmp_path, monkeypatch, carrying):
    carrying(EXAMPLE)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match="the ledger is not complete"):
        Chapter(slug).ledger()


@pytest.fixture
def carried(tmp_path, monkeypatch, carrying):
    """A book of one page that a package carries as it lies, and an empty folder to work in."""
    book = tmp_path / "book"
    (book / "part").mkdir(parents=True)
    (tmp_path / "empty").mkdir()
    (book / "part" / "one.md").write_text(PAGE)
    (book / "equations.toml").touch()
    carrying(book)
    monkeypatch.chdir(tmp_path / "empty")
    return book


class TestAPackageThatCarriesItsBook:
    def test_a_chapter_is_read_there_and_says_so(self, carried):
        chapter = Chapter("part/one")
        record = chapter.check("eq-a", {"a": 2.5, "b": 1.25}, oracle="by hand")
        assert record.text == "as packaged, not as in this notebook"
        assert (record.line, chapter.file) == (5, None)
        assert chapter.settings.file == carried / "equations.toml"
        with pytest.raises(ValueError, match=r"among the packaged chapters: part/one$"):
            Chapter("part/two")

    def test_a_change_of_its_text_is_noticed(self, carried):
        chapter = Chapter("part/one")
        (carried / "part" / "one.md").write_text(PAGE.replace("2 b", "3 b "))
        with pytest.raises(EquationError, match="does not hold"):
            chapter.check("eq-a", {"a": 2.5, "b": 1.25}, oracle="by hand")

    def test_its_macros_are_read_with_it(self, carried):
        (carried / "part" / "one.md").write_text(PAGE.replace("2 b", r"2 \scale"))
        (carried / "equations.toml").write_text("macros = {scale = 'b'}")
        assert Chapter("part/one").check("eq-a", {"a": 2.5, "b": 1.25}, oracle="by hand")

    def test_a_fault_in_it_names_the_page(self, carried):
        (carried / "part" / "one.md").write_text("$$ $$ (eq-a)\n")
        with pytest.raises(ValueError, match=r"^part/one: one\.md: line 1: the equation eq-a"):
            Chapter("part/one")

    def test_only_from_within_it_are_its_claims_written(self, carried, monkeypatch):
        def claimed():
            chapter = Chapter("part/one")
            chapter.claim("cl-small", lambda rng: {"x": rng.uniform()}, holds=lambda r: r.x < 2)
            return chapter

        assert claimed().settings.installed
        assert not (carried / "_claims").exists()
        monkeypatch.chdir(carried / "part")
        assert not claimed().settings.installed
        assert (carried / "_claims" / "part" / "one.json").is_file()
