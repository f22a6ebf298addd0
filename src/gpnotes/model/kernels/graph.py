"""Kernels on the nodes of a graph, by the spectrum of its Laplacian.

The inputs are numbers of nodes, one column. With the Laplacian
``Δ = degrees − adjacency = U Λ Uᵀ``, ``K = σ_f² U s(Λ) Uᵀ / mean s(Λ)``: positive semidefinite for
every s ≥ 0, and σ_f² is the mean of the variances over all nodes. Where nodes differ in their
edges, so do their variances.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Self, SupportsIndex

import numpy as np

from ...ground import check as _check
from ...ground.params import cotangent, fixed, positive
from ...ground.xp import (
    HostMatrix,
    HostVector,
    Matrix,
    Vector,
    array_namespace,
    as_array,
    symmetric_part,
    to_numpy,
)
from .algebra import Kernel
from .base import require_moderate

__all__ = ["Graph", "GraphHeat", "GraphMatern", "OnGraph"]


@dataclass(frozen=True)
class Graph:
    """An undirected graph of nodes, numbered from 0, and edges between pairs of them.

    Parameters
    ----------
    nodes : int
        How many nodes, from 1.
    edges : iterable of tuple
        Pairs of two different nodes; an edge that is given twice, in whichever order, is one edge.

    Examples
    --------
    >>> Graph(3, [(0, 1), (2, 1)]).laplacian
    array([[ 1., -1.,  0.],
           [-1.,  2., -1.],
           [ 0., -1.,  1.]])
    """

    nodes: int
    edges: Iterable[tuple[int, int]]

    def __post_init__(self) -> None:
        nodes = _check.whole(self.nodes, "Graph.nodes", 1)
        object.__setattr__(self, "nodes", nodes)
        pairs = {_edge(pair, nodes) for pair in _listed(self.edges)}
        object.__setattr__(self, "edges", tuple(sorted(pairs)))

    @cached_property
    def laplacian(self) -> HostMatrix:
        """``Δ = degrees − adjacency``, (nodes, nodes); ``fᵀΔf = Σ (f_i − f_j)²`` over the edges."""
        delta = np.zeros((self.nodes, self.nodes))
        for i, j in self.edges:
            delta[[i, j], [j, i]] = -1.0
        return delta - np.diag(delta.sum(axis=1))

    @cached_property
    def spectrum(self) -> tuple[HostVector, HostMatrix]:
        """Eigenvalues (nodes,) of the Laplacian from zero upward, and its eigenvectors, columns."""
        values, vectors = np.linalg.eigh(self.laplacian)
        return np.maximum(values, 0.0), vectors

    def distances(self) -> HostMatrix:
        """Count the edges on a shortest path between each two nodes.

        Returns
        -------
        HostMatrix, shape (nodes, nodes)
            The numbers of edges; infinity where there is no path.

        Examples
        --------
        >>> Graph(3, [(0, 1), (1, 2)]).distances()
        array([[0., 1., 2.],
               [1., 0., 1.],
               [2., 1., 0.]])
        """
        adjacent = self.laplacian < 0.0
        hops = np.where(np.eye(self.nodes, dtype=bool), 0.0, np.inf)
        reached = np.eye(self.nodes, dtype=bool)
        for step in range(1, self.nodes):
            further = (reached.astype(float) @ adjacent) > 0.0
            hops[further & np.isinf(hops)] = step
            reached = reached | further
        return hops


def _listed(edges: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    if isinstance(edges, str) or not hasattr(edges, "__iter__"):
        raise TypeError(f"Graph.edges must be pairs of nodes; got {edges!r}")
    return list(edges)


def _edge(pair: Iterable[SupportsIndex], nodes: int) -> tuple[int, int]:
    ends = tuple(sorted(_check.entries(pair, "Graph.edges", nodes, "the nodes")))
    if len(ends) != 2:
        raise ValueError(f"Graph.edges must be pairs of nodes; got {pair!r}")
    return ends[0], ends[1]


@dataclass(frozen=True)
class OnGraph(Kernel):
    """A kernel of nodes, ``K = σ_f² U s(Λ) Uᵀ / mean s(Λ)``; a subclass brings s, ``_shares``.

    Inputs are one column of numbers of nodes, (n, 1).

    Parameters
    ----------
    graph : Graph
        The graph, whose Laplacian is ``U Λ Uᵀ``.
    variance : float, default 1.0
        σ_f², positive: the mean of the variances over all nodes.
    lengthscale : float, default 1.0
        ℓ, positive, in edges.
    """

    graph: Graph = fixed()
    variance: float = positive(1.0, unit="y²")
    lengthscale: float = positive(1.0)

    def __post_init__(self) -> None:
        super().__post_init__()
        _check.instance(self.graph, f"{type(self).__name__}.graph", Graph)

    @abstractmethod
    def _shares(self, eigenvalues: HostVector) -> tuple[HostVector, dict[str, HostVector]]:
        """``log s(λ)`` up to a constant, and its derivatives by hyperparameters, by name."""

    def _gram(self, x: Matrix, z: Matrix | None) -> Matrix:
        xp, root = array_namespace(x), as_array(self._weights()[0] ** 0.5, x)
        left = self._rows(x) * root
        if z is None:  # a product of a matrix and its own transpose, up to rounding
            return self.variance * symmetric_part(left @ xp.matrix_transpose(left))
        return self.variance * (left @ xp.matrix_transpose(self._rows(z) * root))

    def _diag(self, x: Matrix) -> Vector:
        squares = self._rows(x) ** 2 * as_array(self._weights()[0], x)
        return self.variance * array_namespace(x).sum(squares, axis=1)

    def _pullback(
        self, x: Matrix, z: Matrix | None, K_bar: Matrix
    ) -> tuple[Self, Matrix, Matrix | None]:
        xp = array_namespace(x)
        left = self._rows(x)
        right = left if z is None else self._rows(z)
        weights_bar = xp.sum(left * (K_bar @ right), axis=0)
        return self._bar(weights_bar), xp.zeros_like(x), None if z is None else xp.zeros_like(z)

    def _diag_pullback(self, x: Matrix, d_bar: Vector) -> tuple[Self, Matrix]:
        xp = array_namespace(x)
        weights_bar = xp.sum(self._rows(x) ** 2 * d_bar[:, None], axis=0)
        return self._bar(weights_bar), xp.zeros_like(x)

    def _rows(self, x: Matrix) -> Matrix:
        """The rows of the eigenvectors that belong to the nodes x, (n, nodes)."""
        chosen = to_numpy(x)[:, 0].astype(int)
        return as_array(self.graph.spectrum[1][chosen, :], x)

    def _weights(self) -> tuple[HostVector, dict[str, HostVector]]:
        """``s/mean s`` and its derivatives, by name."""
        logs, slopes = self._shares(self.graph.spectrum[0])
        shares = np.exp(logs - logs.max())
        weights = shares / shares.mean()
        # the mean of the weights is one, so that d(s/mean s) = w (d log s − mean(w d log s))
        return weights, {name: weights * (a - (weights * a).mean()) for name, a in slopes.items()}

    def _bar(self, weights_bar: Vector) -> Self:
        weights, slopes = self._weights()
        bar = to_numpy(weights_bar)
        shape = {name: self.variance * float(bar @ slope) for name, slope in slopes.items()}
        return cotangent(self, variance=float(bar @ weights), **shape)

    def _validate_inputs(self, x: Matrix, name: str) -> None:
        super()._validate_inputs(x, name)
        if x.shape[1] != 1:
            raise ValueError(f"{name} must have one column, of nodes; got {tuple(x.shape)}")
        host = to_numpy(x)
        if not np.all((host == np.round(host)) & (host >= 0) & (host < self.graph.nodes)):
            raise ValueError(f"{name} must hold nodes, 0 to {self.graph.nodes - 1}; got {host}")
        require_moderate(self, self.graph.spectrum[0])


@dataclass(frozen=True)
class GraphHeat(OnGraph):
    """Heat that spreads along the edges: ``s(λ) = exp(−ℓ²λ/2)``, [eq-ke-heat].

    The counterpart of `RBF`.

    Parameters
    ----------
    graph : Graph
        The graph.
    variance, lengthscale
        As in `OnGraph`.

    Notes
    -----
    Source: Kondor & Lafferty (2002).

    Examples
    --------
    >>> import numpy as np
    >>> path = Graph(3, [(0, 1), (1, 2)])
    >>> GraphHeat(path)(np.asarray([[0.0], [1.0], [2.0]])).round(2)
    array([[1.1 , 0.42, 0.11],
           [0.42, 0.79, 0.42],
           [0.11, 0.42, 1.1 ]])
    """

    def _shares(self, eigenvalues: HostVector) -> tuple[HostVector, dict[str, HostVector]]:
        length = self.lengthscale
        return -0.5 * length**2 * eigenvalues, {"lengthscale": -length * eigenvalues}


@dataclass(frozen=True)
class GraphMatern(OnGraph):
    """The counterpart of the Matérn kernels: ``s(λ) = (2ν/ℓ² + λ)^(−ν)``, [eq-ke-graph-matern].

    For large ν it is `GraphHeat`.

    Parameters
    ----------
    graph : Graph
        The graph.
    variance, lengthscale
        As in `OnGraph`.
    smoothness : float, default 1.5
        ν, positive; it is fitted too.

    Notes
    -----
    Source: Borovitskiy et al. (2021).

    Examples
    --------
    >>> import numpy as np
    >>> path = Graph(3, [(0, 1), (1, 2)])
    >>> GraphMatern(path)(np.asarray([[0.0], [1.0], [2.0]])).round(2)
    array([[1.07, 0.32, 0.1 ],
           [0.32, 0.85, 0.32],
           [0.1 , 0.32, 1.07]])
    """

    smoothness: float = positive(1.5)

    def _shares(self, eigenvalues: HostVector) -> tuple[HostVector, dict[str, HostVector]]:
        nu, length = self.smoothness, self.lengthscale
        # up to a factor s is (1 + t)^(−ν), which keeps its digits however large ν is
        t = length**2 / (2.0 * nu) * eigenvalues
        slopes = {
            "lengthscale": -2.0 * nu / length * t / (1.0 + t),
            "smoothness": t / (1.0 + t) - np.log1p(t),
        }
        return -nu * np.log1p(t), slopes
