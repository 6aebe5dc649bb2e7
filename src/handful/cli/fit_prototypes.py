"""``handful fit prototypes``: a tagger from a few typical words for each label and raw text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from handful.cli.console import emit_json, progress_bar, say
from handful.cli.options import Run, check_output, model_file, run_options, training_state
from handful.cli.parameters import parameters_of
from handful.cli.prototypes import FIELDS, MORE_TEXT, learn_similarity
from handful.corpora.sentences import read_sentences
from handful.tagging import PrototypeTagger

_SHOWN = 20  # words named in a note


@click.command("prototypes")
@click.argument("prototypes", type=click.Path(path_type=Path))
@click.argument("text", type=click.Path(path_type=Path))
@MORE_TEXT
@FIELDS
@click.option("--similarity/--no-similarity", default=True, show_default=True, help="Whether similar words are linked.")
@parameters_of(PrototypeTagger, defaults={"order": None}, aliases={"max_iter": "--iterations"})
@run_options("model", "checkpoint", "seed", "as_json", jobs={"default": -1})
def command(
    prototypes: Path,
    text: Path,
    similarity_text: Path | None,
    fields: bool,
    similarity: bool,
    settings: dict[str, Any],
    run: Run,
) -> None:
    """Learn a tagger from PROTOTYPES, a list of typical words for each label, and TEXT, raw sentences."""
    from handful.corpora.formats import read_prototypes
    from handful.methods import save

    target = model_file(run, text)
    check_output(target, prototypes, text, similarity_text, run.checkpoint)
    state = training_state(run)
    lists = read_prototypes(prototypes)
    sentences = list(read_sentences(text))
    settings["order"] = settings["order"] or (1 if fields else 2)
    tagger = PrototypeTagger(
        lists,
        similarity=learn_similarity(text, similarity_text, fields) if similarity else None,
        n_jobs=run.jobs,
        random_state=run.seed,
        **settings,
    )
    with progress_bar() as progress:
        tagger.fit(sentences, progress=progress, checkpoint=state)
    save(tagger, target)
    words = {word for sentence in sentences for word in sentence}
    absent = sorted({word for listed in lists.values() for word in listed} - words)
    n_linked = len(words & (tagger.links_.keys() - tagger.lexicon_.keys()))
    if run.as_json:
        emit_json(
            {
                "model": str(target),
                "labels": tagger.classes_.tolist(),
                "sentences": len(sentences),
                "iterations": tagger.n_iter_,
                "objective": tagger.objective_,
                "linked_words": n_linked,
                "absent_prototypes": absent,
            }
        )
        return
    say(
        f"{len(tagger.classes_)} labels from {len(sentences):,} sentences, {tagger.n_iter_} iterations; "
        f"words linked to prototypes: {n_linked:,}. Saved to {target}"
    )
    if absent:
        more = " ..." if len(absent) > _SHOWN else ""
        say(f"Not in the text: {' '.join(absent[:_SHOWN])}{more}", stderr=True)
