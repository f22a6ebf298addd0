"""Fitting hyperparameters and inducing points at once: an evidence, maximised by both."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np

from ...ground import check as _check
from ...ground.ascent import Function, ascend
from ...ground.linalg import warn_of_jitter
from ...ground.params import flatten, flatten_gradient
from ...ground.threads import in_one_pool
from ...ground.xp import HostMatrix, HostVector, Matrix, Vector, as_array, to_numpy
from ...model.bounds import ends, limits, touched
from ...model.contracts import InducingVariables
from ...model.process import GP, differentiable_mean
from ..interdomain.points import variables_of
from ..report import Ended, Report
from ..report.hyperparameters import surveyed
from .inducing import inducing_at
from .methods import Method, MethodName, method_named
from .regression import log_evidence, quiet_gradient

__all__ = ["Fit", "fit"]


@dataclass(frozen=True, eq=False)
class _Problem:
    """What a fit maximises, by what is free in a process like `gp`, for a `report`."""

    gp: GP
    X: Matrix
    y: Vector
    method: Method
    fixed: tuple[str, ...]
    box: HostMatrix

    def objective(self, variables: InducingVariables) -> Function:
        """Value and gradient at a vector of `params.flatten`, by these inducing variables."""
        _, rebuild = flatten(self.gp, fixed=self.fixed)

        def evaluated(vector: HostVector) -> tuple[float, HostVector]:
            """Jitter on the way is not worth a warning."""
            here = rebuild(vector)
            value, gp_bar, _ = quiet_gradient(here, variables, self.X, self.y, self.method)
            return value, flatten_gradient(here, gp_bar, fixed=self.fixed)

        return evaluated


@dataclass(frozen=True, eq=False, repr=False)
class Fit:
    """Where an ascent ended: the process, the inducing points and their evidence by the method.

    Printed, it is its `report`, a page; X and y are kept for that, not copied.
    `Z` is as it was given: an array of other points (M, d), or other inducing variables. After
    `evaluations` of value and gradient the optimiser said `message`; `at_bounds` names the
    parameters that ended on one of their bounds, by `params.names`.
    """

    gp: GP
    Z: Matrix | InducingVariables
    log_evidence: float
    evaluations: int
    converged: bool
    message: str
    at_bounds: tuple[str, ...] = ()
    _problem: _Problem | None = None

    def report(self) -> Report:
        """How well the readings determine the hyperparameters, given the inducing variables.

        As `gpnotes.infer.fitting.Fit.report`, with twice as many evaluations as there are
        parameters of gp and some more for each that is not determined; what Z leaves open is not
        looked at.
        """
        if self._problem is None:
            raise ValueError("found must be a fit that `fit` made, which keeps its readings")
        problem = self._problem
        objective = problem.objective(variables_of(self.Z))
        at_bounds = self.at_bounds
        fixed, box = problem.fixed, problem.box
        rows, gain = surveyed(objective, self.gp, problem.y, fixed, at_bounds, box)
        runs = (Ended(self.log_evidence, self.evaluations, self.converged, at_bounds),)
        return Report(problem.y.shape[0], rows, self.log_evidence, 0.0, gain, runs)

    def __repr__(self) -> str:
        """One line; ``print`` gives the page."""
        return f"<Fit: log evidence {self.log_evidence:.1f} by inducing variables>"

    def __str__(self) -> str:
        """The report, or one line where the readings were not kept."""
        return str(self.report()) if self._problem is not None else repr(self)


@in_one_pool
def fit(
    gp: GP,
    Z: Matrix | InducingVariables,
    X: Matrix,
    y: Vector,
    *,
    method: MethodName = "vfe",
    power: float = 0.5,
    bounds: Mapping[str, tuple[float, float]] | None = None,
    fixed: Collection[str] = (),
    steps: int = 200,
) -> Fit:
    """Maximise `log_evidence` of y (n,) at X (n, d) over the parameters of `gp` and over Z (M, d).

    L-BFGS on logarithms of what is positive, and on Z in units of the standard deviation of each
    column of X; an evaluation costs what `log_evidence_and_gradient` costs, O(n M² + M³). `fixed`
    names what stays, as in `gpnotes.fit`, and ``"Z"`` for the inducing points; ``("kernel",
    "noise_var", "mean")`` moves Z alone. `bounds` limit parameters by name, in their own units;
    Z has none. Other inducing variables move with their `inputs`.

    With ``"vfe"`` and ``"tight"`` a bound is raised, so that more freedom is never paid for with a
    wrong evidence; what FITC maximises is no bound, and the upper bound would only be made worse
    by a rise: ``"upper"`` is refused. The first optimum uphill is found, which depends on where Z
    starts. Raises what `log_evidence` raises, `ValueError` where the start has no evidence, and
    `TypeError` or `ValueError` for bounds, names and numbers that do not fit.
    Source: Snelson & Ghahramani (2006) and Titsias (2009) for Z as parameters.

    >>> from gpnotes import RBF
    >>> X = np.linspace(0.0, 6.0, 60)[:, None]
    >>> y, start = np.sin(X[:, 0]), GP(RBF(), 0.1)
    >>> found = fit(start, X[:5], X, y, steps=20)
    >>> found.log_evidence > log_evidence(start, X[:5], X, y) + 100.0
    True
    """
    if method == "upper":
        raise ValueError("method must not be 'upper', a bound from above, which a fit would loosen")
    log_evidence(gp, Z, X, y, method=method, power=power)
    differentiable_mean(gp)
    steps = _check.whole(steps, "steps", 1)
    free = _Free(gp, Z, X, y, fixed, bounds)
    chosen = method_named(method, power)

    def evidence(vector: HostVector) -> tuple[float, HostVector]:
        """The value and its gradient; jitter on the way is not worth a warning."""
        here, variables = free.at(vector)
        value, gp_bar, Z_bar = quiet_gradient(here, variables, X, y, chosen)
        return value, free.gradient(here, gp_bar, Z_bar)

    ascent = ascend(evidence, free.start, free.limits, steps, free.ends)
    if ascent.value == -math.inf:
        raise ValueError(f"y must have an evidence under gp and Z; it has {ascent.message}")
    end, variables = free.at(ascent.vector)
    jitter = inducing_at(end, variables, quiet=True).factor.jitter
    warn_of_jitter(jitter, f"K_uu of {end.kernel!r}")
    problem = _Problem(gp, X, y, chosen, free.fixed, free.box)
    return Fit(end, free.like_given(variables), *ascent[1:], free.touched(ascent.vector), problem)


class _Free:
    """What is fitted as one flat vector on the host: the parameters of gp, then steps of Z."""

    def __init__(
        self,
        gp: GP,
        Z: Matrix | InducingVariables,
        X: Matrix,
        y: Vector,
        fixed: Collection[str],
        bounds: Mapping[str, tuple[float, float]] | None,
    ) -> None:
        if isinstance(fixed, str) or not isinstance(fixed, Collection):
            raise TypeError(f"fixed must be a collection of names; got {fixed!r}")
        self._gp = gp
        self._given = Z
        self._variables = variables_of(Z)
        self.fixed = tuple(name for name in fixed if name != "Z")
        parameters, self._rebuild = flatten(gp, fixed=self.fixed)
        self._count = parameters.size
        self.box, reach = limits(gp, bounds, fixed=self.fixed), ends(gp, X, y, fixed=self.fixed)
        self._units = self._step(X)
        moving = 0 if "Z" in fixed else math.prod(self._variables.inputs.shape)
        anywhere = np.tile([-math.inf, math.inf], (moving, 1))
        self.start = np.concatenate([parameters, np.zeros(moving)])
        self.limits: HostMatrix = np.concatenate([self.box, anywhere])
        self.ends: HostMatrix = np.concatenate([reach, anywhere])
        self.box = np.where(np.isfinite(self.box), self.box, reach)

    def _step(self, X: Matrix) -> HostVector:
        """The standard deviation of each column of X; one where it is zero, or where the inputs of
        the variables are no points of that space."""
        widths = np.std(np.asarray(to_numpy(X), dtype=np.float64), axis=0)
        widths = np.where(widths > 0.0, widths, 1.0)
        columns = self._variables.inputs.shape[1]
        return widths if columns == widths.size else np.ones(columns)

    def at(self, vector: HostVector) -> tuple[GP, InducingVariables]:
        """The process and the inducing variables that a vector stands for."""
        gp = self._rebuild(vector[: self._count])
        if vector.size == self._count:
            return gp, self._variables
        inputs = self._variables.inputs
        steps = self._units * vector[self._count :].reshape(inputs.shape)
        return gp, self._variables.moved(inputs + as_array(steps, inputs))

    def gradient(self, gp: GP, gp_bar: GP, Z_bar: Matrix) -> HostVector:
        """The derivatives by the vector."""
        parameters = flatten_gradient(gp, gp_bar, fixed=self.fixed)
        if self.start.size == self._count:
            return parameters
        return np.concatenate([parameters, np.ravel(self._units * to_numpy(Z_bar))])

    def like_given(self, variables: InducingVariables) -> Matrix | InducingVariables:
        """An array again, where an array was given."""
        return variables if self._given is self._variables else variables.inputs

    def touched(self, vector: HostVector) -> tuple[str, ...]:
        """The names of parameters of gp that lie on a bound."""
        return touched(self._gp, vector[: self._count], self.box, fixed=self.fixed)
