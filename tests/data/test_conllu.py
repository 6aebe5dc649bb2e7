"""CoNLL-U: byte for byte there and back, and a sentence for every malformed line."""

from __future__ import annotations

import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from handful.data import conll as conllu
from handful.data.conll import read_conllu, write_conllu
from handful.data.records import Sentence, Tree
from handful.errors import DataError, FormatError

# Files are slow on a busy machine, which is no fault of what is tested.
unhurried = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])

RICH = """\
# newdoc id = d1
# sent_id = 1
# text = vámonos al mar
1-2\tvámonos\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No
1\tvamos\tir\tVERB\tv\tMood=Imp\t0\troot\t0:root\t_
2\tnos\tnosotros\tPRON\tp\t_\t1\tobj\t1:obj\tA=b|C=d e
2.1\tx\ty\t_\t_\t_\t_\t_\t1:dep\tCopyOf=1
# a remark between words
3-4\tal\t_\t_\t_\t_\t_\t_\t_\t_
3\ta\ta\tADP\t_\t_\t5\tcase\t_\t_
4\tel\tel\tDET\t_\t_\t5\tdet\t_\t_
5\tmar\tmar\tNOUN\t_\t_\t1\tobl\t_\t_


# sent_id = 2
0.1\tx\t_\t_\t_\t_\t_\t_\t_\t_
1\tNew York\t_\t_\t_\t_\t_\t_\t_\t_

"""


def word(number, head="0", form="x"):
    return f"{number}\t{form}\t_\t_\t_\t_\t{head}\tdep\t_\t_\n"


@pytest.fixture
def put(tmp_path):
    def write(text):
        path = tmp_path / "file.conllu"
        path.write_bytes(text.encode())
        return path

    return write


def refused(path, message):
    with pytest.raises(FormatError) as caught:
        list(read_conllu(path))
    assert str(caught.value) == f"{path}{message}"


def test_comments_ranges_empty_nodes_and_misc_come_back(put, tmp_path):
    first, second = read_conllu(put(RICH))
    assert first.sentence.tokens == ("vamos", "nos", "a", "el", "mar")
    assert first.sentence.comments == ("# newdoc id = d1", "# sent_id = 1", "# text = vámonos al mar")
    assert first.heads == (0, 1, 5, 5, 1)
    assert first.labels == ("root", "obj", "case", "det", "obl")
    assert [place for place, _ in first.extras] == [0, 2, 2, 2]
    assert first.sentence["misc"][1] == "A=b|C=d e"
    assert second.heads == (-1,)
    assert second.sentence.comments == ("", "# sent_id = 2")
    again = tmp_path / "again.conllu"
    write_conllu(again, [first, second])
    assert again.read_text(encoding="utf-8") == RICH


def test_line_ends_of_windows_and_a_missing_last_line_end(put):
    (tree,) = read_conllu(put((word(1) + word(2, 1)).replace("\n", "\r\n").rstrip()))
    assert tree.heads == (0, 1)


@pytest.mark.parametrize("head", ["3", "-1", "+1", "01", "x", "1.1", "\u0661", "99999999999999999999", "2"])
def test_a_malformed_head(put, head):
    path = put("# c\n" + word(1) + word(2, head))
    refused(path, f":3: expected as head another word of the sentence (1 to 2), 0 or _, got {head!r}.")


def test_the_line_of_a_head_counts_ranges_and_empty_nodes(put):
    path = put(word("1-2") + word(1) + word("1.1") + word(2, 7) + word("2.1"))
    refused(path, ":4: expected as head another word of the sentence (1 to 2), 0 or _, got '7'.")


@pytest.mark.parametrize("number", ["3", "1", "02", "2-", "3-4", "2.1", "1.1.1", "2x", "1-2"])
def test_a_malformed_id(put, number):
    message = f":2: expected the id 2, a range from it (2-3) or an empty node (1.1), got {number!r}."
    refused(put(word(1) + word(number)), message)


def test_heads_need_not_make_a_tree(put):
    assert [tree.heads for tree in read_conllu(put(word(1, 2) + word(2, 1)))] == [(2, 1)]


def test_long_values_are_cut_in_messages(put):
    refused(
        put(word(1, "9" * 1000)),
        f":1: expected as head another word of the sentence (1 to 1), 0 or _, got '{'9' * 57}...'.",
    )


def test_an_id_that_is_no_number(put):
    refused(put(word("x")), ":1: expected an id in the first column, got 'x'.")


def test_a_wrong_number_of_columns(put):
    refused(put(word(1) + "2\tx\t_\n"), ":2: expected CoNLL-U with 10 columns, got 3.")
    refused(
        put("1 x _ _ _ _ 0 root _ _\n"),
        ":1: expected CoNLL-U with 10 columns, got 1. Columns must be separated by tabs.",
    )
    refused(put("Rome fell.\n"), ":1: expected CoNLL-U with 10 columns, got 1. Columns must be separated by tabs.")


def test_an_empty_column(put):
    refused(put("1\tx\t\t_\t_\t_\t0\troot\t_\t_\n"), ":1: expected 10 filled columns, got nothing in 'lemma'.")


def test_sentences_without_words(put):
    refused(put("\n\n"), ": expected sentences in CoNLL-U, got only blank lines.")
    refused(put(word(1) + "\n# cut\n"), ":3: expected words after the comments, got the end of the file.")
    refused(put(word("1-2") + "\n"), ":2: expected words in the sentence, got only ranges or empty nodes.")


@pytest.mark.parametrize("text", ["\n" * 9, "# c\n" * 9, "".join(map(word, range(1, 9))), word("0.1") * 9])
def test_sentences_without_end(put, monkeypatch, text):
    monkeypatch.setattr(conllu, "MAX_LINES", 3)
    refused(put(text), ":4: expected a sentence of at most 3 lines, got a longer one.")


def test_trees_that_could_not_be_read_back_are_not_written(tmp_path):
    path = tmp_path / "out"
    one = ("dep",)
    for tree, message in [
        (Tree(Sentence(("a\tb",)), (0,), one), r"tree 1: form must be filled and hold no tab or line end, got 'a\tb'"),
        (Tree(Sentence(("",)), (0,), one), "form must be filled"),
        (Tree(Sentence(("a",), {"misc": ("b\n",)}), (0,), one), "misc must be filled"),
        (Tree(Sentence(("a",)), (0,), ("",)), "deprel must be filled"),
        (Tree(Sentence(()), (), ()), "tree 1 must have words, got none"),
        (Tree(Sentence(("a",), comments=("no hash",)), (0,), one), "a comment must start with #, got 'no hash'"),
        (Tree(Sentence(("a",), comments=("# a\nb",)), (0,), one), "must be one line"),
        (Tree(Sentence(("a",)), (0,), one, ((0, "x\ny"),)), "must be one line"),
        (Tree(Sentence(("a",), comments=("# a\r",)), (0,), one), "must be one line"),
        (Tree(Sentence((1,)), (0,), one), "tree 1: form must be filled and hold no tab or line end, got 1"),
        (Tree(Sentence(("a",)), (0,), (None,)), "tree 1: deprel must be filled and hold no tab or line end, got None"),
    ]:
        with pytest.raises(DataError, match=re.escape(message)):
            write_conllu(path, [tree])
        assert not path.exists()
    with pytest.raises(DataError, match="there must be a tree, got none"):
        write_conllu(path, [])


texts = st.text(st.characters(exclude_characters="\t\n\r\0", exclude_categories=["Cs"]), min_size=1, max_size=5)


@st.composite
def trees(draw):
    n = draw(st.integers(1, 4))
    heads = tuple(draw(st.sampled_from([h for h in range(-1, n + 1) if h != i])) for i in range(1, n + 1))
    names = ("lemma", "upos", "xpos", "feats", "deps", "misc")
    columns = {name: tuple(draw(st.lists(texts, min_size=n, max_size=n))) for name in names}
    comments = tuple(draw(st.lists(texts.map("#".__add__) | st.just(""), max_size=2)))
    sentence = Sentence(tuple(draw(st.lists(texts, min_size=n, max_size=n))), columns, comments)
    places = sorted(draw(st.lists(st.integers(0, n), max_size=2, unique=True)))
    extras = tuple((place, f"{place}.1\t{draw(texts)}" + "\t_" * 8) for place in places)
    return Tree(sentence, heads, tuple(draw(st.lists(texts, min_size=n, max_size=n))), extras)


@unhurried
@given(st.lists(trees(), min_size=1, max_size=3))
def test_what_is_written_is_read_back(tmp_path_factory, sample):
    path = tmp_path_factory.mktemp("conllu") / "a.conllu.xz"
    write_conllu(path, sample)
    assert list(read_conllu(path)) == sample


def test_a_header_that_names_the_ten_usual_columns_is_plain_conllu(put):
    from handful.data.formats import format_of
    from handful.data.tagged import read_tagged

    path = put("# global.columns = ID FORM LEMMA UPOS XPOS FEATS HEAD DEPREL DEPS MISC\n" + RICH)
    assert format_of(path).name == "conllu"
    tagged = read_tagged(path)
    assert tagged.tag == "upos"
    assert tagged.sentences[0].tokens == ("vamos", "nos", "a", "el", "mar")
