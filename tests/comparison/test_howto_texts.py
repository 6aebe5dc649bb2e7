from __future__ import annotations

import re
from pathlib import Path

HOWTO = Path(__file__).parents[2] / "docs" / "howto-texts.md"


def test_the_example_of_the_howto_runs(capsys):
    blocks = re.findall(r"```python\n(.*?)```", HOWTO.read_text(), re.DOTALL)
    [block] = [block for block in blocks if "handful" in block]  # the other one reads a folder of files
    exec(compile(block, str(HOWTO), "exec"), {})
    told = capsys.readouterr().out
    assert told.startswith("['Topics (answers-")
    assert float(told.split()[-1]) > 0.9
