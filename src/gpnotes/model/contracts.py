"""What the package asks of parts that others may bring: protocols, kept by having their members.

A class of yours inherits nothing for that. (A kernel is the
exception: `Kernel` has hooks, and public methods that check and call them.) `require` is what the
public functions call: they refuse what lacks a member when it comes in, and say which. Whether the
members also do what is written here is for the checks of `gpnotes.testing` to find out.

Arrays are of any namespace, and the answers are of the namespace, dtype and device of the
arguments. A function called ``…_and_pullback`` returns its value and a function that carries
derivatives by the value back to derivatives by the arguments. A derivative by an object, such as
``policy_bar``, is an object of the same class that holds derivatives, made by `params.cotangent`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import Field
from typing import Any, ClassVar, NamedTuple, Protocol, Self, TypeAlias, TypeVar

from ..ground.random import Stream
from ..ground.xp import Array, HostArray, Matrix, Vector

__all__ = [
    "Acquisition", "Cost", "Criterion", "InducingVariables", "LabelLikelihood", "Likelihood",
    "Mean", "Moments", "ParametricLikelihood", "Policy", "Posterior", "PredictiveLikelihood",
    "Prior", "missing", "require",
]  # fmt: skip


MeanFunction: TypeAlias = Callable[[Matrix], Vector]
"""What a process needs of its mean: ``m(xᵢ)``, (n,), for x (n, d)."""

Basis: TypeAlias = Callable[[Matrix], Matrix]
"""The columns of a mean: ``h(xᵢ)``, (n, p), for x (n, d).

Derivatives by x need a method more, ``pullback(x, bar)``: from those by the columns, (n, p), to
those by x.
"""


class Mean(Protocol):
    """A mean function with its gradient: a frozen dataclass whose fields are its parameters.

    Any function will do as the mean of a process; what is asked for here is what a fit needs.
    One whose weights are unknown is `means.BasisMean`: as a function, what it is expected to be.
    """

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    def __call__(self, x: Matrix, /) -> Vector:
        """``m(xᵢ)``, (n,), for x (n, d)."""

    def pullback(self, x: Matrix, bar: Vector, /) -> tuple[Self, Matrix]:
        """``(mean_bar, x_bar)`` for the derivatives `bar` (n,) by the means."""


class Prior(Protocol):
    """What `fitting.fit` asks of a prior on a parameter, or on each entry of one."""

    def log_density(self, value: float | Array, /) -> float:
        """The log density of a value in its own units, summed over entries."""

    def gradient(self, value: Any, /) -> Any:
        """The derivative of `log_density` by the value, of the value's type."""


class Likelihood(Protocol):
    """How an observation y scatters around f, entry by entry: y and f have one shape."""

    def log_density(self, y: Array, f: Array, /) -> Array:
        """``log p(y | f)``; a `ValueError` for a y that cannot be observed."""

    def derivatives(self, y: Array, f: Array, /) -> tuple[Array, Array, Array]:
        """The first three derivatives of ``log p(y | f)`` by f."""


class LabelLikelihood(Likelihood, Protocol):
    """A likelihood of labels, 1 and −1."""

    def probability(self, mean: Array, variance: Array, /) -> Array:
        """``P(y = 1)`` for ``f ~ N(mean, variance)``, entry by entry."""


class ParametricLikelihood(Likelihood, Protocol):
    """A likelihood whose parameters can be fitted: a frozen dataclass whose fields they are."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    def pullback(self, y: Array, f: Array, bar: Array, /) -> tuple[Self, Array]:
        """``(likelihood_bar, f_bar)`` for the derivatives `bar`, by entry, by `log_density`."""


class PredictiveLikelihood(Likelihood, Protocol):
    """A likelihood whose observations have a mean and a variance, or infinity for one."""

    def predict(self, mean: Array, variance: Array, /) -> tuple[Array, Array]:
        """Mean and variance of y for ``f ~ N(mean, variance)``, entry by entry."""


class Posterior(Protocol):
    """The distribution of f given data, at any inputs Xs (m, d)."""

    def predict(self, Xs: Matrix, /) -> tuple[Vector, Vector]:
        """Mean and variance, (m,) each."""

    def mean(self, Xs: Matrix, /) -> Vector:
        """The mean, (m,)."""

    def variance(self, Xs: Matrix, /) -> Vector:
        """The variance, (m,), nowhere negative."""

    def covariance(self, Xs: Matrix, /) -> Matrix:
        """The covariance, (m, m)."""

    def sample(self, Xs: Matrix, stream: Stream, n: int, /) -> Matrix:
        """`n` functions drawn, (n, m)."""


class InducingVariables(Protocol):
    """M linear functionals of a process, ``uₘ = Lₘ f``: a frozen dataclass, its arrays its fields.

    Approximations take it in place of inducing points Z, for which ``uₘ = f(zₘ)``. Each of the u
    must have a variance: ``K_uu`` is finite, and with K_uf and K_ff a covariance.
    """

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    @property
    def inputs(self) -> Matrix:
        """The inputs (P, d) of f that the functionals look at and that can be moved; P may be 0."""

    @property
    def size(self) -> int:
        """How many they are, M."""

    def moved(self, inputs: Matrix, /) -> Self:
        """The same functionals of f at other `inputs` (P, d), as a fit moves them."""

    def apply(self, function: MeanFunction, /) -> Vector:
        """``Lₘ g``, (M,), for any function g of inputs, such as a mean."""

    def gram(self, kernel: Any, /) -> Matrix:
        """``K_uu = cov(u, u)``, (M, M), of a process with the kernel."""

    def gram_pullback(self, kernel: Any, K_bar: Matrix, /) -> tuple[Any, Matrix]:
        """``(kernel_bar, inputs_bar)`` for the derivatives `K_bar` (M, M) by K_uu."""

    def cross(self, kernel: Any, X: Matrix, /) -> Matrix:
        """``K_uf = cov(u, f(X))``, (M, n), for X (n, d)."""

    def cross_pullback(self, kernel: Any, X: Matrix, K_bar: Matrix, /) -> tuple[Any, Matrix]:
        """``(kernel_bar, inputs_bar)`` for the derivatives `K_bar` (M, n) by K_uf."""


class Moments(NamedTuple):
    """Mean (E,) and covariance (E, E) of the outputs f(x), and ``cross = cov[x, f(x)]``, (D, E).

    As a cotangent, the derivatives of a number by each of them.
    """

    mean: Vector
    covariance: Matrix
    cross: Matrix


class Policy(Protocol):
    """What to do in a state: a frozen dataclass whose fields are its parameters."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    def __call__(self, z: Vector, /) -> Vector:
        """The action (U,) in the state z (K,)."""

    def moments_and_pullback(
        self, m: Vector, S: Matrix, /
    ) -> tuple[Moments, Callable[[Moments], tuple[Self, Vector, Matrix]]]:
        """Moments of the action for ``z ~ N(m, S)``; the way back to (policy_bar, m_bar, S_bar).

        Mean (U,), covariance (U, U) and covariance with z (K, U); S is symmetric and may be zero.
        """


class Cost(Protocol):
    """What a vector costs, and what it costs on average where it is uncertain.

    The vector is the state that a step leads to or, in a `pilco.StepCost`, the action taken.
    """

    def __call__(self, x: Vector, /) -> float:
        """The cost of one state or action x (k,)."""

    def expected_and_pullback(
        self, m: Vector, S: Matrix, /
    ) -> tuple[float, Callable[[float], tuple[Vector, Matrix]]]:
        """``E c(x)`` for ``x ~ N(m, S)``, and the way back to (m_bar, S_bar); S may be zero."""


class Criterion(Protocol):
    """What each of n candidates would be worth as the next measurement, given those made."""

    @property
    def diminishing(self) -> bool:
        """Whether a gain can only fall as measurements come in."""

    def gains(self, rows: HostArray | None = None, /) -> Vector:
        """The gains of the candidates with the numbers `rows`; of all, (n,), for None."""

    def add(self, j: int, /) -> float:
        """Measure candidate j; what that gained."""


class Acquisition(Protocol):
    """What it would be worth to observe f, by its mean and variance, (n,) each: more is better."""

    def __call__(self, mean: Vector, variance: Vector, /) -> Vector:
        """The worth, (n,), entry by entry."""

    def derivatives(self, mean: Vector, variance: Vector, /) -> tuple[Vector, Vector]:
        """Its derivatives by the mean and by the variance, (n,) each."""


_KINDS = {
    Prior: "a prior, with a log density and its gradient",
    Mean: "a mean function with a pullback, such as ConstantMean(1.0)",
    Likelihood: "a density of y given f, such as Bernoulli()",
    LabelLikelihood: "a density of labels given f, such as Bernoulli()",
    ParametricLikelihood: "a density of y given f with a pullback, such as Gaussian()",
    PredictiveLikelihood: "a density of y given f that predicts y, such as Gaussian()",
    Posterior: "a distribution of f given data, as condition makes it",
    InducingVariables: "linear functionals of a process, such as InducingPoints(Z)",
    Policy: "a function of the state that has moments, such as LinearPolicy",
    Cost: "a function of one vector that has an expectation, such as SaturatingCost",
    Criterion: "a criterion of designs, such as design.criteria.Information",
    Acquisition: "an acquisition, such as bayesopt.LogExpectedImprovement(best)",
}
T = TypeVar("T")


def missing(value: object, contract: Any) -> list[str]:
    """The members of `contract` that `value` lacks, in the order in which they are declared.

    >>> from gpnotes import Gaussian
    >>> missing(Gaussian(), LabelLikelihood)
    ['probability']
    """
    bases = [base for base in reversed(contract.__mro__) if getattr(base, "_is_protocol", False)]
    members = [name for base in bases for name in vars(base) if _is_member(name)]
    return [name for name in dict.fromkeys(members) if not hasattr(value, name)]


def _is_member(name: str) -> bool:
    return name == "__call__" or not name.startswith("_")


def require(value: T, name: str, contract: Any) -> T:
    """`value` if it is an object with all members of `contract`, one of the protocols here.

    Raises `TypeError` that names the argument and what it lacks.

    >>> require(3.0, "likelihood", Likelihood)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    TypeError: likelihood must be a density of y given f, ...; float lacks log_density, derivatives
    """
    wanted = f"{name} must be {_KINDS[contract]}"
    if isinstance(value, type):
        raise TypeError(f"{wanted}; got the class {value.__name__}, not an object of it")
    lacking = missing(value, contract)
    if lacking:
        raise TypeError(f"{wanted}; {type(value).__name__} lacks {', '.join(lacking)}")
    return value
