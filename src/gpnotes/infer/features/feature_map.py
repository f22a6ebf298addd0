"""The contract of a map from inputs to features, for regression on features.

A map is given once, for a kernel of its kind. The hyperparameters stay with the kernel, so that a
fit can move them while the map stays.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import ClassVar

from ...ground import check as _check
from ...ground import memory
from ...ground.xp import Matrix, Vector, array_namespace, in_double, zeros
from ...model.kernels import Kernel

__all__ = ["FeatureMap"]


class FeatureMap(ABC):
    """R features of an input whose products stand for a kernel, ``φ(x)·φ(z) ≈ k(x, z)``.

    Its subclasses are `Frequencies`, which are drawn, and `BoxSines`, which are not.
    """

    name: ClassVar[str]  # of its features, for a report

    @property
    @abstractmethod
    def like(self) -> Matrix:
        """An array (R, d) of the dtype and on the device of the inputs and features."""

    @property
    def size(self) -> int:
        """The number of features R."""
        return self.like.shape[0]

    def features(self, kernel: Kernel, X: Matrix) -> Matrix:
        """The features Φ of some inputs under a kernel; ``ΦΦᵀ`` stands for ``kernel(X)``.

        Parameters
        ----------
        kernel : Kernel
            The kernel, of the kind that the map is for.

        Returns
        -------
        Matrix, shape (n, R)
            The features.

        Notes
        -----
        O(n d R). Inputs far from the origin lose digits, as in any cosine: ``eps |ω·x|`` of each
        feature.
        """
        self.validate(kernel, X)
        memory.require(X.shape[0], self.size, copies=2, like=X, what="the features")
        return self._features(kernel, X)

    @abstractmethod
    def _features(self, kernel: Kernel, X: Matrix) -> Matrix:
        """Compute `features` without checks."""

    @abstractmethod
    def validate_kernel(self, kernel: Kernel) -> Kernel:
        """The kernel, if these features are for it; else a `TypeError`."""

    def validate(self, kernel: Kernel, X: Matrix, name: str = "X") -> Kernel:
        """The kernel, if these features are for it, and both for such inputs.

        Parameters
        ----------
        name : str, default ``"X"``
            The name of the inputs in errors.
        """
        _check.matrix(X, name, columns=self.like.shape[1])
        return self.require_match(kernel, X, name)

    def require_match(self, kernel: Kernel, X: Matrix, name: str = "X") -> Kernel:
        """`validate` for an X that is a finite matrix of as many columns already.

        Parameters
        ----------
        kernel, X, name
            As in `validate`.
        """
        self.validate_kernel(kernel)
        _check.alike(_check.squarable(X, name), name, self.like, "frequencies")
        kernel._validate_inputs(X, name)
        return kernel

    def gram_and_cross(self, kernel: Kernel, X: Matrix, r: Vector) -> tuple[Matrix, Vector]:
        """``ΦᵀΦ`` and ``Φᵀr`` of some rows, a few at a time.

        Parameters
        ----------
        kernel, X
            As in `features`; they are not validated.
        r : Vector, shape (n,)
            The readings less the mean.

        Returns
        -------
        gram : Matrix, shape (R, R)
            ``ΦᵀΦ``.
        cross : Vector, shape (R,)
            ``Φᵀr``.
        """
        xp = array_namespace(X)
        gram, cross = zeros((self.size, self.size), r), zeros((self.size,), r)
        for rows in memory.blocks(X.shape[0], self.size, like=X):
            # in float64: sums over many rows lose the digits that B needs in float32
            Phi = in_double(self._features(kernel, X[rows, :]))
            gram = gram + xp.matrix_transpose(Phi) @ Phi
            cross = cross + xp.matrix_transpose(Phi) @ r[rows]
        return gram, cross

    def weighted_gram_and_cross(
        self, kernel: Kernel, X: Matrix, r: Vector, noise_var: Vector
    ) -> tuple[Matrix, Vector]:
        """``ΦᵀΛ⁻¹Φ`` and ``ΦᵀΛ⁻¹r`` of some rows, each with a noise of its own, a few at a time.

        Parameters
        ----------
        kernel, X, r
            As in `gram_and_cross`.
        noise_var : Vector, shape (n,)
            The λ of each.

        Returns
        -------
        gram : Matrix, shape (R, R)
            ``ΦᵀΛ⁻¹Φ``.
        cross : Vector, shape (R,)
            ``ΦᵀΛ⁻¹r``.
        """
        xp = array_namespace(X)
        gram, cross = zeros((self.size, self.size), r), zeros((self.size,), r)
        for rows in memory.blocks(X.shape[0], self.size, like=X):
            # a root of Λ⁻¹ on either side: a matrix with its own transpose, not two different ones
            sd = xp.sqrt(noise_var[rows])
            Phi = in_double(self._features(kernel, X[rows, :])) / sd[:, None]
            gram = gram + xp.matrix_transpose(Phi) @ Phi
            cross = cross + xp.matrix_transpose(Phi) @ (r[rows] / sd)
        return gram, cross

    def omega_bar(self, kernel: Kernel, X: Matrix, Phi_bar: Callable[[], Matrix]) -> Matrix:
        """The derivatives by the frequencies ω; zero where the hyperparameters leave these alone.

        Parameters
        ----------
        kernel, X
            As in `features`; they are not validated.
        Phi_bar : callable
            A function that gives the derivatives by the features, (n, R), if they are needed.

        Returns
        -------
        Matrix, shape (R, d)
            The derivatives.
        """
        return array_namespace(X).zeros_like(in_double(self.like))

    @abstractmethod
    def kernel_bar(self, kernel: Kernel, weighted: Vector, omega_bar: Matrix) -> Kernel:
        """Return the derivatives by the hyperparameters, from those by weighted features and ω.

        Parameters
        ----------
        kernel : Kernel
            The kernel; it is not validated.
        weighted : Vector, shape (R,)
            ``Σᵢ (Φ_bar ∘ Φ)ᵢ`` of each feature.
        omega_bar : Matrix, shape (R, d)
            The derivatives by the frequencies ω.

        Returns
        -------
        Kernel
            A kernel like the given one that holds the derivatives.
        """
