"""Tables as people have them: which rows have labels, what each column is, and what is odd about it."""

from __future__ import annotations

from handful.corpora.tables.labels import judge_labels
from handful.corpora.tables.reading import read_table, table_frames, table_of
from handful.corpora.tables.sampling import read_rows
from handful.corpora.tables.suspicions import rare_classes, suspicions
from handful.corpora.tables.usable import left_out
from handful.corpora.tables.writing import without_formulas, write_frames, write_table

__all__ = [
    "judge_labels",
    "left_out",
    "rare_classes",
    "read_rows",
    "read_table",
    "suspicions",
    "table_frames",
    "table_of",
    "without_formulas",
    "write_frames",
    "write_table",
]
