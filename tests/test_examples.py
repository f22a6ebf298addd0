"""Every example in a docstring runs and says what it prints."""

import doctest
import importlib
import pkgutil

import pytest

import gpnotes


def modules():
    found = pkgutil.walk_packages(gpnotes.__path__, "gpnotes.")
    return [one.name for one in found if "equations" not in one.name and "plot" not in one.name]


@pytest.mark.parametrize("name", modules())
def test_examples(name):
    outcome = doctest.testmod(importlib.import_module(name), optionflags=doctest.ELLIPSIS)
    assert outcome.failed == 0
