"""The chapters run with their data on a GPU, or on the stand-in, and print what is stored.

By day a chapter of each part runs without its checks, at night all that run. The list of those that
do not is held in both directions.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytestmark = [pytest.mark.slow]
pytest.importorskip("IPython")
pytest.importorskip("nbformat")
pytest.importorskip("matplotlib")

# the cheapest of each part of the book: seconds
BY_DAY = (
    "foundations/probability",
    "gaussian-processes/mean-functions",
    "fast/interdomain",
    "inference/calibration",
    "decisions/asking-for-labels",
    "games/deviation-payoffs",
    "sequential/markov-decision-processes",
)


@pytest.fixture
def on_gpu(root: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.syspath_prepend(str(root / "tools"))
    monkeypatch.setenv("MPLBACKEND", "agg")
    yield importlib.import_module("chapters_on_gpu")
    sys.modules.pop("chapters_on_gpu")


@pytest.mark.parametrize("slug", BY_DAY)
def test_a_chapter_prints_on_a_gpu_what_is_stored(on_gpu: Any, slug: str) -> None:
    assert on_gpu.problems(slug, lecture=True) == []


def test_by_day_each_part_has_a_chapter_and_what_is_listed_is_one(on_gpu: Any) -> None:
    listed, every = on_gpu.off(), on_gpu.chapters()
    parts = {slug.partition("/")[0] for slug in every if slug not in listed}
    assert {slug.partition("/")[0] for slug in BY_DAY} == parts
    assert set(listed) <= set(every)
    assert not set(listed) & set(BY_DAY)
    assert all(len(reason) > 20 for reason in listed.values())
    assert not [slug for slug in every if slug not in listed and not on_gpu.goes_along(slug)]


def test_the_pages_count_the_chapters_that_run(on_gpu: Any, root: Path) -> None:
    left = len(on_gpu.off())
    said = f"{28 - left} of the 28 chapters" if left else "all 28 chapters run"
    assert len(on_gpu.chapters()) == 28
    for page in ("how-to-read", "api/arrays"):
        text = (root / "book" / f"{page}.md").read_text("utf-8")
        assert said in " ".join(text.split())


def test_all_that_are_not_listed_run_to_their_end(on_gpu: Any) -> None:
    """And no chapter that is listed does: minutes of one core."""
    ends = {slug: on_gpu.apart(slug) for slug in on_gpu.chapters() if on_gpu.goes_along(slug)}
    stops = {slug: end for slug, end in ends.items() if end}
    assert {slug: end for slug, end in stops.items() if slug not in on_gpu.off()} == {}
    assert not set(ends) - set(stops) & set(on_gpu.off())


def test_a_page_is_run_by_the_rules_of_a_gpu(
    on_gpu: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(on_gpu, "BOOK", tmp_path)
    monkeypatch.setattr(on_gpu, "STORED", tmp_path)
    monkeypatch.setenv("GPNOTES_BACKEND", "numpy")
    imports = "import numpy as np\nfrom gpnotes import asarray"
    cells = [imports, "x = asarray([1.0]) + 1.0\nprint(x)", "y = 1\nx + np.ones(1)"]
    (tmp_path / "_claims").mkdir()
    for slug, code in {"runs": cells[:2], "stops": cells}.items():
        _write(tmp_path, slug, code, ["", "[2.]\n", ""])
    assert on_gpu.problems("runs") == []
    (said,) = on_gpu.problems("stops")
    assert said.startswith("line 13: TypeError: Unsupported type")
    assert on_gpu.goes_along("stops")
    (tmp_path / "stays.md").write_text("```{code-cell} ipython3\nx = np.asarray([1.0])\n```\n")
    assert not on_gpu.goes_along("stays")
    _write(tmp_path, "last", [imports, "print(1)\n2"], ["", "1\n2"])
    assert on_gpu.problems("last") == []
    _write(tmp_path, "differs", cells[:2], ["", "[3.]\n"])
    (said,) = on_gpu.problems("differs")
    assert said == "line 7: prints '[2.]\\n' where '[3.]\\n' is stored"
    changed = "from pathlib import Path\n_ = Path('_claims/changes.json').write_text('{}')"
    (tmp_path / "_claims" / "changes.json").write_text("found")
    _write(tmp_path, "changes", [changed], [""])
    assert "drawn anew" in on_gpu.problems("changes")[0]
    assert (tmp_path / "_claims" / "changes.json").read_text() == "found"


def _write(folder: Path, slug: str, code: list[str], printed: list[str]) -> None:
    """A page with cells of code, and what they print, as it is stored."""
    import stored_outputs
    from nbformat import v4

    text = "\n".join(f"```{{code-cell}} ipython3\n{one}\n```\n" for one in code)
    (folder / f"{slug}.md").write_text(text)
    streams = [v4.new_output("stream", name="stdout", text=one) for one in printed]
    made = [
        v4.new_code_cell(one, outputs=[out] if out.text else [])
        for one, out in zip(code, streams, strict=False)
    ]
    (folder / f"{slug}.json").write_text(stored_outputs.dump(made))
