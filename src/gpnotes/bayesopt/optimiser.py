"""Who is asked where to evaluate next, and told what came of it.

Where to evaluate next, at one point or at several, depends on the box, the stream's seed and the
evaluations so far, and on nothing else: neither on what was drawn before nor on models fitted
before. So a loop that is killed and started again from its file goes on to the points that it would
have come to anyway.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, Literal, TypeAlias

import numpy as np

from .. import _check, _xp
from .._xp import Array, HostMatrix, HostVector, Matrix, Numbers, Vector, to_numpy
from ..boxes import Pairs, intervals
from ..exact import Posterior, condition
from ..fitting import fit
from ..kernels import Matern52
from ..means import ConstantMean
from ..process import GP
from ..random import Stream
from .acquisition import LogExpectedImprovement
from .batches import AcquisitionOf, believe, chosen
from .draws import ThompsonSampling
from .history import FAILURES, Evaluation, History

__all__ = ["Optimiser", "fitted_model"]

OnFailure: TypeAlias = Literal["record", "skip", "stop"]
Model: TypeAlias = Callable[[Matrix, Vector, Stream], Posterior]

_SIGNS = {"minimise": -1.0, "maximise": 1.0}
_BOUNDS = {  # of inputs in the unit cube and values of standard deviation one
    "kernel.variance": (0.05, 100.0),
    "kernel.lengthscale": (0.02, 20.0),
    "noise_var": (1e-6, 1.0),
}


def fitted_model(X: Matrix, y: Vector, stream: Stream) -> Posterior:
    """The model of the loop unless another is given, for y (n,) at X (n, d) in the unit cube.

    A Matérn-5/2 process with one length for each input and a constant mean, fitted by evidence from
    two starts within bounds; noise is at least 1e-6 of the variance of y. Raises what `fit` raises.

    >>> from gpnotes import stream
    >>> X = np.linspace(0.0, 1.0, 6)[:, None]
    >>> fitted_model(X, np.sin(6.0 * X[:, 0]), stream(1)).y.shape
    (6,)
    """
    d = _check.matrix(X, "X").shape[1]
    lengths = _xp.as_array(np.full(d, 0.5), X)
    gp = GP(Matern52(1.0, lengths), 1e-3, ConstantMean(0.0))
    found = fit(gp, X, y, restarts=1, stream=stream, bounds=_BOUNDS, steps=100)
    return condition(found.gp, X, y)


class Optimiser:
    """Asks where to evaluate an objective next, `ask`, and is told what came of it, `tell`.

    It looks within `box`, d pairs (lower, upper), for the least value, or with
    ``goal="maximise"`` for the largest. The first `initial` points, 2 (d + 1) unless it is given,
    are of a Sobol sequence; each later one is where the acquisition is largest under a model of all
    evaluations. `model` is a function of inputs in the unit cube (n, d), values of mean zero and
    deviation one, the larger the better, and a stream; it returns an `exact.Posterior`, and is
    `fitted_model` unless it is given. `acquisition` is a function of the best value, the largest
    mean at a point that was evaluated, or a `ThompsonSampling`; `LogExpectedImprovement` unless it
    is given. `ask_batch` asks for several points at once.

    With a `path` every evaluation is in its file before `tell` returns, and an optimiser made anew
    with the same arguments and file goes on from there, to the same points. The file names box,
    goal, seed and `initial`, and is refused with others; `model` and `acquisition` it cannot name.

    A value that is not finite is a failure, kept in the history too. `on_failure` says what then:

    - ``"record"``: the model is told the worst value seen there, so that it stays away;
    - ``"skip"``: the model is told no value, but to `believe` its own, so that it has no reason to
      ask for the same point again; the next one is of the Sobol sequence;
    - ``"stop"``: `tell` raises `ValueError`, and the point is asked for again.

    Raises `ValueError` or `TypeError` for arguments that do not fit, each by its name.

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
    ) -> None:
        ends = intervals(box, "box")
        self._lower = ends[:, 0]
        self._upper = ends[:, 1]
        self._stream = _check.instance(stream, "stream", Stream)
        self._sign = _SIGNS[_check.choice(goal, "goal", _SIGNS)]
        self._on_failure = _check.choice(on_failure, "on_failure", FAILURES)
        given = 2 * (len(ends) + 1) if initial is None else initial
        self._initial = _check.whole(given, "initial", 1)
        chosen = fitted_model if model is None else model
        self._model = _check.function(chosen, "model", "X, y and a stream")
        worth = LogExpectedImprovement if acquisition is None else acquisition
        self._acquisition = _admit_acquisition(worth)
        self._asked: list[HostVector] = []
        self._history = History(path, self._head(ends, goal))

    def _head(self, ends: HostMatrix, goal: str) -> dict[str, Any]:
        """What is optimised, for the first line of the file."""
        return {
            "history": "gpnotes.bayesopt 1", "goal": goal, "box": ends.tolist(),
            "seed": self._stream.seed, "path": list(self._stream.path), "initial": self._initial,
        }  # fmt: skip

    @property
    def evaluations(self) -> tuple[Evaluation, ...]:
        """All evaluations in their order, failures included."""
        return self._history.evaluations

    @property
    def count(self) -> int:
        """How many evaluations were made, without those that stopped the loop."""
        return len(self._counted())

    @property
    def best(self) -> Evaluation | None:
        """The evaluation with the best value, the first of equals; None before there is one.

        Where readings have noise it is the luckiest of them.
        """
        good = [evaluation for evaluation in self.evaluations if not evaluation.failure]
        return max(good, key=lambda evaluation: self._sign * evaluation.y, default=None)

    def ask(self) -> HostVector:
        """Where to evaluate next, (d,) on the host; the same again until something is told."""
        return self.ask_batch(1)[0]

    def ask_batch(self, q: int, pending: Matrix | None = None) -> HostMatrix:
        """Where to evaluate next at `q` points at once, (q, d) on the host.

        The first is what `ask` gives, and each further one what it would give if those before had
        been told with the mean of the model there, as `batches.believe` does it; the model is
        fitted once. Of a `ThompsonSampling` each point is from a draw of its own, and two may be
        largest at one place. Before `initial` evaluations have been told all are of the Sobol
        sequence. An acquisition for which variance is worth nothing asks for one point q times.

        What came of the points is told one by one, in any order, and each may fail. To ask again
        before all of them are back, give those under way as `pending` (k, d): they are believed
        too, and not asked for again. They are no evaluations, and no file holds them: after a kill
        they are asked for anew.
        The same q points come again until something is told. Raises `ValueError` or `TypeError` for
        a q that is no whole number from 1, and for pending points that are not in the box.
        Source: Ginsbourger, Le Riche & Carraro (2010).

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

    def tell(self, x: Vector, y: Numbers) -> None:
        """What the objective gave at x (d,), which need not be where it was asked for.

        A y that is NaN or infinite is a failure. Raises `ValueError` or `TypeError` for an x that
        is not in the box, and a y that is no number: nothing is kept then.
        """
        place = self._admit(x)
        try:
            value = _check.number(y, "y")
        except ValueError as problem:
            self.fail(place, str(problem))
            if self._on_failure == "stop":
                raise
        else:
            self._keep(Evaluation(place, value))

    def fail(self, x: Vector, problem: str, on_failure: OnFailure | None = None) -> None:
        """The objective had no value at x (d,), and why; handled as `on_failure` says.

        That is what the optimiser was made with, unless it is given. Nothing is raised but for
        arguments that do not fit.
        """
        if not isinstance(problem, str):
            raise TypeError(f"problem must be a string; got {type(problem).__name__}")
        given = self._on_failure if on_failure is None else on_failure
        failure = _check.choice(given, "on_failure", FAILURES)
        self._keep(Evaluation(self._admit(x), np.nan, problem, failure))

    def _keep(self, evaluation: Evaluation) -> None:
        self._history.add(evaluation)
        self._asked = []

    def _admit(self, x: Array) -> HostVector:
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
                posterior = believe(posterior, np.stack(failed))
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
        y = _standardised(self._sign * np.asarray([evaluation.y for evaluation in known]))
        modelled = self._model(X, y, self._stream.spawn(f"model {step}"))
        return _check.instance(modelled, "model(X, y, stream)", Posterior), X


def _admit_acquisition(worth: AcquisitionOf) -> AcquisitionOf:
    given: object = worth
    if given is ThompsonSampling:
        raise TypeError("acquisition must be an object, ThompsonSampling(); got the class")
    if isinstance(worth, ThompsonSampling):
        return worth
    return _check.function(worth, "acquisition", "the best value")


def _standardised(y: HostVector) -> HostVector:
    """Values of mean zero and deviation one; the worst of them where one is missing."""
    y = np.where(np.isnan(y), np.nanmin(y), y)
    y = y / max(np.max(np.abs(y)), np.finfo(np.float64).tiny)  # so that no square overflows
    y = y - np.mean(y)
    deviation = float(np.std(y))
    return y / deviation if deviation > 1e-12 else np.zeros_like(y)
