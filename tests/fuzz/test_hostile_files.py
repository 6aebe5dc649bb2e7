"""A few hostile data files through commands in children with 2 GB; `make fuzz` tries 300 with every command."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="children are forked, with a limit on their address space")
def test_hostile_files_end_in_an_answer_or_a_sentence():
    script = Path(__file__).with_name("hostile_files.py")
    only = ("fit", "predict", "fit tagger")
    done = subprocess.run([sys.executable, script, "3", "--only", *only], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    assert "9 runs" in done.stdout
