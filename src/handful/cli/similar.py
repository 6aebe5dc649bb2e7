"""``handful similar``: words that stand in the same contexts."""

from __future__ import annotations

from pathlib import Path

import click

from handful.cli.console import console, emit_json, progress_bar
from handful.cli.options import checkpoint_option, engine_options
from handful.cli.sentences import fit_text


@click.command("similar")
@click.argument("text", type=click.Path(path_type=Path))
@click.option("--word", "words", multiple=True, required=True, help="A word of the text; may be given several times.")
@click.option("--k", type=click.IntRange(min=1), default=10, show_default=True, help="How many similar words to name.")
@click.option("--window", type=click.IntRange(min=1), default=2, show_default=True, help="Context words on each side.")
@click.option("--undirected", is_flag=True, help="Do not tell left from right, nor near from far, in the window.")
@click.option("--components", type=click.IntRange(min=1), default=250, show_default=True, help="Rank of the SVD.")
@click.option("--min-count", type=click.IntRange(min=1), default=1, show_default=True, help="Leave out rarer words.")
@engine_options
@checkpoint_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON on stdout.")
def command(
    text: Path,
    words: tuple[str, ...],
    k: int,
    window: int,
    undirected: bool,
    components: int,
    min_count: int,
    jobs: int,
    engine: str | None,
    checkpoint: Path | None,
    as_json: bool,
) -> None:
    """Name the words of TEXT that are most similar to the given ones, by the contexts they stand in.

    TEXT has one sentence a line, or columns; it may be packed. Plain text of any size is counted in bounded memory.
    """
    from handful.representations import ContextSimilarity

    model = ContextSimilarity(
        window=window, directional=not undirected, n_components=components, min_count=min_count, n_jobs=jobs
    )
    with progress_bar() as progress:
        fit_text(model, text, progress, engine=engine, checkpoint=checkpoint)
    found = {word: model.nearest(word, k) for word in words}
    if as_json:
        emit_json({word: [{"word": w, "similarity": s} for w, s in near] for word, near in found.items()})
        return
    out = console()
    for word, near in found.items():
        out.print(f"{word}: " + "  ".join(f"{w} {s:.2f}" for w, s in near), markup=False)
