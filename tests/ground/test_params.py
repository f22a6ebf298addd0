"""Parameters: checks at construction, cotangents, the flat vector and its gradient."""

import copy
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import cupy_stand_in
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpnotes import GP, RBF, ConstantMean, Periodic, White, named
from gpnotes.ground import late_reads
from gpnotes.ground.params import (
    Flattening,
    added,
    cotangent,
    flatten,
    flatten_gradient,
    holds_derivatives,
    left_open,
    names,
    nonnegative,
    numbers_read,
    positive,
    real,
    replaced,
    settle,
    vector_of,
)
from gpnotes.ground.xp import to_numpy
from gpnotes.model.kernels import Coregion, Matern12, Matern52, Polynomial
from gpnotes.testing import gradcheck


@dataclass(frozen=True)
class Model:
    """Dataclasses inside a dataclass, as a Gaussian process has them."""

    kernel: Any
    noise_var: float = nonnegative(0.1)
    mean: Any = field(default=ConstantMean(0.0))
    slope: float = real(0.0)

    def __post_init__(self) -> None:
        settle(self)


@pytest.fixture
def model(space):
    kernel = RBF(1.5, space.asarray([0.5, 2.0])) + Periodic().on(1) * White(0.5)
    return Model(kernel, 0.25, ConstantMean(-3.0), -0.5)


def test_scalars_become_python_floats():
    for one in (2, np.float64(2.0), np.float32(2.0), np.asarray(2.0)):
        assert type(RBF(one).variance) is float
        assert RBF(one) == RBF(2.0)


def test_an_array_of_the_caller_may_change_later():
    lengthscale = np.array([0.5, 2.0])
    kernel = RBF(1.5, lengthscale)
    lengthscale[0] = 100.0
    assert kernel.lengthscale.tolist() == [0.5, 2.0]


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: RBF(0.0), ValueError, r"RBF\.variance must be positive and finite; got 0\.0"),
        (lambda: RBF(-1), ValueError, r"RBF\.variance must be positive and finite; got -1\.0"),
        (lambda: RBF(1.0, np.zeros(2)), ValueError, r"RBF\.lengthscale must be positive"),
        (lambda: RBF(1.0, np.ones((2, 1))), ValueError, r"lengthscale must have shape \(n,\)"),
        (lambda: RBF(np.ones(2)), ValueError, r"variance must be a float; got .* shape \(2,\)"),
        (lambda: RBF("1.0"), TypeError, r"RBF\.variance must be a float .*; got str"),
        (lambda: RBF(1.0, {1.0}), TypeError, r"RBF\.lengthscale must be a float .*; got set"),
        (lambda: RBF(1.0, [[1.0]]), ValueError, r"lengthscale must have shape \(n,\)"),
        (lambda: RBF(None), TypeError, r"RBF\.variance must be a float .*; got NoneType"),
        (lambda: Model(RBF(), -0.1), ValueError, r"Model\.noise_var must be non-negative"),
        (lambda: Model(RBF(), slope=np.inf), ValueError, r"Model\.slope must be finite; got inf"),
    ],
)
def test_construction_checks_and_names_the_field(make, error, message):
    with pytest.raises(error, match=message):
        make()


@pytest.mark.parametrize(
    "value", [True, np.True_, np.asarray(True), 1j, np.complex128(1 + 1j), np.asarray("1"), b"1"]
)
def test_a_parameter_is_a_real_number(value):
    for make, name in ((RBF, "RBF.variance"), (ConstantMean, "ConstantMean.value")):
        with pytest.raises(TypeError, match=f"{name} must be a float"):
            make(value)


@pytest.mark.parametrize("value", [10**400, Fraction(10**400, 3)], ids=["whole", "fraction"])
def test_a_parameter_is_a_number_that_a_float_can_hold(value):
    with pytest.raises(ValueError, match=r"GP\.noise_var must be finite; got a number that no"):
        GP(RBF(), value)


@pytest.mark.parametrize("kernel", [RBF, Matern12, Periodic])
@pytest.mark.parametrize("tiny", [1e-309, 5e-324, np.asarray([1.0, 1e-309])])
def test_a_length_without_a_reciprocal_is_refused(kernel, tiny):
    with pytest.raises(ValueError, match=r"lengthscale must be larger: 1 / .* overflows"):
        kernel(lengthscale=tiny)
    with np.errstate(over="ignore"):
        assert np.all(np.isfinite(RBF(1.0, 1e-308)(np.asarray([[0.0], [1.0]]))))
    assert RBF(variance=1e-309).variance == 1e-309


def test_a_length_for_no_dimension_is_refused():
    with pytest.raises(ValueError, match=r"RBF\.lengthscale must have an entry for each dimension"):
        RBF(1.0, np.zeros(0))


def test_a_cotangent_has_the_class_but_not_the_range():
    bar = cotangent(Polynomial(degree=3), variance=-1.0, bias=-2.0)
    assert type(bar) is Polynomial
    assert (bar.variance, bar.bias, bar.degree) == (-1.0, -2.0, 3)


def test_what_is_open_comes_in_the_order_of_the_fields():
    """A set's order goes with the process, and with it the hash that scikit-learn compares."""
    assert left_open(RBF()) == ("variance", "lengthscale")
    assert left_open(copy.deepcopy(RBF())) == ("variance", "lengthscale")


def test_a_replaced_object_has_nothing_open():
    one, other = RBF(), Matern52(2.0, 3.0)
    made = replaced(other, {"variance": one.variance})
    assert (made.variance, left_open(made)) == (one.variance, ())
    assert left_open(replaced(one, {"variance": 3.0})) == ()


def test_flattening_and_back(space, model):
    vector, rebuild = flatten(model)
    assert vector.dtype == np.float64
    logs = np.log([1.5, 0.5, 2.0, 1.0, 1.0, 1.0, 0.5, 0.25])
    np.testing.assert_allclose(vector, [*logs, -3.0, -0.5], rtol=1e-6)
    again = rebuild(vector + 0.0)
    lengthscale = again.kernel.parts[0].lengthscale
    assert space.holds(lengthscale)
    np.testing.assert_allclose(to_numpy(lengthscale), [0.5, 2.0], rtol=1e-6)
    assert type(again.noise_var) is float
    assert again.kernel.parts[1].parts[0].dims == (1,)
    np.testing.assert_allclose(flatten(again)[0], vector, rtol=1e-6, atol=1e-7)


def test_every_entry_has_a_name(model):
    labels = names(model)
    assert labels[:3] == [
        "kernel.parts.0.variance",
        "kernel.parts.0.lengthscale[0]",
        "kernel.parts.0.lengthscale[1]",
    ]
    assert labels[-3:] == ["noise_var", "mean.value", "slope"]
    assert len(labels) == flatten(model)[0].size


def test_what_is_fixed_stays_out_and_stays(model):
    fixed = ("noise_var", "kernel.parts.1")
    vector, rebuild = flatten(model, fixed=fixed)
    assert names(model, fixed=fixed) == [
        *names(model)[:3],
        "mean.value",
        "slope",
    ]
    again = rebuild(vector + 1.0)
    assert again.noise_var == 0.25
    assert again.kernel.parts[1] == model.kernel.parts[1]
    assert again.mean.value == pytest.approx(-2.0)


def test_a_prefix_is_a_whole_name():
    """`part` must not cover `parts`."""
    with pytest.raises(ValueError, match=r"fixed names 'sig'; there are \['variance'"):
        flatten(RBF(), fixed=("sig",))


def test_a_zero_has_no_logarithm_and_must_be_fixed():
    silent = Model(RBF(), 0.0)
    with pytest.raises(ValueError, match="noise_var is zero and has no logarithm; name it in fix"):
        flatten(silent)
    _, rebuild = flatten(silent, fixed=("noise_var",))
    assert rebuild(np.zeros(4)).noise_var == 0.0


def test_one_zero_among_others_has_no_logarithm_either():
    shared = Coregion(np.ones((2, 1)), np.asarray([0.0, 2.0]))
    with pytest.raises(ValueError, match=r"^own is zero and has no logarithm; name it in fixed"):
        flatten(shared)


def test_a_vector_of_another_size_is_refused():
    with pytest.raises(ValueError, match=r"vector must have shape \(2,\); got \(3,\)"):
        flatten(RBF())[1](np.zeros(3))


def test_everything_fixed_leaves_an_empty_vector():
    vector, rebuild = flatten(RBF(), fixed=("variance", "lengthscale"))
    assert vector.shape == (0,)
    assert rebuild(vector) == RBF()


def test_the_gradient_follows_the_chain_rule_through_the_logarithm(space, model, rng):
    """Differences of a function of the flat vector against the pullback of the kernel."""
    if not space.double:
        pytest.skip("differences need float64")
    x = space.asarray(rng.normal(size=(4, 2)))
    fixed = ("kernel.parts.1.parts.0",)
    vector, rebuild = flatten(model, fixed=fixed)

    def value(v):
        one = rebuild(v)
        total = float(space.xp.sum(one.kernel(x) ** 2)) + one.mean.value**3
        return total + one.noise_var**2 + one.slope**2

    def pullback(v, bar):
        one = rebuild(v)
        K = one.kernel(x)
        obj_bar = cotangent(
            one,
            kernel=one.kernel.pullback(x, None, 2.0 * K)[0],
            noise_var=2.0 * one.noise_var,
            mean=cotangent(one.mean, value=3.0 * one.mean.value**2),
            slope=2.0 * one.slope,
        )
        return (bar * flatten_gradient(one, obj_bar, fixed=fixed),)

    gradcheck(value, pullback, vector)


@given(st.lists(st.floats(-20.0, 20.0), min_size=2, max_size=2))
def test_any_vector_is_a_kernel_and_back(entries):
    _, rebuild = flatten(RBF())
    np.testing.assert_allclose(flatten(rebuild(np.asarray(entries)))[0], entries, atol=1e-14)


def test_fields_can_be_required():
    @dataclass(frozen=True)
    class Bare:
        scale: float = positive()

    with pytest.raises(TypeError, match="scale"):
        Bare()


def test_a_gradient_of_something_else_is_refused():
    with pytest.raises(ValueError, match=r"obj_bar must have the parameters of obj, .*; got"):
        flatten_gradient(RBF(1.0, np.ones(2)), cotangent(RBF()))
    with pytest.raises(ValueError, match="obj_bar must have the parameters of obj"):
        flatten_gradient(RBF(), cotangent(GP(RBF(), 0.1)))
    with pytest.raises(TypeError, match="obj must be a dataclass of parameters; got ndarray"):
        flatten(np.ones(2))


def test_what_is_fixed_is_a_collection_of_names():
    with pytest.raises(TypeError, match="fixed must be a collection of names; got 'lengt"):
        flatten(RBF(), fixed="lengthscale")
    for fixed in (None, 3):
        with pytest.raises(TypeError, match="fixed must be a collection of names; got"):
            flatten(RBF(), fixed=fixed)


def test_a_class_holds_no_parameters():
    """Its fields have defaults, which would be taken for values."""
    for call in (lambda: flatten(RBF), lambda: flatten_gradient(RBF, RBF())):
        with pytest.raises(TypeError, match="obj must be a dataclass of parameters; got the class"):
            call()
    for bar in (RBF, None, np.ones(2)):
        with pytest.raises(TypeError, match="obj_bar must be a dataclass of parameters; got"):
            flatten_gradient(RBF(), bar)


@dataclass(frozen=True)
class Layer:
    """A matrix and a vector of parameters, as a policy has them."""

    weights: Any = real()
    scale: Any = positive()


def test_a_matrix_goes_there_and_back(space):
    layer = Layer(space.asarray([[1.0, -2.0, 3.0], [4.0, 5.0, -6.0]]), space.asarray([2.0, 4.0]))
    vector, rebuild = flatten(layer)
    np.testing.assert_allclose(vector, [1, -2, 3, 4, 5, -6, np.log(2.0), np.log(4.0)], rtol=1e-6)
    assert names(layer)[:4] == ["weights[0, 0]", "weights[0, 1]", "weights[0, 2]", "weights[1, 0]"]
    assert names(layer)[6:] == ["scale[0]", "scale[1]"]
    again = rebuild(vector)
    assert space.holds(again.weights)
    np.testing.assert_allclose(to_numpy(again.weights), to_numpy(layer.weights), rtol=1e-6)
    bar = cotangent(layer, weights=2.0 * layer.weights, scale=layer.scale)
    np.testing.assert_allclose(
        flatten_gradient(layer, bar), [2, -4, 6, 8, 10, -12, 4, 16], rtol=1e-6
    )


@pytest.mark.parametrize("lengths", [[0.9, 1.3], (0.9, 1.3), [1, 2]])
def test_a_list_is_an_array_where_one_a_column_is_allowed(lengths):
    kernel = Matern52(1.2, lengths)
    assert isinstance(kernel.lengthscale, np.ndarray)
    np.testing.assert_array_equal(kernel.lengthscale, lengths)
    with pytest.raises(TypeError, match=r"RBF\.variance must be a float"):
        RBF([1.0, 2.0])
    with pytest.raises(TypeError, match=r"Matern52\.lengthscale must hold real numbers"):
        Matern52(1.2, ["a", "b"])


def test_parts_with_names_go_by_them_and_the_others_by_their_numbers():
    kernel = RBF(1.0, 2.0) + named(season=Periodic(3.0, 4.0, 5.0)) + White(6.0)
    assert names(kernel) == [
        "parts.0.variance", "parts.0.lengthscale", "season.variance", "season.lengthscale",
        "season.period", "parts.2.variance",
    ]  # fmt: skip
    vector, rebuild = flatten(kernel)
    np.testing.assert_allclose(np.exp(vector), np.arange(1.0, 7.0))
    np.testing.assert_allclose(np.exp(flatten(rebuild(vector + 1.0))[0]), np.exp(vector + 1.0))
    other = replaced(kernel, {"season.period": 7.0, "parts.0.variance": 8.0})
    np.testing.assert_allclose(np.exp(flatten(other)[0]), [8.0, 2.0, 3.0, 4.0, 7.0, 6.0])


def test_derivatives_add_up_part_by_part():
    kernel = RBF(1.0, np.asarray([1.0, 2.0])) * White(2.0)
    bars = [flatten_gradient(kernel, replaced_bar(kernel, scale)) for scale in (1.0, 10.0)]
    total = added(replaced_bar(kernel, 1.0), replaced_bar(kernel, 10.0))
    assert type(total) is type(kernel)
    assert [type(part) for part in total.parts] == [RBF, White]
    np.testing.assert_allclose(flatten_gradient(kernel, total), bars[0] + bars[1])


def replaced_bar(kernel, scale):
    """Derivatives that are all different, by a factor."""
    first = cotangent(kernel.parts[0], variance=scale, lengthscale=scale * np.asarray([2.0, -3.0]))
    return cotangent(kernel, parts=(first, cotangent(kernel.parts[1], variance=-4.0 * scale)))


def test_free_numbers_are_given_in_their_own_units_with_their_slopes():
    layer = Layer(np.asarray([-2.0, 3.0]), np.asarray([2.0, 4.0]))
    fixed = ("weights[0]", "scale[1]")
    some, every = Flattening(layer, fixed), Flattening(layer, ())
    values = some.read(layer)
    np.testing.assert_array_equal(values, [3.0, 2.0])
    vector = vector_of(layer, fixed=fixed)
    ahead, behind = (every.read(some.rebuild(vector + h)) for h in (1e-6, -1e-6))
    np.testing.assert_allclose(((ahead - behind) / 2e-6)[[1, 2]], some.chain(values), rtol=1e-8)
    np.testing.assert_array_equal(ahead[[0, 3]], [-2.0, 4.0])


def test_whole_parts_and_single_entries_are_fixed_together():
    model = GP(RBF(1.0, np.asarray([1.0, 2.0])), 0.5, ConstantMean(3.0))
    fixed = ("mean", "kernel.lengthscale[1]")
    wanted = ["kernel.variance", "kernel.lengthscale[0]", "noise_var"]
    assert names(model, fixed=fixed) == wanted
    assert names(model, fixed=("kernel.lengthscale[0]", "kernel.lengthscale[1]")) == [
        "kernel.variance", "noise_var", "mean.value",
    ]  # fmt: skip
    with pytest.raises(ValueError, match=r"^fixed names 'nose_var'; .* is near 'noise_var'"):
        names(model, fixed=(*fixed, "nose_var"))


@pytest.mark.parametrize("entry", [1e3, -1e3])
def test_a_vector_whose_numbers_no_float_holds_is_refused_by_name(space, entry):
    layer = Layer(space.asarray([1.0]), space.asarray([1.0, 2.0]))
    vector, rebuild = flatten(layer)
    vector[2] = entry
    with np.errstate(over="ignore"), pytest.raises(ValueError, match=r"^scale must be a number"):
        rebuild(vector)
    single = Layer(np.ones(1, np.float32), 2.0)
    with pytest.raises(ValueError, match=r"^weights must be a number that floats can hold"):
        flatten(single)[1](np.asarray([1e39, 0.0]))


def test_an_array_of_a_library_that_nobody_knows_is_no_number():
    class Unknown:
        dtype = "float64"

    with pytest.raises(TypeError, match=r"RBF\.variance must be a float .*; got float64"):
        RBF(Unknown())


def test_a_cotangent_is_known_for_one_and_its_replacement_is_an_object_of_use():
    bar = cotangent(RBF(), variance=0.5)
    assert holds_derivatives(bar)
    assert holds_derivatives(copy.copy(bar))
    assert not holds_derivatives(replace(bar, variance=2.0))
    assert not holds_derivatives(RBF())
    with pytest.raises(TypeError, match="holds derivatives"):
        bar + RBF()


@pytest.fixture
def cp():
    late_reads._doubt.learn(held=True)  # whatever was in vain before
    with cupy_stand_in.installed() as module:
        yield module


def test_numbers_of_a_cotangent_stay_where_they_are_until_a_trial_is_over(cp):
    for trial in late_reads.trials(cp.asarray(1.0)):
        with trial:
            value = late_reads.number(cp.asarray(-2.0))
            assert numbers_read(cotangent(RBF(), variance=value)).variance is value
    lengths = cp.asarray([1.0, 2.0])
    bar = numbers_read(cotangent(RBF(), variance=value, lengthscale=lengths))
    assert type(bar.variance) is float
    assert bar.variance == -2.0
    assert bar.lengthscale is lengths


def test_numbers_of_the_parts_are_read_as_well_and_without_any_all_stays_itself(cp):
    one, other = cotangent(RBF(), variance=cp.asarray(-2.0)), cotangent(RBF(), variance=3.0)
    bar = numbers_read(cotangent(RBF() + RBF(), parts=(one, other)))
    assert [type(part.variance) for part in bar.parts] == [float, float]
    assert [part.variance for part in bar.parts] == [-2.0, 3.0]
    assert bar.parts[1] is other
    assert numbers_read(other) is other


@dataclass(frozen=True)
class Derived:
    """A class of somebody's own, whose constructor works something out."""

    kernel: Any
    scale: float = positive(1.0)

    def __post_init__(self) -> None:
        settle(self)
        object.__setattr__(self, "doubled", 2.0 * self.scale)


def test_a_class_of_ones_own_is_made_by_its_constructor_and_ours_need_not_look_again(monkeypatch):
    vector, rebuild = flatten(Derived(RBF(1.5, 0.5)))
    monkeypatch.setattr(RBF, "__post_init__", lambda self: 1 / 0)
    again = rebuild(vector + np.log(3.0))
    assert again.doubled == pytest.approx(6.0)
    assert again.kernel.variance == pytest.approx(4.5)
