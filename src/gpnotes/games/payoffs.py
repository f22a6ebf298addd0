"""What deviators expect: payoffs of every strategy against mixtures, by six methods."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import _check
from .._xp import Array, array_namespace, to_numpy
from ..random import Stream
from . import enumerated, exact, gaussian, sampled, simple
from .expansion import Expansion
from .game import RoleSymmetricGame
from .sampled import SampledPayoffs

__all__ = ["METHODS", "PayoffModel"]


def _one_by_one(expected: Callable) -> Callable:
    """A method that works on one strategy, as one that works on a role's."""

    def of_role(
        game: RoleSymmetricGame,
        role: int,
        expansions: Any,
        p: Array,
        jacobian: bool,
        **options: Any,
    ) -> list[tuple[Array, Array | None]]:
        first = game.columns[role].start
        return [
            expected(game, first + i, one, p, jacobian, **options)
            for i, one in enumerate(expansions)
        ]

    return of_role


METHODS: dict[str, Callable] = {
    "exact": exact.expected,
    "enumerated": _one_by_one(enumerated.expected),
    "gaussian": _one_by_one(gaussian.expected),
    "point": _one_by_one(simple.point),
    "neighbours": _one_by_one(simple.near_mode),
}
_OPTIONS = {
    "enumerated": ("limit",),
    "neighbours": ("moves", "limit"),
    "sampled": ("stream", "samples"),
}


@dataclass(frozen=True, eq=False)
class PayoffModel:
    """A game whose payoffs are known as expansions, one for each strategy.

    An expansion's profiles omit the deviator. Raises `ValueError` or `TypeError` for expansions
    that do not fit the game or each other, or with a row that is a profile of all players.

    >>> import numpy as np
    >>> game = RoleSymmetricGame(players=(3,), strategies=(2,))
    >>> near = Expansion(np.asarray([[2.0, 0.0]]), np.ones(1), np.ones(2))
    >>> model = PayoffModel(game, (near, near))
    >>> model.deviation_payoffs(np.asarray([[1.0, 0.0], [0.5, 0.5]])).round(4)
    array([[1.    , 1.    ],
           [0.4385, 0.4385]])
    """

    game: RoleSymmetricGame
    expansions: tuple[Expansion, ...]

    def __post_init__(self) -> None:
        _check.instance(self.game, "game", RoleSymmetricGame)
        if not isinstance(self.expansions, tuple | list):
            got = type(self.expansions).__name__
            raise TypeError(f"expansions must be a tuple of Expansion; got {got}")
        object.__setattr__(self, "expansions", tuple(self.expansions))
        if len(self.expansions) != self.game.size:
            raise ValueError(
                f"expansions must be one for each of the {self.game.size} strategies; "
                f"got {len(self.expansions)}"
            )
        for s, payoff in enumerate(self.expansions):
            name = f"the profiles of strategy {s}"
            _check.instance(payoff, f"the payoff of strategy {s}", Expansion)
            _check.matrix(payoff.profiles, name, columns=self.game.size)
            _check.alike(payoff.profiles, name, self.expansions[0].profiles, "those of strategy 0")
            _refuse_deviator(self.game, s, payoff.profiles)

    def deviation_payoffs(
        self, mixtures: Array, method: str = "exact", jacobian: bool = False, **options: Any
    ) -> Array | tuple[Array, Array] | SampledPayoffs:
        """The expected payoff to each strategy, (B, S), where all others play mixtures (B, S).

        With `jacobian` also the derivatives (B, S, S), ``[b, s, t] = ∂ payoff_s / ∂ p_t``. Those
        are partial derivatives of a formula that has values off the simplex too, and these differ
        between ways to write it; what has a meaning is the action on directions that sum to
        zero in each role, :eq:`eq-dp-tangent`, and there all formulas for one function agree.

        ==========  ==========================================================  ==========
        method      what it computes                                            options
        ==========  ==========================================================  ==========
        exact       the expectation, :eq:`eq-dp-roles`, by polynomials:
                    O(B n²) for each sample
        enumerated  the same, over all profiles, :eq:`eq-dp-expectation`        limit
        gaussian    the closed form of the normal approximation,
                    :eq:`eq-dp-closed`
        point       the payoff at the mean profile
        neighbours  the mean over profiles near the likeliest; for few          moves,
                    opponents                                                   limit
        sampled     a `SampledPayoffs`, the mean over draws                     stream,
                                                                                samples
        ==========  ==========================================================  ==========

        Options and what they are unless given: ``limit=200000`` profiles, ``moves=2`` players,
        a ``stream`` to draw from, ``samples=1000`` for each mixture.

        The exact method takes for zero what is below eps³, about 1e-47 in float64 and 2e-21 in
        float32, of bumps and of probabilities, whose largest value is 1. Beside a sample that is
        felt at all this is far below rounding. Only where even the nearest sample is some 14 length
        scales away, 9 in float32, does an expectation as small as that come out as zero.
        With dozens of opponents `neighbours` is no better than `point`, which costs less.

        Raises `ValueError` for mixtures off the simplex and says by how much, for a method that
        is none of these, where numbers overflow, and where `enumerated` or `neighbours` would take
        more than `limit` profiles; `TypeError` for options that the method does not have.
        """
        p = self.game.check_mixtures(mixtures)
        _check.alike(p, "mixtures", self.expansions[0].profiles, "the profiles")
        _admit(method, options)
        jacobian = _check.flag(jacobian, "jacobian")
        if method == "sampled":
            return self._sampled(p, jacobian, **options)
        found = []
        for role, part in enumerate(self.game.columns):
            here = self.expansions[part]
            slopes = METHODS[method](self.game, role, here, p, jacobian, **options)
            found += [_scaled(one, *slope) for one, slope in zip(here, slopes, strict=True)]
        stack, name = array_namespace(p).stack, f"payoffs by method {method!r}"
        payoffs = _check.finite(stack([value for value, _ in found], axis=1), name)
        if not jacobian:
            return payoffs
        slopes = stack([slope for _, slope in found], axis=1)
        return payoffs, _check.finite(slopes, f"derivatives of {name}")

    def _sampled(
        self, p: Array, jacobian: bool, *, stream: Stream | None = None, samples: int = 1000
    ) -> SampledPayoffs:
        means, errors, slopes, slope_errors = [], [], [], []
        for s, one in enumerate(self.expansions):
            draws = {"stream": stream, "samples": samples}
            (mean, error), slope = sampled.expected(self.game, s, one, p, jacobian, **draws)
            means.append(one.offset + one.scale * mean)
            errors.append(abs(one.scale) * error)
            if slope is not None:
                slopes.append(one.scale * slope[0])
                slope_errors.append(abs(one.scale) * slope[1])
        stack = array_namespace(p).stack
        stacked = [stack(part, axis=1) if part else None for part in (slopes, slope_errors)]
        payoffs = _check.finite(stack(means, axis=1), "payoffs by method 'sampled'")
        return SampledPayoffs(payoffs, stack(errors, axis=1), samples, *stacked)


def _refuse_deviator(game: RoleSymmetricGame, strategy: int, profiles: Array) -> None:
    """Profiles of all players are a slip: what the opponents play has one player less."""
    rows = np.asarray(to_numpy(profiles), float)
    sums = np.stack([rows[:, c].sum(axis=1) for c in game.columns], axis=1)
    whole = (rows >= 0.0).all(axis=1) & (rows % 1.0 == 0.0).all(axis=1)
    full = np.flatnonzero(whole & (sums == np.asarray(game.players)).all(axis=1))
    if len(full):
        role = game.role_of(strategy)
        raise ValueError(
            f"the profiles of strategy {strategy} must omit the deviator: those of role {role} sum "
            f"to {game.opponents(strategy)[role]}; in row {full[0]} they sum to all "
            f"{game.players[role]} players"
        )


def _admit(method: str, options: dict[str, Any]) -> None:
    _check.choice(method, "method", [*METHODS, "sampled"])
    allowed = _OPTIONS.get(method, ())
    for name in options:
        if name not in allowed:
            has = ", ".join(allowed) or "no options"
            raise TypeError(f"method {method!r} has {has}; got {name}")


def _scaled(f: Expansion, value: Array, slope: Array | None) -> tuple[Array, Array | None]:
    return f.offset + f.scale * value, None if slope is None else f.scale * slope
