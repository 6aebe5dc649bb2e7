"""Plain text and prototype lists: round trips and malformed input."""

from __future__ import annotations

import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from handful.data.text import read_text
from handful.data.word_lists import read_prototypes, write_prototypes
from handful.errors import DataError, FormatError

# Files are slow on a busy machine, which is no fault of what is tested.
unhurried = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])


@pytest.fixture
def put(tmp_path):
    def write(text, name="file.txt"):
        path = tmp_path / name
        path.write_bytes(text.encode())
        return path

    return write


def test_text_is_split_at_blanks_and_tabs_alone(put):
    sentences = list(read_text(put("Rome  fell\t.\r\n\n\n10\u00a0000 dead\u2028x\n\n")))
    assert [s.tokens for s in sentences] == [("Rome", "fell", "."), ("10\u00a0000", "dead\u2028x")]


def test_text_without_a_sentence(put):
    path = put("\n \n")
    with pytest.raises(FormatError, match=re.escape(f"{path}: expected sentences, one a line, got only empty lines.")):
        list(read_text(path))


words = st.text(st.characters(exclude_characters=" \t\n\r\0\ufeff", exclude_categories=["Cs"]), min_size=1)


PROTOTYPES = {"NN": ["year", "share"], "VB": ["share", "be"], "#": ["#"]}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.tsv", "NN\tyear share\nVB\tshare be\n#\t#\n"),
        ("a.txt", "NN\tyear\nVB\tshare\nNN\tshare\n\nVB\tbe\nVB\tbe\n#\t#\n"),
        ("a.tsv", "NN \tyear\tshare\r\nVB\t share  be\r\n#\t#\r\n"),
        ("a.json", '{"NN": ["year", "share"], "VB": ["share", "be"], "#": ["#"]}'),
    ],
)
def test_every_form_of_a_prototype_list(put, name, text):
    assert read_prototypes(put(text, name)) == PROTOTYPES


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.tsv", "NN\ta\nNN year\n", ":2: expected a label, a tab and words, got no tab in 'NN year'."),
        ("a.tsv", "\tyear\n", ":1: expected a label before the tab, got none."),
        ("a.tsv", "NN\t \n", ":1: expected words after the label 'NN', got none."),
        ("a.tsv", "\n", ": expected labels with lists of words, got {}."),
        ("a.json", "{}", ": expected labels with lists of words, got {}."),
        ("a.json", "[1]", ": expected labels with lists of words, got [1]."),
        ("a.json", '{"NN": "year"}', ": expected a list of words for 'NN', got 'year'."),
        ("a.json", '{"NN": {"a": 1}}', ": expected a list of words for 'NN', got {'a': 1}."),
        ("a.json", '{"NN": []}', ": expected a list of words for 'NN', got []."),
        ("a.json", '{"NN": [1]}', ": expected filled words for 'NN', got 1."),
        ("a.json", '{"NN": [" "]}', ": expected filled words for 'NN', got ' '."),
        ("a.json", '{" ": ["a"]}', ": expected a label for every list of words, got ' '."),
        ("a.json", '{"NN": ["a"], "NN": ["b"]}', ": expected each key once, got 'NN' again."),
        ("a.json", '{"NN":\n ["a"', ":2: expected JSON, got an error at column 6: Expecting ',' delimiter."),
        ("a.json", "[" * 100_000, ": expected JSON, got lists too deep or a number too long."),
        ("a.json", '["\\ud800"]', r": expected whole characters, got half of a surrogate pair (\ud800 to \udfff)."),
    ],
)
def test_malformed_prototype_lists(put, name, text, message):
    path = put(text, name)
    with pytest.raises(FormatError) as caught:
        read_prototypes(path)
    assert str(caught.value) == f"{path}{message}"


@pytest.mark.parametrize("name", ["a.tsv", "a.json", "a.json.gz"])
@unhurried
@given(
    st.dictionaries(
        words.filter(lambda w: w == w.strip() and len(w.splitlines()) == 1),
        st.lists(words.filter(lambda w: w.split() == [w] and "," not in w), min_size=1, max_size=3, unique=True),
        min_size=1,
        max_size=3,
    )
)
def test_prototypes_that_are_written_are_read_back(tmp_path_factory, name, prototypes):
    path = tmp_path_factory.mktemp("prototypes") / name
    write_prototypes(path, prototypes)
    assert read_prototypes(path) == prototypes


def test_words_with_commas_are_not_taken_for_a_list_divided_by_commas(tmp_path):
    for words in (["1,000", ","], [",", ".", ";"], ["a", "b,"]):
        write_prototypes(tmp_path / "a.tsv", {"A": words})
        assert read_prototypes(tmp_path / "a.tsv") == {"A": words}
    for words in (["year,share"], ["year,", "share,", "market"]):
        with pytest.raises(DataError, match=r"Name the file \.json"):
            write_prototypes(tmp_path / "a.tsv", {"A": words})
        write_prototypes(tmp_path / "a.json", {"A": words})
        assert read_prototypes(tmp_path / "a.json") == {"A": words}
        (tmp_path / "a.tsv").write_text(f"A\t{' '.join(words)}\n")
        with pytest.raises(FormatError, match="got commas"):
            read_prototypes(tmp_path / "a.tsv")


def test_words_with_blanks_need_json(tmp_path):
    sample = {" a\tb": ["New York", "\x7f\n"]}
    write_prototypes(tmp_path / "a.json", sample)
    assert read_prototypes(tmp_path / "a.json") == sample
    kept = "lines keep no whitespace inside words and no commas. Name the file .json."
    for bad, message in [
        ({"NN": ["New York"]}, kept),
        ({" NN": ["a"]}, kept),
        ({"NN": "abc"}, "expected a list of words for 'NN', got 'abc'."),
        ({1: ["a"]}, "expected a label for every list of words, got 1."),
        ({"NN": ["a", 2]}, "expected filled words for 'NN', got 2."),
        ({"\ufeffNN": ["a"]}, "a file must not start with U+FEFF"),
        ({"NN": [""]}, "expected filled words for 'NN', got ''."),
        ({"NN": []}, "expected a list of words for 'NN', got []."),
        ({}, "expected labels with lists of words, got {}."),
    ]:
        with pytest.raises((DataError, FormatError), match=re.escape(message)):
            write_prototypes(tmp_path / "a.tsv", bad)
