"""The optimiser, with ask and tell: it proposes evaluations, and receives their results.

Where to evaluate next, at one point or at several, depends on the box, the stream's seed and the
evaluations so far, and on nothing else: neither on earlier draws nor on models fitted
before. So a loop that is killed and started again from its file goes on to the points that it
would have come to anyway.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Generic, Unpack, cast, overload

import numpy as np

from ...ground import check as _check
from ...ground.boxes import Pairs
from ...ground.random import RNG, stream_of
from ...ground.xp import HostMatrix, HostVector, Matrix, Numbers, Vector, as_array, to_numpy
from ...infer.exact import ExactPosterior
from .acquisition import LogExpectedImprovement
from .feasibility import constraint_values, log_feasibility, validate_odds
from .history import FAILURES, MODELLED, NUMBERS, Evaluation, record_of
from .noisy_improvement import NoisyExpectedImprovement
from .options import (
    Goal,
    OnFailure,
    Options,
    Places,
    validated_acquisition,
    validated_handling,
    validated_known,
    validated_model,
    validated_slope,
)
from .pending_points import (
    AcquisitionOf,
    Aims,
    as_rows,
    choose_batch,
    with_failures,
)
from .polytopes import LinearConstraint
from .recommendation import Recommendation
from .search_region import Place, Region, region_of
from .search_space import Point, Setting, Space
from .search_state import Course, first_points
from .settings import Record
from .surrogates import Model, models_of
from .thompson_sampling import ThompsonSampling
from .training_data import TrainingData, rows_and_values, unwarped

__all__ = ["Optimiser", "Recommendation"]

_SIGNS = {"minimise": -1.0, "maximise": 1.0}
_FEW = 2  # inputs: up to so many, draws are ahead under noise


class Optimiser(Generic[Place]):
    """Bayesian optimiser: `ask` proposes the next evaluation, `tell` takes its result.

    Parameters
    ----------
    box : d pairs of floats, or Space
        The ends (lower, upper) of each input; or a `Space` of named ones, whose places are dicts
        wherever those of a box are vectors.
    goal : {"minimise", "maximise"}, default "minimise"
        The least value is looked for, or the largest.
    path : path of a file, optional
        Where evaluations are kept: every one is in the file before `tell` returns, and an
        optimiser made anew with the same arguments and file goes on from there, to the same
        points. The file names box, goal, seed, `num_initial`, and `gradients` if it is set, and is
        refused with others; `model` and `acquisition` it cannot name.
    shared : bool, default False
        If True, several processes work on the file of `path` at the same time, each with an
        optimiser made like this one. A place of `ask` stands in the file until its result comes,
        and others take it for under way; if this process ends before, it is asked for again.
    on_failure : {"record", "skip", "model", "stop"}, default "record"
        The handling of a value or a gradient that is not finite, which is kept in the history too:

        - ``"record"``: the model gets the worst value seen there, so that it stays away;
        - ``"skip"``: the model gets no value, but to `fantasise` its own, so that it has no
          reason to ask for the same point again; the next one is of the Sobol sequence;
        - ``"model"``: a process learns where there is a value, and the worth of an evaluation is
          multiplied by the probability that it has one, or by its 16th power if that is below a
          half; where it failed, the model of values expects nothing better than the best;
        - ``"stop"``: `tell` raises `ValueError`, and the point is asked for again.
    num_initial : int, default 2 (d + 1), at most 10
        The number of first points, which are of a Sobol sequence. Each later one is where the
        acquisition is largest under a model of all evaluations.
    initial_points : Matrix, shape (k, d), or sequence of mappings, optional
        Points to begin with, as those that one would try by hand. They count among the
        `num_initial` ones.
    known_evaluations : sequence of Evaluation, optional
        Evaluations of the same objective that were made elsewhere, as in another search. They
        count among the `num_initial` ones too, stand at the head of `evaluations`, and are no part
        of `count`.
    model : Callable, default `dim_scaled_model`
        A function of inputs in the unit cube (n, d), values of mean zero and deviation one, the
        larger the better, and ``rng=``, a stream; it returns an `ExactPosterior`. If it is left
        out, places among less than ten inputs, where a category has one for each choice, are
        chosen by a `dim_scaled_model` of values compressed by a logarithm below the median,
        or, in a `Space` with categories, count by their ranks alone.
        `predict` is of the values as they are, and so are the models of measured constraints;
        `recommend` is by the model that chooses, whose better half is in the unit of the values.
    acquisition : Callable, ThompsonSampling, NoisyExpectedImprovement or BatchExpectedImprovement
        A function of the best value, the largest mean at a point that was evaluated, that returns
        an acquisition. If it is left out, it is `LogExpectedImprovement`; but under noise it is
        `NoisyExpectedImprovement`, or with one or two inputs `ThompsonSampling` from 4 (d + 1)
        evaluations on, unless a `model` is given, there are `gradients` or constraints that are
        measured, or evaluations failed.
    gradients : bool, default False
        If True, it takes gradients besides values, at all points or at some. Then inputs of
        the model are rows (n, d + 1) that end in a label, as `kernels.WithGradients` takes them,
        gradients are by the unit cube's inputs and in the unit of the values, and the model is
        `fitted_with_gradients` unless it is given. `ThompsonSampling` cannot draw from such a
        model.
    linear_constraints : sequence of LinearConstraint, optional
        Linear constraints on the inputs. The search stays within; a place outside is refused
        wherever one is given, as one outside the box is. The file names them.
    constraint : callable, optional
        A function of a place that returns True where one may evaluate: a constraint of any form
        that is known and costs nothing, such as ``lambda x: x[0] ** 2 + x[1] <= 3.0``. It is called
        thousands of times a step. The search stays where it is True; a place elsewhere is refused.
        The file cannot name it.
    num_constraints : int, default 0
        The number of constraints measured with the objective, each met where its value
        is at most zero. Each has a process of its own, as `model` makes it; the worth of an
        evaluation is multiplied by the probability that all are met, and as long as none met them
        that probability alone decides (Gardner et al., 2014). Not with `gradients`.
    rng : Stream, Generator or int
        Source of all that is random, or its seed.

    Notes
    -----
    Where readings have no noise, no place is asked for twice: the next best place to which a climb
    led is taken, or the next of the Sobol sequence. Places count as one if no input differs by a
    millionth of its range. Readings have no noise if none came out otherwise when it was repeated,
    and two came out the same or the model takes at most a hundredth of the variance of the values
    for noise.

    Values that stand for failures, such as 1e300, count for the models as the worst of the
    others, if they are beyond a gap: at least 1e9 times as far from the best as the last value
    before it, and 1e6 times as large.

    Raises
    ------
    ValueError
        If `box` is not finite intervals, a word is none of those above, `num_initial` is below one,
        a point is not in the box, the file holds another history, or `acquisition` is a
        `ThompsonSampling` or `box` a `Space` with gradients.

    Examples
    --------
    >>> from gpnotes import stream
    >>> optimiser = Optimiser([(-1.0, 2.0)], rng=stream(1))
    >>> for _ in range(9):
    ...     x = optimiser.ask()
    ...     optimiser.tell(x, (x[0] - 0.5) ** 2)
    >>> bool(abs(optimiser.best.x[0] - 0.5) < 0.1)
    True
    """

    @overload
    def __init__(
        self: Optimiser[Point], box: Space, *, rng: RNG, **options: Unpack[Options]
    ) -> None: ...

    @overload
    def __init__(
        self: Optimiser[HostVector], box: Pairs, *, rng: RNG, **options: Unpack[Options]
    ) -> None: ...

    def __init__(
        self,
        box: Pairs | Space,
        *,
        goal: Goal = "minimise",
        path: str | os.PathLike[str] | None = None,
        shared: bool = False,
        on_failure: OnFailure = "record",
        num_initial: int | None = None,
        initial_points: Places | None = None,
        known_evaluations: Sequence[Evaluation[Place]] = (),
        model: Model | None = None,
        acquisition: AcquisitionOf | None = None,
        gradients: bool = False,
        linear_constraints: Sequence[LinearConstraint] = (),
        constraint: Callable[[Any], bool] | None = None,
        num_constraints: int = 0,
        rng: RNG,
    ) -> None:
        self._region: Region[Place] = region_of(box, linear_constraints, constraint)
        self._stream = stream_of(rng)
        self.goal: Goal = cast("Goal", _check.choice(goal, "goal", _SIGNS))
        self._sign = _SIGNS[goal]
        self.on_failure = _check.choice(on_failure, "on_failure", FAILURES)
        first = first_points(self._region, num_initial, initial_points)
        self.num_initial, self._initial_points = first
        self.num_constraints = _check.whole(num_constraints, "num_constraints")
        known = validated_known(known_evaluations, self.num_constraints)
        self._known = tuple(
            replace(e, x=self._region.validated(e.x, "known_evaluations")) for e in known
        )
        self.gradients = _check.flag(gradients, "gradients")
        if self.gradients and isinstance(box, Space):
            raise ValueError("gradients must be False where box is a Space")
        self._model, self._search_model = models_of(model, box, gradients)
        score = LogExpectedImprovement if acquisition is None else acquisition
        self._acquisition = validated_acquisition(score, self.gradients)
        self._follows_noise = acquisition is None and model is None and not self.gradients
        if self.num_constraints and self.gradients:
            raise ValueError("num_constraints must be 0 with gradients=True")
        if self.num_constraints or on_failure == "model":
            validate_odds(
                score, "num_constraints" if self.num_constraints else "on_failure='model'"
            )
        self._course: Course[Place, Evaluation[Place]] = Course(
            self._region, path, shared, self._head(), NUMBERS, self._known, self._next
        )

    def _head(self) -> Record:
        """Describe the problem, for the first line of the file."""
        head = {
            "history": "gpnotes.decide.bayesopt 1", "goal": self.goal, **self._region.head,
            "seed": self._stream.seed, "path": list(self._stream.path),
            "num_initial": self.num_initial,
        }  # fmt: skip
        optional = {
            "gradients": self.gradients,
            "num_constraints": self.num_constraints,
            "initial_points": [self._region.record(place) for place in self._initial_points],
            "known_evaluations": [
                record_of(evaluation, self._region) for evaluation in self._known
            ],
        }
        return {**head, **{name: value for name, value in optional.items() if value}}

    @property
    def region(self) -> Region[Place]:
        """Where it searches, over the unit cube."""
        return self._region

    @property
    def evaluations(self) -> tuple[Evaluation[Place], ...]:
        """All evaluations in their order, failures included."""
        return self._course.evaluations

    @property
    def count(self) -> int:
        """The number of evaluations made, without those that stopped the loop."""
        return self._course.count

    @property
    def best(self) -> Evaluation[Place] | None:
        """The feasible evaluation with the best value, the first of equals; None before there is.

        Where readings have noise it is the luckiest of them; `recommend` follows the model.
        """
        feasible = [evaluation for evaluation in self.evaluations if evaluation.is_feasible]
        return max(feasible, key=lambda evaluation: self._sign * evaluation.y, default=None)

    def recommend(self) -> Recommendation[Place] | None:
        """Return the feasible place with the best posterior mean, of those that were evaluated.

        Returns
        -------
        Recommendation or None
            The place, and the model's belief about the objective there. Without noise it is all
            but `best`. None before there is a feasible value.

        Examples
        --------
        >>> from gpnotes import stream
        >>> noise = stream(1)
        >>> optimiser = Optimiser([(-1.0, 2.0)], rng=1)
        >>> for _ in range(12):
        ...     x = optimiser.ask()
        ...     optimiser.tell(x, x[0] ** 2 + 0.3 * float(noise.normal()))
        >>> found = optimiser.recommend()
        >>> optimiser.best.y < -0.1, abs(found.mean) < 2.0 * found.sd
        (True, True)
        """
        feasible = [evaluation for evaluation in self._counted() if evaluation.is_feasible]
        if not feasible:
            return None
        units = self._region.units([evaluation.x for evaluation in feasible])
        warps = not self.num_constraints  # the best that is feasible may be below the median
        mean, sd = self._predict(units, self._search_model if warps else self._model)
        i = int(np.argmax(self._sign * mean))
        x = cast(Place, self._region.together([feasible[i].x])[0])
        p_feasible = float(self._odds(units[i : i + 1])[0]) if self.num_constraints else 1.0
        return Recommendation(x, float(mean[i]), float(sd[i]), p_feasible)

    def feasibility(self, x: Places) -> HostVector:
        """Return the probabilities that evaluations at some places would count.

        Parameters
        ----------
        x : Matrix, shape (n, d), or sequence of n mappings
            The places.

        Returns
        -------
        HostVector, shape (n,)
            The probabilities that all constraints are met, times that of a value if evaluations
            failed with ``on_failure="model"``; ones where neither is modelled.
        """
        return self._odds(self._region.units(self._region.all_validated(x, "x")))

    def _odds(self, units: HostMatrix) -> HostVector:
        parts = self._aims(self._counted(), doubt=False).odds
        return np.exp(sum((to_numpy(part.values(units)) for part in parts), np.zeros(len(units))))

    def _aims(self, counted: list[Evaluation[Place]], doubt: bool = True) -> Aims:
        """Return the region of the next points, and the odds that their evaluations count."""
        units = self._region.units([e.x for e in counted])
        stream = self._stream.spawn(f"model {len(counted)}")
        odds = log_feasibility(counted, units, self._model, stream, doubt)
        good = units[[e.is_feasible for e in counted]] if self.num_constraints else None
        return Aims(self._region.lattice, self._region.room, odds, good)

    def predict(self, x: Places) -> tuple[HostVector, HostVector]:
        """Predict the mean and the variance of the objective at some places.

        Parameters
        ----------
        x : Matrix, shape (n, d), or sequence of n mappings
            The places.

        Returns
        -------
        mean : HostVector, shape (n,)
            The means, in the unit of the objective, by the model of all evaluations.
        variance : HostVector, shape (n,)
            The variances, without the noise of a reading; of values near 1e200 they are infinite.
        """
        places = self._region.all_validated(x, "x")
        if all(evaluation.failure for evaluation in self.evaluations):
            raise ValueError("predict needs an evaluation with a value; there is none yet")
        mean, sd = self._predict(self._region.units(places))
        with np.errstate(over="ignore"):
            return mean, sd * sd

    def _predict(
        self, units: HostMatrix, model: Model | None = None
    ) -> tuple[HostVector, HostVector]:
        """Means and standard deviations, which are finite, at rows (n, columns) of the cube."""
        counted = self._counted()
        modelled = [evaluation for evaluation in counted if evaluation.failure in MODELLED]
        posterior, data = self._fitted(modelled, len(counted), model or self._model)
        if model is not None and model is not self._model:
            data = unwarped(data, to_numpy(posterior.y))
        mean, variance = posterior.predict(as_rows(posterior, as_array(units, posterior.X)))
        sd = np.sqrt(to_numpy(variance).astype(np.float64)) * data.unit
        return self._sign * (data.centre + data.unit * to_numpy(mean)), sd

    def ask(self) -> Place:
        """Return the next place to evaluate, on the host; it stays until a result comes."""
        return cast(Place, self.ask_batch(1)[0])

    @overload
    def ask_batch(
        self: Optimiser[Point], q: int, pending: Sequence[Mapping[str, Setting]] | None = None
    ) -> list[Point]: ...

    @overload
    def ask_batch(
        self: Optimiser[HostVector], q: int, pending: Matrix | None = None
    ) -> HostMatrix: ...

    @overload
    def ask_batch(self, q: int, pending: Places | None = None) -> list[Point] | HostMatrix: ...

    def ask_batch(self, q: int, pending: Places | None = None) -> list[Point] | HostMatrix:
        """Return q points at which to evaluate next; the same again until a result comes.

        The first is that of `ask`, and each further one that of `ask` after those before had
        come with the mean of the model as their value, as `fantasise` does it; the model is fitted
        once. `NoisyExpectedImprovement` and `BatchExpectedImprovement` ask what a point adds to
        those before.

        Parameters
        ----------
        q : int
            The number of points.
        pending : Matrix, shape (k, d), or sequence of k mappings, optional
            Points that are under way, when one asks again before all of them are back: they are
            believed too, and not asked for again. They are no evaluations, and no file holds them:
            after a kill they are asked for anew.

        Returns
        -------
        HostMatrix, shape (q, d), or list of q dicts
            The points, on the host. Their results are told one by one, in any order, and each
            may fail.

        Notes
        -----
        Where readings have no noise, no point comes twice, nor one that was evaluated, until all
        settings of a space are known. Under noise two draws of a `ThompsonSampling` may be largest
        at one place, and an acquisition for which variance is worth nothing asks for one point q
        times. Before `num_initial` evaluations are known all are of the Sobol sequence.

        Source: Ginsbourger, Le Riche & Carraro (2010).

        Examples
        --------
        >>> from gpnotes import stream
        >>> optimiser = Optimiser([(-1.0, 2.0)], rng=stream(1))
        >>> for _ in range(3):
        ...     for x in optimiser.ask_batch(4):
        ...         optimiser.tell(x, (x[0] - 0.5) ** 2)
        >>> bool(abs(optimiser.best.x[0] - 0.5) < 0.1)
        True
        """
        return self._course.ask_batch(q, pending)

    def ask_within(self, budget: int) -> Place | None:
        """Return the next place to evaluate, or None once the budget is evaluated or under way.

        Parameters
        ----------
        budget : int
            The number of evaluations that all workers on the file of a shared optimiser make.

        Returns
        -------
        Place or None
            That of `ask`. After None the search has ended if `count` has come to the budget, or if
            it is `used_up`; otherwise others are at work on the rest, and one may ask again: if
            one of them ends without telling, its place is free.
        """
        return self._course.ask_within(budget)

    @property
    def used_up(self) -> bool:
        """True once nothing is left to ask, as all settings are known and readings repeat.

        A reading that was repeated has shown it, with the same value or none; or none has one. A
        space with more than 65 536 settings, or with a real input, is never used up. `ask` goes on
        all the same, with places that were evaluated.
        """
        return self._course.is_used_up(self._stream, self._models)

    def _models(self) -> list[ExactPosterior]:
        """The model that chooses, of all that is known."""
        counted = self._counted()
        modelled = [evaluation for evaluation in counted if evaluation.failure in MODELLED]
        return [self._fitted(modelled, len(counted), self._search_model)[0]]

    def close(self) -> None:
        """End the work on a shared file: places without a result are free for others."""
        self._course.close()

    def tell(
        self,
        x: Place,
        y: Numbers,
        gradient: Vector | None = None,
        constraints: Vector | Sequence[float] | None = None,
    ) -> None:
        """Tell the value of the objective at a place.

        Parameters
        ----------
        x : Vector, shape (d,), or mapping
            The place, which need not be where it was asked for.
        y : float
            The value there; NaN or infinity is a failure.
        gradient : Vector, shape (d,), optional
            Its derivatives by x, for an optimiser made with ``gradients=True``. One that holds NaN
            or infinity is a failure.
        constraints : Vector, shape (k,), or k floats, optional
            The values of the constraints there, for an optimiser made with ``num_constraints=k``:
            at most zero where one is met. If one is not finite, that is a failure.

        Examples
        --------
        >>> from gpnotes import stream
        >>> optimiser = Optimiser([(-1.0, 2.0)], num_initial=2, gradients=True, rng=stream(1))
        >>> for _ in range(4):
        ...     x = optimiser.ask()
        ...     optimiser.tell(x, (x[0] - 0.5) ** 2, 2.0 * (x - 0.5))
        >>> bool(abs(optimiser.best.x[0] - 0.5) < 0.1)
        True
        """
        place = self._region.validated(x, "x")
        slope = validated_slope(gradient, self.gradients, self._region.columns)
        met = constraint_values(constraints, self.num_constraints)
        try:
            value = _check.number(y, "y")
            if slope is not None:
                _check.finite(slope, "gradient")
            if met is not None:
                _check.finite(met, "constraints")
        except ValueError as problem:
            self.fail(place, str(problem))
            if self.on_failure == "stop":
                raise
        else:
            self._course.keep(Evaluation(place, value, gradient=slope, constraints=met))

    def fail(self, x: Place, problem: str, on_failure: OnFailure | None = None) -> None:
        """Tell that the objective had no value at a place, and why.

        Parameters
        ----------
        x : Vector, shape (d,), or mapping
            The place.
        problem : str
            The problem.
        on_failure : {"record", "skip", "model", "stop"}, optional
            Its handling; by default that of the optimiser. The failure itself raises nothing.
        """
        failure = validated_handling(problem, on_failure, self.on_failure)
        if failure == "model":
            validate_odds(self._acquisition, "on_failure='model'")
        self._course.keep(Evaluation(self._region.validated(x, "x"), math.nan, problem, failure))

    def _counted(self) -> list[Evaluation[Place]]:
        return self._course.counted()

    def _next(self, q: int, pending: list[Place]) -> list[Place]:
        """The next `q` points, while others are `pending`."""
        counted = self._counted()
        # What is drawn from depends on the number of evaluations and on nothing that was drawn
        # before, so that a search that was killed goes on to the points that it would have come to.
        step = len(counted)
        first, initial = (self.num_initial, self._initial_points), self._stream.spawn("initial")
        places = self._course.without_model(q, pending, first, initial)
        if len(places) < q and not all(evaluation.failure for evaluation in counted):
            modelled = [evaluation for evaluation in counted if evaluation.failure in MODELLED]
            fitted, _ = self._fitted(modelled, step, self._search_model)
            on_way = [*pending, *places]
            elsewhere = self._course.elsewhere(on_way, self._stream, lambda: [fitted])
            X, every = (self._region.units([e.x for e in each]) for each in (modelled, counted))
            posterior = with_failures(fitted, X, every, [e.failure for e in counted])
            under_way = list(self._region.units(on_way))
            stream = self._stream.spawn(f"climb {step}")
            aims = self._aims(counted)._replace(elsewhere=elsewhere)
            more = q - len(places), stream, aims
            rule = self._rule(counted, aims)
            points = choose_batch(posterior, rule, X, under_way, *more)
            places = [*places, *self._region.places(np.reshape(points, (-1, self._region.columns)))]
        return places

    def _rule(self, counted: list[Evaluation[Place]], aims: Aims) -> AcquisitionOf:
        """Return what chooses: under noise another rule, by the number of inputs.

        No draws after few values, and neither after a failure: these look like noise.
        """
        noisy = self._follows_noise and aims.elsewhere is None and not aims.odds
        if not noisy or any(evaluation.failure for evaluation in counted):
            return self._acquisition
        columns = self._region.columns
        if columns > _FEW:
            return NoisyExpectedImprovement()
        return ThompsonSampling() if len(counted) >= 4 * (columns + 1) else self._acquisition

    def _fitted(
        self, evaluations: list[Evaluation[Place]], step: int, model: Model
    ) -> tuple[ExactPosterior, TrainingData]:
        """Return a model of the evaluations, and the units of its values."""
        X = self._region.units([evaluation.x for evaluation in evaluations])
        data = rows_and_values(X, evaluations, self._sign, self._region.widths, self.gradients)
        modelled = model(data.rows, data.values, rng=self._stream.spawn(f"model {step}"))
        return validated_model(modelled, self.gradients), data
