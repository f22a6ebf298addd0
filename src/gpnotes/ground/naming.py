"""Names of parameters and of their entries: which there are, and which was meant.

``kernel.lengthscale`` names all entries of an array and ``kernel.lengthscale[1]`` one of them, as
reports print it.
"""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable, Mapping, Sequence

import numpy as np

__all__ = ["and_more", "entry_names", "given_by_entry", "spelt", "unknown"]

_SHOWN = 6  # entries of an array in a message


def entry_names(path: str, shape: tuple[int, ...]) -> list[str]:
    """Return the name of each entry of a parameter.

    Parameters
    ----------
    path : str
        The name of the parameter.
    shape : tuple of int
        Its shape, () for a float.

    Examples
    --------
    >>> entry_names("kernel.lengthscale", (2,))
    ['kernel.lengthscale[0]', 'kernel.lengthscale[1]']
    """
    return [path + (str(list(at)) if at else "") for at in np.ndindex(shape)]


def and_more(count: int) -> str:
    """Return the words of a message after the first of so many: none for one alone.

    Examples
    --------
    >>> and_more(1), and_more(3)
    ('', ' and 2 more')
    """
    return f" and {count - 1} more" if count > 1 else ""


def spelt(name: object) -> str:
    """Return a name as `entry_names` spells it: ``W[0,1]`` is ``W[0, 1]``."""
    text = str(name)
    if not text.endswith("]"):
        return text
    path, _, at = text[:-1].partition("[")
    return f"{path}[{', '.join(part.strip() for part in at.split(','))}]"


def require_names(fixed: Collection[str]) -> Collection[str]:
    """`fixed`, if it is a collection of names."""
    if isinstance(fixed, str) or not isinstance(fixed, Collection):
        raise TypeError(f"fixed must be a collection of names; got {fixed!r}")
    return fixed


def unknown(said: str, names: Sequence[object], there: Mapping[str, Sequence[str]]) -> ValueError:
    """Return the error for names of nothing, with the names that there are, each with its entries.

    `said` joins both lists: ``"bounds name {}; the parameters are {}"``.
    """
    known = [name for path, some in there.items() for name in _shown(path, some)]
    every = {*there, *(entry for some in there.values() for entry in some)}
    near = {n: difflib.get_close_matches(str(n), every, n=1, cutoff=0.75) for n in names}
    hints = [f"{name!r} is near {match[0]!r}" for name, match in near.items() if match]
    what = repr(names[0]) if "{!r}" in said else names
    text = said.replace("{!r}", "{}").format(what, known)
    return ValueError("; ".join([text, *hints]))


def _shown(path: str, entries: Sequence[str]) -> list[str]:
    if list(entries) == [path]:
        return [path]
    many = len(entries) > _SHOWN
    return [path, *(entries[:2] if many else entries), *(["..."] if many else [])]


def given_by_entry(
    argument: str,
    given: Mapping[str, object],
    there: Mapping[str, Sequence[str]],
    tied: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """Return for each entry the key of a mapping that names it, alone or with its whole array.

    The `argument` is its name in messages; `there` has the entries of each parameter. A value for
    an entry that follows another, as `tied` says, counts for the other.

    Raises
    ------
    ValueError
        If a name is none of a parameter or an entry, or two keys name one entry.

    Examples
    --------
    >>> given_by_entry("bounds", {"a[1]": (0, 1)}, {"a": ["a[0]", "a[1]"]})
    {'a[1]': 'a[1]'}
    """
    named = expansions(there)
    if none := sorted((name for name in given if spelt(name) not in named), key=str):
        ordered = {path: there[path] for path in sorted(there)}
        raise unknown(argument + " name {}; the parameters are {}", none, ordered)
    keys: dict[str, str] = {}
    for key in given:
        for entry in dict.fromkeys((tied or {}).get(e, e) for e in named[spelt(key)]):
            if entry in keys:
                what = _with_followers(entry, tied or {})
                raise ValueError(f"{argument} must name {what} once; got {keys[entry]!r}, {key!r}")
            keys[entry] = key
    return keys


def _with_followers(entry: str, tied: Mapping[str, str]) -> str:
    followers = [name for name, first in tied.items() if first == entry]
    return f"{entry}, tied to {', '.join(followers)}," if followers else entry


def expansions(there: Mapping[str, Sequence[str]]) -> dict[str, Sequence[str]]:
    """Return for each name of a parameter or of an entry the entries that it names."""
    named: dict[str, Sequence[str]] = {e: [e] for some in there.values() for e in some}
    return named | dict(there)


def path_of(entry: str) -> str:
    """Return the parameter of an entry."""
    return entry.partition("[")[0]


def covered(names: Iterable[str], path: str) -> bool:
    """Return True if one of some names is a parameter's, or that of its parent."""
    return any(path == name or path.startswith(f"{name}.") for name in names)


def without(names: Collection[str], some: Collection[str] | None) -> tuple[str, ...]:
    """Return the names but for some of them."""
    return tuple(name for name in names if not some or name not in some)


def left(entries: Sequence[str], held: Collection[str]) -> tuple[int, ...]:
    """Return the numbers of the entries that are not held."""
    return tuple(i for i, entry in enumerate(entries) if entry not in held)
