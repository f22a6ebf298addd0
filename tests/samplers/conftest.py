"""What the tests of samplers are compared with."""

from __future__ import annotations

import importlib
import warnings
from types import ModuleType

import pytest


@pytest.fixture(scope="session")
def arviz() -> ModuleType:
    """ArviZ, whose import takes more than a second: where it is used, not in every worker."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it announces a version to come
        return importlib.import_module("arviz")
