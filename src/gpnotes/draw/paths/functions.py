"""Paths: functions of a posterior, and how they are drawn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

from ...fast import stationary_evidence as in_place
from ...ground import check as _check
from ...ground import memory
from ...ground.conversion import takes
from ...ground.random import RNG, stream_of
from ...ground.showing import summary
from ...ground.threads import in_one_pool, threads_for
from ...ground.xp import Matrix, MatrixLike, array_namespace, in_double
from ...infer.sparse import SparsePosterior
from ...infer.sufficient_statistics import like_data
from ...model.gaussian_process import GP, differentiable_mean
from ...model.kernels import Kernel
from ...model.means import with_hooks
from .feature_maps import FeatureMap, draw_feature_map
from .matheron import AnyPosterior, MatheronUpdate, matheron_update

__all__ = ["Paths", "sample_paths"]

Pullback: TypeAlias = Callable[[Matrix], Matrix]


@dataclass(frozen=True, eq=False)
class Paths:
    """Functions drawn from a posterior, to be called at any inputs; made by `sample_paths`.

    Called at Xs (n*, d) they give their values, (count, n*), the same whenever they are asked.

    Parameters
    ----------
    gp : GP
        The process of the posterior they were drawn from.
    inputs : Matrix, shape (n, d)
        Those of its data, or its inducing points.
    features : FeatureMap
        The features of its kernel.
    weights : Matrix, shape (count, R)
        The weights w of the features, a path a row; of a `SparsePosterior` in float64.
    update : Matrix, shape (count, n)
        The weights v of the update by the data, or by the inducing points, a path a row.
    columns : tuple of str, default ()
        Those of the posterior, by which the columns of a frame are matched.

    Notes
    -----
    As `ExactPosterior.sample` does, at x they are

        m(x) + φ(x)·w + k(x, X)·v,  v = K_y⁻¹ (y − m(X) − Φ w − ε).

    An input costs O(count (R + n)); memory for one block comes on top of the values.
    [eq-bo-pathwise]. Source: Wilson, Borovitskiy, Terenin, Mostowsky & Deisenroth (2020).

    Examples
    --------
    >>> import numpy as np
    >>> from gpnotes import GP, RBF, condition, stream
    >>> posterior = condition(GP(RBF(), 0.0), np.zeros((1, 1)), np.ones(1))
    >>> paths = sample_paths(posterior, 3, rng=stream(1))
    >>> paths(np.asarray([[0.0], [0.5], [4.0]])).shape, paths(np.zeros((1, 1))).round(9).ravel()
    ((3, 3), array([1., 1., 1.]))
    """

    gp: GP
    inputs: Matrix
    features: FeatureMap
    weights: Matrix
    update: Matrix
    columns: tuple[str, ...] = field(default=(), repr=False)

    __repr__ = summary

    @property
    def count(self) -> int:
        """The number of functions."""
        return self.weights.shape[0]

    @takes("Xs")
    @in_one_pool
    def __call__(self, Xs: MatrixLike) -> Matrix:
        """Return the values of all paths at inputs; the same again whenever they are asked.

        Parameters
        ----------
        Xs : Matrix, shape (n*, d)
            The inputs.

        Returns
        -------
        Matrix, shape (count, n*)
            The values, a path a row.
        """
        self._validate(Xs)
        return self._call(Xs)

    def _call(self, Xs: Matrix) -> Matrix:
        parts = [self._values(Xs[rows, :]) for rows in self._blocks(Xs)]
        return parts[0] if len(parts) == 1 else array_namespace(Xs).concat(parts, axis=1)

    @takes("Xs")
    def values_and_pullback(self, Xs: MatrixLike) -> tuple[Matrix, Pullback]:
        """Return the values at inputs, and the way back to derivatives by the inputs.

        Parameters
        ----------
        Xs : Matrix, shape (n*, d)
            The inputs.

        Returns
        -------
        values : Matrix, shape (count, n*)
            The values, a path a row.
        pull : callable
            A function of the derivatives by the values, (count, n*), that gives those by Xs, (n*,
            d), summed over the paths: one row of ones among zeros gives the gradients of one path.

        Raises
        ------
        TypeError
            If the posterior's mean function has no pullback, or `Xs` is of the wrong kind.

        Notes
        -----
        Costs O(n* count (R + n)) each way.

        Examples
        --------
        >>> import numpy as np
        >>> from gpnotes import GP, Linear, condition, stream
        >>> posterior = condition(GP(Linear(), 0.0), np.ones((1, 1)), np.ones(1))
        >>> paths = sample_paths(posterior, 1, rng=stream(1))
        >>> values, pull = paths.values_and_pullback(np.ones((1, 1)))
        >>> values.round(9), pull(np.ones((1, 1))).round(9)
        (array([[1.]]), array([[1.]]))
        """
        differentiable_mean(self.gp)
        self._validate(Xs)
        values, pull = self._values_and_pullback(Xs)
        return values, lambda bar: pull(_check.cotangent(bar, "values_bar", values))

    def _values_and_pullback(self, Xs: Matrix) -> tuple[Matrix, Pullback]:
        """`values_and_pullback`, and its way back, without their checks."""

        def pull(values_bar: Matrix) -> Matrix:
            parts = [self._pull(Xs[rows, :], values_bar[:, rows]) for rows in self._blocks(Xs)]
            return parts[0] if len(parts) == 1 else array_namespace(Xs).concat(parts, axis=0)

        return self._call(Xs), pull

    @threads_for(lambda self, Xs: self.count * self._width * Xs.shape[0])
    def _values(self, Xs: Matrix) -> Matrix:
        X, wide = self._alike(self.inputs), self._alike(Xs)
        Phi_t = array_namespace(Xs).matrix_transpose(self.features.rows(wide))
        drawn = self.weights @ Phi_t + self.update @ _cross(self.gp.kernel, X, wide)
        return with_hooks(self.gp.mean)._call(Xs)[None, :] + like_data(drawn, Xs)

    @threads_for(lambda self, Xs, values_bar: self.count * self._width * Xs.shape[0])
    def _pull(self, Xs: Matrix, values_bar: Matrix) -> Matrix:
        xp = array_namespace(Xs)
        X, wide, bar = map(self._alike, (self.inputs, Xs, values_bar))
        gp, back = self.gp, xp.matrix_transpose(bar)
        by_features = self.features.pull(wide, back @ self.weights)
        K_bar = xp.matrix_transpose(self.update) @ bar
        _, _, by_cross = gp.kernel._pullback(X, wide, K_bar)
        _, by_mean = differentiable_mean(gp).pullback(Xs, xp.sum(values_bar, axis=0))
        return like_data(by_features + by_cross, Xs) + by_mean

    def _alike(self, a: Matrix) -> Matrix:
        """An array in the precision of the update, in which its large terms cancel."""
        return like_data(a, self.update)

    def _blocks(self, Xs: Matrix) -> list[slice]:
        return memory.blocks(Xs.shape[0], self._width, like=Xs)

    @property
    def _width(self) -> int:
        return self.weights.shape[1] + self.update.shape[1]

    def _validate(self, Xs: Matrix) -> None:
        X = self.inputs
        _check.matrix(Xs, "Xs", columns=X.shape[1])
        _check.alike(_check.squarable(Xs, "Xs"), "Xs", X, "X")
        memory.require(self.count, Xs.shape[0], copies=3, like=Xs, what="the values of the paths")


@in_one_pool
def sample_paths(
    posterior: AnyPosterior, num_samples: int, *, num_features: int = 1024, rng: RNG
) -> Paths:
    """Draw functions from a posterior, which can be asked for values anywhere.

    Parameters
    ----------
    posterior : ExactPosterior, SparsePosterior or VariationalPosterior
        An exact posterior, or one of inducing points. RBF and Matérn kernels have random features;
        a linear and a constant kernel and `Coregion` have features of their own, which are exact;
        so have sums, multiples and choices of columns of all these, and products in which one
        factor alone has random ones. White noise has none, it belongs into ``noise_var``.
    num_samples : int
        How many functions are drawn.
    num_features : int, default 1024
        The number of random cosines, an even number, in pairs.

    Notes
    -----
    By Matheron's rule, [eq-bo-pathwise]: w and ε are drawn for each path, ``w ~ N(0, I)`` and
    ``ε ~ N(0, σ_n² I)``, and ``v = K_y⁻¹ (y − m(X) − Φ w − ε)`` is solved for; O(n R S +
    n² S) for S samples, memory O(S (n + R)) and a block of Φ. Jitter that `condition` took counts
    as noise, here as there. Of inducing points u is drawn from its posterior, and
    ``v = K_uu⁻¹ (u − m(Z) − Φ w)``: with M of them the n above is M, whatever the data are.

    The mean over the draws is the posterior's. The covariance is so up to the error of the
    features, which falls as ``num_features^−½`` and matters most between many data, where a path
    should vary less than its features can; the paths of one call share them. Where the noise is
    zero, every path goes through the data. Source: Wilson, Borovitskiy, Terenin, Mostowsky &
    Deisenroth (2020), with the features of Rahimi & Recht (2007).

    Examples
    --------
    >>> import numpy as np
    >>> from gpnotes import GP, RBF, condition, stream
    >>> posterior = condition(GP(RBF(), 0.01), np.asarray([[0.0], [2.0]]), np.asarray([1.0, -1.0]))
    >>> paths = sample_paths(posterior, 1000, num_features=8192, rng=stream(1))
    >>> values = paths(np.asarray([[0.0], [1.0]]))
    >>> values.mean(axis=0).round(1), values.std(axis=0).round(1)
    (array([1., 0.]), array([0.1, 0.6]))
    """
    update = matheron_update(posterior)
    _check.whole(num_samples, "num_samples", 1)
    stream = stream_of(rng)
    num_features = validate_pairs(num_features)
    X = _check.squarable(update.inputs, "posterior.X")
    wide = in_double(X) if isinstance(posterior, SparsePosterior) else X  # as its K_uu is
    features = draw_feature_map(update.gp.kernel, wide, num_features, stream)
    n = X.shape[0]
    memory.count(num_samples, "num_samples", each=3 * (n + features.size), like=wide)
    weights = stream.normal((num_samples, features.size), like=wide)
    normals = stream.normal((num_samples, update.num_normals), like=wide)
    v = _update_weights(update, features, weights, normals)
    return Paths(update.gp, X, features, weights, v, posterior.columns)


def validate_pairs(num_features: int) -> int:
    """Return a number of features, if it is one of pairs, a cosine and a sine of each frequency."""
    num_features = memory.count(num_features, "num_features", 2, each=2)
    if num_features % 2:
        wanted = "even, a cosine and a sine of each"
        raise ValueError(f"num_features must be {wanted}; got {num_features}")
    return num_features


@threads_for(lambda update, features, *_: update.inputs.shape[0] ** 2 * features.size)
def _update_weights(
    update: MatheronUpdate, features: FeatureMap, weights: Matrix, normals: Matrix
) -> Matrix:
    """The weights v of the kernels of the update for each path, (count, n)."""
    xp = array_namespace(weights)
    X = like_data(update.inputs, weights)
    blocks = memory.blocks(X.shape[0], features.size, like=X)
    prior = [features.rows(X[rows, :]) @ xp.matrix_transpose(weights) for rows in blocks]
    return xp.matrix_transpose(update.weights(xp.concat(prior), xp.matrix_transpose(normals)))


def _cross(kernel: Kernel, X: Matrix, Xs: Matrix) -> Matrix:
    """``k(X, Xs)``, (n, n*), by the fast way where there is one."""
    if not in_place.supports(kernel, Xs):
        return kernel._gram(X, Xs)
    return in_place.cross(kernel, *in_place.scaled_pair(kernel, X, Xs))
