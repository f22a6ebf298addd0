"""Right calls of games: expansions, payoffs, regret, equilibria, learning."""

from __future__ import annotations

import numpy as np

import gpnotes
from gpnotes import games

from ..answers import call
from ..kinds import (
    Argument,
    function,
    matrix,
    nonnegative,
    number,
    one_of,
    positive,
    stream,
    thing,
    vector,
    whole,
)  # fmt: skip

_GAME = games.RoleSymmetricGame(players=(3, 2), strategies=(2, 2))
_DRAW = np.random.default_rng(2)
_ONES = np.asarray([[0.3, 0.7, 0.5, 0.5], [0.6, 0.4, 0.1, 0.9]])


def _profiles() -> np.ndarray:
    rows = [[a, 3 - a, b, 2 - b] for a in range(4) for b in range(3)]
    return np.asarray(rows, dtype=np.float64)


_PROFILES = _profiles()
_PAYOFFS = np.where(_PROFILES > 0, _PROFILES @ _DRAW.standard_normal((4, 4)), 0.0)
_NAN = np.where(_PROFILES > 0, np.nan, 0.0)
_MODEL = games.fit_payoffs(_GAME, _PROFILES, _PAYOFFS, restarts=1, rng=gpnotes.stream(0))
_EXPANSION = _MODEL.expansions[0]
_MIXTURES = matrix(_ONES, columns=True).but(
    "no rows", "a vector", **{"off the simplex": 2.0 * _ONES, "negative entries": _ONES - 0.4}
)
_VARIANCE = _EXPANSION.posterior_variance
_BUMPS = 0.5 * np.ones((_EXPANSION.profiles.shape[0], 2))
_AT = matrix(_EXPANSION.profiles[:3], columns=True).but("a vector")
_COUNTS = {
    "None": None, "a string": "x", "a number": 3, "fractions": (2.5, 2), "floats": (3.0, 2.0),
    "booleans": (True, True), "zero": (0, 2), "negative": (-1, 2), "too few": (2,), "empty": (),
    "NaN": (np.nan, 2), "words": ("a", "b"),
}  # fmt: skip
_KEPT = Argument([True, False, True, True], {
    "None": None, "a string": "x", "a number": 3, "numbers": [1, 0, 1, 1], "fewer": [True, True],
    "a role without any": [True, True, False, False], "words": ["a", "b", "c", "d"],
})  # fmt: skip
_TEXT = games.write_game(_MODEL)
_NAMES = {"a string": "ab", "a number": 3, "numbers": (1, 2), "fewer": ("a",), "twice": ("a", "a")}
_GAMES = thing(_GAME, _MODEL)
_DEVIATION = _MODEL.deviation_payoffs(_ONES)

CALLS = (
    call("RoleSymmetricGame", games.RoleSymmetricGame, players=Argument((3, 2), _COUNTS),
         strategies=Argument((2, 2), _COUNTS), role_names=Argument(("a", "b"), _NAMES),
         strategy_names=Argument((("x", "y"), ("u", "v")), {
             "a string": "xy", "fewer": (("x", "y"),), "a number": 3, "strings": ("xy", "uv")})),
    call("game.to_dict", _GAME.to_dict, row=Argument([1, 2, 1, 1], {"fewer": [1, 2]})),
    call("game.from_dict", _GAME.from_dict, named=Argument({"r0": {"s0": 1.0}}, {
        "another role": {"x": {"s0": 1.0}}, "another strategy": {"r0": {"s7": 1.0}}})),
    call("game.restrict", _GAME.restrict, kept=_KEPT),
    call("all_profiles", games.all_profiles, game=_GAMES, limit=whole(100)),
    call("tabulate", games.tabulate, game=_GAMES,
         profiles=matrix(_PROFILES, rows=True, columns=True),
         payoffs=matrix(_PAYOFFS, rows=True, columns=True).but("a NaN", "an infinity",
             "minus infinity", **{"a NaN where it counts": _NAN})),
    call("read_game", games.read_game, text=Argument(_TEXT, {
        "None": None, "bytes": _TEXT.encode(), "no JSON": "{", "a list": "[]", "a number": 3,
        "another type": '{"type": "aggfn.3"}', "no game": '{"type": "empty.1"}'})),
    call("write_game", games.write_game, game=thing(_MODEL)),
    call("PosteriorVariance", games.PosteriorVariance, signal_var=nonnegative(1.0),
         noise_var=nonnegative(0.1),
         factor=matrix(np.eye(3), rows=True, columns=True),
         kept_share=vector(np.ones(3), size=True).but("None")),
    *(call(f"PosteriorVariance.{name}", getattr(_VARIANCE, name), bumps=matrix(_BUMPS, rows=True))
      for name in ("whiten", "reduction")),
    call("PosteriorVariance.variance", _VARIANCE.variance,
         bumps=matrix(_BUMPS, rows=True, columns=True),
         pairs=vector(np.ones(2), size=True)),
    call("game.check_mixtures", _GAME.check_mixtures, mixtures=_MIXTURES.but(
         "another namespace", "another precision")),
    *(call(f"game.{name}", getattr(_GAME, name), strategy=whole(1, 0).but(beyond=4))
      for name in ("count_profiles", "opponents", "profiles", "role_of")),
    call("Expansion", games.Expansion,
         profiles=matrix(_PROFILES, rows=True, columns=True),
         weights=vector(np.ones(12), size=True),
         lengthscales=vector(np.ones(4), size=True).but(negative=-np.ones(4), zero=np.zeros(4)),
         scale=number(), offset=number(0.0),
         posterior_variance=thing(games.PosteriorVariance(1.0, 0.1, np.eye(12)),
                                  games.PosteriorVariance(1.0, 0.1, np.eye(2)),
                                  optional=True)),
    call("Expansion.variance", _EXPANSION.variance, x=_AT),
    call("Expansion.bump_matrix", _EXPANSION.bump_matrix, x=_AT, others=_AT),
    call("Expansion.bumps", _EXPANSION.bumps, x=_AT.but("no rows", "a row too many")),
    call("Expansion.payoff", _EXPANSION.payoff, x=_AT),
    call("Expansion.payoff_and_gradient", _EXPANSION.payoff_and_gradient, x=_AT),
    call("PayoffModel", games.PayoffModel, game=_GAMES,
         expansions=thing(_MODEL.expansions).but("a list", fewer=_MODEL.expansions[:2],
                                                 strings=("a",) * 4, empty=())),
    *(call(f"{name}, {method}", getattr(_MODEL, name),
           mixtures=_MIXTURES.but("another namespace", "another precision"), method=one_of(method))
      for method in ("exact", "enumerated", "gaussian", "point", "neighbours")
      for name in ("deviation_payoffs", "deviation_payoffs_and_jacobian")),
    call("deviation_payoffs, sampled", _MODEL.deviation_payoffs, mixtures=Argument(_ONES, {}),
         method=Argument("sampled", {}), num_samples=whole(10, 2), rng=stream()),
    *(call(name, getattr(_MODEL, name),
           mixtures=_MIXTURES.but("another namespace", "another precision"),
           num_samples=whole(10, 2), rng=stream())
      for name in ("sampled_payoffs", "sampled_payoffs_and_jacobian")),
    *(call(f"deviation_payoffs_and_sd, {method}", _MODEL.deviation_payoffs_and_sd,
           mixtures=_MIXTURES.but("another namespace", "another precision"), method=one_of(method))
      for method in ("exact", "enumerated", "gaussian")),
    call("restrict", _MODEL.restrict, kept=_KEPT),
    call("certify", games.certify, model=thing(_MODEL, _GAME),
         mixture=vector(_ONES[0], size=True).but(
             "another namespace", "another precision", "one more axis"),
         rng=stream(), method=one_of("exact"), num_samples=whole(20, 2)),
    call("propose_profiles", games.propose_profiles, model=thing(_MODEL, _GAME),
         mixtures=_MIXTURES.but("another namespace", "another precision"), num_profiles=whole(2),
         rng=stream(), num_candidates=whole(10), method=one_of("gaussian")),
    call("deviation_payoffs, enumerated to a limit", _MODEL.deviation_payoffs,
         mixtures=Argument(_ONES, {}), method=Argument("enumerated", {}), limit=whole(1000)),
    call("deviation_payoffs, neighbours by moves", _MODEL.deviation_payoffs,
         mixtures=Argument(_ONES, {}), method=Argument("neighbours", {}),
         max_deviations=whole(1, 0)),
    call("deviation_payoffs, exact in threads", _MODEL.deviation_payoffs,
         mixtures=Argument(_ONES, {}), method=Argument("exact", {}), threads=whole(2)),
    call("gaussian_correction", games.gaussian_correction, model=thing(_MODEL, _GAME),
         mixtures=_MIXTURES.but("another namespace", "another precision")),
    call("regret", games.regret, mixtures=_MIXTURES,
         payoffs=matrix(_DEVIATION, rows=True, columns=True).but("a vector"), game=_GAMES),
    call("replicator_dynamics", games.replicator_dynamics, payoffs=thing(_MODEL, _GAME),
         starts=_MIXTURES.but("another namespace", "another precision"),
         game=thing(_GAME, _MODEL, optional=True).but(
             **{"another game": games.RoleSymmetricGame((2, 2), (2, 2))}),
         num_steps=whole(3, 0), step_size=positive(0.5)),
    call("find_equilibria", games.find_equilibria, model=thing(_MODEL, _GAME),
         starts=_MIXTURES.but("None"),
         method=one_of("exact"), replicator_steps=whole(3, 0),
         max_steps=whole(3, 0),
         tolerance=nonnegative(1e-4).but("None"), min_distance=nonnegative(0.01)),
    call("find_equilibria, from drawn starts", games.find_equilibria, model=thing(_MODEL, _GAME),
         rng=stream(), num_starts=whole(2)),
    call("find_equilibria, against the truth", games.find_equilibria, model=Argument(_MODEL, {}),
         starts=Argument(_ONES, {}), true_payoffs=function(_MODEL.deviation_payoffs).but("None")),
    call("fit_payoffs", games.fit_payoffs, game=_GAMES,
         profiles=matrix(_PROFILES, rows=True, columns=True),
         payoffs=matrix(_PAYOFFS, rows=True, columns=True).but("a NaN", "an infinity",
             "minus infinity", **{"a NaN where it counts": _NAN}),
         noise_var=nonnegative(0.1).but("None"),
         repetitions=vector(np.arange(1.0, 13.0), size=True).but("None", "a column", "integers"),
         lengthscale_per=one_of("strategy"), lengthscale_bounds=Argument((1.0, 9.0), {
             "reversed": (9.0, 1.0), "one": (1.0,), "three": (1.0, 2.0, 3.0), "a number": 3.0,
             "a string": "ab", "words": ("a", "b"), "NaN": (np.nan, 2.0), "negative": (-1.0, 2.0),
             "zero": (0.0, 2.0), "infinite": (1.0, np.inf), "booleans": (True, True)}),
         restarts=whole(1, 0, optional=True), rng=stream()),
)  # fmt: skip
