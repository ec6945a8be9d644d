"""A step length that satisfies the strong Wolfe conditions."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from pyburn._core import Tensor

__all__ = ["Point", "strong_wolfe"]

# How much the function has to fall, as a share of what its slope at the start promises, and how
# small the slope has to become, as a share of that at the start.
FALL = 1e-4
SLOPE = 0.9


@dataclass
class Point:
    """A place on the line: how far, the function there, its gradient, its slope along the line."""

    t: float
    value: float
    grad: Tensor
    slope: float


def _interpolated(one: Point, two: Point, low: float, high: float) -> float:
    """Where the cubic through two points with these slopes is smallest, within bounds."""
    if one.t > two.t:
        one, two = two, one
    middle = (low + high) / 2
    width = two.t - one.t
    if width == 0:
        return middle
    mean = one.slope + two.slope - 3 * (two.value - one.value) / width
    square = mean * mean - one.slope * two.slope
    if not square >= 0:
        return middle
    root = math.sqrt(square)
    below = two.slope - one.slope + 2 * root
    if below == 0:
        return middle
    return min(max(two.t - width * (two.slope + root - mean) / below, low), high)


def strong_wolfe(
    evaluate: Callable[[float], Point],
    start: Point,
    t: float,
    reach: float,
    smallest: float,
    most: int,
) -> tuple[Point, int]:
    """The point found, and how often ``evaluate`` was called.

    Args:
        evaluate: The point at a distance.
        start: The point at distance 0.
        t: The distance to try first.
        reach: The largest change of a parameter per distance.
        smallest: The change of parameters below which the search ends.
        most: How many distances to try beyond the first.
    """

    def is_high(point: Point) -> bool:
        return point.value > start.value + FALL * point.t * start.slope

    def is_flat(point: Point) -> bool:
        return abs(point.slope) <= -SLOPE * start.slope

    point, previous, tries = evaluate(t), start, 0
    # Go on until a minimum lies between the last two points.
    while True:
        if tries >= most:
            return min(start, point, key=lambda point: point.value), tries + 1
        if is_high(point) or (tries > 1 and point.value >= previous.value):
            break
        if is_flat(point):
            return point, tries + 1
        if point.slope >= 0:
            break
        bounds = point.t + 0.01 * (point.t - previous.t), point.t * 10
        t = _interpolated(previous, point, *bounds)
        previous, point, tries = point, evaluate(t), tries + 1

    low, high = sorted((previous, point), key=lambda point: point.value)
    hesitated = False
    while tries < most and abs(high.t - low.t) * reach >= smallest:
        left, right = sorted((low.t, high.t))
        t = _interpolated(low, high, left, right)
        # Close to an end twice in a row, or at it, the next try keeps a distance from it.
        margin = 0.1 * (right - left)
        close = min(right - t, t - left) < margin
        if close and (hesitated or t >= right or t <= left):
            t = right - margin if abs(t - right) < abs(t - left) else left + margin
            close = False
        hesitated = close
        point, tries = evaluate(t), tries + 1
        if is_high(point) or point.value >= low.value:
            high = point
            if high.value < low.value:
                low, high = high, low
        else:
            if is_flat(point):
                low = point
                break
            if point.slope * (high.t - low.t) >= 0:
                high = low
            low = point
    return low, tries + 1
