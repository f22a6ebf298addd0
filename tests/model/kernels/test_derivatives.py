"""Values and derivatives of f together: against differences of the plain kernel, and in use."""

import dataclasses

import numpy as np
import pytest
from scipy import stats

import gpnotes as g
from gpnotes import log_evidence_and_gradient, testing
from gpnotes.decide import bayesopt
from gpnotes.ground.params import flatten_gradient
from gpnotes.ground.xp import to_numpy
from gpnotes.model import kernels
from gpnotes.model.kernels import (
    GradientNoise,
    ThinPlate,
    WithGradients,
    derivatives_at,
    gradients_at,
    values_at,
)
from gpnotes.model.means import ConstantOfValues
from gpnotes.testing import check_kernel, check_mean, gradcheck
from gpnotes.testing.differences import jacobian

SMOOTH = ("RBF", "RBF ARD", "Matern52 ARD", "Linear ARD", "Constant", "sum")
ROUGH = ("Matern32", "ThinPlate")  # one derivative, so none of the pullback where points coincide


def _inner(space, d=3):
    lengths = space.asarray([0.7, 1.4, 2.5][:d])
    return {
        "RBF": g.RBF(1.3, 0.8),
        "RBF ARD": g.RBF(1.3, lengths),
        "Matern52 ARD": g.Matern52(1.3, lengths),
        "Matern32": g.Matern32(0.7, 1.1),
        "ThinPlate": ThinPlate(1.3, 6.0),
        "Linear ARD": g.Linear(lengths),
        "Constant": g.Constant(0.7),
        "sum": 1.7 * (g.RBF(0.5, lengths) + g.Linear(0.2) + g.Constant(2.0)),
    }


@pytest.fixture(params=SMOOTH + ROUGH)
def inner(request, space):
    return _inner(space)[request.param]


@pytest.fixture
def rows(space, rng):
    """Nine rows, with every label twice or more, in no order."""
    points, labels = rng.normal(size=(9, 3)), [[0], [2], [1], [3], [0], [1], [3], [2], [0]]
    return space.asarray(np.concatenate([points, np.asarray(labels, float)], axis=1))


@pytest.fixture
def few(space, rng):
    """Rows of two inputs, with each label once and that of values twice."""
    return space.asarray(np.concatenate([rng.normal(size=(4, 2)), [[0.0], [2.0], [1.0], [0.0]]], 1))


def by_differences(kernel, x, z, h=1e-3):
    """Central differences, extrapolated once, of the kernel in each row's and column's input."""

    def sides(row):
        point, label = row[None, :-1], int(row[-1])
        if label == 0:
            return [(1.0, point)]
        unit = np.eye(point.shape[1])[label - 1]
        steps = ((4 / 3, 0.5 * h), (-1 / 3, h))
        return [(s * w / (2 * t), point + s * t * unit) for w, t in steps for s in (1, -1)]

    return np.asarray([
        [sum(a * b * kernel(p, q)[0, 0] for a, p in sides(r) for b, q in sides(c)) for c in z]
        for r in x
    ])  # fmt: skip


@pytest.mark.parametrize("name", SMOOTH + ROUGH)
def test_it_holds_the_derivatives_of_the_kernel(name, rng):
    kernel = _inner(testing.array_spaces("numpy")[0])[name]
    x, z = (
        np.concatenate([rng.normal(size=(n, 3)), rng.integers(0, 4, size=(n, 1))], axis=1)
        for n in (12, 9)
    )
    wanted = by_differences(kernel, x, z)
    np.testing.assert_allclose(WithGradients(kernel)(x, z), wanted, rtol=1e-6, atol=1e-7)


def test_the_squared_exponential_by_hand(space, close):
    """At the distance δ of two points on a line with ℓ = 2: by pencil."""
    d, k = 1.5, 1.3 * np.exp(-0.5 * (1.5 / 2.0) ** 2)
    x, z = space.asarray([[d, 0.0], [d, 1.0]]), space.asarray([[0.0, 0.0], [0.0, 1.0]])
    wanted = k * np.asarray([[1.0, d / 4.0], [-d / 4.0, 1.0 / 4.0 - d * d / 16.0]])
    close(WithGradients(g.RBF(1.3, 2.0))(x, z), wanted)


@pytest.mark.parametrize("name", SMOOTH + ROUGH)
def test_it_conforms(name, space, few):
    check_kernel(WithGradients(_inner(space, 2)[name]), few, labels=True)


def test_gradient_noise_conforms(few):
    check_kernel(WithGradients(g.RBF()) + GradientNoise(0.3), few, labels=True)


@dataclasses.dataclass(frozen=True)
class Brought(g.RBF):
    """A wrapper that somebody else wrote, who never heard of labels."""

    kernel: g.Kernel = g.RBF()  # noqa: RUF009  (frozen, so one instance can serve all)


LABELLED = {
    "on all": WithGradients(g.RBF()).on(0, 1, 2),
    "on, in another order": WithGradients(g.RBF()).on(1, 0, 2),
    "on, in a sum": 0.5 * (WithGradients(g.RBF()).on(0, 1, 2) + GradientNoise(0.2)),
    "on, of a sum": (WithGradients(g.RBF()) + GradientNoise(0.2)).on(0, 1, 2),
    "on, of a multiple": (2.0 * WithGradients(g.Matern52())).on(0, 1, 2),
    "on, in a product": WithGradients(g.RBF()).on(0, 1, 2) * g.Constant(2.0),
}


@pytest.mark.parametrize("name", LABELLED)
def test_wrapped_kernels_conform(name, few):
    check_kernel(LABELLED[name], few, labels=True)


@pytest.mark.parametrize("kernel", [*LABELLED.values(), Brought(kernel=WithGradients(g.RBF()))])
def test_no_wrapper_forgets_that_rows_are_labelled(kernel):
    assert kernel.labels_rows is True
    with pytest.raises(TypeError, match="mean must be ConstantOfValues for a kernel of derivative"):
        g.GP(kernel, 0.1, g.ConstantMean(1.0))
    assert g.GP(kernel, 0.1, ConstantOfValues(1.0)).kernel is kernel


def test_others_label_nothing(inner):
    assert (inner.on(0, 1, 2) * g.RBF() + g.White()).labels_rows is False


def test_labels_behind_a_choice_of_columns_are_the_last_column(rows):
    """Else what stands before them is no point of what the mean, or a search, sees."""
    kernel = WithGradients(g.RBF()).on(0, 1)
    message = "x must have the last of dims, 1, as its last column: it holds labels; got"
    for call in (kernel, kernel.diag):
        with pytest.raises(ValueError, match=message):
            call(rows)


def test_a_label_is_no_coordinate_of_a_kernel_beside(rows):
    labelled = WithGradients(g.RBF())
    taken = labelled + g.White(0.1) + g.Constant(2.0) + 0.5 * g.RBF().on(0, 1) + GradientNoise(0.2)
    assert taken(rows).shape == (rows.shape[0], rows.shape[0])
    assert (labelled * g.Constant(2.0)).labels_rows
    for make in (lambda: labelled + g.RBF(), lambda: labelled + (2.0 * g.Linear())):
        with pytest.raises(TypeError, match=r"Sum\.parts must be a kernel of labelled rows.*; got"):
            make()
    for other in (g.RBF(), g.RBF().on(0)):
        with pytest.raises(TypeError, match=r"Product\.parts must be a kernel of labelled rows"):
            _ = labelled * other


def test_noise_is_of_derivatives_alone(space, rows, close):
    wanted = 0.3 * (to_numpy(rows)[:, -1] > 0.0)
    close(GradientNoise(0.3)(rows), np.diag(wanted))
    close(GradientNoise(0.3)(rows, rows), np.zeros((9, 9)))
    close(GradientNoise(0.3).diag(rows), wanted)


def test_rows_of_values_are_the_plain_kernel(inner, space, rng, close):
    x, z = space.asarray(rng.normal(size=(6, 3))), space.asarray(rng.normal(size=(4, 3)))
    close(WithGradients(inner)(values_at(x), values_at(z)), to_numpy(inner(x, z)), scale=10.0)


def test_points_that_coincide_are_no_trouble(inner, space):
    """Twice the same point, with its value and its gradient each time."""
    point = space.asarray([[0.5, -0.25, 1.0]])
    xp = space.xp
    once = xp.concat([values_at(point), gradients_at(point)])
    K = to_numpy(WithGradients(inner)(xp.concat([once, once])))
    assert np.isfinite(K).all()
    np.testing.assert_allclose(K[:4, :4], K[4:, :4], rtol=1e-6)
    bar, x_bar, _ = WithGradients(inner).pullback(
        xp.concat([once, once]), None, space.asarray(np.ones((8, 8)))
    )
    assert np.isfinite(to_numpy(x_bar)).all()
    assert np.isfinite(flatten_gradient(WithGradients(inner), bar)).all()


@pytest.mark.parametrize("d", [1, 5])
@pytest.mark.parametrize("name", ["RBF", "Matern52", "Matern32"])
def test_far_from_the_origin_and_in_five_dimensions(name, d, rng):
    """Beyond three columns distances are expanded; a shift must change nothing."""
    kernel = WithGradients(getattr(kernels, name)(1.3, 2.0))
    points, labels = rng.normal(size=(8, d)), rng.integers(0, d + 1, size=(8, 1))
    near, far = (np.concatenate([points + shift, labels], axis=1) for shift in (0.0, 1e3))
    np.testing.assert_allclose(kernel(far), kernel(near), rtol=1e-7, atol=1e-9)
    check_kernel(kernel, near, labels=True)


def test_blocks_of_rows_make_one_matrix(rows, space, monkeypatch):
    kernel, whole = WithGradients(g.Matern52(1.3, 0.8)), None
    K_bar = space.asarray(np.arange(81.0).reshape(9, 9))
    for entries in (2**18, 20):
        monkeypatch.setattr("gpnotes.model.kernels.derivatives._ENTRIES", entries)
        bar, x_bar, _ = kernel.pullback(rows, None, K_bar)
        found = [to_numpy(kernel(rows)), to_numpy(x_bar), bar.kernel.lengthscale]
        whole = found if whole is None else whole
        for one, other in zip(found, whole, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-11 if space.double else 2e-4, atol=1e-4)


def test_joint_draws_have_the_slopes_that_they_show():
    """Values on a fine grid and slopes there, drawn together: differences give the slopes."""
    x = np.linspace(0.0, 4.0, 41)[:, None]
    gp = g.GP(WithGradients(g.RBF(1.0, 1.5)), 0.0)
    draws = g.prior(gp, np.concatenate([values_at(x), gradients_at(x)])).sample(20, rng=g.stream(3))
    values, slopes = draws[:, :41], draws[:, 41:]
    seen = (values[:, 2:] - values[:, :-2]) / 0.2
    assert np.abs(seen - slopes[:, 1:-1]).max() < 0.02 < 0.1 < np.abs(slopes).max()


def test_drawn_slopes_have_the_variance_that_the_kernel_says():
    gp = g.GP(WithGradients(g.Matern32(2.0, 0.5)), 0.0)
    draws = g.prior(gp, np.asarray([[0.3, 1.0]])).sample(4000, rng=g.stream(0))[:, 0]
    variance = 2.0 * 3.0 / 0.5**2  # σ_f² · 3/ℓ²
    low, high = stats.chi2(4000).ppf([0.0005, 0.9995]) / 4000
    assert low < np.mean(draws**2) / variance < high


def _observations(space, n=6, d=2):
    rng = np.random.default_rng(1)
    x = rng.uniform(-2.0, 2.0, size=(n, d))
    f = np.sin(x[:, 0]) + 0.5 * x[:, 1] ** 2
    slopes = np.stack([np.cos(x[:, 0]), x[:, 1]], axis=1)
    return space.asarray(x), space.asarray(f), space.asarray(slopes)


def test_a_posterior_in_every_namespace(space, close):
    """Values, gradients and predictions of gradients, as on NumPy."""
    x, f, slopes = _observations(space)
    gp = g.GP(WithGradients(g.RBF(2.0, 1.5)) + GradientNoise(0.01), 0.01)
    X = space.xp.concat([values_at(x), gradients_at(x)])
    y = space.xp.concat([f, space.xp.reshape(slopes, (12,))])
    new = space.asarray([[0.2, -0.3, 0.0], [0.2, -0.3, 1.0], [0.2, -0.3, 2.0]])
    mean, variance = g.condition(gp, X, y).predict(new)
    plain = g.condition(gp, to_numpy(X).astype(float), to_numpy(y).astype(float))
    wanted = plain.predict(to_numpy(new).astype(float))
    close(mean, wanted[0], scale=1e3 if space.double else 300.0)
    close(variance, wanted[1], scale=1e3 if space.double else 300.0)
    value, bar = log_evidence_and_gradient(gp, X, y)
    wanted_value, wanted_bar = log_evidence_and_gradient(gp, plain.X, plain.y)
    tolerance = 1e-7 if space.double else 3e-2
    assert value == pytest.approx(wanted_value, rel=tolerance)
    np.testing.assert_allclose(
        flatten_gradient(gp, bar),
        flatten_gradient(gp, wanted_bar),
        rtol=tolerance,
        atol=tolerance,
    )


def test_gradients_of_the_evidence_against_differences():
    x, f, slopes = _observations(testing.array_spaces("numpy")[0])
    X, y = np.concatenate([values_at(x), gradients_at(x)]), np.concatenate([f, slopes.ravel()])
    kernel = WithGradients(g.Matern52(2.0, np.asarray([1.5, 0.9])) + g.Constant(0.5))
    gp = g.GP(kernel + GradientNoise(0.02), 0.01, ConstantOfValues(0.3))
    gradcheck(
        lambda gp: g.log_evidence(gp, X, y),
        lambda gp, bar: (log_evidence_and_gradient(gp, X, y)[1],), gp, rtol=1e-5,
    )  # fmt: skip


def test_a_gradient_improves_a_posterior_and_a_fit_runs():
    """Held-out errors over ten functions: slopes at six points beside values at six alone."""
    better = 0
    for seed in range(10):
        rng = np.random.default_rng(seed)
        x, new = rng.uniform(-3.0, 3.0, size=(6, 1)), np.linspace(-3.0, 3.0, 50)[:, None]
        gp = g.GP(WithGradients(g.RBF(1.0, 1.0)), 1e-4)
        every = np.concatenate([values_at(x), gradients_at(x), values_at(new)])
        draw = g.prior(gp, every).sample(1, rng=g.stream(seed))[0]
        values = g.condition(gp, values_at(x), draw[:6])
        both = values.extend(gradients_at(x), draw[6:12])
        errors = [
            np.sqrt(np.mean((p.mean(values_at(new)) - draw[12:]) ** 2)) for p in (values, both)
        ]
        assert (both.variance(values_at(new)) <= values.variance(values_at(new)) + 1e-9).all()
        better += errors[1] < errors[0]
    assert better >= 9
    start = dataclasses.replace(gp, kernel=WithGradients(g.RBF(0.3, 3.0)))
    found = g.fit(start, both.X, both.y, fixed=("noise_var",))
    assert found.log_evidence > g.log_evidence(start, both.X, both.y) + 1.0


def test_the_gradient_of_a_posterior_mean_is_a_prediction():
    """The derivative of the mean by differences, and the mean of the derivative."""
    x, f, _ = _observations(testing.array_spaces("numpy")[0])
    posterior = g.condition(g.GP(WithGradients(g.RBF(2.0, 1.5)), 0.01), values_at(x), f)
    place = np.asarray([[0.4, -0.2]])
    slopes = jacobian(lambda p: posterior.mean(values_at(p[None, :])), place[0])
    np.testing.assert_allclose(posterior.mean(gradients_at(place)), slopes[0], rtol=1e-7)


@pytest.mark.parametrize("wrapped", [False, True])
def test_an_acquisition_is_climbed_among_values(wrapped, space):
    """A parabola seen at three points with gradients: its top is found, in d columns."""
    x = space.asarray([[-1.0, 0.5], [1.2, -0.9], [1.0, 1.5]])
    centre = space.asarray([[0.3, 0.1]])
    f, slopes = 5.0 - space.xp.sum((x - centre) ** 2, axis=1), -2.0 * (x - centre)
    X = space.xp.concat([values_at(x), gradients_at(x)])
    y = space.xp.concat([f, space.xp.reshape(slopes, (6,))])
    kernel = WithGradients(g.RBF(10.0, 3.0))
    posterior = g.condition(g.GP(kernel.on(0, 1, 2) if wrapped else kernel, 1e-4), X, y)
    acquisition = bayesopt.UpperConfidenceBound(0.0)
    found = bayesopt.maximise_acquisition(
        posterior, acquisition, [(-2.0, 2.0)] * 2, num_restarts=3, rng=g.stream(0)
    )
    np.testing.assert_allclose(to_numpy(found.x), [0.3, 0.1], atol=0.05)
    at_the_top = to_numpy(posterior.mean(gradients_at(found.x[None, :])))
    np.testing.assert_allclose(at_the_top, 0.0, atol=1e-4 if space.double else 1e-2)
    with pytest.raises(ValueError, match="box must be 2 pairs"):
        bayesopt.maximise_acquisition(posterior, acquisition, [(-2.0, 2.0)] * 3, rng=g.stream(0))


def test_rows_are_labelled(space):
    x = space.asarray([[3.0, 4.0], [5.0, 6.0]])
    assert to_numpy(values_at(x)).tolist() == [[3, 4, 0], [5, 6, 0]]
    assert to_numpy(derivatives_at(x, 2)).tolist() == [[3, 4, 2], [5, 6, 2]]
    assert to_numpy(gradients_at(x)).tolist() == [[3, 4, 1], [3, 4, 2], [5, 6, 1], [5, 6, 2]]
    for made in (values_at(x), derivatives_at(x, 1), gradients_at(x)):
        assert space.holds(made)


def test_the_mean_of_values(space, rows, close):
    mean = ConstantOfValues(2.0)
    close(mean(rows), 2.0 * (to_numpy(rows)[:, -1] == 0.0))
    bar, x_bar = mean.pullback(rows, mean(rows))
    assert bar.value == 6.0
    assert space.holds(x_bar)
    check_mean(mean, rows)


@pytest.mark.parametrize(
    ("kernel", "reason"),
    [
        (g.Matern12(), "got Matern12: its functions have no derivative"),
        (g.RBF() + g.White(), "got White: noise has no derivative; add it outside"),
        (2.0 * g.Matern12(), "got Matern12"),
        (g.Periodic(), "got Periodic: its derivatives by the inputs are not written here"),
        (g.RBF() * g.RBF(), "got Product"),
        (g.RationalQuadratic(), "got RationalQuadratic"),
    ],
)
def test_kernels_without_derivatives_are_refused_with_the_reason(kernel, reason):
    with pytest.raises(ValueError, match=f"kernel of WithGradients must be among RBF, .*{reason}"):
        WithGradients(kernel)


def test_a_class_speaks_for_itself():
    """Another profile has other derivatives: a subclass does not inherit them."""

    @dataclasses.dataclass(frozen=True)
    class Other(g.RBF):
        def _profile(self, q):
            return np.exp(-0.25 * q)

    assert not Other.differentiable
    with pytest.raises(ValueError, match="got Other"):
        WithGradients(Other())


@pytest.mark.parametrize("kernel", [WithGradients(g.RBF()), GradientNoise()])
@pytest.mark.parametrize(
    ("row", "message"),
    [
        ([1.0, 2.0, 3.0], r"x\[:, -1\] must be 0 for a value, or 1 to 2 .* got 3 in row 1"),
        ([1.0, 2.0, -1.0], r"x\[:, -1\] must be 0 for a value, or 1 to 2 .* got -1 in row 1"),
        ([1.0, 2.0, 0.5], r"x\[:, -1\] must be 0 for a value, or 1 to 2 .* got 0.5 in row 1"),
    ],
)
def test_a_label_that_is_none_is_refused(space, kernel, row, message):
    x = space.asarray([[0.0, 0.0, 1.0], row])
    for call in (kernel, kernel.diag, lambda x: kernel.pullback(x, None, kernel(x))):
        with pytest.raises(ValueError, match=message):
            call(x)


def test_other_slips_are_named():
    gp = g.GP(WithGradients(g.RBF()), 0.1)
    with pytest.raises(ValueError, match=r"X\[:, -1\] must be 0 for a value, or 1 to 1"):
        g.condition(gp, np.ones((2, 2)) * 2.0, np.ones(2))
    with pytest.raises(ValueError, match="x must have columns for a point and one for labels"):
        gp.kernel(np.zeros((2, 1)))
    with pytest.raises(ValueError, match=r"x\[:, :-1\] must have shape \(n, 2\) to match RBF"):
        WithGradients(g.RBF(1.0, np.ones(2)))(np.zeros((2, 2)))
    with pytest.raises(TypeError, match="mean must be ConstantOfValues for a kernel of derivative"):
        g.GP(2.0 * (WithGradients(g.RBF()) + GradientNoise()), 0.1, g.ConstantMean(1.0))
    with pytest.raises(ValueError, match="which must be a whole number from 1 to 2; got 3"):
        derivatives_at(np.ones((1, 2)), 3)
    with pytest.raises(TypeError, match="kernel must be a gpnotes Kernel; got int"):
        WithGradients(3)
    assert repr(gp.kernel) == "WithGradients(RBF(variance=1, lengthscale=1))"
