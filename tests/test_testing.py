"""The checks that we ship: each must accept what is right and refuse what is wrong."""

import math
import sys
from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import special

from gpnotes import (
    GP,
    RBF,
    Bernoulli,
    ConstantMean,
    Gaussian,
    LaplaceGP,
    Matern32,
    Poisson,
    White,
    ZeroMean,
    condition,
    testing,
)
from gpnotes.decide.design.criteria import CRITERIA, Information
from gpnotes.decide.pilco import (
    LinearPolicy,
    QuadraticCost,
    RBFPolicy,
    SaturatingCost,
    SquashedPolicy,
)
from gpnotes.ground.params import cotangent, fixed, real
from gpnotes.ground.xp import array_namespace
from gpnotes.infer.interdomain import InducingPoints
from gpnotes.infer.posterior import Posterior
from gpnotes.model import likelihoods
from gpnotes.model.contracts import Moments
from gpnotes.testing import (
    array_spaces,
    check_cost,
    check_criterion,
    check_inducing_variables,
    check_kernel,
    check_likelihood,
    check_mean,
    check_policy,
    check_posterior,
    check_prior,
    gradcheck,
)
from gpnotes.testing.differences import jacobian


def test_the_list_of_spaces():
    pytest.importorskip("jax")
    spaces = {space.name: space for space in array_spaces("numpy", "strict", "jax")}
    assert {"numpy-float64", "numpy-float32", "jax-float64", "jax-float32"} <= spaces.keys()
    assert {"strict-CPU_DEVICE", "strict-device1", "strict-no_float64"} <= spaces.keys()
    for space in spaces.values():
        with space.active():
            assert space.reason or space.holds(space.asarray([[1.0]]))
    f64, f32 = spaces["numpy-float64"], spaces["numpy-float32"]
    assert not f32.holds(f64.asarray([1.0]))
    assert not f64.holds(spaces["strict-CPU_DEVICE"].asarray([1.0]))
    here, there = spaces["strict-CPU_DEVICE"], spaces["strict-device1"]
    assert not here.holds(there.asarray([1.0]))
    with pytest.raises(ValueError, match=r"names must be one of \['cupy', .*\]; got 'numpi'"):
        array_spaces("numpi")


def test_gradcheck_accepts_a_derivative_and_refuses_a_wrong_one():
    x, k = np.asarray([[0.5, 1.5]]), RBF()
    gradcheck(lambda x: np.sin(x), lambda x, bar: (np.cos(x) * bar,), x)
    gradcheck(lambda s: s**3, lambda s, bar: (3.0 * s**2 * bar,), 2.0)
    with pytest.raises(AssertionError, match=r"argument 0\[0, 0\]: the pullback says"):
        gradcheck(lambda x: np.sin(x), lambda x, bar: (-np.cos(x) * bar,), x)
    with pytest.raises(AssertionError, match=r"argument 0\.lengthscale: the pullback says"):
        gradcheck(
            lambda k: k.variance / k.lengthscale,
            lambda k, bar: (cotangent(k, variance=bar, lengthscale=0.0),),
            k,
        )


def test_gradcheck_sees_a_relative_error_of_a_hundred_thousandth():
    x = np.asarray([0.5])
    with pytest.raises(AssertionError, match="argument 0"):
        gradcheck(lambda x: x**2, lambda x, bar: (2.0 * (1 + 1e-5) * x * bar,), x)


def test_gradcheck_allows_for_the_rounding_of_a_large_value_and_for_no_more():
    x = np.asarray([0.5, 1e-4])

    def pullback_off_by(gap):
        return lambda x, bar: (np.asarray([2e-6, 2e-6 + gap]) * bar,)

    def value(x):
        return 1000.0 + 2e-6 * float(np.sum(x))  # its rounding over a step is 1e-6

    gradcheck(value, pullback_off_by(1e-8), x)
    with pytest.raises(AssertionError, match=r"argument 0\[1\]"):
        gradcheck(value, pullback_off_by(2e-5), x)


def test_gradcheck_refuses_results_that_do_not_match_the_arguments():
    x = np.ones(2)
    with pytest.raises(AssertionError, match="returned 2 results for 1 arguments"):
        gradcheck(lambda x: x, lambda x, bar: (bar, bar), x)
    with pytest.raises(AssertionError, match="argument 0 has 2 entries, its bar 1"):
        gradcheck(lambda x: x, lambda x, bar: (bar[:1],), x)
    with pytest.raises(AssertionError, match="argument 0"):
        gradcheck(lambda x: x, lambda x, bar: (bar * np.nan,), x)


@dataclass(frozen=True)
class Crooked(RBF):
    """An RBF with one thing wrong, which `flaw` names."""

    flaw: str = ""

    def __call__(self, x, z=None):
        K = super().__call__(x, z)
        if self.flaw == "symmetry" and z is None:
            K[0, 1] += 1e-3
        if self.flaw == "nan" and z is None:
            K[0, 0] = math.nan
        if self.flaw == "definite" and z is None:
            K = K - np.eye(K.shape[0]) * 2.0
        if self.flaw == "cross" and z is not None:
            K = K * np.arange(1.0, K.shape[0] + 1.0)[:, None]
        return K

    def diag(self, x):
        d = super().diag(x)
        if self.flaw == "dtype":
            return d.astype(np.float32)
        if self.flaw == "broadcasting":
            return d[:, None]
        return d - 2.0 if self.flaw == "definite" else d * (2.0 if self.flaw == "diag" else 1.0)

    def pullback(self, x, z, K_bar):
        kernel_bar, x_bar, z_bar = super().pullback(x, z, K_bar)
        if self.flaw == "class":
            kernel_bar = cotangent(RBF(), variance=kernel_bar.variance)
        if self.flaw == "gradient":
            x_bar = -x_bar
        if self.flaw == "shares" and z is None:
            x_bar = 0.5 * x_bar
        if self.flaw == "numbers":
            x_bar = 0.0
        if self.flaw == "z_bar":
            z_bar = x_bar if z is None else z_bar
        return kernel_bar, x_bar, z_bar

    def diag_pullback(self, x, d_bar):
        kernel_bar, x_bar = super().diag_pullback(x, d_bar)
        return kernel_bar, x_bar + (1.0 if self.flaw == "diagonal gradient" else 0.0)


@pytest.mark.parametrize(
    ("flaw", "message"),
    [
        ("symmetry", "not symmetric"),
        ("definite", "has the eigenvalue"),
        ("cross", "k\\(z, x\\)ᵀ differ"),
        ("dtype", "k.diag\\(x\\) is"),
        ("diag", "diagonal of k\\(x\\) differ"),
        ("class", "another class"),
        ("gradient", r"x\[0, 0\]: pullback\(x, z, K_bar\) says"),
        ("shares", r"x\[0, 0\]: pullback\(x, None, K_bar\) says"),
        ("diagonal gradient", r"x\[0, 0\]: diag_pullback says"),
        ("nan", r"k\(x\) is not finite in 1 of its entries"),
        ("broadcasting", r"k\.diag\(x\) must have shape \(6,\); got \(6, 1\)"),
        ("numbers", r"x_bar must be an array of shape \(6, 2\); got float"),
        ("z_bar", "z_bar without z must be None"),
    ],
)
def test_check_kernel_finds_each_flaw(rng, flaw, message):
    X = rng.normal(size=(6, 2))
    check_kernel(Crooked(), X)
    with pytest.raises(AssertionError, match=message):
        check_kernel(Crooked(flaw=flaw), X)


def test_check_kernel_in_every_space(space, rng):
    check_kernel(Matern32(0.5, 2.0), space.asarray(rng.normal(size=(6, 2))))


class Views(Posterior):
    """A posterior whose public methods are functions that it is given."""

    _noise = 0.5

    def __init__(self, **views):
        vars(self).update(views)

    def validate_inputs(self, Xs, name="Xs"):
        raise NotImplementedError

    def _moments(self, Xs):
        raise NotImplementedError


def views(**changes):
    """A posterior that is three functions, with some of them changed."""

    def covariance(Xs, noise=False):
        return RBF()(Xs) + (0.5 * np.eye(len(Xs)) if noise else 0.0)

    def variance(Xs, noise=False):
        return np.full(len(Xs), 1.5 if noise else 1.0)

    def mean(Xs):
        return Xs[:, 0]

    def predict(Xs, noise=False, chunk=None):
        return mean(Xs), variance(Xs, noise)

    def sample(Xs, n, *, rng):
        return mean(Xs) + rng.normal((n, len(Xs)))  # enough for mean and variance

    right = {
        "covariance": covariance, "variance": variance, "mean": mean, "predict": predict,
        "sample": sample,
    }  # fmt: skip
    return Views(**{**right, **changes})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"mean": lambda Xs: Xs[:, 0] + 1e-6}, "predict and mean"),
        ({"variance": lambda Xs, noise=False: np.ones(len(Xs)) + 1e-6}, "predict and variance"),
        ({"covariance": lambda Xs, noise=False: 2.0 * RBF()(Xs)}, "diagonal of covariance"),
        ({"covariance": lambda Xs, noise=False: RBF()(Xs)}, "noisy covariance"),
        (
            {
                "predict": lambda Xs, noise=False, chunk=None: (
                    Xs[:, 0] + (1.0 if chunk else 0.0),
                    np.full(len(Xs), 1.5 if noise else 1.0),
                )
            },
            "mean in chunks",
        ),
        ({"mean": lambda Xs: Xs[:, :1]}, r"mean have the shapes \(5,\) and \(5, 1\)"),
        ({"predict": lambda Xs: (Xs, np.ones(len(Xs)))}, r"mean must have shape \(5,\); got"),
        (
            {"covariance": lambda Xs: np.eye(len(Xs)) + np.triu(np.full((5, 5), 0.1), 1)},
            "covariance is not symmetric",
        ),
        (
            {
                "covariance": lambda Xs: 2.0 * np.ones((5, 5)) - np.eye(5),
                "predict": lambda Xs: (Xs[:, 0], np.ones(5)),
            },
            "covariance has the eigenvalue -1",
        ),
        ({"sample": lambda Xs, n, rng: np.ones((5, n))}, r"sample must have shape \(400, 5\)"),
        (
            {"sample": lambda Xs, n, rng: 1.0 + Xs[:, 0] + rng.normal((n, 5))},
            "draws have another mean",
        ),
        (
            {"sample": lambda Xs, n, rng: Xs[:, 0] + 2.0 * rng.normal((n, 5))},
            "draws have another variance",
        ),
    ],
)
def test_check_posterior_finds_views_that_disagree(rng, changes, message):
    Xs = rng.normal(size=(5, 2))
    check_posterior(views(), Xs)
    with pytest.raises(AssertionError, match=message):
        check_posterior(views(**changes), Xs)


@pytest.mark.parametrize(
    ("library", "place", "said"),
    [
        ("array_api_strict", "strict", "array_api_strict is not installed"),
        ("cupy", "cupy", "cupy is not installed"),
    ],
)
def test_a_space_whose_library_is_missing_says_so(monkeypatch, library, place, said):
    monkeypatch.setitem(sys.modules, library, None)  # what is not installed is imported like this
    reasons = [space.reason for space in array_spaces(place)]
    assert reasons
    assert all(reason == said for reason in reasons)
    assert not any(space.reason for space in array_spaces("numpy"))


def test_a_library_without_a_device_says_so(monkeypatch):
    def no_device(*_):
        raise RuntimeError("cudaErrorNoDevice")

    library = SimpleNamespace(
        __name__="cupy", zeros=np.zeros, cuda=SimpleNamespace(Device=no_device)
    )
    monkeypatch.setitem(sys.modules, "cupy", library)
    reasons = [space.reason for space in array_spaces("cupy")]
    assert reasons == ["no cupy with the device 0: cudaErrorNoDevice"] * 2


def test_inputs_are_named_as_the_caller_names_them():
    with pytest.raises(ValueError, match=r"^X must have shape \(n, d\); got \(3,\)"):
        check_kernel(RBF(), np.ones(3))
    with pytest.raises(TypeError, match=r"^X must be an array; got list"):
        check_kernel(RBF(), [[1.0]])
    posterior = condition(GP(RBF(), 0.1), np.ones((1, 1)), np.ones(1))
    with pytest.raises(TypeError, match=r"^Xs must be an array; got list"):
        check_posterior(posterior, [[1.0]])
    for kernel in (RBF, None, "RBF"):
        with pytest.raises(TypeError, match=r"^kernel must be a kernel, such as RBF\(\); got"):
            check_kernel(kernel, np.ones((2, 1)))
    for other in (None, GP(RBF(), 0.1)):
        with pytest.raises(TypeError, match=r"^posterior must be a gpnotes Posterior; got"):
            check_posterior(other, np.ones((2, 1)))


# Means, likelihoods, posteriors, policies, costs and criteria: right ones, and each flaw by name.


@dataclass(frozen=True)
class Line:
    """A mean of one's own, ``m(x) = slope · Σ_d x_d``, with a flaw."""

    slope: float = real(0.7)
    flaw: str = fixed("")

    def __call__(self, x):
        values = self.slope * array_namespace(x).sum(x, axis=1)
        if self.flaw == "shape":
            return values[:, None]
        if self.flaw == "rows":
            return values - array_namespace(x).mean(values)
        if self.flaw == "nan":
            values = values + math.nan
        return values.astype(np.float32) if self.flaw == "dtype" else values

    def pullback(self, x, bar):
        xp = array_namespace(x)
        slope_bar = float(xp.sum(bar * xp.sum(x, axis=1)))
        x_bar = self.slope * bar[:, None] * xp.ones_like(x)
        if self.flaw == "class":
            return None, x_bar
        if self.flaw == "single":
            return cotangent(self, slope=slope_bar)
        if self.flaw == "wide":
            return cotangent(self, slope=slope_bar), x_bar[:, :1]
        if self.flaw == "parameter":
            slope_bar = 2.0 * slope_bar
        return cotangent(self, slope=slope_bar), -x_bar if self.flaw == "gradient" else x_bar


@pytest.mark.parametrize(
    ("flaw", "message"),
    [
        ("shape", r"m\(x\) must have shape \(6,\); got \(6, 1\)"),
        ("rows", r"m\(x\) and m of row 0 alone differ"),
        ("nan", r"m\(x\) is not finite in 6 of its entries"),
        ("dtype", r"m\(x\) is \("),
        ("class", "mean_bar has another class"),
        ("single", r"pullback must return \(mean_bar, x_bar\); got Line"),
        ("wide", r"x_bar must have shape \(6, 2\); got \(6, 1\)"),
        ("parameter", r"mean\.slope: the pullback says"),
        ("gradient", r"x\[0, 0\]: the pullback says"),
    ],
)
def test_check_mean_finds_each_flaw(rng, flaw, message):
    X = rng.normal(size=(6, 2))
    check_mean(Line(), X)
    with pytest.raises(AssertionError, match=message):
        check_mean(Line(flaw=flaw), X)


class Belief:
    """A prior with a flaw."""

    def __init__(self, flaw=""):
        self.flaw = flaw

    def log_density(self, value):
        total = -0.5 * np.sum(np.square(value))
        if self.flaw == "nan":
            return math.nan
        return float(total if self.flaw != "mean" else total / np.size(value))

    def gradient(self, value):
        if self.flaw == "text":
            return "steep"
        return -2.0 * value if self.flaw == "gradient" else -1.0 * value


@pytest.mark.parametrize(
    ("flaw", "message"),
    [
        ("nan", "the log density is no finite float"),
        ("text", "the gradient is no float"),
        ("mean", "the log density of two entries differ"),
        ("gradient", "value: the gradient says"),
    ],
)
def test_check_prior_finds_each_flaw(flaw, message):
    check_prior(Belief(), 1.5)
    with pytest.raises(AssertionError, match=message):
        check_prior(Belief(flaw), 1.5)


def test_our_means_conform(space, rng):
    X = space.asarray(rng.normal(size=(4, 2)))
    for mean in (ZeroMean(), ConstantMean(1.5), Line()):
        check_mean(mean, X)


class Counts:
    """Poisson counts with the rate exp(f), as a user would write them, with a flaw."""

    def __init__(self, flaw=""):
        self.flaw = flaw

    def log_density(self, y, f):
        logs = y * f - np.exp(f) - special.gammaln(y + 1.0)
        if self.flaw == "broadcasting":
            return y[:, None] * f - np.exp(f)
        if self.flaw == "sum":
            return logs + 0.0 * f + logs.sum()
        if self.flaw == "nan":
            return logs + np.where(y == 0.0, math.nan, 0.0)
        return logs.astype(np.float32) if self.flaw == "dtype" else logs

    def derivatives(self, y, f):
        rate = np.exp(f)
        first, second, third = y - rate, -rate, -rate
        if self.flaw == "two":
            return first, second
        if self.flaw == "number":
            return first, second, -1.0
        if self.flaw == "first":
            first = y + rate
        if self.flaw == "second":
            second = -2.0 * rate
        if self.flaw == "third":
            third = rate
        return first, second, third


@pytest.mark.parametrize(
    ("flaw", "message"),
    [
        ("broadcasting", r"log_density\(y, f\) must have shape \(4,\); got \(4, 4\)"),
        ("sum", "the log density and that of entry 0 alone differ"),
        ("nan", r"log_density\(y, f\) is not finite in 1"),
        ("dtype", r"log_density\(y, f\) is \("),
        ("two", r"derivatives\(y, f\) must be three arrays; got 2"),
        ("number", r"the third derivative must be an array of shape \(4,\); got float"),
        ("first", r"f\[0\]: the first derivative says"),
        ("second", r"f\[0\]: the second derivative says"),
        ("third", r"f\[0\]: the third derivative says"),
    ],
)
def test_check_likelihood_finds_each_flaw(flaw, message):
    y, f = np.asarray([0.0, 1.0, 3.0, 2.0]), np.asarray([-0.5, 0.2, 1.0, 0.8])
    check_likelihood(Counts(), y, f)
    with pytest.raises(AssertionError, match=message):
        check_likelihood(Counts(flaw), y, f)


class StudentT:
    """Three degrees of freedom: not log-concave."""

    def log_density(self, y, f):
        return -2.0 * np.log1p((y - f) ** 2 / 3.0)

    def derivatives(self, y, f):
        e = y - f
        size = 3.0 + e**2
        # d/de (e² − 3)/size² = 2e (9 − e²)/size³, and f falls as e rises
        third = -8.0 * e * (9.0 - e**2) / size**3
        return 4.0 * e / size, 4.0 * (e**2 - 3.0) / size**2, third


def test_a_likelihood_need_not_be_log_concave_if_one_says_so():
    y, f = np.asarray([0.0, 5.0]), np.asarray([0.3, 0.0])
    check_likelihood(StudentT(), y, f, log_concave=False)
    with pytest.raises(AssertionError, match=r"the second derivative is positive: 0\.1"):
        check_likelihood(StudentT(), y, f)


@pytest.mark.parametrize("link", ["probit", "logit"])
def test_our_likelihoods_conform(space, link):
    y, f = space.asarray([1.0, -1.0, 1.0]), space.asarray([0.3, 2.0, -0.4])
    check_likelihood(Bernoulli(link), y, f)
    check_likelihood(Gaussian(0.4), 0.3 * y, f)
    check_likelihood(Poisson(), y + 1.0, f)
    for dof in (1.5, 4.5):
        check_likelihood(likelihoods.StudentT(0.7, dof), 0.3 * y, f, log_concave=False)


class Slipped(Gaussian):
    """A Gaussian likelihood with one thing wrong."""

    def __init__(self, flaw):
        super().__init__(0.4)
        object.__setattr__(self, "flaw", flaw)

    def _bar(self, y, f, bar):
        right = super()._bar(y, f, bar)
        return cotangent(right, variance=2.0 * right.variance) if self.flaw == "bar" else right

    def _predict(self, mean, variance):
        wrong = {"variance": (mean, 2.0 * variance + 0.4), "negative": (mean, -variance)}
        return wrong.get(self.flaw, (mean, variance + 0.4))


@pytest.mark.parametrize(
    ("flaw", "message"),
    [
        ("bar", r"likelihood\.variance: the pullback says"),
        ("variance", "the predicted variance and that by the law of total variance"),
        ("negative", "a predicted variance is negative"),
    ],
)
def test_check_likelihood_finds_a_wrong_pullback_and_a_wrong_prediction(flaw, message):
    y, f = np.asarray([1.0, -1.0]), np.asarray([0.3, 2.0])
    check_likelihood(Slipped(""), y, f)
    with pytest.raises(AssertionError, match=message):
        check_likelihood(Slipped(flaw), y, f)


@pytest.mark.parametrize(
    ("probability", "message"),
    [
        (lambda mean, variance: 1.5 + 0.0 * mean, "a probability lies outside"),
        (lambda mean, variance: mean[:1], r"probability\(mean, variance\) must have shape"),
        (lambda mean, variance: special.ndtr(mean), r"probability\(mean, 0\.25\) and the average"),
        (lambda mean, variance: special.ndtr(-mean), r"probability\(mean, 0\.0\) and the average"),
    ],
)
def test_check_likelihood_finds_a_wrong_probability(probability, message):
    label = Bernoulli()
    wrong = SimpleNamespace(
        log_density=label.log_density, derivatives=label.derivatives, probability=probability
    )
    with pytest.raises(AssertionError, match=message):
        check_likelihood(wrong, np.asarray([1.0, -1.0]), np.asarray([0.3, 2.0]))


def test_our_posteriors_conform(space, rng):
    X, Xs = (space.asarray(rng.normal(size=(n, 2))) for n in (6, 4))
    y = space.asarray(np.sign(rng.normal(size=6)))
    check_posterior(condition(GP(RBF(), 0.1), X, y), Xs)
    check_posterior(
        condition(LaplaceGP(GP(RBF() + White(0.01), 0.0)), X, y), Xs, normal_noise=False
    )


@dataclass(frozen=True)
class Tilt:
    """A policy of one's own, ``u = gain · z``, with a flaw."""

    gain: np.ndarray = real()
    flaw: str = fixed("")

    def __call__(self, z):
        action = self.gain @ z
        return float(action) if self.flaw == "number" else action[None]

    def moments_and_pullback(self, m, S):
        gain = self.gain * (2.0 if self.flaw == "tangent" else 1.0)
        cross = S @ gain
        moments = Moments((gain @ m)[None], (gain @ cross)[None, None], cross[:, None])
        if self.flaw == "shape":
            moments = moments._replace(cross=cross)
        if self.flaw == "nan":
            moments = moments._replace(mean=moments.mean * math.nan)
        if self.flaw == "indefinite":
            moments = moments._replace(covariance=-moments.covariance)
        if self.flaw == "sign":
            moments = moments._replace(cross=-moments.cross)
        return moments, self._pull(m, S, gain, cross)

    def _pull(self, m, S, gain, cross):
        def pull(bar):
            cross_bar = bar.cross[:, 0] + gain * bar.covariance[0, 0]
            gain_bar = bar.mean[0] * m + bar.covariance[0, 0] * cross + S @ cross_bar
            S_bar = cross_bar[:, None] * gain[None, :]
            m_bar = bar.mean[0] * gain * (2.0 if self.flaw == "m_bar" else 1.0)
            S_bar = S_bar * (2.0 if self.flaw == "S_bar" else 1.0)
            gain_bar = gain_bar * (-1.0 if self.flaw == "gain_bar" else 1.0)
            policy_bar = None if self.flaw == "class" else cotangent(self, gain=gain_bar)
            return policy_bar, m_bar[:, None] if self.flaw == "m shape" else m_bar, S_bar

        return pull


@pytest.mark.parametrize(
    ("flaw", "message"),
    [
        ("number", r"policy\(z\) must be an array of shape \(1,\); got float"),
        ("shape", r"the cross must have shape \(2, 1\); got \(2,\)"),
        ("nan", "the mean is not finite in 1 of its entries"),
        ("indefinite", "the covariance has the eigenvalue -"),
        ("sign", "the cross and that of the policy's tangent differ"),
        ("tangent", "the mean and that of the policy's tangent differ"),
        ("class", "policy_bar has another class"),
        ("m shape", r"m_bar must have shape \(2,\)"),
        ("gain_bar", r"policy\.gain\[0\]: the pullback of the mean says"),
        ("m_bar", r"m\[0\]: the pullback of the mean says"),
        ("S_bar", r"S\[0, 0\]: the pullback of the covariance says"),
    ],
)
def test_check_policy_finds_each_flaw(flaw, message):
    m, S, gain = np.asarray([0.4, -0.3]), np.asarray([[0.3, 0.1], [0.1, 0.2]]), np.ones(2)
    check_policy(Tilt(gain), m, S)
    with pytest.raises(AssertionError, match=message):
        check_policy(Tilt(gain, flaw), m, S)


def test_our_policies_and_costs_conform(space, rng):
    a = space.asarray
    m, S = a([0.4, -0.3]), a([[0.3, 0.1], [0.1, 0.2]])
    linear = LinearPolicy(a([[1.0, -0.5]]), a([0.2]))
    centres, weights = (a(rng.normal(size=(3, k))) for k in (2, 1))
    bumps = RBFPolicy(centres, weights, a([1.0, 1.5]), (0, 1), 2)
    for policy in (linear, bumps, SquashedPolicy(linear, 1.5), SquashedPolicy(bumps, 1.5)):
        check_policy(policy, m, S)
    target, weight = a([0.1, 0.2]), a([[1.0, 0.3], [0.3, 2.0]])
    costs = SaturatingCost(target, weight), QuadraticCost(target, weight)
    for cost in (*costs, 0.5 * costs[0] + costs[1]):
        check_cost(cost, m, S)


class Quadratic:
    """A cost of one's own, ``½ xᵀ W x``, with a flaw."""

    W = np.asarray([[2.0, 0.3], [0.3, 1.0]])

    def __init__(self, flaw=""):
        self.flaw = flaw

    def __call__(self, x):
        value = 0.5 * (x @ self.W @ x)
        return value[None] if self.flaw == "array" else float(value)

    def expected_and_pullback(self, m, S):
        share = {"no variance": 0.0, "twice": 2.0}.get(self.flaw, 1.0)
        value = float(0.5 * (m @ self.W @ m) + 0.5 * share * np.sum(self.W * S))
        value += {"offset": 0.1, "nan": math.nan}.get(self.flaw, 0.0)

        def pull(bar):
            m_bar = bar * (self.W @ m)
            if self.flaw == "gradient":
                m_bar = -m_bar
            return m_bar[:, None] if self.flaw == "shape" else m_bar, 0.5 * share * bar * self.W

        return value, pull


@pytest.mark.parametrize(
    ("flaw", "message"),
    [
        ("array", r"cost\(x\) must be a float; got ndarray"),
        ("nan", "the expected cost is nan"),
        ("shape", r"m_bar must have shape \(2,\); got \(2, 1\)"),
        ("offset", "without uncertainty, the expected cost and the cost differ"),
        ("gradient", r"m\[0\]: the pullback says"),
        ("no variance", "at S = 0, S_bar and half the second derivatives"),
        ("twice", "at S = 0, S_bar and half the second derivatives"),
    ],
)
def test_check_cost_finds_each_flaw(flaw, message):
    m, S = np.asarray([0.4, -0.3]), np.asarray([[0.3, 0.1], [0.1, 0.2]])
    check_cost(Quadratic(), m, S)
    with pytest.raises(AssertionError, match=message):
        check_cost(Quadratic(flaw), m, S)


def test_check_cost_finds_an_expectation_that_is_right_at_the_start_only():
    """Its value and slope are right where S is zero, and its pullback is that of its value."""

    class Bent(Quadratic):
        def expected_and_pullback(self, m, S):
            value, pull = super().expected_and_pullback(m, S)
            extra = float(np.sum(S * S))
            return value + extra, lambda bar: (pull(bar)[0], pull(bar)[1] + 2.0 * bar * S)

    m, S = np.asarray([0.4, -0.3]), np.asarray([[0.3, 0.1], [0.1, 0.2]])
    with pytest.raises(AssertionError, match="at S, S_bar and half the second derivatives"):
        check_cost(Bent(), m, S)


class Flawed(Information):
    """A criterion with a flaw."""

    def __init__(self, flaw, *args, **options):
        super().__init__(*args, **options)
        self.flaw = flaw
        self.made = 0

    def gains(self, rows=None):
        gains = super().gains(rows)
        if self.flaw == "rows" and rows is not None:
            return gains[::-1] + 0.01
        if self.flaw == "shape":
            return gains[:, None]
        if self.flaw == "nan":
            return gains * math.nan
        return gains + self.made if self.flaw == "rising" else gains

    def add(self, j):
        gained = super().add(j)
        self.made += 1
        if self.flaw == "array":
            return np.asarray([gained])
        return gained + 1.0 if self.flaw == "promise" else gained


@pytest.mark.parametrize(
    ("flaw", "message"),
    [
        ("rows", r"gains\(rows\) and those entries of gains\(\) differ"),
        ("shape", r"gains\(\) must have shape \(5,\); got \(5, 1\)"),
        ("nan", r"gains\(\) is not finite in 5"),
        ("rising", r"diminishing gains have risen by"),
        ("array", r"add\(j\) must be a float; got ndarray"),
        ("promise", r"add\(\d\) and the gain that was promised differ"),
    ],
)
def test_check_criterion_finds_each_flaw(rng, flaw, message):
    X, noise = rng.normal(size=(5, 2)), np.full(5, 0.1)
    check_criterion(Flawed("", GP(RBF(), 0.1), X, noise, 5), X)
    with pytest.raises(AssertionError, match=message):
        check_criterion(Flawed(flaw, GP(RBF(), 0.1), X, noise, 5), X)


@pytest.mark.parametrize("name", CRITERIA)
def test_our_criteria_conform(space, rng, name):
    X = space.asarray(rng.normal(size=(7, 2)))
    noise = space.asarray(np.full(7, 0.1))
    check_criterion(CRITERIA[name](GP(RBF(), 0.1), X, noise, 7, reference=X), X)


@pytest.mark.parametrize("check", ["mean", "likelihood", "policy", "cost", "criterion"])
def test_what_lacks_a_member_is_refused_by_name(check):
    function = getattr(testing, f"check_{check}")
    arguments = {"mean": (X2,), "criterion": (X2,), "likelihood": (Y2, Y2)}
    with pytest.raises(TypeError, match=f"^{check} must be .*; float lacks "):
        function(3.0, *arguments.get(check, (Y2, np.eye(2))))


X2, Y2 = np.eye(2), np.ones(2)


def test_jacobians_are_those_of_a_line_and_a_curve():
    A = np.asarray([[1.0, 2.0], [0.5, -1.0], [0.0, 3.0]])
    x = np.asarray([0.3, -2.0])
    np.testing.assert_allclose(jacobian(lambda x: A @ x, x), A, atol=1e-9)
    np.testing.assert_allclose(jacobian(np.sin, x), np.diag(np.cos(x)), atol=1e-9)


def test_checks_of_no_rows_are_refused_by_name():
    X = np.linspace(0.0, 1.0, 4)[:, None]
    with pytest.raises(ValueError, match=r"Xs must have at least one row; got \(0, 1\)"):
        check_posterior(condition(GP(RBF(), 0.1), X, X[:, 0]), X[:0])
    with pytest.raises(ValueError, match=r"X must have at least one row; got \(0, 1\)"):
        check_inducing_variables(InducingPoints(X), RBF(), X[:0])
