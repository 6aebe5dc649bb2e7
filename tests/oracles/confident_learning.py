"""Thresholds and the confident joint, written plainly from Northcutt, Jiang & Chuang (2021), section 3.1."""

from __future__ import annotations


def thresholds(shares: list[list[float]], given: list[int], n_classes: int) -> list[float]:
    """Mean self-confidence of each class (equation 2)."""
    found = []
    for code in range(n_classes):
        mine = [row[code] for row, label in zip(shares, given, strict=True) if label == code]
        found.append(sum(mine) / len(mine) if mine else float("inf"))
    return found


def confident_joint(shares: list[list[float]], given: list[int], n_classes: int) -> list[list[int]]:
    """Count rows by given label and by the label that is confidently theirs (equation 1)."""
    limits = thresholds(shares, given, n_classes)
    joint = [[0] * n_classes for _ in range(n_classes)]
    for row, label in zip(shares, given, strict=True):
        reached = [code for code in range(n_classes) if row[code] >= limits[code]]
        if reached:
            joint[label][max(reached, key=lambda code: (row[code], -code))] += 1
    return joint
