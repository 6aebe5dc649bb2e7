"""``handful studio``: label, add prototypes and watch labels spread, in the browser."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from handful.cli import console as ui
from handful.cli import options as opt
from handful.cli.files import read_data, read_text
from handful.errors import DataError, FileError, ParameterError

if TYPE_CHECKING:
    from handful.data.tagged import Tagged
    from handful.studio.annotations import AnnotationLog
    from handful.studio.label_book import Setup


@click.command("studio")
@click.argument("data", type=opt.INPUT)
@opt.target_option(text="Label column of a table. Without it DATA is raw text.")
@click.option("--prototypes", type=opt.INPUT, help="For text: a list of prototypes to begin with.")
@click.option("--tagged", type=opt.INPUT, help="For text: tagged sentences to begin with.")
@click.option("--spans", is_flag=True, help="For text: label spans of tokens, not each token.")
@click.option("--fields", is_flag=True, help="For text: labels are fields of documents, not parts of speech.")
@click.option(
    "--folder", type=click.Path(path_type=Path, file_okay=False), help="Folder of exports. Default: next to DATA."
)
@click.option("--labels", type=opt.INPUT, help="Label book (TOML): names, keys, colors, descriptions, examples.")
@click.option("--annotator", help="Name of the person who labels. Default: the name of the account.")
@click.option(
    "--second", type=opt.NumberRange(0, 1), default=0.0, help="For a table: share of rows that a second person labels."
)
@click.option("--id", metavar="COLUMN", help="For a table: column that names rows, so that they may change and move.")
@click.option("--review", metavar="COLUMN", help="For a table: column of suggested labels to review.")
@click.option("--confidence", metavar="COLUMN", help="With --review: column of confidences, from 0 to 1.")
@click.option("--css", type=opt.INPUT, help="Style sheet that is added to that of the page.")
@opt.reading_options
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", type=opt.WholeNumber(0, 65_535), default=0, help="Port. Default: a free one.")
@click.option("--browser/--no-browser", default=True, show_default=True, help="Open the page.")
@opt.run_option("seed")
def studio_command(data: Path, host: str, port: int, browser: bool, **given: Any) -> None:
    """Label DATA, a table with a --target or raw text, in the browser.

    Every action is kept in DATA.studio, and the next call goes on from there; DATA is never written. Only this machine
    can open the page, with the link that is printed.

    \b
    Examples:
      handful studio customers.csv --target segment
      handful studio raw.txt --prototypes words.tsv
    """
    import os

    from handful.errors import require
    from handful.studio.server import is_loopback, serve

    for module in ("starlette", "uvicorn", "jinja2"):
        require(module, extra="studio", why="handful studio")
    if not is_loopback(host):
        ui.notice(f"Warning: {host} is reachable by other machines, unencrypted; the link gives full access.")
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # steps are short: threads inside them cost more than they bring
    studio = _studio(data, given)

    def announce(link: str) -> None:
        ui.echo(f"{data} is open at {link}")
        ui.echo("End with Ctrl-C.")
        if browser:
            import webbrowser

            webbrowser.open(link)

    serve(studio, host=host, port=port, announce=announce)


def _studio(data: Path, given: dict[str, Any]) -> Any:
    folder = given["folder"] if given["folder"] is not None else data.parent
    if not folder.is_dir():
        raise FileError(f"{folder}: no such folder. Make it first.")
    if given["target"] is not None:
        for name in ("prototypes", "tagged"):
            if given[name] is not None:
                raise ParameterError(f"--{name}: only for raw text. Leave it or --target out.")
        if given["confidence"] is not None and given["review"] is None:
            raise ParameterError("--confidence: only with --review.")
        return _table(data, folder, given)
    for name in ("review", "confidence", "second", "id"):
        if given[name]:
            raise ParameterError(f"--{name}: only for a table. Add --target, or leave it out.")
    return _text(data, folder, given)


def _setup(given: dict[str, Any]) -> Setup:
    import getpass

    from handful.studio.label_book import LabelBook, Setup, checked_label, read_label_book

    book = LabelBook() if given["labels"] is None else read_label_book(given["labels"])
    annotator = checked_label(given["annotator"] or getpass.getuser())
    return Setup(annotator, book, given["second"], given["review"], given["confidence"], given["seed"])


def _table(data: Path, folder: Path, given: dict[str, Any]) -> Any:
    import polars as pl

    from handful.active.merge import row_fingerprints
    from handful.studio.annotations import AnnotationLog, Identity
    from handful.studio.table_session import TableSession, TableStudio

    own = [given[name] for name in ("review", "confidence") if given[name] is not None]
    table = read_data(data, given["target"], opt.as_witnesses(given["reading"], own), add_target=True)
    features = table.cells.drop(given["target"])

    def key(n_rows: int) -> str:
        return f"{given['target']} {text_digest(features.head(n_rows).write_csv())}"

    def of_rows(rows: Sequence[int]) -> list[tuple[str, str]]:
        some = row_fingerprints(features[list(rows)], given["target"])
        names = (
            some if given["id"] is None else features[given["id"]][list(rows)].cast(pl.String).fill_null("").to_list()
        )
        return list(zip(names, some, strict=True))

    if given["id"] is not None and (given["id"] not in features.columns or features[given["id"]].is_duplicated().any()):
        raise ParameterError(f"--id: no column {given['id']!r} with a different value in every row. Name another one.")
    log = AnnotationLog(log_path(data), Identity(key, len(table), of_rows, f"{given['target']} {digest(data)}"))
    _tell(data, log)
    session = TableSession(data.name, table, given["target"], log, folder, _setup(given))
    return TableStudio(session, given["css"])


def _text(data: Path, folder: Path, given: dict[str, Any]) -> Any:
    from handful.data.tagged import read_tagged
    from handful.data.word_lists import read_prototypes
    from handful.studio.annotations import AnnotationLog, Identity
    from handful.studio.text_session import TaggingTask, TextSession, TextStudio

    if given["prototypes"] is not None and given["tagged"] is not None:
        raise ParameterError("--prototypes: not with --tagged. Leave one of them out.")
    _refuse_reading(given["reading"])
    train = None if given["tagged"] is None else read_tagged(given["tagged"])
    sentences = [sentence.tokens for sentence in read_text(data, None if train is None else train.style)]
    if not any(sentences):
        raise DataError(f"{data}: no sentence. Add raw text.")
    lists = {} if given["prototypes"] is None else read_prototypes(given["prototypes"])
    spans = given["spans"] if train is None else train.has_spans
    tagged = [] if train is None else _pairs(train)

    def key(n_rows: int) -> str:
        return f"{'spans' if spans else 'tokens'} {text_digest(repr(sentences[:n_rows]))}"

    earlier = f"{'spans' if spans else 'tokens'} {digest(data)}"

    def of_rows(rows: Sequence[int]) -> list[tuple[str, str]]:
        return [(text, text) for text in (text_digest(repr(sentences[row])) for row in rows)]

    log = AnnotationLog(log_path(data), Identity(key, len(sentences), of_rows, earlier))
    _tell(data, log)
    task = TaggingTask(lists, tagged, spans, given["fields"])
    return TextStudio(TextSession(data.name, sentences, log, folder, task, _setup(given)), given["css"])


def _tell(data: Path, log: AnnotationLog) -> None:
    if log.news:
        ui.notice(f"{data}: {log.news}")


def _refuse_reading(reading: opt.Reading) -> None:
    for name, value in vars(reading).items():
        if value not in (None, ()):
            option = name.replace("_", "-").removesuffix("s") if name != "columns" else name
            raise ParameterError(f"--{option}: only for a table. Add --target, or leave it out.")


def _pairs(train: Tagged) -> list[Any]:
    """Return tokens and tags of each sentence; spans as IOB2."""
    from handful.data.chunks import to_iob2

    tags = [to_iob2(tags) if train.has_spans else list(tags) for tags in train.tags]
    return list(zip((sentence.tokens for sentence in train.sentences), tags, strict=True))


def log_path(data: Path) -> Path:
    """Return the log next to the data."""
    return data.parent / f"{data.name}.studio"


def digest(data: Path) -> str:
    """Return a name for the content of a file."""
    import hashlib

    with open(data, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:24]


def text_digest(content: str) -> str:
    """Return a name for some content."""
    import hashlib

    return hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()[:24]
