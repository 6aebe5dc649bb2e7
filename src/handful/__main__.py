"""``python -m handful`` is the command ``handful``."""

from __future__ import annotations

from handful.cli import main

if __name__ == "__main__":
    main()
