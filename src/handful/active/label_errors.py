"""Likely label errors in tables and tagged sentences."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Generic, TypeVar

import numpy as np

from handful.active.estimates import DEFAULT_METHOD, class_proba, encode_table, train_and_test
from handful.active.strategies import as_points
from handful.data.labels import code_of
from handful.data.table import as_table
from handful.errors import DataError, ParameterError, Progress, Step

_N_FOLDS = 5
_N_NEIGHBORS = 5
_ONE_IN = 20  # labels: by default no more are listed, so that of correct labels at most 5% are
_SLACK = 1e-2  # added to probabilities, so that they do not differ by what is nearly nothing
_NEAR_TABLE = 0.1  # in standard deviations: a tenth of one column
_NEAR_TEXT = 0.45  # of counts of words at length 1: a cosine of 0.9


Error = TypeVar("Error")


class _Listed(Sequence[Error], Generic[Error]):
    """A sequence of its `errors`."""

    errors: list[Error]

    def __getitem__(self, place: Any) -> Any:
        """Return one error, the most likely at 0, or several."""
        return self.errors[place]

    def __len__(self) -> int:
        """Return how many errors are listed."""
        return len(self.errors)


@dataclass(frozen=True)
class LabelError:
    """A label that is likely wrong.

    Parameters
    ----------
    row : int
        Row of `X`.
    label, suggestion : object
        Its label, and the class that the model predicts.
    label_proba, suggested_proba : float
        Cross-validated probabilities of both.
    neighbors : tuple of (int, object, float)
        Nearest labeled rows: row, label, distance.
    """

    row: int
    label: Any
    suggestion: Any
    label_proba: float
    suggested_proba: float
    neighbors: tuple[tuple[int, Any, float], ...]


@dataclass(frozen=True)
class LabelErrors(_Listed[LabelError]):
    """Likely label errors, a sequence of them; see `find_label_errors`.

    Parameters
    ----------
    errors : list of LabelError
        The most likely first.
    n_errors : int
        Labels that the model contradicts; where classes overlap, many of these are correct.
    duplicates : list of (int, int, object, object)
        Pairs of rows that hold nearly the same and have different labels.
    n_judged, n_lone : int
        Labels that were judged, and labels that were not, being the only one of their class.
    n_folds : int
        Folds that were done, of five; fewer after an interruption.
    """

    errors: list[LabelError]
    n_errors: int
    duplicates: list[tuple[int, int, Any, Any]]
    n_judged: int
    n_lone: int
    n_folds: int = _N_FOLDS


def class_thresholds(proba: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Return the mean probability of each class over the rows that carry its label; infinite without such a row.

    Equation 2 of Northcutt, Jiang & Chuang (2021).

    Examples
    --------
    >>> class_thresholds(np.array([[0.9, 0.1], [0.5, 0.5], [0.2, 0.8]]), np.array([0, 0, 1])).tolist()
    [0.7, 0.8]
    """
    counts = np.bincount(codes, minlength=proba.shape[1])
    totals = np.zeros(proba.shape[1])
    np.add.at(totals, codes, proba[np.arange(len(codes)), codes])
    return np.where(counts > 0, totals / np.maximum(counts, 1), np.inf)


def confident_classes(proba: np.ndarray, thresholds: np.ndarray) -> np.ndarray:
    """Return the most probable class among those that reach their threshold, or -1 (equation 1 of the same paper).

    Examples
    --------
    >>> confident_classes(np.array([[0.6, 0.4], [0.75, 0.25]]), np.array([0.7, 0.8])).tolist()
    [-1, 0]
    """
    reached = np.where(proba >= thresholds, proba, -1.0)
    best = reached.argmax(axis=1)
    return np.where(reached[np.arange(len(best)), best] >= 0, best, -1)


def find_label_errors(
    X: Any,
    y: Any = None,
    *,
    n: int | None = None,
    model: Any = None,
    columns: Mapping[str, Any] | None = None,
    random_state: int = 0,
    progress: Progress | None = None,
) -> LabelErrors:
    """Find likely label errors (confident learning, ranked by self-confidence).

    Parameters
    ----------
    X : data frame, array, sparse matrix, or list of str
        Rows.
    y : array-like or str
        Labels, or the name of their column in a data frame; unlabeled rows only help the model.
    n : int, optional
        How many to return at most; by default one for every 20 labels.
    model : str or classifier, optional
        Method that is cross-validated; the ensemble by default.
    columns : mapping of str to kind, optional
        Kinds of columns.
    random_state : int, default=0
        Seed of folds and model.
    progress : callable, optional
        Called after each fold.

    Returns
    -------
    LabelErrors
        Likely errors, those first whose label has the lowest probability. An interruption ends the run with the folds that
        are done, if there is one.

    Notes
    -----
    A label is contradicted if another class is more probable by five-fold cross-validation. Contradicted labels are ranked by
    their own probability, the self-confidence of Northcutt, Jiang & Chuang (2021). On few labels this finds more errors than
    thresholds of classes. Where classes overlap, and on rows that active learning chose between them, many correct labels are
    contradicted.
    So by default only the first are returned, one for every 20 labels: of correct labels at most 5%. Correct them and check
    again, or ask for more.

    Examples
    --------
    >>> X = [[float(i)] for i in [*range(12), *range(50, 62)]]
    >>> errors = find_label_errors(X, ["a", "a", "b", *["a"] * 9, *["b"] * 12])
    >>> [(error.row, error.label, error.suggestion) for error in errors]
    [(2, 'b', 'a')]
    """
    if n is not None and n < 1:
        raise ParameterError(f"check: n must be at least 1, got {n}.")
    table = as_table(X, y, columns=columns)
    if len(table.classes) < 2:
        raise DataError(f"check: labels of at least 2 classes are needed, got {len(table.classes)}.")
    matrix, _ = encode_table(table, who="check")
    labeled = table.labeled
    counts = np.bincount(table.codes[labeled])
    rows = labeled[counts[table.codes[labeled]] > 1]
    if len(np.unique(table.codes[rows])) < 2:
        raise DataError("check: at least two classes must have two labels or more.")
    method = DEFAULT_METHOD if model is None else model
    proba, n_folds = _held_out_proba(method, matrix, table.codes, rows, len(table.classes), random_state, progress)
    rows, proba = rows[proba.sum(axis=1) > 0], proba[proba.sum(axis=1) > 0]
    codes = table.codes[rows].astype(np.int64)
    proba = _calibrated(proba, codes)
    own, suggested = proba[np.arange(len(codes)), codes], proba.argmax(axis=1)
    order = np.argsort(own, kind="stable")
    order = order[suggested[order] != codes[order]]
    n = max(len(rows) // _ONE_IN, 1) if n is None else n
    near = _nearest(as_points(matrix[rows], random_state), order[:n])
    names = table.classes.tolist()
    labels = [names[code] for code in table.codes]
    errors = [
        LabelError(
            row=int(rows[at]),
            label=names[codes[at]],
            suggestion=names[suggested[at]],
            label_proba=float(own[at]),
            suggested_proba=float(proba[at, suggested[at]]),
            neighbors=tuple((int(rows[j]), labels[rows[j]], round(distance, 4)) for j, distance in neighbors),
        )
        for at, neighbors in zip(order[:n].tolist(), near, strict=True)
    ]
    pairs = labeled[_duplicates(*_as_held(matrix[labeled]), table.codes[labeled])].tolist()
    duplicates = [(row, other, labels[row], labels[other]) for row, other in pairs]
    return LabelErrors(errors, len(order), duplicates, len(rows), len(labeled) - len(rows), n_folds)


def _calibrated(proba: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Return probabilities with the temperature that makes the labels most likely (Guo et al. 2017)."""
    from scipy.special import softmax

    from handful.models.ensemble import fit_temperature

    log = np.log(proba + _SLACK / proba.shape[1])
    return np.asarray(softmax(fit_temperature(log, codes) * log, axis=1))


def _held_out_proba(
    method: Any, matrix: Any, codes: np.ndarray, rows: np.ndarray, n_classes: int, seed: int, progress: Progress | None
) -> tuple[np.ndarray, int]:
    """Return cross-validated probabilities of rows, 0 for those of folds that were not done, and how many were."""
    from handful.neighbors.rows import stratified_folds  # imports numba

    folds = stratified_folds(codes[rows], min(_N_FOLDS, len(rows)), np.random.default_rng(seed))
    proba, n_done = np.zeros((len(rows), n_classes)), 0
    try:
        for _, test in train_and_test(folds):
            known = codes.astype(np.int64)
            known[rows[test]] = -1
            proba[test] = class_proba(method, matrix, known, rows[test], n_classes, seed)
            n_done += 1
            if progress is not None:
                progress(Step("cross-validate", n_done, int(folds.max()) + 1))
    except KeyboardInterrupt:
        if not n_done:
            raise
    return proba, n_done


def _nearest(points: np.ndarray, rows: np.ndarray) -> list[list[tuple[int, float]]]:
    """Return the nearest other rows of some rows, with their distances."""
    from sklearn.neighbors import NearestNeighbors

    if not len(rows):
        return []
    k = min(_N_NEIGHBORS + 1, len(points))
    distances, near = NearestNeighbors(n_neighbors=k).fit(points).kneighbors(points[rows])
    pairs = [list(zip(*line, strict=True)) for line in zip(near.tolist(), distances.tolist(), strict=True)]
    return [[pair for pair in line if pair[0] != row][: k - 1] for line, row in zip(pairs, rows.tolist(), strict=True)]


def _as_held(matrix: Any) -> tuple[Any, float]:
    """Return rows such that near means nearly the same words and cells, and how near that is."""
    words = getattr(matrix, "words", None)
    if words is None:
        return matrix, _NEAR_TEXT if hasattr(matrix, "tocsr") else _NEAR_TABLE
    from scipy import sparse
    from sklearn.preprocessing import normalize

    inside = np.zeros(matrix.shape[1], dtype=bool)
    for start, stop in matrix.spans.values():
        inside[start:stop] = True
    counts = normalize(words.astype(np.float64))
    return sparse.csr_matrix(sparse.hstack([counts, sparse.csr_matrix(np.asarray(matrix)[:, ~inside])])), _NEAR_TEXT


def _duplicates(rows: Any, radius: float, codes: np.ndarray) -> np.ndarray:
    """Return pairs of near rows with different labels, each row with its nearest such row, the nearest pairs first."""
    from sklearn.neighbors import NearestNeighbors

    pairs: dict[tuple[int, int], float] = {}
    for code in np.unique(codes):
        inside, others = np.flatnonzero(codes == code), np.flatnonzero(codes != code)
        if len(others):
            distances, near = NearestNeighbors(n_neighbors=1).fit(rows[others]).kneighbors(rows[inside])
            for row, other, distance in zip(inside.tolist(), others[near[:, 0]].tolist(), distances[:, 0], strict=True):
                if distance <= radius:
                    pairs[min(row, other), max(row, other)] = float(distance)
    ordered = sorted(pairs, key=lambda pair: (pairs[pair], pair))
    return np.array(ordered, dtype=np.int64).reshape(-1, 2)


_DIGIT = re.compile(r"\d")


@dataclass(frozen=True)
class TagError:
    """A stretch of tokens whose tags taggers contradict.

    Parameters
    ----------
    sentence : int
        Number of the sentence, from 0.
    start, stop : int
        The tokens, from 0; `stop` is behind the last.
    tokens, tags, suggestion : tuple of str
        The tokens, their given tags, and those of a tagger that did not see the sentence.
    label_proba, suggested_proba : float
        Mean probability of both.
    confident : bool
        Whether another tag reaches its threshold and is more probable, for at least one token and on average.
    elsewhere : tuple of (tuple of str, int)
        How the same words are tagged in other places, the most frequent first, with counts.
    """

    sentence: int
    start: int
    stop: int
    tokens: tuple[str, ...]
    tags: tuple[str, ...]
    suggestion: tuple[str, ...]
    label_proba: float
    suggested_proba: float
    confident: bool
    elsewhere: tuple[tuple[tuple[str, ...], int], ...] = ()


@dataclass(frozen=True)
class TagErrors(_Listed[TagError]):
    """Likely tag errors, a sequence of them; see `find_tag_errors`.

    Parameters
    ----------
    errors : list of TagError
        The most likely first.
    n_errors : int
        How many of all stretches the tagger is confident are wrong.
    duplicates : list of (int, int)
        Sentences of the same words with different tags, but for upper case and digits.
    n_judged : int
        Sentences that were judged; fewer than all after an interruption.
    """

    errors: list[TagError]
    n_errors: int
    duplicates: list[tuple[int, int]]
    n_judged: int


def find_tag_errors(
    sentences: Sequence[Any],
    tags: Sequence[Sequence[str]],
    *,
    n: int | None = None,
    make: Callable[[], Any] | None = None,
    random_state: int = 0,
    progress: Progress | None = None,
) -> TagErrors:
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
        Called after each fold.

    Returns
    -------
    TagErrors
        Tokens whose tags differ from a held-out tagger's; of span tags (``B-X``, ``I-X``) the whole spans that differ; those
        first whose given tags it finds least likely. An interruption ends the run with the folds that are done, if there is one.

    Examples
    --------
    >>> sentences = [["the", "dog"], ["the", "cat"], ["a", "dog"], ["a", "cat"]] * 5
    >>> tags = [["D", "N"] for _ in sentences]
    >>> tags[7] = ["D", "D"]
    >>> [(d.sentence, d.start, d.suggestion) for d in find_tag_errors(sentences, tags, n=1)]
    [(7, 1, ('N',))]
    """
    _check(n, len(sentences), len(tags))
    predicted, proba, classes = _held_out_tags(sentences, tags, make or _crf(tags), random_state, progress)
    codes_by_label = code_of(classes)
    judged = sorted(predicted)
    own = {number: np.array([codes_by_label[tag] for tag in tags[number]]) for number in judged}
    thresholds = class_thresholds(np.concatenate([proba[i] for i in judged]), np.concatenate([own[i] for i in judged]))
    errors = []
    for number in judged:
        every = np.arange(len(own[number]))
        other = np.array([codes_by_label[tag] for tag in predicted[number]])
        label_proba, suggested_proba = proba[number][every, own[number]], proba[number][every, other]
        best = confident_classes(proba[number], thresholds)
        contradicted = (best >= 0) & (proba[number][every, best] > label_proba)
        for start, stop in _differing(tags[number], predicted[number]):
            span = slice(start, stop)
            means = float(label_proba[span].mean()), float(suggested_proba[span].mean())
            errors.append(
                TagError(
                    number,
                    start,
                    stop,
                    tokens=tuple(list(sentences[number])[span]),
                    tags=tuple(tags[number][span]),
                    suggestion=tuple(predicted[number][span]),
                    label_proba=means[0],
                    suggested_proba=means[1],
                    confident=bool(contradicted[span].any()) and means[1] > means[0],
                )
            )
    errors.sort(key=lambda error: (error.label_proba, -error.suggested_proba, error.sentence, error.start))
    n_errors = sum(error.confident for error in errors)
    shown = [replace(error, elsewhere=_elsewhere(error, sentences, tags)) for error in errors[:n]]
    return TagErrors(shown, n_errors, _duplicate_sentences(sentences, tags), len(judged))


def _elsewhere(
    error: TagError, sentences: Sequence[Any], tags: Sequence[Sequence[str]]
) -> tuple[tuple[tuple[str, ...], int], ...]:
    """Count the tags of the same words in other places."""
    length = len(error.tokens)
    counts: Counter[tuple[str, ...]] = Counter()
    for number, sentence in enumerate(sentences):
        tokens = tuple(sentence)
        for start in range(len(tokens) - length + 1):
            same = tokens[start] == error.tokens[0] and tokens[start : start + length] == error.tokens
            if same and (number, start) != (error.sentence, error.start):
                counts[tuple(tags[number][start : start + length])] += 1
    return tuple(counts.most_common())


def _check(n: int | None, n_sentences: int, n_tags: int) -> None:
    if n is not None and n < 1:
        raise ParameterError(f"check: n must be at least 1, got {n}.")
    if n_sentences < 2 or n_sentences != n_tags:
        raise DataError(
            f"check: at least two sentences, each with tags, are needed, got {n_sentences} and {n_tags} of tags."
        )


def _crf(tags: Sequence[Sequence[str]]) -> Callable[[], Any]:
    from handful.tagging.crf import CRF

    spans = any(tag.startswith(("B-", "I-")) for line in tags for tag in line)
    return lambda: CRF("ner" if spans else "pos", max_iter=60)


def _held_out_tags(
    sentences: Sequence[Any],
    tags: Sequence[Sequence[str]],
    make: Callable[[], Any],
    seed: int,
    progress: Progress | None,
) -> tuple[dict[int, list[str]], dict[int, np.ndarray], list[str]]:
    """Return tags and probabilities by sentence, of taggers that did not see it, and the tags there are."""
    classes = sorted({tag for line in tags for tag in line})
    folds = np.random.default_rng(seed).permutation(len(sentences)) % min(_N_FOLDS, len(sentences))
    predicted: dict[int, list[str]] = {}
    proba: dict[int, np.ndarray] = {}
    try:
        for number, (train, test) in enumerate(train_and_test(folds), start=1):
            tagger = _trained(make(), [sentences[i] for i in train], [list(tags[i]) for i in train])
            held = [sentences[i] for i in test]
            proba.update(zip(test.tolist(), _proba_of(tagger, held, classes), strict=True))
            predicted.update(zip(test.tolist(), tagger.predict(held), strict=True))
            if progress is not None:
                progress(Step("cross-validate", number, int(folds.max()) + 1))
    except KeyboardInterrupt:
        if not predicted:
            raise
    return predicted, proba, classes


def _proba_of(tagger: Any, sentences: list[Any], classes: list[str]) -> Iterator[np.ndarray]:
    """Yield the probabilities of all tags, of which the tagger may not know some."""
    codes_by_label = code_of(classes)
    columns = [codes_by_label[str(label)] for label in tagger.classes_]
    for known in tagger.predict_proba(sentences):
        proba = np.zeros((len(known), len(classes)))
        proba[:, columns] = known
        yield proba


def _trained(tagger: Any, sentences: list[Any], tags: list[list[str]]) -> Any:
    try:
        return tagger.fit(sentences, tags)
    except DataError as error:
        raise DataError(f"check: no tagger can be trained on four fifths of the sentences. {error}") from error


def _differing(own: Sequence[str], other: Sequence[str]) -> list[tuple[int, int]]:
    """Return the stretches in which tags differ; spans that overlap are one stretch."""
    joined = _joined(own) | _joined(other)
    edges = [i for i in range(1, len(own)) if i not in joined]
    return [(a, b) for a, b in pairwise([0, *edges, len(own)]) if list(own[a:b]) != list(other[a:b])]


def _joined(tags: Sequence[str]) -> set[int]:
    """Return the tokens that are in one span with the token before them."""
    return {i for i, (a, b) in enumerate(pairwise(tags), start=1) if b.startswith("I-") and a[1:] == b[1:]}


def _duplicate_sentences(sentences: Sequence[Any], tags: Sequence[Sequence[str]]) -> list[tuple[int, int]]:
    first: dict[str, int] = {}
    pairs = []
    for number, sentence in enumerate(sentences):
        before = first.setdefault(_DIGIT.sub("0", " ".join(sentence).lower()), number)
        if list(tags[before]) != list(tags[number]):
            pairs.append((before, number))
    return pairs
