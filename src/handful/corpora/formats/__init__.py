"""Readers and writers: bytes to records and back, one file for each format."""

from __future__ import annotations

from typing import Any

from handful.corpora.formats.clusters import read_clusters
from handful.corpora.formats.conll import read_conll, write_conll
from handful.corpora.formats.conllu import read_conllu, write_conllu
from handful.corpora.formats.detection import all_formats, detect, format_for, format_named, format_of
from handful.corpora.formats.format import Format, Head
from handful.corpora.formats.iob import convert, detect_scheme, from_spans, spans, to_iob2
from handful.corpora.formats.plain import read_text, write_text
from handful.corpora.formats.prototypes import read_prototypes, write_prototypes
from handful.corpora.formats.senseval import read_key, read_sense_map, read_senseval

__all__ = [
    "Format",
    "Head",
    "all_formats",
    "convert",
    "detect",
    "detect_scheme",
    "format_for",
    "format_named",
    "format_of",
    "from_spans",
    "read_clusters",
    "read_conll",
    "read_conllu",
    "read_key",
    "read_prototypes",
    "read_sense_map",
    "read_senseval",
    "read_text",
    "spans",
    "to_iob2",
    "write_conll",
    "write_conllu",
    "write_prototypes",
    "write_text",
]


def __getattr__(name: str) -> Any:
    # Tables are read by a room above the formats, which is loaded when it is asked for.
    if name in ("read_table", "write_table"):
        from handful.corpora import tables

        return getattr(tables, name)
    raise AttributeError(f"module 'handful.corpora.formats' has no attribute {name!r}")
