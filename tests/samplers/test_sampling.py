"""Chains as a whole: warm-up, files, hyperparameters, calibration, and what is refused."""

from __future__ import annotations

import importlib.util
import itertools
import math
import warnings
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy import integrate, stats

from gpnotes import (
    GP,
    RBF,
    ConstantMean,
    LogNormalPrior,
    NormalPrior,
    condition,
    log_evidence,
    samplers,
    stream,
)
from gpnotes.ground.chunks import Rows
from gpnotes.ground.interrupts import InterruptWarning, raised_interrupts
from gpnotes.infer import sparse
from gpnotes.infer.objective import objective_of
from gpnotes.samplers import HMC, NUTS, SGLD, ULA, EllipticalSlice, RandomWalkMetropolis
from gpnotes.samplers.chain_logs import TrailLog
from gpnotes.samplers.sampling import _is_warming_up
from gpnotes.samplers.targets import log_density_and_gradient
from gpnotes.samplers.warmup import (
    StepSizeAdaptation,
    adaptation_windows,
    estimate_inverse_mass_root,
    find_reasonable_step_size,
)


def skewed(tied):
    """A normal density with scales 50 apart and a correlation."""
    precision = np.linalg.inv([[1.0, 0.02 * tied], [0.02 * tied, 0.0004]])

    def density(x):
        slope = precision @ (x - 1.0)
        return -0.5 * float((x - 1.0) @ slope), -slope

    return density


skew = skewed(0.9)
APART = np.asarray([[3.0, 1.0], [-1.0, 1.0], [1.0, 1.05], [1.0, 0.95]])


@pytest.mark.parametrize(
    "sampler",
    [
        RandomWalkMetropolis(),
        samplers.MALA(),
        HMC(num_steps=5),
        NUTS(),
    ],
    ids=repr,
)
@pytest.mark.parametrize("mass", ["dense", "diagonal"])
def test_warm_up_finds_step_and_units(sampler, mass):
    # Units of single entries cannot undo a correlation: a chain that is stuck in one is a lottery.
    target = skewed({"diagonal": 0.3, "dense": 0.9}[mass])
    found = samplers.sample(
        target, sampler, APART, rng=stream(1), num_samples=300, num_warmup=600, mass_matrix=mass
    )
    assert np.all(np.abs(found.mean - 1.0) < 5 * found.mcse)
    assert np.all(found.ess_bulk > (20 if type(sampler) is RandomWalkMetropolis else 60))
    assert found.acceptance.mean() == pytest.approx(sampler.target_acceptance, abs=0.15)
    assert all(
        one.inverse_mass_root.ndim == (1 if mass == "diagonal" else 2) for one in found.samplers
    )


def test_units_are_those_of_the_draws(rng):
    draws = rng.standard_normal((4000, 3)) @ np.diag([1.0, 10.0, 0.1])
    np.testing.assert_allclose(
        estimate_inverse_mass_root(draws, "diagonal"), [1.0, 10.0, 0.1], rtol=0.05
    )
    root = estimate_inverse_mass_root(draws, "dense")
    np.testing.assert_allclose(root @ root.T, np.cov(draws.T), rtol=0.01, atol=0.05)
    draws[:, 1] = 2.0
    assert estimate_inverse_mass_root(draws, "diagonal")[1] == 1.0


def test_the_stretches_of_a_warm_up_add_up():
    for warmup in (1, 7, 30, 100, 1000, 3333):
        assert sum(adaptation_windows(warmup)) == warmup


@pytest.mark.parametrize(
    ("warmup", "windows"),
    [
        (1, [0, 1, 0]),
        (100, [15, 65, 20]),
        (114, [17, 25, 50, 22]),
        (1000, [150, 25, 50, 100, 475, 200]),
    ],
)
def test_stretches_that_learn_double_and_the_last_takes_what_is_left(warmup, windows):
    """The last is less than three times as long as its turn; at three times it is halved off."""
    assert adaptation_windows(warmup) == windows


def test_a_search_moves_by_its_rule():
    search = StepSizeAdaptation(2.0, 0.8)
    steps, mean, log_step = [], 0.0, math.log(2.0)
    assert search.averaged_step_size == pytest.approx(2.0)
    for t, acceptance in enumerate((1.0, 0.3, 0.6), 1):
        steps.append(log_step)
        mean = sum(k * one for k, one in enumerate(steps, 1)) * 2.0 / (t * (t + 1))
        log_step += (acceptance - 0.8) / math.sqrt(t)
        search.update(acceptance)
        assert math.log(search.step_size) == pytest.approx(log_step, rel=1e-12)
        assert math.log(search.averaged_step_size) == pytest.approx(mean, rel=1e-12)


def test_correlations_count_for_less_where_draws_are_few(rng):
    draws = rng.standard_normal((7, 2)) @ np.asarray([[3.0, 1.0], [0.0, 0.5]])
    root = estimate_inverse_mass_root(draws, "dense")
    wanted = np.cov(draws.T)
    wanted[[0, 1], [1, 0]] *= 7.0 / 12.0
    np.testing.assert_allclose(root @ root.T, wanted, rtol=1e-12)
    np.testing.assert_array_equal(np.triu(root, 1), 0.0)


@dataclass(frozen=True)
class Stepping:
    """A sampler that takes proposals shorter than one with certainty, others by half."""

    step_size: float

    def step(self, target, state, stream):
        return SimpleNamespace(acceptance=1.0 if self.step_size < 1.0 else 0.5)


@pytest.mark.parametrize(("first", "found"), [(0.1, 1.6), (8.0, 0.5), (1.0, 0.5), (0.75, 1.5)])
def test_a_step_is_doubled_or_halved_until_a_proposal_goes_the_other_way(first, found):
    got = find_reasonable_step_size(Stepping(first), None, None, stream(1))
    assert got == pytest.approx(found)


def test_a_search_finds_the_step():
    """Of an acceptance that falls with the step, ``exp(−step)``, at 0.8: the step is −log 0.8."""
    search = StepSizeAdaptation(1.0, 0.8)
    for _ in range(3000):
        search.update(math.exp(-search.step_size))
    assert search.averaged_step_size == pytest.approx(-math.log(0.8), rel=0.02)


@pytest.mark.parametrize("first", [0.3, 1.0, 3.0])
def test_noise_does_not_push_a_search_to_one_side(first, rng):
    """Acceptances of a leapfrog, by the normal distribution of what it loses of the energy.

    A search whose steps swing widely has the right mean of acceptances and the wrong step, since
    acceptance falls ever faster with the step.
    """
    ends = []
    for _ in range(100):
        search = StepSizeAdaptation(first, 0.8)
        for _ in range(200):
            sd = search.step_size**2
            search.update(min(1.0, math.exp(-(0.5 * sd**2 + sd * rng.standard_normal()))))
        ends.append(2.0 * stats.norm.cdf(-0.5 * search.averaged_step_size**2))
    assert np.mean(ends) == pytest.approx(0.8, abs=0.02)


SCALES = np.geomspace(1.0, 10.0, 10)


def scaled(x):
    """A normal density of ten unknowns whose axes are badly scaled."""
    z = x / SCALES
    return -0.5 * float(z @ z), -z / SCALES


def heavy(x):
    """Ten independent unknowns with the tails of Student's t of five degrees, on those axes."""
    z = x / SCALES
    return -3.0 * float(np.log1p(z**2 / 5.0).sum()), -6.0 * z / (5.0 + z**2) / SCALES


@pytest.mark.parametrize(
    ("sampler", "target", "seed"),
    [
        (NUTS(), heavy, 1),
        (NUTS(), scaled, 2),
        (NUTS(), heavy, 3),
        (HMC(num_steps=5), scaled, 1),
        (HMC(num_steps=5), heavy, 2),
        (HMC(num_steps=5), scaled, 3),
    ],
)
def test_warm_up_ends_at_the_acceptance_that_was_asked_for(sampler, target, seed):
    found = samplers.sample(
        target, sampler, SCALES, rng=stream(seed), num_chains=3, num_samples=100, num_warmup=300
    )
    assert found.acceptance.mean() == pytest.approx(sampler.target_acceptance, abs=0.05)


@pytest.mark.parametrize("seed", [1, 2, 3, 4])
def test_paths_whose_step_was_tuned_do_not_come_home(seed):
    """Five leaps of a step that is accepted as often as it should be are nearly a whole turn."""
    found = samplers.sample(
        skew,
        HMC(num_steps=5),
        APART,
        rng=stream(seed),
        num_samples=300,
        num_warmup=300,
        mass_matrix="dense",
    )
    assert np.all(found.ess_bulk > 200)


SHORT = NUTS(max_tree_depth=4)  # where the course matters and not where it leads


def run(file=None, draws=250, callback=None, sampler=None, seed=1, **others):
    return samplers.sample(
        skew, sampler or SHORT, APART, rng=stream(seed), num_samples=draws, num_warmup=60,
        file=file, callback=callback, **others,
    )  # fmt: skip


@pytest.mark.parametrize("sampler", [RandomWalkMetropolis(), ULA(1e-4), SHORT], ids=repr)
def test_an_interrupted_run_goes_on_to_the_same_draws(tmp_path, sampler):
    class Interrupted(Exception):
        pass

    def stop(chain, done):
        if (chain, done) == (2, 100):
            raise Interrupted

    # a longer run begins with the draws of a shorter one
    wanted, file = run(draws=320, sampler=sampler), tmp_path / "run.npz"
    with pytest.raises(Interrupted):
        run(file, callback=stop, sampler=sampler)
    seen = []
    found = run(file, callback=lambda *at: seen.append(at), sampler=sampler)
    assert seen == [(2, 200), (2, 250), (3, 100), (3, 200), (3, 250)]
    for name in ("draws", "log_density", "acceptance", "diverged", "evaluations"):
        np.testing.assert_array_equal(getattr(found, name), getattr(wanted, name)[:, :250])
    assert found.warmup_evaluations == wanted.warmup_evaluations
    more = run(file, draws=320, sampler=sampler)
    np.testing.assert_array_equal(more.draws, wanted.draws)
    np.testing.assert_array_equal(
        run(file, draws=130, sampler=sampler).draws, wanted.draws[:, :130]
    )


def test_the_draws_are_the_same_by_any_jobs(tmp_path):
    joblib = importlib.util.find_spec("joblib")
    walk = {"sampler": RandomWalkMetropolis()}
    expected, file = run(**walk), tmp_path / "run.npz"
    with ThreadPoolExecutor(2) as pool:
        for jobs in [pool.map, *([2] if joblib else [])]:
            told = []
            found = run(jobs=jobs, callback=lambda *at, told=told: told.append(at), **walk)
            np.testing.assert_array_equal(found.draws, expected.draws)
            assert found.warmup_evaluations == expected.warmup_evaluations
            assert told == [(number, 250) for number in range(4)]
    run(file, draws=100, **walk)
    np.testing.assert_array_equal(run(file, jobs=map, **walk).draws, expected.draws)


@pytest.mark.parametrize(
    ("at", "shape"), [((0, 200), (1, 200)), ((1, 100), (1, 250)), ((2, 200), (3, 200))]
)
def test_an_interrupted_run_keeps_the_draws_so_far(at, shape):
    def stop(*seen):
        if seen == at:
            raise KeyboardInterrupt

    sampler = RandomWalkMetropolis()
    expected = run(sampler=sampler)
    with pytest.warns(InterruptWarning, match=f"sample keeps {shape[1]} draws") as told:
        found = run(callback=stop, sampler=sampler)
    assert told[0].filename == __file__
    np.testing.assert_array_equal(found.draws, expected.draws[: shape[0], : shape[1]])
    assert len(found.samplers) == shape[0]


def pressing(at, end=KeyboardInterrupt):
    """A density in whose evaluation of that number Ctrl-C is pressed."""
    asked = itertools.count(1)

    def pressed(x):
        if next(asked) == at:
            raise end
        return skew(x)

    return pressed


def sampled(target, sampler=RandomWalkMetropolis(), **others):  # noqa: B008 - it is frozen
    given = {"num_chains": 2, "num_samples": 250, "num_warmup": 300, "rng": 1} | others
    return samplers.sample(target, sampler, np.zeros(2), **given)


def test_an_interrupt_keeps_the_draws_of_a_block_under_way():
    whole = sampled(skew)
    cost = whole.warmup_evaluations[0] + 150
    with pytest.warns(InterruptWarning, match="sample keeps 1[0-9]{2} draws of each of 1 chains"):
        found = sampled(pressing(cost))
    assert found.draws.shape[1] % 100 > 0
    np.testing.assert_array_equal(found.draws[0], whole.draws[0, : found.draws.shape[1]])
    assert not found.warming_up


@pytest.mark.parametrize("sampler", [RandomWalkMetropolis(), NUTS(), ULA(1e-4)], ids=repr)
def test_an_interrupt_in_the_warm_up_keeps_its_steps(sampler):
    said = "steps of the warm-up of each of 1 chains; they are no draws"
    with pytest.warns(InterruptWarning, match=f"sample keeps [0-9]+ of 300 {said}") as told:
        found = sampled(pressing(200), sampler)
    assert told[0].filename == __file__
    assert len(told) == 1
    assert found.warming_up
    assert 0 < found.draws.shape[1] < 300
    assert found.problems()[0].startswith("interrupted in the warm-up")
    assert repr(found).startswith(f"<Chains: 1 of {found.draws.shape[1]} steps of a warm-up")
    assert set(found._groups()) == {"warmup_posterior", "warmup_sample_stats"}
    tuned, at = found.samplers[0], found.draws[0, -1]
    onward = samplers.sample(skew, tuned, at, num_chains=1, num_samples=10, num_warmup=0, rng=2)
    assert onward.draws.shape == (1, 10, 2)


def test_what_a_warm_up_has_tuned_so_far_is_kept():
    with pytest.warns(InterruptWarning):
        found = sampled(pressing(250))
    tuned = found.samplers[0]
    assert tuned.inverse_mass_root is not None
    assert tuned.step_size not in (1.0, RandomWalkMetropolis().step_size)


class Killed(BaseException):
    """The end of a process."""


def other_processes(function, pieces):
    """A `map` that is interrupted while a process is ended, which can say nothing more."""
    try:
        yield from map(function, pieces)
    except Killed:
        raise KeyboardInterrupt from None


@pytest.mark.parametrize(
    ("at", "kept"),
    [(430, "100 draws"), (190, "100 of 300 steps of the warm-up"),
     (350, "300 of 300 steps of the warm-up")],
)  # fmt: skip
def test_chains_of_other_processes_leave_a_trail(at, kept):
    target = pressing(at, end=Killed)
    with pytest.warns(InterruptWarning, match=f"sample keeps {kept} of each of 1 chains"):
        found = sampled(target, jobs=other_processes)
    rows = int(kept.partition(" ")[0])
    assert found.draws.shape[1] == rows
    if not found.warming_up:
        np.testing.assert_array_equal(found.draws[0], sampled(skew).draws[0, :rows])


def test_an_interrupt_that_reaches_a_process_leaves_all_it_has():
    with pytest.warns(InterruptWarning, match="sample keeps 1[0-9]{2} of 300 steps"):
        found = sampled(pressing(190), jobs=map)
    assert found.draws.shape[1] % 100 > 0


def test_chains_that_had_ended_are_kept_beside_a_trail():
    whole = sampled(skew)
    cost = sum(whole.warmup_evaluations) + int(whole.evaluations[0].sum()) + 130
    with pytest.warns(InterruptWarning, match="sample keeps 250 draws of each of 1 chains"):
        found = sampled(pressing(cost), jobs=map)
    np.testing.assert_array_equal(found.draws, whole.draws[:1])


def test_without_a_folder_there_is_no_trail(tmp_path):
    log = TrailLog(str(tmp_path / "nowhere"), "run")
    log.save(0, {"draws": np.zeros((100, 2))})
    assert log.left(0) == {}


def test_a_trail_is_written_anew_as_the_chain_grows(tmp_path, monkeypatch):
    written = []
    monkeypatch.setattr("gpnotes.ground.files.write", lambda *said: written.append(said[2]))
    log = TrailLog(str(tmp_path), "run")
    for done in range(100, 10001, 100):
        log.save(0, {"draws": np.zeros((done, 1))})
    rows = np.asarray([parts["draws"].shape[0] for parts in written])
    assert rows[:10].tolist() == list(range(100, 1001, 100))
    assert rows.sum() < 12 * rows[-1]
    assert np.all(rows[1:] <= 1.2 * rows[:-1] + 100)


def test_before_there_is_a_step_an_interrupt_is_raised():
    def pressed(x):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        samplers.sample(pressed, NUTS(), np.zeros(2), rng=1)
    with pytest.raises(KeyboardInterrupt), raised_interrupts():
        sampled(pressing(200))


def test_a_bar_counts_the_steps_of_warm_ups_and_draws(monkeypatch):
    bars = []

    class Bar:
        def __init__(self, total, said, unit):
            self.total, self.done, self.words = total, 0, []
            bars.append(self)

        def update(self, n):
            self.done += n

        def set_postfix_str(self, words):
            self.words.append(words)

        def close(self):
            self.words.append("closed")

    monkeypatch.setattr("gpnotes.samplers.sampling.bar_of", Bar)
    run(draws=20, progress=True)
    run(draws=20, progress=True, jobs=map)
    assert [(bar.total, bar.done) for bar in bars] == [(320, 320), (4, 4)]
    assert bars[0].words == [*(f"chain {i} of 4" for i in range(1, 5)), "closed"]


def test_an_ellipse_goes_on_to_the_same_draws(tmp_path):
    def go(draws, file=None):
        return samplers.sample(
            lambda f: -float(f @ f), EllipticalSlice(np.eye(2)), np.zeros(2), rng=stream(2),
            num_chains=2, num_samples=draws, num_warmup=10, file=file,
        )  # fmt: skip

    go(150, tmp_path / "run.npz")
    np.testing.assert_array_equal(go(300, tmp_path / "run.npz").draws, go(300).draws)


def test_a_file_of_something_else_is_refused(tmp_path):
    file = tmp_path / "run.npz"
    run(file, draws=5)
    with pytest.raises(ValueError, match="file must be of this run"):
        run(file, draws=5, seed=2)
    file.write_bytes(b"nonsense")
    with pytest.raises(ValueError, match="file must be one that a run wrote"):
        run(file, draws=5)
    with pytest.raises(TypeError, match="file must be a path"):
        run(3.0, draws=5)


@pytest.mark.parametrize("part", ["covariance_root", "mean"])
def test_a_file_of_another_prior_is_refused(tmp_path, part):
    """Also where only the last entry differs."""
    prior = {"covariance_root": np.eye(5), "mean": np.zeros(5)}
    other = {name: entries.copy() for name, entries in prior.items()}
    other[part].flat[-1] = 3.0
    walk = {"num_chains": 1, "num_samples": 5, "num_warmup": 0, "file": tmp_path / "run.npz"}
    samplers.sample(lambda f: 0.0, EllipticalSlice(**prior), np.zeros(5), **walk, rng=stream(1))
    with pytest.raises(ValueError, match="file must be of this run"):
        samplers.sample(lambda f: 0.0, EllipticalSlice(**other), np.zeros(5), **walk, rng=stream(1))


@pytest.mark.parametrize("draws", [5, 120])
def test_a_file_of_another_target_is_refused(tmp_path, draws):
    """As when data were changed between two runs of a script; rounding is no change."""

    def go(scale, draws):
        def target(x):
            return -0.5 * scale * float(x @ x), -scale * x

        return samplers.sample(
            target, SHORT, np.ones(2), num_samples=draws, num_warmup=5, num_chains=2,
            file=tmp_path / "run.npz", rng=stream(1),
        ).draws  # fmt: skip

    made = go(1.0, 5)
    np.testing.assert_allclose(go(1.0 + 1e-13, draws)[:, :5], made, rtol=1e-9)
    with pytest.raises(ValueError, match="file must be of this target"):
        go(1.001, draws)


@pytest.mark.parametrize("value", [math.nan, -math.inf, math.inf])
def test_a_start_without_a_density_is_named(value):
    target = lambda x: (value, -x) if x[0] > 2 else skew(x)  # noqa: E731
    said = rf"start\[0\] must have a finite log density; it is {value}"
    with pytest.raises(ValueError, match=said):
        samplers.sample(target, NUTS(), APART, rng=stream(1))


def test_a_start_where_arithmetic_fails_is_named():
    def target(x):
        raise ZeroDivisionError("nothing to divide by")

    with pytest.raises(
        ValueError, match=r"start\[0\] must have a log density; there is nothing to"
    ):
        samplers.sample(target, NUTS(), np.zeros(2), rng=stream(1))


def test_a_start_without_a_gradient_is_named():
    with pytest.raises(ValueError, match="position must have a finite gradient"):
        samplers.sample(lambda x: (0.0, np.full(2, np.nan)), NUTS(), np.ones(2), rng=stream(1))


def test_a_chain_that_never_moves_is_reported():
    """A density of one point: every proposal is refused."""
    start = np.asarray([[0.0], [1.0]])
    target = lambda x: 0.0 if x[0] in (0.0, 1.0) else -math.inf  # noqa: E731
    with pytest.warns(samplers.ChainWarning, match="never moved: chain 0, 1, whose draws"):
        found = samplers.sample(
            target,
            RandomWalkMetropolis(),
            start,
            rng=stream(1),
            num_chains=2,
            num_samples=20,
            num_warmup=5,
        )
    assert found.stuck == (0, 1)
    assert np.all(found.rhat == np.inf)
    assert np.all(found.ess_bulk < 5)
    assert "never moved" in str(found)


def test_paths_that_diverge_are_reported():
    wall = lambda x: skew(x) if x[0] > 0.9 else (-math.inf, -x)  # noqa: E731
    with pytest.warns(samplers.ChainWarning, match="diverged: "):
        samplers.sample(
            wall, NUTS(), np.ones(2), rng=stream(1), num_chains=1, num_samples=50, num_warmup=50
        )


def test_one_chain_is_asked_for_rhat():
    found = samplers.sample(
        skew, NUTS(), np.ones(2), rng=stream(1), num_chains=1, num_samples=50, num_warmup=20
    )
    with pytest.raises(ValueError, match="draws must have at least two chains for R-hat; got 1"):
        _ = found.rhat
    assert "nan" in str(found)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"sampler": 3}, "sampler must be a sampler"),
        ({"sampler": NUTS}, "sampler must be a sampler"),
        ({"target": 3}, "target must be a function"),
        ({"target": lambda x: "high"}, "target must return a number"),
        ({"target": lambda x: 0.0}, "target must return a value and its gradient"),
        ({"target": lambda x: (0.0, np.zeros(3))}, r"must return a gradient of shape \(2,\)"),
        ({"start": [0.0]}, "start must be an array"),
        ({"start": np.zeros((3, 2))}, "start must have shape"),
        ({"start": np.zeros(0)}, "must have at least one entry"),
        ({"mass_matrix": "heavy"}, "mass_matrix must be one of"),
        ({"num_samples": 0}, "num_samples must be a whole number from 1; got 0"),
        ({"num_chains": 0}, "num_chains must be a whole number from 1; got 0"),
        ({"num_warmup": -1}, "num_warmup must be a whole number from 0; got -1"),
        ({"rng": 1.0}, "rng must be a Stream, a NumPy Generator"),
        ({"sampler": SGLD()}, "target must be a gpnotes MinibatchDensity"),
    ],
)
def test_wrong_arguments_are_named(change, said):
    right = {"target": skew, "sampler": NUTS(), "start": np.zeros(2), "rng": stream(1)}
    right |= {"num_chains": 4, "num_warmup": 0, "num_samples": 4}
    with pytest.raises((TypeError, ValueError), match=said):
        samplers.sample(**{**right, **change})


X = np.linspace(0.0, 4.0, 12)[:, None]
Y = np.sin(2.0 * X[:, 0]) + 0.1 * np.cos(9.0 * X[:, 0])
PRIORS = {"kernel.lengthscale": LogNormalPrior(0.0, 0.7), "mean.value": NormalPrior(0.0, 1.0)}
FIXED = ("kernel.variance", "noise_var")


def objective(rows=slice(None)):
    start = GP(RBF(1.0, 0.8), 0.05, ConstantMean(0.0))
    return objective_of(start, X[rows], Y[rows], fixed=FIXED, priors=PRIORS)


@pytest.mark.parametrize("shape", [(1,), (3,), (4, 3)])
def test_a_start_has_an_entry_for_each_hyperparameter(shape):
    with pytest.raises(ValueError, match=r"start must have shape \(2,\)|columns|\(4, 2\)"):
        samplers.sample(objective(), NUTS(), np.zeros(shape), rng=stream(1), num_samples=1)


def test_chains_of_an_objective_start_around_it_each_by_itself():
    """By half a unit, a deviation of y for the mean: within five standard errors of 60 chains."""
    target, many, still = objective(), 60, RandomWalkMetropolis(1e-12)
    found = samplers.sample(
        target, still, num_chains=many, num_samples=1, num_warmup=0, rng=stream(5)
    )
    away = (found.flat - target.vector(target.model)) / (0.5 * target.units)
    assert target.units[1] == pytest.approx(np.std(Y))
    np.testing.assert_allclose(away.mean(axis=0), 0.0, atol=5.0 / math.sqrt(many))
    np.testing.assert_allclose(away.T @ away / many, np.eye(2), atol=5.0 * math.sqrt(2.0 / many))


def test_hyperparameters_are_drawn_from_their_posterior():
    """Beside quadrature, with the density of the lengthscale in its own units.

    As if that were the density of its logarithm, the mean would be 9.3 errors off. Six readings
    leave the lengthscale so open that this takes few draws.
    """
    few = slice(None, None, 2)
    found = samplers.sample(objective(few), NUTS(), rng=stream(3), num_samples=120, num_warmup=50)
    assert found.names == ("log kernel.lengthscale", "mean.value")

    def density(length, level):
        gp = GP(RBF(1.0, length), 0.05, ConstantMean(level))
        prior = stats.lognorm(0.7).pdf(length) * stats.norm.pdf(level)
        return math.exp(log_evidence(gp, X[few], Y[few])) * prior

    lengths, levels = np.geomspace(0.1, 3.0, 24), np.linspace(-4.0, 4.0, 17)
    grid = np.asarray([[density(a, b) for b in levels] for a in lengths])
    by_length = integrate.trapezoid(grid, levels, axis=1)
    total = integrate.trapezoid(by_length, lengths)
    mean = integrate.trapezoid(by_length * np.log(lengths), lengths) / total
    level = integrate.trapezoid(integrate.trapezoid(grid, lengths, axis=0) * levels, levels) / total
    assert found.mean[0] == pytest.approx(mean, abs=4 * found.mcse[0])
    assert found.mean[1] == pytest.approx(level, abs=4 * found.mcse[1])


def test_a_hyperdensity_is_evidence_times_prior_in_the_units_of_its_vector():
    """Of a logarithm: the density of the lengthscale, times the lengthscale."""
    density, values = samplers.HyperparameterDensity(objective()), []
    for length, level in ((1.1, -0.3), (0.6, 0.2)):
        gp = GP(RBF(1.0, length), 0.05, ConstantMean(level))
        prior = stats.lognorm(0.7).logpdf(length) + stats.norm.logpdf(level)
        wanted = log_evidence(gp, X, Y) + prior + math.log(length)
        values.append(density(np.asarray([math.log(length), level]))[0] - wanted)
    assert values[0] == pytest.approx(values[1], abs=1e-9), "up to a constant"


def test_the_gradient_of_a_hyperdensity_is_that_of_its_value():
    density = samplers.HyperparameterDensity(objective())
    at, h = np.asarray([0.1, -0.3]), 1e-6
    slope = [(density(at + h * e)[0] - density(at - h * e)[0]) / (2 * h) for e in np.eye(2)]
    np.testing.assert_allclose(density(at)[1], slope, rtol=1e-6)


def test_bounds_are_walls():
    bounded = objective_of(
        GP(RBF(1.0, 0.8), 0.05), Rows(X, Y), fixed=FIXED,
        priors={"kernel.lengthscale": LogNormalPrior(0.0, 0.7)},
        bounds={"kernel.lengthscale": (0.7, 0.9)},
    )  # fmt: skip
    found = samplers.sample(
        bounded, RandomWalkMetropolis(), rng=stream(3), num_samples=300, num_warmup=50
    )
    assert found.acceptance.min() == 0.0, "some proposals were beyond them"
    assert np.all((np.exp(found.flat) >= 0.7) & (np.exp(found.flat) <= 0.9))


def test_averaged_predictions_are_those_of_a_mixture():
    vectors = np.asarray([[-0.5, 0.1], [0.2, -0.4], [0.0, 0.0]])
    Xs = np.asarray([[0.3], [5.0]])
    mean, variance = samplers.average_predictions(objective(), vectors, Xs, noise=True)
    pairs = [
        condition(GP(RBF(1.0, math.exp(a)), 0.05, ConstantMean(b)), X, Y).predict(Xs, noise=True)
        for a, b in vectors
    ]
    means, variances = (np.asarray([pair[k] for pair in pairs]) for k in (0, 1))
    np.testing.assert_allclose(mean, means.mean(0))
    np.testing.assert_allclose(variance, variances.mean(0) + means.var(0))


def test_averaged_predictions_know_the_columns_of_the_data():
    frame = pd.DataFrame(
        {"a": X[:, 0], "b": np.cos(X[:, 0]), "error": np.linspace(0.1, 1.0, len(X))}
    )
    start = GP(RBF(1.0, 0.8), 0.05, ConstantMean(0.0))
    target = objective_of(start, frame, Y, fixed=FIXED, priors=PRIORS, noise_var="error")
    vectors = np.asarray([[-0.5, 0.1], [0.2, -0.4]])
    turned = frame[["error", "b", "a"]]
    found = samplers.average_predictions(target, vectors, turned, noise=True)
    arrays = frame[["a", "b"]].to_numpy()
    of_f = samplers.average_predictions(target, vectors, arrays)
    np.testing.assert_allclose(found[0], of_f[0])
    np.testing.assert_allclose(found[1], of_f[1] + 0.05 + frame["error"])
    given = samplers.average_predictions(
        target, vectors, arrays, noise=True, noise_var=frame["error"]
    )
    np.testing.assert_allclose(given, found)
    with pytest.raises(ValueError, match="noise_var must be given"):
        samplers.average_predictions(target, vectors, arrays, noise=True)


def test_every_free_parameter_needs_a_prior():
    free = objective_of(
        GP(RBF(1.0, 0.8), 0.05), Rows(X, Y), priors={"kernel.lengthscale": LogNormalPrior()}
    )
    with pytest.raises(ValueError, match=r"none is on \['kernel.variance', 'noise_var'\]"):
        samplers.sample(free, NUTS(), rng=stream(1))
    moving = objective_of(sparse.SparseGP(GP(RBF(), 0.1), X[:3]), Rows(X, Y), fixed=("gp",))
    with pytest.raises(ValueError, match="objective must hold its inducing inputs"):
        samplers.sample(moving, NUTS(), rng=stream(1))
    nothing = objective_of(GP(RBF(), 0.1), Rows(X, Y), fixed=("kernel", "noise_var"))
    with pytest.raises(ValueError, match="objective must have a free parameter"):
        samplers.sample(nothing, NUTS(), rng=stream(1))
    with pytest.raises(TypeError, match="sampler must move by a log posterior"):
        samplers.sample(objective(), EllipticalSlice(np.eye(2)), rng=stream(1))


DATA = 4  # readings of a location, in a draw for calibration


def posterior(y):
    """Locations of Laplace-distributed readings (DATA, k) under a normal prior, and the gradient.

    They are independent of one another.
    """

    def likelihood(x, rows):
        gaps = y[rows] - x
        far = np.sqrt(1.0 + gaps**2)
        return -float(far.sum()), (gaps / far).sum(axis=0)

    return samplers.MinibatchDensity(
        lambda x: (-0.5 * float(x @ x), -x), likelihood, np.arange(DATA)
    )


CALIBRATED = {
    "random walk": (RandomWalkMetropolis(1.5), 12), "MALA": (samplers.MALA(0.35), 6),
    "HMC": (HMC(0.5, 3), 2), "NUTS": (NUTS(0.6), 2),
    "ellipse": (EllipticalSlice(np.eye(1)), 5), "ULA": (ULA(0.05), 20),
    "SGLD": (SGLD(0.05, batch=4, decay=0.0), 20),
}  # fmt: skip
HYPERBOLIC = stats.genhyperbolic(p=1.0, a=1.0, b=0.0)  # of density ∝ exp(−√(1 + y²))


def ranks(sampler, thin, seed, count=220, kept=7):
    """The ranks of truths from the prior among draws of their posteriors, each in its own chain.

    Chains whose every step is taken do not hinder one another: there one has them all.
    """
    draw, rng = stream(seed), np.random.default_rng(seed)
    truths = rng.standard_normal(count)
    readings = HYPERBOLIC.rvs(size=(DATA, count), random_state=rng) + truths
    together = isinstance(sampler, ULA | SGLD)
    return np.concatenate([
        ranks_of_chain(sampler, thin, truths[part], readings[:, part], draw, rng, kept)
        for part in np.split(np.arange(count), 1 if together else count)
    ])  # fmt: skip


def ranks_of_chain(sampler, thin, truths, readings, draw, rng, kept):
    """The ranks of the entries of a chain that starts from the truths."""
    target = posterior(readings)
    if isinstance(sampler, EllipticalSlice):
        target = lambda x: -float(np.sum(np.sqrt(1.0 + (readings - x) ** 2)))  # noqa: E731
    state, found = sampler.init(target, truths), np.zeros(truths.size, dtype=int)
    middle = rng.integers(kept + 1, size=truths.size)
    # the truth is one of the draws: the chain runs from it both ways, being reversible
    for many in (middle, kept - middle):
        here = state
        for number in range(many.max()):
            for _ in range(thin):
                here = sampler.step(target, here, draw).state
            found += (here.position < truths) & (number < many)
    return found


def uniform(counts):
    return stats.chisquare(counts).pvalue


@pytest.mark.parametrize("name", CALIBRATED)
def test_ranks_are_uniform(name):
    """Simulation-based calibration, from the truth both ways: exact for every exact sampler."""
    found = ranks(*CALIBRATED[name], seed=4)
    assert uniform(np.bincount(found, minlength=8)) > 1e-3


def test_ranks_show_a_step_that_is_too_long():
    found = ranks(ULA(1.5), 4, seed=3)
    assert uniform(np.bincount(found, minlength=8)) < 1e-3


def test_a_sampler_in_float32_stays_in_it():
    target = lambda x: (-0.5 * float(x @ x), -x)  # noqa: E731
    found = samplers.sample(
        target, NUTS(), np.zeros(2, dtype=np.float32), rng=stream(1), num_samples=50, num_warmup=50
    )
    assert found.samplers[0].inverse_mass_root.dtype == np.float32
    np.testing.assert_array_equal(found.draws, found.draws.astype(np.float32))


def test_the_same_stream_gives_the_same_draws():
    np.testing.assert_array_equal(run(draws=20).draws, run(draws=20).draws)
    assert replace(NUTS(), step_size=0.3).step_size == 0.3


@pytest.mark.parametrize("sampler", [NUTS(), RandomWalkMetropolis()])
def test_a_single_draw_of_a_single_chain_is_one(sampler):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = samplers.sample(
            lambda x: (-0.5 * float(x @ x), -x), sampler, np.zeros(2), num_samples=1,
            num_chains=1, num_warmup=0, rng=stream(1),
        )  # fmt: skip
    assert found.draws.shape == (1, 1, 2)


@pytest.mark.parametrize("end", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("entry", [0, 1])
def test_a_gradient_that_is_not_finite_in_one_entry_is_a_wall(end, entry):
    slope = np.asarray([2.0, 3.0])
    value, gradient = log_density_and_gradient(lambda x: (1.5, slope), np.zeros(2))
    assert value == 1.5
    np.testing.assert_array_equal(gradient, slope)
    wrong = slope.copy()
    wrong[entry] = end
    value, gradient = log_density_and_gradient(lambda x: (1.5, wrong), np.zeros(2))
    assert value == -math.inf
    np.testing.assert_array_equal(gradient, 0.0)


def test_chains_of_a_file_that_says_nothing_of_a_warm_up_are_past_it():
    """As files from before a warm-up could be kept."""
    assert not _is_warming_up({"draws": np.zeros((3, 1))})
    assert _is_warming_up({"warming_up": np.asarray(True)})
