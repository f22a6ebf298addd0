"""Costs put together: sums with weights, costs of a part of a state, and costs of an action.

A cost of one vector, such as `SaturatingCost`, is one of the state that a step leads to, with the
sines and cosines of its angles, ``z = (x, sin x_a, cos x_a)``. A `StepCost` adds one of the action
u that was taken. All of them add up and take weights:

>>> import numpy as np
>>> from gpnotes.decide.pilco import QuadraticCost, SaturatingCost
>>> far = SaturatingCost(np.zeros(2), np.eye(2))
>>> effort = StepCost(action=QuadraticCost(np.zeros(1), np.eye(1)))
>>> cost = far + 0.1 * effort
>>> round(cost(np.asarray([1.0, 0.0]), np.asarray([2.0])), 4)
0.7935
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from ...ground import check as _check
from ...ground.xp import Matrix, Vector, array_namespace, eye
from ...model.contracts import Cost, missing, require

__all__ = ["ComposableCost", "PartialCost", "StepCost", "SumCost"]

Pull: TypeAlias = Callable[[float], tuple[Vector, Matrix]]
Expectation: TypeAlias = Callable[[Vector, Matrix], tuple[float, Pull]]


class ComposableCost:
    """Base of costs that can be added to others and take weights, ``a + 0.1 * b``, and ``sum``.

    The cost itself has ``__call__(x)`` and ``expected_and_pullback(m, S)``. One without this class
    may be added to one that has it: ``own + cost`` and ``cost + own`` are costs.
    """

    __array_ufunc__ = None  # a NumPy number times a cost is a cost, no array of objects

    def __add__(self, other: object) -> SumCost | StepCost:
        return _plus(self, other) if _is_cost(other) else NotImplemented

    def __radd__(self, other: object) -> Any:
        if isinstance(other, int) and other == 0:  # where sum() begins
            return self
        return _plus(other, self) if _is_cost(other) else NotImplemented

    def __mul__(self, weight: Any) -> SumCost | StepCost:
        return _times(self, _check.number(weight, "weight"))

    __rmul__ = __mul__


@dataclass(frozen=True, eq=False)
class SumCost(ComposableCost):
    """Weighted sum of costs, ``Σᵢ wᵢ cᵢ(x)``, the result of ``a + 0.5 * b``.

    Parameters
    ----------
    costs : tuple of Cost
        The costs, each of one vector, at least one.
    weights : tuple of float
        Their weights, of any sign.

    Examples
    --------
    >>> import numpy as np
    >>> from gpnotes.decide.pilco import QuadraticCost
    >>> square = QuadraticCost(np.zeros(1), np.eye(1))
    >>> sum([square, 0.5 * square])(np.asarray([2.0]))
    6.0
    """

    costs: tuple[Cost, ...]
    weights: tuple[float, ...]

    def __post_init__(self) -> None:
        for name in ("costs", "weights"):
            if not isinstance(getattr(self, name), tuple | list):
                got = _check.kind_of(getattr(self, name))
                raise TypeError(f"{name} must be a sequence; got {got}")
        if not self.costs:
            raise ValueError("costs must hold at least one; got none")
        if len(self.weights) != len(self.costs):
            wanted = f"one number for each of the {len(self.costs)} costs"
            raise ValueError(f"weights must be {wanted}; got {len(self.weights)}")
        costs = (require(cost, f"costs[{i}]", Cost) for i, cost in enumerate(self.costs))
        weights = (_check.number(w, f"weights[{i}]") for i, w in enumerate(self.weights))
        object.__setattr__(self, "costs", tuple(costs))
        object.__setattr__(self, "weights", tuple(weights))

    def __call__(self, x: Vector) -> float:
        """Return the cost of one state or action x (k,)."""
        return float(sum(w * c(x) for w, c in zip(self.weights, self.costs, strict=True)))

    def expected_and_pullback(self, m: Vector, S: Matrix) -> tuple[float, Pull]:
        """Return ``E c(x)`` for ``x ~ N(m, S)``, and the function back to ``(m_bar, S_bar)``.

        Arguments and errors are those of the costs that are added.
        """
        return self._summed([cost.expected_and_pullback(m, S) for cost in self.costs])

    def _expected_and_pullback(self, m: Vector, S: Matrix) -> tuple[float, Pull]:
        return self._summed([expectation(cost)(m, S) for cost in self.costs])

    def _summed(self, terms: list[tuple[float, Pull]]) -> tuple[float, Pull]:
        values = [value for value, _ in terms]

        def pull(bar: float) -> tuple[Vector, Matrix]:
            """The derivatives by m and S, added up over the costs."""
            bars = [back(w * bar) for w, (_, back) in zip(self.weights, terms, strict=True)]
            m_bars, S_bars = zip(*bars, strict=True)
            return sum(m_bars[1:], start=m_bars[0]), sum(S_bars[1:], start=S_bars[0])

        return sum(w * value for w, value in zip(self.weights, values, strict=True)), pull


@dataclass(frozen=True, eq=False)
class PartialCost(ComposableCost):
    """Cost of some entries of a vector; nothing else in it costs anything.

    Parameters
    ----------
    cost : Cost
        A cost of these entries.
    entries : tuple of int
        The entries, which count from 0.

    Examples
    --------
    >>> import numpy as np
    >>> from gpnotes.decide.pilco import SaturatingCost
    >>> cost = PartialCost(SaturatingCost(np.ones(1), np.eye(1)), (2,))
    >>> cost(np.asarray([7.0, 8.0, 1.0]))
    0.0
    """

    cost: Cost
    entries: tuple[int, ...]

    def __post_init__(self) -> None:
        require(self.cost, "cost", Cost)
        entries = _check.entries(self.entries, "entries", _MOST, "a vector")
        if not entries:
            raise ValueError("entries must hold at least one; got none")
        object.__setattr__(self, "entries", entries)

    def __call__(self, x: Vector) -> float:
        """Return the cost of one state or action x (k,)."""
        return self.cost(self._rows(_check.vector(x, "x")) @ x)

    def expected_and_pullback(self, m: Vector, S: Matrix) -> tuple[float, Pull]:
        """Return ``E c(x)`` for ``x ~ N(m, S)``, and the function back to ``(m_bar, S_bar)``.

        Arguments and errors are those of the inner cost, for a whole vector x: m (k,) and S (k,
        k).
        """
        return self._through(self.cost.expected_and_pullback, m, _check.normal(m, S))

    def _expected_and_pullback(self, m: Vector, S: Matrix) -> tuple[float, Pull]:
        return self._through(expectation(self.cost), m, S)

    def _through(self, expected: Expectation, m: Vector, S: Matrix) -> tuple[float, Pull]:
        # x ~ N(m, S) gives P x ~ N(P m, P S Pᵀ) with rows P of the identity
        P = self._rows(m)
        P_T = array_namespace(m).matrix_transpose(P)
        value, pull_part = expected(P @ m, P @ S @ P_T)

        def pull(bar: float) -> tuple[Vector, Matrix]:
            """The derivatives by m and S: zero but for the entries."""
            m_bar, S_bar = pull_part(bar)
            return P_T @ m_bar, P_T @ S_bar @ P

        return value, pull

    def _rows(self, x: Vector) -> Matrix:
        """The rows (d, k) of the identity that pick the entries of x (k,)."""
        entries = _check.entries(self.entries, "entries", x.shape[0], "x")
        identity = eye(x.shape[0], x)
        return array_namespace(x).stack([identity[entry, :] for entry in entries])


@dataclass(frozen=True, eq=False)
class StepCost(ComposableCost):
    """Cost of a step by the state it leads to and by its action, ``c(z, u) = c_z(z) + c_u(u)``.

    Parameters
    ----------
    state : Cost, optional
        A cost of the state z, with its sines and cosines, that the step leads to.
    action : Cost, optional
        A cost of the action u that was taken.

    Notes
    -----
    In a rollout both are expectations: z and u are Gaussian there, with the moments that were
    matched, and since the cost is a sum, the covariance of z and u does not enter.

    Examples
    --------
    >>> import numpy as np
    >>> from gpnotes.decide.pilco import QuadraticCost
    >>> effort = StepCost(action=QuadraticCost(np.zeros(1), np.eye(1)))
    >>> effort(np.zeros(4), np.asarray([3.0]))
    9.0
    """

    state: Cost | None = None
    action: Cost | None = None

    def __post_init__(self) -> None:
        if self.state is None and self.action is None:
            raise ValueError("state and action must not both be None: one of them is the cost")
        for name in ("state", "action"):
            if getattr(self, name) is not None:
                require(getattr(self, name), name, Cost)

    def __call__(self, z: Vector, u: Vector) -> float:
        """Return the cost of the state z (K,) that was reached by the action u (U,)."""
        of_state = 0.0 if self.state is None else self.state(z)
        of_action = 0.0 if self.action is None else self.action(u)
        return of_state + of_action


_MOST = 2**31  # entries that a vector may have, as far as a cost of some of them knows


def by_step(cost: Cost | StepCost) -> StepCost:
    """A cost as one of a step: a cost of one vector is one of the state."""
    return cost if isinstance(cost, StepCost) else StepCost(state=cost)


def expectation(cost: Cost) -> Expectation:
    """Return a cost's expectation with its pullback as a function; our own check nothing."""
    own = "_expected_and_pullback" in vars(type(cost))
    return getattr(cost, "_expected_and_pullback" if own else "expected_and_pullback")


def _is_cost(value: object) -> bool:
    return isinstance(value, StepCost) or not (isinstance(value, type) or missing(value, Cost))


def _plus(first: Any, second: Any) -> SumCost | StepCost:
    if isinstance(first, StepCost) or isinstance(second, StepCost):
        a, b = by_step(first), by_step(second)
        return StepCost(_plus_or_none(a.state, b.state), _plus_or_none(a.action, b.action))
    costs, weights = _terms(first)
    more_costs, more_weights = _terms(second)
    return SumCost(costs + more_costs, weights + more_weights)


def _plus_or_none(first: object, second: object) -> Any:
    if first is None or second is None:
        return first if second is None else second
    return _plus(first, second)


def _times(cost: Any, weight: float) -> SumCost | StepCost:
    if isinstance(cost, StepCost):
        parts = (cost.state, cost.action)
        return StepCost(*(None if part is None else _weighted(part, weight) for part in parts))
    return _weighted(cost, weight)


def _weighted(cost: Cost, weight: float) -> SumCost:
    costs, weights = _terms(cost)
    return SumCost(costs, tuple(weight * w for w in weights))


def _terms(cost: Cost) -> tuple[tuple[Cost, ...], tuple[float, ...]]:
    """The costs and the weights whose sum it is."""
    return (cost.costs, cost.weights) if isinstance(cost, SumCost) else ((cost,), (1.0,))
