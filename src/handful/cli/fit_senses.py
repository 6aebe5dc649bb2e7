"""``handful fit senses``: a model of word senses from a lexical sample."""

from __future__ import annotations

from itertools import chain
from pathlib import Path

import click

from handful.cli.console import console, emit_json, progress_bar
from handful.cli.options import check_output
from handful.cli.sentences import load_tagger
from handful.core.catalogue import names


@click.command("senses")
@click.argument("sample", type=click.Path(path_type=Path))
@click.option("--model", type=click.Path(path_type=Path, dir_okay=False), required=True, help="Where to save it.")
@click.option("--key", type=click.Path(path_type=Path), help="Key with the senses, where the sample has none inside.")
@click.option("--dtd", type=click.Path(path_type=Path), help="DTD with the entities; else the one beside the sample.")
@click.option(
    "--unlabeled", type=click.Path(path_type=Path), multiple=True, help="Raw text to take more contexts from."
)
@click.option("--limit", type=click.IntRange(min=1), default=1500, show_default=True, help="Most contexts of a word.")
@click.option(
    "--method",
    type=click.Choice(names("occurrences")),
    help="By default kernel-pca, or composite-kernel-pca with --unlabeled.",
)
@click.option("--tagger", type=click.Path(path_type=Path), help="A saved part-of-speech tagger, for better features.")
@click.option("--jobs", type=int, default=-1, show_default=True, help="Worker processes; -1 uses every core.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON on stdout.")
def command(
    sample: Path,
    model: Path,
    key: Path | None,
    dtd: Path | None,
    unlabeled: tuple[Path, ...],
    limit: int,
    method: str | None,
    tagger: Path | None,
    jobs: int,
    as_json: bool,
) -> None:
    """Learn the senses of every word of SAMPLE, a Senseval lexical sample in XML."""
    from handful.corpora.formats import read_senseval
    from handful.corpora.sentences import read_sentences
    from handful.methods import save
    from handful.senses import SenseClassifier, harvest

    check_output(model, sample, key, dtd, tagger, *unlabeled)
    occurrences = list(read_senseval(sample, key=key, dtd=dtd))
    tags = None if tagger is None else load_tagger(tagger)
    chosen = method or ("composite-kernel-pca" if unlabeled else "kernel-pca")
    found = SenseClassifier(chosen, tagger=tags, n_jobs=jobs)
    with progress_bar() as progress:
        more = []
        if unlabeled:
            text = chain.from_iterable(read_sentences(path) for path in unlabeled)
            more = harvest(
                text,
                {occurrence.word for occurrence in occurrences},
                limit=limit,
                tagger=None if tags is None else tags.predict,
                progress=progress,
            )
        found.fit(occurrences, more, progress=progress)
    save(found, model)
    facts = {
        "model": str(model),
        "method": chosen,
        "words": len(found.models_),
        "contexts": len(occurrences),
        "unlabeled": len(more),
    }
    if as_json:
        emit_json(facts)
        return
    console().print(
        f"{chosen}: {len(found.models_)} words from {len(occurrences):,} contexts and {len(more):,} unlabeled ones. "
        f"Saved to {model}",
        markup=False,
    )
