"""The book as one PDF: a few of its pages, printed as `make pdf` prints all."""

from __future__ import annotations

import importlib
import re
from pathlib import Path
from typing import Any

import pytest

pytestmark = [pytest.mark.book, pytest.mark.browser]

ROOT = Path(__file__).resolve().parents[2]
NAMES = ["book/how-to-read", "book/gaussian-processes/function-view", "book/references"]


@pytest.fixture(scope="module")
def printed(browser: Any, book_html: Path, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Three pages as a PDF, read again."""
    pypdf = pytest.importorskip("pypdf")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT / "tools"))
        tool = importlib.import_module("book_pdf")
        patch.setattr(tool, "HTML", book_html)
        target = tmp_path_factory.mktemp("pdf") / "book.pdf"
        assert tool.make(browser, target, NAMES) > 10
    assert [path.name for path in target.parent.iterdir()] == ["book.pdf"]
    return pypdf.PdfReader(target)


def texts(printed: Any) -> list[str]:
    return [plain(page) for page in printed.pages]


def plain(page: Any) -> str:
    return page.extract_text().replace("ﬁ", "fi").replace("ﬂ", "fl")


def test_the_contents_say_where_a_section_begins(printed: Any) -> None:
    said = texts(printed)
    titles = re.findall(r"^2\.\d+\. .+$", said[1], re.MULTILINE)
    numbers = re.findall(r"^\d+$", said[1], re.MULTILINE)  # the last is that of the references
    listed = dict(zip(titles, numbers[-1 - len(titles) : -1], strict=True))
    assert len(listed) >= 8
    for title, number in listed.items():
        assert title in " ".join(said[int(number) - 1].split()), title


def test_there_are_bookmarks_equations_numbers_and_references(printed: Any) -> None:
    marks = [mark.title for mark in printed.outline[0:] if not isinstance(mark, list)]
    nested = str(printed.outline)
    assert marks
    assert "How to read this book" in nested
    assert "References" in nested
    everything = "\n".join(texts(printed))
    assert re.search(r"\(2\.1\)", everything)
    assert "Fig. 2.1" in everything
    assert "Solution" in everything
    assert "\\mathbf" not in everything  # every formula is set


def test_the_evidence_is_closed(printed: Any) -> None:
    everything = "\n".join(texts(printed))
    assert "chapter.check(" not in everything
    assert "mutants caught" in everything  # the line of a badge stays


def test_links_stay_in_the_document_or_go_to_the_net(printed: Any) -> None:
    addresses, inside = [], 0
    for page in printed.pages:
        for note in page.get("/Annots", []):
            action = note.get_object().get("/A", {})
            addresses.append(str(action.get("/URI", "")))
            inside += "/Dest" in note.get_object()
    assert [one for one in addresses if one and not one.startswith("http")] == []
    assert inside > 40
