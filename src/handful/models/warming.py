"""Compile the kernels of methods before they are needed, by using each method once on next to nothing."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from handful.errors import Progress, Step
from handful.parallel import jobs_of, start_processes
from handful.params import Jobs


def warm_up(n_jobs: Jobs = None, progress: Progress | None = None) -> list[str]:
    """Compile what tables, taggers, parsers and raw text need, several at a time, and keep it for all later runs.

    Parameters
    ----------
    n_jobs : int or None, default=None
        Processes; None is 1, -1 all processors.
    progress : callable, optional
        Called after each group.

    Returns
    -------
    list of str
        The groups whose kernels are compiled.

    Notes
    -----
    Compiled code lies in numba's cache next to the sources, or where ``NUMBA_CACHE_DIR`` says. What is there already is
    only loaded.
    """
    from concurrent.futures import as_completed

    done: list[str] = []
    with start_processes(min(jobs_of(n_jobs, who="warm_up"), len(KERNELS))) as pool:
        waiting = {pool.submit(use_kernels, name): name for name in KERNELS}
        for finished in as_completed(waiting):
            finished.result()
            done.append(waiting[finished])
            if progress is not None:
                progress(Step("compile", len(done), len(KERNELS), {}))
    return [name for name in KERNELS if name in done]


def use_kernels(name: str) -> None:
    """Use the methods of a group once, on next to nothing.

    Examples
    --------
    >>> use_kernels("clusters")
    """
    KERNELS[name]()


def _rows(n_rows: int = 30, n_columns: int = 3) -> tuple[np.ndarray, np.ndarray]:
    rows = np.random.default_rng(0).normal(size=(n_rows, n_columns))
    labels = np.where(rows[:, 0] > 0, 1, 0)
    labels[n_rows // 3 :] = -1
    return rows, labels


def _ordinal() -> None:
    from handful.neighbors.ordinal import OrdinalKNN

    for shape in ((30, 3), (300, 60)):  # the second is large enough for threads
        X, y = _rows(*shape)
        OrdinalKNN().fit(X, y).predict_proba(X)


def _condensed() -> None:
    from handful.neighbors.condensed import CondensedNN, SemiSupervisedCondensedNN

    X, y = _rows()
    CondensedNN().fit(X[y >= 0], y[y >= 0]).predict(X)
    SemiSupervisedCondensedNN().fit(X, y).predict(X)


def _kernel_pca() -> None:
    from handful.neighbors.kernel_pca import KernelPCAClassifier

    X, y = _rows()
    KernelPCAClassifier(n_components=2).fit(X, y).predict(X)


def _tagger() -> None:
    from handful.tagging.crf import CRF

    sentences = [["the", "dog"], ["a", "cat", "sat"]] * 3
    CRF("pos").fit(sentences, [["D", "N"], ["D", "N", "V"]] * 3).predict_marginals(sentences)


def _prototypes() -> None:
    from handful.tagging.prototypes.tagger import PrototypeTagger

    sentences = [["the", "dog", "sat"], ["a", "cat", "ran"]] * 20
    for order in (1, 2):
        PrototypeTagger({"D": ["the"], "N": ["dog"], "V": ["sat"]}, order=order, max_iter=2).fit(sentences).predict(
            sentences
        )


def _parser() -> None:
    from handful.data.records import Sentence, Tree
    from handful.parsing.parser import DependencyParser

    sentence = Sentence(("the", "dog", "sat", "."), {"upos": ("DET", "NOUN", "VERB", "PUNCT")})
    trees = [Tree(sentence, (2, 3, 0, 3), ("det", "nsubj", "root", "punct"))] * 2
    for order in (1, 2):
        DependencyParser(order=order, max_iter=1).fit(trees).predict(trees)


def _clusters() -> None:
    from handful.representations.brown import BrownClusters
    from handful.representations.similarity import ContextSimilarity

    sentences = [["the", "dog", "sat"], ["a", "cat", "ran"], ["the", "cat", "sat"]] * 4
    BrownClusters(n_clusters=2).fit(sentences)
    ContextSimilarity(n_components=2).fit(sentences)


KERNELS: dict[str, Callable[[], None]] = {
    "parser": _parser,
    "prototypes": _prototypes,
    "tagger": _tagger,
    "ordinal-knn": _ordinal,
    "condensed-nn": _condensed,
    "kernel-pca": _kernel_pca,
    "clusters": _clusters,
}
"""What can be compiled by itself, the longest first."""
