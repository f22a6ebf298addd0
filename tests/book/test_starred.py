"""Sections for a second reading: folded on a page, whole on paper and in a notebook."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.book

ROOT = Path(__file__).resolve().parents[2]
CHAPTERS = tomllib.loads(Path(__file__).with_name("heights.toml").read_text("utf-8"))

TEXT = """\
# Sums

(sec-more)=
## Longer sums

```{starred}
Three terms, for those who have *three*.
```

The terms are put in brackets.

```{math}
:label: eq-three
a + b + c = (a + b) + c
```

(sec-most)=
### Many

By induction.

(sec-empty)=
## Proofs

### Proof

```{starred}
For those who want one.
```

It is short.

## Exercises

Add.

```{math}
:label: eq-two
a + b = b + a
```
"""
LEADS = "# Elsewhere\n\nSee {ref}`sec-most`, {eq}`eq-two` and {eq}`eq-three`.\n"
WITH = ("take_away", "starred")


@pytest.fixture(scope="module")
def tiny(tiny_book: Any, once: Any) -> Any:
    return once("starred", lambda folder: tiny_book(folder, PAGES, extensions=WITH))


PAGES = {"sums": TEXT, "elsewhere": LEADS}


def test_what_follows_the_words_folds_with_all_below(tiny: Any) -> None:
    assert tiny.code == 0, tiny.warned
    text = re.sub(r"\s+", " ", (tiny.html / "sums.html").read_text("utf-8"))
    before, shown, folded, proof = text.split('<details class="starred-rest">')
    folded, after = folded.split("</details>")
    assert "Read these sections" in shown
    assert ">Longer sums</a> · <a" in before
    assert "<strong>For a second reading.</strong> Three terms" in shown
    assert "put in brackets" in folded
    assert "By induction" in folded
    assert "Proof *" in re.sub(r"<[^>]+>", "", after)
    assert "It is short" in proof
    plain = re.sub(r"<[^>]+>", "", text)
    assert "Longer sums *" in plain
    assert "Exercises *" not in plain


def test_they_stand_at_the_end_as_further_topics(tiny: Any) -> None:
    page = (tiny.html / "sums.html").read_text("utf-8")
    titles = re.findall(r"</span>([^<]+)<a class=.headerlink", page)
    assert titles == ["Sums", "Exercises", "Further topics", "Longer sums *", "Many", "Proof *"]
    assert page.count('id="sec-empty"') == page.count('id="sec-more"') == 1


def test_a_heading_that_is_there_is_taken(tiny_book: Any, tmp_path: Path) -> None:
    pages = {**PAGES, "sums": TEXT + "\n## Further topics\n\n### Series\n\nNone.\n"}
    done = tiny_book(tmp_path, pages, extensions=WITH)
    assert done.code == 0, done.warned
    page = (done.html / "sums.html").read_text("utf-8")
    titles = re.findall(r"</span>([^<]+)<a class=.headerlink", page)
    assert titles[2:] == ["Further topics", "Series", "Longer sums *", "Many", "Proof *"]


def test_equations_are_numbered_as_they_are_read(tiny: Any) -> None:
    page = (tiny.html / "elsewhere.html").read_text("utf-8")
    text = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", "", page))
    assert "See Many, (1.1) and (1.2)." in text


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("```{starred}", "First this.\n\n```{starred}", "must be the first of a section"),
        ("Three terms, for those who have *three*.", "", "say in a sentence"),
    ],
)
def test_what_a_chapter_does_wrong_is_said(
    tiny_book: Any, tmp_path: Path, before: str, after: str, said: str
) -> None:
    assert before in TEXT
    pages = {**PAGES, "sums": TEXT.replace(before, after)}
    done = tiny_book(tmp_path, pages, extensions=WITH)
    assert done.code != 0
    assert said in done.warned


NEEDED = "[data-gp-playground], .exercise, .in-brief"


@pytest.mark.parametrize("its", CHAPTERS)
def test_nothing_but_further_topics_stands_behind_them(its: str) -> None:
    """A heading of the chapter's own for them stands behind its summary."""
    text = (ROOT / "book" / f"{its}.md").read_text("utf-8")
    parts = re.findall(r"^## (.+)$", text, re.MULTILINE)
    assert "Further topics" not in parts[:-1]


@pytest.mark.parametrize("its", CHAPTERS)
def test_no_fold_holds_what_a_first_reading_needs(trees: Any, its: str) -> None:
    """Figures that are operated, exercises, and the figure that shows the answer."""
    answer = f'[id="{CHAPTERS[its]["answer"]}"]'
    page = trees[f"book/{its}.html"]
    assert page.css_matches(answer)
    for fold in page.css("details.starred-rest"):
        held = fold.css(f"{NEEDED}, {answer}")
        assert [one.attributes.get("id") or one.tag for one in held] == []


@pytest.mark.browser
def test_a_link_opens_the_fold_and_paper_has_none(browser: Any, tiny: Any) -> None:
    page = browser.new_page()
    page.goto((tiny.html / "sums.html").as_uri())
    page.add_script_tag(path=ROOT / "book" / "_static" / "starred.js")
    inside = page.get_by_text("By induction.")
    assert not inside.is_visible()
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert inside.is_visible()
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert not inside.is_visible()
    page.goto((tiny.html / "sums.html").as_uri() + "#sec-most")
    page.reload()
    assert inside.is_visible()
    page.close()


@pytest.mark.browser
def test_words_keep_away_from_the_edge_of_their_box(visit: Any) -> None:
    """The theme takes the padding of every container away."""
    page = visit("book/fast/deep-gaussian-processes.html").page
    for box in (".in-brief", ".starred"):
        edge = page.locator(box).first.evaluate(
            "it => parseFloat(getComputedStyle(it).paddingLeft)"
        )
        assert edge > 8, box
