"""A table read for a command, with what people should know about it told."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from handful.cli.console import console
from handful.core.counted import counted
from handful.core.errors import ParameterError

if TYPE_CHECKING:
    from handful.experiment.problem import Problem


def refuse_skipped_target(columns: dict[str, str] | None, target: str) -> None:
    """Refuse to leave out the column of labels."""
    if (columns or {}).get(target) == "skip":
        raise ParameterError(f"--columns: the column of labels cannot be skipped, got {target}=skip.")


def read_table_problem(data: Path, given: dict[str, Any]) -> Problem:
    """Read a table and tell what was seen in it.

    Parameters
    ----------
    data : Path
        The file.
    given : dict of str to value
        Options of the command: ``target``, those of `handful.cli.options.table_options`, and ``labels`` where the command
        can hide labels.

    Returns
    -------
    Problem
        The table.
    """
    from handful.experiment.problem import read_problem
    from handful.features.tables import scale_of

    refuse_skipped_target(given["columns"], given["target"])
    problem = read_problem(
        data,
        given["target"],
        columns=given["columns"],
        unlabeled_marks=[] if given["unlabeled_mark"] is None else [given["unlabeled_mark"]],
        keep_labels=given["keep_label"],
        complete=given.get("labels") is not None,
        max_unlabeled=given["unlabeled_rows"],
        seed=given["seed"],
    )
    kinds: dict[str, list[str]] = {kind: [] for kind in ("numeric", "nominal", "scale", "text")}
    for name, kind in problem.kinds.items():
        on_scale = kind == "nominal" and scale_of(problem.frame[name]) is not None
        kinds["scale" if on_scale else kind].append(name)
    told = "; ".join(f"{len(names)} {kind} ({_some(names)})" for kind, names in kinds.items() if names)
    notes = console(stderr=True)
    notes.print(
        f"{problem.name}: {counted(problem.n_rows_read, 'row')}, {len(problem.labeled):,} with a label, "
        f"{counted(len(problem.classes), 'class')}. Columns: {told}.",
        markup=False,
    )
    for note in problem.notes:
        notes.print(note, style="dim", markup=False)
    return problem


def _some(names: list[str]) -> str:
    return ", ".join(names[:5]) + (", ..." if len(names) > 5 else "")
