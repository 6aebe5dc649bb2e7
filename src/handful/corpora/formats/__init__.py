"""Readers and writers: bytes to records and back."""

from __future__ import annotations

from handful.corpora.formats.clusters import read_clusters
from handful.corpora.formats.conll import read_conll, write_conll
from handful.corpora.formats.conllu import read_conllu, write_conllu
from handful.corpora.formats.detection import detect
from handful.corpora.formats.iob import convert, detect_scheme, from_spans, spans, to_iob2
from handful.corpora.formats.plain import read_text, write_text
from handful.corpora.formats.prototypes import read_prototypes, write_prototypes
from handful.corpora.formats.senseval import read_key, read_sense_map, read_senseval
from handful.corpora.formats.tables import read_table, write_table

__all__ = [
    "convert",
    "detect",
    "detect_scheme",
    "from_spans",
    "read_clusters",
    "read_conll",
    "read_conllu",
    "read_key",
    "read_prototypes",
    "read_sense_map",
    "read_senseval",
    "read_table",
    "read_text",
    "spans",
    "to_iob2",
    "write_conll",
    "write_conllu",
    "write_prototypes",
    "write_table",
    "write_text",
]
