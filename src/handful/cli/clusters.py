"""``handful clusters``: word clusters from raw text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from handful.cli.console import emit_json, progress_bar, say
from handful.cli.options import Run, check_output, run_options
from handful.cli.parameters import parameters_of
from handful.cli.sentences import fit_text
from handful.core.counted import counted
from handful.representations import BrownClusters


@click.command("clusters")
@click.argument("text", type=click.Path(path_type=Path))
@parameters_of(BrownClusters, aliases={"n_clusters": "--n"})
@run_options(
    "jobs",
    "engine",
    "checkpoint",
    "as_json",
    output={"help": "File for 'path TAB word TAB count'; by default beside the text, with the ending .paths."},
)
def command(text: Path, settings: dict[str, Any], run: Run) -> None:
    """Cluster the words of TEXT by the words they stand beside (Brown et al. 1992).

    TEXT has one sentence per line, or columns; it may be packed. Plain text of any size is counted in bounded memory.
    """
    target = run.output or text.parent / f"{text.name}.paths"
    check_output(target, text)
    model = BrownClusters(**settings, n_jobs=run.jobs)
    with progress_bar() as progress:
        fit_text(model, text, progress, engine=run.engine, checkpoint=run.checkpoint)
    model.save(target)
    if run.as_json:
        emit_json(
            {
                "clusters": model.n_clusters_,
                "words": len(model.paths_),
                "mutual_information": model.mutual_information_,
                "output": str(target),
            }
        )
        return
    say(
        f"{counted(len(model.paths_), 'word')} in {counted(model.n_clusters_, 'cluster')}, "
        f"mutual information {model.mutual_information_:.4f} bits, written to {target}"
    )
