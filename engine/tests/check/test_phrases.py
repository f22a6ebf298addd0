"""The words of a record: the plain line of each kind, and the phrases that badges are made of."""

import pytest

from checked_equations.check import phrases

MUTANTS = {"caught": 17, "survived": 1, "spared": 2, "undecided": 3, "indistinct": 4}
ALL = "17 of 23 mutants caught"
COUNTED = f"{ALL} (4 indistinct, 2 spared, 3 undecided)"
STEP = {"latex": "a = b", "residual": 2e-11}
CHECK = {
    "kind": "identity", "label": "eq-a", "rtol": 1e-9, "approx": None, "draws": 1, "steps": [STEP],
    "mutants": MUTANTS, "oracle": "by hand",
}  # fmt: skip
SAMPLE = {"z": 1.26, "n": 3, "seed": 0}
TOTALS = {
    "equations": 9, "checked": 6, "estimates": 1, "definitions": 2,
    "mutants_caught": 17, "mutants_survived": 0, "mutants_indistinct": 4, "mutants_spared": 2,
}  # fmt: skip
LEDGER = {"kind": "ledger", "totals": TOTALS}
LEDGER_MUTANTS = "17 of 19 mutants caught (4 indistinct, 2 spared)"
LEDGER_SAID = "ledger: 9 equations · 6 checked · 1 estimate · 2 definitions"
DEFINITION = {**CHECK, "kind": "definition", "steps": [], "bare": ["f = g"], "why": "a model"}


@pytest.mark.parametrize(
    ("data", "line"),
    [
        ({"said": "of a book", "kind": "identity"}, "of a book"),
        (CHECK, f"eq-a: holds to 1e-09 · 1 step · {COUNTED} · by hand"),
        (CHECK | {"label": "", "oracle": "", "approx": 3e-5, "steps": [STEP] * 2},
         f"holds to 3e-05 · 2 steps · {COUNTED}"),
        (CHECK | {"draws": 3, "tight": 2},
         f"eq-a: holds to 1e-09 · 1 step · 3 draws · 2 tight · {COUNTED} · by hand"),
        (CHECK | {"estimate": SAMPLE},
         f"eq-a: holds within 4 standard errors (n = 3, seed = 0) · 1 step · {COUNTED} · by hand"),
        (CHECK | {"estimate": {"n": 3, "seed": None}},
         f"eq-a: holds within 4 standard errors (n = 3) · 1 step · {COUNTED} · by hand"),
        (CHECK | {"estimate": {"z": 1.0}},
         f"eq-a: holds within 4 standard errors · 1 step · {COUNTED} · by hand"),
        (DEFINITION, "eq-a: definition, a model"),
        (DEFINITION | {"steps": [STEP]},
         f"eq-a: definition, compared · 1 step · {COUNTED} · by hand · 1 left: a model"),
        (DEFINITION | {"steps": [STEP] * 2, "bare": [], "oracle": ""},
         f"eq-a: definition, compared · 2 steps · {COUNTED}"),
        (LEDGER, f"{LEDGER_SAID} · {LEDGER_MUTANTS}"),
        (LEDGER | {"totals": TOTALS | {"waiting": 3, "definitions": 1, "inline_evaluated": 5},
                   "more": {"answers": ["S1-01", "S1-02"]}},
         "ledger: 9 equations · 6 checked · 1 estimate · 1 definition · 3 not yet · "
         f"5 of 5 evaluated between the lines · {LEDGER_MUTANTS} · answers S1-01, S1-02"),
    ],
)  # fmt: skip
def test_the_plain_line(data, line):
    assert phrases.said(data) == phrases.plain(data) == line
    assert phrases.plain({**data, "text": "kernels.md"}) == f"{line} · kernels.md"


@pytest.mark.parametrize(
    ("data", "head"),
    [
        (CHECK, "checked to 1e−9"),
        (CHECK | {"approx": 3e-5}, "checked to 3e−5"),
        (CHECK | {"estimate": {"z": 1.26, "n": 10**6}}, "estimate, z = 1.3, n = 10⁶"),
        (CHECK | {"estimate": {"z": 1.24, "n": None}}, "estimate, z = 1.2"),
        (DEFINITION | {"estimate": SAMPLE}, "definition, compared"),
    ],
)  # fmt: skip
def test_a_closed_badge(data, head):
    def said(oracle, route, apart):
        return phrases.badge_phrases(data, MUTANTS, oracle, route, apart=apart)

    assert said("by hand", ("quadrature", "differences"), True) == [
        head, COUNTED, "by hand", "by quadrature, differences"]  # fmt: skip
    assert said("", (), False) == [head, ALL]


def test_mutants_are_counted_by_what_became_of_them():
    assert phrases.mutants_caught({"caught": 3}) == "3 of 3 mutants caught"
    assert phrases.mutants_caught(MUTANTS, apart=False) == ALL
    for outcome in ("indistinct", "spared", "undecided"):
        of = 3 if outcome == "indistinct" else 5
        counts = {"caught": 3, outcome: 2}
        assert phrases.mutants_caught(counts) == f"3 of {of} mutants caught (2 {outcome})"
    counts = {"caught": 17, "survived": 0, "indistinct": 4, "spared": 2}
    assert phrases.mutant_counts(TOTALS) == counts
    assert phrases.total_rows(LEDGER)[-1] == ("mutants", LEDGER_MUTANTS)
    assert phrases.total_rows(LEDGER)[0] == ("equations", "9")


@pytest.mark.parametrize(
    ("totals", "said"),
    [
        ({}, ""),
        ({"inline_evaluated": 5, "inline_listed": 0}, "5 of 5 evaluated"),
        ({"inline_listed": 4}, "0 of 4 evaluated"),
        ({"inline_evaluated": 5, "inline_listed": 4}, "5 of 9 evaluated"),
    ],
)
def test_relations_between_the_lines(totals, said):
    assert phrases.evaluated_between(totals) == said


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ({"rtol": 1e-9}, "1e-9"),
        ({"rtol": 1e-9, "approx": 3e-5}, "1e-9; 3e-5 where approximate"),
        ({"rtol": 1e-9, "approx": 0.0}, "1e-9"),
        ({"rtol": None}, ""),
        ({"rtol": 1e-9, "estimate": SAMPLE}, ""),
        ({}, ""),
    ],
)
def test_the_tolerance(data, said):
    assert phrases.tolerance_phrase(data) == said


@pytest.mark.parametrize(
    ("n", "said"),
    [
        (1, "1"), (10, "10"), (100, "100"), (999, "999"), (1000, "10³"), (2000, "2 000"),
        (1100, "1 100"), (1_000_000, "10⁶"), (1_234_567, "1 234 567"), (10**12, "10¹²"),
    ],
)  # fmt: skip
def test_powers_of_ten(n, said):
    assert phrases.power_of_ten(n) == said.replace(" ", "\N{NO-BREAK SPACE}")


@pytest.mark.parametrize(
    ("value", "digits", "said"),
    [
        (None, 0, "does not conform"), (0.0, 3, "0"), (1e-9, 0, "1e-9"), (1.46e-9, 1, "1.5e-9"),
        (-2e12, 0, "-2e12"), (3.0, 0, "3e0"),
    ],
)  # fmt: skip
def test_short_numbers(value, digits, said):
    assert phrases.short(value, digits) == said


def test_a_claim_is_said_in_counts():
    row = {"held": 10, "of": 12}
    data = row | {"once": "", "fresh": None, "blocks": 0, "settings": {}, "without": {}}
    assert phrases.claim_phrases(data) == ["10 of 12"]
    more = data | {
        "fresh": {"held": 49, "of": 60}, "blocks": 5, "settings": {"noise": row},
        "without": {"a grid": row},
    }  # fmt: skip
    assert phrases.claim_phrases(more) == [
        "10 of 12", "fresh 49 of 60", "with noise 10 of 12", "without a grid 10 of 12",
        "5 independent",
    ]  # fmt: skip
    assert phrases.claim_phrases(data | {"once": "a draw"}) == ["once: a draw"]


def test_of_many_mutants_of_one_thing_the_nearest_miss_has_a_row():
    def mutant(edit, residual, outcome="caught"):
        return {"edit": edit, "residual": residual, "outcome": outcome}

    many = [mutant(f"{name} for x", size) for name, size in (("a", 0.3), ("b", 0.1), ("c", None))]
    few = [mutant("- for +", 0.5), mutant("drop x", 0.2), mutant("y for z", 0.7, "survived")]
    nearest, *others = phrases.together([*many, *few])
    assert nearest == many[1] | {"why": "the nearest of 3 of its kind, all caught"}
    assert others == few
    assert phrases.together(many[:2]) == many[:2]
