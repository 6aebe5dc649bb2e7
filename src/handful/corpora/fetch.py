"""Downloads of the corpora that may be had freely: checked, atomic, with progress."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from handful.core.errors import FileError, MissingDataError
from handful.core.progress import Progress, Step
from handful.corpora.catalog import Corpus, CorpusFile, corpus
from handful.corpora.folder import data_folder, file_state, find, how_to_get, refuse_false_folder
from handful.corpora.opening import write_bytes

_CHUNK = 2**16
_TIMEOUT = 30  # seconds without a byte


def download(name: str, *, retries: int = 2, progress: Progress | None = None) -> Path:
    """Download a corpus into the data folder, unless it is there already.

    Parameters
    ----------
    name : str
        Name of the corpus.
    retries : int, default=2
        How often a failed download is begun again, after 1, 2, ... seconds.
    progress : callable, optional
        Is told of the bytes that came.

    Returns
    -------
    Path
        The data file of the corpus.

    Raises
    ------
    MissingDataError
        If the corpus may not be downloaded and must be supplied; the message says where to put it.
    FileError
        If the download fails; the message says what to do. No half file is left behind, and an old file stays.

    Notes
    -----
    What comes is checked before it is stored under the catalogue's name; ``.gz`` files are packed here. A damaged
    file is replaced.

    Examples
    --------
    >>> download("bnc")
    Traceback (most recent call last):
    ...
    handful.core.errors.MissingDataError: catalog: the corpus 'bnc' is not at hand (licence: BNC). Use what stands ...
    """
    entry = corpus(name)
    if entry.access == "replaced":
        raise MissingDataError(how_to_get(entry))
    refuse_false_folder(missing_too=False)
    for file in entry.files:
        if (data_folder() / file.path).is_dir():
            raise FileError(how_to_get(entry, file))
        state = file_state(file)
        if state == "here" or (state == "missing" and file.role == "notes"):
            continue
        if file.url is None:
            if state == "damaged":
                raise FileError(f"{data_folder() / file.path}: the file is damaged. {supply_again(entry)}")
            raise MissingDataError(how_to_get(entry, file))
        _download(entry, file, retries, progress)
    return find(entry.name)


def supply_again(entry: Corpus) -> str:
    """Return the sentence that says how to mend a damaged corpus.

    Parameters
    ----------
    entry : Corpus
        The corpus.

    Returns
    -------
    str
        The sentence.

    Examples
    --------
    >>> supply_again(corpus("wine"))
    'Run `handful data get wine` to replace it.'
    """
    if entry.access == "download":
        return f"Run `handful data get {entry.name}` to replace it."
    return f"Supply it again, from {entry.origin or entry.source}."


def _download(entry: Corpus, file: CorpusFile, retries: int, progress: Progress | None) -> None:
    import pooch
    import requests.exceptions as trouble

    url, path = str(file.url), data_folder() / file.path
    host = urlsplit(url).hostname
    again = f"Run `handful data get {entry.name}` again, or copy the file there from elsewhere."
    with _staging(path) as stage:
        store = pooch.create(
            stage, base_url="", registry={path.name: file.url_sha256}, urls={path.name: url}, retry_if_failed=retries
        )
        try:
            with _quiet():
                raw = Path(store.fetch(path.name, downloader=_way(entry.name, progress)))
        except trouble.HTTPError as error:
            code = error.response.status_code if error.response is not None else "an error"
            raise FileError(f"{path}: cannot be downloaded: {host} answered {code} for {url}. {again}") from None
        except (trouble.ChunkedEncodingError, trouble.ContentDecodingError):
            raise FileError(f"{path}: the download from {host} broke off, so nothing was stored. {again}") from None
        except (trouble.ConnectionError, trouble.Timeout):
            raise FileError(
                f"{path}: cannot be downloaded: {host} cannot be reached. Check the network connection. {again}"
            ) from None
        except trouble.RequestException as error:
            raise FileError(f"{path}: cannot be downloaded from {url} ({error}). {again}") from None
        except OSError as error:
            raise FileError(f"{path}: cannot be written ({error.strerror}).") from None
        except ValueError:
            raise FileError(
                f"{path}: what came from {url} does not have the checksum of the catalogue, so nothing was stored. {again}"
            ) from None
        _store(raw, path, file.header)


def _way(stage: str, progress: Progress | None) -> Callable[[str, str, Any], None]:
    """Make a downloader for pooch that reports each piece and closes the connection whatever happens."""
    import requests

    def fetch(url: str, output_file: str, _: Any) -> None:
        # Without compression on the way, the server's length is the number of bytes to come.
        headers = {"Accept-Encoding": "identity"}
        with (
            requests.get(url, stream=True, timeout=_TIMEOUT, headers=headers) as response,
            open(output_file, "wb") as out,
        ):
            response.raise_for_status()
            total = int(response.headers.get("Content-Length", 0)) or None
            done = 0
            for chunk in response.iter_content(_CHUNK):
                out.write(chunk)
                done += len(chunk)
                if progress is not None:
                    progress(Step(stage, done, total))

    return fetch


def _store(raw: Path, path: Path, header: str | None) -> None:
    with raw.open("rb") as source, write_bytes(path) as target:
        if header is not None:
            target.write(header.encode() + b"\n")
        shutil.copyfileobj(source, target, _CHUNK)
        if header is not None:
            source.seek(-1, 2)
            if source.read(1) != b"\n":
                target.write(b"\n")


@contextmanager
def _staging(path: Path) -> Iterator[Path]:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        folder = tempfile.TemporaryDirectory(prefix=".get-", dir=path.parent)
    except OSError as error:
        raise FileError(
            f"{path}: cannot be written ({error.strerror}). Set HANDFUL_DATA to a folder that you may write to."
        ) from None
    with folder as name:
        yield Path(name)


@contextmanager
def _quiet() -> Iterator[None]:
    # pooch tells on stderr what it does; here only the progress callback speaks.
    import pooch

    logger = pooch.get_logger()
    level = logger.level
    logger.setLevel("WARNING")
    try:
        yield
    finally:
        logger.setLevel(level)
