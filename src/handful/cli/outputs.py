"""Where commands write: one check of every output, default names, and tables written back."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from handful.errors import FileError, ParameterError

if TYPE_CHECKING:
    import polars as pl

    from handful.cli.options import Run

_TABLES = (".csv", ".tsv", ".jsonl", ".ndjson", ".parquet", ".xlsx")


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


def model_path(run: Run, data: Path) -> Path:
    """Return where a model goes: the file that -o names, or one next to the data.

    Examples
    --------
    >>> from handful.cli.options import Run
    >>> model_path(Run(), Path("corpus/train.tsv.gz")).as_posix()
    'corpus/train.handful'
    >>> model_path(Run(), Path("sales.2023.csv")).as_posix()
    'sales.2023.handful'
    >>> model_path(Run(), Path("-")).as_posix()
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


def training_state(run: Run) -> Path | None:
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

    if output is not None and bare_suffix(output) not in _TABLES:
        raise ParameterError(f"{output}: not the name of a table. Use .csv, .tsv, .jsonl, .parquet or .xlsx.")


def write_rows(output: Path, frames: Iterable[pl.DataFrame], like: Path | None = None) -> None:
    """Write a table, whole or not at all; CSV has the separator of the file that it is made from."""
    from handful.cli.inputs import write_cells

    write_cells(output, frames, like)
