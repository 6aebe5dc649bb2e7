"""Senseval lexical samples: words in context (XML), answer keys and sense maps."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from handful.core.errors import FormatError
from handful.core.records import Occurrence
from handful.corpora.formats.format import Format, Head
from handful.corpora.formats.senseval_parser import SensevalParser, Split
from handful.corpora.formats.shown import shown
from handful.corpora.opening import FilePath, open_bytes, read_lines

_CHUNK = 2**17
_XML = re.compile(r"\s*<(\?xml|!DOCTYPE|!--|corpus|lexelt)")


def read_senseval(
    path: FilePath,
    key: FilePath | Mapping[str, tuple[str, ...]] | None = None,
    dtd: FilePath | None = None,
    *,
    split: Split = str.split,
) -> Iterator[Occurrence]:
    r"""Read the instances of a Senseval-2 or -3 lexical sample, one at a time.

    Parameters
    ----------
    path : path-like
        The XML file; gzip, bzip2 and xz are unpacked.
    key : path-like, mapping or None
        Answer key (or what `read_key` made of it). Where it names an instance, it counts instead of the answers in
        the file.
    dtd : path-like or None
        File that declares the entities. None: the ``.dtd`` file that the document names, if it lies in the same folder.
    split : callable
        Cuts text into tokens. The default cuts at white space. Text of the British National Corpus in Senseval-2 has
        punctuation attached to words; pass a tokenizer to cut it off.

    Yields
    ------
    Occurrence
        `target` is the first token of ``<head>``; further tokens of it, further heads and ``<sat>`` elements are the
        `satellites`. The edges of these elements always part tokens. `senses` are as in the key, with the marks ``P``
        (proper name) and ``U`` (unassignable).

    Raises
    ------
    FormatError
        With ``path:line:``, if the XML is broken, an instance has no id or no head or comes twice, an answer names
        another instance than the one around it, an entity is not declared, or the file declares entities itself: no
        entity is taken but plain text of the DTD, and nothing else is opened.

    Notes
    -----
    Memory is bounded but for the ids: one instance at a time, at most 16 MiB each, nesting of at most 100 elements.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> target = pathlib.Path(tempfile.mkdtemp()) / "a.xml"
    >>> _ = target.write_text('<corpus><lexelt item="art.n"><instance id="art.1"><answer instance="art.1" '
    ...     'senseid="art%1:06:00::"/><context>modern <head>art</head> .</context></instance></lexelt></corpus>')
    >>> [(o.word, o.tokens, o.target, o.senses) for o in read_senseval(target)]
    [('art.n', ('modern', 'art', '.'), 1, ('art%1:06:00::',))]
    """
    answers = key if isinstance(key, Mapping) else {} if key is None else read_key(key)
    parser = SensevalParser(path, answers, dtd, split)
    has_any = False
    for chunk in _chunks(path):
        parser.feed(chunk, final=not chunk)
        if parser.finished:
            has_any = True
            yield from parser.finished
            parser.finished.clear()
    if not has_any:
        raise FormatError(path, None, "expected <instance> elements of a Senseval lexical sample, got none.")


def _chunks(path: FilePath) -> Iterator[bytes]:
    """Yield the bytes of a file piece by piece, and nothing at its end."""
    with open_bytes(path) as file:
        chunk = file.read(_CHUNK)
        if not chunk:
            raise FormatError(path, None, "the file is empty.")
        if b"\0" in chunk and chunk[:2] not in (b"\xff\xfe", b"\xfe\xff"):
            raise FormatError(path, None, "expected XML, got a binary file (it holds NUL bytes).")
        while chunk:
            yield chunk
            chunk = file.read(_CHUNK)
    yield b""


def read_key(path: FilePath) -> dict[str, tuple[str, ...]]:
    """Read an answer key: ``word instance sense [sense ...]`` on each line.

    Parameters
    ----------
    path : path-like
        The key; text after ``!!`` is a remark.

    Returns
    -------
    dict of str to tuple of str
        Senses of each instance.

    Raises
    ------
    FormatError
        If a line has fewer than three words, or an instance comes twice.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> target = pathlib.Path(tempfile.mkdtemp()) / "a.key"
    >>> _ = target.write_text("art art.30003 P art%1:04:00::")
    >>> read_key(target)
    {'art.30003': ('P', 'art%1:04:00::')}
    """
    key: dict[str, tuple[str, ...]] = {}
    for number, line in read_lines(path):
        fields = line.partition("!!")[0].split()
        if not fields:
            continue
        if len(fields) < 3:
            raise FormatError(path, number, f"expected a word, an instance and its senses, got {len(fields)} field(s).")
        if fields[1] in key:
            raise FormatError(path, number, f"expected each instance once, got {fields[1][:60]} again.")
        key[fields[1]] = tuple(fields[2:])
    if not key:
        raise FormatError(path, None, "expected a word, an instance and its senses on each line, got only blank lines.")
    return key


def read_sense_map(path: FilePath) -> dict[str, str]:
    """Read a sense map for coarse scoring: ``sense [n parent ...]`` on each line.

    Parameters
    ----------
    path : path-like
        The map.

    Returns
    -------
    dict of str to str
        The coarse sense (the last parent on the line) of every sense that the file names; a sense without parent
        stands for itself. A sense that is listed both with and without parent has the parent.

    Raises
    ------
    FormatError
        If a line has not the form above, or a sense has two different parents.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> target = pathlib.Path(tempfile.mkdtemp()) / "a.map"
    >>> _ = target.write_text("art%1:10:00:: 2 art%1:06:00::")
    >>> read_sense_map(target)
    {'art%1:10:00::': 'art%1:06:00::', 'art%1:06:00::': 'art%1:06:00::'}
    """
    parents: dict[str, str] = {}
    senses: dict[str, None] = {}
    for number, line in read_lines(path):
        fields = line.split()
        if not fields:
            continue
        if len(fields) % 2 == 0 or not all(count.isdigit() for count in fields[1::2]):
            raise FormatError(path, number, f"expected a sense and pairs of a number and a parent, got {shown(line)}.")
        senses.update(dict.fromkeys(fields[::2]))
        if len(fields) > 1 and parents.setdefault(fields[0], fields[-1]) != fields[-1]:
            raise FormatError(path, number, f"expected one parent of {fields[0][:60]}, got {fields[-1][:60]} too.")
    if not senses:
        raise FormatError(path, None, "expected senses and their parents, got only blank lines.")
    return {sense: parents.get(sense, sense) for sense in senses}


def is_senseval(head: Head) -> bool:
    """Tell whether a file starts like XML."""
    return _XML.match(head.text) is not None


FORMAT = Format("senseval", "occurrences", is_senseval, read_senseval)
