"""Formulas are set when the book is built: MathML, which browsers set and screen readers read.

Pages are written with their LaTeX, as Sphinx and others leave it for a script. At the end of a
build each formula of each new page is handed to Temml, which runs in QuickJS, and its MathML takes
its place; the LaTeX stays with it as data, for whoever copies or looks it up. A formula that was
set before is not set again. What Temml cannot read fails the build.
"""

import json
import re
from functools import cache
from hashlib import sha256
from html import escape, unescape
from pathlib import Path

from sphinx.errors import ExtensionError
from sphinx.ext.mathjax import html_visit_displaymath, html_visit_math

SCRIPTS = Path(__file__).parents[1] / "_static" / "mathematics"
NEEDS = ("temml.js", "set-formula.js")
PAGES = "set-mathematics.js"  # for what comes later, in a browser
NUMBER = r'\s*(?:<span class="eqno">.*?</span>\s*)?'
FORMULA = re.compile(
    r'<(?P<tag>span|div)(?P<open>(?=[^>]* class="(?:[^"]* )?math[ "])[^>]*)>'
    rf"(?P<number>{NUMBER})"
    r"(?:\\\((?P<inline>[^<]*?)\\\)|\\\[(?P<display>[^<]*?)\\\]|(?P<bare>\\begin\{[^<]*?))\s*</(?P=tag)>",
    re.DOTALL,
)

SPARE = re.compile(r" nohighlight\b")  # says so to a script of Sphinx that no page has


class Setter:
    """A function of LaTeX that returns MathML, and remembers."""

    def __init__(self, file=None):
        self.file = file
        kept = json.loads(file.read_text("utf-8")) if file and file.exists() else {}
        self.known = kept.get(version(), {})

    def __call__(self, latex, display):
        """Return the markup of a formula; raise `ValueError` where there is none."""
        key = f"{'display' if display else 'inline'} {latex}"
        if key not in self.known:
            self.known[key] = _set(latex, display)
        return self.known[key]

    def page(self, html):
        """Return a page with its formulas set."""
        return FORMULA.sub(self._place, html)

    def _place(self, match):
        display = match["inline"] is None
        latex = unescape(match["display"] or match["bare"] or match["inline"] or "").strip()
        markup = self(latex, display)
        said = f'{SPARE.sub("", match["open"])} data-latex="{_attribute(latex)}">'
        if display:
            number = match["number"].strip()
            return f'<div{said}{number}<span class="math-set">{markup}</span></div>'
        return f"<math{said}{markup.removeprefix('<math>')}"  # which needs no element around it

    def keep(self):
        """Save the formulas that were set, for the next build."""
        self.file.parent.mkdir(parents=True, exist_ok=True)
        self.file.write_text(json.dumps({version(): self.known}, ensure_ascii=False), "utf-8")


def _attribute(text):
    return escape(text, quote=False).replace('"', "&quot;")


@cache
def version():
    """Return a name of the scripts as they are."""
    return sha256(b"".join((SCRIPTS / name).read_bytes() for name in NEEDS)).hexdigest()


@cache
def _engine():
    import quickjs

    context = quickjs.Context()
    for name in NEEDS:
        context.eval((SCRIPTS / name).read_text("utf-8"))
    # Markup is a text put together of pieces, which comes back only when it is written anew.
    return context.eval("(latex, display) => JSON.stringify(setFormula(latex, display))")


def _set(latex, display):
    import quickjs

    try:
        return json.loads(_engine()(latex, display))
    except quickjs.JSException as error:
        said = str(error).strip().splitlines()[0]
        raise ValueError(f"no formula that can be set, by {said}: {latex}") from None


def set_pages(app, exception):
    """Set the formulas of all pages that have some in LaTeX."""
    if exception or app.builder.format != "html":
        return
    setter, failed = Setter(Path(app.doctreedir) / "mathematics.json"), []
    for path in sorted(Path(app.outdir).rglob("*.html")):
        html = path.read_text("utf-8")
        if not FORMULA.search(html):
            continue
        try:
            path.write_text(setter.page(html), "utf-8")
        except ValueError as error:
            failed.append(f"{path.relative_to(app.outdir)}: {error}")
    setter.keep()
    if failed:
        raise ExtensionError("\n".join(failed))


def setup(app):
    app.setup_extension("sphinx.ext.mathjax")  # whose writers of LaTeX do without its script
    app.add_html_math_renderer("set", (html_visit_math, None), (html_visit_displaymath, None))
    app.config.html_math_renderer = "set"
    app.add_css_file("mathematics/mathematics.css")
    app.add_js_file(f"mathematics/{PAGES}", loading_method="defer", priority=300)
    app.connect("build-finished", set_pages, priority=700)  # before pages are made lighter
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
