"""The pages of the package: one for each room, each with all that one asks of what it has."""

from __future__ import annotations

import inspect
import re
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import gpnotes
from gpnotes.ground.random import RNG
from gpnotes.ground.xp import Matrix, Numbers, Scalar, Vector

pytestmark = pytest.mark.book

ROOT = Path(__file__).resolve().parents[2]
EXT = ROOT / "book" / "_ext"
OVERVIEWS = sorted(f"book/api/{path.stem}" for path in (ROOT / "book" / "api").glob("*.md"))


@pytest.fixture(scope="module")
def api() -> Any:
    """The modules that make the pages."""
    sys.path.insert(0, str(EXT))
    import api_docstrings
    import api_pages
    import api_uses

    yield {"pages": api_pages, "docstrings": api_docstrings, "uses": api_uses}
    sys.path.remove(str(EXT))


@pytest.fixture(scope="module")
def things(api: Any) -> list[Any]:
    return api["pages"].listed(ROOT, OVERVIEWS)


@pytest.fixture(scope="module")
def rooms(api: Any, things: list[Any]) -> list[Any]:
    return api["pages"].rooms(things)


@pytest.fixture(scope="module")
def places(rooms: list[Any]) -> dict[str, str]:
    """Of each thing the page on which it stands."""
    return {thing.full: room.docname for room in rooms for thing in room.things}


@pytest.fixture(scope="module")
def sections(trees: Any, rooms: list[Any]) -> dict[str, Any]:
    """Of each thing what its page has under its full name."""
    found = {}
    for room in rooms:
        at = {one.id: one for one in trees[f"{room.docname}.html"].css("section > section[id]")}
        found |= {thing.full: at[thing.full] for thing in room.things}
    return found


def callables(thing: Any) -> dict[str, Any]:
    """A thing, and the public methods that its class defines."""
    found = {thing.typed: thing.value}
    if inspect.isclass(thing.value):
        for name, one in vars(thing.value).items():
            inner = getattr(one, "__func__", one)
            if inspect.isfunction(inner) and not name.startswith("_"):
                found[f"{thing.typed}.{name}"] = inner
    return found


def completed(api: Any, name: str, value: Any) -> list[str]:
    """A docstring as autodoc hands it on."""
    lines = [*(inspect.getdoc(value) or "").splitlines(), ""]
    what = "class" if inspect.isclass(value) else "function"
    api["docstrings"].complete(None, what, name, value, None, lines)
    return lines


def listed(lines: list[str]) -> dict[str, str]:
    """Of each parameter in the list of a docstring what stands beside its name."""
    heads = [i for i in range(len(lines) - 1) if re.fullmatch("-{3,}", lines[i + 1])]
    found = {}
    for i, head in enumerate(heads):
        end = heads[i + 1] if i + 1 < len(heads) else len(lines)
        if lines[head] in ("Parameters", "Attributes"):
            for line in lines[head + 2 : end]:
                if line and not line.startswith(" "):
                    names, _, kind = line.partition(" : ")
                    found |= {name.strip(" *"): kind for name in names.split(",")}
    return found


def faults(api: Any, name: str, value: Any) -> list[str]:
    """What a reader of the list of parameters would miss."""
    if getattr(value, "_is_protocol", False):
        return []
    found = listed(completed(api, name, value))
    missed = []
    made_in_c = inspect.isclass(value) and issubclass(value, BaseException)
    wanted = {} if made_in_c else inspect.signature(value).parameters
    for key, one in wanted.items():
        if key in ("self", "cls") or key.startswith("_"):
            continue
        if not found.get(key):
            missed.append(f"{name}: {key} has no type")
        elif one.default is not one.empty and not re.search("default|optional", found[key]):
            missed.append(f"{name}: {key} has no default")
    return missed


def test_every_parameter_has_a_type_and_a_default(api: Any, things: list[Any]) -> None:
    asked = {name: value for thing in things for name, value in callables(thing).items()}
    assert len(asked) > 1000
    missed = [line for name, value in asked.items() for line in faults(api, name, value)]
    assert missed == []


def test_what_comes_back_has_a_type(api: Any, things: list[Any]) -> None:
    for thing in things:
        if not inspect.isclass(thing.value):
            returns = inspect.signature(thing.value).return_annotation
            told = {"Returns", "Yields"} & set(completed(api, thing.typed, thing.value))
            assert told or returns in ("None", None), thing.typed


def test_a_docstring_keeps_its_words(api: Any, things: list[Any]) -> None:
    """Of what it says itself nothing is lost, but a head that several names share."""
    for thing in things:
        before = Counter(line for line in (inspect.getdoc(thing.value) or "").splitlines() if line)
        lost = before - Counter(completed(api, thing.typed, thing.value))
        assert all(not line.startswith(" ") for line in lost), thing.typed


def test_a_docstring_reads_well_in_a_terminal() -> None:
    """No markup of the site stands in it."""
    role = re.compile(r":[a-z:]+:`")
    files = list((ROOT / "src").rglob("*.py"))
    assert len(files) > 200
    assert [path for path in files if role.search(path.read_text("utf-8"))] == []


def test_on_the_site_the_label_of_an_equation_is_a_link(api: Any, things: list[Any]) -> None:
    hooks = []
    app = type("App", (), {"connect": lambda _, event, hook, priority: hooks.append(hook)})()
    api["docstrings"].setup(app)
    lines = ["Of an array ``a[eq]``, and [eq-one], [eq-two]."]
    for hook in hooks:
        hook(None, "module", "gpnotes", gpnotes, None, lines)
    assert lines == ["Of an array ``a[eq]``, and :eq:`eq-one`, :eq:`eq-two`."]
    summaries = "\n".join(thing.summary for thing in things)
    assert ":eq:`eq-al-best`" in summaries
    assert "[eq-" not in summaries


def test_what_a_docstring_leaves_out_is_added(api: Any) -> None:
    def call(x, z: str = "a", *more: str, fast: bool = False, **rest: float) -> float:
        """Make something of x.

        Parameters
        ----------
        x, z
            Numbers.
        fast : bool
            Do not look.

        Notes
        -----
        `more` words do no harm.
        """

    assert completed(api, "call", call) == WHOLE.splitlines()


WHOLE = """Make something of x.

Parameters
----------
x
    Numbers.
z : str, default ``'a'``
    Numbers.
fast : bool, default False
    Do not look.
*more : str
    Explained above.
**rest : float

Returns
-------
float

Notes
-----
`more` words do no harm.

"""


def test_what_has_its_usual_name_needs_no_entry(api: Any) -> None:
    def call(X: Matrix, y: Vector, x: Scalar, variance: Numbers, *, rng: RNG) -> Matrix: ...

    wanted = ["X : Matrix, shape (n, d)", "    The inputs.", "y : Vector, shape (n,)"]
    wanted += ["    The observations.", "x : Scalar", "variance : Numbers"]
    wanted += ["rng : Stream, Generator or int", f"    {api['docstrings'].USUAL['rng', 'RNG']}", ""]
    wanted += ["Returns", "-------"]
    found = completed(api, "call", call)
    start = found.index("Parameters") + 2
    assert found[start:] == [*wanted, "Matrix, shape (n, d)", ""]


def test_each_thing_stands_once_and_no_page_is_long(rooms: list[Any], things: list[Any]) -> None:
    """On a disk that does not tell `Fit` from `fit`, no page is another's either."""
    placed = Counter(thing.full for room in rooms for thing in room.things)
    assert placed == Counter(thing.full for thing in things)
    assert set(placed.values()) == {1}
    assert len({room.docname.lower() for room in rooms}) == len(rooms)
    assert {room.path: len(room.things) for room in rooms if len(room.things) > 25} == {}


def test_a_large_package_has_several_pages(api: Any) -> None:
    """A module of four things has its own, those of fewer share that of the package."""

    def pages(**many: int) -> dict[str, int]:
        homes = [f"gpnotes.{name.replace('_', '.')}" for name in many for _ in range(many[name])]
        things = [api["pages"].Thing(home, f"f{i}", 0, "", ()) for i, home in enumerate(homes)]
        return {room.path: len(room.things) for room in api["pages"].rooms(things)}

    small = pages(plot=30, mdp=2, mdp_solving=20, mdp_pomdp=3)
    assert small == {"gpnotes.plot": 30, "gpnotes.mdp": 25}
    found = pages(mdp=2, mdp_solving=20, mdp_pomdp=3, mdp_filtering=4)
    assert found == {"gpnotes.mdp": 5, "gpnotes.mdp.solving": 20, "gpnotes.mdp.filtering": 4}


def test_the_heading_of_a_thing_is_what_one_types(things: list[Any]) -> None:
    typed = {thing.typed for thing in things}
    assert {"gpnotes.fit", "gpnotes.RBF", "gpnotes.infer.svgp.initial_posterior"} <= typed
    for thing in things:
        space: dict[str, Any] = {}
        exec(f"from {thing.package} import {thing.name}", space)
        assert space[thing.name] is thing.value


def test_a_page_shows_the_code_without_what_stands_above_it(api: Any, things: list[Any]) -> None:
    fit = next(thing for thing in things if thing.typed == "gpnotes.fit")
    code = api["pages"].bare(fit.value)
    assert '"""' not in code
    assert code.startswith("@in_one_pool\ndef fit(\n")
    assert code.endswith("columns=columns, known_columns=known, remarks=remarks)")
    whole = api["pages"].section(fit, api["uses"].Uses(), ROOT, set())
    assert "Source: <code>src/gpnotes/infer/fitting.py</code>, line " in whole
    assert "-&gt; Fit[Any, Any]:" in whole


def test_a_page_names_what_the_book_says(api: Any, tmp_path: Path) -> None:
    chapter = """# One

```{math}
:label: eq-on-a
a
```

```{code-cell}
:tags: [hide-input]

from gpnotes import RBF, fit
```

```{code-cell}
---
mystnb:
  figure:
    name: fig-one
---
found = fit(RBF())
```
"""
    (tmp_path / "one.md").write_text(chapter, "utf-8")
    uses = api["uses"].read_uses(tmp_path, ["one", "absent"])
    said = uses.said("gpnotes.infer.fitting.fit", "Derived by [eq-on-a], not [eq-on-b].")
    assert said.splitlines()[2:] == [
        "- Derived in :doc:`/one`: :eq:`eq-on-a`",
        "- Behind figures of :doc:`/one`: :numref:`fig-one`",
    ]
    assert "- Called in :doc:`/one`" in uses.said("gpnotes.model.kernels.stationary.RBF", "")
    assert uses.said("gpnotes.infer.verbs.condition", "") == ""


@pytest.mark.site
def test_no_two_pages_describe_themselves_alike(trees: Any, rooms: list[Any]) -> None:
    pages = {room.path: trees[f"{room.docname}.html"] for room in rooms}
    found = {name: page.css_first("meta[name=description]") for name, page in pages.items()}
    said = {name: one.attributes["content"] for name, one in found.items()}
    assert all(text.startswith(f"{name}: ") for name, text in said.items())
    assert all(len(name) + 20 < len(text) <= 200 for name, text in said.items())


@pytest.mark.site
def test_every_room_has_a_page(trees: Any, rooms: list[Any]) -> None:
    """With its path, its overviews, and a table of contents that leads to each thing."""
    assert len(rooms) > 50
    for room in rooms:
        page = trees[f"{room.docname}.html"]
        assert page.css_first("h1").text().rstrip("#¶") == room.path
        leads = [link.attributes["href"] for link in page.css("article a.reference")]
        assert {f"../{name.removeprefix('book/api/')}.html" for name in room.overviews} <= {*leads}
        contents = {link.text(): link.attributes["href"] for link in page.css("nav.contents a")}
        assert contents == {thing.typed: f"#{thing.full}" for thing in room.things}


@pytest.mark.site
def test_every_thing_stands_on_a_page(
    trees: Any, things: list[Any], places: Any, sections: Any
) -> None:
    """With its path, its import, its signature, and the list of its parameters; rows lead to it."""
    assert len(things) > 500
    overviews = {thing.overview for thing in things}
    rows = {name: {row.id: row for row in trees[f"{name}.html"].css("tr")} for name in overviews}
    for thing in things:
        section = sections[thing.full]
        assert section.css_first("h2").text().rstrip("#¶") == thing.typed
        assert f"from {thing.package} import {thing.name}" in section.text()
        assert section.css_first("dl.py > dt.sig .descname").text() == thing.name
        assert section.css_first("details.book-source pre"), thing.typed
        leads = rows[thing.overview][thing.full].css_first("a").attributes["href"]
        place = places[thing.full].removeprefix("book/api/")
        assert leads == f"{place}.html#{thing.full}"


@pytest.mark.site
def test_other_books_find_each_thing_by_both_its_paths(
    book_html: Path, things: list[Any], places: Any
) -> None:
    from sphinx.util.inventory import InventoryFile

    with (book_html / "objects.inv").open("rb") as file:
        told = InventoryFile.load(file, "", lambda _, uri: uri)
    known = {name: one[2] for name, one in {**told["py:class"], **told["py:function"]}.items()}
    for thing in things:
        where = f"{places[thing.full]}.html#{thing.full}"
        assert known[thing.full] == known[thing.typed] == where


@pytest.mark.site
def test_a_path_that_one_imports_from_is_a_link(sections: Any) -> None:
    """The front door has `gpnotes.EPGP`; a docstring's `laplace.EPGP` leads there too."""
    said = sections["gpnotes.infer.verbs.condition"].css("a.reference")
    leads = {link.text(): link.attributes["href"] for link in said}
    assert leads["gpnotes.SparseGP"].endswith(
        "infer.sparse.html#gpnotes.infer.sparse.model.SparseGP"
    )
    assert leads["laplace.EPGP"].startswith("gpnotes.infer.laplace.html#gpnotes.infer.laplace.")


@pytest.mark.site
def test_a_page_lists_the_parameters(sections: Any, things: list[Any]) -> None:
    for thing in things:
        if getattr(thing.value, "_is_protocol", False):
            continue
        told = sections[thing.full].css_first("dl.py > dd").text()
        made_in_c = inspect.isclass(thing.value) and issubclass(thing.value, BaseException)
        for name in () if made_in_c else inspect.signature(thing.value).parameters:
            assert name.startswith("_") or re.search(rf"(?<!\w){name}(?!\w)", told), thing.typed


@pytest.mark.site
def test_an_alias_of_types_is_what_its_text_says(trees: Any) -> None:
    for overview in OVERVIEWS:
        for name in trees[f"{overview}.html"].css("dl.py.data > dt"):
            assert "=" not in name.text(), f"{overview}: {name.text()}"
