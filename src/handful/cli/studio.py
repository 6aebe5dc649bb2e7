"""``handful studio``: label, teach by prototypes and watch labels spread, in the browser."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from handful.cli.console import say
from handful.cli.options import Reading, WholeNumber, reading_options, run_option
from handful.core.errors import FileError, ParameterError

if TYPE_CHECKING:
    from handful.corpora.tagged import Tagged


@click.command("studio")
@click.argument("data", type=click.Path(path_type=Path))
@click.option("--target", metavar="COLUMN", help="Column of labels of a table; DATA is raw text without it.")
@click.option("--prototypes", type=click.Path(path_type=Path), help="For text: a list of typical words to begin with.")
@click.option("--tagged", type=click.Path(path_type=Path), help="For text: tagged sentences to begin with.")
@click.option(
    "--spans",
    is_flag=True,
    help="For text: labels mark spans of tokens, not each token; told by --tagged where it is given.",
)
@click.option("--fields", is_flag=True, help="For text: labels are fields of documents, not parts of speech.")
@click.option("--folder", type=click.Path(path_type=Path, file_okay=False), help="Where exports go; beside DATA.")
@reading_options
@click.option(
    "--host", default="127.0.0.1", show_default=True, help="Address to listen on; only this machine by default."
)
@click.option("--port", type=WholeNumber(0, 65_535), default=0, help="Port; a free one by default.")
@click.option("--browser/--no-browser", default=True, help="Whether to open the page.")
@run_option("jobs", default=-1)
@run_option("seed")
def command(data: Path, host: str, port: int, browser: bool, **given: Any) -> None:
    """Open DATA, a table with a --target or raw text, on a page of this machine.

    Every action is kept in DATA.studio beside the data, so nothing is lost and the next call goes on from there; DATA
    itself is never written. Only this machine can open the page, and only with the link that is printed.
    """
    import os

    from handful.core.optional import require
    from handful.studio.guard import is_loopback
    from handful.studio.serving import serve

    for module in ("starlette", "uvicorn", "jinja2"):
        require(module, extra="studio", why="handful studio")
    if not is_loopback(host):
        say(
            f"Warning: {host} can be reached by other machines. Whoever has the link can see and change everything; it "
            "is sent without encryption.",
            stderr=True,
        )
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # steps are short: threads inside them cost more than they bring
    studio = _studio(data, given)

    def announce(link: str) -> None:
        say(f"{data} is open at {link}\nEnd with Ctrl-C.")
        if browser:
            import webbrowser

            webbrowser.open(link)

    serve(studio, host=host, port=port, announce=announce)


def _studio(data: Path, given: dict[str, Any]) -> Any:
    folder = given["folder"] if given["folder"] is not None else data.parent
    if not folder.is_dir():
        raise FileError(f"{folder}: there is no such folder for exports. Make it first.")
    if given["target"] is not None:
        for name in ("prototypes", "tagged"):
            if given[name] is not None:
                raise ParameterError(f"--{name} is for raw text; a table has a --target.")
        return _table(data, folder, given)
    return _text(data, folder, given)


def _table(data: Path, folder: Path, given: dict[str, Any]) -> Any:
    from handful.cli.table_files import as_table, read_cells, with_target
    from handful.studio.journal import Journal
    from handful.studio.table_desk import TableDesk
    from handful.studio.table_studio import TableStudio

    cells, _ = with_target(data, read_cells(data), given["target"])
    table, kinds = as_table(data, cells, given["target"], given["reading"])
    labels = [None if label is None else str(label) for label in table.labels.tolist()]
    journal = Journal(journal_path(data), f"{given['target']} {digest(data)}")
    desk = TableDesk(
        data.name,
        cells,
        table.frame.select(list(kinds)),
        kinds,
        given["target"],
        labels,
        journal,
        folder,
        given["seed"],
    )
    return TableStudio(desk, given["jobs"])


def _text(data: Path, folder: Path, given: dict[str, Any]) -> Any:
    from handful.cli.sentences import cut_of
    from handful.core.errors import DataError
    from handful.corpora.formats import read_prototypes
    from handful.corpora.opening import Source
    from handful.corpora.sentences import read_sentences
    from handful.corpora.tagged import read_tagged
    from handful.studio.journal import Journal
    from handful.studio.text_desk import TextDesk
    from handful.studio.text_studio import TextStudio

    if given["prototypes"] is not None and given["tagged"] is not None:
        raise ParameterError("--prototypes and --tagged exclude each other: a model learns from words or from tags.")
    _refuse_reading(given["reading"])
    train = None if given["tagged"] is None else read_tagged(given["tagged"])
    source = Source(data)
    style = None if train is None else train.style
    cut = cut_of(source, None, style)
    sentences = [
        sentence.tokens for sentence in read_sentences(source, cut, () if style is None else style.abbreviations)
    ]
    if not any(sentences):
        raise DataError(f"{data}: at least one sentence is needed, got none.")
    lists = None if given["prototypes"] is None else read_prototypes(given["prototypes"])
    spans = given["spans"] if train is None else train.has_spans
    tagged = [] if train is None else _pairs(train)
    journal = Journal(journal_path(data), f"{'spans' if spans else 'tokens'} {digest(data)}")
    desk = TextDesk(data.name, sentences, journal, folder, lists=lists, tagged=tagged, spans=spans, seed=given["seed"])
    return TextStudio(desk)


def _refuse_reading(reading: Reading) -> None:
    for name, value in vars(reading).items():
        if value not in (None, ()):
            raise ParameterError(f"--{name.replace('_', '-')} is for a table; name its --target.")


def _pairs(train: Tagged) -> list[Any]:
    """Return tokens and tags of each sentence; spans as IOB2."""
    from handful.corpora.formats.iob import to_iob2

    return [
        (sentence.tokens, to_iob2(tags) if train.has_spans else list(tags))
        for sentence, tags in zip(train.sentences, train.tags, strict=True)
    ]


def journal_path(data: Path) -> Path:
    """Return the journal beside the data."""
    return data.parent / f"{data.name}.studio"


def digest(data: Path) -> str:
    """Return a name for the content of a file."""
    import hashlib

    with open(data, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:24]
