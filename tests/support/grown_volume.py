"""What each of many points adds to the volume that a front dominates, all at once."""

from __future__ import annotations

import numpy as np


def growths(front: np.ndarray, reference: np.ndarray, points: np.ndarray) -> np.ndarray:
    """What each point (k, m) adds alone, (k,), by the cells of the grid that a front spans."""
    ends = np.minimum(front, reference)
    edges = [np.array([-np.inf, *np.sort(f), r]) for f, r in zip(ends.T, reference, strict=True)]
    lower, upper = (
        np.stack(np.meshgrid(*sides, indexing="ij"), axis=-1).reshape(-1, front.shape[1])
        for sides in ([e[:-1] for e in edges], [e[1:] for e in edges])
    )
    free = ~np.any(np.all(front[:, None, :] <= lower, axis=2), axis=0)
    sides = upper[free] - np.maximum(lower[free], points[:, None, :])
    return np.sum(np.prod(np.clip(sides, 0.0, None), axis=2), axis=1)
