"""The posterior of a deep process, and its bound, which a fit maximises."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Generic, TypeVar

from ...ground import check as _check
from ...ground.chunks import Chunks, Data, Rows
from ...ground.class_tags import saved_as
from ...ground.conversion import takes
from ...ground.random import RNG, Stream
from ...ground.random import stream as seeded
from ...ground.threads import in_one_pool
from ...ground.xp import Matrix, MatrixLike, Vector, array_namespace, log_sum_exp
from ...model.contracts import Likelihood
from ...model.gaussian_process import differentiable_mean
from ...model.likelihoods.adapter import is_latent, require_observable, with_hooks
from ..evidence import Evidence, evidence_of
from ..posterior import Posterior, require_inputs, with_noise
from .evidence_lower_bound import (
    Posteriors,
    expected_rows,
    less_divergence,
    part_and_gradient,
    passed,
    posteriors,
    with_divergence,
)
from .model import DeepGP, validate_rows
from .noise import Noise, draw_noise, own_noise

__all__ = ["DeepPosterior"]

T = TypeVar("T")

_MIXTURE = "f is a mixture of normals, of which only single inputs are worked out; draw by `sample`"


@dataclass(frozen=True, eq=False)
class DeepPosterior(Posterior):
    """Predictions of a deep process: at each input a mixture of normals, one for each draw.

    The posterior of a `gpnotes.fit` of a `DeepGP`; make one by ``DeepPosterior(model)``.

    Parameters
    ----------
    model : DeepGP
        The layers with their q.
    num_samples : int, default 100
        The number of draws of a prediction.
    seed : int, default 1
        The seed of these draws: the same inputs get the same answers.

    Examples
    --------
    >>> import numpy as np
    >>> from gpnotes import GP, RBF, Gaussian
    >>> from gpnotes.infer import deep, svgp
    >>> top = svgp.SVGP(GP(RBF(4.0), 0.0), Gaussian(0.1), np.asarray([[0.0], [1.0]]))
    >>> model = deep.with_inner_layers(svgp.initial_posterior(top), [RBF()])
    >>> DeepPosterior(model).predict(np.asarray([[0.0], [9.0]]))
    (array([0., 0.]), array([4., 4.]))
    """

    model: DeepGP
    num_samples: int = 100
    seed: int = 1
    _lacks: ClassVar[Mapping[str, str]] = {
        "covariance": _MIXTURE,
        "joint": _MIXTURE,
        "known noise": "it takes no noise of its own for each reading",
        "chunk": "the draws of its inner layers are of all inputs together",
    }

    def __post_init__(self) -> None:
        _check.instance(self.model, "model", DeepGP)
        object.__setattr__(self, "num_samples", _check.whole(self.num_samples, "num_samples", 1))
        object.__setattr__(self, "seed", _check.whole(self.seed, "seed", 0))

    @cached_property
    def _units(self) -> Posteriors:
        return posteriors(self.model)

    def validate_inputs(self, Xs: Matrix, name: str = "Xs") -> None:
        """Raise, naming the argument, for inputs of a prediction that do not fit the layers."""
        require_inputs(Xs, name, self.model.layers[0][0].Z, "the model's Z")

    @property
    def _noise(self) -> Likelihood:
        return self.model.likelihood

    @takes("Xs")
    def components(self, Xs: MatrixLike) -> tuple[Matrix, Matrix]:
        """The means and the variances of f, one row for each draw of the inner layers.

        Parameters
        ----------
        Xs : Matrix, shape (n*, d)
            The inputs.

        Returns
        -------
        mean, variance : Matrix, shape (S, n*)
            The moments of each component; all count alike.
        """
        self.validate_inputs(Xs)
        return self._components(Xs)

    def _components(self, Xs: Matrix) -> tuple[Matrix, Matrix]:
        n, xp = Xs.shape[0], array_namespace(Xs)
        if n == 0:
            return (xp.reshape(Xs[:, 0], (1, 0)),) * 2
        noise = draw_noise(self.model, n, self.num_samples, rng=seeded(self.seed))
        found = [
            [xp.reshape(part, (-1, rows.stop - rows.start)) for part in (f.mean, f.variance)]
            for rows, f in passed(self._units, Xs, noise)
        ]
        mean, variance = (xp.concat(parts, axis=1) for parts in zip(*found, strict=True))
        return mean, variance

    def _moments(self, Xs: Matrix) -> tuple[Vector, Vector]:
        return _mixed(*self._components(Xs))

    def _predict(
        self, Xs: Matrix, noise: bool = False, chunk: int | None = None
    ) -> tuple[Vector, Vector]:
        """Those of the mixture, [eq-dg-mixture], whose parts have the noise, not their sum."""
        parts = self._components(Xs)
        return _mixed(*(self._observe(*parts) if noise else parts))

    def _blocks(self, Xs: Matrix, chunk: int | None) -> list[Matrix]:
        # each block would begin the same draws again, and a row depend on where its block starts
        return [Xs]

    def _log_density(self, Xs: Matrix, y: Vector, chunk: int | None) -> Vector:
        require_observable(self.model.likelihood, y, array_namespace(y).zeros_like(y))
        means, variances = self._components(Xs)
        xp, likelihood = array_namespace(means), with_hooks(self.model.likelihood)
        parts = xp.stack([
            likelihood._log_predictive(y, means[s, :], variances[s, :])
            for s in range(means.shape[0])
        ])  # fmt: skip
        return log_sum_exp(parts, 1.0 / parts.shape[0], axis=0)

    def _probability(
        self, Xs: Matrix, num_samples: int, rng: RNG | None, chunk: int | None
    ) -> Vector:
        parts = self._chance(*self._components(Xs))
        return array_namespace(parts).mean(parts, axis=0)

    def _sample(self, Xs: Matrix, num_samples: int, stream: Stream, noise: bool) -> Matrix:
        """Whole functions, each layer at the values of the one before: O(n*³) for each unit."""
        noise_var = self._noise_var() if noise else 0.0
        xp = array_namespace(Xs)
        functions = [self._path(Xs, stream) for _ in range(num_samples)]
        empty = xp.zeros((0, Xs.shape[0]), dtype=Xs.dtype)
        f = xp.stack(functions) if functions else empty
        return with_noise(f, noise_var, stream) if noise else f

    def _path(self, Xs: Matrix, stream: Stream) -> Vector:
        H = Xs
        for layer in self._units:
            columns = [q.sample(H, rng=stream)[0, :] for q in layer]
            H = array_namespace(Xs).stack(columns, axis=1)
        return H[:, 0]


def _mixed(means: Matrix, variances: Matrix) -> tuple[Vector, Vector]:
    """The mean of the means, and the mean of the variances plus the variance of the means."""
    xp = array_namespace(means)
    mean = xp.mean(means, axis=0)
    # about the mean: an average of squares less the square of the average would cancel
    return mean, xp.mean(variances, axis=0) + xp.mean((means - mean) ** 2, axis=0)


@saved_as("deep evidence")
@dataclass(frozen=True, eq=False)
class _Evidence(Evidence[DeepGP, DeepPosterior]):
    """The bound, with the draws that the model's seed gives: the same at each step.

    A row's draws depend on its place in its chunk, so that chunks need not know of each other.
    """

    data: Data

    def posterior(self, model: DeepGP) -> DeepPosterior:
        why = "its q are parameters: `fit` finds them, and DeepPosterior(model) takes them as given"
        raise TypeError(f"a DeepGP has no posterior in closed form; {why}")

    def fitted(self, model: DeepGP) -> DeepPosterior:
        return DeepPosterior(model)

    @in_one_pool
    def value(self, model: DeepGP) -> float:
        units = posteriors(model)
        return less_divergence(units, self.data.over(_Sum(expected_rows, model, units)))

    def require_gradient(self, model: DeepGP) -> None:
        for layer in model.layers:
            for unit in layer:
                differentiable_mean(unit.gp)

    @in_one_pool
    def value_and_gradient(self, model: DeepGP, *, quiet: bool = False) -> tuple[float, DeepGP]:
        units = posteriors(model)
        return with_divergence(model, units, self.data.over(_Sum(part_and_gradient, model, units)))


@dataclass(frozen=True, eq=False)
class _Sum(Generic[T]):
    """A sum over rows (X, y), here or elsewhere; those of chunks are checked as they come."""

    work: Callable[[DeepGP, Posteriors, Matrix, Vector, Noise, float], T]
    model: DeepGP
    units: Posteriors

    def __call__(self, X: Matrix, y: Vector) -> T:
        validate_rows(self.model, X, y)
        return self._call(X, y)

    def _call(self, X: Matrix, y: Vector) -> T:
        noise = own_noise(self.model, X.shape[0])
        return self.work(self.model, self.units, X, y, noise, 1.0)


@evidence_of.register(DeepGP)
def _evidence(model: DeepGP, data: Rows | Chunks) -> _Evidence:
    if isinstance(data, Rows):
        validate_rows(model, data.X, data.y)
    places = [
        (level, place) for level, layer in enumerate(model.layers) for place in range(len(layer))
    ]
    # noise between layers is a White in a kernel, and the likelihood has that of y
    held = tuple(f"layers.{level}.{place}.gp.noise_var" for level, place in places)
    return _Evidence(data, held=held, latent=is_latent(model.likelihood))
