"""A process seen through inducing variables, as a model whose parameters and inputs are fitted."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, cast

from ...ground import check as _check
from ...ground.chunks import Chunks, Data, Rows
from ...ground.params import cotangent, fixed
from ...ground.saved import saved_as
from ...ground.showing import summary
from ...ground.xp import Matrix, Vector
from ...model.contracts import InducingVariables
from ...model.gaussian_process import GP, differentiable_mean, validate_data
from ...model.means import ConstantMean, ZeroMean
from ..evidence import Evidence, evidence_of
from ..interdomain import InducingPoints, WaveSums, wave_sums
from ..interdomain.point_functionals import variables_of
from ..interdomain.waves import WaveVariables
from ..sufficient_statistics import positive_noise
from .methods import Method, MethodName, method_named
from .on_sums import require_sums
from .posterior import SparsePosterior
from .projection import inducing_at
from .regression import posterior_of, value_and_gradient, value_of
from .streaming import Sums

__all__ = ["SparseGP"]


@dataclass(frozen=True, eq=False)
class SparseGP:
    """A process seen through inducing variables, the model that `gpnotes.fit` takes to fit them.

    Parameters and inducing inputs move together, by the evidence of a `method` of `condition`.
    With ``"vfe"`` and ``"tight"`` a bound is raised, so that more freedom is never paid for with a
    wrong evidence; what FITC maximises is no bound. As a cotangent, it holds the derivatives by
    process and inputs.

    Parameters
    ----------
    gp : GP
        The process, with a positive ``noise_var``.
    Z : Matrix, shape (M, d), or InducingVariables
        The inducing inputs, which are copied, or other inducing variables.
    method : str, default ``"vfe"``
        A method of `condition`. ``"upper"`` is refused: a fit would only make an upper bound
        worse.
    power : float, default 0.5
        The power of ``"pep"``, from 0 to 1.

    Raises
    ------
    ValueError
        For a process without noise, an unknown method or ``"upper"``, a power that is not from 0
        to 1, and inducing inputs that do not fit the kernel.

    Notes
    -----
    The first optimum uphill is found, which depends on where Z starts. An evaluation costs
    O(n M² + M³). Through waves, `interdomain.Harmonics` or `interdomain.IntervalHarmonics`, with
    one noise for all rows and a mean that is the same everywhere, the readings are gone through
    once, `interdomain.wave_sums`, and an evaluation costs O(M³).

    Source: Snelson & Ghahramani (2006) and Titsias (2009) for Z as parameters.

    Examples
    --------
    >>> import numpy as np
    >>> from gpnotes import RBF, fit
    >>> from gpnotes.infer.sparse import log_evidence
    >>> X = np.linspace(0.0, 6.0, 60)[:, None]
    >>> y, start = np.sin(X[:, 0]), GP(RBF(), 0.1)
    >>> found = fit(SparseGP(start, X[:5]), X, y, steps=20)
    >>> found.log_evidence > log_evidence(start, X[:5], X, y) + 100.0
    True
    """

    gp: GP
    Z: Matrix | InducingVariables
    method: MethodName = fixed("vfe")
    power: float = fixed(0.5)

    __repr__ = summary

    def __post_init__(self) -> None:
        positive_noise(_check.instance(self.gp, "gp", GP))
        method_named(self.method, self.power)
        variables = variables_of(self.Z)
        if type(variables) is InducingPoints:
            object.__setattr__(self, "Z", variables.Z)
        self.gp.kernel._validate_inputs(variables.inputs, "Z")

    @cached_property
    def variables(self) -> InducingVariables:
        """The variables that f is conditioned on, `Z` itself or the values at its rows."""
        return variables_of(self.Z)

    @property
    def stands_for(self) -> str:
        """What a fit maximises in the place of the evidence, in words."""
        kind = "a lower bound" if self.method in ("vfe", "tight") else "an approximation"
        return f"by {self.variables.size} inducing variables, {self.method!r}: {kind}"

    @cached_property
    def chosen(self) -> Method:
        """The method of that name."""
        return method_named(self.method, self.power)


@saved_as("sparse evidence")
@dataclass(frozen=True, eq=False)
class _Evidence(Evidence[SparseGP, SparsePosterior]):
    """The log evidence by inducing variables, or a bound on it, of rows or of chunks."""

    data: Data | WaveSums

    def posterior(self, model: SparseGP) -> SparsePosterior:
        if model.chosen.upper:
            raise ValueError("method must have a posterior; 'upper' is but a bound")
        return posterior_of(_work(model), self.data)

    def value(self, model: SparseGP) -> float:
        return value_of(_work(model), self.data)

    def require_gradient(self, model: SparseGP) -> None:
        differentiable_mean(model.gp)

    def value_and_gradient(self, model: SparseGP, *, quiet: bool = False) -> tuple[float, SparseGP]:
        value, gp_bar, Z_bar = value_and_gradient(_work(model, quiet), self.data)
        return value, cotangent(model, gp=gp_bar, Z=Z_bar)

    def for_fit(self, model: SparseGP) -> _Evidence:
        if model.chosen.upper:
            why = "a bound from above, which a fit would loosen"
            raise ValueError(f"method must not be 'upper', {why}")
        self.require_gradient(model)
        alone = isinstance(self.data, Rows | Chunks) and _needs_sums_alone(model)
        return replace(self, data=self.data.over(_Former(model.variables))) if alone else self


def _work(model: SparseGP, quiet: bool = False) -> Sums:
    inducing = inducing_at(model.gp, model.variables, quiet=quiet)
    return Sums(model.gp, model.variables.inputs, inducing, model.chosen)


@evidence_of.register(SparseGP)
def _evidence(model: SparseGP, data: Rows | Chunks | WaveSums) -> _Evidence:
    if isinstance(data, WaveSums):
        require_sums(model.gp, model.variables, model.chosen, data)
        return _Evidence(data)
    if isinstance(data, Rows):
        Z = model.variables.inputs
        validate_data(model.gp, data.X, data.y, columns=Z.shape[1])
        _check.alike(data.X, "X", Z, "Z")
    return _Evidence(data)


def _needs_sums_alone(model: SparseGP) -> bool:
    """True where all evaluations of a fit are made of the same sums over the readings."""
    constant = type(model.gp.mean) in (ZeroMean, ConstantMean)
    return isinstance(model.variables, WaveVariables) and model.chosen.constant and constant


@dataclass(frozen=True, eq=False)
class _Former:
    """The pass that forms the sums, a function of rows (X, y), here or elsewhere."""

    variables: InducingVariables

    def __call__(self, X: Matrix, y: Vector) -> WaveSums:
        return wave_sums(cast(WaveVariables[Any], self.variables), X, y)
