"""Make ``nashpy.json``: the equilibria that nashpy 0.0.43 lists for games of two players.

It runs in an environment of its own:

    python -m venv apart
    apart/bin/python -m pip install nashpy==0.0.43
    apart/bin/python tests/data/make_nashpy.py

Every game has two payoff matrices, of the player who chooses the row and of the one who chooses the
column, and all its equilibria, rows and columns of chances one after the other. The program lists
them by the vertices of best-response polytopes. Its second algorithm, by supports, compares payoffs
without a tolerance and may miss one where they differ by rounding; the script does not write a game
for which it lists one that the first does not. Some games have names; the others are drawn from one
seed.
"""

from __future__ import annotations

import json
import platform
import sys
import warnings
from pathlib import Path

import nashpy
import numpy as np
import scipy

TARGET = Path(__file__).with_name("nashpy.json")
SEED = 19640401
DRAWN = (
    [(2, 2)] * 6 + [(2, 3), (3, 2), (2, 4)] * 2 + [(3, 3)] * 8 + [(3, 4), (4, 3)] * 3 + [(4, 4)] * 6
)
NAMED = {
    "matching pennies": ([[1, -1], [-1, 1]], [[-1, 1], [1, -1]]),
    "battle of the sexes": ([[2, 0], [0, 1]], [[1, 0], [0, 2]]),
    "prisoner's dilemma": ([[3, 0], [5, 1]], [[3, 5], [0, 1]]),
    "rock, paper, scissors": (
        [[0, -1, 1], [1, 0, -1], [-1, 1, 0]],
        [[0, 1, -1], [-1, 0, 1], [1, -1, 0]],
    ),
    "the same, losses cost two": (
        [[0, -2, 1], [1, 0, -2], [-2, 1, 0]],
        [[0, 1, -2], [-2, 0, 1], [1, -2, 0]],
    ),
    "Shapley's game": ([[1, 0, 0], [0, 1, 0], [0, 0, 1]], [[0, 1, 0], [0, 0, 1], [1, 0, 0]]),
    "coordination": ([[1, 0, 0], [0, 2, 0], [0, 0, 3]], [[1, 0, 0], [0, 2, 0], [0, 0, 3]]),
}


def main() -> int:
    """Draw the games, ask the program, write the file."""
    warnings.simplefilter("ignore")  # where rounding makes it miss one
    rng = np.random.default_rng(SEED)
    drawn = [(f"drawn {i}", rng.normal(size=(2, *shape)).round(3)) for i, shape in enumerate(DRAWN)]
    games = [record(name, *map(np.array, pair)) for name, pair in [*NAMED.items(), *drawn]]
    versions = {
        "nashpy": nashpy.__version__,
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "python": platform.python_version(),
    }
    lines = ",\n".join(json.dumps(game, separators=(",", ":")) for game in games)
    head = json.dumps({"versions": versions, "seed": SEED})[:-1]
    TARGET.write_text(f'{head}, "games": [\n{lines}\n]}}\n', encoding="utf-8")
    print(f"{len(games)} games, {sum(len(game['equilibria']) for game in games)} equilibria")
    return 0


def record(name: str, rows: np.ndarray, columns: np.ndarray) -> dict:
    """A game and its equilibria, in the order of their first strategies."""
    game = nashpy.Game(rows, columns)
    listed = [np.concatenate(pair) for pair in game.vertex_enumeration()]
    again = [np.concatenate(pair) for pair in game.support_enumeration(tol=1e-9)]
    held = all(min(np.max(abs(one - two)) for two in listed) < 1e-9 for one in again)
    if not held or len(listed) % 2 == 0:
        sys.exit(f"{name}: {len(listed)} equilibria by vertices, {len(again)} by supports")
    return {
        "name": name,
        "rows": rows.tolist(),
        "columns": columns.tolist(),
        "equilibria": sorted(((one.round(12) + 0.0).tolist() for one in listed), reverse=True),
    }


if __name__ == "__main__":
    sys.exit(main())
