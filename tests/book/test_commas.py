"""No line begins with the comma that belongs to the formula before it; small repairs of text."""

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
    assert tidied(f"the {MATH}-th") == f"the {kept.replace(',</', '-th</')}"
    for body in (f"{MATH} and", f"{MATH} , and", f"{MATH}-thin", "a, b.", f"<p>{MATH}</p>."):
        assert tidied(body) == body


def test_a_pasted_number_has_the_sign_of_a_number(extension: Any) -> None:
    context = {
        "body": '<span class="pasted-text">-3.57</span> <span class="pasted-text">a-3</span>'
    }
    extension("tidy_site").set_minus(None, "page", "page.html", context, None)
    assert context["body"] == (
        '<span class="pasted-text">\N{MINUS SIGN}3.57</span> <span class="pasted-text">a-3</span>'
    )
