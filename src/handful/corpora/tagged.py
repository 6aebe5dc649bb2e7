"""Tagged sentences, and sentences to be tagged, from files of columns or CoNLL-U."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path
from typing import Any

from handful.core.counted import counted
from handful.core.errors import FileError, FormatError, ParameterError
from handful.core.records import Sentence, Tree
from handful.corpora.formats import Format, Head, format_of, read_conll, read_text
from handful.corpora.formats.brat import is_standoff_folder, read_standoff_folder
from handful.corpora.formats.columns import NOT_TAGS, guess_columns, named_columns
from handful.corpora.formats.json_objects import first_object
from handful.corpora.formats.prodigy import read_prodigy
from handful.corpora.formats.raw import is_raw, read_raw
from handful.corpora.opening import FilePath, Source, as_source
from handful.corpora.sentences import KINDS
from handful.corpora.tag_notes import notes_on_tags, notes_on_tokens
from handful.corpora.token_style import Cut, TokenStyle, refuse_cut

_NO_TAGS = ("id", "token", "lemma", "feats", "head", "deprel", "deps", "misc")  # of the columns that CoNLL-U Plus names


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
    notes : tuple of str
        What a person should know of them.
    """

    sentences: tuple[Sentence, ...]
    tags: tuple[tuple[str, ...], ...]
    layout: tuple[str, ...]
    tag: str
    notes: tuple[str, ...] = ()

    @property
    def has_spans(self) -> bool:
        """Whether tags are those of chunks: ``B-X``, ``I-X`` and ``O``."""
        kinds = {tag for tags in self.tags for tag in tags}
        return "O" in kinds and all(tag == "O" or tag[1:2] == "-" for tag in kinds) and len(kinds) > 1

    @property
    def style(self) -> TokenStyle:
        """How the tokens were cut."""
        return TokenStyle.of_sentences(sentence.tokens for sentence in self.sentences)


def read_tagged(path: FilePath, columns: Sequence[str] = (), tag: str | None = None) -> Tagged:
    r"""Read tagged sentences.

    Parameters
    ----------
    path : path-like
        Columns (one token a line, a blank line after each sentence), CoNLL-U or another format of tagged sentences; or a
        folder of BRAT, whose ``.ann`` files are all read.
    columns : sequence of str
        Names of the columns, one of them ``token``. By default the last is the tag, and of four the others are token,
        pos and chunk.
    tag : str or None
        Name of the column of tags; by default ``tag``, or the last one that may hold tags, or ``upos`` in CoNLL-U.

    Returns
    -------
    Tagged
        The sentences.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> target = pathlib.Path(tempfile.mkdtemp()) / "a.tsv"
    >>> _ = target.write_text("Rome\tNNP\nfell\tVBD\n\n")
    >>> tagged = read_tagged(target)
    >>> tagged.tags, tagged.sentences[0].tokens
    ((('NNP', 'VBD'),), ('Rome', 'fell'))
    """
    notes: list[str] = []
    layout: tuple[str, ...] = ()
    if is_standoff_folder(path):
        name, records = tag or "tag", read_standoff_folder(path, notes)
    else:
        _refuse_other_folder(path)
        source = as_source(path)
        notes = source.notes
        layout, name, records = _tagged_records(source, columns, tag)
    sentences, tags = [], []
    bare: list[Sentence] = []
    for record in records:
        if name not in record.columns:
            bare.append(record)
            continue
        tags.append(record[name])
        others = {key: cells for key, cells in record.columns.items() if key != name}
        sentences.append(Sentence(record.tokens, others))
    if bare and not sentences:
        check_columns(path, bare[0], (name,))
    _refuse_words(path, tags)
    told = (*notes, *_on_bare(bare, len(tags)), *notes_on_tags(tags), *notes_on_tokens(sentences))
    return Tagged(tuple(sentences), tuple(tags), layout, name, told)


def has_one_tag_column(source: Source) -> bool:
    r"""Tell whether a file of columns has a single one beside the token that may hold tags, which then needs no name.

    Parameters
    ----------
    source : Source
        Any file.

    Returns
    -------
    bool
        False for other formats.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> target = pathlib.Path(tempfile.mkdtemp()) / "a.tsv"
    >>> _ = target.write_text("Rome\tNNP\nfell\tVBD\n\n")
    >>> has_one_tag_column(Source(target))
    True
    """
    if format_of(source).name != "conll":
        return False
    return len([name for name in guess_columns(source) if name not in ("token", *NOT_TAGS)]) == 1


def _refuse_other_folder(path: FilePath) -> None:
    if not isinstance(path, Source) and Path(os.fsdecode(path)).is_dir():
        raise FileError(
            f"{path}: is a folder without .ann files. Name a file of tagged sentences, or a folder of BRAT."
        )


def _on_bare(bare: Sequence[Sentence], n_tagged: int) -> list[str]:
    """Tell of sentences that nobody has tagged, such as those of a document of spaCy that was never given entities."""
    if not bare:
        return []
    return [
        f"{len(bare):,} of {len(bare) + n_tagged:,} sentences were never tagged, such as {' '.join(bare[0].tokens[:6])!r}, "
        "and are left out. Where there is nothing to tag, say so (with spaCy: doc.ents = [])."
    ]


def _tagged_records(
    source: Source, columns: Sequence[str], tag: str | None
) -> tuple[tuple[str, ...], str, Iterator[Sentence]]:
    """Return the columns of a file, which of them has the tags, and the sentences."""
    format = format_of(source)
    if format.yields == "trees":
        return (), tag or "upos", map(attrgetter("sentence"), format.read(source))
    if format.yields == "sentences" and format.name != "conll":
        return (), tag or _told_tags(source), format.read(source)
    layout = tuple(columns) or _tag_columns(source, format)
    name = tag or _last_tags(layout)
    others = [column for column in layout if column != "token"]
    if not others:
        raise ParameterError(f"{source}: a column of tags is needed beside the token, got none. Name it, too.")
    if name not in others:
        raise ParameterError(f"{source}: the column of tags must be one of {', '.join(others)}, got {name!r}.")
    return layout, name, read_conll(source, layout)


def _told_tags(source: Source) -> str:
    """Return the column of tags in a file that names its columns itself, which formats of spans do not."""
    return _last_tags([name for name in named_columns(source) if name not in _NO_TAGS] or ["tag"])


def _last_tags(layout: Sequence[str]) -> str:
    """Return the column called ``tag``, or the last one that may hold tags."""
    if "tag" in layout:
        return "tag"
    return next((name for name in reversed(layout) if name not in NOT_TAGS), layout[-1])


def _tag_columns(source: Source, format: Format) -> tuple[str, ...]:
    # One sentence without a blank line after it looks like a table between tabs.
    is_columns = format.name == "conll" or (format.yields in ("table", "prototypes") and b"\t" in source.head)
    names = guess_columns(source) if is_columns else ()
    if format.yields == "text" and b"\t" in source.head:
        _refuse_ragged(source)
    if len(names) < 2:
        is_text = format.yields == "text" or _is_prose(source, format)
        got = "" if is_columns else ", got plain text" if is_text else f", got {KINDS[format.yields]}"
        raise FormatError(
            source, None, f"expected one token and its tag on each line, with a blank line after each sentence{got}."
        )
    return names


def _refuse_ragged(source: Source) -> None:
    """Raise at the first line that has more or fewer cells than most have."""
    lines = [(number, line) for number, line in enumerate(Head.of(source).lines, 1) if line.strip()]
    counts = Counter(line.count("\t") + 1 for _, line in lines)
    usual = counts.most_common(1)[0][0]
    if usual > 1:
        number, n = next((number, line.count("\t") + 1) for number, line in lines if line.count("\t") + 1 != usual)
        raise FormatError(source, number, f"expected {counted(usual, 'column')}, as on most lines, got {n}.")


def _refuse_words(path: FilePath, tags: Sequence[Sequence[str]]) -> None:
    """Raise if tags are as many and as different as words are."""
    n_tokens = sum(map(len, tags))
    n_tags = len({tag for sentence in tags for tag in sentence})
    if n_tags > max(50, n_tokens / 2):
        raise FormatError(
            path,
            None,
            f"expected tags, got {n_tags:,} different ones on {n_tokens:,} tokens, as if they were words. "
            "Name the column of tags with --tag.",
        )


def check_columns(path: FilePath, sentence: Sentence, columns: Sequence[str], hint: str = "") -> None:
    """Refuse a sentence of a file that lacks a column.

    Parameters
    ----------
    path : path-like
        The file, for the message.
    sentence : Sentence
        One of its sentences.
    columns : sequence of str
        Columns that are needed.
    hint : str
        What to do about it, a sentence.

    Examples
    --------
    >>> check_columns("a.tsv", Sentence(("Rome",)), ["pos"])
    Traceback (most recent call last):
    ...
    handful.core.errors.FormatError: a.tsv: expected a column 'pos' beside the token, got the token alone.
    """
    for column in columns:
        if column not in sentence.columns:
            got = ", ".join(name for name in sentence.columns if name not in NOT_TAGS) or "the token alone"
            raise FormatError(
                path, None, f"expected a column {column!r} beside the token, got {got}.{hint and ' '}{hint}"
            )


def read_untagged(
    path: FilePath, layout: Sequence[str], tag: str, columns: Sequence[str] = (), cut: Cut | None = None
) -> Iterator[tuple[Sentence, tuple[str, ...]]]:
    """Read sentences to be tagged; see `read_untagged_trees`.

    Yields
    ------
    sentence : Sentence
        With the columns that the tagger knows.
    names : tuple of str
        Names of all columns of the file, in their order.
    """
    for tree, names in read_untagged_trees(path, layout, tag, columns, cut):
        yield tree.sentence, names


def read_untagged_trees(
    path: FilePath,
    layout: Sequence[str],
    tag: str,
    columns: Sequence[str] = (),
    cut: Cut | None = None,
    abbreviations: Sequence[str] = (),
) -> Iterator[tuple[Tree, tuple[str, ...]]]:
    """Read sentences to be tagged, with whatever heads and comments the file has.

    Parameters
    ----------
    path : path-like
        Text (as people write it, or one sentence a line with blanks between tokens; JSON lines with a text each), CoNLL-U,
        any format of tagged sentences, a folder of BRAT, or columns: those that the first line of the file names, or those of
        the training file, with or without the column of tags, or the token and `columns`, or the token alone.
    layout : sequence of str
        Columns of the training file; empty for CoNLL-U.
    tag : str
        Its column of tags.
    columns : sequence of str
        Columns that the tagger reads beside the token; a file without them is refused.
    cut : {"blanks", "words"}, optional
        Where text is cut; by default that is told by its marks.
    abbreviations : sequence of str
        Tokens of text that keep their point, beside the usual ones.

    Yields
    ------
    tree : Tree
        Its sentence has the columns that the tagger knows; for text also ``start`` and ``end``, the places of tokens.
    names : tuple of str
        Names of all columns of the file, in their order; for text in running words those of the places too.
    """
    names: tuple[str, ...] = ()
    records: Iterator[Any]
    if is_standoff_folder(path):
        records = read_standoff_folder(path, [])
    else:
        names, records = _untagged_records(as_source(path), layout, tag, columns, cut, abbreviations)
    for record in records:
        tree = record if isinstance(record, Tree) else untied(record)
        check_columns(
            path, tree.sentence, columns, "Name a tagger that gives it before this model, or train a model without it."
        )
        yield tree, names or ("token", *tree.sentence.columns)


def _untagged_records(
    source: Source,
    layout: Sequence[str],
    tag: str,
    columns: Sequence[str],
    cut: Cut | None,
    abbreviations: Sequence[str],
) -> tuple[tuple[str, ...], Iterator[Any]]:
    """Return the names of the columns, if they are the same in all sentences, and the sentences or trees."""
    format = format_of(source)
    if cut is not None:
        refuse_cut(source)
    if _is_text(source, format):
        into_words = is_raw(Head.of(source)) if cut is None else cut == "words"
        return ((), read_raw(source, abbreviations)) if into_words else (("token",), read_text(source, places=True))
    if format.yields == "table" and isinstance(first_object(Head.of(source)).get("text"), str):
        return (), map(_without_tags, read_prodigy(source))
    if format.name in ("conll", "prototypes") or (format.name == "delimited" and not _has_commas(source)):
        names = named_columns(source) or _untagged_columns(source, layout, tag, columns)
        return names, read_conll(source, names)
    if format.yields in ("sentences", "trees"):
        return (), format.read(source)
    raise FormatError(source, None, f"expected sentences (text, columns or CoNLL-U), got {KINDS[format.yields]}.")


def _without_tags(sentence: Sentence) -> Sentence:
    """Leave out the tags of a text that nobody has annotated."""
    columns = {name: cells for name, cells in sentence.columns.items() if name != "tag"}
    return Sentence(sentence.tokens, columns, sentence.comments)


def _is_text(source: Source, format: Format) -> bool:
    # Lines of text may happen to have as many words or commas each; the name of the file then tells.
    return format.yields == "text" or (source.suffix == ".txt" and format.name in ("conll", "delimited"))


def _is_prose(source: Source, format: Format) -> bool:
    """Tell lines of text with as many commas each from a table."""
    return source.suffix == ".txt" and format.name == "delimited" and b"\t" not in source.head


def _has_commas(source: Source) -> bool:
    """Tell a table from tokens of one sentence, one a line, by what every line has."""
    filled = Head.of(source).filled
    return b"\t" not in source.head and any(all(mark in line for line in filled) for mark in ",;|")


def _untagged_columns(source: Source, layout: Sequence[str], tag: str, columns: Sequence[str]) -> tuple[str, ...]:
    """Tell by their number which columns a file has."""
    guessed = guess_columns(source)
    n = len(guessed)
    if not layout and not columns:
        return guessed  # trained on CoNLL-U, where nothing but the words is read
    without = tuple(name for name in layout if name != tag)
    if n == 1:
        return ("token",)
    if n == len(layout):
        return tuple(layout)
    if n == len(without):
        return without
    if n == 1 + len(columns):
        return ("token", *columns)
    expected = f"{counted(len(layout), 'column')} ({', '.join(layout)})" if layout else "CoNLL-U"
    raise FormatError(
        source, None, f"expected {expected}, as in training, with or without {tag!r}, got {counted(n, 'column')}."
    )


def untied(sentence: Sentence) -> Tree:
    """Return a sentence as a tree whose heads are not known.

    Examples
    --------
    >>> untied(Sentence(("Rome", "fell"))).heads
    (-1, -1)
    """
    return Tree(sentence, (-1,) * len(sentence), ("_",) * len(sentence))
