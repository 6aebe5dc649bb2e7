"""Scores of tags: accuracy, chunk F1, many-to-one mapping."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple, TypeVar

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
        Tags of each sentence, in any chunk scheme (see `handful.data.chunks.spans`).

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


_MEANS = 10  # stretches of sentences whose means tell how far the score may be off
_T = 2.262  # 97.5 % of Student's t with nine degrees of freedom; scipy.stats takes long to import


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
        The interval; where all is right it is as wide as the number of tokens demands.

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


_Label = TypeVar("_Label", str, str | None)


def many_to_one(gold: Sequence[Sequence[str]], predicted: Sequence[Sequence[str]]) -> dict[str, str]:
    """Map each found label to the correct label it meets most often.

    Parameters
    ----------
    gold : sequence of sequences of str
        Correct labels.
    predicted : sequence of sequences of str
        Labels of a model, of the same shape; their names mean nothing.

    Returns
    -------
    dict of str to str
        Correct label for each found one. Several may share one.

    Notes
    -----
    Greedy, on the evaluated data itself, as Haghighi and Klein (2006) do for their unsupervised baseline. Among equally
    frequent labels the one that sorts first wins.

    Examples
    --------
    >>> many_to_one([["N", "V", "N"]], [["1", "2", "3"]])
    {'1': 'N', '2': 'V', '3': 'N'}
    """
    counts: dict[str, Counter[str]] = {}
    for true, answer in _pairs(gold, predicted):
        counts.setdefault(answer, Counter())[true] += 1
    return {answer: min(seen, key=lambda true: (-seen[true], true)) for answer, seen in sorted(counts.items())}


def mapped_accuracy(gold: Sequence[Sequence[str]], predicted: Sequence[Sequence[str]]) -> float:
    """Return the accuracy after `many_to_one`.

    Parameters
    ----------
    gold, predicted : sequence of sequences of str
        See `many_to_one`.

    Returns
    -------
    float
        Share of tokens that are right.

    Examples
    --------
    >>> mapped_accuracy([["N", "V", "N", "N"]], [["1", "2", "1", "2"]])
    0.75
    """
    mapping = many_to_one(gold, predicted)
    pairs = _pairs(gold, predicted)
    return sum(true == mapping[answer] for true, answer in pairs) / len(pairs)


def confusions(
    gold: Sequence[Sequence[str | None]], predicted: Sequence[Sequence[str]], top: int = 10
) -> list[tuple[str, str, int, float]]:
    """Return the most frequent mistakes.

    Parameters
    ----------
    gold, predicted : sequence of sequences of str
        Correct and found labels; tokens whose correct label is None do not count.
    top : int, default=10
        How many.

    Returns
    -------
    list of (str, str, int, float)
        Correct label, found label, count, and share of all mistakes.

    Examples
    --------
    >>> confusions([["N", "N", "V"]], [["V", "V", "N"]])
    [('N', 'V', 2, 0.6666666666666666), ('V', 'N', 1, 0.3333333333333333)]
    """
    pairs = _pairs(gold, predicted)
    wrong = Counter((true, answer) for true, answer in pairs if true is not None and true != answer)
    total = wrong.total()
    ranked = sorted(wrong.items(), key=lambda item: (-item[1], item[0]))
    return [(true, answer, count, count / total) for (true, answer), count in ranked[:top]]


def _pairs(gold: Iterable[Sequence[_Label]], predicted: Iterable[Sequence[str]]) -> list[tuple[_Label, str]]:
    gold, predicted = list(gold), list(predicted)
    if [len(s) for s in gold] != [len(s) for s in predicted]:
        raise DataError(
            "mapping: correct and found labels must have the same shape; the sentences differ in number or length."
        )
    pairs = list(zip(chain.from_iterable(gold), chain.from_iterable(predicted), strict=True))
    if not pairs:
        raise DataError("mapping: at least one token is needed, got none.")
    return pairs


_BLANKS = frozenset({"_", ""})
_MARKS = ("B-", "I-", "E-", "S-", "L-", "U-")  # of spans


class FileScore(NamedTuple):
    """Scores of predicted tags against those of a file, and the 95% interval of F1 (of accuracy where there are no spans).

    `n_sentences` counts the sentences that were scored: those without a blank (``_``) among the tags of the file.
    """

    scores: dict[str, float]
    n_sentences: int
    low: float = math.nan
    high: float = math.nan


def score_given(
    given: Sequence[Sequence[str]], predicted: Sequence[Sequence[str]], known: Collection[str]
) -> FileScore:
    """Score tags against given ones of the same kind.

    Parameters
    ----------
    given, predicted : sequence of sequences of str
        Tags of each sentence.
    known : collection of str
        Tags that the tagger may give.

    Returns
    -------
    FileScore
        Accuracy and, for spans, precision, recall and F1; empty where the given tags are all the same (a placeholder, such as
        O or _), or most of them are unknown to the tagger.

    Examples
    --------
    >>> score_given([["D", "N"], ["_", "_"]], [["D", "D"], ["D", "N"]], {"D", "N"})[:2]
    ({'accuracy': 0.5}, 1)
    >>> score_given([["O", "O"]], [["O", "B-PER"]], {"O", "B-PER"})[:2]
    ({}, 0)
    """
    blanks = _BLANKS.difference(known)
    rows = [(right, found) for right, found in zip(given, predicted, strict=True) if blanks.isdisjoint(right)]
    counts = Counter(tag for right, _ in rows for tag in right)
    types = set(map(_type, known))  # a tagger may write spans in another scheme than the file
    n_known = sum(n for tag, n in counts.items() if _type(tag) in types and tag != "O")
    if len(counts) < 2 or 2 * n_known < counts.total() - counts["O"]:
        return FileScore({}, 0)
    kinds = {*counts, *known, *(tag for _, found in rows for tag in found)}
    with_spans = "O" in kinds and all(tag == "O" or tag[:2] in _MARKS for tag in kinds)
    gold, answers = [right for right, _ in rows], [found for _, found in rows]
    scores = score_tags(gold, answers, with_spans)
    return FileScore(
        scores, len(rows), *score_limits(gold, answers, scores["f1" if with_spans else "accuracy"], with_spans)
    )


def _type(tag: str) -> str:
    return tag[2:] if tag[:2] in _MARKS else tag
