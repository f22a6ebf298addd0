"""Several points at once: what is believed of them, and what comes back in any order."""

from __future__ import annotations

import numpy as np
import pytest
from fixed_models import quick

from gpnotes import GP, RBF, ConstantMean, Matern52, condition, stream, to_numpy
from gpnotes.decide.bayesopt import (
    BatchExpectedImprovement,
    LogExpectedImprovement,
    NoisyExpectedImprovement,
    Optimiser,
    ThompsonSampling,
    UpperConfidenceBound,
    fantasise,
    maximise_acquisition,
)
from gpnotes.decide.bayesopt.pending_points import (
    Aims,
    choose_batch,
    fantasise_failures,
    with_failures,
)

PLANE = [(-1.0, 2.0), (0.0, 3.0)]


def bowl(x):
    return float(np.sum((x - 0.4) ** 2))


def noisy(X, y, *, rng):
    """The same, that takes a part of the values for noise."""
    return condition(GP(RBF(1.0, 0.3), 0.05), X, y)


def optimiser(told=7, **options):
    """One that has been told so many points of those it asked for."""
    made = Optimiser(PLANE, rng=stream(3), **{"model": quick, "num_initial": 5, **options})
    while made.count < told:
        x = made.ask()
        made.tell(x, bowl(x))
    return made


def apart(batch):
    """The least distance between two points of it, by their largest coordinate."""
    gaps = np.abs(batch[:, None, :] - batch[None, :, :]).max(axis=2)
    return np.min(gaps[np.triu_indices(len(batch), 1)])


# -- what is believed -------------------------------------------------------------------------


def test_the_mean_stays_and_the_variance_is_that_after_any_readings(space, rng):
    X, x, Xs = (rng.uniform(-1.0, 1.0, (n, 2)) for n in (6, 3, 8))
    gp = GP(Matern52(1.2, 0.7), 0.05, ConstantMean(0.4))
    posterior = condition(gp, space.asarray(X), space.asarray(np.sin(3.0 * X[:, 0])))
    believed = fantasise(posterior, space.asarray(x))
    before, after = (p.predict(space.asarray(Xs)) for p in (posterior, believed))
    close = {"rtol": 1e-9, "atol": 1e-10} if space.double else {"rtol": 1e-3, "atol": 1e-4}
    np.testing.assert_allclose(to_numpy(after[0]), to_numpy(before[0]), **close)
    others = posterior.extend(space.asarray(x), space.asarray(rng.standard_normal(3)))
    np.testing.assert_allclose(
        to_numpy(after[1]), to_numpy(others.variance(space.asarray(Xs))), **close
    )
    assert np.all(to_numpy(after[1]) < to_numpy(before[1]))
    assert space.holds(after[0])


def test_a_batch_is_what_maximise_finds_under_one_belief_after_the_other():
    """By hand: the model of the loop, its own mean told at each point before the next is chosen."""
    made = optimiser()
    batch = made.ask_batch(3)
    lower, width = np.asarray([-1.0, 0.0]), 3.0
    X = (np.stack([e.x for e in made.evaluations]) - lower) / width
    y = -np.asarray([e.y for e in made.evaluations])
    y = (y - y.mean()) / y.std()
    for number in range(3):
        posterior = quick(X, y, rng=None)
        acquisition = LogExpectedImprovement(float(np.max(posterior.mean(X))))
        own = stream(3).spawn("climb 7")
        own = own.spawn(str(number)) if number else own
        unit = maximise_acquisition(posterior, acquisition, [(0.0, 1.0)] * 2, rng=own).x
        np.testing.assert_allclose(lower + width * unit, batch[number], atol=2e-3)
        y = np.append(y, posterior.mean(unit[None, :]))
        X = np.vstack([X, unit])


@pytest.mark.parametrize("pending", [False, True])
def test_the_best_may_be_one_that_is_only_believed(pending):
    """The top of the mean is asked for first, and is what the next one must improve upon."""
    bests = []

    def top(best):
        bests.append(best)
        return UpperConfidenceBound(0.0)

    made = optimiser(acquisition=top)
    bests.clear()
    if pending:
        made.ask_batch(1, made.ask_batch(1))
    else:
        made.ask_batch(2)
    assert len(bests) == 2
    assert bests[1] > bests[0] + 1e-3


@pytest.mark.parametrize("good", ["all", "some"])
def test_the_best_is_the_highest_mean_where_evaluations_count(rng, good):
    """Not the highest reading, which noise has made, nor the mean where none counts."""
    X = rng.random((8, 2))
    posterior = condition(GP(RBF(1.0, 0.4), 0.5), X, np.sin(5.0 * X[:, 0]) + rng.normal(size=8))
    low = X[np.argsort(posterior.mean(X))[:4]]
    bests = []

    def bound(best):
        bests.append(best)
        return UpperConfidenceBound(4.0)

    aims = Aims(good=low if good == "some" else None)
    points = np.stack(choose_batch(posterior, bound, X, [], 3, stream(1), aims))
    counted = [low] * 3 if good == "some" else [np.vstack([X, points[:k]]) for k in range(3)]
    np.testing.assert_allclose(bests, [posterior.mean(places).max() for places in counted])


RULES = {
    "improvement": LogExpectedImprovement,
    "bound": lambda best: UpperConfidenceBound(4.0),
    "joint improvement": BatchExpectedImprovement(64),
    "noisy improvement": NoisyExpectedImprovement(),
    "paths": ThompsonSampling(64),
}


@pytest.mark.parametrize("under_way", [0, 1, 2])
@pytest.mark.parametrize("name", RULES)
def test_each_point_of_a_batch_counts_all_that_are_chosen_or_under_way(name, under_way):
    """Without noise nothing is left to gain where a point of them is: those of four lie apart.

    Nothing else keeps them apart here, as no finder of other points is given.
    """
    X = np.random.default_rng(4).random((5, 2))
    posterior = condition(GP(RBF(1.0, 0.3), 1e-8), X, np.sin(5.0 * X[:, 0]) * np.cos(4.0 * X[:, 1]))
    points = []
    for count in (under_way, 4 - under_way):
        own = stream(2).spawn(str(count))
        points += choose_batch(posterior, RULES[name], X, points[:], count, own, Aims())
    assert apart(np.stack([*X, *points])) > 0.02


class Odds:
    """Logarithms of odds that are next to nothing but near one place."""

    place = np.asarray([0.7, 0.2])

    def values(self, Xs):
        return -1e4 * np.sum((Xs - self.place) ** 2, axis=1)

    def values_and_gradient(self, Xs):
        return self.values(Xs), -2e4 * (Xs - self.place)


@pytest.mark.parametrize("good", ["all", "some", "none"])
@pytest.mark.parametrize("name", [name for name in RULES if "improvement" in name])
def test_each_point_of_a_batch_is_weighed_by_its_odds(name, good):
    """Also where not all evaluations count, or none: all points are where the odds are."""
    X = np.random.default_rng(4).random((5, 2))
    posterior = condition(GP(RBF(1.0, 0.3), 0.05), X, np.sin(5.0 * X[:, 0]))
    aims = Aims(odds=(Odds(),), good={"all": None, "some": X[:2], "none": X[:0]}[good])
    points = choose_batch(posterior, RULES[name], X, [X[0]], 3, stream(2), aims)
    np.testing.assert_allclose(points, np.tile(Odds.place, (3, 1)), rtol=0.0, atol=0.05)


# -- what is asked for ------------------------------------------------------------------------


@pytest.mark.parametrize("told", [0, 3, 5, 7])
@pytest.mark.parametrize(
    "acquisition", [None, lambda best: UpperConfidenceBound(4.0), ThompsonSampling(32)],
    ids=["improvement", "bound", "thompson"],
)  # fmt: skip
def test_a_batch_of_one_is_what_ask_gives_and_a_larger_one_goes_on_from_it(told, acquisition):
    whole = optimiser(told, acquisition=acquisition).ask_batch(4)
    assert whole.shape == (4, 2)
    made = optimiser(told, acquisition=acquisition)
    np.testing.assert_array_equal(made.ask_batch(1), whole[:1])
    np.testing.assert_array_equal(made.ask(), whole[0])
    np.testing.assert_array_equal(made.ask_batch(3), whole[:3])
    np.testing.assert_array_equal(made.ask_batch(4), whole)
    np.testing.assert_array_equal(made.ask_batch(2), whole[:2])
    assert apart(whole) > 1e-3


def test_without_belief_the_points_would_be_one_and_the_same():
    """A bound that takes the mean as it is asks for its top again: variance is worth nothing."""
    made = optimiser(acquisition=lambda best: UpperConfidenceBound(0.0), model=noisy)
    assert apart(made.ask_batch(3)) < 1e-3
    other = optimiser(acquisition=lambda best: UpperConfidenceBound(9.0))
    assert apart(other.ask_batch(3)) > 0.05


def test_what_is_returned_can_be_changed_without_harm():
    made = optimiser()
    batch = made.ask_batch(2)
    kept = batch.copy()
    batch[:] = 9.0
    np.testing.assert_array_equal(made.ask_batch(2), kept)


def test_the_model_is_fitted_once_for_a_batch():
    calls = []

    def model(X, y, *, rng):
        calls.append(len(X))
        return quick(X, y, rng=rng)

    made = optimiser(model=model)
    calls.clear()
    made.ask_batch(4)
    made.ask_batch(2)
    made.ask()
    assert calls == [7]


def test_a_batch_before_the_initial_points_are_told_is_of_the_sequence():
    whole = [optimiser(0, num_initial=9).ask_batch(9)[n] for n in range(9)]
    made = optimiser(2, num_initial=9)
    np.testing.assert_array_equal(made.ask_batch(4), whole[2:6])
    one_by_one = optimiser(9, num_initial=9)
    np.testing.assert_array_equal([e.x for e in one_by_one.evaluations], whole)


# -- what comes back --------------------------------------------------------------------------


def test_points_may_be_told_in_any_order():
    """What is asked next is the same, up to what the order of rows does to rounding."""
    found = []
    for order in [(0, 1, 2), (2, 0, 1), (1, 2, 0)]:
        made = optimiser()
        batch = made.ask_batch(3)
        for number in order:
            made.tell(batch[number], bowl(batch[number]))
        found.append(made.ask_batch(2))
    for other in found[1:]:
        np.testing.assert_allclose(other, found[0], atol=2e-3)


def test_no_point_of_the_sequence_is_asked_for_twice():
    """The last of a batch comes back first: the next ones are others."""
    made = optimiser(0, num_initial=9)
    batch = made.ask_batch(3)
    made.tell(batch[2], bowl(batch[2]))
    again = made.ask_batch(4)
    assert apart(np.vstack([batch[2:], again])) > 1e-3


@pytest.mark.parametrize("told", [2, 7])
def test_what_is_under_way_is_not_asked_for_again(told):
    """TrainingData one of four: the three others are pending, and a fifth is asked for."""
    made = optimiser(told)
    batch = made.ask_batch(4)
    made.tell(batch[1], bowl(batch[1]))
    pending = batch[[0, 2, 3]]
    further = made.ask_batch(2, pending)
    assert apart(np.vstack([batch, further])) > 1e-3
    np.testing.assert_array_equal(made.ask_batch(1, pending), further[:1])
    np.testing.assert_array_equal(made.ask_batch(2, pending[:0]), made.ask_batch(2))


def test_pending_points_are_what_a_batch_would_go_on_from():
    made = optimiser()
    batch = made.ask_batch(4)
    np.testing.assert_allclose(made.ask_batch(2, batch[:2]), batch[2:], atol=2e-3)


@pytest.mark.parametrize("on_failure", ["record", "skip"])
@pytest.mark.parametrize("failed", [0, 2])
def test_points_of_a_batch_may_fail(on_failure, failed):
    made = optimiser(on_failure=on_failure)
    batch = made.ask_batch(3)
    for number, x in enumerate(batch):
        made.tell(x, np.nan if number == failed else bowl(x))
    assert made.count == 10
    assert [e.failure for e in made.evaluations[7:]].count(on_failure) == 1
    assert apart(np.vstack([batch, made.ask_batch(3)])) > 1e-4


def test_a_point_that_was_skipped_is_not_asked_for_again():
    """One by one as well: a corner that fails is tried once."""
    made = optimiser(12, on_failure="skip", acquisition=lambda best: UpperConfidenceBound(9.0))
    x = made.ask()
    made.fail(x, "no value")
    for _ in range(4):
        further = made.ask()
        assert np.max(np.abs(further - x)) > 1e-3
        made.tell(further, bowl(further))


def test_a_point_that_stops_the_loop_leaves_the_others():
    made = optimiser(on_failure="stop")
    batch = made.ask_batch(3)
    made.tell(batch[0], bowl(batch[0]))
    with pytest.raises(ValueError, match="y must be finite"):
        made.tell(batch[1], np.inf)
    made.tell(batch[2], bowl(batch[2]))
    assert made.count == 9
    assert made.ask_batch(2).shape == (2, 2)


@pytest.mark.parametrize("acquisition", [None, ThompsonSampling(32)])
def test_a_loop_of_batches_goes_on_from_its_file(tmp_path, acquisition):
    """Killed after any number of the points of a batch: made anew, it asks as one that lived on.

    One that lived on and was told as much; what was under way is asked for anew.
    """
    path = tmp_path / "history.jsonl"
    made = optimiser(5, acquisition=acquisition, path=path)
    for _ in range(2):
        for x in made.ask_batch(3):
            made.tell(x, bowl(x))
            again = Optimiser(
                PLANE, path=path, model=quick, num_initial=5, acquisition=acquisition, rng=stream(3)
            )
            np.testing.assert_array_equal(again.ask_batch(3), made.ask_batch(3))


def test_batches_find_the_least():
    """Five rounds of four after the first."""
    made = Optimiser(PLANE, model=quick, num_initial=4, rng=stream(1))
    for _ in range(6):
        for x in made.ask_batch(4):
            made.tell(x, bowl(x))
    assert made.best.y < 0.01


def test_what_is_no_batch_is_refused():
    made = optimiser()
    with pytest.raises(ValueError, match="q must be a whole number from 1; got 0"):
        made.ask_batch(0)
    with pytest.raises(ValueError, match=r"pending must lie in the box; got \[5\.0, 1\.0\]"):
        made.ask_batch(1, np.asarray([[0.0, 1.0], [5.0, 1.0]]))
    with pytest.raises(ValueError, match=r"pending must have shape \(n, 2\); got \(2,\)"):
        made.ask_batch(1, np.asarray([0.0, 1.0]))


def test_what_failed_is_believed_to_be_no_better_than_the_best_that_was_seen(rng):
    seen, failed = rng.random((5, 2)), rng.random((2, 2))
    y, rows = np.asarray([0.0, 1.0, 0.3, -1.0, 0.5]), np.concatenate([seen, failed[:1]])
    for value, is_high in ((7.0, True), (-7.0, False)):  # what the model expects where it failed
        model = quick(rows, np.append(y, value), rng=None)
        after = fantasise_failures(model, seen, failed[:1])
        wanted = model.mean(seen).max() if is_high else model.mean(failed[:1])[0]
        assert after.y[-1] == pytest.approx(wanted)
        assert (wanted < model.mean(failed[:1])[0] - 1.0) == is_high
    posterior = quick(seen, y, rng=None)
    both = with_failures(posterior, seen, failed, ["skip", "model"])
    skipped = fantasise(posterior, failed[:1])
    np.testing.assert_allclose(both.y, fantasise_failures(skipped, seen, failed[1:]).y)
    assert both.y[5] == pytest.approx(posterior.mean(failed[:1])[0])
    assert with_failures(posterior, seen, failed, ["record", "record"]) is posterior


def test_a_joint_batch_goes_on_where_nothing_is_feasible_yet_and_its_first_is_the_closed_form():
    joint = BatchExpectedImprovement(32)
    made = optimiser(acquisition=joint)
    batch = made.ask_batch(2)
    alone = optimiser().ask()
    np.testing.assert_allclose(batch[0], alone, atol=1e-3)
    np.testing.assert_array_equal(made.ask_batch(1)[0], batch[0])
    assert apart(batch) > 1e-3


def test_the_second_of_a_joint_batch_adds_most_to_the_first():
    """Against the mean of the better of two over draws of the whole line, for each second place."""
    shared = GP(RBF(1.0, 0.15), 1e-4)
    X, y = np.asarray([[0.45], [0.0], [1.0]]), np.asarray([0.09, 0.0, 0.2])
    search = Optimiser(
        [(0.0, 1.0)],
        model=lambda X, y, *, rng: condition(shared, X, y),
        num_initial=2,
        acquisition=BatchExpectedImprovement(256),
        rng=stream(3),
    )
    for x, value in zip(X, y, strict=True):
        search.tell(x, value)
    first, second = search.ask_batch(2)[:, 0]
    grid = np.concatenate([[first], np.linspace(0.0, 1.0, 101)])[:, None]
    draws = condition(shared, X, y).sample(grid, 4000, rng=stream(1))
    least = condition(shared, X, y).mean(X).min()
    better = np.maximum(least - np.minimum(draws[:, :1], draws[:, 1:]), 0.0).mean(axis=0)
    assert np.interp(second, grid[1:, 0], better) > 0.98 * better.max()
