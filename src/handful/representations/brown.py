"""Brown clusters: a binary tree over words, learned from adjacent words."""

from __future__ import annotations

import os
from functools import partial
from typing import Annotated, NamedTuple, Self

import numpy as np

from handful.data.files import write_text_file
from handful.data.word_lists import read_clusters
from handful.errors import DataError, FormatError, Progress, Step
from handful.kernels import brown as kernel
from handful.kernels.brown import Tables, file_pairs, follower_keys
from handful.params import AtLeast, Count
from handful.persistence.schema import DictOf, Number, Text, stored
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

_WORDS_PER_CALL = 512


class _Counted(NamedTuple):
    """The words that are clustered, how often each occurs, and how often each pair is adjacent."""

    words: list[str]
    occurrences: np.ndarray
    keys: np.ndarray
    counts: np.ndarray
    n_tokens: int
    n_pairs: int


@method("brown-clusters", paper=None, task="text", uses_unlabeled=True)
class BrownClusters(TextModel):
    r"""Cluster words by their neighbors into a binary tree whose paths serve as features.

    Use it to give a tagger or parser features for words that the labeled sentences do not hold.

    Parameters
    ----------
    n_clusters : int, default=1000
        Number of clusters. A text with fewer words gets a cluster for each word.
    min_count : int, default=1
        Words that occur less often stay outside.
    across_sentences : bool, default=True
        Whether the last word of a sentence and the first of the next are adjacent.
    n_jobs : int or None, default=None
        Worker processes for reading text; -1 uses every core. The clustering itself needs one core.

    Attributes
    ----------
    paths_ : dict of str to str
        Path of each word from the root, as bits; words of one cluster share it. Sorted by path, then by count.
    counts_ : dict of str to int
        How often each word occurs.
    mutual_information_ : float
        Average mutual information of neighboring clusters in bits; NaN after `load`. Pairs that were forgotten count as
        if they had not been read.
    n_clusters_ : int
        Number of clusters found.

    See Also
    --------
    ContextSimilarity : Neighbors of words in a vector space instead of a tree.

    Notes
    -----
    The greedy algorithm of Brown et al. (1992) with a window of clusters, as in Liang's ``wcluster``: the most frequent
    words are the first clusters; each further word becomes a new cluster, and then the two clusters are merged
    that lose the least average mutual information ``sum p(c, d) log2 p(c, d) / (p(c) p(d))``. At the end the clusters
    are merged to one, which gives the tree. As there, p(c) is the share of all tokens and p(c, d) that of all pairs,
    words below `min_count` included in the totals, and the text is one run of words (`across_sentences`).

    Ties: words with equal counts go in alphabetical order; among merges with equal loss the one with the most frequent
    words wins (a cluster counts as its most frequent word; first compare the more frequent cluster of each pair, then the
    other). A merge puts the cluster with the more frequent word at bit 0.

    Forgetting keeps memory bounded: words (pairs) seen once go first, then those seen twice, until at most three quarters
    of the bound are left. One that comes again starts from zero, so its count is a little too low. Up to the bounds all
    counts are exact, whatever the division into parts.

    Cost: O(n_clusters * d) for a word with d different neighbors, O(n_clusters^3) for the first and last stage;
    32 bytes * n_clusters^2, 16 to 32 bytes a pair, and 4 bytes a token.

    Examples
    --------
    >>> text = "the cat sat . a dog sat . the dog ran . a cat ran .".split()
    >>> model = BrownClusters(n_clusters=4).fit([text])
    >>> model.paths_["cat"] == model.paths_["dog"]
    True
    >>> model.paths_["cat"]
    '01'
    """

    paths_: dict[str, str]
    counts_: dict[str, int]
    mutual_information_: float
    n_clusters_: int

    STATE = stored(
        mutual_information_=Number(float),
        paths_=DictOf(Text()),
        counts_=DictOf(Number(int)),
        n_clusters_=Number(int, low=0),
    )

    def __init__(
        self,
        n_clusters: Annotated[int, AtLeast(2)] = 1000,
        min_count: Count = 1,
        *,
        across_sentences: bool = True,
        n_jobs: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.min_count = min_count
        self.across_sentences = across_sentences
        self.n_jobs = n_jobs

    def _count(self, stream: TokenStream, words: list[str], counting: Counting) -> _Counted:
        keys, counts, n_forgotten = self._count_pairs(stream, words, counting)
        occurrences = stream.counts[[stream.index[word] for word in words]]
        n_gaps = 1 if self.across_sentences else int(stream.counts[SENTENCE_END])
        return _Counted(words, occurrences, keys, counts, stream.n_tokens, stream.n_tokens - n_gaps - n_forgotten)

    def _learn(self, counted: _Counted, progress: Progress | None) -> None:
        words, occurrences, keys, counts, n_tokens, n_pairs = counted
        pairs = file_pairs(keys // len(words), keys % len(words), counts, len(words))
        tables = kernel.start_tables(occurrences, pairs, min(self.n_clusters, len(words)))
        done = min(self.n_clusters, len(words))
        while done < len(words):
            stop = min(done + _WORDS_PER_CALL, len(words))
            kernel.absorb(tables, pairs, occurrences, done, stop)
            done = stop
            if progress is not None:
                progress(Step("cluster", done, len(words)))
        cluster_of_word = kernel.cluster_of_words(tables)
        self.mutual_information_ = _mutual_information(tables, n_tokens, n_pairs)
        path_of_cluster = _paths(np.unique(cluster_of_word), kernel.join(tables))
        rows = sorted(
            (path_of_cluster[cluster], -count, word)
            for cluster, count, word in zip(cluster_of_word.tolist(), occurrences.tolist(), words, strict=True)
        )
        self.paths_ = {word: path for path, _, word in rows}
        self.counts_ = {word: -count for _, count, word in rows}
        self.n_clusters_ = len(path_of_cluster)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the clusters in the usual format, ``path TAB word TAB count``.

        Parameters
        ----------
        path : path-like
            Where the file goes; ``.gz``, ``.bz2`` and ``.xz`` are compressed.
        """
        for word in self.paths_:
            if any(mark in word for mark in "\t\n\r\0"):
                raise DataError(
                    f"BrownClusters: words of a cluster file must not hold tabs or line ends, got {word!r}. "
                    "Use handful.save instead."
                )
        with write_text_file(path) as file:
            file.writelines(f"{bits}\t{word}\t{self.counts_[word]}\n" for word, bits in self.paths_.items())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read clusters in the usual format, ``path TAB word TAB count``.

        Parameters
        ----------
        path : path-like
            The file; gzip, bzip2 and xz are decompressed.

        Returns
        -------
        BrownClusters
            A model as if fitted; words stand in the order of the file.

        Raises
        ------
        FormatError
            If a line is malformed or a word comes twice; the message starts with ``path:line:``.
        """
        paths: dict[str, str] = {}
        counts: dict[str, int] = {}
        for number, row in enumerate(read_clusters(path), start=1):
            if row.word in paths:
                raise FormatError(path, number, f"expected every word once, got {row.word!r} again.")
            paths[row.word] = row.path
            counts[row.word] = row.frequency
        n_clusters = len(set(paths.values()))
        model = cls(n_clusters=max(n_clusters, 2))
        model.paths_, model.counts_, model.n_clusters_ = paths, counts, n_clusters
        model.mutual_information_ = float("nan")
        return model

    def _count_pairs(
        self, stream: TokenStream, words: list[str], counting: Counting
    ) -> tuple[np.ndarray, np.ndarray, int]:
        blocks = stream.blocks()
        if self.across_sentences:
            blocks = (block[block != SENTENCE_END] for block in blocks)
        places = stream.numbering(words)
        return count_blocks(
            partial(_follower_counts, len(words)),
            (places[block] for _, block in overlapping(blocks, 1, np.empty(0, dtype=np.int32))),
            max_keys=MAX_PAIRS,
            fingerprint=f"pairs of neighbors, 1: {len(words)}",
            counting=counting,
        )

    def _check_state(self) -> None:
        if self.paths_.keys() != self.counts_.keys():
            raise DataError("BrownClusters: paths_ and counts_ must hold the same words.")


def _follower_counts(n_words: int, words: np.ndarray) -> Counts:
    keys, counts = np.unique(follower_keys(words, n_words), return_counts=True)
    return {"keys": keys, "counts": counts}


def _mutual_information(tables: Tables, n_tokens: int, n_pairs: int) -> float:
    first, second = np.nonzero(tables.follows)
    if n_pairs < 1:
        return 0.0
    pair = tables.follows[first, second] / n_pairs
    single = tables.occurrences / n_tokens
    return float(np.sum(pair * np.log2(pair / (single[first] * single[second]))))


def _paths(clusters: np.ndarray, merges: np.ndarray) -> dict[int, str]:
    """Follow the tree of merges from the root down to the clusters."""
    if len(clusters) == 1:
        return {int(clusters[0]): "0"}
    # Read backwards, a merge gives the two slots that went in the path of the slot that came out, and a bit.
    path = {int(merges[-1, 2]): ""}
    for first, second, kept in reversed(merges.tolist()):
        above = path.pop(kept)
        path[first], path[second] = above + "0", above + "1"
    return path
