"""Classification for scikit-learn: its own checks, labels of any kind, and files without pickle."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from saved_files import changed, of_array, of_value

import gpnotes
from gpnotes import GP, RBF, ConstantMean
from gpnotes.infer import laplace, svgp
from gpnotes.model.kernels import Linear
from gpnotes.model.likelihoods import Bernoulli, Categorical

sklearn = pytest.importorskip("sklearn")

from sklearn.base import clone  # noqa: E402
from sklearn.exceptions import NotFittedError  # noqa: E402
from sklearn.linear_model import LogisticRegression  # noqa: E402
from sklearn.metrics import log_loss  # noqa: E402
from sklearn.model_selection import cross_val_score  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402

from gpnotes.estimators import GPClassifier, GPRegressor  # noqa: E402

# many fits here are cut short, since it is not their end that is asked for
SHORT = "the fit stopped short of a maximum"
pytestmark = pytest.mark.filterwarnings(f"ignore:{SHORT}:sklearn.exceptions.ConvergenceWarning")

METHODS = ("ep", "laplace")
FIXED = {"kernel": RBF(4.0, np.asarray([1.0, 2.0])), "optimise": False}


@pytest.fixture
def data(rng):
    """Forty rows of two columns, and a score that the labels are cut from."""
    X = rng.uniform(-3.0, 3.0, size=(40, 2))
    return X, np.sin(1.5 * X[:, 0]) + 0.3 * X[:, 1]


def named(score):
    return np.asarray(["low", "middle", "top"])[np.digitize(score, [-0.5, 0.5])]


KINDS = {
    "two strings": lambda score: np.where(score > 0.0, "yes", "no"),
    "truths": lambda score: score > 0.0,
    "whole numbers": lambda score: np.where(score > 0.0, 7, -2),
    "three strings": named,
    "three objects": lambda score: named(score).astype(object),
    "three floats": lambda score: np.digitize(score, [-0.5, 0.5]).astype(float),
}


@pytest.mark.parametrize(
    ("kind", "method"),
    [*((kind, None) for kind in KINDS), ("two strings", "laplace"), ("three strings", "laplace")],
)
def test_labels_of_any_kind_are_learnt_saved_and_loaded(data, kind, method, tmp_path):
    X, score = data
    y = KINDS[kind](score)
    model = GPClassifier(**FIXED, method=method).fit(X, y)
    assert model.classes_.dtype == np.unique(y).dtype
    assert np.array_equal(model.classes_, np.unique(y))
    assert model.score(X, y) > 0.9
    chances = model.predict_proba(X)
    assert chances.shape == (40, model.classes_.size)
    np.testing.assert_allclose(chances.sum(axis=1), 1.0, rtol=1e-12)
    gpnotes.save(model, tmp_path / "model")
    for loaded in (gpnotes.load(tmp_path / "model"), GPClassifier.load(tmp_path / "model")):
        assert vars(loaded).keys() == vars(model).keys()
        assert loaded.classes_.dtype == model.classes_.dtype
        assert loaded.get_params(deep=False) == model.get_params(deep=False)
        assert loaded.predict(X).tolist() == model.predict(X).tolist()
        assert loaded.predict_proba(X).tobytes() == chances.tobytes()
    with pytest.raises(ValueError, match=r"it is of 'GPClassifier', not of \['GPRegressor'\]"):
        GPRegressor.load(tmp_path / "model")


@pytest.mark.parametrize("method", ["laplace", "ep", None])
def test_two_classes_are_a_fit_of_one_function(data, method):
    X, score = data
    kind = laplace.LaplaceGP if method == "laplace" else laplace.EPGP
    alone = kind(GP(RBF(1.0, np.ones(2)), 0.0, ConstantMean(0.0)))
    found = gpnotes.fit(alone, X, np.sign(score), max_steps=4)
    model = GPClassifier(RBF(1.0, np.ones(2)), method=method, max_steps=4).fit(X, score > 0.0)
    assert model.gp_ == found.model.gp
    assert model.log_evidence_ == found.posterior.log_evidence
    second = found.posterior.probability(X)
    assert np.array_equal(model.predict_proba(X)[:, 1], second)
    assert np.array_equal(model.predict(X), second > 0.5)


@pytest.mark.parametrize("given", [{}, {"method": "laplace"}, {"inducing": 5}])
def test_the_likelier_of_two_classes_needs_no_variance(data, given, monkeypatch):
    X, score = data
    model = GPClassifier(**FIXED, **given).fit(X, score > 0.2)
    likelier = model.classes_[model.predict_proba(X).argmax(1)]
    kind = type(model.posterior_)
    assert kind._mean(model.posterior_, X) == pytest.approx(kind._moments(model.posterior_, X)[0])
    monkeypatch.setattr(kind, "probability", None)
    if not given:
        monkeypatch.setattr(kind, "_moments", None)
    assert np.array_equal(model.predict(X), likelier)
    assert 0 < np.count_nonzero(likelier) < likelier.size


def test_several_classes_are_fit_of_the_softmax(data):
    X, score = data
    model = GPClassifier(RBF(1.0, np.ones(2)), method="laplace", max_steps=3).fit(X, named(score))
    number = np.digitize(score, [-0.5, 0.5]).astype(float)
    found = gpnotes.fit(laplace.SoftmaxGP(GP(RBF(1.0, np.ones(2)), 0.0), 3), X, number, max_steps=3)
    assert model.gp_ == found.model.gp
    assert [run.log_evidence for run in model.runs_] == [run.log_evidence for run in found.runs]
    assert np.array_equal(
        model.predict_proba(X), found.posterior.probability(X, 1000, rng=gpnotes.stream(0))
    )


@pytest.mark.parametrize("optimise", [True, False])
def test_several_classes_are_seen_through_fifty_points_that_stay(rng, optimise):
    X = rng.uniform(-3.0, 3.0, size=(70, 2))
    y = named(np.sin(1.5 * X[:, 0]) + 0.3 * X[:, 1])
    given = {"kernel": RBF(4.0, np.asarray([1.0, 2.0])), "max_steps": 2, "optimise": optimise}
    model = GPClassifier(**given).fit(X, y)
    same = GPClassifier(**given, inducing=50, fixed=["inducing"]).fit(X, y)
    moved = GPClassifier(**given, inducing=50).fit(X, y)
    assert model.posterior_.model.inducing.shape == (50, 2)
    assert np.array_equal(model.predict_proba(X), same.predict_proba(X))
    assert model.log_evidence_ == same.log_evidence_
    assert model.get_params()["inducing"] is None
    points = [one.posterior_.model.inducing for one in (model, moved)]
    assert np.array_equal(*points) is not optimise


@pytest.mark.parametrize("columns", [1, 2])
def test_several_classes_that_separate_are_sure_and_points_need_no_jitter(columns):
    """Fifty points on a line are more than a smooth kernel can tell apart."""
    draw = np.random.default_rng(0)
    y = np.arange(360) % 3
    X = draw.normal(size=(360, columns)) + 6.0 * np.asarray([[0, 0], [1, 0], [-1, 1]])[y, :columns]
    model = GPClassifier(max_steps=5).fit(X[:60], y[:60])
    assert model.posterior_.inducing.jitter == 0.0
    assert log_loss(y[60:], model.predict_proba(X[60:])) < 0.06


@pytest.mark.parametrize("kind", ["two strings", "three objects"])
@pytest.mark.parametrize("optimise", [True, False])
def test_with_inducing_points_it_is_a_fit_of_the_bound(data, kind, optimise, tmp_path):
    X, score = data
    given = {"kernel": RBF(4.0, np.asarray([1.0, 2.0])), "max_steps": 3, "optimise": optimise}
    y = KINDS[kind](score)
    model = GPClassifier(**given, inducing=12).fit(X, y)
    gp = (
        GP(given["kernel"], 0.0, ConstantMean(0.0))
        if kind == "two strings"
        else GP(given["kernel"], 0.0)
    )
    number = np.unique(y, return_inverse=True)[1].astype(float)
    likelihood = Categorical(3) if kind == "three objects" else Bernoulli()
    told = number if kind == "three objects" else 2.0 * number - 1.0
    verb = gpnotes.fit if optimise else gpnotes.condition
    more = {"max_steps": 3} if optimise else {}
    found = verb(svgp.SVGP(gp, likelihood, 12), X, told, **more)
    posterior = found.posterior if optimise else found
    assert model.gp_ == posterior.model.gp
    chances = posterior.probability(X)
    wanted = chances if chances.ndim == 2 else np.stack([1.0 - chances, chances], axis=1)
    assert np.array_equal(model.predict_proba(X), wanted)
    assert model.log_evidence_ == pytest.approx(svgp.elbo(posterior, X, told))
    assert model.score(X, y) > 0.85
    model.save(tmp_path / "model")
    loaded = GPClassifier.load(tmp_path / "model")
    assert vars(loaded).keys() == vars(model).keys()
    assert loaded.log_evidence_ == model.log_evidence_
    assert np.array_equal(loaded.predict_proba(X), model.predict_proba(X))


def test_of_many_rows_each_step_sees_some_by_the_random_state(rng):
    X = rng.uniform(-3.0, 3.0, size=(2500, 1))
    y = rng.uniform(size=2500) < 1.0 / (1.0 + np.exp(-3.0 * np.sin(2.0 * X[:, 0])))
    first, second, other = (
        GPClassifier(RBF(), inducing=10, max_steps=60, random_state=state).fit(X, y)
        for state in (1, 1, 2)
    )
    assert first.runs_[0].message.startswith("60 steps, of ")
    assert np.array_equal(first.predict_proba(X), second.predict_proba(X))
    assert not np.array_equal(first.predict_proba(X), other.predict_proba(X))
    chance = 1.0 / (1.0 + np.exp(-3.0 * np.sin(2.0 * X[:, 0])))
    assert np.abs(first.predict_proba(X)[:, 1] - chance).mean() < 0.08


@pytest.mark.parametrize("seed", range(3))
def test_on_fresh_rows_the_chances_are_those_of_the_classes(seed):
    """Of 300 new rows with the class drawn by its probability: no bin off by four deviations."""
    draw = np.random.default_rng(seed)
    X = draw.uniform(-3.0, 3.0, size=(500, 1))
    chance = 0.5 + 0.45 * np.sin(1.5 * X[:, 0])
    y = draw.uniform(size=500) < chance
    model = GPClassifier(RBF(), max_steps=20).fit(X[:200], y[:200])
    told = model.predict_proba(X[200:])[:, 1]
    for low, high in ((0.0, 1 / 3), (1 / 3, 2 / 3), (2 / 3, 1.0)):
        inside = (low <= told) & (told <= high)
        gap = np.mean(y[200:][inside]) - np.mean(told[inside])
        assert abs(gap) < 4.0 * 0.5 / np.sqrt(inside.sum()), (low, gap, inside.sum())


def test_it_takes_part_in_pipelines_searches_and_clones(data):
    X, score = data
    pipeline = make_pipeline(StandardScaler(), GPClassifier(max_steps=5))
    assert cross_val_score(pipeline, X, named(score), cv=3).mean() > 0.6
    model = GPClassifier(Linear(), restarts=1, random_state=3, max_steps=7)
    copy = clone(model.fit(X, score > 0.0))
    assert copy.get_params(deep=False) == model.get_params(deep=False)
    assert len(model.runs_) == 2
    with pytest.raises(NotFittedError):
        copy.predict(X)
    with pytest.raises(NotFittedError):
        copy.save("nowhere")


@pytest.mark.parametrize(
    ("y", "said"),
    [
        (np.ones(40), "y must hold at least two classes; got one class"),
        (np.ones(3), r"y must have shape \(40,\); got \(3,\)"),
        (np.linspace(0.0, 1.0, 40), "y must be a vector of labels.*continuous"),
        (np.full(40, np.nan), "y must be a vector of labels.*NaN"),
        (np.ones((40, 2)), "y must be a vector of labels"),
        (["b"] * 3 + [None] + ["a"] * 36, "y must be a vector of labels.*got None in row 3: leave"),
        (np.asarray([1, "a"] * 20, dtype=object), r"of int and str: .*astype\('str'\)"),
        (np.asarray([True, False] * 20, dtype=object), r"of bool: give y.astype\('bool'\)"),
        (pd.array([1, None] * 20, dtype="Int64"), "y must be a vector of labels.*NaN"),
        (
            pd.array(["a", None] * 20, dtype="string"),
            "y must be .*got <NA> in row 1: leave",
        ),
        (None, "requires y to be passed, but the target y is None"),
    ],
)
def test_what_are_no_labels_is_refused(data, y, said):
    with pytest.raises((TypeError, ValueError), match=said):
        GPClassifier().fit(data[0], y)


def test_a_fit_that_ends_early_leaves_the_former_one_whole(data):
    """The labels of the new data were paired with the posterior of the old."""
    X, score = data
    y = score > 0.0
    model = GPClassifier(optimise=False).fit(X, y)
    before = model.predict(X)
    model.set_params(optimise=True, fixed=("nonsense",))
    with pytest.raises(ValueError, match="nonsense"):
        model.fit(X, np.where(y, "one", "other"))
    np.testing.assert_array_equal(model.predict(X), before)


@pytest.mark.parametrize(
    ("given", "classes", "said"),
    [
        ({"method": "mean"}, 2, r"method must be one of \['ep', 'laplace'\] or None; got 'mean'"),
        ({"method": 3}, 2, r"method must be one of \['ep', 'laplace'\] or None; got 3"),
        ({"method": "ep"}, 3, "method must be 'laplace' or None for 3 classes; got 'ep'"),
        ({"method": "ep", "inducing": 4}, 2, "method must be None with inducing points"),
    ],
)
def test_a_method_that_is_none_is_refused(data, given, classes, said):
    labels = np.arange(40) % classes
    with pytest.raises(ValueError, match=said):
        GPClassifier(**given).fit(data[0], labels)


def test_many_rows_are_of_laplaces_approximation(rng):
    X = rng.normal(size=(501, 1))
    kinds = [
        type(GPClassifier(RBF(1.0), optimise=False).fit(X[:n], X[:n, 0] > 0.0).posterior_)
        for n in (500, 501)
    ]
    assert kinds == [laplace.EPPosterior, laplace.LaplacePosterior]


def test_files_from_before_there_was_a_method_are_read(data, tmp_path):
    path = tmp_path / "model"
    model = GPClassifier(**FIXED, method="laplace").fit(data[0], data[1] > 0.0)
    model.save(path)
    changed(path, lambda values, parts: values.pop("method"))
    loaded = GPClassifier.load(path)
    assert loaded.method is None
    assert loaded.predict_proba(data[0]).tobytes() == model.predict_proba(data[0]).tobytes()


def new_rows(kind, seed, n=80):
    """Rows and labels to learn from, and others."""
    draw = np.random.default_rng(seed)
    X = draw.normal(size=(n + 1000, 2))
    if kind == "separable":
        y = X[:, 0] > 0.0
    else:
        y = np.arange(n + 1000) % 27 == 0  # three of eighty
        X[y] += 3.0
    return X[:n], y[:n], X[n:], y[n:]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", ["separable", "rare"])
def test_classes_that_separate_or_are_rare_have_sure_probabilities(kind, seed):
    """Not those of a coin: a logistic regression is the measure. One case has the plain call."""
    X, y, Xs, ys = new_rows(kind, seed)
    share = np.full(1000, y.mean())
    plain = (kind, seed) == ("separable", 0)
    model = GPClassifier() if plain else GPClassifier(max_steps=15)
    ours = model.fit(X, y).predict_proba(Xs)[:, 1]
    line = LogisticRegression().fit(X, y).predict_proba(Xs)[:, 1]
    ours, line, base = (log_loss(ys, chance) for chance in (ours, line, share))
    assert ours < 0.5 * base
    assert ours < 2.0 * line + 0.01


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", ["separable", "rare"])
def test_laplaces_approximation_says_where_its_probabilities_are_too_near_to_even(kind, seed):
    X, y, _, _ = new_rows(kind, seed, 120)
    with pytest.warns(gpnotes.FitWarning, match="too near to even: .*, method='ep' of an estim"):
        GPClassifier(method="laplace", max_steps=15).fit(X, y)


def test_several_classes_by_laplace_say_so_too_with_the_remedy():
    draw = np.random.default_rng(0)
    y = np.arange(360) % 3
    X = draw.normal(size=(360, 2)) + 6.0 * np.eye(3)[y][:, :2]
    with pytest.warns(gpnotes.FitWarning, match="too near to even: .*, method=None of an estim"):
        flat = GPClassifier(method="laplace", max_steps=15).fit(X[:60], y[:60])
    assert log_loss(y[60:], flat.predict_proba(X[60:])) > 0.3


def test_arguments_are_looked_at_by_fit(data):
    model = GPClassifier("rbf")
    with pytest.raises(
        TypeError, match=r"kernel must be a gpnotes Kernel, such as gpnotes\.RBF\(\); got str"
    ):
        model.fit(data[0], data[1] > 0.0)


BOTH = {
    "no classes": lambda values, parts: values.pop("classes_"),
    "a class too few": of_value("classes_", {"tuple": ["U", "a"]}),
    "classes of another kind": of_value("classes_", {"tuple": ["V8", "a", "b"]}),
    "classes that are numbers": of_value("classes_", {"tuple": ["U", 1, 2]}),
    "rows of X": of_array("X", lambda a: a[1:]),
    "labels of another likelihood": of_array("y", lambda a: a + 7.0),
    "a gradient that is NaN": of_array("gradient", lambda a: a * np.nan),
    "a wrong argument": of_value("max_steps", 0),
}
TWO = {
    "a short root": of_array("sqrt_W", lambda a: a[1:]),
    "a factor of nothing": of_array("cholesky.lower", lambda a: 0.0 * a),
}
MODE = {"a short mode": of_array("mode", lambda a: a[1:])}
THREE = {
    "a share too few": of_array("curvature.share", lambda a: a[:, 1:]),
    "a common factor of nothing": of_array("curvature.common.lower", lambda a: 0.0 * a),
}


@pytest.mark.parametrize(
    ("kind", "change"),
    [
        ("two strings", of_array("weights", lambda a: a[1:])),
        ("two strings", of_array("cholesky.lower", lambda a: 0.0 * a)),
        ("two strings", of_array("precision", lambda a: a * np.nan)),
        ("two strings", of_value("log_evidence_", "high")),
        ("three strings", of_array("inducing.lower", lambda a: a[1:])),
        ("three strings", of_value("classes_", {"tuple": ["U", "a", "b"]})),
    ],
)
def test_a_file_of_inducing_points_whose_parts_do_not_go_together_is_refused(
    data, kind, change, tmp_path
):
    path = tmp_path / "model"
    GPClassifier(**FIXED, inducing=5).fit(data[0], KINDS[kind](data[1])).save(path)
    changed(path, change)
    with pytest.raises(ValueError, match="path must be of a file that `save` wrote"):
        GPClassifier.load(path)


@pytest.mark.parametrize(
    ("kind", "method", "change"),
    [("two strings", method, one) for one in (BOTH | TWO).values() for method in METHODS]
    + [("two strings", "laplace", one) for one in MODE.values()]
    + [("three strings", "laplace", one) for one in (BOTH | MODE | THREE).values()],
)
def test_a_file_whose_parts_do_not_go_together_is_refused(data, kind, method, change, tmp_path):
    path = tmp_path / "model"
    GPClassifier(**FIXED, method=method).fit(data[0], KINDS[kind](data[1])).save(path)
    changed(path, change)
    with pytest.raises(ValueError, match="path must be of a file that `save` wrote"):
        GPClassifier.load(path)
