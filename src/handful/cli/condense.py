"""``handful condense``: a tagger or parser made small by its own decisions on raw text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import click

from handful.cli.console import console, emit_json, progress_bar
from handful.cli.options import check_output, checkpoint_option, command_line, dev_scores, engine_options, run_option
from handful.cli.parameters import Declared
from handful.cli.sentences import load_tagger
from handful.core.errors import HandfulError
from handful.core.params import AtLeast

if TYPE_CHECKING:
    from handful.representations.condensed.share import Share

_HELD_OUT = 3


@click.command("condense")
@click.argument("model", type=click.Path(path_type=Path))
@click.argument("labeled", type=click.Path(path_type=Path))
@click.argument("texts", metavar="TEXT...", type=click.Path(path_type=Path), nargs=-1)
@click.option("--dev", type=click.Path(path_type=Path), help="Tagged sentences or trees to be scored on.")
@click.option(
    "--way",
    type=click.Choice(["auto", "bins", "kept", "rounded"]),
    default="auto",
    show_default=True,
    help="bins: weights of bins alone. kept: MODEL's weights and what bins add. rounded: MODEL's weights. auto: for a "
    "tagger what does best on held-out sentences, for a parser bins, or kept with --held-out.",
)
@click.option(
    "--discount", type=click.FloatRange(min=0), default=1.0, show_default=True, help="Drop what is near chance."
)
@click.option(
    "--resolution",
    type=click.FloatRange(min=0, min_open=True),
    help="Bins a unit of potency: more of them, a larger model. 16 by default, 1 where weights are kept.",
)
@click.option(
    "--held-out",
    type=click.IntRange(min=2),
    help="Hold out one in so many sentences of LABELED, with a second model that is fitted to the others; 3 by default. "
    "Without --way, the weights of MODEL are kept, and what bins add to them is learned there.",
)
@click.option(
    "--base-step",
    type=click.FloatRange(min=1e-6),
    help="Where weights are kept: what those of MODEL are rounded to before bins add to them; 0.02 by default.",
)
@click.option(
    "--drop",
    type=Declared(Annotated[float, AtLeast(0)] | Literal["auto"]),
    default="auto",
    show_default=True,
    help="Drop features whose weight in the end is nearer to 0. auto: what costs a tagger nothing on held-out sentences.",
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
    help="File for the counts; if it is there, TEXT is added, but for pieces that it has counted already. Where sentences are "
    "held out, a second file, FILE-held-out, stands beside it.",
)
@click.option(
    "--shard",
    metavar="I/N",
    help="Only count, and only the I-th of N equal shares of TEXT, into --counts; 'handful merge' puts the N files together.",
)
@click.option("--again", is_flag=True, help="Count pieces of TEXT again that have been counted before.")
@run_option("output", help="Where to save the small model.")
@engine_options
@checkpoint_option
@run_option("as_json")
@click.pass_context
def command(
    ctx: click.Context,
    /,
    model: Path,
    labeled: Path,
    texts: tuple[Path, ...],
    as_json: bool,
    **options: Any,
) -> None:
    """Condense the features of MODEL, a tagger or parser, by what it decides on raw TEXT, and train again on LABELED.

    LABELED is the file MODEL was fitted to. TEXT has one sentence per line, tokens between blanks; it may be packed. The
    result is a model of the same kind in a far smaller file. A tagger is condensed in the way that has the fewest errors on
    held-out sentences, and its own weights are left alone where raw text does not help; --dev tells how it scores.

    TEXT is counted in pieces of about 1 MB, also where it is packed: --jobs and --engine share them out, and --checkpoint
    keeps those that are done. An array of jobs on several machines counts with --shard 1/8 to --shard 8/8, each into a file of
    its own; 'handful merge FILE... -o COUNTS' then gives the very counts of one run, for --counts.
    """
    from handful.core.version import __version__
    from handful.experiment.condensing import read_labeled, tag_columns
    from handful.methods import load, save
    from handful.representations.condensed.condensing import Condensing, CondensingSettings

    dev, counts, taggers, again = (options.pop(name) for name in ("dev", "counts", "taggers", "again"))
    share = _share(options.pop("shard"))
    where = options.pop("output") or model.with_name(f"{model.stem}-condensed.handful")
    work = {"n_jobs": options.pop("jobs"), "engine": options.pop("engine"), "checkpoint": options.pop("checkpoint")}
    check_output(where, model, labeled, dev, *taggers, *texts)
    base = load(model)
    data = read_labeled(base, labeled, dev)
    way = _way(options.pop("way"), options, is_tagger=data.outputs is not None)
    settings = CondensingSettings(max_iter=options.pop("iterations"), **options)
    files = count_files(counts, settings.held_out is not None)
    _check_outputs(where, files, (model, labeled, dev, *taggers, *texts))
    stored = [path for path in files if path.exists()]
    if share is not None:
        _check_share(files, stored, texts, again)
        stored = []  # of a share that was stopped between two files, which is counted again
    elif stored != files and not texts:
        _check_all_there(files, stored)
    if not texts and not stored and way != "rounded":
        raise click.UsageError("TEXT is missing: name raw text to count, or --counts with a file of counts.")
    prepare = tag_columns(base, [load_tagger(path) for path in taggers]) if texts else []
    _tell_other_data(base, labeled, len(data.inputs))
    with progress_bar() as progress:
        condensing = Condensing(base, data.inputs, data.outputs, settings, progress=progress)
        if stored:
            condensing.read_counts(files)
        if texts:
            counting = {"prepare": prepare, "progress": progress, "again": again, "share": share, **work}
            with _named(share):
                condensing.count(list(texts), **counting)
        if texts or stored:
            condensing.save_counts(files)
        if share is not None:
            _tell_share(share, condensing.n_counted, files[0], as_json)
            return
        result = _result(condensing, way, progress)
    _tell_known(condensing.n_known)
    small = result.model
    scores = {} if dev is None else {"before": data.score(base), "after": data.score(small)}
    made = {"condensed features": small.n_active_condensed_, "raw text": condensing.n_counted, "handful": __version__}
    small.training_ = {
        **getattr(base, "training_", {}),
        "condensed by": command_line(ctx),
        "condensed": result.way,
        **made,
        **dev_scores(scores.get("after", {})),
    }
    save(small, where, packed=True)
    _tell(_facts(model, base, where, result, condensing.n_counted, scores), as_json)


def _result(condensing: Any, way: Any, progress: Any) -> Any:
    """Return the small model, and how it came about."""
    from handful.experiment.condensing import Condensed, condense_tagger

    if way is None:
        told: Any = "bins" if condensing.settings.held_out is None else "kept"
        result = Condensed(condensing.train(progress=progress), told, {})
    else:
        drop = None if condensing.settings.drop == "auto" else condensing.settings.drop
        result = condense_tagger(condensing, None if way == "auto" else way, drop, progress=progress)
    # what was learned of bins is folded into the weights, and would only make the file larger
    for name in ("condensed_weights_", "tied_weights_"):
        result.model.__dict__.pop(name, None)
    return result


def _check_outputs(where: Path, counts: list[Path], read: Sequence[Path | None]) -> None:
    """Refuse a model or counts that would replace a file that is read, or each other."""
    check_output(where, *read, *counts)
    for path in counts:
        check_output(path, *read)


def _tell_other_data(base: Any, labeled: Path, n_sentences: int) -> None:
    n_before = getattr(base, "training_", {}).get("sentences", n_sentences)
    if n_before != n_sentences:
        told = f"{labeled} has {n_sentences:,} sentences, but MODEL was fitted to {n_before:,}."
        console(stderr=True).print(told, style="dim")


def _tell_known(n_known: int) -> None:
    if n_known:
        pieces = f"{n_known:,} pieces of TEXT were" if n_known > 1 else "One piece of TEXT was"
        told = f"{pieces} counted before and left out; --again counts them once more."
        console(stderr=True).print(told, style="dim")


def _facts(model: Path, base: Any, where: Path, result: Any, n_tokens: int, scores: dict[str, Any]) -> dict[str, Any]:
    small = result.model
    return {
        "model": str(where),
        "way": result.way,
        "errors on held-out sentences": result.errors,
        "tokens": n_tokens,
        "features before": int(base.n_active_),
        "condensed features": small.n_active_condensed_,
        "features that share them": int(small.n_active_),
        "dev": scores,
        "bytes before": model.stat().st_size,
        "bytes": where.stat().st_size,
    }


def _tell(facts: dict[str, Any], as_json: bool) -> None:
    if as_json:
        emit_json(facts)
        return
    for line in _lines(facts):
        console().print(line, markup=False, soft_wrap=True)


def _way(way: str, options: dict[str, Any], *, is_tagger: bool) -> Any:
    """Return the way of a tagger that holds sentences out, or None; how many are held out is written into the options."""
    if not is_tagger:
        if way == "rounded" or (way == "bins" and options["held_out"]):
            raise click.UsageError(f"--way {way} {'is for taggers' if way == 'rounded' else 'holds no trees out'}.")
        if way == "kept":
            options["held_out"] = options["held_out"] or _HELD_OUT
        return None
    if way == "auto" and options["held_out"]:
        way = "kept"
    if way == "bins" and not options["held_out"]:
        return None
    options["held_out"] = options["held_out"] or _HELD_OUT
    return way


def count_files(counts: Path | None, held_out: bool) -> list[Path]:
    """Return where counts are kept: those of a second model stand beside those of the first."""
    if counts is None:
        return []
    return [counts, *([counts.with_name(f"{counts.name}-held-out")] if held_out else [])]


def _check_all_there(files: list[Path], stored: list[Path]) -> None:
    """Refuse one of two files of counts where no text is given, of which the other could be counted."""
    if stored:
        missing = next(path for path in files if path not in stored)
        raise click.UsageError(
            f"--counts: with --held-out counts are kept in two files, {files[0]} and {files[1]}, but there is no "
            f"{missing}. Name TEXT again, or a new file."
        )


@contextmanager
def _named(share: Share | None) -> Iterator[None]:
    """Let an error tell which share it is of, so that it can be run alone."""
    try:
        yield
    except HandfulError as error:
        if share is not None:
            error.args = (f"shard {share}: {error}",)
        raise


def _share(text: str | None) -> Share | None:
    from handful.representations.condensed.share import Share

    return None if text is None else Share.parse(text)


def _check_share(files: list[Path], stored: list[Path], texts: tuple[Path, ...], again: bool) -> None:
    if not files or not texts or again:
        raise click.UsageError("--shard needs TEXT and --counts, and goes without --again.")
    if stored == files:
        raise click.UsageError(f"--shard: {files[0]} is there already. Remove it to count this share again.")


def _tell_share(share: Share, n_counted: int, file: Path, as_json: bool) -> None:
    if as_json:
        emit_json({"counts": str(file), "shard": str(share), "tokens": n_counted})
        return
    told = f"{file}: {n_counted:,} tokens, share {share}. When all are there: handful merge ... -o COUNTS"
    console().print(told, markup=False, soft_wrap=True)


def _lines(facts: dict[str, Any]) -> list[str]:
    """Tell what came out, for the worse too."""
    from handful.reports import words

    lines, scores = [], facts["dev"]
    for key, before in scores.get("before", {}).items():
        after = scores["after"][key]
        change = f"{100 * (after - before):+.1f}"
        lines.append(f"dev {key}: {words.percent(before)} before, {words.percent(after)} after ({change})")
    errors = facts["errors on held-out sentences"]
    if len(errors) > 1:
        told = ", ".join(f"{name} {words.percent(value)}" for name, value in errors.items())
        lines.append(f"errors on held-out sentences: {told}; chosen: {facts['way']}")
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
