"""Pages that are read at the same time do not stop each other over the cache."""

from __future__ import annotations

from typing import Any

import pytest

pytestmark = pytest.mark.book

# A page with a cell and without an equation; many pages of a book are like that.
PAGE = """---
jupytext:
  text_representation:
    extension: .md
    format_name: myst
kernelspec:
  display_name: Python 3
  name: python3
---
# {name}

```{{code-cell}}
print("{name}")
```
"""

# Between looking for its tables and making them, jupyter-cache waits until everybody has looked.
SLOW = """
import time

from jupyter_cache.cache import db
from sqlalchemy import event

event.listen(db.OrmBase.metadata, "before_create", lambda *_, **__: time.sleep(1.0))


def setup(app):
    return {"parallel_read_safe": True, "parallel_write_safe": True}
"""


def test_two_pages_that_make_their_caches_at_once(tiny_book: Any, tmp_path: Any) -> None:
    (tmp_path / "slow_cache.py").write_text(SLOW, encoding="utf-8")
    pages = {name: PAGE.format(name=name) for name in "abcdef"}  # Sphinx reads fewer in one process
    built = tiny_book(tmp_path, pages, extensions=("slow_cache", "honest_cache"), jobs=6)
    assert built.code == 0, built.said + built.warned
