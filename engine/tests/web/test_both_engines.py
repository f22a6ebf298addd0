"""The same displays through Python and through JavaScript: readings, values, refusals."""

from __future__ import annotations

import re
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from browsing import engine

from browser_engine import bundle, language, write
from checked_equations.check.bindings import draw_bindings, name_kinds
from checked_equations.errors import EquationError
from checked_equations.evaluate.evaluator import Evaluator
from checked_equations.latex import tree as t
from checked_equations.latex import vocabulary
from checked_equations.latex.names import normal
from checked_equations.latex.parser import parse
from language_by_example.page import plain_values
from language_by_example.sections import READ, REFUSED, SPELLED

pytestmark = [pytest.mark.book, pytest.mark.browser]

# The steps of each display: both sides as they are read and their values, or why there are none.
ASKED = """all => all.map(([latex, values]) => {
    const { Nonsense, read, name, value } = equationCompared;
    const plain = node => node && typeof node === "object" && node.kind === "group" ? plain(node.inside)
        : Array.isArray(node) ? node.map(plain)
        : node && typeof node === "object" ? Object.fromEntries(Object.entries(node).map(([key, part]) => [key, plain(part)]))
        : node;
    try {
        const table = Object.fromEntries(Object.entries(values).map(([key, one]) => [name(key), one]));
        return read(latex, Object.keys(values)).statements.flatMap(({ sides, signs }) => signs.map(({ sign }, i) =>
            [sign, ...[sides[i], sides[i + 1]].map(side => [plain(side), value(side, table)])]));
    } catch (error) {
        if (!(error instanceof Nonsense)) throw error;
        return error.message;
    }
})"""  # noqa: E501
COMPARED = """
const { read, name } = $parser;
window.equationCompared = { read, name, Nonsense: $tokenizer.Nonsense, value: $evaluator.value };
"""


@pytest.fixture(scope="module")
def browsed(browser: Any) -> Any:
    """A function: the steps of displays, each with values for its symbols, in a browser."""
    page = browser.new_page()
    page.set_content(engine("trial").replace("})();\n</script>", f"{COMPARED}}})();\n</script>"))
    yield lambda all: page.evaluate(ASKED, all)
    page.close()


@pytest.fixture(scope="module")
def examples() -> list[tuple[Any, Any]]:
    """The examples of the language whose symbols are numbers, each with these."""
    rows = [row for rows in (*READ.values(), *SPELLED.values()) for row in rows]
    shown = [(row, plain_values(row.bindings)) for row in rows if hasattr(row, "slips")]
    return [(row, values) for row, values in shown if values is not None]


@pytest.fixture(scope="module")
def answers(browsed: Any, examples: Any) -> list[Any]:
    return browsed([[row.expanded, values] for row, values in examples])


def test_every_example_is_read_alike_and_has_the_same_values(answers: Any, examples: Any) -> None:
    compared, kinds = 0, set()
    for (row, _), found in zip(examples, answers, strict=True):
        if isinstance(found, str):
            continue
        drawn, *_ = draw_bindings(row.bindings, "example")
        steps = parse(row.expanded, name_kinds(drawn)).steps
        evaluator = Evaluator(drawn, row.expanded)
        assert [one[0] for one in found] == [step.relation.lstrip(":") for step in steps], row.latex
        for step, (_, *sides) in zip(steps, found, strict=True):
            for node, (reading, value) in zip((step.left, step.right), sides, strict=True):
                assert from_browser(reading) == from_python(node), row.latex
                assert_same(value, evaluator.value(node), row.latex)
                compared += 1
                kinds |= set(kinds_in(reading))
    assert compared > 400
    assert {"gradient", "limit", "infinity"} < kinds


def kinds_in(reading: Any) -> Iterator[str]:
    """The kinds of the nodes of a reading."""
    if isinstance(reading, dict):
        yield reading.get("kind", "")
    for part in reading.values() if isinstance(reading, dict) else reading:
        if isinstance(part, dict | list):
            yield from kinds_in(part)


UNKNOWN_HERE = "d = KL"  # a name of several letters, which is bound; here letters are factors


def test_what_python_refuses_is_not_answered_here(browsed: Any) -> None:
    """Ambiguous notation and words that are no part of the language; no numbers decide these."""
    rows = [row for rows in REFUSED.values() for row in rows if isinstance(row.bindings, dict)]
    asked = [(row, plain_values(row.bindings)) for row in rows]
    asked = [(row, values) for row, values in asked if values is not None and is_unread(row)]
    found = browsed([[row.latex, values] for row, values in asked])
    assert UNKNOWN_HERE in [row.latex for row, _ in asked]
    answered = [row.latex for (row, _), one in zip(asked, found, strict=True) if type(one) is list]
    assert answered == [UNKNOWN_HERE]
    assert len(asked) > 60


def is_unread(row: Any) -> bool:
    """Whether Python does not read it, whatever the numbers."""
    try:
        parse(row.latex, name_kinds(row.bindings), macros=row.options.get("macros"))
    except EquationError:
        return True
    return False


@pytest.mark.parametrize("register", ["FUNCTIONS", "BIG", "RELATIONS", "UNREAD", "EXPECTATIONS"])
def test_each_word_of_the_registers_is_read_here_or_refused(browsed: Any, register: str) -> None:
    """No word is taken for a letter, or for letters side by side."""
    words = [spelled(word) for word in getattr(vocabulary, register)]
    words = [word for word in words if word.startswith("\\") and word != "\\mathbf{E}"]
    found = browsed([[f"a = {word} [b]", {"a": 1.0, "b": 0.5}] for word in words])
    assert [
        word for word, one in zip(words, found, strict=True) if type(one) is list and mentions(one)
    ] == []


def spelled(word: str) -> str:
    return word.replace(" ", "{") + "}" if " " in word else word


def mentions(steps: list[Any]) -> bool:
    """Whether a side is a product, of what was taken for a letter and a bracket."""
    return any(side[0]["kind"] == "product" for step in steps for side in step[1:])


def test_the_table_has_what_the_registers_have() -> None:
    table = language()
    assert table["functions"].keys() == {spelled(word) for word in vocabulary.FUNCTIONS}
    assert set(table["relations"]) == vocabulary.RELATIONS
    assert table["functions"]["\\mathrm{tr}"] == "tr"


def test_a_module_in_another_form_is_refused(tmp_path: Any, monkeypatch: Any) -> None:
    (tmp_path / "odd.js").write_text("export const a = 1;\n")
    monkeypatch.setattr("browser_engine.HERE", tmp_path)
    with pytest.raises(ValueError, match=r"odd\.js: `export const a = 1;` is in no form"):
        bundle("odd")


def test_a_build_writes_classic_scripts(tmp_path: Any) -> None:
    """A browser loads no module from ``file://``."""
    (tmp_path / "_static").mkdir()
    app = SimpleNamespace(builder=SimpleNamespace(format="html"), outdir=str(tmp_path))
    write(app, None)
    written = {path.name: path.read_text("utf-8") for path in (tmp_path / "_static").iterdir()}
    assert written.keys() == {"try-equation.js", "equation-members.js", "try-equation.css"}
    for name in ("try-equation.js", "equation-members.js"):
        assert not re.search(r"^(import|export)\b", written[name], re.MULTILINE)
        assert written[name].count("const $parser =") == 1
        assert not re.search(r"^(?: |/\*)", written[name], re.MULTILINE)  # what is for us alone


def assert_same(found: Any, wanted: Any, latex: str) -> None:
    wanted = np.asarray(wanted)
    if isinstance(found, dict):  # an identity, which has the size that is asked for
        found = found["eye"] * np.eye(len(wanted))
    close = np.allclose(np.squeeze(found), np.squeeze(wanted), rtol=1e-9, atol=1e-12)
    assert close, (latex, found, wanted)


# A reading as nested tuples: what a node is, and what it has.


def from_python(node: t.Node) -> tuple[Any, ...]:
    """The reading of a tree."""
    match node:
        case t.Number(value):
            return ("number", value)
        case t.Constant("\\infty"):
            return ("infinity", 1)
        case t.Derivative(body, variable, None):
            return ("derivative", variable.key, from_python(body))
        case t.Gradient(body, variable):
            return ("gradient", variable.key, from_python(body))
        case t.Limit(key, point, body, side):
            return ("limit", key, side, from_python(point), from_python(body))
        case t.Constant(name):
            return ("constant", {"\\pi": np.pi, "e": np.e}[name])
        case t.Name(key) | t.Index(key):
            return ("name", key)
        case t.Sum(terms, signs):
            return ("sum", *zip(signs, map(from_python, terms), strict=True))
        case t.Reduction(kind, over, body):
            kind = {"sup": "max", "inf": "min"}.get(kind, kind)
            ends = tuple(end and from_python(end) for end in (over.first, over.last))
            return ("big", kind, over.index, *ends, from_python(body))
        case t.Function(name, arguments):
            return ("function", name, *map(from_python, arguments))
        case t.Inner(left, right):
            return ("function", "inner", from_python(left), from_python(right))
        case t.Subscript(base, indices):
            return ("entry", from_python(base), *map(from_python, indices))
        case t.Norm(base, order):
            return ("norm", order.replace("\\mathrm F", "F"), from_python(base))
        case t.Block(rows):
            return ("block", *(tuple(map(from_python, row)) for row in rows))
        case t.Root(base, degree):
            return ("root", degree and from_python(degree), from_python(base))
    kinds = {
        t.Product: "product", t.Quotient: "quotient", t.Power: "power", t.Inverse: "inverse",
        t.Transpose: "transpose", t.Bars: "bars", t.Elementwise: "entrywise",
        t.Kronecker: "kronecker",
    }  # fmt: skip
    return (kinds[type(node)], *(from_python(child) for _, child in t.children(node)))


def from_browser(node: Any) -> tuple[Any, ...]:
    """The reading of what the browser has, in the same form."""

    def all_of(*nodes: Any) -> tuple[Any, ...]:
        return tuple(one and from_browser(one) for one in nodes)

    kind = node["kind"]
    match kind:
        case "infinity":
            there = (kind, 1)
            return there if node["sign"] > 0 else ("sum", (-1, there))
        case "derivative":
            body = from_browser(node["body"])
            for _ in range(node["order"]):
                body = (kind, normal(node["by"]), body)
            return body
        case "gradient":
            return (kind, normal(node["by"]), from_browser(node["body"]))
        case "limit":
            return (kind, node["by"], node["side"], *all_of(node["point"], node["body"]))
        case "number" | "constant":
            return (kind, node["value"])
        case "name" | "index":
            return ("name", normal(node["key"]))
        case "sum":
            return (kind, *((term["sign"], from_browser(term["node"])) for term in node["terms"]))
        case "product" | "entrywise" | "kronecker":
            return (kind, *all_of(*node["factors"]))
        case "quotient":
            return (kind, *all_of(node["above"], node["below"]))
        case "power" if node["base"].get("value") == np.e:
            return ("function", "exp", *all_of(node["exponent"]))
        case "power":
            return (kind, *all_of(node["base"], node["exponent"]))
        case "inverse" | "transpose" | "bars":
            return (kind, *all_of(node["base"]))
        case "norm":
            return (kind, node["order"].replace("\\mathrm{F}", "F"), *all_of(node["base"]))
        case "entry":
            return (kind, *all_of(node["base"], *node["indices"]))
        case "block":
            return (kind, *(all_of(*row) for row in node["rows"]))
        case "root":
            return (kind, *all_of(node["degree"], node["base"]))
        case "identity":
            return ("function", "identity", *all_of(node["size"]))
        case "big":
            body = from_browser(node["body"])
            for index in reversed(node["indices"]):
                body = ("big", node["how"], index, *all_of(node["first"], node["last"]), body)
            return body
    if node["how"] == "det" and node["args"][0]["kind"] == "block" and "written" not in node:
        return ("bars", *all_of(*node["args"]))
    found = ("function", node["how"], *all_of(*node["args"]))
    base = node.get("base")  # of a logarithm
    return ("quotient", found, ("function", "log", from_browser(base))) if base else found
