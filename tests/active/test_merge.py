from __future__ import annotations

import polars as pl
import pytest

from handful.active.merge import ROW, Conflict, merge_labels, row_fingerprints, tickets
from handful.errors import DataError


def data() -> pl.DataFrame:
    return pl.DataFrame({"x": ["1", "2", "3", "3", "5"], "name": list("abccd"), "y": ["p", "", "", "", ""]})


def todo(rows: list[int], labels: list[str]) -> pl.DataFrame:
    return data()[rows].with_columns(pl.Series("y", labels), pl.Series(ROW, tickets(data(), "y", rows)))


def test_labels_come_home_by_number_and_content():
    done = merge_labels(data(), {"todo": todo([3, 1, 4], ["r", "q", ""])}, "y")
    assert done.frame["y"].to_list() == ["p", "q", None, "r", None]
    assert done.frame.drop("y").equals(data().drop("y"))
    assert (done.n_new, done.n_same, done.n_empty, done.n_changed, done.conflicts, done.unmatched) == (
        2,
        0,
        1,
        0,
        [],
        [],
    )


def test_rows_are_found_in_a_table_that_was_sorted_since():
    moved = data()[[4, 3, 2, 1, 0]]
    done = merge_labels(moved, {"todo": todo([1, 4], ["q", "t"])}, "y")
    assert done.frame["y"].to_list() == ["t", None, None, "q", "p"]


def test_without_numbers_content_counts_and_equal_rows_fill_in_order():
    came = pl.DataFrame({"name": ["c", "c", "b"], "x": ["3.0", "3", " 2"], "y": ["r", "s", "q"]})
    done = merge_labels(data(), {"other": came}, "y")
    assert done.frame["y"].to_list() == ["p", "q", "r", "s", None]


def test_a_label_is_not_overwritten_unless_asked():
    came = {"todo": todo([0, 1], ["z", "q"])}
    done = merge_labels(data(), came, "y")
    assert done.frame["y"].to_list()[:2] == ["p", "q"]
    assert done.conflicts == [Conflict(0, (("the data", "p"), ("todo", "z")), "p")]
    done = merge_labels(data(), came, "y", prefer_new=True)
    assert done.frame["y"].to_list()[:2] == ["z", "q"]
    assert (done.conflicts, done.replaced) == ([], [(0, "p", "z")])


@pytest.mark.parametrize("prefer_new", [False, True])
def test_two_people_who_disagree_decide_nothing(prefer_new):
    files = {"ann": todo([1, 4], ["q", "t"]), "bob": todo([1, 4], ["w", "t"])}
    done = merge_labels(data(), files, "y", prefer_new=prefer_new)
    assert done.frame["y"].to_list() == ["p", None, None, None, "t"]
    assert done.conflicts == [Conflict(1, (("ann", "q"), ("bob", "w")), None)]
    assert done.n_new == 1


def test_rows_of_another_table_are_told():
    came = pl.concat([todo([1], ["q"]).drop(ROW), pl.DataFrame({"x": ["7"], "name": ["z"], "y": ["q"]})])
    done = merge_labels(data(), {"todo": came}, "y")
    assert (done.n_new, done.unmatched) == (1, [("todo", 1)])
    with pytest.raises(DataError, match="todo: at least one row must be a row of the data, got 1 others"):
        merge_labels(data(), {"todo": came[1:]}, "y")
    with pytest.raises(DataError, match="todo: the file must have the column 'y' of labels, got 'x', 'name'"):
        merge_labels(data(), {"todo": came.drop("y")}, "y")


def test_cells_that_came_back_changed_do_not_change_the_data():
    came = todo([1, 4], ["q", "t"]).with_columns(pl.Series("name", ["B", "d"]))
    done = merge_labels(data(), {"todo": came}, "y")
    assert done.frame["name"].to_list() == list("abccd")
    assert (done.n_new, done.n_changed) == (2, 1)


def test_types_of_the_label_column_stay_where_labels_fit():
    typed = pl.DataFrame({"x": [1.5, 2.5], "y": [3, None]})
    came = pl.DataFrame({"x": [2.5], "y": ["4"]})
    assert merge_labels(typed, {"f": came}, "y").frame["y"].to_list() == [3, 4]
    assert merge_labels(typed, {"f": came.with_columns(pl.lit("new").alias("y"))}, "y").frame["y"].to_list() == [
        "3",
        "new",
    ]
    bare = merge_labels(typed.drop("y"), {"f": came}, "y").frame
    assert bare["y"].to_list() == [None, "4"]


def test_marks_do_not_depend_on_labels_order_of_columns_or_spelling_of_numbers():
    one = pl.DataFrame({"a": ["1e2", None], "b": ["x ", ""], "y": ["p", "q"], "next_reason": ["r", "s"]})
    two = pl.DataFrame({"b": ["x", None], "a": [100.0, float("nan")]})
    assert row_fingerprints(one, "y") == row_fingerprints(two, "y")
    assert len(set(row_fingerprints(pl.DataFrame({"a": ["x", "y"], "b": ["y", "x"]}), "t"))) == 2


def test_labels_that_are_new_to_the_data_are_told_with_what_they_are_written_like():
    labels = ["stayed", "left", "", "", ""]
    known = data().with_columns(pl.Series("y", labels))
    came = known[[2, 3, 4]].with_columns(pl.Series("y", ["stayd", "Left", "other"]))
    assert merge_labels(known, {"todo": came}, "y").new_labels == {"Left": "left", "other": None, "stayd": "stayed"}
    numbered = known.with_columns(pl.Series("y", ["class 1", "class 2", "", "", ""]))
    third = known[[2]].with_columns(pl.Series("y", ["class 3"]))
    assert merge_labels(numbered, {"todo": third}, "y").new_labels == {"class 3": None}
    bare = known.with_columns(pl.Series("y", [""] * 5))
    assert merge_labels(bare, {"todo": came}, "y").new_labels == {}


def test_a_row_that_several_files_leave_empty_is_one_and_none_if_one_fills_it():
    files = {"ann": todo([1, 2, 4], ["", "", "t"]), "bob": todo([1, 2, 4], ["", "q", ""])}
    assert merge_labels(data(), files, "y").n_empty == 1


@pytest.mark.parametrize(
    ("have", "come", "kept"),
    [
        (["1", "0", ""], ["1.0"], "1"),
        (["1.0", "0.0", ""], ["1"], "1.0"),
        (["1", "01", ""], ["01"], "01"),
        (["", "", ""], ["1", "1.0"], "1"),
        (["", "", ""], ["1.0", "1.0"], "1.0"),
        (["1", "1.0", ""], ["1.0"], "1.0"),
        (["v1", "v2", ""], ["v1.0"], "v1.0"),
        (["1.5", "2", ""], ["1,50", "1.5"], "1.5"),
        (["", "", ""], ["1.50", "1.5"], "1.5"),
        (["1", "1.0", ""], ["1.0", "1"], "1.0"),
        (["1", "name", ""], ["1.0"], "1"),
        (["1.5", "name", ""], ["1.50"], "1.50"),
    ],
)
def test_whole_numbers_of_a_spreadsheet_are_the_labels_that_the_data_has(have, come, kept):
    data = pl.DataFrame({"x": ["1", "2", "3"], "y": have})
    files = {f"{number}.csv": pl.DataFrame({"x": ["3"], "y": [label]}) for number, label in enumerate(come)}
    done = merge_labels(data, files, "y")
    assert done.frame["y"].to_list()[2] == kept
    assert not done.conflicts


def test_a_number_that_is_written_otherwise_is_the_same_label():
    data = pl.DataFrame({"x": ["1", "2", "3", "4"], "y": ["1", "1.0", "2.5", "3"]})
    came = pl.DataFrame({"x": ["1", "2", "3", "4"], "y": ["1.0", "1", "2,50", "3.1"]})
    done = merge_labels(data, {"new.csv": came}, "y")
    assert (done.n_same, [conflict.row for conflict in done.conflicts]) == (3, [3])
    assert done.frame["y"].to_list() == data["y"].to_list()
    codes = merge_labels(data.with_columns(y=pl.lit("01")), {"new.csv": came.with_columns(y=pl.lit("1"))}, "y")
    assert len(codes.conflicts) == 4, "01 may be a code"
