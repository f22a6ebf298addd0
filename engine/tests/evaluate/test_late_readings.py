"""Sums along entries, extremes of a set, whole numbers, tuples, reasons: true ones and false."""

import math

import numpy as np
import pytest
from problems import says

from checked_equations import EquationError, check_equation
from checked_equations.evaluate.operations import FUNCTIONS


def table(rng):
    A, x = rng.normal(size=(3, 4)), rng.normal(size=4)
    return {"A": A, "x": x, "b": A @ x, "k": int(rng.integers(1, 4))}


def own(rng):
    x = rng.uniform(-5.0, 5.0, 6)
    return {"x": x, "a": max(x), "b": min(x)}


def of_a_set(rng):
    S = {float(one) for one in rng.uniform(0.5, 5.0, 4)}
    return {"S": S, "a": max(S) - 2.0 * min(S) ** 2}


def real(rng):
    x = rng.uniform(-9.0, 9.0)
    return {"x": x, "a": math.floor(x) - 3 * math.ceil(x / 2)}


def pair(rng):
    c, d = rng.uniform(1.0, 2.0, 2)
    return {"a": c + d, "b": c - d, "c": c, "d": d}


def alone(rng):
    return {key: value for key, value in pair(rng).items() if key != "b"}


def whole(rng):
    n = int(rng.integers(3, 9))
    return {"n": n, "s": sum(range(n + 1))}


TWINS = (
    (r"b_k = \sum_j A_{kj} x_j", r"b_k = \sum_j A_{kj} x_k", table),
    (r"b_k = \sum_j A_{kj} x_j", r"b_k = \prod_j A_{kj} x_j", table),
    (r"a - b = \sup_i x_i - \inf_i x_i", r"a - b = \sup_i x_i - \sup_i x_i", own),
    (r"a = \max S - 2 \inf_{s \in S} s^2", r"a = \min S - 2 \inf_{s \in S} s^2", of_a_set),
    (r"a = \lfloor x \rfloor - 3 \lceil x / 2 \rceil",
     r"a = \lceil x \rceil - 3 \lfloor x / 2 \rfloor", real),
    ("(a, b) = (c + d, c - d)", "(a, b) = (c - d, c + d)", pair),
    (r"\text{If } c > 0, \quad a = c + d", r"\text{If } c > 0, \quad a = c - d", alone),
    (r"\text{for } d > 0 \text{ and } c < 3 \\ a = c + d",
     r"\text{for } d > 0 \text{ and } c < 3 \\ a = c d", alone),
    (r"\text{For } n = 1, 2, \dots, \quad s = n (n + 1) / 2",
     r"\text{For } n = 1, 2, \dots, \quad s = n (n - 1) / 2", whole),
    (r"a = c + d \quad \text{(by hand)}", r"a = c - d \quad \text{(by hand)}", alone),
)  # fmt: skip


@pytest.mark.parametrize(("true", "false", "draw"), TWINS)
def test_a_true_statement_holds_and_its_false_twin_does_not(true, false, draw):
    record = check_equation(true, draw)
    assert record.mutants.caught > 0
    assert record.mutants.survived == 0
    with pytest.raises(EquationError, check=says("does not hold")):
        check_equation(false, draw)


def test_entries_that_run_unlike_far_say_so():
    with pytest.raises(EquationError, match=r"`j` runs over 3 of `A_{j,k}` and 4 of `x_{j}`"):
        check_equation(r"b_k = \sum_j A_{jk} x_j", table)


def test_floor_and_ceiling_are_told_apart():
    edits = [m.edit for m in check_equation(r"a = \lfloor x \rfloor", floor_alone).mutants.list]
    assert "ceiling for floor of x" in edits
    assert check_equation(r"\lfloor n / 2 \rfloor + \lceil n / 2 \rceil = n", odd_and_even).steps


def floor_alone(rng):
    x = rng.uniform(-9.0, 9.0)
    return {"x": x, "a": math.floor(x)}


def odd_and_even(rng):
    return {"n": int(rng.integers(1, 50))}


@pytest.mark.parametrize(
    ("latex", "problem"),
    [
        (r"\text{If } c < 0, \quad a = c + d", "condition"),
        (r"\text{If } c > 0,", "ends too early"),
        (r"\text{If } c, \quad a = c + d", "a condition needs a relation"),
        (r"a = c + d \\ \text{if } c > 0", "write what this is for"),
    ],
)
def test_a_leading_condition_is_met_and_has_its_statement(latex, problem):
    with pytest.raises(EquationError, match=problem):
        check_equation(latex, alone)


@pytest.mark.parametrize("latex", [r"a = \log \lfloor c \rfloor d", r"a = c / c \lceil d \rceil"])
def test_what_a_rounded_factor_belongs_to_is_not_guessed(latex):
    with pytest.raises(EquationError, match="ambiguous"):
        check_equation(latex, alone)


def test_a_quotient_that_rounding_moves_off_a_whole_number_is_that_number():
    assert FUNCTIONS["floor"](np.asarray(100 * 0.29)) == 29
    assert FUNCTIONS["ceil"](np.asarray(100 * 0.07)) == 7
    assert FUNCTIONS["floor"](np.asarray(29 - 1e-9)) == 28
    with pytest.raises(EquationError, match="a complex number has no whole number below it"):
        check_equation(r"n = \lfloor z \rfloor", {"n": 1, "z": 1.5 + 2j})


def test_a_bare_sum_runs_along_a_row_as_along_a_column():
    bound = {"d": 6.5, "w": np.array([[1.0, 2.0, 3.5]])}
    assert check_equation(r"d = \sum_j w_j", bound).mutants.caught
    with pytest.raises(EquationError, check=says("does not hold")):
        check_equation(r"d = \sum_j w_j", {**bound, "d": 1.0})


def test_a_bare_sum_in_another_over_the_same_letter_runs_along_its_own_entries():
    bound = {"d": 20.0, "v": np.array([1.0, 3.0]), "w": np.array([2.0, 3.0])}
    assert check_equation(r"d = \sum_j v_j \sum_j w_j", bound).mutants.caught
    with pytest.raises(EquationError, check=says("does not hold")):
        check_equation(r"d = \sum_j v_j \sum_j w_j", {**bound, "d": 19.0})


def test_of_two_indices_with_one_range_the_first_may_leave_the_second_out():
    bound = {"d": 6.0, "v": np.array([1.0, 3.0]), "n": 2}
    latex = r"d = \sum_{\substack{i, j = 1 \\ i \ne j}}^n v_i v_j"
    assert check_equation(latex, bound).mutants.caught
    assert check_equation(r"d = \sum_{j \ne i}^n 2 v_j", {**bound, "i": 1}).mutants.caught
    with pytest.raises(EquationError, check=says("does not hold")):
        check_equation(latex, {**bound, "d": 16.0})
