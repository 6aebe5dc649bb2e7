"""Values in messages, cut where they are long."""

from __future__ import annotations

_LONGEST = 60


def shown(value: object) -> str:
    """Return a value as a message shows it.

    Parameters
    ----------
    value : object
        Text, or anything else.

    Returns
    -------
    str
        Its `repr`, of at most some 60 characters.

    Examples
    --------
    >>> shown("Rome"), shown([1, 2]), shown("9" * 100) == repr("9" * 57 + "...")
    ("'Rome'", '[1, 2]', True)
    """
    if isinstance(value, str):
        return repr(value if len(value) <= _LONGEST else value[: _LONGEST - 3] + "...")
    text = repr(value)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."
