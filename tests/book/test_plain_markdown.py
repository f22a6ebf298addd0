"""Pages as Markdown without MyST: the tree that Sphinx has resolved, block by block."""

from __future__ import annotations

import importlib
import shlex
import sys
from pathlib import Path
from typing import Any

import nbformat
import pytest
from docutils import nodes

EXT = Path(__file__).resolve().parents[2] / "book" / "_ext"


@pytest.fixture(scope="module")
def modules() -> Any:
    """The two modules, which find each other as the build lets them."""
    sys.path.insert(0, str(EXT))
    try:
        yield importlib.import_module("plain_markdown"), importlib.import_module("take_away")
    finally:
        sys.path.remove(str(EXT))


def tree(*children: Any) -> nodes.document:
    """A page with one section of these blocks."""
    from docutils.utils import new_document

    document = new_document("page")
    document += nodes.section("", nodes.title("", "Head"), *children, ids=["head"])
    return document


def texts(modules: Any, *children: Any) -> list[str]:
    plain, _ = modules
    found = list(plain.pieces(tree(*children), plain.Numbers({"": "2"}, {})))
    assert found[0].text == "# 2 Head"
    return [piece.text for piece in found[1:]]


def paragraph(*parts: Any) -> nodes.paragraph:
    return nodes.paragraph("", "", *(nodes.Text(p) if isinstance(p, str) else p for p in parts))


def test_words_that_look_like_marks_stay_words(modules: Any) -> None:
    said = paragraph(
        "2 * 3 < a_b, _c_ and\n$5 ", nodes.emphasis("", " all "), nodes.literal("", "a`b")
    )
    assert texts(modules, said) == [
        r"2 \* 3 \< a_b, \_c\_ and \$5  *all* ``a`b``".replace("  ", " ")
    ]
    coloured = nodes.inline("", "the mean", classes=["hue-exact"])
    assert texts(modules, paragraph(coloured, " of both")) == ["the mean of both"]
    assert texts(modules, paragraph("1. of them"), paragraph("# one")) == [
        r"1\. of them",
        r"\# one",
    ]


def test_formulas_are_not_touched(modules: Any) -> None:
    block = nodes.math_block("", "a_1 &= b \\\\\n\n &= *c*", ids=["equation-eq-a"], label="eq-a")
    inline = paragraph("so ", nodes.math("", r"x_1 * \$"))
    shown = "$$\n\\begin{aligned}\na_1 &= b \\\\\n &= *c*\n\\end{aligned}\n$$\n<!-- label: eq-a -->"
    assert texts(modules, block, inline) == [shown, r"so $x_1 * \$$"]


def test_a_matrix_alone_is_not_aligned(modules: Any) -> None:
    block = nodes.math_block("", r"A = \begin{bmatrix} 1 & 0 \\ 0 & 1 \end{bmatrix}")
    assert texts(modules, block) == [f"$$\n{block.astext()}\n$$"]


def test_a_table_keeps_its_bars_apart(modules: Any) -> None:
    def row(*cells: Any) -> nodes.row:
        return nodes.row("", *(nodes.entry("", paragraph(cell)) for cell in cells))

    body = nodes.tbody("", row(nodes.math("", "|S|"), "1|2"))
    group = nodes.tgroup("", nodes.thead("", row("a", "b")), body)
    wanted = "| a | b |\n| --- | --- |\n| $\\vert S\\vert $ | 1\\|2 |"
    assert texts(modules, nodes.table("", group)) == [wanted]


def test_lists_indent_what_belongs_to_an_item(modules: Any) -> None:
    inner = nodes.bullet_list("", nodes.list_item("", paragraph("in")))
    items = [nodes.list_item("", paragraph("one"), inner), nodes.list_item("", paragraph("two"))]
    assert texts(modules, nodes.enumerated_list("", *items)) == ["1. one\n\n   - in\n\n2. two"]
    assert texts(modules, nodes.bullet_list("", *items[1:])) == ["- two"]


def test_notes_and_quotations(modules: Any) -> None:
    note = nodes.note("", paragraph("one"), paragraph("two"))
    assert texts(modules, note) == ["> **Note.** one\n> \n> two"]
    assert texts(modules, nodes.block_quote("", paragraph("said"))) == ["> said"]


def test_what_has_no_words_leaves_none(modules: Any) -> None:
    script = nodes.raw("", "<script src=a></script>", format="html")
    link = nodes.raw("", "<p>a badge</p>", format="html")
    silent = [
        nodes.target("", ids=["a"]),
        nodes.comment("", "no"),
        link,
        paragraph(link.deepcopy()),
    ]
    assert texts(modules, *silent) == []
    assert texts(modules, script) == ["*Here the page of the book has a figure to operate.*"]


def test_a_link_to_the_net_is_kept_and_one_in_the_book_becomes_words(modules: Any) -> None:
    abroad = nodes.reference("", "there", refuri="https://example.org/a")
    here = nodes.reference("", "(2.4)", internal=True, refuri="#eq")
    cited = nodes.reference("", "A [1]", internal=True, refuri="r.html#id1", reftitle="A. *T*. 1")
    assert texts(modules, paragraph(abroad, " ", here, " ", cited)) == [
        "[there](https://example.org/a) (2.4) A [1]",
        "## References\n\n- A. \\*T\\*. 1",
    ]


def code(index: int, *classes: str) -> nodes.container:
    return nodes.container(nb_element="cell_code", cell_index=index, classes=["cell", *classes])


def test_cells_that_the_page_leaves_out_come_folded(modules: Any) -> None:
    plain, away = modules
    box = nodes.container("", paragraph("why"), classes=["eqn-evidence"])
    page = tree(code(1), paragraph("so"), box, code(3, "tag_evidence"), paragraph("end"))
    cells = {i: nbformat.v4.new_code_cell(f"cell {i}") for i in (1, 2, 3, 4)}
    cells[2]["metadata"]["tags"] = ["remove-cell"]
    made = list(away.cells_of(plain.pieces(page, plain.Numbers()), cells))
    folded = [c.source for c in made if c.metadata.get("jupyter", {}).get("source_hidden")]
    assert [c.source for c in made if c.cell_type == "code"] == [f"cell {i}" for i in (1, 2, 3, 4)]
    assert folded == ["cell 2", "cell 3", "cell 4"]
    (middle,) = [c.source for c in made if c.source.startswith("so")]
    assert middle == (
        "so\n\n<details>\n<summary>How this is checked</summary>\n\nwhy\n\n</details>"
    )


def test_glued_values_and_records_are_no_outputs_to_show(modules: Any) -> None:
    _, away = modules
    glued = {"application/papermill.record/text/plain": "1.25"}
    record = {"application/vnd.checked-equation+json": {}, "text/plain": "holds"}
    outputs = [nbformat.v4.new_output("display_data", data) for data in (glued, record)]
    cell = nbformat.v4.new_code_cell("x", outputs=outputs)
    (made,) = away.cells_of([], {0: cell})
    assert [dict(shown.data) for shown in made.outputs] == [{"text/plain": "holds"}]


def test_a_notebook_installs_what_it_needs_where_it_has_an_address(modules: Any) -> None:
    _, take_away = modules
    address = {"repository": "https://github.com/dummy/notes", "branch": "main"}
    (cell,) = take_away.installing(address)
    source = "git+https://github.com/dummy/notes@main"
    asked = shlex.split(cell.source)
    assert asked[:3] == ["%pip", "install", "--quiet"]
    folders = [url.removeprefix(source).removeprefix("#subdirectory=") for url in asked[3:]]
    assert folders == ["", "engine", "editorial"]
    assert all((EXT.parents[1] / folder / "pyproject.toml").is_file() for folder in folders)
    assert take_away.installing({"repository": "", "branch": "main"}) == []
    assert take_away.installing({}) == []
