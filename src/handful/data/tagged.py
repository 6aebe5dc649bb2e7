"""Tagged sentences and trees, from any format."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, Literal, TypeAlias

from handful.data.chunks import Span, spans
from handful.data.conll import (
    COLUMNS_HEADER,
    NOT_TAGS,
    conllu_text,
    guess_columns,
    named_columns,
    read_conll,
    read_conllu,
)
from handful.data.files import FilePath, Source, as_source
from handful.data.formats import Format, Head, format_named, format_of
from handful.data.json_records import first_object
from handful.data.records import Sentence, Tree
from handful.data.spans import METADATA, RECORD, places_of, read_spans
from handful.data.text import Cut, TokenStyle, is_plain, is_raw, read_raw, read_text, refuse_cut
from handful.errors import DataError, FormatError, ParameterError, counted

_LONG = 150


def _notes_on_tags(tags: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield notes on missing blank lines and on numbers as tags."""
    n_tokens = sum(map(len, tags))
    if n_tokens > _LONG * len(tags):
        yield (
            f"The {n_tokens:,} tokens are {counted(len(tags), 'sentence')}, {n_tokens // len(tags):,} tokens each. "
            "Is a blank line missing after each sentence?"
        )
    kinds = {tag for row in tags for tag in row}
    if len(kinds) > 1 and all(map(str.isdecimal, kinds)):
        yield (
            f"All {len(kinds):,} tags are numbers, as in data sets of Hugging Face, so spans are not recognized. "
            "Write their names (there: dataset.features[...].feature.names)."
        )


Form: TypeAlias = Literal["columns", "conllu", "jsonl"]

ENDINGS: dict[str, Form] = {
    **dict.fromkeys(("", ".tsv", ".tab", ".txt", ".conll", ".iob", ".bio", ".tagged", ".out"), "columns"),
    ".conllu": "conllu",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
}
"""Form of a file of annotated sentences, by the ending of its name."""

GENERATOR = "# generator = handful predict"
"""First line of CoNLL-U from `handful predict`, to tell predictions from annotated trees."""

_IN_CONLLU = ("token", "lemma", "upos", "xpos", "feats", "deps", "misc")


def header_text(form: Form, names: Sequence[str]) -> str:
    r"""Return the text before the first sentence: a line with the names of columns, or `GENERATOR` for CoNLL-U.

    Examples
    --------
    >>> header_text("columns", ["token", "tag", "confidence"])
    '# global.columns = TOKEN TAG CONFIDENCE\n'
    """
    if form == "conllu":
        return GENERATOR + "\n"
    return " ".join([COLUMNS_HEADER, *map(str.upper, names)]) + "\n" if form == "columns" else ""


def sentence_text(
    form: Form, tree: Tree, names: Sequence[str], filled: Sequence[str], confidence: Sequence[float] = ()
) -> str:
    r"""Return one sentence as text.

    Parameters
    ----------
    form : {"columns", "conllu", "jsonl"}
        Kind of the file.
    tree : Tree
        The sentence, with all columns.
    names : sequence of str
        Columns to write; ``token`` is for the tokens and ``confidence`` for `confidence`. CoNLL-U has fixed columns.
    filled : sequence of str
        Columns with predictions. CoNLL-U has those that are not its own in the last column, and also the place of each
        token in the text (``TokenRange``). JSON has their spans, and the metadata of the text, such as an ``id``.
    confidence : sequence of float
        Confidence of a tagger in each tag, if there is one.

    Returns
    -------
    str
        Its lines.

    Examples
    --------
    >>> tree = Tree(Sentence(("Rome", "fell"), {"tag": ("B-LOC", "O")}), (-1, -1), ("_", "_"))
    >>> sentence_text("columns", tree, ["token", "tag", "confidence"], ["tag"], (0.9, 0.81))
    'Rome\tB-LOC\t0.9000\nfell\tO\t0.8100\n\n'
    """
    if form == "jsonl":
        return json.dumps(_json_row(tree, names, filled, confidence), ensure_ascii=False) + "\n"
    if form == "conllu":
        return conllu_text(_with_misc(tree, filled, confidence), "predict: the sentence")
    sentence = tree.sentence
    kept = [line for line in sentence.comments if line[:1] not in ("", "#") or line.startswith("#\t")]
    columns = {**sentence.columns, "token": sentence.tokens, "confidence": tuple(map(_shown, confidence))}
    rows = zip(*(columns[name] for name in names), strict=True)
    return "\n".join([*kept, *map("\t".join, rows)]) + "\n\n"


def _shown(confidence: float) -> str:
    return "_" if math.isnan(confidence) else f"{confidence:.4f}"


def _json_row(tree: Tree, names: Sequence[str], filled: Sequence[str], confidence: Sequence[float]) -> dict[str, Any]:
    sentence = tree.sentence
    places = places_of(sentence)
    row = _metadata(sentence) | {"tokens": list(sentence.tokens)}
    row |= {"start": [start for start, _ in places], "end": [end for _, end in places]}
    row |= {name: list(sentence[name]) for name in names if name not in ("token", "start", "end", "confidence")}
    if confidence:
        row["confidence"] = [None if math.isnan(value) else round(value, 4) for value in confidence]
    labeled = [
        {"start": places[span.start][0], "end": places[span.end - 1][1], "label": span.type}
        for name in filled
        for span in _spans(sentence, name)
    ]
    if labeled or any(set(sentence[name]) == {"O"} for name in filled):
        row["spans"] = labeled
    if -1 not in tree.heads:
        row |= {"head": list(tree.heads), "deprel": list(tree.labels)}
    return row


def _metadata(sentence: Sentence) -> dict[str, Any]:
    """Return the number of the object that a sentence is from, and the other values of that object."""
    row: dict[str, Any] = {}
    for line in sentence.comments:
        if line.startswith(RECORD):
            row.setdefault("record", int(line.removeprefix(RECORD)))
        elif line.startswith(METADATA):
            row |= json.loads(line.removeprefix(METADATA))
    return row


def _spans(sentence: Sentence, name: str) -> list[Span]:
    tags = ["O" if tag == "_" else tag for tag in sentence[name]]
    if not all(tag == "O" or tag[1:2] == "-" for tag in tags):
        return []
    try:
        return spans(tags)
    except DataError:
        return []


def _with_misc(tree: Tree, filled: Sequence[str], confidence: Sequence[float]) -> Tree:
    """Put what CoNLL-U has no column for into its last one, and leave out comments of other formats."""
    sentence = tree.sentence
    more: dict[str, Sequence[str]] = {name: sentence[name] for name in filled if name not in _IN_CONLLU}
    if confidence:
        more["Confidence"] = list(map(_shown, confidence))
    if "start" in sentence.columns and "end" in sentence.columns:
        more["TokenRange"] = [f"{a}:{b}" for a, b in zip(sentence["start"], sentence["end"], strict=True)]
    old = sentence.columns.get("misc", ("_",) * len(tree))
    misc = tuple(
        _misc_cell(cell, {name: cells[place] for name, cells in more.items()}) for place, cell in enumerate(old)
    )
    comments = tuple(
        line for line in sentence.comments if line[:1] in ("", "#") and not line.startswith((COLUMNS_HEADER, GENERATOR))
    )
    whole = Sentence(sentence.tokens, {**sentence.columns, "misc": misc}, comments)
    return Tree(whole, tree.heads, tree.labels, tree.extras)


def _misc_cell(old: str, more: Mapping[str, str]) -> str:
    kept = [part for part in old.split("|") if part != "_" and part.split("=")[0] not in more]
    return "|".join([*kept, *(f"{name}={cell.replace('|', '/')}" for name, cell in more.items())]) or "_"


KINDS = {
    "table": "a table",
    "occurrences": "words with senses",
    "prototypes": "lists of prototypes",
    "clusters": "clusters of words",
}
"""Contents of other files, for messages."""


def read_sentences(path: FilePath, cut: Cut | None = None, abbreviations: Sequence[str] = ()) -> Iterator[Sentence]:
    r"""Read the sentences of a text, column or CoNLL-U file, detected by content.

    Parameters
    ----------
    path : path-like
        The file.
    cut : Cut, optional
        Where text is split; by default its punctuation decides.
    abbreviations : sequence of str
        Further tokens of text that keep their period.

    Yields
    ------
    Sentence
        Tokens; columns of a column file are named by `guess_columns`, those of CoNLL-U by their usual names.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> target = pathlib.Path(tempfile.mkdtemp()) / "a.txt"
    >>> _ = target.write_text("Rome fell .\n")
    >>> [sentence.tokens for sentence in read_sentences(target)]
    [('Rome', 'fell', '.')]
    """
    source = as_source(path)
    format = format_of(source)
    if format.yields == "table" and source.suffix == ".txt":  # lines of text that happen to have as many commas
        format = format_named("raw" if is_raw(Head.of(source)) else "text")
    if cut is not None:
        refuse_cut(source)
        format = format_named("raw" if cut == "words" else "text")
    if format.name == "raw":
        return read_raw(source, abbreviations)
    if format.yields == "trees":
        return (tree.sentence for tree in format.read(source))
    if format.yields in ("text", "sentences"):
        sentences: Iterator[Sentence] = format.read(source)
        return sentences
    raise FormatError(source, None, f"expected sentences (text, columns or CoNLL-U), got {KINDS[format.yields]}.")


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
        Notes on them for a person.
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
        """Style of the tokens; see `TokenStyle`."""
        return TokenStyle.of_sentences(sentence.tokens for sentence in self.sentences)


def read_tagged(path: FilePath, columns: Sequence[str] = (), tag: str | None = None) -> Tagged:
    r"""Read tagged sentences.

    Parameters
    ----------
    path : path-like
        Columns (one token a line, a blank line after each sentence), CoNLL-U, or spans or lists of tokens in JSON.
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
    source = as_source(path)
    layout, name, records = _tagged_records(source, columns, tag)
    sentences, tags = [], []
    for record in records:
        check_columns(path, record, (name,))
        tags.append(record[name])
        others = {key: cells for key, cells in record.columns.items() if key != name}
        sentences.append(Sentence(record.tokens, others))
    _refuse_words(path, tags)
    all_notes = (*source.notes, *_notes_on_tags(tags))
    return Tagged(tuple(sentences), tuple(tags), layout, name, all_notes)


def has_one_tag_column(source: Source) -> bool:
    r"""Return whether a file of columns has one column next to the token that may hold tags, so it needs no name.

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


def _tagged_records(
    source: Source, columns: Sequence[str], tag: str | None
) -> tuple[tuple[str, ...], str, Iterator[Sentence]]:
    """Return the columns of a file, which of them has the tags, and the sentences."""
    format = format_of(source)
    if format.yields == "trees":
        return (), tag or "upos", map(attrgetter("sentence"), format.read(source))
    if format.yields == "sentences" and format.name != "conll":
        return (), tag or "tag", format.read(source)
    layout = tuple(columns) or _tag_columns(source, format)
    return layout, _checked_tag(source, layout, tag), read_conll(source, layout)


def _checked_tag(source: Source, layout: Sequence[str], tag: str | None) -> str:
    name = tag or _last_tags(layout)
    if name == "token" or name not in layout:
        others = ", ".join(column for column in layout if column != "token")
        raise ParameterError(f"{source}: the column of tags must be one of {others or '(none)'}, got {name!r}.")
    return name


def _last_tags(layout: Sequence[str]) -> str:
    """Return the column called ``tag``, or the last one that may hold tags."""
    if "tag" in layout:
        return "tag"
    return next((name for name in reversed(layout) if name not in NOT_TAGS), layout[-1])


def _tag_columns(source: Source, format: Format) -> tuple[str, ...]:
    # One sentence without a blank line after it looks like a table with tabs.
    has_columns = format.name == "conll" or (format.yields in ("table", "prototypes") and b"\t" in source.head)
    names = guess_columns(source) if has_columns else ()
    if format.yields == "text" and b"\t" in source.head:
        _refuse_ragged(source)
    if len(names) < 2:
        got = "" if has_columns else ", got plain text" if is_plain(source) else f", got {KINDS[format.yields]}"
        raise FormatError(
            source, None, f"expected one token and its tag on each line, with a blank line after each sentence{got}."
        )
    return names


def _refuse_ragged(source: Source) -> None:
    """Raise at the first line that has more or fewer cells than most have."""
    widths = [(number, line.count("\t") + 1) for number, line in enumerate(Head.of(source).lines, 1) if line.strip()]
    usual = Counter(width for _, width in widths).most_common(1)[0][0]
    if usual > 1:
        number, width = next((number, width) for number, width in widths if width != usual)
        raise FormatError(source, number, f"expected {counted(usual, 'column')}, as on most lines, got {width}.")


def _refuse_words(path: FilePath, tags: Sequence[Sequence[str]]) -> None:
    """Raise if tags are as many and as different as words are."""
    n_tokens = sum(map(len, tags))
    n_tags = len({tag for sentence in tags for tag in sentence})
    if n_tags > max(50, n_tokens / 2):
        message = f"expected tags, got {n_tags:,} different ones on {n_tokens:,} tokens, as if they were words. "
        raise FormatError(path, None, message + "Name the column of tags with --tag.")


def check_columns(path: FilePath, sentence: Sentence, columns: Sequence[str], hint: str = "") -> None:
    """Refuse a sentence of a file that lacks a column.

    Examples
    --------
    >>> check_columns("a.tsv", Sentence(("Rome",)), ["pos"])
    Traceback (most recent call last):
    ...
    handful.errors.FormatError: a.tsv: expected a column 'pos' next to the token, got the token alone.
    """
    missing = next((column for column in columns if column not in sentence.columns), None)
    if missing is not None:
        others = ", ".join(name for name in sentence.columns if name not in NOT_TAGS) or "the token alone"
        message = f"expected a column {missing!r} next to the token, got {others}.{hint and ' '}{hint}"
        raise FormatError(path, None, message)


def read_untagged(
    path: FilePath,
    layout: Sequence[str],
    tag: str,
    columns: Sequence[str] = (),
    cut: Cut | None = None,
    abbreviations: Sequence[str] = (),
) -> Iterator[tuple[Tree, tuple[str, ...]]]:
    """Read sentences to be tagged, with all heads and comments of the file.

    Parameters
    ----------
    path : path-like
        Running text, or one sentence a line with spaces between tokens; JSON lines with a text each; any format of tagged
        sentences. Columns are those that the first line names, or those of the
        training file, with or without the tags, or the token and `columns`, or the token alone.
    layout : sequence of str
        Columns of the training file; empty for CoNLL-U.
    tag : str
        Its column of tags.
    columns : sequence of str
        Further columns that the tagger reads; a file without them is refused.
    cut : Cut, optional
        Where text is split; by default its punctuation decides.
    abbreviations : sequence of str
        Further tokens of text that keep their period.

    Yields
    ------
    tree : Tree
        Its sentence has the columns that the tagger knows; for text also ``start`` and ``end``, the places of tokens.
    names : tuple of str
        Names of all columns of the file, in their order; for running text also those of the places.
    """
    source = as_source(path)
    if cut is not None:
        refuse_cut(source)
    names, records = _untagged_records(source, layout, tag, columns, cut, abbreviations)
    hint = "Name a tagger that gives it before this model, or train a model without it."
    for record in records:
        tree = record if isinstance(record, Tree) else untied(record)
        check_columns(path, tree.sentence, columns, hint)
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
    # Lines of text may happen to have as many words or commas each.
    if is_plain(source):
        if cut == "words" or (cut is None and is_raw(Head.of(source))):
            return (), read_raw(source, abbreviations)
        return ("token",), read_text(source, places=True)
    if format.yields == "table" and isinstance(first_object(Head.of(source)).get("text"), str):
        return (), map(_without_tags, read_spans(source))
    if format.name in ("conll", "prototypes") or (format.name == "delimited" and not _has_commas(source)):
        names = named_columns(source) or _untagged_columns(source, layout, tag, columns)
        return names, read_conll(source, names)
    if format.yields in ("sentences", "trees"):
        return (), format.read(source)
    raise FormatError(source, None, f"expected sentences (text, columns or CoNLL-U), got {KINDS[format.yields]}.")


def _without_tags(sentence: Sentence) -> Sentence:
    """Leave out the tags of a text that was never annotated."""
    columns = {name: cells for name, cells in sentence.columns.items() if name != "tag"}
    return Sentence(sentence.tokens, columns, sentence.comments)


def _has_commas(source: Source) -> bool:
    """Detect a table, as opposed to the tokens of one sentence, one a line, by a separator on every line."""
    filled = Head.of(source).filled
    return b"\t" not in source.head and any(all(mark in line for line in filled) for mark in ",;|")


def _untagged_columns(source: Source, layout: Sequence[str], tag: str, columns: Sequence[str]) -> tuple[str, ...]:
    """Return the columns of a file, by their number."""
    guessed = guess_columns(source)
    if not layout and not columns:
        return guessed  # trained on CoNLL-U, where only the words are read
    without = tuple(name for name in layout if name != tag)
    possible = [("token",), tuple(layout), without, ("token", *columns)]
    if tag not in columns:
        possible.append(("token", *columns, tag))
    fitting = next((names for names in possible if len(names) == len(guessed)), None)
    if fitting is None:
        expected = f"{counted(len(layout), 'column')} ({', '.join(layout)})" if layout else "CoNLL-U"
        message = (
            f"expected {expected}, as in training, with or without {tag!r}, got {counted(len(guessed), 'column')}."
        )
        raise FormatError(source, None, message)
    return fitting


def untied(sentence: Sentence) -> Tree:
    """Return a sentence as a tree whose heads are not known.

    Examples
    --------
    >>> untied(Sentence(("Rome", "fell"))).heads
    (-1, -1)
    """
    return Tree(sentence, (-1,) * len(sentence), ("_",) * len(sentence))


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
