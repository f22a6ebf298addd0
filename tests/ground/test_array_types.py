"""What the types of signatures ask of arrays and namespaces is there, on every backend."""

from __future__ import annotations

from types import FunctionType

from gpnotes.ground.array_types import Array, LinearAlgebra, Namespace
from gpnotes.ground.xp import array_namespace


def members(protocol: type) -> list[str]:
    """The names that a protocol declares: methods, properties and annotated attributes."""
    declared = {
        name
        for name, thing in vars(protocol).items()
        if isinstance(thing, FunctionType | property) and thing.__doc__ is None
    }
    return sorted((declared | set(protocol.__annotations__)) - {"__init__", "__subclasshook__"})


def missing(protocol: type, thing: object) -> list[str]:
    return [name for name in members(protocol) if not hasattr(thing, name)]


def test_an_array_has_the_members_of_the_protocol(space):
    assert not missing(Array, space.asarray([[1.0, 2.0]]))


def test_a_namespace_has_the_functions_of_the_protocol(space):
    xp = array_namespace(space.asarray([1.0]))
    assert set(missing(Namespace, xp)) <= (set() if space.double else {"float64"})
    assert not missing(LinearAlgebra, xp.linalg)


def test_the_members_are_told():
    assert {"shape", "__matmul__", "__setitem__"} <= set(members(Array))
    assert {"sum", "float64", "linalg"} <= set(members(Namespace))
