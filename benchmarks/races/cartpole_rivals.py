"""Two ways to learn the cart-pole that plan anew in every step, with networks for a model.

`Ensemble` are networks with two hidden layers that say a mean and a variance of the change of a
state, trained by Adam, each on a resample of the transitions of its own. With five of them,
particles that stay with one network each, and the cross-entropy method for the plan it is much
like PETS (Chua et al., 2018); with one network without a variance and plans drawn at random it is
random shooting (Nagabandi et al., 2018).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from gpnotes.decide.pilco import Task, Transitions
from gpnotes.decide.pilco.cartpole import FORCE

HIDDEN, RATE, DECAY = 64, 3e-3, 1e-4
Weights = list[np.ndarray]


@dataclass(frozen=True)
class Setting:
    """What a way to plan leaves open."""

    members: int
    steps: int  # of Adam, before each trial
    horizon: int
    plans: int
    rounds: int  # of the cross-entropy method; one is random shooting
    certain: bool = False  # networks without a variance
    elites: int = 10


@dataclass
class Ensemble:
    """Networks (members, in, out) with the scales of their inputs and outputs."""

    weights: Weights
    scales: tuple[np.ndarray, ...]
    certain: bool

    def predict(self, x: np.ndarray, u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Mean and standard deviation of the change, (members, n, 4), at x (members, n, 4)."""
        centre, spread, wide = self.scales
        mean, log_var, _ = _through(self.weights, (_features(x, u) - centre) / spread)
        sd = np.zeros_like(mean) if self.certain else np.exp(0.5 * log_var)
        return mean * wide, sd * wide


def _features(x: np.ndarray, u: np.ndarray) -> np.ndarray:
    """(x, ẋ, θ̇, sin θ, cos θ, u), as the Gaussian processes see it."""
    angle = x[..., 2:3]
    return np.concatenate([x[..., :2], x[..., 3:], np.sin(angle), np.cos(angle), u], axis=-1)


def _through(weights: Weights, x: np.ndarray) -> tuple[np.ndarray, np.ndarray, Weights]:
    A, a, B, b, C, c = weights
    first = np.tanh(x @ A + a)
    second = np.tanh(first @ B + b)
    out = second @ C + c
    log_var = -3.0 + 5.0 * np.tanh(out[..., 4:] / 5.0)  # from e⁻⁸ to e²
    return out[..., :4], log_var, [x, first, second, log_var]


def _first(members: int, rng: np.random.Generator) -> Weights:
    sizes = (6, HIDDEN, HIDDEN, 8)
    weights: Weights = []
    for rows, columns in pairwise(sizes):
        weights.append(rng.standard_normal((members, rows, columns)) / np.sqrt(rows))
        weights.append(np.zeros((members, 1, columns)))
    return [w.astype(np.float32) for w in weights]


def train(data: Transitions, setting: Setting, rng: np.random.Generator) -> Ensemble:
    """Networks trained from new weights, each on its own resample; one sees all data once."""
    members, steps, certain = setting.members, setting.steps, setting.certain
    x, y = _features(data.states, data.actions), data.next_states - data.states
    scales = x.mean(0), x.std(0) + 1e-6, y.std(0) + 1e-6
    n = len(x)
    rows = rng.integers(n, size=(members, n)) if members > 1 else np.arange(n)[None]
    X = ((x - scales[0]) / scales[1])[rows].astype(np.float32)
    Y = (y / scales[2])[rows].astype(np.float32)
    weights = _first(members, rng)
    moments = [(np.zeros_like(w), np.zeros_like(w)) for w in weights]
    for step in range(1, steps + 1):
        slopes = _slopes(weights, X, Y, certain)
        rate = RATE * min(1.0, 4.0 * (1.0 - step / (steps + 1)))
        for w, slope, (m, v) in zip(weights, slopes, moments, strict=True):
            slope = slope + DECAY * w
            m += 0.1 * (slope - m)
            v += 0.001 * (slope * slope - v)
            fair = np.sqrt(v / (1.0 - 0.999**step)) + 1e-8
            w -= rate * m / (1.0 - 0.9**step) / fair
    scales = tuple(part.astype(np.float32) for part in scales)
    return Ensemble(weights, scales, certain)


def _slopes(weights: Weights, X: np.ndarray, Y: np.ndarray, certain: bool) -> Weights:
    """Derivatives of the mean negative log likelihood, or of half the mean square."""
    _, _, B, _, C, _ = weights
    mean, log_var, (x, first, second, _) = _through(weights, X)
    off, n = mean - Y, X.shape[1]
    if certain:
        out = np.concatenate([off, np.zeros_like(off)], axis=-1) / n
    else:
        scaled = off * np.exp(-log_var)
        bend = 1.0 - ((log_var + 3.0) / 5.0) ** 2
        out = np.concatenate([scaled, 0.5 * (1.0 - off * scaled) * bend], axis=-1) / n
    turned = lambda a: np.swapaxes(a, 1, 2)  # noqa: E731
    through = (out @ turned(C)) * (1.0 - second * second)
    below = (through @ turned(B)) * (1.0 - first * first)
    pairs = [(x, below), (first, through), (second, out)]
    return [part for a, bar in pairs for part in (turned(a) @ bar, bar.sum(1, keepdims=True))]


@dataclass(frozen=True)
class Planner:
    """The force of the best plan that is found, made anew in every step."""

    model: Ensemble
    task: Task
    rng: np.random.Generator
    setting: Setting
    state: Any = None  # the mean of the plan of the step before

    def fresh(self) -> Planner:
        """A planner without a plan, for a new trial."""
        return replace(self, state={"mean": np.zeros(self.setting.horizon)})

    def __call__(self, z: np.ndarray) -> np.ndarray:
        how = self.setting
        mean, sd = self.state["mean"], np.full(how.horizon, 0.5 * FORCE)
        for number in range(how.rounds):
            drawn = self.rng.standard_normal((how.plans, how.horizon))
            if how.rounds == 1:
                plans = FORCE * self.rng.uniform(-1.0, 1.0, drawn.shape)
            else:
                plans = np.clip(mean + sd * drawn, -FORCE, FORCE)
            order = np.argsort(self._costs(z[:4], plans))
            best = plans[order[: how.elites]]
            if number < how.rounds - 1:
                mean, sd = best.mean(0), best.std(0) + 0.1
        self.state["mean"] = np.append(best.mean(0)[1:], 0.0)
        return np.asarray([best[0, 0]])

    def _costs(self, x: np.ndarray, plans: np.ndarray) -> np.ndarray:
        """The mean cost of each plan (p, horizon) over one particle for each network."""
        members, p = len(self.model.weights[0]), len(plans)
        states = np.broadcast_to(x.astype(np.float32), (members, p, 4))
        total = np.zeros(p)
        for t in range(self.setting.horizon):
            u = np.broadcast_to(plans[:, t, None].astype(np.float32), (members, p, 1))
            mean, sd = self.model.predict(states, u)
            if not self.model.certain:
                mean = mean + sd * self.rng.standard_normal(mean.shape, dtype=np.float32)
            states = states + mean
            total += _cost(self.task, states).mean(0)
        return total


def _cost(task: Task, x: np.ndarray) -> np.ndarray:
    """The saturating cost of states (..., 4)."""
    angle = x[..., 2:3]
    z = np.concatenate([x, np.sin(angle), np.cos(angle)], axis=-1) - task.cost.target
    return 1.0 - np.exp(-0.5 * np.sum((z @ task.cost.weight) * z, axis=-1))
