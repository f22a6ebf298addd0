"""Modules of a package are found when they are asked for, and their own errors are heard."""

from __future__ import annotations

import sys

import pytest

from gpnotes.ground.lazy import lazy_modules


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package of two modules; one of them needs a third, which there is not."""
    place = tmp_path / "lazy_example"
    place.mkdir()
    (place / "__init__.py").write_text("__all__ = ['zeta']\n", encoding="utf-8")
    (place / "whole.py").write_text("value = 3\n", encoding="utf-8")
    (place / "broken.py").write_text("import lazy_example.missing\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    yield "lazy_example"
    for name in [name for name in sys.modules if name.startswith("lazy_example")]:
        del sys.modules[name]


def test_a_module_is_loaded_by_its_name_or_its_error_is_raised(package):
    load, _ = lazy_modules(package)
    assert load("whole").value == 3
    with pytest.raises(AttributeError, match="module 'lazy_example' has no attribute 'missing'"):
        load("missing")
    with pytest.raises(ModuleNotFoundError, match=r"No module named 'lazy_example\.missing'"):
        load("broken")


def test_modules_and_public_names_are_listed_in_order(package):
    load, listed = lazy_modules(package)
    load("whole")
    assert [name for name in listed() if not name.startswith("__")] == ["broken", "whole", "zeta"]
    assert listed() == sorted(listed())
    assert "__name__" in listed()
