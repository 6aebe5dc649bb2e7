"""Tables from files and from memory, with what is odd about them."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from handful.comparison.tables import labeled_table
from handful.data.checks import check_labels, check_table, rare_classes, skip_uninformative
from handful.data.columns import infer_columns
from handful.data.labels import Labels, encode_labels
from handful.data.table import as_table, read_table
from handful.errors import DataError, HandfulError, MissingColumnError, ParameterError


def codes_of(notices):
    return [notice.code for notice in notices]


def checked(frame, codes, classes, columns=None):
    specs, _ = infer_columns(frame, columns)
    from handful.data.columns import read_values

    return check_table(read_values(frame, specs), specs, Labels(np.asarray(codes), np.array(classes)))


def test_a_table_passes_through_unchanged():
    table = as_table(pl.DataFrame({"x": ["1", "2"], "y": ["a", None]}), "y")
    assert as_table(table) is table
    assert table.values() is table.values(), "typed once"
    assert (len(table), table.target, table.labeled.tolist(), table.unlabeled.tolist()) == (2, "y", [0], [1])
    other = table.with_labels(encode_labels(["b", "c"]))
    assert (other.classes.tolist(), other.values() is table.values()) == (["b", "c"], True)
    assert as_table(table, ["b", None]).codes.tolist() == [0, -1]
    some = table[[1]]
    assert (some.cells["x"].to_list(), some.values()["x"].to_list(), some.codes.tolist()) == (["2"], [2.0], [-1])


@pytest.mark.parametrize(
    "rows",
    [
        [[1.0, 2.0], [3.0, 4.0]],
        np.array([[1.0, 2.0], [3.0, 4.0]]),
        pl.DataFrame({"x0": [1.0, 3.0], "x1": [2.0, 4.0]}),
        pl.DataFrame({"x0": [1.0, 3.0], "x1": [2.0, 4.0]}).lazy(),
        {"x0": [1.0, 3.0], "x1": ["2", "4"]},
        pl.DataFrame({"x0": [1.0, 3.0], "x1": [2.0, 4.0]}).to_pandas(),
    ],
    ids=lambda rows: type(rows).__name__,
)
def test_whatever_holds_rows_is_a_table(rows):
    table = as_table(rows, ["a", None])
    assert table.values().rows() == [(1.0, 2.0), (3.0, 4.0)]
    assert table.codes.tolist() == [0, -1]


def test_labels_may_be_a_column_of_the_rows():
    frame = pl.DataFrame({"x": [1.0, 2.0], "y": ["a", "b"]})
    for y in ("y", frame["y"]):
        table = as_table(frame, y)
        assert (table.target, table.kinds, table.classes.tolist()) == ("y", {"x": "numeric"}, ["a", "b"])
    minus = as_table(pl.DataFrame({"x": [1.0, 2.0, 3.0, 4.0], "y": [-1, 0, 1, None]}), "y")
    assert (minus.classes.tolist(), codes_of(minus.notices)[0]) == (["-1", "0", "1"], "minus-one-class")
    assert as_table(pl.DataFrame({"x": [1.0, 2.0, 3.0], "y": [-1, 0, 1]}), "y").classes.tolist() == [0, 1]


def test_wrong_rows_labels_and_columns_are_refused():
    frame = pl.DataFrame({"x": [1.0, 2.0], "y": ["a", "b"]})
    for bad, error, message in (
        (lambda: as_table(frame, ["a"]), DataError, "X and y: must be of one length, got 2 and 1"),
        (lambda: as_table(frame, "Y"), MissingColumnError, "no column 'Y'. Did you mean 'y'?"),
        (lambda: as_table(frame, "y", columns={"z": "text"}), MissingColumnError, "no column 'z'"),
        (lambda: as_table(frame, "y", columns={"x": "number"}), ParameterError, "'x' cannot be 'number'"),
        (lambda: as_table(frame, "y", columns={"y": "text"}), ParameterError, "'y' is the label column"),
        (lambda: as_table(frame[:0], "y"), DataError, "no rows"),
    ):
        with pytest.raises(error) as failure:
            bad()
        assert message in str(failure.value)


def problems():
    rows = "".join(f"{i},{'ab'[i % 2]}\n" for i in range(10))
    yield "no labels", "x,y\n1,\n2,\n", "y", "no row has a label"
    yield "one class", "x,y\n1,a\n2,a\n3,\n", "y", "all labels are 'a'"
    yield "twice", f"x,x\n{rows}", "x", "expected each column name once, got 'x' again"
    yield (
        "many classes",
        "x,y\n" + "".join(f"{i},c{i // 2}\n" for i in range(4_000)),
        "y",
        "2,000 classes, at most 1,000",
    )
    yield "not found", f"size,label\n{rows}", "lable", "Did you mean 'label'"
    yield "only the target", "y\na\nb\n", "y", "no column to learn from"
    yield "header alone", "x,y\n", "y", "no rows below the header"
    yield "no table", "It was a dark night.\nThe rain fell.\n", "y", "no column 'y'"


@pytest.mark.parametrize(("name", "text", "target", "message"), list(problems()))
def test_wrong_files_are_one_clear_sentence(tmp_path, name, text, target, message):
    path = tmp_path / "t.csv"
    path.write_text(text)
    with pytest.raises(HandfulError) as failure:
        labeled_table(path, target)
    assert message in str(failure.value)
    assert "\n" not in str(failure.value)
    assert str(failure.value).count("t.csv") <= 1


def test_uninformative_columns_are_skipped_unless_the_user_chose_them():
    n = 40
    frame = pl.DataFrame(
        {
            "id": [7 * i for i in range(n)],
            "row": list(range(n)),
            "code": [f"c{i}" for i in range(n)],
            "empty": [None] * n,
            "same": ["x"] * n,
            "year": [2000 + i % 20 for i in range(n)],
            "later": [f"{i % 5}" if i < 20 else None for i in range(n)],
        }
    )
    labels = ["ab"[i % 2] if i < 20 else None for i in range(n)]
    table = as_table(frame, labels)
    assert table.kinds == {"year": "numeric"}
    found = {notice.column: notice.code for notice in table.notices}
    reasons = dict.fromkeys(["id", "row", "code"], "identifier")
    assert found == {**reasons, "empty": "empty-column", "same": "constant-column", "later": "filled-only-if-labeled"}
    kept = as_table(
        frame, labels, columns={"id": "numeric", "same": "categorical", "empty": "numeric", "later": "numeric"}
    )
    assert set(kept.kinds) == {"year", "id", "same", "later"}
    assert ("filled-only-if-labeled", "later") in {(notice.code, notice.column) for notice in kept.notices}
    assert as_table(np.arange(40.0)[:, None]).kinds == {"x0": "numeric"}, "columns of an array are made, not found"


def test_many_columns_that_are_skipped_share_a_notice():
    frame = pl.DataFrame({**{f"c{i}": [0] * 4 for i in range(1_200)}, "x": range(4)})
    specs, notices = skip_uninformative(frame, infer_columns(frame)[0])
    assert [spec.name for spec in specs if spec.kind != "skip"] == ["x"]
    assert (codes_of(notices), notices[0].text[:13]) == (["constant-column"], "1,200 columns")


def test_columns_that_give_the_label_away_are_named():
    n = 60
    rng = np.random.default_rng(0)
    codes = np.where(np.arange(n) < 40, np.arange(n) % 2, -1)
    frame = pl.DataFrame(
        {
            "x": rng.normal(size=n),
            "paid off": ["paid" if i % 2 else "due" for i in range(n)],
            "amount": [0.0 if i % 2 else 5.0 + i for i in range(n)],
        }
    )
    notices = checked(frame, codes, ["a", "b"])
    assert [(notice.code, notice.column) for notice in notices] == [
        ("gives-label-away", "paid off"),
        ("gives-label-away", "amount"),
    ]
    assert notices[0].cli_fix == "--columns 'paid off=skip'"
    assert notices[0].python_fix == "columns={'paid off': 'skip'}"
    twice = pl.concat([frame[:40, ["x", "amount"]], frame[:20, ["x", "amount"]]])
    assert codes_of(checked(twice, codes, ["a", "b"]))[-1] == "copied-rows"
    few = np.array([0, 1] * 5 + [-1] * 50)
    assert "gives-label-away" not in codes_of(checked(frame, few, ["a", "b"])), "ten labels prove nothing"
    one = np.where(codes >= 0, 0, -1)
    assert "gives-label-away" not in codes_of(checked(frame, one, ["a"])), "nothing to predict with one class"


def test_one_huge_cell_is_not_held_once_for_each_row():
    import tracemalloc

    codes = np.arange(60) % 2
    frame = pl.DataFrame({"note": ["x" * 1_000_000, *["good", "bad"] * 29, "good"]})
    tracemalloc.start()
    checked(frame, codes, ["a", "b"])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 50e6


def test_odd_labels_are_named():
    def odd(codes, classes):
        return codes_of(check_labels(Labels(np.asarray(codes), np.array(classes))))

    assert odd([0, 0, 1, 1, 2, 2], ["No", "no", "yes"]) == ["labels-differ-in-case"]
    assert odd([0] * 8 + [1] * 8 + [2], ["cat", "dog", "dgo"])[0] == "misspelled-label"
    assert "misspelled-label" not in odd([0] * 8 + [1] * 8 + [2], ["kind 1", "kind 2", "kind 3"])
    assert odd(np.arange(30), [f"class {i}" for i in range(30)]) == ["single-label-classes"]
    assert odd([0, 0, 1, -1], ["a", "b"]) == []
    few = check_labels(Labels(np.array([0] * 55 + [1] * 5), np.array(["fair", "fraud"])))
    assert (codes_of(few), few[0].cli_fix) == (["rare-classes"], None), "balanced accuracy is used anyway"
    assert rare_classes(np.arange(50) % 10, list(range(10))) == {}


def test_categories_of_several_words_may_be_text(tmp_path):
    path = tmp_path / "notes.csv"
    lines = [f'{i % 7}.5,"please call back (ref {i % 25})",blue,{"ab"[i % 2]}' for i in range(100)]
    path.write_text("x,note,color,y\n" + "\n".join(lines) + "\n")
    found = {notice.code: notice for notice in read_table(path, "y").notices}
    assert (found["may-be-text"].column, found["may-be-text"].cli_fix) == ("note", "--columns note=text")
    assert "may-be-text" not in codes_of(read_table(path, "y", columns={"note": "categorical"}).notices)


def test_the_names_of_columns_and_their_order_change_no_kind():
    frame = pl.DataFrame({"zip": ["10115", "20095", "10115"], "age": ["1", "2", "3"], "note": ["a", "b", "a"]})
    kinds = as_table(frame).kinds
    renamed = as_table(frame.rename({"zip": "u", "age": "v", "note": "w"})).kinds
    assert list(kinds.values()) == list(renamed.values())
    assert as_table(frame.select("note", "age", "zip")).kinds == kinds


def test_no_rows_of_a_table_are_a_table():
    table = as_table(pl.DataFrame({"x": [1.0, 2.0, 3.0]}), ["a", None, "b"])
    assert len(table[[]]) == 0
