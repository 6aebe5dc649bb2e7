"""Run the command line with ``python -m handful.cli``."""

from handful.cli import main

main()
