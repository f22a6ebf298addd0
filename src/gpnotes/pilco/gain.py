"""Fantasy observations: how much one more observation would sharpen an uncertain prediction.

For ``x ~ N(m, S)`` the prediction of f(x) is uncertain since x is, and since f is. An observation ŷ
that we imagine at x̂ leaves, on average over what it may turn out to be,

    E_ŷ V_{x,f}[f(x) | ŷ] = V_{x,f}[f(x)] − (E_x c(x, x̂))² / (c(x̂, x̂) + σ_n²),

with the posterior covariance c, :eq:`eq-pi-reduction`: one squared covariance over one variance.
The data enter through their inputs only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from .. import _check
from .._xp import Array, array_namespace
from ..exact import Posterior
from ..moments.expectations import mean_and_pullback
from .outlook import Look, Outlook, admitted, blocks, look, outlook, outputs, single

__all__ = ["Posteriors", "mean_covariance", "reduction", "reduction_and_pullback", "reductions"]

Posteriors = Posterior | Sequence[Posterior]
Pull = Callable[[Array], tuple[Array, Array, Array]]


def mean_covariance(posterior: Posterior, m: Array, S: Array, candidates: Array) -> Array:
    """``E_x c(x, x̂)``: the covariance of f averaged over x with f at each candidate.

    (k,) for m (D,) and S (D, D); (T, k) for T uncertain inputs, m (T, D) and S (T, D, D).
    Candidates are rows (k, D). Raises what `reduction` raises, and costs as much.

    >>> import numpy as np
    >>> from gpnotes import GP, RBF, condition
    >>> posterior = condition(GP(RBF(), 0.1), np.zeros((1, 1)), np.ones(1))
    >>> mean_covariance(posterior, np.ones(1), np.eye(1), np.asarray([[0.0], [2.0]])).round(4)
    array([0.0501, 0.4829])
    """
    found = admitted(outputs(single(posterior)), m, S, candidates)
    view, xp = outlook(posterior, found), array_namespace(candidates)
    parts = [look(view, rows).cross for rows in blocks(view, candidates)]
    cross = xp.concat(parts, axis=1)
    return cross if m.ndim == 2 else cross[0, :]


def reduction(posteriors: Posteriors, m: Array, S: Array, candidates: Array) -> Array:
    """How much the variance of f(x) falls on average by one observation at each candidate.

    ``(E_x c(x, x̂))² / (c(x̂, x̂) + σ_n²)``, :eq:`eq-pi-reduction`, in squared units of the output:
    (k,) for one posterior and candidates (k, D), (k, E) for a sequence of E, one an output. Outputs
    are independent, so what an observation tells of one it does not tell of another; their sum,
    or a weighted one, is ``reduction(...) @ weights``.

    ``x ~ N(m, S)`` with m (D,) and S (D, D), which may be singular or zero; for T uncertain inputs,
    m (T, D) and S (T, D, D), the result is the sum of their reductions. The noise of the fantasy
    is that of the data. Without noise nothing is learnt at an input that was observed: zero
    there, exactly; the value next to it is another, that of observing a slope. Noise that is lost
    in the rounding of K_y, at most ``max(10, n) eps k(x̂, x̂)``, counts as none.
    O(n² k + T (n² + k n + (n + k) D²)) an output.

    Raises `ValueError` for an S that is no covariance, for shapes that do not fit, for no
    candidates; `TypeError` for kernels other than RBF and sums of RBF. Source: van der Wilk,
    McAllister & Rasmussen (2016), the sum of equations 7 and 18, with its correction.

    >>> import numpy as np
    >>> from gpnotes import GP, RBF, condition
    >>> posterior = condition(GP(RBF(), 0.1), np.zeros((1, 1)), np.ones(1))
    >>> reduction(posterior, np.ones(1), np.eye(1), np.asarray([[0.0], [2.0]])).round(4)
    array([0.0131, 0.2153])
    """
    models = outputs(posteriors)
    found = admitted(models, m, S, candidates)
    xp = array_namespace(candidates)
    columns = [reductions(outlook(model, found), candidates) for model in models]
    return columns[0] if isinstance(posteriors, Posterior) else xp.stack(columns, axis=1)


def reductions(view: Outlook, candidates: Array) -> Array:
    """The reductions of one output, (k,), in portions."""
    parts = [look(view, rows).gain for rows in blocks(view, candidates)]
    return array_namespace(candidates).concat(parts)


def reduction_and_pullback(
    posteriors: Posteriors, m: Array, S: Array, candidates: Array
) -> tuple[Array, Pull]:
    """What `reduction` returns, and its pullback to candidates, m and S, :eq:`eq-pi-gradient`.

    The pullback takes a cotangent of the shape of the reductions and returns
    ``(candidates_bar, m_bar, S_bar)``, the last one symmetric. Where nothing is left to observe,
    all derivatives are zero. O(n² (k + T) + T (n k + (n + k) D²)) an output; nothing is in chunks.
    Raises what `reduction` raises.

    >>> import numpy as np
    >>> from gpnotes import GP, RBF, condition
    >>> posterior = condition(GP(RBF(), 0.1), np.zeros((1, 1)), np.ones(1))
    >>> at = np.ones(1), np.eye(1), np.asarray([[2.0]])
    >>> value, pull = reduction_and_pullback(posterior, *at)
    >>> pull(np.ones(1))[0].round(4)
    array([[-0.1379]])
    """
    models, several = outputs(posteriors), not isinstance(posteriors, Posterior)
    found = admitted(models, m, S, candidates)
    pairs = [_with_pullback(outlook(model, found), candidates) for model in models]
    values = [value for value, _ in pairs]
    result = array_namespace(candidates).stack(values, axis=1) if several else values[0]

    def pullback(bar: Array) -> tuple[Array, Array, Array]:
        _check.cotangent(bar, "bar", result)
        columns = [bar[:, e] for e in range(len(pairs))] if several else [bar]
        bars = [pull(one) for (_, pull), one in zip(pairs, columns, strict=True)]
        x_bar, m_bar, S_bar = (sum(part[1:], start=part[0]) for part in zip(*bars, strict=True))
        return (x_bar, m_bar, S_bar) if m.ndim == 2 else (x_bar, m_bar[0, :], S_bar[0, :, :])

    return result, pullback


def _with_pullback(view: Outlook, candidates: Array) -> tuple[Array, Pull]:
    here = look(view, candidates)
    return here.gain, lambda bar: _pulled(view, here, candidates, bar)


def _pulled(view: Outlook, here: Look, x: Array, bar: Array) -> tuple[Array, Array, Array]:
    """With ``ρ = cross / spread``: ``cross_bar = 2 ρ bar`` and ``spread_bar = −Σ_t ρ² bar``.

    ``cross = E k_x̂x − qᵀK_y⁻¹K_Xx̂`` and ``spread = k_x̂x̂ − diag K_x̂X K_y⁻¹ K_Xx̂ + σ_n²`` give
    ``K_bar = −K_y⁻¹(q cross_bar + 2 K_Xx̂ diag spread_bar)`` and ``q_bar = −K_y⁻¹K_Xx̂ cross_barᵀ``.
    """
    xp, factor, kernel = array_namespace(x), view.posterior.cholesky, view.posterior.gp.kernel
    slope = here.over(here.cross)
    cross_bar, spread_bar = 2.0 * slope * bar, -xp.sum(slope * slope, axis=0) * bar
    onto = factor.half_solve_t(here.half)  # K_y⁻¹ K_Xx̂
    K_bar = -factor.half_solve_t(view.half_means) @ cross_bar - 2.0 * onto * spread_bar
    q_bar = -onto @ xp.matrix_transpose(cross_bar)
    x_bar = kernel.pullback(view.posterior.X, x, K_bar)[2]
    x_bar = x_bar + kernel.diag_pullback(x, spread_bar)[1]
    m_bars, S_bars = [], []
    for t, state in enumerate(view.states):
        _, of_candidates = mean_and_pullback(kernel, x, *state)
        _, of_data = mean_and_pullback(kernel, view.posterior.X, *state)
        x_bar_t, m_bar, S_bar = of_candidates(cross_bar[t, :])
        _, m_bar_of_data, S_bar_of_data = of_data(q_bar[:, t])
        x_bar = x_bar + x_bar_t
        m_bars.append(m_bar + m_bar_of_data)
        S_bars.append(S_bar + S_bar_of_data)
    return x_bar, xp.stack(m_bars), xp.stack(S_bars)
