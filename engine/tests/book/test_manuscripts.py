"""Evidence is for the text that is shown: which text is read, and when it is read again."""

import json
import os
from pathlib import Path
from types import SimpleNamespace

import pytest

from checked_equations import Chapter, EquationError
from checked_equations.book import manuscripts
from checked_equations.book.manuscripts import AS_PACKAGED

RIGHT, WRONG = "a = b + c", "a = b - c"
OPENS = 'chapter = Chapter("part/one")'
PAGE = """\
# One

```{{math}}
:label: eq-a
{latex}
```

```{{code-cell}} ipython3
{opens}
```
"""


def numbers(draw):
    b, c = draw.normal(size=2)
    return {"a": b + c, "b": b, "c": c}


def page(latex=RIGHT, opens=OPENS):
    return PAGE.format(latex=latex, opens=opens)


def notebook(latex=RIGHT, opens=OPENS, cell=True):
    """A notebook with that equation in it, or with code alone."""
    words = page(latex).split("```{code-cell}")[0].splitlines(keepends=True)
    cells = [{"cell_type": "markdown", "source": words, "metadata": {}}] if cell else []
    code = {"cell_type": "code", "source": [opens], "metadata": {}, "outputs": []}
    return json.dumps({"cells": [*cells, code], "nbformat": 4}, indent=1)


@pytest.fixture
def folder(tmp_path, monkeypatch, carrying):
    """An empty folder to work in, a package that carries the sound chapter, and no notebook."""
    here, data = tmp_path / "here", tmp_path / "data"
    here.mkdir()
    data.mkdir()
    (data / "part").mkdir()
    (data / "part" / "one.md").write_text(page())
    carrying(data)
    monkeypatch.chdir(here)
    for name in ("JPY_SESSION_NAME", "COLAB_RELEASE_TAG"):
        monkeypatch.delenv(name, raising=False)
    return here


@pytest.fixture
def runs(monkeypatch, folder):
    """Say which file is the notebook that runs, as Jupyter's server does."""
    return lambda name: monkeypatch.setenv("JPY_SESSION_NAME", str(folder / name))


def checked(chapter):
    return chapter.check("eq-a", numbers, oracle="by hand")


class TestEveryVerbLooksAgain:
    def test_a_sign_that_is_flipped_and_saved_is_noticed(self, folder):
        """The one experiment that the book invites to: flip a sign, save, run the check again."""
        file = folder / "one.md"
        file.write_text(page())
        chapter = Chapter("part/one")
        assert checked(chapter).text == "one.md"
        state = file.stat()
        file.write_text(page(WRONG))
        os.utime(file, ns=(state.st_atime_ns, state.st_mtime_ns))  # as long, and as old
        with pytest.raises(EquationError, match=r"^part/one.md, eq-a, line 5"):
            checked(chapter)
        file.write_text(page())
        assert checked(chapter).mutants.survived == 0

    def test_what_was_found_for_another_text_is_forgotten(self, folder):
        file = folder / "one.md"
        file.write_text(page())
        chapter = Chapter("part/one")
        checked(chapter)
        chapter.ledger()
        file.write_text(page("a = c + b + c - c"))
        with pytest.raises(ValueError, match=r"eq-a \(line 5; its text has changed since"):
            chapter.ledger()
        assert list(chapter.checked_statements()) == []
        checked(chapter)
        assert chapter.ledger().totals["checked"] == 1

    def test_prose_and_spaces_change_nothing(self, folder):
        file = folder / "one.md"
        file.write_text(page())
        chapter = Chapter("part/one")
        checked(chapter)
        file.write_text("More words.\n" + page("a  = b+c"))
        assert chapter.ledger().totals["checked"] == 1
        assert checked(chapter).line == 6

    def test_a_check_that_fails_leaves_no_older_record_behind(self, folder):
        (folder / "one.md").write_text(page())
        chapter = Chapter("part/one")
        checked(chapter)
        with pytest.raises(EquationError):
            chapter.check("eq-a", {"a": 1.5, "b": 2.5, "c": 3.5}, oracle="by hand")
        with pytest.raises(ValueError, match="without a record: eq-a"):
            chapter.ledger()

    def test_the_output_names_the_text_and_only_the_badge_the_time(self, folder):
        file = folder / "one.md"
        file.write_text(page())
        os.utime(file, (1.7e9, 1.7e9))
        chapter = Chapter("part/one")
        shown = checked(chapter)._repr_mimebundle_()
        assert shown["text/plain"].endswith(" · by hand · one.md")
        assert "2023" not in shown["text/plain"]
        assert "Read from one.md, as it was saved on 2023-11-1" in shown["text/html"]
        assert repr(chapter.define("eq-a", why="a model")).endswith(" · one.md")
        assert repr(chapter.ledger()).endswith(" · one.md")


class TestTheNotebookThatRuns:
    @pytest.mark.parametrize("name", ["one (1).ipynb", "Untitled.ipynb", "one.ipynb"])
    def test_it_is_read_whatever_its_name(self, folder, runs, name):
        (folder / name).write_text(notebook(WRONG))
        (folder / "one.md").write_text(page())
        runs(name)
        with pytest.raises(EquationError, match="does not hold") as error:
            checked(Chapter("part/one"))
        assert str(error.value).startswith(f"part/{name}, eq-a, line ")

    @pytest.mark.parametrize("name", ["one (1).ipynb", "Untitled.ipynb"])
    def test_its_name_stands_in_the_output(self, folder, runs, name):
        (folder / name).write_text(notebook())
        runs(name)
        assert repr(checked(Chapter("part/one"))).endswith(f" · {name}")

    def test_one_that_is_no_file_here_is_not_what_is_read(self, folder, runs, monkeypatch):
        runs("renamed.ipynb")
        assert checked(Chapter("part/one")).text == AS_PACKAGED
        (folder / "one.md").write_text(page())
        assert checked(Chapter("part/one")).text == "one.md, not this notebook"
        monkeypatch.delenv("JPY_SESSION_NAME")
        assert checked(Chapter("part/one")).text == "one.md"
        monkeypatch.setenv("COLAB_RELEASE_TAG", "1")
        assert checked(Chapter("part/one")).text == "one.md, not this notebook"

    def test_one_without_equations_of_its_own_is_told_apart(self, folder, runs):
        (folder / "scratch.ipynb").write_text(notebook(cell=False))
        runs("scratch.ipynb")
        assert checked(Chapter("part/one")).text == AS_PACKAGED

    def test_one_that_only_started_this_process_is_not_meant(self, folder, runs):
        """What a notebook starts, such as the build of a book, inherits its environment."""
        (folder / "other.ipynb").write_text(notebook(opens="!make book"))
        (folder / "one.md").write_text(page())
        runs("other.ipynb")
        assert checked(Chapter("part/one")).text == "one.md"

    def test_a_console_is_no_notebook(self, folder, runs):
        (folder / "one.md").write_text(page())
        runs("console-1-a2b3")
        assert checked(Chapter("part/one")).text == "one.md"

    def test_visual_studio_code_names_it_in_a_variable(self, folder, monkeypatch):
        (folder / "two.ipynb").write_text(notebook(WRONG))
        named = {"__vsc_ipynb_file__": str(folder / "two.ipynb")}
        shell = SimpleNamespace(user_ns=named)
        monkeypatch.setattr(manuscripts, "running_shell", lambda: shell)
        with pytest.raises(EquationError, match=r"part/two\.ipynb"):
            checked(Chapter("part/one"))


class TestNobodySaysWhichRuns:
    @pytest.mark.parametrize("name", ["one (1).ipynb", "Untitled.ipynb", "one.ipynb"])
    def test_the_only_text_of_the_chapter_is_read(self, folder, name):
        (folder / name).write_text(notebook(WRONG))
        with pytest.raises(EquationError, match="does not hold"):
            checked(Chapter("part/one"))

    @pytest.mark.parametrize("name", ["one (1).ipynb", "Untitled.ipynb", "one.ipynb"])
    def test_two_texts_that_differ_are_an_error(self, folder, name):
        (folder / "one.md").write_text(page())
        (folder / name).write_text(notebook(WRONG))
        with pytest.raises(ValueError, match=r"^part/one: two texts .* differ in eq-a;") as error:
            Chapter("part/one")
        assert f'Chapter("part/one", "{name}")' in str(error.value)
        with pytest.raises(EquationError, match="does not hold"):
            checked(Chapter("part/one", name))

    def test_two_texts_that_agree_are_one(self, folder):
        (folder / "one.md").write_text(page())
        (folder / "one.ipynb").write_text(notebook("a = b +  c"))
        assert checked(Chapter("part/one")).text == "one.md"

    def test_two_that_differ_in_a_sentence_are_an_error(self, folder):
        (folder / "one.md").write_text(page().replace("# One", "# One\n\nSo $a - b = c$."))
        flipped = notebook().replace("# One", "# One\\n\\nSo $a + b = c$.")
        (folder / "one.ipynb").write_text(flipped)
        with pytest.raises(ValueError, match=r"they differ in \$a \+ b = c\$, \$a - b = c\$;"):
            Chapter("part/one")

    def test_a_caption_is_no_sentence_that_a_notebook_could_lack(self, folder):
        caption = "---\nmystnb:\n  figure:\n    caption: With $a = 2$.\n---\n"
        (folder / "one.md").write_text(page(opens=caption + OPENS))
        (folder / "one.ipynb").write_text(notebook())
        assert checked(Chapter("part/one")).text == "one.md"

    def test_two_that_come_to_differ_are_noticed(self, folder):
        (folder / "one.md").write_text(page())
        (folder / "one.ipynb").write_text(notebook())
        chapter = Chapter("part/one")
        checked(chapter)
        (folder / "one.ipynb").write_text(notebook(WRONG))
        with pytest.raises(ValueError, match="two texts of this chapter lie here"):
            checked(chapter)

    def test_another_chapter_is_none_of_our_business(self, folder):
        (folder / "one.md").write_text(page())
        (folder / "two.md").write_text(page(WRONG, opens='Chapter("part/two")'))
        assert checked(Chapter("part/one")).text == "one.md"

    def test_what_an_editor_writes_while_it_saves_is_no_text(self, folder):
        (folder / "one.md").write_text(page())
        (folder / ".~one.ipynb").write_text(notebook(WRONG))
        assert checked(Chapter("part/one")).text == "one.md"

    def test_the_packaged_copy_says_that_it_is_one(self, folder):
        chapter = Chapter("part/one")
        record = checked(chapter)
        assert repr(record).endswith(f" · {AS_PACKAGED}")
        shown = record._repr_mimebundle_()["text/html"]
        assert AS_PACKAGED in shown.split("</summary>")[0]
        assert AS_PACKAGED in repr(chapter.ledger())

    def test_a_text_that_cannot_be_read_is_named(self, folder):
        (folder / "one.md").write_text("$$ $$ (eq-a)\n")
        with pytest.raises(ValueError, match=r"^part/one: one\.md: line 1: the equation eq-a"):
            Chapter("part/one")


def test_a_kernel_of_jupyters_server_is_told_its_notebook():
    """The contract that all of this rests on, held by the server that the book ships with."""
    sessions = pytest.importorskip("jupyter_server.services.sessions.sessionmanager")

    class Kernels:
        def cwd_for_path(self, path):
            return "/any/folder"

    manager = type("Manager", (), {"kernel_manager": Kernels()})()
    found = sessions.SessionManager.get_kernel_env(manager, "folder/one.md", "one.md")
    assert Path(found["JPY_SESSION_NAME"]) == Path("/any/folder/one.md")
