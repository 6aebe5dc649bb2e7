"""Generated stand-ins for corpora that are not in the data folder, so that a quick run shows something anywhere."""

from __future__ import annotations

import zlib
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from handful.data.records import Sentence
from handful.data.word_lists import ClusterRow

if TYPE_CHECKING:
    from collections.abc import Iterator

    from papers.corpora import Corpus

_USED: ContextVar[set[str] | None] = ContextVar("stand-ins", default=None)
_N_SENTENCES = 1_500


@contextmanager
def allow_stand_ins() -> Iterator[set[str]]:
    """Let missing corpora be replaced by generated ones; the set names those that were.

    Examples
    --------
    >>> with allow_stand_ins() as used:
    ...     X, y = stand_in_table("vehicle", 846, 18, 4)
    >>> X.shape, used
    ((846, 18), {'vehicle'})
    """
    used: set[str] = set()
    token = _USED.set(used)
    try:
        yield used
    finally:
        _USED.reset(token)


def allowed() -> bool:
    """Return whether stand-ins are allowed."""
    return _USED.get() is not None


def stand_in_table(name: str, n_rows: int, n_features: int, n_classes: int) -> tuple[np.ndarray, np.ndarray]:
    """Return features and codes of a table; wine comes with scikit-learn and is no stand-in."""
    from sklearn.datasets import load_wine, make_classification

    if name == "wine":
        X, y = load_wine(return_X_y=True)
        return X, y.astype(np.int64)
    _note(name)
    X, y = make_classification(
        n_rows, n_features, n_informative=max(4, n_features // 2), n_classes=n_classes, random_state=_seed(name)
    )
    return X, y.astype(np.int64)


def stand_in_corpus(entry: Corpus) -> Any:
    """Return an iterator of generated sentences or trees in the form of a corpus, or None where there is none."""
    from handful.representations.brown import BrownClusters
    from papers.generated_english import make_tagged_sentences

    is_english = not entry.name.startswith(("zh_", "citations"))
    if not is_english or entry.format not in ("conll", "conllu", "text", "clusters"):
        return None
    _note(entry.name)
    n_sentences = entry.counts.get("sentences", _N_SENTENCES) if entry.format == "conllu" else _N_SENTENCES
    trees = make_tagged_sentences(min(n_sentences, 4_000), random_state=_seed(entry.name))
    if entry.format == "clusters":
        words = [tree.sentence.tokens for tree in trees]
        clusters = BrownClusters(n_clusters=50).fit(words)
        return (ClusterRow(path, word, clusters.counts_[word]) for word, path in clusters.paths_.items())
    if entry.format == "conllu":
        return (replace(tree, sentence=_with_ud_tags(tree.sentence)) for tree in trees)
    return (tree.sentence for tree in trees)


def _with_ud_tags(sentence: Sentence) -> Sentence:
    return Sentence(sentence.tokens, {**sentence.columns, "xpos": sentence["pos"], "upos": sentence["pos"]})


def _note(name: str) -> None:
    used = _USED.get()
    if used is not None:
        used.add(name)


def _seed(name: str) -> int:
    return zlib.crc32(name.encode()) % 2**16
