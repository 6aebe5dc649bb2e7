"""Text classification through the practical door: which of four sources wrote a sentence, from few labels."""

from __future__ import annotations

from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression

from handful.corpora import load
from handful.representations.condensed.classifier import CondensedFeatureClassifier

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
        given = set(np.linspace(0, n_learn - 1, n_labeled).astype(int).tolist())
        learn += sentences[:n_learn]
        labels += [name if k in given else None for k in range(n_learn)]
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
    given = np.flatnonzero(rows.labels != None)  # noqa: E711 - element by element
    base = LogisticRegression(max_iter=1000).fit(rows.learn[given], rows.labels[given].astype(str))
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
