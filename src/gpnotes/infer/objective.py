"""The objective of a fit, for any model: the vector of free parameters, the evidence, its gradient.

A model is a dataclass of parameters, with a room of its own that registers its evidence in
`evidence_of`. Its free parameters live on the host as one flat vector, the parameters as in
`params.flatten` and then the inputs of its inducing variables; the data stay where they are.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Generic, TypeVar, cast

import numpy as np

from ..ground import check as _check
from ..ground.ascent import Ascent, Function, ascend
from ..ground.chunks import Chunks, Data, Rows, repeatable
from ..ground.interrupts import INTERRUPTED, kept_interrupts
from ..ground.naming import path_of, require_names, without
from ..ground.params import Flattening, Parameters, names, vector_of
from ..ground.showing import preformatted, summary
from ..ground.xp import HostMatrix, HostVector, Matrix, OfEach, Table, as_array, to_numpy
from ..model.bounds import Spread, ends, limits, touched, units
from ..model.contracts import Prior
from .evidence import Evidence, Given, evidence_given, given, measured
from .fit_checks import far_from_zero
from .interdomain import WaveSums
from .posterior import Posterior, named
from .prior_terms import NamedPrior, density_and_gradient, priors_of
from .progress import ENOUGH, Enough, OnStep, Watched
from .report import FLAT_THRESHOLD, FinishedRun, Report
from .report.hyperparameters import Hyperparameter, by_entry, surveyed, with_columns, with_followers
from .run import Run
from .ties import Groups, followers, places, tied_together, ties_of

__all__ = ["Fit", "Objective", "objective_given", "objective_of"]

M = TypeVar("M", bound=Parameters)
Q = TypeVar("Q", bound=Posterior)


@dataclass(frozen=True, eq=False)
class Objective(Generic[M]):
    """The log evidence plus the log density of the priors, by the free parameters of `model`.

    Called at a vector, it gives value and gradient. Made by `objective_of`.

    Parameters
    ----------
    model : Parameters
        The model given, with its choices from the data made.
    evidence : Evidence
        Its evidence given data.
    spread : Spread
        How far the data reach.
    fixed : tuple of str
        The parameters that stay.
    priors : tuple of NamedPrior
        The priors, and the parameters that they are on.
    limits : HostMatrix, shape (p, 2)
        The limits of the parameters, as `ascent.ascend` takes them.
    ends : HostMatrix, shape (p, 2)
        The ends to which parameters are brought back, as `ascent.ascend` takes them.
    moves_inputs : bool
        The inputs of inducing variables are free too.
    level : float, default 0.0
        A constant that an ascent adds to the log evidence, so that it is of y in units of its
        standard deviation: where it stops does not depend on the unit then.
    tied : tuple of tuples of str, default ()
        Entries that are one number. The first of each is in the vector; the others follow it, and
        are named in `fixed`.
    floor : str, default ""
        The entry whose lower limit is the floor of a noise that the model leaves open.
    columns, known_columns : tuples
        The names of the columns of the data, as in `posterior.Posterior`.
    """

    model: M
    evidence: Evidence[M, Posterior]
    spread: Spread
    fixed: tuple[str, ...]
    priors: tuple[NamedPrior, ...]
    limits: HostMatrix
    ends: HostMatrix
    moves_inputs: bool
    level: float = 0.0
    tied: Groups = ()
    floor: str = ""
    columns: tuple[str, ...] = ()
    known_columns: tuple[tuple[str, str], ...] = ()

    __repr__ = summary

    @cached_property
    def units(self) -> HostVector:
        """The units in which a vector is moved; inputs in deviations of the columns of X."""
        parameters = units(self.model, self.spread, fixed=self.fixed)
        m, d = _inputs(self.model).shape if self.moves_inputs else (0, 0)
        columns = self.spread.columns
        return np.append(parameters, np.tile(columns if columns.size == d else np.ones(d), m))

    @cached_property
    def held(self) -> tuple[str, ...]:
        """The names of fixed parameters, without tied followers."""
        return without(self.fixed, followers(self.tied))

    @cached_property
    def _places(self) -> HostVector:
        """For each entry that moves, a follower too, its place in the vector."""
        return places(self.model, self.fixed, self.tied)

    @cached_property
    def _own(self) -> HostVector:
        """For each entry of the vector, its place among those that move."""
        moving = names(self.model, fixed=self.held)
        own = [moving.index(name) for name in names(self.model, fixed=self.fixed)]
        return np.asarray(own, dtype=np.int64)

    @cached_property
    def _way(self) -> Flattening[M]:
        """The ways between the model and the entries that move, followers among them."""
        return Flattening(self.model, self.held)

    def vector(self, model: M) -> HostVector:
        """Return the vector of a model's free parameters.

        Parameters
        ----------
        model : Parameters
            A model like the one given.

        Returns
        -------
        HostVector
            The parameters, and then the inputs of its inducing variables where these move.
        """
        parameters = vector_of(model, fixed=self.fixed)
        inputs = to_numpy(_inputs(model)) if self.moves_inputs else np.zeros(0)
        return np.append(parameters, inputs.astype(np.float64))

    def at(self, vector: HostVector) -> M:
        """Return the model that a vector stands for.

        Parameters
        ----------
        vector : HostVector
            The free parameters, as in `vector`.
        """
        many = len(self.limits)
        moving = vector[:many]
        model: Any = self._way.rebuild(moving[self._places] if self.tied else moving)
        if not self.moves_inputs:
            return model
        inputs = _inputs(model)
        moved = as_array(vector[many:].reshape(inputs.shape), inputs)
        return replace(model, inducing=model.variables.moved(moved))

    def __call__(self, vector: HostVector) -> tuple[float, HostVector]:
        """Return the objective and its gradient at a vector.

        Parameters
        ----------
        vector : HostVector
            The free parameters, as in `vector`.

        Returns
        -------
        value : float
            The log evidence plus the log density of the priors.
        gradient : HostVector
            Its derivatives by the vector.
        """
        here = self.at(vector)
        value, bar = self.evidence.value_and_gradient(here, quiet=True)
        values = self._way.read(here)
        chain = self._way.chain(values)
        gradient = self._gathered(bar, chain)
        if not self.priors:
            return value, gradient
        if self.tied:
            values, chain = values[self._own], chain[self._own]
        log_prior, slopes = density_and_gradient(self.priors, values)
        gradient[: slopes.size] += slopes * chain
        return value + log_prior, gradient

    def gradient(self, model: M, bar: Any) -> HostVector:
        """Return the derivatives by a model as derivatives by its vector.

        Parameters
        ----------
        model : Parameters
            The model.
        bar : Parameters
            Its cotangent.

        Returns
        -------
        HostVector
            The derivatives, in the order of the vector.
        """
        return self._gathered(bar, self._way.chain(self._way.read(model)))

    def _gathered(self, bar: Any, chain: HostVector) -> HostVector:
        """The same, by what entries that move are differentiated by those of the vector."""
        slopes = self._way.read(bar, "obj_bar") * chain
        if self.tied:  # by the chain rule a number that is several has the sum of their derivatives
            slopes = np.bincount(self._places, slopes, len(self.limits))
        return np.append(slopes, to_numpy(bar.inducing)) if self.moves_inputs else slopes

    def run(self, begin: HostVector, max_steps: int) -> Run[M]:
        """Climb from a vector and return the run.

        Parameters
        ----------
        begin : HostVector
            Where the ascent starts.
        max_steps : int
            The most steps.

        Returns
        -------
        Run
            Where it ended; a start without an evidence is reported with the model given.
        """
        return self.ended(self.climb((0, begin), max_steps))

    def climb(
        self, begin: tuple[int, HostVector], max_steps: int, hear: OnStep | None = None
    ) -> Ascent:
        """Climb from a vector, and stop where the caller has heard enough or interrupts.

        Parameters
        ----------
        begin : tuple of int and HostVector
            The number of the run, and where the ascent starts.
        max_steps : int
            The most steps.
        hear : callable or None
            It is given a `progress.FitStep` after each evaluation, and ends the run by True.

        Returns
        -------
        Ascent
            Where it ended; of one that was stopped, the best place so far.

        Raises
        ------
        KeyboardInterrupt
            If it is interrupted before it has an evidence.
        """
        number, start = begin
        # inducing inputs come after the parameters in the vector, and have neither limits nor ends
        anywhere = np.tile([-math.inf, math.inf], (start.size - len(self.limits), 1))
        limits, ends = (np.concatenate([box, anywhere]) for box in (self.limits, self.ends))
        watched = Watched(self, number, hear)
        try:
            raised = self._raised(watched)
            ascent = ascend(raised, start, limits, max_steps, ends, self.units)
            # the level was for where an ascent stops: evidences are said without it
            return ascent._replace(value=ascent.value - self.level)
        except kept_interrupts():
            if (stopped := watched.ended(INTERRUPTED)) is None:
                raise
            return stopped
        except Enough:
            return watched.ended(ENOUGH) or Ascent(start, -math.inf, 1, False, ENOUGH)

    def ended(self, ascent: Ascent) -> Run[M]:
        """Return the run that an ascent was, with its model.

        Parameters
        ----------
        ascent : Ascent
            As `climb` returns it.

        Returns
        -------
        Run
            The run; a start without an evidence is reported with the model given.
        """
        if ascent.value == -math.inf:  # what could not be built is reported with the model given
            return Run(self.model, *ascent[1:])
        end = self.at(ascent.vector)
        log_prior = self._log_prior(end)
        # the ascent climbed the sum, and a run has evidence and prior apart
        value = ascent.value - log_prior
        return Run(end, value, *ascent[2:], self.touched(end), log_prior)

    def _log_prior(self, model: M) -> float:
        if not self.priors:
            return 0.0
        values = self._way.read(model)
        return density_and_gradient(self.priors, values[self._own] if self.tied else values)[0]

    def _raised(self, function: Function) -> Function:
        """A function like this one, of y in units of its standard deviation."""

        def raised(vector: HostVector) -> tuple[float, HostVector]:
            value, slopes = function(vector)
            return value + self.level, slopes

        return raised if self.level else function

    @property
    def box(self) -> HostMatrix:
        """The box, (p, 2), in which the parameters stay."""
        return np.where(np.isfinite(self.limits), self.limits, self.ends)

    def touched(self, model: M) -> tuple[str, ...]:
        """Return the names of the parameters of a model that lie on a side of the box.

        Parameters
        ----------
        model : Parameters
            The model.
        """
        return touched(model, vector_of(model, fixed=self.fixed), self.box, fixed=self.fixed)

    def report(self, run: Run[M]) -> tuple[tuple[Hyperparameter, ...], float]:
        """Return the hyperparameters where a run ended, and how much higher a top may be.

        Parameters
        ----------
        run : Run
            The run. Inputs of its inducing variables are held as they are, and so are the
            parameters of a q that its model names as ``variational``.

        Returns
        -------
        hyperparameters : tuple of Hyperparameter
            The free parameters, with their errors.
        gain : float
            The rise from the end to the top of a parabola through it.
        """
        given = self._of_hyperparameters(run.model)
        rows = set(names(run.model, fixed=given.fixed))
        touched = tuple(name for name in run.at_bounds if name in rows)
        found, gain = surveyed(given, run.model, self.spread, given.fixed, touched, given.box)
        return with_followers(
            found, names(run.model, fixed=given.held), followers(given.tied)
        ), gain

    def _of_hyperparameters(self, model: M) -> Objective[M]:
        """The objective at a model, with its inducing inputs held, and a q that it has inside."""
        inside = tuple(getattr(model, "variational", ()))
        entries = [name.partition("[")[0] for name in names(model, fixed=self.fixed)]
        kept = np.asarray([entry not in inside for entry in entries], dtype=bool)
        held = (*self.fixed, *(name for name in inside if name in entries))
        return replace(
            self, model=model, fixed=held, limits=self.limits[kept], ends=self.ends[kept],
            moves_inputs=False, tied=tuple(t for t in self.tied if path_of(t[0]) not in inside),
        )  # fmt: skip


def objective_of(
    model: M,
    X: Table | Data | WaveSums,
    y: Table | None = None,
    *,
    noise_var: OfEach | None = None,
    weights: OfEach | None = None,
    offset: OfEach | None = None,
    fixed: Collection[str] = (),
    bounds: Mapping[str, tuple[float | None, float | None]] | None = None,
    priors: Mapping[str, Prior] | None = None,
    tied: Iterable[Iterable[str]] = (),
) -> Objective[M]:
    """Return the objective of a fit of a model to data.

    Parameters
    ----------
    model : Parameters
        The model, with an evidence.
    X : Matrix, shape (n, d), Rows, Chunks or WaveSums
        The inputs, or what stands in the place of X and y; chunks that can be gone through more
        than once.
    y, noise_var, weights, offset : Vector, shape (n,), or None, or str but for y
        As in `gpnotes.fit`.
    fixed : collection of str, default ()
        The parameters that stay, as in `gpnotes.fit`.
    bounds : mapping from str to pairs of float, or None
        Limits of parameters and entries by name, as in `gpnotes.fit`.
    priors : mapping from str to Prior, or None
        Priors on parameters and entries by name, as in `gpnotes.fit`.
    tied : iterable of groups of str, default ()
        The names of parameters that are one number, as in `gpnotes.fit`.

    Returns
    -------
    Objective
        The log evidence plus the log density of the priors.

    Raises
    ------
    TypeError
        If an argument is of the wrong kind, or the model has no evidence of such data.

    Examples
    --------
    >>> from gpnotes import GP, RBF, LogNormalPrior, samplers
    >>> X = np.linspace(0.0, 3.0, 8)[:, None]
    >>> priors = {"kernel.lengthscale": LogNormalPrior(0.0, 1.0)}
    >>> held = ["kernel.variance", "noise_var"]
    >>> target = objective_of(GP(RBF(), 0.1), X, np.sin(X[:, 0]), fixed=held, priors=priors)
    >>> samplers.sample(target, samplers.NUTS(), num_chains=2, num_samples=50, rng=0)
    <Chains: 2 of 50 draws of 1 numbers>
    """
    rows = _rows_of(X, y)
    told = Given(model, rows) if rows else given(model, cast(Any, X), y, noise_var, weights, offset)
    model, data, columns, known = told
    if isinstance(data, Chunks):
        repeatable(data.chunks)
    evidence = evidence_given(model, data)
    names = {"fixed": fixed, "bounds": bounds, "priors": priors, "tied": tied}
    chosen = by_entry(lambda: evidence.settled(model), columns, **names)
    found = objective_given(model, evidence, measured(data, evidence), **chosen)
    return replace(found, columns=columns, known_columns=known)


def objective_given(
    model: M,
    evidence: Evidence[M, Posterior],
    of: Spread,
    fixed: Collection[str],
    bounds: Mapping[str, tuple[float | None, float | None]] | None,
    priors: Mapping[str, Prior] | None,
    tied: Iterable[Iterable[str]] = (),
) -> Objective[M]:
    """Return `objective_of`, by the evidence of the model and the spread of the data."""
    model = evidence.settled(model)
    moves = hasattr(model, "variables")
    # inducing inputs are no leaf of the model, and are held below by not being moved
    held = tuple(name for name in require_names(fixed) if not (moves and name == "inducing"))
    held = (*held, *evidence.held)
    groups = ties_of(tied, model, held)
    model = tied_together(model, groups)
    evidence = evidence.for_fit(model)
    instead = followers(groups)
    held = (*held, *instead)
    box = limits(model, bounds, fixed=held, tied=instead)
    return Objective(
        model, evidence, of, held, priors_of(priors, model, held, instead),
        _above(box, names(model, fixed=held), evidence.least(model)), ends(model, of, fixed=held),
        moves and "inducing" not in fixed and math.prod(_inputs(model).shape) > 0, tied=groups,
    )  # fmt: skip


def _above(box: HostMatrix, entries: list[str], least: Mapping[str, float]) -> HostMatrix:
    """The limits, with lower ends where there is no value below, unless all lie there."""
    ends = {name: math.log(least[path_of(name)]) for name in entries if path_of(name) in least}
    low = np.asarray([ends.get(name, -math.inf) for name in entries], dtype=np.float64)
    raised = np.maximum(box[:, 0], low)
    return np.column_stack([np.where(raised < box[:, 1], raised, box[:, 0]), box[:, 1]])


def _rows_of(X: object, y: object) -> Rows | None:
    """X, if it is rows that are ready, which hold y."""
    if isinstance(X, tuple) and len(X) == 2 and y is None:
        wanted = "a matrix, with y beside it: objective_of(model, X, y), or Rows(X, y)"
        raise TypeError(f"X must be {wanted}; got a tuple of two")
    if not isinstance(X, Rows):
        return None
    if y is not None:
        raise TypeError(f"y must be None where X is Rows, which hold it; got {_check.kind_of(y)}")
    return X


@dataclass(frozen=True, repr=False)
class Fit(Generic[M, Q]):
    """All runs of a fit, best first: the model that was found, its evidence, its posterior.

    Printed, it is its `report`, a page; the data are kept for that and for the posterior, not
    copied.

    Parameters
    ----------
    runs : tuple of Run
        The runs, best first.
    objective : Objective or None
        The objective, which keeps the data.
    known : Posterior or None
        The posterior, where the way to the model led through it.
    columns : tuple of str, default ()
        The names of the columns of X, where it was a frame.
    remarks : tuple of str, default ()
        Remarks on its noise.
    known_columns : tuple of pairs of str, default ()
        Known values of each reading by the name of a column, as in `posterior.Posterior`.
    """

    runs: tuple[Run[M], ...]
    objective: Objective[M] | None = field(default=None, compare=False)
    known: Q | None = field(default=None, compare=False)
    columns: tuple[str, ...] = field(default=(), compare=False)
    remarks: tuple[str, ...] = field(default=(), compare=False)
    known_columns: tuple[tuple[str, str], ...] = field(default=(), compare=False)

    @property
    def model(self) -> M:
        """The best model found."""
        return self.runs[0].model

    @property
    def log_evidence(self) -> float:
        """Its log evidence, or its substitute."""
        return self.runs[0].log_evidence

    @cached_property
    def posterior(self) -> Q:
        """The best model given the data, worked out when it is first asked for.

        A fit that has kept neither its data nor a posterior has none: a `ValueError`.
        """
        known = self.known
        known = cast(Q, self._kept().evidence.fitted(self.model)) if known is None else known
        return named(known, self.columns, self.known_columns)

    @property
    def agreeing(self) -> int:
        """The number of runs that ended within 0.1 of the best objective; one of many warns."""
        return sum(self.runs[0].objective - run.objective < FLAT_THRESHOLD for run in self.runs)

    def report(self, run: int = 0) -> Report:
        """Report how well the readings determine the hyperparameters where a run ended.

        Parameters
        ----------
        run : int, default 0
            The number of the run, 0 being the best.

        Returns
        -------
        Report
            A page to be printed; worked out when it is first asked for.

        Raises
        ------
        ValueError
            If there is no run of that number, the run has failed, or the fit has not kept its
            data.

        Notes
        -----
        Standard errors are from the curvature there, `report.curvature.survey`: twice as many
        evaluations of the evidence as there are parameters, and some more for each that is not
        determined. The uncertainty of inducing inputs is left out.

        Examples
        --------
        >>> from gpnotes import GP, RBF, fit, stream
        >>> X = np.linspace(0.0, 9.0, 30)[:, None]
        >>> found = fit(GP(RBF(), 0.1), X, np.sin(X[:, 0]) + 0.1 * stream(1).normal(30))
        >>> found.report().undetermined()
        ()
        """
        run = _check.whole(run, "run", 0, len(self.runs) - 1)
        if run not in self._pages:
            self._pages[run] = self._page(run)
        return self._pages[run]

    @cached_property
    def _pages(self) -> dict[int, Report]:
        """The pages that were asked for, by the number of the run."""
        return {}

    def _page(self, run: int) -> Report:
        chosen = self.runs[run]
        if chosen.log_evidence == -math.inf:
            raise ValueError(f"run must be one that did not fail; got {run}: {chosen.message}")
        objective = self._kept()
        rows, gain = objective.report(chosen)
        rows = with_columns(rows, chosen.model, self.columns)
        numbers = chosen.log_evidence, chosen.log_prior, gain
        runs = tuple(_ended(one) for one in self.runs)
        of = objective.spread
        instead = getattr(chosen.model, "stands_for", "")
        away = far_from_zero(chosen.model, of)
        said = self.remarks if run == 0 else ()
        return Report(of.count, rows, *numbers, runs, run, of.constant, instead, away, said)

    def _kept(self) -> Objective[M]:
        if self.objective is None:
            raise ValueError("found must be a fit that `fit` made, which keeps its readings")
        return self.objective

    _repr_html_ = preformatted

    def __repr__(self) -> str:
        """One line; ``print`` gives the page."""
        many = len(self.runs)
        agree = f", {self.agreeing} of {many} runs agree" if many > 1 else ""
        return f"<Fit: log evidence {self.log_evidence:.1f}{agree}>"

    def __str__(self) -> str:
        """The report of the best run, or one line where the readings were not kept."""
        return repr(self) if self.objective is None else str(self.report())


def _ended(run: Run[M]) -> FinishedRun:
    return FinishedRun(run.objective, run.evaluations, run.converged, run.at_bounds)


def _inputs(model: Any) -> Matrix:
    """The inputs of the inducing variables, (m, d)."""
    return model.variables.inputs
