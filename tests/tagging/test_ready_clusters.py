"""Clusters of a package, and of raw text, tested by cross-validation."""

from __future__ import annotations

import gzip
import json

import numpy as np
import pytest

from handful.tagging import ready_clusters as module
from handful.tagging.ready_clusters import path_of, ready_clusters
from handful.tagging.recipes import ClusterCandidate, TaggerSetup

CITIES = [f"{start}{end}" for start in ("Bo", "Ka", "Li", "Mu", "To") for end in ("ra", "len", "vik", "sund")]
VERBS = [f"{start}{end}" for start in ("re", "un", "de", "con", "per") for end in ("form", "duct", "sist", "late")]


@pytest.fixture
def package(tmp_path, monkeypatch):
    folder = tmp_path / "spacy_lookups_data" / "data"
    folder.mkdir(parents=True)
    (folder.parent / "__init__.py").write_text("")
    tables = {
        "en": {"the": 3, "in": 5, ",": 9, '"': 0, "nothing": 0} | dict.fromkeys(CITIES, 6) | dict.fromkeys(VERBS, 13),
        "de": {"die": 3, "in": 5},
        "es": {"la": 3},
    }
    for language, table in tables.items():
        with gzip.open(folder / f"{language}_lexeme_cluster.json.gz", "wt", encoding="utf-8") as file:
            json.dump(table, file, indent=2)
    monkeypatch.syspath_prepend(str(tmp_path))
    module._paths.cache_clear()
    yield
    module._paths.cache_clear()


def sentences(n, seed):
    rng = np.random.default_rng(seed)
    text = [["the", str(rng.choice(VERBS)), "in", str(rng.choice(CITIES)), str(rng.choice(VERBS))] for _ in range(n)]
    return text, [["O", "O", "O", "B-LOC", "O"] for _ in text]


def test_the_table_that_covers_most_words_is_taken(package):
    found = ready_clusters([["the", "Bora", "in", ",", "unknown"]])
    assert (found.language, found.coverage) == ("en", 0.75)
    assert found.paths["Bora"] == path_of(6) == "0110000000000000"
    assert "nothing" not in found.paths, "0 is no cluster"
    assert ready_clusters([["kissa", "istuu", "in"]]) is None
    assert ready_clusters([[","]]) is None


def test_without_the_package_there_are_none(monkeypatch):
    monkeypatch.setattr(module, "_PACKAGE", "no_such_package")
    assert ready_clusters([["the"]]) is None


def test_clusters_must_do_better_in_cross_validation():
    text, tags = sentences(30, 0)
    helpful = ClusterCandidate("helpful", {"brown": dict.fromkeys(CITIES, "01") | dict.fromkeys(VERBS, "10")})
    rng = np.random.default_rng(1)
    random_paths = {word: format(int(rng.integers(64)), "06b") for word in CITIES + VERBS}
    setup = TaggerSetup(n_jobs=1)
    chosen = setup.choose_clusters(text, tags, [ClusterCandidate("noise", {"brown": random_paths}, 1.0), helpful])
    assert list(chosen.scores) == ["none", "noise", "helpful"]
    assert chosen.name == max(chosen.scores, key=chosen.scores.__getitem__)
    worse = setup.choose_clusters(text, tags, [ClusterCandidate("no gain", {"brown": {"x": "01"}})])
    assert (worse.name, worse.lookups) == ("none", None)
    few = setup.choose_clusters(text[:3], tags[:3], [helpful])
    assert (few.name, few.scores) == ("helpful", {})


@pytest.mark.parametrize("raw", [False, True])
def test_fit_tagger_prints_which_clusters_won(raw, package, tmp_path, capsys):
    import handful
    from handful.cli import main

    text, tags = sentences(30, 2)
    rows = ["".join(f"{a}\t{b}\n" for a, b in zip(*pair, strict=True)) for pair in zip(text, tags, strict=True)]
    (tmp_path / "train.tsv").write_text("\n".join(rows) + "\n")
    where = tmp_path / "m.handful"
    command = [
        "fit",
        "tagger",
        str(tmp_path / "train.tsv"),
        "--model",
        str(where),
        "--json",
        "--jobs",
        "1",
        "--no-check",
    ]
    if raw:
        (tmp_path / "raw.txt").write_text("\n".join(map(" ".join, text * 4)))
        command += ["--unlabeled", str(tmp_path / "raw.txt")]
    with pytest.raises(SystemExit) as ended:
        main(command)
    assert not ended.value.code
    facts = json.loads(capsys.readouterr().out)["clusters"]
    ready = "spacy-lookups-data (en)"
    assert set(facts["scores"]) == {"none", ready, *(["raw text", f"raw text and {ready}"] if raw else [])}
    assert facts["used"] in facts["scores"]
    loaded = handful.load(where)
    assert [row[3] for row in loaded.predict(text)] == ["B-LOC"] * 30
    if facts["used"] != "none":
        kinds = {type(table).__name__ for table in loaded.lookups.values()}
        assert kinds == {"HashedTable"}, "the words themselves are not stored"
