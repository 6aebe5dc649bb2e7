"""Scores of tags: accuracy and chunk F1."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

import numpy as np

from handful.data.chunks import spans
from handful.errors import DataError


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
        """Fraction of the predicted chunks that are correct."""
        return self.n_correct / self.n_predicted if self.n_predicted else 0.0

    @property
    def recall(self) -> float:
        """Fraction of the gold chunks that were predicted."""
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
        Fraction of tokens with exactly the gold tag.
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
        Tags of each sentence, in any chunk scheme (see `handful.data.chunks.spans`).

    Returns
    -------
    ChunkReport
        Overall, per type, and token accuracy, as fractions (``conlleval`` prints percent).

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
    for number, (true, tags) in enumerate(zip(gold, predicted, strict=True), start=1):
        if len(true) != len(tags):
            raise DataError(
                f"chunk_f1: sentence {number} must have as many gold as predicted tags, got {len(true)} and {len(tags)}."
            )
        n_tokens += len(true)
        n_equal += sum(a == b for a, b in zip(true, tags, strict=True))
        true_spans, predicted_spans = spans(true), spans(tags)
        n_gold.update(span.type for span in true_spans)
        n_predicted.update(span.type for span in predicted_spans)
        n_correct.update(span.type for span in set(true_spans) & set(predicted_spans))
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
    equal = [a == b for tags, true in rows for a, b in zip(tags, true, strict=True)]
    return {"accuracy": sum(equal) / max(len(equal), 1)}


def sentence_values(gold: Sequence[Sequence[str]], predicted: Sequence[Sequence[str]], with_spans: bool) -> np.ndarray:
    """Return one number for each sentence, with the score of all as mean and the sampling error of the score as spread.

    Parameters
    ----------
    gold, predicted : sequence of sequences of str
        Tags of each sentence.
    with_spans : bool
        Whether the score is F1 of spans; otherwise it is the accuracy of tags.

    Returns
    -------
    ndarray of float
        The score plus the influence of the sentence on it (a ratio of sums, linearized): a long sentence counts more.

    Examples
    --------
    >>> sentence_values([["A", "B"], ["A"]], [["A", "B"], ["B"]], with_spans=False).round(2).tolist()
    [1.11, 0.22]
    """
    correct, total = np.zeros(len(gold)), np.zeros(len(gold))
    for i, (true, tags) in enumerate(zip(gold, predicted, strict=True)):
        if with_spans:
            a, b = set(spans(true)), set(spans(tags))
            correct[i], total[i] = 2 * len(a & b), len(a) + len(b)
        else:
            correct[i], total[i] = sum(x == y for x, y in zip(true, tags, strict=True)), len(true)
    mean = float(total.mean()) or 1.0
    score = float(correct.mean()) / mean
    return score + (correct - score * total) / mean


_MEANS = 10  # stretches of sentences; the spread of their means is the sampling error of the score
_T = 2.262  # 97.5% quantile of Student's t with nine degrees of freedom; scipy.stats takes long to import


def score_limits(
    gold: Sequence[Sequence[str]], predicted: Sequence[Sequence[str]], score: float, with_spans: bool
) -> tuple[float, float]:
    """Return the 95% interval of an F1 of spans, or of an accuracy, by the spread over stretches of sentences.

    Parameters
    ----------
    gold, predicted : sequence of sequences of str
        Tags of each sentence.
    score : float
        The score of all of them.
    with_spans : bool
        See `sentence_values`.

    Returns
    -------
    low, high : float
        The interval; where all tags are correct it is as wide as the number of tokens demands.

    Examples
    --------
    >>> [round(limit, 2) for limit in score_limits([["A"]] * 30, [["A"]] * 30, 1.0, with_spans=False)]
    [0.93, 1.0]
    """
    n_tokens = max(sum(map(len, gold)), 1)
    smooth = (score * n_tokens + 1) / (n_tokens + 2)
    least = smooth * (1 - smooth) / n_tokens
    stretches = np.array_split(sentence_values(gold, predicted, with_spans), min(_MEANS, len(gold)))
    means = np.array([stretch.mean() for stretch in stretches])
    spread = float(means.var(ddof=1)) / len(means) if len(means) > 1 else 0.25
    width = _T * math.sqrt(max(spread, least))
    return max(score - width, 0.0), min(score + width, 1.0)


_EMPTY = frozenset({"_", ""})
_PREFIXES = ("B-", "I-", "E-", "S-", "L-", "U-")  # of spans


class FileScore(NamedTuple):
    """Scores of predicted tags against those of a file, and the 95% interval of F1 (of accuracy where there are no spans).

    `n_sentences` counts the scored sentences: those without an empty tag (``_``) in the file.
    """

    scores: dict[str, float]
    n_sentences: int
    low: float = math.nan
    high: float = math.nan


def score_given(gold: Sequence[Sequence[str]], predicted: Sequence[Sequence[str]], known: Collection[str]) -> FileScore:
    """Score predicted tags against those of a file, if these are of the same kind.

    Parameters
    ----------
    gold, predicted : sequence of sequences of str
        Tags of each sentence.
    known : collection of str
        Tags of the tagger.

    Returns
    -------
    FileScore
        Accuracy and, for spans, precision, recall and F1; empty where the tags of the file are all the same (a placeholder,
        such as O or _), or most of them are unknown to the tagger.

    Examples
    --------
    >>> score_given([["D", "N"], ["_", "_"]], [["D", "D"], ["D", "N"]], {"D", "N"})[:2]
    ({'accuracy': 0.5}, 1)
    >>> score_given([["O", "O"]], [["O", "B-PER"]], {"O", "B-PER"})[:2]
    ({}, 0)
    """
    filled = [i for i, row in enumerate(gold) if _EMPTY.difference(known).isdisjoint(row)]
    gold, predicted = [gold[i] for i in filled], [predicted[i] for i in filled]
    counts = Counter(chain.from_iterable(gold))
    types = set(map(_type, known))  # a tagger may write spans in another scheme than the file
    n_known = sum(n for tag, n in counts.items() if _type(tag) in types and tag != "O")
    if len(counts) < 2 or 2 * n_known < counts.total() - counts["O"]:
        return FileScore({}, 0)
    kinds = {*counts, *known, *chain.from_iterable(predicted)}
    with_spans = "O" in kinds and all(tag == "O" or tag[:2] in _PREFIXES for tag in kinds)
    scores = score_tags(gold, predicted, with_spans)
    limits = score_limits(gold, predicted, scores["f1" if with_spans else "accuracy"], with_spans)
    return FileScore(scores, len(gold), *limits)


def _type(tag: str) -> str:
    return tag[2:] if tag[:2] in _PREFIXES else tag
