"""Run a command in this process."""

from __future__ import annotations

import pytest

from handful.cli import main

# Commands that write files; tests write the same file several times.
WRITING = ("fit", "predict", "next", "merge", "check", "compare", "condense", "clusters", "export", "shots")


def run(capsys: pytest.CaptureFixture[str], *arguments: object, force: bool = True) -> tuple[int, str, str]:
    """Return the exit code of a command, and what it printed on stdout and stderr."""
    words = [str(argument) for argument in arguments]
    if force and words and words[0] in WRITING and len(words) > 1 and "--help" not in words and "--" not in words:
        words.append("--force")
    with pytest.raises(SystemExit) as done:
        main(words)
    out, err = capsys.readouterr()
    return done.value.code, out, err
