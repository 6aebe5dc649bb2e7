from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest

import handful
from handful.errors import DataError, ParameterError
from handful.preprocessing.extractor import Extractor
from handful.preprocessing.word_tables import FoldedTable, HashedTable
from handful.tagging.crf import CRF

LETTERS = "aeioußŉǆ-1."


def words(rng: random.Random, n_words: int) -> list[str]:
    """Return words in all spellings, some of which have no capitals, or several."""
    spellings = (str, str.upper, str.lower, str.capitalize, str.swapcase)
    return [rng.choice(spellings)("".join(rng.choices(LETTERS, k=rng.randint(1, 6)))) for _ in range(n_words)]


@pytest.mark.parametrize("n_bits", [1, 9, 32])
@pytest.mark.parametrize("seed", range(6))
def test_words_of_the_table_get_what_they_have_there(seed, n_bits):
    rng = random.Random(seed)
    known = words(rng, 400)
    table = {word: rng.choice(["0", "01", ("0", "11"), ()]) for word in known}
    if seed % 2:
        table = {word.upper(): table[word] for word in known} | table  # as for headlines
    hashed = HashedTable(n_bits).fit(table)
    expected = [(v,) if isinstance(v, str) else v for v in table.values()]
    assert hashed.find(list(table)) == expected


def test_other_words_hit_by_chance_alone():
    rng = random.Random(1)
    hashed = HashedTable(8).fit({f"w{i}": rng.choice("012345") for i in range(4000)})
    strange = [f"x{i}" for i in range(40_000)]
    hits = sum(map(bool, hashed.find(strange)))
    assert 0 < hits / len(strange) <= 1.2 / 256


def test_tables_of_version_0_2_may_ask_for_other_capitals():
    hashed = HashedTable(32).fit({"Rome": "0", "bonn": "1"})
    hashed.capitals_ = True
    assert hashed.find(["ROME", "BONN", "KYIV", "rome"]) == [("0",), ("1",), (), ()]


def test_folded_tables_stay_folded():
    hashed = HashedTable(32).fit(FoldedTable({"rome": "0", "00": "1"}))
    assert hashed.find(["ROME", "12", "Bonn"]) == [("0",), ("1",), ()]


def test_an_empty_table_has_nothing(tmp_path):
    hashed = HashedTable().fit({})
    assert hashed.find(["a", "A"]) == [(), ()]
    handful.save(hashed, tmp_path / "empty.handful")  # as a condensed tagger may, whose weights need no cluster
    assert handful.load(tmp_path / "empty.handful").find(["a", "A"]) == [(), ()]


def test_too_many_values_are_refused():
    with pytest.raises(ParameterError, match="65,536"):
        HashedTable().fit({str(i): str(i) for i in range(65_537)})


def test_an_extractor_says_the_same_and_forgets_what_it_cannot_tell_apart():
    rng = random.Random(3)
    known = words(rng, 300)
    table = {word: "".join(rng.choices("01", k=rng.randint(1, 12))) for word in known}
    lists = {word: rng.sample(["city", "club", "name"], rng.randint(0, 2)) for word in known}
    text = [rng.choices(known, k=8) for _ in range(30)]
    templates = ["word[0]", "path.prefix2[0]", "path.prefix4[-1]", "lists[0]|path.prefix2[1]", "lists[-2..-1]"]
    extractor = Extractor(templates, lookups={"path": table, "lists": lists}).fit(text[:10])
    extractor = extractor.keep(np.arange(extractor.n_predicates) % 3 > 0)
    small = extractor.with_small_lookups()
    assert len(small.lookups["path"].values_) < len(set(table.values()))
    a, b = extractor.transform(text), small.transform(text)
    for token in range(240):
        assert sorted(i for i in a.ids[token] if i >= 0) == sorted(i for i in b.ids[token] if i >= 0)
    assert small.with_small_lookups().lookups == small.lookups


@pytest.mark.parametrize("hash_bits", [None, 8])
def test_a_tagger_with_small_tables_is_saved_and_answers_alike(tmp_path, hash_bits):
    rng = random.Random(4)
    names, others = [f"N{i}" for i in range(200)], [f"w{i}" for i in range(200)]
    table = dict.fromkeys(names, "01") | {word: f"1{i % 2}{i % 3}" for i, word in enumerate(others)}
    rows = [[rng.choice((names, others)) for _ in range(6)] for _ in range(20)]
    text = [[rng.choice(kind) for kind in row] for row in rows]
    tags = [["N" if kind is names else "O" for kind in row] for row in rows]
    lookups = {"path": table}
    tagger = CRF(["path.prefix2[0]", "path.prefix3[0]"], lookups=lookups, strength=0.1, hash_bits=hash_bits).fit(
        text, tags
    )
    small = tagger.with_small_lookups()
    unseen = [[word] for word in names + others]
    assert small.predict(unseen) == tagger.predict(unseen)
    (short,), (told,) = small.explain(unseen[0]), tagger.explain(unseen[0])
    assert replace(short, evidence=()) == replace(told, evidence=())
    # In other words, since it has no words to tell clusters by.
    assert [item.weight for item in short.evidence] == [item.weight for item in told.evidence]
    sizes = []
    for model in (tagger, small):
        handful.save(model, tmp_path / "tagger.handful")
        sizes.append((tmp_path / "tagger.handful").stat().st_size)
        assert handful.load(tmp_path / "tagger.handful").predict(unseen) == tagger.predict(unseen)
    assert sizes[1] < sizes[0]
    assert isinstance(small.lookups["path"], HashedTable)
    assert isinstance(tagger.lookups["path"], dict)


def test_a_number_that_points_outside_is_refused():
    hashed = HashedTable().fit({"Rome": "0", "fell": "1"})
    state = {**hashed._state(), "numbers_": np.full((2, 2), 255, dtype=np.uint8)}
    with pytest.raises(DataError, match="damaged"):
        HashedTable._from_state(state)
