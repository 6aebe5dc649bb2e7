from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

HOWTO = Path(__file__).parents[2] / "docs" / "howto-labeling.md"


def test_the_example_of_the_howto_runs():
    (block,) = re.findall(r"```python\n(.*?)```", HOWTO.read_text(), re.DOTALL)
    done = subprocess.run([sys.executable, "-W", "error", "-c", block], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    first = re.findall(r"^(\d+) new cluster, no labels yet$", done.stdout, re.MULTILINE)
    assert len({int(row) // 50 for row in first}) == 3, "one row of each species"
    suggested = re.findall(r"row=(\d+).*?suggestion='(\d)'", done.stdout)
    assert suggested == [("0", "0"), ("75", "1"), ("149", "2")]
