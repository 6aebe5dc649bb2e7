"""Our contract for every model of word senses in the catalogue."""

from __future__ import annotations

import copy
from dataclasses import replace

import pytest

import handful
from handful.data.records import Occurrence
from handful.registry import method_names
from handful.senses.classifier import SenseClassifier
from handful.senses.word_models import reads_embeddings
from papers.generated_english import make_sense_contexts

CONTEXTS = make_sense_contexts({"bank.n": 2, "line.n": 3}, n_labeled=200, n_unlabeled=40, random_state=0)
LABELED = [occurrence for occurrence in CONTEXTS if occurrence.senses]
TRAIN, TEST = LABELED[::2], LABELED[1::2]
UNLABELED = [occurrence for occurrence in CONTEXTS if not occurrence.senses]


def fitted(name, occurrences=TRAIN, unlabeled=UNLABELED):
    return SenseClassifier(name, n_neighbors=3, n_jobs=1).fit(occurrences, unlabeled)


# Embeddings need an encoder: tests/senses/test_classifier.py.
@pytest.fixture(scope="module", params=[name for name in method_names("occurrences") if not reads_embeddings(name)])
def trained(request):
    return request.param, fitted(request.param)


def accuracy(answers):
    return sum(sense in occurrence.senses for occurrence, sense in zip(TEST, answers, strict=True)) / len(TEST)


def test_it_learns_and_answers_senses_of_the_word(trained):
    name, model = trained
    answers = model.predict(TEST)
    for occurrence, sense in zip(TEST, answers, strict=True):
        assert sense in {s for other in TRAIN if other.word == occurrence.word for s in other.senses}
    if name != "most-frequent":
        assert accuracy(answers) > accuracy(fitted("most-frequent").predict(TEST))


def test_inputs_stay_and_a_second_fit_gives_the_same(trained):
    name, model = trained
    given = copy.deepcopy((TRAIN, UNLABELED))
    assert fitted(name, *given).predict(TEST) == model.predict(TEST)
    assert given == (TRAIN, UNLABELED)


def test_names_of_senses_do_not_matter(trained):
    name, model = trained
    senses = sorted({sense for occurrence in TRAIN for sense in occurrence.senses})
    other = {sense: f"meaning {number:02}" for number, sense in enumerate(senses)}
    renamed = fitted(name, [replace(o, senses=tuple(other[s] for s in o.senses)) for o in TRAIN])
    assert renamed.predict(TEST) == [other[sense] for sense in model.predict(TEST)]


def test_saved_and_loaded_it_answers_the_same(trained, tmp_path):
    _, model = trained
    handful.save(model, tmp_path / "model.handful")
    assert handful.load(tmp_path / "model.handful").predict(TEST) == model.predict(TEST)


def test_a_context_without_any_known_word_is_answered(trained):
    _, model = trained
    strange = [Occurrence("bank.n", "1", ("bank",), 0, ()), Occurrence("bank.n", "2", ("zz", "bank", "日本"), 1, ())]
    assert set(model.predict(strange)) <= {sense for o in TRAIN if o.word == "bank.n" for sense in o.senses}
    assert model.predict([]) == []
