"""Small chapters, written where a test needs them."""

from types import SimpleNamespace

import numpy as np
import pytest

from checked_equations import Chapter
from checked_equations.book import settings

SETTINGS = ""


def small_text(equations):
    """The text of a chapter with these equations, label to LaTeX."""
    blocks = [f"```{{math}}\n:label: {label}\n{latex}\n```\n" for label, latex in equations.items()]
    return "\n".join(["# A small chapter", "", *blocks])


def write_book(folder):
    """A book's settings, in `folder`."""
    (folder / "equations.toml").write_text(SETTINGS, encoding="utf-8")


@pytest.fixture
def small_book():
    """A function that writes the settings of a small book into a folder."""
    return write_book


@pytest.fixture
def carrying(monkeypatch):
    """Let an installed package carry the packed data of a folder, and no other package any."""

    def carry(folder):
        entry = SimpleNamespace(load=lambda: str(folder))
        monkeypatch.setattr(settings, "entry_points", lambda group: [entry])

    return carry


@pytest.fixture
def small_chapter(tmp_path):
    """Write a chapter with the given equations, and open it."""

    def opened(equations):
        write_book(tmp_path)
        path = tmp_path / "small.md"
        path.write_text(small_text(equations), encoding="utf-8")
        return Chapter("part/small", path=path)

    return opened


@pytest.fixture
def checked(small_chapter):
    """Check one equation on the given bindings and return its record."""

    def record(latex, bindings, **options):
        options = {"oracle": "by hand", **options}
        return small_chapter({"eq-a": latex}).check("eq-a", bindings, **options)

    return record


@pytest.fixture
def numbers():
    """A stream of generic numbers."""
    return np.random.default_rng(7)
