"""Context similarity: words are alike that stand in the same contexts."""

from __future__ import annotations

import difflib
from functools import partial
from typing import Any, Literal

import numpy as np
from scipy import sparse
from scipy.linalg import eigh

from handful.errors import DataError, Progress
from handful.kernels.brown import END, window_keys
from handful.params import Count, Positive, check_value
from handful.persistence.schema import Array, DictOf, ListOf, Number, Text, stored
from handful.registry import method
from handful.representations.text_stream import (
    MAX_PAIRS,
    SENTENCE_END,
    Counting,
    Counts,
    TextModel,
    TokenStream,
    count_blocks,
    overlapping,
)

START_MARK = "<S>"
STOP_MARK = "</S>"
_KEYS_PER_BLOCK = 1 << 23
_LEAST_COMPONENTS, _MOST_COMPONENTS, _WORDS_A_COMPONENT = 3, 250, 5


@method("context-similarity", paper="haghighi2006", task="text", uses_unlabeled=True)
class ContextSimilarity(TextModel):
    """Compare words by the frequent words around them.

    Use it to link the words of a text to a few prototypes, or to look at a corpus.

    Parameters
    ----------
    n_context_words : int, default=500
        How many of the most frequent words count as context; the symbols of sentence start and end are among them.
    window : int, default=2
        How many positions to look to each side, inside the sentence.
    directional : bool, default=True
        Whether a context word counts separately for each direction and distance, or once for the whole window.
    n_components : int, "auto" or None, default="auto"
        Rank of the singular value decomposition; fewer if the counts do not have that rank. ``"auto"``: 250, or a fifth of
        the words (3 at least) where these are few, since with a component for each word no two words are alike. None: no
        decomposition, the scaled counts themselves are compared.
    min_count : int, default=1
        Words that occur less often get no vector.
    power : float, default=1.0
        Counts are raised to this power; with 0.5 a few frequent contexts count less than many rarer ones.
    n_jobs : int or None, default=None
        Worker processes for reading and counting; -1 uses every core.

    Attributes
    ----------
    vocabulary_ : dict of str to int
        Row of each word, by decreasing count, equal counts in alphabetical order.
    vectors_ : ndarray of float32, shape (n_words, n_components or n_contexts)
        One row of length 1 for each word; zero for a word that never stands near a context word. The dot product of two
        rows is their similarity.
    context_words_ : list of str
        The context words, ``<S>`` and ``</S>`` among them.

    Notes
    -----
    After Haghighi and Klein (2006, footnotes 4 and 6) and their toolkit: rows of counts are scaled to length 1, then
    decomposed as U S V'; the rows of U, without S, are scaled to length 1. Signs are fixed so that the largest entry of each
    column of U is positive. For part-of-speech work the paper uses the defaults; for field segmentation ``window=3``,
    ``directional=False`` and ``n_components=50``. Where there is little text (some 100,000 tokens), most of what the
    decomposition keeps is chance: the rows of U weigh all components alike. There ``power=0.5, n_components=None``, which is
    the Bhattacharyya coefficient of two words' contexts, finds better links. Without a decomposition a word takes
    8 * window * n_context_words bytes, so `min_count` should leave few words.

    Ties among context words go in alphabetical order; among nearest words to the more frequent one.

    Cost: O(n_tokens * window) to count, O(c^3) for the decomposition with c the number of columns (context words times
    2 * window) or of words, whichever is less.

    Examples
    --------
    >>> text = "the cat sat . a dog sat . the dog ran . a cat ran .".split()
    >>> model = ContextSimilarity(n_components=3).fit([text[:4], text[4:8], text[8:12], text[12:]])
    >>> model.nearest("cat", 1)[0][0]
    'dog'
    >>> model.similarity("cat", "unheard-of")
    nan
    """

    vocabulary_: dict[str, int]
    vectors_: np.ndarray
    context_words_: list[str]

    STATE = stored(
        context_words_=ListOf(Text()),
        vocabulary_=DictOf(Number(int, low=0)),
        vectors_=Array("f4", "n?", "_"),
    )

    def __init__(
        self,
        n_context_words: Count = 500,
        window: Count = 2,
        directional: bool = True,
        n_components: Count | Literal["auto"] | None = "auto",
        *,
        min_count: Count = 1,
        power: Positive = 1.0,
        n_jobs: int | None = None,
    ) -> None:
        self.n_context_words = n_context_words
        self.window = window
        self.directional = directional
        self.n_components = n_components
        self.min_count = min_count
        self.power = power
        self.n_jobs = n_jobs

    def _count(self, stream: TokenStream, words: list[str], counting: Counting) -> tuple[list[str], sparse.csr_array]:
        self.context_words_ = _context_words(stream, self.n_context_words)
        return words, self._count_contexts(stream, words, counting)

    def _learn(self, counted: tuple[list[str], sparse.csr_array], progress: Progress | None) -> None:
        words, counts = counted
        self.vocabulary_ = {word: row for row, word in enumerate(words)}
        counts.data **= self.power
        table, rank = _unit_rows(counts), self.n_components
        if rank is None:
            self.vectors_ = table.astype(np.float32).toarray()
            return
        if rank == "auto":
            rank = min(max(len(words) // _WORDS_A_COMPONENT, _LEAST_COMPONENTS), _MOST_COMPONENTS)
        vectors = _unit_rows(_left_singular_vectors(table, rank))
        self.vectors_ = np.ascontiguousarray(vectors, dtype=np.float32)

    def similarity(self, a: str, b: str) -> float:
        """Return the cosine of two words, between -1 and 1; NaN if one of them has no vector.

        Parameters
        ----------
        a, b : str
            The words.

        Returns
        -------
        float
            Their similarity.
        """
        try:
            one, two = self.vocabulary_[a], self.vocabulary_[b]
        except KeyError:
            return float("nan")
        return float(self.vectors_[one].astype(np.float64) @ self.vectors_[two].astype(np.float64))

    def nearest(self, word: str, k: int = 10) -> list[tuple[str, float]]:
        """Return the most similar words, the most similar first.

        Parameters
        ----------
        word : str
            A word of the text.
        k : int
            How many.

        Returns
        -------
        list of (str, float)
            Words, without the word itself, and their similarity.

        Raises
        ------
        DataError
            If the word has no vector; the message names words that are spelled like it.
        """
        check_value("ContextSimilarity.nearest", "k", Count, k)
        row = self.vocabulary_.get(word)
        if row is None:
            near = difflib.get_close_matches(word, list(self.vocabulary_)[:50_000], n=3)
            hint = f" Did you mean {' or '.join(map(repr, near))}?" if near else ""
            raise DataError(f"ContextSimilarity: {word!r} does not occur in the text.{hint}")
        scores = self.vectors_ @ self.vectors_[row]
        scores[row] = -np.inf
        k = min(k, len(scores) - 1)
        # Rounding to what float32 holds makes equal contexts equal scores, so that ties are ties.
        order = np.argsort(-np.round(scores, 6), kind="stable")[:k]
        words = list(self.vocabulary_)
        return [(words[other], float(scores[other])) for other in order]

    def _count_contexts(self, stream: TokenStream, words: list[str], counting: Counting) -> sparse.csr_array:
        places = stream.numbering(words)
        places[SENTENCE_END] = END
        context = np.full(len(stream.counts), -1, dtype=np.int32)
        marks = {START_MARK: -1, STOP_MARK: -1}
        for number, word in enumerate(self.context_words_):
            if word in marks:
                marks[word] = number
            else:
                context[stream.index[word]] = number
        kinds = np.zeros(2 * self.window + 1, dtype=np.int64)
        if self.directional:
            kinds[: self.window] = np.arange(self.window)
            kinds[self.window + 1 :] = np.arange(self.window, 2 * self.window)
        n_columns = len(self.context_words_) * int(kinds.max() + 1)
        start = np.full(1, SENTENCE_END, dtype=np.int32)
        blocks = stream.blocks(max(_KEYS_PER_BLOCK // (2 * self.window), 1))
        layout = (n_columns, marks[START_MARK], marks[STOP_MARK], self.window)
        keys, counts, _ = count_blocks(
            partial(_context_counts, *layout, kinds),
            ((first, places[block], context[block]) for first, block in overlapping(blocks, self.window, start)),
            max_keys=MAX_PAIRS,
            fingerprint=f"words and contexts, 1: {layout} {kinds.tolist()}",
            counting=counting,
        )
        table = sparse.coo_array(
            (counts.astype(np.float64), (keys // n_columns, keys % n_columns)), (len(words), n_columns)
        )
        return table.tocsr()

    def _check_state(self) -> None:
        if list(self.vocabulary_.values()) != list(range(len(self.vectors_))):
            raise DataError("ContextSimilarity: vocabulary_ must number the rows of vectors_.")


def _context_words(stream: TokenStream, n_context_words: int) -> list[str]:
    """Return the most frequent words, with sentence start and end counted once for each sentence."""
    n_sentences = int(stream.counts[SENTENCE_END])
    counted = [(-int(stream.counts[stream.index[word]]), word) for word in stream.vocabulary(1)[:n_context_words]]
    # A token of the text that is spelled like a mark stays out, since it cannot be told from it.
    counted = [(count, word) for count, word in counted if word not in (START_MARK, STOP_MARK)]
    counted += [(-n_sentences, START_MARK), (-n_sentences, STOP_MARK)]
    return [word for _, word in sorted(counted)[:n_context_words]]


def _context_counts(
    n_columns: int,
    start_mark: int,
    stop_mark: int,
    window: int,
    kinds: np.ndarray,
    block: tuple[int, np.ndarray, np.ndarray],
) -> Counts:
    first, words, context = block
    block_keys = window_keys(words, first, context, start_mark, stop_mark, window, kinds, n_columns)
    keys, counts = np.unique(block_keys, return_counts=True)
    return {"keys": keys, "counts": counts}


def _unit_rows(table: Any) -> Any:
    if sparse.issparse(table):
        length = np.sqrt(table.multiply(table).sum(axis=1))
        return sparse.diags_array(1.0 / np.where(length > 0, length, 1.0)) @ table
    length = np.sqrt(np.einsum("ij,ij->i", table, table))
    return table / np.where(length > 0, length, 1.0)[:, None]


def _left_singular_vectors(table: sparse.csr_array, rank: int) -> np.ndarray:
    """Return at most `rank` left singular vectors, those of the largest singular values first."""
    n_rows, n_columns = table.shape
    narrow = n_columns <= n_rows
    gram = (table.T @ table if narrow else table @ table.T).toarray()
    side = len(gram)
    squares, vectors = eigh(gram, subset_by_index=(max(side - rank, 0), side - 1))
    values, vectors = np.sqrt(np.maximum(squares[::-1], 0.0)), vectors[:, ::-1]
    # The smallest singular value that squaring leaves above rounding.
    kept = values > values[:1].max(initial=0.0) * 1e-7
    values, vectors = values[kept], vectors[:, kept]
    left = (table @ vectors) / values if narrow else vectors
    signs = np.sign(left[np.abs(left).argmax(axis=0), np.arange(left.shape[1])])
    return np.asarray(left * np.where(signs == 0, 1.0, signs))
