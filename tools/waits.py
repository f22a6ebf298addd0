"""How long a reader waits: ``python tools/waits.py``, after `make book`.

Of each figure that is operated the slowest states: every end of every slider, every choice, every
thing to try, the middle of seven redraws in milliseconds. Of pages, at a quarter of the processor's
speed and as wide as a desk and as a telephone, the blocking: what tasks of more than 50
milliseconds last beyond these. Meant for a quiet machine; `python tools/waits.py figures` or
`pages` asks for half of it.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from typing import Any

from book_pdf import HTML, ROOT
from system_browser import browser_path

STATIC = ROOT / "book" / "_static"
FIGURE = """<!doctype html><html lang="en"><head><meta charset="utf-8">
<link rel="stylesheet" href="{static}/../../src/gpnotes/colours.css">
<link rel="stylesheet" href="{static}/gp-playground.css"></head>
<body><figure id="still"></figure>
<div data-gp-playground="still" data-gp-kind="{kind}" data-gp-given='{given}'></div>
<script src="{static}/gp-numbers.js"></script><script src="{static}/operated-figure.js"></script>
<script src="{static}/{script}-playground.js"></script></body></html>"""
GIVEN = re.compile(r"data-gp-kind=\"(\w+)\" data-gp-given='(.*?)'")
PAGES = ("book/ledger.html", "book/sources-line-by-line.html")

# What a figure keeps between two drawings goes, so that each is drawn from nothing.
REDRAWS = """() => {
    const figure = document.querySelector('.gp-playground').playground;
    const once = () => {
        Object.assign(figure, { asked: null, key: null, drawn: null });
        const start = performance.now();
        figure.draw();
        return performance.now() - start;
    };
    const time = () => Array.from({ length: 7 }, once).sort((a, b) => a - b)[3];
    const found = [];
    const note = (name, change) => {
        figure.reset();
        change();
        found.push([name, time()]);
    };
    const set = (name, value) => note(`${name} ${value}`, () => { figure.state[name] = value; });
    figure.trialsOf.forEach(([name, changes]) => note(name, () => figure.become(changes)));
    figure.root.querySelectorAll('input[type=range]').forEach((input) =>
        [input.min, input.max].forEach((end) => set(input.dataset.name, Number(end))));
    figure.root.querySelectorAll('select').forEach((select) =>
        [...select.options].forEach((one) => set(select.dataset.name, one.value)));
    return found.sort((one, other) => other[1] - one[1]);
}"""
WATCH = """window.gpTasks = [];
new PerformanceObserver((list) => list.getEntries().forEach((entry) =>
    window.gpTasks.push(entry.duration))).observe({ type: 'longtask', buffered: true });"""
REST = 2000  # milliseconds after the last formula


def figures(browser: Any) -> Iterator[tuple[str, list[tuple[str, float]]]]:
    """Each figure with its states, the slowest first, and milliseconds."""
    texts = (path.read_text("utf-8") for path in (ROOT / "book").rglob("*.md"))
    given = dict(found for text in texts for found in GIVEN.findall(text))
    for path in sorted(STATIC.glob("*-playground.js")):
        script = path.name.removesuffix("-playground.js")
        kind = {"gp": "exact"}.get(script, script)
        page = browser.new_page(viewport={"width": 800, "height": 900})
        page.goto(STATIC.as_uri())  # a page of no host may not ask for files
        page.set_content(
            FIGURE.format(
                static=STATIC.as_uri(), kind=kind, script=script, given=given.get(kind, "{}")
            )
        )
        yield kind, page.evaluate(REDRAWS)
        page.close()


def blocking(browser: Any, name: str, width: int) -> tuple[float, float]:
    """Seconds for which a page is deaf at a quarter of the speed: in all, and the longest."""
    context = browser.new_context(viewport={"width": width, "height": 900})
    page = context.new_page()
    page.set_default_timeout(600_000)
    page.add_init_script(WATCH)
    session = context.new_cdp_session(page)
    session.send("Emulation.setCPUThrottlingRate", {"rate": 4})
    page.goto((HTML / name).as_uri())
    page.evaluate("() => window.MathJax?.startup?.promise")
    page.wait_for_timeout(REST)
    beyond = [max(0.0, took - 50) / 1000 for took in page.evaluate("window.gpTasks")]
    context.close()
    return sum(beyond), max(beyond, default=0.0)


def main() -> None:
    """Print both, or the half that is asked for."""
    from playwright.sync_api import sync_playwright

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", nargs="?", choices=["figures", "pages"])
    parser.add_argument("--page", action="append", help="such as book/ledger.html")
    given = parser.parse_args()
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=browser_path(), args=["--no-sandbox"])
        if given.what != "pages":
            for kind, states in figures(browser):
                slowest = ", ".join(f"{name} {took:.0f}" for name, took in states[:3])
                print(f"{kind:12} {slowest}", flush=True)
        if given.what != "figures":
            for name in given.page or PAGES:
                for width in (1280, 390):
                    took, longest = blocking(browser, name, width)
                    print(f"{name} at {width} px: {took:.1f} s, {longest:.1f} at once", flush=True)
        browser.close()


if __name__ == "__main__":
    main()
