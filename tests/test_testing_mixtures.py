"""The checks of classes, networks and mixtures: what is right passes, each flaw is found."""

from __future__ import annotations

import functools
from itertools import count

import numpy as np
import pytest

from gpnotes import GP, RBF, Bernoulli, Gaussian, condition
from gpnotes.infer import deep, laplace, svgp
from gpnotes.networks import Network
from gpnotes.testing import check_classes, check_mixture, check_network

CLASSES = np.asarray([0.0, 0.0, 1.0, 1.0, 2.0, 2.0, 0.0])


def flowers(rng, asarray=np.asarray):
    X = asarray(rng.normal(size=(7, 2)))
    return condition(laplace.SoftmaxGP(GP(RBF(4.0), 0.0), 3), X, asarray(CLASSES))


def stack(rng, asarray=np.asarray, likelihood=None):
    """Two layers whose weights are not those of the prior."""
    Z = asarray(np.linspace(-1.0, 1.0, 3)[:, None])
    X, y = asarray(rng.normal(size=(6, 1))), asarray(np.sign(rng.normal(size=6)))
    top = condition(svgp.SVGP(GP(RBF(), 0.0), likelihood or Gaussian(0.2), Z), X, y)
    return deep.DeepPosterior(deep.with_inner_layers(top, [RBF(0.3)]), num_samples=12)


def test_ours_conform(space, rng):
    a = space.asarray
    check_classes(flowers(rng, a), a(rng.normal(size=(3, 2))))
    for network in (Network((2, 3, 2)), Network((2, 2, 2, 1), "relu"), Network((2, 2))):
        check_network(network, a(rng.normal(size=network.num_weights)), a(rng.normal(size=(5, 2))))
    check_mixture(stack(rng, a), a(rng.normal(size=(3, 1))))


def test_labels_have_no_density_to_be_looked_at(rng):
    check_mixture(stack(rng, likelihood=Bernoulli()), rng.normal(size=(3, 1)), continuous=False)


class Around:
    """Another object, with some of its methods changed."""

    def __init__(self, inner, **changes):
        self.inner, self.changes = inner, changes

    def __getattr__(self, name):
        method = getattr(self.inner, name)
        change = self.changes.get(name)
        return method if change is None else functools.partial(change, method)


def tilted(between, Xs):
    covariance = between(Xs)
    return covariance + np.triu(np.full(covariance.shape, 0.1), 1)


def leaking(predict, Xs):
    """A mean that depends on the other rows."""
    mean, variance = predict(Xs)
    return mean + 0.1 * (len(Xs) - 1), variance


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"predict": lambda f, Xs: (f(Xs)[0][:, :2], f(Xs)[1])}, "variance must have shape"),
        ({"predict": lambda f, Xs: (f(Xs)[0], 2.0 * f(Xs)[1])}, "the variance at input 0 and its"),
        ({"class_covariance": lambda f, Xs: f(Xs)[:, :2]}, "covariance must have shape"),
        ({"class_covariance": tilted}, "the covariance at input 0 is not symmetric"),
        ({"class_covariance": lambda f, Xs: -f(Xs)}, "at input 0 has the eigenvalue -"),
        ({"predict": leaking}, "the mean at input 0 and that of it alone"),
        (
            {"probability": lambda f, Xs, n, rng: f(Xs, n, rng=rng)[:, :2]},
            "probability must have shape",
        ),
        (
            {"probability": lambda f, Xs, n, rng: f(Xs, n, rng=rng) + 1.0},
            "a probability lies outside",
        ),
        (
            {"probability": lambda f, Xs, n, rng: 0.9 * f(Xs, n, rng=rng)},
            "the sums of probabilities",
        ),
        (
            {"probability": lambda f, Xs, n, rng: np.flip(f(Xs, n, rng=rng), axis=1)},
            "not those of the softmax under the moments",
        ),
    ],
)
def test_check_classes_finds_each_flaw(rng, changes, message):
    posterior, Xs = flowers(rng), np.asarray([[0.1, 0.4], [1.5, -0.3]])
    check_classes(posterior, Xs)
    with pytest.raises(AssertionError, match=message):
        check_classes(Around(posterior, **changes), Xs)


def test_check_classes_finds_random_numbers_of_its_own(rng):
    calls = count()

    def moving(f, Xs, n, *, rng):
        told = f(Xs, n, rng=rng)
        return told + 1e-6 * next(calls) * (told - 1.0 / 3.0)

    with pytest.raises(AssertionError, match="by the same random numbers differ"):
        check_classes(Around(flowers(rng), probability=moving), np.zeros((1, 2)))


def pulled(change):
    """A network whose pullback is changed."""

    def both(method, theta, X):
        values, back = method(theta, X)
        return values, lambda bar: change(back(bar), bar)

    return {"values_and_pullback": both}


def valued(change):
    def both(method, theta, X):
        values, back = method(theta, X)
        return change(values), back

    return {"values_and_pullback": both}


def last_doubled(theta_bar, bar):
    return np.concatenate([theta_bar[..., :-1], 2.0 * theta_bar[..., -1:]], axis=-1)


def of_many_turned(theta_bar, bar):
    return theta_bar[::-1] if theta_bar.ndim == 2 else theta_bar


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (valued(lambda F: F[..., 0]), "the outputs must have shape"),
        (valued(lambda F: F - F.mean(axis=-2, keepdims=True)), "the outputs of row 0 and of it"),
        (valued(lambda F: F[::-1] if F.ndim == 3 else F), "network 0 of two and it alone"),
        (pulled(of_many_turned), "the pullback of network 0 of two and of it alone"),
        (pulled(last_doubled), "the sum of row_gradients and the pullback"),
        ({"row_gradients": lambda f, *given: f(*given)[:, 1:]}, "row_gradients must have shape"),
        ({"row_gradients": lambda f, *given: 2.0 * f(*given)}, "the sum of row_gradients"),
        (
            pulled(last_doubled)
            | {"row_gradients": lambda f, *given: last_doubled(f(*given), None)},
            r"theta\[11\]: the pullback says",
        ),
    ],
)
def test_check_network_finds_each_flaw(rng, changes, message):
    network, theta, X = Network((2, 2, 2)), rng.normal(size=12), rng.normal(size=(3, 2))
    check_network(network, theta, X)
    with pytest.raises(AssertionError, match=message):
        check_network(Around(network, **changes), theta, X)


def stretched(sample, Xs, n, *, rng):
    drawn = sample(Xs, n, rng=rng)
    return drawn.mean(axis=0) + 3.0 * (drawn - drawn.mean(axis=0))


def shrunk(components, Xs):
    means, variances = components(Xs)
    return means, 0.5 * variances


@pytest.fixture(scope="module")
def passed():
    """A posterior and inputs that pass; what each flaw is then put into."""
    posterior, Xs = stack(np.random.default_rng(1)), np.asarray([[0.2], [0.9]])
    check_mixture(posterior, Xs)
    return posterior, Xs


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"components": lambda f, Xs: (f(Xs)[0], f(Xs)[1][:, :1])}, "of the parts must have shape"),
        ({"components": lambda f, Xs: (f(Xs)[0], -f(Xs)[1])}, "a variance of a part is negative"),
        ({"components": shrunk}, "the variance and that of the parts"),
        (
            {"components": lambda f, Xs: (f(Xs)[0] + 1.0, f(Xs)[1])},
            "the mean and that of the parts",
        ),
        ({"sample": lambda f, Xs, n, rng: f(Xs, n, rng=rng)[1:, :]}, "sample must have shape"),
        ({"sample": lambda f, Xs, n, rng: f(Xs, n, rng=rng) + 1.5}, "functions have another mean"),
        ({"sample": stretched}, "functions have another variance"),
        ({"log_density": lambda f, Xs, y: f(Xs, y)[:1]}, "log_density must have shape"),
        ({"log_density": lambda f, Xs, y: f(Xs, y) + 0.1}, "the integral of the density"),
        ({"log_density": lambda f, Xs, y: f(Xs, y - 0.2)}, "the mean of the density"),
        (
            {"predict": lambda f, Xs, noise=False: (f(Xs)[0], f(Xs)[1] * (0.9 if noise else 1.0))},
            "noise lowers a variance",
        ),
    ],
)
def test_check_mixture_finds_each_flaw(passed, changes, message):
    posterior, Xs = passed
    with pytest.raises(AssertionError, match=message):
        check_mixture(Around(posterior, **changes), Xs)


def test_check_mixture_finds_parts_that_change_from_call_to_call(rng):
    calls = count()
    moving = {"components": lambda f, Xs: (f(Xs)[0] + 1e-9 * next(calls), f(Xs)[1])}
    with pytest.raises(AssertionError, match="of the parts of the same inputs differ"):
        check_mixture(Around(stack(rng), **moving), np.zeros((1, 1)))


@pytest.mark.parametrize(
    ("check", "given"),
    [
        (check_classes, (np.eye(2),)),
        (check_network, (np.ones(2), np.eye(2))),
        (check_mixture, (np.eye(2),)),
    ],
)
def test_what_lacks_a_member_is_refused_by_name(check, given):
    name = "network" if check is check_network else "posterior"
    with pytest.raises(TypeError, match=f"^{name} must have .*; float lacks "):
        check(3.0, *given)
    with pytest.raises(TypeError, match=f"^{name} must have .*; got the class Network"):
        check(Network, *given)
