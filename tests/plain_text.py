"""Plain text for tests."""

from __future__ import annotations

from pathlib import Path


def write_text(path, sentences):
    """Write sentences, one a line, with a space between tokens."""
    Path(path).write_text("".join(" ".join(sentence) + "\n" for sentence in sentences), encoding="utf-8", newline="\n")
