"""Each sampler leaves its density as it is: what starts there stays there."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from gpnotes import samplers, stream, testing
from gpnotes.ground.xp import array_namespace, epsilon, to_numpy
from gpnotes.samplers import (
    HMC,
    MALA,
    NUTS,
    SGLD,
    ULA,
    EllipticalSlice,
    MinibatchDensity,
    RandomWalkMetropolis,
)
from gpnotes.samplers.integrator import PhasePoint
from gpnotes.samplers.metropolis import accept_or_reject
from gpnotes.samplers.nuts import _log_sum
from gpnotes.testing import check_sampler

# Two logistic variables, mixed: no sampler is exact for them by accident.
MIXED = np.asarray([[1.0, 0.0], [0.7, 0.5]])
BACK = np.linalg.inv(MIXED)


def logistic(x):
    """Log density and gradient of MIXED z, z independent and logistic; in any namespace."""
    xp = array_namespace(x)
    back = xp.asarray(BACK, dtype=x.dtype, device=x.device)
    z = back @ x
    value = -xp.sum(xp.abs(z) + 2.0 * xp.log1p(xp.exp(-xp.abs(z))))
    return float(value), -xp.matrix_transpose(back) @ xp.tanh(z / 2.0)


def started(rng, count):
    return rng.logistic(size=(count, 2)) @ MIXED.T


ROOT = np.asarray([[1.5, 0.0], [1.0, 0.9]])
EXACT = {
    "random walk": RandomWalkMetropolis(1.5),
    "random walk in units": RandomWalkMetropolis(0.8, ROOT),
    "MALA": MALA(0.4), "MALA with scales": MALA(0.3, np.asarray([1.2, 0.6])),
    "MALA in units": MALA(0.4, ROOT), "HMC": HMC(1.3, 3), "HMC in units": HMC(1.5, 3, ROOT),
    "HMC without jitter": HMC(1.3, 3, jitter=0.0),
    "NUTS": NUTS(0.9), "NUTS in units": NUTS(1.0, inverse_mass_root=ROOT),
    "short NUTS": NUTS(1.2, max_tree_depth=2),
}  # fmt: skip
ALL = EXACT | {"ULA": ULA(0.1)}
# Of coarser steps half as many chains see more than all do of these.
FINE = ("random walk in units", "MALA", "MALA with scales")


def after(sampler, target, starts, steps, draw):
    ends = []
    for start in starts:
        state = sampler.init(target, start)
        for _ in range(steps):
            state = sampler.step(target, state, draw).state
        ends.append(state.position)
    return np.asarray(ends)


def gap(ends):
    """The least p value by which the ends are not logistic, in each direction and together."""
    z = ends @ BACK.T
    ranks = stats.logistic.cdf(z)
    pairs = [ranks[:, 0], ranks[:, 1], stats.uniform.cdf((ranks[:, 0] + ranks[:, 1]) % 1.0)]
    return min(stats.kstest(one, "uniform").pvalue for one in pairs)


@pytest.mark.parametrize("name", EXACT)
def test_what_starts_at_its_density_stays_there(name, rng):
    """What is wrong has a p of next to nothing.

    HMC by half the loss of energy 4e-7, a random walk by half of Metropolis' ratio 9e-10, MALA
    without the ratio of its proposals 9e-10.
    """
    chains = 3000 if name in FINE else 1500
    ends = after(EXACT[name], logistic, started(rng, chains), 3, stream(1))
    assert gap(ends) > 1e-3


@pytest.mark.parametrize("root", [None, np.asarray([1.2, 0.6]), ROOT], ids=["1", "scales", "root"])
def test_mala_accepts_by_the_ratio_of_metropolis_and_hastings(root, rng):
    """By the normal densities of the proposal and of the way back, and the densities of both."""
    sampler, L = MALA(0.4, root), np.eye(2)
    if root is not None:
        L = np.diag(root) if root.ndim == 1 else root

    def proposed(x):
        return stats.multivariate_normal(x + 0.4 * L @ L.T @ logistic(x)[1], 0.8 * L @ L.T)

    refused = 0
    for seed, x in enumerate(started(rng, 40)):
        step = sampler.step(logistic, sampler.init(logistic, x), stream(seed))
        there = proposed(x).mean + math.sqrt(0.8) * L @ stream(seed).normal((2,))
        to, back = proposed(x).logpdf(there), proposed(there).logpdf(x)
        ratio = logistic(there)[0] + back - logistic(x)[0] - to
        assert step.acceptance == pytest.approx(math.exp(min(0.0, ratio)), rel=1e-9)
        np.testing.assert_allclose(step.state.position, there if step.moved else x, rtol=1e-12)
        refused += not step.moved
    assert 0 < refused < 20


def test_ula_does_not_stay(rng):
    """The same test sees a step that is always taken."""
    ends = after(ULA(0.9), logistic, started(rng, 3000), 5, stream(1))
    assert gap(ends) < 1e-4


def test_an_ellipse_keeps_the_posterior(rng):
    mean, root = np.asarray([0.5, -1.0]), ROOT
    y, noise = np.asarray([1.0, 0.3]), 0.6
    precision = np.linalg.inv(root @ root.T) + np.eye(2) / noise**2
    cov = np.linalg.inv(precision)
    centre = cov @ (np.linalg.solve(root @ root.T, mean) + y / noise**2)
    low = np.linalg.cholesky(cov)
    starts = centre + rng.standard_normal((3000, 2)) @ low.T

    def likelihood(f):
        return -0.5 * float((y - f) @ (y - f)) / noise**2

    ends = after(EllipticalSlice(root, mean), likelihood, starts, 3, stream(2))
    z = np.linalg.solve(low, (ends - centre).T)
    assert min(stats.kstest(row, "norm").pvalue for row in z) > 1e-3
    assert stats.kstest((z[0] + z[1]) / math.sqrt(2.0), "norm").pvalue > 1e-3


@pytest.mark.parametrize("seed", range(8))
def test_a_path_that_went_once_around_has_turned(seed):
    """Four places span 2.9 and eight 6.8, more than a whole turn, and so look straight again.

    In many dimensions, a normal density has circles for paths: a leapfrog step of ``2 sin(θ/2)``
    goes on by the angle θ. What is seen is where the two halves meet.
    """
    turn = 0.97
    sampler = NUTS(2.0 * math.sin(turn / 2.0), max_tree_depth=6)
    start = np.random.default_rng(50 + seed).standard_normal(1000)
    target = lambda x: (-0.5 * float(x @ x), -x)  # noqa: E731
    step = sampler.step(target, sampler.init(target, start), stream(seed))
    assert step.evaluations == 1 + 2 + 4


@pytest.mark.parametrize("seed", range(8))
def test_an_arc_shrinks_to_where_the_chain_is(seed):
    """So it always moves, however near to it alone the likelihood is."""
    draws = np.random.default_rng(seed)
    start, sampler = draws.standard_normal(2), EllipticalSlice(ROOT)

    def likelihood(f):
        return 0.0 if math.dist(f, start) < 1e-3 else -math.inf

    step = sampler.step(likelihood, sampler.init(likelihood, start), stream(seed))
    assert step.moved


def near(space):
    return 1e3 * epsilon(space.asarray(np.ones(1)))


@pytest.mark.parametrize("name", ALL)
def test_every_namespace_takes_the_same_way(name, space):
    """The numbers are drawn on the host, so chains differ by rounding alone."""
    sampler = ALL[name]
    root = None if sampler.inverse_mass_root is None else space.asarray(sampler.inverse_mass_root)
    start, ways = np.asarray([0.5, -0.3]), []
    for one, place in (
        (sampler, start),
        (replace(sampler, inverse_mass_root=root), space.asarray(start)),
    ):
        state, draw = one.init(logistic, place), stream(4)
        for _ in range(3):
            state = one.step(logistic, state, draw).state
        ways.append(state.position)
    assert space.holds(ways[1])
    np.testing.assert_allclose(to_numpy(ways[1]), ways[0], rtol=0.0, atol=near(space))


def test_an_ellipse_in_every_namespace(space):
    draws = []
    for make in (np.asarray, space.asarray):
        sampler = EllipticalSlice(make(ROOT), make(np.asarray([0.1, 0.2])))
        state, draw = sampler.init(lambda f: -float(f @ f), make(np.asarray([0.5, 0.4]))), stream(4)
        for _ in range(3):
            state = sampler.step(lambda f: -float(f @ f), state, draw).state
        draws.append(state.position)
    assert space.holds(draws[1])
    np.testing.assert_allclose(to_numpy(draws[1]), draws[0], rtol=0.0, atol=near(space))


def rows_of(make):
    """The mean of a normal sample under a normal prior, row by row."""
    data = np.asarray([[0.5, 1.0], [1.5, -1.0], [0.2, 0.4], [2.0, 0.3], [1.0, 1.0]])

    def likelihood(x, rows):
        xp = array_namespace(x)
        gaps = xp.take(make(data), rows, axis=0) - x
        return -0.5 * float(xp.sum(gaps**2)), xp.sum(gaps, axis=0)

    number = array_namespace(make(data))
    rows = number.asarray(np.arange(5), device=make(data).device)
    return MinibatchDensity(lambda x: (-0.5 * float(x @ x), -x), likelihood, rows)


def test_stochastic_gradients_in_every_namespace(space):
    ends = []
    for make in (np.asarray, space.asarray):
        target, sampler, draw = rows_of(make), SGLD(0.02, batch=3), stream(4)
        state = sampler.init(target, make(np.asarray([0.5, 0.4])))
        assert state.log_density == target(state.position)[0]
        for _ in range(3):
            state = sampler.step(target, state, draw).state
        ends.append(state.position)
    assert space.holds(ends[1])
    np.testing.assert_allclose(to_numpy(ends[1]), ends[0], rtol=0.0, atol=near(space))


def test_some_rows_estimate_all_rows(rng):
    """Over all pairs of rows with repetition, which are as likely as one another, it is exact."""
    target, x = rows_of(np.asarray), rng.standard_normal(2)
    value, slope = target(x)
    pairs = [target.estimate(x, np.asarray([i, j])) for i in range(5) for j in range(5)]
    assert np.mean([pair[0] for pair in pairs]) == pytest.approx(value)
    np.testing.assert_allclose(np.mean([pair[1] for pair in pairs], axis=0), slope)


def test_the_steps_of_sgld_shrink_by_a_cube_root_unless_another_decay_is_given():
    """Seven steps after the first the number below the root is eight."""
    assert SGLD(0.3).step_size_at(0) == 0.3
    assert SGLD(0.3).step_size_at(7) == pytest.approx(0.15, rel=1e-14)
    assert SGLD(0.3, decay=0.0, delay=2.0).step_size_at(7) == 0.3
    assert SGLD(0.3, decay=2.0, delay=3.5).step_size_at(7) == pytest.approx(0.3 / 9.0, rel=1e-14)
    for wrong in ({"decay": -0.1}, {"delay": 0.0}, {"batch": 0}):
        with pytest.raises(ValueError, match=f"{next(iter(wrong))} must be"):
            SGLD(0.3, **wrong)
    assert SGLD(batch=1).batch == 1


def test_the_variance_of_sgld_is_that_of_its_recursion():
    """Half a million chains at once would say no more: the recursion of mean and variance."""
    data = np.asarray([0.5, 1.5, 0.2, 2.0, 1.0])

    def likelihood(x, rows):
        gaps = data[rows] - x[0]
        return -0.5 * float(gaps @ gaps), np.asarray([gaps.sum()])

    target = MinibatchDensity(lambda x: (-0.5 * float(x @ x), -x), likelihood, np.arange(5))
    sampler = SGLD(0.05, batch=2, decay=0.5, delay=3.0)
    mean, variance = 1.0, 0.0
    noise = (5 / 2) ** 2 * 2 * np.var(data)
    for t in range(4):
        tau = sampler.step_size_at(t)
        mean = mean + tau * (data.sum() - 6.0 * mean)
        variance = (1 - 6.0 * tau) ** 2 * variance + 2 * tau + tau**2 * noise
    draw = stream(5)
    ends = after(sampler, target, np.ones((4000, 1)), 4, draw)[:, 0]
    assert ends.mean() == pytest.approx(mean, abs=4 * math.sqrt(variance / 4000))
    assert ends.var() == pytest.approx(variance, rel=4 * math.sqrt(2 / 4000))


def test_the_leapfrog_goes_back_and_keeps_volumes(rng):
    def whole(v, size=0.3):
        phase = PhasePoint(v[:2], v[2:], *logistic(v[:2]))
        for _ in range(5):
            phase = samplers.leapfrog(logistic, phase, size, ROOT)
        return phase

    v = rng.standard_normal(4)
    there = whole(v)
    back = whole(np.concatenate([there.position, -there.momentum]))
    np.testing.assert_allclose(np.concatenate([back.position, -back.momentum]), v, atol=1e-12)

    def flat(v):
        end = whole(v)
        return np.concatenate([end.position, end.momentum])

    h = 1e-5
    columns = [(flat(v + h * e) - flat(v - h * e)) / (2 * h) for e in np.eye(4)]
    assert np.linalg.det(np.asarray(columns)) == pytest.approx(1.0, abs=1e-7)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("root", [ROOT, ROOT.T, np.eye(2)], ids=["lower", "upper", "both"])
def test_an_ellipse_lies_on_draws_of_the_prior(root, dtype):
    """By the product of a triangle or of a full matrix: the first draw is where 90° leads."""
    root = root.astype(dtype)
    sampler = EllipticalSlice(root)
    state = sampler.init(lambda f: 0.0, np.zeros(2, dtype))
    draw = stream(3)
    normals = draw.normal((2, 64), like=root)
    uniform = [float(draw.uniform()) for _ in range(2)]
    step = sampler.step(lambda f: 0.0, state, stream(3))
    wanted = math.sin(2.0 * math.pi * uniform[1]) * (root @ normals[:, 0])
    np.testing.assert_allclose(
        step.state.position, wanted, rtol=1e-12 if dtype is np.float64 else 1e-5
    )
    assert step.state.position.dtype == dtype


def test_the_energy_that_a_leapfrog_loses_falls_with_the_square_of_its_step(rng):
    v = rng.standard_normal(4)

    def lost(size, leaps):
        phase = PhasePoint(v[:2], v[2:], *logistic(v[:2]))
        begin = phase.energy
        for _ in range(leaps):
            phase = samplers.leapfrog(logistic, phase, size)
        return phase.energy - begin

    assert lost(0.05, 20) / lost(0.025, 40) == pytest.approx(4.0, rel=0.1)


def test_paths_of_one_length_come_home_and_those_with_jitter_do_not():
    """On a normal density place and momentum turn together: these leaps are one whole turn."""
    normal = lambda x: (-0.5 * float(x @ x), -x)  # noqa: E731
    far = {}
    for jitter in (0.0, 0.2):
        sampler = HMC(2.0 * math.sin(math.pi / 12), 12, jitter=jitter)
        state = sampler.init(normal, np.asarray([1.0, 0.5]))
        step = sampler.step(normal, state, stream(1))
        far[jitter] = float(np.linalg.norm(step.state.position - state.position))
    assert far[0.0] < 1e-12
    assert far[0.2] > 0.1


def test_a_jitter_is_even_about_the_step():
    """Where the density is flat a path is as long as its step, with the same momentum as without.

    The mean of n of them is right to five standard errors, and so is their variance, j²/3.
    """
    flat = lambda x: (0.0, 0.0 * x)  # noqa: E731
    far = {}
    for jitter in (0.0, 0.3):
        sampler = HMC(0.5, 2, jitter=jitter)
        state = sampler.init(flat, np.zeros(3))
        ends = [sampler.step(flat, state, stream(i)).state.position for i in range(1000)]
        far[jitter] = np.linalg.norm(ends, axis=1)
    times = far[0.3] / far[0.0]
    assert 0.7 <= np.min(times) < 0.71
    assert 1.29 < np.max(times) <= 1.3
    assert np.mean(times) == pytest.approx(1.0, abs=5.0 * np.sqrt(0.03 / 1000))
    assert np.var(times) == pytest.approx(0.03, abs=5.0 * 0.03 * np.sqrt(0.8 / 1000))


COUNTED = ALL | {
    "ellipses": EllipticalSlice(np.eye(2)),
    "ellipses about a mean": EllipticalSlice(np.eye(2), np.ones(2)),
}


@pytest.mark.parametrize("name", COUNTED)
def test_a_step_counts_as_one_whether_it_moves_or_stays(name):
    sampler, draw = COUNTED[name], stream(1)
    state, moved = sampler.init(logistic, np.asarray([0.3, -0.2])), 0
    for k in range(1, 20):
        before, state = state, sampler.step(logistic, state, draw).state
        assert state.count == k
        moved += not np.array_equal(before.position, state.position)
    assert moved > 4


@pytest.mark.parametrize("jitter", [-0.1, 1.0, math.nan])
def test_a_jitter_that_could_leave_no_step_is_refused(jitter):
    with pytest.raises(ValueError, match="jitter must be"):
        HMC(jitter=jitter)


def cliff(x):
    """A half normal density: none to the left."""
    return (-0.5 * float(x @ x), -x) if x[0] > 0 else (-math.inf, -x)


@pytest.mark.parametrize(
    "sampler", [RandomWalkMetropolis(1.0), MALA(0.3), HMC(0.5, 3), NUTS(0.5)], ids=repr
)
def test_a_place_without_a_density_is_never_taken(sampler, rng):
    starts = np.abs(rng.standard_normal((1500, 1)))
    ends = after(sampler, cliff, starts, 2, stream(3))
    assert ends.min() > 0
    assert stats.kstest(ends[:, 0], "halfnorm").pvalue > 1e-3


def test_a_path_that_meets_a_wall_has_diverged():
    sampler = NUTS(0.5)
    state = sampler.init(cliff, np.asarray([0.05]))
    assert any(sampler.step(cliff, state, stream(seed)).diverged for seed in range(5))


@pytest.mark.parametrize("kind", [ULA, SGLD], ids=lambda kind: kind.__name__)
def test_a_step_that_is_always_taken_must_not_leave_everything(kind):
    """The slope of a quartic grows faster than any step can take."""
    steep = lambda x: (-float(np.sum(x**4)), -4.0 * x**3)  # noqa: E731
    target = (
        MinibatchDensity(steep, lambda x, rows: (0.0, 0.0 * x), np.arange(3))
        if kind is SGLD
        else steep
    )
    sampler = kind(0.5)
    state, draw = sampler.init(target, np.asarray([5.0])), stream(1)

    def go(state):
        for _ in range(50):
            state = sampler.step(target, state, draw).state

    with (
        np.errstate(all="ignore"),
        pytest.raises(ValueError, match="step_size must be smaller than"),
    ):
        go(state)


def test_a_step_that_takes_one_number_to_infinity_is_refused():
    """A unit of 1e200 of the first number, and of one of the second, which stays where it is."""
    bowl = lambda x: (-0.5 * float(np.sum(np.tanh(x) ** 2)), -np.tanh(x))  # noqa: E731
    target = MinibatchDensity(bowl, lambda x, rows: (0.0, 0.0 * x), np.arange(3))
    sampler = SGLD(0.5, inverse_mass_root=np.asarray([1e200, 1.0]))
    state = sampler.init(target, np.asarray([1.0, 1.0]))
    with np.errstate(over="ignore"), pytest.raises(ValueError, match="step_size must be smaller"):
        sampler.step(target, state, stream(1))


def test_an_arc_on_which_nothing_is_likely_ends():
    """A likelihood that is finite at the start alone."""
    start = np.asarray([0.3, 0.2])
    only = lambda f: 0.0 if np.array_equal(f, start) else -math.inf  # noqa: E731
    sampler = EllipticalSlice(np.eye(2))
    step = sampler.step(only, sampler.init(only, start), stream(1))
    assert not step.moved
    np.testing.assert_array_equal(step.state.position, start)


def test_a_tree_has_one_doubling_or_more():
    assert NUTS(max_tree_depth=1).max_tree_depth == 1
    with pytest.raises(ValueError, match="max_tree_depth must be a whole number from 1; got 0"):
        NUTS(max_tree_depth=0)


@pytest.mark.parametrize("logs", [(0.3, -2.0), (900.0, 899.0), (-math.inf, 1.5), (-math.inf,) * 2])
def test_weights_of_trees_are_added_on_the_scale_of_their_logs(logs):
    """Also where all places of both have no weight at all."""
    assert _log_sum(*logs) == pytest.approx(np.logaddexp(*logs), rel=1e-15)
    assert _log_sum(*logs) == _log_sum(*logs[::-1])


def test_plus_infinity_is_no_density():
    sampler = RandomWalkMetropolis()
    state = sampler.init(lambda x: 0.0, np.zeros(1))
    with pytest.raises(ValueError, match="target must not be plus infinity"):
        sampler.step(lambda x: math.inf, state, stream(1))


PATHS = [NUTS(0.6, max_tree_depth=3), HMC(0.6, 3)]


@pytest.mark.parametrize("sampler", [MALA(0.6), RandomWalkMetropolis(0.6), *PATHS], ids=repr)
def test_samplers_keep_their_contract_everywhere(sampler, space, monkeypatch):
    """Of short paths: their length is nothing to the arrays that they are made of.

    The numbers are drawn on the host, so beside NumPy's float64 there are fewer chains, with which
    a step of `ULA` that is too long is 9 standard errors off.
    """
    if space.name != "numpy-float64":
        monkeypatch.setattr("gpnotes.testing.samplers._CHAINS", 200)
    check_sampler(sampler, space.asarray(np.zeros(1)))


class Drifting(RandomWalkMetropolis):
    """It takes every proposal."""

    def step(self, target, state, stream):
        step = super().step(lambda x: 0.0, replace(state, log_density=0.0), stream)
        return step._replace(state=replace(step.state, log_density=target(step.state.position)[0]))


class Restless(RandomWalkMetropolis):
    """It says that it stayed."""

    def step(self, target, state, stream):
        return super().step(target, state, stream)._replace(moved=False)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (Drifting(1.5), "variance is .* standard errors off"),
        (ULA(0.8), "variance is .* standard errors off"),
        (Restless(0.5), "has not moved is at another place"),
    ],
)
def test_a_sampler_that_does_not_is_told(wrong, said):
    with pytest.raises(AssertionError, match=said):
        check_sampler(wrong, np.zeros(1))


class Uncorrected(MALA):
    """A MALA that forgets the ratio of its proposals, or changes it, or shortens the noise."""

    share, noise = 0.0, 2.0

    def step(self, target, state, stream):
        tau, x, z = self.step_size, state.position, stream.normal(state.position.shape)
        there = x + tau * state.gradient + math.sqrt(self.noise * tau) * z
        value, slope = target(there)
        back = z + math.sqrt(tau / 2.0) * (state.gradient + slope)
        ratio = value - state.log_density - 0.5 * self.share * float(back @ back - z @ z)
        proposed = samplers.State(there, value, slope, state.count + 1)
        return accept_or_reject(state, proposed, ratio, stream)


class Overcorrected(Uncorrected):
    share = 2.0


class Quieter(Uncorrected):
    share, noise = 1.0, 1.0


class Right(Uncorrected):
    share = 1.0


@pytest.mark.parametrize(("seed", "step_size"), [(0, 0.1), (1, 0.5), (2, 1.4)])
def test_a_correction_of_proposals_that_is_not_right_is_told(step_size, seed, monkeypatch):
    """A normal density hides it where steps are short or long: less noise passed at 0.1 and 1.4."""
    monkeypatch.setattr(testing.samplers, "stream", lambda n: stream(n + 1000 * seed))
    for wrong in (Uncorrected, Overcorrected, Quieter):
        with pytest.raises(AssertionError, match="standard errors off after"):
            check_sampler(wrong(step_size), np.zeros(1))
    for right in (Right, MALA):
        check_sampler(right(step_size), np.zeros(1))


@pytest.mark.parametrize("stays", [False, True])
def test_a_step_of_ellipses_counts_itself_and_its_evaluations(stays):
    """Also where the density is zero but at the start, and the arc shrinks to nothing."""
    start, seen = np.asarray([0.3, -0.2]), []

    def target(x):
        seen.append(x)
        return 0.0 if not stays or np.array_equal(x, start) else -math.inf

    sampler = EllipticalSlice(np.eye(2))
    state = replace(sampler.init(target, start), count=5)
    seen.clear()
    step = sampler.step(target, state, stream(1))
    assert (step.state.count, step.evaluations, step.moved) == (6, len(seen), not stays)
    assert (len(seen) > 10) == stays


@pytest.mark.parametrize(
    "sampler", [MALA(0.4), ULA(0.1), HMC(0.3, 4), NUTS(), RandomWalkMetropolis(1.0)], ids=repr
)
def test_a_target_may_write_into_its_gradient_again_and_into_its_argument(sampler):
    """As one does that has a buffer, and centres a position where it stands."""
    buffer = np.zeros(2)

    def thrifty(x):
        value, buffer[:] = logistic(x)
        x -= 1.0
        return value, buffer

    settings = {"num_chains": 1, "num_samples": 30, "num_warmup": 20, "rng": stream(1)}
    draws = [
        samplers.sample(target, sampler, np.ones(2), **settings).draws
        for target in (logistic, thrifty)
    ]
    np.testing.assert_array_equal(draws[1], draws[0])
