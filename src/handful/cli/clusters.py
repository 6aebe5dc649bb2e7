"""``handful clusters``: word clusters from raw text."""

from __future__ import annotations

from pathlib import Path

import click

from handful.cli.console import console, emit_json, progress_bar
from handful.cli.options import check_output, checkpoint_option, engine_options
from handful.cli.sentences import fit_text


@click.command("clusters")
@click.argument("text", type=click.Path(path_type=Path))
@click.option("--n", "n_clusters", type=click.IntRange(min=1), default=1000, show_default=True, help="Clusters.")
@click.option("--min-count", type=click.IntRange(min=1), default=1, show_default=True, help="Leave out rarer words.")
@click.option(
    "--output",
    "-o",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Where to write 'path TAB word TAB count'; by default beside the text, with the ending .paths.",
)
@engine_options
@checkpoint_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON on stdout.")
def command(
    text: Path,
    n_clusters: int,
    min_count: int,
    output: Path | None,
    jobs: int,
    engine: str | None,
    checkpoint: Path | None,
    as_json: bool,
) -> None:
    """Cluster the words of TEXT by the words they stand beside (Brown et al. 1992).

    TEXT has one sentence a line, or columns; it may be packed. Plain text of any size is counted in bounded memory.
    """
    from handful.representations import BrownClusters

    target = output or text.with_name(f"{text.name}.paths")
    check_output(target, text)
    model = BrownClusters(n_clusters, min_count, n_jobs=jobs)
    with progress_bar() as progress:
        fit_text(model, text, progress, engine=engine, checkpoint=checkpoint)
    model.save(target)
    if as_json:
        emit_json(
            {
                "clusters": model.n_clusters_,
                "words": len(model.paths_),
                "mutual_information": model.mutual_information_,
                "output": str(target),
            }
        )
        return
    console().print(
        f"{len(model.paths_):,} words in {model.n_clusters_:,} clusters, "
        f"mutual information {model.mutual_information_:.4f} bits, written to {target}",
        markup=False,
    )
