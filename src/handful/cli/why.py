"""``handful why``: why a model gave a row, or the tokens of a sentence, their labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from handful.cli.console import COUNTED_FROM, console, emit_json
from handful.cli.options import WholeNumber, run_option, tokens_option
from handful.core.errors import ModelFileError, ParameterError
from handful.core.explanation import WHOLE
from handful.core.registry import name_of

if TYPE_CHECKING:
    from handful.core.explanation import Evidence, Explanation, NearRow
    from handful.methods.table_model import TableModel


@click.command("why")
@click.argument("model", type=click.Path(path_type=Path))
@click.argument("data", type=click.Path(path_type=Path))
@click.option(
    "--row", "number", type=WholeNumber(min=1), default=1, show_default=True, help="Row or sentence, counted from 1."
)
@tokens_option
@run_option("as_json")
def command(model: Path, data: Path, number: int, tokens: Any, as_json: bool) -> None:
    """Tell why MODEL labels one row (or sentence) of DATA as it does.

    Models that vote by nearness show the deciding rows and where their labels come from, linear ones the features that
    speak, others what leaving out each cell or word changes; taggers show the observations of each token, and prototype
    taggers the prototypes that words are linked to. Of other taggers and of word senses, the words are told without which
    the answer changes.
    """
    told = _told(model, data, number, tokens)
    if as_json:
        where = {"model": str(model), "data": str(data), **COUNTED_FROM, "row": number - 1}
        emit_json({**where, "explanations": [asdict(t) for t in told]})
        return
    for explanation in told:
        _show(explanation)


def _told(model: Path, data: Path, number: int, tokens: Any) -> list[Explanation]:
    from handful.methods import load
    from handful.methods.table_model import TableModel
    from handful.senses import SenseClassifier
    from handful.tagging.base import Tagger

    fitted = load(model)
    if isinstance(fitted, TableModel):
        return [_explained(fitted, data, number)]
    if isinstance(fitted, SenseClassifier):
        from handful.labeling.left_out import explain_sense

        return [explain_sense(fitted.predict, _occurrence(data, number))]
    if hasattr(fitted, "explain"):
        told: list[Explanation] = fitted.explain(_sentence(fitted, data, number, tokens))
        return told
    if isinstance(fitted, Tagger):
        from handful.labeling.left_out import explain_tags

        return explain_tags(fitted, _sentence(fitted, data, number, tokens))
    raise ModelFileError(
        f"{model}: a model for tables, a tagger or a model of word senses is needed, got {name_of(fitted)}."
    )


def _explained(model: TableModel, data: Path, number: int) -> Explanation:
    """Explain a row of a table, with numbers read as `predict` reads those of the whole table."""
    from handful.cli.new_tables import open_table
    from handful.corpora.tables import table_frames

    table = open_table(model, data, table_frames(data))
    before = 0
    for _, frame in table.frames:
        if number <= before + frame.height:
            return table.model.explain(frame[number - 1 - before : number - before])
        before += frame.height
    raise ParameterError(f"{data}: --row must be from 1 to {before:,}, the number of rows, got {number}.")


def _sentence(model: Any, data: Path, number: int, tokens: Any) -> Any:
    from handful.cli.sentences import cut_of
    from handful.corpora.opening import Source
    from handful.corpora.sentences import read_sentences
    from handful.corpora.token_style import TokenStyle

    source = Source(data)
    style = TokenStyle.remembered(model)
    cut = cut_of(source, tokens, style)
    sentences = list(islice(read_sentences(source, cut, () if style is None else style.abbreviations), number))
    if len(sentences) < number:
        raise ParameterError(
            f"{data}: --row must be from 1 to {len(sentences):,}, the number of sentences, got {number}."
        )
    return sentences[-1]


def _occurrence(data: Path, number: int) -> Any:
    from handful.corpora.occurrences import read_occurrences

    occurrences = list(islice(read_occurrences(data), number))
    if len(occurrences) < number:
        raise ParameterError(
            f"{data}: --row must be from 1 to {len(occurrences):,}, the number of contexts, got {number}."
        )
    return occurrences[-1]


def _show(told: Explanation) -> None:
    from rich.text import Text

    out = console()
    sure = "" if told.confidence is None else f" ({told.confidence:.0%})"
    rather = "" if told.runner_up is None else f", rather than {told.runner_up}"
    subject = f"{told.subject}: " if told.subject else ""
    out.print(Text(f"{subject}{told.label}{sure}{rather}", style="bold"))
    for near in told.near:
        out.print(Text(f"  {_near(near)}"))
    if told.prototype_of:
        out.print(Text(f"  a prototype of {', '.join(told.prototype_of)}"))
    if told.links:
        out.print(Text(f"  linked to {', '.join(told.links)}"))
    for item in _words_first(told.evidence):
        out.print(Text(f"  {item.weight:+.3f}  {item.what}"))
    if not (told.near or told.links or told.prototype_of or told.evidence):
        out.print(
            Text("  (no single word or cell decides it: without any one of them the answer is the same)", style="dim")
        )
    if told.evidence and not told.subject:
        out.print(Text(f"  ({told.how})", style="dim"))


def _words_first(evidence: Sequence[Evidence]) -> list[Evidence]:
    """Put what a whole text does behind its words, which tell more."""
    columns = {item.what.partition(": ")[0] for item in evidence}
    return sorted(evidence, key=lambda item: item.what.endswith(WHOLE) and item.what.removesuffix(WHOLE) in columns)


def _near(near: NearRow) -> str:
    name = "a training row" if near.row is None else f"training row {near.row + 1}"
    held = ", ".join(f"{column} {cell}" for column, cell in list(near.cells.items())[:8])
    passed = "".join(f" <- {row + 1}" for row in near.lineage)
    origin = f"; its label was passed on by rows{passed}" if near.lineage else ""
    return f"near {name}, {near.label}, {near.distance:.3g} away: {held}{origin}"
