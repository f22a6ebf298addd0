"""Parameters of the estimators, fixed, bounded, tied or with a prior: as in `gpnotes.fit`."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from gpnotes import GP, RBF, ConstantMean, LogNormalPrior, SparseGP, fit, load, save, stream
from gpnotes.infer.noise_floor import FLOOR

pytest.importorskip("sklearn")

from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from gpnotes.estimators import GPClassifier, GPRegressor, MultiOutputGPRegressor

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

X = np.asarray(stream(0).uniform((30, 2))) * 4.0
Y = np.sin(X[:, 0]) + 0.5 * np.cos(X[:, 1]) + 0.1 * np.asarray(stream(1).normal(30))
PAIR = ("kernel.lengthscale[0]", "kernel.lengthscale[1]")
NOISES = tuple(f"kernel.noise.kernel.variance[{i}]" for i in range(2))
GIVEN = {
    "fixed": ["mean.value"],
    "bounds": {"noise_var": (1e-3, 1e-2)},
    "priors": {"kernel.variance": LogNormalPrior(0.0, 1.0)},
    "tied": [list(PAIR)],
}


def test_it_is_what_fit_does_with_the_same_names():
    kernel = RBF(1.0, np.ones(2))
    estimator = GPRegressor(kernel, noise_var=0.01, mean=ConstantMean(0.2), **GIVEN).fit(X, Y)
    found = fit(GP(kernel, 0.01, ConstantMean(0.2)), X, Y, **GIVEN)
    assert estimator.runs_ == found.runs
    assert estimator.gp_.mean == ConstantMean(0.2)
    assert estimator.gp_.kernel.lengthscale[0] == estimator.gp_.kernel.lengthscale[1]
    assert "tied to kernel.lengthscale[0]" in str(estimator.report_)
    with_points = GPRegressor(kernel, noise_var=0.01, inducing=5, tied=[_of_gp(PAIR)], max_steps=4)
    start = GP(kernel, 0.01, ConstantMean(float(np.mean(Y))))
    found = fit(SparseGP(start, 5), X, Y, tied=[_of_gp(PAIR)], max_steps=4)
    assert with_points.fit(X, Y).gp_ == found.model.gp


def _of_gp(names):
    return tuple(f"gp.{name}" for name in names)


@pytest.mark.parametrize("inducing", [None, 4])
def test_labels_have_them_too(inducing):
    given = {"tied": [_of_gp(PAIR)], "fixed": ["gp.kernel.variance"], "inducing": inducing}
    found = GPClassifier(RBF(4.0, np.ones(2)), max_steps=4, **given).fit(X, Y > 0.0).gp_.kernel
    assert found.variance == 4.0
    assert found.lengthscale[0] == found.lengthscale[1] != 1.0


def test_outputs_may_share_one_noise():
    table = np.column_stack([Y, X[:, 0] - Y])
    model = MultiOutputGPRegressor(max_steps=4, tied=[NOISES], bounds={NOISES[1]: (0.05, 0.2)})
    noise = model.fit(X, table).noise_var_ / model.scale_**2
    assert noise[0] == pytest.approx(noise[1])
    assert 0.05 - 1e-12 <= noise[0] <= 0.2 + 1e-12


def test_the_floor_of_an_open_noise_gives_way_to_what_is_given():
    y = np.sin(X[:, 0])
    few = slice(None, None, 5)  # so few that errors are of the function, not of the noise

    def noise(rows=slice(None), **given):
        model = GPRegressor(RBF(1.0, 1.0), max_steps=40, **given)
        return model.fit(X[rows], y[rows]).gp_.noise_var

    assert noise(few) == pytest.approx(FLOOR * np.var(y[few]))
    assert noise() < 0.1 * FLOOR * np.var(y)
    assert noise(few, bounds={"noise_var": (1e-7, 1.0)}) < 0.1 * FLOOR * np.var(y[few])
    assert noise(fixed=["noise_var"]) == pytest.approx(0.1 * np.var(y))
    tied = {"tied": [("kernel.variance", "noise_var")], "bounds": {"kernel.variance": (0.3, 0.4)}}
    assert 0.3 - 1e-12 <= noise(**tied) <= 0.4 + 1e-12
    held = {"kernel.lengthscale": (0.1, 9.0)}
    assert noise(few, bounds=held) == pytest.approx(FLOOR * np.var(y[few]))


@pytest.mark.filterwarnings("ignore:no reading tells of another")
def test_searches_copies_and_files_keep_them(tmp_path):
    model = GPRegressor(RBF(1.0, np.ones(2)), max_steps=3, **GIVEN)
    assert clone(model).get_params(deep=False) == model.get_params(deep=False)
    fitted = clone(model).set_params(tied=[PAIR], kernel__variance=2.0).fit(X, Y)
    assert pickle.loads(pickle.dumps(fitted)).get_params()["tied"] == [PAIR]
    save(fitted, tmp_path / "model")
    again = load(tmp_path / "model")
    assert again.tied == (PAIR,)
    assert (again.fixed, again.bounds, again.priors) == (
        ("mean.value",), GIVEN["bounds"], GIVEN["priors"],
    )  # fmt: skip
    np.testing.assert_array_equal(again.predict(X), fitted.predict(X))
    grid = {"tied": [[], [PAIR]], "bounds": [None, {"kernel.lengthscale": (0.01, 0.02)}]}
    search = GridSearchCV(GPRegressor(RBF(1.0, np.ones(2)), max_steps=4), grid, cv=2).fit(X, Y)
    assert search.best_params_["bounds"] is None


def test_a_report_names_the_columns_of_a_frame():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X, columns=["tons", "year"])
    for model in (GPRegressor(max_steps=3), GPClassifier(max_steps=3)):
        y = Y if isinstance(model, GPRegressor) else Y > 0.0
        assert "kernel.lengthscale[1] (year)" in str(model.fit(frame, y).report_)
        assert "(year)" not in str(model.fit(X, y).report_)
    both = MultiOutputGPRegressor(max_steps=3).fit(frame, np.column_stack([Y, -Y]))
    assert ".kernel.lengthscale[0] (tons)" in str(both.report_)
    again = pickle.loads(pickle.dumps(both))
    assert str(again.report_) == str(both.report_)
    np.testing.assert_array_equal(again.predict(frame), both.predict(frame))


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"fixed": ["kernel.period"]}, r"fixed names 'kernel.period'; there are"),
        ({"bounds": {"kernel.lenghtscale": (1.0, 2.0)}}, r"bounds name .* near 'kernel.lengthsc"),
        ({"bounds": {"noise_var": (2.0, 1.0)}}, r"bounds\['noise_var'\] must"),
        ({"priors": {"noise_var": 1.0}}, r"priors\['noise_var'\] must"),
        ({"tied": [(PAIR[0], "noise_var[1]")]}, r"tied names 'noise_var\[1\]'; there are"),
        ({"tied": [PAIR], "fixed": [PAIR[1]]}, r"tied must name what is fitted"),
        ({"fixed": "noise_var"}, "fixed must be a collection of names"),
        ({"bounds": [1.0, 2.0]}, "bounds must be a mapping by names; got list"),
        ({"priors": LogNormalPrior()}, "priors must be a mapping by names; got LogNormalPrior"),
        ({"tied": (pair for pair in [PAIR])}, "tied must be a list of groups; got generator"),
        ({"tied": ["noise_var"]}, "a group of tied must be an iterable of names"),
    ],
)
def test_what_contradicts_is_told_by_its_name(wrong, said):
    with pytest.raises((TypeError, ValueError), match=said):
        GPRegressor(RBF(1.0, np.ones(2)), **wrong).fit(X, Y)


@pytest.mark.parametrize("of", [GPRegressor, GPClassifier, MultiOutputGPRegressor])
def test_rows_that_are_labelled_otherwise_are_joined_by_position_with_a_warning(of):
    pd = pytest.importorskip("pandas")
    X = pd.DataFrame({"a": np.linspace(0.0, 3.0, 8)})
    y = pd.Series([0.0, 1.0, 1.0, 0.0, 1.0, 0.0, 0.0, 1.0])
    model = of(optimise=False)
    with pytest.warns(UserWarning, match=r"y is joined to X by position.*row 0 is 7.*y\.loc\[X"):
        turned = model.fit(X, y[::-1])
    wanted = of(optimise=False).fit(X, y[::-1].to_numpy())  # without one
    np.testing.assert_array_equal(turned.predict(X), wanted.predict(X))
    with pytest.warns(UserWarning, match="y is joined to X by position"):
        score = turned.score(X, y[::-1])
    assert score == turned.score(X, y[::-1].to_numpy())


def test_every_argument_of_rows_is_looked_at():
    pd = pytest.importorskip("pandas")
    X = pd.DataFrame({"a": np.linspace(0.0, 3.0, 8)})
    y, each = pd.Series(np.sin(X["a"])), pd.Series(0.1 + np.arange(8.0))[::-1]
    for name in ("noise_var", "weights"):
        with pytest.warns(UserWarning, match=f"{name} is joined to X by position"):
            GPRegressor(optimise=False).fit(X, y, **{name: each})
    with pytest.warns(UserWarning, match="alpha is joined to X by position"):
        GPRegressor(alpha=each, optimise=False).fit(X, y)
    with pytest.warns(UserWarning, match="noise_var is joined to X by position"):
        MultiOutputGPRegressor(optimise=False).fit(X, y, noise_var=each)
    with pytest.warns(UserWarning, match="sample_weight is joined to X by position"):
        GPRegressor(optimise=False).fit(X, y).score(X, y, each)


def test_the_noise_of_outputs_is_matched_by_their_names():
    pd = pytest.importorskip("pandas")
    X = np.linspace(0.0, 3.0, 8)[:, None]
    y = pd.DataFrame({"a": np.sin(X[:, 0]), "b": np.cos(X[:, 0])})
    noise = pd.DataFrame({"a": np.full(8, 0.01), "b": np.full(8, 0.5)})
    found = [
        MultiOutputGPRegressor(optimise=False).fit(X, y, noise_var=known).predict(X, True)[1]
        for known in (noise, noise[["b", "a"]], noise.add_suffix("_var"), noise.to_numpy())
    ]
    for sd in found[1:]:
        np.testing.assert_array_equal(sd, found[0])


@pytest.mark.parametrize("of", [GPRegressor, GPClassifier, MultiOutputGPRegressor])
@pytest.mark.parametrize("inducing", [None, 4])
def test_of_no_rows_there_are_no_predictions(of, inducing):
    if of is MultiOutputGPRegressor:
        model, y = of(optimise=False), np.stack([Y, Y**2], axis=1)
    else:
        model, y = of(optimise=False, inducing=inducing), np.round(Y)
    model.fit(X, y)
    width = y.shape[1:]
    assert model.predict(X[:0]).shape == (0, *width)
    if of is GPClassifier:
        assert model.predict_proba(X[:0]).shape == (0, len(model.classes_))
    else:
        assert [a.shape for a in model.predict(X[:0], return_std=True)] == [(0, *width)] * 2
    with pytest.raises(ValueError, match="minimum of 1 is required"):
        of().fit(X[:0], y[:0])


@pytest.mark.parametrize("form", ["{0}[1] (b)", "{0} (b)", "{0}[b]", "{0}[1]"])
def test_parameters_are_named_as_reports_print_them(form):
    pd = pytest.importorskip("pandas")
    frame, bounds = pd.DataFrame(X, columns=["a", "b"]), (0.5, 0.6)
    for model, y, path in (
        (GPRegressor(max_steps=3), Y, "kernel.lengthscale"),
        (GPRegressor(max_steps=3, inducing=5), Y, "gp.kernel.lengthscale"),
        (GPClassifier(max_steps=3), Y > 0.5, "gp.kernel.lengthscale"),
    ):
        name = form.format(path)
        assert f"{path}[1] (b)" in str(model.fit(frame, y).report_)
        low, high = model.set_params(bounds={name: bounds}).fit(frame, y).gp_.kernel.lengthscale
        assert 0.5 <= high <= 0.6
        assert not 0.5 <= low <= 0.6
