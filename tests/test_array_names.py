"""Which functions of an array library the package calls, and what a library has against that."""

from __future__ import annotations

from pathlib import Path

import array_names
import cupy_stand_in
import pytest

pytestmark = pytest.mark.slow
SOURCE = """
import cupy
from cupyx.scipy.special import log_ndtr as tail

def f(x):
    xp = array_namespace(x)
    q = xp.linalg.qr(x).R + array_namespace(x).sum(x, axis=0)
    return tail(q) + cupy.asnumpy(x) + other.sum(x)

def g(x):
    tail = x.of_another_library
    return tail(x, upper=True)
"""


def test_uses_are_chains_of_the_namespace_and_what_is_imported() -> None:
    uses = array_names.uses_in(SOURCE, Path("here.py"))
    assert {(use.module, use.name) for use in uses if use.call is not None} == {
        ("", "linalg.qr"),
        ("", "sum"),
        ("cupyx.scipy.special", "log_ndtr"),
        ("cupy", "asnumpy"),
    }
    assert "here.py:7: xp.linalg.qr" in {use.said for use in uses}
    assert sum(use.name == "log_ndtr" and use.call is not None for use in uses) == 1


@pytest.mark.parametrize(
    ("call", "problem"),
    [
        ("xp.sum(x, axis=0)", "None"),
        ("xp.sum(x, axes=0)", "got an unexpected keyword argument 'axes'"),
        ("xp.summed(x)", "xp.summed does not exist in numpy"),
    ],
)
def test_what_a_library_has_not_is_named(call: str, problem: str) -> None:
    (use,) = array_names.uses_in(call, Path("here.py"))
    assert problem in str(array_names.missing(use, "numpy"))


def test_all_that_the_package_calls_exists_in_numpy() -> None:
    assert array_names.compare("numpy") == []


def test_the_stand_in_is_like_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without CuPy: each of its names can be compared, constants and namespaces too."""
    mine = cupy_stand_in.modules()
    monkeypatch.setattr(array_names, "looked_up", lambda module, name: getattr(mine[module], name))
    names = [(module, name) for module in mine for name in mine[module].__all__]
    assert len(names) > 100
    assert [array_names._unlike(*pair, mine) for pair in names] == [None] * len(names)
