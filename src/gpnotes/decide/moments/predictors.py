"""GPs made ready for uncertain inputs: all that does not depend on the input, collected once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from ...ground import memory
from ...ground.showing import summary
from ...ground.threads import threads_for
from ...ground.xp import Array, Matrix, Stack, Vector, array_namespace, as_array, device, eye
from ...infer.exact import ExactPosterior
from ...model.means import ConstantMean, ZeroMean
from .input_covariance import validate_beside
from .pair_sums import Chunk, Weights, chunks
from .rbf_terms import BatchedTerms, batched_terms, term_scales
from .term_pairs import TermPairs, paired_terms

__all__ = ["Predictor", "means_alone", "predictor", "require_constant_mean"]


@dataclass(frozen=True, eq=False)
class Predictor:
    """E GPs with one input space, ready for uncertain inputs; made by `predictor`.

    Their kernels have C terms and P pairs of these; no field depends on the input.
    """

    X: Matrix  # (n, D), of the first GP
    terms: BatchedTerms
    pairs: TermPairs
    plan: list[Chunk]
    weights: Weights  # of each pair within one output: ``α αᵀ − K_y⁻¹``
    ends: tuple[tuple[int, int], ...]  # of each pair: which terms
    outer_rows: Vector  # (2P,): rows of q, then of α q, that stand outside of the weights
    alpha: Matrix  # (C, n)
    half: Stack  # (E, n, n): L⁻¹ of ``K_y = L Lᵀ``
    offset: Vector  # (E,)
    noise_var: Vector
    variance: Vector
    term_of: Matrix  # (E, C): one where the term is the output's
    variance_counts: Matrix  # (E, P): how often the value of a pair counts in an output's variance
    covariance_counts: Matrix  # (E², P): the same for the whole covariance
    cross_counts: Matrix  # the same without the variances
    sum_ends: Matrix  # (C, 2P): adds up over ends what belongs to a term
    eye: Matrix  # (E, E)

    __repr__ = summary

    @property
    def outputs(self) -> int:
        """The number E of outputs."""
        return self.offset.shape[0]


def predictor(posteriors: Sequence[ExactPosterior]) -> Predictor:
    """Make GPs ready for uncertain inputs: compute all that does not depend on the input.

    Parameters
    ----------
    posteriors : sequence of E ExactPosterior
        One for each output, with RBF kernels or sums of them, each its own, and a constant mean or
        none.

    Notes
    -----
    It costs O(n³) once for each output.

    Examples
    --------
    >>> import numpy as np
    >>> from gpnotes import GP, RBF, condition
    >>> from gpnotes.decide.moments import predict
    >>> X = np.asarray([[0.0], [1.0]])
    >>> model = predictor([condition(GP(RBF(), 0.1), X, np.asarray([1.0, 0.0]))])
    >>> predict(model, np.asarray([0.5]), np.asarray([[0.0]])).mean.round(4)
    array([0.5171])
    """
    if isinstance(posteriors, ExactPosterior) or not isinstance(posteriors, Iterable):
        wanted = "a sequence of ExactPosterior"
        raise TypeError(f"posteriors must be {wanted}; got {type(posteriors).__name__}")
    posteriors = tuple(posteriors)
    if not posteriors:
        raise ValueError("posteriors must hold at least one ExactPosterior; got none")
    for k, posterior in enumerate(posteriors):
        _validate_posterior(posterior, f"posteriors[{k}]")
        require_constant_mean(posterior, f"posteriors[{k}]")
        if k:
            first = posteriors[0].X
            validate_beside(posterior.X, f"posteriors[{k}].X", first, "posteriors[0].X")
    return _predictor(posteriors)


def _predictor(posteriors: Sequence[ExactPosterior]) -> Predictor:
    n = max(posterior.X.shape[0] for posterior in posteriors)
    E = len(posteriors)
    limits = {"what": f"one of {E} inverses of K_y", "remedy": "Use fewer points or float32."}
    memory.require(n, n, copies=4 * E, like=posteriors[0].X, **limits)
    return _collect(tuple(posteriors), n)


def _validate_posterior(posterior: object, name: str) -> None:
    if not isinstance(posterior, ExactPosterior):
        raise TypeError(f"{name} must be an ExactPosterior; got {type(posterior).__name__}")


def require_constant_mean(posterior: ExactPosterior, name: str) -> None:
    """Raise `TypeError` for a posterior whose prior mean is not the same everywhere."""
    if not isinstance(posterior.gp.mean, ZeroMean | ConstantMean):
        raise TypeError(f"{name} must have a constant mean or none; got {posterior.gp.mean!r}")


@threads_for(lambda posteriors, n: n**3)
def _collect(posteriors: tuple[ExactPosterior, ...], n: int) -> Predictor:
    like = posteriors[0].X
    xp = array_namespace(like)
    terms = [term_scales(posterior.gp.kernel, posterior.X) for posterior in posteriors]
    variances = [variance for variances_of, _ in terms for variance in variances_of]
    owners = [k for k, (variances_of, _) in enumerate(terms) for _ in variances_of]
    precision = xp.concat([stacked for _, stacked in terms])
    pairs = _order_pairs(owners)
    weights = _weights(posteriors, n, owners, pairs)
    return Predictor(
        X=like,
        terms=batched_terms(_points(posteriors, owners), variances, precision),
        pairs=paired_terms(precision, pairs),
        plan=chunks(weights),
        weights=weights,
        ends=tuple(pairs),
        outer_rows=_outer_rows(pairs, weights.owners, len(owners), like),
        alpha=xp.stack([_padded(posteriors[k].alpha, n) for k in owners]),
        half=xp.stack([_padded(_half(posterior), n) for posterior in posteriors]),
        offset=as_array([_offset(posterior) for posterior in posteriors], like),
        noise_var=as_array([posterior.gp.noise_var for posterior in posteriors], like),
        variance=as_array([sum(variances_of) for variances_of, _ in terms], like),
        eye=eye(len(posteriors), like),
        **_counts(owners, pairs, like),
    )


def _order_pairs(owners: list[int]) -> list[tuple[int, int]]:
    """All pairs of terms: those with themselves, then those within an output, then the others."""
    pairs = [(i, j) for i in range(len(owners)) for j in range(i, len(owners))]
    return sorted(pairs, key=lambda pair: (owners[pair[0]] != owners[pair[1]], pair[0] != pair[1]))


def _points(posteriors: Sequence[ExactPosterior], owners: list[int]) -> list[Matrix]:
    """The inputs of each term, or of all of them where they are the same."""
    X = posteriors[0].X
    xp = array_namespace(X)
    all_same = all(
        posterior.X is X or (posterior.X.shape == X.shape and bool(xp.all(X == posterior.X)))
        for posterior in posteriors
    )
    return [X] if all_same else [posteriors[k].X for k in owners]


def _padded(a: Array, n: int) -> Array:
    """Zeros behind the entries of each axis, up to n: weights of points that do not count."""
    xp = array_namespace(a)
    for axis in range(a.ndim):
        missing = list(a.shape)
        missing[axis] = n - a.shape[axis]
        a = xp.concat([a, xp.zeros(tuple(missing), dtype=a.dtype, device=device(a))], axis=axis)
    return a


def _half(posterior: ExactPosterior) -> Matrix:
    return posterior.cholesky._half_solve(eye(posterior.X.shape[0], posterior.X))


def _offset(posterior: ExactPosterior) -> float:
    return posterior.gp.mean.value if isinstance(posterior.gp.mean, ConstantMean) else 0.0


def _weights(
    posteriors: tuple[ExactPosterior, ...], n: int, owners: list[int], pairs: list[tuple[int, int]]
) -> Weights:
    xp = array_namespace(posteriors[0].X)
    matrices = []
    for posterior in posteriors:
        alpha = posterior.alpha
        inverse = posterior.cholesky.inverse()
        matrices.append(_padded(alpha[:, None] * alpha[None, :] - inverse, n))
    shared = [owners[i] if owners[i] == owners[j] else None for i, j in pairs]
    return Weights(xp.stack(matrices), shared, [i == j for i, j in pairs])


def _outer_rows(
    pairs: Sequence[tuple[int, int]], shared: Sequence[int | None], C: int, like: Array
) -> Vector:
    """For both ends of each pair the row of q, or C further on that of α q."""
    shifts = [C if owner is None else 0 for owner in shared]
    rows = [pair[end] + shift for end in (0, 1) for pair, shift in zip(pairs, shifts, strict=True)]
    return array_namespace(like).asarray(rows, device=device(like))


def _counts(owners: list[int], pairs: list[tuple[int, int]], like: Array) -> dict[str, Matrix]:
    """The matrices of zeros, ones and twos that add up terms and pairs."""
    E = max(owners) + 1
    C = len(owners)
    P = len(pairs)
    counts = [[0.0] * P for _ in range(E * E)]
    for k, (i, j) in enumerate(pairs):
        a, b = owners[i], owners[j]
        counts[a * E + b][k] += 1.0
        counts[b * E + a][k] += 1.0 if i != j else 0.0
    cross = [[0.0] * P if row % (E + 1) == 0 else entries for row, entries in enumerate(counts)]
    ends = [pair[end] for end in (0, 1) for pair in pairs]
    rows = {
        "term_of": [[float(k == a) for k in owners] for a in range(E)],
        "variance_counts": counts[:: E + 1],
        "covariance_counts": counts,
        "cross_counts": cross,
        "sum_ends": [[float(end == c) for end in ends] for c in range(C)],
    }
    return {name: as_array(entries, like) for name, entries in rows.items()}


def means_alone(model: Predictor, kept: Sequence[bool]) -> Predictor:
    """The same with weights ``α αᵀ`` for the outputs that are not `kept`: their means alone."""
    owners = [None if owner is None or not kept[owner] else owner for owner in model.weights.owners]
    weights = model.weights._replace(owners=owners)
    rows = _outer_rows(model.ends, owners, model.alpha.shape[0], model.X)
    return replace(model, weights=weights, plan=chunks(weights), outer_rows=rows)
