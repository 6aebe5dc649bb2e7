"""Greedy facility location, written plainly."""

from __future__ import annotations


def covering_points(
    near: list[list[float]], weights: list[float], covered: list[int], free: list[int], n: int
) -> list[int]:
    """Add, again and again, the point that raises the weighted sum of nearness most."""
    free, chosen = list(free), []

    def worth(points: list[int]) -> float:
        return sum(w * max((line[p] for p in points), default=0.0) for w, line in zip(weights, near, strict=True))

    while len(chosen) < n and any(free):
        now = covered + chosen
        gains = [(worth([*now, p]) - worth(now), -p) for p in range(len(near)) if free[p] > 0]
        gain = max(value for value, _ in gains)
        best = min(-p for value, p in gains if abs(value - gain) < 1e-9)
        chosen.append(best)
        free[best] -= 1
    return chosen
