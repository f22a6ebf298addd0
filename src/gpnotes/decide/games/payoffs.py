"""What deviators expect: payoffs of every strategy against mixtures, by six methods."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...ground import check as _check
from ...ground.random import Stream
from ...ground.xp import Array, array_namespace, to_numpy
from .expansion import Expansion
from .game import RoleSymmetricGame
from .methods import METHODS, Expectation, Options, RoleProblem

__all__ = ["Estimate", "PayoffModel"]


@dataclass(frozen=True, eq=False)
class Estimate:
    """A mean over samples and its standard error, of one shape; and how many samples it is of."""

    mean: Array
    standard_error: Array
    samples: int


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

    def deviation_payoffs(self, mixtures: Array, method: str = "exact", **options: Any) -> Array:
        """The expected payoff to each strategy, (B, S), where all others play mixtures (B, S).

        ==========  ==========================================================  ==========
        method      what it computes                                            options
        ==========  ==========================================================  ==========
        exact       the expectation, :eq:`eq-dp-roles`, by polynomials:         threads
                    O(B n²) for each sample
        enumerated  the same, over all profiles, :eq:`eq-dp-expectation`        limit
        gaussian    the closed form of the normal approximation,
                    :eq:`eq-dp-closed`
        point       the payoff at the mean profile
        neighbours  the mean over profiles near the likeliest; for few          moves,
                    opponents                                                   limit
        sampled     the mean over profiles that are drawn; `sampled_payoffs`    stream,
                    has its standard error                                      samples
        ==========  ==========================================================  ==========

        Options and what they are unless given: blocks of mixtures in ``threads=1`` at a time,
        ``limit=200000`` profiles, ``moves=2`` players, a ``stream`` to draw from, ``samples=1000``
        for each mixture.

        The exact method takes for zero what is below eps³, about 1e-47 in float64 and 2e-21 in
        float32, of bumps and of probabilities, whose largest value is 1. Beside a sample that is
        felt at all this is far below rounding. Only where even the nearest sample is some 14 length
        scales away, 9 in float32, does an expectation as small as that come out as zero.
        With dozens of opponents `neighbours` is no better than `point`, which costs less.

        Raises `ValueError` for mixtures off the simplex and says by how much, for a method that
        is none of these, where numbers overflow, and where `enumerated` or `neighbours` would take
        more than `limit` profiles; `TypeError` for options that the method does not have.
        """
        payoffs = [answer.value for answer in self._expectations(mixtures, False, method, options)]
        return _columns(payoffs, f"payoffs by method {method!r}")

    def deviation_payoffs_and_jacobian(
        self, mixtures: Array, method: str = "exact", **options: Any
    ) -> tuple[Array, Array]:
        """`deviation_payoffs`, and their Jacobians (B, S, S), ``[b, s, t] = ∂ payoff_s / ∂ p_t``.

        Those are partial derivatives of a formula that has values off the simplex too, and these
        differ between ways to write it; what has a meaning is the action on directions that sum to
        zero in each role, :eq:`eq-dp-tangent`, and there all formulas for one function agree.
        Methods, options and errors are those of `deviation_payoffs`.

        >>> import numpy as np
        >>> near = Expansion(np.asarray([[2.0, 0.0]]), np.ones(1), np.ones(2))
        >>> model = PayoffModel(RoleSymmetricGame((3,), (2,)), (near, near))
        >>> payoffs, jacobian = model.deviation_payoffs_and_jacobian(np.asarray([[0.5, 0.5]]))
        >>> payoffs.round(4), (jacobian[0, 0] @ [1.0, -1.0]).round(4)
        (array([[0.4385, 0.4385]]), np.float64(0.9817))
        """
        expectations = self._expectations(mixtures, True, method, options)
        name = f"payoffs by method {method!r}"
        payoffs = _columns([answer.value for answer in expectations], name)
        gradients = [answer.gradient for answer in expectations]
        return payoffs, _columns(gradients, f"derivatives of {name}")

    def sampled_payoffs(self, mixtures: Array, stream: Stream, *, samples: int = 1000) -> Estimate:
        """Deviation payoffs (B, S) as means over so many drawn profiles, with standard errors.

        Raises what `deviation_payoffs` raises.

        >>> import numpy as np
        >>> from gpnotes import stream
        >>> near = Expansion(np.asarray([[2.0, 0.0]]), np.ones(1), np.ones(2))
        >>> model = PayoffModel(RoleSymmetricGame((3,), (2,)), (near, near))
        >>> drawn = model.sampled_payoffs(np.asarray([[0.5, 0.5]]), stream(0))
        >>> bool((abs(drawn.mean - 0.4385) < 4.0 * drawn.standard_error).all())
        True
        """
        return self._sampled(mixtures, False, stream, samples)[0]

    def sampled_payoffs_and_jacobian(
        self, mixtures: Array, stream: Stream, *, samples: int = 1000
    ) -> tuple[Estimate, Estimate]:
        """`sampled_payoffs`, and Jacobians (B, S, S) from draws of their own.

        Nothing is divided by an entry of a mixture, :eq:`eq-dp-exact-gradient`. Raises what
        `deviation_payoffs` raises.
        """
        payoffs, jacobian = self._sampled(mixtures, True, stream, samples)
        return payoffs, jacobian

    def _sampled(
        self, mixtures: Array, gradient: bool, stream: Stream, samples: int
    ) -> list[Estimate]:
        options = {"stream": stream, "samples": samples}
        columns = zip(*self._expectations(mixtures, gradient, "sampled", options), strict=True)
        values, gradients, value_errors, gradient_errors = columns
        estimates = [(values, value_errors), (gradients, gradient_errors)][: 1 + gradient]
        name = "payoffs by method 'sampled'"
        return [
            Estimate(_columns(means, name), _columns(errors, f"errors of {name}"), samples)
            for means, errors in estimates
        ]

    def _expectations(
        self, mixtures: Array, gradient: bool, method: str, given: dict[str, Any]
    ) -> list[Expectation]:
        """One for each strategy, in units of its payoff."""
        p = self.game.check_mixtures(mixtures)
        _check.alike(p, "mixtures", self.expansions[0].profiles, "the profiles")
        options = _options(method, given)
        scaled = []
        for role, columns in enumerate(self.game.columns):
            problem = RoleProblem(self.game, role, self.expansions[columns], p, gradient)
            expectations = METHODS[method].expectations(problem, options)
            answers = zip(expectations, problem.expansions, strict=True)
            scaled += [expectation.scaled(payoff) for expectation, payoff in answers]
        return scaled


def _columns(parts: Any, name: str) -> Array:
    """What each strategy has, (B, …), as (B, S, …), if it is finite."""
    return _check.finite(array_namespace(parts[0]).stack(list(parts), axis=1), name)


def _refuse_deviator(game: RoleSymmetricGame, strategy: int, profiles: Array) -> None:
    """Profiles of all players are a slip: what the opponents play has one player less."""
    rows = np.asarray(to_numpy(profiles), float)
    sums = np.stack([rows[:, c].sum(axis=1) for c in game.columns], axis=1)
    counts = (rows >= 0.0).all(axis=1) & (rows % 1.0 == 0.0).all(axis=1)
    full = np.flatnonzero(counts & (sums == np.asarray(game.players)).all(axis=1))
    if len(full):
        role = game.role_of(strategy)
        raise ValueError(
            f"the profiles of strategy {strategy} must omit the deviator: those of role {role} sum "
            f"to {game.opponents(strategy)[role]}; in row {full[0]} they sum to all "
            f"{game.players[role]} players"
        )


def _options(method: str, given: dict[str, Any]) -> Options:
    """Those of the method, if it has all that are given."""
    _check.choice(method, "method", METHODS)
    allowed = METHODS[method].options
    for name in given:
        if name not in allowed:
            has = ", ".join(allowed) or "no options"
            raise TypeError(f"method {method!r} has {has}; got {name}")
    return Options(**given)
