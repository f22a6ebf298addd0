"""The result of one draw of an experiment: numbers by name, and picks from grids."""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

_MOST = 200  # numbers in one list: an outcome is stored for every draw


@dataclass(frozen=True)
class Pick:
    """A value that a side has picked from a grid.

    A pick at the end of its grid says that the grid was too short, and fails the claim.

    Parameters
    ----------
    value : float
        The value picked.
    grid : sequence of float
        All values on offer, at least three.
    natural : sequence of float, default ()
        Those ends of the grid beyond which there is nothing, such as one neighbour or no noise.

    Raises
    ------
    ValueError
        If the value is not on the grid, or the grid has fewer than three values.
    """

    value: float
    grid: Sequence[float]
    natural: Sequence[float] = ()

    def __post_init__(self) -> None:
        if len(set(self.grid)) < 3:
            raise ValueError(f"grid must hold three values or more; got {list(self.grid)}")
        if self.value not in self.grid:
            raise ValueError(f"value must be one of the grid; got {self.value!r}")

    @property
    def at_edge(self) -> bool:
        """Return whether the grid ends at the value, though more could lie beyond."""
        return self.value in (min(self.grid), max(self.grid)) and self.value not in self.natural


class Outcome(Mapping[str, Any]):
    """The numbers of one draw, by key or by attribute; those of a side lie one step further in.

    Parameters
    ----------
    found : mapping
        Numbers, lists of numbers and picks by their names; a mapping within holds those of a side
        or of a part.

    Raises
    ------
    ValueError
        If a number is not finite, or a value is neither of these.
    """

    def __init__(self, found: Mapping[str, object]) -> None:
        self._found = {str(name): _plain(value, str(name)) for name, value in found.items()}

    def __getitem__(self, name: str) -> Any:
        value = self._found[name]
        return value.value if isinstance(value, Pick) else value

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"the outcome has {', '.join(self)}; not {name}") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)

    def __repr__(self) -> str:
        return f"Outcome({dict(self)})"

    def numbers(self) -> dict[str, float]:
        """Every single number by its path, such as ``coverage.ears``."""
        return {
            path: float(leaf.value if isinstance(leaf, Pick) else leaf)
            for path, leaf in self._leaves()
            if not isinstance(leaf, list)
        }

    def answers(self) -> set[str]:
        """The paths of those that are a yes or a no."""
        return {path for path, leaf in self._leaves() if isinstance(leaf, bool)}

    def picks(self) -> dict[str, Pick]:
        """The picks by their paths."""
        return {path: leaf for path, leaf in self._leaves() if isinstance(leaf, Pick)}

    def stopped(self) -> list[str]:
        """The paths that end in ``converged`` and are false: ascents that had not arrived."""
        paths = self.numbers().items()
        return [path for path, value in paths if path.split(".")[-1] == "converged" and not value]

    def _leaves(self) -> Iterator[tuple[str, Any]]:
        """All that is no outcome itself, by its path."""
        for name, value in self._found.items():
            if isinstance(value, Outcome):
                yield from ((f"{name}.{path}", leaf) for path, leaf in value._leaves())
            else:
                yield name, value

    def to_json(self) -> dict[str, object]:
        """Return the numbers as plain data, to six digits: comparisons are coarser."""
        return {name: _rounded(self[name]) for name in self}


def _plain(value: object, name: str) -> object:
    """A value as an outcome holds it: bool, int, float, list, pick or outcome."""
    if isinstance(value, Pick | Outcome):
        return value
    if isinstance(value, Mapping):
        return Outcome(value)
    if hasattr(value, "tolist"):  # arrays of any library, and their scalars
        value = value.tolist()
    if isinstance(value, list | tuple):
        if len(value) > _MOST:
            raise ValueError(f"{name} must hold at most {_MOST} numbers; got {len(value)}")
        return [_plain(entry, name) for entry in value]
    if isinstance(value, bool):
        return value
    if not isinstance(value, numbers.Real) or not math.isfinite(value):
        raise ValueError(f"{name} must be a finite number; got {value!r}")
    return int(value) if isinstance(value, numbers.Integral) else float(value)


def _rounded(value: object) -> object:
    if isinstance(value, Outcome):
        return value.to_json()
    if isinstance(value, list):
        return [_rounded(entry) for entry in value]
    return float(f"{value:.6g}") if isinstance(value, float) else value
