"""The panels of a picture, found by the blank strips between them.

A figure of three panels is unreadable at a third of its breadth; one of its panels is not. Between
two panels a strip is blank from top to bottom, and so is one between the numbers of an axis and its
name: what is narrow belongs to what is nearest, and a name rather to what stands after it.
"""

from itertools import pairwise

import numpy as np

BLANK = 250  # of 255: the sheet is white, or nearly
NAME = 16  # pixels: what is narrower is a line of words
LEAST = 0.15, 0.25  # of the breadth and of the height: what is narrower is no panel


def panels(image):
    """Return the boxes of the panels, row by row, as `crop` takes them; at least one."""
    inked = np.asarray(image.convert("L")) < BLANK
    across, down = LEAST
    return [
        (left, top, right, bottom)
        for top, bottom in strips(inked.any(axis=1), down)
        for left, right in strips(inked[top:bottom].any(axis=0), across)
    ]


def strips(inked, least):
    """Return the ends of each inked strip, none narrower than a share of all."""
    turns = np.flatnonzero(np.diff(np.concatenate([[False], inked, [False]]).astype(int)))
    found = list(map(tuple, turns.reshape(-1, 2).tolist()))
    narrow = least * inked.size
    while gaps := [
        ((after[0] - before[1]) * (2 if after[1] - after[0] < NAME else 1), i)
        for i, (before, after) in enumerate(pairwise(found))
        if min(before[1] - before[0], after[1] - after[0]) < narrow
    ]:
        i = min(gaps)[1]
        found[i : i + 2] = [(found[i][0], found[i + 1][1])]
    return found
