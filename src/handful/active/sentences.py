"""Which sentences to tag next: those that a tagger is unsure of, unlike each other and of usual length."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from handful.active.query import RANDOM, RANDOM_EVERY
from handful.active.strategies import margins
from handful.errors import DataError, ParameterError, Progress, Step

_MAX_CONSIDERED = 5_000  # raw sentences that are considered
_LONGEST = 40  # tokens; a longer sentence costs more than it tells
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
    A token has one minus its margin to teach, times ``log(1 + f)`` with f the raw sentences that have its word, since what
    is frequent teaches for many (information density, Settles & Craven 2008), and weighted by ``1 / (1 + c)`` with c the
    times its word stands in sentences chosen before: a word teaches once. The worth of a sentence is the mean over its
    tokens times the root of its length: the mean alone would choose fragments, the sum the longest. Sentences of fewer
    than 3 or more than 40 tokens are taken only where there are no others. Of a longer text 5,000 sentences, chosen at
    random, are considered.

    Examples
    --------
    >>> [pick.sentence for pick in suggest_sentences([["a", "dog", "ran"], ["a", "dog", "ran"], ["the", "cat", "sat"]], n=2)]
    [0, 2]
    """
    _check(n, strategy, len(raw))
    shuffled = np.random.default_rng(random_state).permutation(len(raw))
    n = min(n, len(raw))
    at_random = [strategy == "random" or (n_labeled + i + 1) % RANDOM_EVERY == 0 for i in range(n)]
    pool = np.sort(shuffled[:_MAX_CONSIDERED])
    values = _token_values([raw[i] for i in pool], tagger, progress)
    reason = "uncertain and new words" if tagger is not None else "frequent words that are new"
    chosen = [int(pool[at]) for at in _spread([list(raw[i]) for i in pool], values, n - sum(at_random))]
    spare, informative = iter([i for i in shuffled.tolist() if i not in set(chosen)]), iter(chosen)
    picked: list[tuple[int, str]] = []
    for drawn in at_random:
        at = None if drawn else next(informative, None)
        picked.append((next(spare), RANDOM) if at is None else (at, reason))
    return _suggestions(raw, tagger, picked)


def _check(n: int, strategy: str, n_raw: int) -> None:
    if n < 1:
        raise ParameterError(f"suggest_sentences: n must be at least 1, got {n}.")
    if strategy not in ("auto", "random"):
        raise ParameterError(f"suggest_sentences: strategy must be auto or random, got {strategy!r}.")
    if not n_raw:
        raise DataError("suggest_sentences: at least one raw sentence is needed, got none.")


def _token_values(sentences: list[Any], tagger: Any, progress: Progress | None) -> list[np.ndarray]:
    """Return how much each token has to teach: how frequent its word is, times one minus its margin."""
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


def _suggestions(raw: Sequence[Any], tagger: Any, picked: list[tuple[int, str]]) -> list[SentenceSuggestion]:
    shown = [i for i, reason in picked if reason != RANDOM]
    predicted = {}
    if tagger is not None and shown:
        predicted = dict(zip(shown, zip(*tagger.predict_with_proba([raw[i] for i in shown]), strict=True), strict=True))
    suggestions = []
    for i, reason in picked:
        if i not in predicted:
            suggestions.append(SentenceSuggestion(i, reason, [], None, reason == RANDOM))
            continue
        tags, proba = predicted[i]
        lead = margins(proba)
        suggestions.append(SentenceSuggestion(i, reason, list(tags), float(lead.mean()) if len(lead) else None))
    return suggestions
