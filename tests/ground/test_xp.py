"""The helpers below everything: what they return lives where their arguments live."""

import sys
from contextlib import contextmanager, nullcontext
from types import ModuleType, SimpleNamespace

import cupy_stand_in
import numpy as np
import pytest
from scipy import linalg, special, stats

from gpnotes.ground import tiled_cholesky
from gpnotes.ground import xp as _xp


@pytest.fixture
def lower(space, rng):
    return space.asarray(np.tril(rng.normal(size=(90, 90))) / 9.0 + 2.0 * np.eye(90))


def close(space, a, b):
    assert space.holds(a)
    tolerance = 1e-10 if space.double else 2e-3
    np.testing.assert_allclose(_xp.to_numpy(a), b, rtol=tolerance, atol=tolerance)


def test_an_array_made_like_another_lives_with_it(space):
    like = space.asarray([1.0])
    assert space.holds(_xp.as_array(np.arange(3.0), like))
    assert space.holds(_xp.eye(2, like))
    assert _xp.epsilon(like) == (2.0**-52 if space.double else 2.0**-23)


def test_to_numpy_copies_from_every_device(space):
    a = space.asarray([[1.0, 2.0]])
    host = _xp.to_numpy(a)
    assert type(host) is np.ndarray
    host[0, 0] = 5.0
    assert float(a[0, 0]) == 1.0


@pytest.mark.parametrize("exponent", range(20))
def test_a_whole_power_of_whole_numbers_is_exact(space, exponent):
    """A device takes powers by logarithms: ``3.0 ** 1`` is 2.9999999999999996 there."""
    base = space.asarray([0.0, 1.0, -1.0, 2.0, -2.0, 3.0])
    power = _xp.whole_power(base, exponent)
    assert space.holds(power)
    wanted = np.asarray([0.0, 1.0, -1.0, 2.0, -2.0, 3.0]) ** exponent
    exact = 0.0 if exponent <= 14 else 1e-6  # 3¹⁵ has more digits than float32
    np.testing.assert_allclose(_xp.to_numpy(power), wanted, rtol=exact)


@pytest.mark.parametrize("transpose", [False, True])
@pytest.mark.parametrize("columns", [None, 3])
def test_triangular_solve_undoes_the_product(space, lower, rng, transpose, columns):
    x = rng.normal(size=90 if columns is None else (90, columns))
    host = _xp.to_numpy(lower)
    b = space.asarray((host.T if transpose else host) @ x)
    close(space, _xp.solve_triangular(lower, b, transpose=transpose), x)


@pytest.mark.parametrize("columns", [0, 3])
def test_a_triangular_product_is_that_of_sums(space, lower, rng, columns):
    b = rng.normal(size=(90, columns))
    wanted = np.einsum("ij,jk->ik", _xp.to_numpy(lower).astype(float), b)
    close(space, _xp.triangular_product(lower, space.asarray(b)), wanted)


@pytest.mark.parametrize("shape", [(90,), (90, 3)])
def test_a_library_with_a_triangular_solver_is_asked_for_it(space, lower, rng, monkeypatch, shape):
    """Substitution by standard operations takes torch on a device 14 times as long."""
    b = space.asarray(rng.normal(size=shape))
    wanted = [_xp.to_numpy(_xp.solve_triangular(lower, b, transpose=way)) for way in (False, True)]
    monkeypatch.setattr(_xp, "_substitute", lambda *given: given[2])  # b itself
    found = [_xp.to_numpy(_xp.solve_triangular(lower, b, transpose=way)) for way in (False, True)]
    own = not space.name.startswith("strict")
    for a, c in zip(wanted, found, strict=True):
        np.testing.assert_array_equal(c, a if own else _xp.to_numpy(b))


def test_triangular_solve_does_not_look_above_the_diagonal(space, lower):
    """Blocks of the substitution start at 64: the 90 rows here need two of them."""
    spoiled = lower + space.asarray(np.triu(np.full((90, 90), 7.0), 1))
    b = space.asarray(np.ones(90))
    close(space, _xp.solve_triangular(spoiled, b), _xp.to_numpy(_xp.solve_triangular(lower, b)))


@pytest.mark.parametrize(
    "layout", [np.ascontiguousarray, np.asfortranarray, lambda a: a[::-1][::-1]]
)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("transpose", [False, True])
def test_a_triangular_solve_takes_every_layout_and_leaves_it(rng, layout, dtype, transpose):
    lower = layout(np.tril(rng.normal(size=(9, 9)) + 4.0 * np.eye(9)).astype(dtype))
    b = layout(rng.normal(size=(9, 4)).astype(dtype))
    before = lower.copy(), b.copy()
    x = _xp.solve_triangular(lower, b, transpose=transpose)
    assert x.dtype == dtype
    close = {"rtol": 1e-10} if dtype is np.float64 else {"rtol": 1e-3}
    np.testing.assert_allclose(x, np.linalg.solve(lower.T if transpose else lower, b), **close)
    assert _xp.solve_triangular(lower, b[:, :0]).shape == (9, 0)
    np.testing.assert_array_equal(lower, before[0])
    np.testing.assert_array_equal(b, before[1])
    lower[3, 3] = 0.0
    with pytest.raises(np.linalg.LinAlgError, match="zero in row 4"):
        _xp.solve_triangular(lower, b)


def two_threads(monkeypatch):
    """Let work on large matrices be shared, however small they are; return what was asked for."""
    asked = []

    @contextmanager
    def sharing(like):
        asked.append(like.shape)
        yield 2

    monkeypatch.setattr(tiled_cholesky, "sharing", sharing)
    return asked


@pytest.mark.parametrize("transpose", [False, True])
def test_many_columns_are_divided_among_threads_unless_there_is_a_zero(monkeypatch, rng, transpose):
    asked = two_threads(monkeypatch)
    lower = np.asfortranarray(np.tril(rng.normal(size=(9, 9))) + 4.0 * np.eye(9))
    b = rng.normal(size=(9, 64))
    x = _xp.solve_triangular(lower, b, transpose=transpose)
    np.testing.assert_allclose((lower.T if transpose else lower) @ x, b, rtol=1e-10, atol=1e-12)
    assert asked == [(9, 9)]
    for few in (b[:, :63], b.astype(np.float32)):
        _xp.solve_triangular(lower, few, transpose=transpose)
    lower[3, 3] = 0.0
    with pytest.raises(np.linalg.LinAlgError, match="zero in row 4"):
        _xp.solve_triangular(lower, b, transpose=transpose)
    assert asked == [(9, 9)]


def test_a_triangular_solve_tells_wrong_shapes_from_zeros(rng):
    with pytest.raises(ValueError, match=r"b must have 3 rows, as L has; got \(2,\)"):
        _xp.solve_triangular(np.eye(3), np.ones(2))


def test_the_factor_of_an_indefinite_matrix_is_none(space):
    assert _xp.cholesky_factor(space.asarray([[1.0, 2.0], [2.0, 1.0]])) is None
    assert _xp.cholesky_factor(space.asarray([[float("nan")]])) is None


@pytest.mark.parametrize("most", [4096, 40, 11])
def test_the_inverse_from_a_factor(space, lower, monkeypatch, most):
    monkeypatch.setattr(_xp, "_HALVED", most)
    host = _xp.to_numpy(lower).astype(np.float64)
    inverse = _xp.cholesky_inverse(lower)
    close(space, inverse, np.linalg.inv(host @ host.T))
    np.testing.assert_array_equal(_xp.to_numpy(inverse), _xp.to_numpy(inverse).T)


def test_the_symmetric_part_of_every_matrix_in_a_stack(space, rng):
    a = space.asarray(rng.normal(size=(4, 3, 3)))
    symmetric = _xp.symmetric_part(a)
    assert space.holds(symmetric)
    wanted = [0.5 * (one + one.T) for one in _xp.to_numpy(a)]
    np.testing.assert_array_equal(_xp.to_numpy(symmetric), wanted)


def test_the_log_of_the_normal_distribution_function_is_that_of_scipy_far_into_the_tails(space):
    from scipy.special import log_ndtr

    x = np.concatenate([np.linspace(-60.0, 8.0, 341), [-2.0, 0.0, 2.0, -1e4, -1e9, 30.0]])
    log_cdf = _xp.log_normal_cdf(space.asarray(x))
    assert space.holds(log_cdf)
    wanted = log_ndtr(x)
    if not space.double:  # beyond, one less than that cannot be told from one
        log_cdf, wanted = log_cdf[: x.size - 6], wanted[: x.size - 6]
    tolerance = {"rtol": 2e-13, "atol": 0.0} if space.double else {"rtol": 2e-5, "atol": 1e-6}
    np.testing.assert_allclose(_xp.to_numpy(log_cdf), wanted, **tolerance)


def test_digamma_is_that_of_scipy_for_arrays_of_every_kind_and_for_floats(space):
    from scipy.special import psi

    x = np.asarray([[1e-3, 0.3, 1.0], [2.5, 77.0, 1e6]])
    found = _xp.digamma(space.asarray(x))
    assert space.holds(found)
    np.testing.assert_allclose(_xp.to_numpy(found), psi(x), rtol=1e-15 if space.double else 1e-5)
    assert type(_xp.digamma(0.3)) is float
    assert _xp.digamma(0.3) == psi(0.3)


def test_plain_operations_find_it_too_in_the_namespace_that_scipy_serves():
    from scipy.special import log_ndtr

    x = np.linspace(-40.0, 8.0, 481)
    np.testing.assert_allclose(_xp.standard_log_cdf(np, x), log_ndtr(x), rtol=5e-14)


def test_fractions_of_the_normal_tail_satisfy_their_recursion(space):
    from scipy.special import erfcx

    x = np.asarray([2.0, 2.5, 3.0, 10.0, 1e3])
    q = [_xp.to_numpy(mills_fraction) for mills_fraction in _xp.mills_fractions(space.asarray(x))]
    rtol = 1e-13 if space.double else 1e-5
    ratio = np.sqrt(2.0 / np.pi) / erfcx(x / np.sqrt(2.0))
    np.testing.assert_allclose(x + q[0], ratio, rtol=rtol)
    np.testing.assert_allclose(q[0] * (x + q[1]), 1.0, rtol=rtol)
    np.testing.assert_allclose(q[1] * (x + q[2]), 2.0, rtol=rtol)


def test_fractions_of_a_few_numbers_are_those_of_many():
    x = np.linspace(2.0, 60.0, 30).reshape(2, 15)
    for many, few in zip(_xp.mills_fractions(x), _xp.mills_fractions(x[:, :3]), strict=True):
        np.testing.assert_array_equal(few, many[:, :3])


def test_rows_are_set(space):
    a = space.asarray(np.arange(20.0).reshape(5, 4))
    a = _xp.set_rows(
        a, np.asarray([3, 0]), slice(1, 3), space.asarray([[-1.0, -2.0], [-3.0, -4.0]])
    )
    wanted = np.arange(20.0).reshape(5, 4)
    wanted[[3, 0], 1:3] = [[-1.0, -2.0], [-3.0, -4.0]]
    np.testing.assert_array_equal(_xp.to_numpy(a), wanted)


@pytest.mark.parametrize("a", [None, [1.0], "x", 3])
def test_what_is_no_array_does_not_become_one(a):
    with pytest.raises(TypeError, match="a must be an array; got"):
        _xp.to_numpy(a)


def test_the_error_of_another_library_says_the_same_as_numpys(monkeypatch):
    class _LinAlgError(RuntimeError):
        """A stand-in for that of PyTorch."""

    def cholesky(a):
        if a[0, 0] == 4.0:  # what it is asked first
            return np.linalg.cholesky(a)
        raise _LinAlgError if a[0, 0] else RuntimeError("no memory")

    elsewhere(monkeypatch, cholesky)
    assert _xp.cholesky_factor(np.ones((2, 2))) is None
    with pytest.raises(RuntimeError, match="no memory"):
        _xp.cholesky_factor(np.zeros((2, 2)))


def elsewhere(monkeypatch, cholesky):
    """Let arrays be of a stand-in for another library, as far as a factor needs it."""
    library = ModuleType("elsewhere")
    vars(library).update({**vars(np), "__name__": "elsewhere", "linalg": ModuleType("linalg")})
    vars(library.linalg).update({**vars(np.linalg), "cholesky": cholesky})
    monkeypatch.setattr(_xp, "array_namespace", lambda *_: library)


@pytest.mark.parametrize("upper", [False, True])
def test_a_factor_of_another_library_is_proved_the_lower_one(monkeypatch, upper):
    """The upper one, which Dask's gives, would pass for it: its diagonal is the same."""

    def cholesky(a):
        return np.linalg.cholesky(a, upper=upper)

    elsewhere(monkeypatch, cholesky)
    a = np.asarray([[2.0, 1.0], [1.0, 2.0]])
    if upper:
        with pytest.raises(TypeError, match=r"elsewhere\.linalg\.cholesky must return the lower"):
            _xp.cholesky_factor(a)
    else:
        np.testing.assert_array_equal(_xp.cholesky_factor(a), np.linalg.cholesky(a))


@pytest.mark.parametrize("axis", [0, 1])
def test_sums_of_exponentials_neither_underflow_nor_end_in_nan(space, axis):
    rows = [[0.0, -2.0], [-900.0, -901.0], [-np.inf, -3.0], [-np.inf, -np.inf]]
    terms = np.asarray(rows if axis else np.transpose(rows))
    wanted = [np.log(0.5 + 0.5 * np.exp(-2.0)), -900.0 + np.log(0.5 + 0.5 * np.exp(-1.0))]
    wanted += [-3.0 + np.log(0.5), -np.inf]
    close(space, _xp.log_sum_exp(space.asarray(terms), 0.5, axis=axis), wanted)


def test_truths_are_counted_and_the_first_row_is_found(space):
    xp = space.xp
    rows = space.asarray([[0.0, 0.0], [0.0, 3.0], [2.0, 1.0]]) > 0.0
    assert _xp.how_many(rows) == (3, 1)
    assert _xp.how_many(rows[:, 1]) == (2, 1)
    assert _xp.how_many(rows[:1, :]) == _xp.how_many(rows[:0, :]) == (0, 0)
    cube = space.asarray(np.eye(8)[3].reshape(2, 2, 2)) > 0.0
    assert _xp.how_many(cube) == (1, 0)
    index = _xp.as_index([2, 0], rows)
    np.testing.assert_array_equal(to_host(xp.take(space.asarray([5.0, 6.0, 7.0]), index)), [7, 5])


def to_host(a):
    return _xp.to_numpy(a).astype(float)


def test_an_entry_is_set_and_an_array_takes_the_kind_of_another(space):
    a = _xp.set_at(space.asarray([[1.0, 2.0], [3.0, 4.0]]), (slice(None), 1), 9.0)
    close(space, a, [[1.0, 9.0], [3.0, 9.0]])
    close(space, _xp.cast_like(np.asarray([1.0, 2.0]), a), [1.0, 2.0])
    close(space, _xp.cast_like(a, a), to_host(a))
    double = _xp.in_double(a)
    assert _xp.epsilon(double) <= _xp.epsilon(a) == (2.0**-52 if space.double else 2.0**-23)
    assert _xp.has_double(a) == (_xp.epsilon(double) == 2.0**-52)
    close(space, _xp.eye(2, a), np.eye(2))


def test_a_minimum_is_found_within_its_bounds_and_rows():
    """Of the distance from (3, 1), squared: alone, below 2, and where x + y ≤ 2."""
    start, goal = np.zeros(2), np.asarray([3.0, 1.0])

    def f(x):
        return float((x - goal) @ (x - goal)), 2.0 * (x - goal)

    free = _xp.minimise(f, start, None, 50)
    np.testing.assert_allclose(free.x, goal, atol=1e-6)
    below = _xp.minimise(f, start, [(-1.0, 2.0)] * 2, 50)
    np.testing.assert_allclose(below.x, [2.0, 1.0], atol=1e-6)
    assert below.fun == pytest.approx(1.0)
    rows = np.ones((1, 2)), np.asarray([2.0])
    beyond = _xp.minimise(f, start, [(-9.0, 9.0)] * 2, 50, rows)
    np.testing.assert_allclose(beyond.x, [2.0, 0.0], atol=1e-5)
    assert 1e-3 < _xp.minimise(f, start, None, 1).fun < 10.0  # cut short


def test_a_root_is_found_where_signs_differ():
    assert _xp.root_of(lambda x: x**3 - 2.0, 0.0, 2.0) == pytest.approx(2.0 ** (1 / 3), rel=1e-12)
    assert _xp.root_of(lambda x: x * x + 1.0, -1.0, 2.0) is None
    assert _xp.root_of(lambda x: -0.1 - x, 0.0, 0.5) is None
    assert _xp.root_of(lambda x: x, 0.0, 2.0) == 0.0


@pytest.mark.parametrize(("shape", "mass"), [(1.0, 0.2), (0.4, 0.9), (7.0, 1e-8)])
def test_the_tail_of_a_gamma_distribution_is_that_of_scipy(shape, mass):
    assert _xp.gamma_tail(shape, mass) == pytest.approx(stats.gamma.isf(mass, shape), rel=1e-9)
    assert stats.gamma.sf(_xp.gamma_tail(shape, mass), shape) == pytest.approx(
        mass, rel=1e-9, abs=0.0
    )


@pytest.mark.parametrize("n", [1, 4, 5])
def test_points_of_a_sobol_sequence_are_one_in_each_part(n):
    points = _xp.sobol(n, 3, np.random.default_rng(0))
    assert points.shape == (n, 3)
    longer = _xp.sobol(2 * n, 3, np.random.default_rng(0))
    np.testing.assert_array_equal(longer[:n], points)
    for column in points[:4].T:
        parts = np.floor(len(points[:4]) * column)
        assert sorted(parts) == list(range(len(points[:4])))


def test_what_the_pool_of_a_device_keeps_is_free(monkeypatch):
    pool = SimpleNamespace(free_bytes=lambda: 30_000)
    cupy = SimpleNamespace(get_default_memory_pool=lambda: pool)
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    here = nullcontext(SimpleNamespace(mem_info=(12_000, 99_000)))
    monkeypatch.setattr(_xp, "is_cupy_namespace", lambda xp: True)
    monkeypatch.setattr(_xp, "device", lambda a: here)
    assert _xp.device_memory(np.ones(1)) == 42_000


def test_the_pools_of_torch_and_jax_are_free_too(monkeypatch):
    reserved = {"memory_reserved": lambda at: 50_000, "memory_allocated": lambda at: 20_000}
    cuda = SimpleNamespace(mem_get_info=lambda at: (12_000, 99_000), **reserved)
    monkeypatch.setitem(sys.modules, "torch.cuda", cuda)
    monkeypatch.setattr(_xp, "array_namespace", lambda a: None)
    monkeypatch.setattr(_xp, "is_torch_namespace", lambda xp: True)
    monkeypatch.setattr(_xp, "device", lambda a: SimpleNamespace(type="cuda"))
    assert _xp.device_memory(np.ones(1)) == 42_000
    monkeypatch.setattr(_xp, "device", lambda a: SimpleNamespace(type="cpu"))
    assert _xp.device_memory(np.ones(1)) is None
    monkeypatch.setattr(_xp, "is_torch_namespace", lambda xp: False)
    monkeypatch.setattr(_xp, "is_jax_array", lambda a: True)
    for said, free in ((None, None), ({"bytes_limit": 50_000, "bytes_in_use": 8_000}, 42_000)):
        there = SimpleNamespace(memory_stats=lambda said=said: said)
        assert _xp.device_memory(SimpleNamespace(devices=lambda at=there: [at])) == free


def test_the_device_that_cupy_works_on_is_told_where_an_array_is_elsewhere(monkeypatch):
    assert _xp.device_elsewhere(np.ones(1)) is None
    cupy = SimpleNamespace(cuda=SimpleNamespace(Device=lambda: "device 1"))
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    monkeypatch.setattr(_xp, "is_cupy_array", lambda a: True)
    for place, told in (("device 0", "device 1"), ("device 1", None)):
        monkeypatch.setattr(_xp, "device", lambda a, place=place: place)
        assert _xp.device_elsewhere(np.ones(1)) == told


def test_a_factor_and_its_inverse_are_divided_among_threads(monkeypatch, rng):
    asked, factored, factor = two_threads(monkeypatch), [], tiled_cholesky.factor
    monkeypatch.setattr(
        tiled_cholesky, "factor", lambda a, threads: factored.append(threads) or factor(a, threads)
    )
    root = np.tril(rng.normal(size=(70, 70))) + 9.0 * np.eye(70)
    K = root @ root.T
    lower = _xp.cholesky_factor(K)
    np.testing.assert_allclose(np.tril(lower), np.linalg.cholesky(K), rtol=1e-10, atol=1e-12)
    inverse = _xp.cholesky_inverse(lower)
    np.testing.assert_allclose(inverse, np.linalg.inv(K), rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(inverse, inverse.T)
    assert _xp.cholesky_factor(K - 90.0 * np.eye(70)) is None
    assert asked == [(70, 70)] * 3
    assert factored == [2, 2]


@pytest.mark.parametrize("transpose", [False, True])
@pytest.mark.parametrize("columns", [None, 3])
def test_torch_is_asked_for_the_triangle_that_a_system_has(monkeypatch, rng, transpose, columns):
    """Its solver takes matrices alone, and is told which triangle is there."""

    def solve_triangular(a, b, *, upper):
        assert b.ndim == 2
        return linalg.solve_triangular(a, b, lower=not upper)

    torch = SimpleNamespace(linalg=SimpleNamespace(solve_triangular=solve_triangular))
    monkeypatch.setitem(sys.modules, "torch", torch)
    monkeypatch.setattr(_xp, "is_numpy_namespace", lambda xp: False)
    monkeypatch.setattr(_xp, "is_torch_namespace", lambda xp: True)
    lower = np.tril(rng.normal(size=(5, 5))) + 4.0 * np.eye(5)
    x = rng.normal(size=5 if columns is None else (5, columns))
    b = (lower.T if transpose else lower) @ x
    np.testing.assert_allclose(_xp.solve_triangular(lower, b, transpose=transpose), x, rtol=1e-12)


def test_zeros_are_put_where_they_belong(space):
    a, truths = np.asarray([[1.0, 2.0], [3.0, 4.0]]), space.asarray([[1.0, 0.0], [0.0, 0.0]]) > 0.0
    given = space.asarray(a)
    kept = _xp.kept_where(truths, given)
    close(space, kept, [[1.0, 0.0], [0.0, 0.0]])
    close(space, given, a)  # what is kept is a copy
    close(space, _xp.zero_where(truths, given), [[0.0, 2.0], [3.0, 4.0]])


def test_an_object_keeps_copies_that_nobody_else_writes_into(space):
    given = space.asarray([1.0, 2.0]), space.asarray([3.0])
    held = SimpleNamespace(a=given[0], b=given[1], c=given[0])
    _xp.keep_copies(held, "a", "b")
    close(space, held.a, [1.0, 2.0])
    close(space, held.b, [3.0])
    assert held.a is not given[0]
    assert held.c is given[0]
    if not space.name.startswith("jax"):  # which cannot be written into
        given[0][0] = 9.0
        assert float(held.a[0]) == 1.0


def test_what_is_written_into_is_in_double_and_a_copy_of_an_array_of_jax(space):
    given = space.asarray([1.0, 2.0])
    found = _xp.to_write(given)
    np.testing.assert_array_equal(to_host(found), [1.0, 2.0])
    assert _xp.epsilon(found) == (2.0**-52 if _xp.has_double(found) else 2.0**-23)
    is_kept = space.double or not _xp.has_double(given)  # where there is no float64, as it is
    assert (found is given) == (is_kept and not space.name.startswith("jax"))


def test_an_array_of_jax_is_written_into_on_the_host(monkeypatch):
    given = np.ones(2, np.float32)
    monkeypatch.setattr(_xp, "is_jax_array", lambda a: a is given)
    found = _xp.to_write(given)
    found[0] = 3.0
    assert (found.dtype, given.tolist()) == (np.float64, [1.0, 1.0])


def test_cupy_is_asked_for_what_it_has_and_its_arrays_stay_its_own(rng):
    lower = np.tril(rng.normal(size=(5, 5))) + 4.0 * np.eye(5)
    b, x = rng.normal(size=(5, 2)), np.asarray([-40.0, 0.3, 2.5])
    with cupy_stand_in.installed() as cupy:
        on_device = [cupy.asarray(a) for a in (lower, b, x, lower @ lower.T)]
        found = [
            _xp.solve_triangular(*on_device[:2]),
            _xp.solve_triangular(on_device[0], on_device[1][:, 0], transpose=True),
            _xp.cholesky_factor(on_device[3]),
            _xp.digamma(on_device[2][1:]),
            _xp.log_normal_cdf(on_device[2]),
            _xp.zero_where(on_device[2] < 0.0, on_device[2]),
            _xp.set_rows(on_device[1], np.asarray([4, 0]), slice(0, 1), on_device[1][:2, :1] * 0),
        ]
        assert all(type(a) is cupy.ndarray for a in found)
        assert _xp.cholesky_factor(-on_device[3]) is None
        host = [_xp.to_numpy(a) for a in found]
    wanted = [
        np.linalg.solve(lower, b), np.linalg.solve(lower.T, b[:, 0]), lower, special.psi(x[1:]),
        special.log_ndtr(x), [0.0, 0.3, 2.5],
        np.where(np.isin(np.arange(10), [0, 8]).reshape(5, 2), 0.0, b),
    ]  # fmt: skip
    for a, value in zip(host, wanted, strict=True):
        np.testing.assert_allclose(a, value, rtol=1e-12, atol=1e-14)


def test_the_largest_entry_is_the_largest_in_size(space):
    for a in ([1.0, -3.0, 2.0], [[0.5], [-0.25]]):
        found = _xp.largest(space.asarray(a))
        assert float(found) == max(abs(one) for one in np.ravel(a))
    assert np.isnan(float(_xp.largest(space.asarray([1.0, np.nan]))))


@pytest.mark.parametrize("sizes", [[90], [1, 89], [40, 40, 10], [30] * 3])
def test_a_factor_takes_the_place_of_its_matrix_a_few_columns_at_a_time(rng, sizes):
    root = np.tril(rng.normal(size=(90, 90))) / 9.0 + 2.0 * np.eye(90)
    ends = np.cumsum(sizes)
    blocks = [slice(end - size, end) for end, size in zip(ends.tolist(), sizes, strict=True)]
    K = root @ root.T
    assert _xp.factor_in_place(K, blocks)
    np.testing.assert_allclose(K, root, rtol=1e-10, atol=1e-12)
    assert not _xp.factor_in_place(root @ root.T - 4.0 * np.eye(90), blocks)


def test_where_there_are_no_doubles_an_array_stays_as_it_is(monkeypatch):
    a, double = np.ones(2, dtype=np.float32), np.ones(2)
    assert _xp.in_double(a).dtype == np.float64
    assert _xp.in_double(double) is double
    monkeypatch.setattr(_xp, "has_double", lambda _: False)
    assert _xp.in_double(a) is a


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("transpose", [False, True])
@pytest.mark.parametrize("shape", [(4,), (4, 3)])
def test_a_factor_of_either_layout_is_solved_on_a_device(rng, order, transpose, shape):
    """Only one triangle is read: what stands in the other is no matter."""
    lower = np.tril(rng.normal(size=(4, 4))) + 4.0 * np.eye(4)
    b = rng.normal(size=shape)
    with cupy_stand_in.installed() as cp:
        held = cp.asarray(np.asarray(lower + np.triu(np.ones((4, 4)), 1), order=order))
        assert held.flags.c_contiguous == (order == "C")
        found = _xp.to_numpy(_xp.solve_triangular(held, cp.asarray(b), transpose=transpose))
    np.testing.assert_allclose((lower.T if transpose else lower) @ found, b, atol=1e-12)


def test_a_factor_and_a_right_side_are_of_one_library():
    strict = pytest.importorskip("array_api_strict")
    with pytest.raises(TypeError):
        _xp.solve_triangular(np.eye(2), strict.ones(2))


@pytest.mark.parametrize(
    ("factor", "lower"),
    [
        ([[2.0, 0.0], [1.0, 2.0]], True), ([[2.0, 1.0], [0.0, 2.0]], False),
        ([[2.0, 0.0], [0.5, 2.0]], False), ([[2.0, 0.0], [1.5, 2.0]], False),
        ([[2.0, 0.0], [-1.0, 2.0]], False), ([[2.0, 1.0], [1.0, 2.0]], False),
    ],
)  # fmt: skip
def test_a_library_is_known_by_its_factor_to_give_the_lower_one(factor, lower):
    linalg = SimpleNamespace(cholesky=lambda a: np.asarray(factor))
    assert _xp._gives_lower(_Library(linalg)) is lower


class _Library:
    """As much of a library as is looked at."""

    asarray = staticmethod(np.asarray)

    def __init__(self, linalg):
        self.linalg = linalg


@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_factor_that_is_not_finite_is_none(monkeypatch, place):
    """As some libraries give it back without an error, from the row on where they broke down."""
    lower = np.eye(3)
    lower[place, place] = np.nan
    monkeypatch.setattr("gpnotes.ground.xp._scipy_cholesky", lambda a: lower)
    assert _xp.cholesky_factor(np.eye(3)) is None
