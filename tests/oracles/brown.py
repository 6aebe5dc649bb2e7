"""Brown clustering word by word from the definition: average mutual information from scratch for every candidate merge."""

from __future__ import annotations

import math
from collections import Counter
from itertools import combinations, pairwise

TIE = 1e-9


def average_mutual_information(
    clusters: list[list[str]], unigrams: Counter[str], bigrams: Counter[tuple[str, str]], n_tokens: int, n_pairs: int
) -> float:
    """Sum over pairs of clusters of p(c, d) log2 p(c, d) / (p(c) p(d)), with p(c) the share of tokens."""
    home = {word: number for number, cluster in enumerate(clusters) for word in cluster}
    single = [sum(unigrams[word] for word in cluster) / n_tokens for cluster in clusters]
    pair: Counter[tuple[int, int]] = Counter()
    for (left, right), count in bigrams.items():
        if left in home and right in home:
            pair[home[left], home[right]] += count
    total = 0.0
    for (c, d), count in pair.items():
        p = count / n_pairs
        total += p * math.log2(p / (single[c] * single[d]))
    return total


def brown(
    sentences: list[list[str]], n_clusters: int, min_count: int = 1, across_sentences: bool = True
) -> tuple[dict[str, str], float]:
    """Return the bit path of each word and the average mutual information of the clusters.

    Clusters stand in the order of their most frequent word; ties go to the first pair in that order.
    """
    text = [word for sentence in sentences for word in sentence]
    runs = [text] if across_sentences else sentences
    unigrams = Counter(text)
    bigrams = Counter(pair for run in runs for pair in pairwise(run))
    n_pairs = sum(bigrams.values())
    words = sorted((w for w in unigrams if unigrams[w] >= min_count), key=lambda w: (-unigrams[w], w))

    def information(clusters: list[list[str]]) -> float:
        return average_mutual_information(clusters, unigrams, bigrams, len(text), n_pairs)

    def merged(clusters: list[list[str]], i: int, j: int) -> list[list[str]]:
        return [c + clusters[j] if n == i else c for n, c in enumerate(clusters) if n != j]

    def cheapest(clusters: list[list[str]]) -> tuple[int, int]:
        kept = {(i, j): information(merged(clusters, i, j)) for i, j in combinations(range(len(clusters)), 2)}
        most = max(kept.values())
        return min(pair for pair, value in kept.items() if value >= most - TIE)

    clusters = [[word] for word in words[:n_clusters]]
    for word in words[n_clusters:]:
        clusters = [*clusters, [word]]
        clusters = merged(clusters, *cheapest(clusters))
    final = information(clusters)
    paths = dict.fromkeys(words, "")
    while len(clusters) > 1:
        i, j = cheapest(clusters)
        for bit, side in (("0", clusters[i]), ("1", clusters[j])):
            for word in side:
                paths[word] = bit + paths[word]
        clusters = merged(clusters, i, j)
    return paths, final
