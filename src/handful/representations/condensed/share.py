"""One of several equal shares of a text, each counted by a run of its own."""

from __future__ import annotations

import re
from dataclasses import dataclass

from handful.core.errors import ParameterError

_WRITTEN = re.compile(r"([1-9]\d{0,8})/([1-9]\d{0,8})")


@dataclass(frozen=True)
class Share:
    """Every n-th piece of a text.

    Parameters
    ----------
    number : int
        Which share, from 1 on.
    of : int
        How many there are.

    Examples
    --------
    >>> share = Share.parse("2/3")
    >>> [piece for piece in range(7) if share.has(piece)], str(share)
    ([1, 4], '2/3')
    """

    number: int = 1
    of: int = 1

    @classmethod
    def parse(cls, text: str) -> Share:
        """Read ``2/8``: the second of eight."""
        if not cls.is_written(text):
            raise ParameterError(f"shard: must be I/N, with I from 1 to N, such as 2/8, got {text!r}.")
        number, of = map(int, text.split("/"))
        return cls(number, of)

    @staticmethod
    def is_written(text: str) -> bool:
        """Tell whether a text is a share."""
        written = _WRITTEN.fullmatch(text)
        return written is not None and int(written[1]) <= int(written[2])

    def has(self, piece: int) -> bool:
        """Tell whether a piece, numbered from 0 on, is in this share."""
        return piece % self.of == self.number - 1

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"
