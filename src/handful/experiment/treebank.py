"""Trees that a parser may learn from or be scored on, checked before any work is done."""

from __future__ import annotations

from collections.abc import Sequence

from handful.core.errors import FormatError
from handful.core.records import Tree
from handful.corpora.formats import read_conllu
from handful.corpora.opening import FilePath
from handful.parsing.inputs import broken_word


def read_treebank(path: FilePath, columns: Sequence[str] = ()) -> list[Tree]:
    r"""Read trees that are whole: every word has a head, and no word is its own ancestor.

    Parameters
    ----------
    path : path-like
        A CoNLL-U file.
    columns : sequence of str
        Columns in which every sentence must have tags.

    Returns
    -------
    list of Tree
        The trees.

    Raises
    ------
    FormatError
        With ``path:line:``, if a tree is not whole or a sentence has no tags.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> target = pathlib.Path(tempfile.mkdtemp()) / "a.conllu"
    >>> _ = target.write_text("1\tRome\t_\t_\tNNP\t_\t2\tnsubj\t_\t_\n2\tfell\t_\t_\tVBD\t_\t0\troot\t_\t_\n\n")
    >>> [tree.heads for tree in read_treebank(target, ["xpos"])]
    [(2, 0)]
    """
    trees = []
    start = 1
    for tree in read_conllu(path):
        first = start + len(tree.sentence.comments)
        broken = broken_word(tree.heads)
        if broken is not None:
            word, what = broken
            line = first + word - 1 + sum(place < word for place, _ in tree.extras)
            raise FormatError(
                path, line, f"expected heads that make a tree, but this word {what}. Mend or leave it out."
            )
        for column in columns:
            if all(tag == "_" for tag in tree.sentence.columns.get(column, ())):
                raise FormatError(path, first, f"expected tags in the column {column!r}, as in training, got none.")
        start = first + len(tree) + len(tree.extras) + 1
        trees.append(tree)
    return trees
