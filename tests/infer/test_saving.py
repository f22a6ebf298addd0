"""What is saved comes back to the last bit, and what is no such file is refused."""

from __future__ import annotations

import json
import math
import zipfile
from dataclasses import dataclass, fields, is_dataclass

import numpy as np
import pytest

import gpnotes
from gpnotes import (  # fmt: skip
    GP,
    RBF,
    Bernoulli,
    ConstantMean,
    Gaussian,
    Linear,
    Matern52,
    NormalPrior,
    Poisson,
    RationalQuadratic,
    RobustMax,
    SparseGP,
    condition,
    fit,
    networks,
    stream,
)
from gpnotes.estimators import GPRegressor
from gpnotes.ground.chunks import Chunks
from gpnotes.ground.class_tags import saved_as
from gpnotes.ground.xp import to_numpy
from gpnotes.infer import deep, features, interdomain, laplace, linear, saving, sparse, svgp
from gpnotes.infer import state_space as line
from gpnotes.infer.fitting import Fit
from gpnotes.infer.heteroscedastic import HeteroscedasticGP
from gpnotes.infer.sparse import model as sparse_model
from gpnotes.infer.svgp.natural_gradients import optimise_q
from gpnotes.model.kernels import CircularRBF
from gpnotes.model.likelihoods import Categorical, StudentT
from gpnotes.model.means import BasisMean, Powers

DRAW = np.random.default_rng(0)
X = DRAW.uniform(-2.0, 2.0, (30, 2))
Y = np.sin(X[:, 0]) + 0.1 * DRAW.normal(size=30)
LABELS, CLASSES = np.sign(Y), np.floor(3.0 * np.clip(np.abs(Y), 0.0, 0.99))
XS = DRAW.uniform(-2.0, 2.0, (7, 2))
PROCESS = GP(RBF(1.2, np.asarray([0.7, 1.3])) + 0.3 * Linear().on(1), 0.1, ConstantMean(0.2))
PLAIN = GP(RBF(), 0.1)
LATENT = GP(RBF(), 0.0)
FREQUENCIES = features.draw_frequencies(RBF(), X, 20, rng=stream(1))
SUM = RBF() + 2.0 * RationalQuadratic().on(1)
NET = networks.BayesianNetwork(networks.Network((2, 3, 1), "tanh"), 1.0, 0.1)
THETA = 0.1 * np.arange(13.0)


def few(model, y, **more):
    return fit(model, X, y, max_steps=3, **more)


def in_chunks():
    return fit(SparseGP(PLAIN, X[:4]), Chunks([(X[:9], Y[:9]), (X[9:], Y[9:])]), max_steps=2)


ONE_INPUT = ("a circle", "waves on an interval")
FITTED = {
    "a posterior": lambda: condition(PROCESS, X, Y),
    "weights of a mean": lambda: condition(GP(RBF(), 0.1, BasisMean(Powers(1))), X, Y),
    "a fit": lambda: few(PROCESS, Y, restarts=1, rng=stream(1)),
    "a fit with priors and bounds": lambda: few(
        PLAIN, Y, priors={"kernel.lengthscale": NormalPrior(1.0, 1.0)}, fixed=["noise_var"],
        bounds={"kernel.variance": (0.1, 3.0)}),
    "features": lambda: few(features.FeatureGP(PLAIN, FREQUENCIES), Y),
    "sines": lambda: few(features.FeatureGP(PLAIN, features.leading_sines(RBF(), X, 9)), Y),
    "points": lambda: few(SparseGP(PLAIN, X[:4], "fitc"), Y),
    "points, chunks": in_chunks,
    "weighted points": lambda: condition(
        SparseGP(PLAIN, interdomain.WeightedPoints(X[:3], np.eye(3))), X, Y),
    "waves on an interval": lambda: fit(
        SparseGP(GP(Matern52(), 0.1),
                        interdomain.IntervalHarmonics(np.arange(4.0), -3.0, 3.0)),
        X[:, :1], Y, max_steps=3),
    "windows": lambda: few(
        SparseGP(PLAIN, interdomain.GaussianWindows(X[:4], X[:4] + 0.5)), Y),
    "features of a sum": lambda: few(
        features.FeatureGP(GP(SUM, 0.1), features.draw_frequencies(SUM, X, 20, rng=stream(1))), Y),
    "a line": lambda: fit(line.StateSpaceGP(GP(Matern52(), 0.1)), X[:, :1], Y, max_steps=3),
    "a forecast": lambda: condition(
        line.StateSpaceGP(GP(Matern52(), 0.1)), X[:, :1], Y).extend([[2.5], [2.6]], [0.3, 0.2]),
    "varying noise": lambda: few(HeteroscedasticGP(PLAIN, RBF()), Y),
    "labels": lambda: few(laplace.LaplaceGP(LATENT, Bernoulli()), LABELS),
    "labels by moments": lambda: few(laplace.EPGP(LATENT, Bernoulli("logit")), LABELS),
    "classes": lambda: few(laplace.SoftmaxGP(LATENT, 3), CLASSES),
    "a variational process": lambda: few(svgp.SVGP(LATENT, StudentT(0.1, 4.0), X[:4]), Y),
    "counts": lambda: condition(svgp.SVGP(LATENT, Poisson(), X[:4]), X, CLASSES),
    "several classes": lambda: condition(svgp.SVGP(LATENT, RobustMax(3), X[:4]), X, CLASSES),
    "several classes by the softmax": lambda: optimise_q(
        svgp.initial_posterior(svgp.SVGP(LATENT, Categorical(3), X[:4])), X, CLASSES, max_steps=3),
    "a deep process": lambda: few(deep.with_inner_layers(
        condition(svgp.SVGP(LATENT, Gaussian(0.1), X[:4]), X, Y), [RBF()], num_samples=2), Y),
    "a circle": lambda: condition(
        SparseGP(GP(CircularRBF(), 0.1), interdomain.Harmonics(np.arange(4.0))), X[:, :1], Y),
    "a linear model": lambda: condition(linear.BayesianLinear(np.eye(2), 0.1), X, Y),
    "a network": lambda: networks.fit_mean_field(
        NET, X, Y, networks.MeanField(THETA, THETA - 2.0), num_steps=3, rng=stream(1)),
    "snapshots": lambda: networks.fit_swag(
        NET, X, Y, THETA, learning_rate=1e-3, num_steps=8, batch=9, every=1, rng=stream(1)),
    "a last layer": lambda: networks.fit_last_layer(NET, THETA, X, Y),
    "all layers": lambda: networks.fit_linearised_laplace(NET, THETA, X, Y),
    "several things": lambda: (NET, {"kernel": RBF(), "rows": X}, None, True, math.inf, "é"),
}  # fmt: skip


def same(one, other):
    """True if two values are the same to the last bit, and their arrays lie alike in memory."""
    if type(one) is not type(other):
        return False
    if isinstance(one, np.ndarray):
        turned = one.flags.f_contiguous and not one.flags.c_contiguous
        alike = one.shape == other.shape and one.dtype == other.dtype
        return alike and one.tobytes() == other.tobytes() and turned <= other.flags.f_contiguous
    if is_dataclass(one) and not isinstance(one, type):
        names = [item.name for item in fields(one) if item.name != "known"]
        return all(same(getattr(one, name), getattr(other, name)) for name in names)
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, tuple):
        return len(one) == len(other) and all(map(same, one, other))
    return bool(one == other)


@pytest.mark.parametrize("name", FITTED)
def test_what_was_fitted_comes_back_to_the_last_bit(name, tmp_path):
    fitted = FITTED[name]()
    gpnotes.save(fitted, tmp_path / "fitted")
    again = gpnotes.load(tmp_path / "fitted")
    assert [path.name for path in tmp_path.iterdir()] == ["fitted"]
    if name != "points, chunks":  # which are not kept
        assert same(fitted, again)
    else:
        assert same(fitted.runs, again.runs)
    if isinstance(fitted, Fit):
        assert same(fitted.posterior, again.posterior)
        assert repr(again) == repr(fitted)
        assert name == "points, chunks" or str(again) == str(fitted)
        fitted, again = fitted.posterior, again.posterior
    if hasattr(fitted, "predict") and hasattr(fitted, "gp"):
        Xs = XS[:, : np.shape(getattr(fitted, "X", XS))[1]] if name not in ONE_INPUT else XS[:, :1]
        for one, other in zip(fitted.predict(Xs), again.predict(Xs), strict=True):
            assert one.tobytes() == other.tobytes()


def test_what_another_library_has_fitted_comes_back_on_the_host(space, tmp_path):
    kernel = RBF(1.0, space.asarray([0.5, 2.0]))
    fitted = condition(GP(kernel, 0.1), space.asarray(X), space.asarray(Y))
    gpnotes.save(fitted, tmp_path / "fitted")
    again = gpnotes.load(tmp_path / "fitted")
    there = to_numpy(fitted.mean(space.asarray(XS)))
    here = again.mean(XS.astype(there.dtype))
    assert (type(here), here.dtype) == (np.ndarray, there.dtype)
    np.testing.assert_allclose(here, there, rtol=1e-9 if space.double else 1e-4)
    assert isinstance(again.gp.kernel.lengthscale, np.ndarray)


def test_an_array_that_parts_share_is_written_once_and_shared_again(tmp_path):
    posterior = condition(PLAIN, X, Y)
    gpnotes.save((posterior, posterior.X), tmp_path / "two")
    again, rows = gpnotes.load(tmp_path / "two")
    assert again.X is rows
    with np.load(tmp_path / "two") as file:
        assert len(file.files) == 6  # X, y, the factor, residual, alpha, and the description


def test_an_estimator_is_saved_and_loaded_as_anything_else(tmp_path):
    model = GPRegressor(RBF(), optimise=False).fit(X, Y)
    gpnotes.save(model, tmp_path / "one")
    model.save(tmp_path / "two")
    for again in (gpnotes.load(tmp_path / "two"), GPRegressor.load(tmp_path / "one")):
        assert type(again) is GPRegressor
        assert again.predict(XS).tobytes() == model.predict(XS).tobytes()
    gpnotes.save(RBF(), tmp_path / "kernel")
    with pytest.raises(ValueError, match=r"it is of 'fitted', not of \['GPRegressor'\]"):
        GPRegressor.load(tmp_path / "kernel")


@dataclass(frozen=True)
class Mine(RBF):
    """A kernel that is not of the package."""


WRONG = {
    "fitted.kernel must be": GP(Mine(), 0.1),
    "fitted.mean must be": GP(RBF(), 0.1, lambda x: x[:, 0]),
    "fitted.1 must be": (1.0, object()),
    r"fitted\['a'\] must be": {"a": {1.0}},
    "fitted must be": np.asarray([object()]),
}


@pytest.mark.parametrize("said", WRONG)
def test_what_cannot_be_saved_is_named_and_what_was_there_stays(said, tmp_path):
    path = tmp_path / "fitted"
    gpnotes.save(RBF(), path)
    with pytest.raises(TypeError, match=said + ".* to be saved; got"):
        gpnotes.save(WRONG[said], path)
    assert gpnotes.load(path) == RBF()
    with pytest.raises(TypeError, match="path must be a string or a path; got int"):
        gpnotes.save(RBF(), 3)
    with pytest.raises(FileNotFoundError):
        gpnotes.load(tmp_path / "nowhere")


def described(path, change):
    """The file at `path` with another description."""
    with np.load(path) as file:
        parts = dict(file)
    told = json.loads(str(parts["description"]))
    change(told)
    with path.open("wb") as file:
        np.savez(file, **(parts | {"description": np.asarray(json.dumps(told))}))


SPOILT = {
    "a later version": (lambda told: told.update(version=2), "version 2, and .* reads 1"),
    "another form": (lambda told: told.update(form="a letter"), "its form is 'a letter'"),
    "another kind": (lambda told: told.update(kind="a tree"), "it is of 'a tree'"),
    "no version": (lambda told: told.pop("version"), "KeyError: 'version'"),
    "a class unknown": (lambda told: told["values"]["fitted"].update({"class": "Popen"}), "Popen"),
    "a field too few": (lambda told: told["values"]["fitted"]["fields"].pop("y"), "other fields"),
    "an array of nothing": (
        lambda told: told["values"]["fitted"]["fields"].update(X={"array": "array9"}), "array9"),
}  # fmt: skip


@pytest.mark.parametrize("how", SPOILT)
def test_a_file_of_another_form_is_refused_and_says_why(how, tmp_path):
    path = tmp_path / "fitted"
    gpnotes.save(condition(PLAIN, X, Y), path)
    change, said = SPOILT[how]
    described(path, change)
    with pytest.raises(ValueError, match=f"path must be of a file that `save` wrote; .*{said}"):
        gpnotes.load(path)


def test_arrays_of_the_second_version_of_npy_are_read(tmp_path):
    """It differs by the length of a header, which other programs may write so."""
    path = tmp_path / "fitted"
    fitted = condition(PLAIN, X, Y)
    gpnotes.save(fitted, path)
    with np.load(path) as file:
        parts = dict(file)
    with zipfile.ZipFile(path, "w") as file:
        for name, part in parts.items():
            with file.open(f"{name}.npy", "w") as member:
                np.lib.format.write_array(member, part, version=(2, 0), allow_pickle=False)
    same(fitted, gpnotes.load(path))


def test_a_file_that_was_cut_is_refused_wherever_it_was_cut(tmp_path):
    path = tmp_path / "fitted"
    gpnotes.save(condition(PLAIN, X[:3], Y[:3]), path)
    whole = path.read_bytes()
    for length in range(0, len(whole), 7):
        path.write_bytes(whole[:length])
        with pytest.raises(ValueError, match="path must be of a file that `save` wrote"):
            gpnotes.load(path)


@pytest.fixture
def renamed():
    """The class of an evidence under another name than it had."""
    kind, saving_as = sparse_model._Evidence, "_Otherwise"
    kind.__name__ = kind.__qualname__ = saving_as
    setattr(sparse_model, saving_as, kind)
    del sparse_model._Evidence
    yield kind
    kind.__name__ = kind.__qualname__ = "_Evidence"
    sparse_model._Evidence = kind
    delattr(sparse_model, saving_as)


@pytest.fixture
def written(tmp_path):
    gpnotes.save(few(sparse.SparseGP(PLAIN, X[:4]), Y), tmp_path / "fitted")
    return tmp_path / "fitted"


def test_a_class_of_nobody_elses_business_may_have_another_name(written, renamed, tmp_path):
    """The file has its tag; what the class is called where it is defined is not looked at."""
    again = gpnotes.load(written)
    assert type(again.objective.evidence) is renamed
    gpnotes.save(again, tmp_path / "again")
    assert same(gpnotes.load(tmp_path / "again"), again)


def test_no_private_name_stands_in_the_list_of_files():
    names = [name for names in saving._PARTS.values() for name in names]
    assert not [name for name in names if name.startswith("_")]
    assert len(names) == len(set(names))


def test_two_classes_cannot_have_one_tag():
    with pytest.raises(ValueError, match="'sparse evidence' is that of _Evidence"):
        saved_as("sparse evidence")(Mine)


def test_a_registered_class_is_saved_and_none_is_made_that_is_not(tmp_path, monkeypatch):
    class Own(RBF):
        """A kernel of one's own."""

    model, path = GP(Own(1.3, 0.7), 0.1), tmp_path / "own.gp"
    with pytest.raises(TypeError, match=r"got Own: give its class to .*saving\.register"):
        gpnotes.save(model, path)
    monkeypatch.setattr(saving, "_OWN", {})
    assert saving.register("ours")(Own) is Own
    found = fit(model, X, Y, max_steps=2)
    gpnotes.save(found, path)
    again = gpnotes.load(path)
    assert type(again.model.kernel) is Own
    np.testing.assert_array_equal(again.posterior.mean(XS), found.posterior.mean(XS))
    saving.register("ours")(Own)
    with pytest.raises(ValueError, match="name must be of one class; 'ours' is that of"):
        saving.register("ours")(RBF)
    with pytest.raises(TypeError, match="register takes a dataclass; got"):
        saving.register("another")(int)
    monkeypatch.setattr(saving, "_OWN", {})
    with pytest.raises(ValueError, match=r"saving\.register\('ours'\) on it before the file"):
        gpnotes.load(path)


def test_what_no_file_holds_is_told_with_what_to_save_instead(tmp_path):
    X = np.linspace(0.0, 3.0, 8)[:, None]
    posterior = condition(GP(RBF(), 0.1), X, np.sin(X[:, 0]))
    with pytest.raises(TypeError, match="got PartPosterior: save the posterior of f, and ask it"):
        saving.save(posterior.part(0), tmp_path / "part")
    outcome = gpnotes.minimise(lambda x: x[0] ** 2, [(0.0, 1.0)], 4, rng=1)
    with pytest.raises(TypeError, match="no file holds it; save the fit, the posterior or the mod"):
        saving.save(outcome, tmp_path / "outcome")
