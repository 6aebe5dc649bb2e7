"""``handful fit parser``: a dependency parser from trees."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from handful.cli.console import console, emit_json, progress_bar, say
from handful.cli.earlier_model import check_earlier
from handful.cli.options import (
    Run,
    check_output,
    command_line,
    dev_scores,
    model_file,
    run_options,
    shell_name,
    training_state,
)
from handful.cli.parameters import parameters_of
from handful.core.counted import counted
from handful.parsing import DependencyParser


@click.command("parser")
@click.argument("data", type=click.Path(path_type=Path))
@click.option("--dev", type=click.Path(path_type=Path), help="Trees to be scored on.")
@click.option("--clusters", type=click.Path(path_type=Path), help="Word clusters: path TAB word TAB count.")
@parameters_of(DependencyParser, defaults={"order": 2}, aliases={"max_iter": "--iterations", "tags": "--tag"})
@run_options("model", "checkpoint", "seed", "as_json", jobs={"default": -1})
@click.pass_context
def command(
    ctx: click.Context, data: Path, dev: Path | None, clusters: Path | None, settings: dict[str, Any], run: Run
) -> None:
    """Fit a dependency parser to the trees of DATA, a CoNLL-U file with tags."""
    from handful.core.version import __version__
    from handful.corpora.formats import read_clusters
    from handful.corpora.treebank import read_treebank
    from handful.methods import save
    from handful.parsing.inputs import choose_columns

    target = model_file(run, data)
    check_output(target, data, dev, clusters, run.checkpoint)
    replaced = check_earlier(target, "trees")
    state = training_state(run)
    trees = read_treebank(data)
    columns = choose_columns([tree.sentence for tree in trees], settings["tags"])
    dev_trees = None if dev is None else read_treebank(dev, columns)
    paths = None if clusters is None else {row.word: row.path for row in read_clusters(clusters)}
    parser = DependencyParser(**settings, clusters=paths, n_jobs=run.jobs, random_state=run.seed)
    with progress_bar() as progress:
        parser.fit(trees, progress=progress, checkpoint=state)
    scores = {} if dev_trees is None else parser.score(dev_trees).as_dict()
    parser.training_ = {
        "data": data.name,
        "sentences": len(trees),
        "tags": " and ".join(parser.columns_),
        "command": command_line(ctx),
        "handful": __version__,
        **dev_scores(scores),
    }
    save(parser, target)
    if replaced:
        say(replaced, stderr=True)
    _tell_lifted(parser)
    if run.as_json:
        emit_json(
            {
                "model": str(target),
                "sentences": len(trees),
                "features": int(parser.n_active_),
                "lifted": int(parser.n_lifted_),
                "dev": scores,
                "bytes": target.stat().st_size,
            }
        )
    else:
        _show(parser, len(trees), scores, target)


def _tell_lifted(parser: DependencyParser) -> None:
    if parser.n_lifted_:
        crossing = "may not cross, and" if parser.projective else "may cross, but"
        console(stderr=True).print(
            f"Words of the trees that were hung elsewhere for training: {parser.n_lifted_:,} (arcs "
            f"{crossing} one word alone hangs from the root).",
            style="dim",
            soft_wrap=True,
        )


def _show(parser: DependencyParser, n_trees: int, scores: dict[str, float], target: Path) -> None:
    from handful.reports import words

    out = console()
    dev = "".join(f", {name} {words.percent(value)}" for name, value in scores.items())
    size = words.size(target.stat().st_size)
    out.print(
        f"{counted(n_trees, 'tree')}, {counted(parser.n_active_, 'feature')}{dev}: {target} ({size})",
        markup=False,
        soft_wrap=True,
    )
    columns = " and ".join(parser.columns_)
    out.print(
        f"Next: handful predict {shell_name(target)} TAGGED.conllu -o PARSED.conllu, with tags in {columns}",
        markup=False,
        soft_wrap=True,
    )
