"""Mistakes that were printed and corrected: both forms are judged rightly, and most are mended."""

import errata

ITEMS = {item["id"]: item for item in errata.items()}

ALONE = (
    "coordinates", "marginal", "covariance", "one-period-rate", "tuition", "open-market",
    "digits", "cagan",
)  # fmt: skip


def test_each_item_has_two_forms_and_numbers():
    assert len(ITEMS) >= 60
    assert set(ITEMS) == set(errata.NUMBERS)
    assert all(item["printed"] != item["corrected"] for item in ITEMS.values())


def test_no_right_form_is_accused_no_wrong_one_passes_and_most_are_mended():
    verdicts = {name: errata.judge(item) for name, item in ITEMS.items()}
    assert not [name for name, one in verdicts.items() if one.right == "does not hold"]
    assert not [name for name, one in verdicts.items() if one.wrong.startswith("holds")]
    mended = [name for name, one in verdicts.items() if one.mend.startswith("the correction")]
    assert len(mended) >= 0.6 * len(verdicts)
    alone = {name for name, one in verdicts.items() if one.mend == "the correction alone"}
    assert set(ALONE) <= alone
    assert {verdicts[name].right for name in ALONE} == {"holds"}
    lost = verdicts["optimal-plan"]  # its discount is lost, and named nowhere else
    assert (lost.right, lost.wrong, lost.mend) == ("holds", "does not hold", "none")
    several = verdicts["independent"]  # another true formula makes them several
    assert several.mend == "the correction among several"
    assert several.mutant
