"""Small pieces of HTML: elements, mathematics, numbers, links.

Nested calls and no templates: a notebook shows badges too, and need not have Sphinx nor its Jinja.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from html import escape

from ..latex.balance import is_balanced
from .phrases import short


def element(name: str, *content: str, **attributes: str | bool | None) -> str:
    """``<name attributes>content</name>``; a trailing underscore of an attribute is dropped."""
    spelled = "".join(
        f" {key.rstrip('_').replace('_', '-')}"
        + (f'="{escape(value)}"' if value is not True else "")
        for key, value in attributes.items()
        if value is not None and value is not False
    )
    return f"<{name}{spelled}>{''.join(content)}</{name}>"


def say(text: str) -> str:
    """Return the text with its markup characters escaped for HTML."""
    return escape(text, quote=False)


def link(text: str, address: str) -> str:
    """Text that leads to `address`, or the text alone where there is none."""
    return element("a", say(text), href=address) if address else say(text)


def scrolled(content: str, label: str) -> str:
    """A box that scrolls sideways by itself where its content is wider than the page."""
    box = {"class_": "eqn-scroll", "tabindex": "0", "role": "region", "aria_label": label}
    return element("div", content, **box)


def table(name: str, titles: Sequence[str], rows: Iterable[str]) -> str:
    """A table of ready rows under plain column titles."""
    head = element("tr", *(element("th", title, scope="col") for title in titles))
    return element("table", element("thead", head), element("tbody", *rows), class_=name)


def row(*cells: str) -> str:
    """A row of a table, of ready cells."""
    return element("tr", *(element("td", cell) for cell in cells))


def number_cell(text: str) -> str:
    """A cell of a column of numbers."""
    return element("td", text, class_="eqn-number")


def inline_math(latex: str) -> str:
    """Mathematics in the line, typeset when the page loads."""
    return element("span", rf"\({escape(latex)}\)", class_="math")


def display(latex: str, name: str = "math") -> str:
    """Mathematics on its own line, laid out as the page of the equation lays it out."""
    return element("div", rf"\[{escape(_laid_out(latex))}\]", class_=name)


# The same for long tables under ``tex2jax_ignore``: typeset when a reader comes near it.
display_later = partial(display, name="eqn-later")


def later(latex: str) -> str:
    """Return inline mathematics; LaTeX that cannot be typeset alone is shown as it is written."""
    if not is_balanced(latex):
        return code(latex)
    spelled = rf"\({escape(_laid_out(latex))}\)"
    return element("span", spelled, class_="eqn-later tex2jax_ignore notranslate nohighlight")


def code(latex: str) -> str:
    """Mathematics as it is written, for where nothing typesets it."""
    return element("code", say(latex))


def phrase(said: str, math: Callable[[str], str] = later, words: Callable[[str], str] = say) -> str:
    """A name such as ``drop the factor $\\frac{1}{2}$``: words, and mathematics between dollars."""
    pieces = said.split("$")
    return "".join(math(piece) if i % 2 else words(piece) for i, piece in enumerate(pieces))


def _laid_out(latex: str) -> str:
    parts = [part for part in latex.split("\n\n") if part.strip()]
    joined = r" \\ ".join(parts) if len(parts) > 1 else latex
    return rf"\begin{{split}}{joined}\end{{split}}" if r"\\" in joined or "&" in joined else joined


def number(value: float | None) -> str:
    """Return a residual to two digits, or words where shapes do not conform."""
    if value is not None and 0.001 <= abs(value) < 1000:
        return f"{value:.2g}"
    return short(value, 1).replace("-", "\N{MINUS SIGN}")


def tolerance(value: float | None) -> str:
    """``1e−9``."""
    return "" if value is None else short(value).replace("-", "\N{MINUS SIGN}")
