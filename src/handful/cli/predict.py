"""``handful predict``: label new rows, or tag new sentences, with a saved model."""

from __future__ import annotations

from pathlib import Path

import click


@click.command("predict")
@click.argument("model", type=click.Path(path_type=Path))
@click.argument("data", type=click.Path(path_type=Path))
@click.option(
    "--output", "-o", type=click.Path(path_type=Path, dir_okay=False), help="File to write; stdout by default."
)
@click.option("--abstain", type=click.FloatRange(0, 1), metavar="SHARE", help="Leave answers blank that are less sure.")
@click.option("--column", default="predicted", show_default=True, help="Name of the new column of answers.")
@click.option("--confidence", default="confidence", show_default=True, help="Name of the new column of confidence.")
def command(model: Path, data: Path, output: Path | None, abstain: float | None, column: str, confidence: str) -> None:
    """Answer for every row or sentence of DATA with MODEL, a file that 'handful fit' wrote.

    All columns are kept and two are added: the answer, and how sure the model is of it. Tables are read and written
    piece by piece, so they may be larger than memory. The output is CSV, TSV or JSON lines by the name of the file, and
    CSV on stdout.
    """
    from handful.methods import load
    from handful.methods.table_model import TableModel

    found = load(model)
    if isinstance(found, TableModel):
        from handful.cli.predict_table import predict_table

        predict_table(found, data, output, abstain, (column, confidence))
        return
    from handful.core.errors import ParameterError
    from handful.core.registry import card_of

    card = card_of(type(found))
    if card is not None and card.takes == "sentences":
        from handful.cli.predict_tags import predict_tags

        predict_tags(found, data, output, abstain)
        return
    if card is not None and card.takes == "contexts":
        from handful.cli.predict_senses import predict_senses

        predict_senses(found, data, output)
        return
    raise ParameterError(
        f"{model}: a model for tables, sentences or contexts is needed, got {card.name if card else 'another'}. Use it from Python."
    )
