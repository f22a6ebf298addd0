"""One register tells nodes apart in every stage; what is added to the language is declared."""

import pytest

from checked_equations.check.edits import Scope, edits_of
from checked_equations.evaluate.evaluator import Evaluator
from checked_equations.evaluate.rules import rule
from checked_equations.latex import tree as t
from checked_equations.latex import vocabulary
from checked_equations.latex.parser import parse_expression
from checked_equations.latex.printer import printed, to_latex
from checked_equations.latex.register import Register

ABSTRACT = {"Average", "Infix", "Node", "Slope"}
WITHOUT_A_VALUE = {"Member", "Range", "Space", "Statement", "Step", "Under"}
KINDS = [
    kind
    for kind in vars(t).values()
    if isinstance(kind, type) and issubclass(kind, t.Node) and kind.__name__ not in ABSTRACT
]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_every_kind_of_node_can_be_printed(kind):
    assert printed.of(object.__new__(kind))


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_every_kind_of_node_has_a_value_or_is_known_to_have_none(kind):
    known = any(base in rule.functions for base in kind.__mro__)
    assert known != (kind.__name__ in WITHOUT_A_VALUE)


def test_a_kind_without_a_function_has_that_of_the_kind_it_derives_from():
    spoken = Register("word")
    spoken(t.Infix)(lambda node: "an operator")
    assert spoken.of(t.Kronecker(()))(None) == "an operator"
    with pytest.raises(TypeError, match=r"^a Number has no word$"):
        spoken.of(t.Number(1.0))


class Join(t.Infix):
    """``a \\bowtie b``: both, and one more."""

    spellings = ("\\bowtie",)
    called = "join"


@pytest.fixture
def _joined(monkeypatch):
    """The language with one more binary operator: a class, two rows and a rule."""
    monkeypatch.setitem(t.INFIX, "\\bowtie", Join)
    monkeypatch.setitem(vocabulary.OPERATORS, "\\bowtie", "INFIX")  # made from the other
    monkeypatch.setitem(
        rule.functions, Join, lambda ev, node, scope: sum(ev.of(f, scope) for f in node.factors) + 1
    )


@pytest.mark.usefixtures("_joined")
def test_a_binary_operator_is_a_class_and_a_rule():
    names = dict.fromkeys("abc", "value")
    node = parse_expression(r"a + (b \bowtie c)^2", names)
    assert to_latex(node) == r"a + (b \bowtie c)^{2}"
    assert float(Evaluator({"a": 1.0, "b": 2.0, "c": 3.0}).value(node)) == 37.0
    (join,) = [part for _, part in t.walk(node) if isinstance(part, Join)]
    said = [name for name, _ in edits_of(join, Scope(to_latex, {}))]
    assert said == ["swap $b$ and $c$", "matrix product for the join"]
    with pytest.raises(ValueError, match="write brackets around one of the products"):
        parse_expression(r"a \bowtie b \odot c", names)
