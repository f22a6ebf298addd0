"""In-place NumPy versions of work elsewhere in the package, each tested against it."""

from typing import TYPE_CHECKING

from ..ground.lazy import lazy_modules

if TYPE_CHECKING:  # isort: off
    from . import (
        cosines as cosines, exponentials as exponentials, factors as factors, networks as networks,
        point_predictions as point_predictions, polynomials as polynomials,
        radial_profiles as radial_profiles, sparse as sparse,
        stationary_evidence as stationary_evidence, svgp as svgp, sweeps as sweeps,
        tiled_kernels as tiled_kernels, tiles as tiles,
    )  # fmt: skip
else:
    __getattr__, __dir__ = lazy_modules(__name__)
