"""What several benchmarks share: clocks, the usual options, and rows of results."""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from typing import Any

Rows = list[dict[str, Any]]


class Clock:
    """Wall and CPU seconds of a block."""

    def __enter__(self) -> Clock:
        self.wall, self.cpu = time.perf_counter(), time.process_time()
        return self

    def __exit__(self, *_: object) -> None:
        self.wall, self.cpu = time.perf_counter() - self.wall, time.process_time() - self.cpu


def usual_options(doc: str | None, quick: str) -> argparse.ArgumentParser:
    """Return a parser with the options of every benchmark: a reduced run, and JSON."""
    parser = argparse.ArgumentParser(description=(doc or "").partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help=quick)
    parser.add_argument("--json", action="store_true", help="print JSON on stdout")
    return parser


def show_rows(rows: Rows, options: argparse.Namespace) -> None:
    """Print results with the load of the machine; a reduced run says so."""
    for row in rows:
        row["quick"] = options.quick
    if options.json:
        json.dump({"rows": rows, "load": os.getloadavg()}, sys.stdout, indent=1)
        print()
        return
    for row in rows:
        print("  ".join(f"{key}: {value}" for key, value in row.items() if key != "quick"))
    print(f"load average {os.getloadavg()}" + (", reduced run (--quick)" if options.quick else ""))
