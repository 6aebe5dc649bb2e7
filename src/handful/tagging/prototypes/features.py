"""Features of prototype taggers, similarities and fields."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any, Literal

import numpy as np
from scipy import sparse
from scipy.special import logsumexp
from sklearn.base import clone

from handful.data.labels import code_of
from handful.errors import DataError, Progress, Step
from handful.preprocessing.templates import Tokens
from handful.representations.similarity import ContextSimilarity
from handful.tagging.base import add_columns
from handful.tagging.prototypes.chains import Chain, FirstOrder, SecondOrder, TokenArrays
from handful.tagging.recipes import TaggerSetup

_CAPITAL = re.compile(r"^[A-Z]")
_DIGIT = re.compile(r"[0-9]")
_AT_ONCE = 8192  # words whose similarities are held at a time


def spelling_predicates(word: str, suffix_length: int = 3) -> list[str]:
    """Return the predicates of a word's spelling: suffixes, initial capital, hyphen, digit.

    Parameters
    ----------
    word : str
        The word.
    suffix_length : int
        Longest suffix; a suffix is always shorter than the word.

    Returns
    -------
    list of str
        Names of predicates.

    Examples
    --------
    >>> spelling_predicates("Re-ran")
    ['suffix=n', 'suffix=an', 'suffix=ran', 'capital', 'hyphen']
    """
    predicates = [f"suffix={word[-n:]}" for n in range(1, suffix_length + 1) if len(word) > n]
    if _CAPITAL.search(word):
        predicates.append("capital")
    if "-" in word:
        predicates.append("hyphen")
    if _DIGIT.search(word):
        predicates.append("digit")
    return predicates


def word_predicates(word: str, links: Sequence[str], spelling: bool, suffix_length: int) -> list[str]:
    """Return all predicates of a word.

    Parameters
    ----------
    word : str
        The word.
    links : sequence of str
        Prototypes it is linked to.
    spelling : bool
        Whether to look at the spelling.
    suffix_length : int
        Longest suffix.

    Returns
    -------
    list of str
        Names of predicates.

    Examples
    --------
    >>> word_predicates("reported", ["said", "had"], spelling=True, suffix_length=2)
    ['word=reported', 'suffix=d', 'suffix=ed', 'prototype=said', 'prototype=had']
    """
    predicates = [f"word={word}"]
    if spelling:
        predicates += spelling_predicates(word, suffix_length)
    return predicates + [f"prototype={link}" for link in links]


def feature_table(predicates: Sequence[Sequence[str]], columns: Mapping[str, int]) -> sparse.csr_array:
    """Return words by predicates as a sparse table of ones; predicates without a column are left out.

    Examples
    --------
    >>> feature_table([["a", "b"], ["b", "c"]], {"a": 0, "b": 1}).toarray().tolist()
    [[1.0, 1.0], [0.0, 1.0]]
    """
    indices: list[int] = []
    ends = [0]
    for observed in predicates:
        indices += [columns[p] for p in observed if p in columns]
        ends.append(len(indices))
    data = np.ones(len(indices))
    shape = (len(predicates), len(columns))
    return sparse.csr_array((data, np.array(indices, dtype=np.int64), np.array(ends, dtype=np.int64)), shape=shape)


def link_words(
    similarity: Any, prototypes: Sequence[str], n_links: int, threshold: float, words: Sequence[str] | None = None
) -> dict[str, list[str]]:
    """Link words to the prototypes they are most like.

    Parameters
    ----------
    similarity : ContextSimilarity
        Fitted; anything with ``vocabulary_`` (word to row) and ``vectors_`` (unit rows) will do.
    prototypes : sequence of str
        The prototypes.
    n_links : int
        Most links of a word.
    threshold : float
        A link must be above this.
    words : sequence of str, optional
        Words to link; by default all that have a vector.

    Returns
    -------
    dict of str to list of str
        Prototypes of each word, the most similar first; a prototype is linked to itself alone. Words without a link are
        left out.

    Notes
    -----
    Among equally similar prototypes the one listed first wins.

    Examples
    --------
    >>> class Similarity:
    ...     vocabulary_ = {"said": 0, "told": 1, "year": 2}
    ...     vectors_ = np.array([[1.0, 0.0], [0.8, 0.6], [0.0, 1.0]])
    >>> link_words(Similarity(), ["said"], n_links=5, threshold=0.35)
    {'said': ['said'], 'told': ['said']}
    """
    rows, vectors = _rows_and_vectors(similarity)
    targets = list(dict.fromkeys(prototypes))
    links = {word: [word] for word in targets}
    known = [word for word in targets if word in rows]
    wanted = [word for word in (rows if words is None else words) if word in rows and word not in links]
    if not known or not wanted:
        return links
    target_vectors = np.asarray(vectors[[rows[word] for word in known]])
    for first in range(0, len(wanted), _AT_ONCE):
        chunk = wanted[first : first + _AT_ONCE]
        # rounded to what float32 holds, so that equal contexts are ties
        scores = np.round(vectors[[rows[word] for word in chunk]] @ target_vectors.T, 6)
        nearest = np.argsort(-scores, axis=1, kind="stable")[:, :n_links]
        near = [[known[j] for j in order if line[j] > threshold] for line, order in zip(scores, nearest, strict=True)]
        links |= {word: linked for word, linked in zip(chunk, near, strict=True) if linked}
    return links


def _rows_and_vectors(similarity: Any) -> tuple[Mapping[str, int], np.ndarray]:
    rows = getattr(similarity, "vocabulary_", None)
    vectors = getattr(similarity, "vectors_", None)
    if rows is None or vectors is None:
        raise DataError(
            f"PrototypeTagger: similarity must be a ContextSimilarity or have vocabulary_ and vectors_, "
            f"got {type(similarity).__name__}."
        )
    return rows, vectors


Kind = Literal["places", "place-roots", "nearby-roots", "nearby", "none"]
KINDS: tuple[Kind, ...] = ("places", "place-roots", "nearby-roots", "nearby", "none")
"""places: context words by distance and direction, decomposed, for parts of speech; nearby: whatever stands within three
words, decomposed, for fields (both after Haghighi and Klein 2006). The roots are the same contexts for less text: square
roots of counts, compared as they are."""

_TOKENS_A_COUNT, _LEAST_COUNT, _MOST_COUNT = 6_000, 5, 20
_SMALL = 2_000  # in a text of fewer tokens every word counts
_NEARBY: dict[str, Any] = {"window": 3, "directional": False}


def usual_threshold(kind: Kind) -> float:
    """Return how similar words must be to be linked; roots of counts are never negative, so more is asked of them.

    Examples
    --------
    >>> usual_threshold("places"), usual_threshold("nearby-roots")
    (0.35, 0.45)
    """
    return 0.45 if kind.endswith("roots") else 0.35


def learn_similarity(
    kind: Kind, text: Iterable[Any], n_tokens: int, min_count: int | None = None
) -> ContextSimilarity | None:
    """Learn a kind of similarity from a text.

    Parameters
    ----------
    kind : str
        One of `KINDS`.
    text : iterable of sentences
        The text.
    n_tokens : int
        Its size, which the count that a word needs depends on.
    min_count : int, optional
        That count; by default 1 for decomposed counts, and for roots one for every 6,000 tokens, from 5 to 20 (1 in a text
        of less than 2,000).

    Returns
    -------
    ContextSimilarity or None
        Fitted; None for the kind none.

    Examples
    --------
    >>> text = [s.split() for s in ["the dog sat", "the cat sat", "a dog ran", "a cat ran"]]
    >>> round(learn_similarity("place-roots", text, 12).similarity("dog", "cat"), 2)
    1.0
    """
    if kind == "none":
        return None
    contexts = _NEARBY if kind.startswith("nearby") else {}
    if kind.endswith("roots"):
        usual = min(_MOST_COUNT, max(_LEAST_COUNT, n_tokens // _TOKENS_A_COUNT)) if n_tokens >= _SMALL else 1
        least = min_count or usual
        return ContextSimilarity(**contexts, n_components=None, power=0.5, min_count=least).fit(text)
    rank: dict[str, Any] = {"n_components": 50} if contexts else {}
    return ContextSimilarity(**contexts, **rank, min_count=min_count or 1).fit(text)


LengthNorm = Literal["histogram", "mean"]


class PrototypeField:
    """A Markov field that scores words and labels together: p(x, y) = exp(theta . f(x, y)) / Z.

    Parameters
    ----------
    features : csr_array of shape (n_words, n_predicates)
        Predicates of each word.
    legal : ndarray of bool, shape (n_words, n_labels)
        Labels each word may carry, at least one.
    order : {1, 2}
        How many labels before the present one count.

    Attributes
    ----------
    size : int
        Number of weights: one for each predicate and label, then those of label sequences.

    Examples
    --------
    >>> field = PrototypeField(sparse.csr_array(np.eye(3)), np.ones((3, 2), dtype=bool), order=1)
    >>> sums = field.log_partitions(np.zeros(field.size), longest=2)  # (3 words times 2 labels) to the power of l
    >>> np.exp(sums).round(6).tolist()
    [6.0, 36.0]
    """

    def __init__(self, features: sparse.csr_array, legal: np.ndarray, order: Literal[1, 2]) -> None:
        self._features = features
        self._turned = features.T.tocsr()
        self._barred = np.where(legal, 0.0, -np.inf)
        n_labels = legal.shape[1]
        self._chain: Chain = FirstOrder(n_labels) if order == 1 else SecondOrder(n_labels)
        self._shapes = ((features.shape[1], n_labels), *self._chain.shapes)
        self.size = int(sum(np.prod(shape) for shape in self._shapes))

    @property
    def feature_arrays(self) -> tuple[np.ndarray, np.ndarray]:
        """Which predicates each word has, as two arrays."""
        return self._features.indices, self._features.indptr

    def split(self, weights: np.ndarray) -> list[np.ndarray]:
        """Return the weights as arrays: predicates by labels, then those of label sequences (views)."""
        ends = np.cumsum([int(np.prod(shape)) for shape in self._shapes])
        return [part.reshape(shape) for part, shape in zip(np.split(weights, ends[:-1]), self._shapes, strict=True)]

    def self_transitions(self, value: float) -> np.ndarray:
        """Return weights that are this value where a label follows itself, and 0 elsewhere."""
        weights = np.zeros(self.size)
        for part in self.split(weights)[1:]:
            if part.ndim > 1:
                part[..., np.arange(part.shape[-1]), np.arange(part.shape[-1])] = value
        return weights

    def objective(
        self, weights: np.ndarray, tokens: TokenArrays, length_norm: LengthNorm, n_jobs: int = 1
    ) -> tuple[float, np.ndarray, np.ndarray]:
        """Return minus the log-likelihood, its gradient, and the label marginals of every token.

        Parameters
        ----------
        weights : ndarray of shape (size,)
            The weights theta.
        tokens : TokenArrays
            The sentences.
        length_norm : {"histogram", "mean"}
            ``histogram``: each sentence is normalized over all sentences of its own length. ``mean``: over all
            sentences of at most the mean length.
        n_jobs : int
            Threads.

        Returns
        -------
        value : float
            Minus the sum of log p(x).
        gradient : ndarray of shape (size,)
            Its derivative.
        marginals : ndarray of shape (n_tokens, n_labels)
            Posterior label probabilities.
        """
        emission, *edges = self.split(weights)
        scores = self._features @ emission + self._barred
        log_sums, marginals, observed = self._chain.sums(tokens, scores, edges, n_jobs)
        lengths = np.diff(tokens.offsets)
        n_sentences = len(lengths)
        longest = max(1, int(lengths.mean())) if length_norm == "mean" else int(lengths.max())
        histogram = np.bincount(lengths, minlength=longest + 1)[1:].astype(np.float64)

        def weigh(log_partitions: np.ndarray) -> np.ndarray:
            if length_norm == "mean":
                # p(|x| = l) = Z_l / Z, once for each sentence
                shares: np.ndarray = np.exp(log_partitions - logsumexp(log_partitions))
                return n_sentences * shares
            return histogram

        totals = logsumexp(scores, axis=0)
        log_partitions, labels, expected = self._chain.lattice(totals, edges, longest, weigh)
        if length_norm == "mean":
            log_z = n_sentences * float(logsumexp(log_partitions))
        else:
            log_z = float(histogram @ np.where(histogram > 0, log_partitions, 0.0))
        # The gradient is E[f | x] summed over sentences, minus E[f] as often; E[f] of predicate g with label y is
        # labels[y] * sum over words of p(w | y) g(w).
        words = _sum_by_word(tokens.words, marginals, len(scores))
        with np.errstate(invalid="ignore"):
            words -= np.where(np.isneginf(scores), 0.0, np.exp(scores - totals)) * labels
        gradient = [self._turned @ words, *(o - e for o, e in zip(observed, expected, strict=True))]
        value = log_z - float(log_sums.sum())
        return value, -np.concatenate([part.ravel() for part in gradient]), marginals

    def marginals(self, weights: np.ndarray, tokens: TokenArrays, n_jobs: int = 1) -> np.ndarray:
        """Return the posterior label probabilities of every token, shape (n_tokens, n_labels)."""
        emission, *edges = self.split(weights)
        return self._chain.sums(tokens, self._features @ emission + self._barred, edges, n_jobs)[1]

    def best(self, weights: np.ndarray, tokens: TokenArrays, n_jobs: int = 1) -> np.ndarray:
        """Return the label of every token in the best labeling of its sentence."""
        emission, *edges = self.split(weights)
        return self._chain.best(tokens, self._features @ emission + self._barred, edges, n_jobs)

    def log_partitions(self, weights: np.ndarray, longest: int) -> np.ndarray:
        """Return log Z_l for every length l up to the longest."""
        emission, *edges = self.split(weights)
        totals = logsumexp(self._features @ emission + self._barred, axis=0)
        return self._chain.lattice(totals, edges, longest, np.zeros_like)[0]


def _sum_by_word(words: np.ndarray, marginals: np.ndarray, n_words: int) -> np.ndarray:
    ones = np.ones(len(words))
    table = sparse.csr_array((ones, (words, np.arange(len(words)))), shape=(n_words, len(words)))
    result: np.ndarray = table @ marginals
    return result


_COLUMN = "typical"
_TEMPLATES = [f"{_COLUMN}[0]", f"{_COLUMN}[-1]|{_COLUMN}[0]", f"{_COLUMN}[0]|{_COLUMN}[1]"]
_WEIGHTS = (0.7, 0.6, 0.85, 1.0)  # the CRF also reads what prototypes say, so that it is never the lesser voice
_EVEN = 0.02  # of every answer is shared out evenly before logarithms are compared: a sure error must not decide alone
_MOST_FOLDS = 10

Shares = Sequence[np.ndarray]


def learn_mixture(
    sentences: Sequence[Tokens],
    tags: Sequence[Sequence[str]],
    guessed: Shares,
    classes: np.ndarray,
    random_state: int = 0,
    progress: Progress | None = None,
) -> tuple[Any, float]:
    """Learn a CRF from tagged sentences, and choose how much it counts beside what prototypes say.

    Parameters
    ----------
    sentences : list of lists of str
        The tokens.
    tags : list of lists of str
        One tag per token.
    guessed : list of ndarray
        What prototype taggers, which have not seen these tags, say of every token.
    classes : ndarray of str
        Labels of the columns of `guessed`.
    random_state : int
        Seed.
    progress : callable, optional
        Told of the trainings done.

    Returns
    -------
    crf : CRF
        Fitted. Its templates also read the labels that prototypes say.
    weight : float
        Share of the CRF in the mean with what prototypes say, 0.6 to 1.

    Notes
    -----
    Ten-fold cross-validation over the tagged sentences compares four weights. The highest mean logarithm of the right tag's
    probability wins: with ten sentences the number of right tags owes too much to chance, and so do weights below 0.6.

    Examples
    --------
    >>> sentences, tags = [["a", "cat"], ["the", "dog"]] * 3, [["D", "N"]] * 6
    >>> guessed = [np.array([[0.9, 0.1], [0.2, 0.8]])] * 6
    >>> crf, weight = learn_mixture(sentences, tags, guessed, np.array(["D", "N"]))
    >>> [rows.argmax(axis=1).tolist() for rows in mix(crf, weight, [["a", "dog"]], guessed[:1], np.array(["D", "N"]))]
    [[0, 1]]
    """
    setup = TaggerSetup(encoding="as-is", random_state=random_state)
    told = _with_guesses(sentences, guessed, classes)
    plain = setup.tuned_crf(told, tags, progress=progress).fit(told, tags)
    pattern = clone(plain).set_params(templates=[*plain.templates_, *_TEMPLATES])
    n_folds = min(_MOST_FOLDS, len(sentences))
    folds = [range(fold, len(sentences), n_folds) for fold in range(n_folds)]
    answers = []
    for number, asked in enumerate(folds):
        known = [i for i in range(len(sentences)) if i not in asked]
        if len({tag for i in known for tag in tags[i]}) == 1:  # nothing to be learned from
            answers += [guessed[i] for i in asked]
        else:
            learner = clone(pattern).fit([told[i] for i in known], [tags[i] for i in known])
            answers += _aligned(learner, [told[i] for i in asked], classes)
        if progress is not None:
            progress(Step("labels", number + 1, n_folds))
    codes = code_of(classes)
    right = np.array([codes[tag] for fold in folds for i in fold for tag in tags[i]])
    places = np.arange(len(right))
    by_crf = np.concatenate(answers)[places, right]
    by_prototypes = np.concatenate([guessed[i] for fold in folds for i in fold])[places, right]

    def quality(weight: float) -> float:
        given = weight * by_crf + (1.0 - weight) * by_prototypes
        return float(np.log((1.0 - _EVEN) * given + _EVEN / len(classes)).mean())

    return clone(pattern).fit(told, tags), max(_WEIGHTS, key=quality)


def mix(crf: Any, weight: float, sentences: Sequence[Tokens], guessed: Shares, classes: np.ndarray) -> list[np.ndarray]:
    """Return the mean of what a CRF and prototypes say; see `learn_mixture`."""
    if crf is None or weight == 0.0:
        return list(guessed)
    answers = _aligned(crf, _with_guesses(sentences, guessed, classes), classes)
    return [weight * own + (1.0 - weight) * shares for own, shares in zip(answers, guessed, strict=True)]


def _with_guesses(sentences: Sequence[Tokens], guessed: Shares, classes: np.ndarray) -> list[Any]:
    best = [classes[rows.argmax(axis=1)].tolist() for rows in guessed]
    return [add_columns(sentence, {_COLUMN: labels}) for sentence, labels in zip(sentences, best, strict=True)]


def _aligned(crf: Any, sentences: Sequence[Any], classes: np.ndarray) -> list[np.ndarray]:
    """Return what a CRF says, with a column for each of the classes."""
    codes = code_of(classes)
    places = [codes[label] for label in crf.classes_.tolist()]
    aligned = []
    for rows in crf.predict_proba(sentences):
        wide = np.zeros((len(rows), len(classes)))
        wide[:, places] = rows
        aligned.append(wide)
    return aligned


_FREQUENT = 0.01  # of all tokens
_LIKE_WORDS = frozenset("#%&@*§†‡\\_")  # signs that belong to a word, or stand for one
_FEWEST_KNOWN = 5
_FOLLOW = 0.7  # of the marks whose label is known


def find_marks(sentences: Iterable[Sequence[str]], listed: Collection[str]) -> list[str]:
    """Return the marks of a text that may stand between its fields.

    Parameters
    ----------
    sentences : iterable of lists of str
        The text.
    listed : collection of str
        Words that have a label of their own.

    Returns
    -------
    list of str
        Commas, brackets and the like that are not listed and make up a hundredth of all tokens or more, the most frequent first.

    Examples
    --------
    >>> find_marks([["Rossi", ",", "A", ".", "vol", ".", "5"]], ["Rossi", "."])
    [',']
    """
    counts = Counter(token for sentence in sentences for token in sentence)
    least = _FREQUENT * counts.total()
    return [token for token, n in counts.most_common() if n >= least and token not in listed and _is_mark(token)]


def marks_follow(
    sentences: Iterable[Sequence[str]], given: Iterable[Sequence[str | None] | None], marks: Collection[str]
) -> bool:
    """Tell whether marks have the label of the token before them, as far as labels are known.

    Examples
    --------
    >>> marks_follow([["a", ","]] * 9, [["N", "N"]] * 9, [","]), marks_follow([["a", ","]] * 9, [["N", "O"]] * 9, [","])
    (True, False)
    """
    known = [
        labels[place] == labels[place - 1]
        for sentence, labels in zip(sentences, given, strict=True)
        if labels is not None
        for place in range(1, len(sentence))
        if sentence[place] in marks and labels[place] is not None and labels[place - 1] is not None
    ]
    return len(known) < _FEWEST_KNOWN or sum(known) >= _FOLLOW * len(known)


def _is_mark(token: str) -> bool:
    return all(unicodedata.category(sign).startswith("P") and sign not in _LIKE_WORDS for sign in token)


def fill_marks(is_mark: np.ndarray) -> np.ndarray:
    """Return for every token of a sentence whose label it takes: its own, or for a mark that of the token before.

    A mark at the start takes the label of the first token that is none; where there are only marks, each keeps its own.

    Examples
    --------
    >>> fill_marks(np.array([True, False, True, True, False])).tolist()
    [1, 1, 1, 1, 4]
    """
    places = np.arange(len(is_mark))
    others = np.flatnonzero(~is_mark)
    if not len(others):
        return places
    before = np.searchsorted(others, places, side="right") - 1
    taken: np.ndarray = others[np.maximum(before, 0)]
    return taken


def fill_sentences(codes: np.ndarray, offsets: np.ndarray, mark: int) -> np.ndarray:
    """Return the labels of all tokens with the marks of each sentence filled; see `fill_marks`.

    Parameters
    ----------
    codes : ndarray of int, shape (n_tokens,)
        Label of each token.
    offsets : ndarray of int64
        Where each sentence starts.
    mark : int
        The label of marks.

    Returns
    -------
    ndarray of int
        A copy.

    Examples
    --------
    >>> fill_sentences(np.array([1, 0, 0, 2]), np.array([0, 2, 4]), mark=0).tolist()
    [1, 1, 2, 2]
    """
    filled = codes.copy()
    for start, stop in pairwise(offsets.tolist()):
        sentence = codes[start:stop]
        filled[start:stop] = sentence[fill_marks(sentence == mark)]
    return filled
