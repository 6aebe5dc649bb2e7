from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from handful.core.errors import DataError, FormatError, HandfulError
from handful.experiment.problem import array_problem, problem_of, read_problem


def write(path, text):
    path.write_text(text, encoding="utf-8")
    return path


def test_every_mark_of_a_missing_label_means_the_same(tmp_path):
    marks = ["", "?", "NaN"]
    rows = "".join(f"{i},{label}\n" for i, label in enumerate(["a", "b", "a", "b", *marks]))
    found = read_problem(write(tmp_path / "t.csv", f"x,y\n{rows}"), "y", unlabeled_marks=["?", "NaN"])
    assert found.codes.tolist() == [0, 1, 0, 1, -1, -1, -1]
    numbers = write(tmp_path / "n.csv", "x,y\n1,0\n2,1\n3,-1\n4,-1\n5,1\n6,0\n")
    assert read_problem(numbers, "y").codes.tolist() == [0, 1, -1, -1, 1, 0]
    frame = pl.DataFrame({"x": [1.0, 2.0, 3.0, 4.0], "y": [0.0, 1.0, float("nan"), None]})
    frame.write_parquet(tmp_path / "t.parquet")
    assert read_problem(tmp_path / "t.parquet", "y").codes.tolist() == [0, 1, -1, -1]
    lines = write(tmp_path / "t.jsonl", '{"x": 1, "y": "a"}\n{"x": 2, "y": "b"}\n{"x": 3, "y": null}\n{"x": 4}\n')
    assert read_problem(lines, "y").codes.tolist() == [0, 1, -1, -1]
    usual = "".join(f"{i},{label}\n" for i, label in enumerate(["a", "b", "a", "b", "N/A", "unknown", "-1", "None"]))
    found = read_problem(write(tmp_path / "u.csv", f"x,y\n{usual}"), "y")
    assert found.codes.tolist() == [0, 1, 0, 1, -1, -1, -1, -1]
    assert "'-1' (1), 'N/A' (1), 'None' (1), 'unknown' (1)" in found.notes[0]
    kept = read_problem(tmp_path / "u.csv", "y", keep_labels=["None", "unknown"])
    assert kept.classes.tolist() == ["None", "a", "b", "unknown"]
    for labels in (["a", "b", None], np.array([0, 1, -1]), np.array([0.0, 1.0, np.nan])):
        assert array_problem([[1.0], [2.0], [3.0]], labels).codes.tolist() == [0, 1, -1]


def test_a_large_table_is_sampled_but_no_label_is_lost(tmp_path):
    n = 3_000
    lines = [f"{i},{'ab'[i % 2] if i % 100 < 2 else ''}" for i in range(n)]
    path = write(tmp_path / "big.csv", "x,y\n" + "\n".join(lines) + "\n")
    found = read_problem(path, "y", max_unlabeled=50)
    assert found.n_rows_read == n
    assert len(found.labeled) == 60
    assert len(found.unlabeled) == 50
    assert found.frame["x"].is_sorted()
    assert found.notes == ("50 of 2,940 unlabeled rows were taken at random.",)
    other = read_problem(path, "y", max_unlabeled=50, seed=1)
    assert found.frame["x"].to_list() != other.frame["x"].to_list()


def test_columns_that_teach_nothing_are_left_out_and_named(tmp_path):
    rows = "".join(f"{i},r{i},same,{i % 7},{'ab'[i % 2]}\n" for i in range(30))
    path = write(tmp_path / "t.csv", f"id,code,fixed,x,y\n{rows}")
    found = read_problem(path, "y")
    assert list(found.kinds) == ["x"]
    assert [note.split("'")[1] for note in found.notes] == ["id", "code", "fixed"]
    kept = read_problem(path, "y", columns={"id": "numeric", "x": "skip"})
    assert list(kept.kinds) == ["id"]


def cases():
    rows = "".join(f"{i},{'ab'[i % 2]}\n" for i in range(10))
    many = "".join(f"{i},c{i // 2}\n" for i in range(4_000))
    yield "no labels", "x,y\n1,\n2,\n", "y", "at least one row must have a label, got 2 rows without any"
    yield "one class", "x,y\n1,a\n2,a\n3,\n", "y", "labels must be of at least 2 classes, got only a"
    yield "twice", f"x,x\n{rows}", "x", "expected each column name once, got 'x' again"
    yield "many classes", f"x,y\n{many}", "y", "at most 1,000 classes, got 2,000"
    yield "not found", f"size,label\n{rows}", "lable", "Did you mean 'label'"
    yield "only the target", "y\na\nb\n", "y", "at least one column beside 'y'"
    yield "no table", "It was a dark night.\nThe rain fell.\n", "y", "expected a column 'y'"
    yield "fractions", "x,y\n1,0.5\n2,1.5\n3,0.5\n", "y", ""


@pytest.mark.parametrize(("name", "text", "target", "message"), list(cases()))
def test_wrong_input_is_one_clear_sentence(tmp_path, name, text, target, message):
    path = write(tmp_path / "t.csv", text)
    if not message:
        read_problem(path, target)  # labels of a file are names, even if they look like fractions
        return
    with pytest.raises(HandfulError) as failure:
        read_problem(path, target)
    assert message in str(failure.value)
    assert "\n" not in str(failure.value)


def test_a_text_file_is_no_table(tmp_path):
    with pytest.raises(HandfulError, match="expected a table with columns"):
        read_problem(write(tmp_path / "t.txt", "It was a dark night\nand the rain fell\n"), "y")


def test_lengths_must_agree():
    with pytest.raises(DataError, match="X and y must be of one length, got 2 and 3"):
        array_problem([[1.0], [2.0]], [0, 1, 0])


def test_dates_are_numbers(tmp_path):
    rows = "".join(f"2024-01-{1 + i % 28:02d},{i % 7},{'ab'[i % 2]}\n" for i in range(60))
    found = read_problem(write(tmp_path / "t.csv", f"day,x,y\n{rows}"), "y")
    assert found.kinds == {"day": "numeric", "x": "numeric"}
    assert found.notes == ()


def test_many_columns_that_are_left_out_share_a_note(tmp_path):
    names = ",".join(f"c{i}" for i in range(1_200))
    rows = "".join(f"{'0,' * 1_200}{i},{'ab'[i % 2]}\n" for i in range(4))
    found = read_problem(write(tmp_path / "t.csv", f"{names},x,y\n{rows}"), "y")
    assert list(found.kinds) == ["x"]
    assert found.notes == (
        "1,200 columns were left out ('c0', 'c1', 'c2' and so on), each for the same reason: it has the same value in all rows.",
    )


def test_a_table_on_its_side_is_refused(tmp_path):
    names, cells = ",".join(f"c{i}" for i in range(60_000)), ",".join("0" for _ in range(60_000))
    with pytest.raises(FormatError, match=r"t.csv: expected at most 50,000 columns, got 60,000\. Are rows and columns"):
        read_problem(write(tmp_path / "t.csv", f"{names}\n{cells}\n"), "c0")


def test_an_empty_column_is_left_out_with_a_note(tmp_path):
    found = read_problem(write(tmp_path / "t.csv", "x,z,y\n1,,a\n2,,b\n"), "y")
    assert list(found.kinds) == ["x"]
    assert found.notes[0] == "Column 'z' was left out: it is empty."


@pytest.mark.parametrize("frame", [pl.DataFrame, lambda cells: pl.DataFrame(cells).to_pandas()])
def test_minus_one_beside_empty_cells_of_a_data_frame_is_a_class(frame):
    data = frame({"x": [1.0, 2.0, 3.0, 4.0], "y": [-1, 0, 1, None]})
    with pytest.warns(UserWarning, match="column 'y': -1 counts as a class, since unlabeled cells are empty"):
        problem = problem_of(data, "y")
    assert problem.classes.tolist() == ["-1", "0", "1"]
    assert problem_of(frame({"x": [1.0, 2.0, 3.0], "y": [-1, 0, 1]}), "y").classes.tolist() == [0, 1]


def test_names_of_several_words_may_be_texts(tmp_path):
    path = tmp_path / "notes.csv"
    lines = [f'{i % 7}.5,"please call back (ref {i % 25})",blue,{"ab"[i % 2]}' for i in range(100)]
    path.write_text("x,note,color,y\n" + "\n".join(lines) + "\n")
    told = "Column 'note' is read as names (25 values); if it is text: --columns note=text."
    assert told in read_problem(path, "y").notes
    assert not any("read as names" in note for note in read_problem(path, "y", columns={"note": "nominal"}).notes)
