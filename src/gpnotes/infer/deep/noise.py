"""The random numbers that carry rows through the inner layers: drawn, or a quadrature rule."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np

from ...ground import check as _check
from ...ground import memory
from ...ground.quadrature import gauss_hermite
from ...ground.random import RNG, stream_of
from ...ground.random import stream as seeded
from ...ground.showing import summary
from ...ground.xp import Matrix, Stack, Vector, array_namespace, as_array
from .model import DeepGP

__all__ = ["Noise", "draw_noise", "own_noise", "quadrature_noise"]

_MOST_PATHS = 100_000


@dataclass(frozen=True, eq=False)
class Noise:
    """Standard normal numbers for each inner layer, and the weight of each way through them.

    Made by `draw_noise`, or by `quadrature_noise`; `elbo` takes either.

    Parameters
    ----------
    normals : tuple of Stack, each of shape (S, n, D) or (S, 1, D)
        The numbers of each inner layer: S draws of n rows for its D units; or the same for all
        rows.
    weights : Vector, shape (S,)
        The weights of the draws, which sum to one.
    """

    normals: tuple[Stack, ...]
    weights: Vector

    __repr__ = summary

    def __post_init__(self) -> None:
        _check.vector(self.weights, "weights")
        if not isinstance(self.normals, tuple):
            raise TypeError(f"normals must be a tuple; got {_check.kind_of(self.normals)}")
        xp = array_namespace(self.weights)
        total = float(xp.sum(self.weights))
        if not abs(total - 1.0) < 1e-4 or float(xp.min(self.weights)) < 0.0:
            raise ValueError(f"weights must not be negative and must sum to 1; got the sum {total}")
        for number, normals in enumerate(self.normals):
            name = f"normals[{number}]"
            _check.alike(_check.floating(normals, name), name, self.weights, "weights")
            _check.finite(normals, name)
            if normals.ndim != 3 or normals.shape[0] != self.weights.shape[0]:
                wanted = f"({self.weights.shape[0]}, n, D) to match weights"
                raise ValueError(f"{name} must have shape {wanted}; got {tuple(normals.shape)}")

    def validate(self, model: DeepGP, n: int) -> None:
        """Raise if these are no numbers for the inner layers of a model and n rows.

        Parameters
        ----------
        n : int
            The number of rows.
        """
        _check.alike(self.weights, "noise.weights", model.layers[0][0].Z, "the model's Z")
        widths = [len(layer) for layer in model.layers[:-1]]
        shapes = [tuple(a.shape[1:]) for a in self.normals]
        if len(shapes) != len(widths) or any(
            shape not in ((n, width), (1, width))
            for shape, width in zip(shapes, widths, strict=True)
        ):
            wanted = f"numbers of {n} rows, or of 1, for inner layers of {widths} units"
            raise ValueError(f"noise must hold {wanted}; got shapes {shapes}")


def draw_noise(model: DeepGP, n: int, num_samples: int, *, rng: RNG) -> Noise:
    """Draw the numbers that carry n rows through the inner layers of a model.

    Parameters
    ----------
    n : int
        The number of rows.
    num_samples : int
        The number S of ways through the layers.

    Returns
    -------
    Noise
        The numbers, independent, with weights 1/S.

    Examples
    --------
    >>> import numpy as np
    >>> from gpnotes import GP, RBF, Gaussian, stream
    >>> from gpnotes.infer import deep, svgp
    >>> X = np.linspace(0.0, 1.0, 5)[:, None]
    >>> top = svgp.SVGP(GP(RBF(), 0.0), Gaussian(0.1), X)
    >>> model = deep.with_inner_layers(svgp.initial_posterior(top), [RBF()])
    >>> [a.shape for a in draw_noise(model, 7, 3, rng=stream(0)).normals]
    [(3, 7, 1)]
    """
    _check.instance(model, "model", DeepGP)
    stream = stream_of(rng)
    like = model.layers[0][0].Z
    inner = model.layers[:-1]
    width = sum(map(len, inner))
    n = memory.count(n, "n", each=width, like=like)
    shape = memory.count(num_samples, "num_samples", each=n * width, like=like), n
    normals = tuple(stream.normal((*shape, len(layer)), like=like) for layer in inner)
    return Noise(normals, as_array(np.full(shape[0], 1.0 / shape[0]), like))


def own_noise(model: DeepGP, n: int) -> Noise:
    """The numbers that a model itself says: by its `seed` and its `num_samples`.

    Parameters
    ----------
    n : int
        The number of rows.

    Returns
    -------
    Noise
        The same for every call; of fewer rows, not those of the first ones of more.
    """
    return draw_noise(model, n, model.num_samples, rng=seeded(model.seed))


def quadrature_noise(model: DeepGP, nodes: int = 20) -> Noise:
    """Find the nodes of a Gauss-Hermite rule in the place of draws, for few inner units.

    The bound has no random part then: with one inner unit it is exact to rounding for few nodes.

    Parameters
    ----------
    nodes : int, default 20
        The nodes in each direction; there are as many directions as inner units.

    Returns
    -------
    Noise
        All ways through the nodes, with the products of their weights.

    Examples
    --------
    >>> import numpy as np
    >>> from gpnotes import GP, RBF, Gaussian
    >>> from gpnotes.infer import deep, svgp
    >>> top = svgp.SVGP(GP(RBF(), 0.0), Gaussian(0.1), np.eye(2))
    >>> model = deep.with_inner_layers(svgp.initial_posterior(top), [RBF()])
    >>> quadrature_noise(model, 3).weights.shape  # two inner units
    (9,)
    """
    _check.instance(model, "model", DeepGP)
    nodes = _check.whole(nodes, "nodes", 1, 350)
    points, weights = gauss_hermite(nodes)
    widths = [len(layer) for layer in model.layers[:-1]]
    if nodes ** sum(widths) > _MOST_PATHS:
        ways = f"{nodes} nodes for {sum(widths)} inner units"
        raise ValueError(f"nodes must make at most {_MOST_PATHS} paths; got {ways}")
    grid = np.asarray(list(itertools.product(points, repeat=sum(widths))))
    product = [math.prod(way) for way in itertools.product(weights, repeat=sum(widths))]
    like: Matrix = model.layers[0][0].Z
    columns = np.split(grid.reshape(len(product), 1, sum(widths)), np.cumsum(widths)[:-1], axis=2)
    inner = columns if widths else []
    return Noise(tuple(as_array(a, like) for a in inner), as_array(np.asarray(product), like))
