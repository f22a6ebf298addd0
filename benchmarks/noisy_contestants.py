"""Who races under noise: what the package has, three rules that it has not, and peers' defaults.

Each is a function of a `Race`, which spends its budget and returns the point that it reports.
All begin with the same points. Rules that the package has not are tried at 512 points of a Sobol
sequence each time, without a climb, or stand in the place of an acquisition.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from light_contestants import LIGHT_CONTESTANTS
from race_contestants import Race, told_by
from scipy.linalg import cho_factor, cho_solve
from scipy.special import logsumexp
from scipy.stats import norm

from gpnotes import ExactPosterior, stream
from gpnotes.decide import bayesopt
from gpnotes.decide.bayesopt import surrogates, training_data

__all__ = ["CONTESTANTS"]

Score = Callable[[ExactPosterior, np.ndarray, np.random.Generator], np.ndarray]


def ours(acquisition: Any = None, model: Any = None) -> Callable[[Race], np.ndarray]:
    """`Optimiser` with an acquisition, and the place that it recommends."""

    def run(race: Race) -> np.ndarray:
        box = [(0.0, 1.0)] * race.problem.dimensions
        optimiser = bayesopt.Optimiser(
            box, acquisition=acquisition, model=model, rng=stream(race.seed)
        )
        told_by(race, optimiser, race.problem.initial)
        return optimiser.recommend().x

    return run


def without_a_prior(X: np.ndarray, y: np.ndarray, *, rng: Any) -> ExactPosterior:
    """The default model but for its prior: values whose bad half counts less."""
    if X.shape[1] < 10:
        y = training_data.compress_tail(y)
    return bayesopt.fitted_model(X, y, rng=rng)


def at_candidates(score: Score) -> Callable[[Race], np.ndarray]:
    """The default model, and the best by a score of 512 points that are drawn each time."""

    def fitted(race: Race) -> ExactPosterior:
        y = training_data.standardised(-np.asarray(race.readings))[0]
        step = stream(race.seed).spawn(f"model {len(y)}")
        return surrogates.tail_compressed_model(np.stack(race.points), y, rng=step)

    def run(race: Race) -> np.ndarray:
        from scipy.stats import qmc

        for u in race.first():
            race(u)
        while race.left:
            rng = np.random.default_rng([race.seed, 5, race.left])
            drawn = qmc.Sobol(race.problem.dimensions, scramble=True, seed=rng).random(512)
            candidates = np.concatenate([drawn, race.points])
            race(candidates[int(np.argmax(score(fitted(race), candidates, rng)))])
        mean = fitted(race).mean(np.stack(race.points))
        return race.points[int(np.argmax(mean))]

    return run


def knowledge_gradient(
    posterior: ExactPosterior, at: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """How much the highest mean over the readings and the candidate is expected to rise."""
    seen = posterior.X
    both = posterior.covariance(np.concatenate([at, seen]))
    mean = posterior.mean(np.concatenate([at, seen]))
    worth = []
    for i in range(len(at)):
        spread = math.sqrt(both[i, i] + posterior.gp.noise_var)
        slopes = np.append(both[len(at) :, i], both[i, i]) / spread
        worth.append(_expected_top(np.append(mean[len(at) :], mean[i]), slopes))
    return np.asarray(worth)


def _expected_top(level: np.ndarray, slope: np.ndarray) -> float:
    """``E max(level + slope u) − max(level)`` for a standard normal u, by the lines on top."""
    order = np.lexsort((level, slope))
    level, slope = level[order], slope[order]
    last = np.append(slope[1:] > slope[:-1], True)  # of equal slopes the highest alone
    level, slope = level[last], slope[last]
    kept, crossings = [0], [-math.inf]
    for j in range(1, len(level)):
        while True:
            i = kept[-1]
            at = (level[i] - level[j]) / (slope[j] - slope[i])
            if at > crossings[-1]:
                break
            kept.pop()
            crossings.pop()
        kept.append(j)
        crossings.append(at)
    z = -np.abs(np.asarray(crossings[1:]))
    return float(np.sum(np.diff(slope[kept]) * (norm.pdf(z) + z * norm.cdf(z))))


def noisy_improvement(
    posterior: ExactPosterior, at: np.ndarray, rng: np.random.Generator, draws: int = 32
) -> np.ndarray:
    """Expected improvement over the best of f at the readings, in the mean over joint draws of f.

    Source: Letham, Karrer, Ottoni & Bakshy (2019).
    """
    seen = np.unique(posterior.X, axis=0)
    kernel = posterior.gp.kernel
    drawn = posterior.sample(seen, draws, rng=stream(int(rng.integers(2**31))))
    K = kernel(seen, seen) + 1e-8 * posterior.gp.kernel.diag(seen)[0] * np.eye(len(seen))
    factor = cho_factor(K, lower=True)
    cross = kernel(seen, at)
    solved = cho_solve(factor, cross)
    level = posterior.gp.mean(seen[:1])[0]
    mean = level + (drawn - level) @ solved
    variance = np.clip(kernel.diag(at) - np.sum(cross * solved, axis=0), 1e-14, None)
    best = np.max(drawn, axis=1)
    gain = [
        bayesopt.LogExpectedImprovement(float(top))(level, variance)
        for top, level in zip(best, mean, strict=True)
    ]
    return logsumexp(gain, axis=0)


class _Watched:
    """A model that remembers its last posterior, and acquisitions that ask for it."""

    def __init__(self) -> None:
        self.posterior: ExactPosterior | None = None

    def model(self, X: np.ndarray, y: np.ndarray, *, rng: Any) -> ExactPosterior:
        """The default one."""
        self.posterior = surrogates.tail_compressed_model(X, y, rng=rng)
        return self.posterior


class _Augmented:
    """``log EI + log(1 − σₙ / √(v + σₙ²))``, over the mean at the place of the highest μ − σ.

    Source: Huang, Allen, Notz & Zeng (2006).
    """

    def __init__(self, posterior: ExactPosterior) -> None:
        mean, variance = posterior.predict(posterior.X)
        self._noise = posterior.gp.noise_var
        self._gain = bayesopt.LogExpectedImprovement(
            float(mean[np.argmax(mean - np.sqrt(variance))])
        )

    def __call__(self, mean: np.ndarray, variance: np.ndarray) -> np.ndarray:
        share = np.sqrt(self._noise / (variance + self._noise))
        return self._gain(mean, variance) + np.log1p(-np.clip(share, None, 1.0 - 1e-16))

    def derivatives(self, mean: np.ndarray, variance: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        by_mean, by_variance = self._gain.derivatives(mean, variance)
        share = np.clip(np.sqrt(self._noise / (variance + self._noise)), None, 1.0 - 1e-16)
        return by_mean, by_variance + 0.5 * share / (1.0 - share) / (variance + self._noise)


def watched(rule: Callable[[ExactPosterior], Any]) -> Callable[[Race], np.ndarray]:
    """`Optimiser` with an acquisition that is made from the posterior of the search model."""

    def run(race: Race) -> np.ndarray:
        state = _Watched()
        return ours(lambda best: rule(state.posterior or best), state.model)(race)

    return run


def by_optuna(name: str) -> Callable[[Race], np.ndarray]:
    """A sampler with its defaults, and the luckiest reading, which a study calls its best."""

    def run(race: Race) -> np.ndarray:
        import optuna

        optuna.logging.set_verbosity(optuna.logging.WARNING)
        names = [f"u{i}" for i in range(race.problem.dimensions)]

        def reading(trial: optuna.Trial) -> float:
            return race(np.asarray([trial.suggest_float(name, 0.0, 1.0) for name in names]))

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that a sampler is called experimental
            sampler = getattr(optuna.samplers, name)(seed=race.seed)
            study = optuna.create_study(sampler=sampler)
            for u in race.first():
                study.enqueue_trial(dict(zip(names, map(float, u), strict=True)))
            study.optimize(reading, n_trials=race.problem.budget)
        return np.asarray([study.best_params[name] for name in names])

    return run


def by_botorch(race: Race) -> np.ndarray:
    """`SingleTaskGP` and the logarithm of its noisy expected improvement, with the defaults."""
    import torch
    from botorch.acquisition import qLogNoisyExpectedImprovement
    from botorch.fit import fit_gpytorch_mll
    from botorch.models import SingleTaskGP
    from botorch.optim import optimize_acqf
    from gpytorch.mlls import ExactMarginalLogLikelihood

    torch.manual_seed(race.seed)
    torch.set_num_threads(1)
    bounds = torch.tensor([[0.0], [1.0]], dtype=torch.double).expand(2, race.problem.dimensions)

    def fitted() -> tuple[Any, Any]:
        X = torch.as_tensor(np.stack(race.points))
        model = SingleTaskGP(X, -torch.as_tensor(np.asarray(race.readings))[:, None])
        fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
        return X, model

    for u in race.first():
        race(u)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of fits that are tried again
        while race.left:
            X, model = fitted()
            acquisition = qLogNoisyExpectedImprovement(model, X, prune_baseline=True)
            u, _ = optimize_acqf(acquisition, bounds, q=1, num_restarts=10, raw_samples=512)
            race(u[0].numpy())
        X, model = fitted()
        with torch.no_grad():
            return X[int(model.posterior(X).mean.argmax())].numpy()


CONTESTANTS: dict[str, Callable[[Race], np.ndarray]] = {
    "improvement": ours(bayesopt.LogExpectedImprovement),
    "bound, 4": ours(lambda best: bayesopt.UpperConfidenceBound(4.0)),
    "bound, 9": ours(lambda best: bayesopt.UpperConfidenceBound(9.0)),
    "thompson": ours(bayesopt.ThompsonSampling()),
    "augmented": watched(_Augmented),
    "noisy improvement": at_candidates(noisy_improvement),
    "knowledge gradient": at_candidates(knowledge_gradient),
    "no prior": ours(bayesopt.LogExpectedImprovement, without_a_prior),
    "botorch": by_botorch,
    "optuna": by_optuna("TPESampler"),
    "optuna gp": by_optuna("GPSampler"),
    **LIGHT_CONTESTANTS,
}
