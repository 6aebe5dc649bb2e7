"""Files that a labeled table leaves behind: labels, predictions, model and report, each whole or not at all."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from handful.core.errors import DataError
from handful.studio.contest import Contest, table_problem
from handful.studio.desk import Desk
from handful.studio.table_desk import TableDesk

if TYPE_CHECKING:
    from handful.methods.table_model import TableModel

_QUICK = "team"  # what is fitted where nothing was compared


def export_table(desk: TableDesk, contest: Contest, what: str) -> list[Path]:
    """Write a file beside the data; the data itself stays as it is.

    Parameters
    ----------
    desk : TableDesk
        The table.
    contest : Contest
        Its comparison, whose winner predicts; without one a team of quick methods does.
    what : {"labels", "predictions", "model", "report"}
        What to write.

    Returns
    -------
    list of Path
        The files.
    """
    from handful.methods import save

    ending = {"labels": "labels.csv", "predictions": "predictions.csv", "model": "handful", "report": "report.html"}
    if what not in ending:
        raise DataError(f"studio: labels, predictions, model or report can be exported, got {what!r}.")
    target = export_path(desk, ending[what])
    if what == "labels":
        _write(target, _labels(desk))
    elif what == "report":
        if contest.result is None:
            raise DataError("studio: the report tells of a comparison. Start one first.")
        contest.result.to_html(target)
    else:
        model = _model(desk, contest)
        if what == "model":
            save(model, target)
        else:
            _write(target, _predictions(desk, model))
    return [target]


def export_path(desk: Desk, ending: str) -> Path:
    """Return where an export goes: beside the data, under its name with another ending, and never onto it."""
    stem = desk.name.partition(".")[0] or desk.name
    name = f"{stem}.{ending}"
    return desk.folder / (name if name != desk.name else f"{desk.name}.{ending}")


def _model(desk: TableDesk, contest: Contest) -> TableModel:
    from handful.experiment.fitting import fit_model

    if len(set(desk.labels.values())) < 2:
        raise DataError("studio: a model needs labels of two classes at least. Label some rows first.")
    method = contest.result.best if contest.result is not None else _QUICK
    return fit_model(table_problem(desk), method, seed=desk.seed)


def _labels(desk: TableDesk) -> Any:
    import polars as pl

    with desk.lock:
        labels, marks = dict(desk.labels), dict(desk.state["marks"])
    column = pl.Series(desk.target, [labels.get(row) for row in range(desk.n_items)], dtype=pl.String)
    frame = desk.cells.with_columns(column)
    if not marks:
        return frame
    told = [marks.get(str(row)) for row in range(desk.n_items)]
    return frame.with_columns(pl.Series("studio mark", told, dtype=pl.String))


def _predictions(desk: TableDesk, model: TableModel) -> Any:
    import polars as pl

    shares = model.predict_proba(desk.frame)
    best = shares.argmax(axis=1)
    return _labels(desk).with_columns(
        pl.Series("prediction", [str(model.classes_[code]) for code in best], dtype=pl.String),
        pl.Series("confidence", shares.max(axis=1)).round(4),
    )


def _write(target: Path, frame: Any) -> None:
    from handful.corpora.tables.writing import write_frames

    write_frames(target, [frame])
