from __future__ import annotations

import re
from pathlib import Path

from quick_start import run

HOWTO = Path(__file__).parents[2] / "docs" / "howto-labeling.md"


def test_the_example_of_the_howto_runs():
    (block,) = re.findall(r"```python\n(.*?)```", HOWTO.read_text(), re.DOTALL)
    done = run(code=f"import warnings; warnings.simplefilter('error')\n{block}")
    assert done.returncode == 0, done.stderr
    first = re.findall(r"^(\d+) new cluster, no labels yet$", done.stdout, re.MULTILINE)
    assert len({int(row) // 50 for row in first}) == 3, "one row of each species"
    suggested = re.findall(r"row=(\d+).*?suggestion='(\d)'", done.stdout)
    assert suggested == [("0", "0"), ("75", "1"), ("149", "2")]
