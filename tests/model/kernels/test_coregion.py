"""Several outputs: against dense Kronecker algebra, with gaps, by every way of regression."""

import numpy as np
import pytest

import gpnotes as g
from gpnotes import condition, log_evidence_and_gradient
from gpnotes.draw.paths import sample_paths
from gpnotes.ground.xp import to_numpy
from gpnotes.infer import sparse
from gpnotes.model.kernels import Coregion, OutputNoise, outputs_at, readings_of
from gpnotes.testing import check_kernel, gradcheck

W = np.asarray([[1.0, 0.3], [-0.7, 0.8], [0.4, -1.1]])
OWN = np.asarray([0.2, 0.0, 0.5])
B = W @ W.T + np.diag(OWN)
NOISE = np.asarray([0.1, 0.4, 0.02])


@pytest.fixture
def rows(space, rng):
    """Nine rows of two inputs and an output, in no order."""
    outputs = np.asarray([[0], [2], [1], [2], [0], [1], [2], [2], [0]], float)
    return space.asarray(np.concatenate([rng.normal(size=(9, 2)), outputs], axis=1))


def coregion(space):
    return Coregion(space.asarray(W), space.asarray(OWN))


def kernel_of(space):
    """The intrinsic model of the second column, an offset for each output, and noise."""
    offsets = Coregion(space.asarray(np.full((3, 1), 0.1)), space.asarray([1.0, 2.0, 3.0]))
    signal = g.RBF(1.3, 0.8).on(0, 1) * coregion(space).on(2)
    return signal + 0.5 * offsets.on(2) + OutputNoise(space.asarray(NOISE)).on(2)


def test_it_conforms(rows, space):
    check_kernel(kernel_of(space), rows[:4, :], labels=True)  # each output, one twice


def test_a_table_without_gaps_is_a_product_of_kronecker(space, rng, close):
    x = space.asarray(rng.normal(size=(4, 2)))
    k, K = g.RBF(1.3, 0.8), np.kron(to_numpy(g.RBF(1.3, 0.8)(x)), B)
    both = k.on(0, 1) * coregion(space).on(2)
    at = outputs_at(x, 3)
    close(both(at), K)
    close(both(at, at[:5, :]), K[:, :5])
    close(both.diag(at), np.diag(K))
    close(coregion(space).covariance, B)
    noise = OutputNoise(space.asarray(NOISE)).on(2)
    close(noise(at), np.kron(np.eye(4), np.diag(NOISE)))
    close(noise(at, at), np.zeros((12, 12)))


def test_the_correlation_has_ones_and_keeps_signs(space, close):
    sd = np.sqrt(np.diag(B))
    close(coregion(space).correlation, B / np.outer(sd, sd))


def test_evidence_and_posterior_are_those_of_dense_algebra(rng):
    x, Y = rng.normal(size=(6, 1)), rng.normal(size=(6, 3))
    kernel = g.Matern52(1.3, 0.8).on(0) * Coregion(W, OWN).on(1) + OutputNoise(NOISE).on(1)
    posterior = g.condition(g.GP(kernel, 0.05), *readings_of(x, Y))
    K = np.kron(g.Matern52(1.3, 0.8)(x), B)
    K_y = K + np.kron(np.eye(6), np.diag(NOISE + 0.05))
    y = Y.reshape(-1)
    found = -0.5 * (y @ np.linalg.solve(K_y, y) + np.linalg.slogdet(2.0 * np.pi * K_y)[1])
    np.testing.assert_allclose(posterior.log_evidence, found, rtol=1e-12)
    mean, variance = posterior.predict(outputs_at(x, 3))
    np.testing.assert_allclose(mean, K @ np.linalg.solve(K_y, y), rtol=1e-10)
    of_signal = variance - OutputNoise(NOISE).diag(outputs_at(x, 3)[:, 1:])
    dense = np.diag(K - K @ np.linalg.solve(K_y, K))
    np.testing.assert_allclose(of_signal, dense, rtol=1e-9, atol=1e-12)


def test_the_gradient_of_the_evidence_is_that_of_differences(rng):
    rows, y = readings_of(rng.normal(size=(5, 1)), rng.normal(size=(5, 3)))
    kernel = g.RBF().on(0) * Coregion(W, OWN + 0.1).on(1) + OutputNoise(NOISE).on(1)
    gradcheck(
        lambda gp: np.asarray(g.log_evidence(gp, rows, y)),
        lambda gp, bar: (_times(bar, log_evidence_and_gradient(gp, rows, y)[1]),),
        g.GP(kernel, 0.1), names=("gp",), what="log_evidence_and_gradient",
    )  # fmt: skip


def _times(bar, gp_bar):
    from gpnotes.ground.params import cotangent, leaves, replaced

    scaled = {leaf.path: float(bar) * leaf.value for leaf in leaves(gp_bar)}
    return replaced(gp_bar, scaled, make=cotangent)


def sines(stream, n=40, start=15, stop=30):
    """Two readings of one function, and the second with a stretch of readings missing."""
    x = np.linspace(0.0, 6.0, n)[:, None]
    phase = 2.0 * np.pi * stream.uniform(())
    f = np.sin(2.0 * x[:, 0] + phase)
    truth = np.stack([f, -0.7 * f + 0.2], axis=1)
    Y = truth + np.asarray([0.05, 0.1]) * stream.normal((n, 2))
    Y[start:stop, 1] = np.nan
    return x, Y, truth[start:stop, 1], slice(start, stop)


def error(mean, truth):
    return float(np.sqrt(np.mean((mean - truth) ** 2)))


@pytest.mark.parametrize("seed", range(4))
def test_a_missing_stretch_is_predicted_by_the_other_output(seed):
    """On fresh draws, markedly better than from the output alone."""
    x, Y, truth, gap = sines(g.stream(100 + seed))
    rows, y = readings_of(x, Y, gaps=True)
    kernel = g.RBF().on(0) * Coregion(np.ones((2, 1)), np.full(2, 0.1)).on(1)
    levels = Coregion(np.zeros((2, 1)), np.ones(2)).on(1)
    start = g.GP(kernel + levels + OutputNoise(np.full(2, 0.1)).on(1), 0.0)
    variance = "kernel.parts.0.parts.0.kernel.variance"
    found = g.fit(start, rows, y, fixed=["noise_var", variance, "kernel.parts.1"])
    mean = found.posterior.mean(outputs_at(x, 2)).reshape(-1, 2)
    alone = rows[:, 1] == 1.0
    single = g.GP(g.RBF() + g.Constant(), 0.1)
    by_itself = g.fit(single, rows[alone, :1], y[alone]).posterior.mean(x)
    assert error(mean[gap, 1], truth) < 0.1
    assert error(mean[gap, 1], truth) < 0.3 * error(by_itself[gap], truth)
    coupled = found.model.kernel.parts[0].parts[1].kernel
    assert coupled.correlation[0, 1] < -0.9
    noise = found.model.kernel.parts[2].kernel.variance
    np.testing.assert_allclose(np.sqrt(noise), [0.05, 0.1], rtol=0.5)


def test_inducing_points_serve_several_outputs():
    """With all rows as inducing points it is exact; a fit moves places, and never an output."""
    x, Y, *_ = sines(g.stream(7), n=12, start=5, stop=9)
    rows, y = readings_of(x, Y, gaps=True)
    gp = g.GP(g.RBF().on(0) * Coregion(np.ones((2, 1)), np.full(2, 0.1)).on(1), 0.01)
    at = outputs_at(x, 2)
    exact, close = g.condition(gp, rows, y), condition(sparse.SparseGP(gp, rows), rows, y)
    np.testing.assert_allclose(close.mean(at), exact.mean(at), atol=1e-5)
    Z = outputs_at(x[::3], 2)
    found = g.fit(sparse.SparseGP(gp, Z), rows, y, max_steps=10)
    assert np.array_equal(found.model.inducing[:, 1], Z[:, 1])
    assert np.abs(found.model.inducing[:, 0] - Z[:, 0]).max() > 1e-3


def test_paths_have_the_moments_of_the_posterior():
    """Of 6 means and 21 covariances none is off by five standard errors."""
    x, Y, *_ = sines(g.stream(7), n=8, start=3, stop=6)
    kernel = (g.Linear(0.7) + g.Constant(0.5)).on(0) * Coregion(W[:2], OWN[:2]).on(1)
    posterior = g.condition(g.GP(kernel, 0.2), *readings_of(x, Y, gaps=True))
    at, count = outputs_at(np.asarray([[0.3], [2.0], [7.0]]), 2), 20_000
    values = sample_paths(posterior, count, rng=g.stream(1))(at)
    mean, cov = posterior.mean(at), posterior.covariance(at)
    variances = np.diag(cov)
    assert np.max(np.abs(values.mean(axis=0) - mean) / np.sqrt(variances / count)) < 5.0
    gaps = values - mean
    spread = np.sqrt((np.outer(variances, variances) + cov**2) / count)
    assert np.max(np.abs(gaps.T @ gaps / count - cov) / spread) < 5.0


def test_paths_of_a_stationary_product_follow_the_posterior_and_have_a_pullback():
    x, Y, *_ = sines(g.stream(7), n=8, start=3, stop=6)
    kernel = 1.2 * (g.RBF(1.0, 0.9) + g.Matern32(0.3)).on(0) * Coregion(W[:2], OWN[:2]).on(1)
    posterior = g.condition(g.GP(kernel, 0.05), *readings_of(x, Y, gaps=True))
    at = outputs_at(np.linspace(0.1, 5.7, 7)[:, None], 2)
    paths = sample_paths(posterior, 500, num_features=2000, rng=g.stream(1))
    mean, sd = posterior.mean(at), np.sqrt(posterior.variance(at))
    values = paths(at)
    assert np.max(np.abs(values.mean(axis=0) - mean)) < 0.2
    np.testing.assert_allclose(values.std(axis=0), sd, rtol=0.2, atol=0.03)
    few = sample_paths(posterior, 2, num_features=20, rng=g.stream(1))

    def at_places(places):
        return np.concatenate([places, at[:, 1:]], axis=1)

    gradcheck(
        lambda places: few(at_places(places)),
        lambda places, bar: (few.values_and_pullback(at_places(places))[1](bar)[:, :1],),
        at[:, :1], names=("places",), what="values_and_pullback",
    )  # fmt: skip


def test_two_random_factors_have_no_features():
    kernel = g.RBF().on(0) * g.RBF().on(1)
    posterior = g.condition(g.GP(kernel, 0.1), np.ones((1, 2)), np.ones(1))
    with pytest.raises(TypeError, match=r"must be made of .* at most one factor"):
        sample_paths(posterior, 1, rng=g.stream(1))


def test_a_table_goes_to_rows_and_back(space):
    x, Y = np.asarray([[1.0], [2.0]]), np.asarray([[1.0, np.nan, 3.0], [np.nan, 5.0, 6.0]])
    rows, y = readings_of(space.asarray(x), space.asarray(Y), gaps=True)
    assert space.holds(rows)
    assert space.holds(y)
    assert to_numpy(rows).tolist() == [[1, 0], [1, 2], [2, 1], [2, 2]]
    assert to_numpy(y).tolist() == [1, 3, 5, 6]
    full = np.arange(6.0).reshape(2, 3)
    rows, y = readings_of(space.asarray(x), space.asarray(full))
    assert to_numpy(rows).tolist() == to_numpy(outputs_at(space.asarray(x), 3)).tolist()
    assert to_numpy(y).reshape(2, 3).tolist() == full.tolist()


def test_kernels_compare_print_and_are_saved(tmp_path):
    one, other = Coregion(W, OWN), Coregion(W.copy(), OWN.copy())
    assert one == other
    assert hash(one) == hash(other)
    assert one != Coregion(2.0 * W, OWN)
    assert one != Coregion(W.reshape(3, 2)[:, ::-1], OWN)
    shown = "Coregion(weights=[[1, 0.3], [-0.7, 0.8], [0.4, -1.1]], own=[0.2, 0, 0.5])"
    assert repr(one) == shown
    kernel = g.RBF().on(0) * one.on(1) + OutputNoise(NOISE).on(1)
    rows, y = outputs_at(np.ones((1, 1)), 3), np.ones(3)
    g.save(g.condition(g.GP(kernel, 0.1), rows, y), tmp_path / "outputs")
    assert g.load(tmp_path / "outputs").gp.kernel == kernel


def test_arrays_are_copied():
    weights = np.ones((2, 1))
    kernel = Coregion(weights, np.ones(2))
    weights[:] = 5.0
    assert kernel.weights.max() == 1.0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Coregion(np.ones((0, 1)), np.ones(0)), r"Coregion\.weights must have rows and"),
        (lambda: Coregion(np.ones((2, 0)), np.ones(2)), r"Coregion\.weights must have rows and"),
        (lambda: Coregion(np.ones((2, 1)), np.ones(3)), r"Coregion\.own must have shape \(2,\)"),
        (lambda: Coregion(np.ones((2, 1)), -np.ones(2)), r"Coregion\.own must be non-negative"),
        (lambda: OutputNoise(np.zeros(2)), r"OutputNoise\.variance must be positive"),
        (lambda: OutputNoise(np.ones(0)), r"OutputNoise\.variance must have an entry for each"),
        (lambda: Coregion(W, OWN)(np.ones((2, 2))), "x must have one column, of outputs"),
        (lambda: Coregion(W, OWN)(np.asarray([[0.0], [3.0]])),
         "x must hold outputs, whole numbers 0 to 2; got 3 in row 1"),
        (lambda: OutputNoise(NOISE)(np.asarray([[0.5]])), "x must hold outputs.*; got 0.5 in row"),
        (lambda: readings_of(np.ones((2, 1)), np.asarray([[1.0], [np.nan]])), "Y must be finite"),
        (lambda: readings_of(np.ones((1, 1)), np.asarray([[np.inf]]), gaps=True), "Y must be fini"),
        (lambda: readings_of(np.ones((1, 1)), np.asarray([[np.nan]]), gaps=True),
         r"Y must hold at least one reading; got \(1, 1\) without any"),
        (lambda: readings_of(np.ones((2, 1)), np.ones((3, 2))), r"Y must have shape \(2, d\)"),
        (lambda: outputs_at(np.ones((2, 1)), 0), "outputs must be a whole number from 1"),
    ],
)  # fmt: skip
def test_what_are_no_outputs_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
