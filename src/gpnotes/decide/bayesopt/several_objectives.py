"""Several objectives, all to be minimised: the search for their Pareto front.

Each objective has a process of its own. The next place is where the hypervolume that the front
dominates is expected to grow most.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, cast

import numpy as np

from ...ground import check as _check
from ...ground.boxes import Pairs
from ...ground.conversion import floats
from ...ground.random import RNG, stream_of
from ...ground.showing import preformatted
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
from ...infer.progress import bar_of
from .gradients import _predict_and_pullback
from .maximiser import perturbed
from .options import validated_model
from .pareto import ExpectedHypervolumeImprovement, hypervolume, pareto_front
from .pending_points import Aims, fantasise, maximise_surface
from .polytopes import LinearConstraint
from .search_region import Place, Region, fresh_places, named_settings, region_of, said
from .search_space import Space
from .surrogates import Model, dim_scaled_model
from .training_data import standardised

__all__ = ["ParetoOptimiser", "ParetoOutcome", "VectorEvaluation", "minimise_several"]

_BLIND = 10
_MARGIN = 0.1  # of the range of the front, between its worst values and the reference
_NEAR = 256  # raw points near the front, which may be a thin line in the box
_TINY = 1e-300


@dataclass(frozen=True, eq=False)
class VectorEvaluation(Generic[Place]):
    """One evaluation of several objectives.

    Parameters
    ----------
    x : HostVector, shape (d,), or dict
        The place.
    y : HostVector, shape (m,)
        The values there.
    """

    x: Place
    y: HostVector

    def __repr__(self) -> str:
        """One line."""
        return f"<VectorEvaluation: {_listed(self.y)} at {said(self.x)}>"


@dataclass(frozen=True, eq=False)
class ParetoOutcome(Generic[Place]):
    """The result of `minimise_several`; ``print`` shows the front.

    Parameters
    ----------
    front : tuple of VectorEvaluation
        The evaluations that no other dominates, by their first value.
    evaluations : tuple of VectorEvaluation
        All, in their order.
    reference : HostVector, shape (m,)
        The point below which hypervolume is measured: the one that was given, or that of
        `ParetoOptimiser`'s rule at the end.
    hypervolume : float
        What the front dominates below it.
    """

    front: tuple[VectorEvaluation[Place], ...]
    evaluations: tuple[VectorEvaluation[Place], ...]
    reference: HostVector
    hypervolume: float

    _repr_html_ = preformatted

    def __repr__(self) -> str:
        """One line."""
        many = f"{len(self.evaluations)} evaluations, {len(self.front)} on the front"
        return f"<ParetoOutcome: {many}, hypervolume {self.hypervolume:.6g}>"

    def __str__(self) -> str:
        """The page: the front, a row for each of its evaluations."""
        many = f"{len(self.evaluations)} evaluations, {len(self.front)} on the front"
        size = f"Hypervolume {self.hypervolume:.6g} below {_listed(self.reference)}"
        places = [named_settings(one.x) for one in self.front]
        names = list({name: None for place in places for name in place})
        heads = [*(f"y[{j}]" for j in range(len(self.reference))), *names]
        rows = [
            [*(f"{v:.6g}" for v in one.y), *(place.get(name, "–") for name in names)]
            for one, place in zip(self.front, places, strict=True)
        ]
        table = [heads, *rows]
        widths = [max(len(row[i]) for row in table) for i in range(len(heads))]
        lines = [
            "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip()
            for row in table
        ]
        return "\n".join([f"Search for a front: {many}", size, "", *lines])


class ParetoOptimiser(Generic[Place]):
    """Ask it where to evaluate several objectives next, and tell it what came of it.

    Parameters
    ----------
    box : d pairs of floats, or Space
        As in `Optimiser`.
    objectives : int, default 2
        How many objectives there are, 2 to 4; each is better the smaller it is.
    reference : Vector, shape (m,), optional
        Values that are good enough to count: what is worse in any is worth nothing. Unless it is
        given, in each objective the worst value of the front and a tenth of the front's range
        beyond; where the front has no range, the worst value of all evaluations.
    num_initial : int, default 2 (d + 1), at most 10
        The number of first points, of a Sobol sequence.
    model : Callable, default `dim_scaled_model`
        As in `Optimiser`, for each of the objectives, all of which it sees negated.
    linear_constraints : sequence of LinearConstraint, optional
        As in `Optimiser`.
    rng : Stream, Generator or int
        Source of all that is random, or its seed.

    Notes
    -----
    The processes are independent. A place is worth the `ExpectedHypervolumeImprovement` over the
    front of their means at the places that were evaluated, whose logarithm is climbed. It keeps no
    file, takes no failures and no measured constraints.

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
        num_initial: int | None = None,
        model: Model | None = None,
        linear_constraints: Sequence[LinearConstraint] = (),
        rng: RNG,
    ) -> None:
        self._region: Region[Place] = region_of(box, linear_constraints)
        self._stream = stream_of(rng)
        self.objectives = _check.whole(objectives, "objectives", 2, 4)
        self._reference = None if reference is None else _values(reference, "reference", objectives)
        given = min(2 * (self._region.columns + 1), _BLIND) if num_initial is None else num_initial
        self._num_initial = _check.whole(given, "num_initial", 1)
        predicting = dim_scaled_model if model is None else model
        self._model = _check.function(predicting, "model", "X, y and rng")
        self._told: list[VectorEvaluation[Place]] = []
        self._asked: list[Place] = []

    @property
    def evaluations(self) -> tuple[VectorEvaluation[Place], ...]:
        """All evaluations in their order."""
        return tuple(self._told)

    @property
    def front(self) -> tuple[VectorEvaluation[Place], ...]:
        """The evaluations that no other dominates, by their first value."""
        if not self._told:
            return ()
        chosen = pareto_front(self._readings())
        front = [one for one, best in zip(self._told, chosen, strict=True) if best]
        return tuple(sorted(front, key=lambda one: tuple(one.y)))

    @property
    def reference(self) -> HostVector:
        """The reference point, as it is given or follows from the front."""
        if self._reference is not None:
            return self._reference
        if not self._told:
            raise ValueError("reference needs an evaluation; there is none yet")
        return reference_of(self._readings())

    def outcome(self) -> ParetoOutcome[Place]:
        """Return the front so far, and what it dominates."""
        reference = self.reference
        return ParetoOutcome(
            self.front, self.evaluations, reference, hypervolume(self._readings(), reference)
        )

    def ask(self) -> Place:
        """Return where to evaluate next; it stays until something is told."""
        return cast(Place, self._region.together(self._places(1))[0])

    def ask_batch(self, q: int) -> list[Any] | HostMatrix:
        """Return q places, each as if those before had been told with the means of the models."""
        return self._region.together(self._places(_check.whole(q, "q", 1)))

    def tell(self, x: Place, y: VectorLike) -> None:
        """Tell what the objectives gave at a place.

        Parameters
        ----------
        x : Vector, shape (d,), or mapping
            The place, which need not be where it was asked for.
        y : Vector, shape (m,)
            The values, all finite.
        """
        place = self._region.validated(x, "x")
        self._told.append(VectorEvaluation(place, _values(y, "y", self.objectives)))
        self._asked = []

    def _readings(self) -> HostMatrix:
        return np.stack([one.y for one in self._told])

    def _places(self, q: int) -> list[Place]:
        if len(self._asked) < q:
            self._asked = self._next(q)
        return self._asked[:q]

    def _next(self, q: int) -> list[Place]:
        step = len(self._told)
        taken = [one.x for one in self._told]
        if step < self._num_initial:
            return fresh_places(self._region, q, step, taken, self._stream.spawn("initial"))
        units, models, centres, scales = self._fitted()
        means = np.column_stack([to_numpy(one.mean(as_array(units, one.X))) for one in models])
        reference = self._reference
        ends = (
            reference_of(-means) if reference is None else (reference - centres) / _unlike_0(scales)
        )
        worth = ExpectedHypervolumeImprovement(-means, ends)
        best = units[pareto_front(-means)]
        near = perturbed(best, _NEAR, self._stream.spawn(f"near {step}"))
        aims = Aims(self._region.lattice, self._region.room, near=near)
        points: list[HostVector] = []
        for number in range(q):
            stream = self._stream.spawn(f"climb {step} {number}")
            seen = np.stack([*units, *points])
            surface = _Growth(tuple(models), worth)
            found = maximise_surface(surface, models[0], seen, stream, aims)
            points.append(np.asarray(to_numpy(found.x), dtype=np.float64))
            models = [fantasise(one, as_array(points[-1][None, :], one.X)) for one in models]
        return self._region.places(np.stack(points))

    def _fitted(self) -> tuple[HostMatrix, list[ExactPosterior], HostVector, HostVector]:
        """Models of the negated objectives, and centres and scales of the objectives themselves."""
        units = self._region.units([one.x for one in self._told])
        parts = [standardised(-column) for column in self._readings().T]
        models = [
            validated_model(
                self._model(units, y, rng=self._stream.spawn(f"model {len(units)} {j}")), False
            )
            for j, (y, _, _) in enumerate(parts)
        ]
        centres, scales = (np.asarray([part[i] for part in parts]) for i in (1, 2))
        return units, models, -centres, scales


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
        parts = [_predict_and_pullback(one, Xs) for one in self.models]
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
        A function of a place, as in `minimise`, that returns m values, each the better the smaller.
    box, budget, progress, rng
        As in `minimise`.
    callback : callable or None, default None
        As in `minimise`, with a `VectorEvaluation`.
    **options
        Those of `ParetoOptimiser`: `objectives`, `reference`, `num_initial`, `model`,
        `linear_constraints`.

    Returns
    -------
    ParetoOutcome
        The front of the evaluations, and its hypervolume.

    Raises
    ------
    Exception
        What the objective raised: a failure ends the search.

    Notes
    -----
    The loop of `ParetoOptimiser`. To look for a large value, return its negative.

    Examples
    --------
    >>> found = minimise_several(lambda x: (x[0] ** 2, (x[0] - 1.0) ** 2), [(-1.0, 2.0)], 9, rng=1)
    >>> len(found.front) > 3, bool(found.hypervolume > 0.0)
    (True, True)
    """
    _check.function(objective, "objective", "x")
    budget = _check.whole(budget, "budget", 1)
    told = None if callback is None else _check.function(callback, "callback")
    optimiser: ParetoOptimiser[Any] = ParetoOptimiser(box, rng=rng, **options)
    bar = bar_of(budget, "search", "evaluation") if _check.flag(progress, "progress") else None
    try:
        for _ in range(budget):
            x = optimiser.ask()
            optimiser.tell(x, _returned(objective(x.copy()), x, optimiser.objectives))
            if bar is not None:
                bar.update(1)
            if told is not None and told(optimiser.evaluations[-1]):
                break
    finally:
        if bar is not None:
            bar.close()
    return optimiser.outcome()


def _returned(answer: Any, x: Any, count: int) -> HostVector:
    try:
        return _values(answer, "y", count)
    except (TypeError, ValueError):
        wanted = f"objective must return {count} finite numbers"
        raise ValueError(f"{wanted}; got {answer!r} at {said(x)}") from None


def _values(given: VectorLike, name: str, count: int) -> HostVector:
    """Return so many finite numbers as a vector on the host."""
    vector = _check.vector(floats(given, name), name, size=count)
    return to_numpy(_check.finite(vector, name)).astype(np.float64)


def _unlike_0(scales: HostVector) -> HostVector:
    return np.where(scales > 0.0, scales, 1.0)


def _listed(values: HostVector) -> str:
    return "(" + ", ".join(f"{value:.6g}" for value in values) + ")"
