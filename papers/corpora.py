"""Corpora of the papers: catalog, download, checksums, loading."""

from __future__ import annotations

import difflib
import hashlib
import os
import shutil
import tempfile
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import IO, Any, Literal, assert_never
from urllib.parse import urlsplit

from handful.data.files import open_bytes, write_bytes
from handful.errors import FileError, HandfulError, MissingDataError, ParameterError, Progress, Step
from papers.stand_ins import allowed, stand_in_corpus

Access = Literal["download", "supply", "replaced"]
Format = Literal["table", "conll", "conllu", "senseval", "sense-map", "clusters", "text"]
Role = Literal["data", "dtd", "key", "notes"]


@dataclass(frozen=True, slots=True)
class CorpusFile:
    """One file of a corpus.

    Parameters
    ----------
    path : str
        Where it belongs, relative to the data folder, with ``/`` between folders.
    role : {"data", "dtd", "key", "notes"}
        What it is for; notes are not needed to load the corpus.
    size : int or None
        Size in bytes.
    sha256 : str or None
        Checksum of the file; None where the catalogue cannot know it.
    content_sha256 : str or None
        Checksum of what is inside a compressed file.
    url : str or None
        Where it may be downloaded from.
    url_sha256 : str or None
        Checksum of what comes from there.
    header : str or None
        Line that is put above what comes from there.
    """

    path: str
    role: Role = "data"
    size: int | None = None
    sha256: str | None = None
    content_sha256: str | None = None
    url: str | None = None
    url_sha256: str | None = None
    header: str | None = None


@dataclass(frozen=True, slots=True)
class Corpus:
    """What the catalogue knows of a corpus.

    Parameters
    ----------
    name : str
        Name to load it by.
    what, notes : str
        What it is, in a few words, and what else to know.
    source, origin : str
        Who made it, and where this very copy comes from.
    license, terms : str
        Its licence in a word or two, and what is known of it in full.
    format : str or None
        How its files are read; None if it has none.
    files : tuple of CorpusFile
        Its files, that with the data first.
    columns : tuple of str
        Columns of a CoNLL file.
    target : str or None
        Column that holds the labels.
    counts : mapping of str to int
        What loading it must give.
    papers : tuple of str
        Keys of the papers whose re-run uses it.
    stands_for, stand_ins : tuple of str
        Corpora that it replaces, and corpora that replace it.
    """

    name: str
    what: str
    source: str
    license: str
    notes: str = ""
    origin: str = ""
    terms: str = ""
    format: Format | None = None
    files: tuple[CorpusFile, ...] = ()
    columns: tuple[str, ...] = ()
    target: str | None = None
    counts: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}), hash=False)
    papers: tuple[str, ...] = ()
    stands_for: tuple[str, ...] = ()
    stand_ins: tuple[str, ...] = ()

    @property
    def access(self) -> Access:
        """How it comes into the data folder: by download, by the user's hand, or not at all."""
        if not self.files:
            return "replaced"
        return "download" if all(file.url for file in self.files) else "supply"

    @property
    def size(self) -> int | None:
        """Size of all its files in bytes, if known."""
        sizes = [file.size for file in self.files if file.size is not None]
        return sum(sizes) if sizes and len(sizes) == len(self.files) else None


def all_corpora() -> Mapping[str, Corpus]:
    """Return all corpora by name, in the order of the catalogue.

    Returns
    -------
    mapping of str to Corpus
        Read-only.

    Examples
    --------
    >>> all_corpora()["brown-pos"].counts["tokens"]
    1161192
    """
    return _read()


def corpus(name: str) -> Corpus:
    """Return one corpus by its name or by the name of one of its files.

    Parameters
    ----------
    name : str
        Such as ``"brown-pos"`` or ``"brown-pos.tsv.gz"``.

    Returns
    -------
    Corpus
        Its entry.

    Raises
    ------
    ParameterError
        If there is none; the message says which one may have been meant.

    Examples
    --------
    >>> corpus("wine.csv").name
    'wine'
    >>> corpus("brown-poss")
    Traceback (most recent call last):
    ...
    handful.errors.ParameterError: catalog: there is no corpus 'brown-poss'. Did you mean 'brown-pos'?
    """
    entries = _read()
    if name in entries:
        return entries[name]
    for entry in entries.values():
        if any(file.role == "data" and name in (file.path, file.path.rpartition("/")[2]) for file in entry.files):
            return entry
    near = difflib.get_close_matches(name, entries, n=1)
    hint = f"Did you mean {near[0]!r}?" if near else "Run `python -m papers data list` to see all."
    raise ParameterError(f"catalog: there is no corpus {name!r}. {hint}")


@cache
def _read() -> Mapping[str, Corpus]:
    text = (Path(__file__).parent / "catalog.toml").read_text(encoding="utf-8")
    entries = [_entry(values) for values in tomllib.loads(text)["corpus"]]
    stand_ins: dict[str, list[str]] = {}
    for entry in entries:
        for other in entry.stands_for:
            stand_ins.setdefault(other, []).append(entry.name)
    return MappingProxyType(
        {entry.name: replace(entry, stand_ins=tuple(stand_ins.get(entry.name, ()))) for entry in entries}
    )


def _entry(values: dict[str, Any]) -> Corpus:
    parts: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in values.items()}
    parts["files"] = tuple(CorpusFile(**file) for file in values.get("files", ()))
    parts["counts"] = MappingProxyType(values.get("counts", {}))
    return Corpus(**parts)


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
    handful.errors.FileError: HANDFUL_DATA is no folder: no...folder. Set it to the folder that has the corpora.
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
    handful.errors.MissingDataError: catalog: the corpus 'classifieds' is not available (license: not distributed).
    Use a substitute: citations-train, citations-dev, citations-test, citations-unlabeled.
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
    Download it with `python -m papers data get en_ewt-ud-dev`, or set HANDFUL_DATA to the folder that has it.
    """
    stand_ins = f" Use a substitute: {', '.join(entry.stand_ins)}." if entry.stand_ins else ""
    if not entry.files:
        return f"catalog: the corpus {entry.name!r} is not available (license: {entry.license}).{stand_ins}"
    path = data_folder() / (file or entry.files[0]).path
    if path.is_dir():
        return f"{path}: is a folder, where the corpus {entry.name!r} has a file. Move the folder away."
    missing = f"{path}: the corpus {entry.name!r} is not in the data folder."
    if entry.access == "download":
        way = (
            f"Download it with `python -m papers data get {entry.name}`, or set HANDFUL_DATA to the folder that has it."
        )
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
        Called with the number of bytes read.

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
    Downloads are checked before they are stored under the catalog's name; ``.gz`` files are compressed here. A damaged
    file is replaced.

    Examples
    --------
    >>> download("bnc")
    Traceback (most recent call last):
    ...
    handful.errors.MissingDataError: catalog: the corpus 'bnc' is not available (license: BNC). Use a ...
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
    'Run `python -m papers data get wine` to replace it.'
    """
    if entry.access == "download":
        return f"Run `python -m papers data get {entry.name}` to replace it."
    return f"Supply it again, from {entry.origin or entry.source}."


def _download(entry: Corpus, file: CorpusFile, retries: int, progress: Progress | None) -> None:
    import pooch
    import requests.exceptions as trouble

    url, path = str(file.url), data_folder() / file.path
    host = urlsplit(url).hostname
    again = f"Run `python -m papers data get {entry.name}` again, or copy the file there from elsewhere."
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


def load(name: str) -> Any:
    """Load a corpus of the catalogue from the data folder.

    Parameters
    ----------
    name : str
        Name of the corpus, such as ``"brown-pos"``, or of its file.

    Returns
    -------
    iterator or Table or mapping
        By the corpus's format: an iterator of `Sentence` (CoNLL columns, text), `Tree` (CoNLL-U), `Occurrence`
        (Senseval, with the senses of its key) or `ClusterRow` (Brown clusters), that reads as it goes; a `Table`;
        the Senseval sense map.

    Raises
    ------
    ParameterError
        If the catalogue has no such corpus; the message says which one may have been meant.
    MissingDataError
        If it is not in the data folder; the message says where it belongs and how to get it.
    FileError
        If a file has neither the size nor the content of the catalogue. (Content is compared only where the size
        differs, as it does after packing it anew; `papers.corpora.check` always compares it.)
    FormatError
        While reading, if a file is damaged.

    Examples
    --------
    >>> load("wines")
    Traceback (most recent call last):
    ...
    handful.errors.ParameterError: catalog: there is no corpus 'wines'. Did you mean 'wine'?
    """
    entry = corpus(name)
    if allowed() and corpus_state(entry) != "here":
        made = stand_in_corpus(entry)
        if made is not None:
            return made
    path = _found(entry)
    match entry.format:
        case "conll":
            from handful.data.conll import read_conll

            return read_conll(path, entry.columns)
        case "conllu":
            from handful.data.conll import read_conllu

            return read_conllu(path)
        case "text":
            from handful.data.text import read_text

            return read_text(path)
        case "clusters":
            from handful.data.word_lists import read_clusters

            return read_clusters(path)
        case "senseval":
            from handful.data.senses import read_senseval

            return read_senseval(path, key=_found(entry, "key"), dtd=_found(entry, "dtd"))
        case "sense-map":
            from handful.data.senses import read_sense_map

            return read_sense_map(path)
        case "table":
            from handful.data.table import read_table

            return read_table(path, target=entry.target, keep_labels=["-1"])
        case None:
            raise AssertionError(f"catalog.toml: {entry.name} has files but no format")
        case _:
            assert_never(entry.format)


def _found(entry: Corpus, role: Role = "data") -> Path:
    path = find(entry.name, role)
    file = next(file for file in entry.files if file.role == role)
    if file.size not in (None, path.stat().st_size) and file_state(file) != "here":
        raise FileError(
            f"{path}: is not the file of the corpus {entry.name!r}: expected {file.size:,} bytes or the same content, "
            f"got {path.stat().st_size:,} bytes. Run `python -m papers data check {entry.name}`."
        )
    return path


@dataclass(frozen=True, slots=True)
class CheckReport:
    """What the check of one corpus found.

    Parameters
    ----------
    name : str
        The corpus.
    state : {"here", "missing", "damaged"}
        The outcome; a corpus is damaged too if its counts are not those of the catalogue.
    files : mapping of str to str
        State of each file.
    counts : mapping of str to int
        What was counted; empty if nothing was.
    problem : str
        One sentence that says what is wrong and what to do; empty if nothing is.
    """

    name: str
    state: State
    files: Mapping[str, State]
    counts: Mapping[str, int] = field(default_factory=dict)
    problem: str = ""


def check(name: str, *, counting: bool = True) -> CheckReport:
    """Check a corpus: the checksum of each file, then the counts of what it loads as.

    Parameters
    ----------
    name : str
        Name of the corpus.
    counting : bool, default=True
        Whether to load it and count. Without that only checksums are compared.

    Returns
    -------
    CheckReport
        What was found; trouble with files is reported, not raised.

    Raises
    ------
    ParameterError
        If the catalogue has no such corpus.

    Examples
    --------
    >>> check("bnc").state
    'missing'
    """
    entry = corpus(name)
    by_files = _check_files(entry)
    return _check_counts(entry, by_files) if counting and by_files.state == "here" else by_files


def _check_files(entry: Corpus) -> CheckReport:
    states = {file: file_state(file) for file in entry.files}
    files = {file.path: state for file, state in states.items()}
    for file, state in states.items():
        if state == "damaged":
            problem = f"{data_folder() / file.path}: the checksum is not that of the catalogue. {supply_again(entry)}"
            return CheckReport(entry.name, "damaged", files, problem=problem)
    absent = [file for file, state in states.items() if state == "missing" and file.role != "notes"]
    if absent or not states:
        return CheckReport(entry.name, "missing", files, problem=how_to_get(entry, *absent[:1]))
    return CheckReport(entry.name, "here", files)


def _check_counts(entry: Corpus, by_files: CheckReport) -> CheckReport:
    files = by_files.files
    try:
        counts = count(entry)
    except HandfulError as error:
        return CheckReport(entry.name, "damaged", files, problem=str(error))
    wrong = [f"{what} {want:,}, got {counts[what]:,}" for what, want in entry.counts.items() if counts[what] != want]
    if wrong:
        path = data_folder() / entry.files[0].path
        problem = f"{path}: expected {' and '.join(wrong)}. {supply_again(entry)}"
        return CheckReport(entry.name, "damaged", files, counts, problem)
    return CheckReport(entry.name, "here", files, counts)


def count(entry: Corpus) -> dict[str, int]:
    r"""Load a corpus and count what it holds.

    Parameters
    ----------
    entry : Corpus
        The corpus; it must be in the data folder.

    Returns
    -------
    dict of str to int
        By its format: sentences, tokens and labels; rows, features and classes; instances, words and answers;
        senses; words and clusters.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from unittest.mock import patch
    >>> folder = tempfile.mkdtemp()
    >>> _ = (pathlib.Path(folder) / "ptb-wsj-pos-dev.tsv.gz").write_text("Rome\tNNP\nfell\tVBD\n\n")
    >>> with patch.dict("os.environ", HANDFUL_DATA=folder):
    ...     count(corpus("ptb-wsj-pos-dev"))
    {'sentences': 1, 'tokens': 2, 'labels': 2}
    """
    records = load(entry.name)
    match entry.format:
        case "conll" | "conllu" | "text":
            return _count_sentences(records, entry.target)
        case "senseval":
            words: Counter[str] = Counter()
            answers = 0
            for occurrence in records:
                words[occurrence.word] += 1
                answers += len(occurrence.senses)
            return {"instances": words.total(), "words": len(words), "answers": answers}
        case "clusters":
            paths = Counter(row.path for row in records)
            return {"words": paths.total(), "clusters": len(paths)}
        case "table":
            return {"rows": len(records), "features": len(records.columns), "classes": len(records.classes)}
        case _:
            return {"senses": len(records)}


def _count_sentences(records: Iterable[Any], target: str | None) -> dict[str, int]:
    sentences = tokens = 0
    labels: set[str] = set()
    for record in records:
        sentences += 1
        tokens += len(record)
        if target is not None:
            labels.update(record[target])
    counts = {"sentences": sentences, "tokens": tokens}
    return counts if target is None else {**counts, "labels": len(labels)}
