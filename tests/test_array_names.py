"""Which functions of an array library the package calls, and what a library has against that."""

from __future__ import annotations

import ast
from pathlib import Path

import array_names
import pytest

pytestmark = pytest.mark.slow
SOURCE = """
import cupy
from cupyx.scipy.special import log_ndtr as tail

def f(x):
    xp = array_namespace(x)
    q = xp.linalg.qr(x).R + array_namespace(x).sum(x, axis=0)
    return tail(q) + cupy.asnumpy(x) + other.sum(x)
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


@pytest.mark.parametrize(
    ("call", "problem"),
    [
        ("xp.sum(x, axis=0)", None),
        ("xp.sum(x, axes=0)", "got an unexpected keyword argument 'axes'"),
        ("xp.summed(x)", "xp.summed does not exist in numpy"),
        ("xp.sum(*x, **y)", None),
        ("xp.exp(x)", None),
    ],
)
def test_what_a_library_has_not_is_named(call: str, problem: str | None) -> None:
    (use,) = array_names.uses_in(call, Path("here.py"))
    found = array_names.missing(use, "numpy")
    assert found is None if problem is None else problem in str(found)


def test_a_signature_is_read_from_the_source_where_nothing_can_be_imported() -> None:
    function = ast.parse("def f(a, b=1, *, c=2): ...").body[0]
    assert isinstance(function, ast.FunctionDef)
    assert [*array_names._written(function.args).parameters] == ["a", "b", "c"]
    assert isinstance(array_names._defined("json", "loads"), ast.FunctionDef)
    assert isinstance(array_names._defined("json", "JSONDecoder"), ast.ClassDef)
    with pytest.raises(AttributeError):
        array_names._defined("json", "no_such_name")


def test_arrays_of_numpy_have_the_members_that_the_package_uses() -> None:
    assert {"shape", "device", "__matmul__"} <= set(array_names.members())


def test_all_that_the_package_calls_exists_in_numpy(capsys: pytest.CaptureFixture[str]) -> None:
    assert array_names.compare("numpy") == []
    assert "names in" in capsys.readouterr().out
