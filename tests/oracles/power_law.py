"""A power law fitted by trying every power and solving the two linear parameters by hand."""

from __future__ import annotations


def loss(sizes: list[float], errors: list[float], floor: float, scale: float, power: float) -> float:
    """Sum of squared residuals."""
    return sum((e - floor - scale * n**-power) ** 2 for n, e in zip(sizes, errors, strict=True))


def best_loss(sizes: list[float], errors: list[float], powers: list[float]) -> float:
    """Smallest loss over the powers, with floor and scale on a fine grid that is refined around its best point."""
    smallest = float("inf")
    for power in powers:
        floor_low, floor_high, scale_low, scale_high = 0.0, 1.0, 0.0, 4.0
        for _ in range(12):
            floors = [floor_low + (floor_high - floor_low) * i / 10 for i in range(11)]
            scales = [scale_low + (scale_high - scale_low) * i / 10 for i in range(11)]
            value, floor, scale = min((loss(sizes, errors, f, s, power), f, s) for f in floors for s in scales)
            wide_floor, wide_scale = (floor_high - floor_low) / 3, (scale_high - scale_low) / 3
            floor_low, floor_high = max(0.0, floor - wide_floor), floor + wide_floor
            scale_low, scale_high = max(0.0, scale - wide_scale), scale + wide_scale
        smallest = min(smallest, value)
    return smallest
