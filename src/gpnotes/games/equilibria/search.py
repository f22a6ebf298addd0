"""Equilibria of a payoff model: where to search, and which ends of a search are one."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable

import numpy as np

from ...ground import check as _check
from ...ground import memory
from ...ground.random import RNG, stream_of
from ...ground.xp import Array, array_namespace, as_array, epsilon, to_numpy
from ..game import RoleSymmetricGame
from ..methods import DETERMINISTIC
from ..payoffs import PayoffModel
from .game_dynamics import deviation_gains, replicator_dynamics
from .newton import project
from .search_problem import End, EquilibriumProblem, Judged, MethodPayoffs, pose
from .search_results import (
    BETTER,
    FOUND,
    LEFT,
    STALLED,
    Equilibria,
    Equilibrium,
    Search,
)
from .simplicial import fixed_points
from .support_enumeration import count_supports, first_supports, is_exhaustive, solve_on_supports

__all__ = ["find_equilibria"]


def find_equilibria(
    model: PayoffModel,
    starts: Array | None = None,
    *,
    num_starts: int = 16,
    method: str = "exact",
    true_payoffs: Callable[[Array], Array] | None = None,
    replicator_steps: int = 50,
    max_steps: int = 30,
    max_supports: int = 256,
    tolerance: float | None = None,
    min_distance: float = 1e-3,
    rng: RNG | None = None,
    **options: object,
) -> Equilibria:
    """Search for symmetric equilibria of a payoff model, and say how every search ended.

    They solve ``p = Π(p + u(p))``, Π the projection on the simplex of each role and u the payoffs,
    each role's over their range. Three kinds of search look for them:

    - Newton steps from each of the starts, and once more from where the replicator dynamics lead
      from it. The dynamics lead to equilibria that attract them, and past all others;
    - Newton steps from the middle of each support, a set of strategies that are played, small ones
      first. In a game of two players payoffs are linear, and this finds all equilibria unless the
      game is degenerate;
    - where both found nothing, a path through simplices, which ends at an equilibrium of any
      continuous payoffs. (`neighbours` jumps: there it may fail.)

    That all were found is nowhere promised, and that no search failed is no sign of it.

    Parameters
    ----------
    model : PayoffModel
        The game and its payoffs.
    starts : Matrix, shape (B, S), optional
        The mixtures to start from.
    num_starts : int, default 16
        The number of starts to draw.
    method : str, default ``"exact"``
        A method of `PayoffModel.deviation_payoffs`; not ``"sampled"``, since a search wants the
        same answer twice.
    true_payoffs : callable, optional
        A function of mixtures that gives the payoffs (B, S) of the true game.
    replicator_steps : int, default 50
        The steps of the replicator dynamics; with 0 they are left out.
    max_steps : int, default 30
        The most Newton steps from each start.
    max_supports : int, default 256
        The most supports to try.
    tolerance : float, optional
        The largest regret of an equilibrium in any role, over the range of its payoffs; √eps
        unless given. The range is the widest gap between the role's strategies at the starts, at
        pure mixtures, and where one role is pure and the others even.
    min_distance : float, default 1e-3
        Of mixtures that are closer than this one is kept.
    rng : Stream, Generator or int, optional
        The stream that the starts are drawn from, where none are given.
    **options : object
        Options of the method, as `PayoffModel.deviation_payoffs` takes them.

    Returns
    -------
    Equilibria
        The equilibria, with a certificate each, and how every search ended.

    Examples
    --------
    >>> import numpy as np
    >>> from gpnotes.games import Expansion, RoleSymmetricGame
    >>> road = [Expansion(9.0 * row, -np.ones(1), np.full(2, 6.0)) for row in np.eye(2)[:, None, :]]
    >>> model = PayoffModel(RoleSymmetricGame(players=(10,), strategies=(2,)), road)
    >>> result = find_equilibria(model, np.asarray([[0.9, 0.1], [0.2, 0.8]]))  # all shun a crowd
    >>> len(result), result.num_starts, result.num_failed, result[0].mixture.round(6)
    (1, 2, 0, array([0.5, 0.5]))
    """
    _check.instance(model, "model", PayoffModel)
    _check.choice(method, "method", DETERMINISTIC)
    if true_payoffs is not None:
        _check.function(true_payoffs, "true_payoffs", of="mixtures")
    p = _starts(model, starts, rng, num_starts)
    max_steps = _check.whole(max_steps, "max_steps")
    max_supports = min(_check.whole(max_supports, "max_supports"), sys.maxsize)  # as islice wants
    min_distance = _check.number(min_distance, "min_distance")
    _check.positive(min_distance, "min_distance", zero=True)
    problem = pose(MethodPayoffs(model, method, options), p, tolerance)
    tried_supports = first_supports(model.game, max_supports)
    ends = [
        *_from_starts(problem, p, replicator_steps, max_steps),
        *_on_supports(problem, tried_supports, p),
    ]
    if not problem.judge(ends).holds.any():
        ends.append(_on_simplicial_path(problem, p, max_steps))
    equilibria, searches = _summarise(problem, ends, min_distance, true_payoffs)
    exhaustive = method in ("exact", "enumerated") and is_exhaustive(
        model.game, len(tried_supports)
    )
    support_counts = len(tried_supports), count_supports(model.game)
    return Equilibria(
        equilibria, searches, problem.payoff_ranges, problem.max_regrets, support_counts, exhaustive
    )


def _starts(model: PayoffModel, starts: Array | None, rng: RNG | None, num_starts: int) -> Array:
    like = model.expansions[0].profiles
    num_starts = memory.count(num_starts, "num_starts", each=model.game.num_strategies)
    if starts is not None:
        if rng is not None:
            raise ValueError("find_equilibria needs starts or an rng to draw them from; got both")
        checked = _check.alike(
            model.game.check_mixtures(starts, "starts"), "starts", like, "the profiles"
        )
        _check.whole(checked.shape[0], "the number of starts", 1)
        return checked
    if rng is None:
        raise ValueError("find_equilibria needs starts, or an rng to draw them from")
    generator = stream_of(rng).generator
    parts = [generator.dirichlet(np.ones(s), num_starts) for s in model.game.strategies]
    return model.game.check_mixtures(as_array(np.concatenate(parts, axis=1), like))


def _from_starts(problem: EquilibriumProblem, p: Array, steps: int, max_steps: int) -> list[End]:
    """From each start as it stands, and from where the dynamics lead."""
    steps = _check.whole(steps, "replicator_steps")
    routes = {"newton": p}
    if steps:
        routes["replicator"] = replicator_dynamics(
            problem.payoffs, p, problem.game, num_steps=steps
        )
    ends = problem.refine(array_namespace(p).concat(list(routes.values()), axis=0), max_steps)
    names = [(route, i) for route in routes for i in range(p.shape[0])]
    return [End(ends[k, :], route, start=i) for k, (route, i) in enumerate(names)]


def _on_supports(
    problem: EquilibriumProblem, supports: list[tuple[int, ...]], like: Array
) -> list[End]:
    def payoffs(q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        u, J = problem.losses_and_jacobian(as_array(q, like))
        return np.asarray(to_numpy(u), float), np.asarray(to_numpy(J), float)

    solved = solve_on_supports(payoffs, supports, problem.game, problem.unit, 64.0 * epsilon(like))
    cases = zip(solved.mixtures, supports, solved.left_simplex.tolist(), strict=True)
    return [End(as_array(p, like), "support", None, support, left) for p, support, left in cases]


def _on_simplicial_path(problem: EquilibriumProblem, like: Array, max_steps: int) -> End:
    """Follow the path, which needs all of space: points off the simplex are projected onto it."""
    game = problem.game
    last = [c.stop - 1 for c in game.columns]
    free = np.delete(np.arange(game.num_strategies), last)

    def to_mixture(y: np.ndarray) -> Array:
        z = np.zeros(game.num_strategies)
        z[free] = y
        z[last] = [1.0 - z[c].sum() for c in game.columns]
        return project(as_array(z[None, :], like), game)[0]

    def F(y: np.ndarray) -> np.ndarray:
        p = to_mixture(y)
        losses = problem.losses(problem.payoffs(p)) / as_array(problem.unit, p)
        target, _ = project(p + losses, game)
        return np.asarray(to_numpy(target[0, :]), float)[free]

    uniform = np.repeat([1.0 / s for s in game.strategies], game.strategies)[free]
    start = uniform + 0.01 * np.sin(1.0 + np.arange(len(free)))  # where no two vertices are alike
    end = End(to_mixture(start)[0, :], "simplicial")
    meshes = int(math.log(1.0 / (256.0 * epsilon(like)), 4.0))
    for y in fixed_points(F, start, meshes=meshes):
        end = End(problem.refine(to_mixture(y), max_steps)[0, :], "simplicial")
        if problem.judge([end]).holds.all():
            break
    return end


def _summarise(
    problem: EquilibriumProblem,
    ends: list[End],
    min_distance: float,
    true_payoffs: Callable[[Array], Array] | None,
) -> tuple[tuple[Equilibrium, ...], tuple[Search, ...]]:
    """Ends that are one equilibrium together, in order, and every end as a search."""
    judged = problem.judge(ends)
    groups = _groups(judged, problem.max_regrets, min_distance)
    equilibria = []
    for rows in groups:
        p = judged.mixtures[rows[0] : rows[0] + 1, :]
        true_regrets = true_payoffs and _true_regrets(true_payoffs, p, problem.game)
        regrets = tuple(judged.regrets[rows[0]].tolist())
        equilibria.append(
            Equilibrium(
                p[0, :],
                judged.payoffs[rows[0], :],
                regrets,
                true_regrets,
                problem.payoffs.method,
                len(rows),
            )
        )
    equilibrium_of = {row: k for k, rows in enumerate(groups) for row in rows}
    searches = [
        Search(
            end.route,
            end.start,
            end.support,
            _outcome(problem, judged, i, end),
            equilibrium_of.get(i),
            end.mixture,
            tuple(judged.regrets[i].tolist()),
        )
        for i, end in enumerate(ends)
    ]
    return tuple(equilibria), tuple(searches)


def _true_regrets(
    true_payoffs: Callable[[Array], Array], p: Array, game: RoleSymmetricGame
) -> tuple[float, ...]:
    name = "what true_payoffs gives"
    u = _check.matrix(true_payoffs(p), name, rows=1, columns=game.num_strategies)
    u = _check.alike(u, name, p, "the mixtures")
    return tuple(np.maximum(to_numpy(deviation_gains(u, p, game))[0], 0.0).tolist())


def _outcome(problem: EquilibriumProblem, judged: Judged, i: int, end: End) -> str:
    if judged.holds[i]:
        return FOUND
    if end.left_simplex or end.support is None:
        return LEFT if end.left_simplex else STALLED
    u = to_numpy(judged.payoffs[i, :])
    parts = [u[[s for s in end.support if c.start <= s < c.stop]] for c in problem.game.columns]
    gaps = [np.ptp(part) for part in parts]
    return BETTER if (np.asarray(gaps) <= problem.max_regrets).all() else STALLED


def _groups(judged: Judged, max_regrets: tuple[float, ...], min_distance: float) -> list[list[int]]:
    """The rows of each equilibrium, that with the least regret first; in the order to be shown.

    A thousandth of the regret allowed is rounding, which decides no order.
    """
    p = np.asarray(to_numpy(judged.mixtures), float)
    relative_regrets = judged.regrets / np.where(np.asarray(max_regrets) > 0.0, max_regrets, 1.0)
    worst = relative_regrets.max(axis=1)
    groups: list[list[int]] = []

    def beyond_rounding(row: int) -> float:
        return float(worst[row]) if worst[row] > 1e-3 else 0.0

    def rank(row: int) -> tuple[float, int, float]:
        # of ends that rounding tells apart, the vertex first
        return beyond_rounding(row), int(np.count_nonzero(p[row])), float(worst[row])

    for i in sorted(np.flatnonzero(judged.holds).tolist(), key=rank):
        matching = [rows for rows in groups if np.max(np.abs(p[i] - p[rows[0]])) < min_distance]
        if matching:
            matching[0].append(i)
        else:
            groups.append([i])

    def order(rows: list[int]) -> tuple[float, ...]:
        return (beyond_rounding(rows[0]), *(-p[rows[0]].round(6)).tolist())

    return sorted(groups, key=order)
