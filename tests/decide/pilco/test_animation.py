"""Pendulums that swing in a notebook."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import numpy as np
import pytest

from gpnotes.decide.pilco.animation import Animation, animated_pendulums


def swinging(**more):
    paths = {"hanging & still": np.full(4, np.pi), "swung up": np.linspace(np.pi, 2.0 * np.pi, 4)}
    return animated_pendulums(paths, 2.5, name="here", alt="One < two.", **more).html


def test_pendulums_are_a_drawing_that_says_what_it_shows():
    root = ElementTree.fromstring(swinging().replace('id="here-go">', 'id="here-go"/>'))
    svg = root.find("svg")
    assert svg.attrib["role"] == "img"
    assert svg.attrib["aria-label"] == svg.find("title").text == "One < two."
    assert [text.text for text in svg.iter("text")] == ["hanging & still", "swung up"]
    assert len(list(svg.iter("line"))) == 2


def test_pendulums_turn_as_their_angles_do():
    """The simulator counts against the clock, SVG with it."""
    html = swinging()
    frames = re.search(r"@keyframes here-r1\{(.*?\})\}", html).group(1)
    turns = [float(turn) for turn in re.findall(r"rotate\((-?[\d.]+)deg\)", frames)]
    assert turns == [-180.0, -240.0, -300.0, -360.0]
    assert "here-r1 2.5s linear infinite" in html


def test_a_pole_moves_with_its_cart():
    """To the right by lengths of a pendulum, each of 40 pixels, within a panel that has room."""
    places = {"a": [0.0, -1.0, 1.5], "b": np.zeros(3)}
    poles = {"a": [0.0, 0.1, 0.2], "b": np.zeros(3)}
    html = animated_pendulums(poles, 1.0, pivots=places, name="on", alt="Carts.").html
    frames = re.search(r"@keyframes on-c0\{(.*?\})\}", html).group(1)
    assert re.findall(r"translateX\((-?[\d.]+)px\)", frames) == ["0.0", "-40.0", "60.0"]
    assert 'viewBox="0 0 480 130"' in html
    assert html.count("<rect") == 2
    assert "<circle r=" not in html
    assert html.count("animation:") == 4


def test_pivots_of_other_captions_are_refused():
    still = {"a": np.zeros(3)}
    with pytest.raises(ValueError, match=r"pivots must have the captions of paths, \['a'\]; got"):
        animated_pendulums(still, 1.0, pivots={"b": np.zeros(3)}, name="x", alt="y")
    with pytest.raises(ValueError, match="the pivots of 'a' must have shape"):
        animated_pendulums(still, 1.0, pivots={"a": np.zeros(4)}, name="x", alt="y")
    with pytest.raises(TypeError, match="pivots must be a mapping from the captions of paths"):
        animated_pendulums(still, 1.0, pivots=[np.zeros(3)], name="x", alt="y")


def test_pendulums_swing_when_asked_alone_and_ask_nothing_of_the_network():
    html = swinging()
    moved = "@media screen and (prefers-reduced-motion:no-preference){#here-go:checked~#here .r"
    assert html.count("animation:") == html.count(moved) == 2
    assert "(prefers-reduced-motion:reduce){#here-go,[for=here-go]{display:none}}" in html
    assert "//" not in html
    assert "<script" not in html


def test_an_animation_is_html_in_a_notebook_and_short_as_text():
    drawn = Animation("<div></div>")
    assert drawn._repr_html_() == drawn.html
    assert repr(drawn) == "Animation(...)"


def test_pendulums_of_different_lengths_are_refused():
    with pytest.raises(ValueError, match="must have shape"):
        animated_pendulums({"a": np.zeros(3), "b": np.zeros(4)}, 1.0, name="x", alt="y")


def test_pendulums_that_cannot_be_drawn_are_refused():
    still = {"a": np.zeros(3)}
    with pytest.raises(ValueError, match="the path 'a' must be finite; 1 of its entries are not"):
        animated_pendulums({"a": np.asarray([0.0, np.nan])}, 1.0, name="x", alt="y")
    with pytest.raises(ValueError, match="the path 'a' must have at least one angle"):
        animated_pendulums({"a": []}, 1.0, name="x", alt="y")
    with pytest.raises(ValueError, match="paths must hold at least one path"):
        animated_pendulums({}, 1.0, name="x", alt="y")
    with pytest.raises(ValueError, match="seconds must be positive"):
        animated_pendulums(still, 0.0, name="x", alt="y")
    with pytest.raises(ValueError, match="name must be a letter, then"):
        animated_pendulums(still, 1.0, name="two words", alt="y")


@pytest.mark.parametrize(
    ("paths", "seconds", "name", "error", "message"),
    [
        ([np.ones(2)], 1.0, "a", TypeError, "paths must be a mapping"),
        ({"a": np.ones(2)}, "1", "a", TypeError, "seconds must"),
        ({"a": np.ones(2)}, 1.0, 3, ValueError, "name must be a"),
        ({"a": [None, 1.0]}, 1.0, "a", TypeError, "the path 'a' must hold real numbers"),
    ],
)
def test_what_cannot_swing_is_refused_by_name(paths, seconds, name, error, message):
    with pytest.raises(error, match=message):
        animated_pendulums(paths, seconds, name=name, alt="b")
