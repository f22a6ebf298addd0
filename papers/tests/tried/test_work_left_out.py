"""Work that cannot change a verdict is left out, and the verdict is the same."""

from __future__ import annotations

import pytest

from checked_papers.mends import search
from checked_papers.tried import sample_fates, try_display, unbound_statement
from checked_papers.tried.letter_conventions import known


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


@pytest.mark.parametrize(
    ("latex", "looks"),
    [
        ("a = b + c_1", 1),
        (r"\mathbf A \mathbf x = \frac{1}{2} \mathbf b", 1),
        ("f(x) = x^2", 2),
        ("A^T = T A", 2),  # a transpose, until T is a symbol
        ("d = 2 a", 2),
        ("x' = 2 a", 2),
    ],
)
def test_a_display_is_read_again_only_where_its_symbols_may_change_it(
    monkeypatch: pytest.MonkeyPatch, latex: str, looks: int
) -> None:
    unbound_statement._parsed_or_why.cache_clear()
    made = _calls(monkeypatch, unbound_statement, "parse")
    unbound_statement.read(latex, known({}))
    assert len(made) == looks


@pytest.mark.parametrize(
    ("latex", "looks", "verdict"),
    [
        ("K (a + b) = K a + K b", 12, "holds"),
        ("a (K - 2) (K - 3) (K - 4) (K - 5) = 0", 200, "not read"),  # not so for 7, nor for 23
        (r"\cos(2 \pi k) = 1", 200, "holds"),
    ],
)
def test_two_whole_numbers_are_enough_for_a_rational_equality(
    monkeypatch: pytest.MonkeyPatch, latex: str, looks: int, verdict: str
) -> None:
    made = _calls(monkeypatch, sample_fates, "fate_of")
    assert try_display(latex, mending=False).verdict == verdict
    assert len(made) <= looks


def test_the_steps_of_an_edit_are_made_where_it_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    made = _calls(monkeypatch, search, "mutated")
    assert try_display("a^2 + a b - c = 0").verdict == "not read"
    assert len(made) <= 3
