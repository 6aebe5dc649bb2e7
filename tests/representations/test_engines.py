"""Counting of text by workers and with a checkpoint gives what one process gives."""

from __future__ import annotations

import json
import os
import signal
from contextlib import suppress

import numpy as np
import pytest
from plain_text import write_text

from handful.representations import text_stream
from handful.representations.brown import BrownClusters
from handful.representations.condensed_features import CondensedFeatures
from handful.representations.similarity import ContextSimilarity
from handful.representations.text_stream import text_parts
from handful.tagging.crf import CRF
from papers.generated_english import make_tagged_sentences


@pytest.fixture
def text(tmp_path):
    path = tmp_path / "text.txt"
    write_text(path, [tree.sentence for tree in make_tagged_sentences(400, random_state=0)])
    return path


def state(model):
    if isinstance(model, BrownClusters):
        return json.dumps([model.paths_, model.counts_, model.mutual_information_])
    return json.dumps([model.vocabulary_, model.context_words_]).encode() + model.vectors_.tobytes()


@pytest.mark.parametrize("model", [BrownClusters(8), ContextSimilarity(50, n_components=20)])
def test_a_checkpoint_changes_nothing_and_saves_the_reading(model, text, tmp_path, monkeypatch):
    calls, numbered = [], text_stream.numbered
    monkeypatch.setattr(text_stream, "numbered", lambda *args: calls.append(args) or numbered(*args))
    parts = text_parts(text, part_bytes=4000)
    assert len(parts) > 2
    whole = state(model.fit_parts(parts))
    for stop in (len(parts) - 1, len(parts)):  # the second run has one part more
        model.fit_parts(parts[:stop], checkpoint=tmp_path / "kept")
    assert state(model) == whole
    n_files = len(list((tmp_path / "kept").iterdir()))
    assert calls
    calls.clear()
    assert state(model.fit_parts(text_parts(text, part_bytes=4000), checkpoint=tmp_path / "kept")) == whole
    assert calls == []
    assert len(list((tmp_path / "kept").iterdir())) == n_files


def test_a_checkpoint_serves_other_settings_without_mixing_them_up(text, tmp_path):
    parts = text_parts(text, part_bytes=4000)
    sentences = [line.split() for line in text.read_text().splitlines()]
    for settings in ({}, {"window": 3}, {"directional": False}, {"n_context_words": 20}, {"min_count": 3}):
        model = ContextSimilarity(**{"n_context_words": 50, "n_components": 20, **settings})
        kept = state(model.fit_parts(parts, checkpoint=tmp_path / "kept"))
        assert kept == state(model.fit(sentences))
    for settings in ({}, {"across_sentences": False}, {"min_count": 3}):
        model = BrownClusters(8, **settings)
        assert state(model.fit(sentences, checkpoint=tmp_path / "kept")) == state(model.fit_parts(parts))


def test_a_changed_text_is_read_again(text, tmp_path):
    model = ContextSimilarity(50, n_components=20)
    model.fit_parts(text_parts(text, part_bytes=4000), checkpoint=tmp_path / "kept")
    data = bytearray(text.read_bytes())
    data[-5000] = ord("x")
    text.write_bytes(data)
    changed = state(model.fit_parts(text_parts(text, part_bytes=4000), checkpoint=tmp_path / "kept"))
    assert changed == state(model.fit_parts(text_parts(text, part_bytes=4000)))
    assert np.isfinite(model.vectors_).all()


def test_condensed_features_survive_a_killed_worker(tmp_path):
    pytest.importorskip("distributed")
    trees = make_tagged_sentences(400, random_state=0)
    tags = [list(tree.sentence["pos"]) for tree in trees[:60]]
    base = CRF("pos", max_iter=10).fit([list(tree.sentence.tokens) for tree in trees[:60]], tags)
    paths = [tmp_path / f"{number}.txt" for number in range(6)]
    for number, path in enumerate(paths):
        write_text(path, [tree.sentence for tree in trees[60 + number :: 6]])
    once = str(tmp_path / "killed")

    def kill_once(sentences):
        with suppress(FileExistsError):
            os.mkdir(once)
            os.kill(os.getpid(), signal.SIGKILL)
        return sentences

    whole = CondensedFeatures(base).fit(paths)
    by_workers = CondensedFeatures(base).fit(paths, prepare=kill_once, engine="dask", n_jobs=2)
    assert (tmp_path / "killed").is_dir()
    for name in ("chosen_ids", "chosen", "basis"):
        assert getattr(by_workers.counts_, name).tobytes() == getattr(whole.counts_, name).tobytes()
    assert by_workers.counts_.size == whole.counts_.size > 0
