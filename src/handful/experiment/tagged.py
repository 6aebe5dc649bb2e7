"""A tagger fitted to tagged sentences, and how well it does."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from handful.corpora.opening import FilePath
from handful.corpora.tagged import Tagged, check_columns, read_tagged


def read_held_out(path: FilePath, train: Tagged, templates: str | None = None) -> Tagged:
    """Read tagged sentences to score a tagger on, with the columns of those that it learns from.

    Parameters
    ----------
    path : path-like
        See `read_tagged`.
    train : Tagged
        What it learns from.
    templates : str or None
        See `fit_tagger`.

    Returns
    -------
    Tagged
        The sentences.
    """
    from handful.features import parse_templates, ready_set

    found = read_tagged(path, train.layout, train.tag)
    observed = {atom.column for t in parse_templates(ready_set(_chosen(train, templates))) for atom in t.atoms}
    check_columns(path, found.sentences[0], sorted(observed & set(train.sentences[0].columns)))
    return found


def _chosen(train: Tagged, templates: str | None) -> str:
    return templates or ("ner" if train.has_spans else "pos")


def fit_tagger(
    train: Tagged,
    templates: str | None = None,
    *,
    progress: Any = None,
    checkpoint: str | os.PathLike[str] | None = None,
    n_jobs: int | None = None,
    **params: Any,
) -> Any:
    """Fit a CRF to tagged sentences.

    Parameters
    ----------
    train : Tagged
        The sentences.
    templates : {"pos", "chunk", "ner"} or None
        What it observes; by default ``ner`` where tags are spans, else ``pos``.
    progress : callable, optional
        Told after each iteration.
    checkpoint : path-like, optional
        File that training goes on from, see `handful.tagging.CRF.fit`.
    n_jobs : int or None
        Worker threads.
    **params
        Further parameters of `handful.tagging.CRF`.

    Returns
    -------
    CRF
        The fitted tagger.
    """
    from handful.tagging import CRF

    tagger = CRF(_chosen(train, templates), n_jobs=n_jobs, **params)
    tags = [list(mine) for mine in train.tags]
    return tagger.fit(list(train.sentences), tags, progress=progress, checkpoint=checkpoint)


def score_tags(gold: Sequence[Sequence[str]], found: Sequence[Sequence[str]], spans: bool) -> dict[str, float]:
    """Return the accuracy of tags and, for spans, precision, recall and F1.

    Examples
    --------
    >>> score_tags([["A", "B"]], [["A", "A"]], spans=False)
    {'accuracy': 0.5}
    """
    from handful.evaluation.chunks import chunk_f1

    if spans:
        report = chunk_f1(gold, found)
        whole = report.overall
        return {
            "accuracy": report.accuracy,
            "precision": whole.precision,
            "recall": whole.recall,
            "f1": whole.f1,
        }
    pairs = [(a, b) for mine, right in zip(found, gold, strict=True) for a, b in zip(mine, right, strict=True)]
    return {"accuracy": sum(a == b for a, b in pairs) / max(len(pairs), 1)}


def model_path(data: str | os.PathLike[str]) -> str:
    """Return the name of the model file that goes with a data file.

    Examples
    --------
    >>> model_path("train.tsv.gz")
    'train.handful'
    """
    folder, name = os.path.split(os.fspath(data))
    return os.path.join(folder, f"{name.split('.')[0]}.handful")
