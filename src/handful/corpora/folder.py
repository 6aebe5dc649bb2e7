"""The data folder: where it is, which corpora it holds, and whether their files are whole."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import IO, Literal

from handful.core.errors import FileError, MissingDataError, ParameterError
from handful.corpora.catalog import Corpus, CorpusFile, Role, corpus
from handful.corpora.opening import open_bytes

State = Literal["here", "missing", "damaged"]


def data_folder() -> Path:
    """Return the folder of corpora: ``$HANDFUL_DATA``, else the user's cache folder.

    Returns
    -------
    Path
        The folder; it need not exist.

    Examples
    --------
    >>> from unittest.mock import patch
    >>> with patch.dict("os.environ", HANDFUL_DATA="my/corpora"):
    ...     data_folder().parts
    ('my', 'corpora')
    """
    chosen = os.environ.get("HANDFUL_DATA")
    if chosen:
        return Path(chosen).expanduser()
    import pooch

    return Path(pooch.os_cache("handful"))


def refuse_false_folder(*, missing_too: bool = True) -> None:
    """Raise if ``HANDFUL_DATA`` names something else than a folder.

    Parameters
    ----------
    missing_too : bool, default=True
        Whether a folder that does not exist is refused as well.

    Raises
    ------
    FileError
        With what to do. Without ``HANDFUL_DATA`` the cache folder counts, which may be missing.

    Examples
    --------
    >>> from unittest.mock import patch
    >>> with patch.dict("os.environ", HANDFUL_DATA="no/such/folder"):
    ...     refuse_false_folder()
    Traceback (most recent call last):
    ...
    handful.core.errors.FileError: HANDFUL_DATA is no folder: no...folder. Set it to the folder that has the corpora.
    """
    folder = data_folder()
    if folder.is_dir() or not os.environ.get("HANDFUL_DATA"):
        return
    if missing_too or folder.exists():
        raise FileError(f"HANDFUL_DATA is no folder: {folder}. Set it to the folder that has the corpora.")


def find(name: str, role: Role = "data") -> Path:
    """Return the path of a corpus's file in the data folder.

    Parameters
    ----------
    name : str
        Name of the corpus, or of its file.
    role : {"data", "dtd", "key", "notes"}
        Which of its files.

    Returns
    -------
    Path
        A file that exists.

    Raises
    ------
    ParameterError
        If the catalogue has no such corpus, or the corpus no such file.
    MissingDataError
        If the file is not there; the message says where it belongs and how to get it.

    Examples
    --------
    >>> find("classifieds")
    Traceback (most recent call last):
    ...
    handful.core.errors.MissingDataError: catalog: the corpus 'classifieds' is not at hand (licence: not distributed).
    Use what stands in for it: citations-train, citations-dev, citations-test, citations-unlabeled.
    """
    entry = corpus(name)
    if not entry.files:
        raise MissingDataError(how_to_get(entry))
    for file in entry.files:
        if file.role == role:
            path = data_folder() / file.path
            if path.is_file():
                return path
            raise MissingDataError(how_to_get(entry, file))
    raise ParameterError(f"catalog: the corpus {entry.name!r} has no file of the kind {role!r}.")


def how_to_get(entry: Corpus, file: CorpusFile | None = None) -> str:
    """Return one sentence that says what is missing, where it belongs and how to get it.

    Parameters
    ----------
    entry : Corpus
        The corpus.
    file : CorpusFile, optional
        The file that is missing; the first one by default.

    Returns
    -------
    str
        The sentence.

    Examples
    --------
    >>> from unittest.mock import patch
    >>> with patch.dict("os.environ", HANDFUL_DATA="corpora"):
    ...     print(how_to_get(corpus("en_ewt-ud-dev")))
    corpora...en_ewt-ud-dev.conllu.gz: the corpus 'en_ewt-ud-dev' is not in the data folder.
    Download it with `handful data get en_ewt-ud-dev`, or set HANDFUL_DATA to the folder that has it.
    """
    stand_ins = f" Use what stands in for it: {', '.join(entry.stand_ins)}." if entry.stand_ins else ""
    if not entry.files:
        return f"catalog: the corpus {entry.name!r} is not at hand (licence: {entry.license}).{stand_ins}"
    path = data_folder() / (file or entry.files[0]).path
    if path.is_dir():
        return f"{path}: is a folder, where the corpus {entry.name!r} has a file. Move the folder away."
    missing = f"{path}: the corpus {entry.name!r} is not in the data folder."
    if entry.access == "download":
        way = f"Download it with `handful data get {entry.name}`, or set HANDFUL_DATA to the folder that has it."
        return f"{missing} {way}"
    origin = f" ({entry.origin})" if entry.origin else ""
    licence = f"{entry.license}; {entry.terms}" if entry.terms else entry.license
    return (
        f"{missing} It must be supplied: get it from {entry.source}{origin} under its licence ({licence}) "
        f"and put it there, or set HANDFUL_DATA to the folder that has it.{stand_ins}"
    )


def file_state(file: CorpusFile) -> State:
    """Return whether a file is in the data folder and has the checksum of the catalogue.

    Parameters
    ----------
    file : CorpusFile
        The file. Either checksum counts, that of the file or that of what is inside, since compressing the same
        content elsewhere gives other bytes. Without a checksum, a file that is there is taken as it is.

    Returns
    -------
    {"here", "missing", "damaged"}
        Its state.

    Examples
    --------
    >>> file_state(CorpusFile("no-such-file.tsv"))
    'missing'
    """
    path = data_folder() / file.path
    if not path.is_file():
        return "missing"
    if file.sha256 is None:
        return "here"
    try:
        with open(path, "rb") as plain:
            whole = _checksum(plain)
        if whole in (file.sha256, file.content_sha256):
            return "here"
        if file.content_sha256 is None:
            return "damaged"
        with open_bytes(path) as inside:
            return "here" if _checksum(inside) == file.content_sha256 else "damaged"
    except (OSError, FileError):
        return "damaged"


def corpus_state(entry: Corpus) -> State:
    """Return the state of a corpus: damaged if one of its files is, missing if one that loading needs is.

    Parameters
    ----------
    entry : Corpus
        The corpus.

    Returns
    -------
    {"here", "missing", "damaged"}
        Its state.

    Examples
    --------
    >>> corpus_state(corpus("bnc"))
    'missing'
    """
    states = {file: file_state(file) for file in entry.files}
    if "damaged" in states.values():
        return "damaged"
    needed = [state for file, state in states.items() if file.role != "notes"]
    return "here" if needed and "missing" not in needed else "missing"


def _checksum(file: IO[bytes]) -> str:
    return hashlib.file_digest(file, "sha256").hexdigest()  # type: ignore[arg-type]
