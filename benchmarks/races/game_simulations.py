"""Where to simulate a game: four ways to spend the same number of simulations, over twenty games.

Ten games are roads with quadratic delays and a luck that all share who take a road, ten are sums of
random bumps with noise of one size; 21 and 11 players choose among three and two strategies. Every
way has the same budget of simulated profiles:

- `uniform`: profiles of mixtures that are uniform on the simplex;
- `deviations`: sixty of these, and then profiles at the equilibria that the model has, half of them
  with one player who deviates, as gameanalysis draws them;
- `regret`: sixty of these, and then those where the error of the regret shrinks most;
- `reduction`: the deviation-preserving reduction of gameanalysis, a game of few players all whose
  profiles are simulated, as often as the budget allows.

The first three learn after every twenty-five simulations. Each is judged by the regret, in the true
game, of the equilibrium it ends with, in units of the standard deviation of the game's payoffs.

Run it with `OMP_NUM_THREADS=1 python benchmarks/races/game_simulations.py`; it takes about five
minutes and writes `src/gpnotes/data/game-simulations.csv.gz`.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from kept_runs import opened_table

from gpnotes import stream
from gpnotes.games import (
    Expansion,
    PayoffModel,
    RoleSymmetricGame,
    all_profiles,
    find_equilibria,
    fit_payoffs,
    propose_profiles,
    regret,
    tabulate,
)

TARGET = Path(__file__).resolve().parents[2] / "src" / "gpnotes" / "data"
GAME = RoleSymmetricGame((21, 11), (3, 2))
GAMES, FIRST, ROUND, BUDGETS = 20, 60, 25, (60, 110, 160)
HEAD = ("game", "kind", "way", "budget", "regret", "seconds")
PLACE = np.array([0, 1, 2, 0, 1])  # the road of each strategy


@dataclass(frozen=True)
class Truth:
    """A game that is known: its expected payoffs, and a simulator."""

    kind: str
    expected: Callable[[np.ndarray], np.ndarray]
    simulate: Callable[[np.ndarray, np.random.Generator], np.ndarray]
    unit: float


def roads(rng: np.random.Generator) -> Truth:
    """Quadratic delays, and luck that multiplies them."""
    empty = rng.uniform(15, 35, 3)[PLACE]
    capacity = rng.uniform(12, 25, 3)[PLACE]
    room = np.array([1, 1, 1, 1, 1]) + (np.arange(5) >= 3) * rng.uniform(0, 1)
    takes = rng.uniform(1.5, 3.0)

    def minutes(mean_square: np.ndarray, luck: np.ndarray | float) -> np.ndarray:
        return -empty * (1 + luck * mean_square / capacity**2)

    def simulate(x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        others = np.hstack([x[:, 3:], np.zeros((len(x), 1))])[:, PLACE]
        load = x[:, PLACE] + takes * others + room - 1
        luck = rng.gamma(25, 1 / 25, (len(x), 3))[:, PLACE]
        return np.where(x > 0, minutes(load**2, luck), np.nan)

    def expected(p: np.ndarray) -> np.ndarray:
        n = np.array([GAME.opponents(s) for s in range(5)])
        a, b = p[:, PLACE], np.hstack([p[:, 3:], np.zeros((len(p), 1))])[:, PLACE]
        own = np.where(np.arange(5) < 3, 1.0, takes) + room - 1
        mean = own + n[:, 0] * a + takes * n[:, 1] * b
        spread = n[:, 0] * a * (1 - a) + takes**2 * n[:, 1] * b * (1 - b)
        return minutes(mean**2 + spread, 1.0)

    return Truth("roads", expected, simulate, _unit(expected))


def bumps(rng: np.random.Generator) -> Truth:
    """Random sums of bumps as wide as a third of the players, and noise of a third of their sd."""
    model = PayoffModel(
        GAME,
        tuple(
            Expansion(
                random_profiles(GAME.opponents(s), 60, rng),
                rng.standard_normal(60),
                np.repeat([7.0, 4.0], [3, 2]) * rng.uniform(0.7, 1.4, 5),
            )
            for s in range(5)
        ),
    )
    unit = _unit(model.deviation_payoffs)

    def simulate(x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        noisy = unit / 3 * rng.standard_normal(x.shape)
        for s, payoff in enumerate(model.expansions):
            noisy[:, s] += payoff.payoff(np.maximum(x - (np.arange(5) == s), 0.0))
        return np.where(x > 0, noisy, np.nan)

    return Truth("bumps", model.deviation_payoffs, simulate, unit)


def _unit(expected: Callable[[np.ndarray], np.ndarray]) -> float:
    rng = stream(1).generator
    p = np.hstack([rng.dirichlet(np.ones(s), 200) for s in GAME.strategies])
    return float(np.std(expected(p)))


def random_profiles(players: tuple[int, ...], number: int, rng: np.random.Generator) -> np.ndarray:
    """Profiles of mixtures that are uniform on the simplex of each role."""
    shares = [rng.dirichlet(np.ones(s), number) for s in GAME.strategies]
    drawn = [rng.multinomial(n, p) for n, p in zip(players, shares, strict=True)]
    return 1.0 * np.hstack(drawn)


def uniform(model: PayoffModel, settled: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """More of the same."""
    return random_profiles(GAME.players, ROUND, rng)


def deviations(model: PayoffModel, settled: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """At the equilibria, every other one with a player who deviates to a strategy by turns."""
    p = settled[np.arange(ROUND) % len(settled)]
    x = 1.0 * np.hstack(
        [rng.multinomial(n, p[:, c]) for n, c in zip(GAME.players, GAME.columns, strict=True)]
    )
    for i, t in zip(range(1, ROUND, 2), itertools.cycle(range(5)), strict=False):
        c = GAME.columns[GAME.role_of(t)]
        x[i, c.start + rng.choice(c.stop - c.start, p=x[i, c] / x[i, c].sum())] -= 1
        x[i, t] += 1
    return x


def by_regret(model: PayoffModel, settled: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Where the error of the regret shrinks most."""
    return propose_profiles(model, settled, ROUND, rng=int(rng.integers(2**31)))


def equilibria(model: PayoffModel, seed: int) -> np.ndarray:
    """The equilibria of a model, at most three; or the mixture where the search came nearest."""
    found = find_equilibria(model, rng=seed, num_starts=6, max_supports=32)
    if len(found):
        return np.array([each.mixture for each in found][:3])
    return np.array([min(found.searches, key=lambda each: max(each.regrets)).mixture])


def judged(truth: Truth, mixture: np.ndarray) -> float:
    return float(regret(truth.expected(mixture[None]), mixture[None], GAME)[0]) / truth.unit


def learned(truth: Truth, way: Callable[..., np.ndarray], seed: int) -> list[tuple[int, float]]:
    """The regret at each budget of a way that learns as it goes."""
    rng = stream(seed).generator
    x = random_profiles(GAME.players, FIRST, rng)
    u, told = truth.simulate(x, rng), []
    while True:
        model = fit_payoffs(GAME, x, u, lengthscale_per="role")
        settled = equilibria(model, seed)
        if len(x) in BUDGETS:
            told.append((len(x), judged(truth, settled[0])))
        if len(x) >= BUDGETS[-1]:
            return told
        more = way(model, settled, rng)
        x = np.vstack([x, more])
        u = np.vstack([u, truth.simulate(more, rng)])


def spread(counts: np.ndarray, total: int) -> np.ndarray:
    """So many players in the proportions of a few, the largest remainders rounded up."""
    if counts.sum() == 0:
        return 0.0 * counts
    share = counts * total / counts.sum()
    whole = np.floor(share)
    for i in np.argsort(whole - share, kind="stable")[: int(total - whole.sum())]:
        whole[i] += 1
    return whole


def reduction(truth: Truth, budget: int, seed: int) -> float:
    """A game of few players: a deviator meets all others in the proportions of the few."""
    best = None
    for few in itertools.product(range(2, 7), range(2, 7)):
        small = RoleSymmetricGame(few, GAME.strategies)
        asked = list(_asked(small))
        if len({full.tobytes() for *_, full in asked}) <= budget:
            best = max(best or (0, 0, None, None), (len(asked), few[0], small, asked),
                       key=lambda each: each[:2])  # fmt: skip
    _, _, small, asked = best
    distinct = np.unique([full for *_, full in asked], axis=0)
    rng = stream(seed).generator
    times = np.arange(budget) % len(distinct)
    seen = truth.simulate(distinct[times], rng)
    means = np.array([np.mean(seen[times == k], axis=0) for k in range(len(distinct))])
    profiles = all_profiles(small)
    payoffs = np.full(profiles.shape, np.nan)
    for row, s, full in asked:
        payoffs[row, s] = means[np.flatnonzero((distinct == full).all(axis=1))[0], s]
    return judged(truth, equilibria(tabulate(small, profiles, payoffs), seed)[0])


def _asked(small: RoleSymmetricGame):
    """For every profile of the small game and strategy played there, a profile of the game."""
    for row, profile in enumerate(all_profiles(small)):
        for s in np.flatnonzero(profile > 0):
            others = profile - (np.arange(5) == s)
            parts = [
                spread(others[c], n)
                for n, c in zip(GAME.opponents(int(s)), GAME.columns, strict=True)
            ]
            yield row, s, np.hstack(parts) + (np.arange(5) == s)


def main(games: int, target: Path) -> None:
    ways = {"uniform": uniform, "deviations": deviations, "regret": by_regret}
    rows = []
    for g in range(games):
        truth = (roads, bumps)[g % 2](stream(100 + g).generator)
        for name, way in ways.items():
            start = time.process_time()
            told = learned(truth, way, 1000 + g)
            spent = time.process_time() - start
            rows += [(g, truth.kind, name, b, f"{r:.4f}", f"{spent:.1f}") for b, r in told]
        for budget in BUDGETS:
            start = time.process_time()
            r = reduction(truth, budget, 1000 + g)
            spent = time.process_time() - start
            rows.append((g, truth.kind, "reduction", budget, f"{r:.4f}", f"{spent:.1f}"))
        print(*rows[-12:], sep="\n", flush=True)
    kinds, codes = (
        {"roads": 0, "bumps": 1},
        {name: k for k, name in enumerate([*ways, "reduction"])},
    )
    coded = [(g, kinds[kind], codes[way], *rest) for g, kind, way, *rest in rows]
    with opened_table(target) as file:
        csv.writer(file, lineterminator="\n").writerows([HEAD, *coded])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--games", type=int, default=GAMES)
    parser.add_argument("--target", type=Path, default=TARGET / "game-simulations.csv.gz")
    given = parser.parse_args()
    main(given.games, given.target)
