"""The result of sampling: the draws of some chains, their statistics and diagnostics."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from inspect import signature
from typing import TYPE_CHECKING, Any

import numpy as np

from ..ground.showing import preformatted
from ..ground.xp import HostArray, HostMatrix, HostVector
from .diagnostics import FEWEST, ess_bulk, ess_tail, mcse, rhat
from .states import Sampler

if TYPE_CHECKING:
    from xarray import Dataset

__all__ = ["ChainWarning", "Chains"]


class ChainWarning(UserWarning):
    """The warning that a chain never moved, or that paths of it diverged."""


@dataclass(frozen=True, eq=False)
class Chains:
    """Draws of some chains, all on the host. Printed, a table of their diagnostics.

    Parameters
    ----------
    draws : HostArray, shape (chains, draws, d)
        The draws.
    log_density : HostMatrix, shape (chains, draws)
        The log density of each, up to a constant; for `SGLD`, its estimate from some rows.
    acceptance : HostMatrix, shape (chains, draws)
        The probability with which each proposal was accepted.
    diverged : HostMatrix, shape (chains, draws)
        Whether a path diverged.
    evaluations : HostMatrix, shape (chains, draws)
        How many evaluations of the target each draw took.
    warmup_evaluations : tuple of int
        How many evaluations the warm-up of each chain took.
    samplers : tuple of Sampler
        The sampler of each chain, as its warm-up left it.
    names : tuple of str
        The names of the entries.
    warming_up : bool, default False
        Whether Ctrl-C came in the warm-up: the draws are its steps, and no draws of the target.
    """

    draws: HostArray
    log_density: HostMatrix
    acceptance: HostMatrix
    diverged: HostMatrix
    evaluations: HostMatrix
    warmup_evaluations: tuple[int, ...]
    samplers: tuple[Sampler, ...]
    names: tuple[str, ...] = field(default=())
    warming_up: bool = False

    @property
    def flat(self) -> HostMatrix:
        """The draws of all chains, one below the other, (chains × draws, d)."""
        return self.draws.reshape(-1, self.draws.shape[2])

    @property
    def mean(self) -> HostVector:
        """The mean of all draws, (d,)."""
        return self.flat.mean(0)

    @property
    def sd(self) -> HostVector:
        """The standard deviation of all draws, (d,)."""
        return self.flat.std(0, ddof=1)

    @cached_property
    def rhat(self) -> HostVector:
        """R-hat of each entry, `diagnostics.rhat`; of one chain alone a `ValueError`."""
        return np.asarray(rhat(self.draws))

    @cached_property
    def ess_bulk(self) -> HostVector:
        """The effective draws of the middle of each entry, `diagnostics.ess_bulk`."""
        return np.asarray(ess_bulk(self.draws))

    @cached_property
    def ess_tail(self) -> HostVector:
        """The effective draws of the tails of each entry, `diagnostics.ess_tail`."""
        return np.asarray(ess_tail(self.draws))

    @cached_property
    def mcse(self) -> HostVector:
        """The Monte Carlo standard error of the mean of each entry, `diagnostics.mcse`."""
        return np.asarray(mcse(self.draws))

    @property
    def stuck(self) -> tuple[int, ...]:
        """The numbers of the chains that never moved."""
        constant = np.all(self.draws == self.draws[:, :1], axis=(1, 2)) & (self.draws.shape[1] > 1)
        return tuple(int(number) for number in np.flatnonzero(constant))

    def thin(self, num_samples: int) -> HostMatrix:
        """Return so many of all draws, evenly spaced, (num_samples, d); or all there are."""
        total = self.flat.shape[0]
        return self.flat[np.unique(np.linspace(0, total - 1, min(num_samples, total)).astype(int))]

    def to_arviz(self) -> Any:
        """Return the draws as ArviZ takes them, ``arviz.summary(chains.to_arviz())``.

        Returns
        -------
        DataTree or InferenceData
            From ArviZ 1.0 on a ``DataTree``, before an ``InferenceData``, with draws by name in its
            group ``posterior`` and their statistics in ``sample_stats``. Steps of a warm-up
            are in the groups that ArviZ has for them, ``warmup_posterior`` and so on.

        Raises
        ------
        ImportError
            If ArviZ is not installed.
        """
        try:
            from arviz import from_dict
        except ImportError:
            raise ImportError("to_arviz needs ArviZ: pip install arviz") from None
        made: Any = from_dict  # whose arguments are others since 1.0
        groups = self._groups()
        if "posterior" in signature(made).parameters:
            return made(**groups, save_warmup=True)
        return made(groups, save_warmup=True)

    def _groups(self) -> dict[str, dict[str, HostArray]]:
        """Return the draws by name, and their statistics, in the groups of ArviZ."""
        stats = {
            "lp": self.log_density, "acceptance_rate": self.acceptance, "diverging": self.diverged,
            "n_steps": self.evaluations,
        }  # fmt: skip
        group = "warmup_" if self.warming_up else ""
        return {f"{group}posterior": self._by_name(), f"{group}sample_stats": stats}

    def to_xarray(self) -> Dataset:
        """Return the draws as an ``xarray.Dataset``: a variable for each name, by chain and draw.

        Returns
        -------
        xarray.Dataset
            The draws, and the log density of each as its variable ``lp``.

        Raises
        ------
        ImportError
            If xarray is not installed; ArviZ brings it.
        """
        try:
            from xarray import Dataset
        except ImportError:
            raise ImportError("to_xarray needs xarray: pip install xarray") from None
        values = {**self._by_name(), "lp": self.log_density}
        chains, draws, _ = self.draws.shape
        axes = {"chain": np.arange(chains), "draw": np.arange(draws)}
        return Dataset({name: (("chain", "draw"), one) for name, one in values.items()}, axes)

    def _by_name(self) -> dict[str, HostArray]:
        return {name: self.draws[:, :, j] for j, name in enumerate(self.names)}

    _repr_html_ = preformatted

    def __repr__(self) -> str:
        """One line; ``print`` gives the table."""
        chains, draws, d = self.draws.shape
        which = "steps of a warm-up" if self.warming_up else "draws"
        return f"<Chains: {chains} of {draws} {which} of {d} numbers>"

    def __str__(self) -> str:
        """Return a table with a row for each entry, and a line on problems."""
        unknown = np.full(len(self.names), np.nan)
        rhats, errors = unknown, (unknown,) * 3
        if self.draws.shape[1] >= FEWEST:
            rhats = self.rhat if self.draws.shape[0] > 1 else unknown
            errors = self.mcse, self.ess_bulk, self.ess_tail
        width = max(len("entry"), *map(len, self.names))
        head = f"{'entry':{width}}      mean        sd      mcse     bulk     tail  R-hat"
        columns = (self.mean, self.sd, *errors, rhats)
        rows = [
            f"{name:{width}} {m:9.3g} {s:9.3g} {e:9.2g} {b:8.0f} {t:8.0f} {r:6.3f}"
            for name, m, s, e, b, t, r in zip(self.names, *columns, strict=True)
        ]
        return "\n".join([head, *rows, *self.problems()])

    def problems(self) -> list[str]:
        """Return the problems, a sentence each, such as chains that never moved."""
        sentences = []
        if self.warming_up:
            sentences.append("interrupted in the warm-up: its steps are no draws of the target")
        if self.stuck:
            which = ", ".join(map(str, self.stuck))
            sentences.append(f"never moved: chain {which}, whose draws are its start alone")
        if count := int(self.diverged.sum()):
            sentences.append(f"diverged: {count} of {self.diverged.size} paths; take shorter steps")
        return sentences
