"""The process at inducing points, and its projection to other inputs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from functools import partial

from ...fast import sparse as in_place
from ...ground import memory
from ...ground.linalg import Cholesky, NameWith, _cholesky, warn_of_jitter
from ...ground.params import cotangent, leaves, replaced
from ...ground.showing import summary
from ...ground.threads import threads_for
from ...ground.xp import Matrix, Vector, array_namespace, in_double, solve_triangular
from ...model.contracts import InducingVariables
from ...model.gaussian_process import GP
from ...model.kernels import Kernel
from ...model.kernels.origins import nearer_origin
from ..interdomain import InducingPoints
from ..interdomain.point_functionals import with_hooks

__all__ = ["Inducing", "inducing_at"]


@dataclass(frozen=True, eq=False)
class Inducing:
    """The prior of ``u = f(Z)``, or of other inducing variables, with ``K_uu = L_u L_uᵀ`` factored.

    All is in float64 where the device has it, whatever the data are in: the variance left by
    u is a difference that float32 would drown. Made by `inducing_at`.

    Parameters
    ----------
    kernel : Kernel
        The kernel of f, in float64.
    variables : InducingVariables
        The variables u, in float64.
    factor : Cholesky
        The factor ``L_u`` of K_uu.
    given : InducingVariables
        The variables as they came.
    """

    kernel: Kernel
    variables: InducingVariables
    factor: Cholesky
    given: InducingVariables

    __repr__ = summary

    @property
    def Z(self) -> Matrix:
        """The inputs that can be moved, such as the inducing points (M, d)."""
        return self.variables.inputs

    @property
    def size(self) -> int:
        """The number of inducing variables M."""
        return self.variables.size

    @property
    def in_place(self) -> bool:
        """True where `fast.sparse` can work for the variables, the kernel and inputs like Z."""
        return type(self.variables) is InducingPoints and in_place.supports(self.kernel, self.Z)

    @threads_for(lambda self, X: self.size**2 * X.shape[0])
    def whiten(self, X: Matrix) -> tuple[Matrix, Vector]:
        """Whiten the covariance of u with f at some inputs; O(M² n).

        Parameters
        ----------
        X : Matrix, shape (n, d)
            The inputs; they are not validated.

        Returns
        -------
        V : Matrix, shape (M, n)
            ``L_u⁻¹ K_uf``.
        gap : Vector, shape (n,)
            ``max(k(xᵢ, xᵢ) − |vᵢ|², 0)``, the variance of each f(xᵢ) that u leaves.
        """
        kernel = self.kernel
        if self.in_place and in_place.supports(kernel, X):
            block = in_place.whiten(kernel, self.Z, self.factor.lower, X)
            return block.Phi.T, block.gap
        V = solve_triangular(self.factor.lower, with_hooks(self.variables)._cross(kernel, X))
        xp = array_namespace(X)
        return V, xp.clip(self.kernel._diag(X) - xp.sum(V * V, axis=0), 0.0, None)

    def blocks(self, n: int) -> Iterator[slice]:
        """Split n rows of data into blocks of a few.

        Parameters
        ----------
        n : int
            The number of rows.

        Returns
        -------
        Iterator of slice
            The rows of each block. A row takes M numbers in each of four or five matrices.
        """
        return iter(memory.blocks(n, self.size, like=self.factor.lower))


@threads_for(lambda gp, variables, quiet=False: variables.size**3)
def inducing_at(gp: GP, variables: InducingVariables, *, quiet: bool = False) -> Inducing:
    """Factor the prior of inducing variables.

    Parameters
    ----------
    variables : InducingVariables
        The variables u.
    quiet : bool, default False
        Give no warning of jitter; a fit meets many.

    Returns
    -------
    Inducing
        The prior of u. If variables (nearly) coincide, K_uu needs jitter, with a
        ``JitterWarning``.
    """
    inputs = variables.inputs
    gp.kernel._validate_inputs(inputs, "inducing")
    memory.require_square(variables.size, like=inputs, copies=6, what="K_uu")
    kernel = kernel_in_double(gp.kernel)
    wide = _variables_in_double(variables)
    name = NameWith("K_uu of {!r}", (gp.kernel,))
    factor = _cholesky(with_hooks(wide)._gram(kernel), name=name)
    if not quiet:
        warn_of_jitter(factor.jitter, name, partial(nearer_origin, gp.kernel, inputs))
    return Inducing(kernel, wide, factor, variables)


def _variables_in_double(variables: InducingVariables) -> InducingVariables:
    held = {item.name: getattr(variables, item.name) for item in fields(variables)}
    arrays = {name: in_double(a) for name, a in held.items() if hasattr(a, "ndim")}
    same = all(held[name] is wide for name, wide in arrays.items())
    return variables if same else replace(variables, **arrays)


def kernel_in_double(kernel: Kernel) -> Kernel:
    """A kernel whose arrays are in float64, where their device has it."""
    arrays = {leaf.path: leaf.value for leaf in leaves(kernel) if not isinstance(leaf.value, float)}
    if not arrays:
        return kernel
    return replaced(kernel, {path: in_double(value) for path, value in arrays.items()})


def like_kernel(kernel_bar: Kernel, kernel: Kernel) -> Kernel:
    """A cotangent whose arrays are in the precision of those of the kernel."""
    pairs = zip(leaves(kernel_bar), leaves(kernel), strict=True)
    cast = {
        bar.path: array_namespace(bar.value).astype(bar.value, leaf.value.dtype)
        for bar, leaf in pairs
        if not (isinstance(bar.value, float) or isinstance(leaf.value, float))
    }
    return replaced(kernel_bar, cast, make=cotangent) if cast else kernel_bar


def with_share(kernel_bar: Kernel, kernel: Kernel, share: float) -> Kernel:
    """A cotangent with ``share / σ_f²`` more by the signal variance σ_f²."""
    held = {leaf.path: leaf.value for leaf in leaves(kernel_bar)}
    scale = {leaf.path: leaf.value for leaf in leaves(kernel)}
    more = {"variance": held["variance"] + share / scale["variance"]}
    return replaced(kernel_bar, more, make=cotangent)
