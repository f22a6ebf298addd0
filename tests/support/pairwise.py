"""Matched moments pair by pair, in NumPy: the oracle of the sums of `gpnotes.decide.moments`.

Two RBF terms at a time, one (n, n) matrix of covariances for each pair, and the derivatives as they
are derived on paper. Slow, and plain enough to be read beside the chapter.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gpnotes.decide.moments import Moments
from gpnotes.model.kernels import RBF, Scaled, Sum


class Term(NamedTuple):
    """A term of an output's kernel, and what N(m, S) makes of it: ``u = Λ⁻¹ν, g = N ν`` and q."""

    output: int
    precision: np.ndarray
    T: np.ndarray
    N: np.ndarray
    w: np.ndarray
    u: np.ndarray
    g: np.ndarray
    q: np.ndarray


class Output(NamedTuple):
    """What prediction needs of one GP."""

    X: np.ndarray
    alpha: np.ndarray
    inverse: np.ndarray
    offset: float
    noise_var: float
    variance: float


def damped(S, precision):
    """``T = S (I + DS)⁻¹``, ``H = (I + DS)⁻¹`` and the eigenvalues of ``D^½ S D^½``."""
    root = np.sqrt(precision)
    w, U = np.linalg.eigh(root[:, None] * S * root)
    w = np.maximum(w, 0.0)
    T = (U / root[:, None] * (w / (1.0 + w))) @ (U / root[:, None]).T
    return T, (U * root[:, None] / (1.0 + w)) @ (U / root[:, None]).T, w


def scales(kernel, factor=1.0):
    """Variance and lengthscale of each term of a kernel."""
    if isinstance(kernel, Sum):
        return [one for part in kernel.parts for one in scales(part, factor)]
    if isinstance(kernel, Scaled):
        return scales(kernel.kernel, factor * kernel.scale)
    assert isinstance(kernel, RBF)
    return [(factor * kernel.variance, kernel.lengthscale)]


def output_of(posterior):
    offset = getattr(posterior.gp.mean, "value", 0.0)
    variance = sum(v for v, _ in scales(posterior.gp.kernel))
    inverse = posterior.cholesky.inverse()
    gp = posterior.gp
    return Output(posterior.X, posterior.alpha, inverse, offset, gp.noise_var, variance)


def term(k, variance, lengths, X, m, S):
    precision = np.ones(X.shape[1], X.dtype) / lengths**2
    T, H, w = damped(S, precision)
    u = (X - m) * precision
    g = u @ H.T
    q = variance * np.exp(-0.5 * (np.sum((X - m) * g, axis=1) + np.sum(np.log1p(w))))
    return Term(k, precision, T, H * precision, w, u, g, q.astype(X.dtype))


class Pair(NamedTuple):
    """The algebra of two terms, and ``Cov[k(x_i, x), k'(x'_j, x)]``."""

    D: np.ndarray
    T: np.ndarray
    H: np.ndarray
    A: np.ndarray
    B: np.ndarray
    C: np.ndarray


def log_gap(w, first, second):
    """``log|I + SD| − log|I + SΛ⁻¹| − log|I + SΛ'⁻¹|``, of which the traces are equal."""
    if max(w) > 0.1:
        return np.sum(np.log1p(w)) - np.sum(np.log1p(first)) - np.sum(np.log1p(second))

    def bent(w):  # log(1 + w) − w
        return sum((-w) ** k / k for k in range(20, 1, -1)) * -1.0

    return np.sum(bent(w)) - np.sum(bent(first)) - np.sum(bent(second))


def pair(first, second, S):
    D = first.precision + second.precision
    T, H, w = damped(S, D)
    A = -first.T @ (second.precision[:, None] * T)
    B = -second.T @ (first.precision[:, None] * T)
    A, B = 0.5 * (A + A.T), 0.5 * (B + B.T)
    a = 0.5 * np.sum((first.u @ A) * first.u, axis=1)
    b = 0.5 * np.sum((second.u @ B) * second.u, axis=1)
    delta = first.u @ T @ second.u.T + a[:, None] + b - 0.5 * log_gap(w, first.w, second.w)
    top = 0.7 * np.log(np.finfo(S.dtype).max)
    return Pair(D, T, H, A, B, first.q[:, None] * np.expm1(np.minimum(delta, top)) * second.q)


def predict_and_pullback(posteriors, m, S, noise=False, shrink=1.0):
    """As `moments.predict_and_pullback`. With `shrink` > 1 inverses are too large: bad rounding."""
    outputs = [output_of(posterior) for posterior in posteriors]
    terms = [
        term(k, *scale, outputs[k].X, m, S)
        for k, one in enumerate(posteriors)
        for scale in scales(one.gp.kernel)
    ]
    ends = [(i, j) for i in range(len(terms)) for j in range(i, len(terms))]
    pairs = [pair(terms[i], terms[j], S) for i, j in ends]
    q = [sum(one.q for one in terms if one.output == k) for k in range(len(outputs))]
    mean = [one.offset + one.alpha @ q[k] for k, one in enumerate(outputs)]
    h = [
        sum(one.g.T @ (out.alpha * one.q) for one in terms if one.output == k)
        for k, out in enumerate(outputs)
    ]
    covariance, clipped = _covariance(outputs, terms, ends, pairs, q, shrink)
    covariance += np.diag([output.noise_var if noise else 0.0 for output in outputs])
    moments_of_outputs = Moments(np.asarray(mean), covariance, S @ np.stack(h, axis=1))

    def pull(bar):
        every = [_by_term(outputs, one, q, S, clipped, bar, shrink) for one in terms]
        for (i, j), met in zip(ends, pairs, strict=True):
            every.append(_by_pair(outputs, terms[i], terms[j], met, clipped, bar, i != j, shrink))
        m_bar, S_bar = (sum(some) for some in zip(*every, strict=True))
        return m_bar, 0.5 * (S_bar + S_bar.T)

    return moments_of_outputs, pull


def _covariance(outputs, terms, ends, pairs, q, shrink):
    variance = np.asarray([
        one.variance - shrink * q[k] @ one.inverse @ q[k] for k, one in enumerate(outputs)
    ])  # fmt: skip
    of_means = np.zeros((len(outputs), len(outputs)))
    for (i, j), met in zip(ends, pairs, strict=True):
        a, b = terms[i].output, terms[j].output
        shared = outputs[a].alpha @ met.C @ outputs[b].alpha
        of_means[a, b] += (2.0 if a == b and i != j else 1.0) * shared
        if a == b:
            variance[a] -= (1.0 if i == j else 2.0) * np.sum(outputs[a].inverse * met.C)
    clipped = ~(variance > 0.0)
    covariance = np.triu(of_means) + np.triu(of_means, 1).T
    own = np.diag(of_means) + np.where(clipped, 0.0, variance)
    covariance[np.diag_indices(len(outputs))] = np.maximum(own, 0.0)
    return covariance, clipped


def _by_q(one, t, twice):
    """What ``Σ t log q`` has; `twice` stands for t where g is squared."""
    return one.g.T @ t, 0.5 * ((one.g.T * twice) @ one.g - np.sum(t) * one.N)


def _by_term(outputs, one, q, S, clipped, bar, shrink):
    """The mean, the cross-covariance and the variance at m."""
    output, column = outputs[one.output], bar.cross[:, one.output]
    along, weights = S.T @ column, output.alpha * one.q
    t = weights * (bar.mean[one.output] + one.g @ along)
    if not clipped[one.output]:
        a = one.output
        t = t - 2.0 * shrink * bar.covariance[a, a] * one.q * (output.inverse @ q[a])
    turned = one.N @ along
    m_bar, S_bar = _by_q(one, t, t)
    S_bar = S_bar + np.outer(column - turned, one.g.T @ weights)
    return m_bar - np.sum(weights) * turned, S_bar


def _by_pair(outputs, one, other, met, clipped, bar, twofold, shrink):
    a, b = one.output, other.output
    W = np.outer(outputs[a].alpha, outputs[b].alpha)
    if a == b and not clipped[a]:
        W = W - outputs[a].inverse
    W = W * (bar.covariance[a, b] + (bar.covariance[b, a] if twofold else 0.0))
    P = W * met.C
    R = P + one.q[:, None] * W * other.q
    p, p_, r, r_ = P.sum(1), P.sum(0), R.sum(1), R.sum(0)
    Ur, Vr = one.u.T @ r, other.u.T @ r_
    m_bar = -one.precision * (met.T @ Vr + met.A @ Ur)
    m_bar -= other.precision * (met.T @ Ur + met.B @ Vr)
    M = one.u.T @ R @ other.u + 0.5 * (one.u.T * r) @ one.u + 0.5 * (other.u.T * r_) @ other.u
    bent = met.D[:, None] * met.T * met.D
    for end in (one, other):
        bent = bent - end.precision[:, None] * end.T * end.precision
    S_bar = met.H @ M @ met.H.T + 0.5 * np.sum(r) * bent
    first, second = _by_q(one, p, p - r), _by_q(other, p_, p_ - r_)
    return m_bar + first[0] + second[0], S_bar + first[1] + second[1]
