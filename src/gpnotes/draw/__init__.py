"""Functions drawn from a prior or a posterior."""

from typing import TYPE_CHECKING

from ..ground.lazy import lazy_modules

if TYPE_CHECKING:  # isort: off
    from . import (
        grids as grids, paths as paths,
    )  # fmt: skip
else:
    __getattr__, __dir__ = lazy_modules(__name__)
