"""Exponents of a block less one, in one buffer, against the plain operations."""

from __future__ import annotations

import numpy as np
import pytest

from gpnotes.fast.exponentials import exponentials_less_one

SIZE = 3 * 5 * 7


@pytest.fixture
def stacks(rng):
    return rng.normal(size=(3, 5, 2)), rng.normal(size=(3, 2, 7))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("top", [None, 0.5])
@pytest.mark.parametrize("wide", [False, True])
def test_blocks_of_any_shape_that_fit_are_those_of_plain_operations(stacks, dtype, top, wide):
    a, b = (one.astype(dtype) for one in stacks)
    block = exponentials_less_one(SIZE, top, wide, a)
    exact = {"rtol": 1e-5 if dtype == np.float32 else 1e-12, "atol": np.finfo(dtype).eps}
    for some, rows, columns in ((3, 5, 7), (2, 4, 6), (1, 1, 1)):
        left, right = a[:some, :rows], b[:some, :, :columns]
        exponents = left @ right
        found = block(left, right)
        assert found.dtype == dtype
        wanted = np.expm1(exponents if top is None else np.minimum(exponents, top))
        np.testing.assert_allclose(found, wanted, **exact)
    assert top is None or np.max(block(a, b)) == pytest.approx(np.expm1(top), rel=1e-6)


def test_only_those_that_are_not_wide_keep_the_digits_of_small_exponents(stacks):
    a, b = 1e-9 * stacks[0], stacks[1]
    wanted = np.expm1(a @ b)
    np.testing.assert_allclose(exponentials_less_one(SIZE, None, False, a)(a, b), wanted, 1e-12)
    assert np.max(abs(exponentials_less_one(SIZE, None, True, a)(a, b) / wanted - 1.0)) > 1e-9


def test_an_answer_lasts_until_the_next_call(stacks):
    block = exponentials_less_one(SIZE, None, False, stacks[0])
    first = block(*stacks)
    assert np.shares_memory(first, block(-stacks[0], stacks[1]))
    np.testing.assert_allclose(first, np.expm1(-stacks[0] @ stacks[1]), rtol=1e-12)
