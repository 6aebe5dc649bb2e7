"""Trees that a parser may learn from, and sentences that it may parse, checked before any work is done."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from handful.core.errors import FormatError, ParameterError
from handful.core.records import Sentence, Tree
from handful.corpora.formats import format_of, read_conll, read_conllu
from handful.corpora.formats.columns import guess_columns, named_columns
from handful.corpora.opening import FilePath, as_source
from handful.corpora.tagged import untied


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


def broken_word(heads: Sequence[int]) -> tuple[int, str] | None:
    """Return a word that keeps heads from being a tree, counted from 1, and what is wrong with it.

    Examples
    --------
    >>> broken_word([2, 0]), broken_word([0, -1]), broken_word([2, 1])
    (None, (2, 'has no head'), (1, 'is its own ancestor'))
    """
    seen = [0] * (len(heads) + 1)
    for start, head in enumerate(heads, start=1):
        if head < 0:
            return start, "has no head"
        word = start
        while word > 0 and not seen[word]:
            seen[word] = start
            word = heads[word - 1]
        if word > 0 and seen[word] == start:
            return word, "is its own ancestor"
    return None


def read_tagged_trees(path: FilePath, columns: Sequence[str]) -> Iterator[Tree]:
    """Read sentences to be parsed: CoNLL-U as it stands, or columns: word and tag, or word, upos and xpos.

    Parameters
    ----------
    path : path-like
        The file.
    columns : sequence of str
        Columns of tags that the parser reads.

    Yields
    ------
    Tree
        Without heads if the file has none.
    """
    source = as_source(path)
    format = format_of(source)
    if format.yields == "trees":
        yield from format.read(source)
        return
    # A single sentence without a blank line after it looks like a table between tabs.
    tabbed = format.yields in ("table", "prototypes") and b"\t" in source.head
    is_columns = format.name == "conll" or tabbed
    names = _tag_names(named_columns(source), guess_columns(source)) if is_columns else ()
    if not names:
        raise ParameterError(
            f"{path}: tagged sentences are needed (CoNLL-U, or a word and its tag, or word, upos and xpos, on each line), "
            f"got a {format.yields}. Put a tagger before the parser: handful predict TAGGER PARSER {path}."
        )
    for sentence in read_conll(source, names):
        record = sentence
        if "pos" in names and len(columns) == 1:
            # Into the column of CoNLL-U that the parser knows them from, so that they are written as well.
            tags = sentence["pos"]
            name = "xpos" if columns[0] == "pos" else columns[0]
            record = Sentence(sentence.tokens, {"pos": tags, name: tags})
        yield untied(record)


def _tag_names(named: Sequence[str], guessed: Sequence[str]) -> tuple[str, ...]:
    """Return what columns are to a parser, which wants to know about tags and not about what is tagged."""
    if not named:
        usual = {("token", "tag"): ("token", "pos"), ("token", "pos", "tag"): ("token", "upos", "xpos")}
        return usual.get(tuple(guessed), ())
    wanted = {"token", "upos", "xpos"} if {"upos", "xpos"} & set(named) else {"token", "pos"}
    if "pos" not in named and wanted == {"token", "pos"}:
        named = ["pos" if name == "tag" else name for name in named]
    names = tuple(name if name in wanted else "_" for name in named)
    return names if len(set(names) - {"_"}) > 1 else ()
