"""What every kernel must do, and how kernels combine."""

import copy
import pickle
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import gpnotes as g
from gpnotes import log_evidence_and_gradient
from gpnotes.fast.tiled_kernels import tiled
from gpnotes.ground import memory, params
from gpnotes.ground.check import NoValueError
from gpnotes.ground.params import flatten, flatten_gradient, leaves
from gpnotes.ground.xp import array_namespace, to_numpy
from gpnotes.model.kernels import (
    ActiveDims,
    Polynomial,
    Product,
    Scaled,
    Stationary,
    Sum,
    WithGradients,
)
from gpnotes.model.kernels.base import require_power
from gpnotes.testing import check_kernel


def assert_bars_hold_floats_for_floats_and_arrays_for_arrays(kernel, space, x, z):
    for bar in (kernel.pullback(x, z, kernel(x, z))[0], kernel.diag_pullback(x, kernel.diag(x))[0]):
        assert [leaf.path for leaf in leaves(bar)] == [leaf.path for leaf in leaves(kernel)]
        for leaf, original in zip(leaves(bar), leaves(kernel), strict=True):
            if isinstance(original.value, float):
                assert type(leaf.value) is float
            else:
                assert space.holds(leaf.value)
                assert leaf.value.shape == original.value.shape


def assert_the_pullback_without_z_holds_both_sides(kernel, space, x, rng):
    """Against the pullback with ``z = x``, whose two halves must add up to it."""
    if any(isinstance(part, g.White) for part in getattr(kernel, "parts", (kernel,))):
        return  # white noise tells k(x) from k(x, x), and has no gradient by x
    K_bar = space.asarray(rng.normal(size=(7, 7)))
    kernel_bar, x_bar, z_bar = kernel.pullback(x, None, K_bar)
    other_bar, left, right = kernel.pullback(x, x + 0.0, K_bar)
    assert z_bar is None
    tolerance = 1e-10 if space.double else 1e-3
    np.testing.assert_allclose(to_numpy(x_bar), to_numpy(left + right), atol=tolerance)
    for one, other in zip(leaves(kernel_bar), leaves(other_bar), strict=True):
        one, other = (
            leaf.value if isinstance(leaf.value, float) else to_numpy(leaf.value)
            for leaf in (one, other)
        )
        np.testing.assert_allclose(one, other, rtol=tolerance, atol=10.0 * tolerance)


def assert_no_points_give_no_rows(kernel, space, x):
    nothing = x[:0, :]
    assert kernel(nothing).shape == (0, 0)
    assert kernel(nothing, x).shape == (0, 7)
    assert kernel(x, nothing).shape == (7, 0)
    assert kernel.diag(nothing).shape == (0,)
    bars = kernel.pullback(nothing, x, kernel(nothing, x))
    assert space.holds(bars[1])
    assert (to_numpy(bars[2]) == 0.0).all()


def assert_equal_by_class_and_value(kernel, space):
    zero = ["bias"] if getattr(kernel, "bias", 1.0) == 0.0 else []
    vector, rebuild = flatten(kernel, fixed=zero)
    again, other = rebuild(vector), rebuild(vector + 0.1)
    assert rebuild(vector) == again
    assert hash(rebuild(vector)) == hash(again)
    assert kernel != other
    assert {again: 1}[rebuild(vector)] == 1
    assert kernel == copy.deepcopy(kernel)
    if space.name.startswith("numpy"):
        assert pickle.loads(pickle.dumps(kernel)) == kernel


def assert_derivatives_are_no_kernel(kernel, x):
    bar = kernel.pullback(x, None, kernel(x))[0]
    calls = [
        lambda: bar + bar, lambda: bar + kernel, lambda: kernel + bar, lambda: kernel * bar,
        lambda: 2.0 * bar, lambda: bar.on(0), lambda: bar(x), lambda: bar.diag(x),
        lambda: copy.deepcopy(bar)(x),
    ]  # fmt: skip
    for call in calls:
        with pytest.raises(TypeError, match="holds derivatives"):
            call()


def assert_the_derivatives_are_those_of_numpy(kernel, twin, space, x, z):
    """Where they are held against differences."""
    on_host = [to_numpy(a).astype(float) for a in (x, z)]
    bars, wanted = (
        [*one.pullback(a, b, one(a, b)), *one.diag_pullback(a, one.diag(a))]
        for one, (a, b) in ((kernel, (x, z)), (twin, on_host))
    )
    tolerance = 1e-10 if space.double else 1e-3
    for ours, theirs in zip(bars, wanted, strict=True):
        pairs = [(ours, theirs)]
        if type(theirs) is type(twin):
            both = zip(leaves(ours), leaves(theirs), strict=True)
            pairs = [(one.value, other.value) for one, other in both]
        for one, other in pairs:
            one = one if isinstance(one, float) else to_numpy(one)
            np.testing.assert_allclose(one, other, rtol=tolerance, atol=10.0 * tolerance)


def test_every_kernel_conforms(kernel, twin, space, x, z, rng, monkeypatch):
    """What `check_kernel` asks of anybody's kernel, and what ours promise beyond it.

    Of differences for each entry array-api-strict takes a hundredth of a second each.
    """
    if not space.name.startswith("numpy"):
        monkeypatch.setattr("gpnotes.testing.kernels.is_double", lambda X: False)
        assert_the_derivatives_are_those_of_numpy(kernel, twin, space, x, z)
    check_kernel(kernel, x[:4, :])
    assert_bars_hold_floats_for_floats_and_arrays_for_arrays(kernel, space, x, z)
    assert_the_pullback_without_z_holds_both_sides(kernel, space, x, rng)
    assert_no_points_give_no_rows(kernel, space, x)
    assert_equal_by_class_and_value(kernel, space)
    assert_derivatives_are_no_kernel(kernel, x)


def test_the_representation_can_be_read(space):
    kernel = 2.0 * (g.RBF(1.0, space.asarray([0.5, 2.0])) + g.White(0.1)) * g.Linear().on(1)
    assert repr(kernel) == (
        "2 * (RBF(variance=1, lengthscale=[0.5, 2]) + White(variance=0.1))"
        " * Linear(variance=1).on(1)"
    )
    assert repr((g.RBF() + g.White()) * g.RBF()).startswith("(RBF")
    assert repr((g.RBF() + g.White()).on(0)).endswith(").on(0)")
    assert repr(Polynomial(degree=3)) == "Polynomial(variance=1, bias=1, degree=3)"


def test_a_sum_adds_and_a_product_multiplies(space, x, z, close):
    a, b, c = g.RBF(0.5, 2.0), g.Linear(0.3), g.Matern12(1.5, 0.7)
    Ka, Kb, Kc = (to_numpy(k(x, z)) for k in (a, b, c))
    close((a + b + c)(x, z), Ka + Kb + Kc)
    close((a * b * c)(x, z), Ka * Kb * Kc)
    close((a * (b + c))(x, z), Ka * (Kb + Kc), scale=10.0)
    close((3.0 * a)(x, z), 3.0 * Ka)
    close((a * 3.0)(x, z), 3.0 * Ka)
    close((a + b).diag(x), np.diag(to_numpy(a(x) + b(x))))


def test_numbers_are_constants_and_powers_share_their_hyperparameters(space, x, z, close):
    a, K = g.RBF(0.5, 2.0), to_numpy(g.RBF(0.5, 2.0)(x, z))
    assert a + 1.5 == a + g.Constant(1.5)
    assert 1 + a == np.float64(1.0) + a == g.Constant(1.0) + a
    assert 0 + a is a**1 is a
    close((a**3)(x, z), K**3)
    close((a**2).diag(x), np.full(7, 0.25))
    assert len(leaves(a**2)) == 2 < len(leaves(a * a)) == 4
    assert repr((2.0 * a) ** 2) == "(2 * RBF(variance=0.5, lengthscale=2)) ** 2"
    assert repr((a**2).on(0)) == "(RBF(variance=0.5, lengthscale=2) ** 2).on(0)"
    shared, twice = (k.pullback(x, None, (a * a)(x))[0] for k in (a**2, a * a))
    assert shared.kernel.lengthscale == pytest.approx(
        sum(part.lengthscale for part in twice.parts), rel=1e-10 if space.double else 1e-4
    )


def test_a_power_is_as_good_in_place(rng):
    X = rng.normal(size=(60, 2))
    y = np.sin(X[:, 0])
    (value, bar), (again, twice) = (
        log_evidence_and_gradient(g.GP(k, 0.1), X, y) for k in (g.RBF() ** 2, g.RBF() * g.RBF())
    )
    assert value == pytest.approx(again)
    both = sum(part.lengthscale for part in twice.kernel.parts)
    assert bar.kernel.kernel.lengthscale == pytest.approx(both)
    assert type(tiled(g.RBF() ** 2, X)).__name__ == "Raised"


def test_sums_and_products_are_flat():
    a, b, c = g.RBF(), g.Linear(), g.White()
    assert len((a + b + c).parts) == len((a + (b + c)).parts) == 3
    assert len((a * b * c).parts) == len((a * (b * c)).parts) == 3
    assert len(((a + b) * c).parts) == 2
    assert (a + b).parts == (a, b)


def test_a_numpy_scalar_does_not_take_over(x, space):
    kernel = np.float64(2.0) * g.RBF()
    assert isinstance(kernel, Scaled)
    assert type(kernel.scale) is float
    assert space.holds(kernel(x))
    with pytest.raises(ValueError, match=r"Scaled\.scale must be a float; got .* shape \(2,\)"):
        np.ones(2) * g.RBF()


def test_active_dimensions_see_their_columns_only(x, z, close):
    chosen = g.RBF(1.0, 0.5).on(2, 0)
    seen = [array_namespace(a).stack([a[:, 2], a[:, 0]], axis=1) for a in (x, z)]
    close(chosen(x, z), to_numpy(g.RBF(1.0, 0.5)(*seen)))
    bars = chosen.pullback(x, z, chosen(x, z))
    for bar in bars[1:]:
        assert (to_numpy(bar)[:, 1] == 0.0).all()
        assert (to_numpy(bar)[:, [0, 2]] != 0.0).all()


@pytest.mark.parametrize("dims", [(), (0, 0), (-1,)])
def test_columns_are_distinct_and_counted_from_zero(dims):
    with pytest.raises(ValueError, match="dims must be distinct columns, numbered from 0; got"):
        g.RBF().on(*dims)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda x: g.RBF()(x[:, 0]), r"x must have shape \(n, d\); got \(7,\)"),
        (lambda x: g.RBF()(x, x[:, :2]), r"z must have shape \(n, 3\); got \(7, 2\)"),
        (
            lambda x: g.RBF(1.0, x[0, :2] ** 2)(x),
            r"x must have shape \(n, 2\) to match RBF\.lengthscale; got \(7, 3\)",
        ),
        (
            lambda x: (g.White() + g.RBF(1.0, x[0, :2] ** 2)).diag(x),
            r"\(n, 2\) to match RBF\.lengthscale; got \(7, 3\)",
        ),
        (
            lambda x: (2.0 * (g.White() * g.Linear(x[0, :2] ** 2)))(x),
            r"\(n, 2\) to match Linear\.variance; got \(7, 3\)",
        ),
        (lambda x: g.RBF().on(3)(x), r"x must have more than 3 columns; got \(7, 3\)"),
        (
            lambda x: g.RBF(1.0, x[0, :] ** 2).on(0, 1)(x),
            r"x\[:, \[0, 1\]\] must have shape \(n, 3\)",
        ),
        (lambda x: g.RBF().pullback(x, None, x), r"K_bar must have shape \(7, 7\); got \(7, 3\)"),
        (lambda x: g.RBF().pullback(x, x[:2, :], x), r"K_bar must have shape \(7, 2\)"),
        (lambda x: g.RBF().diag_pullback(x, x), r"d_bar must have shape \(7,\); got \(7, 3\)"),
        (lambda x: g.RBF()(x + float("nan")), "x must be finite; 21 of its entries are not"),
    ],
)
def test_the_door_names_the_argument_and_both_shapes(x, call, message):
    with pytest.raises(ValueError, match=message):
        call(x)


@pytest.mark.parametrize("name", ["RBF.lengthscale", "Periodic.period"])
def test_a_length_that_float32_cannot_divide_by_is_refused(name, space):
    kind, _, length = name.partition(".")
    kernel, x = getattr(g, kind)(**{length: 1e-40}), space.asarray([[0.0], [1.0]])
    if space.double:
        kernel.validate_inputs(x, "x")
        return
    with pytest.raises(ValueError, match=rf"{name} must be larger: 1 / 1e-40 overflows in .*32"):
        g.condition(g.GP(2.0 * kernel, 0.1), x, x[:, 0])


def test_hyperparameters_have_the_dtype_of_the_data():
    x = np.ones((2, 2), dtype=np.float32)
    with pytest.raises(
        TypeError, match=r"RBF.lengthscale must have the dtype of x, float32; got f"
    ):
        g.RBF(1.0, np.ones(2))(x)
    with pytest.raises(TypeError, match="z must have the dtype of x, float32; got float64"):
        g.RBF()(x, np.ones((2, 2)))


def test_cotangents_have_the_dtype_of_the_data():
    x = np.ones((2, 2), dtype=np.float32)
    with pytest.raises(TypeError, match="K_bar must have the dtype of x, float32; got float64"):
        g.RBF().pullback(x, None, np.ones((2, 2)))
    with pytest.raises(TypeError, match="d_bar must have the dtype of x, float32; got float64"):
        g.RBF().diag_pullback(x, np.ones(2))


def test_kernels_of_two_kinds_are_not_equal():
    lengths = np.asarray([1.0, 2.0])
    kernels = [
        g.RBF(), g.Matern12(), g.RBF(1.0, lengths), g.RBF(1.0, lengths.astype(np.float32)),
        g.RBF(1.0, lengths[::-1]), g.RBF().on(0), g.RBF().on(1), 2.0 * g.RBF(), g.RBF() + g.RBF(),
        g.RBF() * g.RBF(), Polynomial(degree=2), Polynomial(degree=3),
    ]  # fmt: skip
    assert len(set(kernels)) == len(kernels)
    assert g.RBF() != "RBF"


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: g.RBF() + "1", TypeError, "unsupported operand"),
        (lambda: g.RBF() + np.ones(2), TypeError, "RBF"),
        (lambda: g.RBF() + 0.0, ValueError, r"Constant\.variance must be positive"),
        (lambda: -1 + g.RBF(), ValueError, r"Constant\.variance must be positive"),
        (lambda: g.RBF() ** 0.5, TypeError, r"exponent must be a whole number from 1; got 0\.5"),
        (lambda: g.RBF() ** 0, ValueError, "exponent must be a whole number from 1; got 0"),
        (lambda: g.RBF() ** g.RBF(), TypeError, "exponent must be a whole number from 1; got RBF"),
        (
            lambda: WithGradients(g.RBF()) ** 2,
            TypeError,
            r"Power\.kernel must observe no deriv",
        ),
        (lambda: Sum((g.RBF(), 3)), TypeError, "parts must be a gpnotes Kernel; got int"),
        (lambda: Product(()), ValueError, "Product.parts must hold at least one kernel"),
        (lambda: Scaled(2.0, 3.0), TypeError, "kernel must be a gpnotes Kernel; got float"),
        (lambda: g.RBF().on(0.5), TypeError, r"dims must be a whole number; got 0\.5"),
        (lambda: g.RBF().on(True), TypeError, "dims must be a whole number; got True"),
        (lambda: g.RBF().on([0], 1), TypeError, r"dims must be a whole number; got \[0\]"),
        (lambda: ActiveDims(g.RBF(), b"01"), TypeError, "dims must be a whole number; got b'01'"),
        (lambda: Sum(3), TypeError, "parts must be a gpnotes Kernel; got int"),
        (lambda: g.RBF(True), TypeError, r"RBF\.variance must be a float .*; got bool"),
        (lambda: g.RBF(1j), TypeError, r"RBF\.variance must be a float .*; got complex"),
        (lambda: g.RBF(np.asarray("x")), TypeError, r"RBF\.variance must be a float .*; got <U1"),
        (lambda: g.RBF()(np.ones((2, 0))), ValueError, r"at least one column; got \(2, 0\)"),
    ],
)
def test_what_cannot_be_part_of_a_kernel_is_refused(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_parts_and_columns_and_degrees_of_any_kind_of_integer_are_settled():
    assert Sum([g.RBF(), g.White()]) == g.RBF() + g.White()
    assert g.RBF().on(np.int64(1)) == g.RBF().on(1)
    assert Polynomial(degree=np.int64(2)) == Polynomial(degree=2)
    assert repr((2.0 * g.White()).on(0)) == "(2 * White(variance=1)).on(0)"


def test_a_kernel_keeps_its_own_arrays(space, x):
    lengths = space.asarray([1.0, 2.0, 3.0])
    for kernel in (g.RBF(1.0, lengths), g.Linear(lengths), g.Periodic(1.0, lengths, lengths)):
        K, key = to_numpy(kernel(x)), hash(kernel)
        before = to_numpy(lengths)[0]
        lengths[0] = 7.0
        np.testing.assert_array_equal(to_numpy(kernel(x)), K)
        assert hash(kernel) == key
        lengths[0] = float(before)


def test_parts_may_come_one_after_the_other():
    assert Sum(k for k in (g.RBF(), g.White())) == g.RBF() + g.White()
    assert Product(iter([g.RBF()])).parts == (g.RBF(),)


def test_the_first_column_and_the_last_are_columns(space, x, close):
    """A limit moved by one would refuse `on(0)`, or let a column pass that is not there."""
    one = x[:, :1]
    close(g.RBF().on(0)(one), to_numpy(g.RBF()(one)))
    close(g.RBF().on(2)(x), to_numpy(g.RBF()(x[:, 2:])))
    close(g.Linear().on(0, 2).diag(x), to_numpy(g.Linear().on(2, 0).diag(x)))
    with pytest.raises(ValueError, match=r"x must have more than 2 columns; got \(7, 2\)"):
        g.RBF().on(2)(x[:, :2])
    with pytest.raises(ValueError, match=r"x must have more than 0 columns; got \(7, 0\)"):
        g.RBF().on(0)(x[:, :0])
    assert Polynomial(degree=1)(one).shape == (7, 7)


def test_a_matrix_that_has_no_room_is_refused(monkeypatch):
    monkeypatch.setattr(memory, "available", lambda like=None: 1000)
    monkeypatch.setattr(memory, "_SMALL", 0)
    with pytest.raises(MemoryError, match=r"K of shape \(20, 10\) needs .* are available"):
        g.RBF()(np.ones((20, 1)), np.ones((10, 1)))


def test_only_kernels_and_numbers_combine():
    with pytest.raises(TypeError, match=r"Scaled\.scale must be a float"):
        g.RBF() * "2"
    with pytest.raises(ValueError, match=r"Scaled\.scale must be positive"):
        -1.0 * g.RBF()


LEAVES = st.sampled_from(
    [g.RBF(0.7, 1.3), g.Matern12(), g.Matern52(2.0, 0.4), g.Periodic(), g.Linear(0.5), g.White(0.1)]
)
ALGEBRA = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.tuples(inner, inner).map(lambda pair: pair[0] + pair[1]),
        st.tuples(inner, inner).map(lambda pair: pair[0] * pair[1]),
        inner.map(lambda k: 0.5 * k),
        inner.map(lambda k: k.on(1, 0)),
    ),
    max_leaves=5,
)


@given(ALGEBRA, st.integers(0, 2**32 - 1))
@example(g.Matern52(2.0, 0.4) * g.Matern52(2.0, 0.4) * g.Matern52(2.0, 0.4), 2)
def test_any_combination_conforms(kernel, seed):
    check_kernel(kernel, np.random.default_rng(seed).normal(size=(4, 2)))
    vector, rebuild = flatten(kernel)
    np.testing.assert_allclose(flatten(rebuild(vector))[0], vector, atol=1e-14)


# Kernels of one's own


@dataclass(frozen=True)
class Matern72(Stationary):
    """A Matérn kernel as a user would write it."""

    def _profile(self, q):
        s = np.sqrt(7.0 * q)
        return (1.0 + s + 0.4 * s**2 + s**3 / 15.0) * np.exp(-s)

    def _slope(self, q):
        s = np.sqrt(7.0 * q)
        return -0.7 * (1.0 + s + s**2 / 3.0) * np.exp(-s)


@dataclass(frozen=True)
class InPlace(Matern72):
    """The same, with what NumPy arrays need."""

    def profile_in_place(self, q, slope):
        slope[...] = self._slope(q)
        q[...] = self._profile(q)


@dataclass(frozen=True)
class WithShape(InPlace):
    """A hyperparameter more, which the path in place would forget."""

    shape: float = params.positive(1.0)

    def profile_in_place(self, q, slope):
        raise AssertionError

    def _shape_bars(self, q, K_bar):
        return {"shape": 0.0}


@pytest.mark.parametrize("lengthscale", [0.8, np.asarray([0.7, 1.4])])
def test_two_functions_make_a_stationary_kernel(rng, lengthscale):
    x = rng.normal(size=(5, 2))
    kernel = Matern72(1.3, lengthscale)
    check_kernel(kernel, x)
    check_kernel(sum([kernel, 0.5 * kernel * g.RBF(), g.White(0.1)]), x)
    assert kernel == Matern72(1.3, np.asarray(lengthscale))
    assert kernel != InPlace(1.3, lengthscale)
    assert len({kernel, Matern72(1.3, lengthscale)}) == 1
    assert repr(kernel).startswith("Matern72(variance=1.3, lengthscale=")


@pytest.mark.parametrize("kind", [Sum, Product])
def test_a_sum_or_product_of_one_kernel_is_that_kernel(rng, kind):
    x, part = rng.normal(size=(5, 2)), g.RBF(1.3, 0.8)
    kernel = kind((part,))
    check_kernel(kernel, x)
    np.testing.assert_array_equal(kernel(x), part(x))


@pytest.mark.parametrize("noise_var", [0.1, 1e-4])
def test_a_kernel_that_works_in_place_has_the_same_evidence(rng, noise_var):
    X = rng.normal(size=(40, 2))
    y = rng.normal(size=40)
    plain = g.GP(Matern72(1.3, 0.8), noise_var)
    fast = g.GP(InPlace(1.3, 0.8), noise_var)
    wanted, wanted_bar = log_evidence_and_gradient(plain, X, y)
    value, bar = log_evidence_and_gradient(fast, X, y)
    assert value == pytest.approx(wanted, rel=1e-9)
    gradient = flatten_gradient(plain, wanted_bar)
    np.testing.assert_allclose(flatten_gradient(fast, bar), gradient, rtol=1e-6)


def test_a_class_says_itself_whether_it_works_in_place():
    every = {kind: kind.in_place for kind in (g.RBF, g.Matern12, g.Matern32, g.Matern52)}
    assert all(every.values())
    for kind in (g.RationalQuadratic, g.Periodic, g.Linear, g.White, Sum, Matern72, WithShape):
        assert not kind.in_place, kind
    assert InPlace.in_place
    assert not type("Child", (InPlace,), {}).in_place  # its profile may be another
    with pytest.raises(NotImplementedError, match="Matern72 has no in-place version"):
        Matern72().profile_in_place(np.ones(1), np.ones(1))


def test_a_kernel_that_lacks_something_is_refused_when_it_is_made():
    @dataclass(frozen=True)
    class Brownian(g.Kernel):
        def _gram(self, x, z):
            return np.minimum(x, x.T if z is None else z.T)

    @dataclass(frozen=True)
    class NoSlope(Stationary):
        def _profile(self, q):
            return np.exp(-q)

    class NoFields(g.Kernel):
        _gram = _diag = _pullback = _diag_pullback = None

    with pytest.raises(
        TypeError, match="Brownian must bring _diag, _diag_pullback, _pullback: hooks"
    ):
        Brownian()
    with pytest.raises(TypeError, match="NoSlope must bring _slope: hooks of"):
        NoSlope()
    with pytest.raises(TypeError, match="NoFields must be a dataclass"):
        NoFields()
    for kind in (g.Kernel, Stationary):
        with pytest.raises(TypeError, match=f"^{kind.__name__} must bring "):
            kind()


def test_a_list_of_kernels_has_a_sum():
    kernels = [g.RBF(), g.White(), g.Linear()]
    assert sum(kernels) == g.RBF() + g.White() + g.Linear()
    assert sum(kernels[:1]) == g.RBF()
    for other in (False, "0", None):
        with pytest.raises(TypeError):
            other + g.RBF()


def test_a_bias_counts_by_its_own_power():
    """``(Σ x² + c)²`` of c = 1e100 is a float, of c = 1e160 none."""
    x = np.ones((2, 1))
    require_power(x, "x", 2, scale=1.0, bias=1e100, room=1.0)
    with pytest.raises(NoValueError, match="x must be smaller in size"):
        require_power(x, "x", 2, scale=1.0, bias=1e160, room=1.0)
