"""TypiClust's choice of rows, written plainly from the paper (Hacohen, Dekel & Weinshall 2022, section 3.2)."""

from __future__ import annotations


def typical_rows(clusters: list[int], typicality: list[float], labeled: list[bool], n: int) -> list[int]:
    """Take the most typical row of the largest cluster with the fewest labels, again and again."""
    labeled = list(labeled)
    chosen: list[int] = []
    for _ in range(n):
        best = None
        for row in range(len(clusters)):
            if labeled[row]:
                continue
            members = [i for i in range(len(clusters)) if clusters[i] == clusters[row]]
            key = (
                len(members) < 5,
                sum(labeled[i] for i in members),
                -len(members),
                clusters[row],
                -typicality[row],
                row,
            )
            if best is None or key < best[0]:
                best = (key, row)
        if best is None:
            break
        chosen.append(best[1])
        labeled[best[1]] = True
    return chosen
