"""Ties: several parameters of a model that are one number of a fit.

The first of a group is in the vector of the fit, and the others follow it. A tied model is the
model with fewer parameters that one would write by hand, so its derivative by the number is the
sum of the derivatives by all that are equal to it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TypeVar

import numpy as np

from ..ground import check as _check
from ..ground.naming import expansions, path_of, spelt, unknown, without
from ..ground.params import Flattening, Leaf, Parameters, free_leaves, leaves, names, vector_of
from ..ground.xp import HostVector

__all__ = ["Groups", "followers", "groups_of", "places", "tied_together", "ties_of"]

M = TypeVar("M", bound=Parameters)
Groups = tuple[tuple[str, ...], ...]


def ties_of(tied: Iterable[Iterable[str]], model: Parameters, fixed: Collection[str]) -> Groups:
    """Return the groups of entries that are one number each, as names of parameters tie them.

    Parameters that are arrays are tied entry by entry; the others of a group follow its first.

    Raises
    ------
    ValueError
        If a name is no fitted parameter, is in two groups, or if those of a group are of unlike
        sizes, or one is positive and another of any sign.
    """
    groups = groups_of(tied)
    if not groups:
        return ()
    free = free_leaves(model, fixed)
    found = tuple(entries for group in groups for entries in _tied_entries(group, model, free))
    seen: set[str] = set()
    for entry in (name for group in found for name in group):
        if entry in seen:
            raise ValueError(f"tied must name {entry} once; got {groups}")
        seen.add(entry)
    return found


def groups_of(tied: Iterable[Iterable[str]]) -> Groups:
    """Return groups of names as a caller gives them, if each holds two or more."""
    return tuple(_names_of(group) for group in _sequence(tied, "tied", "groups of names"))


def followers(groups: Groups) -> dict[str, str]:
    """Return for each entry that follows another that one."""
    return {name: group[0] for group in groups for name in group[1:]}


def tied_together(model: M, groups: Groups) -> M:
    """Return a model whose tied entries have the number of the first of their group."""
    if not groups:
        return model
    kept = without(names(model), [name for group in groups for name in group])
    fixed = (*kept, *followers(groups))
    vector = vector_of(model, fixed=fixed)
    return Flattening(model, kept).rebuild(vector[places(model, fixed, groups)])


def places(model: Parameters, fixed: Collection[str], groups: Groups) -> HostVector:
    """Return for each entry that moves its place in the vector, a follower's being its first's.

    They are in the order of the model; all tied followers are `fixed`.
    """
    first = followers(groups)
    at = {name: place for place, name in enumerate(names(model, fixed=fixed))}
    moving = names(model, fixed=without(fixed, first))
    return np.asarray([at[first.get(name, name)] for name in moving], dtype=np.int64)


def _tied_entries(
    group: tuple[str, ...], model: Parameters, free: list[Leaf]
) -> list[tuple[str, ...]]:
    """The entries that a group of names ties, place by place."""
    there = expansions({leaf.path: leaf.entries for leaf in free})
    for name in group:
        if name not in there:
            every = {leaf.path: leaf.entries for leaf in leaves(model)}
            if name in expansions(every):
                raise ValueError(f"tied must name what is fitted; {name} is held by fixed")
            if path_of(name) not in every:
                _require_moved(model, path_of(name))
            raise unknown("tied names {!r}; there are {}", [name], every)
    sizes = {name: len(there[name]) for name in group}
    if len(set(sizes.values())) > 1:
        raise ValueError(f"tied must name parameters of one size; got {sizes}")
    kinds = {leaf.path: leaf.constraint for leaf in free}
    signs = {name: kinds[path_of(name)] for name in group}
    if len({sign == "real" for sign in signs.values()}) > 1:
        raise ValueError(f"tied must not join positive with signed parameters; got {signs}")
    return list(zip(*(there[name] for name in group), strict=True))


def _require_moved(model: Parameters, path: str) -> None:
    """Refuse parts of a model that no fit moves, as the covariance of a prior on weights."""
    found: object = model
    for step in path.split("."):
        found = getattr(found, step, None)
    if found is not None and not leaves(found):
        what = f"{path} of a {type(model).__name__} is none, and no fit moves it"
        raise ValueError(f"tied must name parameters; {what}")


def _names_of(group: object) -> tuple[str, ...]:
    """A group of at least two names."""
    found = _sequence(group, "a group of tied", "names")
    if any(not isinstance(name, str) for name in found):
        raise TypeError(f"a group of tied must hold names; got {found!r}")
    if len(found) < 2:
        raise ValueError(f"a group of tied must hold at least two names; got {found!r}")
    return tuple(map(spelt, found))


def _sequence(value: object, name: str, what: str) -> tuple[object, ...]:
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise TypeError(f"{name} must be an iterable of {what}; got {_check.kind_of(value)}")
    return tuple(value)
