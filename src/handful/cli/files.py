"""Files that commands read and write: tables, sentences, models; one check of every output; default names."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

from handful.cli import console as ui
from handful.errors import DataError, FileError, MissingColumnError, ModelFileError, ParameterError, counted

if TYPE_CHECKING:
    import polars as pl

    from handful.cli import options as opt
    from handful.data.files import Source
    from handful.data.records import Sentence
    from handful.data.table import Table
    from handful.data.text import Cut, TokenStyle
    from handful.errors import Progress

TABLES = (".csv", ".tsv", ".jsonl", ".ndjson", ".parquet", ".xlsx")
_LARGEST_EXACT = 1e15  # spreadsheets keep 15 digits
_MOST_CLASSES = 8  # named in the first line
_LONGEST_CLASS = 40  # characters of a name there


# -- input ------------------------------------------------------------------------------------------------------------


def read_data(
    data: Path,
    target: str,
    reading: opt.Reading,
    *,
    max_unlabeled: int | None = None,
    seed: int = 0,
    needs_classes: bool = False,
    needs_features: bool = True,
    add_target: bool = False,
) -> Table:
    """Read a table, and print its size, its classes, and notices.

    Parameters
    ----------
    data : Path
        The file.
    target : str
        The label column.
    reading : opt.Reading
        How cells are read.
    max_unlabeled, seed : int
        Most unlabeled rows, and the seed of their sample; None reads all rows.
    needs_classes : bool
        Whether labels of fewer than two classes are refused.
    needs_features : bool
        Whether a table without a column to learn from is refused.
    add_target : bool
        Whether a label column that is not there is added, unless its name is near that of another column.

    Returns
    -------
    Table
        Rows in the order of the file.
    """
    from handful.data.checks import check_classes
    from handful.data.table import read_table

    if not target.strip():
        raise ParameterError("--target: empty. Name the label column.")
    columns = dict(reading.columns or {})
    if columns.get(target) == "skip":
        raise ParameterError(f"--columns: {target!r} is the label column, which cannot be skipped.")
    options = {**vars(reading), "columns": columns, "max_unlabeled": max_unlabeled, "seed": seed}
    try:
        table = read_table(data, target, **options)
    except MissingColumnError:
        if not add_target:
            _refuse_tagged(data)
            raise
        table = _with_target(read_table(data, None, **options), target)
        if table.target is None:
            raise
    if needs_classes:
        check_classes(table.labels, f"column {target!r}")
    if needs_features and not table.kinds:
        reasons = "; ".join(item.for_shell().rstrip(".") for item in table.notices if item.column is not None)
        raise DataError(f"{data}: no column to learn from. {reasons}".strip())
    _introduce(data, table)
    return table


def _refuse_tagged(data: Path) -> None:
    """Refuse tagged sentences, where a table has no column of the name that was given."""
    from handful.data.formats import format_of

    if format_of(data).yields in ("sentences", "trees"):
        raise DataError(f"{data}: tagged sentences, not a table. Use: handful fit tagger {ui.shell_name(data)}")


def _with_target(table: Table, target: str) -> Table:
    """Return a table with an empty label column; unchanged if another column has a similar name."""
    import polars as pl

    names = table.cells.columns
    if get_close_matches(target, names, n=1, cutoff=0.8) or target.lower() in [name.lower() for name in names]:
        return table
    return replace(table, cells=table.cells.with_columns(pl.lit(None, dtype=pl.String).alias(target)), target=target)


def _introduce(data: Path, table: Table) -> None:
    if (labels := table.labels) is not None:
        counts = Counter(map(str, labels.classes[labels.codes[labels.labeled]])).most_common()
        shown = [(label if len(label) <= _LONGEST_CLASS else f"{label[:_LONGEST_CLASS]}...", n) for label, n in counts]
        named = [f"{label}: {n:,}" for label, n in shown[:_MOST_CLASSES]]
        named += ["..."] * (len(counts) > _MOST_CLASSES)
        classes = f" ({', '.join(named)})" if named else ""
        n_rows = counted(table.n_rows_read or len(table), "row")
        ui.notice(f"{data}: {n_rows}, {len(labels.labeled):,} labeled{classes}")
    if ui.verbose():
        for kind in dict.fromkeys(table.kinds.values()):
            ui.notice(f"{kind}: {', '.join(name for name, other in table.kinds.items() if other == kind)}")
    ui.show_notices(table.notices)


def read_cells(path: Path) -> pl.DataFrame:
    """Read a whole table as cells, so that it can be written again as it was."""
    import polars as pl

    from handful.data.table import table_frames

    return pl.concat(list(table_frames(path)), how="diagonal_relaxed")


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
        ui.notice(
            f"{source}: split at whitespace only, like the training tokens (--tokens words also splits punctuation)."
        )
    elif cut is None and trained is not None and cuts_more(source, trained):
        ui.notice(
            f"{source}: split into words and punctuation, but {trained.cut_again:.0%} of the training tokens are not "
            "(--tokens spaces splits at whitespace only)."
        )
    return cut


def read_text(path: Path, style: TokenStyle | None, given: Cut | None = None) -> Iterator[Sentence]:
    """Read raw sentences, split as the training tokens are or as --tokens says."""
    from handful.data.files import Source
    from handful.data.tagged import read_sentences

    source = Source(path)
    return read_sentences(source, cut_of(source, given, style), () if style is None else style.abbreviations)


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


# -- output ------------------------------------------------------------------------------------------------------------


def check_outputs(*outputs: Path | None, inputs: Iterable[Path | None] = (), force: bool = False) -> None:
    """Refuse, before any work, outputs that cannot be written, are inputs, or exist without ``--force``.

    Parameters
    ----------
    *outputs : Path or None
        Every file that the command writes.
    inputs : iterable of Path or None
        Every file that it reads; these are never replaced.
    force : bool
        Whether files that exist may be replaced.

    Raises
    ------
    ParameterError
        If an output is an input, or two outputs are one file.
    FileError
        If an output exists or cannot be written.
    """
    others = [path for path in inputs if path is not None]
    for output in outputs:
        if output is None:
            continue
        for other in others:
            if _is_same(output, other):
                raise ParameterError(f"{output}: must not replace {other}, which this command uses. Name another file.")
        _check_output(output, force=force)
        others.append(output)


def _is_same(one: Path, other: Path) -> bool:
    if os.path.realpath(one) == os.path.realpath(other):
        return True
    return one.exists() and other.exists() and one.samefile(other)


def _check_output(output: Path, *, force: bool) -> None:
    target = Path(os.path.abspath(output))
    if target.is_dir() or (target.exists() and not target.is_file()):
        raise FileError(f"{output}: not a regular file. Name a file to write to.")
    if not target.parent.is_dir():
        raise FileError(f"{output}: no folder {output.parent}. Make it first.")
    if not os.access(target.parent, os.W_OK):
        raise FileError(f"{output}: the folder {output.parent} is not writable. Name another file.")
    if target.exists() and not force:
        raise FileError(f"{output}: exists already. Add --force to replace it, or name another file.")


def model_path(run: opt.Run, data: Path) -> Path:
    """Return where a model goes: the file that -o names, or one next to the data.

    Examples
    --------
    >>> from handful.cli import options as opt
    >>> model_path(opt.Run(), Path("corpus/train.tsv.gz")).as_posix()
    'corpus/train.handful'
    >>> model_path(opt.Run(), Path("sales.2023.csv")).as_posix()
    'sales.2023.handful'
    >>> model_path(opt.Run(), Path("-")).as_posix()
    'stdin.handful'
    """
    from handful.data.files import bare_stem, first_chunk

    if run.output is not None:
        return run.output
    where = data.parent / f"{'stdin' if str(data) == '-' else bare_stem(data)}.handful"
    if where == data and data.is_file():
        with open(data, "rb") as file:
            first_chunk(data, file)  # says that it is a model
    return where


def training_state(run: opt.Run) -> Path | None:
    """Return the file in the folder of ``--resume`` that training goes on from; the folder is made."""
    if run.resume is None:
        return None
    try:
        run.resume.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"{run.resume}: cannot be a folder ({error.strerror}). Name another one.") from None
    return run.resume / "training.state"


def check_table_name(output: Path | None) -> None:
    """Refuse the name of an output that no kind of table has."""
    from handful.data.files import bare_suffix

    if output is not None and bare_suffix(output) not in TABLES:
        raise ParameterError(f"{output}: not the name of a table. Use .csv, .tsv, .jsonl, .parquet or .xlsx.")


def write_rows(output: Path, frames: Iterable[pl.DataFrame], like: Path | None = None) -> None:
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
