from __future__ import annotations

import json

import pytest

from handful.errors import ParameterError
from papers import claims
from papers.claims import KEYS, Claim, Findings, Settings, load_paper, paper_folder, render_readme, run_paper


def claim(**changes: object) -> Claim:
    return Claim(**{"id": "a", "says": "s", "metric": "m", "paper": 80.0, "tolerance": 1.0, "close": 2.0} | changes)


@pytest.mark.parametrize(
    ("rule", "ours", "state"),
    [
        ("equal", 80.9, "reproduced"),
        ("equal", 79.0, "reproduced"),
        ("equal", 81.5, "close"),
        ("equal", 77.9, "not reproduced"),
        ("equal", 99.0, "not reproduced"),
        ("at least", 99.0, "reproduced"),
        ("at least", 78.5, "close"),
        ("at least", 77.0, "not reproduced"),
        ("equal", None, "not run"),
    ],
)
def test_the_verdict_follows_from_the_distance(rule, ours, state):
    assert claim(rule=rule).judge(ours) == state


@pytest.mark.parametrize("key", KEYS)
def test_claims_are_well_formed(key):
    paper = load_paper(key)
    names = [c.id for c in paper.claims]
    assert len(set(names)) == len(names)
    assert all(0 <= c.tolerance <= c.close for c in paper.claims)
    assert set(paper.measured) <= set(names)


@pytest.mark.parametrize("key", KEYS)
def test_the_readme_shows_the_pinned_numbers(key):
    assert (paper_folder(key) / "README.md").read_text(encoding="utf-8") == render_readme(load_paper(key))


def test_a_run_judges_every_claim_and_says_why_one_is_missing(monkeypatch):
    names = [c.id for c in load_paper("liu2013").claims]
    plan = type("Plan", (), {"run": staticmethod(lambda settings: Findings({names[0]: 1.0}, {names[1]: "no data"}))})
    monkeypatch.setattr(claims, "import_module", lambda name: plan)
    outcomes = run_paper("liu2013", Settings(quick=True))
    assert [o.claim.id for o in outcomes] == names
    assert outcomes[0].ours == 1.0
    assert (outcomes[1].state, outcomes[1].because) == ("not run", "quick run, reduced: no data")
    assert all("quick" in o.because for o in outcomes)
    assert json.dumps([o.as_dict() for o in outcomes])


def test_a_pinned_page_gives_the_reasons_of_the_run(monkeypatch, tmp_path):
    from papers.__main__ import main

    for name in ("paper.toml", "measured.json"):
        (tmp_path / name).write_bytes((paper_folder("suzuki2011") / name).read_bytes())
    monkeypatch.setattr(claims, "paper_folder", lambda key: tmp_path)
    found = Findings({"parsing-sup-test": 12.3456789}, {}, {"parsing-sup-test": "other trees"})
    monkeypatch.setattr(claims, "import_module", lambda name: type("Plan", (), {"run": staticmethod(lambda s: found)}))
    with pytest.raises(SystemExit) as ended:
        main(["suzuki2011", "--pin", "--json"])
    assert ended.value.code == 0
    assert json.loads((tmp_path / "measured.json").read_text()) == {"parsing-sup-test": 12.345679}
    rows = [line.split(" | ") for line in (tmp_path / "README.md").read_text().splitlines() if line.startswith("| ")]
    (mine,) = [row for row in rows if row[3:] == ["12.35", "not reproduced", "other trees |"]]
    assert mine[0] == "| Dependencies, supervised, FOBOS with L1, test set"


def test_an_unknown_paper_is_named():
    with pytest.raises(ParameterError, match=r"no paper 'liu2031'.* Did you mean 'liu2013'"):
        load_paper("liu2031")
