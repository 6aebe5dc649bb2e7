"""The texts of Suzuki, Isozaki and Nagata 2011: CoNLL-2003, clusters, and news text with part-of-speech tags."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence, Sized
from itertools import islice
from typing import Any, NamedTuple, TypeVar

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression

from handful.data.records import Sentence
from handful.errors import Progress, Step
from handful.representations.condensed_classifier import CondensedFeatureClassifier
from handful.tagging.crf import CRF
from papers.corpora import load

NEWS = ("unlabeled-news-reuters21578", "unlabeled-news-bbc", "unlabeled-news-abc")
_LONGEST = 128  # longer sentences are left out, as the authors do in an earlier paper with the same text
_TAGGED_AT_ONCE = 5_000
T = TypeVar("T")


class Names(NamedTuple):
    """Sentences and their named-entity tags."""

    sentences: list[Sentence]
    tags: list[list[str]]


def read_names(part: str, n_sentences: int | None = None) -> Names:
    """Read one part of CoNLL-2003 from the data folder.

    Parameters
    ----------
    part : {"train", "testa", "testb"}
        Which; ``testa`` is the development set.
    n_sentences : int, optional
        Take the first ones only.

    Returns
    -------
    Names
        Sentences with a column ``pos``, and their tags.
    """
    sentences = list(load(f"conll2003-eng-{part}"))[:n_sentences]
    return Names(sentences, [list(s["ner"]) for s in sentences])


def read_clusters(*, capitals: bool = False) -> dict[str, str]:
    """Return the path of every word in the Brown clusters of Reuters RCV1.

    Parameters
    ----------
    capitals : bool
        Whether a word in capitals that has no cluster takes that of its most frequent other spelling, for headlines.

    Returns
    -------
    dict of str to str
        Paths by word.
    """
    rows = sorted(load("brown-clusters-rcv1-c1000"), key=lambda row: -row.frequency)
    paths: dict[str, str] = {}
    if capitals:
        for row in rows:
            paths.setdefault(row.word.upper(), row.path)
    return paths | {row.word: row.path for row in rows}


def train_tagger(train: Names) -> CRF:
    """Train the part-of-speech tagger that gives the news text the column of the training sentences.

    Parameters
    ----------
    train : Names
        Training sentences with a column ``pos``.

    Returns
    -------
    CRF
        A fitted tagger.
    """
    words = [s.tokens for s in train.sentences]
    return CRF(algorithm="pa", max_iter=8).fit(words, [s["pos"] for s in train.sentences])


def read_news(tagger: CRF, n_tokens: int | None = None, *, progress: Progress | None = None) -> list[Sentence]:
    """Read and tag the news text.

    Parameters
    ----------
    tagger : CRF
        Gives the column ``pos``. Every text is tagged once, since several base models read it.
    n_tokens : int, optional
        About how many tokens to read; all by default.
    progress : callable, optional
        Called with the number of sentences tagged.

    Returns
    -------
    list of Sentence
        In an order in which every beginning has the same mixture of sources.
    """
    sources = [[s.tokens for s in load(name) if len(s) <= _LONGEST] for name in NEWS]
    words = list(_first(mixed(sources), n_tokens))
    sentences: list[Sentence] = []
    for start in range(0, len(words), _TAGGED_AT_ONCE):
        some = words[start : start + _TAGGED_AT_ONCE]
        for tokens, tags in zip(some, tagger.predict(some), strict=True):
            # one string a word, not one a token: the text stays in memory
            kept = tuple(map(sys.intern, tokens))
            sentences.append(Sentence(kept, {"pos": tuple(map(sys.intern, tags))}))
        if progress is not None:
            progress(Step("tag news", len(sentences), len(words), {}))
    return sentences


def mixed(sources: Sequence[Sequence[T]]) -> Iterator[T]:
    """Merge sequences so that every beginning has the same share of each.

    Parameters
    ----------
    sources : sequence of sequences
        To be merged; each keeps its order.

    Yields
    ------
    item
        All items.

    Examples
    --------
    >>> "".join(mixed(["aaaa", "bb"]))
    'abaaba'
    """
    keyed = sorted(
        ((2 * k + 1) / len(source), number, k) for number, source in enumerate(sources) for k in range(len(source))
    )
    for _, number, k in keyed:
        yield sources[number][k]


def size(sentences: Iterable[Sized]) -> int:
    """Return the number of tokens."""
    return sum(map(len, sentences))


def _first(sentences: Iterable[tuple[str, ...]], n_tokens: int | None) -> Iterator[tuple[str, ...]]:
    n_read = 0
    for tokens in sentences:
        if n_tokens is not None and n_read >= n_tokens:
            return
        n_read += len(tokens)
        yield tokens


SOURCES = (
    "unlabeled-news-abc",
    "unlabeled-news-bbc",
    "unlabeled-news-reuters21578",
    "unlabeled-movie-reviews",
)
N_LABELED, N_UNLABELED, N_TEST = 50, 5_000, 2_000  # sentences of each source
DISCOUNT, RESOLUTION, STRENGTH = 1.0, 1.0, 0.5  # the defaults; nothing was tuned
_SHORTEST = 8


class Rows(NamedTuple):
    """Sentences as bags of words and word pairs: labeled and unlabeled ones to learn from, and others to test on."""

    learn: Any
    labels: np.ndarray
    test: Any
    answers: np.ndarray


def read_sources(n_labeled: int = N_LABELED, n_unlabeled: int = N_UNLABELED, n_test: int = N_TEST) -> Rows:
    """Read sentences of four sources from the data folder, lower-cased.

    Parameters
    ----------
    n_labeled, n_unlabeled, n_test : int
        Sentences of each source. Those to learn from stand before those to test on, so few articles are in both.

    Returns
    -------
    Rows
        Columns are words and word pairs that at least two sentences to learn from have.
    """
    learn: list[str] = []
    labels: list[str | None] = []
    test: list[str] = []
    answers: list[str] = []
    for name in SOURCES:
        n_learn = n_labeled + n_unlabeled
        whole = (" ".join(s.tokens).lower() for s in load(name) if len(s) >= _SHORTEST)
        sentences = list(islice(whole, n_learn + n_test))
        # labeled sentences are spread over the text, since its beginning is one article
        labeled = set(np.linspace(0, n_learn - 1, n_labeled).astype(int).tolist())
        learn += sentences[:n_learn]
        labels += [name if k in labeled else None for k in range(n_learn)]
        test += sentences[n_learn:]
        answers += [name] * len(sentences[n_learn:])
    bag = CountVectorizer(ngram_range=(1, 2), min_df=2, token_pattern=r"[^ ]+", lowercase=False, binary=True)
    return Rows(bag.fit_transform(learn), np.array(labels, dtype=object), bag.transform(test), np.array(answers))


def measure_sources(rows: Rows) -> dict[str, float]:
    """Train a base model on the labeled rows and a condensed one on all, and test both.

    Parameters
    ----------
    rows : Rows
        What to learn from and to test on.

    Returns
    -------
    dict of str to float
        Accuracy in percent and number of weights of both, by claim.
    """
    labeled = np.flatnonzero(rows.labels != None)  # noqa: E711 - element by element
    base = LogisticRegression(max_iter=1000).fit(rows.learn[labeled], rows.labels[labeled].astype(str))
    model = CondensedFeatureClassifier(discount=DISCOUNT, resolution=RESOLUTION, strength=STRENGTH)
    model.fit(rows.learn, rows.labels)
    plain = 100 * float(np.mean(base.predict(rows.test) == rows.answers))
    condensed = 100 * float(np.mean(model.predict(rows.test) == rows.answers))
    return {
        "sources-sup-test": plain,
        "sources-cofer-test": condensed,
        "sources-sup-active": float(np.count_nonzero(base.coef_)),
        "sources-cofer-active": float(model.n_active_),
        "sources-cofer-over-sup": condensed - plain,
    }
