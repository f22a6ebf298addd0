"""Inputs that are there only where others have certain settings."""

from __future__ import annotations

import copy
import json
import math
import pickle

import numpy as np
import pytest
from fixed_models import quick

from gpnotes import RBF
from gpnotes.decide.bayesopt import (
    Categorical,
    Fixed,
    Integer,
    LinearConstraint,
    Optimiser,
    ParetoOutcome,
    Real,
    Space,
    minimise,
    minimise_several,
    slices,
    sobol_indices,
)

SPACE = Space(
    {
        "gamma": Real(1e-4, 10.0, log=True, when={"kernel": ["rbf", "poly"]}),
        "kernel": Categorical(["linear", "rbf", "poly"]),
        "degree": Integer(2, 5, when={"kernel": "poly"}),
        "shift": Categorical([False, True], when={"kernel": "poly"}),
        "coef0": Real(0.0, 2.0, when={"shift": True}),
        "rounds": Fixed(10, when={"kernel": ["linear", "rbf"]}),
        "C": Real(0.01, 100.0, log=True),
    }
)
NAMES = {
    ("linear", None): {"kernel", "rounds", "C"},
    ("rbf", None): {"gamma", "kernel", "rounds", "C"},
    ("poly", False): {"gamma", "kernel", "degree", "shift", "C"},
    ("poly", True): {"gamma", "kernel", "degree", "shift", "coef0", "C"},
}


def units(rng, n):
    return rng.random((n, SPACE.columns))


def loss(point):
    """Least, 0, for the third degree with a shift of one, at a gamma of 0.1 and a C of one."""
    value = math.log10(point["C"]) ** 2
    if point["kernel"] == "linear":
        return value + 2.0
    value += math.log10(point["gamma"] / 0.1) ** 2
    if point["kernel"] == "rbf":
        return value + 1.0
    return value + 0.2 * abs(point["degree"] - 3) + abs(point.get("coef0", 0.0) - 1.0)


# -- there and back ---------------------------------------------------------------------------


def test_a_point_has_the_inputs_that_are_there_and_no_others(rng):
    """On 400 points of the cube, and all four kinds of them come."""
    points = SPACE.from_units(units(rng, 400))
    kinds = {(point["kernel"], point.get("shift")) for point in points}
    assert kinds == NAMES.keys()
    for point in points:
        assert point.keys() == NAMES[point["kernel"], point.get("shift")]
        assert list(point) == [name for name in SPACE.names if name in point]


def test_points_come_back_from_the_cube(rng):
    points = SPACE.from_units(units(rng, 300))
    back = SPACE.from_units(SPACE.to_units(points))
    for here, there in zip(points, back, strict=True):
        assert here.keys() == there.keys()
        for name in here.keys() - {"gamma", "coef0", "C"}:
            assert here[name] == there[name]
        for name in here.keys() & {"gamma", "coef0", "C"}:
            assert here[name] == pytest.approx(there[name], rel=1e-12)


def test_what_is_not_there_lies_at_a_constant_and_adds_no_distance(rng):
    """Whatever stood in its columns: all its columns are a half, for a kernel of one choice."""
    rows = SPACE.snapped(units(rng, 300))
    points = SPACE.from_units(rows)
    np.testing.assert_allclose(SPACE.to_units(points), rows, rtol=0.0, atol=1e-14)
    rbf = np.flatnonzero([point["kernel"] == "rbf" for point in points])
    absent = rows[rbf][:, SPACE.columns - 4 : SPACE.columns - 1]  # degree, shift, coef0
    np.testing.assert_array_equal(absent, np.full(absent.shape, 0.5))
    i, j = rbf[:2]
    moved = np.flatnonzero(rows[i] != rows[j])
    assert set(moved) <= {0, SPACE.columns - 1}  # gamma and C


def test_what_can_be_moved_are_reals_that_are_there(rng):
    rows = SPACE.snapped(units(rng, 200))
    movable = SPACE.movable(rows)
    names = ["gamma", *["kernel"] * 3, "degree", "shift", "coef0", "C"]
    for row, point in zip(movable, SPACE.from_units(rows), strict=True):
        moved = {name for name, free in zip(names, row, strict=True) if free}
        assert moved == {"gamma", "coef0", "C"} & point.keys()


def test_settings_are_counted_and_listed_once_each():
    space = Space(
        {
            "layers": Integer(1, 3),
            "second": Integer(1, 4, when={"layers": range(2, 4)}),
            "third": Categorical(["a", "b"], when={"layers": 3, "second": [1, 2]}),
        }
    )
    points = space.from_units(space.settings())
    told = {tuple(point.items()) for point in points}
    assert len(points) == len(told) == space.count == 1 + 4 + (2 * 2 + 2)
    np.testing.assert_array_equal(space.snapped(space.settings()), space.settings())


def test_the_settings_beside_one_have_the_inputs_that_are_there(rng):
    for row in SPACE.snapped(units(rng, 40)):
        point = SPACE.from_units(row[None, :])[0]
        beside = SPACE.from_units(SPACE.neighbours(row))
        assert {one["kernel"] for one in beside} >= {"linear", "rbf", "poly"} - {point["kernel"]}
        for one in beside:
            assert one.keys() == NAMES[one["kernel"], one.get("shift")]


def test_a_fixed_input_may_take_others_away():
    space = Space({"kernel": Fixed("rbf"), "degree": Integer(2, 5, when={"kernel": "poly"}),
                   "C": Real(0.0, 1.0)})  # fmt: skip
    assert space.from_units(np.full((1, 2), 0.5)) == [{"kernel": "rbf", "C": 0.5}]
    assert space.to_units([{"C": 0.5}]).tolist() == [[0.5, 0.5]]


def test_dimensions_say_themselves_and_are_copied():
    one = Integer(2, 5, when={"kernel": "poly"})
    assert repr(one) == "Integer(lower=2, upper=5, log=False, when={'kernel': ('poly',)})"
    assert repr(Real(0.0, 1.0)) == "Real(lower=0.0, upper=1.0, log=False)"
    assert eval(repr(one)) == one == pickle.loads(pickle.dumps(one)) == copy.deepcopy(one)
    assert hash(one) == hash(Integer(2, 5))
    assert one != Integer(2, 5)


# -- the search -------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_best_branch_is_found_with_its_own_inputs():
    outcome = minimise(loss, SPACE, 28, rng=1)
    best = outcome.best
    assert (best.x["kernel"], best.x["degree"], best.x["shift"]) == ("poly", 3, True)
    assert best.y < 0.3


def test_the_objective_is_given_what_is_there_and_files_go_on(tmp_path):
    path = tmp_path / "history.jsonl"
    seen = []

    def objective(point):
        seen.append(dict(point))
        return loss(point)

    options = {"model": quick, "num_initial": 6}
    whole = minimise(objective, SPACE, 16, rng=4, **options)
    for budget in (3, 9, 16):
        parts = minimise(objective, SPACE, budget, path=path, rng=4, **options)
    assert [e.x for e in parts.evaluations] == [e.x for e in whole.evaluations] == seen[:16]
    for point in seen:
        assert point.keys() == NAMES[point["kernel"], point.get("shift")]
    lines = path.read_text().splitlines()
    assert [json.loads(line)["x"] for line in lines[1:]] == seen[16:]
    assert json.loads(lines[0])["box"]["degree"] == [
        "Integer", 2, 5, False, {"kernel": ["poly"]}
    ]  # fmt: skip
    without = Space({**SPACE.dimensions, "degree": Integer(2, 5)})
    with pytest.raises(ValueError, match=r"path: .* must hold the history"):
        Optimiser(without, path=path, model=quick, num_initial=6, rng=4)


def test_files_of_spaces_without_conditions_are_as_they_were(tmp_path):
    space = Space({"depth": Integer(1, 12), "rate": Real(0.1, 1.0, log=True)})
    Optimiser(space, path=tmp_path / "one.jsonl", rng=1)
    head = json.loads((tmp_path / "one.jsonl").read_text())
    assert head["box"] == {
        "depth": ["Integer", 1, 12, False], "rate": ["Real", 0.1, 1.0, True]
    }  # fmt: skip


def test_no_setting_is_read_twice_while_another_is_left():
    """Of 2 + 3 in five evaluations, though three hang on one choice."""
    space = Space(
        {
            "rule": Categorical(["relu", "tanh", "sine"]),
            "depth": Integer(1, 3, when={"rule": "sine"}),
        }
    )
    outcome = minimise(lambda p: len(p["rule"]) + p.get("depth", 0), space, 5, model=quick, rng=1)
    assert len({tuple(e.x.items()) for e in outcome.evaluations}) == space.count == 5


def test_points_of_two_branches_are_two_though_their_values_are_the_same():
    space = Space(
        {
            "a": Integer(1, 2, when={"k": 1}),
            "k": Integer(1, 2),
            "b": Integer(1, 2, when={"k": 2}),
        }
    )
    batch = Optimiser(space, num_initial=4, rng=1).ask_batch(4)
    assert {"a": 2, "k": 1} in batch
    assert {"k": 2, "b": 1} in batch
    assert len({tuple(point.items()) for point in batch}) == 4


def test_a_page_has_both_places_though_their_inputs_differ():
    noise = np.random.default_rng(3)
    outcome = minimise(
        lambda p: loss(p) + 3.0 * noise.standard_normal(), SPACE, 14, model=quick, rng=2
    )
    text = str(outcome)
    for place in (outcome.best.x, outcome.recommended.x):
        assert all(name in text for name in place)
    front = minimise_several(
        lambda p: (loss(p), p.get("degree", 1)), SPACE, 8, model=quick, num_initial=8, rng=1
    )
    assert isinstance(front, ParetoOutcome)
    assert all(name in str(front) for one in front.front for name in one.x)


def test_cuts_and_shares_pass_over_what_is_not_there():
    """An input of one branch has no cut through another, and readings of its own branch alone."""
    optimiser = Optimiser(SPACE, model=quick, num_initial=30, rng=1)
    for point in optimiser.ask_batch(30):
        optimiser.tell(point, loss(point))
    linear = {"kernel": "linear", "rounds": 10, "C": 1.0}
    assert [cut.name for cut in slices(optimiser, linear, num_points=5)] == ["kernel", "C"]
    poly = {"gamma": 0.1, "kernel": "poly", "degree": 3, "shift": False, "C": 1.0}
    cuts = {cut.name: cut for cut in slices(optimiser, poly, num_points=5)}
    assert set(cuts) == {"gamma", "kernel", "degree", "shift", "C"}
    mean, _ = optimiser.predict([linear])
    assert cuts["kernel"].mean[0] == pytest.approx(mean[0])  # no degree is left there
    read = [e.x["degree"] for e in optimiser.evaluations if "degree" in e.x]
    assert sorted(cuts["degree"].read) == sorted(read)
    assert len(cuts["degree"].y) == len(read)
    shares = {one.name: one for one in sobol_indices(optimiser, num_points=64)}
    assert all(0.0 <= one.first_order <= 1.0 and one.total >= 0.0 for one in shares.values())
    assert set(shares) == {"gamma", "kernel", "degree", "shift", "coef0", "C"}


def test_an_input_that_is_hardly_ever_there_has_hardly_a_share():
    """It is there in one of eight settings of another, and the objective is its square."""
    space = Space({"n": Integer(1, 8), "x": Real(0.0, 1.0, when={"n": 8}), "y": Real(0.0, 1.0)})
    optimiser = Optimiser(space, model=quick, num_initial=40, rng=1)
    for point in optimiser.ask_batch(40):
        optimiser.tell(point, point.get("x", 0.0) + 3.0 * point["y"])
    shares = {one.name: one.total for one in sobol_indices(optimiser, num_points=256)}
    assert shares["x"] < 0.1 < shares["y"]


def test_constraints_see_what_is_there():
    def met(point):
        return point.get("degree", 0) <= 3

    outcome = minimise(loss, SPACE, 16, constraint=met, model=quick, num_initial=8, rng=1)
    assert all(met(e.x) for e in outcome.evaluations)
    linear = LinearConstraint({"degree": 1.0}, upper=3.0)
    with pytest.raises(ValueError, match="of inputs that are always there; 'degree' is Integer"):
        minimise(loss, SPACE, 4, linear_constraints=[linear], rng=1)


def test_an_estimator_is_tuned_by_what_is_there(rng):
    pytest.importorskip("sklearn")
    from sklearn.svm import SVR

    from gpnotes.estimators import BayesSearchCV

    X = rng.random((30, 2))
    space = {
        "kernel": Categorical(["rbf", "poly"]),
        "degree": Integer(2, 4, when={"kernel": "poly"}),
    }
    search = BayesSearchCV(SVR(), space, n_iter=4, cv=2, random_state=1).fit(X, X[:, 0] ** 2)
    assert len(search.cv_results_["params"]) == 4
    for params in search.cv_results_["params"]:
        assert ("degree" in params) == (params["kernel"] == "poly")


# -- the door ---------------------------------------------------------------------------------

KERNEL = Categorical(["rbf", "poly"])
WRONG = [
    (lambda: Integer(2, 5, when="poly"), TypeError, "when must be a mapping from names"),
    (lambda: Integer(2, 5, when={}), ValueError, "when must name an input, or be None; got none"),
    (lambda: Integer(2, 5, when={1: "poly"}), TypeError, "when must have strings for names; got 1"),
    (lambda: Real(0.0, 1.0, when={"k": []}), ValueError, r"when\['k'\] must have at least one"),
    (lambda: Real(0.0, 1.0, when={"k": [RBF()]}), TypeError, r"when\['k'\] must be made of"),
    (
        lambda: Space({"kernel": KERNEL, "d": Integer(2, 5, when={"kernl": "poly"})}),
        ValueError,
        r"dimensions\['d'\].when must have names of \['kernel', 'd'\]; got 'kernl'",
    ),
    (
        lambda: Space({"kernel": KERNEL, "d": Integer(2, 5, when={"kernel": "polly"})}),
        ValueError,
        r"dimensions\['d'\].when\['kernel'\] must be one of \['rbf', 'poly'\]; got 'polly'",
    ),
    (
        lambda: Space({"C": Real(0.0, 1.0), "d": Integer(2, 5, when={"C": 0.5})}),
        ValueError,
        r"dimensions\['d'\].when must be of whole numbers, categories or fixed .* 'C' is Real",
    ),
    (
        lambda: Space({"a": Integer(1, 2, when={"b": 1}), "b": Integer(1, 2, when={"a": 1})}),
        ValueError,
        r"must not depend on each other in a circle; \['a', 'b'\] do",
    ),
    (
        lambda: Space({"a": Integer(1, 2, when={"a": 1})}),
        ValueError,
        r"must not depend on each other in a circle; \['a'\] do",
    ),
]


@pytest.mark.parametrize(("call", "kind", "said"), WRONG)
def test_what_is_no_condition_is_told(call, kind, said):
    with pytest.raises(kind, match=said):
        call()


@pytest.mark.parametrize(
    ("point", "said"),
    [
        (
            {"kernel": "rbf", "degree": 3, "gamma": 0.1, "C": 1.0},
            r"'degree' only where kernel is 'poly'.*; got \['kernel', 'degree'",
        ),
        ({"kernel": "rbf", "C": 1.0}, r"names \['gamma', 'kernel', 'rounds', 'C'\]"),
        ({"kernel": "poly", "gamma": 0.1, "degree": 3, "C": 1.0}, r"'degree', 'shift', 'C'\], and"),
        ({"kernel": "linear", "C": 1.0, "coef0": 0.3}, "'coef0' only where shift is True"),
        ({"kernel": "cubic", "C": 1.0}, "x.* must"),
        ({"C": 1.0}, "x must have the names"),
    ],
)
def test_a_point_with_other_inputs_is_refused(point, said):
    optimiser = Optimiser(SPACE, rng=1)
    with pytest.raises(ValueError, match=said):
        optimiser.tell(point, 1.0)
    with pytest.raises(ValueError, match=r"initial_points.* must"):
        Optimiser(SPACE, initial_points=[point], rng=1)
    assert optimiser.count == 0


def test_settings_are_counted_without_listing_what_the_sizes_alone_would_give():
    """A size for each kind of machine: 50 settings, where the sizes have a product of 5e5."""
    sizes = {f"n_{kind}": Integer(0, 9, when={"kind": kind}) for kind in "abcde"}
    space = Space({"kind": Categorical(list("abcde")), **sizes})
    assert space.count == 50
    rows = space.settings()
    assert rows.shape == (50, space.columns)
    assert len({str(point) for point in space.from_units(rows)}) == 50
    nested = Space(
        {
            "rule": Categorical(["p", "q"]),
            "depth": Integer(1, 3),
            "order": Integer(1, 2, when={"rule": "p"}),
            "shape": Categorical(["u", "v", "w"], when={"order": 2, "depth": [1, 3]}),
        }
    )
    by_hand = [
        (rule, depth, order, shape)
        for rule in "pq"
        for depth in (1, 2, 3)
        for order in ((1, 2) if rule == "p" else (None,))
        for shape in ("uvw" if order == 2 and depth != 2 else (None,))
    ]
    assert nested.count == len(nested.settings()) == len(by_hand)
    assert nested.from_units(nested.settings()).count({"rule": "q", "depth": 2}) == 1
