"""Features against kernels: averages over draws, exact cases, gradients, what is refused."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from gpnotes import RBF, Linear, Matern12, Matern32, Matern52, RationalQuadratic, stream, to_numpy
from gpnotes.fast import cosines
from gpnotes.ground.params import flatten, flatten_gradient, leaves
from gpnotes.infer.features import Frequencies, Term, draw_frequencies
from gpnotes.testing import gradcheck

KERNELS = (RBF, Matern12, Matern32, Matern52)
RATIO = RationalQuadratic(1.3, 0.9, 0.7)


def summed(asarray):
    """Multiples of a sum of some columns, one of them a choice of a choice."""
    rough = 2.0 * Matern32(0.8, asarray([0.5, 1.2]))
    return RBF(1.3, 1.5) + 0.4 * (rough + RATIO.on(1)).on(2, 0)


SUM = summed(np.asarray)
MADE = {
    "rational": RATIO,
    "rational, each": RationalQuadratic(0.8, np.asarray([0.8, 1.5, 2.0]), 2.5),
    "multiple": 2.5 * RBF(0.4, 1.2),
    "columns": Matern52(1.3, np.asarray([1.5, 0.7])).on(2, 0),
    "sum": SUM,
}


@pytest.fixture
def X(rng):
    return rng.normal(size=(6, 3))


def lengths(asarray):
    return asarray([0.8, 1.5, 2.0])


@pytest.mark.parametrize("kind", ["paired", "cosine"])
@pytest.mark.parametrize("orthogonal", [False, True])
@pytest.mark.parametrize("kernel_class", KERNELS)
def test_the_average_over_draws_is_the_kernel(X, kernel_class, kind, orthogonal):
    kernel = kernel_class(1.3, lengths(np.asarray))
    estimates = []
    for seed in range(40):
        draw = draw_frequencies(kernel, X, 120, kind=kind, orthogonal=orthogonal, rng=stream(seed))
        Phi = draw.features(kernel, X)
        estimates.append(Phi @ Phi.T)
    error = np.mean(estimates, axis=0) - kernel(X)
    bars = np.std(estimates, axis=0) / math.sqrt(40)
    assert np.max(np.abs(error) / (bars + 1e-12 * (np.abs(error) < 1e-12))) < 4.5


def test_the_features_are_cosines_in_every_space(space, X):
    """By NumPy's own cosine, in float64."""
    kernel = RBF(1.3, lengths(space.asarray))
    draw = draw_frequencies(kernel, space.asarray(X), 8, kind="cosine", rng=stream(1))
    Phi = draw.features(kernel, space.asarray(X))
    omega = to_numpy(draw.unit).astype(float) / lengths(np.asarray)
    angles = X @ omega.T + to_numpy(draw.phases)
    wanted = math.sqrt(2.0 * 1.3 / 8) * np.cos(angles)
    tolerance = 1e-14 if space.double else 1e-5
    np.testing.assert_allclose(to_numpy(Phi), wanted, atol=tolerance * 10)
    assert space.holds(Phi)
    assert space.holds(draw.unit)
    assert space.holds(draw.phases)
    kernel_bar, X_bar = draw.pullback(kernel, space.asarray(X), Phi)
    assert space.holds(X_bar)
    assert space.holds(kernel_bar.lengthscale)


@pytest.mark.parametrize("kind", ["paired", "cosine"])
def test_slopes_by_the_frequencies_agree_with_differences(X, rng, kind):
    kernel = RBF(1.3, lengths(np.asarray))
    draw = draw_frequencies(kernel, X, 8, kind=kind, rng=stream(1))
    weights, step = rng.normal(size=(6, 8)), 1e-6
    found = draw.omega_bar(kernel, X, lambda: weights)
    for place in np.ndindex(*draw.unit.shape):
        moved = np.zeros_like(draw.unit)
        moved[place] = step
        ends = [
            np.sum(weights * replace(draw, unit=draw.unit + sign * moved).features(kernel, X))
            for sign in (1.0, -1.0)
        ]
        wanted = (ends[0] - ends[1]) / (2.0 * step) * lengths(np.asarray)[place[1]]
        np.testing.assert_allclose(found[place], wanted, rtol=1e-6, atol=1e-8)


def test_the_same_stream_draws_the_same_frequencies_everywhere(space, X):
    for kernel_class in KERNELS:
        here = draw_frequencies(kernel_class(), space.asarray(X), 6, orthogonal=True, rng=stream(3))
        there = draw_frequencies(kernel_class(), X, 6, orthogonal=True, rng=stream(3))
        atol = 1e-12 if space.double else 1e-4 * np.max(np.abs(there.unit))
        np.testing.assert_allclose(to_numpy(here.unit), there.unit, atol=atol)


def test_paired_features_have_the_variance_exactly_and_depend_on_differences(X):
    kernel = Matern32(1.3, 0.7)
    draw = draw_frequencies(kernel, X, 10, rng=stream(1))
    Phi, moved = draw.features(kernel, X), draw.features(kernel, X + 0.4)
    np.testing.assert_allclose(np.sum(Phi * Phi, axis=1), 1.3, rtol=1e-13)
    np.testing.assert_allclose(Phi @ Phi.T, moved @ moved.T, atol=1e-13)


def test_paired_features_vary_less_than_cosines_where_the_kernel_is_large(X):
    """``½(1 + k(2δ) − 2k(δ)²)`` of a pair against ``½(1 + ½k(2δ) − k(δ)²)`` of two cosines."""
    kernel, near = RBF(), np.asarray([[0.0], [0.5]])
    draws = {}
    for kind in ("paired", "cosine"):
        # the cosine and the sine of a pair stand half the features apart
        drawn = draw_frequencies(kernel, near, 4000, kind=kind, rng=stream(1))
        a, b = drawn.features(kernel, near)
        draws[kind] = 2000.0 * (a * b).reshape(2, 2000).sum(axis=0)
    k, double = math.exp(-0.125), math.exp(-0.5)
    wanted = {"paired": 0.5 * (1.0 + double) - k * k, "cosine": 0.5 * (1.0 + 0.5 * double - k * k)}
    for kind, found in draws.items():
        assert np.var(found) == pytest.approx(wanted[kind], rel=0.2), kind


def test_orthogonal_frequencies_are_at_right_angles_d_at_a_time(space, X):
    draw = draw_frequencies(
        RBF(), space.asarray(X), 7, kind="cosine", orthogonal=True, rng=stream(1)
    )
    unit = to_numpy(draw.unit)
    unit = unit / np.linalg.norm(unit, axis=1)[:, None]
    for block in (unit[:3], unit[3:6], unit[6:]):
        np.testing.assert_allclose(block @ block.T, np.eye(len(block)), atol=1e-5)


def test_orthogonal_frequencies_vary_less():
    kernel, X = RBF(), np.asarray([[0.0] * 8, [0.5] * 8])
    errors = {}
    for orthogonal in (False, True):
        found = []
        for seed in range(150):
            draw = draw_frequencies(kernel, X, 16, orthogonal=orthogonal, rng=stream(seed))
            a, b = draw.features(kernel, X)
            found.append(float(a @ b))
        errors[orthogonal] = np.std(found)
    assert errors[True] < 0.8 * errors[False]


def test_matern_frequencies_are_student_t():
    """Of each coordinate, by the quartiles of Student's t: of 1, 3 and 5 degrees of freedom."""
    quartiles = {Matern12: 1.0, Matern32: 0.7648923, Matern52: 0.7266868}
    for kernel_class, quartile in quartiles.items():
        draw = draw_frequencies(
            kernel_class(), np.zeros((1, 2)), 40_000, kind="cosine", rng=stream(1)
        )
        inside = np.mean(np.abs(draw.unit) < quartile, axis=0)
        np.testing.assert_allclose(inside, 0.5, atol=0.012)


@pytest.mark.parametrize("kernel_class", KERNELS)
@pytest.mark.parametrize("shape", ["one", "each"])
def test_the_pullback_agrees_with_differences(X, kernel_class, shape):
    kernel = kernel_class(1.3, 0.8 if shape == "one" else lengths(np.asarray))
    draw = draw_frequencies(kernel, X, 6, kind="cosine", rng=stream(1))
    gradcheck(draw.features, draw.pullback, kernel, X, names=("kernel", "X"), rtol=1e-5)


@pytest.mark.parametrize("kind", ["paired", "cosine"])
@pytest.mark.parametrize("name", MADE)
def test_what_kernels_are_made_of_is_what_features_are_made_of(X, name, kind):
    """The average over draws is the kernel, and what one draw misses falls with the root of R."""
    kernel = MADE[name]
    spreads = []
    for size in (60, 960):
        draws = [draw_frequencies(kernel, X, size, kind=kind, rng=stream(s)) for s in range(60)]
        estimates = np.asarray([Phi @ Phi.T for Phi in (d.features(kernel, X) for d in draws)])
        bars = np.std(estimates, axis=0) / math.sqrt(60) + 1e-12
        assert np.max(np.abs(np.mean(estimates, axis=0) - kernel(X)) / bars) < 4.5
        spreads.append(math.sqrt(np.mean(np.var(estimates, axis=0))))
    assert 3.3 < spreads[0] / spreads[1] < 4.8, "sixteen times the features, a quarter of the error"


@pytest.mark.parametrize("name", MADE)
def test_the_pullback_of_what_is_made_agrees_with_differences(X, rng, name):
    kernel = MADE[name]
    draw = draw_frequencies(kernel, X, 6, kind="cosine", rng=stream(1))
    alpha = [leaf.path for leaf in leaves(kernel) if leaf.path.endswith("alpha")]  # held
    vector, rebuild = flatten(kernel, fixed=alpha)
    Phi_bar = rng.normal(size=(6, 6))

    def projected(v):
        return np.sum(Phi_bar * draw.features(rebuild(v), X))

    bar, X_bar = draw.pullback(kernel, X, Phi_bar)
    steps = 1e-6 * np.eye(vector.size)
    wanted = [(projected(vector + h) - projected(vector - h)) / 2e-6 for h in steps]
    np.testing.assert_allclose(flatten_gradient(kernel, bar, fixed=alpha), wanted, atol=1e-7)
    moved = X + 1e-6 * X_bar
    rise = np.sum(Phi_bar * (draw.features(kernel, moved) - draw.features(kernel, X)))
    assert rise == pytest.approx(1e-6 * np.sum(X_bar**2), rel=1e-4)


def test_terms_share_the_features_and_each_sees_its_columns(X):
    draw = draw_frequencies(SUM, X, 10, rng=stream(1))
    assert [(t.kind, t.size, t.columns) for t in draw.terms] == [
        (RBF, 2, (0, 1, 2)), (Matern32, 4, (2, 0)), (RationalQuadratic, 4, (0,)),
    ]  # fmt: skip
    assert np.all(draw.unit[:2] != 0.0)
    assert np.all(draw.unit[2:6, 1] == 0.0)
    assert np.all(draw.unit[6:, 1:] == 0.0)
    assert np.all(draw.unit[6:, 0] != 0.0)


def test_the_features_of_a_sum_are_the_same_in_every_space(space, X):
    here, there = (
        draw_frequencies(kernel, inputs, 10, rng=stream(1)).features(kernel, inputs)
        for kernel, inputs in ((summed(space.asarray), space.asarray(X)), (SUM, X))
    )
    assert space.holds(here)
    np.testing.assert_allclose(to_numpy(here), there, atol=1e-12 if space.double else 1e-4)


def test_our_cosine_is_that_of_numpy(rng):
    turns = np.concatenate([rng.normal(size=50_000) * 30.0, np.arange(-8, 9) / 4.0, [0.0, 1e6]])
    found = turns.copy()
    cosines.cosines_of_turns(found)
    wanted = np.cos(2.0 * np.pi * (turns - np.rint(turns)))
    np.testing.assert_allclose(found, wanted, atol=4e-15)
    doubled = turns.copy()
    cosines.cosines_of_turns(doubled, 2.0)
    np.testing.assert_allclose(doubled, 2.0 * wanted, atol=8e-15)


def test_frequencies_keep_their_own_arrays(X):
    unit, phases = np.ones((2, 3)), np.zeros(2)
    draw = Frequencies(unit, phases, RBF)
    unit[0, 0] = phases[0] = 9.0
    assert draw.unit[0, 0] == 1.0
    assert draw.phases[0] == 0.0


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (
            lambda X: draw_frequencies(Linear(), X, 4, rng=stream(1)),
            TypeError,
            "kernel must be one of",
        ),
        (
            lambda X: draw_frequencies(RBF() + Linear(), X, 4, rng=stream(1)),
            TypeError,
            "made of them by",
        ),
        (
            lambda X: draw_frequencies(RBF() * RBF(), X, 4, rng=stream(1)),
            TypeError,
            "made of them by",
        ),
        (
            lambda X: draw_frequencies(SUM, X, 4, rng=stream(1)),
            ValueError,
            "at least 2 for each of 3 k",
        ),
        (
            lambda X: draw_frequencies(SUM, X[:, :2], 6, rng=stream(1)),
            ValueError,
            "more than 2 columns",
        ),
        (
            lambda X: draw_frequencies(SUM, X, 6, rng=stream(1)).features(RBF() + Matern32(), X),
            TypeError,
            r"RBF of columns \[0, 1, 2\]; Matern32 of columns \[2, 0\]; .* for which the freq",
        ),
        (
            lambda X: draw_frequencies(RATIO, X, 4, rng=stream(1)).features(RationalQuadratic(), X),
            ValueError,
            r"kernel\.alpha must be 0\.7, for which the frequencies were drawn; got 1\.0",
        ),
        (
            lambda X: Frequencies(X, X[:, 0], (Term(RBF, 5, (0,)),)),
            ValueError,
            "of 6 features in all",
        ),
        (
            lambda X: draw_frequencies(RBF(), X, 0, rng=stream(1)),
            ValueError,
            "n must be a whole numb",
        ),
        (
            lambda X: draw_frequencies(RBF(), X, 5, rng=stream(1)),
            ValueError,
            "n must be even for pair",
        ),
        (
            lambda X: draw_frequencies(RBF(), X, 4, kind="sine", rng=stream(1)),
            ValueError,
            "kind must",
        ),
        (
            lambda X: draw_frequencies(RBF(), X[:, :0], 4, rng=stream(1)),
            ValueError,
            "X must have at l",
        ),
        (lambda X: Frequencies(X[:0], X[:0, 0], RBF), ValueError, "unit must have at least one"),
        (lambda X: Frequencies(X, X[:, 0], RBF()), TypeError, "terms must be a class"),
        (
            lambda X: draw_frequencies(RBF(), X, 4, rng=stream(1)).features(Matern12(), X),
            TypeError,
            "kernel must be a RBF, for which",
        ),
        (
            lambda X: draw_frequencies(RBF(), X, 4, rng=stream(1)).features(
                RBF(1.0, np.ones(2)), X
            ),
            TypeError,
            "kernel must be a RBF, for which",
        ),
        (
            lambda X: draw_frequencies(RBF(), X, 4, rng=stream(1)).features("RBF", X),
            TypeError,
            "kernel must be a RBF, for which .*; got 'RBF'",
        ),
        (
            lambda X: draw_frequencies(RBF(), X, 4, rng=stream(1)).features(RBF(), X[:, :2]),
            ValueError,
            r"X must have shape \(n, 3\)",
        ),
    ],
)
def test_what_does_not_fit_is_refused_by_name(X, call, error, words):
    with pytest.raises(error, match=words):
        call(X)
