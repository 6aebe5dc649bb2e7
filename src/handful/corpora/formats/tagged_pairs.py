"""Lists of pairs of a token and its tag, as NLTK has tagged sentences, in JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

from handful.core.errors import FormatError
from handful.core.records import Sentence
from handful.corpora.formats.format import Format, Head
from handful.corpora.formats.json_objects import LARGEST_ARRAY
from handful.corpora.formats.sharing import Sharing
from handful.corpora.formats.shown import shown
from handful.corpora.formats.strict_json import parse_json
from handful.corpora.opening import FilePath, as_source, read_lines, read_whole, write_text_file

_STRING = r'"(?:[^"\\]|\\.)+"'
_START = re.compile(rf"\s*\[\s*(?P<array>\[\s*)?\[\s*{_STRING}\s*,\s*{_STRING}\s*\]")


def read_tagged_pairs(path: FilePath) -> Iterator[Sentence]:
    r"""Read sentences that are lists of pairs.

    Parameters
    ----------
    path : path-like
        ``[["Rome", "NNP"], ["fell", "VBD"]]``, one sentence a line, or an array of such lists.

    Yields
    ------
    Sentence
        With the column ``tag``.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> target = pathlib.Path(tempfile.mkdtemp()) / "a.json"
    >>> _ = target.write_text('[[["Rome", "NNP"], ["fell", "VBD"]], [["Why", "WRB"]]]')
    >>> [(s.tokens, s["tag"]) for s in read_tagged_pairs(target)]
    [(('Rome', 'fell'), ('NNP', 'VBD')), (('Why',), ('WRB',))]
    """
    source = as_source(path)
    share = Sharing()
    for number, pairs in _lists(source):
        if not isinstance(pairs, list) or not pairs:
            raise FormatError(source, number, f"expected a list of pairs of a token and its tag, got {shown(pairs)}.")
        bad = next((pair for pair in pairs if not _is_pair(pair)), None)
        if bad is not None:
            raise FormatError(source, number, f"expected a token and its tag, two filled strings, got {shown(bad)}.")
        tokens, tags = zip(*pairs, strict=True)
        yield Sentence(share(tokens), {"tag": share(tags)})


def _lists(source: Any) -> Iterator[tuple[int | None, Any]]:
    start = _START.match(Head.of(source).text)
    if start is None or start["array"]:
        whole = parse_json(source, None, read_whole(source, LARGEST_ARRAY))
        yield from ((None, pairs) for pairs in (whole if isinstance(whole, list) else [whole]))
    else:
        yield from ((n, parse_json(source, n, line)) for n, line in read_lines(source) if line.strip())


def _is_pair(pair: Any) -> bool:
    return isinstance(pair, list) and len(pair) == 2 and all(isinstance(part, str) and part for part in pair)


def write_tagged_pairs(path: FilePath, sentences: Iterable[Sentence]) -> None:
    """Write tagged sentences, one list of pairs a line.

    Parameters
    ----------
    path : path-like
        Where the file goes.
    sentences : iterable of Sentence
        With a column ``tag``.
    """
    with write_text_file(path) as file:
        for sentence in sentences:
            pairs = list(zip(sentence.tokens, sentence["tag"], strict=True))
            file.write(json.dumps(pairs, ensure_ascii=False) + "\n")


def is_tagged_pairs(head: Head) -> bool:
    r"""Tell lists that start with a pair of strings.

    Examples
    --------
    >>> is_tagged_pairs(Head(b'[["Rome", "NNP"], ["fell", "VBD"]]\n')), is_tagged_pairs(Head(b'[["a", 1]]'))
    (True, False)
    """
    return _START.match(head.text) is not None


FORMAT = Format("tagged-pairs", "sentences", is_tagged_pairs, read_tagged_pairs, write_tagged_pairs)
