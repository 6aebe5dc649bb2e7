"""Make docs/figures/report.png: the report on 178 wines with 90 random labels. Needs Chromium; two minutes.

python tools/report_picture.py
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import polars as pl
from sklearn.datasets import load_wine

FIGURE = Path(__file__).parents[1] / "docs" / "figures" / "report.png"


def main() -> None:
    """Compare methods on the table and take a picture of the report."""
    bunch = load_wine()
    labeled = np.isin(np.arange(178), np.random.default_rng(1).permutation(178)[:90])
    labels = [f"cultivar {code}" if known else None for code, known in zip(bunch.target, labeled, strict=True)]
    with tempfile.TemporaryDirectory() as folder:
        table = pl.DataFrame(bunch.data, schema=[name.replace("/", "_") for name in bunch.feature_names])
        table.with_columns(cultivar=pl.Series(labels)).write_csv(Path(folder, "wines.csv"))
        compare = ["-m", "handful", "compare", "wines.csv", "--target", "cultivar", "--report", "report.html"]
        subprocess.run([sys.executable, *compare], cwd=folder, check=True)
        chromium = ["chromium", "--headless", "--no-sandbox", "--hide-scrollbars", "--window-size=1180,860"]
        page = Path(folder, "report.html").as_uri()
        subprocess.run([*chromium, f"--screenshot={FIGURE}", page], check=True)


if __name__ == "__main__":
    main()
