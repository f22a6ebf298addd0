"""The payoffs that deviators expect, for every strategy against mixtures, by six methods."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..ground import check as _check
from ..ground.random import RNG, stream_of
from ..ground.showing import summary
from ..ground.xp import Array, array_namespace, to_numpy
from .expansion import Expansion
from .game import RoleSymmetricGame
from .methods import METHODS, WITH_VARIANCE, Expectation, Options, RoleProblem

__all__ = ["Estimate", "PayoffModel", "role_problem"]


@dataclass(frozen=True, eq=False)
class Estimate:
    """A mean over samples with its standard error.

    Parameters
    ----------
    mean : Array
        The mean.
    standard_error : Array
        Its standard error, of the same shape.
    num_samples : int
        The number of samples.
    """

    mean: Array
    standard_error: Array
    num_samples: int

    __repr__ = summary


@dataclass(frozen=True, eq=False)
class PayoffModel:
    """A game whose payoffs are known as expansions, one for each strategy.

    Parameters
    ----------
    game : RoleSymmetricGame
        The game.
    expansions : tuple of Expansion
        The payoff of each strategy; its profiles omit the deviator.

    Examples
    --------
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
        if len(self.expansions) != self.game.num_strategies:
            raise ValueError(
                f"expansions must be one for each of the {self.game.num_strategies} strategies; "
                f"got {len(self.expansions)}"
            )
        for s, payoff in enumerate(self.expansions):
            name = f"expansions[{s}].profiles"
            _check.instance(payoff, f"expansions[{s}]", Expansion)
            _check.matrix(payoff.profiles, name, columns=self.game.num_strategies)
            _check.alike(
                payoff.profiles, name, self.expansions[0].profiles, "expansions[0].profiles"
            )
            _refuse_deviator(self.game, s, payoff.profiles)

    def deviation_payoffs(self, mixtures: Array, method: str = "exact", **options: object) -> Array:
        """The expected payoff to each strategy where all others play mixtures.

        ==========  ==========================================================  ==============
        method      the payoff that it computes                                 options
        ==========  ==========================================================  ==============
        exact       the expectation, [eq-dp-roles], by polynomials:             threads
                    O(B n²) for each sample
        enumerated  the same, over all profiles, [eq-dp-expectation]            limit
        gaussian    the closed form of the normal approximation,
                    [eq-dp-closed]
        point       the payoff at the mean profile
        neighbours  the mean over profiles near the likeliest; for few          max_deviations,
                    opponents                                                   limit
        sampled     the mean over profiles that are drawn; `sampled_payoffs`    num_samples,
                    has its standard error                                      rng
        ==========  ==========================================================  ==============

        Parameters
        ----------
        mixtures : Array, shape (S,) or (B, S)
            The mixtures, one a row.
        method : str, default ``"exact"``
            The name of a method of the table.
        **options : object
            Options of the method, with their defaults: blocks of mixtures in
            ``threads=1`` at a time, ``limit=200000`` profiles, ``max_deviations=2`` players,
            ``num_samples=1000`` for each mixture, and an ``rng`` to draw them from.

        Returns
        -------
        Matrix, shape (B, S)
            The payoffs.

        Notes
        -----
        The exact method takes for zero numbers below eps³, about 1e-47 in float64 and 2e-21 in
        float32, of bumps and of probabilities, whose largest value is 1. Next to a sample that is
        felt at all this is far below rounding. Only where even the nearest sample is some 14
        length scales away, 9 in float32, does an expectation as small as that come out as zero.
        With dozens of opponents `neighbours` is no better than `point`, which costs less.
        """
        payoffs = [e.value for e in self._expectations(mixtures, False, method, options)]
        return _columns(payoffs, f"payoffs by method {method!r}")

    def deviation_payoffs_and_jacobian(
        self, mixtures: Array, method: str = "exact", **options: object
    ) -> tuple[Array, Array]:
        """`deviation_payoffs` and their Jacobians, ``[b, s, t] = ∂ payoff_s / ∂ p_t``.

        Parameters
        ----------
        mixtures, method, **options
            As in `deviation_payoffs`.

        Returns
        -------
        payoffs : Matrix, shape (B, S)
            The payoffs.
        jacobian : Array, shape (B, S, S)
            Their Jacobians.

        Notes
        -----
        Those are partial derivatives of a formula that has values off the simplex too, and these
        differ between ways to write it; only the action has a meaning on directions that sum to
        zero in each role, [eq-dp-tangent], and there all formulas for one function agree.

        Examples
        --------
        >>> import numpy as np
        >>> near = Expansion(np.asarray([[2.0, 0.0]]), np.ones(1), np.ones(2))
        >>> model = PayoffModel(RoleSymmetricGame((3,), (2,)), (near, near))
        >>> payoffs, jacobian = model.deviation_payoffs_and_jacobian(np.asarray([[0.5, 0.5]]))
        >>> payoffs.round(4), (jacobian[0, 0] @ [1.0, -1.0]).round(4)
        (array([[0.4385, 0.4385]]), np.float64(0.9817))
        """
        expectations = self._expectations(mixtures, True, method, options)
        name = f"payoffs by method {method!r}"
        payoffs = _columns([e.value for e in expectations], name)
        gradients = [e.gradient for e in expectations]
        return payoffs, _columns(gradients, f"derivatives of {name}")

    def deviation_payoffs_and_sd(
        self, mixtures: Array, method: str = "exact"
    ) -> tuple[Array, Array]:
        """Return `deviation_payoffs` with the standard deviations of the model's uncertainty.

        Each payoff is a process, and its expectation over profiles a sum with known weights: it is
        normal, with the variance of Bayesian quadrature against a multinomial, [eq-ge-doubt].
        The processes of different strategies are independent.

        Parameters
        ----------
        mixtures : Array, shape (S,) or (B, S)
            The mixtures, one a row.
        method : ``"exact"``, ``"enumerated"`` or ``"gaussian"``, default ``"exact"``
            The way to the expectations, as in `deviation_payoffs`.

        Returns
        -------
        payoffs : Matrix, shape (B, S)
            The payoffs.
        sd : Matrix, shape (B, S)
            Their standard deviations.

        Notes
        -----
        Hyperparameters are taken for known: where they are wrong the standard deviations are, too.
        A variance is the small difference of two large ones: values below the precision times the
        prior variance and the number of samples, in float32 a thousandth of the prior deviation or
        so, is rounding, and may come out as zero.
        O(J²) more for J samples and each mixture, and for ``"exact"`` O(S_r³ n² log(S_r n)).

        Examples
        --------
        >>> import numpy as np
        >>> from gpnotes.games import fit_payoffs
        >>> game = RoleSymmetricGame(players=(9,), strategies=(2,))
        >>> profiles = np.stack([np.arange(10.0), 9.0 - np.arange(10.0)], axis=1)
        >>> model = fit_payoffs(game, profiles[5:], -profiles[5:], noise_var=0.01)
        >>> _, sd = model.deviation_payoffs_and_sd(np.asarray([[0.7, 0.3], [0.1, 0.9]]))
        >>> bool((sd[1] > 3.0 * sd[0]).all())  # few were seen on the first
        True
        """
        _check.choice(method, "method", WITH_VARIANCE)
        p = self._mixtures(mixtures)
        payoffs = self.deviation_payoffs(p, method)
        variances = [_payoff_variance(self, s, p, method) for s in range(self.game.num_strategies)]
        sd = array_namespace(p).sqrt(array_namespace(p).stack(variances, axis=1))
        return payoffs, _check.finite(sd, f"standard deviations by method {method!r}")

    def restrict(self, kept: Sequence[bool]) -> PayoffModel:
        """The game in which only some strategies may be played, with the payoffs of this one.

        Parameters
        ----------
        kept : sequence of bool, length S
            True for the strategies that may be played, one of each role at least.

        Returns
        -------
        PayoffModel
            The subgame. A mixture of it, with zeros put in, has the payoffs that it has here.

        Examples
        --------
        >>> import numpy as np
        >>> game = RoleSymmetricGame(players=(3,), strategies=(3,))
        >>> payoff = Expansion(np.asarray([[2.0, 0.0, 0.0]]), np.ones(1), np.ones(3))
        >>> pair = PayoffModel(game, (payoff,) * 3).restrict([True, False, True])
        >>> pair.game.strategies, pair.deviation_payoffs(np.asarray([0.5, 0.5])).round(4)
        ((2,), array([[0.4385, 0.4385]]))
        """
        game = self.game.restrict(kept)
        mask = np.asarray(kept)
        kept_payoffs = [payoff for payoff, keep in zip(self.expansions, mask, strict=True) if keep]
        return PayoffModel(game, tuple(payoff.restrict(mask) for payoff in kept_payoffs))

    def sampled_payoffs(self, mixtures: Array, *, num_samples: int = 1000, rng: RNG) -> Estimate:
        """Deviation payoffs as means over drawn profiles, with standard errors.

        Parameters
        ----------
        mixtures : Array, shape (S,) or (B, S)
            The mixtures, one a row.
        num_samples : int, default 1000
            The number of profiles drawn for each mixture.

        Returns
        -------
        Estimate
            The payoffs, (B, S), with their standard errors.

        Examples
        --------
        >>> import numpy as np
        >>> from gpnotes import stream
        >>> near = Expansion(np.asarray([[2.0, 0.0]]), np.ones(1), np.ones(2))
        >>> model = PayoffModel(RoleSymmetricGame((3,), (2,)), (near, near))
        >>> drawn = model.sampled_payoffs(np.asarray([[0.5, 0.5]]), rng=stream(0))
        >>> bool((abs(drawn.mean - 0.4385) < 4.0 * drawn.standard_error).all())
        True
        """
        return self._sampled(mixtures, False, rng, num_samples)[0]

    def sampled_payoffs_and_jacobian(
        self, mixtures: Array, *, num_samples: int = 1000, rng: RNG
    ) -> tuple[Estimate, Estimate]:
        """`sampled_payoffs`, and Jacobians from draws of their own.

        Nothing is divided by an entry of a mixture, [eq-dp-exact-gradient].

        Parameters
        ----------
        mixtures, num_samples, rng
            As in `sampled_payoffs`.

        Returns
        -------
        payoffs : Estimate
            The payoffs, (B, S).
        jacobian : Estimate
            Their Jacobians, (B, S, S).
        """
        payoffs, jacobian = self._sampled(mixtures, True, rng, num_samples)
        return payoffs, jacobian

    def _sampled(
        self, mixtures: Array, gradient: bool, rng: RNG, num_samples: int
    ) -> list[Estimate]:
        options = {"num_samples": num_samples, "rng": rng}
        columns = zip(*self._expectations(mixtures, gradient, "sampled", options), strict=True)
        values, gradients, value_errors, gradient_errors = columns
        estimates = [(values, value_errors), (gradients, gradient_errors)][: 1 + gradient]
        name = "payoffs by method 'sampled'"
        return [
            Estimate(_columns(means, name), _columns(errors, f"errors of {name}"), num_samples)
            for means, errors in estimates
        ]

    def _mixtures(self, mixtures: Array) -> Array:
        p = self.game.check_mixtures(mixtures)
        return _check.alike(p, "mixtures", self.expansions[0].profiles, "the profiles")

    def _expectations(
        self, mixtures: Array, gradient: bool, method: str, given: dict[str, Any]
    ) -> list[Expectation]:
        """One for each strategy, in units of its payoff."""
        p = self._mixtures(mixtures)
        options = _options(method, given)
        scaled = []
        for role, columns in enumerate(self.game.columns):
            problem = RoleProblem(self.game, role, self.expansions[columns], p, gradient)
            expectations = METHODS[method].expectations(problem, options)
            pairs = zip(expectations, problem.expansions, strict=True)
            scaled += [expectation.scaled(payoff) for expectation, payoff in pairs]
        return scaled


def _payoff_variance(model: PayoffModel, strategy: int, p: Array, method: str) -> Array:
    """The variance (B,) of the payoff of one strategy at mixtures p (B, S)."""
    payoff = model.expansions[strategy]
    if payoff.posterior_variance is None:
        raise ValueError(
            "standard deviations need a posterior_variance, as fit_payoffs gives it; the payoff "
            f"of strategy {strategy} has none"
        )
    singles, pairs = WITH_VARIANCE[method]
    problem = role_problem(model, strategy, p)
    variance = payoff.posterior_variance.variance(singles(problem, payoff), pairs(problem, payoff))
    return payoff.scale**2 * variance


def role_problem(model: PayoffModel, strategy: int, p: Array) -> RoleProblem:
    """The expectations that a deviator to a strategy asks for, at mixtures p (B, S); no gradients.

    `strategy` is the column of that.
    """
    role = model.game.role_of(strategy)
    return RoleProblem(model.game, role, model.expansions[model.game.columns[role]], p, False)


def _columns(parts: Any, name: str) -> Array:
    """Join the arrays (B, …) of all strategies to (B, S, …), if they are finite."""
    return _check.finite(array_namespace(parts[0]).stack(list(parts), axis=1), name)


def _refuse_deviator(game: RoleSymmetricGame, strategy: int, profiles: Array) -> None:
    """Refuse profiles of all players: those of the opponents have one player less."""
    rows = np.asarray(to_numpy(profiles), float)
    sums = np.stack([rows[:, c].sum(axis=1) for c in game.columns], axis=1)
    counts = (rows >= 0.0).all(axis=1) & (rows % 1.0 == 0.0).all(axis=1)
    whole_profiles = np.flatnonzero(counts & (sums == np.asarray(game.players)).all(axis=1))
    if len(whole_profiles):
        role = game.role_of(strategy)
        raise ValueError(
            f"the profiles of strategy {strategy} must omit the deviator: those of role {role} sum "
            f"to {game.opponents(strategy)[role]}; in row {whole_profiles[0]} they sum to all "
            f"{game.players[role]} players"
        )


def _options(method: str, given: dict[str, Any]) -> Options:
    """Those of the method, if it has all that are given."""
    _check.choice(method, "method", METHODS)
    allowed = METHODS[method].options
    for name in given:
        if name not in allowed:
            options_of_method = ", ".join(allowed) or "no options"
            raise TypeError(f"method {method!r} has {options_of_method}; got {name}")
    if given.get("rng") is not None:  # here, as all roles draw from the one
        given = {**given, "rng": stream_of(given["rng"])}
    return Options(**given)
