"""Make ``gameanalysis.json``: what gameanalysis 8.1.0 answers for random games.

The program is old and wants old libraries, so this script runs in an environment of its own:

    uv venv --python 3.11 old
    uv pip install --python old/bin/python numpy==1.23.5 scipy==1.9.3 scikit-learn==1.1.3
    uv pip install --python old/bin/python --no-deps gameanalysis==8.1.0
    old/bin/python tests/data/make_gameanalysis.py

Every number is drawn from one seed; a second run on the same machine writes the same file. Each
game holds one expansion a strategy, payoff(x) = offset + scale Σ_j w_j exp(-½ Σ_s (X_js - x_s)² /
ℓ_s²) over profiles x less the deviator; mixtures; and the program's deviation payoffs and Jacobians
(rows are payoffs, columns are probabilities): by its closed form, at the mean profile, and, where
there are few profiles, by adding all of them up. Its neighbour method is not here: ours takes the
profiles near the likeliest one of the opponents, not of all players. The last games are trained by
the program itself on noisy payoffs; the others are drawn.
"""

from __future__ import annotations

import json
import platform
import sys
import warnings
from pathlib import Path

import gameanalysis
import numpy as np
import scipy
import sklearn
from gameanalysis import learning, paygame, rsgame

TARGET = Path(__file__).with_name("gameanalysis.json")
SEED = 20180501
MOST_PROFILES = 20_000  # of all players: more are not added up
# players and strategies a role, and what the length scales are a multiple of
DRAWN = [
    ((2,), (2,), "long"),
    ((12,), (2,), "short"),
    ((5,), (3,), "mixed"),
    ((12,), (3,), "long"),
    ((7,), (4,), "mixed"),
    ((12,), (4,), "tiny"),
    ((2, 2), (2, 2), "mixed"),
    ((3, 7), (2, 3), "long"),
    ((12, 5), (2, 2), "short"),
    ((6, 4), (3, 4), "mixed"),
    ((12, 9), (4, 4), "long"),
    ((8, 11), (4, 3), "tiny"),
    ((1, 6), (2, 3), "mixed"),
    ((5, 1), (3, 2), "short"),
    ((1, 1), (3, 2), "long"),
    ((2, 3, 4), (2, 2, 2), "mixed"),
    ((4, 2, 3), (2, 3, 2), "long"),
    ((12, 7, 3), (4, 2, 3), "mixed"),
    ((9, 5, 12), (3, 4, 4), "short"),
    ((3, 1, 5), (2, 2, 3), "mixed"),
    ((6, 10, 8), (4, 3, 2), "tiny"),
]
TRAINED = [((8,), (3,)), ((6, 4), (2, 3)), ((12, 7), (3, 2)), ((4, 3, 2), (2, 2, 3))]
LENGTHS = {"tiny": (0.2, 0.9), "short": (0.5, 2.0), "mixed": (0.4, 15.0), "long": (5.0, 20.0)}


def main() -> int:
    """Draw or train the games, ask the program, write the file."""
    warnings.filterwarnings("ignore", message="Creating an ndarray from ragged")  # the program's
    rng = np.random.default_rng(SEED)
    games = [record(drawn(rng, *shape), rng, f"drawn, {shape[2]}") for shape in DRAWN]
    games += [record(trained(rng, *shape), rng, "trained") for shape in TRAINED]
    versions = {
        "gameanalysis": gameanalysis.__version__,
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
        "python": platform.python_version(),
    }
    head = {"versions": versions, "seed": SEED}
    lines = ",\n".join(json.dumps(game, separators=(",", ":")) for game in games)
    shown = json.dumps(head)[:-1] + f', "games": [\n{lines}\n]}}\n'
    TARGET.write_text(shown, encoding="utf-8")
    print(f"{len(games)} games, {TARGET.stat().st_size / 1e6:.2f} MB")
    return 0


def drawn(rng: np.random.Generator, players, strategies, lengths: str):
    """A game with random expansions, handed to the program in its own file format."""
    base = rsgame.empty(players, strategies)
    low, high = LENGTHS[lengths]
    size = base.num_strats
    held = {**base.to_json(), "type": "rbf.1"}
    # short length scales make small payoffs: an offset would round them away
    offsets = rng.normal(0, 10 if lengths in ("mixed", "long") else 0, size)
    held["offsets"] = base.payoff_to_json(np.round(offsets, 3))
    held["coefs"] = base.payoff_to_json(np.round(rng.uniform(0.5, 30, size), 3))
    for field in ("lengths", "profiles", "alphas"):
        held[field] = {role: {} for role in base.role_names}
    for strategy, (role, name) in enumerate(pairs(base)):
        n = int(rng.integers(5, 20))
        lengthscales = np.exp(rng.uniform(np.log(low), np.log(high), size))
        profiles = opponents(rng, base, strategy, n)
        held["lengths"][role][name] = base.payoff_to_json(np.round(lengthscales, 4))
        held["profiles"][role][name] = [base.profile_to_json(profile) for profile in profiles]
        held["alphas"][role][name] = np.round(rng.normal(0, 1, len(profiles)), 5).tolist()
    return learning.rbfgame_json(held)


def pairs(game):
    """Role and strategy names in the order of the columns."""
    return [
        (role, name)
        for role, names in zip(game.role_names, game.strat_names, strict=True)
        for name in names
    ]


def trained(rng: np.random.Generator, players, strategies):
    """A game that the program learned from random profiles with smooth, noisy payoffs."""
    base = rsgame.empty(players, strategies)
    profiles = whole_profiles(rng, base, 40)
    slopes = rng.normal(size=(base.num_strats, base.num_strats))
    payoffs = 3 + 5 * np.sin(profiles @ slopes / base.num_role_players.sum())
    payoffs = payoffs + rng.normal(0, 0.1, payoffs.shape)
    payoffs[profiles == 0] = 0  # nobody plays it: the program wants a zero there
    game = paygame.game(players, strategies, profiles, payoffs)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # length scales at their bounds do no harm here
        return learning.rbfgame_train(game, num_restarts=0)


def whole_profiles(rng: np.random.Generator, game, n: int) -> np.ndarray:
    """At most n distinct profiles of all players."""
    return distinct_profiles(rng, game.num_role_players, game.num_role_strats, n)


def opponents(rng: np.random.Generator, game, strategy: int, n: int) -> np.ndarray:
    """At most n distinct profiles less one player of this strategy's role."""
    deviator = np.arange(game.num_roles) == game.role_indices[strategy]
    return distinct_profiles(rng, game.num_role_players - deviator, game.num_role_strats, n)


def distinct_profiles(rng: np.random.Generator, players, strategies, n: int) -> np.ndarray:
    """Multinomial draws whose probabilities are drawn anew for each, once each."""
    rows = [
        np.concatenate(
            [
                rng.multinomial(m, rng.dirichlet(np.ones(k)))
                for m, k in zip(players, strategies, strict=True)
            ]
        )
        for _ in range(n)
    ]
    return np.unique(rows, axis=0)


def mixtures(rng: np.random.Generator, game) -> list[tuple[str, np.ndarray]]:
    """Two inside, two near the boundary, one on it, and a pure one."""
    inside = [dirichlets(rng, game, 5.0), dirichlets(rng, game, 1.0)]
    near = [bent(rng, game, floor) for floor in (1e-2, 1e-6)]
    kinds = ["inside", "inside", "near", "near", "boundary", "pure"]
    return list(zip(kinds, [*inside, *near, bent(rng, game, 0.0), pure(rng, game)], strict=True))


def dirichlets(rng: np.random.Generator, game, weight: float) -> np.ndarray:
    return np.concatenate([rng.dirichlet(np.full(k, weight)) for k in game.num_role_strats])


def bent(rng: np.random.Generator, game, floor: float) -> np.ndarray:
    """A mixture in which one strategy of each role has hardly any probability, or none."""
    mixture = dirichlets(rng, game, 3.0)
    for start, k in zip(game.role_starts, game.num_role_strats, strict=True):
        part = mixture[start : start + k]  # a view
        part[rng.integers(k)] = 0.0
        part *= (1 - floor) / part.sum()
        part[part == 0.0] = floor
    return mixture


def pure(rng: np.random.Generator, game) -> np.ndarray:
    mixture = np.zeros(game.num_strats)
    mixture[game.role_starts + rng.integers(game.num_role_strats)] = 1.0
    return mixture


def record(game, rng: np.random.Generator, origin: str) -> dict:
    """The game, the mixtures and the program's answers, as plain lists."""
    kinds, points = zip(*mixtures(rng, game), strict=True)
    few = game.num_all_profiles <= MOST_PROFILES
    programs = {
        "gaussian": game,
        "point": learning.point(game),
        "enumerated": paygame.game_copy(game) if few else None,
    }
    return {
        "origin": origin,
        "players": game.num_role_players.tolist(),
        "strategies": game.num_role_strats.tolist(),
        "expansions": expansions(game),
        "kinds": kinds,
        "mixtures": [point.tolist() for point in points],
        **{name: answers(program, points) for name, program in programs.items() if program},
    }


def expansions(game) -> list[dict]:
    """What the program holds for each strategy, read from its own file format."""
    held = game.to_json()
    offsets, scales = game.payoff_from_json(held["offsets"]), game.payoff_from_json(held["coefs"])
    return [
        {
            "profiles": [
                game.profile_from_json(one, verify=False).tolist()
                for one in held["profiles"][role][name]
            ],
            "weights": list(held["alphas"][role][name]),
            "lengthscales": game.payoff_from_json(held["lengths"][role][name]).tolist(),
            "scale": scales[strategy],
            "offset": offsets[strategy],
        }
        for strategy, (role, name) in enumerate(pairs(game))
    ]


def answers(program, points) -> dict:
    """Deviation payoffs (B, S) and Jacobians (B, S, S)."""
    found = [program.deviation_payoffs(point, jacobian=True) for point in points]
    return {
        "payoffs": [payoffs.tolist() for payoffs, _ in found],
        "jacobians": [jacobian.tolist() for _, jacobian in found],
    }


if __name__ == "__main__":
    sys.exit(main())
