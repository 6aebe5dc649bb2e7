"""``handful fit prototypes``: a tagger from a few typical words for each label and raw text."""

from __future__ import annotations

from pathlib import Path

import click

from handful.cli.console import console, emit_json, progress_bar
from handful.cli.options import check_output
from handful.cli.prototypes import FIELDS, MORE_TEXT, learn_similarity

_SHOWN = 20  # words named in a note


@click.command("prototypes")
@click.argument("prototypes", type=click.Path(path_type=Path))
@click.argument("text", type=click.Path(path_type=Path))
@click.option("--model", type=click.Path(path_type=Path, dir_okay=False), required=True, help="Where to save it.")
@click.option("--order", type=click.IntRange(1, 2), help="Labels before that count: 2, with --fields 1.")
@MORE_TEXT
@FIELDS
@click.option("--no-similarity", is_flag=True, help="Prototypes alone, without links from similar words.")
@click.option("--boundary", metavar="LABEL", help="Label of boundary tokens, replaced by the label before them.")
@click.option("--no-spelling", is_flag=True, help="No features from suffixes, capitals, digits and hyphens.")
@click.option("--iterations", type=click.IntRange(min=1), default=100, show_default=True, help="At most so many.")
@click.option(
    "--checkpoint", type=click.Path(path_type=Path, dir_okay=False), help="Save training here and go on from it."
)
@click.option("--jobs", type=int, default=-1, show_default=True, help="Threads; -1 uses every core.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON on stdout.")
def command(
    prototypes: Path,
    text: Path,
    model: Path,
    order: int | None,
    similarity_text: Path | None,
    fields: bool,
    no_similarity: bool,
    boundary: str | None,
    no_spelling: bool,
    iterations: int,
    checkpoint: Path | None,
    jobs: int,
    as_json: bool,
) -> None:
    """Learn a tagger from PROTOTYPES, a list of typical words for each label, and TEXT, raw sentences."""
    from handful.corpora.formats import read_prototypes
    from handful.corpora.sentences import read_sentences
    from handful.methods import save
    from handful.tagging import PrototypeTagger

    check_output(model, prototypes, text, similarity_text, checkpoint)
    check_output(checkpoint, prototypes, text, similarity_text)
    lists = read_prototypes(prototypes)
    sentences = list(read_sentences(text))
    words = {word for sentence in sentences for word in sentence}
    absent = sorted({word for mine in lists.values() for word in mine} - words)
    tagger = PrototypeTagger(
        lists,
        order=1 if order == 1 or (order is None and fields) else 2,
        similarity=None if no_similarity else learn_similarity(text, similarity_text, fields),
        max_iter=iterations,
        boundary=boundary,
        spelling=not no_spelling,
        n_jobs=jobs,
    )
    with progress_bar() as progress:
        tagger.fit(sentences, progress=progress, checkpoint=checkpoint)
    save(tagger, model)
    facts = {
        "model": str(model),
        "labels": tagger.classes_.tolist(),
        "sentences": len(sentences),
        "iterations": tagger.n_iter_,
        "objective": tagger.objective_,
        "linked_words": len(words & (tagger.links_.keys() - tagger.lexicon_.keys())),
        "absent_prototypes": absent,
    }
    if as_json:
        emit_json(facts)
        return
    console().print(
        f"{len(facts['labels'])} labels from {len(sentences):,} sentences, {tagger.n_iter_} iterations; "
        f"words linked to prototypes: {facts['linked_words']:,}. Saved to {model}",
        markup=False,
    )
    if absent:
        shown = " ".join(absent[:_SHOWN]) + (" ..." if len(absent) > _SHOWN else "")
        console(stderr=True).print(f"Not in the text: {shown}", style="dim", markup=False)
