"""One pool of BLAS threads at work, where NumPy and SciPy have brought one each.

Wheels of NumPy and of SciPy hold a library of linear algebra each, with threads of its own that
wait for the next product by spinning. Code that goes from one library to the other, hundreds of
times a second, has both pools spin for the same cores: an epoch of a sparse variational process
that one thread does in half a second took from two to twenty-five on two.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import cache, wraps
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from threadpoolctl import ThreadpoolController

__all__ = ["in_one_pool"]

P = ParamSpec("P")
R = TypeVar("R")


def in_one_pool(function: Callable[P, R]) -> Callable[P, R]:
    """The function, during which NumPy's own pool has one thread, if SciPy has another pool.

    SciPy's, which does the larger products in place, keeps its threads; so does NumPy's where there
    is no other, and afterwards. It holds for the process: other Python threads see it meanwhile.
    """

    @wraps(function)
    def called(*args: P.args, **kwargs: P.kwargs) -> R:
        with _one_pool():
            return function(*args, **kwargs)

    return called


def _one_pool() -> AbstractContextManager[Any]:
    numpys = _pool_of_numpy()
    return nullcontext() if numpys is None else numpys.limit(limits=1)


@cache
def _pool_of_numpy() -> ThreadpoolController | None:
    """NumPy's own, if there is another; SciPy's linear algebra is loaded before this is asked."""
    import scipy.linalg  # noqa: F401

    pools = ThreadpoolController().select(user_api="blas")
    paths = [pool.filepath for pool in pools.lib_controllers]
    own = [path for path in paths if any("numpy" in part for part in Path(path).parts[-3:-1])]
    return pools.select(filepath=own) if own and len(paths) > len(own) else None
