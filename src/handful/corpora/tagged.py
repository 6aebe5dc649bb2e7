"""Tagged sentences, and sentences to be tagged, from files of columns or CoNLL-U."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from handful.core.errors import FormatError, ParameterError
from handful.core.records import Sentence
from handful.corpora.columns import guess_columns
from handful.corpora.formats import detect, read_conll, read_conllu, read_text
from handful.corpora.opening import FilePath, bare_suffix


@dataclass(frozen=True)
class Tagged:
    """Sentences and the tags of their tokens.

    Parameters
    ----------
    sentences : tuple of Sentence
        Without the column of tags.
    tags : tuple of tuples of str
        One tag a token.
    layout : tuple of str
        Names of the columns of the file; empty for CoNLL-U.
    tag : str
        Name of the column of tags.
    """

    sentences: tuple[Sentence, ...]
    tags: tuple[tuple[str, ...], ...]
    layout: tuple[str, ...]
    tag: str

    @property
    def has_spans(self) -> bool:
        """Whether tags are those of chunks: ``B-X``, ``I-X`` and ``O``."""
        kinds = {tag for tags in self.tags for tag in tags}
        return "O" in kinds and all(tag == "O" or tag[1:2] == "-" for tag in kinds) and len(kinds) > 1


def read_tagged(path: FilePath, columns: Sequence[str] = (), tag: str | None = None) -> Tagged:
    r"""Read tagged sentences.

    Parameters
    ----------
    path : path-like
        Columns (one token a line, a blank line after each sentence) or CoNLL-U.
    columns : sequence of str
        Names of the columns, one of them ``token``. By default the last is the tag, and of four the others are token,
        pos and chunk.
    tag : str or None
        Name of the column of tags; by default ``tag``, or the last one, or ``upos`` in CoNLL-U.

    Returns
    -------
    Tagged
        The sentences.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> target = pathlib.Path(tempfile.mkdtemp()) / "a.tsv"
    >>> _ = target.write_text("Rome\tNNP\nfell\tVBD\n\n")
    >>> found = read_tagged(target)
    >>> found.tags, found.sentences[0].tokens
    ((('NNP', 'VBD'),), ('Rome', 'fell'))
    """
    if detect(path) == "conllu":
        layout: tuple[str, ...] = ()
        name = tag or "upos"
        records: Iterator[Sentence] = (tree.sentence for tree in read_conllu(path))
    else:
        layout = tuple(columns) or _tag_columns(path)
        name = tag or ("tag" if "tag" in layout else layout[-1])
        if name not in layout or name == "token":
            raise ParameterError(f"{path}: the column of tags must be one of {', '.join(layout[1:])}, got {name!r}.")
        records = read_conll(path, layout)
    sentences, tags = [], []
    for record in records:
        check_columns(path, record, (name,))
        tags.append(record[name])
        others = {key: cells for key, cells in record.columns.items() if key != name}
        sentences.append(Sentence(record.tokens, others))
    return Tagged(tuple(sentences), tuple(tags), layout, name)


def _tag_columns(path: FilePath) -> tuple[str, ...]:
    names = guess_columns(path)
    if len(names) < 2:
        raise FormatError(
            path, None, "expected one token and its tag on each line, with a blank line after each sentence."
        )
    return names


def check_columns(path: FilePath, sentence: Sentence, columns: Sequence[str]) -> None:
    """Refuse a sentence of a file that lacks a column.

    Parameters
    ----------
    path : path-like
        The file, for the message.
    sentence : Sentence
        One of its sentences.
    columns : sequence of str
        Columns that are needed.

    Examples
    --------
    >>> check_columns("a.tsv", Sentence(("Rome",)), ["pos"])
    Traceback (most recent call last):
    ...
    handful.core.errors.FormatError: a.tsv: expected a column 'pos' beside the token, got the token alone.
    """
    for column in columns:
        if column not in sentence.columns:
            got = ", ".join(sentence.columns) or "the token alone"
            raise FormatError(path, None, f"expected a column {column!r} beside the token, got {got}.")


def read_untagged(
    path: FilePath, layout: Sequence[str], tag: str, columns: Sequence[str] = ()
) -> Iterator[tuple[Sentence, tuple[str, ...]]]:
    """Read sentences to be tagged, with the lines that stood before each.

    Parameters
    ----------
    path : path-like
        Plain text (one sentence a line, blanks between tokens), CoNLL-U, or columns: those of the training file, with or
        without the column of tags, or the token and `columns`, or the token alone.
    layout : sequence of str
        Columns of the training file; empty for CoNLL-U.
    tag : str
        Its column of tags.
    columns : sequence of str
        Columns that the tagger reads beside the token; a file without them is refused.

    Yields
    ------
    sentence : Sentence
        With the columns that the tagger knows.
    names : tuple of str
        Names of all columns of the file, in their order.
    """
    # Lines of text may happen to have as many words each; the name of the file then tells.
    kind = "text" if bare_suffix(path) == ".txt" else detect(path)
    if kind == "text":
        for sentence in read_text(path):
            check_columns(path, sentence, columns)
            yield sentence, ("token",)
        return
    if kind == "conllu":
        for tree in read_conllu(path):
            check_columns(path, tree.sentence, columns)
            yield tree.sentence, ("token", *tree.sentence.columns)
        return
    n = len(guess_columns(path))
    without = tuple(name for name in layout if name != tag)
    if n == 1:
        names: tuple[str, ...] = ("token",)
    elif n == len(layout):
        names = tuple(layout)
    elif n == len(without):
        names = without
    elif n == 1 + len(columns):
        names = ("token", *columns)
    else:
        expected = f"{len(layout)} columns ({', '.join(layout)})" if layout else "CoNLL-U"
        raise FormatError(path, None, f"expected {expected}, as in training, with or without {tag!r}, got {n} columns.")
    for sentence in read_conll(path, names):
        check_columns(path, sentence, columns)
        yield sentence, names
