"""CoNLL columns: any layout, round trips, and a sentence for every malformed line."""

from __future__ import annotations

import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from handful.data import conll
from handful.data.conll import read_conll, write_conll
from handful.data.records import Sentence
from handful.errors import DataError, FormatError, ParameterError

# Files are slow on a busy machine, which is no fault of what is tested.
unhurried = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])

TWO = ("token", "pos")


@pytest.fixture
def put(tmp_path):
    def write(text):
        path = tmp_path / "file.conll"
        path.write_bytes(text.encode())
        return path

    return write


def refused(path, message, columns=TWO):
    with pytest.raises(FormatError) as caught:
        list(read_conll(path, columns))
    assert str(caught.value) == f"{path}{message}"


@pytest.mark.parametrize("separator", ["\t", " "])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_columns_are_read_with_tabs_or_blanks(put, separator, end):
    lines = ["EU", "NNP", "I-NP", "I-ORG"], ["rejects", "VBZ", "I-VP", "O"]
    path = put("".join(separator.join(line) + end for line in lines) + end + separator.join(lines[1]))
    first, second = read_conll(path)
    assert first.tokens == ("EU", "rejects")
    assert dict(first.columns) == {"pos": ("NNP", "VBZ"), "chunk": ("I-NP", "I-VP"), "ner": ("I-ORG", "O")}
    assert second.tokens == ("rejects",)


def test_the_token_may_be_any_column_and_columns_may_be_skipped(put):
    (sentence,) = read_conll(put("1\tRome\tx\tNNP\n2\tfell\t\tVBD\n"), ("_", "token", "_", "pos"))
    assert sentence == Sentence(("Rome", "fell"), {"pos": ("NNP", "VBD")})


def test_one_column_is_enough(put):
    assert [s.tokens for s in read_conll(put("Rome\nfell\n\n\u00a0\n"), ("token",))] == [("Rome", "fell"), ("\u00a0",)]


def test_with_tabs_cells_may_hold_blanks_and_with_blanks_runs_count_once(put):
    assert next(read_conll(put("New York\tNNP\n"), TWO)).tokens == ("New York",)
    assert next(read_conll(put("New   NNP \n"), TWO))["pos"] == ("NNP",)


def test_with_blanks_a_tab_parts_columns_too(put):
    refused(put("a X\nb\tc Y\n\n"), ":2: expected 2 columns (token, pos), got 3.")
    for line in ("b\t Y", "b\tY", " b\t\tY\t"):
        (sentence,) = read_conll(put(f"a X\n{line}\n"), TWO)
        assert sentence == Sentence(("a", "b"), {"pos": ("X", "Y")})


def test_hash_is_a_token_and_names_of_columns_are_not(put):
    assert next(read_conll(put("#\tNN\n\n"), TWO)).tokens == ("#",)
    (sentence,) = read_conll(put("# global.columns = TOKEN POS\nRome\tNNP\n#\tNN\n\n"), TWO)
    assert (sentence.comments, sentence.tokens) == (("# global.columns = TOKEN POS",), ("Rome", "#"))


def test_document_marks_and_blank_lines_come_back_where_they_were(put, tmp_path):
    text = "-DOCSTART- -X- O\n\na\tb\tc\n\n\n\nd\te\tf\n\n-DOCSTART- -X- O\n\ng\th\ti\n\n"
    columns = ("token", "pos", "ner")
    sentences = list(read_conll(put(text), columns))
    assert [s.tokens for s in sentences] == [("a",), ("d",), ("g",)]
    assert sentences[0].comments == ("-DOCSTART- -X- O", "")
    write_conll(tmp_path / "again", sentences, columns)
    assert (tmp_path / "again").read_text() == text


def test_a_document_mark_ends_a_sentence(put):
    assert [s.tokens for s in read_conll(put("a b\n-DOCSTART- O\nc d\n"), TWO)] == [("a",), ("c",)]
    assert next(read_conll(put("-DOCSTART-x b\n"), TWO)).tokens == ("-DOCSTART-x",)


def test_a_column_count_that_changes(put):
    four = "expected 4 columns (token, pos, chunk, ner)"
    refused(put("a\tb\tc\td\n\na\tb\tc\td\na\tb\tc\n"), f":4: {four}, got 3.", ("token", "pos", "chunk", "ner"))
    refused(put("a b c d\na b c d e\n"), f":2: {four}, got 5.", ("token", "pos", "chunk", "ner"))


def test_a_wrong_layout(put):
    refused(put("a\tb\tc\n"), ":1: expected 2 columns (token, pos), got 3.")
    refused(put("a\tb\n"), ":1: expected 1 column (token), got 2.", ("token",))


def test_an_empty_cell(put):
    refused(put("a\tb\n\t\tx\n"), ":2: expected 2 columns (token, pos), got 3.")
    refused(put("\ta\tb\n\tc\n"), ":2: expected 3 columns (_, token, pos), got 2.", ("_", "token", "pos"))
    refused(put("\ta\tb\n\tc\t\n"), ":2: expected 3 columns (_, token, pos), got nothing in column 'pos'.", ("_", *TWO))
    refused(put("a\tb\nc\t\n"), ":2: expected 2 columns (token, pos), got nothing in column 'pos'.")
    refused(put("a\tb\n\tc\n"), ":2: expected 2 columns (token, pos), got nothing in column 'token'.")


@pytest.mark.parametrize("text", ["\n\n", "-DOCSTART- O\n\n", "  \n\t\n"])
def test_no_sentence_at_all(put, text):
    refused(put(text), ": expected sentences, one token a line, got none.")


def test_sentences_without_end(put, monkeypatch):
    monkeypatch.setattr(conll, "MAX_LINES", 3)
    refused(put("a b\n" * 4), ":4: expected a blank line after at most 3 tokens, got none.")
    refused(put("\n" * 9), ":4: expected a token after at most 3 other lines, got none.")


def test_wrong_parameters(put):
    path = put("a b\n")
    with pytest.raises(ParameterError, match="one of the columns must be named 'token', got pos, ner"):
        read_conll(path, ("pos", "ner"))
    with pytest.raises(ParameterError, match="columns must be a list of names, got 'token'"):
        read_conll(path, "token")
    with pytest.raises(ParameterError, match="names of columns must differ, got token, pos, pos"):
        read_conll(path, ("token", "pos", "pos"))
    with pytest.raises(ParameterError, match="every column must have a name, got '_'"):
        write_conll(path, [], ("token", "_"))


@pytest.mark.parametrize(
    ("tokens", "message"),
    [
        (("a\tb",), r"must be filled and hold no space or line end, got 'a\tb'"),
        (("a b",), "must be filled and hold no space or line end, got 'a b'"),
        (("-DOCSTART-",), "sentence 1: a line must not start with -DOCSTART-"),
        (("\ufeffa",), "a file must not start with U+FEFF, which is read as a byte order mark"),
        (("a\n",), r"got 'a\n'"),
        (("a\r",), r"got 'a\r'"),
        (("a", ""), "got ''"),
        ((" ",), "got ' '"),
        ((), "sentence 1 must have tokens, got none"),
    ],
)
def test_cells_that_could_not_be_read_back_are_not_written(tmp_path, tokens, message):
    path = tmp_path / "out"
    with pytest.raises(DataError, match=re.escape(message)):
        write_conll(path, [Sentence(tokens)], ("token",))
    assert not path.exists()


def test_a_missing_column_and_a_comment_of_two_lines_are_not_written(tmp_path):
    with pytest.raises(DataError, match="no column 'ner'"):
        write_conll(tmp_path / "out", [Sentence(("a",))], ("token", "ner"))
    with pytest.raises(DataError, match="a comment or extra must be one line"):
        write_conll(tmp_path / "out", [Sentence(("a",), comments=("# a\nb",))], ("token",))
    with pytest.raises(DataError, match=r"a cell of column 'pos' must be filled and hold no tab or line end"):
        write_conll(tmp_path / "out", [Sentence(("a b",), {"pos": ("c\td",)})], TWO)


def test_what_is_no_sentence_or_comment_is_not_written(tmp_path):
    path = tmp_path / "out"
    for sentences, message in [
        ([], "write_conll: there must be a sentence, got none."),
        ([Sentence(("a",), comments=("# a\r",))], "sentence 1: a comment or extra must be one line"),
        (
            [Sentence(("a",), comments=("a",))],
            "a comment must start with #, got 'a'.",
        ),
    ]:
        with pytest.raises(DataError, match=re.escape(message)):
            write_conll(path, sentences, ("token",))
        assert not path.exists()


def test_what_is_left_over_at_the_end_is_not_dropped(put):
    refused(put("a b\n\n-DOCSTART- O\n"), ":3: expected tokens after the document line, got the end of the file.")
    assert len(list(read_conll(put("a b\n\n\n\n"), TWO))) == 1


def cells(forbidden):
    usual = st.characters(exclude_characters="\t\n\r\0\ufeff" + forbidden, exclude_categories=["Cs"])
    return st.text(usual, min_size=1).filter(lambda cell: cell.strip(" ") and not cell.startswith("-DOCSTART-"))


@unhurried
@given(st.data(), st.integers(1, 3))
def test_what_is_written_is_read_back(tmp_path_factory, data, n_columns):
    columns = ("token", "pos", "ner")[:n_columns]
    cell = cells(" " if n_columns == 1 else "")
    rows = st.lists(st.tuples(*[cell] * n_columns), min_size=1, max_size=4)
    marks = st.lists(st.sampled_from(["", "-DOCSTART- O"]), max_size=2)
    sentences = []
    for before, table in data.draw(st.lists(st.tuples(marks, rows), min_size=1, max_size=3)):
        token, *others = zip(*table, strict=True)
        sentences.append(Sentence(token, dict(zip(columns[1:], others, strict=True)), tuple(before)))
    path = tmp_path_factory.mktemp("conll") / "a.tsv.gz"
    write_conll(path, sentences, columns)
    assert list(read_conll(path, columns)) == sentences
