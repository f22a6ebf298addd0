"""A kernel without arguments has the parameters that its documentation promises."""

from __future__ import annotations

import inspect

import pytest
from documented import defaults

from gpnotes.model import kernels

CLASSES = [
    one for name in kernels.__all__
    if inspect.isclass(one := getattr(kernels, name)) and defaults(one)
]  # fmt: skip


def test_most_kernels_have_defaults():
    assert len(CLASSES) > 15


@pytest.mark.parametrize("kernel", CLASSES)
def test_a_default_is_the_one_that_is_documented(kernel):
    for name, (said, there) in defaults(kernel).items():
        assert there == said, name
