"""Draw `book/card.png`, which other sites show with a link: ``python tools/card.py``.

It is the README's picture on white, in the size that they ask for; most take no SVG. Run it after
`picture.py`. It comes to the site only where that has an address, by `site_address.py`.
"""

from __future__ import annotations

from pathlib import Path

from system_browser import browser_path

ROOT = Path(__file__).resolve().parents[1]
PICTURE = ROOT / "book" / "_static" / "picture-light.svg"
COLOURS = ROOT / "src" / "gpnotes" / "colours.css"
CARD = ROOT / "book" / "card.png"
SIZE = {"width": 1200, "height": 630}
PAGE = """<body style="margin:0;display:flex;flex-direction:column;height:630px;gap:36px;
justify-content:center;align-items:center;font:600 40px sans-serif;
background:var(--book-paper);color:var(--book-data)">
<style>{colours} svg {{ width: 1080px; height: auto; }}</style>{picture}
<div>gpnotes: equations that check themselves</div></body>"""


def main() -> None:
    """Draw it in a browser."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=browser_path(), args=["--no-sandbox"])
        page = browser.new_page(viewport=SIZE)
        page.set_content(
            PAGE.format(picture=PICTURE.read_text("utf-8"), colours=COLOURS.read_text("utf-8"))
        )
        page.screenshot(path=CARD)
        browser.close()


if __name__ == "__main__":
    main()
