from __future__ import annotations

import pytest

from handful.errors import ParameterError
from handful.tagging.stacked import jackknife_tags


class Parrot:
    """Gives every word the tag that it had in training, and ? where it had none."""

    def get_params(self, deep=True):
        return {}

    def fit(self, sentences, tags):
        self.known = {word: tag for s, t in zip(sentences, tags, strict=True) for word, tag in zip(s, t, strict=True)}
        return self

    def predict(self, sentences):
        return [[self.known.get(word, "?") for word in sentence] for sentence in sentences]


def test_no_sentence_is_tagged_by_a_tagger_that_has_seen_it():
    text = [["a", "b"], ["c"], ["a"], ["d", "b"]]
    tags = [["A", "B"], ["C"], ["A"], ["D", "B"]]
    steps = []
    found = jackknife_tags(Parrot(), text, tags, n_folds=4, progress=steps.append)
    assert found == [["A", "B"], ["?"], ["A"], ["?", "B"]]
    assert jackknife_tags(Parrot(), text, tags, n_folds=2) == [["A", "B"], ["?"], ["A"], ["?", "B"]]
    assert [(step.done, step.total) for step in steps] == [(1, 4), (2, 4), (3, 4), (4, 4)]


@pytest.mark.parametrize("n_folds", [1, 5])
def test_folds_that_cannot_be_are_refused(n_folds):
    with pytest.raises(ParameterError, match="n_folds must be from 2 to the 4 sentences"):
        jackknife_tags(Parrot(), [["a"]] * 4, [["A"]] * 4, n_folds=n_folds)
