"""Pictures on the page: their sizes are known before they come, and on a phone panels stand in a
column.

A figure of several panels beside each other is shrunk to half its size on a phone. The page
therefore carries it a second time, as one view of the same file for each panel (an SVG address
may name the part to show), and the style sheet chooses. What parts the panels are is read in
the file: the frames of the axes, and the labels to their left.
"""

import re
from html import escape
from itertools import pairwise
from pathlib import Path

IMAGE = re.compile(
    r'<img (?P<before>[^>]*?)src="(?P<src>[^"]*_images/[^"]*\.svg)"(?P<after>[^>]*?)/?>'
)
SIZE = re.compile(r'<svg[^>]*viewBox="0 0 ([\d.]+) ([\d.]+)"')
AXES = re.compile(r'<g id="axes_\d+">')
FRAME = re.compile(r'<g id="patch_\d+">\s*<path d="M ([\d.-]+) [\d.-]+\s+L ([\d.-]+) ')
TEXT = re.compile(
    r'<g id="text_\d+">.*?translate\(([\d.-]+) [\d.-]+\)(?: rotate\((-?\d+)\))?'
    r'(?: scale\(([\d.]+))?(.*?)(?=<g id="|\Z)',
    re.DOTALL,
)
STEP = re.compile(r'<use [^>]*transform="translate\(([\d.]+) ')
SLIM = 30  # points: a scale of colours belongs to the panel on its left
PIXELS = 4 / 3  # in a point: nine points are twelve pixels
NARROW = 150  # points: panels that are narrower on average stand two in a row on a phone
LIT = "book-lit"  # the class of what has light and shadow: in the dark it is not turned
LETTER = 11  # points: what a label that is turned needs to the left of its base line
DIGIT = 64  # hundredths of the size of the letters: the breadth of one


def size(picture):
    """Return width and height of a picture in points, or None."""
    found = SIZE.search(picture)
    return tuple(map(float, found.groups())) if found else None


def columns(picture):
    """Return the panels side by side: the left end of each with its labels, its frame, and
    the right end of its labels.
    """
    starts = [match.start() for match in AXES.finditer(picture)] + [len(picture)]
    parts = [picture[a:b] for a, b in pairwise(starts)]
    frames = sorted(filter(None, map(_extent, parts)))
    joined = []
    for left, low, high, right in frames:
        if joined and (low < joined[-1][2] or high - low < SLIM):
            last = joined[-1]
            joined[-1] = (min(last[0], left), last[1], max(last[2], high), max(last[3], right))
        else:
            joined.append((left, low, high, right))
    return joined


def _extent(axes):
    """Return the left end of the axes with their labels, the ends of their frame, and the
    right end of the labels.
    """
    ends = (sorted(map(float, frame.groups())) for frame in FRAME.finditer(axes))
    wide = next((pair for pair in ends if pair[0] < pair[1]), None)
    if not wide:  # an upright spine comes first where nothing is painted behind the axes
        return None
    low, high = wide
    labels = TEXT.findall(axes)
    lefts = [float(x) - LETTER * bool(turned) for x, turned, *_ in labels]
    rights = [
        float(x) + float(scale) * (max(map(float, STEP.findall(letters)), default=0) + DIGIT)
        for x, turned, scale, letters in labels
        if scale and not turned
    ]
    return min([low, *(x for x in lefts if x < low)]), low, high, max([high, *rights])


def cuts(picture, width):
    """Return the places to cut a picture of several panels, from left to right."""
    panels = columns(picture)
    pairs = pairwise(panels)
    inner = [
        max(before[2] + 1, after[0] - 4, min(before[3] + 1, after[0])) for before, after in pairs
    ]
    return [0.0, *inner, width] if inner else []


def shown(match, folder_of):
    """Return the element of an image: with its size, lazily, and with its panels apart."""
    path = folder_of(Path(match["src"]).name)
    picture = path.read_text("utf-8") if path else ""
    extent = size(picture)
    if not extent:
        return match.group(0)
    named = match["before"] + match["after"]
    alt = re.search(r'alt="[^"]*"', named)
    kept = re.sub(r'\b(width|height|loading|class)="[^"]*"', "", named).split()
    how = f"dark-light {LIT}" if LIT in named else "dark-light"
    attributes = f'src="{match["src"]}" class="book-picture {how}" loading="lazy"'
    width, height = (round(points * PIXELS) for points in extent)
    whole = f"<img {' '.join(kept)} {attributes} width={width} height={height}>"
    return whole + _panels(match["src"], cuts(picture, extent[0]), extent, alt, how)


def _panels(src, at, extent, alt, how):
    """Return the panels of a picture, one below the other; the first has the description."""
    images = []
    narrow = " book-panel-narrow" if at and extent[0] / (len(at) - 1) < NARROW else ""
    for i, (left, right) in enumerate(pairwise(at)):
        view = f"{src}#svgView(viewBox({left:.0f},0,{right - left:.0f},{extent[1]:.0f}))"
        said = alt.group(0) if alt and not i else 'alt="" role="presentation"'
        ratio = f'style="aspect-ratio:{right - left:.0f}/{extent[1]:.0f}"'
        kind = f'class="book-panel{narrow} {how}" loading="lazy" {ratio}'
        images.append(f'<img src="{escape(view)}" {said} {kind}>')
    return f'<span class="book-panels">{"".join(images)}</span>' if images else ""


def place(app, pagename, templatename, context, doctree):
    """Replace each picture of a page."""
    if "_images/" not in context.get("body", ""):
        return
    files = {name: Path(app.srcdir) / path for path, name in app.builder.images.items()}
    context["body"] = IMAGE.sub(lambda match: shown(match, files.get), context["body"])


def setup(app):
    app.connect("html-page-context", place, priority=600)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
