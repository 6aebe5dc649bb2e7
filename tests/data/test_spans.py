"""Spans by offsets, rows of tokens, slashes, columns with names, senses in tables: read, written, read again."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handful.data.formats import all_formats, format_named, format_of
from handful.data.records import Occurrence
from handful.data.senses import read_occurrences
from handful.data.table import read_table
from handful.data.tagged import read_sentences, read_tagged, read_untagged
from handful.data.text import TokenStyle, refuse_unspaced, sentences, tokenize
from handful.errors import DataError, FormatError

TEXT = "Mr. Low left New York City. Why? Nobody knows, didn't they say."
CITY = {"start": 13, "end": 26, "label": "LOC"}
FILES = {
    "prodigy": json.dumps({"text": TEXT, "spans": [CITY], "answer": "accept"}) + "\n",
    "doccano": json.dumps({"text": TEXT, "label": [[13, 26, "LOC"]]}) + "\n",
}


@pytest.mark.parametrize("name", FILES)
def test_spans_become_tags(tmp_path, name):
    path = tmp_path / "a.json"
    path.write_text(FILES[name])
    assert format_of(path).name == "spans"
    tagged = read_tagged(path)
    assert [len(tags) for tags in tagged.tags] == [7, 2, 8]
    assert tagged.tags[0] == ("O", "O", "O", "B-LOC", "I-LOC", "I-LOC", "O")
    found = list(format_named("spans").read(path))
    for sentence in found:
        for token, start, end in zip(sentence.tokens, sentence["start"], sentence["end"], strict=True):
            assert TEXT[int(start) : int(end)] == token


def test_spans_are_whole_tokens_even_inside_words(tmp_path):
    path = tmp_path / "a.jsonl"
    rows = [
        {"text": "York-based firms", "spans": [{"start": 0, "end": 4, "label": "LOC"}]},
        {"text": "a bad one", "spans": [], "answer": "reject"},
        {
            "text": "St. Louis. x",
            "spans": [{"start": 0, "end": 9, "label": "LOC"}, {"start": 4, "end": 9, "label": "P"}],
        },
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    found = list(format_named("spans").read(path))
    assert found[0].tokens == ("York", "-based", "firms")
    assert found[1]["tag"] == ("B-LOC", "I-LOC", "O", "O"), "the longer of two that overlap"


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"text": "Rome", "spans": [{"start": 0, "end": 9, "label": "X"}]}, r"within the text \(0 to 4\), got 0 to 9"),
        ({"text": "Rome", "spans": [{"start": "0", "end": 4}]}, "expected a start, an end and a label, got"),
        ({"text": 3, "spans": []}, "expected text under 'text', got 3"),
        ({"text": "Rome", "spans": [7]}, "expected a start, an end and a label, got '7'"),
        ({"text": "Rome", "spans": [{"start": 0, "end": 4}]}, "expected a start, an end and a label, got"),
    ],
)
def test_wrong_spans_are_one_sentence(tmp_path, row, message):
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps({"text": "a", "spans": []}) + "\n" + json.dumps(row) + "\n")
    with pytest.raises(FormatError, match=rf"a\.jsonl:2: .*{message}"):
        list(format_named("spans").read(path))


def test_tags_that_are_numbers_are_told(tmp_path):
    path = tmp_path / "rows.tsv"
    path.write_text("Rome\t5\nfell\t0\n\n")
    assert [note[:23] for note in read_tagged(path).notes] == ["All 2 tags are numbers,"]
    path.write_text("Rome\t5\nfell\tO\n\n")
    assert read_tagged(path).notes == ()


def test_senses_in_a_table(tmp_path):
    path = tmp_path / "a.tsv"
    path.write_text(
        "text\tword\tsense\tstart\nThe banks of the river, a bank.\tbank\tshore\t\nMoney in a bank\tbank\t\t11\n"
    )
    assert format_of(path).name == "sense-table"
    first, second = format_named("sense-table").read(path)
    assert (first.tokens[first.target], first.senses, first.target) == ("bank", ("shore",), 7)
    assert (second.tokens[second.target], second.senses) == ("bank", ())
    again = tmp_path / "b.tsv"
    format_named("sense-table").write(again, [first, second])
    assert list(format_named("sense-table").read(again)) == [first, second]
    assert len(read_table(path, "sense")) == 2, "it is a table all the same"
    path.write_text("text\tword\tsense\nnothing here\tbank\tshore\nx y\tx\ta\n")
    with pytest.raises(FormatError, match=r":2: expected the word 'bank' in the text"):
        list(format_named("sense-table").read(path))
    assert isinstance(first, Occurrence)


@pytest.mark.parametrize(
    "span",
    [
        {"id": 1, "start_offset": 13, "end_offset": 26, "label": "LOC"},
        {"start": 13, "end": 26, "text": "New York City", "labels": ["LOC"]},
    ],
)
def test_spans_may_be_objects(tmp_path, span):
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps({"text": TEXT, "entities": [span], "relations": []}) + "\n")
    assert format_of(path).name == "spans"
    assert read_tagged(path).tags[0].count("I-LOC") == 2


def test_what_is_odd_about_spans_is_told(tmp_path):
    path = tmp_path / "a.jsonl"
    rows = [
        {"text": TEXT, "spans": [CITY, {"start": 13, "end": 16, "label": "X"}, {"start": 5, "end": 7, "label": "Y"}]}
    ]
    path.write_text(json.dumps(rows[0]) + "\n")
    cut, overlap = sorted(read_tagged(path).notes, reverse=True)
    assert cut == "Spans that start or end inside a word split it in two, such as Y at 5 to 7 of line 1."
    assert overlap == "Spans that overlap a longer one are left out, such as X at 13 to 16 of line 1."


def test_texts_without_spans_have_no_tags_and_know_their_record(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "Rome fell. Why?", "id": 7}\n{"text": ""}\n{"text": "Oslo stood."}\n')
    found = [tree.sentence for tree, _ in read_untagged(path, (), "tag")]
    assert [sentence.comments for sentence in found] == [
        ("# record = 0", '# metadata = {"id": 7}'),
        ("# record = 0", '# metadata = {"id": 7}'),
        ("# record = 2",),
    ]
    assert not any("tag" in sentence.columns for sentence in found)


def test_tokens_are_judged_where_they_stand_in_their_sentence(tmp_path):
    path = tmp_path / "a.tsv"
    elided = "L'\tO\nentreprise\tO\nqu\u2019\tO\nil\tO\naime\tO\n\n"
    path.write_text(elided * 4 + "Ich\tO\nhab\tO\n's\tO\n\nit\tO\ndoes\tO\nn't\tO\n\n")
    assert read_tagged(path).style.cut_again == 0
    path.write_text("Dr.\tO\nLow\tO\n,\tO\nInc.\tO\n,\tO\nleft\tO\nz.B.\tO\num\tO\n\n")
    found = read_tagged(path)
    assert TokenStyle.of(found.sentences[0].tokens).cut_again == 1 / 8, "raw text cuts Inc. before a comma alone"
    assert found.style.cut_again == 0, "but not for a tagger that has seen it whole"


def test_tags_that_look_wrong_are_told(tmp_path):
    path = tmp_path / "a.tsv"
    path.write_text("".join(f"word{i % 9}\t{'B-X' if i % 2 else 'O'}\n" for i in range(200)))
    (note,) = read_tagged(path).notes
    assert note == "The 200 tokens are 1 sentence, 200 tokens each. Is a blank line missing after each sentence?"
    path.write_text("".join(f"word{i}\tN\n" if i % 9 else f"word{i}\tN\tmore\n\n" for i in range(1, 90)))
    with pytest.raises(FormatError, match=r"a\.tsv:9: expected 2 columns, as on most lines, got 3"):
        read_tagged(path)


def test_titles_one_a_line_are_not_joined(tmp_path):
    path = tmp_path / "a.txt"
    titles = [
        "Sony WH-1000XM4 Headphones, black",
        "Bosch GSR 12V-15 Drill, 2 batteries",
        "Lego City Police Car 60312, new",
    ]
    path.write_text("\n".join(titles) + "\n")
    assert len(list(read_sentences(path))) == 3
    path.write_text("\n".join(titles).lower() + "\n")
    assert len(list(read_sentences(path))) == 3


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("l'e\u0301te\u0301, aujourd'hui", ["l'", "e\u0301te\u0301", ",", "aujourd'hui"]),
        ("co\u00adoperate at 5 o'clock", ["co\u00adoperate", "at", "5", "o'clock"]),
        ("हिन्दी में", ["हिन्दी", "में"]),
    ],
)
def test_signs_within_words_do_not_cut_them(text, tokens):
    assert [token.text for token in tokenize(text)] == tokens


EMOJI = [
    "\U0001f468\u200d\U0001f469\u200d\U0001f467",  # a family
    "\U0001f469\U0001f3fd\u200d\U0001f680",  # an astronaut with a color of skin
    "\u2764\ufe0f\u200d\U0001f525",  # a heart, in color, on fire
    "\U0001f44d\U0001f3ff",
    "\u270c\ufe0f",
    "\U0001f1eb\U0001f1f7",  # the flag of France
    "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",  # that of England
    "1\ufe0f\u20e3",
    "#\ufe0f\u20e3",
]


@pytest.mark.parametrize("emoji", EMOJI)
def test_a_joined_emoji_is_one_token(emoji):
    assert [token.text for token in tokenize(f"Yes {emoji}{emoji}, no {emoji}.")] == [
        *("Yes", emoji, emoji, ",", "no", emoji, ".")
    ]


def test_flags_and_emoji_in_a_row_are_one_token_each():
    flags = ["\U0001f1eb\U0001f1f7", "\U0001f1e9\U0001f1ea", "\U0001f600", "\U0001f600"]
    assert [token.text for token in tokenize("".join(flags))] == flags


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("See https://a.b/c?d=(x).", "https://a.b/c?d=(x)"),
        ("(see https://a.b/c)", "https://a.b/c"),
        ("(see https://a.b/c_(d)).", "https://a.b/c_(d)"),
        ("[x](www.a.b/c)", "www.a.b/c"),
        ("www.a.b/c[1]?d=((x)(y)), so", "www.a.b/c[1]?d=((x)(y))"),
        ("https://a.b/c(d!", "https://a.b/c(d"),
        ("'https://a.b/(c)'", "https://a.b/(c)"),
    ],
)
def test_a_bracket_that_an_address_opens_is_closed_in_it(text, address):
    assert address in [token.text for token in tokenize(text)]


def test_german_days_end_no_sentence_and_contractions_are_cut():
    parts = [[t.text for t in part] for part in sentences("Wie geht's? Am 3. Oktober 1990, z.B. um 12. Er kam.")]
    assert parts[0] == ["Wie", "geht", "'s", "?"]
    assert parts[1][:4] == ["Am", "3", ".", "Oktober"]
    assert [len(part) for part in parts] == [4, 10, 3]


def test_a_straight_quote_after_a_blank_opens_the_next_sentence():
    text = 'We had 12 guests. "Try the pho," said Mei. He said "stop." Then he left.'
    parts = [" ".join(token.text for token in part) for part in sentences(text)]
    assert parts == ["We had 12 guests .", '" Try the pho , " said Mei .', 'He said " stop . "', "Then he left ."]


def test_raw_text_is_cut_into_tokens(tmp_path):
    path = tmp_path / "a.txt"
    text = "The mayor, Mr. Low, left. He said: no!\n\nWhy?\nNobody knows, they say.\n"
    path.write_text(text)
    assert (format_of(path).name, format_of(path).yields) == ("raw", "text")
    found = list(read_sentences(path))
    assert [len(s) for s in found] == [8, 5, 2, 6]
    for sentence in found:
        for token, start, end in zip(sentence.tokens, sentence["start"], sentence["end"], strict=True):
            assert text[int(start) : int(end)] == token
    with pytest.raises(FormatError, match="got plain text"):
        read_tagged(path)


def test_marks_that_french_sets_apart_do_not_make_raw_text_look_cut(tmp_path):
    path = tmp_path / "fr.txt"
    path.write_text("L'homme n'est pas venu. Pourquoi ? Qui sait !\n")
    assert [" ".join(s.tokens) for s in read_sentences(path)] == [
        "L' homme n' est pas venu .",
        "Pourquoi ?",
        "Qui sait !",
    ]
    path.write_text("Pourquoi ?\nQui sait !\n")  # no comma and no point: the other marks tell
    assert [s.tokens for s in read_sentences(path)] == [("Pourquoi", "?"), ("Qui", "sait", "!")]


def test_raw_text_and_words_are_no_tags(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("Rome fell in a day .\nSo what is that to you ?\n")
    with pytest.raises(FormatError, match=r"expected one token and its tag on each line.* got plain text"):
        read_tagged(path)
    path.write_text("".join(f"word{i} other{i}\n\n" for i in range(80)))
    with pytest.raises(FormatError, match="80 different ones on 80 tokens, as if they were words"):
        read_tagged(path)
    path.write_text('{"a": 1, "b": 2}\n\n{"a": 3, "b": 4}\n')
    with pytest.raises(FormatError, match="got a table"):
        read_tagged(path)


def test_unspaced_scripts_are_told():
    with pytest.raises(DataError, match="must have spaces between words, got Chinese or Japanese"):
        refuse_unspaced("a.txt", "我们今天去北京。")
    refuse_unspaced("a.txt", "Er sagte: 北京")


SIGNS = st.sampled_from([*"".join(EMOJI), *EMOJI, *"()[].' a", "https://a.b/", "www."])


@given(
    st.text(st.characters(codec="utf-8"), max_size=60) | st.lists(SIGNS, max_size=20).map("".join),
    st.lists(st.integers(0, 60), max_size=4),
)
def test_offsets_cut_out_exactly_the_token(text, cuts):
    tokens = tokenize(text, cuts)
    assert all(text[token.start : token.end] == token.text and token.text for token in tokens)
    between = "".join(
        text[a:b] for a, b in zip([0, *(t.end for t in tokens)], [*(t.start for t in tokens), len(text)], strict=True)
    )
    assert not between.strip()
    assert [token for part in sentences(text, cuts) for token in part] == tokens
    borders = {token.start for token in tokens} | {token.end for token in tokens}
    inside = [cut for cut in cuts if 0 < cut < len(text) and not text[cut - 1].isspace() and not text[cut].isspace()]
    assert borders.issuperset(inside)


def test_every_format_has_a_name_of_its_own():
    names = [format.name for format in all_formats()]
    assert len(set(names)) == len(names)


def test_the_place_of_a_word_is_enough_for_its_senses(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("text,start,end,sense\nThe Bank lends,4,8,money\nA muddy bank there,8,12,river\n")
    assert [(o.word, o.target, o.senses) for o in read_occurrences(path)] == [
        ("bank", 1, ("money",)),
        ("bank", 2, ("river",)),
    ]
    path.write_text("text,start,end\nThe bank lends,4,8\n")
    assert [(o.word, o.target, o.senses) for o in read_occurrences(path)] == [("bank", 1, ())]


def test_new_contexts_need_no_senses(tmp_path):
    path = tmp_path / "new.tsv"
    path.write_text("id\ttext\tword\n7\tthe river bank\tbank.n\n")
    (found,) = read_occurrences(path)
    assert (found.id, found.target, found.senses) == ("7", 2, ())
    path.write_text("id\tnote\n7\tthe river bank\n")
    with pytest.raises(FormatError, match=r"with the columns text and word .* got a table without them"):
        read_occurrences(path)
