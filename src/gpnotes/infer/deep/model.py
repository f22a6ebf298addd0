"""The parts of a deep process: units with the Gaussian over their inducing values, in layers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import cast

import numpy as np

from ...ground import check as _check
from ...ground.linalg import Cholesky, _cholesky
from ...ground.params import fixed, positive, real
from ...ground.showing import summary
from ...ground.xp import (
    HostVector,
    Matrix,
    Vector,
    array_namespace,
    as_array,
    device,
    diagonal,
    eye,
    keep_copies,
    solve_triangular,
)
from ...model.bounds import spread
from ...model.contracts import Likelihood, require
from ...model.gaussian_process import GP, require_known_mean, require_no_noise, validate_data
from ...model.kernels import Kernel
from ...model.likelihoods.adapter import require_observable
from ...model.means import ZeroMean
from ...model.starts import scales_of, start_of
from ..interdomain import InducingPoints
from ..svgp.model import SVGP
from ..svgp.posterior import VariationalPosterior, inducing_factor
from .composition import Coordinate

__all__ = [
    "DeepGP",
    "Unit",
    "posterior_of",
    "root_of",
    "root_pulled",
    "validate_rows",
    "with_inner_layers",
]

_SURE = 0.1  # the standard deviation, in its prior's, with which an inner unit begins


@dataclass(frozen=True, eq=False)
class Unit:
    """One function of a layer: a process, inducing inputs, and ``q(v)`` over its whitened values.

    ``f(Z) = m(Z) + L v`` with ``K_uu = L Lᵀ``, and ``q(v) = N(w, Bᵀ B)``, where B is the diagonal
    matrix of `scales` times a lower triangular one with ones on the diagonal and `couplings` below
    it. As a cotangent, it holds the derivatives by all of these.

    Parameters
    ----------
    gp : GP
        The process, with a ``noise_var`` of zero; noise between layers is a `White` in its kernel.
    Z : Matrix, shape (M, d)
        The inducing inputs, which are copied.
    weights : Vector, shape (M,)
        w.
    scales : Vector, shape (M,)
        The diagonal of B.
    couplings : Vector, shape (M (M − 1) / 2,)
        The entries below the diagonal, row by row.
    """

    gp: GP
    Z: Matrix = real()
    weights: Vector = real()
    scales: Vector = positive()
    couplings: Vector = real()

    __repr__ = summary

    def __post_init__(self) -> None:
        require_known_mean(_check.instance(self.gp, "gp", GP))
        require_no_noise(self.gp, "noise between layers is a White in the kernel")
        size = _check.matrix(self.Z, "Z").shape[0]
        if size == 0:
            raise ValueError(f"Z must have at least one row; got {tuple(self.Z.shape)}")
        self.gp.kernel._validate_inputs(self.Z, "Z")
        sizes = {"weights": size, "scales": size, "couplings": size * (size - 1) // 2}
        for name, wanted in sizes.items():
            vector = _check.vector(getattr(self, name), name, size=wanted)
            _check.alike(vector, name, self.Z, "Z")
        _check.positive(self.scales, "scales")
        keep_copies(self, "Z", *sizes)


@dataclass(frozen=True, eq=False)
class DeepGP:
    """A deep Gaussian process: layers of units, and a likelihood of y given the last one.

    ``h_l = f_l(h_{l−1})`` with ``h_0 = x``, [eq-dg-compose]. A model that `gpnotes.fit` takes;
    as a cotangent, it holds the derivatives.

    Parameters
    ----------
    layers : tuple of tuples of Unit
        The units of each layer; the last one has one unit. The Z of a unit have as many columns as
        the layer before has units.
    likelihood : Likelihood
        The likelihood of y given f.
    num_samples : int, default 10
        How many ways through the inner layers a fit draws for each row.
    seed : int, default 0
        The seed of these draws, which are the same at each step of a fit.
    nodes : int, default 20
        The nodes of averages over f that have no closed form.
    input_columns : tuple of str, default ()
        The names of the columns of X, as of a `gpnotes.GP`: the model of a fit to a frame has them,
        and takes another frame in their order, in which the first Z stand.

    Notes
    -----
    Source: Damianou & Lawrence (2013); Salimbeni & Deisenroth (2017).

    Examples
    --------
    >>> import numpy as np
    >>> from gpnotes import RBF, Gaussian, fit
    >>> from gpnotes.infer import deep, svgp
    >>> X = np.linspace(0.0, 3.0, 8)[:, None]
    >>> shallow = svgp.initial_posterior(svgp.SVGP(GP(RBF(), 0.0), Gaussian(0.1), X[::2]))
    >>> model = deep.with_inner_layers(shallow, [RBF()])
    >>> found = fit(model, X, np.sin(X[:, 0]), max_steps=20)
    >>> found.posterior.mean(np.asarray([[1.5]])).round(1)
    array([1.])
    """

    layers: tuple[tuple[Unit, ...], ...]
    likelihood: Likelihood
    num_samples: int = fixed(10)
    seed: int = fixed(0)
    nodes: int = fixed(20)
    input_columns: tuple[str, ...] = field(default=(), kw_only=True, repr=False)

    def __post_init__(self) -> None:
        _validate_layers(self.layers)
        require(self.likelihood, "likelihood", Likelihood)
        for name, least, most in (("num_samples", 1, None), ("seed", 0, None), ("nodes", 2, 350)):
            number = _check.whole(getattr(self, name), name, least, most)
            object.__setattr__(self, name, number)

    @property
    def variational(self) -> tuple[str, ...]:
        """The names of all that makes up q, which a report of a fit leaves out."""
        return tuple(
            place.removesuffix("Z") + part
            for place in self.places
            for part in ("weights", "scales", "couplings")
        )

    @property
    def places(self) -> tuple[str, ...]:
        """The names of all inducing inputs, which a fit holds by ``fixed=model.places``."""
        return tuple(
            f"layers.{level}.{place}.Z"
            for level, layer in enumerate(self.layers)
            for place in range(len(layer))
        )


def _validate_layers(layers: tuple[tuple[Unit, ...], ...]) -> None:
    if not isinstance(layers, tuple) or not all(isinstance(layer, tuple) for layer in layers):
        raise TypeError(f"layers must be a tuple of tuples of Unit; got {_check.kind_of(layers)}")
    if not layers or not all(layers) or len(layers[-1]) != 1:
        widths = [len(layer) for layer in layers]
        raise ValueError(f"layers must hold units, and the last of them one; got widths {widths}")
    first = _check.instance(layers[0][0], "layers[0][0]", Unit)
    width = first.Z.shape[1]
    for number, layer in enumerate(layers):
        for place, unit in enumerate(layer):
            name = f"layers[{number}][{place}]"
            _check.instance(unit, name, Unit)
            _check.alike(unit.Z, f"{name}.Z", first.Z, "layers[0][0].Z")
            _check.matrix(unit.Z, f"{name}.Z", columns=width)
        width = len(layer)


def with_inner_layers(
    posterior: VariationalPosterior,
    kernels: Sequence[Kernel],
    *,
    linear: bool = True,
    num_samples: int = 10,
    seed: int = 0,
) -> DeepGP:
    """Put layers below a sparse process, each as wide as the inputs, which begin near the identity.

    The last layer begins as the posterior given. So a fit starts at its bound, less the cost of the
    inner layers, and any gain is due to depth.

    Parameters
    ----------
    posterior : VariationalPosterior
        The process that becomes the last layer, from `fit` or `condition` of an `SVGP`,
        or from `svgp.initial_posterior`. Each layer begins with its inducing inputs.
    kernels : sequence of Kernel
        The kernels of the inner layers, the first one that of the layer with inputs x. Open
        numbers are in the units of the inducing inputs, `starts.start_of`, which are those of
        their values, too.
    linear : bool, default True
        Give the inner units the mean `Coordinate`; without, they have a zero mean, and begin at
        the identity by the weights of q alone.
    num_samples, seed : int
        As in `DeepGP`.

    Notes
    -----
    Source: Salimbeni & Deisenroth (2017).

    Examples
    --------
    >>> from gpnotes import RBF, Gaussian
    >>> from gpnotes.infer import svgp
    >>> shallow = svgp.initial_posterior(svgp.SVGP(GP(RBF(), 0.0), Gaussian(0.1), np.eye(2)))
    >>> [len(layer) for layer in with_inner_layers(shallow, [RBF(), RBF()]).layers]
    [2, 2, 1]
    """
    _check.instance(posterior, "posterior", VariationalPosterior)
    if isinstance(kernels, str) or not isinstance(kernels, Sequence):
        raise TypeError(f"kernels must be a sequence of kernels; got {_check.kind_of(kernels)}")
    for number, kernel in enumerate(kernels):
        _check.instance(kernel, f"kernels[{number}]", Kernel)
    linear = _check.flag(linear, "linear")
    last = _unit_of(posterior)
    _check.squarable(last.Z, "the inducing inputs of posterior")
    inner = tuple(
        tuple(_inner(last.Z, kernel, column, linear) for column in range(last.Z.shape[1]))
        for kernel in kernels
    )
    likelihood = cast(Likelihood, posterior.model.likelihood)  # or `DeepGP` refuses it
    columns = posterior.columns or posterior.model.inducing_columns
    return DeepGP((*inner, (last,)), likelihood, num_samples, seed, input_columns=columns)


def _unit_of(posterior: VariationalPosterior) -> Unit:
    """A whitened sparse process as a unit: of its root ``L_P⁻¹`` the diagonal, and the rest."""
    model, root = posterior.model, posterior.root
    variables = model.variables
    if not isinstance(variables, InducingPoints):
        wanted = "a posterior with inducing points, whose inputs another layer can give"
        raise TypeError(f"posterior must be {wanted}; got {_check.kind_of(variables)}")
    xp = array_namespace(root)
    scales = diagonal(root)
    below = _places(scales.shape[0])[1]
    couplings = _taken(xp.reshape(root / scales[:, None], (-1,)), below)
    return Unit(model.gp, variables.Z, posterior.weights, scales, couplings)


def _started(kernel: Kernel, Z: Matrix, column: int) -> Kernel:
    """A kernel of all columns of Z whose values are like one of them, with open numbers so."""
    of = spread(Z, Z[:, column])
    return start_of(kernel, scales_of(of, Z))


def _inner(Z: Matrix, kernel: Kernel, column: int, linear: bool) -> Unit:
    size = Z.shape[0]
    kernel = _started(kernel, Z, column)
    mean = Coordinate(column) if linear else ZeroMean()
    vectors = np.zeros(size), np.full(size, _SURE), np.zeros(size * (size - 1) // 2)
    unit = Unit(GP(kernel, 0.0, mean), Z, *(as_array(vector, Z) for vector in vectors))
    if linear:
        return unit
    # f(Z) = L w has to be the column itself: no mean function brings it there
    lower = _cholesky(kernel._gram(unit.Z, None), name="the Gram matrix of Z").lower
    return replace(unit, weights=solve_triangular(lower, unit.Z[:, column]))


def validate_rows(model: DeepGP, X: Matrix, y: Vector, name: str = "X") -> None:
    """Refuse rows of data that do not go with a model, by the name of the argument.

    Parameters
    ----------
    name : str, default "X"
        The name of X in an error.

    Raises
    ------
    ValueError
        If shapes do not match, entries are not finite, or the likelihood refuses y.
    """
    first = model.layers[0][0]
    validate_data(first.gp, X, y, name, columns=first.Z.shape[1])
    _check.alike(X, name, first.Z, "the model's Z")
    require_observable(model.likelihood, y, array_namespace(y).zeros_like(y))


@lru_cache(maxsize=32)
def _places(size: int) -> tuple[HostVector, HostVector]:
    """Where in ``(0, 1, couplings)`` each entry of the unit triangle is, and where couplings are.

    The triangle by rows, flat: of size² places, those of the couplings among them in their order.
    """
    rows, columns = np.tril_indices(size, -1)
    below = rows * size + columns
    places = np.zeros(size * size, dtype=np.int64)
    places[:: size + 1] = 1
    places[below] = 2 + np.arange(below.size)
    return places, below


def _taken(vector: Vector, places: HostVector) -> Vector:
    xp = array_namespace(vector)
    return xp.take(vector, xp.asarray(places, device=device(vector)), axis=0)


def root_of(unit: Unit) -> Matrix:
    """B, whose transpose times itself is the covariance of v.

    Returns
    -------
    Matrix, shape (M, M)
        The lower triangular matrix.
    """
    size = unit.scales.shape[0]
    xp = array_namespace(unit.scales)
    ends = as_array(np.asarray([0.0, 1.0]), unit.scales)
    entries = xp.concat([ends, unit.couplings])
    triangle = xp.reshape(_taken(entries, _places(size)[0]), (size, size))
    return unit.scales[:, None] * triangle


def root_pulled(unit: Unit, root: Matrix, root_bar: Matrix) -> tuple[Vector, Vector]:
    """Carry derivatives by B back to its parts.

    Parameters
    ----------
    root : Matrix, shape (M, M)
        B.
    root_bar : Matrix, shape (M, M)
        The derivatives by B; those above the diagonal are ignored.

    Returns
    -------
    scales_bar : Vector, shape (M,)
        The derivatives by the scales.
    couplings_bar : Vector, shape (M (M − 1) / 2,)
        Those by the couplings.
    """
    xp = array_namespace(root_bar)
    # B_ij = s_i T_ij: by T_ij the slope of B_ij has the factor s_i, and by s_i there is
    # Σ_j bar_ij T_ij, whose T_ij is B_ij / s_i
    flat = xp.reshape(unit.scales[:, None] * root_bar, (-1,))
    couplings_bar = _taken(flat, _places(unit.scales.shape[0])[1])
    return xp.sum(root_bar * root, axis=1) / unit.scales, couplings_bar


def posterior_of(unit: Unit, likelihood: Likelihood) -> VariationalPosterior:
    """The unit as a whitened sparse process, without a warning of jitter; O(M³).

    Parameters
    ----------
    likelihood : Likelihood
        The likelihood of the last unit; inner units do not use theirs.
    """
    model = SVGP(unit.gp, likelihood, unit.Z)
    return _OfRoot(model, inducing_factor(model), root_of(unit), unit.weights)


class _OfRoot(VariationalPosterior):
    """The Gaussian by a root of its covariance; a bound has no use for its precision."""

    def __init__(self, model: SVGP, inducing: Cholesky, root: Matrix, weights: Vector) -> None:
        vars(self).update(model=model, inducing=inducing, root=root, weights=weights)

    @cached_property
    def cholesky(self) -> Cholesky:
        # P⁻¹ = BᵀB, so that P = B⁻¹ B⁻ᵀ: the inverse of a triangle is itself the factor
        return Cholesky(solve_triangular(self.root, eye(self.root.shape[0], self.root)))

    @cached_property
    def precision(self) -> Matrix:
        lower = self.cholesky.lower
        return lower @ array_namespace(lower).matrix_transpose(lower)
