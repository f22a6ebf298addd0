"""The execution cache is named after all that a chapter depends on, and nothing else."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def cache() -> Any:
    spec = importlib.util.spec_from_file_location(
        "honest_cache", ROOT / "book" / "_ext" / "honest_cache.py"
    )
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for name in (
        "src/gpnotes/infer/exact.py",
        "editorial/src/gpnotes_book/chapter.py",
        "src/gpnotes/data/co2.csv",
        "book/sources/items.tsv",
        "book/equations.toml",
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("first", "utf-8")
    return tmp_path


@pytest.mark.parametrize(
    "name",
    [
        "src/gpnotes/infer/exact.py",
        "src/gpnotes/new.py",
        "editorial/src/gpnotes_book/chapter.py",
        "src/gpnotes/data/co2.csv",
        "src/gpnotes/data/b.npz",
        "book/notation.yml",
    ],
)
def test_what_a_cell_reads_changes_the_digest(cache: Any, project: Path, name: str) -> None:
    before = cache.digest(project)
    (project / name).write_text("second", "utf-8")
    after = cache.digest(project)
    assert before != after
    (project / name).write_text("first", "utf-8")
    assert (cache.digest(project) == before) == (
        name not in ("src/gpnotes/new.py", "src/gpnotes/data/b.npz", "book/notation.yml")
    )


@pytest.mark.parametrize(
    "name",
    [
        "book/index.md",
        "book/chapter.md",
        "engine/src/checked_equations/sphinx/generated_tables.py",
        "engine/docs/language_by_example/words.py",
        "papers/src/checked_papers/display_trials.py",
        "book/_claims/part/chapter.json",
        "editorial/setup.py",
        "src/gpnotes/__pycache__/exact.pyc",
        "README.md",
    ],
)
def test_what_no_cell_reads_does_not(cache: Any, project: Path, name: str) -> None:
    before = cache.digest(project)
    (project / name).parent.mkdir(parents=True, exist_ok=True)
    (project / name).write_text("second", "utf-8")
    assert cache.digest(project) == before


MODULE = '''"""A module."""\n\n\ndef f(x):\n    """What it does."""\n    return x + 1\n'''


@pytest.mark.parametrize(
    ("old", "new", "counts"),
    [
        ('"""A module."""', '"""Another sentence."""', False),
        ("What it does.", "What it returns.\n\n    At length.", False),
        ("    return", "    # for a reason\n    return", False),
        ("x + 1\n", "x + 1  # or so\n", False),
        ("x + 1", "x + 2", True),
        ("x + 1", "'What it does.'", True),
        ("return x", "x.y = x; return x", True),
    ],
)
def test_of_a_module_the_code_counts(
    cache: Any, project: Path, old: str, new: str, counts: bool
) -> None:
    file = project / "src/gpnotes/infer/exact.py"
    assert old in MODULE
    file.write_text(MODULE, "utf-8")
    before = cache.digest(project)
    file.write_text(MODULE.replace(old, new), "utf-8")
    assert (cache.digest(project) != before) == counts


def test_the_folder_may_lie_elsewhere(cache: Any, project: Path, monkeypatch: Any) -> None:
    app = SimpleNamespace(outdir=project / "_build" / "html", srcdir=project)
    for said, place in {"": project / "_build" / ".jupyter_cache", "/kept": Path("/kept")}.items():
        monkeypatch.setenv("BOOK_CACHE", said)
        cache.name_cache(app, config := SimpleNamespace())
        assert config.nb_execution_cache_path == str(place / cache.digest(project))


@pytest.mark.parametrize(
    ("name", "counts"),
    [
        ("book/_ext/one.py", True),
        ("engine/src/checked_equations/sphinx/generated_tables.py", True),
        ("engine/docs/language_by_example/words.py", True),
        ("papers/src/checked_papers/display_trials.py", True),
        ("engine/src/checked_equations/sphinx/static/equations.css", False),
        ("book/_static/book.css", False),
        ("src/gpnotes/infer/exact.py", False),
        ("editorial/src/gpnotes_book/chapter.py", False),
        ("book/chapter.md", False),
    ],
)
def test_the_code_of_the_pages_has_a_digest_of_its_own(
    cache: Any, project: Path, name: str, counts: bool
) -> None:
    before = cache.page_code(project)
    (project / name).parent.mkdir(parents=True, exist_ok=True)
    (project / name).write_text("second", "utf-8")
    assert (cache.page_code(project) != before) == counts


def test_another_digest_of_the_code_of_the_pages_has_all_read_again(
    cache: Any, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sphinx reads every page again when a value changes that is declared so."""
    declared: dict[str, str] = {}
    monkeypatch.delenv("BOOK_CACHE", raising=False)  # the real one would be tidied
    app = SimpleNamespace(
        add_config_value=lambda name, default, rebuild: declared.update({name: rebuild}),
        connect=lambda *event, **options: None,
        outdir=project / "_build" / "html",
        srcdir=project,
    )
    cache.setup(app)
    assert declared == {"page_code": "env"}
    cache.name_cache(app, config := SimpleNamespace())
    assert config.page_code == cache.page_code(ROOT)


def test_the_backend_and_the_versions_count(
    cache: Any, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = cache.digest(project)
    monkeypatch.setenv("GPNOTES_BACKEND", "cupy")
    other = cache.digest(project)
    monkeypatch.setattr(cache, "version", lambda name: "0.0")
    assert len({before, other, cache.digest(project)}) == 3


EQUATION = "Prose.\n\n```{math}\n:label: eq-one\na = b\n```\n\nMore prose.\n"


def test_equations_count_and_prose_does_not(cache: Any) -> None:
    before = cache.equations(EQUATION)
    assert cache.equations(EQUATION.replace("More prose", "Other words")) == before
    assert cache.equations(EQUATION.replace("a = b", "a = -b")) != before
    assert cache.equations(EQUATION.replace("eq-one", "eq-two")) != before


@pytest.mark.parametrize(
    "shown",
    ["$$\na = b\n$$ (eq-one)", "\\begin{align}\na = b\n\\end{align}", "```{eval-rst}\na = b\n```"],
)
def test_equations_count_however_they_are_labelled(cache: Any, shown: str) -> None:
    text = f"Prose.\n\n{shown}\n\nMore prose.\n"
    before = cache.equations(text)
    assert cache.equations(text.replace("More prose", "Other words")) == before
    assert cache.equations(text.replace("a = b", "a = -b")) != before


def test_equations_are_found_in_lists_and_colon_fences(cache: Any) -> None:
    listed = "- item\n\n  ```{math}\n  :label: eq-one\n  a = b\n  ```\n"
    assert cache.equations(listed) != cache.equations(listed.replace("a = b", "a = c"))
    colons = EQUATION.replace("```", ":::")
    assert cache.equations(colons) != cache.equations(colons.replace("a = b", "a = c"))
