"""Print the packages of a dependency group of pyproject.toml, for versions of pip without `--group` (before 25.1).

python -m pip install $(python tools/groups.py test)
"""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path


def main() -> None:
    """Print the groups that are named, one package a line."""
    groups = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))[
        "dependency-groups"
    ]
    for name in sys.argv[1:]:
        print("\n".join(groups[name]))


if __name__ == "__main__":
    main()
