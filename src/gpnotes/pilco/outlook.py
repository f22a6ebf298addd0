"""What an uncertain input has in common with points where one might observe.

All that a fantasy observation at x̂ can do to the prediction at ``x ~ N(m, S)`` goes through two
numbers: the covariance of f averaged over x with f at x̂, and the variance of the observation.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from .. import _check, _xp
from .._xp import Array, array_namespace
from ..exact import Posterior
from ..moments.expectations import mean_and_pullback
from ..moments.spread import admit_input

__all__ = [
    "Look",
    "Outlook",
    "State",
    "admitted",
    "averages",
    "blocks",
    "look",
    "outlook",
    "outputs",
    "single",
]

_CHUNK_ENTRIES = 2**21  # entries of arrays over candidates at a time: 16 MiB in float64


class State(NamedTuple):
    """An uncertain input ``x ~ N(mean, covariance)``, (D,) and (D, D)."""

    mean: Array
    covariance: Array


class Outlook(NamedTuple):
    """A posterior and T uncertain inputs, with ``L⁻¹ E_x k_Xx`` of each, (n, T)."""

    posterior: Posterior
    states: list[State]
    half_means: Array

    @property
    def noise_var(self) -> float:
        """The variance with which a fantasy is observed: jitter counts, as it does for the data."""
        return self.posterior.gp.noise_var + self.posterior.cholesky.jitter


class Look(NamedTuple):
    """What k candidates have to say about T uncertain inputs.

    `half` is ``L⁻¹ k_X(x̂)``, (n, k); `cross` is ``E_x c(x, x̂)``, (T, k), with the posterior
    covariance c; `spread` is ``c(x̂, x̂) + σ_n²``, (k,); what is not above `floor`, (k,), is nothing
    but rounding. It is zero if the noise is more than that: c may then be as small as it likes.
    """

    half: Array
    cross: Array
    spread: Array
    floor: Array

    @property
    def gain(self) -> Array:
        """``Σ_t cross² / spread``, (k,): the reductions, :eq:`eq-pi-reduction`."""
        return array_namespace(self.cross).sum(self.cross * self.over(self.cross), axis=0)

    def over(self, numerator: Array) -> Array:
        """A numerator, (..., k), over `spread`; zero where there is nothing left to observe."""
        xp = array_namespace(numerator)
        known = self.spread <= self.floor
        ratio = numerator / xp.where(known, xp.ones_like(self.spread), self.spread)
        return xp.where(known, xp.zeros_like(ratio), ratio)


def outputs(posteriors: Any) -> list[Posterior]:
    """One posterior or several of one kind, as a list; `TypeError` or `ValueError` otherwise."""
    found = [posteriors] if isinstance(posteriors, Posterior) else posteriors
    if not isinstance(found, Sequence):
        wanted = "an exact.Posterior or a sequence of them"
        raise TypeError(f"posteriors must be {wanted}; got {type(found).__name__}")
    if not found:
        raise ValueError("posteriors must hold at least one; got none")
    for i, one in enumerate(found):
        if not isinstance(one, Posterior):
            raise TypeError(f"posteriors must be exact.Posterior; got {type(one).__name__}")
        _check.matrix(one.X, f"posteriors[{i}].X", columns=found[0].X.shape[1])
        _check.alike(one.X, f"posteriors[{i}].X", found[0].X, "posteriors[0].X")
    return list(found)


def single(posterior: Any) -> Posterior:
    """`posterior` if it is one; `TypeError` otherwise."""
    if not isinstance(posterior, Posterior):
        raise TypeError(f"posterior must be one exact.Posterior; got {type(posterior).__name__}")
    return posterior


def states(m: Array, S: Array, like: Array) -> list[State]:
    """The inputs N(m, S) as a list: one for m (D,) and S (D, D), T for (T, D) and (T, D, D).

    Raises `ValueError` for shapes that do not fit `like` (n, D), and for an S that is not
    symmetric positive semidefinite up to rounding.
    """
    d = like.shape[1]
    if getattr(m, "ndim", 0) != 2:
        return [_state(_check.vector(m, "m", size=d), S, "S", like)]
    _check.matrix(m, "m", columns=d)
    wanted = (m.shape[0], d, d)
    if m.shape[0] == 0 or getattr(S, "shape", None) != wanted:
        got = f"m {m.shape} and S {getattr(S, 'shape', type(S).__name__)}"
        raise ValueError(f"m and S must have shapes (T, {d}) and (T, {d}, {d}), T ≥ 1; got {got}")
    return [_state(m[t, :], S[t, :, :], f"S[{t}]", like) for t in range(m.shape[0])]


def _state(m: Array, S: Array, name: str, like: Array) -> State:
    return State(m, admit_input(m, S, like, name))


def admitted(
    models: list[Posterior], m: Array, S: Array, candidates: Array, name: str = "candidates"
) -> list[State]:
    """The uncertain inputs, if candidates (k, D) are at least one row like those of X."""
    like = models[0].X
    _check.matrix(candidates, name, columns=like.shape[1])
    if candidates.shape[0] == 0:
        raise ValueError(f"{name} must have at least one row; got {candidates.shape}")
    _check.alike(_check.squarable(candidates, name), name, like, "X")
    return states(m, S, like)


def blocks(view: Outlook, candidates: Array, most: int | None = None) -> list[Array]:
    """The candidates in portions that keep what is known of them at a few tens of MB."""
    n, T = view.half_means.shape
    size = max(1, _CHUNK_ENTRIES // (n + T))
    size = size if most is None else min(size, most)
    starts = range(0, candidates.shape[0], size)
    return [candidates[s : min(s + size, candidates.shape[0]), :] for s in starts]


def outlook(posterior: Posterior, found: list[State]) -> Outlook:
    """The averages that all candidates share; O(T (n² + n D²))."""
    xp = array_namespace(posterior.X)
    means = averages(posterior, posterior.X, found)
    return Outlook(posterior, found, posterior.cholesky.half_solve(xp.matrix_transpose(means)))


def averages(posterior: Posterior, Z: Array, found: Sequence[State]) -> Array:
    """``E_x k(x, zᵢ)`` for every uncertain input, (T, k)."""
    kernel = posterior.gp.kernel
    return array_namespace(Z).stack([mean_and_pullback(kernel, Z, *state)[0] for state in found])


def look(view: Outlook, candidates: Array) -> Look:
    """Candidates (k, D) seen from the outlook; O(n² k).

    ``E_x c(x, x̂) = E_x k(x, x̂) − (L⁻¹ E_x k_Xx)ᵀ L⁻¹ k_X(x̂)``, by :eq:`eq-pi-kernel-mean`.
    """
    xp, kernel = array_namespace(candidates), view.posterior.gp.kernel
    half = view.posterior.cholesky.half_solve(kernel(view.posterior.X, candidates))
    pulled = xp.matrix_transpose(view.half_means) @ half
    prior = kernel.diag(candidates)
    spread = xp.clip(prior - xp.sum(half * half, axis=0), 0.0, None) + view.noise_var
    rounding = max(10, half.shape[0]) * _xp.epsilon(half) * prior
    noisy = view.posterior.gp.noise_var > rounding
    floor = xp.where(noisy, xp.zeros_like(prior), 10.0 * rounding)
    return Look(half, averages(view.posterior, candidates, view.states) - pulled, spread, floor)
