"""A warning names the line of whoever called the package."""

from __future__ import annotations

from functools import singledispatch
from pathlib import Path

import pytest

import gpnotes
from gpnotes.ground.caller_warnings import warn_caller


def within_the_package(source):
    """The function of a source, as if it stood in a module of the package."""
    made = {}
    place = Path(gpnotes.__file__).parent / "made.py"
    exec(compile(source, str(place), "exec"), made)
    return made["inside"]


DIRECT = "def inside(warn): warn('said', UserWarning)"
DEEP = "def inside(warn): (lambda: warn('said', UserWarning))()"
HELD = """
from contextlib import contextmanager

def inside(warn):
    @contextmanager
    def held():
        yield
        warn('said', UserWarning)
    with held():
        pass
"""


@pytest.mark.parametrize("source", [DIRECT, DEEP, HELD])
@pytest.mark.parametrize("wrapped", [lambda function: function, singledispatch])
def test_the_line_named_is_outside_of_the_package_however_deep_inside_it_arises(source, wrapped):
    inside = wrapped(within_the_package(source))
    with pytest.warns(UserWarning, match="^said$") as told:
        inside(warn_caller)
    assert [one.filename for one in told] == [__file__]


def test_the_line_named_is_the_nearest():
    def own():
        warn_caller("said", UserWarning)

    inside = within_the_package("def inside(function): function()")
    with pytest.warns(UserWarning, match="said") as told:
        inside(own)
    assert [one.lineno for one in told] == [own.__code__.co_firstlineno + 1]
