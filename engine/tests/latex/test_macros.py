"""A book's own commands: put in place before an equation is read, with the places kept."""

from __future__ import annotations

import numpy as np
import pytest

from checked_equations.errors import EquationError
from checked_equations.latex import tree as t
from checked_equations.latex.equation import Equation
from checked_equations.latex.macros import expand
from checked_equations.latex.parser import parse, parse_expression

MACROS = {
    r"\vx": r"\mathbf x",
    "R": r"\mathbb R",
    r"\vec": [r"\mathbf{#1}", 1],
    r"\normal": r"\mathcal N(#1; #2, #3)",
    r"\inv": "#1^{-1}",
    r"\twice": r"\inv{\inv{#1}}",
    r"\bold": r"\mathbf#1",
}


@pytest.mark.parametrize(
    ("latex", "wanted"),
    [
        (r"\vx^\top a", r"\mathbf x^\top a"),
        (r"\vx2", r"\mathbf x2"),
        (r"\int_\R f", r"\int_\mathbb R f"),
        (r"\vec{y} + \vec z", r"\mathbf{y} + \mathbf{z}"),
        (r"\normal{x}{\mu}{\vec{S}}", r"\mathcal N(x; \mu, \mathbf{S})"),
        (r"\twice A b", "A^{-1}^{-1} b"),
        (r"\bold xy", r"\mathbf xy"),
        (r"\inv \alpha b", r"\alpha^{-1} b"),
        (r"\vxx + \\vx", r"\vxx + \\vx"),
        (r"a \% \vx", r"a \% \mathbf x"),
    ],
)
def test_a_command_is_replaced(latex, wanted):
    assert expand(latex, MACROS).latex == wanted


def test_a_node_knows_its_place_in_the_text_that_was_written():
    latex = r"a = \inv{b} \vx + c"
    names = dict.fromkeys(["a", "b", "c", r"\vx"], "value")
    (step,) = parse(latex, names, macros=MACROS).steps
    spans = {type(node).__name__: latex[slice(*node.span)] for _, node in t.walk(step.right)}
    assert spans["Inverse"] == r"\inv{b}"
    assert spans["Sum"] == r"\inv{b} \vx + c"
    assert latex[slice(*step.span)] == latex
    assert {node.key for _, node in t.walk(step) if isinstance(node, t.Name)} == {
        "a", "b", "c", r"\mathbf x"}  # fmt: skip


def test_the_middle_of_a_chain_stays_one_object():
    names = dict.fromkeys(["a", "b", "c", r"\vx"], "value")
    first, second = parse(r"a = \vx = c", names, macros=MACROS).steps
    assert first.right is second.left


def test_a_fault_points_at_the_text_that_was_written():
    latex = r"a + \inv{q} b"
    with pytest.raises(EquationError) as caught:
        parse_expression(latex, {"a": "value", "b": "value"}, macros=MACROS)
    assert caught.value.latex == latex
    assert latex[slice(*caught.value.span)] == "q"
    assert "unbound symbol `q`" in caught.value.problem


@pytest.mark.parametrize(
    ("latex", "problem"),
    [(r"\vec", r"`\vec` lacks an argument"), (r"\vec{a", "this brace is never closed"),
     (r"a \loop", "go round in a circle"), (r"\normal a b", "lacks an argument")],
)  # fmt: skip
def test_what_cannot_be_replaced_is_refused(latex, problem):
    with pytest.raises(EquationError, match=problem.replace("\\", r"\\")):
        expand(latex, {**MACROS, r"\loop": r"\loop + 1"})


def test_a_macro_that_is_no_text_is_refused():
    with pytest.raises(TypeError, match="must be LaTeX"):
        expand("a", {r"\x": 3})


CONFIG = """\
sphinx:
  config:
    mathjax3_config:
      tex:
        macros:
          y: '\\mathbf y'
          inv: ['#1^{-1}', 1]
"""
SETTINGS = """
[macros]
y = '\\mathbf y'
inv = ['#1^{-1}', 1]
"""
QUADRATIC = r"c = \y^\top \inv{K} \y"


class TestTheCommandsOfTheBuild:
    """A chapter is read with the macros that its book gives MathJax."""

    @staticmethod
    def numbers(draw):
        y, root = draw.normal(size=3), draw.normal(size=(3, 3))
        K = root @ root.T + np.eye(3)
        return {r"\mathbf y": y, "K": K, "c": y @ np.linalg.solve(K, y)}

    @pytest.fixture(params=[("_config.yml", CONFIG), ("equations.toml", SETTINGS)])
    def chapter(self, small_chapter, tmp_path, request):
        """A chapter whose book tells of its commands in the one file or in the other."""
        chapter = small_chapter({"eq-a": QUADRATIC, "eq-b": r"c = \y^\top K \y"})
        name, text = request.param
        with (tmp_path / name).open("a") as file:
            file.write(text)
        return chapter

    def test_they_are_read(self, chapter):
        record = chapter.check("eq-a", self.numbers, oracle="by hand")
        assert record.mutants.caught > 0 == record.mutants.survived

    def test_what_is_false_with_them_is_refused(self, chapter):
        with pytest.raises(EquationError, match="does not hold"):
            chapter.check("eq-b", self.numbers, oracle="by hand")

    def test_the_equation_is_known_by_what_is_written(self, chapter):
        record = chapter.check("eq-a", self.numbers, oracle="by hand")
        assert record.digest == Equation("eq-a", QUADRATIC, 1).digest

    def test_sentences_have_them_too(self, chapter, tmp_path):
        with (tmp_path / "small.md").open("a") as file:
            file.write("\nSo $" + QUADRATIC + "$.\n")
        (relation,) = chapter.text.formulas()
        assert relation.latex == r"c = \mathbf y^\top K^{-1} \mathbf y"
