"""Several objectives, all to be minimised: the search for their Pareto front.

Each objective has a process of its own. The next place is where the hypervolume that the front
dominates is expected to grow most.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Generic, NamedTuple, cast

import numpy as np

from ...ground import check as _check
from ...ground.boxes import Pairs
from ...ground.conversion import floats
from ...ground.random import RNG, stream_of
from ...ground.xp import (
    HostMatrix,
    HostVector,
    Matrix,
    Vector,
    VectorLike,
    array_namespace,
    as_array,
    to_numpy,
)
from ...infer.exact import ExactPosterior
from ...infer.input_gradients import pulled_back
from ...model.gaussian_process import differentiable_mean
from .feasibility import constraint_values, log_feasibility
from .history import FAILURES, MODELLED
from .loop import Spending, Telling
from .maximiser import Surface, SurfaceSum, perturbed
from .options import OnFailure, Places, validated_handling, validated_model
from .pareto import ExpectedHypervolumeImprovement, hypervolume, pareto_front
from .pareto_outcome import (
    ParetoOutcome,
    VectorEvaluation,
    form_of,
    record_of_vector,
)
from .pending_points import Aims, fantasise, next_point, with_failures
from .polytopes import LinearConstraint
from .search_region import Place, Region, region_of, said
from .search_space import Space
from .search_state import Course, first_points
from .settings import Record
from .surrogates import Model, dim_scaled_model
from .training_data import are_penalties, standardised

__all__ = ["ParetoOptimiser", "minimise_several"]

_MARGIN = 0.1  # of the range of the front, between its worst values and the reference
_NEAR = 256  # raw points near the front, which may be a thin line in the box
_TINY = 1e-300


class ParetoOptimiser(Generic[Place]):
    """Optimiser of several objectives: `ask` proposes an evaluation, `tell` takes its result.

    Parameters
    ----------
    box : d pairs of floats, or Space
        As in `Optimiser`.
    objectives : int, default 2
        How many objectives there are, 2 to 4; each is better the smaller it is.
    reference : Vector, shape (m,), optional
        Values that are good enough to count: a vector worse in any is worth nothing. Give it if you
        know it, since otherwise evaluations are spent on the far ends of the front. Unless it is
        given, in each objective the worst value of the front and a tenth of the front's range
        beyond; where the front has no range, the worst value of all evaluations.
    path, shared
        As in `Optimiser`. The file names the reference too.
    on_failure : {"record", "skip", "model", "stop"}, default "record"
        As in `Optimiser`, for values of which one is not finite. With ``"record"`` each model
        gets the worst value of its objective, and with ``"model"`` each expects nothing
        better there than its best.
    num_initial : int, default 2 (d + 1), at most 10
        The number of first points, of a Sobol sequence.
    initial_points, known_evaluations
        As in `Optimiser`; of `VectorEvaluation`.
    model : Callable, default `dim_scaled_model`
        As in `Optimiser`, for each of the objectives, with its sign changed.
    linear_constraints, constraint, num_constraints
        As in `Optimiser`. The front, the reference and the hypervolume are of evaluations that meet
        all constraints.
    rng : Stream, Generator or int
        Source of all that is random, or its seed.

    Notes
    -----
    The processes are independent. A place is worth the `ExpectedHypervolumeImprovement` over the
    front of their means at the places that were evaluated, whose logarithm is climbed; that of the
    probability that all measured constraints are met is added to it, and alone as long as none of
    the evaluations meets them.

    Source: Yang, Emmerich, Deutz & Bäck (2019).

    Examples
    --------
    >>> search = ParetoOptimiser([(-1.0, 2.0)], rng=1)
    >>> for _ in range(9):
    ...     x = search.ask()
    ...     search.tell(x, (x[0] ** 2, (x[0] - 1.0) ** 2))
    >>> len(search.front) > 3
    True
    """

    def __init__(
        self,
        box: Pairs | Space,
        *,
        objectives: int = 2,
        reference: VectorLike | None = None,
        path: str | os.PathLike[str] | None = None,
        shared: bool = False,
        on_failure: OnFailure = "record",
        num_initial: int | None = None,
        initial_points: Places | None = None,
        known_evaluations: Sequence[VectorEvaluation[Place]] = (),
        model: Model | None = None,
        linear_constraints: Sequence[LinearConstraint] = (),
        constraint: Callable[[Any], bool] | None = None,
        num_constraints: int = 0,
        rng: RNG,
    ) -> None:
        self._region: Region[Place] = region_of(box, linear_constraints, constraint)
        self._stream = stream_of(rng)
        self.objectives = _check.whole(objectives, "objectives", 2, 4)
        self._reference = None if reference is None else _values(reference, "reference", objectives)
        self.on_failure = _check.choice(on_failure, "on_failure", FAILURES)
        first = first_points(self._region, num_initial, initial_points)
        self.num_initial, self._initial_points = first
        self.num_constraints = _check.whole(num_constraints, "num_constraints")
        self._known = self._validated_known(known_evaluations)
        predicting = dim_scaled_model if model is None else model
        self._model = _check.function(predicting, "model", "X, y and rng")
        form = form_of(self.objectives, self.num_constraints)
        self._course: Course[Place, VectorEvaluation[Place]] = Course(
            self._region, path, shared, self._head(), form, self._known, self._next
        )

    def _validated_known(
        self, known: Sequence[VectorEvaluation[Place]]
    ) -> tuple[VectorEvaluation[Place], ...]:
        given: object = known
        if not isinstance(given, Sequence) or not all(
            isinstance(one, VectorEvaluation) for one in given
        ):
            wanted = "a sequence of VectorEvaluation"
            raise TypeError(f"known_evaluations must be {wanted}; got {_check.kind_of(given)}")
        name, found = "known_evaluations", []
        for one in known:
            y = one.y
            if not one.failure:
                y = _values(y, name, self.objectives)
                constraint_values(one.constraints, self.num_constraints)
            found.append(replace(one, x=self._region.validated(one.x, name), y=y))
        return tuple(found)

    def _head(self) -> Record:
        """Describe the problem, for the first line of the file."""
        head = {
            "history": "gpnotes.decide.bayesopt 1", "objectives": self.objectives,
            **self._region.head, "seed": self._stream.seed, "path": list(self._stream.path),
            "num_initial": self.num_initial,
        }  # fmt: skip
        optional = {
            "reference": [] if self._reference is None else self._reference.tolist(),
            "num_constraints": self.num_constraints,
            "initial_points": [self._region.record(place) for place in self._initial_points],
            "known_evaluations": [record_of_vector(one, self._region) for one in self._known],
        }
        return {**head, **{name: value for name, value in optional.items() if value}}

    @property
    def evaluations(self) -> tuple[VectorEvaluation[Place], ...]:
        """All evaluations in their order, failures included."""
        return self._course.evaluations

    @property
    def count(self) -> int:
        """The number of evaluations made, without those that stopped the loop."""
        return self._course.count

    @property
    def front(self) -> tuple[VectorEvaluation[Place], ...]:
        """The feasible evaluations that no other dominates, by their first value."""
        feasible = self._feasible()
        if not feasible:
            return ()
        chosen = pareto_front(_readings(feasible))
        front = [one for one, best in zip(feasible, chosen, strict=True) if best]
        return tuple(sorted(front, key=lambda one: tuple(one.y)))

    @property
    def reference(self) -> HostVector:
        """The reference point, as it is given or follows from the front."""
        if self._reference is not None:
            return self._reference
        feasible = self._feasible()
        if not feasible:
            raise ValueError("reference needs a feasible evaluation; there is none yet")
        return reference_of(_readings(feasible))

    def outcome(self) -> ParetoOutcome[Place]:
        """Return the front so far, with its hypervolume."""
        feasible = self._feasible()
        if not feasible:
            return ParetoOutcome((), self.evaluations, self._reference, 0.0, self.used_up)
        reference = self.reference
        volume = hypervolume(_readings(feasible), reference)
        return ParetoOutcome(self.front, self.evaluations, reference, volume, self.used_up)

    def ask(self) -> Place:
        """Return the next place to evaluate; it stays until a result comes."""
        return cast(Place, self.ask_batch(1)[0])

    def ask_batch(self, q: int, pending: Places | None = None) -> list[Any] | HostMatrix:
        """Return q places, each as if those before had the means of the models as values.

        Parameters
        ----------
        q : int
            The number of places.
        pending : Matrix, shape (k, d), or sequence of k mappings, optional
            Places that are under way: they are believed too, and not asked for again.

        Returns
        -------
        HostMatrix, shape (q, d), or list of q dicts
            The places, on the host.
        """
        return self._course.ask_batch(q, pending)

    def ask_within(self, budget: int) -> Place | None:
        """Return the next place to evaluate, or None once the budget is evaluated or under way.

        Parameters
        ----------
        budget : int
            As in `Optimiser.ask_within`.

        Returns
        -------
        Place or None
            That of `ask`, or None.
        """
        return self._course.ask_within(budget)

    @property
    def used_up(self) -> bool:
        """True once nothing is left to ask, as in `Optimiser`."""
        return self._course.is_used_up(self._stream, self._models)

    def _models(self) -> list[ExactPosterior]:
        """The models of the objectives, of all that is known."""
        counted = self._course.counted()
        modelled = [one for one in counted if one.failure in MODELLED]
        units = self._region.units([one.x for one in modelled])
        return self._fitted(modelled, units, len(counted))[0]

    def close(self) -> None:
        """End the work on a shared file: places without a result are free for others."""
        self._course.close()

    def tell(
        self, x: Place, y: VectorLike, constraints: Vector | Sequence[float] | None = None
    ) -> None:
        """Tell the values of the objectives at a place.

        Parameters
        ----------
        x : Vector, shape (d,), or mapping
            The place, which need not be where it was asked for.
        y : Vector, shape (m,)
            The values; if one is not finite, that is a failure.
        constraints : Vector, shape (k,), or k floats, optional
            As in `Optimiser.tell`, with ``num_constraints=k``.
        """
        place = self._region.validated(x, "x")
        values = _vector(y, "y", self.objectives)
        met = constraint_values(constraints, self.num_constraints)
        try:
            _check.finite(values, "y")
            if met is not None:
                _check.finite(met, "constraints")
        except ValueError as problem:
            self.fail(place, str(problem))
            if self.on_failure == "stop":
                raise
        else:
            self._course.keep(VectorEvaluation(place, values, constraints=met))

    def fail(self, x: Place, problem: str, on_failure: OnFailure | None = None) -> None:
        """Tell that the objectives had no values at a place, and why.

        Parameters
        ----------
        x, problem, on_failure
            As in `Optimiser.fail`.
        """
        failure = validated_handling(problem, on_failure, self.on_failure)
        blank = np.full(self.objectives, math.nan)
        place = self._region.validated(x, "x")
        self._course.keep(VectorEvaluation(place, blank, problem, failure))

    def _feasible(self) -> list[VectorEvaluation[Place]]:
        return [one for one in self.evaluations if one.is_feasible]

    def _next(self, q: int, pending: list[Place]) -> list[Place]:
        counted = self._course.counted()
        first, initial = (self.num_initial, self._initial_points), self._stream.spawn("initial")
        places = self._course.without_model(q, pending, first, initial)
        if len(places) < q and not all(one.failure for one in counted):
            points = self._climbed(counted, [*pending, *places], q - len(places))
            places = [*places, *self._region.places(np.reshape(points, (-1, self._region.columns)))]
        return places

    def _climbed(
        self, counted: list[VectorEvaluation[Place]], pending: list[Place], q: int
    ) -> list[HostVector]:
        """The next `q` points of the cube, where the front is expected to grow most."""
        step, under_way = len(counted), list(self._region.units(pending))
        every = self._region.units([one.x for one in counted])
        told = np.asarray([one.failure in MODELLED for one in counted])
        units, modelled = every[told], [one for one in counted if one.failure in MODELLED]
        models, centres, scales = self._fitted(modelled, units, step)
        elsewhere = self._course.elsewhere(pending, self._stream, lambda: models)
        good = np.asarray([one.is_feasible for one in modelled])
        worth = self._worth(units[good], models, centres, scales)
        failures = [one.failure for one in counted]
        models = [with_failures(one, units, every, failures) for one in models]
        near = None
        if worth is not None:
            near = perturbed(units[good][worth.best], _NEAR, self._stream.spawn(f"near {step}"))
        stream = self._stream.spawn(f"model {step}")
        odds = log_feasibility(counted, every, self._model, stream)
        aims = Aims(self._region.lattice, self._region.room, odds, near=near, elsewhere=elsewhere)
        for point in under_way:
            models = [fantasise(one, as_array(point[None, :], one.X)) for one in models]
        points: list[HostVector] = []
        for number in range(len(under_way), len(under_way) + q):
            climb = self._stream.spawn(f"climb {step} {number}")
            seen = np.stack([*every, *under_way, *points])
            surface = _surface(models, worth, odds)
            point = next_point(surface, models[0], seen, points, climb, aims)
            if point is None:
                break
            points.append(point)
            models = [fantasise(one, as_array(points[-1][None, :], one.X)) for one in models]
        return points

    def _worth(
        self,
        units: HostMatrix,
        models: list[ExactPosterior],
        centres: HostVector,
        scales: HostVector,
    ) -> _Worth | None:
        """Return the measure of growth, from the means at feasible places; None where none is."""
        if not len(units):
            return None
        means = -np.column_stack([to_numpy(one.mean(as_array(units, one.X))) for one in models])
        reference = self._reference
        ends = reference_of(means) if reference is None else (reference - centres) / scales
        return _Worth(ExpectedHypervolumeImprovement(means, ends), pareto_front(means))

    def _fitted(
        self, modelled: list[VectorEvaluation[Place]], units: HostMatrix, step: int
    ) -> tuple[list[ExactPosterior], HostVector, HostVector]:
        """Models of the negated objectives, and centres and scales of the objectives themselves."""
        columns = [np.where(are_penalties(-y), np.nan, -y) for y in _readings(modelled).T]
        parts = [standardised(column) for column in columns]
        streams = [self._stream.spawn(f"model {step} {j}") for j in range(len(parts))]
        models = [
            validated_model(self._model(units, part[0], rng=stream), False)
            for part, stream in zip(parts, streams, strict=True)
        ]
        centres, scales = (np.asarray([part[i] for part in parts]) for i in (1, 2))
        return models, -centres, np.where(scales > 0.0, scales, 1.0)


class _Worth(NamedTuple):
    """The expected growth over a front of means, and which of the feasible places make it."""

    growth: ExpectedHypervolumeImprovement
    best: HostVector


def _surface(
    models: list[ExactPosterior], worth: _Worth | None, odds: tuple[Surface, ...]
) -> Surface:
    parts = odds
    if worth is not None:
        for one in models:
            differentiable_mean(one.gp)
        parts = (_Growth(tuple(models), worth.growth), *odds)
    return SurfaceSum(parts) if len(parts) > 1 else parts[0]


def _readings(evaluations: Sequence[VectorEvaluation[Place]]) -> HostMatrix:
    return np.stack([one.y for one in evaluations])


class _Growth(NamedTuple):
    """The logarithm of the expected growth, as a surface; models are of negated objectives."""

    models: tuple[ExactPosterior, ...]
    worth: ExpectedHypervolumeImprovement

    def values(self, Xs: Matrix) -> Vector:
        xp = array_namespace(Xs)
        pairs = [one.predict(Xs) for one in self.models]
        mean = xp.stack([-mean for mean, _ in pairs], axis=1)
        variance = xp.stack([variance for _, variance in pairs], axis=1)
        return xp.log(xp.clip(self.worth(mean, variance), _TINY, None))

    def values_and_gradient(self, Xs: Matrix) -> tuple[Vector, Matrix]:
        """``∂ log E Δ / ∂x = Σⱼ (∂E Δ/∂μⱼ ∂μⱼ/∂x + ∂E Δ/∂vⱼ ∂vⱼ/∂x) / E Δ``."""
        xp = array_namespace(Xs)
        parts = [pulled_back(one, Xs) for one in self.models]
        mean = xp.stack([-mean for mean, _, _ in parts], axis=1)
        variance = xp.stack([variance for _, variance, _ in parts], axis=1)
        value, (by_mean, by_variance) = self.worth._with_derivatives(mean, variance)
        size = xp.clip(value, _TINY, None)
        slopes = [
            pull(-by_mean[:, j] / size, by_variance[:, j] / size)
            for j, (_, _, pull) in enumerate(parts)
        ]
        return xp.log(size), sum(slopes[1:], slopes[0])


def reference_of(values: HostMatrix) -> HostVector:
    """The reference point of values (n, m): a tenth of the front's range beyond its worst."""
    front = values[pareto_front(values)]
    worst, best = np.max(front, axis=0), np.min(front, axis=0)
    size = np.where(worst > best, worst - best, np.max(values, axis=0) - best)
    beyond = np.where(worst > best, worst + _MARGIN * size, best + (1.0 + _MARGIN) * size)
    return np.where(size > 0.0, beyond, best + _MARGIN * np.maximum(np.abs(best), 1.0))


def minimise_several(
    objective: Callable[[Any], VectorLike],
    box: Pairs | Space,
    budget: int,
    *,
    callback: Callable[[VectorEvaluation[Any]], bool | None] | None = None,
    progress: bool = False,
    rng: RNG,
    **options: Any,
) -> ParetoOutcome[Any]:
    """Look for the Pareto front of several objectives, with a budget of evaluations.

    Parameters
    ----------
    objective : Callable
        A function of a place, as in `minimise`, that returns m values, each the better the smaller,
        or with ``num_constraints=k`` these and the values of the constraints, (k,).
    box, budget, progress, rng
        As in `minimise`.
    callback : callable or None, default None
        As in `minimise`, with a `VectorEvaluation`.
    **options
        Those of `ParetoOptimiser`: `objectives`, `reference`, `path`, `shared`, `on_failure`,
        `num_initial`, `initial_points`, `known_evaluations`, `model`, `linear_constraints`,
        `constraint`, `num_constraints`.

    Returns
    -------
    ParetoOutcome
        The front of the evaluations, and its hypervolume.

    Raises
    ------
    Exception
        As in `minimise`.

    Notes
    -----
    The loop of `ParetoOptimiser`. To look for a large value, return its negative. Failures,
    interrupts, files and workers are as in `minimise`; gradients and another acquisition are not
    there.

    Examples
    --------
    >>> found = minimise_several(lambda x: (x[0] ** 2, (x[0] - 1.0) ** 2), [(-1.0, 2.0)], 9, rng=1)
    >>> len(found.front) > 3, bool(found.hypervolume > 0.0)
    (True, True)
    """
    told = Telling(_tell, _size)
    spend = Spending(objective, budget, callback, progress, "on_failure" in options, told)
    return spend.on(lambda: ParetoOptimiser(box, rng=rng, **options)).outcome()


def _size(optimiser: ParetoOptimiser[Any]) -> str:
    return f"{len(optimiser.front)} on the front"


def _tell(optimiser: ParetoOptimiser[Any], x: Any, answer: Any) -> None:
    """Tell the optimiser the result of the objective; one that it refuses ends the loop."""
    constrained = optimiser.num_constraints > 0
    wanted = f"{optimiser.objectives} numbers"
    wanted += f" and {optimiser.num_constraints} constraints" if constrained else ""
    try:
        y, met = answer if constrained else (answer, None)
        values = _vector(y, "y", optimiser.objectives)
        limits = constraint_values(met, optimiser.num_constraints)
    except (TypeError, ValueError):
        told = f"objective must return {wanted}; got {answer!r} at {said(x)}"
        optimiser.fail(x, told, "stop")
        raise TypeError(told) from None
    try:
        optimiser.tell(x, values, limits)
    except ValueError as problem:
        raise ValueError(f"objective, at {said(x)}: {problem}") from None


def _vector(given: VectorLike, name: str, count: int) -> HostVector:
    """Return so many numbers, which need not be finite, as a vector on the host."""
    if isinstance(given, list | tuple) and all(map(_is_real, given)):
        given = np.asarray(given, dtype=np.float64)
    vector = floats(given, name)
    _check.floating(vector, name)
    if vector.shape != (count,):
        raise ValueError(f"{name} must have shape ({count},); got {tuple(vector.shape)}")
    return to_numpy(vector).astype(np.float64)


def _values(given: VectorLike, name: str, count: int) -> HostVector:
    """Return so many finite numbers as a vector on the host."""
    return _check.finite(_vector(given, name, count), name)


def _is_real(value: object) -> bool:
    return isinstance(value, float | int | np.floating | np.integer) and type(value) is not bool
