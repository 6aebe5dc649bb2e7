"""How many heads and labels are right."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from handful.data.records import Sentence, Tree
from handful.errors import DataError

PENN_PUNCTUATION = frozenset({"``", "''", ":", ",", "."})


class ParseScores(tuple[float, float]):
    """Attachment scores; unpacks as ``uas, las = scores``.

    Attributes
    ----------
    uas, las : float
        Share of words with the right head, and with the right head and label.
    exact : float
        Share of sentences with all heads right.
    n_words, n_sentences : int
        How many were counted.
    without_punctuation : ParseScores or None
        The same without punctuation marks: words with the universal tag PUNCT or, without universal tags, one of the
        Penn tags for quotes, colon, comma and full stop.

    Examples
    --------
    >>> gold = [Tree(Sentence(("Rome", "fell")), (2, 0), ("nsubj", "root"))]
    >>> uas, las = score_trees(gold, [(2, 0)], [("obj", "root")])
    >>> uas, las
    (1.0, 0.5)
    """

    exact: float
    n_words: int
    n_sentences: int
    without_punctuation: ParseScores | None

    @property
    def uas(self) -> float:
        """Share of words with the right head."""
        return self[0]

    @property
    def las(self) -> float:
        """Share of words with the right head and label."""
        return self[1]

    def as_dict(self) -> dict[str, float]:
        """Return all scores by name."""
        scores = {"uas": self.uas, "las": self.las, "exact": self.exact}
        bare = self.without_punctuation
        if bare is not None:
            names = ("uas", "las", "exact")
            scores |= {f"{n} without punctuation": float(getattr(bare, n)) for n in names}
        return scores


def score_trees(
    gold: Sequence[Tree], heads: Sequence[Sequence[int]], labels: Sequence[Sequence[str]] | None = None
) -> ParseScores:
    """Compare heads and labels with right ones.

    Parameters
    ----------
    gold : sequence of Tree
        Right trees.
    heads : sequence of sequences of int
        Heads that were found.
    labels : sequence of sequences of str, or None
        Labels that were found; with None, `ParseScores.las` is 0.

    Returns
    -------
    ParseScores
        With and without punctuation.
    """
    _check_scored(gold, heads)
    right = [np.array(t.heads) == np.asarray(h) for t, h in zip(gold, heads, strict=True)]
    named = [np.zeros(len(r), dtype=bool) for r in right]
    if labels is not None:
        named = [r & _same(t.labels, given) for r, t, given in zip(right, gold, labels, strict=True)]
    words = [~punctuation(t.sentence) for t in gold]
    scores = _scores(right, named, [np.ones(len(r), dtype=bool) for r in right])
    scores.without_punctuation = _scores(right, named, words)
    return scores


def _check_scored(gold: Sequence[Tree], heads: Sequence[Sequence[int]]) -> None:
    who = "score_trees"
    if not any(len(t) for t in gold):
        raise DataError(f"{who}: at least one tree is needed to score, got none.")
    if [len(t) for t in gold] != [len(h) for h in heads]:
        raise DataError(f"{who}: there must be one head for each word.")
    number = next((i for i, tree in enumerate(gold) if -1 in tree.heads), None)
    if number is not None:
        raise DataError(f"{who}: the right trees must have all heads, but tree {number} lacks some.")


def _same(labels: Sequence[str], others: Sequence[str]) -> np.ndarray:
    return np.array([a == b for a, b in zip(labels, others, strict=True)], dtype=bool)


def _scores(right: list[Any], named: list[Any], counted: list[Any]) -> ParseScores:
    chosen = [(r[c], n[c]) for r, n, c in zip(right, named, counted, strict=True) if c.any()]
    n_words = sum(len(r) for r, _ in chosen)
    heads, labels = (sum(int(pair[k].sum()) for pair in chosen) for k in range(2))
    scores = ParseScores((heads / max(n_words, 1), labels / max(n_words, 1)))
    scores.exact = sum(bool(r.all()) for r, _ in chosen) / max(len(chosen), 1)
    scores.n_words, scores.n_sentences = n_words, len(chosen)
    scores.without_punctuation = None
    return scores


def punctuation(sentence: Sentence) -> np.ndarray:
    """Tell which words are punctuation marks, by their tags.

    Examples
    --------
    >>> punctuation(Sentence(("So", "."), {"xpos": ("RB", ".")})).tolist()
    [False, True]
    """
    universal = sentence.columns.get("upos", ())
    if any(tag != "_" for tag in universal):
        return np.array([tag == "PUNCT" for tag in universal], dtype=bool)
    tags = sentence.columns.get("xpos", sentence.columns.get("pos", ("_",) * len(sentence)))
    return np.array([tag in PENN_PUNCTUATION for tag in tags], dtype=bool)
