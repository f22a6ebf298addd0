"""The checks that we ship: each must accept what is right and refuse what is wrong."""

from dataclasses import dataclass, replace
from types import SimpleNamespace

import numpy as np
import pytest

from gpnotes import GP, RBF, Matern32, condition
from gpnotes.params import cotangent
from gpnotes.testing import check_kernel, check_posterior, gradcheck, namespaces


def test_the_list_of_spaces():
    found = {space.name: space for space in namespaces()}
    assert {"numpy-float64", "numpy-float32"} <= found.keys()
    assert {"strict-CPU_DEVICE", "strict-device1", "strict-no_float64"} <= found.keys()
    assert any(name.startswith("cupy") for name in found)
    for space in found.values():
        assert space.reason or space.holds(space.asarray([[1.0]]))
    f64, f32 = found["numpy-float64"], found["numpy-float32"]
    assert not f32.holds(f64.asarray([1.0]))
    assert not f64.holds(found["strict-CPU_DEVICE"].asarray([1.0]))
    here, there = found["strict-CPU_DEVICE"], found["strict-device1"]
    assert not here.holds(there.asarray([1.0]))


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


def test_gradcheck_refuses_results_that_do_not_match_the_arguments():
    x = np.ones(2)
    with pytest.raises(AssertionError, match="returned 2 results for 1 arguments"):
        gradcheck(lambda x: x, lambda x, bar: (bar, bar), x)
    with pytest.raises(AssertionError, match="argument 0 has 2 entries, its bar 1"):
        gradcheck(lambda x: x, lambda x, bar: (bar[:1],), x)
    with pytest.raises(AssertionError, match="argument 0"):
        gradcheck(lambda x: x, lambda x, bar: (bar * np.nan,), x)


@dataclass(frozen=True, repr=False)
class Crooked(RBF):
    """An RBF with one thing wrong, which `flaw` names."""

    flaw: str = ""

    def __call__(self, x, z=None):
        K = super().__call__(x, z)
        if self.flaw == "symmetry" and z is None:
            K[0, 1] += 1e-3
        if self.flaw == "definite" and z is None:
            K = K - np.eye(K.shape[0]) * 2.0
        if self.flaw == "cross" and z is not None:
            K = K * np.arange(1.0, K.shape[0] + 1.0)[:, None]
        return K

    def diag(self, x):
        d = super().diag(x)
        if self.flaw == "dtype":
            return d.astype(np.float32)
        return d - 2.0 if self.flaw == "definite" else d * (2.0 if self.flaw == "diag" else 1.0)

    def pullback(self, x, z, K_bar):
        kernel_bar, x_bar, z_bar = super().pullback(x, z, K_bar)
        if self.flaw == "class":
            kernel_bar = cotangent(RBF(), variance=kernel_bar.variance)
        if self.flaw == "gradient":
            x_bar = -x_bar
        if self.flaw == "shares" and z is None:
            x_bar = 0.5 * x_bar
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
        ("gradient", "argument 1"),
        ("shares", "argument 1"),
        ("diagonal gradient", "argument 1"),
    ],
)
def test_check_kernel_finds_each_flaw(rng, flaw, message):
    X = rng.normal(size=(6, 2))
    check_kernel(Crooked(), X)
    with pytest.raises(AssertionError, match=message):
        check_kernel(Crooked(flaw=flaw), X)


def test_check_kernel_in_every_space(space, rng):
    check_kernel(Matern32(0.5, 2.0), space.asarray(rng.normal(size=(6, 2))))


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

    right = SimpleNamespace(covariance=covariance, variance=variance, mean=mean, predict=predict)
    return SimpleNamespace(**{**vars(right), **changes})


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
    ],
)
def test_check_posterior_finds_views_that_disagree(rng, changes, message):
    Xs = rng.normal(size=(5, 2))
    check_posterior(views(), Xs)
    with pytest.raises(AssertionError, match=message):
        check_posterior(views(**changes), Xs)


def test_a_space_says_why_it_cannot_be_used():
    missing = replace(namespaces()[0], reason="not here")
    assert missing.reason == "not here"


def test_inputs_are_named_as_the_caller_names_them():
    with pytest.raises(ValueError, match=r"^X must have shape \(n, d\); got \(3,\)"):
        check_kernel(RBF(), np.ones(3))
    with pytest.raises(TypeError, match=r"^X must be an array; got list"):
        check_kernel(RBF(), [[1.0]])
    posterior = condition(GP(RBF(), 0.1), np.ones((1, 1)), np.ones(1))
    with pytest.raises(TypeError, match=r"^Xs must be an array; got list"):
        check_posterior(posterior, [[1.0]])
    for kernel in (RBF, None, "RBF"):
        with pytest.raises(TypeError, match=r"^kernel must be one, such as RBF\(\); got"):
            check_kernel(kernel, np.ones((2, 1)))
    for other in (None, GP(RBF(), 0.1)):
        with pytest.raises(TypeError, match=r"^posterior must be one, made by condition; got"):
            check_posterior(other, np.ones((2, 1)))
