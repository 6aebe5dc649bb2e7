"""``handful condense``: a tagger or parser made small by its own decisions on raw text."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, NamedTuple

import click

from handful.cli.console import console, emit_json, progress_bar
from handful.cli.options import check_output, checkpoint_option, command_line, engine_options
from handful.cli.sentences import load_tagger

Score = Callable[[Any], dict[str, float]]


@click.command("condense")
@click.argument("model", type=click.Path(path_type=Path))
@click.argument("labeled", type=click.Path(path_type=Path))
@click.argument("texts", metavar="TEXT...", type=click.Path(path_type=Path), nargs=-1)
@click.option("--dev", type=click.Path(path_type=Path), help="Tagged sentences or trees to be scored on.")
@click.option(
    "--discount", type=click.FloatRange(min=0), default=1.0, show_default=True, help="Drop what is near chance."
)
@click.option(
    "--resolution",
    type=click.FloatRange(min=0, min_open=True),
    help="Bins a unit of potency: more of them, a larger model. 16 by default, 1 with --held-out.",
)
@click.option(
    "--held-out",
    type=click.IntRange(min=2),
    help="Keep the weights of MODEL, rounded, and learn what bins add to them from one in so many sentences of LABELED, with "
    "a second model that is fitted to the others. Takes twice the time; try 3.",
)
@click.option(
    "--base-step",
    type=click.FloatRange(min=1e-6),
    help="With --held-out: what weights of MODEL are rounded to; 0.02 by default.",
)
@click.option(
    "--vocabulary",
    type=click.Choice(["labeled", "all"]),
    default="labeled",
    show_default=True,
    help="all: also what only the raw text has, --min-count times.",
)
@click.option("--min-count", type=click.IntRange(min=1), default=5, show_default=True, help="Cut-off for 'all'.")
@click.option("--penalty", type=click.Choice(["l2", "l1"]), default="l2", show_default=True, help="l1: even smaller.")
@click.option(
    "--strength",
    type=click.FloatRange(min=0, max=1e9, min_open=True),
    default=1.0,
    show_default=True,
    help="Of the penalty.",
)
@click.option("--iterations", type=click.IntRange(min=1), help="Iterations of training at most.")
@click.option(
    "--pos",
    "taggers",
    type=click.Path(path_type=Path),
    multiple=True,
    help="A tagger that adds part-of-speech tags to the raw text, where MODEL reads them; a parser does. Where it reads "
    "two columns, xpos and upos: one for each, in this order.",
)
@click.option(
    "--counts",
    type=click.Path(path_type=Path, dir_okay=False),
    help="File for the counts; if it is there, TEXT is added.",
)
@click.option("--output", "-o", type=click.Path(path_type=Path, dir_okay=False), help="Where to save the small model.")
@engine_options
@checkpoint_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON on stdout.")
@click.pass_context
def command(
    ctx: click.Context,
    model: Path,
    labeled: Path,
    texts: tuple[Path, ...],
    dev: Path | None,
    discount: float,
    resolution: float | None,
    held_out: int | None,
    base_step: float | None,
    vocabulary: Literal["labeled", "all"],
    min_count: int,
    penalty: Literal["l2", "l1"],
    strength: float,
    iterations: int | None,
    taggers: tuple[Path, ...],
    counts: Path | None,
    output: Path | None,
    jobs: int,
    engine: str | None,
    checkpoint: Path | None,
    as_json: bool,
) -> None:
    """Condense the features of MODEL, a tagger or parser, by what it decides on raw TEXT, and train again on LABELED.

    LABELED is the file MODEL was fitted to. TEXT has one sentence a line, tokens between blanks; it may be packed. The
    result is a model of the same kind with far fewer weights, which many features share. How it scores and how large
    its file is depend on the settings; --dev tells.

    With --held-out the result is better rather than smallest: MODEL's own weights are kept, and raw text corrects them.

    TEXT is counted in pieces of about 1 MB, also where it is packed: --jobs and --engine share them out, and --checkpoint
    keeps those that are done.
    """
    from sklearn.base import clone

    from handful.core.errors import ParameterError
    from handful.core.version import __version__
    from handful.methods import load, save
    from handful.parsing import DependencyParser
    from handful.representations import CondensedFeatures
    from handful.tagging import CRF

    where = output if output is not None else model.with_name(f"{model.stem}-condensed.handful")
    read = (model, labeled, dev, *taggers, *texts)
    if base_step is not None and held_out is None:
        raise click.UsageError("--base-step needs --held-out.")
    if math.isnan(strength):
        raise click.UsageError("--strength must be a number above 0, got nan.")
    several = [] if counts is None else [counts, *([] if held_out is None else [_beside(counts)])]
    check_output(where, *read, *several)
    for path in several:
        check_output(path, *read)
    base = load(model)
    if not isinstance(base, CRF | DependencyParser):
        raise ParameterError(
            f"{model}: must be a model of 'handful fit tagger' or 'handful fit parser', got {type(base).__name__}."
        )
    missing = [path for path in several if not path.exists()]
    stored = bool(several) and not missing
    if missing and len(missing) < len(several):
        raise click.UsageError(
            f"--counts: with --held-out counts are kept in two files, {several[0]} and {several[1]}, but there is no "
            f"{missing[0]}. Name a new file."
        )
    if not texts and not stored:
        raise click.UsageError("TEXT is missing: name raw text to count, or --counts with a file of counts.")
    prepare = _tag_columns(base, taggers) if texts else []
    told: dict[str, Any] = getattr(base, "training_", {})
    prepare_data = _trees if isinstance(base, DependencyParser) else _tags
    inputs, outputs, score, settings = prepare_data(base, labeled, dev)
    if told.get("sentences", len(inputs)) != len(inputs):
        console(stderr=True).print(
            f"{labeled} has {len(inputs):,} sentences, but MODEL was fitted to {told['sentences']:,}.", style="dim"
        )
    if held_out is not None and len(inputs) < held_out:
        raise ParameterError(f"{labeled}: --held-out {held_out} needs as many sentences at least, got {len(inputs)}.")
    bins: dict[str, Any] = {"vocabulary": vocabulary, "min_count": min_count}
    if held_out is not None:
        bins["base_step"] = base_step or 0.02
        settings = settings and {"algorithm": "fobos", "rate": 0.003}
    settings |= {"penalty": penalty, "strength": strength, "max_iter": iterations}
    resolution = resolution or (16.0 if held_out is None else 1.0)

    with progress_bar() as progress:
        work: dict[str, Any] = {"n_jobs": jobs, "engine": engine, "checkpoint": checkpoint, "progress": progress}

        known, others = _split(inputs, held_out), _split(outputs, held_out)
        models = [(base, inputs)]
        if held_out is not None:
            models.append((clone(base).fit(known.rest, others.rest, progress=progress), known.rest))
        counted = [CondensedFeatures(mine, discount, resolution, **bins) for mine, _ in models]
        if stored:
            _read_counts(dict(zip(several, counted, strict=True)), held_out)
        for features, (_, mine) in zip(counted, models, strict=True):
            if not stored:
                features.fit(list(texts), labeled=mine, prepare=prepare, **work)
            elif texts:
                features.extend(list(texts), prepare=prepare, **work)
            if features.n_condensed_ == 0:
                raise ParameterError(f"--discount {discount:g} drops every feature. Lower it, or count more raw text.")
        for path, features in zip(several, counted, strict=False):
            features.save_counts(path)
        features = counted[0]
        if held_out is None:
            small = features.retrain(inputs, outputs, progress=progress, **settings)
        else:
            if not features.condensed_levels_.any():
                raise ParameterError(f"--base-step {bins['base_step']:g} rounds every weight to 0. Lower it.")
            held = _answerable(models[1][0], known.held, others.held)
            small = features.carry(counted[1].retrain(*held, progress=progress, **settings), counted[1])
    if small.n_active_condensed_ == 0:
        raise ParameterError(f"--strength {strength:g} sets every weight to 0. Lower it.")
    scores: dict[str, dict[str, float]] = {}
    if dev is not None:
        scores = {"before": score(base), "after": score(small)}
    small.training_ = {
        **told,
        "condensed by": command_line(ctx),
        "condensed features": small.n_active_condensed_,
        "raw text": features.counts_.size,
        "handful": __version__,
        **{f"dev {name}": value for name, value in scores.get("after", {}).items()},
    }
    n_bytes = model.stat().st_size
    save(small, where)
    facts: dict[str, Any] = {
        "model": str(where),
        "tokens": features.counts_.size,
        "features before": int(base.n_active_),
        "condensed features": small.n_active_condensed_,
        "features that share them": int(small.n_active_),
        "dev": scores,
        "bytes before": n_bytes,
        "bytes": where.stat().st_size,
    }
    if as_json:
        emit_json(facts)
        return
    for line in _lines(facts):
        console().print(line, markup=False, soft_wrap=True)


class _Parts(NamedTuple):
    """Labeled data, cut in two."""

    rest: Any
    held: Any


def _split(items: Any, every: int | None) -> _Parts:
    """Hold out the first of every so many."""
    if items is None or every is None:
        return _Parts(None, None)
    return _Parts([item for number, item in enumerate(items) if number % every], items[::every])


def _answerable(model: Any, inputs: Any, outputs: Any) -> tuple[Any, Any]:
    """Leave out sentences with tags that the model does not know."""
    if outputs is None:
        return inputs, None
    from handful.core.errors import ParameterError
    from handful.corpora.formats.iob import convert

    known, rows = set(model.classes_), outputs
    if model.encoding is not None:
        rows = [convert(tags, model.scheme_, model.encoding.upper()) for tags in outputs]
    mine = [number for number, tags in enumerate(rows) if known.issuperset(tags)]
    if not mine:
        raise ParameterError(
            "--held-out: every sentence that is held out has tags that the others lack. Hold out more."
        )
    return [inputs[number] for number in mine], [outputs[number] for number in mine]


def _read_counts(files: dict[Path, Any], held_out: int | None) -> None:
    """Take stored counts; those of two models must be of the same text."""
    from handful.core.errors import DataError, ParameterError

    for number, (path, features) in enumerate(files.items()):
        try:
            features.fit_counts(path)
        except DataError as error:
            which = f"--held-out {held_out} and this LABELED file" if number else "this MODEL"
            raise ParameterError(f"{path}: must be counts made with {which}. Name a new file. ({error})") from None
    sizes = {features.counts_.size for features in files.values()}
    if len(sizes) > 1:
        told = " and ".join(f"{path} of {features.counts_.size:,}" for path, features in files.items())
        raise ParameterError(f"--counts: both files must be of the same text, got {told} tokens. Name a new file.")


def _beside(counts: Path) -> Path:
    """Return where the counts of the second model are kept."""
    return counts.with_name(f"{counts.name}-held-out")


def _lines(facts: dict[str, Any]) -> list[str]:
    """Tell what came out, for the worse too."""
    from handful.reports import words

    lines, scores = [], facts["dev"]
    for key, before in scores.get("before", {}).items():
        after = scores["after"][key]
        change = f"{100 * (after - before):+.1f}"
        lines.append(f"dev {key}: {words.percent(before)} before, {words.percent(after)} after ({change})")
    lines.append(
        f"{facts['features before']:,} features with a weight each became {facts['features that share them']:,} that share "
        f"{facts['condensed features']:,} weights, by {facts['tokens']:,} tokens of raw text."
    )
    larger = facts["bytes"] >= facts["bytes before"]
    lines.append(
        f"{facts['model']}: {words.size(facts['bytes'])}, {'no smaller than' if larger else 'of'} "
        f"{words.size(facts['bytes before'])}." + (" A higher --discount makes it smaller." if larger else "")
    )
    return lines


def _tag_columns(base: Any, taggers: tuple[Path, ...]) -> list[Any]:
    """Return what adds to raw text the columns that the model reads beside the words."""
    from handful.tagging import TagColumn

    columns = [column for column in base.columns_ if column != "word"]
    named = " and ".join(columns)
    if len(taggers) != len(columns):
        wanted = "is missing: name" if not taggers else "must name" if columns else "is not needed: the model reads"
        what = f"a tagger for each column of tags that the model reads ({named})" if columns else "words alone"
        hint = f" Or fit the parser with --tag {columns[0]}." if len(columns) == 2 else ""
        raise click.UsageError(f"--pos {wanted} {what}.{hint}")
    found: dict[str, Any] = {}
    for path, column in zip(taggers, columns, strict=True):
        tagger = load_tagger(path)
        # The name of the column that it was trained on, where that decides, else the order.
        told: Any = getattr(tagger, "training_", {}).get("tag")
        found[told if told in columns else column] = tagger
    if len(found) != len(columns):
        raise click.UsageError(f"--pos must name one tagger for {' and one for '.join(columns)}, in this order.")
    return [TagColumn(tagger, column) for column, tagger in found.items()]


def _tags(base: Any, labeled: Path, dev: Path | None) -> tuple[Any, Any, Score, dict[str, Any]]:
    """Return sentences and tags to learn from, how to score a tagger, and how to train it."""
    from handful.corpora.tagged import check_columns, read_tagged
    from handful.experiment.tagged import score_tags

    told: dict[str, Any] = getattr(base, "training_", {})
    layout, tag = tuple(told.get("layout", ())), told.get("tag")
    train = read_tagged(labeled, layout, tag)
    held = train if dev is None else read_tagged(dev, layout, tag)
    for path, mine in ((labeled, train), (dev or labeled, held)):
        check_columns(path, mine.sentences[0], base.columns_[1:])

    def score(model: Any) -> dict[str, float]:
        return score_tags(held.tags, model.predict(list(held.sentences)), train.has_spans)

    return list(train.sentences), [list(mine) for mine in train.tags], score, {}


def _trees(base: Any, labeled: Path, dev: Path | None) -> tuple[Any, Any, Score, dict[str, Any]]:
    """Return trees to learn from, how to score a parser, and how to train it."""
    from handful.corpora.treebank import read_treebank

    train = read_treebank(labeled, base.columns_)
    held = train if dev is None else read_treebank(dev, base.columns_)

    def score(model: Any) -> dict[str, float]:
        found: dict[str, float] = model.score(held).as_dict()
        return found

    return train, None, score, {"algorithm": "fobos", "rate": 0.01, "phi_scale": 0.1}
