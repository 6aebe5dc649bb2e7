"""Template observations token by token, with string functions written out."""

from __future__ import annotations


def value(columns, column, function, position):
    """Value at a position; <s> and </s> outside."""
    if position < 0:
        return "<s>"
    values = columns[column]
    if position >= len(values):
        return "</s>"
    word = values[position]
    if function == "lower":
        return word.lower()
    if function.startswith("suffix"):
        n = int(function[6:])
        return word[len(word) - n :] if len(word) >= n else None
    if function.startswith("prefix"):
        n = int(function[6:])
        return word[:n] if len(word) >= n else None
    return word


def observe(columns, atoms, position):
    """Joined values of atoms (column, function, offset), or None where one has no value."""
    values = [value(columns, column, function, position + offset) for column, function, offset in atoms]
    return None if None in values else "|".join(values)
