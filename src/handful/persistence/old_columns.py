"""Columns of tables in model files of versions before 0.3."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from handful.data.columns import TIME_OF_DAY
from handful.errors import DataError

if TYPE_CHECKING:
    import polars as pl

_DATES = {"date": "%m-%d-%Y", "day first": "%d-%m-%Y", "time": TIME_OF_DAY}
_HEIGHT = 0.5


def upgraded(name: str, column: Mapping[str, Any]) -> dict[str, Any]:
    """Return what was learned about a column in the terms of this version.

    Raises
    ------
    DataError
        If its numbers have units or are ranges, which are not read any more.
    """
    column = dict(column)
    if column["kind"] == "nominal":
        column["kind"] = "categorical"
    form = column.pop("form", "plain")
    column.pop("unit", None)
    if form in _DATES:
        part = "hour" if form == "time" else "elapsed"
        scales = {"centers": np.array([column["center"]]), "scales": np.array([column["scale"]])}
        return {"kind": "datetime", "date_format": _DATES[form], "parts": [part], **scales}
    if form == "decimal comma":
        column["decimal"] = ","
    elif form not in ("plain", "amount"):
        raise DataError(
            f"column {name!r} holds numbers with units or ranges, which are not read any more. Train the model again."
        )
    return column


def places_on_scale(cells: pl.Series, column: Mapping[str, Any]) -> np.ndarray:
    """Return the place of each answer on a scale such as never, sometimes, often; the mean where it has none."""
    spelled = {answer: place for place, step in enumerate(column["steps"]) for answer in step.split("|")}
    answers = [
        None if cell is None else " ".join(cell.lower().replace("-", " ").replace("_", " ").split()) for cell in cells
    ]
    places = np.array([spelled.get(answer, column["center"]) for answer in answers], dtype=np.float64)
    return np.asarray(_HEIGHT * (places[:, None] - column["center"]) / column["scale"])
