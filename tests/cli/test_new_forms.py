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
# Day and month exchanged would put late days among the early ones.
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


def answers(text, separator=","):
    return [(row["predicted"], row["confidence"]) for row in csv.DictReader(text.splitlines(), delimiter=separator)]


def expected(capsys, model, data):
    code, out, err = run(capsys, "predict", model, data)
    assert code == 0
    assert "numbers" not in err
    return answers(out)


@pytest.mark.parametrize("form", ["%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y"])
def test_the_order_of_dates_is_that_of_the_new_file(capsys, tmp_path, form):
    known = write(tmp_path / "iso.csv", "day", [day.isoformat() for day in DAYS])
    model = fitted(capsys, known)
    new = write(tmp_path / "new.csv", "day", [day.strftime(form) for day in DAYS])
    code, out, err = run(capsys, "predict", model, new)
    assert code == 0
    assert answers(out) == expected(capsys, model, known)
    assert "missing" not in err
    assert "first" not in err


def test_an_open_order_of_dates_is_told_once(capsys, tmp_path):
    model = fitted(capsys, write(tmp_path / "iso.csv", "day", [day.isoformat() for day in DAYS]))
    new = write(tmp_path / "new.csv", "day", ["03/04/2019", "05/06/2019"] * (N // 2))
    code, _, err = run(capsys, "predict", model, new)
    assert code == 0
    assert (
        err.count("such as 03/04/2019, do not tell whether the month or the day is first; they are read month first.")
        == 1
    )


def test_one_order_of_dates_holds_for_all_pieces_of_a_file(capsys, tmp_path, monkeypatch):
    model = fitted(capsys, write(tmp_path / "iso.csv", "day", [day.isoformat() for day in DAYS]))
    days = sorted(DAYS, key=lambda day: day.day)  # only later pieces tell the order
    told = []
    for form in ("%Y-%m-%d", "%d/%m/%Y"):
        pieces = pl.DataFrame({"day": [day.strftime(form) for day in days]}).iter_slices(5)
        monkeypatch.setattr("handful.corpora.tables.table_frames", lambda path, pieces=pieces: pieces)
        code, out, err = run(capsys, "predict", model, tmp_path / "new.csv")
        assert code == 0
        assert "missing" not in err
        told.append(answers(out))
    assert len(told[0]) == N
    assert told[0] == told[1]


def test_a_model_of_decimal_commas_reads_a_workbook_and_the_reverse(capsys, tmp_path):
    german = write(tmp_path / "german.csv", "size", commas(SIZES), ";")
    book = tmp_path / "book.xlsx"
    pl.DataFrame({"size": SIZES, "label": [x if i < 40 else None for i, x in enumerate(LABELS)]}).write_excel(book)
    parquet = tmp_path / "rows.parquet"
    pl.read_excel(book).write_parquet(parquet)
    points = write(tmp_path / "points.csv", "size", SIZES)
    told = []
    for known in (german, book, points):
        model = fitted(capsys, known)
        for new in (german, book, parquet, points):
            code, out, err = run(capsys, "predict", model, new)
            assert code == 0
            assert "missing" not in err
            told.append(answers(out))
    assert len(told) == 12
    assert all(each == told[0] for each in told)


def test_thousandths_of_a_workbook_are_no_thousands(capsys, tmp_path):
    model = fitted(capsys, write(tmp_path / "german.csv", "size", commas(SIZES), ";"))
    book, same = tmp_path / "book.xlsx", tmp_path / "same.parquet"
    rows = pl.DataFrame({"size": [55.125, 30.375, None, 31.125], "note": ["a", "b", "c", "d"]})
    rows.write_excel(book)
    rows.write_parquet(same)
    assert answers(run(capsys, "predict", model, book)[1]) == answers(run(capsys, "predict", model, same)[1])


def test_why_reads_a_row_as_predict_reads_its_table(capsys, tmp_path):
    model = fitted(capsys, write(tmp_path / "iso.csv", "day", [day.isoformat() for day in DAYS]))
    new = tmp_path / "new.csv"
    new.write_text("day\n12/02/2019\n29/07/2019\n")  # December alone would be late
    assert answers(run(capsys, "predict", model, new)[1])[0][0] == "early"
    code, out, _ = run(capsys, "why", model, new, "--row", 1)
    assert code == 0
    assert out.startswith("early")


def test_hardly_any_number_is_told_first_and_none_at_all_refused(capsys, tmp_path):
    model = fitted(capsys, write(tmp_path / "points.csv", "size", SIZES))
    new = write(tmp_path / "new.csv", "size", ["red", "blue", "1.5", ""] * (N // 4))
    code, _, err = run(capsys, "predict", model, new)
    assert code == 0
    assert err.startswith(
        f"{new}: most cells of 'size' (40 of 60 filled) cannot be read as numbers, so the answers mean little."
    )
    assert "count as missing: 'size' (40 of 80)." in err
    new = write(tmp_path / "none.csv", "size", ["", "red"] * (N // 2))
    code, out, err = run(capsys, "predict", model, new, "-o", tmp_path / "answers.csv")
    assert (code, out) == (1, "")
    assert not (tmp_path / "answers.csv").exists()
    assert "expected numbers in 'size', got no cell that can be read as one, such as 'red'." in err


@pytest.mark.parametrize("written", ["{:,} lbs", "{:,.1f} lbs", "{:,}lbs", "lbs {:,}"])
def test_thousands_with_a_unit_are_numbers_in_training_and_in_new_tables(capsys, tmp_path, written):
    weights = [round(100 * size) for size in SIZES]
    plain = write(tmp_path / "plain.csv", "weight", weights)
    # In quotes, as commas would part cells.
    data = write(tmp_path / "unit.csv", "weight", [f'"{written.format(weight)}"' for weight in weights])
    model = fitted(capsys, data)
    same = expected(capsys, fitted(capsys, plain), plain)
    assert expected(capsys, model, data) == same
    code, out, err = run(capsys, "predict", model, plain)
    assert (code, answers(out)) == (0, same)
    assert "Column 'weight' has numbers without a unit, in training it had 'lb': they are taken as 'lb'." in err


def test_units_that_measure_something_else_count_as_missing_and_are_told(capsys, tmp_path):
    model = fitted(capsys, write(tmp_path / "unit.csv", "weight", [f"{size} kg" for size in SIZES]))
    told = "Column 'weight' has numbers in 'cm', which does not measure what 'kg' does: they count as missing."
    some = write(tmp_path / "some.csv", "weight", [f"{size} {'kg' if i % 4 else 'cm'}" for i, size in enumerate(SIZES)])
    code, _, err = run(capsys, "predict", model, some)
    assert code == 0
    assert told in err
    assert "count as missing: 'weight' (20 of 80)." in err
    all_of_them = write(tmp_path / "all.csv", "weight", [f"{size} cm" for size in SIZES])
    code, out, err = run(capsys, "predict", model, all_of_them)
    assert (code, out) == (1, "")
    assert err.strip().endswith(f"got no cell that can be read as one, such as '{SIZES[0]} cm'. {told}")


def test_columns_that_can_be_read_both_ways_follow_the_others(capsys, tmp_path):
    """Thousands would put 60 below 9,125."""
    weights = [60 if late else 9.125 + i / 1000 for i, late in enumerate(LATE)]
    heights = [170 + i % 3 / 2 for i in range(N)]
    told = []
    for name, separator in (("german", ";"), ("plain", ",")):
        cells = [f"{weight:g}{separator}{height:g}" for weight, height in zip(weights, heights, strict=True)]
        if name == "german":
            cells = commas(cells)
        data = write(tmp_path / f"{name}.csv", f"weight{separator}height", cells, separator)
        model = fitted(capsys, data)
        told.append(answers(run(capsys, "predict", model, data)[1]))
    assert told[0] == told[1]
