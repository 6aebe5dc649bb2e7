"""Which cells are labels."""

from __future__ import annotations

import polars as pl
import pytest

from handful.data.labels import read_labels
from handful.data.table import read_table
from handful.errors import AmbiguousLabelsError, DataError, FormatError, ParameterError


def read(cells, *args):
    labels, notices = read_labels(pl.Series("y", cells), *args)
    return [None if code < 0 else labels.classes[code].item() for code in labels.codes], [n.code for n in notices]


LABELS = [
    (["a", "b", "NA", "n/a", "null", "?", ""], ["a", "b", *[None] * 5], ["filled-unlabeled"]),
    (["a", "b", "unknown", "todo"], ["a", "b", "unknown", "todo"], ["class-or-unlabeled"]),
    (["+", "-", "+", "-"], ["+", "-", "+", "-"], ["class-or-unlabeled"]),
    (["0", "1", "-1"], [0, 1, None], ["filled-unlabeled"]),
    ([0, 1, -1], [0, 1, None], ["filled-unlabeled"]),
    (["1", "2", "?"], [1, 2, None], ["filled-unlabeled"]),
    (["0.0", "1.0", "-1.0"], ["0.0", "1.0", None], ["filled-unlabeled"]),
    (["1", "1.0", "2"], [1, 1, 2], []),
    (["0.5", "1.5", "-1.0"], ["0.5", "1.5", "-1.0"], ["class-or-unlabeled"]),
    (["a", "b", "-1"], ["a", "b", "-1"], ["class-or-unlabeled"]),
    (["0", "1", "-1", ""], ["0", "1", "-1", None], ["minus-one-class"]),
    ([True, None, False], [True, None, False], []),
]


@pytest.mark.parametrize(("cells", "labels", "codes"), LABELS)
def test_cells_that_are_labels(cells, labels, codes):
    assert read(cells) == (labels, codes)


def test_the_user_names_missing_labels_and_labels_that_look_missing():
    cells = ["a", "b", "unknown", "N/A"]
    assert read(cells, ["unknown"])[0] == ["a", "b", None, None]
    assert read(cells, [], ["N/A"])[0] == ["a", "b", "unknown", "N/A"]
    assert read(["0", "1", "-1"], [], ["-1"])[0] == ["0", "1", "-1"]
    assert read(["0", "1", "-1", ""], ["-1"])[0] == [0, 1, None, None]
    with pytest.raises(ParameterError, match="'a' is in both"):
        read(cells, ["a"], ["a"])
    _labels, notices = read_labels(pl.Series("y", ["a", "b", "Unknown"]), ["Other"], ["unknown"])
    assert [str(notice) for notice in notices if notice.code == "label-not-there"] == [
        "No cell of 'y' is 'Other'.",
        "No cell of 'y' is 'unknown'. Did you mean 'Unknown'?",
    ]


def test_the_notice_of_a_class_that_may_mean_no_label_counts_it():
    notice = read_labels(pl.Series("y", ["a", "b", "unknown", "unknown", "-"]))[1][0]
    assert "'unknown' (2), '-' (1)" in notice.text
    assert notice.python_fix == "missing_labels=['unknown', '-']"
    assert notice.cli_fix == "--missing-label 'unknown'"


def test_minus_one_and_one_must_be_settled():
    with pytest.raises(AmbiguousLabelsError, match="-1 may be a class or mean"):
        read([1, -1])
    assert read([1, -1], ["-1"])[0] == [1, None]
    assert read([1, -1], [], ["-1"])[0] == ["1", "-1"]


@pytest.mark.parametrize("variant", ["cafe\u0301", "caf\u00e9\u200b", "\ufeffcaf\u00e9"])
def test_variants_of_a_label_that_look_alike_are_one_class(variant):
    labels, codes = read(["caf\u00e9", "caf\u00e9", variant, "tea"])
    assert labels == ["caf\u00e9"] * 3 + ["tea"]
    assert codes == ["label-variants"]


def test_a_quantity_is_no_class():
    for prices in ([f"{100 + 37 * i % 1_000}" for i in range(60)], [f"${i * 1.5:.2f}" for i in range(40)]):
        with pytest.raises(DataError, match=r"column 'y': .* look like a quantity"):
            read(prices)
    assert len(set(read(list(range(40)))[0])) == 40, "running numbers of classes"
    assert len(set(read([i * 7 % 10 for i in range(60)])[0])) == 10
    assert len(set(read([str(s) for s in (0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0)] * 2)[0])) == 8


def test_several_labels_in_a_cell_are_named():
    assert read(["a;b", "b;c", "a", "c"])[1] == ["several-labels"]
    assert read(["['a', 'b']", "['a']", "['b', 'c']"])[1] == ["several-labels"]
    assert read(["x;y", "u;v", "a", "b"])[1] == []
    assert read(["Loans, cards", "Loans, houses", "None of these"])[1] == []


@pytest.mark.parametrize("most", [None, 100])
def test_files_read_in_one_pass_have_the_same_labels(tmp_path, most):
    for number, (cells, labels, codes) in enumerate(LABELS):
        if not all(isinstance(cell, str) for cell in cells):
            continue
        path = tmp_path / f"{number}.csv"
        path.write_text("x,y\n" + "".join(f"{i},{cell}\n" for i, cell in enumerate(cells)))
        table = read_table(path, "y", max_unlabeled=most)
        assert [None if code < 0 else table.classes[code].item() for code in table.codes] == labels
        assert [n.code for n in table.notices if n.column == "y"] == codes
    path = tmp_path / "o.csv"
    path.write_text("x,y\n1,1\n2,-1\n")
    with pytest.raises(FormatError, match="--keep-label -1"):
        read_table(path, "y", max_unlabeled=most)


def test_a_sample_keeps_all_labels(tmp_path):
    path = tmp_path / "t.csv"
    rows = "".join(f"{i},{-1 if i % 50 else i // 50 % 2}\n" for i in range(2_000))
    path.write_text(f"x,y\n{rows}")
    table = read_table(path, "y", max_unlabeled=30)
    assert (len(table.labeled), len(table.unlabeled), table.n_rows_read) == (40, 30, 2_000)
    assert table.values()["x"].is_sorted()
    assert table.notices[0].code == "sampled-rows"
    assert len(read_table(path, "y", max_unlabeled=30, keep_labels=["-1"]).labeled) == 2_000
    other = read_table(path, "y", max_unlabeled=30, seed=1)
    assert other.values()["x"].to_list() != table.values()["x"].to_list()
