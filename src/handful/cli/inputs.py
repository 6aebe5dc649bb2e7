"""Tables, sentences and models read and written for commands."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

from handful.cli.console import notice, show_notices, verbose
from handful.errors import DataError, MissingColumnError, ModelFileError, ParameterError, counted

if TYPE_CHECKING:
    import polars as pl

    from handful.cli.options import Reading
    from handful.data.files import Source
    from handful.data.table import Table
    from handful.data.text import Cut, TokenStyle
    from handful.errors import Progress


_LARGEST_EXACT = 1e15  # spreadsheets keep 15 digits
_MOST_CLASSES = 8  # named in the first line


def read_labeled_table(data: Path, target: str, reading: Reading, *, max_unlabeled: int, seed: int) -> Table:
    """Read a table with labels of two classes, and print what it contains.

    Parameters
    ----------
    data : Path
        The file.
    target : str
        The label column.
    reading : Reading
        How cells are read.
    max_unlabeled : int
        Most unlabeled rows.
    seed : int
        Seed of their sample.

    Returns
    -------
    Table
        The table, with a sample of its unlabeled rows.
    """
    from handful.data.checks import check_classes

    table = _read(data, target, reading, max_unlabeled, seed)
    check_classes(table.labels, f"column {target!r}")
    _check_columns(data, table)
    _introduce(data, table)
    return table


def _check_columns(data: Path, table: Table) -> None:
    """Refuse a table without columns to learn from."""
    if not table.kinds:
        reasons = " ".join(notice.for_shell() for notice in table.notices if notice.column is not None)
        raise DataError(f"{data}: no column to learn from. {reasons}".strip())


def _introduce(data: Path, table: Table) -> None:
    """Print the size of a table, its classes, and notices."""
    if table.labels is not None:
        labels = table.labels
        counts = Counter(labels.classes[labels.codes[labels.labeled]].tolist()).most_common()
        named = [f"{label}: {n:,}" for label, n in counts[:_MOST_CLASSES]] + ["..."] * (len(counts) > _MOST_CLASSES)
        n_rows = table.n_rows_read or len(table)
        classes = f" ({', '.join(named)})" if named else ""
        notice(f"{data}: {counted(n_rows, 'row')}, {len(labels.labeled):,} labeled{classes}")
    if verbose():
        for kind in dict.fromkeys(table.kinds.values()):
            notice(f"{kind}: {', '.join(name for name, other in table.kinds.items() if other == kind)}")
    show_notices(table.notices)


def read_whole_table(
    data: Path, target: str, reading: Reading, *, add_target: bool = False, needs_features: bool = True
) -> Table:
    """Read all rows of a table, and print what was seen in it.

    Parameters
    ----------
    data : Path
        The file.
    target : str
        The label column.
    reading : Reading
        How cells are read.
    add_target : bool
        Whether a label column that is not there is added, unless its name is near that of another column.
    needs_features : bool
        Whether a table without a column to learn from is refused.

    Returns
    -------
    Table
        Rows in the order of the file.
    """
    import polars as pl

    if not target.strip():
        raise ParameterError("--target: empty. Name the label column.")
    try:
        table = _read(data, target, reading, None, 0)
    except MissingColumnError:
        if not add_target:
            raise
        table = _read(data, None, reading, None, 0)
        names = table.cells.columns
        if get_close_matches(target, names, n=1, cutoff=0.8) or target.lower() in [name.lower() for name in names]:
            raise
        added = table.cells.with_columns(pl.lit(None, dtype=pl.String).alias(target))
        table = replace(table, cells=added, target=target)
    if needs_features:
        _check_columns(data, table)
    _introduce(data, table)
    return table


def _read(data: Path, target: str | None, reading: Reading, max_unlabeled: int | None, seed: int) -> Table:
    from handful.data.table import read_table

    columns = dict(reading.columns or {})
    if target is not None and columns.get(target) == "skip":
        raise ParameterError(f"--columns: {target!r} is the label column, which cannot be skipped.")
    return read_table(
        data,
        target,
        columns=columns,
        missing_labels=reading.missing_labels,
        keep_labels=reading.keep_labels,
        max_unlabeled=max_unlabeled,
        seed=seed,
        decimal=reading.decimal,
        dayfirst=reading.dayfirst,
    )


def read_cells(path: Path) -> pl.DataFrame:
    """Read a whole table as cells, so that it can be written again as it was."""
    import polars as pl

    from handful.data.table import table_frames

    return pl.concat(list(table_frames(path)), how="diagonal_relaxed")


def write_cells(output: Path, frames: Iterable[pl.DataFrame], like: Path | None = None) -> None:
    """Write a table, whole or not at all; a CSV file gets the separator of the file it is made from."""
    import polars as pl

    from handful.data.csv import separator_of, write_delimited
    from handful.data.files import bare_suffix
    from handful.data.tabular import write_frames

    # An empty cell stays empty, without quotes.
    cells = (frame.with_columns(pl.col(pl.String).replace({"": None})) for frame in frames)
    if bare_suffix(output) == ".xlsx":
        rows = pl.concat(list(cells), how="vertical_relaxed")
        has_types = like is not None and bare_suffix(like) in (".xlsx", ".parquet")  # there, text is meant to be text
        write_frames(output, [rows if has_types else _typed(rows)])
    elif bare_suffix(output) == ".csv" and like is not None and bare_suffix(like) == ".csv" and like.is_file():
        write_delimited(output, cells, separator_of(like))
    else:
        write_frames(output, cells)


def _typed(frame: pl.DataFrame) -> pl.DataFrame:
    """Turn text into the numbers that it is, for a workbook."""
    import polars as pl
    import polars.selectors as cs

    from handful.data.columns import infer_columns, read_values

    texts = frame.select(cs.string())
    specs = [spec for spec in infer_columns(texts)[0] if spec.kind == "numeric"]
    values = read_values(texts, specs)
    whole = [values[s.name] for s in specs if values[s.name].count() == texts[s.name].count()]
    exact = [v for v in whole if not (v.abs() >= _LARGEST_EXACT).any()]
    return frame.with_columns(v.cast(pl.Int64) if (v == v.round()).all() else v for v in exact)


def load_tagger(path: Path) -> Any:
    """Load a model that tags sentences.

    Parameters
    ----------
    path : Path
        A file of 'handful fit tagger' or 'handful fit prototypes'.

    Returns
    -------
    tagger
        The model.
    """
    from handful.persistence.model_file import load
    from handful.registry import spec_of

    model = load(path)
    spec = spec_of(type(model))
    if spec is None or spec.task != "sentences":
        raise ModelFileError(f"{path}: not a tagger, but {spec.name if spec else 'a table model'}. Name a tagger.")
    return model


def cut_of(source: Source, given: Cut | None, trained: TokenStyle | None) -> Cut | None:
    """Return where raw text is cut, and tell if the training tokens say other than its own look.

    Parameters
    ----------
    source : Source
        The text.
    given : {"spaces", "words"} or None
        What --tokens says.
    trained : TokenStyle or None
        Of the training tokens, if they are known.

    Returns
    -------
    {"spaces", "words"} or None
        None to decide by the look of the text.
    """
    from handful.data.text import cut_as_trained, cuts_more

    cut = given or cut_as_trained(source, trained)
    if cut != given:
        notice(
            f"{source}: split at whitespace only, like the training tokens (--tokens words also splits punctuation)."
        )
    elif cut is None and trained is not None and cuts_more(source, trained):
        notice(
            f"{source}: split into words and punctuation, but {trained.cut_again:.0%} of the training tokens are not "
            "(--tokens spaces splits at whitespace only)."
        )
    return cut


def fit_text(
    model: Any, path: Path, progress: Progress, *, engine: str | None = None, checkpoint: Path | None = None
) -> None:
    """Fit word clusters or similarity to a file: plain text in parts that workers read, else in one stream.

    Parameters
    ----------
    model : BrownClusters or ContextSimilarity
        The model.
    path : Path
        The text.
    progress : callable
        Called with the progress.
    engine, checkpoint
        See `handful.parallel.map_parts`.
    """
    from handful.data.files import Source
    from handful.data.formats import format_of
    from handful.data.tagged import read_sentences
    from handful.representations.text_stream import text_parts

    source = Source(path)
    if format_of(source).name == "text" and not source.is_compressed and not source.is_stream:
        model.fit_parts(text_parts(path), engine=engine, checkpoint=checkpoint, progress=progress)
    else:
        model.fit(read_sentences(source), engine=engine, checkpoint=checkpoint, progress=progress)
