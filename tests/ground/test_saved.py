"""Names of classes in files: one class for each, which may be loaded again."""

from __future__ import annotations

import pytest

from gpnotes.ground import saved


def test_a_tag_finds_its_class_and_a_class_its_tag(monkeypatch):
    monkeypatch.setattr(saved, "_TAGGED", {})
    kinds = [type("Kept", (), {}), type("Other", (), {})]
    assert saved.class_of("kept") is None
    assert saved.tag_of(kinds[0]) is None
    assert saved.saved_as("kept")(kinds[0]) is kinds[0]
    saved.saved_as("other")(kinds[1])
    assert [saved.class_of(tag) for tag in ("kept", "other")] == kinds
    assert [saved.tag_of(kind) for kind in kinds] == ["kept", "other"]
    again = type("Kept", (), {})  # of a module that is loaded once more
    saved.saved_as("kept")(again)
    assert saved.class_of("kept") is again
    with pytest.raises(ValueError, match="tag must be of one class; 'kept' is that of Kept"):
        saved.saved_as("kept")(kinds[1])
