"""Prototype taggers that choose their own settings."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from handful.errors import DataError, ParameterError
from handful.persistence.model_file import load, save
from handful.tagging.prototypes.ensemble import PrototypeEnsemble, Setting, Trial, choose_setting, recovered_shares
from handful.tagging.prototypes.features import learn_mixture, mix
from handful.tagging.prototypes.tagger import PrototypeTagger
from papers.generated import APARTMENT_FIELDS, APARTMENT_PROTOTYPES, make_apartment_ads

WORDS = {
    "D": ["the", "a", "every"],
    "N": ["dog", "cat", "bird", "fish", "horse"],
    "V": ["barks", "sleeps", "runs", "eats"],
}
LISTS = {"D": ["the", "a"], "N": ["dog", "cat"], "V": ["barks", "sleeps"]}


def make_text(n, seed=0):
    rng = np.random.default_rng(seed)
    tags = ["D", "N", "V"]
    return [[str(rng.choice(WORDS[tag])) for tag in tags] for _ in range(n)], [tags] * n


def test_a_team_chooses_answers_and_is_stored(tmp_path):
    text, tags = make_text(150)
    team = PrototypeEnsemble(LISTS, order=1, n_starts=2).fit(text)
    assert team.score(text, tags) == 1.0
    assert len(team.members_) == 2
    shares = [trial["recovered"] for trial in team.trials_]
    assert shares == sorted(shares, reverse=True)
    assert {trial["similarity"] for trial in team.trials_} == {"place-roots", "nearby-roots", "none"}, "little text"
    for rows in team.predict_proba(text[:5]):
        np.testing.assert_allclose(rows.sum(axis=1), 1.0)
    save(team, tmp_path / "team.handful")
    again = load(tmp_path / "team.handful")
    assert again.predict(text) == team.predict(text)
    assert again.trials_ == team.trials_


def test_in_much_text_counts_are_decomposed(monkeypatch):
    monkeypatch.setattr("handful.tagging.prototypes.ensemble._MUCH_TEXT", 60)
    text, _ = make_text(30)
    team = PrototypeEnsemble(LISTS, order=1, n_starts=1, spelling=False).fit(text)
    assert {trial["similarity"] for trial in team.trials_} == {"places", "nearby", "none"}


def test_settings_that_are_given_are_kept_and_nothing_is_tried():
    text, _ = make_text(30)
    given = {"similarity": "places", "spelling": False, "max_iter": 3, "order": 1, "variance": 0.2, "threshold": 0.6}
    team = PrototypeEnsemble(LISTS, n_starts=1, **given).fit(text)
    assert len(team.trials_) == 1
    assert team.trials_[0]["recovered"] is None
    member = team.members_[0]
    assert (member.spelling, member.variance, member.threshold, member.order) == (False, 0.2, 0.6, 1)
    assert member.n_iter_ <= 3


@pytest.mark.parametrize(("fields", "expected"), [(True, [True, False, True]), (False, [True, True, True])])
def test_taggers_of_fields_take_turns_with_settings_as_good_as_the_best(monkeypatch, fields, expected):
    tried = [(True, 20, 0.9), (False, 40, 0.86), (False, 60, 0.84)]
    trials = [Trial(Setting("none", None, spelling, 0.0), n_iter, share) for spelling, n_iter, share in tried]
    monkeypatch.setattr("handful.tagging.prototypes.ensemble.choose_setting", lambda *given, **options: trials)
    text, _ = make_text(30)
    team = PrototypeEnsemble(LISTS, fields, order=1).fit(text)
    assert [member.spelling for member in team.members_] == expected
    assert [member.max_iter for member in team.members_] == [40 + 20 * (not spelling) for spelling in expected]
    assert [trial["taggers"] for trial in team.trials_] == ([2, 1, 0] if fields else [3, 0, 0])


class Links:
    """A stand-in for context similarity: words of a group are alike."""

    def __init__(self, groups):
        words = [word for group in groups for word in group]
        self.vocabulary_ = {word: row for row, word in enumerate(words)}
        self.vectors_ = np.eye(len(groups))[[number for number, group in enumerate(groups) for _ in group]]


def test_hidden_prototypes_tell_links_that_help_from_links_that_mislead():
    # words in any order, so that links alone can tell their labels
    rng = np.random.default_rng(0)
    words = [word for mine in WORDS.values() for word in mine]
    text = [rng.choice(words, 4).tolist() for _ in range(80)]
    right = Links(list(WORDS.values()))
    misled = Links([["the", "cat"], ["a", "barks"], ["dog", "sleeps"]])
    shares = [
        recovered_shares(PrototypeTagger(LISTS, similarity=links, spelling=False), text, steps=(20,))[20]
        for links in (right, misled)
    ]
    assert shares[0] > shares[1] + 0.1, shares


def test_a_label_with_one_word_is_never_hidden_and_nothing_to_hide_is_told():
    text, _ = make_text(20)
    single = {"D": ["the"], "N": ["dog"], "V": ["barks"]}
    assert np.isnan(recovered_shares(PrototypeTagger(single), text, steps=(5,))[5])
    first = Setting("none", None, True, 0.0)
    trials = choose_setting(first, {"spelling": (True, False)}, lambda _: PrototypeTagger(single), text, steps=(5,))
    assert [trial.setting for trial in trials] == [first]
    assert PrototypeEnsemble(single, order=1, n_starts=1).fit(text).predict(text[:1])


def test_marks_take_the_field_before_them_and_sticky_labels_go_on():
    ads = make_apartment_ads(40, random_state=0)
    text = [ad.tokens for ad in ads]
    settings = {"similarity": "nearby-roots", "spelling": False, "max_iter": 15, "n_starts": 1}
    runs = []
    for sticky in (0.0, 8.0):
        team = PrototypeEnsemble(
            APARTMENT_PROTOTYPES, True, labels=APARTMENT_FIELDS, boundary="BOUNDARY", sticky=sticky, **settings
        ).fit(text)
        tags = team.predict(text)
        assert not any("BOUNDARY" in mine for mine in tags)
        runs.append(sum(a != b for mine in tags for a, b in pairwise(mine)))
    assert runs[1] < runs[0]


REFERENCES = [
    [*name, ",", *title, ".", "(", year, ")"]
    for name in (("Weber", "Anna"), ("Klein", "Jo"), ("Novak", "Tom"), ("Berg", "Ida"))
    for title in (("deep", "models"), ("sparse", "graphs"), ("fast", "parsers"), ("large", "models"))
    for year in ("1999", "2001", "2010")
]
REFERENCE_LISTS = {"AUTHOR": ["Weber", "Klein"], "TITLE": ["deep", "models"], "DATE": ["1999", "2001"]}


def test_marks_that_nobody_named_are_found_and_no_answer_has_their_label(tmp_path):
    team = PrototypeEnsemble(REFERENCE_LISTS, fields=True, n_starts=2, max_iter=20).fit(REFERENCES)
    assert sorted(team.marks_) == ["(", ")", ",", "."]
    assert team.classes_.tolist() == ["AUTHOR", "DATE", "TITLE"]
    answers = team.predict(REFERENCES)
    for words, labels in zip(REFERENCES, answers, strict=True):
        for place in range(1, len(words)):
            assert words[place] not in team.marks_ or labels[place] == labels[place - 1]
    for rows in team.predict_proba([*REFERENCES[:3], [",", "."]]):
        assert rows.shape[1] == 3
        np.testing.assert_allclose(rows.sum(axis=1), 1.0)
    save(team, tmp_path / "team.handful")
    again = load(tmp_path / "team.handful")
    assert again.predict(REFERENCES) == answers
    assert again.marks_ == team.marks_


@pytest.mark.parametrize(
    "settings",
    [
        {"marks": False},
        {"fields": False, "order": 1},
        {"labels": ["OTHER"]},
        {"prototypes": {**REFERENCE_LISTS, "SIGN": [",", ".", "(", ")"]}},
    ],
    ids=["not wanted", "no fields", "a label without prototypes", "listed"],
)
def test_marks_are_words_where_the_user_says_so(settings):
    team = PrototypeEnsemble(
        **{"prototypes": REFERENCE_LISTS, "fields": True, "n_starts": 1, "max_iter": 5, **settings}
    )
    assert team.fit(REFERENCES).marks_ == []


def test_one_label_is_refused_marks_or_not():
    with pytest.raises(DataError, match="at least two labels"):
        PrototypeEnsemble({"AUTHOR": ["Weber", "Klein"]}, fields=True).fit(REFERENCES)


def test_marks_are_words_where_tagged_sentences_give_them_a_label_of_their_own():
    apart = [["AUTHOR", "AUTHOR", "DATE", "TITLE", "TITLE", "DATE", "DATE", "DATE", "DATE"]] * 4
    within = [["AUTHOR", "AUTHOR", "AUTHOR", "TITLE", "TITLE", "TITLE", "DATE", "DATE", "DATE"]] * 4
    rest = [None] * (len(REFERENCES) - 4)
    team = PrototypeEnsemble(REFERENCE_LISTS, fields=True, n_starts=1, max_iter=5)
    assert team.fit(REFERENCES, [*apart, *rest]).marks_ == []
    assert team.fit(REFERENCES, [*within, *rest]).marks_ != []


def test_a_word_under_two_labels_that_leaves_nothing_to_learn_is_no_error():
    text = [words.split() for words in ("the dog sat", "a cat ran", "the cat ran", "a dog sat")] * 20
    team = PrototypeEnsemble({"D": ["the", "a"], "N": ["the", "cat"]}, n_starts=1).fit(text)
    assert 0.0 <= team.trials_[0]["recovered"] <= 1.0


def test_a_boundary_that_is_no_label_is_refused():
    with pytest.raises(ParameterError, match="boundary must be one of the labels, got 'MARK'"):
        PrototypeEnsemble(LISTS, boundary="MARK", similarity="none", spelling=False, max_iter=3).fit(make_text(5)[0])


@pytest.mark.parametrize("codes", [[0, 1, 2], [1, 2, 0]], ids=["right", "wrong"])
def test_tagged_sentences_correct_what_prototypes_say(codes):
    text, tags = make_text(30)
    classes = np.array(["D", "N", "V"])
    guessed = [0.9 * np.eye(3)[codes] + 0.1 / 3] * len(text)
    crf, weight = learn_mixture(text, tags, guessed, classes)
    for rows, right in zip(mix(crf, weight, text, guessed, classes), tags, strict=True):
        np.testing.assert_allclose(rows.sum(axis=1), 1.0)
        assert classes[rows.argmax(axis=1)].tolist() == right


def test_prototypes_that_know_more_than_the_tagged_sentences_keep_the_word():
    # the tags are chance, but what prototypes say is right: no weight on the CRF could be better
    rng = np.random.default_rng(0)
    text = [[f"w{rng.integers(10_000)}" for _ in range(4)] for _ in range(20)]
    tags = [rng.choice(["A", "B"], 4).tolist() for _ in text]
    classes = np.array(["A", "B"])
    guessed = [np.array([[0.6, 0.4] if tag == "A" else [0.4, 0.6] for tag in mine]) for mine in tags]
    crf, weight = learn_mixture(text, tags, guessed, classes)
    found = mix(crf, weight, text, guessed, classes)
    assert [classes[rows.argmax(axis=1)].tolist() for rows in found] == tags


def test_tagged_sentences_join_a_team():
    text, tags = make_text(60)
    team = PrototypeEnsemble(LISTS, order=1, similarity="none", spelling=False, max_iter=10, n_starts=1)
    team.fit(text, [*tags[:6], *[None] * 54])
    assert team.crf_ is not None
    assert team.score(text, tags) == 1.0
    few = team.fit(text, [*tags[:2], *[None] * 58])
    assert few.crf_ is None


def test_the_example_of_the_howto_runs(capsys):
    howto = (Path(__file__).parents[2] / "docs" / "howto-prototypes.md").read_text()
    (block,) = re.findall(r"```python\n(.*?)```", howto, re.DOTALL)
    exec(compile(block, "howto-prototypes.md", "exec"), {})
    assert "[['D', 'N', 'V']]" in capsys.readouterr().out


def test_tagged_sentences_may_have_tags_of_spans_and_hardly_any():
    text = [*[["in", "no", "time"]] * 5, *[["in", "Rome", "now"], ["to", "Oslo", "then"]] * 4]
    tags: list[list[str] | None] = [["O", "O", "O"]] * 5 + [["O", "B-LOC", "O"]]
    lists = {"O": ["in", "to"], "B-LOC": ["Rome", "Oslo"]}
    team = PrototypeEnsemble(lists, similarity="none", spelling=False, max_iter=10, n_starts=1)
    team.fit(text, [*tags, *[None] * 7])
    assert set(team.crf_.classes_) == {"O", "B-LOC"}
    assert team.predict([["to", "Rome", "then"]])[0][1] == "B-LOC"


def test_taggers_learn_from_a_sample_of_a_long_text():
    """The cost of training does not grow with the text; tagged sentences and rare prototypes stay in the sample."""
    rng = np.random.default_rng(0)
    nouns, verbs = [f"noun{i}" for i in range(20)], [f"verb{i}" for i in range(20)]
    text = [["the", str(rng.choice(nouns)), str(rng.choice(verbs))] for _ in range(2000)]
    text[1700] = ["a", "noun1", "rarely"]
    tags = [None] * len(text)
    tags[1900] = ["D", None, None]
    lists = {"D": ["the"], "N": ["noun1", "noun2"], "V": ["verb1", "rarely"]}
    settings = {"similarity": "none", "spelling": True, "max_iter": 3, "order": 1, "n_starts": 2}
    learner = PrototypeEnsemble(lists, max_tokens=300, **settings)
    samples = [learner._sample(text, tags, seed) for seed in (0, 1)]
    assert samples[0] != samples[1]
    for sample in samples:
        assert {1700, 1900} <= set(sample)
        assert 300 <= sum(len(text[i]) for i in sample) <= 320
    assert learner.fit(text, tags).predict([["the", "noun3", "verb3"]]) == [["D", "N", "V"]]
    assert learner.set_params(max_tokens=10_000)._sample(text, tags, 0) == list(range(2000))
