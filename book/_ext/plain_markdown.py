"""A page as the Markdown that every notebook shows: JupyterLab, Visual Studio Code, Colab.

These know headings, lists, tables and mathematics between dollars, and nothing of MyST. So the
page is written anew from the tree that Sphinx has resolved, in which every role and directive has
become words, with the numbers that the page prints. An equation keeps its label in a comment,
where `checked_equations` reads it.
"""

import re
from dataclasses import dataclass, field

from docutils import nodes
from starred import LISTED, moved_from

FOLDED = {"evidence", "hide-input", "hide-cell", "remove-cell", "remove-input"}
SILENT = (nodes.target, nodes.comment, nodes.Invisible, nodes.system_message, nodes.colspec)
SPECIAL = re.compile(r"[*`$<\\]|(?<![^\W_])_|_(?![^\W_])")
ENVIRONMENT = re.compile(r"\\begin\{([a-z]+\*?)\}.*?\\end\{\1\}", re.S)
MARKS = {"emphasis": "*", "strong": "**"}
HTML = {"superscript": "sup", "subscript": "sub"}


@dataclass(frozen=True)
class Words:
    """A block of Markdown; what is `folded` opens on a click, under the words of `summary`."""

    text: str
    summary: str = ""
    caption: bool = False


@dataclass(frozen=True)
class Code:
    """The code cell with this place in the notebook, and whether its code is folded away."""

    index: int
    folded: bool = False


@dataclass(frozen=True)
class Numbers:
    """The numbers on a page, by identifier."""

    sections: dict = field(default_factory=dict)
    figures: dict = field(default_factory=dict)  # by kind: displaymath, figure, exercise

    def section(self, node):
        """Return the number of a section with a blank behind it, or nothing."""
        names = node["ids"] if isinstance(node.parent, nodes.section) else [""]
        return next((f"{self.sections[i]} " for i in names if self.sections.get(i)), "")

    def of(self, kind, node):
        """Return the number of an equation, a figure or an exercise, or nothing."""
        return next((self.figures[kind, i] for i in node["ids"] if (kind, i) in self.figures), "")


def pieces(document, numbers):
    """Yield the blocks and code cells of a page, sections for a second reading in their places."""
    places = set(filter(None, map(moved_from, document.findall(nodes.comment))))
    sections = ((one["ids"][:1], one) for one in document.findall(nodes.section))
    moved = {own[0]: one for own, one in sections if places.intersection(own)}
    yield from _Writer(numbers, moved).blocks(document)
    cited = (node for node in document.findall(nodes.reference) if _cites(node))
    entries = list(dict.fromkeys(node["reftitle"] for node in cited))
    if entries:
        yield Words("\n".join(["## References", "", *(f"- {_escaped(e)}" for e in entries)]))


def _cites(node):
    return "reftitle" in node and node.get("internal") and "#" in node.get("refuri", "")


class _Writer:
    """Blocks, one method a kind; `summary` is that of the fold which is open."""

    def __init__(self, numbers, moved, depth=0, summary=""):
        self.numbers = numbers
        self.moved = moved
        self.depth = depth
        self.summary = summary

    def within(self, **changes):
        """Return the same, deeper in the page or inside a fold."""
        return _Writer(**{**vars(self), **changes})

    def blocks(self, node):
        """Yield the pieces of what stands inside `node`."""
        for child in node.children:
            yield from self.block(child)

    def block(self, node):
        """Yield the pieces of one node; of a kind that is not known, of what stands inside."""
        if moved_from(node) in self.moved:
            yield from self.section(self.moved[moved_from(node)])
            return
        if isinstance(node, SILENT) or type(node).__name__ == "generated":
            return
        if isinstance(node, nodes.Text | nodes.Inline) and not isinstance(node, nodes.raw):
            yield from self.words(inline(nodes.paragraph("", "", node.deepcopy())))
            return
        yield from getattr(self, type(node).__name__, self.blocks)(node)

    def words(self, text, **more):
        """Yield a block of words, where there are some."""
        if text.strip():
            yield Words(text, self.summary, **more)

    def inside(self, node):
        """Return the text of the blocks inside a node that holds no code."""
        found = list(self.blocks(node))
        return "\n\n".join(piece.text for piece in found if isinstance(piece, Words))

    def section(self, node):
        deeper = self.within(depth=self.depth + 1)
        listed = [one for one in node if LISTED in one["classes"]]
        if not listed:
            yield from deeper.blocks(node)
            return
        elsewhere = [*listed, *self.moved.values()]
        found = [piece for one in node[1:] if one not in elsewhere for piece in deeper.block(one)]
        if found:
            yield from deeper.block(node[0])
            yield from found

    def title(self, node):
        marks = "#" * min(max(self.depth, 1), 6)
        yield from self.words(f"{marks} {self.numbers.section(node.parent)}{inline(node)}")

    def paragraph(self, node):
        yield from self.words(_begun(inline(node)))

    def math_block(self, node):
        number = self.numbers.of("displaymath", node)
        yield from self.words(display(node.astext(), number, node.get("label")))

    def literal_block(self, node):
        fence = "`" * max(3, 1 + max(map(len, re.findall("`+", node.astext())), default=0))
        language = node.get("language", "") if node.get("language") != "default" else ""
        yield from self.words(f"{fence}{language}\n{node.astext()}\n{fence}")

    def raw(self, node):
        if "<script" in node.astext():
            yield from self.words("*Here the page of the book has a figure to operate.*")

    def bullet_list(self, node):
        yield from self.items(node, ["- "] * len(node.children))

    def enumerated_list(self, node):
        first = node.get("start", 1)
        yield from self.items(node, [f"{first + i}. " for i in range(len(node.children))])

    def items(self, node, marks):
        """Yield a list, each item behind its mark and indented by its width."""
        inside = [self.inside(item) for item in node.children]
        gap = "\n\n" if any("\n\n" in text for text in inside) else "\n"
        texts = (
            mark + re.sub(r"\n(?=.)", "\n" + " " * len(mark), text)
            for mark, text in zip(marks, inside, strict=True)
        )
        yield from self.words(gap.join(texts))

    def definition_list(self, node):
        for item in node:
            term, *rest = item.children
            yield from self.words(f"**{inline(term)}**")
            for part in rest:
                yield from self.block_quote(part)

    def block_quote(self, node):
        yield from self.words(re.sub(r"^", "> ", self.inside(node), flags=re.M))

    def table(self, node):
        rows = [[_cell(entry) for entry in row] for row in node.findall(nodes.row)]
        titles = [inline(title) for title in node.children if isinstance(title, nodes.title)]
        yield from (piece for title in titles for piece in self.words(f"**{title}**"))
        rule = ["---"] * len(rows[0])
        yield from self.words(
            "\n".join(f"| {' | '.join(row)} |" for row in [rows[0], rule, *rows[1:]])
        )

    def container(self, node):
        classes = node.get("classes", ())
        if node.get("nb_element") == "cell_code":
            hidden = any(name.removeprefix("tag_") in FOLDED for name in classes)
            yield Code(node["cell_index"], hidden or bool(self.summary))
            for figure in node.findall(nodes.figure):
                yield from self.figure(figure)
        elif "eqn-evidence" in classes:
            yield from self.within(summary=self.summary or "How this is checked").blocks(node)
        else:
            yield from self.blocks(node)

    def figure(self, node):
        number = self.numbers.of("figure", node)
        for caption in node.findall(nodes.caption):
            text = f"**Figure {number}.** {inline(caption)}" if number else inline(caption)
            yield from self.words(text, caption=True)

    def exercise_node(self, node):
        yield from self.headed(node, "Exercise")

    def exercise_enumerable_node(self, node):
        yield from self.headed(node, f"Exercise {self.numbers.of('exercise', node)}")

    def headed(self, node, name):
        """Yield a heading of a lower level, and its content."""
        for child in node.children:
            if isinstance(child, nodes.title):
                marks = "#" * min(self.depth + 1, 6)
                yield from self.words(f"{marks} {name} {inline(child).strip()}".rstrip())
            else:
                yield from self.blocks(child)

    def solution_node(self, node):
        title = next(child for child in node.children if isinstance(child, nodes.title))
        folded = self.within(summary=re.sub(r"\s+", " ", inline(title)))
        for child in node.children:
            if child is not title:
                yield from folded.blocks(child)

    def admonition(self, node):
        title = next(iter(node.findall(nodes.title)), None)
        name = inline(title) if title is not None else node.tagname.capitalize()
        rest = nodes.container("", *(c.deepcopy() for c in node.children if c is not title))
        text = f"**{name}.** {self.inside(rest)}"
        yield from self.words(re.sub(r"^", "> ", text, flags=re.M))

    note = warning = tip = hint = important = caution = attention = admonition


def display(latex, number="", label=""):
    """Return an equation between double dollars, its number in a tag, its label in a comment.

    >>> print(display("a &= b", "2.4", "eq-a"))
    $$
    \\begin{aligned}
    a &= b
    \\end{aligned}
    \\tag{2.4}
    $$
    <!-- label: eq-a -->
    """
    lines = [line.rstrip() for line in latex.splitlines() if line.strip()]
    outside = ENVIRONMENT.sub("", latex)  # a matrix aligns its own columns
    if "&" in outside or r"\\" in outside:
        lines = [r"\begin{aligned}", *lines, r"\end{aligned}"]
    tag = [rf"\tag{{{number}}}"] if number else []
    comment = [f"<!-- label: {label} -->"] if label else []
    return "\n".join(["$$", *lines, *tag, "$$", *comment])


def inline(node):
    """Return the content of a line of text as Markdown.

    >>> inline(nodes.paragraph("", "", nodes.Text("of 2 * 3 "), nodes.strong("", "all")))
    'of 2 \\\\* 3 **all**'
    """
    return re.sub(r"\s+", " ", "".join(map(_inline, node.children))).strip()


def _inline(node):
    name = type(node).__name__
    if isinstance(node, nodes.Text):
        return _escaped(node.astext())
    if isinstance(node, nodes.math):
        return f"${node.astext().strip()}$"
    if isinstance(node, nodes.literal):
        mark = "`" * (1 + max(map(len, re.findall("`+", node.astext())), default=0))
        return f"{mark}{node.astext()}{mark}"
    if isinstance(node, (*SILENT, nodes.raw)):
        return ""
    text = "".join(map(_inline, node.children))
    if name in MARKS:
        return _marked(text, MARKS[name])
    if name in HTML:
        return f"<{HTML[name]}>{text}</{HTML[name]}>"
    if isinstance(node, nodes.reference) and "://" in node.get("refuri", ""):
        return f"[{text}]({node['refuri']})"
    return text


def _marked(text, mark):
    """Return words between marks, with the blanks at their ends outside."""
    bare = text.strip()
    head, tail = text[: len(text) - len(text.lstrip())], text[len(text.rstrip()) :]
    return f"{head}{mark}{bare}{mark}{tail}" if bare else text


def _escaped(text):
    return SPECIAL.sub(lambda match: "\\" + match[0], text)


def _begun(text):
    """Return a paragraph, escaped where it begins like a list or a heading."""
    return re.sub(r"^(\d+)([.)] )", r"\1\\\2", re.sub(r"^([-+#>=])", r"\\\1", text))


def _cell(entry):
    """Return the text of one cell of a table; a bar in a formula would end it."""
    text = " ".join(inline(part) for part in entry.children)
    return re.sub(r"(?<!\\)\|", r"\\vert ", text) if "$" in text else text.replace("|", r"\|")
