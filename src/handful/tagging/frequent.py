"""The most frequent tag of each word: what a tagger must beat."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from handful.errors import DataError
from handful.persistence.schema import DictOf, Names, Text, stored
from handful.registry import method
from handful.tagging.base import Tagger


def _train(setup: Any, sentences: Any, tags: Any, unlabeled: Any) -> FrequentTag:
    return FrequentTag().fit(sentences, tags)


@method("frequent-tag", task="sentences", cost="instant", baseline=True, train=_train)
class FrequentTag(Tagger):
    """Give each word its most frequent tag, and the most frequent of all to a word that is new.

    Attributes
    ----------
    classes_ : ndarray of str
        All tags, sorted.
    tag_of_ : dict of str to str
        Tag of each word.
    usual_ : str
        The most frequent of all.

    Notes
    -----
    Of equally frequent tags the one that came first in the text is taken.

    Examples
    --------
    >>> FrequentTag().fit([["a", "b"]], [["X", "Y"]]).predict([["b", "c"]])
    [['Y', 'X']]
    """

    STATE = stored(classes_=Names("k", only_text=True), tag_of_=DictOf(Text()), usual_=Text())

    def fit(self, sentences: Sequence[Any], tags: Sequence[Sequence[str]]) -> Self:
        """Count tags."""
        if len(sentences) != len(tags):
            raise DataError(
                f"FrequentTag: sentences and tags must be of one length, got {len(sentences)} and {len(tags)}."
            )
        counts: dict[str, Counter[str]] = defaultdict(Counter)
        total: Counter[str] = Counter()
        for sentence, sentence_tags in zip(sentences, tags, strict=True):
            for token, tag in zip(sentence, sentence_tags, strict=True):
                counts[token][tag] += 1
                total[tag] += 1
        if not total:
            raise DataError("FrequentTag: there must be at least one tagged token, got none.")
        self.tag_of_ = {token: seen.most_common(1)[0][0] for token, seen in counts.items()}
        self.usual_ = total.most_common(1)[0][0]
        self.classes_ = np.array(sorted(total))
        return self

    def predict(self, sentences: Sequence[Any]) -> list[list[str]]:
        """Tag sentences."""
        check_is_fitted(self)
        return [[self.tag_of_.get(token, self.usual_) for token in sentence] for sentence in sentences]

    def _check_state(self) -> None:
        if not {self.usual_, *self.tag_of_.values()} <= set(self.classes_.tolist()):
            raise DataError("FrequentTag: the tag of every word must be one of the classes.")
