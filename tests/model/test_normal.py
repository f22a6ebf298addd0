"""The multivariate Gaussian: marginals, conditions, products, divergence, samples."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import multivariate_normal, norm

from gpnotes import Normal, stream
from gpnotes.ground.linalg import FactorisationError
from gpnotes.ground.xp import to_numpy
from gpnotes.model import normal as normal_module


def close(space, a, b):
    assert space.holds(a)
    tolerance = 1e-10 if space.double else 1e-3
    np.testing.assert_allclose(to_numpy(a), b, rtol=tolerance, atol=tolerance)


def random_normal(rng, n=5, columns=None):
    return rng.normal(size=n), 0.4 * rng.normal(size=(n, columns or n)) + 1.5 * np.eye(
        n, columns or n
    )


@pytest.fixture
def moments(rng):
    mean, root = random_normal(rng)
    return mean, root @ root.T


@pytest.fixture
def x(space, moments):
    return Normal.from_covariance(*map(space.asarray, moments))


def test_moments(space, x, moments):
    close(space, x.covariance, moments[1])
    close(space, x.variance, np.diag(moments[1]))
    assert x.size == 5


def test_marginal_in_the_order_asked_for(space, x, moments):
    part = x.marginal([3, 0])
    close(space, part.mean, moments[0][[3, 0]])
    close(space, part.covariance, moments[1][np.ix_([3, 0], [3, 0])])


def test_condition_is_the_block_formula(space, x, moments):
    (mean, S), a, b, values = moments, [3, 1], [0, 2, 4], np.asarray([0.3, -0.7])
    gain = S[np.ix_(b, a)] @ np.linalg.inv(S[np.ix_(a, a)])
    conditioned = x.condition(a, space.asarray(values))
    close(space, conditioned.mean, mean[b] + gain @ (values - mean[a]))
    close(space, conditioned.covariance, S[np.ix_(b, b)] - gain @ S[np.ix_(a, b)])


def test_conditioning_in_two_steps_or_in_one(space, x):
    values = space.asarray([0.3, -0.7])
    twice = x.condition([3], values[:1]).condition([1], values[1:])
    once = x.condition([3, 1], values)
    close(space, twice.mean, to_numpy(once.mean))
    close(space, twice.covariance, to_numpy(once.covariance))


def test_a_singular_distribution_conditions_where_the_values_are_possible(space):
    """Three variables that are multiples of one."""
    x = Normal(space.asarray([0.0, 0.0, 1.0]), space.asarray([[1.0], [2.0], [3.0]]))
    conditioned = x.condition([0, 1], space.asarray([0.5, 1.0]))
    close(space, conditioned.mean, [2.5])
    close(space, conditioned.covariance, [[0.0]])
    wide = Normal(x.mean, space.asarray([[1.0, 0.0], [2.0, 0.0], [3.0, 0.0]]))
    for same in (x, wide):  # a half and one sd, where both must be equal
        with pytest.raises(ValueError, match=r"under a singular covariance, by 2\.500e-01 sd"):
            same.condition([0, 1], space.asarray([0.5, 2.0]))


def test_a_variance_never_turns_negative(space):
    """The difference of two nearly equal matrices would; the root cannot."""
    x = Normal(space.asarray([0.0, 0.0]), space.asarray([[1.0, 0.0], [1.0, 1e-7]]))
    variance = float(x.condition([0], space.asarray([1.0])).variance[0])
    assert variance >= 0.0
    assert variance == pytest.approx(1e-14, rel=1e-6 if space.double else 1.0, abs=0.0)


def test_product_adds_precisions(space, x, moments, rng):
    other = random_normal(rng, 5)
    (m1, S1), (m2, R2) = moments, other
    P1, P2 = np.linalg.inv(S1), np.linalg.inv(R2 @ R2.T)
    S = np.linalg.inv(P1 + P2)
    product = x.product(Normal(space.asarray(m2), space.asarray(R2)))
    close(space, product.covariance, S)
    close(space, product.mean, S @ (P1 @ m1 + P2 @ m2))
    assert product.root.shape == (5, 5)


def test_log_density_is_that_of_scipy(space, x, moments, rng):
    point = rng.normal(size=5)
    wanted = multivariate_normal(*moments).logpdf(point)
    log_density = x.log_density(space.asarray(point))
    assert type(log_density) is float
    assert log_density == pytest.approx(wanted, rel=1e-10 if space.double else 1e-4)


def test_divergence_of_one_variable_from_another(space):
    p = Normal(space.asarray([1.0]), space.asarray([[2.0]]))
    q = Normal(space.asarray([0.0]), space.asarray([[-3.0]]))  # a root may have any sign
    wanted = math.log(3.0 / 2.0) + (4.0 + 1.0) / 18.0 - 0.5
    assert type(p.kl(q)) is float
    assert p.kl(q) == pytest.approx(wanted, rel=1e-6)
    assert p.kl(p) == pytest.approx(0.0, abs=1e-6)


def test_divergence_is_the_expected_difference_of_log_densities(rng):
    """The difference is of the second degree, whose expectation 2 n places give to rounding."""
    p, q = (Normal(*random_normal(rng, 3)) for _ in range(2))
    offsets = math.sqrt(3) * p.root.T
    places = np.concatenate((p.mean + offsets, p.mean - offsets))
    gaps = [p.log_density(place) - q.log_density(place) for place in places]
    assert p.kl(q) == pytest.approx(np.mean(gaps), rel=1e-10)


def test_singular_distributions_have_no_density(space):
    flat = Normal(space.asarray([0.0, 0.0]), space.asarray([[1.0], [2.0]]))
    full = Normal(space.asarray([0.0, 0.0]), space.asarray([[1.0, 0.0], [0.0, 1.0]]))
    with pytest.raises(FactorisationError, match="singular"):
        flat.log_density(flat.mean)
    with pytest.raises(FactorisationError, match="singular"):
        full.kl(flat)
    assert flat.kl(full) == math.inf


def test_a_root_may_have_more_columns_than_rows(space, rng):
    mean, root = random_normal(rng, 3, 7)
    wide = Normal(space.asarray(mean), space.asarray(root))
    wanted = multivariate_normal(mean, root @ root.T).logpdf(np.zeros(3))
    assert wide.log_density(space.asarray([0.0] * 3)) == pytest.approx(wanted, rel=1e-4)


@pytest.mark.parametrize("level", [0.5, 0.95])
def test_intervals_hold_their_level(space, x, moments, level):
    low, high = x.interval(level)
    sd = np.sqrt(np.diag(moments[1]))
    close(space, low, norm(moments[0], sd).ppf(0.5 - level / 2))
    close(space, high, norm(moments[0], sd).ppf(0.5 + level / 2))


@pytest.mark.parametrize("level", [0.0, 1.0, 95.0])
def test_a_level_is_a_probability(x, level):
    with pytest.raises(ValueError, match="level must be between 0 and 1; got"):
        x.interval(level)


def test_samples_have_the_moments(space, x, moments):
    """Within five standard errors of 20 000 draws, for each mean and each covariance."""
    draws = x.sample(20_000, rng=stream(7))
    assert space.holds(draws)
    assert draws.shape == (20_000, 5)
    host, (mean, S), n = to_numpy(draws).astype(np.float64), moments, 20_000
    assert (np.abs(host.mean(axis=0) - mean) < 5.0 * np.sqrt(np.diag(S) / n)).all()
    spread = np.sqrt((np.outer(np.diag(S), np.diag(S)) + S**2) / n)
    assert (np.abs(np.cov(host.T) - S) < 5.0 * spread).all()


def test_a_semidefinite_covariance_has_a_root(space):
    line = np.asarray([[1.0, 2.0], [2.0, 4.0]])
    x = Normal.from_covariance(space.asarray([0.0, 0.0]), space.asarray(line))
    close(space, x.covariance, line)


SINGULAR = {
    "nothing": np.zeros((3, 3)),
    "a line": np.outer([1.0, 2.0, -4.0], [1.0, 2.0, -4.0]),
    "a plane": np.asarray([[4.0, 2.0, 2.0], [2.0, 5.0, 3.0], [2.0, 3.0, 2.0]]),
    "one that varies": np.diag([0.0, 0.0, 2.0, 0.0]),
}


@pytest.mark.parametrize(("kind", "rank"), list(zip(SINGULAR, (0, 1, 2, 1), strict=True)))
def test_a_singular_covariance_has_a_root_of_its_rank(space, kind, rank):
    """Of small whole numbers: that there is no Cholesky factor shows without rounding."""
    covariance = space.asarray(SINGULAR[kind])
    x = Normal.from_covariance(0.0 * covariance[:, 0], covariance)
    assert (x.root_kind, x.root.shape) == ("pivoted cholesky", (len(SINGULAR[kind]), rank))
    assert space.holds(x.root)
    close(space, x.covariance, SINGULAR[kind])


def test_a_definite_covariance_has_its_cholesky_factor_as_the_root(space):
    S = np.asarray([[4.0, 2.0], [2.0, 5.0]])
    x = Normal.from_covariance(space.asarray([0.0, 0.0]), space.asarray(S))
    assert x.root_kind == "cholesky"
    close(space, x.root, [[2.0, 0.0], [1.0, 2.0]])
    assert Normal(x.mean, x.root).root_kind == "given"


@given(st.integers(1, 30), st.integers(1, 30), st.integers(0, 2**32 - 1))
def test_both_pivoted_factors_are_roots(n, rank, seed):
    """LAPACK's and the one of standard operations, up to the rounding that they stop at."""
    thin = np.random.default_rng(seed).normal(size=(n, min(n, rank)))
    covariance = thin @ thin.T
    rounding = n * np.finfo(float).eps * np.max(np.diag(covariance))
    for factor in (normal_module._pivoted_by_lapack, normal_module._pivoted_by_columns):
        root = factor(np.tril(covariance) if "lapack" in factor.__name__ else covariance, rounding)
        assert root.shape[0] == n
        assert root.shape[1] <= n
        np.testing.assert_allclose(root @ root.T, covariance, atol=30.0 * rounding)


def test_an_indefinite_covariance_is_refused(space):
    S = space.asarray([[1.0, 2.0], [2.0, 1.0]])
    with pytest.raises(FactorisationError, match=r"smallest eigenvalue is -1, "):
        Normal.from_covariance(space.asarray([0.0, 0.0]), S)


def test_a_covariance_of_another_kind_is_called_what_it_is():
    with pytest.raises(TypeError, match="covariance must have the dtype of mean, float64; got fl"):
        Normal.from_covariance(np.zeros(2), np.eye(2, dtype=np.float32))


def test_shapes_and_kinds_are_checked_at_the_door():
    with pytest.raises(ValueError, match=r"root must have shape \(2, d\); got \(3, 3\)"):
        Normal(np.zeros(2), np.eye(3))
    with pytest.raises(TypeError, match="root must have the dtype of mean"):
        Normal(np.zeros(2), np.eye(2, dtype=np.float32))
    with pytest.raises(ValueError, match=r"x must have shape \(2,\); got \(3,\)"):
        Normal(np.zeros(2), np.eye(2)).log_density(np.zeros(3))
    with pytest.raises(ValueError, match=r"values must have shape \(1,\); got \(2,\)"):
        Normal(np.zeros(2), np.eye(2)).condition([0], np.zeros(2))


@given(st.integers(2, 6), st.integers(1, 8), st.integers(0, 2**32 - 1))
def test_conditioning_never_widens(n, columns, seed):
    """For roots of any shape, thin ones too, as long as the value can occur."""
    rng = np.random.default_rng(seed)
    x = Normal(np.zeros(n), rng.normal(size=(n, columns)))
    draw = x.sample(1, rng=stream(seed % 1000))[0]
    after = x.condition([n - 1], draw[n - 1 :])
    assert (after.variance <= x.variance[: n - 1] * (1.0 + 1e-9) + 1e-12).all()


@given(st.integers(1, 5), st.integers(0, 2**32 - 1))
def test_divergence_is_never_negative(n, seed):
    rng = np.random.default_rng(seed)
    p, q = (Normal(*random_normal(rng, n)) for _ in range(2))
    try:
        assert p.kl(q) >= -1e-9
    except FactorisationError:
        assert np.linalg.cond(q.root) > 1e10


def test_units_of_the_variables_do_not_make_them_singular(space):
    x = Normal(space.asarray([1.0, 2.0]), space.asarray([[1e-6, 0.0], [5e5, 1e6]]))
    # 1e-6 · 1e6 = 1: the determinant is 1, and at the mean nothing else counts
    assert x.log_density(x.mean) == pytest.approx(-math.log(2.0 * math.pi), rel=1e-5)
    assert x.kl(x) == pytest.approx(0.0, abs=1e-5)
    # the first variable is tiny, and still says all there is to know of the third
    root = space.asarray([[1e-6, 0.0], [0.0, 1e6], [1.0, 0.0]])
    y = Normal(space.asarray([0.0, 0.0, 0.0]), root).condition([0, 1], space.asarray([2e-6, 1e6]))
    np.testing.assert_allclose(to_numpy(y.mean), [2.0], rtol=1e-5)
    np.testing.assert_allclose(to_numpy(y.variance), [0.0], atol=1e-10)


def test_values_are_possible_up_to_the_rounding_of_the_mean(space):
    # the third variable is the sum of the others, and all are far from zero
    mean = np.asarray([1e4, 2e4, 3e4])
    x = Normal(space.asarray(mean), space.asarray([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]))
    values = mean + np.asarray([0.1, 0.2, 0.1 + 0.2])
    assert x.condition([0, 1, 2], space.asarray(values)).size == 0


def test_indices_count_from_the_end_too_and_may_be_none_or_all(space):
    x = Normal(space.asarray([1.0, 2.0, 3.0]), space.asarray(np.eye(3)))
    np.testing.assert_array_equal(to_numpy(x.marginal([-1, 0]).mean), [3.0, 1.0])
    rest = x.condition([-1], space.asarray([9.0]))
    np.testing.assert_array_equal(to_numpy(rest.mean), [1.0, 2.0])
    assert x.condition([0, 1, 2], space.asarray([1.0, 1.0, 1.0])).size == 0
    np.testing.assert_array_equal(to_numpy(x.condition([], x.mean[:0]).mean), [1.0, 2.0, 3.0])
    assert x.marginal([]).size == 0
    for wrong in (3, -4):
        with pytest.raises(ValueError, match="indices must be entries -3 to 2 of the variables; "):
            x.marginal([0, wrong])
    for last in (2, -1, np.int64(2)):
        np.testing.assert_array_equal(to_numpy(x.marginal([last]).mean), [3.0])


@pytest.mark.parametrize(
    "indices",
    [np.asarray([True, False, True]), [True], [1.0], np.asarray([1.9]), ["1"], "12", 1, None],
)
def test_masks_and_fractions_are_no_indices(indices):
    x = Normal(np.asarray([10.0, 20.0, 30.0]), np.eye(3))
    with pytest.raises(TypeError, match="indices must be whole numbers, entries of the variables"):
        x.marginal(indices)
    with pytest.raises(TypeError, match="indices must be whole numbers, entries of the variables"):
        x.condition(indices, np.ones(1))


def test_a_distribution_keeps_its_own_arrays(space):
    mean, root = space.asarray([1.0, 2.0]), space.asarray([[1.0, 0.0], [0.5, 1.0]])
    x = Normal(mean, root)
    mean[0] = 9.0
    root[0, 0] = 9.0
    assert space.holds(x.mean)
    np.testing.assert_array_equal(to_numpy(x.mean), [1.0, 2.0])
    np.testing.assert_array_equal(to_numpy(x.root), [[1.0, 0.0], [0.5, 1.0]])


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda x: x.sample(2, rng=np.random.RandomState(0)),
            TypeError,
            "rng must be a Stream, a NumPy Generator, or a seed from 0; got RandomState",
        ),
        (
            lambda x: x.sample(2.0, rng=stream(0)),
            TypeError,
            "num_samples must be a whole number from 0; got 2.0",
        ),
        (
            lambda x: x.sample(-1, rng=stream(0)),
            ValueError,
            "num_samples must be a whole number from 0; got -1",
        ),
        (lambda x: x.interval("x"), TypeError, "level must be a number; got str"),
        (lambda x: x.interval(True), TypeError, "level must be a number; got bool"),
        (lambda x: x.interval(1.0), ValueError, "level must be between 0 and 1; got 1.0"),
        (lambda x: x.interval(0.0), ValueError, "level must be between 0 and 1; got 0.0"),
        (lambda x: x.kl(3), TypeError, "other must be a gpnotes Normal; got int"),
        (lambda x: x.product(None), TypeError, "other must be a gpnotes Normal; got NoneType"),
    ],
)
def test_arguments_of_methods_are_refused_by_name(call, error, message):
    with pytest.raises(error, match=message):
        call(Normal(np.zeros(2), np.eye(2)))


def test_a_covariance_is_symmetric(space):
    with pytest.raises(ValueError, match="covariance must be symmetric"):
        Normal.from_covariance(space.asarray([0.0, 0.0]), space.asarray([[1.0, 0.2], [0.5, 1.0]]))


def test_distributions_of_two_sizes_do_not_meet(x):
    for call in (x.kl, x.product):
        with pytest.raises(ValueError, match=r"the mean of other must have shape"):
            call(x.marginal([0]))


def test_a_variable_without_variance_says_nothing_of_the_others(space):
    mean, root = space.asarray([1.0, 2.0, 3.0]), space.asarray([[1.0, 0.0], [0.5, 1.0], [0.0, 0.0]])
    joint = Normal(mean, root)
    rest = joint.condition([2], space.asarray([3.0]))
    close(space, rest.mean, [1.0, 2.0])
    close(space, rest.covariance, [[1.0, 0.5], [0.5, 1.25]])
    with pytest.raises(ValueError, match="values are impossible"):
        joint.condition([2], space.asarray([3.5]))


def test_nothing_observed_changes_nothing(space):
    joint = Normal(space.asarray([1.0, 2.0]), space.asarray([[1.0, 0.0], [0.5, 1.0]]))
    same = joint.condition([], space.asarray([]))
    close(space, same.covariance, to_numpy(joint.covariance))


def test_draws_by_a_cholesky_factor_are_those_by_any_other_root(space):
    """The factor's zeros are not multiplied with; what comes out is the same up to rounding."""
    S = np.asarray([[4.0, 2.0, 1.0], [2.0, 5.0, 3.0], [1.0, 3.0, 6.0]])
    x = Normal.from_covariance(space.asarray([1.0, 2.0, 3.0]), space.asarray(S))
    for n in (0, 1, 5):
        draws = x.sample(n, rng=stream(1))
        assert space.holds(draws)
        assert draws.shape == (n, 3)
        plain = Normal(x.mean, x.root).sample(n, rng=stream(1))
        close(space, draws, to_numpy(plain))


def test_a_root_that_is_called_a_cholesky_factor_is_one():
    lower = np.asarray([[2.0, 0.0], [1.0, 2.0]])
    assert Normal(np.zeros(2), lower, "cholesky").root_kind == "cholesky"
    for wrong in (lower.T, lower[:, :1]):
        with pytest.raises(ValueError, match="root must be square and lower triangular to be a Ch"):
            Normal(np.zeros(2), wrong, "cholesky")
    with pytest.raises(ValueError, match="root_kind must be one of"):
        Normal(np.zeros(2), lower, "eigen")


def test_the_factor_is_kept_as_it_was_found_and_the_mean_is_copied(monkeypatch):
    lower = np.asarray([[2.0, 0.0], [1.0, 2.0]])
    monkeypatch.setattr(normal_module, "cholesky_factor", lambda covariance: lower)
    mean = np.zeros(2)
    x = normal_module.normal_of(mean, lower @ lower.T, np.ones(2))
    assert x.root is lower
    assert x.root_kind == "cholesky"
    mean[0] = 7.0
    assert x.mean[0] == 0.0
