"""Small chapters, written where a test needs them."""

import numpy as np
import pytest

ITEMS = """\
id\tsource\tchapter\titem
T-01\tone.txt\tpart/small\tthe mean
T-02\tone.txt\tpart/small\tthe variance
T-03\tone.txt\tpart/other\tsomething else
"""
SETTINGS = """\
package = "gpnotes"
items = "sources/items.tsv"
[libraries]
scipy = "scipy"
scikit = "sklearn"
"""


def small_text(equations):
    """The text of a chapter with these equations, label to LaTeX."""
    blocks = [f"```{{math}}\n:label: {label}\n{latex}\n```\n" for label, latex in equations.items()]
    return "\n".join(["# A small chapter", "", *blocks])


def write_book(folder, items=ITEMS):
    """A book's settings and its list of items, in `folder`."""
    (folder / "sources").mkdir(exist_ok=True)
    (folder / "sources" / "items.tsv").write_text(items, encoding="utf-8")
    (folder / "equations.toml").write_text(SETTINGS, encoding="utf-8")


@pytest.fixture
def small_book():
    """A function that writes the settings of a small book, and its items, into a folder."""
    return write_book


@pytest.fixture
def small_chapter(tmp_path):
    """Write a chapter with the given equations (and items), and open it."""
    from checked_equations import Chapter

    def opened(equations, items=ITEMS):
        write_book(tmp_path, items)
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
