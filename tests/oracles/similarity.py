"""Context similarity from its definition: a dense table of window counts, a full decomposition, cosines."""

from __future__ import annotations

from collections import Counter

import numpy as np


def context_counts(
    sentences: list[list[str]], n_context_words: int, window: int, directional: bool, min_count: int
) -> tuple[list[str], np.ndarray]:
    """Return the words and their rows of counts, columns by context word and then by offset."""
    seen = Counter(word for sentence in sentences for word in sentence)
    marked = [["<S>", *sentence, "</S>"] for sentence in sentences if sentence]
    everything = Counter(word for sentence in marked for word in sentence)
    context = sorted(everything, key=lambda w: (-everything[w], w))[:n_context_words]
    words = sorted((w for w in seen if seen[w] >= min_count), key=lambda w: (-seen[w], w))
    offsets = [o for o in range(-window, window + 1) if o != 0]
    table = np.zeros((len(words), len(context), len(offsets)))
    for sentence in marked:
        for position in range(1, len(sentence) - 1):
            for number, offset in enumerate(offsets):
                other = position + offset
                if sentence[position] in words and 0 <= other < len(sentence) and sentence[other] in context:
                    table[words.index(sentence[position]), context.index(sentence[other]), number] += 1
    return words, table.reshape(len(words), -1) if directional else table.sum(axis=2)


def cosines(table: np.ndarray, rank: int) -> tuple[np.ndarray, float]:
    """Return the similarity of all pairs of rows, and the gap between the last singular value used and the next."""
    length = np.linalg.norm(table, axis=1, keepdims=True)
    left, values, _ = np.linalg.svd(table / np.where(length > 0, length, 1), full_matrices=False)
    rank = min(rank, int((values > 1e-6).sum()))
    after = values[rank] if rank < len(values) else 0.0
    left = left[:, :rank]
    length = np.linalg.norm(left, axis=1, keepdims=True)
    left = left / np.where(length > 1e-9, length, 1)
    return left @ left.T, float(values[rank - 1] - after)
