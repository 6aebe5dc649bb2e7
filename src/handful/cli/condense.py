"""``handful condense``: a tagger or parser made small by its own decisions on raw text."""

from __future__ import annotations

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
    "a second model that is fitted to the others. Takes twice the time; 3 is good for parsers.",
)
@click.option(
    "--base-step",
    type=click.FloatRange(min=1e-6),
    default=0.02,
    show_default=True,
    help="With --held-out: what weights of MODEL are rounded to.",
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
    base_step: float,
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
    check_output(where, *read, counts)
    several = [] if counts is None else [counts, *([] if held_out is None else [_beside(counts)])]
    for path in several:
        check_output(path, *read)
    base = load(model)
    if not isinstance(base, CRF | DependencyParser):
        raise ParameterError(
            f"{model}: must be a model of 'handful fit tagger' or 'handful fit parser', got {type(base).__name__}."
        )
    there = [path.exists() for path in several]
    if any(there) and not all(there):
        raise click.UsageError(f"--counts {counts}: was made without --held-out. Leave that out, or name a new file.")
    if not texts and not any(there):
        raise click.UsageError("TEXT is missing: name raw text to count, or --counts with a file of counts.")
    prepare = _tag_columns(base, taggers) if texts else []
    told: dict[str, Any] = getattr(base, "training_", {})
    prepare_data = _trees if isinstance(base, DependencyParser) else _tags
    inputs, outputs, score, settings = prepare_data(base, labeled, dev)
    if held_out is not None and len(inputs) < held_out:
        raise ParameterError(f"{labeled}: --held-out {held_out} needs as many sentences at least, got {len(inputs)}.")
    bins: dict[str, Any] = {"vocabulary": vocabulary, "min_count": min_count}
    if held_out is not None:
        bins["base_step"] = base_step
        settings = settings and {"algorithm": "fobos", "rate": 0.003}
    settings |= {"penalty": penalty, "strength": strength, "max_iter": iterations}
    resolution = resolution or (16.0 if held_out is None else 1.0)

    with progress_bar() as progress:
        work: dict[str, Any] = {"n_jobs": jobs, "engine": engine, "checkpoint": checkpoint, "progress": progress}

        def count(model: Any, labeled: Any, path: Path | None) -> CondensedFeatures:
            features = CondensedFeatures(model, discount, resolution, **bins)
            if path is not None and path.exists():
                features.fit_counts(path)
                if texts:
                    features.extend(list(texts), prepare=prepare, **work)
            else:
                features.fit(list(texts), labeled=labeled, prepare=prepare, **work)
            if path is not None:
                features.save_counts(path)
            if features.n_condensed_ == 0:
                raise ParameterError(f"--discount {discount:g} drops every feature. Lower it, or count more raw text.")
            return features

        features = count(base, inputs, counts)
        if held_out is None:
            small = features.retrain(inputs, outputs, progress=progress, **settings)
        else:
            known, others = _split(inputs, held_out), _split(outputs, held_out)
            second = clone(base).fit(known.rest, others.rest, progress=progress)
            early = count(second, known.rest, None if counts is None else _beside(counts))
            learned = early.retrain(*_answerable(second, known.held, others.held), progress=progress, **settings)
            small = features.carry(learned, early)
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


def _split(items: Any, every: int) -> _Parts:
    """Hold out the first of every so many."""
    if items is None:
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
    from handful.experiment.tagged import check_columns, read_tagged, score_tags

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
    from handful.experiment.treebank import read_treebank

    train = read_treebank(labeled, base.columns_)
    held = train if dev is None else read_treebank(dev, base.columns_)

    def score(model: Any) -> dict[str, float]:
        found: dict[str, float] = model.score(held).as_dict()
        return found

    return train, None, score, {"algorithm": "fobos", "rate": 0.01, "phi_scale": 0.1}
