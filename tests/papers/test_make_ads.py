"""Structure and difficulty of the generated apartment ads."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import groupby

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.naive_bayes import MultinomialNB

from handful.errors import ParameterError
from papers.generated import APARTMENT_FIELDS, APARTMENT_PROTOTYPES, make_apartment_ads


@pytest.fixture(scope="module")
def ads():
    return make_apartment_ads(2000, random_state=0)


def test_a_seed_fixes_the_ads():
    assert make_apartment_ads(20, random_state=1) == make_apartment_ads(20, random_state=1)
    assert make_apartment_ads(20, random_state=1) != make_apartment_ads(20, random_state=2)
    assert make_apartment_ads(20, random_state=1)[:5] == make_apartment_ads(5, random_state=1)
    assert make_apartment_ads(0) == []


def test_thousands_of_ads_differ(ads):
    assert len({ad.tokens for ad in ads}) == 2000


def test_all_twelve_fields_occur_and_no_other(ads):
    assert len(APARTMENT_FIELDS) == 12
    assert {field for ad in ads for field in ad["field"]} == set(APARTMENT_FIELDS)


def test_length_and_number_of_runs_are_those_of_the_original_ads(ads):
    runs = [len(list(groupby(ad["field"]))) for ad in ads]
    assert 114 < np.mean([len(ad) for ad in ads]) < 124
    assert 8.4 < np.mean(runs) < 9.0
    assert min(runs) >= 1


def test_features_is_the_most_frequent_field_with_under_half_of_the_words(ads):
    counts = Counter(field for ad in ads for field in ad["field"])
    assert counts.most_common(1)[0][0] == "FEATURES"
    assert 0.38 < counts["FEATURES"] / counts.total() < 0.5


def test_words_are_lower_case_and_runs_mostly_end_in_a_mark(ads):
    assert all(token == token.lower() and " " not in token and token for ad in ads for token in ad)
    ends = [
        list(run)[-1][0] for ad in ads for _, run in groupby(zip(ad.tokens, ad["field"], strict=True), lambda t: t[1])
    ]
    assert 0.8 < np.mean([not any(map(str.isalnum, end)) for end in ends]) < 0.97


def test_many_words_stand_in_several_fields(ads):
    fields = _fields_by_word(ads)
    shared = [word for word, counts in fields.items() if counts.most_common(1)[0][1] < 0.8 * counts.total()]
    share = sum(fields[word].total() for word in shared if word.isalnum()) / sum(len(ad) for ad in ads)
    assert share > 0.12


def test_prototypes_are_twelve_lines_of_words_that_mostly_carry_their_label(ads):
    assert set(APARTMENT_PROTOTYPES) == set(APARTMENT_FIELDS) - {"OTHER"} | {"BOUNDARY"}
    fields = _fields_by_word(ads)
    listed = [word for words in APARTMENT_PROTOTYPES.values() for word in words]
    assert len(set(listed)) == len(listed)
    for label, words in APARTMENT_PROTOTYPES.items():
        for word in words:
            assert fields[word].total() >= 50, word
            if label != "BOUNDARY":
                assert fields[word][label] > 0.7 * fields[word].total(), word


def test_a_simple_learner_is_far_above_the_majority_and_context_helps():
    train, test = make_apartment_ads(100, random_state=1), make_apartment_ads(60, random_state=2)
    gold = np.array([field for ad in test for field in ad["field"]])
    majority = np.mean(gold == "FEATURES")
    word_only, in_context = (_naive_bayes_accuracy(train, test, gold, window) for window in (0, 3))
    assert majority < 0.5
    assert word_only > majority + 0.15
    assert word_only + 0.05 < in_context < 0.97


def test_an_illegal_number_is_named():
    with pytest.raises(ParameterError, match="make_apartment_ads: n_ads must be an integer of at least 0, got -1"):
        make_apartment_ads(-1)


def _fields_by_word(ads):
    fields = defaultdict(Counter)
    for ad in ads:
        for token, field in zip(ad.tokens, ad["field"], strict=True):
            fields[token][field] += 1
    return fields


def _naive_bayes_accuracy(train, test, gold, window):
    def features(ads):
        return [
            [
                f"0={ad.tokens[i]}",
                *("near=" + token for token in ad.tokens[max(i - window, 0) : i + window + 1] if window),
            ]
            for ad in ads
            for i in range(len(ad))
        ]

    vectorizer = CountVectorizer(analyzer=list, binary=True)
    model = MultinomialNB(alpha=0.1).fit(
        vectorizer.fit_transform(features(train)), [field for ad in train for field in ad["field"]]
    )
    return np.mean(model.predict(vectorizer.transform(features(test))) == gold)
