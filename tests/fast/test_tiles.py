"""The evidence by tiles against the general path, which it must equal."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from memory_use import peak

import gpnotes as g
from gpnotes import GP, RBF, ConstantMean, condition, log_evidence_and_gradient
from gpnotes.fast import tiled_kernels, tiles
from gpnotes.fast.tiled_kernels import ByHooks, OfDistances, tiled
from gpnotes.ground import memory, params
from gpnotes.ground.linalg import JitterWarning
from gpnotes.ground.params import cotangent, flatten_gradient, positive
from gpnotes.infer import exact
from gpnotes.model.kernels import Polynomial, Product, Sum

IN_PLACE = (g.RBF, g.Matern12, g.Matern32, g.Matern52)
D = 5


@dataclass(frozen=True)
class Brownian(g.Kernel):
    """A kernel as a user would write it, of the first column: ``min(x, z)`` above -9."""

    variance: float = positive(1.0)

    def _gram(self, x, z):
        other = x if z is None else z
        return self.variance * (np.minimum(x[:, 0, None], other[None, :, 0]) + 9.0)

    def _diag(self, x):
        return self.variance * (x[:, 0] + 9.0)

    def _pullback(self, x, z, K_bar):
        bar = cotangent(self, variance=float(np.sum(K_bar * self._gram(x, z))) / self.variance)
        return bar, 0.0 * x, None if z is None else 0.0 * z

    def _diag_pullback(self, x, d_bar):
        raise NotImplementedError


@pytest.fixture
def small_tiles(monkeypatch):
    """Tiles so small that a test's matrices need many of them, the last ones narrower."""
    monkeypatch.setattr(tiles, "_SIDE", 17)


@pytest.fixture
def by_tiles_alone(monkeypatch):
    """No other path."""

    def refuse(*_):
        raise AssertionError("the general path was taken")

    monkeypatch.setattr(exact, "_conditioned", refuse)


def leaf(rng, dtype):
    """A kernel of any kind, with a length for each of its columns or one for all."""
    dims = rng.permutation(D)[: rng.integers(1, D + 1)]
    each = rng.uniform(1.0, 2.5, size=len(dims)).astype(dtype)
    lengths = each if rng.random() < 0.5 else float(each[0])
    variance = rng.uniform(0.5, 1.5)
    kinds = [
        *(lambda kind=kind: kind(variance, lengths) for kind in IN_PLACE),
        lambda: g.RationalQuadratic(variance, lengths, 1.7),
        lambda: g.Periodic(variance, lengths, 2.0 * lengths),
        lambda: g.Linear(0.1 * lengths),
        lambda: Polynomial(0.1, 0.7, 2),
        lambda: g.Constant(variance),
        lambda: g.White(variance),
    ]
    return kinds[rng.integers(len(kinds))]().on(*map(int, dims))


def nested(rng, dtype, depth):
    """Sums of products of sums, some of them scaled."""
    if depth == 0:
        return leaf(rng, dtype)
    parts = [nested(rng, dtype, depth - 1) for _ in range(rng.integers(1, 4))]
    combined = (Sum, Product)[rng.integers(2)](parts)
    return float(rng.uniform(0.3, 1.0)) * combined if rng.random() < 0.4 else combined


def by_the_general_path(gp, X, y):
    posterior = condition(gp, X, y)
    return posterior.log_evidence, flatten_gradient(gp, posterior.evidence_gradient()[0])


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("seed", range(20))
def test_values_and_gradients_are_those_of_the_general_path(small_tiles, monkeypatch, seed, dtype):
    rng = np.random.default_rng(seed)
    X, y = (rng.normal(size=(80, D)) + 1.0).astype(dtype), rng.normal(size=80).astype(dtype)
    X[70:] = X[:10]  # points that coincide, in other tiles
    kernel = nested(rng, dtype, 2) + RBF(1.2, 1.5) * g.Constant(0.5)
    gp = GP(kernel, 0.4, ConstantMean(0.3))
    wanted, wanted_gradient = by_the_general_path(gp, X, y)
    monkeypatch.setattr(exact, "_conditioned", None)  # no other path
    value, gp_bar = log_evidence_and_gradient(gp, X, y)
    gradient = flatten_gradient(gp, gp_bar)
    close = 1e-10 if dtype == np.float64 else 2e-3
    assert type(value) is type(gp_bar.noise_var) is float
    assert value == pytest.approx(wanted, rel=close)
    scale = np.max(np.abs(wanted_gradient))
    np.testing.assert_allclose(gradient, wanted_gradient, rtol=close, atol=close * scale)


@pytest.mark.parametrize("exponent", [2, 3])
@pytest.mark.parametrize("base", [RBF(1.2, 1.5) + g.Constant(0.3), g.Linear(0.4)], ids=["+", ""])
def test_a_power_is_a_product_of_equal_kernels(small_tiles, by_tiles_alone, rng, base, exponent):
    """To whose parts the derivatives by the base fall in equal shares."""
    X, y = rng.normal(size=(50, 2)), rng.normal(size=50)
    power, product = GP(base**exponent, 0.4), GP(Product(exponent * (base,)), 0.4)
    value, bar = log_evidence_and_gradient(power, X, y)
    wanted, wanted_bar = log_evidence_and_gradient(product, X, y)
    assert value == pytest.approx(wanted, rel=1e-10)
    by_base = flatten_gradient(base, bar.kernel.kernel)
    by_parts = sum(flatten_gradient(base, part) for part in wanted_bar.kernel.parts)
    np.testing.assert_allclose(by_base, by_parts, rtol=1e-9, atol=1e-9)


def kinds_of_arrays(thing):
    """The types and dtypes of all hyperparameters, in order."""
    found = [leaf.value for leaf in params.leaves(thing)]
    return [(type(value), getattr(value, "dtype", None)) for value in found]


def test_derivatives_are_of_the_kinds_of_their_parameters(rng):
    X, y = rng.normal(size=(20, 2)), rng.normal(size=20)
    for dtype in (np.float32, np.float64):
        lengths = np.asarray([0.7, 1.4], dtype)
        kernel = 0.5 * (RBF(1.0, lengths) + g.Matern32(1.0, 2.0)) * g.Linear(lengths) + g.White(0.1)
        gp = GP(kernel, 0.3)
        bar = log_evidence_and_gradient(gp, X.astype(dtype), y.astype(dtype))[1]
        assert type(bar.kernel) is Sum
        assert params.holds_derivatives(bar.kernel.parts[0])
        assert kinds_of_arrays(bar) == kinds_of_arrays(gp)


@pytest.mark.parametrize("kind", IN_PLACE)
@pytest.mark.parametrize("d", [2, 6])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("tiny", [1.0, 1e-8])
def test_a_kernel_alone_is_that_of_the_general_path(small_tiles, rng, kind, d, dtype, tiny):
    """Also where inputs fall into two groups, very many lengthscales apart, which are far off 0."""
    X, y = rng.normal(size=(40, d)), rng.normal(size=40).astype(dtype)
    X[:, 0] = rng.integers(0, 2, size=40)
    X[30:] = X[:10]
    X = (X + 10.0).astype(dtype)
    lengths = np.full(d, 1.5, dtype)
    lengths[0] = tiny if dtype == np.float64 else tiny**0.5
    kernel = kind(1.4, lengths)
    posterior = condition(GP(kernel, 0.1), X, y)
    wanted_bar = posterior.evidence_gradient()[0].kernel
    value, gp_bar = log_evidence_and_gradient(GP(kernel, 0.1), X, y)
    close = 1e-9 if dtype == np.float64 else 2e-3
    assert value == pytest.approx(posterior.log_evidence, rel=close)
    bar = gp_bar.kernel
    assert bar.variance == pytest.approx(wanted_bar.variance, rel=close, abs=close)
    np.testing.assert_allclose(bar.lengthscale, wanted_bar.lengthscale, rtol=close, atol=close)


@pytest.mark.parametrize("kind", IN_PLACE)
@pytest.mark.parametrize("d", [4, 8])
def test_gradients_in_float32_are_those_of_float64(small_tiles, rng, kind, d):
    """Of points that are near each other, and six lengthscales from their centre."""
    X = rng.uniform(-6.0, 6.0, size=(60, d)).astype(np.float32)
    X[30:] = X[:30] + rng.normal(size=(30, d)).astype(np.float32) * 5e-3
    y = rng.normal(size=60).astype(np.float32)
    found = []
    for dtype in (np.float32, np.float64):
        gp = GP(kind(1.4, np.ones(d, dtype)) + g.Constant(0.5), 0.01)
        gp_bar = log_evidence_and_gradient(gp, X.astype(dtype), y.astype(dtype))[1]
        found.append(gp_bar.kernel.parts[0].lengthscale)
    scale = np.max(np.abs(found[1]))
    np.testing.assert_allclose(*found, rtol=1e-3, atol=1e-3 * scale)


@pytest.mark.parametrize("kind", IN_PLACE)
@pytest.mark.parametrize("d", [1, 5])
def test_points_whose_distance_overflows_have_nothing_in_common(rng, kind, d):
    X, y = rng.normal(size=(6, d)), rng.normal(size=6)
    X[4] = 1e200
    X[5] = -1e200
    moderate = np.where(np.abs(X) > 9.0, 1e4 * np.sign(X), X)
    gp = GP(kind() * g.Constant(2.0), 0.1)
    with np.errstate(over="ignore"):
        value, gp_bar = log_evidence_and_gradient(gp, X, y)
    wanted, wanted_bar = log_evidence_and_gradient(gp, moderate, y)
    assert value == pytest.approx(wanted, rel=1e-6)
    gradients = (flatten_gradient(gp, bar) for bar in (gp_bar, wanted_bar))
    np.testing.assert_allclose(*gradients, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize(("small", "times"), [(33, 2), (34, 1)])
def test_exponentials_are_made_twice_at_most(small_tiles, monkeypatch, rng, small, times):
    """Once for the matrix and once for the gradient, also in a product, where all need them.

    Where points are few they are kept.
    """
    monkeypatch.setattr(tiled_kernels, "_SMALL", small)
    X, y = rng.normal(size=(34, 2)), rng.normal(size=34)
    made = []
    profile = RBF.profile_in_place
    counted = staticmethod(lambda *args: made.append(1) or profile(*args))
    monkeypatch.setattr(RBF, "profile_in_place", counted)
    log_evidence_and_gradient(GP((2.0 * RBF() + g.White(0.1)) * g.Matern32(), 0.1), X, y)
    assert len(made) == times * 3  # of three tiles


NUMPYS = {
    "sum": RBF() + g.Matern52(),
    "product": RBF() * g.Matern52(),
    "scaled": 2.0 * RBF(),
    "columns": RBF().on(1),
    "another profile": g.RationalQuadratic(),
    "no distances": g.Linear() + g.White(0.1),
    "a user's": Brownian() + g.Constant(),
}


@pytest.mark.parametrize("kernel", NUMPYS.values(), ids=NUMPYS)
def test_all_kernels_go_by_tiles(by_tiles_alone, rng, kernel):
    X, y = rng.normal(size=(30, 3)), rng.normal(size=30)
    log_evidence_and_gradient(GP(kernel, 0.1), X, y)


@pytest.mark.parametrize("kernel", [Brownian(), Brownian() * RBF() + g.White(0.2)], ids=["", "+"])
def test_a_users_kernel_is_asked_for_tiles_alone(small_tiles, monkeypatch, rng, kernel):
    X, y = rng.normal(size=(50, 3)), rng.normal(size=50)
    wanted, wanted_gradient = by_the_general_path(GP(kernel, 0.1), X, y)
    gram = Brownian._gram
    asked = []
    monkeypatch.setattr(Brownian, "_gram", lambda *args: asked.append(args[1:]) or gram(*args))
    value, gp_bar = log_evidence_and_gradient(GP(kernel, 0.1), X, y)
    assert value == pytest.approx(wanted, rel=1e-10)
    gradient = flatten_gradient(GP(kernel, 0.1), gp_bar)
    np.testing.assert_allclose(gradient, wanted_gradient, rtol=1e-9)
    assert {x.shape[0] for x, _ in asked} == {17, 50 - 2 * 17}
    assert not [z for x, z in asked if z is not None and z[0, 0] == x[0, 0]]


def test_other_namespaces_take_the_general_path(space, monkeypatch):
    seen = []
    path = tiles.evidence_and_gradient
    counted = lambda *args: seen.append(1) or path(*args)  # noqa: E731
    monkeypatch.setattr(tiled_kernels, "evidence_and_gradient", counted)
    X = space.asarray(np.linspace(0.0, 1.0, 8)[:, None])
    value, _ = log_evidence_and_gradient(GP(RBF() + g.Linear(), 0.1), X, X[:, 0])
    assert np.isfinite(value)
    assert len(seen) == space.name.startswith("numpy")


def test_a_subclass_that_is_another_kernel_goes_by_its_own_hooks(rng):
    @dataclass(frozen=True)
    class Halved(Sum):
        def _gram(self, x, z):
            return 0.5 * super()._gram(x, z)

        def _pullback(self, x, z, K_bar):
            return super()._pullback(x, z, 0.5 * K_bar)

    class Renamed(Sum):
        pass

    X, y = rng.normal(size=(20, 2)), rng.normal(size=20)
    parts = (RBF(), g.Linear())
    gp = GP(Halved(parts), 0.1)
    wanted = log_evidence_and_gradient(GP(0.5 * RBF() + 0.5 * g.Linear(), 0.1), X, y)[0]
    assert log_evidence_and_gradient(gp, X, y)[0] == pytest.approx(wanted, rel=1e-10)
    assert type(tiled(Halved(parts), X)) is ByHooks
    assert type(tiled(Renamed(parts), X)) is type(tiled(Sum(parts), X)) is not ByHooks
    assert type(tiled(RBF(), X)) is OfDistances
    assert type(tiled(type("Mine", (RBF,), {})(), X)) is ByHooks  # it may have another profile


@pytest.mark.parametrize("n", [1, 16, 17, 18, 34, 50])
def test_tiles_cover_the_triangle_once(n):
    seen = np.zeros((n, n), dtype=int)
    for tile in tiles.tiles_of(n, 17):
        assert seen[tile].size <= 17 * 17
        assert tile.on_diagonal == (tile.rows.start == tile.columns.start)
        seen[tile] += 1
    assert seen.max() == 1
    np.testing.assert_array_equal(np.triu(seen), np.triu(np.ones_like(seen)))


def test_what_needs_jitter_is_left_to_the_general_path():
    X = np.concatenate([np.ones((20, 2)), np.ones((20, 2))])
    gp, y = GP(RBF() + g.Matern52(), 0.0), np.zeros(40)
    with pytest.warns(JitterWarning, match="added"):
        value, gp_bar = log_evidence_and_gradient(gp, X, y)
    with pytest.warns(JitterWarning):
        wanted, wanted_gradient = by_the_general_path(gp, X, y)
    assert value == wanted
    np.testing.assert_array_equal(flatten_gradient(gp, gp_bar, fixed=("noise_var",)),
                                  wanted_gradient[:-1])  # fmt: skip


def test_what_fresh_memory_holds_does_not_matter(small_tiles, rng, monkeypatch):
    X, y = rng.normal(size=(30, 6)), rng.normal(size=30)
    gp = GP((RBF() + g.White(0.1)) * g.Matern12(), 0.1)
    before = log_evidence_and_gradient(gp, X, y)

    def poisoned(shape, dtype=float, order="C"):
        return np.full(shape, np.nan, dtype=dtype, order=order)

    monkeypatch.setattr(np, "empty", poisoned)
    assert log_evidence_and_gradient(gp, X, y) == before


HELD = {
    "one": RBF(1.0, np.full(4, 2.0)),
    "another": g.Matern52(1.0, 2.0),
    "sum": RBF(1.0, 2.0) + g.Matern52(1.0, 3.0),
    "product": RBF(1.0, 2.0) * g.Matern52(1.0, 3.0),
    "nested": (RBF() + g.Matern52()) * g.Periodic(1.0, 1.0, 4.0) + g.Linear() + g.Constant(),
    "a user's": Brownian(0.1) * RBF() + g.RationalQuadratic(),
}


@pytest.mark.parametrize("kernel", HELD.values(), ids=HELD)
def test_the_gradient_takes_one_matrix_of_memory_and_a_few_tiles(rng, kernel):
    """In four matrices at most, as was wanted; the general path takes more than six."""
    n = 1500
    X, y = rng.normal(size=(n, 4)), rng.normal(size=n)
    gp = GP(kernel, 0.1)
    log_evidence_and_gradient(gp, X[:10], y[:10])
    matrices = peak(lambda: log_evidence_and_gradient(gp, X, y)) / (8 * n * n)
    assert 0.9 < matrices < 1.6  # with less than 0.9 the measurement would see nothing


def test_no_more_memory_is_asked_for_than_is_taken(monkeypatch, rng):
    X, y = rng.normal(size=(50, 2)), rng.normal(size=50)
    gp, square = GP(RBF() + RBF(1.0, 3.0), 0.1), 50 * 50 * 8
    monkeypatch.setattr(memory, "_SMALL", 0)
    monkeypatch.setattr(memory, "available", lambda like=None: square)
    log_evidence_and_gradient(gp, X, y)
    monkeypatch.setattr(memory, "available", lambda like=None: square - 1)
    with pytest.raises(MemoryError, match=r"\(50, 50\) needs .* are available"):
        log_evidence_and_gradient(gp, X, y)
