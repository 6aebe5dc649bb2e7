"""One copy of each string: a corpus has few different words, so its records get small."""

from __future__ import annotations

from collections.abc import Iterable

_LIMIT = 2**17


class Sharing:
    """Replaces strings by equal ones that were met before; forgets all of them when they become too many.

    Examples
    --------
    >>> share = Sharing()
    >>> first, second = share(["".join("ab"), "".join("ab")])
    >>> first is second, "ab" in share
    (True, True)
    """

    def __init__(self) -> None:
        self._known: dict[str, str] = {}

    def __call__(self, strings: Iterable[str]) -> tuple[str, ...]:
        """Return the strings as a tuple, each as the copy that was met first."""
        known = self._known
        if len(known) > _LIMIT:
            known.clear()
        strings = tuple(strings)
        return tuple(map(known.setdefault, strings, strings))

    def __contains__(self, string: str) -> bool:
        return string in self._known
