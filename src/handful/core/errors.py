"""The exception tree of the house.

Every message has the form ``Who: what must hold, got what. What to do.``; errors about a file start with
``path:line:``.
"""

from __future__ import annotations

from os import PathLike


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
