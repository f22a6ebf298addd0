"""The stand-in for CuPy differs from NumPy where CuPy's user guide says that CuPy does."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from types import ModuleType
from typing import Any

import cupy_stand_in
import numpy as np
import pytest
from cupy_stand_in.counts import counting

from gpnotes import GP, RBF, condition
from gpnotes.ground.xp import array_namespace, cholesky_factor, device, to_numpy

pytestmark = pytest.mark.slow


@pytest.fixture
def cp() -> Iterator[ModuleType]:
    with cupy_stand_in.installed() as module:
        yield module


@pytest.fixture
def a(cp: ModuleType) -> Any:
    return cp.asarray([[4.0, 2.0], [2.0, 3.0]])


def test_array_api_compat_takes_it_for_cupy(a: Any) -> None:
    assert array_namespace(a).__name__ == "array_api_compat.cupy"
    assert to_numpy(a).tolist() == [[4.0, 2.0], [2.0, 3.0]]


@pytest.mark.parametrize(
    "mixed",
    [
        lambda a, host: a + host,
        lambda a, host: host + a,
        lambda a, host: a @ host,
        lambda a, host: np.add(host, a),
        lambda a, host: array_namespace(a).concat([a, host]),
        lambda a, host: array_namespace(a).where(a > 0.0, a, host),
        lambda a, host: np.asarray(a),
        lambda a, host: np.linalg.norm(host - a),
        lambda a, host: range(a[0, 0]),
        lambda a, host: a - [1.0, 2.0],
    ],
    ids=[f"way {at}" for at in range(10)],
)
def test_nothing_comes_to_the_host_on_its_own(a: Any, mixed: Any) -> None:
    with pytest.raises(TypeError, match=r"Unsupported type|Implicit conversion|cannot be inter"):
        mixed(a, np.ones((2, 2)))


def test_what_is_on_the_host_is_neither_solved_nor_assigned(cp: ModuleType, a: Any) -> None:
    with pytest.raises(np.linalg.LinAlgError, match="only supports"):
        cp.linalg.solve(a, np.ones(2))
    with pytest.raises(ValueError, match="cannot be used for fill"):
        a[0, :] = np.ones(2)


def test_reductions_and_single_entries_are_arrays_without_axes(cp: ModuleType, a: Any) -> None:
    for part in (cp.sum(a), a.max(), a[0, 0], cp.count_nonzero(a)):
        assert (type(part), part.shape) == (cp.ndarray, ())
    corner = a[0, 0]
    a[0, 0] = 7.0
    assert float(corner) == 7.0  # a view


def test_places_out_of_bounds_wrap_around(cp: ModuleType) -> None:
    x = cp.arange(3)
    assert x[cp.asarray([1, 3])].tolist() == [1, 0]
    assert array_namespace(x).take(x, cp.asarray([1, 3])).tolist() == [1, 0]
    with pytest.raises(IndexError):
        x[3]


def test_failed_factorisations_are_nan_unless_the_error_is_asked_for(cp: ModuleType) -> None:
    import cupyx

    bad = cp.asarray([[1.0, 2.0], [2.0, 1.0]])
    assert np.all(np.isnan(cp.linalg.cholesky(bad).get()))
    assert np.all(np.isnan(cp.linalg.solve(cp.zeros((2, 2)), bad).get()))
    with cupyx.errstate(linalg="raise"), pytest.raises(np.linalg.LinAlgError):
        cp.linalg.cholesky(bad)
    assert cholesky_factor(bad) is None


def test_the_library_is_asked_whether_a_factor_is_one(
    cp: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a failed one leaves behind means nothing, and need not be NaN."""
    monkeypatch.setattr(cupy_stand_in.solvers, "_spoilt", lambda value: value)
    bad = cp.asarray([[1.0, 2.0], [2.0, 1.0]])
    assert np.all(np.isfinite(cp.linalg.cholesky(bad).get()))
    assert cholesky_factor(bad) is None


def test_one_triangle_is_read_and_there_is_no_empty_one(cp: ModuleType, a: Any) -> None:
    from cupyx.scipy.linalg import solve_triangular

    x = solve_triangular(a, cp.asarray([4.0, 5.0]), lower=True)
    assert x.tolist() == [1.0, 1.0]
    with pytest.raises(RuntimeError, match="CUBLAS"):
        solve_triangular(cp.zeros((0, 0)), cp.zeros(0), lower=True)


@pytest.mark.parametrize(
    "data", [["a", "b"], [None, 1.0], np.array(["2020-01-01"], dtype="datetime64[D]")]
)
def test_there_are_numbers_only(cp: ModuleType, data: Any) -> None:
    with pytest.raises(ValueError, match="Unsupported dtype"):
        cp.asarray(data)


def test_arrays_of_one_device_are_not_mixed_with_those_of_the_other(cp: ModuleType, a: Any) -> None:
    with cp.cuda.Device(1):
        other = cp.ones((2, 2))
        with pytest.raises(ValueError, match="different from the current device"):
            _ = a + other
        moved = cp.asarray(a) + other
    assert device(moved) == cp.cuda.Device(1)
    with pytest.raises(ValueError, match="different from the current device"):
        _ = a + other
    # the argument does nothing: https://github.com/data-apis/array-api-compat/issues/337
    made = array_namespace(a).zeros(2, device=cp.cuda.Device(1))
    assert device(made) == cp.cuda.Device(0)


def test_an_array_on_another_device_than_the_current_one_is_refused(cp: ModuleType) -> None:
    X, y = cp.asarray([[0.0], [1.0]]), cp.asarray([0.0, 1.0])
    words = r"X must live on the current device, <CUDA Device 1>; got <CUDA Device 0>: call it in"
    with cp.cuda.Device(1):
        with pytest.raises(ValueError, match=words + " `with X.device:`"):
            condition(GP(RBF(), 0.1), X, y)
        with X.device:
            posterior = condition(GP(RBF(), 0.1), X, y)
            assert device(posterior.mean(X)) == cp.cuda.Device(0)


def test_functions_of_numpy_go_to_those_of_the_device(cp: ModuleType, a: Any) -> None:
    for found in (np.sum(a), np.linalg.inv(a), np.fft.fft(a), np.exp(a)):
        assert type(found) is cp.ndarray
    with pytest.raises(TypeError, match=r"no implementation found for 'numpy\.polyfit'"):
        np.polyfit(a, a, 1)


def test_a_host_array_is_compared_with_and_quantiles_stay(cp: ModuleType, a: Any) -> None:
    """`allclose` is among the few that bring an array of the host to the device."""
    near = np.allclose(a, np.asarray([[4.0, 2.0], [2.0, 3.0]]))
    middle = np.quantile(a[0], (0.0, 0.5))
    between = np.interp(cp.asarray([0.5]), cp.asarray([0.0, 1.0]), a[0])
    found = (near, middle, between, np.corrcoef(a))
    assert all(type(one) is cp.ndarray for one in found)
    assert bool(near)
    assert (middle.tolist(), between.tolist()) == ([2.0, 3.0], [3.0])


def test_its_generator_lacks_what_that_of_cupy_lacks(cp: ModuleType) -> None:
    rng = cp.random.default_rng(0)
    assert type(rng.standard_normal(3)) is cp.ndarray
    for name in ("normal", "choice", "permutation", "multinomial"):
        assert not hasattr(rng, name)


@pytest.mark.parametrize(
    ("function", "launches"),
    [
        (lambda xp, a, b: xp.exp(-0.5 * (a - b) ** 2), 1),
        (lambda xp, a, b: xp.where(a > b, 0.0, a), 1),
        (lambda xp, a, b: 2.0 * xp.sum(a * b, axis=1), 1),
        (lambda xp, a, b: (a + b, a * b), 1),
    ],
)
def test_a_fused_function_is_one_launch(cp: ModuleType, function: Any, launches: int) -> None:
    a, b = np.arange(6.0).reshape(2, 3), np.asarray([[2.0], [1.0]])
    with counting() as counts:
        made = cp.fuse(kernel_name="one")(partial(function, cp))(cp.asarray(a), cp.asarray(b))
    parts = made if isinstance(made, tuple) else (made,)
    plain = function(np, a, b)
    for part, wanted in zip(parts, plain if isinstance(plain, tuple) else (plain,), strict=True):
        np.testing.assert_allclose(part.get(), wanted)
    assert counts.launches == launches + 2  # with both arrays that were brought there


@pytest.mark.parametrize(
    "function",
    [
        lambda xp, a: a @ a,
        lambda xp, a: a[0],
        lambda xp, a: a.shape and a,
        lambda xp, a: a if a > 0.0 else -a,
        lambda xp, a: float(a),
        lambda xp, a: xp.cumsum(a),
        lambda xp, a: xp.sum(xp.sum(a, axis=1)),
        lambda xp, a: a - xp.max(a),
        lambda xp, a: xp.add(a, np.ones((2, 2))),
    ],
    ids=[f"way {at}" for at in range(9)],
)
def test_what_cupy_does_not_fuse_is_refused(cp: ModuleType, a: Any, function: Any) -> None:
    with pytest.raises((TypeError, NotImplementedError)):
        cp.fuse(kernel_name="one")(partial(function, cp))(a)
