"""Exceptions, wording of counts, and the progress callback."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from os import PathLike
from types import ModuleType


class HandfulError(Exception):
    """Any error that handful raises on purpose; its text is one clear sentence for the user."""


class ParameterError(HandfulError, ValueError):
    """A parameter of a method or a command has an illegal value."""


class DataError(HandfulError, ValueError):
    """Data handed to a method (a matrix, labels, sentences) cannot be used."""


class AmbiguousLabelsError(DataError):
    """Labels that can be read in two ways, such as {-1, +1}."""


class FileError(HandfulError):
    """A file cannot be read or written; the message starts with its path."""


class FormatError(FileError, ValueError):
    """A file is readable but its content breaks its format.

    Parameters
    ----------
    path : path-like or str
        The file, or a name for where the text came from.
    line : int or None
        One-based line number, if the problem has one.
    message : str
        What was expected and what was found.

    Examples
    --------
    >>> print(FormatError("train.tsv", 3, "expected 2 columns, got 1"))
    train.tsv:3: expected 2 columns, got 1
    """

    def __init__(self, path: str | PathLike[str], line: int | None, message: str) -> None:
        place = f"{path}:{line}" if line is not None else f"{path}"
        super().__init__(f"{place}: {message}")
        self.path = path
        self.line = line

    def __reduce__(self) -> tuple[type[Exception], tuple[str]]:
        # Rebuilt from its text alone, so that it survives the way back from a worker process.
        return TransportedFormatError, (str(self),)


class MissingColumnError(ParameterError, FormatError):
    """A column was named that a file does not have; on the command line that is wrong use."""


class TransportedFormatError(FormatError):
    """A `FormatError` that came back from another process as text."""

    def __init__(self, text: str) -> None:
        Exception.__init__(self, text)


class ModelFileError(FileError, ValueError):
    """A model file is truncated, damaged, too new, of another kind than is needed, or not a model file at all."""


class MissingDataError(FileError):
    """A corpus of the catalogue is not in the data folder."""


class PartError(HandfulError):
    """One part of a map-reduce failed; the message names the part."""


class MissingExtraError(HandfulError, ImportError):
    """An optional dependency is not installed; the message names the extra."""


@dataclass(frozen=True)
class Notice:
    """Something a user should know; a face (command line, studio, Python) decides how to show it.

    Parameters
    ----------
    code : str
        What kind of notice it is, such as ``"ambiguous-date"``.
    text : str
        What was seen and done, without any option name.
    column : str, optional
        The column that it is about.
    python_fix, cli_fix : str, optional
        What to write to have it otherwise, in Python and on the command line.

    Examples
    --------
    >>> notice = Notice("empty-column", "Column 'z' is empty and left out.", "z")
    >>> str(notice), notice.column
    ("Column 'z' is empty and left out.", 'z')
    """

    code: str
    text: str
    column: str | None = None
    python_fix: str | None = None
    cli_fix: str | None = None

    def __str__(self) -> str:
        return self.text

    def for_shell(self) -> str:
        """Return the text with what to write on the command line."""
        return f"{self.text} To change this: {self.cli_fix}" if self.cli_fix else self.text


_HISSING = ("s", "x", "z", "ch", "sh")


def counted(number: int, what: str, verb: str = "") -> str:
    """Return a number and what it counts, in the plural unless it is one.

    Parameters
    ----------
    number : int
        How many.
    what : str
        One of them, in words.
    verb : str, default=""
        What one and several of them do, parted by a slash, if the number is the subject of a sentence.

    Returns
    -------
    str
        Both, with commas between thousands.

    Examples
    --------
    >>> counted(1, "new label"), counted(2000, "class"), counted(0, "row")
    ('1 new label', '2,000 classes', '0 rows')
    >>> counted(1, "row", "is/are"), counted(2, "row", "is/are")
    ('1 row is', '2 rows are')
    """
    one, _, several = verb.partition("/")
    ending = "" if number == 1 else "es" if what.endswith(_HISSING) else "s"
    verb_form = one if number == 1 else several
    return f"{number:,} {what}{ending}{f' {verb_form}' if verb_form else ''}"


def require(module: str, *, extra: str, why: str) -> ModuleType:
    """Import an optional module, or say in one sentence how to get it.

    Parameters
    ----------
    module : str
        Name to import, such as ``"matplotlib"``.
    extra : str
        The extra of handful that installs it.
    why : str
        Who needs it, as the subject of a sentence: ``"python -m papers KEY --figures"``.

    Returns
    -------
    module
        The imported module.

    Examples
    --------
    >>> require("json", extra="plots", why="this example").__name__
    'json'
    >>> require("no_such_module", extra="plots", why="this example")
    Traceback (most recent call last):
    ...
    handful.errors.MissingExtraError: this example needs no_such_module. Install it with: pip install 'handful[plots]' \
(in the folder of handful: pip install '.[plots]').
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name is not None and error.name.split(".")[0] != module.split(".")[0]:
            raise
        raise MissingExtraError(
            f"{why} needs {module}. Install it with: pip install 'handful[{extra}]' "
            f"(in the folder of handful: pip install '.[{extra}]')."
        ) from None


@dataclass(frozen=True, slots=True)
class Step:
    """One report of progress.

    Parameters
    ----------
    stage : str
        What is being done, such as ``"train"``.
    done : int
        Units finished so far.
    total : int or None
        Units in all, if known.
    figures : mapping of str to float
        Numbers worth showing, such as the objective.

    Examples
    --------
    >>> Step("train", 3, 10, {"objective": 1.5}).done
    3
    """

    stage: str
    done: int
    total: int | None = None
    figures: Mapping[str, float] = field(default_factory=dict)


Progress = Callable[[Step], None]
