"""The packed copy of the equations, for notebooks that run far from the book."""

import json
import sysconfig
from pathlib import Path

import pytest
from run_chapters import chapters

from checked_equations import Chapter, EquationError
from checked_equations.__main__ import main
from checked_equations.book import packing

EXAMPLE = Path(__file__).parent / "packed_book"
PAGE = "# One\n\n```{math}\n:label: eq-a\na = 2 b\n```\n"


def test_the_command_packs_where_it_is_told(tmp_path, capsys):
    assert main(["pack", str(EXAMPLE), "--to", str(tmp_path / "data")]) == 0
    names = ("equations.json", "units.tsv", "equations.toml", "notation.json")
    wanted = [tmp_path / "data" / name for name in names]
    assert capsys.readouterr().out.splitlines() == list(map(str, wanted))
    assert (tmp_path / "data" / "units.tsv").read_bytes() == (
        EXAMPLE / "tables" / "units.tsv"
    ).read_bytes()


def test_every_page_and_every_equation_is_packed(tmp_path):
    new, *_ = packing.pack(EXAMPLE, tmp_path)
    pages = json.loads(new.read_text(encoding="utf-8"))
    labels = {slug: list(entries) for slug, entries in pages.items()}
    assert labels == {"motion/falling": ["eq-height", "eq-speed"], "motion/turning": ["eq-rim"]}
    assert "g" in pages["motion/falling"]["eq-height"]["latex"]


@pytest.mark.parametrize("slug", chapters(EXAMPLE))
def test_a_chapter_opens_in_an_empty_folder(slug, tmp_path, monkeypatch, carrying):
    packing.pack(EXAMPLE, tmp_path / "data")
    carrying(tmp_path / "data")
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path / "empty")
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

    def test_what_is_packed_above_comes_first(self, carried):
        here = Path.cwd()
        (here / "part").mkdir()
        (here / "part" / "one.md").write_text(PAGE.replace("2 b", "3 b"))
        packing.pack(here)
        assert packing.packed_equations("part/one", here)["eq-a"].latex == "a = 3 b"
        assert packing.packed_equations("part/one", here.parent)["eq-a"].latex == "a = 2 b"

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

    def test_its_list_of_relations_does_not_bind_a_page_that_has_left(self, carried, monkeypatch):
        """The list counts those of captions too, which a notebook has in no cell."""
        (carried / "relations-listed.toml").write_text('[evaluated]\n"part/one" = 7\n')
        text = PAGE + "\nSo $a = b + b$.\n"

        def closed():
            chapter = Chapter("part/one")
            chapter.check("eq-a", {"a": 2.5, "b": 1.25}, oracle="by hand")
            return chapter.ledger().totals["inline_evaluated"]

        Path("one.md").write_text(text)
        assert closed() == 1
        (carried / "part" / "one.md").write_text(text)
        monkeypatch.chdir(carried / "part")
        with pytest.raises(ValueError, match=r"evaluated, of 7 in relations-listed\.toml: 1"):
            closed()


def test_another_book_is_packed_into_its_own_folder(tmp_path, capsys):
    """Without settings, and so without tables; what was packed of the first stays as it was."""
    first = tmp_path / "first"
    before = {path: path.read_bytes() for path in packing.pack(EXAMPLE, first)}
    tmp_path = tmp_path / "second"
    (tmp_path / "part").mkdir(parents=True)
    (tmp_path / "part" / "one.md").write_text(PAGE)
    assert main(["pack", str(tmp_path)]) == 0
    written = tmp_path / "_equations" / "equations.json"
    assert capsys.readouterr().out.split() == [str(written)]
    assert list(json.loads(written.read_text())) == ["part/one"]
    assert {path: path.read_bytes() for path in first.iterdir()} == before


def test_what_the_settings_name_goes_with_the_equations(tmp_path):
    (tmp_path / "one.md").write_text(PAGE)
    (tmp_path / "equations.toml").write_text('carry = ["tables/*.csv"]\n')
    (tmp_path / "tables").mkdir()
    for name in ("b.csv", "a.csv", "a.txt"):
        (tmp_path / "tables" / name).write_text(name)
    packed = packing.pack(tmp_path)
    assert [path.name for path in packed] == ["equations.json", "a.csv", "b.csv", "equations.toml"]
    assert packed[2].read_text() == "b.csv"


def test_a_notebook_of_another_book_finds_what_was_packed(tmp_path, monkeypatch):
    (tmp_path / "part").mkdir()
    (tmp_path / "part" / "one.md").write_text(PAGE)
    packing.pack(tmp_path)
    (tmp_path / "part" / "one.md").unlink()
    monkeypatch.chdir(tmp_path / "part")
    record = Chapter("part/one").check("eq-a", {"a": 2.5, "b": 1.25}, oracle="by hand")
    assert record.text == "as packaged, not as in this notebook"


def test_an_installed_package_is_never_written_to(tmp_path, capsys):
    (tmp_path / "one.md").write_text(PAGE)
    installed = Path(sysconfig.get_path("purelib"), "gpnotes", "data")
    assert main(["pack", str(tmp_path), "--to", str(installed)]) == 1
    said = capsys.readouterr().err
    assert said.startswith("to must be a folder of the book, not of an installed package; got ")
    assert not installed.exists()


def test_a_fault_in_a_page_fails_the_command(tmp_path, capsys):
    (tmp_path / "bad.md").write_text("$$ $$ (eq-a)\n")
    assert main(["pack", str(tmp_path)]) == 1
    assert "bad.md: line 1: the equation eq-a" in capsys.readouterr().err
    assert not (tmp_path / "_equations").exists()


def test_a_folder_without_equations_is_no_book(tmp_path, capsys):
    (tmp_path / "plain.md").write_text("# No equations\n")
    assert main(["pack", str(tmp_path)]) == 1
    assert "must have a page with a labelled equation" in capsys.readouterr().err


def test_what_cannot_be_written_is_said_in_words(tmp_path, capsys):
    (tmp_path / "one.md").write_text(PAGE)
    (tmp_path / "_equations").write_text("a file where the folder should be")
    assert main(["pack", str(tmp_path)]) == 1
    assert "_equations" in capsys.readouterr().err


def test_the_folder_must_exist(tmp_path, capsys):
    with pytest.raises(SystemExit):
        main(["pack", str(tmp_path / "nowhere")])
    assert "book must be a folder" in capsys.readouterr().err
