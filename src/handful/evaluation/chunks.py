"""Precision, recall and F1 of chunks, counted as ``conlleval`` counts them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from handful.core.errors import DataError
from handful.corpora.formats.iob import spans


@dataclass(frozen=True, slots=True)
class ChunkScore:
    """Counts of chunks and what follows from them; a ratio with an empty denominator is 0.

    Parameters
    ----------
    n_gold, n_predicted, n_correct : int
        Chunks in the gold tags, in the predicted tags, and in both (same tokens, same type).

    Examples
    --------
    >>> ChunkScore(n_gold=4, n_predicted=2, n_correct=1).f1
    0.3333333333333333
    """

    n_gold: int
    n_predicted: int
    n_correct: int

    @property
    def precision(self) -> float:
        """Share of the predicted chunks that are right."""
        return self.n_correct / self.n_predicted if self.n_predicted else 0.0

    @property
    def recall(self) -> float:
        """Share of the gold chunks that were found."""
        return self.n_correct / self.n_gold if self.n_gold else 0.0

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall."""
        total = self.n_gold + self.n_predicted
        return 2 * self.n_correct / total if total else 0.0


@dataclass(frozen=True, slots=True)
class ChunkReport:
    """Chunk scores of a whole corpus.

    Parameters
    ----------
    overall : ChunkScore
        All types together.
    by_type : mapping of str to ChunkScore
        Each type that occurs in the gold or the predicted tags, in alphabetical order.
    accuracy : float
        Share of tokens whose tag is exactly the gold tag.
    n_tokens : int
        Number of tokens.
    """

    overall: ChunkScore
    by_type: Mapping[str, ChunkScore]
    accuracy: float
    n_tokens: int


def chunk_f1(gold: Sequence[Sequence[str]], predicted: Sequence[Sequence[str]]) -> ChunkReport:
    """Score predicted chunk tags against gold ones, exactly as ``conlleval`` does.

    Parameters
    ----------
    gold, predicted : sequence of sequences of str
        Tags of each sentence, in any chunk scheme (see `handful.corpora.formats.iob.spans`).

    Returns
    -------
    ChunkReport
        Overall, per type, and token accuracy, as shares (``conlleval`` prints percent).

    Raises
    ------
    DataError
        If the two differ in the number of sentences or tokens, or a tag is no chunk tag.

    Notes
    -----
    A chunk never goes over the end of a sentence, and it may start with I: both as in ``conlleval``. Gold and
    predicted tags should be in the same scheme, or the token accuracy means little; chunk scores do not depend on it.

    Examples
    --------
    >>> report = chunk_f1([["B-NP", "I-NP", "O"]], [["B-NP", "I-NP", "B-VP"]])
    >>> report.overall.precision, report.overall.recall, report.by_type["NP"].f1
    (0.5, 1.0, 1.0)
    """
    if len(gold) != len(predicted):
        raise DataError(
            f"chunk_f1: gold and predicted must have as many sentences, got {len(gold)} and {len(predicted)}."
        )
    n_gold: Counter[str] = Counter()
    n_predicted: Counter[str] = Counter()
    n_correct: Counter[str] = Counter()
    n_tokens = n_equal = 0
    for number, (right, guess) in enumerate(zip(gold, predicted, strict=True), start=1):
        if len(right) != len(guess):
            raise DataError(
                f"chunk_f1: sentence {number} must have as many gold as predicted tags, got {len(right)} and {len(guess)}."
            )
        n_tokens += len(right)
        n_equal += sum(a == b for a, b in zip(right, guess, strict=True))
        right_spans, guess_spans = spans(right), spans(guess)
        n_gold.update(span.type for span in right_spans)
        n_predicted.update(span.type for span in guess_spans)
        n_correct.update(span.type for span in set(right_spans) & set(guess_spans))
    types = sorted(n_gold.keys() | n_predicted.keys())
    return ChunkReport(
        overall=ChunkScore(n_gold.total(), n_predicted.total(), n_correct.total()),
        by_type={kind: ChunkScore(n_gold[kind], n_predicted[kind], n_correct[kind]) for kind in types},
        accuracy=n_equal / n_tokens if n_tokens else 0.0,
        n_tokens=n_tokens,
    )


def score_tags(gold: Sequence[Sequence[str]], predicted: Sequence[Sequence[str]], with_spans: bool) -> dict[str, float]:
    """Return the accuracy of tags and, for spans, precision, recall and F1.

    Examples
    --------
    >>> score_tags([["A", "B"]], [["A", "A"]], with_spans=False)
    {'accuracy': 0.5}
    """
    if with_spans:
        report = chunk_f1(gold, predicted)
        whole = report.overall
        return {
            "accuracy": report.accuracy,
            "precision": whole.precision,
            "recall": whole.recall,
            "f1": whole.f1,
        }
    rows = zip(predicted, gold, strict=True)
    pairs = [pair for answers, right in rows for pair in zip(answers, right, strict=True)]
    return {"accuracy": sum(a == b for a, b in pairs) / max(len(pairs), 1)}


def sentence_values(gold: Sequence[Sequence[str]], predicted: Sequence[Sequence[str]], with_spans: bool) -> np.ndarray:
    """Return one number for each sentence, whose mean is the score of all and whose spread tells how far that may be off.

    Parameters
    ----------
    gold, predicted : sequence of sequences of str
        Tags of each sentence.
    with_spans : bool
        Whether the score is F1 of spans; otherwise it is the accuracy of tags.

    Returns
    -------
    ndarray of float
        The score, and what the sentence adds to it or takes away (a ratio of sums, linearized): a long sentence counts more.

    Examples
    --------
    >>> sentence_values([["A", "B"], ["A"]], [["A", "B"], ["B"]], with_spans=False).round(2).tolist()
    [1.11, 0.22]
    """
    right, there = np.zeros(len(gold)), np.zeros(len(gold))
    for i, (mine, other) in enumerate(zip(gold, predicted, strict=True)):
        if with_spans:
            a, b = set(spans(mine)), set(spans(other))
            right[i], there[i] = 2 * len(a & b), len(a) + len(b)
        else:
            right[i], there[i] = sum(x == y for x, y in zip(mine, other, strict=True)), len(mine)
    mean = float(there.mean()) or 1.0
    score = float(right.mean()) / mean
    return score + (right - score * there) / mean
