"""Every stage tells nodes apart by dispatch or match; what is added to the language is declared."""

import pytest

from checked_equations.check.mutants import Scope, edits_of
from checked_equations.evaluate.evaluator import Evaluator, rule
from checked_equations.latex import tree as t
from checked_equations.latex import vocabulary
from checked_equations.latex.parser import parse_expression
from checked_equations.latex.printer import printed, to_latex

ABSTRACT = {"Average", "Infix", "Node", "Slope"}
WITHOUT_A_VALUE = {"Member", "Range", "Space", "Statement", "Step", "Under"}
KINDS = [
    kind
    for kind in vars(t).values()
    if isinstance(kind, type) and issubclass(kind, t.Node) and kind.__name__ not in ABSTRACT
]


def test_every_kind_of_node_can_be_printed():
    unprinted = [kind for kind in KINDS if printed.dispatch(kind) is printed.dispatch(object)]
    assert len(KINDS) > 30
    assert unprinted == []


def test_every_kind_of_node_has_a_value_or_is_known_to_have_none():
    valueless = {kind.__name__ for kind in KINDS if rule.dispatch(kind) is rule.dispatch(object)}
    assert valueless == WITHOUT_A_VALUE


def test_a_kind_without_a_value_says_so():
    with pytest.raises(TypeError, match=r"^a Range has no value$"):
        rule(object.__new__(t.Range), None, {})


class Join(t.Infix):
    """``a \\bowtie b``: both, and one more."""

    spellings = ("\\bowtie",)
    called = "join"


@pytest.fixture
def _joined(monkeypatch):
    """The language with one more binary operator: a class, two rows and a rule."""
    monkeypatch.setitem(t.INFIX, "\\bowtie", Join)
    monkeypatch.setitem(vocabulary.OPERATORS, "\\bowtie", "INFIX")  # made from the other
    rule.register(Join)(lambda node, ev, scope: sum(ev.of(f, scope) for f in node.factors) + 1)


@pytest.mark.usefixtures("_joined")
def test_a_binary_operator_is_a_class_and_a_rule():
    names = dict.fromkeys("abc", "value")
    node = parse_expression(r"a + (b \bowtie c)^2", names)
    assert to_latex(node) == r"a + (b \bowtie c)^{2}"
    assert float(Evaluator({"a": 1.0, "b": 2.0, "c": 3.0}).value(node)) == 37.0
    (join,) = [part for _, part in t.walk(node) if isinstance(part, Join)]
    said = [name for name, _ in edits_of(join, Scope(to_latex, {}))]
    assert said == ["swap b and c", "matrix product for the join"]
    with pytest.raises(ValueError, match="write brackets around one of the products"):
        parse_expression(r"a \bowtie b \odot c", names)
