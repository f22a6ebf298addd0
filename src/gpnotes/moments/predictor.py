"""Prediction at an uncertain input: what a set of GPs says of f(x) for ``x ~ N(m, S)``.

The law of total variance splits the covariance of the outputs: the mean functions at a random x
covary, and each output has a variance at x, whose expectation is added to its own. Both are sums
over ``Cov[k(x_i, x), k'(x_j, x)]``, which `pairs` finds without cancellation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from .. import _check, _xp, memory
from .._xp import Array, array_namespace, symmetric_part
from ..exact import Posterior
from ..means import ConstantMean, ZeroMean
from .pairs import Meeting, covariances, meetings, pulled_input, sums
from .parts import Part, Seen, parts_of, pulled_q, seen, stacked_precision
from .quick import quick
from .quick_moments import Outputs, found, pulled, quick_outputs
from .spread import admit_input, spread

__all__ = [
    "Moments",
    "Predictor",
    "predict",
    "predict_and_pullback",
    "predictor",
    "trusting_pullback",
]


class Moments(NamedTuple):
    """Mean (E,) and covariance (E, E) of the outputs f(x), and ``cross = cov[x, f(x)]``, (D, E).

    As a cotangent, the derivatives of a number by each of them.
    """

    mean: Array
    covariance: Array
    cross: Array


class _Output(NamedTuple):
    """What prediction needs of one GP: ``K_y = L Lᵀ``, `inverse` ``K_y⁻¹`` and `half` ``L⁻¹``."""

    X: Array
    alpha: Array
    inverse: Array
    half: Array
    offset: float
    noise_var: float
    signal_var: float


@dataclass(frozen=True, eq=False)
class Predictor:
    """GPs with one input space, an output each, ready for uncertain inputs; from `predictor`.

    `parts` are all RBF kernels, `owners` says to which output each belongs, `pairs` which of them
    meet. `quick` is the same in the form that `quick_moments` works on, for NumPy arrays.
    """

    outputs: tuple[Any, ...]
    parts: tuple[Part, ...]
    owners: tuple[int, ...]
    pairs: tuple[tuple[int, int], ...]
    precision: Array
    quick: Outputs | None = None


def predictor(posteriors: Sequence[Posterior]) -> Predictor:
    """Collect what does not depend on the input: O(n³) once for each output.

    The GPs need RBF kernels or sums of them, each its own, and a constant mean or none. Raises
    `TypeError` or `ValueError` for others, and where their inputs do not go together, `MemoryError`
    where matrices have no room.

    >>> import numpy as np
    >>> from gpnotes import GP, RBF, condition
    >>> X = np.asarray([[0.0], [1.0]])
    >>> one = predictor([condition(GP(RBF(), 0.1), X, np.asarray([1.0, 0.0]))])
    >>> predict(one, np.asarray([0.5]), np.asarray([[0.0]])).mean.round(4)
    array([0.5171])
    """
    if isinstance(posteriors, Posterior) or not isinstance(posteriors, Iterable):
        wanted = "a sequence of Posterior"
        raise TypeError(f"posteriors must be {wanted}; got {type(posteriors).__name__}")
    posteriors = tuple(posteriors)
    if not posteriors:
        raise ValueError("posteriors must hold at least one Posterior; got none")
    for k, one in enumerate(posteriors):
        _admit_posterior(one, f"posteriors[{k}]", posteriors[0])
    n, E = max(one.X.shape[0] for one in posteriors), len(posteriors)
    room = {"what": f"one of {E} inverses of K_y", "remedy": "Use fewer points or float32."}
    memory.require(n, n, copies=4 * E, like=posteriors[0].X, **room)
    every = [parts_of(one.gp.kernel, one.X) for one in posteriors]
    owners = [k for k, parts in enumerate(every) for _ in parts]
    outputs = [_output(one, parts) for one, parts in zip(posteriors, every, strict=True)]
    parts = [part for some in every for part in some]
    pairs = [(i, j) for i in range(len(parts)) for j in range(i, len(parts))]
    plain = Predictor(
        tuple(outputs), tuple(parts), tuple(owners), tuple(pairs), stacked_precision(parts)
    )
    return replace(plain, quick=_quick(plain))


def _quick(plain: Predictor) -> Outputs | None:
    """The same for `quick_moments`, or None where that does not serve."""
    outputs, owners, pairs = plain.outputs, list(plain.owners), list(plain.pairs)
    of_parts = [outputs[k] for k in owners]
    points, alpha = [one.X for one in of_parts], [one.alpha for one in of_parts]
    have = quick(points, list(plain.parts), alpha, pairs)
    return None if have is None else quick_outputs(have, outputs, owners, pairs)


def _admit_posterior(one: Any, name: str, first: Any) -> None:
    if not isinstance(one, Posterior):
        raise TypeError(f"{name} must be a Posterior; got {type(one).__name__}")
    if not isinstance(one.gp.mean, ZeroMean | ConstantMean):
        raise TypeError(f"{name} must have a constant mean or none; got {one.gp.mean!r}")
    _check.matrix(one.X, f"{name}.X", columns=first.X.shape[1])
    _check.alike(one.X, f"{name}.X", first.X, "posteriors[0].X")


def _output(one: Posterior, parts: list[Part]) -> _Output:
    half = one.cholesky.half_solve(_xp.eye(one.X.shape[0], one.X))
    inverse = array_namespace(half).matrix_transpose(half) @ half
    offset = one.gp.mean.value if isinstance(one.gp.mean, ConstantMean) else 0.0
    signal_var = sum(part.variance for part in parts)
    return _Output(one.X, one.alpha, inverse, half, offset, one.gp.noise_var, signal_var)


class _Look(NamedTuple):
    """A predictor's parts and pairs as they are seen from one N(m, S)."""

    seen: list[Seen]
    met: Meeting
    q: list[Array]  # of each output: the sum over its parts


def _look(model: Predictor, m: Array, S: Array) -> _Look:
    solved = spread(S, model.precision)
    every = [
        seen(part, model.outputs[k].X - m, solved, c)
        for c, (k, part) in enumerate(zip(model.owners, model.parts, strict=True))
    ]
    met = meetings(S, model.precision, solved, model.pairs)
    q = [sum(_owned(model, every, k, "q")) for k in range(len(model.outputs))]
    return _Look(every, met, q)


def _owned(model: Predictor, every: list[Seen], output: int, field: str) -> list[Array]:
    return [
        getattr(one, field)
        for one, owner in zip(every, model.owners, strict=True)
        if owner == output
    ]


def predict(model: Predictor, m: Array, S: Array, noise: bool = False) -> Moments:
    """Mean, covariance and input-output covariance of f(x) for ``x ~ N(m, S)``.

    :eq:`eq-pi-mean`, :eq:`eq-pi-expected-variance`, :eq:`eq-pi-covariance`, :eq:`eq-pi-cross`. m
    has shape (D,), S (D, D): any covariance, singular, tiny or zero. With `noise` each output's
    noise variance is added to its own. A variance that rounding took below zero is zero.
    O(E² n² D) for E outputs of one kernel each. Exponents keep an absolute accuracy of some
    ``eps (x − m)²/ℓ²`` at points x within S.

    Raises `ValueError` for an S that is not finite, symmetric or positive semidefinite, beyond
    rounding of its largest eigenvalue, for lengthscales so short beside S that the exponents'
    accuracy is worse than 0.01, and numbers whose squares overflow; `TypeError` for arrays of
    another kind.
    Source: Deisenroth & Rasmussen (2011).

    >>> import numpy as np
    >>> from gpnotes import GP, RBF, condition
    >>> X, y = np.asarray([[0.0], [1.0]]), np.asarray([1.0, 0.0])
    >>> found = predict(predictor([condition(GP(RBF(), 0.1), X, y)]), np.ones(1), np.eye(1))
    >>> found.mean.round(4), found.covariance.round(4), found.cross.round(4)
    (array([0.21]), array([[0.4842]]), array([[-0.3597]]))
    """
    S, noise = _admit(model, m, S), _check.flag(noise, "noise")
    if model.quick is not None:
        return Moments(*found(model.quick, m, S, noise, slopes=False)[:3])
    return _moments(model, _look(model, m, S), S, noise)[0]


def _admit(model: Any, m: Array, S: Array) -> Array:
    if not isinstance(model, Predictor):
        wanted = "a Predictor, made by predictor(posteriors)"
        raise TypeError(f"model must be {wanted}; got {type(model).__name__}")
    return admit_input(m, S, model.outputs[0].X)


def predict_and_pullback(
    model: Predictor, m: Array, S: Array, noise: bool = False
) -> tuple[Moments, Callable[[Moments], tuple[Array, Array]]]:
    """What `predict` gives, and ``pull(bar) -> (m_bar, S_bar)``, whose ``S_bar`` is symmetric.

    `bar` is a `Moments` of derivatives. The pullback is finite at singular S too: it knows
    ``(I + SD)⁻¹`` and no inverse of S, nor derivatives of eigenvectors. Raises what `predict`
    raises.

    >>> import numpy as np
    >>> from gpnotes import GP, RBF, condition
    >>> X, y = np.asarray([[0.0], [1.0]]), np.asarray([1.0, 0.0])
    >>> model = predictor([condition(GP(RBF(), 0.1), X, y)])
    >>> found, pull = predict_and_pullback(model, np.ones(1), np.zeros((1, 1)))
    >>> m_bar, S_bar = pull(Moments(np.ones(1), np.zeros((1, 1)), np.zeros((1, 1))))
    >>> m_bar.round(4), S_bar.round(4)
    (array([-0.7923]), array([[0.3601]]))
    """
    result, pull = trusting_pullback(model, m, S, _check.flag(noise, "noise"))
    return result, lambda bar: pull(_check.cotangents(bar, "bar", result))


def trusting_pullback(
    model: Predictor, m: Array, S: Array, noise: bool
) -> tuple[Moments, Callable[[Moments], tuple[Array, Array]]]:
    """`predict_and_pullback` that checks m and S but no derivatives, for use inside the house."""
    S = _admit(model, m, S)
    if model.quick is not None:
        return _quickly(model.quick, m, S, noise)
    look = _look(model, m, S)
    result, clipped = _moments(model, look, S, noise)

    def pull(bar: Moments) -> tuple[Array, Array]:
        """The derivatives by m (D,) and by S (D, D)."""
        every = [*_pulled_parts(model, look, S, clipped, bar)]
        every += _pulled_pairs(model, look, clipped, bar)
        m_bar, S_bar = (sum(some) for some in zip(*every, strict=True))
        return m_bar, symmetric_part(S_bar)

    return result, pull


def _quickly(
    model: Outputs, m: Array, S: Array, noise: bool
) -> tuple[Moments, Callable[[Moments], tuple[Array, Array]]]:
    now = found(model, m, S, noise, slopes=True)
    result = Moments(now.mean, now.covariance, now.cross)
    return result, lambda bar: pulled(model, S, now, *bar)


def _moments(model: Predictor, look: _Look, S: Array, noise: bool) -> tuple[Moments, list[bool]]:
    xp, outputs = array_namespace(S), model.outputs
    mean = [one.offset + xp.sum(one.alpha * q) for one, q in zip(outputs, look.q, strict=True)]
    slopes = [xp.zeros_like(S[0, :]) for _ in outputs]
    for k, one in zip(model.owners, look.seen, strict=True):
        slopes[k] = slopes[k] + xp.matrix_transpose(one.g) @ (outputs[k].alpha * one.q)
    covariance, clipped = _covariance(model, look, noise)
    return Moments(xp.stack(mean), covariance, S @ xp.stack(slopes, axis=1)), clipped


def _covariance(model: Predictor, look: _Look, noise: bool) -> tuple[Array, list[bool]]:
    xp, outputs = array_namespace(look.q[0]), model.outputs
    variance = [
        one.signal_var - xp.sum((one.half @ q) ** 2) for one, q in zip(outputs, look.q, strict=True)
    ]
    of_means = [[0.0 * variance[0] for _ in outputs] for _ in outputs]
    for k, (i, j) in enumerate(model.pairs):
        a, b = model.owners[i], model.owners[j]
        C = covariances(look.seen[i], look.seen[j], look.met, k)
        shared = xp.sum(outputs[a].alpha * (C @ outputs[b].alpha))
        of_means[a][b] = of_means[a][b] + (2.0 if a == b and i != j else 1.0) * shared
        if a == b:
            variance[a] = variance[a] - (1.0 if i == j else 2.0) * xp.sum(outputs[a].inverse * C)
    clipped = [not float(one) > 0.0 for one in variance]
    for a, one in enumerate(outputs):
        kept = 0.0 * variance[a] if clipped[a] else variance[a]
        of_means[a][a] = xp.clip(of_means[a][a] + kept, 0.0, None)
        of_means[a][a] = of_means[a][a] + (one.noise_var if noise else 0.0)
        for b in range(a):
            of_means[a][b] = of_means[b][a]
    return xp.stack([xp.stack(row) for row in of_means]), clipped


def _pulled_parts(
    model: Predictor, look: _Look, S: Array, clipped: list[bool], bar: Moments
) -> Iterator[tuple[Array, Array]]:
    """What comes through each part's q and g: the mean, the cross-covariance and the variance at m.

    With ``h = Σ α q g`` the cross-covariance is ``S h``, and ``dg = −N (dm + dS g)``.
    """
    xp = array_namespace(S)
    for a, one in zip(model.owners, look.seen, strict=True):
        output, column = model.outputs[a], bar.cross[:, a]
        along = xp.matrix_transpose(S) @ column
        weights = output.alpha * one.q
        t = weights * (bar.mean[a] + one.g @ along)
        if not clipped[a]:
            t = t - 2.0 * bar.covariance[a, a] * one.q * (output.inverse @ look.q[a])
        slope, turned = xp.matrix_transpose(one.g) @ weights, one.N @ along
        m_bar, S_bar = pulled_q(one, t)
        yield m_bar - xp.sum(weights) * turned, S_bar + (column - turned)[:, None] * slope[None, :]


def _pulled_pairs(
    model: Predictor, look: _Look, clipped: list[bool], bar: Moments
) -> Iterator[tuple[Array, Array]]:
    for k, (i, j) in enumerate(model.pairs):
        a, b = model.owners[i], model.owners[j]
        first, second = model.outputs[a], model.outputs[b]
        W = first.alpha[:, None] * second.alpha[None, :]
        if a == b and not clipped[a]:
            W = W - first.inverse
        scale = bar.covariance[a, b] + (bar.covariance[b, a] if i != j else 0.0)
        found = sums(look.seen[i], look.seen[j], look.met, k, scale * W)
        yield pulled_input(look.seen[i], look.seen[j], look.met, k, found)
