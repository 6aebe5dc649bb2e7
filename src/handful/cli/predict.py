"""``handful predict``: label new rows, or tag new sentences, with a saved model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from handful.cli.console import answers_to, say
from handful.cli.earlier_answers import check_answers
from handful.cli.earlier_model import kind_of
from handful.cli.options import Number, Run, check_apart, check_output, run_options, tokens_option
from handful.core.counted import counted
from handful.core.registry import card_of

# Options that only some kinds of models have a use for.
_OPTIONS = {
    "abstain": ("tables", "sentences"),
    "column": ("tables",),
    "confidence": ("tables",),
    "safe_csv": ("tables",),
    "jobs": ("sentences", "trees"),
    "engine": ("sentences", "trees"),
    "tokens": ("sentences",),
}


@click.command("predict")
@click.argument("models", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.argument("data", type=click.Path(path_type=Path))
@click.option("--abstain", type=Number(0, 1), metavar="SHARE", help="Leave answers blank that are less sure.")
@click.option("--column", default="predicted", show_default=True, help="Name of the new column of answers, in a table.")
@click.option(
    "--confidence", default="confidence", show_default=True, help="Name of the new column of confidence, in a table."
)
@click.option(
    "--safe-csv", is_flag=True, help="Put an apostrophe before texts that a spreadsheet would run as formulas."
)
@tokens_option
@run_options(
    "output", "jobs", "engine", as_json={"help": "Print JSON lines on stdout: one object a row, sentence or context."}
)
@click.pass_context
def command(
    ctx: click.Context,
    models: tuple[Path, ...],
    data: Path,
    abstain: float | None,
    column: str,
    confidence: str,
    safe_csv: bool,
    tokens: Any,
    run: Run,
) -> None:
    """Answer for every row or sentence of DATA with MODELS, files that 'handful fit' wrote.

    One model, or several for sentences: taggers, each of which may read the tags of those before it, and at the end a
    parser, so that 'handful predict tagger.handful parser.handful text.txt' gives trees for raw text.

    All columns are kept and two are added: the answer, and how sure the model is of it. Tables are read and written
    piece by piece, so they may be larger than memory; so are sentences, which several workers may tag side by side
    (--jobs, --engine) with the same output. The output of tables is CSV, TSV or JSON lines by the name of the file, and
    CSV on stdout. Sentences are written as columns, which the first line names; as CoNLL-U where DATA is CoNLL-U or a
    parser is among the models; as JSON lines with character offsets, if the name of the file ends in .jsonl; or as
    documents of spaCy, one a sentence, if it ends in .spacy. With --json, stdout gets JSON lines.

    Cells are written as they are, so a text like =HYPERLINK(...) is a formula to a spreadsheet; --safe-csv prevents that.
    """
    from handful.core.errors import ModelFileError, ParameterError
    from handful.methods import load

    check_output(run.output, *models)
    if run.as_json and run.output is not None:
        raise ParameterError(
            f"--json: is for stdout, got the file {run.output}. Let its name end in .jsonl, or leave one out."
        )
    if column == confidence:
        raise ParameterError(f"--column and --confidence: must be two names, got {column!r} for both.")
    fitted = [load(model) for model in models]
    kinds = [kind_of(model) for model in fitted]
    for model, name, kind in zip(fitted, models, kinds, strict=True):
        if kind not in ("tables", "sentences", "contexts", "trees"):
            card = card_of(type(model))
            raise ModelFileError(
                f"{name}: a model for tables, sentences, trees or contexts is needed, "
                f"got {card.name if card else 'another'}. Use it from Python."
            )
    if len(models) > 1:
        _check_chain(models, kinds)
    kind = kinds[0]
    _check_options(ctx, kind)
    if kind != "tables":
        check_apart(run.output, data)
    check_answers(run.output, fitted[0], (column, confidence))
    if kind == "tables":
        from handful.cli.predict_table import predict_table

        predict_table(fitted[0], data, run, abstain, (column, confidence), safe_csv=safe_csv)
    elif kind == "contexts":
        _predict_senses(fitted[0], data, run)
    else:
        from handful.cli.predict_sentences import predict_sentences

        predict_sentences(fitted, data, run, abstain, tokens)


def _check_chain(models: tuple[Path, ...], kinds: list[str]) -> None:
    """Refuse several models that cannot work one after another."""
    from handful.core.errors import ModelFileError

    allowed = [*["sentences"] * (len(kinds) - 1), kinds[-1] if kinds[-1] == "trees" else "sentences"]
    for model, kind, wanted in zip(models, kinds, allowed, strict=True):
        if kind != wanted:
            raise ModelFileError(
                f"{model}: of several models all must be taggers, and the last may be a parser, got a model of {kind}. "
                "Name the taggers first, then the parser, then the data."
            )


def _check_options(ctx: click.Context, kind: str) -> None:
    """Refuse options that this kind of model has no use for."""
    from click.core import ParameterSource

    from handful.core.errors import ParameterError

    for name, kinds in _OPTIONS.items():
        if kind not in kinds and ctx.get_parameter_source(name) is not ParameterSource.DEFAULT:
            raise ParameterError(
                f"--{name.replace('_', '-')}: is for models of {' and '.join(kinds)}, got one of {kind}. Leave it out."
            )


def _predict_senses(model: Any, data: Path, run: Run) -> None:
    """Write one line of ``word instance sense`` for every context, as answer keys have it, or an object of the three."""
    import json

    from handful.corpora.occurrences import read_occurrences

    occurrences = list(read_occurrences(data))
    senses = model.predict(occurrences)
    with answers_to(run.output) as file:
        for occurrence, sense in zip(occurrences, senses, strict=True):
            answer = {"word": occurrence.word, "id": occurrence.id, "sense": str(sense)}
            file.write((json.dumps(answer, ensure_ascii=False) if run.as_json else " ".join(answer.values())) + "\n")
    if run.output is not None:
        n, n_words = len(occurrences), len({occurrence.word for occurrence in occurrences})
        told = f"{counted(n, 'context')} of {counted(n_words, 'word')} answered in {run.output}."
        say(told, stderr=True)
