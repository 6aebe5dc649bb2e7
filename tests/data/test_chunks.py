"""Chunk tags: schemes, spans, and scores as conlleval counts them."""

from __future__ import annotations

import random
import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from oracles import conlleval

from handful.data.chunks import Span, convert, detect_scheme, from_spans, spans, to_iob2
from handful.data.conll import read_conll
from handful.errors import DataError, ParameterError
from handful.tagging.evaluation import chunk_f1

# Files are slow on a busy machine, which is no fault of what is tested.
unhurried = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])

SCHEMES = ("IO", "IOB1", "IOB2", "IOBES")


@st.composite
def span_lists(draw):
    found, end = [], 0
    for gap, length, kind in draw(
        st.lists(
            st.tuples(st.integers(0, 2), st.integers(1, 3), st.sampled_from(["PER", "LOC", "A-B", ""])), max_size=6
        )
    ):
        found.append(Span(end + gap, end + gap + length, kind))
        end += gap + length
    return found, end + draw(st.integers(0, 2))


@unhurried
@given(span_lists(), st.sampled_from(SCHEMES[1:]))
def test_spans_survive_every_scheme_that_can_hold_them(sample, scheme):
    found, length = sample
    assert spans(from_spans(found, length, scheme)) == found


@unhurried
@given(span_lists(), st.sampled_from(SCHEMES[1:]), st.sampled_from(SCHEMES[1:]))
def test_conversion_there_and_back_changes_nothing(sample, source, target):
    tags = from_spans(*sample, source)
    there = convert(tags, source, target)
    assert there == from_spans(*sample, target)
    assert convert(there, target, source) == tags
    assert to_iob2(tags) == from_spans(*sample, "IOB2")


def test_io_joins_what_touches():
    assert convert(["B-X", "B-X", "O"], "IOB2", "IO") == ["I-X", "I-X", "O"]


@pytest.mark.parametrize(
    ("sentences", "scheme"),
    [
        ([["I-X", "I-X", "O"]], "IO"),
        ([["I-X", "B-X", "O"]], "IOB1"),
        ([["B-X", "I-X", "O"]], "IOB2"),
        ([["O"], ["B-X", "B-Y"]], "IOB2"),
        ([["B-X", "E-X"], ["S-X"]], "IOBES"),
        ([], "IO"),
    ],
)
def test_the_scheme_is_found(sentences, scheme):
    assert detect_scheme(sentences) == scheme


def test_tags_of_two_schemes_are_refused():
    with pytest.raises(DataError, match="got sentence 2 that breaks IOB2"):
        detect_scheme([["B-X", "I-X"], ["O", "I-X"]])


def test_a_tag_that_breaks_its_scheme_is_refused():
    message = "convert: tags must be IOB2, which has B-X for token 1, got I-X."
    with pytest.raises(DataError, match=re.escape(message)):
        convert(["O", "I-X"], "IOB2", "IOBES")


@pytest.mark.parametrize("tag", ["NN", "b-X", "", "-X", "BI-X", "M-X", "OO"])
def test_a_tag_of_no_scheme_is_refused(tag):
    with pytest.raises(
        DataError, match=re.escape(f"tag 1 must be O or B-, I-, E-, S-, L- or U- with a type, got {tag!r}")
    ):
        spans(["O", tag])


def test_unknown_schemes_and_overlapping_spans_are_refused():
    with pytest.raises(ParameterError, match="the scheme must be one of IO, IOB1, IOB2, IOBES, BILOU, got 'BMES'"):
        convert([], "IOB2", "BMES")
    with pytest.raises(ParameterError, match="got 'bio'"):
        from_spans([], 0, "bio")
    for found in ([Span(0, 2, "X"), Span(1, 3, "X")], [Span(0, 0, "X")], [Span(0, 4, "X")], [Span(-1, 1, "X")]):
        with pytest.raises(DataError, match="spans must be filled, in order, apart and within 3 tokens"):
            from_spans(found, 3)


def random_tags(generator, alphabet, length):
    return [generator.choice(alphabet) for _ in range(length)]


ALPHABETS = {
    "broken IOB": ["O", "B-X", "I-X", "B-Y", "I-Y"],
    "broken IOBES": ["O", "B-X", "I-X", "E-X", "S-X", "I-Y", "E-Y", "S-Y"],
    "no types": ["O", "B", "I"],
    "mixed types": ["O", "B", "I-X", "B-X", "I", "I-X-Y"],
    "no chunks": ["O"],
}


def same_as_oracle(gold, predicted):
    overall, by_type, correct_tags, tokens = conlleval.count(gold, predicted)
    report = chunk_f1(gold, predicted)
    assert (report.overall.n_gold, report.overall.n_predicted, report.overall.n_correct) == overall
    assert {k: (s.n_gold, s.n_predicted, s.n_correct) for k, s in report.by_type.items()} == by_type
    assert report.n_tokens == tokens
    assert report.accuracy == (correct_tags / tokens if tokens else 0)
    for score, counts in [(report.overall, overall), *((report.by_type[k], c) for k, c in by_type.items())]:
        wanted = conlleval.ratios(*counts)
        assert (100 * score.precision, 100 * score.recall, 100 * score.f1) == pytest.approx(wanted, abs=1e-9)


@pytest.mark.parametrize("name", ALPHABETS)
def test_chunks_are_counted_as_conlleval_does_on_random_tags(name):
    generator = random.Random(name)
    for _ in range(400):
        lengths = [generator.randrange(9) for _ in range(generator.randrange(4))]
        gold = [random_tags(generator, ALPHABETS[name], length) for length in lengths]
        predicted = [
            [tag if generator.random() < 0.6 else generator.choice(ALPHABETS[name]) for tag in tags] for tags in gold
        ]
        same_as_oracle(gold, predicted)


@unhurried
@given(st.lists(st.tuples(span_lists(), span_lists()), max_size=4), st.sampled_from(SCHEMES))
def test_chunks_are_counted_as_conlleval_does_on_clean_tags(pairs, scheme):
    gold, predicted = [], []
    for (one, length), (other, other_length) in pairs:
        length = max(length, other_length)
        gold.append(from_spans(one, length, scheme))
        predicted.append(from_spans(other, length, scheme))
    same_as_oracle(gold, predicted)


def test_a_chunk_ends_with_its_sentence():
    report = chunk_f1([["B-X"], ["I-X"]], [["B-X"], ["I-X"]])
    assert report.overall.n_gold == report.overall.n_correct == 2


def test_shapes_must_agree():
    with pytest.raises(DataError, match="as many sentences, got 1 and 2"):
        chunk_f1([["O"]], [["O"], ["O"]])
    with pytest.raises(DataError, match="sentence 2 must have as many gold as predicted tags, got 1 and 2"):
        chunk_f1([["O"], ["O"]], [["O"], ["O", "O"]])


@pytest.mark.corpus
@pytest.mark.parametrize(
    ("name", "columns", "scheme"),
    [
        ("conll2003-eng-testa.tsv.gz", ("token", "pos", "chunk", "tag"), "IOB1"),
        ("conll2000-chunk-test.tsv.gz", ("token", "pos", "tag"), "IOB2"),
        ("wikigold.tsv.gz", ("token", "tag"), "IO"),
    ],
)
def test_real_tags_keep_their_scheme_and_score_like_conlleval(data_folder, name, columns, scheme):
    gold = [sentence["tag"] for sentence in read_conll(data_folder / name, columns)]
    assert detect_scheme(gold) == scheme
    for tags in gold:
        assert convert(convert(tags, scheme, "IOBES"), "IOBES", scheme) == list(tags)
    kinds = sorted({tag for tags in gold for tag in tags})
    generator = random.Random(5)
    predicted = [[t if generator.random() < 0.9 else generator.choice(kinds) for t in tags] for tags in gold]
    same_as_oracle(gold, predicted)


def test_what_is_no_tag_or_span_is_named():
    assert from_spans([(0, 2, "PER"), (2, 3, "PER")], 3, "IOB1") == ["I-PER", "I-PER", "B-PER"]
    with pytest.raises(DataError, match="tag 1 must be a string, got 1"):
        spans(["O", 1])


def test_bilou_is_read_and_written():
    tags = ["B-PER", "I-PER", "L-PER", "O", "U-LOC", "B-LOC", "L-LOC"]
    assert detect_scheme([tags]) == "BILOU"
    assert convert(tags, "BILOU", "IOBES") == ["B-PER", "I-PER", "E-PER", "O", "S-LOC", "B-LOC", "E-LOC"]
    assert convert(to_iob2(tags), "IOB2", "BILOU") == tags
