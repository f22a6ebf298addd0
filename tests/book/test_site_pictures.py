"""The panels of a picture, as a phone shows them one below the other."""

from __future__ import annotations

import io
from typing import Any

import pytest
from matplotlib.figure import Figure


@pytest.fixture
def site_pictures(extension: Any) -> Any:
    return extension("site_pictures")


def svg(figure: Figure) -> str:
    file = io.StringIO()
    figure.savefig(file, format="svg")
    return file.getvalue()


@pytest.mark.parametrize("panels", [1, 2, 3])
def test_panels_beside_each_other_are_counted(site_pictures: Any, panels: int) -> None:
    figure = Figure(figsize=(7.2, 3))
    figure.subplots(1, panels)
    assert len(site_pictures.columns(svg(figure))) == panels


@pytest.mark.parametrize("painted", [True, False])
def test_a_second_axis_on_the_right_is_no_panel(site_pictures: Any, painted: bool) -> None:
    """Nor where nothing is painted behind the first, so that an upright line comes first there."""
    figure = Figure(figsize=(6, 3.2))
    ax = figure.subplots()
    other = ax.twinx()
    other.bar([1, 2, 3], [0.2, 0.3, 0.1])
    ax.plot([1, 2, 3], [-20, -30, -60])
    ax.patch.set_visible(painted)
    (column,) = site_pictures.columns(svg(figure))
    assert column[2] - column[1] > 200


@pytest.mark.parametrize("last", ["9", "16000", "1600000"])
def test_the_last_number_of_an_axis_is_not_cut(site_pictures: Any, last: str) -> None:
    """It reaches beyond its frame, close to the name of the next axis."""
    figure = Figure(figsize=(7.2, 3), dpi=72, layout="constrained")
    first, second = figure.subplots(1, 2)
    first.set_xticks([0, 1], ["0", last])
    second.set_ylabel("seconds")
    picture = svg(figure)
    _, cut, _ = site_pictures.cuts(picture, site_pictures.size(picture)[0])
    number, name = first.get_xticklabels()[-1], second.yaxis.label
    assert number.get_window_extent().x1 < cut < name.get_window_extent().x0


NINE_PIXELS = 490  # as wide as a picture of 367 pixels may be whose letters of nine points are that
# rows of drawings that touch: a phone shows them small, until they are spread with two fingers
WHOLE = {"fig-tl-backups", "fig-tl-posterior", "fig-be-answer", "fig-be-playground", "fig-pc-cart"}


@pytest.mark.book
def test_letters_of_nine_points_are_nine_pixels_on_a_phone(trees: Any) -> None:
    wide = {}
    for name in trees:
        for figure in trees[name].css("figure"):
            panels = figure.css_first(".book-panels")
            drawn = figure.css_first("img.book-picture")
            if drawn is not None and panels is None:
                width = int(drawn.attributes["width"])
                if width > NINE_PIXELS:
                    wide[figure.attributes.get("id")] = width
    assert wide.keys() == WHOLE, wide
