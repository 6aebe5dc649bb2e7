"""Inputs of the dependency parser: sentences with tags, and trees to learn from."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from handful.data.records import Sentence, Tree
from handful.data.tagged import broken_word
from handful.errors import DataError
from handful.kernels.trees import lift_crossing

_PAIRED = "pos"
_EMPTY = "_"


def as_sentences(inputs: Any) -> list[Sentence]:
    """Return sentences from trees, sentences, or lists of (word, tag) or (word, upos, xpos).

    Parameters
    ----------
    inputs : iterable of Tree, of Sentence, or of sequences of (str, str) or (str, str, str)
        Input of the parser.

    Returns
    -------
    list of Sentence
        Tags of pairs are in the column ``pos``, those of triples in ``upos`` and ``xpos``.

    Examples
    --------
    >>> as_sentences([[("Rome", "NNP"), ("fell", "VBD")]])[0]["pos"]
    ('NNP', 'VBD')
    """
    if isinstance(inputs, str | Tree | Sentence) or not isinstance(inputs, Iterable):
        raise DataError(
            f"DependencyParser: a list of sentences is needed, got {_kind(inputs)}. Put a single one into a list."
        )
    return [_sentence(number, item) for number, item in enumerate(inputs)]


def _sentence(number: int, item: Any) -> Sentence:
    if isinstance(item, Tree):
        return item.sentence
    if isinstance(item, Sentence):
        return item
    if not isinstance(item, str) and isinstance(item, Sequence):
        for names in ((_PAIRED,), ("upos", "xpos")):
            if all(_is_row(row, 1 + len(names)) for row in item):
                words, *tags = zip(*item, strict=True) if item else ((),) * (1 + len(names))
                return Sentence(words, dict(zip(names, tags, strict=True)))
    raise DataError(
        f"DependencyParser: sentence {number} must be a Tree, a Sentence with tags or a list of (word, tag) or (word, upos, xpos), "
        f"got {_kind(item)}."
    )


def _is_row(row: Any, length: int) -> bool:
    is_row = isinstance(row, Sequence) and not isinstance(row, str) and len(row) == length
    return is_row and all(isinstance(cell, str) for cell in row)


def _kind(value: Any) -> str:
    if isinstance(value, Sequence) and not isinstance(value, str) and value and isinstance(value[0], str):
        return "words without tags"
    return type(value).__name__


def choose_columns(sentences: Sequence[Sentence], wanted: str | None = None) -> tuple[str, ...]:
    """Return the columns that tags are read from: the fine one, then the coarse one if it is filled.

    Parameters
    ----------
    sentences : sequence of Sentence
        Training sentences.
    wanted : str or None
        The only column to read.

    Returns
    -------
    tuple of str
        ``xpos`` and ``upos``, or the only one that is filled, or ``pos``.

    Examples
    --------
    >>> choose_columns([Sentence(("Rome",), {"upos": ("PROPN",), "xpos": ("_",)})])
    ('upos',)
    """
    filled = [c for c in ("xpos", "upos", _PAIRED) if all(c in s.columns for s in sentences) and _tagged(sentences, c)]
    if not filled:
        raise DataError(
            "DependencyParser: the words must have tags, in a column 'xpos', 'upos' or 'pos', got none. Tag the sentences first."
        )
    if wanted is not None:
        if wanted not in filled:
            raise DataError(
                f"DependencyParser: the words must have tags in {wanted!r}, got tags in {_both(filled)} only."
            )
        return (wanted,)
    return tuple(filled[:2]) if filled[0] == "xpos" and "upos" in filled else (filled[0],)


def _tagged(sentences: Sequence[Sentence], column: str) -> bool:
    return any(tag != _EMPTY for s in sentences for tag in s[column])


def with_columns(sentences: list[Sentence], columns: Sequence[str]) -> list[Sentence]:
    """Return sentences that have the columns of tags that a parser was trained with.

    Parameters
    ----------
    sentences : list of Sentence
        From `as_sentences`.
    columns : sequence of str
        From `choose_columns`.

    Returns
    -------
    list of Sentence
        The same; the tags of pairs fill the column if it is the only one. A sentence without words needs no tags.

    Examples
    --------
    >>> with_columns(as_sentences([[("Rome", "NNP")]]), ["xpos"])[0]["xpos"]
    ('NNP',)
    """
    out = []
    for number, sentence in enumerate(sentences):
        if not len(sentence):
            sentence = Sentence((), dict.fromkeys(columns, ()))
        elif len(columns) == 1 and columns[0] not in sentence.columns and _PAIRED in sentence.columns:
            feats = {name: cells for name, cells in sentence.columns.items() if name == "feats"}
            sentence = Sentence(sentence.tokens, {columns[0]: sentence[_PAIRED], **feats})
        _check_columns(number, sentence, columns)
        out.append(sentence)
    return out


def _check_columns(number: int, sentence: Sentence, columns: Sequence[str]) -> None:
    missing = [c for c in columns if c not in sentence.columns or (len(sentence) and not _tagged([sentence], c))]
    if not missing:
        return
    hint = "Tag it first."
    if len(columns) == 2 and _PAIRED in sentence.columns:
        hint = (
            f"Give each word as (word, upos, xpos), or train on one column (tags={columns[0]!r}; on the command "
            f"line --tags {columns[0]})."
        )
    raise DataError(
        f"DependencyParser: every sentence must have tags in {_both(columns)}, which the parser reads, but sentence {number} has "
        f"none in {missing[0]!r}. {hint}"
    )


def _both(columns: Sequence[str]) -> str:
    return " and ".join(map(repr, columns))


def read_trees(trees: Any, *, projective: bool, single_root: bool) -> tuple[list[Tree], np.ndarray, int]:
    """Check training trees; return them with heads that a parser can learn.

    Parameters
    ----------
    trees : iterable of Tree
        The trees.
    projective : bool
        Whether arcs are lifted until none cross.
    single_root : bool
        Whether further children of the root are attached to the first.

    Returns
    -------
    trees : list of Tree
        The same.
    heads : ndarray of int32
        Heads of all words.
    n_changed : int
        Words that got another head.

    Examples
    --------
    >>> tree = Tree(Sentence(("a", "b")), (0, 0), ("root", "root"))
    >>> read_trees([tree], projective=True, single_root=True)[1:]
    (array([0, 1], dtype=int32), 1)
    """
    known = _list_of_trees(trees)
    learnable, n_changed = [], 0
    for number, tree in enumerate(known):
        heads = np.array(tree.heads, dtype=np.int32)
        broken = broken_word(heads.tolist())
        if broken is not None:
            raise DataError(
                f"DependencyParser: heads must make a tree, but word {broken[0]} of the tree at index {number} {broken[1]}. "
                "Leave it out."
            )
        changed = heads.copy()
        roots = np.flatnonzero(heads == 0)
        if single_root and len(roots):
            changed[roots[1:]] = roots[0] + 1
        if projective:
            lift_crossing(changed)
        n_changed += int((changed != heads).sum())
        learnable.append(changed)
    return known, np.concatenate(learnable), n_changed


def _list_of_trees(trees: Any) -> list[Tree]:
    if isinstance(trees, str | Tree) or not isinstance(trees, Iterable):
        odd = [trees]
    else:
        trees = list(trees)
        odd = [tree for tree in trees if not isinstance(tree, Tree)]
    if odd:
        raise DataError(f"DependencyParser: a list of trees is needed for training, got {type(odd[0]).__name__}.")
    if not any(map(len, trees)):
        raise DataError("DependencyParser: at least one tree is needed, got none.")
    return list(trees)


def check_lengths(lengths: Sequence[int], order: int) -> None:
    """Refuse a sentence whose arcs need too much memory, before any work is done.

    Parameters
    ----------
    lengths : sequence of int
        Words of each sentence.
    order : {1, 2}
        Order of the parser.

    Raises
    ------
    DataError
        If the longest needs more than half of the free memory.

    Notes
    -----
    Measured: 100 bytes times the square of the length for arcs and, with order 2, 3 bytes times its cube for pairs.
    """
    import psutil

    longest = max(lengths, default=0)
    needed = 100 * longest**2 + (3 * longest**3 if order == 2 else 0)
    free = psutil.virtual_memory().available
    if needed > free // 2:
        number = lengths.index(longest) + 1
        raise DataError(
            f"DependencyParser: the arcs of a sentence must fit into memory, got {longest:,} words in sentence {number:,}. "
            f"They need about {needed / 1e9:,.1f} GB; {free / 1e9:,.1f} GB are free. Split the text into sentences."
        )


def has_feats(sentences: Sequence[Sentence]) -> bool:
    """Return whether at least one of five words has morphological features (the column FEATS of CoNLL-U)."""
    n_filled = sum(cell != _EMPTY for s in sentences for cell in s.columns.get("feats", ()))
    return 5 * n_filled >= sum(map(len, sentences))


def without_some_feats(sentences: list[Sentence]) -> list[Sentence]:
    """Return sentences with every fourth one stripped of its morphological features."""
    # On Finnish (fi_tdt) a quarter costs 1.0 LAS where text has features, and gains 6.4 where it has none.
    return [
        Sentence(s.tokens, {name: cells for name, cells in s.columns.items() if name != "feats"}) if i % 4 == 3 else s
        for i, s in enumerate(sentences)
    ]
