"""Models for tables read new files of another kind than they were fitted on."""

from __future__ import annotations

import csv
from datetime import date, timedelta

import numpy as np
import polars as pl
import pytest

from handful.cli import main

N = 80
RNG = np.random.default_rng(0)
LATE = [i % 2 == 1 for i in range(N)]
DAYS = [date(2019, 1, 1) + timedelta(days=int(RNG.integers(0, 120) + (180 if late else 0))) for late in LATE]
SIZES = [round(float(RNG.normal(55 if late else 30, 5)), 3) for late in LATE]
LABELS = ["late" if late else "early" for late in LATE]


def run(capsys, *arguments):
    with pytest.raises(SystemExit) as done:
        main([str(a) for a in arguments])
    out, err = capsys.readouterr()
    return done.value.code, out, err


def write(path, name, cells, separator=","):
    rows = [
        f"{cell}{separator}{label if i < 40 else ''}\n"
        for i, (cell, label) in enumerate(zip(cells, LABELS, strict=True))
    ]
    path.write_text(f"{name}{separator}label\n" + "".join(rows))
    return path


def commas(numbers):
    return [f"{number}".replace(".", ",") for number in numbers]


def fitted(capsys, data):
    assert run(capsys, "fit", "table", data, "--target", "label", "--method", "k-nn")[0] == 0
    return data.with_suffix(".handful")


def predictions(capsys, model, data):
    code, out, err = run(capsys, "predict", model, data)
    assert code == 0, err
    assert "missing" not in err
    return [(row["predicted"], row["confidence"]) for row in csv.DictReader(out.splitlines())]


def test_a_model_reads_files_that_hold_the_same_values(capsys, tmp_path):
    german = write(tmp_path / "german.csv", "size", commas(SIZES), ";")
    book = tmp_path / "book.xlsx"
    pl.DataFrame({"size": SIZES, "label": [x if i < 40 else None for i, x in enumerate(LABELS)]}).write_excel(book)
    parquet = tmp_path / "rows.parquet"
    pl.read_excel(book).write_parquet(parquet)
    model = fitted(capsys, german)
    first = predictions(capsys, model, german)
    for new in (book, parquet):
        assert predictions(capsys, model, new) == first
    assert predictions(capsys, fitted(capsys, book), parquet) == first


@pytest.mark.parametrize("form", ["%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y"])
def test_dates_in_another_order_are_refused(capsys, tmp_path, form):
    model = fitted(capsys, write(tmp_path / "iso.csv", "day", [day.isoformat() for day in DAYS]))
    new = write(tmp_path / "new.csv", "day", [day.strftime(form) for day in DAYS])
    code, out, err = run(capsys, "predict", model, new, "-o", tmp_path / "p.csv")
    assert (code, out) == (1, "")
    assert "column 'day': " in err
    assert "but the model was trained on" in err
    assert not (tmp_path / "p.csv").exists()


def test_numbers_with_another_decimal_sign_are_refused(capsys, tmp_path):
    model = fitted(capsys, write(tmp_path / "points.csv", "size", SIZES))
    code, _, err = run(capsys, "predict", model, write(tmp_path / "german.csv", "size", commas(SIZES), ";"))
    assert code == 1
    assert "has a decimal comma, but the model was trained on a decimal point" in err


def test_an_explanation_reads_a_row_as_predict_reads_its_table(capsys, tmp_path):
    model = fitted(capsys, write(tmp_path / "known.csv", "day", [day.strftime("%d/%m/%Y") for day in DAYS]))
    new = tmp_path / "new.csv"
    new.write_text("day\n12/02/2019\n29/07/2019\n")  # December would be late
    assert predictions(capsys, model, new)[0][0] == "early"
    code, out, _ = run(capsys, "why", model, new, "--row", 1)
    assert code == 0
    assert out.startswith("early")


def test_cells_that_cannot_be_read_are_counted_and_a_table_of_nothing_else_is_refused(capsys, tmp_path):
    model = fitted(capsys, write(tmp_path / "points.csv", "size", SIZES))
    new = write(tmp_path / "new.csv", "size", ["red", "blue", "1.5", ""] * (N // 4))
    code, _, err = run(capsys, "predict", model, new)
    assert code == 0
    assert "'size' (40 of 60)" in err
    new = write(tmp_path / "none.csv", "size", ["", "red"] * (N // 2))
    code, out, err = run(capsys, "predict", model, new, "-o", tmp_path / "answers.csv")
    assert (code, out) == (1, "")
    assert not (tmp_path / "answers.csv").exists()
    assert "no cell of 'size' can be read" in err


def test_one_column_of_which_no_cell_can_be_read_is_refused(capsys, tmp_path):
    data = tmp_path / "two.csv"
    rows = list(zip(SIZES, LABELS, strict=True))
    data.write_text("size,weight,label\n" + "".join(f"{x},{2 * x},{label}\n" for x, label in rows))
    model = fitted(capsys, data)
    new = tmp_path / "new.csv"
    new.write_text("size,weight\n" + "".join(f"{x},heavy\n" for x in SIZES))
    code, out, err = run(capsys, "predict", model, new)
    assert (code, out) == (1, "")
    assert "'weight'" in err
    new.write_text("size,weight\n" + "".join(f"{x},heavy\n" for x in SIZES[:3]))
    assert run(capsys, "predict", model, new)[0] == 0
