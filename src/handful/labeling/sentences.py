"""Which sentences to tag next: those that a tagger is unsure of, unlike each other and of usual length."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from handful.core.errors import DataError, ParameterError
from handful.core.progress import Progress, Step
from handful.labeling.loop import AUDIT, AUDIT_SHARE

_MOST = 5_000  # raw sentences that are considered
_LONGEST = 40  # tokens; a longer sentence costs more than it tells
_SHORTEST = 3
_PART = 250  # sentences between two reports of progress


@dataclass(frozen=True)
class SentencePick:
    """A sentence worth tagging.

    Parameters
    ----------
    sentence : int
        Its number among the raw sentences.
    reason : str
        Why.
    suggestion : list of str
        Tags that the tagger would give; empty without a tagger.
    margin : float or None
        Mean lead of the best tag over the second best, over the tokens that are not sure.
    """

    sentence: int
    reason: str
    suggestion: list[str]
    margin: float | None


def next_sentences(
    raw: Sequence[Any],
    tagger: Any = None,
    *,
    n: int = 20,
    strategy: str = "auto",
    random_state: int = 0,
    progress: Progress | None = None,
) -> list[SentencePick]:
    """Choose sentences to tag next.

    Parameters
    ----------
    raw : list of lists of str, or of Sentence
        Sentences without tags.
    tagger : fitted tagger, optional
        With ``predict_proba`` and ``predict_with_shares``, such as a `CRF`. Without it sentences are chosen that cover frequent
        words.
    n : int, default=20
        How many.
    strategy : {"auto", "random"}, default="auto"
        *auto* takes sentences whose tokens have small margins and whose words others did not bring yet; every tenth is an
        audit, chosen at random.
    random_state : int, default=0
        Seed.
    progress : callable, optional
        Told how many sentences the tagger has read.

    Returns
    -------
    list of SentencePick
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
    >>> [pick.sentence for pick in next_sentences([["a", "dog", "ran"], ["a", "dog", "ran"], ["the", "cat", "sat"]], n=2)]
    [0, 2]
    """
    _check(n, strategy, len(raw))
    shuffled = np.random.default_rng(random_state).permutation(len(raw))
    n = min(n, len(raw))
    n_audit = n if strategy == "random" else int(AUDIT_SHARE * n)
    pool = np.sort(shuffled[:_MOST])
    doubts = _doubts([raw[i] for i in pool], tagger, progress)
    chosen: dict[int, str] = {}
    told = "unsure and new words" if tagger is not None else "frequent words that are new"
    for at in _spread([list(raw[i]) for i in pool], doubts, n - n_audit):
        chosen[int(pool[at])] = told
    for i in shuffled.tolist():
        if len(chosen) >= n:
            break
        chosen.setdefault(i, AUDIT)
    return _picks(raw, tagger, chosen)


def _check(n: int, strategy: str, n_raw: int) -> None:
    if n < 1:
        raise ParameterError(f"next_sentences: n must be at least 1, got {n}.")
    if strategy not in ("auto", "random"):
        raise ParameterError(f"next_sentences: strategy must be auto or random, got {strategy!r}.")
    if not n_raw:
        raise DataError("next_sentences: at least one raw sentence is needed, got none.")


def token_margins(shares: np.ndarray) -> np.ndarray:
    """Return the lead of the best tag over the second best, for every token."""
    if shares.shape[1] < 2:
        return np.ones(len(shares))
    top = np.partition(shares, shares.shape[1] - 2, axis=1)[:, -2:]
    return np.asarray(top[:, 1] - top[:, 0])


def _doubts(sentences: list[Any], tagger: Any, progress: Progress | None) -> list[np.ndarray]:
    """Return how much each token has to teach: how frequent its word is, times one minus its margin."""
    counts = Counter(word for sentence in sentences for word in set(sentence))
    frequent = [np.array([np.log1p(counts[word]) for word in sentence]) for sentence in sentences]
    if tagger is None:
        return frequent
    doubts: list[np.ndarray] = []
    for start in range(0, len(sentences), _PART):
        shares = tagger.predict_proba(sentences[start : start + _PART])
        doubts += [part * (1.0 - token_margins(lines)) for part, lines in zip(frequent[start:], shares, strict=False)]
        if progress is not None:
            progress(Step("read raw sentences", len(doubts), len(sentences)))
    return doubts


def _spread(sentences: list[list[str]], doubts: list[np.ndarray], n: int) -> list[int]:
    """Choose greedily; the worth of a sentence only falls as words become known, so stale worths are upper bounds."""
    import heapq

    seen: Counter[str] = Counter()

    def worth(at: int) -> tuple[bool, float]:
        words = sentences[at]
        odd = not _SHORTEST <= len(words) <= _LONGEST
        if not words:
            return True, 0.0
        weights = np.array([1.0 / (1 + seen[word]) for word in words])
        return odd, -float((doubts[at] * weights).sum() / len(words) ** 0.5)

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


def _picks(raw: Sequence[Any], tagger: Any, chosen: dict[int, str]) -> list[SentencePick]:
    if tagger is None:
        return [SentencePick(i, reason, [], None) for i, reason in chosen.items()]
    wanted = [raw[i] for i in chosen]
    picks = []
    for (i, reason), tags, shares in zip(chosen.items(), *tagger.predict_with_shares(wanted), strict=True):
        lead = token_margins(shares)
        picks.append(SentencePick(i, reason, list(tags), float(lead.mean()) if len(lead) else None))
    return picks
