"""``handful explain``, ``inspect`` and ``methods``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from handful.cli import console as ui
from handful.cli import options as opt
from handful.cli.files import read_text
from handful.data.records import WHOLE
from handful.errors import DataError, ModelFileError, ParameterError, counted
from handful.registry import method_name_of
from handful.report.content import clipped

if TYPE_CHECKING:
    from handful.data.records import Evidence, Explanation, NearRow
    from handful.models.table_model import TableModel

_MOST = 8  # cells or words that are printed without -v
_MOST_TOKENS = 11  # that are printed without -v
_LINE = "\0"  # between lines of a cell, where a name from data may hold a line feed
_LEAST = 0.0005  # a smaller effect would be printed as 0.000
_DETAILS = ("file", "parameters", "arrays")  # of `inspect`, printed with -v
_MOST_FACTS, _WIDTH = 10, 90  # of `inspect` without -v
_TRAINING = "how it was trained"
_LONGEST = 10_000  # tokens of a sentence, each with an explanation


@click.command("explain")
@click.argument("model", type=opt.INPUT)
@click.argument("data", type=opt.INPUT)
@click.option(
    "--row", "row", type=opt.WholeNumber(min=1), default=1, show_default=True, help="Row or sentence, from 1."
)
@opt.tokens_option
@opt.run_option("as_json")
def explain_command(model: Path, data: Path, row: int, tokens: Any, as_json: bool) -> None:
    """Explain what MODEL predicts for one row or sentence of DATA.

    Prints how the probability changes when a cell or word is left out (occlusion); nearest-neighbor models also print the
    deciding rows.

    \b
    Examples:
      handful explain customers.handful new.csv --row 7
      handful explain tagger.handful text.txt
    """
    explanations = _explanations(model, data, row, tokens)
    if as_json:
        ui.emit_json(
            {"model": str(model), "data": str(data), "row": row, "explanations": list(map(_as_dict, explanations))}
        )
        return
    if len(explanations) > 1 and not ui.verbose():
        for explanation in explanations[:_MOST_TOKENS]:
            ui.echo(_brief(explanation))
        ui.echo(f"… {counted(len(explanations), 'token')} in all: -v", style="dim")
        return
    for explanation in explanations:
        _show(explanation)


def _explanations(model: Path, data: Path, row: int, tokens: Any) -> list[Explanation]:
    from handful.models.table_model import TableModel
    from handful.persistence.model_file import load
    from handful.senses.classifier import SenseClassifier
    from handful.tagging.base import Tagger

    fitted = load(model)
    if isinstance(fitted, TableModel):
        return [_explain_row(fitted, data, row)]
    if isinstance(fitted, SenseClassifier):
        from handful.data.senses import read_occurrences
        from handful.models.explain import explain_sense

        return [explain_sense(fitted.predict, _nth(data, read_occurrences(data), row, "contexts"))]
    if hasattr(fitted, "explain"):
        explanations: list[Explanation] = fitted.explain(_sentence(fitted, data, row, tokens))
        return explanations
    if isinstance(fitted, Tagger):
        from handful.models.explain import explain_tags

        return explain_tags(fitted, _sentence(fitted, data, row, tokens))
    raise ModelFileError(
        f"{model}: {method_name_of(fitted)} makes no predictions. Use a model of tables, tags or senses."
    )


def _explain_row(model: TableModel, data: Path, row: int) -> Explanation:
    """Explain a row of a table, read as `predict` reads the whole table."""
    from handful.data.table import table_frames

    before = 0
    for frame in table_frames(data):
        if row <= before + frame.height:
            return model.explain(frame[row - 1 - before : row - before])
        before += frame.height
    raise ParameterError(f"--row: {data} has {before:,} rows, got {row}.")


def _nth(data: Path, items: Iterable[Any], row: int, what: str) -> Any:
    first = list(islice(items, row))
    if len(first) < row:
        raise ParameterError(f"--row: {data} has {len(first):,} {what}, got {row}.")
    return first[-1]


def _sentence(model: Any, data: Path, row: int, tokens: Any) -> Any:
    from handful.data.text import TokenStyle

    sentence = _nth(data, read_text(data, TokenStyle.remembered(model), tokens), row, "sentences")
    if len(sentence) > _LONGEST:
        raise DataError(
            f"{data}: sentence {row:,} has {len(sentence):,} tokens, at most {_LONGEST:,} can be explained. "
            "Split the text into sentences."
        )
    return sentence


def _as_dict(explanation: Explanation) -> dict[str, Any]:
    """Return an explanation for JSON, with rows counted from 1."""
    facts = asdict(explanation)
    for near in facts["near"]:
        near["row"] = None if near["row"] is None else near["row"] + 1
        near["lineage"] = [row + 1 for row in near["lineage"]]
    return facts


def _brief(explanation: Explanation) -> str:
    """Return the label of a token and the strongest evidence for it."""
    first = "".join(f"   {item.weight:+.3f} {item.what}" for item in explanation.evidence[:1])
    return f"{_headline(explanation)}{first}"


def _headline(explanation: Explanation) -> str:
    sure = "" if explanation.confidence is None else f" ({ui.percent(explanation.confidence, 1)})"
    runner_up = "" if explanation.runner_up is None else f", then {explanation.runner_up}"
    subject = f"{explanation.subject}: " if explanation.subject else ""
    return f"{subject}{explanation.label}{sure}{runner_up}"


def _show(explanation: Explanation) -> None:
    ui.echo(_headline(explanation), style="bold")
    for near in explanation.near:
        ui.echo(f"  {_near(near)}")
    if explanation.prototype_of:
        ui.echo(f"  a prototype of {', '.join(explanation.prototype_of)}")
    if explanation.links:
        ui.echo(f"  similar to {', '.join(explanation.links)}")
    evidence = _words_first(explanation.evidence)
    if not ui.verbose():
        evidence = [item for item in evidence if abs(item.weight) >= _LEAST][:_MOST]
    for item in evidence:
        ui.echo(f"  {item.weight:+.3f}  {item.what}")
    if not (explanation.near or explanation.links or explanation.prototype_of or evidence):
        ui.echo("  (no single word or cell decides it)", style="dim")
    if evidence and not explanation.subject:
        ui.echo(f"  ({explanation.how})", style="dim")


def _words_first(evidence: Sequence[Evidence]) -> list[Evidence]:
    """Put the effect of a whole text behind that of its words."""
    columns = {item.what.partition(": ")[0] for item in evidence}
    return sorted(evidence, key=lambda item: item.what.endswith(WHOLE) and item.what.removesuffix(WHOLE) in columns)


def _near(near: NearRow) -> str:
    name = "a training row" if near.row is None else f"training row {near.row + 1}"
    cells = ", ".join(f"{column} {value}" for column, value in list(near.cells.items())[:8])
    passed = "".join(f" <- {row + 1}" for row in near.lineage)
    origin = f"; labeled through rows{passed}" if near.lineage else ""
    return f"near {name}, {near.label}, distance {near.distance:.3g}: {cells}{origin}"


@click.command("inspect")
@click.argument("model", type=opt.INPUT)
@opt.number_option("Features or rows to list per class.", 8)
@opt.run_option("as_json")
def inspect_command(model: Path, n: int, as_json: bool) -> None:
    """Show what MODEL contains: method, parameters, classes, columns, features, size and how it was trained.

    \b
    Example:
      handful inspect customers.handful
    """
    from rich.text import Text

    from handful.models.inspection import inspect_model

    facts = inspect_model(model, top=n)
    if as_json:
        ui.emit_json(facts)
        return
    table = ui.make_table("", "")
    table.show_header = False
    if not ui.verbose():
        for name, value in [(name, value) for name, value in facts.items() if name not in _DETAILS][:_MOST_FACTS]:
            text = _training(value, facts.get("labeled rows")) if name == _TRAINING else _as_text(value)
            table.add_row(ui.cell(name), ui.cell(clipped(text.replace(_LINE, "; "), _WIDTH)))
        ui.echo(table)
        ui.echo("-v prints all.", style="dim")
        return
    for name, value in facts.items():
        table.add_row(ui.cell(name), Text("\n").join(map(ui.cell, _as_text(value).split(_LINE))))
    ui.echo(table)


def _training(facts: dict[str, Any], n_labeled: int | None) -> str:
    """Return how a model was selected and its estimated score, or all facts if they hold neither."""
    score = facts.get("estimate")
    if (
        "selection" not in facts
        or not isinstance(score, dict)
        or not {"metric", "value", "low", "high"} <= score.keys()
    ):
        return _as_text(facts)
    metric = f"{score['metric']} {ui.percent(score['value'], n_labeled)}".replace("_", " ")
    return f"{facts['selection'].rstrip('.')}; {metric}, 95% interval {ui.interval(score['low'], score['high'])}"


def _as_text(value: Any) -> str:
    if isinstance(value, dict):
        return _LINE.join(f"{name}: {_as_text(item)}" for name, item in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(_as_text, value))
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    return f"{value:,}" if isinstance(value, int) else f"{value:.4g}"


# -- methods -----------------------------------------------------------------------------------------------------------

_NOT_FITTED = ("model", "text")  # tasks whose names no --method takes


@click.command("methods")
@opt.run_option("as_json")
def methods_command(as_json: bool) -> None:
    """List the methods: name, task, paper, and what they do.

    \b
    Example:
      handful methods --json
    """
    from handful.registry import all_methods

    methods = list(all_methods())
    if as_json:
        plain = ("name", "task", "uses_unlabeled", "supervised_control", "paper", "cost", "baseline", "summary")
        ui.emit_json(
            [
                {name: getattr(spec, name) for name in plain}
                | {
                    "class": None if spec.cls is None else f"{spec.cls.__module__}.{spec.cls.__qualname__}",
                    "grid": {name: list(values) for name, values in spec.grid.items()},
                }
                for spec in methods
            ]
        )
        return
    if not ui.verbose():
        for task in dict.fromkeys(spec.task for spec in methods if spec.task not in _NOT_FITTED):
            ui.echo(f"{f'{task}:':<13}{', '.join(spec.name for spec in methods if spec.task == task)}")
        ui.echo("\n-v describes each.", style="dim")
        return
    table = ui.make_table("name", "task", "unlabeled", "paper", "summary")
    for spec in methods:
        table.add_row(spec.name, spec.task, "yes" if spec.uses_unlabeled else "-", spec.paper or "-", spec.summary)
    ui.echo(table)
