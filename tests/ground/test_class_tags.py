"""Names of classes in files: one class for each, which may be loaded again."""

from __future__ import annotations

import pytest

from gpnotes.ground import class_tags


def test_a_tag_finds_its_class_and_a_class_its_tag(monkeypatch):
    monkeypatch.setattr(class_tags, "_TAGGED", {})
    kinds = [type("Kept", (), {}), type("Other", (), {})]
    assert class_tags.class_of("kept") is None
    assert class_tags.tag_of(kinds[0]) is None
    assert class_tags.saved_as("kept")(kinds[0]) is kinds[0]
    class_tags.saved_as("other")(kinds[1])
    assert [class_tags.class_of(tag) for tag in ("kept", "other")] == kinds
    assert [class_tags.tag_of(kind) for kind in kinds] == ["kept", "other"]
    again = type("Kept", (), {})  # of a module that is loaded once more
    class_tags.saved_as("kept")(again)
    assert class_tags.class_of("kept") is again
    with pytest.raises(ValueError, match="tag must be of one class; 'kept' is that of Kept"):
        class_tags.saved_as("kept")(kinds[1])
