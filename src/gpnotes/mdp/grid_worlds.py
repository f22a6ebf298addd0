"""Grid worlds: maps of cells, drawn in letters, to walk on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from types import MappingProxyType

import numpy as np

from ..ground import check as _check
from ..ground.sparse_matrices import from_entries
from ..ground.xp import HostMatrix, HostVector, array_namespace, to_numpy
from .decision_process import MDP

__all__ = ["MOVES", "GridWorld"]

MOVES = ((-1, 0), (0, 1), (1, 0), (0, -1))  # up, right, down, left

_DEFAULT_REWARDS = MappingProxyType({"G": 1.0, "X": -1.0})


@dataclass(frozen=True)
class GridWorld:
    """A map of cells, in which four actions go up, right, down and left.

    Who would leave the map or enter a wall stays where he is.

    Parameters
    ----------
    rows : tuple of str
        The map, one string a row, all of one length. ``#`` is a wall; every other letter is a
        cell: ``S`` a start, ``G`` a goal and ``X`` a pit, which end the walk, ``C`` a cliff, from
        which one is put back to the start. Others are as `rewards` says.
    rewards : mapping, default ``{"G": 1.0, "X": -1.0}``
        The reward for entering a cell, by its letter; zero for letters that are not in it.
    step_reward : float, default 0
        The reward of each step, on top.
    slip : float, default 0
        The probability that a step goes sideways instead, half of it to either side.
    wind : tuple of int, default ()
        How many cells each column blows up whoever steps from it, cell by cell as far as there is
        no wall; negative numbers blow down. Empty for no wind.
    terminal : str, default ``"GX"``
        The letters that end the walk.

    Examples
    --------
    >>> grid = GridWorld(("S.G", ".#X"), step_reward=-0.1)
    >>> grid.num_states, grid.state_at(0, 2)
    (5, 2)
    >>> mdp = grid.mdp(discount=1.0)
    >>> mdp.rewards[1]
    array([-0.1,  0.9, -0.1, -0.1])
    """

    rows: tuple[str, ...]
    rewards: Mapping[str, float] = field(default_factory=lambda: _DEFAULT_REWARDS)
    step_reward: float = 0.0
    slip: float = 0.0
    wind: tuple[int, ...] = ()
    terminal: str = "GX"

    def __post_init__(self) -> None:
        object.__setattr__(self, "rows", _check_rows(self.rows))
        object.__setattr__(self, "rewards", _check_rewards(self.rewards))
        object.__setattr__(self, "step_reward", _check.number(self.step_reward, "step_reward"))
        slip = _check.number(self.slip, "slip")
        if not 0.0 <= slip <= 1.0:
            raise ValueError(f"slip must be a probability from 0 to 1; got {slip}")
        object.__setattr__(self, "slip", slip)
        object.__setattr__(self, "wind", _check_wind(self.wind, len(self.rows[0])))
        if not isinstance(self.terminal, str):
            got = _check.kind_of(self.terminal)
            raise TypeError(f"terminal must be a string of letters; got {got}")
        letters = "".join(self.rows)
        if "C" in letters and letters.count("S") != 1:
            raise ValueError(
                f"rows must have one S for the cliff C to put back to; got {letters.count('S')}"
            )

    def __reduce__(self) -> tuple[type[GridWorld], tuple[object, ...]]:
        """Pickle the rewards as a dict, since their read-only view cannot be pickled."""
        values = {item.name: getattr(self, item.name) for item in fields(self)}
        return type(self), tuple((values | {"rewards": dict(self.rewards)}).values())

    @cached_property
    def cells(self) -> HostMatrix:
        """The row and the column of each state (S, 2), cell by cell without the walls."""
        return np.argwhere(self._letters != "#")

    @cached_property
    def _letters(self) -> HostMatrix:
        return np.asarray([list(line) for line in self.rows])

    @cached_property
    def _state_numbers(self) -> HostMatrix:
        states = np.full(self._letters.shape, -1)
        states[self._letters != "#"] = np.arange(len(self.cells))
        return states

    @property
    def num_states(self) -> int:
        """The number of states."""
        return len(self.cells)

    def state_at(self, row: int, column: int) -> int:
        """The state of a cell.

        Parameters
        ----------
        row, column : int
            The cell, from 0.
        """
        height, width = self._state_numbers.shape
        row = _check.whole(row, "row", 0, height - 1)
        column = _check.whole(column, "column", 0, width - 1)
        if self._state_numbers[row, column] < 0:
            raise ValueError(f"row and column must be those of a cell; ({row}, {column}) is a wall")
        return int(self._state_numbers[row, column])

    @property
    def start(self) -> HostVector:
        """The probabilities of the first state, the same for each ``S``, or for all cells."""
        starts = self._letters[tuple(self.cells.T)] == "S"
        starts = starts if starts.any() else ~self._is_terminal
        return starts / np.sum(starts)

    @property
    def _is_terminal(self) -> HostVector:
        return np.isin(self._letters[tuple(self.cells.T)], list(self.terminal))

    def to_map(self, values: HostVector) -> HostMatrix:
        """Return numbers of the states where they stand on the map.

        Parameters
        ----------
        values : HostVector, shape (S,)
            A number for each state.

        Returns
        -------
        HostMatrix
            The map of them, NaN in walls.
        """
        _check.plain(_check.array(values, "values"), "values")
        kinds = ("real floating", "integral", "bool")
        if not array_namespace(values).isdtype(values.dtype, kinds):
            raise TypeError(f"values must hold real numbers; got {values.dtype}")
        if values.shape != (self.num_states,):
            raise ValueError(f"values must have shape ({self.num_states},); got {values.shape}")
        map_ = np.full(self._state_numbers.shape, np.nan)
        map_[tuple(self.cells.T)] = to_numpy(values)
        return map_

    def mdp(self, discount: float) -> MDP:
        """Return the process of the map.

        Parameters
        ----------
        discount : float
            The discount, from 0 to 1.

        Returns
        -------
        MDP
            The process, sparse: at most three entries a row.
        """
        S, A = self.num_states, len(MOVES)
        turns = ((0, 1.0 - self.slip), (1, 0.5 * self.slip), (-1, 0.5 * self.slip))
        entry_rewards = self._entry_rewards
        terminal = self._is_terminal
        rewards = np.zeros((S, A))
        # What ends the walk stays with one entry of 1: shares need not add up to it exactly.
        free, ends = np.flatnonzero(~terminal), np.flatnonzero(terminal)
        entries = [(np.ones(ends.size), ends * A + action, ends) for action in range(A)]
        for action in range(A):
            for turn, weight in turns:
                if weight == 0.0:
                    continue
                entered, to = self._targets(MOVES[(action + turn) % A])
                rewards[:, action] += weight * entry_rewards[entered]
                entries.append((np.full(free.size, weight), free * A + action, to[free]))
        rewards[terminal] = 0.0
        p, rows, columns = (np.concatenate(part) for part in zip(*entries, strict=True))
        return MDP(from_entries(p, rows, columns, (S * A, S)), rewards, discount)

    @property
    def _entry_rewards(self) -> HostVector:
        """The reward for entering each cell, that of the step included."""
        letters = self._letters[tuple(self.cells.T)]
        return np.asarray([self.step_reward + self.rewards.get(letter, 0.0) for letter in letters])

    def _targets(self, move: tuple[int, int]) -> tuple[HostVector, HostVector]:
        """The state that a move, and the wind after it, enters from each; and where one then is."""
        entered = self._shift(np.arange(self.num_states), np.tile(move, (self.num_states, 1)))
        if self.wind:
            strength = np.asarray(self.wind)[self.cells[:, 1]]
            for cell in range(int(np.max(np.abs(strength)))):
                up = np.where(np.abs(strength) > cell, -np.sign(strength), 0)
                entered = self._shift(entered, np.stack([up, np.zeros_like(up)], axis=1))
        letters = self._letters[tuple(self.cells.T)]
        if not np.any(letters == "C"):
            return entered, entered
        start = int(np.flatnonzero(letters == "S")[0])
        return entered, np.where(letters[entered] == "C", start, entered)

    def _shift(self, states: HostVector, moves: HostMatrix) -> HostVector:
        """The states one cell further, where there is one."""
        row, column = (self.cells[states] + moves).T
        height, width = self._state_numbers.shape
        inside = (row >= 0) & (row < height) & (column >= 0) & (column < width)
        targets = self._state_numbers[np.where(inside, row, 0), np.where(inside, column, 0)]
        return np.where(inside & (targets >= 0), targets, states)


def _check_rows(rows: tuple[str, ...]) -> tuple[str, ...]:
    if not isinstance(rows, tuple | list) or not all(isinstance(line, str) for line in rows):
        raise TypeError(f"rows must be a tuple of strings, the map; got {_check.kind_of(rows)}")
    if len({len(line) for line in rows}) != 1 or set("".join(rows)) <= {"#"}:
        raise ValueError(
            f"rows must be of one length and have a cell, not walls alone; got {rows!r}"
        )
    return tuple(rows)


def _check_rewards(rewards: Mapping[str, float]) -> Mapping[str, float]:
    if not isinstance(rewards, Mapping):
        raise TypeError(f"rewards must be a mapping of letters; got {_check.kind_of(rewards)}")
    wrong = [letter for letter in rewards if not (isinstance(letter, str) and len(letter) == 1)]
    if wrong:
        raise TypeError(f"rewards must be a mapping of single letters; got {wrong[0]!r}")
    checked = {letter: _check.number(r, f"rewards[{letter!r}]") for letter, r in rewards.items()}
    return MappingProxyType(checked)


def _check_wind(wind: tuple[int, ...], columns: int) -> tuple[int, ...]:
    if not isinstance(wind, tuple | list):
        raise TypeError(f"wind must be a tuple of whole numbers; got {_check.kind_of(wind)}")
    winds = tuple(_check.whole(cells, f"wind[{i}]", None) for i, cells in enumerate(wind))
    if len(winds) not in (0, columns):
        raise ValueError(f"wind must have a number for each of {columns} columns; got {len(winds)}")
    return winds
