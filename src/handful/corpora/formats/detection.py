"""Which format a file is in, told by its content."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib import import_module

from handful.core.errors import FormatError, ParameterError
from handful.corpora.formats.format import Format, Head, Yields
from handful.corpora.opening import FilePath, as_source, first_chunk, refuse_lone_returns

# One module of this folder for each format, which calls it FORMAT. The first that recognises a file reads it, so what
# is special stands above what is general. A new format joins by its line here: its module, and what such files start
# with (blanks aside) or their names end in, where that is sure; the module is only imported for files that fit.
MODULES: dict[str, tuple[str, ...]] = {
    "parquet": ("PAR1", ".parquet"),
    "arrow": ("ARROW1", ".arrow", ".feather", ".ipc"),
    "excel": ("PK",),
    "docbin": (".spacy",),
    "senseval": ("<",),
    "prodigy": ("{", "["),
    "doccano": ("{", "["),
    "label_studio": ("{", "["),
    "token_rows": ("{", "["),
    "tagged_pairs": ("[",),
    "json_array": ("[",),
    "json_lines": ("{", ".jsonl", ".ndjson"),
    "arff": ("@", "%"),
    "conllu_plus": ("#",),
    "conllu": ("#", *"0123456789"),
    "brat": ("#", "*", *"TREAMN"),
    "clusters": ("0", "1"),
    "prototypes": (),
    "sense_table": (),
    "delimited": (),
    "slashed": (),
    "conll": (),
    "raw": (),
    "plain": (),
}


@cache
def all_formats() -> tuple[Format, ...]:
    """Return all formats, in the order in which they are tried.

    Returns
    -------
    tuple of Format
        The special ones first.

    Examples
    --------
    >>> [format.name for format in all_formats() if format.yields == "trees"]
    ['conllu']
    """
    return tuple(map(_format_in, MODULES))


def _format_in(module: str) -> Format:
    format: Format = import_module(f"handful.corpora.formats.{module}").FORMAT
    return format


def _candidates(head: Head) -> Iterator[Format]:
    """Yield the formats that a file may be in, judged by its first sign and its name, in the order of trial."""
    start = head.text.lstrip()
    for module, signs in MODULES.items():
        if not signs or start.startswith(signs) or head.suffix in signs:
            yield _format_in(module)


def format_named(name: str) -> Format:
    """Return the format of a name.

    Parameters
    ----------
    name : str
        Such as ``"conllu"``.

    Returns
    -------
    Format
        How to read and write it.

    Examples
    --------
    >>> format_named("conll").yields
    'sentences'
    """
    for format in all_formats():
        if format.name == name:
            return format
    names = ", ".join(format.name for format in all_formats())
    raise ParameterError(f"formats: the name must be one of {names}, got {name!r}.")


def format_for(path: FilePath, yields: Yields) -> Format:
    """Return the format that the name of a file to be written asks for.

    Parameters
    ----------
    path : path-like
        The name.
    yields : str
        What is to be written.

    Returns
    -------
    Format
        One that can write it.

    Examples
    --------
    >>> format_for("answers.parquet", "table").name
    'parquet'
    """
    from handful.corpora.opening import bare_suffix

    suffix = bare_suffix(path)
    able = [format for format in all_formats() if format.yields == yields and format.write is not None]
    for format in able:
        if suffix in format.suffixes:
            return format
    endings = ", ".join(ending for format in able for ending in format.suffixes)
    raise ParameterError(f"{path}: the name of a {yields} must end in {endings}, got {suffix or 'no ending'}.")


def format_of(path: FilePath) -> Format:
    r"""Guess the format of a file from its first 64 KiB.

    Parameters
    ----------
    path : path-like
        The file, or a `Source`, which is then not opened again; gzip, bzip2 and xz are unpacked.

    Returns
    -------
    Format
        The first of `all_formats` that recognises it; plain text where no other does.

    Raises
    ------
    FileError
        If the file is missing or a folder.
    FormatError
        If it is empty, or binary and of no binary format.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> target = pathlib.Path(tempfile.mkdtemp()) / "a"
    >>> _ = target.write_text("Rome\tNNP\nfell\tVBD\n\n")
    >>> format_of(target).name
    'conll'
    """
    head = Head.of(as_source(path))
    is_checked = False
    for format in _candidates(head):
        # Formats of binary files stand first; what comes after them must be text.
        if format.is_text and not is_checked:
            _refuse_binary(path, head)
            is_checked = True
        if format.detect(head):
            return format
    raise AssertionError("plain text is any text")


def _refuse_binary(path: FilePath, head: Head) -> None:
    import io

    is_wide = head.data.startswith((b"\xff\xfe", b"\xfe\xff")) and not head.data.startswith(b"\xff\xfe\0\0")
    if is_wide and _format_in("delimited").detect(head):
        return
    data = first_chunk(path, io.BytesIO(head.data))
    if b"\0" in data:
        raise FormatError(path, None, "expected text, got a binary file (it holds NUL bytes).")
    refuse_lone_returns(path, data)


def detect(path: FilePath) -> str:
    """Return the name of a file's format, or ``table`` for every kind of table; see `format_of`.

    Parameters
    ----------
    path : path-like
        The file.

    Returns
    -------
    str
        The name.
    """
    format = format_of(path)
    return "table" if format.yields == "table" else format.name
