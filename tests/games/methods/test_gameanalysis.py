"""Deviation payoffs and Jacobians against gameanalysis 8.1.0, the program of the source.

``tests/data/gameanalysis.json`` holds its answers for 25 random games; the script beside it, which
made it, says in which environment. Differences are relative: short length scales make payoffs of
1e-30, and those have to agree too.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from gpnotes.games import Expansion, PayoffModel, RoleSymmetricGame

PAYOFFS, JACOBIANS = 1e-10, 1e-8
TABLE = json.loads(
    (Path(__file__).parents[2] / "data" / "gameanalysis.json").read_text(encoding="utf-8")
)
GAMES = range(len(TABLE["games"]))
ADDED_UP = [i for i, stored in enumerate(TABLE["games"]) if "enumerated" in stored]


def _case(i, method):
    """Game i as our model, its mixtures, and the program's payoffs and Jacobians."""
    stored = TABLE["games"][i]
    game = RoleSymmetricGame(tuple(stored["players"]), tuple(stored["strategies"]))
    model = PayoffModel(game, tuple(_expansion(payoff) for payoff in stored["expansions"]))
    answers = [np.array(stored[method][name]) for name in ("payoffs", "jacobians")]
    return model, np.array(stored["mixtures"]), *answers


def _expansion(stored):
    arrays = {key: np.array(stored[key], float) for key in ("profiles", "weights", "lengthscales")}
    return Expansion(**arrays, scale=stored["scale"], offset=stored["offset"])


def _tangents(game, allowed):
    """(B, S, S): onto changes among `allowed` (B, S) strategies that keep each role's sum."""
    rows = []
    for kept in allowed:
        rows.append(np.diag(kept * 1.0))
        for columns in game.columns:
            inside = kept[columns] * 1.0
            rows[-1][columns, columns] -= np.outer(inside, inside) / inside.sum()
    return np.array(rows)


def _agree(ours, theirs, tolerance):
    """Within a tolerance relative to the largest entry of each payoff's own row.

    Below 1e-40 nothing is asked: the exact method takes bumps under 1e-47 for zero.
    """
    largest = np.max(np.abs(theirs), axis=-1, keepdims=True)
    assert np.all(np.abs(ours - theirs) <= tolerance * largest + 1e-40)


def _check(case, method, *, within_support=False):
    model, mixtures, payoffs, jacobians = case
    ours, ours_jacobian = model.deviation_payoffs_and_jacobian(mixtures, method=method)
    _agree(ours[..., None], payoffs[..., None], PAYOFFS)
    along = _tangents(model.game, mixtures > 0 if within_support else mixtures >= 0)
    _agree(ours_jacobian @ along, jacobians @ along, JACOBIANS)


def test_the_table_holds_what_we_say_it_does():
    wanted = {"gameanalysis": "8.1.0", "numpy": "1.23.5", "scipy": "1.9.3", "scikit-learn": "1.1.3"}
    assert wanted.items() <= TABLE["versions"].items()
    games = TABLE["games"]
    assert len(games) >= 20
    assert len(ADDED_UP) >= 20
    assert {len(game["players"]) for game in games} == {1, 2, 3}
    assert {k for game in games for k in game["strategies"]} == {2, 3, 4}
    assert {"inside", "near", "boundary", "pure"} == {
        kind for game in games for kind in game["kinds"]
    }
    assert any(1 in game["players"] and len(game["players"]) > 1 for game in games)


@pytest.mark.parametrize("i", GAMES)
def test_the_closed_form_agrees(i):
    _check(_case(i, "gaussian"), "gaussian")


@pytest.mark.parametrize("i", GAMES)
def test_the_payoff_at_the_mean_profile_agrees(i):
    _check(_case(i, "point"), "point")


@pytest.mark.parametrize("method", ["exact", "enumerated"])
@pytest.mark.parametrize("i", ADDED_UP)
def test_the_sum_over_all_profiles_agrees(i, method):
    # it leaves out profiles without probability, and with them the slopes of what gains some
    _check(_case(i, "enumerated"), method, within_support=True)


def test_one_mixture_alone_gets_the_answer_of_the_batch():
    model, mixtures, payoffs, _ = _case(9, "gaussian")
    for mixture, wanted in zip(mixtures, payoffs, strict=True):
        ours = model.deviation_payoffs(mixture, method="gaussian")
        _agree(ours.reshape(-1, 1), wanted.reshape(-1, 1), PAYOFFS)
