"""Mistakes that were printed and corrected: both forms are judged rightly, and most are mended."""

import pytest

import errata

ITEMS = {item["id"]: item for item in errata.items()}

ALONE = (
    "coordinates", "marginal", "covariance", "one-period-rate", "tuition", "open-market",
    "digits", "cagan",
)  # fmt: skip


@pytest.mark.parametrize("name", ALONE)
def test_a_published_mistake_is_mended_to_its_correction_alone(name):
    verdict = errata.judge(ITEMS[name])
    assert verdict.right == "holds"
    assert not verdict.wrong.startswith("holds")
    assert verdict.mend == "the correction alone"


def test_what_the_printed_form_does_not_name_is_not_bound_and_not_found():
    verdict = errata.judge(ITEMS["optimal-plan"])  # its discount is lost, and named nowhere else
    assert (verdict.right, verdict.wrong, verdict.mend) == ("holds", "does not hold", "none")


def test_another_true_formula_makes_them_several():
    verdict = errata.judge(ITEMS["independent"])
    assert verdict.mend == "the correction among several"
    assert verdict.mutant


def test_each_item_has_two_forms_and_numbers():
    assert len(ITEMS) >= 60
    assert set(ITEMS) == set(errata.NUMBERS)
    assert all(item["printed"] != item["corrected"] for item in ITEMS.values())


def test_no_right_form_is_accused_no_wrong_one_passes_and_most_are_mended():
    verdicts = [errata.judge(item) for item in ITEMS.values()]
    assert not [one.id for one in verdicts if one.right == "does not hold"]
    assert not [one.id for one in verdicts if one.wrong.startswith("holds")]
    assert sum(one.mend.startswith("the correction") for one in verdicts) >= 0.6 * len(verdicts)
