"""A process seen through inducing variables, as a model whose parameters and inputs are fitted."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import ClassVar, cast

from ...ground import check as _check
from ...ground.chunks import Chunks, Data, Rows
from ...ground.class_tags import saved_as
from ...ground.params import cotangent, fixed
from ...ground.showing import summary
from ...ground.xp import Matrix, Vector
from ...model.contracts import InducingVariables
from ...model.gaussian_process import GP, differentiable_mean
from ...model.kernels import Kernel
from ...model.means import ConstantMean, ZeroMean
from ..evidence import Evidence, Model, evidence_of
from ..interdomain import WaveSums, wave_sums
from ..interdomain.waves import WaveVariables
from ..known_noise import noise_given
from ..sufficient_statistics import positive_noise
from .induced import Induced, told_apart, validate_rows_of, with_inducing
from .methods import MethodName, SparseMethod, method_named
from .posterior import SparsePosterior
from .projection import inducing_at
from .regression import posterior_of, value_and_gradient, value_of
from .row_sums import Sums, level_of

__all__ = ["SparseGP"]


@dataclass(frozen=True, eq=False)
class SparseGP(Induced, Model["SparseGP", SparsePosterior]):
    """A process seen through inducing variables, a model for `condition`, `log_evidence` and `fit`.

    With ``V = L_u⁻¹ K_uf``, ``Λ = diag(σ² + s g)`` of the `method` and ``B = I + V Λ⁻¹ Vᵀ``:
    ``L_u⁻¹ u | y ~ N(B⁻¹ V Λ⁻¹ r, B⁻¹)``. The log evidence is ``log N(y; m(X), Q + Λ) + T`` with
    ``Q = K_fu K_uu⁻¹ K_uf`` and the gaps ``g = diag(K_ff − Q)``. The methods are

    - ``"sor"``: subset of regressors, whose variance vanishes far from Z; ``"dtc"``: the
      same with the full variance of f; for both ``Λ = σ²I``, ``T = 0``;
    - ``"fitc"``: with the gaps as noise, ``Λ = σ²I + diag g``, ``T = 0``;
    - ``"vfe"``: Titsias' (2009) variational posterior, which is DTC's with another bound,
      ``T = −Σ gᵢ / 2σ²``, from below;
    - ``"pep"``: power EP, between VFE (``power=0``) and FITC (``power=1``), ``Λ = σ²I + p diag g``,
      ``T = −(1 − p)/2p Σ log(1 + p gᵢ/σ²)`` for the power p;
    - ``"tight"``: VFE's posterior with the tighter bound of Titsias (2025),
      ``T = −½ Σ log(1 + gᵢ/σ²)``;
    - ``"upper"``: an upper bound, ``−½ (n log 2π + log |Q + σ²I| + rᵀ(Q + (σ² + Σ gᵢ) I)⁻¹ r)``,
      which has neither a posterior nor a fit; where readings have a noise Λ of their own, the last
      term is ``rᵀ(Q + (1 + Σ gᵢ/λᵢ) Λ)⁻¹ r``.

    A fit moves parameters and inducing inputs together; its ``model`` has both. With ``"vfe"`` and
    ``"tight"`` a bound is raised, so that more freedom is never paid for with a wrong evidence;
    FITC's objective is no bound. As a cotangent, it holds the derivatives by process and inputs.

    Parameters
    ----------
    gp : GP
        The process, with a positive ``noise_var``.
    inducing : Matrix, shape (M, d), or InducingVariables, or int
        The inducing inputs Z, which are copied, or other inducing variables such as
        `interdomain.Harmonics`: K_uu and K_uf are then their covariances. Of a number so many rows
        of X, far from each other, become the inducing inputs when the model meets data; fewer
        where X has not so many different rows, and of chunks none. A posterior, of a fit too, has
        those of them that its kernel can tell apart, so that K_uu needs no jitter.
    method : str, default ``"vfe"``
        The name of a method, one of those above.
    power : float, default 0.5
        The power of ``"pep"``, from 0 to 1.
    inducing_columns : tuple of str, default ()
        The names of the columns of Z; those of the frame, where `inducing` is one. A frame X of
        other columns, or in another order, is then refused.

    Raises
    ------
    ValueError
        For a process without noise, an unknown method, a power that is not from 0 to 1, and
        inducing inputs that do not fit the kernel.

    Notes
    -----
    With M points among which are all of X, all methods but ``"sor"`` give the exact posterior.
    Points of Z that coincide change nothing but that K_uu needs jitter, with a
    ``JitterWarning``; where they nearly do, derivatives are differences of large numbers.

    An evaluation costs O(n M² + M³) time and O(M²) memory, whatever n is: rows come a few at a
    time. For NumPy arrays and an RBF or Matérn kernel SoR, DTC, VFE and the upper bound work in
    place. A fit finds the first optimum uphill, which depends on where Z starts. Through waves,
    `interdomain.Harmonics` or `interdomain.IntervalHarmonics`, with one noise for all rows and a
    mean that is the same everywhere, it goes through the readings once, `interdomain.wave_sums`,
    and an evaluation costs O(M³), as [eq-id-once] says.

    Source: Quiñonero-Candela & Rasmussen (2005) for SoR, DTC and FITC; Titsias (2009) for VFE;
    Bui, Yan & Turner (2017) for power EP; Titsias (2025) for the tighter bound; Titsias (2014) for
    the upper one; Snelson & Ghahramani (2006) and Titsias (2009) for Z as parameters.

    Examples
    --------
    >>> import numpy as np
    >>> from gpnotes import RBF, condition, fit, log_evidence
    >>> X = np.linspace(0.0, 6.0, 60)[:, None]
    >>> y, model = np.sin(X[:, 0]), SparseGP(GP(RBF(), 0.1), X[::10])
    >>> condition(model, X, y).mean([[1.5]]).round(1)
    array([1.])
    >>> fit(model, X, y, max_steps=20).log_evidence > log_evidence(model, X, y) + 50.0
    True
    >>> fit(SparseGP(GP(RBF(), 0.1), inducing=10), X, y, max_steps=20).model.inducing.shape
    (10, 1)
    """

    gp: GP
    inducing: Matrix | InducingVariables | int
    method: MethodName = fixed("vfe")
    power: float = fixed(0.5)
    inducing_columns: tuple[str, ...] = field(default=(), kw_only=True, repr=False)

    __repr__ = summary

    def __post_init__(self) -> None:
        positive_noise(_check.instance(self.gp, "gp", GP))
        method_named(self.method, self.power)
        self._settle_inducing()

    @property
    def stands_for(self) -> str:
        """The objective of a fit in the place of the evidence, in words."""
        kind = "a lower bound" if self.method in ("vfe", "tight") else "an approximation"
        return f"by {self.variables.size} inducing variables, {self.method!r}: {kind}"

    @cached_property
    def chosen(self) -> SparseMethod:
        """The method of that name."""
        return method_named(self.method, self.power)


@saved_as("sparse evidence")
@dataclass(frozen=True, eq=False)
class _Evidence(Evidence[SparseGP, SparsePosterior]):
    """The log evidence by inducing variables, or a bound on it, of rows or of chunks.

    Where inputs were `chosen` from the data, the posterior has those its kernel can tell apart.
    """

    by_reading: ClassVar[bool] = True

    data: Data | WaveSums
    chosen: bool = False

    def settled(self, model: SparseGP) -> SparseGP:
        return with_inducing(model, self.data)

    def posterior(self, model: SparseGP) -> SparsePosterior:
        if model.chosen.upper:
            raise ValueError("method must have a posterior; 'upper' is only a bound")
        return posterior_of(self._work(model), self.data)

    def value(self, model: SparseGP) -> float:
        return value_of(self._work(model), self.data)

    def require_gradient(self, model: SparseGP) -> None:
        differentiable_mean(model.gp)

    def value_and_gradient(self, model: SparseGP, *, quiet: bool = False) -> tuple[float, SparseGP]:
        value, gp_bar, Z_bar = value_and_gradient(self._work(model, quiet), self.data)
        return value, cotangent(model, gp=gp_bar, inducing=Z_bar)

    def for_fit(self, model: SparseGP) -> _Evidence:
        if model.chosen.upper:
            why = "a bound from above, which a fit would loosen"
            raise ValueError(f"method must not be 'upper', {why}")
        self.require_gradient(model)
        of_rows = isinstance(self.data, Rows | Chunks) and not self.data.knows_noise
        alone = of_rows and _needs_sums_alone(model)
        return replace(self, data=self.data.over(_Former(model.variables))) if alone else self

    def _work(self, model: SparseGP, quiet: bool = False) -> Sums:
        choose = self.chosen and not quiet
        # no warning of this jitter: the inputs that cause it are left out below
        inducing = inducing_at(model.gp, model.variables, quiet=quiet or choose)
        if choose and inducing.factor.jitter:
            model = told_apart(model, inducing.kernel, inducing.Z)
            inducing = inducing_at(model.gp, model.variables)
        noise = noise_given(model.gp, self.data)
        return Sums(model.gp, model.variables.inputs, inducing, model.chosen, noise=noise)


@evidence_of.register(SparseGP)
def _evidence(model: SparseGP, data: Rows | Chunks | WaveSums) -> _Evidence:
    if isinstance(data, WaveSums):
        _require_sums(model, data)
        return _Evidence(data)
    chosen = isinstance(model.inducing, int)
    if isinstance(data, Rows):
        validate_rows_of(model, data.X, data.y)
    return _Evidence(data, chosen)


def _require_sums(model: SparseGP, sums: WaveSums) -> None:
    """Raise unless a model needs no more of readings than sums of waves, [eq-id-once]."""
    waves = cast(
        WaveVariables[Kernel], _check.instance(model.variables, "model.inducing", WaveVariables)
    )
    sums.require_for(waves)
    if not model.chosen.constant:
        raise ValueError("method must be 'sor', 'dtc', 'vfe' or 'upper' where X is sums alone")
    level_of(model.gp)


def _needs_sums_alone(model: SparseGP) -> bool:
    """True where all evaluations of a fit are made of the same sums over the readings."""
    constant = type(model.gp.mean) in (ZeroMean, ConstantMean)
    return isinstance(model.variables, WaveVariables) and model.chosen.constant and constant


@dataclass(frozen=True, eq=False)
class _Former:
    """The pass that forms the sums, a function of rows (X, y), here or elsewhere."""

    variables: InducingVariables

    def __call__(self, X: Matrix, y: Vector) -> WaveSums:
        return wave_sums(cast(WaveVariables[Kernel], self.variables), X, y)
