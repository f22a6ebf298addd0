"""Formulas of sentences: roots of variances, values of expressions, and what nothing judges."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats

from checked_equations import EquationError
from checked_equations.book import settings
from checked_equations.book.ledger import LedgerError
from gpnotes_book import Chapter

PAGE = """\
# Page

```{{math}}
:label: eq-one
a = b c
```

## Noise

{text}
"""


@pytest.fixture
def ledger(tmp_path):
    """Close the ledger of a page with this text, with these symbols and what is listed."""

    def closed(text, listed=None, **symbols):
        (tmp_path / "equations.toml").write_text("")
        if listed is not None:
            (tmp_path / "relations-listed.toml").write_text(listed)
        page = tmp_path / "page.md"
        page.write_text(PAGE.format(text=text))
        chapter = Chapter("page", page)
        chapter.check("eq-one", {"a": 1.5, "b": 0.5, "c": 3.0}, oracle="by hand")
        if symbols:
            chapter.symbols(**symbols)
        return chapter.ledger()

    return closed


NOISE = {r"\sigma_n^2": 0.09, "p": 1 / 0.09}


def test_the_root_of_a_square_is_bound_with_it(ledger):
    """With the variance bound, a sentence that forgets the square is false, and not unread."""
    record = ledger(r"A precision is $p = 1 / \sigma_n^2$, and $\sigma_n > 0$.", bindings=NOISE)
    assert [relation.outcome for relation in record.inline] == ["evaluated", "evaluated"]
    with pytest.raises(EquationError, match="this sentence is false"):
        ledger(r"A precision is $p = 1 / \sigma_n$.", bindings=NOISE)


def test_a_root_that_is_bound_stays_as_it_is(ledger):
    with pytest.raises(EquationError, match="bound to other numbers than it reads as"):
        ledger(r"$p = 1 / \sigma_n^2$.", bindings={**NOISE, r"\sigma_n": 2.0})


AVERAGE = r"The average is $s (1 - r^2)$, we say."
NUMBERS = {"s": 2.0, "r": 0.3}


def test_an_expression_has_the_value_that_it_is_given(ledger):
    values = {"s (1 - r^2)": lambda drawn: drawn["s"] - drawn["s"] * drawn["r"] ** 2}
    record = ledger(AVERAGE, bindings=NUMBERS, values=values)
    (expression,) = record.inline
    assert (expression.latex, expression.outcome) == ("s (1 - r^2)", "evaluated")
    assert expression.caught == expression.mutants > 3
    with pytest.raises(EquationError, match="this sentence is false"):
        ledger(AVERAGE, bindings=NUMBERS, values={"s (1 - r^2)": 1.5})


def test_a_value_may_use_a_root(ledger):
    values = {r"3 \sigma_n": 0.9}
    record = ledger(r"It is $3 \sigma_n$.", bindings=NOISE, values=values)
    assert record.inline[0].outcome == "evaluated"


@pytest.mark.parametrize("edit", [("1 - r", "1 + r"), ("r^2", "r"), ("s (", "(")])
def test_an_edited_expression_is_missed_where_its_value_is_given(ledger, edit):
    values = {"s (1 - r^2)": 1.82}
    with pytest.raises(ValueError, match=r"values gives .* which does not stand"):
        ledger(AVERAGE.replace(*edit), bindings=NUMBERS, values=values)


def test_a_value_that_cannot_be_compared_is_an_error(ledger):
    with pytest.raises(EquationError, match="not bound together: `r`"):
        ledger(AVERAGE, bindings={"s": 2.0}, values={"s (1 - r^2)": 1.82})


LISTED = 'page = ["x > 0"]\n'


def test_a_relation_that_leaves_the_evaluated_ones_is_named(ledger):
    assert ledger("Let $x > 0$.", listed=LISTED).inline[0].outcome == "listed"
    with pytest.raises(LedgerError, match=r"\$t = 2\$ \(line 10: .*not bound together: `t`"):
        ledger("Let $x > 0$, and $t = 2$.", listed=LISTED)
    assert ledger("Let $x > 0$, and $t = 2$.", listed=LISTED, bindings={"t": 2}).totals
    spare = {"t = 2": "a case"}
    assert ledger("Let $x > 0$, and $t = 2$.", listed=LISTED, bindings={"d": 1}, spare=spare).totals


def test_what_is_listed_for_no_reason_must_leave(ledger):
    with pytest.raises(LedgerError, match=r"must leave relations-listed.toml: \$x > 0\$"):
        ledger("Let it be.", listed=LISTED)
    with pytest.raises(LedgerError, match="must leave"):
        ledger("Let $x > 0$.", listed=LISTED, bindings={"x": 1.0})


def test_a_book_without_the_list_may_leave_all_unjudged(ledger):
    assert ledger("Let $x > 0$.").inline[0].outcome == "listed"


def test_an_edit_of_one_of_two_twins_is_counted(ledger):
    twice = r"It is $s (1 - r^2)$, and again $s (1 - r^2)$."
    known = {
        "listed": "[evaluated]\npage = 2\n",
        "bindings": NUMBERS,
        "values": {"s (1 - r^2)": 1.82},
    }
    assert len(ledger(twice, **known).inline) == 2
    with pytest.raises(LedgerError, match=r"formulas that are evaluated, of 2 in .*: 1"):
        ledger(twice[:-5] + "^3)$.", **known)


def test_the_numbers_of_a_table_may_live_in_any_library(ledger, space):
    """A variance has its root there, too, and the value of an expression may be SciPy's."""
    bound = {r"\sigma_n^2": space.asarray(0.25), "p": space.asarray(4.0)}
    root = stats.norm(scale=3.0).ppf  # of SciPy's, which takes NumPy's arrays
    values = {r"3 \sigma_n": lambda drawn: root(stats.norm.cdf(4 * drawn[r"\sigma_n^2"])) / 2}
    text = r"With $p = 1 / \sigma_n^2$ and $\sigma_n > 0$ it is $3 \sigma_n$."
    record = ledger(text, bindings=bound, values=values)
    assert [relation.outcome for relation in record.inline] == ["evaluated"] * 3


NOTATION = r"""
- symbols:
    - {latex: ["\\mathbf y", "y"], fields: {"\\mathbf y": y, "y": y}}
    - {latex: ["N"], fields: {"N": N}}
    - {latex: ["S"], fields: {"S": N}}
"""


def test_symbols_find_their_fields_in_the_sentences(tmp_path):
    (tmp_path / "equations.toml").write_text('notation = "notation.yml"\n')
    (tmp_path / "notation.yml").write_text(NOTATION)
    page = tmp_path / "page.md"
    page.write_text("# Page\n\nHere $y_1 + y_1 = 2 y_1$ and $Q = N$.\n")
    chapter = Chapter("page", page)
    problem = SimpleNamespace(y=np.arange(1.0, 4.0), N=5, mean=0.0)
    assert set(chapter.symbols((problem, {"Q": 5})).names) == {"Q", "N", "y"}
    assert [r.outcome for r in chapter.ledger().inline] == ["evaluated", "evaluated"]


def test_the_list_does_not_bind_a_page_that_has_left_its_book(tmp_path, monkeypatch):
    """The list counts those of captions too, which a notebook has in no cell."""
    (tmp_path / "book").mkdir()
    for name, text in (
        ("equations.toml", ""),
        ("relations-listed.toml", "[evaluated]\none = 7\n"),
        ("one.md", (page := PAGE.format(text="So $b = a / c$."))),
    ):
        (tmp_path / "book" / name).write_text(text)
    (tmp_path / "left").mkdir()
    (tmp_path / "left" / "one.md").write_text(page)
    entry = SimpleNamespace(load=lambda: str(tmp_path / "book"))
    monkeypatch.setattr(settings, "entry_points", lambda group: [entry])

    def closed():
        chapter = Chapter("one")
        chapter.check("eq-one", {"a": 1.5, "b": 0.5, "c": 3.0}, oracle="by hand")
        return chapter.ledger().totals["inline_evaluated"]

    monkeypatch.chdir(tmp_path / "left")
    assert closed() == 1
    monkeypatch.chdir(tmp_path / "book")
    with pytest.raises(ValueError, match=r"evaluated, of 7 in relations-listed\.toml: 1"):
        closed()
