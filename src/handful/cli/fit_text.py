"""``handful fit tagger|parser|prototypes|senses``."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import chain, groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from handful.cli import console as ui
from handful.cli import options as opt
from handful.cli.files import check_outputs, load_tagger, model_path, read_text, training_state
from handful.data.tagged import read_sentences
from handful.errors import DataError, ParameterError, counted
from handful.parsing.parser import DependencyParser
from handful.registry import get_method, method_names
from handful.senses.classifier import SenseClassifier
from handful.tagging.prototypes.ensemble import MOST_TEXT, PrototypeEnsemble
from handful.tagging.prototypes.features import even_sample
from handful.tagging.prototypes.lists import under_several_labels
from handful.tagging.recipes import TaggerSetup

if TYPE_CHECKING:
    from handful.data.records import Sentence
    from handful.data.tagged import Tagged
    from handful.tagging.estimate import TaggerCheck
    from handful.tagging.witnesses import TaggedWitness

# Short names of methods, where the catalogue has longer ones.
_SHORT = {
    "stacked": "crf+stacked-condensed-nn",
    "condensed": "crf+condensed-features",
}
# Classes of model files, trained otherwise.
_CLASSES_ONLY = ("stacked-tagger", "two-pass-tagger", "prototype-tagger", "prototype-ensemble")
_NOT_MEASURED = "Score      not measured (--dev FILE)"
_MODEL = {"help": "Model file. Default: DATA.handful next to DATA."}


def _save(ctx: click.Context, model: Any, where: Path, facts: Mapping[str, Any], scores: Mapping[str, float]) -> None:
    """Save a model with how it was trained."""
    from handful.persistence.model_file import save
    from handful.version import __version__

    dev = {f"dev {name}": value for name, value in scores.items()}
    model.training_ = {**facts, "command": opt.command_line(ctx), "handful": __version__, **dev}
    save(model, where, compressed=True)


def _show(where: Path, summary: str, lines: Iterable[str], *following: str) -> None:
    """Print what a model was trained on, how good it is, where it is saved, and the next command."""
    ui.echo(f"{summary}\n")
    for line in lines:
        ui.echo(f"  {line}")
    ui.echo(f"  Saved      {where} ({ui.file_size(where)})\n")
    ui.suggest_command(*following)


def _scores_line(scores: Mapping[str, float], limits: tuple[float, float] | None = None) -> list[str]:
    """Return the scores on --dev; the interval is that of F1 for spans, of accuracy for other tags."""
    if not scores:
        return []
    line = f"On --dev   {', '.join(f'{name} {ui.percent(value)}' for name, value in scores.items())}"
    name = "f1" if "f1" in scores else "accuracy"
    return [line if limits is None else f"{line} (95% interval of {name} {ui.interval(*limits)})"]


# -- tagger -----------------------------------------------------------------------------------------------------------


@click.command("tagger")
@click.argument("data", type=opt.INPUT)
@click.option("--dev", type=opt.INPUT, help="Tagged sentences to score the tagger on.")
@click.option(
    "--method",
    type=click.Choice([*_SHORT, *(name for name in method_names("sentences") if name not in _CLASSES_ONLY)]),
    default="crf",
    show_default=True,
    help="Method; 'handful methods' describes each.",
)
@click.option("--layout", type=opt.NameList(), help="Names of the columns, such as token,pos,chunk,tag.")
@click.option("--tag", metavar="COLUMN", help="Column of tags. Default: the last one; upos in CoNLL-U.")
@click.option("--unlabeled", type=opt.INPUT, help="Raw text; a CRF uses clusters of its words.")
@click.option("--clusters", type=opt.INPUT, help="File of 'handful clusters' for a CRF, instead of --unlabeled.")
@click.option("--also", type=opt.INPUT, help="Sentences with cheap tags, such as an LLM's; how they err is learned.")
@click.option(
    "--check/--no-check",
    "checked",
    default=True,
    show_default=True,
    help="Estimate the score by cross-validation (CRF, up to 2,000 sentences).",
)
@opt.parameters_of(TaggerSetup)
@opt.run_options("resume", "jobs", "seed", "as_json", output=_MODEL)
@click.pass_context
def fit_tagger_command(
    ctx: click.Context,
    /,
    data: Path,
    dev: Path | None,
    checked: bool,
    settings: dict[str, Any],
    run: opt.Run,
    **given: Any,
) -> None:
    """Train a tagger on DATA: CoNLL-U, or one token and its tag per line with a blank line after each sentence.

    \b
    Examples:
      handful fit tagger train.tsv
      handful fit tagger names.tsv --unlabeled raw.txt --dev dev.tsv
    """
    from handful.data.tagged import read_tagged
    from handful.tagging.estimate import MOST_CHECKED, check_tagger
    from handful.tagging.evaluation import score_limits, score_tags

    where, method = model_path(run, data), given["method"]
    unlabeled, clusters = given["unlabeled"], given["clusters"]
    check_outputs(where, inputs=[data, dev, unlabeled, clusters, given["also"], run.resume], force=run.force)
    _check_options(method, run, given)
    state = training_state(run)
    train = read_tagged(data, given["layout"] or (), given["tag"])
    ui.show_notices(train.notes)
    held = None if dev is None else _read_dev(dev, train)
    setup = TaggerSetup(**settings, columns=tuple(train.sentences[0].columns), n_jobs=run.jobs, random_state=run.seed)
    witness = None if given["also"] is None else _read_witness(given["also"], train)
    with ui.progress_bar() as progress:
        tagger, cluster_facts, learned = _fit(setup, train, given, witness, state, progress)
    scores: dict[str, float] = {}
    limits: tuple[float, float] | None = None
    if held is not None:
        predicted = tagger.predict(list(held.sentences))
        scores = score_tags(held.tags, predicted, train.has_spans)
        limits = score_limits(held.tags, predicted, scores["f1" if train.has_spans else "accuracy"], train.has_spans)
    trained = {"data": data.name, "layout": list(train.layout), "tag": train.tag, "sentences": len(train.sentences)}
    _save(ctx, tagger, where, {**trained, "tokens": train.style.as_dict()}, scores)
    check = None
    if checked and held is None and method == "crf" and learned is None and len(train.sentences) <= MOST_CHECKED:
        with ui.progress_bar() as progress:
            check = check_tagger(tagger, train.sentences, train.tags, with_spans=train.has_spans, progress=progress)
    labels = sorted({tag for row in train.tags for tag in row})
    facts: dict[str, Any] = {
        "model": str(where),
        "sentences": len(train.sentences),
        "tags": labels,
        "features": int(getattr(tagger, "n_active_", 0)),
        "dev": scores,
        "dev_interval": limits,
        "check": None if check is None else asdict(check),
        "clusters": cluster_facts or None,
        "witness": None if learned is None else {**asdict(learned), "used": learned.best},
        "bytes": where.stat().st_size,
    }
    if run.as_json:
        ui.emit_json(facts)
        return
    lines = _scores_line(scores, limits) or (_witness_lines(learned) if learned is not None else [])
    lines = lines or (_estimate_lines(check) if check is not None else [_NOT_MEASURED])
    lines = [*lines, *_cluster_lines(cluster_facts)]
    n_features = f", {counted(facts['features'], 'feature')}" if facts["features"] and ui.verbose() else ""
    # Raw text is enough only where nothing but the words is read.
    others = getattr(tagger, "columns_", ["word"])[1:]
    new = f"FILE.tsv     # columns {', '.join(['token', *others])}" if others else "TEXT.txt"
    summary = f"{data}: {counted(len(train.sentences), 'sentence')}, {counted(len(labels), 'tag')}{n_features}"
    _show(where, summary, lines, f"handful predict {ui.shell_name(where)} {new}")


def _estimate_lines(check: TaggerCheck) -> list[str]:
    from handful.tagging.estimate import FEWEST_NEW

    name, limits = _metric_name(check.metric), f"95% interval {ui.interval(check.low, check.high)}"
    score, tested = ui.percent(check.scores[check.metric]), counted(check.n_tested, "sentence")
    lines = [f"{name:<10} {score}, {limits} (cross-validation, {tested})"]
    others = [f"{name} {ui.percent(value)}" for name, value in check.scores.items() if name != check.metric]
    if others and ui.verbose():
        lines.append(f"{'':<10} {', '.join(others)}")
    unseen = check.new_names
    if unseen is not None and unseen.n >= FEWEST_NEW:
        lines.append(f"{'New names':<10} {ui.percent(unseen.f1)} F1 of names that are not in the training sentences")
    return lines


def _metric_name(metric: str) -> str:
    return {"f1": "F1"}.get(metric, metric.capitalize())


def _check_options(method: str, run: opt.Run, given: Mapping[str, Any]) -> None:
    for option, value in (("--resume", run.resume), ("--clusters", given["clusters"])):
        if value is not None and method != "crf":
            raise click.UsageError(f"{option}: only for --method crf. Leave it out.")
    if given["also"] is not None and (method != "crf" or run.resume is not None):
        raise click.UsageError("--also: only for --method crf without --resume. Leave one out.")
    if given["clusters"] is not None and given["unlabeled"] is not None:
        raise click.UsageError("--clusters: not with --unlabeled, which trains clusters itself. Leave one out.")


def _read_dev(dev: Path, train: Tagged) -> Tagged:
    from handful.data.files import Source
    from handful.data.tagged import check_columns, has_one_tag_column, read_tagged
    from handful.errors import FormatError

    source = Source(dev)
    # A name, of --tag or of a column of CoNLL-U, is that of the training file.
    alone = len(train.layout) != 2 and "pos" not in train.sentences[0].columns
    unnamed = alone and has_one_tag_column(source)
    tagged = read_tagged(source) if unnamed else read_tagged(source, train.layout, train.tag)
    check_columns(dev, tagged.sentences[0], [name for name in ("pos",) if name in train.sentences[0].columns])
    for number, tags in enumerate(tagged.tags, start=1) if train.has_spans else ():
        other = next((tag for tag in tags if tag != "O" and tag[1:2] != "-"), None)
        if other is not None:
            raise FormatError(dev, None, f"{other!r} in sentence {number:,} is not a span tag as in training.")
    return tagged


def _read_witness(also: Path, train: Tagged) -> dict[tuple[str, ...], tuple[str, ...]]:
    """Read the sentences of --also; those with tags that DATA does not have are refused."""
    tagged = _read_dev(also, train)
    known = {tag for row in train.tags for tag in row}
    if not known & {tag for row in tagged.tags for tag in row}:
        raise DataError(f"{also}: none of its tags is a tag of the training file. Use the same tags.")
    return {sentence.tokens: tags for sentence, tags in zip(tagged.sentences, tagged.tags, strict=True)}


def _witness_lines(learned: TaggedWitness) -> list[str]:
    used = f"used {learned.best}" if learned.is_used else "no help, so left out"
    scores = ", ".join(f"{use} {ui.percent(score)}" for use, score in learned.scores.items())
    return [
        f"{_metric_name(learned.metric):<10} {ui.percent(learned.scores[learned.best])} (3-fold cross-validation; {scores})",
        f"{'Also':<10} {ui.percent(learned.agreement)} in {counted(learned.n_both, 'sentence')} with your tags; "
        f"{learned.n_others:,} more are {used}",
    ]


def _fit(
    setup: TaggerSetup, train: Tagged, given: Mapping[str, Any], witness: Any, checkpoint: Path | None, progress: Any
) -> tuple[Any, dict[str, Any], TaggedWitness | None]:
    """Return the fitted tagger, facts about clusters, and what was learned about a witness."""
    from handful.tagging.witnesses import fit_tagged_witness

    unlabeled, clusters, method = given["unlabeled"], given["clusters"], given["method"]
    raw = [] if unlabeled is None else list(read_text(unlabeled, train.style))
    tags = [list(row) for row in train.tags]
    if method != "crf":
        spec = get_method(_SHORT.get(method, method), "sentences")
        if "raw text" in spec.resources and not raw:
            raise click.UsageError(f"--method {method}: needs raw text. Add --unlabeled FILE.")
        assert spec.train is not None
        return spec.train(setup, train.sentences, tags, raw), {}, None
    lookups, facts = _lookups(setup, train, clusters, raw, progress)
    learned = None
    if witness is None:
        tagger = setup.fit_crf(train.sentences, tags, lookups, progress=progress, checkpoint=checkpoint)
    else:
        tagger, learned = fit_tagged_witness(
            setup, train.sentences, tags, witness, with_spans=train.has_spans, lookups=lookups, progress=progress
        )
    is_own = clusters is None and (witness is None or lookups is not None)
    return tagger.with_small_lookups() if is_own else tagger, facts, learned


def _lookups(
    setup: TaggerSetup, train: Tagged, clusters: Path | None, raw: list[Sentence], progress: Any
) -> tuple[Mapping[str, Any] | None, dict[str, Any]]:
    """Return the clusters that a CRF reads (from a file, or those that cross-validation prefers), and facts about them."""
    from handful.representations.brown import BrownClusters
    from handful.tagging.ready_clusters import ready_clusters
    from handful.tagging.recipes import ClusterCandidate

    if clusters is not None:
        return {"brown": BrownClusters.load(clusters).paths_}, {}
    own = setup.lookups(raw) if raw else None
    if raw and own is None:
        ui.notice("--unlabeled: not used, with fewer than 5 tokens per word type. Give more text.")
    ready = ready_clusters([sentence.tokens for sentence in train.sentences])
    candidates = [] if own is None else [ClusterCandidate("raw text", own, margin=0.5)]
    if ready is not None:
        name = f"spacy-lookups-data ({ready.language})"
        candidates.append(ClusterCandidate(name, {"brown": ready.paths}))
        if own is not None:
            candidates.append(ClusterCandidate(f"raw text and {name}", {**own, "ready": ready.paths}))
    if not candidates:
        return None, {}
    chosen = setup.choose_clusters(train.sentences, train.tags, candidates, progress)
    metric = "f1" if train.has_spans else "accuracy"
    return chosen.lookups, {"used": chosen.name, "metric": metric, "scores": chosen.scores}


def _cluster_lines(clusters: Mapping[str, Any]) -> list[str]:
    """Return which clusters are used, and the score of each choice in cross-validation."""
    if not clusters:
        return []
    used, scores = clusters["used"], clusters["scores"]
    if not scores:
        return [f"{'Clusters':<10} {used} (not compared: too few sentences)"]
    metric = "F1" if clusters["metric"] == "f1" else "accuracy"
    others = ", ".join(f"{name} {ui.percent(score)}" for name, score in scores.items() if name != used)
    lead = 100 * (scores[used] - max(score for name, score in scores.items() if name != used))
    return [
        f"{'Clusters':<10} {used}, {metric} {ui.percent(scores[used])} ({others}; {lead:+.1f} points, cross-validation)"
    ]


# -- parser -----------------------------------------------------------------------------------------------------------


@click.command("parser")
@click.argument("data", type=opt.INPUT)
@click.option("--dev", type=opt.INPUT, help="Trees to score the parser on.")
@click.option("--clusters", type=opt.INPUT, help="File of 'handful clusters'.")
@opt.parameters_of(DependencyParser)
@opt.run_options("resume", "jobs", "seed", "as_json", output=_MODEL)
@click.pass_context
def fit_parser_command(
    ctx: click.Context, /, data: Path, dev: Path | None, clusters: Path | None, settings: dict[str, Any], run: opt.Run
) -> None:
    """Train a dependency parser on the trees of DATA, CoNLL-U with tags.

    \b
    Examples:
      handful fit parser train.conllu --dev dev.conllu
      handful fit parser train.conllu --order 1
    """
    from handful.data.tagged import read_treebank
    from handful.data.word_lists import read_clusters
    from handful.parsing.inputs import choose_columns

    where = model_path(run, data)
    check_outputs(where, inputs=[data, dev, clusters, run.resume], force=run.force)
    state = training_state(run)
    trees = read_treebank(data)
    columns = choose_columns([tree.sentence for tree in trees], settings["tags"])
    dev_trees = None if dev is None else read_treebank(dev, columns)
    paths = None if clusters is None else {row.word: row.path for row in read_clusters(clusters)}
    parser = DependencyParser(**settings, clusters=paths, n_jobs=run.jobs, random_state=run.seed)
    with ui.progress_bar() as progress:
        parser.fit(trees, progress=progress, checkpoint=state)
    scores = {} if dev_trees is None else parser.score(dev_trees).as_dict()
    tags = " and ".join(parser.columns_)
    _save(ctx, parser, where, {"data": data.name, "sentences": len(trees), "tags": tags}, scores)
    if parser.n_lifted_:
        kind = "projective" if parser.projective else "single-root"
        ui.notice(f"{counted(parser.n_lifted_, 'word')} got another head for training, to make the trees {kind}.")
    if run.as_json:
        counts = {"sentences": len(trees), "features": int(parser.n_active_), "lifted": int(parser.n_lifted_)}
        ui.emit_json({"model": str(where), **counts, "dev": scores, "bytes": where.stat().st_size})
        return
    summary = f"{data}: {counted(len(trees), 'tree')}, {counted(parser.n_active_, 'feature')}, tags in {tags}"
    lines = _scores_line(scores) or [_NOT_MEASURED]
    _show(where, summary, lines, f"handful predict {ui.shell_name(where)} TAGGED.conllu -o PARSED.conllu")


# -- prototypes -------------------------------------------------------------------------------------------------------

_SHOWN = 20  # words named in a notice
_ASKED = 200  # sentences in which the length of fields is measured
_SHORT_FIELD = 1.5  # words: fields that are shorter in the mean are hardly fields


@click.command("prototypes")
@click.argument("prototypes", type=opt.INPUT)
@click.argument("text", type=opt.INPUT)
@click.option("--similarity-text", type=opt.INPUT, help="More raw text to learn word similarity from.")
@click.option("--tagged", type=opt.INPUT, help="Tagged sentences to learn from as well.")
@opt.parameters_of(PrototypeEnsemble)
@opt.run_options(
    "resume", "jobs", "seed", "as_json", output={"help": "Model file. Default: TEXT.handful next to TEXT."}
)
@click.pass_context
def fit_prototypes_command(
    ctx: click.Context,
    /,
    prototypes: Path,
    text: Path,
    similarity_text: Path | None,
    tagged: Path | None,
    settings: dict[str, Any],
    run: opt.Run,
) -> None:
    """Train a tagger on PROTOTYPES, a list of example words for each label, and TEXT, raw sentences.

    Several taggers vote, one for each kind of word similarity.

    \b
    Examples:
      handful fit prototypes tags.tsv raw.txt
      handful fit prototypes names.tsv raw.txt --outside O
    """
    from handful.data.tagged import read_tagged
    from handful.data.word_lists import read_prototypes

    where = model_path(run, text)
    check_outputs(where, inputs=[prototypes, text, similarity_text, tagged, run.resume], force=run.force)
    state = training_state(run)
    lists = read_prototypes(prototypes)
    if tagged is None:
        _check_own_words(prototypes, lists)
    sentences, step = even_sample(_tokens(text), MOST_TEXT)
    if step > 1:
        ui.notice(
            f"{text}: 1 of {step} sentences is used, {sum(map(len, sentences)):,} tokens. Similarity needs no more."
        )
    inputs, tags = list(sentences), None
    if tagged is not None:
        known = read_tagged(tagged)
        _check_shared_labels(tagged, known.tags, [*lists, settings["outside"], settings["boundary"]])
        inputs = [*(sentence.tokens for sentence in known.sentences), *inputs]
        tags = [*map(list, known.tags), *[None] * len(sentences)]
    ensemble = PrototypeEnsemble(lists, n_jobs=run.jobs, random_state=run.seed, **settings)
    more = () if similarity_text is None else _tokens(similarity_text)
    with ui.progress_bar() as progress:
        ensemble.fit(inputs, tags, more_text=more, progress=progress, checkpoint=state)
    trained = {"data": text.name, "prototypes": prototypes.name, "sentences": len(sentences)}
    _save(ctx, ensemble, where, trained, {})
    facts = {"model": str(where), **_prototype_facts(ensemble, lists, sentences), "bytes": where.stat().st_size}
    _prototype_notices(facts)
    if run.as_json:
        ui.emit_json(facts)
        return
    summary = f"{text}: {counted(len(sentences), 'sentence')}, {counted(len(facts['labels']), 'label')}"
    following = (
        f"handful predict {ui.shell_name(where)} {ui.shell_name(text)} -o tagged.tsv",
        f"handful prototypes check {ui.shell_name(prototypes)} {ui.shell_name(text)} --tagger {ui.shell_name(where)}",
    )
    _show(where, summary, _settings_lines(facts, ensemble), *following)


def _check_own_words(path: Path, lists: Mapping[str, Sequence[str]]) -> None:
    """Refuse lists in which every word is under several labels: nothing would separate these."""
    several = under_several_labels(lists)
    if all(word in several for words in lists.values() for word in words):
        word, labels = next(iter(several.items()))
        raise DataError(
            f"{path}: every word is under several labels, such as {word!r} under {' and '.join(labels)}. "
            "Give each label words of its own."
        )


def _check_shared_labels(path: Path, tags: Iterable[Sequence[str]], labels: Collection[str | None]) -> None:
    """Refuse tagged sentences whose tags are not labels of the list."""
    present = {tag for sentence in tags for tag in sentence}
    if not present & set(labels):
        listed = ", ".join(sorted(filter(None, labels))[:5])
        raise ParameterError(f"--tagged: {path} has the tags {', '.join(sorted(present)[:5])}, the list {listed}.")


def _tokens(text: Path) -> Iterator[tuple[str, ...]]:
    """Read sentences; equal words share their memory."""
    return (tuple(map(sys.intern, sentence.tokens)) for sentence in read_sentences(text))


def _prototype_facts(
    ensemble: PrototypeEnsemble, lists: Mapping[str, Sequence[str]], sentences: list[tuple[str, ...]]
) -> dict[str, Any]:
    words = {word for sentence in sentences for word in sentence}
    return {
        "labels": ensemble.classes_.tolist(),
        "sentences": len(sentences),
        "iterations": max(member.n_iter_ for member in ensemble.members_),
        "fields": ensemble.fields_,
        "settings": ensemble.settings_,
        "linked_words": len(words & (ensemble.links_.keys() - ensemble.lexicon_.keys())),
        "several_labels": under_several_labels(lists),
        "absent_prototypes": sorted({word for listed in lists.values() for word in listed} - words),
        "weight_of_tagged": ensemble.crf_weight_,
        "separators": ensemble.separators_,
        "words_a_field": round(_field_length(ensemble.predict(sentences[:_ASKED])), 2) if ensemble.fields_ else None,
    }


def _field_length(tags: Iterable[Sequence[str]]) -> float:
    """Return the mean number of words that have one label in a row."""
    runs = [len(list(run)) for sentence in tags for _, run in groupby(sentence)]
    return sum(runs) / max(len(runs), 1)


def _prototype_notices(facts: Mapping[str, Any]) -> None:
    """Print what may be wrong with a list."""
    several = [f"{word} ({', '.join(labels)})" for word, labels in facts["several_labels"].items()]
    for title, words in (("Under several labels", several), ("Not in the text", facts["absent_prototypes"])):
        if words:
            ui.notice(f"{title}: {', '.join(words[:_SHOWN])}{', ...' if len(words) > _SHOWN else ''}")
    length = facts["words_a_field"]
    if length is not None and length < _SHORT_FIELD:
        ui.notice(f"Fields have {length:.1f} words on average. If yours are longer, add --sticky 4.")


def _settings_lines(facts: Mapping[str, Any], ensemble: PrototypeEnsemble) -> list[str]:
    """Return the settings of the taggers."""
    kinds = list(dict.fromkeys(setting["similarity"] for setting in facts["settings"]))
    sticky = list(dict.fromkeys(f"{setting['sticky']:g}" for setting in facts["settings"]))
    chosen = [f"similarity {', '.join(kinds)}", *([f"sticky {', '.join(sticky)}"] if sticky != ["0"] else [])]
    labels = (
        "fields of several words (if wrong: --no-fields)" if ensemble.fields_ else "single words (if wrong: --fields)"
    )
    lines = [f"Labels     {labels}", f"Taggers    {len(ensemble.members_)}: {'; '.join(chosen)}"]
    if facts["linked_words"]:
        lines.append(f"Linked     {counted(facts['linked_words'], 'word')} similar to prototypes")
    if facts["separators"]:
        lines.append(f"Boundaries {' '.join(facts['separators'])} (--no-separators treats them as words)")
    if ensemble.crf_ is not None:
        lines.append(
            f"Weights    {ui.percent(ensemble.crf_weight_)} tagged sentences, {ui.percent(1 - ensemble.crf_weight_)} prototypes"
        )
    return lines


# -- senses -----------------------------------------------------------------------------------------------------------


@click.command("senses")
@click.argument("sample", type=opt.INPUT)
@click.option("--key", type=opt.INPUT, help="Key with the senses, if SAMPLE has none.")
@click.option(
    "--unlabeled", type=opt.INPUT, multiple=True, help="Raw text to take unlabeled contexts from. Repeatable."
)
@click.option("--limit", type=opt.WholeNumber(min=1), default=1500, show_default=True, help="Most contexts of a word.")
@click.option("--tagger", type=opt.INPUT, help="Part-of-speech tagger (model file), for better features.")
@click.option(
    "--method",
    type=click.Choice(["auto", *method_names("occurrences")]),
    help="Method. Default: auto (cross-validation); composite-kernel-pca with --unlabeled.",
)
@opt.parameters_of(SenseClassifier, leave_out=["tagger", "encoder", "method"])
@opt.run_options("jobs", "seed", "as_json", output={"help": "Model file. Default: SAMPLE.handful next to SAMPLE."})
@click.pass_context
def fit_senses_command(
    ctx: click.Context,
    /,
    sample: Path,
    key: Path | None,
    unlabeled: tuple[Path, ...],
    limit: int,
    tagger: Path | None,
    method: str | None,
    settings: dict[str, Any],
    run: opt.Run,
) -> None:
    """Train a word sense classifier for every word of SAMPLE: Senseval XML, or a table with text, word and sense.

    \b
    Examples:
      handful fit senses senses.tsv
      handful fit senses senses.tsv --unlabeled raw.txt
    """
    from handful.data.files import bare_suffix
    from handful.data.senses import read_occurrences
    from handful.senses.harvesting import harvest

    where = model_path(run, sample)
    check_outputs(where, inputs=[sample, key, tagger, *unlabeled], force=run.force)
    occurrences = list(read_occurrences(sample, key=key))
    if not any(occurrence.senses for occurrence in occurrences):
        raise DataError(f"{sample}: no context has a sense. Fill in some, or name the file that has them with --key.")
    tags = None if tagger is None else load_tagger(tagger)
    method = method or ("composite-kernel-pca" if unlabeled else "auto")
    model = SenseClassifier(method, **settings, tagger=tags, n_jobs=run.jobs, random_state=run.seed)
    harvested: list[Any] = []
    with ui.progress_bar() as progress:
        if unlabeled:
            harvested = harvest(
                chain.from_iterable(read_sentences(path) for path in unlabeled),
                {occurrence.word for occurrence in occurrences},
                limit=limit,
                tagger=None if tags is None else tags.predict,
                progress=progress,
            )
        model.fit(occurrences, harvested, progress=progress)
    methods = Counter(word.method for word in model.models_.values())
    encoder = model.encoder_ and f"{model.encoder_['name']} ({model.encoder_['hash']})"
    chosen = ", ".join(f"{name} ({counted(n, 'word')})" for name, n in methods.most_common())
    _save(ctx, model, where, {"data": sample.name, "methods": chosen} | ({"encoder": encoder} if encoder else {}), {})
    counts = {"words": len(model.models_), "contexts": len(occurrences), "unlabeled": len(harvested)}
    if run.as_json:
        ui.emit_json(
            {"model": str(where), "method": model.method, "methods": methods, **counts, "bytes": where.stat().st_size}
        )
        return
    summary = f"{sample}: {counted(counts['words'], 'word')}, {counted(len(occurrences), 'context')}"
    summary += f", {counted(len(harvested), 'unlabeled context')}" if unlabeled else ""
    following = [f"handful predict {ui.shell_name(where)} NEW{bare_suffix(sample)}"]
    if key is None:  # which 'compare' does not read
        more = f" --unlabeled {ui.shell_name(unlabeled[0])}" if len(unlabeled) == 1 else ""
        following.append(f"handful compare {ui.shell_name(sample)}{more}")
    _show(where, summary, [f"Method     {chosen}"], *following)
