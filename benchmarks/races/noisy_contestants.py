"""Who races under noise: what the package has, rules on equal terms, Optuna's and BoTorch's own.

Each is a function of a `Race`, which spends its budget and returns the point that it reports. All
begin with the same points. A search of the package costs seconds, most of them outside of its
arithmetic, and a race needs thousands: so rules race in a light form, by the same model as
`tail_compressed_model`, fitted by a dozen lines, and by a score of 512 points, of which 128 lie
near the best, without a climb. Whatever two of these differ by is then the rule.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from race_contestants import Race, told_by
from scipy.linalg.lapack import dpotrf, dpotri
from scipy.optimize import minimize
from scipy.special import ndtri

from gpnotes import stream
from gpnotes.decide import bayesopt
from gpnotes.decide.bayesopt import training_data

_BOUNDS = (0.05, 100.0), (1e-6, 1.0), (0.02, 200.0)  # of variance, noise and lengths
_SQRT3 = math.sqrt(3.0)


def ours(acquisition: Any) -> Callable[[Race], np.ndarray]:
    """`Optimiser` with an acquisition, and the place that it recommends."""

    def run(race: Race) -> np.ndarray:
        box = [(0.0, 1.0)] * race.problem.dimensions
        optimiser = bayesopt.Optimiser(box, acquisition=acquisition, rng=stream(race.seed))
        told_by(race, optimiser, race.problem.initial)
        return optimiser.recommend().x

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
    """BoTorch's `SingleTaskGP` and noisy log-EI with the defaults, and its best evaluated place.

    That is where the posterior mean is highest; a step has 512 raw points and ten starts.
    """
    import torch
    from botorch.acquisition import qLogNoisyExpectedImprovement
    from botorch.fit import fit_gpytorch_mll
    from botorch.models import SingleTaskGP
    from botorch.optim import optimize_acqf
    from gpytorch.mlls import ExactMarginalLogLikelihood

    torch.manual_seed(race.seed)
    torch.set_num_threads(1)
    bounds = torch.tensor([[0.0], [1.0]], dtype=torch.double).expand(2, race.problem.dimensions)

    def believed() -> tuple[Any, Any]:
        X = torch.as_tensor(np.stack(race.points))
        model = SingleTaskGP(X, -torch.as_tensor(np.asarray(race.readings))[:, None])
        fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
        return model, X

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of fits that are tried again
        for u in race.first():
            race(u)
        while race.left:
            model, X = believed()
            improves = qLogNoisyExpectedImprovement(model, X)
            u, _ = optimize_acqf(improves, bounds, q=1, num_restarts=10, raw_samples=512)
            race(u[0].numpy())
        model, X = believed()
        return race.points[int(model.posterior(X).mean.argmax())]


def scaled(d: int) -> tuple[float, float]:
    """Location and scale of the logarithms of the lengths, of Hvarfner et al. (2024)."""
    return math.sqrt(2.0) + 0.5 * math.log(d), _SQRT3


def fitted_numbers(
    X: np.ndarray, y: np.ndarray, prior: tuple[float, float], starts: list[np.ndarray]
) -> tuple[np.ndarray, float]:
    """Logarithms of variance, noise and lengths (2 + d,) at the top from these starts, and it.

    The top is that of the evidence of a Matérn-5/2 process, at its best constant mean, times the
    prior of the lengths.
    """
    n, d = X.shape
    squares = (X.T[:, :, None] - X.T[:, None, :]).reshape(d, n * n) ** 2
    diagonal = np.arange(n)
    ones = np.ones(n)

    def loss(logs: np.ndarray) -> tuple[float, np.ndarray]:
        variance, noise = np.exp(logs[:2])
        weights = np.exp(-2.0 * logs[2:])
        r = np.sqrt(5.0 * (weights @ squares)).reshape(n, n)
        decay = variance * np.exp(-r)
        C = decay * (1.0 + r + r * r / 3.0)
        K = C.copy()
        K[diagonal, diagonal] += noise
        L, failed = dpotrf(K, lower=True, overwrite_a=False)
        if failed:
            return 1e10, np.zeros_like(logs)
        P = np.tril(dpotri(L, lower=True)[0])
        P += np.tril(P, -1).T
        a = P @ ones
        level = (a @ y) / (a @ ones)
        a = P @ (y - level)
        value = -0.5 * (a @ (y - level)) - np.sum(np.log(L[diagonal, diagonal]))
        G = np.outer(a, a) - P
        slope = np.empty_like(logs)
        slope[0] = 0.5 * np.sum(G * C)
        slope[1] = 0.5 * noise * np.trace(G)
        slope[2:] = weights * (squares @ ((5.0 / 6.0) * G * decay * (1.0 + r)).ravel())
        z = (logs[2:] - prior[0]) / prior[1]
        value -= np.sum(0.5 * z * z + logs[2:])
        slope[2:] -= z / prior[1] + 1.0
        return -value, -slope

    ends = [tuple(np.log(_BOUNDS[min(i, 2)])) for i in range(2 + d)]
    tops = [
        minimize(loss, start, jac=True, method="L-BFGS-B", bounds=ends, options={"maxiter": 100})
        for start in starts
    ]
    best = min(tops, key=lambda top: top.fun)
    return best.x, -float(best.fun) - 0.5 * n * math.log(2.0 * math.pi)


@dataclass(frozen=True)
class Belief:
    """The posterior of f: what the rules ask of it at candidates and at what was evaluated."""

    logs: np.ndarray
    X: np.ndarray
    y: np.ndarray

    def __post_init__(self) -> None:
        K = self.kernel(self.X, self.X) + self.noise * np.eye(len(self.X))
        inverse = np.linalg.inv(K)
        rows = np.sum(inverse, axis=1)
        level = float(rows @ self.y / np.sum(rows))
        for name, value in {
            "inverse": inverse, "level": level, "weights": inverse @ (self.y - level)
        }.items():  # fmt: skip
            object.__setattr__(self, name, value)

    @property
    def noise(self) -> float:
        """The variance of the noise of a reading."""
        return math.exp(self.logs[1])

    def kernel(self, A: np.ndarray, B: np.ndarray) -> np.ndarray:
        """Matérn-5/2."""
        A, B = A / np.exp(self.logs[2:]), B / np.exp(self.logs[2:])
        square = np.sum(A * A, axis=1)[:, None] + np.sum(B * B, axis=1) - 2.0 * A @ B.T
        r = np.sqrt(5.0 * np.clip(square, 0.0, None))
        return math.exp(self.logs[0]) * (1.0 + r + r * r / 3.0) * np.exp(-r)

    def at(self, Xs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Means and variances of f."""
        cross = self.kernel(Xs, self.X)
        variance = math.exp(self.logs[0]) - np.sum(cross @ self.inverse * cross, axis=1)
        return self.level + cross @ self.weights, np.clip(variance, 1e-14, None)

    def covariance(self, A: np.ndarray, B: np.ndarray) -> np.ndarray:
        """Covariances of f at A with f at B."""
        return self.kernel(A, B) - self.kernel(A, self.X) @ self.inverse @ self.kernel(self.X, B)


Score = Callable[[Belief, np.ndarray, np.random.Generator], np.ndarray]


def improvement(belief: Belief, at: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The logarithm of the expected improvement over the highest mean of what was evaluated."""
    best = float(np.max(belief.at(belief.X)[0]))
    return bayesopt.LogExpectedImprovement(best)(*belief.at(at))


def bound(beta: float) -> Score:
    """``μ + √β σ``."""
    return lambda belief, at, rng: bayesopt.UpperConfidenceBound(beta)(*belief.at(at))


def draw(belief: Belief, at: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A joint draw of f: Thompson's rule."""
    return _draws(belief, at, 1, rng)[0]


def _draws(belief: Belief, at: np.ndarray, count: int, rng: np.random.Generator) -> np.ndarray:
    """So many joint draws of f, with a hundred-millionth of its variance for rounding."""
    C = belief.covariance(at, at)
    C[np.diag_indices(len(at))] += 1e-8 * math.exp(belief.logs[0])
    L, failed = dpotrf(C, lower=True)
    if failed:
        values, vectors = np.linalg.eigh(C)
        L = vectors * np.sqrt(np.clip(values, 0.0, None))
    else:
        L = np.tril(L)
    return belief.at(at)[0] + rng.standard_normal((count, len(at))) @ L.T


def in_turns(belief: Belief, at: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Improvement, or a draw, by the toss of a coin."""
    return (draw if rng.random() < 0.5 else improvement)(belief, at, rng)


def noisy_improvement(belief: Belief, at: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The mean of expected improvement over 32 joint draws of f where was read, taken for known.

    Source: Letham et al. (2019), section 3.
    """
    seen = np.unique(belief.X, axis=0)
    values = _draws(belief, seen, 32, rng)
    K = belief.kernel(seen, seen) + 1e-8 * math.exp(belief.logs[0]) * np.eye(len(seen))
    cross = belief.kernel(at, seen)
    told = np.linalg.solve(K, cross.T)
    left = np.clip(math.exp(belief.logs[0]) - np.sum(cross * told.T, axis=1), 1e-14, None)
    gain = belief.level + (values - belief.level) @ told - np.max(values, axis=1, keepdims=True)
    improved = bayesopt.ExpectedImprovement(0.0)
    return np.mean([improved(one, left) for one in gain], axis=0)


_Z = ndtri((np.arange(16) + 0.5) / 16)  # sixteen readings that are equally likely


def knowledge_gradient(belief: Belief, at: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """What the highest mean, there or where was read, is expected to be after a reading there.

    Source: Frazier, Powell & Dayanik (2009).
    """
    mean, variance = belief.at(at)
    seen = np.unique(belief.X, axis=0)
    level = belief.at(seen)[0]
    spread = np.sqrt(variance + belief.noise)
    slopes = belief.covariance(at, seen) / spread[:, None]
    tops = [
        np.maximum(np.max(level + slopes * z, axis=1), mean + variance / spread * z) for z in _Z
    ]
    return np.mean(tops, axis=0)


def candidates(race: Race, belief: Belief, rng: np.random.Generator) -> np.ndarray:
    """384 points of a Sobol sequence and 128 near the five best; with noise what was read too."""
    from scipy.stats import qmc

    drawn = qmc.Sobol(belief.X.shape[1], scramble=True, seed=rng).random(512)[:384]
    good = belief.X[np.argsort(-belief.at(belief.X)[0])[:5]]
    near = good[rng.integers(0, len(good), 128)]
    moved = rng.random(near.shape) < 0.5
    moved[np.arange(128), rng.integers(0, near.shape[1], 128)] = True
    width = 10.0 ** rng.uniform(-2.5, -0.7, (128, 1))
    near = np.clip(near + width * moved * rng.standard_normal(near.shape), 0.0, 1.0)
    parts = [drawn, near]
    if belief.noise > 0.01:  # of the variance of the values
        parts.append(np.unique(belief.X, axis=0))
    return np.concatenate(parts)


def light(score: Score) -> Callable[[Race], np.ndarray]:
    """A search by a score, and the evaluated place of the highest mean."""

    def run(race: Race) -> np.ndarray:
        d = race.problem.dimensions
        prior = scaled(d)
        mode = np.full(2 + d, prior[0] - prior[1] ** 2)
        mode[:2] = 0.0, math.log(1e-3)
        last = mode

        def believed() -> Belief:
            nonlocal last
            X = np.stack(race.points)
            y = training_data.standardised(-np.asarray(race.readings))[0]
            y = training_data.compress_tail(y)
            starts = [mode, last] if len(y) % 3 == 0 or last is mode else [last]
            last = fitted_numbers(X, y, prior, starts)[0]
            return Belief(last, X, y)

        for u in race.first():
            race(u)
        while race.left:
            rng = np.random.default_rng([race.seed, 5, race.left])
            belief = believed()
            at = candidates(race, belief, rng)
            race(at[int(np.argmax(score(belief, at, rng)))])
        return race.points[int(np.argmax(believed().at(np.stack(race.points))[0]))]

    return run


CONTESTANTS: dict[str, Callable[[Race], np.ndarray]] = {
    "light improvement": light(improvement),
    "improvement": ours(bayesopt.LogExpectedImprovement),
    "default": ours(None),
    "thompson": ours(bayesopt.ThompsonSampling()),
    "optuna": by_optuna("TPESampler"),
    "botorch": by_botorch,
    "light bound, 4": light(bound(4.0)),
    "light thompson": light(draw),
    "light knowledge gradient": light(knowledge_gradient),
    "light noisy improvement": light(noisy_improvement),
    "light improvement and draws": light(in_turns),
}
