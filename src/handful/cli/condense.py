"""``handful condense``: a tagger or parser made small by its own decisions on raw text."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from handful.cli.console import console, emit_json, progress_bar, say
from handful.cli.count_files import CountPlan, count_files
from handful.cli.options import Run, check_output, command_line, dev_scores, run_options
from handful.cli.parameters import parameters_of
from handful.cli.sentences import load_tagger
from handful.core.counted import counted
from handful.representations.condensed.settings import CondensingSettings

if TYPE_CHECKING:
    from handful.experiment.condensing import LabeledData


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
    "tagger what does best on held-out sentences, one in three, for a parser bins; with --held-out, kept.",
)
@parameters_of(CondensingSettings, aliases={"max_iter": "--iterations"})
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
@run_options("jobs", "engine", "checkpoint", "as_json", output={"help": "Where to save the small model."})
@click.pass_context
def command(
    ctx: click.Context,
    /,
    model: Path,
    labeled: Path,
    texts: tuple[Path, ...],
    run: Run,
    settings: dict[str, Any],
    **given: Any,
) -> None:
    """Condense the features of MODEL, a tagger or parser, by what it decides on raw TEXT, and train again on LABELED.

    LABELED is the file MODEL was fitted to; with other sentences the result may be worse than MODEL, and a note tells where
    its name, its tags or the number of its sentences are not those of that file. TEXT has one sentence per line, tokens between
    blanks; it may be packed. The result is a model of the same kind in a far smaller file. A tagger is condensed in the way that
    has the fewest errors on held-out sentences, and its own weights are left alone where raw text does not help beyond chance;
    --dev tells how it scores.

    TEXT is counted in pieces of about 1 MB, also where it is packed: --jobs and --engine share them out, and --checkpoint
    keeps those that are done. An array of jobs on several machines counts with --shard 1/8 to --shard 8/8, each into a file of
    its own; 'handful merge FILE... -o COUNTS' then gives the very counts of one run, for --counts.
    """
    from handful.experiment.condensing import choose_way, condense, read_labeled, tag_columns
    from handful.methods import load, save
    from handful.representations.condensed.condensing import Condensing
    from handful.representations.condensed.share import Share

    share = None if given["shard"] is None else Share.parse(given["shard"])
    output = run.output or model.parent / f"{model.stem}-condensed.handful"
    read = (model, labeled, given["dev"], *given["taggers"], *texts)
    check_output(output, *read)
    base = load(model)
    data = read_labeled(base, labeled, given["dev"])
    way, held_out = choose_way(given["way"], settings["held_out"], is_tagger=data.outputs is not None)
    files = count_files(given["counts"], held_out is not None)
    where = {"n_jobs": run.jobs, "engine": run.engine, "checkpoint": run.checkpoint}
    plan = CountPlan(texts, files, share, given["again"], where)
    plan.check(output, read, needs_text=way != "rounded")
    prepare = tag_columns(base, [load_tagger(path) for path in given["taggers"]]) if texts else []
    _tell_other_data(base, labeled, data)
    chosen = CondensingSettings(**{**settings, "held_out": held_out})
    with progress_bar() as progress:
        condensing = Condensing(base, data.inputs, data.outputs, chosen, progress=progress)
        plan.carry_out(condensing, prepare=prepare, progress=progress)
        result = condense(condensing, way, progress=progress) if share is None else None
    plan.tell(condensing, as_json=run.as_json)
    if result is not None:
        scores = {} if given["dev"] is None else {"before": data.score(base), "after": data.score(result.model)}
        result.model.training_ = _training(ctx, base, result, condensing.n_counted, scores.get("after", {}))
        save(result.model, output, packed=True)
        _tell(_facts(model, base, output, result, condensing.n_counted, scores), run.as_json)


def _training(ctx: click.Context, base: Any, result: Any, n_tokens: int, scores: dict[str, float]) -> dict[str, Any]:
    """Return how the small model came about, beside what its base model tells of itself."""
    from handful.core.version import __version__

    return {
        **getattr(base, "training_", {}),
        "condensed by": command_line(ctx),
        "condensed": result.way,
        "condensed features": result.model.n_active_condensed_,
        "raw text": n_tokens,
        "handful": __version__,
        **dev_scores(scores),
    }


def _tell_other_data(base: Any, labeled: Path, data: LabeledData) -> None:
    """Tell what speaks for another file than the one that the model was fitted to."""
    training, n_sentences = getattr(base, "training_", {}), len(data.inputs)
    told = []
    if (n_before := training.get("sentences", n_sentences)) != n_sentences:
        told.append(f"has {counted(n_sentences, 'sentence')}, but MODEL was fitted to {n_before:,}")
    if (name := training.get("data", labeled.name)) != labeled.name:
        told.append(f"is not called {name}, as the file that MODEL was fitted to")
    unknown = _unknown_tags(base, {tag for row in data.outputs or () for tag in row})
    if unknown:
        told.append(
            f"has tags that MODEL does not know ({', '.join(unknown[:5])}{', ...' if len(unknown) > 5 else ''})"
        )
    if told:
        say(f"{labeled}: {'; it '.join(told)}. LABELED must be the file that MODEL was fitted to.", stderr=True)


def _unknown_tags(base: Any, tags: set[str]) -> list[str]:
    """Return the tags that a model does not know; of spans, which it may write in a scheme of its own, those of new types."""
    known = set(map(str, getattr(base, "classes_", ())))
    if getattr(base, "encoding", None) is None:
        return sorted(tags - known)
    types = set(map(_span_type, known))
    return sorted(tag for tag in tags if _span_type(tag) not in types)


def _span_type(tag: str) -> tuple[bool, str]:
    """Return whether a tag is of a span, and the type of the span or else the tag."""
    mark, _, kind = tag.partition("-")
    return (True, kind) if mark in ("B", "I", "E", "S") else (False, tag)


def _facts(model: Path, base: Any, where: Path, result: Any, n_tokens: int, scores: dict[str, Any]) -> dict[str, Any]:
    small = result.model
    return {
        "model": str(where),
        "way": result.way,
        "errors on held-out sentences": result.errors,
        "bins": result.bins,
        "dropped": None if result.dropped is None else asdict(result.dropped),
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


def _why(way: str, errors: dict[str, float], bins: dict[str, float]) -> str:
    """Tell the errors of each way, and why one of them was taken."""
    from handful.reports import words

    # The weights of the base model are what the way called rounded rounds.
    shares = {"rounded" if name == "base" else name: value for name, value in errors.items()}
    told = ", ".join(f"{name} {words.percent(value)}" for name, value in shares.items())
    with_bins = f" ({', '.join(f'{name} {value:g}' for name, value in bins.items())})" if bins else ""
    fewer = [name for name, value in shares.items() if value < shares[way]]
    if len(shares) <= 2 and way != "rounded":
        why = "as --way says"
    elif not fewer:
        why = "for none has fewer"
    elif way == "rounded":
        why = f"for {' and '.join(fewer)} {'is' if len(fewer) == 1 else 'are'} not better beyond chance"
    else:
        why = "for it is better than rounded beyond chance"
    return f"errors of 100 on held-out sentences: {told}; {way}{with_bins} is taken, {why}"


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
        lines.append(_why(facts["way"], errors, facts["bins"]))
    if dropped := facts["dropped"]:
        before, after, changed = (words.percent(dropped[key]) for key in ("errors_before", "errors", "changed"))
        others = ", the others learned again" if dropped["again"] else ""
        lines.append(
            f"weights below {dropped['below']:g} were left out{others}: errors on held-out sentences {before} before, "
            f"{after} after; {changed} of 100 answers changed"
        )
    # Weights that are only rounded are not learned from raw text, though it was counted for the other ways.
    source = "" if facts["way"] == "rounded" else f", by {counted(facts['tokens'], 'token')} of raw text"
    lines.append(
        f"{counted(facts['features before'], 'feature')} with a weight each became {facts['features that share them']:,} "
        f"that share {counted(facts['condensed features'], 'weight')}{source}."
    )
    larger = facts["bytes"] >= facts["bytes before"]
    lines.append(
        f"{facts['model']}: {words.size(facts['bytes'])}, {'no smaller than' if larger else 'of'} "
        f"{words.size(facts['bytes before'])}." + (" A higher --discount makes it smaller." if larger else "")
    )
    return lines
