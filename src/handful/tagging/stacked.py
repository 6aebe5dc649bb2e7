"""Stacked tagging with condensed nearest neighbors, and jackknifed tags."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, pairwise
from typing import Annotated, Any, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from handful.errors import DataError, ParameterError, Progress, Step, counted
from handful.params import Range, check_params
from handful.persistence.schema import Model, Names, stored
from handful.preprocessing.templates import Tokens
from handful.registry import method
from handful.tagging.base import Tagger, check_sentences, encode_tags


def jackknife_tags(
    tagger: Any,
    sentences: Sequence[Tokens],
    tags: Sequence[Sequence[str]],
    *,
    n_folds: int = 10,
    progress: Progress | None = None,
) -> list[list[str]]:
    """Tag sentences, each by a tagger that learned from the others alone.

    Use it for the training data of a parser that will later read the tags of a tagger: it would learn to trust correct tags
    too much.

    Parameters
    ----------
    tagger : CRF or other tagger
        Cloned for every fold.
    sentences : list of lists of str, or of Sentence
        The tokens.
    tags : list of lists of str
        Their correct tags.
    n_folds : int
        Blocks of neighboring sentences; each is tagged by a tagger trained on the others.
    progress : callable, optional
        Called after each fold.

    Returns
    -------
    list of lists of str
        One tag per token.

    Examples
    --------
    >>> from handful.tagging import CRF
    >>> text = [["the", "dog"], ["a", "cat"], ["the", "cat"], ["a", "dog"]]
    >>> jackknife_tags(CRF(strength=0.1), text, [["D", "N"]] * 4, n_folds=2)
    [['D', 'N'], ['D', 'N'], ['D', 'N'], ['D', 'N']]
    """
    n = len(sentences)
    if not 2 <= n_folds <= n:
        raise ParameterError(f"jackknife_tags: n_folds must be from 2 to the {counted(n, 'sentence')}, got {n_folds}.")
    unseen_tags: list[list[str]] = []
    for fold in range(n_folds):
        start, stop = n * fold // n_folds, n * (fold + 1) // n_folds
        fitted = clone(tagger).fit([*sentences[:start], *sentences[stop:]], [*tags[:start], *tags[stop:]])
        unseen_tags += fitted.predict(list(sentences[start:stop]))
        if progress is not None:
            progress(Step("jackknife", fold + 1, n_folds))
    return unseen_tags


UNSEEN = "*"


def token_rows(
    sentences: Iterable[Iterable[str]], tags: Iterable[Iterable[str]], clusters: Mapping[str, str]
) -> np.ndarray:
    """Return one categorical row for each token: its predicted tag, and the cluster of its word.

    Parameters
    ----------
    sentences : iterable of sequences of str
        The tokens.
    tags : iterable of sequences of str
        Their predicted tags.
    clusters : mapping of str to str
        Cluster of each word. A missing word gets the cluster of its lower-case form, if there is one, followed by ``*``.

    Returns
    -------
    ndarray of object, shape (n_tokens, 2)
        The rows.

    Examples
    --------
    >>> token_rows([["the", "The", "Dodo"]], [["DT", "DT", "NNP"]], {"the": "01"}).tolist()
    [['DT', '01'], ['DT', '01*'], ['NNP', '*']]
    """
    words = list(chain.from_iterable(sentences))
    path_of = {word: clusters.get(word, clusters.get(word.lower(), "") + UNSEEN) for word in set(words)}
    rows = np.empty((len(words), 2), dtype=object)
    rows[:, 0] = list(chain.from_iterable(tags))
    rows[:, 1] = [path_of[word] for word in words]
    return rows


@method("stacked-tagger", paper="sogaard2011", task="sentences", uses_unlabeled=True)
class StackedTagger(Tagger):
    """Let a classifier of rows correct a tagger: each token is a row of the tagger's tag and the word's cluster.

    Use it with a tagger that cannot use unlabeled text itself: clusters and a semi-supervised classifier do.

    Parameters
    ----------
    tagger : tagger
        Has ``fit(sentences, tags)`` and ``predict(sentences)``, such as `CRF`.
    classifier : classifier
        Takes categorical rows, such as `handful.neighbors.SemiSupervisedCondensedNN`.
    clusters : BrownClusters or mapping of str to str
        Cluster of each word. The cluster of a word unseen by the clustering is that of its lower-case form followed by
        ``*``, or only ``*``.
    held_out : float, default=0.2
        Fraction of the tagged sentences, the last ones, that train the classifier instead of the tagger, so that it sees
        the tagger's errors on new text.

    Attributes
    ----------
    tagger_ : tagger
        The fitted tagger.
    classifier_ : classifier
        The fitted classifier.
    classes_ : ndarray of str
        Tags of the training sentences.

    See Also
    --------
    token_rows : The rows.

    Notes
    -----
    ======  ==================  =====================================================
    symbol  here                meaning
    ======  ==================  =====================================================
    x1      first columns       tag of the input tagger (SVMTool in the paper)
    x2      last column         cluster (Unsupos, trained on the BNC, in the paper)
    T       held-out sentences  labeled rows
    U       ``unlabeled``       rows without labels, tagged by the input tagger
    ======  ==================  =====================================================

    Deviations: in the paper an unsupervised tagger chooses the cluster in context; here it depends on the word alone.
    Cost: that of the tagger and of the classifier; rows take O(n_tokens) memory.

    References
    ----------
    Søgaard, A. (2011). Semi-supervised condensed nearest neighbor for part-of-speech tagging. ACL.

    Examples
    --------
    >>> from handful.neighbors import CondensedNN
    >>> from handful.tagging import CRF
    >>> sentences = [["the", "dog", "barks"], ["a", "cat", "sleeps"], ["the", "cat", "barks"], ["a", "dog", "sleeps"]]
    >>> clusters = {"the": "0", "a": "0", "dog": "10", "cat": "10", "barks": "11", "sleeps": "11"}
    >>> model = StackedTagger(CRF(strength=0.1), CondensedNN(ties="all"), clusters=clusters, held_out=0.5)
    >>> model.fit(sentences, [["D", "N", "V"]] * 4).predict([["the", "dog", "sleeps"]])
    [['D', 'N', 'V']]
    """

    STATE = stored(classes_=Names("k"), tagger_=Model("Tagger"), classifier_=Model())

    def __init__(
        self,
        tagger: Any,
        classifier: Any,
        *,
        clusters: Any,
        held_out: Annotated[float, Range(0, 1, open_low=True, open_high=True)] = 0.2,
    ) -> None:
        self.tagger = tagger
        self.classifier = classifier
        self.clusters = clusters
        self.held_out = held_out

    def fit(
        self,
        sentences: Sequence[Tokens],
        tags: Sequence[Sequence[str]],
        *,
        unlabeled: Sequence[Tokens] | None = None,
    ) -> Self:
        """Learn from tagged sentences, and from untagged ones if the classifier can.

        Parameters
        ----------
        sentences : list of lists of str, or of Sentence
            The tokens.
        tags : list of lists of str
            One tag per token.
        unlabeled : list of lists of str, or of Sentence, optional
            Sentences without tags; their rows come after the labeled ones, with the label None.

        Returns
        -------
        StackedTagger
            Itself.
        """
        check_params(self)
        clusters = self._cluster_of()
        if not isinstance(clusters, Mapping):
            raise ParameterError(
                "StackedTagger: clusters must be fitted BrownClusters or a dictionary from word to cluster, "
                f"got {type(clusters).__name__}."
            )
        sentences, offsets = check_sentences(sentences, "StackedTagger")
        _, self.classes_ = encode_tags(offsets, tags, "StackedTagger")
        n_base = len(sentences) - max(1, round(self.held_out * len(sentences)))
        if n_base < 1:
            raise DataError("StackedTagger: at least two tagged sentences are needed, got 1.")
        self.tagger_ = clone(self.tagger).fit(sentences[:n_base], tags[:n_base])
        sentences, tags = sentences[n_base:], tags[n_base:]
        rows = self.rows(sentences)
        labels = np.array(list(chain.from_iterable(tags)), dtype=object)
        if unlabeled is not None:
            more = self.rows(unlabeled)
            rows = np.concatenate([rows, more])
            labels = np.concatenate([labels, np.full(len(more), None)])
        self.classifier_ = clone(self.classifier).fit(rows, labels)
        return self

    def rows(self, sentences: Sequence[Tokens]) -> np.ndarray:
        """Tag sentences with the inner tagger and return the rows that the classifier sees.

        Parameters
        ----------
        sentences : list of lists of str, or of Sentence
            The tokens.

        Returns
        -------
        ndarray of object, shape (n_tokens, 2)
            One row per token.
        """
        return token_rows(sentences, self.tagger_.predict(sentences), self._cluster_of())

    def predict(self, sentences: Sequence[Tokens]) -> list[list[str]]:
        """Tag sentences.

        Parameters
        ----------
        sentences : list of lists of str, or of Sentence
            The tokens.

        Returns
        -------
        list of lists of str
            One tag per token.
        """
        check_is_fitted(self, "classifier_")
        sentences, offsets = check_sentences(sentences, "StackedTagger")
        rows = self.rows(sentences)
        if len(rows) == 0:
            return [[] for _ in sentences]
        flat = np.asarray(self.classifier_.predict(rows)).tolist()
        return [flat[a:b] for a, b in pairwise(offsets)]

    def _cluster_of(self) -> Mapping[str, str]:
        path_of: Mapping[str, str] = getattr(self.clusters, "paths_", self.clusters)
        return path_of

    @property
    def columns_(self) -> list[str]:
        """Columns of a sentence that are read, ``word`` first."""
        check_is_fitted(self, "classifier_")
        columns: list[str] = getattr(self.tagger_, "columns_", ["word"])
        return columns

    def _state(self) -> dict[str, Any]:
        # The fitted parts have the parameters of the unfitted ones, which cannot be stored.
        check_is_fitted(self, "classifier_")
        return super()._state() | {"classifier": None, "tagger": None}

    @classmethod
    def _from_state(cls, state: Mapping[str, Any]) -> Self:
        # parameters in files before version 0.3
        if state.get("tag_weight", 1) != 1 or state.get("min_share", 0.0) > 0.0:
            raise DataError("StackedTagger: tag_weight and min_share are gone. Fit the model again.")
        return super()._from_state({k: value for k, value in state.items() if k not in ("tag_weight", "min_share")})

    def _check_state(self) -> None:
        if not hasattr(self.classifier_, "predict"):
            raise DataError("StackedTagger: a classifier is needed, but the file holds another thing.")
        if getattr(self.classifier_, "n_features_in_", 2) != 2:
            raise DataError("StackedTagger: its classifier must take two columns, tag and cluster.")
        self.classifier, self.tagger = clone(self.classifier_), clone(self.tagger_)
