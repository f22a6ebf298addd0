"""Colours as they are seen: contrast, hue, and what the dark theme makes of a picture."""

from __future__ import annotations

import colorsys
from typing import TypeAlias

import numpy as np

Colour: TypeAlias = np.ndarray
LIGHTNESS = np.array([0.213, 0.715, 0.072])  # the weights of `hue-rotate` in CSS filters


def parts(colour: str) -> Colour:
    """Red, green and blue of ``#rrggbb``, each between zero and one."""
    return np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255.0


def contrast(one: str, other: str) -> float:
    """The ratio of relative luminances that WCAG 2 defines."""

    def luminance(colour: str) -> float:
        seen = parts(colour)
        linear = np.where(seen <= 0.04045, seen / 12.92, ((seen + 0.055) / 1.055) ** 2.4)
        return float(linear @ [0.2126, 0.7152, 0.0722])

    dark, light = sorted([luminance(one), luminance(other)])
    return (light + 0.05) / (dark + 0.05)


def turned(colour: Colour) -> Colour:
    """What ``invert(1) hue-rotate(180deg)`` makes of a colour."""
    opposite = 1.0 - colour
    return np.clip(2.0 * LIGHTNESS @ opposite - opposite, 0.0, 1.0)


def hue(colour: Colour) -> float:
    """The hue in degrees."""
    return 360.0 * colorsys.rgb_to_hsv(*map(float, colour))[0]


def apart(one: Colour, other: Colour) -> float:
    """How far two hues are apart, in degrees."""
    between = abs(hue(one) - hue(other))
    return min(between, 360.0 - between)
