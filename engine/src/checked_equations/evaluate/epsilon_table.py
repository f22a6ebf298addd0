"""Wynn's epsilon table, whose columns tend to the limit of a sequence.

Weniger (1989), *Nonlinear sequence transformations*, section 4.2.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence


def even_columns(values: Sequence[complex], settled: float = 0.0) -> list[list[complex]]:
    """The columns of the epsilon table that tend to the limit of `values`, themselves the first.

    It ends where two entries of a column are the same, or `settled`: no further apart than that,
    relative to the last.
    """
    table = [[0j] * (len(values) + 1), list(values)]
    while len(table[-1]) > 1:
        older, newer = table[-2], table[-1]
        gaps = [b - a for a, b in itertools.pairwise(newer)]
        least = settled * max(abs(newer[-1]), 1e-300)
        if any(abs(gap) <= least for gap in gaps):
            break
        table.append([older[i + 1] + 1 / gap for i, gap in enumerate(gaps)])
    return table[1::2]
