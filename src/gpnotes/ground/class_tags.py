"""The tags in files of private classes, whose own names may change."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

__all__ = ["class_of", "saved_as", "tag_of"]

T = TypeVar("T")
_TAGGED: dict[str, type] = {}


def saved_as(tag: str) -> Callable[[type[T]], type[T]]:
    """Let objects of a class stand in files under a name that stays when the class's own changes.

    Parameters
    ----------
    tag : str
        The name, which no other class has. The list in `infer.saving` says where it is defined.

    Returns
    -------
    callable
        A decorator of classes.

    Raises
    ------
    ValueError
        If another class has the name.
    """

    def noted(kind: type[T]) -> type[T]:
        other = _TAGGED.get(tag, kind)
        if (other.__module__, other.__qualname__) != (kind.__module__, kind.__qualname__):
            raise ValueError(f"tag must be of one class; {tag!r} is that of {other.__qualname__}")
        _TAGGED[tag] = kind  # a module that is loaded again brings its class anew
        return kind

    return noted


def class_of(tag: str) -> type[object] | None:
    """Return the class that has a tag.

    Returns
    -------
    type or None
        The class; None before its module is imported.
    """
    return _TAGGED.get(tag)


def tag_of(kind: type[object]) -> str | None:
    """Return the tag of a class."""
    return next((tag for tag, one in _TAGGED.items() if one is kind), None)
