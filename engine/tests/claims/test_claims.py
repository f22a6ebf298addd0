"""What fails a claim: each rule is seen to fail, and to pass beside it."""

import json
import re

import numpy as np
import pytest
from scipy import stats

from checked_equations import Chapter, ClaimError, Outcome, Pick
from checked_equations.claims.claim import stream
from checked_equations.claims.code_key import key_of
from checked_equations.claims.rounding import Nudged, nudged
from checked_equations.claims.sentence import filled, with_error
from checked_equations.claims.tally import Moments, chance_apart

PAGE = """\
```{{math}}
:label: eq-one
a = a
```

```{{claim}} cl-gap
{sentence}
```
"""
SENTENCE = "The widest gap is smaller with more places in {share}, by {effect}."


def gap(rng, places):
    return float(np.diff(np.sort(rng.uniform(size=places))).max())


def more_places(rng):
    return {"few": gap(rng, 5), "many": gap(rng, 80)}


def no_more_places(rng):
    return {"few": gap(rng, 5), "many": gap(rng, 5)}


def smaller(found):
    return found.many < found.few


def by(found):
    return found.few - found.many


@pytest.fixture
def book(tmp_path):
    """A book with one page; called with a sentence it returns the chapter, read anew."""
    (tmp_path / "equations.toml").write_text("")

    def chapter(sentence=SENTENCE):
        (tmp_path / "page.md").write_text(PAGE.format(sentence=sentence))
        return Chapter("page", tmp_path / "page.md")

    return chapter


def claimed(chapter, experiment=more_places, **terms):
    return chapter.claim("cl-gap", experiment, **{"holds": smaller, "effect": by, **terms})


def test_a_claim_that_holds_says_how_often_and_by_how_much(book):
    chapter = book(SENTENCE + " Else {share:more places}.")
    record = claimed(chapter, without={"more places": no_more_places}, least=11)
    assert record.data["held"] >= 11
    assert record.data["of"] == len(record.outcomes) == 12
    assert record.data["without"]["more places"]["held"] < 11
    mean, error, count, least, most = record.data["numbers"]["effect"]
    effects = [o.few - o.many for o in record.outcomes]
    assert mean == pytest.approx(np.mean(effects), rel=1e-4)
    assert error == pytest.approx(np.std(effects, ddof=1) / np.sqrt(12), rel=1e-2)
    assert (count, least, most) == pytest.approx((12, min(effects), max(effects)), rel=1e-4)
    assert repr(record).startswith(f"cl-gap: {record.data['held']} of 12 · without more places")


def test_a_share_below_the_stated_one_fails(book):
    with pytest.raises(ClaimError, match=r"holds in \d of 12 draws, and least=12 is said"):
        claimed(book(), no_more_places)


def test_a_cause_that_is_none_fails(book):
    chapter = book(SENTENCE + " Else {share:time}.")
    with pytest.raises(ClaimError, match="without time it still holds in"):
        claimed(chapter, without={"time": more_places})


def test_a_pick_at_the_edge_of_its_grid_fails(book):
    grid = (1.0, 2.0, 3.0)

    def picked(end):
        return lambda rng: {**more_places(rng), "width": Pick(end, grid, natural=(1.0,))}

    with pytest.raises(ClaimError, match="the pick width stands at the edge of its grid in 12"):
        claimed(book(), picked(3.0))
    assert claimed(book(), picked(2.0)).outcomes[0].width == 2.0
    assert claimed(book(), picked(1.0)).outcomes[0].width == 1.0


def test_fresh_draws_can_refute_it(book):
    """The first twelve were lucky: the file says so, and the claim is an error."""
    chapter = book()
    claimed(chapter)
    file = chapter.file.parent / "_claims" / "page.json"
    stored = json.loads(file.read_text())
    stored["cl-gap"]["fresh"] = {"held": 36, "of": 60, "variants": {}, "until": "2026-01-01"}
    file.write_text(json.dumps(stored))
    with pytest.raises(ClaimError, match="fresh draws refute it: it holds in 36 of 60"):
        claimed(book())
    stored["cl-gap"]["fresh"]["held"] = 57
    file.write_text(json.dumps(stored))
    assert not claimed(book()).data["weakened"]


def words(sentence, record):
    return filled(sentence, record).replace("\N{NO-BREAK SPACE}", " ")


def with_fresh(chapter, **fresh):
    """Write down what fresh draws are said to have found."""
    file = chapter.file.parent / "_claims" / "page.json"
    stored = json.loads(file.read_text())
    stored["cl-gap"]["fresh"] = {"edges": 0, "variants": {}, "until": "2026-01-01", **fresh}
    file.write_text(json.dumps(stored))


def test_fresh_draws_test_the_effect_and_what_is_printed_pools_all(book):
    record = claimed(book())
    mean, error, *_ = record.data["numbers"]["effect"]
    spread = error**2 * 12 * 11  # the sum of squares of the stored ones

    def fresh(by, squares=spread):
        moments = [12, by, squares, by - 0.1, by + 0.1]
        with_fresh(book(), held=12, of=12, numbers={"effect": moments})
        return claimed(book())

    pooled = fresh(mean + 2 * error)
    assert not pooled.data["weakened"]
    assert pooled.data["numbers"]["effect"][0] == pytest.approx(mean + error, rel=1e-4)
    assert words("{share}", pooled.data) == "24 of 24 (86 to 100 %)"
    assert fresh(mean + 4 * error).data["weakened"]
    with pytest.raises(ClaimError, match=r"fresh draws put its effect elsewhere: 0\.\d.* in 12"):
        fresh(mean + 8 * error)


def test_an_effect_that_fresh_draws_bring_to_none_fails(book):
    """As a lead of 0.009 ± 0.003 in twenty draws that was none in three hundred."""

    def lead(rng):
        found = more_places(rng)
        return {**found, "many": found["few"] - 1e-3 - 1e-3 * rng.normal()}

    mean, *_ = claimed(book(), lead, least=8).data["numbers"]["effect"]
    spread = 299 * (20 * mean) ** 2
    with_fresh(book(), held=300, of=300, numbers={"effect": [300, mean, 1e-3, -1.0, 1.0]})
    claimed(book(), lead, least=8)
    with_fresh(book(), held=300, of=300, numbers={"effect": [300, 0.0, spread, -1.0, 1.0]})
    with pytest.raises(ClaimError, match=r"its effect is none: .* over all 312 draws"):
        claimed(book(), lead, least=8)


def test_it_must_hold_in_every_setting_that_is_named(book):
    chapter = book(SENTENCE + " With fewer: {share:fewer}.")
    record = claimed(chapter, settings={"fewer": lambda rng: other_numbers(rng)}, least=11)
    assert record.data["settings"]["fewer"]["held"] >= 11
    assert len(record.settings["fewer"]) == 12
    with pytest.raises(ClaimError, match="draws with fewer, and least=11 is said"):
        claimed(chapter, settings={"fewer": no_more_places}, least=11)
    with pytest.raises(ValueError, match="'fewer' is a setting and a cause"):
        claimed(chapter, settings={"fewer": more_places}, without={"fewer": no_more_places})


def test_differences_are_paired(book):
    sides = {name: lambda rng, n=n: {"gap": gap(rng, n)} for name, n in (("five", 5), ("six", 6))}
    sentence = "In {share} six is less, by {less.six}, and five by {less.five}."
    record = book(sentence).claim(
        "cl-gap", sides, holds=lambda r: r.six.gap < 1, least=5,
        differences=lambda r: {name: r.five.gap - r[name].gap for name in sides},
    )  # fmt: skip
    taken = [o.five.gap - o.six.gap for o in record.outcomes]
    mean, error, *_ = record.data["numbers"]["less.six"]
    assert mean == pytest.approx(np.mean(taken), rel=1e-4)
    assert error == pytest.approx(np.std(taken, ddof=1) / 12**0.5, rel=1e-2)
    assert record.data["numbers"]["less.five"][:2] == [0, 0]


def test_a_cell_of_a_table_leaves_errors_away(book):
    record = claimed(book())
    mean, error, *_ = record.data["numbers"]["few"]
    row = filled("| {few plain} | {few plain %} | {few|plain} | {few %} |", record.data)
    plain = with_error(mean, error, "plain")
    whole = with_error(mean, error, "%")
    share = whole.partition(" ")[0] + "\N{NO-BREAK SPACE}%"
    set_whole = re.sub(r" (?=[±%])|(?<=±) ", "\N{NO-BREAK SPACE}", whole)
    assert row == f"| {plain} | {share} | {plain} | {set_whole} |"


def test_overlapping_draws_say_how_many_are_independent(book):
    record = claimed(book(SENTENCE + " Of them {blocks} overlap with none."), blocks=3)
    assert "3 independent" in repr(record)
    assert "Of them 3 overlap" in filled(record.data["sentence"], record.data)
    with pytest.raises(ValueError, match="blocks must be from 1 to 12; got 13"):
        claimed(book(), blocks=13)


def test_an_ascent_that_was_stopped_fails(book):
    def stopped(after):
        return lambda rng: {**more_places(rng), "fit": {"converged": rng.uniform() < after}}

    claimed(book(), stopped(1.0))
    with pytest.raises(ClaimError, match=r"fit.converged is false in \d+ of 12 draws"):
        claimed(book(), stopped(0.5))


def test_fresh_draws_are_others_and_are_counted(book, monkeypatch):
    chapter = book()

    class Noted:
        seen = []  # noqa: RUF012

        def __call__(self, rng):
            found = more_places(rng)
            self.seen.append(found["few"])
            return found

    noted = Noted()
    claimed(chapter, noted)
    monkeypatch.setenv("CHECKED_CLAIMS_FRESH", "5")
    for count in (5, 10):
        record = claimed(chapter, noted)
        assert record.data["fresh"]["of"] == count
    assert len(set(noted.seen)) == 12 + 10  # one draw is repeated twice


def test_a_stored_result_of_other_code_is_not_used(book):
    def other(rng):
        return {"few": 1.0, "many": rng.uniform() / 2}

    assert not claimed(book()).data["stored"]
    assert claimed(book()).data["stored"]
    changed = claimed(book(), other)
    assert not changed.data["stored"]
    assert changed.outcomes[0].few == 1.0


def test_counts_of_earlier_code_are_kept(book, monkeypatch):
    monkeypatch.setenv("CHECKED_CLAIMS_FRESH", "5")
    held = claimed(book()).data["fresh"]["held"]
    record = claimed(book(), lambda rng: {"few": 1.0, "many": 0.5})
    assert [(e["held"], e["of"]) for e in record.data["earlier"]] == [(held, 5)]


def renamed(rng):  # as `more_places`, by another name
    return more_places(rng)


def other_numbers(rng):
    return {"few": gap(rng, 5), "many": gap(rng, 40)}


def other_names(rng):
    return {**more_places(rng), "more": 1.0}


def stored(chapter):
    file = chapter.file.parent / "_claims" / "page.json"
    return json.loads(file.read_text())["cl-gap"]


@pytest.mark.parametrize("effect", [by, None])
def test_draws_and_counts_are_kept_where_only_names_have_changed(book, monkeypatch, effect):
    chapter = book("The widest gap is smaller with more places in {share}.")
    monkeypatch.setenv("CHECKED_CLAIMS_FRESH", "5")
    claimed(chapter, lambda rng: {"few": 1.0, "many": 0.5}, effect=effect)
    claimed(chapter, effect=effect)
    before = stored(chapter)
    monkeypatch.delenv("CHECKED_CLAIMS_FRESH")
    monkeypatch.setenv("CHECKED_CLAIMS_RENAMED", "1")
    assert claimed(chapter, renamed, effect=effect).data["stored"]
    after = stored(chapter)
    assert before.pop("key") != after.pop("key")
    assert after == before
    assert before["fresh"]["of"] == before["earlier"][0]["of"] == 5
    monkeypatch.delenv("CHECKED_CLAIMS_RENAMED")
    assert claimed(chapter, renamed, effect=effect).data["stored"]  # under the new key


@pytest.mark.parametrize("effect", [by, None])
@pytest.mark.parametrize(
    ("experiment", "terms"),
    [(other_numbers, {}), (other_names, {}), (renamed, {"draws": 13}), (renamed, {"draws": 11})],
)
def test_what_is_called_renamed_and_draws_other_numbers_is_drawn_anew(
    book, monkeypatch, experiment, terms, effect
):
    monkeypatch.setenv("CHECKED_CLAIMS_RENAMED", "1")
    chapter = book("The widest gap is smaller with more places in {share}.")
    claimed(chapter, effect=effect)
    record = claimed(chapter, experiment, effect=effect, **terms)
    assert not record.data["stored"]
    assert record.data["of"] == len(stored(chapter)["draws"]) == terms.get("draws", 12)


def test_a_cause_that_was_renamed_and_one_whose_numbers_changed(book, monkeypatch):
    monkeypatch.setenv("CHECKED_CLAIMS_RENAMED", "1")
    chapter = book(SENTENCE + " Else {share:more places}.")
    for without, kept in (
        (no_more_places, False),
        (lambda rng: no_more_places(rng), True),
        (lambda rng: {"few": 1.0, "many": 1.0}, False),
    ):
        record = claimed(chapter, without={"more places": without}, least=11)
        assert record.data["stored"] is kept


def test_a_rename_repeats_two_draws_and_nothing_is_repeated_without_the_word(book, monkeypatch):
    seen = []

    def counted(rng):
        seen.append(rng)
        return more_places(rng)

    claimed(book())
    monkeypatch.setenv("CHECKED_CLAIMS_RENAMED", "1")
    assert claimed(book(), counted).data["stored"]
    assert len(seen) == 2
    monkeypatch.delenv("CHECKED_CLAIMS_RENAMED")
    assert not claimed(book(), renamed).data["stored"]


def test_a_repeated_draw_that_differs_is_an_error(book):
    library = {"more": 80}

    class Apart:  # what comes from a library counts by its name alone
        def __call__(self, rng):
            return {"few": gap(rng, 5), "many": gap(rng, library["more"])}

    apart = Apart()
    claimed(book(), apart)
    library["more"] = 6
    with pytest.raises(ClaimError, match=r"draw \d+, repeated, is not the stored one"):
        claimed(book(), apart)


@pytest.mark.parametrize(("apart", "raises"), [(1, False), (2, True)])
def test_two_more_draws_may_speak_for_one_that_rounding_sent_elsewhere(
    book, monkeypatch, apart, raises
):
    monkeypatch.delenv("CHECKED_CLAIMS_SECONDS", raising=False)
    claimed(book())
    file = book().file.parent / "_claims" / "page.json"
    stored = json.loads(file.read_text())
    draws = stored["cl-gap"]["draws"]
    for number, draw in enumerate(draws):
        draw["seconds"] = {"": 0.5 + number}
    for draw in draws[:apart]:
        draw["effect"] += 1
    file.write_text(json.dumps(stored))
    if raises:
        with pytest.raises(ClaimError, match="draw 0, repeated, is not the stored one"):
            claimed(book())
    else:
        assert claimed(book()).data["stored"]


class Climbs:  # what comes from a library counts by its name alone
    """Takes of a number what stands so many places behind the point."""

    ends = 1.0

    def __call__(self, rng):
        last = rng.random() * self.ends % 1
        return {"few": 1 + last, "many": 0.5 * last}


@pytest.mark.parametrize(("ends", "raises"), [(1e14, False), (1.0, True)])
def test_a_draw_that_rounding_decides_is_no_change_of_the_code(book, monkeypatch, ends, raises):
    monkeypatch.delenv("CHECKED_CLAIMS_SECONDS", raising=False)
    monkeypatch.setattr(Climbs, "ends", ends)
    climbs = Climbs()
    claimed(book(), climbs)
    file = book().file.parent / "_claims" / "page.json"
    stored = json.loads(file.read_text())
    for draw in stored["cl-gap"]["draws"]:  # as another processor would have found it
        draw["effect"] += 0.3
    file.write_text(json.dumps(stored))
    if raises:
        with pytest.raises(ClaimError, match="repeated, is not the stored one"):
            claimed(book(), climbs)
    else:
        assert claimed(book(), climbs).data["stored"]


def test_a_nudge_moves_real_numbers_and_leaves_whole_ones_and_orders():
    same = stream("cl-a", 0)
    with nudged(1e-9):
        other = stream("cl-a", 0)
    assert isinstance(other, Nudged)
    assert not isinstance(np.random.default_rng(0), Nudged)
    for draw in (
        lambda rng: rng.random(3),
        lambda rng: rng.normal(1.0, 2.0, size=3),
        lambda rng: rng.multivariate_normal([0.0, 0.0], np.eye(2)),
        lambda rng: rng.gamma(2.0, size=3),
    ):
        np.testing.assert_allclose(draw(other) / draw(same), 1 - 1e-9, rtol=1e-13)
    assert other.integers(100, size=5).tolist() == same.integers(100, size=5).tolist()
    assert other.permutation(5).tolist() == same.permutation(5).tolist()
    assert other.spawn(1)[0].random() < same.spawn(1)[0].random()


def test_the_cheapest_draw_is_repeated_unless_it_costs_more_than_is_granted(book, monkeypatch):
    seen = []

    class Counted:
        def __call__(self, rng):
            seen.append(rng)
            return more_places(rng)

    claimed(book(), Counted())
    file = book().file.parent / "_claims" / "page.json"
    stored = json.loads(file.read_text())
    for number, draw in enumerate(stored["cl-gap"]["draws"]):
        draw["seconds"] = {"": 0.5 + abs(number - 7)}
    stored["cl-gap"]["draws"][0]["held"] = False  # which nobody looks at
    file.write_text(json.dumps(stored))
    for granted, runs in (("0.4", 12), ("0.6", 13), ("", 14)):
        monkeypatch.setenv("CHECKED_CLAIMS_SECONDS", granted)
        claimed(book(), Counted(), least=10)
        assert len(seen) == runs


def test_a_sentence_with_a_number_that_the_claim_lacks_fails(book):
    with pytest.raises(ClaimError, match=r"no number is called coverage\.nose"):
        claimed(book("It holds in {share}; {coverage.nose}."))


def test_an_average_has_its_worst_part(book):
    def covered(rng):
        return {**more_places(rng), "coverage": {"body": 0.99, "ears": rng.uniform(0.5, 0.7)}}

    sentence = SENTENCE + " It covers {worst:coverage|%}."
    record = claimed(book(sentence), covered, parts={"coverage": min})
    assert "It covers ears, 59." in filled(sentence, record.data)


def test_sides_have_one_stream_and_their_costs(book):
    sides = {"few": lambda rng: {"gap": gap(rng, 5)}, "same": lambda rng: {"gap": gap(rng, 5)}}
    chapter = book("Few and same agree in {share}, in {seconds:few}.")
    record = chapter.claim("cl-gap", sides, holds=lambda r: r.few.gap == r.same.gap)
    assert record.data["held"] == 12
    assert set(record.data["seconds"]) == {"few", "same"}


def test_what_was_done_once_says_why(book):
    chapter = book("It is so.")
    record = claimed(chapter, draws=1, once="there is one record of the lake")
    assert repr(record).startswith("cl-gap: once: there is one record of the lake")
    with pytest.raises(ValueError, match="draws must be 5 or more, or once= says why; got 1"):
        claimed(chapter, draws=1)


@pytest.mark.parametrize(
    ("found", "said"),
    [
        ({"few": np.nan, "many": 1.0}, "few must be a finite number; got nan"),
        ({"few": "1", "many": 1.0}, "few must be a finite number; got '1'"),
        ({"few": 1.0, "many": [1.0] * 300}, "many must hold at most 200 numbers; got 300"),
    ],
)
def test_what_is_no_number_is_refused(book, found, said):
    with pytest.raises(ValueError, match=said):
        claimed(book(), lambda rng: found)
    with pytest.raises(TypeError, match="an experiment must return numbers by name; got float"):
        claimed(book(), lambda rng: 1.0)


def test_a_directive_without_an_experiment_keeps_the_ledger_open(book):
    chapter = book()
    assert chapter.missing()["claims without an experiment"] == ["cl-gap"]
    claimed(chapter)
    assert chapter.missing()["claims without an experiment"] == []
    with pytest.raises(ClaimError, match=r"no {claim} directive has the label cl-other"):
        chapter.claim("cl-other", more_places, holds=smaller)


def test_one_more_draw_is_one_that_nobody_has_seen(book):
    chapter = book()
    record = claimed(chapter)
    again = chapter.draw("cl-gap", 3)
    assert again.outcome.few == pytest.approx(record.outcomes[3].few, rel=1e-5)
    assert chapter.draw("cl-gap").outcome.few not in [o.few for o in record.outcomes]
    with pytest.raises(ValueError, match=r"label must name a claim .* \(cl-gap\); got cl-gaps"):
        chapter.draw("cl-gaps")


def test_streams_depend_on_label_number_and_salt():
    first = [stream(*which).uniform() for which in (("a", 0), ("a", 1), ("b", 0), ("a", 0, "x"))]
    assert len(set(first)) == 4
    assert stream("a", 0).uniform() == first[0]


WIDTH = 2


def called(x):
    return x * WIDTH


def calling(rng):
    return called(rng)


def test_the_key_follows_what_is_called(monkeypatch):
    before = key_of(calling)
    assert key_of(calling) == before
    monkeypatch.setitem(globals(), "WIDTH", 3)
    assert key_of(calling) != before
    monkeypatch.undo()
    monkeypatch.setitem(globals(), "called", gap)
    assert key_of(calling) != before
    assert key_of(calling, version="2") != key_of(calling, version="1")


def test_the_key_is_the_same_wherever_things_lie_in_memory():
    def table():
        def kept():
            return WIDTH

        return {kept: 1}

    assert key_of(table()) == key_of(table())
    assert key_of({0, 8}) == key_of({8, 0})  # these two are met in the order of their writing
    assert key_of({"a": 1}) != key_of({"b": 1})


def test_numbers_are_printed_as_exactly_as_they_are_known():
    assert with_error(1234.5, 30.0) == "1230 ± 30"
    assert with_error(0.12345, 0.0011) == "0.1235 ± 0.0011"
    assert with_error(-2.0, 0.2) == "−2.0 ± 0.2"
    assert with_error(0.6, 0.011, "%") == "60.0 ± 1.1 %"
    assert with_error(3.0, 0.0) == "3"
    assert with_error(12.4, 3.2, "plain") == "12"
    assert with_error(0.6, 0.011, "plain %") == "60.0 %"
    assert with_error(53.7244, 1e-15) == "53.72"  # the same in every draw, but for rounding
    assert with_error(6.9e-15, 3e-15) == "(7 ± 3)e−15"
    assert with_error(0.0, 3e-9) == "(0 ± 3)e−9"
    assert with_error(-0.001, 0.1) == "0.00 ± 0.10"


def test_a_share_has_an_interval_also_where_none_or_all_held(book):
    def shares(rng):
        told = {"none": False, "all": True, "some": rng.uniform() < 0.5}
        return {**more_places(rng), **told, "most": 1.0}

    sentence = SENTENCE + " So {none|%}, {all|%}, {most|%}, {some|%} and {none}; {few|%}."
    record = claimed(book(sentence), shares)
    said = words(sentence, record.data)
    assert " So 0 % (0 to 24 %), 100 % (76 to 100 %), 100 %, " in said  # the last may be a part
    assert re.search(r"\d % \(\d+ to \d+ %\) and 0; \d+ ± ", said)
    assert filled("{min:few} {max:few|%}", record.data)[0] == "0"


@pytest.mark.parametrize(("spread", "said"), [(0.0, "0.07997"), (0.5, "0.08"), (2.0, "0.1")])
def test_the_least_of_the_draws_is_as_fine_as_their_spread(spread, said):
    moments = (1.0, spread / 3.0, 9, 0.07997, 14.0)
    record = {"label": "cl-a", "numbers": {"few": moments}, "settings": {}, "without": {}}
    assert filled("{min:few}", record) == said
    assert filled("{max:few}", record) == "14"


def test_tallies_add_up():
    rng = np.random.default_rng(0)
    one, other = rng.normal(size=7), rng.normal(2.0, 3.0, size=12)
    both = np.concatenate([one, other])
    added = Moments.of(one) + Moments.of(other)
    assert added.mean == pytest.approx(both.mean(), rel=1e-12)
    assert added.squares == pytest.approx(19 * both.var(), rel=1e-12)
    assert added.error == pytest.approx(both.std(ddof=1) / np.sqrt(19), rel=1e-12)
    assert (added.least, added.most) == (both.min(), both.max())


@pytest.mark.parametrize("sizes", [(5, 8), (12, 40), (20, 300)])
def test_the_chance_of_means_so_far_apart_is_that_of_welch(sizes):
    rng = np.random.default_rng(1)
    for apart in (0.0, 1.0, 3.0):
        one, other = rng.normal(size=sizes[0]), rng.normal(apart, 2.0, size=sizes[1])
        wanted = stats.ttest_ind(one, other, equal_var=False).pvalue
        found = chance_apart(Moments.of(one), Moments.of(other))
        assert found == pytest.approx(wanted, rel=0.1, abs=1e-6)


def test_an_outcome_names_what_it_has():
    outcome = Outcome({"ours": {"error": 1}, "flags": [True, False]})
    assert outcome.ours.error == outcome["ours"]["error"] == 1
    assert outcome.numbers() == {"ours.error": 1.0}
    with pytest.raises(AttributeError, match="the outcome has ours, flags; not theirs"):
        _ = outcome.theirs
