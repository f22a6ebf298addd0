"""The optimiser, which is asked where to evaluate next, and told what came of it.

Where to evaluate next, at one point or at several, depends on the box, the stream's seed and the
evaluations so far, and on nothing else: neither on what was drawn before nor on models fitted
before. So a loop that is killed and started again from its file goes on to the points that it
would have come to anyway.
"""

from __future__ import annotations

import os
from typing import Any, Literal, TypeAlias

import numpy as np

from ...ground import check as _check
from ...ground import xp as _xp
from ...ground.boxes import Pairs, intervals
from ...ground.random import Stream
from ...ground.xp import Array, HostMatrix, HostVector, Matrix, Numbers, Vector, to_numpy
from ...infer.exact import Posterior
from ...model.contracts import Acquisition, missing
from .acquisition import LogExpectedImprovement
from .batches import AcquisitionOf, as_rows, chosen, fantasise
from .draws import ThompsonSampling
from .history import FAILURES, Evaluation, History
from .models import Model, fitted_model, fitted_with_gradients
from .told import rows_and_values

__all__ = ["Optimiser"]

OnFailure: TypeAlias = Literal["record", "skip", "stop"]

_SIGNS = {"minimise": -1.0, "maximise": 1.0}


class Optimiser:
    """Bayesian optimiser: `ask` it where to evaluate an objective next, `tell` it what came of it.

    Parameters
    ----------
    box : d pairs of floats
        The ends (lower, upper) of each input.
    stream : Stream
        Source of all that is random.
    goal : {"minimise", "maximise"}, default "minimise"
        The least value is looked for, or the largest.
    path : path of a file, optional
        Where evaluations are kept: every one is in the file before `tell` returns, and an
        optimiser made anew with the same arguments and file goes on from there, to the same
        points. The file names box, goal, seed, `initial`, and `gradients` if it is set, and is
        refused with others; `model` and `acquisition` it cannot name.
    on_failure : {"record", "skip", "stop"}, default "record"
        What becomes of a value or a gradient that is not finite, which is kept in the history too:

        - ``"record"``: the model is told the worst value seen there, so that it stays away;
        - ``"skip"``: the model is told no value, but to `fantasise` its own, so that it has no
          reason to ask for the same point again; the next one is of the Sobol sequence;
        - ``"stop"``: `tell` raises `ValueError`, and the point is asked for again.
    initial : int, default 2 (d + 1)
        The number of first points, which are of a Sobol sequence. Each later one is where the
        acquisition is largest under a model of all evaluations.
    model : Callable, default `fitted_model`
        A function of inputs in the unit cube (n, d), values of mean zero and deviation one, the
        larger the better, and a stream; it returns an `exact.Posterior`.
    acquisition : Callable or ThompsonSampling, default `LogExpectedImprovement`
        A function of the best value, the largest mean at a point that was evaluated, that returns
        an acquisition.
    gradients : bool, default False
        If True, it can be told gradients besides values, at all points or at some. Then inputs of
        the model are rows (n, d + 1) that end in a label, as `kernels.WithGradients` takes them,
        gradients are by the unit cube's inputs and in the unit of the values, and the model is
        `fitted_with_gradients` unless it is given. `ThompsonSampling` cannot draw from such a
        model.

    Raises
    ------
    ValueError
        If `box` is not finite intervals, a word is none of those above, `initial` is below one,
        the file holds another history, or `acquisition` is a `ThompsonSampling` with gradients.
    TypeError
        If an argument has another type, or `acquisition` is an object where a function of the best
        value is wanted.

    Examples
    --------
    >>> from gpnotes import stream
    >>> optimiser = Optimiser([(-1.0, 2.0)], stream(1))
    >>> for _ in range(9):
    ...     x = optimiser.ask()
    ...     optimiser.tell(x, (x[0] - 0.5) ** 2)
    >>> bool(abs(optimiser.best.x[0] - 0.5) < 0.1)
    True
    """

    def __init__(
        self,
        box: Pairs,
        stream: Stream,
        *,
        goal: Literal["minimise", "maximise"] = "minimise",
        path: str | os.PathLike[str] | None = None,
        on_failure: OnFailure = "record",
        initial: int | None = None,
        model: Model | None = None,
        acquisition: AcquisitionOf | None = None,
        gradients: bool = False,
    ) -> None:
        ends = intervals(box, "box")
        self._lower = ends[:, 0]
        self._upper = ends[:, 1]
        self._stream = _check.instance(stream, "stream", Stream)
        self._sign = _SIGNS[_check.choice(goal, "goal", _SIGNS)]
        self.on_failure = _check.choice(on_failure, "on_failure", FAILURES)
        given = 2 * (len(ends) + 1) if initial is None else initial
        self._initial = _check.whole(given, "initial", 1)
        self.gradients = _check.flag(gradients, "gradients")
        usual = fitted_with_gradients if gradients else fitted_model
        own = usual if model is None else model
        self._model = _check.function(own, "model", "X, y and a stream")
        worth = LogExpectedImprovement if acquisition is None else acquisition
        self._acquisition = _validate_acquisition(worth, self.gradients)
        self._asked: list[HostVector] = []
        self._history = History(path, self._head(ends, goal))

    def _head(self, ends: HostMatrix, goal: str) -> dict[str, Any]:
        """Describe what is optimised, for the first line of the file."""
        head = {
            "history": "gpnotes.decide.bayesopt 1", "goal": goal, "box": ends.tolist(),
            "seed": self._stream.seed, "path": list(self._stream.path), "initial": self._initial,
        }  # fmt: skip
        return {**head, "gradients": True} if self.gradients else head

    @property
    def evaluations(self) -> tuple[Evaluation, ...]:
        """All evaluations in their order, failures included."""
        return self._history.evaluations

    @property
    def count(self) -> int:
        """The number of evaluations made, without those that stopped the loop."""
        return len(self._counted())

    @property
    def best(self) -> Evaluation | None:
        """The evaluation with the best value, the first of equals; None before there is one.

        Where readings have noise it is the luckiest of them.
        """
        good = [evaluation for evaluation in self.evaluations if not evaluation.failure]
        return max(good, key=lambda evaluation: self._sign * evaluation.y, default=None)

    def ask(self) -> HostVector:
        """Return where to evaluate next, (d,) on the host; it stays until something is told."""
        return self.ask_batch(1)[0]

    def ask_batch(self, q: int, pending: Matrix | None = None) -> HostMatrix:
        """Return q points at which to evaluate next; the same again until something is told.

        The first is what `ask` gives, and each further one what it would give if those before had
        been told with the mean of the model there, as `fantasise` does it; the model is fitted
        once.

        Parameters
        ----------
        q : int
            The number of points.
        pending : Matrix, shape (k, d), optional
            Points that are under way, when one asks again before all of them are back: they are
            believed too, and not asked for again. They are no evaluations, and no file holds them:
            after a kill they are asked for anew.

        Returns
        -------
        HostMatrix, shape (q, d)
            The points, on the host. What came of them is told one by one, in any order, and each
            may fail.

        Raises
        ------
        ValueError
            If `q` is below one, or `pending` has another shape or a point outside the box.
        TypeError
            If `q` is not whole, or `pending` is no array of float32 or float64.

        Notes
        -----
        Of a `ThompsonSampling` each point is from a draw of its own, and two may be largest at one
        place. Before `initial` evaluations have been told all are of the Sobol sequence. An
        acquisition for which variance is worth nothing asks for one point q times.

        Source: Ginsbourger, Le Riche & Carraro (2010).

        Examples
        --------
        >>> from gpnotes import stream
        >>> optimiser = Optimiser([(-1.0, 2.0)], stream(1))
        >>> for _ in range(3):
        ...     for x in optimiser.ask_batch(4):
        ...         optimiser.tell(x, (x[0] - 0.5) ** 2)
        >>> bool(abs(optimiser.best.x[0] - 0.5) < 0.1)
        True
        """
        q = _check.whole(q, "q", 1)
        if pending is not None:
            rows = to_numpy(_check.matrix(pending, "pending", columns=self._lower.shape[0]))
            return np.stack(self._next(q, [self._within(row, "pending") for row in rows]))
        if len(self._asked) < q:
            self._asked = self._next(q, [])
        return np.stack(self._asked[:q])

    def tell(self, x: Vector, y: Numbers, gradient: Vector | None = None) -> None:
        """Tell what the objective gave at a place.

        Parameters
        ----------
        x : Vector, shape (d,)
            The place, which need not be where it was asked for.
        y : float
            The value there; NaN or infinity is a failure.
        gradient : Vector, shape (d,), optional
            Its derivatives by x, for an optimiser made with ``gradients=True``. One that holds NaN
            or infinity is a failure.

        Raises
        ------
        ValueError
            If `x` is not in the box, or `gradient` has another size or is given without
            ``gradients=True``: nothing is kept then. With ``on_failure="stop"``, if `y` or
            `gradient` is not finite: the failure is kept.
        TypeError
            If `y` is no number, or `x` or `gradient` is no array of float32 or float64: nothing is
            kept.

        Examples
        --------
        >>> from gpnotes import stream
        >>> optimiser = Optimiser([(-1.0, 2.0)], stream(1), initial=2, gradients=True)
        >>> for _ in range(4):
        ...     x = optimiser.ask()
        ...     optimiser.tell(x, (x[0] - 0.5) ** 2, 2.0 * (x - 0.5))
        >>> bool(abs(optimiser.best.x[0] - 0.5) < 0.1)
        True
        """
        place = self._validate(x)
        slope = self._validate_gradient(gradient)
        try:
            value = _check.number(y, "y")
            if slope is not None:
                _check.finite(slope, "gradient")
        except ValueError as problem:
            self.fail(place, str(problem))
            if self.on_failure == "stop":
                raise
        else:
            self._keep(Evaluation(place, value, gradient=slope))

    def _validate_gradient(self, gradient: Vector | None) -> HostVector | None:
        """Check the kind and the size of a gradient; whether it is finite is another question."""
        if gradient is None:
            return None
        if not self.gradients:
            raise ValueError("gradient must be None, or gradients=True when the Optimiser is made")
        _check.floating(gradient, "gradient")
        if gradient.shape != self._lower.shape:
            wanted = f"gradient must have shape {self._lower.shape}"
            raise ValueError(f"{wanted}; got {gradient.shape}")
        return to_numpy(gradient).astype(np.float64)

    def fail(self, x: Vector, problem: str, on_failure: OnFailure | None = None) -> None:
        """Tell that the objective had no value at a place, and why.

        Parameters
        ----------
        x : Vector, shape (d,)
            The place.
        problem : str
            What went wrong.
        on_failure : {"record", "skip", "stop"}, optional
            What to do about it; unless it is given, what the optimiser was made with. Nothing is
            raised for the failure itself.

        Raises
        ------
        ValueError
            If `x` is not in the box, or `on_failure` is another word.
        TypeError
            If `problem` is no string, or `x` is no array of float32 or float64.
        """
        if not isinstance(problem, str):
            raise TypeError(f"problem must be a string; got {type(problem).__name__}")
        given = self.on_failure if on_failure is None else on_failure
        failure = _check.choice(given, "on_failure", FAILURES)
        self._keep(Evaluation(self._validate(x), np.nan, problem, failure))

    def _keep(self, evaluation: Evaluation) -> None:
        self._history.add(evaluation)
        self._asked = []

    def _validate(self, x: Array) -> HostVector:
        return self._within(to_numpy(_check.vector(x, "x", size=self._lower.shape[0])), "x")

    def _within(self, point: HostVector, name: str) -> HostVector:
        place = point.astype(np.float64)
        if np.any(place < self._lower) or np.any(place > self._upper):
            raise ValueError(f"{name} must lie in the box; got {place.tolist()}")
        return place

    def _counted(self) -> list[Evaluation]:
        return [evaluation for evaluation in self.evaluations if evaluation.failure != "stop"]

    def _next(self, q: int, pending: list[HostVector]) -> list[HostVector]:
        """The next `q` points, while others are `pending`."""
        counted = self._counted()
        step = len(counted)
        known = [evaluation for evaluation in counted if evaluation.failure != "skip"]
        valued = [evaluation for evaluation in known if not evaluation.failure]
        early = step < self._initial or not valued
        blind = q if early else int(counted[-1].failure == "skip")
        places = self._sobol(blind, step, [*(e.x for e in counted), *pending]) if blind else []
        if blind < q:
            posterior, X = self._fitted(known, step)
            failed = self._units([e.x for e in counted if e.failure == "skip"])
            if failed:
                posterior = fantasise(posterior, as_rows(posterior, np.stack(failed)))
            under_way = self._units([*pending, *places])
            stream = self._stream.spawn(f"climb {step}")
            points = chosen(posterior, self._acquisition, X, under_way, q - blind, stream)
            places = [*places, *(self._placed(point) for point in points)]
        return places

    def _sobol(self, count: int, step: int, taken: list[HostVector]) -> list[HostVector]:
        """So many points of the sequence from the number `step`, without those that are taken.

        A longer sequence begins like a shorter one.
        """
        generator = self._stream.spawn("initial").generator
        units = _xp.sobol(step + count + len(taken), self._lower.shape[0], generator)[step:]
        gone = {tuple(place) for place in taken}
        places = [place for place in self._placed(units) if tuple(place) not in gone]
        return places[:count]

    def _placed(self, units: HostMatrix) -> HostMatrix:
        place = self._lower + (self._upper - self._lower) * units
        return np.clip(place, self._lower, self._upper)

    def _units(self, places: list[HostVector]) -> list[HostVector]:
        return [(place - self._lower) / (self._upper - self._lower) for place in places]

    def _fitted(self, known: list[Evaluation], step: int) -> tuple[Posterior, HostMatrix]:
        """The model of what is known, and where in the unit cube that is."""
        X = np.stack(self._units([evaluation.x for evaluation in known]))
        rows, y = rows_and_values(X, known, self._sign, self._upper - self._lower, self.gradients)
        modelled = self._model(rows, y, self._stream.spawn(f"model {step}"))
        return self._validate_model(modelled), X

    def _validate_model(self, modelled: Posterior) -> Posterior:
        """Return what the model made, if it is a posterior of rows like those it was given."""
        _check.instance(modelled, "model(X, y, stream)", Posterior)
        if modelled.gp.kernel.labels_rows is not self.gradients:
            kinds = {True: "values and gradients", False: "values"}
            wanted = f"model(X, y, stream) must be a posterior of {kinds[self.gradients]}"
            raise ValueError(f"{wanted}; got one of {kinds[not self.gradients]}")
        return modelled


def _validate_acquisition(worth: AcquisitionOf, gradients: bool) -> AcquisitionOf:
    given: object = worth
    if given is ThompsonSampling:
        raise TypeError("acquisition must be an object, ThompsonSampling(); got the class")
    if isinstance(worth, ThompsonSampling):
        if gradients:
            raise ValueError("acquisition must not be a ThompsonSampling with gradients=True")
        return worth
    if not isinstance(worth, type) and not missing(worth, Acquisition):
        wanted = f"a function of the best value, such as lambda best: {_check.kind_of(worth)}(…)"
        raise TypeError(f"acquisition must be {wanted}; got an object, {worth!r}")
    return _check.function(worth, "acquisition", "the best value")
