"""``handful predict``: label new rows, or tag new sentences, with a saved model."""

from __future__ import annotations

from pathlib import Path

import click

from handful.cli.options import engine_options


@click.command("predict")
@click.argument("model", type=click.Path(path_type=Path))
@click.argument("data", type=click.Path(path_type=Path))
@click.option(
    "--output", "-o", type=click.Path(path_type=Path, dir_okay=False), help="File to write; stdout by default."
)
@click.option("--abstain", type=click.FloatRange(0, 1), metavar="SHARE", help="Leave answers blank that are less sure.")
@click.option("--column", default="predicted", show_default=True, help="Name of the new column of answers.")
@click.option("--confidence", default="confidence", show_default=True, help="Name of the new column of confidence.")
@engine_options
def command(
    model: Path,
    data: Path,
    output: Path | None,
    abstain: float | None,
    column: str,
    confidence: str,
    jobs: int,
    engine: str | None,
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
    from handful.methods.table_model import TableModel

    found = load(model)
    card = card_of(type(found))
    if (jobs != 1 or engine is not None) and (card is None or card.takes != "sentences"):
        raise ParameterError(f"--jobs and --engine are for taggers, got {card.name if card else 'a table model'}.")
    if isinstance(found, TableModel):
        from handful.cli.predict_table import predict_table

        predict_table(found, data, output, abstain, (column, confidence))
        return
    if card is not None and card.takes == "sentences":
        from handful.cli.predict_tags import predict_tags

        predict_tags(found, data, output, abstain, jobs=jobs, engine=engine)
        return
    if card is not None and card.takes == "contexts":
        from handful.cli.predict_senses import predict_senses

        predict_senses(found, data, output)
        return
    if card is not None and card.takes == "trees":
        from handful.cli.predict_trees import predict_trees

        predict_trees(found, data, output)
        return
    raise ParameterError(
        f"{model}: a model for tables, sentences, trees or contexts is needed, "
        f"got {card.name if card else 'another'}. Use it from Python."
    )
