"""The studio under a labeler's fingers, in Chromium: first row, key to next row, search with a filter, second person.

python -m benchmarks.studio --rows 100000        # needs the extras studio and browser, and the package chromium
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

N_KEYS, PAUSE = 20, 100  # keys, and milliseconds between them
WATCH = """() => { window.waits = [];
  new MutationObserver(() => { if (window.pressed) { window.waits.push(performance.now() - window.pressed); window.pressed = 0; } })
    .observe(document.getElementById("item"), { attributes: true, attributeFilter: ["data-row"] });
  document.addEventListener("keydown", () => { window.pressed = performance.now(); }, { capture: true }); }"""
SEARCH = """async () => { const start = performance.now();
  const reply = await (await fetch("rows?query=thing%2099&show=unlabeled")).json();
  return [performance.now() - start, reply.n]; }"""


def write_table(path: Path, n_rows: int) -> None:
    """Write ten numbers, a category and a short text for each row."""
    rng = np.random.default_rng(0)
    group = rng.integers(0, 4, n_rows)
    numbers = {f"x{j}": (rng.standard_normal(n_rows) + group).round(3) for j in range(10)}
    notes = [f"note {i} about thing {thing}" for i, thing in enumerate(rng.integers(0, 999, n_rows))]
    city = [f"city {number}" for number in rng.integers(0, 50, n_rows)]
    pl.DataFrame({**numbers, "city": city, "note": notes, "class": [""] * n_rows}).write_csv(path)


def measure(page: Any, link: str) -> dict[str, Any]:
    """Label rows by keys and search."""
    start = time.perf_counter()
    page.goto(link)
    page.locator("#item h2").wait_for()
    facts: dict[str, Any] = {"first row, s": round(time.perf_counter() - start, 2)}
    for name in ("low", "high"):
        page.keyboard.press("n")
        page.keyboard.type(name)
        page.keyboard.press("Enter")
        page.wait_for_timeout(1_000)
    page.evaluate(WATCH)
    for _ in range(N_KEYS):
        page.keyboard.press("1")
        page.wait_for_timeout(PAUSE)
    start = time.perf_counter()
    page.locator("#count", has_text=f"{N_KEYS + 2} of").wait_for()
    facts["all keys counted after, s"] = round(time.perf_counter() - start, 2)
    waits = page.evaluate("() => window.waits")
    facts["key to next row, ms: median, worst"] = [round(float(np.median(waits)), 1), round(max(waits), 1)]
    times = [page.evaluate(SEARCH) for _ in range(5)]
    facts["search with filter, ms: median, worst"] = [round(f([t for t, _ in times])) for f in (np.median, max)]
    facts["rows that were searched for"] = times[0][1]
    return facts


def main() -> None:
    """Print what was measured."""
    from playwright.sync_api import sync_playwright

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--quick", action="store_true", help="1,000 rows")
    options = parser.parse_args()
    n_rows = 1_000 if options.quick else options.rows
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        table = Path(folder) / "table.csv"
        write_table(table, n_rows)
        command = [sys.executable, "-m", "handful", "studio", str(table), "--target", "class", "--no-browser"]
        start = time.perf_counter()
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            link = re.search(r"http://\S+", process.stdout.readline())
            assert link is not None
            opened = round(time.perf_counter() - start, 2)
            browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
            try:
                print(json.dumps({"rows": n_rows, "link, s": opened, **measure(browser.new_page(), link.group())}))
            finally:
                browser.close()
                process.kill()


if __name__ == "__main__":
    main()
