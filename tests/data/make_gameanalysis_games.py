"""Make ``gameanalysis_games.json``: small games in the JSON that gameanalysis 8.1.0 itself writes.

It runs in the environment that ``make_gameanalysis.py`` describes:

    old/bin/python tests/data/make_gameanalysis_games.py

Each entry holds the text of a file; that of the learned game also what the program answers for it,
and for a subgame of it.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from gameanalysis import gamereader, learning, matgame, paygame, rsgame

TARGET = Path(__file__).with_name("gameanalysis_games.json")


def main() -> None:
    rng = np.random.default_rng(3)
    np.random.seed(3)  # noqa: NPY002 (the program draws from there)
    roads = ["bridge", "motorway", "village"]
    base = rsgame.empty_names(["cars", "lorries"], [4, 2], [roads, roads[:2]])
    profiles = base.all_profiles()
    earned = np.round(-20 - profiles @ rng.uniform(0, 2, (5, 5)), 3)
    earned = np.where(profiles > 0, earned, 0)
    lots = [
        _observed(profiles[:3], earned[:3], 2, rng),
        _observed(profiles[5:7], earned[5:7], 3, rng),
    ]
    matrix = np.round(rng.normal(size=(2, 3, 2)), 3)
    full = paygame.game_replace(base, profiles, earned)
    few = np.concatenate([profiles[:3], profiles[5:7]])
    games = {
        "empty": base,
        "game": paygame.game_replace(base, profiles[::4], earned[::4]),
        "samplegame": paygame.samplegame_replace(base, few, lots),
        "matrix": matgame.matgame_names(["a", "b"], [["x", "y"], ["u", "v", "w"]], matrix),
        "rbf": learning.rbfgame_train(full),
    }
    out = {name: {"text": gamereader.dumps(game)} for name, game in games.items()}
    out["matrix"]["payoffs"] = matrix.tolist()
    mixtures = np.round(base.random_mixtures(3), 3)
    mixtures = np.stack([base.mixture_project(p) for p in mixtures])
    kept, inside = [True, False, True, True, True], [0.4, 0.6, 0.3, 0.7]
    small = games["rbf"].restrict(np.array(kept))
    out["rbf"] |= {
        "mixtures": mixtures.tolist(),
        "payoffs": [games["rbf"].deviation_payoffs(p).tolist() for p in mixtures],
        "kept": kept,
        "inside": inside,
        "payoffs inside": small.deviation_payoffs(np.array(inside)).tolist(),
    }
    TARGET.write_text(json.dumps(out, indent=1) + "\n", encoding="utf-8")


def _observed(profiles, earned, number, rng):
    """Noisy payoffs of some profiles, a number of times."""
    noise = rng.normal(size=(len(profiles), number, profiles.shape[1]))
    return np.where(profiles[:, None] > 0, np.round(earned[:, None] + noise, 3), 0)


if __name__ == "__main__":
    main()
