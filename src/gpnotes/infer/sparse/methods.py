"""The sparse approximations: three numbers tell them apart, and whether the bound is from above.

With ``Q = K_fu K_uu⁻¹ K_uf`` and the gaps ``gᵢ = k(xᵢ, xᵢ) − Qᵢᵢ`` every method but the upper
bound is ``log N(y; m, Q + diag(σ² + s g)) − (c / 2a) Σ log(1 + a gᵢ/σ²)``, where the last term is
``−(c / 2σ²) Σ gᵢ`` for a = 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from ...ground import check as _check
from ...ground.xp import Numbers, Vector, array_namespace

__all__ = ["MethodName", "SparseMethod", "method_named"]

MethodName = Literal["sor", "dtc", "fitc", "vfe", "pep", "tight", "upper"]


@dataclass(frozen=True)
class SparseMethod:
    """A sparse approximation, identified by three numbers; made by `method_named`.

    Parameters
    ----------
    share : float
        The share s of the gaps that counts as noise.
    penalty : float
        The factor c of the correction.
    bend : float
        The number a of the correction.
    upper : bool, default False
        True for the upper bound, which has its own formula.
    degenerate : bool, default False
        True where predictions are those of the subset of regressors, without the variance that Z
        leaves.
    """

    share: float
    penalty: float
    bend: float
    upper: bool = False
    degenerate: bool = False

    @property
    def constant(self) -> bool:
        """True where all rows have one noise, and one derivative by their gap."""
        return self.share == 0.0 and (self.bend == 0.0 or self.penalty == 0.0)

    def noise(self, gap: Vector, noise_var: Numbers) -> Vector:
        """The noise of each row, ``λ = σ² + s g``.

        Parameters
        ----------
        gap : Vector, shape (n,)
            The gaps g.
        noise_var : float or Vector, shape (n,)
            σ², or that of each row.
        """
        return noise_var + self.share * gap

    def correction(self, gap: Vector, noise_var: Numbers) -> float:
        """The term that corrects the evidence, ``−(c / 2a) Σ log(1 + a gᵢ/σ²)``.

        Parameters
        ----------
        gap, noise_var
            As in `noise`.

        Returns
        -------
        float
            The term, ``−(c / 2σ²) Σ gᵢ`` for a = 0.
        """
        xp = array_namespace(gap)
        # the limit of log(1 + a g/σ²)/a as a goes to zero
        if self.bend == 0.0:
            if isinstance(noise_var, float):
                return -0.5 * self.penalty * float(xp.sum(gap)) / noise_var
            return -0.5 * self.penalty * float(xp.sum(gap / noise_var))
        logs = float(xp.sum(xp.log1p(self.bend * gap / noise_var)))
        return -0.5 * self.penalty / self.bend * logs

    def correction_bars(self, gap: Vector, noise_var: Numbers) -> tuple[Vector, Vector]:
        """The derivatives of `correction`, which has the same arguments.

        Returns
        -------
        gap_bar : Vector, shape (n,)
            The derivatives by the gaps.
        noise_bar : Vector, shape (n,)
            The term of each row in the derivative by σ².
        """
        # the correction depends on g/σ² alone: by σ² it has −g/σ² times the slope by g
        gap_bar = -0.5 * self.penalty / (noise_var + self.bend * gap)
        return gap_bar, -gap_bar * gap / noise_var


_METHODS = {
    "sor": SparseMethod(0.0, 0.0, 0.0, degenerate=True),
    "dtc": SparseMethod(0.0, 0.0, 0.0),
    "fitc": SparseMethod(1.0, 0.0, 0.0),
    "vfe": SparseMethod(0.0, 1.0, 0.0),
    "tight": SparseMethod(0.0, 1.0, 1.0),
    "upper": SparseMethod(0.0, 0.0, 0.0, upper=True),
}


def method_named(name: MethodName, power: float = 0.5) -> SparseMethod:
    """Look up a sparse approximation by its name.

    Parameters
    ----------
    name : str
        One of ``"sor"``, ``"dtc"``, ``"fitc"``, ``"vfe"``, ``"pep"``, ``"tight"`` and ``"upper"``.
    power : float, default 0.5
        The power of ``"pep"``, power EP, from 0 (VFE) to 1 (FITC).

    Examples
    --------
    >>> method_named("pep", 0.25)
    SparseMethod(share=0.25, penalty=0.75, bend=0.25, upper=False, degenerate=False)
    """
    _check.choice(name, "method", get_args(MethodName))
    power = _check.number(power, "power")
    if not 0.0 <= power <= 1.0:
        raise ValueError(f"power must be from 0 to 1; got {power}")
    return SparseMethod(power, 1.0 - power, power) if name == "pep" else _METHODS[name]
