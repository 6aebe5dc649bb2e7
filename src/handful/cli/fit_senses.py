"""``handful fit senses``: a model of word senses from a lexical sample."""

from __future__ import annotations

from itertools import chain
from pathlib import Path
from typing import Any

import click

from handful.cli.console import emit_json, progress_bar, say
from handful.cli.earlier_model import check_earlier
from handful.cli.options import Run, WholeNumber, check_output, model_file, run_options, shell_name
from handful.cli.parameters import parameters_of
from handful.cli.sentences import load_tagger
from handful.core.catalogue import names
from handful.core.counted import counted
from handful.senses import SenseClassifier


@click.command("senses")
@click.argument("sample", type=click.Path(path_type=Path))
@click.option("--key", type=click.Path(path_type=Path), help="Key with the senses, where the sample has none inside.")
@click.option("--dtd", type=click.Path(path_type=Path), help="DTD with the entities; else the one beside the sample.")
@click.option(
    "--unlabeled",
    type=click.Path(path_type=Path),
    multiple=True,
    help="Raw text to take more contexts from; the default method is then composite-kernel-pca.",
)
@click.option("--limit", type=WholeNumber(min=1), default=1500, show_default=True, help="Most contexts of a word.")
@click.option("--tagger", type=click.Path(path_type=Path), help="A saved part-of-speech tagger, for better features.")
@parameters_of(
    SenseClassifier,
    leave_out=["tagger"],
    defaults={"method": None},
    choices={"method": names("occurrences")},
    aliases={"n_neighbors": "--neighbors"},
)
@run_options("model", "seed", "as_json", jobs={"default": -1})
def command(
    sample: Path,
    key: Path | None,
    dtd: Path | None,
    unlabeled: tuple[Path, ...],
    limit: int,
    tagger: Path | None,
    settings: dict[str, Any],
    run: Run,
) -> None:
    """Learn the senses of every word of SAMPLE: Senseval XML, or a table with the columns text, word and sense."""
    from handful.corpora.occurrences import read_occurrences
    from handful.corpora.opening import bare_suffix
    from handful.corpora.sentences import read_sentences
    from handful.methods import save
    from handful.senses import harvest

    target = model_file(run, sample)
    check_output(target, sample, key, dtd, tagger, *unlabeled)
    replaced = check_earlier(target, "contexts")
    occurrences = list(read_occurrences(sample, key=key, dtd=dtd))
    tags = None if tagger is None else load_tagger(tagger)
    settings["method"] = settings["method"] or ("composite-kernel-pca" if unlabeled else "kernel-pca")
    model = SenseClassifier(**settings, tagger=tags, n_jobs=run.jobs, random_state=run.seed)
    with progress_bar() as progress:
        harvested = []
        if unlabeled:
            harvested = harvest(
                chain.from_iterable(read_sentences(path) for path in unlabeled),
                {occurrence.word for occurrence in occurrences},
                limit=limit,
                tagger=None if tags is None else tags.predict,
                progress=progress,
            )
        model.fit(occurrences, harvested, progress=progress)
    save(model, target)
    if replaced:
        say(replaced, stderr=True)
    if run.as_json:
        emit_json(
            {
                "model": str(target),
                "method": model.method,
                "words": len(model.models_),
                "contexts": len(occurrences),
                "unlabeled": len(harvested),
            }
        )
        return
    say(
        f"{model.method}: {counted(len(model.models_), 'word')} from {counted(len(occurrences), 'context')} and {len(harvested):,} "
        f"unlabeled. Saved to {target}"
    )
    if key is None and dtd is None:  # 'compare' reads neither
        # It reads one raw text.
        more = f" --unlabeled {shell_name(unlabeled[0])}" if len(unlabeled) == 1 else ""
        say(f"Which method is the best for these contexts is told by: handful compare {shell_name(sample)}{more}")
    say(f"Next: handful predict {shell_name(target)} NEW{bare_suffix(sample)}")
