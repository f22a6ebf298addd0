"""The ground that all else stands on: arrays and their libraries, checks, linear algebra."""

from typing import TYPE_CHECKING

from .lazy import lazy_modules

if TYPE_CHECKING:  # isort: off
    from . import (
        adam as adam, array_protocol as array_protocol, array_types as array_types,
        arrays as arrays, ascent as ascent, blas_in_place as blas_in_place, boxes as boxes,
        caller_warnings as caller_warnings, check as check, chunks as chunks,
        class_tags as class_tags, conversion as conversion,
        dates as dates, distances as distances, files as files, in_step as in_step,
        interrupts as interrupts, jobs as jobs, late_reads as late_reads, lazy as lazy,
        levels as levels, linalg as linalg, memory as memory, named_columns as named_columns,
        namespace as namespace, naming as naming, normal_tail as normal_tail,
        numba_functions as numba_functions,
        open_numbers as open_numbers, params as params, quadrature as quadrature,
        random as random, showing as showing, sparse_matrices as sparse_matrices,
        task_queue as task_queue, threads as threads, tiled_cholesky as tiled_cholesky, xp as xp,
    )  # fmt: skip
else:
    __getattr__, __dir__ = lazy_modules(__name__)
