"""Who races: two that do not look at what they have seen, gpnotes by three rules, and peers.

Each is a function of a `Race`, which it calls at points of the unit cube until the budget is spent.
All but the random search begin with the same points, of a scrambled Sobol sequence. Peers are
imported where they race: they live in an environment of their own.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from race_objectives import Problem

from gpnotes import stream
from gpnotes.decide import bayesopt
from gpnotes.decide.bayesopt.surrogates import Model

__all__ = ["CONTESTANTS", "UNSEEN_CONTESTANTS", "WIDER_CONTESTANTS", "Race"]


class Race:
    """One problem with one seed: what was evaluated, and the seconds that this took."""

    def __init__(self, problem: Problem, seed: int) -> None:
        self.problem = problem
        self.seed = seed
        self.points: list[np.ndarray] = []
        self.values: list[float] = []
        self.readings: list[float] = []
        self.seconds = 0.0
        self._objective = problem.objective(seed)
        self._noise = np.random.default_rng([seed, 3])

    def __call__(self, u: np.ndarray) -> float:
        """The reading at u (d,), which counts: the value, and noise where the problem has some."""
        if not self.left:
            raise RuntimeError("the budget is spent")
        began = time.process_time()
        u = np.clip(np.asarray(u, dtype=np.float64), 0.0, 1.0)
        value = self._objective(u)
        self.seconds += time.process_time() - began
        self.points.append(u)
        self.values.append(value)
        self.readings.append(value + self.problem.noise * float(self._noise.standard_normal()))
        return self.readings[-1]

    @property
    def left(self) -> int:
        """Return the number of evaluations left."""
        return self.problem.budget - len(self.values)

    def sobol(self) -> np.ndarray:
        """As many points as the budget has, (budget, d); the first are what all begin with."""
        from scipy.stats import qmc

        rng = np.random.default_rng([self.seed, 0])
        sequence = qmc.Sobol(self.problem.dimensions, scramble=True, seed=rng)
        return sequence.random(64)[: self.problem.budget]

    def first(self) -> np.ndarray:
        """The points that all begin with, (initial, d)."""
        return self.sobol()[: self.problem.initial]


def by_chance(race: Race) -> None:
    """Uniform points."""
    rng = np.random.default_rng([race.seed, 1])
    for u in rng.random((race.problem.budget, race.problem.dimensions)):
        race(u)


def by_sobol(race: Race) -> None:
    """The sequence that the others begin with, to its end."""
    for u in race.sobol():
        race(u)


def ours(
    acquisition: bayesopt.optimiser.AcquisitionOf | None = None,
    model: Model | None = None,
    beginning: Callable[[int], int] | None = None,
) -> Callable[[Race], None]:
    """The loop of `bayesopt.minimise`, unless more is given with its default model.

    `beginning` is the number of its first points, from their number of inputs; without it they are
    those that all begin with.
    """

    def run(race: Race) -> None:
        d = race.problem.dimensions
        initial = race.problem.initial if beginning is None else beginning(d)
        optimiser = bayesopt.Optimiser(
            [(0.0, 1.0)] * d, num_initial=initial, acquisition=acquisition,
            model=model, rng=stream(race.seed),
        )  # fmt: skip
        told_by(race, optimiser, initial)

    return run


def told_by(race: Race, optimiser: bayesopt.Optimiser[np.ndarray], initial: int) -> None:
    """Spend the budget: so many points of the sequence of all, then what the optimiser asks for."""
    for u in race.sobol()[:initial]:
        optimiser.tell(u, race(u))
    while race.left:
        u = optimiser.ask()
        optimiser.tell(u, race(u))


def by_optuna(name: str, **options: Any) -> Callable[[Race], None]:
    """A sampler of Optuna with its defaults, told to begin with the points that all begin with."""

    def run(race: Race) -> None:
        import optuna

        optuna.logging.set_verbosity(optuna.logging.WARNING)
        names = [f"u{i}" for i in range(race.problem.dimensions)]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that a sampler is called experimental
            sampler = getattr(optuna.samplers, name)(
                seed=race.seed, n_startup_trials=race.problem.initial, **options
            )
            study = optuna.create_study(sampler=sampler)
            for u in race.first():
                study.enqueue_trial(dict(zip(names, map(float, u), strict=True)))

            def objective(trial: optuna.Trial) -> float:
                return race(np.asarray([trial.suggest_float(name, 0.0, 1.0) for name in names]))

            study.optimize(objective, n_trials=race.problem.budget)

    return run


def by_botorch(exact: bool) -> Callable[[Race], None]:
    """`SingleTaskGP` and its log-EI with the defaults, 512 raw points and ten starts.

    An exact one is told that the variance of the noise is a millionth of that of the values, which
    is the least that the model of gpnotes allows; the other infers it.
    """

    def run(race: Race) -> None:
        import torch
        from botorch.acquisition import LogExpectedImprovement
        from botorch.fit import fit_gpytorch_mll
        from botorch.models import SingleTaskGP
        from botorch.optim import optimize_acqf
        from gpytorch.mlls import ExactMarginalLogLikelihood

        torch.manual_seed(race.seed)
        torch.set_num_threads(1)
        bounds = torch.tensor([[0.0], [1.0]], dtype=torch.double).expand(2, race.problem.dimensions)
        for u in race.first():
            race(u)
        while race.left:
            X = torch.as_tensor(np.stack(race.points))
            y = -torch.as_tensor(np.asarray(race.readings))[:, None]
            noise = 1e-6 * y.var() * torch.ones_like(y) if exact else None
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of fits that are tried again
                model = SingleTaskGP(X, y, noise)
                fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
                best = y.max() if race.problem.noise == 0.0 else model.posterior(X).mean.max()
                acquisition = LogExpectedImprovement(model, best_f=best.detach())
                u, _ = optimize_acqf(acquisition, bounds, q=1, num_restarts=10, raw_samples=512)
            race(u[0].numpy())

    return run


def by_simplex(race: Race) -> None:
    """The simplex of Nelder and Mead from the best first point, from the next when it ends."""
    from scipy.optimize import minimize

    first = race.first()
    values = [race(u) for u in first]
    ends = [(0.0, 1.0)] * race.problem.dimensions
    for i in np.argsort(values):
        if race.left:
            options = {"maxfev": race.left, "xatol": 1e-3, "fatol": 1e-6}
            minimize(race, first[i], method="Nelder-Mead", bounds=ends, options=options)
    while race.left:  # all simplices have ended
        race(np.random.default_rng([race.seed, race.left]).random(race.problem.dimensions))


CONTESTANTS: dict[str, Callable[[Race], None]] = {
    "random": by_chance,
    "sobol": by_sobol,
    "log_ei": ours(None, bayesopt.fitted_model),
    "ei": ours(bayesopt.ExpectedImprovement, bayesopt.fitted_model),
    "ucb": ours(lambda best: bayesopt.UpperConfidenceBound(4.0), bayesopt.fitted_model),
    "tpe": by_optuna("TPESampler"),
    "optuna_gp": by_optuna("GPSampler"),
    "botorch": by_botorch(False),
    "optuna_gp_exact": by_optuna("GPSampler", deterministic_objective=True),
    "botorch_exact": by_botorch(True),
}


def by_default(race: Race) -> None:
    """`Optimiser` with nothing said."""
    box = [(0.0, 1.0)] * race.problem.dimensions
    told_by(race, bayesopt.Optimiser(box, rng=stream(race.seed)), min(2 * len(box) + 2, 10))


WIDER_CONTESTANTS: dict[str, Callable[[Race], None]] = {
    "random": by_chance,
    "gpnotes": by_default,
    "matern, 2 (d + 1) first": ours(model=bayesopt.fitted_model, beginning=lambda d: 2 * (d + 1)),
    "matern, ten first": ours(model=bayesopt.fitted_model),
    "scaled, ten first": ours(model=bayesopt.dim_scaled_model),
    "tpe": by_optuna("TPESampler"),
    "optuna_gp": by_optuna("GPSampler"),
    "botorch": by_botorch(False),
}
UNSEEN_CONTESTANTS: dict[str, Callable[[Race], None]] = {
    "random": by_chance,
    "gpnotes": by_default,
    "tpe": by_optuna("TPESampler"),
    "simplex": by_simplex,
    "optuna_gp": by_optuna("GPSampler"),
    "botorch": by_botorch(False),
    "optuna_gp_exact": by_optuna("GPSampler", deterministic_objective=True),
    "botorch_exact": by_botorch(True),
}
