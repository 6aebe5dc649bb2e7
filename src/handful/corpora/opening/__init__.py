"""Bytes and lines of a file: packed or plain, always bounded, each kind of trouble with its own sentence."""

from __future__ import annotations

from handful.corpora.opening.lines import (
    MAX_LINE,
    MAX_LINES,
    decoded,
    first_chunk,
    read_lines,
    read_whole,
    refuse_lone_returns,
)
from handful.corpora.opening.packing import FilePath, bare_suffix
from handful.corpora.opening.source import Source, as_source, open_bytes
from handful.corpora.opening.writing import refuse_mark, write_bytes, write_text_file

__all__ = [
    "MAX_LINE",
    "MAX_LINES",
    "FilePath",
    "Source",
    "as_source",
    "bare_suffix",
    "decoded",
    "first_chunk",
    "open_bytes",
    "read_lines",
    "read_whole",
    "refuse_lone_returns",
    "refuse_mark",
    "write_bytes",
    "write_text_file",
]
