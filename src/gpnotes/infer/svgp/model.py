"""The parts of a sparse variational process: a process, a likelihood, inducing inputs."""

from __future__ import annotations

from dataclasses import dataclass, field

from ...ground import check as _check
from ...ground.params import fixed
from ...ground.quadrature import MOST_NODES
from ...ground.showing import summary
from ...ground.xp import Matrix, Vector
from ...model import means
from ...model.contracts import InducingVariables, Likelihood, require
from ...model.gaussian_process import GP, require_no_noise, require_zero_mean
from ...model.likelihoods.adapter import require_observable
from ...model.likelihoods.multiclass import MulticlassLikelihood, require_classes
from ..sparse.induced import Induced, validate_rows_of

__all__ = ["SVGP", "validate_rows"]


@dataclass(frozen=True, eq=False)
class SVGP(Induced):
    """A sparse variational process: a process, a likelihood of y given f, and inducing inputs.

    As a cotangent, it holds the derivatives by process, likelihood and inducing inputs.

    Parameters
    ----------
    gp : GP
        The process of f. The likelihood says how y scatters around f, so that ``gp.noise_var``
        must be zero.
    likelihood : Likelihood, RobustMax or Categorical
        The likelihood of y given f. Under `RobustMax` and `Categorical` there is one function for
        each class, all with the prior of `gp`, whose mean must be zero.
    inducing : Matrix, shape (M, d), or InducingVariables, or int
        The inducing inputs Z, other inducing variables such as `interdomain.Harmonics`, or how many
        rows of X become the inducing inputs when the model meets data, as of a `gpnotes.SparseGP`;
        a posterior keeps those that its kernel can tell apart, unless batches led to it.
    nodes : int, default 20
        The number of terms of the Gauss-Hermite sums that stand for averages over f without a
        closed form.
    inducing_columns : tuple of str, default ()
        The names of the columns of Z; those of the frame, where `inducing` is one. A frame X of
        other columns, or in another order, is then refused.

    Notes
    -----
    `gpnotes.condition` finds the q of the highest bound by natural-gradient steps on all rows;
    one is enough for a Gaussian likelihood: the posterior's `converged` is True where the
    natural gradient is as small as rounding lets it be. With ``Z = X`` and a Gaussian likelihood it
    is the exact posterior, with fewer inducing inputs the bound is that of Titsias (2009). A
    likelihood that is not log-concave may have several optima; the one found is that uphill from
    the prior. The log evidence of the verbs is that highest bound.

    Source: Hensman, Fusi & Lawrence (2013); with other likelihoods Hensman, Matthews & Ghahramani
    (2015).

    Examples
    --------
    >>> import numpy as np
    >>> from gpnotes import GP, RBF, Bernoulli
    >>> SVGP(GP(RBF(), 0.0), Bernoulli(), np.asarray([[0.0], [1.0]])).inducing.shape
    (2, 1)
    """

    gp: GP
    likelihood: Likelihood | MulticlassLikelihood
    inducing: Matrix | InducingVariables | int
    nodes: int = fixed(20)
    inducing_columns: tuple[str, ...] = field(default=(), kw_only=True, repr=False)

    __repr__ = summary

    def __post_init__(self) -> None:
        _check.instance(self.gp, "gp", GP)
        if isinstance(self.likelihood, MulticlassLikelihood):
            require_zero_mean(self.gp)
        else:
            require(self.likelihood, "likelihood", Likelihood)
        require_no_noise(self.gp)
        self._settle_inducing()
        _check.whole(self.nodes, "nodes", 2, MOST_NODES)


def validate_rows(model: SVGP, X: Matrix, y: Vector, name: str = "X") -> None:
    """Refuse rows of data that do not go with a model, by the name of the argument.

    So of shapes that do not match, entries that are not finite, and y that the likelihood refuses.
    """
    validate_rows_of(model, X, y, name)
    if isinstance(model.likelihood, MulticlassLikelihood):
        require_classes(y, model.likelihood.classes)
    else:
        require_observable(model.likelihood, y, means.with_hooks(model.gp.mean)._call(X))
