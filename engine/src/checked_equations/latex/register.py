"""Functions by the kind of node that they are for: how every stage tells nodes apart."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

from .node import Node

__all__ = ["Register"]

F = TypeVar("F", bound=Callable[..., Any])


class Register(Generic[F]):
    """One function for each kind of node; a kind without one has that of the kind it derives from.

    `task` is what the functions do, in words for an error; `otherwise` does it for the kinds
    that have no function at all.

    >>> from .tree import Name, Number
    >>> spoken = Register("word")
    >>> @spoken(Number)
    ... def number(node):
    ...     return f"the number {node.value:g}"
    >>> spoken.of(Number(2.0))(Number(2.0))
    'the number 2'
    >>> spoken.of(Name("a"))
    Traceback (most recent call last):
    TypeError: a Name has no word
    """

    def __init__(self, task: str, otherwise: F | None = None) -> None:
        self.task = task
        self.otherwise = otherwise
        self.functions: dict[type, F] = {}

    def __call__(self, *kinds: type[Node]) -> Callable[[F], F]:
        """Register the decorated function for these kinds of node."""

        def register(function: F) -> F:
            self.functions.update(dict.fromkeys(kinds, function))
            return function

        return register

    def of(self, node: Node) -> F:
        """The function for `node`. Raises TypeError where no kind that it derives from has one."""
        for kind in type(node).__mro__:
            function = self.functions.get(kind, None)
            if function is not None:
                return function
        if self.otherwise is None:
            raise TypeError(f"a {type(node).__name__} has no {self.task}")
        return self.otherwise
