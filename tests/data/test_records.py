from __future__ import annotations

import dataclasses
import pickle

import pytest

from handful.data.records import Occurrence, Sentence, Tree
from handful.errors import DataError


def test_records_are_frozen_and_copy_what_they_are_given():
    tokens, tags = ["a", "b"], ["X", "Y"]
    sentence = Sentence(tokens, {"pos": tags})
    tokens.append("c")
    tags[0] = "Z"
    assert sentence.tokens == ("a", "b")
    assert sentence["pos"] == ("X", "Y")
    with pytest.raises(dataclasses.FrozenInstanceError):
        sentence.tokens = ()
    with pytest.raises(TypeError):
        sentence.columns["pos"] = ()


def test_sentences_compare_hash_and_pickle():
    one = Sentence(("a",), {"pos": ("X",)})
    assert one == Sentence(["a"], {"pos": ["X"]})
    assert hash(one) == hash(Sentence(["a"], {"pos": ["X"]}))
    assert one != Sentence(["a"], {"pos": ["Y"]})
    assert pickle.loads(pickle.dumps(one)) == one
    assert list(one) == ["a"]


@pytest.mark.parametrize(
    ("build", "sentence"),
    [
        (lambda: Sentence(("a",), {"pos": ()}), "column 'pos' must be as long as the tokens"),
        (lambda: Sentence(("a",), {"pos": ("X",)})["ner"], "no column 'ner'; the columns are: 'pos'"),
        (lambda: Tree(Sentence(("a",)), (0, 1), ("root",)), "as long as the sentence"),
        (lambda: Tree(Sentence(("a",)), (2,), ("x",)), "head of word 1 must be another word"),
        (lambda: Tree(Sentence(("a",)), (1,), ("x",)), "got 1"),
        (lambda: Occurrence("w", "id", ("a",), 1), "target must be a position"),
    ],
)
def test_broken_records_are_refused(build, sentence):
    with pytest.raises(DataError, match=sentence):
        build()
