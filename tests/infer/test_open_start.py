"""A fit of a model that leaves its numbers open does not depend on the units of X and y."""

import copy
import pickle
from dataclasses import fields, is_dataclass, replace

import numpy as np
import pytest
import sklearn.datasets

from gpnotes import (
    EPGP,
    GP,
    RBF,
    SVGP,
    Bernoulli,
    ConstantMean,
    FeatureGP,
    Gaussian,
    HeteroscedasticGP,
    LaplaceGP,
    Linear,
    Matern52,
    Periodic,
    SoftmaxGP,
    SparseGP,
    StateSpaceGP,
    White,
    condition,
    fit,
    load,
    log_evidence,
    prior,
    save,
    stream,
)
from gpnotes.datasets import dataset
from gpnotes.ground.chunks import Chunks, Rows
from gpnotes.ground.params import left_open, names
from gpnotes.infer.features import draw_frequencies
from gpnotes.infer.fit_checks import may_be_noise
from gpnotes.infer.fitting import FitWarning
from gpnotes.infer.noise_floor import FLOOR
from gpnotes.infer.open_start import like_of, require_unit, started_objective
from gpnotes.model.bounds import spread, strides, units
from gpnotes.model.kernels import (
    ArcCosine,
    Cosine,
    IntegratedWiener,
    Polynomial,
    Sum,
    Wiener,
    WithGradients,
    gradients_at,
    values_at,
)
from gpnotes.model.starts import started

MANY = 60  # rows of each table


def _own(name, inputs, output):
    table = dataset(name)
    rows = table[:: max(1, len(table) // MANY)][:MANY]
    return rows[:, inputs], rows[:, output]


def _sklearn(name, inputs, output):
    data, _ = getattr(sklearn.datasets, f"load_{name}")(return_X_y=True)
    rows = slice(None, None, max(1, len(data) // MANY))
    return data[rows][:, inputs], np.asarray(data[rows][:, output], dtype=float)


def _made(seed, shape, noise, sizes):
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(MANY, len(sizes)))
    return X * np.asarray(sizes) + 3.0, shape(*X.T) + noise * rng.standard_normal(MANY)


TABLES = {
    "engel": lambda: _own("engel", [0], 1),
    "co2": lambda: _own("co2-monthly", [0], 2),
    "elevation": lambda: _own("elevation", [0, 1], 2),
    "diabetes": lambda: _sklearn("diabetes", [2, 8], 3),
    "diabetes, serum": lambda: _sklearn("diabetes", [4, 5, 7], 8),
    "iris, petals": lambda: _sklearn("iris", [0, 1, 2], 3),
    "iris, sepals": lambda: _sklearn("iris", [2, 3], 0),
    "wine, alcohol": lambda: _sklearn("wine", [1, 9, 12], 0),
    "wine, proline": lambda: _sklearn("wine", [0, 9], 12),
    "cancer, radius": lambda: _sklearn("breast_cancer", [4, 5], 0),
    "cancer, smoothness": lambda: _sklearn("breast_cancer", [5, 6], 4),
    "linnerud": lambda: _sklearn("linnerud", [0, 1], 2),
    "sine": lambda: _made(0, lambda x: np.sin(9.0 * x), 0.1, [1.0]),
    "wide sine": lambda: _made(1, lambda x: 40.0 * np.sin(9.0 * x), 8.0, [1e4]),
    "plane": lambda: _made(2, lambda x, z: x - 2.0 * z, 0.1, [1.0, 1e3]),
    "ridge": lambda: _made(3, lambda x, z: np.sin(6.0 * (x + z)), 0.2, [1e-3, 1e3]),
    "step": lambda: _made(4, lambda x: np.sign(x - 0.5), 0.2, [30.0]),
    "hills": lambda: _made(5, lambda x, z: np.sin(5.0 * x) * np.cos(5.0 * z), 0.1, [7.0, 0.1]),
    "three": lambda: _made(6, lambda a, b, c: a * b + c**2, 0.05, [1.0, 10.0, 1e5]),
    "far from zero": lambda: _made(7, lambda x: 1e3 + np.sin(7.0 * x), 0.2, [1.0]),
}
SCALES = ((1e3, 1.0), (1.0, 1e-3), (1e3, 1e-3), ("unlike", 1.0))


@pytest.mark.parametrize("name", TABLES)
def test_the_same_is_found_in_any_units(name):
    X, y = TABLES[name]()
    model = GP(RBF(), mean=ConstantMean())
    here = fit(model, X, y)
    mean, variance = here.posterior.predict(X[:5] + 0.01 * np.std(X, axis=0), noise=True)
    for of_x, of_y in SCALES:
        by = 10.0 ** np.arange(3, 3 - X.shape[1], -1) if of_x == "unlike" else of_x
        there = fit(model, by * X, of_y * y)
        in_common = there.log_evidence + len(y) * np.log(of_y)
        assert in_common == pytest.approx(here.log_evidence, abs=1e-6)
        at = by * (X[:5] + 0.01 * np.std(X, axis=0))
        again, spread = there.posterior.predict(at, noise=True)
        unit = np.std(y)
        np.testing.assert_allclose(again / of_y / unit, mean / unit, atol=1e-4)
        np.testing.assert_allclose(spread / of_y**2 / unit**2, variance / unit**2, atol=1e-4)


KERNELS = {
    "a sum": RBF() + Linear() + White(),
    "a product": RBF() * Matern52(),
    "of columns": RBF().on(0) + RBF().on(1),
    "a product of columns": RBF().on(0) * Matern52().on(1),
    "a polynomial": Polynomial(degree=3),
    "neurons": ArcCosine(),
    "neurons that are steps": ArcCosine(order=0),
    "waves that die out": RBF() * Cosine(),
}


@pytest.mark.filterwarnings("ignore:no reading tells of another")
@pytest.mark.parametrize("kernel", KERNELS)
def test_sums_products_and_choices_of_columns_start_in_the_units_of_theirs(kernel):
    X, y = TABLES["ridge"]()
    here = fit(GP(KERNELS[kernel]), X, y, max_steps=30)
    there = fit(GP(KERNELS[kernel]), 1e3 * X, 1e-3 * y, max_steps=30)
    in_common = there.log_evidence + len(y) * np.log(1e-3)
    assert in_common == pytest.approx(here.log_evidence, abs=1e-6)


@pytest.mark.parametrize("kernel", [Wiener(), IntegratedWiener(), Wiener() + White()])
def test_what_wanders_starts_with_the_variance_of_y_over_the_range(kernel):
    X, y = TABLES["sine"]()
    X = X - np.min(X)
    start = started(GP(kernel), spread(X, y), X).kernel
    one, share = (start.parts[0], 0.5) if isinstance(start, Sum) else (start, 1.0)
    at = np.asarray([[np.sqrt(12.0) * np.std(X)]])
    assert one.diag(at)[0] == pytest.approx(share * np.var(y))
    for model in (GP(kernel), StateSpaceGP(GP(kernel))):
        here, there = (
            fit(model, by * X, of_y * y, max_steps=20) for by, of_y in ((1.0, 1.0), (1e3, 1e-3))
        )
        in_common = there.log_evidence + len(y) * np.log(1e-3)
        assert in_common == pytest.approx(here.log_evidence, abs=1e-6)


def test_a_frequency_starts_at_a_turn_over_the_range_and_is_moved_in_its_own_unit():
    X = 1e4 * np.linspace(0.0, 1.0, 200)[:, None]
    of = spread(X, np.sin(X[:, 0]))
    kernel = started(GP(Cosine()), of, X).kernel
    assert kernel.frequency == pytest.approx(1e-4, rel=0.01)
    held = ["noise_var"]
    assert units(GP(kernel, 1.0), of, fixed=held)[0] == kernel.frequency
    assert strides(GP(kernel, 1.0), of, fixed=held)[0] == kernel.frequency
    assert units(GP(Cosine(0.0), 1.0), of, fixed=held)[0] == 1.0


@pytest.fixture
def sine():
    X = np.linspace(0.0, 9e3, 60)[:, None]
    return X, 50.0 * np.sin(X[:, 0] / 1e3) + 5.0 * np.asarray(stream(1).normal(60))


MODELS = {
    "exact": GP(RBF()),
    "inducing points": SparseGP(GP(RBF()), 12),
    "on a line": StateSpaceGP(GP(Matern52())),
    "variational": SVGP(GP(RBF()), Gaussian(), 12),
}


@pytest.mark.parametrize("model", MODELS)
def test_every_model_finds_the_signal(model, sine):
    X, y = sine
    found = fit(MODELS[model], X, y, max_steps=60)
    residual = y - np.asarray(found.posterior.mean(X))
    assert np.std(residual) < 8.0


def _features(X):
    return FeatureGP(GP(RBF()), draw_frequencies(RBF(), X, 20, rng=1))


OTHERS = {
    "through features": (_features, lambda y: y, -np.log(1e-3)),
    "with noise that varies": (lambda X: HeteroscedasticGP(GP(RBF()), RBF()), lambda y: y,
                               -np.log(1e-3)),
    "labels by moments": (lambda X: EPGP(GP(RBF()), Bernoulli()), np.sign, 0.0),
    "classes": (lambda X: SoftmaxGP(GP(RBF()), 3),
                lambda y: np.digitize(y / np.std(y), [-0.5, 0.5]).astype(float), 0.0),
}  # fmt: skip


# the classes separate, but it is units that are asked about
@pytest.mark.filterwarnings("ignore:probabilities are too near:gpnotes.infer.fit_checks.FitWarning")
@pytest.mark.parametrize("name", OTHERS)
def test_other_models_that_leave_numbers_open_do_not_depend_on_units(name):
    X, y = TABLES["hills"]()
    make, told, log_unit = OTHERS[name]
    here = fit(make(X), X, told(y), max_steps=8)
    there = fit(make(1e3 * X), 1e3 * X, told(1e-3 * y), max_steps=8)
    in_common = there.log_evidence - len(y) * log_unit
    assert in_common == pytest.approx(here.log_evidence, abs=1e-6)
    start, moved = (found.objective.model.gp for found in (here, there))
    np.testing.assert_allclose(moved.kernel.lengthscale, 1e3 * start.kernel.lengthscale)
    assert start.kernel.lengthscale.shape == (2,)
    if log_unit:
        assert start.kernel.variance == pytest.approx(np.var(y))
        assert start.noise_var == pytest.approx(0.1 * np.var(y))
    else:
        assert (start.kernel.variance, start.noise_var) == (1.0, 0.0)


def test_labels_have_no_noise_and_lengths_from_the_inputs(sine):
    X, y = sine
    found = fit(LaplaceGP(GP(RBF()), Bernoulli()), X, np.sign(y))
    assert found.model.gp.noise_var == 0.0
    assert 100.0 < found.model.gp.kernel.lengthscale < 1e4


def test_chunks_give_the_lengths_of_all_rows(sine):
    X, y = sine
    model = SparseGP(GP(RBF()), X[::6].copy())
    chunks = Chunks([(X[:30], y[:30]), (X[30:], y[30:])])
    whole, parts = (fit(model, *data, max_steps=40) for data in ((X, y), (chunks,)))
    assert parts.log_evidence == pytest.approx(whole.log_evidence, abs=0.1)


def test_any_space(space):
    X, y = TABLES["hills"]()
    found = fit(GP(RBF(), mean=ConstantMean()), space.asarray(X), space.asarray(y), max_steps=5)
    assert space.holds(found.model.kernel.lengthscale)
    assert found.model.kernel.lengthscale.shape == (2,)
    assert fit(GP(RBF(2.0, 1.0), 0.1), X, y, max_steps=5).model.kernel.lengthscale > 0.0


def test_what_a_fit_alone_can_find_is_refused_elsewhere(sine):
    X, y = sine
    for verb in (condition, log_evidence):
        for model in (GP(RBF()), SparseGP(GP(RBF()), 5), StateSpaceGP(GP(Matern52()))):
            with pytest.raises(ValueError, match=r"gp\.noise_var must be given, as in GP\(kernel"):
                verb(model, X, y)
    with pytest.raises(ValueError, match=r"gp\.noise_var must be given"):
        prior(GP(RBF()), X, noise=True)
    with pytest.raises(ValueError, match=r"gp\.noise_var must be given"):
        fit(GP(RBF()), X, y, fixed=["noise_var"])
    assert condition(GP(RBF(2500.0, 1e3)), X, y, noise_var=np.full(60, 25.0)).gp.noise_var == 0.0


@pytest.mark.filterwarnings("ignore:no reading tells of another")
def test_numbers_that_were_given_are_the_start_exactly(sine):
    X, y = sine
    found = fit(GP(RBF(2500.0, 900.0), 30.0), X, y, fixed=["kernel", "noise_var"])
    assert found.model == GP(RBF(2500.0, 900.0), 30.0)
    assert found.runs[0].evaluations == 1
    assert not left_open(RBF(1.0, 1.0))
    kept = fit(GP(RBF(variance=2500.0)), X, y, fixed=["kernel.lengthscale"])
    assert kept.model.kernel.lengthscale == 1.0


def test_an_entry_that_is_fixed_keeps_its_number_and_the_others_start_from_the_data():
    X = np.asarray(stream(0).uniform((60, 2))) * np.asarray([6.0, 600.0])
    y = np.sin(X[:, 0]) + 0.1 * np.asarray(stream(1).normal(60))
    found = fit(GP(RBF(), mean=ConstantMean()), X, y, fixed=["kernel.lengthscale[1]", "mean"])
    start = found.objective.model.kernel
    assert start.lengthscale[1] == found.model.kernel.lengthscale[1] == 1.0
    assert start.lengthscale[0] == started(GP(RBF()), spread(X, y), X).kernel.lengthscale[0]
    assert found.model.kernel.lengthscale[0] != start.lengthscale[0]
    both = ["kernel.lengthscale[0]", "kernel.lengthscale[1]"]
    kept = fit(GP(RBF()), X, y, fixed=both, max_steps=2).model.kernel
    np.testing.assert_array_equal(kept.lengthscale, [1.0, 1.0])
    given = GP(RBF(lengthscale=np.asarray([2.0, 3.0])))
    kept = fit(given, X, y, fixed=both[:1], max_steps=2).model.kernel
    assert kept.lengthscale[0] == 2.0
    with pytest.raises(ValueError, match=r"fixed names 'kernel.lengthscale\[2\]'; there are"):
        fit(GP(RBF()), X, y, fixed=["kernel.lengthscale[2]"])


def test_an_entry_that_is_fixed_has_the_library_of_the_data(space):
    X = space.asarray(np.asarray(stream(0).uniform((12, 2))))
    y = space.asarray(np.asarray(stream(1).normal(12)))
    found = fit(GP(RBF()), X, y, fixed=["kernel.lengthscale[0]"], max_steps=2)
    assert space.holds(found.model.kernel.lengthscale)
    assert float(found.model.kernel.lengthscale[0]) == 1.0


def _opens(model):
    return sorted(left_open(model)), sorted(left_open(model.kernel))


@pytest.mark.filterwarnings("ignore:no reading tells of another")
def test_what_is_open_stays_so_through_replace_and_files_and_a_fit_closes_it(tmp_path, sine):
    other = replace(GP(RBF()), mean=ConstantMean(1.0))
    save(other, tmp_path / "open")
    kept = replace(RBF(), variance=2.0)
    assert sorted(left_open(kept)) == ["lengthscale"]
    assert sorted(left_open(replace(kept, variance=1.0))) == ["lengthscale"]
    for model in (other, load(tmp_path / "open"), copy.deepcopy(other)):
        assert model == other
        assert _opens(model) == (["noise_var"], ["lengthscale", "variance"])
        assert type(model.kernel.variance) is float
    for numbers in ((1.0, 1.0), (np.float64(1.0), 1)):
        assert not left_open(RBF(*numbers))
    found = fit(GP(RBF()), *sine, fixed=["kernel.lengthscale"], max_steps=2)
    assert _opens(found.model) == ([], [])
    assert _opens(replace(found.model, mean=ConstantMean(1.0))) == ([], [])
    save(found.model, tmp_path / "closed")
    assert _opens(load(tmp_path / "closed")) == ([], [])


COPIES = {
    "a pickle": lambda model: pickle.loads(pickle.dumps(model)),
    "a deep copy": copy.deepcopy,
    "a copy": copy.copy,
    "a pickle of a pickle": lambda model: pickle.loads(pickle.dumps(copy.deepcopy(model), 2)),
}
WITH_OPEN = {
    "a process": GP(RBF()),
    "a level": GP(Matern52(2.0), mean=ConstantMean()),
    "a sum": GP(RBF() + 2.0 * Linear() * Cosine()),
    "inducing points": SparseGP(GP(RBF()), 4),
    "on a line": StateSpaceGP(GP(Matern52())),
    "labels": LaplaceGP(GP(ArcCosine()), Bernoulli()),
    "a likelihood": SVGP(GP(RBF()), Gaussian(), 5),
    "two processes": HeteroscedasticGP(GP(RBF()), RBF(lengthscale=2.0)),
    "nothing": GP(RBF(1.0, 1.0), 0.1),
}


@pytest.mark.parametrize("name", WITH_OPEN)
def test_what_is_open_stays_so_through_copies_and_what_is_replaced_in_them(name):
    given = WITH_OPEN[name]
    for copied in COPIES.values():
        again = copied(given)
        assert repr(again) == repr(given)
        assert _every_open(again) == _every_open(given)
        assert _every_open(replace(again)) == _every_open(given)
        for one, other in zip(_inside(again), _inside(given), strict=True):
            assert left_open(replace(one)) == left_open(other)
            for leaf in left_open(other):
                new = replace(one, **{leaf: 1.0 * getattr(one, leaf)})
                assert left_open(new) == tuple(one for one in left_open(other) if one != leaf)


def _inside(obj):
    """The dataclasses in one, and it itself."""
    if isinstance(obj, tuple):
        return [inner for part in obj for inner in _inside(part)]
    if not is_dataclass(obj) or isinstance(obj, type):
        return []
    parts = [getattr(obj, field.name) for field in fields(obj)]
    return [obj, *(inner for part in parts for inner in _inside(part))]


def _every_open(obj):
    return [sorted(left_open(inner)) for inner in _inside(obj)]


def test_a_fit_of_a_copy_starts_where_one_of_the_original_does(sine):
    X, y = sine
    again = replace(pickle.loads(pickle.dumps(GP(RBF()))), mean=ConstantMean())
    here, there = (
        fit(model, X, y, max_steps=1) for model in (GP(RBF(), mean=ConstantMean()), again)
    )
    assert here.objective.model == there.objective.model != again


def test_a_start_that_is_far_off_is_tried_beside_one_from_the_data():
    X = np.asarray(stream(0).uniform((60, 2))) * 6.0
    y = np.sin(X[:, 0]) + 0.1 * np.asarray(stream(1).normal(60))
    there = fit(GP(RBF(1.0, 1.0), 1.0), X, y, restarts=5, rng=0)
    with pytest.warns(FitWarning, match="the start given ended with all of y taken for noise"):
        far = fit(GP(RBF(1.0, 1.0), 1.0), 1e3 * X, y, restarts=5, rng=0)
    assert far.log_evidence == pytest.approx(there.log_evidence, abs=1e-6)
    assert (len(there.runs), len(far.runs)) == (6, 7)
    assert "all of y taken for noise" in " ".join(str(far).split())
    assert "taken for noise" not in str(there)
    with may_be_noise():  # which makes an error of nothing
        fit(GP(RBF(1.0, 1.0), 1.0), 1e3 * X, y, restarts=5, rng=0)


def test_noise_alone_is_told_in_the_report_and_as_a_warning():
    X, y = np.linspace(0.0, 9.0, 50)[:, None], np.asarray(stream(3).normal(50))
    with pytest.warns(FitWarning, match="no reading tells of another"):
        said = " ".join(str(fit(GP(RBF(1.0, 1.0), 1.0), X, y)).split())
    assert "all that varies in y is taken for noise" in said
    with may_be_noise():
        assert "taken for noise" in str(fit(GP(RBF(1.0, 1.0), 1.0), X, y))


def test_what_is_open_and_held_is_told():
    """Its number has no unit, so that in other units of X another model is fitted."""
    X = np.asarray(stream(0).uniform((40, 2))) * 6.0
    y = np.sin(X[:, 0])
    held = "Held although the model leaves them open, at numbers that are in no unit of the data:"
    whole = " ".join(str(fit(GP(RBF()), X, y, fixed=["kernel.lengthscale"])).split())
    assert f"{held} kernel.lengthscale." in whole
    entry = " ".join(str(fit(GP(RBF()), X, y, fixed=["kernel.lengthscale[1]"])).split())
    assert f"{held} kernel.lengthscale[1]." in entry
    given = str(fit(GP(RBF(lengthscale=2.0)), X, y, fixed=["kernel.lengthscale"]))
    assert "Held" not in given


def test_a_straight_line_is_not_taken_for_noise():
    X = np.asarray(stream(0).uniform((40, 1)))
    y = X[:, 0] + 1e-2 * np.asarray(stream(1).normal(40))
    far = GP(RBF(1e4, 100.0), 0.1)  # its covariances differ little beside themselves
    found = fit(far, X, y, fixed=["kernel"])
    assert found.model.noise_var < 1e-3 * np.var(y)
    assert "taken for noise" not in " ".join(str(found).split())


def test_predictions_that_are_surer_than_readings_repeat_are_told(sine):
    X, y = sine
    start = GP(RBF(2500.0, 1e3), 1e-3)
    with pytest.warns(FitWarning, match="the noise fell to nothing"):
        found = fit(start, X, y, bounds={"noise_var": (1e-4, 1e-2)}, fixed=["kernel"])
    assert "surer than readings repeat" in str(found)


def test_an_open_period_keeps_its_number() -> None:
    X = 100.0 * np.arange(20.0)[:, None]
    y = 7.0 * np.sin(X[:, 0])
    kernel = started(GP(Periodic()), spread(X, y), X).kernel
    assert kernel.period == 1.0
    assert kernel.lengthscale == 1.0
    np.testing.assert_allclose(kernel.variance, np.var(y), rtol=1e-12)


@pytest.mark.parametrize("scale", [1e-200, 1e-160, 1e160, 1e200])
def test_a_y_whose_noise_has_no_room_is_told_so_of_itself(scale):
    X = np.linspace(0.0, 3.0, 12)[:, None]
    y = scale * np.sin(X[:, 0])
    for model in (GP(RBF()), StateSpaceGP(GP(Matern52())), SparseGP(GP(RBF()), X[::3])):
        with pytest.raises(ValueError, match=r"^y must be (in another unit|smaller than)"):
            fit(model, X, y)


@pytest.mark.parametrize("scale", [1e-140, 1e120])
def test_other_units_of_y_are_as_good(scale):
    X = np.linspace(0.0, 3.0, 12)[:, None]
    y = np.sin(X[:, 0]) + 0.1 * np.cos(9.0 * X[:, 0])
    found, wanted = fit(GP(RBF()), X, scale * y).model, fit(GP(RBF()), X, y).model
    assert found.noise_var / scale / scale == pytest.approx(wanted.noise_var, rel=1e-4)
    np.testing.assert_allclose(found.kernel.lengthscale, wanted.kernel.lengthscale, rtol=1e-4)


def limits_of(made, name):
    return np.exp(made.limits[names(made.model, fixed=made.fixed).index(name)])


def test_an_open_noise_alone_has_a_floor_and_a_ceiling_in_the_unit_of_y(sine):
    """And what is started from the data is compared in that unit."""
    rows, unit = Rows(*sine), float(np.std(sine[1]))
    for model, noise in ((GP(RBF()), "noise_var"), (SparseGP(GP(RBF()), 12), "gp.noise_var")):
        made = started_objective(model, rows)
        assert made.floor == noise
        assert made.level == pytest.approx(60.0 * np.log(unit))
        np.testing.assert_allclose(limits_of(made, noise), [FLOOR * unit**2, 1e10 * unit**2])
    lengths = started_objective(GP(RBF(), 30.0), rows)  # whose noise is given
    assert (lengths.floor, lengths.level) == ("", pytest.approx(60.0 * np.log(unit)))
    given = started_objective(GP(RBF(2500.0, 900.0), 30.0), rows)
    assert (given.floor, given.level) == ("", 0.0)
    labels = Rows(rows.X, np.sign(rows.y))
    latent = started_objective(LaplaceGP(GP(RBF()), Bernoulli()), labels)
    assert (latent.floor, latent.level) == ("", 0.0)
    own = started_objective(GP(RBF()), rows, bounds={"noise_var": (0.5, 7.0)})
    assert own.floor == ""
    np.testing.assert_allclose(limits_of(own, "noise_var"), [0.5, 7.0])
    other = started_objective(GP(RBF()), rows, bounds={"kernel.variance": (0.5, 7.0)})
    np.testing.assert_allclose(limits_of(other, "kernel.variance"), [0.5, 7.0])
    np.testing.assert_allclose(limits_of(other, "noise_var"), [FLOOR * unit**2, 1e10 * unit**2])


@pytest.mark.parametrize("model", [GP(RBF()), GP(RBF(), 30.0)])
@pytest.mark.parametrize("bounds", [3, [("noise_var", (0.1, 1.0))]])
def test_bounds_that_are_no_mapping_are_refused(sine, model, bounds):
    with pytest.raises(TypeError, match="bounds must be a mapping from names"):
        started_objective(model, Rows(*sine), bounds=bounds)


def test_the_unit_of_y_has_room_for_its_noise_within_both_ends():
    for unit in (1e-151, 1.0, 1e148):
        assert require_unit(unit) == unit
    for unit in (np.nextafter(1e-151, 0.0), np.nextafter(1e148, np.inf)):
        with pytest.raises(ValueError, match="y must be in another unit"):
            require_unit(unit)


def test_arrays_are_made_like_those_of_rows_or_else_of_the_model(sine):
    X, y = sine
    chunks = Chunks([(X, y)])
    assert like_of(GP(RBF()), Rows(X, y)) is X
    frequencies = draw_frequencies(RBF(), X, 20, rng=1)
    assert like_of(FeatureGP(GP(RBF()), frequencies), chunks) is frequencies.like
    assert like_of(GP(RBF()), chunks).shape == (0,)
    assert like_of(SparseGP(GP(RBF()), 5), chunks).shape == (0,)
    points = SparseGP(GP(RBF()), X[::6])
    np.testing.assert_array_equal(like_of(points, chunks), X[::6])


@pytest.mark.parametrize("of", ["GP", "line", "sparse", "Laplace", "EP"])
def test_a_row_far_off_in_x_does_not_spoil_a_fit(rng, of):
    """Lengthscales began by the deviation that it made, and y was taken for noise."""
    X = rng.uniform(size=(20, 1))
    y = np.sin(5.0 * X[:, 0]) + 0.05 * rng.normal(size=20)
    labels = np.where(y > 0.0, 1.0, -1.0)
    model, y = {
        "GP": (GP(RBF()), y), "line": (StateSpaceGP(GP(Matern52())), y),
        "sparse": (SparseGP(GP(RBF()), np.linspace(0.0, 1.0, 6)[:, None]), y),
        "Laplace": (LaplaceGP(GP(RBF(1.0))), labels), "EP": (EPGP(GP(RBF(1.0))), labels),
    }[of]  # fmt: skip

    def evidence(far):
        X[3] = far
        return fit(model, X, y).log_evidence

    near = evidence(2e3)
    assert near > evidence_of_noise(y, labels) + 5.0
    for far in (9999.0, 1e25):
        assert evidence(far) == pytest.approx(near, abs=0.02)


def evidence_of_noise(y, labels):
    """The log evidence of y that know nothing of each other."""
    if y is labels:
        return y.size * np.log(0.5)
    return -0.5 * y.size * (np.log(2.0 * np.pi * np.mean(y * y)) + 1.0)


@pytest.mark.parametrize(("of_x", "of_y"), [(1e-3, 1.0), (1.0, 1e6), (1e-3, 1e-3), (1e3, 1e3)])
def test_values_with_slopes_are_learnt_in_any_units(of_x, of_y):
    """Slopes are in the unit of y over that of x, so that both units change what y is like."""
    x, new = np.linspace(0.0, 6.0, 10)[:, None], np.linspace(0.0, 6.0, 25)[:, None]
    rows = np.concatenate([values_at(of_x * x), gradients_at(of_x * x)])
    y = of_y * np.concatenate([np.sin(x[:, 0]), np.cos(x[:, 0]) / of_x])
    model = fit(GP(WithGradients(Matern52())), rows, y).model
    found = condition(model, rows, y).mean(values_at(of_x * new)) / of_y
    assert np.max(np.abs(found - np.sin(new[:, 0]))) < 0.1
