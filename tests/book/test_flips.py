"""The flip test: slips in the text of the chapters, and how many their own checks catch."""

import json
import re
import zlib
from collections import Counter
from functools import cache
from pathlib import Path

import matplotlib.pyplot
import numpy as np
import pytest

from checked_equations.__main__ import main
from checked_equations.book import flips
from checked_equations.latex.equation import Equation

ROOT = Path(__file__).parents[2]
BOOK = ROOT / "book"
KEPT = BOOK / "flips.json"
SLUGS = flips.chapters(BOOK)
SIGNS = ("minus for plus", "plus for minus")
SAMPLED = 3  # slips an equation that are tried again here; `make flips` tries all of all chapters


def pytest_generate_tests(metafunc):
    """One chapter is run again, another whenever results are stored anew, unless all are wanted."""
    if "retried" in metafunc.fixturenames:
        turn = zlib.crc32(KEPT.read_bytes()) % max(len(SLUGS), 1)
        every = metafunc.config.getoption("--flips")
        metafunc.parametrize("retried", SLUGS if every else SLUGS[turn : turn + 1])


class TestTheEdits:
    def edits(self, latex, symbols=()):
        made = flips.flips_of(Equation("eq-a", latex, 10), symbols)
        return {(flip.edit, flip.latex) for flip in made}

    @pytest.mark.parametrize(
        ("latex", "edit", "reads"),
        [
            ("a + b", "minus for plus", "a - b"),
            ("a - b", "plus for minus", "a + b"),
            ("A^{-1} b", "drop an inverse", "A b"),
            (r"A^{-\top} b", "drop the inverse of a transpose", r"A^\top b"),
            (r"A^\top b", "drop a transpose", "A b"),
            (r"\sigma_n^2 b", "drop a square", r"\sigma_n b"),
            (r"\frac12 b", "drop one half", " b"),
            (r"\tfrac{1}{2} b", "drop one half", " b"),
            ("2 b", "one more", "3 b"),
            (r"\sum_{i=1}^{N} b", "one more", r"\sum_{i=2}^{N} b"),
            (r"\log \det A", "drop a logarithm", r" \det A"),
            (r"\log \det A", "trace for determinant", r"\log \operatorname{tr} A"),
            (r"\sum_i x_i", "product for sum", r"\prod_i x_i"),
            (r"a \le b", "turn an inequality", r"a \ge b"),
            (r"K_{*f}", "swap two subscripts", r"K_{f*}"),
            (r"\mathbf f_*", "drop a star", r"\mathbf f"),
            (r"\bar f", "drop a bar", r" f"),
        ],
    )
    def test_each_edit_is_made(self, latex, edit, reads):
        assert (edit, reads) in self.edits(latex)

    @pytest.mark.parametrize("latex", ["A^{-1}", r"A^{-\top}", "c_+", r"K_{ff}", r"\ell", "x_1"])
    def test_names_and_exponents_are_no_signs_or_numbers(self, latex):
        edits = {edit for edit, _ in self.edits(latex)}
        assert not edits & {"minus for plus", "plus for minus", "one more", "swap two subscripts"}

    def test_a_symbol_is_confused_with_another_where_it_stands_alone(self):
        made = self.edits(r"K = \kappa K_y K", ["K", r"K_y"])
        assert made == {("K_y for K", r"K_y = \kappa K_y K"), ("K_y for K", r"K = \kappa K_y K_y"),
                        ("K for K_y", r"K = \kappa K K")}  # fmt: skip

    def test_an_edit_of_layout_alone_is_none(self):
        assert self.edits(r"a = {b}") == set()

    def test_the_line_is_the_one_of_the_file(self):
        (flip,) = flips.flips_of(Equation("eq-a", "a &= b \\\\\n  &= c + d", 10))
        assert flip.line == 11


OTHER = """# Another

```{math}
:label: eq-other
a = b + c
```

```{code-cell} ipython3
from checked_equations import Chapter
chapter = Chapter("part/other")
chapter.check("eq-other", {"a": 5.0, "b": 2.0, "c": 3.0}, oracle="by hand")
```
"""


class TestASmallChapter:
    @pytest.fixture
    def found(self, tmp_path, small_book):
        source = (Path(__file__).parent / "chapters" / "small.md").read_text(encoding="utf-8")
        small_book(tmp_path)
        path = tmp_path / "small.md"
        path.write_text(source, encoding="utf-8")
        return flips.outcomes(flips.run_chapter(path, "part/small"))

    def test_every_slip_is_caught_and_most_by_the_numbers(self, found):
        by = Counter(outcome.by for outcome in found)
        assert by[""] == 0
        assert by["numbers"] > by["language"] > 0

    def test_the_command_keeps_the_result(self, tmp_path, small_book, monkeypatch, capsys):
        source = (Path(__file__).parent / "chapters" / "small.md").read_text(encoding="utf-8")
        (tmp_path / "book" / "part").mkdir(parents=True)
        small_book(tmp_path / "book")
        (tmp_path / "book" / "part" / "small.md").write_text(source, encoding="utf-8")
        (tmp_path / "book" / "words.md").write_text("`Chapter(...)` and nothing else\n")
        monkeypatch.chdir(tmp_path)
        assert main(["flip", "book"]) == 0
        assert Path(capsys.readouterr().out.strip()) == Path("book/flips.json")
        kept = json.loads((tmp_path / "book" / "flips.json").read_text(encoding="utf-8"))
        assert list(kept["chapters"]) == ["part/small"]
        assert kept["edits"] == kept["caught"] == sum(k["edits"] for k in kept["kinds"].values())
        assert kept["uncaught"] == []

    def test_one_chapter_is_tried_again_alone(self, tmp_path, small_book, capsys):
        source = (Path(__file__).parent / "chapters" / "small.md").read_text(encoding="utf-8")
        small_book(tmp_path)
        (tmp_path / "part").mkdir()
        (tmp_path / "part" / "small.md").write_text(source, encoding="utf-8")
        (tmp_path / "part" / "other.md").write_text(OTHER, encoding="utf-8")
        place = tmp_path / "flips.json"
        assert main(["flip", str(tmp_path), "part/small"]) == 1
        assert "no counts of part/other: try the whole book" in capsys.readouterr().err
        assert main(["flip", str(tmp_path)]) == 0
        whole = json.loads(place.read_text(encoding="utf-8"))
        stale = json.loads(json.dumps(whole))
        for slug, part in stale["chapters"].items():
            part["digest"] = f"old {slug}"
        place.write_text(json.dumps(stale), encoding="utf-8")
        assert main(["flip", str(tmp_path), "part/small"]) == 0
        again = json.loads(place.read_text(encoding="utf-8"))
        assert again["chapters"]["part/small"] == whole["chapters"]["part/small"]
        assert again["chapters"]["part/other"]["digest"] == "old part/other"
        totals = ("edits", "caught", "caught_by_numbers", "passing", "kinds", "uncaught")
        assert {key: again[key] for key in totals} == {key: whole[key] for key in totals}
        assert main(["flip", str(tmp_path), "part/none"]) == 1
        assert "slugs must be chapters of the book" in capsys.readouterr().err

    def test_a_slip_that_changes_nothing_is_told_apart(self, small_chapter):
        """Twice a symmetric matrix: its transpose is the same; an inequality has room."""
        chapter = small_chapter({"eq-a": r"B = 2 S^\top", "eq-b": "a < 2 b"})
        S = np.array([[2.0, 0.3], [0.3, 1.7]])
        chapter.check("eq-a", {"B": 2 * S, "S": S}, oracle="by hand")
        spare = dict.fromkeys(("3 for 2", "drop the factor b"), "there is room")
        chapter.check("eq-b", {"a": 1.1, "b": 0.9}, oracle="by hand", spare=spare)
        whys = {(o.label, o.edit): o.why for o in flips.outcomes(chapter) if not o.by}
        assert whys == {
            ("eq-a", "drop a transpose"): flips.SAME,
            ("eq-b", "one more"): flips.HOLDS,
        }

    def test_one_of_several_checks_is_enough(self, small_chapter):
        chapter = small_chapter({"eq-a": "a = b^2"})
        spare = {"3 for 2": "one is one"}
        chapter.check("eq-a", {"a": 1.0, "b": 1.0}, oracle="blind", spare=spare)
        assert {o.edit: o.by for o in flips.outcomes(chapter)}["drop a square"] == ""
        chapter.check("eq-a", {"a": 2.25, "b": 1.5}, oracle="generic")
        assert {o.edit: o.by for o in flips.outcomes(chapter)}["drop a square"] == "numbers"

    def test_relations_in_passing_are_edited_too(self, tmp_path):
        path = tmp_path / "small.md"
        path.write_text(
            "# One\n\nSo $a = b + c$, $s = t \\cup u$, and $d = e$.\n", encoding="utf-8"
        )
        chapter = flips.Chapter("part/small", path=path)
        chapter.symbols({"a": 4.0, "b": 1.5, "c": 2.5, "s": 1.0, r"t \cup u": 1.0})
        outcomes = {(o.label, o.edit): o.by for o in flips.inline_outcomes(chapter)}
        assert outcomes.pop(("a = b + c", "minus for plus")) == "numbers"
        assert set(outcomes.values()) <= {"numbers", "language"}
        assert {label for label, _ in outcomes} == {"a = b + c"}  # nothing to slip in the other


@cache
def ran(slug):
    """The chapter, run once for all tests of this file."""
    with matplotlib.rc_context():  # the chapter's style is not for the tests that follow
        chapter = flips.run_chapter(BOOK / f"{slug}.md", slug)
    matplotlib.pyplot.close("all")
    return chapter


@pytest.fixture(scope="module")
def kept():
    return json.loads(KEPT.read_text(encoding="utf-8"))


@pytest.mark.skipif(not SLUGS, reason="the book has no chapter yet")
class TestTheBook:
    def test_the_result_is_of_the_chapters_as_they_stand(self, kept):
        now = {slug: flips.digest(BOOK / f"{slug}.md") for slug in SLUGS}
        then = {slug: one["digest"] for slug, one in kept["chapters"].items()}
        assert then == now, "run `python -m checked_equations flip book`"

    def test_nearly_all_slips_are_caught(self, kept):
        for slug, one in kept["chapters"].items():
            print(f"{slug}: {one['caught']} of {one['edits']} slips caught, "
                  f"{one['caught_by_numbers']} of them by the numbers")  # fmt: skip
            assert one["edits"] > 200
            assert one["caught"] >= 0.98 * one["edits"]
            assert one["caught_by_numbers"] >= 0.6 * one["edits"]

    def test_what_is_not_caught_changes_no_number(self, kept):
        for outcome in kept["uncaught"]:
            print("{label}: {edit}, {reads}: {why}".format(**outcome))
        # An inequality may hold strictly: then its check says why it is never tight.
        strict = [o for o in kept["uncaught"] if o["kind"] == "make an inequality strict"]
        assert {o["label"] for o in strict} <= {"eq-al-greedy"}
        assert [o for o in kept["uncaught"] if o["why"] != flips.SAME and o not in strict] == []

    @pytest.mark.slow
    def test_a_sample_tried_again_agrees(self, retried, kept, request):
        stream = np.random.default_rng(3)
        most = None if request.config.getoption("--flips") else SAMPLED

        def some(made):
            places = stream.permutation(len(made))[:most]
            return [made[i] for i in places]

        outcomes = flips.outcomes(ran(retried), some)
        assert len({o.label for o in outcomes}) > 15  # not of a few equations only
        assert len(outcomes) > 35
        missed = {(o["label"], o["edit"], o["reads"]) for o in kept["uncaught"]}
        for o in outcomes:
            assert bool(o.by) == ((o.label, o.edit, o.reads) not in missed), o

    @pytest.mark.slow
    def test_a_flipped_sign_in_an_equality_is_noticed_and_so_are_most_slips(self, retried):
        def some(made):
            signs = [flip for flip in made if flip.kind in SIGNS]
            return signs[:1] or made[:1]

        outcomes = flips.inline_outcomes(ran(retried), some)
        print(f"{retried}: {Counter(o.by for o in outcomes)}")
        assert len(outcomes) >= 3  # the chapter with the fewest relations between its lines
        assert sum(o.by == "numbers" for o in outcomes) > 0.4 * len(outcomes)
        equal = [o for o in outcomes if not re.search(r"[<>]|\\[lg]e\b", o.label)]
        assert sum(bool(o.by) for o in equal) > 0.8 * len(equal)
        assert [o for o in equal if o.kind in SIGNS and not o.by] == []
