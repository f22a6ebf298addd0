"""Right calls with odd inputs: no answer hangs on layout, none is NaN, nothing is written into."""

from __future__ import annotations

import datetime
import itertools
from typing import Any

import numpy as np
import pytest
from misuse import odd_inputs
from misuse.answers import Call, call
from misuse.calls import CALLS
from misuse.kinds import vector
from misuse.odd_inputs import OTHER, SAME, altered, found, tried

import gpnotes as g

ROWS = {row.called: row for row in CALLS}
CASES = 60_000  # some minutes
# What was found and mended: it says here what it was.
MENDED = (
    ("log_evidence_and_gradient of a SVGP, offset", "offset", "shifted", 418827),  # NaN
    ("condition of a HeteroscedasticGP", "y", "shifted", 795922),  # K_f + R was named
    ("condition of a EPGP, offset", "offset", "shifted", 519510),  # nothing was named
    ("fitted_with_gradients", "y", "shifted", 806986),  # the optimiser ended at NaN
    ("average_predictions", "vectors", "constant", 48672),  # the lengthscale was named
    ("RBFPolicy.moments", "S", "shifted", 539569),  # NaN
    ("BayesianNetwork.draw", "like", "a table", 838920),  # the error was another library's
    ("cartpole.simulate", "start", "shifted", 670130),  # math domain error
    ("network_moments", "S", "scaled", 180718),  # NaN
    ("network_moments", "lengthscale", "constant", 387414),  # eigenvalues did not converge
    ("fit_last_layer", "theta", "scaled", 239289),  # precision was named
    ("fit_swag", "y", "shifted", 927208),  # theta was named
    ("log_evidence_and_gradient of a GP, weights", "weights", "constant", 824241),  # NaN
    ("leading_sines", "X", "shifted", 37471),  # low was named
    ("certify", "mixture", "a table", 235400),  # the error was another library's
    ("check_cost", "m", "constant", 123113),  # a division by zero
    ("fitted_with_gradients", "y", "scaled by columns", 906003),  # the variance was named
)


# The same of numbers up to 1e300, which the nights do not try: far beyond what squares allow.
FAR = (
    ("GaussianWindows.cross_pullback", "X", "shifted", 277617),  # NaN, as where nothing is said
    ("WeightPosterior.log_density", "Xs", "shifted", 272981),
    ("WeightPosterior.joint", "Xs", "scaled by columns", 434948),
    ("network_moments_and_pullback", "weights", "scaled by columns", 81799),
    ("log_evidence of a EPGP, offset", "offset", "scaled", 448487),
    ("log_evidence_and_gradient of a LaplaceGP, offset", "offset", "shifted", 161484),
    ("Polynomial.pullback", "x", "scaled", 652128),
    ("HeteroscedasticPosterior.log_density", "y", "scaled", 42551),
    ("DeepPosterior.log_density", "y", "scaled by columns", 295698),
    ("Circular.coefficients_pullback", "orders", "one entry far away", 199748),
    ("dim_scaled_model", "X", "one entry far away", 156527),  # the lengthscale was named
    ("fit", "X", "one entry far away", 543953),  # the lengthscale was named
    ("condition of a SparseGP of a number", "X", "one entry far away", 470601),  # the same
    ("MultiOutputGPRegressor.fit", "y", "shifted", 355099),  # Coregion.own was named
    ("fit_payoffs", "payoffs", "scaled by columns", 61515),  # the scale was named
    ("deep.elbo", "y", "one entry far away", 93938),  # nothing was named
    ("fantasy.look_ahead", "x_hat", "scaled by columns", 709233),  # the state was named
)


@pytest.mark.parametrize(("called", "argument", "alteration", "seed"), FAR)
def test_what_was_mended_of_far_inputs_stays_so(
    monkeypatch: pytest.MonkeyPatch, called: str, argument: str, alteration: str, seed: int
) -> None:
    monkeypatch.setattr(odd_inputs, "LARGEST", 300)
    assert tried(ROWS[called], argument, alteration, seed) is None


@pytest.mark.parametrize(("called", "argument", "alteration", "seed"), MENDED)
def test_what_was_mended_stays_so(called: str, argument: str, alteration: str, seed: int) -> None:
    assert tried(ROWS[called], argument, alteration, seed) is None


def test_a_few_thousand_odd_inputs_are_not_answered_wrongly() -> None:
    assert [str(oddity) for oddity in found(ROWS, 1, 3_000)] == []


def test_no_odd_input_is_answered_wrongly() -> None:
    """The date is the seed; what a night finds goes into `MENDED`."""
    seed = datetime.datetime.now(datetime.UTC).date().toordinal()
    assert [str(oddity) for oddity in found(ROWS, seed, CASES)] == []


def _right(a: Any) -> float:
    """The sum, of what is neither too large nor of another kind."""
    if isinstance(a, np.ma.MaskedArray):
        raise TypeError("a must not be masked")
    return float(np.sum(np.asarray(a)))


def _writes(a: Any) -> float:
    total = _right(a)
    if np.asarray(a).flags.writeable:
        np.asarray(a)[0] = 9.0
    return total


def _reads_memory(a: Any) -> float:
    """The sum of what lies in memory one after the other, whatever the strides."""
    a = np.asarray(a)
    base = a if a.base is None else np.asarray(a.base)
    return _right(base.ravel()[: a.size])


def _overflows(a: Any) -> float:
    large = np.asarray(a, dtype=float) * 1e300
    return _right(large - large) + _right(a)


def _raises_anything(a: Any) -> float:
    return 1.0 / np.asarray(a).tolist()[0] if 0.0 in np.asarray(a).tolist() else _right(a)


PLANTED = {
    "a was written into": _writes,
    "the answer is another": _reads_memory,
    "NaN": _overflows,
    "ZeroDivisionError: float division by zero": _raises_anything,
}


def _faults(function: Any) -> set[str]:
    row = {"planted": call("planted", function, a=vector(np.asarray([0.5, -1.0, 2.0, 0.25])))}
    return {oddity.fault for oddity in found(row, 1, 300)}


@pytest.mark.parametrize(("fault", "function"), list(PLANTED.items()))
def test_a_planted_fault_is_found(fault: str, function: Any) -> None:
    assert fault in _faults(function)


def test_what_is_right_is_not_accused() -> None:
    assert _faults(_right) == set()


def test_an_error_that_names_no_argument_is_a_fault() -> None:
    def shy(a: Any) -> float:
        if not np.asarray(a).any():
            raise ValueError("it must not be zero")
        return _right(a)

    assert _faults(shy) == {"ValueError: it must not be zero"}


def test_a_right_call_that_fails_is_told() -> None:
    def never(a: Any) -> float:
        raise ValueError("not today")

    row = Call("never", never, {"a": vector(np.ones(3))})
    assert "not today" in str(tried(row, "a", "reversed", 1))


def test_the_same_numbers_are_the_same_numbers() -> None:
    a = g.stream(3).normal((4, 3))
    for name in SAME:
        np.testing.assert_array_equal(np.asarray(altered(a, name, 1)), a)


def test_a_seed_makes_an_input_again() -> None:
    a = g.stream(3).normal((4, 3))
    for name in itertools.chain(SAME, OTHER):
        one, other = (np.ma.getdata(altered(a, name, 5)) for _ in range(2))
        np.testing.assert_array_equal(np.asarray(one), np.asarray(other))
