"""What verdicts and refutations show: one plain line, a badge, and JSON that a page can read."""

import json
import re

import pytest

from checked_equations.check.records import MIME
from gpnotes_book import Refutation, Verdict

MEASURED = 0.123456789
ALL = [
    (
        Refutation("part/small", "T-02", "a = <b", MEASURED, MEASURED, "eq-a"),
        "T-02: does not hold as printed; eq-a does",
    ),
    (
        Refutation("part/small", "T-02", "a = <b", None, MEASURED, "eq-a"),
        "T-02: does not hold as printed, its shapes do not conform; eq-a does",
    ),
    (
        Refutation(
            "part/small", "T-02", "a = <b", MEASURED, MEASURED, "eq-a", text="a.md", taken="a <sum"
        ),
        "T-02: does not hold at its word; eq-a does · a.md",
    ),
    (
        Verdict("part/small", "T-02", "holds-if", "eq-a", "if n > 1", MEASURED, MEASURED),
        "T-02: holds-if · eq-a · if n > 1",
    ),
]


@pytest.mark.parametrize(("record", "line"), ALL)
def test_the_plain_line_holds_no_measured_number(record, line):
    bundle = record._repr_mimebundle_()
    assert bundle["text/plain"] == repr(record) == line
    assert "0.1" not in line
    data = bundle[MIME]
    assert json.loads(json.dumps(data, allow_nan=False)) == data
    assert (data["kind"], data["about"], data["label"]) == (record.kind, "T-02", "eq-a")


@pytest.mark.parametrize(("record", "line"), ALL)
def test_the_badge_is_escaped_and_balanced(record, line):
    shown = record._repr_mimebundle_()["text/html"]
    assert shown.startswith(f'<details class="eqn-badge eqn-{record.kind}" data-label="T-02"')
    assert "<b" not in shown.replace("<body", "")
    opened = re.findall(r"<([a-z]+)[ >]", shown)
    assert sorted(opened) == sorted(re.findall(r"</([a-z]+)>", shown))


def test_a_refutation_opens_to_both_formulas():
    shown = ALL[0][0]._repr_mimebundle_()["text/html"]
    assert "as printed, and instead" in shown
    assert "<code>a = &lt;b</code>" in shown
