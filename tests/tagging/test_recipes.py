from __future__ import annotations

import numpy as np
import pytest

from handful.data.chunks import spans
from handful.errors import ParameterError
from handful.registry import get_method
from handful.tagging.crf import CRF
from handful.tagging.prototypes.ensemble import PrototypeEnsemble
from handful.tagging.recipes import TaggerSetup
from handful.tagging.selection import choose_tagger, has_spans

NAMES = ["Rome", "Bonn", "Oslo", "Lima", "Cairo", "Quito", "Paris", "Delhi", "Tunis", "Sofia", "Kyiv", "Doha"]


@pytest.fixture
def news():
    """Sentences in which a name is seen once, so that a tagger is too careful with new ones."""
    rng = np.random.default_rng(1)
    fillers = ["he", "went", "then", "slowly", "home", "again", "and", "slept", "there"]
    sentences, tags = [], []
    for name in NAMES:
        words = [*rng.choice(fillers, 6), str(rng.choice(["in", "near", "he"])), name]
        sentences.append([str(w) for w in words])
        tags.append(["O"] * 7 + ["B-LOC"])
    return sentences, tags


def test_a_bias_changes_nothing_but_how_many_spans_are_found(news):
    sentences, tags = news
    plain = CRF("general", strength=1.0, encoding="iob2").fit(sentences, tags)
    found = []
    for bias in (20.0, 0.0, -20.0):
        model = CRF("general", strength=1.0, encoding="iob2", outside_bias=bias).fit(sentences, tags)
        assert np.count_nonzero(model.weights_ != plain.weights_) == (bias != 0)
        found.append(sum(len(spans(row)) for row in model.predict(sentences)))
    assert found[0] == 0
    assert found[0] <= found[1] < found[2]


def test_a_bias_needs_the_label_outside():
    with pytest.raises(ParameterError, match="outside_bias needs tags of spans"):
        CRF(outside_bias=1.0).fit([["a", "b"]], [["D", "N"]])


def test_the_bias_with_the_best_f1_of_held_out_sentences_is_chosen(news):
    sentences, tags = news
    careful = CRF("general", strength=30.0, encoding="iob2")
    chosen = choose_tagger([careful], sentences, tags).tagger
    assert careful.outside_bias == 0
    assert chosen.outside_bias < 0
    scores = {}
    for bias in (0.0, chosen.outside_bias):
        right = n_found = 0
        for fold in range(3):
            rest = [n for n in range(len(tags)) if n % 3 != fold]
            model = CRF("general", strength=30.0, encoding="iob2", outside_bias=bias)
            model.fit([sentences[n] for n in rest], [tags[n] for n in rest])
            predicted = [set(spans(row)) for row in model.predict(sentences[fold::3])]
            right += sum(len(a & set(spans(b))) for a, b in zip(predicted, tags[fold::3], strict=True))
            n_found += sum(map(len, predicted))
        scores[bias] = 2 * right / (n_found + len(tags))
    assert scores[chosen.outside_bias] > scores[0.0]


def test_a_bias_of_the_user_is_kept(news):
    sentences, tags = news
    taggers = [CRF("general", encoding="iob2"), CRF("wide", encoding="iob2")]
    assert choose_tagger(taggers, sentences, tags, biases=[-2.0]).tagger.outside_bias == -2.0
    assert TaggerSetup(outside_bias=-2.0).tuned_crf(sentences, tags).outside_bias == -2.0


def test_some_folds_alone_may_be_held_out(news):
    sentences, tags = news
    steps = []
    choose_tagger([CRF("general")], sentences, tags, folds=(4, 2), progress=steps.append)
    assert [(step.done, step.total) for step in steps] == [(1, 2), (2, 2)]


def test_folds_without_spans_are_no_obstacle():
    sentences, tags = [["a", "b"]] * 8, [["O", "B-X"], *[["O", "O"]] * 7]
    assert choose_tagger([CRF("general")], sentences, tags).score >= 0


def test_settings_are_chosen_for_spans_alone(news):
    sentences, tags = news
    setup = TaggerSetup()
    assert setup.tuned_crf(sentences, tags).encoding == "iobes"
    fixed = TaggerSetup("general", "iobes", -1.0).tuned_crf(sentences, tags)
    assert (fixed.encoding, fixed.outside_bias) == ("iobes", -1.0)
    plain = setup.tuned_crf(sentences, [["T"] * len(s) for s in sentences])
    assert (plain.encoding, plain.outside_bias) == (None, 0.0)
    mixed = [["O", "E-X", "I-X", "B-X"]]  # keeps to no scheme
    assert not has_spans(mixed)


def test_clusters_of_raw_text_are_read(news):
    sentences, tags = news
    setup = TaggerSetup(n_clusters=4)
    raw = [["to", name, "and", "back"] for name in [*NAMES, "Ulm", "Ulm"]] * 3
    tagger = setup.fit_crf(sentences, tags, {"brown": setup.clusters(raw).paths_})
    assert any(t.startswith("u:brown.prefix4[0]") for t in tagger.templates_)
    assert setup.clusters(raw) is setup.clusters(raw)
    assert setup.clusters(raw, folded=True) is setup.clusters(raw, folded=True) is not setup.clusters(raw)


def test_clusters_of_raw_text_leave_case_and_digits_aside(news):
    sentences, tags = news
    setup = TaggerSetup(n_clusters=4)
    raw = [["to", name, "in", year] for name in NAMES for year in ("1996", "2001")] * 3
    paths = setup.lookups(raw)["brown"]
    assert {"0000", *map(str.lower, NAMES)} <= paths.keys()
    tagger = setup.fit_crf(sentences, tags, {"brown": paths})
    assert tagger.predict([["to", NAMES[0]]])[0][1] == tagger.predict([["to", NAMES[0].upper()]])[0][1] != "O"


def test_the_length_of_unknown_words_counts():
    sentences = [[letter * n] for letter in "abcdefgh" for n in (2, 5)]
    tagger = CRF("general", strength=0.03).fit(sentences, [["short"], ["long"]] * 8)
    assert tagger.predict([["xy"], ["zuvwq"]]) == [["short"], ["long"]]


@pytest.mark.parametrize(
    ("row", "order"), [(["QTY", "NAME", "NAME"], 2), (["D", "N", "V"], 1), (["O", "B-X", "I-X"], 1)]
)
def test_fields_that_go_on_look_at_two_tags_where_clusters_are_read(row, order):
    setup = TaggerSetup(n_clusters=2)
    sentences = [["2", "red", "beets"], ["3", "big", "eggs"]] * 4
    lookups = setup.lookups(sentences)
    assert setup.tuned_crf(sentences, [row] * 8, lookups).order == order
    assert setup.tuned_crf(sentences, [row] * 8).order == 1


@pytest.mark.parametrize("better", [0.4, 2.0])
def test_many_sentences_choose_the_strength_of_the_penalty(monkeypatch, better):
    def scored(tagger, sentences, tags, biases, held, max_iter):
        assert (len(sentences), len(held), list(biases), max_iter) == (1_200, 240, [0.0], 150)
        each = [[tagger.strength == better or n % 5 > 0, 1, 1] for n in range(240)]
        return np.array([each], dtype=float)

    monkeypatch.setattr("handful.tagging.recipes._MOST_TUNED", 1_000)
    monkeypatch.setattr("handful.tagging.recipes._MOST_TRIED", 1_300)
    monkeypatch.setattr("handful.tagging.selection._fold_counts", scored)
    sentences, tags = [["in", "Rome"], ["a", "dog"]] * 600, [["O", "B-LOC"], ["O", "O"]] * 600
    assert TaggerSetup().tuned_crf(sentences, tags).strength == better
    assert TaggerSetup(strength=0.7).tuned_crf(sentences, tags).strength == 0.7
    assert TaggerSetup(penalty="l1").tuned_crf(sentences, tags).strength == 0.4
    assert TaggerSetup("general").tuned_crf(sentences, tags).strength == 0.03
    assert TaggerSetup().tuned_crf(sentences, [["D", "N"]] * 1_200).strength == 0.4, "no spans"
    assert (
        TaggerSetup().tuned_crf([s for s in sentences for _ in "ab"], [t for t in tags for _ in "ab"]).strength
        == better
    )


def test_a_later_candidate_must_be_better_by_standard_errors(monkeypatch):
    def scored(tagger, sentences, tags, biases, held, *_):
        right = [n % 2 if tagger.strength == 1.0 else n % 2 == 0 or n == 1 for n in range(len(held))]
        return np.array([[[r, 1, 1] for r in right]], dtype=float)

    monkeypatch.setattr("handful.tagging.selection._fold_counts", scored)
    taggers = [CRF(strength=1.0), CRF(strength=3.0)]  # 50 and 51 of 100 right, hardly any by both
    sentences, tags = [["a"]] * 100, [["O"], ["B-X"]] * 50
    for n_errors, strength in [(0.0, 3.0), (0.05, 3.0), (1.0, 1.0)]:
        chosen = choose_tagger(taggers, sentences, tags, biases=[0.0], folds=(1, 1), n_errors=n_errors).tagger
        assert chosen.strength == strength


def test_a_strength_that_does_no_better_is_not_chosen(monkeypatch):
    monkeypatch.setattr("handful.tagging.recipes._MOST_TUNED", 10)
    sentences, tags = [["in", "Rome"], ["a", "dog"]] * 10, [["O", "B-LOC"], ["O", "O"]] * 10
    assert TaggerSetup().tuned_crf(sentences, tags).strength == 0.05


def test_tags_in_bilou_are_learned_and_written_back():
    """L- and U- were taken for tags of no span, and scoring them ended in an error."""
    from handful.tagging.base import labels_written_as
    from handful.tagging.evaluation import score_given

    sentences = [["in", "New", "York", "now"], ["Rome", "fell"], ["to", "New", "York"], ["see", "Rome", "now"]] * 3
    tags = [["O", "B-LOC", "L-LOC", "O"], ["U-LOC", "O"], ["O", "B-LOC", "L-LOC"], ["O", "U-LOC", "O"]] * 3
    assert has_spans(tags)
    tagger = TaggerSetup("general").fit_crf(sentences, tags)
    predicted = tagger.predict(sentences)
    assert predicted == tags
    assert score_given(tags, predicted, set(tagger.classes_.tolist()))[0]["f1"] == 1.0
    assert tagger.explain(sentences[0])[2].label == "L-LOC"
    labels = ["B-LOC", "E-LOC", "I-LOC", "O", "S-LOC"]
    assert [labels_written_as(tag, labels, "BILOU") for tag in ("U-LOC", "L-LOC", "O")] == [[4], [1], [3]]
    assert labels_written_as("B-LOC", labels, "IOB1") == [0, 1, 2, 4]


def test_the_method_prototypes_trains_an_ensemble():
    text, tags = [["the", "dog"], ["a", "cat"]] * 6, [["D", "N"]] * 12
    model = get_method("prototypes", "sentences").train(TaggerSetup(), text, tags, [["the", "cat"]])
    assert isinstance(model, PrototypeEnsemble)
    assert model.predict([["a", "dog"]]) == [["D", "N"]]
