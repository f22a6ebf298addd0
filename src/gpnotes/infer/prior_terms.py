"""Priors that a caller names, and their terms of the log evidence and its derivatives."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np

from ..ground.naming import given_by_entry, without
from ..ground.params import Parameters, free_leaves
from ..ground.xp import HostVector
from ..model.contracts import Prior, require

__all__ = ["NamedPrior", "density_and_gradient", "priors_of"]


@dataclass(frozen=True, eq=False)
class NamedPrior:
    """A prior, and the entries of the vector of `params.flatten` that it is on.

    Parameters
    ----------
    name : str
        The name that the caller gave, of a parameter or an entry.
    prior : Prior
        The prior.
    at : tuple of int, or int
        The numbers of the entries; of a parameter that is a float, one number.
    """

    name: str
    prior: Prior
    at: tuple[int, ...] | int

    def density_and_gradient(self, values: HostVector) -> tuple[float, HostVector]:
        """Evaluate its log density, and differentiate it by all free parameters, (p,).

        These are in their own units; the gradient is zero but at its own.
        """
        slopes = np.zeros_like(values)
        if isinstance(self.at, int):
            number = float(values[self.at])
            slopes[self.at] = self.prior.gradient(number)
            return self.prior.log_density(number), slopes
        at = list(self.at)
        slopes[at] = self.prior.gradient(values[at])
        return self.prior.log_density(values[at]), slopes


def priors_of(
    priors: Mapping[str, Prior] | None,
    model: Parameters,
    fixed: Collection[str],
    tied: Mapping[str, str] | None = None,
) -> tuple[NamedPrior, ...]:
    """Return the priors, if each is one and is on a fitted parameter.

    One on an entry that follows another, as `tied` says, counts for the other.

    Raises
    ------
    ValueError
        If a name is no fitted parameter, or two priors are on one entry.
    """
    if not isinstance(priors, Mapping | None):
        wanted = "a mapping from names to priors"
        raise TypeError(f"priors must be {wanted}; got {type(priors).__name__}")
    free = free_leaves(model, fixed)
    there = {leaf.path: leaf.entries for leaf in free_leaves(model, without(fixed, tied))}
    keys = given_by_entry("priors", priors or {}, there, tied)
    entries = [entry for leaf in free for entry in leaf.entries]
    alone = {leaf.path for leaf in free if isinstance(leaf.value, float)}
    found = []
    for name, prior in (priors or {}).items():
        require(prior, f"priors[{name!r}]", Prior)
        own = [entry for entry in entries if keys.get(entry) == name]
        at = tuple(entries.index(entry) for entry in own)
        if own:  # an array may be empty
            found.append(NamedPrior(name, prior, at[0] if own[0] in alone else at))
    return tuple(found)


def density_and_gradient(
    priors: Collection[NamedPrior], values: HostVector
) -> tuple[float, HostVector]:
    """Evaluate the log density of all priors, and differentiate it by all free parameters.

    Parameters
    ----------
    priors : collection of NamedPrior
        The priors.
    values : HostVector, shape (p,)
        The parameters, in their own units; so is the gradient.
    """
    total, slopes = 0.0, np.zeros_like(values)
    for one in priors:
        density, slope = one.density_and_gradient(values)
        total += density
        slopes = slopes + slope
    return total, slopes
