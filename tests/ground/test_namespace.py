"""The namespace of NumPy's arrays: that of the standard, by shorter ways to the same bits."""

import sys
from types import SimpleNamespace

import array_api_compat
import array_api_compat.numpy as standard
import cupy_stand_in
import numpy as np
import pytest
from cupy_stand_in.counts import counting

from gpnotes import GP, RBF, condition
from gpnotes.ground.namespace import array_namespace, fused, is_jax_array, refusal

XP = array_namespace(np.zeros(1))
STACKS = [
    np.random.default_rng(1).normal(size=(4, 3, 3)),
    np.random.default_rng(2).normal(size=(70, 3, 3)).astype(np.float32)[::2],
    np.arange(18, dtype=np.int32).reshape(2, 3, 3),
    np.random.default_rng(3).normal(size=(2, 3, 3)) > 0.0,
]


def same(ours, theirs):
    assert type(ours) is type(theirs)
    assert ours.dtype == theirs.dtype
    np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("x", STACKS)
@pytest.mark.parametrize("name", ["sum", "max", "min", "all", "any"])
@pytest.mark.parametrize("axis", [None, 0, -1, (0, 2)])
@pytest.mark.parametrize("keepdims", [False, True])
def test_reductions_have_the_bits_of_the_standard(x, name, axis, keepdims):
    ours, theirs = (getattr(xp, name)(x, axis=axis, keepdims=keepdims) for xp in (XP, standard))
    same(ours, theirs)
    same(getattr(XP, name)(x), getattr(standard, name)(x))


CLIPPED = [
    np.asarray([-0.0, 0.0, -2.0, 2.0, np.nan, np.inf, -np.inf, 1e-310]),
    np.asarray([[-0.0, 0.5], [np.nan, -3.0]], dtype=np.float32),
    np.asarray([0.1, -0.1], dtype=np.float16),
    np.asarray([3.0, -3.0], dtype=">f8"),
    np.asarray(-2.5), np.float64(-2.5), np.float32(0.7), np.zeros((0, 3)),
    np.arange(-3, 4), np.asarray([1.0 + 2.0j]),
]  # fmt: skip


@pytest.mark.parametrize("x", CLIPPED, ids=repr)
@pytest.mark.parametrize(
    ("low", "high"),
    [(0.0, None), (None, -0.0), (-1, 1), (0.1, 0.3), (2.0, 1.0), (np.nan, 1.0), (-1.0, np.nan),
     (None, None), (-np.inf, np.inf), (np.float64(0.1), None), (None, np.float32(0.1)),
     (np.zeros(()), np.ones(1)), (False, True)],
)  # fmt: skip
def test_what_is_clipped_is_that_of_the_standard(x, low, high):
    with np.errstate(invalid="ignore"):  # older versions compare with a NaN
        try:
            wanted = standard.clip(x, low, high)
        except (TypeError, ValueError, OverflowError) as wrong:
            with pytest.raises(type(wrong)):
                XP.clip(x, low, high)
            return
        ours = XP.clip(x, min=low, max=high)
    same(ours, wanted)
    assert not np.shares_memory(ours, x)


@pytest.mark.parametrize("x", STACKS)
def test_shapes_are_those_of_the_standard(x):
    same(XP.reshape(x, (-1, 9)), standard.reshape(x, (-1, 9)))
    same(XP.take(x, np.asarray([1, 0, 1]), axis=1), standard.take(x, np.asarray([1, 0, 1]), axis=1))
    same(XP.matrix_transpose(x), standard.matrix_transpose(x))
    same(XP.linalg.diagonal(x), standard.linalg.diagonal(x))
    same(XP.linalg.diagonal(x, offset=1), standard.linalg.diagonal(x, offset=1))
    same(XP.ones_like(x), standard.ones_like(x))
    same(XP.zeros_like(x), standard.zeros_like(x))


def test_eigenvalues_are_those_of_the_standard_and_have_their_names():
    x = STACKS[0] + standard.matrix_transpose(STACKS[0])
    ours, theirs = XP.linalg.eigh(x), standard.linalg.eigh(x)
    same(ours.eigenvalues, theirs.eigenvalues)
    same(ours.eigenvectors, theirs.eigenvectors)


def test_a_sum_takes_the_dtype_and_a_shape_the_copy_that_are_asked_for():
    x = STACKS[1]
    same(XP.sum(x, dtype=np.float64), standard.sum(x, dtype=np.float64))
    assert not np.shares_memory(XP.reshape(x[0], (9,), copy=True), x)
    assert np.shares_memory(XP.reshape(x[0], (9,)), x)


def test_what_is_not_shorter_is_the_standards():
    assert XP.__name__ == standard.__name__
    assert XP.sort is standard.sort
    assert XP.linalg.qr is standard.linalg.qr
    assert array_api_compat.is_numpy_namespace(XP)


def test_nothing_has_no_largest_entry():
    for name in ("max", "min"):
        with pytest.raises(ValueError, match="zero-size array"):
            getattr(XP, name)(np.zeros(0))


def test_arrays_of_numpy_have_one_namespace_whatever_comes_with_them():
    class Own(np.ndarray):
        pass

    assert array_namespace(np.zeros(1), np.float32(1.0)) is XP
    assert array_namespace(np.zeros(1), 1.0, None) is XP
    assert array_namespace(np.float64(1.0)) is XP
    assert array_namespace(np.zeros(1).view(Own)) is XP


def test_of_what_are_no_arrays_or_of_two_libraries_there_is_no_namespace():
    strict = pytest.importorskip("array_api_strict")
    assert array_namespace(strict.zeros(1)) is strict
    for wrong in ([], ["x"], [1.0], [np.zeros(1), strict.zeros(1)], [np.zeros(1), "x"]):
        with pytest.raises(TypeError):
            array_namespace(*wrong)


class Lazy:
    """A stand-in for an array of Dask, which has no values before ``compute``."""

    __module__ = "dask.array.core"
    dtype = np.dtype("float64")
    shape = (3, 1)
    ndim = 2

    def __init__(self, graph: object = ()) -> None:
        self.graph = graph

    def __dask_graph__(self):
        return self.graph

    def __array_namespace__(self, **_):
        return standard

    def __array__(self, dtype=None, copy=None):
        raise AssertionError("nobody asked for the values")


def test_what_dask_collects_is_no_array_here():
    with pytest.raises(TypeError, match=r"dask Lazy, .*gpnotes\.Chunks"):
        array_namespace(Lazy())
    assert array_namespace(Lazy(graph=None)) is not None  # a box that holds none of Dask's


def test_a_collection_of_dask_is_refused_by_name_and_chunks_are_pointed_to():
    X, y = np.arange(3.0)[:, None], np.zeros(3)
    model = GP(RBF(), 0.1)
    with pytest.raises(TypeError, match=r"^X must be an array; got a dask Lazy, .*gpnotes\.Chunks"):
        condition(model, Lazy(), y)
    with pytest.raises(TypeError, match=r"^y must be an array; got a dask Lazy, .*gpnotes\.Chunks"):
        condition(model, X, Lazy())
    with pytest.raises(TypeError, match=r"^Xs must be an array; got a dask Lazy"):
        condition(model, X, y).predict(Lazy())
    with pytest.raises(TypeError, match=r"^x must be an array; got a dask Lazy"):
        RBF()(Lazy())


def test_cupy_clips_by_its_own_function_and_is_the_standard_else():
    with cupy_stand_in.installed() as cupy:
        a = cupy.asarray([1.0, 5.0, 9.0])
        found = [array_namespace(a), array_namespace(a, 2.0), array_namespace(a, a)]
        assert all(xp is found[0] for xp in found)
        assert array_api_compat.is_cupy_namespace(found[0])
        assert found[0].clip(a, 2.0, 6.0).tolist() == [2.0, 5.0, 6.0]
        assert found[0].clip(a, max=6.0).tolist() == [1.0, 5.0, 6.0]
        assert found[0].clip(a, min=2.0).tolist() == [2.0, 5.0, 9.0]
        assert found[0].sum is array_api_compat.array_namespace(a).sum
        assert not is_jax_array(a)
    assert not is_jax_array(np.zeros(1))


def test_what_jax_traces_is_refused_and_other_arrays_are_not(monkeypatch):
    class Tracer:
        __module__ = "jax._src.core"

    core = SimpleNamespace(Tracer=Tracer)
    monkeypatch.setitem(sys.modules, "jax", SimpleNamespace(core=core))
    assert refusal(np.zeros(1)) is None
    assert "a jax Tracer, which has no values while jit" in refusal(Tracer())
    monkeypatch.delitem(sys.modules, "jax")
    assert refusal(Tracer()) is None


def test_a_fused_function_finds_the_namespace_of_what_is_traced():
    """One launch on a device, plain operations on the host, and one column of numbers."""

    def part(x, y, z):
        xp = array_namespace(x, y)
        return xp.where(x > 0.0, xp.exp(x) * y, z)

    x, y = np.asarray([-1.0, 0.5, 2.0]), np.asarray([1.0, 2.0, 3.0])
    wanted = np.asarray([-4.0, 2.0 * np.exp(0.5), 3.0 * np.exp(2.0)])
    np.testing.assert_allclose(fused(part)(x, y, -4.0), wanted, rtol=1e-15)
    with cupy_stand_in.installed() as cp:
        on_device, whole = (cp.asarray(x), cp.asarray(y)), fused(part)
        with counting() as counts:
            found = whole(*on_device, -4.0)
        assert counts.launches == 1
        np.testing.assert_allclose(cp.asnumpy(found), wanted, rtol=1e-15)
