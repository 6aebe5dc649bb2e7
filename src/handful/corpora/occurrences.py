"""Words in context out of whatever file a user has: a Senseval sample, or a table of texts."""

from __future__ import annotations

from collections.abc import Iterator

from handful.core.errors import FormatError, ParameterError
from handful.core.records import Occurrence
from handful.corpora.formats import Head, format_named, format_of, read_key, read_senseval
from handful.corpora.formats.sense_table import names_text_and_word
from handful.corpora.opening import FilePath, as_source


def read_occurrences(path: FilePath, key: FilePath | None = None, dtd: FilePath | None = None) -> Iterator[Occurrence]:
    r"""Read words in context, told apart by content.

    Parameters
    ----------
    path : path-like
        Senseval XML, or separated columns with text, word or its place and, where it is known, sense (see
        `handful.corpora.formats.sense_table.read_sense_table`).
    key, dtd : path-like or None
        Answer key and declarations that go with Senseval XML.

    Returns
    -------
    iterator of Occurrence
        In the order of the file.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> target = pathlib.Path(tempfile.mkdtemp()) / "a.csv"
    >>> _ = target.write_text("text,word,sense\nthe river bank,bank,shore\n")
    >>> [item.senses for item in read_occurrences(target)]
    [('shore',)]
    """
    source = as_source(path)
    format = format_of(source)
    if format.name == "senseval":
        return read_senseval(source, key=key, dtd=dtd)
    if format.yields == "table" and names_text_and_word(Head.of(source)):
        format = format_named("sense-table")  # new contexts have no senses yet
    if format.yields != "occurrences":
        raise FormatError(
            path,
            None,
            "expected Senseval XML, or a table with the columns text and word or start and end (and sense, where it is known), got "
            f"{'a table without them' if format.yields == 'table' else 'something else'}.",
        )
    if key is not None or dtd is not None:
        raise ParameterError(f"{path}: a key and a DTD go with Senseval XML, got a {format.name}.")
    occurrences: Iterator[Occurrence] = format.read(source)
    return occurrences


def read_answers(path: FilePath) -> dict[str, tuple[str, ...]]:
    r"""Read the senses of instances: from an answer key, or from words in context that have their senses.

    Parameters
    ----------
    path : path-like
        Lines of ``word instance sense ...``, or anything that `read_occurrences` takes.

    Returns
    -------
    dict of str to tuple of str
        Senses of each instance; contexts without a sense are left out.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> target = pathlib.Path(tempfile.mkdtemp()) / "a.csv"
    >>> _ = target.write_text("text,word,sense\nthe river bank,bank,shore\n")
    >>> read_answers(target)
    {'bank.1': ('shore',)}
    """
    source = as_source(path)
    if format_of(source).yields != "occurrences":
        return read_key(path)
    return {item.id: item.senses for item in read_occurrences(source) if item.senses}
