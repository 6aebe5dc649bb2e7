from __future__ import annotations

import pytest

from handful.errors import ParameterError
from handful.preprocessing.word_tables import ambiguity_classes
from handful.tagging.crf import CRF


def test_rare_tags_of_a_word_are_left_out():
    text = [["Run"]] * 19 + [["run"]]
    tags = [["NN"]] * 19 + [["VB"]]
    assert ambiguity_classes(text, tags)["run"] == "NN|VB"
    assert ambiguity_classes(text, tags, min_share=0.06)["run"] == "NN"
    with pytest.raises(ParameterError, match="from 0 to 1"):
        ambiguity_classes(text, tags, min_share=2)


def test_a_spelling_that_stands_in_the_corpus_is_its_own():
    found = ambiguity_classes([["ß", "SS"]], [["A", "B"]])  # the capitals of the one are the other
    assert (found["ß"], found["ss"], found["SS"]) == ("A", "B", "B")


def test_a_tagger_learns_about_words_that_it_has_not_seen():
    classes = ambiguity_classes([["dog", "barks"], ["cat", "sleeps"]], [["n", "v"], ["n", "v"]])
    tagger = CRF(["u", "word[0]", "class[0]"], lookups={"class": classes}, strength=0.1)
    tagger.fit([["Dog"], ["barks"]], [["N"], ["V"]])
    assert tagger.predict([["cat"], ["Sleeps"]]) == [["N"], ["V"]]
