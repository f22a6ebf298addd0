"""Named inputs: there and back through the unit cube, and a search that sees what they are."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from fixed_models import quick

from gpnotes import GP, RBF, condition, stream
from gpnotes.decide.bayesopt import (
    Categorical,
    Fixed,
    Integer,
    Optimiser,
    Real,
    Space,
    ThompsonSampling,
    maximise,
    minimise,
)

SPACE = Space(
    {
        "rate": Real(1e-5, 1.0, log=True),
        "share": Real(-2.0, 3.0),
        "depth": Integer(1, 12),
        "width": Integer(1, 4096, log=True),
        "rule": Categorical(["relu", "tanh", "sine"]),
        "centred": Categorical([False, True]),
        "rounds": Fixed(100),
    }
)


def units(rng, n):
    return rng.random((n, SPACE.columns))


# -- there and back ---------------------------------------------------------------------------


def test_settings_come_back_from_the_cube(rng):
    """Whole numbers and categories as they were, reals up to rounding, on 500 points."""
    points = SPACE.from_units(units(rng, 500))
    back = SPACE.from_units(SPACE.to_units(points))
    for here, there in zip(points, back, strict=True):
        assert here["rate"] == pytest.approx(there["rate"], rel=1e-14)
        assert here["share"] == pytest.approx(there["share"], abs=1e-14)
        discrete = ("depth", "width", "rule", "centred", "rounds")
        assert [here[name] for name in discrete] == [there[name] for name in discrete]


@pytest.mark.parametrize(
    "dimension",
    [
        Integer(-3, 9),
        Integer(1, 5000, log=True),
        Integer(2**39, 2**39 + 7),
        Categorical(list("abcd")),
    ],
    ids=repr,
)
def test_every_setting_comes_back(dimension):
    space = Space({"one": dimension})
    points = space.from_units(space.settings())
    assert len({point["one"] for point in points}) == dimension.count
    np.testing.assert_array_equal(space.to_units(points), space.settings())
    np.testing.assert_array_equal(space.snapped(space.settings()), space.settings())


def test_a_whole_number_of_many_values_is_not_listed():
    """A list of 2³⁶ numbers has no room in memory."""
    space = Space({"one": Integer(-(2**35), 2**35), "two": Categorical(["a", "b"])})
    assert space.count == 2 * (2**36 + 1)
    optimiser = Optimiser(space, num_initial=2, rng=1)
    for _ in range(3):
        point = optimiser.ask()
        optimiser.tell(point, abs(point["one"]))
    assert optimiser.best.y < 2**34


def test_the_ends_of_the_cube_are_the_ends(rng):
    """To the last bit, where exponentials of logarithms would miss, in 20 spaces."""
    for lower, width in rng.random((20, 2)) + 1e-3:
        upper = lower + width
        space = Space({"rate": Real(lower, upper, log=True), "share": Real(lower, upper)})
        ends = space.from_units(np.asarray([[0.0, 0.0], [1.0, 1.0]]))
        assert ends == [{"rate": end, "share": end} for end in (lower, upper)]
        np.testing.assert_array_equal(space.to_units(ends), [[0.0, 0.0], [1.0, 1.0]])


def test_dimensions_are_the_same_after_use():
    """To a hash of all that they hold, by which scikit-learn looks for changes."""
    before = {name: dict(vars(one)) for name, one in SPACE.dimensions.items()}
    SPACE.to_units(SPACE.from_units(np.full((1, SPACE.columns), 0.3)))
    assert {name: vars(one) for name, one in SPACE.dimensions.items()} == before


def test_settings_are_pythons_own(rng):
    kinds = {"rate": float, "depth": int, "width": int, "rule": str, "centred": bool, "rounds": int}
    for point in SPACE.from_units(units(rng, 5)):
        assert {name: type(point[name]) for name in kinds} == kinds
        assert json.loads(json.dumps(point)) == point


def test_uniform_points_are_even_on_the_scale_that_was_asked_for(rng):
    """5000 points: each decade of the rate, each depth and each rule as often as the others."""
    points = SPACE.from_units(units(rng, 5000))
    decades = np.bincount([math.floor(math.log10(p["rate"])) + 5 for p in points])
    depths = np.bincount([p["depth"] for p in points])[1:]
    rules = [sum(p["rule"] == rule for p in points) for rule in ("relu", "tanh", "sine")]
    for counts in (decades, depths, rules):
        even = 5000 / len(counts)
        assert np.all(np.abs(np.asarray(counts) - even) < 5.0 * math.sqrt(even))


# -- the search -------------------------------------------------------------------------------


def loss(point):
    """Least at a rate of 0.003 and a decay of 1e-4, and where the depth is 5."""
    rate, decay = math.log10(point["rate"] / 3e-3), math.log10(point["decay"] / 1e-4)
    return rate**2 + 0.3 * decay**2 + 0.05 * (point["depth"] - 5) ** 2


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1])
def test_logarithms_are_what_makes_a_rate_a_depth_and_a_decay_findable(seed, rng):
    """Twenty evaluations: without them it is worse than chance that has them."""
    kinds = {"rate": (1e-5, 1.0), "decay": (1e-7, 1e-1)}
    depth = {"depth": Integer(1, 12)}
    space = Space({name: Real(*ends, log=True) for name, ends in kinds.items()} | depth)
    plain = Space({name: Real(*ends) for name, ends in kinds.items()} | depth)
    chance = min(map(loss, space.from_units(rng.random((20, 3)))))
    assert minimise(loss, space, 20, callback=lambda e: e.y < 0.01, rng=seed).best.y < 0.01
    assert 0.01 < chance < minimise(loss, plain, 20, rng=seed).best.y


def test_the_objective_is_given_names_and_the_result_has_them(tmp_path):
    path = tmp_path / "history.jsonl"
    seen = []

    def objective(point):
        seen.append(dict(point))
        point.clear()  # it is the objective's own
        return seen[-1]["depth"] + (seen[-1]["rule"] != "sine")

    outcome = minimise(objective, SPACE, 24, model=quick, path=path, rng=1)
    assert all(tuple(point) == SPACE.names and point["rounds"] == 100 for point in seen)
    assert [evaluation.x for evaluation in outcome.evaluations] == seen
    assert outcome.best.y == outcome.best.x["depth"] + (outcome.best.x["rule"] != "sine")
    assert [json.loads(line)["x"] for line in path.read_text().splitlines()[1:]] == seen
    again = minimise(objective, SPACE, 24, model=quick, path=path, rng=1)
    assert [evaluation.x for evaluation in again.evaluations] == seen
    with pytest.raises(ValueError, match=r"path: .* must hold the history"):
        Optimiser(Space({"depth": Integer(1, 12)}), path=path, rng=1)


def test_a_loop_goes_on_to_the_same_settings(tmp_path):
    def objective(point):
        return math.log(point["rate"]) ** 2 + point["depth"]

    whole = minimise(objective, SPACE, 15, model=quick, num_initial=6, rng=4)
    path = tmp_path / "history.jsonl"
    for budget in (3, 9, 15):
        parts = minimise(objective, SPACE, budget, model=quick, num_initial=6, path=path, rng=4)
    assert [e.x for e in parts.evaluations] == [e.x for e in whole.evaluations]


@pytest.mark.parametrize("acquisition", [None, ThompsonSampling()], ids=["improvement", "draws"])
def test_no_setting_is_read_twice_while_another_is_left(acquisition):
    """Of all 24, in 24 evaluations of an objective with noise; then they come again."""
    space = Space({"depth": Integer(1, 8), "rule": Categorical(["relu", "tanh", "sine"])})
    noise = stream(2)

    def objective(point):
        return (point["depth"] - 3) ** 2 + float(noise.normal())

    options = {"acquisition": acquisition, "model": quick}
    outcome = minimise(objective, space, 26, rng=1, **options)
    settings = [tuple(evaluation.x.values()) for evaluation in outcome.evaluations]
    assert len(set(settings[:24])) == 24
    assert len(set(settings)) == 24


def test_the_best_of_many_settings_is_found_by_steps():
    """Eight whole numbers from 0 to 30: of 8.5e11 settings the best, or one beside it."""
    space = Space({f"n{i}": Integer(0, 30) for i in range(8)})

    def objective(point):
        return sum((value - 7 - i) ** 2 for i, value in enumerate(point.values()))

    outcome = minimise(objective, space, 38, model=bowl_model, rng=3)
    assert outcome.best.y <= 8


def bowl_model(X, y, *, rng):
    """A model with lengths of several boxes, which knows a bowl from few readings."""
    return condition(GP(RBF(100.0, 3.0), 1e-6), X, y)


def test_a_batch_has_settings_of_its_own_each(rng):
    few = Space({"depth": Integer(1, 6), "rule": Categorical(["relu", "tanh", "sine"])})
    assert len({tuple(point.values()) for point in Optimiser(few, rng=1).ask_batch(18)}) == 18
    optimiser = Optimiser(SPACE, model=quick, num_initial=4, rng=1)
    for point in optimiser.ask_batch(4):
        optimiser.tell(point, point["rate"])
    batch = optimiser.ask_batch(3)
    assert len({tuple(point.values()) for point in batch}) == 3
    further = optimiser.ask_batch(2, pending=batch)
    assert not [point for point in further if point in batch]


def test_true_and_one_are_two_settings():
    space = Space({"of": Categorical([0, False, 1, True])})
    batch = Optimiser(space, rng=1).ask_batch(4)
    assert len({(type(point["of"]), point["of"]) for point in batch}) == 4


def test_the_largest_is_found_of_a_space_of_reals():
    space = Space({"a": Real(-1.0, 2.0), "b": Real(0.0, 3.0)})
    found = maximise(lambda p: -((p["a"] - 0.4) ** 2 + (p["b"] - 0.4) ** 2), space, 14, rng=2)
    box = maximise(lambda x: -float(np.sum((x - 0.4) ** 2)), [(-1.0, 2.0), (0.0, 3.0)], 14, rng=2)
    assert found.best.y > -0.01
    assert found.best.y == pytest.approx(box.best.y, abs=1e-6)


# -- the door ---------------------------------------------------------------------------------

WRONG = [
    (lambda: Real(1.0, 1.0), ValueError, "lower must be below upper"),
    (lambda: Real(0.0, 1.0, log=True), ValueError, "lower must be positive with log=True; got 0"),
    (lambda: Real("0", 1.0), TypeError, "lower must be a number; got str"),
    (lambda: Real(0.0, math.inf), ValueError, "upper must be finite"),
    (lambda: Real(1.0, 1.0 + 1e-15), ValueError, "100 floats apart; got .* `Fixed` holds one"),
    (lambda: Integer(1, 1), ValueError, "above lower; got 1 twice: `Fixed` holds"),
    (lambda: Integer(2, 1), ValueError, "upper must be a whole number from 3"),
    (lambda: Integer(0, 4, log=True), ValueError, "lower must be a whole number from 1"),
    (lambda: Integer(1, 4.0), TypeError, "upper must be a whole number"),
    (lambda: Integer(0, 2**50), ValueError, "upper must be a whole number from 1 to"),
    (lambda: Categorical(["a"]), ValueError, r"at least two, each once \(`Fixed` holds one\)"),
    (lambda: Categorical(["a", "a"]), ValueError, "choices must hold at least two, each once"),
    (lambda: Categorical("ab"), TypeError, "choices must be a sequence; got str"),
    (lambda: Categorical([RBF(), RBF()]), TypeError, "choices must be made of strings"),
    (lambda: Fixed([1]), TypeError, "value must be made of strings"),
    (lambda: Space([("a", Real(0.0, 1.0))]), TypeError, "dimensions must be a mapping"),
    (lambda: Space({"a": (0.0, 1.0)}), TypeError, r"dimensions\['a'\] must be a Real"),
    (lambda: Space({1: Real(0.0, 1.0)}), TypeError, "dimensions must have strings for names"),
    (lambda: Space({"a": Fixed(1)}), ValueError, "dimensions must leave something to search for"),
    (lambda: SPACE.from_units(np.zeros((2, 3))), ValueError, "units must have shape"),
    (lambda: SPACE.from_units(np.full((2, SPACE.columns), 1.5)), ValueError, "from 0 to 1; got"),
    (lambda: Optimiser(SPACE, gradients=True, rng=1), ValueError, "gradients must be False where"),
    (lambda: Optimiser(SPACE, rng=-1), ValueError, "rng must be a whole number from 0"),
    (
        lambda: Optimiser(SPACE, rng="1"),
        TypeError,
        "rng must be a Stream, a NumPy Generator",
    ),
]


@pytest.mark.parametrize(("call", "kind", "said"), WRONG)
def test_what_is_no_space_is_told(call, kind, said):
    with pytest.raises(kind, match=said):
        call()


@pytest.mark.parametrize(
    ("change", "kind", "said"),
    [
        ({"rate": 2.0}, ValueError, r"x\['rate'\] must be from 1e-05 to 1; got 2"),
        ({"depth": 13}, ValueError, r"x\['depth'\] must be a whole number from 1 to 12; got 13"),
        ({"depth": 2.0}, TypeError, r"x\['depth'\] must be a whole number"),
        ({"rule": "cosine"}, ValueError, r"x\['rule'\] must be one of \['relu'"),
        ({"centred": 1}, ValueError, r"x\['centred'\] must be one of \[False, True\]; got 1"),
        ({"rounds": 99}, ValueError, r"x\['rounds'\] must be 100; got 99"),
        ({"other": 1}, ValueError, "x must have the names"),
    ],
)
def test_a_point_is_looked_at_and_nothing_kept_of_a_wrong_one(change, kind, said):
    optimiser = Optimiser(SPACE, rng=1)
    point = optimiser.ask()
    with pytest.raises(kind, match=said):
        optimiser.tell({**point, **change}, 1.0)
    missing = {name: value for name, value in point.items() if name != "rate"}
    with pytest.raises(ValueError, match="x must have the names"):
        optimiser.tell(missing, 1.0)
    with pytest.raises(TypeError, match="x must be a mapping"):
        optimiser.tell([0.1, 0.2], 1.0)
    assert optimiser.count == 0
    optimiser.tell({name: value for name, value in point.items() if name != "rounds"}, 1.0)
    assert optimiser.best.x == point


def test_a_sum_of_inputs_is_one_over_the_cube(rng):
    """Of reals, whole numbers and what is fixed; those in logarithms have none."""
    space = Space({
        "share": Real(-2.0, 3.0), "depth": Integer(1, 12), "rounds": Fixed(100),
        "rate": Real(1e-5, 1.0, log=True), "rule": Categorical(["a", "b", "c"]),
    })  # fmt: skip
    factors = {"share": 0.5, "depth": -2.0, "rounds": 0.01}
    row, offset = space.row_of(factors)
    rows = space.snapped(rng.random((20, space.columns)))
    wanted = [sum(a * point[k] for k, a in factors.items()) for point in space.from_units(rows)]
    np.testing.assert_allclose(rows @ row + offset, wanted, rtol=1e-12)
    assert space.row_of({"rate": 0.0, "share": 1.0})[0].tolist() == [5.0, *[0.0] * 5]
    for name in ("rate", "rule"):
        with pytest.raises(ValueError, match=f"numbers that are not in logarithms; '{name}'"):
            space.row_of({name: 1.0})
    with pytest.raises(ValueError, match=r"must have names of .*; got \['height'\]"):
        space.row_of({"height": 1.0})
    there = Space({"on": Categorical([True, False]), "size": Real(0.0, 1.0, when={"on": True})})
    with pytest.raises(ValueError, match="inputs that are always there; 'size'"):
        there.row_of({"size": 1.0})
    assert there.row_of({"size": 0.0})[1] == 0.0
