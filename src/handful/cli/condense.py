"""``handful condense``: a smaller tagger or parser; see condense_table.py for tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from handful.cli.condense_table import RowCount, condense_table
from handful.cli.console import (
    echo,
    emit_json,
    file_size,
    interval,
    notice,
    percent,
    progress_bar,
    shell_name,
    suggest_command,
)
from handful.cli.export import yes_option
from handful.cli.inputs import load_tagger
from handful.cli.options import INPUT, OUTPUT, Run, command_line, is_given, parameters_of, run_options
from handful.cli.outputs import check_outputs
from handful.errors import HandfulError, counted
from handful.representations.potency import CondensingSettings

if TYPE_CHECKING:
    from handful.representations.condensing import Condensing
    from handful.representations.counts import Share
    from handful.tagging.condensing import LabeledData


def count_files(counts: Path | None, held_out: bool) -> list[Path]:
    """Return where counts are kept: those of a second model are next to those of the first.

    Examples
    --------
    >>> [path.name for path in count_files(Path("news"), held_out=True)]
    ['news', 'news-held-out']
    """
    if counts is None:
        return []
    return [counts, *([counts.parent / f"{counts.name}-held-out"] if held_out else [])]


@dataclass(frozen=True)
class CountPlan:
    """What is to be counted, and where counts are kept.

    Parameters
    ----------
    texts : sequence of Path
        Raw text.
    files : list of Path
        See `count_files`.
    share : Share or None
        Which share of the text is counted, if only one is.
    again : bool
        Count what has been counted before.
    where : dict
        `n_jobs`, `engine` and `checkpoint` of `CondensedFeatures.fit`.
    """

    texts: Sequence[Path]
    files: list[Path]
    share: Share | None
    again: bool
    where: dict[str, Any]

    @property
    def stored(self) -> list[Path]:
        """Files that are there already."""
        return [path for path in self.files if path.exists()]

    def check(self, read: Sequence[Path | None], *, needs_text: bool) -> None:
        """Refuse, before any work is done, what cannot be counted or kept; counts that exist are added to."""
        check_outputs(*self.files, inputs=read, force=True)
        stored = self.stored
        if self.share is not None:
            if not self.files or not self.texts or self.again:
                raise click.UsageError("--shard: needs TEXT and --counts, and excludes --again.")
            if stored == self.files:
                raise click.UsageError(f"--shard: {self.files[0]} exists already. Remove it to count this share again.")
        elif stored and stored != self.files and not self.texts:
            missing = next(path for path in self.files if path not in stored)
            raise click.UsageError(
                f"--counts: {missing} is missing, which --held-out needs. Name TEXT again, or a new file."
            )
        if needs_text and not self.texts and not stored:
            raise click.UsageError("TEXT: missing. Name raw text, or --counts with a file of counts.")

    def carry_out(self, condensing: Condensing, **options: Any) -> None:
        """Read counts that are there, count the text, and write the counts."""
        # A share that was stopped between two files is counted again.
        stored = self.stored if self.share is None else []
        if stored:
            condensing.read_counts(self.files)
        if self.texts:
            try:
                condensing.count(list(self.texts), again=self.again, share=self.share, **self.where, **options)
            except HandfulError as error:
                if self.share is not None:  # so that it can be run alone
                    error.args = (f"shard {self.share}: {error}",)
                raise
        if self.texts or stored:
            condensing.save_counts(self.files)

    def show(self, condensing: Condensing, *, as_json: bool) -> None:
        """Print what was counted of a share, or how much had been counted before."""
        if self.share is not None:
            if as_json:
                emit_json({"counts": str(self.files[0]), "shard": str(self.share), "tokens": condensing.n_counted})
                return
            echo(f"{self.files[0]}: {counted(condensing.n_counted, 'token')}, share {self.share}")
            suggest_command(
                "handful condense --merge COUNTS-1 COUNTS-2 ... -o COUNTS     # when all shares are counted"
            )
        elif condensing.n_known:
            notice(f"{counted(condensing.n_known, 'piece')} of TEXT counted before; --again counts them again.")


@click.command("condense")
@click.argument("files", metavar="MODEL LABELED [TEXT]...", type=INPUT, nargs=-1, required=True)
@click.option("--merge", is_flag=True, help="Add up count files of --shard: condense --merge FILE... -o COUNTS.")
@click.option("--dev", type=INPUT, help="Tagged sentences or trees to score the models on.")
@click.option(
    "--mode",
    type=click.Choice(["rounded", "bins"]),
    help="Rounded weights (default of taggers), or bins learned from TEXT (of parsers).",
)
@parameters_of(CondensingSettings)
@click.option(
    "--pos", "taggers", type=INPUT, multiple=True, help="Tagger for the raw text, one per column. Repeatable."
)
@click.option("--counts", type=OUTPUT, help="File of counts; if it exists, new pieces of TEXT are added.")
@click.option("--shard", metavar="I/N", help="Only count the I-th of N equal shares of TEXT, into --counts.")
@click.option("--again", is_flag=True, help="Count pieces of TEXT that were counted before again.")
@click.option("--rows", type=RowCount(), default=40, show_default=True, help="Tables: rows to keep, or auto.")
@click.option("--html", type=OUTPUT, help="Tables: also write the rows as an HTML page that predicts.")
@yes_option
@run_options(
    "engine",
    "resume",
    "jobs",
    "seed",
    "as_json",
    output={"help": "Small model (default: MODEL-condensed.handful), or also a table of its rows."},
)
@click.pass_context
def condense_command(
    ctx: click.Context, /, files: tuple[Path, ...], merge: bool, run: Run, settings: dict[str, Any], **given: Any
) -> None:
    """Make MODEL smaller.

    A tagger: weights are rounded and small ones dropped. A parser, or --mode bins: features that decide alike on raw TEXT share
    a weight. LABELED is the file that it was trained on; TEXT has one tokenized sentence per line. A model of tables: a few rows
    of a table that predict what it predicts.

    \b
    Examples:
      handful condense customers.handful customers.csv --rows 40 --html model.html
      handful condense tagger.handful train.tsv --dev dev.tsv
      handful condense parser.handful train.conllu raw.txt --shard 1/8 --counts counts-1
      handful condense --merge counts-1 counts-2 -o counts
    """
    if merge:
        _merge_counts(list(files), run)
        return
    if len(files) < 2:
        raise click.UsageError("LABELED: missing. Name the file that MODEL was trained on.")
    from handful.models.table_model import TableModel
    from handful.persistence.model_file import load, save
    from handful.representations.condensing import Condensing
    from handful.representations.counts import Share
    from handful.tagging.condensing import choose_mode, condense, read_labeled, tag_columns

    base = load(files[0])
    _check_kind(ctx, is_table=isinstance(base, TableModel))
    if isinstance(base, TableModel):
        condense_table(ctx, base, files, run, rows=given["rows"], html=given["html"], yes=given["yes"])
        return
    (model, labeled), texts = files[:2], files[2:]
    share = None if given["shard"] is None else Share.parse(given["shard"])
    output = run.output or model.parent / f"{model.stem}-condensed.handful"
    read = (model, labeled, given["dev"], *given["taggers"], *texts)
    check_outputs(None if share is not None else output, inputs=(*read, given["counts"]), force=run.force)
    data = read_labeled(base, labeled, given["dev"])
    mode, held_out = choose_mode(given["mode"], settings["held_out"], is_tagger=data.outputs is not None)
    where = {"n_jobs": run.jobs, "engine": run.engine, "checkpoint": run.resume}
    if mode == "rounded" and (texts or given["counts"] is not None):
        raise click.UsageError("TEXT and --counts: only for --mode bins. Leave them out.")
    plan = CountPlan(texts, count_files(given["counts"], held_out is not None), share, given["again"], where)
    plan.check((*read, None if share is not None else output), needs_text=mode != "rounded")
    prepare = tag_columns(base, [load_tagger(path) for path in given["taggers"]]) if texts else []
    _warn_of_other_data(base, labeled, data)
    chosen = CondensingSettings(**{**settings, "held_out": held_out})
    with progress_bar() as progress:
        condensing = Condensing(base, data.inputs, data.outputs, chosen, progress=progress)
        plan.carry_out(condensing, prepare=prepare, progress=progress)
        result = condense(condensing, progress=progress) if share is None else None
    plan.show(condensing, as_json=run.as_json)
    if result is not None:
        scores = {} if given["dev"] is None else {"before": data.score(base), "after": data.score(result.model)}
        result.model.training_ = _training(ctx, base, result, condensing.n_counted, scores.get("after", {}))
        save(result.model, output, compressed=True)
        _show(_facts(model, base, output, result, condensing.n_counted, scores), run.as_json)


def _check_kind(ctx: click.Context, *, is_table: bool) -> None:
    """Refuse options of the other kind of model."""
    of_texts = {
        "dev",
        "mode",
        "taggers",
        "counts",
        "shard",
        "again",
        *(part.name for part in fields(CondensingSettings)),
    }
    for param in ctx.command.params:
        if param.name in (of_texts if is_table else ("rows", "html")) and is_given(ctx, param):
            kind = "taggers and parsers" if is_table else "models of tables"
            raise click.UsageError(f"{max(param.opts, key=len)}: only for {kind}. Leave it out.")


def _merge_counts(files: list[Path], run: Run) -> None:
    """Write the sum of counts that --shard made; with --held-out, of both files."""
    from handful.representations.counts import FeatureCounts, merge_shares

    if run.output is None:
        raise click.UsageError("-o: missing. Name the file of the sum.")
    targets = count_files(run.output, held_out := count_files(files[0], True)[1].exists())
    parts = [[count_files(file, held_out)[number] for file in dict.fromkeys(files)] for number in range(len(targets))]
    check_outputs(*targets, inputs=[part for group in parts for part in group], force=run.force)
    size = 0
    for target, group in zip(targets, parts, strict=True):
        merged = merge_shares({str(part): FeatureCounts.load(part) for part in group})
        merged.save(target)
        size = merged.size
    if run.as_json:
        emit_json({"output": str(run.output), "shards": len(parts[0]), "tokens": size})
        return
    echo(f"{run.output}: {counted(size, 'token')} of {counted(len(parts[0]), 'share')}")


def _training(ctx: click.Context, base: Any, result: Any, n_tokens: int, scores: dict[str, float]) -> dict[str, Any]:
    """Return how the small model was trained, besides its base model."""
    from handful.version import __version__

    return {
        **getattr(base, "training_", {}),
        "condensed by": command_line(ctx),
        "condensed": result.mode,
        "condensed features": result.model.n_active_condensed_,
        "raw text": n_tokens,
        "handful": __version__,
        **{f"dev {name}": value for name, value in scores.items()},
    }


def _warn_of_other_data(base: Any, labeled: Path, data: LabeledData) -> None:
    """Print what suggests that LABELED is not the file that the model was trained on."""
    training, n_sentences = getattr(base, "training_", {}), len(data.inputs)
    signs = []
    if (n_before := training.get("sentences", n_sentences)) != n_sentences:
        signs.append(f"has {counted(n_sentences, 'sentence')}, not {n_before:,}")
    if (name := training.get("data", labeled.name)) != labeled.name:
        signs.append(f"is not called {name}")
    if unknown := _unknown_tags(base, {tag for row in data.outputs or () for tag in row}):
        signs.append(f"has tags unknown to MODEL ({', '.join(unknown[:5])}{', ...' if len(unknown) > 5 else ''})")
    if signs:
        notice(f"{labeled}: may not be the file that MODEL was trained on: it {', it '.join(signs)}.")


def _unknown_tags(base: Any, tags: set[str]) -> list[str]:
    """Return the tags that a model does not know; of spans, which it may write in its own scheme, those of new types."""
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
        "mode": result.mode,
        "bins": result.bins,
        "dropped": None if result.dropped is None else asdict(result.dropped),
        "tokens": n_tokens,
        "features_before": int(base.n_active_),
        "condensed_features": small.n_active_condensed_,
        "features": int(small.n_active_),
        "dev": scores,
        "bytes_before": model.stat().st_size,
        "bytes": where.stat().st_size,
    }


def _show(facts: dict[str, Any], as_json: bool) -> None:
    if as_json:
        emit_json(facts)
        return
    where, scores = Path(facts["model"]), facts["dev"]
    raw = "" if facts["mode"] == "rounded" else f", {counted(facts['tokens'], 'token')} of raw text"
    echo(f"  Mode       {facts['mode']}{raw}")
    if dropped := facts["dropped"]:
        echo(f"  Dropped    weights below {dropped['below']:g}; {percent(dropped['changed'])} of predictions change")
        name = "F1" if dropped["metric"] == "f1" else "Accuracy"
        limits = f"95% interval {interval(dropped['low'], dropped['high'])}"
        before, sentences = percent(dropped["score_before"]), counted(dropped["n_sentences"], "held-out sentence")
        echo(f"  {name:<10} {percent(dropped['score'])}, {limits} ({sentences}; {before} before)")
    for name, before in scores.get("before", {}).items():
        after = scores["after"][name]
        echo(f"  {name:<10} {percent(before)} before, {percent(after)} after ({100 * (after - before):+.1f} points)")
    after = facts["features" if facts["mode"] == "rounded" else "condensed_features"]
    echo(f"  Weights    {facts['features_before']:,} before, {after:,} after")
    echo(f"  Saved      {where} ({file_size(where)}, before {facts['bytes_before'] / 1e3:.0f} kB)\n")
    if facts["bytes"] >= facts["bytes_before"]:
        notice("The model is not smaller. A higher --discount makes it smaller.")
    suggest_command(f"handful predict {shell_name(where)} TEXT.txt")
