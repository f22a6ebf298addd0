"""Filters and smoothers, against sums over all paths and the joint normal distribution."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import linalg, stats

from gpnotes import GP, RBF, ConstantMean, Matern12, Matern32, Matern52, condition
from gpnotes.ground.xp import array_namespace, epsilon, to_numpy
from gpnotes.mdp import HiddenMarkovModel, LinearGaussianSSM, filter, smooth, state_space_model

MATERNS = [Matern12(1.3, 0.7), Matern32(1.3, 0.7), Matern52(1.3, 0.7)]


def a_chain(rng, states=3, kinds=4):
    return (
        rng.dirichlet(np.ones(states)),
        rng.dirichlet(np.ones(states), states),
        rng.dirichlet(np.ones(kinds), states),
    )


def by_paths(start, moves, seen, readings):
    """The posterior of each state and the evidence: a sum over all paths."""
    T, S = len(readings), len(start)
    marginals = np.zeros((T, S))
    for path in itertools.product(range(S), repeat=T):
        weight = start[path[0]] * seen[path[0], readings[0]]
        for t in range(1, T):
            weight *= moves[path[t - 1], path[t]] * seen[path[t], readings[t]]
        for t in range(T):
            marginals[t, path[t]] += weight
    return marginals / marginals[0].sum(), math.log(marginals[0].sum())


def test_a_hidden_chain_is_a_sum_over_paths(space, rng):
    arrays = a_chain(rng)
    readings = np.asarray([2, 0, 3, 1, 1])
    model = HiddenMarkovModel(*(space.asarray(a) for a in arrays))
    given = space.xp.asarray(readings, device=space.device)
    tolerance = 100 * epsilon(model.start)
    found, back = filter(model, given), smooth(model, given)
    for t in range(1, 6):
        truth, log = by_paths(*arrays, readings[:t])
        np.testing.assert_allclose(to_numpy(found.filtered)[t - 1], truth[-1], rtol=tolerance)
    np.testing.assert_allclose(to_numpy(back), truth, rtol=tolerance)
    np.testing.assert_allclose(found.log_evidence, log, rtol=tolerance)
    assert back.dtype == model.start.dtype
    assert array_namespace(back) is array_namespace(model.start)


def test_what_was_not_seen_is_summed_out(rng):
    start, moves, kinds = a_chain(rng)
    model, readings = HiddenMarkovModel(start, moves, kinds), np.asarray([1, 0, 2])
    there = np.asarray([True, False, True])
    found = smooth(model, readings, observed=there)
    total = np.zeros((3, 3))
    for middle in range(4):
        truth, log = by_paths(start, moves, kinds, np.asarray([1, middle, 2]))
        total += math.exp(log) * truth
    np.testing.assert_allclose(found, total / total.sum(1, keepdims=True))
    log = filter(model, readings, observed=there).log_evidence
    np.testing.assert_allclose(math.exp(log), total[0].sum())


@pytest.mark.parametrize("there", [[True, False, True], [False, True, False], [False] * 3])
def test_what_stands_where_nothing_was_read_does_not_matter(space, rng, there):
    """NaN as in a table with gaps, and -1 for no observation: neither is looked at."""
    seen = space.xp.asarray(there, device=space.device)
    chain = HiddenMarkovModel(*(space.asarray(a) for a in a_chain(rng)))
    line = LinearGaussianSSM(*(space.asarray(a) for a in a_line(rng, T=3)[0]))
    numbers, vectors = np.asarray([1, 0, 2]), rng.standard_normal((3, 2))
    gaps = np.where(there, numbers, -1), np.where(np.asarray(there)[:, None], vectors, np.nan)
    for model, whole, gappy in [
        (chain, *(space.xp.asarray(a, device=space.device) for a in (numbers, gaps[0]))),
        (line, space.asarray(vectors), space.asarray(gaps[1])),
    ]:
        found, wanted = (filter(model, given, observed=seen) for given in (gappy, whole))
        assert found.log_evidence == wanted.log_evidence
        back, truth = (smooth(model, given, observed=seen) for given in (gappy, whole))
        back, truth = (back, truth) if model is chain else (back.mean, truth.mean)
        np.testing.assert_array_equal(to_numpy(back), to_numpy(truth))


def test_a_thousand_readings_do_not_underflow(rng):
    model = HiddenMarkovModel(*a_chain(rng))
    readings = rng.integers(0, 4, 1000)
    assert filter(model, readings).log_evidence < -745.0  # where exp() is zero
    np.testing.assert_allclose(smooth(model, readings).sum(1), 1.0)


def a_line(rng, D=3, K=2, T=4):
    """A model, and the joint normal distribution of its states and readings."""
    A, B = 0.6 * rng.standard_normal((2, T - 1, D, D))
    drift, root = B @ B.transpose(0, 2, 1), rng.standard_normal((D, D))
    H, r = rng.standard_normal((K, D)), rng.standard_normal((K, K))
    mean, cov, noise = rng.standard_normal(D), root @ root.T, r @ r.T + 0.1 * np.eye(K)
    means, covs = [mean], np.zeros((T * D, T * D))
    covs[:D, :D] = cov
    for t in range(1, T):
        now, was = slice(t * D, t * D + D), slice(t * D - D, t * D)
        means.append(A[t - 1] @ means[-1])
        covs[now, : t * D] = A[t - 1] @ covs[was, : t * D]
        covs[: t * D, now] = covs[now, : t * D].T
        covs[now, now] = A[t - 1] @ covs[was, was] @ A[t - 1].T + drift[t - 1]
    return (mean, cov, A, drift, H, noise), np.concatenate(means), covs


def in_fractions(start, drift, noise, readings):
    """Means and variances of a level by all readings, None for no reading: exact, step by step."""
    mean, cov, rows = Fraction(0), Fraction(start), []
    for step, y in enumerate(readings):
        before = mean, cov + Fraction(drift) * (step > 0)
        gain = 0 if y is None else before[1] / (before[1] + Fraction(noise))
        mean = mean + gain * (Fraction(y or 0) - mean)
        cov = (1 - gain) * before[1]
        rows.append((before, (mean, cov)))
    back = [rows[-1][1]]
    for (_, (mean, cov)), (ahead, _) in zip(rows[-2::-1], rows[:0:-1], strict=True):
        gain = cov / ahead[1]
        later = back[-1]
        back.append((mean + gain * (later[0] - ahead[0]), cov + gain**2 * (later[1] - ahead[1])))
    return np.asarray([[float(each) for each in row] for row in back[::-1]])


@pytest.mark.parametrize("start", [1.0, 1e7, 1e12, 1e16])
@pytest.mark.parametrize("gap", [False, True])
def test_a_wide_prior_takes_no_digits_from_what_readings_tell(start, gap, rng):
    """As 10⁷ and more stand for a level of which nothing is known, with or without a reading."""
    readings = rng.standard_normal((6, 1))
    seen = np.arange(6) > (1 if gap else -1)
    flat = np.ones((5, 1, 1))
    level = LinearGaussianSSM(
        np.zeros(1), start * np.eye(1), flat, 0.1 * flat, np.eye(1), 0.2 * np.eye(1)
    )
    given = [float(y) if there else None for y, there in zip(readings[:, 0], seen, strict=True)]
    mean, variance = in_fractions(start, 0.1, 0.2, given).T
    found = smooth(level, readings, observed=seen)
    np.testing.assert_allclose(found.cov[:, 0, 0], variance, rtol=1e-12)
    np.testing.assert_allclose(found.mean[:, 0], mean, rtol=1e-12, atol=1e-12)


def test_a_linear_model_is_its_joint_distribution(space, rng):
    parts, means, covs = a_line(rng)
    Y = rng.standard_normal((4, 2))
    model = LinearGaussianSSM(*(space.asarray(a) for a in parts))
    found, back = filter(model, space.asarray(Y)), smooth(model, space.asarray(Y))
    many = linalg.block_diag(*[parts[4]] * 4)
    for t in range(1, 5):
        reads = many[: 2 * t]
        joint = reads @ covs @ reads.T + linalg.block_diag(*[parts[5]] * t)
        gain = np.linalg.solve(joint, reads @ covs).T
        gap = Y[:t].ravel() - reads @ means
        mean, cov = means + gain @ gap, covs - gain @ reads @ covs
        near = {"rtol": 1e5 * epsilon(model.mean), "atol": 1e3 * epsilon(model.mean)}
        block = slice(3 * t - 3, 3 * t)
        np.testing.assert_allclose(to_numpy(found.filtered.mean)[t - 1], mean[block], **near)
        np.testing.assert_allclose(to_numpy(found.filtered.cov)[t - 1], cov[block, block], **near)
    np.testing.assert_allclose(to_numpy(back.mean).ravel(), mean, **near)
    for t in range(4):
        block = slice(3 * t, 3 * t + 3)
        np.testing.assert_allclose(to_numpy(back.cov)[t], cov[block, block], **near)
    log = stats.multivariate_normal(np.zeros(8), joint).logpdf(gap)
    np.testing.assert_allclose(found.log_evidence, log, rtol=1e4 * epsilon(model.mean))


@pytest.mark.parametrize("kernel", MATERNS, ids=lambda k: type(k).__name__)
def test_a_matern_process_is_the_exact_posterior(kernel, rng):
    t = np.sort(rng.uniform(0, 10, 60))
    there = rng.random(60) < 0.7
    y, gp = rng.standard_normal(60), GP(kernel, 0.05)
    exact = condition(gp, t[there, None], y[there])
    mean, variance = exact.predict(t[:, None])
    model = state_space_model(gp, t)
    found = smooth(model, y[:, None], observed=there)
    np.testing.assert_allclose(found.mean[:, 0], mean, rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(found.cov[:, 0, 0], variance, rtol=1e-8, atol=1e-9)
    log = filter(model, y[:, None], observed=there).log_evidence
    np.testing.assert_allclose(log, exact.log_evidence, rtol=1e-9)


@pytest.mark.parametrize("kernel", MATERNS, ids=lambda k: type(k).__name__)
def test_its_state_is_that_of_the_kernel(kernel):
    """What the first entry has in common with itself at another time is the kernel."""
    t = np.asarray([0.0, 0.3, 0.3, 2.0])
    model = state_space_model(GP(kernel, 0.1), t)
    cov = model.cov
    for step, A in enumerate(model.transitions):
        cov_next = A @ model.cov @ A.T + model.process_noise[step]
        np.testing.assert_allclose(cov_next, model.cov, atol=1e-12)
        cov = A @ cov
        truth = kernel(t[step + 1 : step + 2, None], t[:1, None])[0, 0]
        np.testing.assert_allclose(cov[0, 0], truth, rtol=1e-12)
    np.testing.assert_allclose(model.transitions[1], np.eye(len(model.mean)), atol=1e-15)


def test_it_keeps_namespace_and_dtype(space):
    t = space.asarray(np.linspace(0.0, 3.0, 5))
    found = smooth(state_space_model(GP(Matern32(), 0.1), t), space.asarray(np.ones((5, 1))))
    assert found.mean.dtype == t.dtype
    exact = condition(GP(Matern32(), 0.1), np.linspace(0, 3, 5)[:, None], np.ones(5))
    truth = exact.mean(np.linspace(0, 3, 5)[:, None])
    np.testing.assert_allclose(to_numpy(found.mean)[:, 0], truth, rtol=1e3 * epsilon(t))


HALVES = np.full((2, 2), 0.5)
OFF_ZERO = GP(Matern12(), 0.1, ConstantMean(1.0))
FAIR = HiddenMarkovModel(HALVES[0], HALVES, HALVES)
ONE_KIND = HiddenMarkovModel(HALVES[0], HALVES, np.asarray([[1.0, 0.0]] * 2))
REFUSED = {
    "rows": (lambda: HiddenMarkovModel(HALVES[0], np.ones((2, 2)), HALVES), "transitions.*row .0."),
    "negative": (
        lambda: HiddenMarkovModel(HALVES[0], HALVES, np.asarray([[0.5, 0.5], [1.5, -0.5]])),
        "observations must not be negative.*row .1.",
    ),
    "shape": (lambda: HiddenMarkovModel(HALVES[0], np.ones((3, 3)) / 3, HALVES), "transitions"),
    "an observation": (
        lambda: filter(FAIR, np.asarray([2])), "from 0 to 1",
    ),
    "impossible": (
        lambda: filter(ONE_KIND, np.asarray([0, 1])),
        r"readings\[1\] cannot happen",
    ),
    "none": (
        lambda: filter(FAIR, np.zeros(0, int)), "one reading",
    ),
    "descending": (
        lambda: state_space_model(GP(Matern12(), 0.1), np.asarray([1.0, 0.0])), "ascending",
    ),
    "no noise": (lambda: state_space_model(GP(Matern12(), 0.0), np.asarray([1.0])), "noise"),
    "process noise": (
        lambda: LinearGaussianSSM(np.zeros(1), np.eye(1), np.ones((2, 1, 1)), np.ones((1, 1, 1)),
                                  np.eye(1), np.eye(1)),
        r"process_noise must have shape \(2, 1, 1\)",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    call, words = REFUSED[name]
    with pytest.raises(ValueError, match=words):
        call()


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: state_space_model(GP(RBF(), 0.1), np.ones(1)), "Matern52"),
        (lambda: state_space_model(OFF_ZERO, np.ones(1)), "mean zero"),
        (lambda: filter("model", np.ones(1)), "model must be"),
        (lambda: filter(FAIR, np.ones(1)), "whole numbers"),
        (
            lambda: smooth(FAIR, np.asarray([1]), observed=[1]),
            "observed",
        ),
    ],
)
def test_of_another_kind(call, words):
    with pytest.raises(TypeError, match=words):
        call()
