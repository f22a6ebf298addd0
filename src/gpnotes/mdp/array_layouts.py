"""Arrays of decision processes as others lay them out, read as rows by state and action."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..ground import check as _check
from ..ground.conversion import floats
from ..ground.sparse_matrices import SparseMatrix, as_rows, interleaved, is_sparse
from ..ground.xp import Array, HostVector, Matrix, Stack, array_namespace, as_array, as_host, device

__all__ = ["LAYOUTS", "laid_out"]

LAYOUTS = ("state first", "action first")  # (S, A, S) and (A, S, S)


def laid_out(
    transitions: Any, rewards: Any, layout: str | None, available: Array | None
) -> tuple[Matrix, Matrix]:
    """Read transitions and rewards, as `MDP.from_arrays` takes them.

    They come back as (S·A, S), dense or sparse, and (S, A), −inf for actions not available.
    """
    if layout is not None:
        _check.choice(layout, "layout", LAYOUTS)
    transitions, rewards = _as_list(transitions), _as_list(rewards)
    if _is_one_each(transitions):
        P = _interleaved(transitions, "transitions", None)
        actions = len(transitions)
    else:
        stack = _check.floating(floats(transitions, "transitions"), "transitions")
        _, actions, _ = sizes = _state_first(stack.shape, layout, "transitions")
        P = _rows(stack, sizes)
    r = _expected(P, rewards, actions, layout)
    return P, r if available is None else _masked(r, available)


def _as_list(given: Any) -> Any:
    """An array of objects, as pymdptoolbox takes matrices, as a list of them."""
    is_objects = isinstance(given, np.ndarray) and given.dtype == object and given.ndim == 1
    return list(given) if is_objects else given


def _is_one_each(given: Any) -> bool:
    """Return True for a list of matrices, one for each action."""
    is_list = isinstance(given, list | tuple)
    return is_list and all(getattr(matrix, "ndim", 0) == 2 for matrix in given)


def _interleaved(matrices: Sequence[Matrix], name: str, states: int | None) -> Matrix:
    """The rows by state and action of one matrix an action."""
    if not matrices:
        raise ValueError(f"{name} must hold a matrix for each action; got none")
    is_list_sparse = any(map(is_sparse, matrices))
    read = as_rows if is_list_sparse else _dense
    rows: Any = [read(matrix, f"{name}[{a}]") for a, matrix in enumerate(matrices)]
    shapes = {tuple(matrix.shape) for matrix in rows}
    size = next(iter(shapes))[0] if states is None else states
    if shapes != {(size, size)}:
        raise ValueError(
            f"{name} must be square matrices of one size, one for each action; got {shapes}"
        )
    if is_list_sparse:
        return interleaved(rows)
    for a, matrix in enumerate(rows):
        _check.alike(matrix, f"{name}[{a}]", rows[0], f"{name}[0]")
    stack = array_namespace(rows[0]).stack(rows, axis=1)
    return array_namespace(stack).reshape(stack, (-1, size))


def _dense(matrix: Matrix, name: str) -> Matrix:
    return _check.floating(floats(matrix, name), name)


def _state_first(
    shape: tuple[int, ...], layout: str | None, name: str, sizes: tuple[int, int] | None = None
) -> tuple[int, int, bool]:
    """The numbers of states and of actions of an array of three axes, and whether states are first.

    Parameters
    ----------
    sizes : tuple of two int, optional
        The numbers that there must be.
    """
    found = []
    if len(shape) == 3 and 0 not in shape:
        for kind, (states, actions) in zip(LAYOUTS, (shape[:2], shape[1::-1]), strict=True):
            fits = shape[2] == states and sizes in (None, (states, actions))
            if fits and layout in (None, kind):
                found.append((states, actions, kind == LAYOUTS[0]))
    if not found:
        S, A = sizes or ("S", "A")
        wanted = [f"({S}, {A}, {S})", f"({A}, {S}, {S})"]
        if layout is not None:
            wanted = [f"{wanted[LAYOUTS.index(layout)]} where layout is {layout!r}"]
        if sizes is not None:
            wanted = [f"({S}, {A})", f"({S},)", *wanted]
        *others, last = wanted
        raise ValueError(
            f"{name} must have shape {', '.join(others)}{' or ' if others else ''}{last}; "
            f"got {tuple(shape)}"
        )
    if len(found) == 2 and shape[0] > 1:
        raise ValueError(
            f"layout must be given, as there are as many actions as states, and {name} of shape "
            f"{tuple(shape)} may have either first: {LAYOUTS[0]!r} (S, A, S), as QuantEcon has it, "
            f"or {LAYOUTS[1]!r} (A, S, S), as pymdptoolbox has it"
        )
    return found[0]


def _rows(stack: Stack, sizes: tuple[int, int, bool]) -> Matrix:
    """An array of three axes as rows by state and action."""
    xp = array_namespace(stack)
    states, _, is_state_first = sizes
    return xp.reshape(stack if is_state_first else xp.permute_dims(stack, (1, 0, 2)), (-1, states))


def _expected(P: Matrix, rewards: Any, actions: int, layout: str | None) -> Matrix:
    """The expected rewards (S, A) of rewards by state, by action too, or by next state too."""
    states = P.shape[1]
    sparse = is_sparse(P)
    if _is_one_each(rewards):
        if len(rewards) != actions:
            raise ValueError(
                f"rewards must hold a matrix for each of {actions} actions; got {len(rewards)}"
            )
        by_next = _interleaved(rewards, "rewards", states)
        if is_sparse(by_next) and not sparse:
            by_next = as_array(by_next.toarray(), P)
        return _mean(P, by_next, (states, actions))
    r = _check.floating(floats(rewards, "rewards", None if sparse else P), "rewards")
    if not sparse:
        _check.alike(r, "rewards", P, "transitions")
    if r.shape == (states, actions):
        return r
    xp = array_namespace(r)
    if r.shape == (states,):
        return xp.asarray(xp.broadcast_to(r[:, None], (states, actions)), copy=True)
    sizes = _state_first(r.shape, layout, "rewards", (states, actions))
    return _mean(P, _rows(r, sizes), (states, actions))


def _mean(P: Matrix, r: Matrix, shape: tuple[int, int]) -> Matrix:
    """The expected rewards (S, A) of rewards (S·A, S) by next state.

    They are −inf where a next state that may follow earns −inf, or all do; states that cannot
    follow do not count.
    """
    if is_sparse(P):
        return _sparse_mean(P, r, shape)
    xp = array_namespace(r)
    lost = r == -math.inf
    if not bool(xp.any(lost)):
        return xp.reshape(xp.vecdot(P, _check.finite(r, "rewards")), shape)
    kept = _check.finite(xp.where(lost, xp.zeros_like(r), r), "rewards")
    gone = xp.any(lost & (P > 0.0), axis=1) | xp.all(lost, axis=1)
    mean = xp.vecdot(P, kept)
    return xp.reshape(xp.where(gone, xp.full_like(mean, -math.inf), mean), shape)


def _sparse_mean(P: SparseMatrix, r: Matrix, shape: tuple[int, int]) -> Matrix:
    """`_mean` for sparse transitions, and rewards of either kind."""
    given = r.data if is_sparse(r) else r
    xp = array_namespace(given)
    lost = given == -math.inf
    finite = _check.finite(xp.where(lost, xp.zeros_like(given), given), "rewards")
    mean = _row_sums(P, _of(r, finite))
    if bool(xp.any(lost)):
        lost = _of(r, xp.astype(lost, given.dtype))
        gone = (_row_sums(P > 0.0, lost) > 0.0) | (np.asarray(lost.sum(axis=1)) == P.shape[1])
        mean = np.where(gone, -math.inf, mean)
    return as_array(np.reshape(mean, shape), given)


def _of(r: Matrix, entries: Array) -> Any:
    """Entries in the places of those of r."""
    return type(r)((entries, r.indices, r.indptr), shape=r.shape) if is_sparse(r) else entries


def _row_sums(P: SparseMatrix, r: Matrix) -> HostVector:
    return np.asarray(P.multiply(r if is_sparse(r) else as_host(r)).sum(axis=1))


def _masked(rewards: Matrix, available: Array) -> Matrix:
    """The rewards, −inf for actions that a mask excludes."""
    mask: Any = np.asarray(available) if isinstance(available, list | tuple) else available
    xp = array_namespace(_check.plain(_check.array(mask, "available"), "available"))
    if not xp.isdtype(mask.dtype, "bool"):
        raise TypeError(f"available must hold booleans; got {mask.dtype}")
    if mask.shape != rewards.shape:
        raise ValueError(
            f"available must have shape {tuple(rewards.shape)}, states and actions; got "
            f"{tuple(mask.shape)}"
        )
    if xp is not array_namespace(rewards) or device(mask) != device(rewards):
        raise TypeError("available must have the namespace and the device of the rewards")
    return xp.where(mask, rewards, xp.full_like(rewards, -math.inf))
