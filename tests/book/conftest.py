"""What the tests of the built book share: the book, a browser, and tiny books to break."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from headers import MYST
from small_books import Builder

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def paths(book_html: Path) -> dict[str, Path]:
    """The files of all pages of the book, by their path in it."""
    found = sorted(path for path in book_html.rglob("*.html") if "_static" not in path.parts)
    return {path.relative_to(book_html).as_posix(): path for path in found}


@pytest.fixture(scope="session")
def trees(paths: dict[str, Path]) -> Mapping[str, Any]:
    """Every page of the book by its path, parsed when it is asked for."""
    return Trees(paths)


class Trees(Mapping[str, Any]):
    """Pages that are parsed when somebody asks, and once: seven hundred of them in a second."""

    def __init__(self, paths: dict[str, Path]) -> None:
        self.paths, self.parsed = paths, {}

    def __getitem__(self, name: str) -> Any:
        from selectolax.lexbor import LexborHTMLParser

        if name not in self.parsed:
            self.parsed[name] = LexborHTMLParser(self.paths[name].read_text("utf-8"))
        return self.parsed[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.paths)

    def __len__(self) -> int:
        return len(self.paths)


@pytest.fixture
def extension(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A function that imports one of the book's extensions, for one test."""
    taken: list[str] = []

    def take(name: str) -> Any:
        taken.append(name)
        return importlib.import_module(name)

    monkeypatch.syspath_prepend(str(ROOT / "book" / "_ext"))
    yield take
    for name in taken:
        sys.modules.pop(name, None)


@dataclass
class Visit:
    """An open page, with what it asked for and what it complained of while it loaded."""

    page: Any
    asked: list[str] = field(default_factory=list)
    foreign: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)

    def watch(self) -> None:
        self.page.on("request", self._asked)
        self.page.on("requestfailed", lambda request: self.failed.append(request.url))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("console", self._said)

    def forget(self) -> None:
        """Begin again with nothing asked and nothing said."""
        for said in (self.asked, self.foreign, self.failed, self.complaints):
            said.clear()

    def _asked(self, request: Any) -> None:
        self.asked.append(request.url)
        if not request.url.startswith(("file:", "data:", "blob:")):
            self.foreign.append(request.url)

    def _said(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.complaints.append(message.text)


PATIENCE = 300_000  # milliseconds: a machine may be busy, and a wait ends when there is something


@pytest.fixture(scope="session")
def arrive(browser: Any, book_html: Path) -> Any:
    """A function that opens a page of the book and waits until its letters are there."""

    def opened(name: str, *, width: int = 1280, scheme: str = "light") -> Visit:
        context = browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme, reduced_motion="reduce"
        )
        context.set_default_timeout(PATIENCE)
        context.add_init_script("localStorage.setItem('mode', 'auto')")
        seen = Visit(context.new_page())
        seen.watch()
        path, mark, query = name.partition("?")
        seen.page.goto((book_html / path).as_uri() + mark + query)
        seen.page.evaluate("() => document.fonts.ready")
        return seen

    return opened


@pytest.fixture
def visit(arrive: Any) -> Iterator[Any]:
    """`arrive` for one test: what it opens is closed after it."""
    opened: list[Visit] = []

    def go(name: str, **options: Any) -> Visit:
        opened.append(arrive(name, **options))
        return opened[-1]

    yield go
    for seen in opened:
        seen.page.context.close()


@pytest.fixture(scope="session")
def read(arrive: Any) -> Iterator[Any]:
    """`arrive` for tests that leave a page as they found it: opened once, then handed on.

    It comes at its top, with nothing under the pointer, nothing in focus and no preview. To be as
    wide as a phone it is not opened again: its mathematics would be set again as well.
    """
    opened: dict[str, Visit] = {}

    def again(name: str, *, width: int = 1280) -> Visit:
        if name not in opened:
            opened[name] = arrive(name)
        seen = opened[name]
        seen.page.emulate_media(color_scheme="light", media="screen")
        seen.page.set_viewport_size({"width": width, "height": 900})
        seen.page.mouse.move(0, 0)
        seen.page.evaluate(AFRESH)
        seen.page.keyboard.press("Escape")  # no preview stays on, nor one that was on its way
        return seen

    yield again
    for seen in opened.values():
        seen.page.context.close()


STATIC = ROOT / "book" / "_static"
OPERATED = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>playground</title>
<link rel="stylesheet" href="{static}/../../src/gpnotes/colours.css">
<link rel="stylesheet" href="{static}/gp-playground.css"></head>
<body><main><figure id="still"><p>the static picture</p><figcaption>a caption</figcaption></figure>
<div data-gp-playground="still" data-gp-kind="{kind}" data-gp-given='{given}'></div>
<script src="{static}/gp-numbers.js"></script><script src="{static}/operated-figure.js"></script>
<script src="{static}/{script}-playground.js"></script>{tail}</main></body></html>"""


@pytest.fixture(scope="session")
def sheets(browser: Any) -> Iterator[dict[str, list[Visit]]]:
    """Pages that nobody uses now, by their options: to make one costs more than most tests."""
    free: dict[str, list[Visit]] = {}
    yield free
    for visits in free.values():
        for one in visits:
            one.page.context.close()


@pytest.fixture
def opened(browser: Any, sheets: dict[str, list[Visit]], tmp_path: Path) -> Iterator[Any]:
    """A function that opens a page of one operated figure, which may ask nobody nor complain."""
    seen: list[tuple[str, Visit]] = []

    def go(
        kind: str,
        width: int = 800,
        *,
        given: str = "{}",
        tail: str = "",
        at: str = "",
        **options: Any,
    ) -> Any:
        file = tmp_path / f"{kind}.html"
        script = {"exact": "gp"}.get(kind, kind)  # the first figure has no kind in its name
        text = OPERATED.format(
            static=STATIC.as_uri(), kind=kind, script=script, given=given, tail=tail
        )
        file.write_text(text, encoding="utf-8")
        options = {"viewport": {"width": width, "height": 900}, **options}
        key = repr(sorted(options.items()))
        one = sheets[key].pop() if sheets.get(key) else _sheet(browser, options)
        seen.append((key, one))
        one.page.set_viewport_size(options["viewport"])
        one.forget()
        one.page.goto(file.as_uri() + at)
        return one.page

    yield go
    said = [words for _, one in seen for words in (*one.complaints, *one.foreign)]
    for key, one in seen:
        one.page.mouse.up()
        one.page.mouse.move(0, 0)
        one.page.emulate_media(media="screen")
        sheets.setdefault(key, []).append(one)
    assert said == []


def _sheet(browser: Any, options: dict[str, Any]) -> Visit:
    made = Visit(browser.new_context(**options).new_page())
    made.watch()
    return made


AFRESH = "() => { document.activeElement?.blur(); scrollTo(0, 0); }"


@dataclass(frozen=True)
class Built:
    """What a build of a tiny book said, and where it put the pages."""

    code: int
    said: str
    warned: str
    html: Path


CONF = """
import sys
sys.path[:0] = [{folder!r}, {ext!r}]
project = "tiny"
extensions = ["myst_nb", "sphinx.ext.mathjax", "checked_equations.sphinx", "honest_cache"]
extensions += {extensions!r}
root_doc = "index"
nb_execution_mode = "cache"
numfig = True
html_theme = "basic"
"""


@pytest.fixture(scope="session")
def sphinx() -> Iterator[Builder]:
    """``python -m sphinx`` without the time for its imports."""
    builder = Builder()
    yield builder
    builder.close()


@pytest.fixture(scope="session")
def tiny_book(sphinx: Builder) -> Any:
    """A function that writes a book of given pages into a folder, and one that builds it."""

    def build(
        folder: Path, pages: dict[str, str], *, extensions: tuple = (), jobs: int = 1
    ) -> Built:
        write(folder, pages, extensions)
        html = folder / "_build" / "html"
        arguments = ["-W", "--keep-going", "-n", "-j", str(jobs)]
        arguments += ["-d", str(folder / "_build" / "doctrees"), "-b", "html", ".", str(html)]
        two = {**os.environ, "BOOK_JOBS": "2", "BOOK_CACHE": ""}
        done = sphinx(*arguments, cwd=folder, env=two)
        return Built(done.returncode, done.stdout, done.stderr, html)

    def write(folder: Path, pages: dict[str, str], extensions: tuple) -> None:
        conf = CONF.format(
            folder=str(folder), ext=str(ROOT / "book" / "_ext"), extensions=list(extensions)
        )
        listed = "\n".join(name for name in pages if name != "index")
        contents = {
            "conf.py": conf + 'exclude_patterns = ["_build"]\n',
            "equations.toml": "",  # or each chapter would look through all that is installed
            "index.md": f"# Tiny\n\n```{{toctree}}\n:numbered:\n\n{listed}\n```\n",
            **{f"{name}.md": text for name, text in pages.items()},
        }
        for name, text in contents.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if not path.exists() or path.read_text("utf-8") != text:
                path.write_text(text, encoding="utf-8")

    return build


CHAPTER = (
    MYST
    + """\
# {title}

A line of prose.

```{{math}}
:label: {label}
{latex}
```

```{{code-cell}}
import numpy as np
from checked_equations import Chapter

chapter = Chapter("{slug}")


def numbers(draw):
    A, b, c = draw.standard_normal((5, 5)), draw.standard_normal(5), draw.standard_normal(5)
    x = np.linalg.solve(A, b) - c
    return {{"A": A, r"\\mathbf b": b, r"\\mathbf c": c, r"\\mathbf x": x}}
```

```{{code-cell}}
{check}
```

```{{code-cell}}
{last}
```
"""
)


@pytest.fixture(scope="session")
def chapter_text() -> Any:
    """A function that writes a chapter of one equation; by default it is sound."""

    def text(slug: str, **changes: str) -> str:
        label = f"eq-{slug}"
        parts = {
            "slug": slug,
            "title": slug,
            "label": label,
            "latex": r"\mathbf x = A^{-1} \mathbf b - \mathbf c",
            "check": f'chapter.check("{label}", numbers, oracle="an LU solver")',
            "last": "chapter.ledger()",
        }
        return CHAPTER.format(**{**parts, **changes})

    return text
