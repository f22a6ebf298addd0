"""The base of every posterior: moments, draws and densities of f or of a new y, stated once.

A class of posteriors brings hooks, all of them trusted: `_moments` and `_covariance` of f at
inputs, and by `_noise` the scatter of y around f. The public methods, with their checks, are here.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, TypeVar, cast

from ..ground import check as _check
from ..ground import memory
from ..ground.chunks import Rows
from ..ground.conversion import takes
from ..ground.late_reads import trials
from ..ground.random import RNG, Stream, stream_of
from ..ground.showing import summary
from ..ground.xp import (
    LOG_2PI,
    Array,
    Matrix,
    MatrixLike,
    Numbers,
    OfEachLike,
    Vector,
    VectorLike,
    array_namespace,
)
from ..model.contracts import LabelLikelihood, Likelihood, PredictiveLikelihood, require
from ..model.gaussian_process import GP, plus_noise
from ..model.kernels import Kernel, Sum
from ..model.likelihoods import Bernoulli, Gaussian
from ..model.likelihoods.adapter import require_observable, with_hooks
from ..model.normal import Normal, normal_of
from .known_noise import noise_under, validate_noise
from .summands import picked

__all__ = [
    "PartPosterior", "Posterior", "named", "named_as", "one_function_a_class", "require_inputs",
    "with_noise",
]  # fmt: skip

Q = TypeVar("Q", bound="Posterior")


@dataclass(frozen=True, eq=False, repr=False)
class Posterior(ABC):
    """A process given data: predictions of f, or of a new y, at any inputs Xs (n*, d).

    Every prediction is of f unless it says ``noise=True``: then of a new y. Inputs that do not fit
    are a `ValueError` or a `TypeError`, matrices that have no room a `MemoryError`. A method
    that a class cannot support raises a `TypeError`, which names both and says why.

    Parameters
    ----------
    columns : tuple of str, default ()
        The names of the columns of X, where it was a frame of pandas or Polars. The columns of a
        frame of inputs are then matched by name: their order does not matter, further ones are
        ignored, as R and formulas do, one that is missing is a `ValueError`. Inputs without names
        are taken as they come.
    known_columns : tuple of pairs of str, default ()
        Those of the arguments `offset`, `noise_var` and `weights` that were columns of the data,
        each with the name of its column. Where new inputs are a frame with such a column it is
        taken again; where it is needed and not there, a `ValueError` names both.

    Notes
    -----
    A class of your own brings `validate_inputs`, and `_moments(Xs)`, the mean and the variance of f
    at rows that are validated; `_noise`, the variance of normal noise or a likelihood; and
    `_covariance(Xs)` of f where it has one. It may override the methods that follow from
    these: `_mean(Xs)`, `_joint(Xs, noise)`, `_sample(Xs, num_samples, stream, noise)`. To be taken
    apart by `part` it brings `_process`, `_moments_of_part` and `_covariance_of_part`. In `_lacks`
    it lists the methods that it lacks. A dataclass of your own is frozen, as this is.
    """

    columns: tuple[str, ...] = field(default=(), kw_only=True, repr=False)
    known_columns: tuple[tuple[str, str], ...] = field(default=(), kw_only=True, repr=False)

    _copies: ClassVar[int] = 3  # (n*, n*) matrices that a covariance holds at a time
    _shifts: ClassVar[bool] = False  # whether y scatters around f plus an offset that is known
    # what a class cannot do, a method or an option, and why
    _lacks: ClassVar[Mapping[str, str]] = {}

    @abstractmethod
    def validate_inputs(self, Xs: Matrix, name: str = "Xs") -> None:
        """Raise, naming the argument, for inputs of a prediction that do not fit the data.

        Parameters
        ----------
        Xs : Matrix, shape (n*, d)
            The inputs.
        name : str, default "Xs"
            Their name in an error.
        """

    @abstractmethod
    def _moments(self, Xs: Matrix) -> tuple[Vector, Vector]:
        """The mean and the variance of f at a block of rows."""

    @property
    @abstractmethod
    def _noise(self) -> float | Likelihood:
        """The scatter of y around f, as the variance of normal noise or as a likelihood."""

    @property
    def _width(self) -> int:
        """The number of entries for a row of a block, in each matrix that is as large."""
        return 1

    def _mean(self, Xs: Matrix) -> Vector:
        """The mean of f at a block of rows, where the variance costs more."""
        return self._moments(Xs)[0]

    def _covariance(self, Xs: Matrix) -> Matrix:
        """The covariance of f between rows."""
        raise self._cannot("covariance", "it has the variances of single inputs only")

    def _scales(self, Xs: Matrix) -> Vector:
        """The sizes of the numbers that the variances were worked out from."""
        return self._moments(Xs)[1]

    def _joint(self, Xs: Matrix, noise: bool) -> Normal:
        covariance = self._add_noise(self._covariance(Xs), noise)
        return normal_of(self._mean_of_f(Xs, None), covariance, self._scales(Xs))

    def _sample(self, Xs: Matrix, num_samples: int, stream: Stream, noise: bool) -> Matrix:
        self._require_square(Xs)
        return self._joint(Xs, noise).sample(num_samples, rng=stream)

    def _log_density(self, Xs: Matrix, y: Vector, chunk: int | None) -> Vector:
        return self._log_density_of(y, *self._predict(Xs, False, chunk))

    def _log_density_of(
        self, y: Vector, mean: Vector, variance: Vector, known: Numbers | None = None
    ) -> Vector:
        noise: Any = self._noise if known is None else known
        if known is None and not isinstance(noise, float):
            likelihood = require(noise, "the likelihood", Likelihood)
            require_observable(likelihood, y, mean)
            return with_hooks(likelihood)._log_predictive(y, mean, variance)
        total = _check.positive(variance + noise, "the variance of y at Xs")
        return -0.5 * ((y - mean) ** 2 / total + array_namespace(total).log(total) + LOG_2PI)

    def _probability(
        self, Xs: Matrix, num_samples: int, rng: RNG | None, chunk: int | None
    ) -> Array:
        return self._chance(*self._predict(Xs, False, chunk))

    @takes("Xs", "offset", "noise_var", "weights")
    def predict(
        self,
        Xs: MatrixLike,
        *,
        noise: bool = False,
        chunk: int | None = None,
        offset: OfEachLike | None = None,
        noise_var: OfEachLike | None = None,
        weights: OfEachLike | None = None,
    ) -> tuple[Vector, Vector]:
        """Predict the mean and the variance of f, or of a new y, at each of some inputs.

        Parameters
        ----------
        Xs : Matrix, shape (n*, d)
            The inputs.
        noise : bool, default False
            Predict a new y, with its noise, rather than f.
        chunk : int or None, default None
            How many inputs are worked on at a time, which changes nothing but the memory; without
            it, as many as keep a block at a few tens of MB, on a GPU at a share of its free memory.
        offset : Vector, shape (n*,), or str, or None, default None
            A term added to the latent f of each, such as the logarithm of an exposure, or the
            column of a frame `Xs` that holds it, of models that take one in `condition`. Without it
            the offset is zero, unless that of the data was a column, `known_columns`: then
            that column of `Xs` is taken again, and an `Xs` without it needs an offset.
        noise_var, weights : Vector, shape (n*,), or str, or None, default None
            The known noise of each new y, as in `condition`, of models that take it
            there, [eq-fv-known-noise]: its variance, which is added to the model's own, and the
            divisor of the latter. They go with ``noise=True``, and are taken again as `offset` is.

        Returns
        -------
        mean, variance : Vector, shape (n*,)
            The moments at each input, of several functions (n*, c), a column each. A variance that
            rounding took below zero is zero.
        """
        for trial in trials(Xs):
            with trial:
                noise = self._admit("predict", Xs, noise, chunk, offset)
                known = self._known("predict", Xs, noise, offset, noise_var, weights)
                found = self._predict_with(offset, Xs, noise, chunk, known)
        return found

    def _predict_with(
        self,
        offset: Vector | None,
        Xs: Matrix,
        noise: bool = False,
        chunk: int | None = None,
        known: Numbers | None = None,
    ) -> tuple[Vector, Vector]:
        """Return `_predict` with the known offset of f, and the known noise of y."""
        if offset is None and known is None:
            return self._predict(Xs, noise, chunk)
        mean, variance = self._predict(Xs, False, chunk)
        mean = mean if offset is None else mean + offset
        if known is not None:
            return mean, variance + known
        return self._observe(mean, variance) if noise else (mean, variance)

    def _predict(
        self, Xs: Matrix, noise: bool = False, chunk: int | None = None
    ) -> tuple[Vector, Vector]:
        parts = [self._moments(rows) for rows in self._blocks(Xs, chunk)]
        mean, variance = (_joined(part) for part in zip(*parts, strict=True))
        return self._observe(mean, variance) if noise else (mean, variance)

    def _observe(self, mean: Vector, variance: Vector) -> tuple[Vector, Vector]:
        """The moments of y, from those of f."""
        noise = self._noise
        if isinstance(noise, float):
            return mean, variance + noise
        likelihood = require(noise, "the likelihood", PredictiveLikelihood)
        return with_hooks(cast(PredictiveLikelihood, likelihood))._predict(mean, variance)

    @takes("Xs", "offset")
    def mean(
        self,
        Xs: MatrixLike,
        *,
        noise: bool = False,
        chunk: int | None = None,
        offset: OfEachLike | None = None,
    ) -> Vector:
        """Predict the mean alone, (n*,), which may cost less; arguments are those of `predict`."""
        noise = self._admit("mean", Xs, noise, chunk, offset)
        self._require_known("mean", offset=offset)
        if noise:  # a mean of counts needs the variance of f
            return self._predict_with(offset, Xs, noise, chunk)[0]
        mean = _joined([self._mean(rows) for rows in self._blocks(Xs, chunk)])
        return mean if offset is None else mean + offset

    def _mean_of_f(self, Xs: Matrix, chunk: int | None) -> Vector:
        return _joined([self._mean(rows) for rows in self._blocks(Xs, chunk)])

    @takes("Xs", "offset", "noise_var", "weights")
    def variance(
        self,
        Xs: MatrixLike,
        *,
        noise: bool = False,
        chunk: int | None = None,
        offset: OfEachLike | None = None,
        noise_var: OfEachLike | None = None,
        weights: OfEachLike | None = None,
    ) -> Vector:
        """Predict the variance alone, (n*,); arguments are those of `predict`."""
        noise = self._admit("variance", Xs, noise, chunk, offset)
        known = self._known("variance", Xs, noise, offset, noise_var, weights)
        return self._predict_with(offset, Xs, noise, chunk, known)[1]

    @takes("Xs", "noise_var", "weights")
    def covariance(
        self,
        Xs: MatrixLike,
        *,
        noise: bool = False,
        noise_var: OfEachLike | None = None,
        weights: OfEachLike | None = None,
    ) -> Matrix:
        """Predict the covariance of f, or of new y, at all of some inputs together.

        It is never jittered, nor clipped: its eigenvalues may be below zero by rounding.

        Parameters
        ----------
        Xs : Matrix, shape (n*, d)
            The inputs.
        noise : bool, default False
            Add the variance of normal noise to the diagonal.
        noise_var, weights
            As in `predict`.

        Returns
        -------
        Matrix, shape (n*, n*)
            The covariance.
        """
        noise = self._admit("covariance", Xs, noise)
        known = self._known("covariance", Xs, noise, None, noise_var, weights)
        self._require_square(Xs)
        if known is not None:
            return plus_noise(self._covariance(Xs), known)
        return self._add_noise(self._covariance(Xs), noise)

    def _add_noise(self, covariance: Matrix, noise: bool) -> Matrix:
        return plus_noise(covariance, self._noise_var()) if noise else covariance

    @takes("Xs", "offset", "noise_var", "weights")
    def joint(
        self,
        Xs: MatrixLike,
        *,
        noise: bool = False,
        offset: OfEachLike | None = None,
        noise_var: OfEachLike | None = None,
        weights: OfEachLike | None = None,
    ) -> Normal:
        """Predict the joint distribution of f, or of new y, at all of some inputs together.

        Parameters
        ----------
        Xs : Matrix, shape (n*, d)
            The inputs.
        noise : bool, default False
            Predict new y, with normal noise, rather than f.
        offset, noise_var, weights
            As in `predict`.

        Returns
        -------
        Normal
            Its root is the Cholesky factor of the `covariance`, or, where rounding has left that
            singular, a pivoted one of as many columns as it has rank: ``root_kind`` says which.
        """
        noise = self._admit("joint", Xs, noise, offset=offset)
        known = self._known("joint", Xs, noise, offset, noise_var, weights)
        self._require_square(Xs)
        if known is None:
            found = self._joint(Xs, noise)
        else:
            covariance = plus_noise(self._covariance(Xs), known)
            found = normal_of(self._mean_of_f(Xs, None), covariance, self._scales(Xs))
        return found if offset is None else replace(found, mean=found.mean + offset)

    @takes("Xs", "offset", "noise_var", "weights")
    def sample(
        self,
        Xs: MatrixLike,
        num_samples: int = 1,
        *,
        noise: bool = False,
        offset: OfEachLike | None = None,
        noise_var: OfEachLike | None = None,
        weights: OfEachLike | None = None,
        rng: RNG,
    ) -> Matrix:
        """Draw functions at inputs, or sets of new y.

        Parameters
        ----------
        Xs : Matrix, shape (n*, d)
            The inputs.
        num_samples : int, default 1
            How many functions are drawn.
        noise : bool, default False
            Draw sets of new y, with normal noise, rather than f.
        offset, noise_var, weights
            As in `predict`.

        Returns
        -------
        Matrix, shape (num_samples, n*)
            The values, one function a row.

        Notes
        -----
        The mean plus a root of the covariance times standard normals, [eq-fv-sample], with the root
        of `joint`, unless the class says otherwise. Where it is the Cholesky factor, as for new y
        with noise, the same random numbers give the same functions on every backend, up to
        rounding. Where f is drawn at points so close that the covariance is singular up to
        rounding, it is a pivoted factor, whose order depends on rounding: the functions are as
        likely, but another machine may draw others, and so does a part of these inputs. Neither
        takes jitter. Functions that are the same wherever they are asked are those of
        `gpnotes.draw.paths.sample_paths`.
        """
        noise = self._admit("sample", Xs, noise, offset=offset)
        known = self._known("sample", Xs, noise, offset, noise_var, weights)
        stream = stream_of(rng)
        num_samples = memory.count(num_samples, "num_samples", 0, each=2 * Xs.shape[0], like=Xs)
        drawn = self._sample(Xs, num_samples, stream, noise and known is None)
        drawn = drawn if known is None else with_noise(drawn, known, stream)
        return drawn if offset is None else drawn + offset

    @takes("Xs", "y", "offset", "noise_var", "weights")
    def log_density(
        self,
        Xs: MatrixLike,
        y: VectorLike,
        *,
        chunk: int | None = None,
        offset: OfEachLike | None = None,
        noise_var: OfEachLike | None = None,
        weights: OfEachLike | None = None,
    ) -> Vector:
        """Evaluate ``log p(yᵢ)`` of new y, each by itself, averaged over f.

        Parameters
        ----------
        Xs : Matrix, shape (n*, d)
            The inputs.
        y : Vector, shape (n*,)
            The new observations.
        chunk, offset, noise_var, weights
            As in `predict`.

        Returns
        -------
        Vector, shape (n*,)
            The log densities, for labels and counts the log probabilities.
        """
        self._admit("log_density", Xs, chunk=chunk, offset=offset)
        _check.alike(_check.vector(y, "y", rows=Xs, of="Xs"), "y", Xs, "Xs")
        known = self._known("log_density", Xs, True, offset, noise_var, weights)
        if offset is None and known is None:
            return self._log_density(Xs, y, chunk)
        return self._log_density_of(y, *self._predict_with(offset, Xs, False, chunk), known)

    @takes("Xs", "offset")
    def probability(
        self,
        Xs: MatrixLike,
        num_samples: int = 1000,
        *,
        chunk: int | None = None,
        offset: OfEachLike | None = None,
        rng: RNG | None = None,
    ) -> Array:
        """Predict the probability of a label, ``P(y = 1)`` or that of each class, averaged over f.

        Parameters
        ----------
        Xs : Matrix, shape (n*, d)
            The inputs.
        num_samples : int, default 1000
            How many functions are drawn where the average has no closed form, as of a softmax.
        chunk, offset
            As in `predict`.
        rng : Stream, Generator, int or None, default None
            The random numbers for the functions that are drawn; None will do for all others.

        Returns
        -------
        Array, shape (n*,) or (n*, c)
            ``P(y = 1)``, [eq-al-predictive]; of c classes a column each, and each row sums to one.
        """
        num_samples = memory.count(num_samples, "num_samples", 2, each=2)
        self._admit("probability", Xs, chunk=chunk, offset=offset)
        self._require_known("probability", offset=offset)
        if offset is not None:
            return self._chance(*self._predict_with(offset, Xs, False, chunk))
        return self._probability(Xs, num_samples, rng, chunk)

    @takes("Xs")
    def predict_gradient(self, Xs: MatrixLike) -> tuple[Matrix, Matrix]:
        """Differentiate the mean and the variance of f at each of some inputs by these inputs.

        Parameters
        ----------
        Xs : Matrix, shape (n*, d)
            The inputs, columns of a frame matched by name.

        Returns
        -------
        mean_gradient : Matrix, shape (n*, d)
            The derivatives of each mean by each column, in the unit of y over that of the column:
            the sensitivities of the prediction.
        variance_gradient : Matrix, shape (n*, d)
            Those of each variance. Where a variance is zero by rounding, they are of the number
            before it was clipped.

        Raises
        ------
        TypeError
            If the posterior is no `ExactPosterior`, as ``condition(GP(...), X, y)`` makes it; if
            its mean function has no ``pullback``, or weights that were learnt, as a `BasisMean`.

        Notes
        -----
        With ``k = k(X, x)``, whose derivatives ∂k/∂x are (n, d),

            ∂μ/∂x = ∂m/∂x + (∂k/∂x)ᵀ α,   ∂v/∂x = ∂k(x, x)/∂x − 2 (∂k/∂x)ᵀ K_y⁻¹ k.

        At a reading they are finite for a kernel without derivatives there, such as `Matern12`: its
        own slope counts as zero. Costs O(n² n*).

        Examples
        --------
        >>> import numpy as np
        >>> from gpnotes import GP, RBF, condition
        >>> posterior = condition(GP(RBF(), 0.0), np.asarray([[0.0]]), np.asarray([1.0]))
        >>> [a.round(4) for a in posterior.predict_gradient([[1.0]])]
        [array([[-0.6065]]), array([[0.7358]])]
        """
        self.validate_inputs(Xs)
        return self._input_gradients(Xs)

    def _input_gradients(self, Xs: Matrix) -> tuple[Matrix, Matrix]:
        """The derivatives, where a class has them."""
        why = "an ExactPosterior has it, as condition(GP(...), X, y); else take differences"
        raise self._cannot("predict_gradient", why)

    def part(self, *which: str | int) -> Posterior:
        """The posterior of a part of f, where the kernel is a sum: ``f = m + Σₖ fₖ``.

        With the covariance ``K_y`` of all of y, ``fₖ`` has the mean ``K_*f⁽ᵏ⁾ α``,
        [eq-fv-components], and the covariance ``K_**⁽ᵏ⁾ − K_*f⁽ᵏ⁾ K_y⁻¹ K_f*⁽ᵏ⁾``. The means of all
        parts and m add up to the mean of f; their variances do not, since a sum that is observed
        makes its summands dependent, [eq-fv-component-cov].

        Parameters
        ----------
        *which : str or int
            The parts: names, as `gpnotes.named` gives them, numbers from 0, or ``"mean"`` for the
            mean function m, which is in no other part. Several are added up, with their
            covariance. A kernel that is no sum is its part 0.

        Returns
        -------
        Posterior
            The posterior of the part; it has no noise, which is in y alone.

        Notes
        -----
        It is the section *Additive components* of the book's *function-space view*.

        Examples
        --------
        >>> import numpy as np
        >>> from gpnotes import GP, RBF, Linear, condition, named
        >>> X = np.asarray([[0.0], [1.0], [2.0]])
        >>> gp = GP(named(line=Linear(), bump=RBF(0.5)), 0.1)
        >>> posterior = condition(gp, X, np.asarray([0.2, 1.1, 1.9]))
        >>> posterior.part("line").mean(X).round(3)
        array([0.  , 0.82, 1.64])
        >>> posterior.part("line", "bump").mean(X).round(3)
        array([0.181, 1.078, 1.87 ])
        """
        if "part" in self._lacks:
            raise self._cannot("part", self._lacks["part"])
        return self._part(which)

    @property
    def part_names(self) -> tuple[str | int, ...]:
        """The names, or else the numbers, of the summands, which `part` takes besides the mean."""
        kernel = self._process().kernel
        if not isinstance(kernel, Sum):
            return (0,)
        names = kernel.names or ("",) * len(kernel.parts)
        return tuple(name or number for number, name in enumerate(names))

    def _part(self, which: tuple[str | int, ...]) -> Posterior:
        """`part`, of a class that brings the three hooks below."""
        kernel, with_mean = picked(self._process().kernel, which)
        return PartPosterior(self, kernel, with_mean, columns=self.columns)

    def _process(self) -> GP:
        """The process whose kernel may be a sum."""
        raise self._cannot("part", "its model is not taken apart")

    def _moments_of_part(self, part: PartPosterior, Xs: Matrix) -> tuple[Vector, Vector]:
        """The mean and the variance of a part at a block of rows."""
        raise self._cannot("part", "its model is not taken apart")

    def _covariance_of_part(self, part: PartPosterior, Xs: Matrix) -> Matrix:
        """The covariance of a part between rows."""
        raise self._cannot("part", "its model is not taken apart")

    def _admit(
        self,
        method: str,
        Xs: Matrix,
        noise: bool = False,
        chunk: int | None = None,
        offset: Vector | None = None,
    ) -> bool:
        """Refuse methods that this class lacks, and inputs that do not fit; return `noise`."""
        noise = _check.flag(noise, "noise")
        if chunk is not None:
            _check.whole(chunk, "chunk", 1)
        for word, asked in ((method, True), ("noise", noise), ("chunk", chunk is not None)):
            if asked and word in self._lacks:
                raise self._cannot(method, self._lacks[word])
        if noise and method in ("covariance", "joint", "sample"):
            # raises for noise that is not normal, before anything is computed
            self._noise_var(method)
        if offset is not None and not self._shifts:
            raise self._cannot(method, f"offset must be None; {_NO_OFFSET}")
        self.validate_inputs(Xs)
        if offset is not None:
            _check.alike(_check.vector(offset, "offset", size=Xs.shape[0]), "offset", Xs, "Xs")
        return noise

    def _known(
        self,
        method: str,
        Xs: Matrix,
        noise: bool,
        offset: Vector | None,
        noise_var: Vector | None,
        weights: Vector | None,
    ) -> Numbers | None:
        """The variance of the noise of each y, [eq-fv-known-noise], where something is known."""
        given = {"noise_var": noise_var, "weights": weights} if noise else {}
        shift = {} if method == "covariance" else {"offset": offset}
        self._require_known(method, **shift, **given)
        for name, one in (("noise_var", noise_var), ("weights", weights)):
            if one is not None and not noise:
                raise ValueError(f"{name} must be None unless noise=True: f has none")
            if one is not None and (why := self._lacks.get("known noise")):
                raise self._cannot(method, why)
        if noise_var is None and weights is None:
            return None
        variance = self._noise_var(method)
        validate_noise(Xs, Xs.shape[0], noise_var, weights)
        # of rows the noise alone is asked here, so that inputs may stand in the place of y
        return noise_under(variance, Rows(Xs, Xs, noise_var, weights)).variance

    def _require_known(self, method: str, **given: Vector | None) -> None:
        """Refuse inputs without a column that was an argument of the data, and without another."""
        for name, column in self.known_columns:
            if name in given and given[name] is None:
                said = f"that of the data was the column {column!r}, which the inputs have not"
                remedy = f"give {name}=, or inputs that are a frame with {column!r}"
                raise ValueError(f"{name} must be given to `{method}`: {said}; {remedy}")

    def _blocks(self, Xs: Matrix, chunk: int | None) -> list[Matrix]:
        n, width = Xs.shape[0], self._width
        if chunk is None:
            rows_of = memory.blocks(n, width, like=Xs)
        else:
            # a chunk of more rows than there are needs no more memory than these
            size = min(chunk, max(1, n))
            what, remedy = "a chunk of rows", "Use a smaller chunk."
            memory.require(width, size, copies=3, like=Xs, what=what, remedy=remedy)
            rows_of = memory.blocks(n, width, size * width)
        return [Xs[rows, :] for rows in rows_of]

    def _require_square(self, Xs: Matrix) -> None:
        what = "the predictive covariance"
        n, remedy = Xs.shape[0], "Ask for fewer inputs, or draw whole functions by `sample_paths`."
        memory.require(n, n, copies=self._copies, like=Xs, what=what, remedy=remedy)

    @property
    def has_normal_noise(self) -> bool:
        """True if y is normal around f, so that a mean and a variance determine it."""
        return isinstance(self._noise, float | Gaussian)

    def _noise_var(self, method: str = "joint") -> float:
        """The variance of the noise, if it is normal."""
        noise = self._noise
        if not self.has_normal_noise:
            why = f"with noise=True it needs normal noise, and y has {type(noise).__name__}"
            raise self._cannot(method, why)
        return noise.variance if isinstance(noise, Gaussian) else cast(float, noise)

    def _chance(self, mean: Array, variance: Array) -> Array:
        """``P(y = 1)``, from the moments of f."""
        noise = self._noise
        if isinstance(noise, float):
            raise self._cannot("probability", "its y has normal noise, and is no label")
        if type(noise) is Bernoulli:  # the moments need no second look
            return noise._probability(mean, variance)
        likelihood = require(noise, "the likelihood", LabelLikelihood)
        return cast(LabelLikelihood, likelihood).probability(mean, variance)

    def _cannot(self, method: str, why: str) -> TypeError:
        return TypeError(f"{type(self).__name__}.{method}: {why}")


_NO_OFFSET = "that of a LaplaceGP, an EPGP or an SVGP of one function takes one"
_ALONE = "noise is in y, which is the sum of all parts; ask the posterior of f"


@dataclass(frozen=True, eq=False)
class PartPosterior(Posterior):
    """The posterior of a part of f, or of several; made by `Posterior.part`.

    Parameters
    ----------
    whole : Posterior
        The posterior of f.
    kernel : Kernel
        The covariance of the part before the data.
    with_mean : bool
        Whether the mean function is in it.
    """

    whole: Posterior
    kernel: Kernel
    with_mean: bool = False

    __repr__ = summary
    _copies = 4
    _lacks: ClassVar[Mapping[str, str]] = {
        **dict.fromkeys(("noise", "log_density", "probability"), _ALONE),
        "part": "it is a part already; ask the posterior of f",
    }

    def validate_inputs(self, Xs: Matrix, name: str = "Xs") -> None:
        """Raise, naming the argument, for inputs of a prediction that do not fit the data."""
        self.whole.validate_inputs(Xs, name)

    @property
    def _noise(self) -> float:
        return 0.0

    @property
    def _width(self) -> int:
        return self.whole._width

    def _moments(self, Xs: Matrix) -> tuple[Vector, Vector]:
        return self.whole._moments_of_part(self, Xs)

    def _covariance(self, Xs: Matrix) -> Matrix:
        return self.whole._covariance_of_part(self, Xs)

    def _scales(self, Xs: Matrix) -> Vector:
        return self.whole._scales(Xs)

    def mean_in(self, mean: Vector, pull: Vector) -> Vector:
        """Return the data's pull on the part, plus the mean function (n*,) where that is in it."""
        return mean + pull if self.with_mean else pull


def named(posterior: Q, columns: tuple[str, ...], known: tuple[tuple[str, str], ...] = ()) -> Q:
    """Return the posterior with the names of the columns of its data, if there are any."""
    if columns or known:
        posterior = copy(posterior)
        object.__setattr__(posterior, "columns", columns)  # it may have an `__init__` of its own
        object.__setattr__(posterior, "known_columns", known)
    return posterior


def named_as(posterior: Posterior, other: Q) -> Q:
    """Return another posterior with the names that a posterior has of the columns of its data."""
    return named(other, posterior.columns, posterior.known_columns)


def one_function_a_class(remedy: str) -> Mapping[str, str]:
    """Return why methods and options are lacking where each class has a function."""
    jointly = f"there is one function a class; {remedy}"
    noise = "a class is no number; `probability` says how likely each is"
    return {"covariance": jointly, "joint": jointly, "sample": jointly, "noise": noise}


def _joined(parts: Sequence[Vector]) -> Vector:
    """Join the results of blocks of rows, one below the other."""
    return parts[0] if len(parts) == 1 else array_namespace(parts[0]).concat(list(parts))


def require_inputs(
    Xs: Matrix, name: str, data: Matrix, of: str, kernel: Kernel | None = None
) -> None:
    """Refuse inputs (n*, d) that have not the columns or the kind of those of the data.

    Names are for errors, and the kernel may ask for more.
    """
    _check.matrix(Xs, name, columns=data.shape[1])
    _check.alike(Xs, name, data, of)
    if kernel is not None:
        kernel._validate_inputs(Xs, name)


def with_noise(f: Matrix, noise_var: Numbers, stream: Stream) -> Matrix:
    """Add normal noise to functions that were drawn, one a row: sets of y."""
    return f + noise_var**0.5 * stream.normal(f.shape, like=f)
