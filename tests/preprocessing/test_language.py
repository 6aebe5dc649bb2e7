"""The template language."""

from __future__ import annotations

import pytest

from handful.errors import ParameterError
from handful.preprocessing.templates import parse_template, parse_templates, ready_set


@pytest.mark.parametrize(
    "text", ["u", "b", "u:word[0]", "b:pos[-1]|pos[0]", "u:word.lower.suffix3[+2]", "u:word[-4..-1]"]
)
def test_templates_read_back_what_they_print(text):
    (template,) = parse_template(text)
    assert parse_template(str(template)) == [template]


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("word", "parts such as"),
        ("word[0", "parts such as"),
        ("word[x]", "parts such as"),
        ("word[0]|", "parts such as"),
        ("q:word[0]", "must start with"),
        ("word.upper[0]", "no function 'upper'"),
        ("word.prefix0[0]", "no function"),
        ("word[2..1]", "in order"),
        ("word[99]", "positions from"),
        ("word[-2..-1]|word[0]", "window"),
    ],
)
def test_mistakes_are_named(text, what):
    with pytest.raises(ParameterError, match=what) as caught:
        parse_template(text)
    assert text in str(caught.value) or "function" in str(caught.value)


def test_lists_must_hold_strings_and_not_be_empty():
    with pytest.raises(ParameterError, match="must be a string, got int"):
        parse_templates([1])
    with pytest.raises(ParameterError, match="got none"):
        parse_templates([])
    with pytest.raises(ParameterError, match="no ready set 'nre'"):
        ready_set("nre")


def test_ner_has_the_79_templates_of_the_paper():
    templates = parse_templates(ready_set("ner"))
    pairs = [t for t in templates if t.pairs]
    assert len(templates) == 79
    assert len(pairs) == 1 + 15 + 8 + 2 + 8
    assert len([t for t in templates if len(t.atoms) == 2]) == 20
    assert len([t for t in templates if len(t.atoms) == 3]) == 4
    assert len([t for t in templates if t.atoms and t.atoms[0].first != t.atoms[0].last]) == 2


@pytest.mark.parametrize("name", ["pos", "chunk", "ner"])
def test_ready_sets_have_no_repetitions(name):
    texts = [str(t) for text in ready_set(name) for t in parse_template(text)]
    assert len(texts) == len(set(texts))
