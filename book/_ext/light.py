"""Lighter pages: styles without unused rules, code and pictures without invisible parts.

The theme's style sheets hold all of Bootstrap and two thousand icons. At the end of a build the
names that the pages and their scripts use are gathered, and a rule stays if all classes of one
of its selectors are among them; a custom property stays if something asks for it. Pictures keep
two decimals of a point; a printer does not see more. And they lose what says nothing. Scour makes
them as small in fourteen times the seconds.

The theme's script no longer asks each box of code how wide it is: with what is folded that took
half a second, one layout a box. `wide-formulas.js` asks those in sight, all at once.
"""

import re
from decimal import Decimal
from pathlib import Path
from string import ascii_letters

import tinycss2
from sphinx.errors import ExtensionError

GROUPS = ("media", "supports", "layer", "container")
THEME = ("styles", "vendor", "basic.css", "sphinx-design.min.css", "mystnb", "proof.css")
BOOTSTRAP = "_static/scripts/bootstrap.js"
SCRIPT = "_static/scripts/pydata-sphinx-theme.js"
MENUS = Path(__file__).with_name("menus.js")  # in its place: an eightieth of the bytes
CLASS = re.compile(r"\.(-?[A-Za-z_](?:[\w-]|\\.)*)")
WANTED = re.compile(r"""(?:var\(\s*|["'])(--[\w-]+)""")  # by a rule, or by a script
INSIDE = re.compile(r":not\((?:[^()]|\([^()]*\))*\)|\[[^\]]*\]|\"[^\"]*\"")
WORD = re.compile(r"[A-Za-z_][\w-]*")
PLAIN = re.compile(r'<span class="(?:n|nn|o|p|w|mi|mf)">([^<]*)</span>|(?<=<pre>)<span></span>')
TEXT = re.compile(r'(?:<span class="s[12ai]">[^<]*</span>){2,}')  # pieces of a string
DIGITS = re.compile(r"(-?\d+\.\d{2})\d+")
PATH = re.compile(r' d="([^"]*)"')
MARKS = re.compile(r'<g( (?:(?!style=)[^>])*)?>((?:\s*<use [^>]*? style="[^"]*"/>){2,})\s*</g>')
STYLE = re.compile(r' style="([^"]*)"')
MARK = re.compile(r'<path id="(m\w+)"[^>]*/>')
USE = re.compile(r'<use xlink:href="#(m\w+)"[^>]*/>')
USED = re.compile(r'<use xlink:href="#(m\w+)"(?:(?! style=)[^>])*?( style="[^"]*")?/>')
GROUP = re.compile(r"<g(?: [^>]*)?>|</g>")
ASKED = re.compile(r"(?<=[\"(])#([\w.-]+)(?=[\")])")
NAMED = re.compile(r' id="([\w.-]+)"')
ALONE = re.compile(r"^[ \t]*(?:/\*(?:(?!\*/)[\s\S])*\*/[ \t]*\n|//.*\n|\n|(?=\S))", re.MULTILINE)
MEASURED = re.compile(r'document\.querySelectorAll\(\["pre",[^\]]*\]\.join\(", "\)\)\.forEach\(')
NONE = "[].forEach("
NOTES = re.compile(r"<metadata>.*?</metadata>|<!--.*?-->", re.DOTALL)
DRAWN = re.compile(r'\b(?:d|x|y|points)="[^"]*"|translate\([^)]*\)')  # no factor of a scale


def used(folder):
    """Return the names that pages use as classes, and all words of their scripts."""
    names = set()
    for page in folder.rglob("*.html"):
        for classes in re.findall(r'class="([^"]*)"', page.read_text("utf-8")):
            names.update(classes.split())
    for script in (folder / "_static").rglob("*.js"):
        if script.name not in ("search-data.js", "temml.js", "fontawesome.js"):
            names.update(WORD.findall(script.read_text("utf-8")))
    return names


def asked(folder, *kinds):
    """Return the custom properties that files of these kinds ask for."""
    files = [path for kind in kinds for path in folder.rglob(kind) if path.name != "search-data.js"]
    return {name for path in files for name in WANTED.findall(path.read_text("utf-8"))}


def pruned(rules, names, properties):
    """Return the rules, as text, that have at least one selector with a match.

    Of custom properties those stay that are among `properties`.
    """
    return "".join(filter(None, (_rule(rule, names, properties) for rule in rules)))


def _rule(rule, names, properties):
    if rule.type == "at-rule" and rule.content is not None and rule.lower_at_keyword in GROUPS:
        inner = pruned(tinycss2.parse_rule_list(rule.content, True, True), names, properties)
        prelude = tinycss2.serialize(rule.prelude)
        return f"@{rule.at_keyword}{prelude}{{{inner}}}" if inner else ""
    if rule.type == "at-rule" and rule.lower_at_keyword == "font-face":
        return "" if "Awesome" in rule.serialize() else rule.serialize()
    if rule.type != "qualified-rule":
        return rule.serialize()
    kept = [one for one in selectors(tinycss2.serialize(rule.prelude)) if meets(one, names)]
    content = _declarations(rule.content, properties) if kept else ""
    return f"{','.join(kept)}{{{content}}}" if content else ""


def _declarations(content, properties):
    found = tinycss2.parse_blocks_contents(content, True, True)
    if any(one.type != "declaration" for one in found):
        return tinycss2.serialize(content)
    stay = [one for one in found if not one.name.startswith("--") or one.name in properties]
    return ";".join(one.serialize().removesuffix(";") for one in stay)


def selectors(text):
    """Return the selectors of a list, parted at the commas outside of brackets."""
    parts, depth = [""], 0
    for character in text:
        depth += (character in "([") - (character in ")]")
        if character == "," and not depth:
            parts.append("")
        else:
            parts[-1] += character
    return parts


def meets(selector, names):
    """Return whether all classes of a selector are used; one of several in `:is()` will do."""
    bare = INSIDE.sub("", selector)
    asked = CLASS.findall(re.sub(r":(?:is|where|has)\(.*\)", "", bare))
    return all(name.replace("\\", "") in names for name in asked)


def rounded(picture):
    """Return a picture with two decimals in its coordinates."""
    return DRAWN.sub(lambda drawn: DIGITS.sub(_short, drawn.group(0)), picture)


def compact(picture):
    """Return a picture without notes and names that nothing refers to, idempotently.

    Straight lines go by their differences, marks that look alike have one style, groups that say
    nothing go, and the names that are left are short.
    """
    picture = PATH.sub(_by_differences, NOTES.sub("", picture))
    picture = MARKS.sub(_one_style, _styled_once(picture))
    needed = list(dict.fromkeys(ASKED.findall(picture)))
    picture = NAMED.sub(lambda match: match[0] if match[1] in needed else "", picture)
    picture = _without_groups(re.sub(r">\s+<", "><", picture))
    short = {name: f"{ascii_letters[i % 52]}{i // 52 or ''}" for i, name in enumerate(needed)}
    picture = ASKED.sub(lambda match: f"#{short[match[1]]}", picture).replace("xlink:href", "href")
    picture = NAMED.sub(lambda match: f' id="{short[match[1]]}"', picture)
    return STYLE.sub(lambda style: re.sub(r"([:;]) ", r"\1", style[0]), picture)


def _styled_once(picture):
    """Return a picture with the style of a mark where it is drawn, if all its uses agree on it."""
    styles = {}
    for name, style in USED.findall(picture):
        styles.setdefault(name, set()).add(style)
    drawn = {*MARK.findall(picture)}
    agreed = {name: own.pop() for name, own in styles.items() if name in drawn and len(own) == 1}

    def at_the_mark(match):
        own = agreed.get(match[1])
        return f"{STYLE.sub('', match[0]).removesuffix('/>')}{own}/>" if own else match[0]

    picture = MARK.sub(at_the_mark, picture)
    return USE.sub(lambda use: STYLE.sub("", use[0]) if agreed.get(use[1]) else use[0], picture)


def _without_groups(picture):
    """Return a picture without the tags of groups that have no attribute."""
    said = []

    def kept(match):
        if match[0] == "</g>":
            return match[0] if said.pop() else ""
        said.append(match[0] != "<g>")
        return match[0] if said[-1] else ""

    return GROUP.sub(kept, picture)


def _by_differences(match):
    """Return ``M 1 2 L 3 4 L 5 6`` as ``M 1 2l2 2 2 2``: in decimals, so no rounding adds up."""
    if "\n" not in match[1]:  # as an earlier build left it
        return match[0]
    words, before, here = [], "", None
    for line in filter(None, map(str.strip, match[1].splitlines())):
        letter, *numbers = line.split()
        there = [Decimal(number) for number in numbers[-2:]]
        if letter == "L" and here and len(numbers) == 2:
            steps = " ".join(_brief(b - a) for a, b in zip(here, there, strict=True))
            words.append(f" {steps}" if before == "L" else f"l{steps}")
        else:
            words.append(line)
        before, here = letter, there if len(there) == 2 else None
    return f' d="{"".join(words)}"'


def _brief(number):
    """Return a decimal without a zero before its point."""
    text = f"{number.normalize():f}"
    return re.sub(r"^(-?)0\.", r"\1.", text) if number else "0"


def _one_style(match):
    styles = set(STYLE.findall(match[2]))
    if len(styles) > 1:
        return match[0]
    return f'<g{match[1] or ""} style="{styles.pop()}">{STYLE.sub("", match[2])}</g>'


def _short(match):
    return match.group(1).rstrip("0").rstrip(".")


def plain_code(app, pagename, templatename, context, doctree):
    """Remove the elements around names, signs, numbers and spaces of code on a page.

    Both styles give names, commas and spaces the colour of all code, and signs such as ``+`` and
    numbers need no other; together they are a third of the bytes of a chapter. A string in pieces
    of one colour becomes one.
    """
    if "body" in context:
        context["body"] = TEXT.sub(_one_text, PLAIN.sub(r"\1", context["body"]))


def _one_text(match):
    return f'<span class="s2">{re.sub("<[^>]*>", "", match[0])}</span>'


def lighten(app, exception):
    """Lighten the style sheets of others and the pictures, after everything is written."""
    if exception or app.builder.format != "html":
        return
    folder = Path(app.outdir)
    (folder / BOOTSTRAP).write_text(without_notes(MENUS.read_text("utf-8")), encoding="utf-8")
    script = (folder / SCRIPT).read_text("utf-8")
    (folder / SCRIPT).write_text(unmeasured(script), encoding="utf-8")
    prune(folder)
    for name in own(app):
        path = folder / "_static" / name
        path.write_text(without_notes(path.read_text("utf-8")), encoding="utf-8")
    for path in (folder / "_images").glob("*.svg"):
        path.write_text(compact(rounded(path.read_text("utf-8"))), encoding="utf-8")
    drop(folder / "_static")


def unmeasured(script):
    """Return the theme's script without the boxes that it measures, idempotently."""
    if NONE in script:
        return script
    left, count = MEASURED.subn(NONE, script)
    if count != 1:
        raise ExtensionError(f"{SCRIPT} measures boxes in another way than this book knows")
    return left


def prune(folder):
    """Prune the style sheets of others, until no property is there for one that went."""
    names, outside = used(folder), asked(folder, "*.html", "*.js")
    static = folder / "_static"
    sheets = [path for name in THEME for path in static.glob(f"{name}*") if path.is_file()]
    sheets += [path for name in THEME for path in static.glob(f"{name}*/**/*.css")]
    before = None
    while before != (properties := outside | asked(static, "*.css")):
        before = properties
        for path in sheets:
            rules = tinycss2.parse_stylesheet(path.read_text("utf-8"), True, True)
            path.write_text(pruned(rules, names, properties), encoding="utf-8")


def own(app):
    """Return the names of the book's own scripts and style sheets."""
    static = Path(app.srcdir) / "book" / "_static"
    return sorted(path.name for kind in ("*.js", "*.css") for path in static.glob(kind))


def without_notes(text):
    """Return a script or a style sheet without indents, and comments on lines of their own."""
    return ALONE.sub("", text)


def drop(static):
    """Remove files that no page asks for, and the README's picture, which no page shows."""
    unused = ["scripts/fontawesome.js", "scripts/fontawesome.js.LICENSE.txt", "searchtools.js"]
    unused += ["language_data.js", "sphinx_highlight.js"]
    idle = [static / name for name in unused]
    idle += static.glob("picture-*.svg")
    idle += [*static.rglob("*.js.map"), *static.rglob("*.css.map"), *static.rglob("fa-*.*")]
    for path in idle:
        path.unlink(missing_ok=True)


def setup(app):
    app.connect("html-page-context", plain_code, priority=970)
    app.connect("build-finished", lighten, priority=900)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
