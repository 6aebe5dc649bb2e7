"""JSON in which no key comes twice and every trouble is a sentence."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from handful.core.errors import FormatError
from handful.corpora.formats.shown import shown
from handful.corpora.opening import FilePath


def parse_json(path: FilePath, line: int | None, text: str) -> Any:
    """Parse JSON text.

    Parameters
    ----------
    path : path-like
        Where the text came from, for messages.
    line : int or None
        Line that the text stands on, if it is a single line.
    text : str
        The text.

    Returns
    -------
    object
        What it holds.

    Raises
    ------
    FormatError
        If it is no JSON, too deep, or a key comes twice in one object.

    Examples
    --------
    >>> parse_json("a.json", None, '{"NN": ["year"]}')
    {'NN': ['year']}
    """

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        content = dict(pairs)
        if len(content) < len(pairs):
            twice, _ = Counter(key for key, _ in pairs).most_common(1)[0]
            raise FormatError(path, line, f"expected each key once, got {shown(twice)} again.")
        return content

    try:
        content = json.loads(text, object_pairs_hook=once)
        if "\\u" in text:
            json.dumps(content, ensure_ascii=False).encode()
        return content
    except json.JSONDecodeError as error:
        message = f"expected JSON, got an error at column {error.colno}: {error.msg}."
        raise FormatError(path, line or error.lineno, message) from None
    except UnicodeEncodeError:
        raise FormatError(
            path, line, "expected whole characters, got half of a surrogate pair (\\ud800 to \\udfff)."
        ) from None
    except (RecursionError, ValueError) as error:
        if isinstance(error, FormatError):
            raise
        raise FormatError(path, line, "expected JSON, got lists too deep or a number too long.") from None
