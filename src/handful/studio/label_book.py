"""The label book: keys, colors, descriptions and examples of labels, guidelines, and the keys of commands."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from handful.errors import DataError, FormatError

LONGEST_LABEL = 100
_LONGEST_TEXT = 2_000
_LABEL_KEYS = "1234567890qwertyuiopasdfghjklzxcvbnmQWERTYUIOPASDFGHJKLZXCVBNM"
COMMANDS: Mapping[str, str] = {
    "undo": "z",
    "skip": "s",
    "unsure": "u",
    "new": "n",
    "alike": "l",
    "play": "p",
    "find": "f",
    "note": "c",
    "reject": "x",
}


@dataclass(frozen=True)
class LabelBook:
    """What is known of labels before anybody labels.

    Parameters
    ----------
    entries : mapping of str to mapping
        Key, color, description and examples of each label, where there are any.
    guidelines : str
        How to label.
    """

    entries: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    guidelines: str = ""


@dataclass(frozen=True)
class Setup:
    """Who labels, and by which rules.

    Parameters
    ----------
    annotator : str, default="me"
        Name of the person, unless the page gives another one.
    book : LabelBook
        Labels to begin with.
    second_share : float, default=0.0
        Proportion of the rows that a second person labels, without seeing the first label.
    review, confidence : str, optional
        Column of suggested labels, and of confidences in them.
    seed : int, default=0
        Seed of all random choices.
    """

    annotator: str = "me"
    book: LabelBook = field(default_factory=LabelBook)
    second_share: float = 0.0
    review: str | None = None
    confidence: str | None = None
    seed: int = 0


def read_label_book(path: Path) -> LabelBook:
    """Read a label book in TOML: ``guidelines``, and a ``[[label]]`` with a ``name`` for each label."""
    import tomllib

    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
        labels = content.get("label", [])
        if not isinstance(labels, list) or not all(isinstance(label, dict) for label in labels):
            raise DataError("studio: labels must be written as [[label]] tables.")
        entries = {checked_label(label.get("name")): checked_entry(label) for label in labels}
        keys = [entry["key"] for entry in entries.values() if entry["key"]]
        if len(keys) > len(set(keys)):
            raise DataError("studio: two labels have the same key.")
        return LabelBook(entries, checked_text(content.get("guidelines", ""), "guidelines"))
    except ValueError as error:  # no TOML, no UTF-8, or no entry
        raise FormatError(path, 0, str(error).removeprefix("studio: ")) from None


def label_book_toml(entries: Mapping[str, Mapping[str, Any]], guidelines: str) -> str:
    """Return a label book as TOML.

    Examples
    --------
    >>> print(label_book_toml({"cat": {"key": "c"}}, "One animal."))
    guidelines = "One animal."
    <BLANKLINE>
    [[label]]
    name = "cat"
    key = "c"
    <BLANKLINE>
    """
    lines = [f"guidelines = {json.dumps(guidelines)}"]
    for name, entry in entries.items():
        lines += ["", "[[label]]", f"name = {json.dumps(name)}"]
        lines += [f"{what} = {json.dumps(value)}" for what, value in entry.items() if value]
    return "\n".join(lines) + "\n"


def keys_of(
    labels: Iterable[str], wanted: Mapping[str, str] | None = None, taken: Iterable[str] = ()
) -> dict[str, str]:
    """Return a key for every label: the wanted one, else its name if that is a free key, else the next free one, else none.

    Keys are assigned in the order of the labels, as if none was wanted, so neither one more label nor a wanted key moves others.

    Examples
    --------
    >>> keys_of(["cat", "dog", "7", "1"], {"dog": "d"})
    {'cat': '1', 'dog': 'd', '7': '7', '1': '3'}
    """
    free = [key for key in _LABEL_KEYS if key not in taken]
    keys = {}
    for name in labels:
        keys[name] = name if name in free else free[0] if free else ""
        if keys[name]:
            free.remove(keys[name])
    own = {name: key for name, key in (wanted or {}).items() if key}
    free = [key for key in free if key not in own.values()]
    moved = {name: free.pop(0) if free else "" for name, key in keys.items() if key and key in own.values()}
    return {**keys, **moved, **own}


def checked_label(value: Any) -> str:
    """Return a label that a person typed, stripped, or refuse it."""
    if not isinstance(value, str) or not value.strip():
        raise DataError("studio: a label must be a text, got nothing.")
    if len(value) > LONGEST_LABEL or any(ord(letter) < 32 for letter in value):
        raise DataError(f"studio: a label must be one line of at most {LONGEST_LABEL} letters.")
    return checked_text(value, "a label").strip()


def checked_text(value: Any, what: str) -> str:
    """Return a longer text that a person typed, or refuse it."""
    if not isinstance(value, str) or len(value) > _LONGEST_TEXT:
        raise DataError(f"studio: {what} must be a text of at most {_LONGEST_TEXT:,} letters.")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise DataError(f"studio: {what} must be text that can be stored as UTF-8.") from None
    return value


def checked_key(value: Any) -> str:
    """Return a key, empty for none, or refuse it."""
    if not isinstance(value, str) or len(value) > 1 or value in ("?", "/", " ") or not value.isprintable():
        raise DataError("studio: a key must be one character other than a space, '/' and '?'.")
    return value


def checked_entry(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return key, color, description and examples of a label, or refuse them."""
    color, examples = body.get("color", ""), body.get("examples", [])
    if not isinstance(color, str) or not re.fullmatch(r"(#[0-9a-fA-F]{6})?", color):
        raise DataError("studio: a color must be written as #rrggbb.")
    if not isinstance(examples, list) or len(examples) > 20:
        raise DataError("studio: examples must be a list of at most 20 texts.")
    return {
        "key": checked_key(body.get("key", "")),
        "color": color,
        "description": checked_text(body.get("description", ""), "a description"),
        "examples": [checked_text(one, "an example") for one in examples if one],
    }
