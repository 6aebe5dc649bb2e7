"""Pages of models: what they hold, and which models are refused. What the browser computes: test_browser_model_page.py."""

import json
import re

import numpy as np
import pytest
from sklearn.linear_model import SGDClassifier
from sklearn.tree import DecisionTreeClassifier

import handful
from handful.cli import main
from handful.errors import ParameterError
from handful.models.condensed_rows import CondensedModel
from handful.models.table_model import TableModel

ROWS = {"size": [1.0, 1.5, 2.0, 8.0, 8.5, 9.0], "color": ["red", "red", "blue", "blue", "blue", "red"]}
LABELS = ["small"] * 3 + ["large"] * 3


def data_of(page):
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page)[1])


def test_a_page_of_forty_rows_and_twenty_columns_is_small():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 20))
    page = handful.export_html(CondensedModel(40).fit(X, X[:, 0] > 0))
    assert len(page.encode()) < 100_000
    assert page.count("<tr>") == 41


def test_cells_cannot_leave_their_place():
    cell = "</script><script>alert(1)</script>"
    rows = {cell: [cell, "a"] * 3, "b": [0.0, 1.0] * 3}
    page = handful.export_html(CondensedModel(2).fit(rows, [cell, "<b>"] * 3))
    assert cell not in page
    assert "<b>" not in page
    assert data_of(page)["columns"][0]["name"] == cell


def test_the_policy_allows_no_connection_and_only_the_own_script():
    page = handful.export_html(CondensedModel(2).fit(ROWS, LABELS))
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)[1]
    assert policy.startswith("default-src &#39;none&#39;; script-src &#39;sha256-")
    assert "unsafe" not in policy
    assert not re.search(r'(?:src|href)="(?!data:)', page)


@pytest.mark.parametrize(
    "method", ["ensemble", "k-nn", "hist-gradient-boosting", "kernel-ridge", SGDClassifier("log_loss")]
)
def test_what_a_page_cannot_compute_is_refused(method):
    labels = ["a", "b", "c"] * 2 if isinstance(method, SGDClassifier) else LABELS
    with pytest.raises(ParameterError, match="cannot compute"):
        handful.export_html(TableModel(method).fit(ROWS, labels))


def test_embedded_texts_are_refused_and_words_are_not():
    texts = [f"good {n}" for n in range(30)] + [f"bad {n}" for n in range(30)]
    labels = ["yes"] * 30 + ["no"] * 30
    with pytest.raises(ParameterError, match="text="):
        handful.export_html(TableModel("logistic-regression", text="lsa").fit(texts, labels))
    page = handful.export_html(TableModel("logistic-regression", text="words").fit(texts, labels))
    assert "text: good" in page


def test_a_tree_is_shown_in_the_words_of_the_data():
    page = handful.export_html(TableModel(DecisionTreeClassifier()).fit(ROWS, LABELS))
    assert "if size ≤ 5\n    → small (100%)" in page


@pytest.fixture
def condensed(tmp_path):
    model = CondensedModel(2).fit(ROWS, LABELS)
    model.training_ = {
        "data": "rows.csv",
        "target": "kind",
        "estimate": {"metric": "accuracy", "value": 0.9, "low": 0.7, "high": 0.99, "n": 30},
    }
    handful.save(model, tmp_path / "m.handful")
    return tmp_path / "m.handful"


def test_rows_of_the_data_need_consent(condensed, capsys):
    with pytest.raises(SystemExit) as ended:
        main(["export", str(condensed), "--html"])
    assert ended.value.code != 0
    assert not condensed.with_suffix(".html").exists()
    with pytest.raises(SystemExit) as ended:
        main(["export", str(condensed), "--html", "--yes", "--json"])
    assert ended.value.code == 0
    assert json.loads(capsys.readouterr().out)["html"] == str(condensed.with_suffix(".html"))
    page = condensed.with_suffix(".html").read_text()
    assert "90% of labels" in page
    assert "70\N{EN DASH}99%, n = 30" in page


def test_other_models_are_refused_in_one_line(tmp_path, capsys):
    from handful.tagging.frequent import FrequentTag

    handful.save(FrequentTag().fit([["a"]], [["X"]]), tmp_path / "t.handful")
    with pytest.raises(SystemExit) as ended:
        main(["export", str(tmp_path / "t.handful"), "--html"])
    assert ended.value.code == 2
    assert len(capsys.readouterr().err.splitlines()) == 1
