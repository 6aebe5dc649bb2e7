"""Tags of a corpus that taggers trained on the rest of it contradict: tokens, and spans."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, overload

import numpy as np

from handful.core.errors import DataError, ParameterError
from handful.core.labels import code_of
from handful.core.progress import Progress, Step
from handful.labeling.confident import class_thresholds, confident_classes, train_and_test

_N_FOLDS = 5
_DIGIT = re.compile(r"\d")


@dataclass(frozen=True)
class TagDoubt:
    """A stretch of tokens whose tags taggers contradict.

    Parameters
    ----------
    sentence : int
        Number of the sentence, from 0.
    start, stop : int
        The tokens, from 0; `stop` is behind the last.
    tokens, tags, suggestion : tuple of str
        The tokens, their given tags, and those of a tagger that did not see the sentence.
    given_share, suggested_share : float
        Mean probability of both.
    confident : bool
        Whether the tagger is as sure as it usually is of another tag, and surer than of the given one, for one token at least
        and over all of them.
    elsewhere : tuple of (tuple of str, int)
        How the same words are tagged in other places, the most frequent first, with counts.
    """

    sentence: int
    start: int
    stop: int
    tokens: tuple[str, ...]
    tags: tuple[str, ...]
    suggestion: tuple[str, ...]
    given_share: float
    suggested_share: float
    confident: bool
    elsewhere: tuple[tuple[tuple[str, ...], int], ...] = ()


@dataclass(frozen=True)
class TagDoubts(Sequence[TagDoubt]):
    """Tags in doubt, a sequence of them; see `doubtful_tags`.

    Parameters
    ----------
    doubts : list of TagDoubt
        The most doubtful first.
    n_wrong : int
        How many of all stretches the tagger is confident are wrong.
    duplicates : list of (int, int)
        Sentences of the same words with different tags, but for upper case and digits.
    n_judged : int
        Sentences that were judged; fewer than all after an interruption.
    """

    doubts: list[TagDoubt]
    n_wrong: int
    duplicates: list[tuple[int, int]]
    n_judged: int

    @overload
    def __getitem__(self, place: int) -> TagDoubt: ...

    @overload
    def __getitem__(self, place: slice) -> list[TagDoubt]: ...

    def __getitem__(self, place: int | slice) -> TagDoubt | list[TagDoubt]:
        """Return one in doubt, the most doubtful at 0, or several."""
        return self.doubts[place]

    def __len__(self) -> int:
        """Return how many are in doubt, of those that were asked for."""
        return len(self.doubts)


def doubtful_tags(
    sentences: Sequence[Any],
    tags: Sequence[Sequence[str]],
    *,
    n: int | None = None,
    make: Callable[[], Any] | None = None,
    random_state: int = 0,
    progress: Progress | None = None,
) -> TagDoubts:
    """Find tags that are probably wrong.

    Parameters
    ----------
    sentences : list of lists of str, or of Sentence
        The tokens.
    tags : list of lists of str
        The given tags.
    n : int, optional
        How many stretches to return at most; all by default.
    make : callable, optional
        Makes a new tagger with ``fit``, ``predict``, ``predict_proba`` and ``classes_``; a `CRF` by default.
    random_state : int, default=0
        Seed of the five folds.
    progress : callable, optional
        Told after each fold.

    Returns
    -------
    TagDoubts
        Tokens whose tags differ from a held-out tagger's; of span tags (``B-X``, ``I-X``) the whole spans that differ; those
        first whose given tags it finds least likely. An interruption ends the run with the folds that are done, if there is one.

    Examples
    --------
    >>> sentences = [["the", "dog"], ["the", "cat"], ["a", "dog"], ["a", "cat"]] * 5
    >>> tags = [["D", "N"] for _ in sentences]
    >>> tags[7] = ["D", "D"]
    >>> [(d.sentence, d.start, d.suggestion) for d in doubtful_tags(sentences, tags, n=1)]
    [(7, 1, ('N',))]
    """
    _check(n, len(sentences), len(tags))
    answers, shares, classes = _held_out_answers(sentences, tags, make or _crf(tags), random_state, progress)
    codes_by_label = code_of(classes)
    judged = sorted(answers)
    flat = np.concatenate([shares[number] for number in judged])
    codes = np.array([codes_by_label[tag] for number in judged for tag in tags[number]])
    sure = confident_classes(flat, class_thresholds(flat, codes))
    offsets = np.cumsum([0, *(len(tags[number]) for number in judged)])
    every = np.arange(len(codes))
    surely_other = (sure >= 0) & (flat[every, sure] > flat[every, codes])
    doubts = []
    for at, number in enumerate(judged):
        given = codes[offsets[at] : offsets[at + 1]]
        other = np.array([codes_by_label[tag] for tag in answers[number]])
        places = np.arange(len(given))
        for start, stop in _differing(tags[number], answers[number]):
            given_share = float(shares[number][places, given][start:stop].mean())
            suggested_share = float(shares[number][places, other][start:stop].mean())
            is_sure = bool(surely_other[offsets[at] :][start:stop].any()) and suggested_share > given_share
            doubts.append(
                TagDoubt(
                    number,
                    start,
                    stop,
                    tuple(list(sentences[number])[start:stop]),
                    tuple(tags[number][start:stop]),
                    tuple(answers[number][start:stop]),
                    given_share,
                    suggested_share,
                    is_sure,
                )
            )
    doubts.sort(key=lambda d: (d.given_share, -d.suggested_share, d.sentence, d.start))
    n_wrong = sum(doubt.confident for doubt in doubts)
    shown = [replace(doubt, elsewhere=_elsewhere(doubt, sentences, tags)) for doubt in doubts[:n]]
    return TagDoubts(shown, n_wrong, _duplicates(sentences, tags), len(judged))


def _elsewhere(
    doubt: TagDoubt, sentences: Sequence[Any], tags: Sequence[Sequence[str]]
) -> tuple[tuple[tuple[str, ...], int], ...]:
    """Count the tags of the same words in other places."""
    words, length = doubt.tokens, len(doubt.tokens)
    counts: Counter[tuple[str, ...]] = Counter()
    for number, sentence in enumerate(sentences):
        tokens = tuple(sentence)
        if not set(words) <= set(tokens):
            continue
        for start in range(len(tokens) - length + 1):
            if tokens[start : start + length] == words and (number, start) != (doubt.sentence, doubt.start):
                counts[tuple(tags[number][start : start + length])] += 1
    return tuple(counts.most_common())


def _check(n: int | None, n_sentences: int, n_tags: int) -> None:
    if n is not None and n < 1:
        raise ParameterError(f"doubt: n must be at least 1, got {n}.")
    if n_sentences < 2 or n_sentences != n_tags:
        raise DataError(
            f"doubt: at least two sentences, each with tags, are needed, got {n_sentences} and {n_tags} of tags."
        )


def _crf(tags: Sequence[Sequence[str]]) -> Callable[[], Any]:
    from handful.tagging import CRF

    spans = any(tag.startswith(("B-", "I-")) for line in tags for tag in line)
    return lambda: CRF("ner" if spans else "pos", max_iter=60)


def _held_out_answers(
    sentences: Sequence[Any],
    tags: Sequence[Sequence[str]],
    make: Callable[[], Any],
    seed: int,
    progress: Progress | None,
) -> tuple[dict[int, list[str]], dict[int, np.ndarray], list[str]]:
    """Return tags and probabilities by sentence, of taggers that did not see it, and the tags there are."""
    classes = sorted({tag for line in tags for tag in line})
    folds = np.random.default_rng(seed).permutation(len(sentences)) % min(_N_FOLDS, len(sentences))
    answers: dict[int, list[str]] = {}
    shares: dict[int, np.ndarray] = {}
    try:
        for number, (train, test) in enumerate(train_and_test(folds), start=1):
            tagger = _taught(make(), [sentences[i] for i in train], [list(tags[i]) for i in train])
            held = [sentences[i] for i in test]
            shares.update(zip(test.tolist(), _shares(tagger, held, classes), strict=True))
            answers.update(zip(test.tolist(), tagger.predict(held), strict=True))
            if progress is not None:
                progress(Step("cross-validate", number, int(folds.max()) + 1))
    except KeyboardInterrupt:
        if not answers:
            raise
    return answers, shares, classes


def _shares(tagger: Any, sentences: list[Any], classes: list[str]) -> Iterator[np.ndarray]:
    """Yield the probabilities of all tags, of which the tagger may not know some."""
    codes_by_label = code_of(classes)
    columns = [codes_by_label[str(label)] for label in tagger.classes_]
    for known in tagger.predict_proba(sentences):
        shares = np.zeros((len(known), len(classes)))
        shares[:, columns] = known
        yield shares


def _taught(tagger: Any, sentences: list[Any], tags: list[list[str]]) -> Any:
    try:
        return tagger.fit(sentences, tags)
    except DataError as error:
        raise DataError(f"doubt: part of the sentences must teach a tagger of the rest. {error}") from error


def _differing(given: Sequence[str], answer: Sequence[str]) -> list[tuple[int, int]]:
    """Return the stretches in which tags differ; spans that overlap are one stretch."""
    differs = [i for i, (a, b) in enumerate(zip(given, answer, strict=True)) if a != b]
    if not differs:
        return []
    joined = _joined(given) | _joined(answer)
    edges = [i for i in range(1, len(given)) if i not in joined]
    stretches = list(pairwise([0, *edges, len(given)]))
    return [(a, b) for a, b in stretches if any(a <= i < b for i in differs)]


def _joined(tags: Sequence[str]) -> set[int]:
    """Return the tokens that are in one span with the token before them."""
    return {i for i, (a, b) in enumerate(pairwise(tags), start=1) if b.startswith("I-") and a[1:] == b[1:]}


def _duplicates(sentences: Sequence[Any], tags: Sequence[Sequence[str]]) -> list[tuple[int, int]]:
    first: dict[str, int] = {}
    pairs = []
    for number, sentence in enumerate(sentences):
        before = first.setdefault(_DIGIT.sub("0", " ".join(sentence).lower()), number)
        if list(tags[before]) != list(tags[number]):
            pairs.append((before, number))
    return pairs
