"""``handful explain`` and ``handful inspect``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from handful.cli.console import echo, emit_json, percent, verbose
from handful.cli.options import INPUT, WholeNumber, number_option, run_option, tokens_option
from handful.data.records import WHOLE
from handful.errors import DataError, ModelFileError, ParameterError, counted
from handful.registry import method_name_of

if TYPE_CHECKING:
    from handful.data.records import Evidence, Explanation, NearRow
    from handful.models.table_model import TableModel

_MOST = 8  # cells or words that are printed without -v
_MOST_TOKENS = 11  # that are printed without -v
_LINE = "\0"  # between lines of a cell, where a name from data may hold a line feed
_LEAST = 0.0005  # a smaller effect would be printed as 0.000
_LONGEST = 10_000  # tokens of a sentence, each with an explanation


@click.command("explain")
@click.argument("model", type=INPUT)
@click.argument("data", type=INPUT)
@click.option("--row", "row", type=WholeNumber(min=1), default=1, show_default=True, help="Row or sentence, from 1.")
@tokens_option
@run_option("as_json")
def explain_command(model: Path, data: Path, row: int, tokens: Any, as_json: bool) -> None:
    """Explain what MODEL predicts for one row or sentence of DATA.

    Nearest-neighbor models print the deciding rows, linear models the weights of features, others what changes when a cell
    or word is left out (occlusion).

    \b
    Examples:
      handful explain customers.handful new.csv --row 7
      handful explain tagger.handful text.txt
    """
    explanations = _explanations(model, data, row, tokens)
    if as_json:
        emit_json(
            {"model": str(model), "data": str(data), "row": row, "explanations": list(map(_as_dict, explanations))}
        )
        return
    if len(explanations) > 1 and not verbose():
        for explanation in explanations[:_MOST_TOKENS]:
            echo(_brief(explanation))
        echo(f"… {counted(len(explanations), 'token')} in all: -v", style="dim")
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
    from handful.cli.inputs import cut_of
    from handful.data.files import Source
    from handful.data.tagged import read_sentences
    from handful.data.text import TokenStyle

    source = Source(data)
    style = TokenStyle.remembered(model)
    cut = cut_of(source, tokens, style)
    sentence = _nth(data, read_sentences(source, cut, () if style is None else style.abbreviations), row, "sentences")
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
    sure = "" if explanation.confidence is None else f" ({percent(explanation.confidence, 1)})"
    runner_up = "" if explanation.runner_up is None else f", then {explanation.runner_up}"
    subject = f"{explanation.subject}: " if explanation.subject else ""
    return f"{subject}{explanation.label}{sure}{runner_up}"


def _show(explanation: Explanation) -> None:
    echo(_headline(explanation), style="bold")
    for near in explanation.near:
        echo(f"  {_near(near)}")
    if explanation.prototype_of:
        echo(f"  a prototype of {', '.join(explanation.prototype_of)}")
    if explanation.links:
        echo(f"  similar to {', '.join(explanation.links)}")
    evidence = _words_first(explanation.evidence)
    if not verbose():
        evidence = [item for item in evidence if abs(item.weight) >= _LEAST][:_MOST]
    for item in evidence:
        echo(f"  {item.weight:+.3f}  {item.what}")
    if not (explanation.near or explanation.links or explanation.prototype_of or evidence):
        echo("  (no single word or cell decides it)", style="dim")
    if evidence and not explanation.subject:
        echo(f"  ({explanation.how})", style="dim")


def _words_first(evidence: Sequence[Evidence]) -> list[Evidence]:
    """Put the effect of a whole text behind that of its words."""
    columns = {item.what.partition(": ")[0] for item in evidence}
    return sorted(evidence, key=lambda item: item.what.endswith(WHOLE) and item.what.removesuffix(WHOLE) in columns)


def _near(near: NearRow) -> str:
    name = "a training row" if near.row is None else f"training row {near.row + 1}"
    cells = ", ".join(f"{column} {cell}" for column, cell in list(near.cells.items())[:8])
    passed = "".join(f" <- {row + 1}" for row in near.lineage)
    origin = f"; labeled through rows{passed}" if near.lineage else ""
    return f"near {name}, {near.label}, distance {near.distance:.3g}: {cells}{origin}"


@click.command("inspect")
@click.argument("model", type=INPUT)
@number_option("Features or rows to list per class.", 8)
@run_option("as_json")
def inspect_command(model: Path, n: int, as_json: bool) -> None:
    """Show what MODEL contains: method, parameters, classes, columns, features, size and how it was trained.

    \b
    Example:
      handful inspect customers.handful
    """
    from rich.table import Table
    from rich.text import Text

    from handful.cli.console import cell
    from handful.models.inspection import inspect_model

    facts = inspect_model(model, top=n)
    if as_json:
        emit_json(facts)
        return
    trained = facts.get("how it was trained", {})
    if not verbose() and "curve" in trained:
        facts["how it was trained"] = {**trained, "curve": f"{counted(len(trained['curve']), 'size')}: -v"}
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in facts.items():
        table.add_row(name, Text("\n").join(map(cell, _as_text(value).split(_LINE))))
    echo(table)


def _as_text(value: Any) -> str:
    if isinstance(value, dict):
        return _LINE.join(f"{name}: {_as_text(item)}" for name, item in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(_as_text, value))
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    return f"{value:,}" if isinstance(value, int) else f"{value:.4g}"
