"""JupyterLab for the chapters: what one did not edit stays as it is in the file.

``python tools/lab.py [options of jupyter lab]``

JupyterLab holds a chapter as cells, and jupytext writes the cells in its own way: captions
wrapped anew, a version in the header, one blank line everywhere. So a save asks first what
jupytext would write if nothing had been edited. Where this differs from what it writes now,
somebody edited, and only there the file changes.

Cells of the evidence open with their code folded; how a cell is folded is not written. The viewer
knows none of the book's own directives and would fold each into a red box, so evidence opens as a
dropdown, a claim or a summary as an admonition, what only a build can fill as a comment; and all
are written as what they are.
"""

from __future__ import annotations

import re
import sys
from bisect import bisect_right
from collections.abc import Callable, Iterator
from copy import deepcopy
from difflib import SequenceMatcher
from pathlib import PurePosixPath
from typing import Any

import jupytext
import nbformat
from jupyter_server.services.contents.largefilemanager import AsyncLargeFileManager
from jupyterlab.labapp import LabApp
from jupytext import build_async_jupytext_contents_manager_class

Lines = list[str]

FENCE = r"^(`{3,}|:{3,})"
# Our directives with words in them: the viewer's, and a title by which we know them again.
VIEWED_AS = {
    "evidence": "{dropdown} Evidence",
    "claim": "{admonition} Claim",
    "claimed": "{admonition} Numbers of the claim",
    "starred": "{admonition} For a second reading",
    "in-brief": "{admonition} In brief",
    "eval-rst": "{code} rst",
    "checked-equation": "{dropdown} A checked equation",
    "gallery": "{dropdown} Figures",
}
BOX = re.compile(rf"{FENCE}\{{({'|'.join(VIEWED_AS)})\}}(?: (\S+))?$", re.MULTILINE)
OURS = {view: f"{{{name}}}" for name, view in VIEWED_AS.items()}
VIEWED = re.compile(rf"{FENCE}({'|'.join(map(re.escape, OURS))})(?:: (\S+))?$", re.MULTILINE)
# Our directives that the build fills.
EMPTY = r"\{(?:equation-|claim-|source-|chapter-|book-|rivals|leaflet)[^\n]*"
FILLED = re.compile(rf"^```({EMPTY})\n```$", re.MULTILINE)
COMMENT = re.compile(rf"^% filled by the build: ({EMPTY})$", re.MULTILINE)


class ChapterManager(build_async_jupytext_contents_manager_class(AsyncLargeFileManager)):
    """jupytext's contents manager, which keeps the lines that were not edited."""

    async def get(self, path: str, *arguments: Any, **options: Any) -> dict[str, Any]:
        """What is at the path; a chapter with its evidence folded."""
        model = await super().get(path, *arguments, **options)
        if _is_chapter(model, path) and model["content"] is not None:
            fold(model["content"])
            _rewrite(model["content"], known)
        return model

    async def save(self, model: dict[str, Any], path: str = "") -> dict[str, Any]:
        """Save as jupytext does, then give unedited lines back what they were."""
        if not _is_chapter(model, path) or not await self.file_exists(path):
            return await super().save(model, path)
        model = {**model, "content": unfolded(model["content"])}
        before = await self._text(path)
        saved = await super().save(model, path)
        written = await self._text(path)
        kept = keep(before, written, model["content"], PurePosixPath(path).suffix)
        if kept == written:
            return saved
        text = {"type": "file", "format": "text", "content": kept}
        return {**await super().save(text, path), "type": "notebook", "format": None}

    async def _text(self, path: str) -> str:
        return (await self.get(path, type="file", format="text"))["content"]


def _is_chapter(model: dict[str, Any], path: str) -> bool:
    return model["type"] == "notebook" and PurePosixPath(path).suffix == ".md"


def _evidence(notebook: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the metadata of the cells that only check."""
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code" and "evidence" in cell["metadata"].get("tags", ()):
            yield cell["metadata"]


def fold(notebook: dict[str, Any]) -> None:
    """Fold the code of the cells of evidence."""
    for metadata in _evidence(notebook):
        metadata["jupyter"] = {**metadata.get("jupyter", {}), "source_hidden": True}


def unfolded(notebook: dict[str, Any]) -> dict[str, Any]:
    """Return a copy to be written: no cell says that it is folded, directives have their names."""
    copy = deepcopy(notebook)
    _rewrite(copy, ours)
    for metadata in _evidence(copy):
        metadata.get("jupyter", {}).pop("source_hidden", None)
        if not metadata.get("jupyter", True):
            del metadata["jupyter"]
    return copy


def _rewrite(notebook: dict[str, Any], words: Callable[[str], str]) -> None:
    for cell in notebook["cells"]:
        if cell["cell_type"] == "markdown":
            cell["source"] = words(cell["source"])


def known(text: str) -> str:
    """Return the directives of the book as some that the viewer knows.

    >>> print(known("```{evidence} eq-a\\nWhy.\\n```"))
    ```{dropdown} Evidence: eq-a
    Why.
    ```
    """
    text = BOX.sub(lambda m: _labelled(m[1] + VIEWED_AS[m[2]], ": ", m[3]), text)
    return FILLED.sub(r"% filled by the build: \1", text)


def ours(text: str) -> str:
    """Return the text that `known` was given.

    >>> ours(known("```{evidence} eq-a\\nWhy.\\n```"))
    '```{evidence} eq-a\\nWhy.\\n```'
    """
    text = VIEWED.sub(lambda m: _labelled(m[1] + OURS[m[2]], " ", m[3]), text)
    return COMMENT.sub(r"```\1\n```", text)


def _labelled(directive: str, between: str, label: str | None) -> str:
    return directive + between + label if label else directive


def keep(before: str, written: str, notebook: dict[str, Any], extension: str = ".md") -> str:
    """Return ``written`` by jupytext, where it differs from ``before`` by an edit."""
    unedited = jupytext.reads(before, fmt=extension)
    _report_kernel(unedited, notebook["metadata"])
    base = jupytext.writes(unedited, fmt=extension)
    texts = (text.splitlines(keepends=True) for text in (base, before, written))
    kept = "".join(merged(*texts))
    return kept if _cells(kept, extension) == _cells(written, extension) else written


def _report_kernel(unedited: Any, reported: dict[str, Any]) -> None:
    """Note what JupyterLab notes by itself of the kernel that the chapter asks for."""
    asked = unedited.metadata.get("kernelspec", {}).get("name")
    kernel = reported.get("kernelspec", {})
    if asked in (None, kernel.get("name")):
        known = {key: reported[key] for key in ("kernelspec", "language_info") if key in reported}
        unedited.metadata.update(nbformat.from_dict(known))


def _cells(text: str, extension: str) -> list[Any]:
    cells = jupytext.reads(text, fmt=extension).cells
    for cell in cells:
        cell.metadata.pop("lines_to_next_cell", None)  # how it stood in the file, not what it is
    return [(cell.cell_type, cell.source.rstrip(), cell.metadata) for cell in cells]


def merged(base: Lines, mine: Lines, theirs: Lines) -> Lines:
    """Return ``mine`` with the edits from ``base`` to ``theirs``; where both differ, ``theirs``.

    >>> merged(["a", "b", "c"], ["A", "b", "c"], ["a", "b", "d"])
    ['A', 'b', 'd']
    """
    lines: Lines = []
    b = m = t = 0
    for b_next, m_next, t_next, size in _common(base, mine, theirs):
        edited = base[b:b_next] != theirs[t:t_next]
        lines += theirs[t:t_next] if edited else mine[m:m_next]
        lines += base[b_next : b_next + size]
        b, m, t = b_next + size, m_next + size, t_next + size
    return lines


def _common(base: Lines, mine: Lines, theirs: Lines) -> Iterator[tuple[int, int, int, int]]:
    """Yield places where all three agree and the number of lines; last, an empty one at the end."""
    in_theirs = _matches(base, theirs)
    starts = [block.a for block in in_theirs]
    for block in _matches(base, mine):
        for other in in_theirs[max(bisect_right(starts, block.a) - 1, 0) :]:
            start = max(block.a, other.a)
            size = min(block.a + block.size, other.a + other.size) - start
            if size > 0:
                yield start, block.b + start - block.a, other.b + start - other.a, size
            if other.a > block.a + block.size:
                break
    yield len(base), len(mine), len(theirs), 0


def _matches(one: Lines, other: Lines) -> list[Any]:
    return SequenceMatcher(None, one, other).get_matching_blocks()


if __name__ == "__main__":
    option = "--ServerApp.contents_manager_class=lab.ChapterManager"
    LabApp.launch_instance([option, *sys.argv[1:]])
