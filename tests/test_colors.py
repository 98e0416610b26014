"""Colours of pictures are told apart with each kind of colour blindness."""

import itertools

import numpy as np
import pytest

from committee.plots import style
from committee.trees.tree_layout import class_color

# What is seen of linear RGB (Machado, Oliveira and Fernandes 2009, severity 1).
SIGHTS = {
    "full": np.eye(3),
    "no red cones": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "no green cones": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "no blue cones": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
}


def lab(color, sight):
    """CIE L*a*b* of a colour as it is seen, where distances are about as large as they look."""
    parts = np.array([int(color[k : k + 2], 16) / 255 for k in (1, 3, 5)])
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    seen = np.clip(np.array(sight) @ linear, 0, 1)
    to_xyz = [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
    x, y, z = np.array(to_xyz) @ seen / [0.9505, 1.0, 1.089]
    fx, fy, fz = (t ** (1 / 3) if t > 0.008856 else 7.787 * t + 16 / 116 for t in (x, y, z))
    return np.array([116 * fy - 16, 500 * (fx - fy), 200 * (fy - fz)])


def least_distance(colors, sight):
    points = [lab(color, SIGHTS[sight]) for color in colors]
    return min(np.linalg.norm(a - b) for a, b in itertools.combinations(points, 2))


@pytest.mark.parametrize(("sight", "least"), [*zip(SIGHTS, [25, 20, 20, 14], strict=True)])
def test_colours_of_ten_classes_and_of_lines_are_far_apart(sight, least):
    assert least_distance([class_color(code) for code in range(10)], sight) > least
    lines = [style.BLUE, style.ORANGE, style.GREEN, style.PURPLE, style.GREY]
    assert least_distance(lines, sight) > least


def test_the_measure_knows_red_from_green_only_with_full_sight():
    red_and_green = ["#a03030", "#4f6b1e"]
    full = least_distance(red_and_green, "full")
    assert least_distance(red_and_green, "no red cones") < full / 2
