"""``handful predict``: label new rows, or tag new sentences, with a saved model."""

from __future__ import annotations

from pathlib import Path

import click

from handful.cli.options import Run, check_output, run_options

# Options that only some kinds of models have a use for.
_OPTIONS = {
    "abstain": ("tables", "sentences"),
    "column": ("tables",),
    "confidence": ("tables",),
    "jobs": ("sentences",),
    "engine": ("sentences",),
}


@click.command("predict")
@click.argument("model", type=click.Path(path_type=Path))
@click.argument("data", type=click.Path(path_type=Path))
@click.option("--abstain", type=click.FloatRange(0, 1), metavar="SHARE", help="Leave answers blank that are less sure.")
@click.option("--column", default="predicted", show_default=True, help="Name of the new column of answers, in a table.")
@click.option(
    "--confidence", default="confidence", show_default=True, help="Name of the new column of confidence, in a table."
)
@run_options("output", "jobs", "engine")
@click.pass_context
def command(
    ctx: click.Context,
    model: Path,
    data: Path,
    abstain: float | None,
    column: str,
    confidence: str,
    run: Run,
) -> None:
    """Answer for every row or sentence of DATA with MODEL, a file that 'handful fit' wrote.

    All columns are kept and two are added: the answer, and how sure the model is of it. Tables are read and written
    piece by piece, so they may be larger than memory; so are sentences, which several workers may tag side by side
    (--jobs, --engine) with the same output. The output is CSV, TSV or JSON lines by the name of the file, and
    CSV on stdout; a parser writes CoNLL-U.
    """
    from handful.core.errors import ParameterError
    from handful.core.registry import card_of
    from handful.methods import load

    check_output(run.output, model)
    fitted = load(model)
    card = card_of(type(fitted))
    inner = {"table-model": "tables", "senses": "contexts"}
    kind = "others" if card is None else inner.get(card.name, card.takes)
    if kind not in ("tables", "sentences", "contexts", "trees"):
        raise ParameterError(
            f"{model}: a model for tables, sentences, trees or contexts is needed, "
            f"got {card.name if card else 'another'}. Use it from Python."
        )
    _check_options(ctx, kind)
    if kind == "tables":
        from handful.cli.predict_table import predict_table

        predict_table(fitted, data, run.output, abstain, (column, confidence))
    elif kind == "sentences":
        from handful.cli.predict_tags import predict_tags

        predict_tags(fitted, data, run, abstain)
    elif kind == "contexts":
        from handful.cli.predict_senses import predict_senses

        predict_senses(fitted, data, run.output)
    else:
        from handful.cli.predict_trees import predict_trees

        predict_trees(fitted, data, run.output)


def _check_options(ctx: click.Context, kind: str) -> None:
    """Refuse options that this kind of model has no use for."""
    from click.core import ParameterSource

    from handful.core.errors import ParameterError

    for name, kinds in _OPTIONS.items():
        if kind not in kinds and ctx.get_parameter_source(name) is not ParameterSource.DEFAULT:
            raise ParameterError(f"--{name}: is for models of {' and '.join(kinds)}, got one of {kind}. Leave it out.")
