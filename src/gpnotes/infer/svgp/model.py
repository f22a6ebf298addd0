"""What a sparse variational process is made of: a process, a likelihood, inducing inputs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from ...ground import check as _check
from ...ground.params import fixed
from ...ground.xp import Matrix, Vector
from ...model.contracts import InducingVariables, Likelihood, require
from ...model.likelihoods import unchecked
from ...model.process import GP, validate_data
from ..interdomain import InducingPoints
from ..interdomain.points import variables_of

__all__ = ["SVGP", "validate_rows"]

_MOST_NODES = 350  # that `quadrature.gauss_hermite` has


@dataclass(frozen=True, eq=False)
class SVGP:
    """A process `gp`, a `likelihood` of y given f, inducing inputs `Z` (M, d), which are copied.

    In place of Z other `contracts.InducingVariables` will do, such as `interdomain.Harmonics`.

    The likelihood says how y scatters around f, so that ``gp.noise_var`` must be zero. Averages
    over f that have no closed form are Gauss-Hermite sums of `nodes` terms. As a cotangent, the
    derivatives by process, likelihood and Z. Raises `ValueError` or `TypeError` for parts that do
    not fit; a Z with more rows than there are data, or with equal rows, is wasteful but no error:
    the second takes the jitter that `linalg.cholesky` reports.
    Source: Hensman, Fusi & Lawrence (2013); with other likelihoods Hensman, Matthews & Ghahramani
    (2015).

    >>> import numpy as np
    >>> from gpnotes import GP, RBF, Bernoulli
    >>> SVGP(GP(RBF(), 0.0), Bernoulli(), np.asarray([[0.0], [1.0]])).Z.shape
    (2, 1)
    """

    gp: GP
    likelihood: Likelihood
    Z: Matrix | InducingVariables
    nodes: int = fixed(20)

    def __post_init__(self) -> None:
        _check.instance(self.gp, "gp", GP)
        require(self.likelihood, "likelihood", Likelihood)
        if self.gp.noise_var:
            why = "the likelihood says how y scatters around f"
            raise ValueError(f"gp.noise_var must be 0: {why}; got {self.gp.noise_var}")
        variables = variables_of(self.Z)
        if type(variables) is InducingPoints:
            object.__setattr__(self, "Z", variables.Z)
        self.gp.kernel._validate(variables.inputs, "Z")
        _check.whole(self.nodes, "nodes", 2, _MOST_NODES)

    @cached_property
    def variables(self) -> InducingVariables:
        """What f is conditioned on, which is `Z` itself or the values at its rows."""
        return variables_of(self.Z)


def validate_rows(model: SVGP, X: Matrix, y: Vector) -> None:
    """Raise, naming the argument, for rows of data that do not go with a model."""
    validate_data(model.gp, X, y)
    _check.matrix(X, "X", columns=model.variables.inputs.shape[1])
    _check.alike(X, "X", model.variables.inputs, "Z")
    mean = model.gp.mean(X)
    given = [model.likelihood.log_density(y, mean), *unchecked(model.likelihood)[1](y, mean)]
    shapes = [tuple(getattr(terms, "shape", ())) for terms in given]
    if shapes != 4 * [mean.shape]:
        wanted = f"a log density and three derivatives of shape {mean.shape}"
        raise ValueError(f"likelihood must give {wanted}; got {shapes}")
