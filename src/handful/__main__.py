"""``python -m handful`` is the command ``handful``."""

from __future__ import annotations

import os


def main() -> None:
    """Run the command line; an interrupt while it is imported ends it as a later one would."""
    try:
        from handful.cli import main as run
    except KeyboardInterrupt:
        os._exit(130)
    run()


if __name__ == "__main__":
    main()
