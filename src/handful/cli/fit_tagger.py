"""``handful fit tagger``: a CRF from tagged sentences."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from handful.cli.console import console, emit_json, progress_bar
from handful.cli.options import Names, check_output, command_line


@click.command("tagger")
@click.argument("data", type=click.Path(path_type=Path))
@click.option("--dev", type=click.Path(path_type=Path), help="Tagged sentences to be scored on.")
@click.option(
    "--templates", type=click.Choice(["pos", "chunk", "ner"]), help="What is observed; guessed from the tags."
)
@click.option("--layout", type=Names(), help="Names of the columns, such as token,pos,chunk,tag.")
@click.option("--tag", metavar="COLUMN", help="Column of tags; the last one by default, upos in CoNLL-U.")
@click.option("--penalty", type=click.Choice(["l2", "l1"]), default="l2", show_default=True, help="l1 makes it small.")
@click.option(
    "--strength", type=click.FloatRange(min=0, min_open=True), default=1.0, show_default=True, help="Of the penalty."
)
@click.option(
    "--encoding",
    type=click.Choice(["iob2", "iobes"]),
    help="Learn span tags (B-X, I-X, O) in this encoding; iobes is slower and often better.",
)
@click.option("--iterations", type=click.IntRange(min=1), help="Iterations of training at most.")
@click.option("--model", type=click.Path(path_type=Path, dir_okay=False), help="Where to save it.")
@click.option("--checkpoint", type=click.Path(path_type=Path, dir_okay=False), help="File to go on from if stopped.")
@click.option("--jobs", type=int, default=-1, show_default=True, help="Threads; -1 uses every core.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON on stdout.")
@click.pass_context
def command(
    ctx: click.Context,
    data: Path,
    dev: Path | None,
    templates: str | None,
    layout: tuple[str, ...] | None,
    tag: str | None,
    penalty: str,
    strength: float,
    encoding: str | None,
    iterations: int | None,
    model: Path | None,
    checkpoint: Path | None,
    jobs: int,
    as_json: bool,
) -> None:
    """Fit a tagger to DATA: one token and its tag a line, a blank line after each sentence; or CoNLL-U."""
    from handful.core.version import __version__
    from handful.corpora.tagged import read_tagged
    from handful.experiment.tagged import fit_tagger, model_path, read_held_out, score_tags
    from handful.methods import save

    where = model if model is not None else Path(model_path(data))
    check_output(where, data, dev, checkpoint)
    check_output(checkpoint, data, dev)
    train = read_tagged(data, layout or (), tag)
    held = None if dev is None else read_held_out(dev, train, templates)
    with progress_bar() as progress:
        tagger = fit_tagger(
            train,
            templates,
            progress=progress,
            checkpoint=checkpoint,
            n_jobs=jobs,
            penalty=penalty,
            strength=strength,
            encoding=encoding,
            max_iter=iterations,
        )
    scores: dict[str, float] = {}
    if held is not None:
        found = tagger.predict(list(held.sentences))
        scores = score_tags(held.tags, found, train.has_spans)
    tagger.training_ = {
        "data": data.name,
        "layout": list(train.layout),
        "tag": train.tag,
        "sentences": len(train.sentences),
        "command": command_line(ctx),
        "handful": __version__,
        **{f"dev {name}": value for name, value in scores.items()},
    }
    save(tagger, where)
    facts: dict[str, Any] = {
        "model": str(where),
        "sentences": len(train.sentences),
        "tags": tagger.classes_.tolist(),
        "features": int(tagger.n_active_),
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
        f"{len(train.sentences):,} sentences, {len(tagger.classes_)} tags, {tagger.n_active_:,} features{told}: {where} "
        f"({words.size(where.stat().st_size)})",
        markup=False,
        soft_wrap=True,
    )
    # Raw text is enough only where nothing but the words is read.
    others = tagger.columns_[1:]
    form = f"FILE.tsv, with the columns {', '.join(['token', *others])}" if others else "TEXT.txt"
    out.print(f"Next: handful predict {where} {form}", markup=False, soft_wrap=True)
