"""Several classes: a function for each, all with one prior and one set of inducing variables.

Under q the functions are independent, and a likelihood of classes reads all of them at once. So
the projection ``A = L⁻¹ K_u*`` is worked out once for all classes, and each has a q(v) of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, NamedTuple, cast

from ...ground.linalg import Cholesky
from ...ground.random import RNG
from ...ground.showing import summary
from ...ground.threads import threads_for
from ...ground.xp import Matrix, Vector, array_namespace
from ...model.likelihoods.multiclass import MulticlassLikelihood, one_hot, require_classes
from ..posterior import named, one_function_a_class
from .model import SVGP
from .posterior import Variational, VariationalPosterior, projected, read_by

__all__ = ["ClassesMarginals", "ClassesPosterior", "Whitened", "classes_marginals", "whitened"]


class Whitened(NamedTuple):
    """The Gaussian ``q(v) = N(w, P⁻¹)`` of one class: P, its factor, and w."""

    precision: Matrix
    cholesky: Cholesky
    weights: Vector


@dataclass(frozen=True, eq=False)
class ClassesPosterior(Variational):
    """The Gaussian q of a function for each class, and the probabilities of the classes.

    Made by `prior`, `condition` and `fit` of an `SVGP` whose likelihood is `RobustMax` or
    `Categorical`.

    Parameters
    ----------
    model : SVGP
        The process that all functions have, the likelihood and the inducing inputs.
    inducing : Cholesky
        The factor of ``K_uu = L Lᵀ``, which serves all classes.
    whitened : tuple of Whitened
        The Gaussians of the classes.
    steps : int
        The number of natural-gradient steps since the prior.
    converged : bool
        True where `condition` found no way to raise the bound further.

    Notes
    -----
    Source: Hernández-Lobato, Hernández-Lobato & Dupont (2011) for the likelihood; Hensman,
    Matthews & Ghahramani (2015) for q.

    Examples
    --------
    >>> import numpy as np
    >>> from gpnotes import GP, RBF, RobustMax, condition
    >>> from gpnotes.infer import svgp
    >>> X, y = np.linspace(0.0, 6.0, 9)[:, None], np.repeat([0.0, 1.0, 2.0], 3)
    >>> posterior = condition(svgp.SVGP(GP(RBF(), 0.0), RobustMax(3), X), X, y)
    >>> posterior.probability(X[[0, 4, 8]]).argmax(axis=1)
    array([0, 1, 2])
    """

    model: SVGP
    inducing: Cholesky
    whitened: tuple[Whitened, ...]
    steps: int = 0
    converged: bool = False

    __repr__ = summary
    _lacks: ClassVar[Mapping[str, str]] = one_function_a_class("ask each of its `functions`")

    @property
    def functions(self) -> tuple[VariationalPosterior, ...]:
        """Each function alone, with its covariance, joint distribution and samples."""
        return tuple(named(one, self.columns) for one in self._functions)

    @cached_property
    def _functions(self) -> tuple[VariationalPosterior, ...]:
        return tuple(VariationalPosterior(self.model, self.inducing, *own) for own in self.whitened)

    @property
    def likelihood(self) -> MulticlassLikelihood:
        """The likelihood of the classes."""
        return cast(MulticlassLikelihood, self.model.likelihood)

    @property
    def kl(self) -> float:
        """The sum of the divergences of all classes in nats; O(c M³)."""
        return sum(q.kl for q in self.functions)

    @property
    def _width(self) -> int:
        return self.inducing.size

    def _moments(self, Xs: Matrix) -> tuple[Matrix, Matrix]:
        _, mean, variance = classes_marginals(self, Xs)
        return mean, variance

    def _probability(
        self, Xs: Matrix, num_samples: int, rng: RNG | None, chunk: int | None
    ) -> Matrix:
        """O(c n* M² + c² n*)."""
        return self.likelihood._probability(*self._predict(Xs, False, chunk))

    def _log_density(self, Xs: Matrix, y: Vector, chunk: int | None) -> Vector:
        require_classes(y, self.likelihood.classes)
        xp = array_namespace(Xs)
        told = one_hot(y, self.likelihood.classes)
        chance = self.likelihood._probability(*self._predict(Xs, False, chunk))
        return xp.log(xp.sum(told * chance, axis=1))


class ClassesMarginals(NamedTuple):
    """``A = L⁻¹ K_u*`` (M, m), and the moments of the functions at m inputs (m, c)."""

    A: Matrix
    mean: Matrix
    variance: Matrix


@threads_for(lambda posterior, X: len(posterior.whitened) * posterior.inducing.size**2 * X.shape[0])
def classes_marginals(posterior: ClassesPosterior, X: Matrix) -> ClassesMarginals:
    """The distribution of the functions at each of some inputs, as `marginals` has that of one."""
    xp = array_namespace(X)
    A, spare = projected(posterior, X)
    mean = xp.stack([own.weights for own in posterior.whitened], axis=0) @ A
    variance = [spare + xp.sum((q.root @ A) ** 2, axis=0) for q in posterior.functions]
    return ClassesMarginals(A, xp.matrix_transpose(mean), xp.stack(variance, axis=1))


def whitened(q: VariationalPosterior) -> Whitened:
    """The Gaussian of one class's function."""
    return Whitened(q.precision, q.cholesky, q.weights)


@read_by.register
def _(likelihood: MulticlassLikelihood, q: VariationalPosterior) -> ClassesPosterior:
    return ClassesPosterior(q.model, q.inducing, likelihood.classes * (whitened(q),))
