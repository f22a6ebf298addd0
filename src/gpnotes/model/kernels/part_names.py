"""Names for the parts of a kernel: which are allowed, and how a kernel with names is shown."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from ...ground import check as _check

__all__ = ["settled_names", "shown_parts"]


def settled_names(names: object, many: int, kind: type) -> tuple[str, ...]:
    """Return names for so many parts of an object of a class; none, where all are empty.

    Raises
    ------
    ValueError
        If a name is no word, an attribute of the class, or given twice, or if there are too few.
    """
    names = names if isinstance(names, tuple | list) else (names,)
    for name in names:
        _require_free(name, kind)
    given = [name for name in names if name]
    if len(set(given)) < len(given):
        raise ValueError(f"names must be all different; got {given}")
    if names and len(names) != many:
        raise ValueError(f"names must have {many} entries, one for each part; got {tuple(names)}")
    return tuple(names) if given else ()


def _require_free(name: object, kind: type) -> None:
    """Refuse names for a part that are no words, attributes of its class, or the mean function."""
    if not isinstance(name, str):
        raise TypeError(f"names must be strings; got {_check.kind_of(name)}")
    if name and not name.isidentifier():
        raise ValueError(f"names must be words such as trend; got {name!r}")
    if name in ("mean", "parts") or name.startswith("_") or hasattr(kind, name):
        taken = "the mean function's" if name == "mean" else "an attribute of kernels"
        raise ValueError(f"names must be free; {name!r} is {taken}: choose another")


def shown_parts(
    names: Sequence[str], parts: Sequence[object], terms: Sequence[str], function: str, sign: str
) -> str:
    """Return terms with a sign between them; parts with names as a call of a function."""
    shown = []
    triples = zip(names or ("",) * len(terms), parts, terms, strict=True)
    for has_name, run in groupby(triples, key=lambda triple: bool(triple[0])):
        said = [f"{name}={part!r}" if has_name else term for name, part, term in run]
        shown.append(f"{function}({', '.join(said)})" if has_name else sign.join(said))
    return sign.join(shown)
