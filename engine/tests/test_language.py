"""Everything that the engine reads has an example that holds, and what it refuses has a reason."""

from __future__ import annotations

import ast
import inspect
import itertools

import pytest

from checked_equations.check import mutants
from checked_equations.check.bindings import draw_bindings, name_kinds
from checked_equations.check.definitions import NORMAL, normal_shape
from checked_equations.latex import tree, vocabulary
from checked_equations.latex.names import normal
from checked_equations.latex.parser import parse, parse_expression
from checked_equations.latex.printer import to_latex
from language_by_example.definitions import DEFINITIONS
from language_by_example.grammar_parts import all_parts, parts_of
from language_by_example.sections import ALIKE, READ, REFUSED, SPELLED
from language_by_example.slips import WHERE, all_slips

ALL = list(itertools.chain(*READ.values(), *SPELLED.values()))
EXAMPLES = [example for example in ALL if example not in DEFINITIONS]
SPELLINGS = list(itertools.chain(*ALIKE.values()))
REFUSALS = list(itertools.chain(*REFUSED.values()))
# One side of an equation alone, and angles around one thing, which are refused.
ELSEWHERE = {"expression", "angle"}


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.latex)
def test_an_example_holds_and_its_mutants_are_caught(example):
    record = example.record()
    assert record.mutants.caught > 0 == record.mutants.survived + record.mutants.spared


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.latex)
def test_the_latex_of_each_mutant_is_read(example):
    """A page shows it, and a reader may give it to the engine."""
    kinds = name_kinds({NORMAL: normal_shape, **draw_bindings(example.bindings, "example")[0]})
    for mutant in example.mutants():
        read = parse if isinstance(mutant.after, tree.Step) else parse_expression
        read(to_latex(mutant.after), kinds, free=True)


@pytest.mark.parametrize("definition", DEFINITIONS, ids=lambda definition: definition.latex)
def test_a_definition_is_read(definition):
    record = definition.record()
    assert bool(record.steps) == bool(definition.bindings)


def test_every_kind_of_mutant_has_an_example():
    assert all(slip.mutants for slip in all_slips())
    nodes = ast.walk(ast.parse(inspect.getsource(mutants)))
    kinds = {getattr(tree, node.cls.attr) for node in nodes if isinstance(node, ast.MatchClass)}
    assert len(kinds) > 20
    assert [kind for kind in kinds if not any(issubclass(one, kind) for one in WHERE)] == []


@pytest.mark.parametrize("refusal", REFUSALS, ids=lambda refusal: refusal.latex)
def test_a_refusal_says_why(refusal):
    assert len(refusal.problem()) > 10


@pytest.mark.parametrize("spelling", SPELLINGS, ids=lambda spelling: spelling.written)
def test_two_spellings_are_read_alike(spelling):
    assert normal(spelling.written) == normal(spelling.read)
    assert spelling.written != spelling.read


def test_every_rule_and_every_word_of_the_grammar_has_an_example():
    shown = frozenset().union(*(example.parts() for example in ALL))
    assert all_parts() - shown == ELSEWHERE


def test_every_register_of_the_vocabulary_has_its_list():
    """A word without an example fails as one that is missing; here no register is forgotten."""
    listed = {example.says for example in itertools.chain(*SPELLED.values())} | {
        d.latex for d in DEFINITIONS
    }
    refused = " ".join(refusal.latex for refusal in REFUSALS)
    apart = {"SIGNS", "RANGES", "AMBIGUOUS_POWERS", "QUANTIFIERS", "CLOSE", "AVERAGES", "MARKS"}
    apart |= {"ROUNDED", "REASONS"}
    apart |= {"AMBIGUOUS_INVERSES", "INVERSES", "ENDS_AN_OPERAND"}
    apart |= {"EXPECTS_MORE", "RESERVED"}  # of the lexer, not of the language
    for name, register in vars(vocabulary).items():
        if name.isupper() and name not in apart and not name.startswith("_"):
            missing = {word for word in register if word} - listed
            assert all(word in refused for word in missing), (name, missing)


def test_a_word_that_is_new_has_no_example_yet(monkeypatch):
    from language_by_example import words

    monkeypatch.setitem(vocabulary.FUNCTIONS, r"\novel", "novel")
    made = words._made(vocabulary.FUNCTIONS, words._function)
    (new,) = [example for example in made if example.says == r"\novel"]
    with pytest.raises(AssertionError, match=r"novel of vocabulary.py has no example .*/words.py"):
        new.record()


def test_the_parts_of_a_statement_are_those_of_the_grammar():
    names = {"a": "value", "b": "value"}
    assert parts_of("a = b^2", names) <= all_parts()
    read = ["NAME", "REL", "chain", "claim", "equation", "name", "term"]
    assert sorted(parts_of("a = b", names)) == read
