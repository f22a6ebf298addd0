"""What is bound and drawn, and what a statement makes of it: each refusal, each number."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from problems import says

from checked_equations import Distribution, Estimate, Nodes, check_equation
from checked_equations.check.bindings import (
    Fields,
    draw_bindings,
    draw_tight_bindings,
    names_in,
    normalised,
    split_given,
    swap_groups,
)
from checked_equations.check.equation_check import refuse_lost_backslash
from checked_equations.check.outcomes import OUTCOMES, MutantRecord, Mutants
from checked_equations.check.relations import Tolerance
from checked_equations.check.statements import (
    Draw,
    bind_statement,
    check_steps,
    kind_of_statement,
    worst_estimate,
)
from checked_equations.errors import EquationError
from checked_equations.evaluate.values import Entries
from checked_equations.latex.equation import Equation
from checked_equations.latex.parser import parse

ROWS = Fields.of_rows([{r"K_{ff}": "gram"}, {r"\mathbf y": "y", "y": "y"}, {"S": "gram"}])
PROBLEM = SimpleNamespace(gram=np.eye(2), y=np.array([1.0, 2.0]), other=3.0)
NODES = Nodes([1.0, 2.5], [0.4, 0.6])


def bound(latex, *drawn, **options):
    return bind_statement(latex, drawn, Tolerance(**options))


def steps(latex, *drawn, **options):
    return check_steps(bound(latex, *drawn, **options), Equation("eq-a", latex, 1))


def refused(latex, *drawn, **options):
    with pytest.raises(EquationError) as error:
        steps(latex, *drawn, **options)
    return error.value.problem


class TestBindings:
    def test_names_are_normal_and_different(self):
        assert normalised({r"\mathbf{y}": 1, "x_{1}": 2}) == {r"\mathbf y": 1, "x_1": 2}
        with pytest.raises(ValueError, match=r"'x_\{1\}' and 'x_1' are the same symbol"):
            normalised({"x_{1}": 2, "x_1": 2})
        with pytest.raises(TypeError, match="by the LaTeX of a symbol; got 3"):
            normalised({3: 2})
        with pytest.raises(TypeError, match="from symbols to values; got a int"):
            normalised(3)

    def test_numbers_are_drawn_three_times_and_more_begin_alike(self):
        draw = lambda stream: {"a": stream.normal()}  # noqa: E731
        first = [one["a"] for one in draw_bindings(draw, "seed")]
        more = [one["a"] for one in draw_bindings(draw, "seed", draws=5)]
        assert len(set(first)) == 3
        assert more[:3] == first
        assert len(more) == 5
        assert [one["a"] for one in draw_bindings(draw, "other")] != first
        assert draw_bindings({"a": 1.5}, "seed") == ({"a": 1.5},)

    def test_all_draws_bind_the_same(self):
        names = iter("aab")
        with pytest.raises(ValueError, match="the draws bind different symbols"):
            draw_bindings(lambda stream: {next(names): 1.0}, "seed")
        with pytest.raises(ValueError, match="the draws bind different symbols"):
            bound("a = b", {"a": 1.0, "b": 1.0}, {"a": 1.0, "c": 2.0})

    def test_tight_numbers_are_one_draw_each(self):
        assert draw_tight_bindings(None, "seed") == draw_tight_bindings("never: so", "seed") == ()
        assert draw_tight_bindings({"a": 1.0}, "seed") == ({"a": 1.0},)
        assert draw_tight_bindings([{"a": 1.0}, {"a": 2.0}], "seed") == ({"a": 1.0}, {"a": 2.0})
        pair = (SimpleNamespace(y=1.0), {"a": 1.0})
        assert draw_tight_bindings(pair, "seed", lambda given: given[1]) == ({"a": 1.0},)

    @pytest.mark.parametrize(
        ("given", "problem", "special"),
        [
            ((PROBLEM, {"a": 1}), PROBLEM, {"a": 1}),
            (PROBLEM, PROBLEM, {}),
            ((PROBLEM, 3), (PROBLEM, 3), {}),
            ((PROBLEM,), (PROBLEM,), {}),
            (({"b": 1}, {"a": 1}), ({"b": 1}, {"a": 1}), {}),
            ((np.sin, {"a": 1}), (np.sin, {"a": 1}), {}),
            ([PROBLEM, {"a": 1}], [PROBLEM, {"a": 1}], {}),
        ],
    )
    def test_a_problem_comes_with_what_is_bound_by_name(self, given, problem, special):
        assert split_given(given) == (problem, special)

    def test_a_field_is_taken_where_its_symbol_occurs(self):
        take = lambda given, *latex: ROWS.naming(*latex)(given)  # noqa: E731
        assert set(take(PROBLEM, r"\mathbf y^\top K_{ff} \mathbf y = 1")) == {
            r"\mathbf y",
            "K_{ff}",
        }
        assert set(take(PROBLEM, "y = 1", "S = 2")) == {"y", "S"}
        assert take((PROBLEM, {"a": 4.0}), "1 = 2") == {"a": 4.0}
        assert take((PROBLEM, {"y": 4.0}), "y = 2")["y"] == 4.0
        assert take({"x_{1}": 4.0}, "y") == {"x_1": 4.0}
        assert take(PROBLEM, "y = + +") == {}
        assert Fields().naming("y") is normalised

    def test_symbols_of_one_row_share_a_field_and_those_of_two_do_not(self):
        take = ROWS.naming
        assert set(take(r"\mathbf y = y")(PROBLEM)) == {r"\mathbf y", "y"}
        with pytest.raises(EquationError, check=says(r"`K_\{ff\}` and `S` one field, gram: bind")):
            take(r"S = K_{ff}")(PROBLEM)
        assert set(take(r"S = K_{ff}")((PROBLEM, {"S": 1.0}))) == {"S", "K_{ff}"}
        of_three = Fields.of_rows([{"a": "y", "b": "y"}, {"c": "y"}]).naming("a + b = c")
        with pytest.raises(EquationError, check=says("`a` and `c` one field, y: bind one")):
            of_three(PROBLEM)

    def test_a_problem_has_some_field(self):
        with pytest.raises(TypeError, match="field that the notation names; got a float"):
            ROWS.naming("y")(3.5)

    def test_what_may_be_swapped(self):
        law = Distribution(NODES, density=np.exp)
        groups = swap_groups({
            "a": 1.0, "e": Estimate(2.0, 0.1), "x": [1.0, 2.0], "f": np.sin, "w": Entries(2, int),
            "s": NODES, "q": law, "r": Distribution(NODES), "p(x)": NODES, "S": {1, 2},
            r"p(y \mid x)": Distribution(lambda x: NODES),
        })  # fmt: skip
        assert groups == {
            "a": (), "e": (), "x": (2, 1), "f": "callable", "w": ("entries", 2),
            "s": ("nodes", "s"), "q": ("distribution", (), (), True),
            "r": ("distribution", (), (), False), "p(x)": ("distribution", (), (), False),
            "S": ("set", "S"), r"p(y \mid x)": ("distribution", "given", ("y",), False),
        }  # fmt: skip


class TestEstimates:
    def test_each_entry_moves_by_its_standard_error(self):
        drawn = {"m": Estimate([2.0, 3.0], [0.1, 0.2], n=9), "a": 5.0, "x": [1.0, 2.0]}
        draw = Draw(drawn)
        step = parse(r"x^\top m = a", dict.fromkeys(drawn, "value")).steps[0]
        assert draw.standard_error(step) == pytest.approx(np.hypot(0.1, 0.4))
        alone = parse("m = x", dict.fromkeys(drawn, "value")).steps[0]
        assert draw.standard_error(alone) == pytest.approx(np.array([[0.1], [0.2]]))
        assert draw.standard_error(parse("a = 5", {"a": "value"}).steps[0]) is None

    def test_an_entry_moves_up_by_its_standard_error(self):
        drawn = {"m": Estimate([2.0, 3.0], [0.1, 0.2], n=9), "a": 13.0}
        step = parse(r"m^\top m = a", dict.fromkeys(drawn, "value")).steps[0]
        moved = 2.1**2 - 2.0**2, 3.2**2 - 3.0**2
        assert Draw(drawn).standard_error(step) == pytest.approx(np.hypot(*moved), rel=1e-12)

    def test_several_add_their_variances(self):
        drawn = {"m": Estimate(2.0, 0.3, n=2), "n": Estimate(5.0, 0.4, n=9), "a": 3.0}
        step = parse("n - m = a", dict.fromkeys(drawn, "value")).steps[0]
        assert Draw(drawn).standard_error(step) == pytest.approx(0.5)
        one = {**drawn, "m": Estimate(2.0, 0.3, n=1)}
        assert "`m` must state its sample size, n=" in refused("n - m = a", one)

    def test_the_worst_step_is_the_one_nearest_to_its_limit(self):
        drawn = {"m": Estimate(2.1, 0.1, n=9, seed=4), "x": [2.0, 2.0], "y": [1.0, 3.3], "a": 0.1}
        statement = bound(r"m = 2, \quad \operatorname{tr}(m x y^\top) = 18.06", drawn)
        scores = [statement.score(i, step) for i, step in enumerate(statement.statement.steps)]
        assert [s.z for s in scores] == pytest.approx([1.0, 0.0], abs=1e-9)
        found = worst_estimate(statement)
        assert (found.z, found.n, found.seed) == (pytest.approx(1.0), 9, 4)
        assert worst_estimate(bound("a = 0.1", drawn | {"m": 2.0})) is None

    def test_a_limit_grows_with_the_entries(self):
        drawn = {"m": Estimate([2.3] * 50, [0.1] * 50, n=9), "k": Estimate(2.29, 0.1, n=9),
                 "x": [2.0] * 50}  # fmt: skip
        found = worst_estimate(bound(r"m = x, \quad k = 2", drawn))
        assert found.z == pytest.approx(2.9)
        assert found.entries == 1

    def test_an_estimate_is_nearly_equal_within_its_noise(self):
        noisy = {"a": Estimate(2.0, 0.1, n=10), "b": 2.1}
        assert steps(r"a \approx b", noisy)[0].residual == pytest.approx(0.1 / 2.1)
        assert "|z| = 6.00, and 4.00 is allowed" in refused(r"a \approx b", {**noisy, "b": 2.6})
        assert kind_of_statement(bound(r"a \approx b", noisy)) == "estimate"


class TestSteps:
    def test_what_cannot_be_checked_or_compared(self):
        drawn = {"a": 1.0, "b": 2.0, "x": [1.0, 2.0]}
        assert r"\sim is no relation that can be checked; use define" in refused(r"a \sim b", drawn)
        assert "cannot be compared: the left side has shape ()" in refused("a = x", drawn)
        assert r"\approx needs a tolerance of its own: give approx=" in refused(
            r"a \approx b", drawn
        )

    def test_zero_is_zero_and_what_cancels_is_not(self):
        zero = {"a": 0.0, "b": 0.0, "c": 2.0, "d": 2.0}
        assert "says nothing: both sides are zero" in refused("a = b", zero)
        assert "says nothing: both sides are zero" in refused("a = b", zero, zero)
        assert steps("c - d = a", zero)[0].residual == 0.0
        assert len(steps("a = b", zero, zero | {"a": 1.0, "b": 1.0})) == 1
        assert "does not hold: both sides are equal" in refused(r"c \ne d", zero)

    def test_what_is_missed_is_said_with_what_is_allowed(self):
        drawn = {"a": 1.0, "b": 1.1, "z": 0.0}
        assert refused("a = b", drawn).endswith(
            "does not hold: relative residual 9.1e-02, and 1e-09 is allowed; "
            "the left side is 1, the right side 1.1"
        )
        assert "and 1e-02 is allowed" in refused(r"a \approx b", drawn, approx=0.01)
        assert "1.0e+00, and 1e-09 is allowed (one side is zero: give atol=)" in refused(
            "a = z", drawn
        )
        assert "(one side" not in refused(r"a \le z", drawn)
        assert refused("1.1 a = b, a = b", drawn).startswith("step 2 of 2, a = b, does not hold")
        arrays = {"x": np.arange(5.0), "y": [2.0, 4.0, 9.0, 1.0, 2.0]}
        assert refused(r"x \propto y", arrays).endswith("is allowed")

    def test_a_jump_may_be_the_reason(self):
        drawn = {"s": Nodes([0.25, 0.75], [0.5, 0.5]), "a": 0.4}
        latex = r"a = \int_0^1 \mathbf 1[s > 0.6] \,\mathrm d s"
        assert refused(latex, drawn).endswith(
            "(a quadrature misses a jump: let a rule end there, or bind finitely many values)"
        )
        smooth = r"a = \int_0^1 s^2 \,\mathrm d s + \mathbf 1[a > 0.6]"
        assert "jump" not in refused(smooth, drawn)

    @pytest.mark.parametrize(
        ("left", "right", "said"),
        [
            ([[1.0, 2.0], [3.0, 4.0]], [[1.0, 2.0], [3.0, 5.0]],
             "the left side is [[1, 2], [3, 4]], the right side [[1, 2], [3, 5]]"),
            (np.arange(6.0).reshape(2, 3), np.arange(6.0).reshape(2, 3) ** 2,
             "at [1, 2] of 2 × 3 the left side is 5, the right side 25"),
            ([1.0, 2.0, 3.0, 4.0], [1.0, 2.0, 3.0, 4.5],
             "the left side is [1, 2, 3, 4], the right side [1, 2, 3, 4.5]"),
            (123456.789, 123456.788, "the left side is 123456.789, the right side 123456.788"),
            (-3.0, 2.0, "the left side is -3, the right side 2"),
            (1.0, 1.0 + 3e-9, "the left side is 1, the right side 1.000000003"),
            (-1.0, -1.0 - 3e-9, "the left side is -1, the right side -1.000000003"),
            ([1e-6, 1000.0], [1e-6, 1000.001],
             "the left side is [1e-06, 1000], the right side [1e-06, 1000.001]"),
            (0.0, 0.1234567, "the left side is 0, the right side 0.123457"),
            (0.1234567, 0.0, "the left side is 0.123457, the right side 0"),
        ],
    )  # fmt: skip
    def test_both_sides_are_shown(self, left, right, said):
        assert refused("A = B", {"A": left, "B": right}).endswith(f"; {said}")

    def test_what_is_as_good_as_equal_is_shown_to_its_last_digit(self):
        alike = {"a": 1.0, "b": 1.0 - 2.0**-53}
        said = "; the left side is 1, the right side "
        assert refused("a < b", alike).endswith(f"{said}0.99999999999999989")
        assert refused("a < b", alike | {"b": 1.0}).endswith(f"{said}1")

    def test_the_draw_that_misses_most_is_shown(self):
        drawn = [{"A": np.eye(2), "B": scale * np.eye(2)} for scale in (1.0, 3.0, 2.0)]
        assert refused(r"A \succeq B", *drawn).endswith(
            "; on draw 2 of 3 the difference has the eigenvalue -2"
        )

    def test_a_step_is_recorded_with_its_line(self):
        latex = "a &= b \\\\\n&= 2 c"
        drawn = {"a": 2.0, "b": 2.0, "c": 1.0}
        found = check_steps(bound(latex, drawn), Equation("eq-a", latex, 7))
        assert [(one.relation, one.residual, one.line) for one in found] == [
            ("=", 0.0, 7), ("=", 0.0, 8)]  # fmt: skip


@pytest.mark.parametrize(
    ("latex", "value", "holds"),
    [
        ("a = 0.36", 0.3649, True),
        ("a = 0.36", 0.3651, False),
        ("0.36 = a", 0.3551, True),
        ("a = -0.36", -0.3649, True),
        ("a = 0.4", 0.41, False),
        ("a = 36", 36.2, False),
        ("a = 0.36 + 0.12", 0.4849, False),
        (r"a \le 0.36", 0.3649, False),
        ("0.36 = 0.362", 0.3, False),
        ("a = 1.5", 1.5499, True),
    ],
)
def test_a_printed_decimal_holds_to_half_a_unit(latex, value, holds):
    drawn = [{"a": value}] if "a" in latex else [{}]
    statement = bind_statement(latex, drawn, Tolerance(decimals=True))
    assert statement.compare(0, statement.statement.steps[0]).holds == holds
    exact = bind_statement(latex, drawn, Tolerance())
    assert not exact.compare(0, exact.statement.steps[0]).holds


def test_a_decimal_that_is_exact_is_held_to_that():
    statement = bind_statement("a = 0.25", [{"a": 0.25}], Tolerance(decimals=True))
    assert statement.rounding(0) == 0.0
    rounded = bind_statement("a = 0.25", [{"a": 0.251}], Tolerance(decimals=True))
    assert rounded.rounding(0) == pytest.approx(0.005)


def test_draws_are_gone_through_one_by_one_but_for_what_they_say_together():
    drawn = [{"a": 2.0 * k, "b": 1.0 * k} for k in (1, 2, 3)]
    assert bound("a = 2 b", *drawn).portions == (slice(0, 1), slice(1, 2), slice(2, 3))
    assert bound(r"a \propto b", *drawn).portions == (slice(None),)
    noisy = [{"a": Estimate(2.0, 0.1, n=4), "b": 1.0}] * 2
    assert bound("a = 2 b", *noisy).portions == (slice(None),)
    assert bound("a = 2 b, a = b", *noisy).anew().draws == bound("a = 2 b, a = b", *noisy).draws


def test_where_an_inequality_is_tight_a_weaker_one_is_told_from_it():
    loose, tight = {"a": 1.0, "b": 2.0}, {"a": 2.0, "b": 2.0}
    drawn = bind_statement(r"a \le b", (loose, tight), Tolerance(), tight=1)
    weaker = parse(r"a \le b + 1", dict.fromkeys("ab", "value")).steps[0]
    strict = parse("a < b", dict.fromkeys("ab", "value")).steps[0]
    own = drawn.statement.steps[0]
    assert drawn.compare(0, own).holds
    assert not drawn.compare(0, weaker).holds
    assert drawn.compare(0, weaker, slice(0, 1)).holds
    assert drawn.compare(0, weaker, slice(1, 2)).residual == pytest.approx(1 / 3)
    assert not drawn.compare(0, strict).holds
    assert drawn.compare(0, strict, slice(0, 1)).holds
    plain = bind_statement(r"a \le b", (loose, tight), Tolerance())
    assert plain.compare(0, weaker).holds
    never = bind_statement(r"a \le b", (loose, loose), Tolerance(), tight=1)
    assert never.compare(0, weaker).holds


def test_of_a_chain_the_inequality_alone_may_be_tight():
    tight = {"a": 2.0, "b": 2.0, "c": 2.0}
    drawn = bind_statement(r"c = a \le b", (tight | {"b": 3.0}, tight), Tolerance(), tight=1)
    equal, order = drawn.statement.steps
    assert drawn.compare(0, equal).holds
    assert drawn.compare(1, order).holds
    weaker = parse(r"a \le b + 1", dict.fromkeys("ab", "value")).steps[0]
    assert not drawn.compare(1, weaker).holds
    assert drawn.compare(1, replace(weaker, relation="<")).holds  # a mutant of the relation


def test_all_that_is_named_is_found():
    kinds = {"f": "callable", "x": "value", "q": "distribution", "s": "nodes", "a": "value"}
    statement = parse(r"a = f(x) + \mathbb E_{q(y)}[y] + \int_0^1 s \,\mathrm d s", kinds)
    assert names_in(statement) == {"a", "f", "x", "q", "s"}


TELLING = ({"a": 2.9, "b": -1.0, "c": 4.0}, {"a": 2.9, "b": 4.0, "c": -1.0},
           {"a": 2.9, "b": 1.5, "c": 1.5})  # fmt: skip
IDLE = {"a": -100.0, "b": 1.0, "c": 2.0}


@pytest.mark.parametrize(
    ("latex", "told", "draws"),
    [
        ("a < b + c", 3, 3),
        ("a < b + c", 15, 12),
        ("a < b + c", 40, 25),
        ("a < b + c", 41, None),
        ("d = a < b + c", 15, 12),
    ],
)
def test_where_mutants_of_an_inequality_survive_more_is_drawn(latex, told, draws):
    asked = []

    def draw(stream):
        asked.append(stream)
        numbers = TELLING[told - len(asked)] if 0 <= told - len(asked) < 3 else IDLE
        return numbers | ({"d": numbers["a"]} if "d" in latex else {})

    if draws:
        assert check_equation(latex, draw).draws == draws
        assert len(asked) == told
    else:
        with pytest.raises(EquationError, check=says("mutants survive")):
            check_equation(latex, draw)
        assert len(asked) == 40
    if draws == 3:
        with pytest.raises(EquationError, check=says("mutants survive")):
            check_equation(latex, IDLE)  # numbers that are given are all that there are


def test_of_an_equation_no_more_is_drawn():
    asked = []
    with pytest.raises(EquationError, check=says("mutants survive")):
        check_equation("a = b^2", lambda stream: asked.append(1) or {"a": 1.0, "b": 1.0})
    assert len(asked) == 3


@pytest.mark.parametrize(
    ("lost", "meant"),
    [
        ("a \alpha", r"a \alpha"), ("a \beta", r"a \beta"), ("a \frac", r"a \frac"),
        ("a \vec", r"a \vec"), ("a \times", r"a \times"), ("a \theta", r"a \theta"),
        ("a \tilde", r"a \tilde"), ("a \text", r"a \text"), ("a \tau b", r"a \tau b"),
        ("a \top b", r"a \top b"), ("a \rho b", r"a \rho b"), ("a \nabla b", r"a \nabla b"),
        ("a\nb", None), ("a \taub", None), ("a\tb", None), ("a\rhob", None), ("a\nablab", None),
    ],
)  # fmt: skip
def test_a_lost_backslash_is_put_back_and_pointed_at(lost, meant):
    if meant is None:
        refuse_lost_backslash(lost)
        return
    with pytest.raises(EquationError, check=says("a backslash was lost: write r before")) as caught:
        refuse_lost_backslash(lost)
    assert (caught.value.latex, caught.value.span) == (meant, (2, 4))


def test_mutants_are_counted_by_their_outcome():
    outcomes = [name for i, name in enumerate((*OUTCOMES, "undecided")) for _ in range(i + 1)]
    records = tuple(MutantRecord(f"{i}", "a", name, 0.5) for i, name in enumerate(outcomes))
    made = Mutants.of(records, lambda: ())
    assert made.counts == {**{name: i + 1 for i, name in enumerate(OUTCOMES)}, "undecided": 5}
    assert (made.caught, made.indistinct, made.survived, made.spared) == (1, 2, 3, 4)
    assert Mutants.of(records[:-5]).counts == {name: i + 1 for i, name in enumerate(OUTCOMES)}
    assert made == Mutants.of(records)  # whatever writes them
    assert "write" not in repr(made)
