"""``handful fit tagger``: a tagger from tagged sentences."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from handful.cli.console import console, emit_json, progress_bar, say
from handful.cli.earlier_model import check_earlier
from handful.cli.options import (
    Names,
    Run,
    check_output,
    command_line,
    dev_scores,
    model_file,
    run_options,
    shell_name,
    training_state,
)
from handful.cli.parameters import parameters_of
from handful.core.catalogue import get_card, names
from handful.core.counted import counted
from handful.tagging.recipes import TaggerSetup

if TYPE_CHECKING:
    from handful.core.records import Sentence
    from handful.corpora.tagged import Tagged
    from handful.experiment.tagger_check import TaggerCheck

# Short names of methods, where the catalogue has longer ones.
_SHORT = {
    "two-pass": "two-pass-tagger",
    "stacked": "crf+stacked-condensed-nn",
    "condensed": "crf+condensed-features",
}


@click.command("tagger")
@click.argument("data", type=click.Path(path_type=Path))
@click.option("--dev", type=click.Path(path_type=Path), help="Tagged sentences to be scored on.")
@click.option(
    "--method",
    type=click.Choice(
        [*_SHORT, *(name for name in names("sentences") if name not in ("stacked-tagger", "prototype-team"))]
    ),
    default="crf",
    show_default=True,
    help="How it learns; 'handful methods' says more of each.",
)
@click.option("--layout", type=Names(), help="Names of the columns, such as token,pos,chunk,tag.")
@click.option("--tag", metavar="COLUMN", help="Column of tags; the last one by default, upos in CoNLL-U.")
@click.option(
    "--unlabeled",
    type=click.Path(path_type=Path),
    help="Raw text. A CRF reads clusters of its words; other methods use it in their own way.",
)
@click.option(
    "--clusters", type=click.Path(path_type=Path), help="File of 'handful clusters' for a CRF, in place of --unlabeled."
)
@click.option(
    "--check/--no-check",
    "checked",
    default=True,
    help="Measure how good a CRF is on held-out sentences; without --dev, and up to 2,000 sentences.",
)
@parameters_of(TaggerSetup, aliases={"max_iter": "--iterations"}, into="settings")
@run_options("model", "checkpoint", "seed", "as_json", jobs={"default": -1})
@click.pass_context
def command(
    ctx: click.Context,
    /,
    data: Path,
    dev: Path | None,
    method: str,
    layout: tuple[str, ...] | None,
    tag: str | None,
    checked: bool,
    run: Run,
    **options: Any,
) -> None:
    """Fit a tagger to DATA: one token and its tag per line, a blank line after each sentence; or CoNLL-U.

    By default a CRF, whose settings for spans (B-X, I-X, O) are chosen by cross-validation. How good it is is told by copies
    that learn from four fifths of the sentences and are tested on the rest; the model learns from all.
    """
    from handful.core.version import __version__
    from handful.corpora.tagged import read_tagged
    from handful.evaluation.chunks import score_tags
    from handful.experiment.tagger_check import MOST_CHECKED, check_tagger
    from handful.methods import save

    where = model_file(run, data)
    check_output(where, data, dev, options["unlabeled"], options["clusters"], run.checkpoint)
    _check_options(method, run.checkpoint, options["clusters"], options["unlabeled"])
    if options["settings"]["extra_l2"] and options["settings"]["penalty"] != "l1":
        raise click.UsageError("--extra-l2 is for --penalty l1.")
    state = training_state(run)
    train = read_tagged(data, layout or (), tag)
    replaced = check_earlier(where, "sentences", train.tag)
    for note in train.notes:
        say(note, stderr=True)
    columns = tuple(train.sentences[0].columns)
    held = None if dev is None else _read_dev(dev, train)
    setup = TaggerSetup(**options.pop("settings"), columns=columns, n_jobs=run.jobs, random_state=run.seed)
    earlier = "stays as it was" if where.exists() else "is not written yet"
    with _told_if_stopped(f"{where}: {earlier}, for the tagger was still learning."), progress_bar() as progress:
        tagger = _fit(setup, train, _SHORT.get(method, method), progress=progress, checkpoint=state, **options)
    scores: dict[str, float] = {}
    if held is not None:
        scores = score_tags(held.tags, tagger.predict(list(held.sentences)), train.has_spans)
    tagger.training_ = {
        "data": data.name,
        "layout": list(train.layout),
        "tag": train.tag,
        "sentences": len(train.sentences),
        "tokens": train.style.as_dict(),
        "command": command_line(ctx),
        "handful": __version__,
        **dev_scores(scores),
    }
    save(tagger, where)
    if replaced:
        say(replaced, stderr=True)
    check = None
    if checked and held is None and method == "crf" and len(train.sentences) <= MOST_CHECKED:
        saved = f"{where}: is saved and complete; only the check of how good it is was cut short."
        with _told_if_stopped(saved), progress_bar() as progress:
            check = check_tagger(tagger, train.sentences, train.tags, with_spans=train.has_spans, progress=progress)
    labels = sorted({tag for row in train.tags for tag in row})
    facts: dict[str, Any] = {
        "model": str(where),
        "sentences": len(train.sentences),
        "tags": labels,
        "features": int(getattr(tagger, "n_active_", 0)),
        "dev": scores,
        "check": None if check is None else asdict(check),
        "bytes": where.stat().st_size,
    }
    if run.as_json:
        emit_json(facts)
        return
    _tell(facts, tagger, "" if check is None else _measured(check))
    if held is None and check is None:
        named = layout is not None or tag is not None or options["clusters"] is not None
        say(_how_to_measure(None if named else data, _SHORT.get(method, method), options["unlabeled"]))


@contextmanager
def _told_if_stopped(sentence: str) -> Iterator[None]:
    """Tell what has become of the model file where a person or the system ends the work."""
    try:
        yield
    except (KeyboardInterrupt, SystemExit):
        say(sentence, stderr=True)
        raise


def _measured(check: TaggerCheck) -> str:
    """Tell what to expect of a tagger."""
    from handful.reports import words

    names = {"f1": "F1", **{name: name for name in ("precision", "recall", "accuracy")}}
    others = [f"{names[name]} {words.percent(score)}" for name, score in check.scores.items() if name != check.metric]
    return (
        f"Expected: {names[check.metric]} {words.percent(check.scores[check.metric])} (95 % interval "
        f"{words.percent(check.low)} to {words.percent(check.high)}){''.join(f', {other}' for other in others)}, by "
        f"{counted(check.n_tested, 'sentence')} that taggers of {check.n_trained:,} others had not seen (--no-check leaves it out)."
        f"{_on_new_names(check)}"
    )


def _on_new_names(check: TaggerCheck) -> str:
    """Tell what to expect where a text has other names than the training sentences."""
    from handful.experiment.tagger_check import FEWEST_NEW
    from handful.reports import words

    names = check.new_names
    if names is None:
        return ""
    told = f" {words.percent(names.known)} % of the names in these stand in the others too"
    if names.n < FEWEST_NEW:
        return f"{told}; how it does on other names is not known. Score it with --dev FILE, sentences with other names."
    rest = "where a fifth of the names was held out, F1 of these" if names.by_name else "F1 of the rest"
    return f"{told}; {rest} is {words.percent(names.f1)}: expect about that for such text with other names."


def _how_to_measure(data: Path | None, method: str, unlabeled: Path | None) -> str:
    """Say how to learn how good a tagger is; without data, 'compare' would not read them as they were read."""
    if data is None:
        return "How good it is was not measured; fit with --dev FILE, tagged sentences that it has not seen, tells it."
    raw = "" if unlabeled is None else f" --unlabeled {shlex.quote(str(unlabeled))}"
    compared = f"handful compare {shlex.quote(str(data))} --methods {shlex.quote(method)}{raw}"
    return f"How good it is was not measured; this tells it: {compared}"


def _check_options(method: str, checkpoint: Path | None, clusters: Path | None, unlabeled: Path | None) -> None:
    if checkpoint is not None and method != "crf":
        raise click.UsageError("--checkpoint is for --method crf.")
    if clusters is not None and method != "crf":
        raise click.UsageError("--clusters is for --method crf.")
    if clusters is not None and unlabeled is not None:
        raise click.UsageError("--clusters and --unlabeled exclude each other: clusters are learned from raw text.")


def _read_dev(dev: Path, train: Tagged) -> Tagged:
    from handful.core.errors import FormatError
    from handful.corpora.formats.brat import is_standoff_folder
    from handful.corpora.opening import Source
    from handful.corpora.tagged import check_columns, has_one_tag_column, read_tagged

    source = dev if is_standoff_folder(dev) else Source(dev)
    # A name, of --tag or of a column of CoNLL-U, is that of the training file.
    alone = len(train.layout) != 2 and "pos" not in train.sentences[0].columns
    unnamed = isinstance(source, Source) and alone and has_one_tag_column(source)
    tagged = read_tagged(source) if unnamed else read_tagged(source, train.layout, train.tag)
    check_columns(dev, tagged.sentences[0], [name for name in ("pos",) if name in train.sentences[0].columns])
    for number, tags in enumerate(tagged.tags, start=1) if train.has_spans else ():
        other = next((tag for tag in tags if tag != "O" and tag[1:2] != "-"), None)
        if other is not None:
            raise FormatError(
                dev, None, f"expected tags of spans, as in training, got {other!r} in sentence {number:,}."
            )
    return tagged


def _fit(
    setup: TaggerSetup,
    train: Any,
    method: str,
    *,
    unlabeled: Path | None,
    clusters: Path | None,
    checkpoint: Path | None,
    progress: Any,
) -> Any:
    """Return the fitted tagger."""
    raw = [] if unlabeled is None else _raw(unlabeled, train)
    tags = [list(row) for row in train.tags]
    if method == "crf":
        lookups = _lookups(setup, clusters, raw)
        return setup.fit_crf(train.sentences, tags, lookups, progress=progress, checkpoint=checkpoint)
    card = get_card(method, "sentences")
    if "raw text" in card.resources and not raw:
        raise click.UsageError(f"--method {method} learns from raw text too: name some with --unlabeled.")
    assert card.train is not None
    return card.train(setup, train.sentences, tags, raw)


def _raw(unlabeled: Path, train: Tagged) -> list[Sentence]:
    """Read raw text, cut as the training tokens are."""
    from handful.cli.sentences import cut_of
    from handful.corpora.opening import Source
    from handful.corpora.sentences import read_sentences

    source = Source(unlabeled)
    return list(read_sentences(source, cut_of(source, None, train.style), train.style.abbreviations))


def _lookups(setup: TaggerSetup, clusters: Path | None, raw: list[Sentence]) -> dict[str, Any] | None:
    """Return the clusters of words that a CRF reads, from a file or learned from raw text."""
    from handful.representations.brown import BrownClusters

    if clusters is not None:
        return {"brown": BrownClusters.load(clusters).paths_}
    lookups = setup.lookups(raw) if raw else None
    if raw and lookups is None:
        say(
            "The raw text is not read: with less than five tokens for each different word it tells little of them.",
            stderr=True,
        )
    return lookups


def _tell(facts: dict[str, Any], tagger: Any, expected: str) -> None:
    from handful.reports import words

    out = console()
    told = "".join(f", {name} {words.percent(value)}" for name, value in facts["dev"].items())
    n_features = f", {counted(facts['features'], 'feature')}" if facts["features"] else ""
    where = facts["model"]
    out.print(
        f"{counted(facts['sentences'], 'sentence')}, {counted(len(facts['tags']), 'tag')}{n_features}{told}: {where} "
        f"({words.size(facts['bytes'])})",
        markup=False,
        soft_wrap=True,
    )
    if expected:
        out.print(expected, markup=False, soft_wrap=True)
    # Raw text is enough only where nothing but the words is read.
    others = getattr(tagger, "columns_", ["word"])[1:]
    form = f"FILE.tsv, with the columns {', '.join(['token', *others])}" if others else "TEXT.txt"
    out.print(f"Next: handful predict {shell_name(where)} {form}", markup=False, soft_wrap=True)
