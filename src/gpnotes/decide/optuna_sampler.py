"""The face for Optuna: a sampler with which a study of Optuna's asks the optimiser of this book.

Optuna may be missing: a sampler cannot be made then. A study keeps the trials; at each one
the optimiser is made anew from all that are complete, so that studies which several processes share
need nothing else.
"""

from __future__ import annotations

import contextlib
import math
import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from ..ground import check as _check
from .bayesopt.history import Evaluation
from .bayesopt.optimiser import Optimiser
from .bayesopt.options import Goal
from .bayesopt.pending_points import AcquisitionOf
from .bayesopt.search_space import Categorical, Dimension, Integer, Point, Real, Space
from .bayesopt.surrogates import Model

if TYPE_CHECKING:
    from optuna.distributions import (
        BaseDistribution,
        CategoricalChoiceType,
        CategoricalDistribution,
        FloatDistribution,
        IntDistribution,
    )
    from optuna.study import Study
    from optuna.trial import FrozenTrial

    Number: TypeAlias = FloatDistribution | IntDistribution
    Distribution: TypeAlias = CategoricalDistribution | Number

_Sampler: Any = object
try:
    import optuna
except ImportError:  # told when a sampler is made: the module itself can be looked at
    pass
else:
    _Sampler = optuna.samplers.BaseSampler

__all__ = ["ProcessSampler"]


class ProcessSampler(_Sampler):
    """A sampler of Optuna's that chooses trials as `bayesopt.Optimiser` does.

    Parameters
    ----------
    seed : int, optional
        The seed of all that is random; without it another one each time.
    num_initial : int, optional
        The number of trials that are of a Sobol sequence, as in `Optimiser`; the very first is
        drawn at random, since a study does not know its parameters yet.
    model : Callable, optional
        As in `Optimiser`.
    acquisition : Callable or ThompsonSampling, optional
        As in `Optimiser`.

    Raises
    ------
    ImportError
        If there is no Optuna.

    Notes
    -----
    Parameters that not every complete trial has, as in a space with branches, are drawn at random.
    Trials under way are believed, `fantasise`; failed and pruned ones count as the worst value. A
    study ends once its settings are used up, and refuses several objectives.

    Examples
    --------
    A study asks it like any sampler: ``optuna.create_study(sampler=ProcessSampler(seed=1))``.
    """

    def __init__(
        self,
        *,
        seed: int | None = None,
        num_initial: int | None = None,
        model: Model | None = None,
        acquisition: AcquisitionOf | None = None,
    ) -> None:
        if _Sampler is object:
            raise ImportError("a sampler needs Optuna: from a clone, pip install '.[studies]'")
        drawn = int(np.random.SeedSequence().generate_state(1)[0])
        self._seed = drawn if seed is None else _check.whole(seed, "seed")
        self._options: dict[str, Any] = {
            "num_initial": num_initial, "model": model, "acquisition": acquisition
        }  # fmt: skip
        Optimiser([(0.0, 1.0)], rng=self._seed, **self._options)  # which looks at its arguments

    def infer_relative_search_space(
        self, study: Study, trial: FrozenTrial
    ) -> dict[str, BaseDistribution]:
        """Return the distributions that all complete trials share, but for those of one value."""
        trials = study.get_trials(deepcopy=False)  # one study's: nothing is kept for another
        found = optuna.search_space.intersection_search_space(trials)
        return {name: one for name, one in found.items() if not one.single()}

    def sample_relative(
        self, study: Study, trial: FrozenTrial, search_space: dict[str, Distribution]
    ) -> dict[str, Any]:
        """The next point of an optimiser that knows all trials that ended."""
        if len(study.directions) > 1:
            raise ValueError(f"study must have one objective; got {len(study.directions)}")
        if not search_space:
            return {}
        space = Space({name: _dimension(one) for name, one in search_space.items()})
        goal: Goal = (
            "minimise" if study.direction == optuna.study.StudyDirection.MINIMIZE else "maximise"
        )
        trials, running = study.get_trials(deepcopy=False), optuna.trial.TrialState.RUNNING
        # those that began before, and whose places are not told yet, have the first of the next
        before = [one for one in trials if one.state == running and one.number < trial.number]
        untold = sum(not search_space.keys() <= one.params.keys() for one in before)
        trials = [one for one in trials if _is_in(one.params, search_space)]
        ended = [one for one in trials if one.state.is_finished()]
        known = [_evaluation(one, _point(one.params, search_space)) for one in ended]
        under_way = [_point(one.params, search_space) for one in trials if one.state == running]
        optimiser = Optimiser(
            space, goal=goal, known_evaluations=known, rng=self._seed, **self._options
        )
        if optimiser.used_up:
            if any(_has_more(one, search_space) for one in trials):
                return {}  # all are drawn, as those of branches are
            _end(study)
        point = optimiser.ask_batch(1 + untold, under_way)[-1]
        return {name: _value(point[name], one) for name, one in search_space.items()}

    def sample_independent(
        self,
        study: Study,
        trial: FrozenTrial,
        param_name: str,
        param_distribution: BaseDistribution,
    ) -> CategoricalChoiceType:
        """A value drawn at random, by the seed and the trial alone: a resumed study has others."""
        source = np.random.SeedSequence([self._seed, trial.number, *param_name.encode()])
        drawn = optuna.samplers.RandomSampler(int(source.generate_state(1)[0]))
        return drawn.sample_independent(study, trial, param_name, param_distribution)


def _is_in(params: Mapping[str, Any], space: Mapping[str, Distribution]) -> bool:
    """True where a trial has all parameters of a space, each within its range."""
    return space.keys() <= params.keys() and all(
        isinstance(one, optuna.distributions.CategoricalDistribution)
        or one.low <= params[name] <= one.high
        for name, one in space.items()
    )


def _has_more(trial: FrozenTrial, space: Mapping[str, Distribution]) -> bool:
    """True where a trial has other parameters, of more than one value."""
    return any(not one.single() for name, one in trial.distributions.items() if name not in space)


def _evaluation(trial: FrozenTrial, place: Point) -> Evaluation[Point]:
    """A trial that ended as an evaluation; one that was pruned has no value of the objective."""
    done = trial.state == optuna.trial.TrialState.COMPLETE
    if done and trial.value is not None and math.isfinite(trial.value):
        return Evaluation(place, trial.value)
    return Evaluation(place, math.nan, f"state {trial.state.name}", "record")


def _end(study: Study) -> None:
    """End a study whose settings are used up; who calls `ask` is warned alone."""
    warnings.warn("all settings are used up: a trial repeats one", stacklevel=6)
    with contextlib.suppress(RuntimeError):  # outside `optimize`
        study.stop()


def _dimension(distribution: Distribution) -> Dimension:
    """A distribution as a dimension; where it has steps, or choices, their numbers."""
    if isinstance(distribution, optuna.distributions.CategoricalDistribution):
        return Categorical(list(range(len(distribution.choices))))
    if step := _step(distribution):
        return Integer(0, round((distribution.high - distribution.low) / step))
    if isinstance(distribution, optuna.distributions.IntDistribution):
        return Integer(distribution.low, distribution.high, distribution.log)
    return Real(distribution.low, distribution.high, distribution.log)


def _step(distribution: Number) -> float | None:
    return None if distribution.log else distribution.step


def _point(params: Mapping[str, object], space: Mapping[str, Distribution]) -> Point:
    return {name: _setting(params[name], one) for name, one in space.items()}


def _setting(value: Any, distribution: Distribution) -> object:
    """A parameter of a trial as the dimension has it."""
    if isinstance(distribution, optuna.distributions.CategoricalDistribution):
        return int(distribution.to_internal_repr(value))
    if step := _step(distribution):
        return round((value - distribution.low) / step)
    return value


def _value(setting: Any, distribution: Distribution) -> object:
    """A setting of the dimension as a parameter of a trial."""
    if isinstance(distribution, optuna.distributions.CategoricalDistribution):
        return distribution.choices[setting]
    if step := _step(distribution):
        return min(distribution.low + setting * step, distribution.high)  # rounding may be above
    return setting
