"""Bundle the engine for a browser: its ES modules, and the table of the language as Python has it.

A browser loads no ES module from ``file://``, so a page of a book gets one classic script: the
modules that an entry imports, each in a function of its own, and the exports of the entry in a
global, such as ``window.equationTrial`` for the entry ``trial``. ``language.js`` is no file: it is
made here from the registers of `checked_equations`, so that Python and JavaScript read the same
words. ``python engine/web/browser_engine.py trial`` prints a bundle.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from checked_equations.check.relations import ROUNDING, Tolerance
from checked_equations.evaluate import operations
from checked_equations.latex import tokenizer, vocabulary
from checked_equations.latex.lexer.terminals import DEFINING
from checked_equations.latex.tree import INFIX

if TYPE_CHECKING:  # the signature alone names it
    from sphinx.application import Sphinx

HERE = Path(__file__).resolve().parent
PAGES = {"page": "try-equation.js", "members": "equation-members.js"}  # entries, and their scripts
STYLES = {"page.css": "try-equation.css"}
_IMPORT = re.compile(r'^import \{([^}]*)\} from "\./(\w+)\.js";$', re.MULTILINE)
_EXPORT = re.compile(r"^export \{([^}]*)\};$", re.MULTILINE)
# Comments and indents, which a browser has no use for.
_FOR_US = re.compile(r"^ *(?:/\*.*?\*/|// -+[^\n]*)\n|^ +", re.MULTILINE | re.DOTALL)
_SPELLED = re.compile(r"(\\[a-z]+) ([A-Za-z])")  # ``\mathbf E``


def language() -> dict[str, Any]:
    """Return the words of the language and the numbers of its evaluator, as plain data.

    Letters in a font have braces, ``\\mathbf{E}``; of a set the order is that of the alphabet.
    """
    sides = {sign: same for sign, (same, side) in tokenizer.DELIMITERS.items() if side != "middle"}
    table = {
        "fonts": tokenizer.FONTS,
        "layout": tokenizer.LAYOUT | set(tokenizer.SIDES),
        "wide": tokenizer._WIDE,
        "dropped": tokenizer.DROPPED,
        "lineSkip": tokenizer._LINE_SKIP.pattern,
        "withColumns": tokenizer._WITH_COLUMNS,
        "same": tokenizer.SAME | sides,
        "parted": tokenizer._ABOVE,
        "laidOut": vocabulary.LAYOUT_ENVIRONMENTS,
        "blocks": vocabulary.BLOCKS,
        "operators": vocabulary.OPERATORS,
        "infix": {sign: kind.__name__ for sign, kind in INFIX.items()},
        "relations": vocabulary.RELATIONS,
        "defining": DEFINING,
        "judged": operations.RELATIONS,
        "functions": vocabulary.FUNCTIONS,
        "inverses": vocabulary.INVERSES,
        "ambiguousPowers": vocabulary.AMBIGUOUS_POWERS,
        "ambiguousInverses": vocabulary.AMBIGUOUS_INVERSES,
        "big": vocabulary.BIG,
        "averages": vocabulary.EXPECTATIONS,
        "constants": vocabulary.CONSTANTS,
        "identities": vocabulary.IDENTITIES,
        "transposes": vocabulary.TRANSPOSES,
        "marks": vocabulary.MARKS,
        "brackets": vocabulary.OPEN,
        "norms": operations._ORDERS,
        "conditions": vocabulary.CONDITIONS,
        "connectives": vocabulary.CONNECTIVES | vocabulary.CLAUSES,
        "reasons": vocabulary.REASONS,
        "unread": vocabulary.UNREAD,
        "entrywise": operations._ELEMENTWISE,
        "reciprocals": operations._RECIPROCALS,
        "singular": operations._SINGULAR,
        "rounding": ROUNDING,
        "tolerance": Tolerance().rtol,
    }
    return {name: _plain(value) for name, value in table.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {_spelled(key): _spelled(one) for key, one in value.items()}
    if isinstance(value, set | frozenset | tuple):
        return sorted(map(_spelled, value))
    return value


def _spelled(value: Any) -> Any:
    if callable(value):
        return True
    match = _SPELLED.fullmatch(value) if isinstance(value, str) else None
    return f"{match[1]}{{{match[2]}}}" if match else value


def source(module: str) -> str:
    """Return the text of a module; of ``language`` it is made."""
    if module == "language":
        return f"const LANGUAGE = {json.dumps(language())};\nexport {{ LANGUAGE }};\n"
    return (HERE / f"{module}.js").read_text(encoding="utf-8")


def bundle(*entries: str) -> str:
    """Return a classic script of these entries and all that they import, each module once.

    Raises ValueError for a module that imports or exports in another form than
    ``import { a, b as c } from "./module.js";`` and ``export { a, b };`` on a line.
    """
    done: dict[str, str] = {}
    for entry in entries:
        _take(entry, done)
    names = (f"window.equation{entry.title().replace('_', '')} = ${entry};" for entry in entries)
    return "\n".join(["(() => {", '"use strict";', *done.values(), *names, "})();", ""])


def _take(module: str, done: dict[str, str]) -> None:
    if module in done:
        return
    text = source(module)
    for _, other in _IMPORT.findall(text):
        _take(other, done)
    text = _IMPORT.sub(lambda m: f"const {{{m[1].replace(' as ', ': ')}}} = ${m[2]};", text)
    text = _EXPORT.sub(r"return {\1};", text)
    if stray := re.search(r"^(?:import|export)\b.*", text, re.MULTILINE):
        raise ValueError(f"engine/web/{module}.js: `{stray[0]}` is in no form that is bundled")
    done[module] = f"const ${module} = (() => {{\n{_FOR_US.sub('', text)}}})();"


def write(app: Sphinx, exception: Exception | None) -> None:
    """Write the scripts and styles that the pages of a book load, at the end of a build."""
    if exception or app.builder.format != "html":
        return
    static = Path(app.outdir) / "_static"
    for entry, name in PAGES.items():
        (static / name).write_text(bundle(entry), encoding="utf-8")
    for style, name in STYLES.items():
        (static / name).write_text((HERE / style).read_text("utf-8"), encoding="utf-8")


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect the end of a build."""
    app.connect("build-finished", write)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}


if __name__ == "__main__":
    print(bundle(*sys.argv[1:]), end="")
