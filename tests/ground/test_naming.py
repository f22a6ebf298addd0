"""Names of parameters and entries: those that are taken, and what is said of the others."""

from __future__ import annotations

import pytest

from gpnotes.ground import naming

THERE = {"b": ["b"], "a": ["a[0, 0]", "a[0, 1]"], "long": [f"long[{i}]" for i in range(7)]}


def test_entries_are_named_by_their_places_and_spelt_in_one_way():
    assert naming.entry_names("b", ()) == ["b"]
    assert naming.entry_names("a", (1, 2)) == THERE["a"]
    assert naming.spelt("a[0,1]") == naming.spelt("a[ 0 ,  1 ]") == "a[0, 1]"
    assert naming.spelt("a[0, 1].b") == "a[0, 1].b"
    assert [naming.and_more(count) for count in range(4)] == ["", "", " and 1 more", " and 2 more"]


def test_a_key_stands_for_its_array_or_for_one_entry_of_it():
    found = naming.given_by_entry("bounds", {"a": 1, "b": 2, "long[3]": 3}, THERE)
    assert found == {"a[0, 0]": "a", "a[0, 1]": "a", "b": "b", "long[3]": "long[3]"}
    found = naming.given_by_entry("bounds", {"a[0,1]": 1}, THERE, {"a[0, 1]": "b"})
    assert found == {"b": "a[0,1]"}


def test_two_keys_for_one_entry_are_refused_by_both_their_names():
    with pytest.raises(ValueError, match=r"^bounds must name a\[0, 1\] once; got 'a', 'a\[0,1\]'$"):
        naming.given_by_entry("bounds", {"a": 1, "a[0,1]": 2}, THERE)
    tied = {"a[0, 0]": "b", "a[0, 1]": "b"}
    assert naming.given_by_entry("fixed", {"a": 1}, THERE, tied) == {"b": "a"}
    said = r"^fixed must name b, tied to a\[0, 0\], a\[0, 1\], once; got 'a', 'b'$"
    with pytest.raises(ValueError, match=said):
        naming.given_by_entry("fixed", {"a": 1, "b": 2}, THERE, tied)


def test_unknown_names_are_met_with_those_that_there_are_in_order():
    with pytest.raises(ValueError, match="bounds name") as caught:
        naming.given_by_entry("bounds", {"z": 1, "a[0, 2]": 2, "b": 3}, THERE)
    shown = ["a", "a[0, 0]", "a[0, 1]", "b", "long", "long[0]", "long[1]", "..."]
    assert str(caught.value) == (
        f"bounds name ['a[0, 2]', 'z']; the parameters are {shown}; 'a[0, 2]' is near 'a[0, 1]'"
    )


def test_six_entries_are_shown_and_one_more_is_not():
    said = {many: [f"p[{i}]" for i in range(many)] for many in (6, 7)}
    texts = [str(naming.unknown("no {!r} in {}", ["q"], {"p": some})) for some in said.values()]
    assert texts[0] == f"no 'q' in {['p', *said[6]]}"
    assert texts[1] == "no 'q' in ['p', 'p[0]', 'p[1]', '...']"


def test_names_cover_what_is_below_them_and_what_is_held_is_left_out():
    assert naming.covered(["kernel", "b"], "kernel.lengthscale")
    assert naming.covered(["kernel"], "kernel")
    assert not naming.covered(["kernel.length"], "kernel.lengthscale")
    assert naming.path_of("a[0, 1]") == "a"
    assert naming.without(("X", "y"), None) == ("X", "y")
    assert naming.without(("X", "y"), ["y"]) == ("X",)
    assert naming.left(["a", "b", "c"], ["b"]) == (0, 2)
    assert naming.require_names(("a",)) == ("a",)
    for wrong in ("a", 3):
        with pytest.raises(TypeError, match=f"fixed must be a collection of names; got {wrong!r}"):
            naming.require_names(wrong)
