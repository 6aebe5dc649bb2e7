from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from handful.data.records import Sentence
from handful.errors import DataError, ParameterError
from handful.persistence.model_file import load, save
from handful.tagging.crf import CRF
from handful.tagging.two_pass import TwoPassTagger, agreement_columns
from papers.generated_english import make_tagged_sentences

TREES = make_tagged_sentences(120, random_state=3)
TEXT = [Sentence(t.sentence.tokens, {"pos": t.sentence["pos"]}) for t in TREES]
NER = [list(t.sentence["ner"]) for t in TREES]


def literal_columns(words, tags, window):
    """Go over all pairs of tokens."""
    of_spans = all(tag == "O" or tag[:2] in ("B-", "I-") for mine in tags for tag in mine)
    kinds = [[tag.split("-", 1)[-1] for tag in mine] if of_spans else mine for mine in tags]
    places = [(i, k) for i, mine in enumerate(words) for k in range(len(mine))]

    def most(found):
        counts = Counter(found)
        return min(counts, key=lambda kind: (-counts[kind], kind)) if counts else "-"

    columns = [{name: [] for name in ("same_near", "same_far")} for _ in words]
    for i, k in places:
        same = [p for p in places if p != (i, k) and words[p[0]][p[1]].lower() == words[i][k].lower()]
        columns[i]["same_far"].append(most(kinds[a][b] for a, b in same))
        columns[i]["same_near"].append(most(kinds[a][b] for a, b in same if abs(a - i) <= window))
    return [{name: tuple(mine) for name, mine in column.items()} for column in columns]


@pytest.mark.parametrize("window", [1, 3, 50])
@pytest.mark.parametrize("inventory", [["O", "B-X", "I-X", "B-Y", "I-Y"], ["N", "V"]])
def test_columns_are_those_of_all_pairs_of_tokens(window, inventory):
    rng = np.random.default_rng(window)
    words = [[str(rng.choice(["a", "A", "b", "c"])) for _ in range(rng.integers(0, 6))] for _ in range(15)]
    tags = [[str(rng.choice(inventory)) for _ in mine] for mine in words]
    assert agreement_columns(words, tags, window) == literal_columns(words, tags, window)


def test_the_second_pass_learns_from_taggers_that_have_not_seen_the_sentence():
    tagger = CRF("ner", strength=0.5, max_iter=15)
    model = TwoPassTagger(tagger, n_folds=3, window=5).fit(TEXT, NER)
    held_out = []
    for a, b in ((0, 40), (40, 80), (80, 120)):
        known = CRF("ner", strength=0.5, max_iter=15).fit(TEXT[:a] + TEXT[b:], NER[:a] + NER[b:])
        held_out += known.predict(TEXT[a:b])
    columns = agreement_columns([s.tokens for s in TEXT], held_out, 5)
    wide = [Sentence(s.tokens, {**s.columns, **c}) for s, c in zip(TEXT, columns, strict=True)]
    templates = model.second_.templates_
    assert [t for t in templates if "same_" in t] == templates[-4:]
    alone = CRF(templates, strength=0.5, max_iter=15).fit(wide, NER)
    assert alone.weights_.tobytes() == model.second_.weights_.tobytes()


def test_what_two_places_show_decides_the_third():
    def told(name, kind):
        place = "in" if kind == "LOC" else "by"
        words = [[place, name], ["the", name, "one"], [place, name]]
        return list(zip(words, [["O", f"B-{kind}"], ["O", f"B-{kind}", "O"], ["O", f"B-{kind}"]], strict=True))

    known = {"Rome": "LOC", "Smith": "PER", "Bonn": "LOC", "Jones": "PER"}
    text, tags = zip(*(pair for name, kind in known.items() for pair in told(name, kind)), strict=True)
    new, right = zip(*told("Oslo", "LOC"), *told("Brown", "PER"), strict=True)
    tagger = CRF(["word[-1]", "word.shape[0]"], strength=0.01)
    assert TwoPassTagger(tagger, n_folds=2).fit(text, tags).predict(new) == list(right)
    assert tagger.fit(text, tags).predict(new) != list(right)


def test_a_saved_model_predicts_the_same(tmp_path):
    model = TwoPassTagger(CRF("ner", max_iter=8), n_folds=2).fit(TEXT, NER)
    save(model, tmp_path / "model")
    again = load(tmp_path / "model")
    assert again.predict(TEXT[:30]) == model.predict(TEXT[:30])
    assert again.get_params()["window"] == 8
    assert again.predict([]) == []


def test_progress_tells_every_training():
    steps = []
    TwoPassTagger(CRF("ner", max_iter=2), n_folds=2).fit(TEXT[:20], NER[:20], progress=steps.append)
    assert [(s.done, s.total) for s in steps] == [(1, 4), (2, 4), (3, 4), (4, 4)]


def test_wrong_use_is_told():
    with pytest.raises(DataError, match="n_folds must not exceed the sentences, 1, got 4"):
        TwoPassTagger(CRF("ner")).fit(TEXT[:1], NER[:1])
    with pytest.raises(ParameterError, match="n_folds must be an integer of at least 2, got 1"):
        TwoPassTagger(CRF("ner"), n_folds=1).fit(TEXT, NER)
    with pytest.raises(ParameterError, match="tagger must be a CRF, got str"):
        TwoPassTagger("ner").fit(TEXT, NER)
    with pytest.raises(ParameterError, match="window"):
        TwoPassTagger(CRF("ner"), window=0).fit(TEXT, NER)
