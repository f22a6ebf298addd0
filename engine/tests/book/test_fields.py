"""Symbols that the notation gives a field, and drawn problems that have it."""

import tempfile
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from checked_equations import Chapter, EquationError

NOTATION = r"""
- symbols:
    - {latex: ["K_{ff}"], fields: {"K_{ff}": Kff}}
    - {latex: ["K_{*f}", "K_{f*}"], fields: {"K_{*f}": Ksf, "K_{f*}": Kfs}}
    - {latex: ["\\mathbf y", "y"], fields: {"\\mathbf y": y, "y": y}}
    - {latex: ["\\sigma_n"], shown: ["\\sigma_n^2"], fields: {"\\sigma_n^2": noise_var}}
    - {latex: ["N"], fields: {"N": N}}
    - {latex: ["S"], fields: {"S": S}}
    - {latex: ["T"], fields: {"T": S}}
    - {latex: ["Q"], meaning: "a row without a field"}
- symbols:
    - {latex: ["B"], fields: {"B": Kff}, chapter: part/small}
    - {latex: ["C"], fields: {"C": Kff}, chapter: part/other}
"""
MEAN = r"\mathbf m = K_{*f} \left( K_{ff} + \sigma_n^2 I \right)^{-1} \mathbf y"


def problem(draw, n=5, m=3):
    """Numbers with names of the code, and more of them than one equation needs."""
    A, Ksf = draw.normal(size=(n, n)), draw.normal(size=(m, n))
    Kff, noise_var, y = A @ A.T, draw.uniform(0.5, 1.0), draw.normal(size=n)
    mean = Ksf @ np.linalg.solve(Kff + noise_var * np.eye(n), y)
    return SimpleNamespace(Kff=Kff, Ksf=Ksf, Kfs=Ksf.T, y=y, noise_var=noise_var,
                           N=n, S=A, mean=mean)  # fmt: skip


def with_mean(draw):
    """The problem, and what the notation does not name."""
    s = problem(draw)
    return s, {r"\mathbf m": s.mean, "I": np.eye(s.N)}


SPECIAL = {r"\mathbf m", "I"}


@pytest.fixture
def opened(tmp_path, small_chapter):
    """A small chapter whose book has a notation."""

    def chapter(latex):
        small_chapter({"eq-a": latex, "eq-b": r"N^2 = S", "eq-c": "S = N"})
        with (tmp_path / "equations.toml").open("r+") as file:
            settings = file.read()
            file.seek(0)
            file.write('notation = "notation.yml"\n' + settings)
        (tmp_path / "notation.yml").write_text(NOTATION)
        return Chapter("part/small", path=tmp_path / "small.md")

    return chapter


@pytest.fixture
def checked(opened):
    """Check one equation in a book that has a notation."""
    return lambda latex, bindings, **options: opened(latex).check(
        "eq-a", bindings, **{"oracle": "by hand", **options}
    )


def bound(chapter):
    """The symbols of the last check."""
    *_, (_, statement) = chapter.checked_statements()
    return set(statement.draws[0].bindings)


class TestCheck:
    def test_symbols_that_occur_find_their_fields(self, opened):
        chapter = opened(MEAN)
        record = chapter.check("eq-a", with_mean, oracle="a solver")
        assert (record.draws, record.mutants.survived) == (3, 0)
        assert bound(chapter) == {*SPECIAL, "K_{*f}", "K_{ff}", r"\sigma_n^2", r"\mathbf y"}

    def test_the_mutants_are_those_of_bindings_by_name(self, checked):
        def by_name(draw):
            s, special = with_mean(draw)
            return special | {
                "K_{*f}": s.Ksf, "K_{ff}": s.Kff, r"\sigma_n^2": s.noise_var, r"\mathbf y": s.y
            }  # fmt: skip

        fields, names = (checked(MEAN, one).to_json() for one in (with_mean, by_name))
        assert fields["mutants"] == names["mutants"]
        assert [step["residual"] for step in fields["steps"]] == [
            step["residual"] for step in names["steps"]
        ]

    def test_a_problem_may_be_all_that_is_given(self, checked):
        latex = (
            r"\mathbf y^\top K_{ff} \mathbf y = \sum_{i=1}^{N} \sum_{j=1}^{N} y_i y_j K_{ff, ij}"
        )
        latex = r"\mathbf y^\top \mathbf y = \sum_{i=1}^{N} y_i^2"
        assert checked(latex, problem).draws == 3
        assert checked(latex, problem(np.random.default_rng(1))).draws == 1

    def test_what_is_bound_by_name_wins(self, checked):
        other = np.array([2.0, 3.0, 5.0])
        latex = r"\sum_{i=1}^{N} y_i = 10"
        mine = {"y": other, "N": 3}
        assert checked(latex, lambda draw: (problem(draw), mine)).residual == 0.0

    def test_what_is_bound_by_name_and_not_used_is_still_refused(self, checked):
        with pytest.raises(EquationError, match="bound and never used: `Q`"):
            checked(MEAN, lambda draw: (problem(draw), {**with_mean(draw)[1], "Q": 2.0}))

    def test_a_symbol_without_a_field_has_to_be_bound(self, checked):
        with pytest.raises(EquationError, match="`Q`") as error:
            checked("Q = N", problem)
        assert error.value.line == 5

    def test_only_the_problems_own_fields_count(self, checked):
        with pytest.raises(EquationError, match="`N`"):
            checked("N = Q", lambda draw: (SimpleNamespace(y=1.0), {"Q": 2.0}))

    def test_one_field_is_not_two_symbols_of_one_equation(self, checked):
        with pytest.raises(EquationError, match="gives `S` and `T` one field, S: bind one of them"):
            checked("S^\\top = T", problem)

    def test_but_it_is_where_one_of_them_is_bound_by_name(self, checked):
        def numbers(draw):
            s = problem(draw)
            return s, {"T": s.S.T}

        assert checked("S^\\top = T", numbers).mutants.survived == 0

    def test_a_chapters_own_letters_are_its_own(self, checked):
        with pytest.raises(EquationError, match=r"gives `B` and `K_\{ff\}` one field, Kff"):
            checked("B = K_{ff}", problem)
        with pytest.raises(EquationError, match="unbound symbol `C`"):
            checked("C = K_{ff}", problem)

    def test_tight_numbers_may_be_a_problem_too(self, checked):
        def equal(draw):
            return SimpleNamespace(y=np.zeros(3)), {"Q": 0.0}

        record = checked(
            r"\mathbf y^\top \mathbf y \ge Q",
            lambda draw: (problem(draw), {"Q": -1.0}),
            tight=[equal, (SimpleNamespace(y=np.ones(2)), {"Q": 2.0})],
        )
        assert record.tight == 2

    @pytest.mark.parametrize("strange", [[1, 2], None, SimpleNamespace(other=1.0)])
    def test_what_has_no_field_is_no_problem(self, checked, strange):
        with pytest.raises(
            TypeError, match="an object with a field that the notation names; got a"
        ):
            checked("N = Q", lambda draw: strange)


def test_without_a_notation_an_object_binds_nothing(small_chapter):
    chapter = small_chapter({"eq-a": "a = b"})
    with pytest.raises(TypeError, match="a mapping from symbols to values; got a SimpleNamespace"):
        chapter.check("eq-a", lambda draw: problem(draw), oracle="by hand")


def test_definitions_find_their_fields(opened):
    chapter = opened(r"Q = N^2")
    record = chapter.define("eq-a", lambda draw: (problem(draw), {"Q": 25}))
    assert record.steps[0].residual == 0.0


def test_a_field_of_no_form_of_its_row_is_refused(opened, tmp_path):
    opened("Q = N")
    text = NOTATION.replace('{"N": N}', '{"M": N}')
    (tmp_path / "notation.yml").write_text(text)
    with pytest.raises(ValueError, match=r"notation.yml: M is no form of a row of the notation"):
        Chapter("part/small", path=tmp_path / "small.md")


def test_far_from_the_book_the_notation_that_a_package_carries_serves(
    opened, tmp_path, monkeypatch, carrying
):
    opened(MEAN)
    (tmp_path / "part").mkdir()
    (tmp_path / "small.md").rename(tmp_path / "part" / "small.md")
    carrying(tmp_path)
    monkeypatch.chdir(Path(tempfile.mkdtemp(dir=tmp_path.parent)))
    assert Chapter("part/small").check("eq-a", with_mean, oracle="a solver").draws == 3
