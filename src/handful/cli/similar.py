"""``handful similar``: words that stand in the same contexts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from handful.cli.console import emit_json, progress_bar, say
from handful.cli.options import Run, WholeNumber, run_options
from handful.cli.parameters import parameters_of
from handful.cli.sentences import fit_text
from handful.representations import ContextSimilarity

_ALIKE = 0.05  # words that are less alike than this are so by chance


@click.command("similar")
@click.argument("text", type=click.Path(path_type=Path))
@click.option("--word", "words", multiple=True, required=True, help="A word of the text; may be given several times.")
@click.option("--k", type=WholeNumber(min=1), default=10, show_default=True, help="How many similar words to name.")
@parameters_of(ContextSimilarity, aliases={"n_components": "--components"})
@run_options("jobs", "engine", "checkpoint", "as_json")
def command(text: Path, words: tuple[str, ...], k: int, settings: dict[str, Any], run: Run) -> None:
    """Name the words of TEXT that are most similar to the given ones, by the contexts they stand in.

    TEXT has one sentence per line, or columns; it may be packed. Plain text of any size is counted in bounded memory.
    """
    model = ContextSimilarity(**settings, n_jobs=run.jobs)
    with progress_bar() as progress:
        fit_text(model, text, progress, engine=run.engine, checkpoint=run.checkpoint)
    nearest = {word: model.nearest(word, k) for word in words}
    alone = [word for word, near in nearest.items() if not near or near[0][1] < _ALIKE]
    if alone:
        say(
            f"No word is like {', '.join(map(repr, alone))}. Fewer --components, or more text may find some.",
            stderr=True,
        )
    if run.as_json:
        emit_json({word: [{"word": w, "similarity": s} for w, s in near] for word, near in nearest.items()})
        return
    for word, near in nearest.items():
        say(f"{word}: " + "  ".join(f"{w} {s:.2f}" for w, s in near))
