"""Model files of every version of handful load, and answer what they answered when they were written."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from models.asking import answers_of, inputs_of

import handful
from handful.representations.counts import FeatureCounts

VERSIONS = {path.parent.name: json.loads(path.read_text()) for path in Path(__file__).parent.glob("*/expected.json")}
FILES = [(version, name) for version, stored in sorted(VERSIONS.items()) for name in stored["answers"]]


def nearly(answer):
    """Numbers may differ in their last digits between machines; everything else is equal."""
    if isinstance(answer, dict):
        return {key: nearly(item) for key, item in answer.items()}
    if isinstance(answer, list):
        return [nearly(item) for item in answer]
    return pytest.approx(answer, abs=2e-6, nan_ok=True) if isinstance(answer, float) else answer


@pytest.mark.parametrize(("version", "name"), FILES, ids=lambda part: part)
def test_old_files_answer_as_they_did(version, name):
    path = Path(__file__).parent / version / f"{name}.handful"
    model = FeatureCounts.load(path) if name.startswith("feature-counts") else handful.load(path)
    stored = VERSIONS[version]
    assert answers_of(name, model, inputs_of(stored["inputs"])) == nearly(stored["answers"][name])


def test_there_is_a_file_of_every_kind():
    kinds = {name.split(".")[0] for _, name in FILES}
    assert kinds == {
        "table",
        "texts",
        "rows",
        "tagger",
        "parser",
        "clusters",
        "similarity",
        "condensed",
        "feature-counts",
        "senses",
    }
