"""A process seen through features, as a model whose hyperparameters are fitted."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from ...ground import check as _check
from ...ground import memory
from ...ground.chunks import Chunks, Data, Rows
from ...ground.class_tags import saved_as
from ...ground.params import cotangent, leaves
from ...model.bounds import spread
from ...model.gaussian_process import GP, differentiable_mean, validate_data
from ...model.means import ConstantMean, ZeroMean
from ..evidence import Evidence, Model, evidence_of
from ..known_noise import noise_given
from ..sufficient_statistics import Statistics, positive_noise
from .box_sines import BoxSines
from .feature_map import FeatureMap
from .posterior import FeaturePosterior
from .regression import posterior_of, value_and_gradient
from .row_sums import Sums
from .sine_sums import Former, SineSums

__all__ = ["FeatureGP"]


@dataclass(frozen=True, eq=False)
class FeatureGP(Model["FeatureGP", FeaturePosterior]):
    """A process seen through features, a model for `condition`, `log_evidence` and `fit`.

    ``w | y ~ N(B⁻¹Φᵀr / σ², B⁻¹)`` with ``B = I + ΦᵀΦ / σ²`` and ``r = y − m(X)``, and the log
    evidence is ``log N(y; m(X), ΦΦᵀ + σ²I)``. Frequencies stay as they were drawn, and so does the
    α of a `RationalQuadratic`; sines stay in their box. As a cotangent, it holds the derivatives by
    the process.

    Parameters
    ----------
    gp : GP
        The process, with a positive ``noise_var``.
    frequencies : FeatureMap
        `Frequencies`, drawn for a kernel of the same terms, or `BoxSines`.

    Raises
    ------
    ValueError
        For a process without noise.

    Notes
    -----
    O(n R² + R³) time, and O(R²) memory, whatever n is: Φ is made a few rows at a time. Sums over
    rows are kept in float64 where the device has it. For the gradient, ``Φ_bar = α wᵀ − Φ B⁻¹/σ²``
    with ``α = (r − Φ w)/σ²`` is carried back through the cosines in a second pass. Through sines,
    whose heights alone the hyperparameters move, a fit with one mean for all goes through the
    readings once, and an evaluation costs O(R³).

    Source: Rasmussen & Williams (2006), equations 2.8 and 5.8, with the features of Rahimi & Recht
    (2007) or of Solin & Särkkä (2020).

    Examples
    --------
    >>> import numpy as np
    >>> from gpnotes import RBF, fit, stream
    >>> from gpnotes.infer import features
    >>> X = np.linspace(0.0, 3.0, 30)[:, None]
    >>> frequencies = features.draw_frequencies(RBF(), X, 50, rng=stream(1))
    >>> found = fit(FeatureGP(GP(RBF(), 0.1), frequencies), X, np.sin(X[:, 0]), max_steps=20)
    >>> bool(found.model.gp.noise_var < 0.01)
    True
    """

    gp: GP
    frequencies: FeatureMap

    def __post_init__(self) -> None:
        _check.instance(self.frequencies, "frequencies", FeatureMap)
        positive_noise(_check.instance(self.gp, "gp", GP))
        if not self.gp.kernel.seeks_columns:
            self.frequencies.validate_kernel(self.gp.kernel)

    @property
    def stands_for(self) -> str:
        """The objective of a fit in the place of the evidence, in words."""
        return f"by {self.frequencies.size} {self.frequencies.name}: an approximation"


@saved_as("feature evidence")
@dataclass(frozen=True, eq=False)
class _Evidence(Evidence[FeatureGP, FeaturePosterior]):
    """The log evidence by features, of rows or of chunks."""

    by_reading: ClassVar[bool] = True

    data: Data | SineSums

    def posterior(self, model: FeatureGP) -> FeaturePosterior:
        return posterior_of(self._work(model), self.data)

    def value(self, model: FeatureGP) -> float:
        statistics: Statistics = self.data.over(self._work(model)).warned()
        return statistics.log_evidence

    def require_gradient(self, model: FeatureGP) -> None:
        differentiable_mean(model.gp)

    def value_and_gradient(
        self, model: FeatureGP, *, quiet: bool = False
    ) -> tuple[float, FeatureGP]:
        value, gp_bar = value_and_gradient(self._work(model), self.data)
        return value, cotangent(model, gp=gp_bar)

    def for_fit(self, model: FeatureGP) -> _Evidence:
        self.require_gradient(model)
        # of exactly these classes: a mean that varies along X is in no sum that is formed once
        sines, level = model.frequencies, type(model.gp.mean) in (ZeroMean, ConstantMean)
        of_rows = isinstance(self.data, Rows | Chunks) and not self.data.knows_noise
        if not (of_rows and isinstance(sines, BoxSines) and level):
            return self
        # about the mean of y: sums of squares about zero cancel where y lies far from it
        centre = float(self.data.over(spread).mean[-1])
        return replace(self, data=self.data.over(Former(model.gp, sines, centre)))

    def _work(self, model: FeatureGP) -> Sums:
        return Sums(model.gp, model.frequencies, noise_given(model.gp, self.data))


@evidence_of.register(FeatureGP)
def _evidence(model: FeatureGP, data: Rows | Chunks) -> _Evidence:
    size, like = model.frequencies.size, model.frequencies.like
    what, remedy = "the normal matrix of the features", "Use fewer features or float32."
    memory.require(size, size, copies=2, like=like, what=what, remedy=remedy)
    if isinstance(data, Rows):
        validate_data(model.gp, data.X, data.y, columns=model.frequencies.like.shape[1])
        model.frequencies.require_match(model.gp.kernel, data.X)
    drawn_for = [leaf.path for leaf in leaves(model) if leaf.path.endswith(".alpha")]
    return _Evidence(data, held=tuple(drawn_for))
