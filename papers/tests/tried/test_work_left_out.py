"""Work that cannot change a verdict is left out, and the verdict is the same."""

from __future__ import annotations

import pytest

from checked_papers.mends import search
from checked_papers.tried import sample_fates, try_display


def _calls(monkeypatch: pytest.MonkeyPatch, module: object, name: str) -> list[object]:
    """The first argument of each call of a function of a module, from here on."""
    made: list[object] = []
    real = getattr(module, name)

    def told(*arguments: object, **named: object) -> object:
        made.append(arguments[0])
        return real(*arguments, **named)

    monkeypatch.setattr(module, name, told)
    return made


@pytest.mark.parametrize(
    ("latex", "looks"),
    [("y = a x + b", 0), ("u = x^2", 0), (r"v := \sin u", 0), ("n = 2 k", 3), ("e = 2 + x", 3)],
)
def test_what_only_names_a_number_is_not_evaluated(
    monkeypatch: pytest.MonkeyPatch, latex: str, looks: int
) -> None:
    made = _calls(monkeypatch, sample_fates, "fate_of")
    assert try_display(latex).verdict == "definition"
    assert len(made) == looks


def test_a_sum_whose_terms_do_not_die_away_is_refuted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    made = _calls(monkeypatch, sample_fates, "fate_of")
    latex = r"\sum_{k=0}^{\infty} (k a + b) = a b"
    assert try_display(latex, once=True).why.endswith(sample_fates.ENDLESS)
    assert len(made) == 1


@pytest.mark.parametrize(
    ("latex", "most", "verdict"),
    [
        ("a^2 + a b - c = 0", 3, "not read"),  # only without c may it be nothing
        (r"\cosh^2 x + \sinh^2 x = 1", 200, "fails on all numbers drawn"),
    ],
)
def test_a_relation_is_mended_by_what_takes_its_lone_symbols_away(
    monkeypatch: pytest.MonkeyPatch, latex: str, most: int, verdict: str
) -> None:
    made = _calls(monkeypatch, search, "_mends")
    assert try_display(latex).verdict == verdict
    assert len(made) <= most
