"""A network of layers, its pullback written out, and many of them evaluated at once.

All weights stand in one flat vector ``theta`` (p,): layer by layer the matrix of weights (inputs,
outputs) row by row, and then its offsets. A matrix (m, p) is m networks; results for it
have the networks along their first axis.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

from ..fast import networks as in_place
from ..fast.networks import Workspace
from ..ground import check as _check
from ..ground import memory
from ..ground.xp import Array, Matrix, Namespace, Vector, array_namespace, as_host

__all__ = ["Network"]

Pullback = Callable[[Array], Array]


@dataclass(frozen=True)
class Network:
    """A network of fully connected layers, [eq-bn-layer]; the last one is linear.

    Parameters
    ----------
    sizes : tuple of int
        The numbers of inputs, of neurons of each hidden layer, and of outputs.
    activation : {"tanh", "relu"}, default "tanh"
        The activation function of hidden neurons.

    Examples
    --------
    >>> import numpy as np
    >>> Network((1, 3, 2)).num_weights
    14
    >>> Network((1, 1)).layers(np.asarray([2.0, 3.0]))[0][0]
    array([[2.]])
    """

    sizes: tuple[int, ...]
    activation: str = "tanh"

    def __post_init__(self) -> None:
        if not isinstance(self.sizes, tuple | list):
            raise TypeError(f"sizes must be whole numbers; got {_check.kind_of(self.sizes)}")
        sizes = tuple(_check.whole(size, "sizes", 1) for size in self.sizes)
        if len(sizes) < 2:
            raise ValueError(f"sizes must be at least two whole numbers; got {sizes}")
        _check.choice(self.activation, "activation", ("tanh", "relu"))
        object.__setattr__(self, "sizes", sizes)

    @property
    def num_weights(self) -> int:
        """p, the number of weights and biases."""
        return sum((n + 1) * m for n, m in pairwise(self.sizes))

    def layers(self, theta: Array) -> list[tuple[Array, Array]]:
        """Return the weights (…, inputs, outputs) and offsets (…, outputs) of each layer.

        Parameters
        ----------
        theta : Vector, shape (p,), or Matrix, shape (m, p)
            The weights of one network, or of m.

        Returns
        -------
        list of tuple of Array
            A pair for each layer.
        """
        return self._layers(self.check_weights(theta, "theta"))

    def check_weights(self, theta: Array, name: str) -> Array:
        """Return `theta` if it is finite, real, and of shape (p,) or (m, p)."""
        if getattr(_check.floating(theta, name), "ndim", 0) == 2:
            return _check.matrix(theta, name, columns=self.num_weights)
        return _check.vector(theta, name, size=self.num_weights)

    def _layers(self, theta: Array) -> list[tuple[Array, Array]]:
        xp, layers, start = array_namespace(theta), [], 0
        for n, m in pairwise(self.sizes):
            stop = start + n * m
            W = xp.reshape(theta[..., start:stop], (*theta.shape[:-1], n, m))
            layers.append((W, theta[..., stop : stop + m]))
            start = stop + m
        return layers

    def __call__(self, theta: Array, X: Matrix) -> Array:
        """Return the outputs (n, k) at inputs X (n, d), or (m, n, k) of m networks.

        Parameters
        ----------
        theta : Vector, shape (p,), or Matrix, shape (m, p)
            The weights.

        Returns
        -------
        Array, shape (n, k) or (m, n, k)
            The outputs.
        """
        return self._call(*self.check_weights_and_inputs(theta, X))

    def _call(self, theta: Array, X: Matrix) -> Array:
        width = sum(self.sizes) * math.prod(theta.shape[:-1])
        blocks = memory.blocks(X.shape[0], width, like=X)
        parts = [self._forward(theta, X[rows, :])[-1] for rows in blocks]
        return parts[0] if len(parts) == 1 else array_namespace(X).concat(parts, axis=-2)

    def check_weights_and_inputs(self, theta: Array, X: Matrix) -> tuple[Array, Matrix]:
        """Return both, if they go together."""
        _check.matrix(X, "X", columns=self.sizes[0])
        return _check.alike(self.check_weights(theta, "theta"), "theta", X, "X"), X

    def _forward(self, theta: Array, X: Matrix) -> list[Array]:
        """The inputs, the values of each hidden layer, and the outputs."""
        xp, values = array_namespace(X), [X]
        layers = self._layers(theta)
        for layer, (W, b) in enumerate(layers, start=1):
            sums = values[-1] @ W
            sums += b[..., None, :]  # in place: to make an array costs as much as to fill it
            values.append(sums if layer == len(layers) else self._activate(xp, sums))
        return values

    def _activate(self, xp: Namespace, sums: Array) -> Array:
        return xp.tanh(sums) if self.activation == "tanh" else xp.maximum(sums, xp.zeros_like(sums))

    def _activation_pullback(self, xp: Namespace, bar: Array, values: Array) -> Array:
        """Derivatives by the sums, from those by the values, which are lost; zero at a kink."""
        if self.activation == "relu":
            return bar * xp.astype(values > 0, values.dtype)
        decrease = bar * values  # tanh' = 1 − tanh²
        decrease *= values
        bar -= decrease
        return bar

    def values_and_pullback(self, theta: Array, X: Matrix) -> tuple[Array, Pullback]:
        """Return the outputs, and the function that carries derivatives by them back to theta.

        Parameters
        ----------
        theta : Vector, shape (p,), or Matrix, shape (m, p)
            The weights.

        Returns
        -------
        values : Array, shape (n, k) or (m, n, k)
            The outputs.
        pullback : callable
            ``pullback(F_bar)``, for derivatives by the outputs, has the shape of theta,
            [eq-bn-pullback].

        Examples
        --------
        >>> import numpy as np
        >>> line = Network((1, 1))
        >>> F, pullback = line.values_and_pullback(np.asarray([2.0, 1.0]), np.asarray([[3.0]]))
        >>> F, pullback(np.ones((1, 1)))
        (array([[7.]]), array([3., 1.]))
        """
        F, pullback = self._values_and_pullback(*self.check_weights_and_inputs(theta, X))
        return F, lambda F_bar: pullback(_check.cotangent(F_bar, "F_bar", F))

    def _pullback(self, theta: Array, values: list[Array], F_bar: Array) -> Array:
        """The derivatives by theta, given all values of a pass."""
        xp = array_namespace(theta)
        parts: list[Array] = []
        for layer_inputs, bar in self._bars(theta, values, F_bar):
            W_bar = xp.matrix_transpose(layer_inputs) @ bar
            flat = (*theta.shape[:-1], math.prod(W_bar.shape[-2:]))
            parts[:0] = [xp.reshape(W_bar, flat), xp.sum(bar, axis=-2)]
        return xp.concat(parts, axis=-1)

    def _values_and_pullback(
        self, theta: Array, X: Matrix, work: Workspace | None = None
    ) -> tuple[Array, Pullback]:
        """`values_and_pullback` without its checks, and in `work` where that is given.

        Then the outputs, and the values that the pullback reads, last until the next pass in it.
        """
        xp = array_namespace(theta)
        if work is None:
            values = self._forward(theta, X)
            return values[-1], lambda F_bar: self._pullback(theta, values, F_bar)
        host, relu = as_host(theta), self.activation == "relu"
        outputs = in_place.forth(self.sizes, relu, host, as_host(X), work)

        def pullback(F_bar: Array) -> Array:
            F_bar_rows = as_host(xp.matrix_transpose(F_bar))
            return in_place.pulled(self.sizes, relu, host, F_bar_rows, work)

        return xp.matrix_transpose(outputs), pullback

    def _bars(self, theta: Array, values: list[Array], F_bar: Array) -> list[tuple[Array, Array]]:
        """Return inputs and derivatives by the sums of each layer, the last first."""
        xp, layer_bars, bar = array_namespace(theta), [], F_bar
        for layer, (W, _) in reversed(list(enumerate(self._layers(theta)))):
            layer_bars.append((values[layer], bar))
            if layer:
                bar = self._activation_pullback(xp, bar @ xp.matrix_transpose(W), values[layer])
        return layer_bars

    def row_gradients(self, theta: Vector, X: Matrix, F_bar: Matrix) -> Matrix:
        """Return the derivatives by theta that each row contributes; they sum to the pullback.

        Parameters
        ----------
        theta : Vector, shape (p,)
            The weights of one network.
        F_bar : Matrix, shape (n, k)
            Derivatives by the outputs.

        Returns
        -------
        Matrix, shape (n, p)
            The derivatives by theta, a row for each row of X.
        """
        theta = _check.vector(theta, "theta", size=self.num_weights)
        values = self._forward(*self.check_weights_and_inputs(theta, X))
        bars = self._bars(theta, values, _check.cotangent(F_bar, "F_bar", values[-1]))
        xp, n = array_namespace(X), X.shape[0]
        parts: list[Array] = []
        for layer_inputs, bar in bars:
            outer = layer_inputs[:, :, None] * bar[:, None, :]
            parts[:0] = [xp.reshape(outer, (n, layer_inputs.shape[1] * bar.shape[1])), bar]
        return xp.concat(parts, axis=1)

    def features(self, theta: Vector, X: Matrix) -> Matrix:
        """Return the inputs of the last layer (n, H + 1): hidden values, and a column of ones.

        Parameters
        ----------
        theta : Vector, shape (p,)
            The weights of one network.

        Returns
        -------
        Matrix, shape (n, H + 1)
            The features.
        """
        theta = _check.vector(theta, "theta", size=self.num_weights)
        last = self._forward(*self.check_weights_and_inputs(theta, X))[-2]
        xp = array_namespace(X)
        return xp.concat([last, xp.ones_like(last[:, :1])], axis=1)

    def scaled_variances(
        self, weight_variance: float = 1.0, bias_variance: float = 1.0, *, like: Array
    ) -> Vector:
        """Return prior variances (p,): of a weight, its variance over the inputs of its layer.

        With these the sum that enters a neuron has a variance that does not grow with the width
        of the layer before it, and wide networks have the limit [eq-bn-limit].

        Parameters
        ----------
        weight_variance : float, default 1.0
            The variance of all weights of a neuron together.
        bias_variance : float, default 1.0
            The variance of an offset.
        like : Array
            An array of the kind that is wanted.

        Returns
        -------
        Vector, shape (p,)
            The variances.
        """
        weight_var = _check.positive(
            _check.number(weight_variance, "weight_variance"), "weight_variance"
        )
        bias_var = _check.positive(_check.number(bias_variance, "bias_variance"), "bias_variance")
        xp, parts = array_namespace(_check.floating(like, "like")), []
        for n, m in pairwise(self.sizes):
            parts += [weight_var / n] * (n * m) + [bias_var] * m
        return xp.asarray(parts, dtype=like.dtype, device=like.device)
