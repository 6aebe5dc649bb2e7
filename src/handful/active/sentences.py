"""Which sentences to tag next (those that a tagger is unsure of, unlike each other), and how well a tagger does."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from handful.active.estimates import wilson_interval
from handful.active.query import RANDOM, RANDOM_EVERY, interleaved, random_places
from handful.active.strategies import margins
from handful.errors import DataError, ParameterError, Progress, Step

_MAX_CONSIDERED = 5_000  # raw sentences that are considered
_LONGEST = 40  # tokens; a longer sentence costs more than it helps
_SHORTEST = 3
_PART = 250  # sentences between two reports of progress


@dataclass(frozen=True)
class SentenceSuggestion:
    """A sentence worth tagging.

    Parameters
    ----------
    sentence : int
        Its number among the raw sentences.
    reason : str
        Why.
    suggestion : list of str
        Tags that the tagger predicts; empty without a tagger, and for random checks.
    margin : float or None
        Mean lead of the best tag over the second best.
    random : bool
        Whether it was chosen at random. Accuracy is measured on such sentences only.
    """

    sentence: int
    reason: str
    suggestion: list[str]
    margin: float | None
    random: bool = False


def suggest_sentences(
    raw: Sequence[Any],
    tagger: Any = None,
    *,
    n: int = 20,
    strategy: str = "auto",
    n_labeled: int = 0,
    random_state: int = 0,
    progress: Progress | None = None,
) -> list[SentenceSuggestion]:
    """Choose sentences to tag next.

    Parameters
    ----------
    raw : list of lists of str, or of Sentence
        Sentences without tags.
    tagger : fitted tagger, optional
        With ``predict_proba`` and ``predict_with_proba``, such as a `CRF`. Without it sentences are chosen that cover frequent
        words.
    n : int, default=20
        How many.
    strategy : {"auto", "random"}, default="auto"
        *auto* takes sentences whose tokens have small margins and whose words others did not bring yet; every fifth is
        chosen at random, so that accuracy can be measured.
    n_labeled : int, default=0
        Sentences that were labeled before, from which every fifth is counted.
    random_state : int, default=0
        Seed.
    progress : callable, optional
        Called with the number of sentences that the tagger has read.

    Returns
    -------
    list of SentenceSuggestion
        The most useful first; fewer than `n` where there are fewer.

    Notes
    -----
    The value of a token is one minus its margin, times ``log(1 + f)`` with f the raw sentences that have its word
    (information density, Settles & Craven 2008), times ``1 / (1 + c)`` with c the occurrences of its word in sentences
    chosen before. The value of a sentence is the mean over its tokens times the root of its length: the mean alone would
    choose fragments, the sum the longest sentences. Sentences of fewer than 3 or more than 40 tokens are taken only where
    there are no others. Of a longer text 5,000 sentences, chosen at random, are considered.

    Examples
    --------
    >>> [pick.sentence for pick in suggest_sentences([["a", "dog", "ran"], ["a", "dog", "ran"], ["the", "cat", "sat"]], n=2)]
    [0, 2]
    """
    _check(n, strategy, len(raw))
    shuffled = np.random.default_rng(random_state).permutation(len(raw))
    at_random = random_places(min(n, len(raw)), n_labeled, 1 if strategy == "random" else RANDOM_EVERY)
    pool = np.sort(shuffled[:_MAX_CONSIDERED])
    values = _token_values([raw[i] for i in pool], tagger, progress)
    chosen = [int(pool[at]) for at in _spread([list(raw[i]) for i in pool], values, at_random.count(False))]
    taken = set(chosen)
    picked = interleaved(at_random, chosen, (i for i in shuffled.tolist() if i not in taken))
    reason = "uncertain and new words" if tagger is not None else "frequent words that are new"
    shown = [number for number, drawn in picked if not drawn]
    predicted: dict[int, tuple[list[str], float | None]] = {}
    if tagger is not None and shown:
        for number, tags, proba in zip(shown, *tagger.predict_with_proba([raw[i] for i in shown]), strict=True):
            predicted[number] = list(tags), float(margins(proba).mean()) if len(proba) else None
    return [
        SentenceSuggestion(number, RANDOM if drawn else reason, *predicted.get(number, ([], None)), random=drawn)
        for number, drawn in picked
    ]


def _check(n: int, strategy: str, n_raw: int) -> None:
    if n < 1:
        raise ParameterError(f"suggest_sentences: n must be at least 1, got {n}.")
    if strategy not in ("auto", "random"):
        raise ParameterError(f"suggest_sentences: strategy must be auto or random, got {strategy!r}.")
    if not n_raw:
        raise DataError("suggest_sentences: at least one raw sentence is needed, got none.")


def _token_values(sentences: list[Any], tagger: Any, progress: Progress | None) -> list[np.ndarray]:
    """Return the value of each token: how frequent its word is, times one minus its margin."""
    counts = Counter(word for sentence in sentences for word in set(sentence))
    frequent = [np.array([np.log1p(counts[word]) for word in sentence]) for sentence in sentences]
    if tagger is None:
        return frequent
    values: list[np.ndarray] = []
    for start in range(0, len(sentences), _PART):
        proba = tagger.predict_proba(sentences[start : start + _PART])
        values += [part * (1.0 - margins(lines)) for part, lines in zip(frequent[start:], proba, strict=False)]
        if progress is not None:
            progress(Step("read raw sentences", len(values), len(sentences)))
    return values


def _spread(sentences: list[list[str]], values: list[np.ndarray], n: int) -> list[int]:
    """Choose greedily; the worth of a sentence only falls as words become known, so stale worths are upper bounds."""
    import heapq

    seen: Counter[str] = Counter()

    def worth(at: int) -> tuple[bool, float]:
        words = sentences[at]
        odd = not _SHORTEST <= len(words) <= _LONGEST
        if not words:
            return True, 0.0
        weights = np.array([1.0 / (1 + seen[word]) for word in words])
        return odd, -float((values[at] * weights).sum() / len(words) ** 0.5)

    heap = [(worth(at), at) for at in range(len(sentences))]
    heapq.heapify(heap)
    chosen: list[int] = []
    while heap and len(chosen) < n:
        _, at = heapq.heappop(heap)
        now = worth(at)
        if heap and (now, at) > heap[0]:
            heapq.heappush(heap, (now, at))
            continue
        chosen.append(at)
        seen.update(set(sentences[at]))
    return chosen


_N_FOLDS = 5


@dataclass(frozen=True)
class TaggingEstimate:
    """How well a tagger does on sentences that were chosen at random.

    Parameters
    ----------
    n_sentences : int
        Sentences.
    score, low, high : float
        Accuracy of tags or F1 of spans, and its 90% interval.
    """

    n_sentences: int
    score: float
    low: float
    high: float


def estimate_tagging(
    tags: Sequence[Sequence[str]],
    at_random: Collection[int],
    predict: Callable[[list[int], list[int]], Sequence[Sequence[str]]],
    with_spans: bool,
) -> TaggingEstimate:
    """Estimate how well a tagger does by cross-validation on sentences that were chosen at random.

    Parameters
    ----------
    tags : sequence of sequences of str
        Tags of all tagged sentences.
    at_random : collection of int
        Which of them were chosen at random; two at least. Those chosen by a strategy train, and are never tested on.
    predict : callable
        ``predict(train, test)`` returns the tags of some sentences, by a tagger trained on others.
    with_spans : bool
        Whether to score F1 of spans instead of the accuracy of tags.

    Returns
    -------
    TaggingEstimate
        Of at most five folds of the random sentences.

    Notes
    -----
    The score is a ratio of sums over sentences. Its variance v is linearized, and the interval is Wilson's with the effective
    number ``score (1 - score) / v`` of draws and Student's t (Dean & Pagano 2015).

    Examples
    --------
    >>> tags = [["D", "N"], ["D", "V"]] * 10
    >>> estimate_tagging(tags, range(20), lambda train, test: [["D", "N"] for _ in test], with_spans=False).score
    0.75
    """
    from handful.tagging.evaluation import sentence_values

    tested = sorted(at_random)
    predicted: dict[int, Sequence[str]] = {}
    for fold in np.array_split(np.random.default_rng(0).permutation(tested), min(_N_FOLDS, len(tested))):
        test = fold.tolist()
        predicted.update(zip(test, predict(sorted(set(range(len(tags))) - set(test)), test), strict=True))
    values = sentence_values([tags[i] for i in tested], [predicted[i] for i in tested], with_spans)
    n, score = len(tested), min(float(values.mean()), 1.0)
    variance = float(values.var(ddof=1)) / n
    effective = max(score * (1 - score) / variance, 1.0) if variance > 0 and score < 1 else float(n)
    return TaggingEstimate(n, score, *wilson_interval(score * effective, effective, n - 1))
