"""``handful fit parser``: a dependency parser from trees."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import click

from handful.cli.console import console, emit_json, progress_bar
from handful.cli.options import check_output, command_line


@click.command("parser")
@click.argument("data", type=click.Path(path_type=Path))
@click.option("--dev", type=click.Path(path_type=Path), help="Trees to be scored on.")
@click.option("--order", type=click.IntRange(1, 2), default=2, show_default=True, help="1 scores arcs, 2 pairs too.")
@click.option(
    "--algorithm",
    type=click.Choice(["pa", "fobos", "lbfgs"]),
    default="pa",
    show_default=True,
    help="fobos makes it smaller, lbfgs maximizes the likelihood.",
)
@click.option(
    "--strength", type=click.FloatRange(min=0, min_open=True), default=1.0, show_default=True, help="Of the penalty."
)
@click.option(
    "--rate", type=click.FloatRange(min=0, min_open=True), default=0.1, show_default=True, help="First steps of fobos."
)
@click.option("--iterations", type=click.IntRange(min=1), help="Passes over the trees at most.")
@click.option("--clusters", type=click.Path(path_type=Path), help="Word clusters: path TAB word TAB count.")
@click.option(
    "--tag",
    type=click.Choice(["xpos", "upos"]),
    help="The only column of tags to read; both where both are filled by default.",
)
@click.option(
    "--templates",
    type=click.Choice(["wide", "plain"]),
    default="wide",
    show_default=True,
    help="plain: fewer features, a little faster.",
)
@click.option(
    "--rehang/--no-rehang",
    default=True,
    show_default=True,
    help="Whether punctuation marks are hung anew when the tree of the other words is known.",
)
@click.option("--crossing", is_flag=True, help="Let arcs cross; needs --order 1.")
@click.option("--model", type=click.Path(path_type=Path, dir_okay=False), help="Where to save it.")
@click.option("--checkpoint", type=click.Path(path_type=Path, dir_okay=False), help="File to go on from if stopped.")
@click.option("--jobs", type=int, default=-1, show_default=True, help="Threads; -1 uses every core.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON on stdout.")
@click.pass_context
def command(
    ctx: click.Context,
    data: Path,
    dev: Path | None,
    order: int,
    algorithm: str,
    strength: float,
    rate: float,
    iterations: int | None,
    clusters: Path | None,
    tag: Literal["xpos", "upos"] | None,
    templates: Literal["wide", "plain"],
    rehang: bool,
    crossing: bool,
    model: Path | None,
    checkpoint: Path | None,
    jobs: int,
    as_json: bool,
) -> None:
    """Fit a dependency parser to the trees of DATA, a CoNLL-U file with tags."""
    if crossing and order == 2:
        raise click.UsageError("--crossing needs --order 1.")
    from handful.core.version import __version__
    from handful.corpora.formats import read_clusters
    from handful.corpora.treebank import read_treebank
    from handful.methods import save
    from handful.parsing import DependencyParser
    from handful.parsing.inputs import choose_columns

    name = data.name.removesuffix(".gz").removesuffix(".conllu")
    where = model if model is not None else data.with_name(f"{name}.handful")
    check_output(where, data, dev, clusters, checkpoint)
    check_output(checkpoint, data, dev, clusters)
    trees = read_treebank(data)
    held = None if dev is None else read_treebank(dev, choose_columns([tree.sentence for tree in trees], tag))
    paths = None if clusters is None else {row.word: row.path for row in read_clusters(clusters)}
    parser = DependencyParser(
        order,  # type: ignore[arg-type]
        algorithm,  # type: ignore[arg-type]
        strength=strength,
        rate=rate,
        max_iter=iterations,
        clusters=paths,
        templates=templates,
        rehang=rehang,
        projective=not crossing,
        tags=tag,
        n_jobs=jobs,
    )
    with progress_bar() as progress:
        parser.fit(trees, progress=progress, checkpoint=checkpoint)
    scores = {} if held is None else parser.score(held).as_dict()
    parser.training_ = {
        "data": data.name,
        "sentences": len(trees),
        "tags": " and ".join(parser.columns_),
        "command": command_line(ctx),
        "handful": __version__,
        **{f"dev {name}": value for name, value in scores.items()},
    }
    save(parser, where)
    if parser.n_lifted_:
        console(stderr=True).print(
            f"Words of the trees that were hung elsewhere for training: {parser.n_lifted_:,} (arcs "
            f"{'may cross, but' if crossing else 'may not cross, and'} one word alone hangs from the root).",
            style="dim",
            soft_wrap=True,
        )
    facts: dict[str, Any] = {
        "model": str(where),
        "sentences": len(trees),
        "features": int(parser.n_active_),
        "lifted": int(parser.n_lifted_),
        "dev": scores,
        "bytes": where.stat().st_size,
    }
    if as_json:
        emit_json(facts)
        return
    from handful.reports import words

    out = console()
    told = "".join(f", {name} {words.percent(value)}" for name, value in scores.items())
    out.print(
        f"{len(trees):,} trees, {parser.n_active_:,} features{told}: {where} ({words.size(where.stat().st_size)})",
        markup=False,
        soft_wrap=True,
    )
    read = " and ".join(parser.columns_)
    out.print(
        f"Next: handful predict {where} TAGGED.conllu -o PARSED.conllu, with tags in {read}",
        markup=False,
        soft_wrap=True,
    )
