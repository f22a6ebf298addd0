"""Random games and mixtures for the tests of `gpnotes.games`."""

import numpy as np
import pytest

from gpnotes.games import Expansion, PayoffModel, RoleSymmetricGame
from gpnotes.ground.xp import to_numpy


@pytest.fixture
def make_model(rng):
    """A function that makes a model of random expansions, in the space given or NumPy."""

    def make(players, strategies, asarray=np.asarray, n=12, lengths=(0.4, 5.0)):
        game, expansions = RoleSymmetricGame(players, strategies), []
        for s in range(game.num_strategies):
            parts = [
                np.stack([rng.multinomial(m, rng.dirichlet(np.ones(k))) for _ in range(n)])
                for m, k in zip(game.opponents(s), strategies, strict=True)
            ]
            profiles = asarray(np.concatenate(parts, axis=1).astype(float))
            arrays = (
                asarray(rng.normal(size=n)),
                asarray(rng.uniform(*lengths, game.num_strategies)),
            )
            expansions.append(Expansion(profiles, *arrays, scale=2.0, offset=-1.0))
        return PayoffModel(game, tuple(expansions))

    return make


@pytest.fixture
def make_table():
    """A function that makes the model of payoff tables.

    With one matrix (S, S), of two players of one role; with two, (A, B), of one player in each of
    two roles. Bumps are so narrow that every profile has a payoff of its own.
    """

    def make(*tables, asarray=np.asarray):
        tables = [np.asarray(table, float) for table in tables]
        shape = tables[0].shape[:1] if len(tables) == 1 else tables[0].shape
        game = RoleSymmetricGame((2,) if len(tables) == 1 else (1, 1), shape)
        pure, lengths = np.eye(game.num_strategies), asarray(np.full(game.num_strategies, 0.05))
        others = [pure] if len(tables) == 1 else [pure[shape[0] :], pure[: shape[0]]]
        rows = [tables[0]] if len(tables) == 1 else [tables[0], tables[1].T]
        return PayoffModel(
            game,
            tuple(
                Expansion(asarray(profiles), asarray(row), lengths)
                for profiles, role in zip(others, rows, strict=True)
                for row in role
            ),
        )

    return make


@pytest.fixture
def make_mixtures(rng):
    """A function that draws mixtures (n, S); with `corner`, the first one is pure."""

    def make(game, n, corner=False):
        p = np.concatenate([rng.dirichlet(np.ones(s), n) for s in game.strategies], axis=1)
        if corner:
            p[0, :] = 0.0
            p[0, [part.start for part in game.columns]] = 1.0
        return p

    return make


@pytest.fixture
def as_numpy():
    """A function that makes the same model of NumPy arrays in float64."""

    def convert(model):
        def array(a):
            return np.asarray(to_numpy(a), dtype=np.float64)

        return PayoffModel(
            model.game,
            tuple(
                Expansion(array(f.profiles), array(f.weights), array(f.lengthscales), 2.0, -1.0)
                for f in model.expansions
            ),
        )

    return convert
