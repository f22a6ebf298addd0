"""How well do 300 mornings teach the game of three roads? Twelve draws of them, two ways to learn.

The game, the simulator and the truth are those of the chapter on equilibria, and so are the
seeds: its own mornings are those of seed 5. A draw is learned with a lengthscale for each strategy
and with one for each role.

Run it with `python benchmarks/road_mornings.py`; it writes `src/gpnotes/data/road-mornings.csv`.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from gpnotes import asarray, stream, to_numpy
from gpnotes.decide.games import PayoffModel, RoleSymmetricGame, find_equilibria, fit_payoffs

GAME = RoleSymmetricGame(players=(60, 20), strategies=(3, 2))
ROAD = np.array([0, 1, 2, 0, 1])  # of each strategy
EMPTY = np.array([20.0, 25.0, 30.0, 26.0, 30.0])  # minutes on an empty road
CAPACITY = np.array([60.0, 50.0, 50.0, 60.0, 50.0])  # what doubles the time
ROOM = np.array([2, 2, 2, 4, 4])  # that a lorry takes
SEEDS, MORNINGS, FAR = range(5, 17), 300, 150.0
TARGET = Path(__file__).resolve().parent.parent / "src" / "gpnotes" / "data" / "road-mornings.csv"


def profiles(rng: np.random.Generator) -> np.ndarray:
    """Profiles of mixtures that are uniform on the simplex of each role, (MORNINGS, 5)."""
    drawn = [
        rng.multinomial(n, rng.dirichlet(np.ones(S), MORNINGS))
        for n, S in zip(GAME.players, GAME.strategies, strict=True)
    ]
    return 1.0 * np.hstack(drawn)


def simulate(played: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Payoffs on one random morning for each profile, NaN for a road that nobody takes."""
    luck = rng.gamma(25, 1 / 25, (len(played), 3))[:, ROAD]
    counts = np.concatenate([played, np.zeros((len(played), 1))], axis=1)
    crowding = ((counts[:, ROAD] + ROOM * counts[:, 3 + ROAD]) / CAPACITY) ** 2
    return np.where(played > 0, -EMPTY * (1 + luck * crowding), np.nan)


def true_payoffs(mixtures: np.ndarray) -> np.ndarray:
    """Expected payoff of each strategy when all others mix, (n, 5)."""
    p = np.concatenate([mixtures, np.zeros((len(mixtures), 1))], axis=1)
    is_car = np.arange(5) < 3
    cars, lorries = 60 - is_car, 20 - ~is_car
    a, b = p[:, ROAD], p[:, 3 + ROAD]
    mean = np.where(is_car, 1, ROOM) + cars * a + ROOM * lorries * b
    variance = cars * a * (1 - a) + ROOM**2 * lorries * b * (1 - b)
    return -EMPTY * (1 + (mean**2 + variance) / CAPACITY**2)


def feels(model: PayoffModel) -> tuple[bool, bool]:
    """Whether the lengthscales say who feels whose cars, and who feels lorries, as is true."""
    felt = np.array([to_numpy(e.lengthscales) for e in model.expansions]) < FAR
    cars = np.all(felt[:, :3] == (ROAD[:, None] == ROAD[:3]))
    lorries = not felt[2, 3:].any() and felt[[0, 1, 3, 4], 3:].all()
    return bool(cars), bool(lorries)


def row(seed: int, lengths: str) -> str:
    """One line of the table."""
    rng, fresh = stream(seed).generator, stream(6).generator
    mornings = profiles(rng)
    earned = simulate(mornings, rng)
    model = fit_payoffs(GAME, asarray(mornings), asarray(earned), lengths=lengths)
    tried = np.hstack([fresh.dirichlet(np.ones(S), 200) for S in GAME.strategies])
    off = to_numpy(model.deviation_payoffs(asarray(tried), "exact")) - true_payoffs(tried)
    found = find_equilibria(
        model, stream=stream(7), true=lambda p: asarray(true_payoffs(to_numpy(p)))
    )
    error, worst = float(np.sqrt(np.mean(off**2))), float(np.abs(off).max())
    cars, lorries = feels(model)
    numbers = f"{error:.2f},{worst:.1f},{found[0].true_regret:.2f}"
    return f"{seed},{int(lengths == 'role')},{numbers},{int(cars)},{int(lorries)}"


def main() -> None:
    """Write the table."""
    header = "seed,by_role,error,largest,true_regret,cars_felt,lorries_felt"
    rows = [row(seed, lengths) for lengths in ("strategy", "role") for seed in SEEDS]
    TARGET.write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
