"""What the two contestants in jax share: value and gradient, compiled, in double precision."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def value_and_gradient(
    cost: Callable[..., Any], prepare: Callable[[], tuple[Any, ...]], steps: int
) -> Callable[[], tuple[Any, Any]]:
    """``cost(*prepare(), steps)`` and its derivatives by the first of these, as a call."""
    import jax

    # Double precision is asked for here only: set for the process, it would change other work.
    with jax.enable_x64(True):
        arrays = prepare()
        gradient = jax.jit(jax.value_and_grad(cost), static_argnums=len(arrays))
        compiled = gradient.lower(*arrays, steps).compile()

    def call() -> tuple[Any, Any]:
        with jax.enable_x64(True):
            return compiled(*arrays)

    return call
