"""A folder of finished summaries, so that a run that was stopped goes on where it was."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Any

from handful.compute.content_keys import part_identity
from handful.core.errors import FileError
from handful.core.files import atomic_writer
from handful.core.packed_arrays import unpack_arrays


class Checkpoint:
    """Summaries of finished parts, one file each.

    Parameters
    ----------
    folder : path-like
        Made if it is not there.
    fingerprint : str
        What the summaries depend on beside their parts, such as the model and its parameters. A summary is found again
        only under the fingerprint that it was stored under.

    Notes
    -----
    The name of a file is the SHA-256 of fingerprint and part (see `part_identity`), so any number of runs may share a
    folder, and a part whose content changed is a new part. A file appears whole or not at all; one that is damaged
    counts as missing. Only arrays and JSON are stored, and reading them never runs code.

    Examples
    --------
    >>> import tempfile
    >>> from handful.core.packed_arrays import pack_arrays
    >>> checkpoint = Checkpoint(tempfile.mkdtemp(), "version 1")
    >>> key = checkpoint.key("a part")
    >>> checkpoint.save(key, pack_arrays({"n": 3}))
    >>> checkpoint.load(key)
    {'n': 3}
    """

    def __init__(self, folder: str | os.PathLike[str], fingerprint: str) -> None:
        self._folder = Path(folder)
        self._start = hashlib.sha256(f"1 {len(fingerprint)} {fingerprint} ".encode("utf-8", "surrogatepass"))
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise FileError(f"{folder}: cannot be the folder of a checkpoint ({error.strerror}).") from None

    def key(self, part: Any) -> str:
        """Return the name under which the summary of a part is kept."""
        digest = self._start.copy()
        digest.update(part_identity(part).encode("utf-8", "surrogatepass"))
        return digest.hexdigest()

    def load(self, key: str) -> dict[str, Any] | None:
        """Return a stored summary, or None if there is none or it is damaged."""
        path = self._path(key)
        try:
            return unpack_arrays(path.read_bytes())
        except FileNotFoundError:
            return None
        except OSError as error:
            raise FileError(f"{path}: cannot be read ({error.strerror}).") from None
        except ValueError:
            return None

    def save(self, key: str, data: bytes) -> None:
        """Store a packed summary."""
        with atomic_writer(self._path(key)) as file:
            file.write(data)

    def _path(self, key: str) -> Path:
        return self._folder / f"{key}.summary"
