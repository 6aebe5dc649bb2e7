"""Base classes, checks and explanations of taggers."""

from __future__ import annotations

import hashlib
from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any, Protocol

import numpy as np
from sklearn.base import BaseEstimator

from handful.data.records import Evidence, Explanation, Sentence
from handful.errors import DataError, counted
from handful.persistence.model_file import Storable
from handful.preprocessing.templates import Tokens, sentence_offsets
from handful.preprocessing.word_tables import fold


class Tagger(Storable, BaseEstimator):  # type: ignore[misc]
    """A model that gives every token of a sentence one tag; a tagger adds ``fit`` and `predict`."""

    classes_: np.ndarray

    @abstractmethod
    def predict(self, sentences: Sequence[Tokens]) -> list[list[str]]:
        """Tag sentences.

        Parameters
        ----------
        sentences : list of lists of str, or of Sentence
            The tokens, with the columns that training had; words that training did not see are welcome.

        Returns
        -------
        list of lists of str
            One tag per token.
        """

    def score(self, sentences: Sequence[Tokens], tags: Sequence[Sequence[str | None] | None]) -> float:
        """Return the share of tokens that are tagged correctly.

        Parameters
        ----------
        sentences : list of lists of str, or of Sentence
            The tokens.
        tags : list of lists of str
            Correct tags; tokens with None do not count.

        Returns
        -------
        float
            Accuracy.
        """
        name = type(self).__name__
        equal: list[bool] = []
        try:
            for row, gold in zip(self.predict(sentences), tags, strict=True):
                if gold is not None:
                    equal += [a == b for a, b in zip(row, gold, strict=True) if b is not None]
        except (TypeError, ValueError):
            raise DataError(f"{name}: every token must have one tag to be scored against.") from None
        if not equal:
            raise DataError(f"{name}: at least one tagged token is needed to score, got none.")
        return sum(equal) / len(equal)


class TaggerReading(Protocol):
    """Sentences whose features a tagger has read, so that tags and probabilities cost one reading."""

    def tags(self) -> list[list[str]]:
        """Return one tag per token."""

    def proba(self) -> list[np.ndarray]:
        """Return the probability of every label at every token; columns are the classes of the tagger."""


class ProbabilisticTagger(Tagger):
    """A tagger with probabilities of the tags of each token; a subclass adds ``fit`` and `read`."""

    @abstractmethod
    def read(self, sentences: Sequence[Tokens]) -> Iterable[TaggerReading]:
        """Read the features of sentences, some thousands of sentences at a time.

        Parameters
        ----------
        sentences : list of lists of str, or of Sentence
            The tokens, with the columns that training had.

        Returns
        -------
        iterable of TaggerReading
            The sentences in their order.
        """

    def predict(self, sentences: Sequence[Tokens]) -> list[list[str]]:
        """Tag sentences; see `Tagger.predict`."""
        return [row for reading in self.read(sentences) for row in reading.tags()]

    def predict_proba(self, sentences: Sequence[Tokens]) -> list[np.ndarray]:
        """Return the probability of every label at every token.

        Parameters
        ----------
        sentences : list of lists of str, or of Sentence
            The tokens.

        Returns
        -------
        list of ndarray of shape (n_tokens, n_labels)
            One array per sentence; columns are `classes_`.
        """
        return [rows for reading in self.read(sentences) for rows in reading.proba()]

    def predict_with_proba(self, sentences: Sequence[Tokens]) -> tuple[list[list[str]], list[np.ndarray]]:
        """Tag sentences and return the probability of each label, reading their features once.

        Parameters
        ----------
        sentences : list of lists of str, or of Sentence
            The tokens.

        Returns
        -------
        tags : list of lists of str
            One tag per token.
        proba : list of ndarray of shape (n_tokens, n_labels)
            The probability of every label at every token.
        """
        tags: list[list[str]] = []
        proba: list[np.ndarray] = []
        for reading in self.read(sentences):
            tags += reading.tags()
            proba += reading.proba()
        return tags, proba

    def predict_marginals(self, sentences: Sequence[Tokens]) -> list[list[dict[str, float]]]:
        """Return the probability of every label at every token as dictionaries; see `predict_proba` for arrays.

        Parameters
        ----------
        sentences : list of lists of str, or of Sentence
            The tokens.

        Returns
        -------
        list of lists of dict
            For each token the probability of each tag.
        """
        proba = self.predict_proba(sentences)
        labels = self.classes_.tolist()
        return [[dict(zip(labels, row, strict=True)) for row in rows.tolist()] for rows in proba]


def add_columns(sentence: Tokens, columns: Mapping[str, Sequence[str]]) -> Sentence:
    """Return a sentence with further columns.

    Examples
    --------
    >>> dict(add_columns(["Rome"], {"pos": ["NNP"]}).columns)
    {'pos': ('NNP',)}
    """
    known = sentence if isinstance(sentence, Sentence) else Sentence(tuple(sentence))
    return Sentence(known.tokens, {**known.columns, **{name: tuple(cells) for name, cells in columns.items()}})


def check_sentences(sentences: Any, who: str) -> tuple[Sequence[Tokens], np.ndarray]:
    """Check a list of sentences; return it with the offsets of its tokens.

    Parameters
    ----------
    sentences : iterable of sequences of str, or of Sentence
        The sentences.
    who : str
        Name of the caller, for errors.

    Returns
    -------
    sentences : sequence
        The same, as a list if they came from an iterator.
    offsets : ndarray of int64
        Where each sentence starts.

    Examples
    --------
    >>> check_sentences([["Rome", "fell"]], "example")[1].tolist()
    [0, 2]
    """
    if not isinstance(sentences, Sequence | np.ndarray) and hasattr(sentences, "__iter__"):
        sentences = list(sentences)
    return sentences, sentence_offsets(sentences, who)


def encode_tags(offsets: np.ndarray, tags: Any, who: str) -> tuple[np.ndarray, np.ndarray]:
    """Check that every token has a tag; return codes and labels.

    Parameters
    ----------
    offsets : ndarray of int64
        Where each sentence starts.
    tags : sequence of sequences of str
        One tag per token.
    who : str
        Name of the caller, for errors.

    Returns
    -------
    codes : ndarray of int32, shape (n_tokens,)
        Index of each tag among the labels.
    labels : ndarray of str
        Distinct tags, sorted.

    Examples
    --------
    >>> codes, labels = encode_tags(np.array([0, 2]), [["NNP", "VBD"]], "example")
    >>> codes.tolist(), labels.tolist()
    ([0, 1], ['NNP', 'VBD'])
    """
    n = len(offsets) - 1
    if n == 0 or offsets[-1] == 0:
        raise DataError(f"{who}: at least one tagged sentence is needed, got none.")
    if isinstance(tags, str) or not hasattr(tags, "__len__"):
        raise DataError(f"{who}: tags must be a list of lists of strings, got {type(tags).__name__}.")
    if len(tags) != n:
        raise DataError(
            f"{who}: there must be one list of tags per sentence, got {counted(n, 'sentence')} and {counted(len(tags), 'list')}."
        )
    for number, (row, length) in enumerate(zip(tags, np.diff(offsets), strict=True)):
        _check_row(number, row, length, who)
    flat: list[str] = list(chain.from_iterable(tags))
    labels = sorted(set(flat))
    if len(labels) < 2:
        raise DataError(f"{who}: there must be at least two different tags, got only {labels[0]!r}.")
    numbers = {label: code for code, label in enumerate(labels)}
    codes = np.fromiter(map(numbers.__getitem__, flat), dtype=np.int32, count=len(flat))
    return codes, np.array(labels)


def _check_row(number: int, row: Any, length: int, who: str) -> None:
    if row is None:
        raise DataError(
            f"{who}: every sentence must be tagged, but sentence {number} has None. "
            "Leave it out; PrototypeTagger learns from untagged sentences."
        )
    if isinstance(row, str) or not hasattr(row, "__len__"):
        raise DataError(f"{who}: the tags of sentence {number} must be a list of strings, got {row!r}.")
    if len(row) != length:
        raise DataError(
            f"{who}: every token must have one tag, but sentence {number} has {counted(length, 'token')} "
            f"and {counted(len(row), 'tag')}."
        )
    odd = next((tag for tag in row if not isinstance(tag, str)), "")
    if odd is None:
        raise DataError(
            f"{who}: every token must be tagged, but some tag is None. "
            "Leave such sentences out; PrototypeTagger learns from partly tagged ones."
        )
    if odd != "":
        raise DataError(f"{who}: tags must be strings, got {type(odd).__name__}. Turn them into strings.")


class TagColumn:
    """Add what a tagger predicts to sentences, as a column.

    Use it where templates read part-of-speech tags and the text has none: ``CondensedFeatures(ner).fit(files,
    prepare=TagColumn(pos_tagger))``.

    Parameters
    ----------
    tagger : CRF or other tagger
        Fitted.
    name : str
        Name of the column.

    Examples
    --------
    >>> from handful.tagging import CRF
    >>> tagger = CRF(strength=0.1).fit([["the", "dog"], ["a", "cat"]], [["D", "N"], ["D", "N"]])
    >>> TagColumn(tagger)([["the", "cat"]])[0].columns["pos"]
    ('D', 'N')
    """

    def __init__(self, tagger: Any, name: str = "pos") -> None:
        self.tagger = tagger
        self.name = name

    @property
    def fingerprint(self) -> str:
        """Names the tagger, for checkpoints."""
        weights = getattr(self.tagger, "weights_", None)
        content = repr(self.tagger).encode() if weights is None else weights.tobytes()
        return f"{self.name} {hashlib.sha256(content).hexdigest()}"

    def __call__(self, sentences: Sequence[Tokens]) -> list[Sentence]:
        """Return the sentences with the column."""
        tags = self.tagger.predict(sentences)
        return [add_columns(sentence, {self.name: row}) for sentence, row in zip(sentences, tags, strict=True)]


# How the roles of IOBES labels are written in each scheme.
_WRITTEN_ROLES = {
    "IO": dict.fromkeys("BIES", "I"),
    "IOB1": dict.fromkeys("BIES", "I"),
    "IOB2": {"S": "B", "E": "I"},
    "BILOU": {"S": "U", "E": "L"},
}


def written_tag(label: str, scheme: str | None) -> str:
    """Return the tag that a label is usually written as.

    Parameters
    ----------
    label : str
        A label that was learned, such as ``S-PER``.
    scheme : str or None
        Scheme of the tags of the training file; None where labels are what was written.

    Examples
    --------
    >>> written_tag("S-PER", "IOB2"), written_tag("E-PER", "IOB2"), written_tag("B-PER", "IOB1"), written_tag("NN", None)
    ('B-PER', 'I-PER', 'I-PER', 'NN')
    """
    role, dash, kind = label.partition("-")
    roles = _WRITTEN_ROLES.get(scheme or "")
    return f"{roles.get(role, role)}-{kind}" if dash and roles is not None else label


def labels_written_as(tag: str, labels: Sequence[str], scheme: str | None) -> list[int]:
    """Return which labels of a tagger are written as a tag.

    Parameters
    ----------
    tag : str
        A tag of the training file.
    labels : sequence of str
        The labels that were learned.
    scheme : str or None
        As for `written_tag`.

    Returns
    -------
    list of int
        Their places.

    Examples
    --------
    >>> labels_written_as("B-PER", ["B-PER", "E-PER", "I-PER", "O", "S-PER"], "IOB2")
    [0, 4]
    """
    exact = [number for number, label in enumerate(labels) if written_tag(label, scheme) == tag]
    if exact or scheme not in ("IO", "IOB1"):
        return exact
    kind = tag.partition("-")[2]  # B- of IOB1, which the tags written alone do not show
    return [number for number, label in enumerate(labels) if kind and label.partition("-")[2] == kind]


_MOST = 6
_HOW = "weight for the tag rather than the runner-up"


def explain_crf(model: Any, sentence: Any) -> list[Explanation]:
    """Explain the tags of a CRF.

    Parameters
    ----------
    model : CRF
        Fitted.
    sentence : list of str, or Sentence
        The tokens.

    Returns
    -------
    list of Explanation
        One for each token, with tags as they were written in training. The tag before has a weight too, as ``after TAG``.
    """
    (tags,), (proba,) = model.predict_with_proba([sentence])
    layout = model.layout
    nodes, pairs = layout.split(model.weights_)[0], layout.pair_matrix(model.weights_)
    scheme = getattr(model, "scheme_", None)
    labels = model.classes_.tolist()
    written = np.array([written_tag(label, scheme) for label in labels])
    explanations = []
    forms = {form for word in sentence for form in (word, fold(word))}
    before = -1
    for token, tag, line, ids in zip(
        list(sentence), tags, proba, model.extractor.transform([sentence]).ids, strict=True
    ):
        own = labels_written_as(tag, labels, scheme)
        runner_up = _runner_up(line, written, own)
        best = own[int(line[own].argmax())]
        rivals = np.flatnonzero(written == runner_up)
        second = int(rivals[line[rivals].argmax()]) if len(rivals) else best
        known = ids[ids >= 0]
        evidence = []
        for name, predicate in zip(model.extractor.in_words(known, forms), known.tolist(), strict=True):
            span = slice(layout.node_offsets[predicate], layout.node_offsets[predicate + 1])
            weights = dict(zip(layout.node_targets[span].tolist(), nodes[span].tolist(), strict=True))
            evidence.append(Evidence(name, weights.get(best, 0.0) - weights.get(second, 0.0)))
        if before >= 0:
            evidence.append(Evidence(f"after {written[before]}", float(pairs[before, best] - pairs[before, second])))
        confidence = min(float(line[own].sum()), 1.0)
        explanations.append(Explanation(tag, confidence, runner_up, _strongest(evidence), _HOW, subject=token))
        before = best
    return explanations


def _runner_up(line: np.ndarray, written: np.ndarray, own: list[int]) -> str | None:
    """Return the most probable tag, as it is written in files, other than the prediction."""
    others = np.setdiff1d(np.arange(len(line)), own)
    proba = {tag: float(line[others][written[others] == tag].sum()) for tag in written[others].tolist()}
    return max(proba, key=lambda tag: proba[tag], default=None)


def explain_prototypes(model: Any, sentence: Any) -> list[Explanation]:
    """Explain the tags of a prototype tagger.

    Parameters
    ----------
    model : PrototypeTagger
        Fitted.
    sentence : list of str, or Sentence
        The tokens.

    Returns
    -------
    list of Explanation
        One for each token, with the prototypes that its word is linked to and the label of each.
    """
    (tags,), (proba,) = model.predict_with_proba([sentence])
    row_of = {predicate: row for row, predicate in enumerate(model.predicates_)}
    n_labels = len(model.classes_)
    weights = model.weights_[: len(row_of) * n_labels].reshape(len(row_of), n_labels)
    explanations = []
    for token, tag, line in zip(list(sentence), tags, proba, strict=True):
        second, best = np.argsort(line, kind="stable")[-2:]
        known = [predicate for predicate in model.observe(token) if predicate in row_of]
        evidence = [
            Evidence(
                _in_words(predicate, token),
                float(weights[row_of[predicate], best] - weights[row_of[predicate], second]),
            )
            for predicate in known
        ]
        near = [word for word in model.links_.get(token, ()) if word != token]
        explanations.append(
            Explanation(
                tag,
                float(line.max()),
                str(model.classes_[second]),
                _strongest(evidence),
                _HOW,
                subject=token,
                links=tuple(f"{word} ({', '.join(model.lexicon_.get(word, ()))})" for word in near),
                prototype_of=tuple(model.lexicon_.get(token, ())),
            )
        )
    return explanations


def _in_words(predicate: str, word: str) -> str:
    """Write in words what `handful.tagging.prototypes.features.word_predicates` observed."""
    kind, _, value = predicate.partition("=")
    if not value:
        return "the word starts with a capital" if kind == "capital" else f"the word has a {kind}"
    if kind == "prototype" and value == word:
        return "the word is a prototype"
    verb = {"word": "is", "suffix": "ends in", "prototype": "is linked to"}[kind]
    return f'the word {verb} "{value}"'


def _strongest(evidence: list[Evidence]) -> tuple[Evidence, ...]:
    """Return the evidence with the largest weights; equal words, though observed in several ways, count together."""
    weights: dict[str, float] = {}
    for item in evidence:
        weights[item.what] = weights.get(item.what, 0.0) + item.weight
    summed = [Evidence(what, weight) for what, weight in weights.items() if weight]
    return tuple(sorted(summed, key=lambda e: (-abs(e.weight), e.what))[:_MOST])
