"""The sentence of a claim says what was found out, all of it and no more."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from checked_equations import ClaimError
from gpnotes_book import Chapter
from gpnotes_book.sentence_rules import page_faults, sentence_faults, typed_numbers

PAGE = "# Page\n\n```{{claim}} cl-gap\n{sentence}\n```\n"
SENTENCE = "The widest gap is smaller with more places in {share}, by {effect}."
RECORD = {"once": "", "without": {}, "settings": {}, "seconds": {}, "worst": {}, "blocks": None}


def gap(stream, places=80):
    return float(np.diff(np.sort(stream.uniform(size=places))).max())


def more_places(stream, many=80):
    return {"few": gap(stream, 5), "many": gap(stream, many)}


@pytest.fixture
def claimed(tmp_path):
    """Make the claim of a page with this sentence."""
    (tmp_path / "equations.toml").touch()

    def made(sentence=SENTENCE, experiment=more_places, **terms):
        page = tmp_path / "page.md"
        page.write_text(PAGE.format(sentence=sentence), encoding="utf-8")
        effect = {"holds": lambda r: r.many < r.few, "effect": lambda r: r.few - r.many}
        return Chapter("page", page).claim("cl-gap", experiment, **effect, **terms)

    return made


@pytest.mark.parametrize(
    ("sentence", "said"),
    [
        ("It gets smaller.", "does not say {share}"),
        ("It holds in {share}, because of more places.", "takes none away"),
        ("It holds in 12 of 12, {share}.", "'12 of 12' is typed; paste it"),
        ("In {share} many beat few: it beats them.", "does not say what each costs"),
        ("It holds in {share}; {coverage.nose}.", "no number is called coverage.nose"),
    ],
)
def test_a_sentence_that_says_more_than_was_found_out_fails(claimed, sentence, said):
    with pytest.raises(ClaimError, match=said):
        claimed(sentence)


def test_an_average_must_print_its_worst_part(claimed):
    def covered(stream):
        return {**more_places(stream), "coverage": {"body": 0.99, "ears": 0.6}}

    terms = {"experiment": covered, "parts": {"coverage": min}}
    with pytest.raises(ClaimError, match=r"say {worst:coverage}"):
        claimed(**terms)
    assert claimed(SENTENCE + " It covers {worst:coverage|%}.", **terms).data["worst"]


def test_an_ablation_must_be_told(claimed):
    terms = {"without": {"more places": lambda stream: more_places(stream, 5)}, "least": 11}
    with pytest.raises(ClaimError, match="what happens without more places is not said"):
        claimed(**terms)
    assert claimed(SENTENCE + " Else {share:more places}.", **terms).data["without"]


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"settings": {"beta": 1}}, "what happens with beta is not said ({share:beta})"),
        ({"blocks": 3}, "the draws overlap: say how many blocks are independent ({blocks})"),
        ({"worst": {"cover": 1}}, "the mean of cover hides its worst part: say {worst:cover}"),
    ],
)
def test_everything_that_was_tried_is_said(changed, said):
    assert [*sentence_faults("In {share}.", {**RECORD, **changed})] == [said]
    mended = "In {share}; {share:beta}, {blocks}, {worst: cover}."
    assert [*sentence_faults(mended, {**RECORD, **changed})] == []


@pytest.mark.parametrize(
    ("text", "typed"),
    [
        ("at 60 % of the cost", "60 %"), ("in 3 of the 12", "3 of the 12"),
        ("by 0.4 ± 0.1", "4 ± 0"), ("at 7.5 per cent", "7.5 per cent"),
        ("{share}, {few %} and {cover|%}", ""), ("one of two, 60 of them", ""),
    ],
)  # fmt: skip
def test_a_typed_number_is_found(text, typed):
    assert [*typed_numbers(text)] == ([f"{typed!r} is typed; paste it"] if typed else [])


def test_a_sentence_with_causes_and_costs_may_name_them():
    costly = {**RECORD, "seconds": {"a": 1.0, "b": 2.0}, "without": {"luck": 1}}
    assert [*sentence_faults("a beats b in {share} because; {share:luck}", costly)] == []
    assert [*sentence_faults("It holds.", {**RECORD, "once": "a proof"})] == []


def sentence(label, text, line):
    return SimpleNamespace(label=label, text=text, line=line)


PAGE_READ = SimpleNamespace(
    claims=(sentence("cl-a", "So.", 3), sentence("cl-none", "So.", 5)),
    cited=(sentence("cl-a", "At 60 %.", 9), sentence("cl-none", "At 60 %.", 11)),
    claimed={"cl-a": RECORD},
)
FAULTS = [
    (3, "the claim cl-a: the sentence does not say {share}"),
    (9, "what is told of cl-a: '60 %' is typed; paste it"),
]


def test_the_sentences_of_a_page_are_judged_by_their_records():
    """Those without a record are for the engine, which misses it."""
    assert [*page_faults(PAGE_READ)] == FAULTS


def test_a_build_warns_of_them_but_where_a_cell_failed(monkeypatch):
    pytest.importorskip("sphinx")
    monkeypatch.syspath_prepend(Path(__file__).parents[2] / "book" / "_ext")
    import claim_sentences

    warned = []
    failed = SimpleNamespace(**vars(PAGE_READ), failures=((1, "no"),))
    read = SimpleNamespace(**vars(PAGE_READ), failures=())
    book = SimpleNamespace(pages={"book/one": read, "book/two": failed})
    monkeypatch.setattr(claim_sentences, "book_of", lambda env: book)
    logger = SimpleNamespace(warning=lambda said, location, type: warned.append((*location, said)))
    monkeypatch.setattr(claim_sentences, "logger", logger)
    claim_sentences.judge(None, None)
    assert warned == [("book/one", line, said) for line, said in FAULTS]
