"""How many neighbors tell the sense of a word: what its own contexts say, and what those of all words say."""

from __future__ import annotations

from collections.abc import Mapping

_OTHERS = 50.0  # contexts that the mean over all words counts for


def pooled_neighbors(hits: Mapping[str, Mapping[int, float]], n_contexts: Mapping[str, int]) -> dict[str, int]:
    """Choose the number of neighbors of every word.

    With ten contexts, cross-validation of one word is mostly chance; that of all words together is not. A word with many
    contexts has its own way all the same.

    Parameters
    ----------
    hits : mapping of str to mapping of int to float
        For each word and each number of neighbors: contexts that were right in cross-validation.
    n_contexts : mapping of str to int
        For each word: contexts that were asked.

    Returns
    -------
    dict of str to int
        The number with the most hits of the word, to which those of fifty contexts of an average word are added. Of
        equally good numbers the smallest.

    Examples
    --------
    >>> few = {"bank": {1: 5, 3: 4}, "sea": {1: 2, 3: 8}}
    >>> pooled_neighbors(few, {"bank": 10, "sea": 10})
    {'bank': 3, 'sea': 3}
    >>> many = {"bank": {1: 500, 3: 400}, "sea": {1: 2, 3: 8}}
    >>> pooled_neighbors(many, {"bank": 1000, "sea": 10})
    {'bank': 1, 'sea': 3}
    """
    total = sum(n_contexts.values())
    numbers = sorted({k for of_word in hits.values() for k in of_word})
    share = {k: sum(of_word.get(k, 0.0) for of_word in hits.values()) / total for k in numbers}

    def best(of_word: Mapping[int, float]) -> int:
        return max(sorted(of_word), key=lambda k: of_word[k] + _OTHERS * share[k])

    return {word: best(of_word) for word, of_word in hits.items()}
