"""Contracts of the parts that others may bring: protocols, kept by having their members.

A class of yours inherits nothing for that. (A kernel is the
exception: `Kernel` has hooks, and public methods that check and call them.) The public functions
call `require`: they refuse an argument that lacks a member, and say which. The checks of
`gpnotes.testing` find out if the members also do as written here.

Arrays are of any namespace, and the answers are of the namespace, dtype and device of the
arguments. A function called ``…_and_pullback`` returns its value and a function that carries
derivatives by the value back to derivatives by the arguments. A derivative by an object, such as
``policy_bar``, is an object of the same class that holds derivatives, made by `params.cotangent`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from inspect import getattr_static, isroutine
from typing import Any, NamedTuple, Protocol, Self, TypeAlias, TypeVar

from ..ground.params import Parameters
from ..ground.showing import summary
from ..ground.xp import Array, HostArray, Matrix, Vector
from .kernels import Kernel

__all__ = [
    "Acquisition", "Cost", "Criterion", "CurvedLikelihood", "InducingVariables",
    "LabelLikelihood", "Likelihood", "Mean", "Moments", "ParametricLikelihood", "Policy",
    "PredictiveLikelihood", "Prior", "missing", "require",
]  # fmt: skip


MeanFunction: TypeAlias = Callable[[Matrix], Vector]
"""A mean as a process needs it: ``m(xᵢ)``, (n,), for x (n, d)."""

Basis: TypeAlias = Callable[[Matrix], Matrix]
"""The columns of a mean: ``h(xᵢ)``, (n, p), for x (n, d).

Derivatives by x need a method more, ``pullback(x, bar)``: from those by the columns, (n, p), to
those by x.
"""


class Mean(Parameters, Protocol):
    """A mean function with its gradient: a frozen dataclass whose fields are its parameters.

    Any function will do as the mean of a process in `gpnotes.condition`; the members here are
    those that a fit needs to move the parameters.
    One whose weights are unknown is `means.BasisMean`: as a function, its expectation.
    """

    def __call__(self, x: Matrix, /) -> Vector:
        """Evaluate the mean.

        Returns
        -------
        Vector, shape (n,)
            ``m(xᵢ)``.
        """

    def pullback(self, x: Matrix, bar: Vector, /) -> tuple[Self, Matrix]:
        """Carry derivatives by the means back to the parameters and the inputs.

        Parameters
        ----------
        bar : Vector, shape (n,)
            The derivatives by the means.

        Returns
        -------
        mean_bar : Mean
            A mean of the same class that holds the derivatives.
        x_bar : Matrix, shape (n, d)
            The derivatives by x.
        """


Value = TypeVar("Value", float, Array)  # of a parameter


class Prior(Protocol):
    """A prior on a parameter, or on each entry of one, as `gpnotes.fit` asks for it."""

    def log_density(self, value: float | Array, /) -> float:
        """Evaluate the log density of a value.

        Parameters
        ----------
        value : float or Vector, shape (d,)
            The parameter, in its own units.

        Returns
        -------
        float
            The log density, summed over entries.
        """

    def gradient(self, value: Value, /) -> Value:
        """Differentiate `log_density` by the value; a float for a float, an array for an array."""


class Likelihood(Protocol):
    """The scatter of an observation y around f, entry by entry: y and f have one shape."""

    def log_density(self, y: Array, f: Array, /) -> Array:
        """Evaluate ``log p(y | f)``, entry by entry.

        Parameters
        ----------
        f : Array
            The values of f, of the shape of y.

        Returns
        -------
        Array
            The log densities, of the same shape.
        """

    def derivatives(self, y: Array, f: Array, /) -> tuple[Array, Array, Array]:
        """Differentiate ``log p(y | f)`` by f, three times.

        Parameters
        ----------
        f : Array
            The values of f, of the shape of y.

        Returns
        -------
        tuple of Array
            The first, the second and the third derivatives, each of the same shape.
        """


class LabelLikelihood(Likelihood, Protocol):
    """A likelihood of labels, 1 and −1."""

    def probability(self, mean: Array, variance: Array, /) -> Array:
        """Evaluate ``P(y = 1)`` for ``f ~ N(mean, variance)``, entry by entry.

        Parameters
        ----------
        mean, variance : Array
            The moments of f, of one shape.

        Returns
        -------
        Array
            The probabilities, of the same shape.
        """


class ParametricLikelihood(Likelihood, Parameters, Protocol):
    """A likelihood whose parameters can be fitted: a frozen dataclass whose fields they are."""

    def pullback(self, y: Array, f: Array, bar: Array, /) -> tuple[Self, Array]:
        """Carry derivatives by `log_density` back to the parameters and f.

        Parameters
        ----------
        f : Array
            The values of f, of the shape of y.
        bar : Array
            The derivatives by the log densities, by entry.

        Returns
        -------
        likelihood_bar : ParametricLikelihood
            A likelihood of the same class that holds the derivatives.
        f_bar : Array
            The derivatives by f.
        """


class CurvedLikelihood(Likelihood, Parameters, Protocol):
    """A likelihood whose parameters can be fitted by Laplace's method: a frozen dataclass."""

    def derivatives_bar(
        self, y: Array, f: Array, bar: Array, first_bar: Array, second_bar: Array, /
    ) -> Self:
        """Carry derivatives by `log_density` and its first two slopes back to the parameters.

        Parameters
        ----------
        f : Array
            The values of f, of the shape of y.
        bar, first_bar, second_bar : Array
            The derivatives by the log densities, and by their first and second derivatives by f.

        Returns
        -------
        CurvedLikelihood
            A likelihood of the same class that holds the derivatives.
        """


class PredictiveLikelihood(Likelihood, Protocol):
    """A likelihood whose observations have a mean and a variance, or infinity for one."""

    def predict(self, mean: Array, variance: Array, /) -> tuple[Array, Array]:
        """Find the mean and the variance of y for ``f ~ N(mean, variance)``, entry by entry.

        Parameters
        ----------
        mean, variance : Array
            The moments of f, of one shape.

        Returns
        -------
        mean, variance : Array
            Those of y, of the same shape.
        """


class InducingVariables(Parameters, Protocol):
    """M linear functionals of a process, ``uₘ = Lₘ f``: a frozen dataclass, its arrays its fields.

    Approximations take it in place of inducing points Z, for which ``uₘ = f(zₘ)``. Each of the u
    must have a variance: ``K_uu`` is finite, and with K_uf and K_ff a covariance.
    """

    @property
    def inputs(self) -> Matrix:
        """The inputs (P, d) of f that the functionals look at and that can be moved; P may be 0."""

    @property
    def size(self) -> int:
        """The number of functionals, M."""

    def moved(self, inputs: Matrix, /) -> Self:
        """Move the functionals to other `inputs` (P, d), as a fit does."""

    def apply(self, function: MeanFunction, kernel: Any, /) -> Vector:
        """Apply the functionals to any function g of inputs, such as a mean: ``Lₘ g``, (M,).

        Parameters
        ----------
        function : callable
            The function g.
        kernel : Kernel
            The kernel of the process, on which functionals may depend.

        Returns
        -------
        Vector, shape (M,)
            Their image of g.
        """

    def gram(self, kernel: Any, /) -> Matrix:
        """Evaluate ``K_uu = cov(u, u)`` of a process.

        Parameters
        ----------
        kernel : Kernel
            The kernel of the process.

        Returns
        -------
        Matrix, shape (M, M)
            K_uu.
        """

    def gram_pullback(self, kernel: Any, K_bar: Matrix, /) -> tuple[Kernel, Matrix]:
        """Carry derivatives by K_uu back to the kernel and the inputs.

        Parameters
        ----------
        kernel : Kernel
            The kernel of the process.
        K_bar : Matrix, shape (M, M)
            The derivatives by K_uu.

        Returns
        -------
        kernel_bar : Kernel
            A kernel of the same class that holds the derivatives.
        inputs_bar : Matrix, shape (P, d)
            The derivatives by `inputs`.
        """

    def cross(self, kernel: Any, X: Matrix, /) -> Matrix:
        """Evaluate ``K_uf = cov(u, f(X))`` of a process.

        Parameters
        ----------
        kernel : Kernel
            The kernel of the process.

        Returns
        -------
        Matrix, shape (M, n)
            K_uf.
        """

    def cross_pullback(self, kernel: Any, X: Matrix, K_bar: Matrix, /) -> tuple[Kernel, Matrix]:
        """Carry derivatives by K_uf back to the kernel and the inputs.

        Parameters
        ----------
        kernel : Kernel
            The kernel of the process.
        K_bar : Matrix, shape (M, n)
            The derivatives by K_uf.

        Returns
        -------
        kernel_bar : Kernel
            A kernel of the same class that holds the derivatives.
        inputs_bar : Matrix, shape (P, d)
            The derivatives by `inputs`.
        """


class Moments(NamedTuple):
    """The moments of the outputs f(x) for an uncertain input x.

    As a cotangent, the derivatives of a number by each of them.

    Parameters
    ----------
    mean : Vector, shape (E,)
        The mean of f(x).
    covariance : Matrix, shape (E, E)
        The covariance of f(x).
    cross : Matrix, shape (D, E)
        ``cov[x, f(x)]``.
    """

    mean: Vector
    covariance: Matrix
    cross: Matrix

    def __repr__(self) -> str:
        return summary(self)


class Policy(Parameters, Protocol):
    """A rule for the action in a state: a frozen dataclass whose fields are its parameters."""

    def __call__(self, z: Vector, /) -> Vector:
        """Choose the action (U,) in the state z (K,)."""

    def moments_and_pullback(
        self, m: Vector, S: Matrix, /
    ) -> tuple[Moments, Callable[[Moments], tuple[Self, Vector, Matrix]]]:
        """Find the moments of the action in an uncertain state, and the way back from derivatives.

        Parameters
        ----------
        m : Vector, shape (K,)
            The mean of the state, ``z ~ N(m, S)``.
        S : Matrix, shape (K, K)
            The covariance of the state: symmetric; it may be zero.

        Returns
        -------
        moments : Moments
            Mean (U,), covariance (U, U) and covariance with z (K, U) of the action.
        pullback : Callable
            From the derivatives by these to ``(policy_bar, m_bar, S_bar)``.
        """


class Cost(Protocol):
    """A cost of a vector, certain or uncertain.

    The vector is the state that a step leads to or, in a `pilco.StepCost`, the action taken.
    """

    def __call__(self, x: Vector, /) -> float:
        """Evaluate the cost of one state or action x (k,)."""

    def expected_and_pullback(
        self, m: Vector, S: Matrix, /
    ) -> tuple[float, Callable[[float], tuple[Vector, Matrix]]]:
        """Find ``E c(x)`` for ``x ~ N(m, S)``, and the way back from its derivative.

        Parameters
        ----------
        m : Vector, shape (k,)
            The mean.
        S : Matrix, shape (k, k)
            The covariance, which may be zero.

        Returns
        -------
        expected : float
            The expected cost.
        pullback : Callable
            From the derivative by it to ``(m_bar, S_bar)``.
        """


class Criterion(Protocol):
    """The worth of each of n candidates as the next measurement, given those made."""

    @property
    def diminishing(self) -> bool:
        """True if a gain can only fall as measurements come in."""

    def gains(self, rows: HostArray | None = None, /) -> Vector:
        """Evaluate the gains of candidates.

        Parameters
        ----------
        rows : HostArray, optional
            The numbers of the candidates; None for all.

        Returns
        -------
        Vector
            The gains, one for each; (n,) for all.
        """

    def add(self, j: int, /) -> float:
        """Measure a candidate.

        Parameters
        ----------
        j : int
            The number of the candidate.

        Returns
        -------
        float
            The gain of that measurement.
        """


class Acquisition(Protocol):
    """The worth of observing f, by its mean and variance: more is better."""

    def __call__(self, mean: Vector, variance: Vector, /) -> Vector:
        """Evaluate the worth, entry by entry.

        Parameters
        ----------
        mean, variance : Vector, shape (n,)
            The moments of f.
        """

    def derivatives(self, mean: Vector, variance: Vector, /) -> tuple[Vector, Vector]:
        """Differentiate the worth by the mean and by the variance.

        Parameters
        ----------
        mean, variance : Vector, shape (n,)
            The moments of f.

        Returns
        -------
        by_mean, by_variance : Vector, shape (n,)
            The derivatives.
        """


_KINDS = {
    Prior: "a prior, with a log density and its gradient",
    Mean: "a mean function with a pullback, such as ConstantMean(1.0)",
    Likelihood: "a density of y given f, such as Bernoulli()",
    LabelLikelihood: "a density of labels given f, such as Bernoulli()",
    ParametricLikelihood: "a density of y given f with a pullback, such as Gaussian()",
    CurvedLikelihood: "a density of y given f that says how its parameters bend it",
    PredictiveLikelihood: "a density of y given f that predicts y, such as Gaussian()",
    InducingVariables: "linear functionals of a process, such as InducingPoints(Z)",
    Policy: "a function of the state that has moments, such as LinearPolicy",
    Cost: "a function of one vector that has an expectation, such as SaturatingCost",
    Criterion: "a criterion of designs, such as design.criteria.Information",
    Acquisition: "an acquisition, such as bayesopt.LogExpectedImprovement(best)",
}
_A_FUNCTION = (
    ". A plain function will do for `condition`; for a fit write a class with one, as the page "
    "Bring your own shows, or, since a function has nothing to fit, take its values from y, or "
    "give them as the `offset` of a LaplaceGP or an SVGP"
)
T = TypeVar("T")


def missing(value: object, contract: object) -> list[str]:
    """List the members of a contract that an object lacks.

    Parameters
    ----------
    value : object
        The object.
    contract : type
        One of the protocols here.

    Returns
    -------
    list of str
        The names of the members, in the order in which they are declared.

    Examples
    --------
    >>> from gpnotes import Gaussian
    >>> missing(Gaussian(), LabelLikelihood)
    ['probability']
    """
    # statically first: a property is not asked for its value, which may be dear to work out
    return [
        name
        for name in _members(contract)
        if getattr_static(value, name, None) is None and not hasattr(value, name)
    ]


@cache
def _members(contract: type[object]) -> tuple[str, ...]:
    bases = [base for base in reversed(contract.__mro__) if getattr(base, "_is_protocol", False)]
    members = [name for base in bases for name in vars(base) if _is_member(name)]
    return tuple(dict.fromkeys(members))


def _is_member(name: str) -> bool:
    return name == "__call__" or not name.startswith("_")


def require(value: T, name: str, contract: type[object]) -> T:
    """Return `value` if it is an object with all members of `contract`.

    Parameters
    ----------
    value, contract
        As in `missing`.
    name : str
        The name of the argument, for an error.

    Returns
    -------
    object
        `value` itself.

    Raises
    ------
    TypeError
        If it is a class, or lacks a member; the message names the argument and the member.

    Examples
    --------
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
        hint = _A_FUNCTION if contract is Mean and isroutine(value) else ""
        raise TypeError(f"{wanted}; {type(value).__name__} lacks {', '.join(lacking)}{hint}")
    return value
