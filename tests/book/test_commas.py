"""No line begins with the comma that belongs to the formula before it."""

from __future__ import annotations

from typing import Any

MATH = '<span class="math notranslate nohighlight">x &lt; 1</span>'


def test_a_mark_is_kept_with_its_formula_and_a_word_apart_is_not(extension: Any) -> None:
    def tidied(body: str) -> str:
        context = {"body": body}
        extension("tidy_site").keep_marks(None, "page", "page.html", context, None)
        return context["body"]

    kept = f'<span class="book-kept">{MATH},</span>'
    assert tidied(f"<p>Before {MATH}, and {MATH}.</p>") == (
        f"<p>Before {kept} and {kept.replace(',</', '.</')}</p>"
    )
    for body in (f"{MATH} and", f"{MATH} , and", f"{MATH}-th", "a, b.", f"<p>{MATH}</p>."):
        assert tidied(body) == body
